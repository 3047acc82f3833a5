"""The rows of the field that are one operation or few: elements, reductions, scans, order, sets, movement, stencils."""

import itertools

import numpy as np

KINDS = ("bool", "int8", "uint8", "int16", "int32", "int64", "float16", "float32", "float64", "complex64", "complex128")


class Row:
    """One program: `work(xp, *arrays)`, the arrays it works on, and what somebody writes in another way (`forms`).

    numba: the name of its form in field_numba.py. jit: whether JAX can compile it (not where values decide sizes).
    """

    def __init__(self, name, make, work, *, numba=None, jit=True, tolerance=None, **forms):
        self.name, self.make, self.work = name, make, work
        self.numba, self.jit, self.tolerance, self.forms = numba, jit, tolerance, forms


def numbers(rng, kind, *shape):
    """Random numbers of a type: whole ones small enough for a product, others of size one."""
    kind = np.dtype(kind)
    if kind.kind == "b":
        return rng.random(shape) < 0.5
    if kind.kind in "iu":
        return rng.integers(1, 11, shape).astype(kind)
    if kind.kind == "c":
        return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(kind)
    return rng.standard_normal(shape).astype(kind)


def some(kind, *shapes):
    return lambda rng: [numbers(rng, kind, *s) for s in shapes]


def positive(kind, *shapes):
    return lambda rng: [(rng.random(s) + 0.5).astype(kind) for s in shapes]


def size(shape):
    return " x ".join(map(str, shape))


# ---- elements


def chain(xp, x, y):
    return (x + y) * x - y * y + x * y


def logic(xp, x, y):
    return ((x & y) | ~x) ^ y


def divided(xp, x, y):
    return x // y + x % y


def smooth(xp, x):
    return 1 / (1 + xp.exp(-x))


def unit_range(xp, x):
    return x.astype(xp.float32) / 255


