"""Kernels in CUDA C: SourceModule as PyCUDA has it, RawKernel and RawModule as CuPy has them.

They run on the CPU, compiled by the system's C++ compiler, its cores sharing the blocks.
"""

import atexit
from operator import index as _index

from . import _core
from ._jit import dispatch as _compiled
from ._rebuilt import Rebuilt
from .exceptions import CompileError

__all__ = ["CompileError", "Function", "RawKernel", "RawModule", "SourceModule", "Variable"]


def _compile(source, name, options, expressions):
    if isinstance(source, bytes):
        source = source.decode()
    if not isinstance(source, str):
        raise TypeError(f"the source of a kernel is a str, not {type(source).__name__}")
    options = tuple(options or ())
    expressions = tuple(expressions or ())
    if not all(isinstance(x, str) for x in options + expressions):
        raise TypeError("options and name_expressions are tuples of str")
    try:
        return _core.program(source, name, options, expressions)
    except RuntimeError as e:
        raise CompileError(str(e)) from None


def _function(cls, made_of, name):
    return cls(_compile(*made_of), name, made_of)


def _stream(stream):
    """The stream of a launch: ours; another library's, taken as ours; None for the current one."""
    if stream is None or hasattr(stream, "_address"):
        return stream
    if hasattr(stream, "__cuda_stream__") or hasattr(stream, "cuda_stream"):
        from .cuda import ExternalStream

        return ExternalStream(stream)
    return None


def _tuple(dims):
    return (dims,) if isinstance(dims, int) else tuple(_index(x) for x in dims)


