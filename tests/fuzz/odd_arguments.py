"""Odd arguments for every public function that NumPy and tutti share: the same result, or an error of the same type.

A call is made of a function's signature: each parameter's name says what is usual for it,
then one or two get something
odd: None, texts, empty or ragged lists, axes out of range or twice, types that do not fit, NaN,
an out of another type,
order or shape, or one that lies over an operand, read-only,
broadcast and strided arrays. Both libraries make the call
of the same text. Compared are values, types, shapes, orders of memory, what the call left in its arguments, the
categories of warnings, and whether there is an error.

    python tests/fuzz/odd_arguments.py FIRST COUNT [--only TEXT] [--types] [--words] [--all]

COUNT 0: without end. A difference is shown once for each function and kind, with --all each time. --types: errors of
other types count, too; --words: also errors of one type with other words. ALLOWED has what may differ, with reasons.
"""

import argparse
import inspect
import itertools
import operator
import random
import re
import sys
import warnings

import numpy as np
import tutti as tt

TYPES = ["bool", "int8", "uint8", "int16", "uint32", "int64", "uint64", "float16", "float32", "float64", "complex64",
         "complex128"]  # fmt: skip
KNOWN = {"bool", "float16", "float32", "float64", "complex64", "complex128"}
KNOWN |= {f"{u}int{n}" for u in ("", "u") for n in (8, 16, 32, 64)}
SHAPES = ["()", "(0,)", "(1,)", "(3,)", "(3,)", "(4,)", "(2, 3)", "(2, 3)", "(3, 3)", "(3, 3)", "(1, 3)", "(2, 0)",
          "(2, 1, 3)", "(2, 3, 4)", "(0, 3)"]  # fmt: skip
LAYOUTS = ["C", "C", "C", "C", "F", "step", "back", "turn", "const", "wide", "nan"]

# ---- one library's side of a call


class Side:
    """One library, the names that a call's text uses, and the arrays that were made for it."""

    def __init__(self, m):
        self.m, self.made = m, []
        self.names = {"m": m, "np": np, "A": self.array, "arg": self.argument, "nan": np.nan, "inf": np.inf,
                      "first": first, "total": total, "filled": filled, "set": changed, "op": operator}  # fmt: skip

    def array(self, dtype, shape, layout="C"):
        """An array of a type and a shape: C, F, every second element (step), backwards (back), a transpose (turn),
        read-only (const), broadcast (wide), with NaN and infinities (nan)."""
        size = int(np.prod(shape))
        values = (np.arange(size) * 7 + 1) % 11
        values = (values + 1j * (values % 3)) if dtype.startswith("c") else values
        values = values.astype(dtype).reshape(shape)
        if layout == "nan" and values.dtype.kind in "fc" and size:
            values.flat[0::3], values.flat[1::5] = np.nan, np.inf
        a = self.laid(values, layout if values.ndim or layout == "const" else "C")
        self.made.append(a)
        return a

    def laid(self, values, layout):
        new = self.m.array
        if layout == "wide":
            return self.m.broadcast_to(new(values[:1]), values.shape)
        if layout == "step":
            return new(np.repeat(values, 2, axis=-1))[..., ::2]
        if layout == "back":
            return new(values[::-1])[::-1]
        if layout == "turn":
            return new(values.T, order="C").T
        a = new(values, order="F" if layout == "F" else "C")
        if layout == "const":
            a.setflags(write=False)
        return a

    def argument(self, k):
        """The k-th array of the call once more."""
        return self.made[k % len(self.made)] if self.made else None

    def call(self, text):
        """What a call gives: ("is", its picture) or ("raises", type, words), with the categories of its warnings."""
        self.made.clear()
        with warnings.catch_warnings(record=True) as caught, np.errstate(all="ignore"):
            warnings.simplefilter("always")
            try:
                result = eval(text, self.names)
                seen = ("is", picture(result), [picture(a) for a in self.made])
            except Foreign:
                seen = ("foreign",)
            except Exception as e:
                seen = ("raises", error_type(e), str(e))
        return seen, sorted({w.category.__name__ for w in caught})


def first(x, *rest, **named):
    return x


def total(x, *rest):
    return x.sum(*rest)


def filled(vector, width, axis, named):
    """A function for pad()."""
    vector[: width[0]] = 7


def changed(a, index, value, how=""):
    """A store, or an operator in place, as an expression."""
    exec(
        f"a[index] {how}= value" if index is not first else f"a {how}= value", {"a": a, "index": index, "value": value}
    )
    return a


def error_type(e):
    """The name of an error's first type that both libraries have."""
    for t in type(e).__mro__:
        if t.__name__ in ("AxisError", "LinAlgError") or t.__module__ == "builtins":
            return t.__name__
    return "?"


# ---- results as something to compare


class Foreign(Exception):
    """A result of a type that is none of ours: texts, objects."""


class Elements:
    """An array: type, shape, orders in which it is contiguous, values. An element of NumPy's counts as one."""

    def __init__(self, x):
        ours = isinstance(x, tt.ndarray)
        if not ours and x.dtype.name not in KNOWN:
            raise Foreign
        self.dtype, self.shape = x.dtype.name, x.shape
        flags = x.flags
        self.order = "C" * bool(flags.c_contiguous) + "F" * bool(flags.f_contiguous)
        self.values = x.numpy() if ours else np.asarray(x)

    def __repr__(self):
        return f"{self.dtype}{self.shape}{self.order} {' '.join(str(self.values.tolist()).split())}"[:300]


def picture(x):
    """Nested tuples whose leaves are Elements and texts."""
    if isinstance(x, (np.ndarray, np.generic, tt.ndarray)):
        return Elements(x)
    if isinstance(x, (tuple, list)):
        return ("list" if isinstance(x, list) else "tuple", *map(picture, x))
    if isinstance(x, type):
        return x.__name__
    if isinstance(x, (np.dtype, tt.dtype)):
        return f"dtype {x.name}"
    if x is None or isinstance(x, (bool, int, float, complex, str, bytes, slice)):
        return f"{type(x).__name__} {x!r}"
    return type(x).__name__


