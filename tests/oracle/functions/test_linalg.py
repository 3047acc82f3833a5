"""tutti.linalg against numpy.linalg in double precision."""

import itertools
import re

import numpy as np
import pytest
import tutti as tt

FLOATS = ["float64", "float32", "complex128", "complex64", "int32", "bool"]
INF = float("inf")


def make(shape, dtype="float64", seed=0):
    rng = np.random.default_rng(seed)
    if dtype == "bool":
        return np.eye(*shape[-2:], dtype=bool) | np.zeros(shape, bool)
    if dtype.startswith("complex"):
        return (rng.uniform(-1, 1, shape) + 1j * rng.uniform(-1, 1, shape)).astype(dtype)
    if dtype.startswith("float"):
        return rng.uniform(-1, 1, shape).astype(dtype)
    return rng.integers(-5, 6, shape).astype(dtype)


def square(shape, dtype="float64", seed=0):
    """Matrices that have an inverse."""
    return (make(shape, dtype, seed) + np.eye(shape[-1]) * 3).astype(dtype) if dtype != "bool" else make(shape, dtype)


def hermitian(shape, dtype="float64"):
    a = make(shape, dtype)
    return a if dtype == "bool" else (a + a.conj().swapaxes(-1, -2)).astype(dtype)


def positive(shape, dtype="float64"):
    a = make(shape, dtype)
    return a if dtype == "bool" else (a @ a.conj().swapaxes(-1, -2) + 4 * np.eye(shape[-1])).astype(dtype)


def tolerance(dtype):
    return 2e-4 if str(dtype) in ("float32", "complex64") else 1e-10


def check(got, want, like=None):
    want = np.asarray(want)
    assert tuple(got.shape) == want.shape
    assert str(got.dtype) == str(want.dtype)
    t = tolerance(like or want.dtype)
    np.testing.assert_allclose(got.numpy(), want, rtol=t, atol=t)


def near(a, b, dtype):
    np.testing.assert_allclose(a, b, rtol=tolerance(dtype), atol=tolerance(dtype) * 4)


def same_error(call):
    """`call(module)` raises the same type with the same words in both, at the latest when one looks."""
    with pytest.raises(Exception) as want:
        call(np)
    with pytest.raises(Exception) as got:
        tt.eval(*(r if isinstance(r := call(tt), tuple) else (r,)))
    assert type(got.value).__name__ == type(want.value).__name__
    assert str(got.value) == str(want.value)


SQUARES = [(1, 1), (3, 3), (0, 0), (2, 3, 3), (2, 0, 3, 3), (40, 40), (3, 2, 4, 4)]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", SQUARES, ids=str)
def test_square_functions(shape, dtype):
    a = square(shape, dtype)
    t = tt.asarray(a)
    check(tt.linalg.inv(t), np.linalg.inv(a))
    if shape[-1] < 10:
        check(tt.linalg.det(t), np.linalg.det(a))
    got, want = tt.linalg.slogdet(t), np.linalg.slogdet(a)
    check(got.sign, want.sign)
    check(got.logabsdet, want.logabsdet)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    "a, b",
    [
        ((3, 3), (3,)),
        ((3, 3), (3, 2)),
        ((2, 3, 3), (3, 2)),
        ((3, 3), (4, 3, 1)),
        ((2, 1, 3, 3), (5, 3, 2)),
        ((0, 0), (0, 2)),
        ((3, 3), (3, 0)),
        ((1, 1), (1,)),
        ((2, 3, 3), (3,)),
    ],
    ids=str,
)
def test_solve(a, b, dtype):
    x, y = square(a, dtype), make(b, "int32" if dtype == "bool" else dtype, 1)
    check(tt.linalg.solve(tt.asarray(x), tt.asarray(y)), np.linalg.solve(x, y))


def test_strided_operands():
    base = make((9, 9, 4))
    t = tt.asarray(base)
    for cut in [np.s_[::2, ::2, 1], np.s_[5:0:-1, 1:6, 0], np.s_[:5, :5, 3]]:
        a, ta = base[cut] + 4 * np.eye(5), t[cut] + 4 * tt.eye(5)
        check(tt.linalg.inv(ta.T), np.linalg.inv(a.T))
        check(tt.linalg.solve(ta, t[cut].T), np.linalg.solve(a, base[cut].T))
    check(tt.linalg.det(t.T), np.linalg.det(base.T))
    check(tt.linalg.svdvals(t[::3, :, ::-1]), np.linalg.svdvals(base[::3, :, ::-1]))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", SQUARES, ids=str)
