"""Compiled functions against the same functions in plain Python."""

import linecache
import math
import pathlib
import re
import runpy
import warnings

import numpy as np
import pytest
import tutti as tt

KERNELS_MD = pathlib.Path(__file__).resolve().parents[3] / "docs" / "kernels.md"


def same(compiled, *args):
    got, want = compiled(*args), compiled.py_func(*args)
    np.testing.assert_allclose(got, want, rtol=1e-13)
    return got


def test_a_scalar_loop():
    @tt.njit
    def f(n):
        s = 0.0
        for i in range(n):
            s += i * 0.5
        return s

    assert f(10) == 22.5
    assert f(0) == 0.0
    assert f(n=4) == 3.0


@pytest.mark.parametrize("a,b", [(7, 2), (-7, 2), (7, -2), (7.5, 2), (-7.5, 2.0), (True, 2), (5, 3.25)])
def test_arithmetic_is_pythons(a, b):
    @tt.njit
    def f(a, b):
        return a + b, a - b, a * b, a / b, a // b, a % b, -a, a < b, a == b, min(a, b), max(a, b), abs(a)

    got, want = f(a, b), f.py_func(a, b)
    assert got == want
    assert isinstance(got[3], float) and type(got[2]) is type(want[2]) and type(got[7]) is bool


def test_whole_numbers_wrap_in_64_bits():
    @tt.njit
    def f(x):
        return x * 6364136223846793005 + 1442695040888963407, x << 3, x >> 2, x & 255, x | 1, x ^ 77, ~x

    x = 123456789
    wrapped = (x * 6364136223846793005 + 1442695040888963407 + 2**63) % 2**64 - 2**63
    assert f(x) == (wrapped, x << 3, x >> 2, x & 255, x | 1, x ^ 77, ~x)


def test_powers():
    @tt.njit
    def f(x, n):
        return x**2, x**3, x**n, x**-1.0, 2**n

    same(f, 1.7, 5)
    assert f(3, 4)[:3] == (9, 27, 81)


@pytest.mark.parametrize("name", ["sin", "cos", "tan", "exp", "log", "sqrt", "atan", "sinh", "tanh", "log1p", "expm1",
                                  "erf", "erfc", "gamma", "lgamma", "floor", "ceil", "degrees", "radians"])  # fmt: skip
def test_functions_of_math(name):
    fn = getattr(math, name)

    @tt.njit
    def f(x):
        return fn(x)

    for x in (0.25, 0.9, 1.7, 2.5, 5.5, 11.25):
        np.testing.assert_allclose(f(x), fn(x), rtol=3e-14, atol=2e-14)


def test_the_same_bits_as_arrays():
    @tt.njit
    def f(x, out):
        for i in range(x.size):
            out[i] = math.exp(math.sin(x[i])) * math.log(x[i])

    x = np.linspace(0.1, 30, 1001)
    out = np.empty_like(x)
    f(x, out)
    lazy = tt.exp(tt.sin(tt.array(x))) * tt.log(tt.array(x))
    assert out.tobytes() == lazy.numpy().tobytes()


def test_control_flow():
    @tt.njit
    def collatz(n):
        steps = 0
        while n != 1:
            if n % 2 == 0:
                n //= 2
            else:
                n = 3 * n + 1
            steps += 1
            if steps > 1000:
                break
        return steps

    assert [collatz(k) for k in (1, 7, 27)] == [0, 16, 111]

    @tt.njit
    def primes(n):
        count = 0
        for k in range(2, n):
            for d in range(2, k):
                if d * d > k:
                    count += 1
                    break
                if k % d == 0:
                    break
            else_ = 0
            if k < 3:
                continue
            count += else_
        return count

    assert primes(100) == primes.py_func(100)


def test_loops_with_else():
    @tt.njit
    def f(a, n):
        primes = 0
        for i in range(2, n):
            for k in range(2, i):
                if i % k == 0:
                    break
            else:
                primes += 1
        while n > 0:
            n -= 3
            for v in a:
                if v > n:
                    if v > 4:
                        break
                    continue
            else:
                primes += 100
                if n % 2:
                    break
        else:
            primes += 10000
        return primes, n

    for n in range(20):
        same(f, np.arange(n % 6), n)
        same(f, np.arange(9), n)


