"""Batches of 64 from a set of images, 28 x 28 float32 with a label, shuffled: tutti.data beside torch.utils.data.

Rows: samples one by one, of NumPy's arrays and of the library's own, and arrays of all samples; without workers and
with processes. An epoch is timed, with the start of its workers; a batch counts when its values lie in memory.
"""

import argparse
import itertools
import os
import pathlib
import sys
import warnings

os.environ.setdefault("OMP_NUM_THREADS", "1")  # a thread for each process is what workers have, too

import harness
import numpy as np
import tutti as tt

try:
    import torch
    from torch.utils import data as torch_data
except ImportError:
    torch = torch_data = None

LIBRARIES = {"tutti": (tt.data, tt.asarray, tt.eval)}
if torch is not None:
    torch.set_num_threads(1)
    LIBRARIES["torch"] = (torch_data, torch.from_numpy, lambda x, y: None)
KINDS = ("arrays", "numpy samples", "own samples")


def dataset(data, kind, x, y, own):
    """A set of a library: its arrays whole, or a class of a user's that picks samples."""
    if kind == "arrays":
        return data.TensorDataset(own(x), own(y))
    held = own(x) if kind == "own samples" else x

    class Samples(data.Dataset):
        def __len__(self):
            return len(y)

        def __getitem__(self, i):
            return held[i], int(y[i])

    return Samples()


def epoch(library, kind, workers, x, y):
    data, own, look = LIBRARIES[library]
    samples = dataset(data, kind, x, y, own)

    def run():
        n = 0
        for batch, label in data.DataLoader(samples, 64, shuffle=True, num_workers=workers):
            look(batch, label)
            n += len(batch)
        assert n == len(y)

    return run


def show(row):
    s = row.seconds
    if "tutti" not in s:
        print(f"{row.name:<28} {row.error}", flush=True)
        return
    peer = f" {harness.pretty(s['torch']):>10} {s['torch'] / s['tutti']:6.2f}x" if "torch" in s else ""
    print(f"{row.name:<28} {harness.pretty(s['tutti']):>10}{peer}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=100_000)
    parser.add_argument("--workers", default="0,1,2,4")
    parser.add_argument("--only", default="", help="kinds of sets that hold this text")
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--json", type=pathlib.Path)
    harness.add_arguments(parser)
    args = parser.parse_args()
    pick, notes = harness.chosen(args)
    if torch is None:
        print("no PyTorch here", file=sys.stderr)
    warnings.filterwarnings("ignore", "This DataLoader will create")
    x = np.random.default_rng(0).random((args.samples, 28, 28), "float32")
    y = np.arange(args.samples)
    rows = []
    for kind, workers in itertools.product(KINDS, map(int, args.workers.split(","))):
        if args.only not in kind:
            continue
        row = harness.Row(f"{kind}, {workers} workers", 3.0, None)
        found = {name: epoch(name, kind, workers, x, y) for name in LIBRARIES}
        harness.measure(row, found, args.seconds, least=3, pick=pick)
        rows.append(row)
        show(row)
    if args.json:
        peers = {"torch": torch.__version__} if torch is not None else {}
        info = [harness.no_folders(line) for line in str(tt.info()).splitlines()]
        harness.save(rows, args.json, {"tutti": tt.__version__, "peers": peers, "info": info, **notes})


if __name__ == "__main__":
    main()
