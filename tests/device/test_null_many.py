"""Steps that are one launch, on the simulated device: counted, with the host's bits, and nothing lost when a call
fails."""

import pytest
from null_program import run_program

PROGRAM = """
import numpy as np, tutti as tt
tt.set_eager(0)
SIZES = [(3 + 7 * k,) if k % 2 else (2 + k, 5 + k % 3) for k in range(100)]
FIRST, SLOPE = ([np.random.default_rng(s).standard_normal(n).astype("f4") for n in SIZES] for s in (1, 2))

def start(device, n=100):
    with tt.device(device):
        p = [tt.array(v).requires_grad_() for v in FIRST[:n]]
        for a, g in zip(p, SLOPE):
            a.grad = tt.array(g)
    return p, tt.optim.Adam(p, lr=0.01)

def values(p):
    return [a.detach().numpy() for a in p]

def same(x, y):
    return all(np.array_equal(a, b) for a, b in zip(x, y, strict=True))
"""


def test_a_step_of_an_optimiser_is_one_launch():
    run_program(
        PROGRAM,
        """
        p, o = start("null:0")
        q, there = start("cpu")
        for k in range(5):
            before = tt.ledger()
            o.step()
            after = tt.ledger()
            assert after["device_launches"] - before["device_launches"] == 1
            there.step()
        assert same(values(p), values(q))
    """,
    )


def test_all_over_the_place():
    """Steps that run in different places are launches of their own."""
    run_program(
        PROGRAM,
        """
        p, o = start("null:0")
        for k in range(3):
            o.step()
        print(float(sum(np.abs(v).sum() for v in values(p))))
    """,
        devices=2,
        TUTTI_NULL_SCATTER="5",
    )


@pytest.mark.parametrize("kind", ["memory", "launch", "copy"])
def test_what_fails(kind):
    """An error, now or when the values are looked at again, or the right values; and the next call works."""
    run_program(
        PROGRAM,
        f"""
        want = [v * 2 + 1 for v in FIRST[:9]]

        def make():
            return [tt.array(v, device="null:0") * 2 + 1 for v in FIRST[:9]]

        def look(y):
            try:
                tt.eval(*y)
                assert same([x.numpy() for x in y], want)
                return "right"
            except (MemoryError, RuntimeError):
                return "error"

        seen = set()
        for n in range(40):
            y = make()
            tt._core._test_fail({kind!r}, n, False)
            first = look(y)
            tt._core._test_fail({kind!r}, -1, False)
            seen.add(first)
            assert look(y) == "right" or first == "error", n
            assert look(make()) == "right", n
        assert seen == {{"right", "error"}}
        """,
    )
