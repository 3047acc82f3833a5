"""Functions that only rearrange calls of others: NumPy's conveniences over arrays of ours."""

import builtins as _builtins
import itertools as _itertools
import math as _math
import numbers as _numbers
import sys as _sys
from collections import namedtuple as _namedtuple

from . import _core

__all__ = [
    "apply_along_axis",
    "asnumpy",
    "astype",
    "block",
    "copy",
    "diag_indices_from",
    "fromfunction",
    "fromiter",
    "index_exp",
    "iscomplexobj",
    "isfortran",
    "isrealobj",
    "isscalar",
    "may_share_memory",
    "ndim",
    "ops",
    "pad",
    "piecewise",
    "polyadd",
    "polyder",
    "polydiv",
    "polyint",
    "polymul",
    "polysub",
    "polyval",
    "promote_types",
    "s_",
    "shape",
    "shares_memory",
    "size",
    "tril_indices_from",
    "triu_indices_from",
]


def asnumpy(a):
    """A NumPy array of one's own; other things are handed to NumPy as they are.

    Parameters
    ----------
    a : array_like
        The array.

    Returns
    -------
    numpy.ndarray
        The elements.

    Examples
    --------
    >>> type(tt.asnumpy(tt.arange(3))).__module__
    'numpy'
    """
    if isinstance(a, _core.ndarray):
        return a.numpy()
    import numpy

    return numpy.asarray(a)


def astype(x, dtype, /, *, copy=True, device=None):
    """x as another type.

    Parameters
    ----------
    x : array_like
        The array.
    dtype : dtype
        The type of the result; None: as NumPy's rules have it.
    copy : bool, optional
        True: always a copy; False: never; None: where it is needed.
    device : Device or str, optional
        Where the result lives; None: where tutti chooses.

    Returns
    -------
    ndarray
        A copy, or x itself.

    Examples
    --------
    >>> tt.astype(tt.array([1.5]), "int64")
    array([1])
    """
    if not hasattr(x, "dtype"):
        raise TypeError(f"Input should be an array or scalar. It is a {type(x)} instead.")
    return _core.asanyarray(x).astype(dtype, copy=copy, device=device)


def copy(a, order="K", subok=False):
    """A copy of an array-like; order="F" lays its first axis innermost, "K" lies as the array does.

    Parameters
    ----------
    a : array_like
        The array.
    order : {'C', 'F', 'A', 'K'}, optional
        The order in memory.
    subok : bool, optional
        Results may be of a subclass.

    Returns
    -------
    ndarray
        The copy.

    Examples
    --------
    >>> tt.copy([1, 2])
    array([1, 2])
    """
    return _core.array(a, order=order, subok=subok)


def shape(a):
    """The lengths of the axes of an array-like.

    Parameters
    ----------
    a : array_like
        The array.

    Returns
    -------
    tuple of int
        The lengths.

    Examples
    --------
    >>> tt.shape([[1, 2]])
    (1, 2)
    """
    return _core.asarray(a).shape


def ndim(a):
    """The number of axes of an array-like; of what is no sequence, 0.

    Parameters
    ----------
    a : array_like
        The array.

    Returns
    -------
    int
        How many.

    Examples
    --------
    >>> tt.ndim([[1, 2]])
    2
    """
    if a is None or isinstance(a, (str, bytes, dict, set)):
        return 0
    return _core.asarray(a).ndim


def size(a, axis=None):
    """The number of elements of an array-like, or of one of its axes.

    Parameters
    ----------
    a : array_like
        The array.
    axis : int or tuple of int, optional
        The axis, or the axes, to go along; None: all.

    Returns
    -------
    int
        How many.

    Examples
    --------
    >>> tt.size([[1, 2]])
    2
    """
    a = _core.asarray(a)
    if axis is None:
        return a.size
    _core.functions["moveaxis"](a, axis, axis)  # refuses an axis that is not there, or named twice
    count = 1
    for k in axis if isinstance(axis, tuple) else (axis,):
        count *= a.shape[k]
    return count


