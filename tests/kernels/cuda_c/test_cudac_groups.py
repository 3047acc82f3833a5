"""Cooperative groups in CUDA C: blocks, tiles, threads that are there, and the grid, on the CPU and on a GPU."""

# ruff: noqa: E501 (kernels stand here as people write them)

import os
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import nvrtc
import pytest
import tutti as tt
from interrupt import after_ctrl_c

ROOT = pathlib.Path(__file__).resolve().parents[3]
needs_cxx = pytest.mark.skipif(not (shutil.which("c++") or shutil.which("g++")), reason="no C++ compiler")
pytestmark = needs_cxx

GRID = """
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void turns(double *a, int n, int rounds) {
  cg::grid_group whole = cg::this_grid();
  for (int r = 0; r < rounds; r++) {
    for (long long k = whole.thread_rank(); k < n; k += whole.size())
      a[(r + 1) % 2 * n + k] = a[r % 2 * n + n - 1 - k] + 1;
    whole.sync();
  }
}
extern "C" __global__ void alone(double *a) { a[blockIdx.x * blockDim.x + threadIdx.x] += 1; }
__device__ void wait() { cooperative_groups::this_grid().sync(); }
template <class T> __global__ void total(T *parts, T *out) {
  __shared__ T sum;
  if (threadIdx.x == 0) sum = 0;
  cg::this_thread_block().sync();
  atomicAdd(&sum, (T)(blockIdx.x * blockDim.x + threadIdx.x));
  cg::sync(cg::this_thread_block());
  if (threadIdx.x == 0) parts[blockIdx.x] = sum;
  wait();
  if (cg::this_grid().thread_rank() == 5) {
    T all = 0;
    for (int k = 0; k < gridDim.x; k++) all += parts[k];
    *out = all;
  }
}
__global__ void leaves(int *a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  a[i] = 1;
  cg::this_grid().sync();
  if (i == 0) for (int k = 1; k < n; k++) a[0] += a[k];
}
__global__ void endless(volatile int *a) {
  for (;;) { if (blockIdx.x > 0) cg::this_grid().sync(); else if (a[0]) return; }
}
__global__ void fails(int *a) {
  assert(blockIdx.x != 2);
  cg::this_grid().sync();
}
"""
GROUPS = """
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
using namespace cooperative_groups;
__device__ int sum(thread_group g, int *temp, int value) {
  int lane = g.thread_rank();
  for (int i = g.size() / 2; i > 0; i /= 2) {
    temp[lane] = value;
    g.sync();
    if (lane < i) value += temp[lane + i];
    g.sync();
  }
  return value;
}
__global__ void of_blocks(int *out, const int *in) {
  extern __shared__ int temp[];
  auto block = this_thread_block();
  int rank = block.thread_rank(), mine = in[block.group_index().x * block.size() + rank];
  int all = sum(block, temp, mine);
  block.sync();
  auto tile = tiled_partition(block, 16);
  int part = sum(tile, temp + rank / 16 * 16, mine);
  if (rank == 0) out[0] = all;
  if (tile.thread_rank() == 0) out[1 + rank / 16] = part;
}
__global__ void of_tiles(int *out, int n) {
  thread_block block = this_thread_block();
  thread_block_tile<8> tile = tiled_partition<8>(block);
  auto warp = tiled_partition<32>(block);
  int t = block.thread_rank(), v = t * t;
  out[t] = tile.shfl(v, 3);
  out[n + t] = tile.shfl_up(v, 1);
  out[2 * n + t] = tile.shfl_down(v, 2);
  out[3 * n + t] = tile.shfl_xor(v, 5);
  out[4 * n + t] = tile.ballot(t % 3 == 0);
  out[5 * n + t] = tile.any(t == 9) * 2 + tile.all(t < 16);
  out[6 * n + t] = tile.meta_group_rank() * 100 + tile.meta_group_size() * 10 + tile.thread_rank();
  out[7 * n + t] = reduce(tile, t, plus<int>());
  out[8 * n + t] = reduce(warp, t, greater<int>());
  tile.sync();
}
"""
THERE = """
#include <cooperative_groups.h>
using namespace cooperative_groups;
__global__ void of_those_who_are_there(int *out) {
  int t = threadIdx.x;
  out[t] = -1;
  if (t % 3 == 1) {
    coalesced_group some = coalesced_threads();
    int first = some.shfl(t, 0), next = some.shfl_down(t, 1), before = some.shfl_up(t, 1);
    out[t] = some.thread_rank() * 1000000 + some.size() * 10000 + first * 100 + next - before;
    some.sync();
  }
}
__device__ int next(int *count) {
  coalesced_group those = coalesced_threads();
  int first;
  if (those.thread_rank() == 0) first = atomicAdd(count, those.size());
  return those.shfl(first, 0) + those.thread_rank();
}
__global__ void keep_positive(int *out, int *count, const int *in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (in[i] > 0) out[next(count)] = in[i];
}
__global__ void keep_positive_by_mask(int *out, int *count, const int *in, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
    if (in[i] > 0) {
      unsigned those = __activemask(), lane = threadIdx.x & 31;
      int leader = __ffs(those) - 1, first;
      if (lane == leader) first = atomicAdd(count, __popc(those));
      first = __shfl_sync(those, first, leader);
      out[first + __popc(those & ((1u << lane) - 1))] = in[i];
    }
}
__global__ void parts(int *out) {
  auto warp = coalesced_threads();
  auto same = labeled_partition(warp, threadIdx.x % 5);
  auto even = binary_partition(warp, threadIdx.x % 2 == 0);
  out[threadIdx.x] = reduce(same, (int)threadIdx.x, plus<int>()) * 2 + even.all(threadIdx.x % 2 == 0);
}
"""


