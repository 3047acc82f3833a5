"""Programs written for CuPy, over tutti."""

# ruff: noqa: E501 (programs stand here as people write them)

import os
import shutil
import subprocess
import sys

import numpy as np
import pytest
import tutti.compat.cupy as cp

pytestmark = pytest.mark.skipif(not (shutil.which("c++") or shutil.which("g++")), reason="no C++ compiler")


def test_types_and_errors_are_numpys():
    assert cp.float32 is np.float32 and cp.integer is np.integer and cp.dtype is np.dtype
    assert {cp.complex64: 1}[cp.zeros(1, "complex64").dtype.type] == 1
    assert cp.issubdtype(cp.zeros(1).dtype, cp.floating) and not cp.issubdtype(np.int8, cp.unsignedinteger)
    with pytest.raises(cp.exceptions.AxisError):
        cp.zeros(3).sum(axis=1)
    with pytest.raises(cp.exceptions.AxisError):
        np.zeros(3).sum(axis=1)
    assert cp.zeros(3, cp.float32).dtype == cp.float32 and cp.float32(1.5) + cp.ones(1, "f4") == 2.5


def test_fused_functions():
    @cp.fuse(kernel_name="squared_diff")
    def f(x, y):
        return (x - y) * (x - y)

    @cp.fuse
    def both(x, scale=1):
        return cp.sum(x * scale, axis=0), {"largest": cp.max(x)}

    x, y = np.arange(6.0).reshape(2, 3), np.ones(3)
    assert f.__name__ == "squared_diff" and f.clear_cache() is None
    ours = f(cp.asarray(x), cp.asarray(y))
    assert isinstance(ours, cp.ndarray) and isinstance(f(x, cp.asarray(y)), cp.ndarray)
    assert isinstance(f(x, y), np.ndarray) and f(3, 1) == 4
    np.testing.assert_array_equal(ours, f(x, y))
    total, rest = both(x, scale=2)
    assert type(total) is np.ndarray and type(rest["largest"]) is np.float64
    np.testing.assert_array_equal(total, x.sum(axis=0) * 2)
    assert isinstance(both(cp.asarray(x))[0], cp.ndarray)


def test_draws_are_arrays():
    for rng in (cp.random, cp.random.RandomState(3), cp.random.default_rng(3)):
        for made in (rng.normal(), rng.lognormal(0, 1), rng.gamma(2.0), rng.poisson(3)):
            assert isinstance(made, cp.ndarray) and made.shape == () and made.get().shape == ()
    assert (
        cp.random.normal(dtype="f4").dtype == cp.random.RandomState(1).lognormal(0, 1, dtype="f4").dtype == np.float32
    )
    assert cp.random.multivariate_normal([0.0, 0.0], cp.eye(2), dtype="f4").dtype == np.float32
    rng = cp.random.default_rng(cp.random.XORWOW(1))
    first = rng.integers(5, size=3).get()
    rng.bit_generator = cp.random.XORWOW(1)
    assert np.array_equal(rng.integers(5, size=3).get(), first)


def test_raw_kernel():
    add = cp.RawKernel(
        r"""extern "C" __global__ void my_add(const float* x1, const float* x2, float* y) {
          int tid = blockDim.x * blockIdx.x + threadIdx.x;
          y[tid] = x1[tid] + x2[tid];
        }""",
        "my_add",
    )
    x1 = cp.arange(25, dtype=cp.float32).reshape(5, 5)
    x2 = cp.arange(25, dtype=cp.float32).reshape(5, 5)
    y = cp.zeros((5, 5), dtype=cp.float32)
    add((5,), (5,), (x1, x2, y))
    assert np.array_equal(cp.asnumpy(y), np.arange(25, dtype="f4").reshape(5, 5) * 2)


def test_complex_and_modules():
    code = r"""#include <cupy/complex.cuh>
    template <typename T> __global__ void test_sum(const T* x1, const T* x2, T* y, unsigned int N) {
      unsigned int tid = blockDim.x * blockIdx.x + threadIdx.x;
      if (tid < N) y[tid] = x1[tid] + x2[tid] * T(2);
    }"""
    names = ["test_sum<float>", "test_sum<complex<double>>"]
    module = cp.RawModule(code=code, options=("--std=c++14",), name_expressions=names)
    for name, dtype in zip(names, ("float32", "complex128"), strict=True):
        x = cp.arange(100).astype(dtype)
        y = cp.zeros(100, dtype=dtype)
        module.get_function(name)((1,), (128,), (x, x, y, 100))
        assert np.array_equal(y.get(), np.arange(100).astype(dtype) * 3)


