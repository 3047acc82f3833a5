"""Random programs that copy what is pending, in every way there is, and go on with both: against NumPy.

Values are pickled, copied deeply (alone, in containers, beside views of the same memory), handed to NumPy and back, to
DLPack and buffers, written and read as files' bytes, taken as subclasses; statements fail in between; originals and
copies are written to and looked at in any order.

    python tests/fuzz/copies.py FIRST COUNT     each that differs is shown; COUNT 0: without end
"""

import copy
import io
import itertools
import pickle
import random
import sys
import warnings

import numpy as np
import tutti as tt

KINDS = "bool int8 uint8 int16 int32 int64 uint64 float16 float32 float64 complex64 complex128".split()
SHAPES = ((6,), (3, 4), (2, 3, 2), (1,), (4, 0), (2, 1, 4))
# {x}, {y}: arrays; {v}: a view; {i}: an index; {n}: a number. The result is a new array.
COPIES = (
    "copy.copy({v})",
    "copy.deepcopy({v})",
    "copy.deepcopy([{v}, {x}])[0]",
    "copy.deepcopy({{'a': {x}, 'b': {v}}})['b']",
    "pickle.loads(pickle.dumps({v}, {p}))",
    "pickle.loads(pickle.dumps(({x}, {v}), {p}))[1]",
    "pickle.loads({v}.dumps())",
    "{v}.copy({o})",
    "m.array({v}, copy=True)",
    "m.array({v}.tolist(), dtype={v}.dtype).reshape({v}.shape)",
    "m.asarray(np.array({v}))",
    "m.asarray(np.asarray({v}).copy())",
    "m.array(memoryview({v}))",
    "m.frombuffer({v}.tobytes(), dtype={v}.dtype).reshape({v}.shape).copy() if {v}.size else {v}.copy()",
    "saved(m, {v})",
    "lent(m, {v})",
    "{v}.view(Named[m]).copy()",
    "copy.deepcopy({v}.view(Named[m]))",
    "pickle.loads(pickle.dumps({v}.view(Named[m]), {p}))",
    "{v}.astype({v}.dtype, copy=True)",
    "m.concatenate([{v}.reshape(-1)]).reshape({v}.shape)",
)
PENDING = (
    "{x} + {x}",
    "{x} * {n}",
    "m.where({x} > 1, {x}, {x})",
    "m.maximum({x}, {n})",
    "{x}[{i}]",
    "{x}.T",
    "{x}.reshape(-1)",
    "{x}.astype({k!r})",
    "{x}.real",
    "m.flip({x})",
    "m.broadcast_to({x}, (2,) + {x}.shape)",
    "m.cumsum({x}, axis=0) if {x}.ndim else {x} + 0",
)
STORES = (
    "{x}[{i}] = {n}",
    "{x}[{i}] += {n}",
    "{x} *= {n}",
    "{x}[...] = {x}[::-1] if {x}.ndim else {n}",
    "{x}.fill({n})",
    "m.add({x}, {n}, out={x}, casting='unsafe')",
)
FAILURES = (
    "{x}[99] = 1",
    "{x}[0:1] = {x}[::-1][0:0]",
    "{x} += m.ones((7, 7))",
    "{x}[...] = m.ones(5)",
    "{x} @ m.ones((9, 9))",
    "{x}.reshape(13)",
    "m.add({x}, 1, out=m.ones(5))",
    "{x}.sort(axis=7)",
    "m.linalg.cholesky(-m.eye(2))",
    "m.copyto({x}, 1j)",
    "{x}.astype('nothing')",
    "m.concatenate([{x}, m.ones((5, 5, 5, 5))])",
    "pickle.loads(pickle.dumps({x})[:-3])",
    "float(m.stack([{x}, {x}]))",
)
INDICES = ("0:2", "::2", "-1:", "...", "::-1", "0:0")


def named(m):
    class Own(m.ndarray):
        pass

    Own.__qualname__ = Own.__name__ = f"Own_{m.__name__}"
    globals()[Own.__name__] = Own
    return Own


Named = {m: named(m) for m in (np, tt)}


def saved(m, x):
    file = io.BytesIO()
    m.save(file, x)
    file.seek(0)
    return m.load(file)


def lent(m, x):
    """By DLPack, which has no number for a simulated device."""
    return m.array(x) if "null" in str(x.device) else m.from_dlpack(x, copy=True)


def start(m, kind, shape, salt):
    a = np.random.default_rng(salt).integers(0, 5, shape)
    return m.asarray(a.astype(kind))


class Program:
    def __init__(self, seed):
        draw = random.Random(seed)
        self.draw, self.lines, self.names = draw, [], []
        for k in range(2):
            self.lines.append(f"x{k} = start(m, {draw.choice(KINDS)!r}, {draw.choice(SHAPES)}, {seed * 2 + k})")
            self.names.append(f"x{k}")
        for _ in range(draw.randrange(4, 14)):
            self.step()
        self.broadcasts = any("broadcast_to" in line for line in self.lines)
        self.pickles = any("dumps(" in line for line in self.lines)
        self.order = draw.sample(self.names, len(self.names))

    def step(self):
        draw = self.draw
        x = draw.choice(self.names)
        sort = draw.random()
        where = f"{x}[{draw.choice(INDICES)}]" if draw.random() < 0.4 else f"{x}.T" if draw.random() < 0.3 else x
        slots = dict(
            x=x, v=where, i=draw.choice(INDICES), n=draw.choice([0, 1, 2, 3]), p=draw.randrange(2, 6),
            k=draw.choice(KINDS), o=draw.choice(["", "'F'", "'K'"]),
        )  # fmt: skip
        kind = COPIES if sort < 0.35 else PENDING if sort < 0.65 else STORES if sort < 0.88 else FAILURES
        text = draw.choice(kind).format(**slots)
        if kind in (COPIES, PENDING):
            name = f"x{len(self.names)}" if draw.random() < 0.8 else x
            if name != x:
                self.names.append(name)
            text = f"{name} = {text}"
        self.lines.append(text)


def run(program, m):
    scope = dict(m=m, np=np, copy=copy, pickle=pickle, Named=Named, saved=saved, lent=lent, start=start)
    said = []
    for line in program.lines:
        try:
            exec(line, scope)
        except Exception as e:
            said.append((line, next(t.__name__ for t in type(e).__mro__ if t.__module__ == "builtins")))
            name = line.split(" =")[0]
            if line.startswith("x") and name.isidentifier() and name not in scope:
                scope[name] = m.ones(2)
    seen = []
    for name in program.order:
        v = scope[name]
        how = [v.flags.c_contiguous, v.flags.f_contiguous, v.flags.writeable]
        if program.broadcasts:  # copies of such lie otherwise, and NumPy's of some from a pickle are read-only
            how = [] if program.pickles else how[2:]
        seen.append((name, isinstance(v, Named[m]), str(v.dtype), v.shape, how, v.tolist()))
    return said, seen


def difference(seed):
    program = Program(seed)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        want, got = run(program, np), run(program, tt)
    for w, g in itertools.chain(itertools.zip_longest(want[0], got[0]), zip(want[1], got[1])):
        if w != g:
            return f"{seed}: " + "; ".join(program.lines) + f"\n  NumPy {w}\n  ours  {g}"
    return None


def main():
    first, count = map(int, sys.argv[1:])
    found = 0
    for seed in range(first, first + count) if count else itertools.count(first):
        if text := difference(seed):
            found += 1
            print(text, flush=True)
    print(f"{found} of {count} programs differ")
    return found > 0


if __name__ == "__main__":
    sys.exit(main())
