"""The table of small work: programs whose arrays are short or whose steps are many, under tutti and NumPy, in one run.

Each is written once, over a module `m`, as one writes it in NumPy; where one would give it to Numba, Numba compiles the
same text. Every result is compared with NumPy's in float64 before it is timed.
"""

import argparse
import inspect
import math
import pathlib
import sys
import textwrap

import harness
import numpy as np
import small_programs
import tutti as tt

PROGRAMS = list(small_programs.PROGRAMS)


def program(sizes, make, numba=False):
    """make(rng, n): the arguments behind the module, NumPy arrays and numbers. numba: whether one would compile it."""

    def keep(fn):
        PROGRAMS.append((fn, sizes, make, numba))
        return fn

    return keep


def with_numba(fn, numba):
    """The same text, the module a global one: what Numba can compile."""
    text = textwrap.dedent(inspect.getsource(fn))
    text = text[text.index("def ") :].replace("(m, ", "(", 1)
    names = {"m": np, "math": math}
    exec(compile(text, fn.__name__, "exec"), names)
    return numba.njit(names[fn.__name__])


def matrix(rng, n):
    a = rng.standard_normal((n, n))
    return (a @ a.T + n * np.eye(n),)


# ---- linear algebra by loops


@program((60, 200), matrix, numba=True)
def cholesky(m, a):
    a = a.copy()
    for i in range(len(a)):
        for j in range(i):
            a[i, j] -= a[i, :j] @ a[j, :j]
            a[i, j] /= a[j, j]
        a[i, i] = m.sqrt(a[i, i] - a[i, :i] @ a[i, :i])
    return m.tril(a)


@program((60, 200), matrix, numba=True)
def cholesky_columns(m, a):
    a = a.copy()
    for k in range(len(a)):
        a[k, k] = m.sqrt(a[k, k])
        a[k + 1 :, k] /= a[k, k]
        for j in range(k + 1, len(a)):
            a[j:, j] -= a[j:, k] * a[j, k]
    return m.tril(a)


@program((60, 200), matrix)
def lu(m, a):
    a = a.copy()
    for k in range(len(a) - 1):
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= m.outer(a[k + 1 :, k], a[k, k + 1 :])
    return a


@program((60, 200), lambda rng, n: (rng.standard_normal((n, n)),))
def lu_pivoted(m, a):
    a = a.copy()
    for k in range(len(a) - 1):
        p = k + int(m.argmax(m.abs(a[k:, k])))
        if p != k:
            a[[k, p]] = a[[p, k]]
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= a[k + 1 :, k, None] * a[k, k + 1 :]
    return a


@program((100, 400), lambda rng, n: (np.tril(rng.random((n, n))) + n * np.eye(n), rng.random(n)), numba=True)
def forward_substitution(m, a, b):
    x = m.zeros(len(b))
    for i in range(len(b)):
        x[i] = (b[i] - a[i, :i] @ x[:i]) / a[i, i]
    return x


@program((100, 400), lambda rng, n: (np.triu(rng.random((n, n))) + n * np.eye(n), rng.random(n)), numba=True)
def back_substitution(m, a, b):
    x = b.copy()
    for i in range(len(b) - 1, -1, -1):
        x[i] /= a[i, i]
        x[:i] -= x[i] * a[:i, i]
    return x


@program((40, 150), lambda rng, n: (np.tril(rng.random((n, n))), rng.random((n, n))))
def triangular_product(m, a, b):
    c = m.zeros(b.shape)
    for i in range(len(a)):
        c[i] = a[i, : i + 1] @ b[: i + 1]
    return c


@program((30, 100), lambda rng, n: (rng.standard_normal((n, n)),))
def gram_schmidt(m, a):
    q = m.zeros(a.shape)
    for j in range(a.shape[1]):
        v = a[:, j].copy()
        for k in range(j):
            v -= (q[:, k] @ v) * q[:, k]
        q[:, j] = v / m.sqrt(v @ v)
    return q


