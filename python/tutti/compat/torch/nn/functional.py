"""torch.nn.functional: tutti's, which give tensors for tensors."""

from ....nn import functional as _functional

__all__ = list(_functional.__all__)


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    value = getattr(_functional, name, None)
    if value is None:
        raise AttributeError(f"tutti.compat.torch does not cover torch.nn.functional.{name}")
    globals()[name] = value
    return value


def __dir__():
    return __all__
