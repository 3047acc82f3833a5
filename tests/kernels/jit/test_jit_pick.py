"""Masks, arrays of places and axes in compiled functions, against NumPy."""

import linecache

import numpy as np
import pytest
import tutti as tt

A = np.arange(12.0).reshape(3, 4) % 5 - 1
V = np.array([3.0, -1.0, 2.0, 7.0, 0.5])
K = np.array([2, 0, -1, 2])


def by_mask(a):
    return a[a > 1]


def by_row(a, m):
    return a[m]


def by_place(a, k):
    return a[k]


def by_place_of_places(a, k):
    return a[k.reshape(2, 2)]


def set_mask(a):
    a[a > 1] = -5
    return a


def set_rows(a, m):
    a[m] = a[m] * 2 + 1
    return a


def add_mask(a):
    a[a < 1] += 0.5
    return a


def set_places(a, k):
    a[k] = 9
    return a


def add_places(a, k):
    a[k] += 1  # once, however often a place is named
    return a


def set_from_itself(a, k):
    a[k] = a[:4]
    return a


def none_picked(a):
    return a[a > 1000].sum(), len(a[a > 1000])


def chosen_by_sort_of(a, k):
    b = a[k]
    b[b > 0] = 0
    return b, a


CALLS = [
    (by_mask, (V,)), (by_mask, (A,)), (by_mask, (A.T,)),
    (by_row, (A, np.array([True, False, True]))), (by_place, (V, K)),
    (by_place, (A, K)), (by_place, (A, K.astype("u1") % 3)), (by_place_of_places, (V, K)), (by_place_of_places, (A, K)),
    (set_mask, (V,)), (set_mask, (A.T,)), (set_rows, (A, np.array([True, False, True]))), (add_mask, (A,)),
    (set_places, (V, K)), (set_places, (A, K)), (add_places, (V, K)), (add_places, (A, K)), (set_from_itself, (V, K)),
    (none_picked, (V,)),
    (chosen_by_sort_of, (V, K)), (by_mask, (np.arange(5),)), (by_place, (np.arange(5, dtype="u2"), K)),
]  # fmt: skip


def copied(args):
    return [a.copy(order="K") for a in args]


@pytest.mark.parametrize("f,args", CALLS)
def test_picks_are_numpys(f, args):
    got, want = tt.njit(f)(*copied(args)), f(*copied(args))
    for g, w in zip(got if isinstance(got, tuple) else (got,), want if isinstance(want, tuple) else (want,)):
        np.testing.assert_array_equal(g, w)
        assert np.asarray(g).dtype == np.asarray(w).dtype and np.shape(g) == np.shape(w)


def test_picks_that_do_not_fit():
    f, g, h = tt.njit(by_row), tt.njit(by_place), tt.njit(set_from_itself)
    with pytest.raises(IndexError, match="boolean index did not match"):
        f(A, np.array([True, False]))
    for bad in (3, -4):
        with pytest.raises(IndexError, match="out of bounds"):
            g(A, np.array([0, bad]))
    with pytest.raises(ValueError):
        h(V, K[:3])
    with pytest.raises(NotImplementedError, match="an index that is array"):
        tt.njit(lambda a, k: a[0, k])(A, K)

    @tt.cuda.jit
    def kernel(a, k):
        a[k] = 1

    with pytest.raises(NotImplementedError, match=r"in a kernel(?s:.*)line \d+"):
        kernel[1, 1](V.copy(), K)


FOLDS = ["sum", "prod", "min", "max", "argmin", "argmax", "any", "all", "mean", "std", "var"]


@pytest.mark.parametrize("name", FOLDS)
@pytest.mark.parametrize("axis", [0, 1, -1, 2, None])
def test_reductions_along_an_axis(name, axis):
    text = f"lambda a: (a.{name}(axis={axis}), np.{name}(a, {axis}), np.{name}(a, axis={axis}))"
    space = {"np": np}

    file = f"<{text}>"
    linecache.cache[file] = (len(text), None, [text], file)
    f = eval(compile(text, file, "eval"), space)
    for a in (np.arange(24.0).reshape(2, 3, 4) % 7 - 2, np.arange(24).reshape(4, 3, 2).T % 5, np.ones((2, 3, 4), "f4")):
        for got, want in zip(tt.njit(f)(a), f(a)):
            np.testing.assert_allclose(got, want, rtol=1e-6)
            assert np.shape(got) == np.shape(want)
            if axis is not None and name not in ("mean", "std", "var"):
                assert np.asarray(got).dtype == np.asarray(want).dtype


def test_axes_that_are_not_there():
    with pytest.raises(ValueError, match="axis 2 is out of bounds"):
        tt.njit(lambda a: a.sum(axis=2))(A)
    by_number = tt.njit(lambda a, k: a.sum(axis=k))
    assert by_number(A, 1).tolist() == A.sum(axis=1).tolist() and by_number(A, -2).tolist() == A.sum(axis=0).tolist()
    with pytest.raises(ValueError, match="the axis is out of bounds"):
        by_number(A, 2)
    with pytest.raises(ValueError, match="zero-size"):
        tt.njit(lambda a: a.max(axis=0))(np.ones((0, 3)))


def test_the_first_nan_is_the_least_and_the_most():
    a = np.array([1.0, np.nan, 5.0, np.nan, -3.0])
    assert tt.njit(lambda a: (a.argmax(), a.argmin()))(a) == (1, 1)
    assert tt.njit(lambda a: (a.argmax(), a.argmin()))(a[2:3]) == (0, 0)


def test_running_sums_and_products():
    f = tt.njit(lambda a: (np.cumsum(a), a.cumprod()))
    for a in (V, A, A.T, np.arange(5), np.arange(5, dtype="u1"), np.array([True, True]), np.ones(3, "f4"), V[:0]):
        for got, want in zip(f(a), (np.cumsum(a), np.cumprod(a))):
            np.testing.assert_array_equal(got, want)
            assert got.dtype == want.dtype
