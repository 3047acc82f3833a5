"""Element-wise products for PyCUDA: In and Out say which way arrays go; a GPUArray stays there."""

import numpy as np
import pycuda.autoinit  # noqa: F401
import pycuda.driver as drv
from pycuda import gpuarray
from pycuda.compiler import SourceModule
from pycuda.elementwise import ElementwiseKernel

multiply = SourceModule("""
__global__ void multiply(float *out, float *x, float *y)
{
    unsigned t = threadIdx.x;
    out[t] = x[t] * y[t];
}
""").get_function("multiply")

rng = np.random.default_rng(7)
x, y = rng.random(300).astype(np.float32), rng.random(300).astype(np.float32)
out = np.zeros(300, np.float32)
multiply(drv.Out(out), drv.In(x), drv.In(y), block=(300, 1, 1))
print("largest difference:", abs(out - x * y).max())

there = gpuarray.to_gpu(x)
scale = ElementwiseKernel("float by, float *v", "v[i] *= by", "scale")
scale(np.float32(4), there)
print(
    "four times:",
    np.array_equal(there.get(), 4 * x),
    "sum of squares:",
    round(float(gpuarray.dot(there, there).get()), 2),
)
