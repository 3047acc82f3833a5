"""Comparisons with objects that are no numbers of NumPy's: each element is asked, as there."""

import operator
from decimal import Decimal
from fractions import Fraction
from unittest import mock

import numpy as np
import pytest
import tutti as tt


class Even:
    """Equal to even numbers; greater than all."""

    def __eq__(self, other):
        return other % 2 == 0

    def __ne__(self, other):
        return other % 2 != 0

    def __gt__(self, other):
        return True

    __hash__ = None


class Deferred:
    """Wants to decide by itself."""

    __array_ufunc__ = None

    def __eq__(self, other):
        return "mine"

    def __ne__(self, other):
        return "mine, too"

    __hash__ = None


OBJECTS = [Decimal("1.5"), Fraction(3, 2), mock.ANY, Even(), "x", b"x", None, object(), {}, set()]
OPERATORS = [operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge]


def compared(f, a, other, swapped):
    try:
        result = f(other, a) if swapped else f(a, other)
    except TypeError:
        return "TypeError"
    return type(result) is bool, np.asarray(result).tolist()


@pytest.mark.parametrize("other", OBJECTS, ids=repr)
@pytest.mark.parametrize("f", OPERATORS)
@pytest.mark.parametrize("values", [[1.5, 2, 4], [[2, 1, 4]], [True, False], 2, [], [[]]], ids=repr)
def test_objects(f, other, values):
    if not np.size(values) and f not in OPERATORS[:2] and type(other) not in (Decimal, Fraction, Even):
        pytest.skip("NumPy finds nothing to ask, and no error in it")
    for swapped in (False, True):
        want, got = (compared(f, m.array(values), other, swapped) for m in (np, tt))
        assert got == want, (swapped, got, want)


def test_pending_values_are_asked(recorded):
    a = tt.arange(6.0).reshape(2, 3) / 2
    assert (a == Fraction(3, 2)).tolist() == [[False, False, False], [True, False, False]]


def test_objects_that_decide_by_themselves():
    a = tt.array([1.5, 2])
    assert (a == Deferred()) == "mine" and (a != Deferred()) == "mine, too"
    assert a == pytest.approx([1.5, 2]) and a != pytest.approx([1.5, 3])
