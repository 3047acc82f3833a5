"""What a call costs: common operations on 1 to 5,000 elements under tutti and NumPy, the call and its result in memory.

Each is a line of Python over a module `m`; what the line gives, or the array it writes, is computed before the next
turn. Times are the least of short batches that alternate, so that others on the machine change little.
"""

import argparse
import math
import time

import harness
import numpy as np
import tutti as tt

SIZES = (1, 10, 100, 1000, 5000)
# Lines that give what Python has, or lists: there is nothing to wait for.
OF_ELEMENTS = ("[", "list(", "sum(", "x.shape", "len(", "x.dtype", "x.size", "x.ndim", "a.shape", "x.tolist")
OF_ELEMENTS += ("bool(", "int(", "float(")
BATCH, TURNS = 2e-4, 24

# What is there: x, y, z of n elements, v of one, p positive, i and j integer indices, k sorted, b and c booleans,
# a and e square (about n elements in all), r a row and q a column of a, t of rank 3, f and w
# scalars.
ARITHMETIC = """
x + y|x * f|f - x|x / y|x * 2|2 - x|-x|abs(x)|x ** 2|x + v|a + r|a * q|q * r|x < y|x > 0|x == y|x != f
(x < y) & (x > 0)|a + a.T|x += y|x *= f|x[:] = y|x[1:] += y[1:]|a[0] *= 2|a[:, 0] -= r|x * y + z|(x - y) * f + z
x[1:] - x[:-1]|(x[2:] - 2 * x[1:-1] + x[:-2]) * f|m.sqrt(x * x + y * y)|m.exp(-x * x) * f + y * z - x / p
m.where(x < y, x * f, y - z) + p
"""
FUNCTIONS = """
m.add(x, y)|m.multiply(x, y, out=z)|m.sqrt(p)|m.exp(x)|m.log(p)|m.sin(x)|m.tanh(x)|m.abs(x)|m.maximum(x, y)
m.minimum(x, f)|m.floor(x)|m.sign(x)|m.square(x)|m.power(p, 1.5)|m.hypot(x, y)|m.arctan2(x, y)|m.isnan(x)
m.isfinite(x)|m.clip(x, -1, 1)|m.round(x, 2)|m.where(b, x, y)|m.where(x > 0, x, 0)|m.logical_and(b, c)
m.logical_not(b)|b & c|~b|m.nan_to_num(x)|m.allclose(x, x)|m.array_equal(x, x)
"""
REDUCTIONS = """
x.sum()|m.sum(x)|x.mean()|x.max()|x.min()|x.std()|x.var()|x.prod()|x.argmax()|x.argmin()|m.any(b)|m.all(b)|b.sum()
m.count_nonzero(b)|a.sum(axis=0)|a.sum(axis=1)|a.mean(axis=0)|a.max(axis=1)|a.argmin(axis=1)
a.sum(axis=1, keepdims=True)|m.median(x)|m.ptp(x)|m.cumsum(x)|m.cumprod(p)|m.diff(x)|x.cumsum()|m.average(x)
m.percentile(x, 30)|m.linalg.norm(x)|m.linalg.norm(a, axis=1)|t.sum(axis=(0, 2))|m.abs(x - y).max()
((x - y) ** 2).sum()|float(x.sum())|int(b.sum())|float(m.abs(x).max())|bool((x > 0).any())|max(x.max(), f)
"""
PRODUCTS = """
x @ y|m.dot(x, y)|a @ r|r @ a|a @ e|m.outer(r, r)|m.inner(x, y)|m.vdot(x, y)|m.trace(a)|m.einsum('ij,j->i', a, r)
m.cross(x3, y3)|m.linalg.solve(s, d)|m.linalg.inv(s)|m.linalg.det(s)|m.linalg.eigh(h)|m.kron(r, r[:2])
m.convolve(x, u)|m.tensordot(a, e, 1)|a.dot(e)|r.dot(r)
"""
INDEXING = """
x[0]|x[-1]|float(x[0])|x[1:-1]|x[::-1]|x[::2]|a[0]|a[:, 0]|a[0, 0]|a[1:, 1:]|x[None]|x[:, None]|x[..., 0]|x.item(0)
x[0] = f|x[1:-1] = 0|x[1:-1] = y[1:-1]|x[:] = 0|a[0] = r|a[:, 0] = r|a[0, 0] = f|x[::2] = 1|x.fill(f)|a[-1] = a[0]
x[i]|x[b]|x[x > 0]|a[i0]|a[:, i0]|a[i0, j0]|m.take(x, i)|x[i] = y|x[b] = 0|x[x > 0] = 0|x[i] += 1|a[i0, j0] = f
m.add.at(x, i, y)|m.nonzero(b)|m.argwhere(b)|m.flatnonzero(b)|m.where(b)|m.compress(b, x)|m.put(x, i, y)
m.take_along_axis(x, i, 0)|x[(b)] = y[(b)]|m.ix_(i0, j0)
"""
SHAPES = """
m.concatenate([x, y])|m.stack([x, y])|m.vstack([x, y])|m.hstack([x, y])|m.column_stack([x, y])|m.append(x, f)
x.reshape(-1, 1)|a.T|a.ravel()|a.reshape(-1)|m.transpose(a)|m.roll(x, 1)|m.flip(x)|m.tile(x, 2)|m.repeat(x, 2)
m.pad(x, 1)|x.copy()|m.expand_dims(x, 0)|m.squeeze(x[None])|m.split(x, 1)|m.array_split(x, 3)
m.broadcast_to(r, a.shape)|m.swapaxes(a, 0, 1)|m.meshgrid(r, r)|m.diag(a)|m.diag(r)|m.tril(a)|m.insert(x, 0, f)
m.delete(x, 0)|a.flatten()|m.atleast_2d(x)|m.moveaxis(t, 0, 2)|x.shape|len(x)|x.dtype|x.size|x.ndim|a.shape[0]
"""
CREATION = """
m.zeros(n)|m.ones(n)|m.empty(n)|m.full(n, f)|m.arange(n)|m.arange(0, n, 1.0)|m.linspace(0, 1, n)|m.eye(k0)
m.zeros((k0, k0))|m.zeros_like(x)|m.empty_like(x)|m.ones_like(x)|m.array([1.0, 2.0, 3.0])|m.array(l)|m.asarray(x)
m.array(x)|x.astype(float)|x.astype(int)|x.astype(m.float32)|x.tolist()|m.array([[1, 2], [3, 4]])|m.full_like(x, f)
m.identity(k0)|m.asarray(l)|m.array(f)|m.indices((k0, k0))|m.float64(1.5)|m.tri(k0)
"""
ORDER = """
m.sort(x)|x.argsort()|m.argsort(x)|m.unique(i)|m.searchsorted(k, x)|m.searchsorted(k, f)|m.bincount(i)
m.histogram(x, 10)|m.interp(x, k, y)|m.isin(i, j)|m.partition(x, nh)|m.digitize(x, k)|m.intersect1d(i, j)
m.argpartition(x, nh)|m.lexsort((x, y))|m.sort(a, axis=1)|m.sort(a, axis=0)|m.setdiff1d(i, j)
"""
RANDOM = """
o.random(n)|o.standard_normal(n)|o.integers(0, 10, n)|o.random()|o.permutation(n)|o.choice(x, 3)|o.uniform(0, 1, n)
o.normal(0, 1, n)
"""
LOOPS = """
[q0 for q0 in r]|sum(r)|list(r)|for q0 in r: q0 + 1|for q0 in a: q0.sum()|for q0 in range(len(r)): r[q0] = r[q0] + 1
for q0 in range(n): x[q0] * f|for q0, q1 in zip(r, r): q0 * q1|for q0 in range(k0): a[q0] += r
for q0 in range(k0): a[q0, :] = a[q0, :] - r * a[q0, 0]|for q0 in range(1, k0): r[q0] = r[q0 - 1] * f + r[q0]
"""
KINDS = dict(
    arithmetic=ARITHMETIC, functions=FUNCTIONS, reductions=REDUCTIONS, products=PRODUCTS, indexing=INDEXING,
    shapes=SHAPES, creation=CREATION, order=ORDER, random=RANDOM, loops=LOOPS,
)  # fmt: skip


