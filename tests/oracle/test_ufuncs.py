"""The methods, attributes and keywords of elementwise functions against NumPy's ufuncs: values, types, errors."""

import inspect
import pickle

import numpy as np
import pytest
import tutti as tt

UFUNCS = sorted(n for n in dir(tt) if isinstance(getattr(np, n, None), np.ufunc) and getattr(tt, n).__name__ == n)
BINARY = [n for n in UFUNCS if getattr(np, n).nin == 2 and getattr(np, n).nout == 1 and not getattr(np, n).signature]
DTYPES = ["bool", "int8", "uint16", "int32", "int64", "float16", "float32", "float64", "complex64", "complex128"]
SHAPES = [(5,), (1,), (4, 3), (2, 3, 4), (3, 0), (0, 3), ()]


def sample(dtype, shape, seed=0):
    rng = np.random.default_rng(seed)
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if np.dtype(dtype).kind in "iu":
        return rng.integers(1, 5, shape).astype(dtype)
    x = rng.uniform(0.5, 2, shape)
    return (x + 1j * rng.uniform(0.5, 2, shape) if np.dtype(dtype).kind == "c" else x).astype(dtype)


def same(got, want, dtype, what):
    assert str(got.dtype) == str(want.dtype) and got.shape == want.shape, (what, got.dtype, want.dtype, got.shape)
    if want.dtype.kind in "biu":
        np.testing.assert_array_equal(got.numpy(), want, what)
    else:
        small = str(want.dtype) == "float16" or dtype == "float16"
        loose = 3e-2 if small else 1e-4 if want.dtype in ("float32", "complex64") else 1e-11
        np.testing.assert_allclose(got.numpy(), want, rtol=loose, atol=loose, err_msg=what)


def check(name, method, x, dtype, *args, **kwargs):
    """Both raise, or give the same answer."""
    what = f"{name}.{method} {x.shape} {x.dtype} {args} {kwargs}"
    ours = [tt.asarray(a.copy()) if isinstance(a, np.ndarray) else a for a in args]
    our_kwargs = {k: tt.asarray(v) if isinstance(v, np.ndarray) else v for k, v in kwargs.items()}
    try:
        with np.errstate(all="ignore"):
            want = getattr(getattr(np, name), method)(x, *args, **kwargs)
    except (TypeError, ValueError, IndexError):  # which of two mistakes is met first is not looked at
        with pytest.raises((TypeError, ValueError, IndexError)):
            getattr(getattr(tt, name), method)(tt.asarray(x), *ours, **our_kwargs)
        return
    same(getattr(getattr(tt, name), method)(tt.asarray(x), *ours, **our_kwargs), np.asarray(want), dtype, what)


# float16 overflows; NumPy's vectors do not fold these two (arctan2.reduce([1., 3., 1.]) is arctan2(1., 1.) there);
# ldexp has two types and folds no elements but none.
def steady(name, dtype):
    vectors = ("arctan2", "power") if np.dtype(dtype).kind == "f" else ("arctan2",)
    return not (dtype == "float16" and name == "float_power") and name not in (*vectors, "ldexp")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", BINARY)
def test_reduce(name, dtype):
    if not steady(name, dtype):
        return
    for shape in SHAPES:
        x = sample(dtype, shape)
        for axis in (0, -1, None, (0, 1), (), 2):
            for keepdims in (False, True):
                check(name, "reduce", x, dtype, axis=axis, keepdims=keepdims)
    x = sample(dtype, (4, 3))
    check(name, "reduce", x[::-2, ::2].T, dtype)
    check(name, "reduce", x, dtype, initial=2)
    check(name, "reduce", x, dtype, where=sample("bool", (4, 3)))
    check(name, "reduce", x, dtype, initial=1, where=sample("bool", (4, 3)))
    check(name, "reduce", x, dtype, initial=1, where=sample("bool", (3,)), axis=0)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", BINARY)
