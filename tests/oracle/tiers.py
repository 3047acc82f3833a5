"""The tiers against each other: what the interpreter gives, bit for bit, the compiled text gives."""

import os
import shutil

import numpy as np
import tutti as tt

COMPILER = bool(shutil.which("cc")) and os.environ.get("TUTTI_CC") != "none"


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


def same_in_both_tiers(work, *arrays, signs_of_nan=True):
    """What the interpreted kernels give and, where there is a compiler, the compiled ones: one array, bit for bit. (A
    NaN's sign may hang on the order of operands.)"""
    before = tt.ledger()["compile_failures"]
    out = []
    try:
        for tier in (0, 1) if COMPILER else (0,):
            tt.set_tier(tier)
            out.append(np.asarray(work(*[tt.array(a) for a in arrays])))
    finally:
        tt.set_tier(2)
    assert tt.ledger()["compile_failures"] == before
    bits = {(x if signs_of_nan else np.where(x == x, x, abs(x))).tobytes() for x in out}
    assert len(bits) == 1
    return out[-1]
