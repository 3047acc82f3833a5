"""A thread's stack: half a megabyte of local memory is legal, what is more or recursion without end is an error."""

import os
import signal
import subprocess
import sys

import pytest
import tutti as tt

HOME = os.path.dirname(os.path.dirname(os.path.abspath(tt.__file__)))

# Local memory that no compiler can do without: it is written and read at places that data decides.
LARGE = """
extern "C" __global__ void large(const int *at, float *out, int n) {
    float local[%(floats)d];
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = 0; i < n; i++) local[i] = i * 0.5f + k;
    %(barrier)s
    local[at[k %% 4]] += 1;
    out[k] = local[at[0]] + local[n - 1];
}
"""
RECURSION = """
__device__ int deep(const int *stop, int n, volatile int *above) {
    volatile int here[16];
    here[n & 15] = n;
    int found = n == *stop ? -1 : deep(stop, n + 1, here);
    return found + 1 + here[n & 15] - n + above[n & 15] - above[n & 15];
}
extern "C" __global__ void recursion(const int *stop, int *out) {
    %(barrier)s
    int first[16] = {};
    out[threadIdx.x] = deep(stop, 0, first);
}
"""
BARRIERS = {"free": "", "block": "__syncthreads();", "warp": "if (__shfl_sync(~0u, 1, 0) != 1) return;"}
PROGRAM = """
import sys
import numpy as np, tutti as tt
TEXT = %(text)r
def run_large(n):
    at, out = tt.array(np.array([3, 5, 7, n - 1], "i4")), tt.zeros(64, dtype="f4")
    tt.RawKernel(TEXT, "large")((2,), (32,), (at, out, np.int32(n)))
    tt.synchronize()
    want = 1.5 + np.arange(64) + (np.arange(64) %% 4 == 0) + (n - 1) * 0.5 + np.arange(64) + (np.arange(64) %% 4 == 3)
    assert (np.array(out) == want.astype("f4")).all(), out
def run_recursion(n):
    out = tt.zeros(32, dtype="i4")
    tt.RawKernel(TEXT, "recursion")((1,), (32,), (tt.array(np.array([n], "i4")), out))
    tt.synchronize()
    assert (np.array(out) == n).all(), out
def fails(run, n):
    for _ in range(2):
        try:
            run(n)
        except Exception as e:
            assert "TUTTI_KERNEL_STACK" in str(e), e
        else:
            raise AssertionError("no error")
    assert (tt.arange(5) * 2).tolist() == [0, 2, 4, 6, 8]
%(code)s
"""


def python(text, code, **env):
    env = {**os.environ, "PYTHONPATH": HOME, "TUTTI_DEVICE": "cpu", **env}
    program = PROGRAM % {"text": text, "code": code}
    r = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120, env=env, check=False
    )
    assert r.returncode == 0, r.stderr


@pytest.mark.parametrize("barrier", BARRIERS)
def test_local_memory(barrier):
    floats = 512 * 1024 // 4
    text = LARGE % {"floats": floats, "barrier": BARRIERS[barrier]}
    python(text, f"run_large({floats})\nrun_large(100)")


@pytest.mark.parametrize("barrier", BARRIERS)
def test_local_memory_that_is_too_large(barrier):
    floats = (12 << 20) // 4
    text = LARGE % {"floats": floats, "barrier": BARRIERS[barrier]}
    python(text, f"fails(run_large, {floats})")
    python(text, f"run_large({floats})", TUTTI_KERNEL_STACK=str(16 << 20))


@pytest.mark.parametrize("barrier", BARRIERS)
def test_recursion(barrier):
    text = RECURSION % {"barrier": BARRIERS[barrier]}
    python(text, "run_recursion(100)\nfails(run_recursion, -1)\nrun_recursion(1000)")
    python(text, "run_recursion(100000)\nfails(run_recursion, -1)", TUTTI_KERNEL_STACK=str(64 << 20))


def test_a_thread_of_the_program_has_a_stack_for_handlers():
    text = RECURSION % {"barrier": ""}
    code = """
import threading
t = threading.Thread(target=fails, args=(run_recursion, -1))
t.start(); t.join()
"""
    python(text, code)
    python(text, "import faulthandler; faulthandler.enable()\nfails(run_recursion, -1)")


@pytest.mark.parametrize("barrier", BARRIERS)
def test_a_thread_of_the_program_with_a_small_stack(barrier):
    floats = 512 * 1024 // 4
    text = LARGE % {"floats": floats, "barrier": BARRIERS[barrier]}
    code = f"""
import threading
wrong = []
def run():
    try:
        run_large({floats})
    except BaseException as e:
        wrong.append(e)
threading.stack_size(128 << 10)
t = threading.Thread(target=run)
t.start(); t.join()
assert not wrong, wrong
"""
    python(text, code)


FAULTS = """
import ctypes, faulthandler, os, signal, sys
def bad():
    text = 'extern "C" __global__ void far(float *a) { a[1ll << 40] = 1; }'
    a = tt.zeros(4, dtype="f4")
    tt.RawKernel(text, "far")((1,), (1,), (a,))
    tt.synchronize()
def refused():
    for _ in range(2):
        try:
            bad()
        except RuntimeError as e:
            assert "memory that is not there" in str(e)
        else:
            raise AssertionError
def crash():
    os.kill(os.getpid(), signal.SIGSEGV) if sys.argv[1:] == ["sent"] else ctypes.string_at(0)
"""
READS = ["np.array(a)", "np.asarray(a)", "a.numpy()", "memoryview(a)", "a.tolist()", "repr(a)"]


def test_numpy_cannot_forget_what_failed():
    code = FAULTS.replace("tt.synchronize()", "return a")
    code += f"""
for read in {READS!r}:
    a = bad()
    try:
        eval(read)
    except RuntimeError as e:
        assert "memory that is not there" in str(e)
    else:
        raise AssertionError(read)
"""
    python("", code)


ORDERS = {
    "before": "faulthandler.enable(); refused()",
    "after": "refused(); faulthandler.enable()",
    "between": "refused(); faulthandler.enable(); refused()",
    "again": "refused(); faulthandler.enable(); refused(); faulthandler.disable(); refused(); faulthandler.enable()",
    "off": "faulthandler.enable(); refused(); faulthandler.disable(); refused()",
}


@pytest.mark.parametrize("how", ["real", "sent"])
@pytest.mark.parametrize("order", ORDERS)
def test_a_crash_elsewhere_looks_as_without_us(order, how):
    """What kernels do wrong says nothing to a handler of crashes; what crashes elsewhere ends there as it would."""
    program = PROGRAM % {"text": "", "code": FAULTS + ORDERS[order] + "\nprint('so far', flush=True)\ncrash()"}
    env = {**os.environ, "PYTHONPATH": HOME, "TUTTI_DEVICE": "cpu"}
    r = subprocess.run(
        [sys.executable, "-c", program, how], capture_output=True, text=True, timeout=120, env=env, check=False
    )
    assert r.stdout == "so far\n" and r.returncode == -signal.SIGSEGV, r.stderr
    dumps = [0] if order == "off" else [1, 2] if order == "again" else [1]
    assert r.stderr.count("Fatal Python error: Segmentation fault") in dumps, r.stderr
