"""Ordinary Python functions on all cores, beside the plain loop, multiprocessing, and joblib where it is there.

A simulation with a seed for each item, and a filter over pictures that lie in one array. Nothing in the functions is
tutti's: `tt.parallel.map` takes the place of `map`, and gives the same results.
"""

import multiprocessing
import random
import sys
import time

import tutti as tt
from demo_table import np, progress

try:
    from joblib import Parallel, delayed
except ImportError:
    Parallel = None


def queue_at_a_counter(seed, customers=1000):
    """The mean wait of customers who come and are served at random: a simulation in plain Python."""
    rng = random.Random(seed)
    free = now = waited = 0.0
    for _ in range(customers):
        now += rng.expovariate(1.0)
        begin = max(now, free)
        waited += begin - now
        free = begin + rng.expovariate(1.25)
    return waited / customers


def edges(picture):
    """How much each pixel differs from its neighbours, smoothed and scaled to 0 ... 255."""
    p = picture.astype(np.float32)
    for _ in range(4):
        p[1:-1, 1:-1] = (p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] + 4 * p[1:-1, 1:-1]) / 8
    across, down = np.zeros_like(p), np.zeros_like(p)
    across[:, 1:-1], down[1:-1] = p[:, 2:] - p[:, :-2], p[2:] - p[:-2]
    strength = np.hypot(across, down)
    return (strength * (255 / max(1e-6, strength.max()))).astype(np.uint8)


def pictures(n, side):
    """Pictures of blobs and noise, in one array."""
    rng = np.random.default_rng(7)
    y, x = np.mgrid[:side, :side] / side
    found = np.empty((n, side, side), np.uint8)
    for k in range(n):
        a, b, size = rng.uniform(0.2, 0.8, 3)
        blob = np.exp(-((x - a) ** 2 + (y - b) ** 2) / (0.05 * size)) * 200
        found[k] = blob + rng.uniform(0, 50, (side, side))
    return found


def plain(f, items):
    return [f(item) for item in items]


def ours(f, items):
    return tt.parallel.map(f, items, progress=f.__name__ if sys.stderr.isatty() else None)


def by_multiprocessing(f, items):
    with multiprocessing.get_context("spawn").Pool(tt.parallel.cpu_count()) as pool:
        return pool.map(f, items)


def by_joblib(f, items):
    return Parallel(n_jobs=tt.parallel.cpu_count())(delayed(f)(item) for item in items)


def timed(way, f, items):
    begun = time.perf_counter()
    results = way(f, items)
    return time.perf_counter() - begun, results


def alike(a, b):
    """The same results, to the last bit."""
    if np is not None and isinstance(a[0], np.ndarray):
        return len(a) == len(b) and all(np.array_equal(x, y) for x, y in zip(a, b))
    return a == b


def row(name, f, items):
    """One function by every way; gives how many answers were wrong."""
    progress(f"{name}: the plain loop")
    seconds, expected = timed(plain, f, items)
    progress("")
    before = tt.parallel.counts()
    first, results = timed(ours, f, items)
    after = tt.parallel.counts()
    moved = [(after[k] - before[k]) / 1e6 for k in ("shared bytes", "copied bytes")]
    again, results_again = timed(ours, f, items)
    wrong = not (alike(results, expected) and alike(results_again, expected))
    shown = [f"{seconds * 1e3:8.0f} ms", f"{first * 1e3:8.0f} ms", f"{again * 1e3:8.0f} ms"]
    for way in (by_multiprocessing, by_joblib):
        if way is by_joblib and Parallel is None:
            shown.append(f"{'not there':>11}")
            continue
        progress(f"{name}: {way.__name__[3:]}")
        took, results = timed(way, f, items)
        wrong += not alike(results, expected)
        shown.append(f"{took * 1e3:8.0f} ms")
    progress("")
    shown += [f"{seconds / again:5.2f}x", *(f"{size:6.1f} MB" for size in moved), "yes" if not wrong else "NO"]
    print(f"{name:<38}", *shown, flush=True)
    return wrong


def show(quick):
    """Both programs; gives how many answers were wrong."""
    print(
        f"\n{f'Python functions, {tt.parallel.cpu_count()} cores':<38} {'plain loop':>11} {'first call':>11} "
        f"{'tutti':>11} {'mp.Pool':>11} {'joblib':>11} {'ratio':>6} {'shared':>9} {'copied':>9} same"
    )
    n = 60 if quick else 1000
    failed = row(f"a queue, simulated for {n:,} seeds", queue_at_a_counter, range(n))
    if np is None:
        print("skipped, there is no NumPy, whose array pictures are: an image filter")
        return failed
    many, side = (8, 64) if quick else (64, 512)
    found = pictures(many, side)
    failed += row(f"edges in {many} pictures of {side} x {side}", edges, found)
    return failed
