"""Graphs, chains and classes of tutti.compat.keras: shapes, names, masks, losses, files, words of errors."""

import subprocess
import sys

import numpy as np
import pytest
import tutti as tt
import tutti.compat.keras as keras
from tutti.compat.keras import layers, ops


@pytest.fixture(autouse=True)
def new_session():
    keras.utils.clear_session()
    keras.utils.set_random_seed(0)


def two_inputs():
    a, b = keras.Input((4,), name="a"), keras.Input((3,), name="b")
    x = layers.concatenate([layers.Dense(5, activation="relu")(a), b])
    shared = layers.Dense(2, name="shared")
    return keras.Model([a, b], {"one": shared(x), "two": shared(x * 2.0) + 1.0}, name="both")


def batch(n=6):
    rng = np.random.default_rng(0)
    return {"a": rng.normal(size=(n, 4)), "b": rng.normal(size=(n, 3))}


# ---- shapes and names


def test_axes_of_any_length_stay_open():
    x = keras.Input((None, 8))
    y = layers.Conv1D(4, 3, strides=2, padding="same")(x)
    assert y.shape == (None, None, 4) and layers.GlobalMaxPooling1D()(y).shape == (None, 4)
    assert layers.Reshape((-1, 2))(keras.Input((6, 4))).shape == (None, 12, 2)
    assert ops.reshape(keras.Input((6,)), (-1, 3, 2)).shape == (None, 3, 2)
    assert layers.LSTM(3, return_sequences=True)(x).shape == (None, None, 3)


def test_names_and_paths_of_weights():
    model = two_inputs()
    assert [layer.name for layer in model.layers] == ["a", "dense", "b", "concatenate", "shared"]
    assert [w.path for w in model.weights] == ["dense/kernel", "dense/bias", "shared/kernel", "shared/bias"]
    assert layers.Dense(1).name == "dense_1" and layers.Conv2DTranspose(1, 1).name == "conv2d_transpose"
    assert model.count_params() == 5 * 5 + 8 * 2 + 2


def test_outputs_of_layers_make_other_models():
    chain = keras.Sequential([keras.Input((4,)), layers.Dense(3, name="first"), layers.Dense(2)])
    both = keras.Model(chain.inputs, [layer.output for layer in chain.layers])
    x = np.ones((2, 4), "float32")
    first, last = both(x)
    np.testing.assert_array_equal(chain.get_layer("first")(x).numpy(), first.numpy())
    np.testing.assert_array_equal(chain(x).numpy(), last.numpy())


def test_summaries(capsys):
    chain = keras.Sequential([keras.Input((4,)), layers.Dense(3), layers.BatchNormalization()])
    chain.summary()
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == 'Model: "sequential"' and "dense (Dense)" in lines[4] and "(None, 3)" in lines[4]
    assert lines[-3:] == [
        " Total params: 27 (108.00 B)", " Trainable params: 21 (84.00 B)", " Non-trainable params: 6 (24.00 B)",
    ]  # fmt: skip
    two_inputs().summary()
    assert "Connected to" in capsys.readouterr().out


def test_adaptive_pools_have_the_size_that_is_asked_for():
    x = np.arange(36, dtype="float32").reshape(1, 6, 6, 1)
    assert layers.AdaptiveAveragePooling2D((2, 3))(x).shape == (1, 2, 3, 1)
    assert layers.AdaptiveMaxPooling2D(2)(x).numpy().ravel().tolist() == [14.0, 17.0, 32.0, 35.0]
    assert layers.AdaptiveMaxPooling1D(3)(keras.Input((6, 2))).shape == (None, 3, 2)


# ---- classes


class Scaled(layers.Layer):
    """A layer with a weight of each kind, and a loss."""

    def build(self, input_shape):
        self.factor = self.add_weight((input_shape[-1],), "ones", name="factor")
        self.calls = self.add_weight((), "zeros", trainable=False, name="calls")

    def call(self, inputs, training=None):
        self.calls.assign_add(1.0)
        self.add_loss(0.5 * ops.sum(inputs))
        return inputs * self.factor * (2.0 if training else 1.0)


def test_layers_of_ones_own():
    layer = Scaled()
    x = np.ones((2, 3), "float32")
    assert layer.weights == [] and layer(x, training=True).numpy().tolist() == [[2.0] * 3] * 2
    assert [w.name for w in layer.trainable_weights] == ["factor"] and float(layer.calls) == 1.0
    assert [float(loss) for loss in layer.losses] == [3.0]
    inputs = keras.Input((3,))
    model = keras.Model(inputs, layer(inputs))  # shapes alone: nothing changes
    assert float(layer.calls) == 1.0
    model(x)
    assert float(layer.calls) == 2.0 and [float(loss) for loss in model.losses] == [3.0]


