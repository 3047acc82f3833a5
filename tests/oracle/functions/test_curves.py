"""Borders, differences, integrals, interpolation, convolution, polynomials and sets against NumPy."""

import itertools
import warnings

import numpy as np
import pytest
import tutti as tt

TOLERANCE = {"float16": 1e-2, "float32": 2e-5, "complex64": 2e-5}
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def make(shape, dtype="float64", seed=0):
    a = np.asarray(np.random.default_rng(seed).normal(0, 3, shape))
    if dtype.startswith("complex"):
        a = a + 1j * make(shape, seed=seed + 1)
    return a > 0 if dtype == "bool" else (np.abs(a) if dtype.startswith("u") else a).astype(dtype)


def ours(x):
    if isinstance(x, np.ndarray):
        return tt.asarray(x)
    return type(x)(map(ours, x)) if isinstance(x, (tuple, list)) and any(isinstance(i, np.ndarray) for i in x) else x


def both(function, *args, **keywords):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        want = getattr(np, function)(*args, **keywords)
    got = getattr(tt, function)(*map(ours, args), **{k: ours(v) for k, v in keywords.items()})
    assert isinstance(got, tuple) == isinstance(want, (tuple, list))
    if not isinstance(got, tuple):
        got, want = (got,), (want,)
    assert len(got) == len(want)
    for g, w in zip(got, want):
        w = np.asarray(w)
        assert tuple(g.shape) == w.shape, function
        assert str(g.dtype) == str(w.dtype) or w.dtype == "int32", function
        t = TOLERANCE.get(str(w.dtype), 1e-9)
        np.testing.assert_allclose(g.numpy(), w, rtol=t, atol=t)


def same_error(call):
    with pytest.raises(Exception) as want:
        call(np)
    with pytest.raises(Exception) as got:
        call(tt)
    assert type(got.value).__name__ == type(want.value).__name__
    assert str(got.value).strip() == str(want.value).strip()


WIDTHS = [0, 1, (1, 2), ((0, 3), (2, 0)), ((5, 7), (11, 4)), [[2]], ((1,), (2,))]


@pytest.mark.parametrize(
    "mode", ["constant", "edge", "linear_ramp", "maximum", "mean", "median", "minimum", "reflect", "symmetric", "wrap"]
)
@pytest.mark.parametrize("dtype", ["float64", "float32", "int32", "uint8", "complex128", "bool"])
def test_pad(mode, dtype):
    if dtype in ("complex128", "bool") and mode in ("median", "mean", "linear_ramp"):
        pytest.skip("not of this type")
    a = make((3, 4), dtype)
    for widths, b in itertools.product(WIDTHS, [a, a[::-1, ::2], a[:1]]):
        both("pad", b, widths, mode)
        if mode in ("maximum", "mean", "median", "minimum"):
            both("pad", b, widths, mode, stat_length=((1, 2), (3, 9)))
        if mode in ("reflect", "symmetric") and dtype != "bool":
            both("pad", b, widths, mode, reflect_type="odd")
    both("pad", make((2, 3, 2), dtype), 2, mode)


def test_pad_values():
    a = make((3, 4))
    both("pad", a, 2, constant_values=7)
    both("pad", a, 2, constant_values=(7, 8.5))
    both("pad", a, ((1, 2), (3, 4)), constant_values=((1, 2), (3, 4)))
    both("pad", a.astype("int8"), 1, constant_values=-3)
    both("pad", a, ((1, 2), (3, 4)), "linear_ramp", end_values=((1, 2), (3, 4)))
    both("pad", np.arange(5), (3, 2), "linear_ramp", end_values=(-4, 9))
    both("pad", np.zeros((0, 3)), 1)
    both("pad", np.zeros((0, 3)), ((0, 0), (1, 1)), "edge")
    assert tt.pad(tt.ones((2, 3)), 1, "empty").shape == (4, 5)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "c8", "i8"])
@pytest.mark.parametrize("order", [1, 2])
def test_gradient_at_points_of_one_distance(dtype, order):
    """Coordinates that lie evenly are one distance: rounded as such, and an infinite neighbour spoils nothing."""
    a = np.random.default_rng(order).integers(-9, 9, (3, 7)).astype(dtype) / (7 if dtype != "i8" else 1)
    a = a.astype(dtype)
    if dtype != "i8":
        a[1, 3] = np.inf
    for x in (np.arange(7.0) * 0.3125, np.arange(7, dtype="f4"), np.arange(7), np.zeros(7), np.arange(7.0) ** 2 / 3):
        with np.errstate(all="ignore"):
            want = np.gradient(a, x, axis=1, edge_order=order)
            got = tt.gradient(tt.asarray(a), tt.asarray(x), axis=1, edge_order=order)
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(np.asarray(got), want)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int16", "complex64"])
def test_gradient(dtype):
    a = make((5, 6), dtype)
    x = np.cumsum(np.arange(1.0, 7))
    for order in [1, 2]:
        both("gradient", a, edge_order=order)
        both("gradient", a, 2.0, axis=1, edge_order=order)
        both("gradient", a, 0.5, 3, edge_order=order)
        both("gradient", a, x, axis=1, edge_order=order)
        both("gradient", a, x[:5], x, edge_order=order)
        both("gradient", a, x[:5], axis=(0,), edge_order=order)
        both("gradient", a[0, :3], edge_order=order)
    both("gradient", a[0, :2])
    both("gradient", a, axis=(1, 0))


