"""Random array programs: written once as a list of steps, run by NumPy or by tutti.

A program keeps a pool of arrays. Each step reads some of them through random views, computes, and adds a
result or writes through a view. Values are kept tame (no overflow, no cancellation to noise), so that
results compare closely whatever the order of a reduction.
"""

import random

UNARY = ["negative", "abs", "square", "sin", "cos", "tanh", "floor", "sqrt_abs", "exp_neg"]
BINARY = ["add", "subtract", "multiply", "maximum", "minimum", "less_where"]
REDUCE = ["sum", "max", "min", "mean", "var"]
LENGTHS = [0, 1, 2, 3, 5, 7, 8, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 257]


def random_slice(rng, n):
    kind = rng.randrange(6)
    if kind == 0 or n == 0:
        return slice(None)
    if kind == 1:
        return slice(None, None, -1)
    if kind == 2:
        return slice(rng.randrange(n), None)
    if kind == 3:
        return slice(None, None, rng.choice([2, 3, -2]))
    if kind == 4:
        lo = rng.randrange(n)
        return slice(lo, rng.randrange(lo, n) + 1)
    return slice(1, -1)


class Program:
    def __init__(self, seed):
        rng = random.Random(seed)
        self.seed = seed
        rank = rng.choice([1, 1, 2, 2, 2, 3, 4])
        small = [n for n in LENGTHS if n <= (300 if rank == 1 else 70 if rank == 2 else 9)]
        self.shape = tuple(rng.choice(small) for _ in range(rank))
        self.inputs = rng.randrange(1, 4)
        self.rng_state = rng.getrandbits(32)
        self.length = rng.randrange(3, 14)

    def run(self, xp, make, look):
        """Every array of the pool, at the end. make(i, shape): input i; look(x): perhaps evaluate."""
        rng = random.Random(self.rng_state)
        pool = [make(i, self.shape) for i in range(self.inputs)]
        for _ in range(self.length):
            self.step(xp, rng, pool)
            look(rng.random() < 0.2, pool)
            if len(pool) > 7:
                pool.pop(rng.randrange(len(pool)))
        return pool

    def view(self, rng, x):
        kind = rng.randrange(8)
        if kind == 0 and x.ndim > 1:
            axes = list(range(x.ndim))
            rng.shuffle(axes)
            return x.transpose(axes)
        if kind == 1 and x.ndim:
            return x[tuple(random_slice(rng, n) for n in x.shape)]
        if kind == 2 and x.ndim:
            return x[..., None] if rng.random() < 0.5 and x.ndim < 5 else x[None]
        if kind == 3:
            return x.reshape(-1)
        if kind == 4 and x.ndim and x.shape[0]:
            return x[rng.randrange(x.shape[0])]
        return x

    def step(self, xp, rng, pool):
        x = self.view(rng, rng.choice(pool))
        kind = rng.randrange(10)
        if kind < 3:
            pool.append(self.unary(xp, rng.choice(UNARY), x))
        elif kind < 6:
            y = self.partner(xp, rng, pool, x)
            pool.append(self.binary(xp, rng.choice(BINARY), x, y))
        elif kind < 8:
            self.reduction(xp, rng, pool, x)
        else:
            self.write(xp, rng, pool)

    def unary(self, xp, name, x):
        if name == "sqrt_abs":
            return xp.sqrt(xp.abs(x))
        if name == "exp_neg":
            return xp.exp(-xp.abs(x))
        if name == "square":
            return xp.square(x) * 0.25
        return getattr(xp, name)(x)

    def partner(self, xp, rng, pool, x):
        """Something that broadcasts against x."""
        for _ in range(4):
            y = self.view(rng, rng.choice(pool))
            n = min(x.ndim, y.ndim)
            if n == 0 or all(a == b or a == 1 or b == 1 for a, b in zip(x.shape[-n:], y.shape[-n:])):
                size = 1
                for a, b in zip(((1,) * 9 + x.shape)[-9:], ((1,) * 9 + y.shape)[-9:]):
                    size *= max(a, b) if a and b else 0
                if size <= 200_000:
                    return y
        return rng.choice([0.5, -1.25, 2])

    def binary(self, xp, name, x, y):
        if name == "multiply":
            return xp.multiply(x, y) * 0.5
        if name == "less_where":
            return xp.where(xp.less(x, y), x, xp.multiply(y, 0.5))
        return getattr(xp, name)(x, y)

    def reduction(self, xp, rng, pool, x):
        name = rng.choice(REDUCE)
        axes = [d for d in range(x.ndim) if rng.random() < 0.6]
        points = 1
        for d in axes:
            points *= x.shape[d]
        if points == 0 or x.ndim == 0:
            name = "sum"
        keep = rng.random() < 0.6
        axis = tuple(axes) if axes else None
        if axis is None and x.size == 0:
            name = "sum"
        r = getattr(xp, name)(x, axis=axis, keepdims=keep)
        scale = 1.0 / max(points if axes else x.size, 1) if name == "sum" else 1.0
        r = r * scale
        pool.append(x - r if keep and rng.random() < 0.7 else r + 0.0)

    def write(self, xp, rng, pool):
        target = rng.choice(pool)
        if target.ndim == 0:
            return
        index = tuple(random_slice(rng, n) for n in target.shape)
        part = target[index]
        kind = rng.randrange(4)
        if kind == 0:
            target[index] = 0.25
        elif kind == 1:
            target[index] = part * 0.5 + 0.125
        elif kind == 2:
            other = target[tuple(random_slice(rng, n) for n in target.shape)]
            if other.shape == part.shape:
                target[index] = (part + other) * 0.5
        else:
            target[index] += 0.5
