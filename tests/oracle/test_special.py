"""Special functions against mpmath in 40 digits and, at the edges of their ranges, against SciPy.

Every row `special.*` of ops.def stands in ROWS: where it is sampled, what it is, and how many units in the last place
of float64 it may be off. Functions with zeros that are no whole numbers are held to what they are beside them (NEAR).
"""

import warnings

import numpy as np
import pytest
import tiers
import tutti as tt
from tutti import special

mpmath = pytest.importorskip("mpmath")
mp, mpf = mpmath.mp, mpmath.mpf
mp.dps = 40
COUNT = 48
FOUR = 4


def even(low, high):
    return lambda r: r.uniform(low, high, COUNT)


def scale(low, high, signed=False):
    """10 to even powers."""
    return lambda r: 10 ** r.uniform(low, high, COUNT) * (r.choice([-1, 1], COUNT) if signed else 1)


def whole(low, high):
    return lambda r: r.integers(low, high, COUNT).astype(float)


def both(*parts):
    return lambda r: np.concatenate([p(r) for p in parts])


def near_one(r):
    return 1 - 10 ** r.uniform(-16, -1, COUNT)


def erfcx(x):
    return mp.exp(x * x) * mp.erfc(x) if x < 100 else mp.hyperu(0.5, 0.5, x * x) / mp.sqrt(mp.pi)


def erfcinv(y):
    if y > mpf("0.01"):
        return mp.erfinv(1 - y)
    x = mp.sqrt(-mp.log(y))
    x = mp.sqrt(max(mpf("0.1"), -mp.log(y * mp.sqrt(mp.pi) * x)))
    for _ in range(50):
        c = mp.erfc(x)
        step = (mp.log(c) - mp.log(y)) * c * mp.sqrt(mp.pi) / 2 * mp.exp(x * x)
        x += step
        if abs(step) < abs(x) * mpf(10) ** -36:
            return x
    raise AssertionError("no inverse")


def log_ndtr(x):
    return mp.log(mp.erfc(-x / mp.sqrt(2)) / 2) if x < 5 else mp.log1p(-mp.erfc(x / mp.sqrt(2)) / 2)


def gammaln(x):
    return mp.log(abs(mp.gamma(x))) if abs(x) < 1e5 else mp.loggamma(x)


def hurwitz(s, q):
    with mpmath.workdps(60):
        n, total = q + 60, sum((q + k) ** -s for k in range(60))
        total += n ** (1 - s) / (s - 1) + n**-s / 2
        factor = s * n ** (-s - 1)
        for k in range(1, 30):
            total += mp.bernoulli(2 * k) / mp.factorial(2 * k) * factor
            factor *= (s + 2 * k - 1) * (s + 2 * k) / n**2
        return total


def polygamma(n, x):
    return (-1) ** (int(n) + 1) * mp.factorial(int(n)) * hurwitz(n + 1, x)


def lower(a, x):
    with mpmath.workdps(60):
        return mp.gammainc(a, 0, x, regularized=True)


def upper(a, x):
    with mpmath.workdps(60):
        return mp.gammainc(a, x, mp.inf, regularized=True)


def beta_part(a, b, x):
    with mpmath.workdps(150):
        return mp.betainc(a, b, 0, x, regularized=True)


def beta_rest(a, b, x):
    with mpmath.workdps(150):
        return mp.betainc(b, a, 0, 1 - x, regularized=True)


def student(df, t):
    with mpmath.workdps(150):
        tail = mp.betainc(df / 2, mpf(1) / 2, 0, df / (df + t * t), regularized=True) / 2
        return tail if t < 0 else 1 - tail


def f_part(n, d, x):
    with mpmath.workdps(150):
        return mp.betainc(n / 2, d / 2, 0, n * x / (n * x + d), regularized=True)


def f_rest(n, d, x):
    with mpmath.workdps(150):
        return mp.betainc(d / 2, n / 2, 0, d / (n * x + d), regularized=True)


def student_density(df, t):
    return (1 + t * t / df) ** (-(df + 1) / 2) / mp.sqrt(df) / mp.beta(df / 2, mpf(1) / 2)


