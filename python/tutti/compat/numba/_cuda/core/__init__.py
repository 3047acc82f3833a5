"""numba.cuda.core: where numba-cuda keeps errors and settings."""

from ....._jit.settings import config  # noqa: F401
from ... import errors  # noqa: F401


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.numba does not cover numba.cuda.core.{name}")
