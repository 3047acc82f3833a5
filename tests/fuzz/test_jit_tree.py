"""Damaged trees of functions: an error, never a crash."""

import os
import random

import numpy as np
import pytest
import tutti as tt
from tutti import _core
from tutti.compat.numba import types
from tutti.compat.numba.experimental import jitclass

pytestmark = pytest.mark.skipif(
    os.environ.get("TUTTI_CC") == "none", reason="a tree that is whole goes to the compiler"
)


@tt.njit(parallel=True)
def sample(a, n, t):
    x, y = t
    s = 0.0
    for i in tt.prange(n):
        s += a[i] * 2 if i % 2 else -a[-i]
    b = np.zeros(n)
    b[1:] = a[: n - 1] + x
    while n > 3 and y < 5:
        n -= 1
        y = y + 1 if s > 0 else min(y, 9)
        if n == 4:
            break
    print("n", n)
    return b.sum(), (s, n), b


@tt.njit
def caught(a, n):
    s = 0.0
    try:
        for i in range(n):
            if a[i] > 2:
                raise ValueError("big", i)
            s += a[i]
    except ValueError:
        s = -1.0
    finally:
        s += 1
    return s


@tt.njit
def words(a, n):
    t = "abc" + str(n)
    k = 0
    for c in t:
        if c in "bc1":
            k += ord(c)
    d = {t: k}
    return d[t], t.replace("a", "x"), len(t)


@tt.njit
def inner(a, n):
    def g(x):
        return x * n if x < 10 else g(x - 1)

    def h(y):
        return g(y) + 1

    return g(n), [h(i) for i in range(3)]


@tt.njit
def collections(a, n):
    x, s = [1, 2, 3], {n, 2}
    x.append(n)
    assert n > 0, "n"
    return sum(x), len(s), sorted(x)


@tt.njit
def numbers(n):
    for i in range(n):
        if i % 2:
            yield i
        else:
            yield -i


@tt.njit
def generators(a, n):
    t = 0
    for i, x in enumerate(numbers(n)):
        t += i * x
    for x, y in zip(numbers(n), a):
        t += int(y) + x
    g = numbers(3)
    return t + next(g), list(g), sum(numbers(4))


@jitclass([("n", types.int64), ("z", types.float64), ("a", types.float64[:])])
class Bag:
    def __init__(self, n, z=2.0):
        self.n = n
        self.z = z
        self.a = np.zeros(n)

    @property
    def size(self):
        return self.a.size

    def add(self, x):
        self.z += x
        return self.z


@tt.njit
def objects(a, n):
    b = Bag(n)
    b.n += 1
    b.add(a[0])
    d = {"x": 1, "y": 2.5}
    return b.size + b.add(d["y"]), len(d), [n, "a"][1].partition("a")


RECORDS = "(@R1record#0:a:b:s:d;Ai8:1P,Af64:1P,(@U1chars:chars;Au32:2P),(@R1record#1:p;Ai16:1P)),i64"


@tt.njit
def records(r, n):
    r[n].b = r[0].a + n
    for x in r:
        n += x.a
    r[1].s = "abc"
    r.b[1:] = r["b"][:-1] + 1
    return n, r[0].s, r[1], r[2].d.p


class Damaged(tt.njit(lambda: 0).__class__):
    """A compiled function that hands over another text."""

    def __init__(self, text):
        super().__init__(sample.py_func, 0)
        self.given = text

    def _module(self, types):
        return self.given, []


SAMPLES = sample, caught, words, inner, collections, generators, objects, records


@pytest.mark.parametrize("seed", range(16))
def test_damaged_trees(seed):
    one = SAMPLES[seed % len(SAMPLES)]
    kinds = RECORDS if one is records else "Af64:1C,i64" + ",(i64,f64)" * (one is sample)
    if one is objects:
        one(np.ones(2), 3)  # its text has the methods then
    text, _ = one._module(kinds)
    rng = random.Random(seed)
    pieces = [
        b"(",
        b")",
        b'"',
        b" ",
        b'(n "x")',
        b"(i 99999999999999999999)",
        b'(call 0 (n "a"))',
        b"for",
        b"\\x",
        b"\0",
    ]
    for _ in range(60):
        bad = bytearray(text)
        for _ in range(rng.randint(1, 3)):
            at, kind = rng.randrange(len(bad)), rng.randrange(4)
            if kind == 0:
                del bad[at : at + rng.randint(1, 30)]
            elif kind == 1:
                bad[at:at] = rng.choice(pieces)
            elif kind == 2:
                bad[at] = rng.randrange(256)
            else:
                other = rng.randrange(len(bad))
                bad[at : at + 20] = bad[other : other + 20]
        one = Damaged(bytes(bad))
        try:
            one._cuda(kinds)  # typed, not compiled: it is no kernel
        except (
            ValueError,
            TypeError,
            NotImplementedError,
            LookupError,
            OverflowError,
            MemoryError,
            NameError,
            AttributeError,
        ):
            pass


def test_bad_signatures():
    for kinds in (
        "",
        "f65",
        "Af64",
        "Af64:9C",
        "Af64:2X",
        "(f64",
        "f64|",
        "A",
        "(((((((((((f64",
        "f64,,f64",
        "N",
        "Af64:2C,i64",
    ):
        with pytest.raises((ValueError, TypeError, NotImplementedError)):
            Damaged(sample._module("f64,f64")[0])._cuda(kinds)
    assert _core.Jit is not None
