"""Gradients through the library's rows: products, transforms, scans, sorts, folds, counts, and functions over them."""

import numpy as np
import pytest
import tutti as tt
from differences import backward, check, check_second

REAL, COMPLEX = "real", "complex"
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
TYPES = pytest.mark.parametrize("kind", [REAL, COMPLEX])
SIZES = pytest.mark.parametrize("n", [1, 2, 3, 8, 9])


def make(kind, *shape, seed=3):
    rng = np.random.default_rng(seed)
    a = rng.standard_normal(shape)
    return a + 1j * rng.standard_normal(shape) if kind == COMPLEX else a


def with_zeros(kind, *shape, count=3):
    a = make(kind, *shape)
    a.reshape(-1)[:: max(1, a.size // count)] = 0
    return a


# ---- products


@TYPES
@pytest.mark.parametrize("a, b", [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 2, 3), (3, 4)), ((3,), (2, 3, 4)),
                                  ((2, 1, 2, 3), (3, 3, 2)), ((5, 2, 2, 3), (3,)), ((0, 2), (2, 3)), ((2, 0), (0, 3)),
                                  ((2, 3), (2, 3, 4)), ((9, 8), (8, 17))])  # fmt: skip
def test_matmul(kind, a, b):
    check(tt.matmul, make(kind, *a), make(kind, *b, seed=4))
    if len(a) < 3 and len(b) < 3 and min(*a, *b):
        check(tt.dot, make(kind, *a), make(kind, *b, seed=4))


def test_matmul_of_two_types():
    check(tt.matmul, make(REAL, 2, 3), make(COMPLEX, 3, 2))


def test_matmul_of_halves():
    a, b = (tt.array(make(REAL, 4, 5), "float16"), tt.array(make(REAL, 5, 3), "float16"))
    for x in (a, b):
        x.requires_grad = True
    (a @ b).sum().backward()
    assert a.grad.dtype == b.grad.dtype == "float16"
    np.testing.assert_allclose(a.grad.numpy(), np.ones((4, 3)) @ b.numpy().T, rtol=4e-3, atol=4e-3)
    np.testing.assert_allclose(b.grad.numpy(), a.numpy().T @ np.ones((4, 3)), rtol=4e-3, atol=4e-3)


@TYPES
def test_products_of_arrays(kind):
    a, b = make(kind, 2, 3, 4), make(kind, 3, 4, 2, seed=4)
    check(lambda x, y: tt.tensordot(x, y, 2), a, b)
    check(lambda x, y: tt.einsum("ijk,jkl->li", x, y), a, b)
    check(lambda x: tt.einsum("iij->j", x), make(kind, 3, 3, 2))
    check(lambda x, y, z: tt.linalg.multi_dot([x, y, z]), make(kind, 2, 3), make(kind, 3, 4), make(kind, 4, 2))
    for f in (tt.kron, tt.inner, tt.vecdot, tt.cross):
        check(f, make(kind, 2, 3), make(kind, 2, 3, seed=4))
    check(tt.vdot, a, make(kind, 2, 3, 4, seed=5))
    check(tt.trace, make(kind, 3, 4))
    check(tt.multiply.outer, make(kind, 3), make(kind, 2))


# ---- transforms

NORMS = [None, "ortho", "forward"]


@TYPES
@SIZES
@pytest.mark.parametrize("norm", NORMS)
def test_fft(kind, n, norm):
    a = make(kind, n)
    for name in ("fft", "ifft", "irfft", "hfft", *(("rfft", "ihfft") if kind == REAL else ())):
        f = getattr(tt.fft, name)
        if n > 1:
            check(lambda x, f=f: f(x, norm=norm), a)
        for m in (2, 3, 8, 9):
            check(lambda x, f=f, m=m: f(x, m, norm=norm), a)


