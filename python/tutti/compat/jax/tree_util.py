"""Nested containers of values: what is inside, in order, and the structure around it."""

import dataclasses as _dataclasses
import functools as _functools

__all__ = [
    "DictKey", "GetAttrKey", "Partial", "PyTreeDef", "SequenceKey", "all_leaves", "keystr", "register_dataclass",
    "register_pytree_node", "register_pytree_node_class", "tree_all", "tree_any", "tree_flatten",
    "tree_flatten_with_path", "tree_leaves", "tree_leaves_with_path", "tree_map", "tree_map_with_path", "tree_reduce",
    "tree_structure", "tree_transpose", "tree_unflatten", "treedef_is_leaf",
]  # fmt: skip


@_dataclasses.dataclass(frozen=True)
class SequenceKey:
    """A place in a tuple or a list."""

    idx: int

    def __str__(self):
        return f"[{self.idx!r}]"


@_dataclasses.dataclass(frozen=True)
class DictKey:
    """A key of a dictionary."""

    key: object

    def __str__(self):
        return f"[{self.key!r}]"


@_dataclasses.dataclass(frozen=True)
class GetAttrKey:
    """The name of an attribute."""

    name: str

    def __str__(self):
        return f".{self.name}"


@_dataclasses.dataclass(frozen=True)
class FlattenedIndexKey:
    """The number of a child of a type whose children have no names."""

    key: int

    def __str__(self):
        return f"[<flat index {self.key}>]"


# How a type is taken apart and made: children and what else it has; of these again the object.
_kinds = {}


def _numbered(children):
    return tuple(FlattenedIndexKey(k) for k in range(len(children)))


def register_pytree_node(nodetype, flatten_func, unflatten_func, flatten_with_keys_func=None):
    """Let a type be a container: flatten_func gives (children, aux), unflatten_func takes (aux, children)."""
    if nodetype in _kinds:
        raise ValueError(f"Duplicate custom PyTreeDef type registration for {nodetype}.")

    def apart(x):
        children, aux = flatten_func(x)
        children = tuple(children)
        return children, aux, _numbered(children)

    def apart_with_keys(x):
        pairs, aux = flatten_with_keys_func(x)
        return tuple(c for _, c in pairs), aux, tuple(k for k, _ in pairs)

    _kinds[nodetype] = (apart_with_keys if flatten_with_keys_func else apart, unflatten_func)


def register_pytree_with_keys(nodetype, flatten_with_keys, unflatten_func, flatten_func=None):
    """The same, where flatten_with_keys gives pairs of a key and a child."""
    register_pytree_node(nodetype, flatten_func, unflatten_func, flatten_with_keys)


def register_pytree_node_class(cls):
    """The same for a class with tree_flatten and tree_unflatten."""
    register_pytree_node(cls, lambda x: x.tree_flatten(), cls.tree_unflatten)
    return cls


def register_dataclass(nodetype, data_fields=None, meta_fields=None, drop_fields=()):
    """The same for a dataclass: some of its fields are children, the others stay as they are."""
    if data_fields is None:
        fields = [f for f in _dataclasses.fields(nodetype) if f.init and f.name not in drop_fields]
        meta_fields = [f.name for f in fields if f.metadata.get("static")]
        data_fields = [f.name for f in fields if not f.metadata.get("static")]
    data, meta = tuple(data_fields), tuple(meta_fields or ())

    def apart(x):
        children = tuple((GetAttrKey(n), getattr(x, n)) for n in data)
        return children, tuple(getattr(x, n) for n in meta)

    def made(aux, children):
        return nodetype(**dict(zip(data, children, strict=True)), **dict(zip(meta, aux, strict=True)))

    register_pytree_node(nodetype, None, made, apart)
    return nodetype


def _dict_apart(x):
    keys = tuple(sorted(x))
    return tuple(x[k] for k in keys), keys, tuple(map(DictKey, keys))


def _apart(x):
    """(type, children, aux, keys) of a container, or None for a leaf."""
    kind = type(x)
    if x is None:
        return kind, (), None, ()
    if kind in (tuple, list):
        return kind, tuple(x), None, tuple(map(SequenceKey, range(len(x))))
    if kind is dict:
        return (kind, *_dict_apart(x))
    if kind in _kinds:
        return (kind, *_kinds[kind][0](x))
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return kind, tuple(x), None, tuple(map(GetAttrKey, x._fields))
    if isinstance(x, dict):
        keys = tuple(x)
        return kind, tuple(x.values()), keys, tuple(map(DictKey, keys))
    return None


def _together(kind, aux, children):
    if kind is type(None):
        return None
    if kind in (tuple, list):
        return kind(children)
    if kind in _kinds:
        return _kinds[kind][1](aux, children)
    if issubclass(kind, tuple):
        return kind(*children)
    return kind(zip(aux, children, strict=True))


