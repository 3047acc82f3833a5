"""Functions and classes as bytes, by value where no other process could import them.

A worker of `tutti.parallel` can import what lies in modules. It cannot import a lambda, a closure, or what the program
itself (`__main__`, a notebook) defines: of these the code, the cells and the globals that are used travel. Everything
else is pickle's own protocol 5, so large arrays may go beside the bytes (`buffer_callback`).

This file imports nothing of tutti, for workers read it before they import anything, and little of Python: somebody
waits. `_rebuild.py` has what the bytes call, `_blame.py` words what could not be taken.
"""

import io
import marshal
import sys
import types
from _pickle import PickleBuffer, loads  # noqa: F401 (who has dumps looks here for loads)
from _pickle import Pickler as _Pickler

_rebuild = sys.modules["tutti.parallel._rebuild"]
_CELL = types.CellType
_MAIN = (None, "__main__", "__mp_main__")  # modules that a worker has no copy of
_sent = {}  # of an executor: the globals that went out, by number
_names = {}  # of a code object: the globals that it names


def dumps(value, buffer_callback=None, scope=None, lean=()):
    """`value` as bytes.

    Parameters
    ----------
    value : object
        A function, its arguments, a result.
    buffer_callback : callable, optional
        As in `pickle.dumps`: takes a `PickleBuffer` of each array that need not lie in the bytes.
    scope : str, optional
        Functions that come with the same scope share their globals in a worker, and there what the worker did to them
        lasts until the program binds them anew (an initialiser sets what tasks read). Without one, globals are as they
        are here, anew for each call of `loads`.
    lean : set of int
        Functions (their ids) that go by value although they can be imported; see `_lean.py`.

    Returns
    -------
    memoryview

    Raises
    ------
    pickle.PicklingError
        Something in the value cannot be handed over. The message says where in it that lies.
    """
    file = io.BytesIO()
    Pickler(file, 5, buffer_callback, scope, lean).dump(value)
    return file.getbuffer()


class Scoped:
    """A function that shares its globals with others of the scope, wherever it is called."""

    def __init__(self, f, scope):
        self.f, self.scope = f, scope

    def __call__(self, *args, **kwargs):
        return self.f(*args, **kwargs)

    def __reduce__(self):
        return _rebuild.scoped, (bytes(dumps(self.f, scope=self.scope)), self.scope)


def is_importable(thing):
    """Whether another process finds this function or class by its module and name."""
    name = getattr(thing, "__qualname__", None) or getattr(thing, "__name__", "")
    module = getattr(thing, "__module__", None)
    if module in _MAIN or _is_told(module):
        return False
    found = sys.modules.get(module)
    if found is None or getattr(found, "__spec__", None) is None:
        return False
    for part in name.split("."):
        found = getattr(found, part, None)
    return found is thing


def _is_told(module):
    """Whether the program has told cloudpickle to take what this module has by value."""
    told = getattr(sys.modules.get("cloudpickle"), "list_registry_pickle_by_value", None)
    return told is not None and any(module == name or module.startswith(name + ".") for name in told())


def globals_of(code):
    """The names that a code object, and those inside it, look up or bind among the globals."""
    names = _names.get(code)
    if names is None:
        names = set(_named(code))
        for inner in code.co_consts:
            if isinstance(inner, types.CodeType):
                names |= globals_of(inner)
        if len(_names) > 4096:
            _names.clear()
        _names[code] = names
    return names


def _named(code):
    import opcode

    numbers, extended = opcode.opmap, 0
    whole = {
        numbers[n] for n in ("STORE_GLOBAL", "DELETE_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS") if n in numbers
    }
    load, far, text = numbers["LOAD_GLOBAL"], numbers["EXTENDED_ARG"], code.co_code
    for at in range(0, len(text), 2):
        argument = extended | text[at + 1]
        extended = argument << 8 if text[at] == far else 0
        if text[at] == load:  # its lowest bit says whether a call follows
            yield code.co_names[argument >> 1]
        elif text[at] in whole:
            yield code.co_names[argument]


def used_globals(f):
    """The globals of a function that its code names, and that are there."""
    space = f.__globals__
    return {name: space[name] for name in sorted(globals_of(f.__code__)) if name in space}


def _submodules(used, code):
    """Modules below the packages that a function uses: `import xml.etree` binds `xml` alone."""
    words, stack = set(), [code]
    while stack:
        code = stack.pop()
        words.update(code.co_names)
        stack += [inner for inner in code.co_consts if isinstance(inner, types.CodeType)]
    for package in used:
        if isinstance(package, types.ModuleType) and hasattr(package, "__path__"):
            above = package.__name__ + "."
            for name in list(sys.modules):
                if name.startswith(above) and words.issuperset(name[len(above) :].split(".")):
                    yield name


