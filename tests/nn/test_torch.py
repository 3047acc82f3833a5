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


LAYERS = [
    "Linear(4, 3)", "Linear(4, 3, bias=False)", "Bilinear(2, 3, 4)", "Identity()", "Embedding(10, 3)",
    "Embedding(10, 3, padding_idx=2)", "ReLU()", "ReLU(inplace=True)", "ReLU6()", "Hardtanh()",
    "Hardtanh(-2.0, 2.0)", "Threshold(0.1, 20)", "LeakyReLU(0.2)", "ELU()", "CELU()", "SELU()", "SiLU()", "Mish()",
    "GELU()", "GELU('tanh')", "Softplus()", "Softsign()", "LogSigmoid()", "Sigmoid()", "Tanh()", "Hardsigmoid()",
    "Hardswish()", "Tanhshrink()", "Hardshrink()", "Softshrink(0.25)", "GLU()", "Softmax(dim=1)", "Softmin(1)",
    "LogSoftmax(1)", "PReLU(3)", "RReLU()", "MaxPool1d(3)", "MaxPool2d((3, 2), stride=2, padding=1)",
    "MaxPool3d(2, ceil_mode=True)", "AvgPool1d(3)", "AvgPool2d(2)", "AvgPool3d(2, 1)", "AdaptiveAvgPool1d(3)",
    "AdaptiveAvgPool2d((1, 2))", "AdaptiveMaxPool3d(2)", "Unfold(2)", "Fold((4, 5), 2)", "Dropout()",
    "Dropout2d(0.3)", "AlphaDropout(0.3)", "MSELoss()", "CrossEntropyLoss()", "BCEWithLogitsLoss()",
    "TripletMarginLoss()", "CosineSimilarity()", "PairwiseDistance()", "Flatten()", "Unflatten(1, (2, 3))",
    "Conv1d(2, 4, 3)", "Conv2d(2, 4, (3, 2), stride=2, padding=1)",
    "Conv3d(2, 4, 3, dilation=2, groups=2, bias=False)", "Conv2d(2, 4, 3, padding='same', padding_mode='reflect')",
    "Conv2d(2, 4, 3, padding=(1, 2), padding_mode='circular')",
    "ConvTranspose2d(2, 4, 3, stride=2, output_padding=1)", "ConvTranspose1d(4, 2, 3, groups=2, dilation=2)",
    "BatchNorm1d(3)", "BatchNorm2d(3, momentum=0.5)", "BatchNorm3d(3, affine=False)", "InstanceNorm1d(3)",
    "InstanceNorm2d(3, affine=True)", "LayerNorm(4)", "LayerNorm((3, 4), elementwise_affine=False)",
    "LayerNorm(4, bias=False)", "RMSNorm(4)", "GroupNorm(3, 6)", "Upsample(scale_factor=2)",
    "Upsample((3, 4), mode='bilinear')", "ZeroPad2d(1)", "ConstantPad1d(2, 3.5)", "ReflectionPad2d((1, 2, 0, 1))",
    "Sequential(nn.Linear(2, 3), nn.ReLU())", "ModuleList([nn.ReLU(), nn.Sequential(nn.Tanh())])",
    "ModuleDict({'a': nn.ReLU()})",
]  # fmt: skip


@pytest.mark.parametrize("made", LAYERS)
def test_layers_print_alike(made):
    ours, theirs = (eval("nn." + made, {"nn": module.nn}) for module in (tt, torch))
    assert repr(ours) == repr(theirs)
    assert list(ours.state_dict()) == list(theirs.state_dict())
    for name, value in theirs.state_dict().items():
        assert ours.state_dict()[name].shape == tuple(value.shape) and str(value.dtype)[6:] == str(
            ours.state_dict()[name].dtype
        )


@pytest.mark.parametrize("made, shape", [
    ("Linear(4, 3)", (5, 4)), ("Conv1d(2, 4, 3)", (3, 2, 8)),
    ("Conv2d(2, 4, (3, 2), stride=2, padding=1)", (3, 2, 8, 7)),
    ("Conv3d(2, 4, 3, dilation=2, groups=2, bias=False)", (2, 2, 6, 7, 6)), ("PReLU(3)", (2, 3, 4)),
    ("Conv2d(2, 4, 3, padding='same', padding_mode='reflect')", (2, 2, 6, 5)),
    ("Conv2d(2, 4, 3, padding=(1, 2), padding_mode='circular')", (2, 2, 6, 5)),
    ("ConvTranspose2d(2, 4, 3, stride=2, output_padding=1)", (2, 2, 4, 5)),
    ("ConvTranspose1d(4, 2, 3, groups=2, dilation=2)", (2, 4, 6)), ("BatchNorm1d(3)", (6, 3)),
    ("BatchNorm2d(3, momentum=0.5)", (2, 3, 4, 5)), ("BatchNorm3d(3, affine=False)", (2, 3, 2, 3, 2)),
    ("BatchNorm1d(3, momentum=None)", (6, 3, 4)), ("InstanceNorm1d(3)", (2, 3, 5)),
    ("InstanceNorm2d(3, affine=True)", (3, 4, 5)), ("InstanceNorm2d(3, track_running_stats=True)", (2, 3, 4, 5)),
    ("Upsample(scale_factor=2)", (2, 3, 4)), ("ReplicationPad2d(2)", (2, 3, 4, 5)), ("CircularPad1d(1)", (2, 3, 4)),
    ("LayerNorm(4)", (2, 3, 4)), ("RMSNorm(4)", (2, 3, 4)), ("GroupNorm(3, 6)", (2, 6, 4)),
    ("Flatten()", (2, 3, 4)), ("Unflatten(1, (2, -1))", (2, 6)),
])  # fmt: skip
def test_layers_with_parameters(made, shape):
    ours, theirs = (eval("nn." + made, {"nn": module.nn}) for module in (tt, torch))
    ours.load_state_dict({k: v.numpy() for k, v in theirs.state_dict().items()})
    x = np.random.default_rng(0).standard_normal(shape).astype("float32")
    for mode in True, True, False:
        a, b = both(x, "float32", True)
        got, want = ours.train(mode)(a), theirs.train(mode)(b)
        near(got, want, "float32")
        got.backward(tt.array(x.reshape(-1)[:1]) * tt.ones(got.shape, dtype="float32"))
        want.backward(torch.tensor(x.reshape(-1)[:1]) * torch.ones(want.shape))
        near(a.grad, b.grad, "float32")
        for (_, p), (_, q) in zip(ours.named_parameters(), theirs.named_parameters(), strict=True):
            near(p.grad, q.grad, "float32")
        for (_, p), (_, q) in zip(ours.named_buffers(), theirs.named_buffers(), strict=True):
            np.testing.assert_allclose(p.numpy(), q.numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("norm", [2.0, 1.0, float("inf")])
def test_gradients_kept_short(norm):
    r = np.random.default_rng(0)
    values, sides = [r.standard_normal((3, 4)), r.standard_normal(5)], []
    for module, make in (tt, tt.array), (torch, torch.tensor):
        leaves = [make(a).requires_grad_() for a in values]
        for leaf in leaves:
            (leaf**3).sum().backward()
        total = module.nn.utils.clip_grad_norm_(leaves, 2.0, norm)
        module.nn.utils.clip_grad_value_(leaves, 0.5)
        sides.append([total, *(leaf.grad for leaf in leaves)])
    for ours, theirs in zip(*sides):
        near(ours, theirs, "float64")
