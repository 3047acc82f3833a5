"""Distributions of counts, classes and truth values."""

import math

import tutti as _tt

from .. import _random
from ._base import Distribution, ExponentialFamily, drawn, functions, logits_of, one_hot, tensor, together, uniform


class _Chances:
    """probs and logits, of which one was given."""

    _is_binary = True

    def _give(self, probs, logits):
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        self._parameters = ("probs",) if logits is None else ("logits",)
        (given,) = together(probs if logits is None else logits)
        self._probs, self._logits = (given, None) if logits is None else (None, given)
        return given

    @property
    def probs(self):
        if self._probs is None:
            self._probs = self._logits.sigmoid() if self._is_binary else self._logits.softmax(-1)
        return self._probs

    @property
    def logits(self):
        if self._logits is None:
            self._logits = logits_of(self._probs, self._is_binary)
        return self._logits

    param_shape = property(lambda self: (self._probs if self._logits is None else self._logits).size())


class Bernoulli(_Chances, ExponentialFamily):
    """1 by a chance, else 0."""

    has_enumerate_support = True

    def __init__(self, probs=None, logits=None, validate_args=None):
        super().__init__(self._give(probs, logits).size())

    mean = property(lambda self: self.probs)
    mode = property(lambda self: (self.probs >= 0.5).to(self.probs.dtype))
    variance = property(lambda self: self.probs * (1 - self.probs))

    def sample(self, sample_shape=()):
        p = self.probs.detach()
        return (uniform(self._extended_shape(sample_shape), p) < p).to(p.dtype)

    def log_prob(self, value):
        """By logits, so that chances near 0 and 1 keep their digits."""
        x = self.logits
        return value * x - x.clamp(min=0) - (-x.abs()).exp().log1p()

    def entropy(self):
        return -(self.probs * self.log_prob(1.0) + (1 - self.probs) * self.log_prob(0.0))

    def enumerate_support(self, expand=True):
        values = tensor(0.0, self.probs).new_tensor([0.0, 1.0]).reshape((2,) + (1,) * len(self.batch_shape))
        return values.expand((2, *self.batch_shape)) if expand else values


class Geometric(_Chances, Distribution):
    """Failures before the first success."""

    def __init__(self, probs=None, logits=None, validate_args=None):
        super().__init__(self._give(probs, logits).size())

    mean = property(lambda self: 1 / self.probs - 1)
    mode = property(lambda self: self.probs * 0)
    variance = property(lambda self: (1 / self.probs - 1) / self.probs)

    def sample(self, sample_shape=()):
        p = self.probs.detach()
        return (uniform(self._extended_shape(sample_shape), p).log() / (-p).log1p()).floor()

    def log_prob(self, value):
        return _tt.special.xlog1py(value, -self.probs) + self.probs.log()

    def entropy(self):
        return Bernoulli(self.probs).entropy() / self.probs


class Categorical(_Chances, Distribution):
    """One of several classes."""

    has_enumerate_support, _is_binary, _events = True, False, {"probs": 1, "logits": 1}

    def __init__(self, probs=None, logits=None, validate_args=None):
        given = self._give(probs, logits)
        if given.dim() < 1:
            raise ValueError("`probs` parameter must be at least one-dimensional." if logits is None
                             else "`logits` parameter must be at least one-dimensional.")  # fmt: skip
        if logits is None:
            self._probs = given / given.sum(-1, keepdim=True)
        else:
            self._logits = given - given.logsumexp(-1, keepdim=True)
        super().__init__(given.shape[:-1])

    _num_events = property(lambda self: self.param_shape[-1])
    mean = property(lambda self: self.probs[..., 0] * math.nan)
    variance = property(lambda self: self.probs[..., 0] * math.nan)
    mode = property(lambda self: self.probs.argmax(-1))

    def sample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        n = math.prod(sample_shape)
        found = _random.multinomial(self.probs.detach().reshape(-1, self._num_events), n, True)
        return found.T.reshape(tuple(shape))

    def log_prob(self, value):
        logits = self.logits
        shape = _tt.broadcast_shapes(tuple(value.shape), tuple(logits.shape[:-1]))
        places = value.long().expand(shape).unsqueeze(-1)
        return logits.expand((*shape, logits.shape[-1])).gather(-1, places).squeeze(-1)

    def entropy(self):
        return -(self.logits.clamp(min=_tt.finfo(self.logits.dtype).min) * self.probs).sum(-1)

    def enumerate_support(self, expand=True):
        n = self._num_events
        values = functions["arange"](n).reshape((n,) + (1,) * len(self.batch_shape))
        return values.expand((n, *self.batch_shape)) if expand else values


class OneHotCategorical(Distribution):
    """One of several classes, as a vector with a 1 at its place."""

    _events = {"probs": 1, "logits": 1}

    def __init__(self, probs=None, logits=None, validate_args=None):
        self._categorical = Categorical(probs, logits)
        self._parameters = self._categorical._parameters
        super().__init__(self._categorical.batch_shape, self._categorical.param_shape[-1:])

    probs = mean = property(lambda self: self._categorical.probs)
    logits = property(lambda self: self._categorical.logits)
    variance = property(lambda self: self.probs * (1 - self.probs))

    @property
    def mode(self):
        return one_hot(self._categorical.mode, self._event_shape[0], self.probs)

    def sample(self, sample_shape=()):
        return one_hot(self._categorical.sample(sample_shape), self._event_shape[0], self.probs)

    def log_prob(self, value):
        return self._categorical.log_prob(value.argmax(-1))

    def entropy(self):
        return self._categorical.entropy()


class Binomial(_Chances, Distribution):
    """Successes of a number of trials."""

    def __init__(self, total_count=1, probs=None, logits=None, validate_args=None):
        given = self._give(probs, logits)
        self.total_count, given = together(total_count, given)
        self._probs, self._logits = (given, None) if logits is None else (None, given)
        self._parameters = ("total_count", *self._parameters)
        super().__init__(given.size())

    mean = property(lambda self: self.total_count * self.probs)
    variance = property(lambda self: self.total_count * self.probs * (1 - self.probs))
    mode = property(lambda self: ((self.total_count + 1) * self.probs).floor().minimum(self.total_count))

    def sample(self, sample_shape=()):
        n = self.total_count.detach().expand(tuple(self._extended_shape(sample_shape)))
        return drawn("binomial", self.probs, n.shape, n.long(), self.probs)

    def log_prob(self, value):
        n, x = self.total_count, self.logits
        ways = (n + 1).lgamma() - (value + 1).lgamma() - (n - value + 1).lgamma()
        return ways + value * x - n * (x.clamp(min=0) + (-x.abs()).exp().log1p())


class Poisson(ExponentialFamily):
    """How many events of a rate there are."""

    _parameters = ("rate",)

    def __init__(self, rate, validate_args=None):
        (self.rate,) = together(rate)
        super().__init__(self.rate.size())

    mean = variance = property(lambda self: self.rate)
    mode = property(lambda self: self.rate.floor())

    def sample(self, sample_shape=()):
        return drawn("poisson", self.rate, self._extended_shape(sample_shape), self.rate)

    def log_prob(self, value):
        return value.xlogy(self.rate) - self.rate - (value + 1).lgamma()
