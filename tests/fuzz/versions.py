"""Random programs about versions of memory: few arrays, stores between values that are pending, old versions dropped.

A value whose operand nobody else holds any more may be stored in one step of a plan and computed again in a later one;
what one store reads the next one overwrites; views are reversed and overlap. Everything is looked at in random order at
the end, or evaluated together, or looked at by several threads at once. A statement that raises is one that raises in
NumPy, and the program goes on. Values are small whole numbers: results are NumPy's to the bit.

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
import threading
import warnings

import numpy as np
import tutti as tt
from brain import BFloat16

TYPES = ["int64"] * 5 + ["float32", "float64", "int32", "bool", "int8", "uint8", "int16", "uint16", "uint32", "uint64",
                         "float16", "bfloat16", "complex64", "complex128"]  # fmt: skip
# The other type of a program with two: every value of the one is a value of the other, or is cut by C's rules.
SECOND = {
    "bool": ["int8", "float32", "uint64"],
    "int8": ["int64", "uint8", "float16", "complex64"],
    "int16": ["int32", "uint8", "float32"],
    "int32": ["float64", "int64", "uint16"],
    "int64": ["int32", "bool", "float64", "complex128"],
    "uint8": ["int8", "int64", "float32"],
    "uint16": ["int16", "uint64"],
    "uint32": ["uint64", "int32"],  # of floats beyond it NumPy's loops wrap some, by where they lie
    "uint64": ["uint32", "int64"],
    "float32": ["float64", "complex64"],
    "float64": ["complex128"],
    "complex64": ["complex128"],
}
# Types of one size, one kind of rules: their bytes may be mixed.
OTHER = {
    "int8": "uint8",
    "int16": "uint16",
    "int32": "uint32",
    "int64": "uint64",
    "uint8": "int8",
    "uint16": "int16",
    "uint32": "int32",
    "uint64": "int64",
}
# Above 1,024 elements nothing is done at once on the host, so that everything is pending.
SIZES = [5, 5, 5, 5, 6, 8, 9, 17, 33, 1100]
WIDTHS = [2, 2, 3, 5]
NAMES = "abcdefghijklmnop"
THREADS = 4
ERRORS = (NameError, TypeError, ValueError, IndexError, OverflowError, AttributeError)

# Statements by what a program must be like, texts with places: {n}, {m}, {k} names, {c} a small number, {i}, {j} rows,
# {s}, {t}, {u} slices of one length, {r} as many numbers of rows as there are rows, {d} a few different ones, {e} a few
# of any, {f}, {g} slices as long as these, {b} values whose sums are exact, {v} a type of the same size, {w} another.
VALUES = {
    "": [
        "{n} + {c}",
        "{n} * {c}",
        "{n} + {m}",
        "{n}[::-1] + {m}",
        "{n} + {m}[{i}]",
        "{n} + {n}.max(axis=0)",
        "{n} + {m}[{s}].min(axis=0)",
        "xp.minimum({n} + 1, {m}) + {n}",
        "xp.maximum({n}, {m})",
        "xp.where({n} > {c}, {n}, {m})",
        "xp.where({n} > {m}, {k}[::-1], {n})",
        "xp.roll({n}, {c}, axis=0)",
        "xp.concatenate(({n}[2:], {m}[:2]))",
        "xp.sort({n}, axis=0)",
        "{n}.copy()",
        "{n}[:]",
        "{n}[::-1]",
        "{n}",
        "xp.flip({n}, 0)",
        "xp.maximum.accumulate({n}, axis=0)",
        "xp.repeat({n}[::2], 2, axis=0)[: len({m})]",
        "xp.clip({n}, 1, {c} + 1)",
        "{n}.astype({m}.dtype)",
    ],
    "one": [
        "{n}[xp.argsort({m}, kind='stable')]",
        "{n} + (xp.searchsorted(xp.sort({m}), {k}) % 7).astype({n}.dtype)",
        "xp.take({n}, {m}.argmax() % 2) + {k}",
        "{n} + (({m} > {c}).sum() % 7).astype({n}.dtype)",
        "xp.take_along_axis({n}, xp.argsort({m}, kind='stable'), 0)",
    ],
    "two": [
        "{n}[:, ::-1] + {m}",
        "{n}[:, ::-1]",
        "{n} + {m}[:, :1]",
        "{n}[xp.argsort({m}[:, 0], kind='stable')]",
        "{n}.T.copy().T + {m}",
        "xp.sort({n}, axis=1)",
        "{n} + {m}.max(axis=1, keepdims=True)",
    ],
    "few": ["{n}[{r}]", "xp.take({n}, {r}, axis=0) + {m}"],
    "exact": [
        "xp.cumsum({b}, axis=0, dtype={n}.dtype)",
        "{n} + {b}.sum(axis=0, dtype={m}.dtype)",
        "{n} + ({n} % 3) @ ({m} % 3)",
        "{n} + (({m} % 3) @ ({k} % 3).T)[:, :1]",
        "{n} - xp.cumprod({m} % 2, axis=0).astype({n}.dtype)",
        "xp.diff({n} % 5, axis=0, prepend={m}[:1])",
        "xp.add.reduce({b}[{s}], axis=0) + {n}",
    ],
    "whole": ["{n}[({m} % len({m})).ravel()[: len({n})].astype('int64')]", "{n} ^ {m}", "{n} >> ({m} & 3)"],
    "wide": ["{n}.astype('float64').astype({n}.dtype)", "({n} * 1.0).astype({n}.dtype)"],
    "second": ["{n}.astype('{w}')", "{n}.astype('{w}')[::-1] + {m}", "{n}.astype('{w}').astype({n}.dtype)"],
    "complex": ["{n}.real + {m}", "{n}.conj() + {m}", "{n} * 1j", "{n}.imag + {m} * 1j"],
    "view": ["{n}.view('{v}').view({n}.dtype)", "{n}.view('{v}')[::-1].astype({n}.dtype)"],
}
READS = ["{m}[{s}]"] * 5 + [
    "{m}[{s}] + {c}",
    "{m}[{s}] * 2",
    "{m}[{s}] + {k}[{u}]",
    "{m}[{i}]",
    "{c}",
    "{m}.max(axis=0)",
]
WRITES = {
    "": [
        *["{n}[{t}] = {READ}"] * 8,
        *["{n}[{t}] += {READ}"] * 3,
        "{n}[{i}] = {m}[{j}]",
        "{n}[{i}] = {m}[{j}] + {k}[{i}]",
        "{n}[{i}] = {c}",
        "{n}[{i}] += {m}[{j}]",
        "{n}[::2] = {m}[:1]",
        "{n}[::2] = {c}",
        "{n}[1:] += {m}[:-1]",
        "{n}[1:] = {m}[:-1]",
        "{n}[{d}] = {m}[{f}]",
        "{n}[{d}] += {m}[{f}]",
        "{n}[{e}] = {c}",
        "{n}[{d}] = {m}[{e}]",
        "{n}[{n} > {c}] = {c}",
        "{n}[{m} > {c}] = {c}",
        "{n}[{n} > {c}] += 1",
        "{n}[{m} > {c}] = {n}[{m} > {c}][::-1]",
        "{n}[{m} > {c}] = {k}[{m} > {c}]",
        "xp.copyto({n}, {m}, where={k} > {c})",
        "{n}[{i}] = {m}[{s}].max(axis=0)",
        "{n}[{t}] = {m}[{s}].min(axis=0)",
        "{n}[{t}], {n}[{s}] = {m}[{s}] + 0, {m}[{t}] + 0",
        "{n}[{i}], {n}[{j}] = {n}[{j}] + 0, {n}[{i}] + 0",
        "xp.add({n}[{s}], {m}[{t}], out={k}[{u}])",
        "xp.maximum({n}, {m}, out={k}[::-1])",
        "xp.add({n}, {m}, out={k}, where={m} > {c})",
        "xp.multiply({n}[{s}], {c}, out={m}[{s}])",
        "{n}[{t}].sort(axis=0)",
        "xp.add.at({n}, {e}, {c})",
        "xp.add.at({n}, {e}, {m}[{g}])",
        "xp.maximum.at({n}, {e}, {m}[{g}] + 1)",
        "xp.putmask({n}, {m} > {c}, {k} + 1)",
        "xp.put({n}, {d}, {m}[{i}])",
        "{n}[len({n})] = {c}",
        "{n}[{s}] = {m}[:, :, 0]",
        "{n}[{d}] = {m}[1:]",
        "xp.add({n}, {n}[:2], out={n})",
        "for q in range(3): {n}[q] = {m}[q + 1] + {n}[q - 1]",
        "for q in range(1, 4): {n}[q:] += {m}[:-q]",
        "{n}[{i}][...] = {m}[{j}]",
    ],
    "one": ["{n}[{m}.argmax()] = {c}", "{n}[xp.nonzero({m} > {c})[0][:2]] = {c}", "{n}[{i}] = ({m} > {k}).sum() % 5"],
    "two": [
        "{n}[:, 0] = {m}[:, 1]",
        "{n}[:, 1:] = {m}[:, :-1]",
        "{n}[:, ::-1] += {m}",
        "{n}[{t}, 0] = {m}[{s}, 1]",
        "{n}[{d}, 1] = {m}[{f}, 0]",
        "{n}[{i}, :] = {m}[:, 0][:2]",
        "xp.fill_diagonal({n}, {c})",
        "{n}[{m}[:, 0] > {c}] = {k}[{i}]",
        "{n}.T[...] = {m}.T[:, ::-1]",
        "{n}[:2, :2] = {m}[:2, :2].T",
    ],
    "exact": [
        "{n}[{i}] = {b}.sum(axis=0, dtype={n}.dtype)",
        "{n}[{i}] += {b}[{s}].sum(axis=0, dtype={n}.dtype)",
        "xp.cumsum({b}, axis=0, out={n})",
        "{n}[{t}] = xp.cumsum({b}[{s}], axis=0)",
    ],
    "complex": [
        "{n}.real[{t}] = {m}.imag[{s}]",
        "{n}.imag = {m}.real",
        "{n}.real += {m}.imag[::-1]",
        "{n}.imag[{i}] = {c}",
        "{n}.real[{k}.imag > {c}] = {c}",
    ],
    "view": [
        "{n}.view('{v}')[{t}] = {m}.view('{v}')[{s}]",
        "{n}.view('{v}')[{t}] += 1",
        "{n}.view('uint8')[..., {i}] = {m}.view('uint8')[..., {j}]",
        "{n}.view('{v}')[{m} > {c}] = {c}",
    ],
}
WHOLE = [
    "{n} *= {c}",
    "{n} += {m}",
    "{n} += {m}[{i}]",
    "{n}[:] = {c}",
    "{n}[:] = {m}[::-1]",
    "{n}[:] = {n} + {m}[::-1]",
    "{n}[...] = {m}",
    "{n}.fill({c})",
    "{n}.sort(axis=0)",
    "xp.add({n}, {m}, out={n})",
    "xp.add({n}[::-1], {m}, out={k})",
    "xp.copyto({n}, {m}[::-1])",
    "{n} -= {m}[::-1] - {m}",
    "{n}[::-1] += {n}",
]
LOOKS = [
    "{n}",
    "{n}[{i}]",
    "{n}[{s}]",
    "{n}.max(axis=0)",
    "xp.nonzero({n} > {c})[0]",
    "{n}[{n} > {c}]",
    "{n}[::-1] + {m}",
]


class Places(dict):
    """What the places of one statement are given, each when it is first asked for."""

    def __init__(self, program):
        self.p, self.length, self.few = program, program.r.randrange(1, program.n), program.r.randrange(1, 4)

    def __missing__(self, key):
        p, r = self.p, self.p.r
        if key in "nmk":
            value = p.name()
        elif key in "stu":
            value = p.span(self.length)
        elif key in "fg":
            value = p.span(self.few)
        elif key in "ij":
            value = r.randrange(p.n)
        elif key == "READ":
            value = r.choice(READS).format_map(self)
        elif key == "b":
            value = f"({self['m']} % 5)" if p.dtype.startswith("float") else self["m"]
        else:
            kinds = {"c": lambda: r.choice([0, 1, 1, 2, 3]), "r": lambda: [r.randrange(p.n) for _ in range(p.n)]}
            kinds |= {
                "d": lambda: r.sample(range(p.n), self.few),
                "e": lambda: [r.randrange(p.n) for _ in range(self.few)],
            }
            kinds |= {"v": lambda: OTHER[p.dtype], "w": lambda: p.second}
            value = kinds[key]()
        self[key] = value
        return value


class Program:
    """Statements over arrays named by letters, and how they are looked at."""

    def __init__(self, seed, types=TYPES):
        r = self.r = random.Random(seed)
        self.dtype = r.choice(types)
        self.n = r.choice(SIZES)
        self.two = r.random() < 0.3
        self.shape = (self.n, r.choice(WIDTHS)) if self.two else (self.n,)
        self.second = r.choice(SECOND.get(self.dtype, [None])) if r.random() < 0.2 else None
        self.is_like = self.likeness()
        self.names, self.text = ["a"], []
        if r.random() < 0.25:
            self.text.append("b = a + a")
            self.names.append("b")
        if self.second and r.random() < 0.5:
            self.assign(f"a.astype('{self.second}')")
        for _ in range(r.randrange(3, 10)):
            self.statement()
        self.looks = self.names[:]
        r.shuffle(self.looks)
        self.looks = self.looks[: r.randrange(1, len(self.looks) + 1)]
        kind = r.randrange(4)
        if kind == 0 and len(self.looks) > 1:
            self.looks[:2] = [f"{self.looks[0]}[::-1] + {self.looks[1]}"]
        self.together = kind == 1
        self.threads = THREADS if r.random() < 0.03 else 0

    def likeness(self):
        """The conditions of the tables that hold."""
        number = self.dtype != "bool"
        like = {"", "two" if self.two else "one"}
        like |= {"few"} if self.n < 40 else set()
        like |= {"exact"} if self.n < 40 and self.dtype not in ("float16", "bfloat16") else set()
        like |= {"whole"} if "int" in self.dtype and not self.second else set()
        like |= {"wide"} if self.dtype != "bfloat16" and number else set()
        like |= {"complex"} if self.dtype.startswith("complex") else set()
        like |= {"view"} if self.dtype in OTHER and not self.second else set()
        return like | ({"second"} if self.second else set())

    def name(self):
        return self.r.choice(self.names)

    def span(self, length):
        """A slice of rows of some length; overlaps with others are likely."""
        r = self.r
        lo = r.randrange(self.n - length + 1)
        form = r.randrange(3)
        if form == 0:
            return f"{lo}:{lo + length}"
        if form == 1:
            return f"{lo - self.n}:{lo + length - self.n or ''}"
        return f"{lo + length - 1}:{lo - 1 if lo else ''}:-1"

    def one_of(self, table):
        """A statement of a table: from what is always there, or from what this kind of program has."""
        forms = table[""]
        special = [k for k in table if k and k in self.is_like]
        if special and self.r.random() < 0.4:
            forms = table[self.r.choice(special)]
        return self.r.choice(forms).format_map(Places(self))

    def assign(self, value):
        new = self.r.choice([x for x in NAMES if x not in self.names])
        self.text.append(f"{new} = {value}")
        self.names.append(new)

    def statement(self):
        r = self.r
        kind = r.randrange(20)
        if kind < 5 and len(self.names) < 5:
            self.assign(self.one_of(VALUES))
        elif kind < 12:
            self.text.append(self.one_of(WRITES))
        elif kind < 15:
            self.text.append(r.choice(WHOLE).format_map(Places(self)))
        elif kind == 15:
            self.text.append(f"{self.name()} = {self.one_of(VALUES)}")
        elif kind < 18 and len(self.names) > 1:
            gone = self.name()
            self.names.remove(gone)
            self.text.append(f"del {gone}")
        elif kind == 18:
            self.text.append(f"look({r.choice(LOOKS).format_map(Places(self))})")
        else:
            self.text.append(self.one_of(WRITES))

    def first(self):
        x = np.arange(1, int(np.prod(self.shape)) + 1).reshape(self.shape) % 7
        return x.astype(self.dtype if self.dtype != "bfloat16" else "float32")


def seen_of(f, program):
    """What f gives, as an array and the name of its type, or the kind of error that it raises."""
    try:
        value = f()
    except ERRORS as e:
        return next(kind.__name__ for kind in ERRORS if isinstance(e, kind))
    if isinstance(value, tt.ndarray):
        name = value.dtype.name
        return name, np.array(value.astype("float32") if name == "bfloat16" else value)
    name = np.asarray(value).dtype.name
    return "bfloat16" if name == "float32" and program.dtype == "bfloat16" else name, np.array(value, subok=False)


def record(xp, program):
    """What was seen up to the end, and the names that are left."""
    x, seen = program.first(), []
    if xp is tt:
        a = tt.asarray(x) if program.dtype != "bfloat16" else tt.asarray(x).astype("bfloat16")
    else:
        a = x if program.dtype != "bfloat16" else x.view(BFloat16)
    env = {"xp": xp, "a": a, "look": lambda value: seen.append(seen_of(lambda: value, program))}
    for line in program.text:
        try:
            exec(line, env)
        except ERRORS as e:
            seen.append(next(kind.__name__ for kind in ERRORS if isinstance(e, kind)))
    wanted = {n for look in program.looks for n in NAMES if n in look.replace("xp.", "")}
    for n in NAMES:  # the memory of the dead may be used again
        if n in env and n not in wanted:
            del env[n]
    return seen, env


def run(xp, program):
    """What the looks see."""
    seen, env = record(xp, program)
    if xp is tt and program.together:
        tt.eval(*[env[n] for n in NAMES if n in env])
    if xp is tt and program.threads:
        return seen + look_at_once(program, env)
    return seen + [seen_of(lambda look=look: eval(look, env), program) for look in program.looks]


def look_at_once(program, env):
    """Several threads look at everything, each from another one on; what differs from the first is the answer."""
    n, start, answers = len(program.looks), threading.Barrier(program.threads), []

    def work(first):
        got = [None] * n
        start.wait()
        for i in range(n):
            at = (first + i) % n
            got[at] = seen_of(lambda at=at: eval(program.looks[at], env), program)
        answers.append(got)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(program.threads)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return next((got for got in answers if not all(map(same, got, answers[0]))), answers[0])


def run_failing(program, kind, n):
    """The same when the n-th call of a kind fails while all is evaluated: what is left must still be right."""
    seen, env = record(tt, program)
    tt._core._test_fail(kind, n, False)
    try:
        tt.eval(*[env[n] for n in NAMES if n in env])
    except (MemoryError, RuntimeError):
        pass
    finally:
        tt._core._test_fail(kind, -1, False)
    return seen + [seen_of(lambda look=look: eval(look, env), program) for look in program.looks]


def same(a, b):
    if isinstance(a, str) or isinstance(b, str):
        return isinstance(a, str) and a == b
    (name, x), (other, y) = a, b
    return name == other and x.shape == y.shape and np.array_equal(x, y, equal_nan=x.dtype.kind in "fc")


def difference(program):
    """What is wrong with the program, or None."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        want = run(np, program)
        try:
            got = run(tt, program)
        except Exception as e:
            return f"raises {e!r}"
    if len(want) == len(got) and all(map(same, want, got)):
        return None
    short = [[v if isinstance(v, str) else (v[0], v[1].ravel()[:24].tolist()) for v in vs] for vs in (want, got)]
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
