"""Functions of networks, and the gradients to all that they take, beside JAX's."""

import random

import numpy as np
import pytest
import tutti as tt
from tutti.nn import functional

jax = pytest.importorskip("jax", reason="JAX is not installed")
jnp = jax.numpy
pytestmark = pytest.mark.usefixtures("beside_jax")


def beside(ours, theirs, *arrays, tolerance=1e-11):
    """Values and, for a cotangent by chance, the gradients by all arrays."""
    leaves = [tt.array(a).requires_grad_() for a in arrays]
    got = ours(*leaves)
    want, back = jax.vjp(theirs, *map(jnp.asarray, arrays))
    g = np.random.default_rng(9).standard_normal(want.shape).astype(arrays[0].dtype)
    got.backward(tt.array(g))
    pairs = [(got.detach(), want), *((a.grad, b) for a, b in zip(leaves, back(jnp.asarray(g))))]
    for a, b in pairs:
        b = np.asarray(b)
        size = max(1, np.abs(b).max(initial=0))
        np.testing.assert_allclose(a.numpy(), b, rtol=0, atol=tolerance * size)


@pytest.mark.parametrize("seed", range(25))
def test_convolutions_by_chance(seed):
    r, rng = random.Random(seed), np.random.default_rng(seed)
    n, groups = r.choice([1, 2, 2, 3]), r.choice([1, 1, 2, 4])
    kernel, dilation, stride, padding = (
        [r.choice(c) for _ in range(n)] for c in ([1, 2, 3, 5], [1, 1, 2, 3], [1, 1, 2, 5], [0, 1, 2])
    )
    space = [
        max(r.randint(1, {1: 60, 2: 24, 3: 9}[n]), d * (k - 1) + 1 - 2 * p)
        for k, d, p in zip(kernel, dilation, padding)
    ]
    channels, outputs = r.choice([1, 2, 5, 17]), r.choice([1, 2, 7, 33])
    x = rng.standard_normal((r.choice([1, 3, 18]), groups * channels, *space))
    w = rng.standard_normal((groups * outputs, channels, *kernel))
    beside(
        lambda x, w: getattr(functional, f"conv{n}d")(
            x, w, stride=stride, padding=padding, dilation=dilation, groups=groups
        ),
        lambda x, w: jax.lax.conv_general_dilated(
            x, w, stride, [(p, p) for p in padding], rhs_dilation=dilation, feature_group_count=groups
        ),
        x,
        w,
    )


@pytest.mark.parametrize("x, w, stride, padding, groups", [
    ((20, 64, 16, 16), (96, 64, 3, 3), 1, 1, 1), ((2, 3, 64, 64), (64, 3, 7, 7), 2, 3, 1),
    ((17, 70, 9, 9), (33, 70, 1, 1), 1, 0, 1), ((2, 96, 20, 20), (96, 1, 3, 3), 1, 1, 96),
])  # fmt: skip
def test_larger_than_a_block(x, w, stride, padding, groups):
    rng = np.random.default_rng(1)
    beside(
        lambda x, w: functional.conv2d(x, w, stride=stride, padding=padding, groups=groups),
        lambda x, w: jax.lax.conv_general_dilated(
            x, w, (stride, stride), [(padding, padding)] * 2, feature_group_count=groups
        ),
        rng.standard_normal(x, dtype="float32"),
        rng.standard_normal(w, dtype="float32"),
        tolerance=1e-5,
    )


@pytest.mark.parametrize(
    "batch, queries, keys, heads, width", [(2, 5, 5, 3, 4), (1, 200, 200, 2, 32), (3, 7, 99, 1, 8)]
)
@pytest.mark.parametrize("how", ["plain", "causal", "mask", "bias"])
def test_attention(batch, queries, keys, heads, width, how):
    rng = np.random.default_rng(2)
    q, k, v = (rng.standard_normal((batch, n, heads, width)) for n in (queries, keys, keys))
    mask = rng.random((queries, keys)) < 0.7
    mask[:, 0] = True
    bias = rng.standard_normal((queries, keys))
    ours = {"causal": {"is_causal": True}, "mask": {"attn_mask": tt.array(mask)}, "bias": {"attn_mask": tt.array(bias)}}
    theirs = {"causal": {"is_causal": True}, "mask": {"mask": mask[None, None]}, "bias": {"bias": bias[None, None]}}
    beside(
        lambda *x: tt.swapaxes(
            functional.scaled_dot_product_attention(*(tt.swapaxes(a, 1, 2) for a in x), **ours.get(how, {})), 1, 2
        ),
        lambda *x: jax.nn.dot_product_attention(*x, **theirs.get(how, {})),
        q,
        k,
        v,
        tolerance=1e-6,  # JAX has its softmax in float32
    )
