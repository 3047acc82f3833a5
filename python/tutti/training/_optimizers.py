"""Optimisers by Keras' names, with its numbers."""

import math

import tutti as tt

from .. import _core


class _Adam(tt.optim.Adam):
    """Adam as Keras has it: what keeps the size from 0 is added before that is corrected for the first steps."""

    def _step(self, g, params, values, step, kept):
        eps = g["eps"] / math.sqrt(1.0 - g["betas"][1] ** step)
        numbers = (g["lr"], *g["betas"], eps, g["weight_decay"], g["amsgrad"], g["maximize"])
        _core.adam_step(params, values, step, *numbers, g["decoupled_weight_decay"])


def _adamw(params, **numbers):
    return _Adam(params, weight_decay=4e-3, decoupled_weight_decay=True, **numbers)


def _below_the_root(kind):
    """What makes an optimiser whose eps is added to the mean of squares, as Keras does, not to its root."""

    def made(params, **numbers):
        optimizer = kind(params, **numbers)
        for group in optimizer.param_groups:
            group["inside"] = True
        return optimizer

    return made


_BY_NAME = {
    "sgd": (tt.optim.SGD, {"lr": 1e-2}),
    "adam": (_Adam, {"lr": 1e-3, "eps": 1e-7}),
    "adamw": (_adamw, {"lr": 1e-3, "eps": 1e-7}),
    "rmsprop": (_below_the_root(tt.optim.RMSprop), {"lr": 1e-3, "alpha": 0.9, "eps": 1e-7}),
    "adagrad": (_below_the_root(tt.optim.Adagrad), {"lr": 1e-3, "initial_accumulator_value": 0.1, "eps": 1e-7}),
    "adadelta": (tt.optim.Adadelta, {"lr": 1e-3, "rho": 0.95, "eps": 1e-7}),
    "adamax": (tt.optim.Adamax, {"lr": 1e-3, "eps": 1e-7}),
    "nadam": (tt.optim.NAdam, {"lr": 1e-3, "eps": 1e-7, "momentum_decay": 1.0}),
}


def get(identifier, params):
    """An optimiser of a name, a class or function that takes parameters, or an optimiser, over the parameters."""
    if hasattr(identifier, "step") and hasattr(identifier, "zero_grad") and not isinstance(identifier, type):
        return identifier
    params = list(params)
    if isinstance(identifier, str) and identifier.lower() in _BY_NAME:
        kind, numbers = _BY_NAME[identifier.lower()]
        return kind(params, **numbers)
    if callable(identifier):
        return identifier(params)
    raise ValueError(f"Could not interpret optimizer identifier: {identifier}")


def learning_rate(optimizer):
    return float(optimizer.param_groups[0]["lr"])


def set_learning_rate(optimizer, value):
    for group in optimizer.param_groups:
        group["lr"] = value
