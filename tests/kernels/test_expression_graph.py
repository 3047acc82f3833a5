"""ElementwiseKernel and ReductionKernel as operations of the graph: lazy, fused, and the same as their CUDA C kernel."""

# ruff: noqa: E501 (kernels stand here as people write them)

import os
import shutil
import subprocess
import sys

import numpy as np
import pytest
import tutti as tt

needs_compiler = pytest.mark.skipif(not (shutil.which("c++") or shutil.which("g++")), reason="no C++ compiler")
ON_GPU = os.environ.get("TUTTI_DEVICE", "").startswith("cuda")  # NVRTC has fewer overloads than C++'s headers
WHOLE = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
ALL = ["bool", *WHOLE, "float32", "float64"]
PAIRS = [
    ("bool", "int16"), ("int8", "uint32"), ("int16", "uint16"), ("int32", "int32"), ("int64", "uint64"), ("uint8", "int8"),
    ("uint64", "int32"), ("uint32", "int64"), ("float32", "float32"), ("float64", "uint8"), ("int64", "float32"),
]  # fmt: skip


def sample(dtype, rng, n=200):
    """Random numbers over the whole range, small ones among them, and the ends."""
    d = np.dtype(dtype)
    if d.kind == "b":
        return rng.random(n) < 0.5
    if d.kind in "iu":
        i = np.iinfo(d)
        v = rng.integers(i.min, i.max, n, dtype=d, endpoint=True)
        v[:6] = [0, 1, i.max, i.min, 2, 3]
        v[6:60] = rng.integers(0 if d.kind == "u" else -10, 10, 54)
        return v
    v = (rng.standard_normal(n) * 10).astype(d)
    v[:8] = [0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 1e30]
    return v


NUMBERS = [
    "x + y", "x - y", "x * y", "x < y", "x <= y", "x > y", "x >= y", "x == y", "x != y", "x && y", "x || !y", "!x == y",
    "x > y ? x : y", "-x", "+x", "x * 2", "x + 1.5f", "x - 2.5", "x + 1u", "x * 3ll",
    "(x > y) + (x < y) * 2", "true ? x : 1", "(float)x * y", "(x, y)", "x == y || x > 3 && y < 4",
]  # fmt: skip
WHOLES = [
    "x & y", "x | y", "x ^ y", "~x", "x << (y & 3)", "x >> (y & 3)", "(x & 7) << 2", "x / (y ? y : 1)", "x % (y ? y : 1)",
    "x / 3", "x % 7", "x / -5", "x % -7", "abs((long long)x)", "x / 3u", "x % 5ll", "(signed char)x", "(unsigned short)(x + y)",
    "x / 2 + ~y % 3",
]  # fmt: skip


def both(inputs, outputs, text, **more):
    return [tt.ElementwiseKernel(inputs, outputs, text, "k", way=w, **more) for w in ("graph", "cuda")]


def assert_same(got, want, what, rtol=0):
    got, want = got.numpy(), want.numpy()
    assert got.dtype == want.dtype and got.shape == want.shape, what
    if rtol:
        np.testing.assert_allclose(got, want, rtol=rtol, atol=1e-30, err_msg=str(what))
    else:
        assert np.array_equal(got, want, equal_nan=want.dtype.kind in "fc"), (what, got, want)


@needs_compiler
@pytest.mark.parametrize("a,b", PAIRS)
def test_operators_against_the_compiled_kernel(a, b):
    rng = np.random.default_rng(ALL.index(a))
    whole = a[0] in "biu" and b[0] in "biu"
    texts = NUMBERS + (WHOLES if whole else []) + (["min(x, y)", "max(x, y)"] if a == b or not ON_GPU else [])
    outputs = ", ".join(f"float64 o{k}" for k in range(len(texts)))
    graph, cuda = both(f"{a} x, {b} y", outputs, ";".join(f"o{k} = {t}" for k, t in enumerate(texts)))
    x, y = sample(a, rng), sample(b, rng)
    for text, got, want in zip(texts, graph(x, y), cuda(x, y), strict=True):
        assert_same(got, want, text)


