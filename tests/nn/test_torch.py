"""Functions of networks against PyTorch, where that is installed: values, gradients, and what batches leave behind."""

import random

import numpy as np
import pytest
import tutti as tt
from samples import SAMPLES
from tutti.nn import functional

torch = pytest.importorskip("torch")
# Arguments that PyTorch does not differentiate, or that are written.
LEFT = ("running_mean", "running_var", "target", "weight", "pos_weight")


def both(a, dtype, leaf):
    """The same array for us and for PyTorch."""
    if isinstance(a, np.ndarray) and a.dtype.kind == "f":
        a = a.astype(dtype)
    if not isinstance(a, np.ndarray):
        return a, a
    ours, theirs = tt.array(a), torch.tensor(a)
    if leaf and a.dtype.kind == "f":
        ours.requires_grad_(), theirs.requires_grad_()
    return ours, theirs


# PyTorch takes a sixth, or one over alpha, in float32 there.
ROUGH = ("hardsigmoid", "celu")


def near(got, want, dtype, rough=False):
    want = want.detach().numpy()
    assert got.shape == want.shape and str(got.dtype) == str(want.dtype)
    tolerance = 1e-6 if rough and dtype == "float64" else {"float64": 1e-11, "float32": 2e-4}[dtype]
    np.testing.assert_allclose(
        got.detach().numpy().astype("float64"), want.astype("float64"), rtol=tolerance, atol=tolerance
    )


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("seed", range(12))
def test_functions(name, seed):
    r = random.Random(f"{name} {seed}")
    dtype = "float64" if seed % 3 else "float32"
    args, how = SAMPLES[name](r)
    pairs = [both(a, dtype, True) for a in args]
    named = {k: both(v, dtype, k not in LEFT) for k, v in how.items()}
    here, there = getattr(functional, name), getattr(torch.nn.functional, name)
    got = here(*(a for a, _ in pairs), **{k: a for k, (a, _) in named.items()})
    want = there(*(a for _, a in pairs), **{k: a for k, (_, a) in named.items()})
    near(got, want, dtype, name in ROUGH)
    cotangent = np.random.default_rng(seed).standard_normal(want.shape).astype(dtype)
    got.backward(tt.array(cotangent))
    want.backward(torch.tensor(cotangent))
    for ours, theirs in [*pairs, *named.values()]:
        if isinstance(theirs, torch.Tensor) and theirs.grad is not None:
            near(ours.grad, theirs.grad, dtype, name in ROUGH)
        elif isinstance(theirs, torch.Tensor):
            near(ours, theirs, dtype) if theirs.dtype.is_floating_point else None
