"""CUDA's functions on bits, roundings and 16-bit floats: on the CPU against exact arithmetic and NumPy."""

# ruff: noqa: E501 (kernels stand here as people write them)

import math
import shutil
from fractions import Fraction

import numpy as np
import nvrtc
import pytest
import tutti as tt

needs_cxx = pytest.mark.skipif(not (shutil.which("c++") or shutil.which("g++")), reason="no C++ compiler")
SIDES = ["rd", "ru", "rz", "rn"]


def source(head, lines):
    """A kernel that leaves one result a line; also for NVRTC."""
    return "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n" + head % "\n".join(
        f"  o[{k} * n + i] = {line};" for k, line in enumerate(lines)
    )


def run(src, n, *arrays):
    tt.RawKernel(src, "f")((n + 31) // 32, 32, (*arrays, n))


def check_nvrtc(src):
    if nvrtc.library() is None:
        pytest.skip("no NVRTC")
    # (CUDA 12's compiler and later: "sm_90")
    log = nvrtc.compile_text(src, ["--gpu-architecture=sm_90", "-I/usr/local/cuda/include", "--std=c++17"])
    assert log is None, log


def rounded(x, side, dtype):
    """An exact number in a float's type, by CUDA's four ways."""
    # numpy rounds a Fraction through a double; so the nearest is looked for among neighbours
    near = dtype(float(x))
    around = sorted({np.nextafter(near, dtype(-np.inf)), near, np.nextafter(near, dtype(np.inf))})
    below = max(v for v in around if Fraction(float(v)) <= x)
    above = min(v for v in around if Fraction(float(v)) >= x)
    if side == "rd" or (side == "rz" and x >= 0):
        return below
    if side != "rn":
        return above
    down, up = x - Fraction(float(below)), Fraction(float(above)) - x
    if down != up:
        return below if down < up else above
    return below if int(below.view(f"u{below.itemsize}")) % 2 == 0 else above


ROUND = """
extern "C" __global__ void f(const T *a, const T *b, const T *c, T *o, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
%s
}
"""


def rounding_source(dtype):
    p, fma = ("f", "fmaf") if dtype == np.float32 else ("d", "fma")
    lines = []
    for s in SIDES:
        lines += [f"__{p}{op}_{s}(a[i], b[i])" for op in ("add", "sub", "mul", "div")]
        lines += [f"__{p}rcp_{s}(a[i])", f"__{p}sqrt_{s}(a[i] < 0 ? -a[i] : a[i])", f"__{fma}_{s}(a[i], b[i], c[i])"]
    return source(ROUND, lines).replace("T *", ("float *" if dtype == np.float32 else "double *"))


@needs_cxx
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_roundings(dtype):
    rng = np.random.default_rng(3)
    n = 60
    a, b, c = (
        np.ldexp(rng.uniform(0.5, 1, n) * rng.choice([-1, 1], n), rng.integers(-20, 20, n)).astype(dtype)
        for _ in range(3)
    )
    a[:3], b[:3], c[:3] = [1, 0.25, 9], [3, 0.5, 1], [-3, 7, -9]  # exact, too
    o = np.zeros(28 * n, dtype)
    run(rounding_source(dtype), n, a, b, c, o)
    o = o.reshape(4, 7, n)
    for i in range(n):
        x, y, z = (Fraction(float(v[i])) for v in (a, b, c))
        exact = [x + y, x - y, x * y, x / y, 1 / x, None, x * y + z]
        for s, side in enumerate(SIDES):
            for k, want in enumerate(exact):
                if want is None or want == 0:
                    continue
                assert o[s, k, i] == rounded(want, side, dtype), (side, k, a[i], b[i], c[i])
        low, high = (Fraction(float(o[s, 5, i])) for s in (0, 1))
        assert low**2 <= abs(x) <= high**2 and (low == high) == (low**2 == abs(x))
        assert o[2, 5, i] == o[0, 5, i] and o[3, 5, i] in o[:2, 5, i]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_roundings_for_nvrtc(dtype):
    check_nvrtc(rounding_source(dtype))


WHOLE = """
extern "C" __global__ void f(const long long *a, double *o, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  long long x = a[i];
%s
}
"""
WHOLES = [("int", "int2float", np.float32), ("unsigned", "uint2float", np.float32), ("long long", "ll2float", np.float32),
          ("unsigned long long", "ull2float", np.float32), ("long long", "ll2double", np.float64),
          ("unsigned long long", "ull2double", np.float64), ("int", "int2half", np.float16), ("long long", "ll2half", np.float16)]  # fmt: skip
WHOLE_SOURCE = source(
    WHOLE,
    [f"(double){'(float)' if 'half' in name else ''}__{name}_{s}(({t})x)" for t, name, _ in WHOLES for s in SIDES],
)


@needs_cxx
def test_whole_numbers_in_a_rounding():
    a = np.array(
        [0, 1, -1, 2**24 + 1, -(2**24) - 1, 2**31 - 1, 2049, -4099, 2**53 + 1, 2**62 + 2**8 + 1, -(2**61) - 3, 65519],
        "i8",
    )
    n = len(a)
    o = np.zeros(4 * len(WHOLES) * n)
    run(WHOLE_SOURCE, n, a, o)
    cut = {"int": np.int32, "unsigned": np.uint32, "long long": np.int64, "unsigned long long": np.uint64}
    for k, (t, name, dtype) in enumerate(WHOLES):
        for i in range(n):
            x = int(a[i].astype(cut[t]))
            if dtype == np.float16 and abs(x) > 65504:
                continue
            for s, side in enumerate(SIDES):
                assert o[(4 * k + s) * n + i] == float(rounded(Fraction(x), side, dtype)), (name, side, x)


def test_whole_numbers_in_a_rounding_for_nvrtc():
    check_nvrtc(WHOLE_SOURCE)


WORDS = """
extern "C" __global__ void f(const unsigned *a, const unsigned *b, unsigned *o, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
%s
}
"""


def clip(t):
    return lambda x: np.clip(x, np.iinfo(t).min, np.iinfo(t).max)


def word_cases():
    """Name of the function; what it does with two arrays of lanes; signed lanes?"""
    for s, t in (("s", "i"), ("u", "u")):
        yield f"__vadd{s}s", lambda x, y: x + y, t, True
        yield f"__vsub{s}s", lambda x, y: x - y, t, True
        yield f"__vabsdiff{s}", lambda x, y: abs(x - y), t, False
        yield f"__vmax{s}", np.maximum, t, False
        yield f"__vmin{s}", np.minimum, t, False
        for name, f in (("gt", np.greater), ("ge", np.greater_equal), ("lt", np.less), ("le", np.less_equal)):
            yield f"__vcmp{name}{s}", lambda x, y, f=f: -f(x, y).astype(int), t, False
            yield f"__vset{name}{s}", lambda x, y, f=f: f(x, y).astype(int), t, False
    yield "__vadd", lambda x, y: x + y, "u", False
    yield "__vsub", lambda x, y: x - y, "u", False
    yield "__vavgu", lambda x, y: (x + y + 1) >> 1, "u", False
    yield "__vhaddu", lambda x, y: (x + y) >> 1, "u", False
    yield "__vcmpeq", lambda x, y: -(x == y).astype(int), "u", False
    yield "__vcmpne", lambda x, y: -(x != y).astype(int), "u", False
    yield "__vseteq", lambda x, y: (x == y).astype(int), "u", False


CASES = list(word_cases())
ONES = [
    ("__vabs", abs, False),
    ("__vabsss", abs, True),
    ("__vneg", np.negative, False),
    ("__vnegss", np.negative, True),
]
WORD_SOURCE = source(WORDS, [f"{name}{n}(a[i], b[i])" for n in (2, 4) for name, *_ in CASES]
                     + [f"{name}{n}(a[i])" for n in (2, 4) for name, *_ in ONES]
                     + [f"__vsad{s}{n}(a[i], b[i])" for n in (2, 4) for s in "su"])  # fmt: skip


@needs_cxx
def test_integers_side_by_side_in_a_word():
    rng = np.random.default_rng(5)
    a, b = (rng.integers(0, 2**32, 50, dtype=np.uint32) for _ in range(2))
    a[:4], b[:4] = [0x80008000, 0x80808080, 0xFFFF0000, 7], [0x7FFF8000, 0x7F80FF01, 0xFFFF0000, 7]
    b[10:20] = a[10:20]
    n = len(a)
    o = np.zeros((2 * (len(CASES) + len(ONES) + 2)) * n, np.uint32)
    run(WORD_SOURCE, n, a, b, o)
    o = o.reshape(-1, n)
    k = 0
    for lanes in (2, 4):
        for name, f, t, held in CASES:
            t = np.dtype(f"{t}{4 // lanes}")
            want = f(a.view(t).astype(int), b.view(t).astype(int))
            want = (clip(t)(want) if held else want).astype(t).view(np.uint32)
            assert np.array_equal(o[k], want), (name, lanes)
            k += 1
    for lanes in (2, 4):
        t = np.dtype(f"i{4 // lanes}")
        for name, f, held in ONES:
            want = f(a.view(t).astype(int))
            assert np.array_equal(o[k], (clip(t)(want) if held else want).astype(t).view(np.uint32)), (name, lanes)
            k += 1
    for lanes in (2, 4):
        for s in "iu":
            t = np.dtype(f"{s}{4 // lanes}")
            want = abs(a.view(t).astype(int) - b.view(t).astype(int)).reshape(n, lanes).sum(1)
            assert np.array_equal(o[k], want), (s, lanes)
            k += 1


def test_integers_side_by_side_for_nvrtc():
    check_nvrtc(WORD_SOURCE)


BITS = source(
    """
extern "C" __global__ void f(const unsigned *a, const unsigned *b, unsigned *o, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  bool first;
  clock_t begun = clock();
  if (i >= n || clock() - begun < 0) return;
%s
}
""",
    ["__funnelshift_lc(a[i], b[i], 33)", "__funnelshift_rc(a[i], b[i], 40)", "__funnelshift_lc(a[i], b[i], 5)",
     "__dp4a(a[i], b[i], 7u)", "(unsigned)__dp4a((int)a[i], (int)b[i], 7)", "(unsigned)__dp2a_lo((int)a[i], (int)b[i], 1)",
     "__dp2a_hi(a[i], b[i], 1u)", "__fns(a[i], 0, 3)", "__fns(a[i], 31, -2)", "__uhadd(a[i], b[i])", "__urhadd(a[i], b[i])",
     "(unsigned)__vimax3_s32((int)a[i], (int)b[i], -3)", "__viaddmin_u32(a[i], b[i], 77u)", "__vibmax_u32(a[i], b[i], &first) + first"],
)  # fmt: skip


@needs_cxx
def test_bits():
    rng = np.random.default_rng(7)
    a, b = (rng.integers(0, 2**32, 40, dtype=np.uint32) for _ in range(2))
    a[0] = 1
    n = len(a)
    o = np.zeros(14 * n, np.uint32)
    run(BITS, n, a, b, o)
    o = o.reshape(14, n)
    for i in range(n):
        x, y = int(a[i]), int(b[i])
        signed = [int(np.uint32(v).view(np.int32)) for v in (x, y)]
        set_bits = [k for k in range(32) if x >> k & 1]
        bytes_x, bytes_y = ([v >> k & 255 for k in (0, 8, 16, 24)] for v in (x, y))
        sx, sy = ([v - 256 * (v > 127) for v in w] for w in (bytes_x, bytes_y))
        words = [(v & 0xFFFF) - 65536 * ((v & 0xFFFF) > 0x7FFF) for v in (x, x >> 16)]
        want = [
            x, y, (y << 5 | x >> 27) & 0xFFFFFFFF,
            7 + sum(p * q for p, q in zip(bytes_x, bytes_y, strict=True)), 7 + sum(p * q for p, q in zip(sx, sy, strict=True)),
            1 + words[0] * sy[0] + words[1] * sy[1], 1 + (x & 0xFFFF) * bytes_y[2] + (x >> 16) * bytes_y[3],
            set_bits[2] if len(set_bits) > 2 else -1, set_bits[-2] if len(set_bits) > 1 else -1,
            (x + y) >> 1, (x + y + 1) >> 1, max(*signed, -3), min((x + y) % 2**32, 77), max(x, y) + (x >= y),
        ]  # fmt: skip
        assert o[:, i].tolist() == [v % 2**32 for v in want], i


def test_bits_for_nvrtc():
    check_nvrtc(BITS)


PAIRS = """
typedef TYPE T;
typedef TYPE2 P;
extern "C" __global__ void f(const T *a, const T *b, const T *c, float *o, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  P p(a[i], b[i]), q(b[i], c[i]), r = p;
  r += q;
  T s = a[i];
  s++;
%s
}
"""
PAIR_LINES = ["__low2float(p + q)", "__high2float(p - q)", "__low2float(p * q)", "__high2float(p / q)", "__low2float(r)",
              "__high2float(-p)", "(float)s", "__low2float(__hgt2(p, q))", "(float)__hbge2(p, q)", "(float)(__hlt2_mask(p, q) >> 16)",
              "__high2float(__hmax2(p, q))", "__low2float(__habs2(p))", "(float)__hfma(a[i], b[i], c[i])", "(float)__hadd_sat(a[i], b[i])",
              "(float)hrint(a[i])", "__high2float(h2exp2(p))", "(float)(p == q)", "(float)__hltu(a[i], b[i])", "__low2float(__hfma2_relu(p, q, q))",
              "(float)htanh(a[i])"]  # fmt: skip


def pair_source(kind):
    return source(PAIRS, PAIR_LINES).replace("TYPE", kind)


@needs_cxx
def test_pairs_of_halves():
    rng = np.random.default_rng(9)
    a, b, c = (rng.uniform(-4, 4, 80).astype(np.float16) for _ in range(3))
    b[:9] = a[:9]
    c[3:6] = b[3:6]
    b[70] = np.nan
    n = len(a)
    o = np.zeros(len(PAIR_LINES) * n, np.float32)
    run(pair_source("__half"), n, a, b, c, o)
    one = np.float16(1)
    with np.errstate(invalid="ignore"):
        fma = [
            np.float16(float(rounded(Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z)), "rn", np.float16)))
            if y == y
            else np.float16(np.nan)
            for x, y, z in zip(a, b, c, strict=True)
        ]
        relu = [
            max(rounded(Fraction(float(x)) * Fraction(float(y)) + Fraction(float(y)), "rn", np.float16), np.float16(0))
            if y == y
            else np.nan
            for x, y in zip(a, b, strict=True)
        ]
        want = [a + b, b - c, a * b, b / c, a + b, -b, a + one, a > b, (a >= b) & (b >= c), (b < c) * 0xFFFF, np.fmax(b, c), abs(a), fma,
                np.clip(np.nan_to_num(a + b), 0, 1), np.rint(a), np.exp2(b.astype("f4")).astype("f2"), (a == b) & (b == c), (a < b) | np.isnan(b), relu,
                np.tanh(a.astype("f4")).astype("f2")]  # fmt: skip
    for k, (line, w) in enumerate(zip(PAIR_LINES, want, strict=True)):
        got, w = o.reshape(-1, n)[k], np.asarray(w, np.float32)
        if "exp2" in line or "tanh" in line:
            assert np.allclose(got, w, rtol=2e-3, atol=1e-7, equal_nan=True), line
        else:
            assert np.array_equal(got, w, equal_nan=True), line