def test_ranges_count_down_and_by_variables():
    @tt.njit
    def f(a, b, c):
        s, last = 0, -1
        for i in range(a, b, c):
            s = s * 31 + i
            last = i
        for i in range(b, a, -2):
            s += i
        return s, last

    for args in ((0, 10, 3), (10, 0, -3), (5, 5, 1), (0, 10, 1)):
        assert f(*args) == f.py_func(*args)
    with pytest.raises(ValueError, match="zero"):
        f(0, 10, 0)


def test_variables_take_the_wider_type():
    @tt.njit
    def f(n):
        x = 0
        for i in range(n):
            x += i / 2
        return x

    assert f(4) == 3.0 and isinstance(f(4), float)

    @tt.njit
    def g(n):
        n = n / 2
        return n

    assert g(3) == 1.5


def test_what_is_never_reached_is_not_typed():
    @tt.njit
    def f(x=None):
        if x is None:
            return 0
        return x + 0.5

    @tt.njit
    def g(x):
        for k in range(x):
            if k == 3:
                break
                return "never"
        return k

    assert (f(), f(1), f(2.5)) == (0, 1.5, 3.0)
    assert g(10) == 3 and g(2) == 1


def test_tuples_go_in_and_out():
    @tt.njit
    def f(p, q):
        (a, b), c = p, q
        a, b = b, a
        t = (a, b) + (c,)
        return t, len(t), t[0], t[-1]

    assert f((1, 2.5), 7) == ((2.5, 1, 7), 3, 2.5, 7)


def test_complex_numbers():
    @tt.njit
    def mandelbrot(c, most):
        z = 0j
        for i in range(most):
            z = z * z + c
            if abs(z) > 2:
                return i
        return most

    for c in (0.3 + 0.5j, 1 + 1j, -0.75 + 0.1j):
        assert mandelbrot(c, 100) == mandelbrot.py_func(c, 100)

    @tt.njit
    def g(z):
        return z.real, z.imag, z.conjugate(), z / (1 - 2j), np.exp(z), z**2

    np.testing.assert_allclose(np.array(g(1.5 - 0.5j)), np.array(g.py_func(1.5 - 0.5j)), rtol=1e-14)


NAMES = "exp log log2 log10 sqrt sin cos tan sinh cosh tanh arcsin arccos arctan arcsinh arccosh arctanh".split()


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("name", NAMES)
def test_complex_numbers_have_the_bits_of_arrays(name, dtype):
    fn = getattr(np, name)

    @tt.njit
    def f(x, out):
        for i in range(x.size):
            out[i] = fn(x[i])

    edges = [0.0, -0.0, 1.0, -1.5, 1e30, np.inf, -np.inf, np.nan]
    rng = np.random.default_rng(1)
    x = (10 ** rng.uniform(-8, 1.5, 500) * np.exp(1j * rng.uniform(-np.pi, np.pi, 500))).astype(dtype)
    x = np.concatenate([x, 1 + x[:100] * 1e-3, np.array([complex(a, b) for a in edges for b in edges], dtype)])
    out = np.empty_like(x)
    f(x, out)
    want = np.asarray(getattr(tt, name)(tt.asarray(x)))
    for got, w in ((out.real, want.real), (out.imag, want.imag)):
        np.testing.assert_array_equal(got, w)
        np.testing.assert_array_equal(np.signbit(got[~np.isnan(w)]), np.signbit(w[~np.isnan(w)]))


def test_quotients_of_complex_numbers_have_the_bits_of_arrays():
    @tt.njit
    def f(x, y):
        return x / y

    x, y = np.random.default_rng(1).normal(size=(2, 40, 2)).view("complex128")[..., 0]
    assert [f(*pair) for pair in zip(x.tolist(), y.tolist())] == (tt.asarray(x) / tt.asarray(y)).tolist()


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_products_of_complex_numbers_have_the_bits_of_arrays(dtype, monkeypatch):
    monkeypatch.setenv("TUTTI_JIT_TIER", "compiled")

    @tt.njit
    def f(x, y, z, out):
        for i in range(x.size):
            out[0, i] = x[i] * y[i]
            out[1, i] = x[i] * y[i] + z[i]
            out[2, i] = x[i] / y[i]

    x, y, z = np.random.default_rng(1).normal(size=(3, 600, 2)).view("complex128")[..., 0].astype(dtype)
    out = np.zeros((3, 600), dtype)
    f(x, y, z, out)
    a, b, c = (tt.asarray(v) for v in (x, y, z))
    for got, want in zip(out, (a * b, a * b + c, a / b)):
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("wide", ["complex64", "complex128"])
@pytest.mark.parametrize("narrow", ["float16", "int8", "bool", "float32"])
def test_complex_numbers_made_of_other_types(narrow, wide):
    make = getattr(np, wide)

    @tt.njit
    def f(x, z, out):
        for i in range(x.size):
            out[i] = x[i] * z[i] + make(x[i])

    x, z = np.array([1.5, 0, -2.25, 1]).astype(narrow), np.array([1 + 1j, 2j, 3, -1j], wide)
    out, want = np.zeros(4, wide), np.zeros(4, wide)
    f(x, z, out)
    f.py_func(x, z, want)
    np.testing.assert_array_equal(out, want)


