"""Functions of networks against PyTorch, where that is installed: values, gradients, and what batches leave behind."""

import inspect
import random
import re

import numpy as np
import pytest
import tutti as tt
from samples import SAMPLES
from tutti.nn import functional

torch = pytest.importorskip("torch")
# Arguments that PyTorch does not differentiate, or that are written.
LEFT = ("running_mean", "running_var", "target", "weight", "pos_weight", "_random_samples")


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
    if not hasattr(torch.nn.functional, name):
        pytest.skip(f"this PyTorch has no {name}")
    r = random.Random(f"{name} {seed}")
    dtype = "float64" if seed % 3 else "float32"
    args, how = SAMPLES[name](r)
    pairs = [both(a, dtype, True) for a in args]
    named = {k: both(v, dtype, k not in LEFT or not args) for k, v in how.items()}
    here, there = getattr(functional, name), getattr(torch.nn.functional, name)
    got = here(*(a for a, _ in pairs), **{k: a for k, (a, _) in named.items()})
    want = there(*(a for _, a in pairs), **{k: a for k, (_, a) in named.items()})
    near(got, want, dtype, name in ROUGH)
    cotangent = np.random.default_rng(seed).standard_normal(want.shape).astype(dtype)
    got.backward(tt.array(cotangent))
    want.backward(torch.tensor(cotangent))
    for ours, theirs in [*pairs, *named.values()]:
        if isinstance(theirs, torch.Tensor) and theirs.grad is not None:
            # PyTorch gives zeros where there is no slope.
            own = tt.zeros(ours.shape, dtype=dtype) if ours.grad is None else ours.grad
            near(own, theirs.grad, dtype, name in ROUGH)
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
    "ModuleDict({'a': nn.ReLU()})", "Softmax2d()", "CrossMapLRN2d(3)", "MaxUnpool1d(2)",
    "MaxUnpool2d((2, 3), stride=2, padding=1)", "GaussianNLLLoss()", "TripletMarginWithDistanceLoss()",
    "LinearCrossEntropyLoss(4, 3, bias=True)", "AdaptiveLogSoftmaxWithLoss(8, 20, [5, 10])",
    "EmbeddingBag(10, 3, mode='sum', padding_idx=1)", "UpsamplingNearest2d(scale_factor=2)",
    "UpsamplingBilinear2d((2, 3))", "LPPool2d(2, 3)", "LPPool1d(2, 3, stride=2)",
    "FractionalMaxPool2d(2, output_size=3)", "PixelShuffle(2)", "PixelUnshuffle(3)", "ChannelShuffle(2)",
    "LocalResponseNorm(3)", "PoissonNLLLoss()", "MultiMarginLoss()", "MultiLabelMarginLoss()",
    "MultiLabelSoftMarginLoss()", "AdaptiveMaxPool2d(3, return_indices=True)",
    "Embedding(10, 3, max_norm=2.0, norm_type=1.0, scale_grad_by_freq=True)",
    "utils.spectral_norm(nn.Linear(2, 3))", "utils.parametrizations.weight_norm(nn.Linear(2, 3))",
    "utils.parametrizations.spectral_norm(nn.ConvTranspose2d(2, 3, 3))",
    "utils.parametrizations.orthogonal(nn.Linear(2, 3))", "SyncBatchNorm(3, eps=0.1, affine=False)",
]  # fmt: skip


def printed(layer):
    """As PyTorch 2.15 says it; some before do not tell of a normalisation's bias."""
    text = repr(layer)
    tells = "bias" in inspect.signature(torch.nn.GroupNorm).parameters
    return text if tells or "Norm" not in text else re.sub(r", bias=(True|False)", "", text)


@pytest.mark.parametrize("made", LAYERS)
def test_layers_print_alike(made):
    if not hasattr(torch.nn, made.split("(")[0].split(".")[0]):
        pytest.skip("this PyTorch does not have the layer")
    ours, theirs = (eval("nn." + made, {"nn": module.nn}) for module in (tt, torch))
    assert printed(ours) == printed(theirs)
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


