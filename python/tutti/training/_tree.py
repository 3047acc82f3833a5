"""Structures of inputs and outputs: arrays in dicts, lists and tuples, of any depth; a dict counts in the order of its
sorted keys."""

NESTED = dict, list, tuple


def is_nested(x):
    return isinstance(x, NESTED)


def leaves(tree):
    """The values that are no dict, list or tuple, in order."""
    if not is_nested(tree):
        return [tree]
    parts = [tree[key] for key in sorted(tree)] if isinstance(tree, dict) else tree
    return [leaf for part in parts for leaf in leaves(part)]


def mapped(function, tree):
    """The same structure with a function of each leaf."""
    if isinstance(tree, dict):
        return {key: mapped(function, value) for key, value in tree.items()}
    if isinstance(tree, (list, tuple)):
        return _as_kind(tree, [mapped(function, value) for value in tree])
    return function(tree)


def packed(tree, values):
    """The structure with other leaves, in order."""
    values = iter(values)
    return _packed(tree, values)


def _packed(tree, values):
    if isinstance(tree, dict):
        found = {key: _packed(tree[key], values) for key in sorted(tree)}
        return {key: found[key] for key in tree}
    if isinstance(tree, (list, tuple)):
        return _as_kind(tree, [_packed(value, values) for value in tree])
    return next(values)


def _as_kind(tree, parts):
    """A list as what a tree is; named tuples take their parts one by one."""
    return type(tree)(*parts) if hasattr(tree, "_fields") else type(tree)(parts)