def test_functions_of_complex_numbers_without_text():
    """They are refused before a compiler is asked: three of its failures would have it given up."""

    @tt.jit
    def f(x):
        return np.expm1(x)

    with pytest.raises(NotImplementedError, match="expm1 of complex numbers"):
        f(0.5 + 0.25j)


DTYPES = "bool int8 uint8 int32 uint32 int64 uint64 float16 float32 float64 complex64 complex128".split()


@pytest.mark.parametrize("dtype", DTYPES)
def test_arrays_of_every_type_in_place(dtype):
    @tt.njit
    def f(a, b, n):
        for i in range(n):
            b[i] = a[n - 1 - i]
            b[i] = b[i] + a[i]

    a = np.arange(8).astype(dtype)
    b, want = np.zeros(8, dtype), np.zeros(8, dtype)
    f(a, b, 8)
    f.py_func(a, want, 8)
    np.testing.assert_array_equal(b, want)


def test_layouts_and_indices_from_the_end():
    @tt.njit
    def f(a):
        s = 0.0
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                s = s * 1.01 + a[i, j]
        return s + a[-1, -2] * 100 + a[0][1]

    base = np.random.default_rng(1).random((6, 8))
    for a in (base, base.T, base[::2, ::-1], base[1:, 2:6], np.asfortranarray(base)):
        same(f, a)


def test_slices_are_views():
    @tt.njit
    def f(a):
        row = a[1]
        row[0] = 7
        part = a[1:3, ::2]
        part[-1, -1] = -1
        a[0, :] = 3.5
        a[:, 1] += 10
        a[2:] *= 2
        return part.shape, a[-1, 1:].sum()

    a = np.arange(20.0).reshape(4, 5)
    b = a.copy()
    assert f(a) == f.py_func(b)
    np.testing.assert_array_equal(a, b)


def test_what_a_store_changes_is_read_before():
    """Parts of the array that is written, rows of it that stretch."""

    @tt.njit
    def f(d, b):
        d += d[::-1] * 2
        d -= np.sqrt(np.abs(d[0])) * b
        d *= d.T + 1
        r = d[1]
        d += r
        np.add(d, d[2], d)
        d += d * b

    rng = np.random.default_rng(1)
    for shape in ((3, 3), (4, 4)):
        got, want = (np.random.default_rng(2).uniform(-1, 1, shape) for _ in range(2))
        b = rng.uniform(1, 2, shape[1])
        f(got, b)
        f.py_func(want, b)
        np.testing.assert_allclose(got, want, rtol=1e-13)


@pytest.mark.parametrize("tier", ["auto", "compiled"])
def test_whole_numbers_made_floats_have_no_negative_zero(monkeypatch, tier):
    monkeypatch.setenv("TUTTI_JIT_TIER", tier)

    @tt.njit
    def f(x, a):
        i = int(x)
        for k in range(a.size):
            a[k] = float(int(a[k])) * 1.0
        return float(i), float(int(x)), i * 1.0, i + 0.0, np.float64(np.int32(x)), np.float32(int(x)), x - int(x)

    @tt.cuda.jit
    def g(a):
        k = tt.cuda.grid(1)
        if k < a.size:
            a[k] = float(int(a[k]))

    values = [-0.5, -0.0, 0.0, 0.5, -1.5, 2.0**40 + 0.5, -(2.0**62), np.nextafter(-1, 0), 5e-324, -5e-324]
    for x in values:
        a, b = np.full(37, x), np.full(37, x)
        got, i = f(x, a), int(x)
        g[1, 64](b)
        want = float(i), float(i), i * 1.0, i + 0.0, float(np.int64(x).astype("i4")), float(np.float32(i)), x - i
        for k, (p, q) in enumerate(zip(got, want, strict=True)):
            same = p == q and math.copysign(1, p) == math.copysign(1, q)
            assert same or (k == 4 and abs(x) > 2**31), (x, got, want)
        np.testing.assert_array_equal(a, float(i))
        np.testing.assert_array_equal(b, float(i))
        assert np.signbit(a).all() == np.signbit(a).any() == np.signbit(b).all() == np.signbit(b).any() == (i < 0)


