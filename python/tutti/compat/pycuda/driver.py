"""pycuda.driver: memory, copies, streams, events, devices.

Device memory is the processor's, also where there is a GPU: addresses are numbers that programs calculate with.
"""

import bisect
import builtins
import ctypes
import os
import time as _time

import numpy as np

import tutti as _tt


class Error(Exception):
    """The root of PyCUDA's errors."""


class CompileError(Error):
    """The source of a kernel does not compile."""

    def __init__(self, msg="", command_line=(), stdout=None, stderr=None):
        super().__init__(msg)
        self.msg, self.stdout, self.stderr = msg, stdout, stderr or msg


class MemoryError(Error):  # noqa: A001 (PyCUDA's name)
    """There is not that much memory."""


class LogicError(Error):
    """A call that means nothing."""


class LaunchError(Error):
    """A kernel failed."""


class RuntimeError(Error):  # noqa: A001 (PyCUDA's name)
    """Something else failed."""


def init(flags=0):
    """There is nothing to begin."""


def get_version():
    return (12, 0, 0)


def get_driver_version():
    return 12000


# ---- memory

_addresses = []  # of all allocations, sorted
_by_address = {}


class DeviceAllocation:
    """Memory that kernels see. `int(a)` is its address, and addresses within it stand for it."""

    def __init__(self, size):
        if size <= 0:
            raise LogicError("cuMemAlloc failed: invalid argument")
        try:
            self._memory = (ctypes.c_char * size)()
        except (OverflowError, ValueError, builtins.MemoryError) as e:
            raise MemoryError(f"cuMemAlloc failed: out of memory ({e})") from None
        self.size, self._address = size, ctypes.addressof(self._memory)
        bisect.insort(_addresses, self._address)
        _by_address[self._address] = self._memory

    def free(self):
        if self._memory is None:
            raise LogicError("this memory was freed already")
        self._forget()
        self._memory = None

    def _forget(self):
        _by_address.pop(self._address, None)
        at = bisect.bisect_left(_addresses, self._address)
        if at < len(_addresses) and _addresses[at] == self._address:
            del _addresses[at]

    def __del__(self):
        if getattr(self, "_memory", None) is not None:
            self._forget()

    def __int__(self):
        return self._address

    __index__ = __int__

    def __add__(self, offset):
        return self._address + int(offset)

    def as_buffer(self, size, offset=0):
        return memoryview(self._memory).cast("B")[offset : offset + size]

    def _around_launch(self, before, after):
        if self._memory is None:
            raise LogicError("this memory was freed")
        return self._memory


PooledDeviceAllocation = DeviceAllocation


def _memory_at(address):
    """The allocation's memory from an address on."""
    k = bisect.bisect_right(_addresses, address) - 1
    if k >= 0:
        base = _addresses[k]
        memory = _by_address[base]
        if address - base < len(memory):
            return (ctypes.c_char * (len(memory) - (address - base))).from_buffer(memory, address - base)
    raise LogicError(f"no device memory lies at {address:#x}")


def _bytes_of(x):
    """Device or host memory as writable bytes."""
    if isinstance(x, DeviceAllocation):
        if x._memory is None:
            raise LogicError("this memory was freed")
        return memoryview(x._memory).cast("B")
    if hasattr(x, "_view"):
        return memoryview(x._view()).cast("B")
    if isinstance(x, (int, np.integer)):
        return memoryview(_memory_at(int(x))).cast("B")
    a = np.asarray(x)
    if not (a.flags.c_contiguous or a.flags.f_contiguous):
        raise ValueError("ndarray is not contiguous")
    return memoryview(a.reshape(-1, order="A").view(np.uint8)) if a.size else memoryview(b"")


def mem_alloc(size):
    return DeviceAllocation(int(size))


def mem_alloc_pitch(width, height, access_size):
    pitch = (int(width) + 255) // 256 * 256
    return DeviceAllocation(pitch * int(height)), pitch


