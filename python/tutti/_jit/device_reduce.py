"""cuda.reduce on a device: blocks fold their part of an array in shared memory, then one block folds what they left.

The order depends on the length alone, so the same elements give the same bits each time. As in Numba, the function
must not mind in which order it gets them.
"""

from .. import _core
from . import cuda_memory as memory
from . import cuda_words as cuda
from .cuda_kernels import DeviceFunction, Kernel
from .elementwise import _dtype_of, _need_numpy, _suffix

_THREADS, _BLOCKS = 256, 1024


def _kernel(fn, kind):
    """fold(x, out): what block b makes of its elements of x goes to out[b]."""
    each = DeviceFunction(fn, 0)
    threads = _THREADS

    def fold(x, out):
        part = cuda.shared.array(threads, kind)
        t = cuda.threadIdx.x
        i = cuda.blockIdx.x * threads + t
        live = min(threads, x.size - cuda.blockIdx.x * threads)
        if i < x.size:
            total = x[i]
            i += cuda.gridDim.x * threads
            while i < x.size:
                total = each(total, x[i])
                i += cuda.gridDim.x * threads
            part[t] = total
        cuda.syncthreads()
        while live > 1:
            half = (live + 1) // 2
            if t + half < live:
                part[t] = each(part[t], part[t + half])
            cuda.syncthreads()
            live = half
        if t == 0:
            out[cuda.blockIdx.x] = part[0]

    return Kernel(fold, 0)


def _begin(fn):
    """first(out, init): the value to begin with comes before what the blocks left."""
    each = DeviceFunction(fn, 0)

    def first(out, init):
        out[0] = each(init, out[0])

    return Kernel(first, 0)


class Fold:
    """A function of two values over an array of one axis, where kernels run."""

    def __init__(self, fn):
        self._fn, self._kernels, self._begin = fn, {}, _begin(fn)
        self._scalar = DeviceFunction(fn, 0)

    def __call__(self, array, init=None, stream=0):
        """An array of one element there; `array`: of the device or the host, with elements."""
        np = _need_numpy()
        kind = self._kind(np, array.dtype)
        if kind not in self._kernels:
            self._kernels[kind] = _kernel(self._fn, kind)
        fold, blocks = self._kernels[kind], min(-(-array.size // _THREADS), _BLOCKS)
        parts = memory.device_array(blocks, kind)
        fold[blocks, _THREADS, stream](array, parts)
        out = parts
        if blocks > 1:
            out = memory.device_array(1, kind)
            fold[1, _THREADS, stream](parts, out)
        if init is not None:
            self._begin[1, 1, stream](out, kind.type(init))
        return out

    def _kind(self, np, dtype):
        """What the function makes of two elements: whole numbers are folded in 64 bits."""
        return _dtype_of(np, self._scalar._compile(",".join([_suffix(dtype)] * 2)))


def sent(array):
    """An array of the host where kernels run; arrays that are there as they are."""
    if memory.is_cuda_array(array):
        return array
    return memory.to_device(array if isinstance(array, _core.ndarray) else _need_numpy().asarray(array))
