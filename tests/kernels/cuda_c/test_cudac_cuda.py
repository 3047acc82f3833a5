"""The same kernels in CUDA C on a CUDA device."""

import numpy as np
import pytest
import tutti as tt

if not tt.cuda.is_available():
    pytest.skip(f"no GPU: {tt.cuda.why()}", allow_module_level=True)

SOURCE = r"""
#include <cuda_runtime.h>
#include <cuda_fp16.h>
__constant__ float coef[2];
struct P { int n; double f; };
extern "C" __global__ void add(float *c, const float *a, const float *b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
template <class T> __global__ void scale(T *a, T f, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] *= f;
}
__global__ void mixed(char c, double d, P p, short s, __half h, double *o) { o[0] = c + d * 10 + p.n * 100 + p.f * 1000 + s * 1e4 + (float)h * 1e5; }
__global__ void reverse(int *a) {
  extern __shared__ int s[];
  int t = threadIdx.x;
  s[t] = a[t];
  __syncthreads();
  a[t] = s[blockDim.x - 1 - t];
}
"""  # noqa: E501


@pytest.fixture(scope="module")
def module():
    return tt.RawModule(code=SOURCE, name_expressions=["scale<double>"])


def test_arrays_on_the_device(module):
    n = 100_003
    a, b = np.arange(n, dtype="f4"), np.ones(n, "f4")
    x, y = tt.asarray(a, device="cuda:0"), tt.asarray(b, device="cuda:0")
    z = tt.zeros(n, dtype="float32", device="cuda:0")
    before = z + 1
    module.get_function("add")(((n + 255) // 256,), (256,), (z, x, y, n))
    assert np.array_equal(z.numpy(), a + b)
    assert np.array_equal(before.numpy(), np.ones(n, "f4"))
    module.get_function("add")(((n + 255) // 256,), (256,), (z, z, x * 2, n))
    assert np.array_equal((z + 0).numpy(), a * 3 + 1)
    assert str(z.device) == "cuda:0"


def test_host_arrays_travel(module):
    with tt.device("cuda:0"):
        a, c = np.arange(100, dtype="f4"), np.zeros(100, "f4")
        module.get_function("add")((1,), (128,), (c, a, a, 100))
        assert np.array_equal(c, a * 2)
        d = np.ones(5)
        module.get_function("scale<double>")((1,), (8,), (d, 2.5, 5))
        assert (d == 2.5).all()


def test_arguments_of_every_size(module):
    p = np.array([(3, 4.0)], dtype=np.dtype([("n", "i4"), ("f", "f8")], align=True))
    o = tt.zeros(1, dtype="float64", device="cuda:0")
    module.get_function("mixed")(1, 1, (1, 2.0, p.tobytes(), 5, 6.0, o))
    assert o.tolist() == [1 + 20 + 300 + 4000 + 5e4 + 6e5]


def test_shared_memory_and_errors(module):
    a = tt.arange(256, dtype="int32").to("cuda:0")
    module.get_function("reverse")(1, 256, (a,), shared_mem=1024)
    assert np.array_equal(a.numpy(), np.arange(256)[::-1])
    with pytest.raises(TypeError, match="points at int32, the array holds float32"):
        module.get_function("reverse")(1, 256, (a.astype("float32"),))
    with pytest.raises(ValueError, match="two devices"):
        x, y = tt.zeros(4, dtype="float32", device="cuda:0"), tt.zeros(4, dtype="float32", device="cpu")
        module.get_function("add")(1, 4, (x, y, y, 4))
    with tt.device("cuda:0"), pytest.raises(tt.CompileError, match=r"kernel.cu\(2\).*nothing"):
        tt.SourceModule("__global__ void f(int *a) {\n  a[0] = nothing; }")


def test_variables_wherever_the_program_runs():
    """It may have been built for the CPU first: what is set reaches the GPU, what is read is the GPU's."""
    m = tt.RawModule(code="__device__ int n[3];\n__global__ void next(int *o) { o[0] = n[threadIdx.x]++; }")
    v, f = m.get_global("n"), m.get_function("next")
    v.set(np.array([5, 7, 9], "i4"))
    o = tt.zeros(1, dtype="int32", device="cuda:0")
    f((1,), (1,), (o,))
    f((1,), (1,), (o,))
    assert list(v.get("int32")) == [7, 7, 9] and int(o[0]) == 6
    v.set(np.array([1], "i4"))
    f((1,), (1,), (o,))
    assert int(o[0]) == 1 and list(v.get("int32")) == [2, 7, 9]


def test_the_driver_suggests_a_block(module):
    assert tt.RawKernel(SOURCE, "add").suggest_block() % 32 == 0

    @tt.cuda.jit
    def double(x):
        i = tt.cuda.grid(1)
        if i < x.size:
            x[i] *= 2

    x = tt.ones(100_003, device="cuda:0")
    double.forall(100_003)(x)
    assert float(x.sum()) == 200_006
