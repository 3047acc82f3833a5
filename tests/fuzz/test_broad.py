"""Reductions of arrays that are broadcast to more elements than memory holds. broad.py makes any number of them."""

import broad
import pytest

SEEDS, PIECE = 1200, 600


@pytest.mark.parametrize("first", range(0, SEEDS, PIECE))
def test_reductions(first, way):
    count = {"interpreted": PIECE, "unfused": PIECE // 5, "compiled": 2}[way]
    found = [text for seed in range(first, first + count) if (text := broad.difference(seed))]
    assert not found, "\n".join(found)
