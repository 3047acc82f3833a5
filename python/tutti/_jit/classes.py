"""Classes whose fields have types and whose methods are compiled: numba's jitclass.

Compiled code has an object as a list of one tuple, its fields; so does the object here, and calls copy them to words
and back as they do the items of lists.
"""

import collections.abc
import types
import typing

from .containers import Dict, List, kind_of_type

_classes = []  # by their numbers
_PLAIN = {int: "i64", float: "f64", bool: "b8", complex: "c128", str: "W"}
_DTYPES = {"i8": "i1", "i16": "i2", "i32": "i4", "i64": "i8", "u8": "u1", "u16": "u2", "u32": "u4", "u64": "u8",
           "f16": "f2", "f32": "f4", "f64": "f8", "c64": "c8", "c128": "c16", "b8": "?"}  # fmt: skip


def _kind(hint):
    """What signatures of compiled code write for a field's type: one of numba's, of Python's, or a hint's."""
    if hint in _PLAIN:
        return _PLAIN[hint]
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if origin in (list, collections.abc.Sequence) and parts:
        return "T" + _kind(parts[0])
    if origin is dict:
        return f"E(b8,{_kind(parts[0])},{_kind(parts[1])})"
    if origin is tuple:
        return f"({','.join(map(_kind, parts))})"
    return kind_of_type(hint)


def _blank(kind):
    """A field's value before __init__ gives it one."""
    if kind[0] == "A":
        import numpy as np

        suffix, _, rest = kind[1:].partition(":")
        return np.zeros((0,) * int(rest[0]), _DTYPES[suffix])
    if kind == "W":
        return ""
    if kind[0] == "T":
        return List._of(kind[1:], [])
    if kind[0] == "E":
        key, value = _parts(kind[2:-1])[1:]
        return Dict._of((key, value), {})
    if kind[0] == "J":
        return _classes[_number(kind)]._blank()
    if kind[0] == "(":
        return tuple(map(_blank, _parts(kind[1:-1])))
    return {"b": False, "f": 0.0, "c": 0j}.get(kind[0], 0)


def _parts(text):
    parts, depth, begin = [], 0, 0
    for at, char in enumerate(text + ","):
        depth += (char == "(") - (char == ")")
        if char == "," and not depth:
            parts.append(text[begin:at])
            begin = at + 1
    return parts


def _number(kind):
    return int(kind.partition("#")[2].partition(":")[0].partition(";")[0])


def _cast(kind, value):
    """A value that Python gives a field."""
    number = {"b": bool, "i": int, "u": int, "f": float, "c": complex}.get(kind[0])
    if number:
        return number(value)
    if kind[0] == "A":
        import numpy as np

        return np.asarray(value, _DTYPES[kind[1:].partition(":")[0]])
    if kind[0] == "T" and not isinstance(value, List):
        raise TypeError(f"a field that is a typed list takes no {type(value).__name__}")
    return value


def _field(at, kind):
    def get(self):
        return self._items[0][at]

    def put(self, value):
        fields = list(self._items[0])
        fields[at] = _cast(kind, value)
        self._items[0] = tuple(fields)

    return property(get, put)


class Object:
    """An object of a class that jitclass made."""

    _jit_list = "J"

    def __init__(self, *args, **names):
        self._items = [tuple(map(_blank, self._kinds))]
        if "__init__" in self._jit_methods:
            self._jit_init(*args, **names)
        elif args or names:
            raise TypeError(f"{type(self).__name__}() takes no arguments")

    @classmethod
    def _of(cls, items):
        made = cls.__new__(cls)
        made._items = items
        return made

    @classmethod
    def _blank(cls):
        return cls._of([tuple(map(_blank, cls._kinds))])

    def _back(self, items):
        self._items[:] = items


def made(kind, items):
    """An object that a call made."""
    return _classes[_number(kind)]._of(items)


def method(number, name):
    """(function, is it static, its defaults) of a class, for compiled code; None: there is none."""
    return _classes[number]._jit_methods.get(name)


def _row(fn, static=False):
    return fn, static, fn.__defaults__ or ()


def _methods(cls):
    rows = {}
    for name, value in vars(cls).items():
        if isinstance(value, types.FunctionType):
            rows[name] = _row(value)
        elif isinstance(value, staticmethod):
            rows[name] = _row(value.__func__, True)
        elif isinstance(value, property):
            rows |= {f"{what} {name}": _row(fn) for what, fn in (("get", value.fget), ("set", value.fset)) if fn}
    return rows


def _namespace(cls, compiled):
    space = {"__doc__": cls.__doc__, "__module__": cls.__module__, "__qualname__": cls.__qualname__}
    for name, value in vars(cls).items():
        if name == "__init__":
            space["_jit_init"] = compiled(value)
        elif isinstance(value, types.FunctionType):
            space[name] = compiled(value)
        elif isinstance(value, staticmethod):
            space[name] = staticmethod(compiled(value.__func__))
        elif isinstance(value, property):
            space[name] = property(compiled(value.fget), value.fset and compiled(value.fset))
    return space


def _make(cls, spec):
    from .dispatch import njit

    fields = dict(spec.items() if hasattr(spec, "items") else spec or ())
    hints = typing.get_type_hints(cls) if "__annotations__" in vars(cls) else {}
    fields = {**{name: hint for name, hint in hints.items() if name not in fields}, **fields}
    for base in cls.__mro__[1:-1]:
        raise TypeError(f"a jitclass with a base class, {base.__name__}")
    kinds = [_kind(hint) for hint in fields.values()]
    meta = ":".join([f"J{cls.__name__}#{len(_classes)}", *fields])
    space = _namespace(cls, njit)
    clash = set(space) & set(fields)
    if clash:
        raise NameError(f"name shadowing: {', '.join(sorted(clash))}")
    space |= {name: _field(at, kind) for at, (name, kind) in enumerate(zip(fields, kinds))}
    kind = f"(@{meta};{','.join(kinds)})"
    space |= {"_kinds": kinds, "_kind": kind, "_jit_kind": "J" + kind, "_jit_methods": _methods(cls)}
    made = type(cls.__name__, (Object,), space)
    made.class_type = types.SimpleNamespace(instance_type=made, class_name=cls.__name__)
    _classes.append(made)
    return made


def jitclass(cls_or_spec=None, spec=None):
    """Compile a class: fields of fixed types, methods that compiled functions call.

    Parameters
    ----------
    cls_or_spec : class, or mapping or list of pairs, optional
        The class; or its fields, names with types.
    spec : mapping or list of pairs, optional
        The fields; those of the class's annotations are fields too.

    Returns
    -------
    class
        The class, or a decorator.

    Raises
    ------
    TypeError
        Where the class has bases.
    NotImplementedError
        By methods whose code is not taken.

    Examples
    --------
    >>> from tutti.compat.numba.experimental import jitclass
    >>> @jitclass
    ... class Point:
    ...     x: float
    ...     def __init__(self, x):
    ...         self.x = x
    >>> Point(2).x
    2.0
    """
    if isinstance(cls_or_spec, type):
        return _make(cls_or_spec, spec)
    given = spec if cls_or_spec is None else cls_or_spec
    return lambda cls: _make(cls, given)
