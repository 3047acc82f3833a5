"""Programs written for PyCUDA, over tutti."""

import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

pytestmark = pytest.mark.skipif(not (shutil.which("c++") or shutil.which("g++")), reason="no C++ compiler")

import tutti.compat.pycuda.autoinit  # noqa: E402, F401
import tutti.compat.pycuda.driver as drv  # noqa: E402
from tutti.compat.pycuda import _place, cumath, gpuarray  # noqa: E402
from tutti.compat.pycuda.compiler import SourceModule  # noqa: E402
from tutti.compat.pycuda.elementwise import ElementwiseKernel  # noqa: E402
from tutti.compat.pycuda.reduction import ReductionKernel  # noqa: E402

SOURCE = """
__global__ void multiply_them(float *dest, float *a, float *b) {
  const int i = threadIdx.x;
  dest[i] = a[i] * b[i];
}
__global__ void doublify(float *a) {
  int idx = threadIdx.x + threadIdx.y * 4;
  a[idx] *= 2;
}
__constant__ float factor[2];
__global__ void scale(float *a) { a[threadIdx.x] *= factor[1]; }
"""


@pytest.fixture(scope="module")
def mod():
    return SourceModule(SOURCE)


def test_in_and_out(mod):
    a, b = np.random.randn(400).astype("f4"), np.random.randn(400).astype("f4")
    dest = np.zeros_like(a)
    mod.get_function("multiply_them")(drv.Out(dest), drv.In(a), drv.In(b), block=(400, 1, 1), grid=(1, 1))
    assert np.array_equal(dest, a * b)
    kept = a.copy()
    mod.get_function("doublify")(drv.In(a), block=(4, 4, 1))
    assert np.array_equal(a, kept)
    mod.get_function("doublify")(drv.InOut(a), block=(4, 4, 1))
    assert np.array_equal(a[:16], kept[:16] * 2)


def test_explicit_memory(mod):
    a = np.random.randn(4, 4).astype("f4")
    a_gpu = drv.mem_alloc(a.nbytes)
    drv.memcpy_htod(a_gpu, a)
    func = mod.get_function("doublify")
    func(a_gpu, block=(4, 4, 1), grid=(1, 1), shared=0)
    out = np.empty_like(a)
    drv.memcpy_dtoh(out, a_gpu)
    assert np.array_equal(out, a * 2)
    other = drv.mem_alloc(a.nbytes)
    drv.memcpy_dtod(other, a_gpu, a.nbytes)
    func(np.intp(int(other)), block=(4, 4, 1))
    assert np.array_equal(drv.from_device_like(other, a), a * 4)
    mod.get_function("multiply_them")(int(other) + 4, a_gpu, a_gpu, block=(15, 1, 1))
    assert np.array_equal(drv.from_device_like(other, a).ravel()[1:], (out * out).ravel()[:15])
    drv.memset_d32(other, 0, 16)
    assert not drv.from_device_like(other, a).any()
    other.free()
    with pytest.raises(drv.LogicError):
        other.free()
    with pytest.raises(drv.LogicError):
        func(other, block=(4, 4, 1))
    with pytest.raises(drv.LogicError, match="beyond"):
        drv.memcpy_htod(a_gpu, np.zeros(1000))


def test_globals_events_and_devices(mod):
    address, size = mod.get_global("factor")
    drv.memcpy_htod(address, np.array([1, 3], "f4"))
    a = np.ones(4, "f4")
    mod.get_function("scale")(drv.InOut(a), block=(4, 1, 1))
    assert (a == 3).all() and size == 8
    begin, end = drv.Event(), drv.Event()
    begin.record()
    stream = drv.Stream()
    host = drv.pagelocked_empty(4, np.float32)
    host[:] = 1
    d = drv.to_device(host)
    drv.memcpy_dtoh_async(host, d, stream)
    end.record(stream).synchronize()
    assert end.time_since(begin) >= 0
    dev = drv.Device(0)
    assert drv.Device.count() >= 1 and dev.compute_capability() >= (1, 0)
    assert dev.get_attribute(drv.device_attribute.MAX_THREADS_PER_BLOCK) == 1024 and dev.max_block_dim_x == 1024
    free, total = drv.mem_get_info()
    assert 0 < free <= total
    with pytest.raises(AttributeError, match="does not cover pycuda.driver.Texture"):
        drv.Texture  # noqa: B018
    with pytest.raises(drv.LogicError):
        mod.get_function("missing")
    with pytest.raises(drv.CompileError, match="nothing"):
        SourceModule("__global__ void f(int *a) { a[0] = nothing; }")


