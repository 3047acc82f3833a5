"""Mixed precision: which types come out, PyTorch's lists where it is installed, gradients, and the scaler's steps."""

import math
import random
import threading

import numpy as np
import pytest
import tutti as tt
from samples import SAMPLES
from tutti import amp
from tutti.nn import functional as f

LOW, FULL, SAME = "low", "full", "same"
INDEX = np.array([0, 1, 2, 3])
# What becomes of matrices, by the type of what comes out.
CALLS = {
    "a @ a": (LOW, lambda a: a @ a),
    "a @ a[0]": (LOW, lambda a: a @ a[0]),
    "matmul": (LOW, lambda a: tt.matmul(a, a)),
    "tensordot": (LOW, lambda a: tt.tensordot(a, a, 1)),
    "einsum": (LOW, lambda a: tt.einsum("ij,jk->ik", a, a)),
    "vecdot": (LOW, lambda a: tt.vecdot(a, a)),
    "multi_dot": (LOW, lambda a: tt.linalg.multi_dot([a, a, a])),
    "linear": (LOW, lambda a: f.linear(a, a, a[0])),
    "conv1d": (LOW, lambda a: f.conv1d(a[None], a[None])),
    "attention": (LOW, lambda a: f.scaled_dot_product_attention(a[None], a[None], a[None])),
    "a + a": (SAME, lambda a: a + a),
    "2 * a": (SAME, lambda a: 2 * a),
    "sqrt": (SAME, lambda a: tt.sqrt(abs(a))),
    "sin": (SAME, tt.sin),
    "mean": (SAME, lambda a: a.mean()),
    "max": (SAME, lambda a: a.max()),
    "relu": (SAME, f.relu),
    "gelu": (SAME, f.gelu),
    "tanh": (SAME, tt.tanh),
    "dropout": (SAME, f.dropout),
    "max_pool1d": (SAME, lambda a: f.max_pool1d(a[None], 2)),
    "concatenate": (SAME, lambda a: tt.concatenate([a, a])),
    "exp": (FULL, tt.exp),
    "log1p": (FULL, lambda a: tt.log1p(abs(a))),
    "a ** 3": (FULL, lambda a: a**3),
    "2 ** a": (FULL, lambda a: 2**a),
    "reciprocal": (FULL, tt.reciprocal),
    "sum": (FULL, lambda a: a.sum()),
    "prod": (FULL, lambda a: tt.prod(a, axis=0)),
    "cumsum": (FULL, lambda a: tt.cumsum(a, axis=0)),
    "norm": (FULL, tt.linalg.norm),
    "softmax": (FULL, lambda a: f.softmax(a, -1)),
    "log_softmax": (FULL, lambda a: f.log_softmax(a, -1)),
    "layer_norm": (FULL, lambda a: f.layer_norm(a, (4,))),
    "batch_norm": (FULL, lambda a: f.batch_norm(a, None, None, training=True)),
    "mse_loss": (FULL, lambda a: f.mse_loss(a, a)),
    "cross_entropy": (FULL, lambda a: f.cross_entropy(a, tt.asarray(INDEX))),
}


@pytest.mark.parametrize("low", ["bfloat16", "float16"])
@pytest.mark.parametrize("name", CALLS)
def test_types(name, low):
    rule, call = CALLS[name]
    x = tt.asarray(np.random.default_rng(1).standard_normal((4, 4)).astype("float32"))
    narrow = x.astype(low)
    types = {LOW: (low, low), SAME: ("float32", low), FULL: ("float32", "float32")}[rule]
    with amp.autocast(dtype=low):
        got, of_narrow = call(x), call(narrow)
        assert (got.dtype.name, of_narrow.dtype.name) == types
        assert call(x.astype("float64")).dtype == "float64"
        assert call(tt.ones((4, 4), dtype="float32")).dtype == types[0]
    if rule == LOW and got.device.type == "cpu":
        assert got.tobytes() == call(narrow).tobytes()
    elif rule == LOW:  # a product's library may add the bias before it rounds
        np.testing.assert_allclose(*(a.astype("float32").numpy() for a in (got, call(narrow))), atol=0.02)
    if rule == FULL:
        assert of_narrow.tobytes() == call(narrow.astype("float32")).tobytes()
    assert call(x).dtype == "float32"


