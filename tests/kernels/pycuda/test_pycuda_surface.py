"""The surface that PyCUDA's own tests look at: orders of arrays, structures, generators, types in C, copies of rows."""

import numpy as np
import pytest
from tutti.compat.pycuda import characterize, cumath, curandom, gpuarray, tools
from tutti.compat.pycuda import driver as cuda
from tutti.compat.pycuda.compiler import DynamicModule, SourceModule
from tutti.compat.pycuda.elementwise import ElementwiseKernel
from tutti.compat.pycuda.reduction import ReductionKernel

rng = np.random.default_rng(7)


# ---- arrays


def test_arrays_in_fortrans_order_lie_so_for_kernels():
    a = np.asfortranarray(np.arange(12, dtype=np.float32).reshape(3, 4))
    d = gpuarray.to_gpu(a)
    assert d.strides == a.strides and d.flags.f_contiguous and not d.flags.c_contiguous
    np.testing.assert_array_equal(d.get(), a)
    count = SourceModule("__global__ void count(float *x) { x[threadIdx.x] = threadIdx.x; }").get_function("count")
    for array in (d, gpuarray.to_gpu(a).copy()):
        count(array, block=(12, 1, 1))
        np.testing.assert_array_equal(array.get(), np.arange(12, dtype=np.float32).reshape(3, 4, order="F"))
        assert int(array.gpudata)
        count(array, block=(12, 1, 1))
        np.testing.assert_array_equal(array.get(), np.arange(12, dtype=np.float32).reshape(3, 4, order="F"))
    over = gpuarray.GPUArray(
        (3, 4), np.float32, gpudata=gpuarray.to_gpu(np.arange(12, dtype=np.float32)).gpudata, order="F"
    )
    np.testing.assert_array_equal(over.get(), np.arange(12, dtype=np.float32).reshape(3, 4, order="F"))


def test_an_element_is_an_array_that_shares_its_memory():
    a = gpuarray.zeros(4, np.float32)
    a[1].fill(3)
    np.testing.assert_array_equal(a.get(), [0, 3, 0, 0])
    top = ReductionKernel(np.float32, neutral="-1e30f", reduce_expr="max(a, b)", arguments="float *in")
    x = rng.random((3, 50), np.float32)
    out = gpuarray.empty(3, np.float32)
    for i in range(3):
        top(gpuarray.to_gpu(x)[i], out=out[i])
    np.testing.assert_array_equal(out.get(), x.max(axis=1))


def test_choosing_and_folding():
    a, b = np.array([1.0, 0.0, -1.0]), np.array([2.0, 3.0, 4.0])
    x, y = gpuarray.to_gpu(a), gpuarray.to_gpu(b)
    np.testing.assert_array_equal(gpuarray.where(x, y, -y).get(), np.where(a, b, -b))
    np.testing.assert_array_equal(gpuarray.logical_and(x, y).get(), np.logical_and(a, b))
    np.testing.assert_array_equal(gpuarray.logical_not(x).get(), np.logical_not(a))
    np.testing.assert_array_equal(gpuarray.stack((x, y), axis=1).get(), np.stack((a, b), axis=1))
    np.testing.assert_array_equal(x.reverse().get(), a[::-1])
    assert bool(x.any().get()) and not bool(x.all().get())
    places = gpuarray.to_gpu(np.array([2, 0], np.int32))
    assert gpuarray.subset_max(places, y).get() == 4 and gpuarray.subset_min(places, y).get() == 2
    np.testing.assert_array_equal(
        gpuarray.put(gpuarray.take(y, places), places, out=gpuarray.zeros(3)).get(), [2, 0, 4]
    )
    (moved,) = gpuarray.multi_take_put([y], places, gpuarray.to_gpu(np.array([1, 1], np.int32)), (3,))
    np.testing.assert_array_equal(moved.get(), [3, 0, 3])


