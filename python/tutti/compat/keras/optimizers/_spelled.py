"""Optimisers of Keras whose rule is written here, and the one that scales losses."""

import re as _re

import tutti as _tt

from . import Optimizer, _Spelled
from . import deserialize as _deserialize
from . import serialize as _serialize


def _above_zero(name, value):
    if value < 0:
        raise ValueError(f"`{name}` needs to be positive or zero. Received: {name}={value}.")


def _counted(state, p):
    """How many steps there were with this one, as an array: numbers that change would be new programs."""
    return _tt.ones((), dtype=p.dtype) if state is None else state + 1


def _mean_square(x):
    return _tt.sqrt(_tt.mean(_tt.square(x)))


class Ftrl(Optimizer):
    """Steps that follow the leader: the weights that were best for all gradients so far, and a penalty."""

    def __init__(
        self, learning_rate=0.001, learning_rate_power=-0.5, initial_accumulator_value=0.1,
        l1_regularization_strength=0.0, l2_regularization_strength=0.0, l2_shrinkage_regularization_strength=0.0,
        beta=0.0, weight_decay=None, **kwargs,
    ):  # fmt: skip
        super().__init__(learning_rate, weight_decay, **kwargs)
        if learning_rate_power > 0:
            raise ValueError(
                "`learning_rate_power` needs to be negative or zero. Received: "
                f"learning_rate_power={learning_rate_power}."
            )
        _above_zero("initial_accumulator_value", initial_accumulator_value)
        _above_zero("l1_regularization_strength", l1_regularization_strength)
        _above_zero("l2_regularization_strength", l2_regularization_strength)
        _above_zero("l2_shrinkage_regularization_strength", l2_shrinkage_regularization_strength)
        self.learning_rate_power, self.beta = learning_rate_power, beta
        self.initial_accumulator_value = initial_accumulator_value
        self.l1_regularization_strength = l1_regularization_strength
        self.l2_regularization_strength = l2_regularization_strength
        self.l2_shrinkage_regularization_strength = l2_shrinkage_regularization_strength

    def _rule(self, p, g, lr, states, param):
        squares = _tt.full_like(p, self.initial_accumulator_value) if states[0] is None else states[0]
        linear = _tt.zeros_like(p) if states[1] is None else states[1]
        power, l1 = -self.learning_rate_power, self.l1_regularization_strength
        shrunk = g + 2 * self.l2_shrinkage_regularization_strength * p
        more = squares + _tt.square(g)
        linear = linear + (shrunk - (_tt.power(more, power) - _tt.power(squares, power)) / lr * p)
        quadratic = _tt.power(more, power) / lr + 2 * (self.l2_regularization_strength + self.beta / (2 * lr))
        return (_tt.clip(linear, -l1, l1) - linear) / quadratic, [more, linear]

    def _made(self, params):
        return _Spelled(params, self._rule, self.weight_decay, 2)


class Lamb(Optimizer):
    """Adam's steps, as long for each variable as it is itself."""

    def __init__(self, learning_rate=0.001, beta_1=0.9, beta_2=0.999, epsilon=1e-7, weight_decay=None, **kwargs):
        super().__init__(learning_rate, weight_decay, **kwargs)
        self.beta_1, self.beta_2, self.epsilon = beta_1, beta_2, epsilon

    def _rule(self, p, g, lr, states, param):
        m, v = (_tt.zeros_like(p) if s is None else s for s in states[:2])
        m, v = m + (g - m) * (1 - self.beta_1), v + (_tt.square(g) - v) * (1 - self.beta_2)
        n = _counted(states[2], p)
        size = _tt.sqrt(v / (1.0 - _tt.power(self.beta_2, n))) + self.epsilon
        update = m / (1.0 - _tt.power(self.beta_1, n)) / size
        own, its = (_tt.sqrt(_tt.sum(_tt.square(x))) for x in (p, update))
        ratio = _tt.where((own > 0) & (its > 0), own / _tt.where(its > 0, its, 1), 1.0)
        return p - ratio * lr * update, [m, v, n]

    def _made(self, params):
        return _Spelled(params, self._rule, self.weight_decay, 3)


