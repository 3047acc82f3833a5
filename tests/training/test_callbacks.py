"""Callbacks are called in Keras' order, with what Keras gives them, and do what its callbacks do."""

import csv
import io
import math

import keras_numbers
import numpy as np
import pytest
import tutti as tt
from tutti import nn

X = np.linspace(-1, 1, 24, dtype="float32").reshape(8, 3)
Y = X.sum(axis=1, keepdims=True)


def model(lr=0.01, **settings):
    tt.random.seed(0)
    made = tt.Model(nn.Linear(3, 1))
    made.compile(tt.optim.SGD(made.parameters(), lr=lr), "mse", **settings)
    return made


HOOKS = [f"on_{what}_{end}" for what in ("epoch", "train", "test", "predict") for end in ("begin", "end")]
HOOKS += [f"on_{what}batch_{end}" for what in ("train_", "test_", "predict_") for end in ("begin", "end")]


def recorder(base):
    """A callback of a library that writes down what is called, with the names in the logs."""
    calls = []

    def hook(name):
        def call(self, *args, **kwargs):
            args = [*args, *kwargs.values()]
            numbers = [a for a in args if isinstance(a, int)]
            logs = [sorted(a) for a in args if a is not None and not isinstance(a, int) and len(a)]
            calls.append((name, *numbers, *logs))

        return call

    return type("Recorder", (base,), {name: hook(name) for name in HOOKS})(), calls


ORDER = [
    ("on_train_begin",),
    ("on_epoch_begin", 0),
    ("on_train_batch_begin", 0),
    ("on_train_batch_end", 0, ["loss"]),
    ("on_train_batch_begin", 1),
    ("on_train_batch_end", 1, ["loss"]),
    ("on_test_begin",),
    ("on_test_batch_begin", 0),
    ("on_test_batch_end", 0, ["loss"]),
    ("on_test_end", ["loss"]),
    ("on_epoch_end", 0, ["loss", "val_loss"]),
    ("on_train_end", ["loss", "val_loss"]),
]


def test_order():
    callback, calls = recorder(tt.callbacks.Callback)
    model().fit(X, Y, batch_size=4, validation_data=(X[:4], Y[:4]), callbacks=[callback], verbose=0)
    assert calls == ORDER
    calls.clear()
    model().predict(X, batch_size=4, callbacks=[callback], verbose=0)
    batches = [(f"on_predict_batch_{end}", k) for k in range(2) for end in ("begin", "end")]
    assert [c[:2] for c in calls] == [("on_predict_begin",), *batches, ("on_predict_end",)]


def test_order_is_keras():
    keras = pytest.importorskip("keras")
    callback, calls = recorder(keras.callbacks.Callback)
    made = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
    made.compile("sgd", "mse")
    made.fit(X, Y, batch_size=4, validation_data=(X[:4], Y[:4]), callbacks=[callback], verbose=0)
    assert calls == ORDER


def test_logs_of_batches_are_numbers_of_that_batch():
    kept = []

    class Keeping(tt.callbacks.Callback):
        def on_batch_end(self, batch, logs=None):
            kept.append(logs)

    history = model(lr=0.1).fit(X, Y, batch_size=2, shuffle=False, callbacks=[Keeping()], verbose=0)
    losses = [logs["loss"] for logs in kept]
    assert all(isinstance(v, float) for v in losses) and len(set(losses)) == 4
    assert losses[-1] == history.history["loss"][0]
    assert dict(kept[0]) == {"loss": losses[0]} and "loss" in kept[0] and repr(kept[0]) == repr({"loss": losses[0]})


def test_nothing_is_looked_at_between_steps(recorded):
    """A callback of batches that reads no logs costs no evaluation."""
    count = []

    class Counting(tt.callbacks.Callback):
        def on_train_batch_begin(self, batch, logs=None):
            count.append(tt.ledger()["evaluations"])

    model().fit(X, Y, batch_size=1, callbacks=[Counting()], verbose=0)
    assert set(np.diff(count)) == {1}


class Given(tt.callbacks.Callback):
    """Gives the number that is watched: one for each epoch."""

    def __init__(self, values, name="val_loss"):
        super().__init__()
        self.values, self.name = values, name

    def on_epoch_end(self, epoch, logs=None):
        logs[self.name] = self.values[epoch]


