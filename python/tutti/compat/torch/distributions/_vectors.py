"""Distributions of vectors, and of several numbers as one event."""

import tutti as _tt

from ._base import LOG_2PI, Distribution, ExponentialFamily, drawn, functions, normal, one_hot, sum_rightmost


class Independent(Distribution):
    """The last axes of a batch as axes of an event."""

    def __init__(self, base_distribution, reinterpreted_batch_ndims, validate_args=None):
        shape = base_distribution.batch_shape + base_distribution.event_shape
        n = reinterpreted_batch_ndims
        if n > len(base_distribution.batch_shape):
            raise ValueError("Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), "
                             f"actual {n} vs {len(base_distribution.batch_shape)}")  # fmt: skip
        self.base_dist, self.reinterpreted_batch_ndims = base_distribution, n
        cut = len(base_distribution.batch_shape) - n
        super().__init__(shape[:cut], shape[cut:])

    has_rsample = property(lambda self: self.base_dist.has_rsample)
    mean = property(lambda self: self.base_dist.mean)
    mode = property(lambda self: self.base_dist.mode)
    variance = property(lambda self: self.base_dist.variance)

    def expand(self, batch_shape, _instance=None):
        inner = self.base_dist.batch_shape[len(self.base_dist.batch_shape) - self.reinterpreted_batch_ndims :]
        return Independent(self.base_dist.expand((*batch_shape, *inner)), self.reinterpreted_batch_ndims)

    def sample(self, sample_shape=()):
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape=()):
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value):
        return sum_rightmost(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    def entropy(self):
        return sum_rightmost(self.base_dist.entropy(), self.reinterpreted_batch_ndims)

    def __repr__(self):
        return f"Independent({self.base_dist}, {self.reinterpreted_batch_ndims})"


class MultivariateNormal(Distribution):
    """Normal vectors."""

    has_rsample = True
    _events = {"loc": 1, "covariance_matrix": 2, "scale_tril": 2}

    def __init__(self, loc, covariance_matrix=None, precision_matrix=None, scale_tril=None, validate_args=None):
        given = [m for m in (covariance_matrix, precision_matrix, scale_tril) if m is not None]
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        if len(given) != 1:
            raise ValueError("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
        batch = _tt.broadcast_shapes(tuple(given[0].shape[:-2]), tuple(loc.shape[:-1]))
        covariance = _tt.linalg.inv(precision_matrix) if precision_matrix is not None else covariance_matrix
        self.scale_tril = scale_tril if scale_tril is not None else _tt.linalg.cholesky(covariance)
        self.loc = loc.expand((*batch, loc.shape[-1]))
        self._parameters = ("loc", "scale_tril") if scale_tril is not None else ("loc", "covariance_matrix")
        super().__init__(batch, loc.shape[-1:])

    mean = mode = property(lambda self: self.loc)
    covariance_matrix = property(lambda self: self.scale_tril @ self.scale_tril.mT)
    precision_matrix = property(lambda self: _tt.linalg.inv(self.covariance_matrix))
    variance = property(lambda self: self.scale_tril.pow(2).sum(-1).expand(tuple(self.loc.shape)))

    def expand(self, batch_shape, _instance=None):
        batch = tuple(batch_shape)
        loc = self.loc.expand((*batch, *self.event_shape))
        return MultivariateNormal(loc, scale_tril=self.scale_tril)

    def rsample(self, sample_shape=()):
        eps = normal(self._extended_shape(sample_shape), self.loc)
        return self.loc + (self.scale_tril @ eps.unsqueeze(-1)).squeeze(-1)

    def _half_log_det(self):
        return self.scale_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)

    def log_prob(self, value):
        y = _tt.linalg.solve(self.scale_tril, (value - self.loc).unsqueeze(-1)).squeeze(-1)
        return -0.5 * (self._event_shape[0] * LOG_2PI + y.pow(2).sum(-1)) - self._half_log_det()

    def entropy(self):
        h = 0.5 * self._event_shape[0] * (1 + LOG_2PI) + self._half_log_det()
        return h.expand(tuple(self._batch_shape))


class Dirichlet(ExponentialFamily):
    """Shares that add up to 1. They have no derivative by the parameters."""

    _parameters, _events = ("concentration",), {"concentration": 1}

    def __init__(self, concentration, validate_args=None):
        if concentration.dim() < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        super().__init__(concentration.shape[:-1], concentration.shape[-1:])

    mean = property(lambda self: self.concentration / self.concentration.sum(-1, True))

    @property
    def variance(self):
        total = self.concentration.sum(-1, True)
        return self.concentration * (total - self.concentration) / (total.pow(2) * (total + 1))

    @property
    def mode(self):
        more = (self.concentration - 1).clamp(min=0)
        corner = one_hot(self.concentration.argmax(-1), self.concentration.shape[-1], more)
        return functions["where"]((self.concentration < 1).all(-1, True), corner, more / more.sum(-1, True))

    def sample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        g = drawn("standard_gamma", self.concentration, shape, self.concentration)
        return g / g.sum(-1, keepdim=True)

    def log_prob(self, value):
        a = self.concentration
        return (a - 1).xlogy(value).sum(-1) + a.sum(-1).lgamma() - a.lgamma().sum(-1)

    def entropy(self):
        a, k = self.concentration, self.concentration.size(-1)
        total = a.sum(-1)
        norm = a.lgamma().sum(-1) - total.lgamma()
        return norm - (k - total) * total.digamma() - ((a - 1) * a.digamma()).sum(-1)


class MixtureSameFamily(Distribution):
    """One of several distributions by chance."""

    def __init__(self, mixture_distribution, component_distribution, validate_args=None):
        self.mixture_distribution, self.component_distribution = mixture_distribution, component_distribution
        super().__init__(component_distribution.batch_shape[:-1], component_distribution.event_shape)

    def _over_components(self, values):
        p = self.mixture_distribution.probs
        p = p.reshape(tuple(p.shape) + (1,) * len(self._event_shape))
        return (p * values).sum(-1 - len(self._event_shape))

    mean = property(lambda self: self._over_components(self.component_distribution.mean))

    @property
    def variance(self):
        mean = self.mean.unsqueeze(-1 - len(self._event_shape))
        apart = (self.component_distribution.mean - mean).pow(2)
        return self._over_components(self.component_distribution.variance + apart)

    def sample(self, sample_shape=()):
        axis, events = len(sample_shape) + len(self._batch_shape), (1,) * len(self._event_shape)
        which = self.mixture_distribution.sample(sample_shape)
        of_each = self.component_distribution.sample(sample_shape)
        places = which.reshape((*which.shape, 1, *events))
        places = places.expand((*which.shape, 1, *self._event_shape))
        return of_each.gather(axis, places).squeeze(axis)

    def log_prob(self, value):
        of_each = self.component_distribution.log_prob(value.unsqueeze(-1 - len(self._event_shape)))
        return (of_each + self.mixture_distribution.logits.log_softmax(-1)).logsumexp(-1)


class Multinomial(Distribution):
    """How often each class came in a number of draws."""

    _parameters, _events = ("total_count", "probs"), {"probs": 1}

    def __init__(self, total_count=1, probs=None, logits=None, validate_args=None):
        from ._counts import Categorical

        self.total_count, self._categorical = total_count, Categorical(probs, logits)
        super().__init__(self._categorical.batch_shape, self._categorical.param_shape[-1:])

    probs = property(lambda self: self._categorical.probs)
    logits = property(lambda self: self._categorical.logits)
    mean = property(lambda self: self.probs * self.total_count)
    variance = property(lambda self: self.total_count * self.probs * (1 - self.probs))

    def sample(self, sample_shape=()):
        found = self._categorical.sample((self.total_count, *sample_shape))
        return one_hot(found, self._event_shape[0], self.probs).sum(0)

    def log_prob(self, value):
        ways = (value.sum(-1) + 1).lgamma() - (value + 1).lgamma().sum(-1)
        return ways + functions["where"](value == 0, 0.0, self.logits * value).sum(-1)

    def __repr__(self):
        return f"Multinomial(total_count: {self.total_count}, probs: {self.probs.size()})"
