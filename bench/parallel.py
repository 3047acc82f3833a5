"""Functions in 2 worker processes: tutti.parallel beside joblib (loky), multiprocessing.Pool and threads.

A row's contestants take turns in one process. Calls whose arguments must be new each time are timed without making
them; first calls of a process are timed in processes of their own, behind the imports.
"""

import argparse
import concurrent.futures
import functools
import multiprocessing
import os
import pathlib
import random
import subprocess
import sys
import time

import harness
import numpy as np
import tutti as tt

try:
    import joblib
except ImportError:
    joblib = None

WORKERS = 2


def nothing(x=None):
    return None


def more(x):
    return x + 1


def total(a):
    return float(a[::4096].sum())


def simulate(seed):
    """A walk in pure Python, some milliseconds."""
    draw, x = random.Random(seed).random, 0.0
    for _ in range(60_000):
        x += draw() - 0.5
    return x


def with_joblib(f, items):
    return joblib.Parallel(n_jobs=WORKERS)(joblib.delayed(f)(x) for x in items)


class Contestants:
    """The pools of all, which stay."""

    def __init__(self):
        self.ours = tt.parallel.Executor(WORKERS)
        self.pool = multiprocessing.get_context("fork").Pool(WORKERS)
        self.threads = concurrent.futures.ThreadPoolExecutor(WORKERS)
        self.loky = None
        if joblib is not None:
            from joblib.externals.loky import ProcessPoolExecutor

            self.loky = ProcessPoolExecutor(WORKERS)

    def one(self):
        """A task and its result."""
        found = {
            "tutti": lambda: self.ours.submit(nothing).result(),
            "Pool": lambda: self.pool.apply(nothing),
            "threads": lambda: self.threads.submit(nothing).result(),
        }
        if self.loky:
            found["loky"] = lambda: self.loky.submit(nothing).result()
        return found

    def maps(self, f, items, **how):
        """The same map by all."""
        found = {
            "tutti": lambda: tt.parallel.map(f, items, workers=WORKERS, **how),
            "Pool": lambda: self.pool.map(f, items),
            "threads": lambda: list(self.threads.map(f, items)),
        }
        if joblib is not None:
            found["joblib"] = lambda: with_joblib(f, items)
        return found


def fresh(row, make, contestants, times, pick):
    """Calls with an argument that is new each time: fills the row."""
    for name, f in contestants.items():
        spent = []
        for _ in range(times):
            argument = make()
            begun = time.perf_counter()
            f(argument)
            spent.append(time.perf_counter() - begun)
        row.first[name], row.seconds[name] = spent[0], pick(spent)
        row.quartiles[name] = harness.quartiles(spent)
    return row


FIRST = """
import sys, time
sys.path.insert(0, {folder!r})
from parallel import more, WORKERS
{imports}
begun = time.perf_counter()
{call}
print(time.perf_counter() - begun)
"""


def first_calls(row, times, pick):
    """The first call of a process, with the start of its workers."""
    calls = {
        "tutti": ("import tutti as tt; tt.parallel", "tt.parallel.map(more, range(4), workers=WORKERS, chunk=1)"),
        "Pool (fork)": ("import multiprocessing as mp", "mp.get_context('fork').Pool(WORKERS).map(more, range(4))"),
        "Pool (spawn)": ("import multiprocessing as mp", "mp.get_context('spawn').Pool(WORKERS).map(more, range(4))"),
    }
    if joblib is not None:
        calls["joblib"] = ("from parallel import with_joblib", "with_joblib(more, range(4))")
    spent = {name: [] for name in calls}
    for _ in range(times):
        for name, (imports, call) in calls.items():
            text = FIRST.format(folder=os.path.dirname(os.path.abspath(__file__)), imports=imports, call=call)
            done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)
            if done.returncode:
                row.error[name] = done.stderr.strip().splitlines()[-1][:120]
            else:
                spent[name].append(float(done.stdout))
    for name, found in spent.items():
        if found:
            row.first[name], row.seconds[name] = found[0], pick(found)
            row.quartiles[name] = harness.quartiles(found)
    return row


