"""Methods of tutti.compat.torch's tensors against PyTorch's, by chance: types, shapes, axes, in place, views."""

import random

import numpy as np
import pytest

real = pytest.importorskip("torch")
import tutti.compat.torch as ours  # noqa: E402 - it is compared

# x and y are of one shape, z of a shape that meets it; d and e are axes, n is how long d is.
METHODS = """
x + y | x - y | x * y | x / y | x // y | x % y | x + 2 | x * 2.5 | 2 - x | 3 / x | x ** 2 | -x | abs(x) | x + z
z * x | x == y | x > y | x <= 2 | x.eq(y) | x.ne(1) | x & y | x.bitwise_or(y) | x ^ y | ~x | x.logical_not()
x.logical_and(y) | x.sum() | x.sum(d) | x.sum(d, keepdim=True) | x.sum((d, e)) | x.mean(d) | x.prod(d) | x.std(d)
x.var(d, unbiased=False) | x.std() | x.max() | x.max(d) | x.min(d, keepdim=True) | x.argmax(d) | x.argmin()
x.amax(d) | x.median() | x.any(d) | x.all() | x.cumsum(d) | x.cumprod(d) | x.sort(d) | x.sort(d, descending=True)[0]
x.topk(1, d)[0] | x.norm() | x.norm(1, d) | x.logsumexp(d) | x.softmax(d) | x.log_softmax(d) | x.exp() | x.sqrt()
x.sigmoid() | x.tanh() | x.floor() | x.round() | x.sin() | x.clamp(1, 2) | x.clamp(min=1) | x.clamp_max(1)
x.lerp(y, 0.5) | x.add(y, alpha=2) | x.sub(y, alpha=3) | x.addcmul(y, y) | x.div(y, rounding_mode="floor")
x.div(y, rounding_mode="trunc") | x.fmod(y) | x.remainder(y) | x.pow(y) | x.maximum(y) | x.view(-1)
x.reshape(-1, 1) | x.flatten() | x.flatten(0, 1) | x.unsqueeze(d) | x.unsqueeze(-1).squeeze(-1) | x.squeeze()
x.transpose(d, e) | x.permute(*reversed(range(x.dim()))) | x.flip(d) | x.roll(1, d) | x.expand(2, *x.shape)
x.repeat(2, *x.shape) | x.split(1, d) | x.chunk(2, d) | x.unbind(d) | x.narrow(d, 0, 1) | x.select(d, 0)
x.index_select(d, m.tensor([0, n - 1, 0])) | x.gather(d, (x * 0).long()) | x.masked_fill(x > 1, 0)
x.masked_select(x > 1) | m.where(x > y, x, y) | m.where(x > 1, x, 0) | x.nonzero() | x.tril() | x.triu(1)
x.diagonal() | m.cat([x, y], d) | m.stack([x, y], d) | m.cat([x, y.double()], d) | x.long() | x.float() | x.bool()
x.to(m.float64) | x.type_as(y) | x.size() | x.size(d) | x.numel() | x.dim() | x.is_contiguous() | x.t()
x.matmul(y.transpose(-1, -2)) | x @ y.transpose(-1, -2) | m.einsum("...i,...j->...ij", x, y) | x.unique() | x.cov()
x[0] | x[..., 0] | x[:, None] | x[x > 1] | x[m.tensor([0, 0])] | x[0].item() if x.dim() == 1 else x[-1] | x.tolist()
m.zeros_like(x) | m.ones_like(x) | m.full_like(x, 2) | x.new_zeros(2, 3) | x.new_tensor([1, 2]) | m.arange(n)
m.linspace(0, 1, n + 1)
"""
IN_PLACE = """
x.add_(y) | x.mul_(2) | x.sub_(y, alpha=2) | x.div_(2) | x.zero_() | x.fill_(3) | x.copy_(y) | x.clamp_(1, 2)
x.exp_() | x.neg_() | x[0].add_(1) | x[..., 0].zero_() | x.view(-1).mul_(2) | x.transpose(d, e)[0].fill_(3)
x.select(d, 0).copy_(y.select(d, 0)) | x.masked_fill_(x > 1, 0) | x.scatter_(d, (x * 0).long(), y)
x.scatter_add_(d, (x * 0).long(), y) | x.index_fill_(d, m.tensor([0]), 2)
x.index_add_(d, m.tensor([0, 0]), m.cat([y.narrow(d, 0, 1)] * 2, d)) | x.pow_(2) | x.sqrt_()
x.unsqueeze(0).add_(z) | x.data.add_(1) | x.detach().mul_(2) | x.narrow(d, 0, 1).add_(1) | x.t().mul_(2) | x.tril_()
x.lerp_(y, 0.5)
"""
DTYPES = "float32", "float64", "int64", "int32", "uint8", "bool"


def known(r):
    """A result as something that can be compared."""
    if isinstance(r, (real.Tensor, ours.Tensor)):
        return str(r.dtype).removeprefix("torch."), tuple(r.shape), r.detach().numpy()
    if isinstance(r, (tuple, list)):
        return [known(x) for x in r]
    return r


def agree(a, b):
    if isinstance(a, tuple):
        np.testing.assert_equal(b[:2], a[:2])
        np.testing.assert_allclose(b[2], a[2], rtol=1e-5, atol=1e-6)
    elif isinstance(a, list):
        assert len(a) == len(b)
        for x, y in zip(a, b, strict=True):
            agree(x, y)
    else:
        assert a == b or a != a


def samples(rng):
    shape = [rng.choice([1, 2, 3, 4]) for _ in range(rng.choice([1, 2, 2, 3]))]
    other = [rng.choice([1, n]) for n in shape][rng.randrange(len(shape)) :]
    types = [rng.choice(DTYPES)] * 2 if rng.random() < 0.7 else [rng.choice(DTYPES) for _ in range(2)]
    draws = np.random.default_rng(rng.randrange(10**6))
    values = [
        draws.integers(1, 5, size).astype(t) for size, t in zip((shape, shape, other), (*types, types[1]), strict=True)
    ]
    d, e = (list(range(len(shape))) * 2)[:2]
    return values, {"d": d - len(shape) * rng.randrange(2), "e": e, "n": shape[d]}


def outcome(m, expression, values, names):
    x, y, z = (m.tensor(v) for v in values)
    try:
        result = eval(expression, {"m": m, "x": x, "y": y, "z": z, **names})
    except (RuntimeError, TypeError, ValueError, IndexError, NotImplementedError):
        return None
    return [known(result), known(x)]


@pytest.mark.parametrize("text", [METHODS, IN_PLACE], ids=["methods", "in place"])
def test_methods_do_what_pytorchs_do(text):
    rng, compared = random.Random(3), 0
    for expression in text.replace("\n", " | ").split(" | "):
        for _ in range(12 if expression.strip() else 0):
            values, names = samples(rng)
            want = outcome(real, expression, values, names)
            if want is None:
                continue
            got = outcome(ours, expression, values, names)
            compared += 1
            assert got is not None, (expression, values, names)
            try:
                agree(want, got)
            except AssertionError as error:
                raise AssertionError(f"{expression} of {values} {names}: {error}") from None
    assert compared > 100
