"""Whole numbers that overflow: what counts as not negative is not negative; common loops look at no sign."""

import numpy as np
import pytest
import tutti as tt
from tutti import cuda

pytestmark = pytest.mark.usefixtures("on_the_cpu")

LARGEST = 2**63 - 1


def wrapped(i):
    """An int as 64 bits hold it."""
    return (i + 2**63) % 2**64 - 2**63


@tt.njit
def grown(a, k, j):
    h = 1
    for _ in range(k):
        h = h * 3
    g = 1
    for _ in range(j):
        g += g
    n = a.size
    return (
        a[h % n],
        h // n,
        (h << 1) % n,
        (h + g) % n,
        (h | g) // n,
        (h ^ g) % n,
        abs(h) % n,
        a[min(h, 3) % n],
        a[max(h, 3) % n],
        a[(h >> 3) % n],
        a[h & 3],
    )


def expected(a, k, j):
    h, g, n = wrapped(3**k), wrapped(2**j), a.size
    return (
        a[h % n],
        h // n,
        wrapped(h << 1) % n,
        wrapped(h + g) % n,
        (h | g) // n,
        (h ^ g) % n,
        wrapped(abs(h)) % n,
        a[min(h, 3) % n],
        a[max(h, 3) % n],
        a[(h >> 3) % n],
        a[h & 3],
    )


def test_remainders_of_what_overflowed():
    a = np.arange(100, 107)
    for k in range(0, 130):
        for j in (0, 3, 61, 62, 63, 64):
            assert grown(a, k, j) == expected(a, k, j), (k, j)


@pytest.mark.parametrize("first", [2**32, 2**62, 2**31, 6])
def test_a_product_that_comes_out_small_and_negative_counts_from_the_end(first):
    """Numbers below 2^63 whose product is -1, -2 and so on in 64 bits."""

    @tt.njit
    def f(a, x, y):
        i = abs(x)
        if i < 0:
            i = 0
        j = 0
        for k in range(x & 9223372036854775807, (x & 9223372036854775807) + 1):
            for m in range(y & 9223372036854775807, (y & 9223372036854775807) + 1):
                a[k * m] = 1
                a[(k * m) % a.size] += 2
                j = k * m
        return j

    for x, y in ((2**32 - 1, 2**32 + 1), (first - 1, pow(first - 1, -1, 2**64) * -1 % 2**64)):
        if y >= 2**63 or wrapped(x * y) != -1:
            continue
        frame = np.zeros(64, np.int64)
        a = frame[24:40]
        assert f(a, x, y) == -1
        want = np.zeros(64, np.int64)
        want[39] = 3
        np.testing.assert_array_equal(frame, want)


def test_unsigned_numbers_that_are_made_signed():
    @tt.njit
    def f(a, u):
        return np.int64(u) % a.size, a[np.int64(u) % a.size]

    a = np.arange(7)
    for u in (2**63, 2**64 - 1, 2**63 + 12345, 5):
        i = wrapped(u) % 7
        assert f(a, np.uint64(u)) == (i, i)


def test_ranges_end_at_the_largest_number():
    @tt.njit
    def f(start, stop, step):
        n = 0
        last = 0
        for i in range(start, stop, step):
            n += 1
            last = i
        return n, last

    assert f(LARGEST - 3, LARGEST, 1) == (3, LARGEST - 1)
    assert f(0, LARGEST - 2**61, 2**61) == (3, 2**62)
    assert f(5, -5, -3) == (4, -4)
    with pytest.raises(OverflowError, match="range\\(\\) ends too near"):
        f(0, LARGEST, 2**62)
    with pytest.raises(OverflowError, match="range\\(\\) ends too near"):
        f(0, -LARGEST, -(2**62))


def test_axes_that_are_too_long_are_refused():
    @tt.njit
    def f(a):
        return a.shape[0]

    one = np.zeros(1, np.int8)
    assert f(np.broadcast_to(one, 2**48)) == 2**48
    with pytest.raises(ValueError, match="too long"):
        f(np.broadcast_to(one, 2**48 + 1))

    @tt.njit
    def g(n):
        return np.empty((n, 0)).shape[0]

    assert g(5) == 5
    with pytest.raises(MemoryError):
        g(2**60)


