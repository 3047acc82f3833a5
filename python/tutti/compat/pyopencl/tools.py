"""pyopencl.tools: types in C, pools, and what test programs and kernels of others take from here."""

import functools
import os
import threading

import numpy as np

from .. import _c_types
from ..pycuda.tools import DeviceMemoryPool, bitlog2  # noqa: F401 (the same classes of sizes)
from ._constants import CLASSES
from ._devices import Context, Platform, get_platforms
from ._errors import failure
from ._memory import Buffer, PooledBuffer, PooledSVM, SVMAllocation

# ---- types in C

_KINDS = {
    "char": "int8", "signed char": "int8", "uchar": "uint8", "unsigned char": "uint8", "short": "int16",
    "ushort": "uint16", "unsigned short": "uint16", "int": "int32", "signed int": "int32", "uint": "uint32",
    "unsigned": "uint32", "unsigned int": "uint32", "long": "int64", "ulong": "uint64", "unsigned long": "uint64",
    "half": "float16", "float": "float32", "double": "float64", "cfloat_t": "complex64", "cdouble_t": "complex128",
    "bool": "bool", "size_t": "uint64", "ptrdiff_t": "int64", "uintptr_t": "uint64", "intptr_t": "int64",
}  # fmt: skip
_SPELLED = {
    "bool": "bool", "int8": "char", "uint8": "uchar", "int16": "short", "uint16": "ushort", "int32": "int",
    "uint32": "uint", "int64": "long", "uint64": "ulong", "float16": "half", "float32": "float", "float64": "double",
    "complex64": "cfloat_t", "complex128": "cdouble_t",
}  # fmt: skip
_types = _c_types.Registry(_KINDS)
get_or_register_dtype, register_dtype, _named = _types.get_or_register, _types.register, _types.named


def dtype_to_ctype(dtype):
    """How OpenCL C spells a type; a structure by the name that it was registered with."""
    if dtype is None:
        raise ValueError("dtype may not be None")
    dtype = np.dtype(dtype)
    found = _types.ours.get(dtype) or _SPELLED.get(dtype.name)
    if found is None:
        raise ValueError(f"unable to map dtype '{dtype}': get_or_register_dtype gives it a name")
    return found


def dtype_to_c_struct(device, dtype):
    """The declaration of a structure that was registered."""
    return match_dtype_to_c_struct(device, dtype_to_ctype(dtype), dtype)[1]


def match_dtype_to_c_struct(device, name, dtype, context=None):
    """A structure's type with its fields where OpenCL C puts them, and its declaration by that name."""
    aligned = _aligned(np.dtype(dtype))
    lines = [f"  {_field(field, *aligned.fields[field][:1])};" for field in aligned.names]
    return aligned, "typedef struct {\n" + "\n".join(lines) + f"\n}} {name};\n\n"


def _c_alignment(dtype):
    """What OpenCL C aligns a type to: vectors and complex numbers to their size."""
    if dtype.subdtype:
        return _c_alignment(dtype.subdtype[0])
    from . import cltypes

    if dtype in cltypes.vec_type_to_scalar_and_count:
        return dtype.itemsize
    if dtype.kind == "c":
        return dtype.itemsize // 2
    return max(map(_c_alignment, (dtype.fields[n][0] for n in dtype.names))) if dtype.names else dtype.itemsize


