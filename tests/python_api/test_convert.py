"""Python objects as arrays: types found, shapes found, errors worded as NumPy's."""

import os
import subprocess
import sys

import numpy as np
import pytest
import tutti as tt

GOOD = [
    1,
    1.5,
    True,
    2j,
    [],
    [[], []],
    [1, 2],
    [1, 2.5],
    [True, 2],
    [1, 2.5, 3j],
    [[1, 2], [3, 4]],
    [[1.0], [2.0]],
    (1, (2)),
    [2**63, 1],
    [2**64 - 1],
    [-(2**63)],
    range(4),
    [range(2), range(2)],
    [np.float32(1), 2],
    [np.float32(1), np.int8(2)],
    [np.bool(True), False],
    [np.complex64(1j)],
    [np.int64(3)],
    [[np.uint8(3)], [np.int16(4)]],
    np.float16(2),
    np.bool(True),
    [np.ones(2), [1, 2]],
    [np.zeros((1, 2)), np.ones((1, 2))],
    bytearray(b"ab"),
    [[[1]], [[2]]],
]


@pytest.mark.parametrize("source", GOOD, ids=repr)
def test_found_as_numpy_finds_it(source):
    want, got = np.array(source), tt.array(source)
    assert got.dtype == want.dtype and got.shape == want.shape
    np.testing.assert_array_equal(got.numpy(), want)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "float16", "float32", "complex64"])
def test_asked_type(dtype):
    for source in ([0, 1, 2], [[True], [False]], 1, (0.0, 2.0)):
        want = np.array(source, dtype)
        got = tt.array(source, dtype)
        assert got.dtype == dtype
        np.testing.assert_array_equal(got.numpy(), want)


RAGGED = [[[1, 2], [3]], [[1, 2], [[3], 4]], [1, [2, 3]], [[1, 2], 3], [[], 1], [[[1, 2], [3, 4]], [[1, 2], [3]]]]


@pytest.mark.parametrize("source", RAGGED, ids=repr)
def test_ragged(source):
    with pytest.raises(ValueError) as theirs:
        np.array(source)
    with pytest.raises(ValueError) as ours:
        tt.array(source)
    assert str(ours.value) == str(theirs.value)


def test_ragged_arrays():
    with pytest.raises(ValueError, match="inhomogeneous shape after 1 dimensions"):
        tt.array([np.ones(2), np.ones(3)])
    with pytest.raises(ValueError, match="inhomogeneous"):
        tt.array([tt.array([1, 2]), 3])


def test_arrays_of_ours_stack_without_being_computed():
    x = tt.array([1.0, 2.0])
    before = tt.ledger()["evaluations"]
    y = tt.array([x * 2, x + 1])
    assert tt.ledger()["evaluations"] == before
    assert y.tolist() == [[2, 4], [2, 3]]


@pytest.mark.parametrize(
    "source",
    [["a"], "text", b"bytes", {1: 2}, {1, 2}, object(), [None], [object()], [1, "a"]],
    ids=lambda x: type(x).__name__,
)
def test_not_numbers(source):
    with pytest.raises(TypeError):
        tt.array(source)


def test_integers_out_of_range():
    with pytest.raises(OverflowError):
        tt.array([2**64])
    with pytest.raises(OverflowError, match="Python integer 300 out of bounds for uint8"):
        tt.array([1, 300], "uint8")
    with pytest.raises(OverflowError, match="Python integer -1 out of bounds for uint64"):
        tt.array([-1], "uint64")
    with pytest.raises(OverflowError, match="Python integer 200 out of bounds for int8"):
        tt.array(200, "int8")


def test_deep_and_endless_nesting():
    deep = 1
    for _ in range(64):
        deep = [deep]
    assert tt.array(deep).ndim == 64
    with pytest.raises(ValueError, match="maximum number of dimension"):
        tt.array([deep])
    endless = []
    endless.append(endless)
    with pytest.raises((ValueError, RecursionError)):
        tt.array(endless)


def test_ndmin_and_order():
    assert tt.array([1, 2], ndmin=3).shape == (1, 1, 2)
    assert tt.array([[1, 2]], order="F").tolist() == [[1, 2]]
    with pytest.raises(ValueError, match="order"):
        tt.array([1], order="X")
    with pytest.raises(ValueError):
        tt.array([1], ndmin=65)


