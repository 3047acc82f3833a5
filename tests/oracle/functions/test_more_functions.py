"""Bits, special functions, parts of numbers, strides and histograms against NumPy's."""

import itertools

import numpy as np
import pytest
import tutti as tt

RNG = np.random.default_rng(11)
TYPES = ["bool", "int8", "uint8", "int16", "int64", "uint64", "float16", "float32", "float64"]


def agree(got, want, rtol=0.0):
    if isinstance(want, (tuple, list)):
        assert type(got) is type(want) and len(got) == len(want)
        for g, w in zip(got, want, strict=True):
            agree(g, w, rtol)
        return
    want = np.asarray(want)
    got = tt.asarray(got)
    assert got.shape == want.shape and str(got.dtype) == str(want.dtype)
    np.testing.assert_allclose(got.numpy(), want, rtol=rtol, atol=0)


def same(name, *args, rtol=0.0, **more):
    """The same call of both; an error's type and words."""
    ours, theirs = tt, np
    for part in name.split("."):
        ours, theirs = getattr(ours, part), getattr(theirs, part)
    convert = [tt.asarray(a) if isinstance(a, np.ndarray) else a for a in args]
    try:
        with np.errstate(all="ignore"):
            want = theirs(*args, **more)
    except Exception as e:
        with pytest.raises(type(e)) as raised:
            ours(*convert, **more)
        assert str(raised.value) == str(e), name
        return
    agree(ours(*convert, **more), want, rtol)


@pytest.mark.parametrize("shape", [(0,), (1,), (7,), (8,), (9,), (3, 17), (2, 0), (2, 3, 8), (65,)])
@pytest.mark.parametrize("order", ["big", "little"])
def test_bits(shape, order):
    for dtype in TYPES[:6]:
        a = RNG.integers(0, 2, shape).astype(dtype) * 3
        for axis in (None, 0, -1):
            same("packbits", a, axis, order)
    bits = RNG.integers(0, 256, shape).astype("u1")
    for axis, count in itertools.product((None, 0, -1), (None, 0, 3, 8, 21, -2, -5)):
        n = (bits.size if axis is None else bits.shape[axis]) * 8
        if count is None or -count <= n and (bits.size or count <= 0):  # of nothing, NumPy's padding is not zero
            same("unpackbits", bits, axis, count, order)
    same("packbits", bits[::-1][..., ::2])


def test_bits_are_checked():
    same("packbits", np.ones(3))
    same("unpackbits", np.ones(3, "i8"))
    same("packbits", np.ones(3, bool), bitorder="middle")
    same("packbits", np.ones(3, bool), 1)


def test_bessel_and_kaiser():
    for dtype in ("float64", "float32", "int64"):
        x = np.concatenate([np.linspace(-30, 30, 121), [0, 8, 8.001, 100, 700]]).astype(dtype)
        same("i0", x, rtol=2e-6 if dtype == "float32" else 1e-13)
    same("i0", np.array([1j]))
    for m, beta in itertools.product([0, 1, 2, 5, 12, 51, -3], [0.0, 5, 8.6, 14.0]):
        same("kaiser", m, beta, rtol=1e-12)


@pytest.mark.parametrize("dtype", TYPES)
def test_frexp(dtype):
    if dtype[0] == "f":
        size = np.dtype(dtype).itemsize
        x = RNG.integers(0, 2 ** (8 * size), 500, dtype=f"u{size}", endpoint=False).view(dtype)
        x = np.concatenate(
            [x, np.array([0, -0.0, 1, 0.5, 2, np.inf, -np.inf, 3e-40, 1e-7, 0.99999999, 1024]).astype(dtype)]
        )
    else:
        x = RNG.integers(0, 2 if dtype == "bool" else 127, 50).astype(dtype)
    agree(tt.frexp(tt.asarray(x)), np.frexp(x))


def test_powers_of_two():
    x = np.ldexp(1.0, np.arange(-1074, 1024))
    for near in (x, np.nextafter(x, 0), np.nextafter(x, np.inf)):
        agree(tt.frexp(tt.asarray(near)), np.frexp(near))
    same("frexp", np.array([1j]))


def test_real_if_close():
    for im, tol in itertools.product([0, 1e-14, 1e-13, 1e-6, 1], [100, 1000, 0.5]):
        for dtype in ("complex128", "complex64"):
            same("real_if_close", np.array([2.1 + 1j * im, 3]).astype(dtype), tol)
    same("real_if_close", np.arange(3))


