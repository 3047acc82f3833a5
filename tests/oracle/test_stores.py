"""A value stored into elements of every type, at every kind of place: what is written, or NumPy's error."""

import warnings

import numpy as np
import pytest
import tutti as tt

VALUES = {
    "nan": lambda m: np.nan,
    "an element, nan": lambda m: m.array([np.nan])[0],
    "a number less": lambda m: m.array([1])[0] + np.nan,
    "float32 nan": lambda m: m.array([np.nan], "float32")[0],
    "float16 nan": lambda m: m.array([np.nan], "float16")[0],
    "inf": lambda m: np.inf,
    "an element, inf": lambda m: m.array([np.inf])[0],
    "float32 inf": lambda m: m.array([np.inf], "float32")[0],
    "1j": lambda m: 1j,
    "an element, 1j": lambda m: m.array([1j])[0],
    "300": lambda m: 300,
    "an element, 300": lambda m: m.array([300])[0],
    "an element, 300.": lambda m: m.array([300.0])[0],
    "1e30": lambda m: m.array([1e30])[0],
    "float32 1e30": lambda m: m.array([1e30], "float32")[0],
    "uint64": lambda m: m.array([2**64 - 1], "uint64")[0],
    "-1": lambda m: -1,
    "an element, -1": lambda m: m.array([-1])[0],
    "True": lambda m: m.array([True])[0],
    "[1]": lambda m: [1],
    "(nan,)": lambda m: (np.nan,),
    "array [5]": lambda m: m.array([5]),
    "array [[5]]": lambda m: m.array([[5]]),
}
TYPES = ["bool", "int8", "uint8", "int32", "uint32", "int64", "uint64", "float16", "float32"]
PLACES = [(0, 1), (-1, 1), ((), 0), (slice(0, 1), 1), ((0,), 1), ([0], 1), (..., 1)]


def outcome(m, dtype, value, place, rank):
    a = m.array([1, 2, 3] if rank else 1, dtype)
    try:
        a[place] = VALUES[value](m)
        return str(a.tolist())
    except Exception as e:
        return type(e).__name__, str(e)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("value", VALUES)
def test_store(value, dtype):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for place, rank in PLACES:
            want, got = outcome(np, dtype, value, place, rank), outcome(tt, dtype, value, place, rank)
            assert got == want, f"a[{place}] = {value}"


def test_in_place_operator_on_an_element():
    for m in (np, tt):
        a = m.array([1, 2, 3])
        with pytest.raises(ValueError, match="cannot convert float NaN to integer"):
            a[-1] += np.nan
        assert a.tolist() == [1, 2, 3]


def test_flat_is_filled_in_turns():
    for m in (np, tt):
        a = m.zeros((2, 3)).T
        a.flat = [1, 2]
        assert a.tolist() == [[1, 2], [1, 2], [1, 2]]
        a.flat[1:4] = m.array([5, 6])
        assert a.tolist() == [[1, 5], [6, 5], [1, 2]]
        a.flat = []
        a.flat[0] = 9
        assert a.tolist() == [[9, 5], [6, 5], [1, 2]]
