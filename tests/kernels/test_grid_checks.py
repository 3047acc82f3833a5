"""TUTTI_CHECK=1 on kernels whose blocks wait for each other: each finding in a kernel that has it, and silence about one
that nearly has it, in CUDA C and in Python."""

# ruff: noqa: E501 (kernels stand here as people write them)

import os
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest
import tutti as tt
from interrupt import after_ctrl_c
from tutti import cuda, float64

needs_cxx = pytest.mark.skipif(not (shutil.which("c++") or shutil.which("g++")), reason="no C++ compiler")


@pytest.fixture(autouse=True)
def checked(monkeypatch):
    monkeypatch.setenv("TUTTI_CHECK", "1")
    monkeypatch.setattr("tutti._jit.cuda_place._there", None)  # as if it had been set from the start: no GPU is used


HEAD = "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n"


def run(text, grid, block, *args, **more):
    with tt.device("cpu"):
        name = re.search(r"__global__ void\s*(\w+)", text).group(1)
        tt.RawModule(code=HEAD + text).get_function(name)((grid,), (block,), args, **more)
        tt.synchronize()


def finds(error, words, text, grid, block, *args, **more):
    """`words`: a regular expression in which LINE(x) stands for the number of the line that holds x."""

    def number(match):
        lines = [k for k, line in enumerate((HEAD + text).split("\n"), 1) if match.group(1) in line]
        assert len(lines) == 1, match.group(1)
        return f"line {lines[0]}\\b"

    with pytest.raises(error, match=re.sub(r"LINE\((.*?)\)", number, words)):
        run(text, grid, block, *args, **more)


# ---- CUDA C

TURNS = """__global__ void turns(double *a, int n, int rounds) {
  cg::grid_group whole = cg::this_grid();
  for (int r = 0; r < rounds; r++) {
    for (long long k = whole.thread_rank(); k < n; k += whole.size())
      a[(r + 1) % 2 * n + k] =
          a[r % 2 * n + n - 1 - k] + 1;
    if (SYNC) whole.sync();
  }
}"""


@needs_cxx
@pytest.mark.parametrize("blocks, threads", [(1, 1), (1, 33), (5, 33), (64, 4), (3, 1024)])
def test_what_a_barrier_of_the_grid_orders_is_no_race(blocks, threads):
    n = 200
    a = np.concatenate([np.arange(n, dtype="f8"), np.zeros(n)])
    run(TURNS.replace("SYNC", "1"), blocks, threads, a, np.int32(n), np.int32(7))
    assert np.array_equal(a[n:], np.arange(n)[::-1] + 7)


@needs_cxx
def test_a_race_of_two_blocks():
    words = (
        r"a race in argument 1 'a' \(float64\[256\]\), element 63: block \(1, 0, 0\), thread \(31, 0, 0\) writes it on "
        r"line 7; block \(2, 0, 0\), thread \(0, 0, 0\) reads it on LINE(a[r % 2 * n), with no barrier of the grid between"
    )
    finds(RuntimeError, words, TURNS.replace("SYNC", "r != 0"), 4, 32, np.zeros(256), np.int32(128), np.int32(3))
    # barriers of the block order nothing of other blocks
    finds(
        RuntimeError,
        "with no barrier of the grid between",
        TURNS.replace("if (SYNC) whole.sync()", "__syncthreads()"),
        4,
        32,
        np.zeros(256),
        np.int32(128),
        np.int32(3),
    )
    # a barrier that is missing in a later round is found, too
    finds(
        RuntimeError,
        "with no barrier of the grid between",
        TURNS.replace("SYNC", "r != 5"),
        4,
        32,
        np.zeros(256),
        np.int32(128),
        np.int32(7),
    )
    run(TURNS.replace("SYNC", "r != 6"), 4, 32, np.zeros(256), np.int32(128), np.int32(7))


