"""Files of torch.save: round trips, real PyTorch where it is, and pickles that would do something else."""

import io
import os
import pickle
import pickletools
import random
import tarfile
import zipfile
from collections import OrderedDict

import numpy as np
import pytest
import tutti as tt
from tutti.compat.torch import _files

TYPES = [*_files._STORAGE_OF, "uint16", "uint32", "uint64"]


def there_and_back(value):
    file = io.BytesIO()
    _files.save(value, file)
    file.seek(0)
    return _files.load(file)


def archive(data, entries=(), compress=zipfile.ZIP_STORED):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compress) as z:
        z.writestr("archive/data.pkl", data)
        z.writestr("archive/version", "3\n")
        for name, content in entries:
            z.writestr("archive/" + name, content)
    file.seek(0)
    return file


def trained():
    model = tt.nn.Sequential(tt.nn.Linear(3, 2), tt.nn.BatchNorm1d(2))
    optimizer = tt.optim.Adam(model.parameters(), lr=0.1)
    model(tt.ones((4, 3), dtype="float32")).sum().backward()
    optimizer.step()
    return model, optimizer


@pytest.mark.parametrize("dtype", TYPES)
def test_types_and_layouts(dtype):
    x = tt.asarray(np.arange(24).reshape(2, 3, 4)).astype(dtype)
    for value in (x, x.T, x[1:, ::2], x[0, 0, 0], x[:0], tt.broadcast_to(x[0, 0], (5, 4)), x[::-1]):
        back = there_and_back(value)
        assert back.dtype == value.dtype and back.shape == value.shape and back.tobytes() == value.tobytes()


def test_containers():
    value = {
        "numbers": [1, -5, 2**31, -(2**31), 2**70, -(2**90), 2.5, float("inf"), 1 + 2j, True, False, None],
        ("key", 3): (1, (2, ()), ["ü\n", b"\x00\xff", ""], {1, 2}),
        "ordered": OrderedDict(a=1, b={}),
        "type": tt.float16,
    }
    assert there_and_back(value) == value
    turn = []
    turn.append(turn)
    again = there_and_back(turn)
    assert again[0] is again
    assert there_and_back([None] * 300 + [str(k) for k in range(300)])[-1] == "299"


def test_what_is_shared_stays_shared():
    x = tt.arange(12.0).reshape(3, 4)
    back = there_and_back({"x": x, "again": x, "row": x[1], "turned": x.T})
    assert back["x"] is back["again"]
    back["x"][1, 2] = 100
    assert back["row"][2] == 100 and back["turned"][2, 1] == 100


def test_models_and_optimizers(tmp_path):
    model, optimizer = trained()
    _files.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 3}, tmp_path / "c.pt")
    back = _files.load(tmp_path / "c.pt", map_location="cpu", weights_only=True)
    other, its = trained()
    other.load_state_dict(back["model"])
    its.load_state_dict(back["optimizer"])
    assert all(a.tobytes() == b.tobytes() for a, b in zip(model.parameters(), other.parameters(), strict=True))
    assert back["epoch"] == 3 and os.listdir(tmp_path) == ["c.pt"]
    parameter = there_and_back(tt.nn.Parameter(tt.ones(2), requires_grad=False))
    assert isinstance(parameter, tt.nn.Parameter) and not parameter.requires_grad
    assert there_and_back(tt.ones(2).requires_grad_()).requires_grad


def test_what_cannot_be_saved(tmp_path):
    (tmp_path / "x").write_bytes(b"old")
    for value in (object(), trained()[0], lambda: 1, [test_containers]):
        with pytest.raises(TypeError, match="cannot save"):
            _files.save(value, tmp_path / "x")
    assert (tmp_path / "x").read_bytes() == b"old" and os.listdir(tmp_path) == ["x"]


class Evil:
    def __init__(self, f, *args):
        self.call = f, args

    def __reduce__(self):
        return self.call


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_nothing_is_executed(tmp_path, protocol):
    path = str(tmp_path / "made")
    for evil in (Evil(os.mkdir, path), Evil(eval, f"open({path!r}, 'w')"), Evil(getattr, {}, "items"), Evil(exec, "1")):
        for value in (evil, {"a": [evil]}, OrderedDict(a=evil)):
            data = pickle.dumps(value, protocol)
            for file in (archive(data), io.BytesIO(data)):
                with pytest.raises(pickle.UnpicklingError, match="Weights only load failed. Unsupported"):
                    _files.load(file, weights_only=False)
    assert not os.path.exists(path)


def test_attributes_cannot_be_set():
    model_state = OrderedDict(a=1)
    model_state._metadata = OrderedDict(version=1)
    assert _files.load(archive(pickle.dumps(model_state, 2)))._metadata == {"version": 1}
    model_state.more = 3
    with pytest.raises(pickle.UnpicklingError):
        _files.load(archive(pickle.dumps(model_state, 2)))


