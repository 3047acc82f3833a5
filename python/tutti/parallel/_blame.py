"""What in a value cannot be handed over to another process, and the path to it.

The walk is paid for by failures alone: each part of the value is pickled by itself, and the first that fails is opened.
"""

import pickle
import types

DEPTH = 40  # parts within parts
REASONS = {
    "lock": "a lock guards what lies in one process",
    "RLock": "a lock guards what lies in one process",
    "generator": "a generator cannot be continued elsewhere",
    "async_generator": "a generator cannot be continued elsewhere",
    "coroutine": "a coroutine cannot be continued elsewhere",
    "TextIOWrapper": "an open file belongs to one process; hand over its name",
    "BufferedReader": "an open file belongs to one process; hand over its name",
    "BufferedWriter": "an open file belongs to one process; hand over its name",
    "socket": "a connection belongs to one process",
    "_local": "it holds what is a thread's own",
    "Connection": "a connection belongs to one process",
    "frame": "it is a call under way",
}


def explain(value, error):
    """The PicklingError that names the part of `value` that cannot be taken."""
    path, part, cause = _follow(value, error)
    kind = type(part)
    name = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    reason = REASONS.get(kind.__name__, str(cause))
    lies = " -> ".join(path) if path else "the value itself"
    made = pickle.PicklingError(
        f"cannot hand {_named(value)} over to another process: {lies} is of type {name} ({reason})"
    )
    made.tutti_path = path
    return made


def _named(value):
    if isinstance(value, (types.FunctionType, type, types.MethodType)):
        return f"{value.__qualname__!r}"
    return f"a {type(value).__qualname__}"


def _error_of(part):
    """What pickling this part alone raises, or None."""
    import io

    from tutti.parallel import _code

    try:
        pickle.Pickler.dump(_code.Pickler(io.BytesIO(), 5, lambda _: False), part)
    except Exception as error:
        return error
    return None


def _follow(value, error):
    path, seen = [], set()
    while len(path) < DEPTH:
        seen.add(id(value))
        for label, part in _parts(value):
            if id(part) in seen:
                continue
            failed = _error_of(part)
            if failed is not None:
                path.append(label)
                value, error = part, failed
                break
        else:
            break
    return path, value, error


def _parts(value):
    """Pairs of the words for a part of a value and the part."""
    from tutti.parallel import _code

    if isinstance(value, types.FunctionType):
        if not _code.is_importable(value):
            yield from _parts_of_function(value, _code)
    elif isinstance(value, types.MethodType):
        yield f"the function of method {value.__name__}", value.__func__
        yield f"the object of method {value.__name__}", value.__self__
    elif isinstance(value, dict):
        for key, part in value.items():
            yield f"key {key!r}", key
            yield f"[{key!r}]", part
    elif isinstance(value, (list, tuple)):
        for at, part in enumerate(value):
            yield f"[{at}]", part
    elif isinstance(value, (set, frozenset)):
        for part in value:
            yield "an element", part
    elif isinstance(value, type):
        for name, part in value.__dict__.items():
            yield f"attribute {name} of class {value.__name__}", part
    else:
        yield from _parts_of_object(value)


def _parts_of_function(f, _code):
    for name, cell in zip(f.__code__.co_freevars, f.__closure__ or ()):
        yield f"closure variable {name!r} of {f.__qualname__!r}", _code._contents(cell)
    for name, part in _code.used_globals(f).items():
        yield f"global {name!r} of {f.__qualname__!r}", part
    for at, part in enumerate(f.__defaults__ or ()):
        yield f"default {at} of {f.__qualname__!r}", part
    for name, part in {**(f.__kwdefaults__ or {}), **f.__dict__}.items():
        yield f"{name!r} of {f.__qualname__!r}", part


def _parts_of_object(value):
    for name in ("func", "args", "keywords", "fget", "fset", "fdel", "__func__", "__wrapped__"):
        if type(value).__module__ in ("functools", "builtins") and hasattr(value, name):
            yield f".{name}", getattr(value, name)
    for name, part in (getattr(value, "__dict__", None) or {}).items():
        yield f".{name}", part
    for cls in type(value).__mro__:
        slots = cls.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if hasattr(value, name):
                yield f".{name}", getattr(value, name)
    yield f"class {type(value).__name__}", type(value)
