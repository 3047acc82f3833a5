"""Small graphs that are new are done step by step, without a plan; later with one. The bits are the same."""

import numpy as np
import pytest
import tutti as tt

N = 3000


def chain(x, y):
    return tt.exp(-x * x) * 0.5 + y * x - x / (2 + abs(y))


def stencil(x, y):
    z = x.copy()
    z[1:-1] += 0.25 * (x[2:] - 2 * y[1:-1] + x[:-2])
    z[::7] = -z[::7] * y[0]
    return z * 2 - y


def over_itself(x, y):
    z = x * 1.5 + y + 1
    z[100:2000] = z[50:1950] * 0.5 + z[150:2050]
    return z


def choices(x, y):
    return tt.where(x > y, x - y, (x + y) * tt.where(y > 0, 1.0, -2.0)) + (x < 0)


def total(x, y):
    return (x * y + 3.5 - y).sum()


def rows(x, y):
    a = (x * y + 2.5).reshape(60, 50)
    return (a - a.mean(axis=1, keepdims=True)) * a.T.sum(axis=0)[:, None]


def whole(x, y):
    k = (x * 100).astype(int)
    return (k % 7 * (k > 3)).reshape(60, 50).T.sum(axis=0) + k.max()


@pytest.mark.parametrize("program", [chain, stencil, over_itself, choices, total, rows, whole])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_bits_do_not_depend_on_a_plan(program, dtype):
    rng = np.random.default_rng(0)
    x, y = (tt.array(rng.standard_normal(N).astype(dtype)) for _ in range(2))
    at_first = [program(x, y).numpy().tobytes() for _ in range(3)]
    later = [program(x, y).numpy().tobytes() for _ in range(30)]
    tt.set_eager(0)
    try:
        recorded = program(x, y).numpy().tobytes()
    finally:
        tt.set_eager(-1)
    assert set(at_first + later) == {recorded}


def test_a_plan_is_made_where_work_comes_again():
    x = tt.array(np.arange(float(N)))

    def misses(times):
        before = tt.ledger()["plan_misses"]
        for _ in range(times):
            tt.eval(((x * 3 + 1.25) * x - 7) * x + 0.125)
        return tt.ledger()["plan_misses"] - before

    assert misses(1) == 0
    assert misses(40) == 1
    assert misses(40) == 0
