"""What programs of PyCUDA's users say beside its first examples: scans, complex numbers, memory of other libraries."""

import numpy as np
import pytest
from tutti.compat.numba import cuda as numba_cuda
from tutti.compat.pycuda import cumath, gpuarray
from tutti.compat.pycuda import driver as cuda
from tutti.compat.pycuda.compiler import SourceModule
from tutti.compat.pycuda.elementwise import ElementwiseKernel
from tutti.compat.pycuda.scan import ExclusiveScanKernel, InclusiveScanKernel

rng = np.random.default_rng(5)


@pytest.mark.parametrize("n", [1, 63, 64, 65, 1000, 300_001])
def test_scans(n):
    x = rng.integers(-9, 9, n).astype(np.int32)
    want = np.cumsum(x, dtype=np.int32)
    inclusive, exclusive = InclusiveScanKernel(np.int32, "a+b"), ExclusiveScanKernel(np.int32, "a+b", 0)
    given = gpuarray.to_gpu(x)
    out = gpuarray.empty_like(given)
    assert inclusive(given, out) is out
    np.testing.assert_array_equal(out.get(), want)
    np.testing.assert_array_equal(given.get(), x)
    np.testing.assert_array_equal(exclusive(given).get(), want - x)  # in place


def test_scans_keep_the_order_of_their_operands():
    """Affine maps after one another: associative, not commutative."""
    x = rng.integers(0, 2**31, 20_000).astype(np.uint64)
    fold = "(((a >> 32) * (b >> 32)) << 32) | (unsigned)((unsigned)b + (unsigned)(b >> 32) * (unsigned)a)"
    x |= (rng.integers(0, 2**31, x.size).astype(np.uint64) * np.uint64(2) + np.uint64(1)) << np.uint64(32)
    got = InclusiveScanKernel(np.uint64, fold)(gpuarray.to_gpu(x)).get()
    m, c = 1, 0
    for k, v in enumerate(x.tolist()):
        m, c = m * (v >> 32) % 2**32, (v % 2**32 + (v >> 32) * c) % 2**32
        if k % 1999 == 0:
            assert (int(got[k]) >> 32, int(got[k]) % 2**32) == (m, c)


def test_a_scan_of_the_running_maximum_into_a_new_array():
    x = rng.random(500).astype(np.float32)
    top = ExclusiveScanKernel(np.float32, "max(a, b)", "-1.0f", preamble="#define UNUSED 1")
    given = gpuarray.to_gpu(x)
    got = top(given, "new").get()
    np.testing.assert_array_equal(got[1:], np.maximum.accumulate(x)[:-1])
    np.testing.assert_array_equal(given.get(), x)
    assert got[0] == -1 and top(gpuarray.zeros(0, np.float32)).shape == (0,)
    counts = gpuarray.to_gpu(np.arange(5, dtype=np.uint32))  # the sign of whole numbers is the program's
    assert InclusiveScanKernel(np.int32, "a+b")(counts).get().tolist() == [0, 1, 3, 6, 10]
    with pytest.raises(TypeError, match="points at float32, the array holds int32"):
        top(gpuarray.zeros(3, np.int32))
    with pytest.raises(ValueError, match="must have the same shape"):
        top(gpuarray.zeros(3, np.float32), gpuarray.zeros(4, np.float32))
    with pytest.raises(ValueError, match="neutral element is required"):
        ExclusiveScanKernel(np.float32, "a+b")


def test_complex_numbers_of_pycuda():
    module = SourceModule("""
    #include <pycuda-complex.hpp>
    typedef pycuda::complex<double> number;
    __global__ void five(const number *x, number *y) {
      number z = x[threadIdx.x];
      y[threadIdx.x * 5] = sqrt(z);
      y[threadIdx.x * 5 + 1] = log(z);
      y[threadIdx.x * 5 + 2] = pow(z, number(1.5, 0.25));
      y[threadIdx.x * 5 + 3] = sin(z) * 2.0;
      y[threadIdx.x * 5 + 4] = cos(z) / number(0.0, 1.0);
    }""")
    x = np.array([1 + 2j, -3 + 0.5j, -2 - 1j, 0.25, 4j, -4, 1e-3 - 1e-9j])
    y = np.empty((x.size, 5), complex)
    module.get_function("five")(cuda.In(x), cuda.Out(y), block=(x.size, 1, 1))
    want = np.stack([np.sqrt(x), np.log(x), x ** (1.5 + 0.25j), 2 * np.sin(x), np.cos(x) / 1j], 1)
    np.testing.assert_allclose(y, want, rtol=1e-13, atol=1e-15)
    escape = ElementwiseKernel(
        "pycuda::complex<float> *c, float *out, int most",
        "out[i] = 1; pycuda::complex<float> z(0, 0);"
        "for (int k = 0; k < most; k++) { z = z * z + c[i]; if (abs(z) > 2.0f) { out[i] = 0; break; } }",
    )
    c = gpuarray.to_gpu(np.array([0, 1, -1, 0.25j, 2], np.complex64))
    out = gpuarray.empty(5, np.float32)
    escape(c, out, np.int32(50))
    assert out.get().tolist() == [1, 0, 1, 1, 0]


