"""Weights at the places that Keras gives them in its files."""

import numpy as np
import pytest
import tutti.compat.keras as keras
from tutti.compat.keras import _h5

L = keras.layers


def recurrent():
    i = keras.Input((6, 4))
    x = L.Bidirectional(L.LSTM(3, return_sequences=True))(i)
    x = L.MultiHeadAttention(2, 3)(x, x)
    x = L.TimeDistributed(L.Dense(3))(x)
    x = L.RNN([L.LSTMCell(2), L.GRUCell(3)])(x)
    return keras.Model(i, L.Dense(2)(L.Dense(2)(L.BatchNormalization()(x))))


def chain():
    return keras.Sequential([
        keras.Input((8, 8, 3)), L.SeparableConv2D(3, 3), keras.Sequential([L.Dense(2), L.PReLU()]), L.Dropout(0.1),
        L.SpectralNormalization(L.Dense(2)),
    ])  # fmt: skip


class Own(keras.Model):
    def __init__(self):
        super().__init__()
        self.a, self.blocks, self.d = L.Dense(2), [L.Dense(3), L.Dense(4)], {"k": L.Dense(1)}
        self.w = self.add_weight((2,), name="w")

    def call(self, x):
        for block in self.blocks:
            x = block(x)
        return self.d["k"](self.a(x)) + self.w


def own():
    model = Own()
    model(np.ones((1, 2)))
    return model


# As Keras 3.16 wrote them.
PLACES = {
    recurrent: """
layers/batch_normalization 4  layers/bidirectional/backward_layer/cell 3  layers/bidirectional/forward_layer/cell 3
layers/dense 2  layers/dense_1 2  layers/multi_head_attention/key_dense 2  layers/multi_head_attention/output_dense 2
layers/multi_head_attention/query_dense 2  layers/multi_head_attention/value_dense 2  layers/rnn/cell/cells/gru_cell 3
layers/rnn/cell/cells/lstm_cell 3  layers/time_distributed/layer 2
""",
    chain: """
layers/separable_conv2d 3  layers/sequential/layers/dense 2  layers/sequential/layers/p_re_lu 1
layers/spectral_normalization 2  layers/spectral_normalization/layer 2
""",
    own: "a 2  blocks/dense 2  blocks/dense_1 2  d/dense 2  . 1",
}


@pytest.mark.parametrize("make", PLACES, ids=lambda make: make.__name__)
def test_places(make):
    words = PLACES[make].split()
    want = {f"{path}/vars/{k}".removeprefix("./") for path, n in zip(words[::2], words[1::2]) for k in range(int(n))}
    assert set(_h5.places(make())) == want


def test_files_without_h5py(monkeypatch, tmp_path):
    monkeypatch.setitem(__import__("sys").modules, "h5py", None)
    with pytest.raises(ImportError, match="need h5py"):
        chain().save_weights(tmp_path / "w.weights.h5")


def test_files(tmp_path):
    h5py = pytest.importorskip("h5py")
    path = str(tmp_path / "w.weights.h5")
    for make in PLACES:
        first, second = make(), make()
        first.save_weights(path)
        second.load_weights(path)
        for a, b in zip(first.get_weights(), second.get_weights(), strict=True):
            np.testing.assert_array_equal(a, b)
    with h5py.File(path, "r+") as f:
        del f["a/vars/0"]
    before = second.get_weights()
    with pytest.raises(ValueError, match="a/vars/0"):
        second.load_weights(path)
    for a, b in zip(before, second.get_weights(), strict=True):
        np.testing.assert_array_equal(a, b)
    second.load_weights(path, skip_mismatch=True)
    with pytest.raises(FileExistsError):
        first.save_weights(path, overwrite=False)
