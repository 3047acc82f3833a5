"""The CPU table: the same work under tutti and under each peer, in one run, as ratios.

Inputs are random; every contestant's result is compared with NumPy's in float64 before it is timed.
"""

import argparse
import importlib
import os
import pathlib
import subprocess
import sys
import time

import harness
import numpy as np
import tutti as tt

PEERS = ["numexpr", "numba", "jax", "torch"]


def peers():
    found, missing = {"numpy": np}, []
    os.environ["JAX_PLATFORMS"] = "cpu"  # this table is about processors; a GPU has one of its own
    for name in PEERS:
        try:
            found[name] = importlib.import_module(name)
        except Exception:  # noqa: BLE001 - absent, or broken here: either way it is not in the table
            missing.append(name)
    return found, missing


def wait(x):
    tt.eval(x)
    return x


class Table:
    def __init__(self, found, only):
        self.found, self.only, self.rows = found, only, []

    def add(self, name, goal, contestants, want=None, tolerance=1e-4, seconds=1.0, limit=None):
        if self.only and self.only not in name:
            return
        print("  ..", name, file=sys.stderr, flush=True)
        usable = {k: f for k, f in contestants.items() if k == "tutti" or k.split()[0] in self.found}
        row = harness.Row(name, goal, None, limit)
        if want is not None:
            for k in list(usable):
                try:
                    got = np.asarray(usable[k](), dtype=want.dtype)  # float64, or complex128 for spectra
                    scale = np.abs(want).max() + 1e-30
                    if got.shape != want.shape or not (np.abs(got - want) <= tolerance * scale).all():
                        row.error[k] = "wrong result"
                        del usable[k]
                except Exception as e:  # noqa: BLE001
                    row.error[k] = f"{type(e).__name__}: {e}".splitlines()[0][:120]
                    del usable[k]
            tt.compile_wait()
        self.rows.append(harness.measure(row, usable, seconds))


# ---- peers' forms of the same work


def numba_chain(nb):
    @nb.njit(parallel=True)
    def f(x, y, out):
        for i in nb.prange(x.size):
            a, b = x[i], y[i]
            out[i] = ((a + b) * a - b) * np.float32(2) + a - b * np.float32(0.5) + a * b
        return out

    return f


def chain(x, y):
    return ((x + y) * x - y) * 2.0 + x - y * 0.5 + x * y


CHAIN = "((x + y) * x - y) * 2 + x - y * 0.5 + x * y"


def transcendental(xp, x, y):
    return xp.sqrt(xp.exp(x) + xp.log(y + 1.0)) * xp.exp(-y) + xp.log(x + 2.0)


def numba_transcendental(nb):
    @nb.njit(parallel=True)
    def f(x, y, out):
        one, two = np.float32(1), np.float32(2)
        for i in nb.prange(x.size):
            out[i] = np.sqrt(np.exp(x[i]) + np.log(y[i] + one)) * np.exp(-y[i]) + np.log(x[i] + two)
        return out

    return f


def small_rows(t, found):
    a = np.random.default_rng(0).random(1000, dtype=np.float32)
    b = a + 1
    x, y = tt.asarray(a), tt.asarray(b)
    many = range(1000)

    def record():
        for _ in many:
            x + y

    def numpy_add():
        for _ in many:
            a + b

    t.add("recording one op, 1000 times", "<= 0.25 us each", {"tutti": record, "numpy": numpy_add}, seconds=0.3)
    t.add(
        "one add of 1000, evaluated",
        "within 2x of NumPy",
        {"tutti": lambda: wait(x + y), "numpy": lambda: a + b},
        a + b,
        seconds=0.3,
    )
    contestants = {"tutti": lambda: wait(chain(x, y)), "numpy": lambda: chain(a, b)}
    t.add("chain of 10 ops on 1000, evaluated", ">= 1.0x NumPy", contestants, chain(a, b).astype(float), seconds=0.3)


