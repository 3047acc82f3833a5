"""The CPU's compiler and NVRTC take the same programs: functions of numbers of every type, and what a block shares."""

# ruff: noqa: E501 (kernels stand here as people write them)

import pathlib
import re
import shutil

import numpy as np
import nvrtc
import pytest
import tutti as tt

ROOT = pathlib.Path(__file__).resolve().parents[3]
TYPES = [
    "bool", "char", "signed char", "unsigned char", "short", "unsigned short", "int", "unsigned", "long",
    "unsigned long", "long long", "unsigned long long", "float", "double",
]  # fmt: skip
ONE = """sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp exp2 expm1 log log2 log10 log1p sqrt cbrt floor
    ceil trunc round rint nearbyint fabs erf erfc tgamma lgamma logb rsqrt exp10 rcbrt isnan isinf isfinite signbit""".split()
TWO = "pow atan2 fmod remainder hypot fmin fmax copysign fdim nextafter min max".split()

needs_cxx = pytest.mark.skipif(not (shutil.which("c++") or shutil.which("g++")), reason="no C++ compiler")


def for_nvrtc(source):
    """The text that the library hands to NVRTC, less the tables of parameters."""
    names = re.findall(r"TT_DTYPE\((\w+),", (ROOT / "include/tutti/dtype.def").read_text())
    head = "".join(f"#define TT_D_{n} {k}\n" for k, n in enumerate(names))
    head += "#define TT_CUDAC_STRUCT 100\n#define TT_CUDAC_POINTER 128\n#define TT_CUDAC_VOID 99\n#define TT_CUDAC_CONST 256\n"
    for name in ("cuda_kinds", "cuda_device"):
        head += (ROOT / f"src/lang/cuda_c/prelude/{name}.cuh").read_text()
    return head + source


def refusal(source, std="c++17"):
    """What NVRTC says against a program, or None."""
    return nvrtc.compile_text(for_nvrtc(source), [f"--std={std}", "--gpu-architecture=sm_80"])


def of_one():
    calls = [f"o[{{}}] = {f}(({t})in[0]);" for t in TYPES for f in ONE]
    return calls, "__global__ void f(double *o, const double *in) {\n%s\n}\n"


def of_two(first):
    calls = [f"o[{{}}] = {f}(({first})in[0], ({t})in[1]);" for t in TYPES for f in TWO]
    return calls, "__global__ void f(double *o, const double *in) {\n%s\n}\n"


def text(calls, frame):
    return frame % "\n".join(c.format(k) for k, c in enumerate(calls))


@pytest.mark.parametrize("first", ["", *TYPES])
@pytest.mark.skipif(nvrtc.library() is None, reason="no NVRTC")
def test_functions_of_every_type_for_nvrtc(first):
    log = refusal(text(*(of_two(first) if first else of_one())))
    assert log is None, "\n".join(line for line in log.splitlines() if "error" in line)[:2000]


@pytest.mark.parametrize("std", ["c++11", "c++14", "c++20"])
@pytest.mark.skipif(nvrtc.library() is None, reason="no NVRTC")
def test_other_standards_for_nvrtc(std):
    log = refusal("__global__ void f(double *o) { o[0] = sqrt(3) + min(o[1], (unsigned char)3) + pow(2, 3u); }", std)
    assert log is None, log


OWN = """
struct P { float x; };
__device__ P min(P a, float b) { P p = {a.x < b ? a.x : b}; return p; }
template <class T> __device__ T max(T a, T b) { return a < b ? a : b; }
__device__ double atan2(P a, int b) { return a.x + b; }
__device__ float atomicMax(float *p, float v) { return *p = 2 * v; }
__device__ double atomicAdd(double *p, int v) { return *p += v; }
__global__ void f(double *o) {
  P p = {3};
  float q = 9;
  atomicMax(&q, 1.f);
  if (q != 2) return;
  o[0] = min(p, 2.f).x + atan2(p, 1) + max((unsigned char)7, (unsigned char)9);
}
"""


