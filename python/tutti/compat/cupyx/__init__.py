"""CuPy's second package over tutti: kernels in Python (jit), timing (profiler), special functions (scipy)."""

import tutti as _tt

from . import jit, profiler, scipy

__all__ = ["jit", "profiler", "rsqrt", "scipy"]


def rsqrt(x):
    """One over the square root."""
    return 1 / _tt.sqrt(x)


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.cupyx does not cover cupyx.{name}")
