"""Values of a few elements that are written into a part of an array are computed when they are recorded; who holds an
old value keeps it."""

import operator

import numpy as np
import pytest
import tutti as tt


def counted(work):
    before = tt.ledger()
    work()
    after = tt.ledger()
    return after["evaluations"] - before["evaluations"], after["launches"] - before["launches"]


def test_rows_of_a_small_matrix_need_no_evaluation():
    a = np.arange(3000.0).reshape(50, 60)
    x = tt.array(a, device="cpu")
    tt.eval(x)

    def work():
        for i in range(1, 50):
            x[i] *= 2.0
            x[i] -= x[i - 1] * 0.5
            x[i], x[i - 1] = x[i - 1].copy(), x[i].copy()
            x[i] = x[i - 1]

    assert counted(work) == (0, 0)
    for i in range(1, 50):
        a[i] *= 2.0
        a[i] -= a[i - 1] * 0.5
        a[i], a[i - 1] = a[i - 1].copy(), a[i].copy()
        a[i] = a[i - 1]
    assert np.array_equal(x.numpy(), a)


def test_who_reads_the_old_value_keeps_it():
    a = np.arange(200.0)
    x = tt.array(a)
    tt.eval(x)
    lazy, view, part, element = x * 2.0, x[10:20], x[5:9].copy(), x[12]
    x[8:15] += x[0:7]
    x[50:100] = x[49:99]
    x[12] = -1
    b = a.copy()
    b[8:15] += a[0:7]
    b[50:100] = b[49:99].copy()
    b[12] = -1
    assert np.array_equal(lazy.numpy(), a * 2) and np.array_equal(part.numpy(), a[5:9]) and float(element) == 12
    assert np.array_equal(view.numpy(), b[10:20]) and np.array_equal(x.numpy(), b)


def test_a_broadcast_view_stays_read_only():
    x = tt.broadcast_to(tt.zeros(1), (5,))
    with pytest.raises(ValueError, match="read-only"):
        x[2] = x[2]
    with pytest.raises(ValueError, match="read-only"):
        x[2:4] = x[2:4]
    with pytest.raises(IndexError):
        tt.zeros(5)[5]
    with pytest.raises(IndexError):
        tt.zeros(5)[-6] = 1


@pytest.mark.parametrize("value", [300, -1, 2**70, float("nan"), 1j, None])
def test_elements_refuse_what_numpy_refuses(value):
    a, x = np.zeros(4, "uint8"), tt.zeros(4, dtype="uint8")
    tt.eval(x)
    want = got = None
    try:
        a[1] = value
    except Exception as e:
        want = type(e)
    try:
        x[1] = value
    except Exception as e:
        got = type(e)
    assert got == want


DTYPES = ["float64", "float32", "int64", "int32", "uint8", "bool", "float16", "complex128"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_random_programs(dtype):
    rng = np.random.default_rng(DTYPES.index(dtype))
    for _ in range(30):
        a = (rng.random((7, 9)) * 5).astype(dtype)
        x = tt.array(a)
        if rng.integers(2):
            tt.eval(x)
        held = []
        for _ in range(40):
            i, j = (int(k) for k in rng.integers(0, 7, 2))
            lo, hi = sorted(int(k) for k in rng.integers(0, 10, 2))
            n = hi - lo
            left = int(rng.integers(0, 10 - n))
            row, part, other = i, slice(lo, hi), slice(left, left + n)
            step = int(rng.integers(9))
            for t in (a, x):
                match step:
                    case 0:
                        t[row] = t[j]
                    case 1:
                        t[row, part] = t[j, other]
                    case 2:
                        t[row, part] = t[j, other] | t[row, part] if dtype == "bool" else t[j, other] + t[row, part]
                    case 3:
                        t[:, i] = t[::-1, i] & t[:, 3] if dtype == "bool" else t[::-1, i] * t[:, 3]
                    case 4:
                        t[row] = t[row] + (t[j] + t[3])  # two operations
                    case 5:
                        t[row, lo % 9] = t[j, hi % 9]
                    case 6:
                        t[row, part] = 1
                    case 7:
                        t[i:, part] = t[i, part]
                    case 8:
                        held.append((t is a, t[row, part].copy(), t[row] == t[j]))
        for k in range(0, len(held), 2):
            assert np.array_equal(held[k][1], held[k + 1][1].numpy())
            assert np.array_equal(held[k][2], held[k + 1][2].numpy())
        assert np.array_equal(x.numpy(), a, equal_nan=dtype not in ("bool", "int64", "int32", "uint8"))


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "i2", "u1", "?", "c16", "f2"])
@pytest.mark.parametrize("number", [1, 2.5, True, 3j])
def test_numbers_changed_where_they_lie(dtype, number):
    ops = (operator.iadd, operator.isub, operator.imul, operator.itruediv)
    for f in ops:
        values = []
        for lib in (np, tt):
            x = lib.asarray([3, 1, 0], dtype=dtype)
            v = lib.asarray(x[0])
            try:
                v = f(v, number)
                v = f(v, v)
                values.append((str(v.dtype), complex(v), [complex(e) for e in x]))
            except (TypeError, ValueError) as e:
                values.append(type(e).__mro__[-3:])
        assert values[0] == values[1], f


