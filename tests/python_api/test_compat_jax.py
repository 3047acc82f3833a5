"""tutti.compat.jax: derivatives of trees in JAX's convention, arrays that do not change, trees, keys, refusals."""

import dataclasses
import operator

import numpy as np
import pytest
import tutti as tt
import tutti.compat.jax as jax
import tutti.compat.jax.numpy as jnp

pytestmark = pytest.mark.parametrize("eager", [-1, 0], ids=["at_once", "recorded"])


@pytest.fixture(autouse=True)
def small_work(eager):
    tt.set_eager(eager)
    yield
    tt.set_eager(-1)


def test_gradients_of_some_arguments():
    def f(w, x, *, scale=1.0):
        return jnp.sum(w["a"] * x) * scale + w["b"][0] * 3

    w, x = {"a": jnp.array([1.0, 2.0]), "b": (4.0,)}, jnp.array([5.0, 6.0])
    g = jax.grad(f)(w, x, scale=2.0)
    assert g["a"].tolist() == [10, 12] and float(g["b"][0]) == 3
    value, (gx, gw) = jax.value_and_grad(f, argnums=(1, 0))(w, x)
    assert float(value) == 29 and gx.tolist() == [1, 2] and gw["a"].tolist() == [5, 6]
    assert isinstance(gx, jax.Array) and isinstance(value, jax.Array) and not value.requires_grad
    g, aux = jax.grad(lambda x: (x**2, {"twice": x * 2}), has_aux=True)(3.0)
    assert float(g) == 6 and float(aux["twice"]) == 6 and not aux["twice"].requires_grad


def test_complex_numbers():
    z = 1.0 + 2j
    assert complex(jax.grad(lambda z: z * z, holomorphic=True)(z)) == 2 + 4j
    assert complex(jax.grad(lambda z: jnp.real(z * z))(z)) == 2 + 4j  # du/dx - i du/dy
    value, pulled = jax.vjp(jnp.sin, z)
    np.testing.assert_allclose(complex(pulled(jnp.asarray(1j))[0]), 1j * np.cos(z))
    np.testing.assert_allclose(complex(jax.jvp(jnp.sin, (z,), (1j,))[1]), 1j * np.cos(z))
    second = jax.grad(jax.grad(jnp.exp, holomorphic=True), holomorphic=True)(z)
    np.testing.assert_allclose(complex(second), np.exp(z))


@pytest.mark.parametrize("f, x, words", [
    (lambda x: x * 2, 3, "requires real- or complex-valued inputs .* but got int64"),
    (lambda x: x * 2, [1.0, 2.0], "Gradient only defined for scalar-output functions. Output"),
    (lambda x: jnp.ones(2) * x, 1.0, r"Output had shape: \(2,\)"),
    (lambda x: x * 1j, 1.0, "requires real-valued outputs"),
])  # fmt: skip
def test_what_has_no_gradient(f, x, words):
    with pytest.raises(TypeError, match=words):
        jax.grad(f)(x)


def test_jacobians():
    def f(x, y):
        return {"a": x * y[0], "b": jnp.sum(x) ** 2}

    x, y = jnp.array([1.0, 2.0]), (jnp.asarray(3.0), 5)
    for jacobian in (jax.jacfwd, jax.jacrev, jax.jacobian):
        j = jacobian(f)(x, y)
        assert j["a"].tolist() == [[3, 0], [0, 3]] and j["b"].tolist() == [6, 6]
    j = jax.jacfwd(lambda x, y: x * y, argnums=(0, 1))(x, x)
    assert j[0].tolist() == j[1].tolist() == [[1, 0], [0, 2]]
    h = jax.hessian(lambda p: jnp.sum(p["u"] ** 2) * p["v"])({"u": x, "v": 3.0})
    assert h["u"]["u"].tolist() == [[6, 0], [0, 6]] and h["u"]["v"].tolist() == [2, 4] and float(h["v"]["v"]) == 0


def test_arrays_do_not_change():
    x = jnp.zeros(4)
    y = x
    y += 1
    assert x.tolist() == [0] * 4 and y.tolist() == [1] * 4
    with pytest.raises(TypeError, match="does not support item assignment"):
        x[0] = 1
    z = x.at[1].set(5).at[jnp.array([0, 0])].add(2).at[2:].multiply(3).at[3].min(-1)
    assert x.tolist() == [0] * 4 and z.tolist() == [4, 5, 0, -1] and isinstance(z, jax.Array)
    assert jax.grad(lambda v: (x.at[1].set(v) ** 2).sum())(3.0).tolist() == 6
    assert jax.grad(lambda v: (v.at[0].set(1.0) ** 2).sum())(y).tolist() == [0, 2, 2, 2]


def test_maps_over_batches():
    f = jax.vmap(lambda x, w, k: {"s": jnp.dot(x, w) * k, "k": k}, in_axes=(1, None, 0), out_axes={"s": 0, "k": None})
    x = jnp.arange(6.0).reshape(2, 3)
    made = f(x, jnp.array([1.0, 10.0]), jnp.array([1.0, 2.0, 3.0]))
    assert made["s"].tolist() == [30, 82, 156] and float(made["k"]) == 1
    g = jax.vmap(jax.grad(lambda x: x**3))(jnp.arange(3.0))
    assert g.tolist() == [0, 3, 12]
    with pytest.raises(ValueError, match="inconsistent sizes"):
        jax.vmap(jnp.add)(jnp.ones(2), jnp.ones(3))
    with pytest.raises(NotImplementedError, match="does not cover vmap with an axis_name"):
        jax.vmap(jnp.sin, axis_name="i")