def double_into(d, s):
    d += s * 2 + s


double_compiled = tt.njit(double_into)


@pytest.mark.parametrize("shape", [(0,), (1,), (7,), (4, 4)])
def test_slices_in_variables_are_read_before_a_store(shape):
    @tt.njit
    def f(d):
        s = d[::-1]
        d += s * 2
        t = d[1:]
        d[1:] = d[:-1]
        t -= d[:-1]
        u = s[::-1]
        u += s
        d[:] = s
        np.add(s, u, d)
        np.multiply(d[:-1], 0.5, t)

    got, want = np.arange(1.0, 1 + math.prod(shape)).reshape(shape), np.arange(1.0, 1 + math.prod(shape)).reshape(shape)
    f(got)
    f.py_func(want)
    np.testing.assert_array_equal(got, want)
    for cut in (lambda d: (d, d[::-1]), lambda d: (d[1:], d[:-1]), lambda d: (d[::-1], d), lambda d: (d, d.T)):
        double_compiled(*cut(got))
        double_into(*cut(want))
        np.testing.assert_array_equal(got, want)


def test_slices_given_to_functions_are_read_before_a_store():
    @tt.njit
    def f(d, e):
        double_compiled(d, d[::-1])
        double_compiled(d[1:], d[:-1])
        s = e.T
        e += s
        double_compiled(e, e.T)
        double_compiled(e, d[: e.shape[1]])
        r = e[0]
        e *= r
        e[:, 1:] -= e[:, :-1]

    got, want = (np.arange(9.0), np.arange(9.0).reshape(3, 3)), (np.arange(9.0), np.arange(9.0).reshape(3, 3))
    f(*got)
    d, e = want
    double_into(d, d[::-1])
    double_into(d[1:], d[:-1])
    e += e.T
    double_into(e, e.T)
    double_into(e, d[:3])
    e *= e[0].copy()
    e[:, 1:] -= e[:, :-1].copy()
    for g, w in zip(got, want, strict=True):
        np.testing.assert_array_equal(g, w)


def test_arrays_made_inside():
    @tt.njit
    def f(n):
        a = np.zeros((n, n))
        for i in range(n):
            a[i, i] = i
        b = np.ones(n)
        c = a @ b + np.arange(n) * 0.5
        d = np.empty_like(c)
        d[:] = c
        return a, d, np.dot(c, d), c.mean(), np.linspace(0, 1, 5)

    for got, want in zip(f(4), f.py_func(4)):
        np.testing.assert_allclose(got, want)
    got = f(3)[0]
    got[0, 0] = 5  # it is the caller's to write
    assert got.flags.writeable


def test_array_expressions():
    @tt.njit
    def f(a, b):
        c = (a - b) ** 2 + np.sqrt(a)
        return c, c.sum(), np.max(a * b), (a > b).any(), a + b[0]

    a, b = np.random.default_rng(2).random((2, 3, 4))
    for got, want in zip(f(a, b), f.py_func(a, b)):
        np.testing.assert_allclose(got, want)
    for got, want in zip(f(a, b[:1]), f.py_func(a, b[:1])):
        np.testing.assert_allclose(got, want)
    with pytest.raises(ValueError, match="broadcast"):
        f(a, b[:2])


NUMPY_INSIDE = re.search(r"\\*\\*NumPy inside.*?whole arrays", KERNELS_MD.read_text(), re.S)[0]


@pytest.mark.parametrize("name", re.findall(r"`([\w.]+)`", NUMPY_INSIDE))
def test_numpy_inside(name, tmp_path):
    """What docs/kernels.md lists compiles, and gives what NumPy gives."""
    shapes = {"zeros": "3", "ones": "3", "empty": "0", "full": "3, 2.5", "full_like": "a, 2.5", "empty_like": "a[:0]"}
    numbers = {"arange": "3", "linspace": "0, 1, 5", "array": "[1.0, 2.0]", "where": "a > 0.5, a, 0.0"}
    others = {"clip": "a, 0.2, 0.6", "reshape": "a, (2, 2)", "dot": "a, a", "matmul": "a, a"}
    call = f"np.{name}({(shapes | numbers | others).get(name, 'a')})"
    program = tmp_path / f"inside_{name}.py"
    program.write_text(f"import numpy as np\nimport tutti as tt\n@tt.njit\ndef f(a):\n    return {call}\n")
    f = runpy.run_path(str(program))["f"]
    a = np.array([0.25, 0.75, 0.5, 0.125])
    got, want = f(a), f.py_func(a)
    np.testing.assert_allclose(got, want, rtol=1e-15)
    assert np.asarray(got).shape == want.shape