@pytest.mark.parametrize("made, shape", [
    ("RNN(3, 4)", (5, 2, 3)), ("RNN(3, 4, nonlinearity='relu', num_layers=2)", (5, 2, 3)), ("LSTM(3, 4)", (5, 2, 3)),
    ("LSTM(3, 4, num_layers=2, bidirectional=True)", (5, 2, 3)),
    ("LSTM(3, 4, batch_first=True, bias=False)", (2, 5, 3)), ("LSTM(3, 4, proj_size=2)", (5, 2, 3)),
    ("LSTM(3, 4, num_layers=2, bidirectional=True, proj_size=3)", (5, 2, 3)),
    ("GRU(3, 4, 2)", (5, 2, 3)), ("GRU(3, 4, bidirectional=True)", (5, 3)), ("LSTM(3, 4)", (6, 3)),
])  # fmt: skip
@pytest.mark.parametrize("started", [False, True])
def test_recurrent_layers(made, shape, started):
    ours, theirs = (eval("nn." + made, {"nn": module.nn}) for module in (tt, torch))
    assert repr(ours) == repr(theirs)
    ours.load_state_dict({k: v.numpy() for k, v in theirs.state_dict().items()})
    r = np.random.default_rng(0)
    (a, b), states = both(r.standard_normal(shape), "float32", True), []
    if started:
        n = len([k for k in theirs.state_dict() if k.startswith("weight_hh")])
        images = () if len(shape) == 2 else (shape[0] if "batch_first" in made else shape[1],)
        widths = [getattr(theirs, "proj_size", 0) or 4, 4][: 1 + ("LSTM" in made)]
        states = [both(r.standard_normal((n, *images, width)), "float32", True) for width in widths]
    given = [tuple(s[k] for s in states) if len(states) > 1 else (states[0][k] if states else None) for k in (0, 1)]
    got, want = ours(a, given[0]), theirs(b, given[1])
    flat = [(got[0], want[0]), *(zip(got[1], want[1]) if "LSTM" in made else [got[1:] + want[1:]])]
    for x, y in flat:
        near(x, y, "float32")
    sum((x * x).sum() for x, _ in flat).backward()
    sum((y * y).sum() for _, y in flat).backward()
    for x, y in [(a, b), *states, *zip(ours.parameters(), theirs.parameters(), strict=True)]:
        near(x.grad, y.grad, "float32")


@pytest.mark.parametrize(
    "made", ["RNNCell(3, 4)", "RNNCell(3, 4, nonlinearity='relu')", "LSTMCell(3, 4)", "GRUCell(3, 4, bias=False)"]
)
@pytest.mark.parametrize("shape", [(2, 3), (3,)])
def test_recurrent_cells(made, shape):
    ours, theirs = (eval("nn." + made, {"nn": module.nn}) for module in (tt, torch))
    assert repr(ours) == repr(theirs)
    ours.load_state_dict({k: v.numpy() for k, v in theirs.state_dict().items()})
    a, b = both(np.random.default_rng(0).standard_normal(shape), "float32", True)
    got, want = None, None
    for _ in range(3):
        got, want = ours(a, got), theirs(b, want)
    for x, y in zip(got, want) if isinstance(got, tuple) else [(got, want)]:
        near(x, y, "float32")
        (x * x).sum().backward(retain_graph=True), (y * y).sum().backward(retain_graph=True)
    near(a.grad, b.grad, "float32")


def loaded(made):
    ours, theirs = (eval("nn." + made, {"nn": module.nn}) for module in (tt, torch))
    assert set(ours.state_dict()) == set(theirs.state_dict())
    ours.load_state_dict({k: v.numpy() for k, v in theirs.state_dict().items()})
    return ours, theirs


def compare(got, want, inputs, ours, theirs):
    near(got, want, "float32")
    w = np.random.default_rng(9).standard_normal(want.shape).astype("float32")
    (got * tt.array(w)).sum().backward(), (want * torch.tensor(w)).sum().backward()
    own, other = dict(ours.named_parameters()), dict(theirs.named_parameters())
    for a, b in [*inputs, *((own[name], other[name]) for name in own)]:
        near(a.grad, b.grad, "float32")


@pytest.mark.parametrize("made", ["MultiheadAttention(8, 2)", "MultiheadAttention(8, 4, bias=False, batch_first=True)",
                                  "MultiheadAttention(8, 2, kdim=5, vdim=3)",
                                  "MultiheadAttention(8, 2, add_bias_kv=True, add_zero_attn=True)"])  # fmt: skip
