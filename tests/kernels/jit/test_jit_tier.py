"""First code against the compiler's: the same bits, the same errors, and the same when a call goes over half way."""

import itertools
import math
import os
import pathlib
import subprocess
import sys
import threading

import numpy as np
import pytest
import tutti as tt
from jit_programs import program
from tutti import _core

pytestmark = [
    pytest.mark.usefixtures("on_the_cpu"),
    pytest.mark.skipif(os.uname().machine != "x86_64", reason="baseline code is for x86-64"),
    pytest.mark.skipif("no C compiler" in tt.info(), reason="no C compiler"),
]

INTS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]
LAYOUTS = [
    lambda a: a,
    lambda a: a[::-1].copy()[::-1],
    lambda a: np.asfortranarray(a) if a.ndim > 1 else np.repeat(a, 3)[::3],
]


def copied(a):
    """Its own memory, in the same order."""
    if not isinstance(a, np.ndarray):
        return a
    order = [int(k) for k in np.argsort([-abs(s) for s in a.strides], kind="stable")]
    flip = tuple(slice(None, None, -1 if s < 0 else 1) for s in a.strides)
    return a[flip].transpose(order).copy().transpose(np.argsort(order))[flip]


def plain(value):
    """Something equal for equal bits; a NaN is a NaN."""
    if isinstance(value, np.ndarray):
        value = np.where(np.isnan(value), np.array(np.nan, value.dtype), value) if value.dtype.kind == "f" else value
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, float):
        return "nan" if value != value else value.hex()
    return type(value).__name__, value


def outcome(f, args):
    args = [copied(a) for a in args]
    try:
        result = plain(f(*args))
    except (ZeroDivisionError, ValueError, AssertionError, IndexError) as error:
        result = type(error).__name__, str(error)
    return result, [plain(a) for a in args if isinstance(a, np.ndarray)]


@pytest.fixture
def ways(monkeypatch):
    """Run a function over lists of arguments by baseline code, by the compiler's, and going over at some turns."""

    def made(fn, mode, names):
        monkeypatch.setenv("TUTTI_JIT_TIER", mode)
        if names and "h" in names:
            names["h"] = tt.njit(getattr(names["h"], "py_func", names["h"]))
        return tt.njit(fn)

    def check(fn, lists, turns=(), names=None):
        f = made(fn, "only", names)
        first = [outcome(f, args) for args in lists]
        f = made(fn, "compiled", names)
        want = [outcome(f, args) for args in lists]
        assert first == want
        if turns:
            f = made(fn, "osr:1", names)
        for k in turns:
            monkeypatch.setenv("TUTTI_JIT_TIER", f"osr:{k}")
            assert [outcome(f, args) for args in lists] == want, k
        return want

    return check


def edges(dtype):
    if dtype == "?":
        return np.array([False, True])
    if dtype[0] in "iu":
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        return np.array([low, low + 1, high, high - 1, 0, 1, 2, 3, 7, 63 if high > 63 else 5], dtype)
    values = [0.0, -0.0, 1.0, -1.5, 0.1, np.inf, -np.inf, np.nan, 1e30, -1e-30, 2.0**31, -(2.0**63), 2.0**63, 300.7]
    return np.array(values, dtype)


