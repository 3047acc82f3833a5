"""Products of vectors, matrices and tensors against NumPy in double precision."""

import itertools
import os
import subprocess
import sys

import numpy as np
import pytest
import tutti as tt

TYPES = ["float64", "float32", "float16", "complex64", "complex128", "int8", "int32", "int64", "uint8", "bool"]
TOLERANCE = {"float16": 4e-3, "float32": 2e-5, "complex64": 2e-5}


def make(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    if dtype == "bool":
        return np.asarray(rng.random(shape) < 0.5)
    if dtype.startswith("complex"):
        return np.asarray(rng.uniform(-1, 1, shape) + 1j * rng.uniform(-1, 1, shape)).astype(dtype)
    if dtype.startswith("float"):
        return np.asarray(rng.uniform(-1, 1, shape)).astype(dtype)
    return np.asarray(rng.integers(0, 7, shape)).astype(dtype)


def check(got, want, exact=None):
    """`want` is NumPy's result in the tested type; `exact` the same in double precision."""
    want = np.asarray(want)
    assert tuple(got.shape) == want.shape
    assert str(got.dtype) == str(want.dtype)
    if want.dtype.kind in "biu":
        np.testing.assert_array_equal(got.numpy(), want)
    else:
        tolerance = TOLERANCE.get(str(want.dtype), 1e-12)
        np.testing.assert_allclose(got.numpy(), want if exact is None else exact, rtol=tolerance, atol=tolerance * 8)


def wide(a):
    return a.astype({"f": "float64", "c": "complex128"}.get(a.dtype.kind, a.dtype))


def both(function, *arrays, **keywords):
    """The function of NumPy and ours over the same arrays; checked."""
    ours, theirs = tt, np
    for part in function.split("."):
        ours, theirs = getattr(ours, part), getattr(theirs, part)
    want, exact = theirs(*arrays, **keywords), theirs(*map(wide, arrays), **keywords)
    check(ours(*map(tt.asarray, arrays), **keywords), want, exact)


def same_error(call):
    """`call(module)` raises the same type with the same words in both."""
    with pytest.raises(Exception) as want:
        call(np)
    with pytest.raises(Exception) as got:
        call(tt)
    assert type(got.value).__name__ == type(want.value).__name__
    assert str(got.value).strip() == str(want.value).strip()


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(
    "a, b",
    [
        ((3, 4), (4, 5)),
        ((4,), (4,)),
        ((3, 4), (4,)),
        ((4,), (4, 5)),
        ((2, 3, 4), (4, 5)),
        ((2, 1, 3, 4), (3, 4, 2)),
        ((0, 4), (4, 3)),
        ((3, 0), (0, 2)),
        ((1, 1), (1, 1)),
        ((70, 65), (65, 90)),
    ],
)
def test_matmul(dtype, a, b):
    both("matmul", make(a, dtype), make(b, dtype, 1))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(
    "a, b",
    [
        ((5,), (5,)),
        ((), (3, 2)),
        ((3, 2), ()),
        ((3, 4), (4, 5)),
        ((2, 3, 4), (4,)),
        ((2, 3, 4), (5, 4, 2)),
        ((0,), (0,)),
        ((2, 0), (0, 3)),
        ((1000,), (1000,)),
    ],
)
def test_dot(dtype, a, b):
    both("dot", make(a, dtype), make(b, dtype, 1))


@pytest.mark.parametrize("dtype", ["float64", "complex128", "int32"])
def test_strided_operands(dtype):
    base = make((8, 9, 10), dtype)
    t = tt.asarray(base)
    cuts = [np.s_[::2, 0, ::3], np.s_[::-2, 3, :4], np.s_[1, 1:8:2, 3::-1], np.s_[4:, 4:5, 2]]
    for x, y in itertools.product(cuts, cuts):
        a, b, ta, tb = base[x], base[y].T, t[x], t[y].T
        if a.shape[-1] == b.shape[0]:
            check(ta @ tb, a @ b)
            check(tt.einsum("ij,jk->ki", ta, tb), (a @ b).T)
        check(tt.einsum("ij,jk->i", ta[:, :1], tb[:1]), np.einsum("ij,jk->i", a[:, :1], b[:1]))
    row = np.broadcast_to(base[0, 0], (10, 10))
    check(
        tt.matmul(tt.broadcast_to(t[0, 0], (10, 10)), t[0].T)
        if hasattr(tt, "broadcast_to")
        else tt.asarray(row @ base[0].T),
        row @ base[0].T,
    )
    check(tt.einsum("abc,cbd->da", t, t.T[:, :, ::2]), np.einsum("abc,cbd->da", base, base.T[:, :, ::2]))


@pytest.mark.parametrize("dtype", ["float64", "float16", "complex64", "int8", "bool"])
def test_vectors(dtype):
    a, b = make((3, 4), dtype), make((3, 4), dtype, 1)
    both("vdot", a, b)
    both("inner", a, b)
    both("inner", make((2, 3, 4), dtype), make((5, 2, 4), dtype, 2))
    both("outer", a, make(5, dtype))
    both("vecdot", a, b)
    both("vecdot", a, b, axis=0)
    both("vecdot", make((2, 1, 4), dtype), b)
    both("vecdot", a, b, keepdims=True)
    both("linalg.vecdot", a, b)
    both("matvec", make((2, 3, 4), dtype), make((4,), dtype))
    both("vecmat", make((2, 3), dtype), make((3, 4), dtype))
    both("linalg.outer", a[0], b[1])


@pytest.mark.parametrize("axes", [0, 1, 2, ([2, 1], [0, 1]), (2, 0), ([-1], [0]), ([], [])], ids=str)
def test_tensordot(axes):
    a, b = make((2, 3, 4), "float64"), make((3, 4, 5) if axes == 2 else (4, 3, 2), "float64", 1)
    check(tt.tensordot(tt.asarray(a), tt.asarray(b), axes), np.tensordot(a, b, axes))
    check(tt.linalg.tensordot(tt.asarray(a), tt.asarray(b), axes=axes), np.tensordot(a, b, axes))


def test_kron_and_cross():
    for a, b in [((2, 3), (3, 2)), ((3,), (2, 2)), ((), (3,)), ((2, 1, 2), (3, 2))]:
        both("kron", make(a, "float64"), make(b, "float64", 1))
    for a, b in [((3,), (3,)), ((4, 3), (3,)), ((4, 3), (4, 3)), ((2, 1, 3), (5, 3))]:
        both("cross", make(a, "float32"), make(b, "float32", 1))
        both("linalg.cross", make(a, "int64"), make(b, "int64", 1))
    both("cross", make((3, 4), "float64"), make((3, 4), "float64", 1), axis=0)
    both("cross", make((3, 4, 5), "float64"), make((4, 5, 3), "float64", 1), axisa=0, axisc=1)


@pytest.mark.filterwarnings("ignore:.*2-dimensional vectors.*:DeprecationWarning")
@pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) >= "2.5.0", reason="NumPy 2.5 has no cross product of flat vectors"
)
def test_cross_of_flat_vectors():
    for a, b in [((2,), (2,)), ((2,), (3,)), ((4, 3), (4, 2))]:
        both("cross", make(a, "float64"), make(b, "float64", 1))


