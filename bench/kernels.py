"""Kernels on the CPU: CUDA C and expressions through tutti, the same work as plain C loops (OpenMP), as Numba's prange and
in numexpr, in one run."""

# ruff: noqa: E501 (rows of a table)

import argparse
import ctypes
import pathlib
import subprocess
import tempfile
import time

import harness
import numpy as np
import tutti as tt

CUDA = r"""
#define T 16
__global__ void add(float *c, const float *a, const float *b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
__global__ void product(float *c, const float *a, const float *b, int n) {
  __shared__ float x[T][T], y[T][T];
  int row = blockIdx.y * T + threadIdx.y, col = blockIdx.x * T + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; k += T) {
    x[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
    y[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + col];
    __syncthreads();
    for (int j = 0; j < T; j++) sum += x[threadIdx.y][j] * y[j][threadIdx.x];
    __syncthreads();
  }
  c[row * n + col] = sum;
}
__global__ void mandelbrot(int *o, int n, int most) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= n || j >= n) return;
  float cr = -2.0f + 3.0f * i / n, ci = -1.5f + 3.0f * j / n, r = 0, m = 0;
  int k = 0;
  while (k < most && r * r + m * m < 4) {
    float t = r * r - m * m + cr;
    m = 2 * r * m + ci;
    r = t;
    k++;
  }
  o[j * n + i] = k;
}
__global__ void bodies(float4 *a, const float4 *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float4 me = p[i];
  float x = 0, y = 0, z = 0;
  for (int j = 0; j < n; j++) {
    float4 o = p[j];
    float dx = o.x - me.x, dy = o.y - me.y, dz = o.z - me.z;
    float r = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-6f), f = o.w * r * r * r;
    x += dx * f, y += dy * f, z += dz * f;
  }
  a[i] = make_float4(x, y, z, 0);
}
__global__ void histogram(int *h, const unsigned char *a, int n) {
  __shared__ int s[256];
  s[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) atomicAdd(&s[a[i]], 1);
  __syncthreads();
  atomicAdd(&h[threadIdx.x], s[threadIdx.x]);
}
__global__ void stencil(float *o, const float *a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i > 0 && i < n - 1 && j > 0 && j < n - 1)
    o[j * n + i] = 0.2f * (a[j * n + i] + a[j * n + i - 1] + a[j * n + i + 1] + a[(j - 1) * n + i] + a[(j + 1) * n + i]);
}
__global__ void total(float *out, const float *a, int n) {
  __shared__ float s[256];
  int t = threadIdx.x;
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + t; i < n; i += blockDim.x * gridDim.x) sum += a[i];
  s[t] = sum;
  __syncthreads();
  for (int k = blockDim.x / 2; k > 0; k /= 2) {
    if (t < k) s[t] += s[t + k];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}
"""

LOOPS = r"""
#include <math.h>
void add(float *restrict c, const float *a, const float *b, long n) {
#pragma omp parallel for
  for (long i = 0; i < n; i++) c[i] = a[i] + b[i];
}
void product(float *restrict c, const float *restrict a, const float *restrict b, int n) {
#pragma omp parallel for collapse(2)
  for (int by = 0; by < n / 16; by++)
    for (int bx = 0; bx < n / 16; bx++) {
      float s[16][16] = {{0}}, x[16][16], y[16][16];
      for (int k = 0; k < n; k += 16) {
        for (int i = 0; i < 16; i++)
          for (int j = 0; j < 16; j++) x[i][j] = a[(by * 16 + i) * n + k + j], y[i][j] = b[(k + i) * n + bx * 16 + j];
        for (int i = 0; i < 16; i++)
          for (int q = 0; q < 16; q++)
            for (int j = 0; j < 16; j++) s[i][j] += x[i][q] * y[q][j];
      }
      for (int i = 0; i < 16; i++)
        for (int j = 0; j < 16; j++) c[(by * 16 + i) * n + bx * 16 + j] = s[i][j];
    }
}
"""


def numba_forms():
    import math

    import numba as nb

    @nb.njit(parallel=True)
    def add(c, a, b):
        for i in nb.prange(a.size):
            c[i] = a[i] + b[i]

    @nb.njit(parallel=True)
    def mandelbrot(o, n, most):
        for j in nb.prange(n):
            for i in range(n):
                cr, ci = np.float32(-2 + 3 * i / n), np.float32(-1.5 + 3 * j / n)
                r = m = np.float32(0)
                k = 0
                while k < most and r * r + m * m < np.float32(4):
                    t = r * r - m * m + cr
                    m = np.float32(2) * r * m + ci
                    r = t
                    k += 1
                o[j, i] = k

    @nb.njit(parallel=True)
    def bodies(a, p):
        for i in nb.prange(p.shape[0]):
            x = y = z = np.float32(0)
            for j in range(p.shape[0]):
                dx, dy, dz = p[j, 0] - p[i, 0], p[j, 1] - p[i, 1], p[j, 2] - p[i, 2]
                r = np.float32(1) / math.sqrt(dx * dx + dy * dy + dz * dz + np.float32(1e-6))
                f = p[j, 3] * r * r * r
                x += dx * f
                y += dy * f
                z += dz * f
            a[i, 0], a[i, 1], a[i, 2], a[i, 3] = x, y, z, 0

    @nb.njit(parallel=True)
    def histogram(h, a, parts):
        part = np.zeros((parts, 256), np.int32)
        step = (a.size + parts - 1) // parts
        for p in nb.prange(parts):
            for i in range(p * step, min((p + 1) * step, a.size)):
                part[p, a[i]] += 1
        for p in range(parts):
            for k in range(256):
                h[k] += part[p, k]

    @nb.njit(parallel=True)
    def stencil(o, a):
        n = a.shape[0]
        for j in nb.prange(1, n - 1):
            for i in range(1, n - 1):
                o[j, i] = np.float32(0.2) * (a[j, i] + a[j, i - 1] + a[j, i + 1] + a[j - 1, i] + a[j + 1, i])

    @nb.njit(parallel=True)
    def total(a):
        s = np.float32(0)
        for i in nb.prange(a.size):
            s += a[i]
        return s

    return {f.__name__: f for f in (add, mandelbrot, bodies, histogram, stencil, total)}


