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
HEAD = """# Made from the library's tables and docstrings by tools/stubs.py.
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, NamedTuple, SupportsFloat, SupportsIndex, overload

"""
# What docstrings say of parameters and results, as annotations.
WORDS = {
    "array_like": "ArrayLike",
    "array_like of bool": "ArrayLike",
    "sequence of array_like": "Sequence[ArrayLike]",
    "dtype": "DTypeLike",
    "ndarray": "ndarray",
    "bool": "_bool",
    "str": "_str",
    "int": "_int",
    "float": "SupportsFloat",
    "bytes": "_bytes",
    "None": "None",
    "slice": "slice",
    "Device": "Device",
    "shape": "Shape",
    "dict of int": "dict[_str, _int]",
    "dict of str": "dict[_str, _str]",
    "dict": "dict[_str, Any]",
    "list of ndarray": "list[ndarray]",
    "list of str": "list[_str]",
    "tuple of ndarray": "tuple[ndarray, ...]",
    "tuple of int": "tuple[_int, ...]",
    "tuple of Device": "tuple[Device, ...]",
    "sequence of int": "Sequence[SupportsIndex]",
    "sequence of str": "Sequence[_str]",
    "named tuple of ndarray": "Any",
}


def annotation(words, given=False, names=()):
    """An annotation for the words, Any for those unknown here. `given`: of a parameter, which takes what stands for an
    integer. `names`: the classes of the module."""
    words = words.strip()
    if words.startswith("{"):
        return f"Literal[{words.strip('{}')}]"
    if words.startswith("(") and words.endswith(")"):
        return f"tuple[{', '.join(annotation(w, given, names) for w in words[1:-1].split(', '))}]"
    if words.startswith("ndarray of "):
        return "ndarray"
    if given and words in ("int or tuple of int", "int or sequence of int"):
        return "SupportsIndex | Sequence[SupportsIndex]"
    parts = re.split(r",? or ", words)
    if len(parts) > 1:
        kinds = [annotation(part, given, names) for part in parts]
        return "Any" if "Any" in kinds or not given else " | ".join(kinds)
    if given and words == "int":
        return "SupportsIndex"
    if words == "function":
        return "Callable[..., Any]" if given else "Any"  # it has attributes of its own
    if words != "number" and words in names or words.partition("(")[0] in names:
        return words.partition("(")[0]
    return WORDS.get(words, "Any")


def told(value, names=()):
    """({parameter: annotation}, annotation of the result) that a docstring tells."""
    text = inspect.getdoc(value) or ""
    parts = re.split(r"^(\w+)\n-{4,}\n", text, flags=re.M)
    sections = dict(zip(parts[1::2], parts[2::2]))
    given = {}
    for line in sections.get("Parameters", "").splitlines():
        head, colon, words = line.partition(" : ")
        if colon and not line.startswith(" "):
            words = words.removesuffix(", optional")
            given[head.strip("*")] = annotation("array_like" if words == "object" else words, True, names)
    returns = sections.get("Returns", "").strip().split("\n")[0]
    return given, annotation(returns, names=names) if returns else "Any"


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


def parameters(value, names=(), skip=0):
    """The parameters of a callable, annotated by what its docstring says."""
    try:
        params = list(inspect.signature(value).parameters.values())[skip:]
    except (TypeError, ValueError):
        return "*args: Any, **kwargs: Any"
    given = told(value, names)[0]
    return ", ".join(parameter(p, given) for p in separated(params))


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


def parameter(p, given):
    if isinstance(p, str):
        return p
    if p.name in ("self", "cls"):
        return p.name
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}.get(p.kind, "")
    note = given.get(p.name, "Any")
    if p.default is not p.empty and "Any" not in note and note != "ArrayLike":
        note += " | None"
    if p.name == "out":
        note = "ndarray | tuple[ndarray | None, ...] | None"
    return f"{stars}{p.name}: {note}" + ("" if p.default is p.empty else " = ...")