def elements():
    rows = []
    for kind, n in itertools.product(KINDS, (30_000, 4_000_000)):
        work = logic if kind == "bool" else chain
        numba = "chain" if kind in ("float32", "float64", "int32", "complex64") else None
        rows.append(Row(f"elements: chain of 5, {kind}, {n}", some(kind, (n,), (n,)), work, numba=numba))
    for name, work in {
        "exp and log": lambda xp, x: xp.log(xp.exp(x) + 1),
        "sin times cos": lambda xp, x: xp.sin(x) * xp.cos(x),
        "tanh": lambda xp, x: xp.tanh(x),
        "sigmoid": smooth,
        "where and clip": lambda xp, x: xp.where(x > 0.7, xp.clip(x, 0.8, 1.2), x * x),
        "power 2.5": lambda xp, x: x**2.5,
        "cube by power": lambda xp, x: x**3,
        "arctan2 of sqrt": lambda xp, x: xp.arctan2(x, xp.sqrt(x)),
        "comparison": lambda xp, x: x > 0.9,
        "rounded": lambda xp, x: xp.floor(x * 10) + xp.round(x),
    }.items():
        for kind, n in (("float32", 2_000_000), ("float64", 20_000)):
            rows.append(Row(f"elements: {name}, {kind}, {n}", positive(kind, (n,)), work))
    n = 1_000_000
    half = positive("float16", (n,))
    rows += [
        Row("elements: sigmoid, float16, 1000000", half, smooth),
        Row("elements: float16 to float32, 1000000", half, lambda xp, x: x.astype(xp.float32)),
        Row("elements: x ** y, float64, 1000000", positive("float64", (n,), (n,)), lambda xp, x, y: x**y),
        Row("elements: absolute complex64, 1000000", some("complex64", (n,)), lambda xp, x: xp.abs(x)),
        Row("elements: exp complex128, 200000", some("complex128", (200_000,)), lambda xp, x: xp.exp(x)),
        Row("elements: quotient complex64", some("complex64", (n,), (n,)), lambda xp, x, y: x / y, tolerance=1e-3),
        Row("elements: // and %, int32, 1000000", some("int32", (n,), (n,)), divided),
        Row("elements: // and %, int64 by 7", some("int64", (n,)), lambda xp, x: x // 7 + x % 7),
        Row("elements: bytes to float32, 8000000", some("uint8", (8 * n,)), unit_range, tolerance=1e-6),
        Row("elements: float64 to int16", some("float64", (n,)), lambda xp, x: (x * 100).astype(xp.int16)),
        Row("elements: row plus column, 2000 x 2000", some("float32", (2000, 1), (1, 2000)), lambda xp, x, y: x + y),
        Row("elements: every other of 8000000", some("float32", (8 * n,)), lambda xp, x: x[::2] * 2 + x[1::2]),
    ]
    return rows


# ---- reductions, scans


def over(name, axes):
    return lambda xp, x: getattr(xp, name)(x, axis=axes)


def subsets(d):
    return [c for k in range(1, d + 1) for c in itertools.combinations(range(d), k)]


def reductions():
    rows = []
    for shape in ((1000, 1000), (20_000, 50), (50, 20_000), (777, 1301), (64, 100, 300), (16, 32, 56, 56)):
        for axes in subsets(len(shape)):
            name, make = f"over {axes} of {size(shape)}", some("float32", shape)
            rows.append(Row(f"reduce: sum {name}", make, over("sum", axes), tolerance=1e-3))
            if len(axes) < 3 or len(axes) == len(shape):
                rows.append(Row(f"reduce: var {name}", make, over("var", axes), tolerance=1e-3))
    for kind, width in itertools.product(("float32", "float64", "int32", "uint8"), (7, 50, 100)):
        make = some(kind, (2_000_000 // width, width))
        rows.append(Row(f"reduce: max of rows of {width}, {kind}", make, over("max", 1), numba="row_max"))
    for name in ("argmin", "mean", "any", "prod"):
        for width in (50, 100):
            rows.append(Row(f"reduce: {name} of rows of {width}", some("float32", (20_000, width)), over(name, 1)))
    for kind in ("bool", "uint8", "int64", "float16", "float64", "complex128"):
        rows.append(Row(f"reduce: sum of 2000000 {kind}", some(kind, (2_000_000,)), over("sum", 0), tolerance=2e-2))
    million = some("float32", (4_000_000,))
    rows += [
        Row("reduce: argmax over 0 of 2000 x 1000", some("float32", (2000, 1000)), over("argmax", 0)),
        Row("reduce: std over 0 of 20000 x 20", some("float64", (20_000, 20)), over("std", 0)),
        Row("reduce: max less min of 4000000", million, lambda xp, x: xp.max(x) - xp.min(x)),
        Row("reduce: count of positives", million, lambda xp, x: xp.sum(x > 0)),
        Row("reduce: norm of 4000000", million, lambda xp, x: xp.linalg.norm(x)),
        Row("reduce: dot of 1000000", some("float64", (1_000_000,), (1_000_000,)), lambda xp, x, y: xp.dot(x, y)),
        Row("reduce: mean and std of 30000", some("float64", (30_000,)), lambda xp, x: (xp.mean(x), xp.std(x))),
    ]
    return rows


def running_max(xp, x):
    return xp.maximum.accumulate(x, axis=-1)


def scans():
    jax = {"jax": lambda xp, x: xp.maximum.accumulate(x, axis=-1), "torch": lambda xp, x: xp.cummax(x, -1)[0]}
    f32, f64 = some("float32", (2000, 1000)), some("float64", (2_000_000,))
    return [
        Row("scan: cumsum of 2000000 f64", f64, lambda xp, x: xp.cumsum(x, axis=0), numba="scan"),
        Row("scan: cumsum of 20000 f32", some("float32", (20_000,)), over("cumsum", 0), tolerance=1e-3),
        Row("scan: cumsum of 2000000 i64", some("int64", (2_000_000,)), over("cumsum", 0)),
        Row("scan: cumsum over 0 of 2000 x 1000", f32, over("cumsum", 0), tolerance=1e-3),
        Row("scan: cumsum over 1 of 2000 x 1000", f32, over("cumsum", 1), tolerance=1e-3),
        Row("scan: cumsum of rows of 30", some("float32", (50_000, 30)), over("cumsum", 1), tolerance=1e-3),
        Row("scan: cumprod over 1 of 2000 x 1000", positive("float64", (2000, 1000)), over("cumprod", 1)),
        Row("scan: running maximum of 2000000", f64, running_max, **jax),
        Row("scan: differences over 0", f32, lambda xp, x: xp.diff(x, axis=0)),
        Row("scan: differences over 1", f32, lambda xp, x: xp.diff(x, axis=1)),
    ]


# ---- order


def sorts():
    n = 1_000_000
    short = some("float32", (20_000, 64))
    torch_sort = {"torch": lambda xp, x: xp.sort(x, -1)[0]}
    rows = [
        Row(f"sort: {n} {kind}", lambda rng, k=kind: [random_bits(rng, k, n)], lambda xp, x: xp.sort(x), **torch_sort)
        for kind in ("float16", "float32", "float64", "int16", "int32", "int64")
    ]
    f = some("float32", (300_000,))
    return rows + [
        Row("sort: 3000 f64", some("float64", (3000,)), lambda xp, x: xp.sort(x)),
        Row("sort: rows of 64", short, lambda xp, x: xp.sort(x, axis=1)),
        Row("sort: rows of 1000", some("float64", (1000, 1000)), lambda xp, x: xp.sort(x, axis=1)),
        Row("sort: over 0 of 1000 x 1000", some("float32", (1000, 1000)), lambda xp, x: xp.sort(x, axis=0)),
        Row(
            "sort: argsort of 300000",
            lambda rng: [rng.permutation(300_000).astype(np.float32)],
            lambda xp, x: xp.argsort(x),
        ),
        Row("sort: argsort of rows of 64", short, lambda xp, x: xp.argsort(x, axis=1)),
        Row("sort: median of rows of 65", some("float32", (20_000, 65)), over("median", 1)),
        Row("sort: median over 0 of 100 x 20000", some("float32", (100, 20_000)), over("median", 0)),
        Row("sort: median of 1000001", some("float64", (1_000_001,)), lambda xp, x: xp.median(x)),
        Row("sort: quartiles of 300000", f, lambda xp, x: xp.quantile(x, xp.asarray([0.25, 0.5, 0.75]))),
        Row("sort: ten smallest by partition", f, lambda xp, x: xp.sort(xp.partition(x, 10)[:10])),
        Row("sort: ten first of argsort", f, lambda xp, x: x[xp.argsort(x)[:10]]),
        Row("sort: keys by two columns", keys, lambda xp, a, b: a[xp.lexsort((a, b))]),
    ]


def random_bits(rng, kind, n):
    kind = np.dtype(kind)
    if kind.kind == "i":
        return rng.integers(np.iinfo(kind).min, np.iinfo(kind).max, n, dtype=kind)
    return rng.standard_normal(n).astype(kind)


def keys(rng):
    return [rng.integers(0, 1000, 200_000), rng.integers(0, 50, 200_000)]


def sets():
    def pair(rng):
        return [rng.integers(0, 500_000, 300_000), rng.integers(0, 500_000, 100_000)]

    def table(large, n):
        return lambda rng: [np.sort(rng.random(large)), rng.random(n)]

    def look(xp, t, v):
        return xp.searchsorted(t, v)

    small, bins = some("int64", (1_000_000,)), np.linspace(-3, 3, 61)
    counted = {"jax": lambda xp, x: xp.bincount(x, length=11)}
    return [
        Row("set: unique of 1000000 small", small, lambda xp, x: xp.unique(x), jit=False),
        Row("set: unique of 300000 of 500000", pair, lambda xp, x, y: xp.unique(x), jit=False),
        Row("set: unique with counts", pair, lambda xp, x, y: xp.unique(x, return_counts=True), jit=False),
        Row("set: isin", pair, lambda xp, x, y: xp.isin(x, y)),
        Row("set: intersection", pair, lambda xp, x, y: xp.intersect1d(x, y), jit=False),
        Row("set: union", pair, lambda xp, x, y: xp.union1d(x, y), jit=False),
        Row("set: searchsorted, 500000 in 1000000", table(1_000_000, 500_000), look),
        Row("set: searchsorted, 1000000 in 100", table(100, 1_000_000), look),
        Row("set: searchsorted, 1000 in 1000000", table(1_000_000, 1000), look),
        Row("set: searchsorted of sorted", lambda rng: [np.sort(rng.random(300_000)) for _ in range(2)], look),
        Row("set: bincount of 1000000", small, lambda xp, x: xp.bincount(x, minlength=11), numba="count", **counted),
        Row(
            "set: histogram, 60 bins", some("float64", (1_000_000,)), lambda xp, x: xp.histogram(x, xp.asarray(bins))[0]
        ),
        Row("set: digitize", some("float64", (500_000,)), lambda xp, x: xp.digitize(x, xp.asarray(bins))),
    ]


# ---- elements that are picked and put


def gathers():
    def picked(n, m):
        return lambda rng: [rng.standard_normal(n).astype(np.float32), rng.integers(0, n, m)]

    def table(rows, width, m):
        return lambda rng: [rng.standard_normal((rows, width)).astype(np.float32), rng.integers(0, rows, m)]

    def along(rng):
        return [rng.standard_normal((2000, 500)).astype(np.float32), rng.integers(0, 500, (2000, 500))]

    def columns(xp, x, i):
        return x[:, i]

    mask = some("float32", (2_000_000,))
    return [
        Row("gather: 1000000 of 1000000", picked(1_000_000, 1_000_000), lambda xp, x, i: x[i], numba="gather"),
        Row("gather: 1000000 of 1000", picked(1000, 1_000_000), lambda xp, x, i: x[i]),
        Row("gather: summed neighbours", picked(1_000_000, 1_000_000), lambda xp, x, i: x[i] * 0.5 + x),
        Row("gather: 20000 rows of 64", table(30_000, 64, 20_000), lambda xp, x, i: x[i]),
        Row("gather: 200000 rows of 3", table(100_000, 3, 200_000), lambda xp, x, i: x[i]),
        Row("gather: columns", lambda rng: [numbers(rng, "float32", 2000, 1000), rng.integers(0, 1000, 300)], columns),
        Row("gather: take_along_axis", along, lambda xp, x, i: xp.take_along_axis(x, i, axis=1)),
        Row("gather: x[x > 0] of 2000000", mask, lambda xp, x: x[x > 0], jit=False),
        Row("gather: indices of positives", mask, lambda xp, x: xp.nonzero(x > 0)[0], jit=False),
        Row("gather: rows by mask", some("float32", (50_000, 32)), lambda xp, x: x[x[:, 0] > 0], jit=False),
    ]


def put(xp, x, i, v):
    y = x.copy()
    y[i] = v
    return y


def added(xp, x, i, v):
    y = x.copy()
    xp.add.at(y, i, v)
    return y


def no_negatives(xp, x):
    y = x.copy()
    y[y < 0] = 0
    return y


def scatters():
    def apart(rng):
        return [
            numbers(rng, "float32", 1_000_000),
            rng.permutation(1_000_000)[:300_000],
            numbers(rng, "float32", 300_000),
        ]

    def together(rng):
        return [numbers(rng, "float64", 1000), rng.integers(0, 1000, 500_000), numbers(rng, "float64", 500_000)]

    def by_row(rng):
        return [numbers(rng, "float32", 5000, 32), rng.integers(0, 5000, 20_000), numbers(rng, "float32", 20_000, 32)]

    def jax_set(xp, x, i, v):
        return x.at[i].set(v)

    def jax_add(xp, x, i, v):
        return x.at[i].add(v)

    def weighted(xp, x, i, v):
        return xp.bincount(i, weights=v, minlength=1000)

    adds = {"jax": jax_add, "cupy": added, "torch": lambda xp, x, i, v: x.index_add(0, i, v)}
    length = {"jax": lambda xp, x, i, v: xp.bincount(i, weights=v, length=1000)}
    return [
        Row("scatter: 300000 into 1000000", apart, put, jax=jax_set),
        Row("scatter: sums of 500000 by 1000 keys", together, added, **adds),
        Row("scatter: bincount with weights", together, weighted, **length),
        Row("scatter: sums of rows of 32", by_row, added, tolerance=1e-3, **adds),
        Row(
            "scatter: negatives to 0",
            some("float32", (2_000_000,)),
            no_negatives,
            jax=lambda xp, x: xp.where(x < 0, 0, x),
        ),
    ]


# ---- movement


def laid(xp, x):
    """Row after row in new memory. (An addition of 0 keeps the order of its operand; what JAX compiled lies so.)"""
    if hasattr(xp, "ascontiguousarray"):
        return xp.ascontiguousarray(x)
    return x.contiguous() if hasattr(x, "contiguous") else x


def permuted(*axes):
    return lambda xp, x: laid(xp, xp.permute_dims(x, axes))


def movement():
    rows = [
        Row(f"move: permute {axes} of 16 x 32 x 56 x 56 {kind}", some(kind, (16, 32, 56, 56)), permuted(*axes))
        for axes in ((0, 2, 3, 1), (0, 3, 1, 2), (0, 2, 1, 3), (3, 2, 1, 0), (1, 0, 2, 3), (2, 0, 3, 1))
        for kind in ("float32", "uint8")
    ]
    rows += [
        Row(f"move: transpose {size(shape)} {kind}", some(kind, shape), lambda xp, x: laid(xp, x.T))
        for shape in ((2000, 2000), (100_000, 8), (777, 1301))
        for kind in ("float32", "float64", "uint8")
    ]
    square, line = some("float32", (2000, 1500)), some("float32", (3_000_000,))
    pair = some("float32", (1000, 1000), (1000, 1000))
    ring = {"mode": "wrap"}
    return rows + [
        Row("move: flip axis 0", square, lambda xp, x: laid(xp, xp.flip(x, axis=0))),
        Row("move: flip axis 1", square, lambda xp, x: laid(xp, xp.flip(x, axis=1))),
        Row("move: flip bytes", some("uint8", (2000, 1500)), lambda xp, x: laid(xp, xp.flip(x, axis=1))),
        Row("move: reverse 3000000", line, lambda xp, x: laid(xp, x[::-1])),
        Row("move: rot90", square, lambda xp, x: laid(xp, xp.rot90(x))),
        Row("move: roll 3000000", line, lambda xp, x: xp.roll(x, 1001)),
        Row("move: roll axis 1", square, lambda xp, x: xp.roll(x, 7, axis=1)),
        Row("move: roll both axes", square, lambda xp, x: xp.roll(x, (3, -5), axis=(0, 1))),
        Row("move: tile 2 x 3", some("float32", (500, 400)), lambda xp, x: xp.tile(x, (2, 3))),
        Row("move: repeat each 4 times", some("float32", (500_000,)), lambda xp, x: xp.repeat(x, 4)),
        Row(
            "move: repeat pixels",
            some("float32", (500, 400)),
            lambda xp, x: xp.repeat(xp.repeat(x, 2, axis=0), 2, axis=1),
        ),
        Row("move: concatenate axis 0", pair, lambda xp, x, y: xp.concatenate([x, y, x], axis=0)),
        Row("move: concatenate axis 1", pair, lambda xp, x, y: xp.concatenate([x, y, x], axis=1)),
        Row("move: stack last", pair, lambda xp, x, y: xp.stack([x, y], axis=-1)),
        Row("move: pad with 0", square, lambda xp, x: xp.pad(x, 3)),
        Row("move: pad around", square, lambda xp, x: xp.pad(x, 3, **ring)),
        Row(
            "move: pad a batch",
            some("float32", (32, 3, 100, 100)),
            lambda xp, x: xp.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1))),
        ),
        Row("move: every third column", square, lambda xp, x: laid(xp, x[:, ::3])),
        Row("move: reshape of a transposed", square, lambda xp, x: laid(xp, xp.reshape(x.T, (-1,)))),
        Row(
            "move: pixels to planes",
            some("uint8", (800, 600, 3)),
            lambda xp, x: laid(xp, xp.permute_dims(x, (2, 0, 1))),
        ),
        Row("move: lower triangle", square, lambda xp, x: xp.tril(x)),
    ]


