"""Layers of Keras with small inputs, and a few numbers of what they give.

python tests/compat/keras_samples.py     with Keras installed: writes keras_layers.json beside this file
"""

import json
import pathlib

import numpy as np

FILE = pathlib.Path(__file__).with_name("keras_layers.json")
RNG = np.random.default_rng(1)
SEQ, IMG, VOL, ROW = (
    RNG.normal(size=shape).astype("float32") for shape in ((3, 7, 4), (2, 9, 8, 3), (2, 5, 6, 5, 2), (5, 6))
)
IDS = RNG.integers(1, 9, size=(3, 7)).astype("int32")
IDS[0, 4:] = IDS[1, :2] = IDS[2, 3] = 0
ACTIVATIONS = """
relu sigmoid tanh softmax softplus softsign elu selu gelu silu swish mish hard_sigmoid hard_silu leaky_relu
relu6 exponential linear log_softmax celu hard_tanh log_sigmoid tanh_shrink soft_shrink hard_shrink squareplus
sparse_plus sparse_sigmoid
""".split()
CASES = {}


def add(name, make, *inputs, **how):
    assert name not in CASES
    CASES[name] = make, inputs, how


def of(kind, *args, **kwargs):
    return lambda keras: getattr(keras.layers, kind)(*args, **kwargs)


def add_all(kind, inputs, *arguments, **common):
    for own in arguments:
        told = ", ".join(f"{key}={value}" for key, value in own.items())
        add(f"{kind}({told})", of(kind, **{**common, **own}), inputs)


def embedded(make):
    return lambda keras: keras.Sequential([keras.layers.Embedding(9, 4, mask_zero=True), make(keras)])


PADDED = [dict(padding=p) for p in ("valid", "same")]
STRIDED = [dict(padding=p, strides=s) for p in ("valid", "same") for s in (1, 2, 3)]
TRANSPOSED = [
    dict(padding=p, strides=s, kernel_size=k)
    for p in ("valid", "same")
    for s, k in ((1, 3), (2, 3), (3, 2), (2, 2), (2, 4), (2, 5))
]
for name in ACTIVATIONS:
    add(f"Activation({name})", of("Activation", name), ROW)
add_all("Dense", SEQ, dict(activation="relu"), dict(use_bias=False), units=4)
add_all("Conv1D", SEQ, *STRIDED, dict(padding="causal", dilation_rate=2), filters=5, kernel_size=3)
add_all("Conv2D", IMG, *STRIDED, dict(dilation_rate=2), dict(groups=3), filters=6, kernel_size=(3, 2))
add_all("Conv2D", IMG, dict(data_format="channels_first", padding="same"), filters=6, kernel_size=3)
add_all("Conv3D", VOL, *STRIDED[:2], *STRIDED[3:5], filters=4, kernel_size=3)
add_all("Conv1DTranspose", SEQ, *TRANSPOSED, filters=5)
add_all("Conv2DTranspose", IMG, *TRANSPOSED, filters=5)
add_all("Conv2DTranspose", IMG, *(dict(p, output_padding=1, strides=2) for p in PADDED), filters=5, kernel_size=3)
add_all("Conv2DTranspose", IMG, *(dict(p, dilation_rate=2) for p in PADDED), filters=5, kernel_size=3)
add_all("Conv3DTranspose", VOL, *PADDED, filters=3, kernel_size=3, strides=2)
add_all("DepthwiseConv1D", SEQ, *PADDED, kernel_size=3)
add_all("DepthwiseConv2D", IMG, *STRIDED, kernel_size=3, depth_multiplier=2)
add_all("SeparableConv1D", SEQ, *PADDED, filters=5, kernel_size=3, strides=2)
add_all("SeparableConv2D", IMG, *PADDED, filters=5, kernel_size=3, depth_multiplier=2)
POOLED = [dict(padding=p, strides=s) for p in ("valid", "same") for s in (None, 1, 3)]
for kind in ("MaxPooling", "AveragePooling"):
    for n, x, size in ((1, SEQ, 2), (2, IMG, (3, 2)), (3, VOL, 2)):
        add_all(f"{kind}{n}D", x, *POOLED, pool_size=size)
