"""Special functions of complex numbers against mpmath, and beside SciPy where it has numbers.

An error is counted in units of float64 of the value's size, not of each part: a part that is small beside the other has
fewer digits. BOUNDS are what was measured, rounded up; gamma far out loses what the exponential of its logarithm costs.
"""

import warnings

import numpy as np
import pytest
import tiers
import tutti as tt
from tutti import special

mpmath = pytest.importorskip("mpmath")
mp, mpc = mpmath.mp, mpmath.mpc
COUNT = 60


def plane(low, high, centre=0):
    """Around a point, at 10 to even powers and in any direction."""
    return lambda r: centre + 10 ** r.uniform(low, high, COUNT) * np.exp(1j * r.uniform(-np.pi, np.pi, COUNT))


def right(low, high):
    def of(r):
        z = plane(low, high)(r)
        return abs(z.real) + 1j * z.imag

    return of


def both(*parts):
    return lambda r: np.concatenate([p(r) for p in parts])


def beside(r):
    """Close to the axes, whole numbers among them: a square, a turn or a term that is off by a digit is seen here."""
    x = r.uniform(-6, 6, COUNT)
    small = 10 ** r.uniform(-12, 0, COUNT) * np.exp(1j * r.uniform(-np.pi, np.pi, COUNT))
    return np.concatenate([x + 1j * small.imag, 1j * x + small.real, np.round(x) + small])


def beside_but(zero):
    def of(r):
        z = beside(r)
        return z[abs(z - zero) > 0.3]

    return of


def digits(f):
    """With as many digits as e^(z^2) may cancel."""

    def of(z):
        with mpmath.workdps(60 + int(min(abs(z), 40) ** 2)):
            return f(z)

    return of


GAMMA = both(plane(-8, 1), plane(-6, 0, 1), plane(-6, 0, 2))
# function, reference, operands, units
ROWS = {
    "erf": (digits(mp.erf), both(plane(-8, 0.75), beside), 8),
    "erfc": (digits(mp.erfc), both(plane(-3, 0.75), beside), 8),
    "erfcx": (digits(lambda z: mp.exp(z * z) * mp.erfc(z)), both(right(-4, 1.3), plane(-4, 0.7), beside), 8),
    "wofz": (digits(lambda z: mp.exp(-z * z) * mp.erfc(-1j * z)), both(plane(-4, 0.7), beside), 8),
    "dawsn": (digits(lambda z: z * mp.exp(-z * z) * mp.hyp1f1(0.5, 1.5, z * z)), both(plane(-8, 0.75), beside), 8),
    "ndtr": (digits(lambda z: mp.erfc(-z / mp.sqrt(2)) / 2), plane(-3, 0.75), 40),
    "gamma": (mp.gamma, plane(-8, 1), 40),
    "loggamma": (mp.loggamma, both(GAMMA, plane(1, 3)), 30),
    "digamma": (mp.digamma, plane(-8, 3), 16),
    "exp1": (digits(mp.e1), both(plane(-8, 2), beside), 14),
    "expi": (digits(mp.ei), both(plane(-8, 2), beside_but(0.3725)), 14),
    "lambertw": (mp.lambertw, both(plane(-8, 8), plane(-3, 0, -0.36)), 8),
}


def sample(name, seed=0):
    return ROWS[name][1](np.random.default_rng([seed, *map(ord, name)]))


def off(got, want):
    return float(abs(mpc(got) - want) / abs(want)) / 2**-52


@pytest.mark.parametrize("name", ROWS)
def test_accuracy(name):
    f, _, bound = ROWS[name]
    z = sample(name)
    got = np.asarray(getattr(special, name)(tt.asarray(z)))
    assert got.dtype == "complex128"
    worst = (0.0,)
    with mpmath.workdps(40):
        for g, x in zip(got.tolist(), z.tolist()):
            want = f(mpc(x))
            if 1e-290 < abs(want) < 1e290:
                worst = max(worst, (off(g, want), repr(x), repr(g)))
    assert worst[0] <= bound, worst


def test_gamma_far_out():
    """Its condition is |z digamma(z)|: some hundred units at |z| = 100."""
    z = plane(1, 2)(np.random.default_rng(3))
    got = np.asarray(special.gamma(tt.asarray(z)))
    with mpmath.workdps(40):
        for g, x in zip(got.tolist(), z.tolist()):
            want = mp.gamma(mpc(x))
            if 1e-290 < abs(want) < 1e290:
                assert off(g, want) <= 40 + 4 * abs(complex(x * mp.digamma(x)))


