"""Loop programs, plain Python that tutti and Numba both compile, and makers of their arguments.

Run as a program: loops over single elements in plain Python, nothing compiled, beside NumPy in processor time, least
of many.
"""

import argparse
import math
import time
import types

import numpy as np

PROGRAMS = {}
outer = range  # the loop that `parallel` spreads over threads


def program(arguments):
    def keep(fn):
        PROGRAMS[fn.__name__] = fn, arguments
        return fn

    return keep


def parallel(fn, prange):
    """The same program with its outer loop by another name: Numba's prange."""
    return types.FunctionType(fn.__code__, {**fn.__globals__, "outer": prange}, fn.__name__)


def rng():
    return np.random.default_rng(0)


@program(lambda: (np.empty((400, 600), np.int64), 100))
def mandelbrot(out, most):
    h, w = out.shape
    for i in outer(h):
        for j in range(w):
            cr = -2.0 + 3.0 * j / w
            ci = -1.0 + 2.0 * i / h
            zr = 0.0
            zi = 0.0
            n = 0
            while n < most and zr * zr + zi * zi < 4:
                t = zr * zr - zi * zi + cr
                zi = 2 * zr * zi + ci
                zr = t
                n += 1
            out[i, j] = n


@program(lambda: (rng().random((600, 3)), np.zeros((600, 3))))
def bodies(p, a):
    n = p.shape[0]
    for i in outer(n):
        ax = 0.0
        ay = 0.0
        az = 0.0
        for j in range(n):
            dx = p[j, 0] - p[i, 0]
            dy = p[j, 1] - p[i, 1]
            dz = p[j, 2] - p[i, 2]
            r2 = dx * dx + dy * dy + dz * dz + 1e-9
            inv = 1.0 / (r2 * math.sqrt(r2))
            ax += dx * inv
            ay += dy * inv
            az += dz * inv
        a[i, 0] = ax
        a[i, 1] = ay
        a[i, 2] = az


@program(lambda: (rng().integers(0, 256, 2_000_000), np.zeros(256, np.int64)))
def histogram(x, h):
    for i in range(x.size):
        h[x[i]] += 1


@program(lambda: (rng().random((1000, 1000)), np.zeros((1000, 1000))))
def stencil(a, b):
    for i in outer(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            b[i, j] = 0.25 * (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1])


@program(lambda: (rng().random(2_000_000),))
def total(x):
    s = 0.0
    for i in outer(x.size):
        s += x[i]
    return s


@program(lambda: (rng().random((200, 200)), rng().random((200, 200)), np.zeros((200, 200))))
def matmul(a, b, c):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            s = 0.0
            for k in range(a.shape[1]):
                s += a[i, k] * b[k, j]
            c[i, j] = s


