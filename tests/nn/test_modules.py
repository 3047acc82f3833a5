"""Modules: members, walks, state, modes, hooks, printing; layers give what their functions give."""

import copy
import pickle

import numpy as np
import pytest
import tutti as tt
from tutti import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 3)
        self.norm = nn.BatchNorm1d(3)
        self.scale = nn.Parameter(tt.ones(3, dtype="float32"))
        self.register_buffer("shift", tt.zeros(3, dtype="float32"), persistent=False)
        self.note = "plain"

    def forward(self, x):
        return self.norm(self.first(x)) * self.scale + self.shift


def floats(*shape, seed=0):
    return tt.array(np.random.default_rng(seed).standard_normal(shape).astype("float32"))


def test_members():
    m = Block()
    assert [n for n, _ in m.named_parameters()] == ["scale", "first.weight", "first.bias", "norm.weight", "norm.bias"]
    assert [n for n, _ in m.named_buffers()][0] == "shift"
    assert [n for n, _ in m.named_modules()] == ["", "first", "norm"]
    assert [n for n, _ in m.named_children()] == ["first", "norm"]
    assert m.get_parameter("first.bias") is m.first.bias and m.get_submodule("norm") is m.norm
    assert "first" in dir(m) and m.note == "plain"
    m.scale = None
    assert "scale" not in dict(m.named_parameters())
    del m.norm
    with pytest.raises(AttributeError, match="'Block' object has no attribute 'norm'"):
        m.norm  # noqa: B018


def test_shared_parameters_are_found_once():
    a = nn.Linear(2, 2)
    m = nn.Sequential(a, a)
    assert len(list(m.parameters())) == 2 and len(list(m.modules())) == 2
    assert list(m.state_dict()) == ["0.weight", "0.bias", "1.weight", "1.bias"]


def test_state_goes_over():
    a, b = Block(), Block()
    a(floats(5, 4))
    assert list(a.state_dict())[0] == "scale" and "shift" not in a.state_dict()
    assert repr(b.load_state_dict(a.state_dict())) == "<All keys matched successfully>"
    for (_, x), (_, y) in zip(a.state_dict().items(), b.state_dict().items()):
        assert (x.numpy() == y.numpy()).all()
    assert b.norm.num_batches_tracked.item() == 1
    held = b.first.weight
    b.load_state_dict({k: v + 1 for k, v in a.state_dict().items()})
    assert b.first.weight is held


def test_states_that_do_not_fit():
    m = nn.Linear(2, 3)
    state = m.state_dict()
    before = m.weight.tolist()
    with pytest.raises(RuntimeError) as e:
        m.load_state_dict({"weight": tt.ones((4, 2)), "more": tt.ones(1)})
    words = str(e.value)
    assert "Error(s) in loading state_dict for Linear:" in words
    assert 'Missing key(s) in state_dict: "bias"' in words and 'Unexpected key(s) in state_dict: "more"' in words
    assert "size mismatch for weight: copying a param with shape (4, 2) from checkpoint" in words
    assert m.weight.tolist() == before
    kept = m.load_state_dict({"weight": state["weight"], "more": 1}, strict=False)
    assert kept.missing_keys == ["bias"] and kept.unexpected_keys == ["more"]


def test_modes_and_types():
    m = nn.Sequential(Block(), nn.Dropout(0.5))
    assert m.eval() is m and not m[0].norm.training and not m[1].training
    assert m.train()[1].training
    m.double()
    assert m[0].first.weight.dtype == tt.float64 and m[0].shift.dtype == tt.float64
    assert m[0].norm.num_batches_tracked.dtype == tt.int64 and isinstance(m[0].scale, nn.Parameter)
    m.requires_grad_(False)
    assert not any(p.requires_grad for p in m.parameters())
    with pytest.raises(ValueError, match="training mode is expected to be boolean"):
        m.train(1)


