"""Calls of ufuncs with operands of all sorts and all keywords, against NumPy. mixed.py makes any number of them."""

import mixed
import pytest

pytestmark = pytest.mark.filterwarnings("ignore")
SEEDS, PIECE = 2000, 500


@pytest.mark.parametrize("first", range(0, SEEDS, PIECE))
def test_calls(first, way):
    count = {"interpreted": PIECE, "unfused": PIECE // 5, "compiled": 3}[way]
    found = [text for seed in range(first, first + count) if (text := mixed.difference(seed))]
    assert not found, "\n".join(found)


def test_differences_are_seen(monkeypatch):
    """Of values, types, errors and what the call left."""
    for name, broken in {
        "negative": lambda *a, **k: mixed.tt.positive(*a, **k),
        "add": lambda *a, **k: mixed.tt.add(*a, **{**k, "dtype": "complex128"}),
        "subtract": lambda *a, **k: 1 / 0,
    }.items():
        with monkeypatch.context() as m:
            m.setattr(mixed.tt, name, broken)
            assert any(mixed.difference(seed, name) for seed in range(40)), name
