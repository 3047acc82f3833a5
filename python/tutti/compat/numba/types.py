"""Numba's types: data types in kernels, and words of signatures, which need not be given here."""

from ..._jit.signature import NAMES


class _Named(type):
    """Classes of types are shown by their names."""

    def __repr__(cls):
        return cls.__name__


class Type(metaclass=_Named):
    """A data type; Type[:] is an array of it, Type(...) a signature or, of a number, a conversion."""

    def __init__(self, name, dtype=None):
        self.name = self.__name__ = name
        self._jit_dtype = dtype
        self.parts = ()  # of compound types: what they are made of

    def __getitem__(self, axes):
        axes = axes if isinstance(axes, tuple) else (axes,)
        dense = [getattr(a, "step", None) == 1 for a in axes]
        return Array(self, len(axes), "C" if dense[-1] else "F" if dense[0] else "A")

    def __call__(self, *args):
        if len(args) == 1 and not isinstance(args[0], Type) and self._jit_dtype:
            import numpy as np

            return np.dtype(self._jit_dtype).type(args[0])
        return Signature(self, *args)

    def __repr__(self):
        return self.name

    def __eq__(self, other):
        return isinstance(other, Type) and other.name == self.name

    def __hash__(self):
        return hash(self.name)


class Signature:
    """A result and the types of arguments."""

    def __init__(self, return_type, *args):
        self.return_type, self.args = return_type, args

    def __repr__(self):
        return f"{self.return_type}({', '.join(str(a) for a in self.args)})"

    def __eq__(self, other):
        return isinstance(other, Signature) and repr(other) == repr(self)

    def __hash__(self):
        return hash(repr(self))


class Hashable:
    """Types whose values may be keys."""


class Boolean(Type, Hashable):
    """Truth values."""


class Unicode(Type, Hashable):
    """Strings."""


class Number(Type, Hashable):
    """Numbers; `bitwidth`: how many bits one has."""

    bitwidth = property(lambda self: int(self._jit_dtype.lstrip("abcdefghijklmnopqrstuvwxyz")))


class Integer(Number):
    """Whole numbers; `signed`: may they be below 0?"""

    signed = property(lambda self: self._jit_dtype.startswith("int"))


class Float(Number):
    """Floating-point numbers."""


class Complex(Number):
    """Complex numbers; `underlying_float`: the type of their parts."""

    underlying_float = property(lambda self: _types[f"float{self.bitwidth // 2}"])


_CLASSES = {"b": Boolean, "i": Integer, "u": Integer, "f": Float, "c": Complex}


class Array(Type):
    """An array of so many axes, in C's layout, Fortran's (F) or any (A)."""

    def __init__(self, dtype, ndim, layout="A", *others, **names):
        super().__init__(f"array({dtype}, {ndim}d, {layout})")
        self.dtype, self.ndim, self.layout = dtype, ndim, layout


class CharSeq(Type):
    """So many bytes, in records and arrays; `count`: how many."""

    _letter = "char"

    def __init__(self, count):
        super().__init__(f"[{self._letter} x {count}]")
        self.count = count


class UnicodeCharSeq(CharSeq):
    """So many characters, in records and arrays."""

    _letter = "unichr"


class Record(Type):
    """Records of a NumPy dtype; `size`: bytes of one."""

    _made = []  # of all their dtypes: equal ones are one type

    def __init__(self, dtype):
        if dtype not in self._made:
            self._made.append(dtype)
        super().__init__(f"record{self._made.index(dtype)}")
        self.dtype, self.size, self.aligned = dtype, dtype.itemsize, dtype.isalignedstruct
        self.fields = dtype.fields

    @classmethod
    def make_c_struct(cls, fields):
        """Records with these (name, type) fields where C has them."""
        import numpy as np

        return cls(np.dtype([(name, _numpy(kind)) for name, kind in fields], align=True))

    def __len__(self):
        return len(self.dtype.names)

    def typeof(self, name):
        """The type of a field."""
        from . import from_dtype

        field = self.dtype.fields[name][0]
        return NestedArray(from_dtype(field.base), field.shape) if field.subdtype else from_dtype(field)

    def is_title(self, name):
        """Is the name a field's title?"""
        return name not in self.dtype.names and name in self.dtype.fields

    def offset(self, name):
        """Where a field lies in a record."""
        return self.dtype.fields[name][1]


class NestedArray(Array):
    """An array of a shape within records."""

    def __init__(self, dtype, shape):
        Type.__init__(self, f"nestedarray({dtype}, {tuple(shape)})")
        self.dtype, self.shape, self.ndim, self.layout = dtype, tuple(shape), len(shape), "C"


