"""Signatures give numbers their types on the way into compiled functions and out of them."""

import numpy as np
import pytest
from tutti.compat.numba import cuda, float32, float64, guvectorize, int32, int64, njit, vectorize, void


def test_a_kernel_gets_its_numbers_in_the_types_of_its_signature():
    @cuda.jit("void(int32[:], int32)")
    def zeros_before(out, bits):
        out[0] = cuda.clz(bits)

    @cuda.jit(void(float64[:], float32))
    def tripled(out, x):
        out[0] = x

    out, wide = np.zeros(1, np.int32), np.zeros(1)
    zeros_before[1, 1](out, 1 << 20)
    tripled[1, 1](wide, 0.1)
    assert out[0] == 11 and wide[0] == np.float32(0.1)


def test_a_function_rounds_what_goes_in_and_out():
    @njit("float32(float32)")
    def square(x):
        return x * x

    @njit("int32(int32, int32)")
    def total(x, y):
        x = x + y  # a new variable: 64 bits, until it is given back
        return x

    assert square(0.1) == np.float32(0.1) * np.float32(0.1)
    assert total(2**31 - 1, 1) == -(2**31)


def test_signatures_of_functions_that_kernels_call():
    @cuda.jit("float32(float32)", device=True)
    def third(x):
        return x / 3

    @cuda.jit
    def kernel(out, x):
        out[0] = third(x)

    out = np.zeros(1)
    kernel[1, 1](out, 0.1)
    assert out[0] == np.float32(np.float32(0.1) / 3)


def test_several_signatures_count_where_they_agree():
    @njit([float64(float64[:], int32), float32(float32[:], int32)])
    def pick(x, k):
        return x[k]

    assert pick(np.arange(3.0), 2.9) == 2 and pick(np.arange(3, dtype=np.float32), 1) == 1


def test_tuples_and_words_that_say_nothing_of_numbers():
    @njit("UniTuple(float64, 2)(float64, float64)")
    def swap(a, b):
        return b, a

    @njit((int64, float64))
    def add(a, b):
        return a + b

    assert swap(1.0, 2.0) == (2.0, 1.0) and add(1.9, 0.5) == 1.5


@pytest.mark.parametrize("target", ["cpu", "cuda"])
def test_pythons_numbers_fit_beside_arrays(target):
    @vectorize(["float32(float32, float32)", "float64(float64, float64)"], target=target)
    def scaled(x, by):
        return x * by

    x = np.arange(4, dtype=np.float32)
    assert scaled(x, 0.5).dtype == scaled(x, 2).dtype == np.float32
    assert scaled(x, np.float64(0.5)).dtype == np.float64
    assert scaled(x.astype(np.int64), 0.5).dtype == np.float64
    assert isinstance(scaled(2, 3), np.float64)

    @vectorize(["int16(int16, int16)"], target=target)
    def above(x, least):
        return x if x >= least else 0

    assert above(np.int16([3, 9]), 5).tolist() == [0, 9]
    if target == "cuda":  # takes numbers by any cast
        assert above(np.int16([3, 9]), 5.0).tolist() == [0, 9]
    else:
        with pytest.raises(TypeError, match="no signature takes int16, float64"):
            above(np.int16([3, 9]), 5.0)
    with pytest.raises(TypeError, match="no signature takes int64, int64"):
        above(np.arange(2), np.arange(2))


@pytest.mark.parametrize("target", ["cpu", "parallel", "cuda"])
def test_a_number_that_a_signature_calls_an_array(target):
    @guvectorize([(int64[:], int64[:], int64[:])], "(n),()->(n)", target=target)
    def plus(x, y, out):
        for k in range(x.shape[0]):
            out[k] = x[k] + y[0]

    assert plus(np.arange(3), 2).tolist() == [2, 3, 4]
    rows = np.arange(6).reshape(2, 3)
    np.testing.assert_array_equal(plus(rows, np.array([10, 20])), rows + [[10], [20]])


