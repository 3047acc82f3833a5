"""Kernels in OpenCL C on the CPU: what people write, against NumPy; what is refused, and in which words."""

import copy
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
import tutti as tt

pytestmark = pytest.mark.skipif(
    not any(os.access(os.path.join(p, c), os.X_OK) for p in os.environ["PATH"].split(":") for c in ("c++", "g++")),
    reason="no C++ compiler",
)

SOURCE = r"""
#pragma OPENCL EXTENSION cl_khr_global_int32_base_atomics : enable
#ifndef SCALE
#define SCALE 1
#endif
typedef float4 real4;
typedef struct { float lo, xy; int2 p; } pair;
__constant float weight[3] = {0.25f, 0.5f, 0.25f};

__kernel void add(__global const float *a, __global const float *b, __global float *c) {
  size_t i = get_global_id(0);
  c[i] = (a[i] + b[i]) * SCALE;
}
__kernel void tree(__global const float *in, __global float *out, __local float *t) {
  int l = get_local_id(0);
  t[l] = in[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int s = get_local_size(0) / 2; s > 0; s >>= 1) {
    if (l < s) t[l] += t[l + s];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (l == 0) out[get_group_id(0)] = t[0];
}
__kernel void smooth(__global const float *x, __global float *y) {
  __local float tile[34];
  uint l = get_local_id(0), g = get_global_id(0), n = get_global_size(0);
  tile[l + 1] = x[g];
  if (l == 0) { tile[0] = g ? x[g - 1] : 0; tile[33] = g + 32 < n ? x[g + 32] : 0; }
  barrier(CLK_LOCAL_MEM_FENCE);
  y[g] = tile[l] * weight[0] + tile[l + 1] * weight[1] + tile[l + 2] * weight[2];
}
__kernel void histogram(volatile __global int *h, __global const int *x) {
  __local int c[16];
  int l = get_local_id(0);
  if (l < 16) c[l] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_inc(&c[x[get_global_id(0)] & 15]);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l < 16) atomic_add(&h[l], c[l]);
}
__kernel void components(__global float *r, __global const float8 *x) {
  int i = get_global_id(0);
  float8 a = x[i];
  pair s = {a.s3, a.s7, (int2)(i, 2 * i)};
  real4 b = (real4)(a.lo.zw, a.hi.xy);
  b.even = a.s02;
  b.odd += a.s57;
  float16 c = (float16)(a, b, b.wzyx);
  c.s0f = c.sF0;
  r[i] = s.lo + s.xy + s.p.y + b.x + c.sA + c.odd.s3 + a.even.w;
}
__kernel void choose(__global float4 *r, __global const float4 *x, float4 limit) {
  float4 v = x[get_global_id(0)];
  r[get_global_id(0)] = v > limit ? limit : v;
}
__kernel void places(__global int *r) {
  int s = 0;
  for (uint d = 0; d < get_work_dim(); d++) s += get_global_id(d) * (d + 1) + 100 * get_group_id(d);
  r[get_global_id(1) * get_global_size(0) + get_global_id(0)] = s + 1000 * get_local_size(1);
}
__kernel void copied(__global float *r, __global const float *x, __local float *t) {
  size_t n = get_local_size(0), at = get_group_id(0) * n;
  event_t e = async_work_group_copy(t, x + at, n, 0);
  wait_group_events(1, &e);
  t[get_local_id(0)] *= 3;
  barrier(CLK_LOCAL_MEM_FENCE);
  e = async_work_group_copy(r + at, t, n, 0);
  wait_group_events(1, &e);
}
#ifndef WITHOUT_FOLDS /* of OpenCL C 2.0, which devices need not have */
__kernel void folds(__global int *r) {
  int i = get_global_id(0), l = get_local_id(0);
  r[i] = work_group_reduce_add(l) + 1000 * work_group_scan_exclusive_add(1) + 100000 * sub_group_reduce_max(l);
}
#endif
__kernel void halves(__global half *r, __global const half *x) {
  int i = get_global_id(0);
  vstore_half(vload_half(i, x) * 1.7f, i, r);
  vstore_half_rtz(vload_half(i, x) * 1.7f, i, r + get_global_size(0));
}
__attribute__((reqd_work_group_size(4, 2, 1))) __kernel void asked(__global int *r) { r[0] = get_local_size(0); }
__kernel void words(__global float *class, int new) { class[get_global_id(0)] = new; }
"""


