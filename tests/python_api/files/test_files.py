"""Arrays in files, written and read by both tutti and NumPy; what is interrupted leaves the old file."""

import gc
import io
import os
import stat
import warnings

import numpy as np
import pytest
import tutti as tt

TYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
TYPES += ["float16", "float32", "float64", "complex64", "complex128"]
SHAPES = [(), (0,), (1,), (7,), (3, 4), (2, 0, 5), (2, 3, 4, 5)]


def make(shape, dtype):
    return np.random.default_rng(1).integers(0, 100, shape).astype(dtype)


def same(a, b):
    a = a.numpy() if isinstance(a, tt.ndarray) else a
    b = b.numpy() if isinstance(b, tt.ndarray) else b
    assert a.dtype == b.dtype and a.shape == b.shape
    np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("dtype", TYPES)
def test_npy_both_ways(tmp_path, dtype):
    for shape in SHAPES:
        x = make(shape, dtype)
        tt.save(tmp_path / "ours", tt.asarray(x))
        same(np.load(tmp_path / "ours.npy"), x)
        np.save(tmp_path / "theirs.npy", x)
        assert (tmp_path / "ours.npy").read_bytes() == (tmp_path / "theirs.npy").read_bytes()
        same(tt.load(tmp_path / "theirs.npy"), x)
        same(tt.load(str(tmp_path / "ours.npy")), x)
    assert sorted(os.listdir(tmp_path)) == ["ours.npy", "theirs.npy"]


def test_views_orders_and_versions(tmp_path):
    x = make((4, 6), "float32")
    for v in [lambda a: a.T, lambda a: a[::-1, ::2], lambda a: a[1], lambda a: a + 1]:
        tt.save(tmp_path / "v.npy", v(tt.asarray(x)))
        same(np.load(tmp_path / "v.npy"), v(x))
        same(tt.load(tmp_path / "v.npy"), v(x))
    np.save(tmp_path / "f.npy", np.asfortranarray(x))
    same(tt.load(tmp_path / "f.npy"), x)
    for dtype in [">i2", ">f8", ">c8", ">u4", ">c16"]:
        np.save(tmp_path / "b.npy", x.astype(dtype))
        same(tt.load(tmp_path / "b.npy"), x.astype(dtype).astype(np.dtype(dtype).newbyteorder("=")))
    for version in [(1, 0), (2, 0), (3, 0)]:
        with open(tmp_path / "n.npy", "wb") as f:
            np.lib.format.write_array(f, x, version=version)
        same(tt.load(tmp_path / "n.npy"), x)
    a = tt.load(tmp_path / "n.npy")
    a[0] = 5  # what was read can be written to
    assert (a.numpy()[0] == 5).all()
    tt.save(tmp_path / "list.npy", [1, 2, 3])
    same(np.load(tmp_path / "list.npy"), np.asarray([1, 2, 3]))


def test_open_files():
    f = io.BytesIO()
    x, y = make((3, 4), "int16"), make(5, "float64")
    tt.save(f, tt.asarray(x))
    tt.save(f, tt.asarray(y))
    f.seek(0)
    same(np.load(f), x)
    same(np.load(f), y)
    f.seek(0)
    same(tt.load(f), x)
    same(tt.load(f), y)
    with pytest.raises(EOFError, match="No data left in file"):
        tt.load(f)


@pytest.mark.parametrize("save", ["savez", "savez_compressed"])
def test_npz(tmp_path, save):
    x, y = make((3, 4), "int16"), make(5, "complex64")
    getattr(tt, save)(tmp_path / "z", tt.asarray(x), name=tt.asarray(y), empty=[])
    with np.load(tmp_path / "z.npz") as z:
        assert sorted(z.files) == ["arr_0", "empty", "name"]
        same(z["arr_0"], x)
        same(z["name"], y)
    with tt.load(tmp_path / "z.npz") as z:
        assert sorted(z) == ["arr_0", "empty", "name"] and len(z) == 3 and "name" in z
        same(z["arr_0"], x)
        same(z["name.npy"], y)
        with pytest.raises(KeyError, match="nothing is not a file in the archive"):
            z["nothing"]
    getattr(np, save)(tmp_path / "n.npz", x, k=y)
    z = tt.load(tmp_path / "n.npz")
    same(z["k"], y)
    z.close()
    with pytest.raises(ValueError, match="Cannot use un-named variables and keyword arr_0"):
        tt.savez(tmp_path / "bad.npz", x, arr_0=y)
    assert not (tmp_path / "bad.npz").exists() and len(os.listdir(tmp_path)) == 2