def to_device(bf_obj):
    a = np.ascontiguousarray(bf_obj)
    d = mem_alloc(a.nbytes)
    memcpy_htod(d, a)
    return d


def from_device(devptr, shape, dtype, order="C"):
    out = np.empty(shape, dtype, order)
    memcpy_dtoh(out, devptr)
    return out


def from_device_like(devptr, other):
    out = np.empty_like(other)
    memcpy_dtoh(out, devptr)
    return out


def mem_get_info():
    pages = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_AVPHYS_PAGES")
    size = os.sysconf("SC_PAGE_SIZE")
    return pages[1] * size, pages[0] * size


def _copy(to, source, size):
    if size > len(to) or size > len(source):
        raise LogicError(f"a copy of {size} bytes reaches beyond memory of {min(len(to), len(source))}")
    _tt.eval()  # kernels that were launched before: the memory may be a variable's
    to[:size] = source[:size]


def memcpy_htod(dest, src):
    s = _bytes_of(src)
    _copy(_bytes_of(dest), s, len(s))


def memcpy_dtoh(dest, src):
    d = _bytes_of(dest)
    _copy(d, _bytes_of(src), len(d))


def memcpy_dtod(dest, src, size):
    _copy(_bytes_of(dest), _bytes_of(src), size)


def memcpy_htod_async(dest, src, stream=None):
    memcpy_htod(dest, src)


def memcpy_dtoh_async(dest, src, stream=None):
    memcpy_dtoh(dest, src)


def memcpy_dtod_async(dest, src, size, stream=None):
    memcpy_dtod(dest, src, size)


def memset_d8(dest, data, count):
    np.frombuffer(_bytes_of(dest), np.uint8)[:count] = data


def memset_d16(dest, data, count):
    np.frombuffer(_bytes_of(dest)[: count * 2], np.uint16)[:] = data


def memset_d32(dest, data, count):
    np.frombuffer(_bytes_of(dest)[: count * 4], np.uint32)[:] = data


def pagelocked_empty(shape, dtype, order="C", mem_flags=0):
    return np.empty(shape, dtype, order)


def pagelocked_zeros(shape, dtype, order="C", mem_flags=0):
    return np.zeros(shape, dtype, order)


def pagelocked_empty_like(array, mem_flags=0):
    return np.empty_like(array)


def pagelocked_zeros_like(array, mem_flags=0):
    return np.zeros_like(array)


def aligned_empty(shape, dtype, order="C", alignment=4096):
    return np.empty(shape, dtype, order)


def register_host_memory(ary, flags=0):
    return ary


managed_empty, managed_zeros = pagelocked_empty, pagelocked_zeros


# ---- arguments that say what to copy


class ArgumentHandler:
    def __init__(self, array):
        self.array = array


class In(ArgumentHandler):
    """The kernel sees the array's elements; what it writes is lost."""

    def _around_launch(self, before, after):
        return np.array(self.array, order="K", copy=True)


class Out(ArgumentHandler):
    """The array gets what the kernel wrote."""

    def _around_launch(self, before, after):
        return self.array


class InOut(Out):
    """Both."""


# ---- streams and events: everything is done when it is asked for


class Stream:
    def __init__(self, flags=0):
        self.handle = 0

    def synchronize(self):
        _tt.synchronize()

    def is_done(self):
        return True

    def wait_for_event(self, event):
        event.synchronize()


class Event:
    def __init__(self, flags=0):
        self._time = None

    def record(self, stream=None):
        _tt.synchronize()
        self._time = _time.perf_counter()
        return self

    def synchronize(self):
        return self

    def query(self):
        return True

    def time_since(self, event):
        """Milliseconds."""
        if self._time is None or event._time is None:
            raise LogicError("an event was never recorded")
        return (self._time - event._time) * 1e3

    def time_till(self, event):
        return event.time_since(self)


class _Flags(dict):
    __getattr__ = dict.get


