"""Leaves, modes, errors, hooks, functions of one's own: PyTorch's words and JAX's transformations."""

import gc
import pickle
import weakref

import numpy as np
import pytest
import tutti as tt


def leaf(*values):
    return tt.array([float(v) for v in values]).requires_grad_()


def test_leaves():
    x = leaf(1, 2)
    y = x * 2
    assert x.requires_grad and x.is_leaf and y.requires_grad and not y.is_leaf and x.grad is None
    y.sum().backward()
    assert x.grad.tolist() == [2, 2] and not x.grad.requires_grad and y.grad is None
    (x * x).sum().backward()
    assert x.grad.tolist() == [4, 6]  # added up
    x.grad = None
    assert x.grad is None
    x.grad = tt.array([1.0, 1.0])
    (x * x).sum().backward()
    assert x.grad.tolist() == [3, 5]
    x.grad.zero_()
    assert x.grad.tolist() == [0, 0]
    x.requires_grad = False
    assert not (x * 2).requires_grad


def test_gradients_are_views_of_one_sum():
    x = leaf(1, 2, 3)
    (x * x).sum().backward()
    assert x[1:].grad.tolist() == [4, 6] and x[::-1].grad.tolist() == [6, 4, 2]


def test_updates_in_place_keep_leaves():
    w = leaf(1, 2)
    for _ in range(3):
        (w * w).sum().backward()
        with tt.no_grad():
            w -= 0.25 * w.grad
        w.grad = None
    assert w.is_leaf and w.requires_grad
    np.testing.assert_allclose(w.numpy(), np.array([1, 2]) / 8)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place"):
        w += 1
    with pytest.raises(RuntimeError, match="in-place"):
        w[0] = 1
    assert w.is_leaf
    with tt.no_grad():
        w[0] = 5
    (w * 3).sum().backward()
    assert w.tolist() == [5, 0.25] and w.grad.tolist() == [3, 3]


def test_modes():
    x = leaf(1)
    with tt.no_grad():
        assert not tt.is_grad_enabled() and not (x * 2).requires_grad
        with tt.enable_grad():
            assert (x * 2).requires_grad
    assert tt.is_grad_enabled() and (x * 2).requires_grad
    with tt.set_grad_enabled(False):
        assert not (x * 2).requires_grad

    @tt.no_grad
    def plain(x):
        return x * 2

    assert not plain(x).requires_grad
    y = (x * 2).detach()
    assert not y.requires_grad and y.tolist() == [2]
    y[0] = 9  # a value of its own
    assert (x * 2).tolist() == [2]


def test_views_read_under_no_grad_keep_their_history():
    x = leaf(1, 2, 3)
    y = x * 2
    for v in (x[::-1], y[1:]):
        with tt.no_grad():
            assert v.sum() > 0 and not (v + 1).requires_grad
        assert (v * 1).requires_grad
        v.detach()
        v.sum().backward(retain_graph=True)
    assert x.grad.tolist() == [1, 3, 3]