def test_what_is_written_stays():
    x, out = tt.ones((3, 3), dtype="float32"), tt.zeros((3, 3), dtype="float32")
    with amp.autocast():
        assert tt.matmul(x, x, out=out) is out
        tt.exp(x, out=x)
    assert out.tolist() == [[3.0] * 3] * 3 and abs(x[0, 0].item() - math.e) < 1e-6
    mean = tt.zeros(3, dtype="float32")
    with amp.autocast():
        f.batch_norm(x.astype("bfloat16"), mean, tt.ones(3, dtype="float32"), training=True)
    assert mean[0].item() != 0


def test_contexts():
    x = tt.ones((2, 2), dtype="float32")
    assert not amp.is_autocast_enabled()
    with amp.autocast("cuda") as outer:
        assert amp.get_autocast_dtype() == tt.float16
        with amp.autocast("cpu", enabled=False):
            assert (x @ x).dtype == "float32"
        with amp.autocast("cpu"), outer:
            assert (x @ x).dtype == "float16"
        with pytest.raises(ZeroDivisionError), amp.autocast():
            raise ZeroDivisionError
        assert (x @ x).dtype == "float16"
        seen = []
        thread = threading.Thread(target=lambda: seen.append(amp.is_autocast_enabled()))
        thread.start()
        thread.join()
        assert seen == [False]
    assert not amp.is_autocast_enabled()
    assert amp.autocast("cpu")(lambda a: a @ a)(x).dtype == "bfloat16"
    with pytest.warns(UserWarning, match="Disabling autocast"), amp.autocast("cpu", dtype=tt.float32):
        assert not amp.is_autocast_enabled()
    with pytest.raises(RuntimeError, match="unsupported autocast device_type 'tpu'"):
        amp.autocast("tpu")
    with pytest.raises(ValueError, match="of type `str`"):
        amp.autocast(3)


def test_gradients_are_of_the_parameters_type():
    tt.manual_seed(0)  # others can lie where a slope jumps
    model = tt.nn.Sequential(tt.nn.Linear(4, 8), tt.nn.LayerNorm(8), tt.nn.ReLU(), tt.nn.Linear(8, 2))
    x = tt.asarray(np.random.default_rng(0).standard_normal((5, 4)).astype("float32"))
    with amp.autocast():
        out = model(x)
        loss = f.mse_loss(out, tt.zeros((5, 2), dtype="float32"))
    assert out.dtype == "bfloat16" and loss.dtype == "float32"
    loss.backward()
    low = [p.grad for p in model.parameters()]
    assert all(g.dtype == "float32" for g in low)
    for p in model.parameters():
        p.grad = None
    f.mse_loss(model(x), tt.zeros((5, 2), dtype="float32")).backward()
    for g, p in zip(low, model.parameters(), strict=True):
        np.testing.assert_allclose(g, p.grad, atol=0.05 * float(abs(p.grad).max()) + 1e-6)


def test_layers():
    x = tt.asarray(np.random.default_rng(0).standard_normal((3, 2, 4)).astype("float32"))
    nn = tt.nn
    layers = [nn.RNN(4, 5), nn.GRU(4, 5, num_layers=2), nn.LSTM(4, 5, bidirectional=True), nn.GRUCell(4, 5)]
    for layer in layers:
        with amp.autocast():
            out = layer(x if layer is not layers[3] else x[0])
        first = out[0] if isinstance(out, tuple) else out
        assert first.dtype == "bfloat16"
        first.sum().backward()
        assert all(p.grad.dtype == "float32" for p in layer.parameters())
    attention = nn.MultiheadAttention(4, 2)
    with amp.autocast():
        out, _ = attention(x, x, x)
    assert out.dtype == "bfloat16"


