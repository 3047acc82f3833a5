"""A write into a part of an array costs what is written: bytes that steps read and write, and bytes that are copied
because somebody still wants the old value, do not grow with the array. (Lines are longer than what is done at once.)"""

import numpy as np
import pytest
import tutti as tt

TURNS = 12
WIDTH = 5000
COUNTED = ("bytes_read", "bytes_written", "kept_bytes")


def columns(xp, y, x, j):
    y[j] = 0.5 * x[j] + 0.25 * y[j - 1]


def rows(xp, y, x, j):
    y[j] = 0.5 * x[j] + 0.25 * y[j - 1]


def blocks(xp, y, x, j):
    y[j : j + 40, 100:140] = x[j : j + 40, 50:90] * 2 + y[j : j + 40, 300:340]


def strided(xp, y, x, j):
    part, other = y[:50].ravel(), x[:50].ravel()
    part[j::40] = part[j + 1 :: 40] * 2 + other[j::40]


def backwards(xp, y, x, j):
    y[j, ::-1] = y[j - 1] + x[j, ::-1]


def masked(xp, y, x, j):
    part = y[j : j + 4]
    part[x[j : j + 4] > 1.5] = j


def in_place(xp, y, x, j):
    y[j : j + 4] *= 1.5


def row_sums(xp, y, x, j):
    y[j] = y[j + 1 : j + 5].sum(axis=0)


def overlapping(xp, y, x, j):
    y[j : j + 6] = y[j - 1 : j + 5] * 0.5 + y[j + 1 : j + 7]


def softmax(xp, y, x, j):
    e = xp.maximum(y[j : j + 6] - y[j : j + 6].max(axis=1, keepdims=True), x[j : j + 6])
    y[j : j + 6] = e - e.min(axis=1, keepdims=True)


def fancy(xp, y, x, j):
    index = xp.arange(j, j + 30, 6)
    y[index] = y[index] * 0.5 + x[index]


def swap(xp, y, x, j):
    y[j : j + 4], y[j + 10 : j + 14] = y[j + 10 : j + 14].copy(), y[j : j + 4].copy()


def two_arrays(xp, y, x, j):
    y[1:6] += x[:5]
    x[1:6] += y[:5]


PROGRAMS = [columns, rows, blocks, strided, backwards, masked, in_place, row_sums]
PROGRAMS += [overlapping, softmax, fancy, swap, two_arrays]


def arrays(xp, program, n):
    """Two of n lines, dense, with few elements alike; lines are rows or columns."""
    shape = (WIDTH, n) if program is columns else (n, WIDTH)
    a = (np.arange(n * WIDTH, dtype="float32") % 1009).reshape(shape)
    both = a, a[::-1].copy()
    if program is columns:
        both = both[0].T, both[1].T
    return [xp.array(x, order="K") for x in both]


def bytes_moved(program, n):
    y, x = arrays(tt, program, n)
    want = arrays(np, program, n)
    tt.eval(y, x)
    before = tt.ledger()
    for j in range(2, 2 + TURNS):
        program(tt, y, x, j)
        tt.eval(y, x)
    after = tt.ledger()
    for j in range(2, 2 + TURNS):
        program(np, *want, j)
    assert np.array_equal(y.numpy(), want[0]) and np.array_equal(x.numpy(), want[1])
    return sum(after[k] - before[k] for k in COUNTED)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_bytes_do_not_grow_with_the_array(program):
    small, large = (bytes_moved(program, n) for n in (100, 400))
    assert 0 < large <= small
