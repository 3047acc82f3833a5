"""Functions within functions, recursion, functions that are written for each list of types."""

import numpy as np
import pytest
import tutti as tt
from tutti.compat.numba import types
from tutti.compat.numba.extending import overload

pytestmark = pytest.mark.skipif("no C compiler" in tt.info(), reason="no C compiler")


@tt.njit
def apply(f, x):
    return f(x)


def test_inner_functions_read_what_is_around_them():
    @tt.njit
    def f(x, y):
        def add(z, k=3):
            return z + y + k

        def again(n):
            if n <= 0:
                return y
            return again(n - 1) + add(n)

        y = y + 1
        square = lambda v: v * v + y  # noqa: E731
        first = add(x)
        y += 10
        return first, square(x), again(3), apply(add, 2.5), [add(v) for v in range(3)]

    want = (9, 4 + 14, 14 + 18 + 19 + 20, 2.5 + 17, [17, 18, 19])
    assert f(2, 3) == want


def test_inner_functions_that_are_refused():
    def assigned(x):
        def g():
            nonlocal x
            x = 1

        g()
        return x

    def twice(x):
        if x:

            def g(y):
                return y
        else:

            def g(y):
                return -y

        return g(x)

    def given_back(x):
        def g(y):
            return y

        return g

    for f in (assigned, twice, given_back):
        with pytest.raises(NotImplementedError, match="line"):
            tt.njit(f)(1)


@tt.njit
def even(n):
    return odd(n - 1) if n > 0 else True


@tt.njit
def odd(n):
    return even(n - 1) if n > 0 else False


@tt.njit
def hanoi(n, a, b, moves):
    if n > 0:
        hanoi(n - 1, a, 3 - a - b, moves)
        moves.append((a, b))
        hanoi(n - 1, 3 - a - b, b, moves)


@tt.njit
def moved(n):
    moves = [(0, 0)]
    hanoi(n, 0, 2, moves)
    return moves


@tt.njit
def endless(n):
    return endless(n + 1) + 1 if n >= 0 else 0


@tt.njit
def changing(x, y):
    if x > 1 and y > 0:
        return x + changing(x - y, y)
    return x


def test_recursion():
    assert [even(n) for n in range(5)] == [True, False, True, False, True] and odd(7)
    assert len(moved(5)) == 32 and moved(2)[1:] == [(0, 1), (0, 2), (1, 2)]
    assert changing(10.5, 1) == changing.py_func(10.5, 1) and changing(10, 1.5) == changing.py_func(10, 1.5)


def test_recursion_without_end_is_an_error_that_can_be_caught():
    @tt.njit
    def guarded():
        try:
            return endless(0)
        except RecursionError:
            return -1

    with pytest.raises(RecursionError, match="maximum recursion depth"):
        endless(0)
    assert guarded() == -1

    @tt.njit(parallel=True)
    def on_other_threads(n):
        out = np.zeros(n, np.int64)
        for i in tt.prange(n):
            out[i] = guarded()
        return out

    assert on_other_threads(64).tolist() == [-1] * 64


def describe(x, n=2):
    return "python"


@overload(describe)
def _describe(x, n=2):
    if isinstance(x, types.Integer):
        return lambda x, n=2: x * n
    if isinstance(x, types.Array) and x.ndim == 1:
        return lambda x, n=2: x.sum() + n
    if isinstance(x, types.UnicodeType):
        five = 5

        def of_text(x, n=2):
            return len(x) + n + five

        return of_text


def test_overload():
    @tt.njit
    def f(x):
        return describe(x), describe(x, 5)

    assert f(3) == (6, 15) and f(np.ones(3)) == (5.0, 8.0) and f("abc") == (10, 13)
    with pytest.raises(TypeError, match=r"No implementation of function describe\(\) for \(float64, int64\)\n.*line"):
        f(1.5)


def test_pythons_own_lists_and_sets():
    @tt.njit
    def f(a, s):
        a.append(len(s))
        s.add(9)
        return a

    items, kinds = [1, 2], {5, 6}
    assert f(items, kinds) is items and items == [1, 2, 2] and kinds == {5, 6, 9}
    with pytest.raises(TypeError, match="an empty list tells no type"):
        f([], {1})
