"""Random numbers: the distributions are NumPy's, the numbers are ours: the same for any thread count and tier."""

import math
import pickle
import warnings

import numpy as np
import pytest
import tutti as tt

N = 200_000


@pytest.fixture
def rng():
    return tt.random.default_rng(1234)


@pytest.mark.parametrize("dtype, digits", [("float32", 24), ("float64", 53)])
def test_uniform_bits(rng, dtype, digits):
    x = rng.random(N, dtype=dtype)
    assert x.dtype == dtype
    x = x.numpy()
    assert 0 <= x.min() and x.max() < 1
    scaled = x.astype("f8") * 2.0**digits
    assert (scaled == np.floor(scaled)).all() and (np.floor(scaled) % 2 == 1).any()
    assert abs(x.mean() - 0.5) < 0.005 and abs(x.var() - 1 / 12) < 0.001
    assert abs(np.corrcoef(x[:-1], x[1:])[0, 1]) < 0.01


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_normal_moments(rng, dtype):
    z = rng.standard_normal((N // 10, 10), dtype=dtype).numpy().astype("f8")
    assert z.shape == (N // 10, 10)
    for k, want in ((1, 0), (2, 1), (3, 0), (4, 3)):
        assert abs((z**k).mean() - want) < 0.06
    assert 3.5 < abs(z).max() < 7


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_normal_tails_and_pairs(rng, dtype):
    """Two draws come of one radius and one angle: neither they nor their squares know of each other."""
    z = rng.standard_normal(20 * N, dtype=dtype).numpy().astype("f8")
    for limit in (1, 2, 3, 4, 4.5):
        p = math.erfc(limit / math.sqrt(2)) / 2
        for side in (z, -z):
            assert abs((side > limit).sum() - z.size * p) <= 5 * math.sqrt(z.size * p)
    for gap in (1, 2, 3, 4, 8):
        a, b = z[:-gap], z[gap:]
        for f in (np.sign, np.asarray, np.square, np.abs):
            assert abs(np.corrcoef(f(a)[::2], f(b)[::2])[0, 1]) < 5 / math.sqrt(z.size / 2)


KINDS = {
    "uniform float32": lambda r, size: r.random(size, dtype="float32"),
    "uniform float64": lambda r, size: r.random(size),
    "normal float32": lambda r, size: r.standard_normal(size, dtype="float32"),
    "normal float64": lambda r, size: r.standard_normal(size),
    "integers": lambda r, size: r.integers(0, 2**64 - 1, size, dtype="uint64", endpoint=True),
}


@pytest.mark.parametrize("kind", KINDS)
def test_draws_do_not_depend_on_the_walk(kind):
    """Whatever a draw is read through, it is a function of its place."""
    for shape in ((1003,), (40, 52), (7, 33), (3, 5, 7)):
        draw = lambda: KINDS[kind](tt.random.default_rng(9), shape)  # noqa: E731, B023
        whole = draw().numpy()
        assert len(np.unique(whole)) == whole.size
        for see in (lambda x: x[1:], lambda x: x[::-1], lambda x: x.T, lambda x: x[..., 2:], lambda x: x[::3]):
            assert (see(draw()).numpy() == see(whole)).all()
        for axis in range(len(shape)):
            assert (draw().max(axis=axis).numpy() == whole.max(axis=axis)).all()
        flat = [KINDS[kind](tt.random.default_rng(9), whole.size)[k].item() for k in (0, 1, 2, 3, whole.size - 1)]
        assert flat == whole.ravel()[[0, 1, 2, 3, -1]].tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_draws_in_parts(kind):
    """A call takes whole blocks: parts that are multiples of four follow each other as one call's draws do."""
    one, two = tt.random.default_rng(3), tt.random.default_rng(3)
    whole = KINDS[kind](one, 64).numpy()
    parts = [KINDS[kind](two, n).numpy() for n in (4, 20, 40)]
    assert (np.concatenate(parts) == whole).all()
    assert not np.isin(KINDS[kind](one, 7).numpy(), whole).any()
    assert not np.isin(KINDS[kind](one, 64).numpy(), whole).any()


DISTRIBUTIONS = [
    ("uniform", (2, 5)), ("normal", (3, 2)), ("lognormal", (0, 0.5)), ("exponential", (2,)), ("gumbel", (1, 2)),
    ("laplace", (1, 2)), ("logistic", (1, 2)), ("rayleigh", (2,)), ("weibull", (2,)), ("pareto", (5,)), ("power", (3,)),
    ("geometric", (0.3,)), ("triangular", (0, 1, 4)), ("standard_exponential", ()), ("standard_cauchy", ()),
    ("standard_gamma", (0.4,)), ("standard_gamma", (7.5,)), ("gamma", (2, 3)), ("beta", (0.5, 2)), ("beta", (8, 3)),
    ("chisquare", (3,)), ("standard_t", (5,)), ("f", (4, 9)), ("poisson", (1e6,)),
    ("binomial", (1000, 0.7)), ("negative_binomial", (50, 0.001)),
]  # fmt: skip


@pytest.mark.parametrize("name, args", DISTRIBUTIONS, ids=[f"{d[0]}{d[1]}" for d in DISTRIBUTIONS])
def test_quantiles(rng, name, args):
    size = {"size": N}
    got, want = getattr(rng, name)(*args, **size).numpy(), getattr(np.random.default_rng(1), name)(*args, **size)
    assert got.dtype == want.dtype
    at = [0.05, 0.25, 0.5, 0.75, 0.95]
    spread = np.quantile(want, 0.75) - np.quantile(want, 0.25)
    np.testing.assert_allclose(np.quantile(got, at), np.quantile(want, at), rtol=0.03, atol=0.03 * spread)


def log_choose(n, k):
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


@pytest.mark.parametrize("lam", [0, 0.3, 4, 9.99, 10, 11.5, 40])
def test_poisson_is_exact(rng, lam):
    """Every count against its probability, within five standard deviations."""
    got = np.bincount(rng.poisson(lam, N).numpy(), minlength=3)
    for k in range(len(got) + 5):
        p = math.exp(k * math.log(lam) - lam - math.lgamma(k + 1)) if lam else float(k == 0)
        count = got[k] if k < len(got) else 0
        assert abs(count - N * p) <= 5 * math.sqrt(N * p * (1 - p)) + 3


@pytest.mark.parametrize("n, p", [(0, 0.5), (5, 0), (5, 1), (1, 0.3), (20, 0.1), (20, 0.9), (50, 0.5), (1000, 0.02)])
def test_binomial_is_exact(rng, n, p):
    got = np.bincount(rng.binomial(n, p, N).numpy(), minlength=n + 1)
    assert len(got) == n + 1
    for k in range(n + 1):
        q = math.exp(log_choose(n, k) + k * math.log(p) + (n - k) * math.log(1 - p)) if 0 < p < 1 else float(k == n * p)
        assert abs(got[k] - N * q) <= 5 * math.sqrt(N * q * (1 - q)) + 3


def check_counts(got, chance, first=0):
    """Every count against its probability, within five standard deviations; beyond the listed ones, their rest."""
    n = got.size
    counts = np.bincount(np.minimum(got - first, len(chance)), minlength=len(chance) + 1)
    assert got.min() >= first
    for count, p in zip(counts, [*chance, max(1 - sum(chance), 0)]):
        assert abs(count - n * p) <= 5 * math.sqrt(n * p * (1 - p)) + 3


@pytest.mark.parametrize(
    "good, bad, sample",
    [(10, 5, 3), (5, 10, 12), (100, 50, 20), (50, 60, 105), (300, 200, 250), (0, 5, 3), (5, 0, 3), (7, 8, 0)],
)
def test_hypergeometric_is_exact(rng, good, bad, sample):
    all_ways = math.comb(good + bad, sample)
    chance = [math.comb(good, k) * math.comb(bad, sample - k) / all_ways for k in range(min(good, sample) + 1)]
    got = rng.hypergeometric(good, bad, sample, N).numpy()
    assert got.dtype == "int64"
    check_counts(got, chance)


@pytest.mark.parametrize("p", [0, 1e-9, 0.1, 0.7, 0.99])
def test_logseries_is_exact(rng, p):
    chance = [-(p**k) / (k * math.log1p(-p)) if p else float(k == 1) for k in range(1, 40)]
    check_counts(rng.logseries(p, N).numpy(), chance, 1)


@pytest.mark.parametrize("a", [1.1, 1.5, 2, 4, 30, 2000])
def test_zipf_is_exact(rng, a):
    zeta = sum(k**-a for k in range(1, 10000)) + 10000 ** (1 - a) / (a - 1) + 10000**-a / 2 + a * 10000 ** (-a - 1) / 12
    got = rng.zipf(a, N).numpy()
    if a == 1.1:  # cut at the largest int64
        zeta -= (2.0**63) ** (1 - a) / (a - 1)
    check_counts(got, [k**-a / zeta for k in range(1, 30)], 1)


@pytest.mark.parametrize("p", [1, 0.9, 0.3, 0.01])
def test_geometric_is_exact(rng, p):
    check_counts(rng.geometric(p, N).numpy(), [p * (1 - p) ** (k - 1) for k in range(1, 60)], 1)


def gap(a, b):
    """Kolmogorov's and Smirnov's distance of two samples, in standard deviations of it."""
    x = np.sort(np.concatenate([a, b]))
    far = abs(np.searchsorted(np.sort(a), x, "right") / a.size - np.searchsorted(np.sort(b), x, "right") / b.size).max()
    return far / math.sqrt(1 / a.size + 1 / b.size)


CURVES = [
    ("wald", (1, 1)), ("wald", (3, 0.2)), ("wald", (1e-3, 5)), ("wald", (1e6, 2)), ("vonmises", (0, 4)),
    ("vonmises", (3, 0.5)),
    ("vonmises", (-9, 2)), ("vonmises", (1, 0)), ("vonmises", (1, 1e-6)), ("vonmises", (0.5, 1e7)),
    ("vonmises", (2, 1e5)),
    ("noncentral_chisquare", (3, 2)), ("noncentral_chisquare", (0.3, 8)), ("noncentral_chisquare", (5, 0)),
    ("noncentral_chisquare", (2, 500)), ("noncentral_f", (3, 9, 4)), ("noncentral_f", (0.5, 30, 1)),
    ("weibull", (0.4,)),
    ("beta", (0.01, 0.02)), ("beta", (5, 0.3)), ("triangular", (0, 0, 1)), ("pareto", (0.7,)), ("gumbel", (1, 2)),
    ("standard_t", (0.8,)), ("f", (1, 2)), ("standard_cauchy", ()), ("lognormal", (0, 2)), ("laplace", (0, 1)),
]  # fmt: skip


@pytest.mark.parametrize("name, args", CURVES, ids=[f"{d[0]}{d[1]}" for d in CURVES])
def test_distributions_are_numpys(rng, name, args):
    """By the largest distance of the distribution functions: 2.2 or more has a chance of 1e-4."""
    got, want = (getattr(r, name)(*args, size=N) for r in (rng, np.random.default_rng(77)))
    got = got.numpy()
    if name == "vonmises" and args[0] == -9:  # NumPy's own wrap of far negative angles is around another place
        want = (want + np.pi) % (2 * np.pi) - np.pi
    assert np.isfinite(got).all() and gap(got, want) < 2.2
    if name == "vonmises":
        assert abs(got).max() <= np.pi + 1e-12


def test_colours(rng):
    colors = np.array([16, 8, 4, 0, 12])
    for sample, method in ((6, "marginals"), (30, "count")):
        x = rng.multivariate_hypergeometric(colors, sample, (100, N // 1000), method=method).numpy().reshape(-1, 5)
        assert (x.sum(1) == sample).all() and (x <= colors).all() and (x >= 0).all() and x.dtype == "int64"
        p = colors / 40
        cov = sample * (np.diag(p) - np.outer(p, p)) * (40 - sample) / 39
        np.testing.assert_allclose(x.mean(0), sample * p, atol=0.05)
        np.testing.assert_allclose(np.cov(x.T), cov, atol=0.15)
    assert rng.multivariate_hypergeometric([3, 4], 7).tolist() == [3, 4]
    assert rng.multivariate_hypergeometric([], 0, 2).shape == (2, 0)


def test_types_of_draws():
    """dtype= and device= wherever numbers are drawn."""
    r = tt.random.default_rng(4)
    for place in (r, tt.random):
        for name, args in {"normal": (3, 2), "uniform": (0, 1), "gamma": (2, 1), "wald": (1, 1)}.items():
            for t in ("float32", "float16", "bfloat16", "float64"):
                x = getattr(place, name)(*args, size=5, dtype=t)
                assert x.dtype == t and x.shape == (5,)
            with pytest.raises(TypeError, match="Unsupported dtype"):
                getattr(place, name)(*args, size=5, dtype="int32")
        for name, args in {"poisson": (3,), "binomial": (9, 0.5), "zipf": (2,), "hypergeometric": (5, 5, 3)}.items():
            assert getattr(place, name)(*args, size=5, dtype="int32").dtype == "int32"
            assert getattr(place, name)(*args, size=5, dtype="float32").dtype == "float32"
    for name in ("random", "standard_normal", "standard_exponential", "normal", "rand", "randn"):
        args = (3, 2) if name.startswith("rand") and name != "random" else ()
        x = getattr(tt.random, name)(*args, **({} if args else {"size": (3, 2)}), dtype="float32", device="cpu")
        assert x.dtype == "float32" and x.shape == (3, 2) and str(x.device) == "cpu:0"
    z = r.normal(0, 1, N, dtype="float32").numpy().astype("f8")
    assert gap(z, np.random.default_rng(1).normal(size=N)) < 2.2
    assert (r.uniform(2, 3, N, dtype="float32").numpy() <= 3).all()


def test_state_of_the_process():
    tt.random.seed(8)
    tt.random.rand(5)
    state = tt.random.get_state()
    x = tt.random.randn(4).tolist()
    tt.random.set_state(state)
    assert tt.random.randn(4).tolist() == x
    with pytest.raises(ValueError, match="RandomState"):
        tt.random.set_state(np.random.get_state())
    bits = tt.random.Philox4x3210(3)
    bits.random_raw(4)
    state, want = bits.state, tt.random.Generator(bits).random(3).tolist()
    again = tt.random.Philox4x3210()
    again.state = state
    assert tt.random.Generator(again).random(3).tolist() == want
    assert len({g.random() for g in tt.random.default_rng(3).spawn(3)}) == 3
    one, two = (tt.random.default_rng(3).spawn(2)[1].random() for _ in range(2))
    assert one == two


@pytest.mark.parametrize("shape", [0.05, 0.7, 1, 1.5, 30, 1e5])
def test_gamma_moments(rng, shape):
    x = rng.standard_gamma(shape, N).numpy()
    assert (x >= 0).all()
    assert abs(x.mean() - shape) < 6 * math.sqrt(shape / N)
    assert abs(x.var() / shape - 1) < 6 * math.sqrt((2 + 6 / shape) / N)


def test_rejection_parameters(rng):
    assert rng.standard_gamma(0.0) == 0 and type(rng.poisson(3)) is int and type(rng.gamma(2)) is float
    x = rng.poisson([[1], [1000]], (2, 500)).numpy()
    assert x.dtype == "int64" and x[0].max() < 12 < 800 < x[1].min()
    y = rng.binomial([[10], [2000]], [0.5, 0.1, 1]).numpy()
    assert y.shape == (2, 3) and y[0, 2] == 10 and y[1, 2] == 2000
    assert rng.negative_binomial([1, 100], 0.5).shape == (2,)
    tt.random.seed(1)
    assert tt.random.gamma(2, 3, (2, 3)).shape == (2, 3) and tt.random.binomial(5, 0.5, 4).shape == (4,)


def test_vectors(rng):
    x = rng.dirichlet([0.3, 2, 5], N).numpy()
    assert x.shape == (N, 3) and abs(x.sum(1) - 1).max() < 1e-12
    np.testing.assert_allclose(x.mean(0), np.asarray([0.3, 2, 5]) / 7.3, atol=0.01)
    tiny = rng.dirichlet([1e-4, 3e-4], 20000).numpy()
    assert np.isfinite(tiny).all() and abs(tiny[:, 0].mean() - 0.25) < 0.02
    assert rng.dirichlet([1, 2]).shape == (2,)

    p = np.asarray([0.5, 0.2, 0.0, 0.3])
    y = rng.multinomial(20, p, N).numpy()
    assert y.shape == (N, 4) and y.dtype == "int64" and (y.sum(1) == 20).all() and (y[:, 2] == 0).all()
    np.testing.assert_allclose(y.mean(0), 20 * p, atol=0.05)
    np.testing.assert_allclose(np.cov(y.T), 20 * (np.diag(p) - np.outer(p, p)), atol=0.1)
    assert rng.multinomial([3, 4], [0.5, 0.5]).sum(1).tolist() == [3, 4]
    assert rng.multinomial([3, 4], [0.5, 0.5], (3, 2)).shape == (3, 2, 2)
    assert rng.multinomial(5, [[0.5, 0.5], [1, 0]]).numpy()[1].tolist() == [5, 0]
    assert rng.multinomial(7, [1.0]).tolist() == [7]

    cov = np.asarray([[2, 0.5, 0], [0.5, 1, -0.3], [0, -0.3, 0.4]])
    for method in ["svd", "eigh", "cholesky"]:
        z = rng.multivariate_normal([1, 2, 3], cov, (N // 2, 2), method=method).numpy().reshape(-1, 3)
        np.testing.assert_allclose(z.mean(0), [1, 2, 3], atol=0.03)
        np.testing.assert_allclose(np.cov(z.T), cov, atol=0.05)
    with pytest.warns(RuntimeWarning, match="covariance is not symmetric positive-semidefinite"):
        rng.multivariate_normal([0, 0], [[1, 2], [2, 1]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rng.multivariate_normal([0, 0], [[1, 2], [2, 1]], check_valid="ignore")
    flat = rng.multivariate_normal([0, 0], [[1, 1], [1, 1]], 100).numpy()
    np.testing.assert_allclose(flat[:, 0], flat[:, 1], atol=1e-7)  # the root of a zero that was rounded
    assert tt.random.multivariate_normal([0, 0], np.eye(2)).shape == (2,)


def test_parameters_broadcast(rng):
    x = rng.normal([[0], [1000]], [1, 2, 3])
    assert x.shape == (2, 3) and (x.numpy()[1] > 900).all()
    assert rng.uniform([0, 10], [1, 20], (1000, 2)).numpy().max(0).tolist()[1] > 15
    with pytest.raises(ValueError, match="shape mismatch"):
        rng.normal([1, 2], 1, 3)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint32", "int64", "uint64"])
def test_integers(rng, dtype):
    x = rng.integers(3, 13, N, dtype=dtype)
    assert x.dtype == dtype
    count = np.bincount(x.numpy().astype(int), minlength=13)
    assert count[:3].sum() == 0 and abs(count[3:] - N / 10).max() < 6 * np.sqrt(N / 10)
    info = np.iinfo(dtype)
    whole = rng.integers(int(info.min), int(info.max), 1000, dtype=dtype, endpoint=True).numpy().astype(float)
    assert whole.min() < info.min / 2 + info.max / 4 and whole.max() > info.max * 0.9


def test_wide_ranges(rng):
    """Ranges of more than 32 bits use the whole product."""
    x = rng.integers(0, 3 * 2**61, N).numpy()
    np.testing.assert_allclose(np.histogram(x, 12, (0, 3 * 2**61))[0] / N, 1 / 12, rtol=0.05)
    y = rng.integers([0, 2**40], [5, 2**40 + 2**35], (N, 2)).numpy()
    assert sorted(set(y[:, 0])) == [0, 1, 2, 3, 4]
    assert y[:, 1].min() >= 2**40 and y[:, 1].max() < 2**40 + 2**35 and len(set(y[:, 1])) > 0.99 * N


def test_scalars(rng):
    assert type(rng.random()) is float and type(rng.integers(5)) is int and type(rng.normal()) is float
    assert 0 <= tt.random.rand() < 1 and type(tt.random.randint(3)) is int


def test_same_numbers_everywhere():
    def draw():
        r = tt.random.default_rng(5)
        return [a.numpy() for a in (r.normal(size=100_003), r.random(1001, dtype="float32"), r.integers(0, 100, 77))]

    want = draw()
    threads = tt.get_num_threads()
    try:
        for n, tier in ((1, 0), (2, 0), (2, 1)):
            tt.set_num_threads(n)
            tt.set_tier(tier)
            for a, b in zip(want, draw()):
                np.testing.assert_array_equal(a, b)
    finally:
        tt.set_num_threads(threads)
        tt.set_tier(2)


def test_draws_do_not_overlap(rng):
    parts = [rng.random(n).numpy() for n in (1, 1000, 1, 500)] + [
        rng.standard_normal(300).numpy(),
        rng.random(100).numpy(),
    ]
    assert len(np.unique(np.concatenate(parts))) == sum(map(len, parts))
    again = tt.random.default_rng(1234)
    np.testing.assert_array_equal(again.random(1).numpy(), parts[0])
    assert tt.random.default_rng(1).random() != tt.random.default_rng(2).random()
    a, b = rng.spawn(2)
    assert a.random() != b.random()


def test_draw_fuses(recorded):
    x = tt.random.default_rng(3)
    y = (x.random(1000, dtype="float32") * 2 - 1) ** 2
    tt.ledger().reset()
    y.sum().eval()
    assert tt.ledger()["launches"] == 1


def test_orders(rng):
    assert sorted(rng.permutation(1000).tolist()) == list(range(1000))
    a = np.arange(60).reshape(20, 3)
    p = rng.permutation(tt.asarray(a)).numpy()
    assert (p != a).any() and (p[np.argsort(p[:, 0])] == a).all()
    q = rng.permuted(tt.asarray(a), axis=1).numpy()
    assert (q != a).any() and (np.sort(q, 1) == a).all()
    x = tt.array(a)
    assert rng.shuffle(x) is None and (np.sort(x.numpy(), 0) == a).all()
    first = np.array([rng.permutation(3).numpy() for _ in range(600)])
    assert (np.bincount(first @ [9, 3, 1])[np.unique(first @ [9, 3, 1])] > 50).all() and len(
        np.unique(first @ [9, 3, 1])
    ) == 6


def test_choice(rng):
    p = [0.1, 0.2, 0.3, 0.4]
    np.testing.assert_allclose(np.bincount(rng.choice(4, N, p=p).numpy()) / N, p, atol=0.01)
    x = rng.choice(tt.asarray([5, 6, 7]), 1000).numpy()
    assert set(x.tolist()) == {5, 6, 7}
    once = rng.choice(100, 100, replace=False)
    assert sorted(once.tolist()) == list(range(100))
    heavy = [rng.choice(3, 1, replace=False, p=[0.05, 0.05, 0.9]).tolist()[0] for _ in range(200)]
    assert heavy.count(2) > 150
    assert rng.choice(tt.arange(12).reshape(4, 3), (2, 5), axis=1).shape == (4, 2, 5)
    assert sorted(rng.choice(3, 2, replace=False, p=[0, 0.5, 0.5]).tolist()) == [1, 2]


def test_choice_of_few_out_of_many(rng):
    few = rng.choice(2**40, 1000, replace=False).numpy()  # 8 TiB, if all were put in an order
    assert np.unique(few).size == 1000 and few.min() >= 0 and few.max() < 2**40
    assert abs(few.mean() / 2**40 - 0.5) < 0.05 and abs(np.corrcoef(np.arange(1000), few)[0, 1]) < 0.15
    count = np.zeros(20_000)
    for _ in range(300):
        np.add.at(count, rng.choice(20_000, (20, 20), replace=False).numpy(), 1)
    assert count.sum() == 120_000 and 5.5 < count.var() < 6.3  # of 300 x 0.02 x 0.98
    assert rng.choice(tt.arange(20_000) + 7, 3, replace=False, shuffle=False).min() >= 7


BAD = [
    lambda r: r.integers(5, 5), lambda r: r.integers(0, 300, dtype="int8"), lambda r: r.integers(0),
    lambda r: r.integers(-1, 5, dtype="uint8"), lambda r: r.normal(0, -1), lambda r: r.exponential([1, -1]),
    lambda r: r.choice(5, 10, replace=False), lambda r: r.choice([1, 2], p=[0.5, 0.6]), lambda r: r.choice([], 3),
    lambda r: r.random(-1), lambda r: r.random(3, dtype="int8"), lambda r: r.triangular(2, 1, 3),
    lambda r: r.gamma(-1), lambda r: r.gamma(1, -1), lambda r: r.poisson(-1), lambda r: r.poisson(1e20),
    lambda r: r.poisson(np.nan), lambda r: r.poisson([1.0, np.nan]), lambda r: r.binomial(-1, 0.5),
    lambda r: r.binomial(3, 1.5), lambda r: r.binomial([1, 2], [0.5, 3]), lambda r: r.chisquare(0),
    lambda r: r.beta(0, 1),
    lambda r: r.beta(1, 0), lambda r: r.standard_t(0), lambda r: r.f(0, 1), lambda r: r.f(1, 0),
    lambda r: r.dirichlet([-1, 1]), lambda r: r.multinomial(-1, [0.5, 0.5]),
    lambda r: r.multinomial(3, [0.9, 0.3, 0.1]),
    lambda r: r.multinomial(3, [-0.1, 1.1]), lambda r: r.multinomial(3, []), lambda r: r.multinomial(3, 0.5),
    lambda r: r.multivariate_normal([[0]], [[1]]), lambda r: r.multivariate_normal([0], [1]),
    lambda r: r.multivariate_normal([0, 0], [[1]]), lambda r: r.multivariate_normal([0, 0], np.eye(2), method="x"),
    lambda r: r.multivariate_normal([0, 0], [[1, 2], [2, 1]], check_valid="raise"),
    lambda r: r.multivariate_normal([0, 0], np.eye(2), check_valid="z"),
    lambda r: r.hypergeometric(1, 2, 4), lambda r: r.hypergeometric(-1, 2, 1), lambda r: r.hypergeometric(1, -2, -3),
    lambda r: r.hypergeometric(10**9, 2, 1), lambda r: r.hypergeometric([1, 2], 2, [1, 9]), lambda r: r.vonmises(0, -1),
    lambda r: r.wald(0, 1), lambda r: r.wald(1, -1), lambda r: r.zipf(1), lambda r: r.zipf(np.nan),
    lambda r: r.zipf([2, 0.5]), lambda r: r.logseries(1), lambda r: r.logseries(-0.1),
    lambda r: r.logseries([0.1, np.nan]),
    lambda r: r.noncentral_chisquare(0, 1), lambda r: r.noncentral_chisquare(1, -1), lambda r: r.noncentral_f(1, 0, 1),
    lambda r: r.noncentral_f(0, 1, 1), lambda r: r.noncentral_f(1, 1, -1), lambda r: r.normal(0, -0.0),
    lambda r: r.normal([1, 2], 1, (2, 3)), lambda r: r.normal([[1], [2]], 1, 3), lambda r: r.uniform(0, np.inf),
    lambda r: r.uniform([0, 1], [np.nan, 2]), lambda r: r.uniform(2, 1), lambda r: r.uniform([2, 1], 1.5),
    lambda r: r.geometric([0.5, 0]), lambda r: r.negative_binomial(np.nan, 0.5),
    lambda r: r.negative_binomial(1e19, 0.5),
    lambda r: r.multivariate_hypergeometric([1, 2], 4), lambda r: r.multivariate_hypergeometric([1, -2], 1),
    lambda r: r.multivariate_hypergeometric([1, 2], 1, method="x"), lambda r: r.integers(5, 3),
    lambda r: r.integers([3], [2]),
    lambda r: r.integers(0, [256, 257], dtype="uint8"), lambda r: r.integers(3, dtype="f4"),
    lambda r: r.random(3, dtype="i4"),
    lambda r: r.choice(2.5), lambda r: r.choice(None), lambda r: r.choice(3, p=[0.5, 0.5]), lambda r: r.choice(0, 2),
    lambda r: r.permutation(2.5), lambda r: r.normal(None), lambda r: r.normal(1, None),
    lambda r: r.negative_binomial(0, 0.5), lambda r: r.negative_binomial(1, 0), lambda r: r.standard_gamma([-1.0, 1]),
]  # fmt: skip


@pytest.mark.parametrize("k", range(len(BAD)))
def test_errors_are_numpys(k):
    with pytest.raises(Exception) as want:
        BAD[k](np.random.default_rng(0))
    with pytest.raises(want.type) as got:
        BAD[k](tt.random.default_rng(0))
    assert str(got.value) == str(want.value)


def test_process_generator():
    tt.random.seed(3)
    a = [tt.random.rand(3).tolist(), tt.random.randn(2, 2).tolist(), tt.random.randint(5, size=4).tolist()]
    tt.random.seed(3)
    assert a == [tt.random.rand(3).tolist(), tt.random.randn(2, 2).tolist(), tt.random.randint(5, size=4).tolist()]
    assert len(tt.random.bytes(7)) == 7
    with pytest.raises(ValueError, match="non-negative"):
        tt.random.default_rng(-1)


def test_pickle(rng):
    rng.random(3)
    copy = pickle.loads(pickle.dumps(rng))
    assert copy.random() == rng.random()


@pytest.mark.parametrize("seed", [2**64, 0x3034C61A9AE04FF8CB62AB8EC2C4B501, [1, 2**90], (2**65, [2**70])])
def test_seeds_of_any_size(seed):
    """NumPy advises seeds of 128 bits; what is beyond 64 is mixed by a SeedSequence, every bit of it."""
    draws = tt.random.default_rng(seed).random(3).tolist()
    assert draws == tt.random.default_rng(seed).random(3).tolist()
    assert draws == tt.random.default_rng(tt.random.SeedSequence(seed)).random(3).tolist()
    if isinstance(seed, int):
        assert draws != tt.random.default_rng(seed + 2**100).random(3).tolist()
    children = [g.random(2).tolist() for g in tt.random.default_rng(seed).spawn(2)]
    assert children[0] != children[1]


@pytest.mark.parametrize("seed", [-1, -(2**70), [3, -(2**70)]])
def test_negative_seeds(seed):
    for m in (np, tt):
        with pytest.raises(ValueError, match="non-negative"):
            m.random.default_rng(seed)
