"""What CuPy's own tests look at beside its arrays: errors of the driver, queries, functions of NumPy's arrays."""

import pickle
import shutil

import numpy as np
import pytest
import tutti as tt
from tutti.compat import cupy
from tutti.compat.cupy.exceptions import AxisError

needs_cxx = pytest.mark.skipif(not (shutil.which("c++") or shutil.which("g++")), reason="no C++ compiler")
TEXT = 'extern "C" __global__ void twice(float *x) { x[threadIdx.x] *= 2; }'


@needs_cxx
def test_errors_of_modules_are_the_drivers():
    module = cupy.RawModule(code=TEXT)
    with pytest.raises(cupy.cuda.driver.CUDADriverError, match="CUDA_ERROR_NOT_FOUND.*'thrice'"):
        module.get_function("thrice")
    with pytest.raises(cupy.cuda.driver.CUDADriverError, match="CUDA_ERROR_FILE_NOT_FOUND"):
        cupy.RawModule(path="/there/is/none.cubin").get_function("twice")
    x = cupy.ones(3, "float32")
    pickle.loads(pickle.dumps(module)).get_function("twice")((1,), (3,), (x,))
    np.testing.assert_array_equal(x.get(), [2, 2, 2])


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "argmax", "argmin", "amax", "amin"])
def test_reductions_of_numpys_arrays_are_numpys(name):
    a = np.arange(1.0, 7).reshape(2, 3)
    want = getattr(np, name)(a, axis=0)
    got = getattr(cupy, name)(a, axis=0)
    assert isinstance(got, np.ndarray)
    np.testing.assert_array_equal(got, want)
    ours = getattr(cupy, name)(cupy.asarray(a), axis=0)
    assert isinstance(ours, tt.ndarray)
    np.testing.assert_array_equal(ours.get(), want)
    with pytest.raises(AxisError):
        getattr(cupy, name)(cupy.asarray(a), axis=5)


def test_queries():
    runtime, device = cupy.cuda.runtime, cupy.cuda.Device()
    assert runtime.is_hip is False and runtime.deviceGetAttribute(runtime.cudaDevAttrWarpSize, 0) == 32
    assert runtime.deviceGetAttribute(runtime.cudaDevAttrCooperativeLaunch, 0) == 1
    with pytest.raises(RuntimeError, match="not known"):
        runtime.deviceGetAttribute(999, 0)
    assert cupy.cuda.device.Device() == device and len(bytes(cupy.cuda.alloc_pinned_memory(8))) == 8
    cupy.cuda.nvtx.RangePush("part")
    cupy.cuda.nvtx.RangePop()
    with cupy.cuda.profile():
        pass


def quotients():
    """Numerators and denominators over the whole range of a type, and at its ends."""
    rng = np.random.default_rng(3)
    parts = rng.standard_normal((4, 200)) * 10.0 ** rng.integers(-30, 30, (4, 200))
    ends = [0, 1, -1, 1e-30, 1e30, 3e38, np.inf, np.nan]
    odd = np.array([complex(a, b) for a in ends for b in ends])
    return np.concatenate([parts[0] + 1j * parts[1], odd]), np.concatenate([parts[2] + 1j * parts[3], odd[::-1]])


@needs_cxx
@pytest.mark.parametrize("kind, c", [("complex64", "float"), ("complex128", "double")])
@pytest.mark.usefixtures("on_the_cpu")
def test_complex_quotients_stay_in_their_type(kind, c):
    a, b = (x.astype(kind) for x in quotients())
    text = f"""typedef complex<{c}> number;
    extern "C" __global__ void divide(const number *a, const number *b, number *o, int n) {{
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i < n) o[i] = a[i] / b[i];
    }}"""
    out = np.zeros(a.size, kind)
    with np.errstate(all="ignore"):
        cupy.RawModule(code=text).get_function("divide")((a.size // 32 + 1,), (32,), (a, b, out, np.int32(a.size)))
        tt.synchronize()
        want = a / b  # contracted products round otherwise
        assert (np.isnan(out) == np.isnan(want)).all() and (np.isinf(out) == np.isinf(want)).all()
        there = np.isfinite(want)
        tiny = np.finfo(kind).tiny
        assert (abs(out - want)[there] <= 8 * np.finfo(kind).eps * abs(want)[there] + tiny).all()