def test_accumulate_and_reduceat(name, dtype):
    if not steady(name, dtype):
        return
    for shape in SHAPES:
        x = sample(dtype, shape)
        for axis in (0, -1, 1):
            check(name, "accumulate", x, dtype, axis=axis)
            for at in ([0], [0, 2, 1], [2, 0, 0], [], [5], [-1]):
                check(name, "reduceat", x, dtype, np.array(at, dtype=int), axis=axis)
    check(name, "accumulate", sample(dtype, (4, 6))[::-1, ::2], dtype, axis=1)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", BINARY)
def test_outer(name, dtype):
    for shapes in ((3,), (4,)), ((2, 3), (2,)), ((), (3,)), ((0,), (2,)):
        check(name, "outer", sample(dtype, shapes[0]), dtype, sample(dtype, shapes[1], 1))


INDICES = [[0, 2, 0, 0, 1], [[1, 1], [2, -1]], slice(1, 3), 2, [True, False, True, True], [], (np.array([0, 0, 3]),)]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", [n for n in UFUNCS if getattr(np, n).nout == 1 and not getattr(np, n).signature])
def test_at(name, dtype):
    f, g = getattr(np, name), getattr(tt, name)
    grows = ("exp", "exp2", "expm1", "sinh", "cosh", "power", "float_power", "tan")
    if dtype == "float16" or (np.dtype(dtype).kind in "iu" and name in grows):
        return  # NumPy rounds after each step, the library at the end; or beyond the type
    for index in INDICES:
        for base in (sample(dtype, (4,)), sample(dtype, (4, 2)), sample(dtype, (2, 4)).T):
            theirs, ours = base.copy(order="K"), tt.asarray(base.copy())
            if base.flags.f_contiguous and base.ndim == 2:
                ours = tt.asarray(base.T.copy()).T
            second = [] if f.nin == 1 else [sample(dtype, theirs[index].shape, 2)]
            try:
                with np.errstate(all="ignore"):
                    f.at(theirs, index, *second)
            except TypeError:
                with pytest.raises(TypeError):
                    g.at(ours, index, *second)
                continue
            assert g.at(ours, index, *second) is None
            same(ours, theirs, dtype, f"{name}.at {index} {base.shape} {dtype}")


def test_many_overlapping_places():
    rng = np.random.default_rng(5)
    for name in ("add", "subtract", "maximum", "multiply", "logical_xor", "bitwise_or", "fmax", "gcd"):
        for n, places in ((5000, 3), (5000, 1000), (300, 10**7)):
            for dtype in ("int64", "int16", "float64", "complex128"):
                if np.dtype(dtype).kind in "fc" and name in ("bitwise_or", "gcd"):
                    continue
                if dtype == "complex128" and (places == 3 or name == "fmax"):
                    continue
                theirs = sample(dtype, (places if places < 10**6 else 2 * 10**6,))
                at = rng.integers(0, len(theirs), n)
                second = sample(dtype, (n,), 3)
                if np.dtype(dtype).kind in "fc" and name == "multiply":
                    second[:] = 1 + (second - 1) / 100
                ours = tt.asarray(theirs.copy())
                getattr(np, name).at(theirs, at, second)
                getattr(tt, name).at(ours, tt.asarray(at), tt.asarray(second))
                np.testing.assert_allclose(ours.numpy(), theirs, rtol=1e-12)