def test_kernels_divide_what_overflowed():
    @cuda.jit
    def k(out, h):
        i = cuda.grid(1)
        x = i + 1
        for _ in range(h):
            x = x * 3
        out[x % out.shape[0], 0] += 1
        out[i, 1] = x // 5

    for h in (0, 39, 41, 63):
        out = np.zeros((11, 2), np.int64)
        k[1, 11](out, h)
        x = [wrapped((i + 1) * 3**h) for i in range(11)]
        np.testing.assert_array_equal(out[:, 0], np.bincount([v % 11 for v in x], minlength=11))
        np.testing.assert_array_equal(out[:, 1], [v // 5 for v in x])


def neighbours(a, b):
    for i in range(1, a.shape[0] - 1):
        for j in range(2, a.shape[1] - 2):
            b[i, j] = a[i - 1, j] + a[i + 1, j] + a[i, j - 2] + a[i, j + 2]


def lengths(a, b, n):
    for i in range(n):
        b[i] = a[2 * i] + a[2 * i + 1]


def whiles(a, b):
    i = 0
    while i < a.size:
        b[i] = a[i]
        i += 2


def sums(a, b, n, m):
    for i in range(n):
        for j in range(m):
            b[i] += a[i + j]


def steps(a, b):
    for i in range(0, a.shape[0], 3):
        b[i // 3] = a[i] + a[i % b.size]


def tiles(a, b):
    for y in range(a.shape[0] // 4):
        for i in range(4):
            b[y * 4 + i] = a[4 * y + 3 - i] + a[(y * 4 + i) % 4]


def stencil(a, b):
    for i in range(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            for y in range(-1, 2):
                for x in range(-1, 2):
                    b[i, j] += a[i + y, j + x]


@pytest.mark.parametrize("f", [neighbours, lengths, whiles, sums, steps, tiles, stencil], ids=lambda f: f.__name__)
def test_common_loops_look_at_no_sign(f):
    compiled = tt.njit(f)
    rng = np.random.default_rng(1)
    shape = (9, 8) if f in (neighbours, stencil) else (24,)
    rest = {lengths: (12,), sums: (10, 5)}.get(f, ())
    a, got = rng.uniform(size=shape), np.zeros(shape)
    want = got.copy()
    compiled(a, got, *rest)
    f(a, want, *rest)
    np.testing.assert_array_equal(got, want)
    text = compiled.inspect_source()
    text = text if isinstance(text, str) else "".join(text.values())
    body = text[text.index("tt_f0(") :]
    assert ("tt_wrap(" in body) == (f is tiles), body  # 3 - i is negative somewhere, for all it knows


def windows(a, b):
    for i in range(2, a.shape[0] - 2):
        for j in range(2, a.shape[1] - 2):
            s = 0
            for y in range(-2, 3):
                for x in range(2, -3, -2):
                    if a[i + y, j + x] > 40:
                        s += a[i + y, j + x]
            b[i, j] = s


def few_turns(a, b):
    for i in range(a.shape[0]):
        last = -1
        for k in range(3, 3):
            last = k
        for k in range(5, 2, -2):
            last += k
        for k in range(0):  # noqa: B007 (it keeps its value)
            last = 100
        for k in range(16):
            last += a[i, k % 3]
        for m in range(17):
            last ^= m
        for k in range(-40, -3, 9):
            b[i, k] += k
            last += k * 2
        b[i, 0] = last + k * 1000 + m


def left_early(a, b):
    for i in range(a.shape[0]):
        for k in range(8):
            if a[i, k] % 5 == 4:
                break
            if a[i, k] % 3 == 1:
                continue
            b[i, k] = a[i, k] + k
        for k in range(6):
            for m in range(a[i, 0] % 4):
                b[i, k] += m


def given_back(a, b):
    for i in range(a.shape[0]):
        for k in range(4):
            b[i, k] = i
            if a[i, k] == 77:
                return
            for q in range(2):
                a[i, k] += q


def from_the_end(a, b):
    for i in range(1, a.shape[0]):
        for y in range(-2, 1):
            b[i, y + 2] += a[i + y, i]
        for k in range(3):
            k = k - 2  # noqa: PLW2901 (another value than the turn's)
            b[i, k] += a[i, k]


@pytest.mark.parametrize("f", [windows, few_turns, left_early, given_back, from_the_end], ids=lambda f: f.__name__)
def test_loops_of_few_turns_written_out(f, monkeypatch):
    a = np.random.default_rng(1).integers(0, 100, (9, 50))
    sides = [(a.copy(), np.zeros_like(a)) for _ in range(3)]
    f(*sides[0])
    monkeypatch.setenv("TUTTI_JIT_TIER", "compiled")
    tt.njit(f)(*sides[1])
    monkeypatch.setenv("TUTTI_JIT_TIER", "first")
    tt.njit(f)(*sides[2])
    for got in sides[1:]:
        assert np.array_equal(got[0], sides[0][0]) and np.array_equal(got[1], sides[0][1])