@pytest.fixture(scope="module")
def program():
    return tt.opencl.Program(SOURCE).build()


def floats(*shape):
    return np.random.default_rng(0).standard_normal(shape).astype("f4")


def test_kernels_are_listed_with_their_parameters(program):
    assert program.kernels[:3] == ["add", "tree", "smooth"]
    assert program.tree.parameters == [("in", "const float32 *"), ("out", "float32 *"), ("t", "local memory")]
    assert program.asked.reqd_work_group_size == (4, 2, 1)
    assert program.add.reqd_work_group_size is None
    with pytest.raises(AttributeError, match="no kernel|nothing"):
        _ = program.nothing


@pytest.mark.parametrize("size, local", [(64, None), (64, 16), (61, None), ((64,), (1,))])
def test_memory_of_numpy_and_arrays_of_ours(program, size, local):
    a, b = floats(64), floats(64)[::-1].copy()
    n = size if isinstance(size, int) else size[0]
    want = np.where(np.arange(64) < n, a + b, 0)
    c = np.zeros(64, "f4")
    program.add(size, local, a, b, c)
    np.testing.assert_array_equal(c, want)
    ours = tt.zeros(64, dtype="float32")
    program.add(size, local, tt.array(a), tt.array(b), ours)
    np.testing.assert_array_equal(ours.numpy(), want)


def test_arrays_may_be_pending_and_keep_what_was_recorded_over_them(program):
    a = tt.array(floats(64))
    c = tt.zeros(64, dtype="float32")
    before = c + 1
    program.add(64, None, a * 2, a, c)
    np.testing.assert_allclose(c.numpy(), 3 * a.numpy(), rtol=1e-6)
    np.testing.assert_array_equal(before.numpy(), np.ones(64, "f4"))


def test_local_memory_and_barriers(program):
    x, y, out = floats(256), np.zeros(256, "f4"), np.zeros(8, "f4")
    program.tree(256, 32, x, out, tt.opencl.LocalMemory(32 * 4))
    np.testing.assert_allclose(out, x.reshape(8, 32).sum(1), rtol=1e-5, atol=1e-5)
    program.smooth(256, 32, x, y)
    np.testing.assert_allclose(y, np.convolve(x, [0.25, 0.5, 0.25], "same"), rtol=1e-5, atol=1e-6)


def test_atomics(program):
    x, h = np.random.default_rng(0).integers(0, 1000, 512, "i4"), np.zeros(16, "i4")
    program.histogram(512, 64, h, x)
    np.testing.assert_array_equal(h, np.bincount(x & 15, minlength=16))


def test_components(program):
    x, r = floats(16, 8), np.zeros(16, "f4")
    program.components(16, None, r, x)
    b = np.stack([x[:, 0], x[:, 3] + x[:, 5], x[:, 2], x[:, 5] + x[:, 7]], 1)
    want = x[:, 3] + x[:, 7] + 2 * np.arange(16) + b[:, 0] + b[:, 2] + x[:, 7] + x[:, 6]
    np.testing.assert_allclose(r, want, rtol=1e-5, atol=1e-5)


def test_a_vector_by_value(program):
    x, r, limit = floats(16, 4), np.zeros((16, 4), "f4"), np.array([0, 0.5, -0.5, 1], "f4")
    program.choose(16, None, r, x, limit)
    np.testing.assert_array_equal(r, np.minimum(x, limit))


