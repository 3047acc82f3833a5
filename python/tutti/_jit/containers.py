"""Lists and dictionaries that compiled functions take: of items of one type, which the first one gives."""

import collections.abc
import re

from .settings import config
from .signature import parse_type, parts_of

_SUFFIX = {"bool": "b8", "float16": "f16", "float32": "f32", "float64": "f64", "complex64": "c64", "complex128": "c128"}
_SUFFIX |= {f"{sign}int{bits}": f"{sign or 'i'}{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}
_NAME = {suffix: name for name, suffix in _SUFFIX.items()} | {"W": "unicode_type"}


def kind_of(value):
    """The type of a value, as signatures of compiled code write it; TypeError where a list takes none such."""
    if hasattr(type(value), "_jit_kind"):
        return value._jit_kind
    if isinstance(value, (List, Dict)) and value._kind:
        return value._jit_list + value._kind
    if isinstance(value, tuple):
        return f"({','.join(map(kind_of, value))})"
    if isinstance(value, str):
        return "W"
    if value is None:
        return "N"
    for python, suffix in ((bool, "b8"), (int, "i64"), (float, "f64"), (complex, "c128")):
        if isinstance(value, python):
            return suffix
    dtype = str(getattr(value, "dtype", ""))
    if dtype in _SUFFIX and hasattr(value, "ndim"):
        return f"A{_SUFFIX[dtype]}:{value.ndim}A" if value.ndim else _SUFFIX[dtype]
    raise TypeError(f"a typed list takes numbers, arrays, tuples and typed lists, not {type(value).__name__}")


def _number(value, kind):
    wide = "biufc".index
    own = kind_of(value)
    whole = kind[0] in "iu" and own[0] in "iu"  # of any width, as far as the value fits
    if not whole and (own[0] not in "biufc" or wide(own[0]) > wide(kind[0]) or (kind == "b8") != (own == "b8")):
        raise TypeError(f"a typed list of {_NAME[kind]} takes no {type(value).__name__}")
    value = value.item() if hasattr(value, "item") else value
    made = {"b": bool, "f": float, "c": complex}.get(kind[0], int)(value)
    bits = int(kind[1:])
    low, high = (0, 1 << bits) if kind[0] == "u" else (-(1 << bits - 1), 1 << bits - 1)
    if kind[0] in "iu" and not low <= made < high:
        raise OverflowError(f"{made} is beyond {_NAME[kind]}")
    return made


def _fitting(value, kind):
    """The value as a list of that kind has it."""
    if kind[0] not in "TEAWJN(":
        return _number(value, kind)
    if kind[0] == "T" and isinstance(value, List) and not value._kind:
        value._kind = kind[1:]
    if kind[0] == "(" and isinstance(value, tuple) and kind[1] != "@":
        parts = parts_of(kind[1:-1])
        if len(parts) == len(value):
            return tuple(map(_fitting, value, parts))
    if kind_of(value) != kind:
        raise TypeError(f"a typed list of {kind} takes no {type(value).__name__} of another type")
    return value


# What Python's own lists may hold, by the items' class.
_PLAIN = {bool: "b8", int: "i64", float: "f64", complex: "c128", str: "W"}


def plain(value):
    """(letter, kind, items) of a list or a set of Python's: all items of one type."""
    items = list(value)
    if not items:
        raise TypeError(f"an empty {type(value).__name__} tells no type: pass numba.typed.List.empty_list(type)")
    classes = set(map(type, items))
    if any(issubclass(cls, (list, set)) for cls in classes):
        raise TypeError(f"cannot reflect element of reflected container: a {type(value).__name__} in another one")
    if len(classes) > 1:
        names = sorted(cls.__name__ for cls in classes)
        raise TypeError(f"can't unbox heterogeneous {type(value).__name__}: {names[0]} != {names[1]}")
    kind = _PLAIN.get(next(iter(classes))) or kind_of(items[0])
    other = next((kind_of(item) for item in items if kind_of(item) != kind), None) if kind[0] in "A(" else None
    if other:
        raise TypeError(f"can't unbox heterogeneous {type(value).__name__}: {shown(kind)} != {shown(other)}")
    if isinstance(value, list):
        return "L", kind, items
    return "S", f"(b8,{kind})", [(True, item) for item in items]


def plain_back(value, items):
    """Python's own list or set gets the items that a call gave it."""
    if isinstance(value, list):
        value[:] = items
    else:
        now = {item for there, item in items if there}
        value.intersection_update(now)
        value.update(now)


def shown(kind):
    """The type of items as Numba writes it; of nothing Undefined."""
    from ..compat.numba.types import of_kinds

    return of_kinds(kind)[0] if kind else "Undefined"


class List(collections.abc.MutableSequence):
    """A list whose items have one type, for compiled functions.

    Parameters
    ----------
    items : iterable, optional
        What it holds at first.

    Examples
    --------
    >>> from tutti.compat.numba.typed import List
    >>> numbers = List([1, 2])
    >>> numbers.append(3)
    >>> len(numbers)
    3
    """

    _jit_list = "T"
    _jit_name = "typed.List"

    def __new__(cls, *items, **names):
        """A list of Python's own where nothing is compiled."""
        return list(*items) if config.DISABLE_JIT else super().__new__(cls)

    def __init__(self, *items, **names):
        if names:
            raise TypeError("List() takes no keyword arguments")
        if len(items) > 1:
            raise TypeError(f"List() expected at most 1 argument, got {len(items)}")
        if items and not isinstance(items[0], collections.abc.Iterable):
            raise TypeError("List() argument must be iterable")
        self._kind, self._items = None, []
        if items:
            plain = getattr(items[0], "shape", None) == ()  # an array without axes is its one element
            self.extend([items[0][()]] if plain else items[0])

    @classmethod
    def _of(cls, kind, items):
        made = cls()
        made._kind, made._items = kind, items
        return made

    def _back(self, items):
        self._items[:] = items

    def _given(self, value):
        if self._kind is None:
            self._kind = kind_of(value)
        return _fitting(value, self._kind)

    def insert(self, index, value):
        """Put an item before one."""
        self._items.insert(index, self._given(value))

    def append(self, value):
        """Put an item behind all."""
        self._items.append(self._given(value))

    def sort(self, key=None, reverse=False):
        """Bring the items into order."""
        self._items.sort(key=key, reverse=reverse)

    def copy(self):
        """Another list of the same items."""
        return self._of(self._kind, list(self._items))

    def __getitem__(self, index):
        found = self._items[index]
        return self._of(self._kind, found) if isinstance(index, slice) else found

    def __setitem__(self, index, value):
        if not isinstance(index, slice):
            self._items[index] = self._given(value)
            return
        values, places = list(value), range(len(self._items))[index]
        if index.step not in (None, 1) and len(values) != len(places):
            raise ValueError(
                "length mismatch for extended slice and sequence: attempt to assign sequence of size "
                f"{len(values)} to extended slice of size {len(places)}"
            )
        self._items[index] = [self._given(v) for v in values]

    def __delitem__(self, index):
        del self._items[index]

    def __len__(self):
        return len(self._items)

    def __iter__(self):
        return iter(self._items)

    def __eq__(self, other):
        return list(self) == list(other) if isinstance(other, (List, list)) else NotImplemented

    def __lt__(self, other):
        if not isinstance(other, List):
            return False
        return self._kind != "N" and other._kind != "N" and list(self) < list(other)

    def __gt__(self, other):
        return isinstance(other, List) and other < self

    def __le__(self, other):
        return self < other or self == other

    def __ge__(self, other):
        return self > other or self == other

    __hash__ = None

    def __repr__(self):
        return f"ListType[{shown(self._kind)}]({self._items})"

    def __str__(self):
        return str(self._items)

    def __reduce__(self):
        return List._of, (self._kind, self._items)


class Dict(collections.abc.MutableMapping):
    """A dictionary whose keys have one type and whose values have one, for compiled functions.

    Parameters
    ----------
    items : mapping, optional
        What it holds at first.

    Examples
    --------
    >>> from tutti.compat.numba.typed import Dict
    >>> squares = Dict()
    >>> squares[3] = 9
    >>> squares[3]
    9
    """

    _jit_list = "E"
    _jit_name = "typed.Dict"

    def __new__(cls, *items):
        """A dictionary of Python's own where nothing is compiled."""
        return dict(*items) if config.DISABLE_JIT else super().__new__(cls)

    def __init__(self, *items):
        if len(items) > 1:
            raise TypeError(f"Dict expect at most 1 argument, got {len(items)}")
        self._kind, self._types, self._data = None, None, {}
        if items:
            pairs = items[0] if hasattr(items[0], "keys") else list(items[0])
            for k, pair in enumerate(() if hasattr(pairs, "keys") else pairs):
                if len(pair) != 2:
                    raise ValueError(f"dictionary update sequence element #{k} has length {len(pair)}; 2 is required")
            self.update(pairs)

    def copy(self):
        """Another dictionary of the same items."""
        return self._of(self._types, dict(self._data))

    @classmethod
    def _of(cls, kinds, data):
        made = cls()
        made._types, made._data = kinds, data
        made._kind = f"(b8,{kinds[0]},{kinds[1]})" if kinds else None
        return made

    @property
    def _items(self):
        return [(True, key, value) for key, value in self._data.items()]

    def _back(self, items):
        self._data = {key: value for there, key, value in items if there}

    def __getitem__(self, key):
        return self._data[key]

    def __setitem__(self, key, value):
        if self._types is None:
            kind = kind_of(key)
            if kind[0] not in "biufW(":
                raise TypeError(f"a typed dictionary takes numbers, str and tuples as keys, not {type(key).__name__}")
            self._types = kind, kind_of(value)
            self._kind = f"(b8,{kind},{self._types[1]})"
        self._data[_fitting(key, self._types[0])] = _fitting(value, self._types[1])

    def __delitem__(self, key):
        del self._data[key]

    def popitem(self):
        """Take the item away that came last."""
        return self._data.popitem()

    def __len__(self):
        return len(self._data)

    def __iter__(self):
        return iter(self._data)

    def __repr__(self):
        key, value = self._types or (None, None)
        return f"DictType[{shown(key)},{shown(value)}]<iv=None>({self._data})"

    def __str__(self):
        return "{" + ", ".join(f"{key}: {value}" for key, value in self._data.items()) + "}"

    def __reduce__(self):
        return Dict._of, (self._types, self._data)


class _EmptyDict:
    """Dict.empty(key_type, value_type): a dictionary of known types that holds nothing."""

    _jit_name = "typed.Dict.empty"

    def __call__(self, key_type, value_type, n_keys=0):
        for one, what in ((key_type, "key"), (value_type, "value")):
            if getattr(one, "plain", False) or str(one).startswith("set("):
                raise TypeError(f"{one} as {what} is forbidden: of lists only typed.List's")
        if kind_of_type(key_type)[0] not in "biufW(":
            raise TypeError(f"a typed dictionary takes numbers, str and tuples as keys, not {key_type}")
        if config.DISABLE_JIT:
            return {}
        return Dict._of((kind_of_type(key_type), kind_of_type(value_type)), {})


Dict.empty = _EmptyDict()


def made(letter, kind, items):
    """What a call made: a list, a dictionary or a set of that kind, of its entries."""
    if letter == "T":
        return List._of(kind, items)
    if letter == "J":
        from .classes import made as object_of

        return object_of(kind, items)
    if letter in "SU":
        return {key for there, key in items if there}
    data = {key: value for there, key, value in items if there}
    if letter == "D":
        return data
    at = kind.index(",", 4)
    return Dict._of((kind[4:at], kind[at + 1 : -1]), data)


class _EmptyList:
    """List.empty_list(type): a list of a known type that holds nothing."""

    _jit_name = "typed.List.empty_list"

    def __call__(self, item_type, allocated=0):
        return [] if config.DISABLE_JIT else List._of(kind_of_type(item_type), [])


def kind_of_type(item_type):
    """The type that a list's items have, of a type of signatures."""
    if hasattr(item_type, "_jit_kind"):
        return item_type._jit_kind
    text = getattr(item_type, "name", None) or str(item_type)
    if text in ("unicode_type", "none"):
        return {"unicode_type": "W"}.get(text, "N")
    compound = re.fullmatch(r"(list|dict|tuple|optional)\((.*)\)", text)
    if compound:
        kinds = [kind_of_type(part.strip()) for part in parts_of(compound[2])]
        if compound[1] == "list" and len(kinds) == 1:
            return ("L" if getattr(item_type, "plain", False) else "T") + kinds[0]
        if compound[1] == "optional" and len(kinds) == 1:
            return f"(@Ooptional;b8,{kinds[0]})"
        if hasattr(item_type, "instance_class"):
            from .named import meta_of

            return f"(@{meta_of(item_type.instance_class)};{','.join(kinds)})"
        return f"E(b8,{','.join(kinds)})" if compound[1] == "dict" else f"({','.join(kinds)})"
    dtype, axes = parse_type(item_type)
    if dtype is None:
        raise TypeError(f"a typed list of {item_type}")
    return f"A{_SUFFIX[dtype]}:{axes}A" if axes else _SUFFIX[dtype]


List.empty_list = _EmptyList()

__all__ = ["Dict", "List"]
