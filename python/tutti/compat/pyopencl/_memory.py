"""Memory that kernels see: buffers, parts of them, mapped memory, shared virtual memory."""

import builtins
import warnings

import numpy as np

from ._constants import CLASSES
from ._errors import failure
from ._handle import Handle
from ._managed import Managed, first_byte

_FLAGS = CLASSES["mem_flags"]
_ALIGNED = 128  # bytes: the largest vector of OpenCL C


def blank(size, aligned=_ALIGNED):
    """So many bytes, at a multiple of `aligned`."""
    try:
        memory = np.empty(int(size) + aligned, np.uint8)
    except (builtins.MemoryError, ValueError) as e:
        raise failure("MEM_OBJECT_ALLOCATION_FAILURE", "create_buffer", str(e)) from None
    first = -memory.ctypes.data % aligned
    return memory[first : first + int(size)]


def host_bytes(x, to_write=False):
    """Memory of the host as bytes, in the order in which they lie."""
    array = x if isinstance(x, np.ndarray) else np.asarray(memoryview(x))
    if not (array.flags.c_contiguous or array.flags.f_contiguous):
        raise ValueError("ndarray is not contiguous")
    if to_write and not array.flags.writeable:
        raise BufferError("memory that is only read cannot be written")
    if array.ndim == 0:
        array = array.reshape(1)
    return array.reshape(-1, order="A").view(np.uint8)


class MemoryObjectHolder(Handle):
    """What holds a memory object."""

    _info = "mem_info"
    _root = None  # on a device: the bytes that this is all or a part of

    def _there(self, writes):
        """The bytes as an array on the device, for a kernel."""
        memory = self._memory
        return self._root.there(first_byte(self._root._host, memory), len(memory), writes)


class MemoryObject(MemoryObjectHolder):
    """Memory of a context."""

    _memory = None

    @property
    def _bytes(self):
        return self._seen(True)

    def _seen(self, writes=False):
        """The bytes for the host, which may write them."""
        self._checked()
        if self._root is not None:
            self._root.here(writes)
        return self._memory

    def _checked(self):
        if self._memory is None:
            raise failure("INVALID_MEM_OBJECT", type(self).__name__, "this memory was released already")
        return self._memory

    @property
    def hostbuf(self):
        """The memory of the host that it was made with and uses."""
        return self._host

    def release(self):
        """Give the memory back."""
        self._checked()
        self._memory = None

    def get_host_array(self, shape, dtype, order="C"):
        """An array on the host's memory that the buffer uses."""
        if not self._flags & _FLAGS.USE_HOST_PTR:
            raise failure("INVALID_VALUE", "MemoryObject.get_host_array", "only for buffers of USE_HOST_PTR")
        return shown(self, self._bytes, shape, dtype, order)

    def _of_type(self):
        return CLASSES["mem_object_type"].BUFFER

    def _of_flags(self):
        return self._flags

    def _of_size(self):
        return len(self._checked())

    def _of_host_ptr(self):
        return self._checked().ctypes.data if self._flags & _FLAGS.USE_HOST_PTR else 0

    def _of_map_count(self):
        return self._maps

    def _of_context(self):
        return self._context

    def _of_associated_memobject(self):
        return self._whole

    def _of_offset(self):
        return self._origin

    def _of_uses_svm_pointer(self):
        return 0

    def _of_properties(self):
        return []


def shown(base, memory, shape, dtype, order="C", strides=None):
    """Bytes as an array whose base is an object of ours."""
    shape = (shape,) if isinstance(shape, (int, np.integer)) else tuple(shape)
    like = np.empty(shape, dtype, order)  # never touched: for its strides
    if like.nbytes > len(memory):
        raise failure("INVALID_VALUE", "map", f"{like.nbytes} bytes of {len(memory)}")
    if not like.size:
        return like
    kind, strides = like.dtype, like.strides if strides is None else tuple(strides)
    if sum((n - 1) * s for n, s in zip(shape, strides, strict=True) if s > 0) + kind.itemsize > len(memory):
        raise failure("INVALID_VALUE", "map", "the strides reach beyond the memory")
    base.__array_interface__ = {
        "shape": shape, "typestr": f"|V{kind.itemsize}" if kind.kind == "V" else kind.str, "strides": strides,
        "data": (memory.ctypes.data, not memory.flags.writeable), "version": 3,
    }  # fmt: skip
    if kind.kind == "V":
        base.__array_interface__["descr"] = kind.descr
    try:
        return np.asarray(base)
    finally:
        del base.__array_interface__