@program((30, 100), lambda rng, n: (rng.standard_normal((n, n)),))
def householder(m, a):
    a = a.copy()
    for k in range(len(a) - 1):
        v = a[k:, k].copy()
        v[0] += math.copysign(float(m.linalg.norm(v)), float(v[0]))
        v /= m.linalg.norm(v)
        a[k:, k:] -= 2 * m.outer(v, v @ a[k:, k:])
    return m.triu(a)


@program((8, 20), matrix)
def jacobi_rotations(m, a):
    a = a.copy()
    n = len(a)
    for _ in range(3):
        for p in range(n - 1):
            for q in range(p + 1, n):
                if abs(a[p, q]) < 1e-12:
                    continue
                theta = 0.5 * m.arctan2(2 * a[p, q], a[q, q] - a[p, p])
                c, s = m.cos(theta), m.sin(theta)
                rp, rq = a[p].copy(), a[q].copy()
                a[p], a[q] = c * rp - s * rq, s * rp + c * rq
                cp, cq = a[:, p].copy(), a[:, q].copy()
                a[:, p], a[:, q] = c * cp - s * cq, s * cp + c * cq
    return m.sort(m.diag(a))


@program((50, 200), lambda rng, n: (*matrix(rng, n), rng.random(n)))
def conjugate_gradients(m, a, b):
    x = m.zeros(len(b))
    r = b - a @ x
    p = r.copy()
    rs = r @ r
    for _ in range(30):
        ap = a @ p
        alpha = rs / (p @ ap)
        x += alpha * p
        r -= alpha * ap
        new = r @ r
        p = r + (new / rs) * p
        rs = new
    return x


@program((50, 200), matrix)
def power_iteration(m, a):
    v = m.ones(len(a))
    for _ in range(100):
        v = a @ v
        v /= m.linalg.norm(v)
    return v @ a @ v


@program((20, 100), lambda rng, n: (*matrix(rng, n), rng.random(n)), numba=True)
def gauss_seidel(m, a, b):
    x = m.zeros(len(b))
    for _ in range(10):
        for i in range(len(b)):
            x[i] = (b[i] - a[i, :i] @ x[:i] - a[i, i + 1 :] @ x[i + 1 :]) / a[i, i]
    return x


@program((100, 400), lambda rng, n: (rng.random((n, 3, 3)),))
def small_products(m, a):
    total = m.eye(3)
    for k in range(len(a)):
        total = a[k] @ total
        total /= total.max()
    return total


@program((12, 40), lambda rng, n: (rng.integers(5, 50, n + 1).astype(float),))
def matrix_chain(m, p):
    n = len(p) - 1
    cost = m.zeros((n, n))
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            cost[i, j] = (cost[i, i:j] + cost[i + 1 : j + 1, j] + p[i] * p[i + 1 : j + 1] * p[j + 1]).min()
    return cost


# ---- dynamic programming


@program((40, 150), lambda rng, n: (rng.integers(0, 4, n), rng.integers(0, 4, n)), numba=True)
def edit_distance(m, a, b):
    d = m.zeros((len(a) + 1, len(b) + 1))
    d[0] = m.arange(len(b) + 1)
    d[:, 0] = m.arange(len(a) + 1)
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            d[i, j] = min(d[i - 1, j] + 1, d[i, j - 1] + 1, d[i - 1, j - 1] + (a[i - 1] != b[j - 1]))
    return d


@program((100, 500), lambda rng, n: (rng.integers(0, 4, n), rng.integers(0, 4, n)))
def edit_distance_rows(m, a, b):
    n = len(b)
    offset = m.arange(n + 1)
    previous = offset.copy()
    for i in range(len(a)):
        row = m.empty(n + 1, dtype=int)
        row[0] = i + 1
        row[1:] = m.minimum(previous[1:] + 1, previous[:-1] + (b != a[i]))
        previous = m.minimum.accumulate(row - offset) + offset
    return previous