def f_density(n, d, x):
    return (n * x / (n * x + d)) ** (n / 2) * (d / (n * x + d)) ** (d / 2) / x / mp.beta(n / 2, d / 2)


def huber(d, r):
    return r * r / 2 if abs(r) <= d else d * (abs(r) - d / 2)


def precise(f):
    def of(x):
        with mpmath.workdps(60 if x < 1e4 else 100):
            return f(x)

    return of


def bessel(f):
    def of(v, x):
        with mpmath.workdps(90):
            return f(v, x)

    return of


SMALL, LARGE = scale(-2, 2), scale(-1, 1.5)
ORDERS = both(even(0, 5), whole(0, 10), scale(-1, 2), even(10, 60))
DISTANCES = both(scale(-3, 1.5), scale(-2, 2.5), scale(-1, 2.5), scale(0, 2.8))
ROWS = {
    "erf": (FOUR, mp.erf, both(even(-7, 7), scale(-300, 1, True))),
    "erfc": (FOUR, mp.erfc, both(even(-7, 26), even(-1, 3))),
    "erfcx": (FOUR, erfcx, both(even(-26, 30), scale(-5, 30))),
    "erfinv": (FOUR, mp.erfinv, both(even(-1, 1), near_one, scale(-300, -1))),
    "erfcinv": (FOUR, erfcinv, both(even(0, 2), scale(-307, 0))),
    "ndtr": (FOUR, lambda x: mp.erfc(-x / mp.sqrt(2)) / 2, both(even(-37, 8), even(-3, 3))),
    "ndtri": (FOUR, lambda p: -mp.sqrt(2) * erfcinv(2 * p), both(even(0, 1), scale(-307, 0))),
    "log_ndtr": (FOUR, log_ndtr, both(even(-100, 30), even(-3, 3), scale(0, 7, True))),
    "dawsn": (FOUR, lambda x: x * mp.hyp1f1(1, 1.5, -x * x), both(even(-10, 10), scale(-5, 1, True), even(5, 60))),
    "expit": (FOUR, lambda x: 1 / (1 + mp.exp(-x)), both(even(-700, 40), even(-5, 5))),
    "logit": (FOUR, lambda p: mp.log(p / (1 - p)), both(even(0, 1), scale(-300, 0))),
    "log_expit": (FOUR, lambda x: -mp.log1p(mp.exp(-x)), both(even(-745, 700), even(-5, 5))),
    "gamma": (FOUR, mp.gamma, both(even(0, 171), even(-20, 10), even(-165, 0), scale(-300, 1, True))),
    "gammaln": (FOUR, gammaln, both(even(0, 10), scale(0, 300), scale(-300, 0, True), even(-30, 0))),
    "loggamma": (FOUR, mp.loggamma, both(even(0, 10), scale(0, 300), scale(-300, 0))),
    "digamma": (FOUR, mp.digamma, both(even(0, 40), scale(0, 300), scale(-300, 0, True))),
    "polygamma": (FOUR, polygamma, whole(1, 20), scale(-2, 3)),
    "zeta": (
        FOUR,
        hurwitz,
        both(lambda r: 1 + 10 ** r.uniform(-2, 1.5, COUNT), even(1, 70)),
        both(scale(-3, 4), even(8, 70)),
    ),
    "beta": (FOUR, mp.beta, scale(-5, 2.5), scale(-5, 2.5)),
    "betaln": (FOUR, lambda a, b: mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b), scale(-5, 5), scale(-5, 5)),
    "poch": (FOUR, lambda a, n: mp.gamma(a + n) / mp.gamma(a), SMALL, scale(-2, 1.7)),
    "binom": (FOUR, mp.binomial, even(40, 1000), even(0, 39)),
    "xlogy": (FOUR, lambda x, y: x * mp.log(y), even(-9, 9), scale(-300, 300)),
    "xlog1py": (FOUR, lambda x, y: x * mp.log1p(y), even(-9, 9), scale(-300, 300)),
    "entr": (FOUR, lambda x: -x * mp.log(x), scale(-300, 300)),
    "rel_entr": (FOUR, lambda x, y: x * mp.log(x / y), scale(-3, 3), scale(-3, 3)),
    "kl_div": (FOUR, lambda x, y: x * mp.log(x / y) - x + y, scale(-1, 1), scale(-1, 1)),
    "log1pmx": (FOUR, lambda x: mp.log1p(x) - x, both(even(-1, 1), scale(-5, 5))),
    "exp10": (FOUR, lambda x: mpf(10) ** x, even(-307, 308)),
    "exprel": (FOUR, lambda x: mp.expm1(x) / x, both(even(-100, 715), scale(-300, 0, True))),
    "cosm1": (FOUR, lambda x: -2 * mp.sin(x / 2) ** 2, both(even(-3, 3), scale(-150, 0, True))),
    "boxcox": (FOUR, lambda x, k: mp.expm1(k * mp.log(x)) / k, scale(-1, 1), even(-3, 3)),
    "boxcox1p": (FOUR, lambda x, k: mp.expm1(k * mp.log1p(x)) / k, scale(-3, 1), even(-3, 3)),
    "inv_boxcox": (FOUR, lambda x, k: mp.exp(mp.log1p(k * x) / k), LARGE, even(0.5, 3)),
    "inv_boxcox1p": (FOUR, lambda x, k: mp.expm1(mp.log1p(k * x) / k), LARGE, even(0.5, 3)),
    "huber": (FOUR, huber, scale(-1, 1), even(-9, 9)),
    "pseudo_huber": (FOUR, lambda d, r: d * d * (mp.sqrt(1 + (r / d) ** 2) - 1), scale(-1, 1), even(-9, 9)),
    "ellipk": (FOUR, mp.ellipk, both(even(-5, 1), lambda r: -(10 ** r.uniform(0, 300, COUNT)))),
    "ellipkm1": (FOUR, lambda p: mp.pi / 2 / mp.agm(1, mp.sqrt(p)), scale(-300, 10)),
    "ellipe": (FOUR, mp.ellipe, both(even(-5, 1), near_one, lambda r: -(10 ** r.uniform(0, 300, COUNT)))),
    "exp1": (FOUR, mp.e1, both(even(0, 3), even(0, 700), scale(-300, 0))),
    "expi": (FOUR, mp.ei, both(even(-10, 10), even(0, 700), even(0, 1), scale(-300, 0, True))),
    "gammainc": (FOUR, lower, SMALL, SMALL),
    "gammaincc": (FOUR, upper, scale(-2, 1.6), scale(-2, 1.6)),
    "betainc": (FOUR, beta_part, SMALL, SMALL, even(0, 1)),
    "betaincc": (FOUR, beta_rest, SMALL, SMALL, even(0, 1)),
    "chdtr": (FOUR, lambda v, x: lower(v / 2, x / 2), LARGE, LARGE),
    "chdtrc": (FOUR, lambda v, x: upper(v / 2, x / 2), LARGE, LARGE),
    "pdtr": (FOUR, lambda k, m: upper(k + 1, m), whole(0, 50), LARGE),
    "pdtrc": (FOUR, lambda k, m: lower(k + 1, m), whole(0, 50), LARGE),
    "gdtr": (FOUR, lambda a, b, x: lower(b, a * x), even(1, 2), LARGE, LARGE),
    "gdtrc": (FOUR, lambda a, b, x: upper(b, a * x), even(1, 2), LARGE, LARGE),
    "stdtr": (FOUR, student, scale(-1, 3), even(-9, 9)),
    "fdtr": (FOUR, f_part, SMALL, SMALL, SMALL),
    "fdtrc": (FOUR, f_rest, SMALL, SMALL, SMALL),
    "bdtr": (FOUR, lambda k, n, p: beta_rest(k + 1, n - k, p), whole(0, 20), whole(21, 60), even(0, 1)),
    "bdtrc": (FOUR, lambda k, n, p: beta_part(k + 1, n - k, p), whole(0, 20), whole(21, 60), even(0, 1)),
    "nbdtr": (FOUR, lambda k, n, p: beta_part(n, k + 1, p), whole(0, 20), whole(1, 60), even(0, 1)),
    "nbdtrc": (FOUR, lambda k, n, p: beta_rest(n, k + 1, p), whole(0, 20), whole(1, 60), even(0, 1)),
    "i0": (FOUR, lambda x: mp.besseli(0, x), both(even(-30, 30), even(0, 712), scale(-10, 1))),
    "i0e": (FOUR, lambda x: mp.besseli(0, x) * mp.exp(-abs(x)), both(even(-30, 30), scale(-10, 4))),
    "i1": (FOUR, lambda x: mp.besseli(1, x), both(even(-30, 30), even(0, 712), scale(-100, 1, True))),
    "i1e": (FOUR, lambda x: mp.besseli(1, x) * mp.exp(-abs(x)), both(even(-30, 30), scale(-100, 4, True))),
    "k0": (FOUR, lambda x: mp.besselk(0, x), both(even(0, 3), even(0, 700), scale(-300, 0))),
    "k0e": (FOUR, lambda x: mp.besselk(0, x) * mp.exp(x), both(even(0, 3), scale(-300, 5))),
    "k1": (FOUR, lambda x: mp.besselk(1, x), both(even(0, 3), even(0, 700), scale(-300, 0))),
    "k1e": (FOUR, lambda x: mp.besselk(1, x) * mp.exp(x), both(even(0, 3), scale(-300, 5))),
    "j0": (FOUR, lambda x: mp.besselj(0, x), both(even(-30, 30), even(20, 1000), scale(-20, 4))),
    "j1": (FOUR, lambda x: mp.besselj(1, x), both(even(-30, 30), even(20, 1000), scale(-100, 4))),
    "y0": (FOUR, lambda x: mp.bessely(0, x), both(even(0, 30), even(20, 1000), scale(-300, 4))),
    "y1": (FOUR, lambda x: mp.bessely(1, x), both(even(0, 30), even(20, 1000), scale(-300, 4))),
    "iv": (FOUR, bessel(mp.besseli), ORDERS, DISTANCES),
    "ive": (FOUR, bessel(lambda v, x: mp.besseli(v, x) * mp.exp(-abs(x))), ORDERS, DISTANCES),
    "kv": (FOUR, bessel(mp.besselk), ORDERS, DISTANCES),
    "kve": (FOUR, bessel(lambda v, x: mp.besselk(v, x) * mp.exp(x)), ORDERS, DISTANCES),
    "kn": (FOUR, bessel(mp.besselk), whole(0, 60), scale(-3, 2.5)),
    "jv": (FOUR, bessel(mp.besselj), both(ORDERS, even(-9, 0)), both(DISTANCES, scale(-2, 2))),
    "yv": (FOUR, bessel(mp.bessely), both(ORDERS, even(-9, 0)), both(DISTANCES, scale(-2, 2))),
    "yn": (FOUR, bessel(mp.bessely), whole(0, 60), scale(-3, 2.5)),
    "expn": (FOUR, bessel(mp.expint), whole(0, 60), scale(-3, 2.5)),
    "zetac": (FOUR, precise(lambda x: mp.zeta(x) - 1), both(even(-20, 0), even(0, 5), scale(-5, 2))),
    "riemann": (FOUR, mp.zeta, both(even(-20, 5), even(-200, 0), scale(-300, 2, True))),
    "si": (FOUR, mp.si, both(even(-40, 40), scale(-300, 4, True))),
    "ci": (FOUR, mp.ci, both(even(0, 40), scale(-300, 4))),
    "shi": (FOUR, mp.shi, both(even(-40, 40), scale(-300, 2.8, True))),
    "chi": (FOUR, mp.chi, both(even(0, 40), scale(-300, 2.8))),
    "fresnel_sin": (FOUR, precise(mp.fresnels), both(even(-10, 10), scale(-90, 6, True))),
    "fresnel_cos": (FOUR, precise(mp.fresnelc), both(even(-10, 10), scale(-300, 6, True))),
}