ERRORS = {
    "twice": (lambda x: [tt.exp(x).sum()] * 2, "Trying to backward through the graph a second time"),
    "no scalar": (lambda x: [x * 2], "grad can be implicitly created only for scalar outputs"),
    "no history": (lambda x: [tt.ones(1)], "does not require grad and does not have a grad_fn"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name):
    make, words = ERRORS[name]
    x = leaf(1, 2)
    with pytest.raises(RuntimeError, match=words):
        for y in make(x):
            y.backward()
    x.grad = None
    (x * x).sum().backward()  # nothing is lost
    assert x.grad.tolist() == [2, 4]


def test_more_errors():
    x = leaf(1, 2)
    with pytest.raises(RuntimeError, match="Mismatch in shape"):
        (x * 2).backward(tt.ones(3))
    with pytest.raises(RuntimeError, match="floating point and complex"):
        tt.arange(3).requires_grad_()
    with pytest.raises(RuntimeError, match="can only change requires_grad flags of leaf"):
        (x * 2).requires_grad = False
    with pytest.raises(RuntimeError, match="not have been used in the graph"):
        tt.grad(x.sum(), [leaf(1)])
    assert tt.grad(x.sum(), [leaf(1)], allow_unused=True) == (None,)
    with pytest.raises(RuntimeError, match="different size"):
        x.grad = tt.ones(3)
    with pytest.raises(TypeError):
        x.grad = 3
    with pytest.raises(RuntimeError, match="retain_grad"):
        tt.ones(2).retain_grad()
    with pytest.raises(TypeError, match="scalar-output"):
        tt.grad(lambda x: x * 2)(tt.ones(2))


def test_retaining_and_repeating():
    x = leaf(1, 2)
    y = tt.exp(x)
    y.retain_grad()
    s = (y * y).sum()
    s.backward(retain_graph=True)
    first = x.grad.numpy().copy()
    s.backward()
    np.testing.assert_allclose(x.grad.numpy(), 2 * first)
    np.testing.assert_allclose(y.grad.numpy(), 4 * np.exp([1, 2]))


def test_create_graph():
    x = leaf(2)
    (g,) = tt.grad((x**3).sum(), x, create_graph=True)
    (h,) = tt.grad(g.sum(), x, create_graph=True)
    (t,) = tt.grad(h.sum(), x)
    assert g.tolist() == [12] and h.tolist() == [12] and t.tolist() == [6]


def test_hooks():
    x, seen = leaf(1, 2), []
    y = x * 3
    h = y.register_hook(lambda g: seen.append(g.tolist()))
    x.register_hook(lambda g: g * 10)
    y.sum().backward()
    assert seen == [[1, 1]] and x.grad.tolist() == [30, 30]
    h.remove()
    x.grad = None
    z = x * 3
    z.register_hook(lambda g: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        z.sum().backward()
    (x * 2).sum().backward()
    assert x.grad.tolist() == [20, 20]


class Cube(tt.Function):
    @staticmethod
    def forward(ctx, x, scale):
        ctx.save_for_backward(x)
        ctx.scale = scale
        return x * x * x * scale, x > 0

    @staticmethod
    def backward(ctx, g, _):
        (x,) = ctx.saved_tensors
        return g * 3 * x * x * ctx.scale, None


def test_functions():
    x = leaf(1, 2)
    y, positive = Cube.apply(x, 2.0)
    assert y.requires_grad and not positive.requires_grad
    y.sum().backward()
    assert x.grad.tolist() == [6, 24]

    class Wrong(tt.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g[:1]

    with pytest.raises(RuntimeError, match="invalid gradient at index 0"):
        Wrong.apply(x).sum().backward()
    with pytest.raises(NotImplementedError):
        tt.Function.apply(x)


class Slope(tt.Function):
    """sin(x) y, whose gradients are found by a walk inside of the walk, over the same arrays."""

    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return tt.sin(x) * y

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        with tt.enable_grad():
            return tt.grad(tt.sin(x) * y, [x, y], g, create_graph=True)


def test_walks_inside_of_walks():
    x, y, z = leaf(1, 2), leaf(3, 4), leaf(5, 6)

    def f():
        return (z * Slope.apply(x * z, y * z) * x).sum()

    want = tt.grad((z * tt.sin(x * z) * y * z * x).sum(), [x, y, z])
    for g, w in zip(tt.grad(f(), [x, y, z]), want, strict=True):
        np.testing.assert_allclose(g.numpy(), w.numpy())
    f().backward()
    for a, w in zip((x, y, z), want, strict=True):
        np.testing.assert_allclose(a.grad.numpy(), w.numpy())
    a = x * z
    a.register_hook(tt.enable_grad(lambda g: tt.grad((x * z).sum(), z)[0] * g))
    assert [g.tolist() for g in tt.grad((a * y).sum(), [x, z])] == [[15, 48], [3, 16]]


def test_cotangents_with_a_history():
    """What a vjp gives hangs on its cotangent, whoever differentiates by that."""
    _, back = tt.vjp(lambda x: tt.sin(x) * 2, tt.array([1.0, 2.0]))
    g = leaf(3, 4)
    back(g)[0].sum().backward()
    np.testing.assert_allclose(g.grad.numpy(), 2 * np.cos([1, 2]))


def test_checkpoint():
    x, w = leaf(0.5, 1.5), leaf(2, 3)
    calls = []

    def f(x, w):
        calls.append(1)
        return tt.sin(x * w) * w

    f(x, w).sum().backward()
    want = x.grad.numpy().copy(), w.grad.numpy().copy()
    x.grad = w.grad = None
    tt.checkpoint(f, x, w).sum().backward()
    assert len(calls) == 3
    np.testing.assert_allclose(x.grad.numpy(), want[0])
    np.testing.assert_allclose(w.grad.numpy(), want[1])


def test_anomaly_names_the_line():
    x = leaf(0, 1)
    tt.track_lines(True)
    try:
        with tt.detect_anomaly(), pytest.raises(RuntimeError, match="sqrt.*nan.*test_api.py"):
            (tt.sqrt(x - x) * 0).sum().backward()
    finally:
        tt.track_lines(False)
    assert not tt._core.detect_anomaly(False)


# ---- transformations


def test_trees():
    p = {"w": tt.ones((2, 3)), "b": [tt.zeros(3), (tt.ones(()),)]}
    x = tt.array([[1.0, 2.0]])

    def loss(p, x):
        return tt.sum((x @ p["w"] + p["b"][0]) * p["b"][1][0])

    value, g = tt.value_and_grad(loss)(p, x)
    assert float(value) == 9 and g["w"].tolist() == [[1, 1, 1], [2, 2, 2]] and g["b"][0].tolist() == [1, 1, 1]
    assert float(g["b"][1][0]) == 9 and not value.requires_grad and not p["w"].requires_grad
    (v, aux), g = tt.value_and_grad(lambda x: (x.sum(), x * 2), has_aux=True)(x)
    assert aux.tolist() == [[2, 4]] and g.tolist() == [[1, 1]]


def test_orders():
    f = tt.sin
    x = 0.7
    for want in (np.cos(x), -np.sin(x), -np.cos(x), np.sin(x)):
        f = tt.grad(f)
        np.testing.assert_allclose(float(f(x)), want, rtol=1e-12)


def test_inner_variables_are_their_own():
    """A gradient inside a gradient by a value of the outer one."""
    assert float(tt.grad(lambda x: tt.grad(lambda y: x * y * y)(x) * x)(3.0)) == 2 * 3 * 9  # d(2 x^3)


def test_vjp_jvp_jacobian_hessian():
    def f(x):
        return tt.stack([x[0] * x[1], tt.sin(x[2]), x[0] ** 2])

    x = np.array([1.0, 2.0, 0.5])
    j = np.array([[2, 1, 0], [0, 0, np.cos(0.5)], [2, 0, 0]])
    np.testing.assert_allclose(tt.jacobian(f)(tt.array(x)).numpy(), j)
    value, back = tt.vjp(f, tt.array(x))
    v = np.array([1.0, -1, 0.5])
    np.testing.assert_allclose(back(tt.array(v))[0].numpy(), v @ j)
    np.testing.assert_allclose(back(tt.array(v))[0].numpy(), v @ j)  # again
    value, out = tt.jvp(f, (tt.array(x),), (tt.array(v),))
    np.testing.assert_allclose(out.numpy(), j @ v)
    np.testing.assert_allclose(value.numpy(), [2, np.sin(0.5), 1])
    h = tt.hessian(lambda x: x[0] * x[1] * x[2] + x[0] ** 3)(tt.array(x)).numpy()
    np.testing.assert_allclose(h, [[6, 0.5, 2], [0.5, 0, 1], [2, 1, 0]])


def looked_at(x):
    tt.exp(x * x).sum().backward()
    return x.grad.tolist()


def never_looked_at(x):
    (x * x).sum().backward()


def retained(x):
    y = tt.exp(x)
    y.retain_grad()
    (y * y).sum().backward(retain_graph=True)
    return y.grad


def never_walked(x):
    return tt.exp(tt.sin(x) * x).sum()


def twice(x):
    (g,) = tt.grad((x**3).sum(), x, create_graph=True)
    g.sum().backward()


@pytest.mark.parametrize("eager", [-1, 0])
@pytest.mark.parametrize("f", [looked_at, never_looked_at, retained, never_walked, twice], ids=lambda f: f.__name__)
def test_nothing_stays(f, eager):
    """Values, entries and gradients hold each other in rings; all go with the last array.

    A leak grows in every round; code that the background finished for an earlier test arrives in one."""
    tt.set_eager(eager)
    live = []
    try:
        for _ in range(5):
            with tt.device("cpu"):  # devices keep memory and launches for the next time
                f(leaf(1, 2, 3))
            gc.collect()
            tt.memory_trim()
            live.append(tt._core._test_live())
        assert min(after - before for before, after in zip(live[1:], live[2:])) <= 0, live
    finally:
        tt.set_eager(-1)


def test_long_chains():
    x = tt.ones(10).requires_grad_()
    y = x
    for _ in range(20_000):
        y = y * 1.0001
    y.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), np.full(10, 1.0001**20_000), rtol=1e-9)
    del y


def test_long_chains_of_kept_results():
    x = tt.full(10, 0.5).requires_grad_()
    y = x
    for _ in range(20_000):
        y = tt.tanh(y + 0.3)
    assert y.requires_grad
    del y  # nothing recurses
    y = tt.exp(tt.sin(x))
    del y
    gc.collect()


def test_pickles_are_values():
    x = leaf(1, 2)
    assert pickle.loads(pickle.dumps(x * 2)).tolist() == [2, 4]


@tt.jit
def doubled(a):
    return a * 2


def test_compiled_functions_do_not_end_gradients_without_a_word():
    x = tt.array([1.0, 2.0]).requires_grad_()
    for taped in (x, x * 1, x[0]):
        with pytest.raises(RuntimeError, match="a compiled function has no derivative"):
            doubled(taped)
    assert doubled(x.detach()).tolist() == [2, 4]
    with tt.no_grad():
        assert doubled(x).tolist() == [2, 4]
    with pytest.raises(RuntimeError, match="a compiled function has no derivative"):
        tt.vectorize(lambda a: 2 * a)(x)


def test_numbers_drawn_and_walked_keep_their_gradients():
    x = tt.array([1.0, 2.0]).requires_grad_()
    rng = tt.random.default_rng(3)
    for draw in (rng.normal(x[0], 1), rng.uniform(0, x[1]), tt.random.normal(x[1])):
        (slope,) = tt.autograd.grad(draw, [x])
        assert slope.shape == (2,)
    assert isinstance(rng.normal(1.0, 1), float)
    total = sum(v * (k[0] + 1) for k, v in tt.ndenumerate(x))
    assert tt.autograd.grad(total, [x])[0].tolist() == [1, 2]


# ---- functions of one's own, again


class Exponential(tt.Function):
    """Keeps its result, and a second one that nobody may have used."""

    @staticmethod
    def forward(x, y):
        return tt.exp(x) * y, x * y

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs, *output)

    @staticmethod
    def backward(ctx, g, h):
        x, y, e, p = ctx.saved_tensors
        return g * e + h * p / x, g * e / y + h * p / y


