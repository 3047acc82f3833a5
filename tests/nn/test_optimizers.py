"""Optimisers by formulas in NumPy, and with PyTorch where it is: steps, states that travel, missed steps."""

import contextlib
import math

import numpy as np
import pytest
import tutti as tt

A = np.random.default_rng(3).standard_normal((6, 4))
START = np.array([0.5, -1.0, 2.0, 0.1])
CASES = [
    ("RMSprop", {}),
    ("RMSprop", {"momentum": 0.5, "centered": True, "weight_decay": 0.1}),
    ("Adagrad", {"lr": 0.1}),
    ("Adagrad", {"lr_decay": 0.1, "initial_accumulator_value": 0.5, "maximize": True}),
    ("Adadelta", {}),
    ("Adadelta", {"rho": 0.7, "weight_decay": 0.1}),
    ("Adamax", {}),
    ("Adamax", {"weight_decay": 0.1}),
    ("NAdam", {}),
    ("NAdam", {"weight_decay": 0.1, "decoupled_weight_decay": True}),
    ("RAdam", {}),
    ("RAdam", {"betas": (0.8, 0.9), "weight_decay": 0.1, "decoupled_weight_decay": True}),
    ("Rprop", {}),
    ("Rprop", {"lr": 0.1, "etas": (0.4, 1.5), "step_sizes": (1e-3, 0.2)}),
    ("ASGD", {}),
    ("ASGD", {"lambd": 0.1, "t0": 3, "weight_decay": 0.1}),
    ("Adafactor", {}),
    ("Adafactor", {"eps": (1e-3, 1e-2), "d": 2.0, "weight_decay": 0.1}),
]
MORE = [("SGD", {"momentum": 0.9}), ("Adam", {"amsgrad": True}), ("AdamW", {})]


def train(module, make, w, steps, o=None):
    """Steps of one optimiser on w; it, and w's values."""
    a = make(A)
    o = o or module
    for _ in range(steps):
        o.zero_grad()
        (((a @ w - 1) ** 2).sum() / 2).backward()
        o.step()
    return o


def ours(name, options, steps=9):
    w = tt.array(START).requires_grad_()
    return train(getattr(tt.optim, name)([w], **options), tt.array, w, steps), w


def rmsprop(w, g, s, t, lr=0.01, alpha=0.99, eps=1e-8, momentum=0.0, centered=False):
    s["v"] = alpha * s.get("v", 0) + (1 - alpha) * g * g
    s["m"] = alpha * s.get("m", 0) + (1 - alpha) * g
    move = g / (np.sqrt(s["v"] - s["m"] ** 2 if centered else s["v"]) + eps)
    s["b"] = momentum * s.get("b", 0) + move
    return w - lr * s["b"]


def adagrad(w, g, s, t, lr=0.01, lr_decay=0.0, initial_accumulator_value=0.0, eps=1e-10):
    s["v"] = s.get("v", initial_accumulator_value) + g * g
    return w - lr / (1 + (t - 1) * lr_decay) * g / (np.sqrt(s["v"]) + eps)


def adadelta(w, g, s, t, lr=1.0, rho=0.9, eps=1e-6):
    s["v"] = rho * s.get("v", 0) + (1 - rho) * g * g
    move = np.sqrt(s.get("d", 0) + eps) / np.sqrt(s["v"] + eps) * g
    s["d"] = rho * s.get("d", 0) + (1 - rho) * move * move
    return w - lr * move


def adamax(w, g, s, t, lr=2e-3, eps=1e-8):
    s["m"] = 0.9 * s.get("m", 0) + 0.1 * g
    s["u"] = np.maximum(0.999 * s.get("u", 0), np.abs(g) + eps)
    return w - lr / (1 - 0.9**t) * s["m"] / s["u"]


def nadam(w, g, s, t, lr=2e-3, eps=1e-8, momentum_decay=4e-3):
    mu, after = (0.9 * (1 - 0.5 * 0.96 ** (k * momentum_decay)) for k in (t, t + 1))
    s["p"] = s.get("p", 1) * mu
    s["m"], s["v"] = 0.9 * s.get("m", 0) + 0.1 * g, 0.999 * s.get("v", 0) + 0.001 * g * g
    size = np.sqrt(s["v"] / (1 - 0.999**t)) + eps
    return w - lr * (1 - mu) / (1 - s["p"]) * g / size - lr * after / (1 - s["p"] * after) * s["m"] / size


def radam(w, g, s, t, lr=1e-3, betas=(0.9, 0.999), eps=1e-8):
    b1, b2 = betas
    s["m"], s["v"] = b1 * s.get("m", 0) + (1 - b1) * g, b2 * s.get("v", 0) + (1 - b2) * g * g
    m, most = s["m"] / (1 - b1**t), 2 / (1 - b2) - 1
    sure = most - 2 * t * b2**t / (1 - b2**t)
    if sure <= 5:
        return w - lr * m
    r = math.sqrt((sure - 4) * (sure - 2) * most / ((most - 4) * (most - 2) * sure))
    return w - lr * m * r * math.sqrt(1 - b2**t) / (np.sqrt(s["v"]) + eps)


