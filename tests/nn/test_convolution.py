"""Convolutions, and transposed ones, beside sums over the elements of windows."""

import random

import numpy as np
import pytest
import references
import tutti as tt
from tutti.nn import functional

TOLERANCES = {"float64": 1e-12, "float32": 1e-5, "float16": 4e-3, "bfloat16": 3e-2}
TOLERANCES |= {"complex64": 1e-5, "complex128": 1e-12}


def make(shape, dtype="float64", seed=1):
    rng = np.random.default_rng(seed)
    if dtype == "int64":
        return tt.array(rng.integers(-9, 9, shape))
    values = rng.standard_normal(shape)
    if dtype.startswith("complex"):
        values = values + 1j * rng.standard_normal(shape)
    return tt.array(values).astype(dtype)


def plain(a):
    return None if a is None else (a.astype("float64") if a.dtype == "bfloat16" else a).numpy()


def check(x, w, b=None, **how):
    """One convolution in the words of conv1d, conv2d, conv3d."""
    got = getattr(functional, f"conv{w.ndim - 2}d")(x, w, b, **how)
    near(got, references.conv(plain(x), plain(w), plain(b), **how), x.dtype)


def check_transposed(x, w, b=None, **how):
    got = getattr(functional, f"conv_transpose{w.ndim - 2}d")(x, w, b, **how)
    near(got, references.conv_transpose(plain(x), plain(w), plain(b), **how), x.dtype)


def near(got, want, dtype):
    assert got.shape == want.shape and got.dtype == dtype
    if got.dtype == "int64":
        assert got.tolist() == want.tolist()
        return
    size = max(1, np.abs(want).max(initial=0))
    np.testing.assert_allclose(plain(got), want, rtol=0, atol=TOLERANCES[str(got.dtype)] * size)


def by_chance(r):
    """Shapes and parameters of a convolution that fits."""
    n, groups = r.choice([1, 2, 2, 2, 3]), r.choice([1, 1, 1, 2, 3])
    most = {1: 70, 2: 20, 3: 8}[n]
    kernel = [r.choice([1, 2, 3, 3, 5]) for _ in range(n)]
    dilation, stride, padding = ([r.choice(c) for _ in range(n)] for c in ([1, 1, 2, 3], [1, 1, 2, 3, 7], [0, 0, 1, 2]))
    space = [max(r.randint(1, most), d * (k - 1) + 1 - 2 * p) for k, d, p in zip(kernel, dilation, padding)]
    channels, outputs = r.choice([1, 1, 2, 5, 17]), r.choice([1, 2, 4, 7, 33])
    x = (r.choice([1, 2, 5]), groups * channels, *space)
    w = (groups * outputs, channels, *kernel)
    return x, w, dict(stride=stride, padding=padding, dilation=dilation, groups=groups)


@pytest.mark.parametrize("seed", range(60))
def test_shapes_by_chance(seed):
    r = random.Random(seed)
    x, w, how = by_chance(r)
    dtype = r.choice(["float32", "float32", "float64", "float16", "bfloat16", "complex64", "complex128", "int64"])
    check(make(x, dtype), make(w, dtype, 2), make(w[:1], dtype, 3) if r.random() < 0.5 else None, **how)


