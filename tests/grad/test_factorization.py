"""Gradients through linear algebra: stacks, real and complex, tall and wide, singular where that has a slope."""

import numpy as np
import pytest
import tutti as tt
from differences import backward, check, check_second

linalg = tt.linalg
REAL, COMPLEX = "real", "complex"
TYPES = pytest.mark.parametrize("kind", [REAL, COMPLEX])
SQUARE = pytest.mark.parametrize("shape", [(1, 1), (2, 2), (3, 3), (8, 8), (2, 3, 3)], ids=str)
ANY = pytest.mark.parametrize("shape", [(4, 3), (3, 4), (3, 3), (1, 3), (3, 1), (2, 4, 3), (2, 3, 4)], ids=str)


def make(kind, *shape, seed=3):
    rng = np.random.default_rng(seed)
    a = rng.standard_normal(shape)
    return a + 1j * rng.standard_normal(shape) if kind == COMPLEX else a


def regular(kind, *shape):
    return make(kind, *shape) + 3 * np.eye(shape[-1])


def swap(a):
    return a.conj().swapaxes(-1, -2)


def hermitian(a):
    return (a + swap(a)) / 2


def positive(a):
    return a @ swap(a) + 2 * tt.eye(a.shape[-1])


# ---- square matrices


@TYPES
@SQUARE
def test_solve_and_inverse(kind, shape):
    a, b = regular(kind, *shape), make(kind, *shape[:-1], 2, seed=4)
    check(linalg.solve, a, b)
    check(linalg.inv, a)
    check(lambda x: linalg.matrix_power(x, 5), a / 4)
    check(lambda x: linalg.matrix_power(x, -2), a)


@TYPES
@pytest.mark.parametrize("a, b", [((3, 3), (3,)), ((2, 3, 3), (3, 2)), ((3, 3), (2, 3, 2)), ((3, 1, 2, 2), (4, 2, 1))])
def test_solve_broadcasts(kind, a, b):
    check(linalg.solve, regular(kind, *a), make(kind, *b, seed=4))


def test_solve_of_two_types():
    check(linalg.solve, regular(REAL, 3, 3), make(COMPLEX, 3, 2))
    check(linalg.solve, regular(COMPLEX, 3, 3), make(REAL, 3, 2))


@TYPES
@SQUARE
def test_determinants(kind, shape):
    a = make(kind, *shape)
    check(linalg.det, a)
    check(lambda x: tuple(linalg.slogdet(x)), a)
    check(lambda x: linalg.slogdet(x)[1], a)


@pytest.mark.parametrize("singular", [[[1, 2], [2, 4]], [[0, 1], [0, 0]], np.diag([1, 2, 0]), np.zeros((2, 2)),
                                      np.zeros((3, 3)), np.ones((3, 3))], ids=str)  # fmt: skip
def test_determinant_of_a_singular_matrix(singular):
    check(linalg.det, np.array(singular, float))


def test_sign_alone_has_no_slope():
    (g,) = backward(lambda x: linalg.slogdet(x)[0], regular(REAL, 3, 3))
    np.testing.assert_array_equal(g, np.zeros((3, 3)))


@TYPES
@SQUARE
def test_cholesky(kind, shape):
    for upper in (False, True):
        check(lambda x, u=upper: linalg.cholesky(positive(x), upper=u), make(kind, *shape))


# ---- QR, singular values


@TYPES
@ANY
def test_qr(kind, shape):
    a = make(kind, *shape)
    check(lambda x: tuple(linalg.qr(x)), a)
    check(lambda x: linalg.qr(x)[0], a)
    check(lambda x: linalg.qr(x)[1], a)
    check(lambda x: linalg.qr(x, "r"), a)
    check(lambda x: linalg.qr(x, "complete")[1], a)
    if shape[-2] <= shape[-1]:
        check(lambda x: tuple(linalg.qr(x, "complete")), a)


def test_qr_without_a_slope():
    with pytest.raises(NotImplementedError, match="mode='complete' and nrows > ncols"):
        backward(lambda x: linalg.qr(x, "complete")[0], make(REAL, 4, 3))


def without_phase(full):
    """What of a decomposition does not depend on the factor that vectors are free to have."""

    def f(a):
        u, s, vh = linalg.svd(a, full_matrices=full)
        k = s.shape[-1]
        return abs(u[..., :k]), s, abs(vh[..., :k, :]), u[..., :1] @ vh[..., :1, :]

    return f


@TYPES
@ANY
def test_svd(kind, shape):
    a = make(kind, *shape)
    check(without_phase(False), a)
    check(without_phase(True), a)
    check(lambda x: abs(linalg.svd(x, full_matrices=False)[0]), a)
    check(lambda x: abs(linalg.svd(x, full_matrices=False)[2]), a)
    check(lambda x: linalg.svd(x)[1], a)
    check(linalg.svdvals, a)
    if kind == REAL:
        check(lambda x: tuple(linalg.svd(x, full_matrices=False)), a)


# ---- eigenvalues


@TYPES
@SQUARE
def test_hermitian_eigenvalues(kind, shape):
    a = make(kind, *shape)
    check(lambda x: linalg.eigvalsh(hermitian(x)), a)
    check(lambda x: linalg.eigh(hermitian(x), "U")[0], a)

    def both(x):
        w, v = linalg.eigh(hermitian(x))
        return w, abs(v), v[..., :1] @ swap(v[..., :1])

    check(both, a)
    if kind == REAL:
        check(lambda x: tuple(linalg.eigh(hermitian(x))), a)


