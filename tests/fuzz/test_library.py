"""Linear algebra, transforms, sorts, scans, products, picks: random calls against NumPy. library.py runs more."""

import library
import pytest

SEEDS = 250


@pytest.mark.parametrize("kind", library.KINDS)
def test_calls(kind):
    for seed in range(SEEDS // 10 if kind == "algebra" else SEEDS):
        assert library.difference(library.make(seed, [kind])) is None, f"seed {seed}"
