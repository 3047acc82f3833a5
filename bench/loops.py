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


@program(lambda: (rng().random(1_000_000), rng().random(1_000_000)))
def dot(x, y):
    s = 0.0
    for i in outer(x.size):
        s += x[i] * y[i]
    return s


@program(lambda: (rng().random((300, 16)), rng().random((400, 16)), np.empty((300, 400))))
def distances(x, y, out):
    for i in outer(x.shape[0]):
        for j in range(y.shape[0]):
            s = 0.0
            for k in range(x.shape[1]):
                d = x[i, k] - y[j, k]
                s += d * d
            out[i, j] = math.sqrt(s)


@program(lambda: (rng().integers(0, 4, 900), rng().integers(0, 4, 1000), np.zeros(1001, np.int64)))
def edits(a, b, row):
    for j in range(b.size + 1):
        row[j] = j
    for i in range(a.size):
        before = row[0]
        row[0] = i + 1
        for j in range(b.size):
            change = before + (0 if a[i] == b[j] else 1)
            before = row[j + 1]
            row[j + 1] = min(change, row[j] + 1, before + 1)
    return row[b.size]


@program(lambda: (30_000,))
def collatz(n):
    longest = 0
    for i in range(1, n):
        steps = 0
        x = i
        while x != 1:
            x = 3 * x + 1 if x % 2 else x // 2
            steps += 1
        longest = max(longest, steps)
    return longest


@program(lambda: (700,))
def coprime(n):
    found = 0
    for a in range(1, n):
        for b in range(1, n):
            x, y = a, b
            while y:
                x, y = y, x % y
            if x == 1:
                found += 1
    return found


@program(lambda: (rng().random(1500),))
def insertion(a):
    for i in range(1, a.size):
        v = a[i]
        j = i - 1
        while j >= 0 and a[j] > v:
            a[j + 1] = a[j]
            j -= 1
        a[j + 1] = v
    return a[0]


@program(lambda: (np.sort(rng().random(100_000)), rng().random(100_000), np.empty(100_000, np.int64)))
def bisect(table, x, out):
    for i in outer(x.size):
        lo = 0
        hi = table.size
        while lo < hi:
            mid = (lo + hi) // 2
            if table[mid] < x[i]:
                lo = mid + 1
            else:
                hi = mid
        out[i] = lo


@program(lambda: (rng().random(200_000), rng().random(31), np.zeros(200_000)))
def convolve(x, w, out):
    for i in outer(x.size - w.size + 1):
        s = 0.0
        for k in range(w.size):
            s += x[i + k] * w[k]
        out[i] = s


@program(lambda: (rng().random((120, 120)) + 120 * np.eye(120),))
def lu(a):
    n = a.shape[0]
    for k in range(n):
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
            for j in range(k + 1, n):
                a[i, j] -= a[i, k] * a[k, j]
    return a[n - 1, n - 1]


@program(lambda: (rng().integers(0, 2, (400, 400)).astype(np.uint8), np.zeros((400, 400), np.uint8)))
def life(a, b):
    h, w = a.shape
    for i in outer(1, h - 1):
        for j in range(1, w - 1):
            n = 0
            for y in range(-1, 2):
                for x in range(-1, 2):
                    n += a[i + y, j + x]
            n -= a[i, j]
            b[i, j] = 1 if n == 3 or (n == 2 and a[i, j] == 1) else 0


@program(lambda: (rng().integers(1, 50, 200), rng().random(200), np.zeros(5001)))
def knapsack(weight, value, best):
    for i in range(weight.size):
        for c in range(best.size - 1, weight[i] - 1, -1):
            best[c] = max(best[c], best[c - weight[i]] + value[i])
    return best[best.size - 1]


@program(lambda: (rng().random((150, 150)),))
def shortest_paths(d):
    n = d.shape[0]
    for k in range(n):
        for i in range(n):
            for j in range(n):
                through = d[i, k] + d[k, j]
                if through < d[i, j]:
                    d[i, j] = through
    return d[0, n - 1]


@program(lambda: (rng().random((500, 600)).astype(np.float32), np.zeros((500, 600), np.float32)))
def blur(a, b):
    for i in outer(2, a.shape[0] - 2):
        for j in range(2, a.shape[1] - 2):
            s = np.float32(0)
            for y in range(-2, 3):
                for x in range(-2, 3):
                    s += a[i + y, j + x]
            b[i, j] = s / np.float32(25)


@program(lambda: (rng().random(300_000) * 100 + 1, np.empty(300_000)))
def roots(x, out):
    for i in outer(x.size):
        r = x[i]
        for _ in range(8):
            r = 0.5 * (r + x[i] / r)
        out[i] = r


@program(lambda: (rng().random(100_000) * 50 + 50, rng().random(100_000) * 2 + 0.1, np.empty(100_000)))
def options(spot, years, out):
    for i in outer(spot.size):
        root = math.sqrt(years[i])
        d1 = (math.log(spot[i] / 75.0) + 0.07 * years[i]) / (0.3 * root)
        d2 = d1 - 0.3 * root
        low = 0.5 * math.erfc(-d2 / math.sqrt(2.0))
        out[i] = spot[i] * 0.5 * math.erfc(-d1 / math.sqrt(2.0)) - 75.0 * math.exp(-0.025 * years[i]) * low


@program(lambda: (rng().random(1_000_000),))
def extremes(x):
    least = x[0]
    most = x[0]
    at = 0
    for i in range(1, x.size):
        if x[i] < least:
            least = x[i]
        elif x[i] > most:
            most = x[i]
            at = i
    return most - least + at


@program(lambda: (rng().random(1_000_000), np.empty(1_000_000)))
def smooth(x, out):
    level = x[0]
    trend = 0.0
    for i in range(x.size):
        before = level
        level = 0.3 * x[i] + 0.7 * (level + trend)
        trend = 0.1 * (level - before) + 0.9 * trend
        out[i] = level + trend


@program(lambda: (rng().integers(0, 3, 1_000_000), np.zeros(1_000_000, np.int64)))
def run_lengths(x, out):
    n = 0
    start = 0
    for i in range(1, x.size):
        if x[i] != x[i - 1]:
            out[n] = i - start
            n += 1
            start = i
    out[n] = x.size - start
    return n + 1


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