def lines(text):
    return [one.strip() for line in text.strip().splitlines() for one in line.split("|")]


def values(n, dtype):
    rng = np.random.default_rng(n)
    side = max(2, math.isqrt(n))

    def draw(*shape):
        x = rng.standard_normal(shape) * 3
        return (x + 1j * rng.standard_normal(shape)).astype(dtype) if dtype[0] == "c" else x.astype(dtype)

    s = rng.standard_normal((min(side, 10), min(side, 10))) + 10 * np.eye(min(side, 10))
    found = dict(
        x=draw(n), y=draw(n), z=draw(n), v=draw(1), p=np.abs(draw(n)).astype(dtype) + 1, a=draw(side, side),
        e=draw(side, side), r=draw(side), q=draw(side, 1), t=draw(2, side, max(1, side // 2)), u=draw(3),
        x3=draw(max(1, n // 3), 3), y3=draw(max(1, n // 3), 3), s=s.astype(dtype), h=(s + s.T).astype(dtype),
        d=s[0].astype(dtype), i=rng.integers(0, n, n), j=rng.integers(0, n, n), b=rng.random(n) < 0.5,
        c=rng.random(n) < 0.5, k=np.sort(draw(n).real), i0=rng.integers(0, side, side), j0=rng.integers(0, side, side),
    )  # fmt: skip
    return found, dict(n=n, k0=side, nh=n // 2, f=0.999 if dtype[0] != "i" else 3, l=draw(n).tolist())


def namespace(m, arrays, numbers):
    names = {name: m.array(x) for name, x in arrays.items()}
    return names | numbers | {"m": m, "o": m.random.default_rng(1), "look": tt.eval if m is tt else id}


def text_of(line):
    """The line, and what has to be in memory after it."""
    try:
        compile(line, line, "eval")
    except SyntaxError:
        return line if line.startswith("for ") else f"{line}; look({line[0]})"
    return line if line.startswith(OF_ELEMENTS) else f"look({line})"


TURNS_OF = """
def turns(many, clock):
    global x, a, r
    start = clock()
    for _ in range(many):
        {}
    return (clock() - start) / many
"""


def turns_of(line, names):
    """A function that does the line `many` times and says how long one took."""
    exec(compile(TURNS_OF.format(text_of(line)), line, "exec"), names)
    return names["turns"]


def compare(line, n, dtype):
    arrays, numbers = values(n, dtype)
    runs, each = {}, {}
    for name, m in ("tutti", tt), ("numpy", np):
        runs[name] = turns_of(line, namespace(m, arrays, numbers))
        runs[name](2, time.perf_counter)
        once = runs[name](3, time.perf_counter)
        each[name] = max(1, int(BATCH / once))
    best = {name: math.inf for name in runs}
    for _ in range(TURNS):
        for name, run in runs.items():
            best[name] = min(best[name], run(each[name], time.perf_counter))
    return best


def looking():
    """What looking costs where the value is there already: it is no part of the call."""
    x = {"tutti": tt.ones(3), "numpy": np.ones(3)}
    empty = {}
    for name in x:
        names = {"x": x[name], "look": tt.eval if name == "tutti" else id}
        run = turns_of("x", names)
        empty[name] = min(run(1000, time.perf_counter) for _ in range(20))
    return empty


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="lines or kinds that hold one of these texts, separated by `;`")
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    parser.add_argument("--dtypes", default="f8")
    parser.add_argument("--below", type=float, default=math.inf, help="print only what is below this ratio")
    args = parser.parse_args()
    empty = looking()
    ratios = []
    for kind, text in KINDS.items():
        for line in lines(text):
            if not any(t in line or t == kind for t in args.only.split(";")):
                continue
            for dtype in args.dtypes.split(","):
                for n in map(int, args.sizes.split(",")):
                    try:
                        best = compare(line, n, dtype)
                    except Exception as e:  # noqa: BLE001 - what a type or a size cannot do is no row
                        print(f"{line:<50} {dtype} {n:>5}   {type(e).__name__}: {str(e)[:70]}")
                        continue
                    spent = {
                        name: max(best[name] - (empty[name] if "look" in text_of(line) else 0), 5e-9) for name in best
                    }
                    ratio = spent["numpy"] / spent["tutti"]
                    ratios.append(ratio)
                    if ratio < args.below:
                        ours, theirs = harness.pretty(spent["tutti"]), harness.pretty(spent["numpy"])
                        print(f"{line:<50} {dtype} {n:>5} {ours:>10} {theirs:>10} {ratio:6.2f}x", flush=True)
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(f"{len(ratios)} rows: geometric mean {mean:.2f}x, {sum(x < 0.95 for x in ratios)} below 0.95x")


if __name__ == "__main__":
    main()
