"""Random kernels as CUDA C texts, beside what they mean: the same steps over Python's whole numbers, under C's rules.

Integers of every width, shifts, conversions, structures, shared memory, barriers in loops, warp shuffles, votes, device
functions and early returns. Nothing that C leaves open: signed sums go through unsigned types, shifts stay below the
width, divisors are positive, and other threads' cells are read across a barrier only.
"""

import random

TYPES = {
    "signed char": (8, True), "unsigned char": (8, False), "short": (16, True), "unsigned short": (16, False),
    "int": (32, True), "unsigned": (32, False), "long long": (64, True), "unsigned long long": (64, False),
}  # fmt: skip
UNSIGNED = {"int": "unsigned", "unsigned": "unsigned", "long long": "unsigned long long"}
UNSIGNED["unsigned long long"] = "unsigned long long"
WARP = 32


def wrap(kind, x):
    """A whole number as the type holds it."""
    bits, is_signed = TYPES[kind]
    x &= (1 << bits) - 1
    return x - (1 << bits) if is_signed and x >> (bits - 1) else x


def promoted(kind):
    return "int" if TYPES[kind][0] < 32 else kind


def common(a, b):
    """The type in which C works on two."""
    a, b = promoted(a), promoted(b)
    if a == b:
        return a
    wide = max((a, b), key=lambda k: (TYPES[k][0], not TYPES[k][1]))
    return wide


class Thread:
    """What a thread of the model knows: its variables, and whether it is still there."""

    def __init__(self, place, block):
        self.place, self.block, self.here, self.variables = place, block, True, {}


class Expression:
    """A piece of text with its type, and its value for a thread."""

    def __init__(self, text, kind, value):
        self.text, self.kind, self.value = text, kind, value


def converted(e, kind):
    return Expression(f"(({kind}){e.text})", kind, lambda t: wrap(kind, e.value(t)))


