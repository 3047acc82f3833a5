"""Objects that offer memory by a protocol and lie about it: each field changed at random, hooks that raise or answer
with something else. `attempt(seed)` hands one to every function that takes such objects and compares with NumPy's view
of the same memory. What must come of it is an error of Python's, or the right elements.

The memory lies in the middle of a much larger mapping, so that strides may lie without reading what is not there;
what would reach beyond it is not asked for, for nobody can know where an address ends.
"""

import ctypes
import math
import mmap
import random

import numpy as np
import tutti as tt

ROOM = 64 << 20
MIDDLE = ROOM // 2
TYPES = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"]
CODES = {"?": 6, "i": 0, "u": 1, "f": 2, "c": 5}
FORMATS = {"?": "?", "i1": "b", "i2": "h", "i4": "i", "i8": "q", "u1": "B", "u2": "H", "u4": "I", "u8": "Q"}
FORMATS |= {"f2": "e", "f4": "f", "f8": "d", "c8": "Zf", "c16": "Zd"}
ERRORS = (
    NotImplementedError,
    ValueError,
    TypeError,
    BufferError,
    MemoryError,
    OverflowError,
    AttributeError,
    LookupError,
    ArithmeticError,
)

_map = mmap.mmap(-1, ROOM)
_base = ctypes.addressof(ctypes.c_char.from_buffer(_map))
for _k in range(-4096, 4096):
    _map[MIDDLE + _k] = (_k * 37 + 11) % 120
BIG = [-(2**63), -(2**62), -(2**31), -1, 0, 2**31, 2**40, 2**61, 2**62, 2**63 - 1, 2**64, 3 << 60, (1 << 61) + 1]
ODD = [None, "x", b"x", 1.5, (), [], {}, object(), -1, 2**70, float("nan"), True, "<f8\0", "\ud800", (1, 2, 3)]


class Boom(ValueError):
    pass


def shape_of(r):
    return tuple(r.choice([0, 1, 1, 2, 3, 5, 8]) for _ in range(r.choice([0, 1, 1, 2, 2, 3, 5])))


def strides_of(r, shape, item):
    """In elements: C order, or any that are small."""
    if r.random() < 0.5:
        out, step = [], 1
        for n in reversed(shape):
            out.append(step)
            step *= n
        return out[::-1]
    return [r.choice([-7, -2, -1, 0, 1, 2, 3, 9]) for _ in shape]


def is_readable(address, item, shape, strides):
    """Does every byte lie in the mapping? Strides in bytes."""
    low = high = address
    if any(n < 0 for n in shape):
        return True  # to be refused before anybody looks
    if 0 in shape:
        return True
    for n, s in zip(shape, strides):
        low, high = low + min(0, (n - 1) * s), high + max(0, (n - 1) * s)
    return low >= _base and high + item <= _base + ROOM


def expected(address, dtype, shape, strides):
    """NumPy's view of it; None: there is no such array."""
    try:
        raw = np.frombuffer(_map, "u1")
        start = address - _base
        if any(n < 0 for n in shape) or not 0 <= start <= ROOM or len(shape) > 32:
            return None
        if 0 in shape:
            return np.zeros(shape, dtype)
        at = np.full(shape, start, "i8")
        for k, (n, s) in enumerate(zip(shape, strides)):
            at += (np.arange(n) * s).reshape([-1 if k == j else 1 for j in range(len(shape))])
        item = np.dtype(dtype).itemsize
        whole = raw[at[..., None] + np.arange(item)].copy()
        return whole.view(dtype).reshape(shape)
    except ERRORS:
        return None