PYTHON = {"b": ["bool"], "i": ["int"], "u": ["int"], "f": ["float"], "c": ["complex"]}
TOLERANCE = {"float16": 4e-3, "float32": 2e-5, "complex64": 2e-5}


def difference(a, b, loose, narrow=0):
    """In a word what differs between NumPy's picture and ours, or None.

    loose: values and orders may; narrow: a tolerance that the arguments' types ask for."""
    if isinstance(a, tuple) and isinstance(b, tuple):
        if loose < 2 and a[0] != b[0]:
            return f"{a[0]}, not {b[0]}"
        if len(a) != len(b):
            return "number of results"
        return next(filter(None, (difference(x, y, loose, narrow) for x, y in zip(a[1:], b[1:]))), None)
    if isinstance(a, str) and isinstance(b, Elements) and b.shape == ():  # numbers of Python are arrays without axes
        kind = a.split()[0]
        return (
            None
            if kind in PYTHON.get(b.values.dtype.kind, ()) and (loose or a == f"{kind} {b.values.item()!r}")
            else "result"
        )
    if not (isinstance(a, Elements) and isinstance(b, Elements)):
        return None if (type(a) is type(b) and (a == b or loose)) else "result"
    if a.dtype != b.dtype:
        return f"type {a.dtype}, not {b.dtype}"
    if a.shape != b.shape:
        return "shape"
    if loose:
        return None
    if not same_values(a.values, b.values, narrow):
        return "values" if a.dtype != "uint32" else "values of uint32"
    return "order" if a.values.size > 1 and a.values.ndim > 1 and a.order != b.order and a.order else None


def same_values(a, b, narrow):
    if a.dtype.kind not in "fc":
        return np.array_equal(a, b)
    rough = max(narrow, TOLERANCE.get(a.dtype.name, 1e-10))
    with np.errstate(all="ignore"):
        finite = np.abs(a[np.isfinite(a)])
        near = np.isclose(a, b, rtol=rough, atol=rough * (finite.max() if finite.size else 0), equal_nan=True)
    # one part of a complex number NaN, or infinite, is as C has it
    return bool((near | (~np.isfinite(a) & ~np.isfinite(b) if a.dtype.kind == "c" else False)).all())


# ---- what a parameter may get

ARRAYS = {
    *"a x y z m p f A ar arr ary array element test_elements object prototype ar1 ar2 a1 a2 x1 x2 b c v u xp".split(),
    *"fp filt c1 c2 roots seq_of_zeros r t e scl off from_ sample vals src dst start stop start_or_stop base".split(),
    *"to_end to_begin discont weights condition fweights aweights w mask rtol atol bins val values".split(),
}
ODD = ["None", "True", "False", "0", "1", "-1", "2", "-7", "100", "1.5", "-0.5", "nan", "inf", "1j", "'x'",
"'float32'", "''",
       "2**70", "-2**70", "2**63", "[]", "()", "[1]", "[1, 2]", "[1, 2, 3]", "[[1, 2], [3, 4]]", "[[1, 2], [3]]",
       "[1.5, 2]",
       "[True, False]", "[None]", "(0, 1)", "(0, 0)", "(1.5,)", "[nan, 1]", "[1j]", "range(3)", "[[]]", "np.int8(3)",
       "np.float32(1.5)", "np.uint64(1)", "np.bool(True)", "np.float64('nan')", "m.int32(2)", "np.array([1, 2])",
       "slice(1)",
       "float", "m.float32", "first", "{}", "b'ab'", "...", "1 + 0j", "-1.0"]  # fmt: skip