event_flags = _Flags(DEFAULT=0, BLOCKING_SYNC=1, DISABLE_TIMING=2)
ctx_flags = _Flags(SCHED_AUTO=0, MAP_HOST=8, SCHED_YIELD=2, SCHED_SPIN=1)
host_alloc_flags = _Flags(PORTABLE=1, DEVICEMAP=2, WRITECOMBINED=4)
func_cache = _Flags(PREFER_NONE=0, PREFER_SHARED=1, PREFER_L1=2, PREFER_EQUAL=3)
mem_attach_flags = _Flags(GLOBAL=1, HOST=2, SINGLE=4)


# ---- devices

_ATTRIBUTES = {
    "MAX_THREADS_PER_BLOCK": 1024, "MAX_BLOCK_DIM_X": 1024, "MAX_BLOCK_DIM_Y": 1024, "MAX_BLOCK_DIM_Z": 64,
    "MAX_GRID_DIM_X": 2**31 - 1, "MAX_GRID_DIM_Y": 65535, "MAX_GRID_DIM_Z": 65535, "MAX_SHARED_MEMORY_PER_BLOCK": 49152,
    "WARP_SIZE": 32, "MAX_THREADS_PER_MULTIPROCESSOR": 1024, "COMPUTE_CAPABILITY_MAJOR": 7,
    "COMPUTE_CAPABILITY_MINOR": 0, "UNIFIED_ADDRESSING": 1, "CAN_MAP_HOST_MEMORY": 1, "INTEGRATED": 1,
    "TOTAL_CONSTANT_MEMORY": 65536, "CLOCK_RATE": 0, "MULTIPROCESSOR_COUNT": 0,
}  # fmt: skip


class _Attribute(str):
    __slots__ = ()


class device_attribute:  # noqa: N801 (PyCUDA's name)
    pass


for _name in _ATTRIBUTES:
    setattr(device_attribute, _name, _Attribute(_name))


class Device:
    """The processor. PyCUDA's programs ask it what a GPU can."""

    def __init__(self, number=0):
        if number != 0:
            raise LogicError(f"cuDeviceGet failed: invalid device ordinal {number}")

    @staticmethod
    def count():
        return 1

    def name(self):
        return str(_tt.devices()[0])

    def pci_bus_id(self):
        return "0000:00:00.0"

    def compute_capability(self):
        return (7, 0)

    def total_memory(self):
        return mem_get_info()[1]

    def get_attribute(self, attribute):
        if attribute == "MULTIPROCESSOR_COUNT":
            return _tt.get_num_threads()
        return _ATTRIBUTES[attribute]

    def get_attributes(self):
        return {getattr(device_attribute, k): self.get_attribute(k) for k in _ATTRIBUTES}

    def __getattr__(self, name):
        if name.upper() in _ATTRIBUTES:
            return self.get_attribute(name.upper())
        raise AttributeError(name)

    def make_context(self, flags=0):
        return Context(self)

    retain_primary_context = make_context


class Context:
    def __init__(self, device=None):
        self._device = device

    @staticmethod
    def synchronize():
        _tt.synchronize()

    @staticmethod
    def get_device():
        return Device(0)

    @staticmethod
    def get_current():
        return Context(Device(0))

    @staticmethod
    def pop():
        pass

    def push(self):
        pass

    def detach(self):
        pass

    @staticmethod
    def set_cache_config(config):
        pass


# ---- kernels


class Function(_tt.kernel.Function):
    """A kernel that also takes addresses."""

    def launch(self, grid, block, args, shared=0, stream=None):
        args = [
            _memory_at(int(a)) if isinstance(a, (int, np.integer)) and t.endswith("*") else a
            for a, (_, t) in zip(args, self.parameters, strict=False)
        ] + list(args[len(self.parameters) :])
        try:
            with _tt.device("cpu"):
                super().launch(grid, block, args, shared, stream)
        except _tt.CompileError:
            raise
        except builtins.RuntimeError as e:
            raise LaunchError(str(e)) from None

    def set_cache_config(self, config):
        """Nothing to say here."""


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.pycuda does not cover pycuda.driver.{name}")
