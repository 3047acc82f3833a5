"""Devices by name, and CUDA's vocabulary, on a machine that may have no GPU."""

import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest
import tutti as tt

no_gpu = pytest.mark.skipif(tt.cuda.is_available(), reason="the machine has a GPU")


def run(code, **env):
    import os

    return subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **env}, capture_output=True, text=True, timeout=60
    )


def test_the_cpu():
    cpu = tt.device("cpu")
    assert cpu in tt.devices() and tt.device("cpu:0") is cpu
    assert cpu == "cpu" and cpu == "cpu:0" and cpu != "cuda" and cpu != "cpu:1" and cpu != 0
    assert {cpu: 1}[tt.device("cpu")] == 1 and hash(cpu) == hash(tt.device("cpu:0"))
    assert (cpu.type, cpu.index, cpu.id, cpu.name, str(cpu), repr(cpu)) == (
        "cpu",
        0,
        0,
        "cpu:0",
        "cpu:0",
        "device('cpu:0')",
    )
    assert pickle.loads(pickle.dumps(cpu)) is cpu
    assert cpu.label and cpu.temperature is None and cpu.power is None and cpu.processes == []
    free, total, used = cpu.memory
    assert 0 < free < total and used == total - free
    assert 0 <= cpu.utilization <= 100
    assert cpu.properties["units"] >= 1 and cpu.compute_capability is None
    cpu.synchronize()


@pytest.mark.parametrize("name", ["cpux", "cp", "", "cuda:", "cuda:x", "cuda:-1", ":0", "cpu:0:1", "gpu:zero"])
def test_wrong_names_are_told(name):
    with pytest.raises(ValueError, match="not the name of a device.*cpu:0"):
        tt.device(name)


@pytest.mark.parametrize("name", ["cuda:63", "cpu:1", "cuda:999"])
def test_absent_devices_are_told_with_what_there_is(name):
    for call in (tt.device, lambda n: tt.zeros(3, device=n), tt.zeros(3).to, lambda n: tt.asarray([1], device=n)):
        with pytest.raises(RuntimeError, match=f"no such device '{name}'.*cpu:0"):
            call(name)


@pytest.mark.parametrize("what", [3, 1.5, [], object()])
def test_other_things_are_no_devices(what):
    with pytest.raises(ValueError, match="a device or its name"):
        tt.device(what)


def test_devices_of_other_libraries_count():
    class Torchs:
        type, index = "cpu", None

    assert tt.device(Torchs()) == "cpu"
    assert tt.zeros(2, device=Torchs()).device == "cpu"


def test_every_maker_takes_a_device():
    makers = [
        tt.zeros(3, device="cpu"),
        tt.ones(3, device="cpu"),
        tt.empty(3, device="cpu"),
        tt.full(3, 2, device="cpu"),
        tt.arange(3, device="cpu"),
        tt.linspace(0, 1, 3, device="cpu"),
        tt.eye(3, device="cpu"),
        tt.identity(3, device="cpu"),
        tt.zeros_like(tt.ones(3), device="cpu"),
        tt.array([1, 2], device="cpu"),
        tt.asarray(np.ones(3), device="cpu"),
        tt.asarray(tt.ones(3), device="cpu"),
        tt.ones(3).astype("f4").to_device("cpu"),
        tt.ones(3).cpu(),
    ]
    for a in makers:
        assert a.device == "cpu"
        a[...] = 7
        assert a.tolist() and (a == 7).all()


def test_a_context_places_what_is_made_inside():
    outer = tt.device()
    cpu = tt.device("cpu")
    with cpu as entered:
        assert entered is cpu and tt.device() is cpu
        with tt.device("auto"), cpu, cpu:
            made = [tt.zeros(3), tt.random.rand(3), tt.array([1.0, 2.0, 3.0]), tt.asarray(np.arange(3.0))]
        assert tt.device() is cpu
        seen = []
        thread = threading.Thread(target=lambda: seen.append(tt.device()))  # each thread has a choice of its own
        thread.start()
        thread.join()
        assert seen == [outer]
    assert tt.device() is outer
    for a in made:
        a += 1
        assert a.device == "cpu" and len(a.tolist()) == 3


