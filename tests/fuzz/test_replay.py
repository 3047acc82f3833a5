"""Plans and kernels of 200 programs are what is kept in tests/replay (tools/replay.py rewrites them)."""

import pathlib
import subprocess
import sys

TOOL = pathlib.Path(__file__).resolve().parent.parent.parent / "tools" / "replay.py"


def test_plans_and_kernels_are_those_that_are_kept():
    done = subprocess.run([sys.executable, str(TOOL)], capture_output=True, text=True)
    assert done.returncode == 0, "tools/replay.py --write keeps the new ones:\n" + done.stdout[-6000:] + done.stderr