def test_cholesky_and_eigh(shape, dtype):
    a, h = positive(shape, dtype), hermitian(shape, dtype)
    check(tt.linalg.cholesky(tt.asarray(a)), np.linalg.cholesky(a))
    check(tt.linalg.cholesky(tt.asarray(a), upper=True), np.linalg.cholesky(a, upper=True))
    for side in "LU":
        w, v = tt.linalg.eigh(tt.asarray(h), side)
        want = np.linalg.eigh(h, side)
        check(w, want.eigenvalues)
        assert str(v.dtype) == str(want.eigenvectors.dtype)
        v, w = v.numpy(), w.numpy()
        near(h.astype(v.dtype) @ v, v * w[..., None, :], v.dtype)
        near(v.conj().swapaxes(-1, -2) @ v, np.eye(shape[-1]) + np.zeros(shape), v.dtype)
        check(tt.linalg.eigvalsh(tt.asarray(h), UPLO=side), np.linalg.eigvalsh(h, side))


RECTANGLES = [(3, 3), (5, 2), (2, 5), (1, 4), (4, 1), (0, 3), (3, 0), (2, 4, 3), (2, 0, 3, 2), (30, 20)]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", RECTANGLES, ids=str)
def test_qr_and_svd(shape, dtype):
    a = make(shape, dtype)
    t = tt.asarray(a)
    for mode in ["reduced", "complete"]:
        q, r = tt.linalg.qr(t, mode)
        want = np.linalg.qr(a, mode)
        assert tuple(q.shape) == want.Q.shape and tuple(r.shape) == want.R.shape and str(q.dtype) == str(want.Q.dtype)
        q, r = q.numpy(), r.numpy()
        near(q @ r, a, q.dtype)
        near(q.conj().swapaxes(-1, -2) @ q, np.eye(q.shape[-1]) + np.zeros((*q.shape[:-2], 1, 1)), q.dtype)
        assert np.all(np.tril(r, -1) == 0)
    near(np.abs(tt.linalg.qr(t, mode="r").numpy()), np.abs(np.linalg.qr(a, "r")), want.R.dtype)
    for full in [True, False]:
        got, want = tt.linalg.svd(t, full), np.linalg.svd(a, full)
        check(got.S, want.S)
        assert tuple(got.U.shape) == want.U.shape and tuple(got.Vh.shape) == want.Vh.shape
        u, s, v = (x.numpy() for x in got)
        k = s.shape[-1]
        near((u[..., :k] * s[..., None, :]) @ v[..., :k, :], a, u.dtype)
    check(tt.linalg.svd(t, compute_uv=False), np.linalg.svd(a, compute_uv=False))
    check(tt.linalg.svdvals(t), np.linalg.svdvals(a))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", SQUARES, ids=str)
def test_eig(shape, dtype):
    for a in [make(shape, dtype), hermitian(shape, dtype)]:
        w, v = tt.linalg.eig(tt.asarray(a))
        single = dtype in ("float32", "complex64")
        real, wide = ("float32", "complex64") if single else ("float64", "complex128")
        assert str(w.dtype) in (real, wide)  # NumPy's releases differ on when real eigenvalues come back real
        if str(w.dtype) == real:
            assert np.abs(np.linalg.eigvals(a).imag).max(initial=0) == 0
        near(a.astype(v.numpy().dtype) @ v.numpy(), v.numpy() * w.numpy()[..., None, :], v.dtype)
        near(
            np.sort_complex(np.round(tt.linalg.eigvals(tt.asarray(a)).numpy(), 2)),
            np.sort_complex(np.round(w.numpy(), 2)),
            "float32",
        )


