"""Random calls of ufunc.at against NumPy: places that come often, from the end and not at all, rows and elements,
second operands of every shape that broadcasts, on whatever device the arrays lie."""

import numpy as np
import pytest
import tutti as tt

OPS = (
    "add subtract multiply maximum minimum bitwise_and bitwise_or bitwise_xor divide hypot fmax arctan2 logical_and "
    "left_shift floor_divide negative sqrt"
).split()
KINDS = "bool int8 uint8 int32 int64 uint64 float16 float32 float64 complex64 complex128".split()
SHAPES = ((1,), (7,), (40,), (1000,), (3, 1), (5, 3), (6, 33), (4, 2, 5))
# What is rounded at each step there and once here (16 bits), or computed by another function.
NEAR = {"float16": 4e-3, "float32": 2e-6, "float64": 1e-14, "complex64": 2e-6, "complex128": 1e-14}


def numbers(rng, kind, shape):
    if kind == "bool":
        return rng.random(shape) < 0.5
    if kind[0] in "iu":
        return rng.integers(1, 5, shape).astype(kind)
    return (rng.standard_normal(shape) + (1j * rng.standard_normal(shape) if kind[0] == "c" else 0)).astype(kind)


def places(rng, n):
    few = rng.integers(1, n + 1)
    shape = (3, 40) if rng.random() < 0.2 else (rng.choice((0, 1, 5, 37, 300)),)
    return rng.integers(-few, few, shape)


def outcome(work):
    try:
        with np.errstate(all="ignore"):
            return work()
    except Exception as e:  # noqa: BLE001 - what is refused there is refused here
        return type(e)


def program(seed):
    rng = np.random.default_rng(seed)
    op, kind, shape = rng.choice(OPS), str(rng.choice(KINDS)), SHAPES[rng.integers(len(SHAPES))]
    a, at = numbers(rng, kind, shape), places(rng, shape[0])
    second = numbers(rng, kind, (at.shape + shape[1:], shape[1:], (), at.shape + shape[1:])[rng.integers(4)])
    more = [second] if getattr(np, op).nin == 2 else []

    def theirs():
        y = a.copy()
        getattr(np, op).at(y, at, *more)
        return y

    def ours():
        y = tt.asarray(a).copy()
        getattr(tt, op).at(y, tt.asarray(at), *map(tt.asarray, more))
        return np.asarray(y)

    return f"{op} {kind} {shape} at {at.shape} {second.shape}", kind, outcome(theirs), outcome(ours)


@pytest.mark.parametrize("first", range(0, 400, 100))
def test_at_places(first):
    for seed in range(first, first + 100):
        what, kind, want, got = program(seed)
        if isinstance(want, type):
            assert got is want, (seed, what, want, got)
            continue
        assert isinstance(got, np.ndarray), (seed, what, got)
        tolerance = NEAR.get(kind, 0)
        scale = np.max(np.abs(want), initial=0, where=np.isfinite(want)) if tolerance else 0
        assert want.dtype == got.dtype
        np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance * scale, err_msg=f"{seed} {what}")


def test_many_of_one_place():
    """Sums of floats keep their order, however many there are of a place."""
    rng = np.random.default_rng(0)
    for n, width in ((100_000, 1), (5000, 3), (5000, 40)):
        a, at = rng.random((4, width)), (rng.random(n) ** 4 * 4).astype(int)
        b = rng.random((n, width))
        if width == 1:
            a, b = a[:, 0], b[:, 0]
        want, got = a.copy(), tt.asarray(a)
        np.add.at(want, at, b)
        tt.add.at(got, tt.asarray(at), tt.asarray(b))
        assert np.array_equal(np.asarray(got), want)
