"""Random programs with random settings of every variable that is read. surroundings.py tries any number of them."""

import pytest
import surroundings


@pytest.mark.parametrize("seed", range(1000, 1016))
def test_settings(seed, tmp_path):
    assert surroundings.run(seed, tmp_path, count=3) is None
