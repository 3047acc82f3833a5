"""Operators, indexing and scalars against NumPy: values, types, exceptions and their words."""

import math
import operator as op

import numpy as np
import pytest
import tutti as tt

BINARY = [
    op.add,
    op.sub,
    op.mul,
    op.truediv,
    op.floordiv,
    op.mod,
    op.pow,
    op.lt,
    op.le,
    op.eq,
    op.ne,
    op.gt,
    op.ge,
    divmod,
]
BITS = [op.and_, op.or_, op.xor, op.lshift, op.rshift]
INPLACE = [op.iadd, op.isub, op.imul, op.itruediv, op.ifloordiv, op.imod, op.ipow]


def same(got, want):
    if isinstance(want, tuple):
        assert len(got) == len(want)
        for g, w in zip(got, want):
            same(g, w)
        return
    want = np.asarray(want)
    assert isinstance(got, tt.ndarray)
    assert got.dtype == want.dtype and got.shape == want.shape
    np.testing.assert_allclose(got.numpy(), want, rtol=1e-6)


@pytest.mark.parametrize("f", BINARY, ids=lambda f: f.__name__)
@pytest.mark.parametrize(
    "other", [2, 2.5, np.float32(1.5), np.int8(2), [1, 2, 3], np.array([[1], [2]]), True], ids=repr
)
def test_binary_both_ways(f, other):
    for name in ("float32", "int64"):
        a = np.array([1, 2, 3], name)
        same(f(tt.asarray(a), other), f(a, other))
        if not isinstance(other, list) or f not in (op.add, op.mul):
            same(f(other, tt.asarray(a)), f(other, a))
        same(f(tt.asarray(a), tt.asarray(other)), f(a, np.asarray(other)))


@pytest.mark.parametrize("f", BITS, ids=lambda f: f.__name__)
def test_bits(f):
    a, b = np.array([5, 6, 7]), np.array([1, 2, 3])
    same(f(tt.asarray(a), tt.asarray(b)), f(a, b))
    same(f(tt.asarray(a), 1), f(a, 1))
    same(f(6, tt.asarray(b)), f(6, b))


@pytest.mark.parametrize("f", [op.neg, op.pos, abs, op.invert], ids=lambda f: f.__name__)
def test_unary(f):
    same(f(tt.array([-1, 2])), f(np.array([-1, 2])))
    if f is not op.invert:
        same(f(tt.array([-1.5, 2])), f(np.array([-1.5, 2])))


@pytest.mark.parametrize("f", INPLACE, ids=lambda f: f.__name__)
def test_in_place_is_seen_by_views(f):
    a, b = np.array([4.0, 5.0, 6.0]), tt.array([4.0, 5.0, 6.0])
    seen, view, whole = a[1:], b[1:], b
    a, b = f(a, 2), f(b, 2)
    assert b is whole
    same(b, a)
    same(view, seen)


def test_matmul_in_place():
    x, a = np.ones((3, 3)), tt.ones((3, 3))
    x @= np.eye(3) * 2
    a @= tt.eye(3) * 2
    assert np.array_equal(a, x)
    for left, right in (((3,), (3,)), ((3, 3), (3,))):
        for m in (np, tt):
            y = m.ones(left)
            with pytest.raises(ValueError, match="inplace matrix multiplication requires"):
                y @= m.ones(right)
            assert y.tolist() == np.ones(left).tolist()


def test_arange_takes_numbers():
    for bad in ("a", None, [1, 2]):
        for m in (np, tt):
            with pytest.raises((TypeError, ValueError)):
                m.arange(bad)


def test_in_place_casting():
    t = tt.array([1, 2])
    with pytest.raises(TypeError, match=r"Cannot cast ufunc 'add' output from dtype\('float64'\) to dtype\('int64'\)"):
        t += 1.5
    assert t.tolist() == [1, 2]


def words(f):
    with pytest.raises(Exception) as e:  # noqa: PT011 (which one is what is compared)
        f()
    return type(e.value), str(e.value).strip()


