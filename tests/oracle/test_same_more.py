"""More expressions whose value, errors and warnings are NumPy's: found by another library's own tests."""

import numpy as np
import pytest
import tutti as tt
from test_same import check, lines

STORES = """
m.copyto(u, -4, where=b)
m.copyto(u, 300, where=False)
m.copyto(u, 300, where=b, casting='unsafe')
m.copyto(u, 2.5, where=b, casting='unsafe'); u
m.copyto(u, 1.0, casting='safe')
m.copyto(f3, 1.5, where=b, casting='safe'); f3
m.copyto(f3, 1j, where=b)
m.copyto(f3, 1j)
m.copyto(f3, 1j, where=b, casting='unsafe'); f3
m.copyto(f3, f3, where=i)
m.copyto(f3, m.ones((1, 1, 3)), where=b); f3
m.copyto(f3, m.ones((2, 1, 3)), where=b)
m.copyto(i, f3, where=b)
a.flat[...] = [1, 2]; a
a.flat[::2] = m.asarray([7.0, 8.0]); a
a.flat[:2] = [[7, 8, 9]]; a
a.flat[[0, 4]] = 9; a
a.flat[3] = 9; a
a.flat[...] = []; a
a.T.flat[1:3] = [7, 8]; a
"""

FLAT = """
a.flat[None]
a.flat[[True] * 6]
a.flat[1, 2]
a.flat[1,]
a.flat[()]
a.flat[[]]
a.flat[[0, 5]]
a.flat[4]
a.flat[7]
a.T.flat[::2]
m.ravel(m.broadcast_to(a, (2, 2, 3)), order='K')
m.ravel(m.broadcast_to(a[:, None], (2, 4, 3)), order='K')
m.ravel(m.broadcast_to(a[:1, None], (2, 4, 3)), order='A')
m.broadcast_to(a.T, (2, 3, 2)).flatten('K')
m.ravel(B.T[::2], order='K')
"""

ARGUMENTS = """
m.diag_indices(-3, 2)
m.diag_indices(0, 1)
m.unravel_index([1], (2, 3), order='V')
m.unravel_index([1], (2, 3), order='A')
m.ravel_multi_index(([1], [1]), (2, 3), order='A')
m.ravel_multi_index(([1], [1]), (2, 3), order='F')
m.pad(i, [])
m.pad(i, 1, notallowed=3)
m.pad(i, 1, stat_length=3)
m.pad(i, 1.0)
m.pad(a, {1: 2})
m.pad(a, {-1: (1, 2), 0: 1}, constant_values=4)
m.pad(a, {2: 1})
m.mgrid[m.zeros(3)[:, None]:m.ones(3)[:, None]:5j]
m.mgrid[0:2:3j]
m.row_stack([f3, f3])
m.broadcast_arrays(f3, a)
m.meshgrid(f3, f)
type(m.broadcast_arrays(f3, a)) is tuple
type(m.meshgrid(f3)) is tuple
m.meshgrid()
m.issubdtype(f3.dtype, np.floating)
m.issubdtype(np.float32, np.integer)
m.issubdtype(i.dtype, np.signedinteger)
m.issubdtype(np.integer, np.number)
m.issubdtype(m.floating, np.inexact)
m.issubdtype(np.float64, np.float64)
"""


@lines(STORES)
def test_stores(text):
    check(text)


@lines(FLAT)
def test_flat(text):
    check(text)


@lines(ARGUMENTS)
def test_arguments(text):
    check(text)


@pytest.mark.parametrize("order", "CFK")
@pytest.mark.parametrize(
    "view",
    [
        lambda a: a,
        lambda a: a.T,
        lambda a: a.transpose(1, 0, 2),
        lambda a: a.transpose(2, 0, 1)[::2],
        lambda a: a.T[:, ::-1],
        lambda a: a[:, :1].transpose(1, 2, 0),
        lambda a: np.lib.stride_tricks.as_strided(a[0].T, (2, 4, 3), (0, 8, 32), writeable=True),
        lambda a: a.T.astype(">f8"),
        lambda a: a[:0].T,
    ],
)
def test_memory_of_others_keeps_its_order(view, order):
    theirs = view(np.arange(24.0).reshape(2, 3, 4))
    for make in (tt.array, tt.asarray):
        ours = make(theirs, order=order)
        like = np.array(theirs, order=order)
        assert (ours.flags.c_contiguous, ours.flags.f_contiguous) == (like.flags.c_contiguous, like.flags.f_contiguous)
        assert np.array_equal(ours.numpy(), theirs)
        steps = [(s, n) for s, n in zip(ours.strides, ours.shape) if n > 1]
        assert steps == [(s, n) for s, n in zip(like.strides, like.shape) if n > 1] or theirs.size == 0


def test_pad_calls_a_function():
    def fill(line, widths, axis, kwargs):
        line[: widths[0]] = kwargs.get("value", 10) + axis
        line[len(line) - widths[1] :] = line[widths[0]]

    for widths in (2, (1, 2), ((1, 0), (2, 3)), {1: 2}):
        want = np.pad(np.arange(6.0).reshape(2, 3), widths, fill, value=4)
        assert np.array_equal(tt.pad(tt.arange(6.0).reshape(2, 3), widths, fill, value=4), want)