def test_chains_and_traces():
    chain = [make(s, "float64", i) for i, s in enumerate([(10, 30), (30, 5), (5, 60), (60, 2)])]
    check(tt.linalg.multi_dot(list(map(tt.asarray, chain))), np.linalg.multi_dot(chain))
    ends = [chain[0][0], *chain[1:3], chain[3][:, 0]]
    check(tt.linalg.multi_dot(list(map(tt.asarray, ends))), np.linalg.multi_dot(ends))
    check(tt.linalg.multi_dot(list(map(tt.asarray, chain[:2]))), chain[0] @ chain[1])
    for dtype in ["int8", "float32", "bool", "float64"]:
        a = make((3, 4, 5), dtype)
        for k in [-9, -1, 0, 2, 9]:
            both("trace", a, offset=k)
            both("trace", a, offset=k, axis1=2, axis2=0)


EINSUM = [
    ("ij,jk", (2, 3), (3, 4)),
    ("ij,jk->ki", (2, 3), (3, 4)),
    ("ij,jk->", (2, 3), (3, 4)),
    ("ij,ij->ij", (2, 3), (2, 3)),
    ("i,j", (2,), (3,)),
    ("i,i", (4,), (4,)),
    ("ii", (3, 3)),
    ("ii->i", (3, 3)),
    ("ij->ji", (2, 3)),
    ("ij->", (2, 3)),
    ("ij->j", (2, 3)),
    ("ba", (2, 3)),
    ("Ba", (2, 3)),
    ("...ii->...i", (2, 3, 3)),
    ("...ij,...jk", (2, 2, 3), (3, 4)),
    ("...ij,...jk->...ik", (2, 1, 2, 3), (5, 3, 4)),
    ("i...,i...->...", (2, 3), (2, 3)),
    ("bij,bjk->bik", (2, 3, 4), (2, 4, 5)),
    ("bhid,bhjd->bhij", (2, 2, 3, 4), (2, 2, 5, 4)),
    ("ijk,jil->kl", (2, 3, 4), (3, 2, 5)),
    ("iij,j->i", (3, 3, 4), (4,)),
    ("ij,jk,kl", (2, 3), (3, 4), (4, 5)),
    ("ij,jk,kl->", (2, 3), (3, 4), (4, 5)),
    ("i,j,k->kji", (2,), (3,), (4,)),
    ("ab,bc,cd,de,ea", (2, 3), (3, 4), (4, 5), (5, 2), (2, 2)),
    ("i,ij,j", (3,), (3, 4), (4,)),
    (",ij", (), (2, 3)),
    ("->", ()),
    ("i,i", (1,), (3,)),
    ("ij,ij->i", (2, 1), (2, 3)),
    ("ii,ij", (1, 1), (3, 4)),
    (" i j , j k -> i k ", (2, 3), (3, 4)),
    ("ij,kj->ik", (0, 3), (2, 3)),
    ("ij,jk->ik", (2, 0), (0, 4)),
    ("ijkl,lk->ij", (2, 3, 4, 5), (5, 4)),
    ("...,...", (2, 3), (3,)),
    ("i...->...i", (2, 3, 4)),
    ("ij...,jk...->ik...", (2, 3, 5), (3, 4, 5)),
    ("ijij->ij", (2, 3, 2, 3)),
    ("abcd->", (2, 1, 3, 2)),
]


