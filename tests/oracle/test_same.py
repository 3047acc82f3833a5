"""Expressions that NumPy refuses, warns of, or treats in a way of its own: the same value, error and warning here."""

import warnings

import numpy as np
import pytest
import tutti as tt

A = np.arange(6.0).reshape(2, 3)
B = np.arange(12.0).reshape(3, 4)


def value_of(text, scope):
    """Of an expression; of a statement, which may end the text, None."""
    try:
        code = compile(text, text, "eval")
    except SyntaxError:
        return exec(text, scope)
    return eval(code, scope)


def run(m, text):
    """What comes of it: ("value", type, shape, elements) of each result, or ("error", class); and the warnings."""
    names = {"m": m, "np": np, "a": m.asarray(A.copy()), "B": m.asarray(B.copy()), "nan": np.nan, "inf": np.inf}
    names |= {
        "i": m.zeros(3, "int32"),
        "u": m.zeros(3, "uint8"),
        "b": m.asarray([True, False, True]),
        "f3": m.zeros(3),
        "h": m.asarray([0.5, 0.5, 1.7]),
    }
    names |= {"z": m.asarray([1 + 2j, 3 + 0j]), "f": m.zeros(2), "n": m.asarray([[np.nan] * 3, [1, np.nan, 3]])}
    with warnings.catch_warnings(record=True) as met, np.errstate(all="ignore"):
        warnings.simplefilter("always")
        try:
            scope = dict(names)
            *before, last = text.split("; ")
            for statement in before:
                exec(statement, scope)
            made = value_of(last, scope)
            parts = made if isinstance(made, (tuple, list)) else [made]
            what = [("value", *described(x)) for x in parts]
        except (NameError, SyntaxError):
            raise  # of the text itself, which would say nothing
        except Exception as error:
            what = [
                (
                    "error",
                    next(
                        k
                        for k in type(error).__mro__
                        if k.__module__ in ("builtins", "numpy.exceptions", "numpy.linalg")
                    ),
                )
            ]
    return what, {(kind(w.category), str(w.message)) for w in met}


def kind(category):
    return next(k.__name__ for k in category.__mro__ if k.__module__ in ("builtins", "numpy.exceptions"))


def described(x):
    if type(x) in (str, bool, int, float, complex, type(None)):
        return type(x).__name__, x
    return str(x.dtype), tuple(x.shape), np.asarray(x)


def check(text):
    want, want_warnings = run(np, text)
    got, got_warnings = run(tt, text)
    assert len(got) == len(want), (got, want)
    for g, w in zip(got, want):
        if w[0] == "error":
            assert g[0] == "error" and issubclass(g[1], builtin(w[1])), (g, w)
            continue
        assert len(g) == len(w) and g[:3] == w[:3], (g, w)
        if len(w) == 4:
            np.testing.assert_allclose(g[3], w[3], rtol=1e-6, atol=1e-12)
    assert got_warnings == want_warnings


def builtin(error):
    """NumPy's own classes of errors are Python's to those who catch them."""
    return error if error.__module__ != "numpy._core._exceptions" else error.__mro__[1]


