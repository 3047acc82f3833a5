"""Random functions whose names change their types by branch and over time, with tuples, helpers, early returns and
exceptions, for tests that run them as Python and compiled: results are equal, in value and in type.

Whole numbers stay small, so that 64 bits and Python's numbers agree, and floats are made by operations that are exact
or rounded once. Where ways meet that gave a name different types, a number is read as a float, which is what a compiled
function makes of it, and others are not read.
"""

import linecache
import random

import numpy as np

HEAD = """\
import math, numpy as np
def twice(x, y=None):
    if y is None:
        return x + x
    return x * 2 + y
def split(k, z):
    if k % 2 == 0:
        return k // 2, z * 0.5
    z += k
    return -k, z
def checked(k):
    if k % 11 == 3:
        raise ValueError("three")
    assert k % 13 != 5, "five"
    return 40 // (k % 7)
def again(k):
    if k <= 0:
        return k
    return (k + again(k - 3)) % 97
def maybe(k):
    if k % 3:
        return k // 2
def perhaps(k, z):
    found = None
    for i in range(k % 5):
        if z > i:
            found = z * i
    return found
def f(a, b, c, n, x):
    r0, r1, r2 = n, x, 0
"""
KINDS = ["int", "float", "bool", "pair", "triple", "nested"]
NAMES = ["s", "t", "u", "v"]


