"""Kernels in OpenCL C on the CPU: the same text through our compiler and through PoCL (pyopencl): processor time of
all cores, minima of turns that take turns.

    python bench/opencl_c.py [NAME ...]

Needs pyopencl and an OpenCL of the CPU; without them our times stand alone. Each program is checked against the other.
"""

# ruff: noqa: E501 (rows of a table)

import sys
import time

import numpy as np
import tutti as tt

ADD = """
__kernel void k(__global const float *a, __global const float *b, __global float *c) {
  int i = get_global_id(0);
  c[i] = a[i] + b[i];
}"""
PRODUCT = """
#define TS 16
__kernel void k(__global const float *a, __global const float *b, __global float *c, int n) {
  __local float s[TS][TS], t[TS][TS];
  int x = get_local_id(0), y = get_local_id(1);
  int col = get_group_id(0) * TS + x, row = get_group_id(1) * TS + y;
  float sum = 0;
  for (int m = 0; m < n; m += TS) {
    s[y][x] = a[row * n + m + x];
    t[y][x] = b[(m + y) * n + col];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < TS; k++) sum += s[y][k] * t[k][x];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[row * n + col] = sum;
}"""
REDUCTION = """
__kernel void k(__global const float *a, __global float *out, __local float *t) {
  int l = get_local_id(0);
  t[l] = a[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int s = get_local_size(0) / 2; s > 0; s >>= 1) {
    if (l < s) t[l] += t[l + s];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (l == 0) out[get_group_id(0)] = t[0];
}"""
HISTOGRAM = """
__kernel void k(__global const uchar *a, __global uint *h, int per) {
  __local uint c[256];
  int l = get_local_id(0);
  c[l] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  int first = get_group_id(0) * get_local_size(0) * per + l;
  for (int k = 0; k < per; k++) atomic_inc(&c[a[first + k * 256]]);
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_add(&h[l], c[l]);
}"""
BODIES = """
__kernel void k(__global const float4 *p, __global float4 *f, int n) {
  int i = get_global_id(0);
  float4 me = p[i];
  float3 sum = (float3)(0.0f);
  for (int j = 0; j < n; j++) {
    float4 o = p[j];
    float3 d = o.xyz - me.xyz;
    float r = native_rsqrt(dot(d, d) + 0.01f);
    sum += d * (o.w * r * r * r);
  }
  f[i] = (float4)(sum, 0.0f);
}"""
STENCIL = """
__kernel void k(__global const float *a, __global float *b, int w, int h) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x > 0 && y > 0 && x < w - 1 && y < h - 1)
    b[y * w + x] = 0.2f * (a[y * w + x] + a[y * w + x - 1] + a[y * w + x + 1] + a[(y - 1) * w + x] + a[(y + 1) * w + x]);
}"""
SCAN = """
__kernel void k(__global const float *a, __global float *b, __global float *sums, __local float *t) {
  int l = get_local_id(0), n = get_local_size(0), g = get_global_id(0);
  t[l] = a[g];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int s = 1; s < n; s <<= 1) {
    float x = l >= s ? t[l - s] : 0.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    t[l] += x;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  b[g] = t[l];
  if (l == n - 1) sums[get_group_id(0)] = t[l];
}"""
MANDELBROT = """
__kernel void k(__global uint *out, int w, int h, int most) {
  int x = get_global_id(0), y = get_global_id(1);
  float2 c = (float2)(x * 3.0f / w - 2.0f, y * 2.0f / h - 1.0f), z = (float2)(0.0f);
  uint n = 0;
  while (n < most && dot(z, z) < 4.0f) {
    z = (float2)(z.x * z.x - z.y * z.y, 2.0f * z.x * z.y) + c;
    n++;
  }
  out[y * w + x] = n;
}"""


def floats(*shape):
    return np.random.default_rng(0).random(shape, dtype=np.float32)


