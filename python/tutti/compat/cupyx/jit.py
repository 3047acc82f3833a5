"""cupyx.jit: kernels in Python, with CuPy's words and way to launch."""

import builtins as _builtins

from ..._jit import cuda_kernels as _kernels
from ..._jit import cuda_words as _words
from ..._jit.cuda_words import (
    blockDim,
    blockIdx,
    grid,
    gridDim,
    gridsize,
    laneid,
    shfl_down_sync,
    shfl_sync,
    shfl_up_sync,
    shfl_xor_sync,
    syncthreads,
    syncwarp,
    threadIdx,
    warpsize,
)  # fmt: skip
from ._thrust import thrust

range = _builtins.range  # noqa: A001 (CuPy's name)
atomic_add, atomic_sub, atomic_max, atomic_min, atomic_and, atomic_or, atomic_xor, atomic_exch, atomic_cas = (
    _words.atomic._parts[word] for word in ("add", "sub", "max", "min", "and_", "or_", "xor", "exch", "cas")
)
atomic_inc, atomic_dec = (_words.atomic._parts[word] for word in ("inc", "dec"))


class _SharedMemory(_words.Word):
    """shared_memory(dtype, size): memory of the block."""

    _jit_backwards = True  # our words say the shape first

    def __call__(self, dtype, size):
        return super().__call__(size, dtype)


shared_memory = _SharedMemory("cuda.shared.array")


class _RawKernel(_kernels.Kernel):
    """A kernel: kernel(grid, block, arguments) or kernel[grid, block](arguments...)."""

    def __call__(self, *args, **names):
        if _words.running() is not None:
            return self.py_func(*args, **names)
        return self._start(*args, **names)

    @property
    def cached_codes(self):
        """The CUDA C++ texts by argument types."""
        return self.inspect_cuda()

    @property
    def cached_code(self):
        """The CUDA C++ text, where there is one."""
        texts = list(self.cached_codes.values())
        if len(set(texts)) > 1:
            import warnings

            warnings.warn("The kernel has several texts: see cached_codes.", RuntimeWarning, stacklevel=2)
        return texts[0]

    def _start(self, grid, block, args, shared_mem=0, stream=None):
        self.configure(grid, block, stream or 0, shared_mem)(*args)


def rawkernel(*, mode="cuda", device=False):
    """A decorator that makes a kernel of a function; device=True: a function that kernels call."""
    return lambda f: _kernels.DeviceFunction(f, 0) if device else _RawKernel(f, 0)


__all__ = [
    "atomic_add", "atomic_and", "atomic_cas", "atomic_dec", "atomic_exch", "atomic_inc", "atomic_max", "atomic_min",
    "atomic_or", "atomic_sub", "atomic_xor", "blockDim", "blockIdx", "grid", "gridDim", "gridsize", "laneid", "range",
    "rawkernel", "shared_memory", "shfl_down_sync", "shfl_sync", "shfl_up_sync", "shfl_xor_sync", "syncthreads",
    "syncwarp", "threadIdx", "thrust", "warpsize",
]  # fmt: skip


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.cupyx does not cover cupyx.jit.{name}")
