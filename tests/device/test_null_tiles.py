"""Library steps that have no room on the simulated device: products by blocks, rows by rows, with the same results as
on the host, and nothing lost when a call fails."""

import pytest
from null_program import FAILS, run_program

PROGRAM = """
import numpy as np, tutti as tt
from tutti import _core

rng = np.random.default_rng(5)

def reals(*shape, dtype="f4"):
    return rng.integers(-8, 9, shape).astype(dtype)  # whole numbers: sums are exact in any order

# a name, operands, how they are looked at before the product
PRODUCTS = {
    "plain": (reals(700, 300), reals(300, 900)),
    "odd": (reals(701, 333), reals(333, 901)),
    "left by columns": (reals(300, 700).T, reals(300, 900)),
    "right by columns": (reals(700, 300), reals(900, 300).T),
    "both": (reals(300, 700).T, reals(900, 300).T),
    "steps": (reals(1400, 300)[::-2], reals(300, 1800)[:, ::2]),
    "parts": (reals(900, 400)[100:801, 50:350], reals(400, 1000)[50:350, 7:908]),
    "a long sum": (reals(20, 60_000), reals(60_000, 30)),
    "of itself": (reals(60_000, 20).T, reals(60_000, 20)),
    "tall": (reals(300_000, 5), reals(5, 3)),
    "wide": (reals(3, 5), reals(5, 300_000)),
    "one row": (reals(1, 2000), reals(2000, 1100)),
    "outer": (reals(1500, 1), reals(1, 1200)),
    "batch": (reals(160, 50, 70), reals(160, 70, 40)),
    "batch turned": (reals(160, 70, 50).transpose(0, 2, 1), reals(160, 40, 70).transpose(0, 2, 1)),
    "batch inside": (reals(50, 160, 70).transpose(1, 0, 2), reals(70, 40, 160).transpose(2, 0, 1)),
    "one for all": (reals(160, 50, 70), reals(70, 120)),
    "all for one": (reals(50, 70), reals(160, 70, 120)),
    "crossed": (reals(40, 1, 50, 70), reals(5, 70, 60)),
    "large in a batch": (reals(3, 400, 500), reals(3, 500, 600)),
    "int8": (reals(2500, 1000, dtype="i1"), reals(1000, 1700, dtype="i1")),
    "int64": (reals(400, 300, dtype="i8"), reals(300, 500, dtype="i8")),
    "int8, a long sum": (reals(20, 130_000, dtype="i1"), reals(130_000, 30, dtype="i1")),
    "bool, a long sum": (rng.random((20, 130_000)) < 1e-3, rng.random((130_000, 30)) < 1e-3),
    "float64": (reals(400, 300, dtype="f8"), reals(300, 500, dtype="f8")),
    "float16": (reals(900, 300, dtype="f2"), reals(300, 1200, dtype="f2")),
    "float16, a long sum": (reals(20, 100_000, dtype="f2"), (rng.random((100_000, 30)) < 0.01).astype("f2")),
    "complex64": (reals(400, 300) + 1j * reals(400, 300), (reals(300, 500) - 2j).astype("c8")),
    "complex128, a long sum": (reals(20, 9_000) + 1j * reals(20, 9_000, dtype="f8"), reals(9_000, 30) + 0j),
}

def product(name, device=None):
    a, b = (tt.asarray(x, copy=False) for x in PRODUCTS[name])
    y = a @ b
    return y.to(device) if device else y

def placed(name):
    a, b = (tt.array(x, device="null") for x in PRODUCTS[name])
    return a @ b

def counts(f):
    before = tt.ledger()
    y = f()
    after = tt.ledger()
    return y, {k: after[k] - before[k] for k in ("streamed", "pieces", "fallbacks")}

def check(name):
    a, b = PRODUCTS[name]
    wide = np.matmul(a.astype("f4"), b.astype("f4")).astype("f2") if a.dtype == "f2" else np.matmul(a, b)
    got, n = counts(lambda: product(name, "null").numpy())
    assert got.dtype == wide.dtype and np.array_equal(got, wide), name
    return n
"""


