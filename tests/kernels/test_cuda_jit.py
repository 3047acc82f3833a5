"""Python kernels on the CPU: the same kernels in step mode and NumPy are the oracles."""

import math
import os
import subprocess
import sys

import numpy as np
import pytest
from tutti import cuda, float32, float64, int32

TILE = 16


@cuda.jit
def vecadd(a, b, c):
    i = cuda.grid(1)
    if i < c.size:
        c[i] = a[i] + b[i]


@cuda.jit
def matmul(a, b, c):
    sa = cuda.shared.array(shape=(TILE, TILE), dtype=float32)
    sb = cuda.shared.array(shape=(TILE, TILE), dtype=float32)
    x, y = cuda.grid(2)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    total = float32(0.0)
    for i in range(cuda.gridDim.x):
        sa[ty, tx] = 0
        sb[ty, tx] = 0
        if y < a.shape[0] and tx + i * TILE < a.shape[1]:
            sa[ty, tx] = a[y, tx + i * TILE]
        if x < b.shape[1] and ty + i * TILE < b.shape[0]:
            sb[ty, tx] = b[ty + i * TILE, x]
        cuda.syncthreads()
        for j in range(TILE):
            total += sa[ty, j] * sb[j, tx]
        cuda.syncthreads()
    if y < c.shape[0] and x < c.shape[1]:
        c[y, x] = total


@cuda.jit
def reduce_sum(x, out):
    s = cuda.shared.array(256, float64)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    s[t] = x[i] if i < x.size else 0.0
    cuda.syncthreads()
    d = cuda.blockDim.x // 2
    while d > 0:
        if t < d:
            s[t] += s[t + d]
        cuda.syncthreads()
        d //= 2
    if t == 0:
        cuda.atomic.add(out, 0, s[0])


@cuda.jit(device=True)
def warp_sum(v):
    d = 16
    while d > 0:
        v += cuda.shfl_down_sync(0xFFFFFFFF, v, d)
        d //= 2
    return v


@cuda.jit
def warps(x, out):
    i = cuda.grid(1)
    v = 0.0
    if i < x.size:
        v = x[i]
    v = warp_sum(v)
    if cuda.laneid == 0:
        cuda.atomic.add(out, 0, v)


@pytest.fixture(params=["compiled", "stepped"])
def mode(request, monkeypatch):
    if request.param == "stepped":
        monkeypatch.setenv("TUTTI_KERNEL_STEP", "1")
    return request.param


