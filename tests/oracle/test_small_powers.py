"""Third and fourth powers are products: two units from NumPy's at most, and the same bits wherever they are done."""

import numpy as np
import pytest
import tutti as tt


@pytest.mark.parametrize("exponent", [3, 4, 3.0, 4.0])
@pytest.mark.parametrize("kind", ["f4", "f8"])
def test_floats(kind, exponent):
    x = (np.random.default_rng(0).standard_normal(5000) * 10.0).astype(kind)
    x[:8] = [0, -0.0, np.inf, -np.inf, np.nan, 1e30, -1e-30, 1]
    with np.errstate(all="ignore"):
        want, one = x**exponent, [v**exponent for v in tt.array(x[:200])]
    got = (tt.array(x) ** exponent).numpy()
    assert got.dtype == want.dtype
    np.testing.assert_array_max_ulp(got[np.isfinite(want)], want[np.isfinite(want)], 2)
    np.testing.assert_array_equal(got[:5], want[:5])
    np.testing.assert_array_equal(np.signbit(got[:2]), np.signbit(want[:2]))
    np.testing.assert_array_equal((tt.array(x[:200]) ** exponent).numpy(), got[:200])  # done at the call
    np.testing.assert_array_equal(np.array([v.item() for v in one], kind), got[:200])  # numbers


@pytest.mark.parametrize("kind", ["i1", "u1", "i4", "u4", "i8", "u8"])
def test_whole_numbers(kind):
    x = np.random.default_rng(1).integers(0, 127, 5000).astype(kind)
    for exponent in (3, 4):
        np.testing.assert_array_equal((tt.array(x) ** exponent).numpy(), x**exponent)
        np.testing.assert_array_equal((tt.array(x[:50]) ** exponent).numpy(), x[:50] ** exponent)
        assert (tt.array(x)[7] ** exponent).item() == (x[7:8] ** exponent)[0]


def test_others_stay():
    for x in (np.array([2, 3.5], "f2"), np.array([1 + 2j, 3]), np.array([True, False])):
        want, got = x**3, (tt.array(x) ** 3).numpy()
        assert got.dtype == want.dtype
        np.testing.assert_allclose(got, want, rtol=1e-3)


def test_a_cube_has_no_power(recorded):
    x = tt.array(np.ones(100_000, "f4"))
    assert "pow" not in str(tt.explain(x**3))