def tensor(storage="ctorch\nFloatStorage\n", count=4, offset=0, size=(2,), stride=(1,)):
    """A pickle of one tensor, by hand."""
    w = _files._Writer(lambda value: False)
    w.out.write(b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n((")
    w.put("storage")
    w.out.write(storage.encode())
    for part in ("0", "cpu", count):
        w.put(part)
    w.out.write(b"tQ")
    for part in (offset, size, stride, False):
        w.put(part)
    w.out.write(b"ccollections\nOrderedDict\n)RtR.")
    return w.out.getvalue()


def test_tensors_stay_inside_their_storage():
    data = [("data/0", np.arange(4, dtype="float32").tobytes())]
    assert _files.load(archive(tensor(offset=1, size=(3,)), data)).tolist() == [1, 2, 3]
    for bad in (
        {"offset": 3},
        {"offset": -1},
        {"size": (5,)},
        {"size": (2,), "stride": (4,)},
        {"size": (2,), "stride": (-1,)},
        {"size": (2, 2), "stride": (1,)},
        {"size": (2**62, 2**62), "stride": (2**62, 1)},
        {"size": (1,) * 65, "stride": (1,) * 65},
        {"size": ("a",)},
        {"size": 3},
        {"count": 5},
        {"count": 2**62},
        {"count": -1},
        {"storage": "ccollections\nOrderedDict\n"},
        {"storage": "ctorch\nfloat32\n", "count": "4"},
    ):
        with pytest.raises(pickle.UnpicklingError):
            _files.load(archive(tensor(**bad), data))
    with pytest.raises(pickle.UnpicklingError):
        _files.load(archive(tensor()))


def test_files_that_are_none(tmp_path):
    old = io.BytesIO()
    with tarfile.open(fileobj=old, mode="w") as tar:
        tar.addfile(tarfile.TarInfo("sys_info"), io.BytesIO())
    old.seek(0)
    script = archive(pickle.dumps({}, 2), [("constants.pkl", b"")])
    for file, error in (
        (io.BytesIO(b""), EOFError),
        (io.BytesIO(b"something"), pickle.UnpicklingError),
        (old, RuntimeError),
        (script, RuntimeError),
        (archive(pickle.dumps({}, 2), compress=zipfile.ZIP_DEFLATED), pickle.UnpicklingError),
        (archive(pickle.dumps({}, 2), [("byteorder", b"big")]), pickle.UnpicklingError),
        (io.BytesIO(b"PK\x03\x04" + bytes(100)), RuntimeError),
        (3, AttributeError),
        (tmp_path / "none", FileNotFoundError),
    ):
        with pytest.raises(error):
            _files.load(file)


def test_damaged_files():
    """Any file is read or refused with an error of the reader's, whatever became of its bytes."""
    model, optimizer = trained()
    state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "more": [1, 2.5, "text", b"b", {1, 2}]}
    writer = _files._Writer(_files._is_parameter)
    data = writer.write(state)
    storages = [(f"data/{key}", root.tobytes()) for key, root in writer.storages.values()]
    draw = random.Random(3)
    codes = [op.code.encode("latin1") for op in pickletools.opcodes]
    for _ in range(1500):
        bad = bytearray(data)
        for _ in range(draw.randint(1, 3)):
            at = draw.randrange(len(bad))
            bad[at : at + draw.choice([0, 1, 1, 1, 4])] = draw.choice([*codes, b"", bytes([draw.randrange(256)])])
        try:
            _files.load(archive(bytes(bad), storages))
        except (pickle.UnpicklingError, RuntimeError):
            pass
    whole = archive(data, storages).getvalue()
    for at in range(0, len(whole), 97):
        with pytest.raises((pickle.UnpicklingError, RuntimeError, EOFError)):
            _files.load(io.BytesIO(whole[:at]))


def test_where_tensors_live():
    x = tt.ones(3)
    file = io.BytesIO()
    _files.save(x, file)

    def load(place):
        file.seek(0)
        return _files.load(file, map_location=place)

    seen = []
    assert load(lambda storage, location: seen.append(location)).tolist() == [1, 1, 1] and seen == ["cpu"]
    assert load({"cpu": "cpu"}).tolist() == load("cpu").tolist() == load(tt.device("cpu")).tolist() == [1, 1, 1]
    if not tt.cuda.is_available():
        with pytest.raises(RuntimeError, match="Attempting to deserialize object on a CUDA device"):
            load("cuda:0")


def test_pytorch_reads_and_writes_them(tmp_path):
    torch = pytest.importorskip("torch")
    x = torch.arange(12.0).reshape(3, 4)
    model = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.BatchNorm1d(2))
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.ones(4, 3)).sum().backward()
    optimizer.step()
    theirs = {name: torch.arange(6).reshape(2, 3).to(getattr(torch, name)) for name in TYPES}
    theirs |= {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "rng": torch.get_rng_state()}
    theirs |= {"x": x, "turned": x.t(), "part": x[1:, ::2], "size": x.shape, "parameter": torch.nn.Parameter(x), "n": 3}
    for new in (True, False):
        torch.save(theirs, tmp_path / "theirs.pt", _use_new_zipfile_serialization=new)
        ours = _files.load(tmp_path / "theirs.pt")
        _files.save(ours, tmp_path / "ours.pt")
        again = torch.load(tmp_path / "ours.pt", weights_only=True)
        for name, value in theirs.items():
            same = torch.equal if torch.is_tensor(value) else lambda a, b: str(a) == str(b)
            assert same(again[name], value) or name == "size"
        assert again["turned"].stride() == (1, 4) and tuple(again["size"]) == (3, 4)
        assert again["x"].untyped_storage().data_ptr() == again["turned"].untyped_storage().data_ptr()
        assert isinstance(again["parameter"], torch.nn.Parameter)
        model.load_state_dict(again["model"])
        optimizer.load_state_dict(again["optimizer"])
