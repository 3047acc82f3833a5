"""Recurrent layers and attention of several heads: by formulas in NumPy, gradients by differences."""

import os
import sys

import numpy as np
import pytest
import references
import tutti as tt
from tutti import nn

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(__file__)), "grad"))

from differences import backward, differences  # noqa: E402


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
    (lambda: nn.LSTM(3, 4, dropout=2), ValueError, "dropout should be a number in range"),
    (lambda: nn.LSTMCell(3, 4)(tt.ones((2, 5), dtype="float32")), ValueError, "input has inconsistent input_size: got"),
    (lambda: nn.MultiheadAttention(7, 2), AssertionError, "embed_dim must be divisible by num_heads"),
    (lambda: nn.MultiheadAttention(8, 2, add_zero_attn=True), NotImplementedError, "add_zero_attn are not implemented"),
    (lambda: nn.TransformerEncoderLayer(8, 2, activation="sin"), RuntimeError, "activation should be relu/gelu, not"),
])  # fmt: skip
def test_what_is_wrong_is_said(call, kind, words):
    with pytest.raises(kind, match=words):
        call()
