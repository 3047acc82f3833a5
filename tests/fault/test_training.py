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


OPTIMISERS = {
    "sgd": lambda p: tt.optim.SGD(p, lr=0.1, momentum=0.9),
    "adam": lambda p: tt.optim.Adam(p, lr=0.1),
}


def equal(a, b):
    return all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))


def one_step_failed(t, kind, n):
    """Whether the n-th call was reached, and whether it stopped the step."""
    stopped = False
    core._test_fail(kind, n, False)
    try:
        t.step()
    except (MemoryError, RuntimeError):
        stopped = True
    finally:
        fired = disarmed(kind)
    return fired, stopped


def check(make, kind, stride, may_lose=False):
    """Every stride-th call fails once. The second step is the one that is failed: the first makes the states. may_lose:
    of a launch that failed a device keeps no values, and who reads them is told so."""
    plain = make()
    plain.step()
    before = plain.now()
    plain.step()
    after = plain.now()
    n, fired, any_stopped = 0, True, False
    while fired:
        t = make()
        t.step()
        assert equal(t.now(), before)
        fired, stopped = one_step_failed(t, kind, n)
        any_stopped |= stopped
        try:
            now = t.now()
            assert equal(now, before) or equal(now, after), f"{kind} {n}: part of a step"
            t.step()
            assert all(np.isfinite(a).all() for a in t.now()) and not equal(t.now(), now)
        except RuntimeError as error:
            assert may_lose and "these values were lost when a launch failed" in str(error)
        n += stride
    return any_stopped


@pytest.mark.parametrize("name", OPTIMISERS)
def test_memory(name):
    assert check(lambda: Training(OPTIMISERS[name], "cpu"), "memory", 3)


@pytest.mark.parametrize("kind, stride", [("memory", 7), ("device memory", 1), ("launch", 1), ("copy", 1)])
@pytest.mark.parametrize("name", OPTIMISERS)
def test_on_a_device(name, kind, stride, monkeypatch):
    monkeypatch.setenv("TUTTI_NULL_DEVICE", "1")
    check(lambda: Training(OPTIMISERS[name], "null"), kind, stride, may_lose=kind in ("launch", "memory"))