def test_axes(program):
    r = np.zeros((8, 16), "i4")
    program.places((16, 8), (4, 2), r)
    y, x = np.mgrid[:8, :16]
    np.testing.assert_array_equal(r, x + 2 * y + 100 * (x // 4 + y // 2) + 2000)


def test_copies_of_groups(program):
    x, r = floats(64), np.zeros(64, "f4")
    program.copied(64, 16, r, x, tt.opencl.LocalMemory(64))
    np.testing.assert_array_equal(r, x * 3)


def test_folds_of_groups(program):
    r = np.zeros(128, "i4")
    program.folds(128, 64, r)
    i = np.arange(128) % 64
    np.testing.assert_array_equal(r, 2016 + 1000 * i + 100000 * (i // 32 * 32 + 31))


def test_halves(program):
    x = floats(64).astype("f2")
    r = np.zeros(128, "f2")
    program.halves(64, None, r, x)
    wide = x.astype("f4") * np.float32(1.7)
    np.testing.assert_array_equal(r[:64], wide.astype("f2"))
    assert (np.abs(r[64:].astype("f4")) <= np.abs(wide)).all()
    np.testing.assert_allclose(r[64:], wide, rtol=2e-3)


def test_words_that_cplusplus_keeps_for_itself(program):
    r = np.zeros(4, "f4")
    program.words(4, None, r, 7)
    assert (r == 7).all()


def test_set_args_and_an_offset(program):
    a, c = floats(64), np.zeros(64, "f4")
    program.add.set_args(a, a, c)
    program.add.enqueue(16, global_offset=8)
    np.testing.assert_array_equal(c, np.where((np.arange(64) >= 8) & (np.arange(64) < 24), a + a, 0))
    with pytest.raises(TypeError, match="takes 3 arguments"):
        program.add.set_args(a)


def test_options():
    a, c = floats(8), np.zeros(8, "f4")
    tt.opencl.Program(SOURCE).build("-D SCALE=3 -cl-std=CL1.2 -cl-mad-enable").add(8, None, a, a, c)
    np.testing.assert_allclose(c, 6 * a, rtol=1e-6)
    text = "__kernel void k(__global int *r) { r[0] = sizeof(1.5); r[1] = sizeof(.5); r[2] = sizeof(2e3); }"
    r = np.zeros(3, "i4")
    tt.opencl.Program(text).build("-cl-single-precision-constant").k(1, None, r)
    assert (r == 4).all()
    with pytest.raises(ValueError, match="no build option '-foo'"):
        tt.opencl.Program(text).build("-foo")


def test_what_kernels_print(capsys):
    text = '__kernel void k() { printf("%d %.1v2hlf|%s\\n", (int)get_global_id(0), (float2)(1, 2.5f), "end"); }'
    tt.opencl.Program(text).build().k(1, None)
    tt.synchronize()
    assert capsys.readouterr().out == "0 1.0,2.5|end\n"


def test_programs_are_pickled_and_copied_as_their_source(program):
    again = pickle.loads(pickle.dumps(program))
    assert again.kernels == program.kernels and again.source == SOURCE
    a, c = floats(8), np.zeros(8, "f4")
    copy.copy(program.add)(8, None, a, a, c)
    np.testing.assert_array_equal(c, a + a)


# ---- what is refused


@pytest.mark.parametrize(
    "text, words",
    [
        (
            "__kernel void k(__global float *x) {\n  x[0] =   y;\n}",
            r"kernel.cl:2:12: error: .*(y.* not declared|undeclared identifier .y)",
        ),
        ("__kernel void k(__global float4 *x) {\n  x[0].q = 1;\n}", r"kernel.cl:2:8: error: .*no member named .*q"),
        ("\n__kernel void k(read_only image2d_t x) {}", r"kernel.cl:2:27: .*images are not there"),
        ("__kernel void k(__global int *x) { enqueue_kernel(); }", "queues of a device are not there"),
        ("__kernel void k(__global float4 *x) { x[0] = (float4)(1, 2, 3); }", "as many components"),
    ],
)
def test_errors_of_the_source(text, words):
    program = tt.opencl.Program(text)
    with pytest.raises(tt.CompileError, match=words):
        program.build()
    assert program.build_log


@pytest.mark.parametrize(
    "size, local, args, error, words",
    [
        (8, 3, 3, ValueError, "does not divide the global size"),
        (0, None, 3, ValueError, "no work-items"),
        (-1, None, 3, ValueError, "out of range"),
        ((8, 8), 8, 3, ValueError, "2 axes, local_size 1"),
        (8192, 2048, 3, ValueError, "at most"),
        (8, None, 2, TypeError, "takes 3 arguments"),
        ("x", None, 3, TypeError, "interpreted as an integer"),
    ],
)
def test_bad_launches(program, size, local, args, error, words):
    a = floats(8192)
    with pytest.raises(error, match=words):
        program.add(size, local, *[a, a, a.copy()][:args])


def test_bad_arguments(program):
    a = floats(64)
    with pytest.raises(TypeError, match="points at float32, the array holds float64"):
        program.add(8, None, a, a, np.zeros(64))
    with pytest.raises(TypeError, match=r"pass LocalMemory\(bytes\)"):
        program.tree(64, 32, a, a.copy(), 128)
    with pytest.raises(TypeError, match="not in local memory"):
        program.add(64, 32, a, a, tt.opencl.LocalMemory(8))
    with pytest.raises(ValueError, match="bytes of local memory, at most"):
        program.tree(64, 32, a, a.copy(), tt.opencl.LocalMemory(1 << 30))
    with pytest.raises(ValueError, match="wants a local size of"):
        program.asked((8, 4), (2, 2), np.zeros(1, "i4"))
    with pytest.raises(ValueError, match="at least one byte"):
        tt.opencl.LocalMemory(0)


CHECKED = r"""
import numpy as np, tutti as tt
program = tt.opencl.Program(open(0).read()).build()
x, m = np.zeros(4, "f4"), tt.opencl.LocalMemory(16)
for name in program.kernels:
    try:
        program.kernel(name)(4, 4, x, m, tt.opencl.LocalMemory(16))
        tt.synchronize()
        print(name, "fine")
    except (IndexError, RuntimeError) as e:
        print(name, type(e).__name__, e)
"""
FAULTY = r"""
__kernel void beyond(__global float *x, __local float *t, __local float *u) { x[get_local_id(0) + 1] = 1; }
__kernel void local_beyond(__global float *x, __local float *t, __local float *u) { t[get_local_id(0) + 1] = 1; }
__kernel void race(__global float *x, __local float *t, __local float *u) {
  int l = get_local_id(0);
  t[l] = l;
  x[l] = t[(l + 1) % 4];
}
__kernel void part(__global float *x, __local float *t, __local float *u) {
  if (get_local_id(0) < 2) barrier(CLK_LOCAL_MEM_FENCE);
}
__kernel void good(__global float *x, __local float *t, __local float *u) {
  int l = get_local_id(0);
  t[l] = l;
  barrier(CLK_LOCAL_MEM_FENCE);
  x[l] = t[(l + 1) % 4];
}
"""


def test_checks():
    run = [sys.executable, "-c", CHECKED]
    done = subprocess.run(run, input=FAULTY, env=os.environ | {"TUTTI_CHECK": "1"}, capture_output=True, text=True)
    lines = dict(line.split(" ", 1) for line in done.stdout.splitlines())
    assert "past the end of argument 1 'x'" in lines["beyond"] and "line 2" in lines["beyond"], done.stderr
    assert "past the end of shared memory (argument 2, 16 bytes)" in lines["local_beyond"]
    assert "a race in shared memory" in lines["race"]
    assert "a barrier that some threads of the block do not reach" in lines["part"]
    assert lines["good"] == "fine"


def test_without_a_compiler():
    text = "import tutti as tt; tt.opencl.Program('__kernel void k() {}').build()"
    run = [sys.executable, "-c", text]
    done = subprocess.run(
        run, env=os.environ | {"TUTTI_CXX": "none", "TUTTI_OPENCL": "none"}, capture_output=True, text=True
    )
    assert "OpenCL C on the CPU needs a C++ compiler" in done.stderr


STRIDES = r"""
__kernel void strides(__global const float *x, __global float *out, int n) {
  __local float t[64];
  float sum = 0;
  for (int i = get_global_id(0); i < n; i += get_global_size(0)) sum += x[i];
  t[get_local_id(0)] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) < 32) t[get_local_id(0)] += t[get_local_id(0) + 32];
  barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0)] = t[get_local_id(0) % 32];
}
"""


@pytest.mark.parametrize("n", [0, 1, 63, 128, 1000])
def test_loops_with_the_stride_of_the_range(n):
    x, out = np.arange(1000, dtype="f4"), np.zeros(128, "f4")
    tt.opencl.Program(STRIDES).build().strides(128, 64, x, out, n)
    sums = np.bincount(np.arange(n) % 128, x[:n], 128).reshape(2, 64)
    np.testing.assert_array_equal(out, np.tile(sums[:, :32] + sums[:, 32:], 2).ravel())