# ---- DLPack


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", ctypes.c_int32 * 2),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class Managed(ctypes.Structure):
    _fields_ = [("tensor", Tensor), ("ctx", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class Versioned(ctypes.Structure):
    _fields_ = [
        ("version", ctypes.c_uint32 * 2),
        ("ctx", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", Tensor),
    ]


_deleted = []
_deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda at: _deleted.append(at))
_new = ctypes.pythonapi.PyCapsule_New
_new.restype, _new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_names = [b"dltensor", b"dltensor_versioned", b"used_dltensor", b"other"]
_alive = []  # structures that capsules point at; a consumer may keep them


class Dlpack:
    """Offers the tensor through __dlpack__."""

    def __init__(self, r, capsule):
        self.r, self.capsule, self.odd = r, capsule, r.random()

    def __dlpack__(self, **options):
        if self.odd < 0.05:
            raise self.r.choice([Boom, TypeError, KeyError, BufferError])("no")
        return self.r.choice(ODD) if self.odd < 0.1 else self.capsule

    def __dlpack_device__(self):
        if self.odd > 0.95:
            raise Boom("no")
        return self.r.choice(ODD) if self.odd > 0.9 else (1, 0)


def dlpack(r):
    name = r.choice(TYPES)
    item, shape = np.dtype(name).itemsize, list(shape_of(r))
    strides = strides_of(r, shape, item)
    versioned = r.random() < 0.5
    m = Versioned() if versioned else Managed()
    t = m.tensor
    m.deleter = ctypes.cast(_deleter, ctypes.c_void_p).value if r.random() < 0.9 else None
    t.data, t.ndim = _base + MIDDLE, len(shape)
    t.device[0], t.device[1] = 1, 0
    t.code, t.bits, t.lanes = CODES[name[0]], item * 8, 1
    lies = r.random() < 0.7
    fate = r.choice("shape strides data device id bits lanes code offset ndim null name version length far odd".split())
    if lies and fate == "length" and shape:
        shape[r.randrange(len(shape))] = r.choice([n for n in BIG if abs(n) < 2**63])
    if lies and fate == "far" and shape:
        strides[r.randrange(len(shape))] = r.choice([n for n in BIG if abs(n) < 2**63])
    raw = strides[:]
    if item > 1 and r.random() < 0.3:  # as CuPy says them: bytes divided without a sign
        raw = [(2**64 + s * item) // item if -(2**40) < s < 0 else s for s in strides]
    kept = (ctypes.c_int64 * max(1, len(shape)))(*shape), (ctypes.c_int64 * max(1, len(shape)))(*raw)
    t.shape = ctypes.cast(kept[0], ctypes.POINTER(ctypes.c_int64))
    if r.random() < 0.7 or strides != [math.prod(shape[k + 1 :]) for k in range(len(shape))]:
        t.strides = ctypes.cast(kept[1], ctypes.POINTER(ctypes.c_int64))
    known = True
    if versioned:
        m.version[0], m.version[1], m.flags = 1, r.randrange(3), r.choice([0, 1, 2, 3, 2**40])
    label = _names[versioned]
    if lies:
        if fate == "shape":
            t.shape = None
            known = not shape
        elif fate == "strides":
            t.strides = None
            step = 1
            for k in reversed(range(len(shape))):
                strides[k], step = step, step * shape[k]
        elif fate == "data":
            t.data = None
            known = 0 in shape
        elif fate == "device":
            t.device[0] = r.choice([0, 2, 4, 7, 8, 10, 12, 14, 99, -1])
            known = False
        elif fate == "id":
            t.device[0], t.device[1] = 2, r.choice([-1, 0, 5, 99])
            known = False
        elif fate == "bits":
            t.bits = r.choice([0, 1, 3, 4, 7, 12, 48, 80, 255])
            known = False
        elif fate == "lanes":
            t.lanes = r.choice([0, 2, 4, 65535])
            known = False
        elif fate == "code":
            t.code = r.choice([3, 7, 8, 20, 255])
            known = False
        elif fate == "offset":
            t.byte_offset = r.choice([1, 2, 3, 8, 64])
        elif fate == "ndim":
            t.ndim = r.choice([-1, -(2**31), 65, 100, 2**31 - 1])
            known = False
        elif fate == "null" and versioned:
            m.version[0] = r.choice([0, 2, 2**31])
            known = False
        elif fate == "name":
            label = r.choice([n for n in _names if n != label][1:])
            known = False
    _alive.append((m, kept, label))
    steps = [s * item for s in strides]
    address = (t.data or 0) + t.byte_offset
    if known and not is_readable(address, item, shape, steps):
        return None
    # The name a capsule was given decides what it is taken for: one of another kind is never named so here.
    capsule = _new(ctypes.addressof(m), label, None)
    want = expected(address, name, shape, steps) if known else None
    return (capsule if r.random() < 0.5 else Dlpack(r, capsule)), want, False


# ---- dicts


class Offer:
    def __init__(self, name, value):
        self.name, self.value = name, value

    def __getattr__(self, name):
        if name != self.name:
            raise AttributeError(name)
        if isinstance(self.value, Exception):
            raise self.value
        return self.value


def interface(r, name="__array_interface__"):
    dtype = r.choice(TYPES)
    order = r.choice("<<<>") if dtype not in ("?", "i1", "u1") else "|"
    item, shape = np.dtype(dtype).itemsize, list(shape_of(r))
    strides = [s * item for s in strides_of(r, shape, item)]
    address = _base + MIDDLE + r.choice([0, 0, 0, 1, 2, 4, 16])
    kind = "b1" if dtype == "?" else dtype
    d = {"version": 3, "shape": tuple(shape), "typestr": order + kind, "data": (address, r.random() < 0.5)}
    d["strides"] = tuple(strides)
    known = True
    if r.random() < 0.7:
        fate = r.choice("drop odd length far null typestr short inner buffer mask stream version".split())
        key = r.choice(["shape", "typestr", "data", "strides"])
        if fate == "drop":
            del d[key]
            known = False
        elif fate == "odd":
            d[key] = r.choice(ODD)
            known = False
        elif fate == "inner" and d[key]:
            d[key] = tuple(d[key])[:-1] + (r.choice(ODD),)
            known = False
        elif fate == "short":
            d["strides"] = tuple(strides) + (r.choice([0, 8]),)
            known = False
        elif fate == "length" and shape:
            shape[r.randrange(len(shape))] = r.choice(BIG)
            d["shape"] = tuple(shape)
        elif fate == "far" and shape:
            strides[r.randrange(len(shape))] = r.choice(BIG)
            d["strides"] = tuple(strides)
        elif fate == "null":
            d["data"] = (0, False)
            address = 0
        elif fate == "typestr":
            d["typestr"] = r.choice(
                ["", "<", "f4", "<f3", "<V8", "|O8", "<U3", "<M8[s]", "=f8", "f", "<f16", "x" * 500]
            )
            known = False
        elif fate == "buffer":
            d["data"] = r.choice([bytes(8), bytearray(64), None, memoryview(b"12345678")])
            d["offset"] = r.choice([0, 1, -1, 2**62, None])
            known = False
    if not is_readable(address, item, [n for n in shape if isinstance(n, int)], strides):
        if known or fate in ("typestr",):
            return None
    if not known and fate in ("drop", "odd", "inner", "short"):
        # What is left may be a smaller description, which is read: it must lie in the mapping as well.
        if not all(isinstance(n, int) for n in shape) or not is_readable(
            address, 16, [max(1, n) for n in shape], strides
        ):
            return None
    want = expected(address, order.replace("|", "<") + kind, shape, strides) if known else None
    value = r.choice([d, d, d, d, d, None, 3, "x", [d], Boom("no")])
    return Offer(name, value), (want if value is d else None), False


# ---- buffers


class Buffer(ctypes.Structure):
    _fields_ = [
        ("buf", ctypes.c_void_p),
        ("obj", ctypes.py_object),
        ("len", ctypes.c_ssize_t),
        ("itemsize", ctypes.c_ssize_t),
        ("readonly", ctypes.c_int),
        ("ndim", ctypes.c_int),
        ("format", ctypes.c_char_p),
        ("shape", ctypes.POINTER(ctypes.c_ssize_t)),
        ("strides", ctypes.POINTER(ctypes.c_ssize_t)),
        ("suboffsets", ctypes.POINTER(ctypes.c_ssize_t)),
        ("internal", ctypes.c_void_p),
    ]


_view = ctypes.pythonapi.PyMemoryView_FromBuffer
_view.restype, _view.argtypes = ctypes.py_object, [ctypes.POINTER(Buffer)]


def buffer(r):
    dtype = r.choice(TYPES)
    item, shape = np.dtype(dtype).itemsize, list(shape_of(r))
    strides = [s * item for s in strides_of(r, shape, item)]
    b = Buffer()
    b.buf, b.itemsize, b.ndim, b.readonly = _base + MIDDLE, item, len(shape), r.randrange(2)
    b.len = item
    for n in shape:
        b.len *= n
    form, known = FORMATS[dtype], True
    fate = r.choice("format length item suboffsets none".split()) if r.random() < 0.6 else ""
    if fate == "format":
        form, known = r.choice(["", "<", "x", "P", "O", "2f", "T{f:a:}", "w", "s", "@@f", "q" * 300, "\x01"]), False
    elif fate == "length":
        b.len, known = r.choice([0, 1, -1, 2**40]), False
    elif fate == "item":
        b.itemsize, known = r.choice([0, 3, -1, 2**40]), False
    b.format = form.encode()
    kept = (ctypes.c_ssize_t * max(1, len(shape)))(*shape), (ctypes.c_ssize_t * max(1, len(shape)))(*strides)
    subs = (ctypes.c_ssize_t * max(1, len(shape)))(*[r.choice([-1, 0, 8]) for _ in range(max(1, len(shape)))])
    b.shape, b.strides = (ctypes.cast(k, ctypes.POINTER(ctypes.c_ssize_t)) for k in kept)
    if fate == "suboffsets":
        b.suboffsets, known = ctypes.cast(subs, ctypes.POINTER(ctypes.c_ssize_t)), False
    if fate == "none":
        b.format, known = None, dtype == "u1"
    _alive.append((b, kept, subs))
    try:
        made = _view(ctypes.byref(b))
    except ERRORS:
        return None
    want = expected(_base + MIDDLE, "<" + dtype if dtype != "?" else "?", shape, strides) if known else None
    return made, want, fate == "suboffsets"


# ---- what else


class Methods:
    """Answers of __array__, __len__, __getitem__, __iter__, __float__ ... that are none."""

    def __init__(self, r):
        self.r = r
        for name in ("__array__", "__array_struct__", "__arrow_c_array__", "__array_priority__", "dtype", "shape"):
            if r.random() < 0.4:
                answer = r.choice([*ODD, self, Boom])
                setattr(self, name, (lambda *a, answer=answer, **k: answer) if r.random() < 0.7 else answer)

    def __len__(self):
        return self.r.choice([0, 1, 3, 10**6])

    def __getitem__(self, k):
        if self.r.random() < 0.2:
            raise self.r.choice([Boom, IndexError, KeyError])
        return self.r.choice([1, 2.5, *ODD])


def methods(r):
    return Methods(r), None, False


KINDS = [dlpack, dlpack, interface, interface, lambda r: interface(r, "__cuda_array_interface__"), buffer, methods]
WAYS = [
    tt.asarray,
    tt.array,
    tt.from_dlpack,
    lambda o: tt.asarray(o, copy=False),
    lambda o: tt.from_dlpack(o, copy=True),
    lambda o: tt.zeros(3) + o,
    lambda o: tt.stack([tt.zeros(2), o]),
    lambda o: tt.frombuffer(o, dtype="u1"),
    lambda o: tt.asarray([o, o]),
]


def attempt(seed):
    """True: the object was taken."""
    r = random.Random(seed)
    del _alive[:-64]
    made = r.choice(KINDS)(r)
    if made is None:
        return False
    o, want, leads_away = made
    way = r.randrange(
        5 if leads_away else len(WAYS)
    )  # who walks along suboffsets, as Python does, reads what is not there
    try:
        a = WAYS[way](o)
        got = np.array(a.tolist(), dtype=a.dtype.name) if 0 not in a.shape else np.zeros(a.shape)
    except ERRORS:
        return False
    if way < 5 and want is not None:
        assert got.shape == want.shape, (seed, got.shape, want.shape)
        np.testing.assert_array_equal(got, want, err_msg=str(seed))
    return True
