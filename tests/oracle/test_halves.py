"""Arithmetic of halves: all 65,536 of them, compiled as interpreted, bit for bit, in rows of any length."""

import numpy as np
import pytest
import tiers
import tutti as tt

HALVES = np.arange(1 << 16, dtype="u2").view("f2")


WORK = {
    "negated": lambda xp, x: -x,
    "halved": lambda xp, x: x * xp.float16(0.5),
    "chained": lambda xp, x: (x + xp.float16(1)) * x - x * x,
    "chosen": lambda xp, x: xp.where(x > 0, x, -x),
    "widened": lambda xp, x: x.astype(xp.float32),
    "widened and rounded": lambda xp, x: (x.astype(xp.float32) * xp.float32(1.0003)).astype(xp.float16),
    "root": lambda xp, x: xp.sqrt(abs(x)),
    "there and back": lambda xp, x: ((x * xp.float16(3)).astype(xp.float32) + xp.float32(0.1)).astype(xp.float16),
}


@pytest.mark.parametrize("name", WORK)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_all_halves(recorded, name):
    got = tiers.same_in_both_tiers(lambda x: WORK[name](tt, x), HALVES)
    want = WORK[name](np, HALVES)
    assert got.dtype == want.dtype
    same = np.isnan(got) == np.isnan(want)
    assert same.all() and np.array_equal(got[~np.isnan(got)], want[~np.isnan(want)])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_roundings_of_float32(recorded):
    """Around each half, the numbers halfway to the next, and the float32 beside those."""
    steps = np.arange(-3, 4)[:, None]
    at = HALVES[np.isfinite(HALVES)].astype("f4").view("i4")
    x = np.concatenate([(at + steps).ravel(), (at + 4096 + steps).ravel(), (at - 4096 + steps).ravel()])
    x = np.concatenate([x.astype("i4").view("f4"), np.array([65519.9, 65520, 1e30, np.inf, -np.inf], "f4")])
    x = x[np.isfinite(x) | np.isinf(x)]
    got = tiers.same_in_both_tiers(lambda v: (v * tt.float32(1)).astype("f2"), x)
    assert np.array_equal(got.view("u2"), x.astype("f2").view("u2"))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_rows_of_any_length(recorded):
    for n in (1, 2, 7, 15, 16, 17, 31, 33, 100, 255, 256, 257, 300):
        x = HALVES[: 50 * n].reshape(50, n) if 50 * n <= HALVES.size else HALVES[: n * 20].reshape(20, n)
        for work in (
            lambda xp, x: x[:, ::-1] * x,
            lambda xp, x: x + x[:1],
            lambda xp, x: x * x[:, :1] + x,
            lambda xp, x: x - x.max(axis=1, keepdims=True),
        ):
            got, want = tiers.same_in_both_tiers(lambda v, work=work: work(tt, v), x), work(np, x)
            np.testing.assert_array_equal(got, want)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_at_once_as_later(recorded):
    for name, work in WORK.items():
        later = np.asarray(work(tt, tt.array(HALVES[::67])))
        tt.set_eager(1024)
        at_once = np.asarray(work(tt, tt.array(HALVES[::67])))
        tt.set_eager(0)
        assert later.tobytes() == at_once.tobytes(), name


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_logaddexp2_of_halves():
    """Near 0 the greater operand and the rest cancel: rounded at the end only, as NumPy does."""
    rng = np.random.default_rng(1)
    x, y = np.concatenate([rng.normal(size=(2, 3000)) * 3, [[0, np.inf, -np.inf, 6e4], [0, np.inf, 1, 6e4]]], 1).astype(
        "f2"
    )
    np.testing.assert_array_equal(tt.logaddexp2(tt.asarray(x), tt.asarray(y)), np.logaddexp2(x, y))
