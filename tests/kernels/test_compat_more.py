"""Names that programs use beside the kernels: classes to ask for, CuPy's draws with a type, structures by value."""

import numpy as np
import pytest
import tutti.compat.cupy as cp
import tutti.compat.cupyx as cupyx
from tutti.compat import numba
from tutti.compat.cupy import cuda as cupy_cuda
from tutti.compat.cupy import testing
from tutti.compat.numba import cuda

rng = np.random.default_rng(3)


def test_classes_of_numba_to_ask_for():
    from tutti.compat.numba.cuda.cudadrv.devicearray import DeviceNDArray
    from tutti.compat.numba.cuda.cudadrv.driver import CudaAPIError
    from tutti.compat.numba.cuda.types import float32

    assert isinstance(cuda.to_device(np.zeros(2)), DeviceNDArray) and not isinstance(np.zeros(2), DeviceNDArray)
    assert cuda.cudadrv.devicearray.DeviceNDArray is DeviceNDArray and issubclass(CudaAPIError, RuntimeError)
    assert float32 is numba.float32 and numba.NumbaPerformanceWarning is numba.errors.NumbaPerformanceWarning
    with pytest.raises(AttributeError, match="does not cover numba.cuda.cudadrv.nvvm"):
        _ = cuda.cudadrv.nvvm


def test_ufuncs_of_the_device_by_their_newer_names():
    @cuda.vectorize(["float32(float32, float32)", "int64(int64, int64)"])
    def least(a, b):
        return min(a, b)

    @cuda.guvectorize(["(float64[:], float64[:])"], "(n)->()")
    def total(x, out):
        out[0] = 0
        for v in x:
            out[0] += v

    assert least(cuda.to_device(np.arange(4)), 2).copy_to_host().tolist() == [0, 1, 2, 2]
    assert least.types == ["ff->f", "ll->l"] and least.ntypes == 2 and least.nargs == 3
    np.testing.assert_array_equal(total(np.arange(6.0).reshape(2, 3)), [3, 12])


def test_cupys_arrays_from_the_host():
    a = cp.array([[1, 2], [3, 4]], np.float32, True, "F", blocking=True)
    assert isinstance(a, cp.ndarray) and a.dtype == cp.float32 and a.flags.f_contiguous
    assert cp.asarray(a, blocking=True) is a and cp.asanyarray(a, blocking=True) is a


def test_what_is_no_program_as_nvrtc_is_not_asked():
    with pytest.raises(cp.cuda.compiler.CompileException):
        cp.RawKernel("no C at all", "none")((1,), (1,), ())


def test_when_cupyx_raises_what_a_matrix_has_wrong():
    singular = cp.array([[1.0, 1.0], [1.0, 1.0]])
    assert cupyx.geterr() == {"divide": None, "over": None, "under": None, "invalid": None, "linalg": "raise"}
    with cupyx.errstate(linalg="ignore"):
        assert cupyx.geterr()["linalg"] == "ignore"
        later = cp.linalg.inv(singular)
        with cupyx.errstate(linalg="raise"), pytest.raises(cp.linalg.LinAlgError):
            cp.linalg.inv(singular)
        with pytest.raises(cp.linalg.LinAlgError):
            later.tolist()
    with pytest.raises(cp.linalg.LinAlgError):
        cp.linalg.inv(singular)
    for wrong in ({"linalg": "warn"}, {"divide": "raise"}):
        with pytest.raises(NotImplementedError):
            cupyx.seterr(**wrong)


def test_what_cupyx_adds():
    a, at = cp.zeros(4), cp.array([0, 2, 0])
    cupyx.scatter_add(a, at, cp.array([1.0, 2, 3]))
    testing.assert_array_equal(a, [4, 0, 2, 0])
    cupyx.scatter_max(a, (at,), 3)
    testing.assert_array_equal(a, [4, 0, 3, 0])
    cupyx.scatter_min(a, slice(0, 2), cp.array([1, -1]))
    testing.assert_array_equal(a, [1, -1, 3, 0])
    pinned = cupyx.empty_like_pinned(cp.ones((2, 3), order="F"), np.int32)
    assert isinstance(pinned, np.ndarray) and pinned.dtype == np.int32 and pinned.flags.f_contiguous
    assert cupyx.zeros_pinned((2, 2)).tolist() == [[0, 0], [0, 0]] and cupyx.zeros_like_pinned(a).shape == (4,)


def test_names_that_cupy_kept_longer_than_numpy():
    testing.assert_array_equal(cp.in1d(cp.array([[1, 2], [3, 4]]), [2, 3]), [False, True, True, False])
    assert (
        cp.argmax(cp.array([1, 3, 2]), dtype="i4").dtype == np.int32 and int(cp.argmin(cp.array([[2, 1]]), 1)[0]) == 1
    )
    testing.assert_array_equal(cp.round_(cp.array([1.26]), 1), [1.3])
    testing.assert_array_equal(cp.msort(cp.array([[3, 1], [2, 4]])), [[2, 1], [3, 4]])
    calls = []
    cached = cp.memoize(for_each_device=True)(lambda x: calls.append(x) or x)
    assert cached(3) == cached(3) == 3 and calls == [3] and cp.is_available()


