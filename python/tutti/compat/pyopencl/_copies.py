"""Copies between buffers, shared virtual memory and the host, and memory that is filled."""

import numpy as np

from ._errors import failure
from ._memory import MemoryObjectHolder, SVMPointer, host_bytes
from ._queue import NannyEvent


class _End:
    """One end of a copy: its bytes, and whether it is the host's."""

    def __init__(self, x, to_write=False):
        self.is_host = not isinstance(x, (MemoryObjectHolder, SVMPointer))
        self.is_svm = isinstance(x, SVMPointer)
        self.bytes = host_bytes(x, to_write) if self.is_host else _memory_of(x)
        self.of = None if self.is_host or self.is_svm else x


def _memory_of(x):
    """The host's memory for bytes, whether they are there now or not."""
    return x._bytes if isinstance(x, SVMPointer) else x._checked()


def _rows(memory, origin, region, pitches):
    """A box of bytes: a width, rows and planes; pitches are bytes from row to row and from plane to plane."""
    sizes = [int(n) for n in region] + [1] * (3 - len(region))
    at = [int(n) for n in origin or ()] + [0] * (3 - len(origin or ()))
    pitches = [int(n) for n in pitches or ()]
    row = (pitches[0] if pitches else 0) or sizes[0]
    plane = (pitches[1] if len(pitches) > 1 else 0) or row * sizes[1]
    first = at[0] + at[1] * row + at[2] * plane
    if min(sizes) <= 0 or min(at) < 0 or row < sizes[0] or plane < row:
        raise failure("INVALID_VALUE", "enqueue_copy", "a box needs sizes above zero and pitches not below them")
    if first + sizes[0] + (sizes[1] - 1) * row + (sizes[2] - 1) * plane > len(memory):
        raise failure("INVALID_VALUE", "enqueue_copy", "the box reaches beyond the memory")
    return np.lib.stride_tricks.as_strided(memory[first:], sizes[::-1], (plane, row, 1))


def _part(memory, at, size):
    if at < 0 or size < 0 or at + size > len(memory):
        raise failure("INVALID_VALUE", "enqueue_copy", f"{size} bytes at {at} of {len(memory)}")
    return memory[at : at + size]


def _boxes(dest, src, words):
    """Both ends of a copy of boxes."""

    def of(word, end, role):
        for name in (f"{role}_{word}", f"{'host' if end.is_host else 'buffer'}_{word}"):
            if name in words:
                return words.pop(name)
        return None

    region = words.pop("region")
    ends = [(_rows(e.bytes, of("origin", e, r), region, of("pitches", e, r))) for e, r in ((dest, "dst"), (src, "src"))]
    return ends


def _lines(dest, src, words):
    """Both ends of a copy of neighbours."""
    both = dest.is_host == src.is_host
    device = words.pop("device_offset", 0)
    at = words.pop("dst_offset", words.pop("dest_offset", 0 if both or dest.is_host else device))
    start = words.pop("src_offset", 0 if both or src.is_host else device)
    size = words.pop("byte_count", None)
    if size is None:
        size = len(dest.bytes) - at if dest.is_host else len(src.bytes) - start
        if not dest.is_host and not src.is_host:
            size = min(len(src.bytes) - start, len(dest.bytes) - at)
    return _part(dest.bytes, at, int(size)), _part(src.bytes, start, int(size))


def _overlap(one, other):
    return np.may_share_memory(one, other) and np.shares_memory(one, other)


def _command(dest, src, boxes):
    if dest.is_svm or src.is_svm:
        return "SVM_MEMCPY"
    words = "READ_BUFFER" if dest.is_host else "WRITE_BUFFER" if src.is_host else "COPY_BUFFER"
    return words + ("_RECT" if boxes else "")


