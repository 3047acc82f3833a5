"""Random programs about versions of memory: few arrays, stores between values that are pending, old versions dropped.

A value whose operand nobody else holds any more may be stored in one step of a plan and computed again in a later one;
what one store reads the next one overwrites; views are reversed and overlap. Everything is looked at in random order at
the end, or evaluated together. Values are small whole numbers: results are NumPy's to the bit.

    python tests/fuzz/versions.py FIRST COUNT [--interpreted | --compiled] [--unfused] [--types int64] [--processes N]

Programs that differ are cut down and shown. With processes, one that dies is shown too. TUTTI_DEVICE=cuda:0 runs them
on a GPU, where with one type there are fewer kernels to wait for. TUTTI_CHECK=1 checks bounds, TUTTI_POISON=1 spoils
what was given back.
"""

import argparse
import mmap
import os
import random
import signal
import subprocess
import sys
import tempfile
import warnings

import numpy as np
import tutti as tt

TYPES = ["int64"] * 5 + ["float32", "float64", "int32", "bool", "int8", "uint8", "int16", "uint16", "uint32", "uint64",
                         "float16", "complex64", "complex128"]  # fmt: skip
# Above 1,024 elements nothing is done at once on the host, so that everything is pending.
SIZES = [5, 5, 5, 5, 6, 8, 9, 17, 33, 1100]
WIDTHS = [2, 2, 3, 5]
NAMES = "abcdefghijklmnop"
ERRORS = (TypeError, ValueError, IndexError, OverflowError)