@needs_cxx
def test_races_in_a_block_and_with_those_before_a_barrier_of_the_grid():
    text = """__global__ void f(int *a) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = t;
  cg::this_grid().sync();
  a[blockIdx.x * 64 + t] = s[63 - t];
  AGAIN
  s[t] = a[t];
}"""
    run(text.replace("AGAIN", "cg::this_grid().sync();"), 4, 64, np.zeros(256, "i4"))
    run(text.replace("AGAIN", "__syncthreads();").replace("a[t]", "a[blockIdx.x * 64 + t]"), 4, 64, np.zeros(256, "i4"))
    finds(
        RuntimeError,
        "a race in shared memory 's', element .* LINE(s[t] = a[t]).* LINE(63 - t), with no barrier between",
        text.replace("AGAIN", ""),
        4,
        64,
        np.zeros(256, "i4"),
    )
    finds(
        RuntimeError,
        r"a race in argument 1 'a'.* block \(1, 0, 0\).* with no barrier of the grid between",
        text.replace("AGAIN", "__syncthreads();"),
        4,
        64,
        np.zeros(256, "i4"),
    )


@needs_cxx
def test_shared_memory_stays_the_blocks_own():
    text = """__global__ void f(int *a, int some) {
  __shared__ int s[32];
  extern __shared__ int d[];
  int t = threadIdx.x, b = blockIdx.x;
  if (b < some) s[t] = 1000 * b + t;
  d[t] = b - t;
  cg::this_grid().sync();
  s[t] += 7;
  cg::this_grid().sync();
  a[b * 32 + t] = s[31 - t] * d[t];
}"""
    a = np.zeros(5 * 32, "i4")
    run(text, 5, 32, a, np.int32(5), shared_mem=32 * 4)
    b, t = np.divmod(np.arange(160), 32)
    assert np.array_equal(a, (1000 * b + 31 - t + 7) * (b - t))
    words = r"shared memory 's', element 0 is read on LINE(s[t] += 7) before anybody wrote it, block \(3, 0, 0\), thread \(0, 0, 0\)"
    finds(RuntimeError, words, text, 5, 32, a, np.int32(3), shared_mem=32 * 4)
    finds(
        IndexError,
        r"block \(0, 0, 0\), thread \(31, 0, 0\), LINE(d[t] = b)",
        text,
        5,
        32,
        a,
        np.int32(5),
        shared_mem=31 * 4,
    )


@needs_cxx
def test_indices_behind_a_barrier():
    text = "__global__ void f(int *a) {\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  cg::this_grid().sync();\n  a[i + 1] = i;\n}"
    words = r"write of 4 bytes past the end of argument 1 'a' \(int32\[96\]\): index 96, block \(2, 0, 0\), thread \(31, 0, 0\), LINE(a[i + 1])"
    finds(IndexError, words, text, 3, 32, np.zeros(96, "i4"))
    a = np.zeros(97, "i4")
    run(text, 3, 32, a)
    assert np.array_equal(a[1:], np.arange(96))