def enqueue_copy(queue, dest, src, **kwargs):
    """Copy from a buffer, shared virtual memory or the host to another of these.

    Parameters
    ----------
    queue : CommandQueue
    dest, src : Buffer, SVMPointer or an array of the host
    src_offset, dst_offset, byte_count : int, optional
        Which bytes.
    src_origin, dst_origin, buffer_origin, host_origin, region : tuples, optional
        A box of bytes; src_pitches and so on say how far its rows and planes lie apart.
    wait_for : list of Event, optional
    is_blocking : bool, optional
        Copies here are done when the call returns, unless they wait for events.

    Returns
    -------
    Event
    """
    wait_for, blocking = kwargs.pop("wait_for", None), kwargs.pop("is_blocking", True)
    to, source = _End(dest, True), _End(src)
    if to.is_host and source.is_host:
        raise TypeError("enqueue_copy cannot perform host-to-host transfers")
    boxes = "region" in kwargs
    target, given = (_boxes if boxes else _lines)(to, source, kwargs)
    if kwargs:
        raise TypeError(f"enqueue_copy got unexpected keyword arguments: {', '.join(kwargs)}")
    if not to.is_host and not source.is_host and target.size and _overlap(target, given):
        raise failure("MEM_COPY_OVERLAP", "enqueue_copy")

    def copy():
        for end, writes in ((source, False), (to, True)):
            if end.of is not None:
                end.of._seen(writes)
        target[...] = given

    event = _event(queue, _command(to, source, boxes), to.is_host or source.is_host)
    event._ward = dest if to.is_host else src
    queue._do(None, copy, wait_for, event)
    if blocking and (to.is_host or source.is_host):
        event.wait()
    return event


def _event(queue, kind, nanny):
    from ._constants import CLASSES
    from ._queue import Event

    return (NannyEvent if nanny else Event)(queue, getattr(CLASSES["command_type"], kind))


def _fill(memory, pattern, routine, of=None):
    pattern = host_bytes(pattern)
    if not len(pattern) or len(memory) % len(pattern):
        raise failure("INVALID_VALUE", routine, f"patterns of {len(pattern)} bytes do not fill {len(memory)} bytes")

    def fill():
        if of is not None:
            of._seen(True)
        memory.reshape(-1, len(pattern))[...] = pattern

    return fill


def enqueue_fill_buffer(queue, mem, pattern, offset, size, wait_for=None):
    """Fill a part of a buffer with a pattern: a number of NumPy or bytes."""
    work = _fill(_part(_memory_of(mem), offset, size), pattern, "enqueue_fill_buffer", mem)
    return queue._do("FILL_BUFFER", work, wait_for)


def enqueue_svm_memfill(queue, dest, pattern, byte_count=None, wait_for=None):
    """Fill shared virtual memory with a pattern."""
    dest = dest if isinstance(dest, SVMPointer) else _svm(dest)
    memory = _part(dest._bytes, 0, len(dest._bytes) if byte_count is None else byte_count)
    return queue._do("SVM_MEMFILL", _fill(memory, pattern, "enqueue_svm_memfill"), wait_for)


def _svm(array):
    from ._memory import SVM

    return SVM(array)


def enqueue_fill(queue, dest, pattern, size, offset=0, wait_for=None):
    """Fill a buffer or shared virtual memory."""
    if isinstance(dest, SVMPointer):
        if offset:
            raise NotImplementedError("enqueue_fill with SVM does not yet support offsets")
        return enqueue_svm_memfill(queue, dest, pattern, size, wait_for)
    return enqueue_fill_buffer(queue, dest, pattern, offset, size, wait_for)


def enqueue_svm_migrate_mem(queue, svms, flags, wait_for=None):
    """Memory lies where it is used already."""
    return queue._do("SVM_MIGRATE_MEM", lambda: None, wait_for)


def enqueue_migrate_mem_objects(queue, mem_objects, flags, wait_for=None):
    """Memory lies where it is used already."""
    return queue._do("MIGRATE_MEM_OBJECTS", lambda: None, wait_for)


def enqueue_read_buffer(queue, mem, hostbuf, device_offset=0, wait_for=None, is_blocking=True):
    """The older name of a copy to the host."""
    return enqueue_copy(queue, hostbuf, mem, src_offset=device_offset, wait_for=wait_for, is_blocking=is_blocking)


def enqueue_write_buffer(queue, mem, hostbuf, device_offset=0, wait_for=None, is_blocking=True):
    """The older name of a copy from the host."""
    return enqueue_copy(queue, mem, hostbuf, dst_offset=device_offset, wait_for=wait_for, is_blocking=is_blocking)


def enqueue_copy_buffer(queue, src, dst, byte_count=-1, src_offset=0, dst_offset=0, wait_for=None):
    """The older name of a copy between buffers."""
    size = {} if byte_count == -1 else {"byte_count": byte_count}
    return enqueue_copy(queue, dst, src, src_offset=src_offset, dst_offset=dst_offset, wait_for=wait_for, **size)
