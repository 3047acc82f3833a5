"""Objects of other libraries beside our arrays: whose rules hold, and which protocols are spoken."""

import ctypes
import gc
import operator

import numpy as np
import pytest
import tutti as tt

TYPES = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"]
pytestmark = pytest.mark.filterwarnings("ignore:the matrix subclass")
BINARY = [operator.add, operator.sub, operator.mul, operator.truediv, operator.matmul, operator.lt, operator.eq]


# ---- the array interface, its memory given as a buffer


class Shown:
    def __init__(self, a, offset=0, data="bytes"):
        self.memory = b"\0" * offset + a.tobytes()
        self.__array_interface__ = {"shape": a.shape, "typestr": a.dtype.str, "version": 3, "offset": offset}
        if data == "bytes":
            self.__array_interface__["data"] = self.memory
        elif data == "bytearray":
            self.__array_interface__["data"] = bytearray(self.memory)


@pytest.mark.parametrize("name", TYPES)
def test_interfaces_of_bytes(name):
    rng = np.random.default_rng(1)
    for _ in range(20):
        shape = tuple(rng.integers(0, 4, rng.integers(0, 4)))
        a = rng.integers(0, 2, shape).astype(name)
        shown = Shown(a, int(rng.integers(0, 20)), rng.choice(["bytes", "bytearray"]))
        got = tt.asarray(shown)
        assert got.dtype == a.dtype and got.shape == a.shape
        np.testing.assert_array_equal(got, a)


def test_interfaces_that_are_wrong():
    a = np.arange(6.0)
    short, no_bytes = Shown(a), Shown(a)
    short.__array_interface__["shape"] = (7,)
    no_bytes.__array_interface__["data"] = 3
    strided = Shown(a)
    strided.__array_interface__["strides"] = (16,)
    negative = Shown(a)
    negative.__array_interface__["offset"] = -8
    huge = Shown(a)
    huge.__array_interface__["shape"] = (2**40, 2**40)
    for wrong in (short, no_bytes, strided, negative, huge, Shown(a, data="none")):
        with pytest.raises((ValueError, TypeError)):
            tt.asarray(wrong)


# ---- the array structure


class Structure(ctypes.Structure):
    _fields_ = [
        ("two", ctypes.c_int),
        ("nd", ctypes.c_int),
        ("typekind", ctypes.c_char),
        ("itemsize", ctypes.c_int),
        ("flags", ctypes.c_int),
        ("shape", ctypes.POINTER(ctypes.c_ssize_t)),
        ("strides", ctypes.POINTER(ctypes.c_ssize_t)),
        ("data", ctypes.c_void_p),
        ("descr", ctypes.c_void_p),
    ]


new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype, new_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
NATIVE, WRITEABLE = 0x200, 0x400


class Structured:
    """An object that shows an array by this protocol alone."""

    def __init__(self, a, name=None, **other):
        self.array = a
        sizes = ctypes.c_ssize_t * max(1, a.ndim)
        self.kept = sizes(*a.shape), sizes(*a.strides)
        flags = NATIVE * a.dtype.isnative + WRITEABLE * a.flags.writeable
        self.struct = Structure(2, a.ndim, a.dtype.kind.encode(), a.itemsize, flags, *self.kept, a.ctypes.data, None)
        for field, value in other.items():
            setattr(self.struct, field, value)
        self.__array_struct__ = new_capsule(ctypes.addressof(self.struct), name, None)


@pytest.mark.parametrize("name", [*TYPES, ">i4", ">f8", ">c16"])
def test_structures(name):
    rng = np.random.default_rng(1)
    for k in range(20):
        a = rng.integers(0, 2, tuple(rng.integers(0, 4, k % 4))).astype(name)
        for view in (a, a.T, a[::-1] if a.ndim else a, a[..., ::2] if a.ndim else a, np.broadcast_to(a, (2, *a.shape))):
            got = tt.asarray(Structured(view))
            assert got.dtype == a.dtype.newbyteorder("=") and got.shape == view.shape
            np.testing.assert_array_equal(got, view)


def test_memory_of_structures_is_held_and_copied():
    a = np.arange(6.0)
    copied = tt.asarray(Structured(a))
    a.flags.writeable = False
    shared = tt.asarray(Structured(a), copy=False)
    assert shared.__array_interface__["data"][0] == a.ctypes.data and not shared.flags.writeable
    del a
    gc.collect()
    np.testing.assert_array_equal(shared * 2, [0, 2, 4, 6, 8, 10])
    copied[0] = 7
    assert tt.add(Structured(np.arange(3)), 1).tolist() == [1, 2, 3]