def _numpy(kind):
    """NumPy's dtype of a type."""
    import numpy as np

    if isinstance(kind, NestedArray):
        return np.dtype((_numpy(kind.dtype), kind.shape))
    return kind.dtype if isinstance(kind, Record) else np.dtype(kind._jit_dtype)


def _make():
    out = {}
    for name, dtype in NAMES.items():
        out[name] = _CLASSES[dtype[0]](dtype, dtype)
    out["void"] = out["none"] = Type("none")
    out["unicode_type"] = out["string"] = Unicode("unicode_type")
    return out


_types = _make()
globals().update(_types)
__all__ = list(_types)


def __getattr__(name):
    raise AttributeError(f"tutti.compat.numba does not cover numba.types.{name}")


def _domain(*kinds):
    return frozenset(_types[name] for name in NAMES.values() if name.rstrip("0123456789") in kinds)


signed_domain, unsigned_domain, real_domain, complex_domain = map(_domain, ("int", "uint", "float", "complex"))
integer_domain, number_domain = _domain("int", "uint"), _domain("int", "uint", "float", "complex")


class _Compound(Type):
    """A list, a dictionary or another type that is made of types."""

    plain = False  # a list as Python writes it, no typed.List

    def __repr__(self):
        kind = self.name.partition("(")[0]
        form = {"list": "ListType[{}]", "dict": "DictType[{}]"}.get(kind)
        if kind == "tuple" and self.parts:
            one = len(set(self.parts)) == 1
            inside = f"{self.parts[0]} x {len(self.parts)}" if one else ", ".join(map(str, self.parts))
            return f"{'UniTuple' if one else 'Tuple'}({inside})"
        shown = form.format(",".join(map(str, self.parts))) if form and not self.plain else self.name
        first = getattr(self, "initial_value", None)
        return f"{shown}<iv={first}>" if self.plain or first is not None else shown

    def __eq__(self, other):
        return super().__eq__(other) and getattr(self, "initial_value", None) == getattr(other, "initial_value", None)

    __hash__ = Type.__hash__


class _Kind:
    """A maker of compound types in signatures."""

    _jit_types = True

    def __init__(self, name):
        self.name = name

    def __call__(self, *args, **names):
        if len(args) == 1 and self.name == "tuple" and isinstance(args[0], (tuple, list)):
            args = args[0]
        made = _Compound(f"{self.name}({', '.join(getattr(a, 'name', str(a)) for a in args)})")
        made.parts = tuple(args)
        names = {"list": ("dtype",), "set": ("dtype",), "dict": ("key_type", "value_type")}.get(self.name, ())
        vars(made).update(zip(names, args))
        if self.name == "list" and args:
            made.item_type = args[0]
        if self.name == "tuple":
            made.types, made.count = made.parts, len(made.parts)
        return made

    def __instancecheck__(self, value):
        return isinstance(value, Type) and value.name.startswith(self.name + "(")


class _Container(_Kind):
    """Of lists and dictionaries; initial_value: what was in them where they were written."""

    def __init__(self, name, plain=False):
        super().__init__(name)
        self.plain = plain

    def __call__(self, *args, reflected=False, initial_value=None, **named):
        made = super().__call__(*args, *named.values())  # dtype=, or key_type= and value_type=
        made.plain, made.reflected, made.initial_value = self.plain, reflected, initial_value
        return made


class _UniTuple(_Kind):
    def __call__(self, one, count):
        return super().__call__(*[one] * count)


Tuple, Optional, Set = (_Kind(n) for n in ("tuple", "optional", "set"))
ListType, DictType, List = _Container("list"), _Container("dict"), _Container("list", True)
UniTuple = _UniTuple("tuple")
BaseTuple = Tuple


class Literal(Type, Hashable):
    """The type of a value that is known when a function is compiled; `literal_value`: the value."""

    def __init__(self, value):
        kind = type(value)
        self.literal_value, self.literal_type = value, _types[_LITERALS[kind]]
        super().__init__(f"Literal[{kind.__name__}]({value})", self.literal_type._jit_dtype)


_LITERALS = {int: "int64", bool: "boolean", str: "unicode_type"}


def maybe_literal(value):
    """The type of a whole number, a truth or a string as a literal; None of anything else."""
    return Literal(value) if type(value) in _LITERALS else None


def literal(value):
    """The type of a value that is known when a function is compiled."""
    made = maybe_literal(value)
    if made is None:
        raise TypeError(f"{value!r} cannot be used as a literal")
    return made


class LiteralList(Type):
    """A list whose items have several types, as it was written; `literal_value`: their types."""

    def __init__(self, literal_value):
        self.literal_value = list(literal_value)
        self.types, self.count = tuple(self.literal_value), len(self.literal_value)
        super().__init__(f"LiteralList({self.types})")


