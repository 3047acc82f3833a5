"""Random calls of every ufunc with operands of all sorts at once, against NumPy.

Operands are arrays in any order of memory, without axes, broadcast, pending, elements, NumPy's scalars, Python's
numbers, lists; out= lies over an operand, is too large, read-only or of another type; where=, casting=, dtype=, order=
come and go; operators work in place.

    python tests/fuzz/mixed.py FIRST COUNT [--only NAME]     each that differs is shown; COUNT 0: without end

Compared are the result's type, shape, order and values, what the call left in every array, its warnings' categories, or
the type of its error.
"""

import argparse
import itertools
import random
import sys
import warnings

import numpy as np
import tutti as tt

KINDS = "bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 float16 float32 float64 complex64 complex128".split()
NAMES = sorted(
    {n for n in dir(np) if isinstance(getattr(np, n), np.ufunc) and isinstance(getattr(tt, n, None), tt.ufunc)}
    - {"matmul", "matvec", "vecmat", "vecdot"}
)
# NumPy 2.4 ends its process in a comparison of unsigned numbers with -1, given where= and out=.
COMPARISONS = ("less", "less_equal", "greater", "greater_equal", "equal", "not_equal")
OPERATORS = ["+=", "-=", "*=", "/=", "//=", "%=", "**=", "&=", "|=", "^=", "<<=", ">>="]
SHAPES = [(), (1,), (5,), (4, 5), (4, 1), (2, 4, 5), (0,), (17,), (3, 40)]
CASTINGS = ["no", "equiv", "safe", "same_kind", "unsafe"]
# What is not correctly rounded, or not by NumPy's vectors: some units of the last place.
LOOSE = set(
    "exp exp2 expm1 log log2 log10 log1p power pow float_power cbrt sin cos tan arcsin arccos arctan arctan2 asin acos "
    "atan atan2 sinh cosh tanh arcsinh arccosh arctanh asinh acosh atanh hypot logaddexp logaddexp2 sqrt square "
    "multiply divide true_divide reciprocal absolute abs sign floor_divide remainder mod fmod divmod".split()
)
# What functions of floats compute whole numbers in, also where out= is of a wider type.
FLOAT_OF = {"bool": "float16", "int8": "float16", "uint8": "float16", "int16": "float32", "uint16": "float32"}
WHOLE = ["True", "False", "0", "1", "-1", "2", "3", "100", "300", "-129", "70000", "2**31", "2**40", "2**63", "-2**63"]
REAL = ["0.5", "2.0", "-1.25", "1e5", "1e40", "float('nan')", "float('inf')", "-0.0"]


def values(kind, shape, salt):
    """Small numbers, with zeros and a few at the ends of the type."""
    rng = np.random.default_rng(salt)
    size = int(np.prod(shape, dtype=np.int64))
    if kind == "bool":
        return (rng.random(size) < 0.6).reshape(shape)
    if kind[0] in "iu":
        flat = rng.integers(0 if kind[0] == "u" else -4, 9, size).astype(kind)
        if salt % 3 == 0 and size > 2:
            flat[rng.integers(size)] = np.iinfo(kind).max
            flat[rng.integers(size)] = np.iinfo(kind).min
        return flat.reshape(shape)
    flat = rng.integers(-8, 17, size) / np.array([1, 2, 4, 8])[rng.integers(0, 4, size)]
    if kind[0] == "c":
        flat = flat + 1j * rng.integers(-8, 9, size) / 2
    elif salt % 3 == 0 and size > 2:
        flat[rng.integers(size)] = [np.nan, np.inf, -np.inf, -0.0][salt % 4]
    return flat.astype(kind).reshape(shape)


