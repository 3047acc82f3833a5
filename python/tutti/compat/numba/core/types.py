"""numba.core.types."""

from ..types import *  # noqa: F403
