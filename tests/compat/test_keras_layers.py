"""Layers of tutti.compat.keras with Keras' weights: numbers of their outputs, kept as Keras 3 with JAX gave them."""

import json

import numpy as np
import pytest
import tutti.compat.keras as keras
from keras_samples import CASES, FILE, run

KEPT = json.loads(FILE.read_text())


def close(found, kept):
    """Sums of so many elements, each to 1e-5."""
    (shape, *sums), (kept_shape, *kept_sums) = found, kept
    assert shape == kept_shape
    np.testing.assert_allclose(sums, kept_sums, rtol=1e-5, atol=2e-5 * max(1, np.prod(shape) ** 0.5))


def test_all_are_kept():
    assert set(KEPT) == set(CASES)


@pytest.mark.parametrize("name", CASES)
def test_layers_give_what_keras_gives(name):
    found, kept = run(keras, name), KEPT[name]
    assert [n for n, _ in found["weights"]] == [n for n, _ in kept["weights"]]
    assert len(found["outputs"]) == len(kept["outputs"])
    for own, want in zip(found["outputs"], kept["outputs"], strict=True):
        close(own, want)
    for (_, own), (_, want) in zip(found["weights"], kept["weights"], strict=True):
        close(own, want)
