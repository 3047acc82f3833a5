"""TUTTI_CHECK=1 on the CPU: each finding in a kernel that has it, and silence about one that nearly has it."""

import mmap
import os
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest
import tutti as tt
from tutti import cuda, float64, int32


@pytest.fixture(autouse=True)
def checked(monkeypatch):
    monkeypatch.setenv("TUTTI_CHECK", "1")
    monkeypatch.setattr("tutti._jit.cuda_place._there", None)  # as if it had been set from the start: no GPU is used


@pytest.fixture(autouse=True, scope="module")
def one_folder(tmp_path_factory):
    before = os.environ.get("TUTTI_CACHE_DIR")
    os.environ["TUTTI_CACHE_DIR"] = str(tmp_path_factory.mktemp("cache"))
    yield
    if before is None:
        del os.environ["TUTTI_CACHE_DIR"]
    else:
        os.environ["TUTTI_CACHE_DIR"] = before


def run(src, grid, block, *args, **more):
    """Launch the only kernel of a text on the CPU; its arrays are NumPy's."""
    with tt.device("cpu"):
        name = re.search(r"__global__ void\s*(?:__launch_bounds__\(\d+\))?\s*(\w+)", src).group(1)
        grid, block = (k if isinstance(k, tuple) else (k,) for k in (grid, block))
        tt.RawKernel(src, name)(grid, block, args, **more)
        tt.synchronize()


def finds(error, words, src, grid, block, *args, **more):
    """`words`: a regular expression in which LINE(x) stands for the number of the line that holds x."""

    def number(match):
        lines = [k for k, line in enumerate(src.split("\n"), 1) if match.group(1) in line]
        assert len(lines) == 1, match.group(1)
        return f"line {lines[0]}"

    with pytest.raises(error, match=re.sub(r"LINE\((.*?)\)", number, words)):
        run(src, grid, block, *args, **more)


def f4(*shape):
    return np.arange(np.prod(shape), dtype="f4").reshape(shape)


def i32(n):
    return np.zeros(n, "i4")


# ---- bounds

ADD = """
__global__ void add(const float *a, const float *b, float *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n + EXTRA)
    c[i] = a[i]
         + b[i];
}"""


def test_an_index_past_the_end():
    a, b, c = f4(1000), f4(1000), np.zeros(1000, "f4")
    run(ADD.replace("EXTRA", "0"), 4, 256, a, b, c, np.int32(1000))
    assert np.array_equal(c, a + b)
    words = (
        r"read of 4 bytes past the end of argument 1 'a' \(float32\[1000\]\): index 1000, block \(3, 0, "
        r"0\), thread \(232, 0, 0\), line [56]"
    )
    finds(IndexError, words, ADD.replace("EXTRA", "1"), 4, 256, a, b, c, np.int32(1000))
    words = r"kernel 'add': write of 4 bytes past the end of argument 3 'c' \(float32\[999\]\): index 999, .* line 5"
    finds(IndexError, words, ADD.replace("EXTRA", "0"), 4, 256, a, b, c[:-1], np.int32(1000))
    run(ADD.replace("EXTRA", "0"), 4, 256, a, b, c, np.int32(1000))  # nothing is lost


def test_an_index_before_the_beginning_and_a_null_pointer():
    left = "__global__ void left(const double *a, double *b) {\n  int i = threadIdx.x;\n  b[i] = a[i - 1];\n}"
    words = (
        r"read of 8 bytes before the beginning of argument 1 'a' \(float64\[8\]\): index -1, block \(0, "
        r"0, 0\), thread \(0, 0, 0\), line 3"
    )
    finds(IndexError, words, left, 1, 8, np.zeros(8), np.zeros(8))
    right = left.replace("i - 1", "i")
    finds(IndexError, r"write of 8 bytes through a null pointer .*, line 3", right, 1, 1, np.zeros(8), None)


def test_an_index_far_away():
    src = "__global__ void far(float *a, int k) {\n  a[(long long)k * k] = 1;\n}"
    finds(IndexError, "kernel 'far': write of 4 bytes .* line 2", src, 1, 1, f4(8), np.int32(40000))


def test_an_index_in_two_and_three_axes_of_threads():
    src = """__global__ void f(unsigned char *a, int w, int h) {
      int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y;
      if (x < w && y <= h) a[y * w + x] = 1;
    }"""
    words = r"write of 1 bytes past .* 'a' \(uint8\[110\]\): index 110, block \(0, 2, 0\), thread \(0, 2, 0\), line 3"
    finds(IndexError, words, src, (2, 3), (8, 4), np.zeros(110, "u1"), np.int32(11), np.int32(10))


def test_wide_accesses():
    src = "__global__ void f(const float4 *a, float4 *b) {\n  int i = threadIdx.x;\n  b[i] = a[i];\n}"
    run(src, 1, 8, f4(32), f4(32))
    finds(IndexError, r"of argument [12] '[ab]'.*thread \(7, 0, 0\), line 3", src, 1, 8, f4(30), f4(30))


def test_an_index_in_a_device_function_names_its_line():
    src = (
        "__device__ float get(const float *a, int i) {\n"
        "  return a[i + 1];\n"
        "}\n"
        "__global__ void f(float *a, float *b) {\n"
        "  b[threadIdx.x] = get(a, threadIdx.x);\n"
        "}"
    )
    finds(IndexError, r"index 8, .*line 2", src, 1, 8, f4(8), f4(8))


def test_atomic_operations_name_the_users_line():
    src = "__global__ void f(int *a) {\n  int i = threadIdx.x;\n\n  atomicAdd(&a[i], 1);\n}"
    finds(IndexError, r"write of 4 bytes past .* index 8, .*line 4", src, 1, 9, i32(8))


