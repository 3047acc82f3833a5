"""Queues: a ring of bytes in shared memory, with pickled items."""

import struct
from queue import Empty, Full

from ...parallel import _code
from ._memory import WORD, Lock, Segment, changed, until

ROOM = 256 << 20  # bytes; memory is taken when it is written
_HEAD = 64
_PUT, _GOT, _COUNT, _OPEN = range(WORD, WORD + 32, 8)


class SimpleQueue:
    """Items in the order in which they were put."""

    def __init__(self, maxsize=0, *, ctx=None):
        self._most = maxsize if maxsize > 0 else 1 << 62
        self._lock, self._segment = Lock(), Segment(_HEAD + ROOM)

    def _number(self, at, more=None):
        memory = self._segment.memory
        value = struct.unpack_from("q", memory, at)[0]
        if more is not None:
            struct.pack_into("q", memory, at, value + more)
        return value

    def _write(self, at, data):
        at %= ROOM
        first = min(len(data), ROOM - at)
        memory = self._segment.memory
        memory[_HEAD + at : _HEAD + at + first] = data[:first]
        memory[_HEAD : _HEAD + len(data) - first] = data[first:]

    def _read(self, at, n):
        at %= ROOM
        first, memory = min(n, ROOM - at), self._segment.memory
        return memory[_HEAD + at : _HEAD + at + first] + memory[_HEAD : _HEAD + n - first]

    def _try_put(self, data):
        with self._lock:
            put, got = self._number(_PUT), self._number(_GOT)
            if self._number(_COUNT) >= self._most or put - got + 8 + len(data) > ROOM:
                return False
            self._write(put, struct.pack("q", len(data)))
            self._write(put + 8, data)
            self._number(_PUT, 8 + len(data))
            self._number(_COUNT, 1)
            self._number(_OPEN, 1)
        changed(self._segment)
        return True

    def _until(self, ready, timeout=None):
        return until(ready, timeout, self._segment)

    def put(self, obj, block=True, timeout=None):
        """Put an item; `queue.Full` when there is no place in time."""
        data = bytes(_code.dumps(obj))
        if 8 + len(data) > ROOM:
            raise ValueError(
                f"an item of {len(data):,} bytes is larger than a queue ({ROOM:,}); put arrays into shared memory"
            )
        if not self._until(lambda: self._try_put(data), timeout if block else 0):
            raise Full

    def _try_get(self):
        if self._number(_COUNT) == 0:
            return None
        with self._lock:
            if self._number(_COUNT) == 0:
                return None
            got = self._number(_GOT)
            (n,) = struct.unpack("q", self._read(got, 8))
            data = self._read(got + 8, n)
            self._number(_GOT, 8 + n)
            self._number(_COUNT, -1)
        changed(self._segment)
        return data

    def get(self, block=True, timeout=None):
        """Take the first item; `queue.Empty` when there is none in time."""
        found = []
        if not self._until(
            lambda: (data := self._try_get()) is not None and (found.append(data) or True), timeout if block else 0
        ):
            raise Empty
        return _code.loads(found[0])

    def empty(self):
        return self._number(_COUNT) == 0

    def close(self):
        """Nothing has to be given back."""

    def __getstate__(self):
        return self._most, self._lock, self._segment

    def __setstate__(self, state):
        self._most, self._lock, self._segment = state


class Queue(SimpleQueue):
    """Items in the order in which they were put, at most `maxsize` of them."""

    _used = _closed = False  # by this process

    def _uses(self):
        if self._closed:
            raise ValueError(f"Queue {self!r} is closed")
        self._used = True

    def put(self, obj, block=True, timeout=None):
        """Put an item; `queue.Full` when there is no place in time."""
        self._uses()
        super().put(obj, block, timeout)

    def get(self, block=True, timeout=None):
        """Take the first item; `queue.Empty` when there is none in time."""
        self._uses()
        return super().get(block, timeout)

    def empty(self):
        if self._closed and self._used:
            raise OSError("handle is closed")
        return super().empty()

    def close(self):
        """This process uses it no more; others may."""
        self._closed = True

    def put_nowait(self, obj):
        self.put(obj, False)

    def get_nowait(self):
        return self.get(False)

    def qsize(self):
        return self._number(_COUNT)

    def full(self):
        return self._number(_COUNT) >= self._most

    def join_thread(self):
        """No thread puts items: they lie in the queue when `put` returns."""

    def cancel_join_thread(self):
        """As `join_thread`."""


class JoinableQueue(Queue):
    """One whose items are said to be done."""

    def task_done(self):
        """An item that was taken is done."""
        with self._lock:
            if self._number(_OPEN) <= 0:
                raise ValueError("task_done() called too many times")
            self._number(_OPEN, -1)
        changed(self._segment)

    def join(self, timeout=None):
        """Wait until all items are done."""
        self._until(lambda: self._number(_OPEN) == 0, timeout)