def test_vecadd(mode):
    n = 1003
    a, b, c = np.arange(n) * 0.5, np.ones(n), np.zeros(n)
    vecadd[(n + 127) // 128, 128](a, b, c)
    np.testing.assert_array_equal(c, a + b)
    vecadd.forall(n)(a, a, c)
    np.testing.assert_array_equal(c, a + a)


def test_tiled_matmul(mode):
    rng = np.random.default_rng(0)
    a, b, c = rng.random((35, 40), "f4"), rng.random((40, 20), "f4"), np.zeros((35, 20), "f4")
    matmul[(3, 3), (TILE, TILE)](a, b, c)
    np.testing.assert_allclose(c, a @ b, rtol=1e-5)


def test_what_a_kernel_needs():
    x = np.ones(4)
    reduce_sum[1, 256](x, x.copy())
    (types,) = (t for t in reduce_sum.signatures if t == "Af64:1C,Af64:1C")
    assert reduce_sum.get_shared_mem_per_block(types) == 256 * 8
    assert reduce_sum.get_local_mem_per_thread(types) == 0
    assert "shared0" in reduce_sum.inspect_source(types) and "__syncthreads" in reduce_sum.inspect_cuda(types)


def test_a_tree_of_barriers(mode):
    x, out = np.random.default_rng(1).random(1000), np.zeros(1)
    reduce_sum[4, 256](x, out)
    np.testing.assert_allclose(out[0], x.sum())


def test_exchanges_in_device_functions(mode):
    x, out = np.random.default_rng(2).random(300), np.zeros(1)
    warps[3, 128](x, out)
    np.testing.assert_allclose(out[0], x.sum())


def test_places_in_three_axes(mode):
    @cuda.jit
    def places(out):
        x, y, z = cuda.grid(3)
        gx, gy, gz = cuda.gridsize(3)
        if x < out.shape[0] and y < out.shape[1] and z < out.shape[2]:
            out[x, y, z] = x + 10 * y + 100 * z + 1000 * gx + cuda.blockIdx.y

    out = np.zeros((4, 3, 2), np.int64)
    places[(2, 2, 2), (2, 2, 1)](out)
    x, y, z = np.indices(out.shape)
    np.testing.assert_array_equal(out, x + 10 * y + 100 * z + 4000 + y // 2)


def test_returns_before_a_barrier(mode):
    @cuda.jit
    def early(a):
        i = cuda.grid(1)
        if i >= a.size:
            return
        a[i] += 1
        cuda.syncthreads()
        a[i] *= 2

    a = np.zeros(100)
    early[2, 64](a)
    assert (a == 2).all()


def test_threads_leave_loops_with_barriers_one_by_one(mode):
    @cuda.jit
    def steps(out):
        t = cuda.threadIdx.x
        n = 0
        while True:
            if n > t:
                break
            n += 1
            if n % 2 == 0:
                continue
            cuda.syncwarp()
        out[t] = n

    @cuda.jit
    def uneven(out):
        s = cuda.shared.array(8, int32)
        t = cuda.threadIdx.x
        for k in range(5):
            s[t] = t + k
            cuda.syncthreads()
            v = s[(t + 1) % 8]
            cuda.syncthreads()
            if k == 3:
                break
            out[t] += v
        for _ in range(3):
            if t % 2 == 0:
                out[t] += cuda.shfl_sync(0x55, t, 2)

    out = np.zeros(8, np.int64)
    steps[1, 8](out)
    np.testing.assert_array_equal(out, np.arange(8) + 1)
    out[:] = 0
    uneven[1, 8](out)
    t = np.arange(8)
    np.testing.assert_array_equal(out, 3 * ((t + 1) % 8) + 3 + np.where(t % 2 == 0, 6, 0))


def test_votes(mode):
    @cuda.jit
    def votes(x, out):
        t = cuda.threadIdx.x
        p = x[t] > 0
        out[t, 0] = cuda.syncthreads_count(p)
        out[t, 1] = cuda.syncthreads_and(p)
        out[t, 2] = cuda.syncthreads_or(p)
        out[t, 3] = cuda.ballot_sync(0xFFFFFFFF, p)
        out[t, 4] = cuda.any_sync(0xFFFFFFFF, p)
        out[t, 5] = cuda.all_sync(0xFFFFFFFF, p)
        out[t, 6] = cuda.shfl_up_sync(0xFFFFFFFF, t, 1)
        out[t, 7] = cuda.shfl_xor_sync(0xFFFFFFFF, t, 3)

    x = np.zeros(40)
    x[[1, 5, 39]] = 1
    out = np.zeros((40, 8), np.int64)
    votes[1, 40](x, out)
    assert out[0].tolist() == [3, 0, 1, 34, 1, 0, 0, 3]
    assert out[39].tolist() == [3, 0, 1, 1 << 7, 1, 0, 38, 36]


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "uint64", "float32", "float64"])
def test_atomics(dtype):
    @cuda.jit
    def add(x, out):
        i = cuda.grid(1)
        if i < x.size:
            cuda.atomic.add(out, 0, x[i])
            cuda.atomic.max(out, 1, x[i])
            cuda.atomic.min(out, 2, x[i])
            cuda.atomic.sub(out, 3, 1)

    x = np.random.default_rng(3).integers(1, 100, 1000).astype(dtype)
    out = np.array([0, 0, 1000, 2000], dtype)
    add[8, 128](x, out)
    assert out.tolist() == [x.sum(), x.max(), x.min(), 1000]


def test_other_atomics(mode):
    @cuda.jit
    def more(out, old):
        i = cuda.grid(1)
        cuda.atomic.and_(out, 0, 6)
        cuda.atomic.or_(out, 1, 1 << (i % 8))
        cuda.atomic.xor(out, 2, 1)
        cuda.atomic.exch(out, 3, 9)
        old[i] = cuda.atomic.cas(out, 4, 0, i + 1)
        cuda.atomic.inc(out, 5, 6)
        cuda.atomic.add(out, (6,), 2)

    out, old = np.array([15, 0, 0, 1, 0, 0, 0], np.int32), np.zeros(8, np.int32)
    more[1, 8](out, old)
    assert out.tolist() == [6, 255, 0, 9, 1, 1, 16]
    assert old.tolist() == [0, 1, 1, 1, 1, 1, 1, 1]


