"""Functions that leave the real numbers where their arguments do: sqrt(-1) is 1j here."""

from . import _core

__all__ = ["arccos", "arcsin", "arctanh", "log", "log10", "log2", "logn", "power", "sqrt"]


def _lifted(x, leaves):
    """x, as complex numbers where some element leaves the real domain."""
    x = _core.asarray(x)
    if x.dtype.kind == "c" or not bool(leaves(x).any()):
        return x
    narrow = ("float32", "int8", "uint8", "int16", "uint16")
    return x.astype("complex64" if x.dtype.name in narrow else "complex128")


def _negative(x):
    return x < 0


def _beyond_one(x):
    return abs(x) > 1


_WORDS = """{doc}

Parameters
----------
x : array_like
    The numbers.

Returns
-------
ndarray
    Complex where it must be.

Examples
--------
>>> tt.emath.{name}(0.5).dtype
dtype('float64')
"""


def _function(name, leaves, doc):
    def function(x):
        return _core.ops[name](_lifted(x, leaves))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = _WORDS.format(doc=doc, name=name)
    return function


sqrt = _function("sqrt", _negative, "The square root; of negative numbers an imaginary one.")
log = _function("log", _negative, "The natural logarithm; of negative numbers a complex one.")
log10 = _function("log10", _negative, "The logarithm to base 10; of negative numbers a complex one.")
log2 = _function("log2", _negative, "The logarithm to base 2; of negative numbers a complex one.")
arccos = _function("arccos", _beyond_one, "The inverse cosine; complex beyond [-1, 1].")
arcsin = _function("arcsin", _beyond_one, "The inverse sine; complex beyond [-1, 1].")
arctanh = _function("arctanh", _beyond_one, "The inverse hyperbolic tangent; complex beyond [-1, 1].")


def logn(n, x):
    """The logarithm to base n; of negative numbers a complex one.

    Parameters
    ----------
    n : int
        How many.
    x : array_like
        The array, or the points.

    Returns
    -------
    ndarray
        Complex where it must be.

    Examples
    --------
    >>> tt.emath.logn(3, 9.0).round(6)
    array(2.)
    """
    return log(x) / log(n)


def power(x, p):
    """x to the power p; complex where x is negative, a float where p is.

    Parameters
    ----------
    x : array_like
        The array, or the points.
    p : array_like
        The coefficients, the highest power first.

    Returns
    -------
    ndarray
        Complex where it must be.

    Examples
    --------
    >>> tt.emath.power([2, 4], -1)
    array([0.5 , 0.25])
    """
    x, p = _lifted(x, _negative), _core.asarray(p)
    if p.dtype.kind in "iu" and bool((p < 0).any()):
        p = p.astype("float64")
    return _core.ops["power"](x, p)
