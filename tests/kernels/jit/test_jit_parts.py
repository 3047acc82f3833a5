"""Parts of lists and slices as values, functions and types as arguments, memory as another type, random arrays."""

import copy
import functools
import itertools

import numpy as np
import pytest
import tutti as tt
from tutti.compat.numba import njit, types
from tutti.compat.numba.typed import Dict, List

pytestmark = [
    pytest.mark.skipif("no C compiler" in tt.info(), reason="no C compiler"),
    pytest.mark.usefixtures("on_the_cpu"),
]


def outcome(f, *args):
    try:
        return str(f(*args))
    except (ValueError, IndexError, TypeError) as error:
        return f"{type(error).__name__}: {error}"


def same(f, *args):
    assert outcome(njit(f), *copy.deepcopy(args)) == outcome(f, *args)


def part(x, s):
    return x[s]


def deleted(n, a, b, c):
    items = list(range(n))
    del items[a:b:c]
    return items


def assigned(n, m, a, b):
    items = list(range(n))
    items[a:b] = list(range(100, 100 + m))
    return items


BOUNDS = [None, -7, -2, 0, 1, 3, 9]


def test_slices_as_values_mean_what_they_do_in_python():
    compiled = njit(part)
    for a, b, c in itertools.product(BOUNDS, BOUNDS, [None, -2, -1, 1, 3]):
        for x in ("héllo", np.arange(6)):
            assert str(compiled(x, slice(a, b, c))) == str(x[slice(a, b, c)])
    for x in ("abc", np.arange(3)):
        with pytest.raises(ValueError, match="slice step cannot be zero"):
            compiled(x, slice(None, None, 0))


def test_parts_of_lists_are_taken_away_and_assigned():
    taken, put = njit(deleted), njit(assigned)
    for a, b in itertools.product(BOUNDS, BOUNDS):
        for c in (None, -2, -1, 1, 3):
            assert taken(6, a, b, c) == deleted(6, a, b, c)
        for m in (0, 2, 5):
            assert put(5, m, a, b) == assigned(5, m, a, b)


def test_a_part_with_a_step_takes_as_many_items_as_it_has():
    def f(n):
        items = [0] * n
        items[::2] = [1, 2]
        return items

    assert njit(f)(4) == [1, 0, 2, 0]
    with pytest.raises(ValueError, match="cannot resize extended list slice"):
        njit(f)(6)


def test_failures_have_pythons_own_message():
    def f(n):
        items = [n]
        items.pop()
        return items.pop()

    with pytest.raises(IndexError) as raised:
        njit(f)(1)
    assert str(raised.value) == "pop from empty list"
    assert any("line" in note for note in raised.value.__notes__)


def test_sorts_by_keys_and_reduce():
    def f(x):
        a = list(x)
        a.sort(key=lambda v: -v * v)
        b = sorted(a, key=abs, reverse=True)
        c = functools.reduce(lambda s, v: s * 2 + v, a)
        return a, b, c, functools.reduce(lambda s, v: max(s, v), x, 3)

    same(f, [3, -1, 2, -5, 1, 1])


def test_functions_and_types_are_arguments():
    def made(n, kind):
        return np.ones(n, dtype=kind)

    f = njit(made)
    for kind in (np.float32, np.dtype("int16"), types.complex64, int):
        assert f(3, kind).dtype == np.dtype(getattr(kind, "_jit_dtype", kind))
    double, apply = njit(lambda v: 2 * v), njit(lambda g, v: g(v) + 1)
    assert apply(double, 4) == 9 and apply(abs, -4) == 5
    with pytest.raises(TypeError, match="not '<class 'object'>'"):
        f(3, object())


def test_memory_as_another_type():
    def f(a, b):
        return a.view(np.int16), a.reshape(2, 2).view(np.float32), np.frombuffer(b, dtype=np.uint16, offset=3, count=4)

    got, want = njit(f)(np.arange(4) + 7, bytes(range(16))), f(np.arange(4) + 7, bytes(range(16)))
    for one, other in zip(got, want):
        np.testing.assert_array_equal(one, other)
    with pytest.raises(ValueError, match="must be a divisor of the total size"):
        njit(lambda a: a.view(np.int64))(np.zeros(3, np.int32))
    for how in ({"offset": 17}, {"count": 9}):
        with pytest.raises(ValueError, match="offset must be|smaller than"):
            njit(lambda b, o, c: np.frombuffer(b, np.int16, c, o))(
                bytes(16), how.get("offset", 0), how.get("count", -1)
            )