@pytest.mark.parametrize("dtype", ["float64", "float32", "int32", "bool"])
def test_trapezoid(dtype):
    a = make((4, 5), dtype)
    both("trapezoid", a)
    both("trapezoid", a, dx=0.5, axis=0)
    both("trapezoid", a, np.arange(5.0) ** 2)
    both("trapezoid", a, make((4, 5), "float64", 1), axis=0)
    both("trapezoid", a[:, :1])


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex64", "int32", "uint8", "bool", "float16"])
@pytest.mark.parametrize("mode", ["full", "same", "valid"])
def test_convolution(dtype, mode):
    for n, m in [(1, 1), (7, 3), (3, 7), (8, 4), (4, 8), (5, 5), (6, 6), (200, 9)]:
        a, v = make(n, dtype), make(m, dtype, 1)
        both("convolve", a, v, mode)
        both("correlate", a, v, mode)
        both("convolve", a[::-1], v[::2], mode)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int32"])
def test_interp(dtype):
    xp, fp = np.cumsum(np.arange(1, 8)).astype(dtype), make(7, dtype)
    for x in [
        make(50, dtype) * 5,
        xp,
        np.asarray(3.5),
        np.asarray([np.nan, np.inf, -np.inf, 3]),
        make((2, 3)),
        np.zeros(0),
    ]:
        both("interp", x, xp, fp)
        both("interp", x, xp, fp, left=-1, right=2.5)
        both("interp", x, xp, fp + 1j)
        both("interp", x, xp[:1], fp[:1])
    both("interp", make(50) * 300, np.asarray([190, -190, 350, -350.0]), np.asarray([5, 10, 3, 4.0]), period=360)
    both("interp", np.asarray([1.0, 2, 3]), np.asarray([1.0, 2, 2, 3]), np.asarray([1.0, np.inf, 5, 5]))


@pytest.mark.parametrize("dtype", ["float64", "float32", "int32", "complex128"])
def test_polynomials(dtype):
    p, q, x = make(4, dtype), make(6, dtype, 1), make((3, 5), dtype, 2)
    both("polyval", p, x)
    both("polyval", p[:1], x)
    both("vander", x[0])
    both("vander", x[0], 3, increasing=True)
    both("vander", x[0], 0)
    for a, b in [(p, q), (q, p), (p, p), (np.concatenate([0 * p, q]), p)]:
        both("polyadd", a, b)
        both("polysub", a, b)
        both("polymul", a, b)
    for m in [0, 1, 2, 5]:
        both("polyder", p, m)
        both("polyint", p, m)
    both("polyint", p, 2, np.asarray([3, 4]))


def test_roots():
    for p in [[1, -6, 11, -6], [0, 0, 2, 1, 0, 0], [3], [0, 0], [1, 0, 1], []]:
        got, want = tt.roots(tt.asarray(np.asarray(p, float))), np.roots(np.asarray(p, float))
        assert got.shape == want.shape
        np.testing.assert_allclose(np.sort_complex(got.numpy()), np.sort_complex(want), atol=1e-9)
    for p in [np.float32([5, 0]), np.complex64([3j, 0]), np.float16([2])]:
        assert str(tt.roots(tt.asarray(p)).dtype) == str(np.roots(p).dtype) == "float64"
    for z in map(np.asarray, ([1.0, 2, 3], [1j, -1j], [1j, 2], make((3, 3)), np.zeros(0), [1, 2])):
        both("poly", z)


def odd_coefficients(r):
    """Coefficients as callers may hand them over: any type, none, one, with zeros outside, of the wrong rank."""
    if r.random() < 0.1:
        return [0, 2.5, True, [0, 0], [1, 2, 3], [0.0, 1, 0]][r.integers(6)]
    dtype = ["?", "i1", "u1", "i4", "i8", "u8", "f2", "f4", "f8", "c8", "c16"][r.integers(11)]
    shape = [(int(r.integers(6)),)] * 7 + [(), (2, 2), (1, 3), (0, 2)]
    return r.integers(0 if dtype[0] in "u?" else -3, 4, shape[r.integers(len(shape))]).astype(dtype)


