"""argmax and argmin of rows of every length and type, with equals, NaN and infinities, few rows and many."""

import numpy as np
import pytest
import tutti as tt

LENGTHS = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 50, 63, 64, 65, 100, 127, 128, 129, 200, 1000]
TYPES = ["int8", "uint8", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64", "bool"]


def values(rng, shape, dtype):
    x = rng.integers(-9, 10, shape).astype(dtype)
    if x.dtype.kind == "f":
        odd = rng.random(shape)
        x[odd < 0.02] = np.nan
        x[(odd > 0.02) & (odd < 0.04)] = np.inf
        x[(odd > 0.04) & (odd < 0.06)] = -np.inf
        x[(odd > 0.06) & (odd < 0.1)] = -0.0
        x[rng.random(shape[0]) < 0.1] = -np.inf
        x[rng.random(shape[0]) < 0.1] = np.nan
    elif x.dtype.kind in "iu":
        some = rng.random(shape)
        x[some < 0.01] = np.iinfo(dtype).min
        x[some > 0.99] = np.iinfo(dtype).max
    return x


def check(x, **how):
    given = tt.asarray(x)
    for name in ("argmax", "argmin"):
        np.testing.assert_array_equal(
            np.asarray(getattr(tt, name)(given, **how)), getattr(np, name)(x, **how), f"{name} {x.shape} {x.dtype}"
        )


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("rows", [3, 500])
def test_rows(dtype, rows):
    rng = np.random.default_rng(3)
    for n in LENGTHS:
        check(values(rng, (rows, n), dtype), axis=1)


@pytest.mark.parametrize("dtype", ["int32", "uint64", "float32", "float64"])
def test_views(dtype):
    rng = np.random.default_rng(4)
    x = values(rng, (40, 30, 60), dtype)
    given = tt.asarray(x)
    every, back = slice(None), slice(None, None, -1)
    for view in ((every, slice(None, None, -2)), (slice(1, -1), slice(3), slice(4, 57)), (..., back)):
        for name in ("argmax", "argmin"):
            got, want = getattr(tt, name)(given[view], axis=-1), getattr(np, name)(x[view], axis=-1)
            np.testing.assert_array_equal(np.asarray(got), want)
    check(x.reshape(40, 1800), axis=1)
    check(x.reshape(-1))
    out, like = tt.zeros((30, 40), "int64"), np.zeros((30, 40), "int64")
    tt.argmax(given, axis=2, out=out.T)
    np.argmax(x, axis=2, out=like.T)
    np.testing.assert_array_equal(np.asarray(out), like)
