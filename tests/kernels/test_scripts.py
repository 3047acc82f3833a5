"""The scripts in examples/python/scripts, which know of other libraries only, run by `python -m tutti run`."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "examples" / "python" / "scripts"
SAID = {
    "pycuda_add.py": ["the same as NumPy's: True"],
    "pycuda_multiply.py": ["largest difference: 0.0", "four times: True sum of squares: 1625.12"],
    "pyopencl_add.py": ["it took time: True", "the same as NumPy's: True", "by arrays: True"],
    "pyopencl_kernels.py": [
        "combined: [ 1.  3.  5.  7.  9. 11. 13. 15. 17. 19.]", "product: 615.0 615.0", "sums: [ 0  1  3  6 10 15]",
        "large: [11. 13. 15. 17. 19.]",
    ],
    "numba_add.py": ["device arrays: True", "host arrays: True", "counted up: [ 1  2  3  4  5  6  7  8  9 10]"],
    "numba_print.py": [
        *["a thread says hello"] * 3, "the host says hello", *"012345", "the host counts too: 0 1 2 3 4 5",
    ],
    "numba_20_million.py": ["both are right: True"],
    "keras_line.py": ["a line: 2.0 x + 1.0", "weights: kernel, bias"],
    "cupy_arrays.py": [
        "norm: 7.0", "product agrees: True", "differences: [1.0, 0.0, 1.0, 2.0]", "largest: 7.0",
        "filled: [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5]",
    ],
}  # fmt: skip
KERNELS = {  # expressions are no kernels of their own: they fuse with what is around them
    "pycuda_add.py": ["vector_add"], "pycuda_multiply.py": ["multiply"], "numba_add.py": ["add", "count_up"],
    "pyopencl_add.py": ["add"],
    "pyopencl_kernels.py": ["combine", "reduce_kernel_pieces", "scan_finish", "choose_finish"],
    "numba_print.py": ["everyone", "some"], "numba_20_million.py": ["add"], "cupy_arrays.py": ["fill"],
    "keras_line.py": [],
}  # fmt: skip


def run(script, *arguments, **settings):
    return subprocess.run(
        [sys.executable, "-m", "tutti", "run", SCRIPTS / script, *arguments],
        capture_output=True, text=True, timeout=120, env=os.environ | settings,
    )  # fmt: skip


def in_order(lines):
    """Blocks print in any order, their numbers here between what the host says."""
    return [*lines[:4], *sorted(lines[4:10]), *lines[10:]] if "the host says hello" in lines else lines


def test_every_script_is_here():
    assert {p.name for p in SCRIPTS.glob("*.py")} == set(SAID) == set(KERNELS)


@pytest.mark.skipif(not (shutil.which("c++") or shutil.which("g++")), reason="no C++ compiler")
@pytest.mark.parametrize("script", SAID)
def test_scripts_run_unchanged(script):
    arguments = ["100000"] if "million" in script else []
    done = run(script, *arguments)
    lines = done.stdout.splitlines()
    if script == "numba_20_million.py":
        assert lines.pop(0).startswith("100,000 additions: ")
    assert in_order(lines) == SAID[script], done.stderr
    for kernel in KERNELS[script]:
        assert f"kernel   {kernel} " in done.stderr, done.stderr


def test_kernels_run_in_python_where_numbas_simulator_was_asked_for():
    done = run("numba_print.py", NUMBA_ENABLE_CUDASIM="1")
    assert done.stdout.splitlines() == SAID["numba_print.py"], done.stderr
    assert "in Python" in done.stderr


def test_a_device_can_be_asked_for():
    done = subprocess.run(
        [sys.executable, "-m", "tutti", "run", "--device", "cpu", SCRIPTS / "numba_print.py"],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert in_order(done.stdout.splitlines()) == SAID["numba_print.py"] and "on the CPU" in done.stderr


MODULES = """
import cupy.fft, cupy.linalg as la, cupyx
from cupy.fft import rfft
from cupy.lib.stride_tricks import sliding_window_view
from cupy.polynomial.polynomial import polyval
import cupy as cp, tutti
print(la.norm(cp.array([3.0, 4.0])), len(rfft(cp.arange(8.0))), polyval(cp.array([2.0]), [1, 2]).tolist())
print(sliding_window_view(cp.arange(4), 2).shape, cupy.fft is tutti.fft, tutti.fft.__spec__.name, cupyx.__name__)
for name in ("cupy._core", "cupy.lib.numbers", "cupy.sys"):
    try:
        __import__(name)
    except ImportError as e:
        print(str(e).partition(" (")[0])
"""


def test_modules_that_are_arrays_own_are_imported_by_name(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(MODULES)
    done = subprocess.run(
        [sys.executable, "-m", "tutti", "run", "--as", "cupy", script], capture_output=True, text=True, timeout=120
    )
    assert done.stdout.splitlines() == [
        "5.0 5 [5.0]", "(3, 2) True tutti.fft tutti.compat.cupyx",
        *(f"tutti does not cover {name}" for name in ("cupy._core", "cupy.lib.numbers", "cupy.sys")),
    ], done.stderr  # fmt: skip


def test_other_finders_of_numba_cuda_are_left_alone(tmp_path):
    """One that takes every name with numba.cuda in it for its own stands in for that of numba-cuda."""
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\n"
        "class Finder:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if 'numba.cuda' in name:\n"
        "            raise RecursionError(name)\n"
        "sys.meta_path.insert(0, Finder())\n"
    )
    script = tmp_path / "script.py"
    script.write_text(
        "from numba import cuda\nimport numba.cuda.random\n"
        "try:\n    import numba.cuda.nothing\nexcept ImportError as e:\n    print(e)\n"
    )
    settings = {"PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run(
        [sys.executable, "-m", "tutti", "run", script], capture_output=True, text=True, timeout=120,
        env=os.environ | settings,
    )  # fmt: skip
    assert "tutti does not cover numba.cuda.nothing" in done.stdout, done.stderr
    done = subprocess.run(
        [sys.executable, "-c", "import tutti.compat.numba.cuda.random; from tutti.compat.numba import cuda"],
        capture_output=True, text=True, timeout=120, env=os.environ | settings,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_what_exec_makes_keeps_its_source(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "from __future__ import annotations\n"
        "import numpy as np\nfrom numba import cuda\n"
        "made = {}\n"
        "for name, op in (('twice', '*'), ('more', '+')):\n"
        "    text = f'def {name}(x: unknown_type, out):\\n    i = cuda.grid(1)\\n    out[i] = x[i] {op} 2\\n'\n"
        "    exec(text, globals(), made)\n"
        "    made[name].__name__ = name + '_of_two'\n"
        "for fn in made.values():\n"
        "    x, out = np.arange(3.0), np.zeros(3)\n    cuda.jit(fn)[1, 3](x, out)\n    print(*out)\n"
        "def inside():\n    here = 3\n    exec('print(here + 1)')\n"
        "inside()\n"
        "try:\n    exec('1 / 0')\nexcept ZeroDivisionError as e:\n    print(e)\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "tutti", "run", "--device", "cpu", script], capture_output=True, text=True, timeout=120
    )
    assert done.stdout.splitlines() == ["0.0 2.0 4.0", "2.0 3.0 4.0", "4", "division by zero"], done.stderr
