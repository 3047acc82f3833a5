"""cupy.cuda: devices, streams, events, memory pools, as far as they mean something here."""

import time as _time

import tutti as _tt


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


class MemoryPool:
    """The library's own; nothing is to be managed."""

    def free_all_blocks(self, stream=None):
        _tt.memory_trim()

    def used_bytes(self):
        return _tt.memory()["allocated"]

    def total_bytes(self):
        return _tt.memory()["reserved"]

    def malloc(self, size):
        raise NotImplementedError("raw device memory is not covered")


def set_allocator(allocator=None):
    """There is one."""


def is_available():
    return True


class runtime:  # noqa: N801 (CuPy's name)
    @staticmethod
    def getDeviceCount():  # noqa: N802
        return 1

    @staticmethod
    def deviceSynchronize():  # noqa: N802
        _tt.synchronize()


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.cupy does not cover cupy.cuda.{name}")
