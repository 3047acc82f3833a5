"""Sharing memory of a GPU with CuPy, PyTorch and Numba, without a copy and in order. Skipped where there is no GPU."""

import gc

import numpy as np
import pytest
import tutti as tt

if not tt.cuda.is_available():
    pytest.skip(f"no GPU: {tt.cuda.why()}", allow_module_level=True)

TYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "float16", "float32", "float64", "complex64", "complex128"]
N = 1 << 24


@pytest.fixture(scope="module")
def cp():
    return pytest.importorskip("cupy")


@pytest.fixture(scope="module")
def torch():
    t = pytest.importorskip("torch")
    if not t.cuda.is_available():
        pytest.skip("this PyTorch has no CUDA")
    return t


def ours(name="float32", shape=(3, 4)):
    return tt.asarray((np.arange(np.prod(shape)).reshape(shape) % 5).astype(name), device="cuda")


def address(a):
    return a.__cuda_array_interface__["data"][0]


# ---- what arrays say of themselves


def test_the_protocols_tell_the_gpu():
    x = ours()
    assert x.device == "cuda:0" and x.__dlpack_device__() == (2, 0)
    i = x.__cuda_array_interface__
    assert i["version"] == 3 and i["shape"] == (3, 4) and i["typestr"] == "<f4" and i["strides"] is None
    assert i["data"][1] is True and i["stream"] not in (None, 0)
    assert x.T.__cuda_array_interface__["strides"] == x.T.strides
    assert x[1:].__cuda_array_interface__["data"][0] == i["data"][0] + 16
    host = tt.zeros(3, device="cpu")
    assert host.__dlpack_device__() == (1, 0) and not hasattr(host, "__cuda_array_interface__")
    with pytest.raises(ValueError, match="ambiguous"):
        x.__dlpack__(stream=0)


def test_a_gpu_array_goes_to_the_host_through_dlpack():
    x = ours()
    np.testing.assert_array_equal(np.from_dlpack(x.cpu()), x.numpy())
    np.testing.assert_array_equal(np.from_dlpack(x, device="cpu"), x.numpy())
    with pytest.raises((BufferError, ValueError)):
        np.from_dlpack(x, device="cpu", copy=False)


# ---- CuPy


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("view", [np.s_[:], np.s_[::-1, ::2], np.s_[1], np.s_[0:0]], ids=str)
def test_cupy_reads_ours(cp, name, view):
    x = ours(name)[view]
    for theirs in (cp.from_dlpack(x), cp.asarray(x)):
        assert theirs.dtype == name and theirs.shape == x.shape
        np.testing.assert_array_equal(cp.asnumpy(theirs), x.numpy())


def test_cupy_shares_our_memory(cp):
    x = ours(shape=(1000,))
    assert cp.asarray(x).data.ptr == address(x)
    assert cp.from_dlpack(x).data.ptr == address(x)


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("view", [np.s_[:], np.s_[::-1, ::2], np.s_[1], np.s_[0:0]], ids=str)
def test_we_read_cupys(cp, name, view):
    theirs = cp.asarray((np.arange(12).reshape(3, 4) % 5).astype(name))[view]
    for x in (tt.from_dlpack(theirs), tt.asarray(theirs)):
        assert x.dtype == name and x.shape == theirs.shape
        np.testing.assert_array_equal(x.numpy(), cp.asnumpy(theirs))
        np.testing.assert_array_equal((x + x).numpy(), cp.asnumpy(theirs + theirs))


def test_we_share_cupys_memory(cp):
    theirs = cp.arange(1000.0)
    x = tt.from_dlpack(theirs)
    assert x.device == "cuda:0" and address(x) == theirs.data.ptr
    copied = tt.asarray(theirs)  # they may change it: a copy
    assert address(copied) != theirs.data.ptr
    theirs[0] = -1
    cp.cuda.Device().synchronize()
    assert copied[0] == 0


