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
_ARRAY = re.compile(r"array\((\w+)[^)]*\)")


def parse(signature):
    """(result, arguments) of a signature as data types; an array counts as its elements, no result as None."""
    text = _ARRAY.sub(r"\1", str(signature)).replace(" ", "")
    text = re.sub(r"\[[^\]]*\]", "", text)
    if isinstance(signature, tuple):
        head, inside = "", ",".join(_ARRAY.sub(r"\1", str(t)) for t in signature)
    else:
        head, _, inside = text.partition("(")
        inside = inside.rstrip(")")
    known = [NAMES.get(t) for t in inside.split(",") if t]
    if None in known or (head and head not in NAMES and head not in ("void", "none")):
        raise ValueError(f"the signature {signature!r} has types that are not known here")
    return NAMES.get(head), tuple(known)


def fitting(np, signatures, kinds):
    """The first signature that takes these data types as they are or by a safe cast; None: there are none at all."""
    for row in signatures:
        if row[1] == tuple(k.name for k in kinds):
            return row
    for row in signatures:
        if len(row[1]) >= len(kinds) and all(np.can_cast(k, want, "safe") for k, want in zip(kinds, row[1])):
            return row
    if signatures:
        raise TypeError(f"no signature takes {', '.join(k.name for k in kinds)}")
    return None
