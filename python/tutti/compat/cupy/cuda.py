"""cupy.cuda: devices, streams, events, memory pools, as far as they mean something here."""

import sys as _sys
import time as _time
import types as _types

import tutti as _tt
from tutti import _core, _device


class Device:
    def __init__(self, device=0):
        self.id = int(device)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        pass

    def use(self):
        pass

    def synchronize(self):
        _tt.synchronize()

    compute_capability = "70"
    mem_info = property(lambda self: runtime.memGetInfo())

    def __eq__(self, other):
        return isinstance(other, Device) and self.id == other.id

    __hash__ = None


class Stream:
    null = ptds = None

    def __init__(self, null=False, non_blocking=False, ptds=False):
        self.ptr = 0

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        pass

    def use(self):
        return self

    def synchronize(self):
        _tt.synchronize()

    def record(self, event=None):
        return (event or Event()).record(self)

    def wait_event(self, event):
        event.synchronize()

    done = True


Stream.null = Stream(null=True)


class Event:
    def __init__(self, block=False, disable_timing=False, interprocess=False):
        self._time = None

    def record(self, stream=None):
        _tt.synchronize()
        self._time = _time.perf_counter()
        return self

    def synchronize(self):
        _tt.synchronize()

    done = True


def get_elapsed_time(start_event, end_event):
    """Milliseconds."""
    return (end_event._time - start_event._time) * 1e3


def get_current_stream():
    return Stream.null


def _number():
    """Of the device that is chosen; the processor where none is."""
    return max(_core._get_device(), 0)


class MemoryPool:
    """The memory that tutti has of the chosen device: the figures and the limit are the library's own."""

    def _figure(self, name):
        return _core._device_memory(_number())[name]

    def used_bytes(self):
        """Bytes of arrays."""
        return self._figure("allocated")

    def total_bytes(self):
        """Bytes of arrays, and of what is kept for the next ones."""
        return self._figure("reserved")

    def free_bytes(self):
        """Bytes that are kept for the next arrays."""
        return self._figure("kept")

    def n_free_blocks(self):
        """How many pieces are kept for the next arrays."""
        return self._figure("free_blocks")

    def free_all_blocks(self, stream=None):
        """Give what is kept back to the device."""
        _core._device_trim(_number())

    def free_all_free(self):
        """free_all_blocks(), as it was called once."""
        self.free_all_blocks()

    def set_limit(self, size=None, fraction=None):
        """Take no more than `size` bytes of the device, or than this part of its memory; 0: no limit."""
        if size is not None and fraction is not None:
            raise ValueError("size and fraction must not be specified at the same time")
        if size is None and fraction is None:
            raise ValueError("either size or fraction must be given")
        if fraction is not None and not 0 <= fraction <= 1:
            raise ValueError(f"memory limit fraction out of range: {fraction}")
        if size is not None and size < 0:
            raise ValueError(f"memory limit size out of range: {size}")
        if size is None:
            size = _device.numbered(_number()).memory.total * fraction
        _core._device_set_limit(_number(), int(size))

    def get_limit(self):
        """The limit in bytes; 0: none."""
        return self._figure("limit")

    def malloc(self, size):
        raise NotImplementedError("raw device memory is not covered")


class PinnedMemoryPool:
    """Memory of the host that a device copies at full speed."""

    def n_free_blocks(self):
        """How many pieces are kept for the next use."""
        return _core._pinned_memory(_number())["free_blocks"]

    def free_all_blocks(self):
        """Give what is kept back to the system."""
        _core._pinned_trim(_number())

    def free(self, mem, size):
        raise NotImplementedError("raw pinned memory is not covered")

    def malloc(self, size):
        raise NotImplementedError("raw pinned memory is not covered")


def set_allocator(allocator=None):
    """There is one."""


def is_available():
    return True


stream = _types.ModuleType(__name__ + ".stream", "cupy.cuda.stream: streams and events under their first names.")
stream.Stream, stream.Event, stream.get_current_stream = Stream, Event, get_current_stream
stream.get_elapsed_time = get_elapsed_time
_sys.modules[stream.__name__] = stream
compiler = _types.ModuleType(
    __name__ + ".compiler", "cupy.cuda.compiler: what is raised for a program that does not compile."
)
compiler.CompileException = compiler.JitifyException = _tt.exceptions.CompileError
_sys.modules[compiler.__name__] = compiler
__path__ = []  # as programs see it, a package


