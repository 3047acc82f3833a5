"""The small problem that the tests of fit have, and what Keras 3.15 gives for it: `python keras_numbers.py` prints it
anew where Keras is installed."""

import json
import os

import numpy as np

os.environ.setdefault("KERAS_BACKEND", "jax")

PROBLEM = np.random.default_rng(0)
X = PROBLEM.normal(size=(100, 6)).astype("float32")
Y = PROBLEM.integers(0, 3, 100)
WEIGHT = PROBLEM.random(100).astype("float32")
FIRST = (PROBLEM.normal(size=(6, 8)) * 0.3).astype("float32")
SECOND = (PROBLEM.normal(size=(8, 3)) * 0.3).astype("float32")
CLASS_WEIGHT = {0: 1.0, 1: 2.0}
KINDS = {"plain": {}, "classes": {"class_weight": CLASS_WEIGHT}, "samples": {"sample_weight": WEIGHT}}
OPTIMIZERS = ("sgd", "adam", "adamw", "adagrad", "adadelta", "adamax", "nadam", "rmsprop")


def fitted(model, optimizer, kind, **more):
    """The history of a model that is trained with the problem."""
    model.compile(
        optimizer, "sparse_categorical_crossentropy", metrics=["accuracy"], weighted_metrics=["accuracy"], **more
    )
    settings = {"epochs": 3, "batch_size": 16, "shuffle": False, "validation_split": 0.2, "verbose": 0}
    return model.fit(X, Y, **settings, **KINDS[kind]).history


def keras_model():
    import keras

    dense = keras.layers.Dense
    model = keras.Sequential([keras.Input((6,)), dense(8, activation="relu"), dense(3, activation="softmax")])
    model.set_weights([FIRST, np.zeros(8), SECOND, np.zeros(3)])
    return model


# The losses by epoch, and those of the validation.
LOSSES = {
    ("sgd", "plain"): ([1.078848, 1.077014, 1.075237], [1.174562, 1.172887, 1.171298]),
    ("sgd", "classes"): ([1.4044, 1.391854, 1.380595], [1.16616, 1.15698, 1.14868]),
    ("sgd", "samples"): ([0.5636, 0.56297, 0.562356], [0.656993, 0.656165, 0.655362]),
    ("adam", "plain"): ([1.07823, 1.073771, 1.070143], [1.173122, 1.170832, 1.168641]),
    ("adam", "classes"): ([1.404354, 1.393554, 1.383964], [1.1694, 1.162694, 1.156251]),
    ("adam", "samples"): ([0.563507, 0.561137, 0.559342], [0.657198, 0.65572, 0.654171]),
    ("adamw", "plain"): ([1.07823, 1.07377, 1.070143], [1.173118, 1.170825, 1.16863]),
    ("adamw", "classes"): ([1.404354, 1.393553, 1.383963], [1.169396, 1.162686, 1.156241]),
    ("adamw", "samples"): ([0.563507, 0.561137, 0.559342], [0.657197, 0.655717, 0.654166]),
    ("adagrad", "plain"): ([1.078672, 1.07811, 1.07761], [1.175831, 1.175401, 1.175018]),
    ("adagrad", "classes"): ([1.406676, 1.40386, 1.401634], [1.174001, 1.17226, 1.1708]),
    ("adagrad", "samples"): ([0.563468, 0.56327, 0.563085], [0.657602, 0.657376, 0.657166]),
    ("adadelta", "plain"): ([1.078622, 1.078617, 1.078612], [1.176328, 1.176325, 1.176322]),
    ("adadelta", "classes"): ([1.407478, 1.407464, 1.407451], [1.176323, 1.176315, 1.176307]),
    ("adadelta", "samples"): ([0.563416, 0.563413, 0.56341], [0.657844, 0.657842, 0.657839]),
    ("adamax", "plain"): ([1.078249, 1.075156, 1.072942], [1.17358, 1.172282, 1.171029]),
    ("adamax", "classes"): ([1.404963, 1.397918, 1.392162], [1.171086, 1.167004, 1.163044]),
    ("adamax", "samples"): ([0.563466, 0.561872, 0.560839], [0.657433, 0.656732, 0.655966]),
    ("nadam", "plain"): ([1.078337, 1.075322, 1.072442], [1.173929, 1.172221, 1.170372]),
    ("nadam", "classes"): ([1.405144, 1.397309, 1.389557], [1.171189, 1.166177, 1.160755]),
    ("nadam", "samples"): ([0.563491, 0.561886, 0.56045], [0.656932, 0.655798, 0.654516]),
    ("rmsprop", "plain"): ([1.077905, 1.071115, 1.066875], [1.1703, 1.167658, 1.165479]),
    ("rmsprop", "classes"): ([1.40117, 1.384501, 1.373672], [1.163455, 1.155608, 1.149143]),
    ("rmsprop", "samples"): ([0.563679, 0.560037, 0.557961], [0.655552, 0.653815, 0.652321]),
}

if __name__ == "__main__":
    for optimizer in OPTIMIZERS:
        for kind in KINDS:
            history = fitted(keras_model(), optimizer, kind)
            print(json.dumps((optimizer, kind)), json.dumps([history["loss"], history["val_loss"]]))
