"""Random Python functions over lists, for jit in all tiers and Python itself."""

import random


class Program:
    """The text of a function f(n, x) that makes lists, changes them and returns what they hold."""

    def __init__(self, seed):
        self.r, self.lines, self.deep, self.loops = random.Random(seed), ["def f(n, x):"], 1, 0
        self.lists = {"i": ["a", "b"], "f": ["u", "v"]}
        self.put("a = [n, 2, n - 3]", "b = [k * k for k in range(n)]", "u = [x, 0.5] * 2", "v = [x]", "s, t = 0, 0.0")
        self.block(self.r.randrange(6, 12))
        self.put("return a, b, u, v, s, t, a == b, len(u)")

    def put(self, *lines):
        self.lines += ["    " * self.deep + line for line in lines]

    def block(self, n):
        for _ in range(n):
            self.statement()

    def number(self, kind):
        r = self.r
        if kind == "i":
            return r.choice(["s", "n", str(r.randrange(-5, 9)), f"(s * 3 + {r.randrange(5)}) % 11"])
        return r.choice(["t", "x", str(r.randrange(-4, 9) / 4), f"x * {r.randrange(4)}"])

    def bound(self, otherwise=""):
        return self.r.choice([otherwise, "s % 5 - 2", str(self.r.randrange(-5, 6))])

    def statement(self):
        r, kind = self.r, self.r.choice("if")[0]
        one, other = r.choice(self.lists[kind]), r.choice(self.lists[kind])
        value, total = self.number(kind), "s" if kind == "i" else "t"
        inside = f"{self.number('i')} % len({one})"
        rows = [
            [f"{one}.append({value})"],
            [f"{one}.insert({r.randrange(-3, 4)}, {value})"],
            [f"if len({one}) > 1:", f"    {total} += {one}.pop()"],
            [f"if {one}:", f"    {total} -= {one}.pop({inside})"],
            [f"if {one}:", f"    {one}[{inside}] {r.choice(['=', '+=', '-='])} {value}"],
            [f"{one} = {one}[{r.choice(['', '1', '-3'])}:{r.choice(['', '7', '-1'])}:{r.choice(['', '2', '-1'])}]"],
            [f"if len({one}) < 40:", f"    {one} = {one} + {other}"],
            [f"if len({one}) < 40:", f"    {one}.extend({other}[:3])"],
            [f"{one}.sort()"],
            [f"{one}.reverse()"],
            [f"if {value} in {one}:", f"    {one}.remove({value})"],
            [f"{total} += sum({one}) + {one}.count({value})"],
            [f"if {one}:", f"    {total} += min({one}) - max({one})"],
            [f"{other} = sorted({one})"],
            [f"{one} = [q - {r.randrange(3)} for q in {other} if q > {value}]"],
            [f"for k, q in enumerate({one}):", "    if k > 9:", "        break", f"    {total} += q * (k % 3)"],
            [f"for q, w in zip({one}, {other}):", "    if q == w:", "        continue", f"    {total} += q - w"],
            [f"{other} = {one}", f"{other}.append({value})"],
            [f"if s > {r.randrange(9)} and not {one}:", "    s += 1", "else:", f"    {one} = {one}.copy()"],
            [f"{total} += {one}[{r.randrange(-9, 9)}]"],
            [f"del {one}[{self.bound()}:{self.bound()}:{r.choice(['', '2', '-1', '-2'])}]"],
            [f"if {one}:", f"    del {one}[{inside}]"],
            [f"if len({one}) < 40:", f"    {one}[{self.bound()}:{self.bound()}] = {other}[:{r.randrange(5)}]"],
            [f"c = slice({self.bound('None')}, {self.bound('None')}, s % 3 - 1)", f"{one} = {one}[c]"],
            ["d = s % 5 - 2", f"{one} = {one}[{self.bound()}:{self.bound()}:d]"],
            [f"if {value} in {one}[1:]:", f"    s += {one}.index({value}, 1)"],
            [f"{one}.sort(key=lambda z: z * {r.choice(['z', '-2', '(z - 1)'])}, reverse={r.random() < 0.5})"],
            [f"{other} = sorted({one}, key=abs)"],
            [f"{one}.extend(range(s % 4))"],
        ]
        if self.deep < 3 and r.random() < 0.2:
            self.loops += 1
            self.put(f"for k{self.loops} in range({r.randrange(1, 4)}):")
            self.deep += 1
            self.block(r.randrange(1, 4))
            self.deep -= 1
        else:
            self.put(*r.choice(rows))
            if kind == "i":
                self.put("s = s % 1009")

    def text(self):
        return "\n".join(self.lines) + "\n"