@needs_cxx
def test_barriers_in_divergent_flow():
    text = """__device__ void wait() { cg::this_grid().sync(); }
__global__ void f(int *a, int n) {
  int t = threadIdx.x, b = blockIdx.x;
  if (COND)
    wait();
  else {
    OTHER
  }
  a[b * blockDim.x + t] = 1;
}"""
    a = np.zeros(128, "i4")
    two = text.replace("OTHER", "cg::this_grid().sync();\n")
    words = r"a barrier in divergent flow: block \(0, 0, 0\), thread \(0, 0, 0\) waits on line 3, block \(0, 0, 0\), thread \(9, 0, 0\) waits on line 9"
    finds(RuntimeError, words, two.replace("COND", "t < 9"), 2, 64, a, np.int32(0))
    words = r"a barrier in divergent flow: block \(0, 0, 0\), thread \(0, 0, 0\) waits on line 3, block \(1, 0, 0\), thread \(0, 0, 0\) waits on line 9"
    finds(RuntimeError, words, two.replace("COND", "b < 1"), 2, 64, a, np.int32(0))
    of_block = text.replace("OTHER", "__syncthreads();\n")
    finds(
        RuntimeError,
        r"a barrier in divergent flow.* line 3.* line 9",
        of_block.replace("COND", "t < 9"),
        2,
        64,
        a,
        np.int32(0),
    )
    one_line = of_block.replace("wait();\n  else {\n    __syncthreads();\n\n  }", "wait(); else __syncthreads();")
    assert one_line != of_block
    finds(RuntimeError, "a barrier in divergent flow", one_line.replace("COND", "t < 9"), 2, 64, a, np.int32(0))
    skips = text.replace("OTHER", "")
    words = r"a barrier that some threads of the block do not reach: block \(0, 0, 0\), thread \(0, 0, 0\) waits on line 3, block \(0, 0, 0\), thread \(9, 0, 0\) has ended without"
    finds(RuntimeError, words, skips.replace("COND", "t < 9"), 2, 64, a, np.int32(0))
    words = r"a barrier of the grid that some blocks do not reach: block \(0, 0, 0\), thread \(0, 0, 0\) waits on line 3, all threads of another block have ended, block \(1, 0, 0\), thread \(63, 0, 0\) last"
    finds(RuntimeError, words, skips.replace("COND", "b < 1"), 2, 64, a, np.int32(0))
    leaves = text.replace("OTHER", "return;\n")
    finds(
        RuntimeError,
        "a barrier of the grid that some blocks do not reach",
        leaves.replace("COND", "b < 1"),
        2,
        64,
        a,
        np.int32(0),
    )
    a = np.zeros(128, "i4")
    run(leaves.replace("COND", "t < 9"), 2, 64, a, np.int32(0))
    assert a.sum() == 18
    for whole in (two, of_block, skips, leaves):
        run(whole.replace("COND", "n == 0"), 2, 64, a, np.int32(0))


@needs_cxx
def test_a_block_that_ends_before_the_others_come_to_their_barrier():
    text = """__global__ void f(int *a) {
  for (int k = 0; k <= blockIdx.x; k++) {
    a[blockIdx.x] += k;
    cg::this_grid().sync();
  }
}"""
    finds(
        RuntimeError,
        r"some blocks do not reach: block \(1, 0, 0\), thread \(0, 0, 0\) waits on LINE(sync), all threads of another "
        r"block have ended, block \(0, 0, 0\), thread \(0, 0, 0\) last",
        text,
        2,
        1,
        np.zeros(2, "i4"),
    )


@needs_cxx
def test_warps_locals_and_groups_around_it():
    text = """__global__ void f(const double *a, double *parts, double *out) {
  double own[4];
  int t = threadIdx.x;
  for (int k = 0; k < 4; k++) own[k] = a[(blockIdx.x * blockDim.x + t) * 4 + k];
  cg::this_grid().sync();
  double x = 0;
  for (int k = 0; k < 4; k++) x += own[k];
  for (int k = 16; k; k /= 2) x += __shfl_down_sync(0xffffffff, x, k);
  if (t == 0) parts[blockIdx.x] = x;
  cg::this_grid().sync();
  if (cg::this_grid().thread_rank() == 0)
    for (int k = 0; k < gridDim.x; k++) *out += parts[k];
}"""
    a, out = np.arange(4 * 192.0), np.zeros(1)
    run(text, 6, 32, a, np.zeros(6), out)
    assert out[0] == a.sum()
    last = text.rindex("cg::this_grid().sync();")
    finds(RuntimeError, "a race in argument 2 'parts'", text[:last] + text[last + 23 :], 6, 32, a, np.zeros(6), out)


@needs_cxx
def test_too_many_blocks_and_ctrl_c(tmp_path):
    with pytest.raises(ValueError, match="wait for each other, so all must run at once, and TUTTI_CHECK=1 runs"):
        run(TURNS.replace("SYNC", "1"), 1 << 16, 1024, np.zeros(4), np.int32(2), np.int32(1))
    script = tmp_path / "endless.py"
    script.write_text(
        "import os\nos.environ['TUTTI_CHECK'] = '1'\nimport numpy as np, tutti as tt\ntt.device('cpu').__enter__()\n"
        f"m = tt.RawModule(code='''{HEAD}__global__ void k(int *a) {{ for (;;) cg::this_grid().sync(); }}\n"
        "__global__ void one(int *a) { a[blockIdx.x] = 1; }''')\n"
        "k, one = m.get_function('k'), m.get_function('one')\na = np.zeros(4, 'i4')\n"
        "one((4,), (1,), (a,))\nprint('begin', flush=True)\n"
        "try:\n    k((6,), (5,), (a,))\nexcept KeyboardInterrupt:\n    one((4,), (1,), (a,))\n    print('goes on', a.sum(), flush=True)\n"
    )
    assert after_ctrl_c(script) == ("goes on 4\n", 0)


