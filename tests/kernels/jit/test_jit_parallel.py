"""What names mean behind a parallel loop: Python's values, of the last turn that wrote them."""

import numpy as np
import pytest
import tutti as tt

pytestmark = [
    pytest.mark.skipif("no C compiler" in tt.info(), reason="no C compiler"),
    pytest.mark.usefixtures("on_the_cpu"),
]


def every_turn(n):
    c, d = -1, 0.5
    for i in tt.prange(n):
        c = i * 2
        d = c + 0.5
    return c, d


def some_turns(n):
    c, d, q = -1, 0.0, (0, 0.5)
    for i in tt.prange(n):
        if i % 7 == 3:
            c = i
        if i == 1:
            d = i * 0.5
        q = (i, i * 0.5)
    return c, d, q


def arrays_and_lists(n):
    x, items = np.zeros(2), [0]
    for i in tt.prange(n):
        x = np.ones(2) * i
        items = [100, i]
        items.append(2 * i)
    return x[1], len(items), items[-1]


def loops_within(n):
    total, inner = 0, -1
    for i in tt.prange(n):
        part = 0
        for k in range(i):
            part += k
            inner = k
        total += part
    return total, inner


def words(n):
    found, maybe = "none", None
    for i in tt.prange(n):
        if i % 10 == 4:
            found = str(i)
            maybe = i
    return found, maybe


@pytest.mark.parametrize("f", [every_turn, some_turns, arrays_and_lists, loops_within, words])
@pytest.mark.parametrize("n", [0, 1, 5, 100, 1003])
def test_values_behind_a_parallel_loop(f, n):
    assert tt.njit(parallel=True)(f)(n) == f(n)


def test_under_try_turns_come_one_after_another():
    def f(a, x):
        out = a.copy()
        try:
            for i in tt.prange(a.size):
                if i == x:
                    raise ValueError("x")
                out[i] = a[i] + i
        except ValueError:
            out[i] = -1
        return out

    a = np.arange(10)
    assert tt.njit(parallel=True)(f)(a, 6).tolist() == f(a, 6).tolist()


def folds_that_are_none(n):
    a, b, c, d = 100, 10**9, 1, 0
    for i in tt.prange(n):
        a ^= i
        b //= 2
        c += i
        d += c
    return a, b, c, d


def steps(n):
    last, gaps, y = -1, 0, 0
    for i in tt.prange(n):
        if last >= 0:
            gaps += i - last
        if i % 3:
            last = i
        y = y * 2 + 1
        y = y % 1000
    return last, gaps, y


@pytest.mark.parametrize("f", [folds_that_are_none, steps])
def test_turns_that_read_what_earlier_ones_wrote_run_in_order(f):
    for n in (0, 1, 20, 1003):
        assert tt.njit(parallel=True)(f)(n) == f(n)


def test_turns_that_do_not_run_on_all_cores():
    @tt.njit(parallel=True)
    def f(x, out):
        total = 0.0
        for i in tt.prange(len(x)):
            t = x[i]
            if t > 0.5:
                s = t * 2
            else:
                s = -t
            for k in range(3):
                s += k * t
            total += s
            out[i] = s
        return total

    x, out = np.linspace(0, 1, 1000), np.zeros(1000)
    got = f(x, out)
    assert abs(got - f.py_func(x, out)) < 1e-9
    assert "call->parallel(" in next(iter(f.inspect_source().values()))
