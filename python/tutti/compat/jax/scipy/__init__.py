"""jax.scipy: special functions and a few distributions."""

from . import special, stats

__all__ = ["special", "stats"]


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.jax does not cover jax.scipy.{name}")