class Adafactor(Optimizer):
    """Steps in units of the gradient's usual size, of which a matrix keeps those of its rows and columns alone."""

    def __init__(
        self, learning_rate=0.001, beta_2_decay=-0.8, epsilon_1=1e-30, epsilon_2=1e-3, clip_threshold=1.0,
        relative_step=True, weight_decay=None, **kwargs,
    ):  # fmt: skip
        super().__init__(learning_rate, weight_decay, **kwargs)
        self.beta_2_decay, self.epsilon_1, self.epsilon_2 = beta_2_decay, epsilon_1, epsilon_2
        self.clip_threshold, self.relative_step = clip_threshold, relative_step

    def _rule(self, p, g, lr, states, param):
        n = _counted(states[2], p)
        root, kept = 1.0 / _tt.sqrt(n), 1.0 - _tt.power(n, self.beta_2_decay)
        alpha = _tt.maximum(_mean_square(p), self.epsilon_2) * _tt.minimum(root, lr)
        squares = _tt.square(g) + self.epsilon_1
        if p.ndim < 2:
            rows, columns = (_tt.zeros_like(p) if states[0] is None else states[0]), None
            v = rows = kept * rows + (1 - kept) * squares
        else:
            sides = [_tt.mean(squares, axis=axis) for axis in (-1, -2)]
            rows, columns = ((0.0 if old is None else kept * old) + (1 - kept) * new for old, new in zip(states, sides))
            v = (rows / _tt.mean(rows, axis=-1, keepdims=True))[..., None] * columns[..., None, :]
        update = g / _tt.sqrt(v)
        update = update / _tt.maximum(_mean_square(update) / self.clip_threshold, 1.0)
        return p - alpha * update, [rows, columns, n]

    def _made(self, params):
        return _Spelled(params, self._rule, self.weight_decay, 3)


class Muon(Optimizer):
    """Steps of matrices along the nearest orthogonal ones; Adam's for other variables and for embeddings."""

    def __init__(
        self, learning_rate=0.001, adam_beta_1=0.9, adam_beta_2=0.999, adam_weight_decay=0.004, epsilon=1e-7,
        weight_decay=0.004, exclude_layers=None, exclude_embeddings=True, muon_a=3.4445, muon_b=-4.7750,
        muon_c=2.0315, adam_lr_ratio=1, momentum=0.95, ns_steps=5, nesterov=True, rms_rate=0.2, **kwargs,
    ):  # fmt: skip
        super().__init__(learning_rate, weight_decay, **kwargs)
        self.adam_beta_1, self.adam_beta_2, self.epsilon = adam_beta_1, adam_beta_2, epsilon
        self.adam_weight_decay, self.adam_lr_ratio = adam_weight_decay, adam_lr_ratio
        self.exclude_layers, self.exclude_embeddings = exclude_layers or [], exclude_embeddings
        self.muon_a, self.muon_b, self.muon_c = muon_a, muon_b, muon_c
        self.momentum, self.ns_steps, self.nesterov, self.rms_rate = momentum, ns_steps, nesterov, rms_rate

    def _by_adam(self, variable):
        path = variable.path
        if variable.ndim != 2 or (self.exclude_embeddings and "embedding" in path.lower()):
            return True
        return any(_re.search(words, path) for words in self.exclude_layers)

    def _rule(self, p, g, lr, states, param):
        adam = self._by_adam(param)
        decay = self.adam_weight_decay if adam else self.weight_decay
        p = p - p * decay * lr if decay else p
        return self._adam(p, g, lr * self.adam_lr_ratio, states) if adam else self._muon(p, g, lr, states)

    def _adam(self, p, g, lr, states):
        m, v = (_tt.zeros_like(p) if s is None else s for s in states[:2])
        n = _counted(states[2], p)
        alpha = lr * _tt.sqrt(1.0 - _tt.power(self.adam_beta_2, n)) / (1.0 - _tt.power(self.adam_beta_1, n))
        m, v = m + (g - m) * (1 - self.adam_beta_1), v + (_tt.square(g) - v) * (1 - self.adam_beta_2)
        return p - m * alpha / (_tt.sqrt(v) + self.epsilon), [m, v, n]

    def _muon(self, p, g, lr, states):
        m = g if states[0] is None else g + states[0] * self.momentum
        x = g + self.momentum * m if self.nesterov else m
        tall = p.shape[0] > p.shape[1]
        x = x.T if tall else x
        x = x / (_tt.sqrt(_tt.sum(_tt.square(x))) + 1e-7)
        for _ in range(self.ns_steps):
            a = x @ x.T
            x = self.muon_a * x + (self.muon_b * a + self.muon_c * a @ a) @ x
        rate = lr if self.rms_rate is None else lr * max(p.shape) ** 0.5 * self.rms_rate
        return p - rate * (x.T if tall else x), [m, None, None]

    def _made(self, params):
        return _Spelled(params, self._rule, None, 3)


