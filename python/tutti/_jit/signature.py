"""Types as signatures write them: "float64(float64, int32[:])", or the objects of tutti.compat.numba.types."""

import re


def _names():
    rows = {
        "bool": "bool", "boolean": "bool", "bool_": "bool", "b1": "bool", "byte": "uint8", "char": "int8",
        "uchar": "uint8", "short": "int16", "ushort": "uint16", "intc": "int32", "uintc": "uint32", "int_": "int64",
        "uint": "uint64", "long_": "int64", "ulong": "uint64", "longlong": "int64", "ulonglong": "uint64",
        "intp": "int64", "uintp": "uint64", "float_": "float32", "double": "float64", "ssize_t": "int64",
        "size_t": "uint64",
    }  # fmt: skip
    for kind, sizes in (
        ("int", (8, 16, 32, 64)), ("uint", (8, 16, 32, 64)), ("float", (16, 32, 64)), ("complex", (64, 128)),
    ):  # fmt: skip
        for bits in sizes:
            rows[f"{kind}{bits}"] = rows[f"{kind[0]}{bits // 8}"] = f"{kind}{bits}"
    return rows


NAMES = _names()  # what a signature calls it: what NumPy calls it
_ARRAY = re.compile(r"array\((\w+)(?:,(\d)d)?.*\)")
_AXES = re.compile(r"(\w+)\[([^\]]*)\]")


def _opening(text):
    """Where the bracket is that the last one closes."""
    depth = 0
    for at in range(len(text) - 1, -1, -1):
        depth += (text[at] == ")") - (text[at] == "(")
        if not depth:
            return at
    return 0


def parts_of(text):
    """What stands between the commas that no bracket holds."""
    out, depth = [""], 0
    for char in text:
        depth += (char in "([") - (char in ")]")
        if char == "," and not depth:
            out.append("")
        else:
            out[-1] += char
    return [part for part in out if part]


def _layout(text):
    """'C' of an array that a signature calls dense, else 'A'."""
    return "C" if text.endswith(("::1]", ",C)")) else "A"


def _one(text):
    """(data type, axes) of a type; the data type is None where it is not one of numbers."""
    array = _ARRAY.fullmatch(text)
    if array:  # one without axes is no number: its argument says what it is
        return (None, 0) if array[2] == "0" else (NAMES.get(array[1]), int(array[2] or 1))
    array = _AXES.fullmatch(text)
    if array:
        return NAMES.get(array[1]), array[2].count(",") + 1
    return NAMES.get(text), 0


def parse_type(one):
    """(data type, axes) of a type as signatures write it; the data type is None where it is not one of numbers."""
    return _one(str(one).replace(" ", ""))


def read(signature):
    """(result, arguments) of a signature, each as (data type, axes); without a result that is ("", 0)."""
    if isinstance(signature, tuple):
        return ("", 0), [_one(str(t).replace(" ", "")) for t in signature]
    text = str(signature).replace(" ", "")
    at = _opening(text) if text.endswith(")") else 0
    head, inside = text[:at], text[at + 1 : -1]
    return ("", 0) if head in ("", "void", "none") else _one(head), [_one(t) for t in parts_of(inside)]


def types_of(signature):
    """The types of a signature's arguments as compiled code writes them; None where one has no such form here."""
    if isinstance(signature, tuple):
        texts = [str(t).replace(" ", "") for t in signature]
    else:
        text = str(signature).replace(" ", "")
        texts = parts_of(text[_opening(text) + 1 : -1]) if text.endswith(")") else None
    if texts is None or len(texts) > 32:
        return None
    rows = [(*_one(text), _layout(text)) for text in texts]
    if any(not kind for kind, _, _ in rows):
        return None
    return ",".join(f"A{suffix(kind)}:{axes}{layout}" if axes else suffix(kind) for kind, axes, layout in rows)


def dense_types_of(signature, compiled):
    """As types_of, for dense arrays, and for records by their fields; None: not all are known."""
    args = getattr(signature, "args", signature)
    if isinstance(args, tuple) and any(_record(one) for one in args):
        parts = []
        for one in args:
            record = _record(one)
            kind, axes = (None, 0) if record else parse_type(one)
            if not record and not kind:
                return None
            if record:
                import numpy as np

                made = np.zeros((1,) * getattr(one, "ndim", 0), record)
                parts.append(compiled._types((made if made.ndim else made[()],)))
            else:
                parts.append(f"A{suffix(kind)}:{axes}C" if axes else suffix(kind))
        return ",".join(parts)
    if isinstance(args, tuple) and types_of(signature) is None and len(args) <= 32:
        return _kinds(args)
    types = types_of(signature)
    return re.sub(r"(:\d)A", r"\1C", types) if types is not None else None