A = [[0, 1, 2], [3, 4, 5]]
SAME_WORDS = [
    lambda m: m.array(A) + m.array([1, 2, 3, 4]),
    lambda m: bool(m.array(A)),
    lambda m: bool(m.array([])),
    lambda m: int(m.array([1])),
    lambda m: float(m.array(A)),
    lambda m: complex(m.array(A)),
    lambda m: m.array(1.5).__index__(),
    lambda m: m.array(True).__index__(),
    lambda m: len(m.array(1)),
    lambda m: iter(m.array(1)),
    lambda m: m.array(A)[5],
    lambda m: m.array(A)[0, 0, 0],
    lambda m: m.array(A)[:, 7],
    lambda m: m.array(A)[1.0],
    lambda m: m.array(A)["x"],
    lambda m: m.array(A)[["x"]],
    lambda m: m.array(A)[[slice(0, 2), 1]],
    lambda m: m.array(A)[[None, 1]],
    lambda m: m.array(A)[[0.5]],
    lambda m: m.array(A)[[0, 9]],
    lambda m: m.array(A)[..., ...],
    lambda m: m.array(A)[::0],
    lambda m: m.array(A).__delitem__(0),
    lambda m: m.array(A).__setitem__(5, 1),
    lambda m: m.array([1, 2, 3]).__setitem__(slice(None), [1, 2]),
    lambda m: m.array(A).reshape(4, 2),
    lambda m: m.array(A).reshape(-1, -1),
    lambda m: m.array(A).transpose(1),
    lambda m: m.array(A).transpose(0, 0),
    lambda m: m.array(A).transpose(0, 2),
    lambda m: m.array(A).item(),
    lambda m: m.array(A).item(7),
    lambda m: m.array(A) ** -1,
    lambda m: -m.array(True),
    lambda m: m.array(True) - True,
    lambda m: m.array([1.0]) << 1,
    lambda m: ~m.array([1.0]),
    lambda m: m.array([1], "uint8") + 300,
    lambda m: m.array([1]) + 2**70,
    lambda m: m.array([1], "uint8").fill(300),
    lambda m: m.array(A).astype("foo"),
    lambda m: m.array([1]).mT,
    lambda m: m.add(1, 2, 3, 4),
    lambda m: m.add(1, 2, foo=3),
    lambda m: m.array(A).sum(axis=3),
    lambda m: m.concatenate([m.array(A), m.array([1])]),
]


@pytest.mark.parametrize("k", range(len(SAME_WORDS)))
def test_exceptions_in_numpys_words(k):
    theirs, ours = words(lambda: SAME_WORDS[k](np)), words(lambda: SAME_WORDS[k](tt))
    assert ours[1] == theirs[1]
    public = next(c for c in theirs[0].__mro__ if c.__module__ in ("builtins", "numpy.exceptions"))
    assert issubclass(ours[0], public)


def test_unknown_operands():
    t = tt.array([1, 2])
    for bad in (None, "x", object(), {}, b"x"):
        with pytest.raises(TypeError):
            t + bad
        with pytest.raises(TypeError):
            _ = t < bad
        assert (t == bad).tolist() == [False, False]
        assert (t != bad).tolist() == [True, True]
    with pytest.raises(TypeError, match="unhashable"):
        hash(t)


def test_other_classes_may_answer():
    class Answer:
        def __radd__(self, other):
            return "radd"

        def __rmatmul__(self, other):
            return "rmatmul"

    assert tt.array([1]) + Answer() == "radd"
    assert tt.array([1]) @ Answer() == "rmatmul"


def test_huge_integers_where_numpy_takes_them():
    same(tt.array([1.0]) + 2**70, np.array([1.0]) + 2**70)
    same(tt.array([1]) < 2**70, np.array([1]) < 2**70)
    same(tt.array([1]) == -(2**70), np.array([1]) == -(2**70))
    same(tt.array([1]) > -(10**400), np.array([True]))
    same(tt.array([1], "uint64") + (2**64 - 2), np.array([1], "uint64") + (2**64 - 2))


INDICES = [
    0,
    -1,
    np.s_[1:],
    np.s_[::-1],
    np.s_[:, 1],
    np.s_[..., 0],
    np.s_[None],
    np.s_[:, None, 1:],
    [0, 1],
    [[0, 1], [1, 0]],
    ([0, 1], [1, 2]),
    np.array([True, False]),
    np.s_[:, [True, False, True]],
    np.int64(1),
    np.s_[1, 2],
    np.s_[[]],
    True,
    np.s_[0:0],
    np.s_[5:100],
    np.s_[-100:1:1],
    np.s_[::-2, ::2],
    np.array(1),
    np.s_[:, np.array([2, 0])],
]