@pytest.mark.parametrize("seed", range(40))
def test_polynomials_of_any_kind(seed):
    r = np.random.default_rng(seed)
    for _ in range(20):
        name = ["polyval", "polyadd", "polysub", "polymul", "polyder", "polyint"][r.integers(6)]
        a, b, m = odd_coefficients(r), odd_coefficients(r), [1, 2, -1, 1.0][r.integers(4)]
        second = m if name in ("polyder", "polyint") else b
        try:
            getattr(np, name)(a, second)
        except Exception:
            same_error(
                lambda xp, name=name, args=(a, second): getattr(xp, name)(*(map(ours, args) if xp is tt else args))
            )
        else:
            both(name, a, second)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int32"])
def test_polyfit(dtype):
    x = np.arange(10).astype(dtype)
    y = make((10, 2), dtype)
    for d in [0, 1, 3]:
        both("polyfit", x, y[:, 0], d)
        both("polyfit", x, y[:, 0], float(d))
        both("polyfit", x, y, d)
        both("polyfit", x, y[:, 0], d, w=np.arange(1.0, 11).astype("float32" if dtype == "float32" else "float64"))
        both("polyfit", x, y[:, 0], d, full=True)
        both("polyfit", x, y[:, 0], d, cov=True)
        both("polyfit", x, y, d, cov="unscaled")


@pytest.mark.parametrize("dtype", ["int64", "float64", "uint8"])
def test_sets(dtype):
    a, b = np.asarray([3, 1, 2, 3, 7, 1]).astype(dtype), np.asarray([[7, 2], [2, 9]]).astype("int32")
    for x, y in [(a, b), (b, a), (a, a), (a[:0], b), (a, b[:0]), (a[:1], b[:1])]:
        for name in ["union1d", "intersect1d", "setdiff1d", "setxor1d"]:
            both(name, x, y)
        both("intersect1d", x, y, return_indices=True)
    both("intersect1d", a[:3], np.unique(b), assume_unique=True)
    both("intersect1d", a[:3], np.unique(b), assume_unique=True, return_indices=True)
    both("setdiff1d", a, b, assume_unique=True)
    both("setxor1d", a[:3], np.unique(b), assume_unique=True)


@pytest.mark.parametrize(
    "call",
    [
        lambda m: m.pad(m.ones((2, 3)), -1),
        lambda m: m.pad(m.ones((2, 3)), 1.5),
        lambda m: m.pad(m.ones((2, 3)), 1, "foo"),
        lambda m: m.pad(m.ones((2, 3)), (1, 2, 3)),
        lambda m: m.pad(m.ones((2, 3)), ((1, 2), (1, 2), (1, 2))),
        lambda m: m.pad(m.ones((0, 3)), 1, "edge"),
        lambda m: m.pad(m.ones((2, 3)), 1, "edge", constant_values=1),
        lambda m: m.pad(m.ones((2, 3)), 1, "maximum", stat_length=0),
        lambda m: m.gradient(m.ones(1)),
        lambda m: m.gradient(m.ones(2), edge_order=2),
        lambda m: m.gradient(m.ones((3, 3)), 1, 2, 3),
        lambda m: m.gradient(m.ones(3), m.ones(2)),
        lambda m: m.gradient(m.ones(5), edge_order=3),
        lambda m: m.gradient(m.ones(3), m.ones((2, 2))),
        lambda m: m.convolve(m.ones(0), m.ones(3)),
        lambda m: m.convolve(m.ones(3), m.ones(0)),
        lambda m: m.convolve(m.ones((2, 2)), m.ones(3)),
        lambda m: m.convolve(m.ones(2), m.ones(3), "foo"),
        lambda m: m.correlate(m.ones(0), m.ones(3)),
        lambda m: m.correlate(m.ones(3), m.ones(2), "x"),
        lambda m: m.interp(1.0, m.ones(0), m.ones(0)),
        lambda m: m.interp(1.0, m.ones(3), m.ones(2)),
        lambda m: m.interp(1.0, m.ones((2, 2)), m.ones(2)),
        lambda m: m.interp(1.0, m.ones(3), m.ones(3), period=0),
        lambda m: m.vander(m.ones((2, 2))),
        lambda m: m.vander(m.ones(3), -1),
        lambda m: m.polyfit(m.ones(3), m.ones(3), -1),
        lambda m: m.polyfit(m.ones((2, 2)), m.ones(3), 1),
        lambda m: m.polyfit(m.ones(0), m.ones(3), 1),
        lambda m: m.polyfit(m.ones(3), m.ones((3, 2, 2)), 1),
        lambda m: m.polyfit(m.ones(3), m.ones(2), 1),
        lambda m: m.polyfit(m.ones(3), m.ones(3), 1, w=m.ones(2)),
        lambda m: m.polyfit(m.arange(3.0), m.arange(3.0) ** 2, 2, cov=True),
        lambda m: m.polyder(m.ones(3), -1),
        lambda m: m.polyint(m.ones(3), -1),
        lambda m: m.roots(m.ones((2, 2))),
    ],
)
def test_errors(call):
    same_error(call)
