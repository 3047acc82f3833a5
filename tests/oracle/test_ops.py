"""Every row of ops.def x every dtype x both tiers against NumPy: result types exactly, values against float64."""

import warnings

import numpy as np
import pytest
import tutti as tt
from tiers import COMPILER

NUMPY_TYPES = [
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "float32", "float64", "complex64", "complex128",
]  # fmt: skip
SIZES = [0, 1, 2, 31, 32, 33, 255, 256, 257, 1025]
OPS = sorted(name for name in tt.ops() if isinstance(getattr(np, name, None), np.ufunc))
# In units in the last place of the result type, beyond which a value counts as wrong.
ULPS = {"float16": 1, "float32": 4, "float64": 4, "complex64": 64, "complex128": 64}
# log(e^a + e^b) near zero cancels: there no error relative to the result can be promised.
LOOSE = {"logaddexp": 64}
SPECIAL = {
    "f": [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, 3.5, 1e-3, 80.0, -80.0, np.inf, -np.inf, np.nan],
    "c": [0, 1, -1, 1j, -1j, 0.5 + 2j, -2 + 0.25j, 3 - 4j],
    "i": [0, 1, -1, 2, -2, 3, 7, 100, -100, 127, -128],
    "u": [0, 1, 2, 3, 7, 100, 127, 128, 255],
    "b": [False, True],
}


def sample(dtype, n, seed):
    dtype = np.dtype(dtype)
    rng = np.random.default_rng([seed, n])
    special = SPECIAL[dtype.kind]
    if dtype.kind == "f":
        x = rng.normal(size=n) * rng.choice([0.1, 1, 10], size=n)
    elif dtype.kind == "c":
        x = rng.normal(size=n) + 1j * rng.normal(size=n)
    elif dtype.kind == "b":
        x = rng.integers(0, 2, n)
    else:
        info = np.iinfo(dtype)
        x = rng.integers(max(info.min, -200), min(info.max, 200), n, endpoint=True)
    x = x.astype(dtype)
    m = min(n, len(special))
    x[:m] = np.array(special[:m]).astype(dtype)
    return x