class Call:
    """lines: statements over `m` that end with the call; names: the arrays that it may have changed."""

    def __init__(self, seed, only=None):
        self.draw = random.Random(seed)
        self.salt = itertools.count(seed * 37)
        self.lines, self.names, self.masked, self.reads_itself = [], [], False, False
        self.shape = self.draw.choice(SHAPES)
        self.name = only or self.draw.choice(NAMES)
        if only is None and self.draw.random() < 0.12:
            self.in_place()
        else:
            self.call()

    def fresh(self, text):
        name = f"x{len(self.names)}"
        self.names.append(name)
        self.lines.append(f"{name} = {text}")
        return name

    def kind(self):
        return self.draw.choice(KINDS)

    def part_of(self, shape):
        """A shape that broadcasts to this one."""
        few = shape[self.draw.randrange(len(shape) + 1) :] if self.draw.random() < 0.3 else shape
        return tuple(1 if self.draw.random() < 0.15 else n for n in few)

    def array(self, shape, kind=None):
        """The text of an array of the shape, however it lies."""
        draw, kind = self.draw, kind or self.kind()

        def made(shape):
            return f"A({kind!r}, {tuple(shape)}, {next(self.salt)})"

        way = draw.choice("plain plain F reversed steps turned broadcast pending shifted cast".split())
        if not shape or way == "plain":
            return self.fresh(made(shape))
        if way == "F":
            return self.fresh(made(shape[::-1])) + ".T"
        if way == "reversed":
            return self.fresh(made(shape)) + "[::-1]"
        if way == "steps":
            return self.fresh(made((*shape[:-1], shape[-1] * 2))) + "[..., ::2]"
        if way == "turned" and len(shape) > 1:
            return self.fresh(made((*shape[:-2], shape[-1], shape[-2]))) + ".swapaxes(-1, -2)"
        if way == "broadcast":
            thin = tuple(1 if draw.random() < 0.5 else n for n in shape)
            return f"m.broadcast_to({self.fresh(made(thin))}, {shape})"
        if way == "pending":
            return self.fresh(f"m.where(A('bool', {shape}, {next(self.salt)}), {made(shape)}, {made(shape)})")
        if way == "cast":
            return self.fresh(f"{made(shape)}.astype({self.kind()!r})")
        if way == "shifted":
            return self.fresh(made((shape[0] + 1, *shape[1:]))) + "[1:]"
        return self.fresh(made(shape))

    def operand(self):
        draw = self.draw
        sort = draw.random()
        if sort < 0.62:
            return self.array(self.part_of(self.shape))
        if sort < 0.70:
            return draw.choice(
                [
                    "True",
                    "False",
                    "0",
                    "1",
                    "-1",
                    "2",
                    "3",
                    "100",
                    "300",
                    "-129",
                    "70000",
                    "2**31",
                    "2**40",
                    "2**63",
                    "-2**63",
                    "2**70",
                ]
            )
        if sort < 0.76:
            return draw.choice(REAL)
        if sort < 0.79:
            return draw.choice(["1j", "2+0.5j", "0j"])
        if sort < 0.86:
            return f"np.{self.kind()}({draw.choice([0, 1, 2, 3, 100])})".replace("np.bool(", "np.bool_(")
        if sort < 0.91:
            return f"A({self.kind()!r}, (), {next(self.salt)})"
        if sort < 0.96:
            return f"A({self.kind()!r}, (3,), {next(self.salt)})[{draw.randrange(3)}]"
        n = self.shape[-1] if self.shape else 1
        return repr([draw.choice([0, 1, 2, -3, 0.5, True]) for _ in range(n if draw.random() < 0.9 else 1)])

    def mask(self):
        sort = self.draw.random()
        if sort < 0.1:
            return self.draw.choice(["True", "False", "A('bool', (), 3)", "A('int8', (), 3)", "np.True_"])
        return self.array(self.part_of(self.shape), "bool" if sort < 0.95 else None)

    def target(self, operands):
        draw = self.draw
        sort = draw.random()
        whole = [o for o in operands if o.startswith("x")]
        if sort < 0.25 and whole:
            self.reads_itself = True
            return draw.choice(whole)
        if sort < 0.4 and self.names and self.shape:
            n = self.shape[0]
            name = self.fresh(f"A({self.kind()!r}, {(n + 1, *self.shape[1:])}, {next(self.salt)})")
            self.reads_itself = True
            operands[draw.randrange(len(operands))] = f"{name}[1:]" if draw.random() < 0.5 else f"{name}[1:][::-1]"
            return f"{name}[:-1]"
        if sort < 0.47:
            return self.array((2, *self.shape))
        if sort < 0.5:
            return self.array((7, 2))
        return self.array(self.shape)

    def call(self):
        draw, ufunc = self.draw, getattr(np, self.name)
        operands = [self.operand() for _ in range(ufunc.nin)]
        words = []
        if draw.random() < 0.45:
            outs = [self.target(operands) if draw.random() < 0.8 else "None" for _ in range(ufunc.nout)]
            words.append(f"out=({', '.join(outs)},)" if ufunc.nout > 1 or draw.random() < 0.3 else f"out={outs[0]}")
        if draw.random() < 0.3 and self.name not in COMPARISONS:
            self.masked = True
            words.append(f"where={self.mask()}")
            if draw.random() < 0.95 and not words[0].startswith("out"):
                words.append(
                    f"out={self.target(operands)}"
                    if ufunc.nout == 1
                    else f"out=({self.target(operands)}, {self.target(operands)})"
                )
        if draw.random() < 0.3:
            words.append(f"casting={draw.choice(CASTINGS)!r}")
        if draw.random() < 0.25:
            words.append(f"dtype={self.kind()!r}")
        if draw.random() < 0.1:
            words.append(f"order={draw.choice('CFK')!r}")
        if draw.random() < 0.05:
            words.append("subok=False")
        self.lines.append(f"result = m.{self.name}({', '.join(operands + words)})")

    def in_place(self):
        draw = self.draw
        left = self.array(self.shape)
        right = self.operand()
        if draw.random() < 0.3 and self.shape:
            name = self.fresh(f"A({self.kind()!r}, {(self.shape[0] + 1, *self.shape[1:])}, {next(self.salt)})")
            left, right = draw.sample([f"{name}[1:]", f"{name}[:-1]", f"{name}[1:][::-1]"], 2)
        self.name = draw.choice(OPERATORS)
        self.lines.append(f"result = {left}")
        self.lines.append(f"result {self.name} {right}")


