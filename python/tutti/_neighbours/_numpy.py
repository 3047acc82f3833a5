"""Where NumPy and tutti meet: conversion, and NumPy's functions given arrays of ours.

Imported when NumPy calls in or a NumPy array is asked for, never before.
"""

import operator
import sys

import numpy as np

import tutti

from .. import _core
from .._hooks import THEIRS, rules
from .._insight import strict


def dtype(d):
    """The NumPy dtype of the same name; bfloat16 is ml_dtypes', where that is installed."""
    if d.name != "bfloat16":
        return np.dtype(d.name)
    try:
        import ml_dtypes
    except ImportError:
        raise TypeError("NumPy has no bfloat16 (the package ml_dtypes adds it); use astype('float32') first") from None
    return np.dtype(ml_dtypes.bfloat16)


def _shared(a):
    """The memory of an array as a read-only NumPy array."""
    if a.dtype.name == "bfloat16":
        return np.frombuffer(a.tobytes(), dtype(a.dtype)).reshape(a.shape)
    return np.asarray(memoryview(a))


# From here on several threads copy sooner than one, and a transfer from a device is worth sparing the host's copy.
_MANY = 1 << 20


def _read(a):
    """The elements in memory of NumPy's own, in C order, without a copy of ours in between."""
    made = np.empty(a.shape, dtype(a.dtype))
    _core._read(a, made.view(np.uint8) if a.dtype.name == "bfloat16" else made)
    return made


def array(a, want=None, copy=True):
    """numpy(), __array__(): a copy of one's own, or the shared read-only memory where copy permits."""
    same = want is None or dtype(a.dtype) == want
    if copy and same and a.nbytes >= _MANY and "copy" not in strict._now:
        if _core._layout(a)[0]:
            return _read(a)
        if _core._layout(a)[1]:
            return _read(a.T).T
    made = _shared(a)
    if want is not None and made.dtype != want:
        if copy is False:
            raise ValueError("Unable to avoid copy while creating an array as requested.")
        return made.astype(want)
    return np.array(made) if copy else made


def _plain(x):
    """x with every array of ours in it as a NumPy array."""
    if isinstance(x, _core.ndarray):
        return _shared(x)
    if type(x) in (tuple, list):
        return type(x)(map(_plain, x))
    if type(x) is dict:
        return {k: _plain(v) for k, v in x.items()}
    return x


def _by_numpy(function, args, kwargs):
    """What tutti has no function for, NumPy computes, from the shared memory."""
    if "fallback" in strict._now:
        raise tutti.exceptions.StrictError(f"tutti has no {function.__name__}(); strict() forbids leaving it to NumPy")
    return function(*_plain(args), **_plain(kwargs))


_OPERATORS = {
    "add": "add",
    "matmul": "matmul",
    "equal": "eq",
    "not_equal": "ne",
    "less": "lt",
    "less_equal": "le",
    "greater": "gt",
    "greater_equal": "ge",
    "subtract": "sub",
    "multiply": "mul",
    "divide": "truediv",
    "floor_divide": "floordiv",
    "remainder": "mod",
    "power": "pow",
    "bitwise_and": "and_",
    "bitwise_or": "or_",
    "bitwise_xor": "xor",
    "left_shift": "lshift",
    "right_shift": "rshift",
}


def their_operator(name, left, right):
    """`left op right` by the rules of another library: with our array if its class takes one, or else with NumPy's."""
    own = _core.ndarray
    method = getattr(type(right), f"__r{_OPERATORS[name].strip('_')}__", None) if isinstance(left, own) else None
    if method and not hasattr(type(right), "__array_ufunc__"):
        made = method(right, left)
        if made is not NotImplemented:
            return made
    return _by_numpy(getattr(operator, _OPERATORS[name]), (left, right), {})


def _are_theirs(objects):
    return any(rules(type(x)) == THEIRS for x in objects)


def _first_ours(ours, theirs, args, kwargs):
    """Our function's result; of arguments that have no place here, texts, dates, objects and None, NumPy's."""
    try:
        return ours(*args, **kwargs)
    except (TypeError, NotImplementedError) as error:
        if "fallback" in strict._now:
            raise
        try:
            return theirs(*_plain(args), **_plain(kwargs))
        except Exception:
            raise error from None


def _ufunc_call(ufunc, method, inputs, kwargs):
    function = getattr(tutti, ufunc.__name__, None)
    theirs = getattr(ufunc, method)
    if _are_theirs(inputs):
        return _by_numpy(theirs, inputs, kwargs)
    if function and method != "at":
        return _first_ours(getattr(function, method), theirs, inputs, kwargs)
    if function and not isinstance(inputs[0], np.ndarray):  # theirs, to be written
        return function.at(*inputs, **kwargs)
    if method == "at" and isinstance(inputs[0], _core.ndarray):  # what we share is not to be written
        copy = np.array(_plain(inputs[0]))
        _by_numpy(theirs, (copy, *inputs[1:]), kwargs)
        inputs[0][...] = copy
        return None
    return _by_numpy(theirs, inputs, kwargs)


def array_ufunc(self, ufunc, method, *inputs, **kwargs):
    """NumPy's ufuncs with an array of ours among the arguments."""
    out = kwargs.pop("out", None)
    if isinstance(out, tuple) and len(out) == 1:
        out = out[0]
    if out is None or isinstance(out, _core.ndarray):
        if out is not None:
            kwargs["out"] = out
        return _ufunc_call(ufunc, method, inputs, kwargs)
    if isinstance(out, tuple):
        return NotImplemented
    result = _ufunc_call(ufunc, method, inputs, kwargs)
    np.copyto(out, _plain(result), casting=kwargs.get("casting", "same_kind"))
    return out


def array_function(self, function, types, args, kwargs):
    """NumPy's functions with an array of ours among the arguments: the one of the same name here."""
    if any(rules(t) == THEIRS for t in types):
        return _by_numpy(function, args, kwargs)
    if not all(issubclass(t, (_core.ndarray, np.ndarray)) for t in types):
        return NotImplemented
    if function in (np.shares_memory, np.may_share_memory) and np.ndarray in types:
        return _by_numpy(function, args, kwargs)  # memory that ours shows
    place = (function.__module__ or "numpy").replace("numpy", "tutti", 1)
    ours = getattr(sys.modules.get(place), function.__name__, None)
    if not callable(ours):
        return _by_numpy(function, args, kwargs)
    return _first_ours(ours, function, args, kwargs)