def root(f, density):
    """The inverse of f in its last parameter: a step of Newton's from what is to be checked, which is exact enough."""

    def of(*args):
        *args, p, got = args
        with mpmath.workdps(80):
            return got - (f(*args, got) - p) / density(*args, got)

    return of


def gamma_density(a, x):
    return mp.exp((a - 1) * mp.log(x) - x - mp.loggamma(a))


def beta_density(a, b, x):
    return mp.exp((a - 1) * mp.log(x) + (b - 1) * mp.log(1 - x)) / mp.beta(a, b)


PARTS_OF_ONE = both(even(0, 1), scale(-300, 0))
SHAPE = both(scale(-0.5, 2), scale(-0.5, 2))
SMALL_SHAPE = both(scale(-1.5, 0), scale(-0.5, 2))
INVERSES = {
    "gammaincinv": (root(lower, gamma_density), SMALL_SHAPE, PARTS_OF_ONE),
    "gammainccinv": (root(upper, lambda a, x: -gamma_density(a, x)), SMALL_SHAPE, PARTS_OF_ONE),
    "betaincinv": (root(beta_part, beta_density), SHAPE, SHAPE, PARTS_OF_ONE),
    "betainccinv": (
        root(beta_rest, lambda a, b, x: -beta_density(a, b, x)),
        SHAPE,
        SHAPE,
        both(even(0.1, 1), even(0, 1)),
    ),
    "chdtri": (
        root(lambda v, x: upper(v / 2, x / 2), lambda v, x: -gamma_density(v / 2, x / 2) / 2),
        scale(0, 2),
        even(0, 1),
    ),
    "pdtri": (
        root(lambda k, m: upper(k + 1, m), lambda k, m: -gamma_density(k + 1, m)),
        both(whole(0, 50), whole(0, 5)),
        PARTS_OF_ONE,
    ),
    "gdtrix": (
        root(lambda a, b, x: lower(b, a * x), lambda a, b, x: a * gamma_density(b, a * x)),
        SHAPE,
        SHAPE,
        PARTS_OF_ONE,
    ),
    "stdtrit": (root(student, student_density), SHAPE, both(even(0, 1), scale(-30, -1))),
    "fdtri": (root(f_part, f_density), scale(0, 2), scale(0, 2), even(0, 1)),
    "bdtri": (
        root(lambda k, n, p: beta_rest(k + 1, n - k, p), lambda k, n, p: -beta_density(k + 1, n - k, p)),
        both(whole(0, 20), whole(0, 20)),
        both(whole(21, 60), whole(21, 60)),
        both(even(0, 1), even(0, 1)),
    ),
    "nbdtri": (
        root(lambda k, n, p: beta_part(n, k + 1, p), lambda k, n, p: beta_density(n, k + 1, p)),
        both(whole(0, 20), whole(0, 20)),
        both(whole(1, 60), whole(1, 60)),
        PARTS_OF_ONE,
    ),
    "gdtria": (lambda p, b, x, got: got, PARTS_OF_ONE, SHAPE, SHAPE),
}
ROWS |= {name: (FOUR, *rest) for name, rest in INVERSES.items()}
# Rows that have no function of their own.
PARTS = {
    "si": lambda x: special.sici(x)[0],
    "ci": lambda x: special.sici(x)[1],
    "shi": lambda x: special.shichi(x)[0],
    "chi": lambda x: special.shichi(x)[1],
    "fresnel_sin": lambda x: special.fresnel(x)[0],
    "fresnel_cos": lambda x: special.fresnel(x)[1],
    "riemann": special.zeta,
    "zeta": special.zeta,
}