class LiteralStrKeyDict(Type):
    """A dictionary whose values have several types, as it was written; `literal_value`: the types of its items."""

    def __init__(self, literal_value, value_index=None):
        self.literal_value = dict(literal_value)
        self.types, self.count = tuple(self.literal_value.values()), len(self.literal_value)
        super().__init__(f"LiteralStrKey[Dict]({self.literal_value})")


class _Family(_Named):
    """A kind of types, for isinstance(x, types.Integer)."""

    def __call__(cls, *names):
        """types.NoneType("none"): the one type of the kind."""
        made = list({kind.name: kind for kind in _types.values() if cls.holds(kind)}.values())
        if len(made) != 1:
            raise TypeError(f"types.{cls.__name__} is a kind of types here, which makes none")
        return made[0]

    def __instancecheck__(cls, value):
        return isinstance(value, Type) and cls.holds(value)


def _family(name, holds):
    return _Family(name, (), {"holds": staticmethod(holds), "__doc__": f"The types that are {name}."})


def _of(*kinds):
    return lambda t: t._jit_dtype is not None and t._jit_dtype.rstrip("0123456789") in kinds


Integer, Float = _family("Integer", _of("int", "uint")), _family("Float", _of("float"))
Complex, Boolean = _family("Complex", _of("complex")), _family("Boolean", _of("bool"))
Number = _family("Number", _of("int", "uint", "float", "complex"))
UnicodeType = _family("UnicodeType", lambda t: t.name == "unicode_type")
NoneType = _family("NoneType", lambda t: t.name == "none")
Omitted = _family("Omitted", lambda t: False)


StringLiteral = _family("StringLiteral", lambda t: isinstance(getattr(t, "literal_value", None), str))
IntegerLiteral = _family("IntegerLiteral", lambda t: type(getattr(t, "literal_value", None)) is int)
BooleanLiteral = _family("BooleanLiteral", lambda t: isinstance(getattr(t, "literal_value", None), bool))


def of_kinds(text, written=None, literals=False):
    """Types of arguments, of what signatures of compiled code write.

    written: of each how it was written, where that is known (("value", 1), ("list", parts), ("dict", pairs)); literals:
    numbers and strings that were written out have the types of these values.
    """
    from ..._jit.signature import parts_of

    parts = parts_of(text)
    return [(_item if literals else _of_kind)(part, how) for part, how in zip(parts, written or [None] * len(parts))]


def _item(kind, how):
    return Literal(how[1]) if how and how[0] == "value" else _of_kind(kind, how)


def _values(parts):
    """The values of parts that were all written out, else None."""
    return [how[1] for how in parts] if all(how and how[0] == "value" for how in parts) else None


def _of_kind(text, how=None):
    from ..._jit.containers import _NAME

    parts = how[1] if how and how[0] in ("list", "dict") else None
    if text == "W":
        return _types["unicode_type"]
    if text == "N":
        return _types["none"]
    if text in _NAME:
        return _types[{"bool": "boolean"}.get(_NAME[text], _NAME[text])]
    if text[0] == "A":
        kind, _, rest = text[1:].partition(":")
        return Array(_of_kind(kind), int(rest[0]), rest[1])
    if text[0] in "LT":
        first = _values(parts) if parts else None
        return (List if text[0] == "L" else ListType)(_of_kind(text[1:]), initial_value=first)
    if text[0] in "DE":
        kinds, keys, values = of_kinds(text[2:-1])[1:], [key for key, _ in parts or ()], [one for _, one in parts or ()]
        given = _values(values) if parts else None
        return DictType(*kinds, initial_value=dict(zip(keys, given)) if given else None)
    if text[0] in "US":
        return Set(*of_kinds(text[2:-1])[1:])
    if text.startswith("(@K"):
        return _of_literal(text, parts)
    if text.startswith("(@O"):
        return Optional(*of_kinds(text[1:-1].rpartition(";")[2])[1:])
    if text[0] == "(":
        return Tuple(*of_kinds(text[1:-1].rpartition(";")[2]))
    return Type(text)


def _of_literal(text, parts):
    """A display whose items have several types."""
    from ..._jit.signature import parts_of

    meta, _, kinds = text[2:-1].partition(";")
    kinds = parts_of(kinds)
    keys, values = meta.split(":")[1:], parts or [None] * len(kinds)
    if meta == "Klist":
        return LiteralList(list(map(_item, kinds, values)))
    values = [how for _, how in parts] if parts else values
    return LiteralStrKeyDict(zip(map(literal, keys), map(_item, kinds, values)))
