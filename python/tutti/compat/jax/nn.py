"""jax.nn: activations and what goes with them, spelled in tutti's functions."""

import math as _math

import tutti as _tt

from ._array import all_giving_arrays as _all_giving_arrays


def relu(x):
    """The positive part; no slope at zero."""
    return _tt.where(_tt.asarray(x) > 0, x, 0 * _tt.asarray(x))


def relu6(x):
    """The positive part up to 6."""
    return _tt.minimum(relu(x), 6)


def sigmoid(x):
    """1 / (1 + exp(-x))"""
    return _tt.special.expit(x)


def softplus(x):
    """log(1 + exp(x))"""
    return _tt.logaddexp(x, 0.0)


def silu(x):
    """x times its sigmoid."""
    return x * sigmoid(x)


swish = silu
tanh = _tt.tanh


def log_sigmoid(x):
    """The logarithm of the sigmoid."""
    return -softplus(-x)


def leaky_relu(x, negative_slope=1e-2):
    """x, times a factor where it is negative."""
    return _tt.where(_tt.asarray(x) >= 0, x, negative_slope * x)


def elu(x, alpha=1.0):
    """x, and alpha (exp(x) - 1) where it is not positive."""
    positive = _tt.asarray(x) > 0
    return _tt.where(positive, x, alpha * _tt.expm1(_tt.where(positive, 0.0, x)))


def celu(x, alpha=1.0):
    """x, and alpha (exp(x / alpha) - 1) where it is not positive."""
    return _tt.maximum(x, 0.0) + alpha * _tt.expm1(_tt.minimum(x, 0.0) / alpha)


def selu(x):
    """elu that keeps the mean and the variance."""
    return 1.0507009873554804934193349852946 * elu(x, 1.6732632423543772848170429916717)


def gelu(x, approximate=True):
    """x times the normal distribution up to it."""
    x = _tt.asarray(x)
    if approximate:
        return 0.5 * x * (1 + _tt.tanh(_math.sqrt(2 / _math.pi) * (x + 0.044715 * x**3)))
    return x * _tt.special.ndtr(x)


def hard_tanh(x):
    """x between -1 and 1."""
    return _tt.where(x > 1, 1.0, _tt.where(x < -1, -1.0, x))


def glu(x, axis=-1):
    """One half times the sigmoid of the other."""
    first, second = _tt.split(x, 2, axis)
    return first * sigmoid(second)


def logsumexp(a, axis=None, keepdims=False):
    """The logarithm of a sum of exponentials."""
    return _tt.special.logsumexp(a, axis, keepdims=keepdims)


def softmax(x, axis=-1):
    """Exponentials divided by their sum."""
    return _tt.special.softmax(x, axis)


def log_softmax(x, axis=-1):
    """The logarithm of softmax."""
    return _tt.special.log_softmax(x, axis)


def standardize(x, axis=-1, mean=None, variance=None, epsilon=1e-5):
    """Mean 0 and variance 1."""
    mean = _tt.mean(x, axis, keepdims=True) if mean is None else mean
    variance = _tt.mean(_tt.square(x), axis, keepdims=True) - _tt.square(mean) if variance is None else variance
    return (x - mean) / _tt.sqrt(variance + epsilon)


def one_hot(x, num_classes, *, dtype="float64", axis=-1):
    """1 at the places that x names."""
    made = _tt.asarray(x)[..., None] == _tt.arange(num_classes)
    return _tt.moveaxis(made.astype(dtype), -1, axis)


globals().update(_all_giving_arrays(globals()))


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.jax does not cover jax.nn.{name}")
