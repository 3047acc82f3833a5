"""The documentation of what is written in C, in numpydoc's form: python tools/documents.py OUT

From the rows (fn/functions.def, tutti/ops.def), the texts beside the extension's own functions, and two tables:
parameters.txt says what parameters of a name are and what functions give, examples.txt has a program for each. The
build runs this; OUT is included by python/tutti/_core/document.c and never committed.
"""

import os
import re
import sys
import textwrap

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CORE = os.path.join(ROOT, "python", "tutti", "_core")
KINDS = {
    "": "object",
    "array": "array_like",
    "arrays": "sequence of array_like",
    "dtype": "dtype",
    "index": "index",
    "offset": "int",
    "values": "array_like",
    "operand": "float",
}
# What the operations of a class compute, by the types of their operands.
CLASSES = {
    "ARITH": "Of the type that the operands promote to.",
    "FLOAT": "Floating; of integers by their size: float16, float32 or float64.",
    "DIVIDE": "Floating; of integers float64.",
    "COMPARE": "Of bool.",
    "LOGIC": "Of bool.",
    "BITS": "Of the integer type, or bool, that the operands promote to.",
    "SHIFT": "Of the integer type that the operands promote to.",
    "TEST": "Of bool.",
    "ROUND": "Floating; integers stay what they are.",
    "PART": "Of the real type.",
    "ABS": "Of the operand's type; of complex numbers the real one.",
    "WHOLE": "Of the integer type that the operands promote to.",
    "SPECIAL": "Floating; of integers by their size: float32 or float64.",
}
OPERANDS = {
    "LOGIC": "Truth values, or numbers that are one where they are not zero.",
    "BITS": "Integers or bools.",
    "SHIFT": "Integers.",
    "WHOLE": "Integers.",
}
MATRICES = (
    "solve inv cholesky svd svdvals eig eigh eigvals eigvalsh lstsq cond pinv matrix_rank matrix_power tensorinv "
)
MATRICES = (MATRICES + "tensorsolve det slogdet").split()


def read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as f:
        return f.read()


def literal(text):
    """The text of C string literals that stand side by side."""
    return "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', text)).replace("\\n", "\n").replace('\\"', '"')


def rows():
    """{dotted name: (signature, words)} of the function table."""
    text, out = read("src", "fn", "functions.def"), {}
    body = re.search(r"#define TT_DRAWS\(.*?\n((?:  TT_FN.*\n)+)", text)[1]
    parts = re.findall(r'TT_FN\("(\w+\.)" name, \w+##handler, (?:"([^"]*)" )?signature(?: "([^"]*)")?', body)
    for kind, name, signature, words in re.findall(
        r'^TT_(FN|DRAWS)\("([^"]+)", \w+, ("(?:[^"\\]|\\.)*"), ("(?:[^"\\]|\\.)*")\)', text, re.M
    ):
        if kind == "FN":
            out[name] = literal(signature), literal(words)
        else:
            for prefix, before, after in parts:
                out[prefix + name] = before + literal(signature) + after, literal(words)
    return out


def own(path, prefix):
    """{dotted name: (signature as Python has it, words)} of functions that a C file documents itself."""
    text, out = read("python", "tutti", "_core", path), {}
    for found in re.findall(r'(?:"(?:[^"\\]|\\.)*"\s*)+', text):
        m = re.match(r"(\w+)\((.*)\)\n--\n\n(.*)", literal(found), re.S)
        if m:
            out[prefix + m[1]] = m[2], m[3]
    return out


def split(signature):
    """Its parameters; commas inside brackets do not count."""
    return [p.strip() for p in re.split(r",(?![^(\[]*[)\]])", signature) if p.strip()]


class Parameter:
    """One of a signature: `name[:kind][=default]`, with its stars."""

    def __init__(self, text):
        head, self.equal, self.default = text.partition("=")
        name, _, self.kind = head.partition(":")
        self.shown, self.name = name, name.lstrip("*")

    def plain(self):
        """As inspect takes it: the name of a type stands for it as a text."""
        quote = "'" if self.equal and re.match(r"(?!None|True|False)[a-z]", self.default) else ""
        return self.shown + (f"={quote}{self.default}{quote}" if self.equal else "")


