"""What programs name besides arrays and functions: kinds of types, walks over indices, grids by square brackets."""

import math as _math
import numbers as _numbers

from . import _core

# ---- kinds of types


class _Kinds(type):
    """The class of kinds: `issubclass` takes types of elements, ours, which are no classes, and NumPy's."""

    def __subclasscheck__(cls, other):
        if isinstance(other, _core.dtype):
            return other.kind in cls._kinds
        if not isinstance(other, type) or other.__module__ != "numpy":
            return super().__subclasscheck__(other)
        if other.__name__ in _KINDS:
            return super().__subclasscheck__(globals()[other.__name__])
        try:
            return _core.dtype(other).kind in cls._kinds
        except TypeError:
            return False


class generic(metaclass=_Kinds):
    """Any element type.

    Examples
    --------
    >>> tt.issubdtype("int8", tt.generic)
    True
    """

    _kinds = "biufc"

    def __new__(cls, *unused):
        raise TypeError(f"cannot create '{cls.__name__}' instances: it is a kind of types")


class number(generic):
    """Any type of numbers.

    Examples
    --------
    >>> tt.issubdtype("bool", tt.number)
    False
    """

    _kinds = "iufc"


class integer(number):
    """Any integer type.

    Examples
    --------
    >>> tt.issubdtype("int8", tt.integer)
    True
    """

    _kinds = "iu"


class signedinteger(integer):
    """Any signed integer type.

    Examples
    --------
    >>> tt.issubdtype("uint8", tt.signedinteger)
    False
    """

    _kinds = "i"


class unsignedinteger(integer):
    """Any unsigned integer type.

    Examples
    --------
    >>> tt.issubdtype("uint8", tt.unsignedinteger)
    True
    """

    _kinds = "u"


class inexact(number):
    """Any floating or complex type.

    Examples
    --------
    >>> tt.issubdtype("int8", tt.inexact)
    False
    """

    _kinds = "fc"


class floating(inexact):
    """Any floating type.

    Examples
    --------
    >>> tt.issubdtype("float32", tt.floating)
    True
    """

    _kinds = "f"


class complexfloating(inexact):
    """Any complex type.

    Examples
    --------
    >>> tt.issubdtype("complex64", tt.complexfloating)
    True
    """

    _kinds = "c"


# The class of an element: Python's own kinds of numbers hold it too.
classes = {"b": generic, "i": signedinteger, "u": unsignedinteger, "f": floating, "c": complexfloating}
_numbers.Integral.register(integer)
_numbers.Real.register(floating)
_numbers.Complex.register(complexfloating)


def _kind(x):
    """One of the classes above, also where NumPy's of that name is given; else None."""
    if not isinstance(x, type):
        return None
    if x.__module__ == "numpy":
        return globals().get(x.__name__) if x.__name__ in _KINDS else None
    return x if issubclass(x, generic) else None


_KINDS = "generic number integer signedinteger unsignedinteger inexact floating complexfloating".split()


def issubdtype(arg1, arg2):
    """Is a type of that kind (`tutti.floating`, ...), or that very type?

    Parameters
    ----------
    arg1 : dtype or kind
        The type.
    arg2 : dtype or kind
        What it may be.

    Returns
    -------
    bool
        Whether it is so.

    Examples
    --------
    >>> tt.issubdtype("float32", tt.floating)
    True
    """
    of, kind = _kind(arg1), _kind(arg2)
    if of:
        return kind is not None and issubclass(of, kind)
    if kind:
        return _core.dtype(arg1).kind in kind._kinds
    return _core.dtype(arg1) == _core.dtype(arg2)


# ---- floating-point warnings, of which there are none

_SILENT = {"divide": "ignore", "over": "ignore", "under": "ignore", "invalid": "ignore"}


def _check_states(states):
    for name, value in states.items():
        if name not in (*_SILENT, "all", "call"):
            raise TypeError(f"seterr() got an unexpected keyword argument '{name}'")
        if name != "call" and value not in (None, "ignore", "warn", "raise", "call", "print", "log"):
            raise ValueError(f"invalid error state: {value!r}")


def geterr():
    """How floating-point errors are handled: silently, always.

    Returns
    -------
    dict of str
        What happens with each kind of error.

    Examples
    --------
    >>> tt.geterr()["divide"]
    'ignore'
    """
    return dict(_SILENT)


def seterr(**states):
    """Accepted for NumPy's sake; floating-point errors stay silent.

    Parameters
    ----------
    **states : str
        The kinds of errors and what is to happen.

    Returns
    -------
    dict of str
        How it was before.

    Examples
    --------
    >>> tt.seterr(divide="ignore")["divide"]
    'ignore'
    """
    _check_states(states)
    return geterr()


class errstate:
    """Accepted for NumPy's sake, as a block or a decorator; floating-point errors are silent anyway.

    Parameters
    ----------
    **states : str
        The kinds of errors and what is to happen.

    Examples
    --------
    >>> with tt.errstate(divide="ignore"):
    ...     x = tt.array([1.0]) / 0
    """

    def __init__(self, **states):
        _check_states(states)

    def __enter__(self):
        return None

    def __exit__(self, *unused):
        return None

    def __call__(self, f):
        return f


