"""Streams, events and devices under Numba's names.

Without a GPU the device is the CPU: what it is told is done when the call returns.
"""

import functools
import time

from .. import _core
from .._device import checked
from . import cuda_place
from .cuda_memory import Held

__all__ = [
    "CudaSupportError", "close", "cuda_error", "current_context", "defer_cleanup", "detect", "event",
    "event_elapsed_time", "external_stream", "get_current_device", "gpus", "list_devices", "profile_start",
    "profile_stop", "profiling", "select_device", "stream",
]  # fmt: skip

CudaSupportError = RuntimeError


# ---- streams and events


class _Stream:
    """An order of work; on the CPU there is one."""

    ptr = 0

    def synchronize(self):
        _core.synchronize()

    def auto_synchronize(self):
        """A context at whose end everything that was asked of the stream is done."""
        return _AutoSynchronize(self)

    def add_callback(self, callback, arg=None):
        """Call callback(stream, 0, arg) after what was asked of the stream."""
        _core.synchronize()
        callback(self, 0, arg)

    def __bool__(self):
        return True


class _AutoSynchronize:
    def __init__(self, stream):
        self.stream = stream

    def __enter__(self):
        return self.stream

    def __exit__(self, *error):
        self.stream.synchronize()


@functools.cache
def _on_gpu(base):
    """A kind of tutti.cuda's streams that also has Numba's methods."""

    class NumbaStream(base):
        def auto_synchronize(self):
            """A context at whose end everything that was asked of the stream is done."""
            return _AutoSynchronize(self)

        def add_callback(self, callback, arg=None):
            """Wait for what was asked of the stream, then call callback(stream, 0, arg)."""
            self.synchronize()
            callback(self, 0, arg)

    return NumbaStream


def stream():
    """A new stream.

    Returns
    -------
    Stream
        The stream.

    Examples
    --------
    >>> s = tt.cuda.stream()
    """
    if cuda_place.gpu():
        from .. import cuda

        return _on_gpu(cuda.Stream)()
    return _Stream()


def external_stream(ptr):
    """A stream of another library, by CUDA's handle of it; 0: the default stream.

    Parameters
    ----------
    ptr : int
        The handle.

    Returns
    -------
    Stream
        The stream.

    Examples
    --------
    >>> s = tt.cuda.external_stream(0)
    """
    if cuda_place.gpu():
        from .. import cuda

        if not ptr:
            return cuda.default_stream()
        return _on_gpu(cuda.ExternalStream)(ptr)
    return _Stream()


class _Event:
    """A point in time."""

    def __init__(self):
        self.at = None

    def record(self, stream=0):
        _core.synchronize()
        self.at = time.perf_counter()

    def query(self):
        return True

    def synchronize(self):
        pass

    def wait(self, stream=0):
        pass

    def elapsed_time(self, end):
        return event_elapsed_time(self, end)


def event(timing=True):
    """A new event.

    Parameters
    ----------
    timing : bool, optional
        Times can be measured.

    Returns
    -------
    Event
        The event.

    Examples
    --------
    >>> e = tt.cuda.event()
    """
    if cuda_place.gpu():
        from .. import cuda

        return cuda.Event(enable_timing=timing)
    return _Event()


def event_elapsed_time(start, end):
    """Milliseconds between two recorded events.

    Parameters
    ----------
    start : Event
        The earlier one.
    end : Event
        The later one.

    Returns
    -------
    float
        Milliseconds.

    Examples
    --------
    >>> a, b = tt.cuda.event(), tt.cuda.event()
    >>> a.record(); b.record()
    >>> tt.cuda.event_elapsed_time(a, b) >= 0
    True
    """
    if not isinstance(start, _Event):
        return start.elapsed_time(end)
    if start.at is None or end.at is None:
        raise ValueError("an event was not recorded")
    return (end.at - start.at) * 1e3


# ---- devices


class _Context:
    """What belongs to a device that runs kernels."""

    def __init__(self, device):
        self.device = device

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False

    def synchronize(self):
        """Wait for every kernel."""
        from .. import cuda

        cuda.synchronize()

    def get_memory_info(self):
        """(free, total): bytes of the device's memory."""
        import collections

        return collections.namedtuple("MemoryInfo", "free total")(*self.device._place().memory[:2])

    def defer_cleanup(self):
        return Held(self)

    def reset(self):
        """Nothing to do: memory is given back when its arrays are."""


