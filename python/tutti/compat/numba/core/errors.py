"""numba.core.errors."""

from ..errors import *  # noqa: F403
