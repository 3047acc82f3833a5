"""Functions that only rearrange calls of others: NumPy's conveniences over arrays of ours."""

import builtins as _builtins
import itertools as _itertools
import numbers as _numbers
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
    "promote_types",
    "s_",
    "shape",
    "shares_memory",
    "size",
    "tril_indices_from",
    "triu_indices_from",
]


def asnumpy(a):
    """A NumPy array of one's own; other things are handed to NumPy as they are."""
    if isinstance(a, _core.ndarray):
        return a.numpy()
    import numpy

    return numpy.asarray(a)


def astype(x, dtype, /, *, copy=True, device=None):
    """x as another type."""
    return _core.asarray(x).astype(dtype, copy=copy, device=device)


def copy(a, order="K", subok=False):
    """A copy of an array-like; order="F" lays its first axis innermost, "K" lies as the array does."""
    return _core.array(a, order=order)


def shape(a):
    """The lengths of the axes of an array-like."""
    return _core.asarray(a).shape


def ndim(a):
    """The number of axes of an array-like."""
    return _core.asarray(a).ndim


def size(a, axis=None):
    """The number of elements of an array-like, or of one of its axes."""
    a = _core.asarray(a)
    return a.size if axis is None else a.shape[axis]


def isscalar(element):
    """Is it a number, Python's or NumPy's, or a text?"""
    kinds = (_numbers.Number, str, bytes)
    return isinstance(element, kinds) or type(element).__name__ == "bool"  # NumPy's is no Number


def isfortran(a):
    """Is an array contiguous in Fortran order and not in C order?"""
    return a.flags.f_contiguous and not a.flags.c_contiguous


def shares_memory(a, b, max_work=None):
    """Do two arrays have a byte of memory in common? Exactly; TooHardError after max_work steps of the search."""
    return _core._overlap(a, b, max_work, True)


def may_share_memory(a, b, max_work=None):
    """Do the bounds of two arrays' memory overlap? With max_work, a search of so many steps is tried."""
    return _core._overlap(a, b, max_work, False)


def iscomplexobj(x):
    """Is the type of x complex?"""
    return _core.asarray(x).dtype.kind == "c"


def isrealobj(x):
    """Is the type of x not complex?"""
    return not iscomplexobj(x)


def promote_types(type1, type2):
    """The type that both types can be cast to."""
    return _core.functions["result_type"](_core.dtype(type1), _core.dtype(type2))


def fromfunction(function, shape, *, dtype=float, **kwargs):
    """function applied to the arrays of indices of a shape."""
    return function(*_core.functions["indices"](shape, dtype=dtype), **kwargs)


def fromiter(iter, dtype, count=-1):  # noqa: A002 (NumPy's name)
    """An array of one axis from an iterable."""
    items = list(_itertools.islice(iter, count) if count >= 0 else iter)
    if len(items) < count:
        raise ValueError(f"iterator too short: Expected {count} but iterator had only {len(items)} items.")
    return _core.array(items, dtype)


class _IndexExpression:
    """s_[1:, None] is the index that stands between the brackets."""

    def __getitem__(self, key):
        return key


s_ = index_exp = _IndexExpression()


def ops():
    """The names of the elementwise functions, a row each in the library's table."""
    return sorted(_core.ops)


def block(arrays):
    """An array out of nested lists of blocks: the innermost lists are joined along the last axis."""

    def depth(x):
        return 1 + max(map(depth, x)) if isinstance(x, list) else 0

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
    """func1d of every line along an axis, called once per line; its results stand where the axis was."""
    f, arr = _core.functions, _core.asarray(arr)
    lines = f["moveaxis"](arr, axis, -1)
    outer = lines.shape[:-1]
    flat = lines.reshape(-1, lines.shape[-1])
    if not flat.shape[0]:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    made = f["stack"]([_core.asarray(func1d(flat[k], *args, **kwargs)) for k in range(flat.shape[0])])
    inner = made.shape[1:]
    made = made.reshape(outer + inner)
    axis = axis + arr.ndim if axis < 0 else axis
    last = range(len(outer), len(outer) + len(inner))
    return f["moveaxis"](made, list(last), [axis + k for k in range(len(inner))]) if inner else made


def diag_indices_from(arr):
    """The indices of the main diagonal of a square array."""
    if arr.ndim < 2:
        raise ValueError("input array must be at least 2-d")
    if len(set(arr.shape)) != 1:
        raise ValueError("All dimensions of input must be of equal length")
    return _core.functions["diag_indices"](arr.shape[0], arr.ndim)


def tril_indices_from(arr, k=0):
    """The indices of the lower triangle of a matrix."""
    if arr.ndim != 2:
        raise ValueError("input array must be 2-d")
    return _core.functions["tril_indices"](arr.shape[0], k, arr.shape[1])


def triu_indices_from(arr, k=0):
    """The indices of the upper triangle of a matrix."""
    if arr.ndim != 2:
        raise ValueError("input array must be 2-d")
    return _core.functions["triu_indices"](arr.shape[0], k, arr.shape[1])


def piecewise(x, condlist, funclist, *args, **kw):
    """Where a condition holds, its function of x or its number; the last one that holds counts."""
    f, x = _core.functions, _core.asarray(x)
    many = isinstance(condlist, (list, tuple)) and len(condlist) and not isscalar(condlist[0])
    conditions = [_core.asarray(c).astype("bool") for c in (condlist if many else [condlist])]
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
        out[c] = what(x[c], *args, **kw) if callable(what) else what
    return out


_row_pad = _core.functions["pad"]


def pad(array, pad_width, mode="constant", **kwargs):
    """An array with borders.

    `pad_width` is a number, a pair, a pair for each axis, or a dict of them by axis; `mode` a word or a function that
    is called as function(line, widths, axis, kwargs) and fills in the borders of each line.
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
