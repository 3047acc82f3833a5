"""A sample of functions and their gradients, first and second, beside JAX's."""

import functools

import numpy as np
import pytest
import tutti as tt

jax = pytest.importorskip("jax", reason="JAX is not installed")
jnp = jax.numpy
pytestmark = pytest.mark.usefixtures("beside_jax")


def make(*shape, seed=3):
    return np.random.default_rng(seed).standard_normal(shape)


A, B, V = make(3, 4), make(4, 3, seed=4), make(6, seed=5)
SQUARE = make(3, 3) + 3 * np.eye(3)
TIES = np.array([2.0, 1, 2, 3, 3, 0])

CASES = {
    "product": (lambda m, x, y: (x @ y).sum(), A, B),
    "tanh of product": (lambda m, x, y: m.tanh(x @ y).mean(), A, B),
    "einsum": (lambda m, x, y: (m.einsum("ij,jk->ki", x, y) ** 2).sum(), A, B),
    "softmax": (lambda m, x: (m.exp(x - x.max()) / m.exp(x - x.max()).sum())[1], V),
    "variance": (lambda m, x: m.var(x, axis=0).sum() + m.std(x), A),
    "ties of max": (lambda m, x: x.max() * 2 + x.min(), TIES),
    "maximum of equals": (lambda m, x: m.maximum(x, 2.0).sum(), TIES),
    "sort": (lambda m, x: (m.sort(x) * m.arange(6)).sum(), V),
    "median": (lambda m, x: m.median(x) + m.quantile(x, 0.3), V),
    "cumprod": (lambda m, x: (m.cumprod(x) ** 2).sum(), V),
    "cumprod with zeros": (lambda m, x: m.cumprod(x).sum(), TIES - 1),
    "prod with zeros": (lambda m, x: m.prod(x), TIES),
    "cumsum": (lambda m, x: m.sin(m.cumsum(x)).sum(), V),
    "choice": (lambda m, x: m.where(x > 0, m.sin(x), x * x).sum() + x[m.asarray([0, 0, 2])].sum(), V),
    "take": (lambda m, x: (m.take(x, m.asarray([5, 0, 0])) ** 2).sum(), V),
    "convolve": (lambda m, x: (m.convolve(x, x, mode="same") ** 2).sum(), V),
    "interp": (lambda m, x: m.interp(x, m.asarray([-2.0, 0, 1, 3]), m.asarray([1.0, 3, 2, 5])).sum(), V),
    "pad": (lambda m, x: (m.pad(x, 2, mode="reflect") ** 2).sum(), V),
    "fft": (lambda m, x: (m.abs(m.fft.fft(x)) ** 2)[1:].sum(), V),
    "rfft": (lambda m, x: m.abs(m.fft.rfft(x, norm="ortho")).sum(), V),
    "irfft": (lambda m, x: (m.fft.irfft(x + 1j * x * x, 7) ** 3).sum(), V),
    "inverse": (lambda m, x: (m.linalg.inv(x) ** 2).sum(), SQUARE),
    "solve": (lambda m, x, y: (m.linalg.solve(x, y[:3]) ** 2).sum(), SQUARE, B),
    "determinant": (lambda m, x: m.linalg.det(x), SQUARE),
    "logarithm of it": (lambda m, x: m.linalg.slogdet(x)[1], SQUARE),
    "cholesky": (lambda m, x: (m.linalg.cholesky(x @ x.T) ** 3).sum(), SQUARE),
    "qr": (lambda m, x: (m.linalg.qr(x)[1] ** 3).sum() + m.linalg.qr(x)[0][0, 0], SQUARE),
    "singular values": (lambda m, x: (m.linalg.svd(x, compute_uv=False) ** 3).sum(), A),
    "eigenvalues": (lambda m, x: (m.linalg.eigh(x + x.T)[0] ** 3).sum(), SQUARE),
    "eigenvectors": (lambda m, x: (m.linalg.eigh(x + x.T)[1] ** 2)[0, 1], SQUARE),
    "norms": (lambda m, x: m.linalg.norm(x) + m.linalg.norm(x, ord=1) + m.linalg.norm(x[0], ord=3), A),
}
SECOND = ["tanh of product", "variance", "sort", "cumprod", "prod with zeros", "convolve", "rfft", "determinant", "qr",
          "singular values", "eigenvectors", "norms"]  # fmt: skip


@functools.cache
def of_jax(name):
    f, *xs = CASES[name]
    return jax.grad(lambda *a: f(jnp, *a), tuple(range(len(xs))))(*map(jnp.asarray, xs))


@functools.cache
def second_of_jax(name):
    f, x, *rest = CASES[name]
    return jax.hessian(lambda a: f(jnp, a, *map(jnp.asarray, rest)))(jnp.asarray(x))


@pytest.mark.parametrize("name", CASES)
def test_gradients(name):
    f, *xs = CASES[name]
    got = tt.grad(lambda *a: f(tt, *a), tuple(range(len(xs))))(*map(tt.array, xs))
    for g, w in zip(got, of_jax(name)):
        np.testing.assert_allclose(g.numpy(), w, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", SECOND)
def test_second_derivatives(name):
    f, x, *rest = CASES[name]
    want = second_of_jax(name)
    got = tt.hessian(lambda a: f(tt, a, *map(tt.array, rest)))(tt.array(x))
    np.testing.assert_allclose(got.numpy(), want, rtol=1e-8, atol=1e-8 * max(1, np.abs(want).max()))


def test_complex_gradients_are_conjugated():
    z = make(4) + 1j * make(4, seed=4)

    def f(m, z):
        return m.abs(m.fft.fft(z * z)[1]) + m.real(z @ z)

    want = jax.grad(lambda a: f(jnp, a))(jnp.asarray(z))
    got = tt.grad(lambda a: f(tt, a))(tt.array(z))
    np.testing.assert_allclose(got.numpy(), np.conj(want), rtol=1e-9)