# Those whose result the arguments' number or values tell: each the values of some arguments and what comes then.
CHOICES = {
    "unique": [
        ({"return_index": False, "return_inverse": False, "return_counts": False}, "ndarray"),
        ({}, "tuple[ndarray, ...]"),
    ],
    "linspace": [({"retstep": False}, "ndarray"), ({"retstep": True}, "tuple[ndarray, ndarray]")],
    "average": [({"returned": False}, "ndarray"), ({"returned": True}, "tuple[ndarray, ndarray]")],
    "intersect1d": [
        ({"return_indices": False}, "ndarray"),
        ({"return_indices": True}, "tuple[ndarray, ndarray, ndarray]"),
    ],
    "polyfit": [({"full": False, "cov": False}, "ndarray"), ({}, "tuple[Any, ...]")],
    "linalg.svd": [({"compute_uv": True}, "SVDResult"), ({"compute_uv": False}, "ndarray")],
    "linalg.qr": [({"mode": ("reduced", "complete")}, "QRResult"), ({}, "Any")],
    "histogram": [({}, "tuple[ndarray, ndarray]")],
}
OVERLOADS = {
    "where": [
        "(condition: ArrayLike, /) -> tuple[ndarray, ...]",
        "(condition: ArrayLike, x: ArrayLike, y: ArrayLike, /) -> ndarray",
    ],
    "atleast_1d": ["(ary: ArrayLike, /) -> ndarray", "(*arys: ArrayLike) -> tuple[ndarray, ...]"],
}
OVERLOADS["atleast_2d"] = OVERLOADS["atleast_3d"] = OVERLOADS["atleast_1d"]
# Draws: of no size, and of parameters that are numbers, a number; else an array.
WHOLE = "binomial geometric hypergeometric integers logseries negative_binomial poisson randint tomaxint zipf".split()
VECTORS = "dirichlet multinomial multivariate_hypergeometric multivariate_normal permutation permuted choice".split()


def overloaded(name, forms):
    if len(forms) == 1:
        return f"def {name}{forms[0]}: ..."
    return "\n".join(f"@overload\ndef {name}{form}: ..." for form in forms)


def literal(values):
    return f"Literal[{', '.join(map(repr, values))}]"


def chosen(value, choices, names):
    """The forms of a function whose arguments tell its result. What is not a default must be given."""
    forms, params = [], list(inspect.signature(value).parameters.values())
    given = told(value, names)[0]
    for values, result in choices:
        parts, starred = [], False
        for p in separated(params):
            wanted = values.get(getattr(p, "name", None), ())
            own = wanted if isinstance(wanted, tuple) else (wanted,)
            if own and p.default not in own and not starred:
                parts.append("*")  # what is left out may not stand before what must be given
                starred = True
            if p != "*" or not starred:
                parts.append(f"{p.name}: {literal(own)}" if own else parameter(p, given))
                parts[-1] += " = ..." if own and p.default in own else ""
            starred = starred or p == "*"
        forms.append(f"({', '.join(parts)}) -> {result}")
    return forms


def draw(name, value, first=()):
    """The forms of a distribution."""
    params = list(inspect.signature(value).parameters.values())
    given = told(value)[0]
    number = "int" if name in WHOLE else "float"
    if not any(p.name == "size" for p in params) or name in VECTORS:
        return None
    own = [p for p in params if p.name not in ("self", "size", "dtype", "out", "method", "endpoint")]
    rest = [p for p in params if p.name in ("dtype", "method", "endpoint")]
    plain = [f"{p.name}: float" + ("" if p.default is p.empty else " = ...") for p in own]
    if name in ("integers", "randint", "random_integers"):
        plain[1] = "high: float | None = ..."
    keep = [parameter(p, given) for p in rest]
    scalar = ", ".join([*first, *plain, "size: None = ...", *keep])
    whole = ", ".join([*first, *(parameter(p, given) for p in params if p.name != "self")])
    return [f"({scalar}) -> {number}", f"({whole}) -> ndarray"]


def method(name, value, names):
    """One method of a class written in Python."""
    if name in ("rand", "randn"):
        return [f"def {name}(self) -> float: ...", f"def {name}(self, *dims: SupportsIndex) -> ndarray: ..."]
    draws = name != "__init__" and inspect.signature(value).parameters.keys() >= {"self", "size"}
    forms = draw(name, value, ["self"]) if draws else None
    if forms:
        return [f"def {name}{form}: ..." for form in forms]
    result = "None" if name == "__init__" else told(value, names)[1]
    return [f"def {name}({parameters(value, names)}) -> {result}: ..."]