@pytest.mark.parametrize("dtype", ["i1", "u2", "i4", "i8", "u8", "f4", "f8", "c8", "c16"])
@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "maximum", "floor_divide", "logaddexp", "bitwise_xor"])
def test_at_in_memory(name, dtype):
    """Arrays that nobody else holds are changed where they lie, and only these."""
    rng = np.random.default_rng(7)
    whole = sample(dtype, (60,))
    at = rng.integers(-10, 10, 200)

    def steps(m):
        f, a, out = getattr(m, name), m.asarray(whole.copy()), []
        for second in (3, np.array([2], dtype)[0], sample(dtype, (200,), 2), sample("i2", (200,), 1), whole[:1]):
            for index in (at, at.astype("i1"), at[::-1].reshape(20, 10), at.astype("u1") % 10, np.array([], int)):
                if np.size(second) > 1 and not len(index):
                    continue
                b = second.reshape(index.shape) if np.size(second) > 1 else second
                old = a * 2
                f.at(a, m.asarray(index), b if np.ndim(b) == 0 else m.asarray(b))
                f.at(a[50:10:-4], m.asarray(at[:20] % 5), 2)
                out += [old, a.copy()]
        table = m.asarray(whole.reshape(6, 10).copy())
        for t in (table, table.T):
            f.at(t, (m.asarray(at[:30] % 6), m.asarray(at[30:60] % 6)), m.asarray(sample(dtype, (30,), 3)))
            f.at(t, m.asarray(at[:5] % 6), 2)
        f.at(a, m.asarray(at), a[5:6])  # its own elements
        f.at(a, m.asarray(at[:30]), a[20:50])
        return [*out, table, a]

    with np.errstate(all="ignore"):
        try:
            want = steps(np)
        except TypeError:
            with pytest.raises(TypeError):
                steps(tt)
            return
        got = steps(tt)
    for ours, theirs in zip(got, want):
        np.testing.assert_allclose(ours.numpy(), theirs, rtol=1e-5 if dtype in ("f4", "c8") else 1e-12, equal_nan=True)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "maximum"])
def test_at_rows(name, dtype):
    """Whole rows meet places that come several times; others fit by broadcasting, backwards, or are of another type."""
    if name == "subtract" and dtype == "bool":
        return
    for shape in ((5, 3), (4, 2, 40), (6, 1), (3, 0)):
        a, b = sample(dtype, shape), sample(dtype, (9, *shape[1:]), 1)
        at = np.random.default_rng(2).integers(-shape[0], shape[0], 9)
        for second in (b, b[0], b[:, ::-1], b[:1, :1], b.astype(bool)):
            want, got = a.copy(), tt.array(a)
            getattr(np, name).at(want, at, second)
            getattr(tt, name).at(got, tt.array(at), tt.array(second))
            np.testing.assert_allclose(np.asarray(got), want, rtol=1e-2 if dtype == "float16" else 1e-5)
    with pytest.raises(IndexError):
        getattr(tt, name).at(tt.array(sample(dtype, (3, 4))), tt.array([1, 5]), tt.array(sample(dtype, (2, 4))))


def test_at_leaves_what_others_hold():
    a, at = tt.arange(8.0) + 0, tt.asarray([1, 1, -1])
    pending, shown, copy = a * 2, np.asarray(a), a.copy()
    tt.add.at(a, at, 10.0)
    assert a.tolist() == [0, 21, 2, 3, 4, 5, 6, 17] and copy.tolist() == shown.tolist() == list(range(8))
    assert pending.tolist() == [0, 2, 4, 6, 8, 10, 12, 14]
    for bad in ([0, 8], [-9, 0]):
        with pytest.raises(IndexError, match="out of bounds for axis 0 with size 8"):
            tt.add.at(a, tt.asarray(bad), 1.0)
    with pytest.raises(ValueError, match="read-only"):
        tt.add.at(tt.broadcast_to(a[:1], 3), at * 0, 1.0)
    with pytest.raises(ValueError, match="broadcast"):
        tt.add.at(a, at, [1.0, 2.0])
    assert a.tolist() == [0, 21, 2, 3, 4, 5, 6, 17]
    i = tt.asarray([2, 0, 1, 1])
    tt.add.at(i, i, 1)
    assert i.tolist() == [3, 2, 2, 1]
    before = tt.ledger()
    counts = tt.zeros(256, dtype="i4")
    for _ in range(20):
        tt.add.at(counts, at, 1)
    after = tt.ledger()
    assert counts.tolist()[:2] == [0, 40] and after["evaluations"] - before["evaluations"] <= 1


