"""Layers of layers in a graph, averages of weights, gradients gathered, losses, trees, series and pictures."""

import io
import json
import zipfile

import numpy as np
import pytest
import tutti as tt
from tutti.compat import keras
from tutti.compat.keras import layers, ops


class Block(layers.Layer):
    """Layers that have no weights before the first call."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.embed, self.inner = layers.Embedding(9, 4), keras.Sequential([layers.Dense(5), layers.Dense(4)])
        self.norm = layers.LayerNormalization()

    def call(self, x):
        e = self.embed(x)
        return self.norm(e + self.inner(e))


def test_layers_of_layers_have_weights_that_were_drawn():
    """Shapes are found by a call on zeros; weights that are made in it are no zeros."""
    x = keras.Input((3,))
    model = keras.Model(x, layers.Dense(1)(layers.Flatten()(Block()(x))))
    kernels = [w for w in model.get_weights() if w.ndim == 2]
    assert len(kernels) == 4 and all(np.abs(w).min() > 0 for w in kernels)
    seen = np.asarray(model(np.array([[1, 2, 3], [4, 5, 6]])))
    assert seen[0] != seen[1]


def fitted(**kwargs):
    keras.utils.set_random_seed(1)
    model = keras.Sequential([keras.Input((3,)), layers.Dense(1)])
    model.compile(keras.optimizers.SGD(0.1, **kwargs), "mse")
    r = np.random.default_rng(0)
    return model, r.standard_normal((8, 3)).astype("float32"), r.standard_normal((8, 1)).astype("float32")


def steps(model, x, y, n):
    """The kernel after each step."""
    seen = []
    for _ in range(n):
        model.train_on_batch(x, y)
        seen.append(model.get_weights()[0])
    return seen


def test_averages_of_weights():
    plain = steps(*fitted(), 4)
    model, x, y = fitted(use_ema=True, ema_momentum=0.5)
    np.testing.assert_allclose(steps(model, x, y, 4), plain, rtol=1e-5)
    want = plain[0]
    for w in plain[1:]:
        want = 0.5 * want + 0.5 * w
    model.optimizer.finalize_variable_values(model.trainable_weights)
    np.testing.assert_allclose(model.get_weights()[0], want, rtol=1e-5)
    model, x, y = fitted(use_ema=True, ema_momentum=0.5)
    model.fit(x, y, batch_size=8, epochs=4, verbose=0)
    np.testing.assert_allclose(model.get_weights()[0], want, rtol=1e-5)
    overwritten = steps(*fitted(use_ema=True, ema_momentum=0.5, ema_overwrite_frequency=2), 2)
    np.testing.assert_allclose(overwritten[1], (plain[0] + plain[1]) / 2, rtol=1e-5)
    with pytest.raises(ValueError, match="`ema_momentum` must be in the range"):
        keras.optimizers.Adam(use_ema=True, ema_momentum=2.0)


def test_evaluations_see_averages():
    model, x, y = fitted(use_ema=True, ema_momentum=0.5)
    seen = []
    look = keras.callbacks.LambdaCallback(
        on_epoch_begin=lambda epoch, logs=None: seen.append(("trained", model.get_weights()[0])),
        on_epoch_end=lambda epoch, logs=None: seen.append(("averages", model.get_weights()[0])),
    )
    swap = keras.callbacks.SwapEMAWeights(swap_on_epoch=True)
    model.fit(x, y, batch_size=8, epochs=4, verbose=0, callbacks=[swap, look], validation_data=(x, y))
    plain = steps(*fitted(), 4)
    want = plain[0]
    for k, w in enumerate(plain):
        want = w if k == 0 else 0.5 * want + 0.5 * w
        np.testing.assert_allclose(seen[2 * k + 1][1], want, rtol=1e-5)
        if k < 3:
            np.testing.assert_allclose(seen[2 * k + 2][1], w, rtol=1e-5)
    np.testing.assert_allclose(model.get_weights()[0], want, rtol=1e-5)


def test_gradients_of_several_steps():
    model, x, y = fitted(gradient_accumulation_steps=2)
    half = [model.get_weights()[0]]
    for part in (slice(0, 4), slice(4, 8)):
        model.train_on_batch(x[part], y[part])
        half.append(model.get_weights()[0])
    assert (half[0] == half[1]).all() and int(model.optimizer.iterations) == 1
    np.testing.assert_allclose(half[2], steps(*fitted(), 1)[0], rtol=1e-5)


def test_metrics_that_a_call_counts_are_logged():
    class Counting(keras.Model):
        def __init__(self):
            super().__init__()
            self.dense, self.size = layers.Dense(1), keras.metrics.Mean(name="size")

        def call(self, x):
            made = self.dense(x)
            self.add_loss(0.1 * ops.mean(ops.square(made)))
            self.size.update_state(ops.shape(x)[0])
            return made

    model = Counting()
    model.compile("sgd", "mse")
    history = model.fit(np.ones((8, 3)), np.ones((8, 1)), batch_size=4, epochs=1, verbose=0).history
    assert history["size"] == [4.0]


def test_models_of_text():
    x = keras.Input((3,))
    model = keras.Model(x, layers.Dense(2, activation="relu")(x))
    made = keras.models.model_from_json(model.to_json())
    made.set_weights(model.get_weights())
    assert (made.predict(np.ones((2, 3)), verbose=0) == model.predict(np.ones((2, 3)), verbose=0)).all()
    assert json.loads(model.to_json())["config"]["name"] == model.name


def test_losses():
    p = np.array([[0.1, 0.7, 0.2], [0.5, 0.25, 0.25]], "float32")
    loss = keras.losses.CategoricalGeneralizedCrossEntropy(q=0.5)
    np.testing.assert_allclose(float(loss([1, 1], p)), np.mean((1 - np.array([0.7, 0.25]) ** 0.5) / 0.5), rtol=1e-6)
    with pytest.raises(ValueError, match="q must be in the interval"):
        keras.losses.categorical_generalized_cross_entropy([1], p[:1], q=1)
    logits = np.random.default_rng(0).standard_normal((2, 6, 4)).astype("float32")
    labels = np.array([[1, 2, 0], [3, 0, 0]])
    log = tt.nn.functional.log_softmax(tt.array(logits), -1)
    want = [
        float(tt.nn.functional.ctc_loss(log[k][:, None], tt.array(labels[k : k + 1, :n]), [6], [n], reduction="sum"))
        for k, n in ((0, 2), (1, 1))
    ]
    np.testing.assert_allclose(keras.losses.ctc(labels, logits).numpy(), want, rtol=1e-5)


def test_trees():
    tree = keras.tree
    nested = {"b": [1, (2, 3)], "a": 4}
    assert tree.flatten(nested) == [4, 1, 2, 3] and tree.is_nested(nested) and not tree.is_nested(3)
    assert tree.pack_sequence_as(nested, [1, 2, 3, 4]) == {"b": [2, (3, 4)], "a": 1}
    assert tree.map_structure(lambda x: x + 1, nested) == {"b": [2, (3, 4)], "a": 5}
    assert tree.lists_to_tuples(nested) == {"b": (1, (2, 3)), "a": 4}
    tree.assert_same_structure(nested, {"b": [0, (0, 0)], "a": 0})
    for other in ({"b": [0, (0,)], "a": 0}, {"b": [0, [0, 0]], "a": 0}, {"a": 0}):
        with pytest.raises(ValueError, match="don't have the same structure"):
            tree.assert_same_structure(nested, other)


def test_series():
    data = np.arange(20)
    batches = list(keras.utils.timeseries_dataset_from_array(data, data[5:], 4, sampling_rate=2, batch_size=6))
    x, y = np.concatenate([b[0] for b in batches]), np.concatenate([b[1] for b in batches])
    assert x.tolist() == [list(range(k, k + 8, 2)) for k in range(14)] and y.tolist() == list(range(5, 19))
    alone = keras.utils.timeseries_dataset_from_array(data, None, 4, sequence_stride=3, start_index=2, end_index=15)
    assert alone[0].tolist() == [list(range(k, k + 4)) for k in (2, 5, 8, 11)]


def test_pictures(tmp_path):
    pytest.importorskip("PIL")
    r = np.random.default_rng(0)
    for name in ("cats", "dogs"):
        (tmp_path / name).mkdir()
        for k in range(5):
            keras.utils.save_img(str(tmp_path / name / f"{k}.png"), r.integers(0, 256, (6, 8, 3)), scale=False)
    one = keras.utils.load_img(tmp_path / "cats" / "0.png")
    a = keras.utils.img_to_array(one)
    assert a.shape == (6, 8, 3) and a.dtype == "float32"
    assert keras.utils.array_to_img(a, scale=False).size == (8, 6)
    how = {"image_size": (6, 8), "batch_size": 3, "seed": 1, "validation_split": 0.2, "verbose": False}
    train, test = keras.utils.image_dataset_from_directory(tmp_path, subset="both", **how)
    assert train.class_names == ["cats", "dogs"] and len(train) == 3 and len(train[0][0]) == 3
    whole = keras.utils.image_dataset_from_directory(tmp_path, label_mode="binary", shuffle=False, image_size=(6, 8))
    assert (whole[0][0][0] == a).all() and whole[0][1].tolist() == [[0]] * 5 + [[1]] * 5
    with pytest.raises(ValueError, match="No images found"):
        keras.utils.image_dataset_from_directory(tmp_path / "cats")


# What Keras 3.15 writes into a .keras file of a graph with a mask (shortened).
TENSOR = {"class_name": "__keras_tensor__", "config": {"shape": [None, 4], "dtype": "float32"}}


def tensor_of(name):
    return {"class_name": "__keras_tensor__", "config": {**TENSOR["config"], "keras_history": [name, 0, 0]}}


def layer_of(class_name, name, inputs, kwargs=None, **config):
    policy = {"module": "keras", "class_name": "DTypePolicy", "config": {"name": "float32"}, "registered_name": None}
    config = {"name": name, "trainable": True, "dtype": policy, **config}
    nodes = [{"args": [tensor_of(i) for i in inputs], "kwargs": kwargs or {}}] if inputs else []
    made = {"module": "keras.layers", "class_name": class_name, "config": config, "registered_name": None}
    return {**made, "name": name, "inbound_nodes": nodes}


def keras_graph():
    place = {"batch_shape": [None, 4], "sparse": False, "ragged": False, "optional": False}
    start = layer_of("InputLayer", "ids", [], **place)
    start["config"].update(dtype="int32")
    del start["config"]["trainable"]
    mask = {"module": "keras.src.ops.numpy", "class_name": "NotEqual", "config": {"name": "not_equal"}}
    mask.update(name="not_equal", inbound_nodes=[{"args": [tensor_of("ids"), 0], "kwargs": {}}])
    zeros = {"module": "keras.initializers", "class_name": "Zeros", "config": {}, "registered_name": None}
    glorot = {**zeros, "class_name": "GlorotUniform", "config": {"seed": None, "input_axes": None, "output_axes": None}}
    table = {"input_dim": 9, "output_dim": 3, "mask_zero": True, "quantization_config": None}
    dense = {"units": 2, "activation": "relu", "kernel_initializer": glorot, "bias_initializer": zeros}
    layers = [
        start,
        layer_of("Embedding", "embedding", ["ids"], **table),
        mask,
        layer_of("GRU", "gru", ["embedding"], {"mask": tensor_of("not_equal")}, units=4),
        layer_of("Dense", "dense", ["gru"], quantization_config=None, **dense),
    ]
    config = {"name": "read", "trainable": True, "layers": layers}
    config.update(input_layers=["ids", 0, 0], output_layers=["dense", 0, 0])
    return {"module": "keras.src.models.functional", "class_name": "Functional", "config": config}


def test_a_graph_that_keras_wrote():
    model = keras.saving.deserialize_keras_object(keras_graph())
    assert model.name == "read" and [layer.name for layer in model.layers][:2] == ["ids", "embedding"]
    a, b = model.predict(np.array([[1, 2, 0, 0], [1, 2, 0, 0]]), verbose=0)
    short = model.layers[-1](model.get_layer("gru")(model.get_layer("embedding")(np.array([[1, 2]]))))
    np.testing.assert_allclose(a, short.detach().numpy()[0], rtol=1e-5, atol=1e-7)
    assert (a == b).all()


def test_a_graph_as_keras_reads_it():
    x = keras.Input((4,), name="x")
    model = keras.Model(x, ops.tanh(layers.Dense(2, name="dense")(x)) * 2.0)
    model.compile(keras.optimizers.Adam(keras.optimizers.schedules.ExponentialDecay(0.1, 5, 0.9)), "mse")
    told = keras.saving.serialize_keras_object(model)
    assert (told["module"], told["class_name"]) == ("keras.src.models.functional", "Functional")
    first, second, third, fourth = told["config"]["layers"]
    assert (first["module"], second["module"], third["module"]) == (
        "keras.layers",
        "keras.layers",
        "keras.src.ops.numpy",
    )
    assert third["class_name"] == "Tanh" and fourth["class_name"] == "Multiply" and second["registered_name"] is None
    given = second["inbound_nodes"][0]["args"][0]
    assert given["class_name"] == "__keras_tensor__" and given["config"]["keras_history"] == ["x", 0, 0]
    assert told["config"]["input_layers"] == ["x", 0, 0]
    rate = keras.saving.serialize_keras_object(model.optimizer)["config"]["learning_rate"]
    assert "name" not in keras.optimizers.schedules.ExponentialDecay(0.1, 5, 0.9).get_config() and rate is not None


def test_whole_models_in_files_of_keras(tmp_path):
    h5py = pytest.importorskip("h5py")
    model, x, y = fitted()
    model.fit(x, y, verbose=0)
    model.save(tmp_path / "net.keras")
    with zipfile.ZipFile(tmp_path / "net.keras") as made:
        assert sorted(made.namelist()) == ["config.json", "metadata.json", "model.weights.h5"]
        assert "compile_config" in json.loads(made.read("config.json"))
        with h5py.File(io.BytesIO(made.read("model.weights.h5"))) as f:
            assert f["layers/dense/vars/0"].shape == (3, 1)
    read = keras.models.load_model(tmp_path / "net.keras")
    assert (read.predict(x, verbose=0) == model.predict(x, verbose=0)).all() and read.optimizer is not None
