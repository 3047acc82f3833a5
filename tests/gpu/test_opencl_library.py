"""The library on an OpenCL device, PoCL's where there is no other, beside the host: sorts, scans, selection, counts,
sums at places, draws and products. Nothing comes down but the results. On a processor the host's functions do them; a
share is done once more by the texts that GPUs get, all of them with TUTTI_OPENCL_TEXTS=1."""

import os
import subprocess
import sys

import numpy as np
import pytest
import tutti as tt

DEVICES = [d for d in map(str, tt.devices()) if d.startswith("opencl")]
if not DEVICES:
    pytest.skip("no OpenCL device (on Debian and Ubuntu pocl-opencl-icd makes one of the CPU)", allow_module_level=True)

DEVICE = DEVICES[0]
DTYPES = "bool int8 uint64 float16 float32 complex128".split()
SIZES = [0, 1, 2, 255, 4096, 4097, 20001]  # around a tile, and several


def values(dtype, shape, seed=0):
    r = np.random.default_rng(seed)
    x = r.standard_normal(shape) * 20
    if dtype.startswith("complex"):
        x = np.round(x) + 1j * np.round(r.standard_normal(shape) * 3)
    x = (x > 0) if dtype == "bool" else (abs(x) if dtype[0] == "u" else x).astype(dtype)
    if dtype[0] in "fc" and x.size > 5:
        x.reshape(-1)[3:6] = np.nan, -0.0, 0.0
    return x


def both(work, *arrays, downloads=None):
    """Results on the host and there; so many arrays came down meanwhile, one for each that is not empty."""
    out = []
    for device in ("cpu", DEVICE):
        with tt.device(device), np.errstate(all="ignore"):
            x = [tt.array(a) for a in arrays]
            for a in x:
                np.asarray(a + a if a.dtype != bool else ~a)  # they lie there now
            before = tt.ledger()["downloads"]
            y = work(*x)
            out.append([np.asarray(a) for a in (y if isinstance(y, (list, tuple)) else [y])])
            came = tt.ledger()["downloads"] - before
    assert came <= (sum(a.size > 0 for a in out[1]) if downloads is None else downloads)
    return out


def same(work, *arrays, downloads=None):
    for want, got in zip(*both(work, *arrays, downloads=downloads), strict=True):
        assert want.dtype == got.dtype and want.shape == got.shape
        assert want.tobytes() == got.tobytes()


def close(work, *arrays, tol):
    for want, got in zip(*both(work, *arrays), strict=True):
        assert want.dtype == got.dtype and want.shape == got.shape
        np.testing.assert_allclose(got, want, rtol=tol, atol=tol)


# Compilers of OpenCL take long, so each type has its kernels once: for several sizes, and rows of some.
@pytest.mark.parametrize("dtype", DTYPES)
def test_sorts(dtype):
    for n in SIZES:
        same(tt.sort, values(dtype, n))
    same(lambda x: tt.sort(x, axis=1), values(dtype, (300, 17)))
    same(lambda x: tt.argsort(x, axis=0, stable=True), values(dtype, (4099, 3)))


@pytest.mark.parametrize("dtype", ["int64", "float32"])
def test_places_of_a_sort(dtype):
    for n in SIZES:
        same(lambda x: tt.argsort(x, stable=True), values(dtype, n))
    same(lambda x: tt.lexsort([x[0], x[1]]), values(dtype, (2, 3000)), downloads=1)


@pytest.mark.parametrize("dtype", ["bool", "int64", "float16", "float32", "complex64", "complex128"])
def test_selection(dtype):
    for n in SIZES:
        same(lambda x: tt.nonzero(x)[0], values(dtype, n))
        same(lambda x: x[x != 0], values(dtype, n))
    same(lambda x: tt.nonzero(x), values(dtype, (70, 90)))


@pytest.mark.parametrize("dtype", ["int32", "complex64"])
def test_distinct_elements(dtype):
    for n in SIZES:
        x = values(dtype, n)
        same(tt.unique, x)
        same(lambda x: tt.unique(x, return_index=True, return_inverse=True, return_counts=True), x)


@pytest.mark.parametrize("dtype", DTYPES)
def test_scans(dtype):
    x = values(dtype, 20001)
    if dtype[0] in "fc":
        x = np.nan_to_num(x, nan=1)
    for n in SIZES[:5]:
        same(tt.cumsum, x[:n]) if n <= 255 or dtype[0] not in "fc" else None
    tol = {"float16": 1e-2, "float32": 1e-4, "complex64": 1e-4}.get(dtype, 1e-12)
    (close if dtype[0] in "fc" else same)(tt.cumsum, x, **({"tol": tol * 1000} if dtype[0] in "fc" else {}))
    if not dtype.startswith("complex"):
        for n in SIZES:
            same(tt.maximum.accumulate, values(dtype, n))
    same(lambda x: tt.cumsum(x, axis=0), x[:20000].reshape(40, 500))
    same(lambda x: tt.cumsum(x, axis=1), x[:20000].reshape(400, 50))


