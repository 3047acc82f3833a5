"""Random calls of what is no kernel: linear algebra, transforms, sorts, scans, products, selections, against NumPy.

Shapes are of all kinds, next to powers of two, long and short; memory lies in any order; types are all NumPy takes.
What is meant to be found is less a wrong number than memory that is touched beyond its end, so it runs best under a
sanitizer, with more threads than there are cores and vectors of 64 bytes (make test-long says how):

    TUTTI_BLAS=none TUTTI_NUM_THREADS=16 python tests/fuzz/library.py FIRST COUNT [--kinds sort,scan]    COUNT 0: no end

Calls that differ are shown. Where a result is not one alone (vectors of a decomposition), what it must fulfil is asked.
"""

import argparse
import collections
import itertools
import random
import sys
import warnings

import numpy as np
import tutti as tt

LENGTHS = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 30, 31, 32, 33, 63, 64, 65, 97, 100, 127, 128, 129, 200, 224, 255, 257]
LONG = [1000, 1023, 1024, 1025, 4096, 5000, 10007, 30030, 65537]
FLOATS = ["float32", "float64", "float64", "complex64", "complex128"]
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
TYPES = [*FLOATS, *INTEGERS, "bool", "float16"]
SETS = ["intersect1d", "union1d", "setdiff1d", "setxor1d"]
ONE_WAY = ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"]
# Of a result, in units of its type's last place and of its largest element.
CLOSE = 2e3
ERRORS = (np.linalg.LinAlgError, TypeError, ValueError, IndexError)
Call = collections.namedtuple("Call", "text arrays check")


class Maker:
    """Random arrays and words; says what it made by the arrays' names."""

    def __init__(self, seed):
        self.r, self.rng, self.arrays = random.Random(seed), np.random.default_rng(seed), {}

    def shape(self, rank=None, most=40000):
        rank = rank or self.r.choice([1, 1, 2, 2, 3])
        if rank == 1 and self.r.random() < 0.5:
            return (min(self.r.choice(LONG), most),)
        shape = [self.r.choice(LENGTHS) for _ in range(rank)]
        while np.prod(shape) > most:
            shape[int(np.argmax(shape))] //= 2
        return tuple(max(n, 1) for n in shape)

    def values(self, shape, dtype, special=0.0):
        rng, kind = self.rng, np.dtype(dtype).kind
        if kind == "b":
            return rng.random(shape) < 0.5
        if kind in "iu":
            return rng.integers(0 if kind == "u" else -9, 10, shape).astype(dtype)
        x = rng.standard_normal(shape)
        if kind == "c":
            x = x + 1j * rng.standard_normal(shape)
        if self.r.random() < special:
            x = np.where(rng.random(shape) < 0.1, self.r.choice([np.nan, np.inf, -np.inf, 0.0]), np.round(x, 1))
        return x.astype(dtype)

    def array(self, shape, dtype, special=0.0):
        """A name for a new array, which lies in memory in some order."""
        x, way = self.values(shape, dtype, special), self.r.randrange(6)
        name = "abcdef"[len(self.arrays)]
        self.arrays[name] = x
        if way == 0 and x.ndim > 1:
            self.arrays[name] = x.T
            return f"{name}.T"
        if way == 1:
            return f"{name}[::-1]"
        if way == 2:
            self.arrays[name] = np.repeat(x, 2, axis=-1)
            return f"{name}[..., ::2]"
        return name

    def matrix(self, n, dtype, batch=()):
        """As an array, far from singular but once in a while."""
        far = int((80 if dtype == "int32" else 3) * n**0.5) * (self.r.random() < 0.95)
        return f"({self.array((*batch, n, n), dtype)} + {far} * xp.eye({n}, dtype='{dtype}'))"

    def axis(self, shape):
        return self.r.randrange(-len(shape), len(shape))


# ---- what is called


def transform(m):
    one = m.r.random() < 0.6
    shape = m.shape(None if one else m.r.choice([2, 2, 3]))
    name, norm = m.array(shape, m.r.choice(TYPES[:12])), m.r.choice(["backward", "ortho", "forward"])
    if one:
        n = m.r.choice([None, None, m.r.choice(LENGTHS)])
        return (
            f"xp.fft.{m.r.choice(ONE_WAY)}({name}, n={n}, axis={m.axis(shape)}, norm='{norm}')",
            close,
        )
    many = m.r.choice(["fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn", "irfftn"])
    return f"xp.fft.{many}({name}, norm='{norm}')", close


