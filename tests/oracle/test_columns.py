"""Reductions of a table's columns, few of them: compiled as interpreted, bit for bit, and NumPy's values."""

import functools

import numpy as np
import pytest
import tiers
import tutti as tt

in_both_tiers = functools.partial(tiers.same_in_both_tiers, signs_of_nan=False)


def table(dtype, rows, columns):
    rng = np.random.default_rng(rows + columns)
    x = rng.integers(0, 5, (rows, columns)).astype(dtype)
    if np.dtype(dtype).kind == "f" and rows > 3:
        x += rng.random((rows, columns)).astype(dtype)
        x[rng.integers(0, rows, 3), rng.integers(0, columns, 3)] = [np.nan, -0.0, np.inf]
    return x


SHAPES = [(64, 2), (65, 5), (127, 8), (1000, 3), (1000, 20), (63, 20), (4097, 31), (500, 32), (65535, 4), (65600, 9)]


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int16", "int32", "float16", "float32", "float64", "complex64"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_columns(recorded, dtype, turn):
    for shape in SHAPES[turn % 2 :: 2]:
        x = table(dtype, *shape)
        for name in ("sum", "max", "min", "any"):
            if dtype == "complex64" and name != "sum":
                continue
            got = in_both_tiers(lambda v, name=name: getattr(tt, name)(v, axis=0), x)
            close = 2e-2 if dtype == "float16" else 1e-4 if x.dtype.kind in "fc" else 0
            want = getattr(np, name)(x.astype("f4") if dtype == "float16" else x, axis=0)
            np.testing.assert_allclose(got, want.astype(got.dtype), rtol=close, err_msg=f"{name} {shape}")


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_expressions_of_columns(recorded):
    works = (
        lambda v, w: (v * w + v).sum(axis=0),
        lambda v, w: (v > w).sum(axis=0),
        lambda v, w: tt.stack([v.max(axis=0), w.min(axis=0), (v - w).sum(axis=0)]),
        lambda v, w: v.mean(axis=0) - w.mean(axis=0),
        lambda v, w: v.std(axis=0) + w.argmax(axis=0),
        lambda v, w: (v - v.max(axis=0)).sum(axis=0),
        lambda v, w: v[::2].sum(axis=0) + v[::-1].sum(axis=0) + w[:, ::-1].sum(axis=0),
        lambda v, w: v[:, :2].sum(axis=0),
        lambda v, w: tt.exp(-v).sum(axis=0),
    )
    for shape in ((130, 3), (1001, 20), (66000, 7)):
        x, y = table("float32", *shape), table("float32", shape[0], shape[1])[::-1].copy()
        for work in works:
            in_both_tiers(work, x, y)


def test_many_chunks_by_any_threads(recorded):
    """Columns of several chunks, whose partial results are added in order: as rows are that lie in one piece."""
    x = table("float32", 200_000, 5)
    got = in_both_tiers(lambda v: v.sum(axis=0), np.nan_to_num(x, posinf=1))
    rows = tt.array(np.ascontiguousarray(np.nan_to_num(x, posinf=1).T))
    assert got.tobytes() == np.asarray(rows.sum(axis=1)).tobytes()


@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32", "float64"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_columns_that_are_read_again(recorded, dtype):
    """Deviations from a column's mean, and columns that are scaled by what was folded of them."""
    works = (
        lambda xp, v: v.std(axis=0),
        lambda xp, v: (v - v.mean(axis=0)) / v.std(axis=0),
        lambda xp, v: (v - v.min(axis=0)) / (v.max(axis=0) - v.min(axis=0)),
        lambda xp, v: xp.where(v > v.mean(axis=0), v, 0),
        lambda xp, v: ((v - v.mean(axis=0)) ** 3).mean(axis=0) / v.std(axis=0) ** 3,
        lambda xp, v: v - v.sum(axis=0),
    )
    for shape in ((64, 3), (1001, 20), (4097, 31), (500, 32), (65536, 2), (65537, 2)):
        x = table(dtype, *shape)
        x = x if x.dtype.kind == "u" else np.nan_to_num(x, posinf=1)
        for number, work in enumerate(works):
            got = in_both_tiers(lambda v, work=work: work(tt, v), x)
            if dtype == "float16":
                continue
            want = work(np, x.astype("f8")) if number else x.astype("f8").std(axis=0)
            if x.dtype.kind == "f":
                np.testing.assert_allclose(got, want, rtol=2e-3, atol=2e-3, err_msg=f"{number} {shape}")


def test_columns_scaled_in_place(recorded):
    def scaled(v):
        v = v.copy()
        v -= v.mean(axis=0)
        return v

    x = table("float64", 1001, 7)[4:]
    in_both_tiers(scaled, np.nan_to_num(x, posinf=1))
