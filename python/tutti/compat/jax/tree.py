"""jax.tree: the functions of jax.tree_util by short names."""

from . import tree_util as _util

__all__ = [
    "all", "flatten", "flatten_with_path", "leaves", "leaves_with_path", "map", "map_with_path", "reduce", "structure",
    "transpose", "unflatten",
]  # fmt: skip

all, flatten, leaves, map = _util.tree_all, _util.tree_flatten, _util.tree_leaves, _util.tree_map
reduce, structure, transpose = _util.tree_reduce, _util.tree_structure, _util.tree_transpose
unflatten = _util.tree_unflatten
flatten_with_path, leaves_with_path = _util.tree_flatten_with_path, _util.tree_leaves_with_path
map_with_path = _util.tree_map_with_path


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.jax does not cover jax.tree.{name}")