USUAL = {
    "axis": "None 0 0 1 -1 -1 -2 2 (0,) (0,1) (1,0) (0,0) (0,-1) () True -3".split(),
    "axes": "None 0 1 (0,1) (1,0) (-1,) (0,0) (-2,-1) () 2 ([0],[1]) ([-1],[0])".split(),
    "dtype": "None None 'float32' 'float64' 'int8' 'bool' 'complex64' 'uint8' 'float16' int float bool 'int64'".split(),
    "keepdims": "True False True 1 0".split(),
    "order": "'C' 'F' 'A' 'K'".split(),
    "casting": "'no' 'equiv' 'safe' 'same_kind' 'unsafe'".split(),
    "shape": "() 3 (2,3) (2,) (-1,) -1 (3,2) (0,) [2,3] (1,3) (6,)".split(),
    "mode": "'raise' 'wrap' 'clip' 'full' 'same' 'valid' 'reduced' 'constant' 'edge' 'reflect' 'symmetric' "
    "'linear_ramp' 'mean' 'r' 'complete'".split(),
    "n": "0 1 2 3 5 None -1".split(),
    "size": "None 0 3 (2,3) () (2,) -1".split(),
    "q": "0 50 1 0.5 [0.1,0.9] [25,50] 0.25 100".split(),
    "method": "'linear' 'lower' 'higher' 'midpoint' 'nearest' 'median_unbiased' 'hazen' 'inverted_cdf'".split(),
    "kind": "None 'quicksort' 'stable' 'heapsort' 'mergesort' 'sort' 'table' 'integral' 'bool' "
    "('numeric','bool')".split(),
    "indices": "0 1 [0] [0,1] [1,-1] [[0],[1]] [] [5] [-4] 2".split(),
    "initial": "0 1 2.5 True -3 None".split(),
    "decimals": "0 1 -1 2".split(),
    "ddof": "0 1 5 0.5 None".split(),
    "correction": "0 1 5 0.5".split(),
    "pad_width": "0 1 2 (1,2) ((1,2),) ((1,1),(0,2)) {0:1} {-1:(1,2)}".split(),
    "ord": "None 1 -1 2 -2 'fro' 'nuc' 0 3 inf -inf".split(),
    "norm": "None 'ortho' 'forward' 'backward'".split(),
    "s": "None (2,2) (3,) (4,3) (-1,2)".split(),
    "bool": ["True", "False"],
    "int": "0 1 2 3 -1".split(),
    "arrays": ["[A{}, A{}]", "(A{}, A{}, A{})", "[A{}]", "A{}", "[A{}, 1]"],
    "range": "None (0,5) (0,10) (3,3) (5,0)".split(),
    "UPLO": "'L' 'U' 'l' 'u'".split(),
    "side": "'left' 'right' 'l' 'L'".split(),
    "trim": "'fb' 'f' 'b' 'F'".split(),
    "indexing": "'xy' 'ij'".split(),
    "bitorder": "'big' 'little'".split(),
    "function": ["first"],
    "func1d": ["total", "first"],
    "func": ["m.sum", "total"],
    "funclist": ["[1, 2]", "[first, -1]", "[first]"],
    "condlist": ["[A('bool', (3,)), A('bool', (3,))]", "[A('bool', (3,))]", "[[True, False, True]]"],
    "mask_func": ["m.tril", "m.triu"],
    "to": "'int8' 'float32' m.complex64 float 'bool'".split(),
    "bins": "10 3 1 0 'auto' 'sturges' [0,2,5] [1,5] (2,3)".split(),
    "type1": "'int8' 'uint64' float 'float16'".split(),
    "subscripts": "'ij->ji' 'ii' 'ij,jk' 'i,i' 'i,j->ij' '...i->...'".split(),
    "tol": "0 1 100 None 1e-3".split(),
    "requirements": ["None", "'C'", "['F']", "['C', 'W']", "['O']"],
    "buffer": ["b'abcdefgh'", "bytearray(16)"],
    "sep": "',' ' '".split(),
    "string": "'1,2,3' '1 2' ''".split(),
    "number": "0 5 -5 255".split(),
    "char": "'d' 'f' 'x'".split(),
    "fill_value": "0 1 1.5 -1 nan 300 True 1j".split(),
    "a_min": "None 0 2 2.5 -1 A{}".split(),
    "repeats": "0 1 2 [1,2,3] [2] -1".split(),
    "period": "None 360 4 0".split(),
    "left": "None 0 1.5".split(),
    "like": ["None"],
    "copy": "True False None".split(),
    "wrap": "True False".split(),
    "k": "0 1 -1 2".split(),
    "kth": "0 1 2 -1 [0,1] (0,2) 5".split(),
    "device": ["None", "'cpu'"],
    "N": "0 1 2 3 None -1".split(),
}  # fmt: skip
ALIKE = {
    "axis1": "int", "axis2": "int", "axisa": "axis", "axisb": "axis", "axisc": "axis", "source": "axes",
    "destination": "axes",
    "M": "N", "num": "N", "ndim": "int", "ndmin": "int", "ndmax": "int", "offset": "int", "minlength": "int",
    "shift": "axes",
    "reps": "shape", "new_shape": "shape", "dims": "shape", "dimensions": "shape", "max": "a_min", "min": "a_min",
    "a_max": "a_min", "posinf": "a_min", "neginf": "a_min", "nan": "a_min", "right": "left", "period": "period",
    "tup": "arrays", "keys": "arrays", "choices": "arrays", "choicelist": "arrays", "arrays": "arrays",
    "multi_index": "arrays",
    "type2": "type1", "arg1": "type1", "arg2": "to", "obj": "indices", "ind": "indices",
    "indices_or_sections": "indices",
    "deg": "int", "lbnd": "left", "rcond": "tol", "edge_order": "int", "count": "int", "width": "int",
    "padding": "int",
    "varargs": "int", "discont": "left", "default": "fill_value", "decimals": "decimals", "high": "n", "low": "n",
    "maxpower": "n", "pow": "n", "include_initial": "bool", "stable": "bool", "where": "bool", "sorter": "indices",
    "dx": "left", "d": "left", "step": "left",
}  # fmt: skip
FLAGS = set("deg retstep endpoint density returned bias rowvar full cov overwrite_input equal_nan assume_unique invert "
            "return_index return_inverse return_counts return_indices sorted sparse increasing hermitian compute_uv "
            "full_matrices upper tensor replace shuffle subok unique inplace copy refcheck stable".split())  # fmt: skip