@pytest.mark.parametrize("kind", ["__half", "__nv_bfloat16"])
def test_pairs_for_nvrtc(kind):
    check_nvrtc(pair_source(kind))


@needs_cxx
def test_pairs_of_bfloats():
    """Whole numbers, which both 16-bit types hold."""
    a, b, c = (np.arange(k, 40 + k, dtype=np.float32) % 11 - 5 for k in (0, 3, 4))
    outs = []
    for kind, name in (("__half", "f2"), ("__nv_bfloat16", "u2")):
        h = [x.astype("f2") if name == "f2" else (x.view("u4") >> 16).astype("u2") for x in (a, b, c)]
        src = pair_source(kind)
        if name == "u2":
            src = src.replace(
                "const T *a, const T *b, const T *c",
                "const unsigned short *a_, const unsigned short *b_, const unsigned short *c_",
            )
            src = src.replace("  P p(", "  const T *a = (const T *)a_, *b = (const T *)b_, *c = (const T *)c_;\n  P p(")
        o = np.zeros(len(PAIR_LINES) * 40, np.float32)
        run(src, 40, *h, o)
        outs.append(o.reshape(-1, 40))
    for k, line in enumerate(PAIR_LINES):
        assert np.allclose(outs[0][k], outs[1][k], rtol=0.01, equal_nan=True), line