class Function:
    """One kernel of a compiled program. `f(*args, block=(x, y, z), grid=(x, y), shared=bytes)`, as PyCUDA calls it.

    Parameters
    ----------
    program : object
        The compiled program.
    name : str
        The name.
    made_of : tuple, optional
        The text that it was compiled of.

    Examples
    --------
    >>> text = "__global__ void twice(float *x) { x[threadIdx.x] *= 2; }"
    >>> tt.SourceModule(text).get_function("twice").num_args
    1
    """

    def __init__(self, program, name, made_of=None):
        self._routine = _core.program_routine(program, name)
        self._program, self._made_of = program, (made_of, name)
        params, self.name, self.max_threads_per_block, self.waits = _core.routine_info(self._routine)
        self.parameters = [(n, t) for n, t, _ in params]
        self.num_args = len(params)
        self.shared_limit, self._block = 0, None
        self.__name__, self.launches = self.name, 0
        if _compiled.everything is not None:
            _compiled.everything.append(self)

    def __reduce__(self):
        """Its text, which is compiled again or found in the cache; variables have their first values there."""
        if self._made_of[0] is None:
            raise TypeError("a kernel of a program that was loaded cannot be pickled: its text is not known")
        return _function, (type(self), *self._made_of)

    def __repr__(self):
        inside = ", ".join(f"{t} {n}".replace("* ", "*").rstrip() for n, t in self.parameters)
        return f"<kernel {self.name}({inside})>"

    def suggest_block(self, shared=0):
        """Threads for a block that keep most of the device busy, with so many bytes of dynamic shared memory.

        Parameters
        ----------
        shared : int, optional
            Bytes of dynamic shared memory.

        Returns
        -------
        int
            How many threads.

        Examples
        --------
        >>> text = "__global__ void twice(float *x) { x[threadIdx.x] *= 2; }"
        >>> tt.SourceModule(text).get_function("twice").suggest_block() > 0
        True
        """
        return _core.routine_suggest(self._routine, shared)

    def launch(self, grid, block, args, shared=0, stream=None):
        """Run over a grid of blocks; what the kernel may write is changed in place.

        Parameters
        ----------
        grid : tuple of int
            The blocks of the grid along each axis.
        block : tuple of int
            The threads of a block along each axis.
        shared : int, optional
            Bytes of dynamic shared memory.
        stream : Stream, optional
            Where it runs; None: the current one.

        Returns
        -------
        None

        Examples
        --------
        >>> text = "__global__ void twice(float *x) { x[threadIdx.x] *= 2; }"
        >>> x = tt.ones(2, dtype="float32")
        >>> tt.SourceModule(text).get_function("twice").launch((1,), (2,), (x,))
        >>> x
        array([2., 2.], dtype=float32)
        """
        self.launches += 1
        if type(grid) is not tuple:
            grid = _tuple(grid)
        if type(block) is not tuple:
            block = _tuple(block)
        stream = stream and _stream(stream)
        _core.routine_launch(self._routine, grid, block, tuple(args), shared, self.shared_limit, stream)

    def __call__(self, *args, block=None, grid=(1, 1), stream=None, shared=0, texrefs=(), time_kernel=False):
        if block is None:
            raise TypeError(f"kernel {self.name}: say block=(x, y, z), the threads of a block")
        if texrefs:
            raise NotImplementedError("texture references are not supported: pass arrays")
        if _plain.issuperset(map(type, args)) and not time_kernel:
            return self.launch(grid, block, args, shared, stream)
        before, after = [], []
        given = [_handler(a, before, after) for a in args]
        for f in before:
            f()
        if not time_kernel:
            self.launch(grid, block, given, shared, stream)
        else:
            import time

            start = time.perf_counter()
            self.launch(grid, block, given, shared, stream)
            _core.synchronize()
        for f in after:
            f()
        return time.perf_counter() - start if time_kernel else None

    def prepare(self, arg_types, block=None, shared=None, texrefs=()):
        """PyCUDA's: types are known from the source; `block` is for prepared calls that name none.

        Parameters
        ----------
        arg_types : str or sequence
            Taken for PyCUDA's sake: the source says it.
        block : tuple of int, optional
            The threads of a block along each axis.
        shared : int, optional
            Bytes of dynamic shared memory.
        texrefs : sequence, optional
            Refused: there are no texture references.

        Returns
        -------
        tutti.kernel.Function
            The kernel itself.

        Examples
        --------
        >>> text = "__global__ void twice(float *x) { x[threadIdx.x] *= 2; }"
        >>> tt.SourceModule(text).get_function("twice").prepare("P")
        <kernel twice(float32 *x)>
        """
        self._block = block
        return self

    def prepared_call(self, grid, block, *args, shared_size=0):
        """PyCUDA's: a launch; without a block (the first argument of the kernel in its place) that of `prepare`.

        Parameters
        ----------
        grid : tuple of int
            The blocks of the grid along each axis.
        block : tuple of int
            The threads of a block along each axis.
        shared_size : int, optional
            Bytes of dynamic shared memory.

        Returns
        -------
        None

        Examples
        --------
        >>> text = "__global__ void twice(float *x) { x[threadIdx.x] *= 2; }"
        >>> x = tt.ones(2, dtype="float32")
        >>> tt.SourceModule(text).get_function("twice").prepared_call((1, 1), (2, 1, 1), x)
        >>> x
        array([2., 2.], dtype=float32)
        """
        if not isinstance(block, tuple):
            block, args = self._block, (block, *args)
        self(*args, grid=grid, block=block, shared=shared_size)

    def prepared_async_call(self, grid, block, stream, *args, shared_size=0):
        """The same on a stream.

        Parameters
        ----------
        grid : tuple of int
            The blocks of the grid along each axis.
        block : tuple of int
            The threads of a block along each axis.
        stream : Stream
            Where it runs; None: the current one.
        shared_size : int, optional
            Bytes of dynamic shared memory.

        Returns
        -------
        None

        Examples
        --------
        >>> text = "__global__ void twice(float *x) { x[threadIdx.x] *= 2; }"
        >>> x = tt.ones(2, dtype="float32")
        >>> tt.SourceModule(text).get_function("twice").prepared_async_call((1, 1), (2, 1, 1), None, x)
        >>> x
        array([2., 2.], dtype=float32)
        """
        if not isinstance(block, tuple):
            block, stream, args = self._block, block, (stream, *args)
        self(*args, grid=grid, block=block, stream=stream, shared=shared_size)


