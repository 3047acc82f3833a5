"""Vector addition for PyCUDA: memory is taken, filled, read and given back by hand."""

import numpy as np
import pycuda.autoinit  # noqa: F401
import pycuda.driver as cuda
from pycuda.compiler import SourceModule

program = SourceModule("""
__global__ void vector_add(const float *left, const float *right, float *sum)
{
    int k = blockDim.x * blockIdx.x + threadIdx.x;
    sum[k] = left[k] + right[k];
}
""")
vector_add = program.get_function("vector_add")

left = np.linspace(0, 1, 512, dtype=np.float32)
right = np.linspace(2, 3, 512, dtype=np.float32)
total = np.empty_like(left)

left_there, right_there, total_there = (cuda.mem_alloc(x.nbytes) for x in (left, right, total))
cuda.memcpy_htod(left_there, left)
cuda.memcpy_htod(right_there, right)
vector_add(left_there, right_there, total_there, block=(128, 1, 1), grid=(4, 1))
cuda.memcpy_dtoh(total, total_there)
for memory in (left_there, right_there, total_there):
    memory.free()

print("the same as NumPy's:", np.array_equal(total, left + right))
