"""jax.scipy.stats: the normal and the Bernoulli distribution."""

from . import bernoulli, norm

__all__ = ["bernoulli", "norm"]


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.jax does not cover jax.scipy.stats.{name}")
