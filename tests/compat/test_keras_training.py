"""fit() of tutti.compat.keras: Keras' numbers for the same first weights, kept here as Keras 3 with JAX gave them."""

import numpy as np
import pytest
import tutti.compat.keras as keras
from tutti.compat.keras import layers

SCHEDULES = keras.optimizers.schedules
# The losses of three epochs over the digits in their order, and of what is left out.
KERAS = {
    "SGD": (dict(learning_rate=0.1), [2.15692, 1.7056, 1.27469], [1.90221, 1.49972, 1.15718]),
    "SGD nesterov": (
        dict(learning_rate=0.05, momentum=0.9, nesterov=True),
        [1.87154, 0.68105, 0.29297],
        [1.18326, 0.61015, 0.51993],
    ),
    "SGD decay": (
        dict(learning_rate=0.1, clipnorm=0.1, weight_decay=0.01),
        [2.31399, 2.19031, 2.08529],
        [2.21243, 2.10955, 2.01591],
    ),
    "SGD schedule": (
        dict(learning_rate=SCHEDULES.CosineDecay(0.1, 100), momentum=0.9),
        [1.62084, 0.41424, 0.24769],
        [0.81265, 0.59821, 0.60667],
    ),
    "Adam": (dict(), [2.28053, 2.05445, 1.79902], [2.13619, 1.91483, 1.68684]),
    "Adam limited": (dict(global_clipnorm=0.1), [2.27949, 2.0495, 1.79653], [2.13288, 1.91025, 1.6899]),
    "Adam largest": (
        dict(amsgrad=True, clipvalue=0.01),
        [2.27705, 2.0437, 1.79197],
        [2.12903, 1.90555, 1.68476],
    ),
    "Adam schedule": (
        dict(learning_rate=SCHEDULES.ExponentialDecay(0.01, 10, 0.9)),
        [1.60727, 0.61314, 0.37612],
        [0.99322, 0.65187, 0.57459],
    ),
    "RMSprop": (dict(), [2.21498, 1.95013, 1.70445], [2.04599, 1.81613, 1.61524]),
    "RMSprop centered": (
        dict(momentum=0.5, centered=True),
        [2.00702, 1.26374, 0.80235],
        [1.60483, 1.07171, 0.79946],
    ),
    "Adagrad": (dict(), [2.37534, 2.3563, 2.34005], [2.3315, 2.31466, 2.30005]),
    "Adadelta": (dict(), [2.38501, 2.38464, 2.38428], [2.35137, 2.35101, 2.35066]),
    "Adamax": (dict(), [2.31047, 2.18778, 2.07828], [2.21178, 2.1073, 2.00374]),
    "Nadam": (dict(), [2.29792, 2.08476, 1.82279], [2.16426, 1.93688, 1.70756]),
    "AdamW": (dict(), [2.28053, 2.05449, 1.79915], [2.1362, 1.91492, 1.68699]),
    "Lion": (dict(), [2.26435, 1.98042, 1.67949], [2.09304, 1.82989, 1.58054]),
}


def small_model():
    model = keras.Sequential([layers.Input((64,)), layers.Dense(32, activation="relu"), layers.Dense(10)])
    rng = np.random.default_rng(0)
    model.set_weights([rng.normal(size=w.shape).astype("float32") * 0.2 for w in model.get_weights()])
    return model


@pytest.mark.parametrize("name", KERAS)
def test_optimizers_train_as_keras_do(name, digits):
    numbers, loss, held_out = KERAS[name]
    model = small_model()
    model.compile(
        getattr(keras.optimizers, name.split()[0])(**numbers),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    found = model.fit(*digits, batch_size=64, epochs=3, shuffle=False, validation_split=0.2, verbose=0).history
    np.testing.assert_allclose(found["loss"], loss, rtol=2e-5)
    np.testing.assert_allclose(found["val_loss"], held_out, rtol=5e-5)


def test_convolutions_learn_the_digits(digits):
    keras.utils.set_random_seed(0)
    images, labels = digits[0].reshape(-1, 8, 8, 1), keras.utils.to_categorical(digits[1], 10)
    model = keras.Sequential(
        [
            keras.Input((8, 8, 1)),
            layers.Conv2D(32, 3, activation="relu"),
            layers.MaxPooling2D(2),
            layers.Flatten(),
            layers.Dropout(0.25),
            layers.Dense(10, activation="softmax"),
        ]
    )
    model.compile("adam", "categorical_crossentropy", metrics=["accuracy"])
    held_out = np.arange(len(images)) % 5 == 0
    model.fit(images[~held_out], labels[~held_out], batch_size=32, epochs=15, verbose=0)
    assert model.evaluate(images[held_out], labels[held_out], verbose=0)[1] > 0.95


def test_the_same_seed_gives_the_same_bits(digits):
    found = []
    for _ in range(2):
        keras.utils.clear_session()
        keras.utils.set_random_seed(3)
        model = keras.Sequential([layers.Dense(16, activation="relu"), layers.Dropout(0.5), layers.Dense(10)])
        model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
        model.fit(digits[0][:256], digits[1][:256], epochs=2, verbose=0)
        found.append(model.get_weights())
    assert all((a == b).all() for a, b in zip(*found, strict=True))


class Counting(keras.Model):
    """The steps that Keras' guide of them shows."""

    def train_step(self, data):
        x, y = data
        y_pred = self(x, training=True)
        loss = self.compute_loss(y=y, y_pred=y_pred)
        self.optimizer.zero_grad()
        loss.backward()
        weights = self.trainable_weights
        self.optimizer.apply([v.grad for v in weights], weights)
        for metric in self.metrics:
            metric.update_state(loss) if metric.name == "loss" else metric.update_state(y, y_pred)
        return self.get_metrics_result()

    def test_step(self, data):
        x, y = data
        y_pred = self(x, training=False)
        self.compute_loss(y=y, y_pred=y_pred)
        return self.compute_metrics(x, y, y_pred)

    def predict_step(self, data):
        return self(data, training=False)


def test_steps_get_what_keras_gives():
    x, y = np.ones((8, 3)), np.ones((8, 1))

    def made(kind):
        i = keras.Input((3,))
        model = kind(i, keras.layers.Dense(1)(i))
        model.set_weights([np.full((3, 1), 0.5), np.zeros(1)])
        model.compile("sgd", "mse", metrics=["mae"])
        return model

    own, usual = made(Counting), made(keras.Model)
    histories = [m.fit(x, y, batch_size=4, epochs=2, verbose=0).history for m in (own, usual)]
    assert set(histories[0]) == set(histories[1]) == {"loss", "mae"}
    for name in histories[0]:
        np.testing.assert_allclose(histories[0][name], histories[1][name], rtol=1e-6)
    assert own.evaluate(x, y, verbose=0, return_dict=True)["mae"] == pytest.approx(
        usual.evaluate(x, y, verbose=0, return_dict=True)["mae"]
    )
    np.testing.assert_array_equal(own.predict(x, verbose=0), usual.predict(x, verbose=0))
    np.testing.assert_array_equal(own.predict_on_batch(x), usual.predict_on_batch(x))
    own.train_on_batch(x, y), own.test_on_batch(x, y)


def test_batches_are_packed_as_keras_packs_them():
    pack, unpack = keras.utils.pack_x_y_sample_weight, keras.utils.unpack_x_y_sample_weight
    assert pack(1) == 1 and pack([1, 2]) == ([1, 2],) and pack(1, 2) == (1, 2) and pack(1, 2, 3) == (1, 2, 3)
    assert unpack(pack([1, 2])) == ([1, 2], None, None) and unpack((1, 2)) == (1, 2, None)
