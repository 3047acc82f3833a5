"""torch.autograd.functional: derivatives of functions."""

from .... import autograd as _autograd
from .._tensor import tensors_of as _tensors_of

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]


def _each(of, func, inputs):
    one = not isinstance(inputs, tuple)
    args = (inputs,) if one else inputs
    made = of(lambda *a: func(*a), 0 if one else tuple(range(len(args))))(*args)
    return _tensors_of(made)


def jacobian(func, inputs, create_graph=False, strict=False, vectorize=False, strategy="reverse-mode"):
    """The derivative of each element of the value by each of the inputs."""
    return _each(_autograd.jacobian, func, inputs)


def hessian(func, inputs, create_graph=False, strict=False, vectorize=False, outer_jacobian_strategy="reverse-mode"):
    """The second derivatives of a number."""
    return _each(_autograd.hessian, func, inputs)


def _ones(value, v):
    return value.new_ones(value.shape) if v is None else v


def vjp(func, inputs, v=None, create_graph=False, strict=False):
    """The value, and the gradient of its product with v."""
    one = not isinstance(inputs, tuple)
    value, back = _autograd.vjp(func, *((inputs,) if one else inputs))
    found = back(_ones(value, v))
    return _tensors_of((value, found[0] if one else found))


def jvp(func, inputs, v=None, create_graph=False, strict=False):
    """The value, and its derivative along v."""
    one = not isinstance(inputs, tuple)
    args = (inputs,) if one else inputs
    along = tuple(_ones(a, None) for a in args) if v is None else (v,) if one else v
    return _tensors_of(_autograd.jvp(func, args, along))


def vhp(func, inputs, v=None, create_graph=False, strict=False):
    """The value of a function that gives a number, and the product of v with its second derivatives."""
    one = not isinstance(inputs, tuple)
    args = (inputs,) if one else inputs
    along = tuple(_ones(a, None) for a in args) if v is None else (v,) if one else v
    gradient = _autograd.grad(func, tuple(range(len(args))))
    _, found = _autograd.jvp(lambda *a: gradient(*a), args, along)
    return _tensors_of((func(*args), found[0] if one else found))


hvp = vhp  # the matrix is symmetric
