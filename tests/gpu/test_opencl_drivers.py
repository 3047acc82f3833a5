"""Drivers of OpenCL that crash, hang, lose their device or lack something: a library before the real loader plays them
(tests/fake/opencl.c), each in a process of its own."""

import ctypes
import os
import pathlib
import subprocess
import sys

import pytest
import tutti as tt

FAKE = pathlib.Path(tt._core.__file__).resolve().parents[2] / "tests" / "libfake_opencl.so"
if not FAKE.exists():
    pytest.skip("no loader of OpenCL was there when the tests were built", allow_module_level=True)


@pytest.fixture
def run(tmp_path):
    def run(program, **environment):
        env = {k: v for k, v in os.environ.items() if not k.startswith(("FAKE_OPENCL", "TUTTI_DEVICE", "OCL_ICD"))}
        env.update(TUTTI_CACHE_DIR=str(tmp_path / "cache"), TUTTI_OPENCL=str(FAKE), PYTHONDONTWRITEBYTECODE="1")
        env["PYTHONPATH"] = os.pathsep.join(p for p in sys.path if p)
        env.update(environment)
        program = "import numpy as np, tutti as tt\n" + program
        made = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True, timeout=120)
        assert made.returncode == 0, made.stderr
        return made.stdout

    return run


LOOK = """
assert float((tt.arange(5) + 1).sum()) == 15
print([str(d) for d in tt.devices() if d.type == "opencl"])
print([line for line in tt.info().splitlines() if "OpenCL" in line])
try:
    tt.zeros(3, device="opencl:0")
except RuntimeError as e:
    print(e)
"""
OK = "['opencl:0']"


def is_there(run):
    if OK not in run(LOOK):
        pytest.skip("no OpenCL device (on Debian and Ubuntu pocl-opencl-icd makes one of the CPU)")


@pytest.mark.parametrize(
    "what, words",
    [
        ({"FAKE_OPENCL_LOAD": "crash"}, "a driver ended the process that asked it first (signal 11)"),
        ({"FAKE_OPENCL_LOAD": "exit"}, "a driver ended the process that asked it first;"),
        ({"FAKE_OPENCL_LOAD": "hang", "TUTTI_OPENCL_PROBE": "1"}, "a driver did not answer in 1 seconds"),
        (
            {"FAKE_OPENCL_FAIL": "clGetPlatformIDs:crash:0"},
            "a driver ended the process that asked it first (signal 11)",
        ),
        ({"FAKE_OPENCL_PLATFORMS": "0"}, "OpenCL has no platform"),
        ({"FAKE_OPENCL_FAIL": "clGetPlatformIDs:-6:0"}, ""),  # an error is no reason not to ask again
    ],
)
def test_drivers_that_do_not_load(run, what, words):
    said = run(LOOK, **what)
    assert words in said
    assert OK not in said or not words
    if "OpenCL is left out" in said:
        assert words in run(LOOK)  # the driver is another by now, but nobody has looked: it was remembered
        assert words not in run(LOOK, OCL_ICD_VENDORS="/etc/OpenCL/vendors")  # other drivers are asked


@pytest.mark.parametrize(
    "what, words",
    [
        ("clCreateContext:crash:0", "is left out: it ended the process that asked it first (signal 11)"),
        ("clGetDeviceIDs:exit:0", "is left out: it ended the process that asked it first"),
        ("clGetDeviceIDs:hang:0", "is left out: it did not answer in 2 seconds"),
    ],
)
def test_platforms_that_fail_are_left_out(run, what, words):
    said = run(LOOK, FAKE_OPENCL_FAIL=what, TUTTI_OPENCL_PROBE="2")
    if "no platform" in said:
        pytest.skip("no OpenCL platform")
    assert words in said and "platform 0 of OpenCL (" in said and OK not in said
    assert words in run(LOOK, TUTTI_OPENCL_PROBE="2")


