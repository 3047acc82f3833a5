"""One name, several variables: types that change over time, by branch and by argument."""

import numpy as np
import pytest
import tutti as tt

WIDTH = 4


@tt.njit
def by_branch(c):
    if c:
        y = 7
        r = y // 2
    else:
        y = np.zeros(3)
        r = int(y.sum())
    return r


@tt.njit
def whole_then_real(c):
    if c > 0:
        y = 7
        r = y // 2
    else:
        y = 1.5
        r = int(y * 3)
    y = (r, 2.5)
    y = y[0] + y[1]
    return y, r


@tt.njit
def over_time(a):
    x = 7
    y = x // 2
    x += 0.5
    z = x // 2
    x = a + x
    x = x[0]
    return y, z, x


@tt.njit
def in_a_loop(a):
    s = 0.0
    x = 3
    for i in range(3):
        x = np.ones(2) * i
        s += x[0]
        x = a + i
        s += x
        if s > 100:
            x = (s, 2)
            s -= x[1]
            continue
        x = 5
        s += x // 2
    return s


@tt.njit
def breaks(n):
    x = 1
    for i in range(n):
        if i == 3:
            x = 2
            break
        t = i * 2
        x += t
    else:
        x = 7
    t = 0.5
    while x < 20:
        x += 3
        if x == 14:
            continue
        t = t + x
    return x, t


@tt.njit
def optional(a, c=None):
    if c is None:
        c = np.ones(3)
    return a + c[0]


@tt.njit
def optional_number(a, b=3, c=None):
    return (a + b, b) if c is None else (a + b + c, c)


@tt.njit
def each_in_its_type(c):
    if c:
        v = 7
        r, s = v // 2, v << 1
    else:
        v = 1.5
        r, s = int(v), 3
    return float(v), r, s


@tt.njit
def parameter_first(x, c):
    y = x // 2
    if c:
        x = 0.5
    else:
        y += x << 2
    return float(x), y


@tt.njit
def before_a_loop(n):
    v = 7
    t = v // 2
    for i in range(n):
        v = v + 0.5
        if i == 2:
            v = 3
            t += v // 2
        elif i == 3:
            v, w = i, 2.5
            t += v << 1
            v = w
    return float(v), t


@tt.njit
def some_meet_first(n):
    if n > 5:
        v = 0.5
        r = 1
    else:
        if n > 3:
            v = 9
        elif n > 1:
            v = 7
        else:
            v = 4
            r = v >> 1
        r = v >> 1
    return float(v), r


@tt.njit
def flags(n):
    b = n > 2
    c = not b
    if c:
        b = n
        c = b > 1
    return int(b), c


def kinds(values):
    """Of each value: is it a truth value, a whole number or a float?"""
    values = values if isinstance(values, tuple) else (values,)
    return [next(kind for kind in (bool, int, float) if isinstance(value, kind)) for value in values]


@pytest.mark.parametrize(
    "f,args",
    [
        (by_branch, (1,)), (by_branch, (0,)), (whole_then_real, (1,)), (whole_then_real, (-1,)),
        (over_time, (np.ones(2),)), (in_a_loop, (2,)), (in_a_loop, (2.5,)), (in_a_loop, (99,)),
        (each_in_its_type, (1,)), (each_in_its_type, (0,)), (parameter_first, (7, 1)), (parameter_first, (7, 0)),
        (before_a_loop, (0,)), (before_a_loop, (3,)), (before_a_loop, (6,)), (some_meet_first, (6,)),
        (some_meet_first, (4,)),
        (some_meet_first, (2,)), (some_meet_first, (0,)), (flags, (1,)), (flags, (2,)),
        (flags, (3,)), (breaks, (2,)), (breaks, (0,)), (breaks, (9,)), (optional, (1,)),
        (optional, (1, np.zeros(2))), (optional_number, (1,)), (optional_number, (1, 2)),
        (optional_number, (1, 2, 3.5)),
    ],
)  # fmt: skip
def test_names_mean_what_they_mean_in_python(f, args):
    got, want = f(*args), f.py_func(*args)
    assert got == want
    assert kinds(got) == kinds(want)


def test_what_meets_is_one_variable():
    @tt.njit
    def f(c):
        x = 1 if c else 2
        if c:
            x = np.ones(2)
        return x

    with pytest.raises(TypeError, match="Cannot unify"):
        f(1)

    @tt.njit
    def g(a, c=None):
        if a > 1:
            c = 3
        return c

    assert g(1) is None
    assert g(2) == 3


def test_shapes_of_shared_and_local_memory_through_names():
    @tt.cuda.jit
    def f(a):
        n = WIDTH
        rows, m = 2, n * 2 - WIDTH
        twice = 2 * n
        shape = (m, twice)
        s = tt.cuda.shared.array(shape=shape, dtype=tt.float64)
        t = tt.cuda.local.array(n // 2, tt.int32)
        i = tt.cuda.threadIdx.x
        t[1] = i + rows
        s[i, twice - 1] = t[1]
        tt.cuda.syncthreads()
        a[i] = s[3 - i, 7]

    a = np.zeros(4)
    f[1, 4](a)
    assert a.tolist() == [5, 4, 3, 2]


def test_a_shape_that_is_not_known_is_refused():
    @tt.cuda.jit
    def f(a):
        n = 4
        if a[0] > 0:
            n = 5
        t = tt.cuda.local.array(n, tt.float64)
        a[0] = t[0]

    with pytest.raises(TypeError, match=r"(?s)must be constant.*line \d+"):
        f[1, 1](np.zeros(2))
