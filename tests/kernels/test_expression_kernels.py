"""ElementwiseKernel and ReductionKernel, in CuPy's forms, against NumPy."""

# ruff: noqa: E501 (kernels stand here as people write them)

import shutil

import numpy as np
import pytest
import tutti as tt

pytestmark = pytest.mark.skipif(not (shutil.which("c++") or shutil.which("g++")), reason="no C++ compiler")


def test_squared_difference():
    k = tt.ElementwiseKernel("float32 x, float32 y", "float32 z", "z = (x - y) * (x - y)", "squared_diff")
    x = np.arange(10, dtype="f4").reshape(2, 5)
    y = np.arange(5, dtype="f4")
    z = k(tt.asarray(x), tt.asarray(y))
    assert z.shape == (2, 5) and z.dtype == tt.float32
    assert np.array_equal(z.numpy(), (x - y) ** 2)
    assert np.array_equal(k(x, 5).numpy(), (x - 5) ** 2)
    out = tt.empty((2, 5), dtype="float32")
    assert k(x, y, out) is out
    assert np.array_equal(out.numpy(), (x - y) ** 2)
    assert np.array_equal(k(tt.asarray(x).T, tt.asarray(y[:2])).numpy(), (x.T - y[:2]) ** 2)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64", "uint8", "complex64", "complex128", "bool"])
def test_placeholders(dtype):
    k = tt.ElementwiseKernel("T x, T y", "T z", "z = x * y", "product")
    x = np.arange(1, 8).astype(dtype)
    assert np.array_equal(k(x, x).numpy(), x * x)


def test_placeholder_rules():
    k = tt.ElementwiseKernel("T x, U y", "T z, U w", "z = x + y; w = y", "two")
    z, w = k(np.ones(3, "f4"), np.arange(3, dtype="i8"))
    assert z.dtype == tt.float32 and w.dtype == tt.int64
    assert z.tolist() == [1, 2, 3]
    with pytest.raises(TypeError, match="parameter 'y' is float32, the array given is float64"):
        tt.ElementwiseKernel("T x, T y", "T z", "z = x")(np.ones(2, "f4"), np.ones(2))
    with pytest.raises(TypeError, match="what type U is"):
        tt.ElementwiseKernel("T x", "U y", "y = x")(np.ones(2))
    with pytest.raises(TypeError, match="takes 2 inputs"):
        k(np.ones(2))
    with pytest.raises(TypeError, match="is no type"):
        tt.ElementwiseKernel("float99 x", "T y", "y = x")
    with pytest.raises(ValueError):
        k(np.ones((2, 3), "f4"), np.ones(4))
    with pytest.raises(tt.CompileError, match="nothing"):
        tt.ElementwiseKernel("T x", "T y", "y = nothing")(np.ones(2))


def test_raw_arguments_and_index():
    reverse = tt.ElementwiseKernel("T x, raw T y", "T z", "z = x + y[_ind.size() - i - 1]", "add_reverse")
    x = np.arange(6.0)
    assert np.array_equal(reverse(x, x * 10).numpy(), x + x[::-1] * 10)
    total = tt.ElementwiseKernel("raw T a", "T b", "b = a[2 * i] + a[2 * i + 1] + a.size()", "pairs")
    assert total(np.arange(6), size=3).tolist() == [7, 11, 15]
    with pytest.raises(ValueError, match="undecided"):
        total(np.arange(6))
    for operation in ("b = a[i] * s", "b = a[i] * s; if (s < 0) b = 0;"):  # numbers say as little of how many
        scaled = tt.ElementwiseKernel("raw float64 a, float64 s", "float64 b", operation, "scaled_raw")
        with pytest.raises(ValueError, match="undecided"):
            scaled(np.arange(6.0), 7)
        assert scaled(np.arange(6.0), 7, size=2).tolist() == [0, 7]
    cell = tt.ElementwiseKernel("raw T a", "T b", "ptrdiff_t at[] = {i, i}; b = a[at] + a.shape()[1] * 100", "diagonal")
    assert cell(np.arange(9).reshape(3, 3), size=3).tolist() == [300, 304, 308]
    fill = tt.ElementwiseKernel("", "raw int32 o", "o[i] = i", "fill")
    o = tt.zeros(5, dtype="int32")
    fill(o, size=5)
    assert o.tolist() == [0, 1, 2, 3, 4]