@TYPES
@pytest.mark.parametrize("norm", NORMS)
def test_fft_over_axes(kind, norm):
    a = make(kind, 2, 3, 4)
    for name in ("fft2", "ifft2", "fftn", "ifftn", "irfft2", "irfftn", *(("rfft2", "rfftn") if kind == REAL else ())):
        f = getattr(tt.fft, name)
        check(lambda x, f=f: f(x, norm=norm), a)
        check(lambda x, f=f: f(x, (4, 3), (0, 1), norm), a)
    for axis in (0, 1, -1):
        check(lambda x, k=axis: tt.fft.fft(x, axis=k, norm=norm), a)
        check(lambda x, k=axis: tt.fft.irfft(x, axis=k, norm=norm), a)
    check(tt.fft.fftshift, a)


# ---- scans and folds


@TYPES
@SIZES
def test_scans(kind, n):
    check(tt.cumsum, make(kind, n))
    check(tt.cumprod, make(kind, n))
    check(lambda x: tt.cumulative_sum(x, include_initial=True), make(kind, n))
    check(lambda x: tt.cumulative_prod(x, include_initial=True), make(kind, n))
    check(tt.nancumprod, make(kind, n))


@TYPES
@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("count", [1, 2, 7])
def test_products_with_zeros(kind, axis, count):
    a = with_zeros(kind, 2, 4, 3, count=count)
    check(lambda x: tt.cumprod(x, axis), a)
    check(lambda x: tt.prod(x, axis), a)
    check(lambda x: tt.multiply.reduceat(x, [0, 1], axis), a)
    check_second(lambda x: tt.cumprod(x, axis), a)
    check_second(lambda x: tt.prod(x, axis), a)
    check_second(lambda x: tt.prod(x, (0, axis)) if axis else tt.prod(x), a)


def test_running_extremes():
    a = np.array([[1.0, 3, 2], [5, 3.2, 1], [5.5, 2, 7], [0, 0.1, 8]])
    for f in (tt.maximum, tt.minimum):
        for axis in (0, 1):
            check(lambda x, f=f, k=axis: f.accumulate(x, k), a)


def test_running_extreme_goes_to_the_first():
    (g,) = backward(lambda x: tt.maximum.accumulate(x), np.array([2.0, 2, 1, 3, 3]))
    w = np.random.default_rng(5).standard_normal(5)
    np.testing.assert_allclose(g, [w[:3].sum(), 0, 0, w[3:].sum(), 0])


