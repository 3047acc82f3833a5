"""Devices by name: what there is, what it is doing, and where new arrays live."""

import os as _os
import sys as _sys
import time as _time
from _thread import _local  # threading.local without the import of threading
from collections import namedtuple as _namedtuple

from . import _core

Memory = _namedtuple("Memory", ["free", "total", "used"])
Memory.__doc__ = "Bytes of a device's memory, of all processes."

_AUTO = -1
_entered = _local()  # what to restore, innermost last


class Device:
    """A place where arrays live; equal to its name, and a context: arrays made inside live there.

    The figures (memory, utilization, temperature ...) are read when asked for; None where nobody tells them.

    Parameters
    ----------
    number : int
        The number.
    name : str
        The name.

    Examples
    --------
    >>> tt.device("cpu").type
    'cpu'
    """

    __slots__ = ("_number", "type", "index", "name")

    def __init__(self, number, name):
        self._number, self.name = number, name
        self.type, _, index = name.partition(":")
        self.index = int(index or 0)

    def __str__(self):
        return self.name

    def __repr__(self):
        return f"device('{self.name}')"

    def __eq__(self, other):
        if isinstance(other, Device):
            return self._number == other._number
        return isinstance(other, str) and (other == self.name or (other == self.type and self.index == 0))

    def __hash__(self):
        return hash(self.name)

    def __reduce__(self):
        return device, (self.name,)

    def __enter__(self):
        stack = _entered.__dict__.setdefault("stack", [])
        stack.append(_core._set_device(self._number))
        return self

    def __exit__(self, *exc):
        _core._set_device(_entered.stack.pop())

    id = property(lambda self: self.index, doc="the number among devices of its type")

    def _read(self):
        return _core._device_read(max(self._number, 0))

    def _gpu(self):
        from . import _monitor

        k = self._read()["gpu"]
        return _monitor.gpu(k) if k >= 0 else None

    def _figure(self, name):
        gpu = self._gpu()
        return getattr(gpu, name) if gpu else None

    @property
    def label(self):
        """What people call it: "NVIDIA H200"."""
        return self._read()["label"]

    @property
    def memory(self):
        """Bytes of its memory, of all processes: free, total, used."""
        figures = self._read()
        free, total = figures["memory_free"], figures["memory_total"]
        return Memory(free, total, total - free)

    @property
    def utilization(self):
        """Percent of the last moment in which it worked. Of the CPU: since it was last asked, mean over the cores."""
        return _cpu_use() if self.type == "cpu" else self._figure("utilization")

    @property
    def temperature(self):
        """Degrees Celsius."""
        return self._figure("temperature")

    @property
    def power(self):
        """Watts."""
        return self._figure("power")

    @property
    def clock(self):
        """MHz."""
        return self._figure("clock")

    @property
    def processes(self):
        """The processes that use it: pid, name, bytes of its memory."""
        return self._figure("processes") or []

    @property
    def compute_capability(self):
        """CUDA's number of its generation, (9, 0); None for other devices."""
        arch = self._read()["arch"]
        return divmod(arch, 10) if arch else None

    @property
    def properties(self):
        """Everything known about it that does not change, by name."""
        return {k: v for k, v in self._read().items() if k not in ("gpu", "id", "memory_free")}

    def synchronize(self):
        """Wait for all work on it. A failure among that work is raised.

        Returns
        -------
        None

        Examples
        --------
        >>> tt.device("cpu").synchronize()
        """
        _core._device_synchronize(max(self._number, 0))


_last_host = None


def _cpu_use():
    global _last_host
    from . import _monitor

    now, before = _monitor.host(), _last_host
    if before is None or now.ticks == before.ticks:
        _time.sleep(0.1)
        before, now = now, _monitor.host()
    _last_host = now
    percent = _monitor.use(before, now)
    return sum(percent) / len(percent)


_known = {_AUTO: Device(_AUTO, "auto")}


def numbered(number):
    """The device of the library's number; one object for each."""
    found = _known.get(number)
    if found is None:
        found = _known.setdefault(number, Device(number, _core._device_name(number) or f"cpu:{number}"))
    return found


def devices():
    """All devices of this process, best first.

    Returns
    -------
    tuple of Device
        The devices.

    Examples
    --------
    >>> len(tt.devices()) >= 1
    True
    """
    return tuple(_known.get(n) or _known.setdefault(n, Device(n, name)) for n, name in _core._devices())


def device(name=None):
    """The device of that name: "cpu", "cuda", "cuda:1", "gpu" (the best one), "auto" (tutti chooses).

    Without a name: where this thread's new arrays live.

    Parameters
    ----------
    name : str, optional
        The name.

    Returns
    -------
    Device
        The device.

    Examples
    --------
    >>> tt.device("cpu").type
    'cpu'
    """
    if isinstance(name, Device):
        return name
    if name is None:
        number = _core._get_device()
        # Where the CPU is all that may be chosen, nothing is left to choose.
        return numbered(0 if number == _AUTO and _core._only_cpu() else number)
    if not isinstance(name, str):
        own = _foreign(name)
        if own is None:
            raise ValueError(f"Device not understood: a device or its name is expected, not {name!r}")
        name = own
    return _known[_AUTO] if name == "auto" else numbered(_core._device_named(name))


def _foreign(o):
    """The name of other libraries' devices: PyTorch's have a type and an index, CuPy's an id."""
    kind, index = getattr(o, "type", None), getattr(o, "index", None)
    if isinstance(kind, str) and (index is None or isinstance(index, int)):
        return kind if index is None else f"{kind}:{index}"
    if type(o).__module__.startswith("cupy") and isinstance(getattr(o, "id", None), int):
        return f"cuda:{o.id}"
    return None


def checked():
    """Are kernels checked, which the CPU does?"""
    return _os.environ.get("TUTTI_CHECK", "0") not in ("", "0")


# Vendors' libraries lie in their wheels, in the folders that Python's packages come from.
_core.library_path(":".join(p for p in _sys.path if p.endswith("-packages")))

if _os.environ.get("TUTTI_DEVICE"):
    device(_os.environ["TUTTI_DEVICE"])  # a wrong name is told now, not at the first array
