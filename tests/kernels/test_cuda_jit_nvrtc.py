"""The CUDA text of Python kernels compiles with NVRTC, which needs no GPU."""

import cmath
import importlib.util
import math
import os

import numpy as np
import nvrtc
import pytest
from tutti import cuda
from tutti.compat.cupyx import jit
from tutti.compat.cupyx.jit import thrust


def compiled(text, arch):
    log = nvrtc.compile_text(text, ["--fmad=false", "--std=c++17", f"--gpu-architecture=sm_{arch}"])
    assert log is None, log


@cuda.jit
def everything(a, b, c, n, z, pair):
    s = cuda.shared.array((4, 8), "float32")
    dynamic = cuda.shared.array(0, "float64")
    mine = cuda.local.array(3, "int32")
    x, y = cuda.grid(2)
    t = cuda.threadIdx.x
    table = cuda.const.array_like(TABLE)
    for k in range(3):
        mine[k] = k * t
    s[t % 4, t % 8] = a[x, y] if x < a.shape[0] and y < a.shape[1] else 0
    dynamic[t] = t
    cuda.syncthreads()
    row = a[1:, ::2]
    v = helper(row, x) + s[-1, 0] + dynamic[t] + mine[1] // 2 + n % 7 + table[t % 3]
    v += cuda.shfl_down_sync(0xFFFFFFFF, v, 4) + cuda.shfl_xor_sync(0xFFFFFFFF, t, 1)
    if cuda.any_sync(0xFFFFFFFF, v > 0) and cuda.ballot_sync(0xFFFFFFFF, v > 1) != 0:
        cuda.atomic.add(c, 0, v)
    for name in range(2):
        cuda.atomic.max(c, name, v)
        cuda.atomic.cas(b, name, 0, t)
        cuda.atomic.exch(b, 2, t)
    w = z * z + (1 + 2j)
    if abs(w) > 2:
        b[0] = int(w.real) + cuda.syncthreads_count(t > 3)
    p, q = pair
    c[1] = p * q**2 + n**0.5 + cuda.popc(n) + cuda.laneid
    print("thread", t, v)
    cuda.threadfence()
    while n > 1:
        n //= 2
        if n == 5:
            break


@cuda.jit(device=True)
def helper(row, x):
    total = 0.0
    for k in range(row.shape[1]):
        total += row[0, k]
    return total + x


TABLE = np.array([1.0, 2.0, 3.0])


@pytest.mark.skipif(nvrtc.library() is None, reason="no NVRTC here")
@pytest.mark.parametrize("arch", [80, 90, 100])
def test_kernels_compile_for_gpus(arch):
    everything[1, 8, 0, 64](np.ones((4, 6), "f4"), np.zeros(4, "i4"), np.zeros(3), 11, 1 + 1j, (2, 2.5))
    (text,) = everything.inspect_cuda().values()
    compiled(text, arch)


@pytest.mark.skipif(nvrtc.library() is None, reason="no NVRTC here")
def test_the_kernels_of_the_other_tests_compile():
    path = os.path.join(os.path.dirname(__file__), "test_cuda_jit.py")
    spec = importlib.util.spec_from_file_location("other", path)
    other = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(other)
    f4, f8 = np.ones((16, 16), "f4"), np.ones(64)
    other.matmul[1, (16, 16)](f4, f4, f4.copy())
    other.reduce_sum[1, 256](f8, f8.copy())
    other.warps[1, 64](f8, f8.copy())
    for kernel in (other.matmul, other.reduce_sum, other.warps):
        for text in kernel.inspect_cuda().values():
            compiled(text, 90)


@cuda.jit
def rarer_words(x, n, out):
    t = cuda.threadIdx.x
    lanes, agree = cuda.match_all_sync(0xFFFFFFFF, n[t])
    m, e = math.frexp(x[t])
    part, whole = math.modf(x[t])
    out[t] = cuda.match_any_sync(0xFFFFFFFF, x[t]) + lanes + agree + cuda.eq_sync(0xFFFFFFFF, t > 3)
    out[t] += cuda.activemask() + cuda.lanemask_lt() + cuda.brev(n[t]) + cuda.brev(t) + m + e + part + whole
    out[t] += cuda.fma(x[t], x[t], x[t]) + cuda.cbrt(x[t]) + cuda.selp(t > 2, 1, 2.5) + math.ldexp(x[t], t)
    cuda.nanosleep(20)


@pytest.mark.skipif(nvrtc.library() is None, reason="no NVRTC here")
def test_rarer_words_compile():
    rarer_words[1, 4](np.ones(4, "f4"), np.zeros(4, "i4"), np.zeros(4))
    rarer_words[1, 4](np.ones(4), np.zeros(4, "u8"), np.zeros(4))
    for text in rarer_words.inspect_cuda().values():
        compiled(text, 90)


@cuda.jit
def says(x):
    print("beyond one:", x[0] > 1, x[0])


def test_truths_are_printed_as_python_does():
    says[1, 1](np.zeros(1))
    for text in says.inspect_cuda().values():
        assert '"True" : "False"' in text and "beyond one" in text


@jit.rawkernel()
def ranges_and_parts(x, out, w):
    t = cuda.threadIdx.x
    thrust.sort(thrust.seq, x[t].begin(), x[t].end())
    thrust.sort_by_key(thrust.seq, x[t].begin(), x[t].end(), out[t].begin())
    out[t, 0] = thrust.reduce(thrust.seq, x[t].begin(), x[t].end())
    out[t, 1] = thrust.lower_bound(thrust.seq, x[t].begin(), x[t].end(), 3)
    out[t, 2] = cuda.shfl_down_sync(0xFFFFFFFF, t, 2, width=w) + cuda.shfl_xor_sync(0xFFFFFFFF, x[t, 0], 1, width=8)
    TABLE[t] = cuda.atomic.max(out, (t, 3), x[t, 0])


TABLE = cuda.to_device(np.zeros(4))


@pytest.mark.skipif(nvrtc.library() is None, reason="no NVRTC here")
@pytest.mark.parametrize("kind", ["f4", "f8", "i4", "u8"])
def test_ranges_and_parts_of_warps_compile(kind):
    kernel = jit.rawkernel()(ranges_and_parts.py_func)
    kernel[1, 4](np.zeros((4, 5), kind), np.zeros((4, 5), kind), 4)
    for text in kernel.inspect_cuda().values():
        compiled(text, 90)


RECORDS = np.zeros(4, np.dtype([("x", "f8"), ("y", "i4"), ("v", "f4", (3,))], align=True))


@cuda.jit
def fields(records, one, out):
    t = cuda.threadIdx.x
    records[t].x += one.y
    records[t]["y"] = RECORDS[t]["y"] + records["v"][t, 1]
    records[t].v[2] = t
    r, phi = cmath.polar(out[t])
    out[t] = cmath.rect(r, phi) + cmath.sqrt(records[t].x) + cmath.isnan(out[t])


@pytest.mark.skipif(nvrtc.library() is None, reason="no NVRTC here")
def test_records_and_complex_numbers_compile():
    fields[1, 4](RECORDS.copy(), RECORDS[1], np.zeros(4, "c8"))
    fields[1, 4](RECORDS.copy(), RECORDS[1], np.zeros(4, "c16"))
    for text in fields.inspect_cuda().values():
        compiled(text, 90)
