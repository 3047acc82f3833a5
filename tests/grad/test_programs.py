"""Calls of the public namespace: programs.py makes any number of them."""

import programs
import pytest


@pytest.mark.parametrize("first", range(0, 4000, 500))
def test_calls(first):
    found = [programs.run(seed) for seed in range(first, first + 500)]
    wrong = [f for f in found if f and (f[0] != "none" or not f[2].startswith("the derivative of "))]
    assert not wrong, "\n".join(" ".join(f) for f in wrong)