def test_preamble_options_and_halves():
    k = tt.ElementwiseKernel(
        "T x",
        "T y",
        "y = twice(x) + N",
        "f",
        preamble="template <class T> __device__ T twice(T x) { return x + x; }",
        options=("-DN=3",),
    )
    assert k(np.ones(2, "f4")).tolist() == [5, 5]
    half = tt.ElementwiseKernel("T x", "T y", "y = x + T(2)")
    assert half(np.ones(2, "f2")).dtype == tt.float16
    assert half(np.ones(2, "f2")).tolist() == [3, 3]
    assert tt.ElementwiseKernel("T x", "T y", "y = x")(np.ones(0, "f4")).shape == (0,)


@pytest.mark.parametrize("shape", [(1,), (7,), (64,), (1000,), (16384,), (16385,), (100_000,), (3, 5, 7), (200, 300)])
def test_norm(shape):
    k = tt.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "l2norm")
    x = np.random.default_rng(0).random(shape)
    assert np.allclose(float(k(tt.asarray(x))), np.linalg.norm(x.ravel()), rtol=1e-12)
    for axis in range(len(shape)):
        got = k(x, axis=axis)
        assert got.shape == np.linalg.norm(x, axis=axis).shape
        assert np.allclose(got.numpy(), np.linalg.norm(x, axis=axis), rtol=1e-12)
        assert k(x, axis=axis, keepdims=True).shape == np.sum(x, axis=axis, keepdims=True).shape


def test_reductions():
    dot = tt.ReductionKernel("T x, T y", "T z", "x * y", "a + b", "z = a", "0", "dot")
    x, y = np.arange(1000, dtype="i8"), np.arange(1000, dtype="i8")[::-1]
    assert int(dot(x, y)) == int(x @ y)
    assert dot(np.ones((4, 6)), np.arange(6.0), axis=1).tolist() == [15] * 4
    top = tt.ReductionKernel("T x", "T y", "x", "a > b ? a : b", "y = a", "", "largest")
    assert int(top(-np.arange(5, 70000))) == -5
    with pytest.raises(ValueError, match="no identity"):
        top(np.zeros(0, "i8"))
    assert float(dot(np.zeros(0), np.zeros(0))) == 0
    scaled = tt.ReductionKernel(
        "T x, float64 f", "float64 y", "x * f", "a + b", "y = a / f", "0", "scaled", reduce_type="double"
    )
    assert float(scaled(np.ones(10, "i4"), 4.0)) == 10
    both = tt.ReductionKernel(
        "float32 x", "float32 y", "Pair(x)", "Pair(fminf(a.lo, b.lo), fmaxf(a.hi, b.hi))", "y = a.hi - a.lo", "Pair()", "range", "Pair",
        preamble="struct Pair { float lo, hi; __device__ Pair() : lo(1e30f), hi(-1e30f) {} __device__ Pair(float x) : lo(x), hi(x) {} __device__ Pair(float l, float h) : lo(l), hi(h) {} };",
    )  # fmt: skip
    v = np.random.default_rng(1).random(50_000, "f4")
    assert float(both(v)) == np.ptp(v)
    with pytest.raises(tt.AxisError):
        top(np.zeros(3, "i8"), axis=1)


def test_reductions_do_not_depend_on_threads():
    k = tt.ReductionKernel("float32 x", "float32 y", "x", "a + b", "y = a", "0", "total")
    x = tt.asarray(np.random.default_rng(2).random(300_000, "f4"))
    want = float(k(x))
    for n in (1, 3):
        tt.set_num_threads(n)
        assert float(k(x)) == want
    tt.set_num_threads(0)
