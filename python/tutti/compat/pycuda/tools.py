"""pycuda.tools: types in C, pools, and what test programs and kernels of others take from here."""

import functools
import os

import numpy as np

from tutti import _core

from .. import _c_types
from . import driver


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.pycuda does not cover pycuda.tools.{name}")


def bitlog2(x):
    """The place of the highest bit that is set."""
    return max(int(x).bit_length() - 1, 0)


# ---- devices


def get_default_device(default=0):
    return driver.Device(int(os.environ.get("CUDA_DEVICE", default)))


def make_default_context(ctx_maker=None):
    """A context of the device that CUDA_DEVICE names, or of the first; it is pushed."""
    return (ctx_maker or driver.Device.make_context)(get_default_device())


def _up(x, step):
    return -(-x // step) * step


class DeviceData:
    """What a multiprocessor has."""

    thread_blocks_per_mp, warps_per_mp = 8, 64
    smem_alloc_granularity, smem_granularity, register_allocation_unit = 128, 32, "warp"

    def __init__(self, dev=None):
        dev = dev or driver.Context.get_device()
        self.max_threads = dev.get_attribute(driver.device_attribute.MAX_THREADS_PER_BLOCK)
        self.warp_size = dev.get_attribute(driver.device_attribute.WARP_SIZE)
        self.registers = dev.get_attribute(driver.device_attribute.MAX_REGISTERS_PER_BLOCK)
        self.shared_memory = dev.get_attribute(driver.device_attribute.MAX_SHARED_MEMORY_PER_BLOCK)

    def align_bytes(self, word_size=4):
        """The bytes that threads of a warp fetch at once."""
        if word_size not in (4, 8, 16):
            raise ValueError(f"no alignment possible for fetches of size {word_size}")
        return 64 if word_size == 4 else 128

    def align(self, bytes, word_size=4):  # noqa: A002 (PyCUDA's name)
        return _up(bytes, self.align_bytes(word_size))

    def align_words(self, word_size):
        return self.align_bytes(word_size) // word_size

    def align_dtype(self, elements, dtype_size):
        return _up(elements, self.align_words(dtype_size))

    def coalesce(self, thread_count):
        return _up(thread_count, 16)

    @staticmethod
    def make_valid_tex_channel_count(size):
        for count in (1, 2, 4):
            if size <= count:
                return count
        raise ValueError("could not enlarge argument to valid channel count")


class OccupancyRecord:
    """How many blocks of a kernel a multiprocessor holds, and what limits them."""

    def __init__(self, devdata, threads, shared_mem=0, registers=0):
        warps, shared = -(-threads // devdata.warp_size), _up(shared_mem, devdata.smem_alloc_granularity)
        words = warps * devdata.warp_size * registers
        for what, asked, most in (
            ("threads", threads, devdata.max_threads),
            ("registers", words, devdata.registers),
            ("smem", shared, devdata.shared_memory),
        ):
            if asked > most:
                raise ValueError(f"too {'much' if what == 'smem' else 'many'} {what}")
        limits = [(devdata.thread_blocks_per_mp, "device"), (devdata.warps_per_mp // warps, "warps")]
        if registers:
            limits.append((devdata.registers // words, "regs"))
        if shared:
            limits.append((devdata.shared_memory // shared, "smem"))
        self.tb_per_mp_limits = limits
        self.tb_per_mp, self.limited_by = min(limits)
        self.warps_per_mp = self.tb_per_mp * warps
        self.occupancy = self.warps_per_mp / devdata.warps_per_mp


# ---- pools


class DeviceMemoryPool:
    """Memory of the device. The library keeps what was given back, so the pool itself holds nothing.

    `bin_number` and `alloc_size` are those of PyCUDA's pools: sizes with four bits behind their highest one.
    """

    _BITS = 4
    held_blocks = managed_bytes = 0

    def __init__(self):
        self._given = []

    def allocate(self, size):
        """Memory of so many bytes."""
        made = _Pooled(max(int(size), 1))
        self._given.append(made._alive)
        return made

    def bin_number(self, size):
        """The number of the class of sizes that this one belongs to."""
        highest, shift = bitlog2(size), bitlog2(size) - self._BITS
        rest = size >> shift if shift >= 0 else size << -shift
        if size and shift > 0 and size & ((1 << shift) - 1):
            rest += 1
        return (highest << self._BITS) + (rest - (1 << self._BITS) if size else 0)

    def alloc_size(self, bin_nr):
        """The most bytes of a class of sizes."""
        shift = (bin_nr >> self._BITS) - self._BITS
        rest = (1 << self._BITS) + (bin_nr & ((1 << self._BITS) - 1))
        return rest << shift if shift >= 0 else -(-rest >> -shift)

    @property
    def active_blocks(self):
        self._given = [alive for alive in self._given if alive]
        return len(self._given)

    @property
    def active_bytes(self):
        return sum(sum(alive) for alive in self._given)

    def free_held(self):
        """Nothing to do: the library gives its memory back where there is little."""

    stop_holding = free_held


class _Pooled(driver.DeviceAllocation):
    """Memory of a pool, which counts it for as long as it is there."""

    def __init__(self, size):
        super().__init__(size)
        self._alive = [size]

    def free(self):
        super().free()
        self._alive.clear()

    def __del__(self):
        super().__del__()
        getattr(self, "_alive", []).clear()


driver.PooledDeviceAllocation = _Pooled


class PageLockedAllocator:
    """Memory of the host that a GPU reads and writes at full speed."""

    def __init__(self, flags=0):
        self.flags = flags

    def __call__(self, shape, dtype, order="C"):
        return driver.pagelocked_empty(shape, dtype, order)


class PageLockedMemoryPool:
    """A pool of such memory."""

    held_blocks = active_blocks = 0

    def __init__(self, allocator=None):
        self._allocator = allocator or PageLockedAllocator()

    def allocate(self, shape, dtype, order="C"):
        return self._allocator(shape, dtype, order)

    def free_held(self):
        """Nothing is held."""

    stop_holding = free_held


# ---- types in C

_KINDS = {
    "pycuda::complex<float>": "complex64", "pycuda::complex<double>": "complex128",
    "bool": "bool", "char": "int8", "signed char": "int8", "short": "int16", "short int": "int16", "int": "int32",
    "signed": "int32", "long": "int64", "long int": "int64", "long long": "int64", "unsigned": "uint32",
    "unsigned char": "uint8", "unsigned short": "uint16", "unsigned int": "uint32", "unsigned long": "uint64",
    "unsigned long long": "uint64", "uchar": "uint8", "ushort": "uint16", "uint": "uint32", "ulong": "uint64",
    "size_t": "uint64", "float": "float32", "double": "float64", "half": "float16", "float complex": "complex64",
    "double complex": "complex128", **{f"{u}int{n}_t": f"{u}int{n}" for u in ("", "u") for n in (8, 16, 32, 64)},
}  # fmt: skip
_types = _c_types.Registry(_KINDS)
get_or_register_dtype, register_dtype, _named = _types.get_or_register, _types.register, _types.named


def dtype_to_ctype(dtype, with_fp_tex_hack=False):
    """How CUDA C spells a type; a structure by the name that it was registered with."""
    if dtype is None:
        raise ValueError("dtype may not be None")
    dtype = np.dtype(dtype)
    if with_fp_tex_hack and dtype.name in _TEXTURE_NAMES:
        return _TEXTURE_NAMES[dtype.name]
    if dtype in _types.ours:
        return _types.ours[dtype]
    if dtype.kind == "V":
        raise ValueError(f"unable to map dtype '{dtype}': register_dtype gives it a name")
    if dtype.kind == "c":
        return f"pycuda::complex<{_core.dtype_in_c(np.dtype(f'f{dtype.itemsize // 2}'))}>"
    return _core.dtype_in_c(dtype)


_TEXTURE_NAMES = {
    "float32": "fp_tex_float",
    "float64": "fp_tex_double",
    "complex64": "fp_tex_cfloat",
    "complex128": "fp_tex_cdouble",
}


Argument = _c_types.Argument


class VectorArg(Argument):
    """A pointer to elements."""

    struct_char = "P"

    def declarator(self):
        return f"{dtype_to_ctype(self.dtype)} *{self.name}"


class ScalarArg(Argument):
    """A value."""

    @property
    def struct_char(self):
        return f"{self.dtype.itemsize}s" if self.dtype.kind == "V" else self.dtype.char

    def declarator(self):
        return f"{dtype_to_ctype(self.dtype)} {self.name}"


def parse_c_arg(c_arg):
    """The parameter that a piece of C declares."""
    kind, is_vector, name = _c_types.declared(c_arg)
    return (VectorArg if is_vector else ScalarArg)(_named(kind), name)


def get_arg_type(c_arg):
    return parse_c_arg(c_arg).struct_char


# ---- results kept for each device

_memos = []


def context_dependent_memoize(f):
    """Call a function once for each list of arguments and each device."""
    kept = {}
    _memos.append(kept)

    @functools.wraps(f)
    def remembered(*args, **kwargs):
        key = driver.Context.get_device(), args, frozenset(kwargs.items())
        if key not in kept:
            kept[key] = f(*args, **kwargs)
        return kept[key]

    return remembered


def clear_context_caches():
    for kept in _memos:
        kept.clear()


# ---- tests


def mark_cuda_test(f):
    """A test that runs in a context of its own."""

    @functools.wraps(f)
    def test(*args, **kwargs):
        context = make_default_context()
        try:
            f(*args, **kwargs)
        finally:
            context.pop()
            clear_context_caches()

    return test


def init_cuda_context_fixture():
    """The same as a fixture's body."""
    context = make_default_context()
    yield
    context.pop()
    clear_context_caches()