@pytest.mark.parametrize("order", "CFAK")
def test_memory_order(order):
    """What is asked for is how the elements lie: C code that gets the memory relies on it."""
    x = np.arange(24.0).reshape(2, 3, 4)
    cases = [
        lambda m, a: m.array(a, order=order),
        lambda m, a: m.asarray(a, order=order),
        lambda m, a: m.asarray(a, dtype="f4", order=order),
        lambda m, a: m.array(x.tolist(), order=order),
        lambda m, a: a.copy(order),
        lambda m, a: a.astype("f4", order=order),
    ]
    for view in (lambda a: a, lambda a: a.T, lambda a: a[:, ::2], lambda a: a[0], lambda a: a[0, 0]):
        for case in cases:
            want, got = case(np, view(x)), case(tt, view(tt.array(x)))
            assert np.array_equal(got, want)
            if order in "CF":
                assert got.strides == want.strides and got.flags.c_contiguous == want.flags.c_contiguous
    a = tt.arange(6).reshape(2, 3)
    assert tt.shares_memory(tt.asarray(a, order="C"), a) and tt.shares_memory(tt.asarray(a.T, order="F"), a)
    with pytest.raises(ValueError, match="copy"):
        tt.asarray(a, order="F", copy=False)


def test_contiguous_arrays():
    x, a = np.arange(6.0).reshape(2, 3), tt.arange(6.0).reshape(2, 3)
    for name in ("ascontiguousarray", "asfortranarray"):
        ours, theirs = getattr(tt, name), getattr(np, name)
        for view in (lambda v: v, lambda v: v.T, lambda v: v[:, ::2], lambda v: v[0], lambda v: v.sum()):
            got, want = ours(view(a)), theirs(view(x))
            assert np.array_equal(got, want) and got.strides == want.strides and got.shape == want.shape
        assert ours(3).shape == theirs(3).shape and ours([1, 2], dtype=tt.float32).dtype == tt.float32
    assert tt.ascontiguousarray(a) is a and tt.asfortranarray(a.T) is not a
    assert memoryview(tt.ascontiguousarray(a.T)).c_contiguous and memoryview(tt.asfortranarray(a)).f_contiguous


def test_new_arrays_in_fortran_order():
    x, a = np.ones((2, 3, 4)), tt.ones((2, 3, 4))
    for make in (
        lambda m, _: m.zeros((2, 3, 4), order="F"),
        lambda m, _: m.ones((2, 3), "i4", "F"),
        lambda m, _: m.empty((2, 3), order="F") * 0,
        lambda m, _: m.full((2, 3), [1, 2, 3], order="F"),
        lambda m, _: m.full((2, 3), 7, order="F"),
        lambda m, v: m.zeros_like(v, order="F"),
        lambda m, v: m.ones_like(v, order="F", shape=(4, 2)),
        lambda m, v: m.full_like(v, 5, order="F"),
    ):
        assert np.array_equal(make(tt, a), make(np, x))
    assert tt.zeros((2, 3, 4), order="F").strides == np.zeros((2, 3, 4), order="F").strides
    assert tt.empty_like(a, order="F").flags.f_contiguous and tt.full((2, 3), [1, 2, 3], order="F").flags.f_contiguous
    f = tt.zeros((2, 3), order="F")
    f[0, 1] = 5
    assert f.tolist() == [[0, 5, 0], [0, 0, 0]] and f.T.flags.c_contiguous
    for bad in (lambda m: m.zeros(3, order="K"), lambda m: m.zeros(3, order="x")):
        for m in (np, tt):
            with pytest.raises(ValueError):
                bad(m)


# ---- dtypes


@pytest.mark.parametrize(
    "name",
    [
        "bool",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "float16",
        "float32",
        "float64",
        "complex64",
        "complex128",
    ],
)
def test_dtype_spellings(name):
    d, n = getattr(tt, name), np.dtype(name)
    for other in (name, n, n.type, n.str, n.char):
        assert tt.dtype(other) is d
        assert d == other
    assert (d.name, d.kind, d.itemsize, d.str, str(d), repr(d)) == (n.name, n.kind, n.itemsize, n.str, str(n), repr(n))
    assert np.dtype(d) == n and n == d and hash(d) == hash(tt.dtype(name))
    assert np.zeros(2, dtype=d).dtype == n
    assert d(1).dtype is d and d(1).shape == () and d([0, 1]).tolist() == n.type([0, 1]).tolist()


def test_python_types_as_dtypes():
    assert [tt.dtype(t).name for t in (bool, int, float, complex)] == ["bool", "int64", "float64", "complex128"]
    assert tt.dtype(None) is tt.float64
    assert tt.float32 != tt.float64 and tt.float32 != "no type" and tt.float32 != 3


