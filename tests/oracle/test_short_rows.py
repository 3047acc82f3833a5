"""Reductions of short rows, interpreted and compiled: NumPy's values, the same bits, whatever the last group has."""

import functools

import numpy as np
import pytest
import tiers
import tutti as tt

LENGTHS = (1, 2, 3, 7, 8, 15, 16, 31, 33, 50, 63, 64, 65, 100, 127, 130)
NAMES = ("sum", "prod", "max", "min", "any", "all", "argmax", "argmin")


def elements(dtype, shape):
    """Numbers with all that a lane which takes no part might be taken for: zeros of both signs, NaN, infinities."""
    rng = np.random.default_rng(shape[-1])
    x = rng.integers(-3, 3, shape) if np.dtype(dtype).kind == "i" else rng.integers(0, 4, shape)
    x = x.astype(dtype)
    if np.dtype(dtype).kind == "f":
        odd = np.array([0.0, -0.0, np.nan, np.inf, -np.inf, 1.5], dtype)
        few = rng.random(shape) < 0.05
        x[few] = rng.choice(odd, few.sum())
    return x


in_both_tiers = functools.partial(tiers.same_in_both_tiers, signs_of_nan=False)


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int32", "int64", "float16", "float32", "float64"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_rows(recorded, dtype):
    for n in LENGTHS:
        x = elements(dtype, (5, n))
        for name in NAMES:
            got = in_both_tiers(lambda a, name=name: getattr(tt, name)(a, axis=1), x)
            want = getattr(np, name)(x, axis=1)
            close = 1e-2 if dtype == "float16" else 1e-5 if name in ("sum", "prod") and x.dtype.kind == "f" else 0
            np.testing.assert_allclose(got, want, rtol=close, err_msg=f"{name} {n}")


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32"])
def test_many_rows_of_whole_numbers(recorded, dtype, turn):
    """So many that each has a lane: in one piece or with gaps, at the end of their memory, folded with a neighbour."""
    for n in (7, 31, 11, 17, 12, 13, 16, 15)[turn % 2 :: 2]:
        x = elements(dtype, (131, n + 1))
        for cut in (lambda v: v[:, 1:], lambda v: v[::2, :-1], lambda v: v[:, ::-1], lambda v: v[1:] | v[:-1]):
            for name in ("max", "min", "any", "all"):
                got = in_both_tiers(lambda v, cut=cut, name=name: getattr(tt, name)(cut(v), axis=1), x)
                np.testing.assert_array_equal(got, getattr(np, name)(cut(x), axis=1))


def test_bodies(recorded):
    """Bodies that make infinities or NaN of what lies beyond a line's end, over lines of several rows."""
    for n in LENGTHS:
        x = np.random.default_rng(n).random((4, 3, n)).astype(np.float32) + 0.5
        got = in_both_tiers(lambda a: tt.sum(1 / a + a / (a * a), axis=(0, 2)), x)
        np.testing.assert_allclose(got, (2 / x).sum(axis=(0, 2)), rtol=1e-5)


@pytest.mark.parametrize("width", [2, 3, 4, 5, 8])
@pytest.mark.parametrize("kind", ["f4", "f8", "u1", "c8"])
def test_picked_rows(kind, width, recorded):
    rng = np.random.default_rng(width)
    table, places = (rng.random((500, width)) * 100).astype(kind), rng.integers(-500, 500, 3001)
    for _ in range(2):
        np.testing.assert_array_equal(tt.array(table)[tt.array(places)].numpy(), table[places])
    np.testing.assert_array_equal((tt.array(table)[tt.array(places)] + 1).numpy(), table[places] + 1)


def test_places_beyond_are_named():
    x, places = np.arange(12.0).reshape(3, 4), np.array([[0, 3], [-5, 9], [1, 1]])
    for m, a, i in ((np, x, places), (tt, tt.array(x), tt.array(places))):
        with pytest.raises(IndexError):
            m.take_along_axis(a, i, axis=1)
        with pytest.raises(IndexError, match="-13 is out of bounds for axis 0 with size 12"):
            m.put(a, [1, -13, 99], 0)
    np.testing.assert_array_equal(tt.take(tt.array(x), tt.array([-1, 0]), axis=1).numpy(), x[:, [-1, 0]])


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64", "float16", "float32", "float64"])
def test_places_in_rows_of_the_identity_of_nan_and_of_ties(recorded, dtype):
    """The first of what is largest or least; rows of one number, even the least there is, have their place, too."""
    for width in (33, 50, 64, 65, 100, 190):
        rng = np.random.default_rng(width)
        x = rng.integers(0, 3, (200, width)).astype(dtype)
        if x.dtype.kind == "f":
            x[0], x[1], x[2, 7], x[3, [5, 9]], x[4] = np.inf, -np.inf, np.nan, np.nan, np.nan
            x[5, :], x[5, 3] = 0.0, -0.0
            x[6:100] -= 3
        else:
            x[0], x[1] = np.iinfo(dtype).max, np.iinfo(dtype).min
            x[2:100] -= np.asarray(3).astype(dtype)
        for name in ("argmax", "argmin"):
            got = tiers.same_in_both_tiers(lambda v, name=name: getattr(tt, name)(v, axis=1), x)
            np.testing.assert_array_equal(got, getattr(np, name)(x, axis=1), err_msg=f"{name} {width}")