@pytest.mark.parametrize("suffix, dtype", [("", "complex64"), ("f", "complex64"), ("", "complex128")])
def test_functions_of_cucomplex(suffix, dtype):
    kind = "cuDoubleComplex" if dtype == "complex128" else "cuComplex"
    code = f"""#include <cuComplex.h>
    extern "C" __global__ void f({kind} *x, {kind} y, {kind} *z) {{
        unsigned k = threadIdx.x;
        z[k] = cuCdiv{suffix}(cuCfma{suffix}(x[k], y, cuConj{suffix}(x[k])), cuCadd{suffix}(y, cuCmul{suffix}(y, y)));
        z[k].x += cuCabs{suffix}(cuCsub{suffix}(x[k], y)) + cuCreal{suffix}(x[k]) * cuCimag{suffix}(y);
    }}"""
    x, y, z = np.array([1 + 2j, -3, 0.5j], dtype), np.dtype(dtype).type(2 - 1j), cp.zeros(3, dtype)
    cp.RawKernel(code, "f", translate_cucomplex=True)((1,), (3,), (cp.array(x), y, z))
    want = (x * y + x.conj()) / (y + y * y) + abs(x - y) + x.real * y.imag
    np.testing.assert_allclose(z, want, rtol=1e-5)


@pytest.mark.parametrize("suffix, dtype", [("f", "complex64"), ("", "complex64"), ("", "complex128")])
def test_translated_quotients_and_sizes_are_the_arrays(suffix, dtype):
    kind = "cuDoubleComplex" if dtype == "complex128" else "cuComplex"
    code = f"""#include <cuComplex.h>
    extern "C" __global__ void f({kind} *x, {kind} *y, {kind} *q, {"double" if dtype == "complex128" else "float"} *s) {{
        unsigned k = threadIdx.x;
        q[k] = cuCdiv{suffix}(x[k], y[k]);
        s[k] = cuCabs{suffix}(x[k]);
    }}"""
    rng = np.random.default_rng(5)
    scale = 10.0 ** rng.integers(-200 if dtype == "complex128" else -18, 150 if dtype == "complex128" else 18, (2, 256))
    x, y = (cp.array((rng.standard_normal((256, 2)) @ [1, 1j] * by).astype(dtype)) for by in scale)
    q, s = cp.zeros(256, dtype), cp.zeros(256, x.real.dtype)
    with np.errstate(all="ignore"):
        cp.RawKernel(code, "f", translate_cucomplex=True)((1,), (256,), (x, y, q, s))
        np.testing.assert_array_equal(q, x / y)
    np.testing.assert_array_equal(s, abs(x))


def test_constant_memory_and_helpers():
    module = cp.RawModule(
        code='__constant__ float some_array[2]; extern "C" __global__ void f(float *o) { o[threadIdx.x] = some_array[threadIdx.x]; }'
    )
    memory = module.get_global("some_array")
    memory[...] = np.array([1.5, 2.5], "f4")
    o = cp.zeros(2, dtype="float32")
    module.get_function("f")((1,), (2,), (o,))
    assert o.tolist() == [1.5, 2.5]
    assert cp.get_array_module(o) is cp and cp.get_array_module(np.ones(2)) is np
    assert float(cp.linalg.norm(cp.ones(4))) == 2
    begin, end = cp.cuda.Event(), cp.cuda.Event()
    begin.record()
    end.record()
    assert cp.cuda.get_elapsed_time(begin, end) >= 0
    cp.cuda.Stream.null.synchronize()
    with pytest.raises(AttributeError, match="does not cover cupy.no_such_thing"):
        cp.no_such_thing  # noqa: B018


def test_kernels_from_python():
    from tutti.compat.cupyx import jit

    @jit.rawkernel(device=True)
    def twice(x):
        return 2 * x

    @jit.rawkernel()
    def reverse(x, y, total):
        s = jit.shared_memory(cp.float32, 64)
        i = jit.blockIdx.x * jit.blockDim.x + jit.threadIdx.x
        s[jit.threadIdx.x] = twice(x[i])
        jit.syncthreads()
        y[i] = s[jit.blockDim.x - 1 - jit.threadIdx.x]
        jit.atomic_add(total, 0, y[i])

    x = cp.arange(128, dtype=cp.float32)
    want = 2 * np.arange(128).reshape(2, 64)[:, ::-1].ravel()
    for launch in (lambda *a: reverse((2,), (64,), a), lambda *a: reverse[2, 64](*a)):
        y, total = cp.zeros(128, dtype=cp.float32), cp.zeros(1, dtype=cp.float32)
        launch(x, y, total)
        assert np.array_equal(y.get(), want) and float(total[0]) == want.sum()
    with pytest.raises(AttributeError, match="does not cover cupyx.jit.nothing"):
        jit.nothing  # noqa: B018


