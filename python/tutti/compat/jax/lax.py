"""jax.lax: control flow as the Python that it stands for, and functions of elements by their short names."""

import builtins as _builtins

import tutti as _tt

from ._array import all_giving_arrays as _all_giving_arrays
from ._mapping import in_turn as map  # noqa: F401
from .tree_util import tree_leaves as _tree_leaves
from .tree_util import tree_map as _tree_map

_SAME = {
    "abs": "abs", "acos": "arccos", "acosh": "arccosh", "add": "add", "argmax": "argmax", "argmin": "argmin",
    "asin": "arcsin", "asinh": "arcsinh", "atan": "arctan", "atan2": "arctan2", "atanh": "arctanh", "cbrt": "cbrt",
    "ceil": "ceil", "conj": "conj", "cos": "cos", "cosh": "cosh", "cumprod": "cumprod",
    "cumsum": "cumsum", "div": "divide", "dot": "dot", "eq": "equal", "exp": "exp", "exp2": "exp2",
    "expand_dims": "expand_dims", "expm1": "expm1", "floor": "floor", "full_like": "full_like", "ge": "greater_equal",
    "gt": "greater", "imag": "imag", "is_finite": "isfinite", "le": "less_equal", "log": "log", "log1p": "log1p",
    "lt": "less", "max": "maximum", "min": "minimum", "mul": "multiply", "ne": "not_equal", "neg": "negative",
    "nextafter": "nextafter", "pow": "power", "real": "real", "rem": "fmod", "reshape": "reshape", "round": "round",
    "sign": "sign", "sin": "sin", "sinh": "sinh", "sort": "sort", "sqrt": "sqrt", "square": "square",
    "squeeze": "squeeze", "sub": "subtract", "tan": "tan", "tanh": "tanh", "transpose": "transpose",
}  # fmt: skip
globals().update({_name: getattr(_tt, _ours) for _name, _ours in _SAME.items()})
erf, erfc, erf_inv = _tt.special.erf, _tt.special.erfc, _tt.special.erfinv
lgamma, digamma, logistic = _tt.special.gammaln, _tt.special.digamma, _tt.special.expit


def rsqrt(x):
    """One over the square root."""
    return 1 / _tt.sqrt(x)


def integer_pow(x, y):
    """x by itself y times."""
    return _tt.asarray(x) ** y


def reciprocal(x):
    """One over x."""
    return 1 / _tt.asarray(x)


def stop_gradient(x):
    """The values, of which no derivative is taken."""
    return _tree_map(lambda a: a.detach() if isinstance(a, _tt.ndarray) else a, x)


def select(pred, on_true, on_false):
    """The one where pred holds, else the other."""
    return _tt.where(pred, on_true, on_false)


def clamp(min, x, max):
    """x between two ends."""
    return _tt.clip(x, min, max)


def concatenate(operands, dimension):
    """Arrays behind each other."""
    return _tt.concatenate(operands, dimension)


def full(shape, fill_value, dtype=None):
    """An array of one value."""
    return _tt.full(shape, fill_value, dtype)


def iota(dtype, size):
    """The numbers below size."""
    return _tt.arange(size, dtype=dtype)


def convert_element_type(operand, new_dtype):
    """The values as another type."""
    return _tt.asarray(operand).astype(new_dtype)


def top_k(operand, k):
    """The k largest along the last axis and their places, the first of equal ones first."""
    places = _tt.argsort(-operand, -1, kind="stable")[..., :k]
    return _tt.take_along_axis(operand, places, -1), places


def _starts(operand, start_indices, sizes):
    ends = zip(start_indices, operand.shape, sizes, strict=True)
    return [_builtins.min(_builtins.max(int(s), 0), n - k) for s, n, k in ends]


def dynamic_slice(operand, start_indices, slice_sizes):
    """A block that begins somewhere; it is moved inside where it would reach beyond."""
    at = _starts(operand, start_indices, slice_sizes)
    return operand[tuple(slice(s, s + k) for s, k in zip(at, slice_sizes, strict=True))]


def dynamic_update_slice(operand, update, start_indices):
    """The array with another block."""
    at = _starts(operand, start_indices, update.shape)
    made = _tt.array(operand)
    made[tuple(slice(s, s + k) for s, k in zip(at, update.shape, strict=True))] = update
    return made


def dynamic_index_in_dim(operand, index, axis=0, keepdims=True):
    """One element along an axis."""
    taken = _tt.take(operand, int(index), axis, mode="clip")
    return _tt.expand_dims(taken, axis) if keepdims else taken


def cond(pred, true_fun, false_fun, *operands):
    """What one of two functions gives."""
    return (true_fun if pred else false_fun)(*operands)


def switch(index, branches, *operands):
    """What one of several functions gives."""
    return branches[_builtins.max(0, _builtins.min(int(index), len(branches) - 1))](*operands)


def while_loop(cond_fun, body_fun, init_val):
    """The function again and again while a condition holds."""
    value = init_val
    while cond_fun(value):
        value = body_fun(value)
    return _tree_map(_tt.asarray, value)


def fori_loop(lower, upper, body_fun, init_val, *, unroll=None):
    """The function for each number from lower up to upper."""
    value = init_val
    for k in range(int(lower), int(upper)):
        value = body_fun(k, value)
    return _tree_map(_tt.asarray, value)


def scan(f, init, xs=None, length=None, reverse=False, unroll=1):
    """A function that carries a value along the first axis, and what it gives besides beside each other."""
    count = length if xs is None or not _tree_leaves(xs) else len(_tree_leaves(xs)[0])
    carry, made = init, [None] * count
    for k in reversed(range(count)) if reverse else range(count):
        carry, made[k] = f(carry, _tree_map(lambda x, k=k: x[k], xs))
    if not count:
        raise NotImplementedError("tutti.compat.jax does not cover scan over nothing")
    stacked = _tree_map(lambda *ys: _tt.stack([_tt.asarray(y) for y in ys]), *made)
    return _tree_map(_tt.asarray, carry), stacked


globals().update(_all_giving_arrays(globals()))


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.jax does not cover jax.lax.{name}")
