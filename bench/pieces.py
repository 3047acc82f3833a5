"""One-shot work on host arrays, there and back, on a GPU: in pieces, against copy up, compute, copy down one after the
other, and against the CPU. Median of several, milliseconds; results are compared bit by bit with the CPU's."""

import statistics
import sys
import time

import numpy as np
import tutti as tt

MIB = 1 << 20


def chain(x):
    return tt.exp(-x * x) * 2 + 1


def softmax(x):
    e = tt.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


WORK = {
    "exp chain, f32": (chain, lambda n: (n // 4,), "f4"),
    "x*2+1, f64": (lambda x: x * 2 + 1, lambda n: (n // 8,), "f8"),
    "softmax of rows of 8192, f32": (softmax, lambda n: (n // 4 // 8192, 8192), "f4"),
    "sum of rows of 8192, f32": (lambda x: x.sum(axis=1), lambda n: (n // 4 // 8192, 8192), "f4"),
}


def median(f, turns):
    took = []
    for turn in range(turns + 2):
        start = time.perf_counter()
        out = f()
        if turn >= 2:
            took.append((time.perf_counter() - start) * 1e3)
    return statistics.median(took), out


def looked_at(y):
    """The result where it lies on the host. (.numpy() copies it to new memory, which takes longest of all.)"""
    return np.asarray(memoryview(y))


def in_turn(f, a):
    x = tt.asarray(a, copy=False).to("cuda")
    y = f(x)
    tt.eval(y)
    tt.cuda.synchronize()
    return looked_at(y)


def compare(name, f, a, turns):
    before = tt.ledger()["streamed"]
    pieces, got = median(lambda: looked_at(f(tt.asarray(a, copy=False)).to("cuda")), turns)
    streamed = tt.ledger()["streamed"] > before
    turn, again = median(lambda: in_turn(f, a), turns)
    cpu, want = median(lambda: looked_at(f(tt.asarray(a, copy=False, device="cpu"))), turns)
    auto, _ = median(lambda: looked_at(f(tt.asarray(a, copy=False))), turns)
    same = got.tobytes() == want.tobytes() == again.tobytes()
    why = tt.explain(f(tt.asarray(a, copy=False)).to("cuda"))
    said = [line.strip() for line in why.splitlines() if " pieces " in line]
    print(
        f"{name:<32} {a.nbytes // MIB:>5} {pieces:>8.2f} {turn:>8.2f} {cpu:>8.2f} {auto:>8.2f}  "
        f"{said[0] if said else 'whole'}{'' if streamed else ' (not in pieces)'}{'' if same else ' WRONG'}",
        flush=True,
    )


def main(sizes, turns=7):
    print(f"{'work':<32} {'MiB':>5} {'pieces':>8} {'in turn':>8} {'cpu':>8} {'auto':>8}  predicted")
    for name, (f, shape, dtype) in WORK.items():
        for mib in sizes:
            compare(name, f, np.random.default_rng(0).random(shape(mib * MIB), dtype=dtype), turns)


if __name__ == "__main__":
    main([int(x) for x in sys.argv[1:]] or [16, 64, 256, 1024])