def test_time_of_a_function():
    from tutti.compat import cupyx

    x = cp.arange(100, dtype=cp.float64)
    t = cupyx.profiler.benchmark(lambda a: cupyx.rsqrt(a + 1), (x,), n_repeat=5, n_warmup=1, name="root")
    assert len(t.cpu_times) == 5 and t.gpu_times.shape == (1, 5)
    assert (t.gpu_times[0] >= t.cpu_times).all() and repr(t).startswith("root")
    assert np.allclose(cupyx.rsqrt(x + 1).get(), 1 / np.sqrt(np.arange(100) + 1))
    k = cp.ElementwiseKernel("T x, T y", "T z", "z = x - y")
    assert (k.nin, k.nout, k.nargs) == (2, 1, 3)


def test_script_unchanged(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import cupy as cp\n"
        "squared_diff = cp.ElementwiseKernel('float32 x, float32 y', 'float32 z', 'z = (x - y) * (x - y)', 'squared_diff')\n"
        "x = cp.arange(10, dtype=cp.float32).reshape(2, 5)\n"
        "print(squared_diff(x, cp.arange(5, dtype=cp.float32)).sum())\n"
    )
    run = subprocess.run([sys.executable, "-m", "tutti", "run", script], capture_output=True, text=True, env=os.environ)
    assert run.stdout.strip() == "125.0", run.stderr


def test_kernels_in_python():
    from tutti.compat.cupyx import jit
    from tutti.compat.cupyx.profiler import benchmark

    @jit.rawkernel(device=True)
    def half(v):
        return v / 2

    @jit.rawkernel()
    def halves(x, y, size):
        tid = jit.blockIdx.x * jit.blockDim.x + jit.threadIdx.x
        for i in jit.range(tid, size, jit.gridDim.x * jit.blockDim.x):
            y[i] = half(x[i])

    @jit.rawkernel()
    def backwards(x, total):
        s = jit.shared_memory(cp.float32, 64)
        t = jit.threadIdx.x
        s[t] = x[t]
        jit.syncthreads()
        x[t] = s[63 - t]
        v = x[t]
        for by in (16, 8, 4, 2, 1):
            v += jit.shfl_down_sync(0xFFFFFFFF, v, by)
        if jit.laneid() == 0:
            jit.atomic_add(total, 0, v)

    x = cp.arange(1000, dtype=cp.float32)
    y = cp.zeros(1000, dtype=cp.float32)
    halves((4,), (128,), (x, y, 1000))
    assert np.array_equal(cp.asnumpy(y), np.arange(1000, dtype="f4") / 2)
    halves[2, 64](x, x, cp.int32(1000))
    assert np.array_equal(cp.asnumpy(x), np.arange(1000, dtype="f4") / 2)
    small, total = cp.arange(64, dtype=cp.float32), cp.zeros(1, dtype=cp.float32)
    backwards((1,), (64,), (small, total))
    assert small.tolist() == list(range(63, -1, -1)) and float(total[0]) == 63 * 32
    times = benchmark(halves, ((4,), (128,), (x, y, 1000)), n_repeat=5, n_warmup=1)
    assert len(times.cpu_times) == 5 and "halves" in str(times)


def test_memory_pools_have_the_librarys_figures():
    pool, pinned = cp.get_default_memory_pool(), cp.get_default_pinned_memory_pool()
    pool.free_all_blocks()
    before = pool.used_bytes()
    x = cp.sqrt(cp.arange(1 << 20, dtype="float64"))
    x[5] = 1  # has memory now
    cp.cumsum(x).sum().get()
    assert pool.used_bytes() - before >= 8 << 20
    assert pool.total_bytes() == pool.used_bytes() + pool.free_bytes()
    del x
    assert pool.n_free_blocks() >= 1 and pool.free_bytes() >= 8 << 20
    pool.free_all_blocks()
    pool.free_all_free()
    assert pool.free_bytes() < 8 << 20
    assert pool.get_limit() == 0
    try:
        pool.set_limit(size=1 << 40)
        assert pool.get_limit() == 1 << 40
        pool.set_limit(fraction=0.5)
        assert 0 < pool.get_limit() < 1 << 60
    finally:
        pool.set_limit(size=0)
    assert pool.get_limit() == 0
    for words in ({}, {"size": 1, "fraction": 0.5}, {"size": -1}, {"fraction": 1.5}):
        with pytest.raises(ValueError):
            pool.set_limit(**words)
    pinned.free_all_blocks()
    assert pinned.n_free_blocks() == 0
