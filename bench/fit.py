"""tt.Model.fit beside a loop written by hand, and beside Keras 3 on JAX or PyTorch (KERAS_BACKEND) where installed.

A contestant's work is an epoch: shuffled batches, steps of Adam, the mean loss and how often the network was right. The
row "first step" is a process of its own with an empty cache: from the first line after the imports to a loss.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

import harness
import numpy as np
import tutti as tt
from tutti import nn

# Name: (layers, batch, steps of an epoch)
WORKS = {
    "tiny 4-8-2, batch 16": ((4, 8, 2), 16, 256),
    "MLP 784-512-512-10, batch 256": ((784, 512, 512, 10), 256, 16),
}


def data(sizes, n):
    draws = np.random.default_rng(0)
    return draws.standard_normal((n, sizes[0])).astype("float32"), draws.integers(0, sizes[-1], n)


def network(sizes):
    layers = [layer for pair in zip(sizes, sizes[1:], strict=False) for layer in (nn.Linear(*pair), nn.ReLU())]
    return nn.Sequential(*layers[:-1])


def fitted(sizes, x, y, batch, metrics):
    model = tt.Model(network(sizes))
    optimizer = tt.optim.Adam(model.parameters(), lr=1e-3)
    model.compile(optimizer, nn.CrossEntropyLoss(), metrics=["accuracy"] if metrics else None)
    return lambda: model.fit(x, y, batch_size=batch, verbose=0)


def by_hand(sizes, x, y, batch, metrics):
    model, loss_of = network(sizes), nn.CrossEntropyLoss()
    optimizer = tt.optim.Adam(model.parameters(), lr=1e-3)
    x, y = tt.array(x), tt.array(y)

    def epoch():
        order = tt.random.permutation(len(x))
        tt.eval(order)
        losses, right = [], []
        for start in range(0, len(x), batch):
            rows = order[start : start + batch]
            optimizer.zero_grad()
            said, labels = model(x[rows]), y[rows]
            loss = loss_of(said, labels)
            loss.backward()
            losses.append(loss)
            if metrics:
                with tt.no_grad():
                    right.append((said.argmax(axis=-1) == labels).sum())
            optimizer.step()
        return float(tt.stack(losses).mean()), float(tt.stack(right).sum()) / len(x) if metrics else None

    return epoch


def keras_fit(sizes, x, y, batch, metrics):
    import keras

    layers = [keras.layers.Dense(n, activation="relu") for n in sizes[1:-1]]
    model = keras.Sequential([keras.Input(sizes[:1]), *layers, keras.layers.Dense(sizes[-1])])
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.Adam(1e-3), loss, metrics=["accuracy"] if metrics else None)
    return lambda: model.fit(x, y, batch_size=batch, verbose=0)


def has_keras():
    try:
        import keras
    except ImportError:
        return None
    return f"keras {keras.backend.backend()}"


FIRST = """
import time, sys
import bench_fit as bench
sizes, batch, _ = list(bench.WORKS.values())[1]
x, y = bench.data(sizes, batch)
if sys.argv[1] == "keras_fit":
    import keras
start = time.perf_counter()
getattr(bench, sys.argv[1])(sizes, x, y, batch, True)()
print(time.perf_counter() - start)
"""


def first_step(maker):
    """Seconds from a network that is only described to the first step's loss, with nothing compiled before."""
    here = pathlib.Path(__file__)
    program = FIRST.replace(
        "import bench_fit as bench",
        f"import sys; sys.path.insert(0, {str(here.parent)!r})\n" f"import {here.stem} as bench",
    )
    with tempfile.TemporaryDirectory() as cache:
        done = subprocess.run(
            [sys.executable, "-c", program, maker],
            env={**os.environ, "TUTTI_CACHE_DIR": cache},
            capture_output=True,
            text=True,
            check=True,
        )
    return float(done.stdout.split()[-1])


def rows(args, pick):
    peer = has_keras()
    for name, (sizes, batch, steps) in WORKS.items():
        x, y = data(sizes, batch * steps)
        for metrics in (False, True):
            row = harness.Row(f"{name}{', accuracy' if metrics else ''}", ">= 0.95x of by hand", {"steps": steps})
            if args.only not in row.name:
                continue
            made = [("tutti", fitted), ("by hand", by_hand), *([(peer, keras_fit)] if peer else [])]
            contestants = {who: make(sizes, x, y, batch, metrics) for who, make in made}
            yield harness.measure(row, contestants, args.seconds, pick=pick)
    row = harness.Row("first step of the MLP, empty cache", "<= 1 s", {})
    if args.only in row.name:
        makers = {"tutti": "fitted", "by hand": "by_hand", **({peer: "keras_fit"} if peer else {})}
        for who, maker in makers.items():
            row.first[who] = row.seconds[who] = min(first_step(maker) for _ in range(2))
        yield row


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="rows whose names hold this text")
    parser.add_argument("--seconds", type=float, default=1.5, help="for each contestant of a row")
    parser.add_argument("--json", type=pathlib.Path)
    harness.add_arguments(parser)
    args = parser.parse_args()
    pick, notes = harness.chosen(args)
    found = list(rows(args, pick))
    harness.show(found)
    if args.json:
        harness.save(found, args.json, notes)


if __name__ == "__main__":
    main()
