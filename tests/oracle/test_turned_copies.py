"""Copies whose axes are in another order: squares are turned in registers, edges element by element."""

import itertools

import numpy as np
import pytest
import tutti as tt

KINDS = ("?", "u1", "i2", "f2", "f4", "i8", "f8", "c8", "c16")
LENGTHS = (1, 2, 3, 15, 16, 17, 31, 33, 63, 64, 65, 127, 129)


def filled(shape, kind, seed):
    bits = np.random.default_rng(seed).integers(0, 2 if kind == "?" else 250, shape)
    return (bits * (1 + 1j) if kind[0] == "c" else bits).astype(kind)


def same(got, want):
    got = np.asarray(got)
    assert got.shape == want.shape and got.dtype == want.dtype
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("kind", KINDS)
def test_transposes_of_all_lengths(kind):
    for n, m in itertools.product(LENGTHS, (1, 4, 16, 33, 64, 65, 300)):
        a = filled((n, m), kind, n * m)
        same(tt.ascontiguousarray(tt.array(a).T), np.ascontiguousarray(a.T))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(6))
def test_permuted_views(kind, seed):
    rng = np.random.default_rng(seed)
    for _ in range(15):
        shape = tuple(int(n) for n in rng.choice(LENGTHS[:11], 3)) + (int(rng.integers(1, 4)),)
        a = filled(shape, kind, seed)
        order = tuple(int(k) for k in rng.permutation(4))
        parts = tuple(slice(None, None, int(rng.choice([1, 1, -1, 2]))) for _ in range(4))
        same(tt.ascontiguousarray(tt.array(a).transpose(order)[parts]), np.ascontiguousarray(a.transpose(order)[parts]))


@pytest.mark.parametrize("kind", KINDS)
def test_into_a_part(kind):
    a, want = filled((70, 45), kind, 1), np.zeros((50, 90), kind)
    x, y = tt.array(a), tt.zeros((50, 90), dtype=kind)
    want[2:47, 3:73] = a.T
    y[2:47, 3:73] = x.T
    same(y, want)
    want[::-1, 5:75][2:47] = a.T
    y[::-1, 5:75][2:47] = x.T
    same(y, want)


def test_onto_itself():
    want = filled((100, 100), "f4", 2)
    x = tt.array(want)
    x[:] = x.T
    want = want.T.copy()
    same(x, want)
    x[10:90, :70] = x[:70, 10:90].T
    want[10:90, :70] = want[:70, 10:90].T.copy()
    same(x, want)


def test_bits_of_nan_are_kept():
    bits = np.random.default_rng(3).integers(0, 1 << 32, (65, 130), dtype=np.uint32) | 0x7F800001
    got = np.asarray(tt.ascontiguousarray(tt.array(bits.view(np.float32)).T)).view(np.uint32)
    np.testing.assert_array_equal(got, bits.T)


@pytest.mark.parametrize("kind", KINDS)
def test_reversed(kind):
    for n in (*LENGTHS, 1000, 5001):
        a = filled((3, n), kind, n)
        x = tt.array(a)
        same(tt.ascontiguousarray(x[0, ::-1]), a[0, ::-1])
        same(tt.ascontiguousarray(x[::-1, ::-1]), a[::-1, ::-1])
        same(tt.ascontiguousarray(tt.flip(x, 1)), a[:, ::-1])
        want, y = np.zeros((n + 2,), kind), tt.zeros(n + 2, dtype=kind)
        want[1:-1][::-1] = a[1]
        y[1:-1][::-1] = x[1]
        same(y, want)
        x[0] = x[0, ::-1]
        a[0] = a[0, ::-1].copy()
        same(x, a)


@pytest.mark.parametrize("kind", KINDS)
def test_quarter_turns(kind):
    for shape in ((17, 64), (65, 33), (130, 4), (64, 64)):
        a = filled(shape, kind, 5)
        for k in range(4):
            same(tt.ascontiguousarray(tt.rot90(tt.array(a), k)), np.ascontiguousarray(np.rot90(a, k)))
        same(tt.ascontiguousarray(tt.array(a)[::-1, ::-1].T), np.ascontiguousarray(a[::-1, ::-1].T))