CORE_AXES = """
m.matmul(a, B, axes=[(0, 1), (0, 1), (0, 1)])
m.matmul(a, B, axes=[(0, 1), (0, 1), (1, 0)])
m.matmul(a.T.copy(), B, axes=[(1, 0), (0, 1), (0, 1)])
m.matmul(a, B[:, 0], axes=[(0, 1), (0,), (0,)])
m.matmul(a, B[:, 0], axes=[(0, 1), 0, 0])
m.matmul(a, B[:, 0], axes=[(0, 1), (0, 1), (0,)])
m.matmul(a, B, axis=0)
m.matmul(a, B, keepdims=True)
m.matmul(a, B, axes=[(0, 1), (0, 1)])
m.matmul(a, B, axes=[(0, 1), 0, (0, 1)])
m.matmul(a, B, axes=3)
m.matmul(a, B, axes=[(0, 5), (0, 1), (0, 1)])
m.matmul(a, B, axes=[(0, 0), (0, 1), (0, 1)])
m.matmul(a, B, where=True)
m.matmul(a, B, casting='no')
m.matmul(a.astype('f4'), B, casting='no')
m.matmul(a, B, dtype='f4')
m.matmul(a, B, dtype='f4', casting='safe')
m.matmul(a, B, dtype='i4', casting='unsafe')
m.matmul(a, B, signature='ff->f', casting='same_kind')
m.matmul(a, B, m.empty((2, 4), 'f4'))
m.matmul(a, B, out=m.empty((2, 4), 'i4'))
m.matmul(a, B, out=m.empty((2, 4), 'i4'), casting='unsafe')
m.matmul(a, B, out=(m.empty((2, 4)),))
m.matmul(a, B, out=m.empty((2, 5)))
m.matmul(a, B, out=m.empty((3, 2, 4)))
m.vecdot(a, a, axis=0)
m.vecdot(a, a, axis=0, keepdims=True)
m.vecdot(a, a, keepdims=True)
m.vecdot(a, a, axes=[0, 0])
m.vecdot(a, a, axes=[0, 0, ()])
m.vecdot(a, a, axes=[0, 0, 1])
m.vecdot(a, a, axes=[0, 0], axis=0)
m.vecdot(a, a, axes=[0, 0], keepdims=True)
m.vecdot(a, a, axes=[0, 0, 0], keepdims=True)
m.vecdot(a, a, axis=5)
m.vecdot(a, a, axis='x')
m.matvec(B.T, a[0], axes=[(0, 1), 0, 0])
m.add(a, a, axis=0)
m.zeros((3, 4))[m.zeros((0, 0), bool)]
m.zeros((3, 4))[m.zeros((0, 5), bool)]
x = m.zeros((3, 4)); x[m.zeros((0, 0), bool)] = 1; x
"""

# What is warned of: "z" is complex, "f" real, "n" has a row of NaN.
DISCARDED = """
z.astype(float)
z.astype(bool)
z.astype('int8')
m.array(z, dtype=float)
m.asarray(z, dtype='f4')
m.array([1 + 2j], dtype=float)
m.array([[1 + 0j]], dtype=int)
m.array([1 + 2j], dtype=bool)
m.array([1.0, 2j], dtype=complex)
m.asarray([z[0], 1.0], dtype=float)
f[...] = z; f
f[0] = z[0]; f
f[0] = 1 + 2j
f[:] = [1 + 2j, 3]
f[:] = [1, 2]; f
f[m.asarray([0, 1])] = z; f
f[m.asarray([True, False])] = z[:1]; f
f.fill(1j)
f.fill(z[0]); f
m.copyto(f, z)
m.copyto(f, z, casting='unsafe'); f
m.add(z, z, out=f, casting='unsafe')
m.add(z, z, dtype=float, casting='unsafe')
m.log(1 + 0j, dtype='f4', casting='unsafe')
m.log(1 + 0j, m.zeros((), 'i1'), dtype='f4', casting='unsafe')
m.negative(1.5 + 2j, dtype=int, casting='unsafe')
m.negative(-2.5, dtype='i1', casting='unsafe')
m.add(f, 2 + 1j, dtype=float, casting='unsafe')
m.maximum(1, 2 + 1j, dtype='f2', casting='unsafe')
m.power(2j, 2, dtype=float, casting='unsafe')
m.sum(z, dtype=float)
m.mean(z, dtype=float)
m.cumsum(z, dtype=float)
m.put(f, [0], z[:1]); f
m.full(2, 1j, dtype=float)
m.full(2, z, dtype=float)
m.full_like(f, 1j)
float(z[0])
int(z[0])
float(m.asarray(1 + 2j))
complex(z[0])
m.concatenate([f, z], dtype=float, casting='unsafe')
m.linspace(0, 1j, 3, dtype=float)
m.insert(f, 0, z)
m.add.reduce(z, dtype=float)
m.matmul(z, z, dtype=float, casting='unsafe')
m.real(z)
m.nan_to_num(z)
m.interp(m.asarray([0.5]), m.asarray([0.0, 1]), z)
"""

