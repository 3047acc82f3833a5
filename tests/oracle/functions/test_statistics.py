"""Order statistics, reductions that skip NaN, averages and covariances against NumPy."""

import warnings

import numpy as np
import pytest
import tutti as tt

NAN = float("nan")
TOLERANCE = {"float16": 5e-3, "float32": 1e-5, "complex64": 1e-5}
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def make(shape, dtype="float64", seed=0, nans=False):
    a = np.asarray(np.random.default_rng(seed).normal(0, 10, shape))
    if nans:
        a[np.random.default_rng(seed + 1).random(shape) < 0.3] = NAN
    return a.astype(dtype) if dtype != "bool" else a > 0


def both(function, *args, loose=1, **keywords):
    """NumPy's function and ours over the same arguments; shapes, types and values agree."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        want = getattr(np, function)(*args, **keywords)
    ours = {k: tt.asarray(v) if isinstance(v, np.ndarray) else v for k, v in keywords.items()}
    got = getattr(tt, function)(*(tt.asarray(a) if isinstance(a, np.ndarray) else a for a in args), **ours)
    if not isinstance(want, (tuple, list)):
        got, want = (got,), (want,)
    assert len(got) == len(want)
    for g, w in zip(got, want):
        w = np.asarray(w)
        assert tuple(g.shape) == w.shape, function
        assert str(g.dtype) == str(w.dtype), function
        t = TOLERANCE.get(str(w.dtype), 1e-11) * loose
        np.testing.assert_allclose(g.numpy(), w, rtol=t, atol=t)


def same_error(call):
    with pytest.raises(Exception) as want:
        call(np)
    with pytest.raises(Exception) as got:
        call(tt)
    assert type(got.value).__name__ == type(want.value).__name__
    assert str(got.value).strip() == str(want.value).strip()


AXES = [{}, {"axis": 0}, {"axis": -1, "keepdims": True}, {"axis": (0, 2)}]


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int8", "int32", "bool"])
@pytest.mark.parametrize("nans", [False, True])
def test_medians(dtype, nans):
    if nans and not dtype.startswith("float"):
        pytest.skip("no NaN in this type")
    a = make((4, 5, 6), dtype, nans=nans)
    for keywords in AXES:
        for b in [a, a[:3], a.T, a[:, ::2, ::-1]]:
            both("median", b, **keywords)
            both("nanmedian", b, **keywords)
    both("median", np.zeros(0))
    both("median", np.asarray(3.0))


METHODS = [
    "inverted_cdf",
    "averaged_inverted_cdf",
    "closest_observation",
    "interpolated_inverted_cdf",
    "hazen",
    "weibull",
    "linear",
    "median_unbiased",
    "normal_unbiased",
    "lower",
    "higher",
    "midpoint",
    "nearest",
]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("nans", [False, True])
def test_quantile_methods(method, nans):
    for n in [1, 2, 5, 10]:
        a = make((n, 3), nans=nans, seed=n)
        for q in [0, 0.1, 0.25, 0.5, 0.9, 1, 1 / 3]:
            both("quantile", a, q, axis=0, method=method)
            both("nanquantile", a, q, axis=0, method=method)
        both("percentile", a, [0, 12.5, 50, 100], axis=0, method=method)
        both("nanpercentile", a, np.asarray([[0, 20], [50, 100.0]]), method=method)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int32"])
def test_weighted_quantiles(dtype):
    a = make((5, 6, 7), dtype)
    w = np.random.default_rng(2).integers(0, 4, a.shape)
    w[0, 0] = 0, 0, 3, 1, 0, 2, 0  # zeros at both ends
    for q in [0, 0.3, 1, [0.0, 0.25, 0.5, 1.0], np.asarray([[0.1, 0.9]])[0], np.float32(0.4)]:
        for name in ["quantile", "nanquantile"]:
            both(name, a, q, weights=w, method="inverted_cdf")
            both(name, a, q, axis=(0, 2), weights=w * 0.5, method="inverted_cdf", keepdims=True)
            both(name, a, q, axis=1, weights=w + 1, method="inverted_cdf")
        both("quantile", a, q, axis=(2, 0), weights=w[:, 0, :].T + 0.1, method="inverted_cdf")
        both("quantile", a, q, axis=-1, weights=np.arange(1, 8), method="inverted_cdf")
    both("percentile", a, [20, 80], axis=0, weights=np.arange(1, 6), method="inverted_cdf")
    if dtype.startswith("float"):
        a[1, 2, 3] = a[1, 2, 4] = a[0, 0, 0] = np.nan
        a[3, 3] = np.nan
        for name in ["quantile", "nanquantile"]:
            both(name, a, [0.2, 0.7], axis=2, weights=np.zeros((5, 6, 1)) + np.arange(1, 8), method="inverted_cdf")


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int8", "int64"])
def test_quantile_types(dtype):
    a = make((3, 4, 5), dtype)
    for keywords in AXES:
        both("quantile", a, 0.3, loose=50, **keywords)
        # NumPy takes differences in the type of `a`, although the result is float64.
        both("quantile", a, [0.3, 0.7], loose={"float32": 1e6, "float16": 1e9}.get(dtype, 1), **keywords)
        both("percentile", a, 40, method="lower", **keywords)
    both("quantile", make((2, 2), "bool"), 0.5, method="lower")


@pytest.mark.parametrize("dtype", ["float64", "float32", "int32", "complex64"])
def test_reductions_without_nan(dtype):
    a = make((4, 5, 6), "float64", nans=not dtype.startswith("int"))
    a = np.nan_to_num(a).astype(dtype) if dtype.startswith("int") else a.astype(dtype)
    for keywords in AXES:
        for name in ["nansum", "nanprod", "nanmean", "nanvar", "nanstd", "nanmax", "nanmin"]:
            if dtype == "complex64" and name in ("nanmax", "nanmin"):
                continue
            both(name, a, loose=100, **keywords)
    if dtype != "complex64":
        for axis in [None, 0, 2]:
            both("nanargmax", a, axis=axis)
            both("nanargmin", a, axis=axis)
    both("nanvar", a, ddof=1, loose=10)


def test_nothing_but_nan():
    a = np.asarray([[NAN, 1.0], [NAN, NAN]])
    for name in ["nansum", "nanprod", "nanmean", "nanvar", "nanstd", "nanmax", "nanmin", "nanmedian"]:
        both(name, a, axis=0)
        both(name, a, axis=1)
    both("nanmean", np.full(3, NAN))
    same_error(lambda m: m.nanargmax(m.full((2, 3), NAN), axis=1))
    same_error(lambda m: m.nanmax(m.ones(0)))


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("axis", [None, 0, 1, (0, 2)])
def test_variance_of_many(dtype, axis):
    """Too many elements for a cache: one pass, with sums in float64. Against NumPy in float64."""
    a = make((8, 300, 500), dtype) + np.asarray(100, dtype)
    a[:, :, 7] = a[0, 0, 0]
    for function in ["var", "std"]:
        for more in [{}, {"ddof": 1}, {"keepdims": True}]:
            want = getattr(np, function)(a.astype("float64"), axis=axis, **more)
            got = getattr(tt, function)(tt.asarray(a), axis=axis, **more)
            assert str(got.dtype) == dtype and tuple(got.shape) == want.shape
            np.testing.assert_allclose(got.numpy(), want, rtol=2 * np.finfo(dtype).eps)
    for odd in [NAN, np.inf]:
        a[3, 20, 40] = odd
        np.testing.assert_array_equal(np.isnan(tt.var(tt.asarray(a), axis=axis).numpy()), np.isnan(a.var(axis=axis)))


def test_variance_of_a_constant_is_zero():
    x = tt.asarray(np.full((3, 1 << 20), 0.1, "float32"))
    assert float(tt.std(x)) == 0 and tt.var(x, axis=1).tolist() == [0, 0, 0]
    with np.errstate(all="ignore"):
        assert np.isnan(float(tt.var(x, ddof=x.size)))


def test_moments_share_a_pass():
    x = tt.ones(1 << 21, dtype="float32")
    tt.eval(x)
    before = tt.ledger()["launches"]
    tt.eval(x.mean(), x.std(), x.max(), (x * x).sum())
    assert tt.ledger()["launches"] - before == 1


@pytest.mark.parametrize("dtype", ["float64", "float32", "int32", "bool"])
def test_average(dtype):
    a, w = make((3, 4), dtype), np.abs(make((3, 4), dtype, 1)) + (dtype != "bool")
    both("average", a)
    both("average", a, axis=1, keepdims=True)
    both("average", a, weights=w, returned=True)
    both("average", a, axis=0, weights=w)
    both("average", a, axis=1, weights=np.arange(1, 5), returned=True)
    both("average", a, axis=(1, 0), weights=np.arange(12).reshape(4, 3))
    both("average", a, axis=-1, returned=True)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int32", "complex128"])
def test_covariance(dtype):
    a = make((3, 7), dtype)
    b = make((2, 7), dtype, 1)
    for x in [a, a[0], a[:1]]:
        both("cov", x)
        both("corrcoef", x)
    both("cov", a, b)
    both("cov", a, rowvar=False)
    both("cov", a, bias=True)
    both("cov", a, ddof=0)
    both("cov", a, fweights=np.arange(1, 8), ddof=2)
    both("cov", a, aweights=np.arange(1.0, 8))
    both("cov", a, fweights=np.arange(1, 8), aweights=np.arange(1.0, 8))
    both("corrcoef", a, b)
    both("corrcoef", a.T, rowvar=False)
    both("cov", a[0], b[0])
    both("cov", a, dtype="float32" if dtype != "complex128" else "complex64")


@pytest.mark.parametrize(
    "call",
    [
        lambda m: m.quantile(m.ones(3), 1.5),
        lambda m: m.quantile(m.ones(3), 0.5, weights=m.ones(3)),
        lambda m: m.quantile(m.ones(3), 0.5, weights=m.ones(2), method="inverted_cdf"),
        lambda m: m.quantile(m.ones((3, 2)), 0.5, axis=0, weights=m.ones(2), method="inverted_cdf"),
        lambda m: m.quantile(m.ones(3), 0.5, weights=-m.ones(3), method="inverted_cdf"),
        lambda m: m.quantile(m.ones(3), 0.5, weights=m.zeros(3), method="inverted_cdf"),
        lambda m: m.percentile(m.ones(3), -1),
        lambda m: m.quantile(m.ones(3), 0.5, method="foo"),
        lambda m: m.quantile(m.ones(0), 0.5),
        lambda m: m.quantile(m.ones(3, dtype="complex64"), 0.5),
        lambda m: m.quantile(m.ones(3, dtype="bool"), 0.5),
        lambda m: m.median(m.ones(3), axis=1),
        lambda m: m.average(m.ones(3), weights=m.zeros(3)),
        lambda m: m.average(m.ones((2, 3)), weights=m.ones(3)),
        lambda m: m.average(m.ones((2, 3)), axis=0, weights=m.ones(3)),
        lambda m: m.cov(m.ones((2, 2, 2))),
        lambda m: m.cov(m.ones((2, 3)), m.ones((2, 4))),
        lambda m: m.cov(m.ones((2, 3)), ddof=1.5),
    ],
)
def test_errors(call):
    same_error(call)


@pytest.mark.parametrize("axis", [0, -1])
def test_numbers_have_an_axis_to_reductions(axis):
    """As NumPy's ufuncs do; a tuple of axes, or another axis, is out of bounds."""
    x = tt.array(3.5)
    for name in ("sum", "prod", "max", "min", "any", "all", "ptp", "argmax", "nansum", "nanmax", "count_nonzero"):
        want = getattr(np, name)(np.array(3.5), axis=axis)
        assert getattr(tt, name)(x, axis=axis) == want
        for bad in (1, (0,)):
            with pytest.raises((np.exceptions.AxisError, TypeError)):
                getattr(tt, name)(x, axis=bad)


def test_ptp_of_complex_numbers():
    z = np.array([[1 + 2j, 3 - 1j, 0], [2j, 1 + 5j, -4]])
    for axis in (None, 0, 1):
        np.testing.assert_array_equal(np.asarray(tt.ptp(tt.array(z), axis=axis)), np.ptp(z, axis=axis))


def test_heaviside_of_complex_numbers():
    with pytest.raises(TypeError, match="heaviside"):
        tt.heaviside(tt.array([1j]), 0.5)
