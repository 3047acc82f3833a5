"""Elements some steps apart, forwards and back, alone and side by side: NumPy's values, the same bits in both tiers."""

import functools

import numpy as np
import pytest
import tiers
import tutti as tt

LENGTHS = (1, 7, 64, 301)


def in_both_tiers(work, *arrays):
    return tiers.same_in_both_tiers(functools.partial(work, tt), *arrays)


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int16", "float16", "float32", "float64", "complex64"])
@pytest.mark.parametrize("step", [-1, 2, 3, 4, -2, 5])
def test_copies(recorded, dtype, step):
    for n in LENGTHS:
        x = np.random.default_rng(n).integers(0, 100, (3, n)).astype(dtype)
        for work in (lambda m, x: m.ascontiguousarray(x[:, ::step]), lambda m, x: x[::-1, ::step] + x[:, ::step]):
            np.testing.assert_array_equal(in_both_tiers(work, x), work(np, x))


@pytest.mark.parametrize("side", [2, 3, 4])
def test_side_by_side(recorded, side):
    """Channels that are read together, and results that are written into them."""

    def work(m, x):
        y = m.zeros(x.shape, x.dtype)
        for k in range(side):
            y[:, k] = x[:, k] * x[:, side - 1 - k] + x[:, 0]
        return y

    for n in LENGTHS:
        x = np.random.default_rng(n).random((n, side)).astype(np.float32)
        np.testing.assert_array_equal(in_both_tiers(work, x), work(np, x))


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_products(recorded, dtype):
    """No sum is fused with a product: halves that cancel would tell."""

    def work(m, x, y):
        return x * y - y * m.conj(x) + x / y

    for n in LENGTHS:
        rng = np.random.default_rng(n)
        x, y = ((rng.random(n) + 1j * rng.random(n) + 1).astype(dtype) for _ in range(2))
        got = in_both_tiers(work, x, y)
        np.testing.assert_allclose(got, work(np, x, y), rtol=1e-5 if dtype == "complex64" else 1e-13)
        got = in_both_tiers(lambda m, x, y: x * y, x, y)
        assert np.array_equal(got.real, x.real * y.real - x.imag * y.imag)
        assert np.array_equal(got.imag, x.real * y.imag + x.imag * y.real)


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "float16", "float32", "float64", "complex64"])
@pytest.mark.parametrize("last", [2, 3, 4, 5, 8, 9])
def test_short_last_axis(recorded, dtype, last):
    """Operands that move along a short last axis, along the one before, along both and along none."""
    rng = np.random.default_rng(last)
    shapes = ((130, last), (last,), (130, 1), (1, 1), (3, 130, last))
    x, v, w, one, z = ((rng.random(s) * 4).astype(dtype) for s in shapes)
    for work in (
        lambda m, x, v, w, one, z: x * v + w,
        lambda m, x, v, w, one, z: m.where(x[:, ::-1] > w, v, one) + z,
        lambda m, x, v, w, one, z: m.broadcast_to(w, x.shape) * (one + one) + m.arange(last).astype(x.dtype),
    ):
        got, want = in_both_tiers(work, x, v, w, one, z), work(np, x, v, w, one, z)
        np.testing.assert_allclose(got, want, rtol=1e-6 if got.dtype.kind in "fc" else 0)


def test_short_last_axis_in_place(recorded):
    for last in (2, 3, 4, 8):
        x = np.random.default_rng(last).random((200, last)).astype(np.float32)
        for tier in (0, 1):
            tt.set_tier(tier)
            y = tt.array(x)
            tt.eval(y)
            y += y[:, :1]
            y[:, 1:] = y[:, :-1]
            z = x.copy()
            z += x[:, :1]
            z[:, 1:] = z[:, :-1].copy()
            np.testing.assert_array_equal(np.asarray(y), z)
    tt.set_tier(2)
