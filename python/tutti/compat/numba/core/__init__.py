"""numba.core, as far as scripts reach into it: errors, types, config."""

from .. import config, errors, types

__all__ = ["config", "errors", "types"]


def __getattr__(name):
    raise AttributeError(f"tutti.compat.numba does not cover numba.core.{name}")
