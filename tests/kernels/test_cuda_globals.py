"""Arrays that kernels name without being given them, and code that is made before its launch."""

import numpy as np
import pytest
import tutti as tt
from tutti import cuda

RECORDS = np.array([(1.5, 2), (3.5, 4)], np.dtype([("x", "f8"), ("y", "i4")], align=True))
HERE = cuda.to_device(np.arange(4.0))


def test_memory_of_the_device_stays_what_it_is():
    @cuda.jit
    def kernel(out):
        i = cuda.grid(1)
        out[i] = HERE[i]
        HERE[i] = -HERE[i]

    HERE.copy_to_device(np.arange(4.0))
    out = np.zeros(4)
    kernel[1, 4](out)
    np.testing.assert_array_equal(out, [0, 1, 2, 3])
    np.testing.assert_array_equal(HERE.copy_to_host(), [0, -1, -2, -3])
    HERE[0] = 7.0  # seen by the next launch
    kernel[1, 4](out)
    np.testing.assert_array_equal(out, [7, -1, -2, -3])


def test_other_arrays_are_what_they_were():
    table = np.arange(3.0)

    @cuda.jit
    def kernel(out):
        out[cuda.threadIdx.x] = table[cuda.threadIdx.x]

    out = np.zeros(3)
    kernel[1, 3](out)
    table[:] = 9
    kernel[1, 3](out)
    np.testing.assert_array_equal(out, [0, 1, 2])


def test_constants_are_read_wherever_a_launch_is():
    """Also by launches elsewhere than where the thread's new arrays live when the kernel is first seen."""
    table = np.arange(3.0)

    @cuda.jit
    def kernel(out):
        out[cuda.threadIdx.x] = table[cuda.threadIdx.x]

    for device in ("cpu", tt.devices()[0], tt.devices()[-1]):
        out = tt.zeros(3, device="cpu")
        with tt.device(device):
            kernel[1, 3](out)
            there = tt.zeros(3)
            kernel[1, 3](there)
        assert out.tolist() == there.tolist() == [0, 1, 2]


def test_constants_are_not_written():
    table = np.arange(3.0)

    @cuda.jit
    def kernel():
        table[0] = 1.0

    with pytest.raises(TypeError, match="read-only"):
        kernel[1, 1]()


@pytest.mark.parametrize("ahead", [False, True])
def test_records_in_code_that_is_made_before_its_launch(ahead):
    @cuda.jit
    def kernel(a, b, scale):
        i = cuda.grid(1)
        a[i] = cuda.const.array_like(RECORDS)[i]["x"] * scale
        b[i] = RECORDS[i]["y"]

    a, b = np.zeros(2), np.zeros(2, np.int64)
    made = kernel.specialize(a, b, 2.0) if ahead else kernel
    made[2, 1](a, b, 2.0)
    np.testing.assert_array_equal(a, [3, 7])
    np.testing.assert_array_equal(b, [2, 4])
