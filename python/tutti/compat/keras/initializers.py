"""keras.initializers: first values of weights."""

import math as _math

import tutti as _tt

from . import config
from . import random as _random
from ._configured import Configured as _Configured
from ._configured import by_name as _by_name
from ._configured import deserialize_keras_object as deserialize
from ._configured import serialize_keras_object as serialize
from ._state import snake_case as _snake_case
from ._variable import tensor as _tensor

__all__ = [
    "Constant", "GlorotNormal", "GlorotUniform", "HeNormal", "HeUniform", "Identity", "Initializer", "LecunNormal",
    "LecunUniform", "Ones", "Orthogonal", "RandomNormal", "RandomUniform", "TruncatedNormal", "VarianceScaling",
    "Zeros", "deserialize", "get", "serialize",
]  # fmt: skip


class Initializer(_Configured):
    """What makes values of a shape."""

    def __call__(self, shape, dtype=None):
        raise NotImplementedError("Initializer subclasses must implement the `__call__()` method.")


class Zeros(Initializer):
    """Zeros."""

    def __call__(self, shape, dtype=None):
        return _tt.zeros(shape, dtype=dtype or config.floatx())


class Ones(Initializer):
    """Ones."""

    def __call__(self, shape, dtype=None):
        return _tt.ones(shape, dtype=dtype or config.floatx())


class Constant(Initializer):
    """A number, or an array that has the shape."""

    def __init__(self, value=0.0):
        self.value = value

    def __call__(self, shape, dtype=None):
        return _tt.broadcast_to(_tensor(self.value), shape).astype(dtype or config.floatx())


class Identity(Initializer):
    """The identity matrix, times a number."""

    def __init__(self, gain=1.0):
        self.gain = gain

    def __call__(self, shape, dtype=None):
        if len(shape) != 2:
            raise ValueError(
                f"Identity matrix initializer can only be used for 2D matrices. Received: shape={shape} of rank "
                f"{len(shape)}."
            )
        return self.gain * _tt.eye(*shape, dtype=dtype or config.floatx())


class _Random(Initializer):
    """Draws: an initialiser with a seed draws the same each time, one without goes on."""

    def __init__(self, seed=None):
        self.seed = seed


class RandomNormal(_Random):
    """Normal numbers."""

    def __init__(self, mean=0.0, stddev=0.05, seed=None):
        super().__init__(seed)
        self.mean, self.stddev = mean, stddev

    def __call__(self, shape, dtype=None):
        return _random.normal(shape, self.mean, self.stddev, dtype, self.seed)


class TruncatedNormal(RandomNormal):
    """Normal numbers not farther than two deviations from the mean."""

    def __call__(self, shape, dtype=None):
        return _random.truncated_normal(shape, self.mean, self.stddev, dtype, self.seed)


class RandomUniform(_Random):
    """Uniform numbers."""

    def __init__(self, minval=-0.05, maxval=0.05, seed=None):
        super().__init__(seed)
        self.minval, self.maxval = minval, maxval

    def __call__(self, shape, dtype=None):
        return _random.uniform(shape, self.minval, self.maxval, dtype, self.seed)


def compute_fans(shape):
    """How many numbers enter a unit, and how many units a number enters."""
    if len(shape) < 2:
        return (shape[0], shape[0]) if shape else (1, 1)
    field = _math.prod(shape[:-2])
    return shape[-2] * field, shape[-1] * field


_TRUNCATED = 0.87962566103423978  # what the two deviations leave of the deviation


class VarianceScaling(_Random):
    """Numbers whose variance is `scale` over the inputs, the outputs or their mean."""

    def __init__(self, scale=1.0, mode="fan_in", distribution="truncated_normal", seed=None):
        super().__init__(seed)
        if scale <= 0.0:
            raise ValueError(f"Argument `scale` must be positive float. Received: scale={scale}")
        if mode not in ("fan_in", "fan_out", "fan_avg"):
            raise ValueError(f"Invalid `mode` argument: {mode}. Please use one of ['fan_in', 'fan_out', 'fan_avg']")
        if distribution not in ("normal", "uniform", "truncated_normal", "untruncated_normal"):
            raise ValueError(f"Invalid `distribution` argument: {distribution}.")
        self.scale, self.mode, self.distribution = scale, mode, distribution

    def __call__(self, shape, dtype=None):
        into, out = compute_fans(shape)
        count = {"fan_in": into, "fan_out": out, "fan_avg": (into + out) / 2}[self.mode]
        variance = self.scale / max(1.0, count)
        if self.distribution == "uniform":
            limit = _math.sqrt(3.0 * variance)
            return _random.uniform(shape, -limit, limit, dtype, self.seed)
        if self.distribution == "untruncated_normal":
            return _random.normal(shape, 0.0, _math.sqrt(variance), dtype, self.seed)
        return _random.truncated_normal(shape, 0.0, _math.sqrt(variance) / _TRUNCATED, dtype, self.seed)


def _scaled(name, scale, mode, distribution):
    def __init__(self, seed=None):
        VarianceScaling.__init__(self, scale, mode, distribution, seed)

    words = f"VarianceScaling of {scale} over {mode}, {distribution}."
    return type(name, (VarianceScaling,), {"__init__": __init__, "__doc__": words, "__module__": __name__})


GlorotUniform = _scaled("GlorotUniform", 1.0, "fan_avg", "uniform")
GlorotNormal = _scaled("GlorotNormal", 1.0, "fan_avg", "truncated_normal")
HeUniform = _scaled("HeUniform", 2.0, "fan_in", "uniform")
HeNormal = _scaled("HeNormal", 2.0, "fan_in", "truncated_normal")
LecunUniform = _scaled("LecunUniform", 1.0, "fan_in", "uniform")
LecunNormal = _scaled("LecunNormal", 1.0, "fan_in", "truncated_normal")


class Orthogonal(_Random):
    """A matrix with rows, or columns, at right angles."""

    def __init__(self, gain=1.0, seed=None):
        super().__init__(seed)
        self.gain = gain

    def __call__(self, shape, dtype=None):
        if len(shape) < 2:
            raise ValueError(
                f"The tensor to initialize must be at least two-dimensional. Received: shape={shape} of rank "
                f"{len(shape)}."
            )
        rows, columns = _math.prod(shape[:-1]), shape[-1]
        q, r = _tt.linalg.qr(_random.normal((max(rows, columns), min(rows, columns)), seed=self.seed))
        q = q * _tt.sign(_tt.diagonal(r))
        return (self.gain * (q.T if rows < columns else q).reshape(shape)).astype(dtype or config.floatx())


globals().update({_snake_case(n): globals()[n] for n in __all__ if n[0].isupper()})
uniform, normal = RandomUniform, RandomNormal


def get(identifier):
    """The initialiser by its name, configuration, class, or an array of values."""
    if hasattr(identifier, "shape"):
        return Constant(identifier)
    return _by_name(globals(), "initializer", identifier)


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.keras does not cover keras.initializers.{name}")
