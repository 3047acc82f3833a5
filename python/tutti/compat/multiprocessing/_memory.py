"""Memory and locks that processes share without a file, a server or a name.

A segment is anonymous memory (`memfd_create`). Another process is told the owner's number and descriptor and opens
`/proc/<owner>/fd/<descriptor>`. It is gone when the last process that has it is. A lock is the system's lock of such a
segment (`flock`), which a process that dies gives back.
"""

import fcntl
import mmap
import os
import struct
import threading
import time
import weakref

from ... import _core

_open = weakref.WeakValueDictionary()  # of this process, by inode


class Segment:
    """Shared memory of `size` bytes, zero at first; `memory` is this process's view of it."""

    def __init__(self, size, where=None):
        if size < 1:
            raise ValueError("'size' must be a positive number different from zero")
        self.where = where
        if where is None:
            self.fd = os.memfd_create("tutti", os.MFD_CLOEXEC)
            os.ftruncate(self.fd, size)
            self.where = (os.getpid(), self.fd, os.fstat(self.fd).st_ino)
        else:
            self.fd = descriptor_of(where, os.O_RDWR, "made this shared memory has ended or given it back")
        self.size, self.pid = size, os.getpid()
        self.memory = mmap.mmap(self.fd, size)
        self._closer = weakref.finalize(self, _close, self.fd, os.getpid())
        _open[self.where[2]] = self

    def __reduce__(self):
        return _found, (self.size, self.where)


def _close(fd, pid):
    if os.getpid() == pid:
        os.close(fd)


def descriptor_of(where, flags, what):
    """A descriptor of our own for what another process has open.

    where: the process, its descriptor and the inode; what: what the process did, for the error.
    """
    pid, fd, inode = where
    try:
        opened = os.open(f"/proc/{pid}/fd/{fd}", flags | os.O_CLOEXEC)
    except OSError:
        opened = -1
    if opened < 0 or os.fstat(opened).st_ino != inode:
        if opened >= 0:
            os.close(opened)
        raise FileNotFoundError(f"the process {pid} that {what}")
    return opened


def _found(size, where):
    """The segment of another process; here, too, one object for all who have it."""
    held = _open.get(where[2])
    return held if held is not None and held.where == where else Segment(size, where)


WORD = 8  # bytes at the begin of a segment: its word, which says that something has changed


def until(ready, timeout, segment):
    """Ask whenever what lies in a segment has changed; False when the time is up."""
    end = None if timeout is None else time.monotonic() + max(0.0, timeout)
    while True:
        seen = _core._word_read(segment.memory)
        if ready():
            return True
        left = 1.0 if end is None else end - time.monotonic()
        if left <= 0:
            return False
        _core._word_wait(segment.memory, seen, left)


def changed(segment):
    """Who waits for what lies in a segment is to look again."""
    _core._word_change(segment.memory)


def _ask_again(ready, timeout):
    """The system's lock has no word: it is asked for again and again; False when the time is up."""
    end, attempt = time.monotonic() + max(0.0, timeout), 0
    while not ready():
        if time.monotonic() >= end:
            return False
        time.sleep(0 if attempt < 20 else min(0.002, 2e-5 * (attempt - 19)))
        attempt += 1
    return True


_opening = threading.Lock()


def _forked():
    global _opening
    _opening = threading.Lock()


os.register_at_fork(after_in_child=_forked)


class Lock:
    """A lock between processes and threads. One whose holder dies is free again."""

    _reentrant = False

    def __init__(self, *, ctx=None):
        self._take(Segment(8))

    def _take(self, segment):
        self._segment = segment
        self._inner, self._fd, self._pid, self._depth, self._owner = threading.Lock(), -1, 0, 0, None

    def _descriptor(self):
        """A description of this object's own: descriptions that are shared do not exclude each other."""
        if self._pid != os.getpid():
            with _opening:  # two threads that come first would have one each, and give back the other's
                if self._pid != os.getpid():
                    self._fd = os.open(f"/proc/self/fd/{self._segment.fd}", os.O_RDWR | os.O_CLOEXEC)
                    self._inner, self._depth = threading.Lock(), 0
                    weakref.finalize(self, _close, self._fd, os.getpid())
                    self._pid = os.getpid()
        return self._fd

    def acquire(self, block=True, timeout=None):
        """Take the lock; whether that was possible."""
        fd = self._descriptor()
        if self._reentrant and self._owner == threading.get_ident():
            self._depth += 1
            return True
        end = None if timeout is None else time.monotonic() + timeout
        if not self._inner.acquire(block, -1 if timeout is None or not block else max(0.0, timeout)):
            return False
        if block and end is None:
            fcntl.flock(fd, fcntl.LOCK_EX)
        elif not _ask_again(lambda: _tried(fd), 0 if not block else end - time.monotonic()):
            self._inner.release()
            return False
        self._owner, self._depth = threading.get_ident(), 1
        return True

    def release(self):
        """Give the lock back."""
        if self._depth == 0 or (self._reentrant and self._owner != threading.get_ident()):
            error = AssertionError if self._reentrant else ValueError
            raise error(
                "attempt to release recursive lock not owned by thread"
                if self._reentrant
                else "semaphore or lock released too many times"
            )
        self._depth -= 1
        if self._depth == 0:
            self._owner = None
            fcntl.flock(self._descriptor(), fcntl.LOCK_UN)
            self._inner.release()

    def locked(self):
        if self.acquire(False):
            self.release()
            return False
        return True

    def __enter__(self):
        return self.acquire()

    def __exit__(self, *_):
        self.release()

    def __getstate__(self):
        return self._segment

    def __setstate__(self, segment):
        self._take(segment)