def test_a_number_that_others_hold_stays():
    a = tt.arange(4.0)
    v = tt.asarray(a[2])
    pending, copy, view = a * v, +v, v[...]
    other = v
    v += 1
    assert (float(v), float(other), float(view), float(copy), float(a[2])) == (3, 3, 3, 2, 2)
    assert pending.tolist() == [0, 2, 4, 6]
    v += a[3]
    assert float(v) == 6 and float(view) == 6
    whole = tt.full(5, 2.0)
    first = tt.asarray(whole[0])
    first *= 3
    assert whole.tolist() == [2] * 5 and float(first) == 6
    shown = np.asarray(v)
    v += 1
    assert float(shown) == 6 and float(v) == 7


@pytest.mark.parametrize("late", [False, True])
def test_elements_of_several_axes(late):
    want = np.arange(24.0).reshape(2, 3, 4)
    for view in (np.s_[:], np.s_[::-1, 1:, ::2], np.s_[1:, ::-1]):
        a = tt.asarray(want.copy()) + (tt.zeros((2, 3, 4)) if late else 0)
        x, y = a[view], want[view].copy()
        for at in np.ndindex(y.shape):
            below = tuple(k - n for k, n in zip(at, y.shape))
            assert x[at] == y[at] == x[below] == x.item(at) == x.item(*below)
            assert type(x.item(*at)) is float
            x[at] = x[at] * 2 + 1
            x[below] += 1
            y[at] = y[at] * 2 + 2
        assert (x.numpy() == y).all()
        for at in ((2, 0, 0), (0, 9, 0), (0, 0, -9)):
            for act in (lambda: x[at], lambda: x.item(*at), lambda: x.__setitem__(at, 1.0)):  # noqa: B023
                with pytest.raises(IndexError, match="out of bounds"):
                    act()
        assert x[True, 0, 0].shape == y[True, 0, 0].shape and x[0, 0].shape == y[0, 0].shape
        with pytest.raises(IndexError, match="too many indices"):
            x[0, 0, 0, 0]
    kept = tt.asarray(want)
    one = kept[1, 2, 3]
    kept[1, 2, 3] = -1
    assert one == 23 and kept.item(-1) == -1


@pytest.mark.parametrize("n", [1, 2, 31, 63, 64, 65, 127, 128, 129, 1000, 1024])
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "uint64", "float16", "float32", "float64"])
def test_short_rows_are_folded_as_kernels_fold_them(n, dtype):
    """A row of its own is done at the call; as one row of a matrix it is a kernel's. The same bits, NaN and all."""
    rng = np.random.default_rng(n)
    x = (rng.random(n) * 5 - 2).astype(dtype)
    if np.dtype(dtype).kind == "f":
        x[rng.integers(n)] = np.nan if n % 2 else -0.0
    a = tt.asarray(x)
    for name in ("sum", "prod", "max", "min", "any", "all", "mean"):
        one, row = getattr(tt, name)(a), getattr(tt, name)(a.reshape(1, n), axis=1)
        assert one.dtype == row.dtype
        assert np.asarray(one).tobytes() == np.asarray(row).tobytes(), name
    y = (a[::-1] * a).sum()
    assert np.asarray(y).tobytes() == np.asarray((a[::-1] * a).reshape(1, n).sum(1)).tobytes()
    b = tt.zeros(3, dtype=y.dtype)
    b[1] = b[0] - a @ a if dtype != "bool" else a @ a
    c = np.zeros(3, dtype=y.dtype)
    with np.errstate(all="ignore"):
        c[1] = c[0] - x @ x if dtype != "bool" else x @ x
    np.testing.assert_allclose(b.numpy(), c, rtol=1e-3 if dtype == "float16" else 1e-5)


def test_a_loop_of_dots_makes_no_plans():
    """Each length would have a plan of its own: Cholesky's factorization was twenty times slower so."""
    n = 40
    matrix = np.random.default_rng(0).random((n, n))
    matrix = matrix @ matrix.T + n * np.eye(n)
    a = tt.asarray(matrix.copy())
    before = tt.ledger()["plan_misses"]
    for i in range(n):
        for j in range(i):
            a[i, j] -= a[i, :j] @ a[j, :j]
            a[i, j] /= a[j, j]
        a[i, i] -= a[i, :i] @ a[i, :i]
        a[i, i] = tt.sqrt(a[i, i])
    assert tt.ledger()["plan_misses"] - before <= 2
    np.testing.assert_allclose(np.tril(a.numpy()), np.linalg.cholesky(matrix))