def test_what_was_learned_holds_for_the_files_it_was_learned_of(run, tmp_path):
    if not hasattr(ctypes.CDLL("libOpenCL.so.1"), "clGetICDLoaderInfoOCLICD"):
        pytest.skip("the loader here is not ocl-icd, which looks for drivers where this test puts one")
    vendors = tmp_path / "vendors"
    vendors.mkdir()
    (vendors / "bad.icd").write_text(f"{FAKE}\n")
    told = {"TUTTI_OPENCL": "libOpenCL.so.1", "OCL_ICD_VENDORS": str(vendors)}
    words = "a driver ended the process that asked it first (signal 11)"
    assert words in run(LOOK, FAKE_OPENCL_LOAD="crash", **told)
    assert words in run(LOOK, **told)
    (record,) = (tmp_path / "cache").glob("opencl-*")
    os.utime(record, (0, 0))
    assert words not in run(LOOK, **told)  # a bad verdict is believed for a day
    assert words not in run(LOOK, FAKE_OPENCL_LOAD="", **told)
    (vendors / "bad.icd").write_text("/nowhere/libdriver.so\n")
    assert "no platform" in run(LOOK, **told)
    for damage in ("", "tutti-opencl 1\n", "tutti-opencl 1\nverdict 0 0 x\n", "\0" * 100, "file\n" * 9):
        for record in (tmp_path / "cache").glob("opencl-*"):
            record.write_text(damage)
        assert "no platform" in run(LOOK, **told)


def test_importing_asks_nobody(run, tmp_path):
    run("print(float((tt.ones(5) + 1).sum()))", FAKE_OPENCL_LOAD="crash")
    assert not list((tmp_path / "cache").glob("opencl-*"))


def test_who_trusts_drivers_has_them_asked_here(run, tmp_path):
    is_there(run)
    for record in (tmp_path / "cache").glob("opencl-*"):
        record.unlink()
    assert OK in run(LOOK, TUTTI_OPENCL_PROBE="0")
    assert not list((tmp_path / "cache").glob("opencl-*"))


def test_a_device_is_lost_in_a_run(run):
    is_there(run)
    said = run(
        """
x = tt.arange(1000, dtype="float32")
y = x.to("opencl:0")
np.asarray(y * 2)
for k in range(200):
    try:
        np.asarray(y * 2 + k)
    except RuntimeError as e:
        print(e)
        break
try:
    tt.zeros(3, device="opencl:0") + 1
    np.asarray(tt.ones(300000, device="opencl:0") * 3)
except RuntimeError as e:
    print(e)
print("host", float((x + 1).sum()))
""",
        FAKE_OPENCL_FAIL="clEnqueueNDRangeKernel:-36:1",
    )
    first, second, host = said.splitlines()
    assert first.startswith("opencl:0 is lost: cannot launch 'tt_k_") and "invalid command queue (-36)" in first
    assert second == first and host == "host 500500.0"


def test_without_doubles_the_host_computes_them(run):
    is_there(run)
    said = run(
        """
x = np.linspace(-3, 3, 1000)
for name, work, dtype in (
    ("f32", lambda x: tt.exp(x) * 2 + x.sum(), "float32"), ("f16", lambda x: x * 2, "float16"),
    ("f64", lambda x: x * 2 + 1, "float64"), ("to", lambda x: x.astype("float64") + 1, "float32"),
    ("tan", tt.tan, "float32"), ("pow", lambda x: abs(x) ** 2.5, "float32"), ("int", lambda x: x * 3, "int64"),
):
    got, before = [], tt.ledger()["device_launches"]
    for device in ("cpu", "opencl:0"):
        with tt.device(device):
            got.append(np.asarray(work(tt.array(x.astype(dtype)))))
    assert got[0].dtype == got[1].dtype and got[0].tobytes() == got[1].tobytes(), name
    print(name, tt.ledger()["device_launches"] > before)
""",
        FAKE_OPENCL_HIDE="cl_khr_fp64 cl_khr_int64_extended_atomics",
    )
    there = dict(line.split() for line in said.splitlines() if len(line.split()) == 2)
    assert there == {
        "f32": "True",
        "f16": "True",
        "int": "True",
        "f64": "False",
        "to": "False",
        "tan": "False",
        "pow": "True",
    }


