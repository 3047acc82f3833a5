"""What tutti is for, in a minute: array programs, a simulation, real data and kernels, on whatever this machine has.

For each program: does the answer agree with NumPy's, how long did both take, where did it run, how many
kernels were launched and how many bytes did they move. NumPy is optional; without it only our side is shown.
"""

import argparse
import csv
import gzip
import os
import pathlib
import sys

import demo_kernels
import demo_parallel
import demo_training
import tutti as tt
from demo_table import Table, close, np, same, write_png

HERE = pathlib.Path(__file__).resolve().parent


def done(x):
    tt.eval(x)
    tt.synchronize()  # a GPU works on while the program goes its way
    return x


# ---- (a) the programs that articles about GPU programming in Python begin with


def vector_add(table, n):
    x, y = tt.arange(n, dtype=tt.int32), tt.arange(n, dtype=tt.int32) * 2
    tt.eval(x, y)
    xs, ys = (np.asarray(x), np.asarray(y)) if np else (None, None)
    table.row(f"add {n / 1e6:g}M int32", lambda: done(x + y), lambda: xs + ys, same)


def matrix_square(table, n):
    a = tt.random.default_rng(0).random((n, n), dtype=tt.float32)
    tt.eval(a)
    host = np.asarray(a) if np else None
    table.row(f"random {n} x {n} f32, times itself", lambda: done(a @ a), lambda: host @ host, close(1e-4))


def norm(table, n):
    x = tt.random.default_rng(1).random(n, dtype=tt.float32)
    tt.eval(x)
    host = np.asarray(x) if np else None
    table.row(
        f"L2 norm of {n / 1e6:g}M f32", lambda: done(tt.linalg.norm(x)), lambda: np.linalg.norm(host), close(1e-6),
        exact=lambda: np.linalg.norm(host.astype(np.float64)),  # NumPy's own sum in float32 is off in the fourth digit
    )  # fmt: skip


def chain(table, n):
    x = tt.random.default_rng(2).random(n, dtype=tt.float32)
    tt.eval(x)
    host = np.asarray(x) if np else None

    def program(xp, v):
        return xp.sqrt(xp.exp(-v * v) + xp.log1p(v)) * xp.sin(3 * v) + 0.5

    table.row(
        f"exp log sin sqrt chain, {n / 1e6:g}M", lambda: done(program(tt, x)), lambda: program(np, host), close(1e-5)
    )


# ---- (b) heat in a plate, written with slices


def heat_step(u):
    u[1:-1, 1:-1] = 0.25 * (u[1:-1, :-2] + u[1:-1, 2:] + u[:-2, 1:-1] + u[2:, 1:-1])


def plate(xp, n):
    u = xp.zeros((n, n), dtype=xp.float32)
    u[0, :] = 1.0
    u[n // 3 : n // 2, n // 4 : n // 3] = 0.75
    return u


def heat(table, n, steps, folder):
    def run(xp, look):
        u = plate(xp, n)
        for _ in range(steps):
            heat_step(u)
        return look(u)

    u = table.row(f"heat {n} x {n}, {steps} sweeps", lambda: run(tt, done), lambda: run(np, lambda v: v), close(1e-6))
    path = folder / "heat.png"
    write_png(path, (u * 255).astype(tt.uint8))
    print(f"{'':<34} picture: {os.path.relpath(path)}")


# ---- (c) handwritten digits: standardise, principal components, k-means


def load_digits():
    with gzip.open(HERE.parent / "data" / "digits.csv.gz", "rt") as f:
        rows = [[float(x) for x in row] for row in csv.reader(f)]
    return [row[:-1] for row in rows], [int(row[-1]) for row in rows]


def standardise(xp, x):
    spread = xp.std(x, axis=0)
    return (x - xp.mean(x, axis=0)) / xp.where(spread == 0, 1.0, spread)


def components(xp, x, k):
    """Coordinates along the first k principal axes; signs fixed so that each axis points to its largest weight."""
    _, _, vt = xp.linalg.svd(x, full_matrices=False)
    axes = vt[:k]
    largest = xp.take_along_axis(axes, xp.argmax(xp.abs(axes), axis=1)[:, None], axis=1)
    return x @ (axes * xp.sign(largest)).T


def kmeans(xp, x, start, rounds):
    centres = start
    for _ in range(rounds):
        distance = xp.sum(x * x, axis=1)[:, None] - 2.0 * (x @ centres.T) + xp.sum(centres * centres, axis=1)[None, :]
        nearest = xp.argmin(distance, axis=1)
        member = (nearest[:, None] == xp.arange(len(centres))[None, :]).astype(x.dtype)
        centres = (member.T @ x) / xp.maximum(xp.sum(member, axis=0), 1.0)[:, None]
    return nearest


def accuracy(nearest, labels):
    """Each cluster stands for the digit most of its members are."""
    votes = {}
    for c, digit in zip(nearest, labels):
        votes.setdefault(int(c), []).append(digit)
    right = sum(max(v.count(d) for d in set(v)) for v in votes.values())
    return right / len(labels)


def digits(table, pixels, labels):
    host = np.array(pixels) if np else None
    x = tt.array(pixels)
    starts = [labels.index(d) for d in range(10)]

    def program(xp, v):
        z = components(xp, standardise(xp, v), 20)
        return kmeans(xp, z, z[starts], 20)

    nearest = table.row(
        "digits: scale, PCA, k-means", lambda: done(program(tt, x)), lambda: program(np, host),
        lambda a, b: float(np.mean(np.asarray(a) == b)) > 0.99,
    )  # fmt: skip
    print(f"{'':<34} accuracy of 10 clusters on {len(labels):,} images: {accuracy(nearest.tolist(), labels):.1%}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small sizes (tests)")
    parser.add_argument("--out", default="demo-out", help="folder for pictures")
    args = parser.parse_args()
    folder = pathlib.Path(args.out)
    folder.mkdir(parents=True, exist_ok=True)
    small = 100 if args.quick else 1
    print(tt.info())
    table = Table()
    with tt.device("gpu" if tt.cuda.is_available() else "cpu"):
        vector_add(table, 20_000_000 // small)
        matrix_square(table, 200 if args.quick else 3000)
        norm(table, 50_000_000 // small)
        chain(table, 20_000_000 // small)
        heat(table, 64 if args.quick else 2048, 20 if args.quick else 100, folder)
    images = load_digits()
    digits(table, *images)  # small and from a file: it runs where that is soonest
    failed = table.failed + demo_training.show(*images, args.quick, folder)
    failed += demo_kernels.show(args.quick)
    failed += demo_parallel.show(args.quick)
    if failed:
        sys.exit(f"{failed} of the answers are not right")


if __name__ == "__main__":
    main()
