"""The table of docs/numpy.md, from the NumPy that is installed: python tools/numpy_page.py

Every public name of NumPy is here, elsewhere, or has a reason below. A name without one is an error, and so is a reason
for a name that is here: the page cannot say what is not so.
"""

import importlib
import pathlib
import sys

PAGE = pathlib.Path(__file__).resolve().parents[1] / "docs" / "numpy.md"
MARK = "<!-- from here on: python tools/numpy_page.py -->\n"

FAMILIES = "polynomial chebyshev legendre hermite hermite_e laguerre".split()
MODULES = [
    "numpy", "numpy.linalg", "numpy.fft", "numpy.random", "numpy.polynomial",
    *(f"numpy.polynomial.{f}" for f in FAMILIES), "numpy.polynomial.polyutils",
    "numpy.lib", "numpy.lib.stride_tricks", "numpy.emath", "numpy.exceptions",
]  # fmt: skip
CLASSES = [
    "numpy.ndarray", "numpy.ufunc", "numpy.dtype", "numpy.flatiter", "numpy.random.Generator", "numpy.poly1d",
    "numpy.polynomial.Polynomial",
]  # fmt: skip

TEXTS = "elements are numbers, never text, objects or records"
DATES = "dates and times are no numbers"
OLD = "NumPy itself advises against it"
INNER = "about NumPy's own build, types or buffers"
WIDE = "128-bit floats exist on some processors only"

# Names of NumPy that are not here: (names, why).
REASONS = {
    "numpy": [
        ("bytes_ str_ object_ void character flexible record recarray", TEXTS),
        ("char strings rec", f"modules of text and records: {TEXTS}"),
        (
            "datetime64 timedelta64 busday_count busday_offset busdaycalendar is_busday datetime_as_string "
            "datetime_data isnat",
            DATES,
        ),
        ("longdouble clongdouble float128 float96 complex256 complex192", WIDE),
        ("matrix asmatrix bmat", OLD + "; `@` and arrays do it"),
        ("ma", "masked arrays: the nan functions, `where=` and masks as arrays of their own do most of it"),
        ("testing", "NumPy's `testing` takes our arrays"),
        ("typing ctypeslib f2py", "tools around NumPy's C types"),
        ("dtypes sctypeDict ScalarType typecodes mintypecode", INNER + ": `isdtype`, `issubdtype`, `finfo`"),
        ("core lib.format matlib", OLD),
        ("get_include show_config show_runtime test little_endian", INNER + ": `tt.info()`, `python -m tutti info`"),
        ("getbufsize setbufsize", INNER),
        ("geterrcall seterrcall", "floating-point errors are silent (`errstate`)"),
        ("nested_iters frompyfunc", "a Python call for each element: `vectorize`, `nditer`"),
        ("einsum_path", "`einsum` finds its order itself"),
        ("fromregex", "`re.findall` and `array`"),
    ],
    "numpy.lib": [
        ("Arrayterator add_docstring add_newdoc NumpyVersion tracemalloc_domain introspect mixins", INNER),
        ("format npyio", "`load` and `save` read and write these files"),
        ("array_utils", INNER),
        ("scimath", "it is `emath`"),
    ],
    "numpy.polynomial": [],
    "numpy.random": [],
    "numpy.exceptions": [
        ("VisibleDeprecationWarning ModuleDeprecationWarning", "nothing here is deprecated"),
        ("DTypePromotionError", "all types here promote with each other"),
    ],
    "numpy.ndarray": [
        ("ctypes", "memory is not at one address for long: `__array_interface__`, `data`, `tt.kernel`"),
        ("__array_struct__", "the C form of `__array_interface__`, which is there"),
    ],
    "numpy.ufunc": [("resolve_dtypes", "`result_type` answers it for most; no loops by type are chosen from here")],
    "numpy.dtype": [
        ("fields names subdtype shape ndim base descr isalignedstruct hasobject metadata", "types have no parts"),
        ("alignment byteorder newbyteorder flags isbuiltin num", "numbers lie aligned, in the processor's order"),
    ],
    "numpy.random.Generator": [],
}  # fmt: skip


def public(thing):
    """The names a module or a class of NumPy shows."""
    if isinstance(thing, type):
        own = {n for c in thing.__mro__[:-1] for n in vars(c)} - set(vars(object))
        unsaid = {"__array_finalize__", "__array_wrap__", "__array_struct__", "__array_interface__"}
        return sorted(n for n in own if not n.startswith("_") or n in unsaid)
    names = getattr(thing, "__all__", None) or dir(thing)
    return sorted(n for n in set(names) if not n.startswith("_") and n != "test")


def find(path):
    """The object of a dotted name, None where there is none."""
    import tutti  # noqa: F401 (a package that cannot be imported is an error, not one without names)

    try:
        return importlib.import_module(path)
    except ImportError:
        head, _, last = path.rpartition(".")
        return getattr(find(head), last, None) if head else None


def reasons(path):
    return {name: why for names, why in REASONS.get(path, []) for name in names.split()}


def sort_names(path):
    """What of a module or class is here, what is not and why, and what nobody has explained."""
    ours, given = find(path.replace("numpy", "tutti", 1)), reasons(path)
    here, missing, unexplained = [], {}, []
    for name in public(find(path)):
        if hasattr(ours, name):
            here.append(name)
        elif name in given:
            missing[name] = given[name]
        else:
            unexplained.append(name)
    stale = [name for name in given if name in here]
    return here, missing, unexplained, stale


def quoted(names):
    return " ".join(f"`{n}`" for n in names)


def section(path):
    here, missing, _, _ = sort_names(path)
    lines = [f"### {path}", "", f"Here ({len(here)}): {quoted(here)}" if here else "Nothing of it is here.", ""]
    by_reason = {}
    for name, why in missing.items():
        by_reason.setdefault(why, []).append(name)
    if by_reason:
        lines += ["| not here | why, or what instead |", "|---|---|"]
        lines += [f"| {quoted(names)} | {why} |" for why, names in by_reason.items()]
        lines.append("")
    return "\n".join(lines)


def version():
    import numpy

    return ".".join(numpy.__version__.split(".")[:2])


def table():
    every = [*MODULES, *CLASSES]
    counts = [sort_names(p) for p in every]
    here, missing = sum(len(c[0]) for c in counts), sum(len(c[1]) for c in counts)
    head = (
        f"## Every name\n\nOf NumPy {version()}'s {here + missing} public names {here} are here, {missing} are not.\n"
    )
    return head + "\n" + "\n".join(section(p) for p in every).rstrip() + "\n"


def current():
    """What the page should be."""
    text = PAGE.read_text(encoding="utf-8")
    return text[: text.index(MARK) + len(MARK)] + "\n" + table()


def main():
    wrong = {p: sort_names(p)[2:] for p in [*MODULES, *CLASSES]}
    for path, (unexplained, stale) in wrong.items():
        if unexplained:
            print(f"{path}: no reason in tools/numpy_page.py for {', '.join(unexplained)}")
        if stale:
            print(f"{path}: tools/numpy_page.py has a reason, but here are {', '.join(stale)}")
    if any(u or s for u, s in wrong.values()):
        return 1
    PAGE.write_text(current(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
