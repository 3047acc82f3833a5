"""A sum along one axis has the same bits whether its operand is computed with it or lies in memory."""

import random

import numpy as np
import pytest
import tutti as tt
from tutti.lib.stride_tricks import sliding_window_view

COUNT = 60
LENGTHS = (3, 20, 40, 70, 130)


def leaf(draw, rng, shape):
    """An array of the shape, lying in one of the ways that users make."""
    axes = list(range(len(shape)))
    draw.shuffle(axes)
    values = rng.standard_normal([shape[k] for k in axes]).astype("f4")
    array = tt.array(values).transpose([axes.index(k) for k in range(len(shape))])
    way = draw.randrange(5)
    if way == 1:
        array = array[tuple(slice(None, None, -1) for _ in shape)]
    if way == 2:
        one = draw.randrange(len(shape))
        array = array[tuple(slice(0, 1) if k == one else slice(None) for k in range(len(shape)))]
    if way == 3 and len(shape) == 2:
        array = sliding_window_view(tt.array(rng.standard_normal(sum(shape) - 1).astype("f4")), shape[1])
    if way == 4 and len(shape) == 2:
        array = sliding_window_view(tt.array(rng.standard_normal(sum(shape) - 1).astype("f4")) * 1.25, shape[1])
    return array


def expression(draw, rng, shape):
    out = leaf(draw, rng, shape)
    for _ in range(draw.randrange(1, 4)):
        other = leaf(draw, rng, shape) if draw.randrange(2) else 1.5
        out = out * other + 0.5 if draw.randrange(2) else other - out
    return out if out.shape == shape else out + tt.array(rng.standard_normal(shape).astype("f4"))


def folds(seed, stored):
    """A sum, and two of them added: the same draws whether operands are stored."""
    draw, rng = random.Random(seed), np.random.default_rng(seed)
    shape = tuple(draw.choice(LENGTHS) for _ in range(draw.choice((2, 2, 3))))
    operands = expression(draw, rng, shape), expression(draw, rng, shape)
    axis = draw.randrange(len(shape))
    for operand in operands if stored else ():
        np.asarray(operand)
    sums = [operand.sum(axis=axis) for operand in operands]
    for one in sums if stored else ():
        np.asarray(one)
    return np.asarray(sums[0] * 2 + sums[1]), np.asarray(operands[0].sum(axis=axis))


@pytest.mark.parametrize("seed", range(COUNT))
def test_bits_do_not_depend_on_what_is_fused(seed, way):
    for computed, stored in zip(folds(seed, False), folds(seed, True), strict=True):
        assert computed.tobytes() == stored.tobytes()
