"""torch.distributions.kl: how far one distribution is from another."""

import tutti as _tt

from ._base import functions, sum_rightmost
from ._continuous import Beta, Exponential, Gamma, Laplace, LogNormal, Normal, Uniform
from ._counts import Bernoulli, Categorical, OneHotCategorical, Poisson
from ._vectors import Dirichlet, Independent, MultivariateNormal

__all__ = ["kl_divergence", "register_kl"]
_rules = {}


def register_kl(type_p, type_q):
    """A function decorator: what says how far the one kind is from the other."""

    def of(rule):
        _rules[type_p, type_q] = rule
        return rule

    return of


def kl_divergence(p, q):
    """The mean of log p - log q over values of p."""
    for a in type(p).__mro__:
        for b in type(q).__mro__:
            if (a, b) in _rules:
                return _rules[a, b](p, q)
    names = type(p).__name__, type(q).__name__
    raise NotImplementedError("No KL(p || q) is implemented for p type {} and q type {}".format(*names))


@register_kl(Normal, Normal)
def _normal(p, q):
    ratio = (p.scale / q.scale).pow(2)
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale).pow(2) - 1 - ratio.log())


@register_kl(LogNormal, LogNormal)
def _log_normal(p, q):
    return _normal(p.base_dist, q.base_dist)


@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p, q):
    return p.probs * (p.log_prob(1.0) - q.log_prob(1.0)) + (1 - p.probs) * (p.log_prob(0.0) - q.log_prob(0.0))


@register_kl(Categorical, Categorical)
def _categorical(p, q):
    t = p.probs * (p.logits - q.logits)
    t = functions["where"](q.probs == 0, float("inf"), t)
    return functions["where"](p.probs == 0, 0.0, t).sum(-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def _one_hot(p, q):
    return _categorical(p._categorical, q._categorical)


@register_kl(Exponential, Exponential)
def _exponential(p, q):
    ratio = q.rate / p.rate
    return -ratio.log() + ratio - 1


@register_kl(Laplace, Laplace)
def _laplace(p, q):
    ratio, apart = p.scale / q.scale, (p.loc - q.loc).abs()
    return -ratio.log() + apart / q.scale + ratio * (-apart / p.scale).exp() - 1


@register_kl(Uniform, Uniform)
def _uniform(p, q):
    found = ((q.high - q.low) / (p.high - p.low)).log()
    return functions["where"]((q.low > p.low) | (q.high < p.high), float("inf"), found)


@register_kl(Gamma, Gamma)
def _gamma(p, q):
    a, b = p.concentration, q.concentration
    t = b * (p.rate / q.rate).log() + b.lgamma() - a.lgamma()
    return t + (a - b) * a.digamma() + (q.rate - p.rate) * (a / p.rate)


@register_kl(Beta, Beta)
def _beta(p, q):
    a, b = p.concentration1, p.concentration0
    t = q._log_norm() - p._log_norm() + (a - q.concentration1) * a.digamma() + (b - q.concentration0) * b.digamma()
    return t + (q.concentration1 + q.concentration0 - a - b) * (a + b).digamma()


@register_kl(Poisson, Poisson)
def _poisson(p, q):
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(Dirichlet, Dirichlet)
def _dirichlet(p, q):
    a, b = p.concentration, q.concentration
    total = a.sum(-1)
    t = total.lgamma() - b.sum(-1).lgamma() - (a.lgamma() - b.lgamma()).sum(-1)
    return t + ((a - b) * (a.digamma() - total.digamma().unsqueeze(-1))).sum(-1)


@register_kl(MultivariateNormal, MultivariateNormal)
def _vectors(p, q):
    n = p.event_shape[0]
    y = _tt.linalg.solve(q.scale_tril, (q.loc - p.loc).unsqueeze(-1)).squeeze(-1)
    spread = _tt.linalg.solve(q.scale_tril, p.scale_tril).pow(2).sum((-2, -1))
    return q._half_log_det() - p._half_log_det() + 0.5 * (spread + y.pow(2).sum(-1) - n)


@register_kl(Independent, Independent)
def _independent(p, q):
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError
    return sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)
