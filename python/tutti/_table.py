"""Modules out of the function table: what a row's dotted name says, and NumPy's second names."""

from collections import namedtuple

from . import _core

UniqueAllResult = namedtuple("UniqueAllResult", ["values", "indices", "inverse_indices", "counts"])
UniqueCountsResult = namedtuple("UniqueCountsResult", ["values", "counts"])
UniqueInverseResult = namedtuple("UniqueInverseResult", ["values", "inverse_indices"])

_core.result_types.update(
    {
        "unique_all": UniqueAllResult._make,
        "unique_counts": UniqueCountsResult._make,
        "unique_inverse": UniqueInverseResult._make,
    }
)

ALIASES = {
    "abs": "absolute",
    "acos": "arccos",
    "acosh": "arccosh",
    "amax": "max",
    "amin": "min",
    "around": "round",
    "asin": "arcsin",
    "asinh": "arcsinh",
    "atan": "arctan",
    "atan2": "arctan2",
    "atanh": "arctanh",
    "bitwise_invert": "invert",
    "bitwise_left_shift": "left_shift",
    "bitwise_not": "invert",
    "bitwise_right_shift": "right_shift",
    "concat": "concatenate",
    "conj": "conjugate",
    "mod": "remainder",
    "permute_dims": "transpose",
    "pow": "power",
    "true_divide": "divide",
    "deg2rad": "radians",
    "promote_types": "result_type",
    "rad2deg": "degrees",
}


def fill(namespace, module=""):
    """Put the functions of one module ("" is the package, else "linalg", ...) into a namespace; their names."""
    prefix = module + "." if module else ""
    known = {**_core.functions, **_core.ops} if module else _core.functions
    names = [n for n in known if n.startswith(prefix) and "." not in n[len(prefix) :]]
    for name in names:
        namespace[name[len(prefix) :]] = known[name]
    return [n[len(prefix) :] for n in names]


def fill_package(namespace):
    """Everything the package gets from the tables; names the package has already stay."""
    own = dict(namespace)
    ops = {name: op for name, op in _core.ops.items() if "." not in name}
    namespace.update(ops)
    names = [*ops, *fill(namespace)]
    for alias, name in ALIASES.items():
        if name in namespace and alias not in namespace:
            namespace[alias] = namespace[name]
            names.append(alias)
    namespace.update(own)
    return names
