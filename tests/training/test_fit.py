"""tt.Model: compile, fit, evaluate and predict give what Keras' do, and refuse what they refuse."""

import io
import subprocess
import sys

import keras_numbers
import numpy as np
import pytest
import tutti as tt
from keras_numbers import FIRST, LOSSES, SECOND, WEIGHT, X, Y
from tutti import nn
from tutti.training import _data


def network():
    layers = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3), nn.Softmax(-1))
    layers.load_state_dict(
        {
            "0.weight": tt.array(FIRST.T),
            "0.bias": tt.zeros(8, dtype="float32"),
            "2.weight": tt.array(SECOND.T),
            "2.bias": tt.zeros(3, dtype="float32"),
        }
    )
    return tt.Model(layers)


def compiled(*args, **kwargs):
    model = network()
    model.compile(*args, **kwargs)
    return model


@pytest.mark.parametrize(("optimizer", "kind"), LOSSES)
def test_losses_are_keras(optimizer, kind):
    history = keras_numbers.fitted(network(), optimizer, kind)
    for name, want in zip(("loss", "val_loss"), LOSSES[optimizer, kind], strict=True):
        np.testing.assert_allclose(history[name], want, rtol=0, atol=1e-5)


def test_history_is_keras():
    pytest.importorskip("keras")
    for kind in keras_numbers.KINDS:
        want = keras_numbers.fitted(keras_numbers.keras_model(), "adam", kind)
        got = keras_numbers.fitted(network(), "adam", kind)
        assert set(got) == set(want), kind
        for name, values in want.items():
            np.testing.assert_allclose(got[name], values, rtol=0, atol=1e-5, err_msg=f"{kind} {name}")


def test_evaluate_and_predict():
    model = compiled("sgd", "sparse_categorical_crossentropy", metrics=["accuracy"])
    loss, accuracy = model.evaluate(X, Y, verbose=0)
    said = model.predict(X, batch_size=7, verbose=0)
    assert said.shape == (100, 3)
    chance = said.numpy()[np.arange(100), Y]
    np.testing.assert_allclose(loss, -np.log(chance).mean(), rtol=1e-5)
    assert accuracy == pytest.approx((said.numpy().argmax(1) == Y).mean())
    assert model.evaluate(X, Y, verbose=0, return_dict=True) == {"loss": loss, "accuracy": accuracy}
    np.testing.assert_array_equal(model.predict_on_batch(X[:5]), said[:5])


def test_a_weighted_evaluation_weighs():
    model = compiled("sgd", "sparse_categorical_crossentropy")
    chance = model.predict(X, verbose=0).numpy()[np.arange(100), Y]
    got = model.evaluate(X, Y, sample_weight=WEIGHT, verbose=0)
    np.testing.assert_allclose(got, (-np.log(chance) * WEIGHT).mean(), rtol=1e-5)


def test_batches():
    model = compiled("sgd", "sparse_categorical_crossentropy", metrics=["accuracy"])
    first = model.test_on_batch(X, Y, return_dict=True)
    trained = model.train_on_batch(X, Y)
    assert trained == pytest.approx(list(first.values()))
    assert model.test_on_batch(X, Y)[0] < trained[0]


@pytest.mark.parametrize("was", [False, True])
def test_modes_are_as_they_were(was):
    model = compiled("sgd", "sparse_categorical_crossentropy")
    seen = []
    model.module.register_forward_pre_hook(lambda module, args: seen.append(module.training))
    model.train(was)
    model.train_on_batch(X, Y)
    model.test_on_batch(X, Y)
    model.predict_on_batch(X)
    model.fit(X, Y, batch_size=100, validation_data=(X, Y), epochs=2, validation_batch_size=100, verbose=0)
    model.evaluate(X, Y, batch_size=100, verbose=0)
    model.predict(X, batch_size=100, verbose=0)
    assert seen == [True, False, False, True, False, True, False, False, False]
    assert model.training == model.module.training == was


