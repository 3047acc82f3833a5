"""keras.optimizers: those of tutti.optim with Keras' numbers. A step over all variables is one evaluation."""

import math as _math

import tutti as _tt

from .. import _state
from .._configured import Configured as _Configured
from .._configured import by_name as _by_name
from .._configured import deserialize_keras_object as deserialize
from .._configured import serialize_keras_object as serialize
from .._variable import Variable as _Variable
from .._variable import tensor as _tensor
from . import schedules

__all__ = [
    "Adadelta", "Adafactor", "Adagrad", "Adam", "AdamW", "Adamax", "Ftrl", "Lamb", "Lion", "LossScaleOptimizer", "Muon",
    "Nadam", "Optimizer", "RMSprop", "SGD", "deserialize", "get", "schedules", "serialize",
]  # fmt: skip


class _Group(dict):
    """The numbers of an optimiser as tutti.callbacks read and set them."""

    def __init__(self, optimizer):
        super().__init__(lr=float(optimizer.learning_rate))
        self._optimizer = optimizer

    def __setitem__(self, name, value):
        super().__setitem__(name, value)
        self._optimizer.learning_rate = value


class Optimizer(_Configured):
    """What changes variables by their gradients."""

    def __init__(
        self, learning_rate, weight_decay=None, clipnorm=None, clipvalue=None, global_clipnorm=None, use_ema=False,
        ema_momentum=0.99, ema_overwrite_frequency=None, loss_scale_factor=None, gradient_accumulation_steps=None,
        name=None, **kwargs,
    ):  # fmt: skip
        if kwargs:
            raise ValueError(f"Argument(s) not recognized: {kwargs}")
        if loss_scale_factor:
            raise NotImplementedError("tutti.compat.keras does not cover loss_scale_factor of optimizers")
        if use_ema and not 0 <= ema_momentum <= 1:
            raise ValueError(f"`ema_momentum` must be in the range [0, 1]. Received: ema_momentum={ema_momentum}")
        if (
            use_ema
            and ema_overwrite_frequency
            and (not isinstance(ema_overwrite_frequency, int) or ema_overwrite_frequency < 1)
        ):
            raise ValueError(
                "`ema_overwrite_frequency` must be an integer >= 1 or None. Received: ema_overwrite_frequency="
                f"{ema_overwrite_frequency}"
            )
        if gradient_accumulation_steps is not None and not gradient_accumulation_steps >= 2:
            raise ValueError(
                "`gradient_accumulation_steps` must be an integer >= 2. Received: gradient_accumulation_steps="
                f"{gradient_accumulation_steps}"
            )
        if sum(x is not None for x in (clipnorm, clipvalue, global_clipnorm)) > 1:
            raise ValueError(
                "Only one of `clipnorm`, `clipvalue` and `global_clipnorm` can be set. Received: "
                f"clipnorm={clipnorm}, clipvalue={clipvalue}, global_clipnorm={global_clipnorm}"
            )
        self.name = name or _state.auto_name(_state.snake_case(type(self).__name__))
        self.weight_decay, self.clipnorm, self.clipvalue = weight_decay, clipnorm, clipvalue
        self.global_clipnorm = global_clipnorm
        self.use_ema, self.ema_momentum = use_ema, ema_momentum
        self.ema_overwrite_frequency = ema_overwrite_frequency
        self.gradient_accumulation_steps = gradient_accumulation_steps
        self._averages, self._gathered, self._waiting = None, None, 0
        self._schedule, self._rate = None, None
        self.learning_rate = learning_rate
        self._steps, self._inner, self._bound = 0, None, None
        self.built = False

    # ---- the learning rate

    @property
    def learning_rate(self):
        """The learning rate, or that of this step where a schedule says it."""
        return _tensor(self._schedule(self._steps), "float32") if self._schedule is not None else self._rate

    @learning_rate.setter
    def learning_rate(self, value):
        if isinstance(value, schedules.LearningRateSchedule):
            self._schedule = value
        elif callable(value) and not hasattr(value, "__array__"):
            self._schedule = lambda step: value()
        elif self._rate is None:
            self._schedule = None
            with _tt.device("cpu"):  # each step reads it
                self._rate = _Variable(float(value), dtype="float32", trainable=False, name="learning_rate")
        else:
            self._schedule = None
            self._rate.assign(float(value))

    def _lr(self):
        return float(self._schedule(self._steps)) if self._schedule is not None else float(self._rate)

    @property
    def param_groups(self):
        """The learning rate, as optimisers of tutti.optim have it."""
        return [_Group(self)]

    @property
    def iterations(self):
        """How many steps were made."""
        return _tensor(self._steps, "int64")

    # ---- steps

    def _made(self, params):
        """The optimiser of tutti.optim over parameters."""
        raise NotImplementedError

    def build(self, trainable_variables):
        """Take the variables that will be trained."""
        self._bound = list(trainable_variables)
        self._inner = self._made(self._bound)
        self.built = True

    @property
    def variables(self):
        """What is kept for the variables."""
        kept = [] if self._inner is None else [a for group in self._inner._kept for a in group.values if a is not None]
        return [self.iterations, self.learning_rate, *kept]

    def _follow(self, trainable_variables):
        """The variables of a model, which may not be there yet."""
        self._later, self.built = trainable_variables, False

    def zero_grad(self):
        """Forget the gradients."""
        if not self.built:
            self.build(self._later())
        for v in self._bound:
            v.grad = None

    def apply_gradients(self, grads_and_vars):
        """A step by gradients that are given."""
        grads, variables = zip(*grads_and_vars)
        self.apply(grads, variables)

    def apply(self, grads, trainable_variables=None):
        """A step by gradients that are given."""
        if not self.built:
            if trainable_variables is None:
                raise ValueError(
                    "When passing `grads` without `variables`, the optimizer must be built on a list of variables."
                )
            self.build(trainable_variables)
        variables = self._bound if trainable_variables is None else list(trainable_variables)
        known = {id(v) for v in self._bound}
        for v in variables:
            if id(v) not in known:
                raise ValueError(
                    f"Unknown variable: {v}. This optimizer can only be called for the variables it was originally "
                    "built with. When working with a new set of variables, you should recreate a new optimizer "
                    "instance."
                )
        if all(g is None for g in grads):
            raise ValueError("No gradients provided for any variable.")
        for v in self._bound:
            v.grad = None
        for g, v in zip(grads, variables):
            v.grad = None if g is None else _tensor(g, v.dtype)
        self.step()

    def step(self):
        """A step by the gradients that the variables have."""
        if not self.built:
            self.build(self._later())
        if self.gradient_accumulation_steps and not self._gather():
            return
        rate = self._lr()
        with _tt.no_grad():
            self._clip()
        for group in self._inner.param_groups:
            group["lr"] = rate
        self._inner.step()
        self._steps += 1
        limited = [v for v in self._bound if getattr(v, "constraint", None) is not None]
        if limited:
            with _tt.no_grad():
                for v in limited:
                    v.assign(v.constraint(v.detach()))
        if self.use_ema:
            self._average()

    def _gather(self):
        """Add the gradients to those of the steps before; whether it is time for all of them."""
        given = [None if v.grad is None else v.grad.detach() for v in self._bound]
        before = self._gathered or [None] * len(given)
        self._gathered = [b if g is None else g if b is None else b + g for b, g in zip(before, given)]
        self._waiting = (self._waiting + 1) % self.gradient_accumulation_steps
        if self._waiting:
            _tt.eval(*(g for g in self._gathered if g is not None))
            return False
        for v, g in zip(self._bound, self._gathered):
            v.grad = None if g is None else g / self.gradient_accumulation_steps
        self._gathered = None
        return True

    # ---- averages of the variables

    def _average(self):
        """What the variables are now is taken into their averages; the first step is the average of its own."""
        with _tt.no_grad():
            now, m = [v.detach() for v in self._bound], self.ema_momentum
            if self._averages is None:
                self._averages = [v.copy() for v in now]
            else:
                self._averages = [m * a + (1 - m) * v for a, v in zip(self._averages, now)]
            _tt.eval(*self._averages, *now)
        if self.ema_overwrite_frequency and self._steps % self.ema_overwrite_frequency == 0:
            self.finalize_variable_values(self._bound)

    def finalize_variable_values(self, var_list):
        """The variables become their averages, where these are kept (use_ema)."""
        if self.use_ema and self._averages is not None:
            for v, a in zip(self._bound, self._averages):
                v.assign(a)

    def _swap(self):
        """The variables and their averages change places."""
        if self._averages is not None:
            before = [v.detach().copy() for v in self._bound]
            self.finalize_variable_values(self._bound)
            self._averages = before

    def _clip(self):
        with_gradients = [v for v in self._bound if v.grad is not None]
        if self.clipvalue is not None:
            for v in with_gradients:
                v.grad = _tt.clip(v.grad, -self.clipvalue, self.clipvalue)
        if self.clipnorm is not None:
            for v in with_gradients:
                v.grad = v.grad * _limited(_tt.sqrt(_tt.sum(_tt.square(v.grad))), self.clipnorm)
        if self.global_clipnorm is not None:
            norm = _tt.sqrt(sum(_tt.sum(_tt.square(v.grad)) for v in with_gradients))
            for v in with_gradients:
                v.grad = v.grad * _limited(norm, self.global_clipnorm)

    def get_config(self):
        """What from_config() makes it of again."""
        made = super().get_config()
        if self._schedule is None:
            made["learning_rate"] = float(self._rate)
        return {**made, "name": self.name}


