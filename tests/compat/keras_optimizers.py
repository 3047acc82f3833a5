"""Steps of Keras' optimisers that are written in tutti.compat.keras, and a few numbers of what they give.

python tests/compat/keras_optimizers.py     with Keras installed: prints WANT anew
"""

import json

import numpy as np

SHAPES = (4, 3), (3,), (2, 5), (2, 3, 2)
OWN = {
    "l1_regularization_strength": 0.01, "l2_regularization_strength": 0.1, "l2_shrinkage_regularization_strength": 0.1,
    "beta": 0.3, "learning_rate_power": -0.7, "weight_decay": 0.1,
}  # fmt: skip
CASES = [
    ("Ftrl", {}), ("Ftrl", OWN), ("Lamb", {}), ("Lamb", {"weight_decay": 0.1}), ("Adafactor", {}),
    ("Adafactor", {"relative_step": False, "clip_threshold": 0.5, "weight_decay": 0.01}), ("Muon", {}),
    ("Muon", {"nesterov": False, "rms_rate": None, "ns_steps": 3}),
]  # fmt: skip


def run(keras, name, how):
    """For each variable after four steps the sum, and one that depends on the places."""
    made, r = getattr(keras.optimizers, name)(0.05, **how), np.random.default_rng(0)
    variables = [keras.Variable(r.standard_normal(n).astype("float32"), name=f"v{k}") for k, n in enumerate(SHAPES)]
    made.build(variables)
    for _ in range(4):
        made.apply([r.standard_normal(n).astype("float32") for n in SHAPES], variables)
    values = [np.asarray(keras.ops.convert_to_numpy(v)).ravel() for v in variables]
    return [[round(float(v.sum()), 5), round(float((v * np.cos(np.arange(v.size))).sum()), 5)] for v in values]


# As Keras 3.16 with JAX gave them.
WANT = [
    [[-0.62266, 2.28792], [-2.78757, -1.56405], [1.37239, -0.73781], [-1.57135, -0.78514]],
    [[-0.63795, 1.99724], [-2.52629, -1.4052], [1.18742, -0.43844], [-1.21506, -0.70628]],
    [[-0.63723, 3.74655], [-3.85438, -2.42174], [1.81329, -2.49189], [-2.80965, -0.81426]],
    [[-0.62458, 3.67218], [-3.77787, -2.37366], [1.77729, -2.44243], [-2.75388, -0.79809]],
    [[-0.00663, 3.79655], [-3.73038, -2.16631], [1.58212, -2.43094], [-2.76774, -0.8337]],
    [[0.11128, 3.82829], [-3.72382, -2.05688], [1.63454, -2.2525], [-2.73299, -0.81442]],
    [[0.11487, 3.83819], [-3.84641, -2.18879], [1.70534, -2.19581], [-2.91667, -0.77308]],
    [[-0.23665, 3.74987], [-3.84641, -2.18879], [1.73477, -2.32326], [-2.91667, -0.77308]],
]  # fmt: skip

if __name__ == "__main__":
    import keras

    for case in CASES:
        print(json.dumps(run(keras, *case)) + ",")
