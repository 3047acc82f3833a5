"""Sorting rows that have no room on the simulated device: in runs, with NumPy's bits, and nothing lost when a call
fails."""

import pytest
from null_program import FAILS, run_program

PROGRAM = """
import numpy as np, tutti as tt
from tutti import _core

rng = np.random.default_rng(7)
N = 700_001

def floats(dtype, n=N):
    a = rng.standard_normal(n).astype(dtype)
    a[rng.integers(0, n, n // 50)] = np.nan
    a[rng.integers(0, n, n // 50)] = 0.0
    a[rng.integers(0, n, n // 50)] = -0.0
    a[rng.integers(0, n, 9)] = np.inf
    a[rng.integers(0, n, 9)] = -np.inf
    return a

ROWS = {
    "float32": floats("f4"),
    "float64": floats("f8"),
    "float16": floats("f2", 2_000_003),
    "int64": rng.integers(-(2**62), 2**62, N),
    "few values": rng.integers(0, 3, N).astype("i4"),
    "one value": np.full(N, 7, "u4"),
    "int8": rng.integers(-128, 128, 5_000_000).astype("i1"),
    "bool": rng.random(5_000_000) < 0.3,
    "in order": np.arange(N, dtype="i4"),
    "backwards": np.arange(N, dtype="f4")[::-1].copy(),
    "two rows": floats("f4", 2 * N).reshape(2, N),
    "columns": floats("f4", 3 * 300_000).reshape(300_000, 3),
}

def counts(f):
    before = tt.ledger()
    y = f()
    after = tt.ledger()
    return y, {k: after[k] - before[k] for k in ("streamed", "pieces", "fallbacks")}

def placed(name, f=tt.sort):
    return f(tt.array(ROWS[name], device="null"), axis=0 if name == "columns" else -1)

def check(name, f, g):
    want = g(ROWS[name], axis=0 if name == "columns" else -1, kind="stable")
    y = placed(name, f)
    got, n = counts(lambda: y.numpy())
    assert got.dtype == want.dtype and got.shape == want.shape, name
    if want.dtype.kind == "f":  # of equal elements the first comes first; all NaNs here are one
        assert got.tobytes() == want.tobytes(), name
    assert np.array_equal(got, want, equal_nan=want.dtype.kind == "f"), name
    return n
"""


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("memory", [2_600_000, 6 << 20])
def test_same_bits(memory, seed):
    out = run_program(
        PROGRAM,
        """
        for name in ROWS:
            for f, g in ((tt.sort, np.sort), (tt.argsort, np.argsort)):
                n = check(name, f, g)
                print(name, f.__name__, n["streamed"], n["pieces"], n["fallbacks"], sep=":")
        assert _core._device_memory(tt.device("null")._number)["max_allocated"] <= MEMORY
        """.replace("MEMORY", str(memory)),
        TUTTI_NULL_MEMORY=str(memory),
        TUTTI_NULL_SEED=str(seed),
    )
    for line in out.splitlines():
        name, f, streamed, pieces, fallbacks = line.split(":")
        if memory < 3_000_000 and name != "columns":  # they are turned around before, which has no pieces
            assert int(streamed) >= 1 and int(pieces) > 4 and int(fallbacks) == 0, line


def test_descending():
    run_program(
        PROGRAM,
        """
        a = ROWS["float32"]
        x = tt.array(a, device="null")
        want = tt.sort(tt.asarray(a), descending=True).numpy()
        places = tt.argsort(tt.asarray(a), descending=True).numpy()
        assert tt.sort(x, descending=True).numpy().tobytes() == want.tobytes()
        assert np.array_equal(tt.argsort(x, descending=True).numpy(), places)
        assert tt.ledger()["streamed"] == 2
        """,
        TUTTI_NULL_MEMORY=str(2_600_000),
    )


def test_one_two_three_and_many_runs():
    out = run_program(
        PROGRAM,
        """
        for n in (1, 2, 3, 1000, 85_000, 200_000, 200_001, 600_000, 1_300_000):
            a = floats("f4", max(n, 64))[:n].copy()
            for f, g in ((tt.sort, np.sort), (tt.argsort, np.argsort)):
                x = tt.array(a, device="null")
                got, c = counts(lambda: f(x).numpy())
                assert got.tobytes() == g(a, kind="stable").tobytes(), n
                print(c["pieces"], end=" ")
        """,
        TUTTI_NULL_MEMORY=str(2_600_000),
    )
    pieces = [int(n) for n in out.split()]
    assert pieces[:8] == [0] * 8 and max(pieces) > 20 and len(set(pieces)) > 4, pieces


def test_what_is_made_of_sorted_rows():
    """Whatever calls these rows: what follows goes on with the result."""
    run_program(
        PROGRAM,
        """
        a = ROWS["int64"] % 1000
        x = tt.array(a, device="null")
        assert np.array_equal(tt.sort(x)[::100].numpy(), np.sort(a)[::100])
        assert float(tt.median(x)) == np.median(a)
        for got, want in zip(tt.unique(x, return_counts=True), np.unique(a, return_counts=True)):
            assert np.array_equal(got.numpy(), want)
        assert np.array_equal(tt.unique(x).numpy(), np.unique(a))
        """,
        TUTTI_NULL_MEMORY=str(2_600_000),
    )


@pytest.mark.parametrize("f", ["sort", "argsort"])
@pytest.mark.parametrize("kind", ["device memory", "launch", "copy", "memory"])
def test_failing_calls(kind, f):
    """The n-th call fails: an error, or the work is done another way; the same values come out the next time."""
    run_program(
        PROGRAM,
        FAILS,
        f"""
        want = np.{f}(ROWS["float32"], kind="stable")
        calls = [*range(10), *range(10, 150, 13)]
        fails("{kind}", lambda: placed("float32", tt.{f}), lambda y: y.numpy().tobytes() == want.tobytes(), calls)
        """,
        TUTTI_NULL_MEMORY=str(2_600_000),
    )


def test_what_is_said_of_it():
    out = run_program(
        PROGRAM,
        """
        y = placed("float32")
        print(tt.explain(y))
        with tt.profile() as p:
            y.numpy()
        print(p)
        """,
        TUTTI_NULL_MEMORY=str(2_600_000),
    )
    assert "the device has no room for all: " in out and " runs of " in out
    assert " pieces " in out.split("step ")[-1]