class Tables:
    def __init__(self):
        self.parameters, self.returns, self.notes, self.examples = {}, {}, {}, {}
        self.operations = {}
        for line in read("python", "tutti", "_core", "parameters.txt").splitlines():
            if not line or line.startswith("#"):
                continue
            names, _, rest = line.partition(" : ")
            kind, words = ("", rest[2:]) if rest.startswith(": ") else rest.partition(" : ")[::2]
            mark, *several = names.split()
            if mark == "=":
                self.operations[several[0]] = rest
            elif mark in ("->", "!"):
                for name in several:
                    (self.returns if mark == "->" else self.notes).setdefault(name, []).append((kind, words))
            else:
                self.parameters[names] = kind, words
        name = None
        for line in read("python", "tutti", "_core", "examples.txt").splitlines():
            if line and line[0] not in " #":
                name = line.strip()
                self.examples[name] = []
            elif line.startswith("  "):
                self.examples[name].append(line[2:])

    def parameter(self, function, name):
        module, _, short = function.rpartition(".")
        for key in (f"{function}.{name}", f"{module}.*.{name}", f"{short}.{name}", name):
            if key in self.parameters:
                return self.parameters[key]
        return "", ""


def wrapped(words, indent=""):
    return textwrap.fill(words, 100, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False)


def section(title, body):
    return f"\n\n{title}\n{'-' * len(title)}\n" + "\n".join(body) if body else ""


def told(tables, function, params):
    lines = []
    for p in params:
        kind, words = tables.parameter(function, p.name)
        kind = kind or ("ndarray" if p.name == "out" else KINDS.get(p.kind, "object"))
        if kind == "object" and not p.kind:
            kind = "array_like" if words else "object"
        lines.append(f"{p.shown} : {kind}{', optional' if p.equal else ''}")
        if words:
            lines.append(wrapped(words, "    "))
    return lines


def given(tables, function, params, fallback):
    """The lines of Returns."""
    known = tables.returns.get(function) or tables.returns.get(function.rpartition(".")[2])
    if not known and {"axis", "keepdims"} <= {p.name for p in params}:
        known = [("ndarray", "An element for each line gone along; without axes where all are.")]
    if not known and function.startswith(DRAWS) and "size" in {p.name for p in params}:
        known = [("ndarray, or number", "A number where neither `size` nor a parameter has a shape.")]
    lines = []
    for kind, words in known or fallback:
        lines += [kind, wrapped(words, "    ")] if words else [kind]
    return lines


def raised(function, params):
    names, short = {p.name for p in params}, function.rpartition(".")[2]
    lines = []
    if names & {"axis", "axis1", "axes"}:
        lines += ["AxisError", "    An axis is out of bounds."]
    if "LinAlgError" not in lines and function.startswith("linalg.") and short in MATRICES:
        words = "A matrix is not square or singular, or the factorization does not converge. Raised by the call."
        lines += ["LinAlgError", f"    {words}"]
    if function.split(".")[0] in ("random", "generator", "legacy"):
        lines += ["ValueError", "    A parameter lies outside of its range."]
    elif len([p for p in params if p.kind in ("array", "arrays") and p.name not in ("out", "where", "mean")]) > 1:
        lines += ["ValueError", "    The shapes of the operands do not fit each other."]
    elif names & {"shape", "reps", "new_shape", "indices_or_sections"}:
        lines += ["ValueError", "    The array cannot have that shape."]
    if "indices" in names and short not in ("unravel_index",):
        lines += ["IndexError", "    A place is out of bounds."]
    if "out" in names:
        lines += ["TypeError", "    `out` is no array, or cannot hold the type of the result."]
    return lines


def noted(tables, function, words):
    notes = [w for _, w in tables.notes.get(function, [])]
    if "Evaluates" in words:
        notes.append("What is recorded of the operands is computed by the call: the result depends on their values.")
    part = function.split(".")[0]
    if part in ("random", "generator"):
        notes.append("The distribution is NumPy's, its numbers for a seed are another's: see `tutti.random`.")
    if part == "legacy":
        notes.append("The numbers are those of numpy.random.RandomState with the same seed.")
    return [wrapped(n) for n in notes]


def document(tables, function, call, params, words, fallback):
    """The whole text. `call`: how it is called, in inspect's form, or None."""
    summary = re.sub(r"\s*Evaluates\.", "", words).strip()
    first, _, rest = summary.partition(". ")
    first = first.rstrip(".") if rest else first
    text = f"{call}\n--\n\n" if call else ""
    text += first + ("." if rest or first[-1] not in ".?" else "") + (f"\n\n{wrapped(rest)}" if rest else "")
    return (
        text
        + section("Parameters", told(tables, function, params))
        + section("Returns", given(tables, function, params, fallback))
        + section("Raises", raised(function, params))
        + section("Notes", noted(tables, function, words))
        + section("Examples", tables.examples.get(function, []))
        + "\n"
    )