@program((500, 2000), lambda rng, n: (rng.integers(5, 60, 80), rng.random(80), n))
def knapsack(m, weight, worth, room):
    best = m.zeros(room + 1)
    for i in range(len(weight)):
        w = int(weight[i])
        best[w:] = m.maximum(best[w:], best[:-w] + worth[i])
    return best


@program((30, 100), lambda rng, n: (rng.random((n, n)) * 100,))
def floyd_warshall(m, d):
    d = d.copy()
    for k in range(len(d)):
        d = m.minimum(d, d[:, k, None] + d[k])
    return d


@program((100, 400), lambda rng, n: (np.log(rng.random((12, 12))), np.log(rng.random((n, 12)))))
def viterbi(m, step, seen):
    score = seen[0]
    back = m.zeros(seen.shape, dtype=int)
    for t in range(1, len(seen)):
        all_ways = score[:, None] + step
        back[t] = all_ways.argmax(axis=0)
        score = all_ways.max(axis=0) + seen[t]
    return score


@program((200, 1000), lambda rng, n: (rng.random(n),), numba=True)
def longest_rise(m, x):
    best = m.ones(len(x), dtype=int)
    for i in range(1, len(x)):
        below = best[:i][x[:i] < x[i]]
        if len(below) > 0:
            best[i] = below.max() + 1
    return best


# ---- time stepping


@program((60, 500), lambda rng, n: (rng.random(n),))
def heat_rod(m, u):
    u = u.copy()
    for _ in range(200):
        u[1:-1] += 0.2 * (u[2:] - 2 * u[1:-1] + u[:-2])
    return u


@program((30, 100), lambda rng, n: (rng.random((n, n)),))
def heat_plate(m, u):
    u = u.copy()
    for _ in range(50):
        u[1:-1, 1:-1] = 0.25 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2])
    return u


@program((64, 1000), lambda rng, n: (rng.random(n), rng.random(n)))
def wave_roll(m, u, v):
    for _ in range(100):
        v = v + 0.1 * (m.roll(u, 1) + m.roll(u, -1) - 2 * u)
        u = u + 0.1 * v
    return u


@program((20, 200), lambda rng, n: (np.arange(n) + 0.1 * rng.random(n),))
def spring_chain(m, x):
    x, v = x.copy(), m.zeros(len(x))
    for _ in range(200):
        stretch = x[1:] - x[:-1] - 1
        f = m.zeros(len(x))
        f[:-1] += stretch
        f[1:] -= stretch
        v += 0.01 * f
        x += 0.01 * v
    return x


@program((50, 100), lambda rng, n: (rng.random((n, 3)), rng.random(n)))
def bodies(m, x, mass):
    x, v = x.copy(), m.zeros(x.shape)
    for _ in range(20):
        d = x[None, :, :] - x[:, None, :]
        r2 = (d * d).sum(axis=2) + 0.01
        v += 0.001 * ((mass / (r2 * m.sqrt(r2)))[:, :, None] * d).sum(axis=1)
        x += 0.001 * v
    return x


@program((50, 100), lambda rng, n: (rng.random((n, 3)), rng.random(n)))
def bodies_rows(m, x, mass):
    a = m.empty(x.shape)
    for i in range(len(x)):
        d = x - x[i]
        r2 = (d**2).sum(axis=1) + 0.01
        a[i] = (mass * r2**-1.5) @ d
    return a


@program((100, 1000), lambda rng, n: (n,))
def lorenz(m, n):
    path = m.empty((n, 3))
    x = m.array([1.0, 1.0, 1.0])
    for i in range(n):
        d = m.array([10 * (x[1] - x[0]), x[0] * (28 - x[2]) - x[1], x[0] * x[1] - 8 / 3 * x[2]])
        x = x + 0.005 * d
        path[i] = x
    return path