def test_constant_memory_and_variables():
    src = """__constant__ float k[4] = {1, 2, 3, 4};
    __device__ int count[2];
    static __device__ const int table[3] = {5, 6, 7};
    __global__ void f(float *a, int more) {
      int t = threadIdx.x;
      a[t] = k[t % 4] + table[t % 3] + "abc"[t % 3];
      atomicAdd(&count[t % 2], 1);
      if (t < more) a[t] = k[t + 3];
    }"""
    a = f4(8)
    run(src, 1, 8, a, np.int32(1))
    assert a[1] == 2 + 6 + ord("b")
    words = r"read of 4 bytes past the end of variable 'k': index 4, .*thread \(1, 0, 0\), line 8"
    finds(IndexError, words, src, 1, 8, a, np.int32(2))


def test_arrays_that_are_the_same_memory():
    src = "__global__ void f(float *a, const float *b) {\n  int i = threadIdx.x;\n  a[i] += b[i];\n}"
    a = f4(64)
    run(src, 1, 64, a, a)
    assert np.array_equal(a, 2 * f4(64))
    run(src, 1, 32, a[32:], a[:32])
    finds(RuntimeError, r"a race in argument [12] '[ab]'", src, 1, 48, a[16:], a[:-16])


# ---- arrays that the text declares

LOCAL = """__device__ float get(const float *p, int k) {
  return p[k];
}
__global__ void local(float *a, int n, int how) {
  float own[16], two[4][8];
  struct { float x[3]; int y; } both = {{1, 2, 3}, 4};
  for (int k = 0; k < 16; k++) own[k] = k, two[k / 8][k % 8] = two[2 + k / 8][k % 8] = 2 * k;
  if (how == 0) a[0] = own[n];
  if (how == 1) own[n] = 7;
  if (how == 2) a[0] = two[1][n];
  if (how == 3) a[0] = get(own, n);
  if (how == 4) { float *p = own + 2; p[n] = 3; }
  if (how == 5) a[0] = both.x[n] + both.y;
  if (how == 6) own[n] += 1;
  a[1] = own[3] + two[1][2] + both.x[0];
}"""
BEYOND = [
    (0, 16, r"index 16 is out of bounds for an array of 16 elements \(float ?\[16\]\), .*LINE(a[0] = own[n])"),
    (0, -1, r"index -1 is out of bounds for an array of 16 elements .*LINE(a[0] = own[n])"),
    (1, 100_000_000, r"index 100000000 is out of bounds for an array of 16 elements .*LINE(own[n] = 7)"),
    (2, 8, r"index 8 is out of bounds for an array of 8 elements .*LINE(two[1][n])"),
    (5, 3, r"index 3 is out of bounds for an array of 3 elements .*LINE(both.x[n])"),
    (6, 16, r"index 16 is out of bounds for an array of 16 elements|LINE(own[n] +=)"),
]
POINTED = [
    (3, 16, r"read of a value \('?const float'?\) beyond the variable that is pointed into, .*LINE(return p[k])"),
    (4, 14, r"write of a value \('?float'?\) beyond the variable that is pointed into, .*LINE(p[n] = 3)"),
]


@pytest.mark.parametrize("how, n, words", BEYOND)
def test_an_index_beyond_a_local_array(how, n, words):
    finds(IndexError, words, LOCAL, 1, 4, f4(8), np.int32(n), np.int32(how))


@pytest.mark.parametrize("how, n, words", POINTED)
def test_a_pointer_beyond_a_local_array(how, n, words):
    if "clang" in os.path.realpath(shutil.which(os.environ.get("TUTTI_CXX") or "c++")):
        pytest.skip("Clang knows an array by its name alone")
    version = subprocess.run([os.environ.get("TUTTI_CXX") or "c++", "-dumpversion"], capture_output=True, check=True)
    if how == 3 and int(version.stdout.split(b".")[0]) > 12:
        pytest.skip("GCC 13 does not see the array behind a function's parameter")
    finds(IndexError, words, LOCAL, 1, 4, f4(8), np.int32(n), np.int32(how))


def test_all_of_a_local_array_may_be_used():
    for how in range(7):
        for n in (0, 2) if how == 5 else (0, 13) if how == 4 else (0, 7) if how == 2 else (0, 15):
            run(LOCAL, 2, 4, f4(8), np.int32(n), np.int32(how))


SHARED_ROWS = """__global__ void rows(float *a, int n, int own) {
  __shared__ float s[4][8];
  float mine[8];
  for (int k = 0; k < 8; k++) s[threadIdx.x][k] = mine[k] = k;
  __syncthreads();
  if (own) mine[n] = 1; else a[threadIdx.x] = s[threadIdx.x][n];
  __syncthreads();
  a[threadIdx.x] += mine[2];
}"""


def test_a_row_that_goes_over_into_the_next():
    for own in 0, 1:
        run(SHARED_ROWS, 1, 4, f4(4), np.int32(7), np.int32(own))
    words = r"index 8 is out of bounds for an array of 8 elements \(float ?\[8\]\), block \(0, 0, 0\), thread .* line 6"
    finds(IndexError, words, SHARED_ROWS, 1, 4, f4(4), np.int32(8), np.int32(0))
    finds(IndexError, words, SHARED_ROWS, 1, 4, f4(4), np.int32(8), np.int32(1))
    words = r"past the end of shared memory 's'.*line 6"
    finds(IndexError, words, SHARED_ROWS, 1, 4, f4(4), np.int32(40), np.int32(0))


