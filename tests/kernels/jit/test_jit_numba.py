"""Programs as Numba's users write them, through tutti.compat.numba and through `python -m tutti run`."""

import subprocess
import sys

import numpy as np
import pytest
import tutti as tt

SCRIPT = """
import math
import numpy as np
from numba import cuda, float32, int32, njit, prange, vectorize, void
from numba.cuda.random import create_xoroshiro128p_states, xoroshiro128p_uniform_float32


@cuda.jit(void(float32[:], float32[:], float32[:]))
def f(a, b, c):
    tid = cuda.grid(1)
    size = len(c)
    if tid < size:
        c[tid] = a[tid] + b[tid]


N = 1000
a, b = cuda.to_device(np.ones(N, "f4")), cuda.to_device(np.arange(N, dtype="f4"))
c = cuda.device_array_like(a)
f.forall(len(a))(a, b, c)
assert (c.copy_to_host() == np.arange(N) + 1).all()


@cuda.jit
def array_sum(data):
    tid = cuda.threadIdx.x
    size = len(data)
    if tid < size:
        i = cuda.grid(1)
        shr = cuda.shared.array(1024, int32)
        shr[tid] = data[i]
        cuda.syncthreads()
        s = 1
        while s < cuda.blockDim.x:
            if tid % (2 * s) == 0:
                shr[tid] += shr[tid + s]
            s *= 2
            cuda.syncthreads()
        if tid == 0:
            data[tid] = shr[tid]


d = cuda.to_device(np.arange(1024, dtype="i4"))
array_sum[1, 1024](d)
assert d[0] == 1023 * 512


@cuda.jit
def waves(r, x):
    np.sin(x, r)


x = np.arange(10, dtype=np.float32) - 5
r = np.zeros_like(x)
waves[1, 1](r, x)
np.testing.assert_allclose(r, np.sin(x), rtol=2e-7)


@cuda.jit
def integrate(out, states, low, high):
    gid = cuda.grid(1)
    if gid < len(out):
        samp = xoroshiro128p_uniform_float32(states, gid) * (high - low) + low
        out[gid] = inverse(samp) * (high - low)


@cuda.jit
def inverse(x):
    return 1.0 / x


out = cuda.to_device(np.zeros(20000, "f4"))
integrate.forall(20000)(out, create_xoroshiro128p_states(20000, seed=42), 1, 2)
total = cuda.reduce(lambda a, b: a + b)(out)
assert abs(total / 20000 - math.log(2)) < 0.01


@njit(parallel=True)
def pi(n):
    acc = 0
    for i in prange(n):
        x, y = np.random.random(), np.random.random()
        if x * x + y * y < 1:
            acc += 1
    return 4 * acc / n


assert abs(pi(100000) - math.pi) < 0.05


@vectorize(["float64(float64, float64)"])
def add(x, y):
    return x + y


assert (add(np.arange(3.0), 1) == [1, 2, 3]).all()
print("all of it ran")
"""


def test_a_script_runs_unchanged(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, "-m", "tutti", "run", str(script)], capture_output=True, text=True, timeout=120
    )
    assert done.stdout == "all of it ran\n", done.stderr
    assert "kernel   array_sum" in done.stderr and "numba.cuda" in done.stderr


def test_what_is_not_covered_says_so(tmp_path):
    for text, words in (
        ("import numba.roc", "tutti does not cover numba.roc"),
        ("from numba import objmode", "objmode"),
        ("import numba\nnumba.jit_module", "does not cover numba.jit_module"),
    ):
        script = tmp_path / "script.py"
        script.write_text(text)
        done = subprocess.run(
            [sys.executable, "-m", "tutti", "run", str(script)], capture_output=True, text=True, timeout=60
        )
        assert done.returncode and words in done.stderr