def pairs(x, y, z, o):
    for i in range(x.size // 2):
        o[0, 2 * i] = x[2 * i] * y[2 * i] - z[2 * i]
        o[0, 2 * i + 1] = x[2 * i + 1] * y[2 * i + 1] + z[2 * i + 1]


def squares(x, y, z, o):
    for i in range(x.size // 2):
        o[0, 2 * i] = x[2 * i] ** 2 - z[2 * i]
        o[0, 2 * i + 1] = x[2 * i + 1] ** 2 + z[2 * i + 1]


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("fn", [pairs, squares])
def test_results_stored_side_by_side_are_not_fused(ways, fn, dtype):
    """A compiler's loops over a difference and a sum of products: gcc 12 rounds them once, contracted or not."""
    x, y, z = np.random.default_rng(3).normal(size=(3, 600)).astype(dtype)
    ways(fn, [(x, y, z, np.zeros((1, 600), dtype))])


# ---- operators


def arithmetic(a, b, o):
    for i in range(a.size):
        for j in range(b.size):
            x = a[i]
            y = b[j]
            o[0, i, j] = x + y
            o[1, i, j] = x - y
            o[2, i, j] = x * y
            o[3, i, j] = min(x, y)
            o[4, i, j] = max(x, y)
            o[5, i, j] = -x
            o[6, i, j] = abs(y)
            if y != 0:
                o[7, i, j] = x // y
                o[8, i, j] = x % y
            o[9, i, j] = x if x < y else y


def bits(a, b, o):
    for i in range(a.size):
        for j in range(b.size):
            x = a[i]
            y = b[j]
            o[0, i, j] = x & y
            o[1, i, j] = x | y
            o[2, i, j] = x ^ y
            o[3, i, j] = ~x
            o[4, i, j] = x << 3
            o[5, i, j] = x >> 3
            o[6, i, j] = x << (y & 63)
            o[7, i, j] = x >> (y & 63)
            o[8, i, j] = x // 8
            o[9, i, j] = x % 8


def comparisons(a, b, o):
    for i in range(a.size):
        for j in range(b.size):
            x = a[i]
            y = b[j]
            o[0, i, j] = x < y
            o[1, i, j] = x <= y
            o[2, i, j] = x > y
            o[3, i, j] = x >= y
            o[4, i, j] = x == y
            o[5, i, j] = x != y
            o[6, i, j] = x < y and x != 1
            o[7, i, j] = x > y or y == 0
            o[8, i, j] = not x == y
            if not (x <= y):
                o[9, i, j] = True
            if x != y:
                o[9, i, j] = not o[9, i, j]


@pytest.mark.parametrize("dtype", [*INTS, "?", "f4", "f8"])
@pytest.mark.parametrize("fn", [arithmetic, bits, comparisons])
def test_operators_at_the_edges(ways, fn, dtype):
    if fn is bits and dtype[0] == "f":
        pytest.skip("floats have no such operators")
    a = edges(dtype)
    out = np.zeros((10, a.size, a.size), "?" if fn is comparisons else dtype)
    for layout in LAYOUTS:
        ways(fn, [(layout(a), layout(a), out)])


def test_least_value_by_minus_one(ways):
    def quotient(a, b):
        return a // b

    def rest(a, b):
        return a % b

    least = -(2**63)
    lists = [(x, y) for x in (least, least + 1, -7, 7, 0) for y in (-1, 1, 2, -2, 3, 0)]
    got = ways(quotient, lists)
    assert got[0][0] == ("int", least)
    assert got[5][0][0] == "ZeroDivisionError"
    ways(rest, lists)


@pytest.mark.parametrize("to", [*INTS, "?", "f4", "f8"])
def test_casts_from_every_type(ways, to):
    def f(a, o):
        for i in range(a.size):
            o[i] = a[i]

    for source in [*INTS, "?", "f4", "f8"]:
        a = edges(source)
        ways(f, [(a, np.zeros(a.size, to))])


def elementary(a, o):
    for i in range(a.size):
        x = a[i]
        o[0, i] = np.exp(x)
        o[1, i] = np.sin(x)
        o[2, i] = np.cos(x * 3)
        o[3, i] = np.log(abs(x))
        o[4, i] = np.sqrt(abs(x))
        o[5, i] = np.floor(x)
        o[6, i] = np.ceil(x)
        o[7, i] = np.rint(x)
        o[8, i] = np.trunc(x)
        o[9, i] = np.tanh(x)
        o[10, i] = np.arctan2(x, 0.5)
        o[11, i] = np.hypot(x, x)
        o[12, i] = np.copysign(x, -1.0)
        o[13, i] = np.nextafter(x, 0.0)
        o[14, i] = abs(x) ** 1.5
        o[15, i] = x**2
        o[16, i] = np.sign(x)
        o[17, i] = np.isnan(x)
        o[18, i] = np.isinf(x)
        o[19, i] = np.signbit(x)
        o[20, i] = np.maximum(x, 0.0)
        o[21, i] = np.fmin(x, 0.0)
        o[22, i] = math.erf(x)
        o[23, i] = math.ldexp(x, 3)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_functions_give_the_same_bits(ways, dtype):
    a = np.concatenate([edges(dtype), np.linspace(-9, 9, 50).astype(dtype)])
    ways(elementary, [(a, np.zeros((24, a.size), dtype))])


def test_indices_from_both_ends(ways):
    def f(a, o, k):
        n = 0
        for i in range(-a.shape[0], a.shape[0]):
            for j in range(-a.shape[1], a.shape[1] - 2):
                o[n] = a[i, j] + a[i, j + 2] * 3 + a[-1, 0] + a[i, k]
                n += 1
        return a[k, k]

    a = np.arange(35.0).reshape(5, 7)
    for layout in (*LAYOUTS, lambda a: np.arange(140.0).reshape(10, 14)[::-2, ::2]):
        for k in (-2, 0, 3):
            ways(f, [(layout(a), np.zeros(200), k)], turns=(1, 40))


def parts(a, i, j, by):
    row = a[i]
    column = a[:, j]
    inner = a[1:-1, ::by]
    turned = row[::-1]
    wide = column[:, None]
    s = 0.0
    for k in range(inner.shape[0]):
        row = inner[k]
        for n in range(row.size):
            s = s * 0.5 + row[n]
        inner[k, 0] = s
    for k in range(turned.size):
        s += turned[k] * k
    return s, inner.shape[1], wide[0, 0] + column[-1], len(row)


def test_parts_of_arrays(ways):
    a = np.arange(35.0).reshape(5, 7)
    for layout in (*LAYOUTS, lambda a: np.arange(140.0).reshape(10, 14)[::-2, ::2]):
        for i, j, by in ((0, 0, 1), (-1, 3, 2), (2, -7, -1), (4, 6, -3), (1, 1, 100)):
            ways(parts, [(layout(a), i, j, by)], turns=(1, 4, 9))


def made(n, m, x):
    a = np.zeros((n, m))
    b = np.empty(m, np.int32)
    c = np.ones_like(a)
    for i in range(n):
        for j in range(m):
            a[i, j] += x * i - j
            b[j] = i + j
    d = a * 2 + c
    d += np.sqrt(np.abs(c[0])) * b
    return d, b, a[0], x, n


def test_new_arrays(monkeypatch):
    for n, m in ((3, 4), (1, 1), (2, 0)):
        d, b, row, x, k = made(n, m, 1.5)
        for mode in ("only", "compiled", "osr:1", "osr:5"):
            monkeypatch.setenv("TUTTI_JIT_TIER", mode)
            got = tt.njit(made)(n, m, 1.5)
            assert [plain(v) for v in got[:3]] == [plain(v) for v in (d, b, row)] and got[3:] == (1.5, n), mode


def pairs(t, n):
    a = (n, 0.5)
    for i in range(n):
        a = (int(a[1] * 4) + i, a[0] * 0.25 + t[1])
    return a[0], a[1], t[0]


def test_tuples_of_numbers(ways):
    ways(lambda t, n: t[0] + t[1] * n, [((1, 2.5), 3), ((True, np.float32(0.1)), 2)])
    ways(pairs, [((1, 2.5), 6)], turns=range(1, 8))


def test_lengths_that_cannot_be(ways):
    def sized(n):
        return np.zeros((n, n)).size

    assert ways(sized, [(3,)])[0][0] == ("int", 9)
    for n in (-1, 2**40):
        with pytest.raises(MemoryError, match="out of memory, or a negative length"):
            ways(sized, [(n,)])


# ---- control flow, and going over at each turn


def nested(n, a):
    s = 0
    for i in range(n):
        if i == 3:
            continue
        for j in range(i, -2, -1):
            s = s * 3 + j
            k = 0
            while k < j:
                k += 2
                if k == 4:
                    break
                a[k % 5] += s
            more = 7
            s += more
        if s > 10**12:
            for j in range(2):
                s -= j
        else:
            for j in range(3, n, i + 1):
                a[j % 5] -= 1
                if a[0] == -100:
                    return -1
    i += 100
    return s + i + j


def searched(a, x):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            if a[i, j] == x:
                return i * 100 + j
    return -1


def collatz(n):
    most = 0
    for i in range(1, n):
        x = i
        steps = 0
        while x != 1:
            x = x // 2 if x % 2 == 0 else 3 * x + 1
            steps += 1
        most = max(most, steps)
    return most


def narrow(a):
    s = np.float32(0)
    big = 0.0
    for i in range(a.size):
        s += a[i] * a[i]
        if s > 2:
            big += s
        s = s if s < 4 else s - np.float32(4)
    return big + s


@pytest.mark.parametrize(
    "fn, args",
    [
        (nested, (6, np.zeros(5, np.int64))),
        (nested, (1, np.zeros(5, np.int64))),
        (searched, (np.arange(12).reshape(3, 4), 10)),
        (searched, (np.arange(12).reshape(3, 4), 99)),
        (collatz, (12,)),
        (narrow, (np.linspace(0, 1, 30, dtype="f4"),)),
    ],
)
def test_a_call_goes_over_at_any_turn(ways, fn, args):
    ways(fn, [args], turns=range(1, 90))


def inner(n, x):
    s = x
    for i in range(n):
        s = s * 1.5 - i
        if s > 1e6:
            return s * 0.5
    return s


def outer(n):
    s = 0.0
    for i in range(n):
        s += inner(i, s) + inner(2, float(i))
    return s


def test_going_over_inside_a_call(ways, monkeypatch):
    monkeypatch.setitem(globals(), "inner", tt.njit(inner))
    ways(outer, [(9,), (0,), (40,)], turns=range(1, 60))


def test_errors_say_the_same(ways):
    def ratio(a, b):
        s = 0.0
        for i in range(a.size):
            s += a[i] / b[i]
        return s

    def step(n, by):
        s = 0
        for i in range(0, n, by):
            s += i
        return s

    def root(x):
        return math.sqrt(x) + math.log(x)

    def claim(x):
        assert x > 0, "it is small"
        return x

    a = np.arange(5.0)
    got = ways(ratio, [(a, a), (a, a + 1)], turns=(1, 2, 3))
    assert tuple(got[0][0][:2]) == ("ZeroDivisionError", "division by zero")
    assert ways(step, [(9, 2), (9, 0), (9, -1)], turns=(1, 2))[1][0][0] == "ValueError"
    ways(root, [(4.0,), (-1.0,), (0.0,), (float("nan"),)])
    assert ways(claim, [(1,), (0,)])[1][0][0] == "AssertionError"


def test_random_programs(ways):
    taken = 0
    for seed in range(30):
        text, names, arguments = program(seed)
        try:
            ways(names["f"], [arguments(k) for k in range(4)], (1, 2, 3, 4, 5, 7, 11, 18), names)
            taken += 1
        except (NotImplementedError, TypeError):
            continue  # beyond baseline code, or beyond the language
        except AssertionError as error:
            raise AssertionError(text) from error
    assert taken >= 15


def test_the_loops_of_the_bench_are_taken(monkeypatch):
    monkeypatch.syspath_prepend(str(pathlib.Path(__file__).parents[3] / "bench"))
    import loops

    for fn, arguments in loops.PROGRAMS.values():
        monkeypatch.setenv("TUTTI_JIT_TIER", "only")
        args = arguments()
        got = tt.njit(fn)(*args)
        monkeypatch.setenv("TUTTI_JIT_TIER", "compiled")
        again = arguments()
        want = tt.njit(fn)(*again)
        if fn.__name__ != "monte_carlo":
            assert plain(got) == plain(want)
            assert [plain(a) for a in args] == [plain(a) for a in again]
        else:
            assert abs(got - want) < 0.05


# ---- settings, faults, threads, processes


@pytest.mark.parametrize("value", [np.float16(1.5), 2 + 1j, np.ones(3, "f2"), np.ones(3, "c8")], ids=str)
def test_types_that_are_not_known_wait_for_the_compiler(monkeypatch, value):
    def g(x, n):
        s = 0.0
        for _ in range(n):
            s += abs(x)
        return s

    def h(x, n):
        s = 0.0
        for _ in range(n):
            s += abs(x[0])
        return s

    fn = h if isinstance(value, np.ndarray) else g
    monkeypatch.setenv("TUTTI_JIT_TIER", "compiled")
    want = tt.njit(fn)(value, 5)
    monkeypatch.setenv("TUTTI_JIT_TIER", "baseline")
    assert tt.njit(fn)(value, 5) == want
    monkeypatch.setenv("TUTTI_JIT_TIER", "only")
    with pytest.raises(NotImplementedError, match="baseline code declines"):
        tt.njit(fn)(value, 5)


def test_what_is_declined_says_why(monkeypatch):
    monkeypatch.setenv("TUTTI_JIT_TIER", "only")
    with pytest.raises(NotImplementedError, match="baseline code declines"):
        tt.njit(lambda x: x * 1j)(2.0)
    monkeypatch.setenv("TUTTI_JIT_TIER", "baseline")
    assert tt.njit(lambda x: x * 1j)(2.0) == 2j
    monkeypatch.setenv("TUTTI_JIT_TIER", "only")
    with pytest.raises(NotImplementedError, match="indices are checked"):
        tt.njit(boundscheck=True)(lambda x: x + 1)(2)


@pytest.mark.parametrize("mode", ["only", "osr:2", "auto"])
def test_the_nth_allocation_fails(monkeypatch, mode):
    monkeypatch.setenv("TUTTI_JIT_TIER", mode)
    failed = 0
    for n in itertools.count():
        f = tt.njit(nested)
        a = np.zeros(5, np.int64)
        _core._test_fail("memory", n, False)
        try:
            got = f(5, a)
        except (MemoryError, NotImplementedError):
            got = None
            failed += 1
        _, fired = _core._test_calls("memory")
        _core._test_fail("memory", -1, False)
        assert got in (None, nested(5, np.zeros(5, np.int64)))
        if not fired:
            break
    assert failed > 20 and got is not None


def test_memory_that_may_not_run(monkeypatch):
    monkeypatch.setenv("TUTTI_JIT_TIER", "baseline")
    _core._test_fail("load", 0, False)
    try:
        assert tt.njit(collatz)(10) == collatz(10)
    finally:
        _core._test_fail("load", -1, False)


@pytest.mark.parametrize("mode", ["auto", "osr:5"])
def test_many_threads_call_at_once(monkeypatch, tmp_path, mode):
    monkeypatch.setenv("TUTTI_JIT_TIER", mode)
    monkeypatch.setenv("TUTTI_CACHE_DIR", str(tmp_path))
    f = tt.njit(collatz)
    got = []
    threads = [threading.Thread(target=lambda: got.extend(f(3000) for _ in range(20))) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert got == [collatz(3000)] * 160


LONG = """
@tt.njit
def f(n, a):
    s = 0
    for i in range(n):
        s = (s * 31 + i) % 1000003
        a[i % 8] += s
    return s
"""


@pytest.fixture
def run(tmp_path):
    def run(text, mode="auto"):
        path = tmp_path / "s.py"
        path.write_text("import numpy as np, tutti as tt, os, sys, time\n" + LONG + text)
        env = {**os.environ, "TUTTI_CACHE_DIR": str(tmp_path / "cache"), "TUTTI_JIT_TIER": mode}
        done = subprocess.run([sys.executable, path], env=env, capture_output=True, text=True, timeout=200)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def test_a_long_first_call_goes_over_by_itself(run):
    """Whatever it is made of at its end, it is right; the second call is the compiler's."""
    text = "a, b = np.zeros(8, 'i8'), np.zeros(8, 'i8')\n"
    text += "s = f(200_000_000, a)\nt = f(200_000_000, b)\nprint(s == t, (a == b).all())\n"
    assert run(text) == "True True\n"


def test_a_child_of_fork_goes_on(run):
    text = """
a = np.zeros(8, 'i8')
want = f(1000, a)
pid = os.fork()
end = time.time() + 3
while time.time() < end:
    assert f(1000, a) == want
if pid == 0:
    os._exit(0)
print(os.waitpid(pid, 0)[1])
"""
    assert run(text) == "0\n"


@pytest.mark.parametrize("mode", ["only", "auto"])
def test_ctrl_c_ends_a_loop_without_end(run, mode):
    text = """
import signal, threading
signal.signal(signal.SIGINT, signal.default_int_handler)
@tt.njit
def forever(x):
    while x >= 0:
        x = x + 1 if x < 1000 else 0
    return x
threading.Timer(0.5, lambda: signal.raise_signal(signal.SIGINT)).start()
try:
    forever(1)
except KeyboardInterrupt:
    print("interrupted")
"""
    assert run(text, mode) == "interrupted\n"
