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

import harness
import numpy as np
import tutti as tt

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
DEVICE = "cuda:0"


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
        """contestants: {name: function that returns its result without waiting}."""
        if not self.wants(name):
            return
        print("  ..", name, file=sys.stderr, flush=True)
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
        there = tt.zeros(1, "int32", device=DEVICE)
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
                    if k == "tutti":
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


class Work:
    """One method a row; inputs are made with NumPy from a fixed seed and copied to every contestant."""

    def __init__(self, table):
        self.t, p = table, table.peers
        self.cp, self.torch, self.jax = p.have.get("cupy"), p.have.get("torch"), p.have.get("jax")
        self.numba = p.have.get("numba")
        self.jnp = importlib.import_module("jax.numpy") if self.jax else None
        self.rng = np.random.default_rng(1)

    def spread(self, *arrays):
        out = {"tutti": [tt.array(a, device=DEVICE) for a in arrays]}
        tt.eval(*out["tutti"])
        if self.cp:
            out["cupy"] = [self.cp.asarray(a) for a in arrays]
        if self.torch:
            out["torch"] = [self.torch.from_numpy(np.ascontiguousarray(a)).cuda() for a in arrays]
        if self.jax:
            out["jax"] = [self.jnp.asarray(a) for a in arrays]
        if self.numba:
            out["numba"] = [self.numba.cuda.to_device(a) for a in arrays]
        return out

    def forms(self, x, ours, cupy=None, torch=None, jax=None, compiled=True):
        """The same expression for everybody; functions of (namespace, *inputs)."""
        out = {"tutti": lambda: ours(tt, *x["tutti"])}
        if self.cp and cupy is not False:
            out["cupy"] = lambda f=cupy or ours: f(self.cp, *x["cupy"])
        if self.torch and torch is not False:
            f = torch or ours
            out["torch"] = lambda: f(self.torch, *x["torch"])
            if compiled:
                c = self.torch.compile(lambda *a: f(self.torch, *a), dynamic=False)
                out["torch compiled"] = lambda: c(*x["torch"])
        if self.jax and jax is not False:
            g = self.jax.jit(lambda *a, f=jax or ours: f(self.jnp, *a))
            out["jax"] = lambda: g(*x["jax"])
        return out

    def copies(self, n):
        x = self.spread(np.zeros(n, np.float32))
        forms = {"tutti": lambda: -x["tutti"][0]}
        if self.cp:
            forms["cupy"] = lambda: x["cupy"][0].copy()
        if self.torch:
            forms["torch"] = lambda: x["torch"][0].clone()
        self.t.add("copy of 1 GiB on the device", "", 5, forms, bytes_moved=8 * n)

    def adds(self, n):
        a = self.rng.integers(0, 1000, n, dtype=np.int32)
        b = self.rng.integers(0, 1000, n, dtype=np.int32)
        forms = {"tutti": lambda: np.asarray(tt.asarray(a, copy=False) + tt.asarray(b, copy=False))}
        if self.cp:
            forms["cupy"] = lambda: (self.cp.asarray(a) + self.cp.asarray(b)).get()
        if self.torch:
            t = self.torch
            forms["torch"] = lambda: (t.from_numpy(a).cuda() + t.from_numpy(b).cuda()).cpu()
        if self.jax:
            forms["jax"] = lambda: np.asarray(self.jnp.asarray(a) + self.jnp.asarray(b))
        self.t.add("20M int32 add, host in and out", "8 ms", 1, forms)
        x = self.spread(a, b)
        forms = self.forms(x, lambda xp, p, q: p + q)
        if self.numba:
            cuda = self.numba.cuda

            @cuda.jit
            def kernel(p, q, r):
                i = cuda.grid(1)
                if i < r.size:
                    r[i] = p[i] + q[i]

            r = cuda.device_array(n, np.int32)

            def run():
                kernel[(n + 255) // 256, 256](*x["numba"], r)
                return r

            forms["numba"] = run
        self.t.add("20M int32 add on the device", "66 us", 20, forms, bytes_moved=12 * n)

    def dependent(self):
        x = self.spread(np.zeros(1000, np.float32))

        def work(xp, v):
            for _ in range(1000):
                v = v + 1.0
            return v

        forms = self.forms(x, work, compiled=False, jax=False)
        if self.jax:

            def eager():
                v = x["jax"][0]
                for _ in range(1000):
                    v = v + 1.0
                return v

            forms["jax"] = eager
        self.t.add("1000 dependent adds on 1000 elements", "1 ms", 1, forms)
        y = self.spread(np.zeros(400, np.float32))
        self.t.add("add on 400 elements, launched in a row", "4 us", 500, self.forms(y, lambda xp, v: v + 1.0))

    def black_scholes(self, n):
        s, k, t = (self.rng.uniform(lo, hi, n).astype(np.float32) for lo, hi in ((5, 30), (1, 100), (0.25, 10)))
        x = self.spread(s, k, t)

        def work(xp, s, k, t, where=None):
            f = np.float32
            root = xp.sqrt(t)
            d1 = (xp.log(s / k) + f(0.065) * t) / (f(0.3) * root)
            d2 = d1 - f(0.3) * root

            def cdf(d):
                w = f(1.0) / (f(1.0) + f(0.2316419) * xp.abs(d))
                poly = w * (
                    f(0.31938153)
                    + w * (f(-0.356563782) + w * (f(1.781477937) + w * (f(-1.821255978) + w * f(1.330274429))))
                )
                v = f(0.39894228) * xp.exp(f(-0.5) * d * d) * poly
                return xp.where(d > 0, f(1.0) - v, v)

            discount = k * xp.exp(f(-0.02) * t)
            c1, c2 = cdf(d1), cdf(d2)
            call = s * c1 - discount * c2
            put = discount * (f(1.0) - c2) - s * (f(1.0) - c1)
            return call, put

        def pair(xp, *a):
            call, put = work(xp, *a)
            return call + 0 * put if xp is None else (call, put)

        forms = self.forms(x, pair, torch=lambda xp, *a: pair(xp, *a))

        def ours():
            call, put = work(tt, *x["tutti"])
            tt.eval(call, put)
            return call

        forms = {k: (lambda f=f: f()[0]) for k, f in forms.items()} | {"tutti": ours}
        self.t.add("Black-Scholes, 50M options", "270 us", 5, forms, bytes_moved=20 * n)

    def reductions(self, n):
        a = self.rng.standard_normal(n, dtype=np.float32)
        x = self.spread(a)
        self.t.add("norm of 1e8 f32", "100 us", 10, self.forms(x, lambda xp, v: xp.linalg.norm(v)), bytes_moved=4 * n)
        self.t.add("sum of 1e8 f32", "", 10, self.forms(x, lambda xp, v: xp.sum(v)), tolerance=1, bytes_moved=4 * n)
        self.t.add("argmax of 1e8 f32", "", 10, self.forms(x, lambda xp, v: xp.argmax(v)), bytes_moved=4 * n)
        self.t.add(
            "var of 1e8 f32",
            "",
            10,
            self.forms(x, lambda xp, v: xp.var(v), torch=lambda xp, v: xp.var(v, correction=0)),
            bytes_moved=4 * n,
        )
        self.t.add(
            "cumsum of 1e8 f32",
            "220 us",
            5,
            self.forms(x, lambda xp, v: xp.cumsum(v, axis=0), torch=lambda xp, v: xp.cumsum(v, 0)),
            tolerance=2e-2,
            bytes_moved=8 * n,
        )
        self.t.add(
            "sort of 1e8 f32",
            "2.5 ms",
            2,
            self.forms(x, lambda xp, v: xp.sort(v), torch=lambda xp, v: xp.sort(v)[0], compiled=False),
        )
        self.t.add(
            "where(x > 0, x, 0) summed, 1e8",
            "",
            5,
            self.forms(x, lambda xp, v: xp.sum(xp.where(v > 0, v, np.float32(0)))),
            bytes_moved=4 * n,
        )
        self.t.add(
            "x[x > 0] of 1e8",
            "",
            3,
            self.forms(x, lambda xp, v: v[v > 0], jax=False, compiled=False),
            bytes_moved=6 * n,
        )
        index = self.rng.integers(0, n, n // 8)
        y = self.spread(a, index)
        self.t.add("gather of 12.5M from 1e8", "", 5, self.forms(y, lambda xp, v, i: v[i]))
        small = self.rng.integers(0, 1000, n // 10)
        z = self.spread(small)
        self.t.add(
            "bincount of 1e7, 1000 bins",
            "",
            5,
            self.forms(
                z,
                lambda xp, v: xp.bincount(v, minlength=1000),
                jax=lambda xp, v: xp.bincount(v, length=1000),
                compiled=False,
            ),
        )

    def rows_of(self, n):
        a = self.rng.standard_normal((n, n), dtype=np.float32)
        x = self.spread(a)

        def softmax(xp, v):
            e = xp.exp(v - v.max(axis=1, keepdims=True))
            return e / e.sum(axis=1, keepdims=True)

        def layer_norm(xp, v):
            m = v.mean(axis=1, keepdims=True)
            c = v - m
            return c / xp.sqrt((c * c).mean(axis=1, keepdims=True) + np.float32(1e-5))

        t = self.torch
        self.t.add(
            f"softmax over rows of {n} x {n}",
            "150 us",
            10,
            self.forms(
                x, softmax, torch=lambda xp, v: xp.softmax(v, 1), jax=lambda xp, v: self.jax.nn.softmax(v, axis=1)
            ),
            bytes_moved=8 * n * n,
        )
        self.t.add(
            f"layer norm over rows of {n} x {n}",
            "",
            10,
            self.forms(x, layer_norm, torch=lambda xp, v: t.nn.functional.layer_norm(v, (v.shape[1],))),
            bytes_moved=8 * n * n,
        )
        self.t.add(
            f"sum over axis 1 of {n} x {n}", "", 10, self.forms(x, lambda xp, v: v.sum(axis=1)), bytes_moved=4 * n * n
        )

    def columns(self, n):
        x = self.spread(self.rng.standard_normal((n, n), dtype=np.float32))
        self.t.add(
            f"sum over axis 0 of {n} x {n}",
            "380 us",
            10,
            self.forms(x, lambda xp, v: v.sum(axis=0)),
            bytes_moved=4 * n * n,
        )

    def transpose(self, n):
        x = self.spread(self.rng.standard_normal((n, n), dtype=np.float32))
        forms = {"tutti": lambda: x["tutti"][0].T.copy()}
        if self.cp:
            forms["cupy"] = lambda: self.cp.ascontiguousarray(x["cupy"][0].T)
        if self.torch:
            t = self.torch
            forms["torch"] = lambda: x["torch"][0].T.contiguous()
            c = t.compile(lambda v: v.T.contiguous())
            forms["torch compiled"] = lambda: c(x["torch"][0])
        if self.jax:
            g = self.jax.jit(lambda v: v.T + 0)
            forms["jax"] = lambda: g(x["jax"][0])
        self.t.add(f"transpose copy of {n} x {n}", "550 us", 5, forms, bytes_moved=8 * n * n)

    def jacobi(self, n, sweeps):
        a = self.rng.random((n, n), dtype=np.float32)
        x = self.spread(a)
        quarter = np.float32(0.2)

        def in_place(v):
            for _ in range(sweeps):
                v[1:-1, 1:-1] = quarter * (v[1:-1, 1:-1] + v[1:-1, :-2] + v[1:-1, 2:] + v[:-2, 1:-1] + v[2:, 1:-1])
            return v

        forms = {"tutti": lambda: in_place(x["tutti"][0].copy())}
        if self.cp:
            forms["cupy"] = lambda: in_place(x["cupy"][0].copy())
        if self.torch:
            q = float(quarter)

            def torch_sweeps():
                v = x["torch"][0].clone()
                for _ in range(sweeps):
                    v[1:-1, 1:-1] = q * (v[1:-1, 1:-1] + v[1:-1, :-2] + v[1:-1, 2:] + v[:-2, 1:-1] + v[2:, 1:-1])
                return v

            forms["torch"] = torch_sweeps
        if self.jax:
            jax = self.jax

            def body(_, v):
                return v.at[1:-1, 1:-1].set(
                    quarter * (v[1:-1, 1:-1] + v[1:-1, :-2] + v[1:-1, 2:] + v[:-2, 1:-1] + v[2:, 1:-1])
                )

            g = jax.jit(lambda v: jax.lax.fori_loop(0, sweeps, body, v))
            forms["jax"] = lambda: g(x["jax"][0])
        self.t.add(f"Jacobi {n} x {n}, {sweeps} in-place sweeps", "4.5 ms", 1, forms, bytes_moved=8 * n * n * sweeps)

    def products(self):
        n = 10_000
        x = self.spread(self.rng.random((n, n), dtype=np.float32))
        self.t.add(
            "(1e4, 1e4) f32 times itself, fp32",
            "41 ms",
            1,
            self.forms(x, lambda xp, v: v @ v, compiled=False, jax=False),
        )
        small = self.rng.standard_normal((4096, 32, 32), dtype=np.float32)
        x = self.spread(small)
        self.t.add("4096 products of 32 x 32", "", 20, self.forms(x, lambda xp, v: v @ v), tolerance=1e-2)
        m = self.rng.standard_normal((2048, 2048)).astype(np.float32) + 50 * np.eye(2048, dtype=np.float32)
        x = self.spread(m, self.rng.standard_normal((2048, 8)).astype(np.float32))
        self.t.add("solve 2048 x 2048", "", 2, self.forms(x, lambda xp, p, q: xp.linalg.solve(p, q), compiled=False))

    def solvers(self, n):
        """Factorizations; jax has its own batching and is left out."""
        m = self.rng.standard_normal((n, n)).astype(np.float32)
        x = self.spread(m @ m.T / n + np.eye(n, dtype=np.float32))
        for name, work in {
            "inverse of": lambda xp, v: xp.linalg.inv(v),
            "Cholesky of": lambda xp, v: xp.linalg.cholesky(v),
            "QR of": lambda xp, v: xp.linalg.qr(v)[1],
            "eigenvalues and vectors of symmetric": lambda xp, v: xp.linalg.eigh(v)[1],
        }.items():
            forms = self.forms(x, work, compiled=False, jax=False)
            self.t.add(f"{name} {n} x {n} f32", "", 2, forms, compare=False)
        x = self.spread(m[: n // 4, : n // 4].copy())
        forms = self.forms(x, lambda xp, v: xp.linalg.svd(v)[1], compiled=False, jax=False)
        self.t.add(f"SVD of {n // 4} x {n // 4} f32", "", 1, forms, compare=False)
        small = self.rng.standard_normal((4096, 16, 16), dtype=np.float32) + 8 * np.eye(16, dtype=np.float32)
        x = self.spread(small, self.rng.standard_normal((4096, 16, 2), dtype=np.float32))
        forms = self.forms(x, lambda xp, p, q: xp.linalg.solve(p, q), compiled=False, jax=False)
        self.t.add("4096 systems of 16 x 16", "", 5, forms, tolerance=1e-2)

    def linear_gelu(self):
        if not self.torch:
            return
        t = self.torch
        x = t.randn(8192, 4096, device="cuda", dtype=t.bfloat16)
        w = t.randn(4096, 16384, device="cuda", dtype=t.bfloat16) * 0.02
        b = t.randn(16384, device="cuda", dtype=t.bfloat16)
        mine = [tt.from_dlpack(v) for v in (x, w, b)]

        def ours():
            y = mine[0] @ mine[1] + mine[2]
            k = 0.7978845608028654
            return 0.5 * y * (1.0 + tt.tanh(k * (y + 0.044715 * y * y * y)))

        def theirs():
            return t.nn.functional.gelu(t.addmm(b, x, w), approximate="tanh")

        c = t.compile(theirs)
        self.t.add(
            "bf16 linear + GELU 8192x4096x16384",
            "1.75 ms",
            5,
            {"tutti": ours, "torch": theirs, "torch compiled": c},
            compare=False,
        )

    def fft(self, n):
        a = (self.rng.standard_normal(n) + 1j * self.rng.standard_normal(n)).astype(np.complex64)
        out = {}
        x = tt.array(a, device=DEVICE)
        tt.eval(x)
        out["tutti"] = lambda: tt.fft.fft(x)
        if self.cp:
            c = self.cp.asarray(a)
            out["cupy"] = lambda: self.cp.fft.fft(c)
        if self.torch:
            t = self.torch.from_numpy(a).cuda()
            out["torch"] = lambda: self.torch.fft.fft(t)
        self.t.add("complex64 FFT of 2^26", "1.04 ms", 3, out, compare=False)

    def random(self, n):
        forms = {"tutti": lambda: tt.random.default_rng(1).standard_normal(n, dtype="float32").to(DEVICE).sum()}
        if self.cp:
            forms["cupy"] = lambda: self.cp.random.standard_normal(n, dtype=np.float32).sum()
        if self.torch:
            forms["torch"] = lambda: self.torch.randn(n, device="cuda").sum()
        self.t.add("sum of 1e8 normal draws", "", 3, forms, compare=False)

    def first_call(self):
        x = self.spread(self.rng.random(100_000, dtype=np.float32))
        row = harness.Row("first call of a new fused expression", "100 ms", None)
        row.bytes = None
        if not self.t.wants(row.name):
            return
        c = float(np.random.default_rng().integers(1, 1_000_000))

        def new(xp, v):
            y = v
            for k in range(3 + int(c) % 7):
                y = xp.sqrt(y * y + np.float32(k)) - xp.exp(-y) * v
            return y

        for k, f in self.forms(x, new).items():
            start = time.perf_counter()
            self.t.peers.wait(k, f())
            row.seconds[k] = time.perf_counter() - start
        self.t.rows.append(row)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="rows whose name contains one of these, separated by commas")
    parser.add_argument("--peers", default="cupy,torch,jax,numba")
    parser.add_argument("--seconds", type=float, default=0.25, help="per contestant and row")
    parser.add_argument("--out", default=None)
    parser.add_argument("--profile", action="store_true", help="run ours once under a profiler, and time nothing")
    args = parser.parse_args()
    t = Table(Peers([p for p in args.peers.split(",") if p]), args.only, args.seconds, args.profile)
    w = Work(t)
    jobs = [
        lambda: w.copies(1 << 28),
        lambda: w.adds(20_000_000),
        w.dependent,
        lambda: w.black_scholes(50_000_000),
        lambda: w.reductions(100_000_000),
        lambda: w.rows_of(8192),
        lambda: w.columns(20_000),
        lambda: w.transpose(16384),
        lambda: w.jacobi(4096, 4 if args.profile else 100),
        w.products,
        w.linear_gelu,
        lambda: w.solvers(2048),
        lambda: w.fft(1 << 26),
        lambda: w.random(100_000_000),
        w.first_call,
    ]
    for job in jobs:
        try:
            job()
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
