"""Kernels split at their barriers give what the same kernels give thread by thread."""

# ruff: noqa: E501 (kernels stand here as people write them)

import random
import shutil

import numpy as np
import pytest
import tutti as tt

pytestmark = [
    pytest.mark.skipif(not (shutil.which("c++") or shutil.which("g++")), reason="no C++ compiler"),
    pytest.mark.usefixtures("on_the_cpu"),
]


class Writer:
    """A random kernel without races: a thread writes its own cells, and reads others' only across a barrier."""

    def __init__(self, seed, shuffles=False):
        self.rng, self.shuffles = random.Random(seed), shuffles
        self.names, self.count = ["t"], 0

    def expression(self, depth=0):
        r = self.rng.random()
        if depth > 2 or r < 0.3:
            return self.rng.choice(
                [*self.names, str(self.rng.randint(0, 9)), "n", "(int)threadIdx.x", "(int)blockIdx.x", "kept[1]"]
            )
        if r < 0.4:
            return f"a[{self.rng.choice(['i', 't'])}]"
        if r < 0.5:
            return f"min({self.expression(depth + 1)}, {self.expression(depth + 1)})"
        if r < 0.6:
            return f"({self.expression(depth + 1)} > {self.expression(depth + 1)} ? {self.expression(depth + 1)} : 3)"
        return f"({self.expression(depth + 1)} {self.rng.choice('+-^|')} {self.expression(depth + 1)})"

    def plain(self):
        r = self.rng.random()
        if r < 0.4:
            self.count += 1
            name = f"v{self.count}"
            text = f"{self.rng.choice(['int', 'const int', 'int', 'unsigned'])} {name} = {self.expression()};"
            self.names.append(name)
            if text.startswith("int") and self.rng.random() < 0.7:
                text += f" {name} {self.rng.choice(['+=', '^=', '='])} {self.expression()};"
            return text
        if r < 0.6:
            return f"s[t] {self.rng.choice(['=', '+=', '^='])} {self.expression()};"
        if r < 0.7:
            return f"kept[{self.rng.randint(0, 2)}] += {self.expression()};"
        if r < 0.8:
            return f"if ({self.expression()} > 4) {{ int w = {self.expression()}; s[t] += w; }} else s[t]--;"
        if r < 0.9:
            return f"for (int j = 0; j < {self.rng.randint(1, 4)}; j++) {{ s[t] += j * {self.expression()}; }}"
        return f"sum += {self.expression()};"

    def shared(self):
        return f"__syncthreads(); sum += s[(t + {self.rng.randint(1, 9)}) % (int)blockDim.x]; __syncthreads();"

    def shuffle(self):
        """All lanes of a warp come to it, with one distance."""
        self.count += 1
        given = self.rng.choice(["t", "sum", "i", *[x for x in self.names if x.startswith("v")]])
        way = self.rng.choice(["_up", "_down", "_xor", ""])
        width = self.rng.choice(["", "", ", 16", ", 4", ", warpSize"])
        by = self.rng.choice(
            [str(self.rng.randrange(32)), "n", *[x for x in self.names if x.startswith("(int)k")][-1:]]
        )
        call = f"__shfl{way}_sync(~0u, {given}, {by.replace('(int)', '')}{width})"
        text = f"sum {self.rng.choice(['+=', '^=', '='])} {call} + {self.expression(2)};"
        if self.rng.random() < 0.3:
            text = f"{{ int w{self.count} = {call}; if (w{self.count} > 3) sum += w{self.count}; }}"
        if self.rng.random() < 0.3:
            other = " else { sum++; __syncwarp(); sum -= __shfl_sync(~0u, sum, 1); }" if self.rng.random() < 0.5 else ""
            text = f"if (t / 32 {self.rng.choice(['==', '<', '!='])} n % 2) {{ sum ^= 5; {text} }}{other}"
        return text

    def block(self, depth=0):
        lines = []
        for _ in range(self.rng.randint(2, 5)):
            r = self.rng.random()
            known = list(self.names)
            if r < 0.6:
                lines.append(self.plain())
            elif self.shuffles and r < 0.7:
                lines.append(self.shuffle())
            elif r < 0.85 or depth > 1:
                lines.append(self.shared())
            else:
                head = self.rng.choice(
                    [
                        "int k{0} = 0; k{0} < n % 3 + 1; k{0}++",
                        "int k{0} = blockDim.x / 2; k{0} > 0; k{0} /= 2",
                        "unsigned k{0} = 1; k{0} < 4; k{0} <<= 1",
                    ]
                )
                self.count += 1
                head = head.format(self.count)
                self.names.append(f"(int)k{self.count}")
                inner = self.block(depth + 1) + "\n" + self.shared()
                lines.append(f"for ({head}) {{\n{inner}\n}}")
                self.names = known
        return "\n".join(lines)

    def kernel(self, name):
        body = self.block()
        return f"""__global__ void {name}(int *o, const int *a, int n) {{
          __shared__ int s[64];
          int t = threadIdx.x + blockDim.x * threadIdx.y, i = blockIdx.x * blockDim.x + threadIdx.x;
          int sum = 0;
          int kept[3] = {{1, 2, 3}};
          s[t] = a[i];
          {body}
          {self.shared()}
          o[blockIdx.x * blockDim.x * blockDim.y + t] = sum + s[t] + kept[0];
        }}"""