def test_a_context_ends_with_an_exception():
    outer = tt.device()
    with pytest.raises(KeyError), tt.device("cpu"):
        raise KeyError
    assert tt.device() is outer


def test_the_environment_chooses():
    assert run("import tutti as tt; print(tt.device())", TUTTI_DEVICE="cpu").stdout == "cpu:0\n"
    assert run("import tutti as tt; print(tt.device(), tt.zeros(2) + 1)", TUTTI_DEVICE="auto").returncode == 0
    done = run("import tutti", TUTTI_DEVICE="toaster")
    assert done.returncode == 1 and "'toaster' is not the name of a device" in done.stderr
    code = "import threading, tutti as tt; t = threading.Thread(target=lambda: print(tt.device())); t.start(); t.join()"
    assert run(code, TUTTI_DEVICE="cpu").stdout == "cpu:0\n"


@no_gpu
def test_without_a_gpu():
    assert tt.cuda.is_available() is False and tt.cuda.device_count() == 0
    assert tt.cuda.why()
    for call in (
        tt.cuda.current_device,
        tt.cuda.get_device_name,
        tt.cuda.get_device_capability,
        tt.cuda.get_device_properties,
        tt.cuda.memory_allocated,
        tt.cuda.memory_summary,
        tt.cuda.mem_get_info,
        tt.cuda.empty_cache,
        lambda: tt.cuda.set_device(0),
        lambda: tt.device("gpu"),
        lambda: tt.zeros(3).cuda(),
        lambda: tt.zeros(3).cuda(0),
        lambda: tt.cuda.Stream(0),
    ):
        with pytest.raises(RuntimeError, match="no such device.*cpu:0"):
            call()
    tt.cuda.synchronize()


def test_streams_and_events_of_the_cpu():
    s = tt.cuda.Stream("cpu")
    assert s.device == "cpu" and s.query() and s.done and s.ptr == 0
    before, after = tt.cuda.Event(device="cpu"), tt.cuda.Event(device="cpu")
    with pytest.raises(ValueError, match="must have been recorded"):
        before.elapsed_time(after)
    before.record()
    with s:
        assert tt.cuda.current_stream("cpu") == s
        (tt.ones(1000) + 1).eval()
    assert tt.cuda.current_stream("cpu") != s
    after.record(s)
    after.synchronize()
    s.wait_event(after)
    s.wait_stream(tt.cuda.Stream("cpu"))
    s.synchronize()
    assert after.query() and before.elapsed_time(after) >= 0
    with pytest.raises(ValueError, match="enable_timing=False"):
        before.elapsed_time(s.record(tt.cuda.Event(enable_timing=False, device="cpu")))


def test_pinned_arrays():
    p = tt.cuda.pinned_array((3, 4), "int16", device="cpu")
    p[:] = np.arange(12).reshape(3, 4)
    assert p.dtype == "int16" and p.flags.writeable
    np.testing.assert_array_equal(tt.asarray(p) + 1, p + 1)
    assert tt.cuda.pinned_array(5, device="cpu").shape == (5,)
    with pytest.raises(ValueError, match="negative"):
        tt.cuda.pinned_array((-1,), device="cpu")


def test_wrong_numbers_fail_clearly():
    for number in (-2, 1, 7 << 8, 1 << 30):
        with pytest.raises((ValueError, RuntimeError)):
            tt._core._device_read(number)
        with pytest.raises((ValueError, RuntimeError)):
            tt._core._stream_new(number, 0)
        assert tt._core._stream_handle(number, None) == 0


def test_a_limit_on_the_cpu():
    code = """
import tutti as tt
tt._core._device_set_limit(0, 64 << 20)
try:
    tt.ones(1 << 24).eval()
except MemoryError as e:
    print("refused")
tt._core._device_set_limit(0, 0)
print(float(tt.ones(1 << 24).sum()), tt._core._device_memory(0)["limit"])
"""
    assert run(code).stdout.split() == ["refused", "16777216.0", "0"]


def test_info_tells_what_there_is_and_why_the_rest_is_missing():
    text = tt.info()
    assert "cpu:0" in text and "cuda       driver" in text
    assert ("cuda:0" in text) == tt.cuda.is_available()
    assert f"no cuda: {tt.cuda.why()}" in text or tt.cuda.is_available()


