"""The GPU table: the same work under tutti and under each peer, on one device, in one run.

Inputs lie on the device unless a row says otherwise. A timing is a run of `inner` calls and one wait, divided; ours and
the peers' runs alternate; the median counts. Results are compared with ours before anything is timed.
"""

import argparse
import ctypes
import importlib
import os
import pathlib
import statistics
import sys
import time

import gpu_rows
import harness
import numpy as np
import tutti as tt

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")


class Peers:
    def __init__(self, wanted):
        self.missing = []
        self.have = {}
        for name in ("cupy", "torch", "jax", "numba"):
            if name not in wanted:
                continue
            try:
                self.have[name] = importlib.import_module(name)
            except Exception:  # noqa: BLE001 - absent, or broken here: either way it is not in the table
                self.missing.append(name)
        if "numba" in self.have:
            if not hasattr(np, "row_stack"):
                np.row_stack = np.vstack  # this Numba looks for a name that this NumPy has dropped
            importlib.import_module("numba.cuda")

    def wait(self, who, result):
        kind = who.split()[0]
        if kind == "tutti":
            if result is not None:
                tt.eval(result)
            tt.synchronize()
        elif kind == "cupy":
            self.have["cupy"].cuda.Device().synchronize()
        elif kind == "torch":
            self.have["torch"].cuda.synchronize()
        elif kind == "jax":
            self.have["jax"].block_until_ready(result)
        elif kind == "numba":
            self.have["numba"].cuda.synchronize()


def to_numpy(x):
    if hasattr(x, "get"):
        return np.asarray(x.get())
    if hasattr(x, "detach"):
        return x.detach().float().cpu().numpy()
    if hasattr(x, "copy_to_host"):
        return x.copy_to_host()
    return np.asarray(x)


class Table:
    def __init__(self, peers, only, seconds, profile=False):
        self.peers, self.only, self.seconds, self.profile, self.rows = peers, only, seconds, profile, []

    def wants(self, name):
        return not self.only or any(part in name for part in self.only.split(","))

    def add(self, name, goal, inner, contestants, tolerance=1e-3, compare=True, bytes_moved=None):
        """contestants: a function that gives {name: function that returns its result without waiting}."""
        if not self.wants(name):
            return
        print("  ..", name, file=sys.stderr, flush=True)
        contestants = contestants()
        if self.profile:
            self.run_profiled(name, contestants["tutti"])
            return
        row = harness.Row(name, goal, None)
        row.bytes = bytes_moved
        usable = {k: f for k, f in contestants.items() if k == "tutti" or k.split()[0] in self.peers.have}
        want = None
        for k in list(usable):
            try:
                start = time.perf_counter()
                result = usable[k]()
                self.peers.wait(k, result)
                row.first[k] = time.perf_counter() - start
                if compare:
                    got = to_numpy(result).astype(np.float64).ravel()[:100000]
                    if want is None:
                        want = got
                    elif got.shape != want.shape or np.abs(got - want).max() > tolerance * (np.abs(want).max() + 1e-30):
                        raise ValueError("another result")
            except Exception as e:  # noqa: BLE001 - a peer that cannot do the work is a fact of the table
                row.error[k] = f"{type(e).__name__}: {e}".splitlines()[0][:160]
                del usable[k]
            result = None
        self.measure(row, usable, inner)
        self.rows.append(row)
        mine = row.seconds.get("tutti")
        peer = min(((v, k) for k, v in row.seconds.items() if k != "tutti"), default=(None, "-"))
        print(f"     {pretty(mine)} ours, {peer[1]} {pretty(peer[0])} {row.error or ''}", file=sys.stderr, flush=True)

    def run_profiled(self, name, work):
        """Ours once under a profiler, behind a kernel whose name is the row's number (tools/gpu_profile.py)."""
        driver = ctypes.CDLL("libcuda.so.1")
        number = len(self.rows)
        self.rows.append(name)
        mark = tt.RawKernel(f'extern "C" __global__ void row_{number}(int *) {{}}', f"row_{number}")
        there = tt.zeros(1, "int32", device=gpu_rows.DEVICE)
        tt.eval(there)
        for _ in range(2):
            self.peers.wait("tutti", work())
        driver.cuProfilerStart()
        mark((1,), (1,), (there,))
        tt.synchronize()
        self.peers.wait("tutti", work())
        driver.cuProfilerStop()
        print(f"row {number}: {name}", flush=True)

    def measure(self, row, usable, inner):
        times = {k: [] for k in usable}
        end = time.perf_counter() + self.seconds * max(len(usable), 1)
        for k, f in usable.items():
            for _ in range(2):
                result = f()
            self.peers.wait(k, result)
        rounds = 0
        while usable and (rounds < 5 or time.perf_counter() < end) and rounds < 200:
            rounds += 1
            for k, f in usable.items():
                start = time.perf_counter()
                for _ in range(inner):
                    result = f()
                    if k == "tutti" and result is not None:
                        tt.eval(result)
                self.peers.wait(k, result)
                times[k].append((time.perf_counter() - start) / inner)
                result = None
        row.seconds = {k: statistics.median(t) for k, t in times.items() if t}


def pretty(s):
    return "-" if s is None else harness.pretty(s)


def show(rows):
    names = ("cupy", "torch", "torch compiled", "jax", "numba")
    print(f"{'work':<44} {'tutti':>9} {'goal':>9} {'GB/s':>6}  " + " ".join(f"{n.split()[-1]:>9}" for n in names))
    for r in rows:
        mine = r.seconds.get("tutti")
        rate = f"{r.bytes / mine / 1e9:.0f}" if r.bytes and mine else ""
        peers = " ".join(f"{pretty(r.seconds.get(k)):>9}" for k in ("cupy", "torch", "torch compiled", "jax", "numba"))
        print(f"{r.name:<44} {pretty(mine):>9} {r.goal:>9} {rate:>6}  {peers}")
        if "tutti" in r.error:
            print("     ours:", r.error["tutti"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="rows whose name contains one of these, separated by commas")
    parser.add_argument("--peers", default="cupy,torch,jax,numba")
    parser.add_argument("--seconds", type=float, default=0.25, help="per contestant and row")
    parser.add_argument("--out", default=None)
    parser.add_argument("--profile", action="store_true", help="run ours once under a profiler, and time nothing")
    args = parser.parse_args()
    t = Table(Peers([p for p in args.peers.split(",") if p]), args.only, args.seconds, args.profile)
    w = gpu_rows.Work(t)
    for group in w.groups():
        try:
            group()
        except Exception as e:  # noqa: BLE001 - one row that cannot be set up leaves the others standing
            print("     row failed:", type(e).__name__, str(e)[:300], file=sys.stderr, flush=True)
        if w.cp:
            w.cp.get_default_memory_pool().free_all_blocks()
        if w.torch:
            w.torch.cuda.empty_cache()
    if args.profile:
        return
    show(t.rows)
    print("peers:", ", ".join(f"{k} {getattr(m, '__version__', '?')}" for k, m in t.peers.have.items()))
    print("missing:", ", ".join(t.peers.missing) or "none")
    out = (
        pathlib.Path(args.out)
        if args.out
        else pathlib.Path(__file__).parent / "results" / time.strftime("gpu-%Y-%m-%d.json")
    )
    notes = {
        "machine": [harness.no_folders(n) for n in tt.info().splitlines() if n.startswith(("devices", "      "))][:4],
        "peers": {k: getattr(m, "__version__", "?") for k, m in t.peers.have.items()},
        "missing": t.peers.missing,
    }
    harness.save(t.rows, out, notes)


if __name__ == "__main__":
    main()
