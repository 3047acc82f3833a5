"""Sizes of the chunks of parallel loops, as a setting that programs read back: our loops are cut in 256 whatever it is,
so that results do not depend on it."""

import contextlib

import numpy as np

from ..._jit import njit

_size = np.zeros(1, np.int64)


@njit
def get_parallel_chunksize():
    """The size that was set; 0: none."""
    return _size[0]


@njit
def set_parallel_chunksize(n):
    """Set it; gives the one before."""
    if n < 0:
        raise ValueError("chunksize must be greater than or equal to zero")
    before = _size[0]
    _size[0] = n
    return before


@contextlib.contextmanager
def parallel_chunksize(n):
    """Another size inside the block."""
    before = set_parallel_chunksize(n)
    try:
        yield before
    finally:
        set_parallel_chunksize(before)


parallel_chunksize._jit_with = set_parallel_chunksize
