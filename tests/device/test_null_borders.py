"""Stores into other memory than they read: what they leave is copied once, and found again in blocks that died since.
All on the simulated device, whose memory is full of NaNs where nobody wrote."""

from null_program import run_program

START = """
import numpy as np, tutti as tt

def sweep(v):
    v[1:-1, 1:-1] = np.float32(0.25) * (v[1:-1, :-2] + v[1:-1, 2:] + v[:-2, 1:-1] + v[2:, 1:-1])

def kept():
    return tt.ledger()["borders_kept"]

rng = np.random.default_rng(7)
a = rng.random((40, 50), dtype=np.float32)
x = tt.asarray(a, device="null:0")
tt.eval(x)
"""


def test_sweeps_copy_the_border_at_first_alone():
    run_program(
        START,
        """
        v, w = x.copy(), a.copy()
        for _ in range(30):
            sweep(v), sweep(w)
        assert np.array_equal(v.numpy(), w)
        assert kept() >= 27, kept()
        for _ in range(10):
            sweep(v), sweep(w)
            tt.eval(v)
        assert kept() >= 36, kept()
        assert np.array_equal(v.numpy(), w) and np.array_equal(x.numpy(), a)
        """,
    )


def test_a_border_that_was_written_is_copied_again():
    run_program(
        START,
        """
        v, w = x.copy(), a.copy()
        for k in range(40):
            sweep(v), sweep(w)
            if k % 3 == 0:
                v[0, :] = k
                w[0, :] = k
            if k % 5 == 0:
                v[2:-3, 0] += v[2:-3, 1]
                w[2:-3, 0] += w[2:-3, 1]
            if k % 4 == 0:
                tt.eval(v)
            if k % 7 == 0:
                assert np.array_equal(v.numpy(), w), k
        assert np.array_equal(v.numpy(), w)
        """,
    )


def test_values_that_somebody_holds_stay():
    run_program(
        START,
        """
        v, w, held = x.copy(), a.copy(), []
        for k in range(24):
            sweep(v), sweep(w)
            if k % 3 == 0:
                held.append((v.copy(), w.copy()))
            if k % 4 == 0:
                held.append((v[3:9].copy() * 2, w[3:9].copy() * 2))
            if k % 5 == 0:
                tt.eval(v)
            if k % 11 == 0:
                del held[::2]
        assert all(np.array_equal(p.numpy(), q) for p, q in held + [(v, w)])
        """,
    )


def test_any_stores_in_any_order():
    run_program(
        START,
        """
        for seed in range(60):
            rng = np.random.default_rng(seed)
            n, m = rng.integers(3, 40, 2)
            pairs = []
            for dtype in rng.choice(["float32", "float64", "int32", "int8"], 2):
                b = (rng.random((n, m)) * 100).astype(dtype)
                pairs.append([tt.asarray(b, device="null:0"), b.copy()])
            for _ in range(40):
                i = int(rng.integers(2))
                v, w = pairs[i]
                top, left = rng.integers(0, 3, 2)
                step = int(rng.choice([1, 1, 1, 2, -1]))
                rows, columns = slice(top, n - 1), slice(left, m - 1) if step == 1 else slice(None, None, step)
                match int(rng.integers(8)):
                    case 0 | 1 | 2:
                        for y in v, w:
                            y[1:-1, 1:-1] = y[:-2, 1:-1] + y[1:-1, 2:]
                    case 3 | 4:
                        for y in v, w:
                            y[rows, columns] = y[rows, columns][::-1]
                    case 5:
                        for y in v, w:
                            y[rows, columns] += y[top, left]
                    case 6:
                        pairs[i] = [v.copy(), w.copy()] if rng.random() < 0.5 else [v[::-1], w[::-1]]
                    case 7:
                        tt.eval(v) if rng.random() < 0.7 else tt.eval(*(p[0] for p in pairs))
                if rng.random() < 0.1:
                    assert np.array_equal(pairs[i][0].numpy(), pairs[i][1]), seed
            assert all(np.array_equal(v.numpy(), w) for v, w in pairs), seed
        assert kept() > 40, kept()
        """,
    )


def test_memory_that_is_kept_makes_room():
    run_program(
        START,
        """
        y = tt.zeros((1024, 512), "float32", device="null:0")
        v = y.copy()
        for _ in range(9):
            sweep(v)
        tt.eval(y, v)
        assert kept() >= 6
        five = [y + k for k in range(5)]
        tt.eval(*five)
        assert tt.ledger()["evictions"] == 0
        assert all((z.numpy() == k).all() for k, z in enumerate(five))
        """,
        TUTTI_MEM_LIMIT="16M",
    )