EMPTY = """
m.mean(n[:0])
m.mean(n[:, :0], axis=1)
m.mean(n, where=False)
m.mean(n, where=[[True, True, False], [False, False, False]], axis=1)
m.var(n[:1], axis=0, ddof=1)
m.var(n[:1], ddof=5)
m.std(n[:0])
m.var(n[:1], axis=1, ddof=2, where=n[:1] > 0)
m.var([1.0], ddof=1)
m.median(n[:0])
m.median(n[:, :0], axis=1)
m.median(n)
m.nanmean(n, axis=1)
m.nanmean(n, axis=0)
m.nanmean(n + 1, axis=1)
m.nanmean(n[:0])
m.nanmean(n[1])
m.nanmax(n, axis=1)
m.nanmin(n[0])
m.nanmin(n, axis=0)
m.nanmax(n, axis=1, initial=3.0)
m.nanmedian(n, axis=1)
m.nanmedian(n[0])
m.nanmedian(n[:0])
m.nanquantile(n, 0.5, axis=1)
m.nanquantile(n[0], [0.5, 0.1])
m.nanpercentile(n, 50, axis=1)
m.nanpercentile(n[:, :0], 50, axis=1)
m.nansum(n[0])
m.cov(n[:, :1])
m.cov(n, ddof=3)
m.cov(n, ddof=4)
m.cov(m.asarray([1.0, 2, 3]), fweights=m.asarray([1, 0, 0]))
m.cov(n[:0])
m.corrcoef(n[:, :1])
m.average(n[:0])
m.polyfit(m.asarray([1.0, 1, 1]), m.asarray([1.0, 2, 3]), 2)
m.polyfit(m.asarray([1.0, 1, 1]), m.asarray([1.0, 2, 3]), 2, full=True)[0]
m.polyfit(m.asarray([1.0, 2, 3]), m.asarray([1.0, 2, 3]), 1)
"""

# "i" is int32, "u" uint8, "b" a mask
REFUSED = """
m.copyto(b, 1)
m.copyto(b, i)
m.copyto(i, 1.5)
m.copyto(i, f3)
m.copyto(u, 300)
m.copyto(i, b); i
m.putmask(i, b, f3)
m.putmask(u, b, 300)
m.putmask(i, b, 1j)
m.putmask(i, b, 1.5); i
m.putmask(i, b, [1, 2]); i
m.place(i, b, f3)
m.place(u, b, [300])
m.place(i, b, [1, 2]); i
m.place(i, b, [1.5]); i
m.put(i, [0], [7]); i
m.put(f3, [0], 1j)
m.fill_diagonal(m.zeros((2, 2)), 1j)
m.fill_diagonal(m.zeros((2, 2), 'uint8'), 300)
m.fill_diagonal(m.zeros((2, 2), 'int32'), nan)
x = m.zeros((2, 2), 'int32'); m.fill_diagonal(x, 1.5); x
m.insert(i, 0, [7]); i
m.array([nan], dtype=int)
m.array([inf], dtype=int)
m.array([1e30], dtype='int64')
m.array([300.5], dtype='uint8')
m.array([-1], dtype='uint8')
i[:] = [nan] * 3
i[:] = [1.5] * 3; i
m.bincount([0, 1], weights=m.asarray([1j, 2]))
m.repeat(f3, m.asarray([1, 1, 1], dtype='uint64'))
m.repeat(f3, [])
m.flip(m.asarray(3), 0)
m.flip(m.asarray(3))
m.flip(m.asarray(3), ())
m.arange(3, dtype=bool)
m.arange(2, dtype=bool)
m.indices((3,), dtype=bool)
m.indices((2, 2), dtype=bool)
m.zeros(None)
m.ones(None)
m.empty(None)
m.full(None, 1)
m.tril(m.ones((3, 3), bool))
m.triu(m.ones((3, 3), bool))
m.tril(m.ones((3, 3), 'int8'))
x = m.zeros(3); x[m.asarray([], dtype=bool)] = 1; x
x = m.zeros(3); x[m.asarray([], dtype=bool)] = m.asarray([2.0]); x
"""