SPECIAL = source(
    """
extern "C" __global__ void f(const double *a, double *o, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
%s
}
""",
    ["erfinv(a[i])", "erfcinv(a[i] + 1)", "normcdfinv((a[i] + 1) / 2)", "erfcx(9 * a[i] + 5)", "cyl_bessel_i0(8 * a[i])", "cyl_bessel_i1(8 * a[i])",
     "norm4d(a[i], 2, 3, 4)", "jn(2, a[i])", "(double)llrintf((float)(100 * a[i]))", "exp10(a[i])"],
)  # fmt: skip


@needs_cxx
def test_special_functions():
    a = np.array([-0.999, -0.75, -0.5, -1e-9, 1e-12, 0.25, 0.5, 0.9, 0.9999, 1 - 1e-12])
    n = len(a)
    o = np.zeros(10 * n)
    run(SPECIAL, n, a, o)
    o = o.reshape(10, n)
    for k, x in enumerate(a):
        assert math.isclose(math.erf(o[0, k]), x, rel_tol=4e-16)
        assert math.isclose(math.erfc(o[1, k]), x + 1, rel_tol=5e-15)
        assert math.isclose(math.erf(-o[2, k] / math.sqrt(2)), -x, rel_tol=1e-15, abs_tol=1e-16)
        z = 9 * x + 5
        assert math.isclose(o[3, k], math.exp(z * z) * math.erfc(z), rel_tol=1e-12)
        for row, order in ((4, 0), (5, 1)):
            want = sum((4 * x) ** (2 * m + order) / (math.factorial(m) * math.factorial(m + order)) for m in range(60))
            assert math.isclose(o[row, k], want, rel_tol=1e-14), order
        assert math.isclose(o[6, k], math.hypot(x, 2, 3, 4), rel_tol=1e-15)
        want = sum((-1) ** m * (x / 2) ** (2 * m + 2) / (math.factorial(m) * math.factorial(m + 2)) for m in range(20))
        assert math.isclose(o[7, k], want, rel_tol=1e-9)
        assert o[8, k] == np.rint(np.float32(100 * x))


def test_special_functions_for_nvrtc():
    check_nvrtc(SPECIAL)


@pytest.mark.parametrize("part, dtype", [("float", "complex64"), ("double", "complex128")])
def test_complex_quotients_have_the_bits_of_arrays(part, dtype):
    src = f"""extern "C" __global__ void k(const complex<{part}> *a, const complex<{part}> *b, complex<{part}> *out) {{
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        out[i] = a[i] / b[i];
    }}"""
    rng = np.random.default_rng(3)
    a, b = (rng.standard_normal((2, 1024)) + 1j * rng.standard_normal((2, 1024))).astype(dtype)
    a[:4], b[:4] = [0, 1 + 1j, 1j, 1], [1j, 1, -2j, 3 - 3j]
    out = np.zeros(1024, dtype)
    tt.RawKernel(src, "k")((16,), (64,), (a, b, out))
    np.testing.assert_array_equal(out, a / b)
    np.testing.assert_array_equal(out, (tt.asarray(a) / tt.asarray(b)).numpy())