# ---- walks


class ndindex:
    """The indices of a shape, last axis first.

    Parameters
    ----------
    *shape : int or tuple of int
        The lengths of the axes.

    Examples
    --------
    >>> list(tt.ndindex(2, 2))
    [(0, 0), (0, 1), (1, 0), (1, 1)]
    """

    def __init__(self, *shape):
        from itertools import product

        if len(shape) == 1 and not isinstance(shape[0], int):
            shape = tuple(shape[0])
        if any(n < 0 for n in shape):
            raise ValueError("negative dimensions are not allowed")
        self._walk = product(*map(range, shape))

    def __iter__(self):
        return self

    def __next__(self):
        return next(self._walk)


class ndenumerate:
    """Pairs of an index and the element there. The elements are read once, at the start.

    Parameters
    ----------
    arr : array_like
        The array.

    Examples
    --------
    >>> list(tt.ndenumerate(tt.array([5, 6])))
    [((0,), 5), ((1,), 6)]
    """

    def __init__(self, arr):
        a = _core.asarray(arr)
        flat = a.ravel()  # elements of what requires grad do, too
        self._walk = zip(ndindex(a.shape), flat if a.requires_grad else flat.tolist(), strict=True)

    def __iter__(self):
        return self

    def __next__(self):
        return next(self._walk)


# ---- grids and joints by square brackets


def _ends(s):
    return 0 if s.start is None else s.start, s.stop, 1 if s.step is None else s.step


def _range(s):
    """The numbers of a slice; a complex step is how many, the end included."""
    start, stop, step = _ends(s)
    if isinstance(step, complex):
        return _core.functions["linspace"](start, stop, int(abs(step)))
    return _core.functions["arange"](start, stop, step)


def _spread(counted, start, stop, step):
    """0, 1, 2, ... as the numbers of a slice; ends that are arrays broadcast."""
    if isinstance(step, complex):
        many = int(abs(step))
        step = 1 if many == 1 else (stop - start) / float(many - 1)
    return counted * step + start


class _Grid:
    def __init__(self, sparse):
        self._sparse = sparse

    def __getitem__(self, key):
        one = not isinstance(key, tuple)
        cuts = [_ends(s) for s in ((key,) if one else key)]
        if one and not isinstance(cuts[0][2], complex):
            return _core.functions["arange"](*cuts[0])
        many = [int(abs(by)) if isinstance(by, complex) else _math.ceil((end - at) / by) for at, end, by in cuts]
        numbers = [n for at, end, by in cuts for n in (at, end, abs(by) if isinstance(by, complex) else by)]
        common = _core.functions["result_type"](*([] if one else [0]), *numbers)
        lines = [_core.functions["arange"](n, dtype=common) for n in many]
        if one or self._sparse:
            lines = [_spread(line, *cut) for line, cut in zip(lines, cuts)]
            none = [None] * len(lines)
            places = [(*none[:k], slice(None), *none[k + 1 :]) for k in range(len(lines))]
            return lines[0] if one else tuple(a[place] for a, place in zip(lines, places))
        if not lines:
            return _core.functions["indices"]((), common)
        grids = zip(_core.functions["meshgrid"](*lines, indexing="ij"), cuts)
        return _core.functions["stack"]([_core.functions["broadcast_to"](_spread(g, *cut), many) for g, cut in grids])


class _Joint:
    """Arrays, numbers and slices joined along an axis; "axis,least axes,where the old ones go" may come first."""

    def __init__(self, axis, ndmin=1, place=-1):
        self._default = axis, ndmin, place

    def __getitem__(self, key):
        key = key if isinstance(key, tuple) else (key,)
        axis, ndmin, place = self._default
        if isinstance(key[0], str):
            if key[0] in ("r", "c"):
                raise NotImplementedError("matrices are not supported: use numbers in place of 'r' and 'c'")
            given = [int(n) for n in key[0].split(",")]
            axis, ndmin, place = (*given, *self._default[len(given) :])
            key = key[1:]
        parts = [_range(k) if isinstance(k, slice) else k for k in key]
        plain = [type(k) in (bool, int, float, complex) for k in parts]  # their type is the arrays' to decide
        arrays = [k if p else _core.asarray(k) for k, p in zip(parts, plain)]
        common = _core.functions["result_type"](*arrays) if any(plain) and not all(plain) else None
        parts = [_core.asarray(k, common) if p else k for k, p in zip(arrays, plain)]
        return _core.functions["concatenate"]([_widened(a, ndmin, place) for a in parts], axis)


def _widened(a, ndmin, place):
    a = a.reshape(1) if a.ndim == 0 else a
    old, new = a.ndim, max(ndmin - a.ndim, 0)
    if not new:
        return a
    at = place if place >= 0 else new + old + place - (old - 1)
    before = min(max(at, 0), new)
    return a.reshape((1,) * before + a.shape + (1,) * (new - before))


mgrid, ogrid = _Grid(False), _Grid(True)
r_, c_ = _Joint(0), _Joint(-1, 2, 0)
True_, False_ = True, False