@numba_cuda.jit
def twice(x):
    i, j = numba_cuda.grid(2)
    if i < x.shape[0] and j < x.shape[1]:
        x[i, j] *= 2


@pytest.mark.parametrize("lies", [False, True])
def test_kernels_of_numba_take_gpuarrays(lies):
    x = rng.random((3, 5))
    a = gpuarray.to_gpu(x)
    if lies:
        assert a.ptr
    twice[(1, 1), (8, 8)](a)
    np.testing.assert_array_equal(a.get(), 2 * x)


class Shown:
    """Somebody's array, known by its interface alone."""

    def __init__(self, n):
        self.memory = cuda.mem_alloc(4 * n)
        self.__cuda_array_interface__ = {
            "shape": (n,), "typestr": "<i4", "data": (int(self.memory), False), "strides": None, "version": 3,
        }  # fmt: skip


class Held:
    def __init__(self, n):
        self.gpudata = cuda.mem_alloc(4 * n)


@pytest.mark.parametrize("kind", [Shown, Held])
def test_arguments_that_show_their_memory(kind):
    count = SourceModule("__global__ void count(int *x) { x[threadIdx.x] = threadIdx.x; }").get_function("count")
    made = kind(16)
    count(made, block=(16, 1, 1))
    at = made.memory if kind is Shown else made.gpudata
    assert cuda.from_device(at, 16, np.int32).tolist() == list(range(16))


def test_pointers_to_what_lies_alike():
    """The sign of a whole number and the pair that a complex number is are views; another width is a mistake."""
    module = SourceModule("""
    __global__ void negate(int *x) { x[threadIdx.x] = -x[threadIdx.x]; }
    __global__ void swap(float *z) { float t = z[2 * threadIdx.x]; z[2 * threadIdx.x] = z[2 * threadIdx.x + 1];
                                     z[2 * threadIdx.x + 1] = t; }""")
    x = np.arange(4, dtype=np.uint32)
    module.get_function("negate")(cuda.InOut(x), block=(4, 1, 1))
    assert x.tolist() == [0, 2**32 - 1, 2**32 - 2, 2**32 - 3]
    z = np.array([1 + 2j, 3 + 4j], np.complex64)
    module.get_function("swap")(cuda.InOut(z), block=(2, 1, 1))
    assert z.tolist() == [2 + 1j, 4 + 3j]
    for wrong in (np.zeros(4), np.zeros(4, np.int64), np.zeros(4, np.float32)):
        with pytest.raises(TypeError, match="points at int32, the array holds"):
            module.get_function("negate")(cuda.InOut(wrong), block=(4, 1, 1))


def test_small_names():
    x = rng.random(7).astype(np.float32)
    memory = cuda.mem_alloc_like(x)
    cuda.memcpy_htod(memory, x)
    np.testing.assert_array_equal(cuda.from_device_like(memory, x), x)
    a, out = gpuarray.to_gpu(x), gpuarray.empty(7, np.float32)
    assert cumath.sqrt(a, out) is out and cumath.sqrt(a, out=out) is out
    np.testing.assert_array_equal(out.get(), np.sqrt(x))
    steps = gpuarray.to_gpu(np.float32([0.9, 2.5, -1.5, 0, 3, 1, 2]))  # whole parts count
    np.testing.assert_array_equal(cumath.ldexp(a, steps).get(), np.ldexp(x, [0, 2, -1, 0, 3, 1, 2]))
    assert cuda.Device(0).get_attribute(cuda.device_attribute.CONCURRENT_KERNELS) in (0, 1)