STOPS = [
    ({}, [3, 2, 2, 1], 3),
    ({"patience": 2}, [3, 2, 2, 2, 1], 4),
    ({"patience": 2}, [3, 2, 2, 1, 1, 1], 6),
    ({"min_delta": 0.5}, [3, 2.8, 1], 2),
    ({"mode": "max"}, [1, 2, 3, 2, 1], 4),
    ({"baseline": 1.0, "patience": 2}, [3, 2, 1.5, 1, 1, 0], 5),
    ({"start_from_epoch": 3}, [1, 2, 3, 4, 5, 6], 5),
    ({}, [math.nan, 2, 3], 2),
]


@pytest.mark.parametrize("settings, values, epochs", STOPS)
def test_early_stopping(settings, values, epochs):
    assert epochs_until(tt.callbacks, settings, Given(values), model()) == epochs


def epochs_until(callbacks, settings, given, made):
    stop = callbacks.EarlyStopping(**settings)
    return len(made.fit(X, Y, epochs=len(given.values), callbacks=[given, stop], verbose=0).epoch)


def test_early_stopping_is_keras():
    keras = pytest.importorskip("keras")

    class KerasGiven(keras.callbacks.Callback):
        on_epoch_end = Given.on_epoch_end

    for settings, values, epochs in STOPS:
        made, given = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)]), KerasGiven()
        made.compile("sgd", "mse")
        given.values, given.name = values, "val_loss"
        assert epochs_until(keras.callbacks, settings, given, made) == epochs, settings


def test_the_best_weights_come_back(capsys):
    made, weights = model(), []
    keep = tt.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: weights.append(made.get_weights()))
    stop = tt.callbacks.EarlyStopping(patience=2, restore_best_weights=True, verbose=1)
    made.fit(X, Y, epochs=9, callbacks=[Given([3, 1, 2, 2, 2, 2, 2, 2, 2]), keep, stop], verbose=0)
    for got, want in zip(made.get_weights(), weights[1], strict=True):
        np.testing.assert_array_equal(got, want)
    assert capsys.readouterr().out == (
        "Epoch 4: early stopping\nRestoring model weights from the end of the best epoch: 2.\n"
    )


def test_rates():
    lower = tt.callbacks.ReduceLROnPlateau(factor=0.5, patience=2, cooldown=1, min_lr=0.002)
    made = model(lr=0.01)
    history = made.fit(X, Y, epochs=9, callbacks=[Given([1] * 9), lower], verbose=0).history
    assert history["learning_rate"] == [0.01] * 3 + [0.005] * 2 + [0.0025] * 2 + [0.002] * 2
    with pytest.raises(ValueError, match="does not support a factor >= 1.0"):
        tt.callbacks.ReduceLROnPlateau(factor=1.0)
    schedule = tt.callbacks.LearningRateScheduler(lambda epoch, lr: 0.1 if epoch < 2 else lr / 2)
    history = model().fit(X, Y, epochs=4, callbacks=[schedule], verbose=0).history
    assert history["learning_rate"] == [0.1, 0.1, 0.05, 0.025]
    with pytest.raises(ValueError, match="should be a float"):
        model().fit(X, Y, callbacks=[tt.callbacks.LearningRateScheduler(lambda epoch: "fast")], verbose=0)


def test_checkpoints(tmp_path, capsys):
    made = model()
    every = tt.callbacks.ModelCheckpoint(tmp_path / "deep" / "{epoch:02d}-{val_loss:.1f}.safetensors")
    best = tt.callbacks.ModelCheckpoint(tmp_path / "best.safetensors", save_best_only=True, verbose=1)
    made.fit(X, Y, epochs=3, callbacks=[Given([2, 1, 3]), every, best], verbose=0)
    assert sorted(p.name for p in (tmp_path / "deep").iterdir()) == [
        f"0{k}-{v}.0.safetensors" for k, v in ((1, 2), (2, 1), (3, 3))
    ]
    assert "val_loss improved from 2.00000 to 1.00000" in capsys.readouterr().out
    kept, second = (tt.safetensors.load_file(tmp_path / p) for p in ("best.safetensors", "deep/02-1.0.safetensors"))
    np.testing.assert_array_equal(kept["weight"], second["weight"])
    other = model()
    other.load_weights(tmp_path / "deep" / "03-3.0.safetensors")
    np.testing.assert_array_equal(other.predict(X, verbose=0), made.predict(X, verbose=0))
    steps = tt.callbacks.ModelCheckpoint(tmp_path / "{batch}.safetensors", save_freq=3)
    made.fit(X, Y, batch_size=1, callbacks=[steps], verbose=0)
    assert sorted(p.name for p in tmp_path.glob("?.safetensors")) == ["3.safetensors", "6.safetensors"]
    with pytest.raises(KeyError, match="Failed to format this callback filepath"):
        made.fit(X, Y, callbacks=[tt.callbacks.ModelCheckpoint(tmp_path / "{auc}.safetensors")], verbose=0)
    with pytest.raises(ValueError, match="Unrecognized save_freq"):
        tt.callbacks.ModelCheckpoint("a", save_freq="batch")


