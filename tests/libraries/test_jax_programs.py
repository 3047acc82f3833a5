"""tutti.compat.jax beside JAX: the numbers of its draws, derivatives of functions of trees, functions of networks."""

import numpy as np
import pytest
import tutti.compat.jax as ours

theirs = pytest.importorskip("jax", reason="JAX is not installed")
pytestmark = pytest.mark.usefixtures("beside_jax")

DRAWS = {
    "key": lambda r, k: k,
    "split": lambda r, k: r.split(k),
    "split shape": lambda r, k: r.split(k, (2, 3)),
    "fold_in": lambda r, k: r.fold_in(k, 12345),
    "bits": lambda r, k: r.bits(k, (5,)),
    "bits of 64": lambda r, k: r.bits(k, (5,), "uint64"),
    "bits of 8": lambda r, k: r.bits(k, (5,), "uint8"),
    "uniform": lambda r, k: r.uniform(k, (3, 4)),
    "uniform float32": lambda r, k: r.uniform(k, (7,), "float32", -2.0, 3.0),
    "normal": lambda r, k: r.normal(k, (100,)),
    "normal number": lambda r, k: r.normal(k),
    "normal float32": lambda r, k: r.normal(k, (100,), "float32"),
    "normal complex": lambda r, k: r.normal(k, (10,), "complex128"),
    "randint": lambda r, k: r.randint(k, (50,), -3, 1000),
    "randint int32": lambda r, k: r.randint(k, (50,), 0, 7, "int32"),
    "permutation": lambda r, k: r.permutation(k, 40),
    "permutation of rows": lambda r, k: r.permutation(k, np.arange(12).reshape(6, 2)),
    "choice": lambda r, k: r.choice(k, 10, (20,)),
    "choice without": lambda r, k: r.choice(k, np.arange(10.0), (4,), replace=False),
    "choice by weight": lambda r, k: r.choice(k, 4, (20,), p=np.array([0.1, 0.2, 0.3, 0.4])),
    "bernoulli": lambda r, k: r.bernoulli(k, 0.3, (20,)),
    "categorical": lambda r, k: r.categorical(k, np.log(np.array([[0.1, 0.9], [0.5, 0.5]])), shape=(6, 2)),
    "gumbel": lambda r, k: r.gumbel(k, (9,)),
    "exponential": lambda r, k: r.exponential(k, (9,)),
    "laplace": lambda r, k: r.laplace(k, (9,)),
    "logistic": lambda r, k: r.logistic(k, (9,)),
    "rademacher": lambda r, k: r.rademacher(k, (20,)),
    "truncated_normal": lambda r, k: r.truncated_normal(k, -1.0, 2.0, (20,)),
    "multivariate_normal": lambda r, k: r.multivariate_normal(k, np.ones(2), np.array([[2.0, 1], [1, 2]]), (3,)),
}


@pytest.mark.parametrize("name", DRAWS)
@pytest.mark.parametrize("seed", [0, 42, -5, 2**40 + 3])
def test_draws(name, seed):
    got, want = (np.asarray(DRAWS[name](m.random, m.random.PRNGKey(seed))) for m in (ours, theirs))
    assert got.shape == want.shape and got.dtype == want.dtype
    np.testing.assert_allclose(got, want, rtol=3e-6 if "float32" in name else 1e-13)


X, Z = np.random.default_rng(3).standard_normal((3, 2)), np.array([0.5 + 1j, -1.2 + 0.3j])
TREE = {"w": X, "b": (Z.real, 2.0)}


def loss(m, p):
    n = m.numpy
    return n.sum(n.tanh(p["w"] @ p["b"][0]) ** 2) * p["b"][1]


DERIVATIVES = {
    "grad": lambda m: m.grad(lambda p: loss(m, p))(TREE),
    "hessian": lambda m: m.hessian(lambda p: loss(m, p))(TREE),
    "jacfwd": lambda m: m.jacfwd(lambda p, x: {"y": p["w"] * x}, argnums=(0, 1))(TREE, 3.0),
    "jacrev": lambda m: m.jacrev(lambda z: m.numpy.sin(z) * z[0], holomorphic=True)(Z),
    "of complex": lambda m: m.grad(lambda z: m.numpy.sum(m.numpy.abs(z) ** 3))(Z),
    "vjp": lambda m: m.vjp(lambda z: m.numpy.outer(z, z), Z)[1](np.ones((2, 2)) * 1j),
    "jvp": lambda m: m.jvp(lambda z: m.numpy.exp(z), (Z,), (Z * 1j,)),
    "vmap": lambda m: m.vmap(m.grad(lambda x, y: m.numpy.dot(x, x) * y), (0, None))(X, 2.0),
    "linearize": lambda m: m.linearize(m.numpy.cumprod, X[:, 0])[1](X[:, 1]),
    "transpose": lambda m: m.linear_transpose(lambda x: x @ X, X.T)(np.eye(2)),
}


@pytest.mark.parametrize("name", DERIVATIVES)
def test_derivatives(name):
    got, want = (DERIVATIVES[name](m) for m in (ours, theirs))
    got, want = ours.tree.leaves(got), theirs.tree.leaves(want)
    for g, w in zip(got, want, strict=True):
        assert np.shape(g) == np.shape(w)
        np.testing.assert_allclose(np.asarray(g), np.asarray(w), rtol=1e-10, atol=1e-12)


V = np.array([-3.0, -0.5, 0.0, 0.5, 3.0, 7.0])
FUNCTIONS = """relu relu6 sigmoid softplus silu log_sigmoid leaky_relu elu celu selu gelu hard_tanh glu logsumexp
softmax log_softmax standardize""".split()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_networks(name):
    def made(m):
        f = getattr(m.nn, name)
        return f(m.numpy.asarray(V)), m.grad(lambda x: m.numpy.sum(f(x) * 1.5))(V)

    for g, w in zip(made(ours), made(theirs), strict=True):
        np.testing.assert_allclose(np.asarray(g), np.asarray(w), rtol=1e-10, atol=1e-12)


def test_one_hot():
    got, want = (np.asarray(m.nn.one_hot(np.array([[0, 2], [1, 5]]), 3, axis=0)) for m in (ours, theirs))
    np.testing.assert_array_equal(got, want)