@pytest.mark.parametrize("case", EINSUM, ids=lambda c: c[0])
@pytest.mark.parametrize("dtype", ["float64", "float32", "complex64", "int64", "int8", "float16", "bool"])
def test_einsum(case, dtype):
    text, *shapes = case
    arrays = [make(s, dtype, i) for i, s in enumerate(shapes)]
    check(tt.einsum(text, *map(tt.asarray, arrays)), np.einsum(text, *arrays), np.einsum(text, *map(wide, arrays)))


def test_einsum_views():
    a = tt.zeros((3, 3))
    tt.einsum("ii->i", a)[...] = tt.arange(3)
    np.testing.assert_array_equal(a.numpy(), np.diag([0.0, 1, 2]))
    tt.einsum("ij->ji", a)[0, 1] = 7
    assert float(a[1, 0]) == 7


def test_einsum_forms():
    a, b = make((2, 3), "float64"), make((3, 4), "float64", 1)
    ta, tb = tt.asarray(a), tt.asarray(b)
    check(tt.einsum(ta, [0, 1], tb, [1, 2], [2, 0]), np.einsum(a, [0, 1], b, [1, 2], [2, 0]))
    check(tt.einsum(ta, [0, 1], tb, [1, 2]), np.einsum(a, [0, 1], b, [1, 2]))
    check(tt.einsum(ta, [Ellipsis, 1], [1, Ellipsis]), np.einsum(a, [Ellipsis, 1], [1, Ellipsis]))
    check(tt.einsum("ij,jk", ta, tb, optimize="greedy"), a @ b)
    out = tt.zeros((2, 4))
    assert tt.einsum("ij,jk", ta, tb, out=out) is out
    check(out, a @ b)
    ones = np.ones((2, 2), "int8")
    check(tt.einsum("ij->", tt.asarray(ones), dtype="float32"), np.einsum("ij->", ones, dtype="float32"))


