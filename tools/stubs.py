"""Type stubs of the package, from its tables: python tools/stubs.py CORE OUT

CORE is the built extension, OUT the folder that gets the .pyi files. The build runs this; what it
writes is never committed.
"""

import importlib.util
import inspect
import os
import re
import sys
import types

PACKAGE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "python", "tutti")
KINDS = {"array": "ArrayLike", "arrays": "Sequence[ArrayLike]", "dtype": "DTypeLike | None"}
HEAD = """# Made from the library's tables by tools/stubs.py.
from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple, overload

"""
TYPES = """
ArrayLike = Any  # arrays, scalars, nested sequences, buffers, whatever has __array__ or __dlpack__
DTypeLike = dtype | type | str | Any
Shape = int | Sequence[int]
Device = Any
"""


def load(core):
    """The package, with the extension that was just built."""
    package = types.ModuleType("tutti")
    package.__path__ = [PACKAGE]
    package.__file__ = os.path.join(PACKAGE, "__init__.py")
    package.__spec__ = importlib.util.spec_from_file_location(
        "tutti", package.__file__, submodule_search_locations=[PACKAGE]
    )
    sys.modules["tutti"] = package
    spec = importlib.util.spec_from_file_location("tutti._core", core)
    package._core = sys.modules["tutti._core"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(package._core)
    package.__spec__.loader.exec_module(package)
    return package


def split(signature):
    """Parameters of a row's signature; commas inside brackets do not count."""
    return [p.strip() for p in re.split(r",(?![^(\[]*[)\]])", signature) if p.strip()]


def parameters(signature, method=False):
    """A row's signature as Python's: kinds become annotations, defaults an ellipsis."""
    out = ["self"] if method else []
    for k, text in enumerate(split(signature)):
        if method and k == 0:
            continue
        head, has_default, _ = text.partition("=")
        name, _, kind = head.partition(":")
        note = KINDS.get(kind, "Any")
        if name in ("*", "/"):
            out.append(name)
        else:
            out.append(f"{name}: {note}" + (" = ..." if has_default else ""))
    return ", ".join(out)


def plain(function):
    """The parameters of a function written by hand."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return "*args: Any, **kwargs: Any"
    return ", ".join(parameter(p) for p in separated(signature.parameters.values()))


def separated(params):
    last = None
    for p in params:
        if last is inspect.Parameter.POSITIONAL_ONLY and p.kind is not last:
            yield "/"
        if p.kind is inspect.Parameter.KEYWORD_ONLY and last not in (p.kind, inspect.Parameter.VAR_POSITIONAL):
            yield "*"
        last = p.kind
        yield p
    if last is inspect.Parameter.POSITIONAL_ONLY:
        yield "/"


def parameter(p):
    if isinstance(p, str):
        return p
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}.get(p.kind, "")
    default = "" if p.default is p.empty else " = ..."
    return f"{stars}{p.name}: Any{default}" if p.name != "self" else "self"


# What rows give that is not one array.
RESULTS = {
    "tuple[ndarray, ...]": "nonzero unravel_index meshgrid broadcast_arrays ix_ diag_indices tril_indices triu_indices "
    "histogram histogram2d divmod modf frexp unstack",
    "list[ndarray]": "split array_split hsplit vsplit dsplit",
    "tuple[int, ...]": "broadcast_shapes",
    "dtype": "result_type",
    "Any": "atleast_1d atleast_2d atleast_3d gradient unique unique_all unique_counts unique_inverse where average "
    "array_equal array_equiv allclose intersect1d lstsq qr svd eig eigh slogdet histogramdd einsum_path get_state "
    "set_state default_rng linspace polyfit",
}
RESULT = {name: result for result, names in RESULTS.items() for name in names.split()}
# The few whose result the arguments' number or values tell.
OVERLOADS = {
    "where": [
        "(condition: ArrayLike, /) -> tuple[ndarray, ...]",
        "(condition: ArrayLike, x: ArrayLike, y: ArrayLike, /) -> ndarray",
    ],
    "unique": [
        "(ar: ArrayLike, return_index: Literal[False] = ..., return_inverse: Literal[False] = ..., "
        "return_counts: Literal[False] = ..., axis: int | None = ..., *, equal_nan: _bool = ..., "
        "sorted: _bool = ...) -> ndarray",
        "(ar: ArrayLike, return_index: _bool = ..., return_inverse: _bool = ..., return_counts: _bool = ..., "
        "axis: int | None = ..., *, equal_nan: _bool = ..., sorted: _bool = ...) -> Any",
    ],
    "linspace": [
        "(start: ArrayLike, stop: ArrayLike, num: int = ..., endpoint: _bool = ..., retstep: Literal[False] = ..., "
        "dtype: DTypeLike | None = ..., axis: int = ..., *, device: Device = ...) -> ndarray",
        "(start: ArrayLike, stop: ArrayLike, num: int = ..., endpoint: _bool = ..., retstep: _bool = ..., "
        "dtype: DTypeLike | None = ..., axis: int = ..., *, device: Device = ...) -> Any",
    ],
}


def overloaded(name):
    return "\n".join(f"@overload\ndef {name}{form}: ..." for form in OVERLOADS[name])


def plain_class(name, value):
    """A class written in Python: what it has, and what it does not."""
    lines = [f"class {name}:"]
    for member_name, it in inspect.getmembers(value):
        if member_name.startswith("_") and member_name not in (
            "__init__",
            "__call__",
            "__getitem__",
            "__enter__",
            "__exit__",
        ):
            continue
        if isinstance(it, property) or inspect.isdatadescriptor(it):
            lines.append(f"    {member_name}: Any")
        elif inspect.isfunction(it):
            lines.append(f"    def {member_name}({plain(it)}) -> {'None' if member_name == '__init__' else 'Any'}: ...")
        elif callable(it) and member_name == "__init__":
            lines.append("    def __init__(self, *args: Any, **kwargs: Any) -> None: ...")
        elif not member_name.startswith("__"):
            lines.append(f"    {member_name}: Any")
    return "\n".join([*lines, "    def __getattr__(self, name: _str) -> Any: ..."])


OPERATORS = "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift".split()


def array_class(package):
    core, lines = package._core, ["class ndarray:"]
    rows = {n: s for n, s in core.signatures.items() if "." not in n}
    lines.append("    def __init__(self, shape: Shape, dtype: DTypeLike = ...) -> None: ...")
    notes = {
        "shape": "tuple[int, ...]",
        "strides": "tuple[int, ...]",
        "dtype": "_dtype",
        "base": "ndarray | None",
        "device": "Device",
        "flags": "Any",
        "flat": "Any",
        "__array_interface__": "dict[str, Any]",
    }
    for name, member in vars(core.ndarray).items():
        if inspect.isgetsetdescriptor(member) and name != "__weaklistoffset__":
            note = notes.get(name, "int" if name in ("ndim", "size", "itemsize", "nbytes") else "ndarray")
            lines.append(f"    {name}: {note}")
    for name, member in sorted(vars(core.ndarray).items()):
        if not inspect.ismethoddescriptor(member) or name.startswith("__"):
            continue
        result = {
            "tolist": "Any",
            "item": "Any",
            "tobytes": "bytes",
            "numpy": "Any",
            "to_numpy": "Any",
            "get": "Any",
            "is_integer": "_bool",
            "as_integer_ratio": "tuple[int, int]",
            "bit_count": "int",
            "fill": "None",
            "sort": "None",
            "setflags": "None",
            "nonzero": "tuple[ndarray, ...]",
        }.get(name, "ndarray")
        given = parameters(rows[name], True) if name in rows else plain(member)
        lines.append(f"    def {name}({given}) -> {result}: ...")
    for name in OPERATORS:
        for form in ("__{}__", "__r{}__", "__i{}__"):
            lines.append(f"    def {form.format(name)}(self, other: ArrayLike) -> ndarray: ...")
    for name in ("lt", "le", "gt", "ge"):
        lines.append(f"    def __{name}__(self, other: ArrayLike) -> ndarray: ...")
    for name in ("eq", "ne"):
        lines.append(f"    def __{name}__(self, other: ArrayLike) -> ndarray: ...  # type: ignore[override]")
    for name, result in {
        "neg": "ndarray",
        "pos": "ndarray",
        "abs": "ndarray",
        "invert": "ndarray",
        "bool": "_bool",
        "int": "int",
        "float": "float",
        "complex": "complex",
        "index": "int",
        "len": "int",
        "iter": "Iterator[ndarray]",
    }.items():
        lines.append(f"    def __{name}__(self) -> {result}: ...")
    lines.append("    def __getitem__(self, key: Any) -> ndarray: ...")
    lines.append("    def __setitem__(self, key: Any, value: ArrayLike) -> None: ...")
    lines.append("    def __contains__(self, value: Any) -> _bool: ...")
    return lines


def dtype_class():
    return [
        "class dtype:",
        "    def __init__(self, name: Any) -> None: ...",
        "    def __call__(self, value: ArrayLike = ...) -> ndarray: ...",
        *(f"    {n}: _str" for n in ("name", "kind", "char", "str")),
        "    itemsize: _int",
    ]


def member(name, value, core, prefix=""):
    """One name of a module."""
    if type(value).__module__.startswith("tutti._jit"):
        return f"{name}: Any"  # a word of kernels: it answers to nobody outside of one
    row = core.signatures.get(prefix + name)
    if isinstance(value, core.dtype):
        return f"{name}: dtype"
    if inspect.isclass(value) and issubclass(value, tuple):
        fields = "".join(f"\n    {f}: ndarray" for f in value._fields)
        return f"class {name}(NamedTuple):{fields}"
    if inspect.isclass(value) and issubclass(value, Exception):
        bases = ", ".join(b.__name__ for b in value.__bases__)
        return f"class {name}({bases}): ..."
    if inspect.isclass(value):
        return plain_class(name, value)
    if row is not None and not prefix and name in OVERLOADS:
        return overloaded(name)
    if row is not None:
        return f"def {name}({parameters(row)}) -> {RESULT.get(name, 'ndarray')}: ..."
    if name in core.ops:
        return f"def {name}({plain(value)}) -> ndarray: ..."
    if callable(value):
        return f"def {name}({plain(value)}) -> Any: ..."
    if isinstance(value, types.ModuleType):
        return f"from . import {name} as {name}"
    kind = type(value).__name__
    return f"{name}: {'None' if value is None else 'Any' if kind.startswith('_') else kind}"


def write(path, lines):
    with open(path, "w", encoding="utf-8") as f:
        f.write("\n".join(lines) + "\n")


def main(core, out):
    package = load(core)
    own = {"ndarray", "dtype", "Device", "bool"}
    lines = [
        HEAD,
        "_bool, _str, _int = bool, str, int",
        "",
        *dtype_class(),
        "",
        "_dtype = dtype",
        "",
        *array_class(package),
    ]
    lines += [TYPES, "bool: dtype"]
    lines += [
        member(n, getattr(package, n), package._core) for n in package.__all__ if n not in own and n.isidentifier()
    ]
    write(os.path.join(out, "__init__.pyi"), lines)
    for name in ("linalg", "random", "fft", "cuda"):
        module = getattr(package, name)
        names = getattr(module, "__all__", None) or [n for n in vars(module) if not n.startswith("_")]
        body = [member(n, getattr(module, n), package._core, name + ".") for n in names]
        dots, path = ".", os.path.join(out, name + ".pyi")
        if hasattr(module, "__path__"):
            dots, path = "..", os.path.join(out, name, "__init__.pyi")
            os.makedirs(os.path.dirname(path), exist_ok=True)
        write(
            path,
            [
                HEAD,
                f"from {dots} import ArrayLike, Device, DTypeLike, dtype, ndarray",
                "",
                "_bool, _str, _int = bool, str, int",
                "",
                *body,
            ],
        )


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
