"""Gradients of the functions of networks, first and second."""

import numpy as np
import pytest
import tutti as tt
from differences import backward, check, check_second
from tutti.nn import functional


def make(*shape, seed=3, kind="f"):
    rng = np.random.default_rng(seed)
    a = rng.standard_normal(shape)
    return a + 1j * rng.standard_normal(shape) if kind == "c" else a


CONVOLUTIONS = [
    ((2, 3, 6), (4, 3, 3), {}),
    ((2, 4, 7), (6, 2, 3), dict(stride=2, padding=1, groups=2)),
    ((1, 2, 9), (3, 2, 2), dict(stride=3, dilation=2)),
    ((2, 2, 5), (2, 2, 2), dict(stride=4)),
    ((1, 1, 1), (1, 1, 1), {}),
    ((2, 3, 5, 4), (2, 3, 3, 2), dict(padding=(1, 0))),
    ((1, 4, 5, 6), (4, 1, 3, 3), dict(groups=4, padding="same")),
    ((1, 2, 6, 6), (8, 1, 2, 2), dict(groups=2, stride=2, dilation=3)),
    ((2, 5, 3, 3), (5, 5, 1, 1), {}),
    ((1, 2, 4, 3, 3), (3, 2, 2, 2, 2), dict(stride=(2, 1, 1), padding=1)),
    ((3, 4, 4), (2, 3, 2, 2), {}),
]
TRANSPOSED = [
    ((2, 3, 4), (3, 2, 3), {}),
    ((1, 4, 3), (4, 2, 3), dict(stride=2, padding=1, output_padding=1, groups=2)),
    ((1, 2, 3), (2, 3, 2), dict(stride=3, dilation=2)),
    ((1, 2, 3, 3), (2, 2, 2, 3), dict(stride=(1, 2), padding=(0, 1))),
    ((1, 2, 2, 2, 2), (2, 1, 2, 2, 1), dict(stride=2)),
]
CALLS = [(f"conv{len(w) - 2}d", x, w, w[0], how) for x, w, how in CONVOLUTIONS]
CALLS += [(f"conv_transpose{len(w) - 2}d", x, w, w[1] * how.get("groups", 1), how) for x, w, how in TRANSPOSED]


@pytest.mark.parametrize("name, x, w, outputs, how", CALLS)
def test_convolutions(name, x, w, outputs, how):
    f = getattr(functional, name)
    x, w, b = make(*x), make(*w, seed=4), make(outputs, seed=5)
    check(lambda *a: f(*a, **how), x, w)
    check(lambda *a: f(*a, **how), x, w, b)
    check_second(lambda *a: f(*a, **how) ** 2, x, w, b)


@pytest.mark.parametrize("name, x, w, outputs, how", CALLS[:6:5] + CALLS[-4:-3])
def test_complex_convolutions(name, x, w, outputs, how):
    f = getattr(functional, name)
    check(lambda *a: f(*a, **how), make(*x, kind="c"), make(*w, seed=4, kind="c"), make(outputs, seed=5, kind="c"))


def test_only_what_is_asked():
    x, w = tt.array(make(2, 3, 5, 5)), tt.array(make(4, 3, 3, 3, seed=4))
    w.requires_grad = True
    functional.conv2d(x, w).sum().backward()
    assert x.grad is None
    np.testing.assert_allclose(
        w.grad.numpy(), [[[[x.numpy()[:, c, i : i + 3, j : j + 3].sum() for j in range(3)] for i in range(3)]
                          for c in range(3)]] * 4
    )  # fmt: skip


@pytest.mark.parametrize("x, w", [((0, 2, 4), (3, 2, 2)), ((2, 0, 4), (3, 0, 2))])
def test_nothing_to_convolve(x, w):
    for g, a in zip(backward(functional.conv1d, make(*x), make(*w)), (x, w)):
        assert g.shape == a and not g.any()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_types_of_gradients(dtype):
    x, w = (tt.array(make(*shape)).astype(dtype).detach().requires_grad_() for shape in ((2, 3, 8, 8), (4, 3, 3, 3)))
    functional.conv2d(x, w, padding=1).sum().backward()
    assert x.grad.dtype == w.grad.dtype == dtype
    wide = [a.detach().astype("float64").requires_grad_() for a in (x, w)]
    functional.conv2d(*wide, padding=1).sum().backward()
    for a, b in zip((x, w), wide):
        np.testing.assert_allclose(a.grad.astype("float64").numpy(), b.grad.numpy(), rtol=2e-2, atol=0.1)


def test_a_shared_and_a_strided_input():
    x, w = make(3, 8, 8), make(3, 2, 2, 2, seed=4)
    check(lambda x, w: functional.conv2d(x[:2, ::2, ::-1], w) + functional.conv2d(x[1:, 1::2], w), x, w)
    check(lambda x: functional.conv2d(x[None, :2], x[None, :2, :3, :3]), x)
