"""Random programs in which memory runs out: statements that failed have done nothing. random_programs.py runs more."""

import pytest
import random_programs
import tutti as tt

SEEDS = 300


@pytest.mark.parametrize("eager", [0, -1], ids=["by plans", "at once"])
@pytest.mark.parametrize("fused", [True, False], ids=["fused", "unfused"])
def test_a_statement_that_failed_has_done_nothing(eager, fused):
    tt.set_tier(0)
    tt.set_eager(eager)
    tt.set_fuse(fused)
    failures = 0
    try:
        for seed in range(SEEDS):
            found, ran_out = random_programs.difference(seed)
            failures += ran_out
            assert found is None
    finally:
        tt.set_tier(2)
        tt.set_eager(-1)
        tt.set_fuse(True)
    assert failures > SEEDS // 2
