"""Threads on shared arrays: threads_at_once.py runs as many other programs as one likes."""

import pytest
import threads_at_once
import tutti as tt

pytestmark = pytest.mark.filterwarnings("ignore")  # of complex numbers cast, as NumPy
COUNT = 60


@pytest.mark.parametrize("first", [0, COUNT])
def test_threads_see_what_they_see_alone(first, way):
    found = [d for d in map(threads_at_once.difference, range(first, first + COUNT)) if d]
    assert not found, "\n".join(found[:3])


def test_pending_values_of_many_threads():
    """One array that is pending while all threads begin to look at it."""
    for size in (100, 100_000):
        x = tt.arange(size) * 3.0 + 1
        assert threads_at_once.difference(size) is None
        assert float(x.sum()) == 1.5 * size * (size - 1) + size
