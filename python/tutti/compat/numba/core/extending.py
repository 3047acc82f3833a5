"""numba.core.extending: what numba.extending has."""

from ..extending import overload, register_jitable


def __getattr__(name):
    from .. import extending

    return getattr(extending, name)


__all__ = ["overload", "register_jitable"]
