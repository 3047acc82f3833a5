"""Random straight-line C: operations of the graph against the compiled kernel; damaged ones for an answer."""

import random
import shutil

import numpy as np
import pytest
import tutti as tt

INPUTS = {"a": "int8", "b": "int32", "c": "uint16", "d": "int64", "p": "float32", "q": "float64", "t": "bool"}


class Text:
    """Expressions whose value C and the graph agree on to the bit: small whole numbers, sums of quarters."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.ints, self.floats = ["a", "b", "c", "d", "t"], ["p", "q"]

    def whole(self, depth):
        r = self.rng
        if depth == 0 or r.random() < 0.2:
            return r.choice(
                [*self.ints, str(r.randint(-4, 7)), f"{r.randint(0, 7)}u", f"{r.randint(0, 7)}ll", "(int)i"]
            )
        x, y = self.whole(depth - 1), self.whole(depth - 1)
        return r.choice([
            f"({x} + {y})", f"({x} - {y})", f"({x} * {y})", f"({x} & {y})", f"({x} | {y})", f"({x} ^ {y})", f"~({x})",
            f"({x}) / (({y} & 7) + 1)", f"({x}) % (({y} & 3) + 2)", f"(({x}) << ({y} & 3))", f"(({x}) >> ({y} & 3))",
            f"(({self.truth(depth - 1)}) ? {x} : {y})", f"min({x}, {y})", f"max({x}, {y})", f"(signed char)({x})",
            f"(unsigned short)({x})", f"(int)({self.real(depth - 1)})", f"-({x})", f"!({x})", f"(long long)({x})",
        ])  # fmt: skip

    def real(self, depth):
        r = self.rng
        if depth == 0 or r.random() < 0.2:
            return r.choice([*self.floats, "0.5f", "2.25", "-1.f", "(float)a"])
        x, y = self.real(depth - 1), self.real(depth - 1)
        return r.choice([
            f"({x} + {y})", f"({x} - {y})", f"({x} * 2.f)", f"({x} * 0.5)", f"-({x})", f"fmin({x}, {y})", f"floor({x})",
            f"(({self.truth(depth - 1)}) ? {x} : {y})", f"abs({x})", f"(float)({x})", f"({x} + a)", f"rint({x})",
        ])  # fmt: skip

    def truth(self, depth):
        r = self.rng
        if depth == 0:
            return r.choice(["t", "true", "a", "p"])
        side = self.whole if r.random() < 0.5 else self.real
        x, y = side(depth - 1), side(depth - 1)
        return r.choice([
            f"{x} < {y}", f"{x} >= {y}", f"{x} == {y}", f"{x} != {y}", f"!({self.truth(depth - 1)})",
            f"{self.truth(depth - 1)} {r.choice(['&&', '||'])} {self.truth(depth - 1)}",
        ])  # fmt: skip

    def statements(self, outputs):
        r, lines = self.rng, [f"{o} = 0;" for o in outputs]
        for k in range(4):
            lines.append(f"int v{k} = {self.whole(1)}; float f{k} = {self.real(1)};")
            self.ints.append(f"(v{k} & 7)")
        for o in outputs:
            kind = r.randrange(5)
            value = self.whole(3) if o[0] == "w" else self.real(3)
            if kind == 0:
                lines.append(
                    f"if ({self.truth(2)}) {{ {o} = {value}; v0 += 1; }} else if ({self.truth(1)}) f1 -= 1; else v1++;"
                )
            elif kind == 1:
                lines.append(f"if ({self.truth(1)}) {o} = f{r.randrange(4)}; {o} += v{r.randrange(4)};")
            elif kind == 2:
                lines.append(f"{{ auto u = {value}; u = u; {o} = u; {o} -= {r.choice('abp')}; }}")
            elif kind == 3:
                lines.append(f"{o} = {value}; if ({self.truth(2)}) return;")
            else:
                lines.append(f"{o} = {value};")
        return "\n".join(lines)


@pytest.mark.skipif(not (shutil.which("c++") or shutil.which("g++")), reason="no C++ compiler")
@pytest.mark.parametrize("seed", range(6))
def test_random_texts(seed):
    outputs = [f"w{k}" for k in range(8)] + [f"r{k}" for k in range(8)]
    text = Text(seed).statements(outputs)
    rng = np.random.default_rng(seed)
    args = [
        rng.integers(0 if d[0] in "ub" else -8, 2 if d == "bool" else 8, 64).astype(d) if d[0] != "f"
        else (rng.integers(-16, 16, 64) / 4).astype(d)
        for d in INPUTS.values()
    ]  # fmt: skip
    declared = ", ".join(f"{'int64' if o[0] == 'w' else 'float64'} {o}" for o in outputs)
    inputs = ", ".join(f"{d} {name}" for name, d in INPUTS.items())
    graph, cuda = [tt.ElementwiseKernel(inputs, declared, text, "k", way=w) for w in ("graph", "cuda")]
    want = [o.numpy() for o in cuda(*args)]
    for name, g, w in zip(outputs, graph(*args), want, strict=True):
        assert np.array_equal(g.numpy(), w), (name, text)


@pytest.mark.parametrize("seed", range(4))
def test_damaged_texts(seed):
    rng = random.Random(seed)
    text = Text(seed).statements(["y"])
    pieces = [
        "(",
        ")",
        "{",
        "}",
        ";",
        "if (",
        "?",
        ":",
        "x[",
        "=",
        "0x",
        "1e",
        "'",
        '"',
        "#define y",
        "\n",
        "T(",
        "é",
        "return",
    ]
    for _ in range(150):
        bad = text
        for _ in range(rng.randint(1, 3)):
            at = rng.randrange(len(bad))
            cut = rng.choice([0, 0, 1, 9])
            bad = bad[:at] + rng.choice(pieces) + bad[at + cut :]
        k = tt.ElementwiseKernel("T x, " + ", ".join(f"{d} {n}" for n, d in INPUTS.items()), "T y", bad, way="graph")
        try:
            k(np.ones(2), *[np.ones(2, d) for d in INPUTS.values()])
        except (NotImplementedError, tt.CompileError):
            pass