def test_hooks():
    m, seen = nn.ReLU(), []
    before = m.register_forward_pre_hook(lambda module, args: seen.append(args[0].tolist()))
    after = m.register_forward_hook(lambda module, args, result: result * 2)
    assert m(tt.array([-1.0, 3.0])).tolist() == [0, 6] and seen == [[-1, 3]]
    before.remove()
    after.remove()
    assert m(tt.array([-1.0, 3.0])).tolist() == [0, 3] and len(seen) == 1


def test_containers():
    m = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
    assert len(m) == 3 and isinstance(m[-1], nn.Linear) and len(m[:2]) == 2
    m[1] = nn.Tanh()
    del m[0]
    assert [type(x).__name__ for x in m] == ["Tanh", "Linear"] and [n for n, _ in m.named_children()] == ["0", "1"]
    many = nn.ModuleList([nn.Linear(1, 1)])
    many += [nn.Linear(1, 1)]
    many.insert(0, nn.ReLU())
    assert len(many) == 3 and len(list(many.parameters())) == 4
    line = "2 x Linear(in_features=1, out_features=1, bias=True)"
    assert repr(many) == f"ModuleList(\n  (0): ReLU()\n  (1-2): {line}\n)" and repr(nn.ModuleList()) == "ModuleList()"
    named = nn.ModuleDict({"a": nn.ReLU()})
    named["b"] = nn.Tanh()
    assert list(named) == ["a", "b"] and "b" in named and isinstance(named.pop("a"), nn.ReLU)
    with pytest.raises(TypeError, match="str is not a Module subclass"):
        nn.Sequential("relu")


def test_copies_and_pickles():
    m = Block()
    x = floats(6, 4)
    for other in copy.deepcopy(m), pickle.loads(pickle.dumps(m)):
        np.testing.assert_array_equal(other.eval()(x).numpy(), m.eval()(x).numpy())
        assert other.scale is not m.scale and isinstance(other.scale, nn.Parameter)


def test_printing():
    m = nn.Sequential(nn.Linear(2, 3), nn.Sequential(nn.ReLU(inplace=True)))
    assert repr(m) == (
        "Sequential(\n  (0): Linear(in_features=2, out_features=3, bias=True)\n"
        "  (1): Sequential(\n    (0): ReLU(inplace=True)\n  )\n)"
    )
    assert repr(nn.Conv2d(3, 6, 3, padding="same", groups=3, bias=False)) == (
        "Conv2d(3, 6, kernel_size=(3, 3), stride=(1, 1), padding=same, groups=3, bias=False)"
    )


@pytest.mark.parametrize("call, kind, words", [
    (lambda m: setattr(m, "first", 3), TypeError, "cannot assign 'int' as child module 'first' .Module or"),
    (lambda m: setattr(m, "scale", tt.ones(3)), TypeError, "cannot assign 'ndarray' as parameter 'scale'"),
    (lambda m: m.register_parameter("a.b", None), KeyError, "parameter name can"),
    (lambda m: m.register_buffer("note", tt.ones(1)), KeyError, "attribute 'note' already exists"),
    (lambda m: nn.Module()(1), NotImplementedError, 'is missing the required "forward" function'),
    (lambda m: m.get_submodule("second"), AttributeError, "Block has no module `second`"),
    (lambda m: nn.Conv2d(3, 4, 3, groups=2), ValueError, "in_channels must be divisible by groups"),
    (lambda m: nn.GroupNorm(2, 3), ValueError, "num_channels .3. must be divisible by num_groups .2."),
    (lambda m: nn.BatchNorm2d(3)(tt.ones((1, 3))), ValueError, r"expected 4D input \(got 2D input\)"),
    (lambda m: nn.Nothing, AttributeError, "module 'tutti.nn' has no attribute 'Nothing'"),
])  # fmt: skip
def test_what_is_wrong_is_said(call, kind, words):
    with pytest.raises(kind, match=words):
        call(Block())