def test_members_are_found_whatever_they_are_called():
    class Holder(layers.Layer):
        def __init__(self):
            super().__init__()
            self._first, self.more = layers.Dense(1), {"b": layers.Dense(2), "a": [layers.Dense(3)]}
            self._first = layers.Dense(4)  # in the place of the one before

        def call(self, inputs):
            return self._first(inputs), self.more["b"](inputs), self.more["a"][0](inputs)

    holder = Holder()
    holder(np.ones((1, 2)))
    assert sorted(w.shape[-1] for w in holder.weights) == [2, 2, 3, 3, 4, 4]


def test_what_layers_add_is_trained():
    x = keras.Input((3,))
    model = keras.Model(x, layers.Dense(2, kernel_regularizer="l2", use_bias=False)(x))
    model.compile("sgd")
    model.set_weights([np.full((3, 2), 2.0, "float32")])
    assert model.train_on_batch(np.ones((4, 3)), np.ones((4, 2))) == pytest.approx(0.01 * 24)
    np.testing.assert_allclose(model.get_weights()[0], 2.0 * (1 - 0.01 * 0.02), rtol=1e-6)


class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.blocks = [layers.Dense(4, activation="relu") for _ in range(2)]
        self.drop, self.out = layers.Dropout(0.5), layers.Dense(1)

    def call(self, inputs, training=False):
        for block in self.blocks:
            inputs = block(inputs)
        return self.out(self.drop(inputs, training=training))


def test_models_of_ones_own_train_and_keep_their_weights(tmp_path):
    x, y = np.random.default_rng(0).normal(size=(64, 3)), np.ones((64, 1))
    model = Net()
    model.compile("adam", "mse", metrics=["mae"])
    losses = model.fit(x, y, epochs=5, verbose=0).history["loss"]
    assert losses[-1] < losses[0] and len(model.weights) == 6 and len(model.layers) == 4
    model.save_weights(tmp_path / "net.weights.safetensors")
    other = Net()
    other(x[:1])
    other.load_weights(tmp_path / "net.weights.safetensors")
    np.testing.assert_array_equal(model.predict(x, verbose=0), other.predict(x, verbose=0))


def test_layers_that_are_not_trained_stay():
    model = keras.Sequential([keras.Input((3,)), layers.Dense(4), layers.BatchNormalization(), layers.Dense(1)])
    model.layers[0].trainable = model.layers[1].trainable = False
    before = model.get_weights()
    model.compile("adam", "mse")
    model.fit(np.ones((8, 3)), np.ones((8, 1)), verbose=0)
    same = [np.array_equal(a, b) for a, b in zip(before, model.get_weights(), strict=True)]
    assert same == [True] * 6 + [False] * 2 and len(model.trainable_weights) == 2


@pytest.mark.parametrize("chain", [True, False])
def test_graphs_train_when_they_are_told_to(chain):
    x = keras.Input((100,))
    drop = layers.Dropout(0.5)
    model = keras.Sequential([x, drop]) if chain else keras.Model(x, drop(x))
    always = keras.Model(x, layers.Dropout(0.5)(x, training=True))
    ones = np.ones((2, 100))
    assert (model(ones).numpy() == 1).all() and (model.predict(ones, verbose=0) == 1).all()
    assert set(model(ones, training=True).numpy().ravel()) == {0.0, 2.0}
    assert set(always(ones).numpy().ravel()) == {0.0, 2.0}


# ---- several inputs and outputs


def test_inputs_by_name_and_by_place():
    model, data = two_inputs(), batch()
    by_name, by_place = model.predict(data, verbose=0), model.predict([data["a"], data["b"]], verbose=0)
    np.testing.assert_array_equal(by_name["one"], by_place["one"])
    model.compile("sgd", {"one": "mse", "two": "mae"}, loss_weights={"one": 2.0, "two": 0.5}, metrics={"one": ["mae"]})
    history = model.fit(data, {"one": np.ones((6, 2)), "two": np.zeros((6, 2))}, epochs=2, verbose=0).history
    assert {"loss", "one_loss", "two_loss", "one_mae"} <= set(history) and history["loss"][1] < history["loss"][0]


# ---- masks


def test_masks_reach_the_layers_that_look_at_them():
    ids = np.array([[1, 2, 0, 0], [3, 0, 0, 0]])
    embedding, lstm = layers.Embedding(5, 3, mask_zero=True), layers.LSTM(2)
    x = embedding(ids)
    assert x._keras_mask.numpy().tolist() == [[True, True, False, False], [True, False, False, False]]
    cut = lstm(embedding(ids[1:, :1]))
    np.testing.assert_allclose(lstm(x).numpy()[1], cut.numpy()[0], rtol=1e-6)
    inputs = keras.Input((None,), dtype="int32")
    model = keras.Model(inputs, lstm(layers.Dropout(0.5)(embedding(inputs))))
    np.testing.assert_allclose(model(ids).numpy(), lstm(x).numpy(), rtol=1e-6)