def test_one_run_gives_all_results():
    tt.eval(tt.ones(3))
    before = tt.ledger()["library_calls"]
    u, s, v = tt.linalg.svd(tt.asarray(make((6, 6))))
    s.numpy()
    u.numpy()
    v.numpy()
    assert tt.ledger()["library_calls"] - before == 1
    q = tt.linalg.qr(tt.asarray(make((6, 6)))).Q  # the other one is gone
    near(q.numpy().T @ q.numpy(), np.eye(6), "float64")
    del u, s, v
    lazy = tt.linalg.slogdet(tt.asarray(make((2, 2))))
    kept = lazy.logabsdet
    del lazy
    assert np.isfinite(float(kept))


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128", "int32"])
@pytest.mark.parametrize(
    "a, b",
    [((5, 3), (5,)), ((5, 3), (5, 2)), ((3, 5), (3,)), ((3, 3), (3, 2)), ((3, 3), (3, 0)), ((5, 1), (5,))],
    ids=str,
)
def test_lstsq(a, b, dtype):
    x, y = make(a, dtype), make(b, dtype, 1)
    for got, want in zip(tt.linalg.lstsq(tt.asarray(x), tt.asarray(y)), np.linalg.lstsq(x, y), strict=True):
        check(got, want)


def test_lstsq_of_low_rank():
    x = np.ones((5, 3), "float32")
    for got, want in zip(
        tt.linalg.lstsq(tt.asarray(x), tt.ones(5, dtype="float32")),
        np.linalg.lstsq(x, np.ones(5, "float32")),
        strict=True,
    ):
        np.testing.assert_allclose(got.numpy(), want, atol=1e-5)


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "complex64", "int8"])
def test_norm(dtype):
    vector, matrix, stack = make(7, "float64"), make((4, 5)), make((2, 3, 4))
    vector, matrix, stack = (
        np.asarray(make(x.shape, "float32" if dtype == "float16" else dtype)).astype(dtype)
        for x in (vector, matrix, stack)
    )

    def both(function, a, **keywords):
        want = getattr(np.linalg, function)(a, **keywords)
        got = getattr(tt.linalg, function)(tt.asarray(a), **keywords)
        assert tuple(got.shape) == np.shape(want) and str(got.dtype) == str(want.dtype)
        np.testing.assert_allclose(got.numpy(), want, rtol=5e-3 if dtype == "float16" else tolerance(want.dtype))

    for keep in [False, True]:
        for ord in [None, 0, 1, 2, 3, 0.5, -1, -2, INF, -INF]:
            both("norm", vector, ord=ord, keepdims=keep)
            both("norm", stack, ord=ord, axis=1, keepdims=keep)
            if ord is not None:
                both("vector_norm", stack, ord=ord, keepdims=keep)
                both("vector_norm", stack, ord=ord, axis=(0, 2), keepdims=keep)
        both("norm", stack, keepdims=keep)
        for ord in [None, "fro", "nuc", 1, -1, 2, -2, INF, -INF]:
            if dtype == "float16" and ord in ("nuc", 2, -2):
                continue
            both("norm", matrix, ord=ord, keepdims=keep)
            both("norm", stack, ord=ord, axis=(2, 0), keepdims=keep)
            if ord is not None:
                both("matrix_norm", stack, ord=ord, keepdims=keep)
    for empty in [np.zeros(0), np.zeros((0, 3)), np.zeros((3, 0))]:
        for ord in [None, 1, 2, INF]:
            both("norm", empty, ord=ord)


