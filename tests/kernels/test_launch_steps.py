"""Launches of users' kernels as steps of the graph: recorded, ordered with reads and writes of their arrays."""

import gc
import os
import subprocess
import sys

import numpy as np
import pytest
import tutti as tt
from tutti import _core

pytestmark = [
    pytest.mark.skipif(
        not any(os.access(os.path.join(p, c), os.X_OK) for p in os.environ["PATH"].split(":") for c in ("c++", "g++")),
        reason="no C++ compiler",
    ),
    pytest.mark.usefixtures("on_the_cpu"),  # and in programs of their own on the simulated device
]

SOURCE = r"""
#include <assert.h>
extern "C" __global__ void add_to(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = y[i] + x[i];
}
extern "C" __global__ void scale(float *y, float f, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = y[i] * f;
}
extern "C" __global__ void shift(const float *x, float *y, int n) {  // y[i] = x[i + 1]: right only one after the other
  for (int i = 0; i < n; i++) y[i] = x[i + 1];
}
extern "C" __global__ void fails_at(float *y, int k, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 7;
  assert(i != k);
}
__device__ int counter;
extern "C" __global__ void count(int *seen) { seen[0] = ++counter; }
"""
SIX = ", ".join(f"float *p{k}" for k in range(6))
ADDS = " ".join(f"p{k}[threadIdx.x] += {k};" for k in range(6))
MANY = f'extern "C" __global__ void many({SIX}) {{ {ADDS} }}'


@pytest.fixture(scope="module")
def kernels():
    m = tt.RawModule(code=SOURCE)
    names = ("add_to", "scale", "shift", "fails_at", "count")
    return {name: m.get_function(name) for name in names} | {"module": m}


def calls():
    return tt.ledger()["kernel_calls"]


