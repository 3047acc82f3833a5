"""Ctrl-C in the middle of long work: heard within a second, once, and everything works afterwards."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

HEAD = """
import signal, sys, threading, time
import tutti as tt
rng = tt.random.default_rng(0)
n = 2500
"""
TAIL = """
    print("ended", flush=True)
except KeyboardInterrupt:
    print("heard", flush=True)
time.sleep(0.05)
print(float((tt.arange(10) + 1).sum()), float((tt.ones((300, 300)) @ tt.ones((300, 300)))[0, 0]))
"""

# What is made before, what takes long. Windows over one line are 10^12 elements of which none is a repetition to skip.
WINDOWS = "a = tt.lib.stride_tricks.sliding_window_view(tt.arange(2e6), 1_000_000)"
LONG = {
    "product": ("a = tt.ones((6000, 6000))", "tt.eval(a @ a)"),
    "product that NumPy asks for": ("import numpy as np\na = tt.ones((6000, 6000))", "np.asarray(a @ a)"),
    "product of integers": ("a = rng.integers(0, 9, (2 * n, 2 * n))", "tt.eval(a @ a)"),
    "factorization": ("a = rng.standard_normal((n, n))", "tt.eval(tt.linalg.svd(a)[1])"),
    "eigenvalues": ("a = rng.standard_normal((n, n))", "tt.eval(tt.linalg.eigh(a + a.T)[0])"),
    "sum of windows": (WINDOWS, "tt.eval(a.sum())"),
    "sums of rows": (WINDOWS, "tt.eval(a.sum(axis=1))"),
    "sums of columns": (WINDOWS, "tt.eval(a.sum(axis=0))"),
    "sort": ("a = rng.random(50_000_000)", "[tt.eval(tt.sort(a)) for _ in range(9)]"),
    "one sort": ("a = rng.random(80_000_000)", "tt.eval(tt.argsort(a))"),
    "distinct": ("a = rng.random(60_000_000)", "tt.unique(a)"),
    "places": ("a = tt.ones(100_000_000, dtype='int8')", "[tt.nonzero(a) for _ in range(9)]"),
    "transform": ("a = tt.ones(1 << 25, dtype='complex64')", "[tt.eval(tt.fft.fft(a)) for _ in range(9)]"),
    "scan": ("a = tt.ones(100_000_000, dtype='float32')", "[tt.eval(tt.cumsum(a)) for _ in range(50)]"),
    "draws": ("", "[tt.eval(rng.standard_normal(50_000_000, dtype='float32')) for _ in range(50)]"),
    "list": ("a = tt.ones(100_000_000)", "a.tolist()"),
    "from a list": ("a = [1.0] * 50_000_000", "[tt.array(a) for _ in range(9)]"),
    "text": ("a = tt.ones((1, 20_000_000))", "tt.savetxt('/dev/null', a)"),
    "packed text": ("import os\na = tt.ones((600_000, 10))", "tt.savetxt(sys.argv[1] + '/a.gz', a)"),
    "packed numbers": ("a = rng.random(60_000_000)", "tt.savez_compressed(sys.argv[1] + '/a.npz', a)"),
}
QUICK = ["factorization", "product that NumPy asks for", "sum of windows", "one sort", "transform"]


def begin(text, *args, ignored=False, **env):
    p = subprocess.Popen(
        [sys.executable, "-c", text, *args],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | env,
        # Whoever started us may ignore it, as a shell does for what runs in the background.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN if ignored else signal.SIG_DFL),
    )
    assert p.stdout.readline() == "begin\n", p.stderr.read()
    return p


def after_ctrl_c(p, delay=0.5):
    """What the program says, and how long after Ctrl-C it says the first of it."""
    try:
        time.sleep(delay)
        start = time.monotonic()
        p.send_signal(signal.SIGINT)
        first = p.stdout.readline()
        took = time.monotonic() - start
        late = threading.Timer(120, p.kill)
        late.start()
        out, err = p.stdout.read(), p.stderr.read()  # communicate would lose what came with the first line
        late.cancel()
        return first + out, err, p.wait(timeout=120), took
    finally:
        p.kill()


def program(before, work):
    return f"{HEAD}{before}\nprint('begin', flush=True)\ntry:\n    {work}{TAIL}"


def check(name, tmp_path):
    out, err, code, took = after_ctrl_c(begin(program(*LONG[name]), str(tmp_path)))
    assert out == "heard\n55.0 300.0\n", (out, err)
    assert code == 0
    return took


@pytest.mark.parametrize("name", QUICK)
def test_long_work_hears_ctrl_c(name, tmp_path):
    check(name, tmp_path)


@pytest.mark.slow
@pytest.mark.timing
@pytest.mark.parametrize("name", [name for name in LONG if name not in QUICK])
def test_all_long_work_hears_ctrl_c_within_a_second(name, tmp_path):
    assert check(name, tmp_path) < 1.5  # on a machine with others; alone it is some tenths


def test_a_compiler_that_runs_hears_ctrl_c(tmp_path):
    before = """
