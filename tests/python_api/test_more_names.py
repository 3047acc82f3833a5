"""poly1d, walks, required arrays, texts into arrays, files as memory and rare methods, against NumPy's."""

import io
import pickle

import numpy as np
import pytest
import tutti as tt


def same_error(f, g):
    with pytest.raises(Exception) as want:  # noqa: PT011 (whatever NumPy raises)
        f()
    with pytest.raises(want.type) as got:
        g()
    assert str(got.value) == str(want.value)


# ---- poly1d

POLYNOMIALS = [
    [1, 2, 3],
    [1.5, 0, -2, 1],
    [1, -1],
    [5],
    [0],
    [0, 0, 2, 1],
    [1 + 2j, 3],
    [1.0] * 30,
    [1, 0, 0],
    [-1, 0, 3],
    [],
]
WORK = [
    lambda p: p + 1,
    lambda p: 1 - p,
    lambda p: p * p,
    lambda p: 2 * p,
    lambda p: p**3,
    lambda p: -p,
    lambda p: p.deriv(),
    lambda p: p.integ(),
    lambda p: p.integ(2, 3),
    lambda p: p / 2,
    lambda p: p * [1, 2],
    lambda p: +p,
    lambda p: p - [1, 0, 0],
    lambda p: p(p) if p.order < 5 else p,
]


@pytest.mark.parametrize("c", POLYNOMIALS, ids=str)
def test_poly1d(c):
    p, q = tt.poly1d(c), np.poly1d(c)
    assert (repr(p), str(p), len(p), p.order, p.o, p.variable) == (repr(q), str(q), len(q), q.order, q.o, q.variable)
    assert p.coeffs.tolist() == q.coeffs.tolist() and str(p.c.dtype) == str(q.c.dtype)
    for f in WORK:
        a, b = f(p), f(q)
        assert type(a) is tt.poly1d
        np.testing.assert_allclose(a.c.numpy(), b.c, rtol=1e-12)
    assert p == tt.poly1d(c) and p != tt.poly1d([7, 7]) and (p == 3) is False
    assert [p[k] for k in range(-1, 6)] == [q[k] for k in range(-1, 6)]
    np.testing.assert_allclose(p(np.array([0.5, 2])).numpy(), q(np.array([0.5, 2])))
    assert complex(p(2)) == pytest.approx(q(2)) and np.asarray(p).tolist() == q.c.tolist()


def test_poly1d_more():
    p, q = tt.poly1d([1, 2, 3], variable="z"), np.poly1d([1, 2, 3], variable="z")
    assert str(p) == str(q)
    np.testing.assert_allclose(tt.poly1d([1, 2], True).c.numpy(), np.poly1d([1, 2], True).c)
    np.testing.assert_allclose(np.sort_complex(p.r.numpy()), np.sort_complex(q.r))
    for m, x in ((tt, p), (np, q)):
        x[5] = 7
        assert [float(v) for v in x] == [7, 0, 0, 1, 2, 3]
        a, b = x / m.poly1d([1, 1])
        assert a.order == 4 and b.order == 0
        with pytest.raises(TypeError):
            hash(x)
    same_error(lambda: np.poly1d([[1]]), lambda: tt.poly1d([[1]]))
    same_error(lambda: q**-1, lambda: p**-1)
    same_error(lambda: q.__setitem__(-1, 0), lambda: p.__setitem__(-1, 0))
    same_error(lambda: setattr(q, "c", [1]), lambda: setattr(p, "c", [1]))


# ---- walks


def test_broadcast():
    args = np.arange(3), np.arange(2)[:, None]
    b, w = tt.broadcast(*map(tt.asarray, args)), np.broadcast(*args)
    assert (b.shape, b.nd, b.ndim, b.size, b.numiter) == (w.shape, w.nd, w.ndim, w.size, w.numiter)
    assert [tuple(map(int, t)) for t in b] == [tuple(map(int, t)) for t in w] and b.index == w.index
    b.reset()
    assert b.index == 0 and tuple(map(int, next(b))) == (0, 0) and len(b.iters) == 2
    with pytest.raises(ValueError, match="shape mismatch"):
        tt.broadcast(tt.arange(2), tt.arange(3))


ARRAYS = [
    np.arange(6).reshape(2, 3),
    np.arange(6).reshape(2, 3).T,
    np.arange(24).reshape(2, 3, 4)[:, ::-1],
    np.array(5),
]


