"""Every name of the kernels' dialect, compiled and one thread at a time: a small program for each."""

import math

import numpy as np
import pytest
from tutti import cuda, float32, float64, int32

FULL = 0xFFFFFFFF


@pytest.fixture(params=["compiled", "stepped"])
def mode(request, monkeypatch):
    if request.param == "stepped":
        monkeypatch.setenv("TUTTI_KERNEL_STEP", "1")
    return request.param


def run(kernel, *shape, threads=40, dtype=np.int64):
    """What one block of threads writes into an array with a row for each."""
    out = np.zeros((threads, *shape), dtype)
    kernel[1, threads](out)
    return out


def test_places(mode):
    @cuda.jit
    def kernel(out):
        t = cuda.threadIdx.x + cuda.blockDim.x * (cuda.threadIdx.y + cuda.blockDim.y * cuda.threadIdx.z)
        b = cuda.blockIdx.x + cuda.gridDim.x * (cuda.blockIdx.y + cuda.gridDim.y * cuda.blockIdx.z)
        x, y, z = cuda.grid(3)
        gx, gy, gz = cuda.gridsize(3)
        out[b, t, 0] = x + gx * (y + gy * z)
        out[b, t, 1] = cuda.laneid
        out[b, t, 2] = cuda.warpsize
        out[b, t, 3] = cuda.gridsize(1)
        out[b, t, 4] = cuda.gridsize(2)[1]
        out[b, t, 5] = cuda.grid(1)

    out = np.zeros((8, 36, 6), np.int64)
    kernel[(2, 2, 2), (3, 4, 3)](out)
    assert sorted(out[:, :, 0].ravel().tolist()) == list(range(288))
    assert (out[:, :, 1] == np.arange(36) % 32).all()
    assert (out[:, :, 2:5] == (32, 6, 8)).all()
    assert set(out[:, :, 5].ravel().tolist()) == set(range(6))


def test_votes_of_a_block(mode):
    @cuda.jit
    def kernel(out):
        t = cuda.threadIdx.x
        out[t, 0] = cuda.syncthreads_count(t % 3 == 0)
        out[t, 1] = cuda.syncthreads_and(t < 40)
        out[t, 2] = cuda.syncthreads_and(t < 39)
        out[t, 3] = cuda.syncthreads_or(t == 39)
        out[t, 4] = cuda.syncthreads_or(t == 40)

    assert (run(kernel, 5) == (14, 1, 0, 1, 0)).all()


