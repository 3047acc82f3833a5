"""What the families of polynomials share: series made alike, intervals mapped, numbers as text."""

from .. import _core
from ._functions import _rows
from ._text import format_float

__all__ = ["as_series", "format_float", "getdomain", "mapdomain", "mapparms", "trimcoef", "trimseq"]


def as_series(alist, trim=True):
    """Array-likes as arrays of one axis and one type, without zeros at their ends (trim).

    Parameters
    ----------
    alist : sequence of array_like
        The series.
    trim : bool, optional
        Take zeros off the ends.

    Returns
    -------
    list of ndarray
        The series.

    Examples
    --------
    >>> tt.polynomial.polyutils.as_series([[1, 2, 0], [3]])
    [array([1., 2.]), array([3.])]
    """
    arrays = [_core.asarray(a) for a in alist]
    arrays = [a.reshape(1) if a.ndim == 0 else a for a in arrays]
    for a in arrays:
        if a.size == 0:
            raise ValueError("Coefficient array is empty")
        if a.ndim != 1:
            raise ValueError("Coefficient array is not 1-d")
        if a.dtype.kind == "b":
            raise ValueError("Coefficient arrays have no common type")
    if trim:
        arrays = [trimseq(a) for a in arrays]
    types = [a.dtype if a.dtype.kind in "fc" else _core.float64 for a in arrays]
    common = _core.functions["result_type"](*types)
    return [_core.array(a, dtype=common) for a in arrays]


def trimseq(seq):
    """A sequence without zeros at its end; one stays.

    Parameters
    ----------
    seq : sequence
        The coefficients.

    Returns
    -------
    sequence
        The shorter one.

    Examples
    --------
    >>> tt.polynomial.polyutils.trimseq([1, 2, 0])
    [1, 2]
    """
    n = len(seq)
    if n == 0 or seq[-1] != 0:
        return seq
    while n > 1 and seq[n - 1] == 0:
        n -= 1
    return seq[:n]


def trimcoef(c, tol=0):
    """A series without the small coefficients at its end.

    Parameters
    ----------
    c : array_like
        The coefficients, the lowest degree first.
    tol : float, optional
        The tolerance.

    Returns
    -------
    ndarray
        The coefficients.

    Examples
    --------
    >>> tt.polynomial.polyutils.trimcoef([1, 2, 0])
    array([1., 2.])
    """
    return _rows["trim"](c, tol)


def getdomain(x):
    """The interval that points span; of complex points the rectangle's corners.

    Parameters
    ----------
    x : array_like
        The points.

    Returns
    -------
    ndarray
        Both ends.

    Examples
    --------
    >>> tt.polynomial.polyutils.getdomain([3.0, 1.0])
    array([1., 3.])
    """
    return _rows["domain"](x)


def mapparms(old, new):
    """Offset and scale of the line that takes one interval to another.

    Parameters
    ----------
    old : sequence of two numbers
        The interval that the points are in.
    new : sequence of two numbers
        The interval that they go to.

    Returns
    -------
    (number, number)
        Offset and scale.

    Examples
    --------
    >>> tt.polynomial.polyutils.mapparms([0, 1], [0, 4])
    (0.0, 4.0)
    """
    off, scl = _rows["mapparms"](old, new)
    return off.item(), scl.item()


def mapdomain(x, old, new):
    """Points of one interval in another.

    Parameters
    ----------
    x : array_like
        The points.
    old : sequence of two numbers
        The interval that the points are in.
    new : sequence of two numbers
        The interval that they go to.

    Returns
    -------
    ndarray
        The points.

    Examples
    --------
    >>> tt.polynomial.polyutils.mapdomain([0.0, 1.0], [0, 1], [0, 4])
    array([0., 4.])
    """
    off, scl = _rows["mapparms"](old, new)
    return off + scl * (x if isinstance(x, _core.ndarray) else _core.asarray(x))