def isscalar(element):
    """Is it a number, Python's or NumPy's, or a text?

    Parameters
    ----------
    element : object
        What is asked about.

    Returns
    -------
    bool
        Whether it is so.

    Examples
    --------
    >>> tt.isscalar(3.0)
    True
    """
    kinds = (_numbers.Number, str, bytes)
    return isinstance(element, kinds) or type(element).__name__ == "bool"  # NumPy's is no Number


def isfortran(a):
    """Is an array contiguous in Fortran order and not in C order?

    Parameters
    ----------
    a : array_like
        The array.

    Returns
    -------
    bool
        Whether it is so.

    Examples
    --------
    >>> tt.isfortran(tt.ones((2, 3)).T)
    True
    """
    return a.flags.f_contiguous and not a.flags.c_contiguous


def shares_memory(a, b, max_work=None):
    """Do two arrays have a byte of memory in common? Exactly; TooHardError after max_work steps of the search.

    Parameters
    ----------
    a : array_like
        The array.
    b : array_like
        The second array.
    max_work : int, optional
        The most steps of the search; None: as many as it takes.

    Returns
    -------
    bool
        Whether it is so.

    Examples
    --------
    >>> a = tt.arange(4)
    >>> tt.shares_memory(a[::2], a[1::2])
    False
    """
    return _core._overlap(a, b, max_work, True)


def may_share_memory(a, b, max_work=None):
    """Do the bounds of two arrays' memory overlap? With max_work, a search of so many steps is tried.

    Parameters
    ----------
    a : array_like
        The array.
    b : array_like
        The second array.
    max_work : int, optional
        The most steps of the search; None: as many as it takes.

    Returns
    -------
    bool
        Whether it may be so.

    Examples
    --------
    >>> a = tt.arange(4)
    >>> tt.may_share_memory(a[:2], a[1:])
    True
    """
    return _core._overlap(a, b, max_work, False)


def iscomplexobj(x):
    """Is the type of x complex?

    Parameters
    ----------
    x : array_like
        The array.

    Returns
    -------
    bool
        Whether it is so.

    Examples
    --------
    >>> tt.iscomplexobj([1j])
    True
    """
    return _core.asarray(x).dtype.kind == "c"


def isrealobj(x):
    """Is the type of x not complex?

    Parameters
    ----------
    x : array_like
        The array.

    Returns
    -------
    bool
        Whether it is so.

    Examples
    --------
    >>> tt.isrealobj([1j])
    False
    """
    return not iscomplexobj(x)


def promote_types(type1, type2):
    """The type that both types can be cast to.

    Parameters
    ----------
    type1 : dtype
        The first type.
    type2 : dtype
        The second type.

    Returns
    -------
    dtype
        The type.

    Examples
    --------
    >>> tt.promote_types("int8", "float32")
    dtype('float32')
    """
    return _core.functions["result_type"](_core.dtype(type1), _core.dtype(type2))


def fromfunction(function, shape, *, dtype=float, **kwargs):
    """function applied to the arrays of indices of a shape.

    Parameters
    ----------
    function : function
        The function of the indices.
    shape : int or tuple of int
        The lengths of the axes.
    dtype : dtype, optional
        The type of the result; None: as NumPy's rules have it.

    Returns
    -------
    object
        What the function gives.

    Examples
    --------
    >>> tt.fromfunction(lambda i, j: i + j, (2, 2), dtype="int64")
    array([[0, 1],
           [1, 2]])
    """
    return function(*_core.functions["indices"](shape, dtype=dtype), **kwargs)


