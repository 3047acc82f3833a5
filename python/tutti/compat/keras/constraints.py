"""keras.constraints: what weights are brought back to after each step."""

import tutti as _tt

from . import config
from ._configured import Configured as _Configured
from ._configured import by_name as _by_name
from ._configured import deserialize_keras_object as deserialize
from ._configured import serialize_keras_object as serialize

__all__ = ["Constraint", "MaxNorm", "MinMaxNorm", "NonNeg", "UnitNorm", "deserialize", "get", "serialize"]


class Constraint(_Configured):
    """What makes weights of weights."""

    def __call__(self, w):
        raise NotImplementedError


def _norm(w, axis):
    return _tt.sqrt(_tt.sum(_tt.square(w), tuple(axis) if isinstance(axis, list) else axis, keepdims=True))


class MaxNorm(Constraint):
    """Vectors along an axis not longer than a number."""

    def __init__(self, max_value=2, axis=0):
        self.max_value, self.axis = max_value, axis

    def __call__(self, w):
        norms = _norm(w, self.axis)
        return w * (_tt.clip(norms, 0, self.max_value) / (config.epsilon() + norms))


class NonNeg(Constraint):
    """Negative weights are 0."""

    def __call__(self, w):
        return _tt.maximum(w, 0)


class UnitNorm(Constraint):
    """Vectors along an axis of length 1."""

    def __init__(self, axis=0):
        self.axis = axis

    def __call__(self, w):
        return w / (config.epsilon() + _norm(w, self.axis))


class MinMaxNorm(Constraint):
    """Vectors along an axis whose length is brought nearer to a range."""

    def __init__(self, min_value=0.0, max_value=1.0, rate=1.0, axis=0):
        self.min_value, self.max_value, self.rate, self.axis = min_value, max_value, rate, axis

    def __call__(self, w):
        norms = _norm(w, self.axis)
        wanted = self.rate * _tt.clip(norms, self.min_value, self.max_value) + (1 - self.rate) * norms
        return w * (wanted / (config.epsilon() + norms))


max_norm, non_neg, unit_norm, min_max_norm = MaxNorm, NonNeg, UnitNorm, MinMaxNorm


def get(identifier):
    """The constraint by its name, configuration or class."""
    return _by_name(globals(), "constraint", identifier)


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.keras does not cover keras.constraints.{name}")