@pytest.mark.parametrize("index", INDICES, ids=repr)
def test_indices(index):
    a = np.arange(6.0).reshape(2, 3)
    t = tt.asarray(a)
    same(t[index], a[index])
    t[index] = 7
    a[index] = 7
    same(t, a)


def test_mask_of_ours_and_lists():
    t = tt.array([1.0, 5.0, 2.0])
    assert t[t > 1.5].tolist() == [5, 2]
    t[t > 1.5] = 0
    assert t.tolist() == [1, 0, 0]
    t[1:] = [8, 9]
    assert t.tolist() == [1, 8, 9]


def test_an_element_is_a_value_not_a_view():
    t = tt.array([1.0, 2.0])
    first = t[0]
    t[0], t[1] = t[1], first
    assert t.tolist() == [2, 1]
    assert first.item() == 1
    view = t[0, ...]
    t[0] = 5
    assert view.item() == 5


def test_iteration_and_membership():
    t = tt.array([[1, 2], [3, 4]])
    assert [r.tolist() for r in t] == [[1, 2], [3, 4]]
    x, y = tt.array([1.5, 2.5])
    assert (float(x), int(y)) == (1.5, 2)
    assert 3 in t and 7 not in t
    assert list(reversed(tt.array([1, 2])))[0].item() == 2
    assert [v.item() for v in t.flat] == [1, 2, 3, 4]
    t.flat[2] = 9
    assert t.tolist() == [[1, 2], [9, 4]]
    t.T.flat = [5, 6, 7, 8]
    assert t.tolist() == [[5, 7], [6, 8]]


def test_attributes():
    a, t = np.zeros((2, 3), "f4"), tt.asarray(np.zeros((2, 3), "f4"))
    for name in ("shape", "ndim", "size", "itemsize", "nbytes", "strides"):
        assert getattr(t, name) == getattr(a, name)
    assert t.T.shape == (3, 2) and t.mT.strides == a.mT.strides
    assert t.base is None and t.T.base is t and t[1:].T.base is t and (t + 1).base is None
    t.shape = (3, -1)
    assert t.shape == (3, 2)
    with pytest.raises(AttributeError):
        t.T.shape = (6,)
    assert t.device == "cpu" and str(t.device) == "cpu:0" and t.to("cpu") is t
    with pytest.raises(RuntimeError, match="no such device"):
        t.to("cuda:63")
    assert t.flags.c_contiguous and t.T.flags["F_CONTIGUOUS"] and not t.T.flags.owndata
    t.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        t[0] = 1
    with pytest.raises(ValueError, match="WRITEABLE"):
        t[1:].flags.writeable = True


def test_complex_parts():
    z = tt.array([1 + 2j, 3 - 1j])
    assert z.real.tolist() == [1, 3] and z.imag.tolist() == [2, -1] and z.conj().tolist() == [1 - 2j, 3 + 1j]
    z.real = 9
    z.imag[0]
    assert z.tolist() == [9 + 2j, 9 - 1j]
    z.imag = [0, 1]
    assert z.tolist() == [9, 9 + 1j]
    with pytest.raises(TypeError, match="imaginary"):
        tt.array([1.0]).imag = 1


def test_out_where_dtype():
    a, b = tt.array([1.0, 2.0, 3.0]), tt.array([0.0, 0.0, 0.0])
    assert tt.add(a, 1, out=b) is b and b.tolist() == [2, 3, 4]
    tt.multiply(a, 10, out=(b,), where=tt.array([True, False, True]))
    assert b.tolist() == [10, 3, 30]
    assert tt.add(a, 1, dtype="float32").dtype == tt.float32
    with pytest.raises(TypeError, match="ArrayType"):
        tt.add(a, 1, out=[1, 2, 3])


def test_methods_that_move():
    a = np.arange(24).reshape(2, 3, 4)
    t = tt.asarray(a)
    for f in (
        lambda x: x.reshape(4, 6),
        lambda x: x.reshape((6, -1)),
        lambda x: x.reshape(4, 6, order="F"),
        lambda x: x.ravel("F"),
        lambda x: x.transpose(2, 0, 1),
        lambda x: x.transpose((1, 0, 2)),
        lambda x: x.transpose(),
        lambda x: x.flatten(),
        lambda x: x.T.ravel(),
        lambda x: x.astype("f4"),
        lambda x: x.copy(),
    ):
        same(f(t), f(a))
    assert tt._core._shares(t, t.ravel()) and not tt._core._shares(t, t.flatten())
    assert t.astype(int, copy=False) is t