def test_masked_steps_do_not_count_in_losses():
    model = keras.Sequential([layers.Masking(), layers.LSTM(3, return_sequences=True), layers.Dense(1)])
    x = np.ones((2, 4, 2), "float32")
    x[1, 2:] = 0
    model.compile("sgd", "mse")
    told = model.evaluate(x, np.zeros((2, 4, 1)), verbose=0)
    own = model(x).numpy()[..., 0] ** 2
    assert told == pytest.approx((own[0].sum() + own[1, :2].sum()) / 6, rel=1e-5)


# ---- configurations and files


def same_outputs(a, b, data):
    np.testing.assert_array_equal(np.asarray(a.predict(data, verbose=0)), np.asarray(b.predict(data, verbose=0)))


def test_models_from_files(tmp_path):
    x = keras.Input((8, 8, 1))
    y = layers.Conv2D(4, 3, padding="same", activation="relu", kernel_regularizer=keras.regularizers.L2(0.01))(x)
    y = layers.GlobalAveragePooling2D()(layers.add([y, layers.Conv2D(4, 1)(x)]) * 0.5)
    model = keras.Model(x, layers.Dense(3, activation="softmax", name="classes")(y))
    model.compile(keras.optimizers.RMSprop(0.01), "categorical_crossentropy", metrics=["accuracy"])
    data = np.random.default_rng(0).normal(size=(5, 8, 8, 1))
    model.fit(data, np.eye(3)[[0, 1, 2, 0, 1]], verbose=0)
    model.save(tmp_path / "model.keras")
    found = keras.models.load_model(tmp_path / "model.keras")
    same_outputs(model, found, data)
    assert float(found.optimizer.learning_rate) == pytest.approx(0.01)
    assert [layer.name for layer in found.layers] == [layer.name for layer in model.layers]


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "SimpleRNN"])
def test_chains_from_configurations(kind):
    chain = keras.Sequential(
        [
            keras.Input((5, 2)),
            layers.Bidirectional(getattr(layers, kind)(3, return_sequences=True)),
            layers.TimeDistributed(layers.Dense(2)),
            layers.Flatten(),
        ]
    )
    found = keras.Sequential.from_config(chain.get_config())
    found.set_weights(chain.get_weights())
    same_outputs(chain, found, np.ones((2, 5, 2)))


def double(x):
    return 2 * x


def test_functions_of_lambda_layers_are_given_again():
    chain = keras.Sequential([keras.Input((2,)), layers.Lambda(double)])
    with pytest.raises(ValueError, match="'double' of a Lambda layer is not known"):
        keras.Sequential.from_config(chain.get_config())
    found = keras.Sequential.from_config(chain.get_config(), custom_objects={"double": double})
    same_outputs(chain, found, np.ones((1, 2)))


# ---- words of errors


def test_errors_in_keras_words():
    dense = layers.Dense(2)
    dense(np.ones((1, 4)))
    with pytest.raises(ValueError, match="expected axis -1 of input shape to have value 4, but received input"):
        dense(np.ones((1, 3)))
    with pytest.raises(ValueError, match="expected min_ndim=4, found ndim=2"):
        layers.Conv2D(2, 3)(np.ones((2, 2)))
    with pytest.raises(ValueError, match="Graph disconnected"):
        keras.Model(keras.Input((4,)), dense(keras.Input((4,))))
    with pytest.raises(ValueError, match="expects 2 input"):
        two_inputs()(np.ones((2, 4)))
    with pytest.raises(RuntimeError, match="forgot to call"):
        type("Bad", (layers.Layer,), {"__init__": lambda self: None})().anything = [1]
    with pytest.raises(ValueError, match="You must call `compile"):
        two_inputs().fit(batch(), np.ones((6, 2)))
    with pytest.raises(ValueError, match="weight list of length 1, but the layer was expecting 2"):
        dense.set_weights([np.ones((4, 2))])
    with pytest.raises(TypeError, match="cannot be used as a boolean"):
        bool(keras.Input((2,)) > 0)
    with pytest.raises(ValueError, match="must end in `.weights.h5`"):
        keras.Sequential([dense]).save_weights("w.h5")
    with pytest.raises(NotImplementedError, match="HDF5"):
        keras.Sequential([dense]).save("w.h5")


def test_names_that_are_missing_say_so():
    for place, name in ((keras, "applications"), (layers, "CutMix"), (ops, "istft"), (keras.utils, "Progbar")):
        with pytest.raises(AttributeError, match=f"tutti.compat.keras does not cover .*{name}"):
            getattr(place, name)
    with pytest.raises(NotImplementedError, match="fetches no data"):
        keras.datasets.mnist.load_data()


