"""Random functions for tt.jit: text that Python runs as well.

Integers stay below 1009 and floats near 1, so that Python's unbounded integers and 64 bits agree, and only
operations that are exact or correctly rounded occur: results are equal to the bit.
"""

import random

COMPARE = ["<", "<=", ">", ">=", "==", "!="]


class Function:
    """text: the source of `def f(a, b, c, n, x)`: a float64 array, an int64 array, a matrix, an int, a float."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.lines = []
        self.deep = 1
        self.loops = 0
        self.fresh = 0
        self.ints = ["n", "i0", "i1"]
        self.floats = ["x", "f0", "f1"]
        for line in ("i0 = n // 2", "i1 = 3", "f0 = 0.5", "f1 = x - 1.0"):
            self.put(line)
        for _ in range(self.rng.randrange(3, 9)):
            self.statement(3)
        self.put("return f0, f1, i0, i1")
        self.text = "def f(a, b, c, n, x):\n" + "\n".join(self.lines) + "\n"

    def put(self, line):
        self.lines.append("    " * self.deep + line)

    def pick(self, *ways):
        return self.rng.choice(ways)

    def int_of(self, deep=2):
        r = self.rng
        if deep == 0 or r.random() < 0.3:
            return r.choice([*self.ints, str(r.randrange(-4, 40)), "len(b)", "c.shape[1]"])
        p, q = self.int_of(deep - 1), self.int_of(deep - 1)
        return r.choice(
            [
                f"({p} + {q})",
                f"({p} - {q})",
                f"({p} * {q}) % 1009",
                f"({p} // (abs({q}) % 7 + 1))",
                f"({p} % (abs({q}) % 9 + 2))",
                f"({p} % -(abs({q}) % 9 + 2))",
                f"({p} & {q})",
                f"({p} | {q})",
                f"({p} ^ {q})",
                f"(({p} % 64) << ({q} % 4))",
                f"({p} >> ({q} % 5))",
                f"(-{p})",
                f"(~{p})",
                f"abs({p})",
                f"min({p}, {q})",
                f"max({p}, {q})",
                f"({p} if {self.test(deep - 1)} else {q})",
                f"b[{self.at('b')}]",
                f"int({self.float_of(deep - 1)} * 8.0)",
            ]
        )

    def float_of(self, deep=2):
        r = self.rng
        if deep == 0 or r.random() < 0.3:
            return r.choice([*self.floats, f"{r.randrange(-16, 17) / 8}", "a[0]"])
        p, q = self.float_of(deep - 1), self.float_of(deep - 1)
        return r.choice(
            [
                f"({p} + {q})",
                f"({p} - {q})",
                f"({p} * {q})",
                f"({p} / ({q} * {q} + 1.0))",
                f"({p} * 0.5 + {q} * 0.25)",
                f"(-{p})",
                f"abs({p})",
                f"min({p}, {q})",
                f"max({p}, {q})",
                f"math.sqrt(abs({p}))",
                f"math.floor({p})",
                f"float({self.int_of(deep - 1)})",
                f"({self.int_of(deep - 1)} * 0.125)",
                f"({p} if {self.test(deep - 1)} else {q})",
                f"a[{self.at('a')}]",
                f"a[{self.at('a')}]",
                f"c[{self.at('c')}]",
                f"c[{self.at('c')}]",
            ]
        )

    def test(self, deep=1):
        r = self.rng
        side = self.int_of if r.random() < 0.5 else self.float_of
        p, q = side(deep and deep - 1), side(deep and deep - 1)
        plain = f"{p} {r.choice(COMPARE)} {q}"
        if deep == 0 or r.random() < 0.6:
            return plain
        return r.choice(
            [
                f"({plain} and {self.test(deep - 1)})",
                f"({plain} or {self.test(deep - 1)})",
                f"not ({plain})",
                f"{p} < {q} <= {side(0)}",
                f"({plain}) == ({self.test(deep - 1)})",
            ]
        )

    def at(self, name):
        """An index that is in range, often a counter plus a little."""
        if name == "c":
            return f"{self.within('c.shape[0]')}, {self.within('c.shape[1]')}"
        return self.within(f"len({name})")

    def within(self, size):
        r = self.rng
        way = r.random()
        if way < 0.5:
            return f"({r.choice(self.ints)} + {r.randrange(3)}) % {size}"
        if way < 0.7:
            return f"-1 - {r.choice(self.ints)} % {size}"
        return f"({self.int_of(1)}) % {size}"

    def tame(self, name):
        """After a change: near 1, or below 1009."""
        if name.startswith("f"):
            self.put(f"if not -4.0 < {name} < 4.0:")
            self.put(f"    {name} = {self.pick('0.25', '-0.5', '1.0 / (1.0 + ' + name + ' * ' + name + ')')}")
        else:
            self.put(f"{name} = {name} % 1009")

    def statement(self, deep):
        r = self.rng
        kinds = [self.assign] * 3 + [self.store] * 3 + [self.swap]
        if deep:
            kinds += [self.branch] * 2 + [self.range_loop] * 4 + [self.while_loop, self.each_loop, self.slices]
        if self.loops and r.random() < 0.12:
            self.leave()
            return
        r.choice(kinds)(deep)

    def block(self, deep):
        self.deep += 1
        for _ in range(self.rng.randrange(1, 4)):
            self.statement(deep - 1)
        self.deep -= 1

    def assign(self, deep):
        r = self.rng
        if r.random() < 0.5:
            name = r.choice(["f0", "f1"])
            self.put(f"{name} {self.pick('=', '+=', '-=', '*=')} {self.float_of()}")
        else:
            name = r.choice(["i0", "i1"])
            self.put(f"{name} {self.pick('=', '+=', '-=', '^=')} {self.int_of()}")
        self.tame(name)

    def store(self, deep):
        r = self.rng
        if r.random() < 0.3:
            self.put(f"b[{self.at('b')}] = ({self.int_of()}) % 1009")
        elif r.random() < 0.5:
            self.put(f"a[{self.at('a')}] = math.floor({self.float_of()} * 8.0) % 16 * 0.125")
        else:
            self.put(f"c[{self.at('c')}] = {self.float_of(1)} / (abs({self.float_of(1)}) + 2.0)")

    def swap(self, deep):
        name = self.pick("a", "b", "c")
        p, q = self.at(name), self.at(name)
        self.put(f"{name}[{p}], {name}[{q}] = {name}[{q}], {name}[{p}]")

    def branch(self, deep):
        self.put(f"if {self.test()}:")
        self.block(deep)
        if self.rng.random() < 0.3:
            self.put(f"elif {self.test()}:")
            self.block(deep)
        if self.rng.random() < 0.5:
            self.put("else:")
            self.block(deep)

    def counter(self):
        self.fresh += 1
        return f"k{self.fresh}"

    def body(self, k, deep):
        self.ints.append(k)
        self.loops += 1
        self.block(deep)
        self.loops -= 1
        self.ints.remove(k)

    def range_loop(self, deep):
        k = self.counter()
        span = self.pick(
            "n % 9",
            "len(a)",
            "c.shape[0]",
            "1, len(b) - 1",
            "0, 12, 3",
            "9, -1, -2",
            "i0 % 7, 12",
            "len(a) - 1, -1, -1",
        )
        if self.loops >= 2:
            span = self.pick("3", "n % 4", "2, -1, -1")
        self.put(f"for {k} in range({span}):")
        self.body(k, deep)
        self.otherwise()

    def while_loop(self, deep):
        k = self.counter()
        self.put(f"{k} = {self.pick('0', 'n % 3')}")
        self.put(f"while {k} < {self.pick('5', 'n % 6', 'len(b) % 5')}{self.pick('', ' and ' + self.test(0))}:")
        self.deep += 1
        self.put(f"{k} += 1")
        self.deep -= 1
        self.body(k, deep)
        self.otherwise()

    def otherwise(self):
        if self.rng.random() < 0.2:
            self.put("else:")
            self.put("    i1 = i1 ^ 5")

    def each_loop(self, deep):
        v = f"v{self.fresh}"
        self.fresh += 1
        self.put(f"for {v} in {self.pick('a', 'c[0]', 'a[::2]', 'c[:, 1]')}:")
        self.floats.append(v)
        self.loops += 1
        self.block(deep)
        self.loops -= 1
        self.floats.remove(v)

    def slices(self, deep):
        self.put(
            self.pick(
                "a[1:] = a[:-1] * 0.5",
                "a[1:] = a[:-1]",
                "a[1:] += a[:-1] * 0.25",
                "a += a[::-1] * 0.25",
                "a *= 0.5; s = a[::-1]; a += s * 0.5",
                "s = a[::2]; s -= a[:len(s)] * 0.5",
                "t = c[::-1]; c *= 0.5; c += t * 0.25",
                "u = c[0]; c -= u * 0.5",
                "c[1:] = c[:-1]",
                "c[:, 1:] -= c[:, :-1] * 0.5",
                "np.multiply(a[1:], 0.5, a[:-1])",
                "np.subtract(c, c[:, ::-1], c); c *= 0.5",
                "a[::-1] = a * 0.5 + 0.25",
                "c[0] = c[1] * 0.5",
                "c[:, 0] = 0.5",
                "a[2:-1] += 0.25",
                "c *= 0.5",
                "b[:] = b % 7",
                "f1 = a.max() - a.min()",
                "i1 = len(a[1::3])",
            )
        )

    def leave(self):
        self.put(f"if {self.test()}:")
        self.put("    " + self.pick("break", "break", "continue", "continue", "return f1, f0, i1, i0"))
