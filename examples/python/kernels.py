"""Kernels in CUDA C, on whatever this machine has: the same text on a GPU and on the processor's cores."""

import numpy as np
import tutti as tt

SOURCE = r"""
extern "C" __global__ void add(float *c, const float *a, const float *b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

/* The sum of a block's elements: a tree in shared memory, with a barrier at each step. */
__global__ void total(float *out, const float *a, int n) {
  extern __shared__ float s[];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = i < n ? a[i] : 0;
  __syncthreads();
  for (int k = blockDim.x / 2; k > 0; k /= 2) {
    if (t < k) s[t] += s[t + k];
    __syncthreads();
  }
  if (t == 0) atomicAdd(out, s[0]);
}
"""

n = 1_000_000
module = tt.SourceModule(SOURCE)
a, b = tt.arange(n, dtype="float32"), tt.ones(n, dtype="float32")
c = tt.empty(n, dtype="float32")
module.get_function("add")(c, a, b, np.int32(n), block=(256, 1, 1), grid=((n + 255) // 256, 1))
print("c =", c)

out = tt.zeros(1, dtype="float32")
module.get_function("total")(out, b, n, block=(256, 1, 1), grid=((n + 255) // 256, 1), shared=256 * 4)
print("total of ones:", float(out[0]))

squared_difference = tt.ElementwiseKernel("float32 x, float32 y", "float32 z", "z = (x - y) * (x - y)", "sqdiff")
norm = tt.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "norm")
print("squared differences:", squared_difference(a[:5], tt.ones(5, dtype="float32")))
print("norm:", float(norm(b)))