def _tried(fd):
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


class RLock(Lock):
    """A lock that its holder may take again."""

    _reentrant = True


_PLACES = 1023  # where who waits for a condition says so


class Counters:
    """Whole numbers of 64 bits in shared memory, changed under a lock; who waits for that is told."""

    def __init__(self, *values, zeros=0):
        self._lock, self._segment = Lock(), Segment(WORD + 8 * (len(values) + zeros))
        for k, value in enumerate(values):
            self[k] = value

    def __getitem__(self, k):
        return struct.unpack_from("q", self._segment.memory, WORD + 8 * k)[0]

    def __setitem__(self, k, value):
        struct.pack_into("q", self._segment.memory, WORD + 8 * k, value)
        changed(self._segment)

    def all(self):
        """What they are, as a tuple."""
        return struct.unpack_from(f"{(self._segment.size - WORD) // 8}q", self._segment.memory, WORD)

    def until(self, ready, timeout):
        """Wait for what the counters say."""
        return until(ready, timeout, self._segment)

    def __enter__(self):
        self._lock.acquire()
        return self

    def __exit__(self, *_):
        self._lock.release()


class Semaphore:
    """So many may hold it at once."""

    _bounded = False

    def __init__(self, value=1, *, ctx=None):
        if value < 0:
            raise ValueError("semaphore initial value must be >= 0")
        self._counters, self._most = Counters(value), value

    def _tried(self):
        with self._counters as counters:
            if counters[0] == 0:
                return False
            counters[0] -= 1
            return True

    def acquire(self, block=True, timeout=None):
        """Take one; whether that was possible."""
        return self._counters.until(self._tried, timeout if block else 0)

    def release(self):
        """Give one back."""
        with self._counters as counters:
            if self._bounded and counters[0] >= self._most:
                raise ValueError("semaphore or lock released too many times")
            counters[0] += 1

    def get_value(self):
        return self._counters[0]

    def __enter__(self):
        return self.acquire()

    def __exit__(self, *_):
        self.release()


class BoundedSemaphore(Semaphore):
    """One that is not given back more often than taken."""

    _bounded = True


class Event:
    """A flag that processes wait for."""

    def __init__(self, *, ctx=None):
        self._counters = Counters(0)

    def is_set(self):
        return self._counters[0] != 0

    def set(self):
        self._counters[0] = 1

    def clear(self):
        self._counters[0] = 0

    def __repr__(self):
        return f"<{type(self).__name__} at {id(self):#x} {'set' if self.is_set() else 'unset'}>"

    def wait(self, timeout=None):
        return self._counters.until(self.is_set, timeout)


class Condition:
    """Waiting for what others, who hold the same lock, say has changed.

    Who waits has a place: a number that says when it came, -1 when it may go on. A count of those who may would not do,
    for who comes later would take what another one was told.
    """

    def __init__(self, lock=None, *, ctx=None):
        self._lock, self._counters = lock or RLock(), Counters(1, zeros=_PLACES)  # the next number, places
        self.acquire, self.release = self._lock.acquire, self._lock.release

    def __enter__(self):
        return self._lock.__enter__()

    def __exit__(self, *what):
        self._lock.__exit__(*what)

    def _take_place(self):
        with self._counters as counters:
            held = counters.all()
            if 0 not in held:
                raise RuntimeError(f"more than {_PLACES} wait for one condition")
            place = held.index(0)
            counters[place], counters[0] = held[0], held[0] + 1
        return place

    def wait(self, timeout=None):
        """Let go of the lock, wait to be notified, take it again."""
        place = self._take_place()
        depth = self._lock._depth
        for _ in range(depth):
            self._lock.release()
        try:
            self._counters.until(lambda: self._counters[place] < 0, timeout)
            return self._counters[place] < 0
        finally:
            with self._counters as counters:
                counters[place] = 0
            for _ in range(depth):
                self._lock.acquire()

    def wait_for(self, predicate, timeout=None):
        """Wait until predicate() is true; its value."""
        end = None if timeout is None else time.monotonic() + timeout
        while not (result := predicate()):
            if not self.wait(None if end is None else end - time.monotonic()) and end is not None:
                return predicate()
        return result

    def notify(self, n=1):
        """Let n who wait go on."""
        with self._counters as counters:
            held = counters.all()
            waiting = sorted((number, place) for place, number in enumerate(held) if place and number > 0)
            for _, place in waiting[:n]:
                counters[place] = -1

    def notify_all(self):
        self.notify(1 << 62)

    def __getstate__(self):
        return self._lock, self._counters

    def __setstate__(self, state):
        self._lock, self._counters = state
        self.acquire, self.release = self._lock.acquire, self._lock.release
