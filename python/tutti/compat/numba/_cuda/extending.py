"""numba.cuda.extending, as far as it has a meaning here: as numba.extending; what is overloaded is so in kernels."""

from ...._jit import overloads as _overloads
from ..extending import register_jitable


def overload(fn, target="cuda", **options):
    """A decorator of a maker of functions for calls of `fn`, for the types of each call's arguments."""
    return _overloads.overload(fn, target=target, **options)


def __getattr__(name):
    raise AttributeError(
        f"tutti.compat.numba does not cover numba.cuda.extending.{name}: it extends Numba's own compiler; a function "
        "for each kind of argument does without"
    )


__all__ = ["overload", "register_jitable"]
