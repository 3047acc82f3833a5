"""Lists in compiled functions: what Python's do, in every tier."""

import linecache
import os
import pickle

import numpy as np
import pytest
import tutti as tt
from list_programs import Program
from tutti.compat.numba import types
from tutti.compat.numba.typed import List

TIERS = ["compiled", "osr:1"] if os.uname().machine == "x86_64" else ["compiled"]
PROGRAMS = int(os.environ.get("TUTTI_FUZZ_PROGRAMS", "12"))


def outcome(f, *args):
    try:
        return repr(f(*args))
    except (IndexError, ValueError) as error:
        return type(error).__name__


def made(seed):
    text, name, space = Program(seed).text(), f"<list program {seed}>", {}
    linecache.cache[name] = len(text), None, text.splitlines(True), name
    exec(compile(text, name, "exec"), space)
    return space["f"], text


@pytest.mark.parametrize("seed", range(PROGRAMS))
def test_programs(seed, monkeypatch):
    f, text = made(seed)
    for tier in TIERS:
        monkeypatch.setenv("TUTTI_JIT_TIER", tier)
        g = tt.njit(f)
        for n, x in ((4, 0.25), (0, -1.5), (9, 1e10)):
            assert outcome(g, n, x) == outcome(f, n, x), text


def items(n):
    rows = [[k + j for j in range(3)] for k in range(n)]
    rows[0][1] = 100
    pairs = [(k, 0.5 * k) for k in range(n)]
    total = 0.0
    for k, x in pairs:
        if k == 2:
            continue
        total += k * x
    arrays = [np.ones(2), np.zeros(3)]
    arrays[1][2] = 5
    return rows, pairs, total, sum([len(row) for row in rows]), arrays[1].sum(), np.array(rows[0]).sum()


def test_items_of_any_type():
    assert tt.njit(items)(4) == items(4)


def stack(n):
    todo, seen = [n], 0
    while todo:
        k = todo.pop()
        seen += k
        if k > 1:
            todo.append(k // 2)
            todo.append(k - k // 2 - 1)
    return seen


def grown(n):
    out = [1]
    for k in out:
        if len(out) < n:
            out.append(k + 1)
    return out


def aliases(n):
    a = [n]
    b = a
    b.append(2)
    a += [3]
    return len(b), a[0] + b.pop() + len(a), a


def order(n):
    a = [n, 2, 3]
    return a[0] + pushed(a) + a[-1], a.pop() - a.pop(0), len(a) + len([a.pop() for _ in range(1)]) + len(a)


@tt.njit
def pushed(a):
    a.append(7)
    return len(a)


@pytest.mark.parametrize("f", [stack, grown, aliases, order])
def test_changes_are_seen(f, monkeypatch):
    got = tt.njit(f)(6)
    monkeypatch.setitem(globals(), "pushed", pushed.py_func)
    assert got == f(6)


def test_sorting_is_stable():
    values = [0.0, 3.5, -0.0, 1.0, -0.0, 0.0, -2.0, 3.5]

    @tt.njit
    def both(a):
        b = [x for x in a]
        c = sorted(b, reverse=True)
        b.sort()
        return b, c

    assert repr(both(np.array(values))) == repr((sorted(values), sorted(values, reverse=True)))


def test_typed_lists_come_and_go():
    @tt.njit
    def change(a, x):
        a.append(x)
        a[0] = 100
        return a, len(a)

    a = List([1, 2])
    b, n = change(a, 5)
    assert b is a and n == 3 and list(a) == [100, 2, 5]

    @tt.njit
    def nested(rows):
        rows[0].append(9)
        rows.append(List([7]))
        return rows[1]

    inner = List([2, 3])
    rows = List([List([1]), inner])
    assert nested(rows) is inner
    assert [list(row) for row in rows] == [[1, 9], [2, 3], [7]]

    @tt.njit
    def empty():
        a = List.empty_list(types.float64)
        a.append(1)
        return a

    assert repr(empty()) == "ListType[float64]([1.0])"
    arrays = List([np.ones(3), np.arange(4.0)])

    @tt.njit
    def fill(arrays):
        for a in arrays:
            a[0] = 7

    fill(arrays)
    assert [a[0] for a in arrays] == [7, 7]
    again = pickle.loads(pickle.dumps(a))
    assert again == a and repr(again) == repr(a)


def nothing_in_it():
    a = []
    return len(a)


def mixed():
    a = [1]
    a.append(2.5)


def unlike():
    a = [1, (2, 3)]  # which stays a tuple
    a[0] = 2
    return a


def shown():
    a = [1]
    print(a)


@pytest.mark.parametrize(
    "f, says",
    [
        (nothing_in_it, "nothing is put into it"),
        (mixed, "takes no float64"),
        (unlike, "Cannot mutate a literal list"),
        (shown, "print of"),
    ],
)
def test_what_is_refused(f, says):
    with pytest.raises((TypeError, NotImplementedError), match=f"(?s){says}.*line {f.__code__.co_firstlineno}|{says}"):
        tt.njit(f)()


def test_arguments_that_are_no_typed_lists():
    f = tt.njit(lambda a: len(a))
    assert f([1, 2]) == 2  # Python's own, of one type
    with pytest.raises(TypeError, match="can't unbox heterogeneous list"):
        f([1, 2.5])
    with pytest.raises(TypeError, match="cannot reflect element"):
        f([[1]])
    with pytest.raises(TypeError, match="without a type"):
        f(List())
    with pytest.raises(TypeError, match="takes no float"):
        List([1]).append(2.5)
    with pytest.raises(NotImplementedError, match="a list in a kernel"):
        tt.cuda.jit(lambda a: None)[1, 1](List([1]))
