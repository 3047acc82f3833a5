"""Functions, convolutions and attention, and their gradients, beside MLX on the processor, in its float32."""

import numpy as np
import pytest
import tutti as tt
from tutti.nn import functional

mx = pytest.importorskip("mlx.core", reason="MLX is not installed")
mx.set_default_device(mx.cpu)


@pytest.fixture(autouse=True, params=[-1, 0], ids=["at_once", "recorded"])
def eager(request):
    tt.set_eager(request.param)
    yield
    tt.set_eager(-1)


def make(*shape, seed=3):
    return np.random.default_rng(seed).standard_normal(shape).astype("float32")


A, B, V = make(3, 4), make(4, 5, seed=4), make(9, seed=5)
POSITIVE = abs(V) + 0.5
TIES = np.array([2, 1, 2, 3, 3, 0], "float32")

# Names that both have, and what they are asked of.
ELEMENTS = {
    **dict.fromkeys("abs arctan arcsinh ceil cos cosh exp expm1 floor negative sign sin".split(), V),
    **dict.fromkeys("sinh square tan tanh".split(), V),
    **dict.fromkeys("log log10 log1p log2 reciprocal sqrt".split(), POSITIVE),
    **dict.fromkeys("arcsin arccos arctanh".split(), V / 4),
    "arccosh": POSITIVE + 1,
}  # fmt: skip

CASES = {
    **{name: (lambda m, x, name=name: getattr(m, name)(x), x) for name, x in ELEMENTS.items()},
    "rsqrt": (lambda m, x: 1 / m.sqrt(x), POSITIVE),
    "erf": (lambda m, x: (m.erf if m is mx else tt.special.erf)(x), V),
    "sigmoid": (lambda m, x: (m.sigmoid if m is mx else tt.special.expit)(x), V),
    "add": (lambda m, x, y: x + y, A, A[:1] * 2),
    "divide": (lambda m, x, y: x / y, A, abs(A[:, :1]) + 1),
    "power": (lambda m, x, y: x**y, POSITIVE, V),
    "maximum": (lambda m, x: m.maximum(x, 1.5), TIES + 0.25),
    "logaddexp": (lambda m, x, y: m.logaddexp(x, y), V, V[::-1].copy()),
    "sum": (lambda m, x: m.sum(x, axis=0) * m.sum(x), A),
    "mean": (lambda m, x: m.mean(x, axis=1), A),
    "var": (lambda m, x: m.var(x, axis=1), A),
    "std": (lambda m, x: m.std(x, axis=0), A),
    "prod": (lambda m, x: m.prod(x, axis=0), A),
    "max": (lambda m, x: m.max(x, axis=1), A),
    "min": (lambda m, x: m.min(x, axis=0), A),
    "cumsum": (lambda m, x: m.cumsum(x, axis=1) ** 2, A),
    "cumprod": (lambda m, x: m.cumprod(x, axis=1), A),
    "softmax": (lambda m, x: (m.softmax if m is mx else tt.special.softmax)(x, axis=1) ** 2, A),
    "logsumexp": (lambda m, x: (m.logsumexp if m is mx else tt.special.logsumexp)(x, axis=1), A),
    "sort": (lambda m, x: m.sort(x) * m.arange(9), V),
    "product": (lambda m, x, y: m.tanh(x @ y), A, B),
    "batches of products": (lambda m, x, y: m.matmul(x, y), make(2, 3, 4), make(4, 2, seed=6)),
    "tensordot": (lambda m, x, y: m.tensordot(x, y, 2), make(2, 3, 4), make(3, 4, 2, seed=6)),
    "einsum": (lambda m, x, y: m.einsum("ij,jk->ki", x, y), A, B),
    "outer": (lambda m, x: m.outer(x, x), V),
    "take": (lambda m, x: m.take(x, m.array([5, 0, 0])) ** 2, V),
    "places": (lambda m, x: x[m.array([2, 2, 1])] ** 2, A),
    "slices": (lambda m, x: x[::-1, 1::2] ** 3, A),
    "where": (lambda m, x: m.where(x > 0, m.sin(x), x * x), A),
    "clip": (lambda m, x: m.clip(x, -0.5, 0.5) * x, A),
    "pad": (lambda m, x: m.pad(x, ((1, 2), (0, 3))) ** 2, A),
    "concatenate": (lambda m, x: m.concatenate([x, x * 2], axis=1) ** 2, A),
    "transpose": (lambda m, x: m.transpose(x).reshape(2, 6) ** 2, A),
    "repeat": (lambda m, x: m.repeat(x, 3, axis=0) ** 2, A),
    "roll": (lambda m, x: m.roll(x, 2) * m.arange(9), V),
    "tril": (lambda m, x: m.tril(x) ** 2, A),
}


