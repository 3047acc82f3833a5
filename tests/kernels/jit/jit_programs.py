"""Random functions for tests that run one function several ways: loops in loops, arrays of all types, operators."""

import linecache
import random

import numpy as np

TYPES = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]
HEAD = """\
import math, numpy as np
def h(k, z):
    t = k
    for j in range(k % 4):
        t = t * 3 + j
        if z > t:
            t -= 7
    return t
def f(a, b, x, y, p, q, u, v):
    n = 5
    m = -3
    w = 1.5
"""


class Writer:
    def __init__(self, r):
        self.r, self.loops, self.counts = r, 0, []

    def either(self, *made):
        """One of some texts, each made only if it is chosen."""
        return self.r.choice(made)()

    def index(self, n):
        return self.either(
            lambda: str(self.r.randrange(-n, n)),
            lambda: f"{self.r.choice(self.counts or ['n'])} % {n}",
            lambda: f"({self.whole(1)}) % {n}",
            lambda: f"({self.whole(1)}) % {n} - {n}",
        )

    def whole(self, deep):
        r, sub = self.r, lambda: self.whole(deep - 1)
        if deep <= 0 or r.random() < 0.15:
            numbers = [str(r.randrange(-9, 10)), str(r.choice([1000003, -77777, 255, -1, 0]))]
            return r.choice(["p", "q", "n", "m", *numbers, *self.counts])
        return self.either(
            lambda: f"({sub()} {r.choice('+-*')} {sub()})",
            lambda: f"({sub()} {r.choice('+-*&|^')} {sub()})",
            lambda: f"({sub()} {r.choice(['//', '%'])} {r.choice([2, 4, 7, 8, -3, 1024, 2**40])})",
            lambda: f"({sub()} {r.choice(['//', '%'])} ({sub()} | 1))",
            lambda: f"(({sub()} - 1) {r.choice(['<<', '>>'])} {r.randrange(20)})",
            lambda: f"({sub()} if {self.truth(deep - 1)} else {sub()})",
            lambda: f"a[{self.index(7)}]",
            lambda: f"b[{self.index(3)}, {self.index(4)}]",
            lambda: f"({r.choice('-~')}{sub()})",
            lambda: f"{r.choice(['min', 'max'])}({sub()}, {sub()})",
            lambda: f"abs({sub()})",
            # some gcc cut a float off without the way through a whole number: no zeros, nothing out of range
            lambda: "int(3e6 + {0} if abs({0}) < 1e6 else 2.5)".format(self.real(deep - 1)),
            lambda: f"h({sub()}, {self.real(deep - 1)})",
        )

    def real(self, deep):
        r, sub = self.r, lambda: self.real(deep - 1)
        if deep <= 0 or r.random() < 0.15:
            return r.choice(["u", "v", "w", repr(r.choice([0.5, -0.0, 1e300, -3.25, 2.0, 0.1]))])
        return self.either(
            lambda: f"({sub()} {r.choice('+-*')} {sub()})",
            lambda: f"({sub()} {r.choice('+-*/')} {sub()})",
            lambda: f"({sub()} if {self.truth(deep - 1)} else {sub()})",
            lambda: f"x[{self.index(9)}]",
            lambda: f"y[{self.index(2)}, {self.index(3)}, {self.index(2)}]",
            lambda: f"float({self.whole(deep - 1)})",
            lambda: f"math.sqrt(abs({sub()}))",
            lambda: f"math.{r.choice(['sin', 'exp', 'floor', 'atan', 'tanh'])}({sub()} * 0.001)",
            lambda: f"(-{sub()})",
            lambda: f"{r.choice(['min', 'max', 'np.maximum', 'np.arctan2', 'np.fmin'])}({sub()}, {sub()})",
            lambda: f"({sub()} {r.choice(['%', '//'])} {r.choice([0.5, 3.0, -2.5])})",
        )

    def truth(self, deep):
        sign = self.r.choice(["<", "<=", ">", ">=", "==", "!="])
        return self.either(
            lambda: f"{self.whole(deep - 1)} {sign} {self.whole(deep - 1)}",
            lambda: f"{self.real(deep - 1)} {sign} {self.real(deep - 1)}",
            lambda: f"({self.truth(deep - 1)} {self.r.choice(['and', 'or'])} {self.truth(deep - 1)})"
            if deep > 0
            else "p > 0",
            lambda: f"not ({self.truth(deep - 1)})" if deep > 0 else "u < v",
        )

    def part(self, indent):
        step = self.r.choice(["-1", "2", "(p % 3 - 3)"])
        k = self.r.choice(["0", "-1", "q % part.shape[0]"])
        text = f"{indent}part = y[{self.index(2)}, ::{step}]\n"
        return text + f"{indent}part[{k}, {self.index(2)}] {self.r.choice(['', '+', '-'])}= {self.real(1)}\n"

    def span(self):
        r = self.r
        return self.either(
            lambda: f"range({r.randrange(6)})",
            lambda: f"range({r.randrange(3, 9)}, {r.randrange(-2, 3)}, -{r.randrange(1, 4)})",
            lambda: f"range(0, {r.randrange(1, 20)}, {r.randrange(1, 5)})",
            lambda: f"range(0, abs({self.whole(1)}) % 6, p % 3 + 1)",
            lambda: f"range(3, {self.whole(1)} % 5 - 2, q % 4 * 2 - 3)",
        )

    def loop(self, indent, deep):
        self.loops += 1
        name = f"i{self.loops}"
        if self.r.random() < 0.35:
            head = f"{indent}{name} = 0\n{indent}while {name} < {self.r.randrange(6)} and {self.truth(1)}:\n"
            return head + f"{indent}    {name} += 1\n" + self.block(indent + "    ", deep - 1, True)
        text = f"{indent}for {name} in {self.span()}:\n"
        self.counts.append(name)
        text += self.block(indent + "    ", deep - 1, True)
        text += f"{indent}    {name} = {name} + 1\n" if self.r.random() < 0.1 else ""
        self.counts.pop()
        return text + f"{indent}q += 1\n"

    def statement(self, indent, deep, inside):
        r, k = self.r, self.r.randrange(12)
        if k >= 8 and deep > 0:
            if k >= 10:
                return self.loop(indent, deep)
            text = f"{indent}if {self.truth(2)}:\n" + self.block(indent + "    ", deep - 1, inside)
            return text + f"{indent}else:\n" + self.block(indent + "    ", deep - 1, inside) if k == 9 else text
        if k == 7 and inside:
            return f"{indent}if {self.truth(1)}:\n{indent}    {r.choice(['break', 'continue'])}\n"
        if k == 6 and r.random() < 0.2:
            return f"{indent}if {self.truth(2)}:\n{indent}    return {self.real(1)} + {self.whole(1)}\n"
        return indent + self.either(
            lambda: f"{r.choice('pqnm')} = {self.whole(3)}\n",
            lambda: f"{r.choice('uvw')} = {self.real(3)}\n",
            lambda: f"{r.choice('pq')} {r.choice('+-^*')}= {self.whole(2)}\n",
            lambda: f"{r.choice('uv')} {r.choice('+-*')}= {self.real(2)}\n",
            lambda: f"a[{self.index(7)}] = {self.whole(2)}\n",
            lambda: f"b[{self.index(3)}, {self.index(4)}] += {self.whole(2)}\n",
            lambda: f"x[{self.index(9)}] += {self.real(2)}\n",
            lambda: f"y[{self.index(2)}, {self.index(3)}, {self.index(2)}] = {self.real(2)}\n",
            lambda: self.part(indent)[len(indent) :],
        )

    def block(self, indent, deep, inside):
        return "".join(self.statement(indent, deep, inside) for _ in range(self.r.randrange(1, 4)))