def test_gpuarray(mod):
    a = np.random.randn(4, 4).astype("f4")
    g = gpuarray.to_gpu(a)
    assert np.array_equal((2 * g).get(), 2 * a)
    assert np.allclose((g * g - g / 2 + 1).get(), a * a - a / 2 + 1)
    assert np.allclose(cumath.exp(g).get(), np.exp(a), rtol=1e-6)
    assert np.isclose(float(gpuarray.sum(g).get()), a.sum(), rtol=1e-4)
    assert np.isclose(float(gpuarray.dot(g, g).get()), (a * a).sum(), rtol=1e-5)
    mod.get_function("doublify")(g, block=(4, 4, 1))
    assert np.array_equal(g.get(), a * 2)
    g += 1
    assert np.array_equal(g.get(), a * 2 + 1)
    z = gpuarray.zeros_like(g)
    z.set(a)
    assert np.array_equal(gpuarray.if_positive(z, z, -z).get(), np.abs(a))
    assert g.shape == (4, 4) and g.dtype == np.float32 and z[1].get().shape == (4,)


def test_elementwise_and_reduction():
    x, y = gpuarray.arange(400, dtype=np.float32), gpuarray.to_gpu(np.ones(400, "f4"))
    z = gpuarray.empty_like(x)
    lin = ElementwiseKernel("float a, float *x, float b, float *y, float *z", "z[i] = a*x[i] + b*y[i]", "linear")
    lin(5, x, 6, y, z)
    assert np.array_equal(z.get(), 5 * np.arange(400, dtype="f4") + 6)
    dot = ReductionKernel(np.float32, "0", "a+b", "x[i]*y[i]", "float *x, float *y")
    assert float(dot(x, y).get()) == 400 * 399 / 2
    top = ReductionKernel(np.float32, "-1e30f", "fmaxf(a, b)", arguments="const float *in")
    assert float(top(x).get()) == 399


def test_elementwise_kernels_are_operations_of_the_graph():
    x, y = gpuarray.to_gpu(np.arange(6, dtype="f4")), gpuarray.to_gpu(np.arange(6, dtype="f4") * 2)
    z = gpuarray.zeros(6, np.float32)
    step = ElementwiseKernel(
        "float a, float *x, const float *__restrict__ y, float *z", "z[i] = a * x[i] + y[n - 1 - i]; x[i] += i", "step"
    )
    step(np.float32(3), x, y, z)
    assert "z = %" in step.explain()
    assert np.array_equal(z.get(), 3 * np.arange(6, dtype="f4") + np.arange(10, -1, -2))
    assert np.array_equal(x.get(), np.arange(6) * 2)
    part = gpuarray.zeros((2, 4), np.float32)
    ElementwiseKernel("const float *x, float *z", "z[i] = x[i] > 4 ? x[i] : -1.f", "cut")(x, part)
    assert np.array_equal(part.get().ravel(), [-1, -1, -1, 6, 8, 10, 0, 0])
    with pytest.raises(TypeError, match="'z' is float32, the array given is float64"):
        step(1, x, y, gpuarray.zeros(6, np.float64))
    loop = ElementwiseKernel("float *x, int m", "for (int j = 0; j < m; j++) x[i] += 1", "loop")
    loop(x, 3)
    assert np.array_equal(x.get(), np.arange(6) * 2 + 3)
    assert "'for' is not straight-line code" in loop.explain()
    moved = ElementwiseKernel("float *x", "x[i] = x[n - 1 - i]", "moved")  # a race in CUDA: compiled, as it stands
    moved(x)
    assert "written and read at other places" in moved.explain()


def test_script_unchanged(tmp_path):
    script = tmp_path / "hello_gpu.py"
    script.write_text(
        "import pycuda.autoinit\nimport pycuda.driver as drv\nimport numpy\n"
        "from pycuda.compiler import SourceModule\n"
        f'mod = SourceModule("""{SOURCE}""")\n'
        "a = numpy.arange(400).astype(numpy.float32)\n"
        "dest = numpy.zeros_like(a)\n"
        'mod.get_function("multiply_them")(drv.Out(dest), drv.In(a), drv.In(a), block=(400, 1, 1))\n'
        "print(numpy.abs(dest - a * a).max())\n"
    )
    run = subprocess.run([sys.executable, "-m", "tutti", "run", script], capture_output=True, text=True, env=os.environ)
    assert run.stdout.strip() == "0.0", run.stderr