@pytest.mark.parametrize(
    "args",
    [
        ("ij,jk", (2, 3)),
        ("ij", (2, 3), (3, 4)),
        ("ijk", (2, 3)),
        ("i", (2, 3)),
        ("i1", (2, 3)),
        ("i.j", (2, 3)),
        ("ij->ik", (2, 3)),
        ("ij->ii", (2, 3)),
        ("ii", (2, 3)),
        ("ij,jk", (2, 3), (2, 3)),
        ("...ij->ij", (2, 2, 3)),
        ("ij,jk->ik->", (2, 3), (3, 4)),
        ("ij..k", (2, 3)),
        ("...i...", (2, 3)),
        ("i...->i", (2, 3)),
        ("ij-", (2, 3)),
        ("ij->i>", (2, 3)),
        ("", (2, 3)),
        ("ii->i", (1, 3)),
        ("...,...", (2, 3), (4,)),
    ],
    ids=str,
)
def test_einsum_errors(args):
    same_error(lambda m: m.einsum(args[0], *(m.ones(s) for s in args[1:])))


def test_einsum_other_errors():
    same_error(lambda m: m.einsum())
    same_error(lambda m: m.einsum("i,i", m.ones(3), m.ones(3), dtype=m.int32))
    same_error(lambda m: m.einsum("i,i", m.ones(3), m.ones(3), out=m.ones(2)))
    same_error(lambda m: m.einsum(m.ones((2, 3)), [0, 60]))


@pytest.mark.parametrize(
    "call",
    [
        lambda m: m.dot(m.ones((2, 3)), m.ones((2, 3))),
        lambda m: m.dot(m.ones(3), m.ones((2, 3))),
        lambda m: m.inner(m.ones((2, 3)), m.ones((3, 4))),
        lambda m: m.vdot(m.ones((2, 3)), m.ones((3, 4))),
        lambda m: m.tensordot(m.ones((2, 3)), m.ones((3, 4)), ([0], [0])),
        lambda m: m.tensordot(m.ones((2, 3)), m.ones((3, 4)), 3),
        lambda m: m.tensordot(m.ones((2, 3)), m.ones((3, 4)), ([1], [0, 1])),
        lambda m: m.vecdot(m.ones((2, 3)), m.ones(4)),
        lambda m: m.matvec(m.ones((2, 3)), m.ones(2)),
        lambda m: m.vecmat(m.ones(3), m.ones((2, 3))),
        lambda m: m.cross(m.ones((2, 3)), m.ones(3), 5),
        lambda m: m.trace(m.ones(3)),
        lambda m: m.trace(m.ones((2, 2)), axis1=0, axis2=0),
        lambda m: m.linalg.multi_dot([m.ones((2, 2))]),
        lambda m: m.linalg.multi_dot([m.ones((2, 2, 2)), m.ones((2, 2)), m.ones((2, 2))]),
        lambda m: m.linalg.cross(m.ones(2), m.ones(2)),
        lambda m: m.linalg.outer(m.ones((2, 3)), m.ones(3)),
        lambda m: m.matmul(m.ones((2, 3)), m.ones((2, 3))),
        lambda m: m.matmul(m.ones((2, 3)), 2.0),
    ],
)
def test_errors(call):
    same_error(call)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_batches_of_small_ones_as_one_by_one(dtype, host):
    """Widths beside those of vectors, few rows: in a batch the bits of each alone."""
    rng = np.random.default_rng(2)
    for m in range(1, 10):
        for n in (1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33):
            a, b = rng.random((3, m, 5)).astype(dtype), rng.random((3, 5, n)).astype(dtype)
            got = np.asarray(tt.array(a) @ tt.array(b))
            alone = np.stack([np.asarray(tt.array(x) @ tt.array(y)) for x, y in zip(a, b)])
            assert got.tobytes() == alone.tobytes(), (m, n)
            np.testing.assert_allclose(got, a @ b, rtol=1e-5)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64"])
