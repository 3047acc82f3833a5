"""Guards that became bounds of loops, and blocks joined in strips, give what one thread after the other gives."""

import numpy as np
import pytest
from tutti import cuda, jit

BIG = np.iinfo(np.int64)


@cuda.jit
def less(a, b, n, m):
    x, y = cuda.grid(2)
    if x < n and y < m:
        b[y, x] = a[y, x] + 1


@cuda.jit
def at_most(a, b, n, m):
    x = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    y = cuda.threadIdx.y + cuda.blockIdx.y * cuda.blockDim.y
    if x <= n - 1 and not y >= m:
        b[y, x] = a[y, x] + 1


@cuda.jit
def inside(a, b, n, m):
    x, y = cuda.grid(2)
    if 0 < x < n - 1 and 1 <= y and m - 1 > y:
        b[y, x] = a[y - 1, x] + 2 * a[y + 1, x] + 3 * a[y, x - 1] + 5 * a[y, x + 1]


@cuda.jit
def early(a, b, n, m):
    x, y = cuda.grid(2)
    if x >= n or y >= m:
        return
    z = x + y
    if z < 3:
        return
    if x < 2:
        return
    b[y, x] = a[y, x - 2] + z


@cuda.jit
def swapped(a, b, n, m):
    x, y = cuda.grid(2)
    if n > x and m > y:
        if 3 < x:
            if a[y, x] > 50:
                b[y, x] = a[y, x - 4]


@cuda.jit
def no_bound(a, b, n, m):
    x, y = cuda.grid(2)
    if x < n and y < m:
        b[y, x] = a[y, x]
    b[0, 0] = 7


@cuda.jit
def other_way(a, b, n, m):
    x, y = cuda.grid(2)
    if x < n and y < m:
        b[y, x] = a[y, x] + 1
    else:
        cuda.atomic.add(b, (0, 0), 1)


@cuda.jit
def changed(a, b, n, m):
    x, y = cuda.grid(2)
    n -= 1
    if x < n and y < m:
        b[y, x] = a[y, x] + n


@cuda.jit
def from_the_end(a, b, n, m):
    x, y = cuda.grid(2)
    if x < n and y < m:
        b[y, x] = a[y, x - 1] + 10 * a[y - 1, x]


@cuda.jit
def own_place(a, b, n, m):
    x, y = cuda.grid(2)
    if x < n and y < m:
        b[y, x] = a[y, x] + 1000 * cuda.threadIdx.x + 100_000 * cuda.blockIdx.x


@cuda.jit(device=True)
def where():
    return cuda.threadIdx.x + 64 * cuda.blockIdx.x


@cuda.jit
def device_place(a, b, n, m):
    x, y = cuda.grid(2)
    if x < n and y < m:
        b[y, x] = a[y, x] + where()


@cuda.jit
def own_order(a, b, n, m):
    x, y = cuda.grid(2)
    if x < n and y < m:
        b[y, x] = a[y, x]
        b[y, x] = b[y, x] * 2 + 1
        k = x
        while k >= 0:
            b[y, x] -= k
            k -= 3


def grid(n, m):
    y, x = np.mgrid[0:m, 0:n]
    return x, y


