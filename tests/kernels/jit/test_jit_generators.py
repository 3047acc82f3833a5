"""Functions that yield: consumed by compiled functions and by Python."""

import gc

import numpy as np
import pytest
import tutti as tt
from tutti.compat.numba import njit, pndindex

pytestmark = pytest.mark.skipif("no C compiler" in tt.info(), reason="no C compiler")


@njit
def parts(a, n):
    for i in range(n):
        for j in range(i):
            if j == 3:
                break
            yield a[j] + i
        k = 0
        while k < 2:
            k += 1
            if k == 1:
                continue
            yield -1.0


def test_values_come_one_after_the_other():
    a = np.arange(6.0)
    assert list(parts(a, 6)) == list(parts.py_func(a, 6))
    it = parts(a, 3)
    assert iter(it) is it
    first = next(it)
    a[:] = 100  # what it goes on with is the caller's memory
    assert [first, *it] == [-1.0, 101.0, -1.0, 102.0, 102.0, -1.0]
    with pytest.raises(StopIteration):
        next(it)


def test_two_of_one_function_do_not_meet():
    a = np.arange(6.0)
    one, other = parts(a, 4), parts(a, 5)
    got = [(next(one), next(other)) for _ in range(4)]
    assert got == list(zip(parts.py_func(a, 4), parts.py_func(a, 5)))[:4]


def test_ways_to_consume():
    def use(a, n):
        t = 0.0
        for x in parts(a, n):
            if x < 0:
                continue
            if x > 6:
                break
            t += x
        for i, x in enumerate(parts(a, n), 2):
            t += i * x
        for x, y in zip(parts(a, n), a):
            t += x * y
        it = parts(a, n)
        t += next(it)
        rest = [x for x in it]
        return t, len(rest), sum(parts(a, n)), max(parts(a, n)), sorted(parts(a, n))[0], list(parts(a, 2))

    a = np.arange(7.0)

    def plain(a, n):
        names = {"parts": parts.py_func}
        return type(use)(use.__code__, names)(a, n)

    assert njit(use)(a, 6) == plain(a, 6)


def test_the_end_is_an_exception():
    @njit
    def drained(a):
        it = parts(a, 3)
        t = 0
        try:
            while True:
                next(it)
                t += 1
        except StopIteration:
            t += 100
        return t

    assert drained(np.arange(4.0)) == 100 + len(list(parts.py_func(np.arange(4.0), 3)))
    with pytest.raises(StopIteration):
        njit(lambda a: next(parts(a, 0)))(np.ones(1))


def test_what_is_yielded():
    @njit
    def words(n):
        s = ""
        for i in range(n):
            s += str(i)
            yield s, (i, i * 0.5)
        yield from [("x", (1, 2.0)), ("y", (3, 4.0))]

    assert list(words(3)) == list(words.py_func(3))

    @njit
    def arrays(n):
        for i in range(n):
            yield np.full(i + 1, i)

    kept = list(arrays(4))
    gc.collect()
    assert [a.tolist() for a in kept] == [[0], [1, 1], [2, 2, 2], [3, 3, 3, 3]]

    @njit
    def lists(n):
        x = [0]
        for i in range(n):
            x.append(i)
            yield x

    assert [list(x) for x in lists(3)] == [[0, 0], [0, 0, 1], [0, 0, 1, 2]]


def test_memory_outlives_the_generator():
    @njit
    def own(n):
        b = np.zeros(3)
        for i in range(n):
            b[i % 3] += 1
            yield b

    it = own(5)
    first, second = next(it), next(it)
    del it
    gc.collect()
    assert np.shares_memory(first, second) and first.tolist() == [1, 1, 0]


def test_failures_end_it():
    @njit
    def fails(n):
        for i in range(n):
            if i == 2:
                raise ValueError("at", i)
            yield i

    it = fails(5)
    assert [next(it), next(it)] == [0, 1]
    with pytest.raises(ValueError, match="at") as caught:
        next(it)
    assert caught.value.args == ("at", 2) and list(it) == []


def test_generators_within_and_of_generators():
    @njit
    def outer(n):
        def inner(k):
            for i in range(k):
                yield i * n

        for x in inner(n):
            yield x + 1

    assert list(outer(4)) == [1, 5, 9, 13]


def test_places():
    def walk(a):
        t = 0.0
        for i, j in np.ndindex(a.shape):
            if j == 2:
                continue
            t = t * 0.5 + a[i, j] * i
            if t > 50:
                break
        for ij, v in np.ndenumerate(a):
            t += v * ij[0]
        for k, v in enumerate(a.flat):
            t += k * v
        for ij in np.ndindex(2, 3):
            t += ij[1]
        return t

    a = np.arange(12.0).reshape(3, 4)
    for b in (a, a.T, a[:, ::2], a[:0]):
        assert njit(walk)(b) == walk(b)

    @njit(parallel=True)
    def total(a):
        s = 0.0
        for ij in pndindex(a.shape):
            s += a[ij]
        return s

    assert total(a) == a.sum()


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("def f(n):\n    x = yield n", NotImplementedError, "as a value.*line 2"),
        (
            "def f(n):\n    try:\n        yield n\n    except ValueError:\n        pass",
            NotImplementedError,
            "yield inside try",
        ),
        ("def f(n):\n    try:\n        yield n\n    finally:\n        n = 1", NotImplementedError, "yield inside try"),
        ("def f(n):\n    yield n\n    return 3", NotImplementedError, "return of a value in a generator"),
        ("def f(n):\n    if False:\n        yield 1", TypeError, "does not yield any value"),
        ("def f(n):\n    yield n\n    yield 'a'", TypeError, "Cannot unify what is yielded.*line 3"),
        ("def f(n):\n    return next([1, n])", NotImplementedError, r"next\(\) of"),
    ],
)
def test_what_is_refused(text, error, words, tmp_path):
    path = tmp_path / "refused.py"
    path.write_text(text + "\n")
    names = {}
    exec(compile(path.read_text(), str(path), "exec"), names)
    with pytest.raises(error, match=f"(?s){words}"):
        njit(names["f"])(1)


def test_a_kernel_has_none():
    @tt.cuda.jit
    def kernel(x):
        for v in parts(x, 2):
            x[0] = v

    with pytest.raises(NotImplementedError, match="a generator in a kernel"):
        kernel[1, 1](np.zeros(3))
