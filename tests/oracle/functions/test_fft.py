"""tutti.fft against numpy.fft in double precision, and against the definition in long double."""

import itertools
import warnings

import numpy as np
import pytest
import tutti as tt

ALL = ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"]
GRIDS = ["fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn", "irfftn"]
# Every radix, products of them, primes beyond them, and lengths that are split.
LENGTHS = [*range(1, 34), 37, 48, 49, 61, 64, 67, 81, 97, 101, 121, 127, 128, 131, 143, 169, 200, 211, 243, 256, 331]
LONG = [509, 512, 625, 1000, 1009, 1155, 2048, 2187, 4096, 4099, 5000, 6006, 8192, 16384, 20000, 32768, 65537, 3**10]


def make(shape, dtype="complex128", seed=0):
    rng = np.random.default_rng(seed)
    if dtype.startswith("complex"):
        return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(dtype)
    if dtype.startswith("float"):
        return rng.standard_normal(shape).astype(dtype)
    return rng.integers(0, 2 if dtype == "bool" else 100, shape).astype(dtype)


def wide(a):
    return a.astype("complex128" if a.dtype.kind == "c" else "float64")


def check(got, want, dtype, n):
    """The error, against the size of the whole result, is a few units in the last place for each doubling."""
    want = np.asarray(want)
    assert tuple(got.shape) == want.shape
    assert str(got.dtype) == str(dtype)
    if want.size == 0:
        return
    eps = {"complex64": 2.0**-23, "float32": 2.0**-23, "float16": 2.0**-8}.get(str(dtype), 2.0**-52)
    size = np.sqrt((np.abs(wide(want)) ** 2).mean())
    assert np.abs(got.numpy() - want).max() <= 3 * eps * size * max(1.0, np.log2(n)) + 1e-300


def both(name, a, *args, **keywords):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        like = getattr(np.fft, name)(a, *args, **keywords)
        want = getattr(np.fft, name)(wide(a), *args, **keywords)
    check(getattr(tt.fft, name)(tt.asarray(a), *args, **keywords), want, like.dtype, max(2, want.size, a.size))


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 7, 8, 9, 11, 13, 16, 17, 30, 64, 101, 128, 131, 210, 512])
def test_definition(n):
    """Against sums in long double: what an error of NumPy's own would hide."""
    x = make(n)
    k = np.arange(n, dtype=np.longdouble)
    angle = 8 * np.arctan(np.longdouble(1)) * ((k[:, None] * k) % n) / n
    want = ((np.cos(angle) - 1j * np.sin(angle)) @ x.astype(np.clongdouble)).astype("complex128")
    check(tt.fft.fft(tt.asarray(x)), want, "complex128", n)
    check(tt.fft.ifft(tt.asarray(want)), x, "complex128", n)
    check(tt.fft.fft(tt.asarray(x.astype("complex64"))), want, "complex64", 4 * n)


@pytest.mark.parametrize("dtype", ["complex128", "complex64", "float64", "float32"])
@pytest.mark.parametrize("n", LENGTHS)
def test_lengths(n, dtype):
    for shape, axis in [((n,), 0), ((3, n), -1), ((40, n), -1), ((n, 3), 0), ((2, n, 21), 1)]:
        x = make(shape, dtype)
        for name in ALL if dtype.startswith("float") else ["fft", "ifft"]:
            if name not in ("irfft", "hfft"):
                both(name, x, axis=axis)
        both("irfft", x, 2 * n - 2 + (n == 1) + n % 2, axis=axis)


@pytest.mark.parametrize("dtype", ["complex128", "complex64", "float32"])
@pytest.mark.parametrize("n", LONG)
def test_long(n, dtype):
    for shape, axis in [((n,), 0), ((5, n), 1), ((n, 5), 0)]:
        x = make(shape, dtype)
        both("ifft", x, axis=axis)
        both("fft", x, axis=axis)
    both("irfft", x[:, 0], n)


def test_rows_too_long_for_vectors():
    x = make(9 * 2**17, "complex64")  # 1024 or more columns, each row split again
    both("fft", x)
    both("ifft", x)
    x = make((20, 4099), "complex64").T.copy()  # columns too long for vectors
    both("fft", x, axis=0)


@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "uint16", "float16", "float32", "complex64"])
@pytest.mark.parametrize("name", ALL)
def test_dtypes(name, dtype):
    if dtype.startswith("complex") and name in ("rfft", "ihfft"):
        return
    both(name, make((4, 6), dtype))


