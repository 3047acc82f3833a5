"""Does automatic placement find the better place? Programs on host arrays at three sizes, each put on the CPU, put on
the GPU, and left alone; the table shows the price of leaving it alone against the better of the two."""

import argparse
import json
import pathlib
import statistics
import time

import numpy as np
import tutti as tt

rng = np.random.default_rng(0)


def once_add(x):
    return x + x


def chain(x):
    for _ in range(20):
        x = tt.sqrt(tt.exp(-x * x) + 1.0) * 0.5
    return x


def repeated(x):
    total = 0.0
    for k in range(30):
        total = total + float((tt.sin(x * (k + 1.0)) * tt.exp(-x)).sum())
    return tt.array(total)


def relax(x):
    for _ in range(50):
        x[1:-1, 1:-1] = 0.25 * (x[1:-1, :-2] + x[1:-1, 2:] + x[:-2, 1:-1] + x[2:, 1:-1])
    return x


def softmax(x):
    for _ in range(5):
        e = tt.exp(x - x.max(axis=1, keepdims=True))
        x = e / e.sum(axis=1, keepdims=True)
    return x


def product(x):
    return (x @ x) @ x


def ordered(x):
    return tt.sort(x)


def statistics_of(x):
    return tt.stack([x.mean(), x.std(), x.max(), x.min()])


PROGRAMS = {
    "x + x once": (once_add, [(10_000,), (1_000_000,), (40_000_000,)]),
    "20 transcendental steps": (chain, [(10_000,), (1_000_000,), (20_000_000,)]),
    "30 reductions, each looked at": (repeated, [(10_000,), (1_000_000,), (20_000_000,)]),
    "50 sweeps in place": (relax, [(128, 128), (1024, 1024), (4096, 4096)]),
    "softmax, 5 times": (softmax, [(64, 64), (1024, 1024), (8192, 4096)]),
    "matrix cubed": (product, [(64, 64), (512, 512), (4096, 4096)]),
    "sort": (ordered, [(10_000,), (1_000_000,), (20_000_000,)]),
    "mean, std, max, min": (statistics_of, [(10_000,), (1_000_000,), (40_000_000,)]),
}
PLACES = {"cpu": "cpu", "gpu": "cuda:0", "auto": None}


def run(program, data, place):
    x = tt.array(data, device=place) if place else tt.array(data)
    return program(x).numpy()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", default=None)
    args = parser.parse_args()
    big = np.ones(50_000_000, np.float32)
    for _ in range(3):  # past the point where opening the GPU is considered
        chain(tt.array(big)).sum().item()
    rows, losses = [], []
    for name, (program, shapes) in PROGRAMS.items():
        for shape in shapes:
            data = rng.random(shape, dtype=np.float32)
            want = run(program, data, "cpu")
            for place in PLACES.values():
                for _ in range(2):
                    got = run(program, data, place)
                assert np.allclose(got, want, rtol=1e-3, atol=1e-3), (name, shape, place)
            times = {k: [] for k in PLACES}
            end = time.perf_counter() + 0.8
            while time.perf_counter() < end or min(map(len, times.values())) < 4:
                for k, place in PLACES.items():
                    start = time.perf_counter()
                    run(program, data, place)
                    times[k].append(time.perf_counter() - start)
            t = {k: statistics.median(v) for k, v in times.items()}
            loss = t["auto"] / min(t["cpu"], t["gpu"])
            losses.append(loss)
            rows.append({"program": name, "shape": shape, "seconds": t, "loss": loss})
            print(
                f"{name:<30} {'x'.join(map(str, shape)):>12} cpu {t['cpu'] * 1e3:9.3f} ms  gpu {t['gpu'] * 1e3:9.3f} ms"
                f"  auto {t['auto'] * 1e3:9.3f} ms  {loss:5.2f}x",
                flush=True,
            )
    mean = float(np.exp(np.mean(np.log(losses))))
    print(f"auto against the better of the two: geometric mean {mean:.2f}x, worst {max(losses):.2f}x (goal 1.15x)")
    if args.out:
        pathlib.Path(args.out).write_text(
            json.dumps({"date": time.strftime("%Y-%m-%d"), "rows": rows}, indent=1) + "\n"
        )


if __name__ == "__main__":
    main()