def test_what_is_not_inside_says_so():
    @tt.njit
    def f(a):
        return np.apply_along_axis(np.sort, 0, a)

    with pytest.raises(NotImplementedError, match=r"np.apply_along_axis\(\)|sort"):
        f(np.ones(3))


def test_choices_element_by_element():
    @tt.njit
    def f(a, b):
        return np.where(a > b, a, 0.5), np.where(a.T > 0.5, b, a + 1), np.where(a > 0.3, 1, 0).sum(), np.clip(a, 0.2, b)

    @tt.njit
    def g(x):
        return np.where(x > 0, x, -1), np.clip(x, 0, 2)

    a, b = np.random.default_rng(0).random((4, 4)), np.full(4, 0.6)
    for got, want in zip(f(a, b), f.py_func(a, b), strict=True):
        np.testing.assert_array_equal(got, want)
        assert np.asarray(got).dtype == want.dtype
    for x in (-3.0, 1.5, 7.0):
        assert g(x) == tuple(g.py_func(x))
    with pytest.raises(ValueError, match="broadcast"):
        f(a, np.ones(3))


def test_iteration():
    @tt.njit
    def f(a, b):
        s = 0.0
        for x in a:
            s += x
        for i, x in enumerate(a):
            s += i * x
        for x, y in zip(a, b):
            s += x * y
        for k in (1, 2.5):
            s *= k
        return s

    same(f, np.arange(5.0), np.arange(3.0))


@tt.njit
def helper(x, y=2):
    return x * y + SCALE


SCALE = 10
TABLE = np.array([1.0, 2.0, 4.0])


def test_calls_constants_and_global_arrays():
    @tt.njit
    def f(x):
        return helper(x) + helper(x, y=3) + TABLE[1] + TABLE.sum()

    assert f(5) == 20 + 25 + 9


def test_an_argument_comes_back_as_itself():
    @tt.njit
    def f(a):
        return a, a[1:]

    a = np.arange(4.0)
    same_one, part = f(a)
    assert same_one is a
    part[0] = 99
    assert a[1] == 99


def test_reductions_in_parallel_do_not_depend_on_threads():
    @tt.njit(parallel=True)
    def f(x):
        s, p, lo, hi, n = 0.0, 1.0, 1e300, -1e300, 0
        for i in tt.prange(x.size):
            v = math.sin(x[i])
            s += v
            p *= 1.0 + v * 1e-6
            lo = min(lo, v)
            hi = max(v, hi)
            if v > 0:
                n += 1
        return s, p, lo, hi, n

    x = np.random.default_rng(3).random(100001) * 6
    before, seen = tt.get_num_threads(), set()
    try:
        for threads in (1, 2, 3):
            tt.set_num_threads(threads)
            seen.add(f(x))
    finally:
        tt.set_num_threads(before)
    assert len(seen) == 1
    got = seen.pop()
    np.testing.assert_allclose(got, f.py_func(x), rtol=1e-10)


def test_parallel_loops_write_arrays():
    @tt.njit(parallel=True)
    def f(a, out):
        for i in tt.prange(a.shape[0]):
            acc = 0.0
            for j in range(a.shape[1]):
                acc += a[i, j] * j
            out[i] = acc

    a = np.random.default_rng(4).random((500, 7))
    out = np.empty(500)
    f(a, out)
    np.testing.assert_allclose(out, a @ np.arange(7))


def test_tutti_arrays():
    @tt.njit
    def f(a, out):
        for i in range(a.size):
            out[i] = a[i] * 2
        return a.sum()

    a, out = tt.arange(5.0), tt.zeros(5)
    assert f(a + 1, out) == 15
    np.testing.assert_array_equal(out.numpy(), [2, 4, 6, 8, 10])


def test_failures_at_run_time():
    @tt.njit
    def f(a, b):
        assert a >= 0, "a must not be negative"
        if b == 5:
            raise ValueError("five")
        return a // b

    with pytest.raises(ZeroDivisionError):
        f(1, 0)
    with pytest.raises(AssertionError, match="negative"):
        f(-1, 1)
    with pytest.raises(ValueError, match="five"):
        f(1, 5)

    @tt.njit(error_model="numpy")
    def g(a, b):
        return a / b

    assert g(1.0, 0.0) == math.inf


