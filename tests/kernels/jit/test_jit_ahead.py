"""A compiler is started when a function is decorated, and only for one that is new to the machine."""

import os
import shutil
import subprocess
import sys
import time

import pytest

pytestmark = pytest.mark.skipif(not (shutil.which("gcc") or shutil.which("clang")), reason="no C compiler")

PROGRAM = """
import time
import tutti as tt

@tt.njit
def total(a):
    s = 0.0
    for x in a:
        s += x
    return s

@tt.njit
def twice(x):
    return 2 * x
"""


@pytest.fixture
def run(tmp_path):
    log = tmp_path / "log"
    cc = tmp_path / "cc"
    real = shutil.which("gcc") or shutil.which("clang")
    cc.write_text(f'#!/bin/sh\nfor a; do case $a in *.c) f=$a;; esac; done\n'
                  f'echo $$ $(grep -c /dev/stdin $f) >> {log}\nexec {real} "$@"\n')  # fmt: skip
    cc.chmod(0o700)

    def run(end):
        """(process, did it wait for its text) of each compiler that ran."""
        program = tmp_path / "program.py"
        program.write_text(PROGRAM + end)
        log.write_text("")
        env = {**os.environ, "TUTTI_CC": str(cc), "TUTTI_CACHE_DIR": str(tmp_path / "cache")}
        env["TUTTI_JIT_TIER"] = "compiled"  # else calls end before a compiler does
        r = subprocess.run([sys.executable, program], env=env, capture_output=True, text=True, timeout=100)
        assert r.returncode == 0, r.stderr
        return r.stdout, [
            (int(p), waits == "1") for p, waits in (line.split() for line in log.read_text().splitlines())
        ]

    return run


CALLS = "time.sleep(0.2)\nprint(total([1.0, 2.0]), twice(4))"


def test_functions_are_compiled_by_a_compiler_that_waited(run):
    out, compilers = run("import numpy as np\n" + CALLS.replace("[1.0, 2.0]", "np.array([1.0, 2.0])"))
    assert out == "3.0 8\n"
    assert [waited for _, waited in compilers] == [True, True]


def test_none_is_started_for_known_functions(run):
    calls = "import numpy as np\n" + CALLS.replace("[1.0, 2.0]", "np.array([1.0, 2.0])")
    run(calls)
    assert run(calls) == ("3.0 8\n", [])


def test_one_waits_for_functions_that_are_never_called(run):
    out, compilers = run("time.sleep(0.2)")
    assert [waited for _, waited in compilers] == [True]
    for _ in range(100):
        if not os.path.exists(f"/proc/{compilers[0][0]}"):
            return
        time.sleep(0.05)
    raise AssertionError("the compiler lives on")


def test_it_hears_of_an_end_without_a_word(run):
    out, compilers = run("import os\ntime.sleep(0.2)\nos._exit(0)")
    for _ in range(100):
        if not os.path.exists(f"/proc/{compilers[0][0]}"):
            return
        time.sleep(0.05)
    raise AssertionError("the compiler lives on")
