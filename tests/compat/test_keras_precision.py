"""Optimisers that Keras has beside PyTorch's, policies of types, and losses that are scaled."""

import keras_optimizers
import numpy as np
import pytest
import tutti as tt
import tutti.compat.keras as keras


@pytest.mark.parametrize("case", range(len(keras_optimizers.CASES)), ids=lambda k: keras_optimizers.CASES[k][0])
def test_optimizers_step_as_keras(case):
    made = keras_optimizers.run(keras, *keras_optimizers.CASES[case])
    np.testing.assert_allclose(made, keras_optimizers.WANT[case], atol=5e-5)


@pytest.fixture
def policy():
    yield keras.mixed_precision.set_global_policy
    keras.mixed_precision.set_global_policy("float32")


def network():
    layers = keras.layers
    made = keras.Sequential([
        keras.Input((8, 8, 3)), layers.Conv2D(8, 3, activation="relu"), layers.BatchNormalization(),
        layers.MaxPooling2D(), layers.Flatten(), layers.LayerNormalization(), layers.Dense(16, activation="gelu"),
        layers.Dense(4, activation="softmax", dtype="float32"),
    ])  # fmt: skip
    r = np.random.default_rng(1)
    made.set_weights([r.standard_normal(w.shape) * 0.2 if w.ndim > 1 else w for w in made.get_weights()])
    return made


# As Keras 3.16 with JAX gave them; of types with 16 bits it rounds other sums.
LOSSES = {
    "float32": ([1.7704, 1.0139, 0.7299], 2e-4),
    "mixed_float16": ([1.7703, 1.0138, 0.73], 2e-3),
    "mixed_bfloat16": ([1.766, 1.0092, 0.7255], 1e-2),
}


@pytest.mark.parametrize("name", LOSSES)
def test_policies(policy, name):
    policy(name)
    model, r = network(), np.random.default_rng(0)
    x, y = r.standard_normal((64, 8, 8, 3)).astype("float32"), r.integers(0, 4, 64)
    model.compile(keras.optimizers.Adam(0.01), "sparse_categorical_crossentropy")
    losses = model.fit(x, y, epochs=3, batch_size=16, shuffle=False, verbose=0).history["loss"]
    want, tolerance = LOSSES[name]
    np.testing.assert_allclose(losses, want, atol=tolerance)
    low = name.removeprefix("mixed_")
    first = model.layers[0]
    assert first.compute_dtype == low and first.dtype == first.variable_dtype == "float32"
    assert str(first(x[:2]).dtype) == str(model.layers[1](first(x[:2])).dtype) == low
    assert first.kernel.dtype == "float32" and str(model(x[:2]).dtype) == "float32"
    assert isinstance(model.optimizer, keras.optimizers.LossScaleOptimizer) == (name == "mixed_float16")
    again = keras.Sequential.from_config(model.get_config())
    assert [layer.compute_dtype for layer in again.layers] == [layer.compute_dtype for layer in model.layers]


def test_names_of_policies():
    made = keras.DTypePolicy("mixed_bfloat16")
    assert (made.compute_dtype, made.variable_dtype, repr(made)) == (
        "bfloat16", "float32", '<DTypePolicy "mixed_bfloat16">',
    )  # fmt: skip
    assert (
        keras.layers.Dense(2, dtype=made).dtype_policy == made and keras.dtype_policies.get("float32").name == "float32"
    )
    assert keras.dtype_policies.deserialize(keras.dtype_policies.serialize(made)) == made
    with pytest.raises(ValueError, match="Cannot convert 'mixed_int8'"):
        keras.DTypePolicy("mixed_int8")


def test_steps_of_scaled_losses():
    """Without a step where a gradient is not finite; the factor falls then, and grows after enough steps."""
    v = keras.Variable(np.ones(2, "float32"))
    made = keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(0.5), initial_scale=8.0, dynamic_growth_steps=2)
    made.build([v])
    made.apply([tt.array([np.inf, 1.0], dtype="float32")], [v])
    assert v.tolist() == [1, 1] and made.dynamic_scale.item() == 4 and made.iterations.item() == 0
    for _ in range(2):
        v.grad = None
        made.scale_loss((v * 2).sum()).backward()
        made.step()
    assert v.tolist() == [-1, -1] and made.dynamic_scale.item() == 8 and made.iterations.item() == 2
    made.learning_rate = 0.25
    assert made.inner_optimizer.learning_rate.item() == made.learning_rate.item() == 0.25
    again = keras.optimizers.deserialize(keras.optimizers.serialize(made))
    assert again.initial_scale == 8 and type(again.inner_optimizer) is keras.optimizers.SGD
