"""tutti.safetensors: round trips, the format's own library, files that are no such files, and writers that fail."""

import json
import os
import signal
import struct
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import tutti as tt
from tutti import safetensors as st

TYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64 complex64".split()


def content():
    rng = np.random.default_rng(1)
    tensors = {name: tt.asarray(rng.integers(0, 2, (3, 4))).astype(name) for name in TYPES}
    x = tt.asarray(rng.standard_normal((4, 5)))
    views = {"turned": x.T, "every.second": x[::2, ::-1], "none": x[:0], "one": x[1, 1]}
    return tensors | views | {"": x, 'späßchen\n"': x}


def same(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def file_of(header, data=b"", length=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def tensor(begin=0, end=8, dtype="F32", shape=(2,)):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": [begin, end]}


def test_round_trip(tmp_path):
    saved, path = content(), tmp_path / "all"
    st.save_file(saved, path, {"a": "b", "ü": "\t\\"})
    for loaded in (st.load_file(path), st.load(st.save(saved)), st.load_file(str(path), device="cpu")):
        assert loaded.keys() == saved.keys()
        assert all(same(loaded[name], saved[name]) for name in saved)
    with st.safe_open(path, framework="np", device="cpu") as file:
        assert file.keys() == sorted(saved) and sorted(file.offset_keys()) == sorted(saved)
        assert file.metadata() == {"a": "b", "ü": "\t\\"}
        assert same(file.get_tensor("turned"), saved["turned"])
    with pytest.raises(ValueError, match="closed"):
        file.get_tensor("turned")
    assert st.safe_open(path).get_slice("turned").get_dtype() == "F64"
    assert st.load(st.save({})) == {}


@pytest.mark.parametrize(
    "index", [0, -1, slice(1, 3), slice(3, 1), slice(None, None, 2), (slice(1, 9), 2), ..., ([0, 2],), True, (None, 1)]
)
def test_slices(tmp_path, index):
    x = np.arange(20.0).reshape(4, 5)
    st.save_file({"x": x}, tmp_path / "x")
    with st.safe_open(tmp_path / "x") as file:
        part = file.get_slice("x")
        assert part.get_shape() == [4, 5]
        assert np.array_equal(part[index], x[index])
        with pytest.raises(IndexError):
            part[4]


def test_the_formats_own_library(tmp_path):
    theirs = pytest.importorskip("safetensors.numpy")
    import safetensors

    names = [n for n in TYPES if n not in ("bfloat16", "complex64")]
    saved = {name: np.asarray(content()[name]) for name in names}
    st.save_file(saved, tmp_path / "ours", {"k": "v"})
    loaded = theirs.load_file(tmp_path / "ours")
    assert all(same(loaded[name], saved[name]) for name in names)
    with safetensors.safe_open(tmp_path / "ours", "np") as file:
        assert file.metadata()["k"] == "v"
    theirs.save_file(saved, tmp_path / "theirs", {"k": "v"})
    loaded = st.load_file(tmp_path / "theirs")
    assert all(np.array_equal(loaded[name], saved[name]) for name in names)
    with st.safe_open(tmp_path / "theirs") as file, st.safe_open(tmp_path / "ours") as ours:
        assert file.metadata() == {"k": "v"}
        assert file.offset_keys() == ours.offset_keys()


BAD = {
    "empty": b"",
    "short": b"1234567",
    "header longer than the file": file_of({}, length=100),
    "huge header": file_of({}, length=2**63),
    "no object": file_of(b"[]"),
    "blank before": file_of(b" {}"),
    "not ended": file_of(b'{"a":'),
    "behind the end": file_of(b"{} x"),
    "NUL behind the end": file_of(b"{}\0"),
    "comma": file_of(b'{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},}', bytes(8)),
    "twice": file_of(b'{"a":%s,"a":%s}' % ((json.dumps(tensor()).encode(),) * 2), bytes(8)),
    "twice, escaped": file_of(b'{"a":%s,"\\u0061":%s}' % ((json.dumps(tensor()).encode(),) * 2), bytes(8)),
    "metadata twice": file_of(b'{"__metadata__":{},"__metadata__":{}}'),
    "key twice": file_of(b'{"__metadata__":{"a":"","a":""}}'),
    "metadata no text": file_of({"__metadata__": {"a": 1}}),
    "metadata deep": file_of({"__metadata__": {"a": {}}}),
    "deep": file_of(b'{"a":' + b"[" * 100000),
    "no UTF-8": file_of(b'{"\xff":1}'),
    "half a pair": file_of(b'{"\\ud800":1}'),
    "NUL in a name": file_of(b'{"\\u0000":1}'),
    "control": file_of(b'{"\n":1}'),
    "dtype": file_of({"a": tensor(dtype="F33")}, bytes(8)),
    "field": file_of({"a": tensor() | {"more": 1}}, bytes(8)),
    "no field": file_of({"a": {"dtype": "F32", "shape": [2]}}, bytes(8)),
    "negative": file_of({"a": tensor(shape=[-2])}, bytes(8)),
    "fraction": file_of({"a": tensor(shape=[2.0])}, bytes(8)),
    "padded number": file_of(b'{"a":{"dtype":"F32","shape":[02],"data_offsets":[0,8]}}', bytes(8)),
    "number of 65 bits": file_of({"a": tensor(end=2**64)}, bytes(8)),
    "product": file_of({"a": tensor(shape=[2**32, 2**31, 2])}, bytes(8)),
    "product 0 by overflow": file_of({"a": tensor(end=0, shape=[2**32, 2**32])}),
    "size": file_of({"a": tensor(shape=[3])}, bytes(8)),
    "backwards": file_of({"a": tensor(8, 0)}, bytes(8)),
    "beyond": file_of({"a": tensor(0, 16, shape=[4])}, bytes(8)),
    "hole before": file_of({"a": tensor(4, 12)}, bytes(12)),
    "hole": file_of({"a": tensor(), "b": tensor(12, 20)}, bytes(20)),
    "overlap": file_of({"a": tensor(), "b": tensor(4, 12)}, bytes(12)),
    "the same": file_of({"a": tensor(), "b": tensor()}, bytes(8)),
    "unused": file_of({"a": tensor()}, bytes(9)),
    "half a byte": file_of({"a": tensor(0, 1, "F4", (3,))}, bytes(1)),
    "axes": file_of({"a": tensor(0, 4, "F32", (1,) * 65)}, bytes(4)),
}


@pytest.mark.parametrize("name", BAD)
def test_files_that_are_none(tmp_path, name):
    path = tmp_path / "bad.safetensors"
    path.write_bytes(BAD[name])
    with pytest.raises(st.SafetensorError, match=r"bad\.safetensors"):
        st.load_file(path)
    with pytest.raises(st.SafetensorError):
        st.load(BAD[name])


def test_types_that_no_array_has():
    data = file_of({"a": tensor(0, 2, "F8_E4M3", (2,)), "b": tensor(2, 10)}, bytes(10))
    with pytest.raises(TypeError, match=r"'a'.*F8_E4M3"):
        st.load(data)
    truth = st.load(file_of({"a": tensor(0, 2, "BOOL", (2,))}, b"\x02\x00"))["a"]
    assert truth.tobytes() == b"\x01\x00"


def test_what_cannot_be_saved(tmp_path):
    x = tt.ones(2)
    for tensors, metadata, error in (
        ({"z": tt.ones(2, dtype="complex128")}, None, TypeError),
        ({1: x}, None, TypeError),
        ([x], None, TypeError),
        ({"a": x}, {"a": 1}, TypeError),
        ({"__metadata__": x}, None, ValueError),
        ({"a\0b": x}, None, ValueError),
        ({"\ud800": x}, None, ValueError),
    ):
        with pytest.raises(error):
            st.save_file(tensors, tmp_path / "x", metadata)
    with pytest.raises(OSError):
        st.save_file({"a": x}, tmp_path)
    with pytest.raises(FileNotFoundError):
        st.save_file({"a": x}, tmp_path / "no" / "folder")
    with pytest.raises(FileNotFoundError, match="cannot open .*: No such file"):
        st.load_file(tmp_path / "no")
    assert os.listdir(tmp_path) == []
    st.save_file({"a": x}, tmp_path / "x")
    with st.safe_open(tmp_path / "x") as file, pytest.raises(st.SafetensorError, match="tensor 'b'"):
        file.get_tensor("b")


def test_damage_names_its_tensor(tmp_path):
    path = tmp_path / "x"
    st.save_file({"first": tt.ones(3, dtype="float64"), "second": tt.ones(2, dtype="uint8")}, path)
    whole = path.read_bytes()
    for at in range(1, 27):
        bad = bytearray(whole)
        bad[-at] ^= 4
        path.write_bytes(bad)
        with pytest.raises(st.SafetensorError, match="'second'.*damaged" if at <= 2 else "'first'.*damaged"):
            st.load_file(path)
    path.write_bytes(whole.replace(b"xxh3_64", b"other__"))
    assert st.load_file(path).keys() == {"first", "second"}
    st.save_file({"first": tt.zeros(1)}, path, {"xxh3_64": "of another file", "k": "v"})
    with st.safe_open(path) as file:
        assert file.metadata() == {"k": "v"} and file.get_tensor("first") == 0


def test_cut_while_it_is_open(tmp_path):
    st.save_file({"x": tt.ones(100000)}, tmp_path / "x")
    with st.safe_open(tmp_path / "x") as file:
        os.truncate(tmp_path / "x", 5000)
        with pytest.raises(OSError, match="'x'.*shorter"):
            file.get_tensor("x")


def test_links_and_modes_stay(tmp_path):
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_bytes(b"old")
    real.chmod(0o640)
    link.symlink_to(real)
    st.save_file({"x": tt.ones(3)}, link)
    assert link.is_symlink() and real.stat().st_mode & 0o777 == 0o640 and "x" in st.load_file(real)


def test_each_failing_write(tmp_path):
    """Open, write, sync, rename, sync of the folder: whichever fails, there is one whole file and nothing beside it."""
    path, done = tmp_path / "x", False
    for n in range(30):
        st.save_file({"x": tt.zeros(5)}, path)
        tt._core._test_fail("write", n, False)
        try:
            st.save_file({"x": tt.ones(5), "y": tt.ones(2)}, path)
            done = True
        except OSError:
            pass
        finally:
            tt._core._test_fail("write", -1, False)
        assert os.listdir(tmp_path) == ["x"]
        assert st.load_file(path)["x"].tolist() in ([0.0] * 5, [1.0] * 5)
        if done:
            break
    assert done and n >= 7


def test_each_failing_read(tmp_path):
    st.save_file({"x": tt.zeros(5)}, tmp_path / "x")
    for n in range(4):
        tt._core._test_fail("read", n, False)
        with pytest.raises(OSError):
            st.load_file(tmp_path / "x")
    tt._core._test_fail("read", 4, False)
    st.load_file(tmp_path / "x")
    tt._core._test_fail("read", -1, False)


def test_memory_that_runs_out():
    x = {"x": tt.ones(5), "y": tt.ones(5)[::2]}
    tt.eval(*x.values())
    st.load(st.save(x))
    for n in range(200):
        tt._core._test_fail("memory", n, False)
        try:
            st.load(st.save(x))
            break
        except MemoryError:
            pass
        finally:
            tt._core._test_fail("memory", -1, False)
    assert 0 < n < 199


WRITER = """
import sys
import tutti as tt
from tutti import safetensors as st
x = tt.full((1 << 20,), 0.5)
print("begins", flush=True)
while True:
    for k in (1.0, 2.0):
        st.save_file({"x": x * 0 + k}, sys.argv[1])
"""


def test_a_killed_writer(tmp_path):
    path = tmp_path / "x"
    st.save_file({"x": tt.full((1 << 20,), 1.0)}, path)
    home = os.path.dirname(os.path.dirname(os.path.abspath(tt.__file__)))
    for k in range(4):
        child = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": home}
        )
        child.stdout.readline()
        time.sleep(0.01 + 0.017 * k)
        child.send_signal(signal.SIGKILL)
        child.communicate()
        x = st.load_file(path)["x"]
        assert x[0].item() in (1.0, 2.0) and bool((x == x[0]).all())


def test_closed_while_it_is_read(tmp_path):
    st.save_file({"x": tt.ones(1 << 20)}, tmp_path / "x")
    for _ in range(5):
        file = st.safe_open(tmp_path / "x")
        threads = [threading.Thread(target=lambda f=file: _read(f)) for _ in range(4)]
        for t in threads:
            t.start()
        file.__exit__()
        for t in threads:
            t.join()


def _read(file):
    try:
        assert file.get_tensor("x")[5].item() == 1
    except ValueError as error:
        assert "closed" in str(error)
