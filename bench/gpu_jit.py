"""Python kernels on a GPU: launch cost, Mandelbrot, and a sum against Numba if it is there. Prints one JSON line."""

import json
import sys
import time

import numpy as np
from tutti import cuda


def mandelbrot(out, width, most):
    x, y = cuda.grid(2)
    if x < width and y < width:
        cr = -2.0 + 3.0 * x / width
        ci = -1.5 + 3.0 * y / width
        zr = 0.0
        zi = 0.0
        n = 0
        while n < most and zr * zr + zi * zi < 4.0:
            t = zr * zr - zi * zi + cr
            zi = 2.0 * zr * zi + ci
            zr = t
            n += 1
        out[y, x] = n


def nothing(a):
    pass


def best(run, wait, repeat=10):
    least = 1e9
    for _ in range(repeat):
        start = time.perf_counter()
        run()
        wait()
        least = min(least, time.perf_counter() - start)
    return least


def measure(cuda, name, rows, width=4096, most=500):
    kernel, empty = cuda.jit(mandelbrot), cuda.jit(nothing)
    out = cuda.device_array((width, width), np.int32)
    grid = ((width + 31) // 32, (width + 7) // 8)
    start = time.perf_counter()
    kernel[grid, (32, 8)](out, width, most)
    cuda.synchronize()
    rows[name + "_first_s"] = time.perf_counter() - start
    rows[name + "_mandelbrot_ms"] = 1e3 * best(lambda: kernel[grid, (32, 8)](out, width, most), cuda.synchronize)
    small = cuda.device_array(4, np.float64)
    launch = empty[1, 32]
    launch(small)
    cuda.synchronize()
    start = time.perf_counter()
    for _ in range(2000):
        launch(small)
    rows[name + "_launch_us"] = (time.perf_counter() - start) / 2000 * 1e6
    cuda.synchronize()
    return out.copy_to_host()


rows = {}
ours = measure(cuda, "tutti", rows)
if "--numba" in sys.argv:
    from numba import cuda as theirs

    rows["equal"] = bool((measure(theirs, "numba", rows) == ours).all())
print(json.dumps(rows))