def test_a_file_of_many_arrays_that_nobody_holds_is_closed(tmp_path):
    tt.savez(tmp_path / "z.npz", tt.arange(3))
    gc.collect()  # what other tests left is not asked of this one
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        assert tt.load(tmp_path / "z.npz")["arr_0"].tolist() == [0, 1, 2]
        gc.collect()
    assert not seen


@pytest.mark.parametrize("mode", ["r", "c"])
def test_mapped(tmp_path, mode):
    x = make((30, 40), "float64")
    np.save(tmp_path / "m.npy", x)
    a = tt.load(tmp_path / "m.npy", mmap_mode=mode)
    same(a, x)
    assert tt.sum(a).item() == x.sum()
    with pytest.raises(ValueError, match="mmap_mode"):
        tt.load(tmp_path / "m.npy", mmap_mode="r+")


def test_raw_files(tmp_path):
    x = make((3, 5), "float32")
    for v in (x, x.T, x[:, ::2]):
        tt.asarray(v).tofile(tmp_path / "raw")
        same(np.fromfile(tmp_path / "raw", "float32"), v.ravel())
    same(tt.fromfile(tmp_path / "raw", "float32"), x[:, ::2].ravel())
    same(tt.fromfile(tmp_path / "raw", tt.float32, 4, offset=8), x[:, ::2].ravel()[2:6])
    tt.asarray(make(4, "int64")).tofile(str(tmp_path / "text"), sep=", ")
    same(tt.fromfile(tmp_path / "text", "int64", sep=","), make(4, "int64"))
    same(np.fromfile(tmp_path / "text", "int64", sep=","), make(4, "int64"))
    with open(tmp_path / "two", "wb") as f:
        tt.ones(2).tofile(f)
        tt.zeros(1).tofile(f)
    same(np.fromfile(tmp_path / "two"), np.asarray([1.0, 1, 0]))
    assert tt.fromfile(tmp_path / "two", count=0).shape == (0,)


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "a.npy"
    tt.save(path, tt.arange(3))
    before = path.read_bytes()

    def full(fd):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as m:
        m.setattr(os, "fsync", full)
        for write in (lambda: tt.save(path, tt.arange(9)), lambda: tt.arange(9).tofile(path)):
            with pytest.raises(OSError, match="No space left"):
                write()
    with pytest.raises(TypeError, match="bfloat16"):
        tt.save(path, tt.ones(3, dtype="bfloat16"))
    with pytest.raises(OSError):
        tt.save(tmp_path / "nowhere" / "b.npy", tt.arange(3))
    assert path.read_bytes() == before and os.listdir(tmp_path) == ["a.npy"]


def test_links_and_modes_stay(tmp_path):
    real, link = tmp_path / "real.npy", tmp_path / "link.npy"
    tt.save(real, tt.arange(3))
    real.chmod(0o640)
    link.symlink_to(real)
    tt.save(link, tt.arange(5))
    assert link.is_symlink() and stat.S_IMODE(real.stat().st_mode) == 0o640
    same(tt.load(real), np.arange(5))
    tt.arange(3).tofile("/dev/null")


def header(text, version=b"\x01\x00"):
    text = text.encode("latin1")
    return b"\x93NUMPY" + version + len(text).to_bytes(2, "little") + text


@pytest.mark.parametrize(
    "data, words",
    [
        (b"nonsense, no array", "pickled data"),
        (b"\x93NUMPY", "format version"),
        (b"\x93NUMPY\x09\x00", "format version"),
        (b"\x93NUMPY\x01\x00\xff", "too early"),
        (header("{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }") + b"12345678", "expected 24 bytes got 8"),
        (header("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000000,), }"), "EOF"),
        (header("{'descr': '<f8', 'shape': (3,), }"), "correct keys"),
        (header("{'descr': '<f8', 'fortran_order': 1, 'shape': (3,), }"), "fortran_order"),
        (header("{'descr': '<f8', 'fortran_order': False, 'shape': (-3,), }"), "shape is not valid"),
        (header("{'descr': '<f8', 'fortran_order': False, 'shape': 3, }"), "shape is not valid"),
        (header("{'descr': '|O', 'fortran_order': False, 'shape': (3,), }"), "Object arrays cannot be loaded"),
        (header("{'descr': '<U3', 'fortran_order': False, 'shape': (3,), }"), "not a type"),
        (header("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (3,), }"), "not a type"),
        (header("__import__('os').abort()"), "Cannot parse"),
        (header("[1]"), "not a dictionary"),
        (header("{'descr': '<f8'" + " " * 20000 + "}"), "may not be safe"),
    ],
)
def test_damaged_files(tmp_path, data, words):
    (tmp_path / "x.npy").write_bytes(data)
    for file in (tmp_path / "x.npy", io.BytesIO(data)):
        with pytest.raises(ValueError, match=words):
            tt.load(file)