class driver:  # noqa: N801 (CuPy's name)
    """cupy.cuda.driver: its errors and its version."""

    class CUDADriverError(RuntimeError):
        """What CUDA's driver would refuse."""

    @staticmethod
    def get_build_version():
        return 13000


class nvtx:  # noqa: N801 (CuPy's name)
    """cupy.cuda.nvtx: marks for NVIDIA's profiler, which sees nothing of ours; tutti's own is `tt.profile`."""

    @staticmethod
    def RangePush(message, id_color=-1):  # noqa: N802
        """Nothing marks."""

    RangePushC = MarkC = Mark = RangePush  # noqa: N815

    @staticmethod
    def RangePop():  # noqa: N802
        """Nothing was marked."""


device = _types.ModuleType(__name__ + ".device", "cupy.cuda.device: devices under their first name.")
device.Device = Device
device.get_compute_capability = lambda: Device.compute_capability
device.get_device_id = lambda: 0
_sys.modules[device.__name__] = device


class _Profile:
    """A context that NVIDIA's profiler would look at."""

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        pass


def profile():
    return _Profile()


def set_pinned_memory_allocator(allocator=None):
    """There is one."""


def alloc_pinned_memory(size):
    """Host memory of so many bytes, a buffer."""
    number = _number()
    return _core._pinned(number, int(size)) if number else memoryview(bytearray(int(size)))


def get_nvcc_path():
    """There is none: programs are compiled without it."""


def get_local_runtime_version():
    return 13000


class runtime:  # noqa: N801 (CuPy's name)
    """cupy.cuda.runtime: what programs ask CUDA."""

    CUDARuntimeError = RuntimeError
    is_hip = False
    streamLegacy, streamPerThread = 1, 2  # noqa: N815
    cudaDevAttrMaxThreadsPerBlock, cudaDevAttrWarpSize, cudaDevAttrMultiProcessorCount = 1, 10, 16  # noqa: N815
    cudaDevAttrMaxSharedMemoryPerBlock, cudaDevAttrCooperativeLaunch = 8, 95  # noqa: N815
    cudaDevAttrComputeCapabilityMajor, cudaDevAttrComputeCapabilityMinor = 75, 76  # noqa: N815
    _ATTRIBUTES = {
        1: "maxThreadsPerBlock", 8: "sharedMemPerBlock", 10: "warpSize", 16: "multiProcessorCount", 75: "major",
        76: "minor",
    }  # fmt: skip

    @staticmethod
    def deviceGetAttribute(attribute, device):  # noqa: N802
        """One of CUDA's numbers about a device."""
        if attribute == runtime.cudaDevAttrCooperativeLaunch:
            return 1
        if attribute not in runtime._ATTRIBUTES:
            raise RuntimeError(f"deviceGetAttribute: the attribute {attribute} is not known here")
        return runtime.getDeviceProperties(device)[runtime._ATTRIBUTES[attribute]]

    @staticmethod
    def deviceCanAccessPeer(device, peer):  # noqa: N802
        """Copies between devices need nothing to be enabled."""
        return 1

    @staticmethod
    def setDevice(device):  # noqa: N802
        """Work goes where arrays are."""

    @staticmethod
    def getDeviceCount():  # noqa: N802
        return 1

    @staticmethod
    def getDevice():  # noqa: N802
        return 0

    @staticmethod
    def getDeviceProperties(device):  # noqa: N802
        """What CUDA tells of a device, by its names."""
        p = _tt.device("cuda" if _tt.cuda.is_available() else "cpu")
        arch = p.compute_capability or (7, 0)
        return {
            "name": p.label.encode(), "totalGlobalMem": p.memory.total, "major": arch[0], "minor": arch[1],
            "multiProcessorCount": _tt.get_num_threads() if p.type == "cpu" else p._read()["units"], "warpSize": 32,
            "maxThreadsPerBlock": 1024, "sharedMemPerBlock": 49152, "maxThreadsDim": (1024, 1024, 64),
            "maxGridSize": (2147483647, 65535, 65535),
        }  # fmt: skip

    @staticmethod
    def memGetInfo():  # noqa: N802
        """(free, total): bytes of the device's memory."""
        return tuple(_tt.device("cuda" if _tt.cuda.is_available() else "cpu").memory[:2])

    @staticmethod
    def runtimeGetVersion():  # noqa: N802
        return 13000

    driverGetVersion = _getLocalRuntimeVersion = runtimeGetVersion  # noqa: N815

    @staticmethod
    def deviceSynchronize():  # noqa: N802
        _tt.synchronize()


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.cupy does not cover cupy.cuda.{name}")
