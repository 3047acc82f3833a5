"""The field: what array programs are made of, each program written once over a module, ours beside the peers.

On the CPU NumPy, jitted JAX and, where one would write it, Numba; with `--device cuda` CuPy, PyTorch (eager and
compiled) and JAX. Every result is compared with the same program in float64 by NumPy before anything is timed.
"""

import argparse
import importlib
import math
import os
import pathlib
import sys
import time
import warnings

import field_more
import field_numba
import field_programs
import field_rows
import harness
import numpy as np
import tutti as tt

TOLERANCE = {"float16": 2e-2, "float32": 2e-4, "complex64": 2e-4}


def peers(device):
    """{name: module} of what is there, and the names of what is not."""
    if device == "cpu":
        os.environ["JAX_PLATFORMS"] = "cpu"
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    found, missing = ({"numpy": np} if device == "cpu" else {}), []
    for name in ("jax", "numba") if device == "cpu" else ("cupy", "torch", "jax"):
        try:
            found[name] = importlib.import_module(name)
        except Exception:  # noqa: BLE001 - absent, or broken here: either way it is not in the table
            missing.append(name)
    if "jax" in found:
        found["jax"].config.update("jax_enable_x64", True)  # the others have 64 bits, too
    return found, missing


def torch_space(found, missing):
    """PyTorch under the names of the array API, where the package that gives them is there."""
    if "torch" not in found:
        return None
    try:
        return importlib.import_module("array_api_compat.torch")
    except ImportError:
        missing.append("array_api_compat")
        return found["torch"]


class Field:
    def __init__(self, args):
        self.args = args
        self.found, self.missing = peers(args.device)
        self.torch = torch_space(self.found, self.missing)
        self.pick, self.notes = harness.chosen(args)
        self.rows = []

    def wants(self, row):
        return not self.args.only or any(part in row.name for part in self.args.only.split(","))

    def contestants(self, row, arrays):
        out = {"tutti": self.ours(row, arrays)}
        if "numpy" in self.found:
            f = row.forms.get("numpy", row.work)
            out["numpy"] = lambda: f(np, *arrays)
        if "jax" in self.found and row.forms.get("jax", row.work):
            out["jax"] = self.jax(row, arrays)
        if "numba" in self.found and row.numba:
            out["numba"] = getattr(field_numba.forms(self.found["numba"]), row.numba)(arrays)
        if "cupy" in self.found:
            xp, f = self.found["cupy"], row.forms.get("cupy", row.work)
            mine = [xp.asarray(a) for a in arrays]
            out["cupy"] = lambda: (f(xp, *mine), xp.cuda.Device().synchronize())[0]
        if self.torch and row.forms.get("torch", row.work):
            out |= self.torch_forms(row, arrays)
        return out

    def ours(self, row, arrays):
        mine = [tt.array(a, device=self.place()) for a in arrays]
        tt.eval(*mine)

        def run():
            result = row.forms.get("tutti", row.work)(tt, *mine)
            tt.eval(*result) if isinstance(result, tuple) else tt.eval(result)
            tt.synchronize()
            return result

        return run

    def place(self):
        return "cpu" if self.args.device == "cpu" else "cuda:0"

    def jax(self, row, arrays):
        jax = self.found["jax"]
        jnp = importlib.import_module("jax.numpy")
        mine = [jnp.asarray(a) for a in arrays]
        f = row.forms.get("jax", row.work)
        g = jax.jit(lambda *v: f(jnp, *v)) if row.jit else lambda *v: f(jnp, *v)
        return lambda: jax.block_until_ready(g(*mine))

    def torch_forms(self, row, arrays):
        torch, f = self.found["torch"], row.forms.get("torch", row.work)
        mine = [torch.from_numpy(np.ascontiguousarray(a)).cuda() for a in arrays]
        compiled = torch.compile(lambda *v: f(self.torch, *v), dynamic=False)

        def finished(call):
            result = call()
            torch.cuda.synchronize()
            return result

        return {
            "torch": lambda: finished(lambda: f(self.torch, *mine)),
            "torch compiled": lambda: finished(lambda: compiled(*mine)),
        }

    def run(self, row):
        print("  ..", row.name, file=sys.stderr, flush=True)
        line = harness.Row(row.name, ">= 0.95x", None)
        self.rows.append(line)
        arrays = row.make(np.random.default_rng(1))
        usable = self.contestants(row, arrays)
        want = flat(row.work(np, *[wide(a) for a in arrays]))
        for name in list(usable):
            try:
                check(flat(usable[name]()), want, row.tolerance or tolerance(arrays))
            except Exception as e:  # noqa: BLE001 - a peer that cannot do the work is a fact of the table
                line.error[name] = f"{type(e).__name__}: {e}".splitlines()[0][:120]
                del usable[name]
        if "tutti" in usable:
            settle(usable["tutti"])
        harness.measure(line, usable, self.args.seconds, self.args.least, self.pick)
        if ratio(line):
            print(f"     {ratio(line):.2f}x", file=sys.stderr, flush=True)


