"""Distributions of real numbers."""

import math

import tutti as _tt

from ._base import LOG_2PI, Distribution, ExponentialFamily, drawn, functions, normal, together, uniform

EULER = 0.57721566490153286


class Normal(ExponentialFamily):
    """The normal distribution."""

    has_rsample, _parameters = True, ("loc", "scale")

    def __init__(self, loc, scale, validate_args=None):
        self.loc, self.scale = together(loc, scale)
        super().__init__(self.loc.size())

    mean = mode = property(lambda self: self.loc)
    stddev = property(lambda self: self.scale)
    variance = property(lambda self: self.scale.pow(2))

    def rsample(self, sample_shape=()):
        return self.loc + normal(self._extended_shape(sample_shape), self.loc) * self.scale

    def log_prob(self, value):
        return -((value - self.loc) ** 2) / (2 * self.variance) - self.scale.log() - LOG_2PI / 2

    def cdf(self, value):
        return 0.5 * (1 + ((value - self.loc) * self.scale.reciprocal() / math.sqrt(2)).erf())

    def icdf(self, value):
        return self.loc + self.scale * (2 * value - 1).erfinv() * math.sqrt(2)

    def entropy(self):
        return 0.5 + 0.5 * LOG_2PI + self.scale.log()


class LogNormal(Distribution):
    """What has a normal logarithm."""

    has_rsample, _parameters = True, ("loc", "scale")

    def __init__(self, loc, scale, validate_args=None):
        self.base_dist = Normal(loc, scale)
        super().__init__(self.base_dist.batch_shape)

    loc = property(lambda self: self.base_dist.loc)
    scale = property(lambda self: self.base_dist.scale)
    mean = property(lambda self: (self.loc + self.scale.pow(2) / 2).exp())
    mode = property(lambda self: (self.loc - self.scale.square()).exp())

    @property
    def variance(self):
        square = self.scale.pow(2)
        return square.expm1() * (2 * self.loc + square).exp()

    def rsample(self, sample_shape=()):
        return self.base_dist.rsample(sample_shape).exp()

    def log_prob(self, value):
        return self.base_dist.log_prob(value.log()) - value.log()

    def cdf(self, value):
        return self.base_dist.cdf(value.log())

    def icdf(self, value):
        return self.base_dist.icdf(value).exp()

    def entropy(self):
        return self.base_dist.entropy() + self.loc


class HalfNormal(Distribution):
    """The absolute value of what is normal around 0."""

    has_rsample, _parameters = True, ("scale",)

    def __init__(self, scale, validate_args=None):
        self.base_dist = Normal(0, scale)
        super().__init__(self.base_dist.batch_shape)

    scale = property(lambda self: self.base_dist.scale)
    mean = property(lambda self: self.scale * math.sqrt(2 / math.pi))
    mode = property(lambda self: self.scale * 0)
    variance = property(lambda self: self.scale.pow(2) * (1 - 2 / math.pi))

    def rsample(self, sample_shape=()):
        return self.base_dist.rsample(sample_shape).abs()

    def log_prob(self, value):
        found = self.base_dist.log_prob(value) + math.log(2)
        return functions["where"](value >= 0, found, -math.inf)

    def cdf(self, value):
        return 2 * self.base_dist.cdf(value) - 1

    def icdf(self, value):
        return self.base_dist.icdf((value + 1) / 2)

    def entropy(self):
        return self.base_dist.entropy() - math.log(2)


class Uniform(Distribution):
    """As likely everywhere in [low, high)."""

    has_rsample, _parameters = True, ("low", "high")

    def __init__(self, low, high, validate_args=None):
        self.low, self.high = together(low, high)
        super().__init__(self.low.size())

    mean = property(lambda self: (self.high + self.low) / 2)
    mode = property(lambda self: self.high * math.nan)
    stddev = property(lambda self: (self.high - self.low) / 12**0.5)
    variance = property(lambda self: (self.high - self.low).pow(2) / 12)

    def rsample(self, sample_shape=()):
        return self.low + uniform(self._extended_shape(sample_shape), self.low) * (self.high - self.low)

    def log_prob(self, value):
        inside = self.low.le(value) & self.high.gt(value)
        return inside.to(self.low.dtype).log() - (self.high - self.low).log()

    def cdf(self, value):
        return ((value - self.low) / (self.high - self.low)).clamp(min=0, max=1)

    def icdf(self, value):
        return value * (self.high - self.low) + self.low

    def entropy(self):
        return (self.high - self.low).log()


