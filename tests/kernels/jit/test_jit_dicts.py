"""Dictionaries and sets in compiled functions: what Python's do."""

import linecache
import os
import pickle
import random

import numpy as np
import pytest
import tutti as tt
from tutti.compat.numba import types
from tutti.compat.numba.typed import Dict, List

TIERS = ["compiled", "osr:1"] if os.uname().machine == "x86_64" else ["compiled"]


def program(seed):
    """A function over a dictionary of numbers, one of lists and two sets."""
    r = random.Random(seed)
    lines = [
        "def f(n, x):",
        "    d = {n: x, 7: 0.5}",
        "    e = {}",
        "    s = {n, 3}",
        "    u = set(range(n))",
        "    t = 0.0",
    ]
    lines += ["    e[0] = [n]"]

    def key():
        return r.choice(["n", "3", "7", "len(s)", f"(n * {r.randrange(5)}) % 11", f"{r.randrange(9)}"])

    def statement(pad, deep):
        k, j = key(), key()
        rows = [
            [f"d[{k}] = x * {r.randrange(5)}"],
            [f"d[{k}] = t % 13"],
            [f"if {k} in d:", f"    d[{k}] += 1.5", f"    t += d[{k}]"],
            [f"t += d.get({k}, 0.25)"],
            [f"t -= d.pop({k}, 0.5)"],
            [f"if {k} in d:", f"    del d[{k}]"],
            [f"t += d.setdefault({k}, 2.5)"],
            ["for k in d:", "    t = t * 0.5 + k"],
            ["for k, v in d.items():", "    t = t * 0.5 + k - v"],
            ["t += sum(d.values()) + len(d)", "t = t % 1009"],
            [f"s.add({k})", f"s.discard({j})"],
            [f"if {k} in u and {j} not in s:", f"    u.remove({k})", "    t += 1"],
            [f"e[{k}] = [{j}, len(u)]"],
            [f"if {k} in e:", f"    e[{k}].append({j})", f"    t += e[{k}][0]"],
            [f"s = {{q % 5 for q in s if q != {k}}}"],
            [f"d = {{q: v + 1 for q, v in d.items() if q != {k}}}"],
            ["for q in sorted(u):", "    t = t * 0.5 + q"],
            [f"t += d[{k}]"] if r.random() < 0.2 else [f"u.add({k})"],
        ]
        if deep < 2 and r.random() < 0.2:
            lines.append(f"{pad}for k{deep} in range({r.randrange(1, 30)}):")
            for _ in range(3):
                statement(pad + "    ", deep + 1)
        else:
            lines.extend(pad + line for line in r.choice(rows))

    for _ in range(10):
        statement("    ", 0)
    return "\n".join([*lines, "    return d, e, s, u, t"]) + "\n"


def outcome(f, *args):
    try:
        d, e, s, u, t = f(*args)
    except (KeyError, IndexError) as error:
        return type(error).__name__
    return list(d.items()), list(e.items()), sorted(s), sorted(u), t


@pytest.mark.parametrize("seed", range(int(os.environ.get("TUTTI_FUZZ_PROGRAMS", "12"))))
def test_programs(seed, monkeypatch):
    text, name, space = program(seed), f"<dict program {seed}>", {}
    linecache.cache[name] = len(text), None, text.splitlines(True), name
    exec(compile(text, name, "exec"), space)
    for tier in TIERS:
        monkeypatch.setenv("TUTTI_JIT_TIER", tier)
        g = tt.njit(space["f"])
        for args in ((4, 0.25), (0, -1.5), (9, 1e10)):
            assert outcome(g, *args) == outcome(space["f"], *args), text


def test_many_keys():
    @tt.njit
    def f(n):
        d = {}
        for i in range(n):
            d[i * 7919 % 100003] = i
        for i in range(0, n, 3):
            d.pop(i * 7919 % 100003)
        total = 0
        for k, v in d.items():
            total += k ^ v
        return total, len(d)

    assert f(50000) == f.py_func(50000)