class Maker:
    """Calls as texts, from a seed."""

    def __init__(self, seed):
        self.r = random.Random(seed)
        self.main = self.r.choice(SHAPES)
        self.count = 0

    def array(self, shape=None):
        """Mostly of the same shape as the others of the call."""
        r = self.r
        shape = shape or (self.main if r.random() < 0.7 else r.choice(SHAPES))
        dtype = r.choice(TYPES if r.random() < 0.7 else ["float64", "int64"])
        layout = r.choice(LAYOUTS)
        return f"A('{dtype}', {shape}{'' if layout == 'C' else f', {layout!r}'})"

    def filled(self, text):
        while "A{}" in text:
            text = text.replace("A{}", self.array(), 1)
        return text

    def out(self):
        r, k = self.r, self.r.random()
        if k < 0.6:
            return self.array()
        return r.choice(["arg(0)", "arg(0)", "arg(0)[::-1]", "arg(1)", "None", "arg(0)[..., ::2]", "arg(0).T"])

    def usual(self, name, function):
        r = self.r
        if name == "out":
            return self.out()
        if name == "where" and r.random() < 0.8 or name == "mask":
            return self.array().replace("A('float64'", "A('bool'").replace("A('int64'", "A('bool'")
        if name in FLAGS:
            return r.choice(["True", "False"])
        if (function, name) in NAMED:
            return self.filled(r.choice(NAMED[function, name]))
        if name in ARRAYS and name not in ("bins", "values", "val") or (r.random() < 0.03 and name != "dtype"):
            return self.array()
        pool = USUAL.get(ALIKE.get(name) or name)
        return self.filled(r.choice(pool)) if pool else self.array() if r.random() < 0.7 else r.choice(ODD)

    def odd(self):
        return self.array() if self.r.random() < 0.25 else self.r.choice(ODD)

    def usual_call(self, before, function, parameters):
        """A call in which each argument is usual: its required parameters and a few of the others."""
        share = min(0.35, 1.6 / max(len(parameters), 1))
        given = [p for p in parameters if not p[2] or self.r.random() < share]
        arguments = []
        for p in given:
            more = self.r.choice([0, 1, 1, 2]) if p[1] == "*" else 0
            arguments += [(p, self.usual(p[0], function)) for _ in range(more + 1)]
        return Call(before, function, parameters, arguments)

    def changed(self, call):
        """The call with one argument changed, or one more."""
        arguments, k = list(call.arguments), self.r.randrange(len(call.arguments) + 1)
        if k < len(arguments):
            p = arguments[k][0]
        else:
            left = [p for p in call.parameters if all(p != q for q, text in arguments)]
            if not left:
                return call
            p, k = self.r.choice(left), len(arguments)
        strange = self.r.random() < 0.7 and p[0] not in FLAGS and p[0] not in PLAIN
        text = self.odd() if strange else self.usual(p[0], call.function)
        if strange and p[0] in ("axis", "axes") and (text[0] == "[" or "True" in text):
            text = "(0, 1.5)"
        if strange and p[0] == "dtype" and text[:2] in ("A(", "m."):  # ours of rank 0 stand for NumPy's scalars
            text = "np.int8(3)"
        if call.function in ("diff", "polypow", "power") and "2**" in text:  # NumPy would begin to do it
            text = "7"
        arguments[k:] = [(p, text), *arguments[k + 1 :]]
        return Call(call.before, call.function, call.parameters, arguments, text, p[0], strange)


# Parameters that get no odd arguments: flags count by their truth here, where NumPy has several rules for them.
PLAIN = {"keepdims", "where", "axis1", "axis2", "like", "norm", "mode", "order", "kind", "method"}


class Call:
    """A function and its arguments, each a pair of a parameter (name, kind, has a default) and a text.

    odd: the text of the one that was changed, the parameter of that name; strange: it is nothing that belongs there;
    given: all of them by name."""

    def __init__(self, before, function, parameters, arguments, odd="", name="", strange=False):
        self.before, self.function, self.parameters, self.odd = before, function, parameters, odd
        self.strange = strange
        self.arguments = sorted(arguments, key=lambda a: parameters.index(a[0]))
        names, texts = [p[0] for p in parameters], []
        for (name, kind, _), text in self.arguments:
            in_place = len(texts) >= names.index(name) and kind != "="
            texts.append(text if in_place or kind in "-*" else f"{name}={text}")
        self.text = f"{before}({', '.join(texts)})"
        self.given = " ".join(f"{p[0]}={text}" for p, text in self.arguments)
        self.said = f"{name}={odd}" if name else self.given


# What is usual for a parameter of one function only.
NAMED = {
    ("array", "object"): ["A{}", "[A{}, A{}]", "[1, 2.5]", "[[1, 2], [3, 4]]", "3", "[nan, 1]", "[1j, 2]",
    "[True, 2]"],
    ("asarray", "a"): ["A{}", "[A{}, A{}]", "[1, 2.5]", "[[1, 2], [3, 4]]", "3", "[nan, 1]", "[1j, 2]", "[True, 2]"],
    ("einsum", "operands"): ["'ij->ji', A{}", "'ii', A{}", "'ij,jk', A{}, A{}", "'i,i', A{}, A{}", "A{}, [0, 1]",
    "'...i', A{}"],
    ("bincount", "x"): ["A('int64', (4,))", "A('uint8', (3,))", "A{}", "[1, 2]"],
    ("broadcast_shapes", "args"): ["(2, 3)", "(3,)", "(1,)", "()", "3", "(2, 1)"],
    ("block", "arrays"): ["[A{}, A{}]", "[[A{}], [A{}]]", "A{}", "[[A{}, A{}], [A{}]]", "[1, 2]"],
    ("searchsorted", "a"): ["m.sort(A{})", "[1, 2, 5]"],
    ("digitize", "bins"): ["m.sort(A{})", "[1, 2, 5]", "[5, 2, 1]"],
    ("polyder", "scl"): ["2", "1.5"],
    ("polyint", "scl"): ["2", "1.5"],
    ("qr", "mode"): ["'reduced'", "'complete'", "'r'", "'raw'"],
    ("choose", "choices"): ["[A{}, A{}]", "(A{}, A{}, A{})"],
    ("matrix_power", "n"): ["0", "1", "2", "-1", "3"],
    ("insert", "values"): ["A{}", "1", "1.5", "[1, 2]"],
    ("rot90", "axes"): ["(0, 1)", "(1, 0)", "(0, -1)", "(0, 0)"],
    ("astype", "dtype"): [repr(t) for t in TYPES],
    ("view", "args"): [repr(t) for t in TYPES],
    ("dtype", "dtype"): [repr(t) for t in TYPES],
    ("isdtype", "dtype"): ["m.dtype('int8')", "m.float32", "m.dtype('bool')"],
    ("fromiter", "iter"): ["range(3)", "[1.5, 2]", "A('int8', (3,))"],
    ("getfield", "dtype"): ["'int8'", "'uint8'", "'float32'"],
}  # fmt: skip

# ---- which functions there are

