"""pycuda.driver: memory, copies, streams, events, devices.

Device memory is a GPU's where the thread works on one (or where there is one and nothing else was chosen), else the
processor's. Addresses are numbers that programs calculate with.
"""

import builtins
import ctypes
import os
import time as _time
from _thread import _local

import numpy as np

import tutti as _tt
from tutti import _core
from tutti._device import numbered as _numbered

from . import _place


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


def _do(function, *args):
    """A call of the library; its errors become PyCUDA's."""
    try:
        return function(*args)
    except (ValueError, builtins.OverflowError) as e:
        raise LogicError(str(e)) from None
    except builtins.MemoryError as e:
        raise MemoryError(f"out of memory ({e})") from None
    except builtins.RuntimeError as e:
        raise LaunchError(str(e)) from None


# ---- memory


class DeviceAllocation:
    """Memory that kernels see. `int(a)` is its address, and addresses within it stand for it."""

    _address = None

    def __init__(self, size):
        if size <= 0:
            raise LogicError("cuMemAlloc failed: invalid argument")
        try:
            self._address = _core.raw_new(_place.here(), size)
        except (OverflowError, builtins.MemoryError) as e:
            raise MemoryError(f"cuMemAlloc failed: out of memory ({e})") from None
        self.size = size

    def free(self):
        """Give the memory back, after all that its device was asked for."""
        address = int(self)
        self._address = None
        _do(_core.raw_free, address)

    def __del__(self):
        if self._address is not None and _core is not None:
            _core.raw_free(self._address)

    def __int__(self):
        if self._address is None:
            raise LogicError("this memory was freed already")
        return self._address

    __index__ = __int__

    def __add__(self, offset):
        return int(self) + int(offset)

    __radd__ = __add__

    def as_buffer(self, size, offset=0):
        """The memory as a buffer, where it is the processor's."""
        if _core.raw_find(int(self))[0]:
            raise LogicError("memory of a GPU is no buffer that the processor reads: copy it by memcpy_dtoh")
        memory = (ctypes.c_char * self.size).from_address(self._address)
        memory._owner = self
        return memoryview(memory).cast("B")[offset : offset + size]

    def _around_launch(self, before, after):
        return int(self)


PooledDeviceAllocation = DeviceAllocation


class PointerHolderBase:
    """An object that stands for an address in arguments of kernels: what `get_pointer` gives."""

    def get_pointer(self):
        """The address; yours to write."""
        raise NotImplementedError("a PointerHolderBase needs get_pointer()")

    def __int__(self):
        return int(self.get_pointer())

    __index__ = __int__

    def _around_launch(self, before, after):
        return int(self)


def _address(x):
    at = getattr(x, "ptr", None)  # arrays
    return int(x) if at is None else at


def _host(x):
    """Host memory as bytes, in the order in which they lie."""
    a = np.asarray(x)
    if not (a.flags.c_contiguous or a.flags.f_contiguous):
        raise ValueError("ndarray is not contiguous")
    return a.reshape(-1, order="A").view(np.uint8)


def mem_alloc(size):
    """Device memory of so many bytes."""
    return DeviceAllocation(int(size))


def mem_alloc_like(ary):
    """Device memory of an array's size."""
    return mem_alloc(ary.nbytes)


def mem_alloc_pitch(width, height, access_size):
    """Device memory of rows that begin at multiples of 256 bytes, and the bytes from one to the next."""
    pitch = (int(width) + 255) // 256 * 256
    return DeviceAllocation(pitch * int(height)), pitch


def to_device(bf_obj):
    """New device memory with the elements of an array."""
    a = np.ascontiguousarray(bf_obj)
    d = mem_alloc(a.nbytes)
    memcpy_htod(d, a)
    return d


def from_device(devptr, shape, dtype, order="C"):
    """A new array with what lies in device memory."""
    out = np.empty(shape, dtype, order)
    memcpy_dtoh(out, devptr)
    return out


def from_device_like(devptr, other):
    """The same, for an array like another one."""
    out = np.empty_like(other)
    memcpy_dtoh(out, devptr)
    return out


def mem_get_info():
    """(free, total): bytes of the device's memory."""
    place = _place.here()
    if place:
        return tuple(_numbered(place).memory[:2])
    pages = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_AVPHYS_PAGES")
    size = os.sysconf("SC_PAGE_SIZE")
    return pages[1] * size, pages[0] * size