# Types whose objects are arguments as they are: of each launch, those that need not be looked at.
_plain = {int, float, bool, complex, bytes, type(None), _core.ndarray}


def _handler(a, before, after):
    """PyCUDA's In, Out and InOut say what to do around the launch; other arguments are what they are."""
    around = getattr(a, "_around_launch", None)
    if around:
        return around(before, after)
    if not type(a).__flags__ & 1 << 9:  # a static one (an array of NumPy): it stays, and as it is
        _plain.add(type(a))
    return a


class SourceModule(Rebuilt):
    """CUDA C source, compiled now. `get_function(name)`, `get_global(name)`.

    Parameters
    ----------
    source : int or sequence of int
        The axes to be moved.
    nvcc : str, optional
        Taken for PyCUDA's sake.
    options : sequence of str, optional
        Options of the compiler.
    keep : bool, optional
        Taken for PyCUDA's sake.
    no_extern_c : bool, optional
        Names are C++'s.
    arch : str, optional
        Taken for PyCUDA's sake.
    code : str, optional
        Taken for PyCUDA's sake.
    cache_dir : str, optional
        Taken for PyCUDA's sake.
    include_dirs : sequence of str, optional
        Folders of headers.
    name : str, optional
        The name.
    name_expressions : sequence of str, optional
        Instances of templates that are wanted, "f<float>".

    Examples
    --------
    >>> text = "__global__ void twice(float *x) { x[threadIdx.x] *= 2; }"
    >>> twice = tt.SourceModule(text).get_function("twice")
    >>> x = tt.ones(3, dtype="float32")
    >>> twice(x, block=(3, 1, 1))
    >>> x
    array([2., 2., 2.], dtype=float32)
    """

    def __init__(
        self,
        source,
        nvcc="nvcc",
        options=None,
        keep=False,
        no_extern_c=False,
        arch=None,
        code=None,
        cache_dir=None,
        include_dirs=(),
        *,
        name="kernel.cu",
        name_expressions=(),
    ):
        flags = [*(options or ()), *(f"-I{d}" for d in include_dirs)]
        self._text = source, name, tuple(flags), tuple(name_expressions)
        self._program = _compile(*self._text)
        self.source = source

    def get_function(self, name):
        """The kernel of that name: a `Function`.

        Parameters
        ----------
        name : str
            The name.

        Returns
        -------
        tutti.kernel.Function
            The kernel.

        Examples
        --------
        >>> text = "__global__ void twice(float *x) { x[threadIdx.x] *= 2; }"
        >>> tt.SourceModule(text).get_function("twice")
        <kernel twice(float32 *x)>
        """
        return Function(self._program, name, self._text)

    def get_global(self, name):
        """(address, bytes) of a `__device__` or `__constant__` variable.

        Parameters
        ----------
        name : str
            The name.

        Returns
        -------
        (int, int)
            The address, and how many bytes.

        Examples
        --------
        >>> tt.SourceModule("__device__ float scale[2];").get_global("scale")[1]
        8
        """
        return _core.program_variable(self._program, name)[:2]

    def variable(self, name):
        """A `__device__` or `__constant__` variable, to be read and set.

        Parameters
        ----------
        name : str
            The name.

        Returns
        -------
        Variable
            The variable.

        Examples
        --------
        >>> v = tt.SourceModule("__device__ float scale[2];").variable("scale")
        >>> v[...] = tt.array([1, 2], dtype="float32")
        >>> v.get("float32")
        array([1., 2.], dtype=float32)
        """
        return Variable(self._program, name)

    @property
    def kernels(self):
        """Names of the kernels."""
        return _core.program_names(self._program)

    def inspect_source(self):
        """What was compiled, after the preprocessor and with CUDA's words replaced.

        Returns
        -------
        str
            The text.

        Examples
        --------
        >>> "scale" in tt.SourceModule("__device__ float scale[2];").inspect_source()
        True
        """
        return _core.program_text(self._program)