def test_foreign_memory_lives_as_long_as_we_need_it(cp):
    theirs = cp.full(N, 3.0, dtype="f4")
    x = tt.from_dlpack(theirs)
    del theirs
    gc.collect()
    junk = [cp.zeros(N, dtype="f4") for _ in range(4)]
    assert float(x.sum()) == 3.0 * N
    del junk


def test_our_memory_lives_as_long_as_they_need_it(cp):
    x = tt.full(N, 3, dtype="float32", device="cuda")
    theirs = cp.from_dlpack(x)
    del x
    gc.collect()
    junk = [tt.zeros(N, dtype="float32", device="cuda").eval() for _ in range(4)]
    assert float(theirs.sum()) == 3.0 * N
    del junk


def test_what_is_shown_never_changes(cp):
    x = ours(shape=(1000,))
    before = x.numpy()
    theirs = cp.from_dlpack(x)
    x += 1
    x[0] = -1
    x.eval()
    tt.cuda.synchronize()
    np.testing.assert_array_equal(cp.asnumpy(theirs), before)
    assert x[0] == -1 and x[1] == 2


# ---- order between streams


def slow(cp, a):
    for _ in range(20):
        a = cp.sin(a) + 1
    return a


@pytest.mark.parametrize("non_blocking", [False, True])
def test_their_unfinished_work_is_waited_for(cp, non_blocking):
    start = cp.full(N, 0.5, dtype="f4")
    want = cp.asnumpy(slow(cp, start)[:4])
    cp.cuda.Device().synchronize()
    with cp.cuda.Stream(non_blocking=non_blocking):
        theirs = slow(cp, start)
        got = (tt.from_dlpack(theirs) * 2).numpy()
        by_interface = (tt.asarray(theirs) * 2).numpy()
    np.testing.assert_allclose(got[:4], 2 * want, rtol=1e-6)
    np.testing.assert_array_equal(got, by_interface)


@pytest.mark.parametrize("non_blocking", [False, True])
def test_they_wait_for_our_unfinished_work(cp, non_blocking):
    x = tt.full(N, 0.5, dtype="float32", device="cuda")
    for _ in range(20):
        x = tt.sin(x) + 1
    with cp.cuda.Stream(non_blocking=non_blocking) as s:
        got = cp.from_dlpack(x).sum()
        s.synchronize()
    np.testing.assert_allclose(float(got), float(x.sum()), rtol=1e-4)


def test_our_streams_and_theirs(cp):
    ours_, theirs = tt.cuda.Stream(), cp.cuda.Stream(non_blocking=True)
    taken = tt.cuda.ExternalStream(theirs.ptr)
    assert taken.ptr == theirs.ptr
    with ours_:
        x = tt.sin(tt.arange(N, dtype="float32", device="cuda")).eval()
    with taken:
        y = (x * 2).eval()
    e = taken.record()
    e.synchronize()
    assert e.query() and taken.query()
    np.testing.assert_allclose(y.numpy(), 2 * np.sin(np.arange(N, dtype="f4")), atol=1e-5)
    again = tt.cuda.ExternalStream(theirs)
    assert again.ptr == theirs.ptr and again == taken
    del taken, theirs  # `again` keeps it
    np.testing.assert_allclose((y + x).numpy(), 3 * np.sin(np.arange(N, dtype="f4")), atol=1e-5)
    del again  # what refers to a stream that is gone goes on
    np.testing.assert_allclose((y + x).numpy(), 3 * np.sin(np.arange(N, dtype="f4")), atol=1e-5)
    del y
    np.testing.assert_allclose((x * 3).numpy(), 3 * np.sin(np.arange(N, dtype="f4")), atol=1e-5)
    external = cp.cuda.ExternalStream(ours_.ptr)
    with external:
        assert float(cp.arange(10).sum()) == 45


