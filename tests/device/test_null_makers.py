"""What picks elements of arrays that have no room on the simulated device: in pieces that are joined, with NumPy's
values, and nothing lost when a call fails."""

import pytest
from null_program import run_program

PROGRAM = """
import numpy as np, tutti as tt
from tutti import _core

rng = np.random.default_rng(11)
N = 1_500_001
A = rng.standard_normal(N).astype("f4")
I = rng.integers(0, 3000, N)
I[7] = 9000
M = (rng.random(N) < 0.3).reshape(N)
S = (rng.random((1500, 1000)) < 0.01) * rng.standard_normal((1500, 1000))
F = np.where(rng.random(N) < 0.1, np.nan, np.round(A, 1) * np.sign(A)).astype("f4")

def there(a):
    return tt.array(a, device="null")

CASES = {
    "mask": (lambda: there(A)[there(M)], lambda: A[M]),
    "mask of an expression": (lambda: (lambda x: x[x > 0.5])(there(A)), lambda: A[A > 0.5]),
    "nothing": (lambda: (lambda x: x[x > 1e9])(there(A)), lambda: A[:0]),
    "everything": (lambda: (lambda x: x[x < 1e9])(there(A)), lambda: A),
    "nonzero": (lambda: tt.nonzero(there(S))[1], lambda: np.nonzero(S)[1]),
    "flatnonzero": (lambda: tt.flatnonzero(there(S)), lambda: np.flatnonzero(S)),
    "count": (lambda: tt.count_nonzero(there(S)), lambda: np.count_nonzero(S)),
    "bincount": (lambda: tt.bincount(there(I)), lambda: np.bincount(I)),
    "with many bins": (lambda: tt.bincount(there(I), minlength=20_000), lambda: np.bincount(I, minlength=20_000)),
    "unique": (lambda: tt.unique(there(I)), lambda: np.unique(I)),
    "unique of floats": (lambda: tt.unique(there(F)), lambda: np.unique(F)),
    "each NaN": (lambda: tt.unique(there(F), equal_nan=False), lambda: np.unique(F, equal_nan=False)),
    "all distinct": (lambda: tt.unique(there(A)), lambda: np.unique(A)),
    "unique with counts": (lambda: tt.unique(there(I), return_counts=True)[1],
                           lambda: np.unique(I, return_counts=True)[1]),
    "repeat": (lambda: tt.repeat(there(I[:700_000]), 2), lambda: np.repeat(I[:700_000], 2)),
}

def check(name):
    f, g = CASES[name]
    want = np.asarray(g())
    before = tt.ledger()
    got = np.asarray(f())
    after = tt.ledger()
    assert got.dtype == want.dtype and got.shape == want.shape, (name, got.dtype, got.shape)
    assert np.array_equal(got, want, equal_nan=want.dtype.kind == "f"), name
    return {k: after[k] - before[k] for k in ("streamed", "pieces", "fallbacks")}
"""
# Those that are made in pieces on the device itself.
PIECES = ["mask", "mask of an expression", "nothing", "everything", "nonzero", "bincount", "unique", "unique of floats"]


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("memory", [2_600_000, 4 << 20])
def test_same_values(memory, seed):
    out = run_program(
        PROGRAM,
        """
        for name in CASES:
            n = check(name)
            print(name, n["streamed"], n["pieces"], n["fallbacks"], sep=":")
        """,
        TUTTI_NULL_MEMORY=str(memory),
        TUTTI_NULL_SEED=str(seed),
    )
    seen = {line.split(":")[0]: [int(n) for n in line.split(":")[1:]] for line in out.splitlines()}
    for name in PIECES:
        streamed, pieces, fallbacks = seen[name]
        assert streamed >= 1 and pieces > 1 and fallbacks == 0, (name, seen[name])


def test_what_is_wrong_is_said():
    run_program(
        PROGRAM,
        """
        x = there(I - 1)
        try:
            tt.bincount(x)
        except ValueError as e:
            assert "negative" in str(e), e
        else:
            raise AssertionError("no error")
        with tt.strict("fallback"):
            try:
                tt.unique(there(I), return_counts=True)
            except RuntimeError as e:
                assert "fallback" in str(e)
            else:
                raise AssertionError("no error")
        """,
        TUTTI_NULL_MEMORY=str(2_600_000),
    )


@pytest.mark.parametrize("kind", ["device memory", "launch", "copy", "memory"])
def test_failing_calls(kind):
    """The n-th call fails: an error, or the host does the work; nothing is lost."""
    run_program(
        PROGRAM,
        f"""
        for name in ("mask", "bincount", "unique"):
            f, g = CASES[name]
            want = g()
            for n in [*range(10), *range(10, 100, 13)]:
                _core._test_fail("{kind}", n, False)
                try:
                    assert np.array_equal(f().numpy(), want), n
                except (MemoryError, RuntimeError) as e:
                    assert "{kind}" != "device memory", e
                finally:
                    _core._test_fail("{kind}", -1, False)
            assert np.array_equal(f().numpy(), want), n
        """,
        TUTTI_NULL_MEMORY=str(2_600_000),
    )
