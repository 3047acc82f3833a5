"""Functions that are written anew for each list of argument types: numba's overload.

A maker gets the types of a call's arguments and gives the function for them, or None where it has none.
"""

_makers = {}  # by the function that is overloaded


def has_overloads(fn):
    """Has somebody written makers for a callable?"""
    try:
        return fn in _makers
    except TypeError:  # not hashable
        return False


def overload(fn, **options):
    """A decorator of a maker for calls of `fn`."""

    def decorate(maker):
        _makers.setdefault(fn, []).append(maker)
        return maker

    return decorate


def made(fn, kinds, place):
    """The function for arguments of these types, as signatures of compiled code write them."""
    from ..compat.numba import types

    given = types.of_kinds(kinds)
    for maker in reversed(_makers[fn]):
        found = maker(*given)
        if found is not None:
            return found
    names = ", ".join(map(str, given))
    raise TypeError(f"No implementation of function {fn.__name__}() for ({names})\n{place}")
