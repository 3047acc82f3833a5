"""Series of Hermite (probabilists') polynomials."""

from . import _functions

__all__ = _functions.fill(globals(), "hermite_e")
