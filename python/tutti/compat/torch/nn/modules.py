"""torch.nn.modules: the classes of torch.nn."""

from ._modules import Module

__all__ = ["Module"]


def __getattr__(name):
    from tutti.compat.torch import nn

    return getattr(nn, name)
