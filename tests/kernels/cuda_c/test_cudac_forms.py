"""Other forms of kernels (strips of blocks, threads that are told their place) give what the plain ones give."""

# ruff: noqa: E501 (kernels stand here as people write them)

import shutil

import numpy as np
import pytest
import tutti as tt

pytestmark = [
    pytest.mark.skipif(not (shutil.which("c++") or shutil.which("g++")), reason="no C++ compiler"),
    pytest.mark.usefixtures("on_the_cpu"),
]

# name: (strip, others look at the place, text). All take (int *out, const int *in, int w, int h).
KERNELS = {
    "stencil": (True, False, """
      int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
      if (i > 0 && i < w - 1 && j > 0 && j < h - 1)
        out[j * w + i] = in[j * w + i - 1] + 3 * in[j * w + i + 1] - in[(j - 1) * w + i] + in[(j + 1) * w + i];"""),
    "early return": (True, False, """
      int i = threadIdx.x + blockIdx.x * blockDim.x, j = blockIdx.y * blockDim.y + threadIdx.y;
      if (i >= w || j >= h) return;
      if (in[j * w + i] % 3 == 0) return;
      out[j * w + i] = 7;
      if (in[j * w + i] % 3 == 1) return;
      out[j * w + i] += in[j * w + i];"""),
    "steps back": (True, False, """
      int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
      if (i >= w || j >= h) return;
      int sum = 0;
      for (int k = i; k >= 0; k -= 3) { if (k == 40) continue; sum = sum * 3 + in[j * w + k]; if (sum > 1000000) break; }
      out[j * w + i] = sum;"""),
    "own order": (True, False, """
      int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
      if (i < w && j < h) {
        int at = j * w + i;
        out[at] = in[at];
        out[at] = out[at] * 2 + 1;
        out[at] -= out[at] / 3;
      }"""),
    "changed parameters": (True, False, """
      int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
      if (i >= w || j >= h) return;
      out += j * w, in += j * w; h -= i;
      out[i] = in[i] + h;"""),
    "backwards": (True, False, """
      int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
      if (i < w && j < h) out[(h - 1 - j) * w + w - 1 - i] = in[j * w + i] + blockIdx.y * 0;"""),
    "own place": (False, False, """
      int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
      if (i < w && j < h) out[j * w + i] = in[j * w + i] + 100 * threadIdx.x + 10000 * blockIdx.x + gridDim.x;"""),
    "device function's place": (False, True, """
      int i = where(), j = blockIdx.y * blockDim.y + threadIdx.y;
      if (i < w && j < h) out[j * w + i] = in[j * w + i] + far();"""),
    "assertion": (False, True, """
      int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
      assert(w > 0);
      if (i < w && j < h) out[j * w + i] = in[j * w + i] + 1;"""),
    "atomic": (True, False, """
      int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
      if (i < w && j < h) atomicAdd(&out[(unsigned)in[j * w + i] % 5u], 1);"""),
    "shared without barrier": (False, False, """
      __shared__ int own[1024];
      int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
      int t = threadIdx.x + threadIdx.y * blockDim.x;
      own[t] = i;
      if (i < w && j < h) out[j * w + i] = own[t] + in[j * w + i];"""),
}  # fmt: skip
BEFORE = """
__device__ int where() { return blockIdx.x * blockDim.x + threadIdx.x; }
__device__ int near() { return threadIdx.x * 3 + threadIdx.y; }
__device__ int far() { return near() + blockIdx.x; }
"""
BLOCKS = [(16, 16, 1), (5, 3, 1), (64, 4, 1), (1, 7, 1), (33, 1, 1), (8, 2, 2), (256, 1, 1)]


def source_of(text):
    return BEFORE + 'extern "C" __global__ void f(int *out, const int *in, int w, int h) {' + text + "}"


