"""Random programs about one memory seen many ways: views of views, parts of complex numbers, other types, orders.

Arrays are made, viewed (slices, transposes, .real, .imag, view(dtype), reshape and ravel in all orders), written from
every side (slices, masks, index arrays, in place, out=) and looked at in random order. Values, types, strides, flags
and what shares memory are NumPy's, to the bit.

    python tests/fuzz/aliasing.py FIRST COUNT [--compiled] [--unfused]     COUNT 0: without end

Programs that differ are shown. TUTTI_DEVICE=cuda:0 (null:0 with TUTTI_NULL_DEVICE=1) runs them on a device.
"""

import argparse
import itertools
import random
import sys
import warnings

import numpy as np
import tutti as tt

TYPES = ["float64", "float64", "complex128", "complex128", "complex64", "float32", "float16", "int64", "int32", "int16",
         "int8", "uint8", "uint16", "uint32", "uint64"]  # fmt: skip
SHAPES = [(6,), (8,), (12,), (9,), (3, 4), (4, 4), (3, 5), (2, 8), (2, 3, 4), (4, 1, 6), (1500,), (30, 64)]
KINDS = ["slice"] * 4 + ["part"] * 4 + ["type"] * 5 + ["turn"] * 2 + ["reshape"] * 3 + ["flat", "flat", "copy", "like"]
KINDS += ["repeat", "join"]
WRITES = ["all", "all", "add", "add", "array", "mask", "index", "out", "item", "xor", "copyto", "putmask", "typed"]


