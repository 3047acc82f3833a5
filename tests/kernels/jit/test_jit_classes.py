"""numba's jitclass: fields with types and compiled methods, in Python and in compiled functions."""

import numpy as np
import pytest
import tutti as tt
from tutti.compat.numba import float32, float64, int32, int64, njit, types
from tutti.compat.numba.experimental import jitclass
from tutti.compat.numba.typed import List

pytestmark = pytest.mark.skipif("no C compiler" in tt.info(), reason="no C compiler")


@jitclass([("value", int32), ("array", float32[:])])
class Bag:
    def __init__(self, value, scale=2):
        self.value = value
        self.array = np.zeros(value, dtype=np.float32) + scale - 2

    @property
    def size(self):
        return self.array.size

    def increment(self, by):
        for i in range(self.size):
            self.array[i] += by
        return self.array

    def doubled(self, by=3):
        self.increment(by)
        self.increment(by)
        return self.array.sum()

    @staticmethod
    def add(x, y):
        return x + y


@jitclass
class Point:
    x: float
    y: float
    tag: str

    def __init__(self, x, y):
        self.x = x
        self.y = y
        self.tag = "p" + str(int(x))


def test_an_object_in_python():
    bag = Bag(4)
    assert isinstance(bag, Bag) and bag.value == 4 and bag.size == 4 and bag.array.dtype == np.float32
    assert bag.increment(3).tolist() == [3] * 4 and bag.increment(4.5).tolist() == [7.5] * 4
    assert bag.add(1, 2) == 3 and Bag.add(1.5, 2) == 3.5 and bag.doubled() == 4 * 13.5 and bag.doubled(0) == 4 * 13.5
    bag.value = 9
    assert bag.value == 9 and Bag(2, 5).array.tolist() == [3, 3]
    assert (Point(2, 3).x, Point(2, 3).y, Point(2, 3).tag) == (2.0, 3.0, "p2")


def test_objects_in_compiled_functions():
    @njit
    def use(bag, n):
        other = Bag(n)
        other.increment(bag.value)
        bag.value += 10
        bag.increment(0.5)
        p = Point(bag.value, other.size)
        p.x *= 2
        return other.doubled(1) + bag.size, other, bag, p.x, p.tag

    bag = Bag(4)
    total, other, same, x, tag = use(bag, 3)
    assert total == 3 * 6 + 4 and same is bag and bag.value == 14 and bag.array.tolist() == [0.5] * 4
    assert isinstance(other, Bag) and other.array.tolist() == [6.0] * 3 and (x, tag) == (28.0, "p14")


def test_objects_hold_objects_and_lists():
    @jitclass([("items", types.ListType(float64)), ("p", Point.class_type.instance_type), ("n", int64)])
    class Holder:
        def __init__(self, p):
            self.p = p

        def put(self, x):
            self.items.append(x)
            self.p.x += x
            self.n += 1
            return len(self.items)

    p = Point(1, 2)
    holder = Holder(p)
    assert [holder.put(2.0), holder.put(3.0)] == [1, 2]
    assert list(holder.items) == [2, 3] and holder.n == 2 and holder.p is p and p.x == 6

    @njit
    def many(points):
        t = 0.0
        for q in points:
            q.y += 1
            t += q.x * q.y
        return t

    points = List([Point(k, k) for k in range(3)])
    assert many(points) == 0 + 1 * 2 + 2 * 3 and [q.y for q in points] == [1, 2, 3]


def test_what_is_refused():
    bag = Bag(2)

    def read(b):
        return b.missing

    def write(b):
        b.array = 3

    def call(b):
        return b.missing(1)

    def index(b):
        return b[0]

    for f, error, words in (
        (read, TypeError, "no attribute 'missing'"),
        (write, TypeError, "the field 'array' is .* and takes no int64"),
        (call, TypeError, "no method 'missing'"),
        (index, TypeError, "Bag is no list"),
    ):
        with pytest.raises(error, match=f"(?s){words}.*line"):
            njit(f)(bag)
    with pytest.raises(TypeError, match="base class"):
        jitclass([("x", int64)])(type("Derived", (Bag,), {}))
    assert not hasattr(bag, "missing")