N = 1 << 24
# name: source, global, local, arguments (the bytes of local memory as ("local", bytes))
ROWS = {
    "add": (ADD, N, 256, lambda: [floats(N), floats(N), np.zeros(N, "f4")]),
    "product": (PRODUCT, (512, 512), (16, 16), lambda: [floats(512, 512), floats(512, 512), np.zeros((512, 512), "f4"), np.int32(512)]),
    "reduction": (REDUCTION, N, 256, lambda: [floats(N), np.zeros(N // 256, "f4"), ("local", 1024)]),
    "histogram": (HISTOGRAM, N // 64, 256, lambda: [np.random.default_rng(0).integers(0, 256, N, "u1"), np.zeros(256, "u4"), np.int32(64)]),
    "bodies": (BODIES, 8192, 256, lambda: [floats(8192, 4), np.zeros((8192, 4), "f4"), np.int32(8192)]),
    "stencil": (STENCIL, (4096, 2048), (64, 4), lambda: [floats(2048, 4096), np.zeros((2048, 4096), "f4"), np.int32(4096), np.int32(2048)]),
    "scan": (SCAN, N, 256, lambda: [floats(N), np.zeros(N, "f4"), np.zeros(N // 256, "f4"), ("local", 1024)]),
    "mandelbrot": (MANDELBROT, (1024, 768), (64, 1), lambda: [np.zeros((768, 1024), "u4"), np.int32(1024), np.int32(768), np.int32(256)]),
}  # fmt: skip


def arrays(args):
    return [a for a in args if isinstance(a, np.ndarray) and a.ndim]


def ours(source, size, local, args):
    kernel = tt.opencl.Program(source).build().k
    given = [tt.opencl.LocalMemory(a[1]) if isinstance(a, tuple) else a for a in args]
    given = [tt.array(a) if isinstance(a, np.ndarray) and a.ndim else a for a in given]

    def run():
        kernel(size, local, *given)
        tt.synchronize()

    return run, lambda: [a.numpy() for a in given if isinstance(a, tt.ndarray)]


def pocl(source, size, local, args):
    import pyopencl as cl

    context = cl.Context([cl.get_platforms()[0].get_devices()[0]])
    queue = cl.CommandQueue(context)
    kernel = cl.Kernel(cl.Program(context, source).build(), "k")
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    given, buffers = [], []
    for a in args:
        if isinstance(a, np.ndarray) and a.ndim:
            buffers.append((cl.Buffer(context, flags, hostbuf=a), a.copy()))
            given.append(buffers[-1][0])
        else:
            given.append(cl.LocalMemory(a[1]) if isinstance(a, tuple) else a)
    axes = size if isinstance(size, tuple) else (size,)
    group = local if isinstance(local, tuple) else (local,)

    def run():
        kernel(queue, axes, group, *given)
        queue.finish()

    def out():
        for buffer, a in buffers:
            cl.enqueue_copy(queue, a, buffer)
        return [a for _, a in buffers]

    return run, out


def turn(run):
    start = time.process_time()
    run()
    return time.process_time() - start


def measure(name, turns=12):
    source, size, local, make = ROWS[name]
    mine, my_result = ours(source, size, local, make())
    try:
        peer, peer_result = pocl(source, size, local, make())
    except ImportError:
        peer = None
    mine()
    if peer:
        peer()
        for a, b in zip(my_result(), peer_result()):
            apart = np.abs(a.astype("f8") - b) > 1e-4 * float(np.abs(b).max())
            assert apart.mean() < 0.01, name  # counts of turns differ where a sum was rounded otherwise
    best = [1e9, 1e9]
    for _ in range(turns):
        best[0] = min(best[0], turn(mine))
        if peer:
            best[1] = min(best[1], turn(peer))
    ratio = f"  PoCL {best[1] * 1e3:9.3f} ms  {best[1] / best[0]:6.2f}x" if peer else ""
    print(f"{name:12s} {best[0] * 1e3:9.3f} ms{ratio}", flush=True)


if __name__ == "__main__":
    for row in sys.argv[1:] or ROWS:
        measure(row)