def function(name):
    return PARTS.get(name) or getattr(special, name)


def envelope(first):
    return lambda x: (2 / np.pi / abs(x)) ** 0.5 if abs(x) > first else 0.0


def amplitude(least):
    return lambda *x: least


def waves(v, x):
    return (
        max(1.0, abs(2 / np.pi / x) ** 0.5) if v < 0 else min(1.0, (2 / np.pi / x) ** 0.5) if x > min(0.3, v) else 0.0
    )


NEAR = {
    "j0": envelope(0.6),
    "j1": envelope(1.5),
    "y0": envelope(0.4),
    "y1": envelope(1.2),
    "gammaln": lambda x: 1.0 if x < 0 else 0.0,
    "digamma": lambda x: 1.0 if x < 0 else 0.0,
    "betaln": amplitude(1.0),
    "jv": waves,
    "yv": waves,
    "yn": waves,
    "ci": lambda x: min(1.0, 1 / x) if x > 0.3 else 0.0,
    "chi": lambda x: 0.5 if 0.3 < x < 1 else 0.0,
    "zetac": lambda x: float(x < -10),
    **dict.fromkeys(("fdtr", "fdtrc"), lambda n, d, x: float(min(n, d) < 1)),
}


def sample(name, seed=0):
    r = np.random.default_rng([seed, *map(ord, name)])
    args = [s(r) for s in ROWS[name][2:]]
    return args


