"""Devices by name. This build has one: the CPU."""

import os as _os


class Device:
    """A place where arrays live; equal to its name, and a context: arrays made inside live there."""

    __slots__ = ("type", "index")

    def __init__(self, kind, index):
        self.type, self.index = kind, index

    def __str__(self):
        return f"{self.type}:{self.index}"

    def __repr__(self):
        return f"device('{self}')"

    def __eq__(self, other):
        if isinstance(other, Device):
            return self is other
        return isinstance(other, str) and other in (str(self), self.type)

    def __hash__(self):
        return hash(str(self))

    def __reduce__(self):
        return device, (str(self),)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        pass

    id = property(lambda self: self.index, doc="the number among devices of its type")


_CPU = Device("cpu", 0)


def devices():
    """All devices of this process, best first."""
    return (_CPU,)


def device(name=None):
    """The device of that name: "cpu", "cpu:0", "gpu" (the best one); None is the default one."""
    if name is None or name is _CPU or isinstance(name, Device):
        return _CPU
    if not isinstance(name, str):
        raise TypeError(f"a device or its name is expected, not {type(name).__name__!r}")
    if name in ("cpu", "cpu:0"):
        return _CPU
    have = ", ".join(map(str, devices()))
    kind = name.partition(":")[0]
    if kind in ("gpu", "cuda", "opencl"):
        raise RuntimeError(f"device {name!r}: no GPU back end in this build (there is: {have})")
    raise ValueError(f"unknown device {name!r} (there is: {have})")


if _os.environ.get("TUTTI_DEVICE"):
    device(_os.environ["TUTTI_DEVICE"])