def fromiter(iter, dtype, count=-1, *, like=None):  # noqa: A002 (NumPy's name)
    """An array of one axis from an iterable.

    Parameters
    ----------
    iter : iterable
        The numbers.
    dtype : dtype
        The type of the result; None: as NumPy's rules have it.
    count : int, optional
        How many elements; -1: all.
    like : array_like, optional
        Taken for NumPy's sake: the result is an ndarray.

    Returns
    -------
    ndarray
        Of one axis.

    Examples
    --------
    >>> tt.fromiter((k * k for k in range(3)), "int64")
    array([0, 1, 4])
    """
    items = list(_itertools.islice(iter, count) if count >= 0 else iter)
    if len(items) < count:
        raise ValueError(f"iterator too short: Expected {count} but iterator had only {len(items)} items.")
    return _core.array(items, "float64" if dtype is None else dtype)


class _IndexExpression:
    """s_[1:, None] is the index that stands between the brackets."""

    def __getitem__(self, key):
        return key


s_ = index_exp = _IndexExpression()


def ops():
    """The names of the elementwise functions, a row each in the library's table.

    Returns
    -------
    list of str
        The names.

    Examples
    --------
    >>> "add" in tt.ops()
    True
    """
    return sorted(_core.ops)


def block(arrays):
    """An array out of nested lists of blocks: the innermost lists are joined along the last axis.

    Parameters
    ----------
    arrays : nested lists of array_like
        The blocks.

    Returns
    -------
    ndarray
        The whole.

    Examples
    --------
    >>> tt.block([[tt.ones((1, 1)), tt.zeros((1, 2))]])
    array([[1., 0., 0.]])
    """

    def place(at):
        return "arrays" + "".join(f"[{k}]" for k in at)

    def first(x, at):
        """Where the first element of a list lies; all lie as deep."""
        if not isinstance(x, list):
            return at
        if not x:
            raise ValueError(f"List at {place(at)} cannot be empty")
        found = [first(part, (*at, k)) for k, part in enumerate(x)]
        for one in found:
            if len(one) != len(found[0]):
                raise ValueError(
                    f"List depths are mismatched. First element was at depth {len(found[0])}, but there is an "
                    f"element at depth {len(one)} ({place(one)})"
                )
        return found[0]

    def depth(x):
        return len(first(x, ()))

    def join(x, level):
        if not isinstance(x, list):
            return x[(None,) * _builtins.max(0, rank - x.ndim)]
        return f["concatenate"]([join(y, level + 1) for y in x], axis=level - levels)

    def convert(x):
        if isinstance(x, tuple):
            raise TypeError("block() takes lists of arrays, not tuples")
        return [convert(y) for y in x] if isinstance(x, list) else _core.asarray(x)

    def flat(x):
        return [z for y in x for z in flat(y)] if isinstance(x, list) else [x]

    f = _core.functions
    arrays = convert(arrays)
    levels = depth(arrays)
    rank = _builtins.max([levels, *(x.ndim for x in flat(arrays))])
    return join(arrays, 0) if levels else copy(arrays)


def apply_along_axis(func1d, axis, arr, *args, **kwargs):
    """func1d of every line along an axis, called once per line; its results stand where the axis was.

    Parameters
    ----------
    func1d : function
        The function of a line.
    axis : int or tuple of int
        The axis, or the axes, to go along; None: all.
    arr : array_like
        The array.

    Returns
    -------
    ndarray
        The results, where the axis was.

    Examples
    --------
    >>> tt.apply_along_axis(lambda line: line.max() - line.min(), 1, [[1, 5], [2, 9]])
    array([4, 7])
    """
    f, arr = _core.functions, _core.asarray(arr)
    lines = f["moveaxis"](arr, axis, -1)
    outer = lines.shape[:-1]
    flat = lines.reshape(_math.prod(outer), lines.shape[-1])
    if not flat.shape[0]:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    made = f["stack"]([_core.asarray(func1d(flat[k], *args, **kwargs)) for k in range(flat.shape[0])])
    inner = made.shape[1:]
    made = made.reshape(outer + inner)
    axis = axis + arr.ndim if axis < 0 else axis
    last = range(len(outer), len(outer) + len(inner))
    return f["moveaxis"](made, list(last), [axis + k for k in range(len(inner))]) if inner else made


