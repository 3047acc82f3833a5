"""Random programs on small arrays have the same bits whatever was done at the call: nothing, all, or some of it."""

import random

import numpy as np
import pytest
import tutti as tt

PROGRAMS = 150
STEPS = 40
SHAPES = [(1,), (2,), (7,), (63,), (65,), (300,), (3, 5), (8, 8), (33, 2), (70, 40), (1, 9), (2, 3, 4), (0,), (4, 0)]
TYPES = ["float64", "float32", "int64", "int32", "uint8", "bool", "complex128", "complex64", "float16"]
SPECIAL = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e30]
LIMITS = {"none": lambda rng: 0, "all": lambda rng: 1 << 14, "some": lambda rng: rng.choice([0, 1, 5, 64, 1 << 14])}


def values(rng, shape, dtype):
    x = np.array(
        [rng.choice(SPECIAL) if rng.random() < 0.1 else rng.uniform(-9, 9) for _ in range(int(np.prod(shape)))]
    )
    if np.dtype(dtype).kind in "iub":
        x = np.nan_to_num(x, nan=0, posinf=3, neginf=-3).clip(0 if dtype in ("uint8", "bool") else -9, 9)
    if np.dtype(dtype).kind == "c":
        x = x + 1j * x[::-1]
    return x.astype(dtype).reshape(shape)


def view(rng, x):
    """A part of an array, some other order, or all of it."""
    kind = rng.randrange(6)
    if kind == 0 and x.ndim:
        return x[::-1]
    if kind == 1:
        return x.T
    if kind == 2 and x.ndim:
        return x[..., ::2]
    if kind == 3 and x.ndim:
        return x[..., rng.randrange(x.shape[-1] + 1) :]
    return x


def elementwise(rng, x, y):
    f = rng.choice(["add", "subtract", "multiply", "maximum", "less", "equal", "where", "sqrt", "abs", "exp", "square"])
    if f == "where":
        return tt.where(x != 0, x, y)
    if f in ("sqrt", "abs", "exp", "square"):
        return getattr(tt, f)(x if x.dtype != bool else x.astype("float32"))
    if f == "subtract" and x.dtype == y.dtype == bool:
        f = "add"
    if f in ("maximum", "less") and (x.dtype.kind == "c" or y.dtype.kind == "c"):
        f = "multiply"
    return getattr(tt, f)(x, y)


def folded(rng, x):
    """Sums of floats over one axis of many are folded as their operand lies, so those are in order here."""
    f = rng.choice(["sum", "max", "min", "any", "all", "argmax", "argmin", "prod"])
    if x.size == 0 or (x.dtype.kind == "c" and f not in ("any", "all")):
        return x
    exact = x.dtype.kind in "iub" or f in ("any", "all", "argmax", "argmin", "max", "min")
    if not exact:
        x = tt.ascontiguousarray(x).ravel()
        tt.eval(x)
    axis = rng.choice([None, *range(x.ndim)])
    return getattr(x, f)(axis=axis) if f not in ("sum", "prod") else getattr(x, f)(axis=axis, dtype=x.dtype)


def other(rng, x):
    kind = rng.randrange(6)
    if x.ndim == 0 or x.size == 0:
        return x + x
    if kind == 0:
        return tt.cumsum(x.ravel().astype("int64") if x.dtype == bool else x.ravel())
    if kind == 1:
        return tt.sort(x, axis=-1)
    if kind == 2:
        return tt.concatenate([x, x])
    if kind == 3:
        return x[tt.array([rng.randrange(-len(x), len(x)) for _ in range(5)])]
    if kind == 4:
        return x[x == x]
    if x.dtype.kind == "f" and x.dtype != "float16" and x.ndim <= 2:
        return x @ x.T
    return tt.roll(x, 1)


