"""pyopencl.clmath: functions of each element of an array."""

import math

import numpy as np

import tutti as _tt

from .array import Array, _at, _order, _plain, _queue_of

_special = _tt.special


def _sinpi(x):
    """Exact at whole numbers: what is left of half turns is taken to the quarter around zero."""
    left = x - 2 * _tt.round(x * 0.5)
    return _tt.sin(math.pi * _tt.where(abs(left) > 0.5, _tt.copysign(_tt.ones_like(x), left) - left, left))


def _cospi(x):
    return _tt.sin(math.pi * (0.5 - abs(x - 2 * _tt.round(x * 0.5))))


def _round(x):
    """To the nearest whole number, from the middle away from zero."""
    whole = _tt.trunc(x)
    return _tt.where(abs(x - whole) >= 0.5, whole + _tt.copysign(_tt.ones_like(x), x), whole)


def _exponent(x):
    return _tt.frexp(x)[1] - 1


_FUNCTIONS = {
    "acos": _tt.arccos, "acosh": _tt.arccosh, "acospi": lambda x: _tt.arccos(x) / math.pi, "asin": _tt.arcsin,
    "asinh": _tt.arcsinh, "asinpi": lambda x: _tt.arcsin(x) / math.pi, "atan": _tt.arctan, "atanh": _tt.arctanh,
    "atanpi": lambda x: _tt.arctan(x) / math.pi, "cbrt": _tt.cbrt, "ceil": _tt.ceil, "cos": _tt.cos,
    "cosh": _tt.cosh, "cospi": _cospi, "erfc": _special.erfc, "erf": _special.erf,
    "exp": _tt.exp, "exp2": _tt.exp2, "exp10": _special.exp10, "expm1": _tt.expm1, "fabs": abs, "floor": _tt.floor,
    "ilogb": lambda x: _exponent(x).astype("int32"), "lgamma": _special.gammaln, "log": _tt.log, "log2": _tt.log2,
    "log10": _tt.log10, "log1p": _tt.log1p, "logb": lambda x: _exponent(x).astype(x.dtype),
    "rint": _tt.round, "round": _round, "sin": _tt.sin, "sinh": _tt.sinh,
    "sinpi": _sinpi, "sqrt": _tt.sqrt, "tan": _tt.tan, "tanh": _tt.tanh,
    "tanpi": lambda x: _tt.tan(math.pi * (x - _tt.round(x))), "tgamma": _special.gamma, "trunc": _tt.trunc,
}  # fmt: skip


def _function(name, f):
    def function(array, queue=None):
        return Array._of(f(array._value()), array, _order(array), _queue_of(queue, array))

    function.__name__, function.__doc__ = name, f"OpenCL C's {name} of each element."
    return function


for _name, _f in _FUNCTIONS.items():
    globals()[_name] = _function(_name, _f)


def _of_two(f, a, b, queue):
    like = a if isinstance(a, Array) else b
    return Array._of(f(_plain(a), _plain(b)), like, _order(a, b), _queue_of(queue, a, b))


def atan2(y, x, queue=None):
    """The angle of a point."""
    return _of_two(_tt.arctan2, y, x, queue)


def atan2pi(y, x, queue=None):
    """The same in half turns."""
    return _of_two(lambda a, b: _tt.arctan2(a, b) / math.pi, y, x, queue)


def fmod(arg, mod, queue=None):
    """What is left of a division, with the sign of the first."""
    return _of_two(_tt.fmod, arg, mod, queue)


def ldexp(significand, exponent, queue=None):
    """significand * 2 ** exponent."""
    return _of_two(
        lambda s, e: _tt.ldexp(s, _tt.asarray(e, device=_at()).astype("int32")), significand, exponent, queue
    )


def frexp(arg, queue=None):
    """(mantissas from 0.5 up to 1, exponents), both of the array's type."""
    mantissa, exponent = _tt.frexp(arg._value())
    return _both(arg, queue, mantissa, exponent.astype(mantissa.dtype))


def modf(arg, queue=None):
    """(what is behind the point, the whole number before it)."""
    return _both(arg, queue, *_tt.modf(arg._value()))


def _both(like, queue, *results):
    return tuple(Array._of(r, like, _order(like), _queue_of(queue, like)) for r in results)


def nan(nancode, queue=None):
    """As many NaNs as there are codes."""
    kind = {4: np.float32, 8: np.float64}[nancode.dtype.itemsize]
    made = _tt.full(nancode.shape, math.nan, dtype=np.dtype(kind).name, device=nancode._at())
    return Array._of(made, nancode, queue=queue)


def _real(x, name):
    if x.dtype.kind == "c":
        raise NotImplementedError(f"clmath.{name} of complex numbers is not covered")
    return x._value()


def bessel_jn(n, x, queue=None):
    """The Bessel function of the first kind and of a whole order."""
    return Array._of(_special.jv(_plain(n), _real(x, "bessel_jn")), x, _order(x), _queue_of(queue, x))


def bessel_yn(n, x, queue=None):
    """The Bessel function of the second kind and of a whole order."""
    return Array._of(_special.yn(_plain(n), _real(x, "bessel_yn")), x, _order(x), _queue_of(queue, x))


def hankel_01(x, queue=None):
    """The Hankel functions of the first kind and of the orders 0 and 1."""
    of = _real(x, "hankel_01")
    return _both(x, queue, *(j(of) + 1j * y(of) for j, y in ((_special.j0, _special.y0), (_special.j1, _special.y1))))


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.pyopencl does not cover pyopencl.clmath.{name}")
