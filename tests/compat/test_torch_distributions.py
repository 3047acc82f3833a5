"""torch.distributions beside SciPy's, and how far they are from each other beside a mean over many numbers."""

import numpy as np
import pytest
from scipy import stats
from tutti.compat import torch
from tutti.compat.torch import distributions as d

REAL = {
    "Normal": ((0.5, 2.0), stats.norm(0.5, 2)),
    "LogNormal": ((0.3, 0.5), stats.lognorm(0.5, scale=np.exp(0.3))),
    "HalfNormal": ((2.0,), stats.halfnorm(scale=2)),
    "Uniform": ((-0.5, 3.0), stats.uniform(-0.5, 3.5)),
    "Exponential": ((2.0,), stats.expon(scale=0.5)),
    "Laplace": ((0.5, 2.0), stats.laplace(0.5, 2)),
    "Cauchy": ((0.5, 2.0), stats.cauchy(0.5, 2)),
    "Gumbel": ((0.5, 2.0), stats.gumbel_r(0.5, 2)),
    "Gamma": ((1.5, 2.0), stats.gamma(1.5, scale=0.5)),
    "Chi2": ((3.0,), stats.chi2(3)),
    "Beta": ((1.5, 2.5), stats.beta(1.5, 2.5)),
    "StudentT": ((5.0, 0.5, 2.0), stats.t(5, 0.5, 2)),
}
COUNTS = {
    "Bernoulli": ((0.3,), stats.bernoulli(0.3), [0.0, 1.0]),
    "Geometric": ((0.3,), stats.geom(0.3, loc=-1), [0.0, 3.0]),
    "Binomial": ((7.0, 0.3), stats.binom(7, 0.3), [0.0, 3.0]),
    "Poisson": ((2.5,), stats.poisson(2.5), [0.0, 4.0]),
}


