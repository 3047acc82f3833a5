"""Functions of tutti.compat.keras.ops against what Keras gives, kept as numbers."""

import keras_ops
import numpy as np
import pytest
import tutti.compat.keras as keras


@pytest.mark.parametrize("k", range(len(keras_ops.CASES)), ids=lambda k: keras_ops.CASES[k][0])
def test_functions(k):
    made, want = keras_ops.run(keras, *keras_ops.CASES[k]), keras_ops.WANT[k]
    assert [row[:2] for row in made] == [row[:2] for row in want]
    np.testing.assert_allclose([row[2:] for row in made], [row[2:] for row in want], rtol=2e-5, atol=3e-4)


def test_functions_in_graphs():
    i = keras.Input((4, 3))
    made = keras.ops.layer_normalization(i)
    assert made.shape == (None, 4, 3) and keras.Model(i, made)(np.ones((2, 4, 3))).shape == (2, 4, 3)
    assert keras.ops.nn.relu is keras.ops.relu and keras.ops.dtype(np.ones(2, "float32")) == "float32"
    assert keras.ops.switch(1, [lambda x: x, lambda x: -x], 3) == -3