def test_a_parameter_is_cast_once(eager):
    w = tt.nn.Parameter(tt.full((64, 64), 0.5, dtype="float32"))
    x = tt.ones((1, 64), dtype="float32")
    with amp.autocast():
        y = (x @ w) @ w
        y.sum().backward()
        first = w.grad.copy()
    w.grad = None
    with amp.autocast(cache_enabled=False):
        y = (x @ w) @ w
        y.sum().backward()
    assert first.tobytes() == w.grad.tobytes()
    with amp.autocast():
        before = (x @ w)[0, 0].item()
        with tt.no_grad():
            w *= 2
        assert (x @ w)[0, 0].item() == 2 * before


def test_parts_of_a_parameter_are_not_each_other():
    w = tt.nn.Parameter(tt.concatenate([tt.ones((4, 4), dtype="float32"), tt.zeros((4, 4), dtype="float32")]))
    square = tt.nn.Parameter(tt.asarray([[1.0, 2.0], [3.0, 4.0]], dtype="float32"))
    x, y = tt.ones((1, 4), dtype="float32"), tt.ones((1, 2), dtype="float32")
    with amp.autocast():
        assert [(x @ part)[0, 0].item() for part in (w[:4], w[4:], w[:4])] == [4, 0, 4]
        products = [(y @ a).tolist()[0] for a in (square, square.T, square[::-1], square.reshape(2, 2), square)]
        assert products == [[4, 6], [3, 7], [4, 6], [4, 6], [4, 6]]
        assert tt.exp(x[0, 0].astype("bfloat16")).dtype == "float32"


def test_what_comes_out_can_be_written():
    w, x = tt.nn.Parameter(tt.ones((2, 2), dtype="float32")), tt.ones((1, 2), dtype="float32")
    with amp.autocast():
        x @ w
        with tt.no_grad():
            tt.einsum("ij->ij", w)[...] = 5
        turned = tt.einsum("ij->ji", w)
        with tt.no_grad():
            turned[...] = 7
        assert (x @ w).tolist() == [[2, 2]] and w.tolist() == [[1, 1], [1, 1]]


def test_what_is_computed_again_is_cast_again():
    w = tt.asarray(np.random.default_rng(2).standard_normal((4, 4)).astype("float32")).requires_grad_()
    gradients = []
    for call in (lambda f, *args: f(*args), tt.checkpoint):
        w.grad = None
        with amp.autocast():
            y = call(lambda w: tt.exp(w @ w), w)
        y.sum().backward()
        gradients.append(w.grad.tobytes())
    assert gradients[0] == gradients[1]


def test_functions_of_users():
    class Square(tt.Function):
        @staticmethod
        @amp.custom_fwd(device_type="cpu")
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x @ x

        @staticmethod
        @amp.custom_bwd(device_type="cpu")
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            types.append((g.astype("float32") @ x).dtype.name)
            return 2 * g.astype("float32") * x

    class Full(Square):
        @staticmethod
        @amp.custom_fwd(cast_inputs=tt.float32)
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x @ x

    types, x = [], tt.ones((2, 2), dtype="float32").requires_grad_()
    with amp.autocast():
        y, z = Square.apply(x), Full.apply(x.astype("bfloat16"))
    assert (y.dtype, z.dtype) == ("bfloat16", "float32")
    y.sum().backward()
    z.sum().backward()
    assert types == ["bfloat16", "float32"]


# ---- the scaler

OPTIMIZERS = {
    "SGD": lambda p: tt.optim.SGD(p, lr=0.1, momentum=0.9, dampening=0.5),
    "Adam": lambda p: tt.optim.Adam(p, lr=0.1),
    "AdamW": lambda p: tt.optim.AdamW(p, lr=0.1, amsgrad=True),
    "NAdam": lambda p: tt.optim.NAdam(p, lr=0.1),
    "RMSprop": lambda p: tt.optim.RMSprop(p, lr=0.1, momentum=0.5),
    "Adagrad": lambda p: tt.optim.Adagrad(p, lr=0.1),
}


