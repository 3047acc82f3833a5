"""Users' kernels on an OpenCL device, PoCL's where there is no other: what they leave is what they leave on the CPU, to
the bit. Few kernels with much in each, because compilers of OpenCL take long."""

import math
import os

import numpy as np
import pytest
import tutti as tt
from kernel_programs import BLOCKS, THREADS, Expression, program
from tutti import cuda

DEVICES = [d for d in map(str, tt.devices()) if d.startswith("opencl")]
if not DEVICES:
    pytest.skip("no OpenCL device (on Debian and Ubuntu pocl-opencl-icd makes one of the CPU)", allow_module_level=True)

DEVICE = DEVICES[0]
EXACT = ("--fmad=false",)  # products and sums are rounded one by one
TABLE = np.arange(10.0) ** 2


def left(kernel, grid, args, device):
    """What a launch leaves of its arrays there, and whether the device had it."""
    given = [tt.array(x, device=device) if isinstance(x, np.ndarray) else x for x in args]
    before = tt.ledger()["device_launches"]
    kernel[grid](*given)
    out = [np.asarray(x) for x in given if isinstance(x, tt.ndarray)]
    return out, tt.ledger()["device_launches"] - before


def same(kernel, grid, *args):
    want, none = left(kernel, grid, args, "cpu")
    got, launches = left(kernel, grid, args, DEVICE)
    assert none == 0 and launches > 0
    assert any(not np.array_equal(w, a) for w, a in zip(want, [a for a in args if isinstance(a, np.ndarray)]))
    for a, b in zip(want, got):
        assert a.dtype == b.dtype and a.shape == b.shape
        assert np.where(a == a, a, 0).tobytes() == np.where(b == b, b, 0).tobytes()
        np.testing.assert_array_equal(a != a, b != b)


def floats(n, seed=0, dtype="float64"):
    return np.random.default_rng(seed).standard_normal(n).astype(dtype)


@cuda.jit
def add(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] + b[i]


def test_one_kernel_for_several_types_and_steps():
    for dtype in ("float32", "int8", "float16", "complex64"):
        a, b = floats(70, 1, "float32") * 20, floats(70, 2, "float32") * 20
        same(add, (2, 64), a.astype(dtype), b.astype(dtype), np.zeros(70, dtype))
    x, out = tt.array(floats(60), device=DEVICE), tt.zeros(20, device=DEVICE)
    add[1, 32](x[::3], x[40:], out)
    np.testing.assert_array_equal(np.asarray(out), np.asarray(x)[::3] + np.asarray(x)[40:])