def functions_of_elements():
    """{name: what a ufunc takes beyond its row} of the ufuncs that are rows."""
    out = {}
    row = r'"([\w.]+)", (?:TT_OP_COUNT, )?\d, (\d)(?:\)|, (?:\{.*?\}, )?(NULL|"[^"]*"))'
    for name, nout, core in re.findall(row, read("src", "fn", "ufunc", "ufunc.c")):
        more = ["out:array=None"] if nout == "1" else [f"out{k + 1}:array=None" for k in range(int(nout))]
        core = core or "NULL"
        if core == "NULL":
            more.append("where:array=True")
        more += ["casting='same_kind'", "order='K'", "dtype:dtype=None", "subok=True"]
        if core != "NULL":
            more += ["axes=None"] + (["axis=-1", "keepdims=False"] if core.endswith('->()"') else [])
        out[name] = more
    return out


DRAWS = ("random.", "generator.", "legacy.")
KEYWORDS = "out:array=None, *, where:array=True, casting='same_kind', order='K', dtype:dtype=None, subok=True"
RESULT = [("ndarray", "Of the type that NumPy's rules give, or `dtype`.")]


def operations(tables):
    """Texts of the elementwise operations, which are ufuncs: they show their parameters another way."""
    row = r'^TT_OP\(\w+, \w+, (\d), (\w+),.*"([\w.]*)"\)'
    for arity, kind, name in re.findall(row, read("include", "tutti", "ops.def"), re.M):
        if not name or kind not in CLASSES:
            continue
        names = ["x"] if arity == "1" else [f"x{k + 1}" for k in range(int(arity))]
        params = [Parameter(f"{n}:array") for n in names] + [Parameter(p) for p in split(KEYWORDS) if p != "*"]
        text = document(
            tables,
            name,
            None,
            params,
            tables.operations.get(name, f"The function {name} of elements."),
            [("ndarray", CLASSES[kind])],
        )
        operand = OPERANDS.get(kind, "Numbers.")
        text = text.replace("Elements to take part.", "Where it is computed; elsewhere `out` stays what it was.")
        yield name, re.sub(r"^(x\d? : array_like)\n    .*\n", rf"\1\n    {operand}\n", text, flags=re.M)


def main(out):
    tables, made = Tables(), {}
    table = rows()
    methods = re.findall(r'X\((\w+), "([\w.]+)"\)', read("python", "tutti", "_core", "array", "method.c"))
    table |= {f"ndarray.{method}": table[row] for method, row in methods}
    more = functions_of_elements()
    bound = {f"ndarray.{method}" for method, _ in methods} | {"ndarray.view"}
    for function, (signature, words) in table.items():
        part, _, short = function.rpartition(".")
        first = 1 if function in bound or signature.startswith(("rng:", "ufunc")) else 0
        params = [Parameter(p) for p in split(signature)]
        shown = [p.plain() for p in params]
        if function in bound or part == "ufunc":
            shown = ["$self", "/", *(p for p in shown[1:] if p != "/")]
        body = [p for p in params[first:] if p.shown not in ("*", "/")]
        body += [p for p in map(Parameter, more.get(function, [])) if p.name not in {q.name for q in body}]
        call = f"{short}({', '.join(shown)})"
        made[function] = document(tables, function, call, body, words, RESULT)
    own_parts = {"module.c": "", "insight.c": "", "line.c": "", "array/array.c": "", "dtype.c": ""}
    own_parts |= {"array/method.c": "ndarray.", "array/subclass.c": "ndarray."}
    for path, prefix in own_parts.items():
        for function, (signature, words) in own(path, prefix).items():
            params = [Parameter(p) for p in split(signature) if p not in ("*", "/", "$self")]
            call = f"{function.rpartition('.')[2]}({signature})"
            result = [] if path in ("array/array.c", "dtype.c") else RESULT  # classes
            made[function] = document(tables, function, call, params, words, result)
    made = dict(operations(tables)) | made
    with open(out, "w", encoding="utf-8") as f:
        for name in sorted(made):
            lines = made[name].replace("\\", "\\\\").replace('"', '\\"').split("\n")
            f.write(f'{{"{name}",\n' + "\n".join(f' "{line}\\n"' for line in lines[:-1]) + "},\n")


if __name__ == "__main__":
    main(sys.argv[1])
