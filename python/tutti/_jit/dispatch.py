"""Compiled functions as Python sees them: what the decorators give."""

import contextlib
import functools
import inspect
import math
import re
import sys
import warnings

from .. import _core
from .._device import checked
from .._rebuilt import Rebuilt

MOST_ARGUMENTS = 1 << 20
KERNEL, CHECK, PARALLEL, NUMPY_ERRORS, BOUNDS = 1, 2, 4, 8, 16


class Everything(list):
    """Every compiled function there is, while somebody wants to know (python -m tutti run)."""


everything = None


def _numpy():
    return sys.modules.get("numpy")


class Compiled(_core.Jit):
    """A function that is compiled for the types of each call's arguments when they first appear."""

    _declared = None  # what signatures say of the numbers that go in and out
    _closed = False  # takes no new types of arguments

    def __init__(self, fn, flags):
        if checked():
            flags |= BOUNDS
        code, defaults = getattr(fn, "__code__", None), getattr(fn, "__defaults__", None)
        fewest = code.co_argcount if code and defaults else 0  # calls with fewer take defaults
        if code and (code.co_kwonlyargcount or code.co_flags & inspect.CO_VARARGS):
            fewest = MOST_ARGUMENTS  # each call is bound by the signature
        super().__init__(flags, fewest, code and code.co_code, defaults or ())  # a compiler starts ahead
        functools.update_wrapper(self, fn)
        self.py_func = fn
        self._flags = flags
        self._text = None
        if everything is not None:
            everything.append(self)

    def _jit_function(self):
        return self.py_func

    def _typed_for(self, signatures):
        """The function with code for what signatures say: what it cannot do is an error where it is defined."""
        from .signature import dense_types_of

        if _has_empty_cell(self.py_func):
            return self  # what it names is not there yet: the first call looks
        for signature in signatures if isinstance(signatures, list) else [signatures] if signatures is not None else []:
            types = dense_types_of(signature, self)
            if types is not None:
                with contextlib.suppress(NameError):  # it calls itself, or what is defined later: the first call looks
                    self._compile(types)
        return self

    def disable_compile(self, val=True):
        """Take no more lists of argument types than there are (Numba's).

        Parameters
        ----------
        val : bool, optional
            False: take them again.
        """
        self._closed = val

    def _module(self, types):
        """The tree and the global arrays, for these types of arguments."""
        if self._closed and not (self._declared and not self.signatures):
            raise TypeError(f"No matching definition for argument type(s) {types}: {self.__name__}() compiles no more")
        if self._text is None:
            from . import front

            module = self._front = front.Module(self.py_func, self._declared)
            self._say(module)
        return self._text

    def _bound_call(self, args):
        """A call with functions and types among its arguments: there is code of its own for them."""
        from . import front

        args = self._bind(args, None)
        names = list(self._signature.parameters)
        plain = not self.__code__.co_flags & inspect.CO_VARARGS and len(args) == len(names)
        bound = {n: v for n, v in zip(names, args) if plain and front.stands_for_code(self.py_func, n, v)}
        if not bound:
            return NotImplemented
        key = tuple((name, _Same(value)) for name, value in bound.items())
        made = self._bound_made.get(key)
        if made is None:
            made = self._bound_made[key] = _Bound(self, bound)
        return made(*(value for name, value in zip(names, args) if name not in bound))

    @functools.cached_property
    def _bound_made(self):
        return {}

    @property
    def __code__(self):
        return self.py_func.__code__

    def _overload(self, asked):
        """A call wants a function that is written for its types: the text has it from now on."""
        self._front.resolve(asked, bool(self._flags & KERNEL))
        self._say(self._front)

    def _say(self, module):
        """The text of a function and of all that it calls, and the arrays that they name."""
        np = _numpy()
        self._raises = module.raised
        self._text = module.bytes(), [self._kept(np, a) for a in module.arrays]

    def _kept(self, np, array):
        """A global array as code keeps it: what it holds now, but memory of the device as it is."""
        if hasattr(array, "_jit_argument"):
            return array._jit_argument
        if not any(hasattr(array, name) for name in ("__array_interface__", "__dlpack__")):  # of the device, elsewhere
            from .cuda_memory import as_cuda_array

            return as_cuda_array(array)._jit_argument
        copy = np.array(array) if np and not hasattr(array, "__dlpack_device__") else array
        copy = copy.numpy() if isinstance(copy, _core.ndarray) else copy
        if self._flags & KERNEL and hasattr(copy, "setflags"):
            if copy is array:
                copy = array.copy()
            copy.setflags(write=False)
        return copy

    def _array(self, memory, typestr, shape, strides, offset, ours):
        """Memory that a call gave as an array: one of ours if an argument was, or if NumPy is not about."""
        np = _numpy()
        if np is not None and not ours:
            return np.ndarray(shape, typestr, memory, offset, strides)
        if 0 in shape:
            return _core.functions["empty"](shape, typestr)
        if not isinstance(memory, _core.ndarray):
            memory = _core.frombuffer(memory, "u1")
            item = _core.dtype(typestr).itemsize
            memory = memory[offset % item :]
            memory = memory[: memory.size // item * item].view(typestr)
        first = offset // memory.itemsize
        return _core.functions["stride_tricks.as_strided"](memory.reshape(-1)[first:], shape, strides)

    def _named(self, meta, items):
        """A tuple of a class with names."""
        from .named import made

        return made(meta, items)

    def _list(self, letter, kind, items):
        """A list, dictionary or set that a call made."""
        from .containers import made

        return made(letter, kind, items)

    def _raised(self, number, place):
        """The exception that a call raised, its traceback showing where that was."""
        what, (place, _, values) = self._raises[number], place.partition("\n")
        if isinstance(what, BaseException):
            return what
        cls, given = what
        if given is None:  # they were written as Python writes them
            given = eval(values, {"__builtins__": {}, "nan": math.nan, "inf": math.inf})
        try:
            made = cls(*given)
        except Exception as problem:  # the class does not take them: that is raised there
            made = problem.with_traceback(None)
        return _shown_at(made, place, self._front.functions)

    @functools.cached_property
    def _signature(self):
        return inspect.signature(self.py_func)

    def _bind(self, args, names):
        """The values of all parameters in their order; of *args it is a tuple."""
        bound = self._signature.bind(*args, **(names or {}))
        bound.apply_defaults()
        return tuple(bound.arguments.values())

    def _interpret(self, why, args):
        warnings.warn(f"{self.__name__} runs as plain Python: {why}", RuntimeWarning, stacklevel=2)
        return self.py_func(*args)

    # ---- looking inside

    @property
    def signatures(self):
        """The argument types that there is code for."""
        return [row[0] for row in self._specials()]

    def _texts(self, which, signature):
        rows = {row[0]: row[which] for row in self._specials()}
        return rows if signature is None else rows[signature]

    def inspect_source(self, signature=None):
        """The C text by argument types."""
        return self._texts(2, signature)

    def inspect_types(self, file=None, signature=None):
        """Print every variable's type."""
        for types, table in self._texts(3, None).items():
            if signature in (None, types):
                print(f"{self.__name__}({types})\n{table}", file=file or sys.stdout)

    def __get__(self, obj, owner=None):
        return self if obj is None else functools.partial(self, obj)

    def __repr__(self):
        return f"<compiled function {self.__name__}>"

    def __reduce__(self):
        return named(self) or self._by_value()

    def _by_value(self):
        _carry_source(self.py_func)
        return _again, (type(self), self.py_func, self._flags, self._declared)


def _shown_at(error, place, functions):
    """An exception whose traceback ends at the line of a compiled function that a place says.

    The place names the function that was called; the line may be one of a function that this calls.
    """
    at = re.fullmatch(r"in (.+), line (\d+)", place)
    codes = [fn.__code__ for fn in functions if hasattr(fn, "__code__")] if at else []
    line = int(at[2]) if at else 0
    found = [code for code in codes if line in {row for *_, row in code.co_lines()}]
    if not found:
        error.add_note(place)
        return error
    code = found[0]
    # A frame that raises it there: Python makes tracebacks of frames alone.
    raises = compile("raise error", code.co_filename, "exec")
    table = _lines_alone(len(raises.co_code) // 2)
    try:
        exec(raises.replace(co_name=code.co_name, co_firstlineno=line, co_linetable=table), {"error": error})
    except BaseException:
        return error.with_traceback(error.__traceback__.tb_next)


def _lines_alone(units):
    """A table of positions for so many units of bytecode: all in the first line, of no columns."""
    out = bytearray()
    while units > 0:
        part = min(units, 8)
        out += bytes((0x80 | 13 << 3 | (part - 1), 0))
        units -= part
    return bytes(out)


def _has_empty_cell(fn):
    for cell in getattr(fn, "__closure__", None) or ():
        try:
            cell.cell_contents  # noqa: B018
        except ValueError:
            return True
    return False


class _Same:
    """An object as a key: equal where it is the same one."""

    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return self.value is other.value

    def __hash__(self):
        return id(self.value)


class _Bound(Compiled):
    """A compiled function some of whose parameters are functions and types; it is called with the others."""

    def __init__(self, compiled, bound):
        _core.Jit.__init__(self, compiled._flags, 0, None, ())
        functools.update_wrapper(self, compiled.py_func)
        self.py_func, self._flags, self._text, self._given = compiled.py_func, compiled._flags, None, bound

    def _module(self, types):
        if self._text is None:
            from . import front

            module = self._front = front.Module(self.py_func, None, self._given)
            self._say(module)
        return self._text


def _carry_source(fn):
    from . import sources

    sources.carry(fn)


def named(it):
    """What a decorated function is pickled as: its name, where that is what it has in its module."""
    found = sys.modules.get(it.__module__)
    for part in it.__qualname__.split("."):
        found = getattr(found, part, None)
    return it.__qualname__ if found is it else None


class Decorated(Rebuilt):
    """An object in the place of a function: pickled by its name, or as what it was made of."""

    def _stand_for(self, fn):
        self.py_func, self.__name__, self.__doc__ = fn, fn.__name__, fn.__doc__
        self.__module__, self.__qualname__ = fn.__module__, fn.__qualname__

    def __reduce__(self):
        return named(self) or self._by_value()

    def _by_value(self):
        _carry_source(self.py_func)
        return super().__reduce__()


def _again(cls, fn, flags, declared):
    return fn if isinstance(fn, cls) else made(cls, fn, flags, declared)


def made(cls, fn, flags, declared=None):
    """A compiled function of that kind with what its signatures declare."""
    out = cls(fn, flags)
    code = getattr(fn, "__code__", None)
    if declared and code is not None and not code.co_flags & 4 and len(declared[1]) > code.co_argcount:
        raise TypeError(f"{fn.__name__}() takes {code.co_argcount} arguments, its signature says {len(declared[1])}")
    if declared and code is not None:
        least = code.co_argcount - len(fn.__defaults__ or ())
        if len(declared[1]) < least:
            raise TypeError(f"{fn.__name__}() takes {least} arguments, its signature says {len(declared[1])}")
    if declared:
        out._declared = declared
    return out


def signed(signatures):
    """What the first argument of a decorator declares where it is no function."""
    from .signature import declared

    return declared(signatures) if signatures is not None else None


def jit(
    fn=None,
    *args,
    parallel=False,
    fastmath=False,
    boundscheck=False,
    error_model="python",
    nopython=True,
    forceobj=False,
    **options,
):
    """Compile a Python function for the types of its arguments, to run at the speed of C.

    Whole numbers are int64, / gives float64, types follow through assignments. A signature, jit("float32(float32)"),
    gives the numbers that go in and out its types. parallel=True runs loops over tt.prange on all cores. nogil, cache
    and inline are accepted: the lock is given up and code is kept on disk, always.

    Parameters
    ----------
    fn : function, optional
        The function.
    parallel : bool, optional
        Loops over tt.prange run on all cores.
    fastmath : bool, optional
        Ignored, with a warning: results stay those of IEEE arithmetic.
    boundscheck : bool, optional
        Indices beyond an array are an IndexError.
    error_model : {'python', 'numpy'}, optional
        Division by zero raises, or gives infinity.
    nopython : bool, optional
        Taken for Numba's sake: it is always so.
    forceobj : bool, optional
        Taken for Numba's sake.
    **options : object
        Taken for Numba's sake.

    Returns
    -------
    function
        The compiled function, or a decorator.

    Examples
    --------
    >>> triple = tt.jit(lambda x: 3 * x)
    >>> callable(triple)
    True
    """
    if fastmath:
        warnings.warn("fastmath is ignored: results stay those of IEEE arithmetic", RuntimeWarning, stacklevel=2)
    flags = (
        (PARALLEL if parallel else 0) | (BOUNDS if boundscheck else 0) | (NUMPY_ERRORS if error_model == "numpy" else 0)
    )
    if callable(fn) and hasattr(fn, "__code__"):
        return Compiled(fn, flags)
    numbers = signed(fn)
    return lambda f: made(Compiled, f, flags, numbers)._typed_for(fn)


njit = jit
