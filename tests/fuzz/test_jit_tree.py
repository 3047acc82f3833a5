"""Damaged trees of functions: an error, never a crash."""

import os
import random

import numpy as np
import pytest
import tutti as tt
from tutti import _core

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


class Damaged(tt.njit(lambda: 0).__class__):
    """A compiled function that hands over another text."""

    def __init__(self, text):
        super().__init__(sample.py_func, 0)
        self.given = text

    def _module(self, types):
        return self.given, []


@pytest.mark.parametrize("seed", range(6))
def test_damaged_trees(seed):
    text, _ = sample._module("f64,f64")
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
            one._cuda("Af64:1C,i64,(i64,f64)")  # typed, not compiled: it is no kernel
        except (ValueError, TypeError, NotImplementedError, IndexError, OverflowError, MemoryError):
            pass


def test_bad_signatures():
    for types in (
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
            Damaged(sample._module("f64,f64")[0])._cuda(types)
    assert _core.Jit is not None
