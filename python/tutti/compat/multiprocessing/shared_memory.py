"""`SharedMemory`: bytes that processes share by a name. No file has that name: it says whose descriptor they are."""

from ._memory import Segment, _found


class SharedMemory:
    """Shared memory by name.

    Parameters
    ----------
    name : str, optional
        Of memory that another process has made; it is there while that process is, or has not unlinked it.
    create : bool
        Make new memory; names cannot be chosen.
    size : int
        Bytes.
    """

    def __init__(self, name=None, create=False, size=0, *, track=True):
        if size < 0:
            raise ValueError("'size' must be a positive integer")
        if create:
            if name is not None:
                raise ValueError(f"names of shared memory are given by tutti, so it cannot be called {name!r}")
            if size == 0:
                raise ValueError("'size' must be a positive number different from zero")
            self._segment = Segment(size)
        else:
            try:
                of, *where = name.split("-")
                size, *where = map(int, where)
            except (AttributeError, ValueError):
                of = None
            if of != "tutti" or len(where) != 3:
                raise FileNotFoundError(f"no shared memory is called {name!r}")
            self._segment = _found(size, tuple(where))
        self._buf = memoryview(self._segment.memory)

    @property
    def name(self):
        return "-".join(["tutti", *map(str, (self._segment.size, *self._segment.where))])

    @property
    def buf(self):
        return self._buf

    @property
    def size(self):
        return self._segment.size

    def close(self):
        """This object does not need the memory any more."""
        if self._buf is not None:
            self._buf.release()
            self._buf = None

    def unlink(self):
        """Nothing has to be removed: the memory goes with the last who has it."""

    def __reduce__(self):
        return SharedMemory, (self.name,)

    def __repr__(self):
        return f"{type(self).__name__}({self.name!r}, size={self.size})"
