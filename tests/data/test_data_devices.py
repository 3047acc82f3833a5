"""Batches on a device: where they lie, what they hold, and that the next one is on its way; on the simulated device."""

import os
import subprocess
import sys
import textwrap

import pytest
import tutti as tt

HOME = os.path.dirname(os.path.dirname(os.path.abspath(tt.__file__)))
PROGRAM = """
import collections
import tutti as tt
Pair = collections.namedtuple("Pair", "x y")

class Samples(tt.data.Dataset):
    def __len__(self):
        return 10
    def __getitem__(self, i):
        if i == 7:
            raise ValueError("sample 7")
        return Pair(tt.arange(3.0) + i, {"name": str(i), "n": i})

class Where(tt.data.Dataset):
    def __len__(self):
        return 2
    def __getitem__(self, i):
        return str((tt.ones((300, 300)) @ tt.ones((300, 300))).device)

def uploads():
    tt.ledger().reset()
    return lambda: (tt.ledger()["uploads"], tt.ledger()["upload_bytes"])

if __name__ == "__main__":
    x, y = tt.arange(2000.0).reshape(20, 100), tt.arange(20)
    for how in ({"device": "null:0"}, {"pin_memory": True}, {"device": tt.device("null:0"), "num_workers": 2}):
        count = uploads()
        iterator = iter(tt.data.DataLoader(tt.data.TensorDataset(x, y), 5, **how))
        a, b = next(iterator)
        assert a.device == "null:0" and b.device == "null:0", how
        assert count() == (4, 2 * 5 * 101 * 8), (how, count())  # two arrays, and those of the next batch
        rest = [a, *(p for p, _ in iterator)]
        assert tt.concatenate(rest).tolist() == x.tolist() and len(rest) == 4
    for workers in (0, 1):
        iterator = iter(tt.data.DataLoader(Samples(), 2, device="null:0", num_workers=workers))
        for k in range(3):
            batch = next(iterator)
            assert type(batch) is Pair and batch.y["name"] == [str(2 * k), str(2 * k + 1)]
            assert batch.x.device == "null:0" and batch.y["n"].tolist() == [2 * k, 2 * k + 1]
        try:
            next(iterator)
        except ValueError as e:
            assert "sample 7" in str(e)
        else:
            raise AssertionError
        assert next(iterator).y["n"].tolist() == [8, 9]
        assert list(iterator) == []
    with tt.device("null:0"):
        assert list(tt.data.DataLoader(Where(), 2)) == [["null:0"] * 2]
        for method in ("fork", "spawn"):
            loader = tt.data.DataLoader(Where(), 2, num_workers=1, multiprocessing_context=method)
            assert list(loader) == [["cpu:0"] * 2]
    there = tt.data.TensorDataset(x.to("null:0"), y.to("null:0"))
    for method in ("fork", "spawn"):
        for data in (there, tt.data.Subset(there, range(20))):
            loader = tt.data.DataLoader(data, 5, num_workers=1, multiprocessing_context=method)
            batches = list(loader)
            assert {str(a.device) for batch in batches for a in batch} == {"null:0"}
            assert tt.concatenate([p for p, _ in batches]).tolist() == x.tolist()
    kept = next(iter(tt.data.DataLoader([1, 2], 2, collate_fn=lambda b: (tt.array(b), "x"), device="null:0")))
    assert type(kept) is tuple and kept[0].device == "null:0"
    print("done")
"""


def test_the_next_batch_is_on_its_way(tmp_path):
    file = tmp_path / "program.py"
    file.write_text(textwrap.dedent(PROGRAM))
    alone = {"TUTTI_NULL_DEVICE": "1", "TUTTI_DEVICE": "auto", "TUTTI_CUDA": "none"}
    environment = {**os.environ, "PYTHONPATH": HOME, **alone}
    r = subprocess.run(
        [sys.executable, str(file)], capture_output=True, text=True, env=environment, timeout=120, check=False
    )
    assert (r.stdout, r.stderr) == ("done\n", "")


@pytest.mark.skipif(any(d.type in ("cuda", "null") for d in tt.devices()), reason="there is a device")
def test_pinned_memory_without_a_device():
    loader = tt.data.DataLoader([1, 2], 2, pin_memory=True)
    with pytest.warns(UserWarning, match="'pin_memory' argument is set as true but no accelerator is found"):
        assert [b.tolist() for b in loader] == [[1, 2]]