def test_an_anomaly_is_named_by_its_operation():
    class Root(nn.Module):
        def forward(self, x):
            return tt.sqrt(x - x) * 0 + x

    model = tt.Model(nn.Sequential(nn.Linear(6, 1), Root()))
    model.compile("sgd", "mse")
    with pytest.raises(RuntimeError, match="Function 'sqrt' returned nan values"), tt.detect_anomaly():
        model.fit(X, WEIGHT, verbose=0)


def test_a_seed_gives_the_same_bits():
    def run():
        tt.random.seed(3)
        model = compiled("adam", "sparse_categorical_crossentropy")
        return model.fit(X, Y, epochs=3, verbose=0).history["loss"]

    assert run() == run()


def test_a_shuffle_is_one():
    seen = []

    class Seeing(tt.Model):
        def train_step(self, data):
            seen.append(data[0])
            return {"loss": 0.0}

    model = Seeing(nn.Linear(1, 1))
    model.compile("sgd", "mse")
    model.fit(tt.arange(10.0).reshape(10, 1), tt.zeros(10), batch_size=4, epochs=2, verbose=0)
    rows = tt.concatenate(seen).numpy().reshape(2, 10)
    assert [len(a) for a in seen] == [4, 4, 2] * 2
    np.testing.assert_array_equal(np.sort(rows, axis=1), np.tile(np.arange(10.0), (2, 1)))
    assert (rows[0] != rows[1]).any()


class Samples(tt.data.Dataset):
    def __len__(self):
        return len(X)

    def __getitem__(self, k):
        return X[k], Y[k]


class Stream(tt.data.IterableDataset):
    def __iter__(self):
        return zip(X, Y, strict=True)


@pytest.mark.parametrize(
    "form", ["lists", "pairs", "generator", "numpy64", "samples", "stream", "loader", "tensors", "workers"]
)
def test_forms_of_data(form):
    def losses(*args, **kwargs):
        model = compiled("sgd", "sparse_categorical_crossentropy")
        return model.fit(*args, epochs=2, shuffle=False, verbose=0, **kwargs).history["loss"]

    want = losses(X, Y, batch_size=25)
    pairs = [(X[k : k + 25], Y[k : k + 25]) for k in range(0, 100, 25)]

    def endless():
        while True:
            yield from pairs

    class Pairs:
        def __len__(self):
            return len(pairs)

        def __getitem__(self, k):
            return pairs[k]

    got = {
        "lists": lambda: losses(X.tolist(), Y.tolist(), batch_size=25),
        "pairs": lambda: losses(Pairs()),
        "generator": lambda: losses(endless(), steps_per_epoch=4),
        "numpy64": lambda: losses(X.astype("float64"), Y.astype("int32"), batch_size=25),
        "samples": lambda: losses(Samples(), batch_size=25),
        "stream": lambda: losses(Stream(), batch_size=25),
        "loader": lambda: losses(tt.data.DataLoader(Samples(), batch_size=25)),
        "tensors": lambda: losses(tt.data.TensorDataset(tt.array(X), tt.array(Y)), batch_size=25),
        "workers": lambda: losses(tt.data.DataLoader(Samples(), batch_size=25, num_workers=1)),
    }[form]()
    np.testing.assert_allclose(got, want, rtol=1e-6)


class Several(tt.Model):
    def __init__(self, as_dict):
        super().__init__()
        self.first, self.second, self.as_dict = nn.Linear(6, 2), nn.Linear(6, 1), as_dict

    def forward(self, a, b):
        parts = self.first(a), self.second(b)
        return {"one": parts[0], "two": parts[1]} if self.as_dict else parts