def test_types_by_what_is_put_in_later():
    @tt.njit
    def f(a):
        d, e = {}, {}
        for x in a:
            d[x % 7] = d.get(x % 7, 0) + 1
            if x in e:
                e[x] += 0.5
            else:
                e[x] = 1.0
        return d, e

    a = np.arange(40) * 3 % 13
    assert f(a) == f.py_func(a.tolist())


def test_keys_of_floats():
    @tt.njit
    def f(x):
        d = {0.0: 1, x: 2}
        d[-0.0] = 3
        return d, len({1.5, x})

    assert f(2.5) == f.py_func(2.5)


def test_values_of_arrays():
    @tt.njit
    def f():
        d = dict()
        k = {1: np.arange(1), 2: np.arange(2)}
        d[3] = np.arange(3)
        d[3] += 10
        return d, k

    d, k = f()
    assert d[3].tolist() == [10, 11, 12] and k[2].tolist() == [0, 1] and list(k) == [1, 2]


def test_typed_dictionaries_come_and_go():
    @tt.njit
    def f(d):
        d[5] = d[1] + 1
        del d[1]
        return d, len(d)

    d = Dict({1: 2.5, 2: 0.5})
    got, n = f(d)
    assert got is d and n == 2 and dict(d) == {2: 0.5, 5: 3.5} and list(d) == [2, 5]

    @tt.njit
    def made():
        d = Dict.empty(types.int64, types.float64)
        d[3] = 1
        return d

    assert repr(made()) == "DictType[int64,float64]<iv=None>({3: 1.0})"
    rows = List([Dict({1: 2.5}), d])
    assert tt.njit(lambda rows: f(rows[0])[1])(rows) == 1
    assert dict(rows[0]) == {5: 3.5} and rows[1] is d
    again = pickle.loads(pickle.dumps(d))
    assert again == d and repr(again) == repr(d)


def test_what_is_refused():
    def empty():
        d = {}
        return len(d)

    def pairs():
        d = {(1, 2): 1}
        return d[1, 2]

    def mixed(x):
        d = {1: x}
        d[2.5] = x
        return d[1]

    for f, args, kind, says in (
        (empty, (), TypeError, "nothing is put into it"),
        (pairs, (), NotImplementedError, "keys are real numbers"),
        (mixed, (1.5,), TypeError, "takes no|cannot safely cast"),
    ):
        with pytest.raises(kind, match=f"(?s)({says}).*line"):
            tt.njit(f)(*args)
    with pytest.raises(KeyError, match="no such key"):
        tt.njit(lambda x: {1: x}[2])(1)
    with pytest.raises(TypeError, match="no Python dict"):
        tt.njit(lambda d: len(d))({1: 2})
    with pytest.raises(TypeError, match="numbers, str and tuples as keys"):
        Dict.empty(types.float64[:], types.float64)
    with pytest.raises(TypeError, match="as key is forbidden"):
        Dict.empty(types.List(types.int64), types.float64)
    tuples = Dict.empty(types.Tuple(types.uint32, types.uint32), types.float64)
    tuples[1, 2] = 3
    assert tuples[1, 2] == 3
    assert tuples.popitem() == ((1, 2), 3.0)
    with pytest.raises(NotImplementedError, match="keys are real numbers and str here"):
        tt.njit(lambda d, k: d[k])(tuples, (1, 2))


def test_get_gives_none():
    f = tt.njit(lambda d, k: d.get(k))
    d = Dict()
    d[1] = 2.5
    assert f(d, 1) == 2.5
    assert f(d, 2) is None


def test_what_was_written_before_an_error_stays():
    @tt.njit
    def f(items, d, a):
        items.append(7)
        d[5] = 6.0
        a[0] = 8
        return items[0] // a[1]

    items, d, a = [1], Dict(), np.zeros(2, np.int64)
    d[1] = 2.0
    with pytest.raises(ZeroDivisionError):
        f(items, d, a)
    assert (items, dict(d), a[0]) == ([1, 7], {1: 2.0, 5: 6.0}, 8)
