"""CuPy's second package over tutti: kernels in Python (jit) and timing (profiler)."""

from . import jit, profiler

__all__ = ["jit", "profiler"]


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.cupyx does not cover cupyx.{name}")
