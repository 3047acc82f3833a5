"""Messages between a program and its workers: a short header, a pickled text, and large pieces of memory beside it.

Workers load this file without the package (their start would take ten times as long), so it imports none of it.
"""

import marshal
import os
import sys
from _pickle import Pickler, loads
from _pickle import dumps as dumps_plain
from io import BytesIO

core = sys.modules["tutti._core"]
WIRE = "_tutti_message"  # by this name bytes call what is here; see _rebuild.WIRE
sys.modules[WIRE] = sys.modules[__name__]

SHARE = 64 << 10  # bytes from which memory is handed over beside the text
LONG = 64 << 10  # bytes of text that go through the ring
GRAIN = 64  # pieces begin at lines of the cache
KEPT = 256 << 20  # bytes of free segments that a sender keeps
MOST = 100  # new descriptors of a message

# What a message is about, and its number means: a function, a chunk, ...
FUNCTION, CHUNK, FORGET, RESULT, READY, BROKEN, BEGIN, END = range(8)
READING = 0xFFFF  # the row at which a worker is while it reads its arguments
ROWS = 0x10000  # more than a chunk has
FAILED, UNREAD = 1, 2  # of results: some are failures; the function or its arguments could not be read


def dumps(thing, leave_out=None, scope=None, lean=()):
    """Pickle an object; functions by value where they cannot be imported, those of a scope with globals that stay.

    lean: ids of functions that go by value although they can be.
    """
    code = sys.modules.get("tutti.parallel._code")
    if code is not None:
        return code.dumps(thing, leave_out, scope, lean)
    text = BytesIO()
    Pickler(text, 5, buffer_callback=leave_out).dump(thing)
    return text.getbuffer()


is_plain = core._parallel_plain  # are these numbers and texts, which pickle takes without being asked?


_NO_ARGUMENTS = dumps_plain(((), None), 5)


def pack_rows(columns, names, place=None, scope=None):
    """Arguments of calls, packed."""
    if not columns and not names:
        return Packed(_NO_ARGUMENTS, ())
    if not names and all(map(is_plain, columns)):
        return Packed(dumps_plain((columns, None), 5), ())
    return pack((columns, names), place, scope)


def called(f):
    """The program's function in what a worker calls."""
    return f.f if isinstance(f, (Each, Calls)) else f


def name_of(f):
    """What a function is called, for who looks at it."""
    f = called(f)
    return getattr(f, "__qualname__", None) or type(f).__qualname__


def importable(f):
    """Is a function handed over by name? Then it is the same each time."""
    code = sys.modules.get("tutti.parallel._code")
    return code is None or code.is_importable(f)


def is_fixed(f):
    """Is a function that travels by value the same each time: has it nothing but its code?"""
    code = sys.modules["tutti.parallel._code"]
    return (
        type(f) is type(is_fixed)
        and not f.__closure__
        and not f.__dict__
        and not f.__kwdefaults__
        and is_plain(f.__defaults__ or ())
        and not code.used_globals(f)
    )


class Each:
    """Of rows of arguments: what a function gives for each."""

    __slots__ = ("f",)

    def __init__(self, f):
        self.f = f

    def __reduce__(self):
        return Each, (self.f,)

    def __call__(self, rows):
        return [self.f(*row) for row in rows]


class Calls:
    """Of calls with arguments of any kind: a function of (args, kwargs)."""

    __slots__ = ("f",)

    def __init__(self, f):
        self.f = f

    def __reduce__(self):
        return Calls, (self.f,)

    def __call__(self, args, kwargs):
        return self.f(*args, **kwargs)


class Packed:
    """A pickled object: its text and what it left out, each a view of memory or a place in a shared segment."""

    __slots__ = ("buffers", "text")

    def __init__(self, text, buffers):
        self.text = text
        self.buffers = buffers


