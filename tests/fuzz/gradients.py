"""Random programs of views, writes in place, indices, reductions and dropped names, and gradients of what they leave.

Each program is run as plain NumPy at two points close to each other: the difference says what the gradient, which tutti
found by walking back, must be in that direction. By hand:

    python tests/fuzz/gradients.py FIRST LAST [--processes N]
"""

import argparse
import multiprocessing
import random
import sys

import numpy as np
import tutti as tt

SHAPES = [(4,), (3, 4), (2, 3, 4), (5, 5), (1, 4), (7,)]
UNARY = ["sin", "cos", "tanh", "exp", "square", "negative", "arctan", "expm1", "abs", "sqrt_of_square", "reciprocal_of"]
BINARY = ["add", "subtract", "multiply", "maximum", "minimum", "divide_by", "arctan2", "hypot"]
STEP = 1e-6


def unary(m, word, a):
    if word == "sqrt_of_square":
        return m.sqrt(a * a + 1)
    if word == "reciprocal_of":
        return 1 / (a * a + 2)
    return getattr(m, word)(a * 0.5 if word in ("exp", "expm1") else a)


def binary(m, word, a, b):
    if word == "divide_by":
        return a / (b * b + 1)
    if word in ("arctan2", "hypot"):
        return getattr(m, word)(a + 3, b * b + 1)
    return getattr(m, word)(a, b)


class Program:
    """One program: `run` does it with a module, always the same way."""

    def __init__(self, seed):
        self.seed = seed
        rng = np.random.default_rng(seed)
        shapes = random.Random(seed).choices(SHAPES, k=2)
        self.leaves = [rng.uniform(-1.5, 1.5, s) for s in shapes]
        self.direction = [rng.standard_normal(s) for s in shapes]

    def run(self, m, leaves, between=lambda pool: None):
        rng = random.Random(self.seed * 7 + 1)
        self.rng, self.m, self.pool = rng, m, [x * 1.25 for x in leaves]
        for _ in range(rng.randrange(3, 12)):
            self.statement()
            if rng.random() < 0.15:
                between(self.pool)
        return sum(m.sum(a * a * w) for w, a in zip((0.5, 1.0, -0.25, 2.0, 0.1, 0.7, 1.3), self.pool))

    def add(self, a):
        """A value, kept small so that no chain overflows; dropped names make room."""
        self.pool.append(a)
        if len(self.pool) > 5:
            self.pool.pop(self.rng.randrange(len(self.pool)))

    def pick(self):
        return self.rng.choice(self.pool)

    def view(self, a):
        rng = self.rng
        kind = rng.randrange(7)
        if a.ndim == 0:
            return a
        if kind == 0:
            return a[::-1]
        if kind == 1:
            return a.T
        if kind == 2 and a.shape[0] > 1:
            return a[1:]
        if kind == 3:
            return a[..., ::2]
        if kind == 4:
            return a[rng.randrange(a.shape[0])]
        if kind == 5:
            return a.reshape(-1)
        return a[..., None]

    def like(self, a):
        """Another value, broadcast to a's shape."""
        b = self.pick()
        if b.ndim and b.size != a.size:
            b = b.reshape(-1)[: 1 + self.rng.randrange(b.size)].sum()
        return b.reshape(a.shape) if b.ndim else b

    def statement(self):
        rng, m, a = self.rng, self.m, self.pick()
        kind = rng.randrange(16)
        if kind < 3:
            self.add(m.tanh(unary(m, rng.choice(UNARY), a)) * 1.5)
        elif kind < 5:
            self.add(binary(m, rng.choice(BINARY), a, self.like(a)))
        elif kind == 5:
            self.add(self.view(a))  # an alias: later writes show in both
        elif kind == 6 and a.ndim:
            axis = rng.randrange(a.ndim)
            word = rng.choice(["sum", "mean", "max", "min", "prod"])
            self.add(getattr(m, word)(m.tanh(a), axis=axis, keepdims=rng.random() < 0.5))
        elif kind == 7 and a.ndim:
            self.add(a[[0, a.shape[0] - 1, 0]])
        elif kind == 8:
            self.add(m.where(m.asarray(np.arange(a.size).reshape(a.shape) % 3 == 0), a, self.like(a)))
        elif kind == 9 and a.ndim:
            self.add(m.concatenate([a, a[:1]]))
        elif kind == 10 and a.ndim == 2:
            self.add(m.tanh(a @ a.T))
        elif kind == 11 and a.ndim:
            self.add(m.cumsum(m.tanh(a), axis=0))
        elif kind == 12 and a.ndim and a.shape[0] > 1:
            a[1:] = a[:-1] * 0.5 + m.tanh(self.like(a[1:]))
        elif kind == 13 and a.ndim:
            v = self.view(a)
            if v.ndim:
                v *= 0.75
                v += m.sin(self.like(v))
        elif kind == 14 and a.ndim:
            a[[0, 0]] = m.cos(a[[0, a.shape[0] - 1]])
        elif a.ndim:
            a[m.asarray(np.arange(a.size).reshape(a.shape) % 2 == 0)] *= 0.5


def scalar(program, leaves):
    return float(program.run(np, leaves))


def difference(program):
    """The slope in the direction, by two steps whose answers must agree; None: there is a kink in between."""
    out = []
    for step in (STEP, STEP / 3):
        ends = [
            scalar(program, [x + side * step * d for x, d in zip(program.leaves, program.direction)])
            for side in (1, -1)
        ]
        out.append((ends[0] - ends[1]) / (2 * step))
    fits = np.isfinite(out).all() and abs(out[0] - out[1]) <= 1e-5 * (1 + abs(out[0]))
    return out[0] if fits else None


WAYS = ("at the call", "recorded", "looked at", "not fused")


def slope(program, way):
    rng = random.Random(program.seed)
    leaves = [tt.array(x).requires_grad_() for x in program.leaves]
    tt.set_eager(0 if way != "at the call" else -1)
    tt.set_fuse(way != "not fused")
    try:

        def look(pool):
            if way == "looked at":
                tt.eval(rng.choice(pool))

        value = program.run(tt, leaves, look)
        if way == "looked at" and rng.random() < 0.5:
            tt.eval(value)
        value.backward()
        found = [np.zeros(x.shape) if x.grad is None else x.grad.numpy() for x in leaves]
    finally:
        tt.set_eager(-1)
        tt.set_fuse(True)
    return float(value), sum(float(np.sum(g * d)) for g, d in zip(found, program.direction))


def check(seed):
    """None, or what is wrong."""
    program = Program(seed)
    with np.errstate(all="ignore"):
        want, value = difference(program), scalar(program, program.leaves)
    if want is None:
        return None
    for way in WAYS:
        got, found = slope(program, way)
        if abs(got - value) > 1e-9 * (1 + abs(value)):
            return f"seed {seed}, {way}: value {got}, NumPy {value}"
        if abs(found - want) > 2e-4 * (1 + abs(want)):
            return f"seed {seed}, {way}: slope {found}, by differences {want}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("first", type=int)
    parser.add_argument("last", type=int)
    parser.add_argument("--processes", type=int, default=1)
    args = parser.parse_args()
    seeds = range(args.first, args.last)
    if args.processes > 1:
        with multiprocessing.get_context("spawn").Pool(args.processes) as pool:
            found = pool.map(check, seeds, chunksize=5)
    else:
        found = map(check, seeds)
    wrong = [w for w in found if w]
    print("\n".join(wrong[:20]))
    print(f"{len(seeds)} programs, {len(wrong)} wrong")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
