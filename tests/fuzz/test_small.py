"""Random programs of scalars and short rows: every step equals NumPy's, and what was read or shown before stays."""

import random

import numpy as np
import pytest
import tutti as tt

PROGRAMS = 250
TYPES = ["float64", "float32", "int64", "int32", "uint8", "bool", "complex128", "float16"]


def index(rng, shape):
    """Integers and slices for some axes of the shape."""
    out = []
    for n in shape[: rng.randrange(len(shape)) + 1]:
        if rng.random() < 0.6:
            out.append(rng.randrange(-n, n))
        else:
            lo = rng.randrange(n)
            out.append(rng.choice([slice(lo, None), slice(None, lo + 1), slice(None, None, -1), slice(None, None, 2)]))
    return tuple(out) if len(out) > 1 or rng.random() < 0.5 else out[0]


class Pair:
    """One program, in NumPy and in tutti side by side."""

    def __init__(self, seed):
        rng = self.rng = random.Random(seed)
        self.kept = []  # (memory shown by tutti, what it held then)
        self.pool = []
        for _ in range(rng.randrange(1, 4)):
            shape = rng.choice([(5,), (9,), (40,), (3, 4), (7, 7), (2, 3, 4), (300,), (70, 70)])
            self.add(self.fresh(shape, rng.choice(TYPES)))

    def add(self, pair):
        self.pool.append(pair)
        if len(self.pool) > 6:
            self.pool.pop(self.rng.randrange(len(self.pool)))

    def fresh(self, shape, dtype):
        kind = self.rng.randrange(4)
        if kind == 0:
            return np.zeros(shape, dtype), tt.zeros(shape, dtype=dtype)
        if kind == 1:
            return np.full(shape, 1, dtype), tt.full(shape, 1, dtype=dtype)
        x = np.arange(int(np.prod(shape))).reshape(shape) % 7
        x = x.astype(dtype)
        return (x, tt.array(x)) if kind == 2 else (x + x, tt.array(x) + tt.array(x))

    def step(self):
        rng, (a, b) = self.rng, self.rng.choice(self.pool)
        kind = rng.randrange(12)
        if a.ndim == 0:
            self.check(a, b)
        elif kind < 5:
            self.write(a, b)
        elif kind == 5:
            self.add((a.copy(), b.copy()))
        elif kind == 6:
            i = index(rng, a.shape)
            x, y = a[i], b[i]
            if isinstance(x, np.ndarray):
                self.add((x, y))
            else:
                self.scalars(x, y)
        elif kind == 7:
            self.add((a + a, b + b))  # a reader of the value before later writes
        elif kind == 8:
            self.kept.append((np.asarray(b), a.copy()))
        elif kind == 9:
            i = index(rng, a.shape)
            a[i], b[i] = a[i], b[i]
        elif kind == 10:
            self.check(a, b)
        else:
            self.store_other(a, b)

    def scalars(self, x, y):
        two = x.dtype.type(2)
        assert np.array_equal(np.asarray(y), x, equal_nan=True)
        assert (y == y).item() is True
        for u, v in [(x * two + x, y * two + y), (x > two, y > two), (np.sqrt(abs(x)), tt.sqrt(abs(y)))]:
            assert np.asarray(v).dtype == u.dtype
            np.testing.assert_allclose(np.asarray(v).astype(complex), complex(u), rtol=1e-6)

    def write(self, a, b):
        rng = self.rng
        i, kind = index(rng, a.shape), rng.randrange(4)
        if kind == 0:
            a[i], b[i] = 3, 3
        elif kind == 1:
            if a.dtype != bool:
                a[i] += a.dtype.type(1)
                b[i] += 1
        elif kind == 2:
            a[i] = np.copy(a[i][::-1] if np.ndim(a[i]) else a[i])  # NumPy overlooks some overlaps
            b[i] = b[i][::-1] if b[i].ndim else b[i]
        else:
            j = index(rng, a.shape)
            if np.shape(a[j]) == np.shape(a[i]):
                a[i] = np.copy(a[j])
                b[i] = b[j]

    def store_other(self, a, b):
        c, d = self.rng.choice(self.pool)
        i = index(self.rng, a.shape)
        if np.shape(a[i]) == c.shape and a.dtype.kind != "c" and c.dtype.kind != "c":
            a[i] = np.copy(c)
            b[i] = d
        elif c.shape == a.shape and np.can_cast(c.dtype, a.dtype, "same_kind"):
            a[...] = np.copy(c)
            b[...] = d

    def check(self, a, b):
        got = np.asarray(b)
        assert got.dtype == a.dtype and got.shape == a.shape
        np.testing.assert_array_equal(got, a)

    def check_all(self):
        for a, b in self.pool:
            self.check(a, b)
        for shown, then in self.kept:
            np.testing.assert_array_equal(shown, then)


@pytest.mark.parametrize("seed", range(PROGRAMS))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_small_program(seed):
    pair = Pair(seed)
    for k in range(60):
        pair.step()
        if k % 20 == 19:
            pair.check_all()
    pair.check_all()


@pytest.mark.parametrize(
    "op", ["add", "subtract", "multiply", "divide", "power", "floor_divide", "remainder", "arctan2"]
)
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int8", "uint16"])
def test_folded_scalars_have_the_bits_of_kernels(op, dtype):
    x = np.arange(64) % 11 + 1
    x, y = x.astype(dtype), (x[::-1] % 5 + 1).astype(dtype)
    a, b = tt.array(x), tt.array(y)
    whole = np.asarray(getattr(tt, op)(a, b))
    for k in range(64):
        one = np.asarray(getattr(tt, op)(a[k], b[k]))
        assert one.dtype == whole.dtype and one.tobytes() == whole[k].tobytes()


def test_a_constant_in_memory_is_still_a_constant():
    x = tt.full((5000,), 3.0)
    x[::-1] = x[::-1][::-1]  # the constant is the value, and the memory it is written over
    np.testing.assert_array_equal(np.asarray(x + x), 6.0)