def off(got, want, floor):
    """How many units in the last place of float64."""
    rounded = float(want)
    if got == rounded:
        return 0.0
    if not np.isfinite(rounded) or not np.isfinite(got):
        return np.inf
    return float(abs(mpf(got) - want) / mpf(float(np.spacing(max(abs(rounded), floor)))))


def test_every_row_is_here():
    rows = {name.removeprefix("special.") for name in tt.ops() if name.startswith("special.")}
    assert rows == set(ROWS) - set(PARTS)
    assert rows | {"sici", "shichi", "fresnel", "zeta", "comb", "perm"} <= set(special.__all__)


@pytest.mark.parametrize("name", sorted(ROWS))
def test_accuracy(name):
    bound, f = ROWS[name][:2]
    args = sample(name)
    got = np.asarray(function(name)(*map(tt.asarray, args)))
    assert got.dtype == "float64"
    worst = [0.0]
    for g, *x in zip(got.tolist(), *(a.tolist() for a in args)):
        want = f(*map(mpf, x), *([mpf(g)] if name in INVERSES else []))
        if abs(want) < mpf("1e-300"):
            assert abs(g) < 1e-299
            continue
        worst = max(worst, [off(g, want, NEAR.get(name, amplitude(0.0))(*x)), *x, g, float(want)])
    assert worst[0] <= bound, f"{name}: {worst}"