@pytest.mark.parametrize("k", range(len(ARRAYS)))
@pytest.mark.parametrize("order", ["C", "F", "A", "K"])
def test_nditer(k, order):
    a = ARRAYS[k]
    ours = tt.asarray(a.T).T if k == 1 else tt.asarray(a)
    if k == 2:
        order = order.replace("K", "C").replace("A", "C")  # a copy lies forwards
    assert [int(x) for x in tt.nditer(ours, order=order)] == [int(x) for x in np.nditer(a, order=order)]
    got, want = (m.nditer(x, flags=["multi_index", "c_index"], order=order) for m, x in ((tt, ours), (np, a)))
    while not want.finished:
        assert (int(got[0]), got.multi_index, got.index) == (int(want[0]), want.multi_index, want.index)
        assert got.iternext() == want.iternext()
    assert got.finished and (got.ndim, got.nop, got.itersize) == (want.ndim, want.nop, want.itersize)
    parts = list(tt.nditer(ours, flags=["external_loop"], order=order))
    assert np.concatenate([p.numpy() for p in parts]).tolist() == [int(x) for x in np.nditer(a, order=order)]


def test_nditer_of_several():
    a, b = np.arange(3), np.arange(6).reshape(2, 3)
    got = [(int(x), int(y)) for x, y in tt.nditer([tt.asarray(a), tt.asarray(b)])]
    assert got == [(int(x), int(y)) for x, y in np.nditer([a, b])]
    x = tt.arange(6).reshape(2, 3)
    with tt.nditer(x, op_flags=["readwrite"]) as it:
        for e in it:
            e[...] = e * 2
    assert x.tolist() == [[0, 2, 4], [6, 8, 10]]
    it = tt.nditer([x, None], op_flags=[["readonly"], ["writeonly", "allocate"]])
    for u, v in it:
        v[...] = u + 1
    assert it.operands[1].tolist() == [[1, 3, 5], [7, 9, 11]]
    for e in tt.nditer(x):
        with pytest.raises(ValueError, match="read-only"):
            e[...] = 1
        break
    same_error(lambda: np.nditer(a, flags=["nonsense"]), lambda: tt.nditer(tt.asarray(a), flags=["nonsense"]))
    same_error(lambda: np.nditer(a[:0]), lambda: tt.nditer(tt.asarray(a[:0])))
    same_error(lambda: np.nditer(a).multi_index, lambda: tt.nditer(tt.asarray(a)).multi_index)
    assert list(tt.nditer(tt.asarray(a[:0]), flags=["zerosize_ok"])) == []
    assert [x.dtype.name for x in tt.nditer(tt.asarray(a), flags=["buffered"], op_dtypes=["float64"])] == [
        "float64"
    ] * 3


def test_apply_over_axes():
    a = np.arange(24).reshape(2, 3, 4)
    for axes in ([0, 2], 1, (-1,)):
        assert tt.apply_over_axes(tt.sum, tt.asarray(a), axes).tolist() == np.apply_over_axes(np.sum, a, axes).tolist()


# ---- arrays as required


def test_require():
    a = np.arange(6).reshape(2, 3)
    for wanted in (None, "C", "F", ["F"], ["C", "W"], ["O"], ["E"], ["F_CONTIGUOUS", "OWNDATA"]):
        got, want = tt.require(tt.asarray(a)[:, ::2], "f4", wanted), np.require(a[:, ::2], "f4", wanted)
        assert got.tolist() == want.tolist() and got.flags.f_contiguous == want.flags.f_contiguous
    read = tt.broadcast_to(tt.arange(3), (2, 3))
    assert tt.require(read, requirements="W").flags.writeable
    same_error(lambda: np.require(a, None, ["C", "F"]), lambda: tt.require(a, None, ["C", "F"]))


def test_types_of_values():
    for types in (["f4"], ["i2"], ["f4", "c8"], ["f2", "i1"], ["f4", "f8"]):
        got, want = (m.common_type(*[m.ones(2, t) for t in types]) for m in (tt, np))
        assert str(tt.dtype(got)) == str(np.dtype(want))
    same_error(lambda: np.common_type(np.ones(1, bool)), lambda: tt.common_type(tt.ones(1, bool)))
    for v in (0, 255, 256, -1, -129, 70000, -(2**40), 2**63, 1.5, 1e5, 1e39, 1j, 1e39j, float("inf")):
        assert str(tt.min_scalar_type(v)) == str(np.min_scalar_type(v))
    assert tt.typename("d") == np.typename("d")
    assert tt.iterable([1]) and not tt.iterable(3)