class Exponential(ExponentialFamily):
    """Times between events of a rate."""

    has_rsample, _parameters = True, ("rate",)

    def __init__(self, rate, validate_args=None):
        (self.rate,) = together(rate)
        super().__init__(self.rate.size())

    mean = stddev = property(lambda self: self.rate.reciprocal())
    mode = property(lambda self: self.rate * 0)
    variance = property(lambda self: self.rate.pow(-2))

    def rsample(self, sample_shape=()):
        return -uniform(self._extended_shape(sample_shape), self.rate).log() / self.rate

    def log_prob(self, value):
        return self.rate.log() - self.rate * value

    def cdf(self, value):
        return 1 - (-self.rate * value).exp()

    def icdf(self, value):
        return -(-value).log1p() / self.rate

    def entropy(self):
        return 1 - self.rate.log()


class Laplace(Distribution):
    """Exponential to both sides."""

    has_rsample, _parameters = True, ("loc", "scale")

    def __init__(self, loc, scale, validate_args=None):
        self.loc, self.scale = together(loc, scale)
        super().__init__(self.loc.size())

    mean = mode = property(lambda self: self.loc)
    variance = property(lambda self: 2 * self.scale.pow(2))
    stddev = property(lambda self: 2**0.5 * self.scale)

    def rsample(self, sample_shape=()):
        u = uniform(self._extended_shape(sample_shape), self.loc) * 2 - 1
        return self.loc - self.scale * u.sign() * (-u.abs()).log1p()

    def log_prob(self, value):
        return -(2 * self.scale).log() - (value - self.loc).abs() / self.scale

    def cdf(self, value):
        return 0.5 - 0.5 * (value - self.loc).sign() * (-(value - self.loc).abs() / self.scale).expm1()

    def icdf(self, value):
        term = value - 0.5
        return self.loc - self.scale * term.sign() * (-2 * term.abs()).log1p()

    def entropy(self):
        return 1 + (2 * self.scale).log()


class Cauchy(Distribution):
    """The ratio of two normal numbers."""

    has_rsample, _parameters = True, ("loc", "scale")

    def __init__(self, loc, scale, validate_args=None):
        self.loc, self.scale = together(loc, scale)
        super().__init__(self.loc.size())

    mode = property(lambda self: self.loc)
    mean = property(lambda self: self.loc * math.nan)
    variance = property(lambda self: functions["full_like"](self.loc, math.inf))

    def rsample(self, sample_shape=()):
        return self.icdf(uniform(self._extended_shape(sample_shape), self.loc))

    def log_prob(self, value):
        return -math.log(math.pi) - self.scale.log() - (((value - self.loc) / self.scale) ** 2).log1p()

    def cdf(self, value):
        return ((value - self.loc) / self.scale).atan() / math.pi + 0.5

    def icdf(self, value):
        return (math.pi * (value - 0.5)).tan() * self.scale + self.loc

    def entropy(self):
        return math.log(4 * math.pi) + self.scale.log()


class Gumbel(Distribution):
    """The largest of many."""

    has_rsample, _parameters = True, ("loc", "scale")

    def __init__(self, loc, scale, validate_args=None):
        self.loc, self.scale = together(loc, scale)
        super().__init__(self.loc.size())

    mean = property(lambda self: self.loc + self.scale * EULER)
    mode = property(lambda self: self.loc)
    stddev = property(lambda self: math.pi / math.sqrt(6) * self.scale)
    variance = property(lambda self: self.stddev.pow(2))

    def rsample(self, sample_shape=()):
        return self.icdf(uniform(self._extended_shape(sample_shape), self.loc))

    def log_prob(self, value):
        y = (self.loc - value) / self.scale
        return y - y.exp() - self.scale.log()

    def cdf(self, value):
        return (-((self.loc - value) / self.scale).exp()).exp()

    def icdf(self, value):
        return self.loc - self.scale * (-value.log()).log()

    def entropy(self):
        return self.scale.log() + (1 + EULER)