@pytest.mark.parametrize("norm", [None, "backward", "ortho", "forward"])
@pytest.mark.parametrize("name", ALL)
def test_norm_and_points(name, norm):
    x = make((6, 5), "float64")
    for n, axis in itertools.product([None, 1, 2, 3, 5, 6, 9, 14], [0, 1, -1]):
        both(name, x, n, axis, norm)
    both(name, x[::-1, ::2], norm=norm)
    both(name, x.T, norm=norm)


@pytest.mark.parametrize("norm", [None, "ortho", "forward"])
@pytest.mark.parametrize("name", GRIDS)
def test_grids(name, norm):
    for shape in [(4, 6), (3, 5, 8), (2, 3, 4, 5), (2, 3), (17, 33)]:
        x = make(shape, "float64")
        z = make(shape)
        last = {"norm": norm}
        both(name, x, **last)
        if not name.startswith("rfft"):
            both(name, z, **last)
        for s, axes in [
            ((4, 4), (0, 1)),
            ((3, -1), (1, 0)),
            ((7, 2), (-1, 0)),
            (None, (1,)),
            ((5,), (0,)),
            (None, (1, 0)),
        ]:
            both(name, x, s, axes, **last)
        both(name, x, (3, 4), (-1, -1), **last)  # one axis twice
        both(name, x, (3, 4), None, **last)
        both(name, x, (3, None), (0, 1), **last)


def test_empty_and_scalar():
    for name in ["fft", "ifft", "rfft"]:
        both(name, np.zeros((0, 4)))
        both(name, np.zeros((4, 0, 3)), axis=0)
    assert tt.fft.fftn(tt.asarray(3.0)).item() == 3.0
    assert tt.fft.fft([1, 2, 3]).shape == (3,)


def test_out():
    x = make((3, 4))
    out = tt.empty((3, 4), dtype="complex128")
    assert tt.fft.fft(tt.asarray(x), out=out) is out
    np.testing.assert_allclose(out.numpy(), np.fft.fft(x))
    tt.fft.ifft(out, out=out)
    np.testing.assert_allclose(out.numpy(), x, atol=1e-15)
    half = tt.empty((3, 3), dtype="complex64")
    tt.fft.rfft(tt.asarray(x.real), out=half)
    np.testing.assert_allclose(half.numpy(), np.fft.rfft(x.real), rtol=1e-5, atol=1e-6)


def test_lazy_and_aliased():
    """A transform is recorded, and later writes to its operand do not reach it."""
    x = make((8, 16))
    a = tt.asarray(x.copy())
    b = tt.fft.fft(a * 2) + 1
    a[...] = 0
    np.testing.assert_allclose(b.numpy(), np.fft.fft(x * 2) + 1, atol=1e-12)
    c = tt.asarray(x)
    np.testing.assert_allclose(tt.fft.ifft(tt.fft.fft(c[:, ::2])).numpy(), x[:, ::2], atol=1e-14)


def test_rows_keep_to_themselves():
    """NaN, infinity and great size in one row leave the others alone: on the host, cuFFT promises no such thing."""
    for n in [8, 9, 64, 131, 1000]:
        x = make((20, n), "float64")
        want = {name: getattr(tt.fft, name)(tt.asarray(x, device="cpu")).numpy() for name in ["fft", "rfft", "irfft"]}
        x[3], x[4], x[7] = np.nan, np.inf, 1e300
        for name, w in want.items():
            got = getattr(tt.fft, name)(tt.asarray(x, device="cpu")).numpy()
            keep = [i for i in range(20) if i not in (3, 4, 7)]
            np.testing.assert_array_equal(got[keep], w[keep])
            assert np.isnan(got[3]).all()


def test_threads_change_nothing():
    x = tt.asarray(make((3, 1 << 15), "complex64"))
    was = tt.get_num_threads()
    try:
        results = []
        for k in (1, 2, 3):
            tt.set_num_threads(k)
            results.append(tt.fft.fft(x).numpy())
    finally:
        tt.set_num_threads(was)
    assert (results[0] == results[1]).all() and (results[0] == results[2]).all()


GPUS = [d for d in map(str, tt.devices()) if d.startswith(("cuda", "null"))]