def test_arrays_of_python_kernels():
    def python_kernel(kind):
        @cuda.jit
        def kernel(a, n):
            own = kind((4, 5), float64)
            own[1, n] = 2
            a[0] = own[1, 3]

        return kernel

    for kind in cuda.local.array, cuda.shared.array:
        kernel = python_kernel(kind)
        for n in 5, -6, 1 << 40:
            words = rf"index {n} is out of bounds for axis 1 of 'own' with size 5; block.*\n?in kernel, line \d+"
            with pytest.raises(IndexError, match=words):
                kernel[1, 1](np.zeros(4), n)
        a = np.zeros(4)
        kernel[1, 1](a, 3)
        assert a[0] == 2


def test_loops_of_compiled_functions():
    @tt.jit
    def total(a, n):
        s = 0.0
        for k in range(n):
            s += a[k]
        return s

    @tt.jit(parallel=True)
    def twice(a, n):
        out = np.zeros(n)
        for k in tt.prange(n):
            out[k] = 2 * a[k]
        return out

    for a in np.ones(8), tt.ones(8):
        assert total(a, 8) == 8 and twice(a, 8).tolist() == [2] * 8
        for f in total, twice:
            with pytest.raises(
                IndexError, match=r"index 8 is out of bounds for axis 0 of 'a' with size 8\nin \w+, line"
            ):
                f(a, 9)


# ---- shared memory

TREE = """__global__ void tree(const float *a, float *out) {
  __shared__ float s[256];
  int t = threadIdx.x;
  s[t] = a[blockIdx.x * blockDim.x + t];
  BEFORE
  for (int k = 128; k > 0; k /= 2) {
    if (t < k) s[t] += s[t + k];
    WITHIN
  }
  if (t == 0) out[blockIdx.x] = s[0];
}"""


def tree(before="__syncthreads();", within="__syncthreads();"):
    return TREE.replace("BEFORE", before).replace("WITHIN", within)


def test_a_reduction_tree():
    a, out = f4(1024), np.zeros(4, "f4")
    run(tree(), 4, 256, a, out)
    assert np.array_equal(out, a.reshape(4, 256).sum(1))
    finds(
        RuntimeError,
        r"a race in shared memory 's', element \d+: block \(0, 0, 0\), thread \(\d+, 0, 0\) \w+ it on line 7; "
        r"block \(0, 0, 0\), thread \(\d+, 0, 0\) \w+ it on line 7, with no barrier between",
        tree(within=""),
        4,
        256,
        a,
        out,
    )
    finds(
        RuntimeError,
        r"a race in shared memory 's', element 128: .* reads it on line 7; .* writes it on line 4",
        tree(before=""),
        4,
        256,
        a,
        out,
    )


TILED = """__global__ void product(const float *a, const float *b, float *c, int n) {
  __shared__ float x[8][8], y[8][8];
  int i = blockIdx.y * 8 + threadIdx.y, j = blockIdx.x * 8 + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; k += 8) {
    x[threadIdx.y][threadIdx.x] = a[i * n + k + threadIdx.x];
    y[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + j];
    FIRST
    for (int l = 0; l < 8; l++) sum += x[threadIdx.y][l] * y[l][threadIdx.x];
    SECOND
  }
  c[i * n + j] = sum;
}"""


def test_a_tiled_product():
    a, b, c = f4(32, 32), np.eye(32, dtype="f4") * 2, np.zeros((32, 32), "f4")
    sync = "__syncthreads();"
    run(TILED.replace("FIRST", sync).replace("SECOND", sync), (4, 4), (8, 8), a, b, c, np.int32(32))
    assert np.array_equal(c, 2 * a)
    finds(
        RuntimeError,
        (
            r"a race in shared memory '[xy]', element \d+: .* it on line [679]; .* it on line [679], with no "
            r"barrier between"
        ),
        TILED.replace("FIRST", sync).replace("SECOND", ""),
        (4, 4),
        (8, 8),
        a,
        b,
        c,
        np.int32(32),
    )


def test_shared_memory_that_nobody_wrote():
    src = (
        "__global__ void f(int *o) {\n"
        "  __shared__ int s[4];\n"
        "  if (threadIdx.x < N) s[threadIdx.x] = 1;\n"
        "  __syncthreads();\n"
        "  o[threadIdx.x] = s[threadIdx.x];\n"
        "}"
    )
    run(src.replace("N", "4"), 3, 4, i32(4))
    finds(
        RuntimeError,
        r"'s', element 3 is read on line 5 before anybody wrote it, block \(0, 0, 0\), thread \(3, 0, 0\)",
        src.replace("N", "3"),
        1,
        4,
        i32(4),
    )


def test_bytes_beside_each_other():
    src = (
        "__global__ void f(char *o) {\n"
        "  __shared__ char s[64];\n"
        "  int t = threadIdx.x;\n"
        "  s[t] = t;\n"
        "  SYNC\n"
        "  o[t] = s[63 - t];\n"
        "}"
    )
    run(src.replace("SYNC", "__syncthreads();"), 1, 64, np.zeros(64, "i1"))
    run(src.replace("SYNC", "").replace("63 - t", "t"), 1, 64, np.zeros(64, "i1"))
    finds(RuntimeError, "'s'", src.replace("SYNC", ""), 1, 64, np.zeros(64, "i1"))


DYNAMIC = """extern __shared__ double s[];
__global__ void f(double *a, int shift) {
  int t = threadIdx.x;
  s[t] = a[t];
  __syncthreads();
  a[t] = s[t + shift];
}"""


def test_dynamic_shared_memory():
    a = np.arange(32.0)
    run(DYNAMIC, 1, 32, a, np.int32(0), shared_mem=256)
    words = r"read of 8 bytes past the end of shared memory \(dynamic, 256 bytes\): index 32, .*line 6"
    finds(IndexError, words, DYNAMIC, 1, 32, a, np.int32(1), shared_mem=256)
    finds(
        IndexError,
        r"through a null pointer .*shared memory that the launch does not give",
        DYNAMIC,
        1,
        32,
        a,
        np.int32(0),
    )