class PyTreeDef:
    """The structure of a tree without its leaves."""

    def __init__(self, kind=None, aux=None, children=()):
        self._kind, self._aux, self._children = kind, aux, tuple(children)
        self.num_leaves = sum(c.num_leaves for c in self._children) if kind else 1
        self.num_nodes = 1 + sum(c.num_nodes for c in self._children)

    def __eq__(self, other):
        if not isinstance(other, PyTreeDef):
            return NotImplemented
        return (self._kind, self._aux, self._children) == (other._kind, other._aux, other._children)

    def __hash__(self):
        return hash((self._kind, self._children))

    def children(self):
        """The structures of the children."""
        return list(self._children)

    def unflatten(self, leaves):
        """A tree of this structure with these leaves."""
        values = list(leaves)
        if len(values) != self.num_leaves:
            raise ValueError(f"Too {'many' if len(values) > self.num_leaves else 'few'} leaves for PyTreeDef; "
                             f"expected {self.num_leaves}, got {len(values)}")  # fmt: skip
        return self._filled(iter(values))

    def _filled(self, values):
        if self._kind is None:
            return next(values)
        return _together(self._kind, self._aux, [c._filled(values) for c in self._children])

    def _parts(self, tree):
        """The parts of a tree where this structure, which is a prefix of it, has its leaves."""
        if self._kind is None:
            return [tree]
        found = _apart(tree)
        if found is None or found[0] is not self._kind or len(found[1]) != len(self._children) or found[2] != self._aux:
            raise ValueError(f"Expected {self._kind.__name__}, got {tree!r}.")
        return [part for c, t in zip(self._children, found[1], strict=True) for part in c._parts(t)]

    def flatten_up_to(self, tree):
        """The parts of a tree where this structure has its leaves."""
        return self._parts(tree)

    def _text(self):
        if self._kind is None:
            return "*"
        inside = [c._text() for c in self._children]
        if self._kind is type(None):
            return "None"
        if self._kind is tuple:
            return "(" + ", ".join(inside) + ("," if len(inside) == 1 else "") + ")"
        if self._kind is list:
            return "[" + ", ".join(inside) + "]"
        if self._kind is dict:
            return "{" + ", ".join(f"{k!r}: {t}" for k, t in zip(self._aux, inside, strict=True)) + "}"
        named = issubclass(self._kind, tuple)
        name = f"namedtuple[{self._kind.__name__}]" if named else f"{self._kind.__name__}[{self._aux}]"
        return f"CustomNode({name}, [{', '.join(inside)}])"

    def __repr__(self):
        return f"PyTreeDef({self._text()})"


_LEAF = PyTreeDef()


def _flatten(tree, out, path, is_leaf):
    found = None if is_leaf is not None and is_leaf(tree) else _apart(tree)
    if found is None:
        out.append((path, tree))
        return _LEAF
    kind, children, aux, keys = found
    inside = [_flatten(c, out, (*path, k), is_leaf) for c, k in zip(children, keys, strict=True)]
    return PyTreeDef(kind, aux, inside)


def tree_flatten_with_path(tree, is_leaf=None):
    """Pairs of a path and a leaf, and the structure."""
    out = []
    structure = _flatten(tree, out, (), is_leaf)
    return out, structure


def tree_flatten(tree, is_leaf=None):
    """The leaves and the structure."""
    out, structure = tree_flatten_with_path(tree, is_leaf)
    return [leaf for _, leaf in out], structure


def tree_leaves(tree, is_leaf=None):
    """The leaves in order."""
    return tree_flatten(tree, is_leaf)[0]


def tree_leaves_with_path(tree, is_leaf=None):
    """Pairs of a path and a leaf."""
    return tree_flatten_with_path(tree, is_leaf)[0]


def tree_structure(tree, is_leaf=None):
    """The structure without the leaves."""
    return tree_flatten(tree, is_leaf)[1]


def tree_unflatten(treedef, leaves):
    """The tree of a structure and leaves."""
    return treedef.unflatten(leaves)


def tree_map(f, tree, *rest, is_leaf=None):
    """A tree of f of the leaves; other trees have it as a prefix."""
    leaves, structure = tree_flatten(tree, is_leaf)
    beside = [structure._parts(r) for r in rest]
    return structure.unflatten([f(*xs) for xs in zip(leaves, *beside, strict=True)])


def tree_map_with_path(f, tree, *rest, is_leaf=None):
    """A tree of f of the paths and leaves."""
    pairs, structure = tree_flatten_with_path(tree, is_leaf)
    beside = [structure._parts(r) for r in rest]
    return structure.unflatten([f(path, leaf, *xs) for (path, leaf), *xs in zip(pairs, *beside, strict=True)])


def tree_reduce(function, tree, *initializer, is_leaf=None):
    """The leaves folded by a function of two."""
    return _functools.reduce(function, tree_leaves(tree, is_leaf), *initializer)


def tree_all(tree, *, is_leaf=None):
    """Are all leaves true?"""
    return all(tree_leaves(tree, is_leaf))


def tree_any(tree, *, is_leaf=None):
    """Is a leaf true?"""
    return any(tree_leaves(tree, is_leaf))


def tree_transpose(outer_treedef, inner_treedef, pytree_to_transpose):
    """A tree of trees with the inner structure outside."""
    leaves, structure = tree_flatten(pytree_to_transpose)
    n = inner_treedef.num_leaves
    if structure.num_leaves != n * outer_treedef.num_leaves:
        raise TypeError(f"Mismatch\n{structure}\n != {outer_treedef} of {inner_treedef}")
    return inner_treedef.unflatten([outer_treedef.unflatten(leaves[k::n]) for k in range(n)])


def all_leaves(iterable, is_leaf=None):
    """Is nothing of it a container?"""
    return all(_apart(x) is None or (is_leaf is not None and is_leaf(x)) for x in iterable)


def treedef_is_leaf(treedef):
    """Is it the structure of one leaf?"""
    return treedef.num_nodes == 1 and treedef.num_leaves == 1


def keystr(keys, *, simple=False, separator=""):
    """A path as text."""
    return separator.join(str(k) for k in keys)


class Partial(_functools.partial):
    """functools.partial whose arguments are leaves."""


register_pytree_node(
    Partial, lambda p: ((p.args, p.keywords), p.func), lambda f, parts: Partial(f, *parts[0], **parts[1])
)


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.jax does not cover jax.tree_util.{name}")
