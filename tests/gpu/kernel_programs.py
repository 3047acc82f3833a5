"""Random kernels for tests that run them on two devices: arrays in every memory, loops, branches, helpers that are
given arrays of several memories, atomics on whole numbers. Nothing hangs on the order of threads, and floats are
made by the same operations in the same order everywhere, so that results are equal to the bit."""

import linecache
import random

import numpy as np

THREADS, BLOCKS = 32, 3
HEAD = """\
import math
from tutti import cuda
@cuda.jit(device=True)
def pick(a, k):
    return a[k % a.size]
@cuda.jit(device=True)
def total(a, n, start):
    for k in range(min(n, a.size)):
        start += a[k] * (k + 1)
    return start
@cuda.jit(device=True)
def half(a):
    return a[::2]
@cuda.jit
def f(x, i, m, out, count, n, y):
    s = cuda.shared.array({threads}, "{real}")
    o = cuda.shared.array({threads}, "{real}")
    w = cuda.local.array(5, "{real}")
    t, g = cuda.threadIdx.x, cuda.grid(1)
    p, q, u, v = n + t, g, x[g], y
    s[t] = x[g]
    o[t] = x[g] * 0.5 - t
    for k in range(5):
        w[k] = k - x[t % x.size]
    cuda.syncthreads()
"""
TAIL = """\
    out[g] = u + v + s[t] + w[t % 5]
    count[g] = p * 3 + q
"""


class Kernel:
    """The text of f(x, i, m, out, count, n, y): floats, whole numbers, a matrix of floats, what is written, numbers."""

    def __init__(self, seed):
        self.r = r = random.Random(seed)
        self.real, self.whole = r.choice(["float32", "float64"]), r.choice(["int32", "int64", "uint32"])
        self.lines, self.deep = [], 1
        for _ in range(r.randrange(6, 12)):
            self.statement(2)
        self.text = HEAD.format(threads=THREADS, real=self.real) + "\n".join(self.lines) + "\n" + TAIL

    def put(self, line):
        self.lines.append("    " * self.deep + line)

    def index(self, deep):
        """A whole number that is small and not negative."""
        return f"(abs({self.int(deep)}) % {self.r.randrange(1, 40)})"

    def int(self, deep):
        r = self.r
        if deep == 0:
            return r.choice(["p", "q", "t", "g", "n", "i[g]", str(r.randrange(1, 50))])
        a, b = self.int(deep - 1), self.int(deep - 1)
        return r.choice(
            [
                f"({a} {r.choice('+-*&|^')} {b}) % 9973",
                f"({a}) // {r.randrange(2, 9)} - ({b}) % {r.randrange(2, 9)}",
                f"min({a}, {b})",
                f"(({a}) << {r.randrange(4)} >> {r.randrange(5)}) % 4096",
                f"(({a}) if {self.condition(deep - 1)} else ({b}))",
                f"int(min(max({self.float(deep - 1)}, -900.0), 900.0))",
            ]
        )

    def array(self, deep):
        """An array, in any memory."""
        return self.r.choice(["x", "o", "w", "m[t % 4]", "m[:, 1]", "o[::-1]", "half(x)", "half(o)", "w[1:]"])

    def float(self, deep):
        r = self.r
        if deep == 0:
            return r.choice(["u", "v", "x[g]", "s[t]", "w[t % 5]", "m[2, t % 7]", f"{r.uniform(-2, 2):.3f}", "y"])
        a, b = self.float(deep - 1), self.float(deep - 1)
        return r.choice(
            [
                f"({a} {r.choice('+-*')} {b})",
                f"({a}) / (1.5 + abs({b}))",
                f"math.sqrt(abs({a}))",
                f"max({a}, {b})",
                f"math.{r.choice(['sin', 'tanh', 'floor', 'atan'])}({a})",
                f"(({a}) if {self.condition(deep - 1)} else ({b}))",
                f"pick({self.array(deep)}, {self.index(deep - 1)})",
                f"total({self.array(deep)}, {self.r.randrange(1, 9)}, {a})",
            ]
        )

    def condition(self, deep):
        a, b = self.r.choice([(self.int, self.int), (self.float, self.float)])
        return f"({a(deep)}) {self.r.choice(['<', '>=', '!='])} ({b(deep)})"

    def body(self, deep):
        self.deep += 1
        for _ in range(self.r.randrange(1, 3)):
            self.statement(deep - 1)
        self.deep -= 1

    def statement(self, deep):
        kind = self.r.choice(["int", "float", "float", "local", "atomic"] + ["if", "for", "meet", "while"] * (deep > 0))
        if kind == "int":
            self.put(f"{self.r.choice('pq')} = ({self.int(2)}) % 5000")
        elif kind == "float":
            self.put(f"{self.r.choice('uv')} = {self.float(2)}")
        elif kind == "local":
            self.put(f"w[{self.index(1)} % 5] = {self.float(1)}")
        elif kind == "atomic":
            operation, first = self.r.choice([("add", 0), ("max", 3), ("min", 6)])  # each has places of its own
            self.put(f"cuda.atomic.{operation}(i, {self.index(1)} % 3 + {THREADS * BLOCKS + first}, p)")
        elif kind == "if":
            self.put(f"if {self.condition(1)}:")
            self.body(deep)
            if self.r.random() < 0.5:
                self.put("else:")
                self.body(deep)
        elif kind == "for":
            self.put(f"for k{deep} in range({self.index(1)} % 6, {self.r.randrange(2, 9)}):")
            self.deep += 1
            self.put(f"u = u * 0.5 + k{deep}")
            self.deep -= 1
            self.body(deep)
        elif kind == "while":
            self.put(f"c{deep} = {self.index(1)} % 7")
            self.put(f"while c{deep} > 0:")
            self.deep += 1
            self.put(f"c{deep} -= 2")
            self.put(f"if {self.condition(1)}:")
            self.put("    break")
            self.deep -= 1
            self.body(deep)
        elif self.deep == 1:  # every thread comes here
            self.put("cuda.syncthreads()")
            self.put(f"s[t] = {self.float(1)}")
            self.put("cuda.syncthreads()")
            self.put(f"v = v + s[(t + {self.r.randrange(THREADS)}) % {THREADS}]")
            self.put("cuda.syncthreads()")
        else:
            self.put(f"s[t] = s[t] + {self.r.randrange(5)}")