def chains(t, found, n):
    rng = np.random.default_rng(1)
    a, b = rng.random(n, dtype=np.float32), rng.random(n, dtype=np.float32)
    x, y = tt.asarray(a), tt.asarray(b)
    c = {"tutti": lambda: wait(chain(x, y)), "numpy": lambda: chain(a, b)}
    d = {"tutti": lambda: wait(transcendental(tt, x, y)), "numpy": lambda: transcendental(np, a, b)}
    env = {"x": a, "y": b}
    if "numexpr" in found:
        ne = found["numexpr"]
        c["numexpr"] = lambda: ne.evaluate(CHAIN, env)
        d["numexpr"] = lambda: ne.evaluate("sqrt(exp(x) + log(y + 1)) * exp(-y) + log(x + 2)", env)
    if "numba" in found:
        nc, nt = numba_chain(found["numba"]), numba_transcendental(found["numba"])
        c["numba"] = lambda: nc(a, b, np.empty_like(a))
        d["numba"] = lambda: nt(a, b, np.empty_like(a))
    if "jax" in found:
        jax = found["jax"]
        ja, jb = jax.numpy.asarray(a), jax.numpy.asarray(b)
        jc, jd = jax.jit(chain), jax.jit(lambda u, v: transcendental(jax.numpy, u, v))
        c["jax"] = lambda: jc(ja, jb).block_until_ready()
        d["jax"] = lambda: jd(ja, jb).block_until_ready()
    if "torch" in found:
        torch = found["torch"]
        ta, tb = torch.from_numpy(a), torch.from_numpy(b)
        c["torch"] = lambda: chain(ta, tb)
        d["torch"] = lambda: transcendental(torch, ta, tb)
    t.add(
        f"chain of 10 ops on {n // 10**6}M f32", ">= 3x NumPy, >= 1x best", c, chain(a.astype(float), b.astype(float))
    )
    want = transcendental(np, a.astype(float), b.astype(float))
    t.add(f"chain with exp log sqrt on {n // 10**6}M f32", ">= 1.0x best", d, want)


def reductions(t, found, n):
    a = np.random.default_rng(2).random(n, dtype=np.float32)
    x = tt.asarray(a)
    wide = a.astype(np.float64)
    jnp = found["jax"].numpy if "jax" in found else None
    jx = jnp.asarray(a) if jnp else None
    tx = found["torch"].from_numpy(a) if "torch" in found else None
    gb = n * 4 / 1e9
    read = measured_read(a)

    def bandwidth(seconds):
        return f"{gb / seconds:.1f} GB/s; this machine reads {read:.1f} GB/s: {gb / seconds / read:.0%}"

    for name, ours, theirs, want in [
        ("sum", tt.sum, "sum", wide.sum()),
        ("mean", tt.mean, "mean", wide.mean()),
        ("var", tt.var, "var", wide.var()),
        ("norm", lambda v: tt.linalg.norm(v), "norm", np.sqrt((wide * wide).sum())),
        ("argmax", tt.argmax, "argmax", np.float64(a.argmax())),
    ]:
        home = np.linalg if name == "norm" else np
        c = {"tutti": lambda f=ours: wait(f(x)), "numpy": lambda f=getattr(home, theirs): f(a)}
        if jnp:
            jf = found["jax"].jit(getattr(jnp.linalg if name == "norm" else jnp, theirs))
            c["jax"] = lambda f=jf: f(jx).block_until_ready()
        if tx is not None:
            c["torch"] = lambda f=getattr(found["torch"], theirs): f(tx)
        t.add(f"{name} of {n // 10**6}M f32", ">= 90 % of read bandwidth", c, np.asarray(want), 1e-3, limit=bandwidth)


