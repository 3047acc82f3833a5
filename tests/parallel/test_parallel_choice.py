"""Threads where a function gives the interpreter's lock up and can write nothing that they share; else processes."""

import functools
import math
import os
import random
import threading
import time
import types

import pytest
import tutti as tt
from tutti.parallel import _choice

np = pytest.importorskip("numpy")
LARGE = np.ones(1 << 16)
seen = []
buffer = np.empty(8)
number = 3


def rests(a):
    time.sleep(0.002)
    return threading.get_ident()


def computes(a):
    n = 0
    for k in range(40_000):
        n += k
    return threading.get_ident()


def remembers(a):
    seen.append(1)
    return threading.get_ident()


def counts(a):
    global number
    number = 4


def scales(a, by=2.0):
    return np.multiply(a, by) + math.pi + number


def calls(a):
    return scales(a) + scales(a)


def into(a, out=buffer):
    return np.sqrt(a, out=out)


def closed(value):
    return lambda a: a + value


class Model:
    def __call__(self, a):
        return a


@pytest.mark.parametrize(
    "f", [rests, scales, calls, np.sort, np.sqrt, tt.sqrt, math.sqrt, closed(3), functools.partial(scales, by=3)]
)
def test_what_can_write_nothing_but_its_arguments(f):
    assert _choice.shares_nothing(f)


@pytest.mark.parametrize(
    "f",
    [remembers, counts, into, closed([3]), closed(buffer), closed(remembers), Model(), Model().__call__, seen.append]
    + [functools.partial(scales, by=buffer), functools.partial(remembers), random.Random(1).random],
)
def test_what_may_write_more(f):
    assert not _choice.shares_nothing(f)


def test_a_function_that_gives_the_lock_up_gets_threads():
    """On a busy machine who asks for the lock may wait for a core: then it is processes, so it is tried again."""
    for _ in range(10):
        f = types.FunctionType(rests.__code__, globals())
        threads = set(tt.parallel.map(f, [LARGE] * 40, workers=3))
        told = tt.parallel.report()
        if told["by"] == "threads":
            break
    assert told["by"] == "threads" and told["held"] < 0.2 and "lock" in told["reason"]
    assert threading.get_ident() in threads  # the first items are the caller's
    assert len(threads) > 1
    assert tt.parallel.map(f, [LARGE] * 40, workers=3) and tt.parallel.report() == told  # nobody looks again


@pytest.mark.parametrize(
    "f, items, held",
    [(computes, [LARGE] * 60, True), (rests, [1.0] * 60, False), (remembers, [LARGE] * 60, False)],
    ids=["holds it", "no arrays", "writes"],
)
def test_others_get_processes(f, items, held):
    with tt.parallel.Executor(2) as e:  # they are there before the map
        e.submit(os.getpid).result()
        seconds = 0.002 if f is remembers else 0
        slow = (lambda a: (time.sleep(seconds), f(a))) if seconds else f
        tt.parallel.map(slow, items, workers=2)
    told = tt.parallel.report()
    assert told["by"] == "processes" and (told["held"] is not None) == held, told


def test_results_by_threads_are_a_loops():
    rng = random.Random(0)
    for _ in range(6):
        items = [np.full(1 << 16, float(k)) for k in range(rng.randrange(1, 60))]
        fails = set(rng.sample(range(60), rng.randrange(3)))

        def f(a, fails=tuple(fails)):
            time.sleep(0.0007)
            if int(a[0]) in (5, 17):
                raise ArithmeticError(int(a[0]))
            return int(a[0])

        _choice._known[f] = 0.0  # as if somebody had looked
        got = tt.parallel.map(f, iter(items), workers=2, return_exceptions=True)
        assert [x if isinstance(x, int) else x.args[0] for x in got] == list(range(len(items)))
        taken = sorted(tt.parallel.imap_unordered(closed(0), items, workers=2, read_ahead=3), key=lambda a: a[0])
        assert [int(a[0]) for a in taken] == list(range(len(items)))


class Odd:
    @property
    def nbytes(self):
        raise RuntimeError("nobody knows")


def test_what_is_heavy():
    assert _choice.is_heavy(([LARGE],)) and _choice.is_heavy(([1], [tt.ones(1 << 17)]))
    assert not _choice.is_heavy(([LARGE[:10]], ["text"], [Odd()])) and not _choice.is_heavy(())


def test_what_is_asked_for_is_done():
    assert len(set(tt.parallel.map(rests, [LARGE] * 30, workers=2, threads=False))) >= 1
    before = tt.parallel.counts()["tasks"]
    tt.parallel.map(rests, [LARGE] * 4, workers=2, chunk=1)
    assert tt.parallel.counts()["tasks"] == before + 4