def grid(n):
    return ((n + 63) // 64,), (64,)


@pytest.fixture(autouse=True)
def nothing_pending():
    tt.synchronize()
    yield
    tt.synchronize()


def test_a_launch_waits_until_somebody_looks(kernels):
    x, y = tt.ones(100, dtype="float32"), tt.zeros(100, dtype="float32")
    before = calls()
    kernels["add_to"](*grid(100), (x, y, 100))
    assert calls() == before
    np.testing.assert_array_equal(y.numpy(), np.ones(100))
    assert calls() == before + 1
    np.testing.assert_array_equal(y.numpy(), np.ones(100))
    assert calls() == before + 1  # once


@pytest.mark.parametrize("run", ["synchronize", "eval", "cuda.synchronize"])
def test_synchronising_runs_it(kernels, run):
    y = tt.ones(10, dtype="float32")
    before = calls()
    kernels["scale"](*grid(10), (y, 3.0, 10))
    {"synchronize": tt.synchronize, "eval": lambda: tt.eval(y), "cuda.synchronize": tt.cuda.synchronize}[run]()
    assert calls() == before + 1


def test_arguments_may_be_pending(kernels):
    a = tt.arange(100, dtype="float32")
    y = a * 2
    kernels["add_to"](*grid(100), (a + 1, y, 100))
    z = y.sum() + 1
    assert float(z) == float((np.arange(100) * 3 + 1).sum() + 1)


def test_between_operations_on_the_same_array(kernels):
    n = 500
    y = tt.arange(n, dtype="float32")
    want = np.arange(n, dtype="float32")
    read_before = y + 1  # recorded before the launch: the old elements
    y += 2
    kernels["scale"](*grid(n), (y, 3.0, n))
    read_after = y + 1
    y[10:20] = 0
    kernels["scale"](*grid(n), (y, 2.0, n))
    old, want = want + 1, (want + 2) * 3
    np.testing.assert_array_equal(read_after.numpy(), want + 1)
    want[10:20] = 0
    np.testing.assert_array_equal(y.numpy(), want * 2)
    np.testing.assert_array_equal(read_before.numpy(), old)


def test_the_old_value_stays_for_who_needs_it(kernels):
    y = tt.arange(64, dtype="float32")
    tt.eval(y)
    copy, seen = y.copy(), y.numpy()
    kernels["scale"](*grid(64), (y, 0.0, 64))
    assert float(abs(y).sum()) == 0
    np.testing.assert_array_equal(copy.numpy(), np.arange(64))
    np.testing.assert_array_equal(seen, np.arange(64))


def test_in_place_when_nobody_needs_it(kernels):
    y = tt.zeros(1 << 20, dtype="float32")
    kernels["scale"](*grid(1 << 20), (y, 2.0, 1 << 20))
    tt.eval(y)
    _core.memory_reset_peak()
    live = _core.memory()["allocated"]
    for _ in range(10):
        kernels["scale"](*grid(1 << 20), (y, 2.0, 1 << 20))
    tt.eval(y)
    assert _core.memory()["max_allocated"] < live + (1 << 20)


def test_views(kernels):
    a = tt.arange(40, dtype="float32").reshape(4, 10)
    want = np.arange(40, dtype="float32").reshape(4, 10)
    kernels["scale"](*grid(10), (a[2], 10.0, 10))
    kernels["add_to"](*grid(20), (a[:2], a[2:], 20))
    want[2] *= 10
    want[2:] += want[:2]
    np.testing.assert_array_equal(a.numpy(), want)
    with pytest.raises(ValueError, match="not contiguous"):
        kernels["scale"](*grid(4), (a[:, 1], 10.0, 4))
    a.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        kernels["scale"](*grid(40), (a, 10.0, 40))
    np.testing.assert_array_equal(a.numpy(), want)


def test_overlapping_views_are_one_memory(kernels):
    a = tt.arange(101, dtype="float32")
    kernels["shift"]((1,), (1,), (a[:-1], a[:-1], 99))
    want = np.arange(101, dtype="float32")
    want[:99] = want[1:100]
    np.testing.assert_array_equal(a.numpy(), want)
    b = tt.arange(100, dtype="float32")
    kernels["add_to"]((1,), (1,), (b[:50], b[50:], 50))  # one thread: only the first
    assert float(b[50]) == 50 and float(b[51]) == 51


def test_one_array_twice(kernels):
    y = tt.arange(100, dtype="float32")
    kernels["add_to"](*grid(100), (y, y, 100))
    np.testing.assert_array_equal(y.numpy(), np.arange(100) * 2)


def test_more_arrays_than_a_node_has_operands():
    k = tt.RawKernel(MANY, "many")
    arrays = [tt.full(8, 10.0 * i, dtype="float32") for i in range(6)]
    arrays[4] = arrays[4] + 1
    k((1,), (8,), tuple(arrays))
    k((1,), (8,), (*arrays[:5], arrays[0][:]))  # its own base, as the last
    got = [float(a[3]) for a in arrays]
    assert got == [0 + 0 + 0 + 5, 10 + 2, 20 + 4, 30 + 6, 41 + 8, 50 + 5]
    for _ in range(3):
        del arrays[0]
        gc.collect()
        assert float(arrays[0][0]) > 0


def test_launches_run_in_their_order(kernels):
    """They share a variable: whichever is looked at first, the first one counts first."""
    v = kernels["module"].get_global("counter")
    v.set(np.zeros(1, "int32"))
    seen = [tt.zeros(1, dtype="int32") for _ in range(5)]
    for s in seen:
        kernels["count"]((1,), (1,), (s,))
    assert int(seen[3][0]) == 4
    assert [int(s[0]) for s in seen] == [1, 2, 3, 4, 5]
    kernels["count"]((1,), (1,), (seen[0],))
    assert int(v.get("int32")[0]) == 6  # reading the variable runs what is recorded


def test_dropped_results_run_too(kernels):
    v = kernels["module"].get_global("counter")
    v.set(np.zeros(1, "int32"))
    before = calls()
    for _ in range(3):
        kernels["count"]((1,), (1,), (tt.zeros(1, dtype="int32"),))
    gc.collect()
    assert int(v.get("int32")[0]) == 3 and calls() == before + 3


def test_pending_launches_are_bounded(kernels):
    y = tt.ones(8, dtype="float32")
    before = calls()
    for _ in range(1000):
        kernels["scale"]((1,), (8,), (y, 1.0, 8))
    assert calls() > before + 900
    assert float(y.sum()) == 8 and calls() == before + 1000


def test_memory_of_the_caller_is_used_at_once(kernels):
    y, x = np.ones(10, "f4"), tt.ones(10, dtype="float32")
    kernels["scale"](*grid(10), (x, 4.0, 10))
    kernels["add_to"](*grid(10), (x, y, 10))
    np.testing.assert_array_equal(y, np.full(10, 5))


def test_errors_surface_at_the_next_look(kernels):
    y, z = tt.zeros(64, dtype="float32"), tt.zeros(64, dtype="float32")
    kernels["fails_at"]((1,), (64,), (y, 3, 64))
    kernels["scale"](*grid(64), (y, 2.0, 64))
    kernels["add_to"](*grid(64), (z + 1, z, 64))
    with pytest.raises(RuntimeError, match=r"thread \(3,0,0\): assertion failed: i != k"):
        tt.synchronize()
    assert float(y[0]) == 14  # what it wrote stays written, what came after it runs, and it is told once
    assert float(z.sum()) == 64
    kernels["fails_at"]((1,), (64,), (y, 3, 64))
    with pytest.raises(RuntimeError, match="fails_at"):
        y.numpy()
    assert float(y[0]) == 7


def test_explain_and_profile_and_ledger(kernels, recorded):
    y = tt.zeros(1000, dtype="float32")
    before = tt.ledger()
    _core.track_lines(True)
    try:
        kernels["add_to"](*grid(1000), (y + 1, y, 1000))
    finally:
        _core.track_lines(False)
    text = tt.explain(y)
    assert "launch of add_to  grid (16,1,1), block (64,1,1), on cpu:0, recorded at" in text
    assert "test_launch_steps.py" in text and "2 arrays of 0.008 MB, may write 0.004 MB" in text
    with tt.profile() as p:
        tt.eval(y)
    assert "add_to <16,1,1> <64,1,1>" in str(p)
    after = tt.ledger()
    assert after["kernel_calls"] == before["kernel_calls"] + 1 and after["launches"] > before["launches"]


def test_out_of_memory_loses_nothing(kernels):
    """The n-th allocation fails, for every n: the launch happens later, or never began."""
    for n in range(400):
        y = tt.arange(100, dtype="float32")
        tt.eval(y)
        _core._test_fail("memory", n, False)
        launched = False
        try:
            kernels["scale"](*grid(100), (y, 2.0, 100))
            launched = True
            tt.synchronize()
        except MemoryError:
            pass
        _, fired = _core._test_calls("memory")
        _core._test_fail("memory", -1, False)
        np.testing.assert_array_equal(y.numpy(), np.arange(100) * (2 if launched else 1))
        if not fired:
            break
    else:
        pytest.fail("it allocates without end")


def test_printing_stands_where_it_was_launched(tmp_path):
    program = tmp_path / "p.py"
    program.write_text(
        r"""
import tutti as tt
k = tt.RawKernel('extern "C" __global__ void say(const int *a) { printf("kernel %d\\n", a[threadIdx.x]); }', "say")
inc = tt.RawKernel('extern "C" __global__ void inc(int *a) { a[0] += 1; }', "inc")
a = tt.zeros(1, dtype="int32")
print("before")
inc((1,), (1,), (a,))
k((1,), (1,), (a,))
tt.synchronize()
print("after")
inc((1,), (1,), (a,))
k((1,), (1,), (a,))
print("end")
"""
    )
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["before", "kernel 1", "after", "kernel 2", "end"]


def test_python_kernels_wait_too():
    @tt.cuda.jit
    def scale(y, f):
        i = tt.cuda.grid(1)
        if i < y.size:
            y[i] *= f

    a = tt.arange(24, dtype="float32", device="cpu").reshape(4, 6)  # where there is a GPU too
    want = np.arange(24, dtype="float32").reshape(4, 6)
    before, launches = calls(), scale.launches
    old = a + 1
    scale[1, 32](a[1], 2.0)
    scale[1, 32](a[:, 2], 10.0)  # any steps, in place
    scale[1, 32](a[3, ::-1], -1.0)
    assert calls() == before and scale.launches == launches + 3 and scale.places == {0}
    assert "launch of scale  grid (1,1,1), block (32,1,1), on cpu:0" in tt.explain(a)
    want[1] *= 2
    want[:, 2] *= 10
    want[3] *= -1
    np.testing.assert_array_equal(a.numpy(), want)
    np.testing.assert_array_equal(old.numpy(), np.arange(24).reshape(4, 6) + 1)
    assert calls() == before + 3
    host = np.ones(5, "f4")
    scale[1, 32](host, 3.0)
    assert host[4] == 3
    with pytest.raises(TypeError, match="read-only"):
        scale[1, 32](tt.broadcast_to(tt.ones(1, dtype="float32"), (4,)), 1.0)


TABLE = np.array([5.0, 7.0, 9.0])


def test_python_kernels_read_lazy_and_global_arrays():
    @tt.cuda.jit
    def add(x, y, pair):
        i = tt.cuda.grid(1)
        if i < y.size:
            y[i] = x[i] + TABLE[i % 3] + pair[0]

    y = tt.zeros(6)
    add[1, 32](tt.arange(6) * 2, y, (1, 2.5))
    add[1, 32](y + 1, y, (1, 2.5))
    first = np.arange(6) * 2 + TABLE[np.arange(6) % 3] + 1
    np.testing.assert_array_equal(y.numpy(), first + 1 + TABLE[np.arange(6) % 3] + 1)


def test_assertions_of_python_kernels_surface_at_the_next_look():
    @tt.cuda.jit(debug=True)
    def check(y):
        i = tt.cuda.grid(1)
        if i < y.size:
            y[i] = 1
            assert i != 2, "not two"

    y = tt.zeros(4)
    check[1, 4](y)
    with pytest.raises(AssertionError, match="not two\nin check, line"):
        y.numpy()
    assert float(y[0]) == 1


def test_printing_of_python_kernels(tmp_path):
    program = tmp_path / "p.py"
    program.write_text(
        r"""
import tutti as tt

@tt.cuda.jit
def inc(a):
    a[0] += 1

@tt.cuda.jit
def say(a):
    print("kernel", a[0])

a = tt.zeros(1, dtype="int64", device="cpu")
print("before")
inc[1, 1](a)
say[1, 1](a)
print("after")
inc[1, 1](a)
say[1, 1](a)
tt.cuda.synchronize()
print("end")
"""
    )
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["before", "kernel 1", "after", "kernel 2", "end"]


def test_an_error_that_nobody_looks_for_is_told_at_the_end(tmp_path):
    program = tmp_path / "p.py"
    program.write_text(
        "import tutti as tt\n"
        "@tt.cuda.jit(debug=True)\ndef check(y):\n    assert y[0] > 0, 'never looked at'\n"
        "check[1, 1](tt.zeros(1))\n"
    )
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, timeout=120)
    assert "never looked at" in done.stderr