def test_allocators_are_asked():
    pool, asked = tools.DeviceMemoryPool(), []

    def allocate(size):
        asked.append(size)
        return pool.allocate(size)

    x = gpuarray.to_gpu(np.arange(5.0), allocator=allocate)
    assert gpuarray.sum(x, allocator=allocate).get() == 10 and asked == [40, 8]
    assert pool.active_blocks == 1 and x.allocator is allocate


# ---- structures


def test_vectors_and_structures():
    vec = gpuarray.vec
    a = gpuarray.GPUArray(5, vec.float3)
    one = vec.make_float3(1, 2, 3)
    a.fill(one)
    assert a.get().dtype == vec.float3 and (a.copy().get() == one).all()
    put = SourceModule("__global__ void put(float3 *x, float3 v) { x[threadIdx.x] = v; }").get_function("put")
    put(a, vec.make_float3(4, 5, 6), block=(5, 1, 1))
    assert (a.get() == vec.make_float3(4, 5, 6)).all()
    a[1] = one
    a[2:4] = a[:2]
    want = np.full(5, vec.make_float3(4, 5, 6))
    want[[1, 3]] = one
    assert (a.get() == want).all() and a[1].get() == one and a[1].shape == ()
    part = a[2:]
    put(part, one, block=(2, 1, 1))
    want[2:4] = one
    assert (a.get() == want).all() and (part.get() == want[2:]).all()
    with pytest.raises(NotImplementedError, match="in one piece"):
        a[::2]
    with pytest.raises(TypeError, match="are structures"):
        a + a
    with pytest.raises(ValueError, match="3 values"):
        vec.make_float3(1)


@pytest.mark.parametrize("n", [0, 1, 1000])
def test_reductions_to_structures(n):
    kind = np.dtype([("low", np.float32), ("high", np.float32)])
    tools.get_or_register_dtype("low_and_high", kind)
    both = ReductionKernel(
        kind, "start()", "fold(a, b)", "of(x[i])", "float *x",
        preamble="""struct low_and_high { float low, high; };
        __device__ low_and_high start() { low_and_high r = {1e30f, -1e30f}; return r; }
        __device__ low_and_high of(float x) { low_and_high r = {x, x}; return r; }
        __device__ low_and_high fold(low_and_high a, low_and_high b) {
          low_and_high r = {fminf(a.low, b.low), fmaxf(a.high, b.high)}; return r; }""",
    )  # fmt: skip
    x = rng.standard_normal(n).astype(np.float32)
    got = both(gpuarray.to_gpu(x)).get()
    assert got["low"] == (x.min() if n else np.float32(1e30)) and got["high"] == (x.max() if n else np.float32(-1e30))


def test_types_in_c():
    assert tools.dtype_to_ctype(np.complex64) == "pycuda::complex<float>"
    assert tools.dtype_to_ctype(gpuarray.vec.int4) == "int4"
    with pytest.raises(ValueError, match="register_dtype"):
        tools.dtype_to_ctype(np.dtype([("odd", "i4")]))
    arg = tools.parse_c_arg("const unsigned long long *n")
    assert (type(arg), arg.name, arg.dtype) == (tools.VectorArg, "n", np.uint64)
    assert tools.get_arg_type("unsigned int k") == "I" and tools.get_arg_type("float *x") == "P"
    assert characterize.sizeof("odd_one", "struct odd_one { char a; double b; };") == 16


# ---- kernels


@pytest.mark.parametrize("part", [slice(5, 200), slice(5, 200, 17), slice(90, 5, -1), slice(100, -1), slice(7, 7)])
def test_elementwise_over_a_part(part):
    seven = ElementwiseKernel("float *z, float v", "z[i] = v", "seven")
    a, want = gpuarray.zeros(300, np.float32), np.zeros(300, np.float32)
    want[part] = 7
    seven(a, 7, slice=part)
    np.testing.assert_array_equal(a.get(), want)