@pytest.mark.parametrize("as_dict", [False, True])
def test_several_inputs_and_outputs(as_dict):
    tt.random.seed(0)
    model = Several(as_dict)
    model.output_names = ["one", "two"]
    model.compile("sgd", {"one": "mse", "two": "mae"}, loss_weights={"one": 1.0, "two": 0.5}, metrics={"two": ["mse"]})
    x = {"a": X, "b": X} if as_dict else [X, X]
    y = {"one": X[:, :2], "two": X[:, :1]}
    said = model.predict(x, verbose=0)
    one, two = (said["one"], said["two"]) if as_dict else said
    logs = model.evaluate(x, y if as_dict else list(y.values()), verbose=0, return_dict=True)
    want_one, want_two = ((one.numpy() - X[:, :2]) ** 2).mean(), abs(two.numpy() - X[:, :1]).mean()
    assert logs == pytest.approx(
        {
            "loss": want_one + 0.5 * want_two,
            "two_mse": ((two.numpy() - X[:, :1]) ** 2).mean(),
            "one_loss": want_one,
            "two_loss": want_two,
        },
        rel=1e-5,
    )
    history = model.fit(x, y, epochs=3, verbose=0).history
    assert history["loss"][-1] < history["loss"][0]


@pytest.mark.parametrize("as_dict", [False, True])
def test_weights_of_samples_by_output(as_dict):
    model = Several(as_dict)
    model.output_names = ["one", "two"]
    model.compile("sgd", "mse", weighted_metrics={"one": ["mae"], "two": ["mae"]})
    y, other = {"two": X[:, :1], "one": X[:, :2]}, 1 - WEIGHT
    said = model.predict([X, X], verbose=0)
    one, two = (said["one"], said["two"]) if as_dict else said
    errors = abs(one.numpy() - y["one"]).mean(1), abs(two.numpy() - y["two"]).mean(1)
    logs = model.evaluate([X, X], y, sample_weight={"two": other, "one": WEIGHT}, verbose=0, return_dict=True)
    assert logs["one_mae"] == pytest.approx((errors[0] * WEIGHT).sum() / WEIGHT.sum(), rel=1e-4)
    assert logs["two_mae"] == pytest.approx((errors[1] * other).sum() / other.sum(), rel=1e-4)
    logs = model.evaluate([X, X], y, sample_weight=WEIGHT, verbose=0, return_dict=True)
    assert logs["two_mae"] == pytest.approx((errors[1] * WEIGHT).sum() / WEIGHT.sum(), rel=1e-4)


def test_losses_of_networks_say_what_is_said_first():
    model = tt.Model(nn.Linear(6, 3))
    model.compile("sgd", nn.CrossEntropyLoss())
    said = model.predict(X, verbose=0)
    want = nn.functional.cross_entropy(said, tt.array(Y))
    assert model.evaluate(X, Y, verbose=0) == pytest.approx(float(want), rel=1e-5)
    each = nn.functional.cross_entropy(said, tt.array(Y), reduction="none").numpy()
    got = model.evaluate(X, Y, sample_weight=WEIGHT, verbose=0)
    assert got == pytest.approx((each * WEIGHT).mean(), rel=1e-5)
    assert "loss" not in dict(model.named_modules())