CLASSES = """#include <cuda_fp16.h>
struct point { float x, y; __device__ point() {} __device__ point(float a, float b) : x(a), y(b) {} };
__global__ void f(float *o) {
  __shared__ point p[64];
  __shared__ half2 h[64];
  int t = threadIdx.x;
  p[t] = point(t, -t);
  h[t] = half2(t, -t);
  __syncthreads();
  o[t] = p[63 - t].x + __low2float(h[63 - t]);
}"""


def test_shared_memory_of_classes_with_constructors():
    """(They write nothing; that they were called, the compiler notes.)"""
    o = np.zeros(64, "f4")
    run(CLASSES, 2, 64, o)
    assert np.array_equal(o, 2 * np.arange(63, -1, -1))
    finds(RuntimeError, "race in shared memory 'p'.*LINE(o[t] = )", CLASSES.replace("__syncthreads();", ""), 1, 64, o)


NODES = """
struct node { int first, count; };
__global__ void f(const node *nodes, const int *edges, int *o, int n) {
  int i = threadIdx.x;
  if (i >= n) return;
  node mine = nodes[i];
  for (int k = mine.first; k < mine.first + mine.count; k++)
    o[i] += edges[k];
}"""


def test_memory_that_is_not_there_is_named_when_arrays_may_hold_addresses():
    nodes = np.array([[0, 2], [2, 1], [3, 0], [0, 0]], "i4")
    edges, o = np.arange(10, dtype="i4"), np.zeros(4, "i4")
    run(NODES, 1, 4, nodes, edges, o, np.int32(3))
    assert o.tolist() == [1, 2, 0, 0]
    nodes[3] = [(1 << 31) - 2, 1]  # 8 GB on, where no other array of the process lies
    words = r"read of 4 bytes .*thread \(3, 0, 0\), LINE(o[i] += )"
    finds(IndexError, words, NODES, 1, 4, nodes, edges, o, np.int32(4))


HEAP = """
__global__ void f(int *o, size_t n) {
  int i = threadIdx.x;
  int *mine = new int[3];
  for (int k = 0; k < 3; k++) mine[k] = i * k;
  o[i] = mine[2];
  delete[] mine;
}"""
FAR = """
struct place { int row, column; };
__global__ void f(float4 *o, size_t n, place p) {
  size_t i = threadIdx.x;
  if (i < n) o[i + (size_t)p.row * p.column] = make_float4(i, 1, 2, 3);
}"""


def test_memory_of_the_heap_is_the_kernels_business():
    o = np.zeros(40, "i4")
    run(HEAP, 1, 40, o, np.uint64(40))
    assert o.tolist() == [2 * k for k in range(40)]


def test_a_library_with_operators_of_its_own_stands_before_the_kernel():
    cxx = shutil.which("c++") or shutil.which("g++")
    library = subprocess.run([cxx, "-print-file-name=libstdc++.so.6"], capture_output=True, text=True).stdout.strip()
    if not os.path.isabs(library):
        pytest.skip("no libstdc++.so.6 beside the compiler")
    script = f"import numpy as np\nimport tutti as tt\no = np.zeros(4, 'i4')\nk = tt.RawKernel({HEAP!r}, 'f')\n"
    script += "k((1,), (4,), (o, np.uint64(4)))\nprint(o.tolist())\n"
    root = os.path.dirname(os.path.dirname(tt.__file__))
    before = " ".join(filter(None, [os.environ.get("LD_PRELOAD"), library]))
    env = os.environ | {"LD_PRELOAD": before, "TUTTI_CHECK": "1", "TUTTI_DEVICE": "cpu", "PYTHONPATH": root}
    done = subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True)
    assert done.stdout == "[0, 2, 4, 6]\n", done.stderr


def test_an_index_far_away_where_nothing_holds_addresses():
    o = np.zeros((40, 4), "f4")
    run(FAR, 1, 64, o, np.uint64(40), np.array([0, 7], "i4").tobytes())
    assert np.array_equal(o[:, 0], np.arange(40))
    far = np.array([20000, 20000], "i4").tobytes()
    finds(IndexError, r"write of .*LINE(o[i + )", FAR, 1, 64, o, np.uint64(40), far)


def test_two_shared_arrays_are_not_one():
    src = (
        "__global__ void f(int *o) {\n"
        "  __shared__ int x[256];\n"
        "  __shared__ int y[256];\n"
        "  int t = threadIdx.x;\n"
        "  x[t] = y[t] = t;\n"
        "  __syncthreads();\n"
        "  o[t] = WHERE;\n"
        "}"
    )
    run(src.replace("WHERE", "x[t] + y[t]"), 1, 256, i32(256))
    finds(
        IndexError,
        r"shared memory 'x': index 256, .*thread \(255, 0, 0\), line 7",
        src.replace("WHERE", "x[t + 1]"),
        1,
        256,
        i32(256),
    )
    finds(
        IndexError,
        r"shared memory 'y': index 256, .*thread \(255, 0, 0\), line 7",
        src.replace("WHERE", "y[t + 1]"),
        1,
        256,
        i32(256),
    )


def test_shared_memory_of_a_template():
    src = """template <class T, int N> __device__ T last(const T *a) {
      __shared__ T mine[N];
      mine[threadIdx.x] = a[threadIdx.x];
      __syncthreads();
      return mine[N - threadIdx.x - OFF];
    }
    __global__ void f(double *o) { double x = last<double, 16>(o); __syncthreads(); o[threadIdx.x] = x; }"""
    o = np.arange(16.0)
    run(src.replace("OFF", "1"), 1, 16, o)
    assert o[0] == 15
    finds(IndexError, "shared memory 'mine': index 16, .*line 5", src.replace("OFF", "0"), 1, 16, o)