def test_clip_and_round_with_a_place_for_results():
    def f(a):
        out = np.empty_like(a)
        np.clip(a, None, 2, out)
        return out, a.clip(1, 2), np.clip(a, 1, None), np.round(a, 1), np.around(a), a.round(2)

    got, want = njit(f)(np.arange(5) / 3), f(np.arange(5) / 3)
    for one, other in zip(got, want):
        np.testing.assert_allclose(one, other, rtol=1e-15)
    with pytest.raises(ValueError, match="does not match"):
        njit(lambda a, o: np.clip(a, 0, 1, o))(np.zeros(3), np.zeros(4))
    with pytest.raises(ValueError, match="must set either"):
        njit(lambda a: np.clip(a, None, None))(np.zeros(3))


def test_dictionaries_of_pairs_and_their_comparison():
    def f(n):
        d = dict([(k, k * 2.0) for k in range(n)])
        e = d.copy()
        e.update({9: 1.0})
        d.update(e)
        return d == e, d, {k for k in "hello"} == set("ohell"), {1: "a"} == {1: "b"}

    same(f, 3)


def test_lists_of_none_of_characters_and_of_rows():
    def f(x):
        nones = List()
        nones.append(None)
        nones.append(None)
        return len(nones), nones[1], List("abc"), List(x), np.array([[k * j for j in range(2)] for k in range(3)])

    got, want = njit(f)(np.arange(4).reshape(2, 2)), f(np.arange(4).reshape(2, 2))
    assert str(got) == str(want)
    assert repr(List([1])) == "ListType[int64]([1])" and Dict({1: 2.0}).copy() == {1: 2.0}


def test_arrays_of_random_numbers_are_numpys():
    def f(n):
        np.random.seed(n)
        a = np.random.rand(n, 2)
        return a, np.random.randn(n), np.random.uniform(1.0, 3.0, (n, 2)), np.random.normal(size=3), np.random.random(n)

    for one, other in zip(njit(f)(3), f(3)):
        np.testing.assert_allclose(one, other, rtol=1e-14)


def test_random_orders_and_whole_numbers():
    def f(n):
        x = np.arange(n)
        np.random.shuffle(x)
        return (
            x,
            np.random.permutation(n),
            np.random.choice(x),
            np.random.randint(0, 5, (n, 2)),
            np.random.exponential(2.0, n),
        )

    x, order, one, whole, waits = njit(f)(50)
    assert sorted(x) == sorted(order) == list(range(50)) and one in x and list(x) != list(range(50))
    assert whole.shape == (50, 2) and 0 <= whole.min() and whole.max() < 5 and waits.min() > 0


def test_a_signature_is_looked_at_where_the_function_is_defined():
    with pytest.raises(TypeError, match="no attribute 'nothing'|has no elements"):
        njit("float64(float64)")(lambda x: x[0])
    record = types.Record(np.dtype([("a", "f8"), ("b", "i4")]))
    with pytest.raises(TypeError, match="Requested index 5 is out of range"):
        njit((record[:], types.intp))(lambda r, i: r[i][5])


@njit("int64(int64)")
def halves(n):
    return 0 if n < 2 else 1 + halves(n // 2)


def test_a_function_with_a_signature_may_call_itself():
    @njit("int64(int64)")
    def inner(n):
        return 0 if n < 2 else 1 + inner(n // 2)

    assert halves(1024) == inner(1024) == 10


def test_fields_have_titles():
    dtype = np.dtype([(("x", "s0"), "i4"), (("y", "s1"), "f8")])

    def f(a):
        for k in range(a.size):
            a[k]["s0"] += k
            a[k]["y"] = 2.0 * k
        return a["x"].sum() + a["s1"].sum()

    same(f, np.zeros(4, dtype))


def test_tuples_count_and_find_their_items():
    def f(x):
        t = ("a", 1, 2.5, "a", x)
        return t.count("a"), t.count(1), t.index(2.5), t.index("a"), (3, x).index(x), ["a", 1].copy()[0]

    same(f, 7)
    with pytest.raises(ValueError, match="not in tuple"):
        njit(lambda x: (1, 2).index(x))(3)
