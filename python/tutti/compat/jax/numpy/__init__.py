"""jax.numpy: tutti's functions of these names, which are NumPy's."""

import tutti as _tt

from .._array import Array as ndarray
from .._array import array_of as _array_of
from .._array import giving_arrays as _giving_arrays
from . import fft, linalg

__all__ = ["fft", "linalg", "ndarray"]


def array(object, dtype=None, copy=True, order="K", ndmin=0, *, device=None):
    """An array of the elements."""
    return _array_of(_tt.array(object, dtype, copy=copy, order=order, ndmin=ndmin, device=device))


def dot(a, b, *, precision=None, preferred_element_type=None, out_sharding=None):
    """The product; it is always computed in the type of its operands."""
    return _array_of(_tt.dot(a, b))


def matmul(a, b, *, precision=None, preferred_element_type=None, out_sharding=None):
    """The product of matrices; it is always computed in the type of its operands."""
    return _array_of(_tt.matmul(a, b))


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    if name.startswith("_") or not hasattr(_tt, name) or name in _OTHERS:
        raise AttributeError(f"tutti.compat.jax does not cover jax.numpy.{name}")
    found = getattr(_tt, name)
    if callable(found) and not isinstance(found, (type, _tt.dtype)):
        found = globals()[name] = _giving_arrays(found)
    return found


# Names of tutti that are no functions of arrays, and functions that write in place.
_OTHERS = {
    "compat",
    "copyto",
    "grad",
    "hessian",
    "jacobian",
    "jit",
    "jvp",
    "nn",
    "optim",
    "put_along_axis",
    "putmask",
    "vjp",
}
