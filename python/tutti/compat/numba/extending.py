"""numba.extending, as far as it has a meaning here: functions that compiled functions may call."""

from ..._jit import njit
from ..._jit.overloads import overload


def register_jitable(*args, **options):
    """A function that compiled functions may call, and Python as before."""
    if len(args) == 1 and callable(args[0]):
        return njit(args[0])
    return lambda fn: njit(fn)


def __getattr__(name):
    raise AttributeError(
        f"tutti.compat.numba does not cover numba.extending.{name}: it extends Numba's own compiler; a function for "
        "each kind of argument does without"
    )


__all__ = ["overload", "register_jitable"]
