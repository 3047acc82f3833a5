"""Modules: tutti's, whose parameters are tensors. A class is made of each when somebody asks for it."""

import tutti as _tt

from .... import _core
from .... import nn as _nn
from ....nn._recurrent import _Recurrent
from .._tensor import Tensor, plain
from .._tensor import to as _to

_modules = {}  # by tutti's classes


class Parameter(_nn.Parameter, Tensor):
    """A tensor that a module trains."""

    def __new__(cls, data=None, requires_grad=True):
        if data is None:
            data = _tt.empty(0, dtype=_core._tensor_float(None))
        made = _core.array(_core.detach(data) if isinstance(data, _core.ndarray) else data)
        self = _core._rebuild_as(cls, made)
        self.requires_grad = requires_grad
        return self

    __repr__ = __str__ = lambda self: f"Parameter containing:\n{Tensor.__repr__(self)}"

    def __reduce_ex__(self, protocol):
        return type(self), (_core.array(plain(_core.detach(self))), self.requires_grad)


class Buffer(Tensor):
    """A tensor that becomes a buffer of the module that it is made an attribute of."""

    def __new__(cls, data=None, *, persistent=True):
        data = _tt.empty(0, dtype=_core._tensor_float(None)) if data is None else data
        self = _core._rebuild_as(cls, _core.detach(data))
        self.persistent = persistent
        return self


def parameter_of(p):
    """A parameter of tutti's as a tensor: the same array."""
    return p if p is None or isinstance(p, Parameter) else _core._rebuild_as(Parameter, p)


def module_of(module):
    """A module that tutti's own made, with all below it."""
    if module is None or isinstance(module, Module):
        return module
    module.__class__ = class_of(type(module))
    for members, of in (
        (module._parameters, parameter_of),
        (module._buffers, _core._as_tensor),
        (module._modules, module_of),
    ):
        for name, value in members.items():
            members[name] = of(value)
    return module


class Module(_nn.Module):
    """What networks are built of."""

    def __setattr__(self, name, value):
        if isinstance(value, _nn.Parameter):
            value = parameter_of(value)
        elif isinstance(value, _nn.Module):
            value = module_of(value)
        elif type(value) is Buffer:
            return self.register_buffer(name, value[...], value.persistent)
        super().__setattr__(name, value)

    def register_parameter(self, name, param):
        super().register_parameter(name, parameter_of(param))

    def register_buffer(self, name, tensor, persistent=True):
        super().register_buffer(name, _core._as_tensor(tensor), persistent)

    def add_module(self, name, module):
        super().add_module(name, module_of(module))

    def _apply(self, fn):
        """Parameters stay the objects that optimisers know; what they hold is another array."""
        for module in self.modules():
            for members in module._parameters, module._buffers:
                for name, value in members.items():
                    if value is None:
                        continue
                    made = fn(_core.detach(value))
                    if made.dtype == value.dtype and made.device == value.device:
                        continue
                    if isinstance(value, _nn.Parameter):
                        value.data = made
                    else:
                        members[name] = made
        return self

    def to(self, *args, device=None, dtype=None, non_blocking=False, memory_format=None):
        """Move parameters and buffers to a device, and floats to a type."""

        def move(x):
            made = _to(x, *args, device=device)
            wanted = made.dtype if dtype is None else dtype
            if x.dtype.kind not in "fc":
                return made.astype(x.dtype, copy=False)
            return made.astype(wanted, copy=False)

        return self._apply(move)

    def cuda(self, device=None):
        return self.to("cuda" if device is None else device)

    def type(self, dst_type):
        return self.to(dtype=dst_type)

    def to_empty(self, *, device, recurse=True):
        return self.to(device)

    def state_dict(self, *args, destination=None, prefix="", keep_vars=False):
        made = super().state_dict(prefix=prefix, keep_vars=keep_vars)
        if destination is None:
            return made
        destination.update(made)
        return destination

    def share_memory(self):
        return self

    def register_backward_hook(self, hook):
        """The deprecated name: hooks see the gradients of all arguments."""
        return self.register_full_backward_hook(hook)

    def compile(self, *args, **how):
        """Nothing has to be done: what is recorded is compiled by itself."""


_modules[_nn.Module] = Module


def _flatten_parameters(self):
    """Nothing has to be done: weights are taken as they lie."""


def class_of(cls):
    """tutti's class, whose instances are modules here."""
    made = _modules.get(cls)
    if made is None:
        members = {"__module__": "tutti.compat.torch.nn", "__doc__": cls.__doc__}
        if issubclass(cls, _Recurrent):
            members["flatten_parameters"] = _flatten_parameters
        if getattr(cls, "_base", None):  # a lazy layer, and what it becomes
            members["_base"] = class_of(cls._base)
        made = _modules[cls] = type(cls.__name__, (Module, cls), members)
    return made


def _members_of(value):
    return parameter_of(value) if isinstance(value, _nn.Parameter) else Parameter(value)


class ParameterList(Module, _nn.ParameterList):
    """A list of parameters."""

    def append(self, value):
        self.register_parameter(str(len(self)), _members_of(value))
        return self

    def extend(self, values):
        for value in values:
            self.append(value)
        return self


class ParameterDict(Module):
    """Parameters by name."""

    def __init__(self, parameters=None):
        super().__init__()
        for name, value in dict(parameters or {}).items():
            self[name] = value

    def __getitem__(self, name):
        return self._parameters[name]

    def __setitem__(self, name, value):
        self._parameters[name] = _members_of(value)

    def __len__(self):
        return len(self._parameters)

    def __iter__(self):
        return iter(self._parameters)

    def __contains__(self, name):
        return name in self._parameters

    def keys(self):
        return self._parameters.keys()

    def values(self):
        return self._parameters.values()

    def items(self):
        return self._parameters.items()


class DataParallel(Module):
    """The module: it runs where its parameters are."""

    def __init__(self, module, device_ids=None, output_device=None, dim=0):
        super().__init__()
        self.module = module

    def forward(self, *args, **kwargs):
        return self.module(*args, **kwargs)


_modules[_nn.ParameterList] = ParameterList
