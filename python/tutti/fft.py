"""Fourier transforms: the rows `fft.*` of the function table."""

from . import _table

__all__ = _table.fill(globals(), "fft")
