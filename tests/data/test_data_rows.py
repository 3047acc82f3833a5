"""Lists of arrays as one array: those put together in one pass and those that cannot be, against NumPy."""

import numpy as np
import pytest
import tutti as tt

KINDS = [
    lambda x: x,
    tt.asarray,
    lambda x: x.copy(order="F"),
    lambda x: x[..., ::-1] if x.ndim else x,
    lambda x: tt.asarray(x) * 1,
    lambda x: x.astype("float64") if x.dtype.kind in "iuf" else x,
    lambda x: x.view(x.dtype.newbyteorder()),
]


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "float32", "complex128"])
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3), (1, 0, 2), (64, 65)], ids=str)
@pytest.mark.parametrize("n", [1, 2, 5, 300])
def test_as_numpy(dtype, shape, n, rng):
    if n == 300 and shape == (64, 65):
        n = 40
    plain = [(rng.standard_normal(shape) * 9).astype(dtype) for _ in range(n)]
    for first in KINDS:
        for other in KINDS[:3]:
            rows = [first(plain[0])] + [other(x) for x in plain[1:]]
            theirs = np.array([np.asarray(x) for x in rows])
            for container in (list, tuple):
                ours = tt.array(container(rows))
                assert ours.shape == theirs.shape and str(ours.dtype) == theirs.dtype.newbyteorder("=").name
                assert np.array_equal(np.asarray(ours), theirs, equal_nan=dtype not in ("bool", "int8", "uint64"))
    wanted = tt.array([tt.asarray(x) for x in plain], dtype="complex64")
    assert np.array_equal(np.asarray(wanted), np.array(plain, "complex64"), equal_nan=True)


@pytest.fixture
def rng():
    return np.random.default_rng(5)


def test_rows_are_copied_and_stay_free():
    a, b = tt.arange(4.0), np.arange(4.0)
    both = tt.array([a, a]), tt.array([b, b])
    a[0], b[0] = 7, 8
    assert both[0].tolist() == both[1].tolist() == [[0, 1, 2, 3]] * 2
    both[0][0, 1] = 9
    assert a.tolist() == [7, 1, 2, 3]


def test_rows_that_are_not_alike():
    for rows in ([np.ones(2), np.ones(3)], [tt.ones(2), tt.ones((2, 1))]):
        with pytest.raises(ValueError, match="inhomogeneous shape"):
            tt.array(rows)
    assert tt.array([np.ones(2), [3, 4]]).tolist() == [[1, 1], [3, 4]]
    assert tt.array([tt.ones(2), tt.ones(2, dtype="int8")]).dtype == "float64"


def test_rows_with_gradients_are_followed():
    x = tt.ones(3).requires_grad_()
    tt.asarray([x, x * 2]).sum().backward()
    assert x.grad.tolist() == [3, 3, 3]


def test_large_rows():
    rows = [np.full(200_000, k, "float32") for k in range(5)]
    whole = tt.array(rows)
    assert whole.shape == (5, 200_000) and (whole.numpy() == np.arange(5, dtype="float32")[:, None]).all()
