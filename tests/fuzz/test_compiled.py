"""Random functions: compiled, and run by Python."""

import linecache
import math
import os

import numpy as np
import pytest
import tutti as tt
from function import Function

pytestmark = pytest.mark.skipif(os.environ.get("TUTTI_CC") == "none", reason="nothing is compiled")

SIZES = [(7, 5, 3, 4), (64, 33, 17, 8), (2, 1, 2, 2)]


def arguments(seed, size, n):
    rng = np.random.default_rng(seed)
    la, lb, rows, cols = size
    return (
        rng.integers(-16, 17, la) / 8,
        rng.integers(0, 1009, lb),
        rng.integers(-16, 17, (rows, cols)) / 8,
        n,
        float(rng.integers(-16, 17) / 8),
    )


@pytest.mark.parametrize("seed", range(100))
def test_function(seed):
    text = Function(seed).text
    file = f"<random function {seed}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    names = {"math": math, "np": np}
    exec(compile(text, file, "exec"), names)
    plain = names["f"]
    compiled = tt.njit(plain)
    for k, size in enumerate(SIZES):
        want, got = arguments(seed, size, 11 + k), arguments(seed, size, 11 + k)
        with np.errstate(all="ignore"):
            out = plain(*want)
        mine = compiled(*got)
        for w, g in zip((*out, *want[:3]), (*mine, *got[:3])):
            np.testing.assert_array_equal(g, w, err_msg=text)
