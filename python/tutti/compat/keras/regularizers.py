"""keras.regularizers: what weights, or outputs, add to the loss."""

import tutti as _tt

from ._configured import Configured as _Configured
from ._configured import by_name as _by_name
from ._configured import deserialize_keras_object as deserialize
from ._configured import serialize_keras_object as serialize

__all__ = ["L1", "L1L2", "L2", "OrthogonalRegularizer", "Regularizer", "deserialize", "get", "serialize"]


class Regularizer(_Configured):
    """What makes a loss of an array."""

    def __call__(self, x):
        return 0.0


def _strength(value, name):
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value < 0:
        raise ValueError(f"Invalid value for argument {name}: expected a non-negative float. Received: {name}={value}")
    return float(value)


class L1L2(Regularizer):
    """l1 times the sum of sizes, and l2 times the sum of squares."""

    def __init__(self, l1=0.0, l2=0.0):
        self.l1, self.l2 = _strength(l1 or 0.0, "l1"), _strength(l2 or 0.0, "l2")

    def __call__(self, x):
        parts = []
        if self.l1:
            parts.append(self.l1 * _tt.sum(_tt.abs(x)))
        if self.l2:
            parts.append(self.l2 * _tt.sum(_tt.square(x)))
        return sum(parts) if parts else _tt.zeros((), dtype=x.dtype)


class L1(Regularizer):
    """l1 times the sum of sizes."""

    def __init__(self, l1=0.01):
        self.l1 = _strength(0.01 if l1 is None else l1, "l1")

    def __call__(self, x):
        return self.l1 * _tt.sum(_tt.abs(x))


class L2(Regularizer):
    """l2 times the sum of squares."""

    def __init__(self, l2=0.01):
        self.l2 = _strength(0.01 if l2 is None else l2, "l2")

    def __call__(self, x):
        return self.l2 * _tt.sum(_tt.square(x))


class OrthogonalRegularizer(Regularizer):
    """The cosines between rows, or columns."""

    def __init__(self, factor=0.01, mode="rows"):
        if mode not in {"rows", "columns"}:
            raise ValueError(
                f'Invalid value for argument `mode`. Expected one of {{"rows", "columns"}}. Received: mode={mode}'
            )
        self.factor, self.mode = _strength(factor, "factor"), mode

    def __call__(self, x):
        if x.ndim != 2:
            raise ValueError(f"Inputs to OrthogonalRegularizer must have rank 2. Received: inputs.shape={x.shape}")
        x = x if self.mode == "rows" else x.T
        x = x / _tt.sqrt(_tt.maximum(_tt.sum(_tt.square(x), 1, keepdims=True), 1e-12))
        size = x.shape[0]
        between = _tt.abs(x @ x.T) * (1.0 - _tt.eye(size, dtype=x.dtype))
        return self.factor * 0.5 * _tt.sum(between) / max(size * (size - 1) / 2, 1.0)


l1, l2, orthogonal_regularizer = L1, L2, OrthogonalRegularizer


def l1_l2(l1=0.01, l2=0.01):
    """Both."""
    return L1L2(l1, l2)


def get(identifier):
    """The regulariser by its name, configuration or class."""
    return _by_name(globals(), "regularizer", identifier)


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.keras does not cover keras.regularizers.{name}")
