"""Array functions against NumPy, from tables: results, types, shapes, whether they alias, and the words of errors.

A case is the name of a function and its arguments (cases_*.py). The same call goes to NumPy and to tutti; arrays are
converted on the way.
"""

import warnings
from collections import defaultdict

import cases_choice
import cases_layout
import cases_order
import numpy as np
import pytest
import tutti as tt

CASES = defaultdict(list)  # {function: [(args, kwargs)]}
WRITES = defaultdict(list)  # {function: [(array, args, kwargs)]}: functions that write into their first argument


def chk(name, *args, **kwargs):
    CASES[name].append((args, kwargs))


def chkw(name, array, *args, **kwargs):
    WRITES[name].append((array, args, kwargs))


def ours(x):
    if isinstance(x, np.ndarray):  # in the same layout
        order = np.argsort([-abs(s) for s in x.strides], kind="stable")
        return tt.asarray(x.transpose(order)).transpose(*np.argsort(order)) if x.ndim > 1 else tt.asarray(x)
    if type(x) in (list, tuple) and any(isinstance(y, np.ndarray) for y in x):
        return type(x)(map(ours, x))
    return x


def run(function, args, kwargs):
    """The result, or the error."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return function(*args, **kwargs)
    except Exception as e:
        return e


def error_text(e):
    return f"{type(e).__name__}: {e}"


def difference(want, got):
    """None when the two agree, else how they do not."""
    if isinstance(want, Exception) or isinstance(got, Exception):
        both = [error_text(x) if isinstance(x, Exception) else repr(x)[:200] for x in (want, got)]
        return (
            None
            if both[0] == both[1] and isinstance(want, Exception) and isinstance(got, Exception)
            else " / ".join(both)
        )
    if isinstance(want, (tuple, list)):
        if not isinstance(got, (type(want), list)) and not hasattr(got, "_fields"):
            return f"{type(want)} / {type(got)}"
        if len(want) != len(got):
            return f"{len(want)} results / {len(got)}"
        return next((d for d in map(difference, want, got) if d), None)
    if want is None or got is None:
        return None if want is got else f"{want!r} / {got!r}"
    w, g = np.asarray(want), np.asarray(got)
    if w.dtype != g.dtype or w.shape != g.shape:
        return f"{w.dtype}{w.shape} / {g.dtype}{g.shape}"
    if w.dtype.kind not in "fc":
        return None if np.array_equal(w, g) else f"{w} / {g}"
    half = w.dtype == np.float16
    close = {"rtol": 2e-2 if half else 1e-12 if w.dtype.itemsize >= 8 else 2e-6, "atol": 2e-3 if half else 1e-300}
    return None if np.allclose(g, w, equal_nan=True, **close) else f"{w} / {g}"


for _module in (cases_layout, cases_choice, cases_order):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        _module.cases(chk, chkw)

# Where tutti says it otherwise, or gives more digits: (function, what is different).
KNOWN = {
    ("reshape", "cannot reshape"): "NumPy leaves the unknown axis out of its words",
    ("tril", "tri()"): "NumPy's words are about its own parts",
    ("swapaxes", "axis2"): "NumPy names the parameter",
    ("split", "tuple index"): "NumPy's words are about its own parts",
    ("array_split", "tuple index"): "NumPy's words are about its own parts",
    ("partition", ""): "what lies between the places may differ",
    ("argpartition", ""): "what lies between the places may differ",
}


@pytest.mark.parametrize("name", sorted(CASES))
def test_function(name):
    wrong = []
    for args, kwargs in CASES[name]:
        want = run(getattr(np, name), args, kwargs)
        got = run(getattr(tt, name), [ours(a) for a in args], {k: ours(v) for k, v in kwargs.items()})
        d = difference(want, got)
        if d and not any(n == name and words in d for n, words in KNOWN):
            wrong.append(f"{name}{args!r} {kwargs!r}: {d}")
    assert not wrong, f"{len(wrong)} of {len(CASES[name])} differ\n" + "\n".join(wrong[:5])


@pytest.mark.parametrize("name", sorted(WRITES))
def test_writer(name):
    wrong = []
    for array, args, kwargs in WRITES[name]:
        want, got = array.copy(), tt.array(array)
        a = run(getattr(np, name), (want, *args), kwargs)
        b = run(getattr(tt, name), (got, *map(ours, args)), {k: ours(v) for k, v in kwargs.items()})
        d = difference(a, b) if isinstance(a, Exception) or isinstance(b, Exception) else difference(want, got)
        if d:
            wrong.append(f"{name}({array!r}, {args!r}) {kwargs!r}: {d}")
    assert not wrong, "\n".join(wrong[:5])


VIEWS = [
    ("reshape", (6, 4)), ("ravel",), ("transpose",), ("matrix_transpose",), ("moveaxis", 0, 2), ("swapaxes", 0, 1),
    ("rollaxis", 2), ("squeeze",), ("expand_dims", 1), ("flip",), ("flipud",), ("fliplr",), ("rot90",), ("atleast_3d",),
    ("broadcast_to", (5, 2, 3, 4)), ("diagonal",),
]  # fmt: skip


@pytest.mark.parametrize("name, args", [(v[0], v[1:]) for v in VIEWS], ids=[v[0] for v in VIEWS])
def test_view(name, args):
    a = np.arange(24.0).reshape(2, 3, 4)
    x = tt.array(a)
    want, got = getattr(np, name)(a, *args), getattr(tt, name)(x, *args)
    assert np.shares_memory(a, want) and tt.shares_memory(x, got)
    x[1, 1, 1] = a[1, 1, 1] = -7
    np.testing.assert_array_equal(got.numpy(), want)
    if want.flags.writeable and want.size == a.size:
        got[...] = want[...] = np.arange(24.0).reshape(want.shape) + 100
        np.testing.assert_array_equal(x.numpy(), a)
    elif not want.flags.writeable:
        with pytest.raises(ValueError, match="read-only"):
            got[...] = 0


def test_sections_are_views():
    x = tt.zeros((4, 6))
    for part in [*tt.split(x, 2), *tt.hsplit(x, 3), *tt.unstack(x, axis=1)]:
        assert tt.shares_memory(x, part)
    tt.split(x, 2)[1][0, 0] = 5
    assert x[2, 0] == 5


def test_many_results():
    x = tt.arange(1000)
    parts = tt.split(x, 500)
    assert len(parts) == 500 and parts[499].tolist() == [998, 999]
    assert len(tt.unstack(x)) == 1000


@pytest.mark.parametrize("kth", [0, 2, -1, [1, 3]])
@pytest.mark.parametrize("dtype", ["int64", "float32", "uint8"])
def test_partition(kth, dtype):
    a = np.random.default_rng(1).integers(0, 100, (3, 4, 50)).astype(dtype)
    places = np.atleast_1d(kth)
    want = np.sort(a, -1)
    got = tt.partition(tt.asarray(a), kth).numpy()
    np.testing.assert_array_equal(got[..., places], want[..., places])
    np.testing.assert_array_equal(np.sort(got, -1), want)
    for k in places % 50:
        assert (got[..., :k] <= got[..., k : k + 1]).all() and (got[..., k:] >= got[..., k : k + 1]).all()
    by_place = np.take_along_axis(a, tt.argpartition(tt.asarray(a), kth).numpy(), -1)
    np.testing.assert_array_equal(by_place[..., places], want[..., places])


@pytest.mark.parametrize("name", ["unique_values", "unique_counts", "unique_inverse", "unique_all"])
def test_unique_of_the_standard(name):
    a = np.array([[3, 1, 2], [1, 3, 3]])
    want, got = getattr(np, name)(a), getattr(tt, name)(tt.asarray(a))
    if name == "unique_values":
        assert sorted(want.tolist()) == got.tolist()
        return
    assert want._fields == got._fields
    for field in want._fields:
        np.testing.assert_array_equal(getattr(got, field).numpy(), getattr(want, field))


def test_descending():
    x = tt.asarray([2.0, float("nan"), 1.0, 2.0])
    assert tt.argsort(x, descending=True).tolist() == [1, 0, 3, 2]
    np.testing.assert_array_equal(tt.sort(x, descending=True).numpy(), [np.nan, 2, 2, 1])


def test_result_types():
    assert tt.result_type(tt.int8, 3) == tt.int8
    assert tt.result_type("float32", tt.int64) == tt.float64
    assert tt.promote_types("int8", "uint8") == tt.int16


def test_functions_stay_lazy():
    """Nothing here looks at data: the work is recorded, and fused into one pass."""
    x = tt.linspace(0, 1, 1000) + 0
    tt.ledger().reset()
    y = tt.where(tt.clip(x, 0.2, 0.8) > 0.5, tt.roll(x, 0), tt.tril(tt.ones((1000, 1000)))[3]).reshape(10, 100).T
    assert tt.ledger()["launches"] == 0
    y.eval()
    assert tt.ledger()["launches"] <= 3


@pytest.mark.parametrize("name", ["logaddexp2", "heaviside", "spacing", "degrees", "fabs"])
def test_small_and_unsigned_integers_become_floats_first(name):
    """2 - 3 has no meaning in uint16; the type of the result is that of NumPy's loop; complex numbers have none."""
    f, g = getattr(np, name), getattr(tt, name)
    for dtype in ("bool", "int8", "uint16", "int64", "float32"):
        x = [np.array([1, 0, 1], dtype), np.array([0, 1, 1], dtype)][: f.nin]
        got, want = g(*map(tt.asarray, x)), f(*x)
        assert str(got.dtype) == str(want.dtype)
        np.testing.assert_allclose(got.numpy(), want, 1e-3 if want.dtype == "float16" else 1e-6)
    with pytest.raises(TypeError, match=f"ufunc '{name}' not supported for the input types, and the inputs"):
        g(*[tt.array([1j])] * f.nin)
