"""keras.optimizers.schedules: learning rates that follow the number of the step."""

import math as _math

from .._configured import Configured as _Configured
from .._configured import deserialize_keras_object as deserialize
from .._configured import serialize_keras_object as serialize

__all__ = [
    "CosineDecay", "CosineDecayRestarts", "ExponentialDecay", "InverseTimeDecay", "LearningRateSchedule",
    "PiecewiseConstantDecay", "PolynomialDecay", "deserialize", "serialize",
]  # fmt: skip


class LearningRateSchedule(_Configured):
    """What gives a learning rate for the number of a step."""

    def __call__(self, step):
        raise NotImplementedError(
            f"Learning rate schedule '{type(self).__name__}' must override `__call__(self, step)`."
        )


class _Decay(LearningRateSchedule):
    def __init__(self, initial_learning_rate, decay_steps, decay_rate, staircase=False, name=None):
        self.initial_learning_rate, self.decay_steps = initial_learning_rate, decay_steps
        self.decay_rate, self.staircase = decay_rate, staircase
        if decay_steps <= 0:
            raise ValueError(f"Argument `decay_steps` must be > 0. Received: decay_steps={decay_steps}")

    def _share(self, step):
        share = float(step) / self.decay_steps
        return _math.floor(share) if self.staircase else share


class ExponentialDecay(_Decay):
    """decay_rate to the power of step / decay_steps."""

    def __call__(self, step):
        return self.initial_learning_rate * self.decay_rate ** self._share(step)


class InverseTimeDecay(_Decay):
    """One over 1 + decay_rate * step / decay_steps."""

    def __call__(self, step):
        return self.initial_learning_rate / (1 + self.decay_rate * self._share(step))


class PiecewiseConstantDecay(LearningRateSchedule):
    """A value up to each boundary."""

    def __init__(self, boundaries, values, name=None):
        if len(boundaries) != len(values) - 1:
            raise ValueError(
                "The length of boundaries should be 1 less than the length of values. "
                f"Received: boundaries={boundaries} of length {len(boundaries)}, and values={values} of length "
                f"{len(values)}."
            )
        self.boundaries, self.values = boundaries, values

    def __call__(self, step):
        return self.values[sum(float(step) > b for b in self.boundaries)]


class PolynomialDecay(LearningRateSchedule):
    """From one rate to another by a power of what is left."""

    def __init__(self, initial_learning_rate, decay_steps, end_learning_rate=0.0001, power=1.0, cycle=False, name=None):
        self.initial_learning_rate, self.decay_steps, self.end_learning_rate = (
            initial_learning_rate,
            decay_steps,
            end_learning_rate,
        )
        self.power, self.cycle = power, cycle

    def __call__(self, step):
        step, length = float(step), self.decay_steps
        if self.cycle:
            length *= _math.ceil(step / length) if step else 1
        left = 1 - min(step, length) / length
        return (self.initial_learning_rate - self.end_learning_rate) * left**self.power + self.end_learning_rate


class CosineDecay(LearningRateSchedule):
    """Half a wave of a cosine, after a straight line up."""

    def __init__(self, initial_learning_rate, decay_steps, alpha=0.0, name=None, warmup_target=None, warmup_steps=0):
        self.initial_learning_rate, self.decay_steps, self.alpha = initial_learning_rate, decay_steps, alpha
        self.warmup_target, self.warmup_steps = warmup_target, warmup_steps

    def __call__(self, step):
        step, top = float(step), self.initial_learning_rate
        if self.warmup_target is not None:
            if step < self.warmup_steps:
                return top + (self.warmup_target - top) * step / self.warmup_steps
            step, top = step - self.warmup_steps, self.warmup_target
        wave = 0.5 * (1 + _math.cos(_math.pi * min(step / self.decay_steps, 1.0)))
        return top * ((1 - self.alpha) * wave + self.alpha)


class CosineDecayRestarts(LearningRateSchedule):
    """Waves of a cosine, each longer and lower than the one before."""

    def __init__(self, initial_learning_rate, first_decay_steps, t_mul=2.0, m_mul=1.0, alpha=0.0, name=None):
        self.initial_learning_rate, self.first_decay_steps = initial_learning_rate, first_decay_steps
        self.t_mul, self.m_mul, self.alpha = t_mul, m_mul, alpha

    def __call__(self, step):
        at, k, length = float(step) / self.first_decay_steps, 0, 1.0
        while at >= length:
            at, k, length = at - length, k + 1, length * self.t_mul
        wave = 0.5 * self.m_mul**k * (1 + _math.cos(_math.pi * at / length))
        return self.initial_learning_rate * ((1 - self.alpha) * wave + self.alpha)


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.keras does not cover keras.optimizers.schedules.{name}")
