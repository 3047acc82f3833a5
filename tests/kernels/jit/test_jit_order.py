"""Operands are computed in Python's order where a call among them changes what the others read."""

import numpy as np
import pytest
import tutti as tt

pytestmark = pytest.mark.skipif("no C compiler" in tt.info(), reason="no C compiler")


@tt.njit
def bump(p):
    p[0] += 1
    return p[0]


def place_before_value(a, p):
    a[p[0]] += bump(p)
    p[0] += bump(p)


def place_of_a_list(a, p):
    items, q = [1, 2, 3, 4], [1]
    items[q[0]] += bump(q)
    q[0] += bump(q)
    a[:4] = np.array(items)
    a[4] = q[0]


def part_of_an_array(a, p):
    a[p[0] : p[0] + 2] += bump(p)
    a[p[0] :][p[0]] -= bump(p)


def sums(a, p):
    a[0] = p[0] - 10 * bump(p) + 100 * p[0]
    a[1] = a[p[0]] + 100 * bump(p) - a[p[0]]
    a[2] = p[0] < bump(p)


def tuples(a, p):
    x, y, z = p[0], bump(p), p[0]
    a[0] = x + 10 * y + 100 * z
    t = (p[0] * 2, bump(p), p[0] * 3)
    a[1] = t[0] + 10 * t[1] + 100 * t[2]


def arguments(a, p):
    items = [5, 6, 7]
    a[0] = three(items[0], items.pop(0), items[0])
    a[1] = three(p[0], bump(p), p[0])


def value_before_place(a, p):
    a[bump(p)] = bump(p)
    a[bump(p) % 5] += bump(p)


@tt.njit
def three(x, y, z):
    return x + 10 * y + 100 * z


@pytest.mark.usefixtures("on_the_cpu")
@pytest.mark.parametrize("tier", ["compiled", "baseline"])
@pytest.mark.parametrize(
    "f", [place_before_value, place_of_a_list, part_of_an_array, sums, tuples, arguments, value_before_place]
)
def test_operands_are_computed_in_order(f, tier, monkeypatch):
    monkeypatch.setenv("TUTTI_JIT_TIER", tier)
    want, got = (np.arange(5.0) + 10, np.zeros(1, np.int64)), (np.arange(5.0) + 10, np.zeros(1, np.int64))
    f(*want)
    tt.njit(f)(*got)
    np.testing.assert_array_equal(got[0], want[0])
    np.testing.assert_array_equal(got[1], want[1])