# ---- copies: those without a stream are done when they return


def memcpy_htod(dest, src):
    _do(_core.raw_in, _address(dest), _host(src), _place.ordered(None), True)


def memcpy_dtoh(dest, src):
    _do(_core.raw_out, _host(dest), _address(src), _place.ordered(None), True)


def memcpy_dtod(dest, src, size):
    _do(_core.raw_within, _address(dest), _address(src), int(size), _place.ordered(None), False)


memcpy_peer = memcpy_dtod


def memcpy_htod_async(dest, src, stream=None):
    """Goes on after the call where the host's memory is page-locked, which must stay then."""
    _do(_core.raw_in, _address(dest), _host(src), _place.ordered(stream), False)


def memcpy_dtoh_async(dest, src, stream=None):
    """Goes on after the call where the host's memory is page-locked, which must stay then."""
    _do(_core.raw_out, _host(dest), _address(src), _place.ordered(stream), False)


def memcpy_dtod_async(dest, src, size, stream=None):
    _do(_core.raw_within, _address(dest), _address(src), int(size), _place.ordered(stream), False)


def _memset(kind):
    def memset(dest, data, count, stream=None):
        _do(_core.raw_fill, _address(dest), kind(data).tobytes(), int(count), _place.ordered(stream))

    return memset


memset_d8 = memset_d8_async = _memset(np.uint8)
memset_d16 = memset_d16_async = _memset(np.uint16)
memset_d32 = memset_d32_async = _memset(np.uint32)


def pagelocked_empty(shape, dtype, order="C", mem_flags=0):
    """An array in host memory that a GPU reads and writes at full speed."""
    place, kind = _place.here(), np.dtype(dtype)
    if not place:
        return np.empty(shape, kind, order)
    shape = (shape,) if isinstance(shape, (int, np.integer)) else tuple(shape)
    memory = _core._pinned(place, int(np.prod(shape, dtype=np.int64)) * kind.itemsize)
    return np.ndarray(shape, kind, memory, order=order)


def pagelocked_zeros(shape, dtype, order="C", mem_flags=0):
    made = pagelocked_empty(shape, dtype, order)
    made[...] = np.zeros((), made.dtype)
    return made


def pagelocked_empty_like(array, mem_flags=0):
    return pagelocked_empty(array.shape, array.dtype, "F" if np.isfortran(array) else "C")


def pagelocked_zeros_like(array, mem_flags=0):
    return pagelocked_zeros(array.shape, array.dtype, "F" if np.isfortran(array) else "C")


def aligned_empty(shape, dtype, order="C", alignment=4096):
    return np.empty(shape, dtype, order)


def aligned_zeros(shape, dtype, order="C", alignment=4096):
    return np.zeros(shape, dtype, order)


def register_host_memory(ary, flags=0):
    """The array as it is: copies of memory that is not page-locked go through such memory by themselves."""
    return ary


ManagedAllocation = ManagedAllocationOrStub = _core.Managed


def managed_empty(shape, dtype, order="C", mem_flags=1):
    """An array at one address for the host and a GPU, which kernels take as it is.

    Its `base` is a ManagedAllocation: `get_device_pointer()`, and `attach(mem_flags, stream)`, which says who may
    touch it. What a kernel wrote is there after a synchronisation. On the processor it is plain memory.
    """
    kind = np.dtype(dtype)
    shape = (shape,) if isinstance(shape, (int, np.integer)) else tuple(shape)
    size = int(np.prod(shape, dtype=np.int64)) * kind.itemsize
    memory = _do(_core._managed, _place.here(), size, int(mem_flags) or mem_attach_flags.GLOBAL)
    return np.ndarray(shape, kind, memory, order=order)


def managed_zeros(shape, dtype, order="C", mem_flags=1):
    """The same, filled with zeros."""
    made = managed_empty(shape, dtype, order, mem_flags)
    made[...] = np.zeros((), made.dtype)
    return made


def managed_empty_like(array, mem_flags=1):
    return managed_empty(array.shape, array.dtype, "F" if np.isfortran(array) else "C", mem_flags)


def managed_zeros_like(array, mem_flags=1):
    return managed_zeros(array.shape, array.dtype, "F" if np.isfortran(array) else "C", mem_flags)


from ._copies import Memcpy2D, Memcpy3D, Memcpy3DPeer  # noqa: E402, F401 (copies of rows)