def expression_rows(rng, part, seconds):
    """Kernels written as expressions, amid array operations: fused with them, where peers are told the whole."""
    n = (1 << 24) // part
    x, y = rng.random(n, "f4"), rng.random(n, "f4")
    a, b = tt.asarray(x), tt.asarray(y)
    text = "T t = x - y; z = t * t + 0.5f * x"
    kernels = {way: tt.ElementwiseKernel("T x, T y", "T z", text, "squares", way=way) for way in ("graph", "cuda")}
    norm = tt.ReductionKernel("T x, T y", "T z", "(x - y) * (x - y)", "a + b", "z = sqrt(a)", "0", "distance")
    around = {"tutti": lambda: tt.eval(tt.sqrt(kernels["graph"](a, b) + 1) * 2)}
    around["as CUDA C"] = lambda: tt.eval(tt.sqrt(kernels["cuda"](a, b) + 1) * 2)
    total = {"tutti": lambda: float(norm(a, b))}
    total["NumPy"] = lambda: np.sqrt(((x - y) ** 2).sum())
    try:
        import numexpr as ne

        half = np.float32(0.5)
        around["numexpr"] = lambda: ne.evaluate(
            "sqrt((x - y) * (x - y) + half * x + 1) * 2", {"x": x, "y": y, "half": half}
        )
        total["numexpr"] = lambda: np.sqrt(ne.evaluate("sum((x - y) * (x - y))", {"x": x, "y": y}))
    except ImportError:
        print("no numexpr")
    try:
        import numba as nb

        @nb.njit(parallel=True)
        def whole(x, y):
            o = np.empty_like(x)
            for i in nb.prange(x.size):
                t = x[i] - y[i]
                o[i] = np.sqrt(t * t + np.float32(0.5) * x[i] + np.float32(1)) * np.float32(2)
            return o

        @nb.njit(parallel=True)
        def distance(x, y):
            s = np.float32(0)
            for i in nb.prange(x.size):
                s += (x[i] - y[i]) * (x[i] - y[i])
            return np.sqrt(s)

        around["numba"], total["numba"] = lambda: whole(x, y), lambda: distance(x, y)
    except ImportError:
        pass
    want = np.sqrt((x - y) ** 2 + 0.5 * x + 1) * 2
    assert np.allclose((tt.sqrt(kernels["graph"](a, b) + 1) * 2).numpy(), want, rtol=1e-5)
    kernels["graph"] = tt.ElementwiseKernel("T x, T y", "T z", text, "squares", way="graph")  # its first call counts
    assert np.isclose(total["tutti"](), total["NumPy"](), rtol=1e-3)
    small = tt.asarray(x[:1000]), tt.asarray(y[:1000])
    call = {"tutti": lambda: kernels["graph"](*small), "as CUDA C": lambda: kernels["cuda"](*small)}
    count = iter(range(1 << 30))

    def fresh(way):
        k = tt.ElementwiseKernel("T x, T y", "T z", f"z = (x - y) * {next(count) + time.time()}", "fresh", way=way)
        tt.eval(k(*small))

    first = {"tutti": lambda: fresh("graph"), "as CUDA C": lambda: fresh("cuda")}
    rows = [
        ("a new ElementwiseKernel, read and run on 1000 f32", "1.0", first),
        (f"sqrt(kernel(a, b) + 1) * 2, {n} f32", "1.0", around),
        (f"norm of a - b as ReductionKernel, {n} f32", "1.0", total),
        ("call of an ElementwiseKernel on 1000 f32", "-", call),
    ]
    return [harness.measure(harness.Row(name, goal, None), who, seconds) for name, goal, who in rows]


def c_loops():
    folder = tempfile.mkdtemp()
    path = pathlib.Path(folder)
    (path / "loops.c").write_text(LOOPS)
    flags = "-O3 -march=native -fopenmp -ffp-contract=fast -shared -fPIC".split()
    subprocess.run(["cc", *flags, path / "loops.c", "-o", path / "loops.so"], check=True)
    return ctypes.CDLL(str(path / "loops.so"))