@needs_cxx
@pytest.mark.parametrize("name", ["clang++", "g++"])
def test_both_compilers(name):
    if not shutil.which(name):
        pytest.skip(f"there is no {name}")
    if "TUTTI_CHECKS_WITHIN" in os.environ:
        pytest.skip("this is the inner run")
    env = {**os.environ, "TUTTI_CXX": name, "TUTTI_CHECK": "1", "TUTTI_CHECKS_WITHIN": "1"}
    tests = "orders_is_no_race or race_of_two or divergent or blocks_own"
    words = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", __file__, "-k", tests]
    done = subprocess.run(words, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:]


# ---- Python


def found(error, words, kernel, grid, block, *args):
    """`words`: {n} is the n-th line behind the kernel's `def`."""
    first = kernel.py_func.__code__.co_firstlineno + 1
    words = re.sub(r"\{(\d+)\}", lambda m: f"line {first + int(m.group(1))}\\b", words)
    with pytest.raises(error, match=words):
        kernel[grid, block](*args)


@pytest.fixture
def mirror():
    @cuda.jit
    def mirror(a, rounds, missing):
        i = cuda.grid(1)
        n = a.shape[1]
        whole = cuda.cg.this_grid()
        for r in range(rounds):
            for k in range(i, n, cuda.gridsize(1)):
                a[(r + 1) % 2, k] = a[r % 2, n - 1 - k] + 1
            if r != missing:
                whole.sync()

    return mirror


@pytest.mark.parametrize("blocks, threads", [(1, 1), (3, 33), (40, 8), (2, 1024)])
def test_python_turns(mirror, blocks, threads):
    a = np.zeros((2, 500))
    a[0] = np.arange(500)
    mirror[blocks, threads](a, 5, -1)
    assert np.array_equal(a[1], np.arange(500)[::-1] + 5)


def test_python_races(mirror):
    a = np.zeros((2, 100))
    words = (
        r"a race in argument 1 'a' \(float64\[2, 100\]\), element \[\d, \d+\]: block \(\d+, 0, 0\), .* {6}; block \(\d+, 0, 0\)"
        r".* {6}, with no barrier of the grid between"
    )
    found(RuntimeError, words, mirror, 100, 1, a, 4, 2)
    mirror[3, 32](a, 4, 3)  # after the last round nobody reads


def test_python_shared_memory_private_arrays_and_dynamic_ones():
    @cuda.jit
    def f(a, out, some):
        s = cuda.shared.array(32, float64)
        d = cuda.shared.array(0, float64)
        own = cuda.local.array(3, float64)
        t, b = cuda.threadIdx.x, cuda.blockIdx.x
        for k in range(3):
            own[k] = a[b, t] * k
        if b < some:
            s[t] = a[b, t]
        d[t] = b
        cuda.cg.this_grid().sync()
        x = s[31 - t]
        cuda.cg.this_grid().sync()
        out[b, t] = x + own[1] + own[2] + d[31 - t]

    a, out = np.arange(128.0).reshape(4, 32), np.zeros((4, 32))
    f[4, 32, 0, 256](a, out, 4)
    assert np.array_equal(out, a[:, ::-1] + 3 * a + np.arange(4)[:, None])
    words = r"shared memory 's' \(float64\[32\]\), element 31 is read on {11} before anybody wrote it, block \(2, 0, 0\), thread \(0, 0, 0\)"
    first = f.py_func.__code__.co_firstlineno + 1
    with pytest.raises(RuntimeError, match=words.replace("{11}", f"line {first + 11}")):
        f[4, 32, 0, 256](a, out, 2)
    with pytest.raises(
        IndexError, match=r"index 3 is out of bounds for axis 0 of 'a' with size 3; .*block \(3, 0, 0\)"
    ):
        f[4, 32, 0, 256](a[:3], out, 4)
    f[4, 32, 0, 256](a, out, 4)  # nothing is lost


