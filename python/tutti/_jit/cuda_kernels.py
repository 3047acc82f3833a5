"""@cuda.jit: kernels, their launches, what is known of their code; and cuda.reduce."""

import functools
import warnings

from .. import _core
from .._device import checked
from . import settings
from .cuda_memory import is_cuda_array, need_numpy
from .cuda_place import gpu, gpus, will_print
from .cuda_words import running
from .dispatch import CHECK, KERNEL, Compiled, made, signed
from .signature import takes, types_of

__all__ = ["Reduce", "jit", "reduce"]


class DeviceFunction(Compiled):
    """A function that kernels call."""

    def __call__(self, *args, **names):
        if running() is not None:
            return self.py_func(*args, **names)
        raise TypeError(f"{self.__name__} is a device function: kernels call it")

    def __getitem__(self, shape):
        raise RuntimeError(f"{self.__name__}: Cannot compile a device function as a kernel")


class Kernel(Compiled):
    """A kernel: kernel[grid, block, stream, shared](arguments...)."""

    def __init__(self, fn, flags):
        super().__init__(fn, flags | KERNEL)

    _last = None, None  # what stood between the brackets, and the launch that it gave
    _in_steps = 0  # launches in Python
    _signed = ()  # the signatures that it was given
    _only = None  # the types of arguments that it is for
    _watched = False  # were the arguments of a launch looked at for arrays that are copied?

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
        if not isinstance(made, (_InSteps, _Watched, _Extended)):
            self._last = shape, made
        return made

    def configure(self, griddim, blockdim, stream=0, sharedmem=0):
        """kernel[griddim, blockdim, ...] as a call; blockdim=None: griddim threads in blocks that suit."""
        from . import step

        if step.wanted():
            whole = blockdim is None
            return _InSteps(self, -(-griddim // 128) if whole else griddim, 128 if whole else blockdim, sharedmem)
        if blockdim is not None:
            settings.warn_of_few_blocks(self, griddim)
        here = bool(self._flags & CHECK)  # assertions come back to Python from the CPU only
        there = [] if here else gpus()
        on_cpu = here or checked()
        made = self._at(griddim, blockdim, _stream_of(stream), sharedmem, there[0] if there else 0, on_cpu)
        if not self._watched and settings.copies_are_told():
            made = _Watched(made, self)
        if here:
            made = _Debugged(made)
        if "extensions" in self.__dict__:
            made = _Extended(made, self.extensions, stream)
        return _Printing(made) if there and "print" in self.py_func.__code__.co_names else made

    def __call__(self, *args, **names):
        if running() is not None:
            return self.py_func(*args, **names)
        how = f"{self.__name__} is a kernel: launch it as {self.__name__}[grid, block](...)"
        raise ValueError(f"{how}; its launch configuration was not specified")

    def forall(self, n, tpb=0, stream=0, sharedmem=0):
        """A launch of at least n threads, one axis; the block's size is chosen."""
        if n < 0:
            raise ValueError("Can't create ForAll with negative task count: forall() of a negative number of threads")
        if n == 0:
            return _nothing
        return self[-(-n // tpb), tpb, stream, sharedmem] if tpb else self.configure(n, None, stream, sharedmem)

    def inspect_cuda(self, signature=None):
        """The CUDA C++ text by argument types."""
        rows = {types: self._cuda(types) for types in self.signatures}
        return rows if signature is None else rows[signature]

    def _number(self, which, signature):
        return self._known({row[0]: row[which] for row in self._specials()}, signature)

    def _known(self, rows, signature):
        """A number by types: of one list of types, in whatever spelling, or of all."""
        rows = _ByTypes(rows)
        return rows.get(self._only, rows) if signature is None else rows[signature]

    def get_shared_mem_per_block(self, signature=None):
        """Bytes of static shared memory by argument types."""
        return self._number(5, signature)

    def get_local_mem_per_thread(self, signature=None):
        """Bytes of private arrays of a thread by argument types."""
        return self._number(6, signature)

    def get_const_mem_size(self, signature=None):
        """Bytes of constant memory by argument types: constant arrays are read through the caches of global memory."""
        return self._known(dict.fromkeys(self.signatures, 0), signature)

    def get_max_threads_per_block(self, signature=None):
        """The most threads that a block may have, by argument types."""
        return self._known(dict.fromkeys(self.signatures, 1024), signature)

    def specialize(self, *args):
        """A kernel of its own, compiled now for the types of these arguments, or for these types."""
        if self._only is not None:
            raise RuntimeError("Dispatcher already specialized")
        types = ",".join(types_of((one,)) or self._types((one,)) for one in args)
        made = self.specializations.get(types)
        if made is None:
            made = type(self)(self.py_func, self._flags & ~KERNEL)
            made._declared = self._declared
            made._compile(types)
            self.specializations[types] = made
            made._only = types
        return made

    @functools.cached_property
    def specializations(self):
        """The kernels that specialize() made, by types."""
        return {}

    @property
    def specialized(self):
        """Is it for one list of types: by its signature, or made by specialize()?"""
        return self._only is not None

    @functools.cached_property
    def extensions(self):
        """What prepares the arguments of each launch: objects with prepare_args(type, value, stream=, retr=)."""
        self._last = None, None  # a launch that was made before knows of none
        return []

    def _sign(self, signatures):
        """Type the kernel for what its signatures say: what it cannot do is an error where it is defined."""
        self._signed = signatures if isinstance(signatures, list) else [signatures]
        types = [types_of(one) for one in self._signed]
        for one in types:
            if one is not None:
                self._compile(one)
        if len(types) == 1:
            self._only = types[0]
        return self

    def _module(self, types):
        if len(self._signed) > 1 and not any(takes(one, types) for one in self._signed):
            raise TypeError(f"No matching definition: no signature of {self.__name__} takes ({types})")
        return super()._module(types)

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


class _ByTypes(dict):
    """What is known by types, which may be given as signatures write them."""

    def __missing__(self, signature):
        types = types_of(signature)
        if types not in self:
            raise KeyError(signature)
        return self[types]


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
            return self.kernel._at_once(self.signature or known[0], gpu(), threads, dynsmemsize)
        if not gpu():
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


class _Watched:
    """A kernel's first launch, which says that it copies arrays of the host."""

    def __init__(self, launch, kernel):
        self.launch, self.kernel = launch, kernel

    def __call__(self, *args):
        if not self.kernel._watched:
            self.kernel._watched = True
            settings.warn_of_copies(args)
        self.launch(*args)


class _Debugged:
    """A launch whose failures come at once where nobody is given an array of ours, whose reader would meet them."""

    def __init__(self, launch):
        self.launch = launch

    def __call__(self, *args):
        self.launch(*args)
        if not any(isinstance(a, _core.ndarray) for a in args):
            from .. import cuda

            cuda.synchronize()


class _Extended:
    """A launch whose arguments a kernel's extensions prepare, those that came last first."""

    def __init__(self, launch, extensions, stream):
        self.launch, self.extensions, self.stream = launch, extensions, stream

    def __call__(self, *args):
        from ..compat.numba import typeof

        prepared, after = [], []
        for value in args:
            kind = typeof(value)
            for one in reversed(self.extensions):
                kind, value = one.prepare_args(kind, value, stream=self.stream, retr=after)
            prepared.append(value)
        self.launch(*prepared)
        for what in after:
            what()


class _Printing:
    """A launch where there is a GPU of a kernel that prints: what was printed before stands before."""

    def __init__(self, launch):
        self.launch = launch

    def __call__(self, *args):
        will_print()
        self.launch(*args)


def _stream_of(stream):
    from ..kernel import _stream

    return _stream(None if isinstance(stream, int) else stream)


def _check_options(options):
    """What Numba's options say is checked, though code here hangs on none of them."""
    bounds, carveout = options.get("launch_bounds"), options.get("shared_memory_carveout")
    if isinstance(bounds, (tuple, list)) and len(bounds) > 3:
        raise ValueError(f"Got {len(bounds)} launch bounds: a kernel has three at most")
    if isinstance(carveout, str) and carveout.lower() not in ("default", "maxl1", "maxshared"):
        raise ValueError(f"Invalid carveout value: {carveout!r} is none of default, MaxL1, MaxShared")
    if isinstance(carveout, int) and not -1 <= carveout <= 100:
        raise ValueError(f"Carveout must be between -1 and 100: {carveout}")


def jit(fn=None, *args, device=False, debug=False, fastmath=False, **options):
    """A kernel from a Python function, compiled for the types of its arguments when they first appear.

    A signature, jit("void(float32[:], float32)"), gives the numbers among them its types. device=True: a function that
    kernels call. debug=True: assertions in the kernel hold.

    Parameters
    ----------
    fn : function, optional
        The function.
    device : bool, optional
        A function that kernels call.
    debug : bool, optional
        Assertions in the kernel hold.
    fastmath : bool, optional
        Ignored, with a warning: results stay those of IEEE arithmetic.
    **options : object
        Taken for Numba's sake.

    Returns
    -------
    Kernel or function
        The kernel, or a decorator.

    Examples
    --------
    >>> decorate = tt.cuda.jit("void(float32[:])")
    """
    if fastmath:
        warnings.warn("fastmath is ignored: results stay those of IEEE arithmetic", RuntimeWarning, stacklevel=2)
    if options.get("link"):
        raise NotImplementedError("cuda.jit(link=...): CUDA C is not linked into Python kernels; see tt.SourceModule")
    _check_options(options)
    make = DeviceFunction if device else Kernel
    flags = CHECK if debug else 0
    if callable(fn) and hasattr(fn, "__code__"):
        return make(fn, flags)
    numbers = signed(fn)
    if device or fn is None:
        return lambda f: made(make, f, flags, numbers)
    return lambda f: made(make, f, flags, numbers)._sign(fn)


class Reduce:
    """A function of two values becomes a reduction over an array: sum_reduce = cuda.reduce(lambda a, b: a + b).

    On a GPU the elements come in another order than their own, the same each time.

    Parameters
    ----------
    fn : function
        The function.

    Examples
    --------
    >>> fold = tt.cuda.reduce(lambda a, b: a + b)
    """

    def __init__(self, fn):
        self.fn = Compiled(fn, 0)
        self._loop = self._fold = None

    def __call__(self, arr, size=None, res=None, init=0, stream=0):
        """The value; `res`: an array whose first element gets it instead. `size`: of so many elements."""
        if len(arr.shape) != 1:
            raise TypeError("cuda.reduce() folds arrays of one axis")
        if gpu() and arr.shape[0] and size != 0:
            return self._there(arr, size, res, init, stream)
        total = self._here(arr, size, init)
        if res is None:
            return total
        res[0] = total
        return None

    def _here(self, arr, size, init):
        np = need_numpy()
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
