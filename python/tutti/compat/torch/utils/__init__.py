"""torch.utils"""

from . import checkpoint

__all__ = ["checkpoint", "data"]


def __getattr__(name):
    if name == "data":
        from importlib import import_module

        return import_module("." + name, __name__)
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.torch does not cover torch.utils.{name}")
