"""Each row of derivatives at odd sizes and layouts, to the second order, and of complex numbers: against differences,
and against the same operation over contiguous arrays."""

import numpy as np
import pytest
import tutti as tt
from differences import check, check_second
from test_derivatives import OPS, ROWS, SLOPES, function, samples

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def of_free(op, n):
    """The function of those operands that have a slope, and these."""
    f, texts = function(OPS[op]), [t for t in ROWS[op] if t]
    xs = samples(op, len(texts), n)
    free = [k for k, t in enumerate(texts) if t not in ("?", "0")]

    def call(*given):
        all_of = list(map(tt.array, xs))
        for k, x in zip(free, given, strict=True):
            all_of[k] = x
        return f(*all_of)

    return call, [xs[k] for k in free]


@pytest.mark.parametrize("op", SLOPES)
def test_second_derivatives(op):
    f, xs = of_free(op, 3)
    leaves = [tt.array(x).requires_grad_() for x in xs]
    first = tt.grad(f(*leaves).sum(), leaves, create_graph=True)
    if not any(g.requires_grad for g in first):
        return  # constant slopes
    try:
        check_second(f, *xs, tolerance=2e-4)
    except NotImplementedError as error:
        assert "derivative" in str(error)


SIZES = [0, 1, 127, 128, 129]


def as_leaf(x):
    return tt.array(x).requires_grad_()


@pytest.mark.parametrize("op", SLOPES)
def test_sizes(op):
    """An element's slope hangs on it alone: not on the size, steps or on how its operands were broadcast."""
    f = function(OPS[op])
    count = len([t for t in ROWS[op] if t])
    free = [k for k, t in enumerate(ROWS[op]) if t not in ("", "?", "0")]
    for n in SIZES:
        xs = samples(op, count, n)
        g = np.random.default_rng(1).standard_normal(n)

        def slopes(*arrays, given=g):
            leaves = [as_leaf(a) if k in free else tt.array(a) for k, a in enumerate(arrays)]
            return leaves, tt.grad(f(*leaves), [leaves[k] for k in free], tt.array(given), allow_unused=True)

        _, plain = slopes(*xs)
        want = [np.zeros(n) if p is None else p.numpy() for p in plain]
        assert all(w.shape == (n,) for w in want)
        spread = [np.stack([x[::-1], x[::-1]], 1) for x in xs]  # the same backwards, with a gap
        leaves = [as_leaf(s) if k in free else tt.array(s) for k, s in enumerate(spread)]
        out = f(*(a[::-1, 0] for a in leaves))
        found = tt.grad(out, [leaves[k] for k in free], tt.array(g), allow_unused=True)
        for w, s in zip(want, found, strict=True):
            s = np.zeros((n, 2)) if s is None else s.numpy()
            np.testing.assert_array_equal(s[::-1, 0], w)
            assert not s[:, 1].any()
        leaves = [as_leaf(x) if k in free else tt.array(x) for k, x in enumerate(xs)]
        out = f(*(tt.broadcast_to(a, (3, n)) for a in leaves))
        found = tt.grad(out, [leaves[k] for k in free], tt.array(np.tile(g, (3, 1))), allow_unused=True)
        for w, s in zip(want, found, strict=True):
            assert s is None or s.shape == (n,)
            np.testing.assert_allclose(np.zeros(n) if s is None else s.numpy(), 3 * w, rtol=1e-12)


@pytest.mark.parametrize("op", SLOPES)
def test_broadcast(op):
    """Gradients of what was broadcast are sums; windows that overlap add up."""
    f, xs = of_free(op, 4)
    windows = tt.lib.stride_tricks.sliding_window_view

    def at_first(make):
        return lambda x: f(make(x), *map(tt.array, xs[1:]))

    check(at_first(lambda x: windows(x, 4)[1]), np.append(xs[0], xs[0][:2]), tolerance=5e-5)
    check(at_first(lambda x: tt.broadcast_to(x, (4,))), xs[0][:1], tolerance=5e-5)
    check(at_first(lambda x: windows(x, 4)[:, ::-1][0] * 1), xs[0], tolerance=5e-5)
    check(at_first(lambda x: windows(x, 4).sum(0) / 4), np.tile(xs[0][:1], 7), tolerance=5e-5)


# Operations of complex numbers, where they are analytic and, of those that are not, away from their corners.
COMPLEX = """sin cos tan sinh cosh tanh exp exp2 expm1 log log2 log10 log1p sqrt square reciprocal arcsin arccos arctan
arcsinh arccosh arctanh negative sign abs real imag conj angle""".split()
LINEAR = {"negative", "real", "imag", "conj", "add", "subtract"}
Z = np.array([0.4 + 0.3j, -0.2 + 1.1j, 1.5 - 0.7j, -0.8 - 0.4j])


@pytest.mark.parametrize("word", COMPLEX)
def test_complex(word):
    f = function(word)
    check(f, Z, tolerance=1e-5)
    if word not in LINEAR:
        check_second(f, Z, tolerance=2e-4)


@pytest.mark.parametrize("word", "add subtract multiply divide power float_power".split())
def test_complex_pairs(word):
    f, w = function(word), Z[::-1] * (1 - 0.5j) + 0.3
    check(f, Z, w, tolerance=1e-5)
    if word in LINEAR:
        return
    check_second(f, Z, w, tolerance=2e-4)
    check_second(f, Z, np.array([1.5, 0.7, 2.0, 1.1]), tolerance=2e-4)


REDUCTIONS = "sum prod mean max min var std ptp nansum nanprod nanmax nanmean median cumsum cumprod sort diff".split()


@pytest.mark.parametrize("word", REDUCTIONS)
def test_reductions_at_sizes(word):
    f = function(word)
    rng = np.random.default_rng(2)
    for n in (1, 3, 4, 5, 8, 9):
        x = rng.standard_normal((2, n))
        if word == "diff" and n == 1:
            continue
        check(lambda x: f(x, axis=1), x, tolerance=1e-5)
        check(lambda x: f(x[:, ::-1], axis=0) if word != "diff" else f(x[:, ::-1]), x, tolerance=1e-5)
        if n in (3, 5):
            check_second(lambda x: f(x * x, axis=1), x, tolerance=1e-3)


@pytest.mark.parametrize("word", ["sum", "prod", "mean", "nansum", "cumsum", "cumprod", "sort"])
def test_reductions_of_nothing(word):
    for shape, axis in (((0, 3), 0), ((3, 0), 1), ((0,), 0), ((2, 0, 3), 1)):
        x = tt.zeros(shape).requires_grad_()
        out = function(word)(x, axis=axis)
        (g,) = tt.grad(out, x, tt.ones(out.shape), create_graph=True, allow_unused=True)
        assert g.shape == shape
        function(word)(x * x, axis=axis).sum().backward()
        assert x.grad.shape == shape
