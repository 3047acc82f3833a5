"""Layers that need no other library to be checked: lazy ones, parametrizations, bags, dictionaries of parameters."""

import copy

import numpy as np
import pytest
import tutti as tt
from tutti.nn.utils import parametrizations, parametrize


def some(*shape):
    return tt.array(np.random.default_rng(len(shape)).standard_normal(shape).astype("float32"))


@pytest.mark.parametrize("made, shape, plain", [
    (lambda: tt.nn.LazyLinear(3), (4, 2), tt.nn.Linear),
    (lambda: tt.nn.LazyConv1d(4, 3, groups=2, bias=False), (2, 7), tt.nn.Conv1d),
    (lambda: tt.nn.LazyConvTranspose2d(4, 3), (1, 2, 5, 5), tt.nn.ConvTranspose2d),
    (lambda: tt.nn.LazyBatchNorm1d(affine=False), (4, 2), tt.nn.BatchNorm1d),
    (lambda: tt.nn.LazyInstanceNorm2d(), (1, 2, 5, 5), tt.nn.InstanceNorm2d),
])  # fmt: skip
def test_lazy_layers_become_others(made, shape, plain):
    layer, seen = made(), []
    layer.register_forward_hook(lambda module, args, y: seen.append(type(module)))
    model = tt.nn.Sequential(layer.eval()).double()
    for p in model.parameters():
        assert repr(p) == "<UninitializedParameter>"
        with pytest.raises(ValueError, match="a lazy layer that has seen no input"):
            tt.optim.SGD([p])
    y = model(some(*shape).astype("float64"))
    assert type(layer) is plain and seen == [plain] and not layer.training and y.dtype == tt.float64
    assert all(p.dtype == tt.float64 for p in model.parameters())
    if list(model.parameters()):
        tt.optim.SGD(model.parameters()).step()
    other = tt.nn.Sequential(made().eval()).double()
    other.load_state_dict(model.state_dict())
    assert type(other[0]) is plain
    assert (other(some(*shape).astype("float64")).detach().numpy() == y.detach().numpy()).all()


def test_lazy_layers_say_what_they_cannot_read():
    with pytest.raises(ValueError, match=r"Expected 3D \(unbatched\) or 4D \(batched\) input to LazyConv2d"):
        tt.nn.LazyConv2d(3, 2)(tt.ones((2, 2)))


