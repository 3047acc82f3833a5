"""concurrent's names: `futures` alone."""

from . import futures

__all__ = ["futures"]
