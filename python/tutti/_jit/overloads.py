"""Functions that are written anew for each list of argument types: numba's overload.

A maker gets the types of a call's arguments and gives the function for them, or None where it has none.
"""

import inspect

_makers = {}  # by the function that is overloaded


def has_overloads(fn):
    """Has somebody written makers for a callable?"""
    try:
        return fn in _makers
    except TypeError:  # not hashable
        return False


def signature_of(fn):
    """The function whose parameters calls of an overloaded one fill: its first maker, else the function itself."""
    maker = _makers[fn][0][0]
    plain = inspect.isfunction(maker) and not maker.__code__.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
    return maker if plain else fn if inspect.isfunction(fn) else None


def overload(fn, target="cpu", **options):
    """A decorator of a maker for calls of `fn`; target="cuda": in kernels only, where it is asked before others."""

    def decorate(maker):
        _makers.setdefault(fn, []).append((maker, target == "cuda"))
        return maker

    return decorate


def made(fn, kinds, place, in_kernel=False):
    """The function for arguments of these types, as signatures of compiled code write them."""
    from ..compat.numba import types

    given = types.of_kinds(kinds)
    makers = reversed(_makers[fn])
    for maker, _ in sorted((m for m in makers if in_kernel or not m[1]), key=lambda m: not m[1]):
        found = maker(*given)
        if found is not None:
            return found
    names = ", ".join(map(str, given))
    raise TypeError(f"No implementation of function {fn.__name__}() for ({names})\n{place}")