NULL = r"""
import sys
import warnings
import numpy as np
import tutti as tt
exec(sys.argv[1])
m = tt.RawModule(code=SOURCE)
add_to, scale, fails_at = (m.get_function(k) for k in ("add_to", "scale", "fails_at"))
d = tt.device("null:0")
x = tt.arange(200, dtype="float32", device=d)
y = x * 2
old = y + 0
n = np.arange(200, dtype="float32")
for _ in range(3):
    add_to((4,), (64,), (x + 1, y, 200))
    y[5:9] = 1
    scale((4,), (64,), (y, 0.5, 200))
want = n * 2
for _ in range(3):
    want += n + 1
    want[5:9] = 1
    want /= 2
assert y.device == d
np.testing.assert_array_equal(y.numpy(), want)
np.testing.assert_array_equal(old.numpy(), n * 2)
for _ in range(500):
    scale((4,), (64,), (y, 1.0, 200))
s, t = tt.cuda.Stream(device=d), tt.cuda.Stream(device=d)
scale((4,), (64,), (y, 2.0, 200), stream=s)
add_to((4,), (64,), (y, y, 200), stream=t)
scale((4,), (64,), (y, 0.25, 200))
np.testing.assert_array_equal(y.numpy(), want)
host = np.ones(200, "float32")
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    add_to((4,), (64,), (x, host, 200))
    add_to((4,), (64,), (x, np.ones(200, "float32"), 200))
assert [w.category for w in told] == [tt.exceptions.PerformanceWarning]
np.testing.assert_array_equal(host, n + 1)
add_to((4,), (64,), (host, host, 200), stream=s)  # one memory there too
np.testing.assert_array_equal(host, 2 * (n + 1))
add_to((1,), (50,), (host[:50], host[50:], 50), stream=s)
np.testing.assert_array_equal(host[50:100], 2 * (n[:50] + n[50:100] + 2))
scale((1,), (50,), (host[:60], 2.0, 50), stream=s)
add_to((1,), (1,), (host[:150], host[100:], 1), stream=s)  # they overlap
assert host[100] == 202 + 4 and host[49] == 200 and host[50] == 104
c = tt.ones(200, dtype="float32", device="cpu")
for args, words in (((x, c, 200), "two devices, null:0 and cpu:0"), ((c, c, 200), "its stream and its arrays")):
    try:
        add_to((4,), (64,), args, stream=None if "two" in words else s)
    except ValueError as e:
        assert words in str(e), e
    else:
        raise SystemExit("no error")
fails_at((1,), (64,), (y, 3, 64))
try:
    tt.synchronize()
except RuntimeError as e:
    assert "i != k" in str(e)
else:
    raise SystemExit("no error of the kernel")
assert tt.ledger()["device_launches"] > 500

@tt.cuda.jit
def double(x, y):
    i = tt.cuda.grid(1)
    if i < y.size:
        y[i] = 2 * x[i]

z = tt.zeros((10, 20), device=d)
double[1, 32](x[:20], z[3])
double[1, 32](x[:10] + 1, z[:, 1], )
w = np.zeros((10, 20))
w[3] = 2 * n[:20]
w[:, 1] = 2 * (n[:10] + 1)
np.testing.assert_array_equal(z.numpy(), w)
assert double.places == {d._number}
print("fine")
"""


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_on_the_null_device(seed, tmp_path):
    env = {**os.environ, "TUTTI_NULL_DEVICE": "1", "TUTTI_NULL_SEED": str(seed)}
    (tmp_path / "p.py").write_text(NULL)
    call = [sys.executable, tmp_path / "p.py", f"SOURCE = {SOURCE!r}"]
    done = subprocess.run(call, env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and done.stdout == "fine\n", done.stdout + done.stderr


THREADS = r"""
import sys
import threading
import numpy as np
import tutti as tt
INC = 'extern "C" __global__ void inc(float *y, int n) { if (threadIdx.x < n) y[threadIdx.x] += 1; }'
inc = tt.RawKernel(INC, "inc")

@tt.cuda.jit
def double(y):
    i = tt.cuda.grid(1)
    if i < y.size:
        y[i] *= 2

failed = []

def work(s, device):
    try:
        y, w = tt.zeros(60, dtype="float32", device=device), np.zeros(60, "f4")
        for r in range(60):
            for _ in range(r % 5):
                inc((1,), (64,), (y, 60))
                w += 1
            double[1, 64](y)
            y += s
            w = w * 2 + s
            if r % 4 == 0:
                y /= 1024
                w /= 1024
                if r % 8 == 0:
                    np.testing.assert_allclose(y.numpy(), w, rtol=1e-5)
        host = np.zeros(60, "f4")
        inc((1,), (64,), (host, 60))
        assert host.sum() == 60
        np.testing.assert_allclose(y.numpy(), w, rtol=1e-5)
    except BaseException as e:
        failed.append(repr(e))

threads = [threading.Thread(target=work, args=(s, tt.device(sys.argv[1 + s % 2]))) for s in range(4)]
for t in threads:
    t.start()
for t in threads:
    t.join()
print(failed)
"""


@pytest.mark.parametrize("devices", [("cpu", "null:0"), ("null:0", "null:1")])
def test_threads_launch_side_by_side(devices, tmp_path):
    (tmp_path / "p.py").write_text(THREADS)
    env = {**os.environ, "TUTTI_NULL_DEVICE": "2"}
    call = [sys.executable, tmp_path / "p.py", *devices]
    done = subprocess.run(call, env=env, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0 and done.stdout == "[]\n", done.stdout + done.stderr