def test_rules_of_ones_own():
    @jax.custom_vjp
    def clipped(x):
        return jnp.sin(x)

    clipped.defvjp(lambda x: (jnp.sin(x), x), lambda x, g: (jnp.clip(g * jnp.cos(x), -0.5, 0.5),))
    assert float(jax.grad(clipped)(0.0)) == 0.5

    @jax.custom_jvp
    def log1pexp(x):
        return jnp.log(1 + jnp.exp(x))

    log1pexp.defjvps(lambda t, ans, x: (1 - 1 / (1 + jnp.exp(x))) * t)
    assert float(jax.grad(log1pexp)(100.0)) == 1 and float(jax.grad(jax.grad(log1pexp))(0.0)) == 0.25
    assert float(jax.jvp(log1pexp, (0.0,), (2.0,))[1]) == 1

    def steps(f, n, x):
        return f(x) * n

    own = jax.custom_vjp(steps, nondiff_argnums=(0, 1))
    own.defvjp(lambda f, n, x: (f(x) * n, x), lambda f, n, x, g: (g * 7 * n,))
    assert float(jax.grad(lambda x: own(jnp.sin, 2, x))(1.0)) == 14
    with pytest.raises(TypeError, match="must produce a tuple of the same length"):
        own.defvjp(lambda f, n, x: (f(x) * n, x), lambda f, n, x, g: ())
        jax.grad(lambda x: own(jnp.sin, 2, x))(1.0)


def test_trees():
    @jax.tree_util.register_pytree_node_class
    class Pair:
        def __init__(self, a, b):
            self.a, self.b = a, b

        def tree_flatten(self):
            return (self.a, self.b), "aux"

        @classmethod
        def tree_unflatten(cls, aux, children):
            return cls(*children)

    @jax.tree_util.register_dataclass
    @dataclasses.dataclass
    class State:
        w: object
        name: str = dataclasses.field(default="", metadata={"static": True})

    tree = {"b": [1.0, None, (2.0,)], "a": Pair(3.0, State(4.0, "n"))}
    leaves, structure = jax.tree.flatten(tree)
    assert leaves == [3, 4, 1, 2] and structure.num_leaves == 4
    doubled = jax.tree.map(lambda x: 2 * x, tree)
    assert doubled["a"].b.w == 8 and doubled["a"].b.name == "n" and doubled["b"] == [2, None, (4,)]
    assert jax.tree.structure(doubled) == structure
    g = jax.grad(lambda t: t["a"].a * t["a"].b.w + t["b"][2][0])(tree)
    assert float(g["a"].a) == 4 and float(g["a"].b.w) == 3 and float(g["b"][2][0]) == 1
    assert repr(jax.tree.structure({"a": [1, 2], "b": ()})) == "PyTreeDef({'a': [*, *], 'b': ()})"
    paths = [jax.tree_util.keystr(p) for p, _ in jax.tree.leaves_with_path({"a": [1, 2]})]
    assert paths == ["['a'][0]", "['a'][1]"]
    with pytest.raises(ValueError, match="Expected list"):
        jax.tree.map(lambda x, y: x, [1], (1,))


def test_control_flow():
    def body(k, x):
        return x * k

    assert float(jax.grad(lambda x: jax.lax.fori_loop(1, 4, body, x))(2.0)) == 6
    carry, ys = jax.lax.scan(lambda c, x: (c + x, c * x), 0.0, jnp.arange(4.0))
    assert float(carry) == 6 and ys.tolist() == [0, 0, 2, 9]
    assert float(jax.lax.cond(True, jnp.sin, jnp.cos, 0.0)) == 0
    assert float(jax.grad(lambda x: x * jax.lax.stop_gradient(x))(3.0)) == 3
    again = jax.checkpoint(lambda p: {"y": jnp.sin(p["x"])})
    np.testing.assert_allclose(float(jax.grad(lambda x: again({"x": x})["y"])(0.5)), np.cos(0.5))


def test_draws_are_functions_of_keys():
    key = jax.random.key(7)
    assert jax.random.normal(key, (3,)).tolist() == jax.random.normal(key, (3,)).tolist()
    first, second = jax.random.split(key)
    assert first.tolist() != second.tolist() != key.tolist()
    assert sorted(jax.random.permutation(key, 9).tolist()) == list(range(9))
    assert jax.random.fold_in(key, 1).tolist() != jax.random.fold_in(key, 2).tolist()


NOT_COVERED = """jax.pmap jax.numpy.put_along_axis jax.lax.psum jax.nn.mish jax.scipy.fft jax.random.gamma
jax.tree.broadcast""".split()


@pytest.mark.parametrize("name", NOT_COVERED)
def test_what_is_not_covered_says_so(name):
    with pytest.raises(AttributeError, match=f"tutti.compat.jax does not cover {name}"):
        operator.attrgetter(name.removeprefix("jax."))(jax)
