"""Reductions of broadcast arrays: neither their time nor their memory grows with repetitions."""

import resource

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


NAMES = ["sum", "max", "min", "any", "all", "argmax", "argmin", "mean", "prod"]


@pytest.mark.parametrize("seed", range(120))
def test_repeated_as_numpy(seed):
    """Random axes that repeat, of random expressions."""
    r = np.random.default_rng(seed)
    rank = int(r.integers(1, 4))
    shape = [int(r.choice([1, 2, 7, 64, 4096, 5000])) for _ in range(rank)]
    while np.prod(shape) > 1 << 18:
        shape[int(np.argmax(shape))] //= 8
    small = [n if r.random() < 0.4 else 1 for n in shape]
    dtype = r.choice(["i1", "u2", "i4", "i8", "f4", "f8", "?"])
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
    axes = [None, *range(rank)]
    axis = axes[int(r.integers(len(axes)))]
    if name not in ("argmax", "argmin") and axis is not None and r.random() < 0.3:
        axis = tuple(int(k) for k in r.permutation(rank)[: int(r.integers(1, rank + 1))])
    keep = bool(r.random() < 0.3)
    with np.errstate(all="ignore"):
        want = getattr(np, name)(a, axis=axis, keepdims=keep)
    got = np.asarray(getattr(tt, name)(b, axis=axis, keepdims=keep))
    assert got.shape == want.shape and got.dtype == want.dtype
    if want.dtype.kind == "f":
        np.testing.assert_allclose(got, want, rtol=1e-5)
    else:
        np.testing.assert_array_equal(got, want)