NOT_CALLED = {
    *"array2string array_repr array_str info save savetxt savez savez_compressed set_printoptions printoptions".split(),
    *"get_printoptions load loadtxt genfromtxt fromfile seterr geterr errstate from_dlpack vectorize tofile".split(),
    *"dump dumps format_float_positional format_float_scientific tobytes setflags to_device typename broadcast".split(),
}
# What is drawn, what memory holds by chance, and vectors of which any multiple, or any order, is right.
ANY_VALUES = {
    "empty",
    "empty_like",
    "eig",
    "eigh",
    "eigvals",
    "svd",
    "qr",
    "lstsq",
    "solve",
    "inv",
    "tensorinv",
    "tensorsolve",
    "pinv",
    "resize",
}
ANY_VALUES |= {
    "argpartition",
    "partition",
    "polyfit",
    "roots",
    "polyroots",
    "svdvals",
    "cond",
    "det",
    "slogdet",
    "matrix_rank",
    "matrix_power",
    "polydiv",
    "cholesky",
    "argsort",
}
GROUPS = [
    "",
    "",
    "",
    "linalg",
    "fft",
    "emath",
    "polynomial.polynomial",
    "ndarray",
    "ndarray",
    "ufunc",
    "ufunc",
    "operator",
]
METHODS = ["reduce", "accumulate", "reduceat", "outer", "at"]
EXTRA = {"sum": ["keepdims", "initial", "where"], "prod": ["keepdims", "initial", "where"], "max": ["keepdims",
"initial", "where"],
         "min": ["keepdims", "initial", "where"], "mean": ["keepdims", "where"], "std": ["keepdims", "where",
         "mean", "correction"],
         "var": ["keepdims", "where", "mean", "correction"], "all": ["keepdims", "where"], "any": ["keepdims",
         "where"],
         "reduce": ["keepdims", "initial", "where"], "pad": ["constant_values", "stat_length", "end_values",
         "reflect_type"],
         "argmax": ["keepdims"], "argmin": ["keepdims"], "clip": ["dtype", "casting"]}  # fmt: skip


# With an out without axes NumPy's accumulate reads memory that is not there.
ENDS_THE_PROCESS = re.compile("(nan)?cum|accumulate")


def parameters(f, function, skip=0):
    """The parameters of a function of NumPy's as (name, kind, has a default)."""
    kinds = {inspect.Parameter.POSITIONAL_ONLY: "-", inspect.Parameter.POSITIONAL_OR_KEYWORD: "+",
             inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.KEYWORD_ONLY: "="}  # fmt: skip
    found = []
    for p in list(inspect.signature(f).parameters.values())[skip:]:
        if p.name in ("like", "overwrite_input") or (p.name == "out" and ENDS_THE_PROCESS.match(function)):
            continue
        if p.kind in kinds:
            found.append((p.name, kinds[p.kind], p.default is not p.empty))
        else:
            found += [(name, "=", True) for name in EXTRA.get(function, ())]
    return found


def members(path):
    """The names that NumPy and tutti both have behind a path."""
    a, b = np, tt
    for part in path.split(".") if path else []:
        a, b = getattr(a, part), getattr(b, part)
    for name in sorted(set(dir(a)) & set(dir(b))):
        f = getattr(a, name)
        if name[0] != "_" and callable(f) and not isinstance(f, type) and name not in NOT_CALLED:
            yield name, f


def table():
    """Each group's functions, as (text before the bracket, name, parameters, what stands before the arguments)."""
    groups = {path: [] for path in GROUPS}
    for path in groups:
        if path in ("ufunc", "operator"):
            continue
        for name, f in members(path):
            if isinstance(f, np.ufunc):
                if path == "":
                    groups["ufunc"] += of_ufunc(name, f)
                continue
            try:
                given = parameters(f, name, 1 if path == "ndarray" else 0)
            except ValueError:
                continue
            before = "{a}." if path == "ndarray" else f"m.{path}." if path else "m."
            groups[path].append((before + name, name, given))
    groups["operator"] = operators()
    return groups


def of_ufunc(name, f):
    operands = [("x", "-", False)] * f.nin
    keywords = [(n, "=", True) for n in ("out", "where", "dtype", "casting", "order")]
    rows = [(f"m.{name}", name, [*operands, ("out", "+", True), *keywords[1:]])] * 6
    if f.nin == 2 and f.nout == 1 and not f.signature:
        for method in METHODS:
            skip = [p for p in parameters(getattr(f, method), method) if p[0] != "like"]
            rows.append((f"m.{name}.{method}", method, skip))
    return rows


def operators():
    """Reads, stores, operators, and operators in place, as functions."""
    index, value = ("indices", "-", False), ("x", "-", False)
    rows = [("set", "set", [value, index, value])] * 8
    array = ("a", "-", False)
    names = "add sub mul truediv floordiv mod pow and_ or_ xor lshift eq lt ge matmul iadd isub imul itruediv"
    names += " ifloordiv imod ipow iand ior ixor imatmul"
    rows += [(f"op.{n}", n, [array, value]) for n in names.split()]
    return [*rows, *[("op.getitem", "getitem", [array, index])] * 8]


TABLE = table()
NUMPY, OURS = Side(np), Side(tt)
TRIES = 8  # to find a call of usual arguments that NumPy takes


def make(seed):
    """A call that NumPy takes, but for the one argument that is changed after that."""
    maker = Maker(seed)
    group = maker.r.choice(GROUPS)
    before, name, given = maker.r.choice(TABLE[group])
    for _ in range(TRIES):
        call = maker.usual_call(before.replace("{a}", maker.array()), name, given)
        if NUMPY.call(call.text)[0][0] == "is":
            break
    return call if maker.r.random() < 0.2 else maker.changed(call)


# ---- deliberate differences