# ---- races in global memory

HISTOGRAM = """__global__ void histogram(const int *a, int *bins, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  COUNT;
}"""


def test_a_histogram():
    a, bins = np.arange(1000, dtype="i4") * 7, i32(16)
    run(HISTOGRAM.replace("COUNT", "atomicAdd(&bins[a[i] % 16], 1)"), 4, 256, a, bins, np.int32(1000))
    assert np.array_equal(bins, np.bincount(a % 16))
    src = HISTOGRAM.replace("COUNT", "bins[a[i] % 16] += 1")
    finds(
        RuntimeError,
        r"a race in argument 2 'bins' \(int32\[16\]\), element \d+: .*LINE(bins[a[i])",
        src,
        4,
        256,
        a,
        bins,
        np.int32(1000),
    )
    src = HISTOGRAM.replace("COUNT", "if (threadIdx.x == 0) bins[3]++")
    words = (
        r"'bins' .*, element 3: block \(0, 0, 0\), thread \(0, 0, 0\) writes it on LINE(bins[3]); block "
        r"\(1, 0, 0\), .* nothing orders two blocks"
    )
    finds(RuntimeError, words, src, 4, 256, a, bins, np.int32(1000))


def test_a_histogram_in_shared_memory():
    src = """__global__ void h(const int *a, int *bins) {
      __shared__ int s[16];
      int t = threadIdx.x;
      if (t < 16) s[t] = 0;
      __syncthreads();
      atomicAdd(&s[a[blockIdx.x * 64 + t] % 16], 1);
      SYNC
      if (t < 16) atomicAdd(&bins[t], s[t]);
    }"""
    a, bins = np.arange(256, dtype="i4") * 3, i32(16)
    run(src.replace("SYNC", "__syncthreads();"), 4, 64, a, bins)
    assert np.array_equal(bins, np.bincount(a % 16))
    finds(
        RuntimeError,
        r"a race in shared memory 's', .*atomically writes it on LINE(atomicAdd(&s)",
        src.replace("SYNC", ""),
        4,
        64,
        a,
        bins,
    )


STENCIL = """__global__ void smooth(float *a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = 0;
  if (i > 0 && i < n - 1) x = (a[i - 1] + a[i + 1]) / 2;
  __syncthreads();
  if (i > 0 && i < n - 1) a[i] = x;
}"""


COUNT = """
__global__ void f(unsigned *o) {
  __shared__ unsigned count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads(); // first
  atomicAdd(&count, 2u);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(o, count);
}"""


def test_a_counter_that_one_thread_clears_and_counts_in_too():
    o = np.zeros(1, "u4")
    run(COUNT, 3, 64, o)
    assert o[0] == 3 * 128
    words = r"race in shared memory 'count'.*LINE(count = 0).*atomically writes it on LINE(atomicAdd(&count)"
    finds(RuntimeError, words, COUNT.replace("__syncthreads(); // first", ""), 3, 64, o)


def test_a_stencil_in_place():
    run(STENCIL, 1, 256, f4(256) ** 2, np.int32(256))  # one block: the barrier is enough
    words = (
        r"argument 1 'a' .*, element 63: block \(0, 0, 0\), thread \(63, 0, 0\) writes it on line 6; "
        r"block \(1, 0, 0\), thread \(0, 0, 0\) reads it on line 4, and nothing orders two blocks"
    )
    finds(RuntimeError, words, STENCIL, 4, 64, f4(256) ** 2, np.int32(256))
    finds(
        RuntimeError,
        "with no barrier between",
        STENCIL.replace("__syncthreads();", ""),
        1,
        256,
        f4(256) ** 2,
        np.int32(256),
    )


def test_loops_with_the_stride_of_the_grid():
    src = (
        "__global__ void f(float *a, int n) {\n"
        "  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * STRIDE)\n"
        "    a[i] = a[i] * 2;\n"
        "}"
    )
    a = f4(5000)
    run(src.replace("STRIDE", "gridDim.x"), 4, 128, a, np.int32(5000))
    assert np.array_equal(a, 2 * f4(5000))
    finds(RuntimeError, "nothing orders two blocks", src.replace("STRIDE", "1"), 4, 128, a, np.int32(5000))


def test_the_same_value_written_twice_is_no_race():
    src = (
        "__global__ void f(const int *a, int *any) {\n"
        "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "  if (a[i] > 5) *any = VALUE;\n"
        "}"
    )
    a = np.arange(256, dtype="i4")
    run(src.replace("VALUE", "1"), 4, 64, a, i32(1))
    finds(RuntimeError, "'any'", src.replace("VALUE", "i"), 4, 64, a, i32(1))


def test_loops_around_compare_and_swap():
    src = """__device__ double add(double *at, double v) {
      unsigned long long *word = (unsigned long long *)at, old = *word, was;
      do {
        was = old;
        old = atomicCAS(word, was, __double_as_longlong(v + __longlong_as_double(was)));
      } while (was != old);
      return __longlong_as_double(old);
    }
    __global__ void f(const double *a, double *sum) {
      __shared__ double own;
      int t = threadIdx.x;
      if (t == 0) own = 0;
      __syncthreads();
      add(&own, a[blockIdx.x * blockDim.x + t]);
      __syncthreads();
      if (t == 0) add(sum, own);
    }"""
    a, total = np.arange(256.0), np.zeros(1)
    run(src, 4, 64, a, total)
    assert total[0] == a.sum()