def test_members_before_the_constructor():
    class Early(nn.Module):
        def __init__(self):
            self.layer = nn.ReLU()

    with pytest.raises(AttributeError, match="cannot assign module before Module.__init__"):
        Early()


def test_first_values():
    tt.random.seed(0)
    w = nn.Linear(400, 300).weight.numpy()
    assert abs(w).max() <= 0.05 and abs(w.std() - 0.05 / 3**0.5) < 1e-3
    x = nn.init.kaiming_normal_(tt.empty((200, 100, 3, 3)), nonlinearity="relu").numpy()
    assert abs(x.std() - (2 / 900) ** 0.5) < 1e-3
    y = nn.init.xavier_uniform_(tt.empty((200, 300))).numpy()
    assert abs(y).max() <= (6 / 500) ** 0.5 and abs(y.std() - (2 / 500) ** 0.5) < 1e-3
    z = nn.init.trunc_normal_(tt.empty(20000), std=2.0).numpy()
    assert abs(z).max() <= 2 and z.std() > 1
    for shape in (5, 3), (3, 5), (4, 2, 3):
        q = nn.init.orthogonal_(tt.empty(shape)).numpy().reshape(shape[0], -1)
        small = q @ q.T if q.shape[0] < q.shape[1] else q.T @ q
        np.testing.assert_allclose(small, np.eye(len(small)), atol=1e-12)
    tt.random.seed(7)
    a = nn.Linear(3, 3).weight.tolist()
    tt.random.seed(7)
    assert nn.Linear(3, 3).weight.tolist() == a


def test_rows_of_padding():
    m = nn.Embedding(4, 2, padding_idx=-1)
    assert m.weight[3].tolist() == [0, 0] and m.padding_idx == 3 and m.weight[:3].detach().numpy().all()
    m(tt.array([3, 1])).sum().backward()
    assert m.weight.grad.tolist() == [[0, 0], [1, 1], [0, 0], [0, 0]]
    assert nn.PReLU(3, 0.5).weight.tolist() == [0.5] * 3


def test_batch_norm_modes():
    x = floats(8, 3)
    m = nn.BatchNorm1d(3, momentum=None)
    for _ in range(3):
        m(x)
    np.testing.assert_allclose(m.running_mean.numpy(), x.numpy().mean(axis=0), atol=1e-6)
    m.eval()
    y = m(x).numpy()
    np.testing.assert_allclose(y.mean(axis=0), 0, atol=1e-5)
    assert nn.BatchNorm1d(3, track_running_stats=False, affine=False).eval()(x).shape == (8, 3)


def test_a_small_network_learns(recorded):
    tt.random.seed(0)
    x = floats(64, 2)
    y = (x[:, 0] * x[:, 1] > 0).astype("int64")
    m = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 2))
    optimizer, loss = tt.optim.Adam(m.parameters(), lr=0.03), nn.CrossEntropyLoss()
    for _ in range(150):
        optimizer.zero_grad()
        loss(m(x), y).backward()
        optimizer.step()
    assert (m(x).argmax(axis=1) == y).mean() > 0.95


def test_layers_are_loaded_when_they_are_asked_for():
    import subprocess
    import sys

    code = "import sys, tutti; tutti.nn; print(*sorted(m for m in sys.modules if m.startswith('tutti.nn')))"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.split()
    assert said == ["tutti.nn", "tutti.nn._calls", "tutti.nn._layers", "tutti.nn._module", "tutti.nn.functional"]


def listed(gradients):
    return [None if g is None else g.tolist() for g in gradients]