OUTS = """
m.sum(h, out=m.zeros((), 'int32'))
m.prod(h, out=m.zeros((), 'int32'))
m.max(h, out=m.zeros((), 'int32'))
m.mean(h, out=m.zeros((), 'int32'))
m.mean(h, out=m.zeros((), 'f4'))
m.median(h, out=m.zeros((), 'int32'))
m.sum(z, out=m.zeros(()))
m.sum(i, out=m.zeros((), 'int8'))
m.std(h, out=m.zeros((), 'int32'))
m.cumsum(h, out=m.zeros(3, 'int32'))
m.sum(h, out=m.zeros(1))
m.take(h, [0], out=m.zeros(1, 'int32'))  # before 2.5
m.take(h, [0], out=m.zeros(2))
"""

KINDS = """
m.histogram(m.asarray([1.0, 2]), weights=m.asarray([1j, 2]))
m.histogram(m.asarray([1.0, 2, 2]), bins=[0, 1.5, 3], weights=m.asarray([1j, 2, 3 - 1j]))
m.digitize([1.0, nan], [nan, 1])
m.digitize([1.0], [2, 1, 3])
m.piecewise(3.0, [True], [lambda x: x + 1])
m.piecewise(m.asarray(3.0), [False], [1])
m.piecewise(m.asarray(3.0), [False], [1, 7])
m.r_[u, 1]
m.r_[u, 300]
m.r_[u, 1.5]
m.r_[1, 2]
m.r_[1, 2.5]
m.r_[True, i]
m.r_[i, 0:3, 7]
m.c_[i, f3]
"""

EYES = """
m.eye(3, k=2**63)
m.eye(3, k=-2**70)
m.eye(3, 4, k=2**63 - 1)
m.eye(3, k=-2)
m.eye(0, None, k=2**63)
"""


NUMPY = tuple(int(n) for n in np.__version__.split(".")[:2])


def lines(text):
    """One test a line; "# before 2.5" and "# from 2.5" are NumPy's versions that we agree with."""
    texts = [t.partition("  # ") for t in text.strip().splitlines() if t]
    meant = {"": True, "before 2.5": NUMPY < (2, 5), "from 2.5": NUMPY >= (2, 5)}
    return pytest.mark.parametrize("text", [t for t, _, which in texts if meant[which]])


@lines(DISCARDED)
def test_discarded(text):
    check(text)


@lines(EMPTY)
def test_empty(text):
    check(text)


def test_warnings_name_the_line():
    with warnings.catch_warnings(record=True) as met:
        warnings.simplefilter("always")
        tt.mean(tt.zeros(0))
        tt.asarray([1j]).astype(float)
        np.mean(tt.zeros(0))
        tt.apply_along_axis(tt.nanmax, 0, tt.asarray([[np.nan]]))
    assert [w.filename for w in met] == [__file__] * 4


def test_filters_are_heeded():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning, match="Mean of empty slice"):
            tt.mean(tt.zeros(0))
        with pytest.raises(np.exceptions.ComplexWarning):
            tt.asarray([1j]).astype(float)
        with pytest.raises(tt.exceptions.ComplexWarning):
            tt.zeros(1)[:] = tt.asarray([1j])
        tt.mean(tt.zeros(1))  # nothing is left of what was an exception
        warnings.simplefilter("ignore", np.exceptions.ComplexWarning)
        assert tt.asarray([1j]).astype(float).tolist() == [0]


def test_warnings_that_need_values_may_wait():
    with warnings.catch_warnings(), tt.linalg.errstate(defer=True):
        warnings.simplefilter("error")
        looked = tt.ledger()["evaluations"]
        lazy = tt.nanmax(tt.asarray([np.nan]) + 1)
        assert tt.ledger()["evaluations"] == looked
    assert np.isnan(float(lazy))


@lines(REFUSED)
def test_refused(text):
    check(text)


@lines(OUTS)
def test_outs(text):
    check(text)


@lines(KINDS)
def test_kinds(text):
    check(text)


@lines(EYES)
def test_eye(text):
    check(text)


@lines(CORE_AXES)
def test_core_axes(text):
    check(text)