def beside(ours, theirs, *arrays, tolerance=2e-5):
    """Values, and for a cotangent by chance the gradients by all arrays."""
    leaves = [tt.array(a).requires_grad_() for a in arrays]
    got = ours(*leaves)
    (want,), _ = mx.vjp(theirs, [mx.array(a) for a in arrays], [mx.zeros_like(theirs(*map(mx.array, arrays)))])
    g = make(*want.shape, seed=9)
    _, back = mx.vjp(theirs, [mx.array(a) for a in arrays], [mx.array(g)])
    pairs = [(got.detach(), want)]
    if got.requires_grad:
        got.backward(tt.array(g).astype(got.dtype))
        pairs += [(tt.zeros_like(a) if a.grad is None else a.grad, b) for a, b in zip(leaves, back, strict=True)]
    for a, b in pairs:
        b = np.array(b)
        assert a.shape == b.shape
        np.testing.assert_allclose(a.numpy(), b, rtol=0, atol=tolerance * max(1, np.abs(b).max(initial=0)))


@pytest.mark.parametrize("name", CASES)
def test_functions(name):
    f, *arrays = CASES[name]
    beside(lambda *a: f(tt, *a), lambda *a: f(mx, *a), *arrays)


@pytest.mark.parametrize("stride, padding, dilation, groups", [(1, 0, 1, 1), (2, 1, 1, 1), (1, 2, 2, 1), (2, 1, 1, 2)])
@pytest.mark.parametrize("n", [1, 2, 3])
def test_convolutions(n, stride, padding, dilation, groups):
    """Channels come last there."""
    x, w = make(2, 4, *[9, 8, 7][:n]), make(6, 4 // groups, *[3, 2, 3][:n], seed=4)
    last, first = (0, *range(2, n + 2), 1), (0, n + 1, *range(1, n + 1))
    theirs = (mx.conv1d, mx.conv2d, mx.conv3d)[n - 1]
    if n == 3 and groups > 1:
        pytest.skip("MLX has no groups of three dimensions on the processor")
    beside(
        lambda x, w: getattr(functional, f"conv{n}d")(x, w, None, stride, padding, dilation, groups),
        lambda x, w: mx.transpose(
            theirs(
                mx.transpose(x, last),
                mx.transpose(w, last),
                stride=stride,
                padding=padding,
                dilation=dilation,
                groups=groups,
            ),
            first,
        ),
        x,
        w,
    )


@pytest.mark.parametrize("causal", [False, True])
def test_attention(causal):
    q, k, v = (make(2, 3, 8, 16, seed=s) for s in (1, 2, 3))
    beside(
        lambda *a: functional.scaled_dot_product_attention(*a, is_causal=causal),
        lambda *a: mx.fast.scaled_dot_product_attention(*a, scale=0.25, mask="causal" if causal else None),
        q,
        k,
        v,
    )


def test_second_derivatives():
    def f(m, x):
        return m.sum(m.sin(x) * m.tanh(x * x))

    want = mx.grad(lambda x: mx.sum(mx.grad(lambda y: f(mx, y))(x) ** 2))(mx.array(V))
    got = tt.grad(lambda x: tt.sum(tt.grad(lambda y: f(tt, y))(x) ** 2))(tt.array(V))
    np.testing.assert_allclose(got.numpy(), np.array(want), rtol=1e-4, atol=1e-4)
