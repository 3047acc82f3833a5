"""Elements that were taken: numbers, which give what arrays without axes give, never change, and can be hashed."""

import copy
import gc
import itertools
import math
import operator
import pickle
import warnings

import numpy as np
import pytest
import tutti as tt

DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
DTYPES += ["float16", "bfloat16", "float32", "float64", "complex64", "complex128"]
BINARY = [operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow]
BINARY += [operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift, divmod]
BINARY += [operator.lt, operator.le, operator.eq, operator.ne, operator.gt, operator.ge]
UNARY = [operator.neg, operator.pos, operator.abs, operator.invert, tt.sqrt, tt.sin, tt.floor, tt.isnan, tt.sign]
UNARY += [tt.square, tt.conj, tt.real, tt.logical_not, tt.signbit, tt.reciprocal]
PYTHON = [0, 1, -1, 2, 3, 200, -129, 70000, 2**40, 2**63, 2**64, -(2**70), True, False]
PYTHON += [0.0, -0.0, 0.5, -1.0, 2.0, 1.5, 1e300, math.inf, math.nan, 1j, 2 - 0.5j]


def values(dtype):
    """Of every kind that the type has: extremes, zeros of both signs, what is no number."""
    if dtype == "bool":
        return [False, True]
    if dtype in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"):
        i = np.iinfo(dtype)
        return sorted({i.min, i.max, 0, 1, 2, 3, 7, -1 if i.min else 9})
    reals = [0.0, -0.0, 1.0, -1.5, 0.5, 2.0, 3e4, math.inf, -math.inf, math.nan]
    if dtype.startswith("complex"):
        return [0j, 1j, -1.5 + 2j, complex(math.inf, 1), complex(math.nan, 0), 3 + 0j]
    return reals


def elements(dtype):
    return tt.array(values(dtype), dtype=dtype)


def outcome(f, *args):
    """What comes out, as type and bytes; or what is raised, as type and words."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            got = f(*args)
        except Exception as e:
            return type(e), str(e)
    if got is NotImplemented:
        return got
    if isinstance(got, tuple):
        return tuple(outcome(lambda g=g: g) for g in got)
    if not isinstance(got, tt.ndarray):
        return type(got), repr(got)
    return str(got.dtype), got.shape, same_nans(got)


def same_nans(a):
    """Bytes, all NaN alike: their bits are the processor's."""
    wide = a.astype("complex128" if a.dtype.kind == "c" else "float64") if a.dtype.kind in "cf" else a
    return repr(wide.tolist())


def array(v):
    """A copy that is an array and no number."""
    a = tt.asarray(v)
    assert a is not v
    return a


@pytest.mark.parametrize("f", BINARY, ids=lambda f: f.__name__)
@pytest.mark.parametrize("left", DTYPES)
def test_pairs_of_numbers_are_as_arrays(left, f):
    a = elements(left)
    for right in DTYPES:
        b = elements(right)
        some = itertools.islice(itertools.product(range(len(a)), range(len(b))), 0, None, 3)
        for i, j in some:
            x, y = a[i], b[j]
            want = outcome(f, array(x), array(y))
            assert outcome(f, x, y) == want, (x, right, y)
            assert outcome(f, array(x), y) == want and outcome(f, x, array(y)) == want, (x, right, y)


