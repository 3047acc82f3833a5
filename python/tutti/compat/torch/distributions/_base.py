"""What distributions have in common."""

import math
import warnings

import tutti as _tt

from .. import _functions, _random
from .._tensor import Size, Tensor

functions = _functions.functions


def tensor(value, like=None):
    """A parameter as a tensor: numbers are of the type of `like`, or of the one that floats have."""
    if isinstance(value, Tensor):
        return value
    from .. import tensor as made

    return made(float(value), dtype=None if like is None else like.dtype)


def together(*values):
    """Parameters of one shape."""
    like = next((v for v in values if isinstance(v, Tensor)), None)
    return functions["broadcast_tensors"](*(tensor(v, like) for v in values))


def sum_rightmost(value, n):
    """The sum over the last n axes."""
    return value.sum(tuple(range(-n, 0))) if n else value


class Distribution:
    """A distribution: batch_shape is how many there are beside each other, event_shape that of one value."""

    has_rsample = False
    has_enumerate_support = False
    _parameters = ()  # the names of what it was made of
    _events = {}  # how many axes of an event a parameter has, where it has any

    def __init__(self, batch_shape=(), event_shape=(), validate_args=None):
        self._batch_shape, self._event_shape = Size(batch_shape), Size(event_shape)

    batch_shape = property(lambda self: self._batch_shape)
    event_shape = property(lambda self: self._event_shape)
    stddev = property(lambda self: self.variance.sqrt())

    @staticmethod
    def set_default_validate_args(value):
        """Parameters are not looked at: that would wait for them."""

    def _extended_shape(self, sample_shape=()):
        return Size(tuple(sample_shape)) + self._batch_shape + self._event_shape

    def expand(self, batch_shape, _instance=None):
        """The same beside each other in another shape."""
        batch = tuple(batch_shape)
        given = {}
        for name in self._parameters:
            value, axes = getattr(self, name), self._events.get(name, 0)
            if isinstance(value, Tensor):
                value = value.expand((*batch, *value.shape[value.ndim - axes :]))
            given[name] = value
        return type(self)(**given)

    def rsample(self, sample_shape=()):
        """Numbers that are differentiable by the parameters."""
        raise NotImplementedError(f"tutti.compat.torch does not cover rsample of {type(self).__name__}")

    def sample(self, sample_shape=()):
        """Numbers."""
        with _tt.no_grad():
            return self.rsample(sample_shape).detach()

    def sample_n(self, n):
        warnings.warn("sample_n(n) will be deprecated. Use .sample((n,)) instead.", FutureWarning, stacklevel=2)
        return self.sample((n,))

    def log_prob(self, value):
        """The logarithm of the density, or of the chance, of values."""
        raise NotImplementedError

    def cdf(self, value):
        """The chance of at most a value."""
        raise NotImplementedError

    def icdf(self, value):
        """The value below which there is a chance."""
        raise NotImplementedError

    def entropy(self):
        raise NotImplementedError

    def enumerate_support(self, expand=True):
        """All values."""
        raise NotImplementedError

    def perplexity(self):
        return self.entropy().exp()

    def __repr__(self):
        told = [
            f"{n}: {v if v.numel() == 1 else v.size()}" for n in self._parameters if (v := getattr(self, n)) is not None
        ]
        return f"{type(self).__name__}({', '.join(told)})"


class ExponentialFamily(Distribution):
    """Distributions whose logarithms are linear in functions of the value."""


def uniform(shape, like):
    """Random numbers in (0, 1), as `like`'s: the smallest is above 0, so that it has a logarithm."""
    made = _random.rand(tuple(shape), dtype=like.dtype, device=like.device)
    return made.clamp(min=_tt.finfo(like.dtype).tiny)


def normal(shape, like):
    return _random.randn(tuple(shape), dtype=like.dtype, device=like.device)


def logits_of(probs, is_binary=False):
    """The logits of chances."""
    eps = _tt.finfo(probs.dtype).eps
    p = probs.clamp(min=eps, max=1 - eps)
    return p.log() - (-p).log1p() if is_binary else p.log()


def one_hot(places, n, like):
    """Vectors of n with a 1 at a place, as `like`'s."""
    return _tt.nn.functional.one_hot(places, n).to(like.dtype)


def drawn(kind, like, shape, *parameters):
    """Numbers of a distribution of tutti.random, of the generator of the process."""
    values = [p.detach().expand(tuple(shape)) for p in parameters]
    return tensor(0.0, like).new_tensor(getattr(_tt.random, kind)(*values)).to(like.dtype).reshape(tuple(shape))


LOG_2PI = math.log(2 * math.pi)