LAST = """__device__ unsigned done;
__global__ void total(const float *a, volatile float *part, float *out) {
  __shared__ float s[64];
  __shared__ bool last;
  int t = threadIdx.x;
  s[t] = a[blockIdx.x * 64 + t];
  __syncthreads();
  for (int k = 32; k > 0; k /= 2) {
    if (t < k) s[t] += s[t + k];
    __syncthreads();
  }
  if (t == 0) {
    part[blockIdx.x] = s[0];
    FENCE
    last = atomicInc(&done, gridDim.x) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && t == 0) {
    float sum = 0;
    for (int k = 0; k < gridDim.x; k++) sum += part[k];
    *out = sum;
    done = 0;
  }
}"""


def test_the_last_block_reads_what_the_others_wrote():
    a, out = f4(512), np.zeros(1, "f4")
    run(LAST.replace("FENCE", "__threadfence();"), 8, 64, a, np.zeros(8, "f4"), out)
    assert out[0] == a.sum()
    src = LAST.replace("FENCE", "").replace("volatile float", "float")
    finds(
        RuntimeError,
        r"argument 2 'part' .*LINE(part[blockIdx.x]).*LINE(sum += part).*nothing orders two blocks",
        src,
        8,
        64,
        a,
        np.zeros(8, "f4"),
        out,
    )


# ---- warps


def test_warps():
    shuffle = """__global__ void f(const float *a, float *o) {
      __shared__ float s[32];
      int t = threadIdx.x;
      float x = a[blockIdx.x * blockDim.x + t];
      for (int k = 16; k; k /= 2) x += __shfl_down_sync(0xffffffff, x, k);
      if (t % 32 == 0) s[t / 32] = x;
      SYNC
      if (t < 32) {
        x = t < blockDim.x / 32 ? s[t] : 0;
        for (int k = 16; k; k /= 2) x += __shfl_xor_sync(0xffffffff, x, k);
        if (t == 0) o[blockIdx.x] = x;
      }
    }"""
    a, o = f4(512), np.zeros(2, "f4")
    run(shuffle.replace("SYNC", "__syncthreads();"), 2, 256, a, o)
    assert np.array_equal(o, a.reshape(2, 256).sum(1))
    finds(RuntimeError, "a race in shared memory 's', element 1: ", shuffle.replace("SYNC", ""), 2, 256, a, o)


def test_shared_memory_between_the_lanes_of_a_warp():
    src = """__global__ void f(int *o) {
      __shared__ int s[64];
      int t = threadIdx.x;
      s[t] = t;
      FIRST
      int x = s[t ^ FAR];
      SECOND
      s[t] = x;
      __syncwarp();
      o[t] = s[t ^ 1];
    }"""
    warp = src.replace("FIRST", "__syncwarp();").replace("SECOND", "__syncwarp();")
    o = i32(64)
    run(warp.replace("FAR", "1"), 1, 64, o)
    assert np.array_equal(o, np.arange(64))
    finds(RuntimeError, "'s'", warp.replace("FAR", "32"), 1, 64, o)  # another warp
    src = src.replace("FAR", "1")
    finds(RuntimeError, "'s'", src.replace("FIRST", "").replace("SECOND", "__syncwarp();"), 1, 64, o)
    finds(RuntimeError, "'s'", src.replace("FIRST", "__syncwarp();").replace("SECOND", ""), 1, 64, o)
    half = src.replace("FIRST", "if (t % 2 == 0) __syncwarp(0x55555555);").replace("SECOND", "__syncwarp();")
    finds(RuntimeError, "'s'", half, 1, 64, o)  # some lanes alone order nothing of the others


# ---- barriers


def test_barriers_that_not_all_reach():
    src = """__global__ void f(const float *a, float *o, int n) {
      __shared__ float s[64];
      int t = threadIdx.x;
      KERNEL
    }"""
    early = src.replace("KERNEL", "if (t >= n) return;\n s[t] = a[t];\n __syncthreads();\n o[t] = s[n - 1 - t];")
    run(early, 1, 64, f4(64), f4(64), np.int32(50))
    words = (
        r"a barrier that some threads of the block do not reach: block \(0, 0, 0\), thread \(0, 0, 0\) waits on line 5"
    )
    finds(
        RuntimeError,
        words,
        src.replace("KERNEL", "if (t < n) { s[t] = a[t];\n __syncthreads();\n o[t] = s[0]; }"),
        1,
        64,
        f4(64),
        f4(64),
        np.int32(50),
    )
    run(
        src.replace("KERNEL", "if (n > 60) { s[t] = a[t];\n __syncthreads();\n o[t] = s[0]; }"),
        1,
        64,
        f4(64),
        f4(64),
        np.int32(64),
    )


def test_barriers_on_two_sides_of_a_condition():
    src = (
        "__global__ void f(int *o) {\n"
        "  if (threadIdx.x COND 3)\n"
        "    __syncthreads();\n"
        "  else\n"
        "    __syncthreads();\n"
        "  o[threadIdx.x] = 1;\n"
        "}"
    )
    words = (
        r"a barrier in divergent flow: block \(0, 0, 0\), thread \(0, 0, 0\) waits on line 3, block \(0, "
        r"0, 0\), thread \(3, 0, 0\) waits on line 5"
    )
    finds(RuntimeError, words, src.replace("COND", "<"), 1, 8, i32(8))
    run(src.replace("COND", "!= 100 +"), 1, 8, i32(8))


def test_a_barrier_in_a_loop_that_the_compiler_unrolls():
    src = (
        "__global__ void f(int *o) {\n"
        "  #pragma unroll\n"
        "  for (int k = 0; k < 4; k++) {\n"
        "    o[threadIdx.x] += k;\n"
        "    __syncthreads();\n"
        "  }\n"
        "}"
    )
    o = i32(8)
    run(src, 1, 8, o)
    assert o.tolist() == [6] * 8


# ---- what else a launch may do


