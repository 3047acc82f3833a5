"""Random programs about versions of memory (tests/fuzz/versions.py) on a GPU, with what was given back overwritten:
none differs from NumPy, none ends its process."""

import os
import pathlib
import subprocess
import sys

import pytest
import tutti as tt

if not tt.cuda.is_available():
    pytest.skip(f"no GPU: {tt.cuda.why()}", allow_module_level=True)

SCRIPT = pathlib.Path(__file__).parent.parent / "fuzz" / "versions.py"


@pytest.mark.parametrize("poison", ["0", "1"])
@pytest.mark.parametrize("words", [["--types", "int64"], ["--unfused"]], ids=["fused", "unfused"])
def test_programs(words, poison):
    env = {**os.environ, "TUTTI_DEVICE": "cuda:0", "TUTTI_POISON": poison}
    command = [sys.executable, str(SCRIPT), poison + "000", "1000", "--processes", "4", *words]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