class Flow:
    """The text of f(a, b, c, n, x): int8 and uint16 arrays, a float64 matrix, a whole number, a float."""

    def __init__(self, seed, attempts=False):
        self.r = random.Random(seed)
        self.attempts, self.inner = attempts, []  # with try and functions within f; the names of these
        self.lines, self.deep, self.loops, self.counts = [], 1, 0, []
        self.kind = dict.fromkeys(NAMES)  # of a name where it is read next; None: it must be given a value first
        for _ in range(self.r.randrange(5, 11)):
            self.statement(3)
        self.put("return r0, r1, r2")
        self.text = HEAD + "\n".join(self.lines) + "\n"

    def put(self, line):
        self.lines.append("    " * self.deep + line)

    def either(self, *made):
        return self.r.choice(made)()

    def names(self, kind):
        return [name for name in NAMES if self.kind[name] == kind]

    # ---- expressions

    def int_of(self, deep=2):
        r, sub = self.r, lambda: self.int_of(deep - 1)
        if self.inner and r.random() < 0.15:
            return f"{r.choice(self.inner)}({sub() if deep > 0 else r.randrange(9)})"
        if deep <= 0 or r.random() < 0.2:
            given = [*self.names("int"), *self.counts]
            given += [f"{name}[0]" for name in self.names("pair")] + [f"{name}[2]" for name in self.names("triple")]
            given += [f"{name}[0][1]" for name in self.names("nested")] + [
                f"len({name})" for name in self.names("triple")
            ]
            return r.choice([*given * 3, "n", "r0", "r2", str(r.randrange(-20, 60)), "len(a)", "c.shape[1]"])
        return self.either(
            lambda: f"({sub()} {r.choice('+-')} {sub()})",
            lambda: f"({sub()} * {sub()}) % 997",
            lambda: f"({sub()} % {r.choice(['-7', '13', '-1', '64'])})",
            lambda: f"({sub()} // {r.choice(['-3', '4', '-8', '9'])})",
            lambda: f"({sub()} {r.choice(['//', '%'])} ({sub()} % 5))",  # may be zero
            lambda: f"(({sub()} % 64) << ({sub()} % 9))",
            lambda: f"({sub()} >> ({sub()} % 70))",
            lambda: f"({sub()} {r.choice('&|^')} {sub()})",
            lambda: f"({r.choice('-~+')}{sub()})",
            lambda: f"abs({sub()})",
            lambda: f"{r.choice(['min', 'max'])}({sub()}, {sub()})",
            lambda: f"({sub()} if {self.truth(deep - 1)} else {sub()})",
            lambda: f"({sub()} % 6) ** ({sub()} % 4)",
            lambda: f"int(a[{self.index('a')}])",
            lambda: f"int(b[{self.index('b')}])",
            lambda: f"int({self.float_of(deep - 1)})",
            lambda: f"int({self.truth(deep - 1)})",
            lambda: f"round({self.float_of(deep - 1)})",
            lambda: f"math.{r.choice(['floor', 'ceil', 'trunc'])}({self.float_of(deep - 1)})",
            lambda: f"divmod({sub()}, {r.choice(['7', '-5'])})[{r.randrange(2)}]",
            lambda: f"(twice({sub()}) % 997)",
            lambda: f"(twice({sub()}, {sub()}) % 997)",
            lambda: f"split({sub()}, 0.5)[0]",
            lambda: f"checked({sub()})",
            lambda: f"again({sub()} % 60)",
            lambda: f"(maybe({sub()}) or {sub()})",
            lambda: f"({sub()} if maybe({sub()}) is None else {sub()})",
            lambda: f"int(maybe({sub()}) {r.choice(['==', '!='])} {r.choice(['maybe', 'int'])}({sub()}))",
            lambda: f"sum(({sub()}, {sub()}, 1))",
            lambda: f"math.gcd({sub()}, {sub()})",
        )

    def float_of(self, deep=2):
        r, sub = self.r, lambda: self.float_of(deep - 1)
        if deep <= 0 or r.random() < 0.2:
            given = (
                self.names("float")
                + [f"float({name})" for name in self.names("number")]
                + [f"{name}[1]" for name in self.names("pair")]
            )
            given += [f"{name}[0]" for name in self.names("triple")] + [f"{name}[1]" for name in self.names("nested")]
            return r.choice([*given * 3, "x", "r1", repr(r.randrange(-40, 40) / 8), f"float(c[{self.index('c')}])"])
        return self.either(
            lambda: f"({sub()} {r.choice('+-*')} {sub()})",
            lambda: f"({sub()} / ({sub()} * {sub()} + 1.0))",
            lambda: f"({self.int_of(deep - 1)} / {r.choice(['7', '-2'])})",
            lambda: f"({self.int_of(deep - 1)} / ({self.int_of(deep - 1)} % 4))",  # may be zero
            lambda: f"({sub()} {r.choice(['%', '//'])} {r.choice(['0.75', '-2.5'])})",
            lambda: f"({sub()} {r.choice('+-*')} {self.int_of(deep - 1)})",
            lambda: f"{r.choice(['min', 'max'])}({sub()}, {sub()})",
            lambda: f"({sub()} if {self.truth(deep - 1)} else {sub()})",
            lambda: f"abs({sub()})",
            lambda: f"float({self.int_of(deep - 1)})",
            lambda: f"math.sqrt(abs({sub()}))",
            lambda: f"math.{r.choice(['fmod', 'remainder', 'copysign'])}({sub()}, {r.choice(['1.5', '-3', '0.3'])})",
            lambda: f"round({sub()}, {r.randrange(-1, 4)})",
            lambda: f"twice({sub()})",
            lambda: f"twice({sub()}, {self.int_of(deep - 1)})",
            lambda: f"split({self.int_of(deep - 1)}, {sub()})[1]",
            lambda: f"(perhaps({self.int_of(deep - 1)}, {sub()}) or {sub()})",
        )

    def truth(self, deep=1):
        r = self.r
        side = r.choice([self.int_of, self.float_of])
        plain = f"{side(max(deep - 1, 0))} {r.choice(['<', '<=', '>', '>=', '==', '!='])} {side(max(deep - 1, 0))}"
        if deep <= 0 or r.random() < 0.5:
            return r.choice([plain, *self.names("bool"), *self.names("bool")])
        return self.either(
            lambda: f"({plain} {r.choice(['and', 'or'])} {self.truth(deep - 1)})",
            lambda: f"not ({plain})",
            lambda: f"{self.int_of(0)} < {self.int_of(deep - 1)} <= {self.int_of(0)}",
            lambda: f"{self.value('pair', 0)} {r.choice(['==', '!='])} {self.value('pair', 0)}",
        )

    def value(self, kind, deep=2):
        whole, real = (lambda: self.int_of(deep)), (lambda: self.float_of(deep))
        if kind == "int":
            return f"({whole()}) % 997"
        if kind == "float":
            return real()
        if kind == "bool":
            return f"bool({whole()})" if self.r.random() < 0.3 else f"({self.truth(deep)})"
        made = {
            "pair": lambda: f"({whole()}, {real()})",
            "triple": lambda: f"({real()}, {self.truth(0)}, {whole()})",
            "nested": lambda: f"(({real()}, {whole()}), {real()})",
        }
        return self.r.choice([made[kind](), made[kind](), *self.names(kind)])

    def index(self, name):
        if name == "c":
            return f"{self.within('c.shape[0]')}, {self.within('c.shape[1]')}"
        return self.within(f"len({name})")

    def within(self, size):
        return f"({self.int_of(0)}) % {size}" if self.r.random() < 0.7 else f"-1 - ({self.int_of(0)}) % {size}"

    # ---- statements

    def statement(self, deep):
        ways = [self.assign] * 5 + [self.result] * 2 + [self.store, self.unpack, self.grow, self.look]
        if deep:
            ways += [self.branch] * 3 + [self.loop] * 2 + [self.over_tuple]
        if self.attempts:
            ways += [self.attempt] * 4 * bool(deep) + [self.function] * 2 * (self.deep == 1)
        if self.r.random() < 0.06:
            self.leave()
        else:
            self.r.choice(ways)(deep)

    def block(self, deep):
        self.deep += 1
        for _ in range(self.r.randrange(1, 5)):
            self.statement(deep - 1)
        self.deep -= 1

    def assign(self, deep):
        kind, name = self.r.choice(KINDS), self.r.choice(NAMES)
        value = self.value(kind)
        self.put(f"{name} = {value}")
        self.kind[name] = kind

    def grow(self, deep):
        """An augmented assignment, after which a whole number may be a float."""
        names = self.names("int") + self.names("float")
        if not names:
            return self.assign(deep)
        name = self.r.choice(names)
        if self.r.random() < 0.5 and self.kind[name] == "int":
            self.put(f"{name} {self.r.choice(['+=', '-=', '^='])} {self.int_of(1)} % 97")
        else:
            self.put(f"{name} {self.r.choice(['+=', '-=', '*='])} {self.float_of(1)}")
            self.kind[name] = "float"
        return None

    def unpack(self, deep):
        p, q = self.r.sample(NAMES, 2)
        self.put(f"{p}, {q} = {self.value('pair')}")
        self.kind[p], self.kind[q] = "int", "float"
        if self.r.random() < 0.5:
            self.put(f"{p}, {q} = {q}, {p}")
            self.kind[p], self.kind[q] = "float", "int"

    def result(self, deep):
        if self.r.random() < 0.5:
            self.put(f"r1 = {self.float_of()}")
            self.put("if not -1e6 < r1 < 1e6:")
            self.put("    r1 = 0.5")
        else:
            self.put(f"{self.r.choice(['r0', 'r2'])} = ({self.int_of()}) % 997")

    def look(self, deep):
        """A name that may be None, read where it is not."""
        self.put(f"o = {self.r.choice(['maybe', 'again', 'maybe'])}({self.int_of(1)} % 50)")
        self.put(f"if {self.truth()}:")
        self.put("    o = None")
        self.put(f"{self.r.choice(['if o is not None:', 'if o:', 'if o != None and o > 2:'])}")
        self.put("    r2 = (r2 + o) % 997")

    def store(self, deep):
        self.either(
            lambda: self.put(f"a[{self.index('a')}] = ({self.int_of()}) % 100"),
            lambda: self.put(f"b[{self.index('b')}] = ({self.int_of()}) % 60000"),
            lambda: self.put(f"c[{self.index('c')}] = math.floor({self.float_of(1)}) % 8 * 0.5"),
        )

    def branch(self, deep):
        self.put(f"if {self.truth()}:")
        before = dict(self.kind)
        self.block(deep)
        after, self.kind = self.kind, before
        if self.r.random() < 0.6:
            self.put("else:")
            self.kind = dict(before)
            self.block(deep)
        self.kind = {name: self.met(self.kind[name], after[name]) for name in NAMES}

    @staticmethod
    def met(p, q):
        """What a name is where two ways meet: whole numbers and floats are numbers."""
        numbers = {"int", "float", "number"}
        return p if p == q else "number" if {p, q} <= numbers else None

    def loop(self, deep):
        self.loops += 1
        k, before = f"k{self.loops}", dict(self.kind)
        self.kind = dict.fromkeys(NAMES)
        if self.r.random() < 0.3:
            self.put(f"{k} = 0")
            self.put(f"while {k} < {self.r.randrange(5)} and r0 < 900:")
            self.put(f"    {k} += 1")
        else:
            span = ["3", "n % 5", "4, -1, -2", "r0 % 4, 5", "-2, 2"]
            self.put(f"for {k} in range({self.r.choice(span)}):")
        self.counts.append(k)
        self.block(deep)
        if self.r.random() < 0.3:
            self.put(f"    if {self.truth()}:")
            self.put(f"        {self.r.choice(['break', 'continue'])}")
        self.counts.remove(k)
        self.put("r2 = (r2 + 1) % 997")
        self.kind = {name: None for name in before}

    def attempt(self, deep):
        """What fails may have done any part of the body: names are given values anew behind it."""
        nobody, before = dict.fromkeys(NAMES), dict(self.kind)
        self.put("try:")
        self.block(deep)
        if self.r.random() < 0.5:
            self.put(f"    r0 = checked({self.int_of(1)})")
        after = self.kind
        handlers = self.r.sample(["ValueError", "AssertionError", "ZeroDivisionError", "(KeyError, ValueError)"], 2)
        for kind in [*handlers[: self.r.randrange(3)], *self.r.choice([[], [], ["Exception"], [""]])]:
            self.kind = dict(nobody)
            self.put(f"except {kind}:" if kind else "except:")
            self.block(deep)
            if self.r.random() < 0.2:
                self.put(f"    {self.r.choice(['raise', 'return r0, r1, r2'])}")
            handlers = None
        if handlers is None and self.r.random() < 0.3:
            self.kind = dict(after)
            self.put("else:")
            self.block(deep)
        if handlers is not None or self.r.random() < 0.3:
            self.kind = dict(nobody)
            self.put("finally:")
            self.deep += 1
            self.put("r2 = (r2 * 5 + 1) % 997")
            self.store(deep)
            self.deep -= 1
        self.kind = {name: None for name in before}

    def function(self, deep):
        """A function within f that reads what r0 and n are where it is called."""
        name = f"g{len(self.inner)}"
        inner = self.r.choice(self.inner) + "(z - 1)" if self.inner and self.r.random() < 0.5 else "z"
        self.put(f"def {name}(z, w={self.r.randrange(9)}):")
        self.put(f"    return ({inner} * {self.r.randrange(5)} + r0 - n + w) % {self.r.randrange(2, 99)}")
        self.inner.append(name)

    def over_tuple(self, deep):
        self.loops += 1
        k = f"k{self.loops}"
        self.put(f"for {k} in ({self.int_of(1)}, {self.int_of(0)}, {self.r.randrange(9)}):")
        self.put(f"    r0 = (r0 * 3 + {k}) % 997")

    def leave(self):
        self.put(f"if {self.truth()}:")
        self.put(
            "    "
            + self.either(
                lambda: f"return ({self.int_of(1)}) % 997, r1, r0",
                lambda: f"return r2, {self.float_of(1)}, r0",
                lambda: 'raise ValueError("left")',
                lambda: "assert r0 % 2 == 0",
            )
        )


def program(seed, attempts=False):
    """(the text, its names, the arguments of call k)."""
    text, name, names = Flow(seed, attempts).text, f"<flow {seed} {attempts}>", {}
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    exec(compile(text, name, "exec"), names)

    def arguments(k):
        r = np.random.default_rng([seed, k])
        c = r.integers(-16, 16, (3, 4)) / 4
        return (
            r.integers(-128, 128, 5, "i1"), r.integers(0, 2**16, 7, "u2"), c if k % 2 else np.asfortranarray(c),
            int(r.integers(-30, 60)), float(r.integers(-40, 40)) / 8,
        )  # fmt: skip

    return text, names, arguments