def want_of(kernel, a, n, m, block):
    """What the kernel means, with NumPy."""
    b, (x, y) = np.full_like(a, -1), grid(n, m)
    part = (slice(0, m), slice(0, n))
    bx = block[0]
    if kernel in (less, at_most):
        b[part] = a[part] + 1
    elif kernel is inside:
        if m > 2 and n > 2:
            mid, up, down = (slice(1, m - 1), slice(0, m - 2), slice(2, m))
            i, left, right = (slice(1, n - 1), slice(0, n - 2), slice(2, n))
            b[mid, i] = a[up, i] + 2 * a[down, i] + 3 * a[mid, left] + 5 * a[mid, right]
    elif kernel is early:
        ok = (x + y >= 3) & (x >= 2)
        b[part] = np.where(ok, a[y, x - 2] + x + y, -1)
    elif kernel is swapped:
        b[part] = np.where((x > 3) & (a[part] > 50), a[y, x - 4], -1)
    elif kernel is no_bound:
        b[part] = a[part]
        b[0, 0] = 7
    elif kernel is changed:
        b[:m, : n - 1] = a[:m, : n - 1] + n - 1
    elif kernel is from_the_end:
        b[part] = a[y, x - 1] + 10 * a[y - 1, x]
    elif kernel is own_place:
        b[part] = a[part] + 1000 * (x % bx) + 100_000 * (x // bx)
    elif kernel is device_place:
        b[part] = a[part] + x % bx + 64 * (x // bx)
    elif kernel is own_order:
        b[part] = a[part] * 2 + 1
        for k in range(0, n, 3):
            b[part] -= np.maximum(x - k, 0) * (x >= k)
    return b


KERNELS = [less, at_most, inside, early, swapped, no_bound, changed, from_the_end, own_place, device_place, own_order]
JOINED = {less, at_most, inside, early, swapped, no_bound, changed, from_the_end, own_order}


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.__name__)
@pytest.mark.parametrize("block", [(16, 16), (5, 3), (64, 4), (1, 7), (33, 1), (8, 2, 2)], ids=str)
def test_guards(kernel, block):
    for n, m in ((1, 1), (2, 5), (40, 33), (67, 20), (300, 2)):
        a = np.random.default_rng(n).integers(0, 100, (40, 320))
        b = np.full_like(a, -1)
        blocks = (-(-n // block[0]) + 1, -(-m // block[1]) + 1)
        if kernel is no_bound and n * m > 1:
            a[0, 0] = 7
        kernel[blocks, block](a, b, n, m)
        np.testing.assert_array_equal(b, want_of(kernel, a, n, m, block), f"{n} {m}")
    source = kernel.inspect_source()
    assert ("strip = gdx - bx" in str(source)) == (kernel in JOINED)


@pytest.mark.usefixtures("on_the_cpu")  # threads add to one element, one after the other
def test_an_else_is_no_guard():
    a = np.arange(6 * 8).reshape(6, 8)
    b = np.zeros_like(a)
    other_way[(2, 2), (8, 8)](a, b, 8, 6)
    want = a + 1
    want[0, 0] += 16 * 16 - 6 * 8
    np.testing.assert_array_equal(b, want)


@pytest.mark.parametrize("n", [BIG.min, BIG.min + 1, -1, 0, 1, 9, BIG.max - 1, BIG.max])
def test_bounds_at_the_ends_of_integers(n):
    """A bound that cannot be counted up or down further is met as it stands."""

    @cuda.jit
    def f(b, n):
        x = cuda.grid(1)
        if x < 12:
            if x < n:
                b[0, x] = 1
            if x <= n:
                b[1, x] = 1
            if x > n:
                b[2, x] = 1
            if x >= n:
                b[3, x] = 1

    @cuda.jit
    def lt(b, n):
        x = cuda.grid(1)
        if x < 12 and x < n:
            b[0, x] = 1

    @cuda.jit
    def le(b, n):
        x = cuda.grid(1)
        if x < 12 and x <= n:
            b[1, x] = 1

    @cuda.jit
    def gt(b, n):
        x = cuda.grid(1)
        if x < 12 and x > n:
            b[2, x] = 1

    @cuda.jit
    def ge(b, n):
        x = cuda.grid(1)
        if x < 12 and x >= n:
            b[3, x] = 1

    x = np.arange(12)
    whole = np.zeros((4, 12), np.int64)
    f[3, 5](whole, n)
    for row, (kernel, holds) in enumerate(((lt, x < n), (le, x <= n), (gt, x > n), (ge, x >= n))):
        b = np.zeros((4, 12), np.int64)
        kernel[3, 5](b, n)
        np.testing.assert_array_equal(b[row], holds)
        np.testing.assert_array_equal(whole[row], holds)


def test_wide_rows():
    """Rows longer than a strip, and strips that a piece of the launch cuts."""
    for n, m, block in ((9000, 5, (16, 4)), (4097, 40, (8, 8)), (70_000, 2, (32, 1))):
        a = np.random.default_rng(1).integers(0, 100, (m, n))
        b = np.full_like(a, -1)
        inside[(-(-n // block[0]), -(-m // block[1])), block](a, b, n, m)
        np.testing.assert_array_equal(b, want_of(inside, a, n, m, block))


@pytest.mark.usefixtures("on_the_cpu")
def test_prints_keep_their_order(capfd):
    @cuda.jit
    def f():
        x, y = cuda.grid(2)
        if x < 3:
            print(x, y)

    f[(2, 1), (2, 2)]()
    cuda.synchronize()
    assert capfd.readouterr().out.split("\n")[:-1] == ["0 0", "1 0", "0 1", "1 1", "2 0", "2 1"]


@jit
def neighbours(a, b):
    for i in range(1, a.shape[0] - 1):
        for j in range(1, a.shape[1]):
            b[i, j] = a[i - 1, j] + a[i, j - 1] + a[i - 2, j - 2]


@jit
def twice(a, b):
    for i in range(2, a.size):
        b[i] = a[i - 2]
    for i in range(0, a.size):
        b[i] += a[i - 1]
    for i in range(a.size - 1, -1, -1):
        b[i] += a[i - 1]
    i = 1
    while i < a.size:
        b[i] += a[i - 2]
        i += 2


def test_indices_from_the_end_in_loops():
    a = np.random.default_rng(0).integers(0, 100, (9, 7))
    got, want = np.zeros_like(a), np.zeros_like(a)
    neighbours(a, got)
    for i in range(1, 8):
        for j in range(1, 7):
            want[i, j] = a[i - 1, j] + a[i, j - 1] + a[i - 2, j - 2]
    np.testing.assert_array_equal(got, want)
    a = np.random.default_rng(0).integers(0, 100, 31)
    got, want = np.zeros_like(a), np.zeros_like(a)
    twice(a, got)
    want[2:] = a[:-2]
    want += 2 * np.roll(a, 1)
    want[1::2] += np.roll(a, 2)[1::2]
    np.testing.assert_array_equal(got, want)
    assert "tt_wrap((v" in str(neighbours.inspect_source()) and "tt_wrap" in str(twice.inspect_source())


@cuda.jit
def count(x, h):
    s = cuda.shared.array(64, "int64")
    t = cuda.threadIdx.x
    s[t] = 0
    cuda.syncthreads()
    for k in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        cuda.atomic.add(s, x[k] & 63, 1)
    cuda.syncthreads()
    cuda.atomic.add(h, t, s[t])


@cuda.jit
def count_down(x, h):
    for k in range(x.size - 1 - cuda.grid(1), -1, -cuda.gridsize(1)):
        cuda.atomic.add(h, x[k] & 63, 1)


def test_counting_by_the_stride_of_the_grid():
    """Looking ahead at the next turn's elements changes nothing, at ends and in rows with steps of their own."""
    every = np.random.default_rng(0).integers(0, 1000, 20_001)
    for x in (every, every[:64], every[:1], every[::3], every[::-2], every[:0]):
        for kernel in (count, count_down):
            h = np.zeros(64, np.int64)
            kernel[3, 64](x, h)
            np.testing.assert_array_equal(h, np.bincount(x & 63, minlength=64))
    assert "__builtin_prefetch" in str(count.inspect_source())
