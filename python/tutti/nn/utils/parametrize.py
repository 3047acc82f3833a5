"""Parameters that are computed of others: a module's parameter becomes a function of what is trained in its place.

A parametrized module's class is a subclass of its own whose attribute computes the value; what is trained, and the
modules that compute, are in its `parametrizations`."""

import contextlib

from ... import _core, autograd
from .._module import ModuleDict, ModuleList, Parameter

__all__ = [
    "ParametrizationList",
    "cached",
    "is_parametrized",
    "register_parametrization",
    "remove_parametrizations",
    "transfer_parametrizations_and_params",
    "type_before_parametrizations",
]

_cache = None  # of values within cached()


@contextlib.contextmanager
def cached():
    """Within it values are computed once.

    Returns
    -------
    context manager
        It.

    Examples
    --------
    >>> m = tt.nn.utils.parametrizations.weight_norm(tt.nn.Linear(2, 3))
    >>> with tt.nn.utils.parametrize.cached():
    ...     m.weight is m.weight
    True
    """
    global _cache
    before = _cache
    _cache = {} if before is None else before
    try:
        yield
    finally:
        _cache = before


class ParametrizationList(ModuleList):
    """The modules that compute a parameter, one after the other, and what they compute it of.

    Parameters
    ----------
    modules : sequence of Module
        The modules; the last one may have a right_inverse, which gives what the value comes of.
    original : ndarray
        The parameter, or buffer, as it was.
    unsafe : bool
        Whether nobody looks if shape and type stay.

    Examples
    --------
    >>> m = tt.nn.utils.parametrizations.weight_norm(tt.nn.Linear(2, 3))
    >>> list(m.parametrizations.weight.state_dict())
    ['original0', 'original1']
    """

    def __init__(self, modules, original, unsafe=False):
        if not modules:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        new = original
        with autograd.no_grad():
            for module in reversed(list(self)):
                if hasattr(module, "right_inverse"):
                    with contextlib.suppress(NotImplementedError):  # then the value is what it is made of
                        new = module.right_inverse(new)
        self.is_tensor = isinstance(new, _core.ndarray)
        self.ntensors = 1 if self.is_tensor else len(new)
        names = ["original"] if self.is_tensor else [f"original{k}" for k in range(self.ntensors)]
        for name, value in zip(names, [new] if self.is_tensor else new, strict=True):
            if isinstance(original, Parameter):
                self.register_parameter(name, type(original)(value, original.requires_grad))
            else:
                self.register_buffer(name, value)
        if not unsafe:
            self._check(original)

    def _check(self, original):
        made = self()
        if not isinstance(made, _core.ndarray):
            raise TypeError(f"A parametrization must return a tensor. Got {type(made).__name__}.")
        for what in "dtype", "shape":
            if getattr(made, what) != getattr(original, what):
                raise ValueError(
                    f"Registering a parametrization may not change the {what} of the tensor, unless `unsafe` flag is "
                    f"enabled: {getattr(original, what)} became {getattr(made, what)}"
                )

    def _originals(self):
        return [self.original] if self.is_tensor else [getattr(self, f"original{k}") for k in range(self.ntensors)]

    def right_inverse(self, value):
        """Write what a value comes of.

        Parameters
        ----------
        value : ndarray
            The value that the parameter should have.

        Returns
        -------
        None

        Examples
        --------
        >>> m = tt.nn.utils.parametrizations.weight_norm(tt.nn.Linear(2, 3))
        >>> m.parametrizations.weight.right_inverse(tt.ones((3, 2), dtype="float32"))
        >>> m.weight.round(3).tolist()[0]
        [1.0, 1.0]
        """
        with autograd.no_grad():
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(f"parametrization {type(module).__name__} does not implement right_inverse.")
                value = module.right_inverse(value)
            for own, new in zip(self._originals(), [value] if self.is_tensor else value, strict=True):
                own[...] = new

    def forward(self):
        """Compute the parameter.

        Returns
        -------
        ndarray
            Its value.

        Examples
        --------
        >>> tt.nn.utils.parametrizations.weight_norm(tt.nn.Linear(2, 3)).parametrizations.weight.forward().shape
        (3, 2)
        """
        first, *rest = list(self)
        value = first(*self._originals())
        for module in rest:
            value = module(value)
        return value


def _value(name):
    """The attribute that computes a parameter."""

    def get(self):
        if _cache is None:
            return self.parametrizations[name]()
        key = id(self), name
        if key not in _cache:
            _cache[key] = self.parametrizations[name]()
        return _cache[key]

    def put(self, value):
        self.parametrizations[name].right_inverse(value)

    return property(get, put)


def _inject_class(module):
    cls = type(module)

    def deep(self, memo):
        from copy import deepcopy

        if id(self) in memo:
            return memo[id(self)]
        copy = memo[id(self)] = self.__new__(type(self))
        copy.__dict__ = deepcopy(self.__dict__, memo)
        return copy

    made = type(f"Parametrized{cls.__name__}", (cls,), {"__module__": cls.__module__, "__deepcopy__": deep})
    made._plain = cls
    module.__class__ = made