def test_cupys_draws_with_a_type():
    for draw in (cp.random.rand, cp.random.randn, cp.random.random_sample, cp.random.standard_normal):
        assert draw(5, dtype=np.float32).dtype == cp.float32 and draw(5).dtype == cp.float64
    x = cp.random.normal(3.0, 0.0, (2, 2), dtype=cp.float32)
    testing.assert_array_equal(x, np.full((2, 2), 3, np.float32))
    assert cp.random.uniform(-1, 1, dtype=np.float16, size=9).dtype == cp.float16
    assert cp.random.randint(0, 9, 4).shape == (4,)
    assert cp.random.lognormal(0.0, 1.0, None, cp.float32).dtype == cp.float32
    assert cp.random.noncentral_chisquare(3.0, 1.0, 4, cp.int32).dtype == cp.int32
    assert cp.random.poisson(3.0, (2, 2), dtype=bool).dtype == cp.bool_
    for choice in (cp.random.choice, cp.random.RandomState(1).choice):
        assert choice(cp.arange(4), 2, False).shape == (2,) and int(choice(1)) == 0
        with pytest.raises(ValueError, match="1-dimensional"):
            choice([[0, 1], [2, 3]], 1)
    with pytest.raises(AttributeError, match="does not cover cupy.random.nonsense"):
        _ = cp.random.nonsense


def test_cupys_states():
    one, two = cp.random.RandomState(3), cp.random.RandomState(3)
    for name, args in {"rand": (3,), "normal": (0, 1, 4), "randint": (0, 9, 5), "hypergeometric": (5, 5, 3, 7)}.items():
        x, y = getattr(one, name)(*args), getattr(two, name)(*args)
        testing.assert_array_equal(x, y)
    assert one.normal(0, 1, 3, np.float32).dtype == cp.float32 and one.poisson(3, 4, np.int32).dtype == cp.int32
    assert one.randn(2, 3, dtype=np.float32).shape == (2, 3)
    assert 0 <= one.tomaxint() and one.interval(3, 100).numpy().max() == 3
    before = cp.random.get_random_state()
    try:
        cp.random.set_random_state(cp.random.RandomState(5))
        a = cp.random.uniform(size=3)
        cp.random.seed(5)
        testing.assert_array_equal(a, cp.random.uniform(size=3))
        cp.random.reset_states()
        assert cp.random.get_random_state() is not before
        with pytest.raises(TypeError, match="must be an instance of RandomState"):
            cp.random.set_random_state(3)
    finally:
        cp.random.set_random_state(before)
    for kind in (cp.random.XORWOW, cp.random.MRG32k3a, cp.random.Philox4x3210):
        assert cp.random.Generator(kind(7)).random(3).shape == (3,)


def test_cupys_comparisons_see_differences():
    a = cp.arange(3.0)
    testing.assert_allclose(a, [0, 1, 2])
    testing.assert_array_less(a, a + 1)
    for compare in (testing.assert_allclose, testing.assert_array_equal, testing.assert_array_almost_equal):
        with pytest.raises(AssertionError):
            compare(a, a + 1)


def test_cupys_streams_by_their_module_and_its_runtime():
    from tutti.compat.cupy.cuda import stream

    with stream.Stream(non_blocking=True) as s:
        assert s.done
    assert stream.Event is cupy_cuda.Event
    told = cupy_cuda.runtime.getDeviceProperties(0)
    assert isinstance(told["name"], bytes) and told["warpSize"] == 32 and told["totalGlobalMem"] > 0
    free, total = cupy_cuda.runtime.memGetInfo()
    assert 0 < free <= total == cupy_cuda.Device(0).mem_info[1]


POINTS = r"""
struct point { double x; int k; float w[2]; };
extern "C" __global__ void spread(point p, int n, double *out) { out[threadIdx.x] = p.x * p.k + p.w[0] - p.w[1] + n; }
"""


def test_arrays_of_one_element_are_values():
    kind = np.dtype([("x", "f8"), ("k", "i4"), ("w", "f4", 2)])
    assert kind.itemsize == 20
    padded = np.dtype({"names": kind.names, "formats": ["f8", "i4", ("f4", 2)], "offsets": [0, 8, 12], "itemsize": 24})
    p = np.zeros(1, padded)
    p["x"], p["k"], p["w"] = 1.5, 4, [3, 1]
    spread = cp.RawKernel(POINTS, "spread")
    out = cp.zeros(2)
    for given in (p, p.reshape(())):
        spread((1,), (2,), (given, np.array([7], np.int32), out))
        assert out.tolist() == [15, 15]
    for wrong in (np.zeros(1, kind), np.zeros(2, padded), np.zeros(3)):
        with pytest.raises(TypeError, match="is no pointer, and an array is given"):
            spread((1,), (2,), (wrong, np.int32(7), out))
    with pytest.raises(TypeError, match="is no pointer, and an array is given"):
        spread((1,), (2,), (p, np.array([7]), out))