@pytest.mark.parametrize("norm", [tt.nn.utils.weight_norm, parametrizations.weight_norm])
@pytest.mark.parametrize("dim", [0, 1, None])
def test_lengths_and_directions(norm, dim):
    plain = tt.nn.Conv2d(4, 3, 3)
    before, x = plain.weight.numpy(), some(2, 4, 5, 5)
    want = plain(x).detach().numpy()
    layer = norm(plain, dim=dim)
    np.testing.assert_allclose(layer(x).detach().numpy(), want, rtol=1e-5, atol=1e-6)
    layer(x).sum().backward()
    assert len(list(layer.parameters())) == 3 and all(p.grad is not None for p in layer.parameters())
    again = copy.deepcopy(layer)
    assert (again(x).detach().numpy() == layer(x).detach().numpy()).all()
    if norm is parametrizations.weight_norm:
        parametrize.remove_parametrizations(layer, "weight")
    else:
        tt.nn.utils.remove_weight_norm(layer)
        with pytest.raises(ValueError, match="weight_norm of 'weight' not found"):
            tt.nn.utils.remove_weight_norm(layer)
    assert type(layer) is tt.nn.Conv2d and sorted(layer.state_dict()) == ["bias", "weight"]
    np.testing.assert_allclose(layer.weight.numpy(), before, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("norm", [tt.nn.utils.spectral_norm, parametrizations.spectral_norm])
def test_the_largest_singular_value(norm):
    layer, x = norm(tt.nn.Linear(6, 4), n_power_iterations=3), some(2, 6)
    for _ in range(20):
        layer(x)
    assert abs(np.linalg.norm(layer.weight.detach().numpy(), 2) - 1) < 1e-4
    layer.eval()
    first = layer(x).detach().numpy()
    assert (layer(x).detach().numpy() == first).all()
    for wrong in {"n_power_iterations": 0}, {"name": "weights"}:
        with pytest.raises((ValueError, KeyError)):
            norm(tt.nn.Linear(2, 2), **wrong)


class Twice(tt.nn.Module):
    def forward(self, x):
        return x * 2

    def right_inverse(self, x):
        return x / 2


class Symmetric(tt.nn.Module):
    def forward(self, x):
        return x.triu() + x.triu(1).T if hasattr(x, "triu") else tt.triu(x) + tt.triu(x, 1).T


def test_parametrizations_in_a_row():
    layer = tt.nn.Linear(3, 3)
    before = layer.weight.numpy()
    parametrize.register_parametrization(layer, "weight", Twice())
    parametrize.register_parametrization(layer, "weight", Twice())
    np.testing.assert_allclose(layer.weight.detach().numpy(), before)
    np.testing.assert_allclose(layer.parametrizations.weight.original.numpy(), before / 4)
    layer.weight = tt.ones((3, 3), dtype="float32")
    assert (layer.weight.detach().numpy() == 1).all()
    assert parametrize.is_parametrized(layer, "weight") and not parametrize.is_parametrized(layer, "bias")
    with parametrize.cached():
        assert layer.weight is layer.weight
    parametrize.remove_parametrizations(layer, "weight")
    assert repr(layer) == "Linear(in_features=3, out_features=3, bias=True)"
    parametrize.register_parametrization(layer, "weight", Symmetric())
    w = layer.weight.detach().numpy()
    assert (w == w.T).all()
    with pytest.raises(ValueError, match="does not have a parameter, a buffer"):
        parametrize.register_parametrization(layer, "weights", Twice())


def test_a_parametrization_keeps_the_shape():
    class Row(tt.nn.Module):
        def forward(self, x):
            return x[0]

    layer = tt.nn.Linear(3, 3)
    with pytest.raises(ValueError, match="may not change the shape"):
        parametrize.register_parametrization(layer, "weight", Row())
    assert sorted(layer.state_dict()) == ["bias", "weight"]


def test_parameters_by_name():
    d = tt.nn.ParameterDict({"b": tt.ones(2), "a": tt.nn.Parameter([1.0, 2.0]), "word": "x"})
    assert list(d) == ["b", "a", "word"] and list(d.state_dict()) == ["b", "a"] and d["word"] == "x"
    assert isinstance(d["b"], tt.nn.Parameter) and "a" in d and "c" not in d and len(d | {"c": tt.ones(1)}) == 4
    d.update({"a": tt.zeros(3)})
    assert d["a"].shape == (3,) and d.pop("b").shape == (2,) and len(list(d.parameters())) == 1
    with pytest.raises(KeyError):
        d["b"]
    with pytest.raises(TypeError, match="not a string"):
        d[3] = tt.ones(1)


def test_bags():
    bag = tt.nn.EmbeddingBag(5, 3, mode="sum", padding_idx=1)
    assert (bag.weight.numpy()[1] == 0).all()
    y = bag(tt.array([0, 1, 2, 4]), tt.array([0, 2, 2]))
    w = bag.weight.numpy()
    np.testing.assert_allclose(y.detach().numpy(), [w[0], np.zeros(3), w[2] + w[4]], rtol=1e-6)
    y.sum().backward()
    assert (bag.weight.grad.numpy() == np.array([1, 0, 1, 0, 1])[:, None]).all()


def test_rows_that_are_kept_short():
    table = tt.nn.Embedding.from_pretrained(tt.array([[3.0, 4.0], [6.0, 8.0], [0.3, 0.4]]), freeze=False, max_norm=1.0)
    y = table(tt.array([0, 2, 0]))
    np.testing.assert_allclose(y.detach().numpy(), [[0.6, 0.8], [0.3, 0.4], [0.6, 0.8]], rtol=1e-6)
    np.testing.assert_allclose(table.weight.numpy(), [[0.6, 0.8], [6.0, 8.0], [0.3, 0.4]], rtol=1e-6)
    table.scale_grad_by_freq = True
    table(tt.array([0, 2, 0])).sum().backward()
    np.testing.assert_allclose(table.weight.grad.numpy(), [[1, 1], [0, 0], [1, 1]])


def test_many_classes_add_up_to_one():
    m = tt.nn.AdaptiveLogSoftmaxWithLoss(8, 20, [5, 10], div_value=2.0)
    x, target = some(6, 8), tt.array([0, 7, 19, 4, 12, 6])
    log = m.log_prob(x).detach().numpy()
    np.testing.assert_allclose(np.exp(log).sum(axis=1), 1, rtol=1e-5)
    out = m(x, target)
    np.testing.assert_allclose(out.output.detach().numpy(), log[range(6), target.numpy()], rtol=1e-5)
    assert (m.predict(x).numpy() == log.argmax(axis=1)).all()
    with pytest.raises(ValueError, match=r"Target values should be in \[0, 19\]"):
        m(x, target + 1)
