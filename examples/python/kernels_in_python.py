"""Kernels and loops written in Python: compiled for the processor's cores, or for a GPU where there is one."""

import time

import numpy as np
import tutti as tt
from tutti import cuda


@cuda.jit
def add(a, b, c):
    i = cuda.grid(1)
    if i < c.size:
        c[i] = a[i] + b[i]


@cuda.jit
def increment(a):
    i = cuda.grid(1)
    if i < a.size:
        a[i] += 1


@cuda.jit
def multiply(a, b):
    x, y = cuda.grid(2)
    if x < a.shape[0] and y < a.shape[1]:
        a[x, y] *= b[x, y]


@cuda.jit
def unguarded():
    print("thread", cuda.threadIdx.x, "of block", cuda.blockIdx.x)


@cuda.jit
def guarded(n):
    i = cuda.grid(1)
    if i < n:
        print("element", i)


@tt.njit(parallel=True)
def mean_of_squares(x):
    s = 0.0
    for i in tt.prange(x.size):
        s += x[i] * x[i]
    return s / x.size


unguarded[2, 2]()
guarded[2, 2](3)
cuda.synchronize()

a = np.arange(5.0)
increment[1, 32](a)
print("incremented:", a)
m = np.ones((2, 3))
multiply[(1, 1), (16, 16)](m, np.arange(6.0).reshape(2, 3))
print("multiplied:", m.tolist())

n = 20_000_000
x, y, out = np.ones(n, np.float32), np.full(n, 2, np.float32), np.empty(n, np.float32)
launch = add[(n + 255) // 256, 256]
start = time.perf_counter()
launch(x, y, out)  # host arrays: copied to a GPU and back, used in place on the CPU
print(f"20 million additions, host arrays: {(time.perf_counter() - start) * 1e3:.0f} ms, all 3: {(out == 3).all()}")

device = cuda.to_device(x), cuda.to_device(y), cuda.device_array_like(out)
start = time.perf_counter()
launch(*device)
cuda.synchronize()
print(f"20 million additions, device arrays: {(time.perf_counter() - start) * 1e3:.0f} ms")
print("mean of squares:", mean_of_squares(np.linspace(-1, 1, 1_000_001)))
