"""The tiers against each other: what the interpreter gives, bit for bit, the compiled text gives."""

import numpy as np
import tutti as tt


def compiled_is_interpreted(names, chains, dtypes):
    """chains(dtype): an expression of each name, to be computed by one tier and by the other."""
    before = tt.ledger()["compile_failures"]
    for dtype in dtypes:
        with np.errstate(all="ignore"):
            tt.set_tier(0)
            try:
                want = [np.asarray(y) for y in chains(dtype)]
                tt.set_tier(1)
                got = [np.asarray(y) for y in chains(dtype)]
            finally:
                tt.set_tier(2)
        for name, w, g in zip(names, want, got):
            np.testing.assert_array_equal(g, w, name)
    assert tt.ledger()["compile_failures"] == before