class Variable:
    """Memory of a `__device__` or `__constant__` variable: `v.set(array)` or `v[...] = array`, `v.get(dtype)`.

    Parameters
    ----------
    program : object
        The compiled program.
    name : str
        The name.

    Examples
    --------
    >>> v = tt.SourceModule("__device__ float scale[2];").variable("scale")
    >>> v.size
    8
    """

    def __init__(self, program, name):
        self.ptr, self.size, _ = _core.program_variable(program, name)
        self.name, self._program = name, program

    def __reduce__(self):
        raise TypeError(f"the memory of the variable '{self.name}' cannot be pickled: v.get() is a copy of it")

    def set(self, value):
        """Copy the elements of an array into it, from its beginning; their type is the caller's business.

        Wherever the program runs, now or later, kernels launched from here on see them.

        Parameters
        ----------
        value : array_like
            The elements.

        Returns
        -------
        None

        Examples
        --------
        >>> v = tt.SourceModule("__device__ float scale[2];").variable("scale")
        >>> v.set(tt.array([1, 2], dtype="float32"))
        >>> v.get("float32")
        array([1., 2.], dtype=float32)
        """
        _core.program_set(self._program, self.name, _core.asarray(value).tobytes())

    def __setitem__(self, index, value):
        if index is not Ellipsis and index != slice(None):
            raise IndexError("a variable is set as a whole: v[...] = array")
        self.set(value)

    def get(self, dtype="uint8", shape=None):
        """A copy of its elements, from where a kernel of the program was launched last.

        Parameters
        ----------
        dtype : dtype, optional
            The type of the result; None: as NumPy's rules have it.
        shape : int or tuple of int, optional
            The lengths of the axes.

        Returns
        -------
        ndarray
            The elements.

        Examples
        --------
        >>> tt.SourceModule("__device__ float scale[2];").variable("scale").get("float32")
        array([0., 0.], dtype=float32)
        """
        a = _core.frombuffer(_core.program_get(self._program, self.name, self.size), dtype)
        return a if shape is None else a.reshape(shape)


# What CuPy's translation lets programs do: cuComplex.h has the names without f for double alone.
_CUCOMPLEX = "#include <cuComplex.h>\n#include <cupy/complex.cuh>\n" + " ".join(
    f"static __device__ __inline__ {result} cu{name}({', '.join('cuFloatComplex ' + x for x in given)}) "
    f"{{ return cu{name}f({', '.join(given)}); }}"
    for name, result, given in [
        *[(name, "cuFloatComplex", "ab") for name in ("Cadd", "Csub", "Cmul", "Cdiv")],
        ("Cfma", "cuFloatComplex", "abc"),
        ("Conj", "cuFloatComplex", "a"),
        *[(name, "float", "a") for name in ("Creal", "Cimag", "Cabs")],
    ]
)
# Quotients and sizes are those of complex<>, which are our arrays': what code is translated to.
for _real, _pair in (("float", "float2"), ("double", "double2")):
    _CUCOMPLEX += (
        f"\nstatic __device__ __inline__ {_pair} tt_translated_quotient({_pair} a, {_pair} b) {{ "
        f"complex<{_real}> q = complex<{_real}>(a.x, a.y) / complex<{_real}>(b.x, b.y); "
        f"return make_{_pair}(q.real(), q.imag()); }}\n"
        f"static __device__ __inline__ {_real} tt_translated_size({_pair} a) {{ "
        f"return abs(complex<{_real}>(a.x, a.y)); }}"
    )
_CUCOMPLEX += "".join(
    f"\n#define cu{name}{letter} tt_translated_{ours}"
    for name, ours in (("Cdiv", "quotient"), ("Cabs", "size"))
    for letter in ("", "f")
)


