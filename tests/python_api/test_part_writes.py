"""A write into a part of an array costs what is written: bytes that steps read and write, and bytes that are copied
because somebody still wants the old value, do not grow with the array. (Lines are longer than what is done at once.)"""

import numpy as np
import pytest
import tutti as tt

TURNS = 60
WIDTH = 20000
COUNTED = ("bytes_read", "bytes_written", "kept_bytes")


def columns(xp, y, x, j):
    y[j] = 0.5 * x[j] + 0.25 * y[j - 1]


def rows(xp, y, x, j):
    y[j] = 0.5 * x[j] + 0.25 * y[j - 1]


def blocks(xp, y, x, j):
    y[j : j + 40, 1000:1500] = x[j : j + 40, 500:1000] * 2 + y[j : j + 40, 3000:3500]


def strided(xp, y, x, j):
    part, other = y[:50].ravel(), x[:50].ravel()
    part[j:800000:40] = part[j + 1 : 800001 : 40] * 2 + other[j:800000:40]


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


def same_part(xp, y, x, j):
    y[3:9] = y[4:10] + x[j : j + 6]


def read_before(xp, y, x, j):
    total = y[j : j + 6].sum(axis=0)
    y[j + 1 : j + 7] += 1
    return total


def used_and_kept(xp, y, x, j):
    part = y[j : j + 6] * 2
    y[j + 2 : j + 8] = part
    return part


def copied_before(xp, y, x, j):
    part = y[j].copy()
    y[j : j + 3] = x[j]
    return part


PROGRAMS = [columns, rows, blocks, strided, backwards, masked, in_place, row_sums]
PROGRAMS += [overlapping, softmax, fancy, swap, two_arrays, same_part, read_before, used_and_kept, copied_before]


def arrays(xp, program, n):
    """Two of n lines, dense, with few elements alike; lines are rows or columns."""
    shape = (WIDTH, n) if program is columns else (n, WIDTH)
    a = (np.arange(n * WIDTH, dtype="float32") % 1009).reshape(shape)
    both = a, a[::-1].copy()
    if program is columns:
        both = both[0].T, both[1].T
    return [xp.array(x, order="K") for x in both]


def run(xp, program, y, x, at_once):
    """What the turns hand out stays pending as long as nobody looks."""
    kept = []
    for j in range(2, 2 + TURNS):
        kept.append(program(xp, y, x, j))
        if at_once:
            tt.eval(y, x)
    return [value for value in kept if value is not None]


def bytes_moved(program, n, at_once):
    y, x = arrays(tt, program, n)
    want = arrays(np, program, n)
    tt.eval(y, x)
    before = tt.ledger()
    kept = run(tt, program, y, x, at_once)
    tt.eval(y)
    tt.eval(x, *kept)
    after = tt.ledger()
    kept_want = run(np, program, *want, False)
    for got, value in zip([y, x, *kept], [*want, *kept_want], strict=True):
        assert np.array_equal(got.numpy(), value)
    return sum(after[k] - before[k] for k in COUNTED)


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_bytes_do_not_grow_with_the_array(program, at_once):
    small, large = (bytes_moved(program, n, at_once) for n in (120, 480))
    assert 0 < large <= small


@pytest.mark.parametrize("shape", [(5,), (8,), (71,), (40_001,), (3, 17), (60, 411), (2, 3, 5)])
@pytest.mark.parametrize("part", [0, 0.02, 0.5, 0.98, 1])
def test_masks_of_any_density(shape, part):
    rng = np.random.default_rng(0)
    a, mask = rng.random(shape), rng.random(shape) < part
    x, m = tt.array(a), tt.array(mask)
    np.testing.assert_array_equal(x[m].numpy(), a[mask])
    np.testing.assert_array_equal(x.T[m.T].numpy(), a.T[mask.T])
    x[m] = x[m] * 2 + 1
    a[mask] = a[mask] * 2 + 1
    np.testing.assert_array_equal(x.numpy(), a)


def test_steps_with_neighbours_stay_linear(recorded):
    """A step reads its array at several places and its neighbours from memory: what is read grows with the steps."""

    def read(steps):
        u = tt.array(np.random.default_rng(0).random(20_000))
        tt.eval(u)
        before = tt.ledger()["bytes_read"]
        for _ in range(steps):
            u = u - 0.3 * (u - tt.roll(u, 1))
        tt.eval(u)
        return tt.ledger()["bytes_read"] - before

    assert read(30) < 3.5 * read(10)
