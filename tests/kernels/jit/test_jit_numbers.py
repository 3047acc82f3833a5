"""Numbers in compiled functions: Python's arithmetic, NumPy's scalars, what a name holds after it was assigned to."""

import math
import random
import threading

import numpy as np
import pytest
import tutti as tt

DIGITS = [
    (1e300, 12), (2.675, 2), (2.665, 2), (0.5, 0), (1.5, 0), (2.5, 0), (-2.675, 2), (1234.5, -2), (1250.0, -2),
    (25.0, -1), (35.0, -1), (-15.0, -1), (5e-324, 3), (1e22, -22), (0.1, 17), (1 / 3, 16), (4503599627370497.5, 0),
    (1e15 + 0.3, 1), (-0.0, 2), (math.inf, 2), (8.0, 400), (8.0, -400), (5.015, 2), (1.005, 2), (1e16 + 2, 1),
    (9.995, 2), (0.05, -5), (-2.0, -1),
]  # fmt: skip


@pytest.mark.parametrize("x,n", DIGITS)
def test_round_to_digits_is_pythons(x, n):
    @tt.njit
    def f(x, n):
        return round(x, n)

    assert math.copysign(1, f(x, n)) == math.copysign(1, round(x, n))
    assert f(x, n) == round(x, n)


def test_round_of_random_numbers_is_pythons():
    @tt.njit
    def f(x, n):
        return round(x, n)

    rng = np.random.default_rng(7)
    for _ in range(3000):
        n = int(rng.integers(-8, 12))
        x = float(rng.integers(-(10**6), 10**6)) / 2 / 10**n if n > 0 else float(rng.integers(-(10**9), 10**9)) / 2
        x *= float(10 ** int(rng.integers(0, 3)))
        assert f(x, n) == round(x, n), (x, n)


def test_math_of_whole_numbers_is_of_floats():
    @tt.njit
    def f(a, b):
        return math.remainder(a, b), math.fmod(a, b), math.copysign(a, b), math.hypot(a, b), math.fabs(a)

    for a, b in ((5, 3), (-5, 3), (7, 2), (5, -3), (9, 6)):
        want = [getattr(math, w)(a, b) for w in ("remainder", "fmod", "copysign", "hypot")]
        assert f(a, b) == (*want, math.fabs(a))
        assert all(type(x) is float for x in f(a, b))
        assert f(a + 0.25, b)[:2] == (math.remainder(a + 0.25, b), math.fmod(a + 0.25, b))
    assert all(map(math.isnan, f(0, 0)[:2]))
    assert f(5.0, math.inf)[0] == 5.0


def test_minus_and_invert_keep_the_width_of_numpys_scalars():
    @tt.njit
    def f(x):
        return -x, ~x

    for x in (np.uint8(1), np.uint16(3), np.uint32(1), np.uint64(1)):
        width = 8 * x.itemsize
        assert f(x) == ((-int(x)) % 2**width, ~int(x) % 2**width)
    assert f(np.int32(5)) == (-5, -6)
    assert tt.njit(lambda: -np.uint32(1))() == 2**32 - 1


def test_written_numbers_are_computed_as_python_does():
    assert tt.njit(lambda: 1 << 63)() == 1 << 63
    assert tt.njit(lambda: (1 << 64) - 1)() == 2**64 - 1
    assert tt.njit(lambda: ~(1 << 40) * 2)() == ~(1 << 40) * 2
    with pytest.raises(OverflowError, match="beyond 64 bits\n.*line"):
        tt.njit(lambda: 1 << 63 << 1)()


def test_lambdas_side_by_side_are_told_apart():
    k = 3
    fs = [tt.njit(lambda a: math.floor(a) + k), tt.njit(lambda a: math.floor(a) - k)]
    assert [f(7.5) for f in fs] == [10, 4]
    assert tt.njit(lambda a: (tt.njit(lambda b: b * 2), a)[1])  # another inside: both have their own source


