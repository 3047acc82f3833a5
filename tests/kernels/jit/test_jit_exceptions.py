"""try, except, else, finally, raise and assert in compiled functions: Python's results, exceptions and arguments."""

import traceback

import numpy as np
import pytest
import tutti as tt

pytestmark = pytest.mark.skipif("no C compiler" in tt.info(), reason="no C compiler")


class OwnError(Exception):
    def __init__(self, first, second=0):
        super().__init__(first, second)


@tt.njit
def inner(x):
    if x == 1:
        raise ValueError("one")
    if x == 2:
        raise OwnError(3, 4)
    return 12 // x


@tt.njit
def sorted_by_class(x):
    way = 0
    try:
        way = 5
        way += inner(x)
    except ValueError:
        way += 100
    except (KeyError, ZeroDivisionError):
        way += 200
    else:
        way += 1000
    finally:
        way += 10000
    return way


@tt.njit
def loop(a, n):
    t = 0
    for i in range(n):
        try:
            if i % 3 == 0:
                continue
            if i == 8:
                break
            t += 10 // a[i % len(a)]
            if i == 10:
                return -t
        except ZeroDivisionError:
            t -= 1
            continue
        finally:
            t += 100
    return t


@tt.njit
def nested(n):
    while True:
        try:
            try:
                n += 1
                if n > 20:
                    return n
                inner(n)
            finally:
                n += 2
        except Exception:
            n += 3


@tt.njit
def with_values(x, s):
    if x > 1:
        raise ValueError(f"bad {x} é'", s, (x, 1.5, None, True))
    assert x != 0, s + "!"
    assert x != -1
    return x


def outcome(f, *args):
    try:
        return f(*args)
    except Exception as error:
        return type(error), error.args


@pytest.mark.parametrize("f", [sorted_by_class, nested], ids=lambda f: f.__name__)
def test_as_python(f):
    for x in range(-3, 8):
        assert outcome(f, x) == outcome(f.py_func, x)


def test_ways_out_of_loops_go_through_finally():
    for n in range(14):
        for last in (0, 5):
            a = (1, 2, 3, last)
            assert loop(np.array(a), n) == loop.py_func(a, n)


def test_exceptions_have_their_own_class_and_arguments():
    assert outcome(with_values, 2, "täst") == (ValueError, ("bad 2 é'", "täst", (2, 1.5, None, True)))
    assert outcome(with_values, 0, "n") == (AssertionError, ("n!",)) and outcome(with_values, 1, "") == 1
    assert outcome(with_values, -1, "") == (AssertionError, ())
    with pytest.raises(OwnError) as raised:
        sorted_by_class(2)
    last = traceback.extract_tb(raised.value.__traceback__)[-1]
    assert (last.name, last.lineno, last.filename) == (
        "inner", inner.py_func.__code__.co_firstlineno + 5, __file__
    )  # fmt: skip
    assert "^" not in traceback.format_exc()


class Picky(Exception):
    def __init__(self, one):
        super().__init__(one)


def test_a_class_that_does_not_take_its_arguments():
    @tt.njit
    def f():
        raise Picky()

    with pytest.raises(TypeError, match="missing 1 required positional argument") as raised:
        f()
    assert traceback.extract_tb(raised.value.__traceback__)[-1].line == "raise Picky()"


def test_each_turn_of_a_parallel_loop_catches_its_own():
    @tt.njit(parallel=True)
    def f(n):
        out = np.zeros(n)
        for i in tt.prange(n):
            try:
                if i % 2:
                    raise ValueError("odd")
                out[i] = 1
            except ValueError:
                out[i] = -1
        return out

    assert f(1000).tolist() == [1.0, -1.0] * 500


def test_what_a_library_call_fails_with_is_caught():
    @tt.njit
    def f(a):
        try:
            return np.linalg.cholesky(a)[0, 0]
        except Exception:
            return -1.0

    assert f(np.eye(3)) == 1 and f(-np.eye(3)) == -1


def test_what_is_refused():
    def kernel(a):
        try:
            a[0] = 1
        except ValueError:
            pass

    def nothing_caught(x):
        raise

    def class_of_an_argument(x):
        try:
            return x
        except x:
            return 0

    with pytest.raises(NotImplementedError, match="try in a kernel"):
        tt.cuda.jit(kernel)[1, 1](np.zeros(1))
    with pytest.raises(TypeError, match=r"raise without an exception.*\n.*line"):
        tt.njit(nothing_caught)(1)
    with pytest.raises(NotImplementedError, match=r"except x, which is no class.*\n.*line"):
        tt.njit(class_of_an_argument)(1)
