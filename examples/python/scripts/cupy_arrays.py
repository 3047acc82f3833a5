"""Arrays and kernels for CuPy: a norm, a product of random matrices, an expression and a kernel in CUDA C."""

import cupy as cp
import numpy as np

v = cp.array([2, 3, 6])
print("norm:", float(cp.linalg.norm(v)))

m = cp.random.random((200, 200))
product = cp.dot(m, m)
host = cp.asnumpy(m)
print("product agrees:", np.allclose(product.get(), host @ host))

difference = cp.ElementwiseKernel("T x, T y", "T z", "z = x > y ? x - y : y - x", "difference")
print("differences:", difference(cp.arange(4.0), cp.ones(4)).tolist())

largest = cp.ReductionKernel("T x", "T y", "fabs(x)", "max(a, b)", "y = a", "0", "largest")
print("largest:", float(largest(cp.array([1.0, -7.0, 3.0]))))

fill = cp.RawKernel(r"""
extern "C" __global__ void fill(float *a, int n, float step) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = i * step;
}
""", "fill")  # fmt: skip
a = cp.zeros(10, dtype=cp.float32)
fill((2,), (8,), (a, np.int32(10), np.float32(0.5)))
print("filled:", a.tolist())