@pytest.mark.parametrize("seed", range(60))
def test_transposed_by_chance(seed):
    r = random.Random(seed)
    x, w, how = by_chance(r)
    outputs = r.choice([1, 2, 4, 7])
    reach = [(a - 1) * s + d * (k - 1) + 1 for a, s, d, k in zip(x[2:], how["stride"], how["dilation"], w[2:])]
    how["padding"] = [min(p, (n - 1) // 2) for p, n in zip(how["padding"], reach)]
    how["output_padding"] = [r.randrange(max(s, d)) for s, d in zip(how["stride"], how["dilation"])]
    w = (x[1], outputs, *w[2:])
    dtype = r.choice(["float32", "float64", "float16", "complex128", "int64"])
    bias = make((outputs * how["groups"],), dtype, 3) if r.random() < 0.5 else None
    check_transposed(make(x, dtype), make(w, dtype, 2), bias, **how)


@pytest.mark.parametrize("x, w, how", [
    ((0, 3, 5, 5), (2, 3, 3, 3), {}), ((2, 0, 5), (4, 0, 3), {}),
    ((1, 1, 1), (1, 1, 1), {}), ((2, 3, 4), (2, 3, 3), dict(stride=9)), ((2, 3, 0, 4), (2, 3, 2, 2), dict(padding=1)),
    ((2, 3, 3), (2, 3, 7), dict(padding=2)), ((1, 8, 300), (8, 1, 65), dict(groups=8)),
    ((1, 6, 9, 9), (12, 1, 3, 3), dict(groups=6, padding="same")), ((1, 2, 8), (2, 2, 4), dict(padding="same")),
    ((1, 2, 8, 8), (2, 2, 2, 3), dict(padding="same", dilation=2)), ((1, 2, 8), (2, 2, 4), dict(padding="valid")),
    ((1, 1, 4, 4), (1, 1, 3, 3), dict(padding=40)),
])  # fmt: skip
def test_edges(x, w, how):
    for dtype in ("float32", "float64", "complex128", "int64"):
        check(make(x, dtype), make(w, dtype, 2), **how)
        check(make(x, dtype), make(w, dtype, 2), make(w[:1], dtype, 3), **how)


@pytest.mark.parametrize("x, w, how", [
    ((3, 64, 40, 40), (70, 64, 3, 3), dict(padding=1)), ((2, 3, 96, 96), (64, 3, 7, 7), dict(stride=2, padding=3)),
    ((2, 300, 14, 14), (129, 300, 1, 1), {}), ((9, 48, 7, 7), (96, 48, 3, 3), dict(padding=1)),
    ((1, 40, 5000), (40, 40, 9), dict(padding=4)), ((1, 64, 50, 50), (64, 1, 3, 3), dict(padding=1, groups=64)),
    ((1, 17, 12, 12, 12), (33, 17, 3, 3, 3), dict(padding=1)),
])  # fmt: skip
def test_larger_than_a_block(x, w, how):
    x, w, b = make(x, "float32"), make(w, "float32", 2), make(w[:1], "float32", 3)
    check(x, w, b, **how)
    first = getattr(functional, f"conv{w.ndim - 2}d")(x, w, b, **how).numpy()
    threads = tt.get_num_threads()
    try:
        for n in (1, 3):
            tt.set_num_threads(n)
            assert (getattr(functional, f"conv{w.ndim - 2}d")(x, w, b, **how).numpy() == first).all()
    finally:
        tt.set_num_threads(threads)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "complex64"])
def test_views(dtype):
    x, w = make((8, 6, 12, 10), dtype), make((4, 6, 6, 6), dtype, 2)
    check(x[::-2, :, ::-1, 1::2], w[:, ::-1, ::2, ::-2])
    check(x.transpose(3, 1, 0, 2), w[..., :3, :3])
    check(tt.broadcast_to(x[:1, :1], (3, 6, 12, 10)), tt.broadcast_to(w[:1, :, :1, :1], (5, 6, 3, 3)))
    windows = tt.lib.stride_tricks.sliding_window_view(x[0, 0], (5, 4))
    check(windows[:, :6], w[..., :3, :3])


def test_one_image_alone():
    x, w, b = make((3, 6, 7)), make((4, 3, 2, 3), seed=2), make((4,), seed=3)
    got = functional.conv2d(x, w, b, padding=1)
    np.testing.assert_array_equal(got.numpy(), functional.conv2d(x[None], w, b, padding=1)[0].numpy())
    back = functional.conv_transpose2d(got, w, stride=2)
    np.testing.assert_array_equal(back.numpy(), functional.conv_transpose2d(got[None], w, stride=2)[0].numpy())


@pytest.mark.parametrize("types, words", [
    (("int64", "float32", None), r"Input type \(int64\) and weight type \(float32\) should be the same"),
    (("float32", "float64", None), r"Input type \(float32\) and weight type \(float64\) should be the same"),
    (("float32", "float32", "float64"), r"Input type \(float32\) and bias type \(float64\) should be the same"),
    (("float16", "float32", "float32"), r"Input type \(float16\) and bias type \(float32\) should be the same"),
])  # fmt: skip
def test_types_must_be_the_same(types, words):
    x, w = make((1, 2, 5), types[0]), make((2, 2, 2), types[1])
    b = make((2,), types[2]) if types[2] else None
    for f in functional.conv1d, functional.conv_transpose1d:
        with pytest.raises(TypeError, match=words):
            f(x, w, b)