class Buffer(MemoryObject):
    """So many bytes, or as many as the host's memory has that is given."""

    def __init__(self, context, flags, size=0, hostbuf=None):
        keeps, copies = flags & _FLAGS.USE_HOST_PTR, flags & _FLAGS.COPY_HOST_PTR
        if hostbuf is not None and not (keeps or copies):
            warnings.warn("'hostbuf' was passed, but no memory flags to make use of it.", stacklevel=2)
        given = host_bytes(hostbuf) if hostbuf is not None and (keeps or copies) else None
        if given is None and (keeps or copies):
            raise failure("INVALID_HOST_PTR", "create_buffer")
        if given is not None and size and size > len(given):
            raise failure("INVALID_VALUE", "Buffer", "specified size is greater than host buffer size")
        size = int(size) or (len(given) if given is not None else 0)
        if size <= 0:
            raise failure("INVALID_BUFFER_SIZE", "create_buffer")
        self._context, self._flags, self._maps = context, int(flags), 0
        self._host, self._whole, self._origin = hostbuf if keeps else None, None, 0
        self._memory = given[:size] if keeps else blank(size)
        device = context._devices[0]
        if device._place:
            self._root = Managed(device._own, self._memory)
            if keeps or copies:
                self._root.put(None if keeps else given[:size])
        elif copies and not keeps:
            self._memory[...] = given[:size]

    @classmethod
    def _on(cls, context, memory, flags=_FLAGS.READ_WRITE, host=None, root=None):
        """A buffer on bytes that are there."""
        self = cls.__new__(cls)
        self._context, self._flags, self._maps, self._memory = context, int(flags), 0, memory
        self._host, self._whole, self._origin, self._root = host, None, 0, root
        return self

    def get_sub_region(self, origin, size, flags=0):
        """A part of the buffer that shares its bytes."""
        memory = self._checked()
        if origin < 0 or size <= 0 or origin + size > len(memory):
            raise failure("INVALID_VALUE", "clCreateSubBuffer", f"{size} bytes at {origin} of {len(memory)}")
        if origin % (self._context.devices[0].mem_base_addr_align // 8):
            raise failure("MISALIGNED_SUB_BUFFER_OFFSET", "clCreateSubBuffer")
        part = memory[origin : origin + size]
        made = Buffer._on(self._context, part, flags or self._flags, self._host, self._root)
        made._whole, made._origin = self, origin
        return made

    def __getitem__(self, index):
        if not isinstance(index, slice):
            raise TypeError("buffer slice must be a slice object")
        start, stop, step = index.indices(len(self._checked()))
        if step != 1:
            raise failure("INVALID_VALUE", "Buffer.__getitem__", "Buffer slice must have stride 1")
        return self.get_sub_region(start, stop - start)


class PooledBuffer(Buffer):
    """Memory of a pool."""


class LocalMemory:
    """Memory that the work items of a group share, as an argument of a kernel."""

    def __init__(self, size):
        self.size = int(size)


# ---- mapped memory


class MemoryMap:
    """Memory that was mapped: the base of the array, to release or to use by `with`."""

    def __init__(self, of, queue):
        self._of, self._queue = of, queue
        self._count(1)

    def _count(self, more):
        self._of._maps += more
        if self._of._root is not None:
            if more < 0:
                self._of._root.here(True)  # the host may have written
            self._of._root.maps += more

    def release(self, queue=None, wait_for=None):
        """The array is not to be used any more."""
        if self._of is None:
            raise failure("INVALID_VALUE", "MemoryMap.release", "it was released already")
        self._count(-1)
        self._of = None
        return (queue or self._queue)._do("UNMAP_MEM_OBJECT", lambda: None, wait_for)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.release()

    def __del__(self):
        if self._of is not None:
            self._count(-1)


def enqueue_map_buffer(
    queue, buf, flags, offset, shape, dtype, order="C", strides=None, wait_for=None, is_blocking=True
):
    """An array on the buffer's bytes, and the command's event. Its base is a MemoryMap."""
    memory = buf._seen(True)
    part = memory[offset:]
    if offset < 0 or offset >= len(memory):
        raise failure("INVALID_VALUE", "enqueue_map_buffer")
    base = MemoryMap(buf, queue)
    array = shown(base, part, shape, dtype, order, strides)
    base._keeps = part
    return array, queue._do("MAP_BUFFER", lambda: None, wait_for)


# ---- shared virtual memory: the processor's memory is the host's


class SVMPointer:
    """Memory at one address for the host and for kernels."""

    @property
    def buf(self):
        """Its bytes."""
        return self._bytes

    @property
    def svm_ptr(self):
        """The address."""
        return self._bytes.ctypes.data

    @property
    def size(self):
        """How many bytes."""
        return len(self._bytes)

    def _map_of(self, queue, wait_for):
        return SVMMap(self, self._shown(), queue, queue._do("SVM_MAP", lambda: None, wait_for))

    def map(self, queue, *, flags, is_blocking=True, wait_for=None, size=None):
        """The memory as an array of the host, for `with`."""
        return self._map_of(queue, wait_for)

    def map_ro(self, queue, *, is_blocking=True, wait_for=None, size=None):
        """The same, to read."""
        return self._map_of(queue, wait_for)

    def map_rw(self, queue, *, is_blocking=True, wait_for=None, size=None):
        """The same, to read and write."""
        return self._map_of(queue, wait_for)

    def as_buffer(self, ctx, *, flags=None, size=None):
        """A buffer on the memory."""
        flags = _FLAGS.READ_WRITE | _FLAGS.USE_HOST_PTR if flags is None else flags
        return Buffer._on(ctx, self._bytes[:size], flags, self)


class SVM(SVMPointer):
    """Memory of the host, as an argument of kernels and copies."""

    def __init__(self, mem):
        self.mem = mem

    @property
    def _bytes(self):
        return host_bytes(self.mem)

    def _shown(self):
        return self.mem


class SVMAllocation(SVMPointer):
    """So many bytes of such memory."""

    def __init__(self, ctx, size, alignment, flags, queue=None, **_keywords):
        self._context, self._queue = ctx, queue
        self._memory = blank(size, max(int(alignment or 0), _ALIGNED)) if size else np.empty(0, np.uint8)

    @property
    def _bytes(self):
        if self._memory is None:
            raise failure("INVALID_VALUE", "SVMAllocation", "this memory was released already")
        return self._memory

    def _shown(self):
        return self._bytes

    def release(self):
        """Give the memory back."""
        self._bytes  # noqa: B018 (only once)
        self._memory = None

    def enqueue_release(self, queue=None, wait_for=None):
        """Give the memory back in the queue's order."""
        return (queue or self._queue)._do("SVM_FREE", self.release, wait_for)

    def bind_to_queue(self, queue):
        """Memory is given back in this queue's order."""
        self._queue = queue

    def unbind_from_queue(self):
        """Memory is given back at once."""
        if self._queue is not None:
            self._queue.finish()
        self._queue = None

    def __eq__(self, other):
        return isinstance(other, SVMAllocation) and self.svm_ptr == other.svm_ptr

    def __hash__(self):
        return hash(id(self))


class PooledSVM(SVMAllocation):
    """Shared virtual memory of a pool."""


class SVMMap:
    """Mapped shared virtual memory: `with svm.map_rw(queue) as array`."""

    def __init__(self, svm, array, queue, event):
        self.svm, self.array, self.queue, self.event = svm, array, queue, event

    def release(self, queue=None, wait_for=None):
        """The array is not to be used by the host any more."""
        self.svm = None
        return (queue or self.queue)._do("SVM_UNMAP", lambda: None, wait_for)

    def __enter__(self):
        return self.array

    def __exit__(self, *error):
        self.release()


def svm_empty(ctx, flags, shape, dtype, order="C", alignment=None, queue=None):
    """A new array in shared virtual memory, whose base is an SVMAllocation."""
    shape = (shape,) if isinstance(shape, (int, np.integer)) else tuple(shape)
    kind = np.dtype(dtype)
    size = int(np.prod(shape, dtype=np.int64)) * kind.itemsize
    base = SVMAllocation(ctx, size, alignment or kind.itemsize, flags, queue)
    return shown(base, base._bytes, shape, kind, order)


def svm_empty_like(ctx, flags, ary, alignment=None):
    """The same, like another array."""
    if not (ary.flags.c_contiguous or ary.flags.f_contiguous):
        raise ValueError("array is neither C- nor Fortran-contiguous")
    return svm_empty(ctx, flags, ary.shape, ary.dtype, "C" if ary.flags.c_contiguous else "F", alignment)


_SVM_FLAGS = CLASSES["svm_mem_flags"]


def csvm_empty(ctx, shape, dtype, order="C", alignment=None, queue=None):
    """svm_empty of memory that the host maps before it uses it."""
    return svm_empty(ctx, _SVM_FLAGS.READ_WRITE, shape, dtype, order, alignment, queue)


def csvm_empty_like(ctx, ary, alignment=None):
    """The same, like another array."""
    return svm_empty_like(ctx, _SVM_FLAGS.READ_WRITE, ary, alignment)


def fsvm_empty(ctx, shape, dtype, order="C", alignment=None, queue=None):
    """svm_empty of memory that the host uses as it is."""
    flags = _SVM_FLAGS.READ_WRITE | _SVM_FLAGS.SVM_FINE_GRAIN_BUFFER
    return svm_empty(ctx, flags, shape, dtype, order, alignment, queue)


def fsvm_empty_like(ctx, ary, alignment=None):
    """The same, like another array."""
    return svm_empty_like(ctx, _SVM_FLAGS.READ_WRITE | _SVM_FLAGS.SVM_FINE_GRAIN_BUFFER, ary, alignment)
