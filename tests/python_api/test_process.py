"""Processes and threads: import without NumPy, the command line, threads, signals, leaks."""

import os
import subprocess
import sys
import textwrap
import threading

import pytest
import tutti as tt

HOME = os.path.dirname(os.path.dirname(os.path.abspath(tt.__file__)))


def python(code, *args, **env):
    command = [sys.executable, *args, "-c", textwrap.dedent(code)]
    environment = {**os.environ, "PYTHONPATH": HOME, **env}
    return subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment, check=False)


NO_NUMPY = """
import sys
class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "numpy":
            raise ImportError("blocked: " + name)
sys.meta_path.insert(0, Blocker())
"""


def test_everything_but_numpy_works_without_numpy():
    r = python(
        NO_NUMPY
        + """
import pickle, tutti as tt
a = tt.array([[1, 2], [3, 4]], dtype="float32")
b = (a * 2 + 1)[:, ::-1]
assert b.tolist() == [[5, 3], [9, 7]]
assert repr(b) == "array([[5., 3.],\\n       [9., 7.]], dtype=float32)"
assert memoryview(b).tolist() == b.tolist()
assert tt.from_dlpack(b).tolist() == b.tolist()
assert pickle.loads(pickle.dumps(b, 5)).tolist() == b.tolist()
assert bool((a == a).all()) and float(a.sum()) == 10
try:
    a.sum(axis=5)
except ValueError as e:
    assert isinstance(e, IndexError) and isinstance(e, tt.AxisError)
else:
    raise AssertionError
try:
    a.numpy()
except ImportError as e:
    assert "numpy" in str(e)
else:
    raise AssertionError
assert "numpy" not in sys.modules
print("done")
"""
    )
    assert r.stdout == "done\n", r.stderr


@pytest.mark.timing
def test_import_is_lean():
    """What an import does is counted, for time depends on the machine: modules, and calls of functions."""
    r = python("""
        import sys
        before, calls = set(sys.modules), 0
        def count(frame, event, arg):
            global calls
            calls += event in ("call", "c_call")
        sys.setprofile(count)
        import tutti
        sys.setprofile(None)
        new = sorted(set(sys.modules) - before)
        for heavy in "numpy argparse re enum threading functools dataclasses typing inspect".split():
            assert heavy not in new, heavy
        assert len(new) < 30, new
        assert calls < 10_000, calls
        """)
    assert r.returncode == 0, r.stderr


def test_names_that_come_later():
    r = python("""
        import sys, tutti
        assert "tutti._jit.cuda_names" not in sys.modules and "tutti.kernel" not in sys.modules
        assert all(hasattr(tutti, name) for name in tutti.__all__) and tutti.kernel.RawKernel is tutti.RawKernel
        assert {"jit", "grid", "Stream"} <= set(dir(tutti.cuda))
        from tutti.cuda import *
        assert threadIdx is tutti.cuda.threadIdx and jit is tutti.cuda.jit
        try:
            tutti.cuda.nonsense
        except AttributeError as e:
            assert "nonsense" in str(e)
        else:
            raise AssertionError("no error")
        """)
    assert r.returncode == 0, r.stderr


def test_command_line():
    def run(*args, **env):
        environment = {**os.environ, "PYTHONPATH": HOME, **env}
        return subprocess.run(
            [sys.executable, "-m", "tutti", *args],
            capture_output=True,
            text=True,
            timeout=120,
            env=environment,
            check=False,
        )

    info = run("info")
    assert info.returncode == 0 and "cpu" in info.stdout.lower(), info.stderr
    assert "add" in run("ops").stdout.split()
    assert run("nonsense").returncode == 2


def test_cache_clear(tmp_path):
    """What we keep is counted and removed; a file of somebody else's in the same folder stays."""

    def cache(action, **env):
        env = {**os.environ, "PYTHONPATH": HOME} | env
        r = subprocess.run(
            [sys.executable, "-m", "tutti", "cache", action], capture_output=True, text=True, env=env, timeout=60
        )
        return r.stdout or r.stderr

    kept = tmp_path / "tutti"
    for name in ("kernels/entry", "programs/entry.ttp", "known", "costs-cuda-2", "thesis.tex", "kernels/sub/mine"):
        (kept / name).parent.mkdir(parents=True, exist_ok=True)
        (kept / name).write_bytes(b"12345")
    here = {"TUTTI_CACHE_DIR": str(kept)}
    assert cache("show", **here) == f"{kept}: holds 4 files, 20 bytes\n"
    assert cache("show", TUTTI_CACHE_DIR="", XDG_CACHE_HOME=str(tmp_path)) == f"{kept}: holds 4 files, 20 bytes\n"
    assert cache("clear", **here) == f"{kept}: removed 4 files, 20 bytes\n"
    assert cache("show", **here) == f"{kept}: holds 0 files, 0 bytes\n"
    assert sorted(p.name for p in kept.rglob("*") if p.is_file()) == ["mine", "thesis.tex"]
    assert "no folder" in cache("show", TUTTI_CACHE_DIR="", XDG_CACHE_HOME="", HOME="")