def register_parametrization(module, tensor_name, parametrization, *, unsafe=False):
    """Let a parameter or buffer be computed by a module, of what is trained in its place.

    Parameters
    ----------
    module : Module
        Whose it is.
    tensor_name : str
        Its name.
    parametrization : Module
        Computes it; another one may have been registered before.
    unsafe : bool
        Whether nobody looks if shape and type stay.

    Returns
    -------
    Module
        The module.

    Examples
    --------
    >>> class Symmetric(tt.nn.Module):
    ...     def forward(self, x):
    ...         return x + x.T
    >>> m = tt.nn.utils.parametrize.register_parametrization(tt.nn.Linear(2, 2), "weight", Symmetric())
    >>> bool((m.weight == m.weight.T).all())
    True
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        kept, own = module.parametrizations[tensor_name], getattr(module, tensor_name)
        if not unsafe and parametrization(own).shape != own.shape:
            raise ValueError(
                "Registering a parametrization may not change the shape of the tensor, unless the `unsafe` flag is "
                "enabled."
            )
        kept.append(parametrization)
        if all(hasattr(one, "right_inverse") for one in kept):
            kept.right_inverse(own.detach())
        return module
    if tensor_name not in module._parameters and tensor_name not in module._buffers:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name "
            f"'{tensor_name}'"
        )
    kept = ParametrizationList([parametrization], getattr(module, tensor_name), unsafe=unsafe)
    delattr(module, tensor_name)
    if not is_parametrized(module):
        _inject_class(module)
        module.parametrizations = ModuleDict()
    setattr(type(module), tensor_name, _value(tensor_name))
    module.parametrizations[tensor_name] = kept
    return module


def is_parametrized(module, tensor_name=None):
    """Is a parameter, or any, computed?

    Parameters
    ----------
    module : Module
        Whose it is.
    tensor_name : str
        Its name; None: any.

    Returns
    -------
    bool
        Whether it is.

    Examples
    --------
    >>> tt.nn.utils.parametrize.is_parametrized(tt.nn.Linear(2, 3))
    False
    """
    kept = module._modules.get("parametrizations")
    if not isinstance(kept, ModuleDict):
        return False
    return len(kept) > 0 if tensor_name is None else tensor_name in kept


def remove_parametrizations(module, tensor_name, leave_parametrized=True):
    """Let a parameter be a parameter again.

    Parameters
    ----------
    module : Module
        Whose it is.
    tensor_name : str
        Its name.
    leave_parametrized : bool
        Whether it has the value that was computed last, or that which was trained in its place.

    Returns
    -------
    Module
        The module.

    Examples
    --------
    >>> m = tt.nn.utils.parametrizations.weight_norm(tt.nn.Linear(2, 3))
    >>> tt.nn.utils.parametrize.remove_parametrizations(m, "weight")
    Linear(in_features=2, out_features=3, bias=True)
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    kept = module.parametrizations[tensor_name]
    originals = kept._originals()
    if not leave_parametrized and not kept.is_tensor:
        raise ValueError("Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is made of several.")
    with autograd.no_grad():
        value = getattr(module, tensor_name) if leave_parametrized else originals[0]
        value = value.detach()
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    if isinstance(originals[0], Parameter):
        module.register_parameter(tensor_name, type(originals[0])(value, originals[0].requires_grad))
    else:
        module.register_buffer(tensor_name, value)
    if not is_parametrized(module):
        del module.parametrizations
        module.__class__ = type(module)._plain
    return module


def type_before_parametrizations(module):
    """The class that a module had.

    Parameters
    ----------
    module : Module
        The module.

    Returns
    -------
    type
        The class.

    Examples
    --------
    >>> m = tt.nn.utils.parametrizations.weight_norm(tt.nn.Linear(2, 3))
    >>> tt.nn.utils.parametrize.type_before_parametrizations(m) is tt.nn.Linear
    True
    """
    return type(module)._plain if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(from_module, to_module, tensor_name=None):
    """Let a module compute its parameters as another one does, of the same values.

    Parameters
    ----------
    from_module : Module
        Whose parameters are computed.
    to_module : Module
        Another one with the same names.
    tensor_name : str
        Which one; None: all.

    Returns
    -------
    Module
        The other one.

    Examples
    --------
    >>> a = tt.nn.utils.parametrizations.weight_norm(tt.nn.Linear(2, 3))
    >>> b = tt.nn.utils.parametrize.transfer_parametrizations_and_params(a, tt.nn.Linear(2, 3))
    >>> bool((a.weight == b.weight).all())
    True
    """
    if not is_parametrized(from_module):
        return to_module
    names = list(from_module.parametrizations.keys()) if tensor_name is None else [tensor_name]
    for name in names:
        if not is_parametrized(from_module, name):
            continue
        source = from_module.parametrizations[name]
        if not hasattr(to_module, name):
            to_module.register_parameter(name, Parameter(getattr(from_module, name).detach()))
        for module in source:
            register_parametrization(to_module, name, module, unsafe=True)
        with autograd.no_grad():
            for own, other in zip(to_module.parametrizations[name]._originals(), source._originals(), strict=True):
                own[...] = other
    return to_module