def test_kept_results_have_gradients_of_their_own():
    x, y = leaf(0.5, 1.5), leaf(2, 3)

    def own(x, y):
        e, p = Exponential.apply(x, y)
        return (e * e * x + p * y).sum()

    def spelled(x, y):
        return ((tt.exp(x) * y) ** 2 * x + x * y * y).sum()

    for arg in (0, 1):
        got = tt.hessian(own, arg)(x.detach(), y.detach())
        np.testing.assert_allclose(got.numpy(), tt.hessian(spelled, arg)(x.detach(), y.detach()).numpy(), rtol=1e-12)
    Exponential.apply(x, y)[1].sum().backward()  # the first is not used
    assert x.grad.tolist() == [2, 3]


def test_gradients_that_are_not_made():
    class Count(tt.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 2, x * 3

        @staticmethod
        def backward(ctx, g, h):
            assert g is None
            return h * 3

    x = leaf(1, 2)
    Count.apply(x)[1].sum().backward()
    assert x.grad.tolist() == [3, 3]


def test_functions_of_results_are_not_held():
    """A function that keeps its results would be held by them, if they were those that it gave."""

    class Kept(tt.Function):
        @staticmethod
        def forward(ctx, x):
            y = tt.exp(x)
            ctx.save_for_backward(y)
            seen.append(weakref.ref(ctx))
            return y

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0]

    seen, x = [], leaf(1, 2)
    y = Kept.apply(x)
    (g,) = tt.grad(y.sum(), x, create_graph=True)
    (h,) = tt.grad(g.sum(), x)
    np.testing.assert_allclose(h.numpy(), np.exp([1, 2]))
    del y, g, h
    gc.collect()
    assert seen[0]() is None