@pytest.mark.parametrize("name", "subtract divide logaddexp hypot arctan2 fmax fmin maximum minimum copysign".split())
@SIZES
def test_folds(name, n):
    f, a = getattr(tt, name), make(REAL, 2, n) + 0.1
    check(lambda x: f.reduce(x, axis=1), a)
    check(lambda x: f.accumulate(x, axis=1), a)
    check(lambda x: f.reduceat(x, [0, n // 2], axis=1), a)


def test_fold_of_powers():
    check(tt.power.reduce, np.array([1.5, 1.2, 0.7]))
    check_second(tt.divide.reduce, make(REAL, 5))
    check_second(tt.logaddexp.reduce, make(REAL, 5))


@pytest.mark.parametrize("at", [[0, 2, 1, 3], [1, 3], [0], [4, 0, 4], [2, 2]], ids=str)
@pytest.mark.parametrize("name", "add multiply maximum subtract".split())
def test_reduceat(name, at):
    f = getattr(tt, name)
    check(lambda x: f.reduceat(x, at), make(REAL, 5))
    check(lambda x: f.reduceat(x, at, axis=1), make(REAL, 2, 5, 3))


def in_place(f):
    def changed(a, b):
        c = a.copy()
        f(c, b)
        return c

    return changed


@pytest.mark.parametrize("name", "add subtract multiply divide maximum minimum fmax".split())
def test_at(name):
    f, places = getattr(tt, name), [0, 2, 2, 1, 0]
    check(in_place(lambda c, b: f.at(c, places, b)), make(REAL, 4), make(REAL, 5, seed=4))
    check(in_place(lambda c, b: f.at(c, (slice(None), [0, 0, 2]), b)), make(REAL, 3, 4), make(REAL, 3, 3, seed=4))
    check(lambda x: in_place(lambda c, b: f.at(c, places, b))(x, 2.0), make(REAL, 4))
    if name == "multiply":
        check(in_place(lambda c, b: f.at(c, places, b)), make(REAL, 4), np.array([0.0, 2, 0, 3, 4]))


@pytest.mark.parametrize("f, words", [(lambda a: tt.negative.at(a, [0, 1, 1]), "negative.at"),
                                      (lambda a: tt.power.at(a, [0, 0], 2.5), "power.at")])  # fmt: skip
def test_at_without_a_derivative(f, words):
    with pytest.raises(NotImplementedError, match=words):
        backward(lambda x: in_place(lambda c, b: f(c))(x, None), np.array([1.0, 2]))


@TYPES
def test_reductions(kind):
    a = make(kind, 3, 4)
    for name in "max min ptp nanmax nanmin mean var std prod nanprod nanmean nanvar".split():
        f = getattr(tt, name)
        check(f, a)
        check(lambda x, f=f: f(x, axis=0), a)
    check(lambda x: tt.prod(x, where=x.real > 0, axis=0, initial=2.0), a)
    check(tt.cov, a)
    check(tt.corrcoef, a)
    check(lambda x, w: tt.average(x, axis=1, weights=w), a, np.array([0.2, 0.5, 0.3, 0.4]))


@TYPES
@pytest.mark.parametrize("order", [0.5, 1, 1.5, 2, 3.5, -0.5, -1, -3, np.inf, -np.inf])
def test_norms_of_nothing(kind, order):
    """Elements that are 0 have no slope there, and the others' is as if these were not there."""
    (g,) = backward(lambda x: tt.linalg.vector_norm(x, ord=order, axis=1), np.zeros_like(make(kind, 2, 3)))
    assert not g.any()
    a = with_zeros(kind, 3, 4)
    x = tt.array(a).requires_grad_()
    value = tt.linalg.vector_norm(x, ord=order, axis=1)
    np.testing.assert_array_equal(value.detach(), tt.linalg.vector_norm(tt.array(a), ord=order, axis=1))
    value.sum().backward()
    assert tt.isfinite(x.grad).all()
    if order not in (0.5, 1) and order > 0:
        check(lambda x: tt.linalg.vector_norm(x, ord=order, axis=1), a, tolerance=1e-4)


# ---- order


@TYPES
@SIZES
def test_sort(kind, n):
    check(tt.sort, make(kind, n))
    check(lambda x: tt.sort(x, axis=0), make(kind, n, 3))
    check(lambda x: tt.partition(x, n // 2), make(kind, n))
    check(lambda x: tt.partition(x, [0, n - 1], axis=0), make(kind, n, 2))
    check(lambda x: tt.take_along_axis(x, tt.argsort(x, axis=0), 0), make(kind, n, 3))
    check(tt.unique, make(kind, n))
    check(lambda x: tt.unique(x, axis=0), make(kind, n, 2))


def test_sort_of_equals():
    for f in (tt.sort, lambda x: tt.partition(x, 2), lambda x: tt.sort(x, descending=True)):
        (g,) = backward(f, np.array([1.0, 2, 1, 2, 2]))
        np.testing.assert_allclose(np.sort(g), np.sort(np.random.default_rng(5).standard_normal(5)))


def test_distinct_elements():
    (g,) = backward(tt.unique, np.array([2.0, 1, 2, np.nan, np.nan]))
    w = np.random.default_rng(5).standard_normal(3)
    np.testing.assert_allclose(g, [w[1], w[0], 0, w[2], 0])
    for f in (tt.union1d, tt.setxor1d):
        check(f, make(REAL, 3), make(REAL, 4, seed=4))
    check(lambda x: tt.intersect1d(x, x), make(REAL, 3))


METHODS = "linear lower higher midpoint nearest inverted_cdf hazen weibull median_unbiased".split()


@SIZES
def test_quantiles(n):
    for f in (tt.median, tt.nanmedian):
        check(f, make(REAL, n))
        check(lambda x, f=f: f(x, axis=0), make(REAL, n, 3))
    for method in METHODS:
        for f in (tt.quantile, tt.nanquantile):
            check(lambda x, f=f, m=method: f(x, [0.11, 0.37, 0.83], axis=1, method=m), make(REAL, 3, n))
    check(tt.quantile, make(REAL, n), np.array([0.21, 0.68]))


# ---- counting


def test_weights():
    w, x = make(REAL, 4), [0.0, 1, 1, 3]
    check(lambda a: tt.bincount([0, 1, 1, 3], a), w)
    check(lambda a: tt.bincount([0, 1, 1, 3], a, 6), w)
    check(lambda a: tt.histogram(x, 3, weights=a)[0], w)
    check(lambda a: tt.histogram(x, [0, 0.5, 2, 2.5], weights=a)[0], w)
    check(lambda a: tt.histogram(x, 3, (0.5, 2), weights=a)[0], make(COMPLEX, 4))
    check(lambda a: tt.histogram(x, 3, weights=a, density=True)[0], w)
    check(lambda a: tt.histogram2d(x, x, 3, weights=a)[0], w)
    check(lambda a: tt.histogramdd(np.array([x, x]).T, 3, weights=a)[0], w)
    check(lambda a: tt.histogram(a, 3)[1], w)


# ---- choosing and writing


@TYPES
def test_choosing(kind):
    a, b = make(kind, 3, 4), make(kind, 4, seed=4)
    for f in (lambda x: x[x.real > 0], lambda x: tt.extract(x.real > 0, x), lambda x: x[tt.nonzero(x.real > 0)],
              lambda x: tt.compress([1, 0, 1], x, axis=0), lambda x: x[tt.where(x.real > 0)],
              lambda x: tt.take(x, [0, 2, 2, -1], axis=1), lambda x: tt.take(x, [0, 2, 2, 11]),
              lambda x: tt.take(x, [0, 20, -7], mode="clip"), lambda x: x[tt.ix_([0, 2], [1, 0])],
              lambda x: tt.repeat(x, 2, axis=0), lambda x: tt.repeat(x, [1, 0, 3], axis=0), lambda x: tt.roll(x, 2),
              lambda x: tt.delete(x, [1], axis=0), lambda x: tt.resize(x, (5, 4))):  # fmt: skip
        check(f, a)
    check(lambda x, y: tt.where(x.real > 0, x, y), a, b)
    check(lambda x, y: tt.choose(tt.array([0, 1, 0, 1]), [x[0], y]), a, b)
    check(lambda x, y: tt.select([x.real > 0, y.real > 0], [x, y], 0), a, b)
    check(lambda x, y: tt.insert(x, [1, 3], y[:, None][:2], axis=0), a, b)


@TYPES
def test_writing(kind):
    a, b = make(kind, 6), make(kind, 2, seed=4)
    for f in (lambda c, y: c.__setitem__(slice(0, 2), y), lambda c, y: c.__setitem__(slice(None, None, -3), y),
              lambda c, y: c.__setitem__([0, 0], y), lambda c, y: tt.put(c, [0, 3, 0], y),
              lambda c, y: tt.place(c, c.real > -1, y), lambda c, y: tt.putmask(c, c.real > -1, y),
              lambda c, y: tt.copyto(c, y[0], where=c.real > 0), lambda c, y: c.sort()):  # fmt: skip
        check(in_place(f), a, b)
    check(in_place(lambda c, y: tt.fill_diagonal(c, y)), make(kind, 3, 3), make(kind, 3, seed=4))
    check(
        in_place(lambda c, y: tt.put_along_axis(c, tt.array([[0], [1], [0]]), y, 1)), make(kind, 3, 3), make(kind, 3, 1)
    )


# ---- curves and borders

MODES = "constant edge linear_ramp maximum mean median minimum reflect symmetric wrap".split()


@TYPES
@pytest.mark.parametrize("mode", MODES)
def test_pad(kind, mode):
    check(lambda x: tt.pad(x, ((1, 2), (3, 0)), mode), make(kind, 3, 4))


def test_pad_with_arrays():
    a, b = make(REAL, 3, 4), np.array(1.5)
    check(lambda x, y: tt.pad(x, 2, constant_values=y), a, b)
    check(lambda x, y: tt.pad(x, 2, constant_values=((y, 1), (2, 3))), a, b)
    check(lambda x, y: tt.pad(x, 2, "linear_ramp", end_values=y), a, b)
    check(lambda x: tt.pad(x, 2, "reflect", reflect_type="odd"), a)


@TYPES
def test_curves(kind):
    a, b = make(kind, 5), make(kind, 3, seed=4)
    for mode in ("full", "same", "valid"):
        check(lambda x, y, m=mode: tt.convolve(x, y, m), a, b)
        check(lambda x, y, m=mode: tt.correlate(x, y, m), a, b)
    for f in (tt.trapezoid, tt.diff, tt.gradient, tt.ediff1d, lambda x: tt.gradient(x, 2.0, edge_order=2),
              lambda x: tt.diff(x, 2, prepend=1.0)):  # fmt: skip
        check(f, a)
    check(tt.trapezoid, a, make(REAL, 5, seed=4))
    check(lambda x, h: tt.gradient(x, h), a, np.array([0.0, 1, 3, 4, 7]))
    check(lambda x, y: tt.interp(x, [0.0, 1, 2, 3], y), make(REAL, 6), make(kind, 4))
    check(lambda x, p, y: tt.interp(x, tt.cumsum(abs(p)), y), make(REAL, 6), make(REAL, 4) + 2, make(kind, 4))
    check(tt.polyval, make(kind, 4), b)
    check(lambda x, y: tt.polyfit(x, y, 2), make(kind, 6), make(kind, 6, seed=4), tolerance=1e-5)
    check(tt.roots, make(kind, 4))
    check(lambda x: tt.roots(x) ** 2, make(kind, 4))


def test_clip_and_special():
    check(tt.clip, make(REAL, 9) * 2, -abs(make(REAL, 9)), abs(make(REAL, 9, seed=4)))
    check(lambda x: tt.special.softmax(x, axis=1), make(REAL, 2, 9))
    check(lambda x: tt.special.logsumexp(x, axis=1), make(REAL, 2, 9))


# ---- views


@TYPES
def test_windows_that_overlap(kind):
    windows = tt.lib.stride_tricks.sliding_window_view
    check(lambda x: windows(x, 3), make(kind, 9))
    check(lambda x: windows(x, (2, 3)), make(kind, 4, 5))
    check(lambda x: windows(x, 3)[::-2].sum(-1), make(kind, 9))
    check(lambda x: tt.cumprod(windows(x, 3), axis=1), make(kind, 8))
    check(lambda x: tt.fft.fft(windows(x, 4)), make(kind, 8))
    check(lambda x: windows(x, 40).sum(0), make(REAL, 50))


@TYPES
def test_steps(kind):
    a = make(kind, 4, 9)
    for f in (tt.sort, tt.cumsum, tt.cumprod, tt.fft.fft, tt.prod):
        check(lambda x, f=f: f(x[::-1, ::-2]), a)
        check(lambda x, f=f: f(x.T), a)
        check(lambda x, f=f: f(tt.broadcast_to(x[:1], (3, 9))), a)


# ---- nothing, and what would be lost


@pytest.mark.parametrize("f", [tt.cumsum, tt.cumprod, tt.sort, tt.unique, lambda x: tt.repeat(x, 3), lambda x: x[::-1],
                               lambda x: x[x > 0], lambda x: tt.linalg.det(x.reshape(0, 0))])  # fmt: skip
def test_arrays_without_elements(f):
    found = tt.grad(lambda x: f(x).sum())(tt.zeros(0))
    assert found.shape == (0,) and found.dtype == "float64"


@pytest.mark.parametrize("f", [lambda x: x[:0].sum(), lambda x: x[x > 5].sum() * 3, lambda x: x[[]].prod() + 1,
                               lambda x: x.reshape(3, 1)[:, :0].sum(0).sum(), lambda x: x[:0] @ x[:0],
                               lambda x: tt.take(x, []).sum(), lambda x: tt.floor(x).sum()])  # fmt: skip
def test_nothing_of_an_array(f):
    x = tt.ones(3)
    x.requires_grad = True
    f(x).backward()
    np.testing.assert_array_equal(x.grad.numpy(), np.zeros(3))


@pytest.mark.parametrize("f", [lambda x: tt.polynomial.polynomial.polymul(x, x), lambda x: tt.polydiv(x, x[:2])[0],
                               lambda x: tt.polynomial.polynomial.polyder(x)])  # fmt: skip
def test_what_has_no_derivative_says_so(f):
    with pytest.raises(NotImplementedError, match="the derivative of '(series_|poly)"):
        backward(f, np.array([1.0, 2, 3]))


def of_number(f):
    """The gradient of a function's sum by one number."""
    x = tt.array(1.5)
    x.requires_grad = True
    f(x).sum().backward()
    return x.grad.numpy()


@pytest.mark.parametrize("name", "kaiser gradient unwrap arange norm".split())
def test_numbers_without_a_derivative_say_so(name):
    f = {"kaiser": lambda x: tt.kaiser(4, x), "gradient": lambda x: tt.gradient(tt.arange(3.0), x), "arange": tt.arange,
         "unwrap": lambda x: tt.unwrap(tt.ones(3), period=x), "norm": lambda x: tt.linalg.norm([1, 2], x)}  # fmt: skip
    with pytest.raises(NotImplementedError, match=f"the derivative of '{name}'"):
        of_number(f[name])


def test_written_into_a_constant():
    def added(x, places, values):
        c = tt.zeros(3)
        tt.add.at(c, places, values(x))
        return c

    assert of_number(lambda x: added(x, [0, 0], lambda x: x)) == 2
    assert of_number(lambda x: added(x, [0, 0, 1], lambda x: x * tt.array([1.0, 2, 3]))) == 6
    assert of_number(lambda x: added(x, slice(None), lambda x: x)) == 3


@pytest.mark.parametrize("source", [tt.random, tt.random.default_rng(3)], ids=["shared", "own"])
def test_draws(source):
    """Numbers are drawn with a slope where they are a function of other numbers and the parameters."""
    for seed in range(3):
        tt.random.seed(seed)
        x = tt.array([1.5, 0.7])
        x.requires_grad = True
        y = source.normal(3.0, x)
        y.backward(tt.ones(2))
        np.testing.assert_allclose(x.grad.numpy(), (y.numpy() - 3) / x.numpy())
    with pytest.raises(NotImplementedError, match="'draw'"):
        of_number(lambda x: source.gamma(x, 1.0, 3))
    assert of_number(lambda x: source.gamma(2.0, x, 3)) > 0
    with pytest.raises(NotImplementedError, match="'legacy_normal'"):
        of_number(lambda x: tt.random.RandomState(3).normal(x, 1.0, 3))


def test_moved_to_a_device():
    check(lambda x: tt.asarray(x, device="cpu") ** 2, make(REAL, 3))
    check(lambda x: x.to_device("cpu") ** 2, make(REAL, 3))


def test_second():
    a = make(REAL, 5)
    for f in (tt.cumprod, lambda x: tt.sort(x * x), lambda x: tt.cumsum(x * x), lambda x: tt.fft.rfft(x * x), tt.std,
              lambda x: tt.median(x * x), lambda x: tt.convolve(x, x), lambda x: x @ x, tt.prod,
              lambda x: tt.maximum.accumulate(x * x), lambda x: tt.add.reduceat(x * x, [0, 2]),
              lambda x: in_place(lambda c, b: tt.multiply.at(c, [0, 0, 1], b[:3]))(x, x)):  # fmt: skip
        check_second(f, a)
