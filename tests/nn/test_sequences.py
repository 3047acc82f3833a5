"""Recurrent layers and attention of several heads: by formulas in NumPy, gradients by differences."""

import os
import sys

import numpy as np
import pytest
import references
import tutti as tt
from tutti import nn
from tutti.nn.utils import rnn

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(__file__)), "grad"))

from differences import backward, check_second, differences, results  # noqa: E402


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def step(mode, x, h, c, w_ih, w_hh, b_ih, b_hh):
    x, s = x @ w_ih.T + b_ih, h @ w_hh.T + b_hh
    if mode == "LSTM":
        i, f, g, o = np.split(x + s, 4, axis=-1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        return sigmoid(o) * np.tanh(c), c
    if mode == "GRU":
        (xr, xz, xn), (hr, hz, hn) = np.split(x, 3, axis=-1), np.split(s, 3, axis=-1)
        z = sigmoid(xz + hz)
        return (1 - z) * np.tanh(xn + sigmoid(xr + hr) * hn) + z * h, c
    return np.tanh(x + s), c


def sequence(mode, x, weights, layers, ways):
    last = [[], []]
    for layer in range(layers):
        outs = []
        for way in range(ways):
            own = [w.detach().numpy() for w in weights[4 * (layer * ways + way) :][:4]]
            h = c = np.zeros((x.shape[1], own[1].shape[1]))
            seen = []
            for t in x if way == 0 else x[::-1]:
                h, c = step(mode, t, h, c, *own)
                seen.append(h)
            outs.append(np.stack(seen if way == 0 else seen[::-1]))
            last[0].append(h), last[1].append(c)
        x = np.concatenate(outs, axis=-1)
    return x, np.stack(last[0]), np.stack(last[1])


@pytest.mark.parametrize("kind", ["RNN", "LSTM", "GRU"])
@pytest.mark.parametrize("layers, ways", [(1, 1), (2, 1), (2, 2)])
def test_sequences(kind, layers, ways):
    m = getattr(nn, kind)(3, 4, layers, bidirectional=ways == 2, dtype="float64")
    x = np.random.default_rng(0).standard_normal((5, 2, 3))
    want = sequence(kind, x, list(m.parameters()), layers, ways)
    out, last = m(tt.array(x))
    last, *memory = last if kind == "LSTM" else [last]
    for a, b in zip([out, last, *memory], want):
        np.testing.assert_allclose(a.detach().numpy(), b, rtol=1e-12, atol=1e-13)
    first, _ = m(tt.array(x[:, :1]))
    alone, _ = m(tt.array(x[:, 0]))
    np.testing.assert_array_equal(alone.detach().numpy(), first[:, 0].detach().numpy())
    m.batch_first = True
    turned, _ = m(tt.array(x.swapaxes(0, 1)))
    np.testing.assert_allclose(turned.detach().numpy().swapaxes(0, 1), want[0], rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("kind", ["RNN", "LSTM", "GRU"])
def test_gradients(kind):
    m = getattr(nn, kind)(2, 3, dtype="float64")
    weights = [p.detach().numpy() for p in m.parameters()]
    x = np.random.default_rng(0).standard_normal((4, 2, 2))

    def f(x, *weights):
        object.__setattr__(m, "_parameters", dict(zip(m._parameters, weights)))
        return m(x)[0]

    for got, want in zip(backward(f, x, *weights), differences(f, x, *weights), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-7)


def projected(x, weights, layers, ways):
    """An LSTM whose states are projected, of the weights of each layer and way."""
    last = [[], []]
    for layer in range(layers):
        outs = []
        for way in range(ways):
            *own, project = weights[5 * (layer * ways + way) :][:5]
            h, c, seen = np.zeros((x.shape[1], len(project))), np.zeros((x.shape[1], project.shape[1])), []
            for t in x if way == 0 else x[::-1]:
                h, c = step("LSTM", t, h, c, *own)
                h = h @ project.T
                seen.append(h)
            outs.append(np.stack(seen if way == 0 else seen[::-1]))
            last[0].append(h), last[1].append(c)
        x = np.concatenate(outs, axis=-1)
    return x, np.stack(last[0]), np.stack(last[1])


@pytest.mark.parametrize("layers, ways", [(1, 1), (2, 2)])
def test_states_are_projected(layers, ways):
    tt.manual_seed(0)
    m = nn.LSTM(3, 5, layers, bidirectional=ways == 2, proj_size=2, dtype="float64")
    assert list(m.state_dict())[4] == "weight_hr_l0" and m.weight_hh_l0.shape == (20, 2)
    x = np.random.default_rng(0).standard_normal((4, 2, 3))
    values = [w.detach().numpy() for w in m.parameters()]
    out, (last, memory) = m(tt.array(x))
    for a, b in zip([out, last, memory], projected(x, values, layers, ways)):
        np.testing.assert_allclose(a.detach().numpy(), b, rtol=1e-12, atol=1e-14)
    packed, (last, memory) = m(rnn.pack_padded_sequence(tt.array(x), [4, 2]))
    padded = rnn.pad_packed_sequence(packed)[0].detach().numpy()
    for k, n in enumerate([4, 2]):
        alone = projected(x[:n, k : k + 1], values, layers, ways)
        np.testing.assert_allclose(padded[:n, k : k + 1], alone[0], rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(last.detach().numpy()[:, k : k + 1], alone[1], rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(memory.detach().numpy()[:, k : k + 1], alone[2], rtol=1e-12, atol=1e-14)
    assert repr(m).startswith("LSTM(3, 5, proj_size=2")


def test_gradients_of_projected_states():
    m, r = nn.LSTM(2, 3, proj_size=2, dtype="float64"), np.random.default_rng(1)
    values = [r.standard_normal(p.shape) for p in m.parameters()]
    layer = tt._core.functions["nn.rnn.layers"]

    def f(*own):
        x, *weights = own
        states = tt.zeros((1, 2, 2)), tt.zeros((1, 2, 3))
        out, last, memory = layer("LSTM", x, *states, weights, True, 1, 0.0, False, False, None)
        return (out * out).sum() + last.sum() + (memory * memory).sum()

    given = [r.standard_normal((3, 2, 2)), *values]
    for a, b in zip(backward(f, *given), differences(f, *given), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("kind", ["RNN", "LSTM", "GRU"])
def test_cells_are_steps(kind):
    m, cell = getattr(nn, kind)(3, 4), getattr(nn, kind + "Cell")(3, 4)
    cell.load_state_dict({k.removesuffix("_l0"): v for k, v in m.state_dict().items()})
    x = tt.array(np.random.default_rng(0).standard_normal((5, 2, 3)).astype("float32"))
    state = None
    for t in range(5):
        state = cell(x[t], state)
    last = m(x)[1]
    for a, b in zip(state, last) if kind == "LSTM" else [(state, last)]:
        np.testing.assert_allclose(a.detach().numpy(), b[0].detach().numpy(), rtol=1e-5, atol=1e-6)


KINDS = {
    "tanh": nn.RNN,
    "relu": lambda *sizes, **how: nn.RNN(*sizes, nonlinearity="relu", **how),
    "LSTM": nn.LSTM,
    "GRU": nn.GRU,
}
CELLS = {
    "tanh": nn.RNNCell,
    "relu": lambda *sizes, **how: nn.RNNCell(*sizes, nonlinearity="relu", **how),
    "LSTM": nn.LSTMCell,
    "GRU": nn.GRUCell,
}


def by_cells(kind, x, first, weights, reverse):
    """A sequence step by step: the states, and the last one (of LSTM with the memory)."""
    cell = CELLS[kind](x.shape[-1], first[0].shape[-1], bias=len(weights) == 4, dtype=x.dtype)
    names = [name for name, p in cell._parameters.items() if p is not None]
    object.__setattr__(cell, "_parameters", {**cell._parameters, **dict(zip(names, weights))})
    state, seen = first if kind == "LSTM" else first[0], []
    for t in reversed(range(len(x))) if reverse else range(len(x)):
        state = cell(x[t], state)
        seen.append(state[0] if kind == "LSTM" else state)
    return tt.stack(seen[::-1] if reverse else seen), *(state if kind == "LSTM" else [state])


def by_layer(kind, x, first, weights, reverse):
    m = KINDS[kind](x.shape[-1], first[0].shape[-1], bias=len(weights) == 4, dtype=x.dtype, bidirectional=reverse)
    if reverse:  # the other direction sees the same and is not looked at
        weights, first = [*weights, *weights], [tt.concatenate([s[None], s[None]]) for s in first]
    else:
        first = [s[None] for s in first]
    object.__setattr__(m, "_parameters", dict(zip(m._parameters, weights)))
    out, last = m(x, tuple(first) if kind == "LSTM" else first[0])
    last = last if kind == "LSTM" else [last]
    return out[..., first[0].shape[-1] :] if reverse else out, *(s[-1] for s in last)


def arguments(kind, steps, images, inputs, width, bias, dtype):
    r, gates = np.random.default_rng(2), {"LSTM": 4, "GRU": 3}.get(kind, 1)
    shapes = [(steps, images, inputs)] + [(images, width)] * (2 if kind == "LSTM" else 1)
    shapes += [(gates * width, inputs), (gates * width, width)] + [(gates * width,)] * (2 if bias else 0)
    return [(r.standard_normal(s) * 0.4).astype(dtype) for s in shapes]


def taken(kind, how, reverse):
    """`how` as a function of what arguments() has."""
    states = 2 if kind == "LSTM" else 1
    return lambda x, *more: how(kind, x, more[:states], list(more[states:]), reverse)


def near(got, want, tolerance):
    np.testing.assert_allclose(got, want, rtol=0, atol=tolerance * max(1, np.abs(want).max()))


@pytest.mark.parametrize("dtype, tolerance", [("float32", 2e-5), ("float64", 1e-12)])
@pytest.mark.parametrize("sizes", [(1, 1, 1, 1), (7, 5, 3, 33), (4, 9, 8, 20)])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_a_layer_is_its_steps(kind, reverse, bias, sizes, dtype, tolerance):
    xs = arguments(kind, *sizes, bias, dtype)
    layer, cells = taken(kind, by_layer, reverse), taken(kind, by_cells, reverse)
    for got, want in zip(layer(*map(tt.array, xs)), cells(*map(tt.array, xs)), strict=True):
        near(got.detach().numpy(), want.detach().numpy(), tolerance)
    for got, want in zip(backward(layer, *xs), backward(cells, *xs), strict=True):
        near(got, want, 4 * tolerance)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_gates_of_any_sums(dtype):
    x = np.array([0.0, 1e-30, -1e-9, 1e-4, 0.3, -0.7, 5, -20, 90, -800, 1e30, np.inf, -np.inf, np.nan], dtype)
    zeros, one, ulp = np.zeros((4, 1), dtype), np.ones((1, 1), dtype), np.finfo(dtype).eps
    seen = [by_layer("tanh", tt.array(v[None, None, None]), [tt.zeros((1, 1), dtype=dtype)],
                     [tt.array(one), tt.zeros((1, 1), dtype=dtype)], False)[0].item() for v in x]  # fmt: skip
    np.testing.assert_allclose(seen, np.tanh(x), rtol=4 * ulp)
    weights = [np.array([[0], [1], [0], [0]], dtype), zeros]  # the memory is 1 times a sigmoid of the input
    for v in x[np.isfinite(x)]:
        given = [tt.array(np.array([[[v]]], dtype)), [tt.zeros((1, 1), dtype=dtype), tt.ones((1, 1), dtype=dtype)]]
        *_, memory = by_layer("LSTM", *given, [tt.array(w) for w in weights], False)
        with np.errstate(over="ignore"):
            np.testing.assert_allclose(memory.item(), sigmoid(np.float64(v)), rtol=4 * ulp, atol=1e-37)


@pytest.mark.parametrize("kind", KINDS)
def test_second_derivatives_of_sequences(kind):
    f, given = taken(kind, by_layer, False), arguments(kind, 3, 2, 2, 3, True, "float64")
    leaves = [tt.array(x).requires_grad_() for x in given]
    first, followed = (tt.grad(results(f, leaves)[0].sum(), leaves, create_graph=c) for c in (False, True))
    for a, b in zip(first, followed, strict=True):
        np.testing.assert_allclose(np.asarray(b.detach()), np.asarray(a), rtol=1e-12, atol=1e-12)
    check_second(f, *given)


# ---- random ones: what is looked at, how it lies, and whether gradients are followed


def random_loss(r):
    """A number of some of what a sequence gives: its states, and the last ones."""
    used = r.random(3) < 0.6
    form = [lambda a: a.sum(), lambda a: (a * a).sum(), lambda a: tt.sin(a).mean()][r.integers(3)]
    part = [lambda a: a, lambda a: a[::-1], lambda a: a[..., :1]][r.integers(3)]

    def loss(out, *last):
        seen = [a for a, u in zip((part(out), *last), used) if u]
        return sum(map(form, seen or [out]))

    return loss


def random_input(r, x):
    """A leaf, and how the input is made of it."""
    way = r.integers(4)
    if way == 0:
        return x[::-1].copy(), lambda a: a[::-1]
    if way == 1:
        return x.swapaxes(0, 1).copy(), lambda a: tt.swapaxes(a, 0, 1)
    return x, (lambda a: a) if way == 2 else (lambda a: (a * 2)[:] * 0.5)


def random_gradients(kind, seed, how):
    """Gradients, and those of the squares of followed ones."""
    r = np.random.default_rng(seed)
    steps, images, inputs = (int(n) for n in r.integers(1, 6, 3))
    x, *more = arguments(
        kind, steps, images, inputs, int(r.choice([1, 3, 4, 7, 8, 9, 17])), bool(r.integers(2)), "float64"
    )
    x, made = random_input(r, x)
    leaves = [tt.array(a).requires_grad_() for a in (x, *more)]
    value = random_loss(r)(*taken(kind, how, bool(r.integers(2)))(made(leaves[0]), *leaves[1:]))
    followed = bool(r.integers(2))
    found = list(tt.grad(value, leaves, create_graph=followed, allow_unused=True))
    squares = sum((g * g).sum() for g in found if g is not None) if followed else tt.zeros(1)
    if squares.requires_grad:
        found += tt.grad(squares, leaves, allow_unused=True)
    return [0 if g is None else np.asarray(g.detach()) for g in found]


@pytest.mark.parametrize("kind", KINDS)
def test_random_sequences(kind, turn):
    for seed in range(turn % 3, 150, 3):
        layer, cells = (random_gradients(kind, seed, how) for how in (by_layer, by_cells))
        assert len(layer) == len(cells), seed
        for a, b in zip(layer, cells):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9, err_msg=str(seed))


@pytest.mark.parametrize("lengths", [[5, 3, 3, 1], [2, 5, 1, 5], [4]])
@pytest.mark.parametrize("layers, ways", [(1, 1), (2, 2)])
@pytest.mark.parametrize("kind", KINDS)
def test_packed_sequences_are_sequences_alone(kind, layers, ways, lengths):
    m = KINDS[kind](3, 4, layers, bidirectional=ways == 2, dtype="float64")
    r = np.random.default_rng(4)
    x = r.standard_normal((max(lengths), len(lengths), 3))
    first = [tt.array(r.standard_normal((layers * ways, len(lengths), 4))) for _ in range(1 + (kind == "LSTM"))]

    def packed(x, *first):
        given = rnn.pack_padded_sequence(x, lengths, enforce_sorted=False)
        out, last = m(given, first if kind == "LSTM" else first[0])
        out, seen = rnn.pad_packed_sequence(out)
        assert seen.tolist() == lengths
        return out, *(last if kind == "LSTM" else [last])

    def alone(x, *first):
        made = []
        for k, n in enumerate(lengths):
            own = [s[:, k : k + 1] for s in first]
            out, last = m(x[:n, k : k + 1], tuple(own) if kind == "LSTM" else own[0])
            made.append([out[:, 0], *(s[:, 0] for s in (last if kind == "LSTM" else [last]))])
        outs, *last = zip(*made)
        return rnn.pad_sequence(outs), *(tt.stack(s, axis=1) for s in last)

    xs = [x, *(s.numpy() for s in first)]
    for got, want in zip(packed(*map(tt.array, xs)), alone(*map(tt.array, xs)), strict=True):
        np.testing.assert_allclose(got.detach().numpy(), want.detach().numpy(), rtol=1e-12, atol=1e-13)
    for got, want in zip(backward(packed, *xs), backward(alone, *xs), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-12)


def test_packing():
    given = [tt.arange(n, dtype="float32")[:, None] + 10 * k for k, n in enumerate((2, 4, 1))]
    packed = rnn.pack_sequence(given, enforce_sorted=False)
    assert packed.data[:, 0].tolist() == [10, 0, 20, 11, 1, 12, 13]
    assert packed.batch_sizes.tolist() == [3, 2, 1, 1]
    assert packed.sorted_indices.tolist() == [1, 0, 2]
    for got, want in zip(rnn.unpack_sequence(packed), given, strict=True):
        np.testing.assert_array_equal(got.numpy(), want.numpy())
    padded, lengths = rnn.pad_packed_sequence(packed, batch_first=True, padding_value=-1, total_length=5)
    assert padded.shape == (3, 5, 1) and lengths.tolist() == [2, 4, 1]
    assert padded[0, :, 0].tolist() == [0, 1, -1, -1, -1]
    left = rnn.pad_sequence(given, padding_side="left")
    assert left[:, 0, 0].tolist() == [0, 0, 0, 1]


def launches(f):
    before = tt.ledger()["launches"]
    tt.eval(*f())
    return tt.ledger()["launches"] - before


@pytest.mark.parametrize("kind", KINDS)
def test_a_layer_is_a_few_launches(recorded, host, kind):
    m, x = KINDS[kind](8, 32), tt.ones((40, 6, 8), dtype="float32")
    leaves = list(m.parameters())
    with tt.no_grad():
        assert launches(lambda: [m(x)[0]]) <= 4

    def step():
        (m(x)[0] ** 2).sum().backward()
        return [p.grad for p in leaves]

    assert launches(step) <= 14


@pytest.mark.parametrize("kind", KINDS)
def test_sequences_have_the_same_bits_on_any_threads(kind):
    xs = arguments(kind, 30, 21, 8, 40, True, "float32")
    threads, seen = tt.get_num_threads(), []
    try:
        for n in (1, 2, 3):
            tt.set_num_threads(n)
            made = [a.numpy() for a in taken(kind, by_layer, True)(*map(tt.array, xs))]
            seen.append([a.tobytes() for a in made + backward(taken(kind, by_layer, True), *xs)])
    finally:
        tt.set_num_threads(threads)
    assert seen[0] == seen[1] == seen[2]


@pytest.mark.parametrize("dtype, tolerance", [("float16", 2e-3), ("bfloat16", 2e-2)])
@pytest.mark.parametrize("kind", KINDS)
def test_sequences_of_16_bits(kind, dtype, tolerance):
    xs = arguments(kind, 5, 4, 3, 6, True, "float32")
    few = [tt.array(a).astype(dtype) for a in xs]
    got, *_ = taken(kind, by_layer, False)(*few)
    want, *_ = taken(kind, by_layer, False)(*(a.astype("float32") for a in few))
    assert got.dtype == few[0].dtype
    np.testing.assert_allclose(got.detach().astype("float32").numpy(), want.detach().numpy(), rtol=0, atol=tolerance)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("weights", [False, True])
def test_heads(causal, weights):
    m = nn.MultiheadAttention(6, 2, dtype="float64")
    x = np.random.default_rng(0).standard_normal((5, 3, 6))
    mask = tt.array(np.triu(np.ones((5, 5), bool), 1)) if causal else None
    a = tt.array(x)
    got, shares = m(a, a, a, attn_mask=mask, need_weights=weights)
    parts = np.split(x @ m.in_proj_weight.detach().numpy().T, 3, axis=-1)
    q, k, v = (p.reshape(5, 3, 2, 3).transpose(1, 2, 0, 3) for p in parts)
    y = references.attention(q, k, v, causal=causal).transpose(2, 0, 1, 3).reshape(5, 3, 6)
    np.testing.assert_allclose(got.detach().numpy(), y @ m.out_proj.weight.detach().numpy().T, atol=1e-12)
    assert (shares is None) == (not weights)
    if weights:
        np.testing.assert_allclose(shares.sum(axis=-1).detach().numpy(), 1, atol=1e-12)


def test_transformers_see_what_they_may():
    tt.random.seed(0)
    m = nn.Transformer(8, 2, 1, 2, 16).eval()
    x, y = (tt.array(np.random.default_rng(k).standard_normal((4, 3, 8)).astype("float32")) for k in range(2))
    mask = m.generate_square_subsequent_mask(4)
    whole = m(x, y, tgt_mask=mask).detach().numpy()
    part = m(x, y[:2], tgt_mask=mask[:2, :2]).detach().numpy()
    np.testing.assert_allclose(whole[:2], part, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("call, kind, words", [
    (lambda: nn.LSTM(3, 4)(tt.ones((5, 2, 2), dtype="float32")), ValueError, "input.size.-1. must be equal to input"),
    (lambda: nn.GRU(3, 4)(tt.ones(3, dtype="float32")), ValueError, "GRU: Expected input to be 2D or 3D, got 1D"),
    (lambda: nn.GRU(3, 4)(tt.ones((5, 2, 3)), tt.ones((1, 3, 4))), ValueError, r"Expected hidden.0. size \[1, 2, 4\]"),
    (lambda: nn.RNN(3, 4, nonlinearity="sin"), ValueError, "Unknown nonlinearity 'sin'. Select from 'tanh' or 'relu'."),
    (lambda: nn.LSTM(3, 4, proj_size=4), ValueError, "proj_size has to be smaller than hidden_size"),
    (lambda: nn.LSTM(3, 4, proj_size=-1), ValueError, "proj_size should be a positive integer or zero"),
    (lambda: nn.LSTM(3, 4, dropout=2), ValueError, "dropout should be a number in range"),
    (lambda: nn.LSTMCell(3, 4)(tt.ones((2, 5), dtype="float32")), ValueError, "input has inconsistent input_size: got"),
    (lambda: rnn.pack_padded_sequence(tt.ones((3, 2)), [1, 2]), RuntimeError, "must be sorted in decreasing order"),
    (lambda: rnn.pack_padded_sequence(tt.ones((3, 2)), [1, 0]), RuntimeError, "has to be greater than 0"),
    (lambda: rnn.pack_padded_sequence(tt.ones((3, 2)), [1]), RuntimeError, "to be equal to batch_size, but got 1"),
    (lambda: rnn.pad_packed_sequence(rnn.pack_sequence([tt.ones(3)]), total_length=2), ValueError, "total_length=2"),
    (lambda: nn.GRU(3, 4)(rnn.PackedSequence(tt.ones((3, 3)), tt.array([1, 2]))), ValueError, "must not grow"),
    (lambda: nn.GRU(3, 4)(rnn.PackedSequence(tt.ones((3, 3)), tt.array([2]))), ValueError, "are of 2 rows"),
    (lambda: nn.MultiheadAttention(7, 2), AssertionError, "embed_dim must be divisible by num_heads"),
    (lambda: nn.TransformerEncoderLayer(8, 2, activation="sin"), RuntimeError, "activation should be relu/gelu, not"),
])  # fmt: skip
def test_what_is_wrong_is_said(call, kind, words):
    with pytest.raises(kind, match=words):
        call()


@pytest.mark.parametrize("weights", [True, False])
def test_heads_see_one_more_step(weights):
    """A key that is learnt and one of zeros: as if they had been among the keys, of a mask that lets them be seen."""
    m, x = nn.MultiheadAttention(8, 2, add_bias_kv=True, add_zero_attn=True), tt.random.default_rng(0)
    q, mask = x.standard_normal((4, 3, 8), dtype="float32"), tt.array(np.triu(np.ones((4, 4), bool), 1))
    got, shares = m(q, q, q, attn_mask=mask, need_weights=weights)
    w, b = m.in_proj_weight.detach().numpy(), m.in_proj_bias.detach().numpy()
    rows = [q.numpy() @ w[k : k + 8].T + b[k : k + 8] for k in (0, 8, 16)]
    more = [np.broadcast_to(p.detach().numpy(), (1, 3, 8)) for p in (m.bias_k, m.bias_v)]
    keys, values = (np.concatenate([a, b, np.zeros((1, 3, 8))]) for a, b in zip(rows[1:], more))
    apart = [a.reshape(len(a), 3, 2, 4).transpose(1, 2, 0, 3) for a in (rows[0], keys, values)]
    scores = apart[0] @ apart[1].swapaxes(2, 3) / 2
    scores[..., :4] += np.where(mask.numpy(), -np.inf, 0)
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    seen = e / e.sum(axis=-1, keepdims=True)
    y = (seen @ apart[2]).transpose(2, 0, 1, 3).reshape(4, 3, 8)
    want = y @ m.out_proj.weight.detach().numpy().T + m.out_proj.bias.detach().numpy()
    np.testing.assert_allclose(got.detach().numpy(), want, rtol=1e-4, atol=1e-5)
    if weights:
        np.testing.assert_allclose(shares.detach().numpy(), seen.mean(axis=1), rtol=1e-4, atol=1e-6)
    got.sum().backward()
    assert all(p.grad is not None for p in m.parameters())