def grid_search():
    """40 fits over arrays of 50 MB, or None where scikit-learn is not there."""
    try:
        from sklearn.linear_model import Ridge
        from sklearn.model_selection import GridSearchCV
    except ImportError:
        return None
    x = np.random.default_rng(0).random((62_500, 100))
    y = x @ np.arange(100.0)
    search = GridSearchCV(Ridge(), {"alpha": list(np.logspace(-3, 3, 8))}, cv=5, n_jobs=WORKERS)

    def fit(backend):
        with joblib.parallel_backend(backend, n_jobs=WORKERS):
            search.fit(x, y)

    tt.parallel.register_joblib()
    return {"tutti": functools.partial(fit, "tutti"), "loky": functools.partial(fit, "loky")}


def rows(args, pick):
    """All rows, one after the other."""
    c = Contestants()
    few = list(range(10_000))
    many = list(range(100_000))
    array = np.random.default_rng(0).random(10_000_000)

    def measured(name, goal, contestants, **how):
        return harness.measure(harness.Row(name, goal, None), contestants, args.seconds, pick=pick, **how)

    def ideal(seconds):
        return f"{loop / WORKERS / seconds:.2f} of the ideal, half the loop's {harness.pretty(loop)}"

    def new_array():
        return np.random.default_rng(0).random(10_000_000)

    yield "round trip", lambda: measured("no-op task, round trip of one", 30e-6, c.one())
    yield (
        "batched",
        lambda: measured("10,000 no-op tasks, handed over", 0.05, c.maps(nothing, few, chunk=1000), least=3),
    )
    yield "small", lambda: measured("100,000 small tasks", 1.0, c.maps(more, many), least=2)

    def shared(make, name, goal):
        calls = {k: (lambda a, k=k: c.maps(total, [a, a])[k]()) for k in c.maps(total, [])}
        calls["tutti"] = lambda a: tt.parallel.map(total, [a, a], workers=WORKERS, chunk=1)
        for f in calls.values():
            f(array)
        return fresh(harness.Row(name, goal, None), make, calls, args.times, pick)

    yield "80 MB new", lambda: shared(new_array, "80 MB array to 2 workers, first call", 0.04)
    yield "80 MB again", lambda: shared(lambda: array, "80 MB array to 2 workers, again", 0.001)

    items = list(range(args.items))
    begun = time.perf_counter()
    if args.only in "simulation":
        for s in items[:50]:
            simulate(s)
    loop = (time.perf_counter() - begun) / 50 * len(items)

    def simulation():
        row = measured(f"a simulation in Python, {len(items)} items", 0.95, c.maps(simulate, items), least=1)
        row.limit = ideal
        return row

    yield "simulation", simulation
    yield "first call", lambda: first_calls(harness.Row("first call of a process", 0.15, None), args.times, pick)
    yield "grid search", lambda: measured("grid search of 40 fits, 50 MB", 1.1, grid_search() or {}, least=2)


def imports(times):
    """Seconds of `import tutti`, and whether it loads tutti.parallel: programs that never call it pay nothing."""
    text = (
        "import sys, time; b = time.perf_counter(); import tutti; "
        "print(time.perf_counter() - b, 'tutti.parallel' in sys.modules)"
    )
    found = [
        subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True).stdout.split()
        for _ in range(times)
    ]
    return min(float(s) for s, _ in found), found[0][1]


def main():
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="rows whose short name holds this text")
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--times", type=int, default=7, help="of what is measured call by call")
    parser.add_argument("--items", type=int, default=1000, help="of the simulation")
    parser.add_argument("--json", type=pathlib.Path)
    harness.add_arguments(parser)
    args = parser.parse_args()
    pick, notes = harness.chosen(args)
    done = []
    for name, measure in rows(args, pick):
        if args.only in name:
            done.append(measure())
            harness.show(done[-1:])
    seconds, loads = imports(args.times)
    print(f"import tutti: {harness.pretty(seconds)}, loads tutti.parallel: {loads}", flush=True)
    if args.json:
        peers = {"joblib": joblib.__version__} if joblib is not None else {}
        harness.save(done, args.json, {"tutti": tt.__version__, "peers": peers, "import": seconds, **notes})


if __name__ == "__main__":
    main()