FFT = "fft|ifft|rfft|irfft|hfft|ihfft|fft2|ifft2|rfft2|irfft2|fftn|ifftn|rfftn|irfftn"
ALLOWED = [
    # (functions, what differs, why), and what the changed argument is like: what docs/numpy.md names, and accidents of
    # NumPy's that nobody can rely on
    (
        ".*",
        "no TypeError|TypeError, no error there",
        "bools, ranges and tuples of one where a number or an axis is asked for: Python code and C differ there",
        r"\b(axis|axes|start|shift|source|destination|s|n|k|N|M|deg)=(True|False|range|\(-?\d,\)|A\(|1j)",
    ),
    (
        "clip|dot|delete|geomspace|hfft|vecdot|apply_over_axes|polyval.*",
        "order",
        "broadcast arrays, copies",
    ),
    (".*", "no (TypeError|ValueError)", "None is what is taken without it", r"\b(casting|indexing|mode)=None"),
    (".*", "no OverflowError", "integers beyond 64 bits in what counts as a float or a truth value", r"2\*\*(63|70)"),
    ("eye|trapezoid", "TypeError, no error there", "infinity as a diagonal, a tuple as dx"),
    ("block|byteswap|frexp|modf|less.*|greater.*", "order", "one array comes back as it lies, broadcast arrays"),
    (
        "eq|ne|l[te]|g[te]|can_cast|view",
        "no .*Error|type",
        "a type is no number, and equal to none; None leaves a type as it is",
    ),
    ("eig|eigvals", "type", "complex where rounding leaves an imaginary part"),
    ("gradient", "no IndexError|TypeError, no error there", "an edge_order of 0, or one that nobody uses"),
    ("ix_|insert", "type|ValueError, no error there", "empty arrays as places"),
    ("take|put", "TypeError, no error there", "a mode by its number"),
    ("zeros|empty|ones|full", "TypeError, no error there", "an empty array as a shape"),
    ("fill_diagonal|binary_repr", "TypeError, no error there", "objects and NaN by their truth"),
    ("trim_zeros", "result", "a list comes back as an array"),
    (
        "einsum|multi_dot|max|min|isposinf|isneginf",
        "no .*Error|ValueError, no error",
        "odd optimize=, lists as initial=",
    ),
    ("unstack|cumulative_.*|logspace", "TypeError, no error there", "tuples of one as axis", r"\(-?\d,\)"),
    ("rollaxis", "arguments: values", "NumPy counts the array down that it was given as a start"),
    ("ldexp", "type", "a number with integers of any type is float16 there"),
    (".*", "no AttributeError", "NumPy asks lists and numbers for an array's attributes; they are arrays here"),
    (".*", "OverflowError, no error there", "integers beyond 64 bits are objects there"),
    (
        ".*",
        "warnings .*(UserWarning|ComplexWarning)",
        "out=None by position; what where= leaves out is cast there, too",
    ),
    (
        FFT,
        "error there|values|type|no TypeError",
        "every axis reads out=; float16 is not rounded first; one axis may be a number",
    ),
    (
        "roots|poly.*|tensorinv|i?fftshift|split|vander",
        "no .*Error|ValueError, no error|shape|values|type",
        "0-d and empty arrays, several axes, NaN",
    ),
    ("hamming|hanning|blackman|bartlett|kaiser", "shape|no ValueError", "a length that is no whole number"),
    (
        "histogram.*",
        "NotImpl|values|type|order|no TypeError|ValueError, no error",
        "points without axes; complex numbers; edges of float16 are float64",
    ),
    ("logn|geomspace|arange", "values|type", "types of empty arrays, of mixed and one-element arguments"),
    ("accumulate|reduceat|at|var|std|nanvar|nanstd", "values|no TypeError", "orders of folds; moments of whole dtypes"),
    ("pinv|svd|matrix_rank|norm", "no .*Error", "rtol of any shape; hermitian of what is not square"),
    ("unique.*", "values", "in order, always"),
    ("byteswap|searchsorted|digitize|insert|take|put|choose", "no .*Error", "floats as places, empty arrays"),
    ("getitem|accumulate|matvec|vecmat|nonzero|argwhere|rfft2|outer|where|polyvander.*", "order", "docs/numpy.md"),
    ("std|var", "no TypeError|error there", "correction= is a number, and a keyword of the methods, too"),
    (
        "round|around|rint|isdtype|isin|r?fftfreq|require|identity|lexsort|result_type|dot|at",
        "no .*Error|error there|values",
        "numbers for arrays, out= of another shape, what is read-only",
    ),
    (
        "fill|tile|repeat|expand_dims|rollaxis|median|trim_zeros|flip|resize|tri|size|setfield|(arg)?partition|lstsq|"
        "qr",
        "no error there|no TypeError",
        "bools and floats as integers, negative lengths of what is empty, modes of LAPACK's",
    ),
    (
        ".*divide|linspace|astype|tensordot|reduce|polyval|eq|all",
        "order",
        "'A', broadcast arrays",
    ),
    (
        "fromiter|fromfunction|indices|average|nan.*|quantile|apply_along_axis|cov|histogram_bin_edges",
        "type|shape|no .*Error|error there",
        "dtype=None, empty arrays, one-element means",
    ),
    ("isub|iadd|imul|ipow|reduce|ldexp|set", "error there|no .*Error", "elements never change; text"),
    (
        "clip|issubdtype|real_if_close|delete|bitwise_count|triu.*|tril.*|diag_indices.*|polyline",
        "no error there|result|type|values",
        "numbers of an exact type",
    ),
    # errors of other types (--types): which of two faults is named, and what an argument of a wrong kind breaks first
    (".*", "AxisError, not (IndexError|ValueError)|not AttributeError", "AxisError is both; lists have no attributes"),
    (
        ".*",
        "TypeError, not ValueError: (The truth value|list.remove|(too many|not enough) values)",
        "no number, no pair",
    ),
    (
        "set|at|reduce|reduceat|accumulate|put|fill|putmask|fill_diagonal|(put|take)_along_axis|searchsorted|choose|squeeze",
        "Error, not ",
        "places, types, shapes and what is read-only are looked at in another order",
    ),
    (
        "tensor(solve|inv|dot)|einsum|cross|pinv|cond|.*norm|tri[lu]|polypow|polyder|polyint|lstsq|interp|(geom|log)space|"
        "common_type|fromiter|histogram.*|gradient|clip|divmod|i?matmul|roll|pad|stack|trace|apply_.*|meshgrid|select|"
        + FFT,
        "Error, not ",
        "two faults, of shapes, axes, types",
    ),
    (
        "mean|var|std|sum|prod|max|min|any|all|nan.*|arg(min|max)|count_nonzero|sort|partition|.*split|tile|cum.*|diagonal",
        "Error, not ",
        "two faults, of axes, where= and types",
    ),
    # accidents of NumPy's own
    ("vecmat|matvec", "values", "NumPy's vecmat with order='F' reads the matrix turned", "order='F'"),
    ("full|full_like", "(Value|Overflow)Error, no error there", "NaN, infinities and floats beyond a whole type"),
    ("searchsorted", "values", "in what is not sorted"),
    ("reduce|accumulate", "values|no ValueError", "arctan2 and power: what NumPy's vectors leave out"),
    (
        "kaiser|hanning|hamming|blackman|bartlett",
        "values|Error, no error there",
        "lengths that are complex, no integers, huge",
    ),
    ("imag|real", "result", "of Python's numbers NumPy gives their own attributes"),
    ("all|any", "no TypeError", "NumPy's methods have a dtype before out, which is not told of"),
    (".*", "no TypeError", "Python's numbers with casting='equiv', functions of several parts", "casting='(no|equiv)'"),
    (".*", "TypeError, no error there", "NumPy's arrays are no out", r"out=np\.array"),
    (".*", "order", "ufunc(order='A') is 'K'", "order='A'"),
    ("choose|inner|dot|vdot", "type|TypeError, no error there", "an empty list without a type; legacy rules of types"),
    ("(may_)?share(s)?_memory|(may_share|shares)_memory", "no ValueError", "ragged lists share nothing"),
    (
        "can_cast|array_split|split|compress|all|pinv|norm|matrix_norm|corrcoef|roll|arange|accumulate|unravel_index|"
        "histogram.*|mask_indices|tril_indices_from|triu_indices_from",
        "TypeError, no error|ValueError, no error|no TypeError|no ValueError",
        "empty operands, of which NumPy asks nothing; complex points; void types; flags for numbers",
    ),
    (
        "item|unpackbits|tensorsolve|percentile|quantile|bincount|ediff1d|clip|pad",
        "no .*Error",
        "empty operands, lists for tuples, booleans as numbers",
    ),
    (
        "put|fill|place|copyto|set|insert|full.*|astype|a?s?array",
        "values of uint32",
        "floats beyond 2^32, as NumPy's vectors have them",
    ),
    ("lexsort|poly.*|take", "order", "broadcast and index arrays"),
    ("std|var", "type|shape", "a complex mean of real numbers"),
    (".*split|setdiff1d|lstsq", "shape", "None as a place; assume_unique of what is not"),
    (
        "median|cond|tri[lu]_indices",
        "no .*Error",
        "empty arrays as axes, arrays as an order, booleans and uint64 as numbers",
    ),
    (
        "argpartition|poly.*|take|argsort|i[nx]_|ix_|swapaxes|unravel_index|unstack|copyto|outer|vecdot|qr|place|copy",
        "Error, not ",
        "two faults, of axes and types",
    ),
    ("cov|corrcoef", "ValueError, not RuntimeError", "weights of a wrong shape are wrong values"),
    (".*", "no ValueError|values", "no number to begin with is none that was not given", "initial=None"),
    ("i0|count_nonzero|concat|concatenate", "order", "broadcast arrays"),
    (
        "tensordot|interp|packbits|divmod|outer|putmask|argm(ax|in)|diagonal|unwrap|nanm(ax|in)|broadcast_shapes|modf|polypow",
        "no .*Error|Error, no error|shape|type|values",
        "axes and flags of odd types, slices as objects, values in no order, what is empty, a smaller out among two",
    ),
    (
        "eye|tril|triu|issubdtype|diagflat|ravel_multi_index|array|identity|rot90|vector_norm|convolve|correlate|power|i0|"
        "frexp|percentile|quantile|polytrim|prod|sum",
        "no .*Error|Error, no error|shape|values",
        "booleans, floats and arrays for numbers and words, NumPy's uint64; what is empty; a smaller out among two",
    ),
    ("repeat|compress|round|around|ravel_multi_index|.*_equal|less|greater|matvec|vecmat", "Error, not ", "two faults"),
    (FFT + "|hstack|vstack|stack|nanpercentile|nanquantile|multi_dot|nancum.*", "order", "an out=, broadcast arrays"),
    (
        "reduceat",
        "(Value|Type)Error, no error there",
        "NumPy's reduceat broadcasts into a larger out, and casts to any",
    ),
    ("reduceat|append|isclose|hstack", "order", "broadcast arrays"),
    (
        "promote_types|trim_zeros|base_repr|copyto",
        "no .*Error",
        "arrays and None for types, one element, ranges as places",
    ),
    ("getfield|tri[lu]_indices", "Error, not ", "two faults, arrays for numbers"),
    (
        "(ones|zeros|full|empty)_like|real|imag|take|cond|polyfit",
        "no error there|result",
        "empty arrays as shapes and places, types for numbers, orders that are no numbers",
    ),
    ("concat|concatenate|cov|corrcoef|ldexp", "Error, not ", "two faults"),
    ("trace", "no TypeError", "booleans as numbers"),
    ("nanprod|nansum", "order", "broadcast arrays"),
    ("unpackbits", "values", "NumPy counts on into memory that nobody wrote, of what is empty"),
    (
        "bincount|count_nonzero|pad|.*split",
        "no TypeError|TypeError, no error there",
        "lists of floats, arrays for axes and words, empty arrays as places",
    ),
    ("size|percentile|quantile|nanpercentile|nanquantile", "Error, not ", "booleans for numbers and words"),
    (".*", "TypeError, not ValueError: output array is read-only", "where= of another type is named first", "where="),
    (
        "searchsorted|argpartition|percentile",
        "no error there|no ValueError|type",
        "empty places, a truth value for a share",
    ),
    ("convolve|correlate|bincount", "Error, not ", "two faults"),
    ("stack|concat|concatenate", "values", "NumPy reads what it has just written, where out= lies over an operand"),
    ("logspace|geomspace", "values", "cut to whole numbers after another last digit", "int8|int16|int32|int64|uint"),
    (
        "linspace|moveaxis|dot",
        "TypeError, not (Value|Axis)Error",
        "two faults; one axis twice where one number is asked for",
    ),
    ("cross", "no TypeError|TypeError, no error", "None and truth values as axes", r"axis[abc]=(None|np\.bool)"),
    ("tri[lu]_indices_from", "no OverflowError", "an uint64 has no negative", "uint64"),
]


