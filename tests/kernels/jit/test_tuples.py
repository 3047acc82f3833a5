"""Loops over tuples, side by side and counted, and items that an index says."""

import numpy as np
import pytest
from tutti.compat.numba import cuda, njit


def loops(x):
    t = (1.5, 2.5, 3.5)
    for i, v in enumerate(t):
        x[i] = v * i
    for i, v in enumerate(t, 2):
        x[i] += v
    for a, b in zip(t, (10, 20)):
        x[5] += a * b
    for i, (a, b) in enumerate(zip((1, 2), (3, 4))):
        x[6] += i * (a + b)
    for v in t:
        x[7] += v


def picks(x, t):
    for k in range(-len(t), len(t)):
        x[k + len(t)] = t[k]


@pytest.mark.parametrize("make", [lambda f: njit(f), lambda f: cuda.jit(f)[1, 1]])
def test_loops_and_items(make):
    for fn, args in ((loops, ()), (picks, ((1.5, 2.5, 3.5, 4.5),)), (picks, ((7, 8, 9),))):
        got, want = np.zeros(8), np.zeros(8)
        make(fn)(got, *args)
        fn(want, *args)
        np.testing.assert_array_equal(got, want)


def test_arrays_beside_each_other_and_counted():
    @njit
    def both(a, b):
        s = 0.0
        for i, (p, q) in enumerate(zip(a, b), 1):
            s += i * p * q
        return s

    assert both(np.arange(4.0), np.arange(5.0)) == sum((k + 1) * k * k for k in range(4))


def test_items_that_are_not_there_or_not_alike():
    @njit
    def item(t, k):
        return t[k]

    assert item((1, 2, 3), 2) == 3 and item((1, 2, 3), -3) == 1
    for k in (3, -4):
        with pytest.raises(IndexError, match="tuple index out of range"):
            item((1, 2, 3), k)
    with pytest.raises(NotImplementedError, match="that is not a constant"):
        item((1, 2.5), 1)
    with pytest.raises(NotImplementedError, match="that is not a constant"):
        item((1, 2), 1.0)

    @njit
    def mixed(x):
        for v, w in zip((1.0, 2.0), x):
            x[0] += v * w

    with pytest.raises(NotImplementedError, match="a loop over"):
        mixed(np.ones(2))


def test_parts_of_complex_numbers_are_not_written_to():
    """They are views in NumPy; here they are computed, and what is written there would be lost."""

    @cuda.jit
    def added(z):
        cuda.atomic.add(z.real, 0, 1)

    @njit
    def put(z):
        z.imag[0] = 2.0

    z = np.zeros(2, complex)
    with pytest.raises(NotImplementedError, match="atomics on what is computed, or on .real or .imag"):
        added[1, 1](z)
    with pytest.raises(NotImplementedError, match="an assignment into what is computed, or .real"):
        put(z)

    @njit
    def views(x):
        x.T[1, 0] = 1.0
        x[1:][0, 0] = 2.0
        x.ravel()[3] = 3.0
        x.reshape(4)[0] += 4.0

    x = np.zeros((2, 2))
    views(x)
    assert x.tolist() == [[4, 1], [2, 3]]
