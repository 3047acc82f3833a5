"""Series of Laguerre polynomials."""

from . import _functions

__all__ = _functions.fill(globals(), "laguerre")