def _aligned(dtype):
    at, offsets = 0, []
    kinds = [dtype.fields[name][0] for name in dtype.names]
    for kind in kinds:
        step = _c_alignment(kind)
        at = -(-at // step) * step
        offsets.append(at)
        at += kind.itemsize
    size = -(-at // (step := _c_alignment(dtype))) * step
    return np.dtype({"names": dtype.names, "formats": kinds, "offsets": offsets, "itemsize": size})


def _field(name, kind):
    shape = ""
    if kind.subdtype:
        kind, sizes = kind.subdtype
        shape = "".join(f"[{n}]" for n in sizes)
    return f"{dtype_to_ctype(kind)} {name}{shape}"


# ---- parameters of kernels

Argument = _c_types.Argument


class DtypedArgument(Argument):
    """A parameter with a type."""

    def _key(self):
        return type(self), self.dtype, self.name

    def __eq__(self, other):
        return isinstance(other, DtypedArgument) and other._key() == self._key()

    def __hash__(self):
        return hash(self._key())


class VectorArg(DtypedArgument):
    """A pointer to elements; with_offset: it comes with the bytes before the first one."""

    def __init__(self, dtype, name, with_offset=False):
        super().__init__(dtype, name)
        self.with_offset = with_offset

    def declarator(self):
        kind = dtype_to_ctype(self.dtype)
        if self.with_offset:
            return f"__global {kind} *{self.name}__base, long {self.name}__offset"
        return f"__global {kind} *{self.name}"

    def _key(self):
        return (*super()._key(), self.with_offset)


class ScalarArg(DtypedArgument):
    """A value."""

    def declarator(self):
        return f"{dtype_to_ctype(self.dtype)} {self.name}"


class OtherArg(Argument):
    """A parameter that is written as it is."""

    def __init__(self, declarator, name):
        self._text, self.name = declarator, name

    def declarator(self):
        return self._text


def parse_c_arg(c_arg, with_offset=False):
    """The parameter that a piece of C declares."""
    if "__local" in c_arg.split():
        raise RuntimeError("cannot deal with local-address-space arguments")
    kind, is_vector, name = _c_types.declared(c_arg)
    return VectorArg(_named(kind), name, with_offset) if is_vector else ScalarArg(_named(kind), name)


def parse_arg_list(arguments, with_offset=False):
    """Parameters: of a text with commas, or of a list of texts and parameters."""
    parts = arguments.split(",") if isinstance(arguments, str) else arguments
    parts = [p for p in parts if not isinstance(p, str) or p.strip()]
    made = [parse_c_arg(p, with_offset) if isinstance(p, str) else p for p in parts]
    if with_offset:
        made = [VectorArg(a.dtype, a.name, True) if isinstance(a, VectorArg) else a for a in made]
    return made


def get_arg_list_arg_types(arg_types):
    """Of each parameter: a number's type, or the VectorArg itself."""
    return tuple(a.dtype if isinstance(a, ScalarArg) else a for a in arg_types)


def get_arg_list_scalar_arg_dtypes(arg_types):
    """Of each parameter of a kernel: a number's type, or None."""
    found = []
    for a in arg_types:
        found += [a.dtype] if isinstance(a, ScalarArg) else [None, np.dtype(np.int64)] if a.with_offset else [None]
    return found


def get_arg_offset_adjuster_code(arg_types):
    """C that makes a pointer of each parameter with an offset."""
    return "\n".join(
        f"__global {dtype_to_ctype(a.dtype)} *{a.name} = "
        f"(__global {dtype_to_ctype(a.dtype)} *) ((__global char *) {a.name}__base + {a.name}__offset);"
        for a in arg_types if isinstance(a, VectorArg) and a.with_offset
    )  # fmt: skip


# ---- allocators and pools: the library keeps what is given back, so pools hold nothing


class AllocatorBase:
    """What gives buffers of a size."""

    def __init__(self, context_or_queue, mem_flags=CLASSES["mem_flags"].READ_WRITE):
        self._context = getattr(context_or_queue, "context", context_or_queue)
        self._mem_flags = mem_flags

    def __call__(self, size):
        return Buffer(self._context, self._mem_flags, size) if size else None


class DeferredAllocator(AllocatorBase):
    """Buffers of a context."""

    def __init__(self, context, mem_flags=CLASSES["mem_flags"].READ_WRITE):
        if not isinstance(context, Context):
            raise TypeError("DeferredAllocator takes a context")
        super().__init__(context, mem_flags)


class ImmediateAllocator(AllocatorBase):
    """Buffers of a queue's context."""


class MemoryPool(DeviceMemoryPool):
    """Buffers of an allocator, which are counted for as long as they are there."""

    def __init__(self, allocator, leading_bits_in_bin_id=4):
        super().__init__()
        self._allocator, self._BITS = allocator, leading_bits_in_bin_id

    def allocate(self, size):
        """A buffer of so many bytes."""
        if not size:
            return self._nothing()
        whole = self._allocator(self.alloc_size(self.bin_number(size)))
        made = self._pooled(whole, int(size))
        made._alive = [int(size)]
        self._given.append(made._alive)
        return made

    __call__ = allocate

    @staticmethod
    def _nothing():
        return None

    @staticmethod
    def _pooled(whole, size):
        return _Counted._on(whole._context, whole._checked()[:size], whole._flags, None, whole._root)

    @property
    def managed_bytes(self):
        return self.active_bytes


class _Counting:
    def release(self):
        super().release()
        self._alive.clear()

    def __del__(self):
        getattr(self, "_alive", []).clear()


class _Counted(_Counting, PooledBuffer):
    """Memory of a pool, which counts it."""


class _CountedSVM(_Counting, PooledSVM):
    """Shared virtual memory of a pool, which counts it."""


class SVMAllocator:
    """What gives shared virtual memory of a size."""

    def __init__(self, context, *, alignment=0, flags=CLASSES["svm_mem_flags"].READ_WRITE, queue=None):
        self._words = context, alignment, flags, queue

    def __call__(self, size):
        context, alignment, flags, queue = self._words
        return SVMAllocation(context, size, alignment, flags, queue)


class SVMPool(MemoryPool):
    """Shared virtual memory of an allocator, counted."""

    def _nothing(self):
        made = self._pooled(self._allocator(0), 0)
        made._alive = []
        return made

    @staticmethod
    def _pooled(whole, size):
        made = _CountedSVM(whole._context, 0, 0, 0, whole._queue)
        made._memory = whole._bytes[:size]
        return made


# ---- results kept for each context

_memos = []


def first_arg_dependent_memoize(function):
    """Call a function once for each list of arguments; what is kept is dropped by clear_first_arg_caches."""
    kept = {}
    _memos.append(kept)

    @functools.wraps(function)
    def remembered(*args, **kwargs):
        key = args, frozenset(kwargs.items())
        if key not in kept:
            kept[key] = function(*args, **kwargs)
        return kept[key]

    return remembered


context_dependent_memoize = first_arg_dependent_memoize_nested = first_arg_dependent_memoize


def clear_first_arg_caches():
    """Drop what is kept."""
    for kept in _memos:
        kept.clear()


# ---- pickles

_pickling = threading.local()


class queue_for_pickling:  # noqa: N801 (PyOpenCL's name)
    """The queue that arrays use in pickles, inside the context."""

    def __init__(self, queue, alloc=None):
        self._given = queue, alloc

    def __enter__(self):
        if getattr(_pickling, "given", None):
            raise RuntimeError("array_context_for_pickling should not be called inside the context of itself.")
        _pickling.given = self._given

    def __exit__(self, *error):
        _pickling.given = None


def get_pickling_queue():
    """The queue of queue_for_pickling."""
    given = getattr(_pickling, "given", None)
    if not given:
        raise RuntimeError("arrays are unpickled inside `with queue_for_pickling(queue)`")
    return given[0]


# ---- tests


class _ContextFactory:
    """Makes contexts of a device."""

    def __init__(self, device):
        self.device = device

    def __call__(self):
        clear_first_arg_caches()
        return Context([self.device])

    def __str__(self):
        return f"<context factory of {self.device.platform.name}>"


def _found(objects, words):
    if words.isdigit():
        return objects[int(words)]
    for one in objects:
        if words.lower() in f"{one.name} {one.vendor}".lower():
            return one
    raise RuntimeError(f"object '{words}' not found")


def get_test_platforms_and_devices(plat_dev_string=None):
    """Platforms and devices that PYOPENCL_TEST names, or all: "platform:device,device;..."."""
    text = os.environ.get("PYOPENCL_TEST") if plat_dev_string is None else plat_dev_string
    if not text:
        return [(platform, platform.get_devices()) for platform in get_platforms()]
    found = []
    for entry in text.split(";"):
        head, _, devices = entry.partition(":")
        platform = _found(get_platforms(), head)
        all_of_it = platform.get_devices()
        found.append((platform, [_found(all_of_it, d) for d in devices.split(",")] if devices else all_of_it))
    return found


def get_pyopencl_fixture_arg_names(metafunc, extra_arg_names=None):
    """Which of our arguments a test takes."""
    known = ["platform", "device", "ctx_factory", "ctx_getter", *(extra_arg_names or [])]
    return [name for name in known if name in metafunc.fixturenames]


def get_pyopencl_fixture_arg_values():
    """The values of these arguments, for each device, and how a test is called by them."""
    values = [
        {"platform": p, "device": d, "ctx_factory": _ContextFactory(d), "ctx_getter": _ContextFactory(d)}
        for p, devices in get_test_platforms_and_devices() for d in devices
    ]  # fmt: skip
    return values, lambda v: f"<pyopencl.Platform '{v.name}'>" if isinstance(v, Platform) else str(v)


def pytest_generate_tests_for_pyopencl(metafunc):
    """Run tests that take ctx_factory, device or platform for each device."""
    names = get_pyopencl_fixture_arg_names(metafunc)
    if names:
        values, ids = get_pyopencl_fixture_arg_values()
        metafunc.parametrize(names, [tuple(v[name] for name in names) for v in values], ids=ids)


def get_gl_sharing_context_properties():
    """Refused: there is no sharing with OpenGL."""
    raise failure("INVALID_OPERATION", "get_gl_sharing_context_properties", "there is no sharing with OpenGL")


def is_spirv(s):
    """Whether a program is SPIR-V."""
    return isinstance(s, bytes) and s[:4] in (b"\x03\x02\x23\x07", b"\x07\x23\x02\x03")


def array_module(a):
    """NumPy for arrays of the host, else pyopencl.array."""
    from . import array

    return array if isinstance(a, array.Array) else np


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.pyopencl does not cover pyopencl.tools.{name}")
