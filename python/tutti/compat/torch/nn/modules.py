"""torch.nn.modules and the modules in it: the classes of torch.nn."""

from ._modules import Module

__all__ = ["Module"]
_PARTS = (
    "activation adaptive batchnorm container conv distance dropout embedding flatten fold instancenorm linear loss "
    "module normalization padding pooling rnn sparse transformer upsampling utils"
).split()


def __getattr__(name):
    import sys

    from tutti.compat.torch import nn

    if name in _PARTS:
        return sys.modules[__name__]
    return getattr(nn, "Linear" if name == "NonDynamicallyQuantizableLinear" else name)
