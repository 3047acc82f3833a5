"""Where work goes that nobody put anywhere, over a stand-in for NVIDIA's driver with the figures of an H200.

It launches nothing: what counts is what was asked of it.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import textwrap

import pytest

FAKE = pathlib.Path(__file__).parent.parent / "fake"
# GB/s of its memory, ns of a launch, GB/s both ways at once, ns of moves up and down of tt__move_sizes bytes.
H200 = "4 4000 2400 60 8500 14000 30000 70000 330000 1300000 9000 15000 32000 80000 350000 1400000\n"
# The same where results come home slowly.
FAR = "4 4000 2400 60 8500 14000 30000 70000 330000 1300000 9e6 9e6 9e7 9e7 9e7 9e8\n"
HEAD = """
import numpy as np
import tutti as tt

tt.zeros(3, device="cuda:0").eval()  # opens it
tt.linalg.errstate(defer=True).__enter__()  # factorizations are asked about before they run

def count(f):
    before = tt.ledger()
    f()
    after = tt.ledger()
    return {k: after[k] - before[k] for k in after}

def looks(a, n=30):
    x = tt.array(a)
    for k in range(n):
        float((tt.sin(x * (k + 1.0)) * tt.exp(-x)).sum())

LARGE = np.linspace(0, 1, 1_000_000, dtype="f4")
"""


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    cc = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if not cc or not FAKE.exists():
        pytest.skip("no C compiler to build the stand-in for the driver")
    folder = tmp_path_factory.mktemp("fake")
    for library, source in ("libcuda.so", "cuda_driver.c"), ("libnvrtc.so", "nvrtc.c"):
        subprocess.run([cc, "-shared", "-fPIC", "-w", "-o", folder / library, FAKE / source], check=True)
    return {"TUTTI_CUDA": str(folder / "libcuda.so"), "TUTTI_NVRTC": str(folder / "libnvrtc.so")}


@pytest.fixture
def place(driver, tmp_path):
    """Runs a program where such a GPU seems to be; what it asserts must hold."""

    def run(code, costs=H200, **more):
        tmp_path.chmod(0o700)
        (tmp_path / "costs-Fake-0-2").write_text(costs)
        env = {k: v for k, v in os.environ.items() if k != "TUTTI_POISON"}  # which is work of its own
        env |= {**driver, "TUTTI_NVML": "none", "FAKE_CUDA_VERSION": "13000"}
        env |= {"TUTTI_NUM_THREADS": "2", "TUTTI_CACHE_DIR": str(tmp_path), "TUTTI_DEVICE": "auto"}
        env |= more
        env |= {k: "none" for k in ("TUTTI_CUBLASLT", "TUTTI_CUSOLVER", "TUTTI_CUFFT")}
        program = HEAD + textwrap.dedent(code)
        done = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr

    return run


def test_little_work_stays(place):
    place(
        """
    small = LARGE[:1000]
    for _ in range(40):
        (tt.array(small) * 2 + 1).numpy()
        looks(small, 3)
    ledger = tt.ledger()
    assert ledger["uploads"] == 0 and ledger["device_launches"] <= 1, ledger
    """,
        costs=FAR,
    )


def test_a_loop_moves_its_operand_once(place):
    place("""
    first = count(lambda: looks(LARGE))
    assert first["uploads"] == 1 and first["device_launches"] >= 25, first
    """)


def test_float64_stays_where_a_device_is_slow_at_it(place):
    """The driver says how many operations on float32 take as long as one on float64."""
    program = """
    def heavy(dtype):
        x = tt.array(LARGE.astype(dtype))
        for k in range(30):
            y = x * (k + 1.0)
            for _ in range(6):
                y = tt.sin(y) * tt.exp(-y * y)
            tt.eval(y)
    assert count(lambda: heavy("f4"))["device_launches"] >= 25
    launches = count(lambda: heavy("f8"))["device_launches"]
    """
    place(program + "assert launches >= 25, launches\n")
    place(program + "assert launches == 0, launches\n", FAKE_CUDA_DOUBLE="4096")


def test_what_paid_for_a_move_moves_as_it_is_made(place):
    """The second pass copies nothing on the host: the caller's memory goes straight up."""
    place("""
    looks(LARGE)
    kept = []
    made = count(lambda: kept.append(tt.array(LARGE)))
    assert made["uploads"] == 1 and made["upload_bytes"] == LARGE.nbytes, made
    second = count(lambda: looks(LARGE))
    assert second["uploads"] == 1 and second["device_launches"] == 30, second
    assert count(lambda: tt.array(LARGE[:77_777]))["uploads"] == 0  # another shape has no past
    assert count(lambda: tt.array(LARGE, device="cpu"))["uploads"] == 0
    """)


