"""keras.metrics: those of tutti.metrics; their states may be variables."""

import tutti as _tt
from tutti.metrics import _accuracy

from . import _state, initializers
from ._configured import Configured as _Configured
from ._configured import deserialize_keras_object as deserialize
from ._configured import serialize_keras_object as serialize
from ._variable import Variable as _Variable

_own = {name: getattr(_tt.metrics, name) for name in _tt.metrics.__all__ if name not in ("Metric", "get")}
globals().update(_own)
__all__ = [*_own, "Metric", "deserialize", "get", "serialize"]


class Metric(_tt.metrics.Metric, _Configured):
    """What metrics are made of: states, update_state() and result()."""

    def __init__(self, dtype=None, name=None):
        self.name = name or _state.auto_name(_state.snake_case(type(self).__name__))
        self.dtype, self._variables = _tt.dtype(dtype or "float32"), []

    def add_variable(self, shape, initializer, dtype=None, aggregation="sum", name=None):
        """A new state."""
        made = _Variable(initializers.get(initializer), shape, dtype or "float32", False, name=name)
        self._variables.append(made)
        return made

    def add_weight(self, shape=(), initializer="zeros", dtype=None, name=None):
        """A new state."""
        return self.add_variable(shape, initializer, dtype, name=name)

    @property
    def variables(self):
        """The states."""
        return list(self._variables)

    def reset_state(self):
        """Zeros in all states."""
        for v in self._variables:
            v.assign(_tt.zeros(v.shape, dtype=v.dtype))

    def stateless_result(self, *unused):
        """Refused."""
        raise NotImplementedError("tutti.compat.keras does not cover stateless metrics")


def get(identifier):
    """The metric by its name, configuration, class or function."""
    if isinstance(identifier, dict):
        return deserialize(identifier)
    return _tt.metrics.get(identifier) if isinstance(identifier, str) else identifier


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    from tutti.training import losses

    if name.endswith("_accuracy") and hasattr(_accuracy, name):
        return getattr(_accuracy, name)
    found = losses.FUNCTIONS.get(losses.SHORT.get(name, name)) or getattr(_tt.metrics, name, None)
    if found is None:
        raise AttributeError(f"tutti.compat.keras does not cover keras.metrics.{name}")
    return found
