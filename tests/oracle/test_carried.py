"""Loops that are recorded for long and carry several values: each is computed once, whoever else needs it."""

import numpy as np
import tutti as tt


def turns(m, x, y, count):
    a, b, n = x * 0, y * 0, x * 0
    for _ in range(count):
        a, b = m.clip(a * a - b * b + x, -4, 4), m.clip(2 * a * b + y, -4, 4)
        n = n + (a * a + b * b < 4)
    return a, b, n


def test_what_a_loop_carries_is_computed_with_it(recorded):
    x, y = np.random.default_rng(3).random((2, 5000))
    ours = [tt.array(x), tt.array(y)]
    tt.eval(*ours)
    before = tt.ledger()
    got = turns(tt, *ours, 60)
    tt.eval(*got)
    after = tt.ledger()
    for g, w in zip(got, turns(np, x, y, 60)):
        np.testing.assert_array_equal(np.asarray(g), w)
    flushes = after["flushes"] - before["flushes"]
    kernels = after["launches"] - before["launches"]
    assert 1 <= flushes <= 10 and kernels <= 3 * (flushes + 1)
