"""Arrays that lie in shared memory once, however many messages speak of them."""

import math
import os
import threading
import weakref

from .. import _core
from . import _message, _packets

_SMALL = 1 << 20  # below that a first message copies: most such arrays are in one only
_WATCHED = 4 << 20  # from here on the kernel tells whether memory was written, where it can; else it is read again
_PART = 4  # of the machine's memory, what copies may take


class _Place:
    """A piece of the program's memory and its copy, if it has one."""

    __slots__ = ("copied", "digest", "owner", "segment", "size", "start", "used", "watched")

    def __init__(self, owner, start, size):
        self.owner, self.start, self.size = owner, start, size
        self.copied = 0
        self.segment = self.digest = None
        self.watched = False
        self.used = 0


class Places:
    """The arrays of a program that its workers have been given. They are kept as long as the arrays live."""

    def __init__(self, engine):
        self.engine = weakref.ref(engine)
        self.lock = threading.RLock()
        self.known = {}
        self.total = 0
        self.clock = 0
        self.most = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // _PART

    def finder(self):
        """What finds the places of a call's arrays: within a call, memory is taken to stay as it is."""
        return _Finder(self).find

    def _root(self, view):
        """The array whose memory a view is part of, where that memory begins, and its size."""
        root = view.obj
        while isinstance(base := getattr(root, "base", None), type(root)):
            root = base
        start, size, _ = _core._buffer_address(root)
        return root, start, size

    def place(self, view):
        """(place, offset) of a view's bytes; None for memory that nobody can be asked about."""
        try:
            root, start, size = self._root(view)
            at = _core._buffer_address(view)[0] - start
            if at < 0 or at + view.nbytes > size:
                return None
            place = self.known.get((start, size))
            if place is None or place.owner() is not root:
                owner = weakref.ref(root, lambda _, key=(start, size): self._gone(key))
                place = self.known[start, size] = _Place(owner, start, size)
        except (TypeError, ValueError, BufferError):
            return None
        return place, at

    def _gone(self, key):
        with self.lock:
            place = self.known.get(key)
            if place is not None and place.owner() is None:
                del self.known[key]
                self._drop(place)

    def _drop(self, place):
        if place.watched:
            _core._memory_unwatch(place.start, place.size)
            place.watched = False
        segment, place.segment = place.segment, None
        if segment is not None:
            self.total -= segment.size
            engine = self.engine()
            if engine is not None:
                engine.drop(segment)

    def share(self, place, view):
        """See that a copy of a place is there and as the memory is now. False: it is not worth one."""
        root = place.owner()
        if place.segment is not None and self._is_written(place, root):
            self._drop(place)
        if place.segment is None:
            place.copied += view.nbytes
            if place.size > self.most or place.copied < (2 * place.size if place.size < _SMALL else place.size / 2):
                return False
            self._copy(place, root)
        self.clock += 1
        place.used = self.clock
        return True

    def _is_written(self, place, root):
        if place.watched and _core._memory_written(place.start, place.size):
            return True
        return self._digest(place, root) != place.digest

    @staticmethod
    def _digest(place, root):
        """Of all bytes, or of those that share pages with others where the kernel watches the rest."""
        return _core._memory_edges(place.start, place.size) if place.watched else _core._segment_digest(root)

    def _copy(self, place, root):
        while self.total + place.size > self.most:
            oldest = min((p for p in self.known.values() if p.segment), key=lambda p: p.used)
            self._drop(oldest)
        if place.size >= _WATCHED:
            place.watched = _core._memory_watch(place.start, place.size)
        place.digest = self._digest(place, root)
        segment = _message.Segment(place.size)
        _core._segment_write(segment.fd, 0, root)
        place.segment = segment
        self.total += place.size
        _packets.count(shared_bytes=place.size)


class _Finder:
    """The places of one call."""

    def __init__(self, places):
        self.places = places
        self.seen = {}

    def find(self, view):
        """(segment, at, size) of a view's bytes in shared memory; None: they are to be copied."""
        places = self.places
        with places.lock:
            found = places.place(view)
            if found is None:
                return None
            place, at = found
            segment = self.seen.get(place.start, (None, None))[1]
            if segment is None or place.segment is not segment:
                if not places.share(place, view):
                    return None
                segment = place.segment
                self.seen[place.start] = (place, segment)
            return segment, at, view.nbytes


def array(shape, dtype):
    """An array of zeros that all workers may write; see `tutti.parallel.shared`."""
    import numpy

    dtype = numpy.dtype(dtype)
    if dtype.hasobject:
        raise TypeError("only numbers lie in memory that processes share, not Python's objects")
    shape = tuple(shape) if hasattr(shape, "__iter__") else (shape,)
    size = math.prod(shape) * dtype.itemsize
    if size < 0:
        raise ValueError("negative dimensions are not allowed")
    segment = _message.Segment(size or 1)
    made = numpy.ndarray(shape, dtype, _core._segment_hold(segment.memory, 0, size or 1, False))
    if size:
        key = made.ctypes.data, size
        _message.writable[key] = weakref.ref(made, lambda _: _message.writable.pop(key, None)), segment
    return made


def compare_exchange(array, index, old, new):
    """Write an element if it is what it is thought to be; see `tutti.parallel.compare_exchange`."""
    index = index if isinstance(index, tuple) else (index,)
    element = array[(*index, ...)]
    if element.ndim or element.dtype.itemsize not in (1, 2, 4, 8) or element.dtype.hasobject:
        raise TypeError("only an element of at most 8 bytes is written in one step")
    kind = element.dtype.type
    with _core_view(element) as view:
        return _core._compare_exchange(view, kind(old).tobytes(), kind(new).tobytes())


def _core_view(element):
    return memoryview(element).cast("B") if element.ndim else memoryview(element.reshape(1).view("u1"))
