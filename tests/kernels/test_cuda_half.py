"""Arithmetic of float16 by name (cuda.fp16), operators by name, memory that device functions declare, tuples that are
printed, and functions that are written for kernels alone: compiled and thread by thread.
"""

import math
import operator
import os
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
import tutti as tt
from tutti import cuda
from tutti.compat.numba import extending
from tutti.compat.numba.cuda import extending as cuda_extending

COMPARED = {"heq": operator.eq, "hne": operator.ne, "hlt": operator.lt, "hle": operator.le, "hgt": operator.gt,
            "hge": operator.ge}  # fmt: skip
TWO = {"hadd": np.add, "hsub": np.subtract, "hmul": np.multiply, "hdiv": np.divide, "hmax": np.fmax, "hmin": np.fmin}
ONE = {"hneg": np.negative, "habs": np.abs, "hsqrt": np.sqrt, "hceil": np.ceil, "hfloor": np.floor,
       "htrunc": np.trunc, "hrint": np.rint, "hrcp": lambda x: np.float32(1) / x}  # fmt: skip
NEAR = {"hsin": np.sin, "hcos": np.cos, "hlog": np.log, "hlog2": np.log2, "hlog10": np.log10, "hexp": np.exp,
        "hexp2": np.exp2, "hexp10": lambda x: 10**x, "hrsqrt": lambda x: 1 / np.sqrt(x)}  # fmt: skip


@pytest.fixture(params=["compiled", "steps"])
def mode(request, monkeypatch):
    monkeypatch.setenv("TUTTI_KERNEL_STEP", "1" if request.param == "steps" else "0")
    return request.param


def numbers(n, seed, low=None):
    """Every kind of float16, or those from `low` on."""
    bits = np.random.default_rng(seed).integers(0, 1 << 16, n, dtype=np.uint16).view(np.float16)
    return bits if low is None else np.abs(np.where(np.isfinite(bits), bits, 1)) % np.float16(8) + np.float16(low)


def run(word, *args, out=np.float16):
    """What cuda.fp16's function gives of each row."""
    text = f"def kernel({', '.join('abc'[: len(args)])}, r):\n    i = cuda.grid(1)\n    if i < r.shape[0]:\n"
    text += f"        r[i] = cuda.fp16.{word}({', '.join(f'{name}[i]' for name in 'abc'[: len(args)])})\n"
    r = np.zeros(len(args[0]), out)
    compiled_of(text, "kernel")[1, len(r)](*args, r)
    return r


def compiled_of(text, name):
    import linecache

    file, space = f"<half {hash(text)}>", {"cuda": cuda}
    linecache.cache[file] = len(text), None, text.splitlines(True), file
    exec(compile(text, file, "exec"), space)
    return cuda.jit(space[name])


@pytest.mark.parametrize("word", [*TWO, *ONE])
def test_results_are_those_of_wider_arithmetic_rounded_once(mode, word):
    n = 64 if mode == "steps" else 1000
    a, b = numbers(n, 1), numbers(n, 2)
    with np.errstate(all="ignore"):
        wide = [x.astype(np.float32) for x in ((a, b) if word in TWO else (a,))]
        want = (TWO | ONE)[word](*wide).astype(np.float16)
        got = run(word, *((a, b) if word in TWO else (a,)))
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("word", NEAR)
def test_functions_are_within_half_a_unit(mode, word):
    n = 32 if mode == "steps" else 500
    a = numbers(n, 3, 0.125)
    with np.errstate(all="ignore"):
        want = NEAR[word](a.astype(np.float64)).astype(np.float16)
        got = run(word, a)
    np.testing.assert_allclose(got.astype(np.float64), want.astype(np.float64), rtol=2.0**-10, atol=2.0**-24)


@pytest.mark.parametrize("word", COMPARED)
def test_comparisons(mode, word):
    a, b = numbers(200, 4), numbers(200, 5)
    b[:50] = a[:50]
    np.testing.assert_array_equal(run(word, a, b, out=np.bool_), COMPARED[word](a, b))