def test_failures_of_typing_name_the_line():
    @tt.njit
    def f(x):
        y = x + 1
        return y @ 3

    @tt.njit
    def g(x):
        if x > 0:
            y = 1
        else:
            y = (1, 2)
        return y

    @tt.njit
    def h(x):
        with x:
            pass

    line = f.py_func.__code__.co_firstlineno
    with pytest.raises((TypeError, NotImplementedError), match=f"line {line + 3}|no "):
        f((1, 2))
    with pytest.raises(TypeError, match="Cannot unify int64 and .int64, int64. for 'y'"):
        g(1)
    with pytest.raises(NotImplementedError, match=r"with x:.*\n.*line"):
        h(1)
    with pytest.raises(TypeError, match="str"):
        f("text")
    with pytest.raises(TypeError, match="argument"):
        f(1, 2, 3)


@tt.njit
def _fib(n):
    return n if n < 2 else _fib(n - 1) + _fib(n - 2)


def test_recursion_by_two_calls_is_typed_at_once():
    """Two calls of itself are 2**n ways through it for who follows all of them."""
    assert _fib(12) == 144


def test_a_function_without_source_says_what_to_do():
    space = {}
    exec("def f(x):\n    return x + 1\n", space)  # as Python's prompt does
    with pytest.raises(
        OSError, match="the source of f is needed to compile it, and is not there: put the function into"
    ):
        tt.njit(space["f"])(1)


def test_calls_of_calls_are_looked_at_once():
    """Four calls in each of twelve functions."""
    text = "def f0(x):\n    return x + 1\n"
    for k in range(1, 12):
        text += f"def f{k}(x):\n    return f{k - 1}(x) + f{k - 1}(x) + f{k - 1}(x) - 3 * f{k - 1}(x)\n"
    linecache.cache["<calls>"] = len(text), None, text.splitlines(True), "<calls>"
    space = {}
    exec(compile(text, "<calls>", "exec"), space)
    for k in range(12):
        space[f"f{k}"] = tt.njit(space[f"f{k}"])
    assert space["f11"](2) == 0


def test_read_only_arrays():
    @tt.njit
    def f(a):
        a[0] = 1

    a = np.zeros(3)
    a.flags.writeable = False
    with pytest.raises(TypeError, match="read-only"):
        f(a)


def test_print(capsys):
    @tt.njit
    def f(x):
        print("x is", x, x * 0.5, x > 2)

    f(3)
    f(1)
    assert capsys.readouterr().out == "x is 3 1.5 True\nx is 1 0.5 False\n"


def test_random_numbers():
    @tt.njit
    def pi(n):
        inside = 0
        for _ in range(n):
            x, y = np.random.random(), np.random.random()
            if x * x + y * y < 1:
                inside += 1
        return 4 * inside / n

    @tt.njit
    def seeded(k):
        np.random.seed(k)
        return np.random.random(), np.random.randint(0, 10), np.random.normal()

    assert abs(pi(200000) - math.pi) < 0.02
    assert seeded(4) == seeded(4) != seeded(5)


def test_looking_inside(capsys):
    @tt.njit
    def f(a):
        b = a * 2
        return b

    f(1.0)
    assert f.signatures == ["f64"]
    assert "tt_f64" in f.inspect_source("f64")
    f.inspect_types()
    assert "b: float64" in capsys.readouterr().out


def test_fastmath_is_refused_aloud():
    with pytest.warns(RuntimeWarning, match="fastmath"):
        tt.njit(fastmath=True)(lambda x: x)


def test_a_lambda():
    f = tt.njit(lambda x: x * x + 1)
    assert f(3) == 10


def test_without_a_compiler_it_runs_as_python(tmp_path):
    import os
    import subprocess
    import sys

    script = tmp_path / "s.py"
    script.write_text("import tutti as tt\n@tt.njit\ndef f(x):\n    return x + 1\nprint(f(41))\n")
    env = dict(os.environ, TUTTI_CC="none", TUTTI_CACHE_DIR=str(tmp_path))
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, env=env, timeout=60)
    assert done.stdout == "42\n"
    assert "plain Python: no C compiler: TUTTI_CC=none" in done.stderr


