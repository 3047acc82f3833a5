"""NumPy's functions in compiled functions that are the library's own: results, types and shapes as NumPy's."""

import linecache

import numpy as np
import pytest
import tutti as tt

r = np.random.default_rng(3)
ARGUMENTS = (
    r.random(10),
    r.random((4, 3)),
    np.array([5, 3, 8, 3, 0, 7, 7, 1]),
    r.random((4, 4)) + 3 * np.eye(4),
    r.random(6).astype("f4"),
)
CALLS = """
np.sort(a)
np.sort(f)
np.argsort(a)
a.argsort()
np.diff(a)
np.concatenate((a, a))
np.stack((a, 2 * a))
np.vstack((b, b))
np.hstack((a, f))
np.median(a)
np.percentile(a, 30)
np.quantile(a, 0.3)
np.histogram(a, 4)
np.bincount(i)
np.searchsorted(np.sort(a), a, side="right")
np.unique(i)
np.unique(i, return_counts=True)
np.nonzero(i)
i.nonzero()
np.where(i > 3)
np.roll(a, 2)
np.roll(a, len(i))
np.flip(b, axis=1)
np.outer(a, a)
np.kron(m, m)
np.trace(m)
np.tril(m)
np.interp(0.5, np.sort(a), a)
np.convolve(a, a)
np.cumsum(b, axis=1)
b.cumsum(1)
np.sum(b, axis=1, keepdims=True)
np.std(a, ddof=1)
np.linalg.solve(m, m[0])
np.linalg.inv(m)
np.linalg.det(m)
np.linalg.eigh(m + m.T)
np.linalg.qr(m)
np.linalg.svd(m)
np.linalg.cholesky(m @ m.T)
np.linalg.lstsq(m, m[0])[0]
np.linalg.matrix_power(m, 3)
np.fft.fft(a)
np.fft.rfft(a)
np.meshgrid(a, f)
np.cross(b[0], b[1])
np.partition(a, 3)[3]
np.append(a, 2.0)
np.repeat(a, 2)
np.round(a, 2)
np.argmax(b, axis=1)
np.select([a > 0.5, a > 0.2], [a, a * 2], 0.0)
np.digitize(a, np.array([0.2, 0.5]))
np.sort(b[:, 1])
np.sort([3, 1, n])
(np.shape(b), np.ndim(b), np.size(b))
""".strip().split("\n")


def made(call, name):
    text = f"def f(a, b, i, m, f, n):\n    return {call}\n"
    linecache.cache[name] = len(text), None, text.splitlines(True), name
    space = {"np": np}
    exec(compile(text, name, "exec"), space)
    return space["f"]


def flat(value):
    return [x for part in value for x in flat(part)] if isinstance(value, tuple) else [np.asarray(value)]


@pytest.mark.parametrize("k", range(len(CALLS)))
def test_calls(k):
    f = made(CALLS[k], f"<library call {k}>")
    got, want = flat(tt.njit(f)(*ARGUMENTS, 2)), flat(f(*ARGUMENTS, 2))
    assert [(x.dtype, x.shape) for x in got] == [(x.dtype, x.shape) for x in want]
    free = any(name in CALLS[k] for name in ("eigh", "qr", "svd"))  # vectors' signs, which devices choose otherwise
    for x, y in zip(got, want):
        x, y = (abs(x), abs(y)) if free else (x, y)
        np.testing.assert_allclose(x, y, rtol=1e-12 if x.dtype != np.float32 else 1e-6)


@pytest.mark.parametrize("shape", [(2, 3, 4), (20, 30, 40), (1, 300, 200)])
@pytest.mark.parametrize("dtype", ["f4", "f8", "i8", "c16"])
def test_products_of_any_size(shape, dtype):
    n, k, m = shape
    a, b = (10 * r.random((n, k))).astype(dtype), (10 * r.random((k, m))).astype(dtype)
    f = tt.njit(lambda a, b: (a @ b, np.dot(a, b[:, 0]), a[0] @ b))
    for x, y in zip(f(a, b), f.py_func(a, b)):
        assert x.dtype == y.dtype and x.shape == y.shape
        np.testing.assert_allclose(x, y, rtol=1e-4 if dtype == "f4" else 1e-12)


def test_sort_in_place():
    @tt.njit
    def f(a):
        a[1:].sort()
        return a[1]

    a = np.array([9.0, 3.0, 1.0, 2.0])
    assert f(a) == 1 and a.tolist() == [9, 1, 2, 3]


def test_in_loops_and_threads():
    @tt.njit(parallel=True)
    def f(a):
        out = np.zeros(len(a))
        for k in tt.prange(len(a)):
            out[k] = np.median(a[k])
        return out

    a = r.random((40, 7))
    assert np.array_equal(f(a), np.median(a, axis=1))


def test_what_fails():
    with pytest.raises(np.linalg.LinAlgError if hasattr(tt, "LinAlgError") else Exception, match="(?s)line"):
        tt.njit(lambda m: np.linalg.inv(m))(np.zeros((2, 2)))
    with pytest.raises(NotImplementedError, match="np.no_such|put"):
        tt.njit(lambda a: np.put(a, 0, 1.0))(np.zeros(3))
    with pytest.raises(TypeError, match="'wrong'"):
        tt.njit(lambda a: np.sort(a, wrong=1))(np.zeros(3))
    with pytest.raises(NotImplementedError, match="in a kernel"):
        tt.cuda.jit(lambda a: np.sort(a))[1, 1](np.zeros(3))