def test_python_divergent_barriers():
    @cuda.jit
    def parts(a, threads, blocks):
        i = cuda.grid(1)
        if cuda.threadIdx.x < threads and cuda.blockIdx.x < blocks:
            cuda.cg.this_grid().sync()
        a[i] = 1

    @cuda.jit
    def two(a, blocks):
        if cuda.blockIdx.x < blocks:
            cuda.cg.this_grid().sync()
        else:
            cuda.cg.this_grid().sync()
        a[cuda.grid(1)] = 1

    @cuda.jit
    def leaves(a, n):
        i = cuda.grid(1)
        if i >= n:
            return
        a[i] = 1
        cuda.cg.this_grid().sync()
        a[i] += 1

    a = np.zeros(96)
    parts[3, 32](a, 32, 3)
    two[3, 32](a, 3)
    leaves[3, 32](a, 70)
    assert a.sum() == 96 + 70
    found(
        RuntimeError, r"a barrier that some threads of the block do not reach: .* waits on {3}", parts, 3, 32, a, 9, 3
    )
    found(RuntimeError, r"a barrier of the grid that some blocks do not reach: .* waits on {3}", parts, 3, 32, a, 32, 2)
    found(RuntimeError, r"a barrier in divergent flow: .* waits on {2}, .* waits on {4}", two, 3, 32, a, 2)
    found(RuntimeError, r"a barrier of the grid that some blocks do not reach: .* waits on {5}", leaves, 3, 32, a, 64)


def test_memory_that_is_not_there(mirror):
    core = tt._core
    a = np.zeros((2, 20))
    mirror[3, 4](a, 2, -1)
    failed = 0
    for n in range(200):
        a[:] = 0
        core._test_fail("memory", n, False)
        try:
            mirror[3, 4](a, 2, -1)
        except MemoryError:
            failed += 1
        fired = core._test_calls("memory")[1]
        core._test_fail("memory", -1, False)
        if not fired:
            break
    assert failed > 5 and not fired and (a[0] == 2).all()


STEPS = """
def steps(op, far, n, a):
    whole = cuda.cg.this_grid()
    i = cuda.grid(1)
    v = i + 1
    a[i] = v
    for k in range(n):
        if op[k] == 0:
            whole.sync()
        elif op[k] == 1:
            cuda.syncthreads()
        elif op[k] == 2:
            v = v * 31 + a[i ^ far[k]]
        else:
            v = v * 1000003 + k
            a[i] = v
"""


def has_race(op, far):
    """A read of a neighbour and a write of one's own with no barrier between, of the block where they are of one block."""
    grid = block = 0
    seen = [("w", 0, 0, 0)]
    for kind, distance in zip(op, far):
        grid += kind == 0
        block += kind <= 1
        if kind == 2 and distance:
            seen.append(("r", grid, block, distance))
        if kind == 3:
            seen.append(("w", grid, block, 0))
    return any(x[0] != y[0] and x[1] == y[1] and (max(x[3], y[3]) >= 8 or x[2] == y[2]) for x in seen for y in seen)


def test_random_steps(tmp_path):
    (tmp_path / "steps.py").write_text("from tutti import cuda\n" + STEPS)
    space = {}
    exec(compile("from tutti import cuda\n" + STEPS, str(tmp_path / "steps.py"), "exec"), space)
    kernel = cuda.jit(space["steps"])
    rng = np.random.default_rng(3)
    races = 0
    for _ in range(300):
        n = int(rng.integers(1, 9))
        op, far = (
            rng.choice(4, n, p=[0.35, 0.2, 0.2, 0.25]).astype("i4"),
            rng.choice([0, 1, 7, 8, 9, 16], n).astype("i4"),
        )
        caught = False
        try:
            kernel[4, 8](op, far, n, np.zeros(32, "i8"))
        except RuntimeError as error:
            assert "a race in argument 4 'a'" in str(error)
            caught = True
        assert caught == has_race(op, far), (op, far)
        races += caught
    assert 50 < races < 250
