"""Random kernels in OpenCL C, each with what NumPy says of it: vectors, their components, conversions, local memory.

A value is an array of (work-items, components). Floats stay small whole numbers, so that no sum and no product rounds.
"""

import numpy as np

ITEMS, GROUP = 64, 16
TYPES = {
    "char": "i1", "uchar": "u1", "short": "i2", "ushort": "u2", "int": "i4", "uint": "u4", "long": "i8", "ulong": "u8",
    "float": "f4",
}  # fmt: skip
WIDTHS = (1, 2, 3, 4, 8, 16)
SIGNED = {"char": "char", "uchar": "char", "short": "short", "ushort": "short", "int": "int", "uint": "int"}
SIGNED |= {"long": "long", "ulong": "long", "float": "int"}


class Value:
    def __init__(self, base, text, data):
        self.base, self.text, self.data = base, text, np.ascontiguousarray(data, TYPES[base])

    @property
    def width(self):
        return self.data.shape[1]

    @property
    def type(self):
        return self.base + ("" if self.width == 1 else str(self.width))


def components(rng, chosen, width):
    letters = "xyzw"
    if width <= 4 and rng.random() < 0.7:
        return "".join(letters[k] for k in chosen)
    digits = "0123456789abcdef" if rng.random() < 0.5 else "0123456789ABCDEF"
    return "s" + "".join(digits[k] for k in chosen)


