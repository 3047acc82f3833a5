"""Optimisers beside their formulas, written once more with NumPy."""

import numpy as np
import pytest
import tutti as tt

A = np.random.default_rng(3).standard_normal((6, 4))
START = np.array([0.5, -1.0, 2.0, 0.1])


def gradient(w):
    return A.T @ (A @ w - 1)


def train(make, steps=7):
    w = tt.array(START).requires_grad_()
    optimizer, a = make([w]), tt.array(A)
    for _ in range(steps):
        optimizer.zero_grad()
        (((a @ w - 1) ** 2).sum() / 2).backward()
        optimizer.step()
    return w.numpy()


def sgd(lr, momentum=0.0, dampening=0.0, weight_decay=0.0, nesterov=False, maximize=False, steps=7):
    w, v = START.copy(), None
    for _ in range(steps):
        g = -gradient(w) if maximize else gradient(w)
        g = g + weight_decay * w
        if momentum:
            v = g if v is None else momentum * v + (1 - dampening) * g
            g = g + momentum * v if nesterov else v
        w = w - lr * g
    return w


def adam(lr, weight_decay=0.0, amsgrad=False, maximize=False, decoupled=False, steps=7):
    w, m, v, most = START.copy(), 0, 0, 0
    for t in range(1, steps + 1):
        g = -gradient(w) if maximize else gradient(w)
        if decoupled:
            w = w * (1 - lr * weight_decay)
        else:
            g = g + weight_decay * w
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        most = np.maximum(most, v)
        w = w - lr / (1 - 0.9**t) * m / (np.sqrt(most if amsgrad else v) / np.sqrt(1 - 0.999**t) + 1e-8)
    return w


@pytest.mark.parametrize("eager", [-1, 0])
@pytest.mark.parametrize(
    "options",
    [{}, {"momentum": 0.9}, {"momentum": 0.9, "dampening": 0.3}, {"momentum": 0.5, "nesterov": True},
     {"weight_decay": 0.1, "momentum": 0.9}, {"maximize": True}],
)  # fmt: skip
def test_sgd(options, eager):
    tt.set_eager(eager)
    try:
        got = train(lambda p: tt.optim.SGD(p, lr=0.01, **options))
        np.testing.assert_allclose(got, sgd(0.01, **options), rtol=1e-12)
    finally:
        tt.set_eager(-1)


@pytest.mark.parametrize("eager", [-1, 0])
@pytest.mark.parametrize("options", [{}, {"weight_decay": 0.1}, {"amsgrad": True}, {"maximize": True}])
def test_adam(options, eager):
    tt.set_eager(eager)
    try:
        got = train(lambda p: tt.optim.Adam(p, lr=0.05, **options))
        np.testing.assert_allclose(got, adam(0.05, **options), rtol=1e-10)
        got = train(lambda p: tt.optim.AdamW(p, lr=0.05, **options))
        want = adam(0.05, **{"weight_decay": 0.01, **options}, decoupled=True)
        np.testing.assert_allclose(got, want, rtol=1e-10)
    finally:
        tt.set_eager(-1)


def test_states_travel():
    whole = train(lambda p: tt.optim.Adam(p, lr=0.05), 8)
    kept = []

    def first(p):
        kept[:] = [tt.optim.Adam(p, lr=0.05)]
        return kept[0]

    half = train(first, 4)
    w = tt.array(half).requires_grad_()
    again = tt.optim.Adam([w], lr=1.0)
    again.load_state_dict(kept[0].state_dict())
    a = tt.array(A)
    for _ in range(4):
        again.zero_grad()
        (((a @ w - 1) ** 2).sum() / 2).backward()
        again.step()
    np.testing.assert_allclose(w.numpy(), whole, rtol=1e-12)


def test_groups_and_missing_gradients():
    a, b, c = (tt.ones(2).requires_grad_() for _ in range(3))
    o = tt.optim.SGD([{"params": [a], "lr": 1.0}, {"params": [b, c]}], lr=0.5)
    (a.sum() + b.sum()).backward()
    o.step()
    assert a.tolist() == [0, 0] and b.tolist() == [0.5, 0.5] and c.tolist() == [1, 1]
    assert o.step(lambda: 7) == 7
    o.zero_grad(set_to_none=False)
    assert a.grad.tolist() == [0, 0]


def test_bad_input():
    w = tt.ones(2).requires_grad_()
    with pytest.raises(ValueError, match="Invalid learning rate: -1"):
        tt.optim.SGD([w], lr=-1)
    with pytest.raises(ValueError, match="empty parameter list"):
        tt.optim.Adam([])
    with pytest.raises(ValueError, match="non-leaf"):
        tt.optim.Adam([w * 2])
    with pytest.raises(ValueError, match="Invalid beta"):
        tt.optim.Adam([w], betas=(1.0, 0.9))
    with pytest.raises(ValueError, match="Nesterov"):
        tt.optim.SGD([w], nesterov=True)
    with pytest.raises(ValueError, match="more than one"):
        tt.optim.SGD([w, w])
    with pytest.raises(TypeError, match="optimizer can only optimize"):
        tt.optim.SGD([3])