def test_events_measure():
    x = tt.ones(N, dtype="float64", device="cuda").eval()
    first, last = tt.cuda.Event(), tt.cuda.Event()
    tt.cuda.synchronize()
    first.record()
    tt.exp(x).eval()
    last.record()
    last.synchronize()
    ms = first.elapsed_time(last)
    assert 0.01 < ms < 1000


# ---- PyTorch


@pytest.mark.parametrize("name", [n for n in TYPES if n != "uint16"])
def test_torch_reads_ours(torch, name):
    x = ours(name)
    theirs = torch.from_dlpack(x)
    assert theirs.device.type == "cuda" and tuple(theirs.shape) == x.shape
    np.testing.assert_array_equal(theirs.cpu().numpy(), x.numpy())


@pytest.mark.parametrize("name", ["float32", "int64", "bfloat16", "float16", "complex64"])
def test_we_read_torchs(torch, name):
    theirs = torch.arange(12, device="cuda").reshape(3, 4).to(getattr(torch, name))
    x = tt.from_dlpack(theirs)
    assert x.device == "cuda:0" and x.dtype == name
    assert x.T[1:].tolist() == theirs.T[1:].tolist()
    if name != "bfloat16":
        assert address(x) == theirs.data_ptr()
    assert tt.device(theirs.device) == "cuda:0"
    assert tt.zeros(3, device=theirs.device).device == "cuda:0"


def test_torch_streams_are_waited_for(torch):
    start = torch.full((N,), 0.5, device="cuda")
    torch.cuda.synchronize()
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        a = start
        for _ in range(20):
            a = torch.sin(a) + 1
        got = tt.from_dlpack(a).sum()
    np.testing.assert_allclose(float(got), float(a.double().sum()), rtol=1e-4)


# ---- Numba


def test_numba_reads_ours_and_we_read_its():
    cuda = pytest.importorskip("numba.cuda")
    if not cuda.is_available():
        pytest.skip("this Numba has no CUDA")
    theirs = cuda.to_device(np.arange(100.0))
    x = tt.asarray(theirs)
    assert x.device == "cuda:0" and float(x.sum()) == 4950
    np.testing.assert_array_equal(cuda.as_cuda_array(x + 1).copy_to_host(), np.arange(100.0) + 1)


# ---- memory


def test_the_figures_add_up():
    tt.cuda.synchronize()
    gc.collect()
    before = tt.cuda.memory_allocated()
    tt.cuda.reset_peak_memory_stats()
    x = tt.ones(N, dtype="float32", device="cuda").eval()
    y = (x + 1).eval()
    grown = tt.cuda.memory_allocated() - before
    assert 2 * 4 * N <= grown <= 2 * 4 * N + (1 << 20)
    assert tt.cuda.max_memory_allocated() >= before + grown
    assert tt.cuda.memory_reserved() >= tt.cuda.memory_allocated()
    free, total = tt.cuda.mem_get_info()
    assert 0 < free < total
    del x, y
    tt.cuda.synchronize()
    tt.cuda.empty_cache()
    assert tt.cuda.memory_allocated() == before
    assert "cuda:0" in tt.cuda.memory_summary() and "peak" in tt.cuda.memory_summary()


def test_properties():
    p = tt.cuda.get_device_properties()
    d = tt.cuda.device()
    assert p.name == d.label == tt.cuda.get_device_name() and (p.major, p.minor) == tt.cuda.get_device_capability()
    assert p.total_memory == d.memory.total and p.multi_processor_count > 1 and p.warp_size == 32
    assert tt.cuda.current_device() == 0 and tt.cuda.device_count() >= 1
    assert d.temperature is None or 0 < d.temperature < 120
    assert d.power is None or 0 < d.power < 2000
    assert d.utilization is None or 0 <= d.utilization <= 100


def test_pinned_arrays_move():
    p = tt.cuda.pinned_array((1000, 1000), "float32")
    p[:] = 2
    x = tt.asarray(p, device="cuda")
    assert float(x.sum()) == 2e6