def on_null(code):
    """Run a program with a simulated device beside the CPU."""
    done = run("import tutti as tt\n" + code, TUTTI_NULL_DEVICE="1")
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_a_simulated_device():
    code = """
d = tt.device("null")
print(tt.devices()[-1] is d, d == "null:0", d.memory.total > 0, d.properties["warp"] > 0, d.temperature)
print(tt._core._device_memory(d._number)["allocated"])
tt._core._device_set_limit(d._number, 1 << 20)
print(tt._core._device_memory(d._number)["limit"])
tt._core._device_trim(d._number)
tt._core._device_reset_peak(d._number)
d.synchronize()
tt.synchronize()
"""
    assert on_null(code) == ["True", "True", "True", "True", "None", "0", "1048576"]


def test_streams_of_a_device():
    code = """
s, t = tt.cuda.Stream("null"), tt.cuda.Stream("null", priority=-1)
assert s != t and s.ptr and s.ptr != t.ptr and hash(s) != hash(t)
assert tt.cuda.current_stream("null") == tt.cuda.default_stream("null")
with s:
    assert tt.cuda.current_stream("null") == s
    with t, s:
        assert tt.cuda.current_stream("null") == s
    assert tt.cuda.current_stream("null") == s
assert tt.cuda.current_stream("null") == tt.cuda.default_stream("null") != s
first, second = tt.cuda.Event(device="null"), tt.cuda.Event(device="null")
first.record(s)
t.wait_event(first)
t.wait_stream(s)
second.record(t)
t.synchronize()
assert first.query() and second.query() and s.query() and first.elapsed_time(second) >= 0
address = s._address
del s
assert tt.cuda.Stream("null")._address == address  # streams are kept: memory refers to those that used it
try:
    first.record(tt.cuda.Stream("cpu"))
except ValueError as e:
    print(str(e).split()[3])
p = tt.cuda.pinned_array(1000, device="null")
p[:] = 1
print(p.sum())
"""
    assert on_null(code) == ["on", "1000.0"]


# ---- other libraries' GPU memory


@no_gpu
def test_memory_of_a_gpu_that_we_do_not_see():
    class Producer:
        def __dlpack_device__(self):
            return 2, 0

        def __dlpack__(self, **kw):
            raise AssertionError("nothing to hand out")

    class Interface:
        __cuda_array_interface__ = {"shape": (3,), "typestr": "<f4", "data": (1 << 20, False), "version": 3}

    for call in (tt.from_dlpack, tt.asarray):
        with pytest.raises(BufferError, match="CUDA device 0, which this process does not see: no NVIDIA driver"):
            call(Producer())
    with pytest.raises(ValueError, match="on no GPU of this process"):
        tt.asarray(Interface())


@pytest.mark.parametrize(
    "wrong, error",
    [
        ({"mask": object()}, "without a mask"),
        ({"stream": 0}, "stream 0 is ambiguous"),
        ({"typestr": "<q9"}, "q9"),
        ({"shape": [3]}, "tuples"),
        ({"data": None}, "Invalid"),
    ],
)
def test_wrong_interfaces_are_told(wrong, error):
    class Interface:
        __cuda_array_interface__ = {"shape": (3,), "typestr": "<f4", "data": (1 << 20, False), "version": 3, **wrong}

    with pytest.raises((ValueError, TypeError), match=error):
        tt.asarray(Interface())


def test_an_empty_interface_needs_no_gpu():
    class Interface:
        __cuda_array_interface__ = {"shape": (0, 3), "typestr": "<f4", "data": (0, False), "version": 3}

    a = tt.asarray(Interface())
    assert a.shape == (0, 3) and a.dtype == "float32"


def test_arrays_of_the_host_have_no_cuda_interface():
    a = tt.ones(3)
    assert not hasattr(a, "__cuda_array_interface__")
    assert a.__dlpack_device__() == (1, 0)
    with pytest.raises(RuntimeError, match="stream=None"):
        a.__dlpack__(stream=1)
    for device in ((2, 63), (4, 0), (1, 1), "cpu"):
        with pytest.raises(BufferError, match="unsupported device"):
            a.__dlpack__(dl_device=device)
