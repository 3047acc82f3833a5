"""numba.cuda.random: xoroshiro128+ for kernels."""

from ....cuda.random import *  # noqa: F403
