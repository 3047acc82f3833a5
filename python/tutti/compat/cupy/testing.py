"""cupy.testing: NumPy's comparisons, for arrays of either kind."""

import functools as _functools

import numpy.testing as _testing

from . import asnumpy as _asnumpy


def _compare(name):
    of_numpy = getattr(_testing, name)

    @_functools.wraps(of_numpy)
    def function(*args, **names):
        return of_numpy(*map(_asnumpy, args[:2]), *args[2:], **names)

    return function


_COVERED = [
    "assert_allclose", "assert_array_almost_equal", "assert_array_almost_equal_nulp", "assert_array_equal",
    "assert_array_less", "assert_array_max_ulp",
]  # fmt: skip
for _name in _COVERED:
    globals()[_name] = _compare(_name)


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.cupy does not cover cupy.testing.{name}")