def test_at_through_a_view_and_mixed_types():
    theirs = np.zeros((4, 6), "f4")
    ours = tt.zeros((4, 6), "f4")
    for a, m in ((theirs, np), (ours, tt)):
        m.add.at(a[1::2, ::-2], (slice(None), [0, 0, 2]), 1.5)
        m.subtract.at(a, [0, 0], np.arange(6.0))
        m.add.at(a[3], np.array([1, 1], "u1"), 2)
        m.logical_not.at(a, ([0, 0, 2], [1, 1, 1]))
    np.testing.assert_array_equal(ours.numpy(), theirs)
    theirs, ours = np.array([250, 3], "u1"), tt.array([250, 3], "u1")
    for a, m in ((theirs, np), (ours, tt)):
        m.add.at(a, [0, 0, 1], 300)
        m.equal.at(a, [1], 47)
    assert ours.tolist() == theirs.tolist()


def test_long_folds():
    x = np.random.default_rng(1).integers(1, 2**40, 100_001)
    for name in ("bitwise_xor", "gcd", "bitwise_and", "fmax"):
        assert getattr(tt, name).reduce(tt.asarray(x)).item() == getattr(np, name).reduce(x)
    y = np.random.default_rng(2).uniform(0, 1, (70_001, 2)).astype("f4")
    np.testing.assert_allclose(tt.logaddexp.reduce(tt.asarray(y)).numpy(), np.logaddexp.reduce(y.astype("f8")), 1e-5)
    np.testing.assert_allclose(tt.subtract.reduce(tt.asarray(y)).numpy(), np.subtract.reduce(y.astype("f8")), 1e-4)
    at = np.arange(0, 70_000, 7)
    np.testing.assert_allclose(tt.add.reduceat(tt.asarray(y), at).numpy(), np.add.reduceat(y, at), 1e-5)
    np.testing.assert_array_equal(tt.maximum.accumulate(tt.asarray(y)).numpy(), np.maximum.accumulate(y))


def test_attributes():
    for name in UFUNCS:
        f, g = getattr(np, name), getattr(tt, name)
        assert isinstance(g, tt.ufunc) and repr(g) == repr(f)
        assert (g.nin, g.nout, g.nargs, g.__name__, g.signature) == (f.nin, f.nout, f.nargs, f.__name__, f.signature)
        assert g.identity == f.identity and type(g.identity) is type(f.identity), name
        assert g.__doc__ and pickle.loads(pickle.dumps(g)) is g and g.ntypes == len(g.types)
        ours = {t for t in g.types if "E" not in t}
        theirs = {t for t in f.types if not set(t) & set("gGOmMqQ")}
        assert ours == theirs, name
        if name not in ("matmul", "vecdot", "matvec", "vecmat"):
            assert "casting" in inspect.signature(g).parameters


BY_SIGNATURE = """add([1], [2], sig='dd->d')
matmul([[1]], [[2]], sig='dd->d')
ldexp([1.0], [2], sig='fi->f')
ldexp([1.0], [2], signature='dl->d')
frexp([8.0], signature='f->fi')[1]
sqrt([4], sig=('f4', None))""".splitlines()


def test_signatures_by_their_short_name_and_with_exponents():
    for call in BY_SIGNATURE:
        want, got = eval(f"np.{call}"), eval(f"tt.{call}")
        assert got.dtype == want.dtype and got.tolist() == want.tolist(), call
    for wrong in ("add([1], [2], sig='dd->d', signature='dd->d')", "ldexp([1.0], [2], sig='ff->f')"):
        for m in ("np", "tt"):
            with pytest.raises(TypeError):
                eval(f"{m}.{wrong}")