def test_the_warning_says_why_a_compiler_was_given_up(tmp_path):
    import os
    import subprocess
    import sys

    cc = tmp_path / "cc"
    cc.write_text("#!/bin/sh\necho the disk >&2\necho is made of cheese >&2\nexit 3\n")
    cc.chmod(0o700)
    script = tmp_path / "s.py"
    script.write_text(
        "import numpy as np\nimport tutti as tt\nfrom tutti import cuda\n"
        "@tt.njit\ndef f(x):\n    return x + 1\n"
        "@cuda.jit\ndef k(a):\n    a[cuda.grid(1)] += 1\n"
        "a = np.zeros(2)\nprint(f(41))\nk[1, 2](a)\nprint(a.sum())\n"
        "import time\ntime.sleep(1.1)  # until it may be tried again; asking does not\nprint(tt.info())\n"
    )
    env = {"TUTTI_CC": str(cc), "TUTTI_CACHE_DIR": str(tmp_path), "TUTTI_JIT_TIER": "compiled", "TUTTI_DEVICE": "cpu"}
    env = os.environ | env
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, env=env, timeout=60)
    why = f"the C compiler does not work: {cc} failed with status 3: the disk is made of cheese\n"
    assert done.stdout.startswith("42\n2.0\n"), done.stderr
    assert f"f runs as plain Python: {why}" in done.stderr
    assert f"k runs in Python, one thread at a time: {why}" in done.stderr
    assert why[:-1] in done.stdout


def test_no_warning_else():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert tt.njit(lambda x: x)(1) == 1


INTERRUPTED = """
import signal, sys, threading, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever started us may have had it ignored
import numpy as np
import tutti as tt
from tutti import cuda

@tt.njit
def forever(x):
    while x >= 0:
        x += 1
        if x > 1000:
            x = 0
    return x

@cuda.jit
def spins(a):
    while a[0] == 0:
        a[1] += 1

@cuda.jit
def waits(a):
    while a[0] == 0:
        cuda.syncthreads()

a = np.zeros(4)
for work in (lambda: forever(1), lambda: spins[2, 4](a), lambda: waits[1, 4](a)):
    threading.Timer(0.3, lambda: signal.raise_signal(signal.SIGINT)).start()
    start = time.time()
    try:
        work()
    except KeyboardInterrupt:
        print("interrupted", time.time() - start < 20)
print(forever.py_func.__name__, tt.njit(lambda x: x + 1)(1))
"""


@pytest.mark.usefixtures("on_the_cpu")
@pytest.mark.parametrize("compiler", ["cc", "none"])
def test_ctrl_c_ends_endless_loops(tmp_path, compiler, monkeypatch):
    import subprocess
    import sys

    if compiler == "none":
        monkeypatch.setenv("TUTTI_CC", "none")
    script = tmp_path / "s.py"
    script.write_text(INTERRUPTED)
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=100)
    assert done.stdout == "interrupted True\n" * 3 + "forever 2\n", done.stderr


def test_arrays_without_axes_are_numbers_where_numbers_are_due():
    @tt.njit
    def f(n, x):
        total = 0.0
        for k in range(n):
            total += k
        return total + math.sqrt(x) + int(x) + max(x, 1)

    assert f(tt.int32(4), tt.float64(9.0)) == f(np.array(4), np.array(9.0)) == 6 + 3 + 9 + 9


def test_a_value_set_late_is_the_one_of_its_place():
    @tt.njit
    def turn(n, x, y, c):
        for _ in range(n):
            t = x * 0.5 - y * c
            y = y * 0.25 + x
            c = c * 0.5 + 0.125  # changes what t was made of
            x = t
        return x, y, c

    @tt.njit
    def tuples(n, a):
        x, y, z = 1.0, 2.0, 3.0
        for i in range(n):
            x, y, z = y * 0.5 + z, z - x * a[i], x * y
            if z > 4.0:
                continue
            x, y = y, x
        return x, y, z

    @tt.njit
    def leaves(n, x):
        for i in range(n):
            t = x * 1.5 + 1.0
            if t > 20.0:
                break
            if i == 3:
                x = x - 8.0
                continue
            x = t
        return x

    @tt.njit
    def elements(a):
        for i in range(a.size - 1):
            t = a[i] + a[i + 1]
            a[i] = 7.0
            x = t
            a[i + 1] = x
        return a[a.size - 1]

    same(turn, 9, 1.5, -0.75, 2.0)
    same(tuples, 8, np.linspace(0.1, 0.9, 8))
    for x in (0.0, 3.0, 30.0):
        same(leaves, 9, x)
    a, b = np.arange(6.0), np.arange(6.0)
    assert elements(a) == elements.py_func(b)
    assert (a == b).all()