def test_norm_is_one_kernel():
    x = tt.asarray(make(100_000, "float32"))
    tt.eval(x)
    before = tt.ledger()["launches"]
    assert abs(float(tt.linalg.norm(x)) - np.linalg.norm(x.numpy())) < 1e-2
    assert tt.ledger()["launches"] - before <= 1


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128", "int32"])
def test_rank_condition_and_inverse(dtype):
    for shape in [(3, 3), (5, 3), (2, 3, 4), (3, 0)]:
        a = make(shape, dtype)
        check(tt.linalg.pinv(tt.asarray(a)), np.linalg.pinv(a))
        check(tt.linalg.matrix_rank(tt.asarray(a)), np.asarray(np.linalg.matrix_rank(a), "int64"))
    low = np.ones((4, 3), dtype)
    check(tt.linalg.pinv(tt.asarray(low)), np.linalg.pinv(low))
    check(tt.linalg.matrix_rank(tt.asarray(low)), np.asarray(1))
    check(tt.linalg.matrix_rank(tt.asarray(low[0])), np.asarray(1))
    check(tt.linalg.matrix_rank(tt.asarray(low), tol=100.0), np.asarray(0))
    check(tt.linalg.pinv(tt.asarray(make((4, 3), dtype)), rcond=0.5), np.linalg.pinv(make((4, 3), dtype), rcond=0.5))
    a = square((2, 3, 3), dtype)
    for p in [None, 1, -1, 2, -2, INF, -INF, "fro"]:
        check(tt.linalg.cond(tt.asarray(a), p), np.linalg.cond(a, p))
    assert np.isinf(float(tt.linalg.cond(tt.zeros((2, 2)), 1)))
    assert np.isnan(float(tt.linalg.cond(tt.full((2, 2), float("nan")), "fro")))


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "complex128"])
def test_powers(dtype):
    a = square((2, 3, 3), dtype)
    for n in [0, 1, 2, 3, 5, 8]:
        check(
            tt.linalg.matrix_power(tt.asarray(a), n),
            np.linalg.matrix_power(a, n),
            "float32" if dtype == "float32" else None,
        )
    for n in [-1, -3]:
        check(tt.linalg.matrix_power(tt.asarray(a), n), np.linalg.matrix_power(a, n))
    a = make((4, 6, 8, 3))
    check(tt.linalg.tensorinv(tt.asarray(a)), np.linalg.tensorinv(a))
    a = make((2, 3, 6))
    check(tt.linalg.tensorsolve(tt.asarray(a), tt.ones((2, 3))), np.linalg.tensorsolve(a, np.ones((2, 3))))
    a = make((2, 6, 3))
    check(
        tt.linalg.tensorsolve(tt.asarray(a), tt.ones((2, 3)), axes=(1,)),
        np.linalg.tensorsolve(a, np.ones((2, 3)), axes=(1,)),
    )


def test_diagonals():
    for dtype, k in itertools.product(["float32", "int8", "bool"], [-5, -1, 0, 2]):
        a = make((2, 3, 4), "int8").astype(dtype)
        check(tt.linalg.diagonal(tt.asarray(a), offset=k), np.linalg.diagonal(a, offset=k))
        check(tt.linalg.trace(tt.asarray(a), offset=k), np.linalg.trace(a, offset=k))
    check(tt.linalg.trace(tt.ones((3, 3)), dtype="float32"), np.float32(3))


@pytest.mark.parametrize(
    "call",
    [
        *(
            lambda m, n=n, a=a: getattr(m.linalg, n)(a(m))
            for n, a in itertools.product(
                ["inv", "det", "slogdet", "cholesky", "eigh", "eigvalsh", "eig", "eigvals"],
                [lambda m: m.ones((2, 3)), lambda m: m.ones(3), lambda m: m.ones((2, 2), dtype="float16")],
            )
        ),
        *(
            lambda m, n=n, a=a: getattr(m.linalg, n)(a(m))
            for n, a in itertools.product(
                ["qr", "svd", "svdvals", "pinv", "cond"],
                [lambda m: m.ones(3), lambda m: m.ones((2, 2), dtype="float16")],
            )
        ),
        lambda m: m.linalg.inv(m.zeros((2, 2))),
        lambda m: m.linalg.solve(m.zeros((2, 2)), m.ones(2)),
        lambda m: m.linalg.cholesky(m.zeros((2, 2))),
        lambda m: m.linalg.svd(m.full((2, 2), float("nan"))),
        lambda m: m.linalg.eig(m.full((2, 2), float("nan"))),
        lambda m: m.linalg.qr(m.ones((2, 2)), "foo"),
        lambda m: m.linalg.eigh(m.ones((2, 2)), "X"),
        lambda m: m.linalg.solve(m.ones((2, 3)), m.ones((2, 3))),
        lambda m: m.linalg.solve(m.ones((2, 2)), m.ones(3)),
        lambda m: m.linalg.solve(m.ones((2, 2)), m.ones((3, 2))),
        lambda m: m.linalg.solve(m.ones((2, 2)), 3.0),
        lambda m: m.linalg.lstsq(m.ones((2, 3)), m.ones(3)),
        lambda m: m.linalg.lstsq(m.ones(3), m.ones(3)),
        lambda m: m.linalg.lstsq(m.ones((2, 3)), m.ones((2, 2, 2))),
        lambda m: m.linalg.norm(m.ones((2, 3)), 3),
        lambda m: m.linalg.norm(m.ones((2, 3)), "foo"),
        lambda m: m.linalg.norm(m.ones(3), "fro"),
        lambda m: m.linalg.norm(m.ones((2, 2, 2)), 2),
        lambda m: m.linalg.norm(m.ones((2, 3)), axis=(0, 1, 2)),
        lambda m: m.linalg.norm(m.ones((2, 3)), axis=(0, 0)),
        lambda m: m.linalg.norm(m.ones((2, 3)), axis=3),
        lambda m: m.linalg.matrix_norm(m.ones(3)),
        lambda m: m.linalg.diagonal(m.ones(3)),
        lambda m: m.linalg.trace(m.ones(3)),
        lambda m: m.linalg.matrix_transpose(m.ones(3)),
        lambda m: m.linalg.cond(m.ones((2, 3)), 1),
        lambda m: m.linalg.cond(m.ones((2, 2)), "foo"),
        lambda m: m.linalg.cond(m.ones((0, 0))),
        lambda m: m.linalg.matrix_rank(m.ones((2, 2)), tol=1, rtol=1),
        lambda m: m.linalg.pinv(m.ones((2, 2)), rcond=1, rtol=1),
        lambda m: m.linalg.matrix_power(m.ones((2, 3)), 2),
        lambda m: m.linalg.matrix_power(m.ones((2, 2)), 2.5),
    ],
)
def test_errors(call):
    same_error(call)


