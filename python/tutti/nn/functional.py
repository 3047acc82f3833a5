"""Functions of networks: the rows `nn.functional.*` of the function table, with PyTorch's names and parameters."""

from .. import _table

__all__ = _table.fill(globals(), "nn.functional")
