"""The demo is what a newcomer runs first: it must run, agree with NumPy, and leave its picture."""

import os
import pathlib
import re
import subprocess
import sys

DEMO = pathlib.Path(__file__).resolve().parents[3] / "examples" / "python" / "demo.py"


def demo(tmp_path, **settings):
    r = subprocess.run(
        [sys.executable, DEMO, "--quick", "--out", tmp_path], capture_output=True, text=True, timeout=300,
        env=os.environ | settings,
    )  # fmt: skip
    assert r.returncode == 0, r.stdout + r.stderr
    return r.stdout


def test_demo(tmp_path):
    out = demo(tmp_path)
    assert "accuracy of 10 clusters" in out
    assert re.search(r"regression, 100 epochs .*loss \d", out) and re.search(r"digits by convolution.* right\n", out)
    assert re.search(r"letters by a transformer.* of letters right\n +it writes: The ", out)
    for picture in "heat.png", "training.png":
        assert (tmp_path / picture).read_bytes()[1:4] == b"PNG"
    kernels = out[out.index("\nkernel ") :]
    rows = re.findall(r"(?m)^(\S.*?) (?:cpu|cuda):\d .* ms .* (yes|NO)$", kernels)
    assert {verdict for _, verdict in rows} <= {"yes"}
    if "skipped" not in kernels:
        assert {name.strip() for name, _ in rows} >= {
            "add 10,000, CUDA C", "multiply 10,000, CUDA C", "add 10,000, Python", "increment 10,000 in place, Python",
            "8 threads print, Python", "8 threads print, 5 may, Python", "add 10,000, host arrays, Python",
            "add 10,000, device arrays, Python",
        }  # fmt: skip
        said = [sorted(line.split(", ")) for line in re.findall(r"said: (.*)", kernels)]
        places = 1 + ("cuda:0" in kernels)  # each program runs on all of them, one after the other
        first, second = [f"thread {i}" for i in range(8)], [f"element {i}" for i in range(5)]
        assert said == [first] * places + [second] * places
    assert ("cuda:0" in kernels) != ("no GPU here" in kernels)


def test_the_demo_says_what_it_skips_and_why(tmp_path):
    kernels = demo(tmp_path, TUTTI_CC="none", TUTTI_CXX="none", TUTTI_DEVICE="cpu", TUTTI_CUDA="none")
    assert re.search(r"skipped, CUDA C on the CPU needs a C\+\+ compiler.*: add 10,000, CUDA C; multiply", kernels)
    assert re.search(r"skipped, no C compiler: TUTTI_CC=none: add 10,000, Python; increment", kernels)
