"""Evaluations whose steps run in several places: the host and two simulated devices, by seed (TUTTI_NULL_SCATTER)."""

import pathlib
import re

import pytest
from null_program import run_program

FUZZ = pathlib.Path(__file__).resolve().parent.parent / "fuzz"

PROGRAM = """
import numpy as np, tutti as tt

rng = np.random.default_rng(0)
A, B = rng.random((60, 50)), rng.random(50)
"""


def run(code, seed, **env):
    env = {"TUTTI_DEVICE": "null:0", "TUTTI_NULL_SCATTER": str(seed), "TUTTI_NULL_SEED": str(seed), **env}
    return run_program(PROGRAM, code, devices=2, **env)


@pytest.mark.parametrize("seed", range(1, 5))
def test_a_program_of_many_steps(seed):
    out = run(
        """
        for k in range(60):
            a, b = tt.asarray(A), tt.asarray(B)
            c = tt.sort((a + b).sum(axis=1) * 2)
            a[3:5] = b * 2
            e = a.T.copy() @ c
            e[2:4] += 1
            wc, wa = np.sort((A + B).sum(axis=1) * 2), A.copy()
            wa[3:5] = B * 2
            we = wa.T @ wc
            we[2:4] += 1
            assert np.allclose(tt.cumsum(e).numpy(), np.cumsum(we)) and np.array_equal(a.numpy(), wa)
        x = tt.ledger()
        print(x["fallbacks"], x["peer_copies"], x["launches"], x["device_launches"])
        """,
        seed,
    )
    fallbacks, peers, launches, there = map(int, out.split())
    assert fallbacks == 0 and peers > 20 and launches // 4 < there < launches - launches // 8


@pytest.mark.parametrize("seed", [1, 2])
def test_random_programs(seed):
    """Versions of memory, which steps here and there read, write over and take."""
    run(
        f"""
        import sys
        sys.path.insert(0, {str(FUZZ)!r})
        import versions
        tt.set_tier(0)
        for s in range({400 * seed}, {400 * seed + 400}):
            what = versions.difference(versions.Program(s))
            assert what is None, f"seed {{s}}: {{what}}"
        """,
        seed,
    )


def test_memory_of_the_caller_shows_what_is_written():
    for seed in range(1, 9):
        run(
            """
            tt.set_eager(0)
            mine, want = A.copy(), A.copy()
            x = tt.asarray(mine, copy=False)
            for k in range(3):
                x[k:k + 7] += B * x.sum(axis=0)
                want[k:k + 7] += B * want.sum(axis=0)
            x.eval()
            assert np.allclose(mine, want) and tt.ledger()["device_launches"] > 0
            """,
            seed,
            TUTTI_DEVICE="auto",
        )


def test_a_failure_on_the_way():
    """What was computed stays, the rest is computed again."""
    run(
        """
        from tutti import _core
        def make():
            a = tt.asarray(A) * 3
            return tt.sort((a[::-1] + a.sum(axis=0)).sum(axis=1)) + a[:, 0]
        want = make().numpy()
        errors = 0
        for kind in ("device memory", "copy", "launch"):
            for n in range(12):
                y = make()
                _core._test_fail(kind, n, False)
                try:
                    assert np.array_equal(y.numpy(), want)
                except RuntimeError as e:
                    assert "told to fail" in str(e), e
                    errors += 1
                finally:
                    _core._test_fail(kind, -1, False)
                try:
                    assert np.array_equal(y.numpy(), want)
                except RuntimeError as e:  # launches that were gathered fail when their results are known already
                    assert "lost when a launch failed" in str(e), e
        assert errors, "nothing failed"
        """,
        3,
    )


def test_moves_are_told():
    out = run(
        """
        y = tt.sort((tt.asarray(A) + 1).sum(axis=1)) * 2
        for k in range(6):
            print(tt.explain(y))
        """,
        4,
    )
    moves = set(re.findall(r"moves first: float64 of 0.000 MB from (\S+) to (\S+)", out))
    assert len(moves) >= 3 and {m[0] for m in moves} <= {"cpu:0", "null:0", "null:1"}, out
    assert "runs on cpu:0" in out and "runs on null:1" in out