def test_addresses_in_memory_are_the_kernels_business():
    src = (
        "__global__ void f(const unsigned long long *at, int *o) {\n"
        "  o[threadIdx.x] = ((const int *)at[0])[threadIdx.x];\n"
        "}"
    )
    a, o = np.arange(8, dtype="i4"), i32(8)
    run(src, 1, 8, np.array([a.ctypes.data], "u8"), o)
    assert np.array_equal(o, a)
    # Below 4 GiB, where programs that are not relocated have their heap.
    low = mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x40)
    b, p = np.frombuffer(low, "i4", 8), i32(8)
    b[:] = a + 1
    assert b.ctypes.data < 1 << 32
    run(src, 1, 8, np.array([b.ctypes.data], "u8"), p)
    assert np.array_equal(p, b)


def test_local_arrays_and_pointers_to_locals():
    src = """struct pair { float a, b; };
    __device__ void turn(pair *p, float *many, int n) {
      for (int k = 0; k < n; k++) many[k] = p->a + k;
      p->b = many[n / 2];
    }
    __global__ void f(float *o) {
      float many[100];
      pair p = {1.0f, 2.0f};
      turn(&p, many, 100);
      o[threadIdx.x] = p.b;
    }"""
    o = f4(8)
    run(src, 1, 8, o)
    assert (o == 51).all()


def test_what_was_written_before_stays():
    src = "__global__ void f(int *o) {\n  o[threadIdx.x] = 7;\n}"
    o = i32(8)
    finds(IndexError, "index 8", src, 1, 9, o)
    assert (o == 7).all()


STEPS = """__global__ void steps(const int *op, const int *far, int n, unsigned *o) {
  __shared__ unsigned s[64];
  int t = threadIdx.x;
  unsigned v = s[t] = t + 1;
  for (int k = 0; k < n; k++) {
    if (op[k] == 0) __syncthreads();
    if (op[k] == 1) __syncwarp();
    if (op[k] == 2) v = v * 31 + s[t ^ far[k]];
    if (op[k] == 3) s[t] = v = v * 1000003 + k;
  }
  o[t] = v;
}"""


def has_race(op, far):
    """A read of a neighbour and a write of one's own, no barrier between, nor a warp's where they are of one warp."""
    block = warp = 0
    seen = [("w", 0, 0, 0)]
    for kind, distance in zip(op, far):
        block += kind == 0
        warp += kind <= 1
        if kind == 2 and distance:
            seen.append(("r", block, warp, distance))
        if kind == 3:
            seen.append(("w", block, warp, 0))
    return any(a[0] != b[0] and a[1] == b[1] and (max(a[3], b[3]) >= 32 or a[2] == b[2]) for a in seen for b in seen)


def test_random_steps():
    rng = np.random.default_rng(5)
    with tt.device("cpu"):
        kernel = tt.RawKernel(STEPS, "steps")
    races = 0
    for _ in range(300):
        n = int(rng.integers(1, 9))
        op, far = (
            rng.choice(4, n, p=[0.35, 0.2, 0.2, 0.25]).astype("i4"),
            rng.choice([0, 1, 16, 32, 33], n).astype("i4"),
        )
        caught = False
        try:
            with tt.device("cpu"):
                kernel((2,), (64,), (op, far, np.int32(n), np.zeros(64, "u4")[:64]))
                tt.synchronize()
        except RuntimeError as error:
            assert "a race in shared memory 's'" in str(error)
            caught = True
        assert caught == has_race(op, far), (op, far)
        races += caught
    assert 50 < races < 250


def test_shared_memory_that_is_added_to_before_anybody_wrote_it():
    src = """__global__ void adds(int *o) {
      __shared__ int s[8];
      int t = threadIdx.x;
      WRITE
      s[t] += t;
      o[t] = s[t];
    }"""
    run(src.replace("WRITE", "s[t] = 0;"), 1, 8, i32(8))
    finds(RuntimeError, "'s', element 0 is read on LINE(+=) before anybody", src.replace("WRITE", ""), 1, 8, i32(8))


@pytest.mark.parametrize("name", ["clang++", "g++"])
def test_both_compilers(name, monkeypatch):
    if not shutil.which(name):
        pytest.skip(f"there is no {name}")
    env = {**os.environ, "TUTTI_CXX": name, "TUTTI_CHECK": "1"}
    tests = [
        "a_reduction_tree",
        "a_histogram",
        "two_shared",
        "last_block",
        "lanes_of_a_warp",
        "wide",
        "template",
        "added_to",
    ]
    words = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", __file__, "-k", " or ".join(tests)]
    if "TUTTI_CHECKS_WITHIN" in os.environ:
        pytest.skip("this is the inner run")
    done = subprocess.run(words, env={**env, "TUTTI_CHECKS_WITHIN": "1"}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:]


# ---- Python kernels: the same check, indices by axis, and names of Python's


def found(error, words, kernel, grid, block, *args):
    """`words`: {n} is the n-th line behind the kernel's `def`."""
    first = kernel.py_func.__code__.co_firstlineno + 1
    words = re.sub(r"\{(\d+)\}", lambda m: str(first + int(m.group(1))), words)
    with pytest.raises(error, match=words):
        kernel[grid, block](*args)


def make(reduce_sync=True, first_sync=True):
    @cuda.jit
    def reduces(a, out):
        s = cuda.shared.array(64, float64)
        t = cuda.threadIdx.x
        s[t] = a[cuda.grid(1)]
        if first_sync:
            cuda.syncthreads()
        k = 32
        while k > 0:
            if t < k:
                s[t] += s[t + k]
            if reduce_sync:
                cuda.syncthreads()
            k //= 2
        if t == 0:
            out[cuda.blockIdx.x] = s[0]

    return reduces


