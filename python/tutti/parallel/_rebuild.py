"""Functions and classes that came as bytes: what these call in the process that reads them.

Like `_code.py`, which makes the bytes, it imports nothing of tutti.
"""

import builtins
import marshal
import os
import sys
import types
import weakref
from _pickle import loads

# The name by which bytes call what is here: below a package's name, a process that reads it would import the package.
WIRE = "_tutti_code"
sys.modules[WIRE] = sys.modules[__name__]

_EMPTY = type("Empty", (), {"__slots__": (), "__reduce__": lambda self: "empty", "__module__": WIRE})
empty = _EMPTY()  # what a cell without a value holds

# Classes that travelled, by a name that holds in all processes: one class stays one class on its way there and back.
_classes, _keys, _foreign = weakref.WeakValueDictionary(), weakref.WeakKeyDictionary(), weakref.WeakSet()
lean = weakref.WeakSet()  # functions that came by value and go by name
spaces = {}  # of an executor: the globals that its functions share in this process


def class_key(cls):
    """A name of a class that holds in all processes."""
    key = _keys.get(cls)
    if key is None:
        key = _keys[cls] = os.urandom(12)
        _classes[key] = cls
    return key


def scoped(data, scope):
    return sys.modules["tutti.parallel._code"].Scoped(loads(data), scope)


def space_of(key, base):
    if key is None:
        return {**base, "__builtins__": builtins}
    if key not in spaces:
        spaces[key] = {**base, "__builtins__": builtins}
    return spaces[key]


def make_function(code, space, closure):
    return types.FunctionType(marshal.loads(code), space, None, None, closure or None)


def make_lean(code, space, closure):
    f = make_function(code, space, closure)
    lean.add(f)
    return f


def fill_function(f, state):
    used, tokens, contents, submodules, attributes = state
    for cell, held in contents:
        if held is not empty:
            cell.cell_contents = held
    for name in submodules:
        __import__(name)
    for name, value in attributes.items():
        setattr(f, name, value)
    space = f.__globals__
    for name, value in used.items():
        # What the program has not bound anew since stays as this process made it: an initialiser set or filled it.
        if tokens is None or brought_of(space).get(name) != tokens[name]:
            space[name] = value
    if tokens is not None:
        brought_of(space).update(tokens)


def brought_of(space):
    """Of the globals of a scope: which values of the program's they were given last."""
    return space.setdefault("__brought__", {})


def make_cell(held):
    return types.CellType() if held is empty else types.CellType(held)


def make_class(metaclass, name, bases, first, key):
    cls = _classes.get(key)
    if cls is not None:
        return cls
    from abc import ABCMeta

    # A metaclass's own __new__ has done its work: what it made of the class is in the class.
    new = ABCMeta.__new__ if issubclass(metaclass, ABCMeta) else type.__new__
    return _came(new(metaclass, name, bases, dict(first)), key)


def _came(cls, key):
    _classes[key], _keys[cls] = cls, key
    _foreign.add(cls)
    return cls


def fill_class(cls, held):
    if cls in _foreign:
        for name, value in held.items():
            type.__setattr__(cls, name, value)


def make_enum(metaclass, name, bases, members, key):
    cls = _classes.get(key)
    if cls is not None:
        return cls
    space = metaclass.__prepare__(name, bases)
    for member, value in members.items():
        space[member] = value
    return _came(metaclass.__new__(metaclass, name, bases, space), key)


def fill_enum(cls, state):
    held, owns = state
    fill_class(cls, held)
    if cls in _foreign:
        for name, own in owns.items():
            vars(cls.__members__[name]).update(own)


def make_lru_cache(f, parameters):
    from functools import lru_cache

    return lru_cache(**parameters)(f)


def make_module(name, doc):
    return types.ModuleType(name, doc)


def make_type_variable(kind, name, constraints, options, key):
    variable = _classes.get(key)
    return _came(kind(name, *constraints, **options), key) if variable is None else variable


def attribute_of(name, path):
    found = sys.modules.get(name) or __import__(name, None, None, ["*"])
    return getattr(found, path)


def sentinel(name):
    import dataclasses

    return getattr(dataclasses, name)


for _called in (
    scoped, space_of, make_function, make_lean, fill_function, make_cell, make_class, fill_class, make_enum,
    fill_enum, make_lru_cache, make_module, make_type_variable, attribute_of, sentinel,
):  # fmt: skip
    _called.__module__ = WIRE