def write(rng, x):
    if x.ndim == 0 or len(x) == 0:
        return
    kind = rng.randrange(4)
    if kind == 0:
        x[rng.randrange(len(x))] = 1
    elif kind == 1:
        x[tt.array([rng.randrange(len(x)) for _ in range(3)])] = 2
    elif kind == 2:
        x[x == x] = 3
    elif x.dtype != bool:
        x[::2] += x[::2]


def run(seed, limit):
    rng, mine = random.Random(seed), random.Random(seed + 1)
    pool = [tt.array(values(rng, rng.choice(SHAPES), rng.choice(TYPES))) for _ in range(4)]
    tt.eval(*pool)
    for _ in range(STEPS):
        tt.set_eager(limit(mine))
        x, y, kind = view(rng, rng.choice(pool)), view(rng, rng.choice(pool)), rng.randrange(10)
        if kind < 5:
            try:
                made = elementwise(rng, x, y)
            except ValueError:  # the shapes do not broadcast
                continue
        elif kind < 7:
            made = folded(rng, x)
        elif kind < 9:
            made = other(rng, x)
        else:
            write(rng, rng.choice(pool))
            continue
        if made.size <= 6000:
            pool.append(made)
        if len(pool) > 8:
            pool.pop(rng.randrange(8))
    return [np.asarray(x).copy() for x in pool]


def bits(x):
    """NaN has no sign and no payload here."""
    x = x.view(x.real.dtype) if x.dtype.kind == "c" and x.ndim and x.flags.c_contiguous else x
    return np.where(x != x, np.array(np.nan).astype(x.dtype), x).tobytes() if x.dtype.kind in "fc" else x.tobytes()


@pytest.fixture(autouse=True)
def limits_as_before():
    yield
    tt.set_eager(-1)


@pytest.mark.parametrize("seed", range(PROGRAMS))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_bits_do_not_depend_on_what_is_done_at_once(seed):
    want = run(seed, LIMITS["none"])
    for name in ("all", "some"):
        got = run(seed, LIMITS[name])
        assert len(got) == len(want)
        for k, (a, b) in enumerate(zip(got, want, strict=True)):
            assert a.dtype == b.dtype and a.shape == b.shape
            assert bits(a) == bits(b), f"{name}: result {k}, {a.dtype}{a.shape}: {a} {b}"


def test_explain_tells_what_was_done_at_the_call():
    x = tt.array([1.0, 2.0, 3.0], device="cpu")
    assert "done at the call" in tt.explain(x + x)
    tt.set_eager(0)
    assert "done at the call" not in tt.explain(x * x)


def test_ledger_counts_what_was_done_at_the_call():
    x = tt.array([1.0, 2.0, 3.0], device="cpu")
    before = tt.ledger()["at_once"]
    y = x + x
    assert tt.ledger()["at_once"] == before + 1
    tt.set_eager(0)
    y = x * y
    assert tt.ledger()["at_once"] == before + 1


@pytest.mark.parametrize("dtype", ["float64", "float32", "int8"])
@pytest.mark.parametrize("seed", range(60))
def test_reductions_at_once_fold_as_kernels_do(seed, dtype):
    rng = random.Random(seed)
    shape = tuple(rng.choice([1, 2, 3, 5, 31, 32, 33, 63, 64, 65]) for _ in range(rng.randrange(1, 4)))
    x = np.array([rng.choice([rng.uniform(-9, 9), -0.0]) for _ in range(int(np.prod(shape)))])
    x = x.astype(dtype).reshape(shape)
    a = tt.array(x).transpose(rng.sample(range(x.ndim), x.ndim))
    for axis in [None, *range(x.ndim), tuple(range(x.ndim))[1:], tuple(range(x.ndim))[:-1]]:
        for name in ("sum", "max", "argmin") if not isinstance(axis, tuple) else ("sum", "max"):
            got = []
            for limit in (0, 1 << 14):
                tt.set_eager(limit)
                got.append(np.asarray(getattr(a, name)(axis=axis)).copy())
            assert got[0].tobytes() == got[1].tobytes(), (name, axis, shape, a.shape)
