"""One memory seen as views, parts, types and in orders: random programs against NumPy. aliasing.py runs any number."""

import aliasing
import pytest


@pytest.mark.parametrize("first", range(0, 1000, 100))
def test_programs(first, way):
    count = {"interpreted": 100, "unfused": 30, "compiled": 2}[way]
    for seed in range(first, first + count):
        assert aliasing.run(seed) is None