def program(seed):
    """(its names, a maker of arguments)."""
    r = random.Random(seed)
    writer = Writer(r)
    text = HEAD + "".join(writer.statement("    ", 3, False) for _ in range(r.randrange(2, 6)))
    text += "    return u + v * 0.5 + w + p + q + n * 3 + m\n"
    name = f"<program {seed}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    names = {}
    exec(compile(text, name, "exec"), names)
    types = [r.choice(TYPES), r.choice(TYPES), r.choice(["f4", "f8"]), r.choice(["f4", "f8"])]

    def arguments(k):
        r = random.Random(1000 * seed + k)
        special = [0.0, -0.0, float("nan"), float("inf"), -1e300]
        a = np.array([r.randrange(0, 200) for _ in range(14)]).astype(types[0])[:: r.choice([1, 2, -2])][:7]
        b = np.array([r.randrange(0, 100) for _ in range(12)]).astype(types[1]).reshape(3, 4)
        x = np.array([r.choice([*special, r.uniform(-5, 5), r.uniform(-5, 5)]) for _ in range(9)])
        y = np.array([r.uniform(-5, 5) for _ in range(12)]).astype(types[3]).reshape(2, 3, 2)
        b = r.choice([b, np.asfortranarray(b), b[::-1, ::-1]])
        with np.errstate(over="ignore"):
            x = x.astype(types[2])
        return a, b, x, r.choice([y, y[:, ::-1, :]]), r.randrange(-50, 50), r.randrange(-5, 50), r.uniform(-3, 3), 0.25

    return text, names, arguments