def needed(value):
    return sum(p.default is p.empty for p in inspect.signature(value).parameters.values())


def plain_class(name, value, names=()):
    """A class written in Python: what it has, and what it does not."""
    known = {*names, "ndarray"} - {name}  # a type of C's below it may have its name
    base = next((b for b in value.__mro__[1:] if b.__name__ in known), None)
    lines = [f"class {name}({base.__name__}):" if base else f"class {name}:"]
    special = (
        "__init__ __call__ __getitem__ __enter__ __exit__ __iter__ __next__ __len__ __add__ __sub__ __mul__".split()
    )
    for member_name, it in inspect.getmembers(value):
        if member_name.startswith("_") and member_name not in special:
            continue
        if base and getattr(base, member_name, None) is it:
            continue
        if isinstance(it, property) or inspect.isdatadescriptor(it):
            lines.append(f"    {member_name}: Any")
        elif inspect.ismethod(it) and it.__self__ is value:
            lines.append(f"    @classmethod\n    def {member_name}(cls, {parameters(it, names)}) -> Any: ...")
        elif inspect.isfunction(it):
            forms = method(member_name, it, names)
            over = "    @overload\n" if len(forms) > 1 else ""
            inherited = member_name != "__init__" and getattr(base, member_name, None)
            more = "  # type: ignore[override]" if inherited and needed(it) > needed(inherited) else ""
            lines += [f"{over}    {form}{more}" for form in forms]
        elif callable(it) and member_name in ("__init__", "__call__"):
            result = "None" if member_name == "__init__" else "Any"
            lines.append(f"    def {member_name}(self, *args: Any, **kwargs: Any) -> {result}: ...")
        elif not member_name.startswith("__"):
            lines.append(f"    {member_name}: Any")
    return "\n".join(lines if len(lines) > 1 else [lines[0] + " ..."])


OPERATORS = "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift".split()


def array_class(package):
    core, lines = package._core, ["class ndarray:"]
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
        if inspect.isgetsetdescriptor(member) and name not in ("__weaklistoffset__", "__class__"):
            note = notes.get(name, "int" if name in ("ndim", "size", "itemsize", "nbytes") else "ndarray")
            lines.append(f"    {name}: {note}")
    for name, member in sorted(vars(core.ndarray).items()):
        if not inspect.ismethoddescriptor(member) or name.startswith("__"):
            continue
        result = told(member)[1]
        result = result if result != "Any" or name in ("tolist", "item", "numpy", "to_numpy", "get") else "ndarray"
        lines.append(f"    def {name}({parameters(member)}) -> {result}: ...")
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


def member(name, value, core, prefix="", names=()):
    """One name of a module; `names`: the classes that it has."""
    if type(value).__module__.startswith("tutti._jit"):
        return f"{name}: Any"  # a word of kernels: it answers to nobody outside of one
    if isinstance(value, core.dtype):
        return f"{name}: dtype"
    if inspect.isclass(value) and issubclass(value, tuple):
        fields = "".join(f"\n    {f}: ndarray" for f in value._fields)
        return f"class {name}(NamedTuple):{fields}"
    if inspect.isclass(value) and issubclass(value, Exception):
        bases = ", ".join(b.__name__ for b in value.__bases__)
        return f"class {name}({bases}): ..."
    if inspect.isclass(value):
        return plain_class(name, value, names)
    if isinstance(value, types.ModuleType):
        return f"from . import {name} as {name}"
    if callable(value):
        return function(name, value, core, prefix, names)
    kind = type(value).__name__
    if kind in ("bool", "float", "int", "str"):
        return f"{name}: _{kind}"
    return f"{name}: {'None' if value is None else 'Any'}"


def function(name, value, core, prefix, names):
    if name in OVERLOADS and not prefix:
        return overloaded(name, OVERLOADS[name])
    if prefix + name in CHOICES:
        return overloaded(name, chosen(value, CHOICES[prefix + name], names))
    if prefix == "random." and name in ("rand", "randn"):
        return overloaded(name, ["() -> float", "(*dims: SupportsIndex) -> ndarray"])
    own = getattr(value, "__name__", name)  # of second names the first
    forms = draw(own, value) if prefix == "random." and prefix + own in core.signatures else None
    if forms:
        return overloaded(name, forms)
    if isinstance(value, core.ufunc):
        return f"{name}: {'ufunc' if value.nout == 1 else '_ufunc_of_two'}"
    result = told(value, names)[1]
    return f"def {name}({parameters(value, names)}) -> {result}: ..."


