"""vectorize of functions that do not compile: Python calls them for each element, as NumPy's does."""

import math
import os

import numpy as np
import pytest
import tutti as tt

NAMES = {1: 5, 2: 7}


def digit(x):
    return int(str(int(x))[-1])


def named(x):
    return NAMES.get(int(x), 0)


def exact(x, y):
    return math.fsum([x, y, 0.1])


def both(x):
    return sorted([x, 1])[0], str(x) == "1"


@pytest.mark.parametrize("function", [digit, named, exact, both])
def test_what_does_not_compile_is_called(function):
    count = function.__code__.co_argcount
    args = [np.arange(12).reshape(3, 4), np.arange(4) / 8][:count]
    want, got = np.vectorize(function)(*args), tt.vectorize(function)(*map(tt.asarray, args))
    for a, b in zip(want, got) if isinstance(want, tuple) else [(want, got)]:
        assert isinstance(b, tt.ndarray) and a.dtype == b.dtype
        np.testing.assert_array_equal(np.asarray(b), a)


@pytest.mark.skipif(os.environ.get("TUTTI_CC") == "none", reason="without a compiler Python calls every function")
def test_what_is_asked_to_compile_is_refused():
    with pytest.raises(NotImplementedError):
        tt.vectorize(["int64(int64)"])(digit)(tt.arange(3))
    with pytest.raises(NotImplementedError):
        tt.vectorize(digit, target="parallel")(tt.arange(3))
    with pytest.raises(NotImplementedError):
        tt.vectorize(digit)(tt.arange(3), out=tt.zeros(3, dtype="int64"))
