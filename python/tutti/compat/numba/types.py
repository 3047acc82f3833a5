"""Numba's types: data types in kernels, and words of signatures, which need not be given here."""

from ..._jit.signature import NAMES


class Type:
    """A data type; Type[:] is an array of it, Type(...) a signature or, of a number, a conversion."""

    def __init__(self, name, dtype=None):
        self.name = self.__name__ = name
        self._jit_dtype = dtype

    def __getitem__(self, axes):
        rank = len(axes) if isinstance(axes, tuple) else 1
        return Type(f"array({self.name}, {rank}d)")

    def __call__(self, *args):
        if len(args) == 1 and not isinstance(args[0], Type) and self._jit_dtype:
            import numpy as np

            return np.dtype(self._jit_dtype).type(args[0])
        return Type(f"{self.name}({', '.join(str(a) for a in args)})")

    def __repr__(self):
        return self.name

    def __eq__(self, other):
        return isinstance(other, Type) and other.name == self.name

    def __hash__(self):
        return hash(self.name)


def _make():
    out = {}
    for name, dtype in NAMES.items():
        out[name] = Type(dtype, dtype)
    out["void"] = out["none"] = Type("none")
    return out


_types = _make()
globals().update(_types)
__all__ = list(_types)


class _Kind:
    """A maker of compound types in signatures."""

    def __init__(self, name):
        self.name = name

    def __call__(self, *args, **names):
        return Type(f"{self.name}({', '.join(str(a) for a in args)})")


Array, Tuple, UniTuple, Optional, ListType = (_Kind(n) for n in ("array", "tuple", "tuple", "optional", "list"))
