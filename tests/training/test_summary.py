"""The table of layers and the pictures of a training."""

import builtins

import pytest
import tutti as tt
from tutti import nn


class Two(tt.Model):
    def __init__(self):
        super().__init__()
        self.table, self.last = nn.Embedding(10, 4), nn.Linear(7, 2)

    def forward(self, word, number):
        return self.last(tt.concatenate([self.table(word), number], axis=1))


def lines(model, *args):
    said = []
    model.summary(*args, print_fn=said.append)
    return said[0].splitlines()


def test_layers_of_a_subclass():
    model = Two()
    assert [line.split("│")[2].strip() for line in lines(model)[4:6]] == ["?", "?"]
    model.predict([tt.arange(5), tt.ones((5, 3))], verbose=0)
    found = lines(model)
    assert [[cell.strip() for cell in line.split("│")[1:4]] for line in found[4:6]] == [
        ["table (Embedding)", "(None, 4)", "40"],
        ["last (Linear)", "(None, 2)", "16"],
    ]
    assert found[-3:] == [
        " Total params: 56 (224.00 B)",
        " Trainable params: 56 (224.00 B)",
        " Non-trainable params: 0 (0.00 B)",
    ]
    assert model.training


def test_buffers_are_not_trained():
    model = tt.Model(nn.Sequential(nn.BatchNorm1d(3)))
    assert lines(model, tt.ones((2, 3)))[-2:] == [
        " Trainable params: 6 (24.00 B)",
        " Non-trainable params: 7 (32.00 B)",
    ]


def history():
    found = tt.callbacks.History()
    for epoch in range(5):
        found.on_epoch_end(epoch, {"loss": 5.0 - epoch, "val_loss": 4.0 - epoch / 2, "accuracy": epoch / 4})
    return found


def test_a_picture_in_text(monkeypatch, capsys, tmp_path):
    imported = builtins.__import__

    def without(name, *args, **kwargs):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return imported(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    text = history().plot()
    assert capsys.readouterr().out == text + "\n"
    loss, accuracy = text.split("\n\n")
    assert loss.splitlines()[0] == "loss by epoch: o loss  x val_loss"
    assert loss.splitlines()[1].startswith("         5 |o") and loss.splitlines()[12].endswith("o")
    assert loss.count("x") == 5 + 1 and accuracy.splitlines()[12].startswith("         0 |o")
    history().plot(["accuracy"], tmp_path / "a.txt")
    assert (tmp_path / "a.txt").read_text(encoding="utf-8") == accuracy + "\n"
    with pytest.raises(ValueError, match="no epoch has ended"):
        tt.callbacks.History().plot()


def test_a_picture_by_matplotlib(tmp_path):
    pytest.importorskip("matplotlib")
    figure = history().plot(filename=tmp_path / "a.png")
    assert [axes.get_title() for axes in figure.axes] == ["loss", "accuracy"]
    assert len(figure.axes[0].lines) == 2 and (tmp_path / "a.png").stat().st_size > 1000
