"""More expressions whose value, errors and warnings are NumPy's: found by another library's own tests."""

import numpy as np
import pytest
import tutti as tt
from test_same import check, lines

STORES = """
w = m.broadcast_to(f3, (2, 3)); w[1.5] = 0
w = m.broadcast_to(f3, (2, 3)); w[9] = 0
f3.item(0, 'x')
m.arange(6).reshape(2, 3).item(0, 'x')
m.choose(f3, [f3, f3], mode='constant')
b ** 2
b ** 3
m.power(b, 2)
(m.degrees(m.arange(1, 1000, dtype='f4')) * 2 ** 20).astype(int)
(m.radians(m.arange(1, 1000, dtype='f4')) * 2 ** 26).astype(int)
z[0] = z
z[0] = [1, 2]
z[0] += z[:1]
z[0] = f3[:0]
z.fill(f3); z
z.sum()[()] = z; z
f3[0] = z
f3.fill(z)
x = b.copy(); x **= 2
m.geomspace(m.float32(1), m.float32(100), 3)
m.geomspace(0, f3[:0])
m.geomspace(f3[:0], 2)
m.geomspace(f3 + 1, 2, 3)
m.geomspace(f3, 2, 3)
m.geomspace(np.float16(1), 100, 3, dtype='f4')
m.trapezoid(f3.astype('f4'), dx=np.float64(2))
m.trapezoid(f3.astype('f4'), dx=m.float64(2))
m.trapezoid(f3.astype('f4'), dx=2.0)
m.trapezoid(f3, dx=None)
m.unwrap(m.asarray([1, 5, 9, 13], 'f4'), period=np.float64(6))
m.unwrap(m.asarray([1, 5, 9, 13], 'f4'), period=6.0)
m.unwrap(m.asarray([1, 5, 9, 13]), period=np.int64(6))
m.unwrap(m.asarray([1, 5, 9, 13]), period=np.int8(6))
m.roll(m.arange(5), 1.5), m.roll(m.arange(5), -1.5), m.roll(m.arange(5), (1.5, 2.5), 0)
m.roll(m.arange(5), m.asarray(2.5))
m.roll(m.arange(5), m.nan)
m.roll(m.arange(5), m.inf)
m.unravel_index([1.5], (2, 3))
m.unravel_index([7.5], (2, 3), order='Q')
m.unravel_index([], (2, 3))
m.unravel_index(m.zeros(0, int), (2, 3))
[t for t in m.add.types if not set(t) & set('gGqQmMOE')]
m.polyval(m.poly1d(np.array([1, 2], 'f4')), m.poly1d(np.array([1, 2], 'f4'))).coeffs
m.putmask(i, b, m.float64(2.5)); i
m.putmask(i, b, np.uint32(7)); i
m.putmask(b, b, m.uint8(2)); b
m.putmask(i, b, m.asarray(2.5))
m.place(i, [1, 0, 1], m.float64(2.5)); i
i[1:] = m.nan % m.int8(3)
i[1:] = m.float64(1) / 0
w = m.broadcast_to(f3, (2, 3)); m.copyto(w, w[:], where=b); w
m.copyto(f3, f3, where=m.ones((2, 3), bool))
z = m.asarray(1.0); m.copyto(z, z, where=m.ones(2, bool))
m.concatenate([m.broadcast_to(f3, (2, 3)), m.broadcast_to(f3, (2, 3))]).strides
w = m.broadcast_to(f3, (2, 3)); m.copyto(w, w[:, ::-1], where=b)
w = m.broadcast_to(i, (2, 3)); w[:] = m.float64(1) / 0
hash(m.int8(3)) == hash(3)
x = m.int8(3); y = x; x += 1; y
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
m.mgrid[m.zeros(4)[:, None]:m.ones(4)[:, None]:4j, m.zeros(4)[:, None]:m.ones(4)[:, None]:4j]
m.mgrid[()]
m.ogrid[()]
m.ogrid[m.zeros((10, 1)):m.ones((10, 1)):10j, 0:1:10j]
m.ogrid[m.zeros((3, 1)):m.ones((3, 1)):3j, m.zeros((3, 1)):m.ones((3, 1)):3j]
m.mgrid[0:0.9:7j, 0:1:0.3]
m.ogrid[0:0.9:7j, 0:1:0.3]
m.mgrid[0.1:0.9:23j]
m.mgrid[0:1:1j], m.mgrid[0:1:0j], m.mgrid[0:1:1j, 0:3]
m.mgrid[:3, 1:4], m.ogrid[:3, 1:4:2]
m.mgrid[0:3:m.float32(1), 0:2]
m.mgrid[m.float32(0):m.float32(3):3j]
m.mgrid[np.float32(0):np.float32(3):3j, 0:2]
m.mgrid[0:5:2.7j]
m.ogrid[3:0, 0.5:0:3j, 2:0:0.5]
m.mgrid[5]
m.mgrid[5, 0:2]
m.mgrid[3:0, 0:2]
m.mgrid[0:3:0, 0:2]
m.mgrid[0:3:0]
m.mgrid[3:0:-1, 0:2]
m.mgrid[0:2, 0:3, 0:2], m.mgrid[0:2.0, 0:3]
m.mgrid[True:3, 0:2]
m.r_[0:0.9:7j], m.r_[0:3, 5]
m.row_stack([f3, f3])  # before 2.5
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

CASTS = """
m.positive(1.5, dtype='u1')
m.positive(inf, dtype='u1', casting='safe')
m.positive(300, dtype='u1', casting='unsafe')
m.positive(2 + 1j, dtype=float, casting='unsafe')
m.positive(-1, dtype='u8')
m.divmod(300, 2, dtype='u1')
m.divmod(300, 2, signature=('u1', 'u1', None, None))
m.divmod(1.5, 2, dtype='i1')
m.divmod(7, 2.5, dtype='f4')
m.divmod(True, 2, dtype='i4')
m.divmod(True, 2, dtype='i4', casting='no')
m.add(1.5, 2, signature=('u1', 'u1', None), casting='no')
m.add(1.5, 2, signature='BB->B')
m.add(-2.5, 2, signature='BB->B', casting='unsafe')
m.add(1.5, 2, signature=(None, None, 'u1'))
m.add(300, 2, signature='BB->B', casting='unsafe')
m.add(1.5, m.asarray(2, 'f4'), signature='BB->B')
m.add(2 + 1j, 2, signature='ff->f', casting='unsafe')
m.logaddexp2(True, 1.5, dtype='f4', casting='no')
m.radians(300, casting='no')
m.radians(300, dtype='f2')
m.heaviside(2 + 1j, 1, dtype=float, casting='unsafe')
m.ldexp(1.5, 2, dtype=float)
"""

PRODUCTS = """
m.einsum('ij', u[:, None], dtype='f4')
m.einsum('ij->ji', u[:, None], dtype='f4')
m.einsum('ij->i', u[:, None], dtype='f4')
m.einsum('', 2.5, dtype='f4')
m.einsum('ii', m.ones((2, 1)))
m.einsum('ii->i', m.ones((1, 2)))
m.einsum('ii,j->j', m.ones((2, 1)), f3)
m.einsum(f3, m.asarray([0]), f3, [1], np.array([1, 0]))
m.einsum('ij', a).base is a
m.einsum('ij->ji', a).base is a
m.einsum('ij,j', a, h).base is None
m.dot(a, a.T, out=m.zeros((2, 2)))
m.dot(a, a.T, out=m.zeros((2, 2), order='F'))
m.dot(a, a.T, out=m.zeros((2, 2), dtype='f4'))
m.dot(h, h, out=m.zeros(1))
a.dot(a.T, out=m.zeros((2, 2), dtype=complex))
m.trapezoid(m.asarray([1, 2, 3], dtype='u1'), m.asarray([3, 2, 1], dtype='u1'))
m.trapezoid([1.0, 2, 3], m.asarray([True, False, True]))
m.trapezoid(m.asarray([200, 200], dtype='u1'))
m.trapezoid(b)
m.linalg.solve(m.zeros((3, 3)), m.zeros((3, 0)))
m.linalg.solve(m.eye(3), m.zeros((3, 0)))
m.linalg.solve(m.zeros((2, 3, 3)), m.zeros((2, 3, 0)))
m.linalg.solve(m.zeros((0, 3, 3)), m.zeros((0, 3, 0)))
m.unwrap(m.asarray([5, 7, 6, 5, 4], dtype='u1'))
m.unwrap(m.asarray([5, 7, 6, 5, 4], dtype='u1'), period=4)
m.unwrap(m.asarray([5, 7, 6, 5, 4], dtype='u1'), period=4.0)
m.unwrap(m.asarray([0, 3, 6, 9], dtype='i4'), period=5)
m.unwrap(m.asarray([0, 3, 6, 9], dtype='i4'), period=5.0)
m.unwrap(b)
m.unwrap(u[:1], period=4)
m.unwrap(i[:1])
m.interp([0.5, 1.5, 2.5, 3.5], [0, 1, 2, 3, 4], m.asarray([1 + 1j, inf, 3 - 2j, 2, 1j]))
m.interp([0.5, 1.5], [0, 1, 2], m.asarray([inf + 1j, inf + 2j, inf]))
"""

COUNTS = """
m.histogramdd(m.ones((5, 2), dtype='f4'), bins=3)[1][0]
m.histogramdd(m.ones((5, 2), dtype='f4'), bins=3, range=((0, 2), (0, 2)))[1][0]
m.histogramdd(m.ones((5, 2), dtype='i4'), bins=3)[1][0]
m.histogramdd(m.ones((0, 2), dtype='f4'), bins=3)[1][0]
m.histogram2d(m.ones(3, dtype='f4'), m.ones(3, dtype='f4'), bins=2)[1]
m.histogram2d(m.ones(3, dtype='f4'), m.ones(3, dtype='f4'), bins=2, range=((0, 1), (0, 1)))[1]
m.histogram2d(m.ones(3, dtype='f4'), m.ones(3, dtype='f4'), bins=[2, 3], range=((0, 1), (0, 1)))[2]
m.histogram2d(h.astype('f2'), h.astype('f2'), bins=[7, 3], range=((0, 1.3), (0, 1)), density=True)[:2]
m.histogramdd(m.ones((5, 2), dtype='f2'), bins=(7, 3), range=((0, 1.3), (0, 2)), density=True)[0]
m.histogramdd(m.ones((5, 2), dtype='f2'), bins=(7, 3), range=((0, 1.3), (0, 2)))[1][0]
m.histogram(h, range=[1, 9, 15])
m.random.choice([[0, 1], [2, 3]], 1)
m.random.choice([[0, 1], [2, 3]], 1, p=[0.3, 0.7])
m.random.RandomState(1).choice([[0, 1], [2, 3]], 1)
m.random.choice([], 1)
m.arange(3).take([0, 1], out=m.zeros(2, dtype='f4'))  # from 2.5
m.arange(3.0).take([0, 1], out=m.zeros(2, dtype='i4'))  # before 2.5
m.arange(3).astype('i4').take([0, 1], out=m.zeros(2, dtype='u8'))  # before 2.5
m.ndarray((2, 3), order='F').flags.f_contiguous
m.ndarray((2, 3), 'f4', order='C').flags.f_contiguous
m.ndarray((2, 3), order='Q')
f3.fill(m.asarray([1, 2]))
f3.fill([1, 2])
f3.fill(m.asarray([1])); f3
f3.fill(m.asarray([[1]]))
f3.fill(m.asarray(1)); f3
m.cov(a, dtype='i4')
m.cov(a, dtype='f4')
m.corrcoef(a, dtype=bool)
m.cov(m.ones((1, 3)), f3, False)
m.cov(m.ones((1, 3)), m.ones((1, 3)), False)
m.cov(m.ones((3, 1)), m.ones((1, 3)), False)
m.cov(a, m.ones((1, 2)), False)
m.cov(m.asarray([[1.0, 2, 4]]), rowvar=False, ddof=0)
m.cov(m.zeros((0, 3)), dtype='f4')
m.polyfit([0.0, 1, 2], [1.0, 2, 4], 1, w=[1j, 1, 1])
m.nan_to_num(n, nan=[7, 8, 9])
m.nan_to_num(h, nan=[7, 8])
m.nan_to_num(h, posinf=n)
m.nan_to_num(nan, nan=[7, 8])
m.nan_to_num(i, nan=[7, 8])
m.can_cast(np.complex64(3), 'f4')
m.can_cast(np.int8(3), 'f4')
m.can_cast(np.float32, 'f8')
m.can_cast(np.float64, np.float32)
m.can_cast(m.int8, m.float32)
m.can_cast(np.float64(3), 'f4')
m.can_cast(True, 'f4')
str(m.result_type('u1', np.int8(1)))
str(m.result_type(np.float32(1), np.int64(3)))
str(m.result_type(np.int8(1), 3))
str(m.result_type(np.float64(1), 'f4', 2.0))
str(m.result_type(np.float32(1), 1j))
str(m.result_type(u, np.int8(1)))
m.full(3, np.int8(2))
m.full((2, 3), [1, 2, 3])
m.full(3, True)
m.full(3, 2.5, dtype=int)
m.einsum('i,', m.ones(3, dtype='f4'), np.float64(2))
m.can_cast(np.ones(3, 'f8'), 'f4')
m.can_cast(3, 'f4')
m.ndim(None)
m.ndim('abc')
m.ndim({1: 2})
m.ndim([[1, 2]])
m.apply_along_axis(lambda x: x, 0, m.zeros((0, 3)))
m.apply_along_axis(lambda x: x, 0, m.zeros((3, 0)))
m.piecewise(m.asarray(3), m.asarray([True, False]), [1, 2])
m.piecewise(h, m.asarray([[True, False, True]]), [9, 8])
m.piecewise(h, b, [9, 8])
m.piecewise(h, [b, ~b], [lambda x: x + 1, lambda x: 1 / len(x)])
m.piecewise(h, [h > 9], [lambda x: x / 0, 4])
m.piecewise(3, [True], [1])
type(m.polyadd(m.poly1d([1, 2]), [1, 3])) is m.poly1d
type(m.polymul([1, 3], m.poly1d([1, 2]))) is m.poly1d
type(m.polysub([1, 3], [1, 2])) is m.poly1d
type(m.polydiv(m.poly1d([1, 2, 3]), m.poly1d([1, 2]))[1]) is m.poly1d
type(m.polyder(m.poly1d([1, 2]))) is m.poly1d
type(m.polyint(m.poly1d([1, 2]), 2)) is m.poly1d
m.polyint(m.poly1d([1, 2])).coeffs
m.poly1d(np.poly1d([1, 2], variable='z')).variable
m.polyval(m.poly1d([1, 2, 3]), m.poly1d([1, 1])).coeffs
m.polyval(m.poly1d([1, 2, 3]), h)
"""


@pytest.mark.parametrize("own, into", [("i8", "f4"), ("i8", "c8"), ("f4", "f8"), ("i4", "i8"), ("b1", "i4")])
def test_take_into_a_wider_kind(own, into):
    x, out = np.arange(3).astype(own), tt.zeros(2, dtype=into)
    assert tt.take(tt.asarray(x), [2, 0], out=out) is out
    assert np.array_equal(out.numpy(), x[[2, 0]].astype(into))


@lines(CASTS)
def test_casts_of_numbers(text):
    check(text)


# Numbers that come one by one, in lists or as borders, and the mask of a copy onto itself.
NUMBERS = """
m.array([np.float64(m.nan), 1], dtype='i4')
m.array([[np.float32(m.inf)], [2]], dtype='i8')
m.array([np.float64(3e20)], dtype='i8')
m.array([np.float64(300.7), 2], dtype='i1')
m.array([np.int64(300), 2], dtype='i1')
m.array([np.uint64(2**63)], dtype='i8')
m.array([np.int64(-300), np.float32(2.5)], dtype='i2')
m.array([np.float64(300.7), np.int64(-1)], dtype='u1')
m.array([np.array(300.0), 2], dtype='i1')
m.array([f3[1] / 2, 1], dtype='i8')
m.array([f3[0] / f3[0], 1], dtype='i8')
m.array([[f3.astype('f4')[1] / f3.astype('f4')[0]], [1]], dtype='i2')
m.array([f3.astype('f4')[1] * 300, 1], dtype='i1')
i[:2] = [f3[0] / f3[0], 1]
i[[0, 1]] = [f3[1] / f3[0], 1]
m.put(i, [0, 1], [f3[0] / f3[0], 1])
x = m.zeros((2, 2), int); m.put_along_axis(x, m.asarray([[0], [1]]), [[np.float64(m.nan)], [np.int64(2)]], 1)
x = m.zeros((2, 2), int); m.put_along_axis(x, m.asarray([[0], [1]]), [[np.float64(7.5)], [np.int64(2)]], 1); x
x = m.zeros((2, 2), 'u1'); m.put_along_axis(x, m.asarray([[0], [1]]), [[np.int64(700)], [np.int64(-2)]], 1); x
x = m.zeros(2, 'i8'); x[0] = m.float64(-2.0**63); x
x = m.zeros(2, 'i8'); x[0] = m.float64(2.0**63); x
x = m.asarray(-2**63); x[()] -= 0.5; x
m.array([np.float64(-2.0**63)], dtype='i8')
m.pad(m.arange(3, dtype='u1'), 1, constant_values=300)
m.pad(m.arange(3, dtype='u1'), 1, constant_values=(-1, 300))
m.pad(m.arange(3, dtype='u1'), 1, constant_values=((2, 300),))
m.pad(m.arange(6, dtype='u1').reshape(2, 3), 1, constant_values=((2, 3), (4, 300)))
m.pad(m.arange(6, dtype='u1').reshape(2, 3), 1, constant_values=((2, 3), (-1, 3)))
m.pad(m.arange(6, dtype='u1').reshape(2, 3), 1, constant_values=np.int64(257))
m.pad(m.arange(3, dtype='i1'), 2, mode='linear_ramp', end_values=300)
x = m.arange(3.0).reshape(1, 3); m.copyto(x, x[::-1], where=m.asarray([[True], [False]]))
x = m.arange(3.0).reshape(1, 3); m.copyto(x, x[::-1], where=m.asarray([True, False]))
x = m.arange(3.0).reshape(1, 3); m.copyto(x, x[::-1], where=m.asarray([True, False, True])); x
x = m.arange(3.0).reshape(1, 3); m.copyto(x, x, where=m.asarray([True, False])); x
"""


@lines(PRODUCTS)
def test_products(text):
    check(text)


@lines(COUNTS)
def test_counts(text):
    check(text)


@lines(STORES)
def test_stores(text):
    check(text)


@lines(NUMBERS)
def test_numbers(text):
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
