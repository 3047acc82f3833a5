"""The names of Numba's CUDA dialect: @cuda.jit, what kernels say, and memory of a device.

tutti/cuda takes them in. Without a GPU the device is the CPU: device arrays lie in its memory, kernels run on its
cores, and a launch has ended when it returns.
"""

import sys
import warnings

from .. import _core
from .._device import checked
from .dispatch import CHECK, KERNEL, Compiled, _numpy

__all__ = [
    "In", "InOut", "Out", "Reduce", "activemask", "all_sync", "any_sync", "as_cuda_array", "atomic", "ballot_sync",
    "blockDim", "blockIdx", "brev", "cbrt", "cg", "clz", "const", "device_array", "device_array_like", "eq_sync", "ffs",
    "fma", "from_cuda_array_interface", "grid", "gridDim", "gridsize", "is_cuda_array", "jit", "laneid", "lanemask_lt",
    "local", "managed_array", "mapped", "mapped_array", "mapped_array_like", "match_all_sync", "match_any_sync",
    "nanosleep", "pinned", "pinned_array_like", "popc", "reduce", "selp", "shared", "shfl_down_sync", "shfl_sync",
    "shfl_up_sync", "shfl_xor_sync", "syncthreads", "syncthreads_and", "syncthreads_count", "syncthreads_or",
    "syncwarp", "threadIdx", "threadfence", "threadfence_block", "threadfence_system", "to_device", "warpsize",
]  # fmt: skip


# ---- words of kernels: they mean something inside one only (step.py gives them meaning thread by thread)


class Word:
    """A name that compiled kernels know."""

    def __init__(self, name, parts=(), doc=""):
        self._jit_name = name
        self._parts = {p: Word(f"{name}.{p}") for p in parts}
        self.__doc__ = doc

    def __getattr__(self, part):
        if part.startswith("_"):
            raise AttributeError(part)
        parts = self.__dict__.get("_parts", {})
        if part in parts:
            thread = _running()
            return parts[part] if thread is None else thread.value(parts[part]._jit_name)
        raise AttributeError(f"{self._jit_name} has no '{part}'")

    def __call__(self, *args, **names):
        thread = _running()
        if thread is None:
            raise RuntimeError(f"{self._jit_name}() means something inside a kernel only")
        return thread.call(self._jit_name, args, names)

    def __repr__(self):
        return f"<{self._jit_name}, a word of kernels>"


class _Lane(Word):
    """A word that is a number itself."""

    def _now(self):
        thread = _running()
        if thread is None:
            raise RuntimeError(f"{self._jit_name} means something inside a kernel only")
        return thread.do_laneid()

    __index__ = __int__ = lambda self: self._now()
    __hash__ = object.__hash__
    __eq__ = lambda self, x: self._now() == x  # noqa: E731
    __ne__ = lambda self, x: self._now() != x  # noqa: E731
    __lt__ = lambda self, x: self._now() < x  # noqa: E731
    __le__ = lambda self, x: self._now() <= x  # noqa: E731
    __gt__ = lambda self, x: self._now() > x  # noqa: E731
    __ge__ = lambda self, x: self._now() >= x  # noqa: E731
    __add__ = __radd__ = lambda self, x: self._now() + x
    __sub__ = lambda self, x: self._now() - x  # noqa: E731
    __mul__ = __rmul__ = lambda self, x: self._now() * x
    __mod__ = lambda self, x: self._now() % x  # noqa: E731
    __floordiv__ = lambda self, x: self._now() // x  # noqa: E731
    __and__ = lambda self, x: self._now() & x  # noqa: E731
    __xor__ = lambda self, x: self._now() ^ x  # noqa: E731


def _running():
    """The kernel's thread that this Python thread runs, in step mode."""
    from . import step

    return step.current()


