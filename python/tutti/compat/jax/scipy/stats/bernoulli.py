"""The Bernoulli distribution."""

import tutti as _tt

from ..._array import all_giving_arrays as _all_giving_arrays


def logpmf(k, p, loc=0):
    """The logarithm of the probability of k, which is 0 or 1."""
    k = _tt.asarray(k) - loc
    inside = _tt.special.xlogy(k, p) + _tt.special.xlog1py(1 - k, -_tt.asarray(p))
    return _tt.where((k == 0) | (k == 1), inside, -_tt.inf)


def pmf(k, p, loc=0):
    """The probability of k."""
    return _tt.exp(logpmf(k, p, loc))


globals().update(_all_giving_arrays(globals()))