ERRORS = """add.reduce(1, axis=1)
add.reduce([[1, 2]], axis=2)
add.reduce([[1, 2]], axis=(0, 0))
add.reduce([], initial=None)
add.reduce([1, 2], initial=None, where=[True, False])
maximum.reduce([])
maximum.reduce([1], where=[True])
subtract.reduce([[8, 2], [2, 1]], axis=None)
subtract.reduce([])
sqrt.reduce([1])
divmod.reduce([1])
matmul.reduce([1])
sqrt.outer([1], [2])
matmul.outer([1], [2])
add.outer([1, 2])
add.reduce([1, 2], foo=3)
add.reduce([1, 2], 0, None, None, False, 5, True, 4)
add.reduce([1, 2], out=5)
add.reduce([1, 2], where=[[True, False], [True, True]])
bitwise_and.reduce([1.5])
add.accumulate(5)
add.accumulate([[1, 2, 3]], axis=(0, 1))
add.accumulate([[1, 2, 3]], axis=None)
add.accumulate([[1, 2, 3]], axis=3)
add.reduceat(5, [0])
add.reduceat([1, 2, 3], [0, 3])
add.reduceat([1, 2, 3], [0, -1])
add.reduceat([1, 2, 3], 0)
add.reduceat([[1, 2, 3]], [0], axis=(0, 1))
add.at([1, 2], [0], 1)
add.at(zeros(3), [5], 1.5)
add.at(zeros(3), [0])
negative.at(zeros(3), [0], 1)
add.at(zeros(3), [0, 1], [1, 2, 3])
divmod.at(zeros(3), [0, 1], 1)
modf.at(zeros(3), [0, 1])
matmul.at(zeros(3), [0, 1], 1)
add(1.5, 2, dtype=int)
add([1], [2.5], casting='no')
add([1], [2.5], out=zeros(1, 'f4'), casting='safe')
sin(zeros(1, 'i1'), casting='no')
equal(zeros(1, 'i1'), [2], casting='equiv')
add([1], [2], casting='foo')
add([1], [2], casting=3)
add([1], [2], order='Z')
add([1], [2], order=3)
add([1], [2], subok=3)
add([1], [2], foo=3)
add([1], [2], out=3)
add([1], [2], out=(None, None))
add([1], [2], zeros(1), out=zeros(1))
divmod([1], [2], zeros(1), out=zeros(1))
float_power([1.5], 2, dtype='i4')
heaviside([1.5], [2], casting='foo')
add([1], [2], zeros(1), 4)
sin()
fabs()
divmod(1)
add([1.5], [2], out=zeros(1, int))
fabs([1.5], out=zeros(1, int))"""


@pytest.mark.parametrize("text", ERRORS.splitlines())
def test_errors(text):
    """The same kind of error in the same words."""
    with pytest.raises(Exception) as want:
        eval("np." + text.replace("zeros", "np.zeros"), {"np": np})
    kind = next(k for k in (IndexError, ValueError, TypeError, RuntimeError) if isinstance(want.value, k))
    with pytest.raises(kind) as got:
        eval("tt." + text.replace("zeros", "tt.zeros"), {"tt": tt})
    assert str(got.value) == str(want.value)


@pytest.mark.parametrize("method", ["reduce", "accumulate"])
def test_comparisons_of_numbers_do_not_fold(method):
    """NumPy's words for this depend on what it was asked before."""
    for xp in (np, tt):
        with pytest.raises(TypeError, match="equal"):
            getattr(xp.equal, method)([1, 2, 3])


def test_keywords():
    a, b = np.arange(6.0).reshape(2, 3), np.array([1.5, -2, 3])
    x, y = tt.asarray(a), tt.asarray(b)
    assert tt.add(a, 1, casting="unsafe", dtype="i4").tolist() == np.add(a, 1, casting="unsafe", dtype="i4").tolist()
    assert tt.add(2.5, 1, casting="unsafe", dtype="i1").item() == 3
    assert tt.add(tt.asarray(np.float32([1])), 2.5, casting="no").dtype == "float32"
    assert tt.add(x, y, order="F").flags.f_contiguous and tt.add(x, y, order="K", subok=True).flags.c_contiguous
    assert tt.add([1], [2], where=[1]).tolist() == [3]
    out = tt.zeros(3, int)
    assert tt.add(y, 1, out=out, casting="unsafe") is out and out.tolist() == [2, -1, 4]
    quotient, rest = tt.zeros(3), tt.zeros(3)
    made = tt.divmod(y, 2, out=(quotient, rest))
    assert made[0] is quotient and made[1] is rest and rest.tolist() == np.divmod(b, 2)[1].tolist()
    assert tt.divmod(y, 2, quotient)[0] is quotient
    assert tt.fabs(y, where=[True, False, True], out=tt.zeros(3)).tolist() == [1.5, 0, 3]
    assert tt.float_power(x, 2, out=tt.zeros((2, 3))).tolist() == np.float_power(a, 2).tolist()
    assert tt.heaviside(y, 0.5, dtype="f4").dtype == "float32"
    assert tt.add.outer(x, y, dtype="f4").dtype == "float32"
    assert tt.add.outer(y, y, out=tt.zeros((3, 3)), where=tt.eye(3, dtype=bool)).tolist() == (2 * np.diag(b)).tolist()
    assert tt.add.reduce(x, 1, out=tt.zeros(2, "i4")).dtype == "int32"
    assert tt.multiply.reduce(x, -1, "f4", None, True, 2.0).tolist() == [[0.0], [120.0]]
    assert tt.add(*(x, y), **{"out": None}).tolist() == (a + b).tolist()  # the slow way in


