"""torch.nn: tutti's modules, whose parameters are tensors."""

from .... import nn as _nn
from . import _modules
from ._modules import Module, Parameter

__all__ = sorted({*_nn.__all__, Module.__name__, Parameter.__name__, "Buffer", "DataParallel", "ParameterDict"})


def __getattr__(name):
    if name in ("functional", "init", "modules", "parallel", "parameter", "utils"):
        from importlib import import_module

        return import_module("." + name, __name__)
    if name in ("Buffer", "DataParallel", "ParameterDict"):
        return getattr(_modules, name)
    if name.startswith("_") or name not in _nn.__all__:
        raise AttributeError(f"tutti.compat.torch does not cover torch.nn.{name}")
    value = globals()[name] = _modules.class_of(getattr(_nn, name))
    return value


def __dir__():
    return __all__