def test_hooks_on_the_way_back():
    lin, seen = nn.Linear(3, 2), []
    with tt.no_grad():
        lin.weight[...], lin.bias[...] = tt.arange(6.0).reshape(2, 3), 1
    net = nn.Sequential(lin, nn.ReLU())
    handles = [
        net[0].register_full_backward_hook(lambda m, into, out: seen.append((listed(into), listed(out)))),
        net[1].register_full_backward_hook(lambda m, into, out: (into[0] * 2,)),
        net.register_full_backward_pre_hook(lambda m, out: (out[0] * 3,)),
    ]
    x = tt.array([[1.0, 2.0, -1.0]], dtype="float32").requires_grad_()
    net(x).sum().backward()
    assert seen == [([[[18, 30, 42]]], [[[6, 6]]])] and lin.weight.grad.tolist() == [[6, 12, -6], [6, 12, -6]]
    with pytest.warns(UserWarning, match="Full backward hook is firing"):
        net(x.detach()).sum().backward()
    assert seen[1] == ([None], [[[6, 6]]])
    for handle in handles:
        handle.remove()
    net(x).sum().backward()
    assert len(seen) == 2


def test_hooks_on_the_way_back_of_several():
    class Two(nn.Module):
        def forward(self, a, b):
            return a * b, a + 1, 5

    m, seen = Two(), []
    m.register_full_backward_hook(lambda m, into, out: seen.append((listed(into), listed(out))))
    a, b = tt.array([2.0]).requires_grad_(), tt.array([3.0])
    m(a, b)[0].backward()
    assert seen == [([[3], [0]], [[1], None, None])] and a.grad.tolist() == [3]
    m.register_full_backward_hook(lambda m, into, out: (into[0],))
    with pytest.raises(RuntimeError, match="invalid number of grad_input, got 1, but expected 2"):
        m(a, b)[0].backward()


def test_hooks_are_followed_twice():
    m = nn.Tanh()
    m.register_full_backward_hook(lambda m, into, out: (into[0] * 2,))
    x = tt.array([0.5]).requires_grad_()
    (g,) = tt.grad(m(x).sum(), x, create_graph=True)
    slope = 1 - np.tanh(0.5) ** 2
    assert abs(g.item() - 2 * slope) < 1e-12
    assert abs(tt.grad(g.sum(), x)[0].item() + 2 * 2 * np.tanh(0.5) * slope) < 1e-12


def test_hooks_with_names_and_after_failures():
    class Halves(nn.Module):
        def forward(self, x, by=2):
            if by == 0:
                raise ValueError("by 0")
            return x / by

    m, seen = Halves(), []
    m.register_forward_pre_hook(lambda m, args, named: (args, {**named, "by": named["by"] * 2}), with_kwargs=True)
    m.register_forward_hook(lambda m, args, named, made: seen.append((named, made)), with_kwargs=True, always_call=True)
    m.register_forward_hook(lambda m, args, made: seen.append("first"), prepend=True)
    assert m(tt.array(8.0), by=2).item() == 2 and seen[0] == "first" and seen[1][0] == {"by": 4}
    with pytest.raises(ValueError, match="by 0"):
        m(tt.array(8.0), by=0)
    assert seen[2:] == [({"by": 0}, None)]


def test_hooks_of_states():
    class Counts(nn.Module):
        n = 3

        def get_extra_state(self):
            return {"n": self.n}

        def set_extra_state(self, state):
            self.n = state["n"]

    m = nn.Sequential(Counts(), nn.Linear(1, 1))
    state = m.state_dict()
    assert list(state) == ["0._extra_state", "1.weight", "1.bias"]
    state["0._extra_state"] = {"n": 9}
    assert repr(m.load_state_dict(state)) == "<All keys matched successfully>" and m[0].n == 9
    m.register_state_dict_post_hook(lambda m, state, prefix, _: state.__delitem__(prefix + "1.bias"))
    assert list(m.state_dict()) == ["0._extra_state", "1.weight"]
    with pytest.raises(RuntimeError, match='Missing key\\(s\\) in state_dict: "1.bias"'):
        m.load_state_dict(m.state_dict())
    m[1].register_load_state_dict_pre_hook(lambda m, state, prefix, *_: state.setdefault(prefix + "bias", tt.ones(1)))
    with pytest.raises(RuntimeError, match="must not return anything"):
        m.load_state_dict(m.state_dict())


