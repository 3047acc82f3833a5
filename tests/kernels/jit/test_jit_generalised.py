"""guvectorize inside compiled functions, what it writes into its arguments, and settings of parallel loops."""

import numpy as np
import pytest
import tutti as tt
from tutti.compat import numba


@tt.guvectorize("(n),()->(n)")
def scaled(x, by, out):
    for i in range(x.shape[0]):
        out[i] = x[i] * by


@tt.guvectorize("(n),(n)->()")
def product(x, y, out):
    out[0] = 0
    for i in range(x.shape[0]):
        out[0] += x[i] * y[i]


def test_calls_in_compiled_functions():
    @tt.njit
    def f(x, by, out, sums):
        scaled(x, by, out)
        product(x, out, sums)

    x = np.arange(24.0).reshape(2, 3, 4)
    out, sums = np.zeros_like(x), np.zeros((2, 3))
    f(x, 2.0, out, sums)
    assert np.array_equal(out, 2 * x) and np.array_equal(sums, (x * 2 * x).sum(2))
    one = np.zeros(1)
    tt.njit(lambda a, out: product(a, a, out[0:1].reshape(1)[0:1]))  # its result has no axis to lose
    f(x[0, :1], 3.0, out[0, :1], sums[0, :1])
    assert np.array_equal(out[0, :1], 3 * x[0, :1]) and one[0] == 0


def test_shapes_that_do_not_fit():
    f = tt.njit(lambda x, out: scaled(x, 2.0, out))
    with pytest.raises(ValueError, match="Loop and array shapes are incompatible"):
        f(np.ones((1, 5)), np.empty(5))
    with pytest.raises(ValueError, match="Loop and array shapes are incompatible"):
        f(np.ones((3, 5)), np.empty((2, 5)))
    with pytest.raises(ValueError, match="core axis has two lengths"):
        f(np.ones(5), np.empty(4))
    with pytest.raises(NotImplementedError, match="without all 3 arrays"):
        tt.njit(lambda x: scaled(x, 2.0))(np.ones(3))


def test_arguments_that_are_written():
    def fill(given, out):
        given[0] = 6.5
        out[0] = 4.2

    signatures = ["void(float64[:], float64[:])"]
    plain = tt.guvectorize(signatures, "()->()")(fill)
    given = np.zeros((3, 3))
    assert (plain(given) == 4.2).all() and (given == 6.5).all()
    narrow = np.zeros((3, 3), np.float32)
    assert (plain(narrow) == 4.2).all() and (narrow == 0).all()  # the function wrote into a copy
    back = tt.guvectorize(signatures, "()->()", writable_args=("given",))(fill)
    assert (back(narrow) == 4.2).all() and (narrow == 6.5).all()


def test_sizes_of_chunks():
    @tt.njit(parallel=True)
    def f(n):
        before, total = numba.get_parallel_chunksize(), 0
        with numba.parallel_chunksize(8):
            inside = numba.get_parallel_chunksize()
            for i in tt.prange(n):
                total += i
        return before, inside, numba.get_parallel_chunksize(), total

    with numba.parallel_chunksize(4):
        assert f(12) == (4, 8, 4, 66)
    assert numba.set_parallel_chunksize(0) == 0
    with pytest.raises(ValueError, match="greater than or equal to zero"):
        numba.set_parallel_chunksize(-1)


def test_functions_for_others_to_call():
    @numba.extending.register_jitable
    def twice(x):
        return 2 * x

    assert tt.njit(lambda x: twice(x) + 1)(4) == 9 and twice(2) == 4
    with pytest.raises(AttributeError, match="extending.intrinsic"):
        _ = numba.extending.intrinsic
