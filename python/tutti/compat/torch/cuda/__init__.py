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
    "Event Stream current_device current_stream default_stream device_count get_device_capability get_device_name "
    "get_device_properties is_available mem_get_info memory_summary set_device synchronize"
).split():
    globals()[_name] = getattr(_cuda, _name)


def _without_a_gpu(name, value):
    """A function of tutti.cuda's that programs call without looking whether there is a GPU."""

    def function(device=None):
        return getattr(_cuda, name)(*(() if device is None else (device,))) if _cuda.is_available() else value

    function.__name__ = name
    return function


for _name in "max_memory_allocated max_memory_reserved memory_allocated memory_reserved".split():
    globals()[_name] = _without_a_gpu(_name, 0)
for _name in ("empty_cache", "reset_peak_memory_stats"):
    globals()[_name] = _without_a_gpu(_name, None)

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