def diag_indices_from(arr):
    """The indices of the main diagonal of a square array.

    Parameters
    ----------
    arr : array_like
        The array.

    Returns
    -------
    tuple of ndarray
        An array of indices for each axis.

    Examples
    --------
    >>> tt.diag_indices_from(tt.eye(2))
    (array([0, 1]), array([0, 1]))
    """
    if arr.ndim < 2:
        raise ValueError("input array must be at least 2-d")
    if len(set(arr.shape)) != 1:
        raise ValueError("All dimensions of input must be of equal length")
    return _core.functions["diag_indices"](arr.shape[0], arr.ndim)


def tril_indices_from(arr, k=0):
    """The indices of the lower triangle of a matrix.

    Parameters
    ----------
    arr : array_like
        The array.
    k : int, optional
        The diagonal: 0 the main one, above if positive, below if negative.

    Returns
    -------
    tuple of ndarray
        An array of indices for each axis.

    Examples
    --------
    >>> tt.tril_indices_from(tt.eye(2))
    (array([0, 1, 1]), array([0, 0, 1]))
    """
    if arr.ndim != 2:
        raise ValueError("input array must be 2-d")
    return _core.functions["tril_indices"](arr.shape[0], k, arr.shape[1])


def triu_indices_from(arr, k=0):
    """The indices of the upper triangle of a matrix.

    Parameters
    ----------
    arr : array_like
        The array.
    k : int, optional
        The diagonal: 0 the main one, above if positive, below if negative.

    Returns
    -------
    tuple of ndarray
        An array of indices for each axis.

    Examples
    --------
    >>> tt.triu_indices_from(tt.eye(2))
    (array([0, 0, 1]), array([0, 1, 1]))
    """
    if arr.ndim != 2:
        raise ValueError("input array must be 2-d")
    return _core.functions["triu_indices"](arr.shape[0], k, arr.shape[1])


def piecewise(x, condlist, funclist, *args, **kw):
    """Where a condition holds, its function of x or its number; the last one that holds counts.

    Parameters
    ----------
    x : array_like
        The array, or the points.
    condlist : array_like
        Conditions; the first that holds counts.
    funclist : sequence of function or number
        What stands where each condition holds.
    **kw : object
        Further arguments.

    Returns
    -------
    ndarray
        Of x's shape and type.

    Examples
    --------
    >>> tt.piecewise(tt.array([-1.0, 2.0]), [tt.array([True, False])], [lambda v: -v, 0])
    array([1., 0.])
    """
    f, x = _core.functions, _core.asarray(x)
    single = isscalar(condlist) or (x.ndim and not isinstance(condlist[0], list) and not ndim(condlist[0]))
    conditions = [_core.asarray(c).astype("bool") for c in ([condlist] if single else condlist)]
    if len({c.shape for c in conditions}) > 1:
        raise ValueError("setting an array element with a sequence. The requested array has an inhomogeneous shape")
    n, n_conditions = len(funclist), len(conditions)
    if n not in (n_conditions, n_conditions + 1):
        raise ValueError(
            f"with {n_conditions} condition(s), either {n_conditions} or {n_conditions + 1} functions are expected"
        )
    if not x.ndim:
        made = piecewise(x.reshape(1), [c.reshape(1) for c in conditions], funclist, *args, **kw)
        return made.reshape(())
    out = f["zeros_like"](x)
    if n > len(conditions):
        other = conditions[0]
        for c in conditions[1:]:
            other = other | c
        conditions.append(~other)
    for c, what in zip(conditions, funclist):
        if not callable(what):
            out[c] = what
        elif (values := x[c]).size:
            out[c] = what(values, *args, **kw)
    return out