def test_a_step_is_one_evaluation(recorded):
    """Forward, backward and update of every parameter: one plan, found again at the next step."""
    rng = np.random.default_rng(0)
    x, y = tt.array(rng.standard_normal((300, 20))), tt.array(rng.standard_normal((300, 1)))
    p = [tt.array(rng.standard_normal(s) * 0.1).requires_grad_() for s in [(20, 30), (30,), (30, 1), (1,)]]
    o = tt.optim.Adam(p, lr=0.01)

    def step():
        o.zero_grad()
        loss = ((tt.tanh(x @ p[0] + p[1]) @ p[2] + p[3] - y) ** 2).mean()
        loss.backward()
        o.step()
        return float(loss)

    first = [step() for _ in range(3)]
    before = tt._core._ledger()
    last = step()
    after = tt._core._ledger()
    assert after["evaluations"] - before["evaluations"] == 1
    assert after["plan_hits"] - before["plan_hits"] == 1
    assert after["library_calls"] - before["library_calls"] == 5  # two products, and three of their gradients
    assert last < first[0]


@pytest.fixture
def on_the_host():
    """A device forgets what a launch was to write when that failed, and says so."""
    with tt.device("cpu"):
        yield


def test_a_step_that_fails_changes_all_or_nothing(on_the_host):
    """Whichever allocation of it fails, the parameters are those of before or of after it."""
    x, start = tt.array(A), [tt.array(START), tt.array(START[:2])]

    def step(p):
        o = tt.optim.Adam(p, lr=0.1)
        ((x @ p[0] - 1) ** 2).mean().backward()
        (p[1] * p[1]).sum().backward()
        o.step()

    def values(p):
        return [a.detach().tolist() for a in p]

    def leaves():
        return [a.copy().requires_grad_() for a in start]

    before, after = values(start), leaves()
    step(after)
    after = values(after)
    for n in range(2000):
        p = leaves()
        tt._core._test_fail("memory", n, False)
        try:
            step(p)
        except MemoryError:
            pass
        finally:
            fired = tt._core._test_calls("memory")[1]
            tt._core._test_fail("memory", -1, False)
        for now, old, new in zip(values(p), before, after, strict=True):
            assert now == old or now == new, n
        if not fired:
            return
    raise AssertionError("it never ends")


def stepped(make, values, gradients, steps):
    """What an optimiser makes of the parameters, and how many launches its last step took."""
    p = [tt.array(v).requires_grad_() for v in values]
    o = make(p)
    for k in range(steps):
        for a, g in zip(p, gradients, strict=True):
            a.grad = tt.array(g * (k + 1))
        before = tt._core._ledger()["launches"]
        o.step()
        launches = tt._core._ledger()["launches"] - before
    return [a.detach().numpy() for a in p], launches


@pytest.mark.parametrize(
    "make",
    [
        lambda p: tt.optim.Adam(p, lr=0.01),
        lambda p: tt.optim.AdamW(p, lr=0.01, amsgrad=True),
        lambda p: tt.optim.SGD(p, lr=0.01, momentum=0.9, nesterov=True),
    ],
    ids=["adam", "adamw", "sgd"],
)
def test_a_step_over_many_parameters_is_one_launch(recorded, on_the_host, make):
    """Of whatever sizes and ranks, and with the bits of a step over each of them alone."""
    rng = np.random.default_rng(0)
    sizes = [(3 + 7 * k,) if k % 2 else (2 + k, 5 + k % 3) for k in range(100)]
    values, gradients = ([rng.standard_normal(s).astype("float32") for s in sizes] for _ in range(2))
    got, launches = stepped(make, values, gradients, 4)
    assert launches == 1
    for v, g, a in zip(values[:9], gradients, got, strict=False):
        assert np.array_equal(a, stepped(make, [v], [g], 4)[0][0])


def test_explain_says_what_is_one_launch(recorded, on_the_host):
    a = [tt.arange(k + 2.0) for k in range(3)]
    assert "one launch with the 2 steps after it" in tt.explain(*[x * 2 for x in a])


UPDATES = {
    "sgd": lambda ps: tt.optim.SGD(ps, lr=0.1, weight_decay=0.1),
    "momentum": lambda ps: tt.optim.SGD(ps, lr=0.1, momentum=0.9, nesterov=True, maximize=True),
    "adam": lambda ps: tt.optim.Adam(ps, lr=0.1, weight_decay=0.1, amsgrad=True),
    "adamw": lambda ps: tt.optim.AdamW(ps, lr=0.1, maximize=True),
    **{
        kind: lambda ps, kind=kind: getattr(tt.optim, kind)(ps, lr=0.1)
        for kind in "RMSprop Adagrad Adadelta Adamax NAdam RAdam Rprop ASGD Adafactor".split()
    },
}


def _trained_together(make, together, dtype):
    """Values and states after some steps of an optimiser over all parameters, or of one for each."""
    draws = np.random.default_rng(5)
    shapes = [(3, 4), (), (5,), (0,), (40, 30), (2, 3)]
    ps = [tt.array(draws.standard_normal(s).astype(dtype)).requires_grad_() for s in shapes]
    idle = tt.array(draws.standard_normal(3).astype(dtype)).requires_grad_()
    optimizers = [make([*ps, idle])] if together else [make([p]) for p in [*ps, idle]]
    for _ in range(3):
        loss = (ps[0].T ** 2).sum() + sum(((p - 1) ** 2).sum() for p in ps)
        loss.backward()
        for optimizer in optimizers:
            optimizer.step()
            optimizer.zero_grad()
    states = [optimizer.state_dict()["state"] for optimizer in optimizers]
    found = [own for state in states for own in state.values()]
    return [p.numpy() for p in [*ps, idle]] + [a.numpy() for own in found for a in own.values()]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("make", UPDATES.values(), ids=UPDATES)
def test_small_parameters_are_updated_together_to_the_same_bits(make, dtype):
    alone = _trained_together(make, False, dtype)
    together = _trained_together(make, True, dtype)
    assert len(alone) == len(together)
    for a, b in zip(alone, together, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)