# ---- arguments that say what to copy


def _put(array, place, filled):
    """Device memory like an array's, in the order in which that lies: an array of ours where we know its type."""
    flat = _host(array).view(array.dtype)
    try:
        kind = _tt.dtype(array.dtype.name)
    except TypeError:
        return to_device(flat) if filled else mem_alloc(flat.nbytes)
    at = _numbered(place)
    return _tt.array(flat, device=at) if filled else _tt.empty(flat.shape, dtype=kind, device=at)


def _fetch(made, array):
    if isinstance(made, DeviceAllocation):
        memcpy_dtoh(array, made)
    elif array.size:
        _do(_core._read, made, _host(array))


class ArgumentHandler:
    """An array of the host among the arguments of a kernel."""

    _filled = True  # the kernel sees its elements
    _fetched = True  # it gets what the kernel wrote

    def __init__(self, array):
        self.array = array

    def _around_launch(self, before, after):
        array, place = np.asarray(self.array), _place.here()
        if not place:
            return array if self._fetched else _host(array).view(array.dtype).copy()
        made = _put(array, place, self._filled)
        if self._fetched:
            after.append(lambda: _fetch(made, array))
        return int(made) if isinstance(made, DeviceAllocation) else made


class In(ArgumentHandler):
    """The kernel sees the array's elements; what it writes is lost."""

    _fetched = False


class Out(ArgumentHandler):
    """The array gets what the kernel wrote; on a GPU, what it did not write is not defined."""

    _filled = False


class InOut(ArgumentHandler):
    """Both."""


# ---- streams and events; on the CPU everything is done when it is asked for


class Stream:
    """An order of work. As CUDA's, it waits for the default stream and that for it."""

    def __init__(self, flags=0):
        place = _place.here()
        self._stream = _tt.cuda.Stream(_numbered(place)) if place else None

    handle = property(lambda self: self._stream.ptr if self._stream else 0, doc="CUDA's own, as a number")

    def synchronize(self):
        """Wait until all that was asked of it is done."""
        _do(self._stream.synchronize if self._stream else _tt.synchronize)

    def is_done(self):
        """Is all done that was asked of it?"""
        return self._stream.query() if self._stream else True

    def wait_for_event(self, event):
        """What is asked of it from now on begins after the event."""
        if self._stream and event._event:
            self._stream.wait_event(event._event)
        else:
            event.synchronize()


class Event:
    """A point in a stream."""

    def __init__(self, flags=0):
        place = _place.here()
        self._time, self._event = None, None
        if place:
            self._event = _tt.cuda.Event(not flags & event_flags.DISABLE_TIMING, device=_numbered(place))

    def record(self, stream=None):
        """Mark the end of what was asked of the stream until now."""
        if self._event:
            _do(self._event.record, _place.ordered(stream) or _tt.cuda.default_stream(self._event.device))
        else:
            _do(_tt.synchronize)
        self._time = _time.perf_counter()
        return self

    def synchronize(self):
        """Wait for what came before it."""
        if self._event:
            _do(self._event.synchronize)
        return self

    def query(self):
        """Is everything before it done?"""
        return self._event.query() if self._event else True

    def time_since(self, event):
        """Milliseconds since another event."""
        if self._time is None or event._time is None:
            raise LogicError("an event was never recorded")
        if self._event:
            return _do(event._event.elapsed_time, self._event)
        return (self._time - event._time) * 1e3

    def time_till(self, event):
        """Milliseconds until another event."""
        return event.time_since(self)


class _Flags(dict):
    __getattr__ = dict.get


event_flags = _Flags(DEFAULT=0, BLOCKING_SYNC=1, DISABLE_TIMING=2)
ctx_flags = _Flags(SCHED_AUTO=0, MAP_HOST=8, SCHED_YIELD=2, SCHED_SPIN=1)
host_alloc_flags = _Flags(PORTABLE=1, DEVICEMAP=2, WRITECOMBINED=4)
func_cache = _Flags(PREFER_NONE=0, PREFER_SHARED=1, PREFER_L1=2, PREFER_EQUAL=3)
mem_attach_flags = _Flags(GLOBAL=1, HOST=2, SINGLE=4)