def test_random_arrays():
    from tutti.compat.pycuda import curandom

    a = curandom.rand((50, 40), np.float64)
    assert a.shape == (50, 40) and a.dtype == np.float64 and 0 <= a.get().min() < a.get().max() < 1
    for getter in (None, curandom.seed_getter_uniform, curandom.seed_getter_unique):
        g = curandom.XORWOWRandomNumberGenerator(getter)
        assert abs(g.gen_normal(20_000, np.float32).get().std() - 1) < 0.05
        g.fill_uniform(a)
        assert abs(a.get().mean() - 0.5) < 0.05
    fixed = lambda n: gpuarray.to_gpu(np.full(n, 7, np.int32))  # noqa: E731
    first, again = (curandom.XORWOWRandomNumberGenerator(fixed).gen_uniform(9, np.float32) for _ in range(2))
    assert np.array_equal(first.get(), again.get())
    with pytest.raises(AttributeError, match="does not cover pycuda.curandom.poisson"):
        curandom.poisson  # noqa: B018


def test_copies_of_every_kind():
    a = np.arange(8, dtype="i4")
    stream, host = drv.Stream(), drv.pagelocked_zeros(8, np.int32)
    x, y = drv.mem_alloc(a.nbytes), drv.mem_alloc(a.nbytes)
    drv.memcpy_htod_async(x, a, stream)
    drv.memcpy_dtod_async(y, x, a.nbytes, stream)
    drv.memcpy_dtoh_async(host, y, stream)
    stream.synchronize()
    assert stream.is_done() and np.array_equal(host, a)
    assert np.array_equal(drv.from_device(int(y) + 8, 6, np.int32), a[2:])
    if _place.here():
        with pytest.raises(drv.LogicError, match="memcpy_dtoh"):
            y.as_buffer(4, 4)
    else:
        assert bytes(y.as_buffer(4, 4)) == a[1:2].tobytes()
    drv.memset_d8(x, 1, 4)
    drv.memset_d16(y, 7, 2)
    assert drv.from_device(x, 1, np.int32)[0] == 0x01010101 and drv.from_device(y, 2, np.int16).tolist() == [7, 7]
    pitched, pitch = drv.mem_alloc_pitch(100, 3, 4)
    assert pitch % 4 == 0 and pitch >= 100 and pitched.size >= 3 * pitch
    for make in (drv.pagelocked_empty_like, drv.pagelocked_zeros_like):
        assert make(a).shape == a.shape
    assert drv.managed_zeros(3, np.float32).tolist() == [0, 0, 0] and drv.aligned_empty(3, np.int8).nbytes == 3
    assert drv.register_host_memory(a) is a
    with pytest.raises(drv.LogicError, match="no device memory lies at"):
        drv.memcpy_htod(12345, a)
    with pytest.raises(drv.LogicError):
        drv.mem_alloc(0)
    with pytest.raises(drv.MemoryError):
        drv.mem_alloc(1 << 62)


def test_prepared_calls_take_the_block_of_prepare(mod):
    """PyCUDA's first form, which it still takes."""
    f, a = mod.get_function("doublify"), drv.to_device(np.ones(16, "f4"))
    f.prepare("P", block=(4, 4, 1))
    f.prepared_call((1, 1), a)
    f.prepared_async_call((1, 1), drv.Stream(), a)
    assert (drv.from_device(a, 16, np.float32) == 4).all()
    with pytest.raises(TypeError, match="say block="):
        mod.get_function("doublify").prepared_call((1, 1), a)


def test_prepared_and_timed_calls(mod):
    f = mod.get_function("doublify").prepare("P", block=(4, 4, 1))
    a = drv.to_device(np.ones(16, "f4"))
    f.prepared_call((1, 1), (4, 4, 1), a)
    f.prepared_async_call((1, 1), (4, 4, 1), drv.Stream(), a)
    assert (drv.from_device(a, 16, np.float32) == 4).all()
    assert f(a, block=(4, 4, 1), time_kernel=True) >= 0
    begin, end = drv.Event().record(), drv.Event()
    with pytest.raises(drv.LogicError, match="never recorded"):
        begin.time_till(end)
    assert begin.time_till(end.record().synchronize()) >= 0 and end.query()
