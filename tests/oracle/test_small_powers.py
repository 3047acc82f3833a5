"""Powers as products, and near and far arguments: the same bits wherever they are done."""

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
    for exponent in (3, 4, 5, 7, 8, 31, 32, 33):
        np.testing.assert_array_equal((tt.array(x) ** exponent).numpy(), x**exponent)
        np.testing.assert_array_equal((tt.array(x[:50]) ** exponent).numpy(), x[:50] ** exponent)
        assert (tt.array(x)[7] ** exponent).item() == (x[7:8] ** exponent)[0]


@pytest.mark.parametrize("kind", ["f4", "f8"])
def test_near_and_far_arguments_have_the_same_bits(kind):
    """A block is computed without branches where all of it is near; what stands beside changes no bit."""
    rng = np.random.default_rng(2)
    x = np.abs(rng.standard_normal(3000) * 10.0 ** rng.integers(-9, 9, 3000)).astype(kind)
    y = (rng.standard_normal(3000) * 10.0 ** rng.integers(-3, 3, 3000)).astype(kind)
    x[::50], y[::75] = 0, 2.5
    odd = np.array([np.nan, np.inf, -np.inf, -1.5, -0.0, 1e-40, 0], kind)
    for name in ("power", "hypot", "log2", "log10"):
        f, n = getattr(tt, name), 1 + (name in ("power", "hypot"))
        alone = f(*[tt.array(v) for v in (x, y)[:n]]).numpy()
        for value in odd:
            a, b = x.copy(), y.copy()
            a[1::2], b[1::2] = value, np.roll(odd, 3)[np.arange(1500) % 7]
            beside = f(*[tt.array(v) for v in (a, b)[:n]]).numpy()
            np.testing.assert_array_equal(beside[::2].view("u" + kind[1]), alone[::2].view("u" + kind[1]))
            with np.errstate(all="ignore"):
                want = getattr(np, name)(*(v[1::2] for v in (a, b)[:n]))
            np.testing.assert_allclose(beside[1::2], want, rtol=1e-6 if kind == "f4" else 1e-15, atol=0)


def test_others_stay():
    for x in (np.array([2, 3.5], "f2"), np.array([1 + 2j, 3]), np.array([True, False])):
        want, got = x**3, (tt.array(x) ** 3).numpy()
        assert got.dtype == want.dtype
        np.testing.assert_allclose(got, want, rtol=1e-3)


def test_a_cube_has_no_power(recorded):
    x = tt.array(np.ones(100_000, "f4"))
    assert "pow" not in str(tt.explain(x**3))