def test_keeping_types_of_scalars():
    assert (
        type(tt.array(1).item()) is int and type(tt.array(1.0).item()) is float and type(tt.array(True).item()) is bool
    )
    assert type(tt.array(1j).item()) is complex and tt.array(2**64 - 1).item() == 2**64 - 1
    assert tt.array([[1, 2], [3, 4]]).tolist() == [[1, 2], [3, 4]] and tt.array(5).tolist() == 5


NUMBERS = ["bool", "int8", "uint8", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64", "complex64"]


@pytest.mark.parametrize("of", NUMBERS)
def test_scalars_of_numpys_beside_arrays(of):
    """Types, values and errors, both ways round, whatever the types are: a scalar has the weight of its type."""
    for name in NUMBERS:
        a, mine = np.array([1, 2, 3]).astype(name), tt.array(np.array([1, 2, 3]).astype(name))
        for x in (np.dtype(of).type(2), np.dtype(of).type(0)):
            for f in [*BINARY, *BITS]:
                for args, ours in (((a, x), (mine, x)), ((x, a), (x, mine))):
                    try:
                        with np.errstate(all="ignore"):
                            want = f(*args)
                    except Exception as e:  # noqa: BLE001 - whatever NumPy says
                        with pytest.raises(type(e)):
                            f(*ours)
                        continue
                    same(f(*ours), want)


def test_extreme_scalars_of_numpys():
    for x in (np.int32(2**31 - 1), np.int64(-(2**63)), np.float32(np.inf), np.float64(-0.0), np.float32(1e-45)):
        a = np.array([0, 1], x.dtype)
        same(x + tt.array(a), x + a)
        same(tt.array(a) == x, a == x)
        with np.errstate(invalid="ignore"):
            want = x * a
        assert np.signbit((x * tt.array(a)).numpy()).tolist() == np.signbit(want).tolist()


def test_scalars_of_numpys_are_no_memory():
    """Of the array's own type they are numbers, and no Python runs on the way from NumPy to the operator."""
    a, x = tt.array([1, 2, 3], "float32"), np.float32(2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tutti._neighbours._numpy.array_ufunc", None)
        with tt.strict("copy"):
            made = [x * a, a * x, np.multiply(x, a), np.exp(a), np.add(a, a)]
    twice = [2, 4, 6]
    for got, want in zip(made, (twice, twice, twice, np.exp(np.float32([1, 2, 3])), twice), strict=True):
        same(got, np.asarray(want, "float32"))


def test_numbers_are_rounded_by_python():
    """What NumPy gives as a scalar takes round() and math.trunc(); arrays with axes do not."""
    a = np.array([1.25, 2.5, -3.7])
    t = tt.asarray(a)
    same(round(t.mean(), 2), np.asarray(round(a.mean(), 2)))
    same(round(tt.array(15), -1), np.asarray(round(np.int64(15), -1)))
    for got, want in ((round(t[1]), round(a[1])), (round(t[2], None), round(a[2])), (math.trunc(t[2]), -3)):
        assert type(got) is int and got == want
    assert round(tt.array(True)) == 1 and round(tt.array(np.float32(0.5)), 0).dtype == "float32"
    for f in (lambda: round(t), lambda: round(t, 1), lambda: math.trunc(t), lambda: round(tt.array(1j))):
        with pytest.raises(TypeError, match="doesn't define __(round|trunc)__ method"):
            f()
    with pytest.raises(ValueError, match="cannot convert float NaN to integer"):
        round(tt.array(np.nan))


@pytest.mark.parametrize("n", range(28, 36))
def test_many_operands_under_views(recorded, n):
    """A kernel that is full at its root is cut below a view or a fold."""
    x = [np.arange(5.0) + k for k in range(n)]
    s, first = sum(map(tt.array, x[1:]), tt.array(x[0])), tt.array(x[0])
    assert (s[::-1] + first[::-1]).tolist() == (sum(x)[::-1] + x[0][::-1]).tolist()
    assert (s[::-1].sum() + first[::-1]).tolist() == (sum(x).sum() + x[0][::-1]).tolist()
