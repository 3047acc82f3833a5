"""What is done with all parameters of a network: gradients kept short, parameters as one vector."""

import math

from ... import _core, autograd
from . import rnn as rnn

__all__ = [
    "clip_grad_norm_",
    "clip_grad_value_",
    "clip_grads_with_norm_",
    "get_total_norm",
    "parameters_to_vector",
    "parametrizations",
    "parametrize",
    "remove_spectral_norm",
    "remove_weight_norm",
    "skip_init",
    "spectral_norm",
    "vector_to_parameters",
    "weight_norm",
]

get_total_norm = _core.functions["nn.utils.get_total_norm"]


def _gradients(parameters):
    parameters = [parameters] if isinstance(parameters, _core.ndarray) else list(parameters)
    return [p.grad for p in parameters if p.grad is not None]


def clip_grads_with_norm_(parameters, max_norm, total_norm, foreach=None):
    """Scale gradients by max_norm over their norm, at most by 1, in place.

    Parameters
    ----------
    parameters : iterable of ndarray
        The parameters; one array alone may stand here.
    max_norm : float
        How long the gradients may be.
    total_norm : ndarray
        How long they are.
    foreach : bool
        Has no effect.

    Returns
    -------
    None

    Examples
    --------
    >>> w = tt.array([3.0, 4.0]).requires_grad_()
    >>> (w * w).sum().backward()
    >>> tt.nn.utils.clip_grads_with_norm_(w, 5.0, 10.0)
    >>> w.grad.round(3)
    array([3., 4.])
    """
    _core.functions["nn.utils.clip_grads_with_norm_"](_gradients(parameters), max_norm, total_norm)


def clip_grad_norm_(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """Scale gradients so that all together are no longer than max_norm, in place.

    Parameters
    ----------
    parameters : iterable of ndarray
        The parameters; one array alone may stand here.
    max_norm : float
        How long the gradients may be.
    norm_type : float
        The order of the norm.
    error_if_nonfinite : bool
        Whether a norm that is not finite is an error; it is looked at then.
    foreach : bool
        Has no effect.

    Returns
    -------
    ndarray
        How long they were.

    Examples
    --------
    >>> w = tt.array([3.0, 4.0]).requires_grad_()
    >>> (w * w).sum().backward()
    >>> tt.nn.utils.clip_grad_norm_([w], 5.0)
    array(10.)
    >>> w.grad.round(3)
    array([3., 4.])
    """
    found = _gradients(parameters)
    total = get_total_norm(found, norm_type, error_if_nonfinite)
    _core.functions["nn.utils.clip_grads_with_norm_"](found, max_norm, total)
    return total


def clip_grad_value_(parameters, clip_value, foreach=None):
    """Bring each element of gradients between -clip_value and clip_value, in place.

    Parameters
    ----------
    parameters : iterable of ndarray
        The parameters; one array alone may stand here.
    clip_value : float
        The limit.
    foreach : bool
        Has no effect.

    Returns
    -------
    None

    Examples
    --------
    >>> w = tt.array([0.25, -4.0]).requires_grad_()
    >>> (w * w).sum().backward()
    >>> tt.nn.utils.clip_grad_value_([w], 1.0)
    >>> w.grad
    array([ 0.5, -1. ])
    """
    _core.functions["nn.utils.clip_grad_value_"](_gradients(parameters), clip_value)


def parameters_to_vector(parameters):
    """All parameters one after the other.

    Parameters
    ----------
    parameters : iterable of ndarray
        The parameters.

    Returns
    -------
    ndarray
        One axis.

    Examples
    --------
    >>> tt.nn.utils.parameters_to_vector(tt.nn.Linear(2, 3).parameters()).shape
    (9,)
    """
    return _core.functions["concatenate"]([p.reshape(-1) for p in parameters])


def vector_to_parameters(vec, parameters):
    """Write a vector into parameters, one after the other.

    Parameters
    ----------
    vec : ndarray
        As many elements as they have.
    parameters : iterable of ndarray
        The parameters.

    Returns
    -------
    None

    Examples
    --------
    >>> m = tt.nn.Linear(2, 3)
    >>> tt.nn.utils.vector_to_parameters(tt.arange(9, dtype="float32"), m.parameters())
    >>> m.bias.tolist()
    [6.0, 7.0, 8.0]
    """
    at = 0
    with autograd.no_grad():
        for p in parameters:
            size = math.prod(p.shape)
            p[...] = vec[at : at + size].reshape(p.shape)
            at += size


def skip_init(module_cls, *args, **kwargs):
    """A module whose parameters somebody else will write. Here they have their first values all the same.

    Parameters
    ----------
    module_cls : type
        The module's class.
    *args : object
        What its constructor takes.
    **kwargs : object
        What its constructor takes by name.

    Returns
    -------
    Module
        The module.

    Examples
    --------
    >>> tt.nn.utils.skip_init(tt.nn.Linear, 2, 3)
    Linear(in_features=2, out_features=3, bias=True)
    """
    from .._module import Module

    if not issubclass(module_cls, Module):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    return module_cls(*args, **kwargs)


_later = dict.fromkeys("weight_norm remove_weight_norm spectral_norm remove_spectral_norm".split(), "_norms")
_later |= {name: name for name in ("parametrize", "parametrizations")}


def __getattr__(name):
    if name not in _later:
        raise AttributeError(f"module 'tutti.nn.utils' has no attribute {name!r}")
    from importlib import import_module

    module = import_module("." + _later[name], __name__)
    value = globals()[name] = module if name == _later[name] else getattr(module, name)
    return value