def test_vectorize():
    @tt.vectorize
    def f(x, y):
        return x * x + y if x > 0 else -y

    x, y = np.linspace(-1, 1, 6).reshape(2, 3), np.arange(3.0)
    want = np.where(x > 0, x * x + y, -y)
    np.testing.assert_allclose(f(x, y), want)
    np.testing.assert_allclose(f(x.T, 2.0), np.where(x > 0, x * x + 2, -2).T)
    assert f(2, 3) == 7 and isinstance(f(tt.array(x), 1.0), tt.ndarray)
    out = np.empty_like(x)
    assert f(x, y, out=out) is out
    np.testing.assert_allclose(out, want)
    assert f(np.arange(3), np.arange(3)).dtype == np.int64
    assert tt.vectorize(lambda a, b: a + b).reduce(np.arange(12.0).reshape(3, 4)).tolist() == [12, 15, 18, 21]
    with pytest.raises(TypeError, match="takes 2"):
        f(x)
    with pytest.raises(ValueError):
        f(x, np.arange(4.0))


def test_guvectorize():
    @tt.guvectorize(["void(float64[:], float64, float64[:])"], "(n),()->(n)")
    def add(x, y, out):
        for i in range(x.shape[0]):
            out[i] = x[i] + y

    @tt.guvectorize("(m,n),(n,p)->(m,p)")
    def product(a, b, c):
        for i in range(c.shape[0]):
            for j in range(c.shape[1]):
                c[i, j] = 0
                for k in range(a.shape[1]):
                    c[i, j] += a[i, k] * b[k, j]

    @tt.guvectorize("(n)->()")
    def total(x, out):
        out[0] = 0
        for v in x:
            out[0] += v

    x = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(add(x, np.array([10.0, 20.0])), x + [[10], [20]])
    np.testing.assert_array_equal(add(x[0], 2.0), x[0] + 2)
    a, b = np.random.default_rng(0).random((5, 2, 3)), np.random.default_rng(1).random((3, 4))
    np.testing.assert_allclose(product(a, b), a @ b)
    np.testing.assert_array_equal(total(x), x.sum(axis=1))
    with pytest.raises(ValueError, match="core axis"):
        product(a, b.T)


def test_stencil():
    @tt.stencil
    def mean(a):
        return 0.25 * (a[0, 1] + a[0, -1] + a[1, 0] + a[-1, 0])

    @tt.stencil(cval=-1.0)
    def edges(a, w):
        return a[1] * w - a[-2]

    a = np.random.default_rng(0).random((6, 7))
    want = np.zeros_like(a)
    want[1:-1, 1:-1] = 0.25 * (a[1:-1, 2:] + a[1:-1, :-2] + a[2:, 1:-1] + a[:-2, 1:-1])
    np.testing.assert_allclose(mean(a), want)
    x = np.arange(6.0)
    assert edges(x, 2.0).tolist() == [-1, -1, 6, 7, 8, -1]


def test_random_states_do_not_meet():
    from tutti.compat.numba.cuda.random import create_xoroshiro128p_states

    states = create_xoroshiro128p_states(50, 7).copy_to_host()
    assert len({tuple(s) for s in states.tolist()}) == 50
    assert (states == create_xoroshiro128p_states(50, 7).copy_to_host()).all()
    # the generator's own numbers for this seed, two jumps and more from its first state
    states = create_xoroshiro128p_states(5, 42, subsequence_start=2).copy_to_host()
    assert states[2:].tolist() == [
        (10833148214898112945, 14266798641763014822),
        (9453079810665557108, 16242466236478186356),
        (2597645069605232943, 1167954634385444535),
    ]


def test_the_example_runs():
    import pathlib

    script = pathlib.Path(__file__).resolve().parents[3] / "examples" / "python" / "kernels_in_python.py"
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "thread 1 of block 1" in done.stdout and "element 2" in done.stdout and "element 3" not in done.stdout
    assert "all 3: True" in done.stdout and "mean of squares: 0.33" in done.stdout


def test_launches_are_counted():
    from tutti import cuda

    @cuda.jit
    def one(a):
        a[0] = 1

    before = tt.ledger()["launches"]
    one[1, 1](np.zeros(2))
    one[1, 1](np.zeros(2))
    assert tt.ledger()["launches"] == before + 2