def test_local_and_dynamic_memory(mode):
    @cuda.jit
    def reverse(a):
        s = cuda.shared.array(0, float64)
        mine = cuda.local.array(2, float64)
        t = cuda.threadIdx.x
        n = cuda.blockDim.x
        mine[0] = a[t] * 2
        s[t] = a[t]
        cuda.syncthreads()
        mine[1] = s[n - 1 - t]
        cuda.syncthreads()
        a[t] = mine[0] + mine[1]

    a = np.arange(32.0)
    reverse[1, 32, 0, 32 * 8](a)
    np.testing.assert_array_equal(a, 2 * np.arange(32) + 31 - np.arange(32))


def test_constants_and_math(mode):
    table = np.array([1.0, 10.0, 100.0])

    @cuda.jit
    def f(x, out):
        c = cuda.const.array_like(table)
        i = cuda.grid(1)
        if i < x.size:
            out[i] = math.sqrt(x[i]) * c[i % 3] + abs(math.sin(x[i]))

    x, out = np.arange(10.0), np.zeros(10)
    f[1, 32](x, out)
    np.testing.assert_allclose(out, np.sqrt(x) * table[np.arange(10) % 3] + abs(np.sin(x)), rtol=1e-14)


def test_device_arrays(mode):
    host = np.arange(100.0)
    a = cuda.to_device(host)
    out = cuda.device_array_like(host)
    vecadd[1, 128](a, a, out)
    np.testing.assert_array_equal(out.copy_to_host(), host * 2)
    a.copy_to_device(host + 1)
    assert a[5] == 6 and a.shape == (100,) and host[5] == 5
    m = cuda.mapped_array(4)
    m[:] = 1
    vecadd[1, 4](m, m, m)
    assert m.tolist() == [2.0] * 4


def test_print_comes_in_order(capfd, mode):
    @cuda.jit
    def hello():
        if cuda.threadIdx.x < 2:
            print("hello from", cuda.threadIdx.x)

    print("before")
    hello[1, 4]()
    cuda.synchronize()
    print("after")
    assert capfd.readouterr().out == "before\nhello from 0\nhello from 1\nafter\n"


def test_assertions_hold_in_debug_kernels():
    def body(a):
        i = cuda.grid(1)
        assert a[i] >= 0, "negative"
        a[i] = 7

    bad = np.array([1.0, -1.0])
    cuda.jit(body)[1, 2](bad)
    assert bad.tolist() == [7, 7]
    with pytest.raises(AssertionError, match="negative"):
        cuda.jit(debug=True)(body)[1, 2](np.array([1.0, -1.0]))


def test_bad_launches():
    a = np.zeros(4)
    for grid, block in (
        (0, 32),
        (1, 0),
        (1, 2048),
        (1, (32, 64)),
        ((1, 70000), 1),
        (1, (1, 1, 128)),
        ((1, 1, 1, 1), 1),
    ):
        with pytest.raises(ValueError):
            vecadd[grid, block](a, a, a)
    with pytest.raises(ValueError, match="shared"):
        vecadd[1, 32, 0, 1 << 20](a, a, a)
    with pytest.raises(TypeError, match="takes 3 arguments but 2"):
        vecadd[1, 32](a, a)
    with pytest.raises(ValueError, match="launch it"):
        vecadd(a, a, a)
    with pytest.raises(ValueError, match="kernel needs"):
        vecadd[1](a, a, a)
    with pytest.raises(TypeError, match="str"):
        vecadd[1, 1]("a", a, a)

    @cuda.jit
    def huge():
        s = cuda.shared.array(100000, float32)
        s[0] = 1

    with pytest.raises(ValueError, match="static shared memory"):
        huge[1, 1]()

    @cuda.jit
    def gives(a):
        return a[0]

    with pytest.raises(TypeError, match="returns nothing"):
        gives[1, 1](a)