def at(a):
    return ctypes.c_void_p(a.ctypes.data)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smaller sizes, less time")
    parser.add_argument("--out", default=None)
    harness.add_arguments(parser)
    args = parser.parse_args()
    pick, how = harness.chosen(args)
    part, seconds = (4, 0.5) if args.quick else (1, 1.5)
    k = tt.SourceModule(CUDA)
    loops, peers = c_loops(), {}
    try:
        peers = numba_forms()
    except ImportError:
        print("no numba")
    rng, rows = np.random.default_rng(0), []

    def row(name, goal, ours, want, **others):
        got = ours()
        assert np.allclose(got, want, rtol=1e-3, atol=1e-3 * np.abs(want).max()), name
        rows.append(harness.measure(harness.Row(name, goal, None), {"tutti": ours, **others}, seconds, pick=pick))

    def launch(name, out, block, grid, *rest):
        f = k.get_function(name)

        def go():
            f(out, *rest, block=block, grid=grid)
            return out

        return go

    for n in (1 << 16, (1 << 24) // part):
        a, b = rng.random(n, "f4"), rng.random(n, "f4")
        c, d, e = (np.zeros_like(a) for _ in range(3))
        row(
            f"vector add of {n}", "0.9", launch("add", c, (256, 1, 1), (-(-n // 256), 1), a, b, n), a + b,
            **{"C loop": lambda a=a, b=b, d=d, n=n: loops.add(at(d), at(a), at(b), ctypes.c_long(n))},
            **({"numba": lambda a=a, b=b, e=e: peers["add"](e, a, b)} if peers else {}),
        )  # fmt: skip
    n = 1024 // (2 if args.quick else 1)
    a, b = rng.random((n, n), "f4"), rng.random((n, n), "f4")
    c, d = np.zeros_like(a), np.zeros_like(a)
    row(
        f"tiled product {n}, shared memory, barriers", "0.5", launch("product", c, (16, 16, 1), (n // 16, n // 16), a, b, n),
        a @ b, **{"C loops": lambda: loops.product(at(d), at(a), at(b), n)},
    )  # fmt: skip
    n = 1024 // (2 if args.quick else 1)
    o, p = np.zeros((n, n), "i4"), np.zeros((n, n), "i4")
    if peers:
        peers["mandelbrot"](p, n, 200)
    ours = launch("mandelbrot", o, (32, 8, 1), (n // 32, n // 8), n, 200)
    near = ours().copy() if not peers else p
    rows.append(
        harness.measure(
            harness.Row(f"Mandelbrot {n}, 200 turns", "1.0", None),
            {"tutti": ours, **({"numba": lambda: peers["mandelbrot"](p, n, 200)} if peers else {})},
            seconds,
            pick=pick,
        )
    )
    assert (o != near).mean() < 0.01
    n = 8192 // (2 if args.quick else 1)
    p = rng.random((n, 4), "f4")
    c, d = np.zeros_like(p), np.zeros_like(p)
    ours = launch("bodies", c, (128, 1, 1), (n // 128, 1), p, n)
    want = ours().copy()
    row(f"n-body, {n} bodies", "1.0", ours, want, **({"numba": lambda: peers["bodies"](d, p)} if peers else {}))
    n = 10_000_000 // part
    a = rng.integers(0, 256, n, dtype="u1")
    h = np.zeros(256, "i4")
    g = np.zeros(256, "i4")
    f = k.get_function("histogram")

    def count():
        h[:] = 0
        f(h, a, n, block=(256, 1, 1), grid=(64, 1))
        return h

    row(
        "histogram with atomics, 10M bytes",
        "1.0",
        count,
        np.bincount(a, minlength=256),
        **({"numba": lambda: peers["histogram"](g, a, 16)} if peers else {}),
    )
    n = 4096 // (2 if args.quick else 1)
    a = rng.random((n, n), "f4")
    o, d = np.zeros_like(a), np.zeros_like(a)
    want = np.zeros_like(a)
    want[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[:-2, 1:-1] + a[2:, 1:-1])
    row(
        f"stencil {n} x {n}",
        "1.0",
        launch("stencil", o, (64, 4, 1), (n // 64, n // 4), a, n),
        want,
        **({"numba": lambda: peers["stencil"](d, a)} if peers else {}),
    )
    n = (1 << 24) // part
    a = rng.random(n, "f4")
    o = np.zeros(512, "f4")
    f = k.get_function("total")

    def total():
        f(o, a, n, block=(256, 1, 1), grid=(512, 1))
        return o.sum()

    row(
        "sum by a tree in shared memory, 16M",
        "1.0",
        total,
        np.asarray(a.sum()),
        **({"numba": lambda: peers["total"](a)} if peers else {}),
    )
    rows += expression_rows(rng, part, seconds)
    harness.show(rows)
    out = args.out or pathlib.Path(__file__).parent / "results" / time.strftime("kernels-%Y-%m-%d.json")
    harness.save(rows, pathlib.Path(out), {"threads": tt.get_num_threads(), **how})
    print("written:", out)


if __name__ == "__main__":
    main()
