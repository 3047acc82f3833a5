"""python -m tutti check: what a device computes beside what the CPU does, bit for bit, and a report to send."""

import itertools
import platform
import time

import numpy as np

import tutti as tt

SIZES = (1, 31, 1000, 70001)
DTYPES = ("bool", "int8", "int32", "int64", "uint8", "uint64", "float16", "float32", "float64", "complex64")


def _values(dtype, shape, seed):
    r = np.random.default_rng(seed)
    x = r.standard_normal(shape) * 5
    if dtype == "bool":
        return x > 0
    if dtype.startswith("complex"):
        return (x + 1j * r.standard_normal(shape)).astype(dtype)
    x = abs(x) if dtype.startswith("u") else x
    flat = x.reshape(-1)
    if dtype.startswith("float"):
        special = [0.0, -0.0, np.nan, np.inf, -np.inf, 1e-41, 6e4, 1.0]
        flat[: len(special)] = special[: flat.size]
    return x.astype(dtype)


def _same(want, got):
    """One array, but for the signs and bits of NaNs."""
    if want.dtype != got.dtype or want.shape != got.shape:
        return False
    nan = want != want
    return np.array_equal(nan, got != got) and np.where(nan, 0, want).tobytes() == np.where(nan, 0, got).tobytes()


def _elementwise():
    """Each elementwise function, of each dtype that it takes."""
    for name, dtype in itertools.product(tt.ops(), DTYPES):
        f = getattr(tt, name, None) or getattr(tt.special, name, None)
        if f is not None:
            yield f"{name} {dtype}", (lambda *a, f=f: f(*a)), dtype, (1000,)


def _reductions():
    names = ("sum", "prod", "max", "min", "mean", "any", "all", "argmax", "argmin", "std")
    for name, dtype in itertools.product(names, ("int32", "float32", "float64")):
        for shape, axis in (((70001,), None), ((300, 257), 0), ((300, 257), 1), ((5, 6, 700), (0, 2))):
            if name.startswith("arg") and isinstance(axis, tuple):
                continue
            call = lambda x, y, name=name, axis=axis: getattr(tt, name)(x + 1, axis=axis)  # noqa: E731
            yield f"{name} {dtype}{shape} axis {axis}", call, dtype, shape


def _places():
    def stored(x, y):
        out = x.copy()
        out[1::2, ::-1] = y[::2] + x[::2]
        out[3] += out[4]
        return out

    def picked(x, y):
        return x[tt.array([5, 0, -1, 5])] + y[:4]

    for dtype in ("int8", "float32", "float64", "complex64"):
        yield f"stores {dtype}", stored, dtype, (40, 300)
        yield f"places {dtype}", picked, dtype, (40, 300)
        yield f"transposed {dtype}", (lambda x, y: x.T.copy()), dtype, (123, 257)
        yield f"slices {dtype}", (lambda x, y: x[::-1, 5:200:7] * y[:, :28]), dtype, (40, 300)


def _together():
    def softmax(x, y):
        e = tt.exp(x - x.max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)

    for dtype, n in itertools.product(("float32", "float64"), SIZES):
        yield f"chain {dtype}[{n}]", (lambda x, y: tt.where(x > y, x * 2 + y, y - x) ** 2), dtype, (n,)
    for dtype in ("float32", "float64"):
        yield f"softmax {dtype}", softmax, dtype, (37, 500)
        yield f"standardised {dtype}", (lambda x, y: (x - x.mean(axis=0)) / x.std(axis=0)), dtype, (500, 37)


def _library():
    for dtype in ("int32", "float32", "float64"):
        yield f"sort {dtype}", (lambda x, y: tt.sort(x + y, axis=1)), dtype, (30, 1000)
        yield f"cumsum {dtype}", (lambda x, y: tt.cumsum(x + 1, axis=0)), dtype, (300, 30)


def _outcome(call, arrays, device):
    """What the call gives there, or the type of its error."""
    try:
        with tt.device(device), np.errstate(all="ignore"):
            return np.asarray(call(*[tt.array(a) for a in arrays]))
    except Exception as e:
        return type(e)


def _arity(call, arrays, device):
    """How many of the arrays a function takes: an error of every number is the function's answer."""
    for n in (2, 1):
        want = _outcome(call, arrays[:n], device)
        if want is not TypeError:
            return n, want
    return 2, TypeError


def check(device, minutes=5, out=print):
    """Compare a device with the CPU, and tell.

    Parameters
    ----------
    device : str
        Its name, "opencl:0".
    minutes : float, optional
        How long at most.
    out : callable, optional
        Takes each line of the report.

    Returns
    -------
    int
        How many comparisons differ.
    """
    import warnings

    warnings.simplefilter("ignore")
    d = tt.device(device)
    out(f"tutti {tt.__version__}, Python {platform.python_version()}, {platform.platform()}")
    out(f"{d}: {d.label}; " + ", ".join(f"{k} {v}" for k, v in d.properties.items() if v not in ("", None)))
    end, differing = time.monotonic() + 60 * minutes, 0
    for name, group in (
        ("together", _together),
        ("reductions", _reductions),
        ("views and places", _places),
        ("library", _library),
        ("elementwise", _elementwise),
    ):
        begun, done, wrong, left = time.monotonic(), 0, 0, 0
        before = tt.ledger()["device_launches"]
        for case, call, dtype, shape in group():
            if time.monotonic() > end:
                left += 1
                continue
            arrays = [_values(dtype, shape, seed) for seed in (1, 2)]
            n, want = _arity(call, arrays, "cpu")
            if want is TypeError:  # not a dtype of this function
                continue
            got = _outcome(call, arrays[:n], device)
            done += 1
            if isinstance(want, type) or isinstance(got, type):
                good = want is got
            else:
                good = _same(want, got)
            if not good:
                wrong += 1
                out(f"  differs: {case}" + (f" ({got.__name__})" if isinstance(got, type) else ""))
        launches = tt.ledger()["device_launches"] - before
        out(
            f"{name}: {done} compared, {wrong} differ, {launches} launches there, {time.monotonic() - begun:.0f} s"
            + (f"; {left} left out, the time was over" if left else "")
        )
        differing += wrong
    out("the same bits as the CPU" if not differing else f"{differing} differ: please send this report")
    return differing