@pytest.fixture(scope="module")
def grid():
    return tt.RawModule(code=GRID, name_expressions=["total<int>", "total<double>"])


@pytest.mark.parametrize("blocks, threads", [(1, 1), (3, 33), (24, 256), (64, 64), (100, 7), (8, 1024)])
def test_every_block_waits_for_every_other(grid, blocks, threads):
    n = 5000
    a = tt.asarray(np.concatenate([np.arange(n, dtype="f8"), np.zeros(n)]))
    grid.get_function("turns")((blocks,), (threads,), (a, n, 51))
    assert np.array_equal(a.numpy()[n:], np.arange(n)[::-1] + 51)


def test_templates_shared_memory_and_threads_that_leave(grid):
    for kind, name in (("i4", "int"), ("f8", "double")):
        parts, out = np.zeros(10, kind), np.zeros(1, kind)
        grid.get_function(f"total<{name}>")((10,), (48,), (parts, out))
        assert out[0] == sum(range(480))
    a = np.zeros(150, "i4")
    grid.get_function("leaves")((3,), (64,), (a, 150))
    assert a[0] == 150


def test_kernels_beside_them_take_any_grid(grid):
    a = np.zeros(3000 * 32)
    grid.get_function("alone")((3000,), (32,), (a,))
    assert (a == 1).all()
    with pytest.raises(ValueError, match="wait for each other, so all must run at once"):
        grid.get_function("turns")((1 << 16,), (1024,), (a, 10, 1))


@pytest.mark.usefixtures("on_the_cpu")
def test_what_goes_wrong_ends_them_all():
    module = tt.RawModule(code=GRID)
    a = np.zeros(4, "i4")
    with pytest.raises(RuntimeError, match=r"block \(2,0,0\), thread \(\d+,0,0\): assertion failed: blockIdx.x != 2"):
        module.get_function("fails")((8,), (4,), (a,))
    module.get_function("leaves")((2,), (2,), (a, 4))
    assert a[0] == 4


@pytest.mark.usefixtures("on_the_cpu")
def test_ctrl_c_ends_them_all(tmp_path):
    script = tmp_path / "endless.py"
    script.write_text(
        f"import numpy as np, tutti as tt\nmodule = tt.RawModule(code={GRID!r})\n"
        "k, a = module.get_function('endless'), np.zeros(4, 'i4')\nk.compile()\nprint('begin', flush=True)\n"
        "try:\n    k((6,), (5,), (a,))\nexcept KeyboardInterrupt:\n"
        "    module.get_function('leaves')((2,), (2,), (a, 4))\n    print('goes on', a[0], flush=True)\n"
    )
    assert after_ctrl_c(script) == ("goes on 4\n", 0)


@pytest.mark.usefixtures("on_the_cpu")
def test_they_are_checked(monkeypatch):
    monkeypatch.setenv("TUTTI_CHECK", "1")
    module = tt.RawModule(code=GRID, name_expressions=["total<int>"])
    a = np.zeros(150, "i4")
    module.get_function("leaves")((3,), (64,), (a, 150))
    assert a[0] == 150
    parts, out = np.zeros(10, "i4"), np.zeros(1, "i4")
    module.get_function("total<int>")((10,), (48,), (parts, out))
    assert out[0] == sum(range(480))
    with pytest.raises(RuntimeError, match=r"block \(2,0,0\), thread \(\d+,0,0\): assertion failed: blockIdx.x != 2"):
        module.get_function("fails")((8,), (4,), (a,))
    a = np.zeros(4)
    module.get_function("alone")((2,), (2,), (a,))
    assert (a == 1).all()


