"""Reductions of broadcast arrays: neither their time nor their memory grows with repetitions."""

import os
import resource
import time

import numpy as np
import pytest
import tutti as tt

HUGE = 1 << 40
ALL = [tt.sum, tt.mean, tt.max, tt.min, tt.any, tt.all, tt.count_nonzero, tt.argmax, tt.argmin, tt.ptp, tt.nansum]
ALL += [tt.nanmax, tt.average, lambda a: (a * 2 > 1).sum(), lambda a: tt.sqrt(abs(a)).max()]


@pytest.mark.parametrize("function", ALL)
@pytest.mark.parametrize("value", [3.0, 3, True, np.float32(-0.5), np.nan, np.inf, np.int8(-1)])
def test_huge(function, value):
    x = np.asarray(value)
    if x.dtype == bool and function in ALL[9:10] + ALL[-1:]:
        pytest.skip("no differences or roots of truth values")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    got = function(tt.broadcast_to(tt.array(x.reshape(1)), (HUGE,)))
    one = getattr(function, "__name__", "")
    want = np.asarray(value).astype("f8" if x.dtype.kind == "f" else "i8")
    if one in ("sum", "nansum"):
        want = np.nan_to_num(want, posinf=np.inf) * HUGE if one == "nansum" else want * HUGE
        assert np.array_equal(np.asarray(got, dtype="f8"), np.asarray(want, dtype="f8"), equal_nan=True)
    elif one in ("max", "min", "mean", "average", "nanmax"):
        assert np.array_equal(np.asarray(got, dtype="f8"), np.asarray(want, dtype="f8"), equal_nan=True)
    elif one in ("argmax", "argmin"):
        assert int(got) == 0
    elif one == "count_nonzero":
        assert int(got) == HUGE
    else:
        got.tolist() if hasattr(got, "tolist") else got
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000


ROW = [2.0, 5.0, 1.0]


def repeated(values, dtype=None):
    """Rows of 2^40 times the same."""
    x = tt.array(values, dtype=dtype) if dtype else tt.array(values)
    return tt.broadcast_to(x.reshape(-1, 1), (x.size, HUGE))


MIXED = {
    "var": (lambda a: tt.var(a), np.var(ROW)),
    "std": (lambda a: tt.std(a, axis=1), [0, 0, 0]),
    "std with correction": (lambda a: tt.std(a, ddof=1), np.std(ROW)),
    "median": (lambda a: tt.median(a), 2),
    "median of rows": (lambda a: tt.median(a, axis=1), ROW),
    "median of an even number": (lambda a: tt.median(a[:2]), 3.5),
    "nanmedian": (lambda a: tt.nanmedian(tt.where(a == 5, tt.nan, a)), 1.5),
    "percentile": (lambda a: tt.percentile(a, [0, 20, 50, 90, 100]), [1, 1, 2, 5, 5]),
    "between": (lambda a: tt.quantile(a[:2], 0.5), 3.5),
    "lower": (lambda a: tt.quantile(a[:2], 0.5, method="lower"), 2),
    "nanquantile": (lambda a: tt.nanquantile(tt.where(a == 1, tt.nan, a), [0.2, 0.9]), [2, 5]),
    "ptp": (lambda a: tt.ptp(a), 4),
    "argmax": (lambda a: tt.argmax(a), HUGE),
    "argmin": (lambda a: tt.argmin(a), 2 * HUGE),
    "argmax of columns": (lambda a: tt.argmax(a.T), 1),
    "argmax in the middle": (lambda a: tt.argmax(tt.broadcast_to(a[:, None, :4096], (3, 1 << 25, 4096))), 1 << 37),
    "argmin of rows": (lambda a: tt.argmin(a, axis=1), [0, 0, 0]),
    "nanargmax": (lambda a: tt.nanargmax(a), HUGE),
    "any": (lambda a: tt.any(a > 5), False),
    "all": (lambda a: tt.all(a > 1, axis=1), [True, True, False]),
    "min": (lambda a: tt.min(a), 1),
    "prod": (lambda a: tt.prod(a / a), 1),
    "sum of complex": (lambda a: tt.sum(a + 1j, axis=1), [HUGE * (x + 1j) for x in ROW]),
    "mean of complex": (lambda a: tt.mean(a + 1j), 8 / 3 + 1j),
    "max of complex": (lambda a: tt.max(a * 1j), 5j),
    "argmax of complex": (lambda a: tt.argmax(a * 1j), HUGE),
    "count": (lambda a: tt.count_nonzero(a == 5), HUGE),
    "average": (lambda a: tt.average(a, axis=1), ROW),
}


@pytest.mark.parametrize("name", MIXED)
def test_huge_rows(name):
    function, want = MIXED[name]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    np.testing.assert_allclose(np.asarray(function(repeated(ROW))), want, rtol=1e-12)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000


