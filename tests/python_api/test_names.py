"""Kinds of types, walks and grids, against NumPy's."""

import inspect
import itertools

import numpy as np
import pytest
import tutti as tt

TYPES = ["bool", "int8", "uint16", "int64", "float16", "float32", "float64", "complex64", "complex128"]
KINDS = ["generic", "number", "integer", "signedinteger", "unsignedinteger", "inexact", "floating", "complexfloating"]


def test_kinds():
    for t, k in itertools.product(TYPES, KINDS):
        assert tt.issubdtype(t, getattr(tt, k)) == np.issubdtype(t, getattr(np, k)), (t, k)
        assert tt.issubdtype(tt.dtype(t), getattr(tt, k)) == np.issubdtype(t, getattr(np, k))
    for a, b in itertools.product(KINDS, KINDS):
        assert tt.issubdtype(getattr(tt, a), getattr(tt, b)) == np.issubdtype(getattr(np, a), getattr(np, b))
    assert tt.issubdtype(tt.float32, "float32") and not tt.issubdtype(tt.float32, float)
    assert not tt.issubdtype(tt.floating, tt.float32)
    for t, k in itertools.product(TYPES, KINDS):
        theirs = issubclass(np.dtype(t).type, getattr(np, k))
        assert issubclass(tt.dtype(t), getattr(tt, k)) == issubclass(np.dtype(t).type, getattr(tt, k)) == theirs
    assert not any(issubclass(c, tt.generic) for c in (int, float, np.str_, np.ndarray, np.longdouble))
    with pytest.raises(TypeError):
        tt.floating(3)


def test_silence():
    with tt.errstate(divide="ignore", invalid="raise"):
        assert tt.asarray(1.0).__truediv__(0).item() == np.inf
    assert tt.seterr(all="ignore") == tt.geterr()

    @tt.errstate(over="ignore")
    def f():
        return 3

    assert f() == 3
    with pytest.raises(TypeError):
        tt.errstate(nonsense="ignore")
    with pytest.raises(ValueError):
        tt.seterr(all="loud")


@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (2, 0), (2, 1, 3)])
def test_walks(shape):
    assert list(tt.ndindex(shape)) == list(np.ndindex(shape))
    assert list(tt.ndindex(*shape)) == list(np.ndindex(*shape))
    x = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    assert list(tt.ndenumerate(tt.asarray(x))) == [(i, int(v)) for i, v in np.ndenumerate(x)]


GRIDS = [
    lambda m: m[0:5], lambda m: m[:3], lambda m: m[0:1:5j], lambda m: m[0:3, 0:2], lambda m: m[0:1:3j, 0:2],
    lambda m: m[-1:1:0.5, 2:5, 0:2],
]  # fmt: skip


@pytest.mark.parametrize("call", GRIDS)
def test_grids(call):
    for name in ["mgrid", "ogrid"]:
        got, want = call(getattr(tt, name)), call(getattr(np, name))
        if not isinstance(want, tuple):
            got, want = (got,), (want,)
        assert len(got) == len(want)
        for g, w in zip(got, want, strict=True):
            assert str(g.dtype) == str(w.dtype) and g.shape == w.shape
            np.testing.assert_allclose(g.numpy(), w, atol=1e-15)


A, B = np.arange(3), np.arange(6.0).reshape(2, 3)
JOINTS = [
    lambda m, f: m.r_[f(A), 0, 5, f(A)], lambda m, f: m.r_[1:4, 0, 2:8:2], lambda m, f: m.r_[0:1:3j, 7],
    lambda m, f: m.r_["-1", f(B), f(B)], lambda m, f: m.r_["0,2", f(A), f(A)], lambda m, f: m.r_[f(B), f(B)],
    lambda m, f: m.r_["0,2,0", f(A), f(A)], lambda m, f: m.r_["1,2,0", f(A), f(A)],
    lambda m, f: m.r_["0,3,1", f(A), f(A)],
    lambda m, f: m.c_[f(A), f(A)], lambda m, f: m.c_[f(B), [[1], [2]]], lambda m, f: m.c_[0:3, f(A)],
    lambda m, f: m.r_[3],
    lambda m, f: m.r_["0,3,-1", f(A), f(A)], lambda m, f: m.r_["0,3,0", f(B), f(B)],
]  # fmt: skip


@pytest.mark.parametrize("call", JOINTS)
def test_joints(call):
    got, want = call(tt, tt.asarray), call(np, np.asarray)
    assert str(got.dtype) == str(want.dtype) and got.shape == want.shape
    np.testing.assert_allclose(got.numpy(), want)


def test_signatures_can_be_read():
    for f in [*tt._core.functions.values(), *vars(tt).values()]:
        if type(f).__name__ == "builtin_function_or_method":
            inspect.signature(f)
    assert inspect.signature(tt.zeros).parameters["dtype"].default == "float64"


def test_signatures_of_methods():
    for name, f in vars(tt.ndarray).items():
        if callable(f) and not name.startswith("_"):
            assert next(iter(inspect.signature(f).parameters)) == "self", name
    assert str(inspect.signature(tt.ones(3).sum)) == str(inspect.signature(tt.sum)).replace("a, ", "")


def test_documentation_names_every_parameter():
    for name, f in tt._core.functions.items():
        if type(f).__name__ != "builtin_function_or_method":
            continue  # a ufunc
        said = f.__doc__.partition("Parameters\n----------\n")[2]
        listed = [line.split(" : ")[0].strip("*") for line in said.splitlines() if " : " in line and line[0] != " "]
        hidden = ("rng", "ufunc")  # of methods: what they belong to
        assert listed == [p for p in inspect.signature(f).parameters if p not in hidden], name


def test_keywords_are_numpys():
    assert tt.isscalar(element=3) and tt.isscalar(np.float32(1)) and tt.isscalar(np.bool_(1)) and not tt.isscalar([1])
    assert tt.fromiter(iter=range(3), dtype=int).tolist() == [0, 1, 2]
    assert tt.array_repr(arr=tt.arange(3)) == np.array_repr(arr=np.arange(3))


def test_compress_as_a_method():
    x, a = np.arange(6).reshape(2, 3), tt.arange(6).reshape(2, 3)
    for args in (([True, False, True], 1), ([False, True], 0), ([0, 1, 1, 0, 1],)):
        assert a.compress(*args).tolist() == x.compress(*args).tolist()
    out = tt.zeros((2, 2), dtype=int)
    assert a.compress(condition=[1, 0, 1], axis=1, out=out) is out and out.tolist() == [[0, 2], [3, 5]]
