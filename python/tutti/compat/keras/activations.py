"""keras.activations: what layers make of their outputs."""

import tutti as _tt

from . import ops as _ops
from ._configured import by_name as _by_name
from .ops import (  # noqa: F401
    celu,
    elu,
    glu,
    hard_shrink,
    hard_sigmoid,
    hard_silu,
    hard_swish,
    hard_tanh,
    leaky_relu,
    log_sigmoid,
    log_softmax,
    mish,
    relu6,
    selu,
    sigmoid,
    silu,
    soft_shrink,
    softmax,
    softplus,
    softsign,
    sparse_plus,
    sparse_sigmoid,
    squareplus,
    swish,
    tanh,
    tanh_shrink,
    threshold,
)

exponential = _ops.exp


def linear(x):
    """x"""
    return x


def _relu(x, negative_slope=0.0, max_value=None, threshold=0.0):  # noqa: F811 - Keras' name
    """What is above a threshold, up to a largest value; below it a part of the distance to it."""
    if not (negative_slope or threshold or max_value is not None):
        return _tt.nn.functional.relu(x)
    below = negative_slope * (x - threshold)
    above = x if max_value is None else _tt.minimum(x, max_value)
    return _tt.where(x > threshold if threshold else x >= threshold, above, below)


relu = _ops._op(_relu, "relu")
gelu = _ops._op(lambda x, approximate=False: _ops.gelu(x, approximate), "gelu")


def serialize(activation):
    """The name of a function, or the configuration of an object."""
    return activation.__name__ if hasattr(activation, "__name__") else activation.get_config()


def get(identifier):
    """The activation by its name; None stands for linear."""
    if identifier is None:
        return linear
    return _by_name(globals(), "activation function", identifier)


deserialize = get


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.keras does not cover keras.activations.{name}")