threadIdx = Word("cuda.threadIdx", "xyz", "the thread's place in its block")
blockIdx = Word("cuda.blockIdx", "xyz", "the block's place in the grid")
blockDim = Word("cuda.blockDim", "xyz", "threads of a block along each axis")
gridDim = Word("cuda.gridDim", "xyz", "blocks of the grid along each axis")
grid = Word("cuda.grid", doc="grid(n): the thread's place in the whole grid, n axes")
gridsize = Word("cuda.gridsize", doc="gridsize(n): threads of the whole grid along each axis")
syncthreads = Word("cuda.syncthreads", doc="wait for all threads of the block")
syncthreads_count = Word("cuda.syncthreads_count", doc="barrier; how many threads gave a true value")
syncthreads_and = Word("cuda.syncthreads_and", doc="barrier; did all threads give a true value?")
syncthreads_or = Word("cuda.syncthreads_or", doc="barrier; did any thread give a true value?")
syncwarp = Word("cuda.syncwarp", doc="wait for the threads of the warp")
shfl_sync = Word("cuda.shfl_sync", doc="shfl_sync(mask, value, lane): that lane's value")
shfl_up_sync = Word("cuda.shfl_up_sync", doc="the value of the lane `delta` below")
shfl_down_sync = Word("cuda.shfl_down_sync", doc="the value of the lane `delta` above")
shfl_xor_sync = Word("cuda.shfl_xor_sync", doc="the value of the lane with these bits turned")
ballot_sync = Word("cuda.ballot_sync", doc="a bit for each lane whose value is true")
any_sync = Word("cuda.any_sync", doc="did any lane give a true value?")
all_sync = Word("cuda.all_sync", doc="did all lanes give a true value?")
eq_sync = Word("cuda.eq_sync", doc="did all lanes give the same truth?")
match_any_sync = Word("cuda.match_any_sync", doc="match_any_sync(mask, value): a bit for each lane with that value")
match_all_sync = Word("cuda.match_all_sync", doc="(bits of the lanes, True) if all have that value, else (0, False)")
activemask = Word("cuda.activemask", doc="a bit for each lane that is here")
lanemask_lt = Word("cuda.lanemask_lt", doc="a bit for each lane below this one")
nanosleep = Word("cuda.nanosleep", doc="a hint that this thread waits for others")
laneid = _Lane("cuda.laneid", doc="the thread's place in its warp")
threadfence = Word("cuda.threadfence", doc="writes before are seen before writes after")
threadfence_block = Word("cuda.threadfence_block", doc=threadfence.__doc__)
threadfence_system = Word("cuda.threadfence_system", doc=threadfence.__doc__)
popc = Word("cuda.popc", doc="how many bits are set")
clz = Word("cuda.clz", doc="how many leading bits are clear")
ffs = Word("cuda.ffs", doc="the place of the lowest set bit, from 1; 0 when none is")
fma = Word("cuda.fma", doc="a * b + c, rounded once")
brev = Word("cuda.brev", doc="the bits in reverse order")
cbrt = Word("cuda.cbrt", doc="the cube root")
selp = Word("cuda.selp", doc="selp(condition, a, b): a where it holds, else b; both are computed")
shared = Word("cuda.shared", ["array"], "shared.array(shape, dtype): memory of the block")
local = Word("cuda.local", ["array"], "local.array(shape, dtype): memory of the thread")
cg = Word("cuda.cg", ["this_grid"], "cg.this_grid().sync(): wait for all threads of the grid")
const = Word("cuda.const", ["array_like"], "const.array_like(array): memory that never changes")
atomic = Word(
    "cuda.atomic",
    [
        "add",
        "sub",
        "max",
        "min",
        "nanmax",
        "nanmin",
        "and_",
        "or_",
        "xor",
        "exch",
        "cas",
        "compare_and_swap",
        "inc",
        "dec",
    ],
    "atomic.add(array, index, value) and its kin: undivided; each gives the old value",
)
warpsize = 32


# ---- where kernels run


def _gpus():
    """The numbers of the GPUs that kernels may run on; none while they are checked, which the CPU does."""
    global _there
    if _there is None:
        _there = [] if checked() else [number for number, name in _core._devices() if name.startswith("cuda:")]
    return _there


