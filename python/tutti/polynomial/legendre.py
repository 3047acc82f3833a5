"""Series of Legendre polynomials."""

from . import _functions

__all__ = _functions.fill(globals(), "legendre")