def test_counts():
    i, w = np.random.default_rng(3).integers(0, 50, 30001), values("float64", 30001, 4)
    w = np.nan_to_num(w)
    for n in (1, 2, 512, 513, 30001):
        same(lambda i: tt.bincount(i), i[:n])
        same(lambda i, w: tt.bincount(i, w), i[:n], w[:n])
    same(lambda w: tt.histogram(w, bins=40, range=(-2, 2))[0], w)
    same(lambda w, e: tt.histogram(w, bins=e)[0], w, np.array([-1, 0, 0.3, 2]), downloads=2)  # the host reads edges
    for dtype in ("float16", "float64"):
        same(lambda a, x: tt.searchsorted(a, x), np.sort(values(dtype, 999)), values(dtype, 777, 1))
    same(lambda x, n: tt.repeat(x, n), w[:9000], i[:9000] % 4, downloads=3)


@pytest.mark.parametrize("dtype", ["int64", "float32"])
def test_folds_at_places(dtype):
    def at(x, i, v):
        y = x.copy()
        tt.add.at(y, i, v)
        z = x.copy()
        tt.maximum.at(z, i, v)
        return [y, z]

    i = np.random.default_rng(5).integers(0, 60, 9001)
    v = np.nan_to_num(values(dtype, 9001, 6))
    for n in (1, 255, 9001):
        same(at, np.zeros(60, dtype), i[:n], v[:n], downloads=4)  # and the least and the greatest index


def test_reductions_of_complex_numbers():
    x = np.nan_to_num(values("complex64", 5000))
    same(lambda x: [x.max(), x.argmin(), x[:300].prod()], x)


@pytest.mark.parametrize("dtype", ["bool", "int64", "float16", "float32", "float64", "complex64"])
def test_products(dtype):
    tol = {"float16": 2e-2, "float32": 1e-4, "complex64": 1e-4}.get(dtype, 1e-12)
    check = same if dtype[0] in "bi" else lambda work, *a: close(work, *a, tol=tol * 1000)
    for m, k, n in [(1, 1, 1), (97, 33, 129), (64, 31, 64), (2, 300, 5), (200, 70, 140)]:
        a, b = np.nan_to_num(values(dtype, (m, k))), np.nan_to_num(values(dtype, (k, n), 1))
        check(lambda a, b: a @ b, a, b)
        check(lambda a, b: a.T @ b.T, a.T.copy(), b.T.copy())
    a, b = np.nan_to_num(values(dtype, (3, 40, 50))), np.nan_to_num(values(dtype, (3, 50, 20), 1))
    check(lambda a, b: a @ b, a, b)


def test_draws():
    def draw():
        tt.random.seed(5)
        r = tt.random
        return [r.standard_gamma(2.0, 999), r.poisson(30.0, 999), r.binomial(10, 0.3, 999), r.vonmises(0.0, 2.0, 999)]

    same(draw)


def test_stores_into_the_middle():
    def store(x):
        y = x.copy()
        y[1:-1, 2:-2] = x[1:-1, 2:-2] * 2
        return y

    same(store, np.nan_to_num(values("float32", (500, 400))))
    same(store, values("uint8", (50, 41)))


def random_program(r):
    """A few calls, each of what the one before gives."""
    n = int(r.choice([1, 7, 100, 4095, 4096, 4097, 9000, 33000]))
    dtype = str(r.choice(["int32", "float32"]))  # two types: the kernels of others are met above
    known = ["sort", "argsort", "cummax", "pick", "unique", "nonzero", "take", "reverse"]
    steps = [str(r.choice(known)) for _ in range(4)]

    def run(x):
        for step in steps:
            if step == "sort":
                x = tt.sort(x)
            elif step == "argsort":
                x = x[tt.argsort(x, stable=True)]
            elif step == "cummax":
                x = tt.maximum.accumulate(x)
            elif step == "pick":
                x = x[x > 1]
            elif step == "unique":
                x = tt.unique(x)
            elif step == "nonzero":
                x = tt.nonzero(x)[0].astype(x.dtype)
            elif step == "take" and x.size > 3:
                x = x[::3]
            else:
                x = x[::-1]
        return x

    x = np.round(values(dtype, n, int(r.integers(1 << 30))))
    return run, np.nan_to_num(x), steps


@pytest.mark.parametrize("seed", range(8))
def test_random_programs(seed):
    run, x, steps = random_program(np.random.default_rng(seed))
    same(run, x, downloads=1 + 2 * steps.count("argsort"))  # the least and the greatest of each array of indices


def test_texts_of_gpus_on_a_processor():
    if os.environ.get("TUTTI_OPENCL_TEXTS") == "1":
        pytest.skip("all of this file is run with them already")
    share = "(test_sorts or test_scans or test_products) and float32 or test_selection and int64"
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", __file__, "-k", share]
    ran = subprocess.run(
        command, env={**os.environ, "TUTTI_OPENCL_TEXTS": "1"}, capture_output=True, text=True, timeout=300, check=False
    )
    assert ran.returncode == 0, ran.stdout[-3000:] + ran.stderr[-1000:]
    assert ran.stdout.split()[0] == "...."  # all four of the share


def test_explain_tells_whose_function_it_is():
    processor = str(tt.device(DEVICE).label).startswith(("cpu", "pthread"))
    if not processor or os.environ.get("TUTTI_OPENCL_TEXTS") == "1":
        pytest.skip("not a processor whose rows the host does")
    with tt.device(DEVICE):
        text = str(tt.explain(tt.sort(tt.array(values("float32", 5000)))))
    assert "by the host's function where the operands lie: the device is the processor" in text