class Program:
    """The same statements for NumPy and for tutti, one text each: what the other cannot do is no statement."""

    def __init__(self, seed):
        self.r = random.Random(seed)
        self.np, self.tt, self.text, self.made = {}, {}, [], 0

    # ---- saying things

    def both(self, text):
        """Run a statement in NumPy; what it takes, tutti has to take, and what it refuses is refused."""
        failed = None
        try:
            exec(text, {"m": np, "asarray": np.array}, self.np)
        except (ValueError, TypeError, AttributeError, IndexError, OverflowError) as e:
            failed = type(e)
        self.text.append(text if failed is None else f"{text}   # {failed.__name__}")
        try:
            exec(text, {"m": tt, "asarray": tt.asarray}, self.tt)
        except Exception as e:
            if failed is None or not isinstance(e, failed):
                raise Difference(f"{type(e).__name__}: {e}") from e
            return False
        if failed is not None:
            raise Difference(f"NumPy raises {failed.__name__}")
        return True

    def some(self):
        return self.r.choice(list(self.np))

    def name(self):
        self.made += 1
        return f"v{self.made}"

    # ---- making and viewing

    def begin(self):
        shape, dtype = self.r.choice(SHAPES), self.r.choice(TYPES)
        n = int(np.prod(shape))
        values = np.arange(n) % 100 + 1
        if dtype.startswith("complex"):
            values = values + 1j * (values % 7)
        name = self.name()
        self.np[name] = np.array(values, dtype).reshape(shape)
        self.tt[name] = tt.array(self.np[name])
        self.text.append(f"{name} = {dtype}{shape}")
        how = self.r.choice(["", "", ".copy(order='F')", " + 1", ".T", " * 2"])
        if how:
            self.both(f"{name} = {name}{how}")

    def slice(self, a):
        items = []
        for n in a.shape:
            lo, hi, step = self.r.randint(0, n // 2), self.r.randint(n // 2, n), self.r.choice([1, 1, 1, 2, 3, -1, -2])
            text = f"{lo}:{hi}:{step}" if step > 0 else f"{hi - 1 if hi else ''}:{lo - 1 if lo else ''}:{step}"
            items.append(self.r.choice([":", ":", text, text, str(self.r.randint(0, n - 1)) if n else ":"]))
        if self.r.random() < 0.1:
            items.insert(self.r.randint(0, len(items)), "None")
        return ", ".join(items) or "..."

    def view(self):
        old, new, kind = self.some(), self.name(), self.r.choice(KINDS)
        a = self.np[old]
        order = self.r.choice("CFAK")
        if kind == "slice":
            text = f"{old}[{self.slice(a)}]"
            if ":" not in text and "None" not in text:
                return  # a number
        elif kind == "part":
            text = self.r.choice([f"{old}.real", f"{old}.imag", f"m.real({old})"])
        elif kind == "type":
            text = f"{old}.view('{self.r.choice([*TYPES, 'bool'])}')"
        elif kind == "turn":
            text = self.r.choice([f"{old}.T", f"{old}[::-1]", f"{old}.swapaxes(0, -1)", f"m.flip({old})"])
        elif kind == "reshape":
            shape = self.r.choice(["-1", "(2, -1)", "(-1, 3)", "(2, 2, -1)", "(-1, 4)", "(1, -1)"])
            text = f"{old}.reshape({shape}, order='{order}'{self.r.choice(['', '', ', copy=False', ', copy=True'])})"
        elif kind == "flat":
            text = self.r.choice([f"{old}.ravel('{order}')", f"{old}.flatten('{order}')", f"m.ravel({old}, '{order}')"])
        elif kind == "copy":
            text = self.r.choice([f"{old}.copy('{order}')", f"m.array({old}, order='{order}')", f"{old} + 1"])
        elif kind == "repeat":  # one cell many times, which cannot be written
            if a.ndim > 3 or a.size > 5000:
                return
            text = f"m.broadcast_to({old}, {(2, *a.shape)})"
        elif kind == "join":
            if a.size > 5000:
                return
            text = self.r.choice([f"m.concatenate(({old}, {old}[::-1]))", f"m.stack(({old}, {old}), axis=-1)"])
        else:
            text = self.r.choice([f"m.zeros_like({old}, order='{order}')", f"m.asarray({old}, order='{order}')"])
        if a.dtype == bool and kind in ("copy", "flat", "like", "join"):
            return  # bytes that are neither 0 nor 1 are copied by NumPy and not by us
        if self.both(f"{new} = {text}") and self.np[new].dtype == bool and kind not in ("type", "slice", "turn"):
            del self.np[new], self.tt[new]

    # ---- writing

    def typed(self, value):
        """A number with a type of its own."""
        return f"m.{self.r.choice([t for t in TYPES if t[0] != 'c'])}({int(value.real)})"

    def write(self):
        name, kind = self.some(), self.r.choice(WRITES)
        a, value = self.np[name], self.r.randint(0, 60)
        if a.ndim == 0 or (a.dtype == "float16" and kind in ("copyto", "putmask")):  # which may touch the bits of a NaN
            kind = "all"
        if a.dtype == bool:
            value, kind = bool(value % 2), self.r.choice(["all", "index"])
        elif a.dtype.kind == "c" and self.r.random() < 0.5:
            value = complex(value, 3)
        same = [k for k, b in self.np.items() if b.dtype == a.dtype and b.shape == a.shape]
        part = self.slice(a)
        if kind == "all":
            self.both(f"{name}[{part}] = {value}")
        elif kind == "item":
            self.both(f"{name}[{', '.join(str(self.r.randint(0, max(0, n - 1))) for n in a.shape)}] = {value}")
        elif kind == "add":
            self.both(f"{name}[{part}] += {value}")
        elif kind == "array":
            self.both(f"{name}[{part}] = {self.r.choice(same)}[{part}]")
        elif kind == "mask":
            other = self.r.choice([k for k, b in self.np.items() if b.shape == a.shape])
            self.both(f"{name}[{other} == {other}.flat[0]] = {value}" if a.size else f"{name}[...] = {value}")
        elif kind == "copyto":
            where = self.r.choice(["", f", where={name} == {name}.flat[0]"]) if a.size else ""
            turned = self.r.choice(["", "[::-1]"]) if a.shape[0] > 1 else ""
            self.both(f"m.copyto({name}, {self.r.choice(same)}{turned}{where})")
        elif kind == "putmask":
            self.both(f"m.putmask({name}, {name} == {name}, {self.typed(value)})")
        elif kind == "typed":
            self.both(f"{name}[{part}] = {self.typed(value)}{self.r.choice(['', '', ' % 7', ' / 0', ' + m.int8(1)'])}")
        elif kind == "index":
            n = a.shape[0] if a.ndim else 0
            self.both(f"{name}[{[self.r.randint(-n, n - 1) for _ in range(3)]}] = {value}" if n else f"{name}[...] = 1")
        elif kind == "out":
            self.both(f"m.add({self.r.choice(same)}, {self.r.choice(same)}, out={name})")
        elif a.dtype.kind in "iu":
            self.both(f"{name} ^= {value}")

    # ---- looking

    def look(self, name):
        want, got = self.np[name], self.tt[name]
        if str(got.dtype) != str(want.dtype) or got.shape != want.shape:
            raise Difference(f"{name}: {want.dtype}{want.shape}, got {got.dtype}{got.shape}")
        mine = np.asarray(got)
        if want.dtype == bool:
            equal = np.array_equal(mine, np.ascontiguousarray(want).view("uint8") != 0)
        elif want.dtype.kind in "fc":
            equal = np.array_equal(mine, want, equal_nan=True)
        else:
            equal = np.array_equal(mine, want)
        if not equal:
            raise Difference(f"{name}: {want.tolist()}\n     got {mine.tolist()}")

    def layout(self, name):
        want, got = self.np[name], self.tt[name]
        if want.size > 1:
            steps = [tuple(s for s, n in zip(x.strides, x.shape, strict=True) if n > 1) for x in (want, got)]
            if steps[0] != steps[1]:
                raise Difference(f"strides of {name}: {want.strides}, got {got.strides}")
            for flag in ("C_CONTIGUOUS", "F_CONTIGUOUS"):
                if want.flags[flag] != got.flags[flag]:
                    raise Difference(f"{flag} of {name}")
        if want.flags.writeable != got.flags.writeable:
            raise Difference(f"{name} is writeable: {want.flags.writeable}")

    def finish(self):
        names = list(self.np)
        self.r.shuffle(names)
        for name in names:
            self.look(name)
            self.layout(name)
        for a, b in itertools.combinations(names, 2):
            for f in ("shares_memory", "may_share_memory"):
                want = getattr(np, f)(self.np[a], self.np[b])
                if getattr(tt, f)(self.tt[a], self.tt[b]) != want:
                    raise Difference(f"{f}({a}, {b}): {want}")

    def run(self):
        for _ in range(self.r.choice([1, 1, 2])):
            self.begin()
        for _ in range(self.r.randint(4, 20)):
            chance = self.r.random()
            if chance < 0.45:
                self.view()
            elif chance < 0.93:
                self.write()
            elif chance < 0.97:
                self.look(self.some())
            elif len(self.np) > 1:
                name = self.some()
                self.text.append(f"del {name}")
                del self.np[name], self.tt[name]
        self.finish()


class Difference(Exception):
    """tutti does otherwise than NumPy."""


def run(seed):
    """None, or what differs, with the program."""
    program = Program(seed)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            program.run()
    except Difference as e:
        return f"seed {seed}:\n  " + "\n  ".join(program.text) + f"\n{e}"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("first", type=int)
    parser.add_argument("count", type=int)
    parser.add_argument("--compiled", action="store_true")
    parser.add_argument("--unfused", action="store_true")
    given = parser.parse_args()
    tt.set_tier(1 if given.compiled else 0)
    tt.set_fuse(not given.unfused)
    found = 0
    for seed in itertools.count(given.first) if given.count == 0 else range(given.first, given.first + given.count):
        what = run(seed)
        if what:
            print(what, flush=True)
            found += 1
    print(f"{found} of {given.count} programs differ")
    return found > 0


if __name__ == "__main__":
    sys.exit(main())
