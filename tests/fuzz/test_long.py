"""Pending work of any length ends: loops of many turns that nobody looks at, of named and of random bodies."""

import json
import os
import subprocess
import sys

import long
import pytest

HERE = os.path.dirname(__file__)
HOME = os.path.dirname(os.path.dirname(long.tt.__file__))
TURNS = 1000
SEEDS = 12
# A turn costs some microseconds; the rest of these seconds is a busy machine's.
SLOWER, SECONDS = 15, 1.5
KERNELS = 100
MEGABYTES = 600  # of a compiler: half a gigabyte is the text of hundreds of sines


@pytest.mark.parametrize("name", [f.__name__ for f in long.NAMED] + list(range(SEEDS)))
def test_long(name, tmp_path):
    env = {**os.environ, "PYTHONPATH": HOME, "TUTTI_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, os.path.join(HERE, "long.py"), str(name), str(TURNS)]
    r = subprocess.run(command, capture_output=True, text=True, timeout=200, env=env, check=False)
    assert r.returncode == 0, r.stderr
    d = json.loads(r.stdout)
    assert d["same"], d
    assert d["pending"] < SLOWER * d["apart"] + SECONDS, d
    assert d["kernels"] < KERNELS and d["child_mb"] < MEGABYTES and d["mb"] < MEGABYTES, d


def test_leaving_does_not_wait(tmp_path):
    """Not even for a compiler that takes for ever, where evaluation, synchronization and exit come right after."""
    cc = tmp_path / "cc"
    cc.write_text("#!/bin/sh\nsleep 100\n")
    cc.chmod(0o755)
    code = """
import tutti as tt
a = tt.arange(100000, dtype="float32") / 1e5
for k in range(600):
    a = tt.sin(a)
tt.eval(a)
tt.synchronize()
tt.device("cpu").synchronize()
"""
    env = {**os.environ, "PYTHONPATH": HOME, "TUTTI_CC": str(cc)}
    env["TUTTI_CACHE_DIR"] = str(tmp_path / "cache")
    r = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=20, env=env, check=False)
    assert r.returncode == 0, r.stderr