def program(seed):
    """The text, its kernel, and the arguments that it is launched with over [BLOCKS, THREADS]."""
    made, r = Kernel(seed), np.random.default_rng(seed)
    file, names = f"<kernel {seed}>", {}
    linecache.cache[file] = (len(made.text), None, made.text.splitlines(True), file)
    exec(compile(made.text, file, "exec"), names)
    n = THREADS * BLOCKS
    arguments = [
        r.standard_normal(n).astype(made.real),
        r.integers(0, 100, n + 9).astype(made.whole),
        r.standard_normal((4, 7)).astype(made.real),
        np.zeros(n),
        np.zeros(n, "int64"),
        int(r.integers(0, 20)),
        float(r.standard_normal()),
    ]
    return made.text, names["f"], arguments


class Expression:
    """The text of an ElementwiseKernel over `float x, int m, raw float r` that gives `float y, int j`, with loops,
    branches and references to what it gives: whole numbers and operations that are exact or rounded once."""

    def __init__(self, seed):
        self.r = random.Random(seed)
        self.real = self.r.choice(["float", "double"])
        self.text = f"{self.real} a = x, b = r[m % 7]; int k = m % 50, h = 3; y = a; j = k; "
        for _ in range(self.r.randrange(3, 7)):
            self.text += self.statement(2)
        self.text += "y += a + b; j += k + h;"

    def whole(self, deep):
        r = self.r
        if deep == 0:
            return r.choice(["k", "h", "j", str(r.randrange(1, 30))])
        a, b = self.whole(deep - 1), self.whole(deep - 1)
        return r.choice(
            [
                f"({a} {r.choice('+-*&|^')} {b}) % 911",
                f"({a}) / {r.randrange(2, 9)} + (({b}) >> {r.randrange(4)})",
                f"(({self.condition(deep - 1)}) ? {a} : {b})",
                f"abs(int({a}))",
            ]
        )

    def number(self, deep):
        r = self.r
        if deep == 0:
            return r.choice(["a", "b", "y", "x", f"{r.uniform(-2, 2):.3f}f", f"r[({self.whole(0)}) & 7]"])
        a, b = self.number(deep - 1), self.number(deep - 1)
        return r.choice(
            [
                f"({a} {r.choice('+-*')} {b})",
                f"({a}) / (1.5f + fabs({self.real}({b})))",
                f"sqrt(fabs({self.real}({a})))",
                f"fmax({self.real}({a}), ({self.real})({b}))",
                f"floor(({self.real})({a}))",
                f"(({self.condition(deep - 1)}) ? ({self.real})({a}) : {self.real}({b}))",
            ]
        )

    def condition(self, deep):
        made = self.r.choice([self.whole, self.number])
        return f"({made(deep)}) {self.r.choice(['<', '>=', '!='])} ({made(deep)})"

    def statement(self, deep):
        kind = self.r.choice(["k", "h", "j", "a", "b", "y"] + ["if", "for"] * (deep > 0))
        if kind in "khj":
            return f"{kind} = ({self.whole(2)}) % 1000; "
        if kind in "aby":
            return f"{kind} = {self.number(2)}; "
        body = self.statement(deep - 1) + self.statement(deep - 1)
        if kind == "if":
            return f"if ({self.condition(1)}) {{ {body}}} else {{ {self.statement(0)}}} "
        return f"for (int t{deep} = 0; t{deep} < {self.r.randrange(1, 6)}; t{deep}++) {{ {body}a = a * 0.5f; }} "