def test_bad_device_variable():
    r = python("import tutti", TUTTI_DEVICE="cuda:63")
    assert r.returncode != 0 and "no such device" in r.stderr
    assert python("import tutti", TUTTI_DEVICE="cpu").returncode == 0


def test_interpreter_end_with_arrays_alive():
    r = python("""
        import tutti as tt, numpy as np
        a = np.ones(1000); a.flags.writeable = False
        x = tt.asarray(a) + 1
        m = memoryview(x)
        keep = [x, m, x.__dlpack__(max_version=(1, 0)), np.asarray(x)]
        """)
    assert r.returncode == 0 and not r.stderr, r.stderr


# ---- threads


def test_threads_record_and_compute():
    base, wrong = tt.array([float(k) for k in range(1000)]), []

    def work(seed):
        for k in range(60):
            x = base * seed + k
            x[3] = -1
            if x[10].item() != 10 * seed + k or x.tolist()[3] != -1:
                wrong.append((seed, k))

    threads = [threading.Thread(target=work, args=(s,)) for s in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_one_array_in_many_threads():
    x = tt.array([1.0] * 500)
    for _ in range(50):
        x = x + 1
    seen = []
    threads = [threading.Thread(target=lambda: seen.append(x[7].item())) for _ in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert seen == [51.0] * 6


LONG = """
import threading, time, tutti as tt
x = tt.ndarray((4000, 4000)); x[...] = 0.5; tt.eval(x)  # memory, not a constant
def work():
    y = x
    for k in range(40):
        y = tt.sin(y) + tt.exp(y * 0.25) * 0.1
    return y
"""


def test_the_interpreter_runs_while_kernels_do():
    r = python(
        LONG
        + """
ticks, done = [], threading.Event()
def tick():
    while not done.is_set():
        ticks.append(time.perf_counter())
        time.sleep(0.005)
t = threading.Thread(target=tick); t.start()
start = time.perf_counter()
tt.eval(work())
took = time.perf_counter() - start
done.set(); t.join()
inside = [s for s in ticks if start < s < start + took]
print(len(inside) > took / 0.05)
"""
    )
    assert r.stdout == "True\n", (r.stdout, r.stderr)


def test_ctrl_c_ends_a_long_evaluation():
    r = python(
        LONG
        + """
import os, signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever started us may ignore it
y = work()
threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
start = time.perf_counter()
try:
    while time.perf_counter() - start < 20:
        tt.eval(work())
except KeyboardInterrupt:
    print("interrupted", time.perf_counter() - start < 5)
print((x[0, 0] + 1).item())
"""
    )
    assert r.stdout == "interrupted True\n1.5\n", (r.stdout, r.stderr)


@pytest.mark.parametrize("n", [255, 256, 257, 513, 3000])
def test_long_chains(n):
    a = b = tt.array([1.0, 2.0])
    for _ in range(n):
        a = a + 1
        b = b * 1.0 + tt.array([1.0, 1.0])
    assert a.tolist() == b.tolist() == [n + 1, n + 2]


# ---- leaks


def test_nothing_leaks():
    def work():
        a = tt.array([[1.0, 2.0], [3.0, 4.0]])
        b = a + [1, 2]
        b[0] = 5
        b += a.T
        repr(b), b.tolist(), b[b > 2], b[[0, 1]], b[..., None]
        for bad in (
            lambda: a + tt.array([1, 2, 3]),
            lambda: a[9],
            lambda: tt.array([[1], [1, 2]]),
            lambda: a.reshape(3),
            lambda: a + "x",
        ):
            with pytest.raises((ValueError, IndexError, TypeError)):
                bad()

    for _ in range(20):
        work()
    tt.compile_wait()  # kernels of other tests that are still being compiled take memory too
    before = tt._core._test_live()
    for _ in range(100):
        work()
    tt.compile_wait()
    assert tt._core._test_live() - before < 4096


def test_out_of_memory_is_an_exception():
    a = tt.array([1.0, 2.0])
    with pytest.raises((MemoryError, ValueError)):
        tt.eval(tt.ndarray((2**40, 2**20)) + 1)
    assert (a + 1).tolist() == [2, 3]


@pytest.mark.parametrize("n", range(0, 60, 3))
def test_failing_allocations(n):
    a = tt.array([1.0, 2.0, 3.0])
    tt._core._test_fail("memory", n, False)
    try:
        (a * 2 + [1, 2, 3])[::-1].tolist()
    except MemoryError:
        pass
    finally:
        tt._core._test_fail("memory", -1, False)
    assert (a + 1).tolist() == [2, 3, 4]


FAKE_DRIVER = os.path.join(os.path.dirname(HOME), "tests", "libfake_cuda.so")


@pytest.mark.skipif(not os.path.exists(FAKE_DRIVER), reason="no stand-in for the driver was built")
def test_waiting_does_not_load_the_driver():
    """Which takes long, and a program of the CPU's has no use for it."""
    r = python(
        """
        import tutti as tt
        tt.eval(tt.ones(3) + 1)
        tt.synchronize()
        assert "libfake_cuda" not in open("/proc/self/maps").read()
        tt.devices()
        assert "libfake_cuda" in open("/proc/self/maps").read()
        """,
        TUTTI_CUDA=FAKE_DRIVER,
    )
    assert r.returncode == 0, r.stderr


# ---- insight


def test_ledger():
    book = tt.ledger()
    tt.eval(tt.arange(5000.0) + 1)
    after = tt.ledger()
    assert after["evaluations"] > book["evaluations"] and after["nodes"] > book["nodes"]
    assert "kernels launched" in str(after)
    after.reset()
    assert tt.ledger()["evaluations"] == 0


def test_strict():
    with tt.strict("copy"), pytest.raises(tt.exceptions.StrictError):
        tt.array(memoryview(b"1234"))
    tt.array(memoryview(b"1234"))
    with pytest.raises(ValueError, match="nothing"):
        tt.strict("nothing")


def test_profile(tmp_path):
    import json

    with tt.profile() as p:
        tt.eval(tt.array([1.0, 2.0]) * 3)
    p.save(tmp_path / "trace.json")
    trace = json.loads((tmp_path / "trace.json").read_text())
    steps = [e for e in trace["traceEvents"] if e["ph"] == "X"]
    assert [e["name"] for e in steps] == ["mul"] and steps[0]["dur"] > 0 and steps[0]["args"]["bytes"] == 32
    assert p.table() == str(p) and p.table()


def test_explain_and_settings():
    assert "gives float64[5000]" in tt.explain(tt.arange(5000.0) + 1)
    assert "gives float64[]\n" in tt.explain(tt.arange(5000.0).sum())
    assert "float64 of 1 elements, done at the call" in tt.explain(tt.array([1.0]) + 1)
    assert "gives int64[2, 3]\n" in tt.explain(tt.zeros((2, 3), dtype="int64") + 1)
    before = tt.get_num_threads()
    tt.set_num_threads(1)
    assert tt.get_num_threads() == 1
    tt.set_num_threads(0)
    assert tt.get_num_threads() == before
    assert tt.get_matmul_precision() == "highest"
    tt.set_matmul_precision("high")
    assert tt.get_matmul_precision() == "high"
    tt.set_matmul_precision("highest")
    with pytest.raises(ValueError, match="'highest' or 'high'"):
        tt.set_matmul_precision("low")
    with pytest.raises(ValueError):
        tt.set_tier(5)
    assert set(tt.memory()) == {"allocated", "max_allocated", "reserved", "limit"}
    assert tt.devices()[0] == tt.device("cpu") and tt.device(tt.device("cpu:0")) is tt.device()
    with tt.device("cpu"):
        assert tt.array(1).device == "cpu:0"


def test_eval_looks_into_containers():
    x, y = tt.array([1.0]) + 1, tt.array([2.0]) + 1
    assert tt.eval({"a": [x]}, (y, 3)) is None
    assert tt._core._layout(x)[3] and tt._core._layout(y)[3]
