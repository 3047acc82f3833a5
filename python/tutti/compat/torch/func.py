"""torch.func: functions of functions, over nested tuples, lists and dicts of tensors."""

import functools as _functools

from ... import autograd as _autograd
from ._tensor import tensors_of as _tensors_of

__all__ = [
    "functional_call", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "linearize",
    "stack_module_state", "vjp", "vmap",
]  # fmt: skip


def _tensors(tree):
    if isinstance(tree, dict):
        return type(tree)((key, _tensors(value)) for key, value in tree.items())
    if type(tree) in (tuple, list):
        return type(tree)(map(_tensors, tree))
    return _tensors_of(tree)


def grad_and_value(func, argnums=0, has_aux=False):
    """A function that gives func's gradient, and its value (with has_aux a pair of that and what else it gave)."""
    both = _autograd.value_and_grad(func, argnums, has_aux)

    @_functools.wraps(func)
    def gradient_and_value(*args, **kwargs):
        value, gradient = both(*args, **kwargs)
        return _tensors(gradient), _tensors(value)

    return gradient_and_value


def grad(func, argnums=0, has_aux=False):
    """A function that gives func's gradient; with has_aux a pair of it and what else func gave."""
    both = grad_and_value(func, argnums, has_aux)

    @_functools.wraps(func)
    def gradient(*args, **kwargs):
        found, value = both(*args, **kwargs)
        return (found, value[1]) if has_aux else found

    return gradient


def vjp(func, *primals, has_aux=False):
    """The value, the function from its cotangents to those of the arguments, and with has_aux what else func gave."""
    value, back, *aux = _autograd.vjp(func, *primals, has_aux=has_aux)

    def pulled(*cotangents, retain_graph=True, create_graph=None):
        found = back(cotangents[0] if len(cotangents) == 1 else cotangents)
        return _tensors(found)

    return (_tensors(value), pulled, *map(_tensors, aux))


def jvp(func, primals, tangents, *, strict=False, has_aux=False):
    """The value and its derivative along the tangents; with has_aux what else func gave."""
    seen = []

    def value_of(*args):
        made = func(*args)
        if has_aux:
            seen[:] = [made[1]]
            made = made[0]
        return made

    value, slope = _autograd.jvp(value_of, primals, tangents)
    return (_tensors(value), _tensors(slope), *map(_tensors, seen))


def linearize(func, *primals):
    """The value, and the derivative as a function of the tangents."""
    return _tensors(func(*primals)), lambda *tangents: jvp(func, primals, tangents)[1]


def jacrev(func, argnums=0, *, has_aux=False, chunk_size=None):
    """A function that gives the derivative of each element of func's value by each of the arguments'."""
    seen = []

    def value_of(*args, **kwargs):
        value, *seen[:] = func(*args, **kwargs)
        return value

    @_functools.wraps(func)
    def matrix(*args, **kwargs):
        found = _tensors(_autograd.jacobian(value_of if has_aux else func, argnums)(*args, **kwargs))
        return (found, _tensors(seen[0])) if has_aux else found

    return matrix


def jacfwd(func, argnums=0, has_aux=False, *, randomness="error", chunk_size=None):
    """The same as jacrev: derivatives of all elements come back one after the other, whichever way is asked for."""
    return jacrev(func, argnums, has_aux=has_aux)


def hessian(func, argnums=0):
    """A function that gives the second derivatives of func's value."""
    return jacfwd(jacrev(func, argnums), argnums)


# ---- batches


def _axes(axes, tree):
    """An axis for each leaf, from a tree that is a prefix of it; None: the leaf is the same for all."""
    if isinstance(axes, (tuple, list)):
        if not isinstance(tree, (tuple, list)) or len(axes) != len(tree):
            raise ValueError(f"vmap: in_dims {axes} is not compatible with the structure of the inputs")
        return [a for part, t in zip(axes, tree, strict=True) for a in _axes(part, t)]
    if isinstance(axes, dict):
        return [a for key in sorted(tree, key=repr) for a in _axes(axes[key], tree[key])]
    return [axes] * len(_autograd._leaves(tree, []))


def _sizes(leaves, axes):
    sizes = {x.shape[a] for x, a in zip(leaves, axes, strict=True) if a is not None and hasattr(x, "shape")}
    if not sizes:
        raise ValueError("vmap: at least one of in_dims has to be an axis of a tensor")
    if len(sizes) > 1:
        told = ", ".join(map(str, sorted(sizes)))
        raise ValueError(f"vmap: Expected all tensors to have the same size in the mapped dimension, got sizes {told}")
    return sizes.pop()


def vmap(func, in_dims=0, out_dims=0, randomness="error", *, chunk_size=None):
    """A function of batches. It is called once for each element: right for every function that does not know its place
    in the batch, and as fast as these calls are together."""
    from ._functions import functions

    stack = functions["stack"]

    @_functools.wraps(func)
    def mapped(*args, **kwargs):
        given = (args, kwargs)
        leaves = _autograd._leaves(given, [])
        axes = _axes(in_dims, args) + [0] * len(_autograd._leaves(kwargs, []))
        made = []
        for k in range(_sizes(leaves, axes)):
            taken = [x if a is None else x.select(a, k) for x, a in zip(leaves, axes, strict=True)]
            some, named = _autograd._rebuilt(given, iter(taken))
            made.append(func(*some, **named))
        results = [_autograd._leaves(m, []) for m in made]
        where = _axes(out_dims, made[0])
        whole = [
            results[0][j] if axis is None else stack([r[j] for r in results], axis) for j, axis in enumerate(where)
        ]
        return _autograd._rebuilt(made[0], iter(whole))

    return mapped


# ---- modules


def functional_call(module, parameter_and_buffer_dicts, args=None, kwargs=None, *, tie_weights=True, strict=False):
    """A module's value with other parameters and buffers, by their names, than it has."""
    several = isinstance(parameter_and_buffer_dicts, (tuple, list))
    values = {}
    for given in parameter_and_buffer_dicts if several else (parameter_and_buffer_dicts,):
        values.update(given)
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    places = {}  # of each parameter and buffer: every name it goes by
    for prefix, part in module.named_modules(remove_duplicate=False):
        for members in part._parameters, part._buffers:
            for name, value in members.items():
                if value is not None:
                    places[f"{prefix}.{name}" if prefix else name] = members, name
    unknown, missing = values.keys() - places.keys(), places.keys() - values.keys()
    if unknown or (strict and missing):
        raise RuntimeError(f"Unexpected key(s): {', '.join(sorted(unknown))}." if unknown
                           else f"Missing key(s): {', '.join(sorted(missing))}.")  # fmt: skip
    by_value = {id(places[name][0][places[name][1]]): value for name, value in values.items()} if tie_weights else {}
    before = [(members, name, members[name]) for members, name in places.values()]
    try:
        for full, (members, name) in places.items():
            members[name] = values.get(full, by_value.get(id(members[name]), members[name]))
        return module(*args, **(kwargs or {}))
    finally:
        for members, name, value in before:
            members[name] = value


def stack_module_state(models):
    """The parameters and the buffers of models of one kind, beside each other: two dicts by their names."""
    from ._functions import functions

    stack = functions["stack"]

    def beside(kind):
        each = [dict(kind(m)) for m in models]
        return {name: stack([e[name].detach() for e in each]) for name in each[0]}

    parameters = beside(lambda m: m.named_parameters())
    for p in parameters.values():
        p.requires_grad_()
    return parameters, beside(lambda m: m.named_buffers())


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.torch does not cover torch.func.{name}")
