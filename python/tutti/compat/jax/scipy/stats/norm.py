"""The normal distribution."""

import math as _math

import tutti as _tt

from ..._array import all_giving_arrays as _all_giving_arrays


def logpdf(x, loc=0, scale=1):
    """The logarithm of the density."""
    z = (_tt.asarray(x) - loc) / scale
    return -0.5 * (z * z) - _tt.log(scale) - 0.5 * _math.log(2 * _math.pi)


def pdf(x, loc=0, scale=1):
    """The density."""
    return _tt.exp(logpdf(x, loc, scale))


def cdf(x, loc=0, scale=1):
    """The probability up to x."""
    return _tt.special.ndtr((_tt.asarray(x) - loc) / scale)


def logcdf(x, loc=0, scale=1):
    """Its logarithm."""
    return _tt.special.log_ndtr((_tt.asarray(x) - loc) / scale)


def sf(x, loc=0, scale=1):
    """The probability beyond x."""
    return cdf(-_tt.asarray(x), -_tt.asarray(loc), scale)


def ppf(q, loc=0, scale=1):
    """Where the probability is q."""
    return _tt.special.ndtri(q) * scale + loc


globals().update(_all_giving_arrays(globals()))