def _translated(code, translate_cucomplex):
    return f'{_CUCOMPLEX}\n#line 1 "kernel.cu"\n{code}' if translate_cucomplex else code


class RawModule(Rebuilt):
    """CuPy's: CUDA C source, compiled at the first `get_function`, `get_global` or `compile`.

    Parameters
    ----------
    code : str, optional
        CUDA C source.
    path : str or path, optional
        The file.
    options : sequence of str, optional
        Options of the compiler.
    backend : str, optional
        Taken for CuPy's sake.
    translate_cucomplex : bool, optional
        Functions of cuComplex.h take float2 by their names for double, too.
    enable_cooperative_groups : bool, optional
        Taken for CuPy's sake.
    name_expressions : sequence of str, optional
        Instances of templates that are wanted, "f<float>".
    jitify : bool, optional
        Taken for CuPy's sake.

    Examples
    --------
    >>> text = 'extern "C" __global__ void twice(float *x) { x[threadIdx.x] *= 2; }'
    >>> tt.RawModule(code=text).kernels
    ['twice']
    """

    def __init__(
        self,
        *,
        code=None,
        path=None,
        options=(),
        backend="nvrtc",
        translate_cucomplex=False,
        enable_cooperative_groups=False,
        name_expressions=None,
        jitify=False,
    ):
        self.enable_cooperative_groups = enable_cooperative_groups
        if (code is None) == (path is None):
            raise TypeError("RawModule takes either code or path")
        if path is not None:
            with open(path) as f:
                code = f.read()
        self.code, self.options, self.name_expressions = code, tuple(options), tuple(name_expressions or ())
        self.backend, self._compiled = backend, None
        self._text = _translated(code, translate_cucomplex), "kernel.cu", self.options, self.name_expressions

    def compile(self, log_stream=None):
        """Compile now; errors are CompileError.

        Parameters
        ----------
        log_stream : file, optional
            Taken for CuPy's sake.

        Returns
        -------
        object
            The compiled program.

        Examples
        --------
        >>> text = 'extern "C" __global__ void twice(float *x) { x[threadIdx.x] *= 2; }'
        >>> program = tt.RawModule(code=text).compile()
        """
        if self._compiled is None:
            self._compiled = _compile(*self._text)
        return self._compiled

    def get_function(self, name):
        """The kernel of that name, or of that name expression: a `RawKernel`.

        Parameters
        ----------
        name : str
            The name.

        Returns
        -------
        RawKernel
            The kernel.

        Examples
        --------
        >>> text = 'extern "C" __global__ void twice(float *x) { x[threadIdx.x] *= 2; }'
        >>> tt.RawModule(code=text).get_function("twice").name
        'twice'
        """
        together = self.enable_cooperative_groups
        k = RawKernel(self._text[0], name, self.options, self.backend, enable_cooperative_groups=together)
        k._function = Function(self.compile(), name, self._text)
        return k

    def get_global(self, name):
        """A `__device__` or `__constant__` variable, to be read and set.

        Parameters
        ----------
        name : str
            The name.

        Returns
        -------
        Variable
            The variable.

        Examples
        --------
        >>> tt.RawModule(code="__device__ float scale[2];").get_global("scale").size
        8
        """
        return Variable(self.compile(), name)

    @property
    def kernels(self):
        """Names of the kernels."""
        return _core.program_names(self.compile())