@pytest.mark.parametrize("target", ["cpu", "cuda"])
def test_signatures_of_guvectorize_type_the_results(target):
    @guvectorize(["(float32[:], int64, float64[:])", "(float64[:], int64, float64[:])"], "(n),()->()", target=target)
    def first(x, factor, out):
        out[0] = x[0] * factor

    got = first(np.arange(1, 4, dtype=np.float32), 2)
    assert got == 2 and got.dtype == np.float64
    assert first(np.arange(1, 4, dtype=np.int32), 3) == 3  # by a safe cast
    with pytest.raises(TypeError, match=r"datetime64|M8"):
        first(np.zeros(2, "M8[D]"), 1)

    @guvectorize(["(float32[:], float32[:])"], "(n)->()", target=target)
    def largest(x, out):
        out[0] = x[0]

    if target == "cuda":  # takes wider numbers too
        assert largest(np.array([0.1])) == np.float32(0.1)
    else:
        with pytest.raises(TypeError, match="no signature takes float64"):
            largest(np.array([0.1]))
    with pytest.raises(ValueError, match="does not fit"):
        guvectorize([(int64[:], int64)], "(n),()->()", target=target)(lambda x, y, out: None)
    assert int32 and float32


def test_numbers_beside_arrays_are_not_spread():
    """A ufunc of the device hands a number to its kernel as it is."""

    @cuda.jit(device=True)
    def inside(x):
        return x + 0.25

    @vectorize(["float32(float32, float32, int64)"], target="cuda")
    def line(x, slope, shift):
        return inside(x * slope + shift)

    x = np.arange(100_000, dtype=np.float32)
    for slope in (0.5, np.float32(0.5), np.array(0.5, np.float32), np.full(1, 0.5, np.float32)):
        np.testing.assert_array_equal(line(x, slope, 2), x * np.float32(0.5) + np.float32(2.25))
    np.testing.assert_array_equal(line(2, x, np.array([[1], [3]])), 2 * x + np.float32([[1.25], [3.25]]))
    assert line(3, 0.5, 1) == 2.75 and isinstance(line(3, 0.5, 1), np.float32)
    kernels = {numbers: each.signatures for numbers, each in line._each.items()}
    assert kernels[1, 2] == ["Af32:1C,f32,i64,Af32:1C"] and (0,) in kernels and (0, 1, 2) in kernels


# ---- the types of what is computed


@njit
def congruential(x):
    for k in range(x.size):
        x[k] = x[k] * 6364136223846793005 + 1442695040888963407


@cuda.jit
def congruential_there(x):
    k = cuda.grid(1)
    if k < x.size:
        x[k] = x[k] * 6364136223846793005 + 1442695040888963407


def test_uint64_beside_other_whole_numbers_stays_whole():
    seeds = [0, 1, 2**63 + 5, 2**64 - 1]
    want = [(x * 6364136223846793005 + 1442695040888963407) % 2**64 for x in seeds]
    here, there = np.array(seeds, np.uint64), np.array(seeds, np.uint64)
    congruential(here)
    congruential_there[1, 4](there)
    assert here.tolist() == there.tolist() == want

    @njit
    def mixed(a, b):
        return a + b, a - b, a * b, a // b, a % b, a & b, a | b, a ^ b, a << b, a >> b, a % 8, a < b, a / b

    got = mixed(np.uint64(20), np.int64(3))
    assert got == (23, 17, 60, 6, 2, 0, 23, 23, 160, 2, 4, False, 20 / 3)
    assert [type(v) for v in got] == [int] * 11 + [bool, float]
    assert mixed(np.uint64(2**64 - 1), np.int64(3))[9] == 2**61 - 1  # shifted as it is: no sign

    @njit
    def at(x, k):
        return x[k % 4], x[(k + 1) % 4]

    assert at(np.arange(4.0), np.uint64(6)) == (2.0, 3.0)