def pack(thing, place=None, scope=None, lean=()):
    """Pickle an object, as `dumps`.

    `place` finds (segment, at, size) for a large buffer, or None: it is copied beside the text.
    """
    buffers = []

    def leave_out(buffer):
        try:
            view = buffer.raw()
        except BufferError:  # not contiguous: NumPy does not ask, others might
            return True
        found = _find_writable(view) if writable else None
        if found is None and view.nbytes < SHARE:
            return True
        buffers.append(found or (place and place(view)) or view)
        return False

    return Packed(dumps(thing, leave_out, scope, lean), buffers)


def unpack(text, buffers):
    """The object again."""
    return loads(text, buffers=buffers)


# Memory that all may write: where it lies and its size, to (weak reference to its array, segment).
writable = {}


def _find_writable(view):
    """(segment, at, size, True) of memory that all may write, or None."""
    root = view.obj
    while isinstance(base := getattr(root, "base", None), type(root)):
        root = base
    start, size, _ = core._buffer_address(root)
    array, segment = writable.get((start, size), (None, None))
    if array is None or array() is not root:
        return None
    return segment, core._buffer_address(view)[0] - start, view.nbytes, True


class Segment:
    """Shared memory of this process's making, its number, and the descriptor by which others get it."""

    __slots__ = ("fd", "memory", "number", "size")
    made = 0

    def __init__(self, size):
        self.fd = -1
        self.memory, self.fd = core._segment_new(size)
        core._segment_claim(self.memory)
        self.size = size
        Segment.made += 1
        self.number = Segment.made

    def __del__(self):
        if self.fd >= 0:
            os.close(self.fd)


def _rounded(size):
    return (size + GRAIN - 1) // GRAIN * GRAIN