def test_windows():
    x = np.arange(24).reshape(2, 3, 4)
    for window, axis in (((1, 2, 2), None), (2, 0), ((2, 3), (1, 2)), ((2, 2), (2, 2)), (4, -1), ((1, 1, 1), None)):
        same("lib.stride_tricks.sliding_window_view", x, window, axis)
        same("lib.stride_tricks.sliding_window_view", x[:, ::-1, 1:], window, axis)
    for window, axis in ((5, 2), ((1, 2), None), ((1, -1), (0, 1)), (1, 7), ((1, 1), 0)):
        same("lib.stride_tricks.sliding_window_view", x, window, axis)
    a = tt.arange(5)
    v = tt.lib.stride_tricks.sliding_window_view(a, 2)
    assert not v.flags.writeable and tt.shares_memory(v, a)
    a[1] = 9
    assert v.tolist() == [[0, 9], [9, 2], [2, 3], [3, 4]]


def test_strides():
    x = np.arange(12.0)
    for shape, strides in (
        ((3, 4), (32, 8)),
        ((9, 4), (8, 8)),
        ((5,), (0,)),
        ((0, 3), (8, 8)),
        (None, None),
        ((6,), None),
    ):
        same("lib.stride_tricks.as_strided", x, shape, strides)
    a = tt.arange(12.0)
    back = tt.lib.stride_tricks.as_strided(a[::-1], (6, 2), (-16, -8))
    agree(back, np.lib.stride_tricks.as_strided(x[::-1], (6, 2), (-16, -8)))
    v = tt.lib.stride_tricks.as_strided(a, (3, 4), (32, 8))
    v[1] = -1
    assert a[4:8].tolist() == [-1] * 4
    for shape, strides in (((13,), (8,)), ((2,), (-8,)), ((2,), (4,)), ((3,), (8, 8)), ((2**40, 2**40), (8, 2**40))):
        with pytest.raises(ValueError):
            tt.lib.stride_tricks.as_strided(a, shape, strides)
    wide = tt.lib.stride_tricks.as_strided(a, (2**20, 2**20), (0, 0), writeable=False)
    assert wide[5, 7] == 0 and not wide.flags.writeable


@pytest.mark.parametrize("n", [1, 2, 3])
def test_histograms(n):
    x = RNG.standard_normal((200, n))
    edges = [np.linspace(-2, 2, k + 3) for k in range(n)]
    w = RNG.uniform(0, 1, 200)
    for more in (
        {},
        {"bins": 4},
        {"bins": [3, 4, 5][:n]},
        {"bins": edges},
        {"density": True},
        {"weights": w, "density": True},
        {"range": [(-1, 1)] * n},
        {"range": [None] * n},
        {"bins": 0},
        {"bins": [2] * (n + 1)},
        {"range": [(0, 1)] * (n + 1)},
        {"bins": [np.array([1.0, 0.0])] * n},
        {"bins": [np.ones((2, 2))] * n},
        {"weights": w},
    ):
        same("histogramdd", x, rtol=1e-12, **more)
    want = np.histogramdd(list(x.T), bins=3)
    agree(tt.histogramdd([tt.asarray(c) for c in x.T], bins=3), (want[0], list(want[1])))
    same("histogramdd", x[:0], bins=2)
    same("histogramdd", np.arange(10), bins=3)


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128", "int64"])
def test_division_of_polynomials(dtype):
    for _ in range(30):
        u, v = (RNG.integers(-4, 5, RNG.integers(1, 7)).astype(dtype) for _ in "uv")
        if v[0] == 0:
            v[0] = 1
        (q, r), (gq, gr) = np.polydiv(u, v), tt.polydiv(tt.asarray(u), tt.asarray(v))
        agree(gq, q, 1e-4 if dtype == "float32" else 1e-9)
        assert str(gr.dtype) == str(r.dtype)
        if dtype == "float32":  # rounding in NumPy leaves more of it
            assert abs(tt.polysub(tt.polyadd(tt.polymul(gq, v), gr), u)).max() < 1e-2 * max(1, np.abs(q).max())
            continue
        assert gr.shape == r.shape
        np.testing.assert_allclose(gr.numpy(), r, atol=1e-7)