@pytest.mark.parametrize("name", ["betaincinv", "betainccinv"])
def test_quantiles_of_small_shapes(name):
    """An error of the probability is divided by the shape: it is known with more digits than a float has."""
    r = np.random.default_rng(4)
    a, b, p = 10 ** r.uniform(-1.3, 0.3, 300), 10 ** r.uniform(-1.3, 0.3, 300), r.random(300)
    got = np.asarray(function(name)(*map(tt.asarray, (a, b, p)))).tolist()
    whole = [(mpf(g), *map(mpf, x)) for g, *x in zip(got, a.tolist(), b.tolist(), p.tolist()) if 1e-290 < g < 1 - 1e-9]
    assert len(whole) > 200
    assert max(off(float(g), INVERSES[name][0](*x, g), 0.0) for g, *x in whole) <= 4


NARROW = {"ndtr": 5}  # of its own in float32, so far off


@pytest.mark.parametrize("name", sorted(ROWS))
def test_narrow_types(name):
    """float32 is float64 rounded (NARROW: about); halves go through float32; integers become float32 at least."""
    args = [np.float32(np.clip(a[:32], -1e30, 1e30)) for a in sample(name)]
    f = function(name)
    with np.errstate(all="ignore"):
        want = np.asarray(f(*[tt.asarray(a.astype("f8")) for a in args])).astype("f4")
        np.testing.assert_array_max_ulp(np.asarray(f(*map(tt.asarray, args))), want, NARROW.get(name, 0))
        half = [a.astype("f2") for a in args]
        single = np.asarray(f(*[tt.asarray(a.astype("f4")) for a in half]))
        got = f(*map(tt.asarray, half))
        assert got.dtype == "float16"
        np.testing.assert_array_equal(np.asarray(got), single.astype("f2"))
    ones = [tt.ones(2, "int8")] * len(args)
    assert f(*ones).dtype == "float32" and f(*[x.astype("int64") for x in ones]).dtype == "float64"


@pytest.mark.skipif(not tiers.COMPILER, reason="no compiler")
@pytest.mark.parametrize("names", [sorted(ROWS)[k : k + 8] for k in range(0, len(ROWS), 8)], ids=" ".join)
def test_compiled_text_has_the_same_bits(names):
    """Rendered, fused with what stands around it, in one kernel each."""

    def chains(dtype):
        return [function(n)(*[tt.asarray(a[:COUNT].astype(dtype)) + 0 for a in sample(n, 1)]) * 2 + 1 for n in names]

    tiers.compiled_is_interpreted(names, chains, ("float64", "float32"))


