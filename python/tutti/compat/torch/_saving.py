"""torch.save and torch.load: files of containers and tensors (_files.py), and modules as containers in them.

A module is written as its class's name and what it holds. It is made again of a class that the program named as safe,
or that is one of torch.nn's; nothing is imported, and none of its code is called."""

import contextlib
import sys

from ... import _core
from . import _files
from . import nn as _nn
from ._tensor import Size, device
from .nn import functional as _functional
from .nn._modules import Module, Parameter

_MODULE, _FUNCTION, _STATE = "tutti module", "tutti function", "state"
_safe = {}  # by their names


class _Kinds(_files.Kinds):
    tensor = staticmethod(lambda array, requires_grad: _core._as_tensor(array).requires_grad_(requires_grad))
    parameter = staticmethod(lambda array, requires_grad: Parameter(array, requires_grad))
    size = staticmethod(Size)
    device = staticmethod(device)


def _name(cls):
    return f"{cls.__module__}.{cls.__qualname__}"


def _written(value):
    """The value, with containers in place of modules and functions."""
    if isinstance(value, Module):
        return {_MODULE: _name(type(value)), _STATE: {name: _written(part) for name, part in vars(value).items()}}
    if callable(value) and getattr(_functional, getattr(value, "__name__", " "), None) is value:
        return {_FUNCTION: value.__name__}
    if type(value) in (list, tuple):
        return type(value)(map(_written, value))
    if type(value) is dict:
        return {key: _written(part) for key, part in value.items()}
    return value


def _class_of(name, trusted):
    found = _safe.get(name)
    if found is None and name.startswith("tutti.compat.torch.nn."):
        found = getattr(_nn, name.rpartition(".")[2], None)
    if found is None and trusted:
        module, _, last = name.rpartition(".")
        found = getattr(sys.modules.get(module), last, None)
    if isinstance(found, type) and issubclass(found, Module):
        return found
    raise _files.UnpicklingError(
        f"Weights only load failed. Unsupported global: GLOBAL {name} was not an allowed global by default. Please use "
        f"`torch.serialization.add_safe_globals([{name.rpartition('.')[2]}])`"
    )


def _read(value, trusted):
    """The other way round."""
    if type(value) in (list, tuple):
        return type(value)(_read(part, trusted) for part in value)
    if type(value) is not dict:
        return value
    if value.keys() == {_FUNCTION}:
        return getattr(_functional, value[_FUNCTION])
    if value.keys() == {_MODULE, _STATE}:
        cls = _class_of(value[_MODULE], trusted)
        made = cls.__new__(cls)
        vars(made).update(_read(value[_STATE], trusted))
        return made
    for key in value:
        value[key] = _read(value[key], trusted)
    return value


def save(obj, f, pickle_module=None, pickle_protocol=2, _use_new_zipfile_serialization=True):
    """Write containers of tensors, numbers and texts, in PyTorch's form, and modules."""
    import numpy

    if isinstance(obj, numpy.ndarray):
        obj = _core._as_tensor(_core.array(obj))
    _files.save(_written(obj), f, is_parameter=lambda value: isinstance(value, Parameter))


def load(f, map_location=None, pickle_module=None, *, weights_only=True, mmap=None, **how):
    """What save wrote, or PyTorch did. Nothing of the file is executed."""
    return _read(_files.load(f, map_location, kinds=_Kinds), not weights_only)


def add_safe_globals(safe_globals):
    """Classes of modules that files may name."""
    _safe.update({_name(cls): cls for cls in safe_globals if isinstance(cls, type)})


def get_safe_globals():
    return list(_safe.values())


def clear_safe_globals():
    _safe.clear()


@contextlib.contextmanager
def safe_globals(safe_globals):
    """A block in which files may name them."""
    before = dict(_safe)
    add_safe_globals(safe_globals)
    try:
        yield
    finally:
        _safe.clear()
        _safe.update(before)
