"""numba.experimental: classes that are compiled."""

from ..._jit.classes import jitclass


def __getattr__(name):
    raise AttributeError(f"tutti.compat.numba does not cover numba.experimental.{name}")


__all__ = ["jitclass"]