# --types sets it. Which of two faults is named first, and as what, is often a matter of order.
TYPES_OF_ERRORS = False
# What belongs nowhere is one of these errors; which one depends on where NumPy stumbles over it (it asks lists for
# attributes, arrays whether they are true, unpacks numbers). An AxisError is a ValueError and an IndexError.
OF_STRANGE = {"TypeError", "ValueError", "IndexError", "AxisError", "OverflowError", "LinAlgError", "AttributeError"}
# Not numbers: NumPy computes with them as objects or texts, and says so or not; ours are an error of some type.
NO_NUMBERS = {"None", "'x'", "'float32'", "''", "2**70", "-2**70", "[[1, 2], [3]]", "[None]", "slice(1)"}
NO_NUMBERS |= {"float", "m.float32", "first", "{}", "b'ab'", "..."}


def loosely(call):
    """0: all of a result is compared; 1: not values and orders; 2: not lists for tuples either."""
    if call.function in ("meshgrid", "broadcast_arrays"):
        return 2
    unwritten = (
        "where=" in call.text and "out=" not in call.text and isinstance(getattr(np, call.function, None), np.ufunc)
    )
    return 1 if unwritten or call.function in ANY_VALUES else 0


def compare(theirs, ours, call):
    """In a word how two outcomes differ, or None."""
    (want, want_warnings), (got, got_warnings) = theirs, ours
    refused = call.odd in NO_NUMBERS or "out=" in call.text or "arg(" in call.text
    if want[0] == "foreign" or refused and got[0] == "raises":
        return None
    if want[0] != got[0]:
        return f"{got[1]}, no error there" if got[0] == "raises" else f"no {want[1]}"
    if want[0] == "raises":
        same = want[1] == got[1] or (call.strange and {want[1], got[1]} <= OF_STRANGE)
        return None if same or not TYPES_OF_ERRORS else f"{got[1]}, not {want[1]}: {want[2]}"
    loose = loosely(call)
    # A loop in single precision may write into double: its last digit is not ours.
    narrow = max((t for name, t in TOLERANCE.items() if name in call.text), default=0)
    narrow = max(narrow, 4e-3 if re.search("int8|bool", call.text) and "out=" in call.given else 0)
    narrow = max(narrow, 2e-5 if "int16" in call.text and "out=" in call.given else 0)
    found = difference(want[1], got[1], loose, narrow)
    if not found and len(want[2]) == len(got[2]):
        found = next(filter(None, (difference(a, b, loose, narrow) for a, b in zip(want[2], got[2]))), None)
        found = found and f"arguments: {found}"
    if not found and want_warnings != got_warnings:
        found = f"warnings {want_warnings}, not {got_warnings}"
    return found