def test_scripts_of_tensorflows_keras_run_unchanged(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "from tensorflow import keras\nfrom tensorflow.keras import layers\nimport tensorflow.keras.losses as losses\n"
        "from keras.models import Sequential\nassert Sequential is keras.Sequential and losses.MeanSquaredError\n"
        "print(Sequential([keras.Input((2,)), layers.Dense(3)]).output_shape)\n"
    )
    done = subprocess.run([sys.executable, "-m", "tutti", "run", script], capture_output=True, text=True, timeout=60)
    assert done.stdout == "(None, 3)\n", done.stderr


# ---- parts


@pytest.mark.parametrize("name", [n for n in keras.initializers.__all__ if n[0].isupper() and n != "Initializer"])
def test_initializers_draw_as_wide_as_they_say(name):
    made = getattr(keras.initializers, name)()((64, 64))
    assert made.shape == (64, 64) and made.dtype == "float32"
    spread = {"GlorotUniform": 1 / 8, "GlorotNormal": 1 / 8, "HeUniform": 2**0.5 / 8, "HeNormal": 2**0.5 / 8}
    spread |= {"LecunUniform": 1 / 8, "LecunNormal": 1 / 8, "RandomNormal": 0.05, "RandomUniform": 0.05 / 3**0.5}
    if name in spread:
        assert float(made.std()) == pytest.approx(spread[name], rel=0.05)
    if name == "Orthogonal":
        np.testing.assert_allclose((made @ made.T).numpy(), np.eye(64), atol=1e-5)


def test_constraints_hold_after_steps():
    model = keras.Sequential([keras.Input((3,)), layers.Dense(4, kernel_constraint=keras.constraints.MaxNorm(0.5))])
    model.compile(keras.optimizers.SGD(1.0), "mse")
    model.fit(np.ones((8, 3)), 9 * np.ones((8, 4)), verbose=0)
    assert np.linalg.norm(model.get_weights()[0], axis=0).max() <= 0.5 + 1e-6


def test_callbacks_set_the_learning_rate():
    model = keras.Sequential([keras.Input((3,)), layers.Dense(1)])
    model.compile(keras.optimizers.Adam(0.1), "mse")
    halve = keras.callbacks.LearningRateScheduler(lambda epoch, rate: rate / 2)
    model.fit(np.ones((4, 3)), np.ones((4, 1)), epochs=3, callbacks=[halve], verbose=0)
    assert float(model.optimizer.learning_rate) == pytest.approx(0.0125)


def test_checkpoints_hold_whole_models(tmp_path):
    model = keras.Sequential([keras.Input((3,)), layers.Dense(1)])
    model.compile("adam", "mse")
    x = np.ones((4, 3))
    keep = keras.callbacks.ModelCheckpoint(str(tmp_path / "at_{epoch}.keras"))
    model.fit(x, np.ones((4, 1)), epochs=2, callbacks=[keep], verbose=0)
    same_outputs(model, keras.models.load_model(tmp_path / "at_2.keras"), x)


def test_the_layer_of_the_first_loss_that_is_not_finite_is_named():
    root = layers.Lambda(lambda x: ops.sqrt(x - 1e9), name="root")
    model = keras.Sequential([keras.Input((3,)), layers.Dense(1), root, layers.Dense(1)])
    model.compile(keras.optimizers.SGD(0.0), "mse")
    model.layers[0].trainable = model.layers[2].trainable = False
    with pytest.warns(RuntimeWarning, match=r"first layer whose outputs are not finite is 'root' \(Lambda\)"):
        model.fit(np.ones((8, 3)), np.ones((8, 1)), verbose=0)


def test_sequences_of_one_length():
    pad = keras.utils.pad_sequences
    assert pad([[1], [2, 3]]).tolist() == [[0, 1], [2, 3]]
    assert pad([[1], [2, 3, 4]], maxlen=2, padding="post", truncating="post").tolist() == [[1, 0], [2, 3]]
    assert keras.utils.to_categorical([0, 2]).tolist() == [[1, 0, 0], [0, 0, 1]]


def test_a_step_is_one_evaluation():
    model = keras.Sequential([keras.Input((32,)), layers.Dense(64, activation="relu"), layers.Dense(10)])
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
    x, y = tt.ones((64, 32), dtype="float32"), tt.zeros(64, dtype="int64")
    for _ in range(3):
        model.train_step((x, y, None))
    before = tt.ledger()["evaluations"] if "evaluations" in tt.ledger() else None
    model.train_step((x, y, None))
    if before is not None:
        assert tt.ledger()["evaluations"] == before + 1