@pytest.mark.skipif(not GPUS, reason="no device but the CPU")
@pytest.mark.parametrize("dtype", ["complex64", "complex128", "float32", "float64"])
@pytest.mark.parametrize("shape", [(1,), (12,), (1000003,), (65536,), (200, 1024), (64, 96), (9, 31, 20), (3, 4, 5, 6)])
def test_devices(shape, dtype):
    x = make(shape, dtype)
    a = tt.asarray(x, device=GPUS[0])
    calls = [("fft", {"axis": k}) for k in range(len(shape))] + [
        ("ifft", {}),
        ("fftn", {}),
        ("ifftn", {"norm": "ortho"}),
    ]
    if dtype.startswith("float"):
        calls += [("rfft", {"axis": 0}), ("rfft", {"norm": "forward"}), ("rfftn", {}), ("fft", {"n": 50})]
    calls += [
        ("irfft", {"n": 2 * shape[-1] - 1}),
        ("irfft", {"n": 2 * shape[-1]}),
        ("hfft", {"n": shape[-1], "axis": -1}),
    ]
    for name, keywords in calls:
        got = getattr(tt.fft, name)(a, **keywords)
        assert str(got.device) == GPUS[0]
        want = getattr(np.fft, name)(wide(x), **keywords)
        check(got, want, getattr(np.fft, name)(x, **keywords).dtype, max(2, want.size))


@pytest.mark.parametrize("n", [1, 2, 5, 8, 101])
def test_frequencies_and_shifts(n):
    for name, d in itertools.product(["fftfreq", "rfftfreq"], [1.0, 0.1, 3]):
        got, want = getattr(tt.fft, name)(n, d), getattr(np.fft, name)(n, d)
        assert str(got.dtype) == str(want.dtype)
        np.testing.assert_array_equal(got.numpy(), want)
    x = make((n, 4, 3), "int64")
    for name, axes in itertools.product(["fftshift", "ifftshift"], [None, 0, -1, (0, 2), (1,), ()]):
        np.testing.assert_array_equal(
            getattr(tt.fft, name)(tt.asarray(x), axes).numpy(), getattr(np.fft, name)(x, axes)
        )


@pytest.mark.parametrize(
    "call",
    [
        lambda m: m.fft.fft(m.ones(0)),
        lambda m: m.fft.fft(m.ones(3), 0),
        lambda m: m.fft.rfft(m.ones(3), -1),
        lambda m: m.fft.irfft(m.ones(1)),
        lambda m: m.fft.fft(m.ones(3), norm="x"),
        lambda m: m.fft.ifft(m.ones(3), norm="x"),
        lambda m: m.fft.hfft(m.ones(3), norm="x"),
        lambda m: m.fft.fft(m.ones(3), axis=1),
        lambda m: m.fft.fft(m.ones(3), 3, axis=-2),
        lambda m: m.fft.fft(m.asarray(1.0)),
        lambda m: m.fft.rfft(m.ones(4) * 1j),
        lambda m: m.fft.rfft(m.ones(5) * 1j),
        lambda m: m.fft.fft2(m.ones(3)),
        lambda m: m.fft.irfft2(m.ones(3)),
        lambda m: m.fft.fftn(m.ones((2, 2)), s=(1,), axes=(0, 1)),
        lambda m: m.fft.fftn(m.ones((2, 2)), s=3, axes=(0,)),
        lambda m: m.fft.fftn(m.ones((2, 2)), axes=(0, 5)),
        lambda m: m.fft.irfftn(m.ones((2, 2)), s=(2, 0), axes=(0, 1)),
        lambda m: m.fft.rfftn(m.asarray(1.0)),
        lambda m: m.fft.fft(m.ones(2), out=m.ones(3)),
        lambda m: m.fft.fft(m.ones(2), 2.5),
        lambda m: m.fft.fftshift(m.ones(3), axes=2),
        lambda m: m.fft.fftfreq(0),
        lambda m: m.fft.rfftfreq(0),
        lambda m: m.fft.fftfreq(2.5),
        lambda m: m.fft.fftfreq(-3),
    ],
)
def test_errors(call):
    with pytest.raises(Exception) as want, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        call(np)
    with pytest.raises(Exception) as got:
        tt.eval(call(tt))
    ours, theirs = (str(e.value).replace(" ", "") for e in (got, want))  # NumPy 2.5 lost one
    assert ours == theirs
    assert issubclass(type(want.value), tuple(t for t in type(got.value).__mro__ if t.__module__ == "builtins")[:1])
