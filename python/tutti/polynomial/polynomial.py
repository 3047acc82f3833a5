"""Polynomials in powers of x, the lowest first."""

from . import _functions

__all__ = [*_functions.fill(globals(), "polynomial"), "polyvalfromroots"]


def polyvalfromroots(x, r, tensor=True):
    """Values of a polynomial that is given by its roots.

    Parameters
    ----------
    x : array_like
        The array, or the points.
    r : array_like
        The roots.
    tensor : bool, optional
        Every point with every column, not one with one.

    Returns
    -------
    ndarray
        The values.

    Examples
    --------
    >>> tt.polynomial.polynomial.polyvalfromroots(3.0, [1, 2])
    array(2.)
    """
    return _functions._rows["valfromroots"](x, r, tensor)
