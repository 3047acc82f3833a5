"""numba.core.types: all that numba.types has."""

from .. import types as _types

globals().update({name: value for name, value in vars(_types).items() if not name.startswith("_")})


def __getattr__(name):
    return getattr(_types, name)
