"""Values that are None on some ways through a function, in every tier; what it means not to have one."""

import os

import numpy as np
import pytest
import tutti as tt

TIERS = ["compiled", "baseline", "osr:1"] if os.uname().machine == "x86_64" else ["compiled"]
pytestmark = [
    pytest.mark.skipif("no C compiler" in tt.info(), reason="no C compiler"),
    pytest.mark.usefixtures("on_the_cpu"),
]


@pytest.fixture(params=TIERS)
def tier(request, monkeypatch):
    monkeypatch.setenv("TUTTI_JIT_TIER", request.param)


def off_the_end(x):
    if x > 0:
        return x


def word(x):
    if x > 0:
        return "positive"
    return None


def items(x):
    if x > 0:
        return [1, x]


def elements(x):
    if x > 0:
        return np.ones(2) * x


def pair(x):
    return (x, "a") if x > 0 else None


def mapping(x):
    if x > 0:
        return {x: "y"}


def variable(x):
    y = None
    if x > 0:
        y = x
    if y is None:
        return -1
    return y + 1


def found(x):
    for i in range(abs(x)):
        if i == 3:
            return i


def looked_for(x):
    while True:
        x += 1
        if x % 7 == 0:
            return x


def all_ways_give(x):
    if x > 0:
        raise ValueError("positive")
    elif x < -3:
        return 1
    else:
        return 2


def caught(x):
    try:
        return 10 // x
    except ZeroDivisionError:
        pass


def parameter(x, y=None):
    if x > 0:
        y = x
    return y


def compared(x):
    a = 5 if x > 0 else None
    b = x if x != 2 else None
    return a == b, a != b, a == 5, b == None, a is None, not a, (a or 7), (7 if a else 8), a and 3  # noqa: E711


def words(x):
    a = "one" if x > 0 else None
    b = "one" if x < 3 else None
    return 10 if a == b else 20


def inside(x):
    return (off_the_end_jit(x), 3, None)


def handed_on(x):
    y = off_the_end_jit(x)
    return y * 2 if y is not None else 0


off_the_end_jit = tt.njit(off_the_end)


def same(got, want):
    if isinstance(want, np.ndarray):
        return isinstance(got, np.ndarray) and got.tolist() == want.tolist()
    return type(got) is type(want) and got == want


@pytest.mark.parametrize(
    "f",
    [off_the_end, word, items, elements, pair, mapping, variable, found, looked_for, all_ways_give, caught, parameter,
     compared, words, inside, handed_on],
)  # fmt: skip
def test_what_python_gives(f, tier):
    compiled = tt.njit(f)
    for x in (-5, -1, 0, 1, 2, 3, 5):
        try:
            want = f(x)
        except ValueError:
            with pytest.raises(ValueError, match="positive"):
                compiled(x)
            continue
        assert same(compiled(x), want), x


def test_none_where_a_value_is_needed(tier):
    @tt.njit
    def f(x):
        return off_the_end_jit(x) + 1

    assert f(4) == 5
    with pytest.raises(TypeError, match="expected int64, got None"):
        f(-4)

    @tt.njit
    def g(x):
        y = [1, 2] if x > 0 else None
        return len(y)

    assert g(1) == 2
    with pytest.raises(TypeError, match="got None"):
        g(-1)
