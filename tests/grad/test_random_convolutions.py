"""Gradients of convolutions of random shapes beside sums over taps in float64: every way in which the library sums."""

import itertools
import random

import numpy as np
import pytest
import tutti as tt
from tutti.nn import functional

TOLERANCES = {"float64": 1e-12, "float32": 2e-5, "float16": 8e-3, "bfloat16": 6e-2}


def by_chance(r):
    """Shapes and parameters: few channels a group and many, short rows and such that fill several tiles."""
    n = r.choice([1, 2, 2, 2, 3])
    groups, each, outputs = r.choice(
        [
            (1, 1, 1),
            (1, 3, 16),
            (1, 16, 3),
            (1, 9, 12),
            (6, 1, 1),
            (5, 1, 2),
            (3, 2, 1),
            (4, 4, 4),
            (2, 8, 8),
            (2, 5, 9),
        ]
    )
    kernel = [r.choice([1, 2, 3, 3, 5, 7]) for _ in range(n)]
    stride, dilation, padding = ([r.choice(c) for _ in range(n)] for c in ([1, 1, 2, 3], [1, 1, 1, 2], [0, 1, 2, 3]))
    most = {1: 700, 2: 40, 3: 9}[n]
    space = [max(r.randint(1, most), d * (k - 1) + 1 - 2 * p) for k, d, p in zip(kernel, dilation, padding)]
    x, w = (r.choice([1, 2, 5]), groups * each, *space), (groups * outputs, each, *kernel)
    return x, w, dict(stride=stride, padding=padding, dilation=dilation, groups=groups)


def gradients(x, w, g, stride, padding, dilation, groups):
    """Those by x and w where g is the cotangent: a tap after the other."""
    space = x.shape[2:]
    wide = np.pad(x, [(0, 0), (0, 0), *((p, p) for p in padding)])
    gx, gw = np.zeros_like(wide), np.zeros_like(w)
    split = [x.shape[0], groups, -1]
    by_group = g.reshape(*split, *g.shape[2:]).reshape(*split, int(np.prod(g.shape[2:])))
    for tap in itertools.product(*map(range, w.shape[2:])):
        at = tuple(slice(t * d, t * d + (p - 1) * s + 1, s) for t, d, p, s in zip(tap, dilation, g.shape[2:], stride))
        at = (slice(None), slice(None), *at)
        seen = wide[at].reshape(*split, by_group.shape[-1])
        factors = w[(slice(None), slice(None), *tap)].reshape(groups, -1, w.shape[1])
        gw[(slice(None), slice(None), *tap)] = np.einsum("bgop,bgcp->goc", by_group, seen).reshape(w.shape[:2])
        gx[at] += np.einsum("bgop,goc->bgcp", by_group, factors).reshape(wide[at].shape)
    inner = tuple(slice(p, p + s) for p, s in zip(padding, space))
    return gx[(slice(None), slice(None), *inner)], gw


@pytest.mark.parametrize("seed", range(80))
def test_by_chance(seed):
    r = random.Random(seed)
    x_shape, w_shape, how = by_chance(r)
    dtype = r.choice(["float32", "float32", "float64", "float16", "bfloat16"])
    rng = np.random.default_rng(seed)
    x, w = (tt.array(rng.standard_normal(s)).astype(dtype).detach().requires_grad_() for s in (x_shape, w_shape))
    y = getattr(functional, f"conv{len(x_shape) - 2}d")(x, w, **how)
    g = tt.array(rng.standard_normal(y.shape)).astype(dtype)
    y.backward(g)
    want = gradients(*(a.detach().astype("float64").numpy() for a in (x, w, g)), **how)
    for leaf, of in zip((x, w), want):
        size = max(1, np.abs(of).max(initial=0))
        assert leaf.grad.dtype == dtype
        got = leaf.grad.astype("float64").numpy()
        np.testing.assert_allclose(got, of, rtol=0, atol=TOLERANCES[dtype] * size)


@pytest.mark.parametrize("kind", ["places", "taps"])
def test_what_is_not_finite_stays_where_it_is(kind):
    """Rows of planes lie behind each other; elements between them are no part of any sum."""
    x, w = np.ones((1, 2, 9, 9)), np.ones((2, 1, 3, 3))
    x[0, 1, 4, 8] = np.inf
    x, w = tt.array(x), tt.array(w).requires_grad_()
    y = functional.conv2d(x, w, groups=2)
    if kind == "places":
        bad = np.zeros((1, 2, 7, 7), bool)
        bad[0, 1, 2:5, 6] = True
        assert (np.isinf(y.detach().numpy()) == bad).all()
        return
    y.sum().backward()
    assert (np.isinf(w.grad.numpy())[:, 0] == [np.zeros((3, 3)), [[0, 0, 1]] * 3]).all()
    assert not np.isnan(w.grad.numpy()).any()
