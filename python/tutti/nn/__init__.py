"""Networks: so far their functions, in :mod:`tutti.nn.functional`."""

from . import functional

__all__ = ["functional"]