def test_a_step_is_one_evaluation(recorded):
    model = compiled("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(X, Y, batch_size=50, epochs=2, verbose=0)
    data = tuple(None if a is None else tt.asarray(a) for a in (X[:50], Y[:50], None))
    model.reset_metrics()
    model.train_step(data)
    before = tt.ledger()["evaluations"]
    for _ in range(5):
        model.train_step(data)
    assert tt.ledger()["evaluations"] - before == 5


BAD = [
    (lambda m: m.fit(X, Y[:50]), ValueError, "same number of samples"),
    (lambda m: m.fit(X, Y, validation_split=0.999), ValueError, "not sufficient to split"),
    (lambda m: m.fit(iter([(X, Y)]), validation_split=0.5), ValueError, "only supported for"),
    (lambda m: m.fit(X, Y, class_weight={0: 1.0}, sample_weight=WEIGHT), ValueError, "at the same time"),
    (lambda m: m.fit(X, Y, class_weight=[1.0]), ValueError, "must be a dict"),
    (lambda m: m.fit(X, Y, class_weight={"a": 1.0}), ValueError, "integer keys"),
    (lambda m: m.fit(X, Y, batch_size=0), ValueError, "positive integer"),
    (lambda m: m.fit(iter([(X, Y)]), Y), ValueError, "`y` should not be passed"),
    (lambda m: m.fit(object(), Y), ValueError, "should not be passed"),
    (lambda m: m.fit(object()), ValueError, "Unrecognized data type"),
    (lambda m: m.fit([(X, Y, WEIGHT, 1)]), ValueError, "Data is expected to be in format"),
    (lambda m: m.fit(X, Y, callbacks=[3]), TypeError, "instances of Callback"),
    (lambda m: m.fit(X[:, :5], Y), ValueError, None),
    (lambda m: m.fit(X, np.tile(Y, (2, 2, 1)).T), ValueError, "same shape up until"),
    (lambda m: m.compile("adamm", "mse"), ValueError, "Could not interpret optimizer identifier: adamm"),
    (lambda m: m.compile("sgd", "mse", metrics="mae"), ValueError, "to be a list, tuple, or dict"),
    (lambda m: m.compile("sgd", "mse", loss_weights="a"), ValueError, "Expected `loss_weights`"),
]


@pytest.mark.parametrize(("call", "error", "words"), BAD)
def test_errors(call, error, words):
    model = compiled("sgd", "sparse_categorical_crossentropy")
    with pytest.raises(error, match=words):
        call(model)
    model.compile("sgd", "sparse_categorical_crossentropy")
    assert len(model.fit(X, Y, verbose=0).history["loss"]) == 1


def test_labels_out_of_range_are_named_with_their_row(host):
    labels = Y.copy()
    labels[17] = 3
    for layers, loss in (([nn.Softmax(-1)], "sparse_categorical_crossentropy"), ([], nn.CrossEntropyLoss())):
        model = tt.Model(nn.Sequential(nn.Linear(6, 3), *layers))
        model.compile("sgd", loss)
        with pytest.raises(IndexError, match=r"Target 3 is out of bounds. \(row 17, 3 classes\)"):
            model.fit(X, labels, shuffle=False, verbose=0)


def test_names_that_are_none():
    for loss, metrics, words in (("msee", None, "loss identifier: msee"), ("mse", ["acuracy"], "metric identifier")):
        model = tt.Model(nn.Linear(6, 1))
        model.compile("sgd", loss, metrics=metrics)
        with pytest.raises(ValueError, match=words):
            model.fit(X, Y, verbose=0)
    with pytest.raises(ValueError, match=r"You must call `compile\(\)` before calling `fit\(\)`"):
        tt.Model(nn.Linear(6, 1)).fit(X, Y)


def test_a_data_set_is_shuffled_and_validates():
    tt.manual_seed(0)
    model = compiled("sgd", "sparse_categorical_crossentropy")
    settings = {"batch_size": 25, "epochs": 2, "verbose": 0}
    history = model.fit(Samples(), validation_data=Samples(), validation_freq=2, **settings)
    assert len(history.history["loss"]) == 2 and len(history.history["val_loss"]) == 1
    assert history.history["val_loss"][0] == pytest.approx(model.evaluate(X, Y, verbose=0), rel=1e-5)
    assert model.predict(tt.data.DataLoader(Samples(), batch_size=30), verbose=0).shape == (100, 3)


def test_a_generator_that_ends_warns():
    model = compiled("sgd", "sparse_categorical_crossentropy")
    with pytest.warns(UserWarning, match="ran out of data"):
        model.fit(iter([(X, Y)] * 3), steps_per_epoch=2, epochs=2, verbose=0)


def test_a_loss_that_is_not_finite_warns_once():
    model = compiled("sgd", "sparse_categorical_crossentropy")
    x = X.copy()
    x[40] = np.nan
    with pytest.warns(RuntimeWarning, match="loss of step 3 of epoch 1 is not finite") as caught:
        model.fit(x, Y, batch_size=16, shuffle=False, epochs=2, verbose=0)
    assert len(caught) == 1
    assert "'module.0.weight' is no longer finite" in str(caught[0].message)


def test_the_first_layer_that_is_not_finite_is_named():
    class Still(tt.optim.SGD):
        def step(self):
            pass

    model = tt.Model(nn.Sequential(nn.Linear(6, 4), nn.Linear(4, 1)))
    model.compile(Still(model.parameters()), "mse")
    model.module[1].weight = nn.Parameter(tt.full((1, 4), 3e38, dtype="float32"))
    with pytest.warns(RuntimeWarning, match=r"outputs are not finite is 'module.1' \(Linear\)"):
        model.fit(X * 100, WEIGHT, batch_size=100, verbose=0)


def test_a_signal_in_the_middle_of_steps():
    program = """
import os, signal, threading
signal.signal(signal.SIGINT, signal.default_int_handler)  # the background may ignore it
import numpy as np, tutti as tt
model = tt.Model(tt.nn.Sequential(tt.nn.Linear(64, 256), tt.nn.ReLU(), tt.nn.Linear(256, 1)))
model.compile("adam", "mse")
x = np.random.default_rng(0).normal(size=(4096, 64))
y = x.sum(axis=1)
model.fit(x, y, verbose=0)
for wait in (0.02, 0.05, 0.11):
    threading.Timer(wait, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        model.fit(x, y, epochs=10000, verbose=0)
    except KeyboardInterrupt:
        print("interrupted", np.isfinite(model.evaluate(x, y, verbose=0)), model.fit(x, y, verbose=0).epoch)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=100)
    assert done.stdout == "interrupted True [0]\n" * 3, done.stderr


def test_a_bar_changes_no_bit(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    def run(verbose, eager=-1):
        tt.random.seed(1)
        tt.set_eager(eager)
        model = compiled("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
        history = model.fit(X, Y, batch_size=1, epochs=2, verbose=verbose).history
        tt.set_eager(-1)
        return history, [w.tolist() for w in model.get_weights()]

    want = run(0)
    monkeypatch.setattr("tutti.callbacks._bar._PAUSE", 0.0)
    monkeypatch.setattr("sys.stdout", Terminal())
    assert run(1) == want
    assert run(0, eager=0) == want


def test_an_interrupt_leaves_the_model_usable(capsys):
    class Interrupting(tt.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            if batch == 2:
                raise KeyboardInterrupt

    model = compiled("adam", "sparse_categorical_crossentropy")
    model.eval()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y, callbacks=[Interrupting()], verbose=1)
    assert not model.training
    assert np.isfinite(model.evaluate(X, Y, verbose=0))
    assert len(model.fit(X, Y, epochs=2, verbose=0).history["loss"]) == 2


def test_arrays_are_taken_as_they_are():
    """They stay where they lie: on a device, or not computed yet."""
    x = tt.ones((4, 2), dtype="float32")
    assert _data.as_arrays(x) is x and _data.as_arrays({"a": [x]})["a"][0] is x


def test_an_epoch_makes_no_plan_that_one_before_made(recorded):
    """The last batch is shorter: that is one more plan, once."""
    model = compiled("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    settings = {"batch_size": 32, "validation_split": 0.1, "verbose": 0}
    model.fit(X, Y, epochs=3, **settings)
    misses = []

    class Watching(tt.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            misses.append(tt.ledger()["plan_misses"])

    model.fit(X, Y, epochs=4, callbacks=[Watching()], **settings)
    assert set(np.diff(misses)) == {0}
