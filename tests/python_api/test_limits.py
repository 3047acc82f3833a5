"""What finfo and iinfo tell, what dir() lists of elements, and a series through a function."""

import numpy as np
import pytest
import tutti as tt

FLOATS = "nmant machep negep iexp nexp minexp maxexp bits precision eps epsneg max min tiny smallest_normal".split()


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "c8", "c16"])
def test_finfo(dtype):
    a, b = np.finfo(dtype), tt.finfo(dtype)
    assert [getattr(a, n) for n in FLOATS] == [getattr(b, n) for n in FLOATS]
    assert str(a).split() == str(b).split()


@pytest.mark.parametrize("dtype", ["i1", "u1", "i4", "u8"])
def test_iinfo(dtype):
    a, b = np.iinfo(dtype), tt.iinfo(dtype)
    assert [getattr(a, n) for n in "bits min max kind key".split()] == [b.bits, b.min, b.max, b.kind, b.key]
    assert str(a) == str(b)


@pytest.mark.parametrize("dtype", ["f4", "i8", "c16", "?"])
def test_elements_list_their_methods(dtype):
    """isinstance(x[0], numbers.Real) holds; what the names are must not follow that class."""
    x = tt.ones(3, dtype=dtype)
    assert dir(x[0]) == dir(x) and {"sum", "item", "__add__"} <= set(dir(x[0]))

    class Named(tt.ndarray):
        pass

    y = x.view(Named)
    y.unit = "m"
    assert {"unit", "sum"} <= set(dir(y))


def test_a_chebyshev_series_through_a_function():
    for domain in (None, [0, 2]):
        a = np.polynomial.Chebyshev.interpolate(lambda x, k: np.exp(x) * k, 4, domain, (3,))
        b = tt.polynomial.Chebyshev.interpolate(lambda x, k: tt.exp(x) * k, 4, domain, (3,))
        assert b.domain.tolist() == a.domain.tolist()
        np.testing.assert_allclose(np.asarray(b.coef), a.coef, rtol=1e-13, atol=1e-13)
