"""Calls of the public namespace: random_calls.py makes any number of them."""

import numpy as np
import pytest
import random_calls


@pytest.mark.parametrize("first", range(0, 4000, 500))
def test_calls(first):
    found = [random_calls.run(seed) for seed in range(first, first + 500)]
    wrong = [f for f in found if f and (f[0] != "none" or not f[2].startswith("the derivative of "))]
    assert not wrong, "\n".join(" ".join(f) for f in wrong)


def same(a, b):
    return (a is None) == (b is None) and (a is None or np.array_equal(a, b, equal_nan=True))


@pytest.mark.parametrize("first", range(0, 100, 25))
def test_same_bits(first):
    for seed in range(first, first + 25):
        found = random_calls.ways(seed)
        assert not found or all(map(same, *found[1])), found