@pytest.mark.parametrize("memory", [2_600_000, 4 << 20])
def test_products(memory, turn):
    """The largest need several times what the device has; sums of whole numbers are exact, whatever their order."""
    out = run_program(
        PROGRAM,
        """
        for name in PRODUCTS:
            n = check(name)
            print(name, n["streamed"], n["pieces"], n["fallbacks"], sep=":")
        assert _core._device_memory(tt.device("null")._number)["max_allocated"] <= MEMORY
        """.replace("MEMORY", str(memory)),
        TUTTI_NULL_MEMORY=str(memory),
        TUTTI_NULL_SEED=str(1 + turn % 2),
    )
    seen = {line.split(":")[0]: [int(n) for n in line.split(":")[1:]] for line in out.splitlines()}
    for name in "plain, odd, steps, a long sum, of itself, batch, int8".split(", "):
        streamed, pieces, fallbacks = seen[name]
        assert streamed and pieces > 1 and not fallbacks, (name, seen[name])
    if memory < 3_000_000:
        assert all(streamed for streamed, _, _ in seen.values()), seen


def test_few_and_many_pieces():
    """The less the device has, the more pieces; with room for all there are none."""
    out = run_program(
        PROGRAM,
        """
        a, b = reals(600, 500), reals(500, 700)
        want = a @ b
        for limit in (64 << 20, 4_400_000, 3_800_000, 3_000_000, 2_200_000):
            _core._device_set_limit(tt.device("null")._number, limit)
            y = tt.asarray(a) @ tt.asarray(b)
            tt.eval(y.to("null"))
            got, n = counts(lambda: (tt.asarray(a, copy=False) @ tt.asarray(b, copy=False)).to("null"))
            text = tt.explain(got)
            assert np.array_equal(got.numpy(), want)
            print("no room for all" in text)
        """,
        TUTTI_NULL_MEMORY=str(64 << 20),
    )
    assert out.split() == ["False"] + ["True"] * 4


def test_programs_of_three_times_the_memory():
    """Operands that lie on the device stay, or move out, as there is room; what follows goes on."""
    run_program(
        PROGRAM,
        """
        a, b, c = reals(800, 700), reals(700, 900), reals(900, 600)
        want = np.maximum(a @ b, 0) @ c
        x, y, z = (tt.array(v, device="null") for v in (a, b, c))
        tt.eval(x * 2, y * 2)
        before = tt.ledger()
        got = tt.maximum(x @ y, 0) @ z
        assert np.allclose(got.numpy(), want) and got.device == "null:0"
        assert np.array_equal((got + got).numpy(), got.numpy() * 2)
        after = tt.ledger()
        assert after["streamed"] - before["streamed"] >= 2 and after["fallbacks"] == before["fallbacks"]
        for v, w in ((x, a), (y, b), (z, c)):
            assert np.array_equal(v.numpy(), w)
        """,
        TUTTI_NULL_MEMORY=str(4 << 20),
    )


FOLLOWED = """
def gelu(y, xp):
    return 0.5 * y * (1 + xp.tanh(0.7978845608 * (y + 0.044715 * y * y * y)))

A, B, V, W = reals(1500, 200), reals(200, 900), reals(900), reals(1500, 900)
A3, B3, W3 = reals(60, 100, 80), reals(60, 80, 120), reals(60, 100, 120)
A2, B2, V2 = (x.astype("f2") for x in (reals(1500, 900), reals(900, 1100) / 8, reals(1100)))
D1, D2 = reals(40, 60_000), reals(60_000, 30)
CASES = {
    "bias": lambda t, xp: t(A) @ t(B) + t(V),
    "part of a bias": lambda t, xp: t(A) @ t(B)[:, :500] + t(V)[100:600],
    "relu": lambda t, xp: xp.maximum(t(A) @ t(B), 0),
    "bias, relu": lambda t, xp: xp.maximum(t(A) @ t(B) + t(V), 0),
    "bias, gelu": lambda t, xp: gelu(t(A) @ t(B) + t(V), xp),
    "gelu": lambda t, xp: gelu(t(A) @ t(B), xp),
    "sum": lambda t, xp: t(A) @ t(B) + t(W),
    "sum of a batch": lambda t, xp: t(A3) @ t(B3) + t(W3),
    "bias of a batch": lambda t, xp: t(A3) @ t(B3) + t(V)[:120],
    "halves": lambda t, xp: t(A2) @ t(B2) + t(V2),
    "a long sum": lambda t, xp: t(D1) @ t(D2) + t(V)[:30],
    "something else": lambda t, xp: (t(A) @ t(B)) ** 2 + t(V),
}
"""