def _of_polynomials(name):
    row = _core.functions[name]

    def function(*args, **names):
        made = row(*args, **names)
        poly1d = getattr(_sys.modules.get(__package__ + "._poly1d"), "poly1d", None)
        if poly1d is None or not any(isinstance(a, poly1d) for a in args[:2]):
            return made
        return tuple(map(poly1d, made)) if isinstance(made, tuple) else poly1d(made)

    function.__name__ = function.__qualname__ = name
    function.__doc__, function.__wrapped__ = row.__doc__, row
    return function


polyadd, polysub, polymul, polydiv = map(_of_polynomials, ("polyadd", "polysub", "polymul", "polydiv"))
polyder, polyint = map(_of_polynomials, ("polyder", "polyint"))
_row_polyval = _core.functions["polyval"]


def polyval(p, x):
    """The value of the polynomial with coefficients `p`, the highest power first, at `x`.

    Parameters
    ----------
    p : array_like or poly1d
        The coefficients, of one axis.
    x : array_like or poly1d
        Where; a poly1d: what is composed of the two.

    Returns
    -------
    ndarray or poly1d
        The values, of the shape of `x`.

    Examples
    --------
    >>> tt.polyval([1, 2, 3], 2)
    array(11)
    """
    if type(x).__name__ == "poly1d" and type(x).__module__ == __package__ + "._poly1d":
        return type(x)(p)(x)
    return _row_polyval(p, x)


_row_pad = _core.functions["pad"]


def pad(array, pad_width, mode="constant", **kwargs):
    """An array with borders.

    Parameters
    ----------
    array : array_like
        What gets them.
    pad_width : int, pair, pair for each axis, or dict of them by axis
        Elements before and after.
    mode : str or function
        NumPy's words; a function is called as function(line, widths, axis, kwargs) and fills in the borders of each
        line.
    **kwargs
        What the mode takes: constant_values, end_values, stat_length, reflect_type.

    Returns
    -------
    ndarray
        Of the array's type.

    Raises
    ------
    ValueError
        An unknown mode, a keyword that the mode does not take, negative widths.

    Examples
    --------
    >>> tt.pad([1, 2], 1)
    array([0, 1, 2, 0])
    """
    array = _core.asarray(array)
    if isinstance(pad_width, dict):
        by_axis = [(0, 0)] * array.ndim
        for axis, width in pad_width.items():
            by_axis[axis] = width if isinstance(width, (tuple, list)) else (width, width)
        pad_width = by_axis
    if not callable(mode):
        unknown = set(kwargs) - {"constant_values", "end_values", "stat_length", "reflect_type"}
        if unknown:
            raise ValueError(f"unsupported keyword arguments for mode '{mode}': {unknown}")
        return _row_pad(array, pad_width, mode, **kwargs)
    out = _row_pad(array, pad_width)
    pairs = _core.functions["broadcast_to"](pad_width, (array.ndim, 2)).tolist()
    for axis, widths in enumerate(pairs):
        for place in _itertools.product(*(range(n) for k, n in enumerate(out.shape) if k != axis)):
            mode(out[(*place[:axis], slice(None), *place[axis:])], tuple(widths), axis, kwargs)
    return out


def _shape_tuple(results):
    return tuple(results[0].tolist())


# NumPy gives sections as lists, and a shape is a tuple of numbers.
_core.result_types.update({n: list for n in ("split", "array_split", "hsplit", "vsplit", "dsplit")})
UniqueAllResult = _namedtuple("UniqueAllResult", ["values", "indices", "inverse_indices", "counts"])
UniqueCountsResult = _namedtuple("UniqueCountsResult", ["values", "counts"])
UniqueInverseResult = _namedtuple("UniqueInverseResult", ["values", "inverse_indices"])
_core.result_types["unique_all"] = UniqueAllResult._make
_core.result_types["unique_counts"] = UniqueCountsResult._make
_core.result_types["unique_inverse"] = UniqueInverseResult._make
_core.result_types["histogramdd"] = lambda results: (results[0], list(results[1:]))
_core.result_types["broadcast_shapes"] = _shape_tuple
_core.result_types["result_type"] = lambda results: results[0].dtype
