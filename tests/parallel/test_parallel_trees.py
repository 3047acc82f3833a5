"""Random trees of tasks beside a plain loop: nested, failing, slow, killed, with results of all sizes."""

import os
import random
import signal
import time

import numpy as np
import pytest
import tutti as tt


def tree(rng, depth):
    """A task: what it does with its number, as plain data."""
    kind = rng.choice(["number", "large", "empty", "text", "fails", "slow", "nested", "generator", "dies"])
    if kind == "nested" and depth == 0:
        kind = "number"
    below = [tree(rng, depth - 1) for _ in range(rng.randint(0, 4))] if kind == "nested" else None
    return kind, rng.randint(0, 1000), below


def run(task, dead):
    """Do a task; `dead`: this process may be ended."""
    kind, n, below = task
    if kind == "large":
        return float(np.arange(n * 100.0).sum()), np.full(n * 20, n)
    if kind == "empty":
        return None, np.zeros(0)
    if kind == "text":
        return "x" * (n * 200), n
    if kind == "fails":
        raise ArithmeticError(n)
    if kind == "slow":
        time.sleep(n / 1e5)
    if kind == "generator":
        return tt.parallel.map(abs, (-k for k in range(n % 50))) if dead else list(range(n % 50))
    if kind == "nested":
        calls = tt.parallel.map(lambda t: shown(t, dead), below, return_exceptions=True) if dead else None
        return [shown(t, dead) for t in below] if calls is None else calls
    if kind == "dies" and dead and n % 3 == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return n, n


def shown(task, dead):
    """A task's result, or what it raised, as text."""
    if task[0] == "dies" and task[1] % 3 == 0:
        return "not here"
    try:
        return repr(run(task, dead))
    except ArithmeticError as e:
        return repr(e)


def as_text(x):
    if isinstance(x, tt.parallel.WorkerDied):
        return "died"
    return repr(x)


def expected(task):
    if task[0] == "dies" and task[1] % 3 == 0:
        return "died"
    return shown(task, False)


@pytest.mark.parametrize("seed", range(6))
def test_a_tree_is_a_loops(seed):
    rng = random.Random(seed)
    tasks = [tree(rng, 2) for _ in range(rng.choice([1, 5, 40]))]
    want = [expected(t) for t in tasks]
    how = {"workers": rng.choice([1, 2, 3]), "chunk": rng.choice([1, 2, 7]), "return_exceptions": True}
    got = [as_text(x) for x in tt.parallel.map(lambda t: run(t, True), tasks, **how)]
    assert got == want
    counts = tt.parallel.imap_unordered(lambda t: run(t, True), (t for t in tasks), **how)
    assert sorted(as_text(x) for x in counts) == sorted(want)
