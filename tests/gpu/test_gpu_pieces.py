"""Work in pieces on a GPU: the programs of the simulated device's test, with room for everything and without."""

import os
import subprocess
import sys

import pytest
import tutti as tt

if not tt.cuda.is_available():
    pytest.skip(f"no GPU: {tt.cuda.why()}", allow_module_level=True)

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = open(os.path.join(os.path.dirname(HERE), "device", "test_null_pieces.py")).read()
PROGRAM = PROGRAM.split('PROGRAM = """')[1].split('"""')[0].replace('"null"', '"cuda"')


@pytest.mark.parametrize("limit", [0, 8 << 20], ids=["room", "windows"])
@pytest.mark.parametrize("stream", [False, True], ids=["own", "users stream"])
def test_same_bits(limit, stream):
    code = f"""
tt.cuda.set_memory_limit({limit})
for name in PROGRAMS:
    check(name, owned=name in "chain rows softmax".split())
"""
    if stream:
        code = "\nwith tt.cuda.Stream():\n    " + code.strip().replace("\n", "\n    ")
    code += "\nprint(tt.ledger()['streamed'])"
    env = {**os.environ, "TUTTI_POISON": "1", "TUTTI_DEVICE": "auto"}
    done = subprocess.run([sys.executable, "-c", PROGRAM + code], env=env, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    assert not limit or int(done.stdout) >= 5  # with room it depends on what was measured of the machine


def test_far_pieces():
    """Where a piece lies beyond what 32 bits count, its indices are wide."""
    code = """
import numpy as np, tutti as tt
tt.cuda.set_memory_limit(1 << 30)
n = (1 << 32) + 12345
a = np.resize(np.arange(251, dtype="u1"), n)
x = (tt.asarray(a, copy=False) + 1).to("cuda")
host = np.asarray(memoryview(x))
assert tt.ledger()["streamed"] >= 1 and tt.ledger()["fallbacks"] == 0
for lo in (0, (1 << 31) - 500, (1 << 32) - 500, n - 1000):
    assert (host[lo : lo + 1000] == a[lo : lo + 1000] + 1).all(), lo
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr[-3000:]
