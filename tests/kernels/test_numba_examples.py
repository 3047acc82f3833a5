"""What Numba's documentation teaches, as programs of our own under the same names, on tutti.compat.numba."""

import math
import warnings

import numpy as np
import pytest
from tutti.compat import numba
from tutti.compat.numba import cuda, float32, float64, guvectorize, int32, int64, jit, njit, prange, stencil, vectorize
from tutti.compat.numba.cuda.random import (
    create_xoroshiro128p_states,
    xoroshiro128p_normal_float32,
    xoroshiro128p_normal_float64,
    xoroshiro128p_uniform_float32,
    xoroshiro128p_uniform_float64,
)

rng = np.random.default_rng(11)


# ---- the CUDA pages


def test_vecadd():
    @cuda.jit
    def axpy(factor, x, y, out):
        k = cuda.grid(1)
        if k < len(out):
            out[k] = factor * x[k] + y[k]

    n = 70_001
    x, y = cuda.to_device(rng.random(n)), cuda.to_device(rng.random(n))
    out = cuda.device_array_like(x)
    axpy.forall(len(x))(2.0, x, y, out)
    want = 2 * x.copy_to_host() + y.copy_to_host()
    np.testing.assert_array_equal(out.copy_to_host(), want)
    axpy[n // 192 + 1, 192](2.0, x, y, out)
    np.testing.assert_array_equal(out.copy_to_host(), want)


SIDE = 8


@cuda.jit
def product(a, b, c):
    row, col = cuda.grid(2)
    if row < c.shape[0] and col < c.shape[1]:
        total = 0.0
        for k in range(a.shape[1]):
            total += a[row, k] * b[k, col]
        c[row, col] = total


@cuda.jit
def tiled_product(a, b, c):
    left = cuda.shared.array(shape=(SIDE, SIDE), dtype=float32)
    right = cuda.shared.array((SIDE, SIDE), float32)
    col, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    total = float32(0.0)
    for step in range((a.shape[1] + SIDE - 1) // SIDE):
        inside = step * SIDE
        left[ty, tx] = a[row, inside + tx] if row < a.shape[0] and inside + tx < a.shape[1] else 0
        right[ty, tx] = b[inside + ty, col] if inside + ty < b.shape[0] and col < b.shape[1] else 0
        cuda.syncthreads()
        for k in range(SIDE):
            total += left[ty, k] * right[k, tx]
        cuda.syncthreads()
    if row < c.shape[0] and col < c.shape[1]:
        c[row, col] = total


@pytest.mark.parametrize("shape", [(16, 16, 16), (5, 23, 7), (1, 9, 17)])
def test_matmul(shape):
    m, k, n = shape
    a, b = rng.integers(-4, 5, (m, k)).astype("f4"), rng.integers(-4, 5, (k, n)).astype("f4")
    rows, cols = math.ceil(m / SIDE), math.ceil(n / SIDE)
    c = cuda.device_array((m, n), np.float32)
    product[(rows, cols), (SIDE, SIDE)](cuda.to_device(a), cuda.to_device(b), c)
    np.testing.assert_array_equal(c.copy_to_host(), a @ b)
    c = np.zeros((m, n), np.float32)
    tiled_product[(cols, rows), (SIDE, SIDE)](a, b, c)
    np.testing.assert_array_equal(c, a @ b)


def test_laplace():
    """Two buffers in turn, and a barrier of the whole grid after each step."""

    @cuda.jit
    def relax(front, back, rounds, rate):
        k = cuda.grid(1)
        if k >= front.size:
            return
        everybody = cuda.cg.this_grid()
        for turn in range(rounds):
            if turn % 2 == 0:
                now, then = front, back
            else:
                now, then = back, front
            here = now[k]
            if k == 0:
                change = now[1] - here
            elif k == now.size - 1:
                change = now[k - 1] - here
            else:
                change = now[k - 1] - 2 * here + now[k + 1]
            then[k] = here + rate * change
            everybody.sync()

    heat = np.zeros(601)
    heat[100:120] = 50
    front = cuda.to_device(heat)
    back = cuda.device_array_like(front)
    relax.forall(len(heat))(front, back, 400, 0.2)
    for _ in range(400):
        wide = np.pad(heat, 1, mode="edge")
        heat = heat + 0.2 * (wide[:-2] - 2 * heat + wide[2:])
    np.testing.assert_allclose(front.copy_to_host(), heat, rtol=1e-12)
    np.testing.assert_allclose(front.copy_to_host().sum(), 1000)


def test_monte_carlo():
    @jit
    def height(x):
        return 4.0 / (1.0 + x * x)

    @cuda.jit
    def sample(out, states, low, high):
        k = cuda.grid(1)
        if k < len(out):
            out[k] = height(low + (high - low) * xoroshiro128p_uniform_float32(states, k))

    @cuda.reduce
    def add(a, b):
        return a + b

    n = 100_000
    out = cuda.to_device(np.zeros(n, dtype="float32"))
    sample.forall(n)(out, create_xoroshiro128p_states(n, seed=5), 0, 1)
    assert abs(add(out) / n - math.pi) < 0.01
    assert abs(add(out, init=1000.0) - add(out) - 1000) < 1
    box = np.zeros(1, np.float32)
    assert add(out, res=box) is None and box[0] == add(out)
    assert cuda.Reduce(lambda a, b: max(a, b))(np.array([3, 9, 4])) == 9


def test_random_numbers_of_each_kind():
    @cuda.jit
    def fill(states, out):
        k = cuda.grid(1)
        for draw in range(out.shape[1]):
            out[k, draw, 0] = xoroshiro128p_uniform_float32(states, k)
            out[k, draw, 1] = xoroshiro128p_uniform_float64(states, k)
            out[k, draw, 2] = xoroshiro128p_normal_float32(states, k)
            out[k, draw, 3] = xoroshiro128p_normal_float64(states, k)

    out = np.zeros((256, 200, 4))
    fill[4, 64](create_xoroshiro128p_states(256, seed=1), out)
    flat = out.reshape(-1, 4)
    assert (flat[:, :2] >= 0).all() and (flat[:, :2] < 1).all()
    np.testing.assert_allclose(flat.mean(axis=0), [0.5, 0.5, 0, 0], atol=0.02)
    np.testing.assert_allclose(flat.std(axis=0), [12**-0.5, 12**-0.5, 1, 1], atol=0.02)
    assert len(np.unique(flat[:, 1])) == len(flat)


def test_random_numbers_over_a_grid_of_three_axes():
    @cuda.jit
    def fill(out, states):
        x, y, z = cuda.grid(3)
        by_x, by_y, by_z = cuda.gridsize(3)
        me = (z * by_y + y) * by_x + x
        for i in range(z, out.shape[0], by_z):
            for j in range(y, out.shape[1], by_y):
                for k in range(x, out.shape[2], by_x):
                    out[i, j, k] = xoroshiro128p_uniform_float32(states, me)

    out = cuda.device_array((21, 18, 33), dtype=np.float32)
    fill[(2, 2, 2), (4, 4, 4)](out, create_xoroshiro128p_states(512, seed=1))
    host = out.copy_to_host()
    assert abs(host.mean() - 0.5) < 0.02 and len(np.unique(host)) > 0.99 * host.size


def test_reduction():
    values = cuda.to_device(np.arange(512))
    count = len(values)

    @cuda.jit
    def fold(data):
        me = cuda.threadIdx.x
        if me < len(data):
            tree = cuda.shared.array(count, int32)
            tree[me] = data[cuda.grid(1)]
            cuda.syncthreads()
            gap = 1
            while gap < cuda.blockDim.x:
                if me % (2 * gap) == 0:
                    tree[me] += tree[me + gap]
                gap *= 2
                cuda.syncthreads()
            if me == 0:
                data[0] = tree[0]

    fold[1, count](values)
    assert values[0] == 511 * 256


def test_ufuncs():
    @cuda.jit
    def waves(out, x):
        np.cos(x, out)

    x = np.linspace(-3, 3, 13, dtype=np.float32)
    out = np.zeros_like(x)
    waves[1, 1](out, x)
    np.testing.assert_allclose(out, np.cos(x), rtol=3e-7, atol=1e-7)

    @vectorize(["float32(float32, float32)", "float64(float64, float64)"], target="cuda")
    def mix(a, b):
        return math.sqrt(a) * b + 1

    a, b = rng.random((30, 40)).astype("f4"), rng.random(40).astype("f4")
    want = np.sqrt(a) * b + 1
    got = mix(a, b)
    assert isinstance(got, np.ndarray) and got.dtype == np.float32
    np.testing.assert_allclose(got, want, rtol=1e-6)
    there = cuda.to_device(a)
    got = mix(there, b)
    assert cuda.is_cuda_array(got) and got.shape == a.shape
    np.testing.assert_allclose(got.copy_to_host(), want, rtol=1e-6)
    out = cuda.device_array_like(there)
    assert mix(there, b, out=out) is out
    np.testing.assert_allclose(out.copy_to_host(), want, rtol=1e-6)
    host = np.zeros_like(a)
    assert mix(there.T, 2.0, out=host.T) is not None
    np.testing.assert_allclose(host, np.sqrt(a) * 2 + 1, rtol=1e-6)
    assert mix(4.0, 3.0) == 7
    with pytest.raises(ValueError, match="shape"):
        mix(a, b, out=np.zeros(3, "f4"))
    with pytest.raises(ValueError):
        mix(a, np.zeros(7, "f4"))
    with pytest.raises(ValueError, match="targets"):
        vectorize(target="roc")


def test_ufuncs_step_in_python(monkeypatch):
    monkeypatch.setenv("TUTTI_KERNEL_STEP", "1")

    @vectorize(target="cuda")
    def plus(a, b):
        return a + b

    np.testing.assert_array_equal(plus(np.arange(5.0), np.ones(5)), np.arange(5) + 1)


def test_generalised_ufuncs_and_stencils():
    @guvectorize(["void(float32[:], float32[:], float32[:])"], "(n),(m)->(n)", target="cuda")
    def shift(x, by, out):
        for k in range(x.size):
            out[k] = x[k] + by[0] * by[by.size - 1]

    x = rng.random((3, 4, 5)).astype("f4")
    by = np.array([2, 9, 3], "f4")
    np.testing.assert_allclose(shift(x, by), x + 6)

    @stencil
    def cross(a):
        return a[0, 1] + a[1, 0] + a[0, -1] + a[-1, 0]

    a = rng.random((6, 7))
    want = np.zeros_like(a)
    want[1:-1, 1:-1] = a[1:-1, 2:] + a[2:, 1:-1] + a[1:-1, :-2] + a[:-2, 1:-1]
    np.testing.assert_allclose(cross(a), want)

    @stencil(neighborhood=((-3, 0),), cval=-1.0)
    def trailing(a):
        total = 0.0
        for k in range(-3, 1):
            total += a[k]
        return total / 4

    v = rng.random(20)
    got = trailing(v)
    assert (got[:3] == -1).all()
    np.testing.assert_allclose(got[3:], np.convolve(v, np.ones(4) / 4, "valid"))

    @stencil(standard_indexing=("weight",))
    def weighted(a, weight):
        return a[-1] * weight[0] + a[0] * weight[1]

    out = np.zeros_like(v)
    weighted(v, np.array([2.0, 3.0]), out=out)
    np.testing.assert_allclose(out[1:], 2 * v[:-1] + 3 * v[1:])


def test_sessionize():
    """A barrier of the grid that only those at a boundary reach, and walks that end at the next one."""
    gap = np.int64(10)

    @cuda.jit
    def label(user, when, out):
        k = cuda.grid(1)
        if k >= len(user):
            return
        starts = k == 0
        if not starts:
            starts = user[k] != user[k - 1] or when[k] - when[k - 1] > gap
        if starts:
            out[k] = k + 1
            everybody = cuda.cg.this_grid()
            everybody.sync()
            ahead = k + 1
            while ahead < len(user) and out[ahead] == 0:
                out[ahead] = k + 1
                ahead += 1

    user = np.repeat([7, 8, 9], [40, 50, 60])
    when = np.cumsum(rng.integers(1, 13, len(user)))
    out = cuda.to_device(np.zeros(len(user), np.int64))
    label.forall(len(user))(cuda.to_device(user), cuda.to_device(when), out)
    starts = np.r_[True, (np.diff(user) != 0) | (np.diff(when) > 10)]
    want = np.maximum.accumulate(np.where(starts, np.arange(len(user)) + 1, 0))
    np.testing.assert_array_equal(out.copy_to_host(), want)


def test_cooperative_grids():
    sig = (int32[:, ::1],)

    @cuda.jit(sig)
    def cascade(m):
        col = cuda.grid(1)
        g = cuda.cg.this_grid()
        for row in range(1, m.shape[0]):
            m[row, col] = m[row - 1, m.shape[1] - 1 - col] + 1
            g.sync()

    m = np.zeros((64, 256), dtype=np.int32)
    assert cascade.overloads[sig].max_cooperative_grid_blocks(32) >= 8
    cascade[8, 32](m)
    np.testing.assert_array_equal(m, np.tile(np.arange(64), (256, 1)).T)


def test_functions_for_both():
    @numba.jit
    def polynomial(x, a, b):
        return a * x * x + b / (x + 1)

    @cuda.jit
    def each(out, xs):
        k = cuda.grid(1)
        if k < len(xs):
            out[k] = polynomial(xs[k], 3, 2)

    xs = cuda.to_device([0, 1, 12])
    out = cuda.to_device([0.0, 0.0, 0.0])
    each.forall(len(xs))(out, xs)
    np.testing.assert_array_equal(out.copy_to_host(), [polynomial(x, 3, 2) for x in (0, 1, 12)])


def test_warp_shuffles():
    @cuda.jit(device=True)
    def warp_total(v):
        for gap in (16, 8, 4, 2, 1):
            v += cuda.shfl_down_sync(0xFFFFFFFF, v, gap)
        return v

    @cuda.jit
    def totals(x, out):
        k = cuda.grid(1)
        v = warp_total(x[k] if k < x.size else 0)
        if cuda.laneid == 0:
            cuda.atomic.add(out, 0, v)

    x, out = rng.random(1000), np.zeros(1)
    totals[8, 128](x, out)
    np.testing.assert_allclose(out[0], x.sum())

    @cuda.jit
    def scan(x, out):
        k, lane = cuda.grid(1), cuda.laneid
        v = x[k]
        gap = 1
        while gap < 32:
            below = cuda.shfl_up_sync(0xFFFFFFFF, v, gap)
            if lane >= gap:
                v += below
            gap *= 2
        out[k] = v

    x = rng.integers(0, 9, 64)
    out = np.zeros(64, np.int64)
    scan[1, 64](x, out)
    np.testing.assert_array_equal(out, x.reshape(2, 32).cumsum(axis=1).ravel())


def test_constant_memory():
    weights = np.array([0.25, 0.5, 0.25])

    @cuda.jit
    def smooth(x, out):
        w = cuda.const.array_like(weights)
        k = cuda.grid(1)
        if 0 < k < x.size - 1:
            out[k] = w[0] * x[k - 1] + w[1] * x[k] + w[2] * x[k + 1]

    x, out = rng.random(100), np.zeros(100)
    smooth[2, 64](x, out)
    np.testing.assert_allclose(out[1:-1], np.convolve(x, weights, "valid"))


def test_histogram_with_memory_of_the_block():
    @cuda.jit
    def count(x, bins):
        mine = cuda.shared.array(16, int32)
        t = cuda.threadIdx.x
        if t < 16:
            mine[t] = 0
        cuda.syncthreads()
        for k in range(cuda.grid(1), x.size, cuda.gridsize(1)):
            cuda.atomic.add(mine, x[k], 1)
        cuda.syncthreads()
        if t < 16:
            cuda.atomic.add(bins, t, mine[t])

    x, bins = rng.integers(0, 16, 10_000), np.zeros(16, np.int32)
    count[6, 96](x, bins)
    np.testing.assert_array_equal(bins, np.bincount(x, minlength=16))


# ---- memory, streams, events, devices


@cuda.jit
def double(x):
    k = cuda.grid(1)
    if k < x.size:
        x[k] *= 2


def test_memory():
    x = np.arange(10.0)
    d = cuda.to_device(x)
    same = cuda.to_device(x, to=cuda.device_array(10))
    double[1, 32](d)
    d.copy_to_host(x)
    np.testing.assert_array_equal(x, 2 * np.arange(10))
    np.testing.assert_array_equal(same.copy_to_host(), np.arange(10))
    same.copy_to_device(d)
    assert same[3] == 6 and same[2:5].copy_to_host().tolist() == [4, 6, 8]
    assert cuda.device_array_like(d).shape == d.shape and cuda.device_array((2, 3), dtype=np.int8).nbytes == 6
    for make in (cuda.pinned_array, cuda.mapped_array, cuda.managed_array):
        m = make((4,), dtype=np.float32)
        m[:] = 3
        double[1, 4](m)
        cuda.synchronize()
        assert m.tolist() == [6] * 4
    assert cuda.pinned_array_like(x).shape == cuda.mapped_array_like(x).shape == x.shape
    with cuda.pinned(x), cuda.defer_cleanup():
        double[1, 32](x)
    with cuda.mapped(x) as m:
        double[1, 32](m)
    np.testing.assert_array_equal(x, 8 * np.arange(10))
    assert cuda.as_cuda_array(d) is d
    with pytest.raises(TypeError, match="__cuda_array_interface__"):
        cuda.as_cuda_array(x)


def test_directions_of_arguments():
    @cuda.jit
    def both(a, b, c):
        a[0] += 1
        b[0] = a[0] * 10
        c[0] += 5

    a, b, c = np.ones(1), np.zeros(1), np.ones(1)
    both[1, 1](cuda.In(a), cuda.Out(b), cuda.InOut(c))
    assert (a[0], b[0], c[0]) == (1, 20, 6)


def test_streams_and_events():
    stream, other = cuda.stream(), cuda.default_stream()
    heard = []
    begin, end = cuda.event(), cuda.event(timing=True)
    begin.record(stream)
    with stream.auto_synchronize():
        d = cuda.to_device(np.ones(100), stream=stream)
        double[1, 128, stream](d)
        host = d.copy_to_host(stream=stream)
    end.record(stream)
    end.synchronize()
    assert cuda.event_elapsed_time(begin, end) >= 0 and end.query()
    stream.add_callback(lambda s, status, arg: heard.append(arg), "done")
    stream.synchronize()
    other.synchronize()
    assert heard == ["done"] and (host == 2).all()
    assert cuda.external_stream(0) is not None
    end.wait(stream)


def test_devices(capsys):
    assert cuda.is_available() and cuda.detect() and cuda.cuda_error() is None
    assert "device" in capsys.readouterr().out
    assert len(cuda.gpus) == len(cuda.list_devices()) >= 1
    device = cuda.select_device(0)
    assert device == cuda.get_current_device() == cuda.gpus[0] == cuda.current_context().device
    assert device.attributes["WARP_SIZE"] == device.WARP_SIZE == 32 and device.MAX_THREADS_PER_BLOCK == 1024
    assert len(device.compute_capability) == 2 and isinstance(device.name, bytes) and device.id == 0
    with pytest.raises(AttributeError, match="MULTIPROCESSOR_COUNT"):
        device.NO_SUCH_THING  # noqa: B018
    free, total = cuda.current_context().get_memory_info()
    assert 0 < free <= total
    with cuda.gpus[0], cuda.profiling():
        cuda.profile_start()
        double[1, 1](np.ones(1))
        cuda.profile_stop()
    cuda.close()


def test_what_is_known_of_a_kernel():
    @cuda.jit
    def kernel(x):
        s = cuda.shared.array(64, float32)
        mine = cuda.local.array(4, float64)
        t = cuda.threadIdx.x
        s[t], mine[t % 4] = t, t
        cuda.syncthreads()
        x[t] = s[t] + mine[t % 4]

    assert kernel.specialize(np.ones(64)).specialized and not kernel.specialized
    kernel[1, 64](np.ones(64))
    (types,) = kernel.signatures
    assert kernel.get_shared_mem_per_block(types) == 256 == kernel.overloads[types].shared_mem_per_block
    assert kernel.get_local_mem_per_thread(types) == 32 == kernel.get_local_mem_per_thread()[types]
    assert kernel.get_max_threads_per_block(types) == 1024 and kernel.get_const_mem_size()[types] == 0
    assert list(kernel.overloads) == [types] and len(kernel.overloads) == 1
    assert "__syncthreads" in kernel.inspect_cuda(types) and kernel.inspect_source()[types]
    x = np.zeros(64)
    kernel.configure(1, 64)(x)
    np.testing.assert_array_equal(x, 2 * np.arange(64))
    with pytest.raises(AttributeError, match="registers"):
        kernel.get_regs_per_thread()
    with pytest.raises(AttributeError, match="inspect_source"):
        kernel.inspect_asm()
    with pytest.raises(NotImplementedError, match="link"):
        cuda.jit(link=["more.cu"])
    for name in ("declare_device", "compile_ptx", "open_ipc_array"):
        with pytest.raises(AttributeError, match=f"does not cover numba.cuda.{name}"):
            getattr(cuda, name)


# ---- the CPU pages


def test_jit():
    @jit(nopython=True)
    def spread(a):
        trace = 0.0
        for k in range(a.shape[0]):
            trace += np.tanh(a[k, k])
        return a + trace

    a = rng.random((9, 9))
    np.testing.assert_allclose(spread(a), a + np.tanh(np.diag(a)).sum())

    @jit("i8(i8, i8)")
    def add(x, y=4):
        return x + y

    assert add(1, 2) == 3 and add(1) == 5 and add(x=2, y=3) == 5 and add.py_func(1) == 5

    @njit(cache=True, nogil=True, fastmath=False, inline="always")
    def collatz(n):
        steps = 0
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            steps += 1
        return steps

    assert collatz(27) == 111


def test_parallel():
    @njit(parallel=True)
    def total(x):
        acc = 0.0
        for k in prange(x.shape[0]):
            acc += x[k]
        return acc

    @njit(parallel=True)
    def powers(n):
        out = np.ones((3, 4), np.int64)
        two = 2 * np.ones_like(out)
        for _ in prange(n):
            out *= two
        return out

    @njit(parallel=True)
    def descend(y, x, w, rounds):
        for _ in range(rounds):
            w -= np.dot((1.0 / (1.0 + np.exp(-y * np.dot(x, w))) - 1.0) * y, x)
        return w

    x = rng.random(50_000)
    np.testing.assert_allclose(total(x), x.sum())
    assert (powers(6) == 64).all()
    y, m, w = rng.choice([-1.0, 1.0], 40), rng.random((40, 3)), np.zeros(3)
    for _ in range(5):
        w = w - ((1 / (1 + np.exp(-y * (m @ w))) - 1) * y) @ m
    np.testing.assert_allclose(descend(y, m, np.zeros(3), 5), w)


def test_ufuncs_of_the_cpu():
    @vectorize([int32(int32, int32), int64(int64, int64), float32(float32, float32), float64(float64, float64)])
    def add(x, y):
        return x + y

    a = np.arange(12).reshape(3, 4)
    np.testing.assert_array_equal(add.reduce(a, axis=1), a.sum(axis=1))
    np.testing.assert_array_equal(add.accumulate(a), np.add.accumulate(a))
    np.testing.assert_array_equal(add.accumulate(a, axis=1), np.add.accumulate(a, axis=1))
    np.testing.assert_array_equal(add.outer(a, a[0]), np.add.outer(a, a[0]))
    assert add(np.float32(1), np.float32(2)).dtype == np.float32
    assert add(np.int8(1), np.int8(2)).dtype == np.int32  # the first signature that takes them safely
    with pytest.raises(TypeError, match="no signature takes complex128"):
        add(1j, 1j)
    with pytest.raises(ValueError, match="not known"):
        vectorize(["string(string)"])

    @vectorize("float32(float32, float32)")
    def mean(x, y):
        return (x + y) / 2  # a float64 by itself

    assert mean(np.ones(2, "f4"), np.ones(2, "f4")).dtype == np.float32


def test_names_around_the_compiler():
    assert str(numba.typeof(np.ones((2, 3)))) == "array(float64, 2d, C)" and numba.typeof(3) == int64
    assert numba.from_dtype(np.dtype("f4")) == float32 and numba.typeof(np.ones(2, bool)) == numba.boolean[::1]
    assert numba.get_num_threads() >= 1 and numba.version_info[0] == 0 and numba.threading_layer() == "tutti"
    from tutti.compat.numba.core import config, errors, types

    assert types.int64 == int64 and config.NUMBA_NUM_THREADS >= 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", category=errors.NumbaPerformanceWarning)
    with pytest.raises(errors.TypingError):
        njit(lambda a: a + "x")(1)
    with pytest.raises(AttributeError, match="does not cover"):
        errors.NoSuchError  # noqa: B018