limit = _Flags(STACK_SIZE=0, PRINTF_FIFO_SIZE=1, MALLOC_HEAP_SIZE=2)
_LIMITS = {limit.STACK_SIZE: 1 << 20, limit.PRINTF_FIFO_SIZE: 1 << 20, limit.MALLOC_HEAP_SIZE: 8 << 20}
compute_mode = _Flags(DEFAULT=0, EXCLUSIVE=1, PROHIBITED=2, EXCLUSIVE_PROCESS=3)
jit_target, jit_input_type = _Flags(), _Flags(CUBIN=0, PTX=1, FATBINARY=2, OBJECT=3, LIBRARY=4)


# ---- devices

_ATTRIBUTES = {
    "MAX_THREADS_PER_BLOCK": 1024, "MAX_BLOCK_DIM_X": 1024, "MAX_BLOCK_DIM_Y": 1024, "MAX_BLOCK_DIM_Z": 64,
    "MAX_GRID_DIM_X": 2**31 - 1, "MAX_GRID_DIM_Y": 65535, "MAX_GRID_DIM_Z": 65535, "MAX_SHARED_MEMORY_PER_BLOCK": 49152,
    "WARP_SIZE": 32, "MAX_THREADS_PER_MULTIPROCESSOR": 1024, "COMPUTE_CAPABILITY_MAJOR": 7,
    "COMPUTE_CAPABILITY_MINOR": 0, "UNIFIED_ADDRESSING": 1, "CAN_MAP_HOST_MEMORY": 1, "INTEGRATED": 1,
    "TOTAL_CONSTANT_MEMORY": 65536, "CLOCK_RATE": 0, "MULTIPROCESSOR_COUNT": 0, "CONCURRENT_KERNELS": 1,
    "ASYNC_ENGINE_COUNT": 1, "MAX_REGISTERS_PER_BLOCK": 65536, "ECC_ENABLED": 0, "TCC_DRIVER": 0, "PCI_DOMAIN_ID": 0,
    "KERNEL_EXEC_TIMEOUT": 0, "COMPUTE_MODE": 0, "GPU_OVERLAP": 1, "MAX_PITCH": 2**31 - 1, "TEXTURE_ALIGNMENT": 512,
}  # fmt: skip
# What a GPU tells of itself: by the names that the library has for it.
_TOLD = {
    "MAX_THREADS_PER_BLOCK": "block_threads",
    "WARP_SIZE": "warp",
    "MAX_THREADS_PER_MULTIPROCESSOR": "unit_threads",
    "MULTIPROCESSOR_COUNT": "units",
}


class _Attribute(str):
    __slots__ = ()


class device_attribute:  # noqa: N801 (PyCUDA's name)
    pass


for _name in _ATTRIBUTES:
    setattr(device_attribute, _name, _Attribute(_name))


class Device:
    """A GPU, or the processor, which PyCUDA's programs ask what a GPU can."""

    def __init__(self, number=0):
        there = _place.numbers()
        if not 0 <= number < len(there):
            raise LogicError(f"cuDeviceGet failed: invalid device ordinal {number}")
        self._number = there[number]

    @staticmethod
    def count():
        return len(_place.numbers())

    def name(self):
        return _numbered(self._number).label if self._number else str(_numbered(0))

    def pci_bus_id(self):
        return (_numbered(self._number)._read()["bus"] if self._number else "") or "0000:00:00.0"

    def compute_capability(self):
        return (self._number and _numbered(self._number).compute_capability) or (7, 0)

    def total_memory(self):
        return _numbered(self._number).memory.total if self._number else mem_get_info()[1]

    def get_attribute(self, attribute):
        if attribute.startswith("COMPUTE_CAPABILITY_"):
            return self.compute_capability()[attribute.endswith("MINOR")]
        if attribute == "MULTIPROCESSOR_COUNT" and not self._number:
            return _tt.get_num_threads()
        if self._number and attribute == "CLOCK_RATE":
            return int((_numbered(self._number).clock or 0) * 1000)
        if self._number and attribute == "INTEGRATED":
            return 0
        if self._number and attribute in _TOLD:
            return _numbered(self._number)._read()[_TOLD[attribute]]
        return _ATTRIBUTES[attribute]

    def get_attributes(self):
        return {getattr(device_attribute, k): self.get_attribute(k) for k in _ATTRIBUTES}

    def __getattr__(self, name):
        if name.upper() in _ATTRIBUTES:
            return self.get_attribute(name.upper())
        raise AttributeError(f"tutti.compat.pycuda does not cover pycuda.driver.Device.{name}")

    def make_context(self, flags=0):
        """This thread's work goes to the device from here on, until the context is popped."""
        context = Context(self)
        context.push()
        return context

    def retain_primary_context(self):
        return Context(self)

    def __eq__(self, other):
        return isinstance(other, Device) and other._number == self._number

    def __hash__(self):
        return hash(self._number)