@needs_compiler
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint32", "int64", "float32", "float64"])
def test_results_have_the_type_of_the_output(dtype):
    rng = np.random.default_rng(3)
    outputs = ", ".join(f"{t} {t}_" for t in ALL)
    graph, cuda = both(f"{dtype} x", outputs, ";".join(f"{t}_ = x" for t in ALL))
    x = sample(dtype, rng)
    if dtype[0] == "f":  # what C leaves open is tested below
        x = np.clip(np.nan_to_num(x), 0, 100).astype(dtype)
    for t, got, want in zip(ALL, graph(x), cuda(x), strict=True):
        assert_same(got, want, t)


F1 = [
    "sqrt", "cbrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos", "atan",
    "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "floor", "ceil", "trunc", "rint", "round", "fabs", "abs", "rsqrt",
    "exp10", "isnan", "isinf", "isfinite", "signbit",
]  # fmt: skip
F2 = ["pow", "fmod", "atan2", "hypot", "copysign", "fmin", "fmax", "fdim", "min", "max"]


@needs_compiler
@pytest.mark.parametrize("dtype", ["float32", "float64"] if ON_GPU else ["float32", "float64", "int32"])
def test_functions_against_the_compiled_kernel(dtype):
    rng = np.random.default_rng(4)
    texts = (
        [f"{f}(x)" for f in F1 if dtype != "int32" or f not in ("rsqrt", "exp10")]
        + [f"{f}(x, y)" for f in F2]
        + ["x * M_PI", "x + INFINITY"]
    )
    if dtype == "float32":
        texts += [f"{f}f(x)" for f in ("sqrt", "exp", "sin", "round", "rsqrt")] + ["fmaf(x, y, 1)", "__fdividef(x, y)"]
        texts += ["pow(x, 2.f)", "__expf(x)", "powf(x, y)", "__saturatef(x)", "fminf(x, y)"]
    outputs = ", ".join(f"float64 o{k}" for k in range(len(texts)))
    graph, cuda = both("T x, T y", outputs, ";".join(f"o{k} = {t}" for k, t in enumerate(texts)))
    x = sample(dtype, rng)
    y = sample(dtype, rng)[::-1].copy()
    if dtype == "int32":
        x, y = x % 50 - 5, y % 50 + 1
    else:
        x[-5:] = [0.5, -0.5, 1.5, 0.49999997, -2.5]
    for text, got, want in zip(texts, graph(x, y), cuda(x, y), strict=True):
        assert_same(got, want, text, rtol=1e-12 if dtype == "float64" else 3e-6)


@needs_compiler
@pytest.mark.parametrize("dtype", ["float16", "complex64", "complex128"])
def test_halves_and_complex_numbers(dtype):
    rng = np.random.default_rng(5)
    x = (rng.standard_normal(100) * 3).astype(dtype)
    y = (rng.standard_normal(100) * 3).astype(dtype)
    texts = ["x + y", "x - y", "x * y", "x / y", "-x", "x * T(2)"]
    real = "float32" if dtype != "complex128" else "float64"
    if dtype == "float16":
        texts += ["x < y ? x : y", "(T)((float)x + 1)", "sin((float)x)"]
    else:
        x, y = (x + 1j * y).astype(dtype), (y - 2j).astype(dtype)
        texts += ["conj(x)", "exp(x)", "x == y ? x : y"]
    outputs = ", ".join(f"T o{k}" for k in range(len(texts)))
    graph, cuda = both("T x, T y", outputs, ";".join(f"o{k} = {t}" for k, t in enumerate(texts)))
    for text, got, want in zip(texts, graph(x, y), cuda(x, y), strict=True):
        assert_same(got, want, text, rtol=0 if dtype == "float16" else 2e-5)
    if dtype != "float16":
        graph, cuda = both(
            f"{dtype} x",
            f"{real} a, {real} b, {real} c, {real} d",
            "a = abs(x); b = x.real(); c = imag(x); d = norm(x) + arg(x)",
        )
        for got, want in zip(graph(x), cuda(x), strict=True):
            assert_same(got, want, "parts", rtol=2e-5)