def rprop(w, g, s, t, lr=0.01, etas=(0.5, 1.2), step_sizes=(1e-6, 50)):
    sign = np.sign(g * s.get("prev", 0))
    size = s.get("size", lr) * np.where(sign > 0, etas[1], np.where(sign < 0, etas[0], 1))
    s["size"], s["prev"] = np.clip(size, *step_sizes), np.where(sign < 0, 0, g)
    return w - np.sign(s["prev"]) * s["size"]


def asgd(w, g, s, t, lr=0.01, lambd=1e-4, alpha=0.75, t0=1e6):
    eta = lr / (1 + lambd * lr * (t - 1)) ** alpha
    return w * (1 - lambd * eta) - eta * g


def adafactor(w, g, s, t, lr=0.01, eps=(None, 1e-3), d=1.0):
    first, share = eps[0] or np.finfo(float).eps, t**-0.8
    own = w / (1 - 0.001) if eps[0] else w  # before it decayed
    s["v"] = s.get("v", 0) * (1 - share) + share * g * g
    move = g / np.sqrt(np.maximum(s["v"], first**2))
    alpha = max(eps[1], np.sqrt((own**2).mean())) * min(lr, t**-0.5)
    return w - alpha * move / max(1, np.sqrt((move**2).mean()) / d)


RATES = {"RMSprop": 0.01, "Adagrad": 0.01, "Adadelta": 1.0, "Adamax": 2e-3, "NAdam": 2e-3, "RAdam": 1e-3}
RATES |= {"Rprop": 0.01, "ASGD": 0.01, "Adafactor": 0.01}
RULES = {f.__name__: f for f in (rmsprop, adagrad, adadelta, adamax, nadam, radam, rprop, asgd, adafactor)}


@pytest.mark.parametrize("name, options", CASES)
def test_formulas(name, options):
    w, state, numbers = START.copy(), {}, dict(options)
    decay, decoupled = numbers.pop("weight_decay", 0), numbers.pop("decoupled_weight_decay", name == "Adafactor")
    climbs = numbers.pop("maximize", False)
    for t in range(1, 10):
        g = A.T @ (A @ w - 1) * (-1 if climbs else 1)
        w, g = (w * (1 - RATES[name] * decay), g) if decoupled else (w, g + decay * w)
        w = RULES[name.lower()](w, g, state, t, **numbers)
    np.testing.assert_allclose(ours(name, options)[1].detach().numpy(), w, rtol=1e-9)


@pytest.mark.parametrize("name, options", [*CASES, *MORE])
def test_states_travel(name, options):
    _, whole = ours(name, options, 9)
    first, w = ours(name, options, 5)
    again = getattr(tt.optim, name)([w])
    again.load_state_dict(first.state_dict())
    train(again, tt.array, w, 4)
    assert w.tolist() == whole.tolist()


def test_a_step_that_was_missed_does_not_count():
    a, b = (tt.array([1.0]).requires_grad_() for _ in range(2))
    alone = tt.array([1.0]).requires_grad_()
    both, single = tt.optim.Adam([a, b], lr=0.1), tt.optim.Adam([alone], lr=0.1)
    for step in range(5):
        for o in both, single:
            o.zero_grad()
        (a * a).sum().backward()
        if step >= 2:
            (b * b).sum().backward()
            (alone * alone).sum().backward()
            single.step()
        both.step()
    assert b.tolist() == alone.tolist()
    state = both.state_dict()["state"]
    assert [state[k]["step"].item() for k in (0, 1)] == [5, 3]


def test_printing_and_bad_input():
    w = tt.ones(2).requires_grad_()
    words = repr(tt.optim.SGD([w], lr=0.1))
    assert words.startswith("SGD (\nParameter Group 0\n    dampening: 0\n") and "    lr: 0.1\n" in words
    with pytest.raises(ValueError, match="Invalid alpha value: -1"):
        tt.optim.RMSprop([w], alpha=-1)
    with pytest.raises(ValueError, match="Invalid rho value: 2"):
        tt.optim.Adadelta([w], rho=2)
    with pytest.raises(ValueError, match="different number of parameter groups"):
        tt.optim.Adam([w]).load_state_dict({"state": {}, "param_groups": []})


def like_pytorch(torch, name, options):
    w = torch.tensor(START, requires_grad=True)
    theirs = train(getattr(torch.optim, name)([w], **options), torch.tensor, w, 9)
    mine, v = ours(name, options)
    rough = 1e-7 if name == "ASGD" else 1e-9  # its numbers are float32 there
    np.testing.assert_allclose(v.detach().numpy(), w.detach().numpy(), rtol=rough)
    told, state = theirs.state_dict(), mine.state_dict()
    assert told["param_groups"] == state["param_groups"]
    kept = {k: a for k, a in told["state"][0].items() if a is not None}
    assert set(kept) == set(state["state"][0])
    for key, value in kept.items():
        np.testing.assert_allclose(state["state"][0][key].numpy(), value.numpy(), rtol=1e-6)
    for _ in range(2):  # theirs goes on here, ours there
        loaded = {k: torch.tensor(a.numpy()) for k, a in state["state"][0].items()}
        theirs.load_state_dict({"state": {0: loaded}, "param_groups": state["param_groups"]})
        mine.load_state_dict(told)
        train(theirs, torch.tensor, w, 1), train(mine, tt.array, v, 1)
        np.testing.assert_allclose(v.detach().numpy(), w.detach().numpy(), rtol=1e-6)
        told, state = theirs.state_dict(), mine.state_dict()


