"""Slices that begin anywhere, on the device: maps by vectors, sweeps in place, whose bits are NumPy's."""

import numpy as np
import pytest
import tutti as tt

if not tt.cuda.is_available():
    pytest.skip(f"no GPU: {tt.cuda.why()}", allow_module_level=True)

TYPES = "float32", "float64", "int32", "int8", "uint64"


def both(shape, dtype):
    a = (np.random.default_rng(3).random(shape) * 100).astype(dtype)
    return a, tt.array(a, device="cuda:0")


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("n", [(1 << 20) - 1, 1 << 20, (1 << 20) + 1])
def test_rows(dtype, n):
    a, x = both(n + 20, dtype)
    for first, second in ((0, 1), (1, 0), (3, 5), (7, 2), (0, 17), (4, 8)):
        for length in (n, n + 3):
            want = a[first : first + length] * a[second : second + length] + a[2 : 2 + length]
            got = x[first : first + length] * x[second : second + length] + x[2 : 2 + length]
            assert np.array_equal(got.numpy(), want), (first, second, length)
    assert np.array_equal((x[n:3:-1] - x[n + 5 : 8 : -1]).numpy(), a[n:3:-1] - a[n + 5 : 8 : -1])
    assert np.array_equal((x[5:n] + x[n:5:-1]).numpy(), a[5:n] + a[n:5:-1])


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("columns", [1023, 1024, 1025, 1028])
def test_planes_in_place(dtype, columns):
    a, x = both((1100, columns), dtype)
    for v in a, x:
        for _ in range(3):
            v[1:-1, 1:-1] = v[1:-1, 1:-1] - v[1:-1, :-2] + v[1:-1, 2:] + v[:-2, 1:-1] - v[2:, 1:-1]
            v[2:-5, 3:] += v[2:-5, :-3]
            v[:, 5:-4] = v[::-1, 4:-5]
        v[1:, 1:] = v[:-1, :-1]
    assert np.array_equal(x.numpy(), a)


def test_volumes():
    a, x = both((40, 130, 260), "float32")
    for v in a, x:
        for _ in range(4):
            v[1:-1, 1:-1, 1:-1] = (
                v[1:-1, 1:-1, 2:] + v[1:-1, 1:-1, :-2] + v[1:-1, 2:, 1:-1] + v[1:-1, :-2, 1:-1] + v[2:, 1:-1, 1:-1]
            ) * np.float32(0.2) - v[:-2, 1:-1, 1:-1]
    assert np.array_equal(x.numpy(), a)


def test_a_border_that_changes():
    a, x = both((700, 1500), "float32")
    for v in a, x:
        for k in range(40):
            v[1:-1, 1:-1] = np.float32(0.25) * (v[1:-1, :-2] + v[1:-1, 2:] + v[:-2, 1:-1] + v[2:, 1:-1])
            if k % 7 == 3:
                v[0, :] = k
                v[:, -1] += 1
            if k % 5 == 0 and v is x:
                tt.eval(v)
    assert np.array_equal(x.numpy(), a)