@pytest.mark.skipif(nvrtc.library() is None, reason="no NVRTC")
def test_functions_of_a_programs_own_for_nvrtc():
    assert refusal(OWN) is None


LIMITS = """
#if CUDART_VERSION < 11000 || __CUDACC_VER_MAJOR__ < 11
struct double3 { double x, y, z; };
#endif
static_assert(SHRT_MIN < -SHRT_MAX && USHRT_MAX == 2 * SHRT_MAX + 1 && UCHAR_MAX == 255 && CHAR_MIN == -128 && SCHAR_MAX == 127, "");
static_assert(INT8_MIN == -128 && UINT16_MAX == 65535 && INT64_MIN < -INT64_MAX && SIZE_MAX == ULONG_MAX && LONG_MIN < 0, "");
__global__ void f(double *o) {
  double3 v = make_double3(1, 2, INT32_MIN);
  *o = v.x + v.y + v.z;
}
"""


@pytest.mark.skipif(nvrtc.library() is None, reason="no NVRTC")
def test_limits_and_versions_for_nvrtc():
    log = refusal(LIMITS)
    assert log is None, log


@needs_cxx
def test_limits_and_versions():
    o = np.zeros(1)
    tt.RawKernel(LIMITS, "f")((1,), (1,), (o,))
    assert o[0] == 3 - 2.0**31


ATOMICS = """
template <class T> __device__ void all(T *o) {
  atomicAdd(o, 5); atomicMin(o + 2, 3); atomicMax(o + 3, 4); atomicExch(o + 4, 6);
}
template <class T> __device__ void bits(T *o) {
  atomicSub(o + 1, 2); atomicAnd(o + 5, 12); atomicOr(o + 6, 3); atomicXor(o + 7, 5); atomicCAS(o + 8, 9, 1);
}
__global__ void f(int *a, unsigned *b, long *c, unsigned long *d, long long *e, unsigned long long *f, float *g,
                  double *h) {
  all(a); all(b); all(c); all(d); all(e); all(f); all(g); all(h);
  bits(a); bits(b); bits(c); bits(d); bits(e); bits(f);
}
"""


@pytest.mark.skipif(nvrtc.library() is None, reason="no NVRTC")
def test_atomics_of_every_type_for_nvrtc():
    for std in "c++11", "c++17":
        log = refusal(ATOMICS, std)
        assert log is None, log


@needs_cxx
def test_atomics_of_every_type():
    arrays = [np.full(9, 9, t) for t in ("i4", "u4", "i8", "u8", "i8", "u8", "f4", "f8")]
    tt.RawKernel(ATOMICS, "f")((1,), (1,), tuple(arrays))
    for k, a in enumerate(arrays):
        assert a.tolist() == ([14, 7, 3, 9, 6, 8, 11, 12, 1] if k < 6 else [14, 9, 3, 9, 6, 9, 9, 9, 9]), a.dtype


@needs_cxx
def test_functions_of_a_programs_own():
    o = np.zeros(1)
    tt.RawKernel(OWN, "f")((1,), (1,), (o,))
    assert o[0] == 2 + 4 + 7


@needs_cxx
@pytest.mark.parametrize("first", ["", *TYPES])
def test_functions_of_every_type_run(first):
    """Here, or on the GPU: those of whole numbers are those of doubles."""
    calls, frame = of_two(first) if first else of_one()
    o = np.zeros(len(calls))
    tt.RawKernel(text(calls, frame), "f")((1,), (1,), (o, np.array([3.0, 2.0])))
    for call, got in zip(calls, o, strict=True):
        name, arguments = re.search(r"= (\w+)\((.*)\);", call).groups()
        a, b = (float(bool(v)) if f"(bool)in[{k}]" in arguments else v for k, v in enumerate((3.0, 2.0)))
        if name in ("min", "max", "pow", "fmod", "hypot", "fmin", "fmax", "fdim"):
            want = {"min": min, "max": max, "pow": pow, "fmod": np.fmod, "hypot": np.hypot, "fmin": min, "fmax": max,
                    "fdim": lambda x, y: max(x - y, 0)}[name](a, b)  # fmt: skip
        elif name in ("sqrt", "exp", "log", "sin", "cos", "floor", "ceil", "fabs"):
            want = getattr(np, name)(a)
        else:
            continue
        assert got == pytest.approx(want, rel=1e-6), call


