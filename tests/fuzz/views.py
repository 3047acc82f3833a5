"""Random steps on views, in NumPy and in tutti side by side: element by element with out=, where= and in place,
reductions, and indices of all kinds. Values are small whole numbers and quarters, so that results are equal to the bit.

    python tests/fuzz/views.py FIRST LAST     seeds to run; each that differs is shown, with its steps
"""

import random
import sys
import traceback
import warnings

import numpy as np
import tutti as tt

TYPES = ["float64", "float64", "float32", "int64", "int32", "int8", "uint8", "uint64", "bool", "complex128"]
SHAPES = [(), (1,), (5,), (8,), (0,), (3, 4), (4, 4), (1, 5), (2, 0, 3), (2, 3, 4), (1, 1), (33,), (5, 1, 3)]
UNARY = ["negative", "absolute", "sqrt", "square", "sign", "floor", "ceil", "rint", "trunc", "positive", "conjugate",
         "logical_not", "invert", "isnan", "isfinite", "signbit", "reciprocal"]  # fmt: skip
BINARY = ["add", "subtract", "multiply", "divide", "floor_divide", "remainder", "fmod", "minimum", "maximum", "fmin",
          "fmax", "less", "less_equal", "equal", "not_equal", "greater", "logical_and", "logical_or", "logical_xor",
          "bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift", "copysign", "hypot",
          "heaviside"]  # fmt: skip
CLOSE = {
    "hypot",
    "sqrt",
    "absolute",
    "nansum",
    "sum",
    "cumsum",
    "cumprod",
    "var",
    "std",
    "mean",
    "nanmean",
    "nanvar",
    "divide",
    "reciprocal",
    "prod",
}
INPLACE = ["__iadd__", "__isub__", "__imul__", "__itruediv__", "__ifloordiv__", "__imod__", "__iand__", "__ior__",
           "__ixor__", "__ilshift__", "__irshift__"]  # fmt: skip
REDUCE = ["sum", "prod", "max", "min", "mean", "any", "all", "argmax", "argmin", "var", "std", "count_nonzero",
          "nansum", "nanmax", "nanmin", "nanmean", "cumsum", "cumprod", "ptp"]  # fmt: skip
REDUCED = tuple(
    f"np.{name}(" for name in [*REDUCE, "fmax", "fmin", "maximum", "minimum"]
)  # which of two equal zeros comes out is nobody's promise


class Same:
    """A value in both."""

    def __init__(self, n, t, text):
        self.n, self.t, self.text = n, t, text