FORMATS = [
    ("float64", {}),
    ("float64", {"fmt": "%.3f", "delimiter": ","}),
    ("int64", {"fmt": "%d", "header": "two\nlines", "footer": "end"}),
    ("complex128", {}),
    ("float32", {"fmt": ["%.2f", "%d", "%g", "%e"]}),
    ("float64", {"fmt": "%d a %d b %d c %d", "newline": ";\n", "comments": "// ", "header": "x"}),
]


@pytest.mark.parametrize("dtype, keywords", FORMATS)
def test_text_is_numpys(tmp_path, dtype, keywords):
    for shape in [(3, 4), (2, 4)]:
        x = make(shape, dtype) - (3j if dtype.startswith("complex") else 3)
        tt.savetxt(tmp_path / "ours", tt.asarray(x), **keywords)
        np.savetxt(tmp_path / "theirs", x, **keywords)
        assert (tmp_path / "ours").read_bytes() == (tmp_path / "theirs").read_bytes()
    if "newline" not in keywords:
        same(tt.loadtxt(tmp_path / "ours", dtype, delimiter=keywords.get("delimiter")), x.astype(dtype))
    for file in (io.StringIO(), io.BytesIO()):
        tt.savetxt(file, x, **keywords)
        got = file.getvalue()
        assert (got if isinstance(got, bytes) else got.encode()) == (tmp_path / "theirs").read_bytes()


@pytest.mark.parametrize("ending", [".gz", ".bz2", ".xz"])
def test_packed_text(tmp_path, ending):
    x = make((3, 4), "float64")
    tt.savetxt(tmp_path / ("t" + ending), x)
    same(np.loadtxt(tmp_path / ("t" + ending)), x)
    same(tt.loadtxt(tmp_path / ("t" + ending)), x)


@pytest.mark.parametrize(
    "text, keywords",
    [
        ("1 2 3\n4 5 6\n", {}),
        ("1 2 3\n4 5 6\n", {"dtype": "int32", "unpack": True}),
        ("# c\n1,2 # x\n\n3,4", {"delimiter": ","}),
        ("a b\n1 2\n3 4", {"skiprows": 1, "usecols": (1, 0)}),
        ("1 2\n3 4\n5 6", {"usecols": -1, "max_rows": 2}),
        ("1 2 3", {}),
        ("1 2 3", {"ndmin": 2}),
        ("1\n2\n3", {"ndmin": 2}),
        ("1\n2\n3", {"ndmin": 1}),
        ("7", {}),
        ("7", {"ndmin": 1}),
        ("1+2j (3-4j)", {"dtype": complex}),
        ("nan inf -1e3", {"dtype": "float32"}),
        ("1;x2", {"delimiter": ";", "converters": {1: lambda s: float(s[1:])}}),
        ("1;2", {"delimiter": ";", "converters": lambda s: float(s) * 2}),
        ("% 1\n! 2\n3", {"comments": ["%", "!"]}),
        ('"1","2"', {"delimiter": ",", "quotechar": '"'}),
        ("0 1 1", {"dtype": bool}),
    ],
)
def test_loadtxt(text, keywords):
    same(tt.loadtxt(io.StringIO(text), **keywords), np.loadtxt(io.StringIO(text), **keywords))
    same(tt.loadtxt(text.splitlines(), **keywords), np.loadtxt(text.splitlines(), **keywords))


@pytest.mark.parametrize(
    "call",
    [
        lambda m: m.loadtxt(["1 2", "3"]),
        lambda m: m.loadtxt(["1 x"]),
        lambda m: m.loadtxt(["1 2.5"], dtype="int64"),
        lambda m: m.loadtxt(["1 2"], usecols=5),
        lambda m: m.loadtxt(["1 2"], ndmin=3),
        lambda m: m.savetxt(io.StringIO(), m.ones((2, 2, 2))),
        lambda m: m.savetxt(io.StringIO(), m.ones((2, 2)), fmt="%d %d %d"),
        lambda m: m.savetxt(io.StringIO(), m.ones((2, 2)), fmt=["%d"]),
    ],
)
def test_text_errors(call):
    with pytest.raises(Exception) as want:
        call(np)
    with pytest.raises(type(want.value)) as got:
        call(tt)
    assert str(got.value) == str(want.value)


def test_no_text():
    with pytest.warns(UserWarning, match="input contained no data"):
        assert tt.loadtxt([]).shape == (0,)