# What a block declares in all, and what of it a kernel may have at once.
SHARED = {
    "one array": (65536, "__shared__ char a[65536]; a[threadIdx.x] = 1; __syncthreads(); o[0] = a[0];"),
    "as much as there is": (0, "__shared__ char a[49152]; a[threadIdx.x] = 1; __syncthreads(); o[0] = a[0];"),
    "two in one": (
        49156,
        "__shared__ volatile int a[12000], b[289]; a[threadIdx.x] = b[0] = 1; __syncthreads(); o[0] = a[0] + b[0];",
    ),
    "two declarations": (
        49160,
        "__shared__ volatile int a[12000]; static __shared__ volatile double b[145]; a[threadIdx.x] = b[0] = 1; __syncthreads();"
        " o[0] = a[0] + b[0];",
    ),
    "an inner one": (
        53248,
        "__shared__ int a[12288]; for (int k = 0; k < 2; k++) { __shared__ volatile float b[1 << 10]; b[k] = k; a[k] = b[k]; }"
        " o[0] = a[1];",
    ),
    "one number more": (
        49156,
        "__shared__ int a[12288]; __shared__ volatile int n; n = 1; a[threadIdx.x] = n; o[0] = a[0] + n;",
    ),
    "rows": (66564, "__shared__ float a[129][129]; a[threadIdx.x][1] = 1; __syncthreads(); o[0] = a[0][1];"),
}


@pytest.mark.parametrize("kind", SHARED)
@needs_cxx
def test_shared_memory_beyond_what_a_block_has(kind, on_the_cpu):
    size, body = SHARED[kind]
    source = f"__global__ void f(double *o) {{\n  {body}\n}}\n"
    if not size:
        o = np.zeros(1)
        tt.RawKernel(source, "f")((1,), (8,), (o,))
        assert o[0] == 1
    else:
        with pytest.raises(tt.CompileError, match=r"(?s)kernel.cu:2:.*too much shared data"):
            tt.SourceModule(source)


@pytest.mark.parametrize("kind", SHARED)
@pytest.mark.skipif(nvrtc.library() is None, reason="no NVRTC")
def test_cudas_assembler_refuses_the_same(kind):
    size, body = SHARED[kind]
    log = refusal(f"__global__ void f(double *o) {{\n  {body}\n}}\n")
    assert ("too much shared data" in log) if size else log is None, log


@needs_cxx
def test_what_blocks_do_not_share_at_once_is_not_added_up(on_the_cpu):
    source = """
    template <class T, int N> __global__ void f(T *o) {
      { __shared__ T a[N]; a[threadIdx.x] = 2; __syncthreads(); o[threadIdx.x] = a[0]; }
      if (blockDim.x > 1) { __shared__ T b[N]; b[threadIdx.x] = 3; __syncthreads(); o[threadIdx.x] += b[1]; }
      extern __shared__ char rest[];
      rest[threadIdx.x] = 1;
    }
    __global__ void g(int *o) { __shared__ int a[12000]; a[threadIdx.x] = 1; o[threadIdx.x] += a[threadIdx.x]; }
    """
    module = tt.RawModule(code=source, name_expressions=["f<int, 8000>", "f<double, 6000>"])
    o = np.zeros(4, "i4")
    module.get_function("f<int, 8000>")((1,), (4,), (o,), shared_mem=64)
    module.get_function("g")((1,), (4,), (o,))
    assert o.tolist() == [6] * 4
