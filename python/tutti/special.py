"""Special functions: the rows `special.*` of the tables, elementwise and fused like all others, with SciPy's names."""

from . import _table

__all__ = _table.fill(globals(), "special")
psi = digamma  # noqa: F821 (a row)
__all__ += ["psi"]
