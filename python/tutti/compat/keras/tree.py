"""keras.tree: nested lists, tuples and dictionaries."""

from ._tree import flatten, map_structure
from ._tree import pack as _pack

__all__ = [
    "assert_same_structure", "flatten", "is_nested", "lists_to_tuples", "map_structure", "pack_sequence_as",
]  # fmt: skip


def is_nested(structure):
    """Is it a list, tuple or dictionary?"""
    return isinstance(structure, (list, tuple, dict))


def pack_sequence_as(structure, flat_sequence):
    """The structure with other leaves, in the order of flatten()."""
    wanted = len(flatten(structure))
    if wanted != len(flat_sequence):
        raise ValueError(f"Structure had {wanted} atoms, but flat_sequence had {len(flat_sequence)} items.")
    return _pack(structure, flat_sequence)


def assert_same_structure(a, b):
    """A ValueError where two structures differ in more than their leaves."""
    keys = (sorted(x) if isinstance(x, dict) else len(x) if is_nested(x) else None for x in (a, b))
    if type(a) is not type(b) and (is_nested(a) or is_nested(b)) or len({repr(key) for key in keys}) > 1:
        raise ValueError(f"`a` and `b` don't have the same structure. a={a}, b={b}")
    if is_nested(a):
        for key in a if isinstance(a, dict) else range(len(a)):
            assert_same_structure(a[key], b[key])


def lists_to_tuples(structure):
    """The structure with tuples for lists."""
    if isinstance(structure, dict):
        return {key: lists_to_tuples(value) for key, value in structure.items()}
    if isinstance(structure, (list, tuple)):
        return tuple(map(lists_to_tuples, structure))
    return structure
