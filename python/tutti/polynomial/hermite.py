"""Series of Hermite (physicists') polynomials."""

from . import _functions

__all__ = _functions.fill(globals(), "hermite")