for kind in ("GlobalMaxPooling", "GlobalAveragePooling"):
    for n, x in ((1, SEQ), (2, IMG), (3, VOL)):
        add_all(f"{kind}{n}D", x, dict(keepdims=False), dict(keepdims=True))
add("Flatten", of("Flatten"), IMG)
add("Reshape", of("Reshape", (-1, 3)), IMG)
add("Permute", of("Permute", (2, 1)), SEQ)
add("RepeatVector", of("RepeatVector", 3), ROW)
for kind in ("ZeroPadding", "Cropping"):
    add(f"{kind}1D", of(f"{kind}1D", (1, 2)), SEQ)
    add(f"{kind}2D", of(f"{kind}2D", ((1, 2), (3, 0))), IMG)
    add(f"{kind}3D", of(f"{kind}3D", 1), VOL)
add("UpSampling1D", of("UpSampling1D", 3), SEQ)
add("UpSampling2D", of("UpSampling2D", (2, 3)), IMG)
add("UpSampling2D(bilinear)", of("UpSampling2D", 2, interpolation="bilinear"), IMG)
add("UpSampling3D", of("UpSampling3D", 2), VOL)
for training in (False, True):
    add(f"BatchNormalization {training}", of("BatchNormalization"), IMG, training=training)
    axis = of("BatchNormalization", axis=1, momentum=0.5, scale=False)
    add(f"BatchNormalization(axis=1) {training}", axis, SEQ, training=training)
add_all("LayerNormalization", IMG, dict(axis=-1), dict(axis=[1, 2], epsilon=1e-5))
add_all("GroupNormalization", IMG, dict(groups=3), dict(groups=-1, axis=1))
add("UnitNormalization", of("UnitNormalization"), SEQ)
add("RMSNormalization", of("RMSNormalization"), SEQ)
add("Embedding", of("Embedding", 9, 4), IDS)
for kind in ("SimpleRNN", "LSTM", "GRU"):
    ways = dict(return_sequences=True), dict(return_sequences=True, go_backwards=True)
    add_all(kind, SEQ, {}, *ways, dict(return_state=True), dict(activation="relu"), dict(use_bias=False), units=5)
    for own in ({}, *ways):
        add(f"masked {kind}({', '.join(own)})", embedded(of(kind, 5, **own)), IDS)
        both = lambda keras, kind=kind, own=own: keras.layers.Bidirectional(of(kind, 5, **own)(keras))  # noqa: E731
        if "go_backwards" not in own:
            add(f"masked Bidirectional({kind}, {', '.join(own)})", embedded(both), IDS)
    for mode in ("concat", "sum", "ave", "mul"):
        add(
            f"Bidirectional({kind}, {mode})",
            lambda keras, kind=kind, mode=mode: keras.layers.Bidirectional(
                of(kind, 5, return_sequences=True)(keras), merge_mode=mode
            ),
            SEQ,
        )
    add(
        f"RNN({kind}Cell)",
        lambda keras, kind=kind: keras.layers.RNN([of(f"{kind}Cell", n)(keras) for n in (5, 3)], return_sequences=True),
        SEQ,
    )
