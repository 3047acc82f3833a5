"""Device memory of PyCUDA's programs, which keep its addresses and calculate with them, on the thread's device.

Run as a whole once more on the simulated device, which does things late (the last test).
"""

import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

pytestmark = pytest.mark.skipif(not (shutil.which("c++") or shutil.which("g++")), reason="no C++ compiler")

import tutti as tt  # noqa: E402
import tutti.compat.pycuda.autoinit as autoinit  # noqa: E402
import tutti.compat.pycuda.driver as drv  # noqa: E402
from tutti import _core  # noqa: E402
from tutti._device import numbered  # noqa: E402
from tutti.compat.pycuda import _place, gpuarray  # noqa: E402
from tutti.compat.pycuda.compiler import SourceModule  # noqa: E402
from tutti.compat.pycuda.elementwise import ElementwiseKernel  # noqa: E402
from tutti.compat.pycuda.reduction import ReductionKernel  # noqa: E402

SOURCE = """
struct pair { int n, pad; float *data; };
__global__ void double_them(pair *p) {
  p += blockIdx.x;
  for (int i = threadIdx.x; i < p->n; i += blockDim.x) p->data[i] *= 2;
}
__global__ void add_one(float *a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] += 1;
}
__global__ void sum_into(float *out, const float *a, const float *b) {
  out[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x];
}
__global__ void by_value(pair p, float x) { p.data[threadIdx.x] = x + p.n; }
__device__ float table[8];
__global__ void read_table(float *a) { a[threadIdx.x] = table[threadIdx.x]; }
"""


@pytest.fixture(scope="module")
def mod():
    return SourceModule(SOURCE)


def test_memory_lies_where_the_thread_works():
    a = drv.mem_alloc(400)
    assert _core.raw_find(int(a)) == (_place.here(), 400)
    assert _core.raw_find(int(a) + 399) == (_place.here(), 1)
    with pytest.raises(ValueError, match="no device memory lies at"):
        _core.raw_find(int(a) + 400)
    x = gpuarray.zeros(5, np.float32)
    assert x._array.device == (numbered(_place.here()) if _place.here() else "cpu")
    with tt.device("cpu"):
        b = drv.mem_alloc(8)
        assert _core.raw_find(int(b)) == (0, 8) and drv.Device.count() == 1 and "cpu" in drv.Device(0).name()
    assert autoinit.device == autoinit.context.get_device() == drv.Context.get_current().get_device()


def test_structures_that_hold_addresses(mod):
    """The tutorial's: an array of structures in device memory, with pointers to other memory."""
    rows = [np.arange(n, dtype="f4") + n for n in (3, 8)]
    data = [drv.to_device(r) for r in rows]
    structs = drv.mem_alloc(2 * 16)
    for k, (r, d) in enumerate(zip(rows, data)):
        drv.memcpy_htod(int(structs) + 16 * k, np.array([len(r), 0], np.int32))
        drv.memcpy_htod(structs + 16 * k + 8, np.intp(int(d)))
    f = mod.get_function("double_them")
    f(structs, block=(32, 1, 1), grid=(2, 1))
    assert all(np.array_equal(drv.from_device_like(d, r), 2 * r) for d, r in zip(data, rows))
    f(np.intp(int(structs) + 16), block=(32, 1, 1))  # the second one alone, by its address
    assert np.array_equal(drv.from_device_like(data[1], rows[1]), 4 * rows[1])
    assert np.array_equal(drv.from_device_like(data[0], rows[0]), 2 * rows[0])
    kind = np.dtype([("n", np.int32), ("pad", np.int32), ("data", np.intp)])
    one = np.zeros((), kind)
    one["n"], one["data"] = 40, int(data[0])
    mod.get_function("by_value")(one[()], np.float32(2), block=(3, 1, 1))
    assert drv.from_device_like(data[0], rows[0]).tolist() == [42, 42, 42]