def test_small_functions():
    assert [x.tolist() for x in tt.mask_indices(3, tt.triu, 1)] == [x.tolist() for x in np.mask_indices(3, np.triu, 1)]
    assert tt.asarray_chkfinite([1, 2]).tolist() == [1, 2]
    same_error(lambda: np.asarray_chkfinite([np.nan]), lambda: tt.asarray_chkfinite([np.nan]))
    with pytest.warns(DeprecationWarning, match="vstack"):
        assert tt.row_stack([[1, 2], [3, 4]]).tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize("name", ["sqrt", "log", "log10", "log2", "arccos", "arcsin", "arctanh"])
def test_functions_that_leave_the_reals(name):
    for x in ([0.5, 0.25], [-0.5, 2.0], [4, -4], np.array([-1, 2], "f4"), 0.5, -2.0):
        with np.errstate(all="ignore"):
            want = getattr(np.emath, name)(x)
        got = getattr(tt.emath, name)(x)
        assert str(got.dtype) == str(want.dtype)
        np.testing.assert_allclose(got.numpy(), want, rtol=1e-6)
    np.testing.assert_allclose(tt.emath.power([-2.0, 4], 0.5).numpy(), np.emath.power([-2.0, 4], 0.5))
    np.testing.assert_allclose(tt.emath.power([2, 4], -2).numpy(), np.emath.power([2, 4], -2))
    np.testing.assert_allclose(tt.emath.logn(2, [4, -4]).numpy(), np.emath.logn(2, [4, -4]))


# ---- texts and files


def test_fromstring():
    for text, more in (
        ("1 2 3", {"sep": " "}),
        ("1, 2,3", {"sep": ",", "dtype": int}),
        ("1.5 2", {"sep": " ", "count": 1}),
    ):
        got, want = tt.fromstring(text, **more), np.fromstring(text, **more)
        assert got.tolist() == want.tolist() and str(got.dtype) == str(want.dtype)
    with pytest.raises(ValueError, match="binary mode"):
        tt.fromstring("abc", sep="")
    with pytest.raises(ValueError, match="could not be read"):
        tt.fromstring("1 x", sep=" ")


TABLES = [
    ("1,2,3\n4,,6\n", {"delimiter": ","}),
    ("1 2\n3 4", {}),
    ("# head\n1 2 # tail\n\n3 4\n", {}),
    ("1,N/A,3\n4,5,6", {"delimiter": ","}),
    ("1,2\n3,-\n", {"delimiter": ",", "missing_values": "-", "filling_values": 9}),
    ("1;2\n3;4", {"delimiter": ";", "dtype": int}),
    ("a b\n1 2\n3 4\nend x", {"skip_header": 1, "skip_footer": 1}),
    ("1 2 3\n4 5 6", {"usecols": (0, -1)}),
    ("1 2\n3 4", {"unpack": True}),
    ("123\n456", {"delimiter": 1}),
    ("1,2\n3,4", {"delimiter": ",", "dtype": None}),
    ("1.5,2\n3,4", {"delimiter": ",", "dtype": "f4"}),
    ("1 2\n3 4\n5 6", {"max_rows": 2}),
    ("7", {}),
    ("1 2 3", {}),
    ("1\n2\n", {"ndmin": 2}),
    ("1,,3", {"delimiter": ",", "dtype": int}),
]


@pytest.mark.parametrize("text, more", TABLES)
def test_genfromtxt(text, more, tmp_path):
    want = np.genfromtxt(io.StringIO(text), **more)
    path = tmp_path / "table.txt"
    path.write_text(text)
    for source in (io.StringIO(text), io.BytesIO(text.encode()), path, text.splitlines()):
        got = tt.genfromtxt(source, **more)
        assert got.shape == want.shape and str(got.dtype) == str(want.dtype)
        np.testing.assert_array_equal(got.numpy(), want)