def test_csv(tmp_path):
    path = tmp_path / "log.csv"
    history = model().fit(X, Y, epochs=2, callbacks=[tt.callbacks.CSVLogger(path)], verbose=0).history
    model().fit(X, Y, epochs=1, callbacks=[tt.callbacks.CSVLogger(path, append=True)], verbose=0)
    rows = list(csv.DictReader(io.StringIO(path.read_text())))
    assert [row["epoch"] for row in rows] == ["0", "1", "0"]
    assert [float(row["loss"]) for row in rows[:2]] == history["loss"]


def test_lambda():
    calls = []
    made = tt.callbacks.LambdaCallback(
        on_train_batch_end=lambda batch, logs: calls.append(batch), on_test_begin=lambda logs: calls.append("test")
    )
    model().fit(X, Y, batch_size=4, validation_split=0.25, callbacks=made, verbose=0)
    assert calls == [0, 1, "test"]
    with pytest.raises(TypeError, match="on_nothing"):
        tt.callbacks.LambdaCallback(on_nothing=print)


def test_an_end_at_nan(capsys):
    x = X.copy()
    x[5] = np.nan
    with pytest.warns(RuntimeWarning, match="step 6 of epoch 1"):
        history = model().fit(
            x, Y, batch_size=1, epochs=3, shuffle=False, callbacks=[tt.callbacks.TerminateOnNaN()], verbose=0
        )
    assert history.epoch == [0] and "Batch 5: Invalid loss, terminating training" in capsys.readouterr().out
    with pytest.raises(RuntimeError, match="NaN or Inf loss encountered at batch 5"):
        model().fit(x, Y, batch_size=1, shuffle=False, callbacks=[tt.callbacks.TerminateOnNaN(True)], verbose=0)


def test_watched_names():
    with pytest.warns(UserWarning, match="Early stopping conditioned on metric `val_loss` which is not available"):
        model().fit(X, Y, callbacks=[tt.callbacks.EarlyStopping()], verbose=0)
    with pytest.raises(ValueError, match="received monitor=auc, but it isn't able"):
        model().fit(X, Y, callbacks=[tt.callbacks.EarlyStopping("auc")], verbose=0)
    made = model(metrics=[tt.metrics.MeanAbsoluteError(name="off")])
    assert len(made.fit(X, Y, epochs=3, callbacks=[tt.callbacks.EarlyStopping("off", patience=3)], verbose=0).epoch)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def shown(monkeypatch, stream, verbose="auto", **settings):
    monkeypatch.setattr("sys.stdout", stream)
    made = tt.Model(nn.Linear(6, 1))
    made.compile("sgd", "mse", metrics=["mae"])
    made.fit(keras_numbers.X, keras_numbers.WEIGHT, batch_size=10, verbose=verbose, **settings)
    return stream.getvalue()


def test_the_bar(monkeypatch):
    on_terminal = shown(monkeypatch, Terminal(), epochs=2)
    assert on_terminal.count("\n") == 4 and "\r" in on_terminal and "Epoch 2/2\n" in on_terminal
    last = on_terminal.splitlines()[-1].split("\r")[-1]
    assert last.startswith("10/10 ━━━━━━━━━━━━━━━━━━━━ ") and " - loss: 0." in last and " - mae: 0." in last
    in_file = shown(monkeypatch, io.StringIO())
    assert in_file.startswith("10/10 ") and in_file.count("\n") == 1 and "\r" not in in_file and "━" not in in_file
    asked = shown(monkeypatch, io.StringIO(), verbose=1)
    assert asked.count("━") == 20 and asked.count("\n") == 1 and "\r" not in asked
    assert shown(monkeypatch, Terminal(), verbose=0) == ""


def test_a_bar_that_is_left_ends_its_line(monkeypatch):
    class Failing(tt.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            if batch == 3:
                raise KeyboardInterrupt

    stream = Terminal()
    with pytest.raises(KeyboardInterrupt):
        shown(monkeypatch, stream, callbacks=[tt.callbacks.ProgbarLogger(), Failing()])
    assert stream.getvalue().endswith("\n")
