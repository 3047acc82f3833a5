"""Calls with unusual arguments, one line each: the results of NumPy, its errors in its words, its warnings."""

import operator
import warnings

import numpy as np
import tutti as tt
from test_same import lines

CALLS = """
m.dot(A([1., 2]), A([3., 4]), out=m.empty((), "float32"))
m.dot(A([[1., 2], [3, 4]]), A([[3., 4], [1, 2]]), out=m.empty((2, 2), order="F"))
m.dot(A([[1., 2], [3, 4]]), A([[3., 4], [1, 2]]), out=m.empty((3, 2)))
m.dot(A([[1., 2], [3, 4]]), A([[3., 4], [1, 2]]), out=m.empty((2, 2)))
m.nan_to_num(A([m.nan, 1, m.inf]), nan=[1, 2, 3.])
m.nan_to_num(A([m.nan, 1, m.inf]), nan=[1, 2.])
m.nan_to_num(A([m.nan, 1, m.inf]), nan=A([[1.], [2.]]))
m.nan_to_num(A([m.nan, 1, m.inf]), posinf=A([[1.], [2.]]))
m.trapezoid(A([1, 5, 2], "uint8"))
m.trapezoid(A([1, 5, 2], "int8"), A([3, 1, 2], "uint8"))
m.trapezoid(A([True, False]))
m.unwrap(A([1, 5, 2], "uint8"))
m.unwrap(A([1, 5, 2, 200], "uint64"), period=4)
m.unwrap(A([1, 5, 2, 100], "int8"), period=4)
A([1., 2]).fill([1])
A([1., 2]).fill(A([1]))
A([1, 2]).fill(m.nan)
A([1, 2], "uint8").fill(300)
m.argmax(A([[1., 2]]), axis=0, out=m.zeros(2, "int32"))
m.argmax(A([[1., 2]]), axis=0, out=m.zeros(2, "float64"))
m.argmax(A([[1., 2]]), axis=0, out=m.zeros(3, "int64"))
m.argmax(A([[1., 2]]), axis=())
m.indices(3)
m.indices((True, 2))
m.zeros((True, 2))
m.diag_indices(-1)
m.histogram(A([True, False, True]))
m.cross(A([1., 2]), A([3., 4]))  # before 2.5
m.cross(A([1., 2, 3]), A([3., 4]))  # before 2.5
m.row_stack([[1, 2], [3, 4]])  # before 2.5
m.fft.fftn(m.ones((2, 3)), (2, 2))
m.copyto(*[m.broadcast_to(m.arange(3.), (2, 3))] * 2)
m.sum(A([1., 2]), where=A([1, 0]))
m.sum(A([1., 2]), where=[1, 0])
m.sum(A([1., 2]), where=None)
m.add(A([1, 2]), 1, where=A([True, True]))
m.add(A([1, 2]), 1, where=A([True, True]), out=None)
m.add(A([1, 2]), 1, where=[True, True], out=m.zeros(2))
m.sqrt(A([1., 4]), where=A([1., 0]))
m.sum(A([1., 2]), initial=[1, 2])
m.max(A([1., 2]), initial=1j)
m.sort(A([2, 1]), kind="sort", stable=True)
A([2, 1]).argpartition(1, order=1)
m.take(A([1., 2]), [0], mode="r")
m.put(m.broadcast_to(m.arange(3), (2, 3)), [0], 1)
m.zeros(3, like=1)
m.array([1, 2], like="x")
m.heaviside(1 + 0j, A([1., 2]), casting="safe")
m.fabs(A([1, 2], "uint64"), casting="equiv")
m.diagonal(m.ones((2, 2)), axis1=None)
m.clip(A([1., 2]), 1)
m.clip(A([1., 2]), 1, None)
m.clip(A([1., 2]), a_max=1)
m.clip(A([1., 2]), max=1)
m.clip(A([1., 2]), 0, 1, min=2)
A([1., 2]).clip(1.5)
m.take(A([1., 2]), [1.5])
m.array(2**70, dtype=float)
m.array([2**70, 1.5], dtype="float32")
m.array([2**70, 0], dtype=bool)
m.array([[2**70], [1]], dtype=complex)
m.array([2**1100], dtype=float)
m.array([2**70], dtype="int64")
m.array([[1, 2]], ndmax=2)
m.size(m.ones((2, 3, 4)), (0, -1))
op.imatmul(m.ones((2, 2)), m.ones((2, 2), complex))
m.degrees(m.broadcast_to(m.arange(3.), (2, 3)), dtype="float32", order="C").flags.c_contiguous
A([1 + 2j]).byteswap()
m.polynomial.polynomial.polyval(A([1., 2]), m.inf)
m.emath.arccos(A([2.], "float16"))
m.vectorize(lambda a, b: a + b, otypes=[float])(A([1, 2]), 3)
m.vectorize(lambda a, b: a @ b, signature="(n),(n)->()")(m.ones((2, 3)), m.ones(3))
m.vectorize(lambda a: (a.sum(), a[::-1]), signature="(n)->(),(n)")(A([[1, 2], [3, 4]]))
m.vectorize(lambda a, b: a @ b, signature="(n),(n)->()")(m.ones((2, 3)), m.ones(2))
m.vectorize(lambda a, b: a + b, excluded=["b"])(A([1, 2]), b=3)
m.vectorize(lambda a, b: a + b, excluded={1})(A([1, 2]), 3)
m.vectorize(int)(A([1.5, 2]))
m.vectorize(abs, otypes="d")(A([-1, 2]))
m.vectorize(divmod)(A([5, 7]), 3)
m.vectorize(lambda a, b: (a, b), otypes="di")(A([5, 7]), 3)
m.vectorize(lambda a: a)(A([]))
m.vectorize(lambda a: a, otypes="f")(A([]))
m.vectorize(lambda a: a, otypes="?x")(A([1]))
"""


def outcome(m, text):
    with warnings.catch_warnings(record=True) as caught, np.errstate(all="ignore"):
        warnings.simplefilter("always")
        try:
            made = eval(text, {"m": m, "A": m.array, "op": operator})
            result = [
                (np.asarray(x).tolist(), str(x.dtype), x.shape) if hasattr(x, "dtype") else x
                for x in (made if isinstance(made, (tuple, list)) else [made])
            ]
        except Exception as e:
            result = next(t.__name__ for t in type(e).__mro__ if t.__module__ == "builtins"), str(e)
    return result, [(w.category.__name__, str(w.message)) for w in caught]


@lines(CALLS)
def test_call(text):
    (want, said), (got, ours_said) = outcome(np, text), outcome(tt, text)
    assert [c for c, words in ours_said] == [c for c, words in said]
    assert got == want