EDGES = np.array([0.0, -0.0, 1, -1, 0.5, -0.5, 2, -2.5, 5e-324, -5e-324, 1e308, -1e308, np.inf, -np.inf, np.nan])
# Where SciPy does otherwise: it takes subnormal numbers for zeros, infinities and huge angles for NaN or anything;
# C's lgamma(-inf) is infinite.
TINY, HUGE, ENDS = [5e-324, -5e-324], [1e308, -1e308], [np.inf, -np.inf]
OTHERWISE = {"log1pmx": EDGES, "erfcinv": [1, *TINY], "erfinv": [-0.0], "expi": TINY, "gammaln": [-np.inf, *TINY]}
OTHERWISE |= {
    "loggamma": [-1, -0.5, -2.5, -1e308, -np.inf, *TINY],
    "i0": ENDS,
    "i1": [-0.0, *TINY, *ENDS],
    "cosm1": HUGE,
}
OTHERWISE |= {"i1e": [-0.0, *TINY], "k0": TINY, "k0e": TINY, "k1": TINY, "k1e": TINY}
OTHERWISE |= {"riemann": [5e-324, -5e-324, -1e308], "zetac": [-5e-324, -1e308]}
OTHERWISE |= dict.fromkeys(("fresnel_sin", "fresnel_cos"), [-0.0, *HUGE])
OTHERWISE |= dict.fromkeys(("si", "shi"), [-0.0])
OTHERWISE |= dict.fromkeys(("j0", "j1", "y0", "y1"), [*HUGE, *ENDS])


@pytest.mark.parametrize("name", sorted(n for n in ROWS if len(ROWS[n]) == 3))
def test_edges(name):
    scipy = pytest.importorskip("scipy.special")
    x = EDGES[~np.isin(EDGES, OTHERWISE.get(name, []))]
    pairs = {"si": "sici", "ci": "sici", "shi": "shichi", "chi": "shichi", "riemann": "zeta"}
    pairs |= {"fresnel_sin": "fresnel", "fresnel_cos": "fresnel"}
    theirs = getattr(scipy, pairs.get(name, name), None)
    if not theirs or not len(x):
        pytest.skip("SciPy has no such function")
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        want = theirs(x)
    if isinstance(want, tuple):
        want = want[name in ("ci", "chi", "fresnel_cos")]
    got = np.asarray(function(name)(tt.asarray(x)))
    np.testing.assert_allclose(got, want, 1e-13, err_msg=str(x))
    np.testing.assert_array_equal(np.signbit(got[want == 0]), np.signbit(want[want == 0]))


def test_factorials_are_exact():
    n = np.arange(1, 19)
    want = [1.0]
    for k in range(1, 18):
        want.append(want[-1] * k)
    assert special.gamma(tt.asarray(n)).tolist() == want and special.factorial(tt.asarray(n - 1)).tolist() == want
    assert special.gammaln(tt.asarray([1.0, 2.0])).tolist() == [0, 0]
    assert special.binom(tt.asarray([5.0, 30.0]), tt.asarray([2.0, 15.0])).tolist() == [10, 155117520]
    assert special.factorial(tt.asarray([-1, 3])).tolist() == [0, 6]
    assert special.factorial(25, exact=True) == 15511210043330985984000000
    assert special.factorial(tt.asarray([3, 20]), exact=True).tolist() == [6, 2432902008176640000]


def test_counts():
    scipy = pytest.importorskip("scipy.special")
    n, k = np.arange(12)[:, None], np.arange(9)
    for repetition in (False, True):
        got = special.comb(tt.asarray(n), tt.asarray(k), repetition=repetition)
        np.testing.assert_allclose(np.asarray(got), scipy.comb(n, k, repetition=repetition), 1e-14)
    np.testing.assert_allclose(np.asarray(special.perm(tt.asarray(n), tt.asarray(k))), scipy.perm(n, k), 1e-14)
    for a, b in ((60, 30), (10, 12), (7, 0), (4, -1)):
        assert special.comb(a, b, exact=True) == scipy.comb(a, b, exact=True)
        assert special.comb(a, b, exact=True, repetition=True) == scipy.comb(a, b, exact=True, repetition=True)
        assert special.perm(a, b, exact=True) == scipy.perm(a, b, exact=True)
    assert special.comb(tt.asarray([5, 6]), [2, 3], exact=True).tolist() == [10, 20]


