"""torch.nn.parameter"""

from ._modules import Parameter

__all__ = ["Parameter"]