def test_groups_of_threads():
    module = tt.RawModule(code=GROUPS)
    x = np.arange(64, dtype="i4") ** 2
    out = np.zeros(5, "i4")
    module.get_function("of_blocks")((1,), (64,), (out, x), shared_mem=256)
    assert out.tolist() == [x.sum(), *x.reshape(4, 16).sum(1)]
    n = 64
    o = np.zeros((9, n), "i4")
    module.get_function("of_tiles")((1,), (n,), (o, n))
    t = np.arange(n)
    lane, base, v = t % 8, t - t % 8, t * t
    assert np.array_equal(o[0], v[base + 3])
    assert np.array_equal(o[1], np.where(lane > 0, v[np.maximum(t - 1, 0)], v))
    assert np.array_equal(o[2], np.where(lane < 6, v[np.minimum(t + 2, n - 1)], v))
    assert np.array_equal(o[3], v[t ^ 5])
    assert np.array_equal(o[4], [sum(1 << k for k in range(8) if (b + k) % 3 == 0) for b in base])
    assert np.array_equal(o[5], np.where(base == 8, 2, 0) + (t < 16))
    assert np.array_equal(o[6], t // 8 * 100 + 80 + lane)
    assert np.array_equal(o[7], t.reshape(8, 8).sum(1).repeat(8))
    assert np.array_equal(o[8], np.where(t < 32, 31, 63))


def test_threads_that_are_there():
    """Those of a warp that took the same branch."""
    module = tt.RawModule(code=THERE)
    out = np.zeros(64, "i4")
    module.get_function("of_those_who_are_there")((1,), (64,), (out,))
    for warp in (np.arange(32), np.arange(32, 64)):
        there = warp[warp % 3 == 1]
        for k, t in enumerate(there):
            after, before = there[min(k + 1, len(there) - 1)], there[max(k - 1, 0)]
            assert out[t] == k * 1000000 + len(there) * 10000 + there[0] * 100 + after - before
    assert (out[np.arange(64) % 3 != 1] == -1).all()


@pytest.mark.parametrize("n", [1, 31, 77, 1000])
def test_one_lane_counts_for_those_that_are_there(n):
    """A filter: an atomic operation for each group, not for each thread."""
    module = tt.RawModule(code=THERE)
    a = np.random.default_rng(n).integers(-5, 6, n).astype("i4")
    for name in "keep_positive", "keep_positive_by_mask":
        out, count = np.zeros(n, "i4"), np.zeros(1, "i4")
        module.get_function(name)(((n + 63) // 64,), (64,), (out, count, a, n))
        assert count[0] == (a > 0).sum()
        assert np.array_equal(np.sort(out[: count[0]]), np.sort(a[a > 0])) and not out[count[0] :].any()


def test_parts_of_those_that_are_there():
    t = np.arange(50)
    out = np.zeros(50, "i4")
    tt.RawModule(code=THERE).get_function("parts")((1,), (50,), (out,))
    want = [sum(u for u in t if u // 32 == k // 32 and u % 5 == k % 5) * 2 + (k % 2 == 0) for k in t]
    assert out.tolist() == want


@pytest.mark.skipif(nvrtc.library() is None, reason="no NVRTC")
@pytest.mark.parametrize("source", [GRID, GROUPS, THERE])
def test_their_cuda_text_compiles(source):
    text = "#define TT_GROUP __device__ __forceinline__\n"
    for name in "scalar/cuda_barrier.cuh", "lang/cuda_c/prelude/cuda_groups.cuh":
        text += (ROOT / "src" / name).read_text()
    text += "".join(line + "\n" for line in source.splitlines() if not line.startswith("#include"))
    for arch in (80, 90):
        log = nvrtc.compile_text(text, ["--std=c++17", f"--gpu-architecture=sm_{arch}"])
        assert log is None, log


def test_a_program_that_calls_no_group_needs_none():
    o = np.zeros(4, "i4")
    tt.RawKernel('#include <cooperative_groups.h>\nextern "C" __global__ void f(int *o) { o[threadIdx.x] = 1; }', "f")(
        (1,), (4,), (o,)
    )
    assert o.tolist() == [1] * 4


@pytest.mark.skipif(not shutil.which("clang++"), reason="there is no clang++")
def test_clang_takes_what_a_lane_never_set():
    if os.environ.get("TUTTI_CXX") == "clang++":
        pytest.skip("this is the inner run")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-o", "addopts=", "-p", "no:cacheprovider", __file__, "-k", "one_lane or parts"],
        env=os.environ | {"TUTTI_CXX": "clang++"}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:]
    assert "5 passed" in done.stdout