def test_addresses_inside(mod):
    a = np.arange(64, dtype="f4")
    whole = drv.to_device(a)
    f = mod.get_function("add_one")
    f(int(whole) + 16 * 4, np.int32(8), block=(32, 1, 1))
    f(whole + 32 * 4, np.int32(8), block=(32, 1, 1))
    a[16:24] += 1
    a[32:40] += 1
    assert np.array_equal(drv.from_device_like(whole, a), a)
    mod.get_function("sum_into")(whole, int(whole) + 4, int(whole) + 8, block=(1, 1, 1))
    assert drv.from_device(whole, 1, np.float32)[0] == a[1] + a[2]
    with pytest.raises(drv.LogicError, match="no device memory lies at 0x3039"):
        f(12345, np.int32(1), block=(1, 1, 1))
    f(None, np.int32(0), block=(1, 1, 1))  # a null pointer that is not looked at
    with pytest.raises(drv.LogicError, match="reaches beyond"):
        drv.memcpy_dtoh(np.zeros(64, "f4"), int(whole) + 4)
    with pytest.raises(drv.LogicError, match="reaches beyond"):
        drv.memset_d32(int(whole) + 252, 0, 2)
    with pytest.raises(drv.LogicError, match="launch needs at least one block"):
        f(whole, np.int32(1), block=(0, 1, 1))
    with pytest.raises(TypeError, match="needs an array, a number is given"):
        tt.RawKernel('extern "C" __global__ void f(float *a) {}', "f")((1,), (1,), (int(whole),))


@pytest.mark.parametrize("count", [1, 3, 1000, 70_001])
def test_fills(count):
    d = drv.mem_alloc(4 * count + 4)
    drv.memset_d8(d, 9, 4 * count + 4)
    drv.memset_d32(d, 0xDEADBEEF, count)
    assert (drv.from_device(d, count, np.uint32) == 0xDEADBEEF).all()
    assert drv.from_device(int(d) + 4 * count, 1, np.uint32)[0] == 0x09090909
    drv.memset_d16(d, 0x1234, count)
    assert (drv.from_device(d, count, np.uint16) == 0x1234).all()


def test_variables_and_their_order(mod):
    """A copy to a variable comes after the kernels that were launched before it, and before those after."""
    address, size = mod.get_global("table")
    assert size == 32 and address == mod.get_global("table")[0]
    out = [drv.mem_alloc(32) for _ in range(5)]
    for k, d in enumerate(out):
        drv.memcpy_htod(address, np.full(8, k, "f4"))
        mod.get_function("read_table")(d, block=(8, 1, 1))
    drv.memset_d32(int(address) + 4, 0, 7)
    assert [drv.from_device(d, 8, np.float32).tolist() for d in out] == [[k] * 8 for k in range(5)]
    assert drv.from_device(address, 8, np.float32).tolist() == [4] + [0] * 7


def test_streams_and_the_default_one(mod):
    """Without a word of waiting: the default stream and others wait for each other, as CUDA's do."""
    f, n = mod.get_function("add_one"), np.int32(4096)
    streams = [drv.Stream() for _ in range(3)]
    host = drv.pagelocked_empty(4096, np.float32)
    host[:] = 0
    d = drv.mem_alloc(host.nbytes)
    for k in range(12):
        s = streams[k % 3]
        drv.memcpy_htod_async(d, host, s)
        for _ in range(5):
            f(d, n, block=(256, 1, 1), grid=(16, 1), stream=s)
        f(d, n, block=(256, 1, 1), grid=(16, 1))  # the default stream: after s
        drv.memcpy_dtoh_async(host, d, streams[(k + 1) % 3])  # after that
        streams[(k + 1) % 3].synchronize()
        assert (host == 6 * (k + 1)).all(), k
    s = drv.Stream()
    f(d, n, block=(256, 1, 1), grid=(16, 1), stream=s)
    del s  # what was asked of it is done all the same
    assert (drv.from_device(d, 4096, np.float32) == 73).all()
    done = drv.Event().record(streams[0])
    streams[1].wait_for_event(done)
    assert isinstance(streams[0].handle, int) and streams[0].is_done() in (True, False)
    done.synchronize()
    assert done.query()