class _Scaled:
    """The optimiser below as tutti.amp's scaler knows optimisers."""

    def __init__(self, optimizer):
        self.optimizer = optimizer

    @property
    def param_groups(self):
        return [{"params": self.optimizer._bound}]

    def step(self):
        self.optimizer.step()


class LossScaleOptimizer(Optimizer):
    """Another optimiser, by gradients of a loss times a factor that float16 has room for: no step where one is not
    finite, and a smaller factor; a larger one after many steps."""

    def __init__(self, inner_optimizer, initial_scale=2.0**15, dynamic_growth_steps=2000, name=None, **kwargs):
        if not kwargs.pop("dynamic", True):
            raise ValueError(
                "LossScaleOptimizer no longer supports `dynamic=False`. Instead, simply set `loss_scale_factor` "
                "directly on the `inner_optimizer`."
            )
        for what in kwargs:
            raise ValueError(f"LossScaleOptimizer does not support arguments: `{what}`.")
        self.inner_optimizer = inner_optimizer
        super().__init__(0.0, name=name)
        self.initial_scale, self.dynamic_growth_steps = initial_scale, dynamic_growth_steps
        self._scaler = _tt.amp.GradScaler(init_scale=initial_scale, growth_interval=dynamic_growth_steps)

    @property
    def learning_rate(self):
        """That of the optimiser below."""
        return self.inner_optimizer.learning_rate

    @learning_rate.setter
    def learning_rate(self, value):
        if hasattr(self, "_scaler"):
            self.inner_optimizer.learning_rate = value

    @property
    def param_groups(self):
        """Those of the optimiser below."""
        return self.inner_optimizer.param_groups

    @property
    def iterations(self):
        """How many steps were made."""
        return self.inner_optimizer.iterations

    @property
    def dynamic_scale(self):
        """The factor."""
        return _tt.asarray(self._scaler.get_scale(), "float32")

    @property
    def variables(self):
        """Those of the optimiser below."""
        return self.inner_optimizer.variables

    def build(self, trainable_variables):
        """Take the variables that will be trained."""
        self.inner_optimizer.build(trainable_variables)
        self._bound, self.built = self.inner_optimizer._bound, True

    def scale_loss(self, loss):
        """The loss times the factor."""
        return self._scaler.scale(loss)

    def step(self):
        """A step by the gradients of a loss that was scaled, if all are finite."""
        if not self.built:
            self.build(self._later())
        if self._scaler._scale is None:
            self._scaler.scale(_tt.zeros(()))
        self._scaler.step(_Scaled(self.inner_optimizer))
        self._scaler.update()

    def get_config(self):
        """What from_config() makes it of again."""
        return {
            "name": self.name,
            "inner_optimizer": _serialize(self.inner_optimizer),
            "initial_scale": self.initial_scale,
            "dynamic_growth_steps": self.dynamic_growth_steps,
        }

    @classmethod
    def from_config(cls, config):
        """The optimiser of a configuration."""
        inner = config["inner_optimizer"]
        inner = _deserialize(inner) if isinstance(inner, dict) else inner
        return cls(**{**config, "inner_optimizer": inner})
