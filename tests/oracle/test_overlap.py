"""shares_memory and may_share_memory against NumPy, over views that interleave."""

import random

import numpy as np
import pytest
import tutti as tt


def views(r, a, b):
    """The same random view of both."""
    for _ in range(r.randint(1, 3)):
        kind = r.choice(["slice", "slice", "slice", "type", "part", "turn"])
        if kind == "slice":
            steps = [r.choice([1, 2, 3, 5, -1, -2]) for _ in a.shape]
            items = tuple(slice(r.randint(0, 3), None, s) if s > 0 else slice(None, None, s) for s in steps)
            a, b = a[items], b[items]
        elif kind == "type":
            dtype = r.choice(["uint8", "int32", "float64", "complex128"])
            try:
                a, b = a.view(dtype), b.view(dtype)
            except ValueError:
                continue
        elif kind == "part":
            part = r.choice(["real", "imag"]) if a.dtype.kind == "c" else "real"
            a, b = getattr(a, part), getattr(b, part)
        else:
            a, b = a.T, b.T
    return a, b


@pytest.mark.parametrize("shape", [(200,), (17, 12), (5, 7, 8), (3, 4, 5, 6)])
@pytest.mark.parametrize("dtype", ["uint8", "float32", "complex128"])
def test_random_views(dtype, shape):
    r = random.Random(f"{dtype} {shape}")
    base = np.zeros(shape, dtype)
    ours = tt.asarray(base.copy())
    answers = set()
    for _ in range(300):
        a, x = views(r, base, ours)
        b, y = views(r, base, ours)
        want = np.shares_memory(a, b)
        assert tt.shares_memory(x, y) == want and tt.may_share_memory(x, y) == np.may_share_memory(a, b)
        answers.add((want, np.may_share_memory(a, b)))
    assert {(False, True), (True, True)} <= answers


def test_work():
    a = tt.zeros((97, 89, 83), dtype="uint8")
    x, y = a[::7, ::5, ::3], a[1::7, 2::5, 1::3]
    assert not tt.shares_memory(x, y) and tt.may_share_memory(x, y)
    for work in (-3, "x", 2.5):
        for f in (np.shares_memory, tt.shares_memory, tt.may_share_memory):
            with pytest.raises(ValueError, match="max_work"):
                f(x if f is not np.shares_memory else np.zeros(3), y, max_work=work)
    with pytest.raises(tt.exceptions.TooHardError, match="Exceeded max_work"):
        tt.shares_memory(x, y, max_work=0)
    x, y = a[::7, ::5, ::3], a[1::11, 2::13, 1::8]
    with pytest.raises(np.exceptions.TooHardError, match="Exceeded max_work"):
        tt.shares_memory(x, y, max_work=1)
    assert tt.may_share_memory(x, y, max_work=1) and tt.shares_memory(x, y)


def test_what_shares_nothing():
    a = tt.arange(4)
    assert not tt.shares_memory(a, a.copy()) and not tt.shares_memory(a, a[:0]) and not tt.shares_memory([1], a)
    assert not tt.shares_memory(a, tt.broadcast_to(tt.arange(1), (4,)))
    b = tt.broadcast_to(a, (2**40, 4))
    assert tt.shares_memory(a[1:2], b) and not tt.shares_memory(b[:, ::2], b[:, 1::2])
