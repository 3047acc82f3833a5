"""isin beside NumPy: tables of whole numbers of a small range, and what is sorted and searched."""

import numpy as np
import pytest
import tutti as tt

SIZES = [(40_000, 30), (20_000, 20_000), (3, 30_000), (100, 100)]


def agree(a, test, **how):
    np.testing.assert_array_equal(tt.isin(tt.array(a), tt.array(test), **how).numpy(), np.isin(a, test, **how))


@pytest.mark.parametrize("kind", ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f8"])
def test_types(kind):
    rng = np.random.default_rng(0)
    for n, m in SIZES:
        low, high = (-100, 100) if kind == "i1" else (0, 200) if kind == "u1" else (0, 9000)
        a, test = rng.integers(low, high, n).astype(kind), rng.integers(low, high, m).astype(kind)
        agree(a, test)
        agree(a, test, invert=True)


def test_ends_of_the_type():
    a = np.array([-(2**63), 2**63 - 1, 5, 6, 7] * 5000)
    agree(a, np.arange(-3, 6).repeat(4000))
    agree(a, np.array([2**62, -(2**62)] * 9000))
    agree(a, np.array([2**63 - 1, 2**63 - 2] * 9000))


def test_mixed_types_and_axes():
    rng = np.random.default_rng(1)
    a = rng.integers(0, 9, (300, 200))
    agree(a.astype("i2")[::-1, ::3], rng.integers(-4, 4, 20_000).astype("i8"))
    agree(a.astype("u1"), rng.integers(-4, 4, 20_000).astype("i1"))


def test_a_small_range_is_not_sorted():
    a = tt.array(np.arange(30_000) % 977)
    tt.eval(a)
    tt.ledger().reset()
    tt.eval(tt.isin(a, a[::7]))
    assert tt.ledger()["library_calls"] == 0


@pytest.mark.parametrize("types", [("f8", "f8"), ("i8", "f4"), ("f4", "i8"), ("?", "u1"), ("c8", "i1")])
def test_tables_are_of_whole_numbers(types):
    a, test = (np.arange(3).astype(t) for t in types)
    if {*types} <= {"?", "u1"}:
        agree(a, test, kind="table")
    else:
        for m in (np, tt):
            with pytest.raises(ValueError, match="only supported for boolean or integer arrays"):
                m.isin(m.asarray(a), m.asarray(test), kind="table")
    agree(a, test, kind="sort")
