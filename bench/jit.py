"""Compiled functions and kernels on the CPU, against Numba compiling the same source in the same run.

python bench/jit.py [--only WORDS] [--out FILE]. Kernels stand against the same work as a Numba prange loop.
"""

import argparse
import math
import pathlib
import statistics
import sys
import time

import harness
import loops
import numpy as np
import tutti as tt
from tutti import cuda, float32, float64

try:
    import numba
except ImportError:
    numba = None

TILE = 16
outer = range  # numba.prange in the forms that Numba compiles


def loop_rows(add):
    for name, (fn, arguments) in loops.PROGRAMS.items():
        contestants = {}
        for who, compile in (("tutti", tt.njit), ("numba", numba and numba.njit)):
            if compile:
                contestants[who] = lambda f=compile(fn), a=arguments(): f(*a)
        add("loop: " + name, "1.0x in the geometric mean", contestants)


@cuda.jit
def add_kernel(a, b, c):
    i = cuda.grid(1)
    if i < c.size:
        c[i] = a[i] + b[i]


def add_loop(a, b, c):
    for i in outer(c.size):
        c[i] = a[i] + b[i]


@cuda.jit
def product_kernel(a, b, c):
    sa = cuda.shared.array((TILE, TILE), float32)
    sb = cuda.shared.array((TILE, TILE), float32)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    s = float32(0)
    for k in range(a.shape[1] // TILE):
        sa[ty, tx] = a[y, k * TILE + tx]
        sb[ty, tx] = b[k * TILE + ty, x]
        cuda.syncthreads()
        for j in range(TILE):
            s += sa[ty, j] * sb[j, tx]
        cuda.syncthreads()
    c[y, x] = s


def product_loop(a, b, c):
    for block in outer(c.shape[0] // TILE * (c.shape[1] // TILE)):
        y0 = block // (c.shape[1] // TILE) * TILE
        x0 = block % (c.shape[1] // TILE) * TILE
        s = np.zeros((TILE, TILE), np.float32)
        sa = np.empty((TILE, TILE), np.float32)
        sb = np.empty((TILE, TILE), np.float32)
        for k in range(a.shape[1] // TILE):
            for ty in range(TILE):
                for tx in range(TILE):
                    sa[ty, tx] = a[y0 + ty, k * TILE + tx]
                    sb[ty, tx] = b[k * TILE + ty, x0 + tx]
            for ty in range(TILE):
                for tx in range(TILE):
                    t = s[ty, tx]
                    for j in range(TILE):
                        t += sa[ty, j] * sb[j, tx]
                    s[ty, tx] = t
        for ty in range(TILE):
            for tx in range(TILE):
                c[y0 + ty, x0 + tx] = s[ty, tx]


def escape(x, y, w, h, most):
    cr = -2.0 + 3.0 * x / w
    ci = -1.0 + 2.0 * y / h
    zr = 0.0
    zi = 0.0
    n = 0
    while n < most and zr * zr + zi * zi < 4.0:
        t = zr * zr - zi * zi + cr
        zi = 2.0 * zr * zi + ci
        zr = t
        n += 1
    return n


escape_device = cuda.jit(device=True)(escape)


@cuda.jit
def mandelbrot_kernel(out, most):
    x, y = cuda.grid(2)
    if x < out.shape[1] and y < out.shape[0]:
        out[y, x] = escape_device(x, y, out.shape[1], out.shape[0], most)


@cuda.jit
def bodies_kernel(p, a):
    i = cuda.grid(1)
    if i < p.shape[0]:
        ax = 0.0
        ay = 0.0
        az = 0.0
        for j in range(p.shape[0]):
            dx = p[j, 0] - p[i, 0]
            dy = p[j, 1] - p[i, 1]
            dz = p[j, 2] - p[i, 2]
            r2 = dx * dx + dy * dy + dz * dz + 1e-9
            inv = 1.0 / (r2 * math.sqrt(r2))
            ax += dx * inv
            ay += dy * inv
            az += dz * inv
        a[i, 0] = ax
        a[i, 1] = ay
        a[i, 2] = az


@cuda.jit
def histogram_kernel(x, h):
    s = cuda.shared.array(256, "int64")
    t = cuda.threadIdx.x
    s[t] = 0
    cuda.syncthreads()
    for k in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        cuda.atomic.add(s, x[k], 1)
    cuda.syncthreads()
    cuda.atomic.add(h, t, s[t])


def histogram_loop(x, h):
    parts = np.zeros((16, 256), np.int64)
    for p in outer(16):
        for k in range(p * (x.size // 16), (p + 1) * (x.size // 16)):
            parts[p, x[k]] += 1
    for p in range(16):
        for k in range(256):
            h[k] += parts[p, k]


@cuda.jit
def stencil_kernel(a, b):
    x, y = cuda.grid(2)
    if 0 < x < a.shape[1] - 1 and 0 < y < a.shape[0] - 1:
        b[y, x] = 0.25 * (a[y - 1, x] + a[y + 1, x] + a[y, x - 1] + a[y, x + 1])


@cuda.jit
def sum_kernel(x, out):
    s = cuda.shared.array(256, float64)
    t = cuda.threadIdx.x
    v = 0.0
    for k in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        v += x[k]
    s[t] = v
    cuda.syncthreads()
    d = cuda.blockDim.x // 2
    while d > 0:
        if t < d:
            s[t] += s[t + d]
        cuda.syncthreads()
        d //= 2
    if t == 0:
        cuda.atomic.add(out, 0, s[0])


def kernel_rows(add):
    rng = np.random.default_rng(1)
    x, y, f4 = rng.random(8_000_000), rng.random(8_000_000), rng.random((512, 512), "f4")
    p, grid2 = rng.random((3000, 3)), rng.random((2048, 2048))
    counts = rng.integers(0, 256, 8_000_000)
    rows = [
        ("vector add, 8M", "0.9x a plain loop", add_kernel[31250, 256], add_loop, (x, y, np.empty_like(x))),
        ("tiled product, 512", "0.5x", product_kernel[(32, 32), (TILE, TILE)], product_loop, (f4, f4, f4.copy())),
        ("Mandelbrot 1024 x 1024, 200", "1.0x", mandelbrot_kernel[(32, 128), (32, 8)], loops.mandelbrot,
         (np.empty((1024, 1024), np.int32), 200)),
        ("3000 bodies", "1.0x", bodies_kernel[24, 128], loops.bodies, (p, np.empty_like(p))),
        ("histogram of 8M, shared atomics", "1.0x", histogram_kernel[64, 256], histogram_loop,
         (counts, np.zeros(256, np.int64))),
        ("stencil of 2048", "1.0x", stencil_kernel[(64, 256), (32, 8)], loops.stencil, (grid2, np.zeros_like(grid2))),
        ("sum of 8M, tree in shared memory", "1.0x", sum_kernel[64, 256], loops.total, (x, np.zeros(1))),
    ]  # fmt: skip
    for name, goal, launch, loop, arguments in rows:
        contestants = {"tutti": lambda launch=launch, a=arguments: launch(*a)}
        if numba:
            compiled = numba.njit(parallel=True)(loops.parallel(loop, numba.prange))
            given = arguments[: loop.__code__.co_argcount]
            contestants["numba"] = lambda f=compiled, a=given: f(*a)
        add("kernel: " + name, goal, contestants)


def call_rows(add):
    one = np.zeros(4)
    for name, fn, args in (("a number", lambda x: x + 1, (1,)), ("an array", lambda a: a.size, (one,))):
        contestants = {}
        for who, compile in (("tutti", tt.njit), ("numba", numba and numba.njit)):
            if compile:

                def many(f=compile(fn), args=args):
                    for _ in range(1000):
                        f(*args)

                contestants[who] = many
        add(f"1000 calls with {name}", "", contestants)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="rows whose name contains this")
    parser.add_argument("--out", default=None, help="JSON file (default: none)")
    harness.add_arguments(parser)
    args = parser.parse_args()
    pick, how = harness.chosen(args)
    rows = []

    def add(name, goal, contestants):
        if args.only in name:
            print("  ..", name, file=sys.stderr, flush=True)
            rows.append(harness.measure(harness.Row(name, goal, None), contestants, 0.7, pick=pick))

    tt.njit(lambda x: x)(1)  # compilers are found and loaded before anything is timed
    if numba:
        numba.njit(lambda x: x)(1)
    loop_rows(add)
    kernel_rows(add)
    call_rows(add)
    harness.show(rows)
    for kind in ("loop", "kernel"):
        both = [r for r in rows if r.name.startswith(kind) and {"tutti", "numba"} <= set(r.seconds)]
        if both:
            speed = statistics.geometric_mean(r.seconds["numba"] / r.seconds["tutti"] for r in both)
            first = statistics.geometric_mean(r.first["numba"] / r.first["tutti"] for r in both)
            print(f"{kind}s: {speed:.2f}x Numba in the geometric mean, first calls {first:.2f}x")
    if args.out:
        notes = {"peers": {"numba": numba.__version__ if numba else None}, **how}
        harness.save(rows, pathlib.Path(args.out), notes)


if __name__ == "__main__":
    start = time.time()
    main()
    print(f"{time.time() - start:.0f} s", file=sys.stderr)