class RawKernel(Rebuilt):
    """CuPy's: a kernel of CUDA C source, compiled at its first use, called as `k(grid, block, args, shared_mem=0)`.

    Parameters
    ----------
    code : str
        CUDA C source.
    name : str
        The name.
    options : sequence of str, optional
        Options of the compiler.
    backend : str, optional
        Taken for CuPy's sake.
    translate_cucomplex : bool, optional
        Functions of cuComplex.h take float2 by their names for double, too.
    enable_cooperative_groups : bool, optional
        Taken for CuPy's sake.
    jitify : bool, optional
        Taken for CuPy's sake.

    Examples
    --------
    >>> text = 'extern "C" __global__ void twice(float *x) { x[threadIdx.x] *= 2; }'
    >>> twice = tt.RawKernel(text, "twice")
    >>> x = tt.ones(3, dtype="float32")
    >>> twice((1,), (3,), (x,))
    >>> x
    array([2., 2., 2.], dtype=float32)
    """

    def __init__(
        self,
        code,
        name,
        options=(),
        backend="nvrtc",
        translate_cucomplex=False,
        *,
        enable_cooperative_groups=False,
        jitify=False,
    ):
        self.code, self.name, self.options, self.backend = code, name, tuple(options), backend
        self.enable_cooperative_groups = enable_cooperative_groups
        self._translate = translate_cucomplex
        self._function = None
        self._shared_limit = 0

    def compile(self, log_stream=None):
        """Compile now; errors are CompileError.

        Parameters
        ----------
        log_stream : file, optional
            Taken for CuPy's sake.

        Returns
        -------
        tutti.kernel.Function
            The compiled kernel.

        Examples
        --------
        >>> text = 'extern "C" __global__ void twice(float *x) { x[threadIdx.x] *= 2; }'
        >>> tt.RawKernel(text, "twice").compile()
        <kernel twice(float32 *x)>
        """
        return self._ready()

    def _ready(self):
        if self._function is None:
            expressions = (self.name,) if "<" in self.name else ()
            text = _translated(self.code, self._translate), "kernel.cu", self.options, expressions
            self._function = Function(_compile(*text), self.name, text)
        return self._function

    def __call__(self, grid, block, args, *, shared_mem=0, stream=None):
        f = self._function or self._ready()
        f.launches += 1
        if type(args) is not tuple:
            args = tuple(args)
        stream = stream and _stream(stream)
        _core.routine_launch(f._routine, grid, block, args, shared_mem, self._shared_limit, stream)

    @property
    def kernel(self):
        """The compiled kernel: a `Function`."""
        return self._ready()

    def suggest_block(self, shared_mem=0):
        """Threads for a block that keep most of the device busy.

        Parameters
        ----------
        shared_mem : int, optional
            Bytes of dynamic shared memory.

        Returns
        -------
        int
            How many threads.

        Examples
        --------
        >>> text = 'extern "C" __global__ void twice(float *x) { x[threadIdx.x] *= 2; }'
        >>> tt.RawKernel(text, "twice").suggest_block() > 0
        True
        """
        return self._ready().suggest_block(shared_mem)

    @property
    def max_threads_per_block(self):
        """The most threads of a block that it can be launched with."""
        return self._ready().max_threads_per_block

    @property
    def max_dynamic_shared_size_bytes(self):
        """The most bytes of shared memory that a launch may ask for; can be set, up to 227 KiB."""
        return self._shared_limit or 48 << 10

    @max_dynamic_shared_size_bytes.setter
    def max_dynamic_shared_size_bytes(self, size):
        if not 0 <= size <= 227 << 10:
            raise ValueError("shared memory of a block is limited to 227 KiB")
        self._shared_limit = size

    @property
    def attributes(self):
        """What CuPy tells of a kernel, as far as it means something here."""
        return {"max_threads_per_block": self.max_threads_per_block, "binary_version": 0, "ptx_version": 0}

    def inspect_source(self):
        """What was compiled.

        Returns
        -------
        str
            The text.

        Examples
        --------
        >>> text = 'extern "C" __global__ void twice(float *x) { x[threadIdx.x] *= 2; }'
        >>> "twice" in tt.RawKernel(text, "twice").inspect_source()
        True
        """
        return _core.program_text(self._ready()._program)


atexit.register(_core._eval_at_exit)  # launches that nobody has looked at run, and what fails in them is told