@pytest.mark.parametrize("f", BINARY, ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", DTYPES)
def test_numbers_and_pythons_are_as_arrays(dtype, f):
    for x in elements(dtype):
        for p in PYTHON:
            # NumPy's operator makes int8 of an array of truth values squared, int64 of such a number.
            squared = f is operator.pow and dtype == "bool" and p is not True and p == 2
            assert outcome(f, x, p) == outcome(f, array(x), p) or squared, (x, p)
            assert outcome(f, p, x) == outcome(f, p, array(x)), (p, x)


@pytest.mark.parametrize("f", UNARY, ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", DTYPES)
def test_one_number_is_as_an_array(dtype, f):
    for x in elements(dtype):
        assert outcome(f, x) == outcome(f, array(x)), x


@pytest.mark.parametrize("dtype", DTYPES)
def test_what_python_makes_of_a_number(dtype):
    makes = [bool, int, float, complex, operator.index, repr, str, hex, round, math.trunc, len, iter, list]
    makes += [lambda v: round(v, 1), lambda v: format(v, ""), lambda v: format(v, ".3f"), lambda v: f"{v:>9}"]
    makes += [lambda v: v.item(), lambda v: v.tolist(), lambda v: v.tobytes(), lambda v: memoryview(v).tobytes()]
    makes += [lambda v: v.shape, lambda v: v.dtype, lambda v: v.ndim, lambda v: v.size, lambda v: v.nbytes]
    makes += [lambda v: v.strides, lambda v: v.itemsize, lambda v: v.T, lambda v: v.real, lambda v: v.imag]
    makes += [lambda v: v.sum(), lambda v: v.reshape(1), lambda v: v[()], lambda v: v[None], lambda v: v[...]]
    makes += [lambda v: v.astype("float32"), lambda v: v.copy(), lambda v: tt.stack([v, v]), lambda v: tt.array([v])]
    makes += [lambda v: tt.full(3, v), lambda v: [10, 20, 30, 40][v], lambda v: tt.where(v, 1, v), lambda v: v in [v]]
    makes += [lambda v: "a" == v, lambda v: v != None, lambda v: v == [v, v], lambda v: v < "a"]  # noqa: E711
    makes += [lambda v: tt.array([0, v, 1], dtype=v.dtype), lambda v: tt.arange(4)[v], lambda v: v @ v]
    if dtype.startswith("complex"):  # as NumPy's scalars and arrays, numbers give their real part and arrays do not
        makes = [f for f in makes if f not in (int, float)]
    for x in elements(dtype):
        for k, f in enumerate(makes):
            assert outcome(f, x) == outcome(f, array(x)), (k, x)


@pytest.mark.parametrize("to", DTYPES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_numbers_are_written_as_arrays_are(dtype, to):
    for x in elements(dtype):
        into, want = tt.zeros((2, 3), dtype=to), tt.zeros((2, 3), dtype=to)

        def write(a, v):
            a[1, -1] = v
            a[0] = v
            return a

        real = x.item().real
        info = np.iinfo(to) if to in ("int8", "int16", "int32", "int64") else None
        if info and not (np.isfinite(real) and info.min <= int(real) <= info.max):  # an array's would be cast
            with pytest.raises((OverflowError, ValueError)):
                write(into, x)
        elif to != "uint32" or 0 <= real < 2**32:  # else as NumPy's scalar code has it: test_stores.py
            assert outcome(write, into, x) == outcome(write, want, array(x)), x


@pytest.mark.parametrize("dtype", [t for t in DTYPES if t != "bfloat16"])
def test_hashes_are_numpys(dtype):
    ours, theirs = elements(dtype), np.array(values(dtype), dtype=dtype)
    for x, y in zip(ours, theirs):
        if x == x:
            assert hash(x) == hash(y) == hash(x.item()) == hash(abs(x) if x == abs(x) else x)
            assert {x: 1}[y.item()] == 1 and x in {y.item()}
        else:
            assert hash(x) == hash(x) and x in {x} and len({x, +x}) == 1
    assert len(set(ours)) == len(set(theirs))
    assert len({v: 1 for v in ours}) == len({v: 1 for v in theirs})


def test_what_can_be_hashed():
    a = tt.arange(12.0).reshape(3, 4) + 0
    assert set(a.ravel()) == set(range(12)) and len(set(a.flat)) == 12
    pending = a * 2
    assert hash(pending[1, 2]) == hash(12.0) and hash(pending[0, 1] + 1) == hash(3.0)
    assert hash((a[0, 1], a[1, 1])) == hash((1.0, 5.0))
    assert sorted({tt.array([3, 1, 3])[k] for k in range(3)}) == [1, 3]
    for unhashable in (a, a[0], tt.array(1.0), tt.asarray(a[0, 0]), a[0, 0, ...], a[0, 0].copy(), a[0, 0][None]):
        with pytest.raises(TypeError, match=r"unhashable type: 'tutti\.ndarray'"):
            hash(unhashable)


def test_numbers_never_change():
    for lib in (np, tt):
        a = lib.arange(4.0)
        v = other = a[2]
        kept = {v: "two"}
        v += 1
        v *= 2
        a[2] = 50
        assert (float(v), float(other), float(a[2])) == (6, 2, 50) and kept[2.0] == kept[other] == "two"
        i = lib.arange(3)[1]
        i += 0.5  # as NumPy's scalars: the name stands for another number
        assert float(i) == 1.5 and str(i.dtype) == "float64"
        i **= 2
        i //= 2
        assert float(i) == 1.0
        i = lib.arange(3)[1]
        i += lib.arange(3)
        assert i.tolist() == [1, 2, 3]
    v = tt.arange(4.0)[2]
    writes = [lambda: v.fill(1), lambda: v.put(0, 1)]
    writes += [lambda: v.setflags(write=True), lambda: setattr(v.flags, "writeable", 1)]
    for write in writes:
        with pytest.raises(ValueError, match="read-only|WRITEABLE"):
            write()
    for write in (lambda: v.__setitem__((), 1), lambda: v.__setitem__(..., 1), lambda: setattr(v, "flat", 3)):
        with pytest.raises(TypeError, match="object does not support item assignment"):
            write()
    for write in (lambda: tt.add(1, 2, out=v), lambda: tt.sum([1], out=v), lambda: tt.add.at(v, (), 1)):
        with pytest.raises(TypeError, match="must be"):
            write()
    with pytest.raises(AttributeError):
        v.shape = (1,)
    assert not v.flags.writeable and float(v) == 2 and hash(v) == hash(2.0)


def test_what_is_made_of_a_number_can_be_written():
    v = tt.arange(4.0)[2]
    for a in (v.reshape(1), v[None], v[...], v.ravel(), tt.atleast_1d(v), tt.asarray(v), tt.array(v), v.copy(), v.T):
        a[...] = 7
        assert float(v) == 2
    for a in (v.reshape(1), tt.asarray(v)):
        a += 1
        assert float(a.sum()) == 3 and float(v) == 2


@pytest.mark.parametrize("dtype", DTYPES)
def test_numbers_are_pickled_and_copied_as_numbers(dtype):
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        for x in elements(dtype):
            y = pickle.loads(pickle.dumps(x, protocol))
            assert y.dtype == x.dtype and y.tobytes() == x.tobytes() and isinstance(hash(y), int)
    x = elements(dtype)[1]
    assert copy.copy(x) is x and copy.deepcopy(x) is x
    assert copy.deepcopy({x: [x]}) == {x: [x]}
    assert pickle.loads(pickle.dumps({x: 1})) == {x.item(): 1}


def test_numbers_of_numpy_beside_ours():
    names = ["float64", "float32", "int64", "int32", "int8", "uint8", "bool_", "float16", "complex64"]
    for mine, theirs in itertools.product(names, names):
        a = np.array([3, 1], dtype=getattr(np, mine))
        x, s = tt.array(a)[0], getattr(np, theirs)(2)
        for f in (operator.add, operator.truediv, operator.mul, operator.lt, operator.eq):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                want, back = f(a[0], s), f(s, a[0])
            for got, right in ((f(x, s), want), (f(s, x), back)):
                assert str(got.dtype) == str(right.dtype) and got.item() == right.item(), (mine, theirs, f)


def test_iteration_records_nothing():
    a = tt.arange(5000.0) * 2
    before = tt.ledger()
    total = 0.0
    for v in a:
        total += v
    after = tt.ledger()
    assert float(total) == 24995000
    assert after["evaluations"] - before["evaluations"] == 1  # of all elements
    got = []
    b = tt.arange(5)
    for k, v in enumerate(b):  # as the array is when it is asked
        got.append(int(v))
        if k < 4:
            b[k + 1] = 10 * k
    assert got == [0, 0, 10, 20, 30]
    rows = [row.tolist() for row in tt.arange(6).reshape(3, 2)]
    assert rows == [[0, 1], [2, 3], [4, 5]]
    for row in (m := tt.zeros((2, 2))):
        row += 1
    assert m.tolist() == [[1, 1], [1, 1]]
    it = iter(tt.arange(3)[::-1])
    assert int(next(it)) == 2 and operator.length_hint(it) == 2
    again = pickle.loads(pickle.dumps(it))
    assert [int(v) for v in again] == [int(v) for v in it] == [1, 0]
    assert list(it) == [] and list(pickle.loads(pickle.dumps(it))) == [] and operator.length_hint(it) == 0
    assert list(tt.zeros(0)) == [] and len(list(tt.zeros((0, 3)))) == 0


def test_numbers_as_indices():
    i = tt.array([1, -1, 7], dtype="int16")
    a = tt.arange(12).reshape(3, 4)
    assert int(a[i[0], i[1]]) == 7 and a[i[0]].tolist() == [4, 5, 6, 7] and a[:, i[1]].tolist() == [3, 7, 11]
    a[i[0]][...] = 0  # a view, as with an int
    a[i[1], i[0]] = 100
    assert a.tolist() == [[0, 1, 2, 3], [0, 0, 0, 0], [8, 100, 10, 11]]
    with pytest.raises(IndexError, match="index 7 is out of bounds for axis 0 with size 3"):
        a[i[2]]
    with pytest.raises(IndexError, match="must be of integer"):
        a[tt.arange(2.0)[1]]
    assert a[tt.array([True])[0]].shape == (1, 3, 4) and a[(i * 2)[1]].tolist() == [0, 0, 0, 0]
    huge = tt.array([2**63], dtype="uint64")[0]
    with pytest.raises(IndexError):
        a[huge]


def test_memory_of_numbers_is_given_back():
    a = tt.arange(100.0)
    gc.collect()
    list(a)
    core = tt._core
    before = core._test_live()
    for _ in range(3):
        kept = [v * 2 + 1 for v in a]
        shapes = [v.shape for v in kept]
        assert len(shapes) == 100
        del kept, shapes
    gc.collect()
    tt.memory_trim()
    assert core._test_live() <= before


@pytest.mark.parametrize("dtype", ["float64", "int64", "uint64", "bool", "complex128", "float32", "float16"])
def test_texts_are_those_of_arrays(dtype):
    rng = np.random.default_rng(2)
    wide = np.frombuffer(rng.bytes(800), "f8")
    if dtype in ("int64", "uint64"):
        a = np.frombuffer(rng.bytes(800), dtype)
    else:
        with np.errstate(all="ignore"):
            more = [1e16, 123456789012345678.0, 1e-5, 9.999e-5, 0.0001, 1e15, 2**53, 5e-324, 0.1, -0.0]
            a = np.concatenate([wide, more]).astype(dtype)
    for v in tt.asarray(a):
        whole = array(v)
        for spec in ("", "s", ".3f", ">12", "g", "e", "d", "x", ",", "nonsense"):
            assert outcome(format, v, spec) == outcome(format, whole, spec), (v, spec)
        assert (str(v), repr(v), f"{v}", f"{v!r:>30}") == (str(whole), repr(whole), f"{whole}", f"{whole!r:>30}")
