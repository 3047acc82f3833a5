"""numba.typed: containers of one type, for compiled functions."""

from ..._jit.containers import Dict, List


def __getattr__(name):
    raise AttributeError(f"tutti.compat.numba does not cover numba.typed.{name}")


__all__ = ["Dict", "List"]