class Program:
    """Statements over arrays named by letters, and how they are looked at."""

    def __init__(self, seed, types=TYPES):
        r = self.r = random.Random(seed)
        self.dtype = r.choice(types)
        self.n = r.choice(SIZES)
        self.two = r.random() < 0.3
        self.shape = (self.n, r.choice(WIDTHS)) if self.two else (self.n,)
        self.names, self.text = ["a"], []
        if r.random() < 0.25:
            self.text.append("b = a + a")
            self.names.append("b")
        for _ in range(r.randrange(3, 10)):
            self.statement()
        self.looks = self.names[:]
        r.shuffle(self.looks)
        self.looks = self.looks[: r.randrange(1, len(self.looks) + 1)]
        kind = r.randrange(4)
        if kind == 0 and len(self.looks) > 1:
            self.looks[:2] = [f"{self.looks[0]}[::-1] + {self.looks[1]}"]
        self.together = kind == 1

    def name(self):
        return self.r.choice(self.names)

    def number(self):
        return self.r.choice([0, 1, 1, 2, 3])

    def span(self, length=None):
        """A slice of rows of some length; overlaps with others are likely."""
        r = self.r
        length = length or r.randrange(1, self.n)
        lo = r.randrange(self.n - length + 1)
        form = r.randrange(3)
        if form == 0:
            return f"{lo}:{lo + length}"
        if form == 1:
            return f"{lo - self.n}:{lo + length - self.n or ''}"
        return f"{lo + length - 1}:{lo - 1 if lo else ''}:-1"

    def rows(self, length):
        return f"[{', '.join(str(self.r.randrange(self.n)) for _ in range(length))}]"

    def value(self):
        """A whole new value."""
        r, n, m = self.r, self.name(), self.name()
        forms = [
            f"{n} + {self.number()}",
            f"{n} * {self.number()}",
            f"{n} + {m}",
            f"{n}[::-1] + {m}",
            f"{n} + {m}[0]",
            f"{n} + {n}.max(axis=0)",
            f"xp.minimum({n} + 1, {m}) + {n}",
            f"xp.maximum({n}, {m})",
            f"xp.where({n} > {self.number()}, {n}, {m})",
            f"xp.roll({n}, {r.randrange(3)}, axis=0)",
            f"xp.concatenate(({n}[2:], {m}[:2]))",
            f"xp.sort({n}, axis=0)",
            f"{n}[{self.rows(self.n)}]" if self.n < 40 else f"{n}[::-1]",
            f"{n}.astype('float64').astype({n}.dtype)",
            f"{n}.copy()",
            f"{n}[:]",
            f"{n}[::-1]",
        ]
        if self.two:
            forms += [f"{n}[:, ::-1] + {m}", f"{n}[:, ::-1]", f"{n} + {m}[:, :1]"]
        if self.dtype != "float16" and self.n < 40:  # sums are exact
            forms += [f"xp.cumsum({n}, axis=0, dtype={n}.dtype)", f"{n} + {m}.sum(axis=0, dtype={m}.dtype)"]
        return r.choice(forms)

    def read(self, length):
        """That many rows of some array."""
        m, r = self.name(), self.r
        forms = [f"{m}[{self.span(length)}]"] * 5 + [
            f"{m}[{self.span(length)}] + {self.number()}",
            f"{m}[{self.span(length)}] * 2",
        ]
        if length < 40:
            forms.append(f"{m}[{self.rows(length)}]")
        return r.choice([*forms, f"{m}[{r.randrange(self.n)}]", str(self.number())])

    def write(self):
        """A write into a part."""
        r, n, m = self.r, self.name(), self.name()
        length = r.randrange(1, self.n)
        plain = f"{n}[{self.span(length)}]"
        few = r.randrange(1, 4)
        places = f"[{', '.join(str(k) for k in r.sample(range(self.n), few))}]"
        mask = f"{n} > {self.number()}"
        forms = [f"{plain} = {self.read(length)}"] * 6
        forms += [f"{plain} += {self.read(length)}"] * 2
        forms += [
            f"{n}[{r.randrange(self.n)}] = {m}[{r.randrange(self.n)}]",
            f"{n}[{r.randrange(self.n)}] = {self.number()}",
            f"{n}[::2] = {m}[:1]",
            f"{n}[::2] = {self.number()}",
            f"{n}[1:] += {m}[:-1]",
            f"{n}[1:] = {m}[:-1]",
            f"{n}[{places}] = {m}[{self.span(few)}]",
            f"{n}[{places}] += {m}[{self.span(few)}]",
            f"{n}[{self.rows(few)}] = {self.number()}",
            f"{n}[{mask}] = {self.number()}",
            f"{n}[{mask}] += 1",
            f"xp.copyto({n}, {m}, where={mask})",
        ]
        if self.two:
            forms += [f"{n}[:, 0] = {m}[:, 1]", f"{n}[:, 1:] = {m}[:, :-1]", f"{n}[:, ::-1] += {m}"]
        return r.choice(forms)

    def whole(self):
        """A write over everything."""
        n, m = self.name(), self.name()
        forms = [
            f"{n} *= {self.number()}",
            f"{n} += {m}",
            f"{n} += {m}[0]",
            f"{n}[:] = {self.number()}",
            f"{n}[:] = {m}[::-1]",
            f"{n}[:] = {n} + {m}[::-1]",
            f"{n}[...] = {m}",
        ]
        return self.r.choice(forms)

    def statement(self):
        r = self.r
        kind = r.randrange(20)
        if kind < 5 and len(self.names) < 5:
            new = r.choice([x for x in NAMES if x not in self.names])
            self.text.append(f"{new} = {self.value()}")
            self.names.append(new)
        elif kind < 12:
            self.text.append(self.write())
        elif kind < 15:
            self.text.append(self.whole())
        elif kind == 15:
            self.text.append(f"{self.name()} = {self.value()}")
        elif kind < 18 and len(self.names) > 1:
            gone = self.name()
            self.names.remove(gone)
            self.text.append(f"del {gone}")
        elif kind == 18:
            self.text.append(f"look({self.name()})")
        else:
            self.text.append(self.write())

    def first(self):
        x = np.arange(1, int(np.prod(self.shape)) + 1).reshape(self.shape) % 7
        return x.astype(self.dtype)


def record(xp, program):
    """What was seen up to the end, and what is to be looked at then. A statement that raises ends it, in both."""
    x = program.first()
    env = {"xp": xp, "look": np.asarray, "a": x if xp is np else tt.asarray(x)}
    seen = []
    try:
        for line in program.text:
            exec(line, env)
    except ERRORS as e:
        seen.append(next(kind.__name__ for kind in ERRORS if isinstance(e, kind)))
    wanted = {n for look in program.looks for n in NAMES if n in look.replace("xp.", "")}
    for n in NAMES:  # the memory of the dead may be used again
        if n in env and n not in wanted:
            del env[n]
    return seen, [eval(look, env) for look in program.looks]


def run(xp, program):
    """What the looks see."""
    seen, values = record(xp, program)
    if program.together and xp is tt:
        tt.eval(*values)
    return seen + [np.array(v) for v in values]


