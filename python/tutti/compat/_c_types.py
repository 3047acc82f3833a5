"""Names that C has for types, and parameters of kernels, for libraries whose programs write kernels in C."""

import re

import numpy as np


class Registry:
    """The types of a language by name: those it has, and those that programs register."""

    def __init__(self, kinds):
        self.kinds = kinds  # name: NumPy's name of the type
        self.names, self.ours = {}, {}  # what programs registered: the type of a name, the name of a type

    def get_or_register(self, c_names, dtype=None):
        """The type of these names, which a program may give one."""
        names = [c_names] if isinstance(c_names, str) else list(c_names)
        if dtype is None:
            return self.named(names[0])
        dtype = np.dtype(dtype)
        for name in names:
            if self.names.setdefault(name, dtype) != dtype:
                raise RuntimeError(f"name '{name}' already registered")
        if dtype.kind == "V":
            self.ours.setdefault(dtype, names[0])
        return dtype

    def register(self, dtype, c_names, alias_ok=False):
        """Give a type names in C; `alias_ok`: it may have one already."""
        dtype = np.dtype(dtype)
        if not alias_ok and dtype in self.ours:
            raise RuntimeError(f"dtype '{dtype}' already registered")
        self.get_or_register(c_names, dtype)

    def named(self, name):
        """The type that C calls so."""
        found = self.names.get(name) or self.kinds.get(name)
        if found is None:
            raise ValueError(f"unknown type '{name}'")
        return np.dtype(found)


class Argument:
    """A parameter of a kernel."""

    def __init__(self, dtype, name):
        self.dtype, self.name = np.dtype(dtype), name

    def __repr__(self):
        return f"{type(self).__name__}({self.name!r}, {self.dtype})"


_QUALIFIERS = r"\b(const|volatile|__restrict__|__restrict|restrict|__global|global|__constant|constant)\b"


def declared(c_arg):
    """(type, is it a pointer, name) of a parameter that a piece of C declares."""
    found = re.fullmatch(r"\s*(.*?)([\s*]+)(\w+)\s*(\[\s*\])?\s*", re.sub(_QUALIFIERS, " ", c_arg))
    if not found:
        raise ValueError(f"couldn't parse argument '{c_arg}'")
    kind, stars, name, brackets = found.groups()
    return " ".join(kind.split()), "*" in stars or bool(brackets), name