@pytest.mark.parametrize("share", [2, 3])
@pytest.mark.parametrize("name", ["count", "sum", "argmax", "var"])
def test_what_would_take_much_of_the_memory_is_not_computed_on_the_way(name, share):
    rows = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // share // (4096 * 8)
    x = tt.broadcast_to(tt.arange(16.0)[None, :, None], (rows, 16, 256))
    function = {
        "count": tt.count_nonzero,
        "sum": lambda a: (a.astype("i8") * 2).sum(),
        "argmax": lambda a: tt.argmax(a * 2),
        "var": lambda a: tt.var(a, axis=(0, 2)).sum(),
    }[name]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert int(function(x)) == {"count": x.size // 16 * 15, "sum": x.size * 15, "argmax": 15 * 256, "var": 0}[name]
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000


def test_huge_products():
    def product(value, dtype, n=HUGE):
        return tt.prod(tt.broadcast_to(tt.array([value], dtype=dtype), (n,)), dtype=dtype).tolist()

    assert product(3, "int64") == pow(3, HUGE, 1 << 64) - (1 << 64)
    assert product(3, "uint64", HUGE + 1) == pow(3, HUGE + 1, 1 << 64)
    assert product(-3, "int8", 4097) == (pow(-3, 4097, 256) + 128) % 256 - 128
    assert [product(-1, t, n) for t in ("float16", "float32", "float64") for n in (HUGE, HUGE + 1)] == [1, -1] * 3
    assert product(0.5, "float64") == 0 and product(2, "float32") == np.inf and product(1, "float32") == 1
    assert product(1j, "complex128") == 1 and product(1j, "complex64", HUGE + 3) == -1j
    assert np.isclose(product(1 + 1e-9, "float64", 1 << 30), np.exp((1 << 30) * np.log1p(1e-9)))


def test_huge_sums_of_complex_infinities():
    x = tt.broadcast_to(tt.array([complex(np.inf, 3), complex(1, np.nan)])[:, None], (2, HUGE))
    total = np.asarray(tt.sum(x, axis=1))
    assert total[0] == complex(np.inf, 3 * HUGE) and total[1].real == HUGE and np.isnan(total[1].imag)


def test_places_of_nothing():
    none = repeated(ROW) > 9
    assert [x.tolist() for x in tt.nonzero(none)] == [[], []] and [x.dtype for x in tt.nonzero(none)] == ["int64"] * 2
    assert tt.flatnonzero(none).size == 0 and tt.argwhere(none).shape == (0, 2) and len(tt.where(none)) == 2


TOO_MUCH = [tt.nonzero, tt.argwhere, tt.cumsum, tt.cumprod, tt.sort, tt.argsort, tt.unique, lambda a: a.copy()]
TOO_MUCH += [lambda a: a[a > 1], lambda a: a.tolist(), tt.bincount, lambda a: tt.concatenate([a, a])]


@pytest.mark.parametrize("function", TOO_MUCH)
def test_what_needs_the_memory_says_so(function):
    start = time.process_time()
    with pytest.raises(MemoryError):
        tt.eval(function(tt.broadcast_to(tt.array([3]), (HUGE,))))
    assert time.process_time() - start < 2


NAMES = ["sum", "max", "min", "any", "all", "argmax", "argmin", "mean", "prod", "median", "var", "ptp"]


@pytest.mark.parametrize("seed", range(120))
def test_repeated_as_numpy(seed):
    """Random axes that repeat, of random expressions."""
    r = np.random.default_rng(seed)
    rank = int(r.integers(1, 4))
    shape = [int(r.choice([1, 2, 7, 64, 4096, 5000])) for _ in range(rank)]
    while np.prod(shape) > 1 << 18:
        shape[int(np.argmax(shape))] //= 8
    small = [n if r.random() < 0.4 else 1 for n in shape]
    dtype = r.choice(["i1", "u2", "i4", "i8", "f4", "f8", "c16", "?"])
    x = r.integers(-3, 4, small).astype(dtype)
    a, b = np.broadcast_to(x, shape), tt.broadcast_to(tt.array(x), tuple(shape))
    kind = int(r.integers(4))
    if kind == 1:
        a, b = a > 0, b > 0
    elif kind == 2:
        a, b = np.where(a != 0, a, 1), tt.where(b != 0, b, 1)
    elif kind == 3:
        a, b = a[..., ::-1], b[..., ::-1]
    name = r.choice(NAMES)
    if name in ("median", "ptp") and a.dtype.kind in "cb":
        name = "sum"
    axes = [None, *range(rank)]
    axis = axes[int(r.integers(len(axes)))]
    if name not in ("argmax", "argmin") and axis is not None and r.random() < 0.3:
        axis = tuple(int(k) for k in r.permutation(rank)[: int(r.integers(1, rank + 1))])
    keep = bool(r.random() < 0.3)
    with np.errstate(all="ignore"):
        want = getattr(np, name)(a, axis=axis, keepdims=keep)
    got = np.asarray(getattr(tt, name)(b, axis=axis, keepdims=keep))
    assert got.shape == want.shape and got.dtype == want.dtype
    if want.dtype.kind in "fc":
        np.testing.assert_allclose(got, want, rtol=1e-5)
    else:
        np.testing.assert_array_equal(got, want)
