"""Random programs under {NumPy float64, interpreted, compiled, no fusion}."""

import numpy as np
import pytest
import tutti as tt
from program import Program

MANY = 400
FEW = 25


def make_numpy(seed):
    def make(i, shape):
        return np.random.default_rng([seed, i]).uniform(-1, 1, shape)

    return make


def make_tutti(seed):
    def make(i, shape):
        return tt.asarray(make_numpy(seed)(i, shape))

    return make


def run_tutti(program, tier=0, fuse=True, lazy=True):
    tt.set_tier(tier)
    tt.set_fuse(fuse)
    try:

        def look(wanted, pool):
            if wanted or not lazy:
                tt.eval(*pool)

        return [np.array(x) for x in program.run(tt, make_tutti(program.seed), look)]
    finally:
        tt.set_tier(2)
        tt.set_fuse(True)


def assert_close(got, want, what):
    assert len(got) == len(want)
    for k, (g, w) in enumerate(zip(got, want)):
        w = np.asarray(w)
        assert g.shape == w.shape, f"{what}: array {k} has shape {g.shape}, NumPy {w.shape}"
        np.testing.assert_allclose(g, w, rtol=1e-9, atol=1e-9, err_msg=f"{what}: array {k}")


@pytest.mark.parametrize("seed", range(MANY))
def test_program(seed):
    p = Program(seed)
    want = p.run(np, make_numpy(seed), lambda wanted, pool: None)
    assert_close(run_tutti(p), want, "interpreted")
    assert_close(run_tutti(p, fuse=False), want, "no fusion")


@pytest.mark.parametrize("seed", range(FEW))
def test_tiers_give_the_same_bits(seed):
    p = Program(10_000 + seed)
    for a, b in zip(run_tutti(p, tier=0), run_tutti(p, tier=1)):
        np.testing.assert_array_equal(a.view(np.int64), b.view(np.int64))
