"""Arrays on an OpenCL device beside the same work on the CPU and, where there is one, on the GPU by CUDA: chains, sums,
rows, columns, softmax, a transpose, a product, sorts, scans, selection, a small launch.

    python bench/opencl_devices.py [--device opencl:0] [--scale N] [--best] [--cpu] [ROW ...]

Inputs lie where the work is done. A timing is a run of calls and one wait, divided; places take turns in one process.
With --cpu it is processor time. That is right on one core alone: what a thread on another one does at the moment is
counted later, so for a device that is the processor

    POCL_MAX_PTHREAD_COUNT=1 taskset -c 1 python bench/opencl_devices.py --cpu --best

The ratios are the others' times to the device's: above 1 the device is faster.
"""

import argparse
import warnings

import harness
import numpy as np
import tutti as tt

COLS = 1000


def uniform(*shape):
    return np.random.default_rng(7).random(shape, dtype=np.float32)


def rows_of(scale):
    """By name: what the inputs are, what is done with them, how many calls before the wait."""
    n, some, rows, side = 4_000_000 * scale, 1_000_000 * scale, 4000 * scale, 1000 if scale == 1 else 4096
    return {
        "chain": (lambda: (uniform(n), uniform(n)), lambda x, y: (x * 2 + y) * (x - y) + 1, 5),
        "exp": (lambda: (uniform(n),), tt.exp, 5),
        "sum": (lambda: (uniform(n),), lambda x: x.sum(), 5),
        "rows of 1000, sum": (lambda: (uniform(rows, COLS),), lambda x: x.sum(axis=1), 5),
        "columns, sum": (lambda: (uniform(rows, COLS),), lambda x: x.sum(axis=0), 5),
        "rows of 1000, softmax": (lambda: (uniform(rows, COLS),), softmax, 5),
        "transpose": (lambda: (uniform(rows, COLS),), lambda x: x.T.copy(), 5),
        f"product, {side} x {side}": (lambda: (uniform(side, side), uniform(side, side)), lambda x, y: x @ y, 2),
        "sort": (lambda: (uniform(some),), tt.sort, 2),
        "distinct integers": (lambda: ((uniform(some) * 1000).astype(np.int64),), tt.unique, 2),
        "running sum": (lambda: (uniform(some),), tt.cumsum, 2),
        "elements by a mask": (lambda: (uniform(some),), lambda x: x[x > 0.5], 2),
        "small launch, 1000": (lambda: (uniform(1000),), lambda x: x * 2 + 1, 200),
    }


def softmax(x):
    e = tt.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def contestant(device, inputs, work, calls):
    with tt.device(device):
        arrays = [tt.array(x) for x in inputs]

    def run():
        with tt.device(device):
            for _ in range(calls):
                tt.eval(work(*arrays))
            tt.device(device).synchronize()

    return run


def check(names, inputs, work):
    """The bits of the CPU everywhere, or what is measured is worth nothing."""
    results = {}
    for name in names:
        with tt.device(name):
            results[name] = np.asarray(work(*[tt.array(x) for x in inputs]))
    for name, got in results.items():
        if got.tobytes() != results["cpu"].tobytes():
            off = np.max(np.abs(got - results["cpu"]))
            if not np.allclose(got, results["cpu"], rtol=1e-4):
                raise SystemExit(f"{name} computes something else")
            warnings.warn(f"{name}: other bits, at most {off} off", stacklevel=2)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="opencl:0")
    parser.add_argument("--seconds", type=float, default=1.5)
    parser.add_argument("--scale", type=int, default=1, help="times 4 million elements")
    parser.add_argument("rows", nargs="*")
    harness.add_arguments(parser)
    args = parser.parse_args()
    pick, _ = harness.chosen(args)
    names = [args.device, "cpu"]
    names += ["cuda:0"] if "cuda:0" in map(str, tt.devices()) and args.device != "cuda:0" else []
    for name in names:
        print(f"{name}: {tt.device(name).label}")
    print(f"{'a call':<28} " + " ".join(f"{n:>12}" for n in names) + f"   {' / device, '.join(names[1:])} / device")
    for name, (make, work, calls) in rows_of(args.scale).items():
        if args.rows and not any(r in name for r in args.rows):
            continue
        inputs = make()
        check(names, inputs, work)
        row = harness.Row(name, None, None)
        harness.measure(row, {n: contestant(n, inputs, work, calls) for n in names}, args.seconds, pick=pick)
        cells = [harness.pretty(row.seconds[n] / calls) if n in row.seconds else row.error[n][:40] for n in names]
        ours = row.seconds.get(args.device)
        ratios = [f"{row.seconds[n] / ours:.2f}x" if ours and n in row.seconds else "-" for n in names[1:]]
        print(f"{name:<28} " + " ".join(f"{c:>12}" for c in cells) + f"   {' '.join(ratios)}", flush=True)


if __name__ == "__main__":
    main()
