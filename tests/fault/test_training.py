"""A training step with the n-th call failing: all parameters and states are those before it or those after it, and the
next step is as good as the first."""

import numpy as np
import pytest
import tutti as tt

core = tt._core
KINDS = ("memory", "device memory", "launch", "copy", "compile")


@pytest.fixture(autouse=True)
def disarm():
    tt.set_eager(0)
    yield
    for kind in KINDS:
        core._test_fail(kind, -1, False)
    tt.set_eager(-1)


def disarmed(kind):
    fired = core._test_calls(kind)[1]
    core._test_fail(kind, -1, False)
    return fired


class Training:
    """Two layers and an optimiser, from the same numbers each time."""

    def __init__(self, optimiser, device):
        rng = np.random.default_rng(1)
        self.x, self.y = (tt.asarray(rng.standard_normal(s), device=device) for s in ((8, 5), (8, 2)))
        start = [rng.standard_normal(s) for s in ((5, 6), (6,), (6, 2))]
        self.params = [tt.asarray(a, device=device).requires_grad_() for a in start]
        self.opt = optimiser(self.params)
        self.now()

    def step(self):
        self.opt.zero_grad()
        w, b, v = self.params
        loss = ((tt.tanh(self.x @ w + b) @ v - self.y) ** 2).mean()
        loss.backward()
        self.opt.step()
        return float(loss)

    def now(self):
        return [p.detach().numpy().copy() for p in self.params]


def groups(params):
    """Steps of several groups are one."""
    w, b, v = params
    return tt.optim.Adam([{"params": [w, v]}, {"params": [b], "lr": 0.3}], lr=0.1)


OPTIMISERS = {
    "sgd": lambda p: tt.optim.SGD(p, lr=0.1, momentum=0.9),
    "adam": lambda p: tt.optim.Adam(p, lr=0.1),
    "groups": groups,
}


def equal(a, b):
    return all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))


def one_step_failed(t, kind, n, sticky=False):
    """Whether the n-th call was reached, and whether it stopped the step."""
    stopped = False
    core._test_fail(kind, n, sticky)
    try:
        t.step()
    except (MemoryError, RuntimeError):
        stopped = True
    finally:
        fired = disarmed(kind)
    return fired, stopped


def check(make, kind, stride, sticky=False):
    """Every stride-th call fails once (sticky: and all that follow in the step), in the first step, which makes the
    states, in the second and in one whose launches are a graph. What comes then is what would have come anyway."""
    plain = make()
    want = [plain.now()]
    for _ in range(7):
        plain.step()
        want.append(plain.now())
    any_stopped = False
    for done in (0, 1, 5):
        n, fired = 0, True
        while fired:
            t = make()
            for _ in range(done):
                t.step()
            fired, stopped = one_step_failed(t, kind, n, sticky)
            any_stopped |= stopped
            now = t.now()
            is_after = equal(now, want[done + 1])
            assert is_after or equal(now, want[done]), f"{kind} {n}: part of a step"
            t.step()
            assert equal(t.now(), want[done + 1 + is_after]), f"{kind} {n}: another step"
            n += stride
    return any_stopped


@pytest.mark.parametrize("name", OPTIMISERS)
def test_memory(name):
    assert check(lambda: Training(OPTIMISERS[name], "cpu"), "memory", 3)


@pytest.mark.parametrize("sticky", [False, True])
@pytest.mark.parametrize("kind, stride", [("memory", 7), ("device memory", 1), ("launch", 1), ("copy", 1)])
@pytest.mark.parametrize("name", OPTIMISERS)
def test_on_a_device(name, kind, stride, sticky, monkeypatch):
    monkeypatch.setenv("TUTTI_NULL_DEVICE", "1")
    stopped = check(lambda: Training(OPTIMISERS[name], "null"), kind, stride, sticky)
    assert stopped or kind != "launch"
