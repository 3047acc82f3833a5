"""Pipes: what is sent lies in queues; a pipe of the system beside each end says whether anybody still has it."""

import contextlib
import os
import select
import threading
from queue import Empty

from ._memory import changed, descriptor_of
from .queues import SimpleQueue

_going = threading.local()  # .fds: descriptors for the process that is about to begin, which inherits them


@contextlib.contextmanager
def inherited():
    """Connections that are pickled meanwhile go to one process, which gets the descriptors of a list when it begins."""
    _going.fds = fds = []
    try:
        yield fds
    finally:
        _going.fds = None
        for fd in fds:
            os.close(fd)


def _opened(fd, flags, where):
    """A descriptor of our own, of one that we inherited or that another process has."""
    if where is None:
        os.set_inheritable(fd, False)
        return fd
    pid, inode = where
    return descriptor_of((pid, fd, inode), flags | os.O_NONBLOCK, "sent this connection has ended or closed it")


def _taken(get, put, held, other, wheres):
    return Connection(get, put, _opened(held, os.O_WRONLY, wheres[0]), _opened(other, os.O_RDONLY, wheres[1]))


class Connection:
    """An end of a pipe. It is closed when all processes that have it have closed it, or ended.

    Parameters
    ----------
    get, put : SimpleQueue or None
        What comes, and what is sent.
    held : int
        A descriptor that is open while this end is: the writing end of a pipe.
    other : int
        The reading end of the other side's.
    """

    closed = True

    def __init__(self, get, put, held, other):
        self._get, self._put, self._held, self._other, self.closed = get, put, held, other, False

    readable = property(lambda self: self._get is not None)
    writable = property(lambda self: self._put is not None)

    def _end(self, end, word):
        if self.closed:
            raise OSError("handle is closed")
        if end is None:
            raise OSError(f"connection is {word}-only")
        return end

    def _alone(self):
        """Has nobody the other end any more?"""
        poll = select.poll()
        poll.register(self._other, 0)
        return bool(poll.poll(0))

    def send(self, obj):
        """Send an object to the other end."""
        end = self._end(self._put, "read")
        if self._alone():
            raise BrokenPipeError(32, "Broken pipe")
        end.put(obj)

    def recv(self):
        """Take an object that the other end has sent; EOFError when it has closed."""
        end = self._end(self._get, "write")
        end._until(lambda: not end.empty() or self._alone())
        try:
            return end.get(False)
        except Empty:
            raise EOFError from None

    def poll(self, timeout=0.0):
        """Whether there is something to take."""
        end = self._end(self._get, "write")
        return end._until(lambda: not end.empty() or self._alone(), timeout)

    def send_bytes(self, buf, offset=0, size=None):
        """Send bytes."""
        view = memoryview(buf).cast("B")
        size = len(view) - offset if size is None else size
        for name, wrong in (("offset", offset), ("size", size)):
            if wrong < 0:
                raise ValueError(f"{name} is negative")
        if offset + size > len(view):
            raise ValueError("buffer length < offset + size")
        self.send(bytes(view[offset : offset + size]))

    recv_bytes = recv

    def close(self):
        """This process sends and takes nothing more here; others that have this end may."""
        if self.closed:
            return
        self.closed = True
        os.close(self._held)
        os.close(self._other)
        for ring in (self._put, self._get):
            if ring is not None:
                changed(ring._segment)

    def __reduce__(self):
        self._end(self, "")
        fds, wheres = [self._held, self._other], [None, None]
        if getattr(_going, "fds", None) is None:
            wheres = [(os.getpid(), os.fstat(fd).st_ino) for fd in fds]
        else:
            fds = [os.dup(fd) for fd in fds]
            _going.fds += fds
        return _taken, (self._get, self._put, *fds, wheres)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        self.close()


def _lives():
    """What says whether an end is there: (reading, writing) descriptor of a pipe that nobody writes to."""
    return os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)


def Pipe(duplex=True):
    """Two connections: what is sent at one end comes at the other; without `duplex` from the second to the first."""
    there, back = SimpleQueue(), SimpleQueue() if duplex else None
    (first, holds_first), (second, holds_second) = _lives(), _lives()
    return Connection(there, back, holds_first, second), Connection(back, there, holds_second, first)