def operands(name, dtype, n):
    arity = getattr(np, name).nin
    out = [sample(dtype, n, 1)]
    if arity == 2:
        y = sample(dtype, n, 2)
        out.append(np.roll(y, n // 3) if n else y)
    return out


def numpy_result(name, args):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return getattr(np, name)(*args), None
        except Exception as e:  # noqa: BLE001
            return None, e


def reference(name, args, result):
    """The same in wider arithmetic, rounded to the result type; exact types as NumPy gives them."""
    if result.dtype.kind not in "fc" or name in ("floor_divide", "remainder", "fmod", "nextafter"):
        return result
    wide = {"f": np.longdouble, "c": np.complex128}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return getattr(np, name)(*[a.astype(wide.get(a.dtype.kind, np.longdouble)) for a in args])


def assert_ulps(got, want, ulps, what):
    assert got.shape == want.shape
    if got.dtype.kind == "c":
        scale = np.maximum(np.abs(want.real), np.abs(want.imag))
        parts = [(got.real, want.real, scale), (got.imag, want.imag, scale)]
    else:
        parts = [(got, want, None)]
    for g, w, scale in parts:
        real = g.dtype
        with np.errstate(all="ignore"):
            exact = (g == w.astype(real)) | (np.isnan(g) & np.isnan(w))
            unit = np.spacing(np.abs(w if scale is None else scale).astype(real)).astype(np.longdouble)
            off = np.abs(g.astype(np.longdouble) - w) / unit
        bad = ~exact & ~(off <= ulps)
        assert (
            not bad.any()
        ), f"{what}: {off[bad].max()} ulps, at {np.flatnonzero(bad)[:5]}: {g[bad][:5]} for {w[bad][:5]}"


def check(name, dtype, n):
    args = operands(name, dtype, n)
    want, error = numpy_result(name, args)
    ours = [tt.asarray(a) for a in args]
    if error is not None:
        with pytest.raises(Exception) as info:
            tt.eval(getattr(tt, name)(*ours))
        base = next(c for c in type(error).__mro__ if c.__module__ == "builtins")
        assert isinstance(info.value, base), f"{info.value!r} for NumPy's {error!r}"
        return
    got = np.asarray(getattr(tt, name)(*ours))
    assert got.dtype == want.dtype
    if want.dtype.kind in "fc":
        finite = np.ones(n, bool)
        if want.dtype.kind == "c":  # special values of complex functions have tests of their own
            finite = np.isfinite(want)
        assert_ulps(
            got[finite], reference(name, args, want)[finite], LOOSE.get(name, ULPS[want.dtype.name]), f"{name} {dtype}"
        )
    else:
        np.testing.assert_array_equal(got, want)


COMPLEX = "sqrt exp log sin cos tan sinh cosh tanh arcsin arccos arctan arcsinh arccosh arctanh".split()


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("name", COMPLEX)
def test_complex_infinities_and_cuts(name, dtype):
    """Signed zeros tell the sides of the cuts; infinities and NaN go as in C99's annex G."""
    parts = [0.0, -0.0, 0.5, 1.0, -1.0, 2.0, -2.0, np.inf, -np.inf, np.nan]
    z = np.array([complex(a, b) for a in parts for b in parts], dtype)
    with np.errstate(all="ignore"):
        want = getattr(np, name)(z)
    got = np.asarray(getattr(tt, name)(tt.array(z)))
    told = ~(np.isnan(want) | np.isnan(z))  # the signs of parts beside a NaN are anybody's
    for a, b in ((got.real, want.real), (got.imag, want.imag)):
        np.testing.assert_allclose(np.abs(a), np.abs(b), rtol=1e-6 if dtype == "complex64" else 1e-14, atol=0)
        np.testing.assert_array_equal(np.signbit(a)[told], np.signbit(b)[told])


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("name", [*COMPLEX, "exp2", "expm1", "log2", "log10", "log1p", "sign", "reciprocal"])
def test_the_sign_of_a_nan_shows_in_no_zero(name, dtype):
    """Whoever made a NaN chose its sign, and processors choose another: beside one, what is no NaN hangs on no sign."""
    parts = [0.0, -0.0, 1.0, -2.0, np.inf, -np.inf] * 2  # blocks of lanes and a rest
    z = np.array([[complex(p, n) for p in parts] + [complex(n, p) for p in parts] for n in (np.nan, -np.nan)], dtype)
    assert np.signbit(z[1][np.isnan(z[1].real)].real).all()

    @tt.njit
    def compiled(x, out):
        for i in range(x.size):
            out[i] = fn(x[i])

    fn, several = getattr(np, name), getattr(tt, name)
    ways = [
        lambda row: np.asarray(several(tt.asarray(row))),
        lambda row: np.array([several(v).item() for v in tt.asarray(row)]),
    ]
    if COMPILER and name not in ("exp2", "expm1", "log1p", "sign", "reciprocal"):
        ways.append(lambda row: [out := np.empty_like(row), compiled(row, out)][0])
    for way in ways:
        one, other = way(z[0]), way(z[1])
        for a, b in ((one.real, other.real), (one.imag, other.imag)):
            np.testing.assert_array_equal(a, b)
            kept = ~np.isnan(a)
            np.testing.assert_array_equal(np.signbit(a[kept]), np.signbit(b[kept]))


def test_complex_functions_close_to_their_zeros():
    small = np.array([1e-3 + 2e-3j, -1e-9 + 1e-12j, 1e-150 - 3e-151j])
    for name in ("arcsin", "arctan", "arcsinh", "arctanh", "sinh", "tanh", "expm1"):
        np.testing.assert_allclose(np.asarray(getattr(tt, name)(tt.array(small))), getattr(np, name)(small), rtol=1e-14)
    beside = np.array([1 + 1e-9j, 1 - 1e-9j, 1 + 1e-12 + 0j, 0.6 + 0.8j, 1e-9 - 1j])
    np.testing.assert_allclose(np.asarray(tt.log(tt.array(beside))).real, np.log(beside).real, rtol=1e-6, atol=1e-17)
    huge = np.array([1e200 + 1e200j, -1e300 + 1j, 1e-3 - 1e250j])
    for name in ("arcsin", "arccos", "arctan", "arcsinh", "arccosh", "arctanh"):
        np.testing.assert_allclose(np.asarray(getattr(tt, name)(tt.array(huge))), getattr(np, name)(huge), rtol=1e-14)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int32", "float16", "float32", "float64"])
def test_spacing(dtype):
    x = np.array([0, 1, 3, 100]).astype(dtype)
    got = np.asarray(tt.spacing(tt.array(x)))
    assert got.dtype == np.spacing(x).dtype
    np.testing.assert_array_equal(got, np.spacing(x))
    signed = np.array([-2.5, -0.0, -1024], "float32")
    np.testing.assert_array_equal(np.asarray(tt.spacing(tt.array(signed))), np.spacing(signed))


def test_powers_of_complex_zero():
    exponents = [0, 1, 2, 0.5, -1, 1j, -1j, 1 + 1j, -1 + 1j, complex(np.nan, 0)]
    zero, exponent = np.meshgrid([0j, complex(-0.0, 0)], exponents)
    with np.errstate(all="ignore"):
        want = np.power(zero, exponent)
    np.testing.assert_array_equal(np.asarray(tt.power(tt.array(zero), tt.array(exponent))), want)


@pytest.mark.parametrize("dtype", NUMPY_TYPES)
@pytest.mark.parametrize("name", OPS)
def test_values(name, dtype):
    tt.set_tier(0)
    try:
        for n in SIZES:
            check(name, dtype, n)
    finally:
        tt.set_tier(2)


@pytest.mark.parametrize("a", NUMPY_TYPES)
@pytest.mark.parametrize(
    "name", ["add", "subtract", "multiply", "divide", "power", "less", "bitwise_and", "left_shift", "arctan2"]
)
def test_result_types(name, a):
    for b in NUMPY_TYPES:
        args = [np.ones(3, a), np.ones(3, b)]
        want, error = numpy_result(name, args)
        if error is not None:
            with pytest.raises(TypeError):
                getattr(tt, name)(*[tt.asarray(x) for x in args])
        else:
            got = getattr(tt, name)(*[tt.asarray(x) for x in args])
            assert str(got.dtype) == want.dtype.name, f"{name}({a}, {b})"


@pytest.mark.parametrize("name", ["add", "multiply", "maximum", "exp", "sqrt", "less"])
@pytest.mark.parametrize("dtype", ["int16", "float32", "float64", "complex128"])
def test_views(name, dtype):
    """Reversed, strided, transposed, broadcast and overlapping operands."""
    if dtype.startswith("complex") and name in ("less", "maximum"):
        pytest.skip("ordering of complex numbers is tested elementwise only")
    a = sample(dtype, 17 * 33, 3).reshape(17, 33)
    a[~np.isfinite(a)] = 1
    t = tt.asarray(a)
    views = [
        lambda x: x[::-1], lambda x: x[:, ::-2], lambda x: x[3:11, 1:-1], lambda x: x.T, lambda x: x[:, None, :5],
        lambda x: x[2], lambda x: x.reshape(33, 17), lambda x: x[::2, ::3].T,
    ]  # fmt: skip
    for v in views:
        args, ours = ([v(a)], [v(t)]) if getattr(np, name).nin == 1 else ([v(a), v(a)[::-1]], [v(t), v(t)[::-1]])
        want, _ = numpy_result(name, args)
        np.testing.assert_allclose(np.asarray(getattr(tt, name)(*ours)), want, rtol=1e-3 if dtype == "int16" else 1e-5)


@pytest.mark.parametrize("shape", [(1100,), (3, 700), (700, 3), (60, 70)])
def test_sums_behind_a_part_that_nobody_wants(shape):
    """The other part needs none: what is left of such a kernel is a map, or one point of each row."""
    x = sample("complex64", int(np.prod(shape)), 4).reshape(shape)
    x[~np.isfinite(x)] = 1
    programs = [
        lambda a: (a + a.sum().real.astype(a.dtype)).imag,
        lambda a: (a + a.sum(axis=-1, keepdims=True).real.astype(a.dtype)).imag + a.imag * 1j,
        lambda a: a.sum(axis=0).real.astype(a.dtype).imag,
        lambda a: a.sum(axis=-1).real.astype(a.dtype).imag + a.imag[..., 1],
    ]
    for f in programs:
        np.testing.assert_array_equal(np.asarray(f(tt.asarray(x))), f(x))


def test_more_elements_than_int32_counts():
    x = tt.broadcast_to(tt.asarray(np.array([3], np.uint8)), (2**31 + 5,))
    assert tt.max(x).item() == 3
    assert tt.sum(x[:: 2**20]).item() == 3 * len(range(0, 2**31 + 5, 2**20))