# ---- stencils


def five(xp, u):
    return 0.2 * (u[1:-1, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] + u[:-2, 1:-1] + u[2:, 1:-1])


def nine(xp, u):
    n, m = u.shape
    parts = [u[i : n - 2 + i, j : m - 2 + j] for i in range(3) for j in range(3)]
    return sum(parts[1:], parts[0]) / 9


def seven(xp, u):
    c = u[1:-1, 1:-1, 1:-1]
    x = u[:-2, 1:-1, 1:-1] + u[2:, 1:-1, 1:-1]
    y = u[1:-1, :-2, 1:-1] + u[1:-1, 2:, 1:-1]
    return c + 0.1 * (x + y + u[1:-1, 1:-1, :-2] + u[1:-1, 1:-1, 2:] - 6 * c)


def life(xp, u):
    n = sum(xp.roll(u, (i, j), axis=(0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j)
    return ((n == 3) | ((u == 1) & (n == 2))).astype(xp.uint8)


def largest_of_three(xp, u):
    rows = xp.maximum(xp.maximum(u[:-2], u[1:-1]), u[2:])
    return xp.maximum(xp.maximum(rows[:, :-2], rows[:, 1:-1]), rows[:, 2:])


def seven_taps(xp, u):
    n = u.shape[0] - 6
    return sum((0.1 * k + 0.1) * u[k : k + n] for k in range(7))


def stencils():
    line = some("float64", (2_000_000,))
    rows = [
        Row("stencil: three points of 2000000", line, lambda xp, u: u[1:-1] + 0.1 * (u[:-2] - 2 * u[1:-1] + u[2:])),
        Row("stencil: three points of 5000", some("float64", (5000,)), lambda xp, u: u[:-2] - 2 * u[1:-1] + u[2:]),
        Row("stencil: seven taps", line, seven_taps),
        Row("stencil: convolve with 15", some("float64", (300_000,), (15,)), lambda xp, u, k: xp.convolve(u, k)),
        Row("stencil: nine points", some("float32", (1500, 1500)), nine),
        Row("stencil: seven points in 3d", some("float32", (120, 120, 120)), seven, numba="stencil3"),
        Row("stencil: life on bytes", lambda rng: [(rng.random((1000, 1000)) < 0.3).astype(np.uint8)], life),
        Row("stencil: largest of 3 x 3", some("float32", (1500, 1500)), largest_of_three),
        Row("stencil: gradient of 1000 x 1000", some("float64", (1000, 1000)), lambda xp, u: tuple(xp.gradient(u))),
    ]
    for n in (200, 2000):
        rows.append(Row(f"stencil: five points of {n} x {n}", some("float32", (n, n)), five, numba="stencil2"))
    return rows


def rows():
    return (
        elements() + reductions() + scans() + sorts() + sets() + gathers() + scatters() + movement() + stencils()
    )  # in the order of the issue, simple work first
