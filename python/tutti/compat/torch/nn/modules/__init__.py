"""torch.nn.modules and the modules in it: the classes of torch.nn."""

from .....nn import _calls
from .._modules import Module

__all__ = [
    "Module", "register_module_forward_hook", "register_module_forward_pre_hook", "register_module_full_backward_hook",
    "register_module_full_backward_pre_hook",
]  # fmt: skip
_PARTS = (
    "activation adaptive batchnorm container conv distance dropout embedding flatten fold instancenorm linear loss "
    "module normalization padding pooling rnn sparse transformer upsampling utils"
).split()


def register_module_forward_pre_hook(hook):
    """Call a function before the forward of every module."""
    return _calls.register_everywhere("_forward_pre_hooks", hook)


def register_module_forward_hook(hook, *, with_kwargs=False, always_call=False):
    """Call a function after the forward of every module."""
    told = {"with_kwargs": with_kwargs, "always_call": always_call}
    return _calls.register_everywhere("_forward_hooks", hook, tuple(name for name, value in told.items() if value))


def register_module_full_backward_pre_hook(hook):
    """Call a function with the gradients of every module's results."""
    return _calls.register_everywhere("_backward_pre_hooks", hook)


def register_module_full_backward_hook(hook):
    """Call a function with the gradients of every module's arguments and results."""
    return _calls.register_everywhere("_backward_hooks", hook)


def __getattr__(name):
    import sys

    from tutti.compat.torch import nn

    if name in _PARTS:
        return sys.modules[__name__]
    return getattr(nn, "Linear" if name == "NonDynamicallyQuantizableLinear" else name)
