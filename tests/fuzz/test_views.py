"""Random steps on views against NumPy, with fixed seeds. views.py runs as many others as one likes."""

import numpy as np
import pytest
import tutti as tt
import views


@pytest.mark.parametrize("first", range(0, 300, 20))
def test_steps(first):
    for seed in range(first, first + 20):
        views.run(seed)


@pytest.mark.parametrize("initial", [-2, 2.5, 0])
@pytest.mark.parametrize("dtype", ["bool", "int32", "uint64", "float32"])
@pytest.mark.parametrize("name", ["sum", "prod", "min", "max"])
def test_initial_is_of_the_results_type(name, dtype, initial):
    x = np.array([[1, 0, 3], [4, 5, 0]]).astype(dtype)
    mask = np.array([True, False, True])
    for words in ({}, {"axis": 1}, {"axis": 0, "where": mask}):
        try:
            want = getattr(np, name)(x, initial=initial, **words)
        except OverflowError:
            with pytest.raises(OverflowError):
                getattr(tt, name)(tt.array(x), initial=initial, **words)
            continue
        got = getattr(tt, name)(tt.array(x), initial=initial, **words)
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got.numpy(), want)
