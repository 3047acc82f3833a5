"""Polynomials: six families of them, each a module of functions and a class."""

from . import chebyshev, hermite, hermite_e, laguerre, legendre, polynomial, polyutils
from ._classes import CLASSES as _CLASSES
from ._classes import _Series

Polynomial, Chebyshev, Legendre, Hermite, HermiteE, Laguerre = _CLASSES.values()

__all__ = [
    "Chebyshev", "Hermite", "HermiteE", "Laguerre", "Legendre", "Polynomial", "chebyshev", "hermite", "hermite_e",
    "laguerre", "legendre", "polynomial", "polyutils", "set_default_printstyle",
]  # fmt: skip


def set_default_printstyle(style):
    """Print series with "unicode" signs or in "ascii".

    Parameters
    ----------
    style : {'unicode', 'ascii'}
        How series are printed.

    Returns
    -------
    None

    Examples
    --------
    >>> tt.polynomial.set_default_printstyle("unicode")
    """
    if style not in ("unicode", "ascii"):
        raise ValueError(f"Unsupported format string '{style}'. Valid options are 'ascii' and 'unicode'")
    _Series._use_unicode = style == "unicode"