@program(lambda: (rng().random((300, 300)), np.zeros((300, 300)), 10))
def laplace(a, b, sweeps):
    err = 0.0
    for _ in range(sweeps):
        err = 0.0
        for i in range(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                b[i, j] = 0.25 * (a[i, j + 1] + a[i, j - 1] + a[i - 1, j] + a[i + 1, j])
                err = max(err, abs(b[i, j] - a[i, j]))
        for i in range(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                a[i, j] = b[i, j]
    return err


@program(lambda: (1_000_000,))
def monte_carlo(n):
    inside = 0
    for _ in range(n):
        x = np.random.random()
        y = np.random.random()
        if x * x + y * y < 1.0:
            inside += 1
    return 4.0 * inside / n


@program(lambda: (rng().random(2_000_000), np.empty(2_000_000)))
def prefix(x, out):
    s = 0.0
    for i in range(x.size):
        s += x[i]
        out[i] = s


@program(lambda: (np.ones(2_000_000, np.bool_),))
def sieve(f):
    n = f.size
    f[0] = False
    f[1] = False
    i = 2
    while i * i < n:
        if f[i]:
            for j in range(i * i, n, i):
                f[j] = False
        i += 1
    count = 0
    for k in range(n):
        if f[k]:
            count += 1
    return count


@program(lambda: (3_000_000,))
def generator(n):
    x = 12345
    s = 0
    for _ in range(n):
        x = (x * 1103515245 + 12345) % 2147483648
        s ^= x
    return s


@program(lambda: (rng().integers(0, 1000, 700).astype(np.int32),))
def bubbles(a):
    n = a.size
    for i in range(n):
        for j in range(n - 1 - i):
            if a[j] > a[j + 1]:
                t = a[j]
                a[j] = a[j + 1]
                a[j + 1] = t
    return a[0]


# ---- single elements, not compiled

ELEMENTS = {}
ROUNDS = 1000


def elements(name):
    def keep(fn):
        ELEMENTS[name] = fn
        return fn

    return keep


class Operands:
    """x, y: a thousand floats; i: integers below a thousand; m: 10 x 10."""

    def __init__(self, lib, dtype):
        g = rng()
        self.lib, self.s = lib, np.float64(2)
        self.x, self.y = (lib.array((g.random(ROUNDS) * 50 + 1).astype(dtype)) for _ in range(2))
        self.i = lib.array(g.integers(0, ROUNDS, ROUNDS))
        self.m = lib.array((g.random((10, 10)) * 50).astype(dtype))
        self.small = lib.ones(10, dtype=dtype)
        self.ready()

    def ready(self):
        for a in (self.x, self.y, self.i, self.m, self.small):
            float(a[(0,) * a.ndim])


def statement(name, line, setup="pass"):
    """A row that runs one line for each i."""
    text = f"def f(o):\n x, y, m, k, s, small, lib = o.x, o.y, o.m, o.i, o.s, o.small, o.lib\n {setup}\n"
    scope = {}
    exec(text + f" for i in range({ROUNDS}):\n  {line}\n", scope)
    ELEMENTS[name] = scope["f"]


statement("nothing", "pass")
for line in (
    "x[i]", "x[i] = 1.5", "x[i] += 1", "x[i] = y[i]", "x[i] * 2.0 + y[i]", "x[i] * y[i]", "x[i] / y[i]", "x[i] ** 2",
    "-x[i]", "abs(x[i])", "float(x[i])", "x.item(i)", "m[3, 4]", "m[3, 4] = 1.5", "m[3, 4] += 1.5", "x[k[i]] += 1",
    "x[i] * s", "s * x[i]", "hash(x[i])", "lib.sqrt(x[i])", "str(x[i])", "f'{x[i]:.3f}'", "int(small.sum())",
):  # fmt: skip
    statement(line, line)
statement("if x[i] > 0", "if x[i] > 0: pass")
statement("if x[i] > y[i]", "if x[i] > y[i]: pass")


@elements("for v in x")
def every(o):
    for _ in o.x:
        pass


@elements("for v in x: t += v")
def add_up(o):
    t = 0.0
    for v in o.x:
        t += v


@elements("list(x)")
def listed(o):
    list(o.x)


@elements("set(x)")
def distinct(o):
    set(o.x)


@elements("add.at(x, k, 1.0)")
def counted(o):
    o.lib.add.at(o.x, o.i, 1.0)
    float(o.x[0])


def least(fn, operands, times):
    best = math.inf
    for _ in range(times):
        start = time.process_time_ns()
        fn(operands)
        best = min(best, time.process_time_ns() - start)
    return best / ROUNDS


def main():
    import tutti as tt

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="rows whose name contains this")
    parser.add_argument("--dtype", default="float64")
    parser.add_argument("--times", type=int, default=20)
    args = parser.parse_args()
    sides = [Operands(lib, args.dtype) for lib in (np, tt)]
    print(f"{args.dtype}, ns of processor time an element{'NumPy':>12}{'tutti':>9}{'ratio':>8}")
    for name, fn in ELEMENTS.items():
        if args.only not in name:
            continue
        theirs, ours = (least(fn, o, args.times) for o in sides)
        print(f"{name:44}{theirs:9.1f}{ours:9.1f}{ours / theirs:8.2f}")


if __name__ == "__main__":
    main()
