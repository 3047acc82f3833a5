"""numba.cuda.random is tutti.cuda.random; states come to the host as Numba's records."""

import functools

import numpy as np

from ....cuda import random as _random
from ....cuda.random import *  # noqa: F403


@functools.cache
def _states_of(kind):
    """Device memory of states: for kernels rows of two numbers, for the host records as Numba has them."""

    class States(kind):
        shape = property(lambda self: self._jit_argument.shape[:1])
        dtype = property(lambda self: np.dtype([("s0", "u8"), ("s1", "u8")]), lambda self, value: None)
        ndim = 1

        def copy_to_host(self, ary=None, stream=0):
            """The states as records of s0 and s1."""
            host = kind(self._jit_argument).copy_to_host().view(self.dtype).reshape(self.shape)
            if ary is None:
                return host
            ary[...] = host
            return ary

        def copy_to_device(self, ary, stream=0):
            """Take states from records, or from rows of two numbers."""
            kind(self._jit_argument).copy_to_device(np.ascontiguousarray(ary).view(np.uint64).reshape(-1, 2))

    return States


def _as_states(array):
    return _states_of(type(array))(array._jit_argument)


def create_xoroshiro128p_states(n, seed, subsequence_start=0, stream=0):
    """States for n threads, a device array of records of s0 and s1; no thread meets another's numbers."""
    return _as_states(_random.create_xoroshiro128p_states(n, seed, subsequence_start, stream))