def test_arrays_have_addresses(mod):
    a = np.arange(24, dtype="f4").reshape(4, 6)
    x = gpuarray.to_gpu(a)
    row, cut, kept = x[1], x[:, 2:4], x + 0
    p = x.ptr
    assert p == int(x.gpudata) == x.gpudata + 0 and row.ptr == p + 24 and x[2:].ptr == p + 48
    assert x.shape == (4, 6) and x.dtype == np.float32 and len(x) == 4 and x.nbytes == 96 and row.size == 6
    f = mod.get_function("add_one")
    f(p, np.int32(24), block=(32, 1, 1))
    a += 1
    assert np.array_equal(x.get(), a) and np.array_equal(row.get(), a[1]) and np.array_equal(cut.get(), a[:, 2:4])
    assert np.array_equal(kept.get(), a - 1)  # values are those of the time when they were asked for
    f(row, np.int32(6), block=(32, 1, 1))
    f(x[3], np.int32(2), block=(32, 1, 1))
    a[1] += 1
    a[3, :2] += 1
    assert np.array_equal(x.get(), a) and x.ptr == p
    row.fill(5)
    cut *= 2
    x[0, 0] = -1
    x[2].set(np.full(6, 8, "f4"))
    a[1] = 5
    a[:, 2:4] *= 2
    a[0, 0] = -1
    a[2] = 8
    assert np.array_equal(x.get(), a) and x.ptr == p and np.array_equal((x * 2).get(), a * 2)
    with pytest.raises(ValueError, match="not contiguous"):
        f(cut, np.int32(1), block=(1, 1, 1))
    drv.memcpy_dtoh(a, x.gpudata)
    drv.memcpy_dtod(x.gpudata, row.gpudata, 24)
    a[0] = a[1]
    assert np.array_equal(x.get(), a)
    assert gpuarray.zeros(0, np.float32).ptr == 0
    every = x[np.array([0, 2])]  # a copy
    x.fill(0)
    assert np.array_equal(every.get(), a[[0, 2]])


def test_arrays_over_given_memory(mod):
    a = np.arange(12, dtype="i4")
    d = drv.to_device(a)
    x = gpuarray.GPUArray((3, 4), np.int32, gpudata=d)
    y = gpuarray.GPUArray(4, np.int32, gpudata=int(d) + 16)
    y += 10
    a[4:8] += 10
    assert np.array_equal(x.get(), a.reshape(3, 4)) and x.ptr == int(d) and x.gpudata is not None
    assert int(gpuarray.sum(x).get()) == a.sum()
    x.set(np.zeros((3, 4), "i4"))
    assert not drv.from_device_like(d, a).any()
    with pytest.raises(drv.LogicError, match="reaches beyond"):
        gpuarray.GPUArray(13, np.int32, gpudata=d).get()


def test_expressions_over_addresses():
    a = np.arange(10, dtype="f4")
    x, y, z = (gpuarray.to_gpu(a) for _ in range(3))
    p = z.ptr
    ElementwiseKernel("float a, float *x, float *y, float *z", "z[i] = a * x[i] + y[i]", "axpy")(3, x, y, z)
    assert np.array_equal(z.get(), 4 * a) and z.ptr == p
    dot = ReductionKernel(np.float32, "0", "a+b", "x[i]*y[i]", "float *x, float *y")
    assert float(dot(x, z).get()) == (a * 4 * a).sum()
    ElementwiseKernel("float *x", "x[i] = -x[i]", "negate")(z[2:4])
    assert z.get()[:5].tolist() == [0, 4, -8, -12, 16]


