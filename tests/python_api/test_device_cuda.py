"""tutti.cuda, DLPack and the CUDA array interface over a stand-in for NVIDIA's driver.

Its memory is the host's and its copies are real; it launches nothing, so what a kernel would compute is not looked at.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import textwrap

import pytest

SOURCE = pathlib.Path(__file__).parent.parent / "fake" / "cuda_driver.c"
HEAD = """
import ctypes, gc
import numpy as np
import tutti as tt
from tutti import _core

def floats(address, n):
    return list((ctypes.c_float * n).from_address(address))

def raises(kind, call):
    try:
        call()
    except kind as e:
        return str(e)
    raise AssertionError("nothing was raised")
"""


@pytest.fixture(scope="module")
def gpu(tmp_path_factory):
    """Runs a program where two GPUs seem to be; what it asserts must hold."""
    cc = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if not cc or not SOURCE.exists():
        pytest.skip("no C compiler to build the stand-in for the driver")
    library = tmp_path_factory.mktemp("fake") / "libcuda.so"
    subprocess.run([cc, "-shared", "-fPIC", "-w", "-o", library, SOURCE], check=True)

    def run(code, **more):
        env = {**os.environ, "TUTTI_CUDA": str(library), "TUTTI_NVML": "/nowhere/nvml.so", "TUTTI_OPENCL": "none"}
        env |= {"FAKE_CUDA_VERSION": "13000", **more}
        program = HEAD + textwrap.dedent(code)
        done = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout.split()

    return run


def test_devices(gpu):
    gpu("""
    assert [str(d) for d in tt.devices()] == ["cuda:0", "cuda:1", "cpu:0"]
    d = tt.device("gpu")
    assert d == "cuda" == d and d == "cuda:0" and tt.device("cuda:1") != "cuda" and tt.device("cuda") is d
    assert d.label and d.memory.total > 0 and d.temperature is None and d.processes == []
    assert d.compute_capability == tt.cuda.get_device_capability(0)
    assert tt.cuda.is_available() and tt.cuda.device_count() == 2 and tt.cuda.why() == ""
    assert tt.cuda.current_device() == 0
    p = tt.cuda.get_device_properties(1)
    assert p.name == tt.cuda.get_device_name(1) and p.total_memory > 0 and p.warp_size == 32
    message = raises(RuntimeError, lambda: tt.device("cuda:2"))
    assert "cuda:2" in message and "cuda:0, cuda:1" in message
    with tt.cuda.device(1) as one:
        assert one == "cuda:1" and tt.cuda.current_device() == 1 and tt.zeros(3).device == one
        tt.cuda.set_device(0)
        assert tt.cuda.current_device() == 0
    assert tt.cuda.current_device() == 0 and tt.device() == "auto"
    assert "cuda:1" in tt.info()
    """)


def test_moving(gpu):
    gpu("""
    a = np.arange(12, dtype="f4").reshape(3, 4)
    x = tt.asarray(a, device="cuda:1")
    assert x.device == "cuda:1" and x.to("cuda:1") is x
    for y in (x.cpu(), x.to("cpu"), x.cuda(0), x.cuda(), x.cuda(0).cuda(1), x.to_device(tt.device("cuda"))):
        np.testing.assert_array_equal(y.numpy(), a)
    assert x.cuda().device == "cuda:0" and x.cpu().device == "cpu"
    assert tt.zeros_like(x).device == "cuda:1" and tt.zeros_like(x, device="cpu").device == "cpu"
    assert tt.ones(3, device="cuda").device == "cuda:0"
    assert x.cpu().astype("f4", device="cuda:0").device == "cuda:0"
    assert tt.astype(x.cpu(), "f4", copy=False, device="cuda:0").device == "cuda:0"
    assert tt.asarray(x, device="cuda:0").device == "cuda:0" and tt.asarray(x).device == "cuda:1"
    assert "cuda:1 and cpu:0" in raises(ValueError, lambda: x + tt.asarray(a, device="cpu"))
    raises(ValueError, lambda: tt.asarray(x, device="cpu", copy=False))
    """)
    assert gpu("print(tt.device(), tt.asarray([1.0]).device)", TUTTI_DEVICE="cuda:1") == ["cuda:1", "cuda:1"]


def test_memory(gpu):
    gpu("""
    x = tt.asarray(np.zeros(1 << 20), device="cuda")
    assert tt.cuda.memory_allocated() >= 8 << 20 and tt.cuda.memory_allocated(1) == 0
    assert tt.cuda.memory_reserved() >= tt.cuda.memory_allocated()
    y = tt.asarray(np.zeros(1 << 20), device="cuda")
    del y
    assert tt.cuda.max_memory_allocated() >= 16 << 20
    tt.cuda.reset_peak_memory_stats()
    assert tt.cuda.max_memory_allocated() == tt.cuda.memory_allocated()
    del x
    tt.cuda.empty_cache()
    assert tt.cuda.memory_allocated() == 0 == tt.cuda.memory_reserved()
    free, total = tt.cuda.mem_get_info()
    assert 0 < free <= total
    tt.cuda.set_memory_limit(0.5)
    assert f"{total / 2 / 2**20:,.1f} MiB" in tt.cuda.memory_summary()
    tt.cuda.set_memory_limit(1 << 20)
    waits = tt.asarray(np.ones(1 << 20), device="cuda")  # there is no room: its bytes stay on the host
    assert waits.device == "cuda:0" and tt.cuda.memory_allocated() == 0 and waits[7] == 1
    message = raises(MemoryError, lambda: waits.__cuda_array_interface__)
    assert "cuda:0" in message
    tt.cuda.set_memory_limit(None)
    assert tt.asarray(np.zeros(1 << 20), device="cuda").device == "cuda:0"
    raises(ValueError, lambda: tt.cuda.set_memory_limit(1.5))
    raises(ValueError, lambda: tt.cuda.set_memory_limit(-1))
    p = tt.cuda.pinned_array((2, 3), "int32")
    p[:] = 7
    assert tt.asarray(p, device="cuda").tolist() == [[7] * 3] * 2
    tt.cuda.synchronize()
    """)


def test_streams(gpu):
    gpu("""
    s, t = tt.cuda.Stream(), tt.cuda.Stream(device=1)
    assert s.device == "cuda:0" and t.device == "cuda:1" and s.ptr and s.__cuda_stream__() == (0, s.ptr)
    e = s.record()
    e.synchronize()
    e.query(), s.query()
    raises(ValueError, lambda: t.wait_event(e))
    with s:
        x = tt.asarray(np.arange(3.0), device="cuda")
        assert tt.cuda.current_stream() == s and x.__cuda_array_interface__["stream"] == s.ptr
    assert x.__cuda_array_interface__["stream"] == tt.cuda.default_stream().ptr != s.ptr
    theirs = tt.cuda.ExternalStream(s.ptr)
    assert theirs.ptr == s.ptr
    theirs.synchronize()
    raises(ValueError, lambda: tt.cuda.ExternalStream(0))

    class Torchs:
        cuda_stream = 1

    one, two = tt.cuda.ExternalStream(Torchs()), tt.cuda.ExternalStream(1)
    assert one == two and one.ptr == 1
    with one:
        y = tt.asarray(np.arange(3.0), device="cuda")
    del one, two
    assert y.tolist() == [0, 1, 2] and tt.cuda.ExternalStream(1).ptr == 1
    """)


def test_the_array_interface_out(gpu):
    gpu("""
    a = np.arange(12, dtype="f4").reshape(3, 4)
    x = tt.asarray(a, device="cuda")
    i = x.__cuda_array_interface__
    assert i["shape"] == (3, 4) and i["typestr"] == "<f4" and i["strides"] is None and i["version"] == 3
    at, readonly = i["data"]
    assert readonly and floats(at, 12) == a.ravel().tolist()
    back = x[::-1, ::2].__cuda_array_interface__
    assert back["strides"] == (-16, 8) and back["data"][0] == at + 32
    for other in (x.cpu(), tt.asarray([1], dtype="bfloat16", device="cuda")):
        assert not hasattr(other, "__cuda_array_interface__")
    # What was shown stays, though the array goes on.
    x[0] = -1
    assert floats(at, 12) == a.ravel().tolist()
    del x
    gc.collect()
    """)


def test_the_array_interface_in(gpu):
    gpu("""
    class Theirs:
        def __init__(self, a, dropped, **more):
            self.keep, self.dropped = tt.asarray(a, device="cuda:1"), dropped
            own = self.keep.__cuda_array_interface__
            self.at = own["data"][0]
            self.__cuda_array_interface__ = {**own, "data": (self.at, False), **more}

        def __del__(self):
            self.dropped.append(1)

    a, dropped = np.arange(12, dtype="f4").reshape(3, 4), []
    for stream in (None, 1, 2, tt.cuda.Stream(1).ptr):
        theirs = Theirs(a, dropped, stream=stream)
        x = tt.asarray(theirs)  # writable memory: a copy
        assert x.device == "cuda:1" and x.__cuda_array_interface__["data"][0] != theirs.at
        del theirs
        gc.collect()
        assert dropped == [1]
        dropped.clear()
    shared = tt.asarray(Theirs(a, dropped), copy=False)
    assert shared.device == "cuda:1" and dropped == []
    part = shared[1:, ::2]
    assert part.tolist() == a[1:, ::2].tolist()
    del shared
    gc.collect()
    assert dropped == []
    del part
    gc.collect()
    tt.zeros(1)
    assert dropped == [1]

    class Refusing(Theirs):  # as CuPy's arrays do
        def __buffer__(self, flags):
            raise RuntimeError("on a GPU")

    assert tt.asarray(Refusing(a, dropped), copy=False).device == "cuda:1"
    turned = tt.asarray(Theirs(a, dropped, strides=(4, 16), shape=(4, 3)), copy=False)
    assert turned.tolist() == a.ravel().reshape(-1)[:12].reshape(3, 4).T.tolist()
    raises(ValueError, lambda: tt.asarray(Theirs(a, dropped, strides=(3, 16)), copy=False))
    """)


def test_dlpack_between_arrays_of_ours(gpu):
    gpu("""
    a = np.arange(12, dtype="f4").reshape(3, 4)
    x = tt.asarray(a, device="cuda:1")
    assert x.__dlpack_device__() == (2, 1)
    y = tt.from_dlpack(x)
    assert y.device == "cuda:1" and y.tolist() == a.tolist()
    assert y.__cuda_array_interface__["data"][0] == x.__cuda_array_interface__["data"][0]
    z = tt.from_dlpack(x, copy=True)
    assert z.__cuda_array_interface__["data"][0] != x.__cuda_array_interface__["data"][0]
    v = tt.from_dlpack(x[::-1].T)
    assert v.tolist() == a[::-1].T.tolist()
    assert tt.from_dlpack(x, device="cpu").device == "cpu"
    np.testing.assert_array_equal(np.from_dlpack(x, device="cpu"), a)
    raises((BufferError, ValueError), lambda: np.from_dlpack(x, device="cpu", copy=False))
    raises((BufferError, ValueError), lambda: tt.from_dlpack(x, device="cpu", copy=False))
    for stream in (None, 1, 2, -1, tt.cuda.Stream(1).ptr):
        capsule = x.__dlpack__(stream=stream, max_version=(1, 0))
        assert tt.from_dlpack(capsule).tolist() == a.tolist()
    assert "ambiguous" in raises(ValueError, lambda: x.__dlpack__(stream=0))
    old = x.__dlpack__()  # consumers of the old form cannot be told that it is read-only
    assert tt.from_dlpack(old).__cuda_array_interface__["data"][0] != x.__cuda_array_interface__["data"][0]
    moved = x.__dlpack__(dl_device=(2, 0), max_version=(1, 0))
    assert tt.from_dlpack(moved).device == "cuda:0"
    raises(BufferError, lambda: x.__dlpack__(dl_device=(2, 2)))
    assert tt.from_dlpack(tt.asarray([1, 2], dtype="bfloat16", device="cuda")).dtype == "bfloat16"
    x = y = z = v = None
    gc.collect()
    """)


def test_shared_memory_is_not_moved_out(gpu):
    gpu("""
    a = np.zeros(1 << 20, "f4")
    x = tt.asarray(a + 1, device="cuda")
    shown = x.__dlpack__(max_version=(1, 0))
    at = x.__cuda_array_interface__["data"][0]
    tt.cuda.set_memory_limit(10 << 20)
    others = [tt.asarray(a + k, device="cuda") for k in range(6)]  # more than there is room for
    assert floats(at, 3) == [1, 1, 1] and x.__cuda_array_interface__["data"][0] == at
    for k, o in enumerate(others):
        assert o[5] == k
    del shown
    """)


def test_a_lost_gpu_is_told_once_and_for_all(gpu):
    gpu(
        """
    a = np.zeros(1 << 10)  # goes in one copy
    kept = tt.asarray(a + 1, device="cuda:1")
    first = raises(RuntimeError, lambda: tt.asarray(a, device="cuda:0"))
    assert "719" in first, first
    for call in (
        lambda: tt.asarray(a, device="cuda:0"),
        lambda: tt.cuda.Stream(0),
        lambda: tt.cuda.Event(device="cuda:0"),
        lambda: tt.cuda.synchronize(0),
        lambda: tt.device("cuda:0").memory,
    ):
        assert "719" in raises(RuntimeError, call)
    assert float((tt.asarray(a) + 1).sum()) == a.size  # the CPU goes on
    """,
        FAKE_CUDA_FAIL="cuMemcpyHtoDAsync_v2:719:1",
    )


def test_explain_says_what_the_host_does(gpu):
    gpu(
        """
    x = tt.ones((4, 4), dtype="complex64", device="cuda:0")
    with tt.linalg.errstate(defer=True):
        text = tt.explain(tt.linalg.eigvals(x))
        assert "library eig, done by the host: there is no cuSOLVER for it" in text, text
        assert "done by the host" not in tt.explain(tt.linalg.inv(x)), text
    """,
        TUTTI_CUSOLVER="/nowhere/libcusolver.so",
    )


def test_steps_of_many_parameters_are_one_launch(gpu):
    """By a table that goes with the launch, or, of more of them, lies in the device's memory; NVRTC has compiled it."""
    kernels = pathlib.Path(__file__).parent.parent / "kernels"
    gpu(f"""
    import sys
    sys.path.insert(0, {str(kernels)!r})
    import nvrtc
    sys.exit(0) if nvrtc.library() is None else None
    tt.set_eager(0)
    for count in (3, 100, 150):
        with tt.device("cuda"):
            shapes = [(3 + 7 * k,) if k % 2 else (2 + k, 5 + k % 3) for k in range(count)]
            p = [tt.array(np.zeros(s, "f4")).requires_grad_() for s in shapes]
            for a in p:
                a.grad = tt.array(np.ones(a.shape, "f4"))
            o = tt.optim.Adam(p)
            for step in range(3):
                before = tt.ledger()
                o.step()
                after = tt.ledger()
                launches = after["device_launches"] - before["device_launches"]
                assert launches == 1, (count, step, launches)
                assert after["fallbacks"] == before["fallbacks"]
    """)
