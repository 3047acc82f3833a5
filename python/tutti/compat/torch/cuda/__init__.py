"""torch.cuda: tutti's GPUs under its names."""

from .... import cuda as _cuda
from .. import _random
from .._tensor import device as _device

__all__ = [
    "Event",
    "Stream",
    "current_device",
    "device",
    "device_count",
    "is_available",
    "manual_seed_all",
    "synchronize",
]

for _name in (
    "Event Stream current_device current_stream default_stream device_count empty_cache get_device_capability "
    "get_device_name get_device_properties is_available max_memory_allocated max_memory_reserved mem_get_info "
    "memory_allocated memory_reserved memory_summary reset_peak_memory_stats set_device synchronize"
).split():
    globals()[_name] = getattr(_cuda, _name)

manual_seed = manual_seed_all = _random.manual_seed


class device:
    """A block whose tensors are made on a GPU."""

    def __init__(self, device):
        self._device = _device(device if not isinstance(device, int) else f"cuda:{device}")

    def __enter__(self):
        return self._device.__enter__()

    def __exit__(self, *exc):
        return self._device.__exit__(*exc)


def init():
    """Nothing has to be done."""


def is_initialized():
    return _cuda.is_available()


def is_bf16_supported(including_emulation=True):
    return _cuda.is_available()


def __getattr__(name):
    if name in ("amp", "random"):
        from importlib import import_module

        return import_module("." + name, __name__)
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.torch does not cover torch.cuda.{name}")
