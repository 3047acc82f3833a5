"""What compiled functions give back: arguments, views of them, arrays of their own, with and without NumPy about."""

import subprocess
import sys

import numpy as np
import pytest
import tutti as tt


@tt.jit
def itself(a):
    return a


@tt.jit
def written(a):
    a[0] = 7
    return a


@tt.jit
def part(a):
    return a[1:3]


@tt.jit
def backwards(a):
    return a[::-1]


@tt.jit
def every_other(a):
    return a[::2]


@tt.jit
def written_part(a):
    a[1] = 5
    return a[1:]


@tt.jit
def nothing(a):
    return a[:0]


@tt.jit
def last(a):
    return a[len(a) - 1 :]


@tt.jit
def double(a):
    return a + a


@tt.jit
def several(a):
    return a + a, a[::2], a.sum(), a


FUNCTIONS = [itself, written, part, backwards, every_other, written_part, nothing, last, double, several]
MAKERS = {
    "line": lambda m: m.arange(6.0),
    "plane": lambda m: m.arange(12.0).reshape(4, 3),
    "turned": lambda m: m.arange(12.0).reshape(3, 4).T,
    "reversed": lambda m: m.arange(12.0)[::-1],
    "gaps": lambda m: m.arange(12, dtype="i2")[::3],
    "wide": lambda m: m.broadcast_to(m.arange(3.0), (4, 3)).copy(),
    "halves": lambda m: m.arange(6, dtype="f4"),
    "bytes": lambda m: m.arange(6, dtype="u1"),
    "complex": lambda m: m.arange(6) * (1 + 2j),
}


def each(result):
    return result if isinstance(result, tuple) else (result,)


def frozen(result):
    return [np.array(r) for r in each(result)]


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_arrays_of_ours_give_arrays_of_ours(function, maker):
    x, y = MAKERS[maker](tt), MAKERS[maker](np)
    got, want = function(x), function.py_func(y)
    first = frozen(got)
    for _ in range(3):
        function(MAKERS[maker](tt) + 1)  # takes memory that would have been given back
    for result, a, b, w in zip(each(got), first, frozen(got), each(want)):
        if isinstance(w, np.ndarray):
            assert isinstance(result, tt.ndarray)
        np.testing.assert_array_equal(a, w, strict=isinstance(w, np.ndarray))
        np.testing.assert_array_equal(b, a)
    np.testing.assert_array_equal(x.numpy(), y)


@tt.jit
def operators(a, b):
    return a + b, a - b, a * b, a // b, a % b, -a


@tt.jit
def with_numbers(a):
    return a * 2, 1 + a, a**2, a - 3, 2 - a


@tt.jit
def with_bits(a, b):
    return a & b, a | b, a ^ b, ~a


WHOLE = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]


@pytest.mark.parametrize("dtype", [*WHOLE, "f4", "f8"])
def test_types_of_array_expressions(dtype):
    """Of arrays alone they are NumPy's, and whole numbers wrap as there."""
    for other in (dtype, "i2", "u4"):
        a, b = np.array([1, 100, 3, 127]).astype(dtype), np.array([5, 100, 2, 1]).astype(other)
        both = [(operators, (a, b))]
        if dtype in WHOLE:
            both += [(with_bits, (a, b))]
        else:
            both += [(with_numbers, (a,))]
        for function, arguments in both:
            if dtype in WHOLE and np.result_type(a, b).kind == "f":
                continue  # int64 with uint64: whole numbers stay whole, as in Numba
            with np.errstate(over="ignore"):
                want = function.py_func(*arguments)
            for got, w in zip(function(*arguments), want):
                np.testing.assert_array_equal(got, w, strict=True)


def test_tuples_with_nothing_in_them():
    @tt.jit
    def pair(x):
        return x * 2, (None, x), None

    assert pair(3.0) == (6.0, (None, 3.0), None)


def test_the_argument_comes_back():
    for x in (tt.arange(4.0), tt.arange(12.0).reshape(3, 4).T, np.arange(3.0)):
        assert itself(x) is x
        assert written(x) is x


def test_views_go_both_ways():
    x = tt.arange(6.0)
    y = part(x)
    y[0] = 50
    x[2] = 60
    assert y.tolist() == [50, 60]
    assert x.tolist() == [0, 50, 60, 3, 4, 5]


def test_results_outlive_what_they_came_from():
    x = tt.arange(6.0)
    views = part(x), backwards(x), double(x)
    x += 100
    del x
    assert [v.tolist() for v in views] == [[101, 102], [105, 104, 103, 102, 101, 100], [0, 2, 4, 6, 8, 10]]


def test_arrays_of_numpy_give_arrays_of_numpy():
    for result in several(np.arange(4.0))[:2]:
        assert type(result) is np.ndarray
    assert type(double(np.arange(4.0))) is np.ndarray


PROGRAM = """
import sys
sys.path.insert(0, {folder!r})
import tutti as tt
from jit_results import f
assert "numpy" not in sys.modules
x = tt.arange(8.0)
double, view, empty, none = f(x, True)
assert "numpy" not in sys.modules
assert all(isinstance(a, tt.ndarray) for a in (double, view, empty)), (type(double), type(view))
x += 1
assert double.tolist() == [2.0 * k for k in range(8)], double
assert view.tolist() == [8.0, 5.0, 2.0], view
assert empty.shape == (0,) and none is None
print("right")
"""
MODULE = """
import tutti as tt

@tt.jit
def f(a, nothing):
    return a * 2, a[::-3], a[:0], None
"""


def test_without_numpy(tmp_path):
    (tmp_path / "jit_results.py").write_text(MODULE)
    done = subprocess.run([sys.executable, "-c", PROGRAM.format(folder=str(tmp_path))], capture_output=True, text=True)
    assert done.stdout == "right\n", done.stderr


def test_results_that_share_memory_keep_it():
    @tt.njit
    def f(n):
        a = np.ones(n)
        return a, a[1:], [a, a], a.reshape(2, n // 2)

    whole = f(1000)
    part, twice, rows = whole[1], whole[2], whole[3]
    del whole
    junk = [np.full(1008, 7.0) for _ in range(50)]
    assert (part == 1).all() and (twice[0] == 1).all() and (rows == 1).all() and len(junk) == 50
    part[0] = 5
    assert rows[0, 1] == twice[1][1] == 5