def test_streams_events_and_devices():
    s = cuda.stream()
    e, f = cuda.event(), cuda.event()
    e.record(s)
    a = cuda.to_device(np.ones(10), stream=s)
    vecadd[1, 32, s](a, a, a)
    f.record(s)
    s.synchronize()
    assert cuda.event_elapsed_time(e, f) >= 0
    assert len(cuda.gpus) == 1
    cuda.select_device(0)
    with pytest.raises(IndexError):
        cuda.select_device(7)


def test_checked_kernels_name_the_index_and_the_thread(monkeypatch):
    monkeypatch.setenv("TUTTI_CHECK", "1")
    monkeypatch.setattr("tutti._jit.cuda_place._there", None)  # no GPU is used then

    @cuda.jit
    def shifts(a, b):
        i = cuda.grid(1)
        b[i] = a[i + 1]

    @cuda.jit
    def shares(a):
        s = cuda.shared.array(4, float64)
        s[cuda.threadIdx.x] = 1
        cuda.syncthreads()
        a[-1] = s[0]

    a, b = np.zeros(8), np.zeros(8)
    line = shifts.py_func.__code__.co_firstlineno + 3
    words = r"index 8 .* axis 0 of 'a' with size 8; block \(1, 0, 0\), thread \(3, 0, 0\)"
    with pytest.raises(IndexError, match=rf"{words}\nin shifts, line {line}"):
        shifts[2, 4](a, b)
    with pytest.raises(IndexError, match=r"index 4 .* 's' with size 4; block \(0, 0, 0\), thread \(4, 0, 0\)"):
        shares[1, 8](a)
    shares[1, 4](a)
    assert a[-1] == 1


def test_device_functions_know_the_thread(mode):
    @cuda.jit(device=True)
    def place():
        if cuda.blockIdx.x > 0:
            return cuda.grid(1) * 10
        return cuda.threadIdx.x

    @cuda.jit
    def places(out):
        out[cuda.grid(1)] = place()

    out = np.zeros(6, np.int64)
    places[2, 3](out)
    assert out.tolist() == [0, 1, 2, 30, 40, 50]


