"""Random programs in which memory runs out again and again: what fails has done nothing, and can be repeated.

    python tests/fault/random_programs.py FIRST COUNT [--eager]     each that goes wrong is shown; COUNT 0: without end

NumPy runs each statement beside. After a MemoryError all arrays must be what they were before the statement, which is
then made again; at the end everything is looked at, again with memory that runs out.
"""

import copy
import itertools
import pickle
import random
import sys
import warnings

import numpy as np
import tutti as tt

KINDS = "bool int8 int32 int64 uint64 float32 float64 complex128".split()
SHAPES = ((6,), (3, 4), (2, 3, 2), (40,), (17, 5))
MADE = (
    "{x} + {x}",
    "{x} * {n} - {y}.sum()",
    "m.where({x} > 1, {x}, {n})",
    "{x}[{i}]",
    "{x}.T",
    "{x}.reshape(-1)[::-1]",
    "{x}.astype({k!r})",
    "m.sort({x}, axis=-1)",
    "m.argsort({x}, axis=-1, kind='stable')",
    "m.cumsum({x}, axis=0)",
    "{x}.sum(axis=0, keepdims=True)",
    "{x}.max(axis=-1, keepdims=True)",
    "m.concatenate([{x}.reshape(-1), {y}.reshape(-1)])",
    "m.outer({x}.reshape(-1)[:5], {y}.reshape(-1)[:5])",
    "{x}.reshape(-1)[{x}.reshape(-1) > 1]",
    "m.unique({x})",
    "m.nonzero({x})[0]",
    "m.bincount(m.abs({x}).real.astype('int64').reshape(-1) % 7)",
    "m.take({x}.reshape(-1), [0, 3, 1, -1])",
    "{x}.real",
    "m.searchsorted(m.sort({x}.reshape(-1)), {y}.reshape(-1))",
    "m.repeat({x}, 2, axis=0)",
    "pickle.loads(pickle.dumps({x}))",
    "copy.deepcopy({x})",
    "m.linalg.solve(m.eye(4) * 2, m.ones((4, 2)) * {n})",
    "m.fft.fft(m.zeros(12) + {n})",
    "m.array({x}.tolist())",
)
STORES = (
    "{x}[{i}] = {n}",
    "{x}[{i}] += {n}",
    "{x} *= {n}",
    "{x}[...] = {x}[::-1]",
    "{x}.reshape(-1)[1:] += {x}.reshape(-1)[:-1]",
    "{x}[{x} > 2] = {n}",
    "m.add({x}, {x}, out={x})",
    "m.add.at({x}.reshape(-1), [0, 0, 2], {n})",
    "{x}.sort(axis=0)",
    "m.put({x}, [0, -1], {n})",
    "m.copyto({x}, {y}.reshape(-1)[0].real, casting='unsafe')",
    "{x}.fill({n})",
)
INDICES = ("0:2", "::2", "-1:", "...", "::-1", "[0, 1, 0]", "1:, ...")


def start(m, kind, shape, salt):
    return m.asarray(np.random.default_rng(salt).integers(0, 5, shape).astype(kind))


class Program:
    def __init__(self, seed):
        self.draw = draw = random.Random(seed)
        self.lines = [
            f"x{k} = start(m, {draw.choice(KINDS)!r}, {draw.choice(SHAPES)}, {seed * 2 + k})" for k in range(2)
        ]
        self.names = ["x0", "x1"]
        for _ in range(draw.randrange(3, 10)):
            x, y = draw.choice(self.names), draw.choice(self.names)
            made = draw.random() < 0.6
            text = draw.choice(MADE if made else STORES)
            text = text.format(x=x, y=y, i=draw.choice(INDICES), n=draw.randrange(4), k=draw.choice(KINDS))
            if made:
                x = x if draw.random() < 0.2 else f"x{len(self.names)}"
                self.names += [x] if x not in self.names else []
                text = f"{x} = {text}"
            self.lines.append(text)


def seen(scope):
    return {k: (v.dtype.name, v.shape, v.tolist()) for k, v in scope.items() if k[0] == "x" and hasattr(v, "dtype")}


def unlike(want, got):
    """The first array that differs, there and here; rounded sums and transforms aside."""
    for k, (kind, shape, values) in want.items():
        if k not in got or (kind, shape) != got[k][:2]:
            return f"{k}: NumPy {want[k]}, ours {got.get(k)}"
        if not np.allclose(got[k][2], values, rtol=1e-4, atol=1e-4, equal_nan=True):
            return f"{k}: NumPy {want[k]}, ours {got[k]}"
    return f"more: {got.keys() - want.keys()}" if got.keys() != want.keys() else None


def arm(draw):
    tt._core._test_fail("memory", draw.choice([0, 1, 2, 3, 5, 8, 13, 21, 34, 55]), draw.random() < 0.2)


def disarm():
    tt._core._test_fail("memory", -1, False)


def attempt(line, scope):
    """The type of the error, or None."""
    try:
        exec(line, scope)
    except Exception as e:
        return next(t.__name__ for t in type(e).__mro__ if t.__module__ == "builtins")
    return None


def wrong_step(line, theirs, ours, draw):
    """A statement in both, in ours until memory is enough; what went wrong, or None. Counts failures."""
    before = seen(theirs)
    arm(draw)
    failed = attempt(line, ours)
    disarm()
    if failed == "MemoryError":
        ours["failures"] += 1
        if found := unlike(before, seen(ours)):
            return f"{line} failed and left {found}"
        failed = attempt(line, ours)
    wanted = attempt(line, theirs)
    return None if failed == wanted else f"{line}: NumPy {wanted}, ours {failed}"


def difference(seed):
    """None, or the program and what went wrong; and how often memory ran out."""
    program = Program(seed)
    theirs, ours = (dict(m=m, np=np, copy=copy, pickle=pickle, start=start, failures=0) for m in (np, tt))
    words = f"{seed}: " + "; ".join(program.lines)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            for line in program.lines:
                if wrong := wrong_step(line, theirs, ours, program.draw):
                    return f"{words}\n  {wrong}", ours["failures"]
            for _ in range(3):
                arm(program.draw)
                try:
                    seen(ours)
                except MemoryError:
                    ours["failures"] += 1
                disarm()
            if found := unlike(seen(theirs), seen(ours)):
                return f"{words}\n  {found}", ours["failures"]
    except RuntimeError as e:
        if "were lost when a launch failed" not in str(e):
            raise
        return None, ours["failures"]  # a device was on its way and found no memory: it says so
    finally:
        disarm()
    return None, ours["failures"]


def main():
    first, count = map(int, sys.argv[1:3])
    tt.set_tier(0)
    tt.set_eager(-1 if "--eager" in sys.argv else 0)
    found = failures = 0
    for seed in range(first, first + count) if count else itertools.count(first):
        text, ran_out = difference(seed)
        failures += ran_out
        if text:
            found += 1
            print(text, flush=True)
    print(f"{found} of {count} programs go wrong; memory ran out {failures} times")
    return found > 0


if __name__ == "__main__":
    sys.exit(main())