@pytest.mark.parametrize("masks", ["", "bool", "float", "padding", "both", "heads"])
@pytest.mark.parametrize("weights", [True, False])
def test_heads(made, masks, weights):
    ours, theirs = loaded(made)
    r, turned = np.random.default_rng(0), "batch_first" in made
    shapes = [(4, 3, 8), (5, 3, ours.kdim), (5, 3, ours.vdim)]
    inputs = [both(r.standard_normal((s[1], s[0], s[2]) if turned else s), "float32", True) for s in shapes]
    hidden = {}
    if masks in ("bool", "both"):
        hidden["attn_mask"] = both(np.triu(np.ones((4, 5), bool), 2), "float32", False)
    if masks == "float":
        hidden["attn_mask"] = both(r.standard_normal((4, 5)), "float32", False)
    if masks == "heads":
        hidden["attn_mask"] = both(r.standard_normal((3 * ours.num_heads, 4, 5)), "float32", False)
    if masks in ("padding", "both"):
        hidden["key_padding_mask"] = both(np.arange(5) >= np.array([[5], [4], [3]]), "float32", False)
    got, shares = ours(*(a for a, _ in inputs), need_weights=weights, **{k: a for k, (a, _) in hidden.items()})
    want, theirs_shares = theirs(
        *(b for _, b in inputs), need_weights=weights, **{k: b for k, (_, b) in hidden.items()}
    )
    if weights:
        near(shares, theirs_shares, "float32")
    assert (shares is None) == (theirs_shares is None)
    compare(got, want, inputs, ours, theirs)


@pytest.mark.parametrize("options", ["", ", norm_first=True", ", activation='gelu', bias=False", ", batch_first=True"])
def test_transformers(options):
    for made in f"TransformerEncoderLayer(8, 2, 16, 0.0{options})", f"Transformer(8, 2, 2, 1, 16, 0.0{options})":
        ours, theirs = loaded(made)
        r = np.random.default_rng(0)
        inputs = [
            both(r.standard_normal((4, 3, 8)), "float32", True) for _ in range(2 if "Transformer(" in made else 1)
        ]
        hidden = [{}, {}]
        if len(inputs) == 2:
            steps = 3 if "batch_first" in options else 4
            hidden = [{"tgt_mask": m.nn.Transformer.generate_square_subsequent_mask(steps)} for m in (tt, torch)]
        got = ours(*(a for a, _ in inputs), **hidden[0])
        want = theirs(*(b for _, b in inputs), **hidden[1])
        compare(got, want, inputs, ours, theirs)


@pytest.mark.parametrize("seed", range(16))
def test_labels_spread_over_sequences(seed):
    r = np.random.default_rng(seed)
    images, steps, n = int(r.integers(1, 4)), int(r.integers(4, 9)), int(r.integers(2, 5))
    target = r.integers(0, 4, images)
    inputs = r.integers(1 if seed % 4 == 0 else 2 * target.max() + 1, max(steps, 2 * target.max() + 1) + 1, images)
    steps = max(steps, inputs.max())
    labels = r.integers(1, n, (images, max(target.max(), 1)))
    if seed % 2:
        labels = np.concatenate([row[:k] for row, k in zip(labels, target)])
    how = {"reduction": ["mean", "sum", "none"][seed % 3], "zero_infinity": True}
    a, b = both(r.standard_normal((steps, images, n)), "float64", True)
    got = functional.ctc_loss(functional.log_softmax(a, 2), *map(tt.array, (labels, inputs, target)), **how)
    other = torch.nn.functional
    want = other.ctc_loss(other.log_softmax(b, 2), *map(torch.tensor, (labels, inputs, target)), **how)
    near(got, want, "float64")
    got.sum().backward(), want.sum().backward()
    near(a.grad, b.grad, "float64")


