"""Polynomials in powers of x, the lowest first."""

from . import _functions

__all__ = [*_functions.fill(globals(), "polynomial"), "polyvalfromroots"]


def polyvalfromroots(x, r, tensor=True):
    """Values of a polynomial that is given by its roots."""
    return _functions._rows["valfromroots"](x, r, tensor)