@pytest.mark.parametrize("shuffles", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_random_kernels(seed, shuffles, monkeypatch):
    names = [f"k{j}" for j in range(8)]
    source = "\n".join(Writer(seed * 100 + j, shuffles).kernel(name) for j, name in enumerate(names))
    a = np.random.default_rng(seed).integers(-50, 50, 64, dtype="i4")
    split = tt.SourceModule(source)
    text = split.inspect_source()
    assert sum(f"tt_split_{name}(" in text for name in names) > 1
    assert "Without the forms" not in text
    monkeypatch.setenv("TUTTI_KERNEL_SPLIT", "0")
    plain = tt.SourceModule(source)
    assert "tt_split_k" not in plain.inspect_source()
    for name in names:
        for block in ((16, 1, 1), (7, 1, 1), (16, 4, 1)):
            got, want = np.zeros(256, "i4"), np.zeros(256, "i4")
            split.get_function(name)(got, a, 5, block=block, grid=(3, 1))
            plain.get_function(name)(want, a, 5, block=block, grid=(3, 1))
            assert np.array_equal(got, want), source


KINDS = {
    "kept values": (True, "float sum = a[t]; __syncthreads(); o[t] = sum;"),
    "a uniform loop": (
        True,
        "for (int k = 0; k < n; k++) { s[t] = a[t] + k; __syncthreads(); o[t] = s[n - 1 - t]; __syncthreads(); }",
    ),
    "a tree": (
        True,
        "s[t] = a[t]; __syncthreads(); for (int k = blockDim.x / 2; k > 0; k >>= 1) { if (t < k) s[t] += s[t + k]; __syncthreads(); } o[t] = s[0];",
    ),
    "an early end": (False, "if (t >= n) return; s[t] = a[t]; __syncthreads(); o[t] = s[n - 1 - t];"),
    "a loop of each thread's own": (
        False,
        "s[t] = a[t]; for (int k = t; k < t + 2; k++) { __syncthreads(); o[t] = s[0]; }",
    ),
    "a barrier under a condition": (False, "if (n > 2) __syncthreads(); o[t] = 1;"),
    "a parameter that changes": (False, "a += t; __syncthreads(); o[t] = a[0];"),
    "a way out of the loop": (False, "for (int k = 0; k < n; k++) { if (k > 2) break; __syncthreads(); } o[t] = 1;"),
    "a shuffle": (True, "int v = __shfl_sync(~0u, t, 1); __syncthreads(); o[t] = v;"),
    "a count of its own": (False, "int m = n; m += t - t; for (int k = 0; k < m; k++) __syncthreads(); o[t] = 1;"),
    "the stride of a grid": (
        True,
        "for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) o[i] = a[i] * 2;",
    ),
    "the stride of a block": (
        True,
        "float sum = 0; for (int i = t; i < n; i += blockDim.x) { sum += a[i]; o[i] = sum; } s[t] = sum; __syncthreads(); o[t] += s[blockDim.x - 1 - t];",
    ),
    "a stride that ends early": (
        False,
        "for (int i = threadIdx.x; i < n; i += blockDim.x) { if (i > 9) break; o[i] = 1; }",
    ),
    "a stride with its own end": (False, "for (int i = threadIdx.x; i < n - t; i += blockDim.x) o[i] = 1;"),
    "a sum by shuffles": (
        True,
        "float v = a[t]; for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d); o[t] = v;",
    ),
    "a running sum by shuffles": (
        True,
        "float v = a[t]; for (int d = 1; d < 32; d *= 2) { float u = __shfl_up_sync(~0u, v, d); if (t % 32 >= d) v += u; } o[t] = v;",
    ),
    "a butterfly": (
        True,
        "float v = a[t];\n#pragma unroll\nfor (int d = 1; d < 8; d <<= 1) v = fmaxf(v, __shfl_xor_sync(~0u, v, d, 8)); o[t] = v;",
    ),
    "two shuffles in a statement": (
        True,
        "float v = a[t], w = v * v; v = __shfl_up_sync(~0u, v, 1) + 2 * __shfl_down_sync(~0u, w, 3); o[t] = v;",
    ),
    "a shuffle in one warp": (
        True,
        "float v = a[t]; s[t % 32] = v; __syncthreads(); if (t / 32 == 0) { v = s[31 - t]; v += __shfl(v, 5); if (t < 9) v++; } else v = 1; o[t] = v;",
    ),
    "a shuffle under two conditions": (
        True,
        "float v = a[t]; if (n > 3) if (t < 32) { const float w = v + 1; v += __shfl_xor_sync(~0u, v, 1) * w; } o[t] = v;",
    ),
    "a shuffle of doubles": (True, "double v = a[t]; v += __shfl_down_sync(~0u, v, 4); o[t] = (float)v;"),
    "a shuffle over another distance in each lane": (
        False,
        "float v = a[t]; v = __shfl_sync(~0u, v, t ^ 1); o[t] = v;",
    ),
    "a shuffle of what was computed": (False, "o[t] = __shfl_down_sync(~0u, a[t] + 1, 2);"),
    "a shuffle that may not be": (False, "float v = a[t]; v = n > 3 ? __shfl_sync(~0u, v, 2) : v; o[t] = v;"),
    "a shuffle in a while": (
        False,
        "float v = a[t]; int d = 4; while (d > 0) { v += __shfl_down_sync(~0u, v, d); d /= 2; } o[t] = v;",
    ),
    "a barrier beside a shuffle under a condition": (
        False,
        "float v = a[t]; if (n > 3) { v = __shfl_sync(~0u, v, 2); __syncthreads(); } o[t] = v;",
    ),
    "a turn that changes": (False, "for (int k = 0; k < n; k++) { __syncthreads(); k += 1; } o[t] = 1;"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_of_kernels(kind, monkeypatch):
    is_split, body = KINDS[kind]
    source = (
        f"__global__ void f(float *o, const float *a, int n) {{ __shared__ float s[32]; int t = threadIdx.x; {body} }}"
    )
    m = tt.SourceModule(source)
    assert ("tt_split_f" in m.inspect_source()) == is_split
    a, got, want = np.arange(64, dtype="f4"), np.zeros(32, "f4"), np.zeros(32, "f4")
    f = m.get_function("f")
    assert f.waits == ("sync" in body or "shfl" in body)
    monkeypatch.setenv("TUTTI_KERNEL_SPLIT", "0")
    plain = tt.SourceModule(source).get_function("f")
    for block in (32, 7) if "stride" in kind else (32,):
        f(got, a, 32, block=(block, 1, 1))
        plain(want, a, 32, block=(block, 1, 1))
        assert np.array_equal(got, want)


SAMPLE = r"""
__inline__ __device__ float warp_sum(float val) {
  for (int offset = warpSize / 2; offset > 0; offset /= 2) val += __shfl_down_sync(0xffffffff, val, offset);
  return val;
}
__device__ __forceinline__ float block_sum(float val) {
  static __shared__ float shared[32];
  int lane = threadIdx.x % warpSize, wid = threadIdx.x / warpSize;
  val = warp_sum(val);
  if (lane == 0) shared[wid] = val;
  __syncthreads();
  val = (threadIdx.x < blockDim.x / warpSize) ? shared[lane] : 0;
  if (wid == 0) val = warp_sum(val);
  return val;
}
__global__ void sum(const float *in, float *out, int n) {
  float val = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) val += in[i];
  val = block_sum(val);
  if (threadIdx.x == 0) out[blockIdx.x] = val;
}
__device__ int both(int a, int b) { int lane = a; lane += __shfl_xor_sync(~0u, b, 1); return lane; }
__global__ void names(int *out, int b) {
  int lane = threadIdx.x, a = 7;
  int x = both(lane, a) + both(a * 2, lane);
  out[lane] = x + a + b + lane;
}"""


def test_functions_that_shuffle():
    m = tt.SourceModule(SAMPLE)
    assert "tt_split_sum(" in m.inspect_source() and "tt_split_names(" in m.inspect_source()
    n = 100_003
    a = np.random.default_rng(0).integers(-9, 9, n).astype("f4")
    for threads in (32, 96, 256, 1024):
        out = np.zeros(7, "f4")
        m.get_function("sum")(a, out, n, block=(threads, 1, 1), grid=(7, 1))
        of = np.arange(n) // threads % 7
        assert np.array_equal(out, [a[of == k].sum() for k in range(7)])
    out, t = np.zeros(64, "i4"), np.arange(64)
    m.get_function("names")(out, 100, block=(64, 1, 1))
    assert np.array_equal(out, (t + 7) + (14 + (t ^ 1)) + 7 + 100 + t)


def test_templates_and_dynamic_shared_memory():
    source = r"""
    namespace app {
      template <typename T, int N>
      __global__ void __launch_bounds__(128) rotate(T *o, const T *a) {
        extern __shared__ T room[];
        T mine[N];
        for (int k = 0; k < N; k++) mine[k] = a[threadIdx.x] + k;
        room[threadIdx.x] = mine[N - 1];
        __syncthreads();
        o[threadIdx.x] = room[(threadIdx.x + 1) % blockDim.x] + mine[0];
      }
    }"""
    m = tt.RawModule(code=source, name_expressions=["app::rotate<double, 4>"])
    f = m.get_function("app::rotate<double, 4>")
    a, o = np.arange(32.0), np.zeros(32)
    f(1, 32, (o, a), shared_mem=256)
    assert np.array_equal(o, np.roll(a, -1) + 3 + a)


def test_what_later_turns_need_is_asked_for():
    m = tt.SourceModule("""
    template <class T> struct pair { T x, y; };
    __global__ void f(float *o, const float *a, const pair<double> *b, int n, const int *c) {
      __shared__ float s[32];
      s[threadIdx.x] = c[0];
      for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        s[threadIdx.x] += a[i] + (float)b[i].y + c[threadIdx.x];
      o[blockIdx.x * blockDim.x + threadIdx.x] = s[threadIdx.x];
    }""")
    source = m.inspect_source()
    assert "tt_ahead(a, " in source and "tt_ahead(b, " in source
    assert "tt_ahead(c" not in source and "tt_ahead(s" not in source and "tt_ahead(n" not in source
    n = 1000
    a, b, c = np.arange(n, dtype="f4"), np.arange(2.0 * n).reshape(n, 2), np.arange(32, dtype="i4")
    o = np.zeros(96, "f4")
    m.get_function("f")(o, a, b.view("u1"), n, c, block=(32, 1, 1), grid=(3, 1))
    want = [(a[k::96] + b[k::96, 1] + c[k % 32]).sum() for k in range(96)]
    assert np.allclose(o, want)


GUARDED = r"""
extern "C" __global__ void guarded(int *out, int limit) {
  __shared__ int s[32];
  int t = threadIdx.x;
  s[t] = -1;
  __syncthreads();
  if (t < limit) s[t] = t;
  __syncthreads();
  if (threadIdx.x < limit + 2) s[t] += 100;
  __syncthreads();
  if (t < limit) {
    int twice = 2 * s[31 - t];
    s[t] += 1000 + 0 * twice;
  }
  __syncthreads();
  out[blockIdx.x * blockDim.x + t] = s[t];
}
"""


@pytest.mark.parametrize("limit", [-40, -2, -1, 0, 1, 7, 31, 32, 33, 1 << 30])
def test_guards_that_end_the_loop_over_threads(limit):
    """An index with a sign has none below a negative limit, one without a sign is below each of them."""
    out = np.zeros(64, "i4")
    tt.RawKernel(GUARDED, "guarded")((2,), (32,), (out, limit))
    t = np.arange(32)
    s = np.where(t < limit, t, -1)
    s += np.where((t < limit + 2) | (limit + 2 < 0), 100, 0)
    s += np.where(t < limit, 1000, 0)
    np.testing.assert_array_equal(out, np.tile(s, 2))


def test_forms_that_do_not_compile_are_told(tmp_path, monkeypatch):
    """The kernel runs all the same, with fibers, and its text says why."""
    monkeypatch.setenv("TUTTI_CACHE_DIR", str(tmp_path))
    tt._core._test_fail("compile", 1, False)  # the preprocessor is the compiler's first call
    module = tt.SourceModule(GUARDED)
    tt._core._test_fail("compile", -1, False)
    first, rest = module.inspect_source().split("\n", 1)
    assert first.startswith("// Without the forms that need no fibers, since with them ")
    assert first.endswith("told to fail") and "tt_split_" not in rest
    out = np.zeros(32, "i4")
    module.get_function("guarded")(out, np.int32(32), block=(32, 1, 1), grid=(1, 1))
    tt.synchronize()
    assert out.tolist() == [1100 + t for t in range(32)]