def test_votes_of_a_warp(mode):
    @cuda.jit
    def kernel(out):
        t = cuda.threadIdx.x
        cuda.syncwarp()
        out[t, 0] = cuda.ballot_sync(FULL, t % 2)
        out[t, 1] = cuda.any_sync(FULL, t == 35)
        out[t, 2] = cuda.all_sync(FULL, t < 32)
        out[t, 3] = cuda.eq_sync(FULL, t < 32)
        out[t, 4] = cuda.eq_sync(FULL, t == 3)
        out[t, 5] = cuda.match_any_sync(FULL, t % 4)
        lanes, agree = cuda.match_all_sync(FULL, t // 32)
        out[t, 6] = lanes
        out[t, 7] = agree
        lanes, agree = cuda.match_all_sync(FULL, float64(t))
        out[t, 8] = lanes + agree
        out[t, 9] = cuda.activemask()
        out[t, 10] = cuda.lanemask_lt()
        cuda.syncwarp(FULL)

    out = run(kernel, 11)
    t = np.arange(40)
    first = t < 32
    np.testing.assert_array_equal(out[:, 0], np.where(first, 0xAAAAAAAA, 0xAA))
    np.testing.assert_array_equal(out[:, 1], ~first)
    np.testing.assert_array_equal(out[:, 2], first)
    assert (out[:, 3] == 1).all()
    np.testing.assert_array_equal(out[:, 4], ~first)
    np.testing.assert_array_equal(out[:, 5], np.where(first, 0x11111111, 0x11) << t % 4)
    np.testing.assert_array_equal(out[:, 6], np.where(first, FULL, 0xFF))
    assert (out[:, 7] == 1).all() and (out[:, 8] == 0).all()
    np.testing.assert_array_equal(out[:, 9], np.where(first, FULL, 0xFF))
    np.testing.assert_array_equal(out[:, 10], (1 << t % 32) - 1)


def test_lanes_that_went_another_way_are_not_active(mode):
    @cuda.jit
    def kernel(out):
        t = cuda.threadIdx.x
        if t % 2 == 0:
            out[t] = cuda.activemask()

    if mode == "compiled":  # threads of the other mode go one by one
        assert run(kernel, threads=32).tolist() == [0x55555555, 0] * 16


@pytest.mark.parametrize("width", [1, 2, 8, 32])
def test_shuffles_of_parts_of_a_warp(mode, width):
    @cuda.jit
    def kernel(out, w):
        t = cuda.threadIdx.x
        out[t, 0] = cuda.shfl_sync(FULL, t, 5, width=w)
        out[t, 1] = cuda.shfl_up_sync(FULL, t, 3, width=w)
        out[t, 2] = cuda.shfl_down_sync(FULL, t, 3, width=w)
        out[t, 3] = cuda.shfl_xor_sync(FULL, t, 12, width=w)

    out = np.zeros((32, 4), np.int64)
    kernel[1, 32](out, width)
    lane = np.arange(32)
    within, other = lane % width, lane ^ 12
    want = [
        lane - within + 5 % width,
        np.where(within >= 3, lane - 3, lane),
        np.where(within + 3 < width, lane + 3, lane),
        np.where(other <= lane | (width - 1), other, lane),
    ]
    np.testing.assert_array_equal(out.T, want)


def test_words_of_warps_refuse_other_keywords():
    @cuda.jit
    def kernel(out):
        out[0] = cuda.shfl_sync(FULL, 1, 0, widht=4)

    with pytest.raises(TypeError, match="no keyword but width"):
        kernel[1, 32](np.zeros(1))


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64"])
def test_shuffles(mode, dtype):
    @cuda.jit
    def kernel(x, out):
        t = cuda.threadIdx.x
        out[t, 0] = cuda.shfl_sync(FULL, x[t], 3)
        out[t, 1] = cuda.shfl_up_sync(FULL, x[t], 2)
        out[t, 2] = cuda.shfl_down_sync(FULL, x[t], 4)
        out[t, 3] = cuda.shfl_xor_sync(FULL, x[t], 1)

    x = (np.arange(64) * 3 + 1).astype(dtype)
    out = np.zeros((64, 4), dtype)
    kernel[1, 64](x, out)
    t = np.arange(64)
    np.testing.assert_array_equal(out[:, 0], x[t // 32 * 32 + 3])
    np.testing.assert_array_equal(out[:, 1], x[np.where(t % 32 >= 2, t - 2, t)])
    np.testing.assert_array_equal(out[:, 2], x[np.where(t % 32 < 28, (t + 4) % 64, t)])
    np.testing.assert_array_equal(out[:, 3], x[t ^ 1])


def test_shared_memory_of_a_shape_and_of_the_launch(mode):
    @cuda.jit
    def kernel(out):
        still = cuda.shared.array((2, 20), int32)
        moving = cuda.shared.array(shape=0, dtype=float32)
        t = cuda.threadIdx.x
        still[t // 20, t % 20] = t
        moving[t] = t * 0.5
        cuda.syncthreads()
        out[t, 0] = still[1 - t // 20, t % 20]
        out[t, 1] = moving[39 - t]

    out = np.zeros((40, 2))
    kernel[1, 40, 0, 40 * 4](out)
    t = np.arange(40)
    np.testing.assert_array_equal(out, np.stack([(t + 20) % 40, (39 - t) * 0.5], 1))


TABLE = np.arange(6.0).reshape(2, 3)


def test_local_and_constant_memory(mode):
    @cuda.jit
    def kernel(out):
        t = cuda.threadIdx.x
        mine = cuda.local.array((2, 3), float64)
        fixed = cuda.const.array_like(TABLE)
        for i in range(2):
            for j in range(3):
                mine[i, j] = fixed[i, j] * t
        out[t] = mine[1, 2] + mine[0, 1]

    np.testing.assert_array_equal(run(kernel, dtype=np.float64), 6.0 * np.arange(40))


ATOMICS = {
    "add": (5, 3, 8), "sub": (5, 3, 2), "max": (5, 7, 7), "min": (5, 7, 5), "and_": (6, 3, 2), "or_": (6, 3, 7),
    "xor": (6, 3, 5), "exch": (6, 3, 3), "inc": (5, 5, 0), "dec": (0, 9, 9), "nanmax": (5, 9, 9), "nanmin": (5, 9, 5),
}  # fmt: skip


WHOLE, ALL = ["int32", "uint32", "int64", "uint64"], ["int32", "uint32", "int64", "uint64", "float32", "float64"]


@pytest.mark.parametrize(
    "word, dtype",
    [(w, t) for w in ATOMICS for t in (WHOLE if w in ("and_", "or_", "xor", "inc", "dec") else ALL)],
)
def test_atomics_give_the_old_value(mode, word, dtype):
    operate = getattr(cuda.atomic, word)

    @cuda.jit
    def kernel(a, old):
        old[1] = operate(a, 1, old[0])

    start, value, want = ATOMICS[word]
    a, old = np.array([0, start, 0], dtype), np.array([value, 0], dtype)
    kernel[1, 1](a, old)
    assert a.tolist() == [0, want, 0] and old[1] == start


def test_nan_is_missing_or_stays(mode):
    @cuda.jit
    def kernel(a, v):
        cuda.atomic.nanmax(a, 0, v[0])
        cuda.atomic.nanmin(a, 1, v[0])
        cuda.atomic.nanmax(a, 2, v[1])

    a = np.array([1.0, 1.0, np.nan])
    kernel[1, 1](a, np.array([np.nan, 2.0]))
    if mode == "compiled":
        np.testing.assert_array_equal(a, [1, 1, 2])


def test_max_and_min_take_no_nan_and_keep_one(mode):
    """As max(old, value) does in Python: NaN is not beyond anything."""

    @cuda.jit
    def kernel(a, v):
        block = cuda.shared.array(1, float64)
        block[0] = 3.0
        cuda.atomic.max(block, 0, v[0])
        a[4] = block[0]
        cuda.atomic.max(a, 0, v[0])
        cuda.atomic.min(a, 1, v[0])
        cuda.atomic.max(a, 2, v[1])
        cuda.atomic.min(a, 3, v[1])

    a = np.array([1.0, 1.0, np.nan, np.nan, 0.0])
    kernel[1, 1](a, np.array([np.nan, 2.0]))
    np.testing.assert_array_equal(a, [1, 1, np.nan, np.nan, 3])


def test_compare_and_swap(mode):
    @cuda.jit
    def kernel(a, out):
        out[0] = cuda.atomic.cas(a, 1, 5, 9)
        out[1] = cuda.atomic.cas(a, 1, 5, 7)
        out[2] = cuda.atomic.compare_and_swap(a, 3, 4)
        out[3] = cuda.atomic.cas(a, (2,), 0, 1)

    a, out = np.array([3, 5, 0], np.int32), np.zeros(4, np.int32)
    kernel[1, 1](a, out)
    assert a.tolist() == [4, 9, 1] and out.tolist() == [5, 9, 3, 0]


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "uint64"])
def test_bits(mode, dtype):
    @cuda.jit
    def kernel(x, out):
        t = cuda.threadIdx.x
        out[t, 0] = cuda.popc(x[t])
        out[t, 1] = cuda.clz(x[t])
        out[t, 2] = cuda.ffs(x[t])
        out[t, 3] = cuda.brev(x[t])

    size = np.dtype(dtype).itemsize * 8
    x = np.array([0, 1, 6, 0x12345678, (1 << (size - 1)) - 1], dtype)
    out = np.zeros((5, 4), np.uint64)
    kernel[1, 5](x, out)
    for row, v in zip(out.tolist(), x.tolist(), strict=True):
        bits = f"{v:0{size}b}"
        assert row == [bits.count("1"), size - v.bit_length(), (v & -v).bit_length(), int(bits[::-1], 2)]


def test_arithmetic_of_hardware(mode):
    @cuda.jit
    def kernel(x, out):
        t = cuda.threadIdx.x
        out[t, 0] = cuda.fma(x[t], x[t], -1.0)
        out[t, 1] = cuda.cbrt(x[t])
        out[t, 2] = cuda.selp(x[t] > 2, 1, 0.5)
        cuda.nanosleep(10)

    x = np.array([1.0 + 2.0**-30, 8.0, 2.0])
    out = np.zeros((3, 3))
    kernel[1, 3](x, out)
    assert out[0, 0] == 2.0**-29 + 2.0**-60  # a product of its own would lose the last bit
    np.testing.assert_allclose(out[:, 1], np.cbrt(x), rtol=1e-15)
    assert out[:, 2].tolist() == [0.5, 1, 0.5]


def test_fences_order_writes(mode):
    @cuda.jit
    def kernel(out):
        t = cuda.threadIdx.x
        out[t] = t
        cuda.threadfence_block()
        cuda.threadfence()
        cuda.threadfence_system()

    assert run(kernel).tolist() == list(range(40))


MATH = (
    "acos acosh asin asinh atan atanh ceil cos cosh degrees erf erfc exp expm1 fabs floor gamma isfinite isinf isnan "
    "lgamma log log10 log1p log2 radians sin sinh sqrt tan tanh trunc"
).split()


@pytest.mark.parametrize("name", MATH)
def test_math(mode, name):
    f = getattr(math, name)

    @cuda.jit
    def kernel(x, out):
        t = cuda.threadIdx.x
        out[t] = f(x[t])

    x = np.array([0.25, 0.5, 0.75]) + (name == "acosh")
    out = np.zeros(3)
    kernel[1, 3](x, out)
    np.testing.assert_allclose(out, [f(v) for v in x.tolist()], rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("name", ["atan2", "copysign", "fmod", "hypot", "pow"])
def test_math_of_two(mode, name):
    f = getattr(math, name)

    @cuda.jit
    def kernel(x, y, out):
        t = cuda.threadIdx.x
        out[t] = f(x[t], y[t])

    y = np.array([1.5, -2.5, 3.0])
    x, out = np.array([0.25, 0.5, 0.75]), np.zeros(3)
    kernel[1, 3](x, y, out)
    np.testing.assert_allclose(out, [f(a, b) for a, b in zip(x.tolist(), y.tolist(), strict=True)], rtol=1e-14)


def test_math_that_takes_numbers_apart(mode):
    @cuda.jit
    def kernel(x, out):
        t = cuda.threadIdx.x
        m, e = math.frexp(x[t])
        part, whole = math.modf(x[t])
        out[t, 0], out[t, 1], out[t, 2], out[t, 3] = m, e, part, whole
        out[t, 4] = math.ldexp(x[t], t - 2)

    x = np.array([0.0, 2.75, -3.5, 1e300, 5e-324, -math.inf, math.nan])
    out = np.zeros((7, 5))
    kernel[1, 7](x, out)
    want = [[*math.frexp(v), *math.modf(v), math.ldexp(v, t - 2)] for t, v in enumerate(x.tolist())]
    np.testing.assert_array_equal(out, want)
    np.testing.assert_array_equal(np.signbit(out[5]), np.signbit(want[5]))


def test_numpys_functions_of_numbers(mode):
    @cuda.jit
    def kernel(x, out):
        t = cuda.threadIdx.x
        out[t, 0] = np.sqrt(x[t]) + np.maximum(x[t], 1.0) + np.sign(x[t]) + np.float32(x[t])
        out[t, 1] = np.arctan2(x[t], 2.0) + np.power(x[t], 2) + np.floor(x[t]) + np.abs(-x[t])
        out[t, 2] = np.int32(x[t]) // 2 + np.uint8(3) + np.bool_(x[t])

    x = np.array([0.5, 4.0, 9.25])
    out = np.zeros((3, 3))
    kernel[1, 3](x, out)
    want = np.stack(
        [
            np.sqrt(x) + np.maximum(x, 1) + np.sign(x) + x,
            np.arctan2(x, 2) + x**2 + np.floor(x) + x,
            x.astype(int) // 2 + 3 + 1,
        ],
        1,
    )
    np.testing.assert_allclose(out, want)


def test_tuples_complex_numbers_and_slices(mode):
    @cuda.jit(device=True)
    def swap(pair):
        return pair[1], pair[0]

    @cuda.jit
    def kernel(z, rows, out):
        t = cuda.threadIdx.x
        a, b = swap((t, 2 * t))
        w = z[t] * z[t] + complex(0, 1)
        row = rows[t, 1:]
        total = 0.0
        for v in row:
            total += v
        out[t, 0], out[t, 1] = a - b, w.real + w.imag
        out[t, 2] = total + row[-1] + row.size + rows[t, ::2][1]
        z[t] = w.conjugate()

    z = np.array([1 + 1j, 2 - 1j])
    rows = np.arange(8.0).reshape(2, 4)
    start, out = z.copy(), np.zeros((2, 3))
    kernel[1, 2](z, rows, out)
    w = start * start + 1j
    np.testing.assert_array_equal(z, w.conj())
    np.testing.assert_array_equal(out[:, 0], [0, 1])
    np.testing.assert_array_equal(out[:, 1], w.real + w.imag)
    np.testing.assert_array_equal(out[:, 2], rows[:, 1:].sum(1) + rows[:, 3] + 3 + rows[:, 2])


def test_control_flow(mode):
    @cuda.jit
    def kernel(out):
        t = cuda.threadIdx.x
        if t > 30:
            return
        n, steps = t + 1, 0
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            steps += 1
            if steps > 50:
                break
        for k in range(10, 0, -3):
            if k == 4:
                continue
            steps += k if not (k < 5 and t) else 0
        out[t] = steps

    def steps(t):
        n, count = t + 1, 0
        while n != 1 and count <= 50:
            n, count = (n // 2 if n % 2 == 0 else 3 * n + 1), count + 1
        return count + 10 + 7 + (0 if t else 1)

    assert run(kernel).tolist() == [steps(t) if t <= 30 else 0 for t in range(40)]


def test_device_functions_of_several_kinds(mode):
    @cuda.jit(device=True, inline=True)
    def twice(x):
        return 2 * x

    @cuda.jit("float64(float64)", device=True)
    def half(x):
        return x / 2

    @cuda.jit
    def kernel(out):
        t = cuda.threadIdx.x
        out[t] = half(twice(t)) + twice(half(1.0))

    np.testing.assert_array_equal(run(kernel, dtype=np.float64), np.arange(40) + 1.0)


def test_device_functions_call_themselves():
    @cuda.jit(device=True)
    def again(n):
        return 1 if n == 0 else n * again(n - 1)

    @cuda.jit
    def kernel(out):
        out[0] = again(3)

    np.testing.assert_array_equal(run(kernel, threads=1, dtype=np.float64), [6.0])


def test_print_takes_words_and_numbers(mode, capfd):
    @cuda.jit
    def kernel(x):
        print("x is", x[0], 3, x[0] > 1)

    kernel[1, 1](np.array([1.5]))
    cuda.synchronize()
    assert capfd.readouterr().out == "x is 1.5 3 True\n"


def test_random_numbers_of_kernels_are_tutti_s_own_names():
    """Uniform numbers and normal ones by row of states, from tutti.cuda alone; each row goes its own way."""
    draws, n = 400, 64
    states = cuda.random.create_xoroshiro128p_states(n, seed=3)
    start = states.copy_to_host()
    assert start.shape == (n, 2) and start.dtype == np.uint64

    @cuda.jit
    def draw(states, uniform, normal):
        i = cuda.grid(1)
        if i < uniform.shape[0]:
            for k in range(uniform.shape[1]):
                uniform[i, k] = cuda.random.xoroshiro128p_uniform_float64(states, i)
                normal[i, k] = cuda.random.xoroshiro128p_normal_float64(states, i)

    uniform, normal = np.zeros((n, draws)), np.zeros((n, draws))
    draw[2, 32](states, uniform, normal)
    mask = (1 << 64) - 1
    s0, s1 = (int(word) for word in start[5])
    assert uniform[5, 0] == ((s0 + s1 & mask) >> 11) / 2**53
    assert len(np.unique(uniform)) == uniform.size and 0 <= uniform.min() and uniform.max() < 1
    assert abs(uniform.mean() - 0.5) < 5 * np.sqrt(1 / 12 / uniform.size)
    assert abs(normal.mean()) < 5 / np.sqrt(normal.size) and abs(normal.std() - 1) < 5 / np.sqrt(2 * normal.size)
    states.copy_to_device(start)
    again = np.zeros_like(uniform)
    draw[2, 32](states, again, normal)
    assert (again == uniform).all()
    assert "random" in dir(cuda)
