"""Elements some steps apart, forwards and back, alone and side by side: NumPy's values, the same bits in both tiers."""

import numpy as np
import pytest
import tutti as tt

LENGTHS = (1, 7, 64, 301)


def in_both_tiers(work, *arrays):
    out = []
    for tier in (0, 1):
        tt.set_tier(tier)
        out.append(np.asarray(work(tt, *[tt.array(a) for a in arrays])))
    tt.set_tier(2)
    assert out[0].tobytes() == out[1].tobytes()
    return out[1]


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