@program((4, 100), lambda rng, n: (rng.random(n),))
def runge_kutta(m, y):
    def f(y):
        return m.sin(y) - 0.5 * y

    for _ in range(200):
        a = f(y)
        b = f(y + 0.005 * a)
        c = f(y + 0.005 * b)
        d = f(y + 0.01 * c)
        y = y + 0.01 / 6 * (a + 2 * b + 2 * c + d)
    return y


@program((32, 100), lambda rng, n: ((rng.random((n, n)) < 0.4).astype(int),))
def life(m, board):
    for _ in range(30):
        near = m.zeros(board.shape, dtype=int)
        for dy in (-1, 0, 1):
            for dx in (-1, 0, 1):
                if dy or dx:
                    near += m.roll(m.roll(board, dy, 0), dx, 1)
        board = ((near == 3) | ((board == 1) & (near == 2))).astype(int)
    return board


@program((200, 2000), lambda rng, n: (rng.standard_normal((n, 2)),))
def random_walk(m, steps):
    at = m.zeros(2)
    far = 0.0
    for i in range(len(steps)):
        at += steps[i]
        far = max(far, float((at**2).sum()))
    return m.array([far])


# ---- filters, sums and scans by loops


@program((300, 2000), lambda rng, n: (rng.random(n),), numba=True)
def recursive_filter(m, x):
    y = m.zeros(len(x))
    for i in range(2, len(x)):
        y[i] = 0.2 * x[i] + 1.2 * y[i - 1] - 0.4 * y[i - 2]
    return y


@program((100, 500), lambda rng, n: (rng.random((8, n)),))
def recursive_filter_rows(m, x):
    y = m.zeros(x.shape)
    y[:, 0] = x[:, 0]
    for j in range(1, x.shape[1]):
        y[:, j] = 0.3 * x[:, j] + 0.7 * y[:, j - 1]
    return y


@program((200, 2000), lambda rng, n: (rng.random(n), rng.random(15)))
def convolution(m, x, kernel):
    k = len(kernel)
    y = m.zeros(len(x) - k + 1)
    for i in range(len(y)):
        y[i] = (x[i : i + k] * kernel).sum()
    return y


@program((200, 5000), lambda rng, n: (rng.random(n), rng.random(25)))
def convolution_shifts(m, x, kernel):
    k = len(kernel)
    y = m.zeros(len(x) - k + 1)
    for i in range(k):
        y += kernel[i] * x[i : i + len(y)]
    return y


@program((200, 1000), lambda rng, n: (rng.random(n),))
def moving_average(m, x):
    out = m.empty(len(x) - 9)
    for i in range(len(out)):
        out[i] = x[i : i + 10].mean()
    return out


@program((500, 3000), lambda rng, n: (rng.integers(0, 20, n),), numba=True)
def histogram(m, x):
    count = m.zeros(20, dtype=int)
    for i in range(len(x)):
        count[x[i]] += 1
    return count


@program((500, 3000), lambda rng, n: (rng.random(n),), numba=True)
def prefix_sums(m, x):
    out = m.zeros(len(x) + 1)
    for i in range(len(x)):
        out[i + 1] = out[i] + x[i]
    return out


