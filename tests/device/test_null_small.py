"""Small evaluations in a row: their launches wait for one another and become one launch of a graph. Whoever looks at
the device in between sees everything that was evaluated."""

import os
import subprocess
import sys
import textwrap

import pytest

PROGRAM = """
import time
import numpy as np, tutti as tt
from tutti import _core

a, b = np.arange(400.0), np.arange(400.0) + 2
x, y = tt.asarray(a, device="null:0"), tt.asarray(b, device="null:0")
tt.eval(x, y)
names = "evaluations", "device_launches", "graph_launches", "graphs_made", "plan_misses"

def counted(f):
    before = tt.ledger()
    f()
    after = tt.ledger()
    return {k: after[k] - before[k] for k in names}
"""


def run(code, **env):
    env = {**os.environ, "TUTTI_DEVICE": "auto", "TUTTI_NULL_DEVICE": "2", **env}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM + textwrap.dedent(code)], env=env, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return done.stdout


@pytest.mark.timing  # how many wait for one another depends on how fast they come
def test_they_are_launched_as_graphs():
    run(
        """
        kept = []
        def row(n):
            for k in range(n):
                z = x + y if k % 2 else x * y
                tt.eval(z)
                kept.append((k % 2, z))
        def many():
            for _ in range(20):
                row(320)
        seen = counted(many)
        assert seen["evaluations"] == seen["device_launches"] == 6400, seen
        assert seen["graph_launches"] > 20, seen
        assert all(np.array_equal(z.numpy(), a + b if odd else a * b) for odd, z in kept[::37] + kept[-40:])
        """
    )


def test_chains_and_memory_that_is_used_again():
    run(
        """
        rng = np.random.default_rng(5)
        for turn in range(60):
            z, w = x * 1.5, a * 1.5
            for k in range(int(rng.integers(1, 80))):
                step = int(rng.integers(6))
                if step == 0:
                    z, w = z + 1.0, w + 1.0
                elif step == 1:
                    z, w = z * y, w * b % 1000
                    z = z % 1000.0
                elif step == 2: # fresh memory, filled by the host
                    fresh = rng.integers(0, 9, 400).astype(float)
                    z, w = z + tt.array(fresh, device="null:0"), w + fresh
                elif step == 3: # a part of it, looked at
                    assert float(z[7]) == w[7]
                elif step == 4:
                    z[3:90] += 1.0
                    w = w.copy()
                    w[3:90] += 1.0
                else:
                    z, w = z - tt.flip(z), w - w[::-1]
                if step != 4 or turn % 2:
                    tt.eval(z)
            assert np.array_equal(z.numpy(), w), turn
            if turn % 5 == 0:
                _core.memory_trim()
        """
    )


def test_a_launch_that_cannot_be_asked_for_is_told_where_its_result_is_looked_at():
    run(
        """
        def fail_one():
            good, bad = [], []
            for k in range(40):
                z = x + float(k)
                tt.eval(z)
                good.append(z)
            tt.synchronize()
            _core._test_fail("launch", 0, True)
            early = 0
            for k in range(3): # too few for a graph, which asks otherwise
                z = x - (k + 1.0)
                try:
                    tt.eval(z)
                    bad.append(z)
                except RuntimeError as e: # a lone evaluation is asked for at once
                    assert "told to fail" in str(e)
                    early += 1
            tt.synchronize()
            _core._test_fail("launch", -1, False)
            assert all(np.array_equal(z.numpy(), a + k) for k, z in enumerate(good))
            for z in bad:
                try:
                    z.numpy()
                except RuntimeError as e:
                    assert "lost when a launch failed" in str(e) and "told to fail" in str(e), str(e)
                else:
                    raise AssertionError("no error")
            assert np.array_equal((x * 2.0).numpy(), a * 2)
            return len(bad)
        assert sum(fail_one() for _ in range(20)) > 0
        """
    )


def test_the_last_ones_are_asked_for_although_nobody_looks():
    run(
        """
        _core._test_fail("launch", 10**9, False)
        for turn in range(1, 6):
            for k in range(3):
                z = x + float(k)
                tt.eval(z)
            until = time.monotonic() + 20
            while _core._test_calls("launch")[0] < 3 * turn and time.monotonic() < until:
                time.sleep(0.001)
            assert _core._test_calls("launch")[0] == 3 * turn
        """
    )


def test_plans_that_are_forgotten_while_launches_wait():
    run(
        """
        kept = []
        for k in range(2000):  # more than plans are kept: each has another shape
            z = x[: k % 400 + 1] * (k // 400 + 1.0) if k % 2 else x[: k % 400 + 1] - y[: k % 400 + 1]
            tt.eval(z)
            kept.append(z)
            if k % 500 == 7:
                _core.memory_trim()
        for k, z in enumerate(kept):
            n = k % 400 + 1
            assert np.array_equal(z.numpy(), a[:n] * (k // 400 + 1.0) if k % 2 else a[:n] - b[:n]), k
        """
    )


def test_a_plan_of_many_kernels_keeps_its_graph():
    run(
        """
        kept = []
        def works(z):  # of other kernels and lengths: steps of one kernel would be one launch
            one = (lambda v: v * 2, lambda v: v + 2, lambda v: v - 2, lambda v: 2 - v, lambda v: v / 2, lambda v: -v)
            return [f(z[: n + 10]) for n, f in enumerate(one)]
        def many():
            for k in range(40):
                z = x + float(k)
                tt.eval(z)  # waits, and is asked for before the others
                several = works(z)
                tt.eval(*several)
                kept.append((k, z, several))
        seen = counted(many)
        assert seen["graph_launches"] >= 36, seen
        for k, z, several in kept:
            assert np.array_equal(z.numpy(), a + k)
            assert all(np.array_equal(s.numpy(), w) for s, w in zip(several, works(a + k), strict=True))
        """
    )