def test_the_line_of_a_function_with_nan():
    x = leaf(1, 2)
    bad = type(
        "Bad",
        (tt.Function,),
        {"forward": staticmethod(lambda ctx, x: x * 2), "backward": staticmethod(lambda ctx, g: g * np.nan)},
    )
    tt.track_lines(True)
    try:
        with tt.detect_anomaly(), pytest.raises(RuntimeError, match="nan.*test_api.py"):
            bad.apply(x).sum().backward()
    finally:
        tt.track_lines(False)


def test_a_step_back_takes_one_gradient_or_a_sequence_of_one():
    a, b = (tt.array([1.0, 2.0]).requires_grad_() for _ in range(2))
    for gradient in tt.ones(2), [tt.ones(2)], (tt.ones(2),):
        (a * b).backward(gradient, inputs=[a])
    (a * b).backward(gradient=tt.ones(2), retain_graph=None, inputs=b)
    assert a.grad.tolist() == [3.0, 6.0] and b.grad.tolist() == [1.0, 2.0]
    with pytest.raises(RuntimeError, match="got 1 tensors and 2 gradients"):
        (a * b).backward((tt.ones(2), tt.ones(2)))
    with pytest.raises(TypeError, match="unexpected keyword argument 'gradients'"):
        (a * b).backward(gradients=tt.ones(2))