def run(call, m):
    """(what it left: name -> array, the error's type, the categories of warnings)."""
    scope = {"m": m, "np": np, "A": lambda kind, shape, salt: m.asarray(values(kind, shape, salt).copy())}
    error = None
    with warnings.catch_warnings(record=True) as caught, np.errstate(all="ignore"):
        warnings.simplefilter("always")
        try:
            for line in call.lines:
                exec(line, scope)
        except Exception as e:
            error = next(t.__name__ for t in type(e).__mro__ if t.__module__ == "builtins")
            scope["said"] = str(e)
    return scope, error, sorted({w.category.__name__ for w in caught} - {"RuntimeWarning"})


def same(want, got, loose, text):
    if want.dtype.kind not in "fc":
        return np.array_equal(want, got)
    if np.array_equal(want, got, equal_nan=True):
        return True
    if not loose:
        return False
    types = [want.dtype, *(k for k in KINDS if f"'{k}'" in text and k[0] in "fc")]
    types += [FLOAT_OF[k] for k in FLOAT_OF if f"'{k}'" in text]
    near = (300 if want.dtype.kind == "c" else 6) * max(np.finfo(t).eps for t in types)  # complex powers are products
    with np.errstate(all="ignore"):
        return np.allclose(got, want, rtol=near, atol=near, equal_nan=True)


def is_named(call, error, failed):
    """Does docs/numpy.md say so?"""
    last = call.lines[-1]
    if failed == "OverflowError" and "2**70" in last:
        return True
    if "equiv" in last and error == "TypeError":
        return True  # Python's numbers as with "no"
    if error == "OverflowError" and "2**63" in last and (call.name.startswith("logical_") or call.name in COMPARISONS):
        return True
    return error is not None and failed is not None and ("where=" in last or error == "OverflowError")  # two faults


def difference(seed, only=None):
    """None, or what was called and what came of it, there and here."""
    call = Call(seed, only)
    (theirs, error, warned), (ours, failed, told) = run(call, np), run(call, tt)
    words = f"{seed}: " + "; ".join(call.lines)
    if error != failed and not is_named(call, error, failed):
        return f"{words}\n  NumPy {error} {theirs.get('said', '')}\n  ours  {failed} {ours.get('said', '')}"
    if error != failed or (error and call.name in ("**=", "power", "pow")):
        return None
    if not error and warned != told and warned != ["ComplexWarning"]:
        return f"{words}\n  NumPy warns {warned}\n  ours  {told}"
    for name in [*call.names, "result"]:
        if name in theirs and (text := unlike(call, name, theirs[name], ours[name])):
            return f"{words}\n  {text}"
    return None


def unlike(call, name, want, got):
    """How one value differs."""
    if isinstance(want, tuple):
        return next((text for w, g in zip(want, got, strict=True) if (text := unlike(call, name, w, g))), None)
    last = call.lines[-1]
    if name == "result" and call.masked and ("None" in last or "out=" not in last):
        return None  # what was there before
    if call.masked and call.reads_itself:
        return None  # NumPy casts what the mask leaves out to the loop's type and back
    if not hasattr(want, "dtype"):
        return None
    if str(want.dtype) != str(got.dtype) or want.shape != got.shape:
        return f"{name}: NumPy {want.dtype}{want.shape}\n  ours  {got.dtype}{got.shape}"
    got = got.numpy()
    if same(want, got, call.name in LOOSE or call.name in OPERATORS, "".join(call.lines)):
        return None
    w, g = np.atleast_1d(want), np.atleast_1d(got)
    at = np.nonzero((w != g) & ~((w != w) & (g != g)))
    return f"{name} at {at[0][:3]}: NumPy {w[at][:3]}\n  ours  {g[at][:3]}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("first", type=int)
    parser.add_argument("count", type=int)
    parser.add_argument("--only")
    args = parser.parse_args()
    found = 0
    for seed in range(args.first, args.first + args.count) if args.count else itertools.count(args.first):
        if text := difference(seed, args.only):
            found += 1
            print(text, flush=True)
    print(f"{found} of {args.count} calls differ")
    return found > 0


if __name__ == "__main__":
    sys.exit(main())
