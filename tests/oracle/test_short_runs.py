"""Copies whose last axis is a few neighbours (pixels): walked backwards, with steps, again and again."""

import numpy as np
import pytest
import tutti as tt

pytestmark = pytest.mark.usefixtures("recorded")

WALKS = (
    np.s_[:, ::-1],
    np.s_[::-1, ::-1],
    np.s_[:, ::2],
    np.s_[:, ::-3],
    np.s_[:, 1:-2],
    np.s_[:, 5:60:1, 1:],
    np.s_[:, ::-1, :-1],
)


@pytest.mark.parametrize("dtype", ("u1", "i2", "f4", "f8", "c8", "?"))
@pytest.mark.parametrize("width", (1, 2, 3, 4, 5, 7, 8, 9, 13, 16, 17, 31, 33))
def test_flipped_and_stepped(dtype, width):
    for count in (15, 16, 17, 64, 97, 2049):
        a = np.random.default_rng(width).integers(0, 100, (3, count, width)).astype(dtype)
        x = tt.array(a)
        for walk in WALKS:
            assert np.array_equal(tt.ascontiguousarray(x[walk]), a[walk]), (count, walk)


@pytest.mark.parametrize("shape", ((128, 256, 4), (300, 70, 3), (2, 2100, 5), (3, 65, 64, 2)))
def test_lines_turned(shape):
    a = np.random.default_rng(1).integers(0, 100, shape).astype("f4")
    order = (len(shape) - 2, *range(len(shape) - 2), len(shape) - 1)
    assert np.array_equal(tt.ascontiguousarray(tt.transpose(tt.array(a), order)), np.transpose(a, order))


def test_the_same_run_again():
    a = np.arange(3, dtype="u1")
    assert np.array_equal(
        tt.ascontiguousarray(tt.broadcast_to(tt.array(a), (50, 70, 3))), np.broadcast_to(a, (50, 70, 3))
    )


def test_windows_that_share_elements():
    a = np.arange(100, dtype="i2")
    mine = tt.lib.stride_tricks.sliding_window_view(tt.array(a), 5)
    theirs = np.lib.stride_tricks.sliding_window_view(a, 5)
    assert np.array_equal(tt.ascontiguousarray(mine), theirs)
    assert np.array_equal(tt.ascontiguousarray(mine[::-1]), theirs[::-1])


def test_into_a_part():
    a, b = np.arange(3000, dtype="u1").reshape(10, 100, 3), np.zeros((12, 120, 3), "u1")
    x, y = tt.array(a), tt.array(b)
    b[1:-1, 5:105] = a[:, ::-1]
    y[1:-1, 5:105] = x[:, ::-1]
    assert np.array_equal(y, b)