def test_tables_that_do_not_fit():
    with pytest.raises(ValueError, match="Line #2 .got 1 columns instead of 2"):
        tt.genfromtxt(io.StringIO("1 2\n3"))
    with pytest.warns(UserWarning, match="Some errors"):
        assert tt.genfromtxt(io.StringIO("1 2\n3\n4 5"), invalid_raise=False).tolist() == [[1, 2], [4, 5]]
    with pytest.warns(UserWarning, match="Empty input"):
        assert tt.genfromtxt(io.StringIO("")).shape == (0,)
    with pytest.raises(NotImplementedError):
        tt.genfromtxt(io.StringIO("a b\n1 2"), names=True)
    got = tt.genfromtxt(io.StringIO("1 5%\n2 6%"), converters={1: lambda w: float(str(w).strip("b'%"))})
    assert got.tolist() == [[1, 5], [2, 6]]


def test_memmap(tmp_path):
    path = tmp_path / "numbers"
    np.arange(100, dtype="f4").tofile(path)
    for more in (
        {},
        {"dtype": "f4"},
        {"dtype": "f4", "offset": 40},
        {"dtype": "f4", "shape": (5, 4), "offset": 8},
        {"dtype": "i2", "shape": 3},
    ):
        got, want = tt.memmap(path, mode="r", **more), np.memmap(path, mode="r", **more)
        assert (
            got.shape == want.shape and np.asarray(got).tolist() == want.tolist() and got.filename == str(want.filename)
        )
        assert not got.flags.writeable and (got.offset, got.mode) == (want.offset, want.mode)
    part = tt.memmap(path, "f4", "r")[3:5]
    assert type(part) is tt.memmap and (part + 1).tolist() == [4, 5]
    copy = tt.memmap(path, "f4", "c", shape=3)
    copy[0] = 5
    assert copy[0] == 5 and np.fromfile(path, "f4")[0] == 0
    with pytest.raises(ValueError, match="multiple of"):
        tt.memmap(path, "f8", "r", offset=4 * 99)
    with pytest.raises(ValueError, match="greater than file"):
        tt.memmap(path, "f4", "r", shape=(101,))
    with pytest.raises(NotImplementedError):
        tt.memmap(path, "f4", "r+")
    with pytest.raises(FileNotFoundError):
        tt.memmap(tmp_path / "none", "f4", "r")


# ---- methods


def test_resize():
    for shape in [(2, 2), (8,), (0,), (3, 4), 5]:
        a, b = tt.arange(6.0), np.arange(6.0)
        a.resize(shape)
        b.resize(shape, refcheck=False)
        assert a.tolist() == b.tolist() and a.shape == b.shape
    a = tt.arange(6)
    a.resize(2, 3)
    view = a[1:]
    assert a.shape == (2, 3)
    same_error(lambda: np.arange(6)[1:].resize(2), lambda: view.resize(2))
    same_error(lambda: np.arange(6).resize(-2), lambda: tt.arange(6).resize(-2))


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "u8", "f2", "f4", "f8"])
def test_bytes_of_elements(dtype):
    x = np.arange(6).astype(dtype).reshape(2, 3)
    assert tt.asarray(x).byteswap().tobytes() == x.byteswap().tobytes()
    assert tt.asarray(x.T).byteswap().tobytes() == x.T.byteswap().tobytes()
    a = tt.array(x)
    assert a.byteswap(True) is a and a.tobytes() == x.byteswap().tobytes()
    if x.itemsize > 1:
        half = f"u{x.itemsize // 2}"
        for offset in (0, x.itemsize // 2):
            assert tt.asarray(x).getfield(half, offset).tolist() == x.getfield(half, offset).tolist()
        a, b = tt.array(x), x.copy()
        a.setfield(3, half, x.itemsize // 2)
        b.setfield(3, half, x.itemsize // 2)
        assert a.tobytes() == b.tobytes()
    same_error(lambda: x.getfield("u1", 99), lambda: tt.asarray(x).getfield("u1", 99))


def test_pickles_of_methods(tmp_path):
    a = tt.arange(5)
    assert pickle.loads(a.dumps()).tolist() == a.tolist()
    a.dump(tmp_path / "a.pkl")
    assert pickle.loads((tmp_path / "a.pkl").read_bytes()).tolist() == a.tolist()
    with open(tmp_path / "b.pkl", "wb") as f:
        a.dump(f)
    assert pickle.loads((tmp_path / "b.pkl").read_bytes()).tolist() == a.tolist()
    assert a.data.tolist() == a.tolist() and a.data.readonly


def test_flatiter():
    x = np.arange(6).reshape(2, 3)
    a, b = tt.asarray(x).flat, x.flat
    assert isinstance(a, tt.flatiter)
    for _ in range(5):
        assert (a.index, a.coords) == (b.index, b.coords) and int(next(a)) == int(next(b))
