"""torch.nn.utils: tutti's."""

from .....nn import utils as _utils
from . import rnn  # noqa: F401 (a module of this one)

__all__ = sorted({"rnn", *getattr(_utils, "__all__", [])})


def __getattr__(name):
    if name.startswith("_") or not hasattr(_utils, name):
        raise AttributeError(f"tutti.compat.torch does not cover torch.nn.utils.{name}")
    return getattr(_utils, name)