def _kinds(args):
    """Types among which are strings, None, optional ones, tuples and containers; None: not all have a form here."""
    from .containers import kind_of_type

    try:
        return ",".join(re.sub(r"(:\d)A", r"\1C", kind_of_type(one)) for one in args)
    except (TypeError, KeyError):
        return None


def _record(one):
    """The dtype of a type of records or of an array of them, or None."""
    element = one if getattr(one, "fields", None) else getattr(one, "dtype", None)
    return getattr(element, "dtype", None) if getattr(element, "fields", None) else None


def suffix(name):
    """A data type as compiled code writes it: float64 is f64."""
    return {"bool": "b8"}.get(name) or name[0] + re.sub(r"\D", "", name)


def takes(signature, types):
    """Does a signature take arguments of these types: arrays as they are, numbers by what Numba casts?"""
    wanted, given = types_of(signature), types.split(",")
    if wanted is None:
        return True
    wanted = wanted.split(",") if wanted else []
    given = given if types else []
    return len(wanted) == len(given) and all(map(_fits, wanted, given))


def _fits(want, have):
    if "A" in (want[0], have[0]):
        return have.startswith(want.rstrip("AC")) if want[0] == "A" else False
    order = "bui" if want[0] in "ui" else "bufic"
    return want == have or (want[0] in "uifc" and have[0] in order and (want[0] == "c" or have[0] != "c"))


def parse(signature):
    """(result, arguments) of a signature as data types; an array counts as its elements, no result as None."""
    (result, _), arguments = read(signature)
    if result is None or None in (kind for kind, _ in arguments):
        raise ValueError(f"the signature {signature!r} has types that are not known here")
    return result or None, tuple(kind for kind, _ in arguments)


def declared(signatures):
    """What signatures say of what goes in and out: (result, arguments) as data types, those of arrays with their
    number of axes behind a colon; None: nothing.

    Several signatures count where they agree: which of them a call means, its arguments say.
    """
    rows = []
    for signature in signatures if isinstance(signatures, list) else [signatures]:
        result, arguments = read(signature)
        kinds = [f"{kind}:{axes}" if kind and axes else kind or None for kind, axes in arguments]
        rows.append([None if result[1] else result[0] or None, *kinds])
    if not rows or any(len(row) != len(rows[0]) for row in rows):
        return None
    agreed = [kinds[0] if len(set(kinds)) == 1 else None for kinds in zip(*rows)]
    return (agreed[0], agreed[1:]) if any(agreed) else None


# Python's own numbers take any type of these kinds, beside arrays.
_WEAK = {bool: "biufc", int: "iufc", float: "fc", complex: "c"}


def _weak(value, want):
    import numpy as np

    return np.dtype(want).kind in _WEAK.get(type(value), "")


def fitting(np, signatures, kinds, values=(), otherwise=None):
    """The first signature that takes these data types as they are or by a safe cast; None: there are none at all.

    values: the arguments, where Python's own numbers among them fit as NumPy lets them. otherwise(value, kind, want):
    what else a signature takes, when none did.
    """
    weak = [type(v) in _WEAK for v in values]
    weak = [False] * len(kinds) if all(weak) else weak
    values = values or [None] * len(kinds)

    def takes(row, fits):
        return len(row[1]) == len(kinds) and all(
            _weak(value, want) if loose else fits(value, kind, want)
            for loose, value, kind, want in zip(weak, values, kinds, row[1])
        )

    ways = [lambda value, kind, want: kind.name == want, lambda value, kind, want: np.can_cast(kind, want, "safe")]
    for fits in ways:
        for row in signatures:
            if takes(row, fits):
                return row
    weak = [False] * len(kinds)
    for row in signatures if otherwise else ():
        if takes(row, otherwise):
            return row
    if signatures:
        raise TypeError(f"no signature takes {', '.join(k.name for k in kinds)}")
    return None
