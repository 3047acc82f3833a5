"""cupy.random: tutti's draws with CuPy's arguments. The numbers are tutti's, whatever the bit generator is called."""

import functools as _functools
import inspect as _inspect

import numpy as _np

from tutti import _core
from tutti import random as _random
from tutti.random import BitGenerator, Philox4x3210

_DRAWS = [
    "beta", "binomial", "chisquare", "choice", "dirichlet", "exponential", "f", "gamma", "geometric", "gumbel",
    "hypergeometric", "laplace", "logistic", "lognormal", "logseries", "multinomial", "multivariate_normal",
    "negative_binomial", "noncentral_chisquare", "noncentral_f", "normal", "pareto", "permutation", "poisson", "power",
    "random", "rayleigh", "shuffle", "standard_cauchy", "standard_exponential", "standard_gamma", "standard_normal",
    "standard_t", "triangular", "uniform", "vonmises", "wald", "weibull", "zipf", "bytes",
]  # fmt: skip


class XORWOW(Philox4x3210):
    """A name of CuPy's; the bits are Philox4x3210's."""


class MRG32k3a(Philox4x3210):
    """A name of CuPy's; the bits are Philox4x3210's."""


def _arrays(method):
    """The same draws, but as CuPy gives them: always arrays, also of one number, of any dtype that is asked for."""
    parameters = list(_inspect.signature(method).parameters)
    at = parameters.index("dtype") if parameters[-1] == "dtype" else None

    @_functools.wraps(method)
    def draw(*args, **names):
        if at is not None and len(args) == at + 1:
            names["dtype"], args = args[at], args[:at]
        dtype = names.get("dtype")
        cast = at is not None and dtype is not None and _np.dtype(dtype).kind != "f"
        if cast:
            del names["dtype"]
        made = method(*args, **names)
        if isinstance(made, (bool, int, float)):
            return _core.asarray(made, dtype=dtype)
        return made.astype(dtype) if cast else made

    return draw


class Generator(_random.Generator):
    """Draws from a bit generator; what is drawn is an array, also where it is one number."""

    @property
    def bit_generator(self):
        """What makes the bits; another one can be set."""
        return self._bit_generator

    @bit_generator.setter
    def bit_generator(self, bits):
        self.__init__(bits)


for _name in [*_DRAWS, "integers"]:
    setattr(Generator, _name, _arrays(getattr(_random.Generator, _name)))


def default_rng(seed=None):
    """A generator from a seed or a bit generator."""
    if isinstance(seed, (_random.Generator, BitGenerator)):
        return seed if isinstance(seed, Generator) else Generator(getattr(seed, "bit_generator", seed))
    return Generator(XORWOW(seed))


class RandomState:
    """Draws from a state of its own, with dtype= where CuPy has it."""

    def __init__(self, seed=None, method=100):
        self.seed(seed)

    def seed(self, seed=None):
        """Seed it again."""
        self._rng = default_rng(seed)

    def rand(self, *size, dtype=float):
        """Uniform in [0, 1), in the shape of the arguments."""
        return self._rng.random(size, dtype=dtype)

    def randn(self, *size, dtype=float):
        """Standard normal, in the shape of the arguments."""
        return self._rng.standard_normal(size, dtype=dtype)

    def random_sample(self, size=None, dtype=float):
        """Uniform in [0, 1)."""
        return self._rng.random(size, dtype=dtype)

    def randint(self, low, high=None, size=None, dtype=int):
        """Integers in [low, high)."""
        return self._rng.integers(low, high, size, dtype)

    def random_integers(self, low, high=None, size=None):
        """Integers in [low, high], or [1, low]."""
        low, high = (1, low) if high is None else (low, high)
        return self._rng.integers(low, high, size, endpoint=True)

    def interval(self, mx, size):
        """Integers in [0, mx]."""
        return self._rng.integers(0, mx, size, endpoint=True)

    def tomaxint(self, size=None):
        """Integers from 0 to the largest of int64."""
        return self._rng.integers(0, 2**63 - 1, size, endpoint=True)


def _draw(name):
    def draw(self, *args, **names):
        return getattr(self._rng, name)(*args, **names)

    draw.__name__, draw.__doc__ = name, getattr(_random.Generator, name).__doc__
    return draw


def _multivariate_normal(self, mean, cov, size=None, check_valid="ignore", tol=1e-08, method="cholesky", dtype=float):
    """Normal vectors of a mean and a covariance."""
    return self._rng.multivariate_normal(mean, cov, size, check_valid, tol, method=method).astype(dtype)


def _choice(self, a, size=None, replace=True, p=None):
    """Elements of an array of one axis, or of range(a)."""
    if _np.ndim(a) > 1:
        raise ValueError("a must be 1-dimensional or an integer")
    return self._rng.choice(a, size, replace, p)


for _name in _DRAWS:
    setattr(RandomState, _name, _draw(_name))
RandomState.multivariate_normal, RandomState.choice = _multivariate_normal, _choice

_state = RandomState()


def get_random_state():
    """What the functions of this module draw from."""
    return _state


def set_random_state(rs):
    """Let the functions of this module draw from another."""
    global _state
    if not isinstance(rs, RandomState):
        raise TypeError(f"Random state must be an instance of RandomState. Actual: {type(rs)}")
    _state = rs


def reset_states():
    """Begin anew, from the system's entropy."""
    set_random_state(RandomState())


def _function(name):
    def function(*args, **names):
        return getattr(_state, name)(*args, **names)

    function.__name__, function.__doc__ = name, getattr(RandomState, name).__doc__
    return function


_FUNCTIONS = ["rand", "randn", "random_sample", "randint", "random_integers", "seed"]
globals().update({_name: _function(_name) for _name in [*_DRAWS, *_FUNCTIONS]})
ranf = sample = globals()["random_sample"]

__all__ = [
    *_DRAWS, *_FUNCTIONS, "BitGenerator", "Generator", "MRG32k3a", "Philox4x3210", "RandomState", "XORWOW",
    "default_rng", "get_random_state", "ranf", "reset_states", "sample", "set_random_state",
]  # fmt: skip


def __getattr__(name):
    raise AttributeError(f"tutti.compat.cupy does not cover cupy.random.{name}")
