"""Three trainings in the form of Keras' examples, over tutti and over Keras, with the same weights and data.

    KERAS_BACKEND=torch python tests/programs/keras_tutorials.py [NAME...] [--torch PYTHON]

--torch names the other Python, as for torch_tutorials.py: one that has Keras.
"""

import sys

import numpy as np
from side_by_side import main

if "--run" in sys.argv:  # by whom Keras is served
    import keras
    from keras import layers, ops


def filled(model, seed=0):
    rng = np.random.default_rng(seed)
    model.set_weights(
        [
            (rng.standard_normal(w.shape) / np.sqrt(np.prod(w.shape[:-1]))).astype("float32") if w.ndim > 1 else w
            for w in model.get_weights()
        ]
    )
    return model


def told(history, *more):
    return [float(v) for values in history.history.values() for v in values] + [float(v) for v in more]


def wide_and_deep():
    rng = np.random.default_rng(1)
    numbers = rng.standard_normal((512, 6)).astype("float32")
    kinds = rng.integers(0, 9, (512, 2))
    price = (numbers[:, 0] * 2 + np.sin(kinds[:, 0]) + 0.1 * rng.standard_normal(512)).astype("float32")[:, None]
    dear = (price > 0).astype("float32")

    number_input = keras.Input(shape=(6,), name="numbers")
    kind_input = keras.Input(shape=(2,), dtype="int32", name="kinds")
    features = layers.Flatten()(layers.Embedding(9, 4)(kind_input))
    deep = layers.concatenate([layers.BatchNormalization()(number_input), features])
    for units in (32, 16):
        deep = layers.Dense(units, kernel_regularizer=keras.regularizers.L2(1e-4))(deep)
        deep = layers.LeakyReLU()(deep)
    wide = layers.Dense(8, activation="relu")(number_input)
    both = layers.concatenate([wide, deep])
    outputs = {
        "price": layers.Dense(1, name="price")(both),
        "dear": layers.Dense(1, activation="sigmoid", name="dear")(both),
    }
    model = filled(keras.Model([number_input, kind_input], outputs))
    model.compile(
        optimizer=keras.optimizers.Adam(keras.optimizers.schedules.ExponentialDecay(0.01, 20, 0.9)),
        loss={"price": "huber", "dear": "binary_crossentropy"},
        loss_weights={"price": 1.0, "dear": 0.5},
        metrics={"price": ["mae"], "dear": ["accuracy"]},
    )
    history = model.fit(
        {"numbers": numbers, "kinds": kinds},
        {"price": price, "dear": dear},
        epochs=5,
        batch_size=64,
        shuffle=False,
        validation_split=0.25,
        verbose=0,
    )
    guess = model.predict({"numbers": numbers[:8], "kinds": kinds[:8]}, verbose=0)
    return [*told(history), *np.ravel(guess["price"])]


def denoiser():
    rng = np.random.default_rng(2)
    shapes = np.random.default_rng(99).random((10, 16, 16, 1))
    clean = shapes[rng.integers(0, 10, 128)].astype("float32")
    noisy = np.clip(clean + 0.3 * rng.standard_normal(clean.shape), 0, 1).astype("float32")

    inputs = layers.Input(shape=(16, 16, 1))
    x = layers.Conv2D(16, (3, 3), activation="relu", padding="same")(inputs)
    x = layers.MaxPooling2D((2, 2), padding="same")(x)
    x = layers.SeparableConv2D(16, (3, 3), activation="relu", padding="same")(x)
    x = layers.MaxPooling2D((2, 2), padding="same")(x)
    x = layers.Conv2DTranspose(16, (3, 3), strides=2, activation="relu", padding="same")(x)
    x = layers.UpSampling2D((2, 2), interpolation="bilinear")(x)
    x = layers.Conv2D(1, (3, 3), activation="sigmoid", padding="same")(x)
    model = filled(keras.Model(inputs, x))
    model.compile(optimizer="adam", loss="binary_crossentropy")
    stop = keras.callbacks.ReduceLROnPlateau(monitor="val_loss", factor=0.5, patience=1, min_delta=0.01)
    history = model.fit(
        noisy,
        clean,
        epochs=4,
        batch_size=32,
        shuffle=False,
        validation_data=(noisy[:32], clean[:32]),
        callbacks=[stop],
        verbose=0,
    )
    return told(history, model.predict(noisy[:4], verbose=0).mean())


def text_transformer():
    class TransformerBlock(layers.Layer):
        def __init__(self, width, heads, inner, rate=0.0):
            super().__init__()
            self.att = layers.MultiHeadAttention(num_heads=heads, key_dim=width // heads)
            self.ffn = keras.Sequential([layers.Dense(inner, activation="relu"), layers.Dense(width)])
            self.layernorm1 = layers.LayerNormalization(epsilon=1e-6)
            self.layernorm2 = layers.LayerNormalization(epsilon=1e-6)
            self.dropout1, self.dropout2 = layers.Dropout(rate), layers.Dropout(rate)

        def call(self, inputs, training=None):
            attn = self.dropout1(self.att(inputs, inputs), training=training)
            out = self.layernorm1(inputs + attn)
            return self.layernorm2(out + self.dropout2(self.ffn(out), training=training))

    class TokenAndPosition(layers.Layer):
        def __init__(self, steps, letters, width):
            super().__init__()
            self.token_emb = layers.Embedding(input_dim=letters, output_dim=width)
            self.pos_emb = layers.Embedding(input_dim=steps, output_dim=width)

        def call(self, x):
            return self.token_emb(x) + self.pos_emb(ops.arange(0, ops.shape(x)[-1]))

    rng = np.random.default_rng(3)
    letters, steps, width = 40, 24, 16
    label = rng.integers(0, 2, 256)
    text = [rng.integers(1, 25 if k else letters, rng.integers(8, 30)).tolist() for k in label]
    x = keras.utils.pad_sequences(text, maxlen=steps)

    inputs = layers.Input(shape=(steps,))
    h = TokenAndPosition(steps, letters, width)(inputs)
    h = TransformerBlock(width, 2, 32)(h)
    h = layers.GlobalAveragePooling1D()(h)
    h = layers.Dense(20, activation="relu")(h)
    model = filled(keras.Model(inputs=inputs, outputs=layers.Dense(2, activation="softmax")(h)))
    model.compile(optimizer=keras.optimizers.AdamW(3e-3), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    history = model.fit(x, label, batch_size=32, epochs=4, shuffle=False, verbose=0, class_weight={0: 1.0, 1: 1.5})
    loss, accuracy = model.evaluate(x, label, verbose=0)
    return told(history, loss, accuracy)


if __name__ == "__main__":
    sys.exit(main(__file__, (wide_and_deep, denoiser, text_transformer), 2e-4, "keras"))