def test_the_process_goes_on_after_an_error():
    with tt.linalg.errstate(defer=True):
        a = tt.linalg.inv(tt.zeros((2, 2)))
    for _ in range(2):
        with pytest.raises(tt.linalg.LinAlgError, match="Singular matrix"):
            a.numpy()
    check(tt.linalg.inv(tt.eye(2) * 2), np.eye(2) / 2)


SINGULAR, NAN = np.ones((3, 3)), np.full((3, 3), np.nan)
FAILING = {
    "inv": (SINGULAR,),
    "solve": (SINGULAR, np.ones(3)),
    "cholesky": (-np.eye(3),),
    "svd": (NAN,),
    "svdvals": (NAN,),
    "eigh": (NAN,),
    "eigvalsh": (NAN,),
    "eig": (NAN,),
    "eigvals": (NAN,),
    "lstsq": (NAN, np.ones(3)),
    "matrix_power": (SINGULAR, -2),
    "pinv": (NAN,),
    "tensorinv": (np.ones((2, 2)), 1),
    "tensorsolve": (SINGULAR, np.ones(3)),
    "matrix_rank": (NAN,),
    "cond": (NAN,),
    "norm": (NAN, 2),
}


@pytest.mark.parametrize("name", FAILING)
@pytest.mark.parametrize("dtype", ["float64", "float32", "complex64"])
def test_the_call_raises(name, dtype):
    args = [x.astype(dtype) if isinstance(x, np.ndarray) else x for x in FAILING[name]]
    ours = [tt.asarray(x) if isinstance(x, np.ndarray) else x for x in args]
    try:
        getattr(np.linalg, name)(*args)
    except np.linalg.LinAlgError as error:
        with pytest.raises(np.linalg.LinAlgError, match=re.escape(str(error))):
            getattr(tt.linalg, name)(*ours)
        with pytest.raises(np.linalg.LinAlgError):
            getattr(tt.linalg, name)(ours[0] + 0, *ours[1:])  # what is pending is computed for it


def test_errors_may_wait(recorded):
    looked = tt.ledger()["evaluations"]

    @tt.linalg.errstate(defer=True)
    def factor(a):
        with tt.linalg.errstate():
            tt.linalg.inv(tt.eye(2))
        return tt.linalg.cholesky(a)

    a = factor(tt.asarray(-np.eye(3)))
    assert tt.ledger()["evaluations"] == looked + 1
    with pytest.raises(tt.linalg.LinAlgError, match="positive definite"):
        a.eval()
    with pytest.raises(tt.linalg.LinAlgError):
        tt.linalg.cholesky(tt.asarray(-np.eye(3)))
