"""Functions that are written anew for each list of argument types: numba's overload.

A maker gets the types of a call's arguments and gives the function for them, or None where it has none.
"""

import ast
import inspect

from .sources import source_of

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


def made(fn, kinds, place, written, in_kernel=False):
    """The function for arguments of these types, as signatures of compiled code write them.

    written: of each argument how a call writes it, where that is known. A maker is asked with plain types first; where
    it has none, or asks for literally(argument), with the types of what was written out.
    """
    from ..compat.numba import types

    found = _found(fn, types.of_kinds(kinds, written), in_kernel)
    asked = _asks_literally(found)
    if found is not None and asked is None:
        return found
    if any(how and how[0] == "value" for how in written):
        other = _found(fn, types.of_kinds(kinds, written, True), in_kernel)
        if other is not None and _asks_literally(other) is None:
            return other
    if found is not None and written[asked] is not None and written[asked][0] != "value":
        return found  # a container: its type has said what it holds
    names = ", ".join(map(str, types.of_kinds(kinds)))
    if found is not None:
        raise TypeError(
            f"{fn.__name__}() for ({names}) asks for literally(argument {asked + 1}), which is known only when it "
            f"runs: write it out where it is called\n{place}"
        )
    raise TypeError(f"No implementation of function {fn.__name__}() for ({names})\n{place}")


def _found(fn, given, in_kernel):
    makers = reversed(_makers[fn])
    for maker, _ in sorted((m for m in makers if in_kernel or not m[1]), key=lambda m: not m[1]):
        found = maker(*given)
        if found is not None:
            return found
    return None


def _asks_literally(fn):
    """The number of the parameter that a function is literally() of and nothing else; None: it is none such."""
    code = getattr(fn, "__code__", None)
    if code is None or "literally" not in (*code.co_names, *code.co_freevars):
        return None
    node, _ = source_of(fn)
    body = node.body if isinstance(node, ast.Lambda) else getattr(node.body[-1], "value", None)
    if not isinstance(body, ast.Call) or not body.args or not ast.unparse(body.func).endswith("literally"):
        return None
    names = [a.arg for a in node.args.args]
    word = getattr(body.args[0], "id", None)
    return names.index(word) if word in names else None
