"""First values of parameters: the rows `nn.init.*` of the function table, with PyTorch's names and parameters."""

from .. import _table

__all__ = _table.fill(globals(), "nn.init")
