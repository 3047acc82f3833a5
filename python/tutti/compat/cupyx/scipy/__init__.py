"""cupyx.scipy: what of SciPy's functions is here."""

from . import special

__all__ = ["special"]
