"""Where PyCUDA's programs run, and in which order: a GPU where there is one, else the processor."""

from tutti import _core
from tutti._device import checked, numbered
from tutti._jit.cuda_place import gpus

_KINDS = "cuda", "null"  # the null device runs what it is told on the processor, later


def here():
    """The number of the device of new device memory: the one that the thread works on, or the first; 0: the CPU."""
    chosen = _core._get_device()
    if chosen < 0:
        there = gpus()
        return there[0] if there else 0
    return 0 if checked() or numbered(chosen).type not in _KINDS else chosen


def numbers():
    """The devices that PyCUDA's programs see."""
    return [n for n, _ in _core._devices(numbered(here()).type)]


# ---- CUDA's default stream waits for the others, and they wait for it

_MANY = 64
_asked = set()  # driver.Stream: of which something was asked that the default stream has not waited for


def _join():
    from tutti import cuda

    while _asked:
        try:
            own = _asked.pop()._stream
        except KeyError:  # another thread was sooner
            return
        cuda.default_stream(own.device).wait_stream(own)


def ordered(stream):
    """The stream that something is asked of, after what must come before it; None: the default one."""
    own = getattr(stream, "_stream", stream)
    if own is None or isinstance(own, int):
        if _asked:
            _join()
        return None
    if own is not stream:
        from tutti import cuda

        own.wait_stream(cuda.default_stream(own.device))
        if len(_asked) >= _MANY:
            _join()
        _asked.add(stream)
    return own
