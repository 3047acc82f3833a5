"""Learning rates from step to step: by what is known of them, and, where it is installed, as PyTorch has them."""

import itertools

import numpy as np
import pytest
import tutti as tt

CASES = [
    "StepLR(o, 3, 0.5)", "MultiStepLR(o, [2, 2, 5])", "ConstantLR(o, 0.25, 4)", "LinearLR(o, 0.25, 0.75, 6)",
    "ExponentialLR(o, 0.9)",
    "PolynomialLR(o, 7, 2.0)", "CosineAnnealingLR(o, 4, 0.01)", "CosineAnnealingWarmRestarts(o, 3, 2, 0.01)",
    "CyclicLR(o, 0.1, 1.0, 3, 2)", "CyclicLR(o, 0.1, 1.0, 2, mode='triangular2')",
    "CyclicLR(o, 0.1, 1.0, 2, mode='exp_range', gamma=0.9, cycle_momentum=False)", "OneCycleLR(o, 1.0, 20)",
    "OneCycleLR(o, 1.0, epochs=5, steps_per_epoch=4, anneal_strategy='linear', three_phase=True)",
    "LambdaLR(o, lambda t: 0.9**t)",
    "MultiplicativeLR(o, lambda t: 0.9)", "SequentialLR(o, [k.ConstantLR(o, 0.1, 2), k.ExponentialLR(o, 0.9)], [4])",
    "ChainedScheduler([k.ConstantLR(o, 0.1, 3), k.ExponentialLR(o, 0.9)])",
]  # fmt: skip


def rates(module, made, steps=16):
    k = module.optim.lr_scheduler
    w = tt.ones(1).requires_grad_() if module is tt else module.ones(1, requires_grad=True)
    o = module.optim.SGD([w], lr=0.5, momentum=0.9)
    scheduler = eval(f"k.{made}", {"k": k, "o": o})
    seen = [(o.param_groups[0]["lr"], o.param_groups[0]["momentum"])]
    for _ in range(steps):
        o.step()
        scheduler.step()
        seen.append((o.param_groups[0]["lr"], o.param_groups[0]["momentum"]))
    return np.array(seen)


def test_like_pytorch():
    """One test, which is skipped once where PyTorch is not installed."""
    torch = pytest.importorskip("torch")
    for made in CASES:
        np.testing.assert_allclose(rates(tt, made), rates(torch, made), rtol=1e-9, err_msg=made)


def test_known_rates():
    t = np.arange(17)
    np.testing.assert_allclose(rates(tt, CASES[0])[:, 0], 0.5 * 0.5 ** (t // 3))
    np.testing.assert_allclose(rates(tt, "ExponentialLR(o, 0.9)")[:, 0], 0.5 * 0.9**t)
    cosine = 0.01 + 0.49 * (1 + np.cos(np.pi * t / 4)) / 2
    np.testing.assert_allclose(rates(tt, "CosineAnnealingLR(o, 4, 0.01)")[:, 0], cosine, rtol=1e-9)
    line = 0.5 * (0.25 + 0.5 * np.minimum(t, 6) / 6)
    np.testing.assert_allclose(rates(tt, "LinearLR(o, 0.25, 0.75, 6)")[:, 0], line, rtol=1e-12)
    one = rates(tt, "OneCycleLR(o, 1.0, 20)")
    assert one[5, 0] == 1 and one[5, 1] == 0.85 and abs(one[0, 0] - 1 / 25) < 1e-15


PLATEAUS = [{}, {"threshold_mode": "abs", "threshold": 0.3}, {"cooldown": 2, "min_lr": 0.05}]


def test_plateaus():
    torch = pytest.importorskip("torch")
    for mode, how in itertools.product(("min", "max"), PLATEAUS):
        np.testing.assert_allclose(*on_plateaus(torch, mode, how), rtol=1e-12, err_msg=f"{mode} {how}")


def on_plateaus(torch, mode, how):
    values, seen = np.random.default_rng(1).standard_normal(30).cumsum() / 4, []
    for module in tt, torch:
        w = tt.ones(1).requires_grad_() if module is tt else module.ones(1, requires_grad=True)
        o = module.optim.SGD([w], lr=0.5)
        s = module.optim.lr_scheduler.ReduceLROnPlateau(o, mode, 0.5, 2, **how)
        seen.append([])
        for v in values:
            s.step(v)
            seen[-1].append(o.param_groups[0]["lr"])
    return seen


def test_states_travel():
    o = tt.optim.SGD([tt.ones(1).requires_grad_()], lr=1.0)
    a = tt.optim.lr_scheduler.StepLR(o, 2, 0.5)
    a.step()
    b = tt.optim.lr_scheduler.StepLR(o, 9, 0.1)
    b.load_state_dict(a.state_dict())
    b.step()
    assert b.get_last_lr() == [0.5] and b.last_epoch == 2


def test_bad_input():
    o = tt.optim.SGD([tt.ones(1).requires_grad_()], lr=1.0)
    kinds = tt.optim.lr_scheduler
    with pytest.raises(ValueError, match="You must define either total_steps OR"):
        kinds.OneCycleLR(o, 1.0)
    with pytest.raises(KeyError, match="param 'initial_lr' is not specified in param_groups.0."):
        kinds.StepLR(o, 3, last_epoch=4)
    with pytest.raises(ValueError, match="mode best is unknown!"):
        kinds.ReduceLROnPlateau(o, "best")
    short = kinds.OneCycleLR(o, 1.0, 2, cycle_momentum=False)
    with pytest.raises(ValueError, match="Tried to step 3 times"):
        for _ in range(3):
            short.step()
