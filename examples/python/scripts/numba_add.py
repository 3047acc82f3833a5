"""Vector addition and counting up for Numba: device arrays made by hand, and host arrays without a word."""

import numpy as np
from numba import cuda


@cuda.jit
def add(x, y, z):
    k = cuda.grid(1)
    if k < z.size:
        z[k] = x[k] + y[k]


@cuda.jit
def count_up(numbers):
    k = cuda.grid(1)
    if k < numbers.size:
        numbers[k] += 1


n, threads = 1_000_003, 256
blocks = (n + threads - 1) // threads
x, y = np.random.rand(n).astype(np.float32), np.random.rand(n).astype(np.float32)

x_there, y_there = cuda.to_device(x), cuda.to_device(y)
z_there = cuda.device_array_like(x)
add[blocks, threads](x_there, y_there, z_there)
print("device arrays:", np.array_equal(z_there.copy_to_host(), x + y))

z = np.zeros_like(x)
add[blocks, threads](x, y, z)
print("host arrays:", np.array_equal(z, x + y))

numbers = np.arange(10)
count_up[1, 32](numbers)
print("counted up:", numbers)
