"""Checkpoints: what comes back, files that are none, and training that goes on to the same bits."""

import math
import os
import subprocess
import sys

import numpy as np
import pytest
import tutti as tt
from tutti import safetensors as st


def there_and_back(tree, tmp_path):
    tt.save_checkpoint(tmp_path / "c", tree)
    return tt.load_checkpoint(tmp_path / "c")


def test_what_comes_back(tmp_path):
    tree = {
        "numbers": [0, -1, 2**80, 0.1, -0.0, 1e308, 5e-324, 1.0, math.inf, -math.inf, 1 + 2j, complex(math.inf, -0.0)],
        "others": (None, True, False, "ü\n\0", b"\x00\xff", tt.bfloat16, (), [], {}, ((1,),)),
        "keys": {1: "a", (2, "b"): None, "c": {"dict": 1, "array": 2}, None: 3},
        "dict": {"tuple": [1]},
    }
    back = there_and_back(tree, tmp_path)
    assert back == tree and list(back) == list(tree)
    assert [str(x) for x in back["numbers"]] == [str(x) for x in tree["numbers"]]
    assert [type(x) for x in back["numbers"]] == [type(x) for x in tree["numbers"]]
    assert math.isnan(there_and_back(math.nan, tmp_path))


def test_arrays(tmp_path):
    x = tt.asarray(np.arange(6.0).reshape(2, 3))
    tree = {"a": x, "same": x, "turned": x.T, "a.b": tt.ones(1), "n": {"": tt.zeros(2)}, "": tt.ones(3)}
    tree |= {"a": {"b": tt.array(2.0, dtype="bfloat16")}, "numpy": np.arange(3), "number": x[1, 2], "again": x}
    tree |= {"z": x + 1j * x, "z0": tt.array(1 - 2j), "parameter": tt.nn.Parameter(tt.ones(2))}
    back = there_and_back(tree, tmp_path)
    assert back["same"] is back["again"]
    for name in ("same", "turned", "a.b", "", "numpy", "number", "z", "z0", "parameter"):
        want = tt.asarray(tree[name])
        assert back[name].dtype == want.dtype and back[name].shape == want.shape
        assert back[name].tobytes() == want.tobytes()
    assert back["a"]["b"].dtype == "bfloat16" and back["n"][""].shape == (2,)
    back["same"][0, 0] = 7
    assert there_and_back(tt.ones(2), tmp_path).tolist() == [1, 1]
    assert st.load_file(tmp_path / "c")["array"].tolist() == [1, 1]


def test_what_cannot_be_saved(tmp_path):
    loop = []
    loop.append(loop)
    for tree, error in (
        ({"a": [object()]}, "object.*a.0"),
        (lambda: 1, "its top"),
        ({1, 2}, "set"),
        (tt.nn.Linear(1, 1), "Linear"),
    ):
        with pytest.raises(TypeError, match=error):
            tt.save_checkpoint(tmp_path / "c", tree)
    with pytest.raises(ValueError, match="nested too deeply"):
        tt.save_checkpoint(tmp_path / "c", loop)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    "tree",
    [
        "",
        "{",
        "{}",
        '{"unknown":1}',
        '{"array":"none"}',
        '{"array":["x"]}',
        '{"array":"x","parts":"float64"}',
        '{"tuple":3}',
        '{"dict":[1]}',
        '{"items":[[1]]}',
        '{"items":[[[],1]]}',
        '{"bytes":"?"}',
        '{"dtype":"float33"}',
        '{"float":"a"}',
        '{"complex":[1]}',
        "[" * 100000,
        '{"tuple":[' * 5000 + "]}" * 5000,
    ],
)
def test_damaged_trees(tmp_path, tree):
    told = {"format": "tutti.checkpoint", "version": "1", "tree": tree}
    st.save_file({"x": tt.ones(3)}, tmp_path / "c", told)
    with pytest.raises(st.SafetensorError, match="damaged"):
        tt.load_checkpoint(tmp_path / "c")


def test_files_that_are_none(tmp_path):
    st.save_file({"x": tt.ones(3)}, tmp_path / "c")
    with pytest.raises(st.SafetensorError, match="no checkpoint"):
        tt.load_checkpoint(tmp_path / "c")
    st.save_file({}, tmp_path / "c", {"format": "tutti.checkpoint", "version": "2", "tree": "1"})
    with pytest.raises(st.SafetensorError, match="version 2"):
        tt.load_checkpoint(tmp_path / "c")
    with pytest.raises(OSError):
        tt.load_checkpoint(tmp_path / "none")


TRAINING = """
import os, sys
import tutti as tt
from tutti.nn import functional as f

path, first, last, resumes = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4] == "resumes"
tt.random.seed(1)
data = tt.random.default_rng(7)
x, y = data.normal(size=(64, 8)).astype("float32"), data.normal(size=(64, 3)).astype("float32")
order = tt.random.default_rng(5)
nn = tt.nn
model = nn.Sequential(nn.Linear(8, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Dropout(0.3), nn.Linear(32, 3))
optimizer = tt.optim.Adam(model.parameters(), lr=0.05, amsgrad=True)
schedule = tt.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.1, total_steps=12)
scaler = tt.amp.GradScaler(init_scale=2.0**120, growth_interval=3)
if resumes:
    kept = tt.load_checkpoint(path)
    model.load_state_dict(kept["model"])
    optimizer.load_state_dict(kept["optimizer"])
    schedule.load_state_dict(kept["schedule"])
    scaler.load_state_dict(kept["scaler"])
    tt.random.set_state(kept["random"])
    order.bit_generator.state = kept["order"]
    assert kept["step"] == first
for step in range(first, last):
    rows = order.permutation(64)[:16]
    optimizer.zero_grad()
    with tt.amp.autocast():
        loss = f.mse_loss(model(x[rows]), y[rows])
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    schedule.step()
tt.save_checkpoint(path, {
    "step": last,
    "model": model.state_dict(),
    "optimizer": optimizer.state_dict(),
    "schedule": schedule.state_dict(),
    "scaler": scaler.state_dict(),
    "random": tt.random.get_state(),
    "order": order.bit_generator.state,
    "loss": loss,
})
"""


def test_training_goes_on_to_the_same_bits(tmp_path):
    home = os.path.dirname(os.path.dirname(os.path.abspath(tt.__file__)))

    def train(name, first, last, how, threads):
        told = [str(tmp_path / name), str(first), str(last), how]
        environment = {**os.environ, "PYTHONPATH": home, "TUTTI_NUM_THREADS": threads}
        subprocess.run([sys.executable, "-W", "ignore", "-c", TRAINING, *told], check=True, env=environment)
        return (tmp_path / name).read_bytes()

    whole = train("whole", 0, 10, "begins", "2")
    train("parts", 0, 5, "begins", "1")
    assert train("parts", 5, 10, "resumes", "2") == whole
    kept = tt.load_checkpoint(tmp_path / "whole")
    assert kept["scaler"]["scale"] != 2.0**120 and kept["random"]["state"]["counter"] > 0
