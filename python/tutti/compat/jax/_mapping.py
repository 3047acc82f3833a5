"""vmap: the function for each element of a batch, and the results beside each other."""

import functools

import tutti as _tt

from ._array import array_of
from .tree_util import tree_flatten, tree_leaves, tree_map


def _axes_of(axes, tree, name):
    """An axis for each leaf, from a tree that is a prefix of it; None: the leaf is the same for all."""
    leaves, structure = tree_flatten(axes, is_leaf=lambda x: x is None)
    try:
        parts = structure.flatten_up_to(tree)
    except ValueError as error:
        raise ValueError(f"vmap {name} specification must be a tree prefix of its value: {error}") from None
    return [axis for axis, part in zip(leaves, parts, strict=True) for _ in tree_leaves(part)]


def _size(leaves, axes):
    sizes = [_tt.shape(x)[a] for x, a in zip(leaves, axes, strict=True) if a is not None]
    if not sizes:
        raise ValueError("vmap must have at least one non-None value in in_axes")
    if len(set(sizes)) > 1:
        raise ValueError(f"vmap got inconsistent sizes for array axes to be mapped: {', '.join(map(str, sizes))}")
    if not sizes[0]:
        raise NotImplementedError("tutti.compat.jax does not cover vmap over an axis without elements")
    return sizes[0]


def _taken(x, axis, k):
    if axis is None:
        return x
    return array_of(_tt.asarray(x)[(slice(None),) * (axis % _tt.ndim(x)) + (k,)])


def vmap(fun, in_axes=0, out_axes=0, axis_name=None, axis_size=None, spmd_axis_name=None):
    """A function of batches. It is called once for each element: right for every function that does not know its
    place in the batch, and as fast as these calls are together."""
    if axis_name is not None:
        raise NotImplementedError(
            "tutti.compat.jax does not cover vmap with an axis_name: elements of a batch do not see each other"
        )
    if isinstance(in_axes, list):
        in_axes = tuple(in_axes)

    @functools.wraps(fun)
    def mapped(*args, **kwargs):
        leaves, structure = tree_flatten((args, kwargs))
        axes = _axes_of(in_axes, args, "in_axes") + [0] * len(tree_leaves(kwargs))
        count = _size(leaves, axes) if axis_size is None or any(a is not None for a in axes) else axis_size
        made = []
        for k in range(count):
            given, named = structure.unflatten([_taken(x, a, k) for x, a in zip(leaves, axes, strict=True)])
            made.append(fun(*given, **named))
        results = [tree_leaves(m) for m in made]
        where = _axes_of(out_axes, made[0], "out_axes")
        beside = [
            results[0][j] if axis is None else array_of(_tt.stack([_tt.asarray(r[j]) for r in results], axis))
            for j, axis in enumerate(where)
        ]
        return tree_flatten(made[0])[1].unflatten(beside)

    return mapped


def in_turn(f, xs):
    """lax.map: the results for the elements along the first axis."""
    return vmap(lambda x: tree_map(_tt.asarray, f(x)))(xs)