def launch(m, w, h, block):
    rng = np.random.default_rng(w * h)
    out, given = np.full((h, w), -1, "i4"), rng.integers(-50, 50, (h, w), dtype="i4")
    grid = (-(-w // block[0]), -(-h // block[1]), 1)
    m.get_function("f")(out, given, np.int32(w), np.int32(h), block=block, grid=grid)
    return out


@pytest.mark.parametrize("kind", KERNELS)
def test_forms(kind, monkeypatch):
    strip, tells, text = KERNELS[kind]
    monkeypatch.setenv("TUTTI_KERNEL_SPLIT", "0")
    plain = tt.SourceModule(source_of(text))
    monkeypatch.delenv("TUTTI_KERNEL_SPLIT")
    other = tt.SourceModule(source_of(text))
    assert "tt_thread_f" not in plain.inspect_source()
    assert f"(&::tt_thread_f), {str(strip).lower()}, {str(tells).lower()}>" in other.inspect_source()
    for block in BLOCKS:
        if kind == "shared without barrier" and block[2] > 1:
            continue
        for w, h in ((1, 1), (64, 48), (67, 31), (513, 9), (2, 300)):
            if kind == "atomic" and w * h < 5:
                continue
            np.testing.assert_array_equal(launch(other, w, h, block), launch(plain, w, h, block), f"{block} {w} {h}")


def test_wide_strips():
    """More blocks in x than run at once, and rows of blocks that end in the middle of a piece."""
    m = tt.SourceModule(source_of(KERNELS["stencil"][2]))
    for w, h, block in ((5000, 40, (4, 8, 1)), (4097, 65, (16, 16, 1)), (100_003, 3, (8, 1, 1))):
        out = launch(m, w, h, block)
        a = np.random.default_rng(w * h).integers(-50, 50, (h, w), dtype="i4")
        want = np.full_like(a, -1)
        want[1:-1, 1:-1] = a[1:-1, :-2] + 3 * a[1:-1, 2:] - a[:-2, 1:-1] + a[2:, 1:-1]
        np.testing.assert_array_equal(out, want)


def test_who_tells():
    """What a template reaches is in its arguments: they may look at the place of a thread."""
    source = """
    struct Place { __device__ int operator()(int x) const { return x + 1000 * threadIdx.x + blockIdx.x; } };
    struct Twice { __device__ int operator()(int x) const { return 2 * x; } };
    template <class F> __global__ void f(int *out, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i < n) out[i] = F()(i);
    }"""
    m = tt.RawModule(code=source, name_expressions=["f<Place>", "f<Twice>"])
    n = 1000
    i = np.arange(n)
    for name, want in (("f<Place>", i + 1000 * (i % 32) + i // 32), ("f<Twice>", 2 * i)):
        out = np.zeros(n, "i4")
        m.get_function(name)((32,), (32,), (out, np.int32(n)))
        np.testing.assert_array_equal(out, want)


def test_where_an_assertion_fails():
    text = "int i = blockIdx.x * blockDim.x + threadIdx.x; assert(i != 37); out[i] = i;"
    with pytest.raises(RuntimeError, match=r"block \(4,0,0\), thread \(5,0,0\).*i != 37"):
        launch(tt.SourceModule(source_of(text)), 64, 1, (8, 1, 1))


def test_no_parameters():
    m = tt.SourceModule("""
    __device__ int seen;
    __global__ void f() { atomicAdd(&seen, (int)(blockIdx.x * blockDim.x + threadIdx.x)); }
    __global__ void g(void) { if (threadIdx.x == 0) seen *= 2; }""")
    m.get_function("f")(block=(10, 1, 1), grid=(7, 1))
    m.get_function("g")(block=(10, 1, 1), grid=(1, 1))
    m.get_function("f")(block=(1, 1, 1), grid=(3, 1))
    tt.synchronize()
    assert "tt_thread_g" in m.inspect_source()
    assert m.variable("seen").get("int32").tolist() == [70 * 69 + 3]


def test_own_words_stay():
    """Kernels that say inline or static by themselves, and declarations before definitions."""
    m = tt.SourceModule("""
    __global__ void f(int *out, int n);
    static __global__ inline void g(int *out) { out[blockIdx.x * blockDim.x + threadIdx.x] += 5; }
    __global__ void f(int *out, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) out[i] = i; }
    """)
    out = np.zeros(12, "i4")
    m.get_function("f")(out, np.int32(10), block=(4, 1, 1), grid=(3, 1))
    m.get_function("g")(out, block=(4, 1, 1), grid=(3, 1))
    np.testing.assert_array_equal(out, np.r_[np.arange(10), 0, 0] + 5)


STRIDES = {
    "alias": "int t = threadIdx.x; for (int i = blockIdx.x * blockDim.x + t; i < n; i += blockDim.x * gridDim.x)",
    "alias first": "int t = threadIdx.x; for (int i = t + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x)",
    "changed": "int t = threadIdx.x; t = t ^ 0; for (int i = blockIdx.x * blockDim.x + t; i < n; i += blockDim.x * gridDim.x)",
    "two steps": "int t = threadIdx.x; int at = blockIdx.x * blockDim.x + t; for (int i = at; i < n; i += blockDim.x * gridDim.x)",
    "of the block": "int t = threadIdx.x; for (int i = t; i < n; i += blockDim.x)",
}


def tree_source(kind):
    head, loop = STRIDES[kind].split(" for ")
    return f"""
    __global__ void f(long long *out, const int *a, int n) {{
      __shared__ long long s[256];
      {head}
      long long sum = 0;
      for {loop} sum += a[i];
      s[threadIdx.x] = sum;
      __syncthreads();
      for (int k = 128; k > 0; k /= 2) {{
        if (threadIdx.x < k && threadIdx.x + k < blockDim.x) s[threadIdx.x] += s[threadIdx.x + k];
        __syncthreads();
      }}
      if (threadIdx.x == 0) out[blockIdx.x] = s[0];
    }}"""


@pytest.mark.parametrize("kind", STRIDES)
@pytest.mark.parametrize("size", [256, 96, 7, 1])
def test_tree(kind, size):
    """A sum by strides and a tree, sizes that are no powers of two included."""
    m = tt.SourceModule(tree_source(kind))
    assert ("tt_bound" in m.inspect_source()) == (kind != "changed")
    for n in (0, 1, 255, 256, 10_000):
        a = np.random.default_rng(n).integers(-1000, 1000, n, dtype="i4") if n else np.zeros(1, "i4")
        out = np.zeros(5, "i8")
        m.get_function("f")(out, a, np.int32(n), block=(size, 1, 1), grid=(5, 1))
        want = int(a[:n].sum(dtype="i8")) * (5 if kind == "of the block" else 1)
        assert out.sum() == want
