"""Averages of weights, derivatives checked, checkpoints of sequences, parametrisations and small modules of torch."""

import importlib
import warnings

import numpy as np
import pytest
from tutti.compat import torch
from tutti.compat.torch import nn
from tutti.compat.torch.optim import swa_utils
from tutti.compat.torch.utils.checkpoint import checkpoint_sequential


def trained(steps, **kind):
    """The weights of each step, and the averages that a model has of them."""
    torch.manual_seed(0)
    net = nn.Linear(3, 1)
    averaged, seen = swa_utils.AveragedModel(net, **kind), []
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    x = torch.randn(8, 3)
    for _ in range(steps):
        opt.zero_grad()
        ((net(x) - 1) ** 2).mean().backward()
        opt.step()
        averaged.update_parameters(net)
        seen.append(net.weight.detach().numpy().copy())
    return seen, averaged


def test_averages_of_weights():
    seen, averaged = trained(5)
    np.testing.assert_allclose(averaged.module.weight.detach().numpy(), np.mean(seen, axis=0), rtol=1e-5)
    assert int(averaged.n_averaged) == 5 and list(averaged.state_dict())[:2] == ["n_averaged", "module.weight"]
    for kind in ({"multi_avg_fn": swa_utils.get_ema_multi_avg_fn(0.9)}, {"avg_fn": swa_utils.get_ema_avg_fn(0.9)}):
        seen, averaged = trained(5, **kind)
        want = seen[0]
        for w in seen[1:]:
            want = 0.9 * want + 0.1 * w
        np.testing.assert_allclose(averaged.module.weight.detach().numpy(), want, rtol=1e-5)
    with pytest.raises(ValueError, match="Invalid decay value 2"):
        swa_utils.get_ema_avg_fn(2)


@pytest.mark.parametrize("strategy, want", [("linear", [0.7, 0.4, 0.1, 0.1]), ("cos", [0.775, 0.325, 0.1, 0.1])])
def test_rates_go_to_that_of_averages(strategy, want):
    opt = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=1.0)
    schedule = swa_utils.SWALR(opt, swa_lr=0.1, anneal_epochs=3, anneal_strategy=strategy)
    rates = []
    for _ in want:
        opt.step()
        schedule.step()
        rates.append(opt.param_groups[0]["lr"])
    np.testing.assert_allclose(rates, want, rtol=1e-6)


def test_statistics_of_norms_anew():
    net = nn.Sequential(nn.BatchNorm1d(2), nn.Linear(2, 1)).eval()
    x = torch.arange(12.0).reshape(6, 2)
    swa_utils.update_bn([(x[:3], 0), (x[3:], 0)], net)
    np.testing.assert_allclose(net[0].running_mean.numpy(), [5, 6])
    assert net[0].momentum == 0.1 and not net.training


def test_derivatives_beside_differences():
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)

    class Wrong(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**2

        @staticmethod
        def backward(ctx, g):
            return g * 3 * ctx.saved_tensors[0]

    assert torch.autograd.gradcheck(lambda a, b: (a**3 * b, a.sin()), (x, x.detach()))
    assert torch.autograd.gradgradcheck(lambda a: a**3, (x,))
    assert not torch.autograd.gradcheck(Wrong.apply, (x,), raise_exception=False)
    with pytest.raises(RuntimeError, match="Jacobian mismatch for output 0 with respect to input 0"):
        torch.autograd.gradcheck(Wrong.apply, x)
    with pytest.raises(ValueError, match="at least one input tensor to require gradient"):
        torch.autograd.gradcheck(Wrong.apply, (x.detach(),))


def test_checkpoints_of_a_sequence():
    net = nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.Linear(3, 3), nn.Sigmoid(), nn.Linear(3, 1))
    a, b = (torch.ones(2, 3, requires_grad=True) for _ in range(2))
    checkpoint_sequential(net, 2, a, use_reentrant=False).sum().backward()
    net(b).sum().backward()
    assert (a.grad == b.grad).all()


def test_parametrised_modules():
    class Symmetric(nn.Module):
        def forward(self, x):
            return x.triu() + x.triu(1).transpose(-1, -2)

    layer = nn.utils.parametrize.register_parametrization(nn.Linear(3, 3), "weight", Symmetric())
    assert (layer.weight == layer.weight.T).all() and isinstance(layer.parametrizations.weight.original, nn.Parameter)
    layer(torch.ones(3)).sum().backward()
    assert layer.parametrizations.weight.original.grad.shape == (3, 3)
    nn.utils.parametrize.remove_parametrizations(layer, "weight")
    assert isinstance(layer.weight, nn.Parameter) and isinstance(layer.weight, torch.Tensor)
    normed = importlib.import_module("tutti.compat.torch.nn.utils.parametrizations").weight_norm(nn.Linear(2, 3))
    assert normed(torch.ones(2)).shape == (3,)


def test_small_modules():
    of = lambda name: importlib.import_module("tutti.compat.torch." + name)  # noqa: E731
    assert of("nn.modules.utils")._pair(3) == (3, 3) and of("nn.modules.utils")._pair([1, 2]) == (1, 2)
    assert of("nn.utils.stateless").functional_call is torch.func.functional_call
    assert of("optim.optimizer").Optimizer is torch.optim.Optimizer
    with of("nn.attention").sdpa_kernel(of("nn.attention").SDPBackend.MATH):
        assert nn.functional.scaled_dot_product_attention(*[torch.ones(1, 2, 3)] * 3).tolist() == [[[1] * 3] * 2]
    torch.manual_seed(3)
    with of("random").fork_rng():
        inside = torch.rand(2)
    assert (torch.rand(2) == inside).all()
    assert torch.jit.script(len) is len and torch.compiler.disable(len) is len
    with pytest.raises(AttributeError, match="does not cover torch.jit.load"):
        torch.jit.load  # noqa: B018
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        nn.init.xavier_uniform(torch.empty(2, 2))
    assert "deprecated in favor of `nn.init.xavier_uniform_`" in str(told[0].message)
    seen, layer = [], nn.Linear(2, 1)
    layer.register_backward_hook(lambda module, into, out: seen.append(out[0].shape))
    layer(torch.ones(3, 2, requires_grad=True)).sum().backward()
    assert seen == [(3, 1)]


