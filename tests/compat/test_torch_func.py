"""torch.func: derivatives as functions, batches, modules with other parameters."""

import numpy as np
import pytest
from tutti.compat import torch
from tutti.compat.torch import func

W = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]


def f(x):
    return (torch.tensor(W) @ x).sin()


def test_derivatives():
    x, w = torch.tensor([1.0, 2.0, 3.0]), np.array(W)
    y = w @ x.numpy()
    slope = np.cos(y)[:, None] * w
    total = lambda x: f(x).sum()  # noqa: E731
    np.testing.assert_allclose(func.grad(total)(x).numpy(), slope.sum(0), rtol=1e-5)
    for jacobian in (func.jacrev, func.jacfwd):
        np.testing.assert_allclose(jacobian(f)(x).numpy(), slope, rtol=1e-5)
    second = -np.einsum("i,ij,ik->jk", np.sin(y), w, w)
    np.testing.assert_allclose(func.hessian(total)(x).numpy(), second, rtol=1e-4)
    found, value = func.grad_and_value(total)(x)
    assert isinstance(found, torch.Tensor) and abs(value.item() - np.sin(y).sum()) < 1e-5
    assert func.grad(func.grad(lambda x: x**3))(torch.tensor(2.0)).item() == 12
    assert func.grad(lambda x: (x.sum(), x * 2), has_aux=True)(x)[1].tolist() == [2, 4, 6]
    np.testing.assert_allclose(func.jvp(f, (x,), (x,))[1].numpy(), slope @ x.numpy(), rtol=1e-5)
    value, back = func.vjp(f, x)
    np.testing.assert_allclose(back(torch.ones(2))[0].numpy(), slope.sum(0), rtol=1e-5)
    np.testing.assert_allclose(func.linearize(f, x)[1](x).numpy(), slope @ x.numpy(), rtol=1e-5)


def test_batches():
    w, x = torch.tensor(W), torch.tensor([1.0, 2.0, 3.0])
    assert func.vmap(torch.dot, in_dims=(0, None))(w, x).tolist() == [14, 32]
    assert func.vmap(lambda a: a * 2, in_dims=1, out_dims=1)(w).tolist() == (w * 2).tolist()
    sums, named = func.vmap(lambda a: (a.sum(), {"double": a * 2}))(w)
    assert sums.tolist() == [6, 15] and named["double"].shape == (2, 3)
    assert torch.vmap is func.vmap
    with pytest.raises(ValueError, match="same size in the mapped dimension"):
        func.vmap(torch.dot)(w, torch.ones(3, 3))


def test_modules_with_other_parameters():
    net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
    before = {name: p.detach().clone() for name, p in net.named_parameters()}
    x, y = torch.randn(5, 3), torch.randn(5, 1)

    def loss(parameters, x, y):
        return ((func.functional_call(net, parameters, (x,)) - y) ** 2).mean()

    each = func.vmap(func.grad(loss), in_dims=(None, 0, 0))(before, x, y)
    ((net(x) - y) ** 2).mean().backward()
    for name, p in net.named_parameters():
        np.testing.assert_allclose(each[name].mean(0).numpy(), p.grad.numpy(), rtol=1e-4, atol=1e-6)
        assert (p == before[name]).all()
    assert func.functional_call(net, {"2.weight": torch.zeros(1, 4), "2.bias": torch.ones(1)}, x).tolist() == [[1]] * 5
    with pytest.raises(RuntimeError, match="Unexpected key"):
        func.functional_call(net, {"3.weight": x}, x)
    stacked, buffers = func.stack_module_state([net, net])
    assert stacked["0.weight"].shape == (2, 4, 3) and stacked["0.weight"].requires_grad and buffers == {}
    both = func.vmap(lambda p: func.functional_call(net, p, (x,)))(stacked)
    np.testing.assert_allclose(both.detach().numpy(), np.stack([net(x).detach().numpy()] * 2), rtol=1e-6)
