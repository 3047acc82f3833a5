"""The demo is what a newcomer runs first: it must run, agree with NumPy, and leave its picture."""

import pathlib
import subprocess
import sys

DEMO = pathlib.Path(__file__).resolve().parents[2] / "examples" / "python" / "demo.py"


def test_demo(tmp_path):
    r = subprocess.run(
        [sys.executable, DEMO, "--quick", "--out", tmp_path], capture_output=True, text=True, timeout=300
    )
    assert r.returncode == 0, r.stdout + r.stderr
    assert "accuracy of 10 clusters" in r.stdout
    assert (tmp_path / "heat.png").read_bytes()[1:4] == b"PNG"
