"""Does automatic placement find the better place? Programs on host arrays at three sizes, each put on the CPU, put on
the GPU, and left alone; the table shows the price of leaving it alone against the better of the two."""

import argparse
import json
import pathlib
import re
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


def regular(x):
    return x + x.shape[-1] ** 0.5 * np.eye(x.shape[-1], dtype=x.dtype)


def positive(x):
    return x @ np.swapaxes(x, -1, -2) + x.shape[-1] * np.eye(x.shape[-1], dtype=x.dtype)


def solve(x):
    return tt.linalg.solve(x, x[..., :1])


def triangle(x):
    return abs(tt.linalg.qr(x)[1])  # signs are free


def singular(x):
    u, s, vh = tt.linalg.svd(x)
    return (u * s) @ vh


def symmetric(x):
    w, v = tt.linalg.eigh(x + x.T)
    return (v * w) @ v.T


def spectrum(x):
    return abs(tt.fft.fft(x))


def filtered(x):
    f = tt.fft.rfft2(x)
    f[8:] = 0
    return tt.fft.irfft2(f, x.shape)


BATCHES = [(100, 8, 8), (1000, 32, 32), (20_000, 16, 16)]
PROGRAMS = {
    "x + x once": (once_add, [(10_000,), (1_000_000,), (40_000_000,)]),
    "20 transcendental steps": (chain, [(10_000,), (1_000_000,), (20_000_000,)]),
    "30 reductions, each looked at": (repeated, [(10_000,), (1_000_000,), (20_000_000,)]),
    "50 sweeps in place": (relax, [(128, 128), (1024, 1024), (4096, 4096)]),
    "softmax, 5 times": (softmax, [(64, 64), (1024, 1024), (8192, 4096)]),
    "matrix cubed": (product, [(64, 64), (512, 512), (4096, 4096)]),
    "sort": (ordered, [(10_000,), (1_000_000,), (20_000_000,)]),
    "mean, std, max, min": (statistics_of, [(10_000,), (1_000_000,), (40_000_000,)]),
    "linear system": (solve, [(64, 64), (512, 512), (4096, 4096)], regular),
    "inverse": (tt.linalg.inv, [(64, 64), (300, 300), (2048, 2048)], regular),
    "Cholesky": (tt.linalg.cholesky, [(64, 64), (512, 512), (4096, 4096)], positive),
    "R of QR": (triangle, [(64, 64), (512, 512), (2048, 2048)]),
    "SVD, put together again": (singular, [(32, 32), (256, 256), (1024, 1024)]),
    "eigh, put together again": (symmetric, [(32, 32), (256, 256), (1024, 1024)]),
    "determinant": (tt.linalg.det, [(64, 64), (512, 512), (2048, 2048)], lambda x: regular(x) / x.shape[-1]),
    "many small systems": (solve, BATCHES, regular),
    "many small products": (product, BATCHES),
    "spectrum": (spectrum, [(4096,), (262_144,), (8_388_608,)]),
    "low pass of an image": (filtered, [(64, 64), (1024, 1024), (8192, 4096)]),
}
PLACES = {"cpu": "cpu", "gpu": "cuda:0", "auto": None}


def run(program, data, place):
    x = tt.array(data, device=place) if place else tt.array(data)
    return program(x).numpy()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", default=None)
    parser.add_argument("--only", default="", help="programs whose names match this pattern")
    parser.add_argument("--seconds", type=float, default=0.8, help="of each program and size")
    args = parser.parse_args()
    big = np.ones(50_000_000, np.float32)
    for _ in range(3):  # past the point where opening the GPU is considered
        chain(tt.array(big)).sum().item()
    rows, losses = [], []
    for name, (program, shapes, *prepare) in PROGRAMS.items():
        for shape in shapes if re.search(args.only, name) else []:
            data = rng.random(shape, dtype=np.float32)
            data = prepare[0](data) if prepare else data
            want = run(program, data, "cpu")
            for place in PLACES.values():
                for _ in range(2):
                    got = run(program, data, place)
                scale = 1e-3 * (1 + np.abs(want).max())
                assert np.allclose(got, want, rtol=1e-3, atol=scale), (name, shape, place)
            times = {k: [] for k in PLACES}
            end = time.perf_counter() + args.seconds
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