def _limited(norm, limit):
    """The factor that a vector of a norm is brought to a limit with."""
    return limit / _tt.maximum(norm, limit)


class _Momentum(_tt.optim.SGD):
    """SGD whose velocity holds the learning rates of its time, and whose weights decay by themselves."""

    decay = None

    def _step(self, g, params, values, step, kept):
        before, now = getattr(kept, "rate", None), g["lr"]
        if g["momentum"] and before not in (None, now) and now:
            with _tt.no_grad():
                values[:] = [v if v is None else v * (before / now) for v in values]
        kept.rate = now or before
        if self.decay:
            with _tt.no_grad():
                for p in params:
                    p[...] = p.detach() * (1 - now * self.decay)
        super()._step(g, params, values, step, kept)


class SGD(Optimizer):
    """Gradient descent, with momentum."""

    def __init__(self, learning_rate=0.01, momentum=0.0, nesterov=False, weight_decay=None, **kwargs):
        super().__init__(learning_rate, weight_decay, **kwargs)
        if not isinstance(momentum, float) or not 0 <= momentum <= 1:
            raise ValueError("`momentum` must be a float between [0, 1].")
        self.momentum, self.nesterov = momentum, nesterov

    def _made(self, params):
        made = _Momentum(params, 0.0, self.momentum, nesterov=self.nesterov and self.momentum > 0)
        made.decay = self.weight_decay
        return made