def test_like_pytorch():
    """One test, which is skipped once where PyTorch is not installed."""
    torch = pytest.importorskip("torch")
    for case in [*CASES, *MORE]:
        with saying(case):
            like_pytorch(torch, *case)


@contextlib.contextmanager
def saying(case):
    """What fails says of which case."""
    try:
        yield
    except Exception as error:
        error.add_note(f"of {case}")
        raise


def valley(w):
    return (1 - w[0]) ** 2 + 10 * (w[1] - w[0] ** 2) ** 2 + (w[2:] ** 2).sum()


def descend(module, make, steps, **options):
    w = make(START)
    w.requires_grad_()
    o = module.optim.LBFGS([w], **options)

    def closure():
        o.zero_grad()
        loss = valley(w)
        loss.backward()
        return loss

    return o, w, [float(o.step(closure).detach()) for _ in range(steps)]


STEPS = [{"lr": 0.3}, {"lr": 0.8, "history_size": 3}, {"lr": 0.5, "max_iter": 4}]


@pytest.mark.parametrize("options", STEPS)
def test_lbfgs(options):
    o, w, losses = descend(tt, tt.array, 12, **options)
    assert losses[-1] < 1e-2 * losses[0]
    with pytest.raises(ValueError, match="only 'strong_wolfe' is supported"):
        tt.optim.LBFGS([w], line_search_fn="armijo")


LINES = [{}, {"max_iter": 5}, {"lr": 0.1, "history_size": 2}]


@pytest.mark.parametrize("options", LINES)
def test_lbfgs_looks_along_lines(options):
    """Each place that it takes has less loss than the one before, and far less after a few steps."""
    o, w, losses = descend(tt, tt.array, 6, line_search_fn="strong_wolfe", **options)
    assert losses == sorted(losses, reverse=True) and losses[-1] < 1e-3 * losses[0]


def test_lbfgs_like_pytorch():
    torch = pytest.importorskip("torch")
    searching = [{"line_search_fn": "strong_wolfe", **options} for options in LINES]
    for options, steps, rough in [(o, 12, 1e-6) for o in STEPS] + [(o, 6, 1e-3) for o in searching]:
        with saying(options):
            o, _, losses = descend(tt, tt.array, steps, **options)
            theirs, _, others = descend(torch, torch.tensor, steps, **options)
            np.testing.assert_allclose(losses, others, rtol=rough, atol=1e-12)
            assert o.state_dict()["state"][0]["func_evals"] == theirs.state_dict()["state"][0]["func_evals"]


MATRIX = np.random.default_rng(4).standard_normal((4, 3))


def of_matrices(module, make, name, options):
    w = make(MATRIX).requires_grad_()
    return train(getattr(module.optim, name)([w], **options), make, w, 5), w


OF_MATRICES = [
    ("Adafactor", {"lr": 0.1}, 1e-9), ("Adafactor", {"lr": 0.1, "weight_decay": 0.1, "d": 2.0}, 1e-9),
    ("Muon", {"lr": 0.1}, 2e-2), ("Muon", {"lr": 0.1, "nesterov": False, "adjust_lr_fn": "match_rms_adamw"}, 2e-2),
]  # fmt: skip


@pytest.mark.parametrize("name, options, rough", OF_MATRICES)
def test_optimizers_of_matrices(name, options, rough):
    o, w = of_matrices(tt, tt.array, name, options)
    keys = {"Adafactor": {"step", "row_var", "col_var"}, "Muon": {"momentum_buffer"}}[name]
    assert set(o.state_dict()["state"][0]) == keys


def test_optimizers_of_matrices_like_pytorch():
    torch = pytest.importorskip("torch")
    for name, options, rough in OF_MATRICES:
        with saying((name, options)):
            (o, w), (theirs, v) = (of_matrices(t, a, name, options) for t, a in ((tt, tt.array), (torch, torch.tensor)))
            np.testing.assert_allclose(w.detach().numpy(), v.detach().numpy(), rtol=rough, atol=rough)
            o.load_state_dict(theirs.state_dict()), theirs.load_state_dict(theirs.state_dict())


def test_muon_brings_singular_values_near_one():
    w = tt.array(MATRIX).requires_grad_()
    (w * tt.array(MATRIX[::-1].copy())).sum().backward()
    tt.optim.Muon([w], lr=1.0, weight_decay=0.0, adjust_lr_fn="original").step()
    moved = np.linalg.svd((MATRIX - w.detach().numpy()) / np.sqrt(4 / 3), compute_uv=False)
    assert (moved > 0.5).all() and (moved < 1.3).all()
    with pytest.raises(ValueError, match="Muon only supports 2D parameters"):
        tt.optim.Muon([tt.ones(3).requires_grad_()])