def test_beside_the_series_function():
    x, w = make((50,)), make((7,), seed=2)
    got = functional.conv1d(x[None, None], w[None, None, ::-1], padding=6)[0, 0]
    np.testing.assert_allclose(got.numpy(), np.convolve(x.numpy(), w.numpy()), atol=1e-12)


@pytest.mark.parametrize("call, words", [
    (lambda x, w: functional.conv2d(x[0, 0], w),
     r"Expected 3D \(unbatched\) or 4D \(batched\) input to conv2d, but got input of size: \[5, 6\]"),
    (lambda x, w: functional.conv2d(x, w[0]), r"Expected 4-dimensional weight for conv2d, but got weight of size: \["),
    (lambda x, w: functional.conv2d(x[:, :3], w),
     r"Given groups=1, weight of size \[6, 4, 3, 3\], expected input\[2, 3, 5, 6\] to have 4 channels, but got 3 "
     "channels instead"),
    (lambda x, w: functional.conv2d(x, w, groups=4), "expected weight to be divisible by 4 at dimension 0"),
    (lambda x, w: functional.conv2d(x, w, groups=7), "expected weight to be at least 7 at dimension 0"),
    (lambda x, w: functional.conv2d(x, w[:0]), "expected weight to be at least 1 at dimension 0"),
    (lambda x, w: functional.conv2d(x, w, groups=0), "non-positive groups is not supported"),
    (lambda x, w: functional.conv2d(x, w, x[0, 0]),
     r"Given weight of size \[6, 4, 3, 3\], expected bias to be 1-dimensional with 6 elements, but got bias of size"),
    (lambda x, w: functional.conv2d(x, w, x[0, 0, 0, :5]), "expected bias to be 1-dimensional with 6 elements"),
    (lambda x, w: functional.conv2d(x[..., :2], w),
     r"Calculated padded input size per channel: \(5 x 2\). Kernel size: \(3 x 3\). Kernel size can't be greater than "
     "actual input size"),
    (lambda x, w: functional.conv2d(x, w, stride=0), "non-positive stride is not supported"),
    (lambda x, w: functional.conv2d(x, w, stride=(1, 2, 3)),
     r"expected stride to be a single integer value or a list of 2 values to match the convolution dimensions, but got "
     r"stride=\[1, 2, 3\]"),
    (lambda x, w: functional.conv2d(x, w, padding=-1), "negative padding is not supported"),
    (lambda x, w: functional.conv2d(x, w, padding="full"),
     "Invalid padding string: 'full', should be one of {'valid', 'same'}"),
    (lambda x, w: functional.conv2d(x, w, padding="same", stride=2),
     "padding='same' is not supported for strided convolutions"),
    (lambda x, w: functional.conv2d(x, w, dilation=0), "dilation should be greater than zero"),
    (lambda x, w: functional.conv_transpose2d(x, w),
     r"Given transposed=1, weight of size \[6, 4, 3, 3\], expected input\[2, 4, 5, 6\] to have 6 channels, but got 4 "
     "channels instead"),
    (lambda x, w: functional.conv_transpose2d(x, w[:4], output_padding=1),
     "output padding must be smaller than either stride or dilation"),
    (lambda x, w: functional.conv_transpose2d(x, w[:4], padding=9), "Output size is too small"),
])  # fmt: skip
def test_what_is_wrong_is_said(call, words):
    with pytest.raises(ValueError, match=words):
        call(make((2, 4, 5, 6)), make((6, 4, 3, 3)))


def test_padding_is_checked_before_lengths_overflow():
    with pytest.raises((ValueError, OverflowError)):
        functional.conv1d(make((1, 1, 5)), make((1, 1, 2)), padding=2**31 - 1)
    with pytest.raises(OverflowError):
        functional.conv1d(make((1, 1, 5)), make((1, 1, 2)), stride=2**40)
