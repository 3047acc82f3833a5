"""torch.nn.parallel: one process, and a module where its parameters are."""

from ._modules import DataParallel

__all__ = ["DataParallel", "DistributedDataParallel"]


class DistributedDataParallel(DataParallel):
    """The module."""


def data_parallel(module, inputs, device_ids=None, output_device=None, dim=0, module_kwargs=None):
    """The module's result."""
    return module(*inputs if isinstance(inputs, tuple) else (inputs,), **(module_kwargs or {}))
