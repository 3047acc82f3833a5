"""Random functions with generators, packed records, objects, strings and loops over items of several types, for tests
that run them as Python and compiled. Whole numbers stay small; floats are made by exact operations.
"""

import linecache
import random

import numpy as np

HEAD = """\
import numpy as np
def evens(n):
    for i in range(n):
        if i % 2 == 0:
            yield i
def pairs(n, z):
    k = n
    while k > 0:
        k -= 2
        for j in range(k % 3):
            if j == 2:
                break
            yield k, z * 0.5 + j
        z += 1
def fields(r):
    for one in r:
        yield one.b
        if one.c > 50:
            return
def spelled(n):
    s = ""
    for i in evens(n):
        s += str(i)
        yield s
def step(w):
    w[0] = (w[0] * 3 + 1) % 5
    w[w[0]] += 1
    return int(w[0])
class Bag:
    def __init__(self, n, z=0.5):
        self.n = n
        self.z = z
        self.a = np.zeros(n % 4 + 1)
    @property
    def size(self):
        return self.a.size + self.n
    def put(self, k, z):
        self.a[k % self.a.size] = z
        self.n = (self.n * 3 + k) % 97
        self.z += z
        return self.n
    def all(self):
        return self.a.sum() + self.z
def f(r, n, x):
    r0, r1, t = n, x, "ab"
    bag = Bag(n % 5, 0.25)
    w, q = np.arange(5), [1, 2, 3, 4, 5]
"""
DTYPE = [("a", "i1"), ("b", "f8"), ("s", "U4"), ("c", "i4"), ("v", "f4", (2,)), ("d", [("p", "i2"), ("q", "f8")])]