def algebra(m):
    n = m.r.choice([1, 2, 3, 5, 8, 16, 17, 33, 64, 65, 100, 129, 180])
    dtype = m.r.choice([*FLOATS, *FLOATS, "int32"])
    batch = m.r.choice([(), (), (), (3,), (2, 5), (17,), (40,)]) if n < 40 else ()
    what = m.r.choice(["solve", "inv", "det", "slogdet", "cholesky", "qr", "svd", "svdvals", "eigh", "eigvalsh", "eig",
                       "eigvals", "lstsq", "pinv", "rank", "power", "norm", "cond"])  # fmt: skip
    if what in ("qr", "svd", "svdvals", "pinv", "rank", "lstsq", "norm"):
        a = m.array((*batch, n, m.r.choice([n, n, 1, n + 1, 2 * n, max(n // 2, 1)])), dtype)
    else:
        a = m.matrix(n, dtype, batch)
    if what == "solve":
        return f"xp.linalg.solve({a}, {m.array((*batch, n, m.r.choice([1, 3, 20])), dtype)})", close
    if what == "lstsq":
        m.arrays.clear()
        a = m.array((n + 3, n), dtype)
        return f"xp.linalg.lstsq({a}, {m.array((n + 3, m.r.choice([1, 4])), dtype)}, rcond=None)[0]", close
    if what == "cholesky":
        return f"xp.linalg.cholesky({a} @ xp.conj({a}).swapaxes(-1, -2) + {n} * xp.eye({n}, dtype='{dtype}'))", close
    if what in ("eigh", "eigvalsh"):
        return f"xp.linalg.{what}({a} + xp.conj({a}).swapaxes(-1, -2))", spectral if what == "eigh" else close
    if what == "qr":
        mode = m.r.choice(["reduced", "complete", "r"])
        return f"xp.linalg.qr({a}, mode='{mode}')", triangular if mode == "r" else factors
    if what == "svd":
        return f"xp.linalg.svd({a}, full_matrices={m.r.random() < 0.5})", singular
    if what == "eig":
        return f"xp.linalg.eig({a})", eigen
    if what == "eigvals":
        return f"xp.linalg.eigvals({a})", spectrum
    if what == "power":
        return f"xp.linalg.matrix_power({a} / {2 * n}, {m.r.randrange(-1, 6)})", close
    if what == "norm":
        axes = "None" if not batch else "(-2, -1)"
        return f"xp.linalg.norm({a}, {m.r.choice(['None', '1', '-1', '2', 'xp.inf', repr('nuc')])}, axis={axes})", close
    name = {"rank": "matrix_rank"}.get(what, what)
    return f"xp.linalg.{name}({a})", close


def product(m):
    dtype = m.r.choice(TYPES)
    i, j, k = (m.r.choice([*LENGTHS, 300]) for _ in range(3))
    batch = m.r.choice([(), (), (2,), (3, 1), (7,)])
    if batch:
        i, j, k = i % 60 + 1, j % 60 + 1, k % 60 + 1
    what = m.r.randrange(7)
    if what < 3:
        return f"xp.matmul({m.array((*batch, i, k), dtype)}, {m.array((*batch[-1:], k, j), dtype)})", close
    if what == 3:
        return f"xp.dot({m.array((i, k), dtype)}, {m.array((k,), dtype)})", close
    if what == 4:
        return f"xp.inner({m.array((i, k), dtype)}, {m.array((j, k), dtype)})", close
    if what == 5:
        return f"xp.tensordot({m.array((5, i, 3), dtype)}, {m.array((3, 5, j), dtype)}, axes=((2, 0), (0, 1)))", close
    text = m.r.choice(["ij,jk->ik", "ij,jk->ki", "ji,jk->k", "ij,jk->i"])
    first = (k, i) if text.startswith("ji") else (i, k)
    return f"xp.einsum('{text}', {m.array(first, dtype)}, {m.array((k, j), dtype)})", close


def sort(m):
    shape = m.shape()
    dtype = m.r.choice(TYPES)
    a, axis = m.array(shape, dtype, 0.5), m.axis(shape)
    what = m.r.randrange(7)
    if what < 2:  # NumPy's quick sort of many float16 is not always in order
        return f"xp.sort({a}, axis={axis}{', kind=' + repr('stable') if dtype == 'float16' else ''})", equal
    if what < 4:
        return f"xp.argsort({a}, axis={axis}, kind='stable')", equal
    kth = m.r.randrange(shape[axis])
    if what == 4:
        return f"xp.partition({a}, {kth}, axis={axis}).take({kth}, axis={axis})", equal
    if what == 5:
        return (
            f"xp.take_along_axis({a}, xp.argpartition({a}, {kth}, axis={axis}), {axis}).take({kth}, axis={axis})",
            equal,
        )
    n = m.shape(1)
    return f"xp.lexsort(({m.array(n, 'int32')}, {m.array(n, m.r.choice(TYPES))}))", equal


def scan(m):
    shape = m.shape()
    a, axis = m.array(shape, m.r.choice(TYPES)), m.axis(shape)
    what = m.r.choice(
        ["cumsum", "cumsum", "cumprod", "nancumsum", "maximum", "minimum", "logical_or", "add", "reduceat", "diff"]
    )
    if what in ("maximum", "minimum", "logical_or", "add"):
        return f"xp.{what}.accumulate({a}, axis={axis})", close
    if what == "reduceat":
        cuts = sorted(m.r.randrange(shape[axis]) for _ in range(m.r.randrange(1, 6)))
        return f"xp.add.reduceat({a}, {cuts}, axis={axis})", close
    if what == "cumprod":
        return f"xp.cumprod({a}[..., :9] / 4, axis={axis})", close
    return f"xp.{what}({a}, axis={axis})", close


def search(m):
    dtype = m.r.choice([t for t in TYPES if t != "bool"])
    n, k = m.shape(1), m.shape(1)
    what = m.r.randrange(8)
    if what < 2:
        return (
            f"xp.searchsorted(xp.sort({m.array(n, dtype)}), {m.array(k, dtype)}, '{m.r.choice(['left', 'right'])}')",
            equal,
        )
    if what == 2:
        return (
            f"xp.unique({m.array(m.shape(), dtype)}, return_index=True, return_inverse=True, return_counts=True)",
            equal,
        )
    if what == 3:
        return f"xp.isin({m.array(n, dtype)}, {m.array((m.r.choice(LENGTHS),), dtype)})", equal
    if what == 4:
        return f"xp.bincount(abs({m.array(n, 'int64')}), {m.array(n, 'float64')}, {m.r.randrange(40)})".replace(
            "[::-1]", ""
        ), close
    if what == 5:
        return f"xp.histogram({m.array(n, 'float64')}, bins={m.r.choice([1, 10, 100])})", close
    if what == 6:
        return f"xp.digitize({m.array(n, 'float32')}, xp.sort({m.array((9,), 'float32')}))", equal
    return (
        f"xp.{m.r.choice(SETS)}({m.array(n, dtype)}, {m.array(k, dtype)})",
        equal,
    )


def select(m):
    shape = m.shape()
    dtype = m.r.choice(TYPES)
    a, mask, axis = m.array(shape, dtype), m.array(shape, "bool"), m.axis(shape)
    rows = [m.r.randrange(-shape[axis], shape[axis]) for _ in range(m.r.choice([1, 3, 40]))]
    real = [f"xp.percentile({a}, {m.r.randrange(101)}, axis={axis})", f"xp.median({a}, axis={axis})"]
    exact = [
        f"xp.nonzero({a})",
        f"xp.argwhere({a})",
        f"{a}[{mask}]",
        f"xp.extract({mask}, {a})",
        f"xp.flatnonzero({mask})",
    ]
    exact += [f"xp.compress({mask}.ravel()[:{shape[axis]}], {a}, axis={axis})", f"xp.take({a}, {rows}, axis={axis})"]
    exact += [
        f"xp.count_nonzero({a}, axis={axis})",
        f"xp.argmax({a}, axis={axis})",
        f"xp.roll({a}, {rows[0]}, axis={axis})",
    ]
    exact += [f"xp.choose({mask}.astype('int64'), ({a}, {a}[::-1]))", f"xp.where({mask}, {a}, {a}[::-1])"]
    if dtype not in ("bool", "float16", "complex64", "complex128") and m.r.random() < 0.3:
        return m.r.choice(real), close
    return m.r.choice(exact), equal


def fold(m):
    shape = m.shape()
    dtype = m.r.choice(TYPES)
    a, axis = m.array(shape, dtype), m.axis(shape)
    names = ["sum", "mean", "any", "all", "max", "min", "argmin", "count_nonzero"]
    names += ["var", "std", "ptp", "logaddexp.reduce"] if dtype.startswith("float") else []
    return f"xp.{m.r.choice(names)}({a}, axis={m.r.choice([axis, 'None']) if '.' not in names[-1] else axis})", close


KINDS = {f.__name__: f for f in (transform, algebra, product, sort, scan, search, select, fold)}

# ---- what must hold


def unit(x):
    """The last place of the type, in units of one."""
    return float(np.finfo(x.dtype).eps) if x.dtype.kind in "fc" else 0.0


def alike(want, got):
    return want.shape == got.shape and want.dtype == got.dtype


def equal(want, got, arrays=None):
    return alike(want, got) and np.array_equal(want, got, equal_nan=want.dtype.kind in "fc")


def near(want, got, of):
    """Numbers that are apart by rounding, of arithmetic with elements as large as `of`."""
    size = np.max(np.abs(of[np.isfinite(of)]), initial=0) + 1
    same = (want == got) | (np.isnan(want) & np.isnan(got)) if want.dtype.kind in "fc" else want == got
    with np.errstate(all="ignore"):
        return bool(np.all(same | (np.abs(want - got) <= CLOSE * max(unit(want), unit(of)) * float(size))))


def close(want, got, arrays=None):
    if want.dtype.kind not in "fc":
        return equal(want, got)
    return alike(want, got) and near(want, got, want)


def turned(x):
    return np.conj(np.swapaxes(x, -1, -2))


def orthonormal(q):
    return near(
        turned(q) @ q, np.broadcast_to(np.eye(q.shape[-1], dtype=q.dtype), (*q.shape[:-2], *[q.shape[-1]] * 2)), q
    )


def factors(want, got, arrays):
    (wq, wr), (q, r) = want, got
    return alike(wq, q) and alike(wr, r) and orthonormal(q) and near(wq @ wr, q @ r, wr) and triangular(wr, r, arrays)


def triangular(want, got, arrays):
    return alike(want, got) and near(np.abs(want), np.abs(got), want)


def singular(want, got, arrays):
    (wu, ws, wv), (u, s, v) = want, got
    n = s.shape[-1]
    back = (u[..., :n] * s[..., None, :]) @ v[..., :n, :], (wu[..., :n] * ws[..., None, :]) @ wv[..., :n, :]
    return (
        alike(wu, u) and alike(wv, v) and close(ws, s) and orthonormal(u) and orthonormal(turned(v)) and near(*back, ws)
    )


def spectral(want, got, arrays):
    (ww, wv), (w, v) = want, got
    back = (v * w[..., None, :]) @ turned(v), (wv * ww[..., None, :]) @ turned(wv)
    return alike(wv, v) and close(ww, w) and orthonormal(v) and near(*back, ww)


def spectrum(want, got, arrays):
    """Sets of numbers: of an ill conditioned matrix they are good to half the digits."""
    if want.shape != got.shape or want.dtype.char.lower() != got.dtype.char.lower():
        return False
    apart = np.abs(want[..., :, None] - got[..., None, :]).min(axis=-1)
    return bool(np.all(apart <= 4 * unit(want) ** 0.5 * (1 + np.abs(want).max(initial=0))))


def eigen(want, got, arrays):
    (ww, wv), (w, v) = want, got
    return spectrum(ww, w, arrays) and wv.shape == v.shape and bool(np.all(np.isfinite(v)))


# ---- running


def make(seed, kinds):
    m = Maker(seed)
    text, check = KINDS[m.r.choice(kinds)](m)
    return Call(text, m.arrays, check)


def outcome(call, xp):
    """A tuple of arrays, or the kind of error."""
    env = {"xp": xp, **{k: v if xp is np else tt.asarray(v) for k, v in call.arrays.items()}}
    try:
        value = eval(call.text, env)
        return tuple(np.asarray(v) for v in value) if isinstance(value, (tuple, list)) else np.asarray(value)
    except ERRORS as e:
        return next(kind for kind in ERRORS if isinstance(e, kind)).__name__


def difference(call):
    """What is wrong with a call, or None."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        want, got = outcome(call, np), outcome(call, tt)
        if isinstance(want, str) or isinstance(got, str):
            right = isinstance(want, str) and isinstance(got, str) and want == got
        elif isinstance(want, tuple) and call.check in (close, equal):
            right = len(want) == len(got) and all(map(call.check, want, got))
        else:
            right = call.check(want, got, call.arrays)
    if right:
        return None
    made = ", ".join(f"{k}: {v.dtype}{v.shape}" for k, v in call.arrays.items())
    return f"{call.text}\n    {made}\n    NumPy {brief(want)}\n    tutti {brief(got)}"


def brief(x):
    if isinstance(x, tuple):
        return "; ".join(map(brief, x))
    return x if isinstance(x, str) else f"{x.dtype}{x.shape} {x.ravel()[:6].tolist()}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("first", type=int)
    parser.add_argument("count", type=int)
    parser.add_argument("--kinds", default=",".join(KINDS), help="names with commas between")
    given = parser.parse_args()
    kinds, found = given.kinds.split(","), 0
    for seed in itertools.count(given.first) if given.count == 0 else range(given.first, given.first + given.count):
        what = difference(make(seed, kinds))
        if what:
            print(f"seed {seed}: {what}", flush=True)
            found += 1
    print(f"{found} of {given.count} calls differ")
    return found > 0


if __name__ == "__main__":
    sys.exit(main())