class Sender:
    """One direction of a line: which segments the other side knows, and those that come back to be used again."""

    def __init__(self, line):
        self.line = line
        self.own = []
        self.known = set()
        self.gone = []
        self.copied = 0  # bytes

    def send(self, kind, number, details, packed):
        """Send a message; details are plain data."""
        if packed is not None and not packed.buffers and len(packed.text) <= LONG and not self.gone:
            header = marshal.dumps((kind, number, details, None))
            core._line_send(self.line, len(header), (header, packed.text), ())
        else:
            self._send_long(kind, number, details, packed)

    def _send_long(self, kind, number, details, packed):
        text, places, new = (b"", (), ()) if packed is None else self._lay_out(packed)
        gone, self.gone = self.gone, []
        for begin in range(0, max(0, len(new) - MOST), MOST):  # more than a message may have: ahead of it
            self._introduce(new[begin : begin + MOST])
            new = new[:begin] + new[begin + MOST :]
        extra = (tuple(s.number for s in new), places, tuple(gone))
        header = marshal.dumps((kind, number, details, extra))
        core._line_send(self.line, len(header), (header, text), tuple(s.fd for s in new))
        self.known.update(s.number for s in new)

    def _introduce(self, new):
        header = marshal.dumps((None, 0, None, (tuple(s.number for s in new), (), ())))
        core._line_send(self.line, len(header), (header,), tuple(s.fd for s in new))
        self.known.update(s.number for s in new)

    def _lay_out(self, packed):
        """Copy what lies in no segment into one; (text, places, segments that the other side does not know)."""
        text = memoryview(packed.text)
        long = len(text) > LONG
        loose = [b for b in packed.buffers if not isinstance(b, tuple)]
        if long:
            loose.append(text)
        new, at = {}, 0
        if loose:
            own = self._claim(sum(_rounded(b.nbytes) for b in loose))
        places = []
        for b in [*packed.buffers, text] if long else packed.buffers:
            if isinstance(b, tuple):
                segment, begin, size, *all_write = b
            else:
                segment, begin, size, all_write = own, at, b.nbytes, ()
                core._segment_write(own.fd, at, b)
                self.copied += size
                at += _rounded(size)
            if segment.number not in self.known:
                new[segment.number] = segment
            places.append((segment.number, begin, size, bool(all_write)))
        if not long:
            places.append(None)
        return (b"" if long else text), tuple(places), list(new.values())

    def _claim(self, need):
        """A segment of ours that is free and has room, or a new one."""
        free = [s for s in self.own if core._segment_claim(s.memory)]
        fits = min((s for s in free if s.size >= need), key=lambda s: s.size, default=None)
        spare = KEPT
        for s in free:
            if s is fits:
                continue
            spare -= s.size
            if spare < 0 or fits is None and s.size < need // 2:
                self._drop(s)
            else:
                core._segment_unclaim(s.memory)
        if fits is None:
            fits = Segment(need + need // 8)
            self.own.append(fits)
        return fits

    def _drop(self, segment):
        self.own.remove(segment)
        self.forget(segment)

    def forget(self, segment):
        """The other side has no use for a segment any more: it is told with the next message."""
        if segment.number in self.known:
            self.known.discard(segment.number)
            self.gone.append(segment.number)

    def trim(self):
        """Nobody has asked for some time: give free segments back."""
        for s in [s for s in self.own if core._segment_claim(s.memory)]:
            self._drop(s)


class Receiver:
    """The other end of a direction. readonly: what comes is for looking at.

    Where a message's memory cannot be had, the message is lost and with it what both sides know of each other's
    memory: `broken` says so, and the line is of no use any more.
    """

    def __init__(self, line, readonly):
        self.line = line
        self.readonly = readonly
        self.segments = {}
        self.broken = False

    def receive(self):
        """The next message as (kind, number, details, text, buffers); None: there is none.

        text is None where there was no memory for it; buffers is the exception then.
        """
        taken = core._line_take(self.line)
        if taken is None:
            return None
        tag, data, fds = taken
        kind, number, details, extra = marshal.loads(data)
        text = memoryview(data)[tag:]
        if extra is None:
            return kind, number, details, text, ()
        try:
            text, buffers = self._find(text, fds, *extra)
        except (MemoryError, OSError) as e:
            self.broken = True
            text, buffers = None, e
        return (kind, number, details, text, buffers) if kind is not None else self.receive()

    def _find(self, text, fds, new, places, gone):
        try:
            for name, fd in zip(new, fds):
                self.segments[name] = core._segment_open(fd, False)
        finally:
            for fd in fds:
                os.close(fd)
        hold = core._segment_hold
        parts = [p and hold(self.segments[p[0]], p[1], p[2], self.readonly and not p[3]) for p in places]
        for name in gone:
            self.segments.pop(name, None)
        last = parts.pop() if parts else None
        return (text if last is None else memoryview(last)), parts


class RemoteTraceback(Exception):
    """The traceback of a worker, as the cause of the exception that it raised."""

    def __init__(self, text):
        self.text = text

    def __str__(self):
        return self.text

    def __reduce__(self):
        return RemoteTraceback, (self.text,)


class Failure:
    """An exception on its way from a worker: pickled where that is possible, and as text."""

    __slots__ = ("error", "text")

    def __init__(self, error):
        import traceback  # takes as long as all else that a worker imports

        self.text = "\n" + "".join(traceback.format_exception(type(error), error, error.__traceback__))
        try:
            self.error = bytes(dumps(error))
            loads(self.error)
        except Exception:  # noqa: BLE001 - whatever a class of the program's does there
            self.error = None

    def __reduce__(self):
        return _failure, (self.error, self.text)

    def again(self):
        """The exception, caused by the worker's traceback."""
        error = None
        if self.error is not None:
            try:
                error = loads(self.error)
            except Exception:  # noqa: BLE001 - its class is not there
                error = None
        if not isinstance(error, BaseException):
            last = self.text.strip().rsplit("\n", 1)[-1]
            error = RuntimeError(f"a worker raised an exception that cannot be pickled: {last}")
        error.__cause__ = RemoteTraceback(self.text)
        return error


def _failure(error, text):
    failure = Failure.__new__(Failure)
    failure.error, failure.text = error, text
    return failure


Each.__module__ = Calls.__module__ = _failure.__module__ = WIRE
