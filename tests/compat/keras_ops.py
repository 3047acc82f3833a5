"""Calls of keras.ops, and a few numbers of what Keras gives for them.

python tests/compat/keras_ops.py     with Keras installed: prints WANT anew
"""

import json

import numpy as np

R = np.random.default_rng(0)


def floats(*shape):
    return R.standard_normal(shape).astype("float32")


X, IDS = floats(6, 3), np.array([0, 0, 2, 1, 2, 0])
Q, K, V = floats(2, 3, 2, 4), floats(2, 5, 2, 4), floats(2, 5, 2, 4)
SQUARE = floats(3, 3) + 3 * np.eye(3, dtype="float32")
PAIR = floats(3, 4), floats(3, 4)
CASES = [
    *[(f"segment_{n}", (x, IDS), {"num_segments": m}) for n in ("sum", "prod", "max", "min")
      for x, m in ((X, 4), ((X * 9).astype("int32"), 3))],
    ("scatter_update", (X, np.array([[0, 1], [2, 2]]), np.array([7, 8], "float32")), {}),
    ("saturate_cast", (X * 200, "uint8"), {}),
    ("layer_normalization", (floats(2, 4, 3),), {"gamma": floats(3), "beta": floats(3)}),
    ("layer_normalization", (floats(2, 4, 3),), {"axis": [1, 2]}),
    ("rms_normalization", (floats(2, 4),), {"scale": floats(4)}),
    ("batch_normalization", (floats(2, 4, 3), floats(3), abs(floats(3)), -1),
     {"offset": floats(3), "scale": floats(3)}),
    ("dot_product_attention", (Q, K, V), {}), ("dot_product_attention", (K, K, V), {"is_causal": True, "scale": 0.3}),
    ("dot_product_attention", (Q, K, V), {"bias": floats(2, 2, 3, 5), "mask": R.random((2, 2, 3, 5)) < 0.8}),
    ("ctc_loss", (np.array([[1, 2, 1], [2, 1, 0]]), floats(2, 6, 4), np.array([3, 2]), np.array([6, 5])), {}),
    ("solve_triangular", (SQUARE, floats(3, 2)), {"lower": True}), ("solve_triangular", (SQUARE, floats(3)), {}),
    ("psnr", (X, X[::-1].copy(), 2.0), {}), ("fft", (PAIR,), {}), ("fft2", (PAIR,), {}), ("ifft2", (PAIR,), {}),
    ("rfft", (floats(7),), {}), ("rfft", (floats(7),), {"fft_length": 4}), ("irfft", ((floats(4), floats(4)),), {}),
    ("column_stack", ([floats(3), floats(3, 2)],), {}), ("matrix_power", (floats(2, 2), 3), {}),
]  # fmt: skip


def numbers(array):
    """The shape, the type, the sum and one that depends on the places."""
    values = np.asarray(array).astype("float64")
    values = np.where(abs(values) < 1e9, values, 0)  # of segments without elements
    places = np.cos(np.arange(values.size)).reshape(values.shape)
    return [
        list(values.shape),
        str(array.dtype),
        round(float(values.sum()), 4),
        round(float((values * places).sum()), 4),
    ]


def run(keras, name, args, how):
    """Numbers of what a call gives."""

    def own(x):
        if isinstance(x, np.ndarray):
            return keras.ops.convert_to_tensor(x)
        return type(x)(map(own, x)) if isinstance(x, tuple) or isinstance(x, list) and name == "column_stack" else x

    made = getattr(keras.ops, name)(*map(own, args), **{k: own(v) for k, v in how.items()})
    return [numbers(a) for a in (made if isinstance(made, (tuple, list)) else [made])]


# As Keras 3.16 with JAX gave them.
WANT = [
    [[[4, 3], "float32", -5.1177, 0.0824]],
    [[[3, 3], "int32", -43.0, 0.9078]],
    [[[4, 3], "float32", -1.3311, -3.2688]],
    [[[3, 3], "int32", -224.0, -208.874]],
    [[[4, 3], "float32", 0.334, 3.5282]],
    [[[3, 3], "int32", 2.0, 30.0032]],
    [[[4, 3], "float32", -7.2299, -1.4389]],
    [[[3, 3], "int32", -60.0, -11.5276]],
    [[[6, 3], "float32", 10.7181, 5.302]],
    [[[6, 3], "uint8", 697.0, 359.7234]],
    [[[2, 4, 3], "float32", -11.3508, 3.009]],
    [[[2, 4, 3], "float32", 0.0, 0.1396]],
    [[[2, 4], "float32", 1.3521, 1.8868]],
    [[[2, 4, 3], "float32", 20.3525, -0.2876]],
    [[[2, 3, 2, 4], "float32", -3.5445, -3.3972]],
    [[[2, 5, 2, 4], "float32", -14.7999, -11.3086]],
    [[[2, 3, 2, 4], "float32", -7.4137, -0.5639]],
    [[[2], "float32", 9.5843, 7.9423]],
    [[[3, 2], "float32", 1.3116, -0.6502]],
    [[[3], "float32", 1.7974, 0.0842]],
    [[[], "float32", 2.5455, 2.5455]],
    [[[3, 4], "float32", -11.2517, -12.0253], [[3, 4], "float32", 13.4653, -6.0336]],
    [[[3, 4], "float32", -14.1802, -3.4919], [[3, 4], "float32", 30.6291, -4.3606]],
    [[[3, 4], "float32", -1.1817, 1.0006], [[3, 4], "float32", 2.5524, 0.1156]],
    [[[4], "float32", 0.974, -3.4759], [[4], "float32", -1.0834, 0.4406]],
    [[[3], "float32", 1.1269, 3.2863], [[3], "float32", -0.4765, -0.2574]],
    [[[6], "float32", 0.8622, 0.055]],
    [[[3, 3], "float32", -1.3774, 4.0909]],
    [[[2, 2], "float32", 9.6772, -0.1666]],
]  # fmt: skip

if __name__ == "__main__":
    import keras

    for case in CASES:
        print(json.dumps(run(keras, *case)) + ",")
