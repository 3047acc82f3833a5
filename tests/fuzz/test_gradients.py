"""Gradients of random programs agree with differences: work done at the call, recorded, looked at, or not fused."""

import gradients
import pytest

SEEDS, PIECE = 1500, 100


@pytest.mark.parametrize("first", range(0, SEEDS, PIECE))
def test_random_programs(first):
    wrong = [w for seed in range(first, first + PIECE) if (w := gradients.check(seed))]
    assert wrong == []