def test_steps_of_axes_of_length_one_change_no_bits(dtype):
    """A row that is turned and a column that was stored lie alike, but for the step along the axis of length 1."""
    for n, k in itertools.product((1, 2, 7, 8, 9, 33, 100, 700), (1, 2, 3, 7, 8, 9, 40, 300)):
        x, turned = tt.asarray(make((n, k), dtype)), tt.asarray(make((1, k), dtype, 1)).T
        column = tt.asarray(make((1, k), dtype, 1).reshape(k, 1))
        assert (x @ turned).tobytes() == (x @ column).tobytes(), (n, k)
        assert (turned.T @ x.T).tobytes() == (column.reshape(1, k) @ x.T).tobytes(), (n, k)
        stack = tt.broadcast_to(x, (3, n, k))
        assert (stack @ turned).tobytes() == (stack @ column).tobytes(), (n, k)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "m, k, n", [(100, 10, 5), (5, 100, 10), (4, 500, 4), (4, 700, 4), (100, 5, 1), (2, 8, 1), (3, 63, 17)]
)
def test_small_products_of_transposed_operands_have_the_bits_of_those_of_copies(m, k, n, dtype):
    draws = np.random.default_rng(0)
    a, b = draws.standard_normal((k, m)).astype(dtype), draws.standard_normal((n, k)).astype(dtype)
    made = (tt.array(a).T @ tt.array(b).T).numpy()
    np.testing.assert_array_equal(made, (tt.array(a.T.copy()) @ tt.array(b.T.copy())).numpy())
    np.testing.assert_allclose(made, (a.T.astype("f8") @ b.T.astype("f8")), rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("m, k, n", [
    (8, 48, 48), (49, 131, 97), (64, 1, 64), (2, 2100, 2), (1, 1025, 90), (90, 1025, 1), (100, 3000, 60), (60, 0, 60),
])  # fmt: skip
def test_halves_in_any_layout(dtype, m, k, n):
    """Panels of pairs end in the middle of one, or lie along k, across it or apart; threads change no bits."""
    r = np.random.default_rng(m * k + n)
    a, b = (tt.array(r.standard_normal(s)).astype(dtype) for s in ((m, k), (k, n)))
    want = a.astype("float64").numpy() @ b.astype("float64").numpy()
    turned = [tt.array(x.astype("float64").numpy().T.copy()).astype(dtype).T for x in (a, b)]
    apart = [tt.repeat(x, 2, axis=1)[:, ::2] for x in (a, b)]
    back = [x[::-1, ::-1].astype(dtype).copy()[::-1, ::-1] for x in (a, b)]
    threads, seen = tt.get_num_threads(), []
    try:
        for count, (x, y) in [(1, (a, b)), (2, (a, b)), (2, turned), (3, apart), (1, back), (1, (a, turned[1]))]:
            tt.set_num_threads(count)
            seen.append((x @ y).astype("float64").numpy())
    finally:
        tt.set_num_threads(threads)
    tolerance = 1e-3 if dtype == "float16" else 8e-3
    for got in seen:
        np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance * max(1, np.abs(want).max(initial=0)))
    assert (seen[0] == seen[1]).all()


GAPS = """
import numpy as np, tutti as tt
for dtype in ("float32", "float64"):
    for k in range(1, 19):
        rng = np.random.default_rng(k)
        table, by = rng.standard_normal((1003, k + 1)).astype(dtype), rng.standard_normal(k).astype(dtype)
        table[5, 0], table[17] = np.inf, -0.0
        gaps = np.asarray(tt.array(table)[:, :k] @ tt.array(by))
        lying = np.asarray(tt.array(np.ascontiguousarray(table[:, :k])) @ tt.array(by))
        np.testing.assert_array_equal(lying.view("u1"), gaps.view("u1"))
        np.testing.assert_allclose(lying, table[:, :k].astype("float64") @ by, rtol=1e-3, atol=1e-5)
"""


def test_rows_with_and_without_gaps_have_the_same_bits():
    """By our own loops: where a processor has none, BLAS multiplies, and its last rows hang on the step."""
    ran = subprocess.run(
        [sys.executable, "-c", GAPS], env=os.environ | {"TUTTI_BLAS": "none"}, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
