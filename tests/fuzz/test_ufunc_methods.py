"""ufunc.accumulate, reduceat, reduce and outer against NumPy: ufunc_methods.py runs as many others as one likes."""

import pytest
import tutti as tt
import ufunc_methods

pytestmark = pytest.mark.filterwarnings("ignore")
SEEDS, PIECE = 1600, 400


@pytest.mark.parametrize("first", range(0, SEEDS, PIECE))
@pytest.mark.parametrize("limit", ["at once", "by plans"])
def test_methods_agree(first, limit):
    tt.set_eager(0 if limit == "by plans" else -1)
    try:
        found = [d for d in map(ufunc_methods.difference, range(first, first + PIECE)) if d]
    finally:
        tt.set_eager(-1)
    assert not found, "\n".join(found[:5])


def test_a_truth_has_no_other_type():
    for method, more in (("reduce", ()), ("accumulate", ()), ("reduceat", ([0, 1],))):
        with pytest.raises(TypeError, match="No loop matching"):
            getattr(tt.logical_or, method)(tt.ones(3), *more, dtype="float32")
        getattr(tt.logical_or, method)(tt.ones(3), *more, dtype=bool)
