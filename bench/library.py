"""Are library calls predicted well? Each one on the processor and, where there is one, on the GPU, with what tt.explain
predicts from the machine's figures beside it. The rows' figures in src/lib/rows_*.c are found and checked by this."""

import argparse
import re
import time

import numpy as np
import tutti as tt

rng = np.random.default_rng(0)


def regular(a):
    return a + a.shape[-1] ** 0.5 * np.eye(a.shape[-1])


def positive(a):
    return a @ np.swapaxes(a, -1, -2) + a.shape[-1] * np.eye(a.shape[-1])


def symmetric(a):
    return a + np.swapaxes(a, -1, -2)


def spectrum(a):
    return a + 0j


la, ft = tt.linalg, tt.fft
CALLS = {  # what to call, on what
    "matmul": (lambda a: a @ a, None),
    "solve": (lambda a: la.solve(a, a[..., :1]), regular),
    "solve many": (lambda a: la.solve(a, a), regular),
    "inv": (la.inv, regular),
    "det": (la.det, regular),
    "cholesky": (la.cholesky, positive),
    "qr": (la.qr, None),
    "qr r": (lambda a: la.qr(a, mode="r"), None),
    "svd": (la.svd, None),
    "svdvals": (lambda a: la.svd(a, compute_uv=False), None),
    "eigh": (la.eigh, symmetric),
    "eigvalsh": (la.eigvalsh, symmetric),
    "eig": (la.eig, None),
    "eigvals": (la.eigvals, None),
    "lstsq": (lambda a: la.lstsq(a, a[:, :1], rcond=None), None),
    "fft": (ft.fft, spectrum),
    "rfft": (ft.rfft, None),
    "fft2": (ft.fft2, spectrum),
}
SIDES = {
    **dict.fromkeys(("matmul", "solve", "solve many", "inv", "det", "cholesky", "qr", "qr r"), (64, 512, 2048)),
    **dict.fromkeys(("svd", "svdvals", "eigh", "eigvalsh", "lstsq"), (64, 256, 1024)),
    **dict.fromkeys(("eig", "eigvals"), (64, 200, 512)),
}
SHAPES = {name: [(n, n) for n in sides] for name, sides in SIDES.items()}
for name in ("matmul", "solve", "inv", "det", "cholesky", "qr", "svd", "eigh"):
    SHAPES[name] += [(1000, 8, 8), (1000, 32, 32), (100, 128, 128)]
SHAPES["fft"] = SHAPES["rfft"] = [(1 << 12,), (1 << 18,), (1 << 23,), (1000, 1024), (100_003,)]
SHAPES["fft2"] = [(64, 64), (1024, 1024)]


def best(call, x, place, seconds=0.1):
    """Seconds of the quickest of some runs, and what explain predicts."""
    predicted, times, end = 0, [], time.perf_counter() + seconds
    while len(times) < 3 or (time.perf_counter() < end and len(times) < 100):
        start = time.perf_counter()
        with tt.linalg.errstate(defer=True):
            result = call(x)
        result = tuple(result) if isinstance(result, tuple) else (result,)
        if not times and "plan" in (plan := tt.explain(result[0])):  # some are done as they are recorded
            predicted = sum(map(float, re.findall(r"predicted ([\d.]+) ms", plan)))
        tt.eval(*result)
        tt.synchronize()
        times.append(time.perf_counter() - start)
    return min(times) * 1e3, predicted


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="names that hold this text")
    parser.add_argument("--dtype", default="float32", choices=["float32", "float64"])
    parser.add_argument("--seconds", type=float, default=1e9, help="stop after so long")
    args = parser.parse_args()
    places = ["cpu"] + (["cuda:0"] if tt.cuda.is_available() else [])
    print(f"{'ms taken and predicted':<32}" + "".join(f"{p:>12} {'':>10} {'':>6}" for p in places))
    stop = time.perf_counter() + args.seconds
    for name, (call, prepare) in CALLS.items():
        for shape in SHAPES[name] if args.only in name else []:
            if time.perf_counter() > stop:
                return
            data = rng.random(shape)
            data = prepare(data) if prepare else data
            data = data.astype(args.dtype if data.dtype == float else "c8" if args.dtype == "float32" else "c16")
            line = f"{name:<14}{'x'.join(map(str, shape)):>18}"
            for place in places:
                took, predicted = best(call, tt.array(data, device=place), place)
                line += f"{took:12.4f} {predicted:10.4f} {predicted / took:5.2f}x"
            print(line, flush=True)


if __name__ == "__main__":
    main()
