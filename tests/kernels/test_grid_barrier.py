"""Barriers of the whole grid in Python kernels: on the CPU, and on a GPU, where all blocks must run at once."""

import os
import pathlib
import subprocess
import sys
import textwrap

import numpy as np
import nvrtc
import pytest
import tutti as tt
from tutti import cuda

FAKES = pathlib.Path(tt._core.__file__).resolve().parents[2] / "tests"


@cuda.jit
def turns(a, rounds):
    """Each round, every thread takes the element of its mirror image."""
    i = cuda.grid(1)
    n = a.shape[1]
    whole = cuda.cg.this_grid()
    for r in range(rounds):
        for k in range(i, n, cuda.gridsize(1)):
            a[(r + 1) % 2, k] = a[r % 2, n - 1 - k] + 1
        whole.sync()


@pytest.mark.parametrize("blocks, threads", [(1, 1), (1, 32), (3, 33), (24, 256), (64, 64), (100, 7), (8, 1024)])
def test_every_block_waits_for_every_other(blocks, threads):
    a = np.zeros((2, 5000))
    a[0] = np.arange(5000)
    there = cuda.to_device(a)
    turns[blocks, threads](there, 51)
    np.testing.assert_array_equal(there.copy_to_host()[1], np.arange(5000)[::-1] + 51)


def test_grids_of_three_axes_and_shared_memory():
    @cuda.jit
    def total(parts, out):
        mine = cuda.shared.array(0, dtype="float64")
        t = cuda.threadIdx.x + cuda.blockDim.x * (cuda.threadIdx.y + cuda.blockDim.y * cuda.threadIdx.z)
        b = cuda.blockIdx.x + cuda.gridDim.x * (cuda.blockIdx.y + cuda.gridDim.y * cuda.blockIdx.z)
        mine[t] = b * 100 + t
        cuda.syncthreads()
        if t == 0:
            sum = 0.0
            for k in range(24):
                sum += mine[k]
            parts[b] = sum
        cuda.cg.this_grid().sync()
        if b == 11 and t == 3:
            sum = 0.0
            for k in range(12):
                sum += parts[k]
            out[0] = sum

    out = np.zeros(1)
    total[(2, 3, 2), (4, 3, 2), 0, 24 * 8](cuda.device_array(12), out)
    assert out[0] == sum(b * 100 + t for b in range(12) for t in range(24))


def test_many_launches_one_after_another_and_on_streams():
    arrays = [cuda.to_device(np.zeros((2, 300))) for _ in range(3)]
    streams = [cuda.stream() for _ in arrays]
    for _ in range(20):
        for a, s in zip(arrays, streams):
            turns[2, 64, s](a, 2)
    cuda.synchronize()
    for a in arrays:
        assert (a.copy_to_host()[0] == 40).all()


def test_threads_that_have_left_are_not_waited_for():
    @cuda.jit
    def some(a):
        i = cuda.grid(1)
        if i >= a.size:
            return
        a[i] = 1
        cuda.cg.this_grid().sync()
        if i == 0:
            for k in range(1, a.size):
                a[0] += a[k]

    a = np.zeros(150)
    some[3, 64](a)  # 42 threads of the last block leave
    assert a[0] == 150


def test_how_many_blocks_fit():
    a = np.zeros((2, 64))
    turns[1, 64](a, 1)
    most = turns.overloads[turns.signatures[0]].max_cooperative_grid_blocks(256)
    assert most >= 1 and turns.overloads[turns.signatures[0]].max_cooperative_grid_blocks((16, 16)) == most
    if tt.cuda.is_available():
        with pytest.raises(ValueError, match=f"its {most + 1} blocks of 256 threads wait for each other.*runs {most}:"):
            turns[most + 1, 256](cuda.to_device(a), 1)
    turns[min(most, 1000), 256](cuda.to_device(a), 1)
    cuda.synchronize()


@pytest.mark.skipif(nvrtc.library() is None, reason="no NVRTC")
def test_their_cuda_text_compiles():
    turns[1, 1](np.zeros((2, 4)), 1)
    for text in turns.inspect_cuda().values():
        assert "tt_grid_barrier();" in text
        for arch in nvrtc.chips():
            if arch >= 70:
                log = nvrtc.compile_text(text, ["--fmad=false", "--std=c++17", f"--gpu-architecture=sm_{arch}"])
                assert log is None, log


@pytest.mark.skipif(not (FAKES / "libfake_cuda.so").exists(), reason="no stand-in for the driver was built")
def test_they_are_launched_together(tmp_path):
    """Over the stand-in for the driver: 132 units of 2048 threads."""
    code = """
        import ctypes, os
        from tutti import cuda
        @cuda.jit
        def wait(a):
            a[cuda.grid(1)] = 1
            cuda.cg.this_grid().sync()
        @cuda.jit
        def plain(a):
            a[cuda.grid(1)] = 1
        fake = ctypes.CDLL(os.environ["TUTTI_CUDA"])
        a = cuda.device_array(1 << 20)
        wait[132 * 8, 256](a)
        plain[4096, 256](a)
        wait[132 * 2, 1024](a)
        cuda.synchronize()
        assert fake.fake_together() == 2, fake.fake_together()
        for blocks, threads in (132 * 8 + 1, 256), (132 * 2 + 1, 1024):
            try:
                wait[blocks, threads](a)
            except ValueError as e:
                assert f"its {blocks} blocks of {threads} threads wait for each other" in str(e), e
            else:
                raise AssertionError("no error")
        assert wait.overloads[wait.signatures[0]].max_cooperative_grid_blocks(256) == 132 * 8
        plain[4096, 256](a)
        cuda.synchronize()
        assert fake.fake_together() == 2
        print("well")
    """
    env = os.environ | {
        "TUTTI_CUDA": str(FAKES / "libfake_cuda.so"), "TUTTI_NVRTC": str(FAKES / "libfake_nvrtc.so"),
        "FAKE_CUDA_VERSION": "13000", "TUTTI_NVML": "none", "TUTTI_CUBLASLT": "none", "TUTTI_DEVICE": "cuda:0",
        "TUTTI_CACHE_DIR": str(tmp_path),
    }  # fmt: skip
    env.pop("TUTTI_NULL_DEVICE", None)
    script = tmp_path / "together.py"
    script.write_text(textwrap.dedent(code))
    done = subprocess.run([sys.executable, script], env=env, capture_output=True, text=True, timeout=120)
    assert done.stdout == "well\n", done.stderr
