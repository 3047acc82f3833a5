"""Views by strides: the rows `stride_tricks.*` of the function table."""

from .. import _table

__all__ = _table.fill(globals(), "stride_tricks")
