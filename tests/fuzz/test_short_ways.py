"""What has a way of its own where there is little to do, or where vectors do it, against NumPy and the long way."""

import os
import subprocess
import sys

import numpy as np
import pytest
import tutti as tt

KINDS = (
    "bool",
    "int8",
    "uint8",
    "int16",
    "uint16",
    "int32",
    "uint32",
    "int64",
    "uint64",
    "float16",
    "float32",
    "float64",
)
LENGTHS = (1, 2, 3, 7, 15, 16, 17, 31, 33, 63, 64, 65, 127, 129, 255, 257, 300, 1000, 1025, 2049, 5000, 8193, 70_000)


def rows_of(rng):
    """Rows with many equals, all equal or infinite ones, and NaNs."""
    kind, n = str(rng.choice(KINDS)), int(rng.choice(LENGTHS))
    x = rng.integers(-(least := int(rng.choice((0, 3, 100)))), least + 2, (int(rng.choice((1, 2, 5))), n)).astype(kind)
    if kind.startswith("float"):
        if rng.random() < 0.2:
            x[:] = -np.inf
        if rng.random() < 0.4:
            x[rng.integers(0, len(x)), rng.integers(0, n)] = np.nan
        if rng.random() < 0.3:
            x[x == 0] = -0.0
    return x


def extrema(seed):
    x = rows_of(np.random.default_rng(seed))
    for name in ("argmax", "argmin"):
        for axis in (1, None):
            want, got = getattr(np, name)(x, axis=axis), getattr(tt, name)(tt.asarray(x), axis=axis)
            if not np.array_equal(want, np.asarray(got)):
                return f"{seed}: {name} of {x.dtype}{x.shape}, axis {axis}: {want} in NumPy, {got} here"
    return None


def partition(seed):
    rng = np.random.default_rng(seed)
    x = rows_of(rng)
    n = x.shape[1]
    kth = int(rng.integers(-n, n)) if rng.random() < 0.8 else [int(k) for k in rng.integers(0, n, 3)]
    place, ordered = tt.argpartition(tt.asarray(x), kth, axis=1).numpy(), np.sort(x, axis=1)
    right = np.array_equal(np.sort(place, axis=1), np.broadcast_to(np.arange(n), x.shape))
    got, same = np.take_along_axis(x, place, 1), lambda a, b: np.array_equal(a, b, equal_nan=x.dtype.kind == "f")
    for k in np.atleast_1d(kth) % n:
        right &= same(got[:, k], ordered[:, k]) and same(np.sort(got[:, :k], axis=1), ordered[:, :k])
    return None if right else f"{seed}: argpartition of {x.dtype}{x.shape} at {kth}"


def convolution(seed):
    rng = np.random.default_rng(seed)
    n, m, kind = (
        int(rng.choice(LENGTHS[:18])),
        int(rng.choice((1, 2, 3, 8, 31, 32, 64, 65, 256, 257, 520))),
        "f4 f8".split(),
    )
    name, mode = str(rng.choice(("convolve", "correlate"))), str(rng.choice(("valid", "same", "full")))
    a, v = (rng.standard_normal(k).astype(str(kind[seed % 2])) for k in (n, m))
    if rng.random() < 0.2:
        v[rng.integers(0, m)] = np.inf
    x, y = tt.asarray(a), tt.asarray(v)
    got = []
    for limit in (-1, 0):  # at once, and by a kernel
        tt.set_eager(limit)
        got.append(getattr(tt, name)(x[::-1], y, mode).numpy())
    tt.set_eager(-1)
    near = 1e-3 if seed % 2 == 0 else 1e-9
    with np.errstate(all="ignore"):
        right = np.allclose(got[0], getattr(np, name)(a[::-1], v, mode), rtol=near, atol=near, equal_nan=True)
    same = np.array_equal(*got, equal_nan=True)
    return None if right and same else f"{seed}: {name} of {a.dtype}, {n} and {m}, {mode}: {got}"


def found(first, count):
    tries = (extrema, partition, convolution)
    return [d for seed in range(first, first + count) for d in [f(seed) for f in tries] if d]


def test_short_ways(way):
    assert not found(0, 150)


@pytest.mark.parametrize("level", [0, 3, 4])
def test_levels_of_vectors(level):
    """The same with the vectors of older processors; three threads share long rows."""
    env = os.environ | {
        "TUTTI_CPU_LEVEL": str(level),
        "TUTTI_NUM_THREADS": "3",
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    text = "import test_short_ways as t\nassert not (d := t.found(1000, 100)), d"
    r = subprocess.run([sys.executable, "-c", text], env=env, capture_output=True, text=True)
    assert r.returncode == 0, r.stderr


def test_places_that_are_none():
    for kth in (True, np.array([True]), np.zeros(0, bool), 1.0, [], np.zeros(0)):
        for name in ("partition", "argpartition"):
            with pytest.raises((TypeError, ValueError)) as theirs:
                getattr(np, name)(np.arange(4), kth)
            with pytest.raises(theirs.type, match=str(theirs.value)):
                getattr(tt, name)(tt.arange(4), tt.asarray(kth) if isinstance(kth, np.ndarray) else kth)