def test_python_reduction():
    a, out = np.arange(256.0), np.zeros(4)
    make()[4, 64](a, out)
    assert np.array_equal(out, a.reshape(4, 64).sum(1))
    words = (
        r"a race in shared memory 's' \(float64\[64\]\), element \d+: .* line {9}; .* line {9}, with no "
        r"barrier between"
    )
    found(RuntimeError, words, make(reduce_sync=False), 4, 64, a, out)
    words = (  # whichever thread comes first
        r"shared memory 's' .*, element 32(: .* reads it on line {9}; .*\(32, 0, 0\) writes it on line {3}| .*is "
        r"read on line {9} before anybody wrote it)"
    )
    found(RuntimeError, words, make(first_sync=False), 4, 64, a, out)


def test_python_tiles_and_what_nobody_wrote():
    @cuda.jit
    def turns(a, b, some):
        s = cuda.shared.array((8, 8), int32)
        x, y = cuda.threadIdx.x, cuda.threadIdx.y
        if x < some:
            s[y, x] = a[y, x]
        cuda.syncthreads()
        b[y, x] = s[x, y]

    a, b = np.arange(64, dtype="i4").reshape(8, 8), np.zeros((8, 8), "i4")
    turns[1, (8, 8)](a, b, 8)
    assert np.array_equal(b, a.T)
    turns[1, (8, 8)](a.T, b.T, 8)
    assert np.array_equal(b, a.T)
    words = (
        r"shared memory 's' \(int32\[8, 8\]\), element \[0, 7\] is read on line {6} before anybody wrote "
        r"it, .*thread \(0, 7, 0\)"
    )
    found(RuntimeError, words, turns, 1, (8, 8), a, b, 7)
    with pytest.raises(
        IndexError, match=(r"index 8 is out of bounds for axis 1 of 'a' with size 8; .*thread \(8, 0, 0\)")
    ):
        turns[1, (9, 8)](a, b, 9)


def test_python_races_in_global_memory():
    @cuda.jit
    def counts(a, bins):
        i = cuda.grid(1)
        if i < a.size:
            cuda.atomic.add(bins, a[i] % 8, 1)

    @cuda.jit
    def counts_badly(a, bins):
        i = cuda.grid(1)
        if i < a.size and cuda.threadIdx.x == 0:
            bins[a[i] % 8] += 1

    @cuda.jit
    def smooths(a):
        i = cuda.grid(1)
        x = 0.0
        if 0 < i < a.size - 1:
            x = (a[i - 1] + a[i + 1]) / 2
        cuda.syncthreads()
        if 0 < i < a.size - 1:
            a[i] = x

    a, bins = np.arange(0, 2048, 8), np.zeros(8, "i4")
    counts[5, 64](a, bins)
    assert bins[0] == 256
    words = (
        r"a race in argument 2 'bins' \(int32\[8\]\), element 0: block \(0, 0, 0\), .* line {3}; block "
        r"\(1, 0, 0\), .* nothing orders two blocks"
    )
    found(RuntimeError, words, counts_badly, 4, 64, a, bins)
    smooths[1, 256](np.arange(256.0) ** 2)
    words = r"element 63: .* writes it on line {6}; block \(1, 0, 0\), thread \(0, 0, 0\) reads it on line {4}"
    found(RuntimeError, words.replace("{6}", "{7}"), smooths, 4, 64, np.arange(256.0) ** 2)


def test_python_warps():
    @cuda.jit
    def sums(a, out, last):
        t = cuda.threadIdx.x
        x = a[cuda.grid(1)]
        k = 16
        while k > 0:
            x += cuda.shfl_down_sync(-1, x, k)
            k //= 2
        s = cuda.shared.array(32, float64)
        s[t] = x
        cuda.syncwarp()
        if cuda.any_sync(-1, t == last) and t == 0:
            out[cuda.blockIdx.x] = s[0]
        if cuda.syncthreads_and(x >= 0):
            out[cuda.blockIdx.x + 2] = cuda.syncthreads_count(t < 5)

    a, out = np.arange(64.0), np.zeros(4)
    sums[2, 32](a, out, 31)
    assert out.tolist() == [a[:32].sum(), a[32:].sum(), 5, 5]


def test_python_barriers_and_early_returns():
    @cuda.jit
    def leaves(a, n):
        t = cuda.threadIdx.x
        if t >= n:
            return
        s = cuda.shared.array(64, float64)
        s[t] = a[t]
        cuda.syncthreads()
        a[t] = s[n - 1 - t]

    @cuda.jit
    def parts(a, n):
        t = cuda.threadIdx.x
        if t < n:
            cuda.syncthreads()
        a[t] = 1

    a = np.arange(64.0)
    leaves[1, 64](a, 50)
    assert a[0] == 49 and a[60] == 60
    parts[1, 64](a, 64)
    found(
        RuntimeError,
        (r"a barrier that some threads of the block do not reach: .* waits on line {3}"),
        parts,
        1,
        64,
        a,
        9,
    )


def test_python_private_arrays_device_functions_and_dynamic_shared_memory():
    @cuda.jit(device=True)
    def third(a):
        return a[2]

    @cuda.jit
    def f(a, out):
        own = cuda.local.array(4, float64)
        s = cuda.shared.array(0, float64)
        t = cuda.threadIdx.x
        for k in range(4):
            own[k] = t + k
        s[t] = third(own)
        cuda.syncthreads()
        out[t] = s[31 - t] + a[t, 1]

    out = np.zeros(32)
    f[1, 32, 0, 256](np.ones((32, 2)), out)
    assert np.array_equal(out, 34.0 - np.arange(32))
    with pytest.raises(IndexError, match="'a' with size 31"):
        f[1, 32, 0, 256](np.ones((31, 2)), out)