@TYPES
@SQUARE
def test_eigenvalues(kind, shape):
    a = make(kind, *shape)
    check(linalg.eigvals, a)

    def both(x):
        w, v = linalg.eig(x)
        return w, abs(v)

    check(both, a)


def test_real_eigenvalues_of_a_real_matrix():
    a = make(REAL, 3, 3) * 0.2 + np.diag([1.0, 3, 5])
    assert linalg.eigvals(tt.array(a)).dtype == "float64"
    check(lambda x: tuple(linalg.eig(x)), a)


@pytest.mark.parametrize("triangle", ["L", "U"])
@TYPES
def test_gradients_of_eigenvectors_are_hermitian(kind, triangle):
    """Whatever lies in the triangle that is not read: steps along the gradient stay among Hermitian matrices."""
    (g,) = backward(lambda x: tt.abs(linalg.eigh(x, triangle)[1]), make(kind, 4, 4))
    np.testing.assert_allclose(g, g.conj().T, atol=1e-12)


@pytest.mark.parametrize("f", [lambda x: linalg.svd(x)[0], lambda x: linalg.eigh(hermitian(x))[1],
                               lambda x: linalg.eig(x)[1]])  # fmt: skip
def test_what_depends_on_the_phase_is_an_error(f):
    with pytest.raises(RuntimeError, match="phase term, making it ill-defined"):
        backward(f, make(COMPLEX, 3, 3))


# ---- least squares


@TYPES
@pytest.mark.parametrize("shape", [(4, 3), (3, 4), (3, 3), (5, 1), (1, 5)], ids=str)
def test_least_squares(kind, shape):
    a, b = make(kind, *shape), make(kind, shape[0], 2, seed=4)
    check(lambda x, y: linalg.lstsq(x, y)[0], a, b)
    check(lambda x, y: linalg.lstsq(x, y)[0], a, b[:, 0])
    check(lambda x, y: [r for k, r in enumerate(linalg.lstsq(x, y)) if k != 2], a, b)
    check(lambda x, y: [r for k, r in enumerate(linalg.lstsq(x, y)) if k in (1, 3) and r.size], a, b)


@TYPES
def test_least_squares_without_full_rank(kind):
    b = make(kind, 4, 2, seed=5)
    check(lambda x, y, z: linalg.lstsq(x @ y, z)[0], make(kind, 4, 2), make(kind, 2, 3, seed=4), b)
    check(lambda x, y: linalg.lstsq(x, y)[0], np.eye(3, dtype=b.dtype), b[:3])


# ---- functions made of these


@TYPES
@ANY
@pytest.mark.parametrize("order", [None, "fro", "nuc", 2, -2, 1, -1, np.inf, -np.inf])
def test_matrix_norms(kind, shape, order):
    check(lambda x: linalg.norm(x, order, axis=(-2, -1)), make(kind, *shape))


@TYPES
@pytest.mark.parametrize("order", [None, 1, 2, 3, 0.5, -1, np.inf, -np.inf])
def test_vector_norms(kind, order):
    check(lambda x: linalg.norm(x, order, axis=-1), make(kind, 2, 9))


@TYPES
def test_of_singular_values(kind):
    for p in (None, 2, -2, 1, np.inf, "fro", "nuc"):
        check(lambda x, p=p: linalg.cond(x, p), make(kind, 3, 3), tolerance=1e-5)
    for shape in ((4, 3), (3, 4), (3, 3), (2, 3, 4)):
        check(linalg.pinv, make(kind, *shape))
    check(linalg.pinv, np.eye(3, dtype=make(kind, 1).dtype))
    check_second(linalg.pinv, make(kind, 3, 2))
    check(lambda x: linalg.pinv(x, rtol=tt.array([0.1, 0.5])), make(kind, 3, 2))
    check_second(linalg.pinv, np.eye(3, 4, dtype=make(kind, 1).dtype))
    check(lambda x, y: linalg.pinv(x @ y, rcond=1e-9), make(kind, 4, 2), make(kind, 2, 3, seed=4))
    check(lambda x: linalg.tensorinv(x, 1), make(kind, 4, 2, 2))
    check(linalg.tensorsolve, make(kind, 2, 2, 4), make(kind, 2, 2))


# ---- derivatives of derivatives


@TYPES
def test_second(kind):
    a, b = regular(kind, 3, 3), make(kind, 3, 2, seed=4)
    check_second(linalg.solve, a, b)
    check_second(linalg.inv, a)
    check_second(linalg.det, a)
    check_second(lambda x: linalg.slogdet(x)[1], a)
    check_second(lambda x: linalg.cholesky(positive(x)), a / 2)
    check_second(lambda x: tuple(linalg.qr(x)), make(kind, 4, 3))
    check_second(lambda x: tuple(linalg.qr(x)), make(kind, 3, 4))
    check_second(without_phase(False), make(kind, 4, 3), tolerance=1e-4)
    check_second(linalg.svdvals, make(kind, 3, 4))
    check_second(lambda x: linalg.eigvalsh(hermitian(x)), a)
    check_second(linalg.eigvals, a)
    check_second(lambda x, y: linalg.lstsq(x, y)[0], make(kind, 4, 3), make(kind, 4, 2, seed=4))
