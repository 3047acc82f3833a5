"""Functions of modules that are handed over by value: a worker that imports their modules may import much for nothing.

It is done where nobody can tell: the function is its code, numbers and texts, functions of the same kind, and modules
of the standard library that hold no settings. What else a module does when it is imported may be what a function needs.
"""

import builtins
import sys
import types

from . import _code

_MODULES = frozenset(
    "array base64 binascii bisect cmath collections copy fractions functools hashlib heapq itertools json math "
    "operator random re statistics string struct time unicodedata zlib".split()
)
_FIXED = (int, float, complex, str, bytes, bool, type(None))
_SPACES = frozenset(("globals", "eval", "exec", "vars", "__import__"))  # what shows a function its module
_DEPTH = 8  # functions that call functions


def parts(f):
    """The functions to be taken by value for a function to be called, itself among them, as a set of ids.

    Empty: it needs its module, or none could be imported less.
    """
    found = set()
    return found if _collect(f, found, _DEPTH) else ()


def _collect(f, found, depth):
    if id(f) in found:
        return True
    if depth == 0 or not _is_simple(f):
        return False
    found.add(id(f))
    used = _code.used_globals(f)
    if any(not (name in used or hasattr(builtins, name)) for name in _code.globals_of(f.__code__)):
        return False
    if any(_is_fixed(v) for v in used.values()) and _binds(f.__globals__):
        return False
    return all(_is_fixed(v) or _is_module(v) or _collect(v, found, depth - 1) for v in used.values())


def _is_simple(f):
    """Is it a module's function that has nothing but its code?"""
    return (
        type(f) is types.FunctionType
        and "." not in f.__qualname__
        and f.__module__.partition(".")[0] not in sys.stdlib_module_names
        and _code.is_importable(f)
        and f.__globals__ is vars(sys.modules[f.__module__])
        and not (f.__closure__ or f.__dict__)
        and all(map(_is_fixed, (*(f.__defaults__ or ()), *(f.__kwdefaults__ or {}).values())))
        and all(_is_fixed(v) or getattr(v, "__module__", None) == "builtins" for v in _hints(f))
        and _SPACES.isdisjoint(_code.globals_of(f.__code__))
        and not writes_globals(f.__code__)
    )


def _hints(f):
    try:
        return f.__annotations__.values()
    except NameError:  # of 3.14: a name that is only there for type checkers
        return (f,)


def writes_globals(code):
    """Does a code object, or one inside it, bind globals?"""
    import opcode

    writes = {opcode.opmap["STORE_GLOBAL"], opcode.opmap["DELETE_GLOBAL"]}
    inner = any(writes_globals(c) for c in code.co_consts if isinstance(c, types.CodeType))
    return inner or not writes.isdisjoint(code.co_code[::2])


def _is_fixed(value):
    return type(value) in _FIXED or type(value) is tuple and all(map(_is_fixed, value))


def _is_module(value):
    name = getattr(value, "__name__", None)
    return isinstance(value, types.ModuleType) and name in _MODULES and sys.modules.get(name) is value


def _binds(space):
    """Does a function of a module bind its globals? Then what is read there may be what a worker has made of it."""
    return any(
        type(v) is types.FunctionType and v.__globals__ is space and writes_globals(v.__code__) for v in space.values()
    )