class Context:
    """Which device this thread works on."""

    _pushed = _local()  # what was chosen before each push

    def __init__(self, device=None):
        self._device = device or Device(0)

    @staticmethod
    def synchronize():
        _do(_tt.synchronize)

    @staticmethod
    def get_device():
        here = _place.here()
        return next(d for d in map(Device, range(Device.count())) if d._number == here)

    @staticmethod
    def get_current():
        return Context(Context.get_device())

    @staticmethod
    def pop():
        before = Context._pushed.__dict__.get("before")
        if before:
            _core._set_device(before.pop())

    def push(self):
        Context._pushed.__dict__.setdefault("before", []).append(_core._get_device())
        if self._device._number != _place.here():
            _core._set_device(self._device._number)

    def detach(self):
        self.pop()

    @staticmethod
    def set_cache_config(config):
        pass

    @staticmethod
    def get_cache_config():
        return func_cache.PREFER_NONE

    @staticmethod
    def attach(flags=0):
        return Context.get_current()

    @staticmethod
    def get_limit(which):
        """What a device's kernels may use, of limits that nothing here sets."""
        return _LIMITS[which]

    @staticmethod
    def set_limit(which, value):
        """Limits need not be raised here: stacks, buffers and heaps grow."""
        _LIMITS[which]

    @staticmethod
    def get_api_version():
        return 12000

    @staticmethod
    def enable_peer_access(peer, flags=0):
        """Copies between devices need nothing to be enabled."""

    disable_peer_access = enable_peer_access

    def __eq__(self, other):
        return isinstance(other, Context) and other._device == self._device

    def __hash__(self):
        return hash(self._device)


# ---- kernels


_SIMPLE = {int, float, _core.ndarray, np.ndarray, np.int32, np.int64, np.uint32, np.float32, np.float64}


def _argument(a):
    """Structures as bytes, objects that show memory of a device as its address."""
    if isinstance(a, np.void):
        return a.tobytes()
    if isinstance(a, (np.generic, np.ndarray, _core.ndarray, bytes, bool)):
        return a
    shown = getattr(a, "__cuda_array_interface__", None)
    if shown is not None:
        return int(shown["data"][0])
    return int(a.gpudata) if hasattr(a, "gpudata") else a


class Function(_tt.kernel.Function):
    """A kernel that also takes addresses."""

    def launch(self, grid, block, args, shared=0, stream=None):
        """Run over a grid of blocks."""
        self.launches += 1
        given = tuple(a if type(a) in _SIMPLE else _argument(a) for a in args)
        stream = _tt.kernel._stream(_place.ordered(stream))
        try:
            _core.routine_launch(self._routine, grid, block, given, shared, self.shared_limit, stream, True)
        except _tt.CompileError:
            raise
        except ValueError as e:
            raise LogicError(f"cuLaunchKernel failed: {e}") from None
        except builtins.RuntimeError as e:
            raise LaunchError(str(e)) from None

    def set_cache_config(self, config):
        """Nothing to say here."""


# ---- modules


def module_from_file(filename):
    """The kernels of a file of CUDA C."""
    with open(filename, "rb") as file:
        return module_from_buffer(file.read(), [])


def module_from_buffer(buffer, options=(), message_handler=None):
    """The kernels of a text of CUDA C; machine code and PTX are refused."""
    from .compiler import SourceModule

    text = bytes(buffer, "utf-8") if isinstance(buffer, str) else bytes(buffer)
    for mark, what in ((b"\x7fELF", "cubin"), (b"P\xedU\xba", "fatbin")):
        if text.startswith(mark):
            raise RuntimeError(f"module_from_buffer: a {what} is machine code of one kind of GPU: give the source")
    if b".visible .entry" in text or b".address_size" in text:
        raise RuntimeError("module_from_buffer: PTX is not covered: give the CUDA C that it was made of")
    return SourceModule(text.decode(), no_extern_c=True)


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.pycuda does not cover pycuda.driver.{name}")
