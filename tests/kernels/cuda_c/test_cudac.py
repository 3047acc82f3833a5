"""Kernels in CUDA C on the CPU: what people write, against NumPy."""

# ruff: noqa: E501 (kernels stand here as people write them)

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import tutti as tt

pytestmark = pytest.mark.skipif(
    not any(os.access(os.path.join(p, c), os.X_OK) for p in os.environ["PATH"].split(":") for c in ("c++", "g++")),
    reason="no C++ compiler",
)

ADD = r"""
extern "C" __global__ void add(float *c, const float *a, const float *b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
"""


@pytest.fixture(scope="module")
def add():
    return tt.SourceModule(ADD).get_function("add")


def run(source, name, grid, block, *args, **kw):
    tt.RawKernel(source, name)(grid, block, args, **kw)


# ---- arguments


@pytest.mark.parametrize("n", [1, 2, 255, 256, 257, 1000, 100_003])
def test_vector_add(add, n):
    a, b = np.arange(n, dtype="f4"), np.linspace(-1, 1, n, dtype="f4")
    x, y, z = tt.asarray(a), tt.asarray(b), tt.zeros(n, dtype=tt.float32)
    add(z, x, y, np.int32(n), block=(256, 1, 1), grid=((n + 255) // 256, 1))
    assert np.array_equal(z.numpy(), a + b)


def test_numpy_arrays_are_used_in_place(add):
    a = np.ones(10, "f4")
    c = np.zeros(10, "f4")
    add(c, a, a, 10, block=(16, 1, 1))
    assert np.array_equal(c, np.full(10, 2, "f4"))


def test_lazy_arguments_and_old_values(add):
    x = tt.arange(8, dtype=tt.float32)
    z = tt.zeros(8, dtype=tt.float32)
    before = z + 1  # recorded over the old value
    alias = z[2:5]
    add(z, x * 2, x + x, 8, block=(8, 1, 1))
    assert np.array_equal(before.numpy(), np.ones(8, "f4"))
    assert np.array_equal(z.numpy(), np.arange(8) * 4)
    assert np.array_equal(alias.numpy(), np.arange(2, 5) * 4)
    assert float((z * 2).sum()) == 8 * 28


def test_views_and_the_same_array_twice(add):
    x = tt.arange(16, dtype=tt.float32)
    add(x[8:], x[:8], x[:8], 8, block=(8, 1, 1))
    assert np.array_equal(x.numpy(), np.r_[np.arange(8), np.arange(8) * 2])
    copy = x.copy()
    add(x, x, x, 16, block=(16, 1, 1))
    assert np.array_equal(x.numpy(), copy.numpy() * 2)


def test_scalars_of_every_type():
    names = {
        "int8": "signed char", "int16": "short", "int32": "int", "int64": "long long", "uint8": "unsigned char",
        "uint16": "unsigned short", "uint32": "unsigned", "uint64": "unsigned long long", "float32": "float",
        "float64": "double", "bool": "bool",
    }  # fmt: skip
    for dtype, c in names.items():
        out = np.zeros(3, dtype)
        k = tt.RawKernel(f"__global__ void put({c} *o, {c} v) {{ o[threadIdx.x] = v; }}", "put")
        k((1,), (3,), (out, np.dtype(dtype).type(1)))
        assert (out == 1).all()
        k((1,), (3,), (out, 0))
        assert (out == 0).all()
        if dtype not in ("bool", "float32", "float64"):
            low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
            k((1,), (1,), (out, high))
            assert out[0] == high
            for v in (low - 1, high + 1):
                with pytest.raises(OverflowError):
                    k((1,), (1,), (out, v))


def test_struct_by_value():
    src = "struct P { int n; float f; }; __global__ void f(float *o, P p) { o[threadIdx.x] = p.f * p.n; }"
    p = np.array([(3, 2.5)], dtype=[("n", "i4"), ("f", "f4")])
    o = np.zeros(2, "f4")
    run(src, "f", 1, 2, o, p.tobytes())
    assert (o == 7.5).all()


def test_wrong_arguments(add):
    x = tt.zeros(4, dtype=tt.float32)
    with pytest.raises(TypeError, match=r"takes 4 arguments \(3 given\)"):
        add(x, x, x, block=(1, 1, 1))
    with pytest.raises(TypeError, match="points at float32, the array holds float64"):
        add(x.astype("float64"), x, x, 4, block=(1, 1, 1))
    with pytest.raises(TypeError, match="'n', int32"):
        add(x, x, x, 1.5, block=(1, 1, 1))
    with pytest.raises(TypeError, match="no pointer, and an array is given"):
        add(x, x, x, x, block=(1, 1, 1))
    with pytest.raises(TypeError, match="needs an array"):
        add(x, x, 7, 4, block=(1, 1, 1))
    with pytest.raises(TypeError, match="cannot be a"):
        add(x, x, object(), 4, block=(1, 1, 1))
    with pytest.raises(ValueError, match="not contiguous"):
        add(x, x, np.zeros(8, "f4")[::2], 4, block=(1, 1, 1))
    with pytest.raises(ValueError, match="not contiguous"):
        add(x, x, tt.zeros(8, dtype="float32")[::2], 4, block=(1, 1, 1))
    frozen = np.zeros(4, "f4")
    frozen.flags.writeable = False
    add(x, frozen, frozen, 4, block=(4, 1, 1))
    with pytest.raises(ValueError, match="read-only"):
        add(frozen, x, x, 4, block=(4, 1, 1))
    with pytest.raises(ValueError, match="read-only"):
        add(tt.asarray(frozen), x, x, 4, block=(4, 1, 1))


def test_wrong_shapes_of_launches(add):
    x = tt.zeros(4, dtype=tt.float32)
    for grid, block, words in [
        ((1, 1), (1025, 1, 1), "1024"),
        ((1, 1), (32, 33, 1), "1056 threads"),
        ((0, 1), (32, 1, 1), "at least one"),
        ((1, 1), (0, 1, 1), "at least one"),
        ((1, 70000), (1, 1, 1), "65535"),
        ((1, 1), (1, 1, 65), "64"),
    ]:
        with pytest.raises(ValueError, match=words):
            add(x, x, x, 4, block=block, grid=grid)
    with pytest.raises(ValueError, match="out of range"):
        add(x, x, x, 4, block=(-1, 1, 1))
    with pytest.raises(ValueError, match="at most 49152"):
        add(x, x, x, 4, block=(4, 1, 1), shared=49153)
    with pytest.raises(TypeError, match="block="):
        add(x, x, x, 4)
    with pytest.raises(TypeError):
        add(x, x, x, 4, block=(1, 1, 1, 1))


# ---- the language


def test_threads_know_where_they_are():
    src = r"""
    __global__ void where(int *o) {
      int b = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
      int t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
      int n = blockDim.x * blockDim.y * blockDim.z;
      o[b * n + t] = ((blockIdx.x * 10 + blockIdx.y) * 10 + blockIdx.z) * 1000 +
                     (threadIdx.x * 10 + threadIdx.y) * 10 + threadIdx.z;
    }"""
    o = np.full(2 * 3 * 4 * 5 * 2 * 3, -1, "i4")
    run(src, "where", (2, 3, 4), (5, 2, 3), o)
    want = [
        ((bx * 10 + by) * 10 + bz) * 1000 + (x * 10 + y) * 10 + z
        for bz in range(4) for by in range(3) for bx in range(2) for z in range(3) for y in range(2) for x in range(5)
    ]  # fmt: skip
    assert o.tolist() == want


def test_global_index_is_exact_in_every_spelling():
    spellings = [
        "blockIdx.x * blockDim.x + threadIdx.x",
        "blockDim.x * blockIdx.x + threadIdx.x",
        "threadIdx.x + blockIdx.x * blockDim.x",
        "(blockIdx.x * blockDim.x) + threadIdx.x",
        "(size_t)blockIdx.x * blockDim.x + threadIdx.x",
        "2 * blockIdx.x * blockDim.x + threadIdx.x",
        "blockIdx.x * blockDim.x + threadIdx.x * 2",
        "7 - blockIdx.x * blockDim.x + threadIdx.x",
        "threadIdx.x + blockIdx.x * blockDim.x * 3",
    ]
    body = "\n".join(f"o[{k} * n + i] = (long long)({s});" for k, s in enumerate(spellings))
    src = "__global__ void f(long long *o, int n) { int i = blockIdx.x * 8 + threadIdx.x;" + body + "}"
    n = 24
    o = np.zeros(len(spellings) * n, "i8")
    run(src, "f", 3, 8, o, n)
    b, t = np.divmod(np.arange(n, dtype="i8"), 8)
    want = [b * 8 + t] * 5 + [16 * b + t, b * 8 + 2 * t, (7 - b * 8 + t) % 2**32, t + b * 24]
    assert np.array_equal(o.reshape(-1, n), np.array(want))


def test_unsigned_arithmetic_of_indices():
    src = r"""__global__ void f(int *o) {
      unsigned below = threadIdx.x - 1;
      o[threadIdx.x] = (below < 1000u) + 2 * (threadIdx.x - 2 < 4) + 4 * (-1 < threadIdx.x);
    }"""
    o = np.zeros(8, "i4")
    run(src, "f", 1, 8, o)
    t = np.arange(8)
    assert np.array_equal(o, (t >= 1) * 1 + 2 * ((t >= 2) & (t < 6)))


def test_templates_overloads_references_and_namespaces():
    src = r"""
    namespace tools { namespace inner {
      template <typename T> __device__ void twice(T &x) { x = x + x; }
      __device__ __forceinline__ int pick(int) { return 1; }
      __device__ int pick(double) { return 2; }
    } }
    struct Sum { template <class T> __device__ T operator()(T a, T b) const { return a + b; } };
    struct Max { template <class T> __device__ T operator()(T a, T b) const { return a > b ? a : b; } };
    template <typename T, class Op, int N = 4>
    __global__ void fold(T *o, const T *a) {
      T r = a[0];
      for (int k = 1; k < N; k++) r = Op()(r, a[k]);
      tools::inner::twice(r);
      o[0] = r;
      o[1] = T(tools::inner::pick(1) * 10 + tools::inner::pick(1.0));
    }
    """
    m = tt.RawModule(code=src, name_expressions=["fold<float, Sum>", "fold<int, Max>", "fold<double, Sum, 2>"])
    for name, dtype, want in [
        ("fold<float, Sum>", "f4", 28),
        ("fold<int, Max>", "i4", 18),
        ("fold<double, Sum, 2>", "f8", 8),
    ]:
        o, a = np.zeros(2, dtype), np.array([1, 3, 9, 1], dtype)
        m.get_function(name)(1, 1, (o, a))
        assert o.tolist() == [want, 12]
    with pytest.raises(ValueError, match="has no kernel 'fold<char>'; it has fold<float, Sum>"):
        m.get_function("fold<char>")


@pytest.mark.usefixtures("on_the_cpu")  # on a device no preprocessor runs before: __global__ must stand in the text
def test_kernel_in_a_namespace_and_launch_bounds():
    src = r"""
    namespace app { __global__ void __launch_bounds__(64, 2) f(int *__restrict__ o) { o[threadIdx.x] = 1; } }
    #if 0
    __global__ void never(missing *p) {}
    #endif
    #define KERNEL __global__ void
    KERNEL g(int *o) { o[threadIdx.x] = 2; }
    """
    m = tt.SourceModule(src)
    assert sorted(m.kernels) == ["app::f", "g"]
    f = m.get_function("app::f")
    assert f.max_threads_per_block == 64
    o = np.zeros(64, "i4")
    f(o, block=(64, 1, 1))
    assert (o == 1).all()
    with pytest.raises(ValueError, match="at most 64"):
        f(o, block=(65, 1, 1))
    m.get_function("g")(o, block=(64, 1, 1))
    assert (o == 2).all()


def test_constant_and_device_variables():
    src = r"""
    __constant__ float coef[3];
    __device__ int counter = 5;
    static __device__ double weights[2][2] = {{1, 2}, {3, 4}};
    __global__ void f(float *o, double *w) {
      o[threadIdx.x] = coef[threadIdx.x] * 2;
      if (threadIdx.x == 0) { counter++; w[0] = weights[1][0]; }
    }"""
    m = tt.SourceModule(src)
    m.variable("coef")[...] = tt.array([1, 2, 3], dtype="float32")
    address, size = m.get_global("coef")
    assert size == 12 and address
    with pytest.raises(ValueError, match="16 bytes do not fit"):
        m.variable("coef").set(np.zeros(4, "f4"))
    o, w = np.zeros(3, "f4"), np.zeros(1)
    f = m.get_function("f")
    f(o, w, block=(3, 1, 1))
    f(o, w, block=(3, 1, 1))
    assert o.tolist() == [2, 4, 6] and w[0] == 3
    assert m.variable("counter").get("int32").tolist() == [7]
    other = tt.SourceModule(src)  # a module of its own variables
    assert other.variable("counter").get("int32").tolist() == [5]
    with pytest.raises(ValueError, match="no __device__ or __constant__ variable 'nope'"):
        m.get_global("nope")


def test_vector_types_and_half():
    src = r"""
    #include <cuda_fp16.h>
    __global__ void f(float4 *v, __half *h, float *o) {
      float4 a = v[threadIdx.x], b = make_float4(1.f, 2.f, 3.f, 4.f);
      v[threadIdx.x] = make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
      __half x = h[threadIdx.x];
      h[threadIdx.x] = __hadd(x, __float2half(0.5f)) * __half(2.0f);
      o[threadIdx.x] = __half2float(x);
    }"""
    v = np.arange(16, dtype="f4").reshape(4, 4)
    h = np.array([0, 1.5, -2, 65504], "f2")
    o = np.zeros(4, "f4")
    w, g = v.copy(), h.copy()
    run(src, "f", 1, 4, w, g, o)
    assert np.array_equal(w, v + [1, 2, 3, 4])
    with np.errstate(over="ignore"):
        assert np.array_equal(g, (h + np.float16(0.5)) * np.float16(2))
    assert np.array_equal(o, h.astype("f4"))


def test_half_conversions_are_numpys():
    src = "__global__ void f(__half *h, const float *x, float *back) { int i = blockIdx.x * blockDim.x + threadIdx.x; h[i] = x[i]; back[i] = h[i]; }"
    bits = np.random.default_rng(1).integers(0, 2**32, 1 << 15, dtype="u4")
    every = np.arange(1 << 16, dtype="u2").view("f2").astype("f4")
    with np.errstate(all="ignore"):
        near = np.nextafter(every, np.float32(np.inf), dtype="f4")
    x = np.concatenate([bits.view("f4"), every, near])
    h, back = np.zeros(x.size, "f2"), np.zeros(x.size, "f4")
    run(src, "f", x.size // 256, 256, h, x, back)
    with np.errstate(all="ignore"):
        want = x.astype("f2")
    ok = np.isnan(want) == np.isnan(h)
    assert ok.all()
    real = ~np.isnan(want)
    assert np.array_equal(h.view("u2")[real], want.view("u2")[real])
    assert np.array_equal(back[real], want.astype("f4")[real])


def test_math_functions():
    unary = "sin cos tan asin acos atan sinh cosh tanh exp exp2 expm1 log log2 log10 log1p sqrt cbrt floor ceil trunc rint".split()
    for c, s, dtype in [("float", "f", "f4"), ("double", "", "f8")]:
        lines = "".join(
            f"o[{k} * n + i] = {f}{s}(x[i]); if (o[{k} * n + i] != {f}(x[i])) atomicAdd(bad, 1);"
            for k, f in enumerate(unary)
        )
        src = f"__global__ void f({c} *o, const {c} *x, int n, int *bad) {{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) {{ {lines} }} }}"
        x = np.linspace(0.01, 0.99, 777, dtype=dtype)
        o, bad = np.zeros((len(unary), x.size), dtype), np.zeros(1, "i4")
        run(src, "f", 4, 256, o, x, x.size, bad)
        assert bad[0] == 0
        names = {"asin": "arcsin", "acos": "arccos", "atan": "arctan"}
        for k, f in enumerate(unary):
            want = getattr(np, names.get(f, f))(x.astype("f8"))
            assert np.allclose(o[k], want, rtol=4 * np.finfo(dtype).eps, atol=0), f
    src = r"""__global__ void g(double *o) {
      o[0] = rsqrtf(4.f); o[1] = __fdividef(6.f, 3.f); o[2] = min(3, 2u); o[3] = max(1.5f, 2); o[4] = abs(-3); o[5] = fabsf(-2.f);
      o[6] = __popc(255); o[7] = __clz(1); o[8] = __ffs(8); o[9] = __mul24(3, 4); o[10] = __umulhi(1u << 31, 4u);
      o[11] = __float2int_rn(2.5f); o[12] = __float2int_rz(-2.7f); o[13] = pow(2.f, 3); o[14] = fmaf(2.f, 3.f, 4.f);
      o[15] = __int_as_float(0x3f800000); o[16] = __brev(1u) == 0x80000000u; o[17] = __float2int_rz(1e20f);
      o[18] = isnan(0.0 / 0.0) + 2 * isinf(1e300 * 1e10); o[19] = __ldg(&o[1]); o[20] = atan2(1.0, 1.0);
      o[21] = clock64() > 0; o[22] = INT_MAX; o[23] = M_PI; o[24] = __saturatef(3.f);
    }"""
    o = np.zeros(25)
    run(src, "g", 1, 1, o)
    want = [0.5, 2, 2, 2, 3, 2, 8, 31, 4, 12, 2, 2, -2, 8, 10, 1, 1, 2**31 - 1, 3, 2, np.pi / 4, 1, 2**31 - 1, np.pi, 1]
    assert np.allclose(o, want)


def test_atomics():
    src = r"""
    template <class T> __device__ void all(T *o, T v) {
      atomicAdd(o, v); atomicMin(o + 1, v); atomicMax(o + 2, v);
      T old = o[3], want;
      if constexpr (sizeof(T) == 4 || sizeof(T) == 8)
        if (atomicExch(o + 4, v) < 0) o[5] = 1;
    }
    __global__ void f(int *i, unsigned *u, long long *l, unsigned long long *w, float *f, double *d) {
      int t = blockIdx.x * blockDim.x + threadIdx.x;
      all(i, t); all(u, (unsigned)t); all(l, (long long)t); all(w, (unsigned long long)t); all(f, (float)(t % 8)); all(d, (double)t);
      atomicSub(i + 6, 1); atomicAnd(u + 6, ~(1u << (t & 31))); atomicOr(u + 7, 1u << (t & 31)); atomicXor(u + 8, t);
      atomicInc(u + 9, 99); atomicDec(u + 10, 99); atomicCAS(i + 7, 0, t + 1);
      int seen = i[8], was;
      do { was = seen; seen = atomicCAS(&i[8], was, was + 2); } while (seen != was);
    }"""
    n = 4096
    arrays = [np.zeros(16, t) for t in ("i4", "u4", "i8", "u8", "f4", "f8")]
    i, u = arrays[:2]
    for a in arrays:
        a[1] = 1000
    u[6] = 0xFFFFFFFF
    run(src, "f", n // 128, 128, *arrays)
    for a in arrays[:4] + arrays[5:]:
        assert a[0] == n * (n - 1) // 2 and a[1] == 0 and a[2] == n - 1
    assert arrays[4][0] == n // 8 * 28 and arrays[4][2] == 7
    assert i[6] == -n and u[6] == 0 and u[7] == 0xFFFFFFFF and u[8] == np.bitwise_xor.reduce(np.arange(n))
    assert u[9] == n % 100 and u[10] == (-n) % 100 and 1 <= i[7] <= n and i[8] == 2 * n


def test_atomics_on_shared_memory():
    src = r"""
    __device__ void bump(int *s, int k) { atomicAdd(&s[k], 1); atomicAdd(s + k, 1); }
    __global__ void f(int *o, int *g) {
      __shared__ int s[8], most;
      extern __shared__ float h[];
      int t = threadIdx.x;
      if (t < 8) s[t] = 0;
      if (t == 0) { most = 0; h[0] = 0; }
      __syncthreads();
      atomicAdd(&s[t % 8], t); atomicMax(&most, t); atomicAdd(h, 0.5f);
      bump(s, 0); bump(g, 1); atomicSub(s + 7, 1);
      atomicAdd(&g[0], 1);
      __syncthreads();
      if (t < 8) atomicAdd(&o[t], s[t]);
      if (t == 0) { o[8] = most; o[9] = (int)h[0]; }
    }"""
    o, g = np.zeros(10, "i4"), np.zeros(2, "i4")
    k = tt.RawKernel(src, "f")
    k((100,), (128,), (o, g), shared_mem=4)
    sums = [sum(range(r, 128, 8)) for r in range(8)]
    assert o[:8].tolist() == [100 * (sums[0] + 256)] + [100 * x for x in sums[1:7]] + [100 * (sums[7] - 128)]
    assert o[8:].tolist() == [127, 64] and g.tolist() == [12800, 25600]


# ---- threads that wait for each other


def test_shared_memory_and_barriers():
    src = r"""
    __global__ void reverse(int *a) {
      __shared__ int s[128];
      extern __shared__ int d[];
      int t = threadIdx.x, *p = a + blockIdx.x * blockDim.x;
      s[t] = p[t]; d[t] = 1;
      __syncthreads();
      p[t] = s[blockDim.x - 1 - t] + d[(t + 1) % blockDim.x];
    }"""
    a = np.arange(128 * 50, dtype="i4")
    want = a.reshape(-1, 128)[:, ::-1].ravel() + 1
    k = tt.RawKernel(src, "reverse")
    k((50,), (128,), (a,), shared_mem=512)
    assert np.array_equal(a, want)


def test_tiled_product():
    src = r"""
    #define T 16
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
    }"""
    n = 96
    rng = np.random.default_rng(0)
    a, b, c = rng.random((n, n), "f4"), rng.random((n, n), "f4"), np.zeros((n, n), "f4")
    run(src, "product", (n // 16, n // 16), (16, 16), c, a, b, n)
    assert np.allclose(c, a @ b, rtol=1e-5)


def test_reduction_tree_with_early_exit():
    src = r"""
    __global__ void total(float *out, const float *a, int n) {
      extern __shared__ float s[];
      unsigned t = threadIdx.x, i = blockIdx.x * (blockDim.x * 2) + t;
      s[t] = (i < n ? a[i] : 0) + (i + blockDim.x < n ? a[i + blockDim.x] : 0);
      __syncthreads();
      for (unsigned k = blockDim.x / 2; k > 0; k >>= 1) {
        if (t < k) s[t] += s[t + k];
        __syncthreads();
      }
      if (t != 0) return;
      atomicAdd(out, s[0]);
    }"""
    a = np.ones(100_001, "f4")
    out = np.zeros(1, "f4")
    tt.RawKernel(src, "total")((200,), (256,), (out, a, a.size), shared_mem=1024)
    assert out[0] == a.size


def test_counting_barriers():
    src = r"""
    __global__ void f(int *o) {
      int t = threadIdx.x;
      if (t >= 90) return;
      int n = __syncthreads_count(t < 40), all = __syncthreads_and(t < 90), some = __syncthreads_or(t == 200);
      o[t] = n * 100 + all * 10 + some;
    }"""
    o = np.zeros(100, "i4")
    run(src, "f", 1, 100, o)
    assert (o[:90] == 4010).all() and (o[90:] == 0).all()


def test_warps():
    src = r"""
    #define FULL 0xffffffff
    __global__ void f(int *o, double *d) {
      int t = threadIdx.x, v = t * t, n = blockDim.x;
      o[t] = __shfl_sync(FULL, v, 3);
      o[n + t] = __shfl_up_sync(FULL, v, 2);
      o[2 * n + t] = __shfl_down_sync(FULL, v, 1, 8);
      o[3 * n + t] = __shfl_xor_sync(FULL, v, 5);
      o[4 * n + t] = (int)__ballot_sync(FULL, t % 3 == 0);
      o[5 * n + t] = __any_sync(FULL, t == 33) * 2 + __all_sync(FULL, t < 32);
      o[6 * n + t] = (int)__match_any_sync(FULL, t % 4);
      int sum = 1;
      for (int k = 16; k > 0; k /= 2) sum += __shfl_xor_sync(FULL, sum, k);
      o[7 * n + t] = sum;
      if (t % 32 < 8) o[8 * n + t] = __reduce_add_sync(0xff, t);
      __syncwarp();
      double x = t * 0.5;
      for (int k = 16; k > 0; k >>= 1) x += __shfl_down_sync(FULL, x, k);
      d[t] = x;
      o[9 * n + t] = __shfl_sync(FULL, v, t + 1, 16);
    }"""
    o, d = np.zeros((10, 64), "i4"), np.zeros(64)
    run(src, "f", 1, 64, o, d)
    t = np.arange(64)
    lane, base, v = t % 32, t - t % 32, t * t
    assert np.array_equal(o[0], v[base + 3])
    assert np.array_equal(o[1], np.where(lane >= 2, v[np.maximum(t - 2, 0)], v))
    assert np.array_equal(o[2], np.where(t % 8 < 7, v[np.minimum(t + 1, 63)], v))
    assert np.array_equal(o[3], v[t ^ 5])
    ballot = [sum(1 << k for k in range(32) if (b + k) % 3 == 0) for b in (0, 32)]
    assert np.array_equal(o[4].view("u4"), np.repeat(np.array(ballot, "u4"), 32))
    assert np.array_equal(o[5], np.where(t < 32, 1, 2))
    assert np.array_equal(o[6].view("u4"), (0x11111111 << (t % 4)).astype("u4"))
    assert (o[7] == 32).all()
    assert np.array_equal(o[8], np.where(lane < 8, np.where(t < 32, 28, 28 + 256), 0))
    assert d[0] == t[:32].sum() * 0.5 and d[32] == t[32:].sum() * 0.5
    assert np.array_equal(o[9], v[t - t % 16 + (t + 1) % 16])


@pytest.mark.usefixtures("on_the_cpu")  # where the text is preprocessed before it is scanned, so that `waits` is known
def test_barrier_behind_a_device_function_and_a_macro():
    src = r"""
    #define WAIT __syncthreads()
    struct Box { int *s; __device__ int swap(int t, int n) { WAIT; return s[n - 1 - t]; } };
    template <class B> __device__ int through(B b, int t) { return b.swap(t, blockDim.x); }
    __global__ void f(int *o) {
      __shared__ int s[64];
      int t = threadIdx.x;
      s[t] = t;
      Box b = {s};
      o[t] = through(b, t);
    }
    __global__ void g(int *o) { o[threadIdx.x] = 1; }
    """
    m = tt.SourceModule(src)
    assert m.get_function("f").waits and not m.get_function("g").waits
    o = np.zeros(64, "i4")
    m.get_function("f")(o, block=(64, 1, 1))
    assert np.array_equal(o, np.arange(64)[::-1])


@pytest.mark.usefixtures("on_the_cpu")
def test_barrier_that_some_never_reach():
    src = r"""__global__ void f(int *o) {
      if (threadIdx.x < 32) { __shfl_sync(0xffffffff, 1, 0); __syncthreads(); }
      else if (threadIdx.x == 40) __shfl_sync(1u << 5, 1, 0);
      o[threadIdx.x] = 1;
    }
    __global__ void g(int *o) { __shfl_sync(0xffffffff, 1, 0); if (threadIdx.x == 0) __shfl_sync(3u, 1, 0); else __syncthreads(); }"""
    m = tt.SourceModule(src)
    o = np.zeros(64, "i4")
    m.get_function("f")(o, block=(64, 1, 1))  # threads that ended are not waited for
    with pytest.raises(RuntimeError, match=r"kernel g, block 0: \d+ of 64 threads wait .* divergent flow"):
        m.get_function("g")(o, block=(64, 1, 1))
    m.get_function("f")(o, block=(64, 1, 1))  # and all is well afterwards
    assert (o == 1).all()


# ---- what goes wrong inside


@pytest.mark.usefixtures("on_the_cpu")
def test_printf(capsys):
    src = r"""#include <stdio.h>
    __global__ void hello(float f) { if (threadIdx.x < 2) printf("thread %d of %d: %.2f %s\n", threadIdx.x, blockDim.x, f, "ok"); }"""
    run(src, "hello", 1, 4, 1.5)
    assert capsys.readouterr().out == "thread 0 of 4: 1.50 ok\nthread 1 of 4: 1.50 ok\n"


@pytest.mark.usefixtures("on_the_cpu")
def test_assertion_names_the_line():
    src = "#include <assert.h>\n__global__ void f(int *o) {\n  assert(threadIdx.x != 3);\n  o[threadIdx.x] = 1;\n}\n"
    for text in (src, src.replace("o[threadIdx.x] = 1;", "__syncthreads(); o[threadIdx.x] = 1;")):
        with pytest.raises(
            RuntimeError, match=r"kernel.cu:3: block \(0,0,0\), thread \(3,0,0\): assertion failed: threadIdx.x != 3"
        ):
            run(text, "f", 1, 8, np.zeros(8, "i4"))
    with pytest.raises(RuntimeError, match="__trap"):
        run("__global__ void f() { __trap(); }", "f", 1, 1)
        tt.synchronize()


@pytest.mark.usefixtures("on_the_cpu")
def test_bad_access_is_an_error():
    src = "__global__ void f(int *o, long long k) { o[k] = 1; }"
    o = np.zeros(1, "i4")
    with pytest.raises(RuntimeError, match="kernel f accessed memory that is not there"):
        run(src, "f", 1, 1, o, 1 << 45)
    with pytest.raises(RuntimeError, match="kernel f accessed memory that is not there"):
        run(src, "f", 1, 1, None, 0)
        tt.synchronize()
    run(src, "f", 1, 1, o, 0)
    assert o[0] == 1


@pytest.mark.usefixtures("on_the_cpu")
def test_compile_errors_show_the_users_line():
    with pytest.raises(tt.CompileError, match=r"kernel.cu:3:\d+: error: .*nothing") as e:
        tt.SourceModule("\n__global__ void f(int *a) {\n  a[0] = nothing;\n}\n")
    assert "a[0] = nothing;" in str(e.value) and "/tmp" not in str(e.value)
    with pytest.raises(tt.CompileError, match="no_such_header.h"):
        tt.SourceModule('#include "no_such_header.h"\n')
    k = tt.RawKernel("__global__ void f(", "f")  # says so when it is first used
    with pytest.raises(tt.CompileError):
        k(1, 1, ())
    with pytest.raises(TypeError):
        tt.SourceModule(3)


@pytest.mark.usefixtures("on_the_cpu")
def test_what_the_cpu_has_not_is_named_with_the_users_line():
    with pytest.raises(
        tt.CompileError, match=r"(?s)from kernel.cu:2.*<curand_kernel.h> is not there for kernels on the CPU"
    ) as e:
        tt.SourceModule("\n#include <curand_kernel.h>\n__global__ void f(int *a) {}\n")
    assert "/tmp" not in str(e.value)
    with pytest.raises(tt.CompileError, match=r"(?s)inline PTX \(asm\) is not there .*kernel.cu:3"):
        tt.SourceModule(
            '__global__ void f(unsigned *a) {\n  unsigned r;\n  asm("mov.u32 %0, %%laneid;" : "=r"(r));\n  *a = r;\n}\n'
        )


def test_memory_of_the_heap():
    src = """
    struct node { int value; node *next; __device__ node(int v, node *n) : value(v), next(n) {} };
    struct two { int a, b; };
    __global__ void f(int *o, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i >= n) return;
      node *list = nullptr;
      for (int k = 0; k <= i % 7; k++) list = new node(k, list);
      int *squares = (int *)malloc(5 * sizeof(int)), sum = 0;
      for (int k = 0; k < 5; k++) squares[k] = k * i;
      for (; list;) { node *next = list->next; sum += list->value; delete list; list = next; }
      two *t = new two[3]();
      o[i] = sum * 1000 + squares[4] + t[2].b;
      delete[] t;
      free(squares);
    }"""
    o = np.zeros(100, "i4")
    run(src, "f", 2, 64, o, 100)
    i = np.arange(100)
    assert np.array_equal(o, (i % 7) * (i % 7 + 1) // 2 * 1000 + 4 * i)


def test_options():
    src = "__global__ void f(int *o) { o[0] = N; }"
    o = np.zeros(1, "i4")
    tt.RawKernel(src, "f", options=("-DN=41", "--std=c++17", "-arch=sm_80"))(1, 1, (o,))
    assert o[0] == 41
    tt.RawKernel(src, "f", options=("-D", "N=42"))(1, 1, (o,))
    assert o[0] == 42


@pytest.mark.usefixtures("on_the_cpu")
def test_no_compiler_says_what_to_install():
    code = "import tutti as tt\ntry:\n  tt.SourceModule('__global__ void f() {}')\nexcept tt.CompileError as e:\n  print(e)"
    env = {**os.environ, "TUTTI_CXX": "none", "CUDA_VISIBLE_DEVICES": ""}
    assert (
        "needs a C++ compiler: TUTTI_CXX=none"
        in subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True).stdout
    )
    env = {**os.environ, "PATH": "/nowhere", "CUDA_VISIBLE_DEVICES": ""}
    out = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True).stdout
    assert "apt install g++" in out


@pytest.mark.usefixtures("on_the_cpu")
@pytest.mark.parametrize("flag", ["--param", "-march"])
def test_compiler_that_knows_fewer_flags(flag, tmp_path):
    cxx = tmp_path / "cxx"
    refuse = f"c++: error: unrecognized command-line option '{flag}'"
    cxx.write_text(
        f'#!/bin/sh\nfor a in "$@"; do case "$a" in {flag}*) echo "{refuse}" >&2; exit 1;; esac; done\nexec c++ "$@"\n'
    )
    cxx.chmod(0o700)
    code = (
        "import numpy as np, tutti as tt\no = np.zeros(3, 'i4')\n"
        "tt.RawKernel('__global__ void f(int *o) { o[threadIdx.x] = 7; }', 'f')(1, 3, (o,))\nprint(o)"
    )
    env = {**os.environ, "TUTTI_CXX": str(cxx), "TUTTI_CACHE_LIMIT": "0"}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    assert done.stdout == "[7 7 7]\n", done.stderr


@pytest.mark.usefixtures("on_the_cpu")
@pytest.mark.parametrize("body", ["while (*(volatile int *)o == 0) {}", "for (;;) __syncthreads();"])
def test_endless_kernel_is_interrupted(body, request):
    was = signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever started us may have had it ignored
    request.addfinalizer(lambda: signal.signal(signal.SIGINT, was))
    k = tt.RawKernel(f"__global__ void f(int *o) {{ {body} o[1] = 1; }}", "f")
    o = np.zeros(2, "i4")
    k.compile()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    for blocks in (200, 1, 200):
        timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
        timer.start()
        start = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            k(blocks, 32, (o,))
        timer.join()
        assert time.monotonic() - start < 5
        assert signal.pthread_sigmask(signal.SIG_BLOCK, []) == before  # the next one is heard, too
    o[0] = 1
    if "while" in body:
        k(1, 32, (o,))
        assert o[1] == 1


def test_many_threads_launch_at_once(add):
    bad = []

    def work(seed):
        rng = np.random.default_rng(seed)
        for _ in range(20):
            n = int(rng.integers(1, 5000))
            a, c = rng.random(n, "f4"), np.zeros(n, "f4")
            add(c, a, a, n, block=(128, 1, 1), grid=((n + 127) // 128, 1))
            if not np.array_equal(c, a + a):
                bad.append(n)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not bad


def test_grid_beyond_31_bits():
    src = """__global__ void f(unsigned *o) {
      unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i >= 2147483648u) o[i - 2147483648u] = i;
    }"""
    o = np.zeros(1024, "u4")
    run(src, "f", (1 << 21) + 1, 1024, o)
    assert np.array_equal(o, np.arange(1024, dtype="u4") + np.uint32(2147483648))


@pytest.mark.usefixtures("on_the_cpu")
def test_inspection():
    m = tt.SourceModule(ADD)
    f = m.get_function("add")
    assert f.parameters == [("c", "float32 *"), ("a", "const float32 *"), ("b", "const float32 *"), ("n", "int32")]
    assert repr(f) == "<kernel add(float32 *c, const float32 *a, const float32 *b, int32 n)>"
    assert "tt_index_x(" in m.inspect_source()
    assert f.num_args == 4


@pytest.mark.usefixtures("on_the_cpu")
def test_out_of_memory_leaks_nothing(recorded):
    """The n-th allocation fails, for every n: a MemoryError or the right result, and no byte is lost."""
    import gc

    from tutti import _core

    def work():
        f = tt.SourceModule(ADD).get_function("add")
        a, c = tt.ones(100, dtype="float32"), tt.zeros(100, dtype="float32")
        kept = c + 1
        f(c, a, a + 1, 100, block=(64, 1, 1), grid=(2, 1))
        assert float(c[99]) == 3 and float(kept[0]) == 1

    def settle():
        tt.synchronize()  # a launch that could not begin runs now, by a plan of its own
        tt.compile_wait()
        gc.collect()
        _core.memory_trim()

    def fail_each(live):
        """How many allocations there are; `live`: bytes in use after each that failed, or None."""
        for n in range(1000):
            _core._test_fail("memory", n, False)
            try:
                work()
            except MemoryError:
                pass
            _, fired = _core._test_calls("memory")
            _core._test_fail("memory", -1, False)
            settle()
            assert live is None or _core._test_live() == live, n
            if not fired:
                return n

    fail_each(None)  # plans for what is left over of a failure, and kernels compiled on the way, are kept
    settle()
    assert fail_each(_core._test_live()) > 10