def test_modules_of_texts(tmp_path):
    file = tmp_path / "twice.cu"
    file.write_text('extern "C" __global__ void twice(float *x) { x[threadIdx.x] *= 2; }')
    x = gpuarray.ones(3, np.float32)
    cuda.module_from_file(str(file)).get_function("twice")(x, block=(3, 1, 1))
    whole = DynamicModule()
    whole.add_source("__device__ float three(float x) { return 3 * x; }")
    whole.add_source("__global__ void thrice(float *x) { x[threadIdx.x] = three(x[threadIdx.x]); }").link()
    whole.get_function("thrice")(x, block=(3, 1, 1))
    np.testing.assert_array_equal(x.get(), [6, 6, 6])
    with pytest.raises(cuda.RuntimeError, match="PTX is not covered"):
        cuda.module_from_buffer(b".version 7.0\n.target sm_70\n.address_size 64\n")
    with pytest.raises(cuda.RuntimeError, match="cubin"):
        cuda.module_from_buffer(b"\x7fELF\x02")


# ---- copies of rows


def test_copies_of_rows_and_planes():
    a = np.arange(48, dtype=np.int32).reshape(6, 8)
    d, pitch = cuda.mem_alloc_pitch(32, 6, 4)
    copy = cuda.Memcpy2D()
    copy.set_src_host(a)
    copy.set_dst_device(d)
    copy.src_pitch, copy.dst_pitch, copy.width_in_bytes, copy.height = 32, pitch, 32, 6
    copy(aligned_or_stream=True)
    out = np.zeros((2, 3), np.int32)
    back = cuda.Memcpy2D()
    back.set_src_device(d)
    back.set_dst_host(out)
    back.src_pitch, back.src_x_in_bytes, back.src_y = pitch, 8, 3
    back.dst_pitch, back.width_in_bytes, back.height = 12, 12, 2
    back(True)
    np.testing.assert_array_equal(out, a[3:5, 2:5])
    back.dst_y = 1
    with pytest.raises(cuda.LogicError, match="beyond"):
        back(True)
    cube, whole = np.arange(24, dtype=np.int32).reshape(2, 3, 4), np.zeros((2, 2, 2), np.int32)
    part = cuda.Memcpy3D()
    part.set_src_device(cuda.to_device(cube))
    part.set_dst_host(whole)
    part.src_pitch, part.src_height, part.dst_pitch, part.dst_height = 16, 3, 8, 2
    part.src_x_in_bytes, part.src_y, part.width_in_bytes, part.height, part.depth = 4, 1, 8, 2, 2
    part()
    np.testing.assert_array_equal(whole, cube[:, 1:3, 1:3])


# ---- random numbers and functions


@pytest.mark.parametrize("name", ["XORWOW", "MRG32k3a", "Sobol32", "Sobol64", "ScrambledSobol32", "ScrambledSobol64"])
def test_generators(name):
    g = getattr(curandom, name + "RandomNumberGenerator")()
    assert 0 <= g.gen_uniform(1000, np.float32).get().min() and abs(g.gen_normal(4000, np.float64).get().mean()) < 0.2
    assert g.gen_uniform(1000, np.int32).get().min() < 0 and g.gen_log_normal(100, np.float32, 1, 0.1).get().min() > 1
    x = gpuarray.empty(2000, np.uint32)
    g.fill_poisson(x, 4)
    assert 3 < x.get().mean() < 5


def test_frexp_and_modf():
    x = np.array([0.5, -3.25, 1024.0, 0.0], np.float32)
    for ours, theirs in ((cumath.frexp, np.frexp), (cumath.modf, np.modf)):
        for got, want in zip(ours(gpuarray.to_gpu(x)), theirs(x), strict=True):
            np.testing.assert_array_equal(got.get(), want)


def test_pools_have_pycudas_classes_of_sizes():
    pool = tools.DeviceMemoryPool()
    for size in [*range(2000), *(1 << rng.integers(0, 30, 500)), *rng.integers(1, 1 << 31, 500)]:
        number = pool.bin_number(int(size))
        assert pool.alloc_size(number) >= size and pool.bin_number(pool.alloc_size(number)) == number
