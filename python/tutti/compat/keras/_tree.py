"""Nested lists, tuples and dictionaries, whose leaves are everything else; None is a leaf."""


def flatten(structure):
    """The leaves, those of dictionaries by sorted keys."""
    if isinstance(structure, dict):
        return [leaf for key in sorted(structure) for leaf in flatten(structure[key])]
    if isinstance(structure, (list, tuple)):
        return [leaf for part in structure for leaf in flatten(part)]
    return [structure]


def map_structure(fn, first, *more):
    """The structure with what fn makes of each leaf."""
    if isinstance(first, dict):
        return {key: map_structure(fn, first[key], *(m[key] for m in more)) for key in first}
    if isinstance(first, (list, tuple)):
        made = [map_structure(fn, *parts) for parts in zip(first, *more)]
        if hasattr(first, "_fields"):
            return type(first)(*made)
        return tuple(made) if isinstance(first, tuple) else made
    return fn(first, *more)


def pack(structure, leaves):
    """The structure with other leaves, in the order of flatten()."""
    if not isinstance(structure, (dict, list, tuple)):
        return leaves[0]
    order = iter(leaves)

    def take(part):
        if isinstance(part, dict):
            made = {key: take(part[key]) for key in sorted(part)}
            return {key: made[key] for key in part}
        if isinstance(part, (list, tuple)):
            return type(part)([take(p) for p in part])
        return next(order)

    return take(structure)