class Program:
    def __init__(self, seed, steps=8):
        self.rng = random.Random(seed)
        self.pool, self.log, self.fresh = [], [], 0
        self.steps = steps

    # ---- values
    def name(self):
        self.fresh += 1
        return f"v{self.fresh}"

    def base(self, shape=None, dtype=None):
        r = self.rng
        shape = r.choice(SHAPES) if shape is None else shape
        dtype = dtype or r.choice(TYPES)
        size = int(np.prod(shape))
        values = [r.randrange(-6, 9) for _ in range(size)]
        if dtype.startswith(("float", "complex")):
            values = [v / 4 if r.random() < 0.5 else v for v in values]
            values = [r.choice([np.nan, np.inf, -np.inf, -0.0]) if r.random() < 0.04 else v for v in values]
        elif dtype.startswith("u"):
            values = [abs(v) for v in values]
        elif dtype == "bool":
            values = [v > 0 for v in values]
        text = self.name()
        n = np.array(values, dtype).reshape(shape)
        if dtype == "complex128" and size:
            n.imag = n.real[..., ::-1] if n.ndim else 2
        self.log.append(f"{text} = np.array({n.tolist()!r}, '{dtype}').reshape({shape})")
        same = Same(n, tt.array(n), text)
        self.pool.append(same)
        if len(self.pool) > 7:
            self.pool.pop(r.randrange(len(self.pool)))
        return same

    def slice_of(self, n):
        r = self.rng
        step = r.choice([None, None, None, -1, 2, -2, 3])
        a, b = (r.choice([None, None, r.randrange(-n - 1, n + 2)]) for _ in range(2))
        return slice(a, b, step)

    def view(self, same=None):
        r = self.rng
        v = same or r.choice(self.pool)
        kind = r.randrange(7)
        if kind == 0 or (v.n.ndim == 0 and kind < 4):
            return v
        if kind <= 3:
            index = tuple(
                r.randrange(-n, n) if n and r.random() < 0.2 else self.slice_of(n)
                for n in v.n.shape[: r.randrange(v.n.ndim) + 1]
            )
            if r.random() < 0.15:
                index = (*index[:1], None, *index[1:])
            if r.random() < 0.1:
                index = (Ellipsis, *index) if len(index) - index.count(None) == v.n.ndim else index
            if isinstance(v.n[index], np.generic):
                index = (*index, Ellipsis)
            return Same(v.n[index], v.t[index], f"{v.text}[{index!r}]")
        if kind == 4:
            return Same(v.n.T, v.t.T, f"{v.text}.T")
        if kind == 5 and v.n.ndim > 1:
            axes = list(range(v.n.ndim))
            r.shuffle(axes)
            return Same(v.n.transpose(axes), v.t.transpose(axes), f"{v.text}.transpose({axes})")
        return v

    def operand(self, shape=None):
        """A view, a stretched one, or a number."""
        r = self.rng
        if r.random() < 0.12:
            x = r.choice([2, -1, 0.5, 3, True, np.float32(1.5), np.int8(2), 1j, 0])
            return Same(x, x, repr(x))
        if shape is not None:
            fits = [v for v in self.pool if fitting(v.n.shape, shape)]
            v = self.view(r.choice(fits)) if fits and r.random() < 0.6 else self.view()
            if not fitting(v.n.shape, shape):
                cut = tuple(n if r.random() < 0.75 else 1 for n in shape)[r.randrange(len(shape) + 1) if shape else 0 :]
                v = self.view(self.base(cut)) if r.random() < 0.3 else self.base(cut)
                if not fitting(v.n.shape, shape):
                    v = self.base(cut)
            if r.random() < 0.15:
                return Same(
                    np.broadcast_to(v.n, shape), tt.broadcast_to(v.t, shape), f"np.broadcast_to({v.text}, {shape})"
                )
            return v
        return self.view()

    # ---- steps
    def run(self):
        r = self.rng
        for _ in range(r.randrange(2, 5)):
            self.base()
        for _ in range(self.steps):
            r.choice(
                [self.elementwise, self.elementwise, self.inplace, self.reduction, self.indexing, self.assignment]
            )()

    def keywords(self, shape, result):
        """out= and where= for an operation with this result."""
        r = self.rng
        kn, kt, text = {}, {}, ""
        if r.random() < 0.6:
            fits = [w for w in (self.view() for _ in range(6)) if w.n.shape == shape and w.n.flags.writeable]
            out = r.choice(fits) if fits and r.random() < 0.7 else self.view_of_shape(shape, result)
            kn["out"], kt["out"], text = out.n, out.t, f", out={out.text}"
            if r.random() < 0.4:
                mask = self.base(shape[r.randrange(len(shape) + 1) if shape else 0 :], "bool")
                kn["where"], kt["where"], text = mask.n, mask.t, text + f", where={mask.text}"
            if r.random() < 0.15:
                kn["casting"] = kt["casting"] = c = r.choice(["unsafe", "safe", "same_kind"])
                text += f", casting='{c}'"
        elif r.random() < 0.15:
            kn["dtype"] = kt["dtype"] = d = r.choice(["float64", "float32", "int64", "complex128"])
            text += f", dtype='{d}'"
        return kn, kt, text

    def view_of_shape(self, shape, dtype):
        r = self.rng
        dtype = str(dtype) if str(dtype) in TYPES and r.random() < 0.7 else None
        wide = tuple(n * 2 for n in shape)
        b = self.base(wide if shape and r.random() < 0.6 else shape, dtype)
        if b.n.shape == shape:
            return b
        index = tuple(r.choice([slice(0, None, 2), slice(None, None, -2), slice(n), slice(n, None)]) for n in shape)
        return Same(b.n[index], b.t[index], f"{b.text}[{index!r}]")

    def elementwise(self):
        r = self.rng
        a = self.operand()
        if r.random() < 0.35:
            name, rest = r.choice(UNARY), []
        else:
            name, rest = r.choice(BINARY), [self.operand(np.shape(a.n))]
        args = [a, *rest]
        if rest and r.random() < 0.3:
            args.reverse()
        if all(np.ndim(x.n) == 0 and not isinstance(x.n, np.ndarray) for x in args):
            args[0] = self.base(())
        shape = np.broadcast_shapes(*(np.shape(x.n) for x in args))
        try:
            with np.errstate(all="ignore"):
                dtype = getattr(np, name)(*(x.n for x in args)).dtype
        except (TypeError, OverflowError):
            dtype = None
        kn, kt, text = self.keywords(shape, dtype)
        meets = "out" in kn and any(np.may_share_memory(kn["out"], x.n) for x in args if isinstance(x.n, np.ndarray))
        if "where" in kn and meets and kn["out"].dtype != dtype:  # NumPy writes where the mask is not, too
            return
        if "where" in kn and any(
            type(x.n) is int and x.n < 0 for x in args
        ):  # NumPy 2.4 crashes at not_equal(-1, uint64)
            return
        call = f"np.{name}({', '.join(x.text for x in args)}{text})"
        self.both(call, name in CLOSE,
                  lambda: getattr(np, name)(*(x.n for x in args), **kn),
                  lambda: getattr(tt, name)(*(x.t for x in args), **kt))  # fmt: skip

    def inplace(self):
        r = self.rng
        a = self.view()
        if isinstance(a.n, np.generic) or not a.n.flags.writeable:
            return
        b, name = self.operand(a.n.shape), r.choice(INPLACE)
        self.both(f"{a.text}.{name}({b.text})", name == "__itruediv__",
                  lambda: getattr(a.n, name)(b.n), lambda: getattr(a.t, name)(b.t))  # fmt: skip

    def reduction(self):
        r = self.rng
        a, name = self.operand(), r.choice(REDUCE)
        if not isinstance(a.n, np.ndarray):
            return
        k = {}
        if a.n.ndim:
            axis = r.choice([None, r.randrange(-a.n.ndim, a.n.ndim)])
            several = name not in ("argmax", "argmin", "cumsum", "cumprod")
            if several and r.random() < 0.25:
                axis = tuple(r.sample(range(a.n.ndim), r.randrange(a.n.ndim + 1)))
            if axis is not None or r.random() < 0.3:
                k["axis"] = axis
        if name not in ("cumsum", "cumprod") and r.random() < 0.3:
            k["keepdims"] = True
        kn, kt = dict(k), dict(k)
        if name in ("sum", "prod", "max", "min") and r.random() < 0.35:
            kn["initial"] = kt["initial"] = r.choice([0, 1, 3, -2, 2.5])
        if name in ("sum", "prod", "max", "min", "mean", "any", "all", "var", "std") and r.random() < 0.3:
            mask = self.base(a.n.shape[r.randrange(a.n.ndim + 1) if a.n.ndim else 0 :], "bool")
            kn["where"], kt["where"] = mask.n, mask.t
        if name in ("sum", "prod", "mean", "cumsum") and r.random() < 0.2:
            kn["dtype"] = kt["dtype"] = r.choice(["float64", "int64", "complex128"])
        words = ", ".join(f"{w}={v if w != 'where' else mask.text!s}" for w, v in kn.items())
        self.both(f"np.{name}({a.text}, {words})", name in CLOSE,
                  lambda: getattr(np, name)(a.n, **kn), lambda: getattr(tt, name)(a.t, **kt))  # fmt: skip

    def index(self, shape):
        """An index of any kind: (NumPy's, tutti's, text)."""
        r = self.rng
        n_side, t_side, parts = [], [], []
        axes, at = list(shape), 0
        if axes and r.random() < 0.2:
            mask = self.base(tuple(shape[: r.randrange(1, len(shape) + 1)]), "bool")
            n_side.append(mask.n), t_side.append(mask.t), parts.append(mask.text)
            at = mask.n.ndim
        common = r.choice([(2,), (3,), (2, 3), (1,), (0,), (4,), ()])
        end = r.randrange(at, len(axes) + 1) if axes else 0
        for k in range(at, end):
            kind, size = r.randrange(8), axes[k]
            if kind < 3:
                s = self.slice_of(size)
                both = (s, s, repr(s))
            elif kind == 3 and size:
                i = r.randrange(-size, size)
                both = (i, i, repr(i))
            elif kind == 4 and r.random() < 0.5:
                both = (None, None, "None")
                n_side.append(None), t_side.append(None), parts.append("None")
                s = slice(None)
                both = (s, s, repr(s))
            elif kind == 5 and size:
                mask = self.base((size,), "bool")
                both = (mask.n, mask.t, mask.text)
            elif size:
                shape_of = tuple(c if r.random() < 0.8 else 1 for c in common)
                i = np.array([r.randrange(-size, size) for _ in range(int(np.prod(shape_of)))], "int64").reshape(
                    shape_of
                )
                both = (
                    i,
                    tt.array(i) if r.random() < 0.5 else i,
                    f"np.array({i.tolist()!r}, 'int64').reshape({shape_of})",
                )
                if i.ndim == 1 and i.size and r.random() < 0.3:
                    both = (i.tolist(), i.tolist(), repr(i.tolist()))
            else:
                s = slice(None)
                both = (s, s, repr(s))
            n_side.append(both[0]), t_side.append(both[1]), parts.append(both[2])
        if r.random() < 0.2:
            where = r.randrange(len(n_side) + 1)
            n_side.insert(where, Ellipsis), t_side.insert(where, Ellipsis), parts.insert(where, "...")
        return tuple(n_side), tuple(t_side), f"({', '.join(parts)},)" if parts else "()"

    def indexing(self):
        a = self.operand()
        if not isinstance(a.n, np.ndarray):
            return
        n, t, text = self.index(a.n.shape)
        self.both(f"{a.text}[{text}]", False, lambda: a.n[n], lambda: a.t[t])

    def assignment(self):
        a = self.view()
        if isinstance(a.n, np.generic) or not a.n.flags.writeable:
            return
        n, t, text = self.index(a.n.shape)
        try:
            shape = a.n[n].shape
        except (IndexError, ValueError):
            shape = ()
        parts = [x for x in n if isinstance(x, (np.ndarray, list))]
        value = self.operand(shape)
        if any(repeats(x) for x in parts) and np.ndim(value.n):
            value = Same(3, 3, "3")  # which of several comes last is nobody's promise
        if any(x.dtype == bool for x in parts if isinstance(x, np.ndarray)) and np.may_share_memory(a.n, value.n):
            return  # NumPy does not copy first
        self.both(f"{a.text}.__setitem__({text}, {value.text})", False,
                  lambda: a.n.__setitem__(n, value.n), lambda: a.t.__setitem__(t, value.t))  # fmt: skip

    # ---- comparing
    def both(self, text, close, numpy, tutti):
        self.log.append(text)
        want = got = wrong = failure = None
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                want = numpy()
            except Exception as error:
                wrong = error
            try:
                got = tutti()
                if isinstance(got, tt.ndarray):
                    got.numpy()
            except Exception as error:
                failure = error
            if wrong is not None or failure is not None:
                if not alike(wrong, failure):
                    raise Differs(f"NumPy: {wrong!r}; here: {failure!r}") from failure
            else:
                self.compare(want, got, close, "the result", signs=not text.startswith(REDUCED))
            signs = not text.startswith(REDUCED)
            for v in self.pool:
                self.compare(v.n, v.t, close, v.text, signs)
                if (close or not signs) and isinstance(v.t, tt.ndarray):
                    v.t[...] = v.n

    def compare(self, want, got, close, what, signs=True):
        if want is NotImplemented or want is None:
            return
        got = got.numpy() if isinstance(got, tt.ndarray) else np.asarray(got)
        want = np.asarray(want)
        if want.shape != got.shape or want.dtype != got.dtype:
            raise Differs(f"{what}: {want.dtype}{want.shape} in NumPy, {got.dtype}{got.shape} here")
        if close:
            ok = np.allclose(got, want, rtol=1e-6 if want.dtype == np.float32 else 1e-12, atol=1e-12, equal_nan=True)
        else:
            ok = np.array_equal(got, want, equal_nan=want.dtype.kind in "fc")
            if ok and want.dtype.kind == "f" and signs:
                ok = np.array_equal(np.signbit(got) & ~np.isnan(got), np.signbit(want) & ~np.isnan(want))
        if not ok:
            raise Differs(f"{what}:\n{want!r} in NumPy\n{got!r} here")


class Differs(AssertionError):
    pass


def alike(a, b):
    """Errors of the same kind; NumPy has classes of its own below Python's."""
    kinds = (TypeError, ValueError, IndexError, OverflowError, ZeroDivisionError, NotImplementedError)
    if isinstance(a, OverflowError) and b is not None:  # two things are wrong: either may be told of
        return True
    return any(isinstance(a, k) and isinstance(b, k) for k in kinds)


def fitting(small, large):
    return len(small) <= len(large) and all(a in (1, b) for a, b in zip(small[::-1], large[::-1], strict=False))


def repeats(index):
    index = np.asarray(index)
    return index.dtype != bool


def run(seed):
    p = Program(seed)
    try:
        p.run()
    except Differs as error:
        raise Differs(f"seed {seed}\n" + "\n".join(p.log) + f"\n{error}") from error.__cause__


if __name__ == "__main__":
    for number in range(int(sys.argv[1]), int(sys.argv[2])):
        try:
            run(number)
        except Differs as difference:
            print(difference, "\n", flush=True)
        except Exception:
            print(f"seed {number}")
            traceback.print_exc(file=sys.stdout)