@pytest.mark.parametrize("branch", [-7, -1, 1, 2])
def test_branches_of_lambertw(branch):
    z = plane(-8, 8)(np.random.default_rng(7 + branch))
    got = np.asarray(special.lambertw(tt.asarray(z), branch))
    with mpmath.workdps(40):
        assert max(off(g, mp.lambertw(mpc(x), branch)) for g, x in zip(got.tolist(), z.tolist())) <= 8


def test_real_arguments_of_lambertw():
    x = np.array([-0.367, -0.3, -1e-9, 0.0, 0.5, np.e, 1e300])
    got = special.lambertw(tt.asarray(x))
    assert got.dtype == "complex128" and special.lambertw(tt.ones(2, "float32")).dtype == "complex64"
    want = pytest.importorskip("scipy.special").lambertw(x)
    np.testing.assert_allclose(np.asarray(got), want, 1e-13, 1e-8)
    pairs = special.lambertw(tt.asarray([-0.1, 1.0]), tt.asarray([-1, 0]))
    np.testing.assert_allclose(np.asarray(pairs), [-3.577152063957297, 0.5671432904097838], 1e-14)
    assert special.lambertw(np.nan).tolist() != special.lambertw(np.nan).tolist()


@pytest.mark.parametrize("name", ["xlogy", "xlog1py"])
def test_products_with_logarithms(name):
    scipy = pytest.importorskip("scipy.special")
    r = np.random.default_rng(5)
    x, y = r.normal(size=(2, 40, 2)).view("complex128")[..., 0]
    x[:3], y[2] = 0, complex(np.nan, 1)
    f = getattr(special, name)
    np.testing.assert_allclose(np.asarray(f(tt.asarray(x), tt.asarray(y))), getattr(scipy, name)(x, y), 1e-13)


# Where SciPy does otherwise: infinities and NaN in parts, signs of zeros, poles.
EDGES = [0.0, 1.0, -1.0, 0.5, -2.5, 2.0, 50.0, -50.0]


@pytest.mark.parametrize("name", [n for n in ROWS if n != "wofz"])
def test_on_the_axes(name):
    """Poles, cuts (their sides told by the zero's sign), and what overflows, as SciPy has it."""
    scipy = pytest.importorskip("scipy.special")
    z = np.array([complex(x, y) for x in EDGES for y in (0.0, -0.0, 1.0, -1.0)])
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        want = getattr(scipy, name)(z)
        got = np.asarray(getattr(special, name)(tt.asarray(z)))
    near = np.isfinite(want) & np.isfinite(got)
    np.testing.assert_allclose(got[near], want[near], 1e-12, 1e-300)
    np.testing.assert_array_equal(np.isfinite(got), np.isfinite(want))


def test_overflow_has_a_direction():
    z = tt.asarray([50j, 1 + 50j, -2.5 + 50j])
    assert special.erfc(z)[0].item() == complex(1, -np.inf)
    assert np.isinf(np.asarray(special.erf(z))[1:].real).all() and not np.isnan(np.asarray(special.erfc(z)).imag).any()


@pytest.mark.parametrize("name", ROWS)
def test_narrow_types(name):
    z = np.complex64(sample(name, 2))
    f = getattr(special, name)
    with np.errstate(all="ignore"):
        got, want = np.asarray(f(tt.asarray(z))), np.asarray(f(tt.asarray(z.astype("c16")))).astype("c8")
    assert got.dtype == "complex64"
    np.testing.assert_allclose(got, want, 1e-5)  # ndtr: its operand is rounded once more


@pytest.mark.skipif(not tiers.COMPILER, reason="no compiler")
def test_compiled_text_has_the_same_bits():
    def chains(dtype):
        return [getattr(special, n)(tt.asarray(sample(n, 1).astype(dtype)) + 0) * 2 + 1 for n in ROWS]

    tiers.compiled_is_interpreted(ROWS, chains, ("complex128", "complex64"))


@pytest.mark.parametrize("name", ["jv", "iv", "zeta", "betainc", "expit", "log_ndtr"])
def test_others_refuse(name):
    args = [tt.asarray([1j])] * {"jv": 2, "iv": 2, "zeta": 2, "betainc": 3}.get(name, 1)
    with pytest.raises(TypeError):
        getattr(special, name)(*args)