def test_tensors_that_are_close():
    close = importlib.import_module("tutti.compat.torch.testing").assert_close
    close({"a": [torch.ones(2)]}, {"a": [torch.ones(2) + 1e-7]})
    close(torch.tensor([float("nan")]), torch.tensor([float("nan")]), equal_nan=True)
    with pytest.raises(AssertionError, match="Tensor-likes are not close"):
        close(torch.ones(2), torch.ones(2) * 1.1)
    with pytest.raises(AssertionError, match="'dtype' do not match: torch.float32 != torch.int64"):
        close(torch.ones(2), torch.ones(2).long())
    with pytest.raises(AssertionError, match="'shape' do not match"):
        close(torch.ones(2), torch.ones(3))


def test_parameters_that_are_pruned():
    prune = importlib.import_module("tutti.compat.torch.nn.utils.prune")
    layer = nn.Linear(4, 3)
    weight = layer.weight.detach().clone()
    prune.l1_unstructured(layer, "weight", amount=0.5)
    least = sorted(weight.abs().reshape(-1).tolist())[5]
    assert (layer.weight == torch.where(weight.abs() <= least, 0.0, weight)).all()
    assert sorted(layer.state_dict()) == ["bias", "weight_mask", "weight_orig"] and prune.is_pruned(layer)
    layer(torch.ones(2, 4)).sum().backward()
    assert ((layer.weight_orig.grad == 0) == (layer.weight_mask == 0)).all()
    prune.l1_unstructured(layer, "weight", amount=0.5)
    assert int((layer.weight == 0).sum()) == 9
    prune.remove(layer, "weight")
    assert isinstance(layer.weight, nn.Parameter) and int((layer.weight == 0).sum()) == 9 and not prune.is_pruned(layer)
    prune.ln_structured(other := nn.Linear(4, 3), "weight", amount=1, n=2, dim=0)
    assert int(((other.weight == 0).sum(1) == 4).sum()) == 1
    two = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4))
    prune.global_unstructured([(m, "weight") for m in two], prune.L1Unstructured, amount=0.25)
    assert sum(int((m.weight == 0).sum()) for m in two) == 8


def test_more_of_tensors():
    assert torch.as_strided(torch.arange(9.0), (2, 2), (3, 1), 1).tolist() == [[1, 2], [4, 5]]
    assert torch.tensor([0.1, 2]).hardshrink().tolist()[0] == 0
    assert torch.tensor([-1.0, 2]).prelu(torch.tensor([0.5])).tolist() == [-0.5, 2]
    lower = torch.tensor([[2.0, 9.0], [1.0, 4.0]])
    solved = torch.linalg.solve_triangular(lower, torch.ones(2, 1), upper=False)
    np.testing.assert_allclose(solved.numpy(), [[0.5], [0.125]])
    unit = torch.linalg.solve_triangular(lower, torch.ones(1, 2), upper=False, left=False, unitriangular=True)
    np.testing.assert_allclose(unit.numpy(), [[0.0, 1.0]], atol=1e-7)
    np.testing.assert_allclose(torch.cholesky_solve(torch.ones(2, 1), 2 * torch.eye(2)).numpy(), [[0.25], [0.25]])

    class Counting(nn.Module):
        def __init__(self):
            super().__init__()
            self.seen, self.scratch = nn.Buffer(torch.ones(2)), nn.Buffer(torch.ones(1), persistent=False)

    module = Counting()
    assert [n for n, _ in module.named_buffers()] == ["seen", "scratch"] and list(module.state_dict()) == ["seen"]


def test_numpys_words_are_taken_for_axes():
    x = torch.arange(6.0).reshape(2, 3)
    assert torch.cat([x, x], axis=1).shape == (2, 6)
    assert torch.sum(x, axis=0, keepdims=True).shape == (1, 3)
    assert x.mean(axis=-1).tolist() == [1.0, 4.0]
    assert torch.stack([x, x], axis=2).shape == (2, 3, 2)


def test_a_diagonal_is_written_in_place():
    w = torch.ones(2, 3, requires_grad=True)
    x = w * 2
    assert x.fill_diagonal_(5) is x
    assert x.tolist() == [[5.0, 2.0, 2.0], [2.0, 5.0, 2.0]]
    x.sum().backward()
    assert w.grad.tolist() == [[0.0, 2.0, 2.0], [2.0, 0.0, 2.0]]


def test_grad_takes_the_words_of_pytorch():
    x, y = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    found = torch.autograd.grad((x * x).sum(), [x, y], only_inputs=True, materialize_grads=True)
    assert [g.tolist() for g in found] == [[2.0, 2.0], [0.0, 0.0]]
    assert torch.autograd.grad((x * x).sum(), (x, y), None, None, False, True, True)[1] is None
    with pytest.raises(ValueError, match="allow_unused=False"):
        torch.autograd.grad(x.sum(), x, materialize_grads=True, allow_unused=False)