@cuda.jit
def everything(x, m, out, dynamic, count):
    s = cuda.shared.array((4, 8), "float64")
    d = cuda.shared.array(0, "float32")
    c = cuda.const.array_like(TABLE)
    t = cuda.threadIdx.x
    s[t // 8, t % 8] = x[t]
    d[t] = x[t] * 2
    cuda.syncthreads()
    dynamic[t] = d[cuda.blockDim.x - 1 - t] + d.size
    positive = cuda.syncthreads_count(x[t] > 0)
    some, every = cuda.syncthreads_or(x[t] > 1), cuda.syncthreads_and(x[t] > -9)
    cuda.threadfence()
    out[t] = s[t % 4, t // 4] + c[t % 10] + TABLE[t % 7] + m[-1, t % 3] + m.T[1, 2] + positive * 100 + some + 2 * every
    count[cuda.blockIdx.x] = cuda.popc(count[0] + t) if t == 0 else count[cuda.blockIdx.x]


def test_memory_of_a_block_and_constants():
    same(
        everything, (1, 32, 0, 128), floats(32), floats((4, 3), 5), np.zeros(32), np.zeros(32, "float32"), np.arange(3)
    )


@cuda.jit
def functions(x, y):
    i = cuda.grid(1)
    if i < x.size:
        v = x[i]
        y[i, 0] = math.sin(v) + math.exp(-v * v) + math.sqrt(abs(v)) + math.log1p(abs(v)) + math.erf(v)
        y[i, 1] = math.pow(abs(v), 1.5) + math.atan2(v, 2.0) + math.hypot(v, 1.0) + math.fmod(v, 0.7)
        y[i, 2] = math.ldexp(v, 3) + math.copysign(1.0, v) + round(v, 2) + math.frexp(v)[0] + math.modf(v)[0]
        y[i, 3] = v // 0.3 + v % 0.3


@cuda.jit
def complexes(x, y):
    i = cuda.grid(1)
    if i < x.size:
        z = x[i] * x[i] + 1j
        y[i] = z / (x[i] + 2) + abs(z) - z.conjugate()


def test_functions():
    same(functions, (4, 64), floats(200), np.zeros((200, 4)))
    same(complexes, (4, 64), floats(200) + 1j * floats(200, 1), np.zeros(200, "complex128"))


@cuda.jit
def atomics(x, i, f, d, w, old):
    s = cuda.shared.array(4, "float32")
    g, t = cuda.grid(1), cuda.threadIdx.x
    if t < 4:
        s[t] = 0
    cuda.syncthreads()
    k = x[g]
    cuda.atomic.add(s, k % 4, 0.5)
    cuda.atomic.add(i, k % 8, k)
    cuda.atomic.sub(i, 8, k)
    cuda.atomic.max(i, 9, k)
    cuda.atomic.min(i, 10, k)
    cuda.atomic.or_(i, 11, k)
    cuda.atomic.xor(i, 12, k)
    cuda.atomic.and_(i, 13, k)
    cuda.atomic.compare_and_swap(i[14:], 0, 5)
    cuda.atomic.inc(w, 0, 6)
    cuda.atomic.add(f, k % 3, 0.5)
    cuda.atomic.nanmax(f, 3, k)
    cuda.atomic.add(d, 0, 0.25)
    cuda.atomic.max(d, 1, k)
    old[g] = cuda.atomic.exch(old, g, k) + 1
    cuda.syncthreads()
    if t < 4:
        cuda.atomic.add(d, 2 + t, s[t])


def test_atomics():
    for whole in ("int32", "int64"):
        x = np.random.default_rng(3).integers(0, 100, 192).astype(whole)
        i = np.array([0] * 10 + [1000, 0, 0, 127, 0], whole)
        same(atomics, (3, 64), x, i, np.zeros(4, "float32"), np.zeros(6), np.zeros(1, "uint32"), np.zeros(192, whole))


@cuda.jit
def tiles(a, b, c, counts):
    sa = cuda.shared.array((4, 4), "float32")
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    if x >= c.shape[0] or y >= c.shape[1]:
        return
    for k in range(a.shape[1]):
        if a[x, k] > 2.5:
            c[x, y] = -1
            return
    total = 0.0
    for i in range(cuda.gridDim.x):
        if i > 1:
            break
        sa[tx, ty] = a[x, ty + i * 4]
        cuda.syncthreads()
        for j in range(4):
            total += sa[tx, j] * b[j + i * 4, y]  # of threads that return together
        if total > 1e9:
            return
        n = cuda.syncthreads_count(total > 0)
        counts[x, y] += n + 100 * cuda.syncthreads_and(total < 1e9)
    c[x, y] = total


def test_threads_that_return_before_a_barrier():
    a, b = floats((8, 8), 1, "float32"), floats((8, 8), 2, "float32")
    a[1, 2] = 3
    same(tiles, ((2, 2), (4, 4)), a, b, np.zeros((8, 8), "float32"), np.zeros((8, 8)))


@pytest.mark.parametrize("seed", range(int(os.environ.get("DEVICE_KERNELS", "4"))))
def test_random_kernels(seed):
    text, kernel, arguments = program(seed)
    try:
        same(kernel, (BLOCKS, THREADS), *arguments)
    except Exception as error:
        raise AssertionError(text) from error


def test_vectorize_and_guvectorize():
    @tt.vectorize(["float32(float32, float32)"], target="cuda")
    def f(a, b):
        return a * b + math.sin(a)

    @tt.guvectorize(["void(float32[:], float32[:], float32[:])"], "(n),(n)->()", target="cuda")
    def dots(a, b, out):
        out[0] = 0
        for i in range(a.shape[0]):
            out[0] += a[i] * b[i]

    x = floats((6, 5), 1, "float32")
    with tt.device(DEVICE):
        there = [f(tt.array(x), tt.array(x)), dots(tt.array(x), tt.array(x))]
        assert [str(a.device) for a in there] == [DEVICE] * 2
    with tt.device("cpu"):
        here = [f(tt.array(x), tt.array(x)), dots(tt.array(x), tt.array(x))]
    for a, b in zip(here, there):
        assert np.asarray(a).tobytes() == np.asarray(b).tobytes()


def test_what_it_prints(capfd):
    @cuda.jit
    def tell(x):
        if cuda.grid(1) == 1:
            print("50% of", x[1], x[0] > 0, cuda.grid(1), "there")

    tell[1, 4](tt.array([1.0, 2.5], device=DEVICE))
    tt.synchronize()
    assert "50% of 2.5 True 1 there\n" in capfd.readouterr().out


def refused(kernel, grid, why, *args):
    with pytest.raises(
        NotImplementedError, match=f"kernel {kernel.py_func.__name__}: {DEVICE} has none of this: .*{why}"
    ):
        kernel[grid](*[tt.array(a, device=DEVICE) for a in args])


def test_what_cannot_be_had_is_refused_when_the_kernel_is_first_seen():
    @cuda.jit
    def shuffles(x):
        x[0] = cuda.shfl_down_sync(0xFFFFFFFF, x[0], 1)

    @cuda.jit
    def warps(x):
        cuda.syncwarp()
        x[0] = cuda.laneid

    @cuda.jit
    def grids(x):
        cuda.cg.this_grid().sync()
        x[0] = 1

    @cuda.jit
    def mixes(x):
        a, s = x, cuda.shared.array(4, "float64")
        if x[0] > 0:
            a = s
        a[1] = 1

    @cuda.jit
    def parts(x):
        if cuda.threadIdx.x < 2:
            cuda.syncthreads()
            x[0] = 1

    @cuda.jit
    def leaves(x):
        if cuda.grid(1) >= x.size:
            return
        if x[0] > 0:
            cuda.syncthreads()
            x[0] = 1

    @cuda.jit
    def turns(x):
        for k in range(cuda.grid(1), x.size, 4):
            x[k] = cuda.syncthreads_count(k > 0)

    refused(parts, (1, 32), "a barrier that not all threads of a block come to", np.ones(3))
    refused(turns, (1, 32), "a barrier that not all threads of a block come to", np.ones(3))
    refused(leaves, (1, 32), "threads that have returned must come to a barrier", np.ones(3))
    refused(shuffles, (1, 32), "exchanges between the threads of a warp", np.ones(3))
    refused(warps, (1, 32), "a barrier of a warp", np.ones(3))
    refused(grids, (1, 32), "a barrier of the whole grid", np.ones(3))
    refused(mixes, (1, 32), "an array that lies now in one memory", np.ones(3))


def test_bad_launches():
    a = tt.ones(4, device=DEVICE)
    with pytest.raises(ValueError, match="at most"):
        add[1, 1 << 20](a, a, a)
    with pytest.raises(ValueError, match="shared memory"):
        add[1, 4, 0, 1 << 30](a, a, a)
    with pytest.raises(TypeError):
        add[1, 4](a, a)
    add[1, 4](a, a, a)
    np.testing.assert_array_equal(np.asarray(a), [2] * 4)


# ---- expressions and CUDA C, by their words


def agree(work, *arrays):
    out, before = [], tt.ledger()["device_launches"]
    for device in ("cpu", DEVICE):
        with tt.device(device):
            made = work(*[tt.array(a) for a in arrays])
            out.append([np.asarray(y) for y in (made if isinstance(made, tuple) else (made,))])
    assert tt.ledger()["device_launches"] > before
    for a, b in zip(*out):
        assert a.dtype == b.dtype and a.shape == b.shape
        assert np.where(a == a, a, 0).tobytes() == np.where(b == b, b, 0).tobytes()
        np.testing.assert_array_equal(a != a, b != b)


@pytest.mark.parametrize("seed", range(int(os.environ.get("DEVICE_KERNELS", "3"))))
def test_random_expressions(seed):
    made = Expression(seed)
    types = {"float": "float32", "double": "float64"}
    kernel = tt.ElementwiseKernel(
        f"{made.real} x, int m, raw {made.real} r",
        f"{made.real} y, int j",
        made.text,
        "expression",
        way="cuda",
        options=EXACT,
    )
    i = np.random.default_rng(seed).integers(0, 1000, 200).astype("int32")
    try:
        agree(kernel, floats(200, seed, types[made.real]), i, floats(8, 9, types[made.real]))
    except Exception as error:
        raise AssertionError(made.text) from error


def test_expressions_in_every_form():
    x = floats((20, 30), 1, "float32")
    loop = tt.ElementwiseKernel(
        "T x", "T y", "y = 0; for (int k = 0; k < 3; k++) y += x * k;", "loop", way="cuda", options=EXACT
    )
    largest = tt.ReductionKernel(
        "T x", "T y", "x * x", "max(a, b)", "y = sqrt(a)", "T(-1)", "largest", way="cuda", options=EXACT
    )
    first = tt.ReductionKernel(
        "T x, T s", "T y", "x * s", "a + b", "y = a / 2", None, "first", way="cuda", options=EXACT
    )
    agree(lambda x: (loop(x[:, ::2]), largest(x, axis=1), largest(x.T), first(x[:2, :3], np.float32(2))), x)
    members = tt.ElementwiseKernel("raw T x", "T y", "y = x[i % x.size()]", "members", way="cuda")
    with pytest.raises(RuntimeError, match="'template': OpenCL C is no C\\+\\+"):
        members(tt.array(x, device=DEVICE), tt.zeros(5, dtype="float32", device=DEVICE))


SOURCE = r"""
#include <cuda_runtime.h>
#define N 64
__constant__ float weights[3] = {1.f, 2.f, 3.f};
typedef float real;
struct Pair { real a, b; };
/* A comment with a template in it. */
__device__ __forceinline__ float sum(const float *s, int n) {
  float r = 0;
  const float *p = s;
  for (int k = 0; k < n; k++, p++) r += *p;
  return r;
}
static __device__ Pair make(real a, real b) { Pair p; p.a = a; p.b = b; return p; }
__device__ inline int whole(int x) { return int(x * 2.5f); }
__device__ inline int whole(float x) { return int(x); }
extern "C" {
__global__ void __launch_bounds__(N)
all(const float *x, float *out, long long *count, double *d, unsigned int *u, int n, bool up, const char *none)
{
  __shared__ float s[N];
  extern __shared__ float dyn[];
  float own[4];
  int t = threadIdx.x;
  s[t] = t < n && up ? x[t] : 0;
  dyn[t] = s[t] * 2;
  for (int k = 0; k < 4; k++) own[k] = k * weights[k % 3];
  __syncthreads();
  float *q = dyn, *z;
  z = &s[1];
  float &last = out[t];
  last = sum(s, 8) + sum(x, 3) + sum(own, 4) + q[N - 1 - t] + float(t) / 3 + sqrtf(fabsf(x[t])) + z[t % 9];
  last += whole(t) + whole(last) + (none == NULL);
  Pair pr = make(last, t);
  last += pr.b;
  atomicAdd(&u[0], 1u);
  atomicMax(u + 1, (unsigned)t);
  atomicAdd(&out[n], 0.5f);
  atomicAdd((unsigned long long *)&count[0], 1ULL);
  atomicAdd(d, 0.25);
}
__global__ void idle() {}
}
"""


def test_cuda_c_by_its_words():
    program = tt.RawModule(code=SOURCE, options=EXACT)
    out = []
    for device in ("cpu", DEVICE):
        args = [
            floats(64, 1, "float32"),
            np.zeros(65, "float32"),
            np.zeros(1, "int64"),
            np.zeros(1),
            np.zeros(2, "uint32"),
        ]
        args = [tt.array(a, device=device) for a in args]
        program.get_function("all")((1,), (64,), (*args, 64, True, None), shared_mem=256)
        program.get_function("idle")((1,), (1,), ())
        out.append([np.asarray(a) for a in args])
    for a, b in zip(*out):
        np.testing.assert_array_equal(a, b)
    assert out[1][4].tolist() == [64, 63] and out[1][2].tolist() == [64]


@pytest.mark.parametrize(
    "line, text, why",
    [
        (1, "template <class T> __device__ T g(T x) { return x; }", "'template': OpenCL C is no C++"),
        (2, "\n__device__ float g(float &x) { return x; }", "'&': a reference that is no variable"),
        (1, "struct S { float *p; };", "a pointer in a struct"),
        (1, "__device__ float g[3];\n__device__ float h() { return g[0]; }", "'g': a variable of the program"),
        (3, "\n\n__device__ float g(float x) { return __shfl_down_sync(~0u, x, 1); }", "no warps"),
        (1, "__device__ void g(float *x) { float *p; p[0] = 1; }", "'p': a pointer of which nothing tells"),
        (1, "__device__ auto g(float x) { return x; }", "'auto': OpenCL C is no C++"),
    ],
)
def test_what_opencl_c_has_no_words_for(line, text, why):
    kernel = tt.RawKernel(text + '\nextern "C" __global__ void f(float *x) { x[0] = 1; }', "f")
    x = tt.zeros(3, dtype="float32", device=DEVICE)
    with pytest.raises(RuntimeError) as told:
        kernel((1,), (1,), (x,))
    assert f"kernel.cu:{line}: " in str(told.value) and why in str(told.value)
    assert float(x[0]) == 0


def test_what_opencls_compiler_says_has_the_users_line():
    kernel = tt.RawKernel(
        '\n\nextern "C" __global__ void f(float *x) {\n  __shared__ int s[2];\n  int *p = s;\n  p = (int *)x; }', "f"
    )
    with pytest.raises(RuntimeError, match="kernel.cu:6"):
        kernel((1,), (1,), (tt.zeros(3, dtype="float32", device=DEVICE),))
