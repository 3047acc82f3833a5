"""CuPy's names over tutti: its array functions are NumPy's, its kernels are tutti's.

Replace `import cupy` by `import tutti.compat.cupy as cupy`, or run the script by `python -m tutti run`.
"""

import functools as _functools

import numpy as _np

import tutti as _tt
from tutti import ElementwiseKernel, RawKernel, ReductionKernel, ndarray

from . import cuda, exceptions, random  # noqa: F401

__version__ = "13.0.0"
__all__ = ["ElementwiseKernel", "RawKernel", "RawModule", "ReductionKernel", "cuda", "ndarray", "random", "testing"]

# CuPy's types are NumPy's own: programs call them, ask for subclasses and have them as keys.
_TYPES = [
    "generic", "number", "integer", "signedinteger", "unsignedinteger", "inexact", "floating", "complexfloating",
    "bool", "bool_", "byte", "short", "intc", "int_", "long", "longlong", "intp", "int8", "int16", "int32", "int64",
    "ubyte", "ushort", "uintc", "uint", "ulong", "ulonglong", "uintp", "uint8", "uint16", "uint32", "uint64",
    "half", "single", "double", "float16", "float32", "float64", "csingle", "cdouble", "complex64", "complex128",
    "dtype",
]  # fmt: skip
globals().update({_name: getattr(_np, _name) for _name in _TYPES})
float_, complex_, cfloat, singlecomplex = _np.float64, _np.complex128, _np.complex128, _np.complex64


def array(obj, dtype=None, copy=True, order="K", subok=False, ndmin=0, *, blocking=False, device=None):
    """An array of the elements. `blocking` is how CuPy copies from the host: here each copy is done at the call."""
    return _tt.array(obj, dtype, copy=copy, order=order, subok=subok, ndmin=ndmin, device=device)


def asarray(a, dtype=None, order=None, *, copy=None, blocking=False, device=None):
    """An array of the elements, without a copy where it is one. `blocking` as in `array`."""
    return _tt.asarray(a, dtype, order=order, copy=copy, device=device)


def asanyarray(a, dtype=None, order=None, *, copy=None, blocking=False, device=None):
    """As `asarray`, and subclasses stay what they are."""
    return _tt.asanyarray(a, dtype, order=order, copy=copy, device=device)


def asnumpy(a, stream=None, order="C", out=None, *, blocking=True):
    """The elements as a NumPy array."""
    host = _np.asarray(a.numpy() if isinstance(a, ndarray) else a, order=order)
    if out is None:
        return host
    out[...] = host
    return out


def get_array_module(*args):
    """This module if one of the arguments is an array of it, else NumPy."""
    import sys

    return sys.modules[__name__] if any(isinstance(a, ndarray) for a in args) else _np


def is_available():
    """Can kernels run? They can everywhere."""
    return cuda.is_available()


def in1d(ar1, ar2, assume_unique=False, invert=False):
    """`isin` of the elements in a line."""
    return _tt.isin(_tt.ravel(ar1), ar2, assume_unique, invert)


def msort(a):
    """Sorted along the first axis."""
    return _tt.sort(a, axis=0)


def argmax(a, axis=None, dtype=None, out=None, keepdims=False):
    """The place of the largest element, as an integer of `dtype`."""
    of = _np if isinstance(a, _np.ndarray) else _tt
    return _places(of.argmax(a, axis, out, keepdims=keepdims), dtype)


def argmin(a, axis=None, dtype=None, out=None, keepdims=False):
    """The place of the smallest element, as an integer of `dtype`."""
    of = _np if isinstance(a, _np.ndarray) else _tt
    return _places(of.argmin(a, axis, out, keepdims=keepdims), dtype)


def _places(found, dtype):
    return found if dtype is None else found.astype(dtype)


round_, cumproduct = _tt.around, _tt.cumprod


def memoize(for_each_device=False):
    """A decorator that keeps a function's results."""
    return _functools.cache


class RawModule(_tt.RawModule):
    """CUDA C source; its errors are those of CUDA's driver."""

    @_functools.wraps(_tt.RawModule.__init__)
    def __init__(self, *args, **kw):
        try:
            super().__init__(*args, **kw)
        except FileNotFoundError as e:
            raise cuda.driver.CUDADriverError(f"CUDA_ERROR_FILE_NOT_FOUND: file not found ({e})") from None

    def get_function(self, name):
        """The kernel of that name."""
        try:
            return super().get_function(name)
        except ValueError as e:
            raise cuda.driver.CUDADriverError(f"CUDA_ERROR_NOT_FOUND: named symbol not found ({e})") from None


def _of_either(name):
    """A function that asks an array for its method, as CuPy's does: of NumPy's arrays the result is NumPy's."""
    ours = getattr(_tt, name)

    @_functools.wraps(ours)
    def function(a, *args, **kw):
        return getattr(a, name)(*args, **kw) if isinstance(a, _np.ndarray) else ours(a, *args, **kw)

    return function


sum, prod, max, min = map(_of_either, ("sum", "prod", "max", "min"))  # noqa: A001
amax, amin = max, min


def _is_numpys(args):
    """Are the arrays among the arguments NumPy's, all of them?"""
    arrays = [a for a in args if isinstance(a, (ndarray, _np.ndarray))]
    return len(arrays) > 0 and not any(isinstance(a, ndarray) for a in arrays)


def _as_numpys(result):
    """What a function returned, with NumPy's arrays for ours."""
    if isinstance(result, (list, tuple)):
        return getattr(type(result), "_make", type(result))(map(_as_numpys, result))
    if isinstance(result, dict):
        return {k: _as_numpys(v) for k, v in result.items()}
    return result.numpy()[()] if isinstance(result, ndarray) else result


def fuse(*args, kernel_name=None):
    """A decorator that fuses operations: here they fuse by themselves. Of NumPy's arrays the results are NumPy's."""

    def fused(function):
        @_functools.wraps(function)
        def call(*args, **kw):
            result = function(*args, **kw)
            return _as_numpys(result) if _is_numpys([*args, *kw.values()]) else result

        call.clear_cache = lambda: None  # kernels are kept by what they compute
        if kernel_name:
            call.__name__ = kernel_name
        return call

    return fused(args[0]) if len(args) == 1 and callable(args[0]) else fused


def get_default_memory_pool():
    return cuda.MemoryPool()


def get_default_pinned_memory_pool():
    return cuda.PinnedMemoryPool()


def __getattr__(name):
    if name == "testing":
        import importlib

        return importlib.import_module(".testing", __name__)
    if not name.startswith("_") and hasattr(_tt, name):
        return getattr(_tt, name)
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.cupy does not cover cupy.{name}")
