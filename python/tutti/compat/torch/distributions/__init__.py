"""torch.distributions: random numbers, their densities, and how far distributions are from each other.

Parameters are not checked, which would wait for their values. Numbers of Gamma, Beta, Dirichlet and StudentT have no
derivative by the parameters.
"""

from . import kl as kl
from ._base import Distribution, ExponentialFamily
from ._continuous import (
    Beta,
    Cauchy,
    Chi2,
    Exponential,
    Gamma,
    Gumbel,
    HalfNormal,
    Laplace,
    LogNormal,
    Normal,
    StudentT,
    Uniform,
)  # fmt: skip
from ._counts import Bernoulli, Binomial, Categorical, Geometric, OneHotCategorical, Poisson
from ._vectors import Dirichlet, Independent, MixtureSameFamily, Multinomial, MultivariateNormal
from .kl import kl_divergence, register_kl

__all__ = [
    "Bernoulli", "Beta", "Binomial", "Categorical", "Cauchy", "Chi2", "Dirichlet", "Distribution", "Exponential",
    "ExponentialFamily", "Gamma", "Geometric", "Gumbel", "HalfNormal", "Independent", "Laplace", "LogNormal",
    "MixtureSameFamily", "Multinomial", "MultivariateNormal", "Normal", "OneHotCategorical", "Poisson", "StudentT",
    "Uniform", "kl_divergence", "register_kl",
]  # fmt: skip


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.torch does not cover torch.distributions.{name}")