def close(got, want):
    np.testing.assert_allclose(got.detach().numpy(), want, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("name", REAL)
def test_real_numbers(name):
    args, oracle = REAL[name]
    ours, x = getattr(d, name)(*args), [0.2, 0.7]
    close(ours.log_prob(torch.tensor(x)), oracle.logpdf(x))
    if name != "Cauchy":
        close(ours.mean, oracle.mean())
        close(ours.variance, oracle.var())
    for way, want in (("cdf", oracle.cdf), ("icdf", oracle.ppf)):
        if getattr(type(ours), way) is not getattr(d.Distribution, way):
            close(getattr(ours, way)(torch.tensor(x)), want(x))
    if name != "StudentT":
        close(ours.entropy(), oracle.entropy())
    torch.manual_seed(3)
    drawn = ours.sample((4000,))
    assert drawn.shape == (4000,) and drawn.dtype == torch.float32
    assert stats.kstest(drawn.numpy(), oracle.cdf).pvalue > 1e-3


@pytest.mark.parametrize("name", COUNTS)
def test_counts(name):
    args, oracle, x = COUNTS[name]
    ours = getattr(d, name)(*args)
    close(ours.log_prob(torch.tensor(x)), oracle.logpmf(x))
    close(ours.mean, oracle.mean())
    close(ours.variance, oracle.var())
    torch.manual_seed(3)
    drawn = ours.sample((5000,)).numpy()
    assert abs(drawn.mean() - oracle.mean()) < 5 * oracle.std() / 5000**0.5
    for k in x:
        assert abs((drawn == k).mean() - oracle.pmf(k)) < 0.03


def test_classes():
    p = torch.tensor([[0.2, 0.3, 0.5], [1.0, 2.0, 3.0]])
    ours, share = d.Categorical(p), (p / p.sum(-1, keepdim=True)).numpy()
    close(ours.log_prob(torch.tensor([0, 2])), np.log([share[0, 0], share[1, 2]]))
    close(ours.log_prob(torch.tensor([[1], [2]])), np.log(share[:, 1:].T))
    close(ours.entropy(), stats.entropy(share, axis=-1))
    close(d.Categorical(logits=p.log()).probs, share)
    torch.manual_seed(1)
    drawn = ours.sample((4000,))
    assert drawn.shape == (4000, 2) and drawn.dtype == torch.int64
    counted = [np.bincount(c, minlength=3) / 4000 for c in drawn.numpy().T]
    np.testing.assert_allclose(counted, share, atol=0.03)
    one = d.OneHotCategorical(p)
    assert one.sample().shape == (2, 3) and one.sample((4,)).sum(-1).tolist() == [[1, 1]] * 4
    close(one.log_prob(torch.eye(3)[[0, 2]]), np.log([share[0, 0], share[1, 2]]))
    draws = d.Multinomial(5, torch.tensor([0.2, 0.3, 0.5]))
    close(draws.log_prob(torch.tensor([2.0, 2.0, 1.0])), stats.multinomial(5, [0.2, 0.3, 0.5]).logpmf([2, 2, 1]))
    assert draws.sample((6,)).sum(-1).tolist() == [5] * 6


def test_vectors():
    loc, cov, x = [0.0, 1.0], [[2.0, 0.5], [0.5, 1.0]], [[0.3, 0.7], [1.0, 2.0]]
    ours, oracle = d.MultivariateNormal(torch.tensor(loc), torch.tensor(cov)), stats.multivariate_normal(loc, cov)
    close(ours.log_prob(torch.tensor(x)), oracle.logpdf(x))
    close(ours.entropy(), oracle.entropy())
    torch.manual_seed(2)
    np.testing.assert_allclose(np.cov(ours.sample((20000,)).numpy().T), cov, atol=0.1)
    shares = d.Dirichlet(torch.tensor([1.0, 2.0, 3.0]))
    close(shares.log_prob(torch.tensor([0.2, 0.3, 0.5])), stats.dirichlet([1, 2, 3]).logpdf([0.2, 0.3, 0.5]))
    close(shares.entropy(), stats.dirichlet([1, 2, 3]).entropy())
    joined = d.Independent(d.Normal(torch.zeros(3, 2), torch.ones(3, 2)), 1)
    assert joined.batch_shape == (3,) and joined.event_shape == (2,)
    close(joined.log_prob(torch.ones(3, 2)), [2 * stats.norm.logpdf(1)] * 3)
    mixed = d.MixtureSameFamily(d.Categorical(torch.tensor([0.3, 0.7])), d.Normal(torch.tensor([0.0, 2.0]), 1.0))
    close(mixed.log_prob(torch.tensor(0.5)), np.log(0.3 * stats.norm.pdf(0.5) + 0.7 * stats.norm.pdf(0.5, 2)))
    assert mixed.sample((5,)).shape == (5,)


@pytest.mark.parametrize("name, p, q", [
    ("Normal", (0.0, 1.0), (1.0, 2.0)), ("LogNormal", (0.0, 1.0), (1.0, 2.0)), ("Laplace", (0.0, 1.0), (1.0, 2.0)),
    ("Uniform", (0.0, 1.0), (-1.0, 2.0)), ("Exponential", (1.0,), (2.0,)), ("Gamma", (1.5, 2.0), (2.0, 1.0)),
    ("Beta", (1.5, 2.0), (2.0, 1.0)), ("Bernoulli", (0.2,), (0.5,)), ("Poisson", (1.0,), (2.0,)),
])  # fmt: skip
def test_distances(name, p, q):
    p, q = (getattr(d, name)(*args) for args in (p, q))
    torch.manual_seed(4)
    x = p.sample((20000,))
    apart = (p.log_prob(x) - q.log_prob(x)).numpy()
    found = d.kl_divergence(p, q).item()
    assert abs(found - apart.mean()) < 5 * apart.std() / 20000**0.5 + 1e-5
    assert abs(d.kl_divergence(p, p).item()) < 1e-6
    with pytest.raises(NotImplementedError, match=r"No KL\(p \|\| q\) is implemented for p type"):
        d.kl_divergence(p, d.Cauchy(0.0, 1.0))


def test_shapes_and_gradients():
    loc = torch.zeros(3, requires_grad=True)
    normal = d.Normal(loc, torch.ones(2, 3))
    assert normal.batch_shape == (2, 3) and normal.rsample((4,)).shape == (4, 2, 3)
    normal.rsample((4,)).sum().backward()
    assert loc.grad.tolist() == [8, 8, 8] and not normal.sample().requires_grad
    assert normal.expand((5, 2, 3)).sample().shape == (5, 2, 3)
    assert repr(d.Normal(0.0, 1.0)) == "Normal(loc: 0.0, scale: 1.0)"
    scores = torch.tensor([1.0, 2.0, 0.5], requires_grad=True)
    d.Categorical(logits=scores).log_prob(torch.tensor(1)).backward()
    close(scores.grad, np.eye(3)[1] - np.exp([1, 2, 0.5]) / np.exp([1, 2, 0.5]).sum())
    with pytest.raises(NotImplementedError, match="rsample of Gamma"):
        d.Gamma(1.0, 1.0).rsample()
    with pytest.raises(ValueError, match="Either `probs` or `logits` must be specified"):
        d.Bernoulli()
    with pytest.raises(AttributeError, match="does not cover torch.distributions.Wishart"):
        d.Wishart  # noqa: B018