def _gpu():
    """The number of the GPU that this thread's kernels run on: the one it works on, or the first; 0: the CPU."""
    there = _gpus()
    if not there:
        return 0
    chosen = _core._get_device()
    return there[0] if chosen < 0 else chosen if chosen in there else 0


_there = None


_printing = False


def _flush():
    """What a GPU's kernels have printed lies in C's buffer: let it out."""
    global _printing
    if _printing:
        import ctypes

        ctypes.CDLL(None).fflush(None)
        _printing = False


# ---- kernels


class DeviceFunction(Compiled):
    """A function that kernels call."""

    def __call__(self, *args, **names):
        if _running() is not None:
            return self.py_func(*args, **names)
        raise TypeError(f"{self.__name__} is a device function: kernels call it")


class Kernel(Compiled):
    """A kernel: kernel[grid, block, stream, shared](arguments...)."""

    def __init__(self, fn, flags):
        super().__init__(fn, flags | KERNEL)

    _last = None, None  # what stood between the brackets, and the launch that it gave
    _in_steps = 0  # launches in Python

    @property
    def launches(self):
        """How often it was launched."""
        return self._launched()[0] + self._in_steps

    @property
    def places(self):
        """Where: numbers of devices, 0 for the CPU, -1 in Python."""
        return {*self._launched()[1], *([-1] if self._in_steps else [])}

    def _step_function(self):
        """What each thread runs in Python."""
        return self.py_func

    def __getitem__(self, shape):
        if shape == self._last[0]:
            return self._last[1]
        if not isinstance(shape, tuple) or not 2 <= len(shape) <= 4:
            raise ValueError("a kernel needs kernel[grid, block] or kernel[grid, block, stream, shared]")
        made = self.configure(*shape)
        if not isinstance(made, _InSteps):
            self._last = shape, made
        return made

    def configure(self, griddim, blockdim, stream=0, sharedmem=0):
        """kernel[griddim, blockdim, ...] as a call; blockdim=None: griddim threads in blocks that suit."""
        from . import step

        if step.wanted():
            whole = blockdim is None
            return _InSteps(self, -(-griddim // 128) if whole else griddim, 128 if whole else blockdim, sharedmem)
        here = bool(self._flags & CHECK)  # assertions come back to Python from the CPU only
        there = [] if here else _gpus()
        on_cpu = here or checked()
        made = self._at(griddim, blockdim, _stream_of(stream), sharedmem, there[0] if there else 0, on_cpu)
        return _Printing(made) if there and "print" in self.py_func.__code__.co_names else made

    def __call__(self, *args, **names):
        if _running() is not None:
            return self.py_func(*args, **names)
        raise ValueError(f"{self.__name__} is a kernel: launch it as {self.__name__}[grid, block](...)")

    def forall(self, n, tpb=0, stream=0, sharedmem=0):
        """A launch of at least n threads, one axis; the block's size is chosen."""
        if n < 0:
            raise ValueError("forall() of a negative number of threads")
        if n == 0:
            return _nothing
        return self[-(-n // tpb), tpb, stream, sharedmem] if tpb else self.configure(n, None, stream, sharedmem)

    def inspect_cuda(self, signature=None):
        """The CUDA C++ text by argument types."""
        rows = {types: self._cuda(types) for types in self.signatures}
        return rows if signature is None else rows[signature]

    def _number(self, which, signature):
        rows = {row[0]: row[which] for row in self._specials()}
        return rows if signature is None else rows[signature]

    def get_shared_mem_per_block(self, signature=None):
        """Bytes of static shared memory by argument types."""
        return self._number(5, signature)

    def get_local_mem_per_thread(self, signature=None):
        """Bytes of private arrays of a thread by argument types."""
        return self._number(6, signature)

    def get_const_mem_size(self, signature=None):
        """Bytes of constant memory by argument types: constant arrays are read through the caches of global memory."""
        return 0 if signature is not None else dict.fromkeys(self.signatures, 0)

    def get_max_threads_per_block(self, signature=None):
        """The most threads that a block may have, by argument types."""
        return 1024 if signature is not None else dict.fromkeys(self.signatures, 1024)

    def specialize(self, *args):
        """Compile for the types of these arguments now."""
        self._compile(self._types(args))
        return self

    @property
    def overloads(self):
        """What is known of the code by argument types: overloads[types].shared_mem_per_block and the like."""
        return _Overloads(self)

    def __getattr__(self, name):
        """What Numba tells of machine code that is not made here."""
        if name == "get_regs_per_thread":
            raise AttributeError("tutti does not tell how many registers a kernel takes")
        if name in ("inspect_asm", "inspect_llvm", "inspect_sass", "inspect_ptx"):
            raise AttributeError(f"tutti's kernels have no {name}(): see inspect_source() and inspect_cuda()")
        raise AttributeError(f"a kernel has no '{name}'")

    def _step(self, why, launch):
        from . import step

        grid, block, shared, args = launch
        warnings.warn(f"{self.__name__} runs in Python, one thread at a time: {why}", RuntimeWarning, stacklevel=2)
        step.launch(self._step_function(), grid, block, shared, args)

    def __repr__(self):
        return f"<kernel {self.__name__}>"


class _Overload:
    """A kernel's code for one list of argument types."""

    def __init__(self, kernel, signature):
        self.kernel, self.signature = kernel, signature

    max_threads_per_block = 1024
    const_mem_size = 0
    shared_mem_per_block = property(lambda self: self.kernel.get_shared_mem_per_block(self.signature))
    local_mem_per_thread = property(lambda self: self.kernel.get_local_mem_per_thread(self.signature))

    def max_cooperative_grid_blocks(self, blockdim, dynsmemsize=0):
        """How many blocks of a grid may wait for each other."""
        known, threads = self.kernel.signatures, 1
        for n in blockdim if isinstance(blockdim, tuple) else (blockdim,):
            threads *= n
        if known:
            return self.kernel._at_once(self.signature or known[0], _gpu(), threads, dynsmemsize)
        if not _gpu():
            return 2147483647  # the CPU runs the whole grid as one block
        from .cuda_devices import get_current_device

        # Not compiled yet: as many as fit whatever registers it will take, 255 a thread at most.
        return get_current_device().MULTIPROCESSOR_COUNT * max(1, 256 // max(32, threads))


class _Overloads:
    """By argument types as this kernel's `signatures` name them; any other key means the only code there is."""

    def __init__(self, kernel):
        self.kernel = kernel

    def __getitem__(self, signature):
        known = self.kernel.signatures
        if signature in known:
            return _Overload(self.kernel, signature)
        return _Overload(self.kernel, known[0] if len(known) == 1 else None)

    def keys(self):
        return self.kernel.signatures

    __iter__ = lambda self: iter(self.kernel.signatures)  # noqa: E731
    __len__ = lambda self: len(self.kernel.signatures)  # noqa: E731

    def values(self):
        return [self[s] for s in self.kernel.signatures]

    def items(self):
        return [(s, self[s]) for s in self.kernel.signatures]


def _nothing(*args):
    """A launch of no threads."""


class _InSteps:
    """A launch that runs in Python, one thread at a time."""

    def __init__(self, kernel, grid, block, shared):
        self.kernel, self.grid, self.block, self.shared = kernel, grid, block, shared

    def __call__(self, *args):
        from . import step

        self.kernel._in_steps += 1
        step.launch(self.kernel._step_function(), self.grid, self.block, self.shared, args)


class _Printing:
    """A launch where there is a GPU of a kernel that prints: what was printed before stands before."""

    def __init__(self, launch):
        self.launch = launch

    def __call__(self, *args):
        global _printing
        _printing = True
        sys.stdout.flush()
        self.launch(*args)


def _stream_of(stream):
    from ..kernel import _stream

    return _stream(None if isinstance(stream, int) else stream)


def jit(fn=None, *args, device=False, debug=False, fastmath=False, **options):
    """A kernel from a Python function, compiled for the types of its arguments when they first appear.

    device=True: a function that kernels call. debug=True: assertions in the kernel hold.
    """
    if fastmath:
        warnings.warn("fastmath is ignored: results stay those of IEEE arithmetic", RuntimeWarning, stacklevel=2)
    if options.get("link"):
        raise NotImplementedError("cuda.jit(link=...): CUDA C is not linked into Python kernels; see tt.SourceModule")
    make = DeviceFunction if device else Kernel
    flags = CHECK if debug else 0
    if callable(fn) and hasattr(fn, "__code__"):
        return make(fn, flags)
    return lambda f: make(f, flags)


class Reduce:
    """A function of two values becomes a reduction over an array: sum_reduce = cuda.reduce(lambda a, b: a + b).

    On a GPU the elements come in another order than their own, the same each time.
    """

    def __init__(self, fn):
        self.fn = Compiled(fn, 0)
        self._loop = self._fold = None

    def __call__(self, arr, size=None, res=None, init=0, stream=0):
        """The value; `res`: an array whose first element gets it instead. `size`: of so many elements."""
        if len(arr.shape) != 1:
            raise TypeError("cuda.reduce() folds arrays of one axis")
        if _gpu() and arr.shape[0] and size != 0:
            return self._there(arr, size, res, init, stream)
        total = self._here(arr, size, init)
        if res is None:
            return total
        res[0] = total
        return None

    def _here(self, arr, size, init):
        np = _need_numpy()
        if self._loop is None:
            fn = self.fn

            def fold(x, total):
                for i in range(x.size):
                    total = fn(total, x[i])
                return total

            self._loop = Compiled(fold, 0)
        array = np.asarray(getattr(arr, "_jit_argument", arr))
        array = array if size is None else array[:size]
        return self._loop(array, array.dtype.type(init))

    def _there(self, arr, size, res, init, stream):
        from .device_reduce import Fold, sent

        if self._fold is None:
            self._fold = Fold(self.fn.py_func)
        array = sent(arr)
        out = self._fold(array if size is None else array[:size], init, stream)
        if res is None:
            return out[0].item()
        if isinstance(res, _core.ndarray):
            res[:1] = out._jit_argument
        else:
            res[:1] = out if is_cuda_array(res) else out.copy_to_host()
        return None


reduce = Reduce


# ---- arguments of a launch: which way host arrays go


class In:
    """cuda.In(array): the kernel has the elements, the host does not see what it writes."""

    def __init__(self, value):
        self.value = value
        self._jit_argument = value if is_cuda_array(value) else _new_device_array_of(value)

    shape = property(lambda self: self.value.shape)
    dtype = property(lambda self: self.value.dtype)


class InOut:
    """cuda.InOut(array): the kernel has the elements and the host has what it writes, as without a word."""

    def __init__(self, value):
        self.value = self._jit_argument = value

    shape = property(lambda self: self.value.shape)
    dtype = property(lambda self: self.value.dtype)


class Out(InOut):
    """cuda.Out(array): the host has what the kernel writes."""


# ---- memory of the device


def _need_numpy():
    np = _numpy()
    if np is None:
        import numpy as np
    return np


class DeviceArray:
    """An array in the device's memory."""

    def __init__(self, array):
        self._jit_argument = array

    shape = property(lambda self: self._jit_argument.shape)
    dtype = property(lambda self: self._jit_argument.dtype)
    size = property(lambda self: self._jit_argument.size)
    ndim = property(lambda self: self._jit_argument.ndim)
    strides = property(lambda self: self._jit_argument.strides)
    nbytes = alloc_size = property(lambda self: self._jit_argument.nbytes)
    T = property(lambda self: DeviceArray(self._jit_argument.T))

    def __len__(self):
        return len(self._jit_argument)

    def __array__(self, dtype=None, copy=None):
        return self._jit_argument.astype(dtype) if dtype is not None else self._jit_argument.copy()

    def __getitem__(self, index):
        part = self._jit_argument[index]
        return DeviceArray(part) if getattr(part, "ndim", 0) else part

    def __setitem__(self, index, value):
        self._jit_argument[index] = getattr(value, "_jit_argument", value)

    def copy_to_host(self, ary=None, stream=0):
        """The elements in host memory: a new array, or `ary`."""
        if ary is None:
            return self._jit_argument.copy()
        ary[...] = self._jit_argument.reshape(ary.shape)
        return ary

    def copy_to_device(self, ary, stream=0):
        """Take the elements of `ary`."""
        other = getattr(ary, "_jit_argument", ary)
        if getattr(other, "shape", self.shape) != self.shape:
            raise ValueError(f"an array of shape {other.shape} does not fit one of shape {self.shape}")
        self._jit_argument[...] = other

    def reshape(self, *shape, **options):
        return DeviceArray(self._jit_argument.reshape(*shape, **options))

    def ravel(self, order="C", stream=0):
        return DeviceArray(self._jit_argument.ravel(order))

    def view(self, dtype):
        return DeviceArray(self._jit_argument.view(dtype))

    def is_c_contiguous(self):
        return self._jit_argument.flags.c_contiguous

    def is_f_contiguous(self):
        return self._jit_argument.flags.f_contiguous

    def __repr__(self):
        return f"<device array of shape {self.shape}, {self.dtype}>"


class GpuArray(DeviceArray):
    """An array in a GPU's memory: one of ours, put there. Others see it through __cuda_array_interface__."""

    def __init__(self, array):
        from .._hooks import _numpy_dtype

        self._jit_argument, self.dtype = array, _numpy_dtype(array.dtype)

    dtype = None
    __cuda_array_interface__ = property(lambda self: self._jit_argument.__cuda_array_interface__)
    T = property(lambda self: GpuArray(self._jit_argument.T))

    def copy_to_host(self, ary=None, stream=0):
        """The elements in host memory: a new array, or `ary`."""
        np = _need_numpy()
        fits = ary is not None and ary.dtype == self.dtype and ary.size == self.size and ary.flags.c_contiguous
        made = ary if fits and ary.flags.writeable else np.empty(self.shape, self.dtype)
        if self.size:
            _core._read(self._jit_argument, made.reshape(-1).view("u1"))
        if ary is None:
            return made
        if made is not ary:
            ary[...] = made.reshape(ary.shape)
        return ary

    def copy_to_device(self, ary, stream=0):
        """Take the elements of `ary`."""
        self[...] = ary

    def __getitem__(self, index):
        part = self._jit_argument[index]
        return GpuArray(part) if part.ndim else GpuArray(part).copy_to_host()[()]

    def __setitem__(self, index, value):
        if isinstance(value, GpuArray):
            value = value._jit_argument
        else:
            value = _tutti().array(_need_numpy().asarray(value).astype(self.dtype), device=self._jit_argument.device)
        self._jit_argument[index] = value

    def reshape(self, *shape, **options):
        """The same memory with other axes."""
        if not self.is_c_contiguous():
            raise ValueError("only dense arrays of a GPU are reshaped")
        return GpuArray(self._jit_argument.reshape(*shape))

    def ravel(self, order="C", stream=0):
        return self.reshape(self.size)

    def __array__(self, dtype=None, copy=None):
        made = self.copy_to_host()
        return made if dtype is None else made.astype(dtype)

    def __repr__(self):
        return f"<array of shape {self.shape}, {self.dtype} on a GPU>"


def _tutti():
    import tutti

    return tutti


def _on_gpu(make, *args, **names):
    from .._device import numbered

    return GpuArray(getattr(_tutti(), make)(*args, device=numbered(_gpu()), **names))


class ForeignArray:
    """Another library's array in a GPU's memory: kernels use it in place, by its address."""

    def __init__(self, shape, dtype, base, at, strides=None):
        np = _need_numpy()
        self.shape, self.dtype = shape, np.dtype(dtype)
        self.ndim, self.size = len(shape), int(np.prod(shape, dtype=np.int64))
        self.nbytes = self.alloc_size = self.size * self.dtype.itemsize
        dense, step = [], self.dtype.itemsize
        for n in reversed(shape):
            dense.insert(0, step)
            step *= n
        self.strides = tuple(dense) if strides is None else strides
        self.base, self.device, self.at = base, _gpu(), at
        self.__cuda_array_interface__ = {
            "shape": shape,
            "typestr": self.dtype.str,
            "data": (self.at, False),
            "strides": None if self.strides == tuple(dense) else self.strides,
            "version": 3,
        }

    def __len__(self):
        return self.shape[0]

    def is_c_contiguous(self):
        return self.__cuda_array_interface__["strides"] is None

    def copy_to_host(self, ary=None, stream=0):
        """The elements in host memory: a new array, or `ary`."""
        np = _need_numpy()
        made = np.empty(self.shape, self.dtype)
        if not self.is_c_contiguous():
            whole = self.base
            host = whole.copy_to_host()
            made[...] = np.ndarray(
                self.shape, self.dtype, host.reshape(-1).view("u1"), self.at - whole.at, self.strides
            )
        elif self.nbytes:
            _core._memory_copy(self.device, self.at, made.reshape(-1).view("u1"), True)
        if ary is None:
            return made
        ary[...] = made.reshape(ary.shape)
        return ary

    def copy_to_device(self, ary, stream=0):
        """Take the elements of `ary`."""
        np = _need_numpy()
        if hasattr(ary, "copy_to_host"):
            ary = ary.copy_to_host()
        host = np.ascontiguousarray(np.broadcast_to(ary, self.shape), self.dtype)
        if self.is_c_contiguous():
            if self.nbytes:
                _core._memory_copy(self.device, self.at, host.reshape(-1).view("u1"), False)
            return
        whole = self.base.copy_to_host()
        np.ndarray(self.shape, self.dtype, whole.reshape(-1).view("u1"), self.at - self.base.at, self.strides)[...] = (
            host
        )
        self.base.copy_to_device(whole)

    def _part(self, index):
        """Where a[index] lies, and whether it is one element: nothing is read."""
        index = index if isinstance(index, tuple) else (index,)
        if Ellipsis in index:
            k = index.index(Ellipsis)
            index = index[:k] + (slice(None),) * (self.ndim - len(index) + 1) + index[k + 1 :]
        if len(index) > self.ndim:
            raise IndexError(f"{len(index)} indices for an array of {self.ndim} axes")
        index += (slice(None),) * (self.ndim - len(index))
        shape, strides, at = [], [], self.at
        for i, n, step in zip(index, self.shape, self.strides):
            if isinstance(i, slice):
                start, stop, by = i.indices(n)
                shape.append(len(range(start, stop, by)))
                strides.append(step * by)
                at += step * start if shape[-1] else 0
            else:
                i = int(i)
                if not -n <= i < n:
                    raise IndexError(f"index {i} is out of bounds for an axis with size {n}")
                at += step * (i % n)
        return ForeignArray(tuple(shape), self.dtype, self.base or self, at, tuple(strides)), not shape

    def __getitem__(self, index):
        part, one = self._part(index)
        return part.copy_to_host()[()] if one else part

    def __setitem__(self, index, value):
        self._part(index)[0].copy_to_device(value)

    def reshape(self, *shape, **options):
        """The same memory with other axes."""
        shape = tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
        if -1 in shape:
            rest = 1
            for n in shape:
                rest *= n if n != -1 else 1
            shape = tuple(self.size // max(rest, 1) if n == -1 else n for n in shape)
        total = 1
        for n in shape:
            total *= n
        if total != self.size:
            raise ValueError(f"cannot reshape an array of size {self.size} into {shape}")
        if not self.is_c_contiguous():
            raise ValueError("only dense arrays of a GPU are reshaped")
        return ForeignArray(shape, self.dtype, self.base or self, self.at)

    def ravel(self, order="C", stream=0):
        return self.reshape(self.size)

    @property
    def T(self):  # noqa: N802 (NumPy's name)
        return ForeignArray(self.shape[::-1], self.dtype, self.base or self, self.at, self.strides[::-1])

    def __array__(self, dtype=None, copy=None):
        made = self.copy_to_host()
        return made if dtype is None else made.astype(dtype)

    def __repr__(self):
        return f"<array of shape {self.shape}, {self.dtype} on a GPU>"


def _new_device_array(shape, dtype, order="C"):
    if _gpu():
        return _on_gpu("empty", _shape_of(shape), dtype=_need_numpy().dtype(dtype).name)
    return DeviceArray(_need_numpy().empty(_shape_of(shape), dtype, order))


def _new_device_array_of(array):
    """Device memory with the elements of a host array, once it is needed."""
    made = to_device(array)
    return made if _gpu() else made._jit_argument


def _shape_of(shape):
    return (shape,) if isinstance(shape, int) else tuple(shape)


def to_device(obj, stream=0, copy=True, to=None):
    """The elements of a host array in device memory; `to`: an array there that takes them."""
    np = _need_numpy()
    if to is not None:
        to.copy_to_device(obj)
        return to
    if isinstance(obj, (DeviceArray, ForeignArray)):
        return obj
    if _gpu():
        return _on_gpu("array", obj if isinstance(obj, _core.ndarray) else np.asarray(obj))
    return DeviceArray(np.array(obj.numpy() if isinstance(obj, _core.ndarray) else obj))


def device_array(shape, dtype="float64", strides=None, order="C", stream=0):
    """Device memory, not initialised."""
    return _new_device_array(shape, dtype, order)


def device_array_like(ary, stream=0):
    """Device memory for an array like this one."""
    return _new_device_array(ary.shape, ary.dtype)


def _host_array(shape, dtype, order="C"):
    """Host memory that the device copies at full speed, unset."""
    np, place, shape = _need_numpy(), _gpu(), _shape_of(shape)
    if not place:
        return np.empty(shape, dtype, order)
    size = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
    return np.ndarray(shape, dtype, _core._pinned(place, size), order=order)


def mapped_array(shape, dtype="float64", strides=None, order="C", stream=0, portable=False, wc=False):
    """Host memory that kernels take: on a GPU it is pinned, and copied around each launch."""
    return _host_array(shape, dtype, order)


def mapped_array_like(ary, stream=0, portable=False, wc=False):
    """The same for an array like this one."""
    return _host_array(ary.shape, ary.dtype)


managed_array = mapped_array


def pinned_array_like(ary):
    """Host memory that the device copies directly, for an array like this one."""
    return _host_array(ary.shape, ary.dtype)


class _Held:
    """A context that asks nothing of us: memory is pinned, kept and given back by the library's own rules."""

    def __init__(self, *what):
        self.what = what

    def __enter__(self):
        return self.what[0] if len(self.what) == 1 else self.what

    def __exit__(self, *error):
        return False


def pinned(*arrays):
    """A context in which these host arrays are copied fast."""
    return _Held(*arrays)


def mapped(*arrays, stream=0):
    """A context in which kernels reach these host arrays; gives the array, or a list of them."""
    return _Held(arrays[0] if len(arrays) == 1 else list(arrays))


def is_cuda_array(obj):
    """Does it lie in device memory?"""
    return isinstance(obj, DeviceArray) or hasattr(obj, "__cuda_array_interface__")


def as_cuda_array(obj, sync=True):
    """Another library's array in device memory, without a copy."""
    if isinstance(obj, (DeviceArray, ForeignArray)):
        return obj
    if not is_cuda_array(obj):
        raise TypeError("the object has no __cuda_array_interface__: it does not lie on a GPU")
    return from_cuda_array_interface(obj.__cuda_array_interface__, obj, sync)


def from_cuda_array_interface(desc, owner=None, sync=True):
    """Device memory as CUDA's array interface describes it; `owner` keeps it alive."""
    if desc.get("mask") is not None:
        raise NotImplementedError("an array with a mask")
    if desc.get("strides") is not None:
        raise NotImplementedError("an array of another library with strides: make it contiguous there")
    if sync and desc.get("stream") not in (None, 0):
        from .. import cuda

        cuda.ExternalStream(desc["stream"]).synchronize()
    made = ForeignArray(tuple(desc["shape"]), desc["typestr"], None, desc["data"][0])
    made.owner = owner
    return made
