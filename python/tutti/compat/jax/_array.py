"""JAX's arrays: they do not change. `x += y` binds x to another array, and x.at has what writes instead."""

import functools
import operator

import tutti as _tt

_METHODS = ("accumulate", "at", "outer", "reduce", "reduceat")  # of ufuncs


class Array(_tt.ndarray):
    """An array that is not written in place."""

    def __setitem__(self, index, value):
        raise TypeError(
            "'Array' object does not support item assignment. JAX arrays are immutable. Instead of ``x[idx] = y``, use "
            "``x = x.at[idx].set(y)`` or another .at[] method: "
            "https://docs.jax.dev/en/latest/_autosummary/jax.numpy.ndarray.at.html"
        )

    @property
    def at(self):
        """at[index]: arrays with other elements there."""
        return _At(self)

    def sort(self, axis=-1):
        """The elements in order, as another array."""
        return array_of(_tt.sort(self, axis))

    def block_until_ready(self):
        """Who looks at the values waits for them."""
        return self


def _not_in_place(name):
    def changed(self, other):
        return getattr(operator, name)(self, other)

    return changed


for _name in (
    "add",
    "sub",
    "mul",
    "truediv",
    "floordiv",
    "mod",
    "pow",
    "matmul",
    "lshift",
    "rshift",
    "and_",
    "or_",
    "xor",
):
    setattr(Array, f"__i{_name.rstrip('_')}__", _not_in_place(_name))


def array_of(x):
    """The array, as one of JAX's."""
    return x.view(Array) if isinstance(x, _tt.ndarray) and not isinstance(x, Array) else x


def arrays_of(x):
    """The arrays in what a function gives."""
    if isinstance(x, _tt.ndarray):
        return array_of(x)
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return type(x)(*map(arrays_of, x))
    if type(x) in (tuple, list):
        return type(x)(map(arrays_of, x))
    return {k: arrays_of(v) for k, v in x.items()} if type(x) is dict else x


def giving_arrays(function):
    """The function, whose arrays are JAX's."""

    @functools.wraps(function)
    def call(*args, **kwargs):
        return arrays_of(function(*args, **kwargs))

    for name in _METHODS:
        if hasattr(function, name):
            setattr(call, name, giving_arrays(getattr(function, name)))
    return call


def all_giving_arrays(names):
    """The same of all public functions of a module."""
    return {
        name: giving_arrays(value)
        for name, value in names.items()
        if not name.startswith("_") and callable(value) and not isinstance(value, type)
    }


class _Update:
    """x.at[index]: arrays with other elements there."""

    def __init__(self, array, index):
        self._array, self._index = array, index

    def _changed(self, write):
        made = self._array.view(_tt.ndarray).copy()
        write(made)
        return array_of(made)

    def set(self, values, **how):
        return self._changed(lambda made: made.__setitem__(self._index, values))

    def get(self, **how):
        return array_of(self._array[self._index])

    def apply(self, func, **how):
        return self.set(func(self._array[self._index]))

    def _by(self, ufunc, values):
        # Places that are named twice are changed twice.
        values = _tt.asarray(values).astype(self._array.dtype)
        return self._changed(lambda made: ufunc.at(made, self._index, values))

    def add(self, values, **how):
        return self._by(_tt.add, values)

    def subtract(self, values, **how):
        return self._by(_tt.subtract, values)

    def multiply(self, values, **how):
        return self._by(_tt.multiply, values)

    mul = multiply

    def divide(self, values, **how):
        return self._by(_tt.divide, values)

    def power(self, values, **how):
        return self.set(self._array[self._index] ** values)

    def min(self, values, **how):
        return self._by(_tt.minimum, values)

    def max(self, values, **how):
        return self._by(_tt.maximum, values)


class _At:
    def __init__(self, array):
        self._array = array

    def __getitem__(self, index):
        return _Update(self._array, index)