def train(make, slopes, scaler):
    """Parameters after steps with these slopes; None: infinite, and without a scaler no step."""
    w = tt.array([1.0, 2.0, 3.0], dtype="float32").requires_grad_()
    optimizer = make([w])
    for slope in slopes:
        optimizer.zero_grad()
        loss = (w * w * tt.array(math.inf if slope is None else slope, dtype="float32")).sum()
        if scaler:
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
        elif slope is not None:
            loss.backward()
            optimizer.step()
    return w, optimizer


@pytest.mark.parametrize("name", OPTIMIZERS)
@pytest.mark.parametrize("slopes", [(1, 0.5, None, 2, None, None, 1), (None, 1, 2), (None,), (1, None)])
def test_skipped_steps(name, slopes):
    """Steps with gradients that are not finite might as well not have been."""
    scaler = amp.GradScaler(init_scale=1024.0)
    w, optimizer = train(OPTIMIZERS[name], slopes, scaler)
    want, other = train(OPTIMIZERS[name], slopes, None)
    assert w.tobytes() == want.tobytes()
    ours, theirs = optimizer.state_dict()["state"], other.state_dict()["state"]
    assert ours.keys() == theirs.keys()
    for k, own in theirs.items():
        assert all(own[n].tobytes() == ours[k][n].tobytes() for n in own)
    assert scaler.get_scale() == 1024.0 * 0.5 ** slopes.count(None)


def test_growth():
    scaler = amp.GradScaler(init_scale=4.0, growth_interval=2, growth_factor=3.0, backoff_factor=0.25)
    seen = []
    for k in range(7):
        train(OPTIMIZERS["SGD"], [None if k == 3 else 1], scaler)
        seen.append(scaler.get_scale())
    assert seen == [4, 12, 12, 3, 3, 9, 9]
    other = amp.GradScaler()
    other.load_state_dict(scaler.state_dict())
    assert other.state_dict() == scaler.state_dict()
    scaler.update(new_scale=5)
    assert scaler.get_scale() == 5


def test_unscaled_gradients_can_be_clipped():
    w = tt.ones(3, dtype="float32").requires_grad_()
    optimizer, scaler = tt.optim.SGD([w], lr=1.0), amp.GradScaler()
    scaler.scale((w * 3).sum()).backward()
    scaler.unscale_(optimizer)
    assert w.grad.tolist() == [3, 3, 3]
    tt.nn.utils.clip_grad_value_([w], 1.0)
    scaler.step(optimizer)
    scaler.update()
    assert w.tolist() == [0, 0, 0]


def test_errors_of_the_scaler():
    w = tt.ones(3, dtype="float32").requires_grad_()
    optimizer, scaler = tt.optim.SGD([w], lr=1.0), amp.GradScaler()
    with pytest.raises(AssertionError, match="_scale is None"):
        scaler.step(optimizer)
    scaler.scale(w.sum())
    with pytest.raises(AssertionError, match="No inf checks were recorded for this optimizer"):
        scaler.step(optimizer)
    scaler = amp.GradScaler()
    scaler.scale(w.sum()).backward()
    with pytest.raises(AssertionError, match="No inf checks were recorded prior to update"):
        scaler.update()
    with pytest.raises(RuntimeError, match="Closure use"):
        scaler.step(optimizer, closure=lambda: 0)
    scaler.unscale_(optimizer)
    with pytest.raises(RuntimeError, match="already been called on this optimizer"):
        scaler.unscale_(optimizer)
    scaler.step(optimizer)
    with pytest.raises(RuntimeError, match=r"step\(\) has already been called"):
        scaler.step(optimizer)
    with pytest.raises(RuntimeError, match=r"being called after step\(\)"):
        scaler.unscale_(optimizer)
    scaler.update()
    half = tt.ones(3, dtype="float16").requires_grad_()
    scaler.scale(half.sum()).backward()
    with pytest.raises(ValueError, match="Attempting to unscale FP16 gradients"):
        scaler.step(tt.optim.SGD([half], lr=1.0))
    for wrong in ({"growth_factor": 1.0}, {"backoff_factor": 1.0}):
        with pytest.raises(AssertionError):
            amp.GradScaler(**wrong)
    with pytest.raises(RuntimeError, match="source state dict is empty"):
        scaler.load_state_dict({})
    with pytest.raises(ValueError):
        scaler.scale(3)
    off = amp.GradScaler(enabled=False)
    assert off.scale(w) is w and off.state_dict() == {} and off.get_scale() == 1.0
    off.step(optimizer)
    off.update()