def draws(t, found, n):
    ours, theirs, torch = tt.random.default_rng(1), np.random.default_rng(1), found.get("torch")
    for draw, word, short in (("standard_normal", "normal", "randn"), ("random", "uniform", "rand")):
        for dtype in ("float32", "float64"):
            c = {
                "tutti": lambda d=draw, k=dtype: wait(getattr(ours, d)(n, dtype=k)),
                "numpy": lambda d=draw, k=dtype: getattr(theirs, d)(n, dtype=k),
            }
            if torch:
                c["torch"] = lambda d=short, k=dtype: getattr(torch, d)(n, dtype=getattr(torch, k))
            t.add(f"{n // 10**6}M {word} draws {dtype}", ">= 1.0x best, one core", c)
    c = {"tutti": lambda: wait(ours.integers(0, 1000, n)), "numpy": lambda: theirs.integers(0, 1000, n)}
    if torch:
        c["torch"] = lambda: torch.randint(0, 1000, (n,))
    t.add(f"{n // 10**6}M integers below 1000", ">= 1.0x best, one core", c)


def measured_read(a):
    """GB/s of the fastest plain read we know: one maximum over int32, by all threads."""
    x = tt.asarray(a.view(np.int32))
    best = min(harness.once(lambda: wait(tt.max(x))) for _ in range(7))
    tt.compile_wait()
    return a.nbytes / 1e9 / min([best] + [harness.once(lambda: wait(tt.max(x))) for _ in range(7)])


def stencil(t, found, n, sweeps):
    def run(u):
        for _ in range(sweeps):
            u[1:-1, 1:-1] = 0.2 * (u[1:-1, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] + u[:-2, 1:-1] + u[2:, 1:-1])
        return u

    a = np.random.default_rng(3).random((n, n), dtype=np.float32)
    c = {"tutti": lambda: wait(run(tt.array(a))), "numpy": lambda: run(a.copy())}
    if "numba" in found:
        nb = found["numba"]

        @nb.njit(parallel=True)
        def sweep(u, v):
            k = np.float32(0.2)
            for i in nb.prange(1, u.shape[0] - 1):
                for j in range(1, u.shape[1] - 1):
                    v[i, j] = k * (u[i, j] + u[i, j - 1] + u[i, j + 1] + u[i - 1, j] + u[i + 1, j])

        def numba_run():
            u, v = a.copy(), a.copy()
            for _ in range(sweeps):
                sweep(u, v)
                u, v = v, u
            return u

        c["numba"] = numba_run
    t.add(f"stencil on slices, {n} x {n}, {sweeps} sweeps", ">= 1.0x Numba", c, run(a.astype(float)), seconds=1.5)


def softmax(xp, x):
    e = xp.exp(x - xp.max(x, axis=1, keepdims=True))
    return e / xp.sum(e, axis=1, keepdims=True)


def layer_norm(xp, x):
    m = xp.mean(x, axis=1, keepdims=True)
    v = xp.mean((x - m) * (x - m), axis=1, keepdims=True)
    return (x - m) / xp.sqrt(v + 1e-5)


def torch_rows(torch, a):
    x, fn = torch.from_numpy(a), torch.nn.functional
    return {"softmax": lambda: fn.softmax(x, 1), "layer norm": lambda: fn.layer_norm(x, (a.shape[1],))}


def rows_of(t, found, n):
    a = np.random.default_rng(4).standard_normal((n, n), dtype=np.float32)
    x = tt.asarray(a)
    for name, f in [("softmax", softmax), ("layer norm", layer_norm)]:
        c = {"tutti": lambda f=f: wait(f(tt, x)), "numpy": lambda f=f: f(np, a)}
        if "jax" in found:
            jax = found["jax"]
            jx, jf = jax.numpy.asarray(a), jax.jit(lambda v, f=f, jnp=jax.numpy: f(jnp, v))
            c["jax"] = lambda jf=jf, jx=jx: jf(jx).block_until_ready()
        if "torch" in found:
            c["torch"] = torch_rows(found["torch"], a)[name]
        t.add(f"{name} over rows of {n} x {n}", ">= 1.0x best", c, f(np, a.astype(float)))


def torch_forms(torch, x):
    return {
        "sort": lambda: torch.sort(x)[0],
        "unique": lambda: torch.unique(x),
        "cumsum": lambda: torch.cumsum(x, 0),
    }


