"""ndarray.view, .real and .imag: the same memory as elements of another type, written and read from either side."""

import itertools

import numpy as np
import pytest
import tutti as tt

TYPES = [
    "bool",
    "int8",
    "uint8",
    "int16",
    "float16",
    "uint32",
    "float32",
    "int64",
    "float64",
    "complex64",
    "complex128",
]


@pytest.mark.parametrize("a, b", list(itertools.product(TYPES, TYPES)))
def test_every_pair(a, b):
    x = np.random.default_rng(3).integers(0, 2, (3, 16)).astype(a)
    got = tt.asarray(x).view(b)
    want = x.view(b)
    assert got.shape == want.shape and str(got.dtype) == b
    if b == "bool":
        want = x.view("uint8") != 0
    np.testing.assert_array_equal(np.asarray(got).view("uint8"), want.view("uint8"))


def test_same_type_shares():
    a = tt.arange(6).reshape(2, 3)
    for v in (a.view(), a.view("int64"), a.view(tt.int64)):
        v[0, 0] += 5
    assert a[0, 0].item() == 15 and v.flags.writeable


def of(m, values):
    return m.asarray(values) if m is tt else np.array(values)


def numbers(m):
    return of(m, np.arange(6) + 1j * np.arange(6, 12))


def parts(m):
    z = numbers(m)
    v = z.view("float64")
    v[::2] = -1
    z.imag *= 2
    z += 1
    return z, v, z.real, z.imag, z[::-2].imag


def parts_of_pending(m):
    z = numbers(m) * 2
    r, i = z.real, m.imag(z)
    z[2] = 5
    r[1:] += i[:-1]
    i[...] = r[::-1]
    i[[0, 3]] = 7
    r[i > 8] = 0
    m.add(r, 1, out=i[:])
    return z, r, i


def rows_of_pairs(m):
    a = of(m, np.arange(15.0)).reshape(3, 5)
    v, w = a[:, 1:3].view("complex128"), a[1:, 1:].view("complex128")
    v.imag[1] = 99
    w[0] *= 2j
    a[2] += 1
    return a, v, w, v.real, w.imag, v[::-1], w.T, w.ravel()


def odd_places(m):
    a = of(m, np.arange(7.0))
    v = a[1:].view("complex128")
    v[1:] += 1j
    a[2] = 50
    return a, v, v.view("int64"), v.view("float32")[1:5].view("float64")


def bytes_of_rows(m):
    a = of(m, np.arange(12, dtype="int32")).reshape(3, 4)
    b = a.view("uint8")[:, 1:9]
    c = b.view("int64")
    c[1] = -1
    return a, b, c


def truth(m):
    b = of(m, np.array([False, True, True, False]))
    u = b.view("uint8")
    u[0] = 1
    b[1] = False
    i = b.view("int32")
    i += 256
    u[3] = 2
    return u, i, b.astype(int) if m is tt else (u != 0).astype(int)


def rows_of_three(m):
    a = of(m, np.arange(9, dtype="float32")).reshape(3, 3)
    d, e = a[:, 1:].view("float64"), a.T[::-1].real
    f = a[::-1, :2].view("int64")[:, 0]
    f[1] = 7
    g = d.view("float32")
    g[1] = 3
    return a, d, e, f, g


def a_number(m):
    z = of(m, np.array(1 + 2j))
    r = z.real
    z += 1
    i = z.imag
    i += 3
    return z, r, i


def halves(m):
    a = of(m, np.arange(8, dtype="float16"))
    u = a.view("uint16")
    u ^= 0x8000
    a[::2] = 3
    w = u.view("float32")
    w[1] = 0
    return a, u, w


PROGRAMS = [parts, parts_of_pending, rows_of_pairs, odd_places, bytes_of_rows, truth, rows_of_three, a_number, halves]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_written_from_either_side(program):
    for want, got in zip(program(np), program(tt), strict=True):
        assert np.asarray(got).tobytes() == want.tobytes() and str(got.dtype) == str(want.dtype)
        assert got.strides == want.strides or 1 in want.shape


def test_parts_of_real_arrays():
    a = tt.arange(4)
    assert a.real is a and tt.real(a) is a and not a.imag.flags.writeable and a.imag.tolist() == [0] * 4
    z = tt.ones(3, dtype="complex64")
    assert z.real.base is z and z.imag.flags.writeable and not z.real.flags.owndata
    z.flags.writeable = False
    assert not z.real.flags.writeable and not z.view("int32").flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        z.imag[0] = 1


def test_bfloat16():
    a = tt.ones(4, dtype="bfloat16")
    a.view("uint16")[1] = 0x4000
    assert a.tolist() == [1, 2, 1, 1]


def test_parts_stay_fused():
    """What only computes with parts does not write the complex value."""
    x = tt.arange(10000, dtype="float64")
    tt.eval(x)
    before = tt.ledger()
    y = (x * 1j).imag + 1
    assert y.sum().item() == 10000 * 9999 / 2 + 10000
    after = tt.ledger()
    assert after["bytes_written"] - before["bytes_written"] <= 64


def test_other_shapes():
    assert tt.ones(4, dtype="float32").view(dtype="complex64").shape == (2,)
    assert tt.asarray(1.0).view("int64").item() == np.float64(1).view("int64")
    assert tt.zeros((0, 4)).view("int8").shape == (0, 32)
    for z in (tt.zeros((3, 0, 2), dtype="complex64"), tt.zeros(5, dtype="complex128")[4:1:2], tt.zeros((0, 3)) + 1j):
        assert z.imag.base is not None and z.imag.shape == z.shape and z.view("uint8").base is not None
        z.imag += 1
        z.real[...] = z.view("uint8").size
        z += 1


@pytest.mark.parametrize(
    "call",
    [
        lambda m: m.ones((4, 4)).T.view("int8"),
        lambda m: m.ones((4, 3), dtype="int16").view("float64"),
        lambda m: m.asarray(1.0).view("int8"),
        lambda m: m.ones(8)[::2].view("float32"),
    ],
)
def test_errors(call):
    with pytest.raises(ValueError) as want:
        call(np)
    with pytest.raises(ValueError) as got:
        call(tt)
    assert str(got.value) == str(want.value)


def test_views_of_one_of_several_operands_know_their_base():
    a, b = tt.arange(6), tt.ones((1, 1))
    assert [x.base is a for x in tt.atleast_2d(b, a, [1], a.reshape(2, 3)[0])] == [False, True, False, True]
    assert tt.atleast_3d(a).base is a and tt.atleast_1d(b, a)[1] is a
    assert tt.broadcast_arrays(b, a)[0].base is b and tt.broadcast_arrays(b, a)[1].base is a
    assert tt.array(a, copy=None, ndmin=3).base is a and tt.array(a, copy=False, ndmin=1) is a
    assert all(x.base is None for x in tt.meshgrid(a, a))


def test_the_type_of_an_array_can_be_set():
    for m in (np, tt):
        a = m.arange(3)
        whole, part = a, a[1:]
        a.dtype = "int32"
        assert a.shape == (6,) and whole is a and a.tolist() == [0, 0, 1, 0, 2, 0]
        a[4] = 9
        assert part.tolist() == [1, 9]
        b = m.ones(2)
        b.dtype = m.int64
        assert b.tolist() == [0x3FF0000000000000] * 2
        with pytest.raises(ValueError):
            m.arange(6).reshape(2, 3).T.dtype = "int32"
        with pytest.raises(TypeError):
            a.dtype = "foo"
    assert tt.arange(3).astype(None).dtype == np.arange(3).astype(None).dtype