@pytest.mark.parametrize("memory", [2_600_000, 5 << 20])
def test_what_follows_a_product(memory):
    """A bias, a relu, a gelu and a sum are done to the tiles: no pass of their own."""
    out = run_program(
        PROGRAM,
        FOLLOWED,
        """
        for name, f in CASES.items():
            want = f(lambda a: a.astype("f4"), np)
            got, n = counts(lambda: f(lambda a: tt.asarray(a, copy=False), tt).numpy())
            close = 1e-2 if got.dtype == "f2" else 1e-5
            assert got.dtype == (A2 if name == "halves" else A).dtype, name
            assert np.allclose(got, want, rtol=close, atol=close), name
            print(name, n["streamed"], n["fallbacks"], sep=":")
        """,
        TUTTI_NULL_MEMORY=str(memory),
        TUTTI_DEVICE="null:0",
    )
    seen = dict(line.split(":", 1) for line in out.splitlines())
    assert all(n.endswith(":0") for n in seen.values()), seen
    # What is added to all of it takes room of the tiles: with very little that costs more than a pass.
    sums = ", sum, sum of a batch" if memory > 4 << 20 else ""
    for name in f"bias, part of a bias, relu, gelu, bias of a batch{sums}".split(", "):
        assert seen[name] == "1:0", (name, seen)
    assert seen["something else"] == "2:0", seen


def test_nothing_to_do():
    run_program(
        PROGRAM,
        """
        for m, k, n in ((0, 5, 7), (5, 0, 7), (5, 7, 0), (1, 1, 1), (0, 0, 0)):
            a, b = reals(m, k), reals(k, n)
            assert np.array_equal((tt.asarray(a) @ tt.asarray(b)).to("null").numpy(), a @ b)
        a, b = reals(0, 600, 500), reals(600, 500)
        assert tt.matmul(tt.asarray(a), tt.asarray(b.T)).to("null").shape == (0, 600, 600)
        """,
        TUTTI_NULL_MEMORY=str(3 << 20),
    )


@pytest.mark.parametrize("name", ["odd", "a long sum", "batch"])
@pytest.mark.parametrize("kind", ["device memory", "launch", "copy", "memory"])
def test_failing_calls(kind, name):
    """The n-th call fails: an error, or the work is done another way; the same values come out the next time."""
    run_program(
        PROGRAM,
        FAILS,
        f"""
        want = product("{name}").numpy()
        calls = [*range(10), *range(10, 150, 13)]
        fails("{kind}", lambda: placed("{name}"), lambda y: np.array_equal(y.numpy(), want), calls)
        """,
        TUTTI_NULL_MEMORY=str(2_600_000),
    )


def test_a_device_lost_on_the_way():
    run_program(
        PROGRAM,
        """
        want = product("odd").numpy()
        y = placed("odd")
        _core._test_fail("device loss", 2, False)
        for turn in range(2):
            try:
                y.numpy()
            except RuntimeError as e:
                assert "null:0 is lost" in str(e)
            else:
                raise AssertionError("no error")
        assert np.array_equal(product("odd").numpy(), want)
        """,
        TUTTI_NULL_MEMORY=str(2_600_000),
    )


def test_other_threads_work_meanwhile():
    run_program(
        PROGRAM,
        """
        import threading
        failed = []
        def work(k):
            try:
                for turn in range(2):
                    check(["plain", "batch", "steps", "a long sum"][(k + turn) % 4])
            except BaseException as e:
                failed.append(repr(e))
        threads = [threading.Thread(target=work, args=(k,)) for k in range(3)]
        for t in threads: t.start()
        for t in threads: t.join()
        assert not failed, failed
        """,
        TUTTI_NULL_MEMORY=str(2_600_000),
    )


ROWS = """
import numpy as np, tutti as tt

rng = np.random.default_rng(2)
M = rng.standard_normal((300, 2503)).astype("f4")
M[5, 7:20] = np.nan
M[6, ::3] = 0.0
M[6, 1::3] = -0.0
I = rng.integers(-50, 50, (3, 70, 2503)).astype("i2")
"""


def test_rows():
    """Rows that are sorted each for itself come in pieces between rows."""
    run_program(
        ROWS,
        """
        for a in (M, I, M[::2], np.ascontiguousarray(M.T)):
            for f, want in ((tt.sort, np.sort(a, kind="stable")), (tt.argsort, np.argsort(a, kind="stable"))):
                before = tt.ledger()
                got = f(tt.asarray(a, copy=False)).to("null").numpy()
                after = tt.ledger()
                assert got.dtype == want.dtype and got.tobytes() == want.tobytes()
                if a is M:
                    assert after["streamed"] > before["streamed"] and after["fallbacks"] == before["fallbacks"]
        """,
        TUTTI_NULL_MEMORY=str(3 << 20),
    )