def test_a_barrier_of_the_whole_grid():
    @cuda.jit
    def heat(a, b, steps, k):
        i = cuda.grid(1)
        if i >= len(a):
            return
        everyone = cuda.cg.this_grid()
        s = cuda.shared.array(64, float64)
        for step in range(steps):
            if step % 2 == 0:
                now = a
                then = b
            else:
                now = b
                then = a
            s[cuda.threadIdx.x] = now[i]
            cuda.syncthreads()
            t = s[cuda.threadIdx.x]
            left = now[i - 1] if i > 0 else 0.0
            right = now[i + 1] if i < len(now) - 1 else 0.0
            then[i] = t + k * (left - 2 * t + right)
            everyone.sync()

    n = 301
    a, b = np.zeros(n), np.zeros(n)
    a[n // 2] = 1000
    want = a.copy()
    heat[5, 64](a, b, 100, 0.25)
    for _ in range(100):
        wide = np.pad(want, 1)
        want = want + 0.25 * (wide[:-2] - 2 * want + wide[2:])
    np.testing.assert_allclose(a, want)


def test_checked_kernels_find_races_and_divergent_barriers(monkeypatch):
    monkeypatch.setenv("TUTTI_CHECK", "1")
    monkeypatch.setattr("tutti._jit.cuda_place._there", None)  # no GPU is used then

    @cuda.jit
    def shifts(a):
        s = cuda.shared.array(64, float64)
        t = cuda.threadIdx.x
        s[t] = a[t]
        a[t] = s[(t + 1) % 64]

    @cuda.jit
    def shifts_well(a):
        s = cuda.shared.array(64, float64)
        t = cuda.threadIdx.x
        s[t] = a[t]
        cuda.syncthreads()
        a[t] = s[(t + 1) % 64]
        cuda.syncthreads()
        s[63 - t] = a[t]

    @cuda.jit
    def parts(a):
        if a[cuda.threadIdx.x] > 3:
            cuda.syncthreads()

    a = np.arange(64.0)
    line = shifts.py_func.__code__.co_firstlineno + 4
    with pytest.raises(
        RuntimeError,
        match=rf"race in shared memory 's' .*element 1: .* reads it on line {line + 1}; .* writes it on line {line}",
    ):
        shifts[1, 64](a)
    shifts_well[1, 64](a)
    with pytest.raises(RuntimeError, match="a barrier that some threads of the block do not reach"):
        parts[1, 64](a)
    parts[1, 64](np.full(64, 5.0))


@pytest.mark.parametrize(
    "turns", [(0, 8, 1), (0, 16, 2), (3, 10, 2), (-4, 4, 1), (0, 7, 1), (4, 0, 1), (0, 0, 1), (9, 1, -2)]
)
def test_turns_that_all_threads_do(turns):
    lo, hi, by = turns

    @cuda.jit
    def k(a, o, last):
        s = cuda.shared.array(24, "int64")
        t = cuda.threadIdx.x + cuda.blockDim.x * cuda.threadIdx.y
        s[t] = a[t]
        cuda.syncthreads()
        v = 0
        j = -1
        for j in range(lo, hi, by):
            v = v * 3 + s[(t + j) % 24] * (j + 1)
        cuda.syncthreads()
        if t % 3:
            for j in range(lo, hi, by):  # threads stay out of it, and meet inside
                v += j * t
                cuda.syncthreads()
                s[t] = v
                v ^= s[t]
        o[t] = v
        last[t] = j

    a, o, last = np.arange(24) * 7 % 5, np.zeros(24, "i8"), np.zeros(24, "i8")
    k[1, (6, 4)](a, o, last)
    for t in range(24):
        v, j = 0, -1
        for j in range(lo, hi, by):
            v = v * 3 + a[(t + j) % 24] * (j + 1)
        if t % 3 and range(lo, hi, by):
            v = 0
        assert (o[t], last[t]) == (v, j)


def test_rows_of_threads_above_each_other():
    @cuda.jit
    def flat(o):  # does not look at z, which there is all the same
        s = cuda.shared.array(32, "int64")
        s[cuda.threadIdx.x + 4 * cuda.threadIdx.y] = cuda.threadIdx.y
        cuda.syncthreads()
        cuda.atomic.add(o, s[cuda.threadIdx.x + 4 * cuda.threadIdx.y], 1 + cuda.threadIdx.x)

    @cuda.jit
    def deep(o):
        s = cuda.shared.array(64, "int64")
        t = cuda.threadIdx.x + 4 * (cuda.threadIdx.y + 3 * cuda.threadIdx.z)
        s[t] = cuda.threadIdx.z
        cuda.syncthreads()
        cuda.atomic.add(o, s[t], 1 + cuda.threadIdx.y)

    o, d = np.zeros(3, "i8"), np.zeros(5, "i8")
    flat[2, (4, 3, 5)](o)
    deep[2, (4, 3, 5)](d)
    assert o.tolist() == [100] * 3 and d.tolist() == [48] * 5


def test_products_and_sums_are_contracted_on_a_gpu():
    @cuda.jit
    def k(a, x, y):
        i = cuda.grid(1)
        a[i] = x * x + y
        a[i] += 3.0 - x * -2.0
        a[i] -= x * y - math.exp(x) * y

    a = np.zeros(1)
    k[1, 1](a, 1.5, 2.5)
    assert a[0] == pytest.approx(1.5 * 1.5 + 2.5 + (3.0 + 1.5 * 2.0) - (1.5 * 2.5 - math.exp(1.5) * 2.5))
    (types,) = k.signatures
    thread = k.inspect_cuda(types).split("__global__")[1]
    assert thread.count("TT_FMA_F64(") == 3
    assert "FMA" not in k.inspect_source(types).split("tt_thread(")[1]  # on the CPU NumPy's bits


def test_forall_without_a_compiler(tmp_path):
    """Blocks that nobody named have a size there too."""
    program = tmp_path / "program.py"
    program.write_text(
        "import tutti as tt\n"
        "@tt.cuda.jit\n"
        "def more(a):\n"
        "    i = tt.cuda.grid(1)\n"
        "    if i < a.size:\n"
        "        a[i] += 1\n"
        "a = tt.zeros(200)\n"
        "more.forall(200)(a)\n"
        "print(float(a.sum()))\n"
    )
    env = dict(os.environ, TUTTI_CC="none", TUTTI_CACHE_DIR=str(tmp_path / "cache"), TUTTI_DEVICE="cpu")
    p = subprocess.run([sys.executable, program], env=env, capture_output=True, text=True, timeout=100)
    assert p.stdout == "200.0\n", p.stderr
