"""The largest and the mean of windows, window by window."""

import random

import numpy as np
import pytest
import references
import tutti as tt
from tutti.nn import functional


def by_chance(r):
    n = r.choice([1, 2, 2, 3])
    kernel = [r.choice([1, 2, 2, 3, 5]) for _ in range(n)]
    padding = [r.choice([0, k // 2]) for k in kernel]
    stride = r.choice([None, [r.choice([1, 2, 3]) for _ in range(n)], 2])
    space = [k + r.randint(0, 7) for k in kernel]
    dtype = r.choice(["float64", "float32", "float16"])
    x = np.random.default_rng(r.randint(0, 99)).standard_normal((r.choice([1, 2]), r.choice([1, 3]), *space))
    return n, x.astype(dtype), dict(kernel_size=kernel, stride=stride, padding=padding, ceil_mode=r.random() < 0.4)


def near(got, want, dtype):
    assert got.shape == want.shape and got.dtype == dtype
    np.testing.assert_allclose(
        got.numpy(), want, rtol=0, atol={"float64": 1e-13, "float32": 1e-6, "float16": 2e-3}[dtype]
    )


@pytest.mark.parametrize("seed", range(40))
def test_largest_by_chance(seed):
    r = random.Random(seed)
    n, x, how = by_chance(r)
    dilation = 2 if r.random() < 0.2 and all(2 * k - 1 <= s for k, s in zip(how["kernel_size"], x.shape[2:])) else 1
    got = getattr(functional, f"max_pool{n}d")(tt.array(x), dilation=dilation, **how)
    want = references.pool(x, how["kernel_size"], how["stride"], how["padding"], dilation, how["ceil_mode"])
    near(got, want, str(x.dtype))


def scanned(x, out, kernel_size, stride, padding, dilation):
    """Where a scan of each window finds the largest element, or the last NaN."""
    n, want = x.ndim - 2, np.zeros(out, "int64")
    kernel, by, before, apart = (references.each(v, n) for v in (kernel_size, stride or kernel_size, padding, dilation))
    for at in np.ndindex(*out):
        most = -np.inf
        want[at] = -1
        for tap in np.ndindex(*kernel):
            place = tuple(at[2 + d] * by[d] - before[d] + tap[d] * apart[d] for d in range(n))
            if not all(0 <= u < size for u, size in zip(place, x.shape[2:])):
                continue
            value = x[(*at[:2], *place)]
            if want[at] < 0 or value > most or np.isnan(value):
                most, want[at] = value, np.ravel_multi_index(place, x.shape[2:])
    return want


@pytest.mark.parametrize("seed", range(40))
def test_places_of_the_largest(seed):
    r = random.Random(seed)
    n, x, how = by_chance(r)
    x = np.round(x)  # ties
    if r.random() < 0.5:
        x[np.random.default_rng(seed).random(x.shape) < 0.2] = r.choice([np.nan, -np.inf])
    dilation = 2 if r.random() < 0.2 and all(2 * k - 1 <= s for k, s in zip(how["kernel_size"], x.shape[2:])) else 1
    f = getattr(functional, f"max_pool{n}d")
    got, places = f(tt.array(x), dilation=dilation, return_indices=True, **how)
    del how["ceil_mode"]
    assert places.dtype == "int64"
    np.testing.assert_array_equal(places.numpy(), scanned(x, got.shape, dilation=dilation, **how))
    flat = x.reshape(*x.shape[:2], -1)
    taken = np.take_along_axis(flat, places.numpy().reshape(*x.shape[:2], -1), -1).reshape(got.shape)
    np.testing.assert_array_equal(got.numpy(), taken)


def test_places_leave_gradients_as_they_are():
    x = np.random.default_rng(1).standard_normal((2, 3, 6, 7))
    one, two = tt.array(x).requires_grad_(), tt.array(x).requires_grad_()
    functional.max_pool2d(one, 3, return_indices=True)[0].sum().backward()
    functional.max_pool2d(two, 3).sum().backward()
    assert (one.grad.numpy() == two.grad.numpy()).all()
    out, places = tt.nn.MaxPool2d(3, return_indices=True)(two)
    assert out.shape == places.shape == (2, 3, 2, 2) and not places.requires_grad


@pytest.mark.parametrize("seed", range(40))
def test_mean_by_chance(seed):
    r = random.Random(seed)
    n, x, how = by_chance(r)
    counts, divisor = r.random() < 0.5, r.choice([None, None, 3])
    f = getattr(functional, f"avg_pool{n}d")
    got = f(tt.array(x), count_include_pad=counts, divisor_override=divisor, **how)
    want = references.pool(
        x, how["kernel_size"], how["stride"], how["padding"], 1, how["ceil_mode"], True, counts, divisor
    )
    near(got, want, str(x.dtype))


def test_long_windows():
    x = np.random.default_rng(1).standard_normal((2, 3, 200))
    near(functional.max_pool1d(tt.array(x), 50, 7), references.pool(x, 50, 7), "float64")
    near(functional.avg_pool1d(tt.array(x), 200), x.mean(axis=2, keepdims=True), "float64")


def test_one_image_alone():
    x = tt.array(np.random.default_rng(1).standard_normal((3, 6, 7)))
    for f in (functional.max_pool2d, functional.avg_pool2d):
        assert (f(x, 3, 2, 1).numpy() == f(x[None], 3, 2, 1)[0].numpy()).all()


@pytest.mark.parametrize("call, kind, words", [
    (lambda x: functional.max_pool2d(x[0, 0], 2), ValueError, "Expected 3D or 4D input, but got input of size: "),
    (lambda x: functional.max_pool2d(x, 2, padding=2), ValueError, "pad should be at most half of effective kernel"),
    (lambda x: functional.max_pool2d(x, 9), ValueError, "Output size is too small"),
    (lambda x: functional.max_pool2d(x, 2, stride=0), ValueError, "stride should not be zero"),
    (lambda x: functional.avg_pool2d(x, 0), ValueError, "kernel size should be greater than zero"),
    (lambda x: functional.avg_pool2d(x, (1, 2, 3)), ValueError, "expected kernel_size to be a single integer value or"),
    (lambda x: functional.avg_pool2d(x, 2, divisor_override=0), ValueError, "divisor must be not zero"),
    (lambda x: functional.avg_pool2d(x.astype(int), 2), TypeError, "avg_pool2d: not implemented for int64"),
])  # fmt: skip
def test_what_is_wrong_is_said(call, kind, words):
    with pytest.raises(kind, match=words):
        call(tt.ones((2, 3, 5, 6)))
