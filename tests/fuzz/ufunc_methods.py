"""Random calls of ufunc.accumulate, reduceat, reduce and outer against NumPy: any axis, types, views, empty arrays,
places that go down or stay.

    python tests/fuzz/ufunc_methods.py FIRST COUNT     each that differs is shown
"""

import sys
import warnings

import numpy as np
import tutti as tt

warnings.simplefilter("ignore")
OPS = (
    "add subtract multiply divide maximum minimum fmax fmin bitwise_and bitwise_or bitwise_xor logical_and logical_or "
    "logical_xor left_shift hypot floor_divide gcd lcm logaddexp"
).split()
KINDS = "bool int8 uint8 int16 int32 uint32 int64 uint64 float16 float32 float64 complex64 complex128".split()
LENGTHS = (0, 1, 2, 3, 7, 8, 17, 33, 64, 130)
# Sums are rounded in another order than NumPy's.
NEAR = {"float16": 2e-2, "float32": 2e-5, "float64": 1e-12, "complex64": 2e-5, "complex128": 1e-12}


def numbers(rng, kind, shape):
    if kind == "bool":
        return rng.random(shape) < 0.5
    if kind[0] in "iu":
        return rng.integers(0, 4, shape).astype(kind)
    values = rng.uniform(0.5, 1.5, shape)
    return (values + (1j * rng.uniform(0.5, 1.5, shape) if kind[0] == "c" else 0)).astype(kind)


def view_of(rng, a):
    """How the array is looked at: a function that treats NumPy's and ours alike."""
    way = rng.integers(5)
    if way == 1:
        return lambda x: x[::-1]
    if way == 2:
        return lambda x: x.T
    if way == 3:
        return lambda x: x[..., ::2]
    if way == 4 and a.ndim > 1:
        return lambda x: x[1:]
    return lambda x: x


def arguments(rng, method, shape):
    axis = int(rng.integers(-len(shape), len(shape)))
    n = shape[axis]
    if method == "reduceat":
        few = int(rng.choice((1, 2, 5, 20)))
        places = rng.integers(0, max(n, 1), few)
        return (np.sort(places) if rng.random() < 0.5 else places,), {"axis": axis}
    if method == "reduce" and rng.random() < 0.3:
        axis = None if rng.random() < 0.5 else (0, len(shape) - 1) if len(shape) > 1 else (0,)
    names = {"axis": axis}
    if method == "reduce" and rng.random() < 0.4:
        names["keepdims"] = True
    if method == "reduce" and rng.random() < 0.2:
        names["initial"] = 1
    if rng.random() < 0.2:
        names["dtype"] = str(rng.choice(("int64", "float64", "complex128", "float32")))
    return (), names


def outcome(work):
    try:
        return np.asarray(work())
    except (TypeError, ValueError, IndexError) as e:
        return type(e).__name__


def difference(seed):
    """None, or what was called and what came of it, there and here."""
    rng = np.random.default_rng(seed)
    op, kind = str(rng.choice(OPS)), str(rng.choice(KINDS))
    method = str(rng.choice(("accumulate", "reduceat", "reduce", "outer")))
    shape = tuple(int(n) for n in rng.choice(LENGTHS[:8] if method == "outer" else LENGTHS, rng.integers(1, 4)))
    a = numbers(rng, kind, shape)
    look = view_of(rng, a)
    ours = tt.asarray(a) if rng.random() < 0.5 else tt.asarray(a[:]) + numbers(rng, kind, ())
    a = ours.numpy()
    if method == "outer":
        b = numbers(rng, kind, (int(rng.integers(1, 6)),))
        given, names = (look(a), b), {}
        mine = (look(ours), tt.asarray(b))
    else:
        extra, names = arguments(rng, method, look(a).shape)
        given, mine = (look(a), *extra), (look(ours), *extra)
    with np.errstate(all="ignore"):
        want = outcome(lambda: getattr(getattr(np, op), method)(*given, **names))
        got = outcome(lambda: getattr(getattr(tt, op), method)(*mine, **names))
    words = f"{seed}: {op}.{method} of {kind}{look(a).shape} {given[1:]} {names}"
    if isinstance(want, str) or isinstance(got, str):
        same = isinstance(want, str) and isinstance(got, str)
        return None if same else f"{words}\n  NumPy {want!r}\n  ours  {got!r}"
    if want.dtype != got.dtype or want.shape != got.shape:
        return f"{words}\n  NumPy {want.dtype}{want.shape}\n  ours  {got.dtype}{got.shape}"
    if want.dtype == "float16" and op in ("multiply", "divide", "hypot", "logaddexp"):
        return None  # NumPy rounds to 11 bits at each step, ours once: after a hundred steps nothing can be compared
    near = NEAR.get(str(want.dtype), 0)
    with np.errstate(all="ignore"):
        same = np.array_equal(want, got, equal_nan=near > 0)
        same = same or np.allclose(got, want, rtol=near, atol=near, equal_nan=True)
    return None if same else f"{words}\n  NumPy {want!r}\n  ours  {got!r}"


def main():
    first, count = map(int, sys.argv[1:])
    found = [d for d in map(difference, range(first, first + count)) if d]
    print(*found, f"{len(found)} of {count} calls differ", sep="\n")
    return len(found) > 0


if __name__ == "__main__":
    sys.exit(main())