def settle(f, seconds=0.2):
    """What comes again gets a plan of its own, and is compiled when it has taken long enough."""
    for _ in range(3):
        end = time.perf_counter() + seconds / 3
        while time.perf_counter() < end:
            f()
        tt.compile_wait()


def wide(a):
    """The same numbers as wide as they come; whole numbers keep their type, which wraps."""
    return a.astype({"f": np.float64, "c": np.complex128}.get(a.dtype.kind, a.dtype))


def flat(result):
    """What a program gave, as one list of NumPy's arrays."""
    return [to_numpy(r) for r in result] if isinstance(result, (tuple, list)) else [to_numpy(result)]


def to_numpy(x):
    if hasattr(x, "get"):
        x = x.get()
    if hasattr(x, "detach"):
        x = x.detach().cpu().numpy()
    return np.asarray(x)


def check(got, want, tolerance):
    if len(got) != len(want):
        raise ValueError(f"{len(got)} results, not {len(want)}")
    for g, w in zip(got, want):
        if g.shape != w.shape:
            raise ValueError(f"shape {g.shape}, not {w.shape}")
        if not w.size:
            continue
        kind = np.complex128 if w.dtype.kind == "c" or g.dtype.kind == "c" else np.float64
        difference = np.abs(g.astype(kind) - w.astype(kind))
        if not difference.max() <= tolerance * (np.abs(w.astype(kind)).max() + 1e-30):
            raise ValueError(f"wrong by {difference.max():.3g}")


def tolerance(arrays):
    return max(TOLERANCE.get(a.dtype.name, 1e-9) for a in arrays)


def ratio(row):
    """How long the best peer takes in our time; nothing where one of both has no time."""
    others = [v for k, v in row.seconds.items() if k != "tutti"]
    return min(others) / row.seconds["tutti"] if others and "tutti" in row.seconds else None


def summary(rows):
    known = sorted((r, row.name) for row in rows if (r := ratio(row)))
    if not known:
        return
    mean = math.exp(sum(math.log(r) for r, _ in known) / len(known))
    behind = [(r, name) for r, name in known if r < 0.95]
    print(f"\n{len(known)} programs, geometric mean {mean:.2f}x the best peer, {len(behind)} below 0.95x")
    for r, name in behind:
        print(f"  {r:5.2f}x  {name}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="rows whose name contains one of these, separated by commas")
    parser.add_argument("--list", action="store_true", help="print the names of the rows and measure nothing")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--seconds", type=float, default=0.3, help="for each contestant of a row")
    parser.add_argument("--least", type=int, default=5, help="times at least of each contestant")
    parser.add_argument("--out", default=None, help="JSON file (default: bench/results/field-DEVICE-DATE.json)")
    harness.add_arguments(parser)
    args = parser.parse_args()
    field = Field(args)
    rows = [r for r in field_rows.rows() + field_programs.rows() + field_more.rows() if field.wants(r)]
    if args.list:
        print("\n".join(r.name for r in rows))
        return
    for row in rows:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                field.run(row)
            except Exception as e:  # noqa: BLE001 - one row that cannot be set up leaves the others standing
                field.rows[-1].error["tutti"] = f"{type(e).__name__}: {e}".splitlines()[0][:120]
    harness.show(field.rows)
    summary(field.rows)
    versions = {k: getattr(m, "__version__", "?") for k, m in field.found.items()}
    print("peers:", ", ".join(f"{k} {v}" for k, v in versions.items()))
    print("missing:", ", ".join(field.missing) or "none")
    name = time.strftime(f"field-{args.device}-%Y-%m-%d.json")
    path = pathlib.Path(args.out) if args.out else pathlib.Path(__file__).parent / "results" / name
    machine = [
        harness.no_folders(line)
        for line in tt.info().splitlines()
        if line.startswith(("devices", "blas")) or "cuda:" in line
    ]
    harness.save(
        field.rows, path, {"machine": machine, "peers": versions, "missing": field.missing, "how": field.notes}
    )
    print("written:", path)


if __name__ == "__main__":
    main()