class _Adam(_tt.optim.Adam):
    """Adam whose eps is added before the size is corrected for the first steps."""

    def _step(self, g, params, values, step, kept):
        eps = g["eps"] / _math.sqrt(1.0 - g["betas"][1] ** step)
        super()._step({**g, "eps": eps}, params, values, step, kept)


class Adam(Optimizer):
    """Steps in units of the gradient's usual size."""

    def __init__(
        self, learning_rate=0.001, beta_1=0.9, beta_2=0.999, epsilon=1e-7, amsgrad=False, weight_decay=None, **kwargs
    ):
        super().__init__(learning_rate, weight_decay, **kwargs)
        self.beta_1, self.beta_2, self.epsilon, self.amsgrad = beta_1, beta_2, epsilon, amsgrad

    def _made(self, params):
        betas, decay = (self.beta_1, self.beta_2), self.weight_decay or 0.0
        return _Adam(params, 0.0, betas, self.epsilon, decay, self.amsgrad, decoupled_weight_decay=True)


class AdamW(Adam):
    """Adam whose weights decay by themselves."""

    def __init__(
        self, learning_rate=0.001, weight_decay=0.004, beta_1=0.9, beta_2=0.999, epsilon=1e-7, amsgrad=False, **kwargs
    ):
        super().__init__(learning_rate, beta_1, beta_2, epsilon, amsgrad, weight_decay, **kwargs)
        if self.weight_decay is None:
            raise ValueError("Argument `weight_decay` must be a float. Received: weight_decay=None")


def _with(inner, decay, **more):
    """An optimiser whose groups have more numbers; weights decay by themselves."""
    for group in inner.param_groups:
        group.update(weight_decay=decay or 0.0, decoupled_weight_decay=True, **more)
    return inner


class _RMSprop(_tt.optim.RMSprop):
    """RMSprop whose momentum holds the learning rates of its time."""

    def _step(self, g, params, values, step, kept):
        before, now = getattr(kept, "rate", None), g["lr"]
        if g["momentum"] and before not in (None, now) and now:
            with _tt.no_grad():
                values[1::3] = [v if v is None else v * (before / now) for v in values[1::3]]
        kept.rate = now or before
        super()._step(g, params, values, step, kept)


class RMSprop(Optimizer):
    """Steps in units of the root of the running mean of squares."""

    def __init__(
        self, learning_rate=0.001, rho=0.9, momentum=0.0, epsilon=1e-7, centered=False, weight_decay=None, **kwargs
    ):
        super().__init__(learning_rate, weight_decay, **kwargs)
        self.rho, self.momentum, self.epsilon, self.centered = rho, momentum, epsilon, centered

    def _made(self, params):
        made = _RMSprop(params, 0.0, self.rho, self.epsilon, 0, self.momentum, self.centered)
        return _with(made, self.weight_decay, inside=True)


