"""The first evaluation of a process is quick: the machine is measured when something hangs on it, once."""

import glob
import os
import re
import subprocess
import sys

import pytest
import tutti as tt

HOME = os.path.dirname(os.path.dirname(os.path.abspath(tt.__file__)))


def python(code, cache, **env):
    env = {**os.environ, "PYTHONPATH": HOME, "TUTTI_CACHE_DIR": str(cache), **env}
    r = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, env=env, check=False)
    assert r.returncode == 0, r.stderr
    return r.stdout


# Processor time, so that a busy machine does not count.
FIRST = """
import time, resource
import tutti as tt
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
t = time.process_time()
tt.eval(tt.arange(%d.0) + 1)
print(time.process_time() - t, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)
"""


@pytest.mark.parametrize("n", [1, 100, 10000])
@pytest.mark.parametrize("threads", ["", "1", "2"])
def test_first_evaluation(n, threads, tmp_path):
    runs = [[float(x) for x in python(FIRST % n, tmp_path, TUTTI_NUM_THREADS=threads).split()] for _ in range(4)]
    assert runs[0][0] < 0.010, "with a new cache folder"
    assert min(seconds for seconds, _ in runs[1:]) < 0.005
    assert max(megabytes for _, megabytes in runs) < 20


INFO = "import tutti as tt; print(tt.info())"


def memory_line(text):
    return re.search(r"memory [0-9.]+ GB/s, launch [0-9.]+ us", text).group()


def test_figures_are_kept(tmp_path):
    first = memory_line(python(INFO, tmp_path))
    assert len(glob.glob(f"{tmp_path}/costs-cpu-*")) == 1
    assert memory_line(python(INFO, tmp_path)) == first
    python(INFO, tmp_path, TUTTI_NUM_THREADS="3")
    assert len(glob.glob(f"{tmp_path}/costs-cpu-*")) == 2


@pytest.mark.parametrize("text", ["", "4 1e999 3", "4 -1 4", "4 nan nan", "3 8 5000", "4 8", "x" * 100000, "4 0 0"])
def test_figures_that_are_none_are_measured_anew(text, tmp_path):
    python(INFO, tmp_path)
    (path,) = glob.glob(f"{tmp_path}/costs-cpu-*")
    with open(path, "w") as f:
        f.write(text)
    assert float(memory_line(python(INFO, tmp_path)).split()[1]) > 0
    with open(path) as f:
        version, *figures = f.read().split()
    assert version == "4" and len(figures) == 2 and all(float(x) > 0 for x in figures)


def test_figures_that_cannot_be_kept(tmp_path):
    python(INFO, tmp_path)
    (path,) = glob.glob(f"{tmp_path}/costs-cpu-*")
    os.remove(path)
    os.mkdir(path)
    assert "GB/s" in python(INFO, tmp_path)
    assert "GB/s" in python(INFO, "/dev/null/no/such")


def test_a_prediction_is_by_what_was_measured(tmp_path):
    code = "import tutti as tt; print(tt.explain(tt.ones(10_000_000) + 1))"
    milliseconds = [float(re.search(r"([0-9.]+) ms", python(code, tmp_path)).group(1)) for _ in range(2)]
    assert milliseconds[0] == milliseconds[1] > 0
    assert glob.glob(f"{tmp_path}/costs-cpu-*")