class _Device:
    """A device that runs kernels. Attributes have CUDA's names: MULTIPROCESSOR_COUNT, WARP_SIZE ..."""

    def __init__(self, number, index):
        self._number, self.id = number, index

    def _place(self):
        from .._device import numbered

        return numbered(self._number)

    @property
    def name(self):
        return self._place().label.encode() if self._number else b"CPU"

    @property
    def compute_capability(self):
        """CUDA's number of the generation; what the CPU has of CUDA's words is that of (9, 0)."""
        return tuple(self._place().compute_capability) if self._number else (9, 0)

    @property
    def attributes(self):
        """What does not change about the device, by CUDA's names."""
        p = self._place()._read() if self._number else {}
        major, minor = self.compute_capability
        return {
            "COMPUTE_CAPABILITY_MAJOR": major,
            "COMPUTE_CAPABILITY_MINOR": minor,
            "MAX_BLOCK_DIM_X": 1024,
            "MAX_BLOCK_DIM_Y": 1024,
            "MAX_BLOCK_DIM_Z": 64,
            "MAX_GRID_DIM_X": 2147483647,
            "MAX_GRID_DIM_Y": 65535,
            "MAX_GRID_DIM_Z": 65535,
            "MAX_SHARED_MEMORY_PER_BLOCK": p.get("shared_block", 49152),
            "MAX_THREADS_PER_BLOCK": p.get("block_threads", 1024),
            "MAX_THREADS_PER_MULTI_PROCESSOR": p.get("unit_threads", 1024),
            "MULTIPROCESSOR_COUNT": p.get("units", _core.get_num_threads()),
            "WARP_SIZE": p.get("warp", 32),
        }

    def __getattr__(self, name):
        if name.isupper() and name in self.attributes:
            return self.attributes[name]
        raise AttributeError(
            f"a device has no '{name}'; it has {', '.join(self.attributes)}" if name.isupper() else name
        )

    def get_primary_context(self):
        return _Context(self)

    def reset(self):
        """Nothing to do: memory is given back when its arrays are."""

    def __enter__(self):
        self._before = _core._set_device(self._number)
        return self

    def __exit__(self, *error):
        _core._set_device(self._before)

    def __eq__(self, other):
        return isinstance(other, _Device) and other._number == self._number

    def __hash__(self):
        return hash(self._number)

    def __repr__(self):
        return f"<device {self.id} of kernels, {self.name.decode()}>"


class _Devices:
    """The devices that kernels run on: the GPUs, or the CPU where there is none."""

    @property
    def lst(self):
        return [_Device(number, k) for k, number in enumerate(cuda_place.gpus() or [0])]

    @property
    def current(self):
        return next((d for d in self.lst if d._number == cuda_place.gpu()), _Device(0, 0))

    def __len__(self):
        return len(self.lst)

    def __iter__(self):
        return iter(self.lst)

    def __getitem__(self, k):
        there = self.lst
        if not -len(there) <= k < len(there):
            names = ", ".join(d.name.decode() for d in there)
            raise IndexError(f"there is no device {k}: there is {len(there)}, {names}")
        return there[k]

    def __repr__(self):
        return f"<devices of kernels: {', '.join(map(repr, self.lst))}>"


gpus = _Devices()


def list_devices():
    """The devices that kernels run on.

    Returns
    -------
    list
        The devices.

    Examples
    --------
    >>> len(tt.cuda.list_devices()) > 0
    True
    """
    return gpus


def get_current_device():
    """The device that this thread's kernels run on.

    Returns
    -------
    object
        The device.

    Examples
    --------
    >>> d = tt.cuda.get_current_device()
    """
    return gpus.current


def current_context(devnum=None):
    """What belongs to a device: the one that kernels run on, or another by its number.

    Parameters
    ----------
    devnum : int, optional
        The number of the device.

    Returns
    -------
    object
        The context.

    Examples
    --------
    >>> context = tt.cuda.current_context()
    """
    return _Context(gpus.current if devnum is None else gpus[devnum])


def select_device(device_id):
    """Let this thread's kernels run on that device from here on.

    Parameters
    ----------
    device_id : int
        The number of the device.

    Returns
    -------
    object
        The device.

    Examples
    --------
    >>> d = tt.cuda.select_device(0)
    """
    chosen = gpus[device_id]
    if chosen._number:
        _core._set_device(chosen._number)
    return chosen


def detect():
    """Print the devices that kernels run on.

    Returns
    -------
    bool
        Whether there is one.

    Examples
    --------
    >>> detect = tt.cuda.detect
    """
    print(f"Found {len(gpus)} device{'s' * (len(gpus) > 1)} for kernels")
    for d in gpus:
        major, minor = d.compute_capability
        print(f"id {d.id}    {d.name.decode():<40} [SUPPORTED]    as compute capability {major}.{minor}")
    if not cuda_place.gpus():
        print("kernels are checked" if checked() else f"no GPU: {_core._device_missing('cuda')}")
    return True


def close():
    """Nothing to do: memory is given back when its arrays are.

    Returns
    -------
    None

    Examples
    --------
    >>> tt.cuda.close()
    """


def cuda_error():
    """What keeps kernels from running: None, they run on the CPU where there is no GPU.

    Returns
    -------
    None or Exception
        What it is.

    Examples
    --------
    >>> tt.cuda.cuda_error() is None or True
    True
    """
    return None


def defer_cleanup():
    """A context in which no memory is given back at a bad moment: it never is.

    Returns
    -------
    context manager

    Examples
    --------
    >>> with tt.cuda.defer_cleanup():
    ...     x = tt.zeros(3)
    """
    return Held(None)


def profiling():
    """Numba's name for a context that a profiler sees; tt.profile() is ours.

    Returns
    -------
    context manager

    Examples
    --------
    >>> with tt.cuda.profiling():
    ...     x = tt.zeros(3)
    """
    return Held(None)


def profile_start():
    """Numba's name; tt.profile() is ours.

    Returns
    -------
    None

    Examples
    --------
    >>> tt.cuda.profile_start()
    """


def profile_stop():
    """Numba's name; tt.profile() is ours.

    Returns
    -------
    None

    Examples
    --------
    >>> tt.cuda.profile_stop()
    """
