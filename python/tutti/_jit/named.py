"""Tuples with names and records, as compiled code writes their types: a letter, a name, the fields behind colons."""

_classes = {}  # by what they are written as


def meta_of(cls):
    """What a class of named tuples is written as."""
    meta = cls.__dict__.get("_jit_named")
    if meta is None:
        meta = cls._jit_named = ":".join([f"N{cls.__name__}#{len(_classes)}", *cls._fields])
        _classes[meta] = cls
    return meta


def made(meta, items):
    """The tuple of a class."""
    return _classes[meta]._make(items)


def records_meta(records):
    """What an array of records, or a record, is written as."""
    return ":".join([f"R{getattr(records, 'ndim', 0)}record", *records.dtype.names])


def fields_of(records):
    """The fields, as arrays of their own in the same memory; of one record what they are."""
    dtype = records.dtype
    for name in dtype.names:
        size = dtype[name].base.itemsize
        if dtype[name].base.names is None and records.ndim and dtype.itemsize % size:
            raise TypeError(
                f"records of {dtype.itemsize} bytes, whose field '{name}' of {size} bytes is not where a compiled "
                "function looks for it: make their dtype with align=True"
            )
    parts = tuple(records[name] for name in dtype.names)
    for part in () if records.ndim else parts:
        if hasattr(part, "setflags") and part.ndim:
            part.setflags(write=False)
    return parts
