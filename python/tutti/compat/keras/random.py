"""keras.random: draws from tutti's generators, from the session's own, or from one that a seed starts."""

import tutti as _tt

from . import _state, config
from ._graph import any_symbolic, symbolic_call
from ._variable import tensor

_session = [None]


class SeedGenerator:
    """A generator that goes on from draw to draw."""

    def __init__(self, seed=None, name=None, **unused):
        if seed is not None and not isinstance(seed, int):
            raise ValueError(f"Argument `seed` must be an integer. Received: seed={seed}")
        self._initial_seed = seed
        self.generator = _tt.random.default_rng(_tt.random.randint(2**31 - 1) if seed is None else seed)

    def get_config(self):
        """What it began with."""
        return {"seed": self._initial_seed}

    @classmethod
    def from_config(cls, config):
        """One that begins so."""
        return cls(**config)


def set_seed(seed):
    """Start the session's generator."""
    _tt.random.seed(seed)
    _session[0] = _tt.random.default_rng(seed)


def generator_of(seed):
    """The generator that a seed stands for."""
    if isinstance(seed, SeedGenerator):
        return seed.generator
    if seed is not None:
        return _tt.random.default_rng(seed)
    if _session[0] is None:
        _session[0] = _tt.random.default_rng()
    return _session[0]


def _drawn(draw, shape, dtype):
    """What draw makes, in a type; zeros where shapes alone are asked for."""
    dtype, shape = dtype or config.floatx(), tuple(int(n) for n in shape)
    return _tt.zeros(shape, dtype=dtype) if _state.is_symbolic() else draw(shape).astype(dtype)


def normal(shape, mean=0.0, stddev=1.0, dtype=None, seed=None):
    """Normal numbers."""
    rng = generator_of(seed)
    return _drawn(lambda n: rng.standard_normal(n, dtype="float32") * stddev + mean, shape, dtype)


def uniform(shape, minval=0.0, maxval=1.0, dtype=None, seed=None):
    """Uniform numbers in [minval, maxval)."""
    rng = generator_of(seed)
    return _drawn(lambda n: rng.random(n, dtype="float32") * (maxval - minval) + minval, shape, dtype)


def randint(shape, minval, maxval, dtype="int32", seed=None):
    """Whole numbers in [minval, maxval)."""
    rng = generator_of(seed)
    return _drawn(lambda n: rng.integers(minval, maxval, n), shape, dtype)


def truncated_normal(shape, mean=0.0, stddev=1.0, dtype=None, seed=None):
    """Normal numbers not farther than two deviations from the mean."""
    rng = generator_of(seed)

    def draw(n):
        low, high = _tt.special.ndtr(-2.0), _tt.special.ndtr(2.0)
        return _tt.special.ndtri(rng.random(n) * (high - low) + low) * stddev + mean

    return _drawn(draw, shape, dtype)


def gamma(shape, alpha, dtype=None, seed=None):
    """Numbers of a gamma distribution."""
    rng = generator_of(seed)
    return _drawn(lambda n: rng.standard_gamma(alpha, n), shape, dtype)


def beta(shape, alpha, beta, dtype=None, seed=None):
    """Numbers of a beta distribution."""
    rng = generator_of(seed)
    return _drawn(lambda n: rng.beta(alpha, beta, n), shape, dtype)


def binomial(shape, counts, probabilities, dtype=None, seed=None):
    """Numbers of a binomial distribution."""
    rng = generator_of(seed)
    return _drawn(lambda n: rng.binomial(counts, probabilities, n), shape, dtype)


def categorical(logits, num_samples, dtype="int32", seed=None):
    """Classes by the logarithms of their chances."""
    logits = tensor(logits)
    gumbel = -_tt.log(-_tt.log(uniform((*logits.shape[:-1], num_samples, logits.shape[-1]), 1e-7, 1.0, seed=seed)))
    return _tt.argmax(logits[..., None, :] + gumbel, -1).astype(dtype)


def shuffle(x, axis=0, seed=None):
    """The parts along an axis in another order."""
    x = tensor(x)
    return x if _state.is_symbolic() else _tt.take(x, generator_of(seed).permutation(x.shape[axis]), axis)


def dropout(inputs, rate, noise_shape=None, seed=None):
    """Elements are 0 by chance, the others grow by 1 / (1 - rate)."""
    if any_symbolic(inputs):
        return symbolic_call(dropout, "dropout", (inputs, rate), {"noise_shape": noise_shape, "seed": seed})
    inputs = tensor(inputs)
    shape = (
        inputs.shape if noise_shape is None else tuple(n if m is None else m for n, m in zip(inputs.shape, noise_shape))
    )
    kept = uniform(shape, seed=seed) >= rate
    return _tt.where(kept, inputs / (1 - rate), _tt.zeros((), dtype=inputs.dtype))


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.keras does not cover keras.random.{name}")
