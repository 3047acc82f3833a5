"""Random numbers: the rows `random.*` of the function table."""

from . import _table

__all__ = _table.fill(globals(), "random")