def test_numpys_own_functions_come_here():
    a = np.arange(12.0).reshape(3, 4)
    x = tt.asarray(a)
    for name, method, args in (
        ("bitwise_xor", "reduce", (x.astype(int),)), ("hypot", "accumulate", (x, 1)), ("add", "reduceat", (x, [0, 2])),
        ("logaddexp", "outer", (x, x[0])),
    ):  # fmt: skip
        theirs = [v.numpy() if isinstance(v, tt.ndarray) else v for v in args]
        with tt.strict("fallback"):
            got = getattr(getattr(np, name), method)(*args)
        assert isinstance(got, tt.ndarray)
        np.testing.assert_allclose(got.numpy(), getattr(getattr(np, name), method)(*theirs), 1e-12)
    with tt.strict("fallback"):
        np.add.at(x, ([0, 0], [1, 1]), 1)
    assert x[0, 1].item() == 3
    theirs = np.zeros(3)
    np.add.at(theirs, [0, 0], tt.array([1.0, 2.0]))
    assert theirs.tolist() == [3, 0, 0]


@pytest.mark.parametrize(
    "name,signature",
    [
        ("add", "dd->d"), ("add", "ff->f"), ("add", ("d", None, None)), ("add", (None, None, np.float64)),
        ("less", "dd->?"), ("sqrt", "f->f"), ("divmod", "dd->dd"), ("isnan", "d->?"), ("hypot", "ff->f"),
        ("add", (np.dtype("f8"), np.dtype("f8"), None)), ("add", "dd"), ("add", ("d", "d")), ("add", "dd->f"),
        ("sqrt", "i->i"), ("add", "bb->b"), ("logical_and", "dd->?"),
    ],
)  # fmt: skip
def test_signature_names_the_loop(name, signature):
    """As a string or a tuple; a type that no loop has, a wrong length and a narrowing are NumPy's errors."""
    x = np.array([1, 2], "i4")
    args = [x, x][: getattr(np, name).nin]
    mine = [tt.array(a) for a in args]
    try:
        want = getattr(np, name)(*args, signature=signature)
    except (TypeError, ValueError) as error:
        with pytest.raises(TypeError if isinstance(error, TypeError) else ValueError):
            getattr(tt, name)(*mine, signature=signature)
        return
    got = getattr(tt, name)(*mine, signature=signature)
    for w, g in zip(want if isinstance(want, tuple) else [want], got if isinstance(got, tuple) else [got], strict=True):
        assert w.dtype == g.dtype
        np.testing.assert_array_equal(np.asarray(g), w)
    with pytest.raises(TypeError, match="both 'signature' and 'dtype'"):
        getattr(tt, name)(*mine, signature=signature, dtype="float64")


@pytest.mark.parametrize(
    "name", ["copysign", "arctan2", "hypot", "heaviside", "logaddexp", "nextafter", "add", "divide"]
)
def test_bfloat16_holds_what_one_byte_does(name):
    x = tt.array([1.5, -2.0], dtype="bfloat16")
    for t in ("bool", "int8", "uint8"):
        assert getattr(tt, name)(x, tt.ones(2, t)).dtype == getattr(tt, name)(tt.ones(2, t), x).dtype == "bfloat16"
    for t in ("int16", "float16"):
        assert getattr(tt, name)(x, tt.ones(2, t)).dtype == "float32"