def _by_cloudpickle(file, at, value):
    """Whether cloudpickle takes the value, if the program has imported it: it may know more."""
    cloudpickle = sys.modules.get("cloudpickle")
    if cloudpickle is None:
        return False
    file.seek(at)
    file.truncate()
    try:
        cloudpickle.dump(value, file, protocol=5)
    except Exception:
        return False
    return True


class _Space:
    """Stands for the globals of functions: their names in the other process are those functions' alone."""

    def __init__(self, of, scope):
        kept = ("__name__", "__package__", "__file__", "__path__")
        self.base = {k: of[k] for k in kept if isinstance(of.get(k), (str, list))}
        self.key = None if scope is None else (scope, id(of))


class Pickler(_Pickler):
    """pickle's, with `reducer_override` for what it takes by name or not at all."""

    def __init__(self, file, protocol=5, buffer_callback=None, scope=None, lean=()):
        super().__init__(file, protocol=protocol, buffer_callback=buffer_callback)
        self.lean = lean
        self.file, self.scope, self.spaces, self.cells = file, scope, {}, set()

    def dump(self, value):
        """Write the value; PicklingError says what in it cannot be taken, and where that lies."""
        at = self.file.tell()
        try:
            super().dump(value)
        except (OSError, MemoryError):  # there is no room: that is nothing in the value
            raise
        except Exception as error:
            if not _by_cloudpickle(self.file, at, value):
                from tutti.parallel import _blame

                raise _blame.explain(value, error) from error

    def reducer_override(self, obj):
        kind = type(obj)
        rule = RULES.get(kind)
        if rule is not None:
            return rule(self, obj)
        if issubclass(kind, type):
            return self.reduce_class(obj)
        if kind.__module__ in _LATE:
            rule = _LATE[kind.__module__].get(kind.__name__)
            return NotImplemented if rule is None else rule(self, obj)
        return NotImplemented

    def reduce_function(self, f):
        if f in _rebuild.lean:
            return _rebuild.attribute_of, (f.__module__, f.__name__)
        if id(f) not in self.lean and is_importable(f):
            return NotImplemented
        space = self.spaces.get(id(f.__globals__))
        if space is None:
            space = self.spaces[id(f.__globals__)] = _Space(f.__globals__, self.scope)
        closure, contents = f.__closure__ or (), []
        for cell in closure:  # a cell that functions share is filled by the first of them
            if id(cell) not in self.cells:
                self.cells.add(id(cell))
                contents.append((cell, _contents(cell)))
        used = used_globals(f)
        inside = [*used.values(), *(held for _, held in contents)]
        state = (
            used,
            self.tokens(f, used),
            contents,
            list(_submodules(inside, f.__code__)),
            {k: v for k, v in _attributes(f) if v},
        )
        return (
            _rebuild.make_lean if id(f) in self.lean else _rebuild.make_function,
            (marshal.dumps(f.__code__), space, closure),
            state,
            None,
            None,
            _rebuild.fill_function,
        )

    def tokens(self, f, used):
        """Of a scope's globals: numbers that change when the program binds them anew. Kept values keep theirs."""
        if self.scope is None:
            return None
        _sent.setdefault(self.scope, {}).update({id(v): v for v in used.values()})
        return {name: id(v) for name, v in used.items()}

    def reduce_cell(self, cell):
        if id(cell) in self.cells:
            return _CELL, ()
        return _rebuild.make_cell, (_contents(cell),)

    def reduce_class(self, cls):
        if is_importable(cls):
            return NotImplemented
        if cls.__module__ == "builtins":  # the type of functions, of None: names of `types`
            return next(((getattr, (types, n)) for n, v in vars(types).items() if v is cls), NotImplemented)
        if "enum" in sys.modules and issubclass(cls, sys.modules["enum"].Enum):
            return self.reduce_enum(cls)
        held = dict(cls.__dict__)
        first = {k: held[k] for k in ("__module__", "__qualname__", "__slots__", "__orig_bases__") if k in held}
        slots = held.get("__slots__", ())
        for name in ("__dict__", "__weakref__", "_abc_impl", "__annotations_cache__", *first):
            held.pop(name, None)
        for name in (slots,) if isinstance(slots, str) else slots:
            held.pop(_mangled(cls, name), None)
        args = (type(cls), cls.__name__, cls.__bases__, first, _rebuild.class_key(cls))
        return _rebuild.make_class, args, held, None, None, _rebuild.fill_class

    def reduce_enum(self, cls):
        members = {name: (m._value_, _own(m)) for name, m in cls.__members__.items()}
        made = (
            "_generate_next_value_",
            "_member_names_",
            "_member_map_",
            "_member_type_",
            "_value2member_map_",
            "__new__",
        )
        made += (
            "_use_args_",
            "_new_member_",
            "_value_repr_",
            "_unhashable_values_",
            "_hashable_values_",
            "_flag_mask_",
        )
        made += ("_singles_mask_", "_all_bits_", "_boundary_", "_inverted_", "__dict__", "__weakref__", "__reduce_ex__")
        skip = {*made, *members}
        held = {k: v for k, v in cls.__dict__.items() if k not in skip}
        args = (
            type(cls),
            cls.__name__,
            cls.__bases__,
            {k: v for k, (v, _) in members.items()},
            _rebuild.class_key(cls),
        )
        state = held, {k: own for k, (_, own) in members.items() if own}
        return _rebuild.make_enum, args, state, None, None, _rebuild.fill_enum