def test_what_no_longer_pays_stays_again(place):
    """Arrays that are made alike and come to nothing on the device are left on the host after a few."""
    place(
        """
    def pays():
        x = tt.array(LARGE)
        for _ in range(30):
            x = tt.sqrt(tt.exp(tt.sin(tt.sin(tt.exp(-x * x)))))
            tt.eval(x)
    for _ in range(10):
        pays()
    assert count(lambda: tt.array(LARGE))["uploads"] == 1
    for _ in range(40):
        (tt.array(LARGE) + 1).numpy()
    after = count(lambda: (tt.array(LARGE) + 1).numpy())
    assert after["uploads"] == 0 and after["device_launches"] == 0, after
    """,
        costs=FAR,
    )


def test_operands_brought_up_leave_the_launches_together(place):
    """A plan that repeats becomes a graph although its operand comes up first."""
    place("""
    LARGE.flags.writeable = False
    def parts():
        x = tt.asarray(LARGE)  # shares the memory: comes up each time
        tt.eval(*[tt.exp(-x[: 900_000 + k]).sum() for k in range(6)])
    made = count(lambda: [parts() for _ in range(12)])
    assert made["uploads"] >= 4 and made["graphs_made"] >= 1, made
    """)


def test_a_device_that_fails_meanwhile_is_no_reason_to_fail(place):
    place("""
    import os
    looks(LARGE)
    os.environ["FAKE_CUDA_FAIL"] = "cuMemcpyHtoDAsync_v2:700:0"  # the next copy up
    a = tt.array(LARGE)
    assert (a.numpy() == LARGE).all() and ((a + 1).numpy() == LARGE + 1).all()
    """)


CALLS = """
def where(x):
    return "gpu" if "nodes, on cuda:0" in tt.explain(x) else "cpu"

def array(*shape):
    return tt.array(np.random.default_rng(0).random(shape, dtype="f4"))

la = tt.linalg
CALLS = {
    "solve": lambda n: la.solve(array(n, n), array(n, 1)), "inv": lambda n: la.inv(array(n, n)),
    "det": lambda n: la.det(array(n, n)), "cholesky": lambda n: la.cholesky(array(n, n)),
    "qr": lambda n: la.qr(array(n, n))[0], "svd": lambda n: la.svd(array(n, n))[1],
    "eigh": lambda n: la.eigh(array(n, n))[0], "fft": lambda n: tt.fft.fft(array(n, n)),
    "rfft2": lambda n: tt.fft.rfft2(array(n, n)),
    "many": lambda n: la.solve(array(n // 4, 24, 24), array(n // 4, 24, 3)),
}
"""


def test_library_calls_go_where_they_are_done_sooner(place):
    place(
        CALLS
        + """
small, large = ({name: where(call(n)) for name, call in CALLS.items()} for n in (24, 2048))
assert set(small.values()) == {"cpu"}, small
assert set(large.values()) == {"gpu"}, large
"""
    )


def test_a_library_that_the_device_lacks_is_learned(place):
    """The stand-in has no cuSOLVER: the host does it, and the next one stays there."""
    place(
        CALLS
        + """
assert where(CALLS["cholesky"](1024)) == "gpu", tt.explain(CALLS["cholesky"](1024))
a = array(64, 64)
a = tt.array((a @ a.T + 64 * tt.eye(64, dtype="f4")).numpy(), device="cuda:0")
tt.linalg.cholesky(a).eval()
assert where(CALLS["cholesky"](1024)) == "cpu", tt.explain(CALLS["cholesky"](1024))
assert where(CALLS["qr"](1024)) == "gpu"
a = tt.array(np.ones((4, 4), "f4"), device="cuda:0")
assert "the device left it the last such call" in tt.explain(la.cholesky(a)), tt.explain(la.cholesky(a))
a = tt.array(np.ones((1000, 4, 4), "f4"), device="cuda:0")
assert "done by the host: so many matrices are sooner" in tt.explain(la.qr(a)[0]), tt.explain(la.qr(a)[0])
"""
    )


def test_explain_tells_what_a_library_call_took(place):
    place(
        CALLS
        + """
x = array(300, 300)
for _ in range(3):
    la.inv(x).eval()
import re
plan = tt.explain(la.inv(x))
assert re.search(r"7.2e\\+07 operations; predicted [\\d.]+ ms, measured [\\d.]+ ms at this size", plan), plan
"""
    )