@pytest.mark.parametrize("name", ["longlong", "ulonglong", "intc", "uintc", "long", "byte", "half", "csingle", "intp"])
def test_numpys_other_types_as_dtypes(name):
    kind = getattr(np, name)
    assert tt.dtype(kind).name == np.dtype(kind).name
    assert tt.zeros(2, dtype=kind).dtype == np.zeros(2, dtype=kind).dtype
    with pytest.raises(TypeError, match="as a data type"):
        tt.dtype(type(name, (), {}))  # a class of that name that is not NumPy's


@pytest.mark.parametrize("bad", ["foo", ">f4", "f3", "S3", np.dtype(">i4"), np.dtype("S2"), str, 3, object], ids=repr)
def test_no_dtypes(bad):
    with pytest.raises(TypeError):
        tt.dtype(bad)


def test_limits():
    for name in ("float16", "float32", "float64"):
        a, b = tt.finfo(name), np.finfo(name)
        assert repr(a) == repr(b)
        for field in (
            "bits",
            "eps",
            "max",
            "min",
            "tiny",
            "smallest_normal",
            "smallest_subnormal",
            "precision",
            "epsneg",
        ):
            assert getattr(a, field) == float(getattr(b, field)), field
    for name in ("int8", "uint8", "int64", "uint64"):
        a, b = tt.iinfo(name), np.iinfo(name)
        assert repr(a) == repr(b)
        assert (a.bits, a.min, a.max) == (b.bits, b.min, b.max)
    assert tt.finfo(tt.complex64).dtype == tt.float32
    with pytest.raises(ValueError):
        tt.finfo(int)
    with pytest.raises(ValueError):
        tt.iinfo(float)


def test_flags():
    def made(m):
        x = m.ones((2, 3))
        return [x, x.T, m.ones((4, 3))[::2], m.ones(3), m.broadcast_to(m.ones(3), (2, 3))]

    names = [name for name in dir(np.ones(1).flags) if name[0] != "_"]
    for a, b in zip(made(np), made(tt)):
        assert [getattr(a.flags, n) for n in names] == [getattr(b.flags, n) for n in names]
        assert set(names) == {n for n in dir(b.flags) if n[0] != "_"}
        for key in "C F O W A X B CA FA FNC FORC CARRAY BEHAVED CONTIGUOUS FORTRAN".split():
            assert a.flags[key] == b.flags[key], key
        assert (b.flags == b.flags) and (a.flags == np.ones(3).flags) == (b.flags == tt.ones(3).flags)


def test_isdtype():
    assert tt.isdtype(tt.int8, "signed integer") and tt.isdtype(tt.int8, ("bool", "integral"))
    assert not tt.isdtype(tt.float32, "integral") and tt.isdtype(tt.float32, tt.float32)
    with pytest.raises(ValueError):
        tt.isdtype(tt.int8, "no kind")


@pytest.mark.parametrize("dtype", ["bool", "int8", "float16", "float32", "complex128"])
def test_a_large_copy_is_numpys_own(dtype):
    rng = np.random.default_rng(5)
    want = (rng.standard_normal((3, 517, 1031)) * 9).astype(dtype)
    a = tt.array(want)
    views = {
        "whole": (a, want),
        "transposed": (a.T, want.T),
        "part": (a[1], want[1]),
        "strided": (a[:, ::2, 1:], want[:, ::2, 1:]),
        "swapped": (a.swapaxes(1, 2), want.swapaxes(1, 2)),
        "pending": (a + a, want + want),
    }
    for name, (x, y) in views.items():
        for got in (x.numpy(), x.__array__(copy=True), x.__array__(y.dtype, copy=True), np.array(x)):
            assert got.dtype == y.dtype and got.shape == y.shape and got.tobytes() == y.tobytes(), name
            assert got.strides == np.array(y).strides, name
        got = x.numpy()
        assert got.flags.writeable
        got[...] = 1
        assert x.numpy().tobytes() == y.tobytes(), name
    assert a.__array__("complex64").dtype == "complex64"
    assert not np.asarray(a).flags.writeable  # shared


