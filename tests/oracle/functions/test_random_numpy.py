"""Bit generators, Generator and RandomState: NumPy's numbers for NumPy's seeds, bit for bit."""

import pickle
import warnings

import numpy as np
import pytest
import tutti as tt

KINDS = ["PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64"]


def pair(make):
    """The same thing of NumPy and of ours."""
    return make(np.random), make(tt.random)


def generators(kind, seed=7):
    return pair(lambda m: m.Generator(getattr(m, kind)(seed)))


def check(want, got):
    """One value, array or list, equal to the last bit."""
    if isinstance(want, (list, tuple)):
        assert len(want) == len(got)
        for w, g in zip(want, got):
            check(w, g)
        return
    got = np.asarray(got.numpy() if hasattr(got, "numpy") else got)
    want = np.asarray(want)
    assert got.shape == want.shape
    assert got.dtype == want.dtype or (want.shape == () and got.dtype.kind in "ib")  # one integer is Python's
    want = want.astype(got.dtype)
    assert got.tobytes() == want.tobytes() or np.array_equal(got, want, equal_nan=want.dtype.kind == "f")


def outcome(call):
    """A result, or the type and the words of an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return call()
        except Exception as e:
            return f"{type(e).__name__}: {e}"


def check_calls(want, got):
    want, got = outcome(want), outcome(got)
    if isinstance(want, str) or isinstance(got, str):
        assert isinstance(want, str) and isinstance(got, str), (want, got)
        cut = slice(0, 60 if "shape mismatch" in want else None)  # which operands it names is not the point
        assert got[cut] == want[cut]
    else:
        check(want, got)


SEEDS = [0, 5, 2**31, 2**64 + 3, 10**40, [1, 2, 3], [2**40, 5], np.arange(6), np.array([7], "uint32"), (1,), []]


@pytest.mark.parametrize("seed", SEEDS, ids=str)
def test_seed_sequence(seed):
    want, got = pair(lambda m: m.SeedSequence(seed))
    for n in (1, 4, 11):
        check(want.generate_state(n), got.generate_state(n))
        check(want.generate_state(n, np.uint64), got.generate_state(n, "uint64"))
    for w, g in zip(want.spawn(2) + want.spawn(1), got.spawn(2) + got.spawn(1)):
        assert (w.spawn_key, w.pool_size) == (g.spawn_key, g.pool_size)
        check(w.spawn(1)[0].generate_state(5), g.spawn(1)[0].generate_state(5))
    want, got = pair(lambda m: m.SeedSequence(seed, spawn_key=(3, 2**33), pool_size=8))
    check(want.pool, got.pool)
    check(want.generate_state(9), got.generate_state(9))
    assert repr(got) == repr(want).replace("np.uint32", "np.uint32")
    check(pickle.loads(pickle.dumps(got)).generate_state(3), got.generate_state(3))


def test_seed_errors():
    for bad in (-1, 1.5, "x", [1.5], [-3]):
        for make in (lambda m: m.SeedSequence(bad), lambda m: m.PCG64(bad)):  # noqa: B023
            want, got = outcome(lambda: make(np.random)), outcome(lambda: make(tt.random))  # noqa: B023
            assert isinstance(want, str) and got.split(":")[0] == want.split(":")[0], (bad, want, got)
    assert outcome(lambda: tt.random.SeedSequence(1, pool_size=3)) == outcome(
        lambda: np.random.SeedSequence(1, pool_size=3)
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", [0, 123456789, [3, 2**35]], ids=str)
def test_raw_and_state(kind, seed):
    want, got = pair(lambda m: getattr(m, kind)(seed))
    for size in (None, 5, (2, 3), 700, 0):
        check(want.random_raw(size), got.random_raw(size))
    np.random.Generator(want).random(3, dtype="f4"), tt.random.Generator(got).random(3, dtype="f4")
    w, g = want.state, got.state
    assert list(w) == list(g)
    for part in w:
        if isinstance(w[part], dict):
            assert all(np.array_equal(w[part][k], g[part][k]) for k in w[part])
        else:
            assert np.array_equal(w[part], g[part])
    fresh = getattr(tt.random, kind)(1)
    fresh.state = w  # NumPy's own
    check(want.random_raw(9), fresh.random_raw(9))
    got.random_raw(9)
    copy = pickle.loads(pickle.dumps(got))
    check(want.random_raw(9), copy.random_raw(9))
    with pytest.raises(ValueError, match="state must be for a"):
        got.state = {"bit_generator": "x"}


@pytest.mark.parametrize("kind", KINDS)
def test_far_ahead(kind):
    want, got = pair(lambda m: getattr(m, kind)(11))
    if hasattr(want, "jumped"):
        for jumps in (1, 3):
            check(want.jumped(jumps).random_raw(700), got.jumped(jumps).random_raw(700))
        for draws in (1, 3, 622):  # from any place in the state
            want.random_raw(draws), got.random_raw(draws)
            check(want.jumped().random_raw(5), got.jumped().random_raw(5))
    if hasattr(want, "advance"):
        for n in (1, 10**30, -7, 2**200 + 5):
            check(want.advance(n).random_raw(5), got.advance(n).random_raw(5))
    check([b.random_raw(3) for b in want.spawn(2)], [b.random_raw(3) for b in got.spawn(2)])


def test_philox_by_counter_and_key():
    for names in (
        {"counter": 3, "key": 5},
        {"key": [1, 2]},
        {"counter": [1, 2, 3, 2**63]},
        {"seed": 4, "counter": 2**255},
    ):
        want, got = pair(lambda m: m.Philox(**names))  # noqa: B023
        if "key" in names:
            check(want.random_raw(9), got.random_raw(9))
    for names in ({"seed": 1, "key": 1}, {"key": -1}, {"key": 2**128}, {"counter": [1]}):
        assert outcome(lambda: tt.random.Philox(**names)) == outcome(lambda: np.random.Philox(**names))  # noqa: B023


# What both kinds of generators have: method, arguments. Random parameters come on top.
DRAWS = {
    "standard_normal": [()], "standard_exponential": [()], "standard_cauchy": [()],
    "uniform": [(2, 5), (5, 2), (3, 3)], "normal": [(3, 2), (0, 0)], "lognormal": [(0, 0.5)],
    "exponential": [(2,), (0,)],
    "gumbel": [(1, 2)], "laplace": [(1, 2)], "logistic": [(1, 2)], "rayleigh": [(2,)], "weibull": [(2,), (0,)],
    "pareto": [(5,)], "power": [(3,)], "wald": [(2, 3), (1e-3, 5)], "triangular": [(0, 1, 4), (0, 0, 1), (0, 1, 1)],
    "standard_gamma": [(0.4,), (0,), (1,), (7,)], "gamma": [(0.3, 2), (1, 2), (5, 2)],
    "beta": [(0.5, 0.3), (2, 3), (1e-3, 1e-3), (0.5, 4), (1e-200, 1e-200)], "chisquare": [(3,), (0.5,)],
    "noncentral_chisquare": [(3, 2), (0.5, 2), (3, 0), (2, np.nan)], "standard_t": [(5,)], "f": [(4, 9)],
    "noncentral_f": [(3, 4, 2)], "vonmises": [(0, 4), (1, 1e-9), (1, 1e-6), (3, 1e5)],
    "poisson": [(3,), (50,), (1e6,), (0,), (10,), (9.999,)], "zipf": [(1.5,), (3,), (1.01,), (30,)],
    "geometric": [(0.3,), (0.5,), (1e-3,), (1,)], "logseries": [(0.3,), (0.99,), (0,)],
    "binomial": [(10, 0.3), (1000, 0.3), (10**6, 0.7), (0, 0.5), (5, 0), (5, 1), (50, 0.5), (61, 0.5), (100, 0.9),
                 (10**15, 1e-15)],
    "negative_binomial": [(5, 0.3), (100, 0.01), (0.5, 0.5), (2, 1)],
    "hypergeometric": [(10, 5, 3), (100, 50, 20), (1000, 2000, 500), (15, 5, 18), (50, 60, 105), (0, 5, 3), (5, 0, 3)],
    "dirichlet": [([0.3, 2, 5],), ([0.01, 0.02],), ([1],)],
    "multinomial": [(20, [0.2, 0.3, 0.5]), (5, [1.0]), (0, [0.5, 0.5])],
    "choice": [(10,), ([5, 6, 7],)],
    "permutation": [(10,), ([1, 2, 3, 4],), (np.arange(12).reshape(4, 3),), (0,), (1,)],
}  # fmt: skip
NO_SIZE = {"permutation"}
# NumPy 2.5 corrected binomial's rejection, and gave RandomState.multinomial its numbers of NumPy 1.16 back: ours, too.
NEW = {
    ("Generator", "binomial"): lambda n, p: n * min(p, 1 - p) > 30,
    ("RandomState", "multinomial"): lambda n, p: n == 0,
}
if tuple(int(n) for n in np.__version__.split(".")[:2]) >= (2, 5):
    NEW = {}


@pytest.mark.parametrize("make", ["Generator", "RandomState"])
@pytest.mark.parametrize("method", DRAWS)
def test_distributions(method, make):
    kinds = KINDS if make == "Generator" else ["MT19937"]
    for kind in kinds:
        want, got = generators(kind) if make == "Generator" else pair(lambda m: m.RandomState(7))
        for args in DRAWS[method]:
            if (make, method) in NEW and NEW[make, method](*args):
                continue
            for size in (None, 3000, (2, 3), 0) if method not in NO_SIZE else (None,):
                names = {} if method in NO_SIZE else {"size": size}
                check_calls(lambda: getattr(want, method)(*args, **names), lambda: getattr(got, method)(*args, **names))  # noqa: B023
        check(want.random(3), got.random(3))  # nothing more was taken, nothing less


def test_numbers_of_numpy_2_5():
    _, got = generators("PCG64DXSM")
    for args in (10, 0.3), (1000, 0.3):
        for size in (None, 3000):
            x = got.binomial(*args, size=size)
        got.binomial(*args, size=(2, 3))
    assert x[:3].tolist() == [310, 292, 296] and x[-3:].tolist() == [335, 295, 294] and x[1377] == 287
    got = tt.random.RandomState(7)
    for args in DRAWS["multinomial"]:
        for size in (None, 3000, (2, 3)):
            got.multinomial(*args, size=size)
    np.testing.assert_allclose(got.random(3), [0.18080393, 0.67127702, 0.95805213], atol=1e-8)


RANDOM = {
    "normal": "rp", "lognormal": "rp", "uniform": "rr", "exponential": "p", "gamma": "pp", "beta": "pp",
    "chisquare": "p",
    "noncentral_chisquare": "pp", "f": "pp", "standard_t": "p", "pareto": "p", "weibull": "p", "power": "p",
    "rayleigh": "p", "laplace": "rp", "gumbel": "rp", "logistic": "rp", "wald": "pp", "vonmises": "rp", "poisson": "p",
    "binomial": "nc", "negative_binomial": "pc", "geometric": "c", "logseries": "c", "hypergeometric": "nnn",
    "standard_gamma": "p", "noncentral_f": "ppp",
}  # fmt: skip
SHAPES = [(), (3,), (2, 1), (1, 3), (2, 3), (1,), (0,)]


def parameter(r, kind):
    shape = SHAPES[r.integers(len(SHAPES))] if r.random() < 0.7 else ()
    x = {"r": lambda: r.normal(0, 5, shape), "p": lambda: 10.0 ** r.uniform(-3, 3, shape), "c": lambda: r.random(shape)}
    x = x[kind]() if kind in x else r.integers(0, 60, shape)
    if kind != "n" and r.random() < 0.1:
        x = x * r.choice([0.0, -1.0, np.nan, np.inf, -0.0])
    return x if shape else x.item() if hasattr(x, "item") else x


@pytest.mark.parametrize("seed", range(8))
def test_random_calls(seed):
    """Methods, parameters, shapes and sizes at random: the same numbers, or the same error."""
    r = np.random.default_rng(seed)
    for _ in range(60):
        method = r.choice(list(RANDOM))
        args = [parameter(r, k) for k in RANDOM[method]]
        size = [None, None, 4, (2, 3), (4, 2, 3), (), -1][r.integers(7)]
        if r.random() < 0.5:
            want, got = generators(r.choice(KINDS), seed)
        else:
            want, got = pair(lambda m: m.RandomState(seed))
        if any(np.isinf(a).any() for a in args):
            continue  # NumPy does not come back from some of them
        check_calls(lambda: getattr(want, method)(*args, size=size), lambda: getattr(got, method)(*args, size=size))  # noqa: B023


TYPES = ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("kind", KINDS)
def test_integers(kind, dtype):
    info = np.iinfo(dtype) if dtype != "bool" else type("", (), {"min": 0, "max": 1})
    top, low = int(info.max), int(info.min)
    ranges = [
        (0, 1),
        (low, top),
        (0, top),
        (top - 1, top),
        (low, low + 1),
        (low, 0),
        (0, 2),
        (low, top // 2 + 1),
        (5, 3),
    ]
    ranges += [] if "64" in dtype else [(0, top + 2), (low - 1, 5)]
    ranges += [([0, 1], top), (np.array([low, 0], dtype), np.array([[0], [top]], dtype)), ([0, 5], [3, 2]), (0.7, 1.9)]
    want, got = generators(kind)
    old, new = pair(lambda m: m.RandomState(9))
    for a, b in ranges:
        for size in (None, 70, (3, 2), 0):
            for closed in (False, True):
                call = lambda g: g.integers(a, b, size, dtype, closed)  # noqa: E731, B023
                check_calls(lambda: call(want), lambda: call(got))  # noqa: B023
            call = lambda g: g.randint(a, b, size, dtype)  # noqa: E731, B023
            check_calls(lambda: call(old), lambda: call(new))  # noqa: B023
    check(want.random(5), got.random(5))
    check(old.random_sample(5), new.random_sample(5))


@pytest.mark.parametrize("kind", KINDS)
def test_floats(kind):
    want, got = generators(kind)
    for method in ("random", "standard_normal", "standard_exponential"):
        for dtype in ("float64", "float32", "int32", "float16"):
            for size in (None, 5, (2, 3), 100_001, 0):
                call = lambda g: getattr(g, method)(size, dtype=dtype)  # noqa: E731, B023
                check_calls(lambda: call(want), lambda: call(got))  # noqa: B023
    for names in ({"method": "inv"}, {"method": "inv", "dtype": "f4"}):
        check(want.standard_exponential(1000, **names), got.standard_exponential(1000, **names))
    for shape in (0.3, 1.0, 4.0, [[0.0], [2.0]]):
        call = lambda g: g.standard_gamma(shape, dtype="f4", size=(2, 300))  # noqa: E731, B023
        check(call(want), call(got))


def test_out():
    want, got = generators("PCG64")
    for method in ("random", "standard_normal", "standard_exponential"):
        for dtype, shape, size, order in [
            ("f8", (3,), None, "C"), ("f4", (3,), None, "C"), ("f8", (2, 3), (2, 3), "C"), ("f8", (2, 3), None, "F"),
            ("f8", (3,), 4, "C"), ("i8", (3,), None, "C"),
        ]:  # fmt: skip
            a, b = np.zeros(shape, dtype, order=order), tt.array(np.zeros(shape, dtype), order=order)
            for t in ("f8", "f4"):
                w = outcome(lambda: getattr(want, method)(size, dtype=t, out=a))  # noqa: B023
                g = outcome(lambda: getattr(got, method)(size, dtype=t, out=b))  # noqa: B023
                assert g == w if isinstance(w, str) else g is b
                check(a, b)
    wide = tt.zeros(6)
    with pytest.raises(ValueError, match="contiguous, writable"):
        got.random(out=wide[::2])
    for order in "CF":  # of an array with parameters NumPy asks for C's order
        a, b = np.zeros((2, 3), order=order), tt.zeros((2, 3), order=order)
        check_calls(lambda: want.standard_gamma(2.0, out=a), lambda: got.standard_gamma(2.0, out=b))  # noqa: B023
        check(a, b)


@pytest.mark.parametrize("kind", ["PCG64", "MT19937"])
def test_orders_and_choices(kind):
    want, got = generators(kind)
    old, new = pair(lambda m: m.RandomState(3))
    rows = np.arange(60).reshape(20, 3)
    for axis in (0, 1, -1, 2):
        check_calls(lambda: want.permutation(rows, axis), lambda: got.permutation(tt.asarray(rows), axis))  # noqa: B023
        check_calls(lambda: want.permuted(rows, axis=axis), lambda: got.permuted(tt.asarray(rows), axis=axis))  # noqa: B023
        a, b = rows.copy(), tt.array(rows)
        if outcome(lambda: want.shuffle(a, axis)) is None:  # noqa: B023
            got.shuffle(b, axis)
        check(a, b)
    check(want.permuted(rows), got.permuted(tt.asarray(rows)))
    for g, h in ((want, got), (old, new)):
        for make in (lambda: rows.copy(), lambda: list(range(30)), lambda: [], lambda: rows[:1].copy()):
            a, b = make(), make()
            g.shuffle(a), h.shuffle(b)
            check(a, b)
            check(g.permutation(make()), h.permutation(make()))
        c = tt.array(rows)
        d = rows.copy()
        g.shuffle(d), h.shuffle(c)
        check(d, c)
        check(g.bytes(11), h.bytes(11))
        assert g.bytes(4) == h.bytes(4)
        p = np.random.default_rng(1).dirichlet(np.ones(40))
        half = np.array([0.5, 0, 0.25, 0.25])
        for args, names in [
            ((40, 9), {"p": p}), ((40, (3, 2)), {"replace": False}), ((40, 30), {"replace": False, "p": p}), ((7,), {}),
            ((20000, 3000), {"replace": False}), ((20000, 30), {"replace": False}),
            ((4, 3), {"replace": False, "p": half}),
            ((4, 4), {"replace": False, "p": half}), ((5, 6), {"replace": False}), (([], 3), {}), ((0, 3), {}),
            ((0, 0), {}),
            ((3, 2), {"p": [0.5, 0.5]}), ((2, 2), {"p": [0.5, 0.6]}), ((2, 2), {"p": [-0.5, 1.5]}),
            ((2,), {"p": [[0.5, 0.5]]}),
            ((2, 2), {"p": [0.5, np.nan]}), ((2.5,), {}), ((None,), {}), ((-3, 2), {}), (([1.5, 2.5], ()), {}),
            ((4, 1), {"replace": False}),
        ]:  # fmt: skip
            check_calls(lambda: g.choice(*args, **names), lambda: h.choice(*args, **names))  # noqa: B023
    for names in ({"axis": 1}, {"axis": 1, "replace": False, "shuffle": False}, {"shuffle": False, "replace": False}):
        check_calls(lambda: want.choice(rows, 3, **names), lambda: got.choice(rows, 3, **names))  # noqa: B023
    check_calls(lambda: old.choice(rows, 3), lambda: new.choice(rows, 3))


@pytest.mark.parametrize("kind", ["PCG64", "SFC64"])
def test_vectors(kind):
    want, got = generators(kind)
    old, new = pair(lambda m: m.RandomState(3))
    for g, h in ((want, got), (old, new)):
        for args in [
            (10, [0.2, 0.8], (3, 2)), (10, [0.9, 0.3, 0.1]), (10, [0.2, -0.2, 1.0]), (-1, [0.5, 0.5]),
            (3, [0.5, np.nan]),
        ]:  # fmt: skip
            check_calls(lambda: g.multinomial(*args), lambda: h.multinomial(*args))  # noqa: B023
        for args in [([1, 2], (2, 3)), ([-1, 1],), ([[1, 2]],), ([0.01, 0.05, 0.02], 5)]:
            check_calls(lambda: g.dirichlet(*args), lambda: h.dirichlet(*args))  # noqa: B023
        w, v = (x.multivariate_normal([1, 2], [[2, 0], [0, 1]], 5) for x in (g, h))
        np.testing.assert_allclose(np.abs(v.numpy() - [1, 2]), np.abs(w - [1, 2]), rtol=1e-9)  # signs are the SVD's
    w, v = (x.multivariate_normal([1, 2], [[2, 0.5], [0.5, 1]], 5, method="cholesky") for x in (want, got))
    np.testing.assert_allclose(v.numpy(), w, rtol=1e-9)
    for args in [([3, 4], [0.5, 0.5]), ([3, 4], [0.5, 0.5], (3, 2)), (5, [[0.5, 0.5], [1, 0]]), ([3], [[0.6, 0.6]])]:
        check_calls(lambda: want.multinomial(*args), lambda: got.multinomial(*args))  # noqa: B023
    for args in [([0, 0], 3), ([0.0, 0.0, 0.0],), ([0, 0.05, 0], 4)]:
        check_calls(lambda: want.dirichlet(*args), lambda: got.dirichlet(*args))  # noqa: B023
    for args in [
        ([16, 8, 4], 6, 5), ([16, 8, 4], 20, (2, 3)), ([16, 8, 4], 0, 2), ([16, 8, 4], 28), ([], 0), ([5], 3, 2),
        ([16, 8, 4], 29), ([16, -8], 2), ([1.5, 2], 1), ([16, 8], -1), ([16, 8], 1.5), ([2 * 10**9, 5], 3),
        ([300, 2000], 900, 9),
    ]:  # fmt: skip
        for method in ("marginals", "count", "x"):
            if args[0] and max(args[0]) > 10**9 and method == "count":
                continue  # 16 GB
            call = lambda g: g.multivariate_hypergeometric(*args, method=method)  # noqa: E731, B023
            check_calls(lambda: call(want), lambda: call(got))  # noqa: B023


STATE_SEEDS = [0, 5, 2**32 - 1, [1, 2, 3], np.array([7, 2**32 - 1]), range(700)]


@pytest.mark.parametrize("seed", STATE_SEEDS, ids=lambda s: str(s)[:20])
def test_random_state(seed):
    want, got = pair(lambda m: m.RandomState(seed))
    for call in (
        lambda g: g.rand(2, 3), lambda g: g.randn(3), lambda g: g.rand(), lambda g: g.randn(),
        lambda g: g.random_sample(4),
        lambda g: g.random(3), lambda g: g.tomaxint(3), lambda g: g.tomaxint(), lambda g: g.randint(5),
        lambda g: g.random_integers(5, 9, 4),
        lambda g: g.random_integers(3), lambda g: g.normal(size=7), lambda g: g.randint(0, 2**40, 3),
        lambda g: g.uniform(5, 2, 3),
    ):  # fmt: skip
        check_calls(lambda: call(want), lambda: call(got))  # noqa: B023
    w, g = want.get_state(), got.get_state()
    assert w[0] == g[0] and (w[1] == g[1].numpy()).all() and w[2:] == g[2:]
    check(want.randn(5), got.randn(5))
    got.set_state(w), want.set_state(w)
    check(want.randn(5), got.randn(5))
    check(want.randn(2), pickle.loads(pickle.dumps(got)).randn(2))
    got.randn(2)
    w = want.get_state(legacy=False)
    g = got.get_state(legacy=False)
    assert list(w) == list(g)
    want.seed(9), got.seed(9)
    check(want.standard_normal(3), got.standard_normal(3))


def test_random_state_seeds():
    for bad in (-1, 2**32, 1.5, [], [-1], [2**32], [[1, 2]], [1.5], "a"):
        want, got = (outcome(lambda: m.RandomState(bad)) for m in (np.random, tt.random))  # noqa: B023
        assert isinstance(want, str) and isinstance(got, str) and got.split(":")[0] == want.split(":")[0], (
            bad,
            want,
            got,
        )
    want, got = pair(lambda m: m.RandomState(m.PCG64(3)))
    check(want.randn(3), got.randn(3))
    with pytest.raises(TypeError, match="can only re-seed"):
        got.seed(3)
    with pytest.warns(RuntimeWarning, match="legacy"):
        got.get_state()
    assert tt.random.RandomState().rand() != tt.random.RandomState().rand()


def test_generators_share_their_bits():
    want, got = pair(lambda m: m.PCG64(3))
    a, b = pair(lambda m: m.default_rng(want if m is np.random else got))
    c, d = pair(lambda m: m.RandomState(want if m is np.random else got))
    for g, h in ((a, b), (c, d), (a, b)):
        check(g.standard_normal(3), h.standard_normal(3))
    assert tt.random.default_rng(b) is b and b.bit_generator is got
    check([g.random(2) for g in a.spawn(2)], [g.random(2) for g in b.spawn(2)])
    assert str(b) == str(a) and repr(b).startswith("Generator(PCG64) at 0x")
    with pytest.raises(AttributeError, match="capsule"):
        tt.random.Generator(5)
    with pytest.raises(TypeError, match="tutti.random"):
        tt.random.Generator(np.random.PCG64(3))
    check(pickle.loads(pickle.dumps(b)).random(3), a.random(3))


NONE = ["normal", "uniform", "poisson", "exponential", "gamma", "binomial", "integers", "hypergeometric"]


@pytest.mark.parametrize("method", NONE)
def test_none_is_no_parameter(method):
    n = {"gamma": 2, "binomial": 2, "hypergeometric": 3}.get(method, 1)
    want, got = generators("PCG64")
    w, g = outcome(lambda: getattr(want, method)(*[None] * n)), outcome(lambda: getattr(got, method)(*[None] * n))
    assert w.startswith("TypeError") and g.startswith("TypeError"), (w, g)
    assert outcome(lambda: getattr(tt.random.default_rng(1), method)(*[None] * n)).startswith("TypeError")


MANY = [
    lambda g, n, k: g.random(n),
    lambda g, n, k: g.random(n, dtype="f4"),
    lambda g, n, k: g.uniform(-2, k + 1.5, n),
    lambda g, n, k: g.integers(0, k + 1, n),
    lambda g, n, k: g.integers(5, 2 ** (3 * k + 5) + 7, n, dtype="u8"),
    lambda g, n, k: g.integers(-(2 ** (k % 31)), 2 ** (k % 31), n, dtype="i4"),
    lambda g, n, k: g.integers(0, 2**32, n, dtype="u8"),
    lambda g, n, k: g.integers(0, 3 * 2**61, n),
    lambda g, n, k: g.integers(0, 200, n, dtype="u1"),
    lambda g, n, k: g.binomial(20 + k // 4, 0.3, n),
    lambda g, n, k: g.hypergeometric(15, 20 + k, 15, n),
    lambda g, n, k: g.standard_normal(n),
]


@pytest.mark.parametrize("kind", KINDS)
def test_random_sequences_of_draws(kind):
    """What is drawn many at a time takes as many words as what is drawn one by one, halves of words too."""
    rng = np.random.default_rng(KINDS.index(kind))
    want, got = generators(kind, 3)
    for _ in range(150):
        draw, n, k = (
            MANY[rng.integers(len(MANY))],
            int(rng.choice([0, 1, 2, 3, 7, 127, 128, 129, 300, 1001])),
            int(rng.integers(19)),
        )
        check(draw(want, n, k), draw(got, n, k))


LEGACY = [
    lambda s, n, k: s.rand(n),
    lambda s, n, k: s.randint(0, 2**k, n),
    lambda s, n, k: s.randint(0, k, n, dtype="u4"),
    lambda s, n, k: s.binomial(k, 0.2, n),
    lambda s, n, k: s.uniform(k, k + 3, n),
]


def test_random_sequences_of_legacy_draws():
    rng = np.random.default_rng(9)
    want, got = pair(lambda m: m.RandomState(4))
    for _ in range(500):
        draw, n, k = LEGACY[rng.integers(5)], int(rng.choice([0, 1, 2, 3, 129, 700])), int(rng.integers(1, 60))
        check(draw(want, n, k), draw(got, n, k))
