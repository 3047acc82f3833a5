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


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", ["subtract", "negative", "sign", "absolute", "right_shift", "remainder", "minimum"])
@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "float32", "complex128"])
def test_dtype_decides_whatever_the_operands_are(name, dtype):
    for x in (np.array([True, False]), np.array([3, 2], "uint64"), np.array([-3, 2], "int8")):
        args = [x, x][: getattr(np, name).nin]
        try:
            want = getattr(np, name)(*args, dtype=dtype)
        except TypeError:
            with pytest.raises(TypeError):
                getattr(tt, name)(*(tt.array(a) for a in args), dtype=dtype)
            continue
        got = getattr(tt, name)(*(tt.array(a) for a in args), dtype=dtype)
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got.numpy(), want)


def test_sign_of_complex_infinities():
    parts = [np.inf, -np.inf, np.nan, -0.0, 0.0, 1e308, -2.0]
    z = np.array([complex(a, b) for a in parts for b in parts])
    with np.errstate(all="ignore"):
        want = np.sign(z)
    got = tt.sign(tt.array(z)).numpy()
    np.testing.assert_allclose(got, want, rtol=1e-15)


@pytest.mark.parametrize("name", ["less", "less_equal", "greater", "greater_equal", "maximum", "minimum"])
def test_complex_numbers_with_a_nan_are_in_no_order(name):
    parts = [np.nan, 0.0, -1.0, np.inf]
    z = np.array([complex(a, b) for a in parts for b in parts])
    with np.errstate(all="ignore"):
        want = getattr(np, name)(z[:, None], z)
    got = getattr(tt, name)(tt.array(z)[:, None], tt.array(z)).numpy()
    if want.dtype == bool:
        np.testing.assert_array_equal(got, want)
    else:
        np.testing.assert_array_equal(np.isnan(got), np.isnan(want))
        np.testing.assert_array_equal(got[~np.isnan(got)], want[~np.isnan(want)])
