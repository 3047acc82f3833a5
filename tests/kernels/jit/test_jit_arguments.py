"""Arguments of compiled functions: defaults, *args, keyword-only parameters, tuples whose items become arguments."""

import numpy as np
import pytest
import tutti as tt


@tt.njit
def rest(first, *others):
    s = first * 1.0
    for x in others:
        s += x
    return s, len(others)


@tt.njit
def everything(a, b=2, *more, scale=1.5, by=None):
    s = a + b * scale
    if by is not None:
        s *= by
    for x in more:
        s = s * 2 + x
    return s


@tt.njit
def mixed(*items):
    return items[0] + items[1][0], items[1].sum() * items[2]


@tt.njit
def through(a, t):
    return rest(a, *t), rest(*t), everything(*t), everything(a, by=3), max(*t)


@tt.njit
def onward(*args):
    return rest(*args), everything(1, 2, *args)


@tt.njit
def three(a, b, c=7):
    return a * 100 + b * 10 + c


@tt.njit
def spread(t):
    return three(*t) + three(t[0], *t[1:])


CALLS = [
    (rest, (1,), {}), (rest, (1, 2, 3.5), {}), (rest, (1, 2, 3, 4), {}), (everything, (1,), {}),
    (everything, (1, 3), {}),
    (everything, (1, 2, 3, 4), {}), (everything, (1,), {"scale": 2}), (everything, (1, 2, 3), {"by": 2.5, "scale": 1}),
    (everything, (), {"a": 3}), (mixed, (1, np.arange(3.0), 2), {}), (through, (2, (3, 4.5)), {}),
    (onward, (1, 2.5), {}),
    (onward, (5,), {}), (three, (1, 2), {}), (three, (1, 2, 3), {}), (three, (1,), {"b": 3}),
    (spread, ((1, 2, 3),), {}),
]  # fmt: skip


@pytest.mark.parametrize("f,args,names", CALLS)
def test_calls_are_pythons(f, args, names):
    for _ in range(2):
        assert f(*args, **names) == f.py_func(*args, **names)


def test_calls_that_do_not_fit():
    for f, args, names in ((rest, (), {}), (three, (1,), {}), (three, (1, 2, 3, 4), {}), (three, (1, 2), {"d": 3})):
        with pytest.raises(TypeError):
            f(*args, **names)
    with pytest.raises(TypeError):
        everything(1, 2, 3, 4, other=3)

    @tt.njit
    def f(a):
        return three(*a)

    with pytest.raises(NotImplementedError, match=r"(?s)\* of array.*line \d+"):
        f(np.ones(3))

    with pytest.raises(NotImplementedError, match=r"\*\*kwargs"):
        tt.njit(lambda **k: 1)()


def test_defaults_that_are_changed_are_not_seen_again():
    def f(a, b=3):
        return a + b

    g = tt.njit(f)
    assert g(1) == 4 and g(1, 1) == 2 and g(b=5, a=1) == 6
    assert [g(1) for _ in range(5)] == [4] * 5