def test_orders_at_edges():
    """Where SciPy gives numbers: it takes subnormal and huge arguments of Bessel functions for NaN."""
    scipy = pytest.importorskip("scipy.special")
    x = np.array([0.0, -0.0, 1, -1, 0.5, -2.5, 30, np.nan])
    for name in ("iv", "ive", "kv", "kve", "jv", "yv", "expn"):
        for v in (0.0, 1, 2, 0.5, -1, -2, 2.5, 30, 1000):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                want = getattr(scipy, name)(v, x)
            got = np.asarray(getattr(special, name)(v, tt.asarray(x)))
            np.testing.assert_allclose(got, want, 1e-11, 1e-300, err_msg=f"{name} {v}")


def test_along_axes():
    r = np.random.default_rng(3)
    x = r.normal(size=(5, 7)) * 50
    e = np.exp(x - x.max(1, keepdims=True))
    np.testing.assert_allclose(np.asarray(special.softmax(tt.asarray(x), axis=1)), e / e.sum(1, keepdims=True), 1e-14)
    most = x.max(1)
    want = np.log(e.sum(1)) + most
    np.testing.assert_allclose(np.asarray(special.logsumexp(tt.asarray(x), axis=1)), want, 1e-14)
    np.testing.assert_allclose(
        np.asarray(special.log_softmax(tt.asarray(x), axis=1)), x - want[:, None], 1e-12, atol=1e-12
    )
    assert special.logsumexp(tt.asarray(x), keepdims=True).shape == (1, 1)
    assert special.logsumexp(tt.asarray([-np.inf, -np.inf])).item() == -np.inf
    assert special.logsumexp(tt.asarray([np.inf, 1.0])).item() == np.inf
    assert special.softmax(tt.asarray([1, 1])).tolist() == [0.5, 0.5]
    with pytest.raises(TypeError):
        special.softmax(tt.asarray([1j]))
    with pytest.raises(ValueError):
        special.logsumexp(tt.asarray([]))


def test_as_ufuncs():
    import pickle

    f = special.erf
    assert repr(f) == "<ufunc 'erf'>" and f.__name__ == "erf" and f.nin == 1 and special.betainc.nin == 3
    assert pickle.loads(pickle.dumps(f)) is f
    out = tt.zeros(2)
    assert f(tt.asarray([0.0, np.inf]), out=out) is out and out.tolist() == [0, 1]
    assert special.xlogy.outer([0.0, 1.0], [1.0, np.e]).tolist() == [[0, 0], [0, 1]]
    with pytest.raises(TypeError, match="'erfinv' not supported"):
        special.erfinv(tt.asarray([1j]))


@pytest.mark.skipif(not tiers.COMPILER, reason="no compiler: Python's own math runs")
def test_in_kernels():
    import math

    @tt.jit
    def all_of(x):
        return math.erf(x) + math.erfc(x) + math.gamma(x) + math.lgamma(x)

    x = 2.75
    want = special.erf(x) + special.erfc(x) + special.gamma(x) + special.gammaln(x)
    assert all_of(x) == want.item()
    f = tt.ElementwiseKernel(
        "T x", "T y", "y = erfinv(x) + erfcinv(x) + normcdf(x) + normcdfinv(x) + j0(x) + cyl_bessel_i0(x) + tgamma(x)"
    )
    for dtype in ("float32", "float64"):
        z = tt.asarray(np.linspace(0.1, 0.9, 9).astype(dtype))
        names = ("erfinv", "erfcinv", "ndtr", "ndtri", "j0", "i0", "gamma")
        want = sum((getattr(special, n)(z) for n in names[1:]), start=special.erfinv(z))
        assert f(z).tolist() == want.tolist()


def test_beside_cupy():
    from tutti.compat.cupyx.scipy import special as theirs

    assert theirs.erf is special.erf and theirs.logsumexp is special.logsumexp
    assert theirs.wofz is special.wofz and theirs.cbrt is tt.cbrt and theirs.round is tt.rint
    with pytest.raises(AttributeError, match="does not cover cupyx.scipy.special.ellipj"):
        _ = theirs.ellipj
