"""Compiled functions take functions, types and shapes: they are translated for each, as Numba's specialise."""

import math

import numpy as np
import pytest
from tutti.compat.numba import cuda, float32, int32, njit


@cuda.jit(device=True)
def same(x):
    return x


@cuda.jit(device=True)
def less(x, by=1):
    return x - by


@cuda.jit(device=True)
def gather(out, change, combine, kind, shape):
    block = cuda.shared.array(shape, kind)
    k = cuda.threadIdx.x
    block[k] = 0
    cuda.syncthreads()
    combine(block, k % 4, change(k))
    cuda.syncthreads()
    out[k] = block[k]


def test_device_functions_take_functions_types_and_shapes():
    @cuda.jit
    def sums(out):
        gather(out, same, cuda.atomic.add, int32, 32)

    @cuda.jit
    def lows(out):
        gather(out, less, cuda.atomic.min, float32, (32,))

    out = np.zeros(32)
    sums[1, 32](out)
    assert out[:5].tolist() == [112, 120, 128, 136, 0]
    lows[1, 32](out)
    assert out[:5].tolist() == [-1, 0, 0, 0, 0]


@njit
def total(f, x):
    t = 0.0
    for v in x:
        t += f(v)
    return t


@njit
def deeper(f, x):
    return total(f, x) + total(math.sqrt, x)


def test_functions_take_functions_of_the_library_too():
    @njit
    def both(x):
        return deeper(math.sin, x), deeper(np.cos, x), total(np.float32, x)

    x = np.arange(4.0)
    root = np.sqrt(x).sum()
    np.testing.assert_allclose(both(x), [np.sin(x).sum() + root, np.cos(x).sum() + root, 6], rtol=1e-12)


def test_a_name_that_gets_another_value_is_no_constant():
    @njit
    def grow(n, x):
        a = np.zeros(4)
        made = np.array([1.0, 2.0])
        n = n + 1
        return a[n] + made.sum() + x

    @njit
    def call():
        return grow(2, 1.0)

    assert call() == 4


def test_what_is_not_known_before_says_so():
    @njit
    def call(f, x):
        return f(x)

    assert call(math.sin, 1.0) == math.sin(1.0)
    with pytest.raises(TypeError, match="takes numbers, tuples and arrays"):
        call(object(), 1.0)


@cuda.jit(device=True)
def either(x, whole, missing):
    if not whole:
        return x * 0.5
    if missing is None:
        at = (x, 1)
    else:
        at = missing[0]
    return at[0]


def test_what_is_not_taken_needs_no_types():
    """Branches by True, False and None that are written in a call are decided while translating."""

    @cuda.jit
    def kernel(out, x):
        i = cuda.grid(1)
        out[i, 0] = either(x[i], True, None)
        out[i, 1] = either(x[i], False, None)
        out[i, 2] = either(x[i], whole=True, missing=((x[i] + 1, 0.5), 1))

    out, x = np.zeros((4, 3)), np.arange(4)
    kernel[1, 4](out, x)
    np.testing.assert_array_equal(out.T, [x, x / 2, x + 1])