UFUNC = """class ufunc:
    nin: _int
    nout: _int
    nargs: _int
    ntypes: _int
    identity: Any
    signature: Any
    types: list[_str]
    __name__: _str
    def __call__(
        self, x1: ArrayLike, /, *args: ArrayLike, out: Any = ..., where: ArrayLike = ..., casting: _str = ...,
        order: _str = ..., dtype: DTypeLike = ..., subok: _bool = ..., signature: Any = ..., axes: Any = ...,
        axis: Any = ..., keepdims: _bool = ...,
    ) -> ndarray: ...
    def reduce(
        self, array: ArrayLike, axis: Any = ..., dtype: DTypeLike = ..., out: Any = ..., keepdims: _bool = ...,
        initial: Any = ..., where: ArrayLike = ...,
    ) -> ndarray: ...
    def accumulate(
        self, array: ArrayLike, axis: SupportsIndex = ..., dtype: DTypeLike = ..., out: Any = ...
    ) -> ndarray: ...
    def reduceat(
        self, array: ArrayLike, indices: ArrayLike, axis: SupportsIndex = ..., dtype: DTypeLike = ..., out: Any = ...
    ) -> ndarray: ...
    def outer(self, A: ArrayLike, B: ArrayLike, /, **kwargs: Any) -> ndarray: ...
    def at(self, a: ndarray, indices: Any, b: ArrayLike = ..., /) -> None: ...

class _ufunc_of_two(ufunc):
    def __call__(self, x1: ArrayLike, /, *args: ArrayLike, **kwargs: Any) -> Any: ...
"""


def write(path, lines):
    with open(path, "w", encoding="utf-8") as f:
        f.write("\n".join(lines) + "\n")


# Modules have some of these names for other things.
ALIASES = "from builtins import bool as _bool, bytes as _bytes, float as _float, int as _int, str as _str"


def classes(module, names):
    return {n for n in names if inspect.isclass(getattr(module, n))}


def main(core, out):
    package = load(core)
    own = {"ndarray", "dtype", "Device", "bool", "ufunc"}
    names = [n for n in package.__all__ if n not in own and n.isidentifier()]
    known = classes(package, names)
    head = [
        HEAD,
        ALIASES,
        "",
        *dtype_class(),
        "",
        "_dtype = dtype",
        "",
        *array_class(package),
        TYPES,
        "bool: dtype",
        UFUNC,
    ]
    body = [member(n, getattr(package, n), package._core, "", known) for n in names]
    write(os.path.join(out, "__init__.pyi"), [*head, *body])
    for name in (
        "amp",
        "linalg",
        "random",
        "fft",
        "safetensors",
        "special",
        "cuda",
        "data",
        "nn",
        "nn.functional",
        "nn.init",
        "nn.utils",
        "nn.utils.rnn",
        "optim",
        "optim.lr_scheduler",
        "callbacks",
        "metrics",
    ):
        module = importlib.import_module("tutti." + name)
        names = list(getattr(module, "__all__", None) or [n for n in vars(module) if not n.startswith("_")])
        names += [n for n in vars(module) if n.endswith("Result") and n not in names]
        names = [n for n in names if not inspect.ismodule(getattr(module, n))]
        known = classes(module, names)
        body = [member(n, getattr(module, n), package._core, name + ".", known) for n in names]
        dots, path = "." * (1 + name.count(".")), os.path.join(out, *name.split(".")) + ".pyi"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if hasattr(module, "__path__"):
            dots, path = "." + dots, os.path.join(out, *name.split("."), "__init__.pyi")
            os.makedirs(os.path.dirname(path), exist_ok=True)
        words = "ArrayLike, Device, DTypeLike, Shape, _ufunc_of_two, dtype, ndarray, ufunc"
        write(path, [HEAD, f"from {dots} import {words}", "", ALIASES, "", *body])


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
