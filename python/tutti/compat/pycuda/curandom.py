"""pycuda.curandom: arrays of random numbers. The numbers are tutti's, not those of the CUDA library."""

import numpy as np

import tutti as _tt
from tutti._device import numbered

from . import _place
from .gpuarray import GPUArray, _plain


def get_curand_version():
    """The version of CURAND whose generators can be named."""
    return 10, 3, 0


def _drawn(draw, shape):
    shape = (shape,) if isinstance(shape, (int, np.integer)) else tuple(shape)
    with numbered(_place.here()):
        made = draw(shape)
        _tt.eval(made)
    return GPUArray._of(made)


def _uniform(generator, shape, dtype):
    """Numbers from 0 up to 1; whole numbers from all of their type."""
    kind = np.dtype(dtype)
    if kind.kind in "iu":
        ends = np.iinfo(kind)
        return _drawn(lambda n: generator.integers(ends.min, ends.max, n, dtype=kind.name, endpoint=True), shape)
    if kind.kind == "c":
        half = f"f{kind.itemsize // 2}"
        return _uniform(generator, shape, half) + 1j * _uniform(generator, shape, half)
    return _drawn(lambda n: generator.random(n, dtype=kind.name), shape)


def rand(shape, dtype=np.float32, luxury=None, stream=None):
    """Numbers from 0 up to 1."""
    return _uniform(_shared, shape, dtype)


class _Generator:
    """A source of random numbers of its own."""

    generators_per_block, block_count = 256, 1

    def __init__(self, seed_getter=None, offset=0):
        seed = None if seed_getter is None else int(np.asarray(seed_getter(1).get()).ravel()[0]) & (2**63 - 1)
        self._generator = _tt.random.default_rng(seed)

    def gen_uniform(self, shape, dtype, stream=None):
        """Numbers from 0 up to 1; whole numbers from all of their type."""
        return _uniform(self._generator, shape, dtype)

    def gen_normal(self, shape, dtype, stream=None):
        """Numbers around 0 with variance 1."""
        return _drawn(lambda n: self._generator.standard_normal(n, dtype=np.dtype(dtype).name), shape)

    def gen_log_normal(self, shape, dtype, mean, stddev, stream=None):
        """Numbers whose logarithms lie around `mean`."""
        return GPUArray._of(_tt.exp(_plain(self.gen_normal(shape, dtype)) * stddev + mean).astype(np.dtype(dtype).name))

    def gen_poisson(self, shape, dtype, lambda_value, stream=None):
        """How often something happens that happens `lambda_value` times on average."""
        return _drawn(lambda n: self._generator.poisson(lambda_value, n), shape).astype(dtype)

    def fill_uniform(self, data, stream=None):
        data._put(_plain(self.gen_uniform(data.shape, data.dtype)))

    def fill_normal(self, data, stream=None):
        data._put(_plain(self.gen_normal(data.shape, data.dtype)))

    def fill_log_normal(self, data, mean, stddev, stream=None):
        data._put(_plain(self.gen_log_normal(data.shape, data.dtype, mean, stddev)))

    def fill_poisson(self, data, lambda_value=None, stream=None):
        """`lambda_value` None: that of each element is the element."""
        rate = lambda_value if lambda_value is not None else data.get().astype(np.float64)
        data._put(_plain(self.gen_poisson(data.shape, data.dtype, rate)))

    def call_skip_ahead(self, i, stream=None):
        """Leave out so many numbers."""
        _tt.eval(self._generator.random(int(i)))

    call_skip_ahead_sequence = call_skip_ahead


class XORWOWRandomNumberGenerator(_Generator):
    """CURAND's default generator by name."""


class MRG32k3aRandomNumberGenerator(_Generator):
    """Another one by name."""


class _Sobol(_Generator):
    """The quasirandom ones by name: their numbers here are plain random ones."""

    def __init__(self, dir_vector=None, offset=0):
        super().__init__()


class _ScrambledSobol(_Sobol):
    def __init__(self, dir_vector=None, scramble_vector=None, offset=0):
        super().__init__()


class Sobol32RandomNumberGenerator(_Sobol):
    pass


class Sobol64RandomNumberGenerator(_Sobol):
    pass


class ScrambledSobol32RandomNumberGenerator(_ScrambledSobol):
    pass


class ScrambledSobol64RandomNumberGenerator(_ScrambledSobol):
    pass


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