@pytest.mark.parametrize("check", ["0", "1"])
def test_what_has_no_room_goes_through_in_pieces(run, check, turn):
    """Random lengths and offsets; what the pieces read begins anywhere, overlaps, runs backwards, or is another row."""
    is_there(run)
    said = run(
        f"""
r = np.random.default_rng({turn})
"""
        """
def grid(x):
    return x[: x.size // 1000 * 1000].reshape(-1, 1000)

CASES = [
    lambda x, y, o: x[o:] * 2 + y[: x.size - o],
    lambda x, y, o: x[o + 1 :] - x[o:-1],
    lambda x, y, o: x[::-1][o:] + 1,
    lambda x, y, o: grid(x) * y[o : o + 1000] + y[:1],
    lambda x, y, o: grid(x)[:, o % 900 : o % 900 + 50].sum(axis=1),
    lambda x, y, o: (x[o:] * 2).sum(),
]
pieces = 0
for case in r.permutation(len(CASES)):
    for _ in range(2):
        n, o = int(r.integers(7 << 20, 9 << 20)), int(r.integers(0, 5000))
        x, y = (r.integers(0, 8, n).astype("float32") for _ in range(2))  # sums are exact in any order
        got, before = [], tt.ledger()["device_launches"]
        for device in ("cpu", "opencl:0"):
            with tt.device(device):
                got.append(np.asarray(CASES[case](tt.array(x), tt.array(y), o)))
        assert got[0].shape == got[1].shape and got[0].tobytes() == got[1].tobytes(), (case, n, o)
        pieces += tt.ledger()["device_launches"] - before > 1
print(pieces)
""",
        FAKE_OPENCL_MEMORY=str(24 << 20),
        TUTTI_CHECK=check,
    )
    assert check == "1" or int(said.split()[-1]) == 10  # checked kernels have no pieces; nor has what reads two orders


def test_scans_where_each_thread_is_alone(run):
    """A GPU whose threads do not read each other's registers: no row is cut into tiles of warps."""
    is_there(run)
    said = run(
        """
for dtype in ("int8", "int64", "float32", "bool"):
    for n in (5, 255, 257, 1000, 4096, 4097, 20001):
        x = (np.arange(n) % 5).astype(dtype)
        with tt.device("opencl:0"):
            got = np.asarray(tt.cumsum(tt.array(x))), np.asarray(tt.cumsum(tt.array(np.stack([x, x])), axis=1))
        want = np.cumsum(x), np.cumsum(np.stack([x, x]), axis=1)
        print(all(np.array_equal(a, b) for a, b in zip(got, want)))
""",
        FAKE_OPENCL_GPU="1",
    )
    assert said.split() == ["True"] * 28


@pytest.mark.parametrize("gpu", ["0", "1"])
def test_costs_choose_gpus_alone(run, gpu, tmp_path):
    """PoCL as it is, the processor once more, is never chosen; as the GPU that it says to be here, its costs are
    compared."""
    is_there(run)
    for record in (tmp_path / "cache").glob("opencl-*"):
        record.unlink()
    said = run(
        """
import os
import time
x = tt.array(np.linspace(0, 1, 1_000_000 * max(4, os.cpu_count()), dtype="float32"))
begin = time.process_time()
while time.process_time() - begin < 1.5:
    np.asarray(tt.sin(x) * tt.exp(x))
    if "chosen: cpu" in tt.explain(tt.sin(x) * 2):
        break
print(tt.explain(tt.sin(x) * 2))
""",
        FAKE_OPENCL_GPU=gpu,
        TUTTI_CUDA="none",
    )
    assert ("chosen: cpu" in said) == (gpu == "1"), said
    assert ("nothing to choose from" in said) == (gpu == "0"), said
