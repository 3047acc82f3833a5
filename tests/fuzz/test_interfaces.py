"""Random objects that lie about their memory: errors of Python's or right elements, and never a crash."""

import os
import subprocess
import sys

import pytest
import tutti as tt

HOME = os.path.dirname(os.path.dirname(os.path.abspath(tt.__file__)))
HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = """
import faulthandler, sys, warnings
faulthandler.enable()
warnings.simplefilter("ignore")
import interfaces
taken = 0
for seed in range(*map(int, sys.argv[1:])):
    sys.stderr.write(f"seed {seed}\\r")  # unbuffered: the last one is whose crash it was
    taken += interfaces.attempt(seed)
print(taken)
"""
SEEDS = 2500


@pytest.mark.parametrize("part", range(2))
def test_interfaces_that_lie(part):
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([HOME, HERE]), "TUTTI_DEVICE": "cpu"}
    args = [str(part * SEEDS), str((part + 1) * SEEDS)]
    r = subprocess.run(
        [sys.executable, "-c", PROGRAM, *args], capture_output=True, text=True, timeout=300, env=env, check=False
    )
    assert r.returncode == 0, r.stderr[-3000:]
    assert int(r.stdout) > SEEDS // 10