@program((64, 512), lambda rng, n: (rng.random(n) + 0j,))
def fourier(m, x):
    if len(x) == 1:
        return x
    even, odd = fourier(m, x[::2]), fourier(m, x[1::2])
    turned = m.exp(-2j * math.pi * m.arange(len(x) // 2) / len(x)) * odd
    return m.concatenate([even + turned, even - turned])


@program((100, 1000), lambda rng, n: (rng.random(n),))
def haar(m, x):
    out = []
    while len(x) > 1:
        x = x[: len(x) // 2 * 2]
        out.append((x[::2] - x[1::2]) / 2)
        x = (x[::2] + x[1::2]) / 2
    out.append(x)
    return m.concatenate(out)


# ---- masks, picks, sorts


@program((200, 2000), lambda rng, n: (n,))
def sieve(m, n):
    prime = m.ones(n * 10, dtype=bool)
    prime[:2] = False
    for i in range(2, int((n * 10) ** 0.5) + 1):
        if prime[i]:
            prime[i * i :: i] = False
    return m.nonzero(prime)[0]


@program((200, 2000), lambda rng, n: (rng.random(n),))
def quicksort(m, x):
    if len(x) <= 1:
        return x
    pivot = x[len(x) // 2]
    return m.concatenate([quicksort(m, x[x < pivot]), x[x == pivot], quicksort(m, x[x > pivot])])


@program((100, 500), lambda rng, n: (rng.random(n),))
def shrink_by_masks(m, x):
    for _ in range(40):
        if len(x) < 3:
            break
        keep = m.abs(x - x.mean()) < 2 * x.std()
        if keep.all():
            x = x[1:]
        else:
            x = x[keep]
    return x


@program((100, 1000), lambda rng, n: (rng.standard_normal(n),))
def masked_writes(m, x):
    x = x.copy()
    for k in range(100):
        x[x > 1] *= 0.9
        x[x < -1] = 0.1 * k
        x = m.where(m.abs(x) < 0.05, x + 1, x)
    return x


@program((50, 300), lambda rng, n: (rng.random((n, n)),))
def sorted_rows(m, a):
    out = m.empty(len(a))
    for i in range(len(a)):
        row = m.sort(a[i])
        out[i] = row[len(row) // 2]
    return out


@program((100, 400), lambda rng, n: (rng.random((n, 2)),))
def nearest_tour(m, points):
    left = m.ones(len(points), dtype=bool)
    at, length = 0, 0.0
    for _ in range(len(points) - 1):
        left[at] = False
        d = m.where(left, ((points - points[at]) ** 2).sum(axis=1), m.inf)
        at = int(d.argmin())
        length += math.sqrt(float(d[at]))
    return m.array([length])


@program((60, 300), lambda rng, n: (rng.random((n, 2)), 4))
def k_means(m, points, k):
    centers = points[:k].copy()
    for _ in range(10):
        d = ((points[:, None, :] - centers[None, :, :]) ** 2).sum(axis=2)
        mine = d.argmin(axis=1)
        for j in range(k):
            if (mine == j).any():
                centers[j] = points[mine == j].mean(axis=0)
    return centers


@program((50, 300), lambda rng, n: (rng.integers(0, n, (n, 6)), rng.random(n)))
def graph_ranks(m, to, rank):
    for _ in range(20):
        new = m.full(len(rank), 0.15 / len(rank))
        for j in range(to.shape[1]):
            new += 0.85 / 6 * rank[to[:, j]]
        rank = new / new.sum()
    return rank


@program((100, 1000), lambda rng, n: (rng.integers(0, n, (100, 8)), rng.random(n)))
def fancy_updates(m, at, x):
    x = x.copy()
    for i in range(len(at)):
        x[at[i]] = 0.5 * x[at[i]] + 0.1
    return x


@program((100, 1000), lambda rng, n: (n,))
def elements(m, n):
    x = m.zeros(n)
    for i in range(n):
        x[i] = i * 0.5
    total = 0.0
    for i in range(n):
        total += x[i]
    return m.array([float(total)])


@program((30, 300), lambda rng, n: (rng.random((n, 40)),))
def rows_read(m, a):
    total = 0.0
    for row in a:
        total += row.max() - row.min()
    return m.array([float(total)])


# ---- numbers and curves


@program((50, 500), lambda rng, n: (rng.random(n) + 1,))
def newton_scalars(m, x):
    out = m.empty(len(x))
    for i in range(len(x)):
        y = x[i]
        for _ in range(6):
            y = y - (y * y * y - x[i]) / (3 * y * y)
        out[i] = y
    return out


@program((60, 300), lambda rng, n: (n, 30))
def mandelbrot_rows(m, n, most):
    out = m.zeros((20, n), dtype=int)
    x = m.linspace(-2, 1, n)
    for r in range(20):
        c = x + 1j * (r / 10 - 1)
        z = m.zeros(n, dtype=complex)
        for _ in range(most):
            alive = m.abs(z) < 2
            z = m.where(alive, z * z + c, z)
            out[r] += alive
    return out


@program((30, 300), lambda rng, n: (rng.random(n), rng.random(n)))
def gradient_descent(m, x, y):
    a = m.zeros(2)
    for _ in range(100):
        e = a[0] * x + a[1] - y
        a = a - 0.1 * m.stack([(e * x).mean(), e.mean()])
    return a


@program((20, 100), lambda rng, n: (rng.random((16, n)), rng.random((16, 16)) / 16, rng.random((16, 16)) / 16))
def recurrent_net(m, x, w, u):
    h = m.zeros(16)
    for t in range(x.shape[1]):
        h = m.tanh(w @ x[:, t] + u @ h)
    return h


# ---- the run


def as_module(m, args):
    return tuple(m.array(x) if isinstance(x, np.ndarray) else x for x in args)


def looked_at(x):
    return np.asarray(x)


def contestants(fn, args, use_numba):
    theirs, ours = as_module(np, args), as_module(tt, args)
    found = {"tutti": lambda: looked_at(fn(tt, *ours)), "numpy": lambda: looked_at(fn(np, *theirs))}
    if use_numba:
        compiled = with_numba(fn, use_numba)
        found["numba"] = lambda: looked_at(compiled(*theirs))
    return found


def checked(row, found, want):
    for name in list(found):
        try:
            got = found[name]()
            if got.shape != want.shape or not np.allclose(got, want, rtol=1e-6, atol=1e-9, equal_nan=True):
                raise ValueError("wrong result")
        except Exception as e:  # noqa: BLE001 - what a contestant cannot do is a fact of the table
            row.error[name] = f"{type(e).__name__}: {e}".splitlines()[0][:120]
            del found[name]
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="names that hold one of these texts, separated by commas")
    parser.add_argument("--seconds", type=float, default=0.4, help="for each contestant of a row")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--no-numba", action="store_true")
    harness.add_arguments(parser)
    args = parser.parse_args()
    pick, notes = harness.chosen(args)
    numba = None
    if not args.no_numba:
        try:
            import numba
        except ImportError:
            print("no Numba here", file=sys.stderr)
    rows = []
    for fn, sizes, make, would in PROGRAMS:
        if not any(text in fn.__name__ for text in args.only.split(",")):
            continue
        for n in sizes:
            row = harness.Row(f"{fn.__name__} {n}", 0.95, None)
            data = make(np.random.default_rng(n), n)
            found = contestants(fn, data, numba if would else None)
            harness.measure(row, checked(row, found, found["numpy"]()), args.seconds, pick=pick)
            rows.append(row)
            print_row(row)
    summary(rows)
    if args.json:
        versions = {"numpy": np.__version__, **({"numba": numba.__version__} if numba else {})}
        info = [harness.no_folders(line) for line in str(tt.info()).splitlines()]
        harness.save(rows, args.json, {"tutti": tt.__version__, "peers": versions, "info": info, **notes})


def print_row(row):
    s = row.seconds
    if "tutti" not in s or "numpy" not in s:
        print(f"{row.name:<28} {row.error}", flush=True)
        return
    numba = f"   numba {harness.pretty(s['numba'])}" if "numba" in s else ""
    ratio = s["numpy"] / s["tutti"]
    print(
        f"{row.name:<28} {harness.pretty(s['tutti']):>10} {harness.pretty(s['numpy']):>10} {ratio:6.2f}x{numba}",
        flush=True,
    )


def summary(rows):
    ratios = [r.seconds["numpy"] / r.seconds["tutti"] for r in rows if "tutti" in r.seconds and "numpy" in r.seconds]
    if ratios:
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        behind = sum(x < 0.95 for x in ratios)
        print(f"{len(ratios)} rows beside NumPy: geometric mean {mean:.2f}x, least {min(ratios):.2f}x")
        print(f"{behind} of them below 0.95x")


if __name__ == "__main__":
    main()