def test_a_fused_product_is_rounded_once(mode):
    n = 64 if mode == "steps" else 1000
    rng = np.random.default_rng(6)
    a, b = ((rng.standard_normal(n) * 3).astype(np.float16) for _ in range(2))
    c = (rng.standard_normal(n) * 2.0 ** rng.integers(-12, 3, n)).astype(np.float16)
    c[: n // 4] = -(a[: n // 4] * b[: n // 4])  # what is left of these is small
    exact = [Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z)) for x, y, z in zip(a, b, c)]
    want = np.array([nearest_half(x) for x in exact], np.float16)
    np.testing.assert_array_equal(run("hfma", a, b, c), want)


def nearest_half(x):
    """The float16 that is nearest to a fraction, of two the even one."""
    near = np.float16(float(x))
    around = [near, np.nextafter(near, np.float16(np.inf)), np.nextafter(near, np.float16(-np.inf))]
    around = [h for h in around if math.isfinite(h)]
    return min(around, key=lambda h: (abs(Fraction(float(h)) - x), int(h.view(np.uint16)) & 1))


def test_other_names_are_refused():
    @cuda.jit
    def kernel(r):
        r[0] = cuda.fp16.hadd(r[0])

    with pytest.raises(TypeError, match="does not take 1 arguments"):
        kernel[1, 1](np.zeros(1, np.float16))
    with pytest.raises(AttributeError, match="hpow"):
        cuda.fp16.hpow  # noqa: B018


def test_operators_by_name():
    ops = (operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.lt)

    def kernel_of(op):
        @cuda.jit
        def kernel(a, b, r):
            i = cuda.grid(1)
            r[i] = op(a[i], b[i])

        return kernel

    for op in ops:
        a, b = np.array([7.5, -3.25, 2.0]), np.array([2.0, 0.5, -1.5])
        r = np.zeros(3)
        kernel_of(op)[1, 3](a, b, r)
        np.testing.assert_array_equal(r, op(a, b))
    f = tt.njit(lambda a, i: (operator.neg(a[i]), operator.getitem(a, i), operator.contains((1, 2), i)))
    assert f(np.array([1.5, 2.5]), 1) == (-2.5, 2.5, True)


def test_bits_of_whole_numbers_as_python_counts_them():
    f = tt.njit(lambda x: x.bit_count())
    for x in (0, 1, -1, 255, -(1 << 62), (1 << 62) - 1, True):
        assert f(x) == int(x).bit_count()
    for kind in "uint8 int8 uint16 int16 uint32 int32 uint64 int64".split():
        low, high = np.iinfo(kind).min, np.iinfo(kind).max
        for x in (low, high, 1, 77):
            assert f(np.dtype(kind).type(x)) == abs(int(x)).bit_count()


def test_device_functions_have_memory_of_their_own(mode):
    """Arrays that a function declares are the thread's, or the block's, in the kernel that calls it."""

    @cuda.jit(device=True)
    def reversed_row(a, i):
        row = cuda.local.array(4, np.float32)
        for k in range(4):
            row[k] = a[i, 3 - k]
        return row[0] * 1000 + row[1] * 100 + row[2] * 10 + row[3]

    @cuda.jit(device=True)
    def put(x):
        shared = cuda.shared.array(8, np.int64)
        shared[cuda.threadIdx.x] = x
        return shared[cuda.threadIdx.x] + 1

    @cuda.jit
    def kernel(a, r):
        i = cuda.grid(1)
        mine = cuda.local.array(4, np.float32)
        mine[0] = 5
        r[i] = reversed_row(a, i) + put(i) + mine[0]

    a, r = np.arange(32, dtype=np.float32).reshape(8, 4) % 9, np.zeros(8)
    kernel[1, 8](a, r)
    np.testing.assert_array_equal(r, a[:, ::-1] @ [1000, 100, 10, 1] + np.arange(8) + 6)


def test_tuples_are_printed_as_python_prints_them(capfd):
    value = (1, ((2, 4), 3.5), (4,), True, None)

    @cuda.jit
    def kernel(x, t):
        print(t, x, "and", (x[0], (x[1],)))
        print(cuda.threadIdx, cuda.blockDim)
        print()

    kernel[1, 1]((1, 2.5), (7,))
    cuda.synchronize()
    assert capfd.readouterr().out == "(7,) (1, 2.5) and (1, (2.5,))\n(0, 0, 0) (1, 1, 1)\n\n"

    @tt.njit
    def f():
        print(value, 'say "it"', 3)

    f()
    assert capfd.readouterr().out == f'{value} say "it" 3\n'

    @tt.njit
    def quoted():
        print(("it's",))

    with pytest.raises(NotImplementedError, match="print the tuple's items"):
        quoted()