# The same from NumPy 2.5 on.
NEWER = np.lib.NumpyVersion(np.__version__) >= "2.5.0"
if NEWER:
    ALLOWED += [
        ("fix", "warnings .*DeprecationWarning", "on its way out there"),
        ("cross", "no ValueError|TypeError, no error there", "vectors of two are gone there, and axis=None is taken"),
        ("place", "no TypeError", "a list is no array to write to"),
        ("eig|eigvals", "type", "complex always"),
    ]


def allowed(call, found):
    """Is a difference one that ALLOWED names?"""
    for functions, what, _, *odd in ALLOWED:
        said = f"{call.said} {call.given}"
        if re.fullmatch(functions, call.function) and re.search(what, found) and re.search(*(odd or [""]), said):
            return True
    return False


# NumPy 2.4 frees what is no pointer: integers compared with a number beyond their type, under a mask.
CRASH = r"\b(equal|not_equal|less|less_equal|greater|greater_equal)\(.*int.*\bwhere="


def run(seed, only="", words=False):
    """None, or (function, in a word what differs, the call, both outcomes)."""
    call = make(seed)
    if only not in call.text or re.search(CRASH, call.text):
        return None
    theirs, ours = NUMPY.call(call.text), OURS.call(call.text)
    found = compare(theirs, ours, call)
    if found and allowed(call, found):
        found = None
    if not found and words and theirs[0][0] == "raises" and theirs[0][1:] != ours[0][1:]:
        found = "words"
    return found and (call.function, found, call.text, theirs, ours)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("first", type=int)
    parser.add_argument("count", type=int)
    parser.add_argument("--only", default="")
    parser.add_argument("--words", action="store_true")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--types", action="store_true")
    o = parser.parse_args()
    global TYPES_OF_ERRORS
    TYPES_OF_ERRORS = o.types
    seen, n = {}, 0
    for seed in range(o.first, o.first + o.count) if o.count else itertools.count(o.first):
        found = run(seed, o.only, o.words)
        if found:
            n += 1
            if o.all or (found[0], found[1]) not in seen:
                print(
                    f"{seed}: {found[0]}: {found[1]}\n    {found[2]}\n    NumPy {found[3]}\n    ours  {found[4]}",
                    flush=True,
                )
            seen[found[:2]] = seen.get(found[:2], 0) + 1
    print(f"{n} differences of {len(seen)} kinds")
    return 1 if seen else 0


if __name__ == "__main__":
    sys.exit(main())