class Writer:
    """A random kernel: `text`, and `run(inputs, block, grid)`, what it leaves in the output."""

    def __init__(self, seed, name):
        self.rng, self.name, self.count = random.Random(seed), name, 0
        self.known = [("i", "int"), ("x", self.kind()), ("n", "int")]
        self.fields = [(f"f{k}", self.kind()) for k in range(3)]
        self.cell = self.kind()
        self.in_kind = self.known[1][1]
        self.steps, lines = [], []
        self.helper = self.function()
        for _ in range(self.rng.randint(6, 10)):
            line, step = self.statement()
            lines.append(line)
            self.steps.append(step)
        if self.rng.random() < 0.5:
            lines.append(self.early(self.steps))
            for _ in range(self.rng.randint(1, 4)):
                line, step = self.plain() if self.rng.random() < 0.7 else self.exchange()
                lines.append(line)
                self.steps.append(step)
        last = self.mixed()
        self.steps.append(self.storing(last))
        self.text = self.whole(lines, last)

    def kind(self):
        return self.rng.choice(list(TYPES))

    # ---- expressions

    def leaf(self):
        if self.rng.random() < 0.25:
            kind = self.rng.choice(["int", "unsigned", "long long", "unsigned long long"])
            x = self.rng.choice([0, 1, 2, 7, 31, 127, 255, 32768, 65535, 2**31 - 1, self.rng.randrange(2**31)])
            ending = {"int": "", "unsigned": "u", "long long": "ll", "unsigned long long": "ull"}[kind]
            return Expression(f"{x}{ending}", kind, lambda t: x)
        name, kind = self.rng.choice(self.known)
        return Expression(name, kind, lambda t: t.variables[name])

    def expression(self, depth=0):
        r = self.rng.random()
        if depth > 3 or r < 0.2:
            return self.leaf()
        if r < 0.3:
            return converted(self.expression(depth + 1), self.kind())
        if r < 0.4:
            return self.one(self.expression(depth + 1))
        if r < 0.5:
            return self.choice(depth)
        if r < 0.58:
            return self.counted(self.expression(depth + 1))
        if r < 0.63 and depth:
            return self.call(depth)
        return self.two(self.expression(depth + 1), self.expression(depth + 1))

    def one(self, a):
        kind = promoted(a.kind)
        if self.rng.random() < 0.5:
            return Expression(f"(~{a.text})", kind, lambda t: wrap(kind, ~a.value(t)))
        plain = UNSIGNED[kind]
        return Expression(f"(({kind})(0 - ({plain}){a.text}))", kind, lambda t: wrap(kind, -a.value(t)))

    def choice(self, depth):
        a, b = self.expression(depth + 1), self.expression(depth + 1)
        way, how = self.condition(depth)
        kind = common(a.kind, b.kind)
        return Expression(
            f"({way} ? {a.text} : {b.text})", kind, lambda t: wrap(kind, a.value(t) if how(t) else b.value(t))
        )

    def condition(self, depth=0):
        """(text, truth) of a comparison."""
        a, b = self.expression(depth + 1), self.expression(depth + 1)
        kind, sign = common(a.kind, b.kind), self.rng.choice(["<", "<=", ">", "==", "!="])

        def truth(t):
            x, y = wrap(kind, a.value(t)), wrap(kind, b.value(t))
            return {"<": x < y, "<=": x <= y, ">": x > y, "==": x == y, "!=": x != y}[sign]

        return f"({a.text} {sign} {b.text})", truth

    def counted(self, a):
        """CUDA's functions of bits."""
        name = self.rng.choice(["__popc", "__popcll", "__clz", "__clzll", "__ffs", "__brev"])
        bits = 64 if name.endswith("ll") else 32

        def value(t):
            x = a.value(t) & ((1 << bits) - 1)
            if name.startswith("__popc"):
                return x.bit_count()
            if name.startswith("__clz"):
                return bits - x.bit_length()
            return (x & -x).bit_length() if name == "__ffs" else int(f"{x:032b}"[::-1], 2)

        return Expression(f"{name}({a.text})", "unsigned" if name == "__brev" else "int", value)

    def two(self, a, b):
        sign = self.rng.choice(["+", "-", "*", "&", "|", "^", "<<", ">>", "/", "%"])
        if sign in ("<<", ">>"):
            return self.shift(sign, a, b)
        kind = common(a.kind, b.kind)
        if sign in "/%":
            return self.division(sign, kind, a, b)
        how = {
            "+": int.__add__, "-": int.__sub__, "*": int.__mul__, "&": int.__and__, "|": int.__or__, "^": int.__xor__,
        }[sign]  # fmt: skip
        plain = UNSIGNED[kind]
        text = f"({a.text} {sign} {b.text})"
        if sign in "+-*":
            text = f"(({kind})(({plain}){a.text} {sign} ({plain}){b.text}))"
        return Expression(text, kind, lambda t: wrap(kind, how(wrap(kind, a.value(t)), wrap(kind, b.value(t)))))

    def shift(self, sign, a, b):
        kind = promoted(a.kind)
        most = TYPES[kind][0] - 1
        if sign == "<<":
            text = f"(({kind})(({UNSIGNED[kind]}){a.text} << (int)({b.text} & {most})))"
            return Expression(text, kind, lambda t: wrap(kind, a.value(t) << (b.value(t) & most)))
        return Expression(f"({a.text} >> (int)({b.text} & {most}))", kind, lambda t: a.value(t) >> (b.value(t) & most))

    @staticmethod
    def division(sign, kind, a, b):
        """By 1 up to 8; the quotient is cut towards zero, and the rest has the sign of what is divided."""

        def value(t):
            x, y = wrap(kind, a.value(t)), (b.value(t) & 7) + 1
            quotient = abs(x) // y * (1 if x >= 0 else -1)
            return quotient if sign == "/" else x - quotient * y

        return Expression(f"(({kind}){a.text} {sign} ({kind})(({b.text} & 7) + 1))", kind, value)

    def function(self):
        """A device function of two parameters: its text, their types, the result's and its value."""
        kinds, result = (self.kind(), self.kind()), self.kind()
        kept, self.known = self.known, [("p", kinds[0]), ("q", kinds[1])]
        self.helper = None
        body = converted(self.expression(1), result)
        self.known = kept
        text = f"__device__ {result} {self.name}_of({kinds[0]} p, {kinds[1]} q) {{ return {body.text}; }}"
        return text, kinds, result, body

    def call(self, depth):
        if self.helper is None:
            return self.leaf()
        _, kinds, result, body = self.helper
        args = [self.expression(depth + 2) for _ in kinds]

        def value(t):
            inner = Thread(t.place, t.block)
            inner.variables = {n: wrap(k, a.value(t)) for n, k, a in zip("pq", kinds, args, strict=True)}
            return body.value(inner)

        return Expression(f"{self.name}_of({args[0].text}, {args[1].text})", result, value)

    # ---- statements: a text, and a step over all threads of a block

    def statement(self, depth=0):
        r = self.rng.random()
        if r < 0.45:
            return self.plain()
        if r < 0.6:
            return self.exchange()
        if r < 0.72:
            return self.shuffle()
        if r < 0.8:
            return self.vote()
        if depth > 1:
            return self.plain()
        return self.loop(depth) if r < 0.92 else self.branch()

    def plain(self):
        r = self.rng.random()
        if r < 0.4:
            return self.declared()
        if r < 0.6:
            place, kind = self.rng.choice(self.fields)
            return self.assigned(f"v.{place}", kind)
        if r < 0.7:
            return self.assigned(f"v.list[{self.rng.randrange(2)}]", self.fields[0][1])
        if r < 0.85:
            return self.assigned("s[t]", self.cell)
        return self.assigned("sum", "unsigned long long")

    def declared(self):
        e, kind, name = self.expression(), self.kind(), f"v{self.count}"
        self.count += 1
        self.known = [*self.known, (name, kind)]
        return f"{kind} {name} = ({kind}){e.text};", self.setting(name, kind, e)

    def assigned(self, place, kind):
        """A store of a value, or a change of what is there."""
        e, sign = self.expression(), self.rng.choice(["", "^", "|", "&"])
        known = {"s[t]": self.cell, "sum": "unsigned long long"}.get(place, kind)
        how = {"": lambda a, b: b, "^": int.__xor__, "|": int.__or__, "&": int.__and__}[sign]

        def step(threads):
            for t in threads:
                if t.here:
                    t.variables[place] = wrap(known, how(t.variables[place], e.value(t)))

        return f"{place} {sign}= ({kind}){e.text};", step

    @staticmethod
    def setting(name, kind, e):
        def step(threads):
            for t in threads:
                if t.here:
                    t.variables[name] = wrap(kind, e.value(t))

        return step

    def exchange(self):
        """Read another thread's cell, between two barriers. A cell is the thread's variable s[t]."""
        by, name, kind = self.rng.randrange(1, 40), f"v{self.count}", self.cell
        self.count += 1
        self.known = [*self.known, (name, kind)]

        def step(threads):
            for k, t in enumerate(threads):
                if t.here:
                    t.variables[name] = threads[(k + by) % len(threads)].variables["s[t]"]

        return f"__syncthreads(); {kind} {name} = s[(t + {by}) % (int)blockDim.x]; __syncthreads();", step

    def shuffle(self):
        kind, name = self.rng.choice(["int", "unsigned", "long long", "unsigned long long"]), f"v{self.count}"
        way, by, e = self.rng.choice(["_xor", "_up", "_down", ""]), self.rng.randrange(32), self.expression(1)
        self.count += 1
        self.known = [*self.known, (name, kind)]

        def step(threads):
            given = [wrap(kind, e.value(t)) for t in threads]
            for k, t in enumerate(threads):
                lane = k % WARP
                other = {"_xor": lane ^ by, "_up": lane - by, "_down": lane + by, "": by}[way]
                t.variables[name] = given[k - lane + (other if 0 <= other < WARP else lane)]

        return f"{kind} {name} = __shfl{way}_sync(0xffffffffu, ({kind}){e.text}, {by});", step

    def vote(self):
        way, truth = self.condition(1)
        name, call = f"v{self.count}", self.rng.choice(["__ballot_sync", "__any_sync", "__all_sync"])
        kind = "unsigned" if call == "__ballot_sync" else "int"
        self.count += 1
        self.known = [*self.known, (name, kind)]

        def step(threads):
            votes = [truth(t) for t in threads]
            for k, t in enumerate(threads):
                warp = votes[k // WARP * WARP : k // WARP * WARP + WARP]
                ballot = sum(1 << j for j, yes in enumerate(warp) if yes)
                t.variables[name] = {"__ballot_sync": ballot, "__any_sync": any(warp), "__all_sync": all(warp)}[
                    call
                ] * 1

        return f"{kind} {name} = {call}(0xffffffffu, {way});", step

    def several(self, depth):
        """A few statements whose names end with them."""
        kept = self.known
        rows = [self.statement(depth + 1) for _ in range(self.rng.randint(2, 4))]
        self.known = kept
        return "\n".join(line for line, _ in rows), [step for _, step in rows]

    def loop(self, depth):
        """A loop of as many turns for all: barriers and shuffles may stand in it."""
        name, turns = f"j{self.count}", self.rng.randint(1, 3)
        self.count += 1
        kept, self.known = self.known, [*self.known, (name, "int")]
        lines, steps = self.several(depth)
        self.known = kept

        def step(threads):
            for turn in range(turns):
                for t in threads:
                    t.variables[name] = turn
                for inner in steps:
                    inner(threads)

        return f"for (int {name} = 0; {name} < {turns}; {name}++) {{\n{lines}\n}}", step

    def branch(self):
        """An if whose statements wait for nobody."""
        way, truth = self.condition()
        kept = self.known
        then = [self.plain() for _ in range(self.rng.randint(1, 3))]
        self.known = kept
        other = [self.plain() for _ in range(self.rng.randint(1, 2))]
        self.known = kept

        def step(threads):
            there = [t for t in threads if t.here]
            yes = [truth(t) for t in there]
            for rows, taken in ((then, True), (other, False)):
                some = [t for t, y in zip(there, yes, strict=True) if y == taken]
                for _, inner in rows:
                    inner(some)

        lines = ["\n".join(line for line, _ in rows) for rows in (then, other)]
        return f"if {way} {{\n{lines[0]}\n}} else {{\n{lines[1]}\n}}", step

    def early(self, steps):
        """Some threads end here; the others go on, and wait at barriers for one another only."""
        way, truth = self.condition()
        last = self.mixed()
        put = self.storing(last)

        def step(threads):
            gone = [t for t in threads if t.here and truth(t)]
            put(gone)
            for t in gone:
                t.here = False

        steps.append(step)
        return f"if {way} {{ o[i] = {last.text}; return; }}"

    def mixed(self):
        """The output of a thread: everything that it has, in one number."""
        parts = ["sum", "s[t]", *(f"v.{f}" for f, _ in self.fields), "v.list[0]", "v.list[1]"]
        parts += [name for name, _ in self.known]
        whole = "unsigned long long"

        def value(t):
            out = 0
            for p in parts:
                out = wrap(whole, out * 31 + t.variables[p])
            return out

        text = "0ull"
        for p in parts:
            text = f"({text} * 31 + ({whole}){p})"
        return Expression(text, whole, value)

    @staticmethod
    def storing(e):
        def step(threads):
            for t in threads:
                if t.here:
                    t.variables["o"] = e.value(t)

        return step

    # ---- the whole

    def whole(self, lines, last):
        fields = " ".join(f"{kind} {name};" for name, kind in self.fields)
        body = "\n".join(lines)
        return f"""struct {self.name}_parts {{ {fields} {self.fields[0][1]} list[2]; }};
{self.helper[0]}
extern "C" __global__ void {self.name}(unsigned long long *o, const {self.in_kind} *a, int n) {{
  __shared__ {self.cell} s[64];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + threadIdx.x;
  {self.in_kind} x = a[i];
  {self.name}_parts v = {{}};
  unsigned long long sum = 0;
  s[t] = ({self.cell})i;
  {body}
  o[i] = {last.text};
}}
"""

    def run(self, inputs, block, grid, n):
        """What lies in the output afterwards."""
        out = []
        for b in range(grid):
            threads = [Thread(k, b) for k in range(block)]
            for t in threads:
                i = b * block + t.place
                t.variables = {"i": i, "x": inputs[i], "n": n, "sum": 0, "s[t]": wrap(self.cell, i), "v.list[0]": 0}
                t.variables |= {f"v.{f}": 0 for f, _ in self.fields} | {"v.list[1]": 0}
            for step in self.steps:
                step(threads)
            out += [t.variables["o"] for t in threads]
        return out