def ordered(t, found, n):
    rng = np.random.default_rng(5)
    a = rng.standard_normal(n, dtype=np.float32)
    k = rng.integers(0, 1000, n)
    x, xk = tt.asarray(a), tt.asarray(k)
    jnp = found["jax"].numpy if "jax" in found else None
    jx = jnp.asarray(a) if jnp else None
    tx = found["torch"].from_numpy(a) if "torch" in found else None
    for name, mine, theirs, want in [
        ("sort", lambda: wait(tt.sort(x)), lambda: np.sort(a), np.sort(a)),
        ("unique", lambda: wait(tt.unique(x)), lambda: np.unique(a), np.unique(a)),
        ("cumsum", lambda: wait(tt.cumsum(x)), lambda: np.cumsum(a), np.cumsum(a.astype(float))),
    ]:
        c = {"tutti": mine, "numpy": theirs}
        if jnp and name != "unique":
            jf = found["jax"].jit(getattr(jnp, name))
            c["jax"] = lambda f=jf: f(jx).block_until_ready()
        if tx is not None:
            c["torch"] = torch_forms(found["torch"], tx)[name]
        t.add(f"{name} of {n // 10**6}M f32", ">= 1.0x best", c, want.astype(float), 1e-2 if name == "cumsum" else 0)
    c = {"tutti": lambda: wait(tt.bincount(xk)), "numpy": lambda: np.bincount(k)}
    t.add(f"bincount of {n // 10**6}M, 1000 bins", ">= 1.0x best", c, np.bincount(k).astype(float))


def products(t, found, n):
    rng = np.random.default_rng(6)
    a, b = rng.random((n, n), dtype=np.float32), rng.random((n, n), dtype=np.float32)
    bias = rng.random(n, dtype=np.float32)
    x, y, z = tt.asarray(a), tt.asarray(b), tt.asarray(bias)
    c = {"tutti": lambda: wait(x @ y), "numpy": lambda: a @ b}
    d = {"tutti": lambda: wait(tt.maximum(x @ y + z, 0)), "numpy": lambda: np.maximum(a @ b + bias, 0)}
    if "jax" in found:
        jax = found["jax"]
        jx, jy, jz = map(jax.numpy.asarray, (a, b, bias))
        f, g = jax.jit(lambda u, v: u @ v), jax.jit(lambda u, v, w: jax.numpy.maximum(u @ v + w, 0))
        c["jax"] = lambda: f(jx, jy).block_until_ready()
        d["jax"] = lambda: g(jx, jy, jz).block_until_ready()
    wide = a.astype(float) @ b.astype(float)
    t.add(f"matmul {n} f32", "within 3 % of OpenBLAS", c, wide, 1e-4)
    t.add(f"matmul {n} + bias, relu", ">= 1.0x best", d, np.maximum(wide + bias, 0), 1e-4)