def test_a_skip_that_failed_is_forgotten():
    w = tt.ones(2).requires_grad_()
    tt._core.steps_skip(tt.array(True))
    w.sum().backward()
    optimizer = tt.optim.SGD([w], lr=1.0)
    optimizer.step()
    assert w.tolist() == [1, 1]
    optimizer.step()
    assert w.tolist() == [0, 0]
    with pytest.raises(ValueError):
        tt._core.steps_skip(tt.ones(2))


def test_a_step_is_one_evaluation(eager):
    w = tt.ones((64, 64), dtype="float32").requires_grad_()
    x = tt.ones((64, 64), dtype="float32")
    optimizer, scaler = tt.optim.Adam([w]), amp.GradScaler()
    counts = []
    for _ in range(8):  # plans are found again when it is known which values stay
        optimizer.zero_grad()
        with amp.autocast(dtype=tt.float16):
            loss = f.mse_loss(x @ w, x)
        scaler.scale(loss).backward()
        before = tt._core._ledger()
        scaler.step(optimizer)
        scaler.update()
        after = tt._core._ledger()
        counts.append((after["evaluations"] - before["evaluations"], after["plan_misses"] - before["plan_misses"]))
    assert counts[-1] == (1, 0)


# ---- PyTorch


def types_here_and_there(torch, name):
    args, how = SAMPLES[name](random.Random(name))

    def of(make, value):
        if not isinstance(value, np.ndarray):
            return value
        return make(value.astype("float32") if value.dtype.kind == "f" else value)

    here, there = getattr(f, name), getattr(torch.nn.functional, name)
    with amp.autocast("cpu"):
        got = here(*(of(tt.array, a) for a in args), **{k: of(tt.array, a) for k, a in how.items()})
    with torch.autocast("cpu"):
        want = there(*(of(torch.tensor, a) for a in args), **{k: of(torch.tensor, a) for k, a in how.items()})
    return f"torch.{got.dtype.name}", str(want.dtype)


def test_types_are_pytorchs():
    torch = pytest.importorskip("torch")
    there = [name for name in SAMPLES if hasattr(torch.nn.functional, name)]  # a later PyTorch has all
    types = {name: types_here_and_there(torch, name) for name in there}
    assert {name: (got, want) for name, (got, want) in types.items() if got != want} == {}


def test_scales_are_pytorchs():
    torch = pytest.importorskip("torch")
    slopes = [1, 1, None, 1, 1, 1, None, None, 1]
    ours = amp.GradScaler("cpu", init_scale=64.0, growth_interval=2)
    theirs = torch.amp.GradScaler("cpu", init_scale=64.0, growth_interval=2)
    w = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=0.1)
    for slope in slopes:
        train(OPTIMIZERS["SGD"], [slope], ours)
        optimizer.zero_grad()
        theirs.scale((w * w * (math.inf if slope is None else slope)).sum()).backward()
        theirs.step(optimizer)
        theirs.update()
        assert ours.get_scale() == theirs.get_scale()
        assert ours.state_dict() == theirs.state_dict()
