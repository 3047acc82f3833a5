"""Tuples with names and records, as compiled code writes their types: a letter, a name, the fields behind colons."""

import sys

_classes = {}  # by what they are written as
_records = []  # dtypes of records, by their number


class _Lies:
    """A record where it lies: NumPy's own buffers of records cannot be written."""

    def __init__(self, record):
        self.record = record
        self.__array_interface__ = {**record.__array_interface__, "typestr": f"|V{record.dtype.itemsize}"}
        self.__array_interface__["data"] = record.__array_interface__["data"][0], not record.flags.writeable
        self.__array_interface__["descr"] = [("", f"|V{record.dtype.itemsize}")]


class _Memory:
    """Records at an address, as long as an array lives that lies there."""

    def __init__(self, array, address, shape, strides, size):
        self.array = array
        self.__array_interface__ = {
            "data": (address, not array.flags.writeable), "shape": shape, "strides": strides, "typestr": f"|V{size}",
            "version": 3,
        }  # fmt: skip


def meta_of(cls):
    """What a class of named tuples is written as."""
    meta = cls.__dict__.get("_jit_named")
    if meta is None:
        meta = cls._jit_named = ":".join([f"N{cls.__name__}#{len(_classes)}", *cls._fields])
        _classes[meta] = cls
    return meta


def made(meta, items):
    """The tuple of a class, a record or an array of records."""
    if meta[0] == "J":  # the fields of an object
        return items
    if meta[0] == "S":
        return slice(*items)
    if meta[0] == "O":  # what may be None: is it there, and the value
        return items[1] if items[0] else None
    if meta[0] in "UB":
        return items[0]
    return _made_records(meta, items) if meta[0] == "R" else _classes[meta]._make(items)


class _Chars(tuple):
    """A field of characters, or of bytes: an array of them with one axis more."""

    _fields = ("chars",)


def _chars(field):
    kind, rank, np = field.dtype.kind, field.ndim, sys.modules["numpy"]
    meta = f"{'U' if kind == 'U' else 'B'}{rank}chars:chars"
    if meta not in _classes:
        _classes[meta] = type("_Chars", (_Chars,), {"_jit_named": meta})
    size = 4 if kind == "U" else 1
    place = _Memory(field, field.__array_interface__["data"][0], (), (), 1)
    shape, strides = (*field.shape, field.dtype.itemsize // size), (*field.strides, size)
    place.__array_interface__ |= {"shape": shape, "strides": strides, "typestr": f"<u{size}"}
    return _classes[meta]([np.asarray(place)])


def _field(records, name):
    field = records[name]
    return _chars(field) if field.dtype.kind in "SU" and field.dtype.itemsize else field


def _number_of(dtype):
    for k, known in enumerate(_records):
        if known == dtype and known.type is dtype.type:
            return k
    _records.append(dtype)
    return len(_records) - 1


def records_meta(records):
    """What an array of records, or a record, is written as."""
    dtype = records.dtype
    titles = {field[0:2]: title for title, field in dtype.fields.items() if title not in dtype.names}
    names = [f"{name}\x1f{titles[dtype.fields[name][:2]]}" if titles else name for name in dtype.names]
    return ":".join([f"R{getattr(records, 'ndim', 0)}record#{_number_of(dtype)}", *names])


def fields_of(records):
    """The fields, as arrays of their own in the same memory."""
    dtype, np = records.dtype, sys.modules["numpy"]
    if not records.ndim and not hasattr(records, "base"):
        return tuple(records[name] for name in dtype.names)
    if not isinstance(records, np.ndarray):
        records = np.asarray(_Lies(records)).view(dtype)
    return tuple(_field(records, name) for name in dtype.names)


def _made_records(meta, items):
    """Records whose fields are these arrays, where these lie."""
    np, rank = sys.modules["numpy"], int(meta[1])
    dtype = _records[int(meta.partition("#")[2].partition(":")[0])]
    first, name = items[0], dtype.names[0]
    if not isinstance(first, np.ndarray):  # numbers: records that launches were given
        return np.array(tuple(items), dtype)[()]
    address = first.__array_interface__["data"][0] - dtype.fields[name][1]
    made = np.asarray(_Memory(first, address, first.shape[:rank], first.strides[:rank], dtype.itemsize))
    made = made.view(dtype if rank else np.dtype((np.record, dtype)))  # a record's fields are attributes
    return made[()] if rank == 0 else made
