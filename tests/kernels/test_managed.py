"""Memory at one address for the host and a GPU (PyCUDA's managed_empty, Numba's managed_array), on the processor and
over the stand-in for CUDA's driver."""

import os
import pathlib
import shutil
import subprocess
import sys
import textwrap

import numpy as np
import pytest
import tutti as tt
from tutti import cuda as numba_cuda
from tutti.compat.pycuda import driver
from tutti.compat.pycuda.compiler import SourceModule

FAKES = pathlib.Path(tt._core.__file__).resolve().parents[2] / "tests"
needs_cxx = pytest.mark.skipif(not (shutil.which("c++") or shutil.which("g++")), reason="no C++ compiler")
DOUBLE = (
    "__global__ void twice(float *a, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) a[i] *= 2; }"
)


@needs_cxx
def test_pycudas():
    twice = SourceModule(DOUBLE).get_function("twice")
    for made in (
        driver.managed_empty(100, np.float32),
        driver.managed_zeros((10, 10), "f4", mem_flags=driver.mem_attach_flags.HOST),
    ):
        assert isinstance(made.base, driver.ManagedAllocation) and made.flags.writeable
        assert made.base.get_device_pointer() == made.ctypes.data
        made.base.attach(driver.mem_attach_flags.GLOBAL)
        made[...] = np.arange(100).reshape(made.shape)
        twice(made, np.int32(100), block=(32, 1, 1), grid=(4, 1))
        driver.Context.synchronize()
        assert np.array_equal(made.ravel(), 2 * np.arange(100))
        part = made.reshape(100)[10:20]
        del made  # the part holds the memory
        twice(part, np.int32(5), block=(32, 1, 1), grid=(1, 1))
        driver.Context.synchronize()
        assert np.array_equal(part, np.arange(10, 20) * np.where(np.arange(10) < 5, 4, 2))


def test_shapes_and_orders():
    assert (driver.managed_zeros((3, 4), np.int16) == 0).all()
    made = driver.managed_empty((3, 4), np.float64, order="F")
    assert made.flags.f_contiguous and driver.managed_empty_like(made).flags.f_contiguous
    assert (driver.managed_zeros_like(made) == 0).all()
    assert driver.managed_empty(0, np.float32).size == 0 and driver.managed_empty((2, 0), "f8").shape == (2, 0)
    with pytest.raises(driver.LogicError, match="3 says nobody"):
        driver.managed_empty(4, np.float32, mem_flags=3)
    with pytest.raises(ValueError, match="negative"):
        tt._core._managed(0, -1, 1)


def test_numbas():
    @numba_cuda.jit
    def add(a, b):
        i = numba_cuda.grid(1)
        if i < a.size:
            a[i] += b[i]

    a, b = numba_cuda.managed_array(50, np.float32), numba_cuda.managed_array((50,), "f8", attach_global=False)
    a[:], b[:] = 1, np.arange(50)
    add[2, 32](a, b)
    numba_cuda.synchronize()
    assert np.array_equal(a, np.arange(50, dtype="f4") + 1)


def over_the_fake(tmp_path, code):
    texts = tmp_path / "texts"
    texts.mkdir()
    env = {
        "TUTTI_CUDA": str(FAKES / "libfake_cuda.so"), "TUTTI_NVRTC": str(FAKES / "libfake_nvrtc.so"),
        "FAKE_NVRTC_TEXTS": str(texts), "TUTTI_NVML": "none", "FAKE_CUDA_VERSION": "13000",
        "TUTTI_CACHE_DIR": str(tmp_path),
    }  # fmt: skip
    head = (
        "import ctypes, os, gc\nimport numpy as np\nimport tutti as tt\nfake = ctypes.CDLL(os.environ['TUTTI_CUDA'])\n"
    )
    head += "fake.fake_argument.restype = fake.fake_copied.restype = ctypes.c_ulonglong\n"
    script = tmp_path / "managed.py"
    script.write_text(head + textwrap.dedent(code))
    env = {k: v for k, v in (os.environ | env).items() if k not in ("TUTTI_NULL_DEVICE", "TUTTI_DEVICE")}
    done = subprocess.run([sys.executable, script], env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]


needs_fakes = pytest.mark.skipif(
    not (FAKES / "libfake_cuda.so").exists(), reason="no stand-in for the driver was built"
)


@needs_fakes
def test_a_python_kernel_takes_it_as_it_is(tmp_path):
    code = """
        import warnings
        from tutti import cuda
        @cuda.jit
        def add(a, b):
            i = cuda.grid(1)
            if i < a.size:
                a[i] += b
        a = cuda.managed_array((4, 1000), np.float32)
        assert fake.fake_managed(1) == 1
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # nothing is copied, so nothing is said of it
            add[8, 128](a[1], 1.0)
        cuda.synchronize()
        assert fake.fake_argument() == a.ctypes.data + 4000 and fake.fake_copied() == 0, fake.fake_copied()
        plain = np.zeros(1000, np.float32)
        add[8, 128](plain, 1.0)
        cuda.synchronize()
        assert fake.fake_argument() != plain.ctypes.data and fake.fake_copied() >= 4000
        cuda.managed_array(10, attach_global=False)
        assert fake.fake_managed(2) == 1
    """
    over_the_fake(tmp_path, code)


@needs_cxx
@needs_fakes
def test_a_cuda_c_kernel_takes_it_as_it_is(tmp_path):
    code = """
        from tutti.compat.pycuda import driver, autoinit
        a = driver.managed_empty(shape=(1000,), dtype=np.float32, mem_flags=driver.mem_attach_flags.GLOBAL)
        a[:] = 1
        k = tt.RawKernel("extern \\"C\\" __global__ void twice(float *a) { a[threadIdx.x] *= 2; }", "twice")
        k((1,), (32,), (a[8:],))
        driver.Context.synchronize()
        assert fake.fake_argument() == a.ctypes.data + 32 == a.base.get_device_pointer() + 32
        assert fake.fake_copied() == 0
        stream = driver.Stream()
        a.base.attach(driver.mem_attach_flags.SINGLE, stream)
        assert fake.fake_managed(4) == 1
        with tt.device("cpu"):  # the processor works on it where it lies
            total = float(tt.asarray(a).sum())
        assert total == 1000
        b = driver.managed_zeros(10, np.int32)
        launches = fake.fake_launches()
        k((1,), (32,), (a,))
        del a, b
        gc.collect()  # waits for the kernel
        assert fake.fake_launches() == launches + 1
        try:
            driver.managed_empty(1 << 40, np.uint8)
        except driver.MemoryError as e:
            assert "managed memory" in str(e), e
        else:
            raise SystemExit("a TiB was given")
    """
    over_the_fake(tmp_path, code)