def test_names_that_hooks_forgive():
    m, seen = nn.Linear(1, 1), []

    def forgive(module, names):
        seen.append(list(names.missing_keys))
        names.missing_keys.clear()

    m.register_load_state_dict_post_hook(forgive)
    m.load_state_dict({"weight": tt.full((1, 1), 7.0)})
    assert seen == [["bias"]] and m.weight.item() == 7
    m.load_state_dict(m.state_dict())
    assert seen == [["bias"], []]


def test_modules_take_places():
    m = nn.Sequential(nn.Sequential(nn.ReLU()))
    m.set_submodule("0.0", nn.Tanh())
    assert isinstance(m[0][0], nn.Tanh)
    m.set_submodule("0.1", nn.ReLU())
    with pytest.raises(AttributeError, match="Sequential has no attribute `2`"):
        m.set_submodule("0.2", nn.ReLU(), strict=True)
    with pytest.raises(ValueError, match="without a target name"):
        m.set_submodule("", nn.ReLU())


@pytest.mark.parametrize("shape", [(4, 4), (5, 3), (3, 5)])
@pytest.mark.parametrize("how", ["matrix_exp", "cayley", "householder"])
def test_weights_stay_orthogonal(shape, how):
    m = nn.Linear(*shape[::-1], dtype="float64")
    q, _ = np.linalg.qr(np.random.default_rng(0).standard_normal((max(shape), min(shape))))
    q = q if shape[0] >= shape[1] else q.T
    with tt.no_grad():
        m.weight[...] = q
    nn.utils.parametrizations.orthogonal(m, orthogonal_map=how)
    if shape[0] == shape[1]:
        np.testing.assert_allclose(m.weight.detach().numpy(), q, atol=1e-14)
    optimizer = tt.optim.SGD(m.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        (m.weight * tt.arange(q.size * 1.0).reshape(shape)).sum().backward()
        optimizer.step()
    w = m.weight.detach().numpy()
    assert abs(w - q).max() > 1e-3
    np.testing.assert_allclose(
        *(w.T @ w, np.eye(shape[1])) if shape[0] >= shape[1] else (w @ w.T, np.eye(shape[0])), atol=1e-12
    )


def test_reflections_of_a_matrix():
    m = nn.Linear(3, 5, dtype="float64")
    q, _ = np.linalg.qr(np.random.default_rng(0).standard_normal((5, 3)))
    with tt.no_grad():
        m.weight[...] = q
    nn.utils.parametrizations.orthogonal(m, use_trivialization=False)
    np.testing.assert_allclose(m.weight.detach().numpy(), q, atol=1e-14)
    skew = nn.utils.parametrizations.orthogonal(nn.Linear(3, 3), orthogonal_map="cayley", use_trivialization=False)
    with pytest.raises(NotImplementedError, match="not possible to assign"):
        skew.weight = tt.eye(3, dtype="float32")
    with pytest.raises(ValueError, match="orthogonal_map has to be one of"):
        nn.utils.parametrizations.orthogonal(nn.Linear(3, 3), orthogonal_map="other")


def test_batch_norms_become_those_of_many_processes():
    m = nn.Sequential(nn.BatchNorm2d(2, affine=False), nn.Sequential(nn.BatchNorm1d(3, eps=0.1))).eval()
    weight, x = m[1][0].weight, floats(4, 3)
    want = m[1](x).numpy()
    made = nn.SyncBatchNorm.convert_sync_batchnorm(m)
    assert made is m and isinstance(m[0], nn.SyncBatchNorm) and m[1][0].weight is weight and not m[1][0].training
    np.testing.assert_array_equal(m[1](x).numpy(), want)
    made.train()[0](floats(4, 2, 3, 3, 3))
    assert m[0].num_batches_tracked.item() == 1
    with pytest.raises(ValueError, match="expected at least 2D input"):
        m[0](floats(3))