def test_a_large_copy_goes_straight_from_a_device(tmp_path):
    program = """
import numpy as np, tutti as tt
from tutti import _core
want = np.arange(1 << 20, dtype="f4")
a = tt.array(want, device="null")
assert a.numpy()[7] == 7  # what moves bytes has its memory now
live = _core._test_live()
assert (a.numpy() == want).all() and (a.reshape(1024, 1024).T.numpy() == want.reshape(1024, 1024).T).all()
assert _core._test_live() < live + want.nbytes // 2, "a copy of ours stays behind"
assert tt.ledger()["downloads"] == 3
"""
    env = dict(os.environ, TUTTI_NULL_DEVICE="1", TUTTI_CACHE_DIR=str(tmp_path))
    subprocess.run([sys.executable, "-c", program], check=True, env=env)


RULES = ["no", "equiv", "safe", "same_kind", "unsafe"]


@pytest.mark.filterwarnings("ignore:Casting complex values")
@pytest.mark.parametrize("rule", RULES)
def test_casting_rules(rule):
    types = ["bool", "int8", "int64", "uint8", "uint64", "float16", "float32", "float64", "complex64", "complex128"]
    for a in types:
        for b in types:
            allowed = np.can_cast(a, b, rule)
            assert tt.can_cast(a, b, casting=rule) == allowed, (a, b)
            for m in (np, tt):
                x, out = m.ones(3, dtype=a), m.zeros(3, dtype=b)
                for cast in (lambda: x.astype(b, casting=rule), lambda: m.copyto(out, x, casting=rule)):  # noqa: B023
                    if allowed:
                        cast()
                        assert out.tolist() in ([0, 0, 0], [1, 1, 1])
                    else:
                        with pytest.raises(
                            TypeError, match=f"(?s)Cannot cast array data.*according to the rule '{rule}'"
                        ):
                            cast()


def test_casting_rules_that_are_none():
    for m in (np, tt):
        x = m.ones(3)
        for call in (
            lambda: x.astype("f4", casting="perhaps"),  # noqa: B023
            lambda: m.can_cast("f4", "f8", "perhaps"),  # noqa: B023
            lambda: m.copyto(x, x, casting="perhaps"),  # noqa: B023
            lambda: m.concatenate([x, x], casting="perhaps"),  # noqa: B023
        ):
            with pytest.raises(ValueError, match="casting must be one of 'no', 'equiv', 'safe', 'same_kind'"):
                call()
        with pytest.raises(TypeError, match="does not support Python ints, floats, and complex"):
            m.can_cast(1, "f4")


def test_get_as_cupy_has_it():
    x = tt.arange(6.0).reshape(2, 3)
    assert x.get().flags.c_contiguous and x.get(order="F").flags.f_contiguous and x.T.get(order="A").flags.f_contiguous
    out = np.empty((2, 3))
    assert x.get(stream=None, out=out) is out and out.tolist() == x.tolist()
    assert x.get(blocking=False).tolist() == x.tolist()
    turned = np.empty((3, 2)).T
    assert x.get(out=turned).tolist() == x.tolist()
    with pytest.raises(TypeError):
        x.get(out=np.empty((2, 3), "f4"))
    with pytest.raises(TypeError):
        x.get(out=[0.0])
    with pytest.raises(ValueError):
        x.get(out=np.empty(6))
    with pytest.raises(ValueError):
        x.get(order="Z")


class Emptying:
    """Empties the list it lies in as soon as it is asked anything."""

    def __init__(self, home):
        self.home = home

    def __getattr__(self, name):
        self.home.clear()
        raise AttributeError(name)

    def __float__(self):
        self.home.clear()
        return 1.0

    def __index__(self):
        self.home.clear()
        return 1


@pytest.mark.parametrize(
    "kind", [Emptying, type("Number", (Emptying, float), {"__new__": lambda c, h: float.__new__(c)})]
)
@pytest.mark.parametrize("n", [1, 2, 40])
def test_a_list_that_is_emptied_while_it_is_read(kind, n):
    """Whatever comes of it, nothing is read that is not there any more."""
    for before in ([], [1.5], [[1.5]]):
        home = list(before)
        home.extend(kind(home) for _ in range(n))
        try:
            tt.array(home)
        except (IndexError, TypeError, ValueError):
            pass
        assert len(home) <= n + 1


FIELDS = np.dtype([("a", "i4"), ("b", "f8")])


@pytest.mark.parametrize("dtype", ["i,i", FIELDS, [("a", "i4")]], ids=["text", "dtype", "list"])
def test_structured_types_are_refused_by_name(dtype):
    with pytest.raises(TypeError, match="structured data types are not supported"):
        tt.zeros(3, dtype=dtype)
    with pytest.raises(TypeError, match="structured data types are not supported"):
        tt.zeros(3).astype(dtype)