def test_where_c_leaves_it_open():
    """CUDA's instructions decide: ends of the range, all bits for x / 0, counts of shifts beyond the type."""
    k = tt.ElementwiseKernel(
        "float32 x", "int32 a, uint32 b, int64 c, uint64 d, int8 e, uint8 f", "a = x; b = x; c = x; d = x; e = x; f = x",
        way="graph",
    )  # fmt: skip
    x = np.array([np.nan, np.inf, -np.inf, 3e9, -3e9, -1.5, 2.9, 1e20], "f4")
    a, b, c, d, e, f = (o.tolist() for o in k(x))
    most, least = 2**31 - 1, -(2**31)
    assert a == [0, most, least, most, least, -1, 2, most]
    assert b == [0, 2**32 - 1, 0, 3000000000, 0, 0, 2, 2**32 - 1]
    assert c == [-(2**63), 2**63 - 1, -(2**63), 3000000000, -3000000000, -1, 2, 2**63 - 1]
    assert d == [2**63, 2**64 - 1, 0, 3000000000, 0, 0, 2, 2**64 - 1]
    assert e == [0, -1, 0, -1, 0, -1, 2, -1]
    assert f == [0, 255, 0, 0, 0, 0, 2, 255]
    k = tt.ElementwiseKernel(
        "int32 x, int32 y, uint32 u", "int32 q, int32 r, uint32 v, int32 s, int32 t, int32 m",
        "q = x / y; r = x % y; v = u / 0u; s = x << y; t = x >> y; m = x * y", way="graph",
    )  # fmt: skip
    x, y = np.array([7, -7, least, least, 5], "i4"), np.array([0, 0, -1, 40, -1], "i4")
    q, r, v, s, t, m = (o.tolist() for o in k(x, y, np.full(5, 3, "u4")))
    assert q == [-1, -1, least, least // 40 + 1, -5] and r == [7, -7, 0, -(2**31 % 40), 0]
    assert v == [2**32 - 1] * 5
    assert s == [7, -7, 0, 0, 0] and t == [7, -7, -1, -1, 0]
    assert m == [0, 0, least, 0, -5]
    nan = tt.ElementwiseKernel(
        "float64 x, float64 y",
        "float64 a, float64 b, float64 c",
        "a = max(x, y); b = fmin(x, y); c = x > y ? x : y",
        way="graph",
    )
    a, b, c = (o.tolist() for o in nan(np.array([np.nan, 1]), np.array([2, np.nan])))
    assert a == [2, 1] and b == [2, 1] and c[0] == 2 and np.isnan(c[1])


def test_powers_have_the_type_of_the_base():
    k = tt.ElementwiseKernel(
        "float32 x, int32 n", "float64 y, float64 z", "y = pow(x, n); z = pow(x, 2.0)", way="graph"
    )
    y, z = k(np.array([3, 1e30], "f4"), np.array([3, 2], "i4"))
    assert y.tolist() == [27, np.inf] and np.allclose(z.numpy(), [9, 1e60])


def test_statements():
    k = tt.ElementwiseKernel(
        "T x, int32 n",
        "T y, int32 kind",
        """
        T t = x * x, u{1};
        const auto big = t > T(4);   // a comment
        if (big) { t -= 4; kind = 1; if (n > 2) { kind += 10; u++; } }
        else if (x < 0) { kind = 2; }
        else kind = 3;
        if (n == 0) return;
        y = t + u; kind <<= 1;
        """,
        way="graph",
        preamble="#define UNUSED 3",
    )
    x, n = np.array([-3.0, -1, 1, 3, 3]), np.array([3, 1, 1, 1, 0], "i4")
    y, kind = tt.full(5, -9.0), tt.zeros(5, dtype="int32")
    k(x, n, y, kind)
    assert y.tolist() == [7, 2, 2, 6, -9]
    assert kind.tolist() == [22, 4, 6, 2, 1]


def test_preambles_are_inlined():
    k = tt.ElementwiseKernel(
        "T x, T y", "T z", "z = smooth(x, y) * SCALE + N + half_pi", "f", way="graph", options=("-DN=3", "--std=c++14"),
        preamble="""
        #include <cupy/math_constants.h>
        #define SCALE (2 * ONE)
        #define ONE 1.0f
        const float half_pi = 0;
        typedef double real;
        template <typename A> __device__ __forceinline__ A clamp01(const A &v) { return v < 0 ? A(0) : v > 1 ? A(1) : v; }
        template <class A, class B> __device__ A smooth(A a, B b) {
          if (a == b) return 0;
          real t = clamp01((real)a / b);
          t *= t;
          return t;
        }""",
    )  # fmt: skip
    x, y = np.array([1, 2, 3, 1], "f4"), np.array([2, 2, 2, 4], "f4")
    assert k(x, y).tolist() == [3.5, 3, 5, 3.125]


def test_it_is_lazy_and_fuses(recorded):
    k = tt.ElementwiseKernel("T x, T y", "T z", "z = (x - y) * (x - y)", way="graph")
    x, y = tt.arange(1000, dtype="float32"), tt.ones(1000, dtype="float32")
    tt.eval(x, y)
    before = tt.ledger()["launches"]
    r = tt.sqrt(k(x + 1, y).sum())
    assert tt.ledger()["launches"] == before
    assert np.isclose(float(r), np.sqrt((np.arange(1000.0) ** 2).sum()), rtol=1e-6)
    assert tt.ledger()["launches"] == before + 1
    assert k.is_graph and "operations of the graph" in k.explain()


def test_arrays_read_by_index():
    x = np.arange(12.0)
    back = tt.ElementwiseKernel("T x, raw T y", "T z", "z = x + y[_ind.size() - i - 1] + y[n - 1 - i]", way="graph")
    assert np.array_equal(back(x, x * 10).numpy(), x + 20 * x[::-1])
    assert np.array_equal(back(x.reshape(3, 4), (x * 10).reshape(2, 6)).numpy(), (x + 20 * x[::-1]).reshape(3, 4))
    pairs = tt.ElementwiseKernel("raw T a", "T b", "b = a[2 * i] + a[2 * i + 1] + a.size() + a.ndim", way="graph")
    assert pairs(np.arange(6), size=3).tolist() == [8, 12, 16]
    strided = np.arange(24).reshape(4, 6)[::2, ::3]
    assert pairs(strided, size=2).tolist() == [strided[0].sum() + 6, strided[1].sum() + 6]
    edge = tt.ElementwiseKernel(
        "raw T a", "T b", "b = (i > 0 ? a[i - 1] : 0) + (i + 1 < n && a[i + 1] > 0 ? a[i + 1] : 0)", way="graph"
    )
    assert edge(np.arange(1, 6), size=5).tolist() == [2, 4, 6, 8, 4]
    pick = tt.ElementwiseKernel("raw T a, int32 at, int32 off", "T b", "b = a[at] * 10 + a[i + off]", way="graph")
    assert pick(np.arange(6), np.array([5, 0, 3], "i4"), 2).tolist() == [52, 3, 34]
    with pytest.raises(IndexError, match="'a' has 6 elements, element 6 is read"):
        pick(np.arange(6), np.array([5, 0, 3], "i4"), 4)
    rows = tt.ElementwiseKernel("raw T a", "T b", "b = a[i / a.shape()[1]] + a[i % a.shape()[1]]", way="graph")
    assert rows(np.arange(6).reshape(2, 3), size=6).tolist() == [0, 1, 2, 1, 2, 3]


def test_outputs_that_are_inputs():
    add = tt.ElementwiseKernel("T x, T y", "T z", "z = x + y", way="graph")
    a = tt.arange(5.0)
    add(a, a[::-1], a)
    assert a.tolist() == [4] * 5
    back = tt.ElementwiseKernel("raw T x", "T z", "z = x[n - 1 - i]", way="graph")
    a = tt.arange(5.0)
    back(a, a)
    assert a.tolist() == [4, 3, 2, 1, 0]


def test_outputs_that_are_given():
    k = tt.ElementwiseKernel("T x", "T y, raw T w", "y += x; w[i] = y * 2", way="graph")
    y, w = tt.ones(4), tt.zeros(6)
    view = w[1:5]
    assert k(np.arange(4.0), y[::-1], w)[1] is w
    assert y.tolist() == [4, 3, 2, 1] and w.tolist() == [2, 4, 6, 8, 0, 0] and view.tolist() == [4, 6, 8, 0]
    with pytest.raises(IndexError, match="'w' has 3 elements, element 3 is written"):
        k(np.arange(4.0), tt.ones(4), tt.ones(3))
    with pytest.raises(ValueError, match=r"output 'y' has shape \(4,\), not \(2,4\)"):
        k(np.ones((2, 4)), tt.ones(4), tt.ones(8))
    with pytest.raises(TypeError, match="is float64, the array given is float32"):
        k(np.ones(4), tt.ones(4, dtype="float32"), tt.ones(4))
    fixed = tt.ones(4)
    fixed.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        k(np.ones(4), fixed, tt.ones(4))
    assert tt.ElementwiseKernel("T x", "T y", "y = x", return_tuple=True)(np.ones(2))[0].tolist() == [1, 1]
    assert tt.ElementwiseKernel("T x", "T y", "y = x", no_return=True)(np.ones(2)) is None
    assert tt.ElementwiseKernel("T x", "T y", "y = x")(np.ones((0, 3))).shape == (0, 3)
    assert tt.ElementwiseKernel("T x", "T y", "y = x + 1")(np.float32(2)).shape == ()


def test_errors_show_the_line():
    k = tt.ElementwiseKernel("T x", "T y", "T t = x;\n  y = t + nothing;", "oops")
    with pytest.raises(
        tt.CompileError, match=r"oops.cu:2:11: error: 'nothing' was not declared in this scope\n    2 \|   y = t"
    ):
        k(np.ones(2))
    with pytest.raises(tt.CompileError, match=r"\(preamble\):2:.*'z' was not declared"):
        tt.ElementwiseKernel("T x", "T y", "y = f(x)", preamble="\nfloat f(float x) { return z; }", options=("-DA=1",))(
            np.ones(2)
        )
    with pytest.raises(tt.CompileError, match="invalid operands of types 'double' and 'int' to binary 'operator%'"):
        tt.ElementwiseKernel("T x", "T y", "y = x % 2")(np.ones(2))
    with pytest.raises(tt.CompileError, match="assignment of read-only variable 'x'"):
        tt.ElementwiseKernel("T x", "T y", "x = 2; y = x")(np.ones(2))


def test_errors_show_whole_characters():
    for space in (" ", "  "):  # the line is longer than a message
        with pytest.raises(tt.CompileError, match="expected ';' before 'é'\n    1 | y = x +éé"):
            tt.ElementwiseKernel("T x", "T y", f"y = x{space}{'é' * 1000}")(np.ones(2))


def test_what_is_for_a_compiler_says_why():
    for text, why in (
        ("y = é", "line 1: 'é' in an expression"),
        ("for (int j = 0; j < 2; j++) y = j", "'for' is not straight-line code"),
        ("y = threadIdx.x", "threadIdx"),
        ("y = fma(x, x, x)", "fma of doubles"),
    ):
        with pytest.raises(NotImplementedError, match=why):
            tt.ElementwiseKernel("T x", "T y", text, way="graph")(np.ones(2))
    with pytest.raises(ValueError, match="way is"):
        tt.ElementwiseKernel("T x", "T y", "y = x", way="gpu")


@needs_compiler
def test_loops_are_compiled():
    k = tt.ElementwiseKernel("T x, int32 m", "T y", "T s = 0; for (int j = 0; j < m; j++) s += x; y = s", "sums")
    assert k.is_graph is None
    assert k(np.arange(4.0), 3).tolist() == [0, 3, 6, 9]
    assert k.is_graph is False and "CUDA C (line 1: 'for' is not straight-line code)" in k.explain()


FOLDS = [
    ("a + b", "0"), ("b * a", "1"), ("max(a, b)", None), ("min(b, a)", "T(100)"), ("a > b ? a : b", None), ("a < b ? a : b", "7"),
    ("a && b", "true"), ("a || b", "false"),
]  # fmt: skip


@needs_compiler
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float32"])
def test_reductions_against_the_compiled_kernel(dtype):
    rng = np.random.default_rng(6)
    x = rng.integers(0, 2 if dtype == "bool" else 5, (4, 3, 5)).astype(dtype)
    for fold, identity in FOLDS:
        graph, cuda = [
            tt.ReductionKernel("T x, T w", "T y", "x * w", fold, "y = a", identity, "r", way=w)
            for w in ("graph", "cuda")
        ]
        for axis in (None, 1, (0, 2)):
            assert_same(graph(x, x[0], axis=axis), cuda(x, x[0], axis=axis), (fold, axis))


def test_reductions_in_the_graph(recorded):
    norm = tt.ReductionKernel("T x, T f", "T y", "x * x", "a + b", "y = sqrt(a) * f", "0", "norm", way="graph")
    x = np.random.default_rng(7).random((6, 7))
    tt.eval(a := tt.asarray(x))
    before = tt.ledger()["launches"]
    r = norm(a + 0.5, 2.0, axis=0) + 1
    assert tt.ledger()["launches"] == before
    np.testing.assert_allclose(r.numpy(), np.linalg.norm(x + 0.5, axis=0) * 2 + 1)
    assert tt.ledger()["launches"] == before + 1
    assert norm(a, 1.0, axis=1, keepdims=True).shape == (6, 1)
    out = tt.zeros(7)
    assert norm(a, 1.0, axis=0, out=out) is out
    np.testing.assert_allclose(out.numpy(), np.linalg.norm(x, axis=0))
    kept = tt.zeros((1, 1))
    norm(a, 1.0, out=kept)
    np.testing.assert_allclose(kept.numpy(), [[np.linalg.norm(x)]])
    with pytest.raises(ValueError, match="the output has 3 elements, not 7"):
        norm(a, 1.0, axis=0, out=tt.zeros(3))
    with pytest.raises(tt.AxisError):
        norm(a, 1.0, axis=2)
    top = tt.ReductionKernel("T x", "T y", "x", "max(a, b)", "y = a", None, "top", way="graph")
    v = np.array([[1.0, np.nan], [np.nan, np.nan]])
    assert np.array_equal(top(v, axis=1).numpy(), [1, np.nan], equal_nan=True)
    with pytest.raises(ValueError, match="no identity"):
        top(np.zeros((0, 2)), axis=0)
    assert norm(np.zeros((2, 0)), 1.0, axis=1).tolist() == [0, 0]
    first = tt.ReductionKernel("T x", "int64 y", "x > 2 ? i : n", "min(a, b)", "y = a", "1 << 30", "first", way="graph")
    assert int(first(np.array([1, 2, 3, 4]))) == 2
    wide = tt.ReductionKernel(
        "int8 x", "int64 y", "x", "a + b", "y = a", "0", "wide", reduce_type="long long", way="graph"
    )
    assert int(wide(np.full(1000, 100, "i1"))) == 100000
    narrow = tt.ReductionKernel("int8 x", "int8 y", "x", "a + b", "y = a", "0", "narrow", way="graph")
    assert int(narrow(np.full(1000, 100, "i1"))) == np.int8(100000 % 256 - 256)


@needs_compiler
def test_reductions_for_a_compiler():
    for fold, identity, why in (
        ("a ^ b", "0", "is none that the graph has"),
        ("a + b", "5", "an identity that changes"),
        ("a && b", None, "without an identity"),
    ):
        k = tt.ReductionKernel("int32 x", "int32 y", "x", fold, "y = a", identity, "odd")
        k(np.arange(4, dtype="i4"))
        assert k.is_graph is False and why in k.explain()


PLACES = """
import tutti as tt
k = tt.ElementwiseKernel("T x, raw T w", "T y", "y = x * 2 + w[n - 1 - i]", way="graph")
fill = tt.ElementwiseKernel("", "float32 y", "y = i", way="graph")
norm = tt.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", way="graph")
x = tt.arange(5.0, device="null:0")
y = k(x, x + 3)
assert str(y.device) == "null:0" and y.tolist() == [7, 8, 9, 10, 11], y
with tt.device("null:0"):
    z = fill(size=3)
assert str(z.device) == "null:0" and z.tolist() == [0, 1, 2]
assert str(norm(x).device) == "null:0" and float(norm(x)) == 30**0.5
k(x, x, out := tt.zeros(5, device="null:0"))
assert out.tolist() == [4, 5, 6, 7, 8]
h = tt.arange(5.0)
assert str(k(h, h).device) == "cpu:0"
assert tt.ledger()["device_launches"] >= 4
"""


def test_results_are_where_arguments_are():
    env = {**os.environ, "TUTTI_NULL_DEVICE": "1"}
    env.pop("TUTTI_DEVICE", None)
    run = subprocess.run([sys.executable, "-c", PLACES], env=env, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


@needs_compiler
@pytest.mark.parametrize("value, way", [("1", False), ("yes", False), ("0", True), ("", True)])
def test_checks_are_for_the_compiled_kernel(monkeypatch, value, way):
    """TUTTI_CHECK means the same here as everywhere: whatever is set and not 0."""
    monkeypatch.setenv("TUTTI_CHECK", value)
    k = tt.ElementwiseKernel("raw T x", "T y", "y = x[i]", "checked")
    k(np.arange(4.0), size=4)
    assert k.is_graph is way and ("indices are checked" in k.explain()) is not way
