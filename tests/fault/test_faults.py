"""Fail the n-th call: memory, files, processes, libraries.

Whatever fails, a program ends in its value (a fallback served) or in the right exception, nothing leaks, and
the next run of it is as good as the first.
"""

import ast
import gc
import os
import shutil
import subprocess
import sys

import pytest
import tutti as tt
from programs import PROGRAMS

core = tt._core
KINDS = ("memory", "compile", "spawn", "write", "read", "load")


@pytest.fixture(autouse=True, scope="module")
def frozen():
    """Each step collects garbage: what other tests left in the process need not be walked every time."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture(autouse=True)
def disarm():
    tt.set_tier(0)
    tt.set_eager(0)  # plans are what may lose something; work at the call is failed in tests/unit/graph/test_graph.c
    yield
    tt.set_eager(-1)
    for kind in KINDS:
        core._test_fail(kind, -1, False)
    tt.set_tier(2)


def live():
    """Bytes in use once every cache that can be given back is.

    What C holds is out of the collector's sight: a class that C lets go of then is a cycle of the next round.
    """
    while gc.collect():
        pass
    tt.compile_wait()
    tt.memory_trim()
    return core._test_live()


def same(got, want):
    """Equal, floats to rounding: a fallback may sum in another order."""
    if isinstance(want, (list, tuple)):
        return len(got) == len(want) and all(same(g, w) for g, w in zip(got, want))
    if isinstance(want, (float, complex)):
        return got == want or abs(got - want) <= 1e-6 * max(abs(want), 1)
    return got == want


def attempt(kind, n, sticky, f, allowed):
    """Run with the n-th call failing: (value or None, whether it fired)."""
    value = None
    core._test_fail(kind, n, sticky)
    try:
        value = f()
    except allowed:
        pass
    finally:
        fired = core._test_calls(kind)[1]
        core._test_fail(kind, -1, False)
    return value, fired


def check_program(name, sticky, stride):
    f = PROGRAMS[name]
    want = f()
    f()
    base = live()
    n = 0
    while True:
        value, fired = attempt("memory", n, sticky, f, MemoryError)
        assert value is None or same(value, want), f"wrong value with allocation {n} failing"
        assert fired or value is not None, f"failed with nothing told to fail, at {n}"
        del value
        now = live()
        assert now <= base, f"{now - base} bytes leaked with allocation {n} failing"
        if n % 8 == 0:
            assert same(f(), want), f"wrong value after allocation {n} failed"
        if not fired:
            break
        n += stride + max(n - 100, 0) // 16  # closer to the start, where programs differ
    assert n > 0, "no allocation failed: the test tests nothing"
    assert same(f(), want)


@pytest.mark.parametrize("name", PROGRAMS)
def test_memory(name):
    check_program(name, False, 1)


@pytest.mark.parametrize("name", ["elementwise", "stores", "softmax", "matmul", "masks", "joining"])
def test_memory_stays_out(name):
    check_program(name, True, 5)


def compiled(tmp_path, *kinds):
    (tmp_path / "tmp").mkdir(exist_ok=True)
    home = os.path.dirname(os.path.dirname(os.path.abspath(tt.__file__)))
    env = dict(os.environ, PYTHONPATH=home, TUTTI_CACHE_DIR=str(tmp_path / "cache"), TMPDIR=str(tmp_path / "tmp"))
    script = os.path.join(os.path.dirname(__file__), "compiled.py")
    r = subprocess.run(
        [sys.executable, script, *kinds], env=env, capture_output=True, text=True, timeout=200, check=False
    )
    assert r.returncode == 0, r.stderr
    failed = ast.literal_eval(r.stdout[: r.stdout.index("}") + 1])
    return failed


@pytest.mark.skipif(not shutil.which(os.environ.get("TUTTI_CC") or "cc"), reason="no C compiler")
def test_compiling(tmp_path):
    failed = compiled(tmp_path, "compile", "spawn", "write", "read", "load", "memory")
    assert all(failed.values()), f"some kind was never asked: {failed}"
    # The same with what was kept on disk.
    failed = compiled(tmp_path, "write", "read", "load", "memory")
    assert failed["read"] > 0 and failed["load"] > 0