def test_structures_that_are_wrong():
    a = np.arange(6.0).reshape(2, 3)
    null = ctypes.POINTER(ctypes.c_ssize_t)()
    kinds = [("two", 3), ("nd", -1), ("nd", 100), ("typekind", b"O"), ("typekind", b"\0"), ("itemsize", 3)]
    kinds += [("itemsize", -8), ("itemsize", 2**31 - 1), ("data", None), ("shape", null), ("strides", null)]
    wrong = [Structured(a, **{field: value}) for field, value in kinds]
    wrong += [Structured(a, name=b"array"), Structured(a)]
    wrong[-1].__array_struct__ = "no capsule"
    for w in wrong:
        with pytest.raises((ValueError, TypeError)):
            tt.asarray(w)


# ---- Arrow's capsules


@pytest.mark.parametrize("name", [n for n in TYPES if "c" not in n])
def test_capsules_nobody_takes(name):
    for a in (np.ones(5, name), np.ones((3, 2), name)[:, ::-1], np.ones((2, 0, 3), name), np.ones(0, name)):
        schema, array = tt.asarray(a).__arrow_c_array__()
        assert "arrow_schema" in repr(schema) and "arrow_array" in repr(array)


def test_what_is_no_column():
    with pytest.raises(TypeError, match="complex"):
        tt.ones(2, "c8").__arrow_c_array__()
    with pytest.raises(TypeError, match="rank 0"):
        tt.asarray(3.0).__arrow_c_array__()


# ---- whose rules


class Asks:
    """It wants to be asked with the array as it is."""

    __array_ufunc__ = None

    def __radd__(self, other):
        return type(other)


class Prior:
    __array_priority__ = 10.0

    def __rmatmul__(self, other):
        return "theirs", type(other)


class Own:
    """NumPy asks it."""

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return ufunc.__name__, [type(x) for x in inputs]


def test_classes_that_are_asked():
    x = tt.ones(3)
    assert x + Asks() is tt.ndarray and x[0] + Asks() is tt.ndarray
    with pytest.raises(TypeError):
        x * Asks()
    assert x @ Prior() == ("theirs", tt.ndarray)
    assert x + Own() == ("add", [np.ndarray, Own]) and np.multiply(x, Own()) == ("multiply", [np.ndarray, Own])
    assert np.sin(Own()) == ("sin", [Own])


@pytest.mark.parametrize("f", BINARY, ids=lambda f: f.__name__)
def test_masks_and_matrices_keep_their_rules(f):
    a = np.arange(4.0).reshape(2, 2) + 1
    masked = np.ma.masked_array(a, a > 3)
    matrix = a.view(np.matrix)
    for theirs in (masked, matrix):
        for got, want in [(f(tt.asarray(a), theirs), f(a, theirs)), (f(theirs, tt.asarray(a)), f(theirs, a))]:
            assert type(got) is type(want)
            np.testing.assert_array_equal(np.ma.getmaskarray(got), np.ma.getmaskarray(want))
            np.testing.assert_array_equal(np.ma.getdata(got), np.ma.getdata(want))


def test_what_has_no_place_here_numpy_computes():
    x = tt.arange(3.0)
    assert [b.shape for b in np.broadcast_arrays(x, None)] == [(3,), (3,)]
    assert np.concatenate([x, np.array([None])]).dtype == object
    assert np.array_equal(x, ["a", "b", "c"]) is False
    with tt.strict("fallback"), pytest.raises((TypeError, tt.exceptions.StrictError)):
        np.broadcast_arrays(x, None)
    with pytest.raises(ValueError, match="broadcast"):
        np.add(x, np.ones(4))


def test_memory_that_is_shared_is_seen():
    x = tt.arange(4.0)
    assert np.may_share_memory(np.asarray(x), x) and np.shares_memory(x, np.asarray(x))
    assert not np.may_share_memory(np.ones(4), x)


# ---- dtypes


@pytest.mark.parametrize("name", TYPES)
def test_dtypes_answer_as_numpys(name):
    ours, theirs = tt.zeros(1, name).dtype, np.dtype(name)
    assert hash(ours) == hash(theirs) and {theirs: 1}[ours] == 1 and {ours: 1}[theirs] == 1
    assert isinstance(ours, np.dtype) and isinstance(ours, tt.dtype) and issubclass(ours.type, np.generic)
    for attribute in ("byteorder", "num", "alignment", "hasobject", "fields", "descr", "type", "char", "kind", "str"):
        assert getattr(ours, attribute) == getattr(theirs, attribute), attribute
    assert not hasattr(ours, "nothing")
    assert ours.newbyteorder() == theirs.newbyteorder()