class Adagrad(Optimizer):
    """Steps in units of the root of the sum of all squares so far."""

    def __init__(self, learning_rate=0.001, initial_accumulator_value=0.1, epsilon=1e-7, weight_decay=None, **kwargs):
        super().__init__(learning_rate, weight_decay, **kwargs)
        self.initial_accumulator_value, self.epsilon = initial_accumulator_value, epsilon

    def _made(self, params):
        made = _tt.optim.Adagrad(params, 0.0, 0, 0, self.initial_accumulator_value, self.epsilon)
        return _with(made, self.weight_decay, inside=True)


class Adadelta(Optimizer):
    """Steps in units of the gradient's usual size, times their own usual size."""

    def __init__(self, learning_rate=0.001, rho=0.95, epsilon=1e-7, weight_decay=None, **kwargs):
        super().__init__(learning_rate, weight_decay, **kwargs)
        self.rho, self.epsilon = rho, epsilon

    def _made(self, params):
        return _with(_tt.optim.Adadelta(params, 0.0, self.rho, self.epsilon), self.weight_decay)


class Adamax(Optimizer):
    """Adam in units of the gradient's largest size, which is forgotten slowly."""

    def __init__(self, learning_rate=0.001, beta_1=0.9, beta_2=0.999, epsilon=1e-7, weight_decay=None, **kwargs):
        super().__init__(learning_rate, weight_decay, **kwargs)
        self.beta_1, self.beta_2, self.epsilon = beta_1, beta_2, epsilon

    def _made(self, params):
        return _with(_tt.optim.Adamax(params, 0.0, (self.beta_1, self.beta_2), self.epsilon), self.weight_decay)


class Nadam(Optimizer):
    """Adam whose momentum looks ahead."""

    def __init__(self, learning_rate=0.001, beta_1=0.9, beta_2=0.999, epsilon=1e-7, weight_decay=None, **kwargs):
        super().__init__(learning_rate, weight_decay, **kwargs)
        self.beta_1, self.beta_2, self.epsilon = beta_1, beta_2, epsilon

    def _made(self, params):
        inner = _tt.optim.NAdam(params, 0.0, (self.beta_1, self.beta_2), self.epsilon, momentum_decay=1.0)
        return _with(inner, self.weight_decay)


class _Spelled(_tt.optim.Optimizer):
    """A rule of which parameters and states become new ones."""

    def __init__(self, params, rule, decay, places):
        self._PLACES = places
        super().__init__(params, {"lr": 0.0})
        self.rule, self.decay = rule, decay

    def _step(self, group, params, values, step, kept):
        with _tt.no_grad():
            for k, p in enumerate(params):
                own, old = slice(k * self._PLACES, (k + 1) * self._PLACES), p.detach()
                old = old * (1 - group["lr"] * self.decay) if self.decay else old
                new, values[own] = self.rule(old, p.grad, group["lr"], values[own], p)
                p[...] = new


class Lion(Optimizer):
    """Steps of one size in the directions that momentum says."""

    def __init__(self, learning_rate=0.001, beta_1=0.9, beta_2=0.99, weight_decay=None, **kwargs):
        super().__init__(learning_rate, weight_decay, **kwargs)
        if beta_1 <= 0 or beta_1 > 1:
            raise ValueError(
                "Argument `beta_1` must be in the [0, 1] range. Otherwise, the optimizer degenerates to SignSGD. "
                f"Received: beta_1={beta_1}."
            )
        self.beta_1, self.beta_2 = beta_1, beta_2

    def _rule(self, p, g, lr, states, param):
        m = _tt.zeros_like(g) if states[0] is None else states[0]
        new = p - lr * _tt.sign(m * self.beta_1 + g * (1.0 - self.beta_1))
        return new, [m * self.beta_2 + g * (1.0 - self.beta_2)]

    def _made(self, params):
        return _Spelled(params, self._rule, self.weight_decay, 1)


from ._spelled import Adafactor, Ftrl, Lamb, LossScaleOptimizer, Muon  # noqa: E402 (they are subclasses)


def get(identifier):
    """The optimiser by its name, configuration or class."""
    return identifier if isinstance(identifier, Optimizer) else _by_name(globals(), "optimizer", identifier)


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.keras does not cover keras.optimizers.{name}")
