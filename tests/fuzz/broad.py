"""Broadcast arrays of up to 2**48 elements, and random expressions over some of 4,096, reduced over any axes: against
NumPy, which has them with a few rows in the place of billions.

    python tests/fuzz/broad.py FIRST COUNT     each that differs is shown; COUNT 0: without end

Values are small whole numbers and lengths powers of two, so that a sum over more equal rows is exactly a multiple.
"""

import itertools
import random
import sys
import warnings

import numpy as np
import tutti as tt

FEW = 4
KINDS = "bool int8 uint8 int32 int64 uint64 float32 float64 complex128".split()
SUMS = ("sum", "count_nonzero", "nansum")  # grow with the number of rows; others do not
SAME = ("max", "min", "any", "all", "mean", "var", "std", "ptp", "nanmax", "argmax", "argmin", "median", "average")
STEPS = ("{x} + {y}", "{x} * {y}", "m.where({x} > {y}, {x}, {y})", "m.maximum({x}, {y})", "abs({x})", "{x} == {y}",
         "{x}.astype('float64')", "{x} * 2", "{x}[::-1]", "{x}.T.T", "-({x} + 0)", "m.square({x})",
         "{x} - {y}")  # fmt: skip


class Program:
    """text: an expression over m and arrays; the axes that are long, and what is asked of it."""

    def __init__(self, seed):
        draw = self.draw = random.Random(seed)
        self.rank = draw.randrange(1, 4)
        self.long = [draw.random() < 0.6 for _ in range(self.rank)]
        self.long[draw.randrange(self.rank)] = True
        steps = draw.randrange(4)
        self.bits = (draw.choice([12, 30, 46]) if steps == 0 else 12) // sum(self.long)  # expressions are computed
        self.short = [draw.choice([1, 2, 3, 5]) for _ in range(self.rank)]
        text = self.leaf(0)
        for k in range(steps):
            text = draw.choice(STEPS).format(x=f"({text})", y=self.leaf(k + 1))
        self.text = text
        axes = [d for d in range(self.rank) if draw.random() < 0.7] or [0]
        self.name = draw.choice(SUMS + SAME)
        self.axes = tuple(axes) if self.name not in ("argmax", "argmin") else axes[0]
        self.left = [d for d in range(self.rank) if d not in np.atleast_1d(self.axes)]
        if any(self.long[d] for d in self.left):
            self.bits = 12 // sum(self.long)  # a result of so many elements

    def leaf(self, k):
        """A thin array that is broadcast: along a long axis it has one element."""
        draw = self.draw
        thin = tuple(1 if is_long or draw.random() < 0.3 else n for is_long, n in zip(self.long, self.short))
        return f"whole(m, {draw.choice(KINDS)!r}, {thin}, {draw.randrange(10**6)})"

    def value(self, m, rows):
        shape = tuple(rows if is_long else n for is_long, n in zip(self.long, self.short))

        def whole(m, kind, thin, salt):
            a = np.random.default_rng(salt).integers(0, 4, thin).astype(kind)
            return m.broadcast_to(m.asarray(a), shape)

        x = eval(self.text, {"m": m, "whole": whole})
        made = getattr(m, self.name)(x, axis=self.axes)
        first = tuple(slice(0, 1) if self.long[d] else slice(None) for d in self.left)
        return np.asarray(made[first] if first else made)

    def times(self):
        """Of how many of NumPy's few rows a long axis has."""
        axes = np.atleast_1d(self.axes)
        return (2**self.bits // FEW) ** sum(self.long[d] for d in axes) if self.name in SUMS else 1


def outcome(program, m, rows):
    try:
        return program.value(m, rows)
    except (TypeError, ValueError, IndexError, MemoryError) as e:
        return type(e).__name__


def difference(seed):
    """None, or the program and what came of it, there and here."""
    program = Program(seed)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        want, got = outcome(program, np, FEW), outcome(program, tt, 2**program.bits)
        words = f"{seed}: {program.name}({program.text}, axis={program.axes}) of 2**{program.bits} rows {program.long}"
        if isinstance(want, str) or isinstance(got, str):
            return None if isinstance(want, str) and want == got else f"{words}\n  NumPy {want!r}\n  ours  {got!r}"
        with_all = want.astype(object) * program.times() if want.dtype.kind in "iu" else want * float(program.times())
        if want.dtype.kind in "iu":
            bits = want.dtype.itemsize * 8
            with_all = np.vectorize(lambda v: v % 2**bits, otypes=[object])(with_all)
            with_all = with_all.astype(f"u{want.dtype.itemsize}").astype(want.dtype)
        with_all = np.asarray(with_all).astype(want.dtype) if want.dtype.kind != "b" else want
        if want.dtype != got.dtype or want.shape != got.shape:
            return f"{words}\n  NumPy {want.dtype}{want.shape}\n  ours  {got.dtype}{got.shape}"
        near = 1e-5 if want.dtype == "float32" else 1e-12
        same = np.allclose(got, with_all, rtol=near, atol=near, equal_nan=True)
        return None if same else f"{words}\n  NumPy {with_all!r}\n  ours  {got!r}"


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