def test_masked_turns_are_masked():
    @tt.njit
    def lcg(n, x):
        s = 0
        x = x + 5  # a parameter: its value comes from outside
        y = x
        for _ in range(n):
            y = (y * 1103515245 + 12345) % 2147483648
            s ^= y >> 3
        return s, y

    @tt.njit
    def mixed(n, seed):
        h = seed
        out = 0
        for i in range(n):
            h = ((h << 5) ^ (h + i) | (h & 12) - (-h)) & 0xFFFF
            if i % 3 == 0:
                h = h * 70001  # beyond the mask, and looked at
                out += h
            out += h // 7
            if h > 1 << 20:
                h = 1 << 20
        return h, out % 1000003

    @tt.njit
    def high_bits(n, seed):
        h = seed * 1
        for _ in range(n):
            h = (h * 31 + (h >> 4)) % 256  # not of the low bits alone
        return h

    for n, x in ((0, 1), (1, -7), (50, 12345), (50, -(2**40))):
        assert lcg(n, x) == lcg.py_func(n, x)
        assert high_bits(n, x) == high_bits.py_func(n, x)
    assert mixed(40, 77) == mixed.py_func(40, 77)


@pytest.mark.parametrize("dtype", ["i1", "i4", "i8", "f4", "f8", "u2"])
def test_swaps_of_neighbours(dtype):
    @tt.njit
    def bubbles(a):
        for i in range(a.size):
            for j in range(a.size - 1 - i):
                if a[j] > a[j + 1]:
                    a[j], a[j + 1] = a[j + 1], a[j]

    @tt.njit
    def named(a):
        for i in range(a.size):
            for j in range(a.size - 1 - i):
                if a[j + 1] > a[j]:
                    t = a[j]
                    a[j] = a[j + 1]
                    a[j + 1] = t

    @tt.njit
    def from_the_end(a):
        for i in range(a.size):
            for j in range(-1, -a.size + i, -1):
                if a[j] < a[j - 1]:
                    a[j], a[j - 1] = a[j - 1], a[j]

    @tt.njit
    def moving(a):  # the index moves between the two stores
        for i in range(a.size):
            j = 0
            for _ in range(a.size - 1 - i):
                if a[j] > a[1 + j]:
                    t = a[j]
                    a[j] = a[j + 1]
                    j += 1
                    a[j] = t
                else:
                    j += 1

    a = np.random.default_rng(3).integers(0, 100, 40).astype(dtype)
    b = a.copy()
    bubbles(a)
    named(b)
    assert (a == np.sort(b)).all() and (b == a[::-1]).all()
    for f in (from_the_end, moving, bubbles):
        c = np.random.default_rng(4).permutation(a)
        f(c)
        assert (c == a).all()
        every_other = np.zeros((a.size, 2), dtype)
        every_other[:, 1] = np.random.default_rng(5).permutation(a)
        f(every_other[:, 1])
        assert (every_other[:, 1] == a).all() and not every_other[:, 0].any()


def test_counts_and_extremes_are_remembered():
    """Both are written in forms of their own: a sum of the condition, and a jump."""

    def f(x, n):
        more, less, least, most, at = 0, np.int32(7), x[0], x[0], 0
        for i in range(x.size):
            if x[i] > 0.5:
                more += 3
            if x[i] < 0.25 or x[i] != x[i]:
                less -= np.int32(2)
            if x[i] < least:
                least = x[i]
            elif most < x[i]:
                most = x[i]
                at = i
            if n[i] > at:
                n[i] -= 1
        return more, less, least, most, at

    rng = np.random.default_rng(0)
    for x in (rng.random(1000), np.full(9, np.nan), np.array([0.0, -0.0, np.nan, 1.0, -1.0]), rng.integers(-9, 9, 99)):
        n = rng.integers(0, 50, x.size)
        want_n = n.copy()
        want = f(x, want_n)
        got = tt.njit(f)(x, n)
        assert np.array_equal([float(v) for v in got], [float(v) for v in want], equal_nan=True)
        assert np.array_equal(n, want_n)


def test_choices_of_a_value_by_itself():
    def f(n):
        longest, last = 0, 0
        for i in range(-n, n):
            steps, x = 0, i
            while x != 1 and steps < 200:
                x = 3 * x + 1 if x % 2 else x // 2
                x = (x & 1023) - 4 if x > 100000 else x * 1
                steps += 1
            longest = max(longest, steps)
            last ^= x
        return longest, last

    assert [int(v) for v in tt.njit(f)(300)] == list(f(300))