add_all("GRU", SEQ, dict(reset_after=False), units=5)
STEPS1, STEPS2, STEPS3 = (RNG.normal(size=(2, 4, *n)).astype("float32") for n in ((6, 3), (5, 6, 2), (3, 4, 3, 2)))
MANY = {"return_sequences": True, "return_state": True}
add("ConvLSTM1D", of("ConvLSTM1D", 4, 3, padding="same", **MANY), STEPS1)
add("ConvLSTM1D(strides=2)", of("ConvLSTM1D", 4, 2, strides=2, activation="relu", use_bias=False), STEPS1)
add("ConvLSTM2D", of("ConvLSTM2D", 3, (3, 2), **MANY), STEPS2)
add("ConvLSTM2D(dilation_rate=2)", of("ConvLSTM2D", 3, 2, dilation_rate=2, go_backwards=True), STEPS2)
add("ConvLSTM2D(channels_first)", of("ConvLSTM2D", 3, 2, data_format="channels_first", return_state=True), STEPS2)
add("ConvLSTM3D", of("ConvLSTM3D", 3, 2, padding="same"), STEPS3)
add("TimeDistributed", lambda keras: keras.layers.TimeDistributed(keras.layers.Dense(3)), SEQ)
add("masked GlobalAveragePooling1D", embedded(of("GlobalAveragePooling1D")), IDS)
add("MultiHeadAttention", of("MultiHeadAttention", 2, 3), SEQ, SEQ)
wide = of("MultiHeadAttention", 2, 3, output_shape=6)
add("MultiHeadAttention causal", wide, SEQ, SEQ, use_causal_mask=True)
add("MultiHeadAttention scores", of("MultiHeadAttention", 2, 3), SEQ, SEQ, return_attention_scores=True)
add("Attention", of("Attention", use_scale=True), [SEQ, SEQ[:, :5]])
add("Attention causal", of("Attention"), [SEQ, SEQ], use_causal_mask=True)
add("Attention concat", of("Attention", score_mode="concat"), [SEQ, SEQ[:, :4]])
add("AdditiveAttention", of("AdditiveAttention"), [SEQ, SEQ[:, :5]])
for kind in "Add Subtract Multiply Average Maximum Minimum Concatenate".split():
    add(kind, of(kind), [SEQ, SEQ[::-1].copy()])
add("Concatenate(axis=1)", of("Concatenate", axis=1), [SEQ, SEQ[:, :3]])
add("Dot(axes=1)", of("Dot", axes=1), [SEQ, SEQ[::-1].copy()])
add("Dot(axes=(2, 2))", of("Dot", axes=(2, 2), normalize=True), [SEQ, SEQ[:, :3].copy()])
add("Dot of rows", of("Dot", axes=1), [ROW, ROW * 2])
add("ReLU", of("ReLU", max_value=1.0, negative_slope=0.1, threshold=0.2), ROW)
add("LeakyReLU", of("LeakyReLU"), ROW)
add("ELU", of("ELU", 0.5), ROW)
add("PReLU", of("PReLU"), ROW)
add("Softmax", of("Softmax", axis=1), SEQ)
add("Rescaling", of("Rescaling", 2.0, offset=-1.0), IMG)
add("Normalization", of("Normalization", mean=[1.0, 2, 3], variance=[4.0, 1, 9]), IMG)
add("Masking", of("Masking", 0.0), SEQ)
add("EinsumDense", of("EinsumDense", "abc,cd->abd", (None, 5), bias_axes="d"), SEQ)


def drawn(weights):
    """Weights that every library can be given; those of variances are positive."""
    rng = np.random.default_rng(5)
    made = [rng.normal(size=w.shape).astype("float32") * 0.3 for w in weights]
    return [abs(value) if "variance" in w.name else value for w, value in zip(weights, made, strict=True)]


def numbers(array):
    """The shape, the sum and one that depends on the places."""
    array = np.asarray(array).astype("float64")
    places = np.cos(np.arange(array.size)).reshape(array.shape)
    return [list(array.shape), round(float(array.sum()), 5), round(float((array * places).sum()), 5)]


def run(keras, name):
    """Numbers of what a layer gives, and of its weights afterwards, with their names."""
    make, inputs, how = CASES[name]
    layer = make(keras)
    layer(*inputs, **how)
    layer.set_weights(drawn(layer.weights))
    made = layer(*inputs, **how)
    made = list(made) if isinstance(made, (list, tuple)) else [made]
    return {
        "outputs": [numbers(a) for a in made],
        "weights": [[w.name, numbers(value)] for w, value in zip(layer.weights, layer.get_weights(), strict=True)],
    }


if __name__ == "__main__":
    import keras

    lines = [f"{json.dumps(name)}: {json.dumps(run(keras, name))}" for name in CASES]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")