ORDERS = "less less_equal greater greater_equal maximum minimum fmax fmin".split()


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize("name", ORDERS)
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_numbers_in_numpys_order(mode, name, dtype):
    """Elements, arrays and kernels; Python's own operators refuse them."""
    parts = [0.0, 1.0, -2.5, math.inf, -math.inf, math.nan]
    each = np.array([complex(x, y) for x in parts for y in parts], dtype)
    a, b = (g.ravel() for g in np.meshgrid(each, each))
    if mode == "steps":
        a, b = a[::37].copy(), b[::37].copy()
    ufunc = getattr(np, name)
    want = ufunc(a, b)

    @cuda.jit
    def kernel(a, b, r):
        i = cuda.grid(1)
        if i < r.shape[0]:
            r[i] = ufunc(a[i], b[i])

    r = np.zeros_like(want)
    kernel[-(-len(r) // 64), 64](a, b, r)
    np.testing.assert_array_equal(r, want)
    np.testing.assert_array_equal(tt.njit(lambda a, b: ufunc(a, b))(a, b), want)
    with pytest.raises(TypeError, match="no '<' between complex128 and complex128"):
        tt.njit(lambda a, b: a < b)(1j, 2j)


class _Once:
    def __init__(self, made):
        self.made, self.seen = made, []

    def prepare_args(self, kind, value, stream, retr):
        self.seen.append((str(kind), stream))
        retr.append(lambda: self.seen.append("after"))
        return kind, self.made(value)


def test_extensions_prepare_arguments():
    from tutti.compat.numba.cuda import args

    @cuda.jit
    def kernel(a):
        a[0] += 1

    a = np.zeros(1)
    kernel[1, 1](a)
    doubled = _Once(lambda value: args.wrap_arg(value, default=cuda.In))
    kernel.extensions.append(doubled)
    kernel[1, 1](a)
    assert a[0] == 1 and doubled.seen == [("array(float64, 1d, C)", 0), "after"]
    kernel[1, 1](cuda.InOut(a))
    assert a[0] == 2


def test_failures_of_kernels_without_arrays_come_at_the_launch():
    @cuda.jit(debug=True, opt=False)
    def kernel(x):
        if x == 3:
            raise KeyError("three")

    kernel[1, 1](2)
    with pytest.raises(KeyError, match="three"):
        kernel[1, 1](3)


def generic_word():
    pass


def kernel_word():
    pass


@extending.overload(generic_word, target="generic")
def of_generic(x, y=5):
    return lambda x, y=5: x * 2 + y


@cuda_extending.overload(generic_word)
def of_generic_in_kernels(x, y=5):
    return lambda x, y=5: x * 3 + y


@cuda_extending.overload(kernel_word)
def of_kernels(x):
    return lambda x: x * 7


def test_functions_for_kernels_alone():
    """Of several makers those of kernels come first there, and are nothing to functions."""

    @cuda.jit
    def kernel(r):
        r[0] = generic_word(10, y=1)
        r[1] = kernel_word(10)
        r[2] = generic_word(1)

    r = np.zeros(3)
    kernel[1, 1](r)
    assert r.tolist() == [31, 70, 8] and tt.njit(lambda: generic_word(10))() == 25
    with pytest.raises(TypeError, match="No implementation of function kernel_word"):
        tt.njit(lambda: kernel_word(10))()


def test_functions_of_a_command_s_program():
    """python -c: the program stands in the command, and functions of other texts are refused as before."""
    program = (
        "import numpy as np\nfrom tutti import cuda\n@cuda.jit\ndef kernel(x):\n    x[0] = 3\nx = np.zeros(1)\n"
        "kernel[1, 1](x)\nprint(x[0])\nspace = {}\nexec('def f(x):\\n    x[0] = 4', space)\n"
        "try:\n    cuda.jit(space['f'])[1, 1](x)\nexcept OSError as e:\n    print('source' in str(e))\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env={**os.environ}
    )
    assert ran.stdout.split() == ["3.0", "True"]