class Language:
    """The text of f(r, n, x): packed records, a whole number, a float."""

    def __init__(self, seed):
        self.r = random.Random(seed)
        self.lines, self.deep, self.counts, self.made = [], 1, [], 0
        for _ in range(self.r.randrange(5, 10)):
            self.statement(2)
        self.put("return r0, r1, t, w[0], w[4], q[0], q[3], bag.n, bag.size, bag.all(), len(list(evens(r0 % 9)))")
        self.text = HEAD + "\n".join(self.lines) + "\n"

    def put(self, line):
        self.lines.append("    " * self.deep + line)

    def either(self, *made):
        return self.r.choice(made)()

    def at(self):
        return f"({self.whole(0)}) % len(r)"

    def whole(self, deep=2):
        def sub():
            return self.whole(deep - 1)

        if deep <= 0:
            return self.r.choice(["r0", "n", "bag.n", str(self.r.randrange(9)), *self.counts])
        return self.either(
            lambda: f"({sub()} {self.r.choice('+-')} {sub()})",
            lambda: f"({sub()} * {sub()}) % 97",
            lambda: f"int(r[{self.at()}].c)",
            lambda: f"int(r[{self.at()}]['a'])",
            lambda: f"int(r[{self.at()}].d.p)",
            lambda: f"int(r.c[{self.at()}])",
            lambda: f"sum(evens(({sub()}) % 7))",
            lambda: f"max(list(evens(({sub()}) % 7 + 1)))",
            lambda: "len(t)",
            lambda: f"t.find('{self.r.choice('ab12')}')",
            lambda: f"len(r[{self.at()}].s)",
            lambda: f"(({sub()}), {self.real(0)})[0]",
            lambda: f"bag.put({sub()}, 0.5)",
            lambda: f"{self.r.choice('wq')}[({sub()}) % 5]",
            lambda: f"step({self.r.choice('wq')})",
            lambda: "bag.size",
        )

    def real(self, deep=2):
        def sub():
            return self.real(deep - 1)

        if deep <= 0:
            return self.r.choice(["r1", "x", "bag.z", repr(self.r.randrange(-20, 20) / 8), f"float(r[{self.at()}].b)"])
        return self.either(
            lambda: f"({sub()} {self.r.choice('+-')} {sub()})",
            lambda: f"({sub()} * 0.5)",
            lambda: f"float(r['b'][{self.at()}])",
            lambda: f"float(r[{self.at()}].v[{self.r.randrange(2)}])",
            lambda: f"float(r[{self.at()}].d.q)",
            lambda: "bag.all()",
            lambda: f"({sub()} if {self.truth()} else {sub()})",
        )

    def truth(self):
        return self.either(
            lambda: f"{self.whole(1)} {self.r.choice(['<', '>', '==', '!='])} {self.whole(1)}",
            lambda: f"{self.real(1)} {self.r.choice(['<', '>='])} {self.real(0)}",
            lambda: f"({self.whole(0)}, {self.real(0)}) {self.r.choice(['<', '<=', '>', '=='])} ({self.whole(0)}, r1)",
            lambda: f"'{self.r.choice('ab12')}' in t",
            lambda: f"t.startswith(('a', '{self.r.choice('ab12')}'))",
        )

    def statement(self, deep):
        ways = [self.result] * 3 + [self.store] * 3 + [self.word]
        if deep:
            ways += [self.branch, self.generated, self.generated, self.records, self.stepped, self.mixed]
        self.r.choice(ways)(deep)

    def block(self, deep):
        self.deep += 1
        for _ in range(self.r.randrange(1, 4)):
            self.statement(deep - 1)
        self.deep -= 1

    def result(self, deep):
        if self.r.random() < 0.5:
            self.put(f"r0 = ({self.whole()}) % 97")
        else:
            self.put(f"r1 = {self.real()}")
            self.put("if not -1e5 < r1 < 1e5:")
            self.put("    r1 = 0.5")

    def store(self, deep):
        self.either(
            lambda: self.put(f"r[{self.at()}].b = {self.real(0)}"),
            lambda: self.put(f"r[{self.at()}]['c'] = ({self.whole(1)}) % 90"),
            lambda: self.put(f"r[{self.at()}].a = ({self.whole(1)}) % 90"),
            lambda: self.put(f"r.c[{self.at()}] += {self.r.randrange(9)}"),
            lambda: self.put(f"r[{self.at()}].v[{self.r.randrange(2)}] = {self.r.randrange(9)}"),
            lambda: self.put(f"r[{self.at()}].d.p = ({self.whole(0)}) % 90"),
            lambda: self.put("r['b'][1:] = r['b'][:-1]"),
            lambda: self.put(f"r.b[{self.r.randrange(3)}:] += 0.5"),
            lambda: self.put(f"r[{self.at()}].s = t"),
            lambda: self.put(f"{self.r.choice('wq')}[step({self.r.choice('wq')})] += step({self.r.choice('wq')})"),
            lambda: self.put(f"{self.r.choice('wq')}[w[0] % 5] = ({self.whole(1)}) % 90"),
            lambda: self.put(f"bag.n += step({self.r.choice('wq')})"),
            lambda: self.put(f"bag.n = ({self.whole(1)}) % 90"),
            lambda: self.put(f"bag.z = {self.real(0)} * 0.25"),
        )

    def word(self, deep):
        self.either(
            lambda: self.put(f"t = str(({self.whole(1)}) % 997)"),
            lambda: self.put(f"t = (t + r[{self.at()}].s)[-6:]"),
            lambda: self.put("t = t.partition('1')[2] + 'b'"),
            lambda: self.put("t = '-'.join(t.rsplit('1', 1))"),
        )

    def branch(self, deep):
        self.put(f"if {self.truth()}:")
        self.block(deep)
        if self.r.random() < 0.5:
            self.put("else:")
            self.block(deep)

    def name(self):
        self.made += 1
        return f"k{self.made}"

    def generated(self, deep):
        """A loop over a generator, with ways out of it."""
        k, z = self.name(), self.name()
        self.either(
            lambda: self.put(f"for {k} in evens(({self.whole(1)}) % 11):"),
            lambda: self.put(f"for {k}, {z} in pairs(({self.whole(1)}) % 11, x):"),
            lambda: self.put(f"for {k}, {z} in enumerate(fields(r)):"),
            lambda: self.put(f"for {k}, {z} in zip(evens(9), fields(r)):"),
            lambda: self.put(f"for {k}, {z} in enumerate(spelled(({self.whole(1)}) % 9)):"),
        )
        self.counts.append(k)
        self.block(deep)
        if self.r.random() < 0.4:
            self.put(f"    if {k} > {self.r.randrange(5)}:")
            self.put(f"        {self.r.choice(['break', 'continue'])}")
        self.put(f"    r0 = (r0 * 5 + {k}) % 97")
        self.counts.remove(k)

    def records(self, deep):
        k = self.name()
        self.put(f"for {k} in r{self.r.choice(['', '[1:]', '[::-1]'])}:")
        self.put(f"    r1 = (r1 + {k}.b) * 0.5")
        self.put(f"    {k}.c = (r0 + int({k}.a)) % 90")

    def stepped(self, deep):
        """A generator taken step by step, to its end or not."""
        k = self.name()
        self.put(f"{k} = evens(({self.whole(1)}) % 7)")
        self.put("try:")
        for _ in range(self.r.randrange(1, 4)):
            self.put(f"    r0 = (r0 * 3 + next({k})) % 97")
        self.put("except StopIteration:")
        self.put("    r0 = (r0 + 1) % 97")

    def mixed(self, deep):
        """A loop that is written out over items of several types."""
        k = self.name()
        self.put(f"for {k} in ({self.whole(1)}, {self.real(0)}, {self.whole(0)}):")
        self.put(f"    r1 = r1 * 0.5 + {k}")


def program(seed):
    """(the text, its names, the arguments of call k)."""
    text, name, names = Language(seed).text, f"<language {seed}>", {}
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    exec(compile(text, name, "exec"), names)

    def arguments(k):
        r = np.zeros(3 + k % 3, DTYPE).view(np.recarray)
        r["a"], r["b"] = np.arange(len(r)) * 7 % 5 - 2, np.arange(len(r)) * 0.75 - k
        r["c"], r["s"] = np.arange(len(r)) * 31 % 60, ["x", "ab", "", "1é", "long"][: len(r)]
        return r, k * 5 % 7, k * 0.375 - 1

    return text, names, arguments
