"""Series of Chebyshev polynomials (of the first kind)."""

from .. import _core
from . import _functions

__all__ = [*_functions.fill(globals(), "chebyshev"), "chebinterpolate", "chebpts1", "chebpts2"]


def _count(npts, least):
    if npts != int(npts):
        raise ValueError("npts must be integer")
    if npts < least:
        raise ValueError(f"npts must be >= {least}")
    return int(npts)


def chebgauss(deg):
    """Points and weights of Gauss' quadrature.

    Parameters
    ----------
    deg : int
        The degree.

    Returns
    -------
    (ndarray, ndarray)
        Points and weights.

    Examples
    --------
    >>> tt.polynomial.chebyshev.chebgauss(1)[0].round(6) + 0.0
    array([0.])
    """
    if deg <= 0:
        raise ValueError("deg must be a positive integer")
    k = _core.functions["arange"](1, 2 * deg, 2)
    return _core.ops["cos"](k * (3.141592653589793 / (2.0 * deg))), _core.functions["full"](
        deg, 3.141592653589793 / deg
    )


def chebpts1(npts):
    """Points of the first kind: the roots of T_npts.

    Parameters
    ----------
    npts : int
        How many.

    Returns
    -------
    ndarray
        The points.

    Examples
    --------
    >>> tt.polynomial.chebyshev.chebpts1(2).round(6)
    array([-0.707107,  0.707107])
    """
    npts = _count(npts, 1)
    k = _core.functions["arange"](1 - npts, npts + 1, 2)
    return _core.ops["sin"](k * (0.5 * 3.141592653589793 / npts))


def chebpts2(npts):
    """Points of the second kind: the extremes of T_{npts - 1}, its ends among them.

    Parameters
    ----------
    npts : int
        How many.

    Returns
    -------
    ndarray
        The points.

    Examples
    --------
    >>> tt.polynomial.chebyshev.chebpts2(2)
    array([-1.,  1.])
    """
    return _core.ops["cos"](_core.functions["linspace"](-3.141592653589793, 0, _count(npts, 2)))


def chebinterpolate(func, deg, args=()):
    """The series of a degree through func at the points of the first kind.

    Parameters
    ----------
    func : function
        The function.
    deg : int
        The degree.

    Returns
    -------
    ndarray
        The coefficients.

    Examples
    --------
    >>> tt.polynomial.chebyshev.chebinterpolate(lambda x: 2 * x, 1).round(6) + 0.0
    array([0., 2.])
    """
    d = _core.asarray(deg)
    if d.ndim > 0 or d.dtype.kind not in "iu" or d.size == 0:
        raise TypeError("deg must be an int")
    if deg < 0:
        raise ValueError("expected deg >= 0")
    order = deg + 1
    x = chebpts1(order)
    c = _core.functions["dot"](globals()["chebvander"](x, deg).T, func(x, *args))
    c[0] /= order
    c[1:] /= 0.5 * order
    return c