class Gamma(ExponentialFamily):
    """The gamma distribution. Its numbers have no derivative by the parameters."""

    _parameters = ("concentration", "rate")

    def __init__(self, concentration, rate, validate_args=None):
        self.concentration, self.rate = together(concentration, rate)
        super().__init__(self.concentration.size())

    mean = property(lambda self: self.concentration / self.rate)
    mode = property(lambda self: ((self.concentration - 1) / self.rate).clamp(min=0))
    variance = property(lambda self: self.concentration / self.rate.pow(2))

    def sample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        return drawn("standard_gamma", self.rate, shape, self.concentration) / self.rate.detach()

    def log_prob(self, value):
        a, b = self.concentration, self.rate
        return a.xlogy(b) + (a - 1).xlogy(value) - b * value - a.lgamma()

    def entropy(self):
        a = self.concentration
        return a - self.rate.log() + a.lgamma() + (1 - a) * a.digamma()


class Chi2(Gamma):
    """The sum of squares of normal numbers."""

    _parameters = ("df",)

    def __init__(self, df, validate_args=None):
        (df,) = together(df)
        super().__init__(0.5 * df, 0.5)

    df = property(lambda self: self.concentration * 2)


class Beta(ExponentialFamily):
    """The beta distribution. Its numbers have no derivative by the parameters."""

    _parameters = ("concentration1", "concentration0")

    def __init__(self, concentration1, concentration0, validate_args=None):
        self.concentration1, self.concentration0 = together(concentration1, concentration0)
        super().__init__(self.concentration1.size())

    mean = property(lambda self: self.concentration1 / (self.concentration1 + self.concentration0))

    @property
    def mode(self):
        from ._vectors import Dirichlet

        return Dirichlet(functions["stack"]([self.concentration1, self.concentration0], -1)).mode[..., 0]

    @property
    def variance(self):
        total = self.concentration1 + self.concentration0
        return self.concentration1 * self.concentration0 / (total.pow(2) * (total + 1))

    def sample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        return drawn("beta", self.concentration1, shape, self.concentration1, self.concentration0)

    def _log_norm(self):
        a, b = self.concentration1, self.concentration0
        return a.lgamma() + b.lgamma() - (a + b).lgamma()

    def log_prob(self, value):
        a, b = self.concentration1, self.concentration0
        return (a - 1).xlogy(value) + _tt.special.xlog1py(b - 1, -value) - self._log_norm()

    def entropy(self):
        a, b = self.concentration1, self.concentration0
        total = a + b
        return self._log_norm() - (a - 1) * a.digamma() - (b - 1) * b.digamma() + (total - 2) * total.digamma()


class StudentT(Distribution):
    """Student's distribution."""

    _parameters = ("df", "loc", "scale")

    def __init__(self, df, loc=0.0, scale=1.0, validate_args=None):
        self.df, self.loc, self.scale = together(df, loc, scale)
        super().__init__(self.df.size())

    mean = property(lambda self: functions["where"](self.df > 1, self.loc, math.nan))
    mode = property(lambda self: self.loc)

    @property
    def variance(self):
        where, df = functions["where"], self.df
        many = self.scale.pow(2) * df / (df - 2)
        return where(df > 2, many, where(df > 1, math.inf, math.nan))

    def sample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        return self.loc.detach() + self.scale.detach() * drawn("standard_t", self.loc, shape, self.df)

    def log_prob(self, value):
        y, df = (value - self.loc) / self.scale, self.df
        norm = self.scale.log() + 0.5 * df.log() + 0.5 * math.log(math.pi) + (df / 2).lgamma() - ((df + 1) / 2).lgamma()
        return -0.5 * (df + 1) * (y**2 / df).log1p() - norm