@pytest.mark.parametrize("made", [
    "utils.spectral_norm(nn.Linear(5, 3))", "utils.spectral_norm(nn.ConvTranspose2d(4, 3, 3))",
    "utils.parametrizations.weight_norm(nn.Linear(5, 3))",
    "utils.parametrizations.weight_norm(nn.Conv2d(4, 3, 3), dim=1)",
    "utils.parametrizations.weight_norm(nn.Linear(5, 3), dim=None)",
    "utils.parametrizations.spectral_norm(nn.ConvTranspose2d(4, 3, 3))",
    "utils.parametrizations.spectral_norm(nn.Linear(5, 3), n_power_iterations=2)",
])  # fmt: skip
def test_weights_over_their_norm(made):
    ours, theirs = loaded(made)
    x = np.random.default_rng(0).standard_normal((3, 4, 5, 5)).astype("float32")
    steps = [module.optim.SGD(model.parameters(), lr=0.1) for module, model in ((tt, ours), (torch, theirs))]
    for mode in True, True, False:
        ours.train(mode), theirs.train(mode)
        got, want = ours(tt.array(x)), theirs(torch.tensor(x))
        near(got, want, "float32")
        (got * got).mean().backward(), (want * want).mean().backward()
        for optimizer in steps:
            optimizer.step(), optimizer.zero_grad()
    for name, value in theirs.state_dict().items():
        near(ours.state_dict()[name], value, "float32")


@pytest.mark.parametrize("made, shape", [
    ("LazyLinear(3)", (4, 2)), ("LazyConv2d(4, 3, groups=2)", (1, 2, 5, 5)), ("LazyBatchNorm2d()", (2, 3, 4, 4)),
    ("LazyConvTranspose1d(4, 3, groups=2)", (1, 2, 5)), ("LazyInstanceNorm1d()", (2, 3, 4)),
])  # fmt: skip
def test_lazy_layers(made, shape):
    ours, theirs = (eval("nn." + made, {"nn": module.nn}) for module in (tt, torch))
    assert printed(ours) == printed(theirs)
    x = np.random.default_rng(0).standard_normal(shape).astype("float32")
    want = theirs(torch.tensor(x))
    ours.load_state_dict({k: v.numpy() for k, v in theirs.state_dict().items()})
    assert printed(ours) == printed(theirs)
    near(ours(tt.array(x)), want, "float32")


def test_many_classes():
    ours, theirs = loaded("AdaptiveLogSoftmaxWithLoss(8, 20, [5, 10])")
    target = np.array([0, 7, 19, 4, 12, 6])
    a, b = both(np.random.default_rng(0).standard_normal((6, 8)), "float32", True)
    got, want = ours(a, tt.array(target)), theirs(b, torch.tensor(target))
    near(got.output, want.output, "float32")
    near(ours.log_prob(a), theirs.log_prob(b), "float32")
    compare(got.loss, want.loss, [(a, b)], ours, theirs)


@pytest.mark.parametrize("options", ["max_norm=1.0", "max_norm=2.0, norm_type=1.0, padding_idx=2",
                                     "scale_grad_by_freq=True", "scale_grad_by_freq=True, max_norm=1.0"])  # fmt: skip
def test_rows_of_tables(options):
    ours, theirs = loaded(f"Embedding(6, 3, {options})")
    at = np.array([[0, 2, 2], [4, 2, 0]])
    got, want = ours(tt.array(at)), theirs(torch.tensor(at))
    compare(got, want, [], ours, theirs)
    near(ours.weight, theirs.weight, "float32")


@pytest.mark.parametrize("shape", [(4, 4), (5, 3), (3, 5)])
@pytest.mark.parametrize("how", ["matrix_exp", "cayley", "householder", "householder of its own"])
def test_orthogonal_weights(shape, how):
    """Values and gradients of the same base, of the same steps away from it."""
    named = {"orthogonal_map": how.partition(" ")[0], "use_trivialization": " " not in how}
    r = np.random.default_rng(0)
    weight, moved, slope = (r.standard_normal(shape) for _ in range(3))
    if "householder" in how:  # the signs on the diagonal stay
        moved -= np.eye(*shape) * moved
    made, base = [], None
    for t, array in (torch, torch.tensor), (tt, tt.array):
        m = t.nn.Linear(*shape[::-1], bias=False, dtype=t.float64)
        with t.no_grad():
            m.weight[...] = array(weight)
            t.nn.utils.parametrizations.orthogonal(m, **named)
            one = m.parametrizations.weight
            if named["use_trivialization"]:
                base = one[0].base.numpy() if base is None else base
                one[0].base[...] = array(base)
            one.original[...] = one.original + array(moved)
        (m.weight * array(slope)).sum().backward()
        made.append([x.detach().numpy() for x in (m.weight, one.original.grad)])
    for theirs, ours in zip(*made):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-11)