def run_failing(program, kind, n):
    """The same when the n-th call of a kind fails while all is evaluated: what is left must still be right."""
    seen, values = record(tt, program)
    tt._core._test_fail(kind, n, False)
    try:
        tt.eval(*values)
    except (MemoryError, RuntimeError):
        pass
    finally:
        tt._core._test_fail(kind, -1, False)
    return seen + [np.array(v) for v in values]


def same(a, b):
    if isinstance(a, str) or isinstance(b, str):
        return isinstance(a, str) and a == b
    return a.dtype == b.dtype and a.shape == b.shape and np.array_equal(a, b)


def difference(program):
    """What is wrong with the program, or None."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            want = run(np, program)
        except NameError:  # cut down too far
            return None
        try:
            got = run(tt, program)
        except Exception as e:
            return f"raises {e!r}"
    if len(want) == len(got) and all(map(same, want, got)):
        return None
    short = [[v if isinstance(v, str) else v.ravel()[:24].tolist() for v in values] for values in (want, got)]
    return f"NumPy {short[0]}, tutti {short[1]}"


def cut_down(program):
    """Drop the statements and looks that do not matter."""
    for words in (program.text, program.looks):
        i = 0
        while i < len(words):
            kept = words.pop(i)
            if not words or not difference(program):
                words.insert(i, kept)
                i += 1


def show(program, seed, what):
    print(f"---- seed {seed}: {program.dtype} {program.shape}{', together' * program.together}: {what}")
    print("    " + "; ".join(program.text), " looked at:", ", ".join(program.looks), flush=True)


def run_seeds(first, count, types=TYPES, progress=None):
    wrong = 0
    for seed in range(first, first + count):
        if progress:
            progress[:8] = seed.to_bytes(8, "little")
        program = Program(seed, types)
        if difference(program):
            wrong += 1
            cut_down(program)
            show(program, seed, difference(program))
    return wrong


def run_processes(args):
    """Each process takes a share and says which seed it is at; one that dies goes on behind that seed."""
    share = -(-args.count // args.processes)
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        work = []
        for k in range(args.processes):
            lo = args.first + k * share
            hi = min(lo + share, args.first + args.count)
            path = os.path.join(folder, str(k))
            with open(path, "wb") as f:
                f.write(lo.to_bytes(8, "little"))
            if lo < hi:
                work.append((path, hi, start(args, lo, hi, path)))
        while work:
            path, hi, process = work.pop(0)
            code = process.wait()
            with open(path, "rb") as f:
                at = int.from_bytes(f.read(8), "little")
            wrong += max(code, 0) if code <= 100 else 1
            if code < 0 or code > 100:
                wrong += code < 0
                show(
                    Program(at, types_of(args)),
                    at,
                    f"ends the process: {signal.Signals(-code).name if code < 0 else code}",
                )
                if at + 1 < hi:
                    work.append((path, hi, start(args, at + 1, hi, path)))
    return wrong


def start(args, lo, hi, path):
    flags = [f"--{w}" for w in ("interpreted", "compiled", "unfused") if getattr(args, w)]
    share = ["--types", args.types, "--progress", path]
    return subprocess.Popen([sys.executable, __file__, str(lo), str(hi - lo), *share, *flags])


def types_of(args):
    return args.types.split(",") if args.types else TYPES


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("first", type=int)
    parser.add_argument("count", type=int)
    parser.add_argument("--interpreted", action="store_true", help="by the interpreter alone")
    parser.add_argument("--compiled", action="store_true", help="by compiled kernels alone")
    parser.add_argument("--unfused", action="store_true", help="each operation a step of its own")
    parser.add_argument("--types", default="", help="names with commas between; all without")
    parser.add_argument("--processes", type=int, default=0)
    parser.add_argument("--progress", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.processes:
        wrong = run_processes(args)
    else:
        tt.set_tier(0 if args.interpreted else 1 if args.compiled else 2)
        tt.set_fuse(not args.unfused)
        progress = None
        if args.progress:
            with open(args.progress, "r+b") as f:
                progress = mmap.mmap(f.fileno(), 8)
        wrong = run_seeds(args.first, args.count, types_of(args), progress)
        if args.progress:
            sys.exit(min(wrong, 100))
    print(f"{args.count} programs, {wrong} wrong")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
