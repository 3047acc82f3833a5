"""The rows of kernels in the GPU table: one kernel from Python and in CUDA C, ours and the peers'.

Numba runs the Python text, CuPy the CUDA C; a row has the language's own name, so that ours stand under each other.
"""

import functools
import math

import numpy as np
import tutti as tt
import tutti.cuda as tutti_cuda

SIDE, TILE = 4096, 16

CUDA_C = r"""
#define TILE 16
__global__ void nothing(double *a) {}
__global__ void mandelbrot(int *out, int width, int most) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= width) return;
  double cr = -2.0 + 3.0 * x / width, ci = -1.5 + 3.0 * y / width, zr = 0, zi = 0;
  int n = 0;
  while (n < most && zr * zr + zi * zi < 4.0) {
    double t = zr * zr - zi * zi + cr;
    zi = 2.0 * zr * zi + ci;
    zr = t;
    n++;
  }
  out[y * width + x] = n;
}
__global__ void product(float *c, const float *a, const float *b, int n) {
  __shared__ float s[TILE][TILE], t[TILE][TILE];
  int x = threadIdx.x, y = threadIdx.y, col = blockIdx.x * TILE + x, row = blockIdx.y * TILE + y;
  float sum = 0;
  for (int k = 0; k < n; k += TILE) {
    s[y][x] = a[row * n + k + x];
    t[y][x] = b[(k + y) * n + col];
    __syncthreads();
    for (int j = 0; j < TILE; j++) sum += s[y][j] * t[j][x];
    __syncthreads();
  }
  c[row * n + col] = sum;
}
__global__ void histogram(int *h, const int *x, int n) {
  __shared__ int mine[256];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  mine[threadIdx.x] = 0;
  __syncthreads();
  for (; i < n; i += gridDim.x * blockDim.x) atomicAdd(&mine[x[i]], 1);
  __syncthreads();
  atomicAdd(&h[threadIdx.x], mine[threadIdx.x]);
}
__global__ void bodies(float *a, const float *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = 0, y = 0, z = 0;
  for (int j = 0; j < n; j++) {
    float dx = p[3 * j] - p[3 * i], dy = p[3 * j + 1] - p[3 * i + 1], dz = p[3 * j + 2] - p[3 * i + 2];
    float r = dx * dx + dy * dy + dz * dz + 1e-6f, f = 1.0f / (r * sqrtf(r));
    x += dx * f, y += dy * f, z += dz * f;
  }
  a[3 * i] = x, a[3 * i + 1] = y, a[3 * i + 2] = z;
}
"""


def in_python(cuda):
    """The kernels in Python, compiled by whoever `cuda` is."""
    f32, i32 = np.float32, np.int32

    @cuda.jit
    def nothing(a):
        pass

    @cuda.jit
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

    @cuda.jit
    def product(c, a, b, n):
        s = cuda.shared.array((TILE, TILE), f32)
        t = cuda.shared.array((TILE, TILE), f32)
        x, y = cuda.threadIdx.x, cuda.threadIdx.y
        col, row = cuda.grid(2)
        total = f32(0)
        for k in range(0, n, TILE):
            s[y, x] = a[row, k + x]
            t[y, x] = b[k + y, col]
            cuda.syncthreads()
            for j in range(TILE):
                total += s[y, j] * t[j, x]
            cuda.syncthreads()
        c[row, col] = total

    @cuda.jit
    def histogram(h, x, n):
        mine = cuda.shared.array(256, i32)
        me = cuda.threadIdx.x
        mine[me] = 0
        cuda.syncthreads()
        for i in range(cuda.grid(1), n, cuda.gridsize(1)):
            cuda.atomic.add(mine, x[i], 1)
        cuda.syncthreads()
        cuda.atomic.add(h, me, mine[me])

    @cuda.jit
    def bodies(a, p, n):
        i = cuda.grid(1)
        if i < n:
            x = f32(0)
            y = f32(0)
            z = f32(0)
            for j in range(n):
                dx = p[j, 0] - p[i, 0]
                dy = p[j, 1] - p[i, 1]
                dz = p[j, 2] - p[i, 2]
                r = dx * dx + dy * dy + dz * dz + f32(1e-6)
                f = f32(1) / (r * math.sqrt(r))
                x += dx * f
                y += dy * f
                z += dz * f
            a[i, 0] = x
            a[i, 1] = y
            a[i, 2] = z

    return {f.__name__: f for f in (nothing, mandelbrot, product, histogram, bodies)}


# name, what the row is called, goal, launches between two waits, grid, block, inputs, the output, numbers
def works():
    rng = np.random.default_rng(1)
    square = ((SIDE + 31) // 32, (SIDE + 7) // 8)
    n, m, b = 2048, 50_000_000, 16384
    return [
        ("nothing", "empty kernel, launched in a row", "4 us", 1000, (1,), (32,), [], np.zeros(4), ()),
        ("mandelbrot", "Mandelbrot 4096 x 4096, 500 turns", "", 3, square, (32, 8), [],
         np.zeros((SIDE, SIDE), "i4"), (SIDE, 500)),
        ("product", "tiled product of 2048 x 2048", "", 5, (n // TILE, n // TILE), (TILE, TILE),
         [rng.random((n, n), "f4") for _ in range(2)], np.zeros((n, n), "f4"), (n,)),
        ("histogram", "histogram of 5e7, 256 bins, atomics", "", 5, (528,), (256,), [rng.integers(0, 256, m, "i4")],
         np.zeros(256, "i4"), (m,)),
        ("bodies", "16384 bodies, all pairs", "", 5, (b // 128,), (128,), [rng.random((b, 3), "f4")],
         np.zeros((b, 3), "f4"), (b,)),
    ]  # fmt: skip


def rows(work):
    """All rows, into the table of a gpu_rows.Work."""
    for w in works():
        name, title, goal, inner = w[:4]
        for language in ("Python", "CUDA C"):
            row = f"{title} ({language})"
            forms = functools.partial(python_forms if language == "Python" else c_forms, work, w)
            # What adds to its output gives another result with each launch.
            work.t.add(row, goal, inner, forms, compare=name not in ("nothing", "histogram"))


def form(launch, output, name):
    """A call that launches and gives the output; nothing for the empty kernel, where looking at it would cost."""
    return launch if name == "nothing" else lambda: launch() or output


def python_forms(work, w):
    name, _, _, _, grid, block, inputs, output, numbers = w
    ours, there = in_python(tutti_cuda)[name], [tt.array(a, device="cuda:0") for a in [output, *inputs]]
    out = {"tutti": form(lambda: ours[grid, block](*there, *numbers), there[0], name)}
    if work.numba:
        cuda = work.numba.cuda
        theirs, copies = in_python(cuda)[name], [cuda.to_device(a) for a in [output, *inputs]]
        out["numba"] = form(lambda: theirs[grid, block](*copies, *numbers), copies[0], name)
    return out


def c_forms(work, w):
    name, _, _, _, grid, block, inputs, output, numbers = w
    there = [tt.array(a, device="cuda:0") for a in [output, *inputs]]
    whole = tuple(np.int32(n) for n in numbers)
    ours = tt.RawModule(code=CUDA_C, name_expressions=[name]).get_function(name)
    out = {"tutti": form(lambda: ours(grid, block, (*there, *whole)), there[0], name)}
    if work.cp:
        copies = [work.cp.asarray(a) for a in [output, *inputs]]
        theirs = work.cp.RawModule(code=CUDA_C, name_expressions=[name], options=("--std=c++17",)).get_function(name)
        out["cupy"] = form(lambda: theirs(grid, block, (*copies, *whole)), copies[0], name)
    return out