class Program:
    def __init__(self, seed, steps=24):
        self.rng = np.random.default_rng(seed)
        self.lines, self.values, self.inputs, self.outputs = [], [], [], []
        self.tiles = 0
        for _ in range(6):
            self.add_input()
        for _ in range(steps):
            self.step()
        for value in self.values[-10:]:
            self.add_output(value)

    def pick(self, *items):
        return items[self.rng.integers(len(items))]

    def name(self, base, text, data):
        """A variable with that value."""
        value = Value(base, f"v{len(self.values)}", data)
        self.lines.append(f"{value.type} {value.text} = {text};")
        self.values.append(value)
        return value

    def number(self, base, shape):
        if base == "float":
            return self.rng.integers(-8, 9, shape).astype("f4")
        info = np.iinfo(TYPES[base])
        return self.rng.integers(info.min, info.max, shape, dtype=TYPES[base], endpoint=True)

    def add_input(self):
        base, width = self.pick(*TYPES), self.pick(*WIDTHS)
        data, k = self.number(base, (ITEMS, width)), len(self.inputs)
        self.inputs.append((base, data))
        if width == 1 or width == 3 or self.rng.random() < 0.5:
            self.name(base, f"vload{width}(i, p{k})" if width > 1 else f"p{k}[i]", data)
        else:
            self.name(base, f"((__global const {base}{width} *)p{k})[i]", data)

    def add_output(self, value):
        k, width = len(self.outputs), value.width
        self.outputs.append((value.base, value.data))
        self.lines.append(f"vstore{width}({value.text}, i, q{k});" if width > 1 else f"q{k}[i] = {value.text};")

    def vector(self, least=2):
        return self.pick(*[v for v in self.values if v.width >= least] or [self.widened(self.values[0])])

    def widened(self, value):
        return self.name(value.base, f"({value.base}4)({value.text})", np.repeat(value.data[:, :1], 4, 1))

    def like(self, value):
        """Another value of the type, made if there is none."""
        same = [v for v in self.values if v.type == value.type and v is not value]
        if same and self.rng.random() < 0.8:
            return self.pick(*same)
        number = self.number(value.base, ())
        width = "" if value.width == 1 else value.width
        data = np.broadcast_to(number, value.data.shape)
        return self.name(value.base, f"({value.base}{width})({literal(value.base, number)})", data)

    def step(self):
        steps = [self.arithmetic, self.compare, self.swizzle, self.assign, self.part, self.literal, self.convert]
        steps += [self.again, self.choose, self.function, self.tile, self.shift]
        with np.errstate(all="ignore"):
            self.pick(*steps)()

    def keep_small(self, base, text, data):
        if base == "float" and np.abs(data).max() > 1 << 12:
            return self.name(base, "0" if data.shape[1] == 1 else f"({base}{data.shape[1]})(0)", np.zeros_like(data))
        return self.name(base, text, data)

    def arithmetic(self):
        a = self.pick(*self.values)
        b = self.like(a)
        op = self.pick("+", "-", "*") if a.base == "float" else self.pick("+", "-", "*", "&", "|", "^")
        f = {"+": np.add, "-": np.subtract, "*": np.multiply, "&": np.bitwise_and, "|": np.bitwise_or}
        data = f.get(op, np.bitwise_xor)(a.data, b.data)
        text = f"{a.text} {op} {b.text}"
        if a.width == 1 and a.base != "float":  # a scalar with a sign must not overflow, a vector may
            text = f"({a.base})((ulong){a.text} {op} (ulong){b.text})"
        self.keep_small(a.base, text, data)

    def compare(self):
        a = self.vector()
        b = self.like(a)
        op = self.pick("<", "<=", ">", ">=", "==", "!=")
        f = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal, "==": np.equal}
        truth = f.get(op, np.not_equal)(a.data, b.data)
        self.name(SIGNED[a.base], f"{a.text} {op} {b.text}", -truth.astype("i8"))

    def swizzle(self):
        a = self.vector()
        width = self.pick(*WIDTHS)
        chosen = self.rng.integers(0, a.width, width)
        self.name(a.base, f"{a.text}.{components(self.rng, chosen, a.width)}", a.data[:, chosen])

    def assign(self):
        a = self.vector()
        b = self.name(a.base, a.text, a.data)
        width = self.pick(*[w for w in WIDTHS if w <= a.width])
        chosen = self.rng.permutation(a.width)[:width]
        value = self.number(a.base, (width,))
        parts = ", ".join(literal(a.base, x) for x in value)
        right = f"({a.base}{width})({parts})" if width > 1 else parts
        self.lines.append(f"{b.text}.{components(self.rng, chosen, a.width)} = {right};")
        b.data = b.data.copy()
        b.data[:, chosen] = value

    def part(self):
        a = self.pick(*[v for v in self.values if v.width in (2, 4, 8, 16)] or [self.widened(self.values[0])])
        half = a.width // 2
        which = self.pick("lo", "hi", "even", "odd")
        cut = {"lo": a.data[:, :half], "hi": a.data[:, half:], "even": a.data[:, ::2], "odd": a.data[:, 1::2]}[which]
        self.name(a.base, f"{a.text}.{which}", cut)

    def literal(self):
        width = self.pick(2, 3, 4, 8, 16)
        a = self.pick(*self.values)
        parts, columns, left = [], [], width
        while left:
            fits = [v for v in self.values if v.base == a.base and v.width <= left]
            if fits and self.rng.random() < 0.7:
                v = self.pick(*fits)
                parts.append(v.text)
                columns.append(v.data)
                left -= v.width
            else:
                number = self.number(a.base, ())
                parts.append(literal(a.base, number))
                columns.append(np.broadcast_to(number, (ITEMS, 1)))
                left -= 1
        self.name(a.base, f"({a.base}{width})({', '.join(parts)})", np.concatenate(columns, 1))

    def convert(self):
        a = self.pick(*self.values)
        base = self.pick(*[t for t in TYPES if t != "float"], *(["float"] if TYPES[a.base] in ("i1", "u1") else []))
        wide = a.data.astype(object) if a.base != "float" else a.data.astype("i8").astype(object)
        width = "" if a.width == 1 else a.width
        if base == "float":
            self.keep_small(base, f"convert_float{width}({a.text})", a.data.astype("f4"))
            return
        info = np.iinfo(TYPES[base])
        if a.base == "float" or self.rng.random() < 0.6:
            mode = self.pick("", "_rte", "_rtz") if a.base == "float" else ""
            data = np.clip(wide, int(info.min), int(info.max)).astype(TYPES[base])
            self.name(base, f"convert_{base}{width}_sat{mode}({a.text})", data)
        else:
            self.name(base, f"convert_{base}{width}({a.text})", a.data.astype(TYPES[base]))

    def again(self):
        """The same bits as another type."""
        a = self.pick(*[v for v in self.values if v.width != 3])
        total = a.data.itemsize * a.width
        fits = [(b, w) for b, t in TYPES.items() for w in (1, 2, 4, 8, 16) if np.dtype(t).itemsize * w == total]
        base, width = self.pick(*[f for f in fits if f[0] != "float"])
        data = a.data.view(TYPES[base]).reshape(ITEMS, width)
        self.name(base, f"as_{base}{'' if width == 1 else width}({a.text})", data)

    def choose(self):
        a = self.vector()
        b = self.like(a)
        c = self.like(a)
        truth = a.data < c.data
        if self.rng.random() < 0.5:
            self.name(a.base, f"({a.text} < {c.text}) ? {a.text} : {b.text}", np.where(truth, a.data, b.data))
        else:
            self.name(a.base, f"select({b.text}, {a.text}, {a.text} < {c.text})", np.where(truth, a.data, b.data))

    def function(self):
        a = self.pick(*self.values)
        b = self.like(a)
        c = self.like(a)
        low, top = np.minimum(b.data, c.data), np.maximum(b.data, c.data)
        which = self.pick("min", "max", "clamp", "sum")
        if which == "clamp":
            text = f"clamp({a.text}, min({b.text}, {c.text}), max({b.text}, {c.text}))"
            self.name(a.base, text, np.clip(a.data, low, top))
        elif which == "sum" and a.base != "float":
            self.name(a.base, f"add_sat({a.text}, {b.text})", saturated(a, b))
        elif which == "sum" and a.width in (2, 3, 4):
            self.keep_small("float", f"dot({a.text}, {b.text})", (a.data * b.data).sum(1, keepdims=True))
        else:
            f = np.minimum if which == "min" else np.maximum
            self.name(a.base, f"{'min' if which == 'min' else 'max'}({a.text}, {b.text})", f(a.data, b.data))

    def shift(self):
        a = self.pick(*[v for v in self.values if v.base != "float"] or [self.again() or self.values[-1]])
        bits = a.data.itemsize * 8
        by = int(self.rng.integers(0, bits))
        op = self.pick("<<", ">>", "rotate")
        unsigned = a.data.view("u" + TYPES[a.base][1:])
        if op == "rotate":
            turned = (unsigned << np.array(by, unsigned.dtype)) | (
                unsigned >> np.array((bits - by) % bits, unsigned.dtype)
            )
            self.name(a.base, f"rotate({a.text}, ({a.type})({by}))", turned.view(TYPES[a.base]) if by else a.data)
        else:
            f = np.left_shift if op == "<<" else np.right_shift
            text = f"{a.text} {op} ({a.type})({by})"
            self.name(a.base, text if a.width > 1 else f"({a.base})({text})", f(a.data, np.array(by, a.data.dtype)))

    def tile(self):
        """Work-items of a group read what others wrote."""
        if self.tiles == 4:
            return
        a = self.pick(*self.values)
        by = int(self.rng.integers(1, GROUP))
        t = f"t{self.tiles}"
        self.tiles += 1
        self.lines.append(f"__local {a.type} {t}[{GROUP}]; {t}[l] = {a.text}; barrier(CLK_LOCAL_MEM_FENCE);")
        groups = a.data.reshape(-1, GROUP, a.width)
        self.name(a.base, f"{t}[(l + {by}) % {GROUP}]", np.roll(groups, -by, 1).reshape(a.data.shape))

    def source(self):
        inputs = [f"__global const {base} *p{k}" for k, (base, _) in enumerate(self.inputs)]
        outputs = [f"__global {base} *q{k}" for k, (base, _) in enumerate(self.outputs)]
        body = "\n  ".join(["int i = get_global_id(0), l = get_local_id(0);", *self.lines])
        return f"__kernel void k({', '.join(inputs + outputs)}) {{\n  {body}\n}}\n"


def saturated(a, b):
    info = np.iinfo(TYPES[a.base])
    return np.clip(a.data.astype(object) + b.data.astype(object), int(info.min), int(info.max)).astype(TYPES[a.base])


def literal(base, number):
    if base == "float":
        return f"{float(number):.1f}f"
    number = int(number)
    if base == "ulong":
        return f"{number}ul"
    if base == "long":
        return f"({number + 1}l - 1)" if number < 0 else f"{number}l"
    if base == "uint":
        return f"{number}u"
    return f"(int)({number + 1} - 1)" if number < 0 else str(number)
