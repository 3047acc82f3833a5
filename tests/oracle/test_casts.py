"""Conversions between every pair of types, with the values on which they differ."""

import warnings

import numpy as np
import pytest
import tutti as tt

TYPES = [
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "float32", "float64", "complex64", "complex128",
]  # fmt: skip


def values(dtype):
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return np.array([False, True, True])
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        x = [info.min, info.max, 0, 1, 2, 100, info.max // 2, info.max // 3]
        return np.array(
            x + [v for v in (-1, -2, 2**24 + 1, 2**53 + 1, 65519, 65520) if info.min <= v <= info.max], dtype
        )
    x = [0.0, -0.0, 0.5, 1.5, 2.5, -1.5, 3.99, -3.99, 100.25, 127.9, 128.0, 255.0, 1e-7, 6e-8, 1e-45, 65504.0]
    if dtype.itemsize > 2:
        x += [
            65519.99,
            65520.0,
            3e9,
            1e10,
            -1e10,
            1e19,
            1.0 + 2**-11 + 2**-30,
            1.0 + 2**-11 - 2**-30,
            2**-25 * (1 + 2**-20),
        ]
    x += [np.nan, np.inf, -np.inf]
    with np.errstate(all="ignore"):
        a = np.array(x, dtype)
        return a + 1j * a[::-1] if dtype.kind == "c" else a


@pytest.mark.parametrize("to", TYPES)
@pytest.mark.parametrize("start", TYPES)
def test_cast(start, to):
    a = values(start)
    if np.dtype(to).kind in "iu":  # what NumPy gives for NaN and out of range depends on its build
        limits = np.iinfo(to)
        real = a.real
        with np.errstate(all="ignore"):
            inside = (
                np.isfinite(real) & (real.astype(float) >= float(limits.min)) & (real.astype(float) < float(limits.max))
            )
        a = a[inside]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        want = a.astype(to)
    got = np.asarray(tt.asarray(a).astype(to))
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(got, want)
    if want.dtype.kind == "f":
        np.testing.assert_array_equal(np.signbit(got), np.signbit(want))