from tutti.compat import cupy
one = 'extern "C" __global__ void f%d(float *a, int n) { for (int k = 0; k < n; k++) a[k] = a[k] * %d.5f + k; }'
m = cupy.RawModule(code="\\n".join(one % (k, k) for k in range(1500)))"""
    p = begin(program(before, "m.get_function('f0')"), TUTTI_CACHE_DIR=str(tmp_path))
    out, err, code, took = after_ctrl_c(p, delay=1)
    assert out == "heard\n55.0 300.0\n" and code == 0, (out, err)
    assert took < 3


def test_ignored_ctrl_c_stops_nothing(tmp_path):
    work = "tt.eval(tt.linalg.svd(rng.standard_normal((700, 700)))[1])"
    work += "; [tt.eval(tt.sort(rng.random(2_000_000))) for _ in range(9)]"
    out, err, code, _ = after_ctrl_c(begin(program("", work), ignored=True), delay=0.1)
    assert out == "ended\n55.0 300.0\n" and code == 0, (out, err)


def test_a_handler_that_returns_stops_nothing():
    before = "signal.signal(signal.SIGINT, lambda *_: print('handled', flush=True))"
    work = "[tt.eval(tt.linalg.svd(rng.standard_normal((500, 500)))[1]) for _ in range(20)]"
    out, err, code, _ = after_ctrl_c(begin(program(before, work)), delay=0.1)
    assert out == "handled\nended\n55.0 300.0\n" and code == 0, (out, err)


KERNEL = """
from tutti.compat import cupy
text = '''extern "C" __global__ void f(volatile float *a, int n) {
  for (long k = 0; n < 0 || k < n * 1000000L; k++) a[0] = a[0] + 1;
}'''
f = cupy.RawModule(code=text).get_function("f")
a = cupy.zeros(4, dtype="float32")
def run(n):
    f((1,), (1,), (a, cupy.int32(n)))
    return float(a[0])
run(1)
"""


def test_a_kernel_where_ctrl_c_is_ignored():
    out, err, code, _ = after_ctrl_c(begin(program(KERNEL, "run(500)"), ignored=True, TUTTI_DEVICE="cpu"), delay=0.1)
    assert out == "ended\n55.0 300.0\n" and code == 0, (out, err)


HANDLED = (
    KERNEL
    + """
class Stop(Exception): pass
def handler(*_):
    print("handled", flush=True)
    if sys.argv[1] == "raises":
        raise Stop
signal.signal(signal.SIGINT, handler)
def run_handled(n):
    try:
        return run(n)
    except Stop:
        print("stopped", flush=True)
"""
)


def test_a_kernel_where_a_handler_returns():
    p = begin(program(HANDLED, "assert run_handled(100) == 16777216"), "returns", TUTTI_DEVICE="cpu")
    out, err, code, _ = after_ctrl_c(p, delay=0.2)
    assert out == "handled\nended\n55.0 300.0\n" and code == 0, (out, err)


def test_a_kernel_where_a_handler_raises():
    p = begin(program(HANDLED, "run_handled(-1)"), "raises", TUTTI_DEVICE="cpu")
    out, err, code, _ = after_ctrl_c(p, delay=0.2)
    assert out == "handled\nstopped\nended\n55.0 300.0\n" and code == 0, (out, err)


def test_a_kernel_in_a_daemon_thread_does_not_keep_the_process():
    text = (
        HEAD
        + KERNEL
        + (
            "threading.Thread(target=run, args=(-1,), daemon=True).start()\n"
            "time.sleep(0.5)\nprint('begin', flush=True)\nsys.exit(7)"
        )
    )
    p = begin(text, TUTTI_DEVICE="cpu")
    try:
        assert p.wait(timeout=20) == 7
    finally:
        p.kill()


def test_what_goes_on_does_not_keep_the_process():
    text = HEAD + "a = rng.standard_normal((4000, 4000))\nprint('begin', flush=True)\ntt.eval(tt.linalg.svd(a)[1])"
    p = begin(text)
    start = time.monotonic()
    _, err, code, _ = after_ctrl_c(p)
    assert code == -signal.SIGINT and "KeyboardInterrupt" in err
    assert time.monotonic() - start < 8


def test_a_daemon_thread_in_a_library_does_not_keep_the_process():
    text = HEAD + (
        "a = rng.standard_normal((4000, 4000))\n"
        "threading.Thread(target=lambda: tt.eval(tt.linalg.svd(a)[1]), daemon=True).start()\n"
        "time.sleep(0.5)\nprint('begin', flush=True)\nsys.exit(7)"
    )
    p = begin(text)
    assert p.wait(timeout=10) == 7
