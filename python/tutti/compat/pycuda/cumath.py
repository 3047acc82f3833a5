"""pycuda.cumath: functions of each element of a GPUArray."""

import tutti as _tt

from .gpuarray import GPUArray, _plain

_NAMES = {
    "ceil": "ceil", "floor": "floor", "fabs": "fabs", "exp": "exp", "log": "log", "log10": "log10", "sqrt": "sqrt",
    "sin": "sin", "cos": "cos", "tan": "tan", "asin": "arcsin", "acos": "arccos", "atan": "arctan", "sinh": "sinh",
    "cosh": "cosh", "tanh": "tanh",
}  # fmt: skip


def _function(name):
    f = getattr(_tt, name)

    def function(array, stream_or_out=None, *, out=None, stream=None):
        out = stream_or_out if out is None and isinstance(stream_or_out, GPUArray) else out
        result = f(_plain(array))
        if out is None:
            return GPUArray._of(result)
        out[...] = GPUArray._of(result)
        return out

    return function


for _ours, _theirs in _NAMES.items():
    globals()[_ours] = _function(_theirs)


def fmod(arg, mod, stream=None):
    """What is left of a division, with the sign of the first."""
    return GPUArray._of(_tt.fmod(_plain(arg), _plain(mod)))


def frexp(arg, stream=None):
    """(mantissas from 0.5 up to 1, exponents), both of the array's type."""
    mantissa, exponent = _tt.frexp(_plain(arg))
    return GPUArray._of(mantissa), GPUArray._of(exponent.astype(mantissa.dtype))


def modf(arg, stream=None):
    """(what is behind the point, the whole number before it)."""
    behind, before = _tt.modf(_plain(arg))
    return GPUArray._of(behind), GPUArray._of(before)


def ldexp(significand, exponent, stream=None):
    """significand * 2 ** exponent."""
    return GPUArray._of(_plain(significand) * 2.0 ** _tt.trunc(_plain(exponent)))


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.pycuda does not cover pycuda.cumath.{name}")