def test_a_parameter_whose_name_gets_another_type():
    @tt.njit
    def f(x):
        x += 0.5
        return x

    @tt.njit
    def g(x, n):
        for _ in range(n):
            x = x * 0.5
        return x

    @tt.njit
    def h(x, y):
        return g(x, y) + x

    assert f(3) == 3.5
    assert g(3, 3) == 0.375
    assert g(3, 0) == 3.0
    assert h(3, 2) == 3.75


def test_a_signature_that_does_not_fit_is_a_type_error():
    number = tt.jit("float64(float64)")(lambda x: x + 1)
    array = tt.jit("float64(float64[:])")(lambda a: a[0])
    assert number(2) == 3.0
    assert array(np.ones(2)) == 1.0
    with pytest.raises(TypeError, match="where the signature says float64"):
        number(np.ones(2))
    for bad in (np.ones(2, "i8"), np.ones((2, 2)), 1.0):
        with pytest.raises(TypeError, match=r"where the signature says array\(float64, 1d\)"):
            array(bad)
    with pytest.raises(TypeError):
        number(1, 2)


def test_a_grid_that_nobody_waits_for():
    @tt.cuda.jit
    def f(a):
        tt.cuda.cg.this_grid()
        a[tt.cuda.grid(1)] = 1

    a = np.zeros(4)
    f[2, 2](a)
    tt.cuda.synchronize()
    assert a.tolist() == [1.0] * 4


def test_seeded_numbers_are_numpys():
    @tt.njit
    def seed(n):
        np.random.seed(n)

    @tt.njit
    def several():
        a, b = np.random.rand(), np.random.random()
        c, d, e = np.random.normal(), np.random.normal(2.0, 3.0), np.random.randn()
        f, g, h = np.random.randint(0, 10), np.random.randint(5), np.random.randint(-(2**40), 2**41)
        return a, b, c, d, e, f, g, h, np.random.uniform(-1.0, 3.0), np.random.standard_normal()

    @tt.njit
    def mean(n):
        np.random.seed(7)
        s = 0.0
        for _ in range(n):
            s += np.random.random_sample() * np.random.randint(1, 3)
        return s / n

    for n in (0, 1, 2**31, 2**32 - 1):
        np.random.seed(n)
        seed(n)
        for _ in range(3):
            assert several() == several.py_func()
    want = mean.py_func(1000)
    assert mean(1000) == want == mean(1000)


def test_pythons_random_numbers_have_a_state_of_their_own():
    @tt.njit
    def f(n):
        np.random.seed(n)
        random.seed(n)
        a = random.random()
        return a, np.random.random(), random.random()

    first, second = f(3), f(3)
    assert first == second
    np.random.seed(3)
    assert first[1] == np.random.random()


def test_seeds_are_of_the_thread():
    @tt.njit
    def seed(n):
        np.random.seed(n)

    @tt.njit
    def draw():
        return np.random.random()

    def work(n):
        seed(n)
        got[n] = [draw() for _ in range(200)]

    got = {}
    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for n in range(4):
        np.random.seed(n)
        assert got[n] == np.random.random(200).tolist()


def test_a_parallel_loop_is_as_its_seed_says():
    @tt.njit(parallel=True)
    def f(n):
        np.random.seed(11)
        s = 0.0
        for _ in tt.prange(n):
            s += np.random.random()
        return s, np.random.random()

    assert f(5000) == f(5000)


def test_types_of_ufuncs_without_signatures():
    @tt.vectorize
    def f(x, y):
        return x * y

    @tt.guvectorize("(n),()->(n)")
    def g(x, y, out):
        for i in range(x.shape[0]):
            out[i] = x[i] + y

    assert f.types == g.types == []
    assert f(3, 4) == 12 and f(1.0, 2.0) == 2.0 and f(1, 2.5) == 2.5
    assert f.types == f.ufunc.types == ["ll->l", "dd->d"] and f.ntypes == 2 and f.nargs == 3
    g(np.arange(3), 2, np.zeros(3, np.int64))
    g(np.arange(3.0), 2.5)
    assert g.types == ["ll->l", "dd->d"]
