"""Layers and functions of tutti.compat.keras that prepare images."""

import keras_images
import numpy as np
import pytest
import tutti.compat.keras as keras

X = np.random.default_rng(0).random((4, 6, 8, 3)).astype("float32") * 255
LAYERS = keras.layers


def test_images_are_moved_as_by_keras():
    for k, (made, want) in enumerate(zip(keras_images.run(keras), keras_images.WANT, strict=True)):
        assert made[0] == want[0], k
        np.testing.assert_allclose(made[1:], want[1:], rtol=2e-5, atol=1e-3, err_msg=str(k))


def layer(name, *args, **kwargs):
    return pytest.param(lambda: getattr(LAYERS, name)(*args, seed=1, **kwargs), id=name)


RANDOM = [
    layer("RandomFlip"), layer("RandomFlip", "vertical"), layer("RandomRotation", 0.2), layer("RandomZoom", 0.3),
    layer("RandomZoom", (-0.3, -0.1), 0.2), layer("RandomTranslation", 0.2, (0.1, 0.3)), layer("RandomContrast", 0.5),
    layer("RandomBrightness", 0.4), layer("RandomGrayscale", 0.5),
]  # fmt: skip


@pytest.mark.parametrize("make", RANDOM)
def test_layers_by_chance(make):
    """Nothing without training; with it each image by itself, the same of the same seed, within the range."""
    made = make()
    np.testing.assert_array_equal(made(X, training=False).numpy(), X)
    first, *others = (made(X).numpy() for _ in range(6))
    assert first.shape == X.shape and first.min() >= 0 and first.max() <= 255
    assert any((first != other).any() for other in others)
    np.testing.assert_array_equal(make()(X).numpy(), first)
    one = make()(X[0]).numpy()
    assert one.shape == X[0].shape
    again = type(made).from_config(made.get_config())
    np.testing.assert_array_equal(again(X).numpy(), first)
    labelled = make()({"images": X, "labels": np.arange(4)})
    np.testing.assert_array_equal(labelled["images"].numpy(), first)
    assert list(labelled["labels"]) == [0, 1, 2, 3]


def test_flips():
    kinds = {X[0].tobytes(), X[0][:, ::-1].tobytes(), X[0][::-1].tobytes(), X[0][::-1, ::-1].tobytes()}
    made = LAYERS.RandomFlip(seed=2)
    assert {made(X[0]).numpy().tobytes() for _ in range(40)} == kinds


def test_crops():
    made = LAYERS.RandomCrop(3, 4, seed=3)
    parts = {X[:, i : i + 3, j : j + 4].tobytes() for i in range(4) for j in range(5)}
    found = {made(X).numpy().tobytes() for _ in range(60)}
    assert len(found) > 8 and found <= parts
    assert made(X, training=False).shape == X.shape and LAYERS.RandomCrop(7, 9)(X).shape == (4, 7, 9, 3)


def test_images_in_models():
    model = keras.Sequential([
        keras.Input((None, None, 3)), LAYERS.Resizing(4, 4), LAYERS.RandomRotation(0.1), LAYERS.Rescaling(1 / 255),
        LAYERS.Conv2D(2, 3), LAYERS.GlobalAveragePooling2D(),
    ])  # fmt: skip
    assert model.output_shape == (None, 2) and model(X).shape == (4, 2)
    resized = keras.ops.image.resize(keras.Input((6, 8, 3)), (2, 2))
    assert resized.shape == (None, 2, 2, 3)


@pytest.mark.parametrize("call, words", [
    (lambda: LAYERS.RandomRotation((1, 2, 3)), "should be a number"),
    (lambda: LAYERS.RandomZoom(3.0), "in the range"),
    (lambda: LAYERS.RandomFlip("sideways"), "Unknown `mode`"),
    (lambda: LAYERS.RandomRotation(0.1, fill_mode="none"), "`fill_mode`"),
    (lambda: keras.ops.image.resize(X, (2, 2), interpolation="area"), "`interpolation`"),
    (lambda: keras.ops.image.resize(X[0, 0], (2, 2)), "Invalid images rank"),
])  # fmt: skip
def test_what_is_wrong_is_said(call, words):
    with pytest.raises(ValueError, match=words):
        call()
