"""pycuda.curandom: arrays of random numbers. The numbers are tutti's, not those of the CUDA library."""

import numpy as np

import tutti as _tt
from tutti._device import numbered

from . import _place
from .gpuarray import GPUArray


def _draw(generator, method, shape, dtype):
    shape = (shape,) if isinstance(shape, (int, np.integer)) else tuple(shape)
    with numbered(_place.here()):
        made = getattr(generator, method)(shape, dtype=np.dtype(dtype).name)
        _tt.eval(made)
    return GPUArray._of(made)


def rand(shape, dtype=np.float32, luxury=None, stream=None):
    """Numbers from 0 up to 1."""
    return _draw(_shared, "random", shape, dtype)


class _Generator:
    """A source of random numbers of its own."""

    def __init__(self, seed_getter=None, offset=0):
        seed = None if seed_getter is None else int(np.asarray(seed_getter(1).get()).ravel()[0])
        self._generator = _tt.random.default_rng(seed)

    def gen_uniform(self, shape, dtype, stream=None):
        """Numbers from 0 up to 1."""
        return _draw(self._generator, "random", shape, dtype)

    def gen_normal(self, shape, dtype, stream=None):
        """Numbers around 0 with variance 1."""
        return _draw(self._generator, "standard_normal", shape, dtype)

    def fill_uniform(self, data, stream=None):
        data[...] = self.gen_uniform(data.shape, data.dtype)

    def fill_normal(self, data, stream=None):
        data[...] = self.gen_normal(data.shape, data.dtype)


XORWOWRandomNumberGenerator = MRG32k3aRandomNumberGenerator = Sobol32RandomNumberGenerator = _Generator
_shared = _tt.random.default_rng()


def seed_getter_uniform(n):
    """One seed, n times."""
    from . import gpuarray

    return gpuarray.to_gpu(np.full(n, np.random.default_rng().integers(1 << 31), np.int32))


def seed_getter_unique(n):
    """n seeds."""
    from . import gpuarray

    return gpuarray.to_gpu(np.random.default_rng().integers(1 << 31, size=n).astype(np.int32))


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.pycuda does not cover pycuda.curandom.{name}")