def _attributes(f):
    """What a function holds beside its code."""
    yield "__name__", f.__name__
    yield "__qualname__", f.__qualname__
    yield "__module__", f.__module__
    yield "__doc__", f.__doc__
    yield "__defaults__", f.__defaults__
    yield "__kwdefaults__", f.__kwdefaults__
    yield "__dict__", f.__dict__
    yield "__type_params__", getattr(f, "__type_params__", ())
    try:
        yield "__annotations__", f.__annotations__
    except NameError:  # of 3.14: a name that is only there for type checkers
        pass


def _contents(cell):
    try:
        return cell.cell_contents
    except ValueError:
        return _rebuild.empty


def _mangled(cls, name):
    private = name.startswith("__") and not name.endswith("__")
    return f"_{cls.__name__.lstrip('_')}{name}" if private else name


def _own(member):
    return {k: v for k, v in vars(member).items() if k not in ("_value_", "_name_", "__objclass__", "_sort_order_")}


def forget(scope):
    """Drop the globals of a scope: its executor has been shut down."""
    _sent.pop(scope, None)
    for key in [key for key in _rebuild.spaces if key[0] == scope]:
        del _rebuild.spaces[key]


def _reduce_module(_, module):
    name = module.__name__
    if name == "__main__" or (sys.modules.get(name) is module and module.__spec__ is not None):
        import importlib

        return importlib.import_module, (name,)
    held = {k: v for k, v in vars(module).items() if k not in ("__builtins__", "__loader__", "__spec__")}
    return _rebuild.make_module, (name, module.__doc__), held


def _reduce_lru_cache(_, f):
    return NotImplemented if is_importable(f) else (_rebuild.make_lru_cache, (f.__wrapped__, f.cache_parameters()))


def _reduce_stream(_, stream):
    for name in ("stdout", "stderr", "stdin"):
        if stream is getattr(sys, name) or stream is getattr(sys, f"__{name}__"):
            return _rebuild.attribute_of, ("sys", name)
    return NotImplemented


def _reduce_type_variable(_, variable):
    if is_importable(variable):
        return NotImplemented
    options = {
        "bound": variable.__bound__,
        "covariant": variable.__covariant__,
        "contravariant": variable.__contravariant__,
    }
    if not options["bound"]:
        del options["bound"]
    return _rebuild.make_type_variable, (
        type(variable),
        variable.__name__,
        variable.__constraints__,
        options,
        _rebuild.class_key(variable),
    )


def _reduce_memory(_, memory):
    return memoryview, (PickleBuffer(memory) if memory.c_contiguous else memory.tobytes(),)


def _reduce_proxy(_, proxy):
    """Of Python's own managers: the other process needs the word that their server asks for."""
    rebuild, (func, token, serializer, options) = proxy.__reduce__()
    return rebuild, (func, token, serializer, {**options, "authkey": bytes(proxy._authkey)})


class _Proxies:
    """The rules of a manager's classes, which are made when somebody asks for them."""

    def get(self, name):
        return _reduce_proxy if "Proxy" in name else None


# Of modules that are not imported for their sake: by the name of the type.
_LATE = {
    "typing": {"TypeVar": _reduce_type_variable},
    "dataclasses": {"_FIELD_BASE": lambda _, kind: (_rebuild.sentinel, (kind.name,))},
    "multiprocessing.managers": _Proxies(),
    "functools": {"_lru_cache_wrapper": _reduce_lru_cache},
}


RULES = {
    types.FunctionType: Pickler.reduce_function,
    _CELL: Pickler.reduce_cell,
    _Space: lambda _, space: (_rebuild.space_of, (space.key, space.base)),
    types.CodeType: lambda _, code: (marshal.loads, (marshal.dumps(code),)),
    types.ModuleType: _reduce_module,
    types.MethodType: lambda _, m: (types.MethodType, (m.__func__, m.__self__)),
    property: lambda _, p: (property, (p.fget, p.fset, p.fdel, p.__doc__)),
    classmethod: lambda _, m: (classmethod, (m.__func__,)),
    staticmethod: lambda _, m: (staticmethod, (m.__func__,)),
    io.TextIOWrapper: _reduce_stream,
    types.MappingProxyType: lambda _, m: (types.MappingProxyType, (dict(m),)),
    memoryview: _reduce_memory,
}
