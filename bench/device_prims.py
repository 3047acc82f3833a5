"""Scans, sorts, picks and counts of 1e8 elements on a CUDA device: us, CuPy and PyTorch, in one run.

Median of seven, in ms.

python bench/device_prims.py [tutti] [cupy] [torch]
"""

import statistics
import sys
import time

import numpy as np

N = 100_000_000


def median(run, wait):
    run()
    wait()
    times = []
    for _ in range(7):
        start = time.perf_counter()
        run()
        wait()
        times.append((time.perf_counter() - start) * 1e3)
    return statistics.median(times)


def inputs():
    rng = np.random.default_rng(1)
    return {
        "f": rng.random(N, np.float32),
        "k": rng.integers(0, 1_000_000, N, np.int32),
        "u": rng.integers(0, 256, N, np.uint8),
        "b": rng.random(N, np.float32) < 0.5,
        "l": rng.integers(-(1 << 62), 1 << 62, N, np.int64),
        "e": np.sort(rng.random(N // 10, np.float32)),
    }


WORK = {
    "cumsum of 1e8 f32": lambda m, x: m.cumsum(x["f"], 0),
    "cumsum of 1e5 rows of 1000 f32": lambda m, x: m.cumsum(x["f"].reshape(-1, 1000), 1),
    "sort of 1e8 f32": lambda m, x: m.sort(x["f"]),
    "sort of 1e8 i64": lambda m, x: m.sort(x["l"]),
    "sort of 1e5 rows of 1000 f32": lambda m, x: m.sort(x["f"].reshape(-1, 1000)),
    "argsort of 1e8 f32": lambda m, x: m.argsort(x["f"]),
    "unique of 1e8 i32, 1e6 kinds": lambda m, x: m.unique(x["k"]),
    "bincount of 1e8 i32, 1e6 bins": lambda m, x: m.bincount(x["k"]),
    "bincount of 1e8 u8": lambda m, x: m.bincount(x["u"]),
    "nonzero of 1e8 bool, half": lambda m, x: m.nonzero(x["b"]),
    "searchsorted of 1e8 f32 in 1e7": lambda m, x: m.searchsorted(x["e"], x["f"]),
}


def keep(result):
    return result


def libraries(names):
    """Name, module, how arrays get to the device, how results are made to be there, how to wait."""
    if "cupy" in names:
        import cupy

        yield "cupy", cupy, cupy.asarray, keep, cupy.cuda.Device().synchronize
    if "torch" in names:
        import torch

        yield "torch", torch, lambda a: torch.from_numpy(a).cuda(), keep, torch.cuda.synchronize
    if "tutti" in names:
        import tutti

        def evaluate(result):
            tutti.eval(*(result if isinstance(result, tuple) else (result,)))

        yield "tutti", tutti, lambda a: tutti.asarray(a, device="cuda"), evaluate, tutti.synchronize


def measure(name, module, to, finish, wait, host):
    arrays = {k: to(v) for k, v in host.items()}
    for what, work in WORK.items():
        try:
            ms = median(lambda work=work: finish(work(module, arrays)), wait)
            print(f"{name:6} {what:40} {ms:9.3f}", flush=True)
        except Exception as e:
            print(f"{name:6} {what:40} {type(e).__name__}: {str(e)[:80]}", flush=True)


def main():
    host = inputs()
    for library in libraries(sys.argv[1:] or ["tutti", "cupy", "torch"]):
        measure(*library, host)


if __name__ == "__main__":
    main()
