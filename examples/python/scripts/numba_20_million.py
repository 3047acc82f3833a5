"""Twenty million additions for Numba, timed with and without transfers in the measured part."""

import math
import sys
from time import perf_counter

import numpy as np
from numba import cuda


@cuda.jit
def add(x, y, out, n):
    k = cuda.threadIdx.x + cuda.blockDim.x * cuda.blockIdx.x
    if k < n:
        out[k] = x[k] + y[k]


n = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000_000
x = np.arange(n).astype(np.int32)
y = 2 * x
threads = 1024
shape = math.ceil(n / threads), threads

begin = perf_counter()
want = np.add(x, y)
numpy_took = perf_counter() - begin

out = np.zeros(n)
add[shape](x, y, out, n)  # the first launch compiles
begin = perf_counter()
add[shape](x, y, out, n)
cuda.synchronize()
with_transfers = perf_counter() - begin

x_there, y_there, out_there = cuda.to_device(x), cuda.to_device(y), cuda.device_array(n)
begin = perf_counter()
add[shape](x_there, y_there, out_there, n)
cuda.synchronize()
without = perf_counter() - begin

print(f"{n:,} additions: {with_transfers:.4f} s with transfers, {without:.4f} s without, NumPy {numpy_took:.4f} s")
print("both are right:", np.array_equal(out, want) and np.array_equal(out_there.copy_to_host(), want))