def test_in_and_out_of_every_kind(mod):
    f = mod.get_function("add_one")
    a = np.arange(12, dtype="f4")
    kept = a.copy()
    f(drv.In(a), np.int32(12), block=(12, 1, 1))
    assert np.array_equal(a, kept)
    f(drv.InOut(a), np.int32(12), block=(12, 1, 1))
    assert np.array_equal(a, kept + 1)
    out = np.zeros(4, "f4")
    mod.get_function("sum_into")(drv.Out(out), drv.In(a[:4]), drv.In(a[4:8]), block=(4, 1, 1))
    assert np.array_equal(out, a[:4] + a[4:8])
    turned = np.asfortranarray(np.arange(6, dtype="f4").reshape(2, 3))
    f(drv.InOut(turned), np.int32(2), block=(2, 1, 1))  # the first two in memory: a column
    assert turned.tolist() == [[1, 1, 2], [4, 4, 5]]
    kind = np.dtype([("n", np.int32), ("pad", np.int32), ("data", np.intp)])
    data = drv.to_device(np.ones(3, "f4"))
    mod.get_function("double_them")(drv.In(np.array([(3, 0, int(data))], kind)), block=(4, 1, 1))
    assert drv.from_device(data, 3, np.float32).tolist() == [2, 2, 2]
    with pytest.raises(TypeError, match="points at float32, the array holds float64"):
        f(drv.In(np.zeros(4)), np.int32(4), block=(4, 1, 1))
    with pytest.raises(ValueError, match="not contiguous"):
        f(drv.In(np.zeros(8, "f4")[::2]), np.int32(4), block=(4, 1, 1))

    class Holder(drv.PointerHolderBase):
        def get_pointer(self):
            return int(data)

    f(Holder(), np.int32(3), block=(4, 1, 1))
    assert drv.from_device(data, 3, np.float32).tolist() == [3, 3, 3]


def test_pagelocked_arrays():
    for order in "CF":
        p = drv.pagelocked_zeros((3, 5), np.complex64, order)
        assert p.flags[f"{order}_CONTIGUOUS"] and not p.any() and p.flags.writeable
        like = drv.pagelocked_empty_like(p)
        assert like.shape == p.shape and like.flags[f"{order}_CONTIGUOUS"]
    d = drv.mem_alloc(1 << 16)
    for k in range(40):  # each is gone while its copy may be under way
        host = drv.pagelocked_empty(1 << 14, np.int32)
        host[:] = k
        drv.memcpy_htod_async(d, host)
        del host
    assert (drv.from_device(d, 1 << 14, np.int32) == 39).all()


def test_contexts():
    before = _core._get_device()
    first = drv.Device(0).make_context()
    assert first.get_device() == drv.Device(0)
    first.pop()
    drv.Context.pop()  # one too many
    assert _core._get_device() == before
    with pytest.raises(drv.LogicError, match="invalid device ordinal"):
        drv.Device(drv.Device.count())


def test_no_memory():
    with pytest.raises(drv.MemoryError):
        drv.mem_alloc(1 << 62)
    kind = "device memory" if _place.here() else "memory"
    _core._test_fail(kind, 0, True)
    try:
        with pytest.raises(drv.MemoryError):
            drv.mem_alloc(100 << 20)
    finally:
        _core._test_fail(kind, -1, False)
    assert drv.mem_alloc(100 << 20).size == 100 << 20


def test_the_command_line_chooses(tmp_path):
    script = tmp_path / "where.py"
    script.write_text(
        "import pycuda.autoinit, pycuda.driver as drv\n"
        "from tutti import _core, _device\n"
        "a = drv.mem_alloc(8)\n"
        "print(_device.numbered(_core.raw_find(int(a))[0]))\n"
    )
    for device in ("cpu", "null:0"):
        done = subprocess.run(
            [sys.executable, "-m", "tutti", "run", "--device", device, script],
            capture_output=True, text=True, timeout=120, env=os.environ | {"TUTTI_NULL_DEVICE": "1"},
        )  # fmt: skip
        assert done.stdout.startswith(device), done.stderr


@pytest.mark.skipif("TUTTI_NULL_DEVICE" in os.environ, reason="this is such a run")
def test_all_of_it_on_a_device_that_runs_late():
    tests = [__file__, os.path.join(os.path.dirname(__file__), "test_pycuda.py")]
    env = {**os.environ, "TUTTI_NULL_DEVICE": "2", "TUTTI_DEVICE": "null:0", "PYTEST_ADDOPTS": ""}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *tests],
        env=env, capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-4000:]
