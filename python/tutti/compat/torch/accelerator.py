"""torch.accelerator: the GPU that there is, or none."""

from ... import cuda as _cuda
from ._tensor import device as _device

__all__ = ["current_accelerator", "current_device_index", "device_count", "is_available", "synchronize"]

is_available, device_count, synchronize = _cuda.is_available, _cuda.device_count, _cuda.synchronize


def current_accelerator(check_available=False):
    """Its device, or None."""
    return _device("cuda") if _cuda.is_available() else None


def current_device_index():
    return _cuda.current_device()


def set_device_index(device):
    _cuda.set_device(device)
