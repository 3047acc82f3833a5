"""Programs that copy what is pending and go on with both, against NumPy. copies.py makes any number of them."""

import copies
import pytest

SEEDS, PIECE = 1000, 500


@pytest.mark.parametrize("first", range(0, SEEDS, PIECE))
def test_programs(first, way):
    count = {"interpreted": PIECE, "unfused": PIECE // 5, "compiled": 2}[way]
    found = [text for seed in range(first, first + count) if (text := copies.difference(seed))]
    assert not found, "\n".join(found)


def test_differences_are_seen(monkeypatch):
    """A copy that stays the array itself is seen by what is written later."""
    monkeypatch.setattr(copies.tt.ndarray, "dumps", lambda self: copies.pickle.dumps(self * 2 if self.size else self))
    assert any(copies.difference(seed) for seed in range(100))