def transforms(t, found, part):
    rng = np.random.default_rng(9)
    rows = [
        ("fft of 2^20 c64", (1 << 20,), "complex64", "fft"),
        ("fft of 2^20 c128", (1 << 20,), "complex128", "fft"),
        ("fft of 1000 x 1024 c64", (1000, 1024), "complex64", "fft"),
        ("rfft of 1000 x 1024 f64", (1000, 1024), "float64", "rfft"),
        ("fft of 1000003 (prime) c128", (1000003,), "complex128", "fft"),
        ("fft2 of 2048 x 2048 c64", (2048 // part, 2048), "complex64", "fft2"),
    ]
    for name, shape, dtype, f in rows:
        if not t.only or t.only in name:
            a = rng.standard_normal(shape)
            a = (a + 1j * rng.standard_normal(shape) if dtype.startswith("complex") else a).astype(dtype)
            transform(t, found, name, f, a)


def transform(t, found, name, f, a):
    x, ours = tt.asarray(a), getattr(tt.fft, f)
    c = {"tutti": lambda: wait(ours(x)), "numpy": lambda: getattr(np.fft, f)(a)}
    if "jax" in found and a.dtype in (np.complex64, np.float32):
        jf, jx = found["jax"].jit(getattr(found["jax"].numpy.fft, f)), found["jax"].numpy.asarray(a)
        c["jax"] = lambda: jf(jx).block_until_ready()
    if "torch" in found:
        tf, tx = getattr(found["torch"].fft, f), found["torch"].from_numpy(a)
        c["torch"] = lambda: tf(tx)
    want = getattr(np.fft, f)(a.astype("complex128" if np.iscomplexobj(a) else "float64"))
    t.add(name, ">= 1.0x best", c, want, 1e-4)


def imports(t):
    def fresh(module):
        code = f"import time; t = time.perf_counter(); import {module}; print(time.perf_counter() - t)"
        return lambda: subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)

    start = {m: min(inside(fresh(m)) for _ in range(5)) for m in ("tutti", "numpy")}
    if not t.only or t.only in "import":
        row = harness.Row("import", "<= 50 ms", None)
        row.seconds, row.first = start, dict(start)
        t.rows.append(row)


def inside(f):
    return float(f().stdout)


def first_call(t):
    """A kernel nobody has seen: the number in it is structure, not a parameter."""
    if t.only and t.only not in "first call":
        return
    x = tt.asarray(np.random.default_rng(7).random(100_000, dtype=np.float32))
    tt.eval(x)
    row = harness.Row("first call of a new expression, 100k f32", "<= 1 ms over its steady time", None)

    def expression():
        return tt.exp(x) * tt.arctan(x) - tt.cbrt(x) + tt.expm1(x) / tt.hypot(x, x)

    row.first["tutti"] = harness.once(lambda: wait(expression()))
    steady = sorted(harness.once(lambda: wait(expression())) for _ in range(5))[2]
    row.seconds["tutti"] = steady
    row.limit = (
        lambda s: f"{harness.pretty(max(row.first['tutti'] - steady, 0))} over the steady time before compilation"
    )
    t.rows.append(row)


def memory(t, n):
    if t.only and t.only not in "memory":
        return
    rng = np.random.default_rng(8)
    x, y = tt.asarray(rng.random(n, dtype=np.float32)), tt.asarray(rng.random(n, dtype=np.float32))
    tt.eval(x, y)
    before = tt.memory()["allocated"]
    tt.memory_reset_peak()
    z = wait(chain(x, y))
    extra = tt.memory()["max_allocated"] - before - z.nbytes
    print(f"memory of the fused chain: inputs + output + {extra / 1e6:.2f} MB (goal: + 1 MB)")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="rows whose name contains this")
    parser.add_argument("--quick", action="store_true", help="a tenth of the sizes")
    parser.add_argument("--out", default=None, help="JSON file (default: bench/results/cpu-DATE.json)")
    args = parser.parse_args()
    found, missing = peers()
    t = Table(found, args.only)
    part = 10 if args.quick else 1
    first_call(t)
    small_rows(t, found)
    chains(t, found, 16_000_000 // part)
    reductions(t, found, 64_000_000 // part)
    draws(t, found, 10_000_000 // part)
    stencil(t, found, 4096 // (4 if args.quick else 1), 20)
    rows_of(t, found, 4096 // (4 if args.quick else 1))
    ordered(t, found, 10_000_000 // part)
    products(t, found, 2048 // (4 if args.quick else 1))
    transforms(t, found, 4 if args.quick else 1)
    imports(t)
    harness.show(t.rows)
    memory(t, 16_000_000 // part)
    print("peers:", ", ".join(f"{k} {getattr(m, '__version__', '?')}" for k, m in found.items()))
    print("missing:", ", ".join(missing) or "none")
    path = (
        pathlib.Path(args.out)
        if args.out
        else pathlib.Path(__file__).parent / "results" / time.strftime("cpu-%Y-%m-%d.json")
    )
    notes = {
        "machine": [line for line in tt.info().splitlines() if line.startswith(("devices", "blas"))],
        "peers": {k: getattr(m, "__version__", "?") for k, m in found.items()},
        "missing": missing,
    }
    harness.save(t.rows, path, notes)
    print("written:", path)


if __name__ == "__main__":
    main()
