"""Calls of the public namespace with a slope along a random direction, against central differences.

The calls are those of tests/fuzz/odd_arguments.py, each argument a usual one, with arrays of floats and complex numbers
without ties. A call that works where nothing is followed must give the same bits where it is, and either the slope or a
NotImplementedError that names what has none: never a zero that is none.

    python tests/grad/random_calls.py FIRST COUNT [--only TEXT]
"""

import argparse
import os
import sys
import warnings
import zlib

import numpy as np
import tutti as tt
from tutti import autograd

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "fuzz"))
import odd_arguments  # noqa: E402

TYPES = ["float64"] * 6 + ["complex128"] * 2 + ["int64", "bool"]
STEPS = (1e-5, 2e-6)
# Memory by chance; matrices that are not Hermitian; vectors that may be turned; bits taken as another type.
NOT_ASKED = {*"empty empty_like eigh eigvalsh cholesky eig svd qr getfield setfield".split()}


class Maker(odd_arguments.Maker):
    """Calls with arrays that can have a slope."""

    def array(self, shape=None):
        shape = shape or (self.main if self.r.random() < 0.7 else self.r.choice(odd_arguments.SHAPES))
        layout = self.r.choice(["C", "C", "C", "F", "step", "back", "turn", "wide"])
        return f"A('{self.r.choice(TYPES)}', {shape}{'' if layout == 'C' else f', {layout!r}'})"


class Side(odd_arguments.Side):
    """Ours, with arrays moved along a direction by `step`; `follow`: as leaves."""

    def __init__(self, seed, step=0.0, follow=False):
        super().__init__(tt)
        self.seed, self.step, self.follow, self.leaves = seed, step, follow, []

    def array(self, dtype, shape, layout="C"):
        rng = np.random.default_rng([self.seed, len(self.made)])
        values = rng.standard_normal(shape) * 1.5 + 0.3 if dtype != "int64" else rng.integers(0, 4, shape)
        if dtype == "complex128":
            values = values + 1j * rng.standard_normal(shape)
        values = np.asarray(values > 0 if dtype == "bool" else values, dtype)
        if dtype not in ("float64", "complex128"):
            self.made.append(self.laid(values, layout if values.ndim else "C"))
            return self.made[-1]
        way = rng.standard_normal(shape) + (1j * rng.standard_normal(shape) if dtype == "complex128" else 0)
        constant = rng.random() < 0.3
        leaf = tt.array(values if constant else values + self.step * way)
        leaf.requires_grad = self.follow and not constant
        self.leaves.append((leaf, np.asarray(way)))
        self.made.append(laid(leaf.copy(), layout if values.ndim else "C"))
        self.made[-1].numpy()  # sums go by memory, and what is not computed yet has none
        return self.made[-1]

    def result(self, text):
        """All arrays with a slope that a call gives or writes, in order."""
        out = []
        with warnings.catch_warnings(), np.errstate(all="ignore"), tt.set_grad_enabled(self.follow):
            warnings.simplefilter("ignore")
            flat(eval(text, self.names), out)
        flat(self.made, out)
        return [a for a in out if a.dtype.kind in "fc"]


def laid(a, layout):
    """The same elements, in memory in another way; wide: the first of them everywhere."""
    if layout == "wide":
        return tt.broadcast_to(a[:1], a.shape)
    if layout == "step":
        return tt.repeat(a, 2, axis=-1)[..., ::2]
    if layout == "back":
        return a[::-1].copy()[::-1]
    return a.T.copy().T if layout in ("turn", "F") else a


def flat(x, out):
    if isinstance(x, tt.ndarray):
        out.append(x)
    elif isinstance(x, (tuple, list)):
        for item in x:
            flat(item, out)


def weights(arrays):
    rng = np.random.default_rng(7)
    made = [rng.standard_normal(a.shape) for a in arrays]
    return [w + 1j * rng.standard_normal(w.shape) if a.dtype.kind == "c" else w for w, a in zip(made, arrays)]


def value(arrays):
    return sum(np.sum((np.conj(w) * a.numpy()).real) for w, a in zip(weights(arrays), arrays))


def slope(seed, text, step):
    """By central differences; None: the call has none there."""
    sides = [Side(seed, step), Side(seed, -step)]
    ends = [s.result(text) for s in sides]
    if [a.shape for a in ends[0]] != [a.shape for a in ends[1]]:
        return None
    return (value(ends[0]) - value(ends[1])) / (2 * step)


def gradients(seed, text):
    """Of each leaf its gradient (None: nothing came) and its direction, by a walk back."""
    side = Side(seed, follow=True)
    arrays = side.result(text)
    pairs = [(a, w) for a, w in zip(arrays, weights(arrays)) if a.requires_grad]
    if pairs:
        autograd.backward([a for a, _ in pairs], [tt.array(w).astype(a.dtype) for a, w in pairs])
    return [(None if a.grad is None else a.grad.numpy(), way) for a, way in side.leaves]


def followed(seed, text):
    """The slope by a walk back."""
    return sum(np.sum((np.conj(g) * way).real) for g, way in gradients(seed, text) if g is not None)


def ways(seed):
    """The gradients of a call, interpreted and compiled; None: the call does not work."""
    call, found = make(seed), []
    if call.function in NOT_ASKED or "A('" not in call.text:
        return None
    try:
        for tier in (0, 1):
            tt.set_tier(tier)
            with np.errstate(all="ignore"):
                found.append([g for g, _ in gradients(zlib.crc32(call.text.encode()), call.text)])
    except Exception:
        return None
    finally:
        tt.set_tier(2)
    return call.text, found


def make(seed):
    maker = Maker(seed)
    group = maker.r.choice(odd_arguments.GROUPS)
    before, name, given = maker.r.choice(odd_arguments.TABLE[group])
    return maker.usual_call(before.replace("{a}", maker.array()), name, given)


def run(seed, only=""):
    """None, or (what is wrong in a word, the call, more)."""
    with np.errstate(all="ignore"):
        return compare(make(seed), only)


def compare(call, only):
    text, step = call.text, zlib.crc32(call.text.encode())
    if only not in text or call.function in NOT_ASKED or "A('" not in text or "float16" in text:
        return None
    if "where=" in text and "." not in text.split("where=")[0].split("m.")[-1] and "out=" not in text:
        return None  # what is left out is whatever lies there
    try:
        plain = [a.numpy() for a in Side(step).result(text)]
        found = [slope(step, text, size) for size in STEPS]
    except Exception:
        return None  # not a call that works
    if None in found or not np.all(np.isfinite(found)) or abs(found[0] - found[1]) > 1e-4 * max(1, abs(found[0])):
        return None  # there is a kink
    try:
        arrays = [a.numpy() for a in Side(step, follow=True).result(text)]
        got = followed(step, text)
    except NotImplementedError as e:
        return ("none", text, str(e))
    except Exception as e:
        return (type(e).__name__, text, str(e))
    if not all(np.array_equal(a, b, equal_nan=True) for a, b in zip(plain, arrays, strict=True)):
        return ("other bits", text, f"{plain} {arrays}")
    if abs(got - found[1]) > 2e-4 * max(1, abs(found[1])):
        return ("slope", text, f"{got}, not {found[1]}")
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("first", type=int)
    parser.add_argument("count", type=int)
    parser.add_argument("--only", default="")
    o = parser.parse_args()
    for seed in range(o.first, o.first + o.count):
        found = run(seed, o.only)
        if found:
            print(seed, *found, flush=True)


if __name__ == "__main__":
    main()
