"""Learning rates that change from step to step, by PyTorch's names and rules.

import tutti as tt
w = tt.ones(1).requires_grad_()
optimizer = tt.optim.SGD([w], lr=1.0)
scheduler = tt.optim.lr_scheduler.StepLR(optimizer, step_size=10)
for _ in range(10):
    scheduler.step()
print(scheduler.get_last_lr())  # [0.1]
"""

import bisect
import math

__all__ = [
    "ChainedScheduler",
    "ConstantLR",
    "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "MultiplicativeLR",
    "OneCycleLR",
    "PolynomialLR",
    "ReduceLROnPlateau",
    "SequentialLR",
    "StepLR",
]


class LRScheduler:
    """What schedulers have in common: they count steps, and set the learning rate of each group.

    Parameters
    ----------
    optimizer : Optimizer
        Whose rates are set.
    last_epoch : int
        How many steps there were, less 1; -1: a beginning.

    Examples
    --------
    >>> optimizer = tt.optim.SGD([tt.ones(1).requires_grad_()], lr=1.0)
    >>> scheduler = tt.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5)
    >>> scheduler.step()
    >>> optimizer.param_groups[0]["lr"]
    0.5
    """

    def __init__(self, optimizer, last_epoch=-1):
        self.optimizer, self.last_epoch = optimizer, last_epoch
        for k, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", group["lr"])
            elif "initial_lr" not in group:
                raise KeyError(f"param 'initial_lr' is not specified in param_groups[{k}] when resuming an optimizer")
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self.step()

    def _rate(self, group, base, t):
        """The rate of a group at step t, out of its first one and the one it has."""
        raise NotImplementedError

    def step(self):
        """Count a step, and set the rates.

        Returns
        -------
        None

        Examples
        --------
        >>> optimizer = tt.optim.SGD([tt.ones(1).requires_grad_()], lr=1.0)
        >>> tt.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5).step()
        """
        self.last_epoch += 1
        self._set()

    def _set(self):
        for group, base in zip(self.optimizer.param_groups, self.base_lrs, strict=True):
            group["lr"] = self._rate(group, base, self.last_epoch)
        self._last_lr = [group["lr"] for group in self.optimizer.param_groups]

    def get_last_lr(self):
        """The rates that were set last.

        Returns
        -------
        list of float
            One for each group.

        Examples
        --------
        >>> optimizer = tt.optim.SGD([tt.ones(1).requires_grad_()], lr=1.0)
        >>> tt.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5).get_last_lr()
        [1.0]
        """
        return self._last_lr

    def state_dict(self):
        """What the scheduler needs to go on.

        Returns
        -------
        dict
            Its numbers.

        Examples
        --------
        >>> optimizer = tt.optim.SGD([tt.ones(1).requires_grad_()], lr=1.0)
        >>> tt.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5).state_dict()["last_epoch"]
        0
        """
        return {name: value for name, value in vars(self).items() if name != "optimizer" and not callable(value)}

    def load_state_dict(self, state_dict):
        """Go on from what state_dict gave.

        Parameters
        ----------
        state_dict : dict
            Its numbers.

        Returns
        -------
        None

        Examples
        --------
        >>> optimizer = tt.optim.SGD([tt.ones(1).requires_grad_()], lr=1.0)
        >>> a, b = (tt.optim.lr_scheduler.ExponentialLR(optimizer, gamma=g) for g in (0.5, 0.25))
        >>> a.load_state_dict(b.state_dict())
        >>> a.gamma
        0.25
        """
        vars(self).update(state_dict)


_WORDS = {
    "optimizer": "Optimizer : Whose rates are set.",
    "last_epoch": "int : How many steps there were, less 1; -1: a beginning.",
    "step_size": "int : After how many steps the rate falls.",
    "gamma": "float : What the rate is multiplied by.",
    "milestones": "list of int : After which steps.",
    "factor": "float : What the rate is multiplied by.",
    "total_iters": "int : How many steps it takes.",
    "start_factor": "float : The share of the rate at the beginning.",
    "end_factor": "float : The share at the end.",
    "power": "float : The power of the share of steps that are left.",
    "T_max": "int : How many steps go down.",
    "T_0": "int : How many steps there are before the first restart.",
    "T_mult": "int : How many times longer the time to the next restart is.",
    "eta_min": "float : The least rate.",
    "lr_lambda": "function or list of function : Gives a factor for a number of steps; one for all groups or each.",
    "base_lr": "float or list of float : The least rate.",
    "max_lr": "float or list of float : The largest rate.",
    "step_size_up": "int : How many steps go up.",
    "step_size_down": "int : How many steps go down; None: as many.",
    "mode": "str : How cycles shrink.",
    "scale_fn": "function : How cycles shrink, in the place of `mode`; None: as mode says.",
    "scale_mode": "{'cycle', 'iterations'} : What scale_fn gets.",
    "cycle_momentum": "bool : Whether the momentum goes the other way.",
    "base_momentum": "float or list of float : The least momentum.",
    "max_momentum": "float or list of float : The largest momentum.",
    "total_steps": "int : How many steps there are; None: epochs times steps_per_epoch.",
    "epochs": "int : How many epochs there are.",
    "steps_per_epoch": "int : How many steps an epoch has.",
    "pct_start": "float : The share of steps that go up.",
    "anneal_strategy": "{'cos', 'linear'} : Along a cosine or a line.",
    "div_factor": "float : The largest rate over the first.",
    "final_div_factor": "float : The first rate over the last.",
    "three_phase": "bool : Whether the way down stops at the first rate for a third phase.",
    "schedulers": "list of LRScheduler : The schedulers.",
    "patience": "int : How many steps without progress are borne.",
    "threshold": "float : What counts as progress.",
    "threshold_mode": "{'rel', 'abs'} : Whether the threshold is a share or a difference.",
    "cooldown": "int : How many steps after a fall nothing is counted.",
    "min_lr": "float or list of float : The least rate.",
    "eps": "float : A fall that is smaller does not happen.",
}
_EXAMPLE = """
Examples
--------
>>> optimizer = tt.optim.SGD([tt.ones(1).requires_grad_()], lr=1.0, momentum=0.9)
>>> scheduler = tt.optim.lr_scheduler.{call}
>>> for _ in range(3):
...     scheduler.step({step})
>>> round(scheduler.get_last_lr()[0], 3)
{result}"""


def _told(call, result, names, step=""):
    """Documents a class: its parameters, and three steps of it."""

    def fill(cls):
        lines = [cls.__doc__, "", "Parameters", "----------"]
        for name in names.split():
            kind, _, words = _WORDS[name].partition(" : ")
            lines += [f"{name} : {kind}", f"    {words}"]
        example = _EXAMPLE.format(call=f"{cls.__name__}({call})", result=result, step=step)
        cls.__doc__ = "\n".join([*lines, example])
        return cls

    return fill


@_told("optimizer, step_size=2, gamma=0.5", 0.5, "optimizer step_size gamma last_epoch")
class StepLR(LRScheduler):
    """The rate falls after so many steps, again and again."""

    def __init__(self, optimizer, step_size, gamma=0.1, last_epoch=-1):
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def _rate(self, group, base, t):
        return group["lr"] * self.gamma if t > 0 and t % self.step_size == 0 else group["lr"]


@_told("optimizer, [1, 3], gamma=0.5", 0.25, "optimizer milestones gamma last_epoch")
class MultiStepLR(LRScheduler):
    """The rate falls after certain steps."""

    def __init__(self, optimizer, milestones, gamma=0.1, last_epoch=-1):
        self.milestones, self.gamma = sorted(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def _rate(self, group, base, t):
        return group["lr"] * self.gamma ** self.milestones.count(t)


@_told("optimizer, factor=0.5", 0.5, "optimizer factor total_iters last_epoch")
class ConstantLR(LRScheduler):
    """The rate is smaller for some steps."""

    def __init__(self, optimizer, factor=1.0 / 3, total_iters=5, last_epoch=-1):
        if not 0 <= factor <= 1:
            raise ValueError("Constant multiplicative factor expected to be between 0 and 1.")
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def _rate(self, group, base, t):
        if t == 0:
            return group["lr"] * self.factor
        return group["lr"] / self.factor if t == self.total_iters else group["lr"]


@_told("optimizer, start_factor=0.5, total_iters=6", 0.75, "optimizer start_factor end_factor total_iters last_epoch")
class LinearLR(LRScheduler):
    """The rate goes along a line for some steps."""

    def __init__(self, optimizer, start_factor=1.0 / 3, end_factor=1.0, total_iters=5, last_epoch=-1):
        if not 0 < start_factor <= 1:
            raise ValueError("Starting multiplicative factor expected to be greater than 0 and less or equal to 1.")
        if not 0 <= end_factor <= 1:
            raise ValueError("Ending multiplicative factor expected to be between 0 and 1.")
        self.start_factor, self.end_factor, self.total_iters = start_factor, end_factor, total_iters
        super().__init__(optimizer, last_epoch)

    def _rate(self, group, base, t):
        if t == 0:
            return group["lr"] * self.start_factor
        if t > self.total_iters:
            return group["lr"]
        by = self.end_factor - self.start_factor
        return group["lr"] * (1 + by / (self.total_iters * self.start_factor + (t - 1) * by))


@_told("optimizer, gamma=0.5", 0.125, "optimizer gamma last_epoch")
class ExponentialLR(LRScheduler):
    """The rate falls with each step."""

    def __init__(self, optimizer, gamma, last_epoch=-1):
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _rate(self, group, base, t):
        return group["lr"] * self.gamma if t > 0 else group["lr"]


@_told("optimizer, total_iters=6, power=2.0", 0.25, "optimizer total_iters power last_epoch")
class PolynomialLR(LRScheduler):
    """The rate is a power of the share of steps that are left."""

    def __init__(self, optimizer, total_iters=5, power=1.0, last_epoch=-1):
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, last_epoch)

    def _rate(self, group, base, t):
        if t == 0 or t > self.total_iters:
            return group["lr"]
        return group["lr"] * ((1 - t / self.total_iters) / (1 - (t - 1) / self.total_iters)) ** self.power


@_told("optimizer, T_max=6", 0.5, "optimizer T_max eta_min last_epoch")
class CosineAnnealingLR(LRScheduler):
    """The rate goes down along half a wave of a cosine, and up again."""

    def __init__(self, optimizer, T_max, eta_min=0.0, last_epoch=-1):
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def _rate(self, group, base, t):
        if t == 0:
            return group["lr"]
        before, now = (1 + math.cos(math.pi * k / self.T_max) for k in (t - 1, t))
        if (t - 1 - self.T_max) % (2 * self.T_max) == 0:
            return group["lr"] + (base - self.eta_min) * (1 - math.cos(math.pi / self.T_max)) / 2
        return now / before * (group["lr"] - self.eta_min) + self.eta_min


@_told("optimizer, T_0=2", 0.5, "optimizer T_0 T_mult eta_min last_epoch")
class CosineAnnealingWarmRestarts(LRScheduler):
    """The rate goes down along half a wave of a cosine, and begins again."""

    def __init__(self, optimizer, T_0, T_mult=1, eta_min=0.0, last_epoch=-1):
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        self.T_0, self.T_mult, self.eta_min = T_0, T_mult, eta_min
        super().__init__(optimizer, last_epoch)

    def _rate(self, group, base, t):
        length = self.T_0
        while t >= length:
            t, length = t - length, length * self.T_mult
        return self.eta_min + (base - self.eta_min) * (1 + math.cos(math.pi * t / length)) / 2


def _for_each(value, optimizer, name):
    groups = len(optimizer.param_groups)
    if not isinstance(value, (list, tuple)):
        return [value] * groups
    if len(value) != groups:
        raise ValueError(f"expected {groups} values for {name}, got {len(value)}")
    return list(value)


@_told("optimizer, lambda step: 0.5**step", 0.125, "optimizer lr_lambda last_epoch")
class LambdaLR(LRScheduler):
    """The first rate times a function of the number of steps."""

    def __init__(self, optimizer, lr_lambda, last_epoch=-1):
        self._lambdas = _for_each(lr_lambda, optimizer, "lr_lambda")
        super().__init__(optimizer, last_epoch)

    def state_dict(self):
        """What the scheduler needs to go on, but for the functions.

        Returns
        -------
        dict
            Its numbers.

        Examples
        --------
        >>> optimizer = tt.optim.SGD([tt.ones(1).requires_grad_()], lr=1.0)
        >>> tt.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 0.5**step).state_dict()["last_epoch"]
        0
        """
        return {name: value for name, value in super().state_dict().items() if name != "_lambdas"}

    def _factor(self, group, t):
        return self._lambdas[self.optimizer.param_groups.index(group)](t)

    def _rate(self, group, base, t):
        return base * self._factor(group, t)


@_told("optimizer, lambda step: 0.5", 0.125, "optimizer lr_lambda last_epoch")
class MultiplicativeLR(LambdaLR):
    """The rate times a function of the number of steps, with each step."""

    def _rate(self, group, base, t):
        return group["lr"] * self._factor(group, t) if t > 0 else group["lr"]


class _Waves(LRScheduler):
    """Schedulers that move the momentum, too."""

    def _begin_momentum(self, optimizer, cycle_momentum, least, most):
        self.cycle_momentum = cycle_momentum
        if not cycle_momentum:
            return
        if not any(key in optimizer.defaults for key in ("momentum", "betas")):
            raise ValueError("optimizer must support momentum or beta1 with `cycle_momentum` option enabled")
        self._least = _for_each(least, optimizer, "base_momentum")
        self._most = _for_each(most, optimizer, "max_momentum")

    def _set(self):
        super()._set()
        for k, group in enumerate(self.optimizer.param_groups if self.cycle_momentum else ()):
            value = self._momentum(k, self.last_epoch)
            if "betas" in group:
                group["betas"] = (value, *group["betas"][1:])
            else:
                group["momentum"] = value


@_told(
    "optimizer, 0.25, 1.0, step_size_up=4",
    0.812,
    "optimizer base_lr max_lr step_size_up step_size_down mode gamma scale_fn scale_mode cycle_momentum base_momentum "
    "max_momentum last_epoch",
)
class CyclicLR(_Waves):
    """The rate goes up and down between two rates."""

    def __init__(
        self,
        optimizer,
        base_lr,
        max_lr,
        step_size_up=2000,
        step_size_down=None,
        mode="triangular",
        gamma=1.0,
        scale_fn=None,
        scale_mode="cycle",
        cycle_momentum=True,
        base_momentum=0.8,
        max_momentum=0.9,
        last_epoch=-1,
    ):
        scales = {
            "triangular": (lambda x: 1.0, "cycle"),
            "triangular2": (lambda x: 1 / 2 ** (x - 1), "cycle"),
            "exp_range": (lambda x: gamma**x, "iterations"),
        }
        if mode not in scales and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        self._scale, self._scale_mode = (scale_fn, scale_mode) if scale_fn else scales[mode]
        lows = _for_each(base_lr, optimizer, "base_lr")
        self.max_lrs = _for_each(max_lr, optimizer, "max_lr")
        self.total_size = float(step_size_up + (step_size_up if step_size_down is None else step_size_down))
        self.step_ratio = step_size_up / self.total_size
        if last_epoch == -1:
            for low, group in zip(lows, optimizer.param_groups, strict=True):
                group["lr"] = group["initial_lr"] = low
        self._begin_momentum(optimizer, cycle_momentum, base_momentum, max_momentum)
        super().__init__(optimizer, last_epoch)

    def _height(self, t):
        """Where the wave stands, between 0 and 1, and how high it is."""
        cycle = math.floor(1 + t / self.total_size)
        x = 1 + t / self.total_size - cycle
        height = x / self.step_ratio if x <= self.step_ratio else (x - 1) / (self.step_ratio - 1)
        return height * self._scale(cycle if self._scale_mode == "cycle" else t)

    def _rate(self, group, base, t):
        return base + (self.max_lrs[self.optimizer.param_groups.index(group)] - base) * self._height(t)

    def _momentum(self, k, t):
        return self._most[k] - (self._most[k] - self._least[k]) * self._height(t)


@_told(
    "optimizer, 1.0, total_steps=11",
    0.98,
    "optimizer max_lr total_steps epochs steps_per_epoch pct_start anneal_strategy cycle_momentum base_momentum "
    "max_momentum div_factor final_div_factor three_phase last_epoch",
)
class OneCycleLR(_Waves):
    """The rate goes up once, and down to almost nothing."""

    def __init__(
        self,
        optimizer,
        max_lr,
        total_steps=None,
        epochs=None,
        steps_per_epoch=None,
        pct_start=0.3,
        anneal_strategy="cos",
        cycle_momentum=True,
        base_momentum=0.85,
        max_momentum=0.95,
        div_factor=25.0,
        final_div_factor=1e4,
        three_phase=False,
        last_epoch=-1,
    ):
        if total_steps is None and (epochs is None or steps_per_epoch is None):
            raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
        self.total_steps = epochs * steps_per_epoch if total_steps is None else total_steps
        if self.total_steps <= 0 or not isinstance(self.total_steps, int):
            raise ValueError(f"Expected positive integer total_steps, but got {self.total_steps}")
        if not 0 <= pct_start <= 1:
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        self._cosine, up = anneal_strategy == "cos", float(pct_start * self.total_steps) - 1
        middle = [2 * up, self.total_steps - 1] if three_phase else [self.total_steps - 1]
        self._ends = [up, *middle]
        self._three_phase, self._final = three_phase, final_div_factor
        self._tops = _for_each(max_lr, optimizer, "max_lr")
        if last_epoch == -1:
            for top, group in zip(self._tops, optimizer.param_groups, strict=True):
                group["initial_lr"] = top / div_factor
        self._begin_momentum(optimizer, cycle_momentum, base_momentum, max_momentum)
        super().__init__(optimizer, last_epoch)

    def _at(self, values, t):
        """Between the values at the ends of phases."""
        if t > self.total_steps:
            raise ValueError(f"Tried to step {t} times. The total number of steps is {self.total_steps}")
        begin = 0.0
        for k, end in enumerate(self._ends):
            if t <= end or k == len(self._ends) - 1:
                share = (t - begin) / (end - begin) if end != begin else 1.0
                first, last = values[k], values[k + 1]
                if self._cosine:
                    return last + (first - last) / 2 * (1 + math.cos(math.pi * share))
                return first + (last - first) * share
            begin = end
        return values[-1]

    def _rate(self, group, base, t):
        top = self._tops[self.optimizer.param_groups.index(group)]
        return self._at([base, top, *([base] if self._three_phase else []), base / self._final], t)

    def _momentum(self, k, t):
        low, high = self._least[k], self._most[k]
        return self._at([high, low, high, high] if self._three_phase else [high, low, high], t)


class SequentialLR(LRScheduler):
    """One scheduler after the other.

    Parameters
    ----------
    optimizer : Optimizer
        Whose rates are set.
    schedulers : list of LRScheduler
        The schedulers.
    milestones : list of int
        After which steps the next one begins.
    last_epoch : int
        Has no effect.

    Examples
    --------
    >>> optimizer = tt.optim.SGD([tt.ones(1).requires_grad_()], lr=1.0)
    >>> kinds = tt.optim.lr_scheduler
    >>> parts = [kinds.ConstantLR(optimizer, 0.5), kinds.ExponentialLR(optimizer, 0.1)]
    >>> scheduler = kinds.SequentialLR(optimizer, parts, [2])
    >>> for _ in range(3):
    ...     scheduler.step()
    >>> round(scheduler.get_last_lr()[0], 3)
    0.1
    """

    def __init__(self, optimizer, schedulers, milestones, last_epoch=-1):
        if len(schedulers) < 1:
            raise ValueError("SequentialLR expects at least one scheduler to be chained, but got no scheduler.")
        if any(s.optimizer is not optimizer for s in schedulers):
            raise ValueError("SequentialLR expects all schedulers to belong to the same optimizer")
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                "Sequential Schedulers expects number of schedulers provided to be one more than the number of "
                f"milestone points, but got number of schedulers {len(schedulers)} and the number of milestones to be "
                f"equal to {len(milestones)}"
            )
        self.optimizer, self._schedulers, self._milestones = optimizer, list(schedulers), list(milestones)
        self.last_epoch = last_epoch + 1
        self._restart(self._schedulers[0])

    def _restart(self, scheduler):
        for group in self.optimizer.param_groups:
            group["lr"] = group["initial_lr"]
        for other in self._schedulers:
            other.last_epoch = -1 if other is scheduler else other.last_epoch
        scheduler.step()
        self._last_lr = scheduler.get_last_lr()

    def step(self):
        """Count a step, and set the rates.

        Returns
        -------
        None

        Examples
        --------
        >>> optimizer = tt.optim.SGD([tt.ones(1).requires_grad_()], lr=1.0)
        >>> part = tt.optim.lr_scheduler.ConstantLR(optimizer, 0.5)
        >>> tt.optim.lr_scheduler.SequentialLR(optimizer, [part], []).step()
        """
        self.last_epoch += 1
        k = bisect.bisect_right(self._milestones, self.last_epoch)
        if k > 0 and self._milestones[k - 1] == self.last_epoch:
            return self._restart(self._schedulers[k])
        self._schedulers[k].step()
        self._last_lr = self._schedulers[k].get_last_lr()

    def state_dict(self):
        """What the schedulers need to go on.

        Returns
        -------
        dict
            Their numbers.

        Examples
        --------
        >>> optimizer = tt.optim.SGD([tt.ones(1).requires_grad_()], lr=1.0)
        >>> part = tt.optim.lr_scheduler.ConstantLR(optimizer, 0.5)
        >>> len(tt.optim.lr_scheduler.SequentialLR(optimizer, [part], []).state_dict()["_schedulers"])
        1
        """
        return {**super().state_dict(), "_schedulers": [s.state_dict() for s in self._schedulers]}

    def load_state_dict(self, state_dict):
        """Go on from what state_dict gave.

        Parameters
        ----------
        state_dict : dict
            The numbers.

        Returns
        -------
        None

        Examples
        --------
        >>> optimizer = tt.optim.SGD([tt.ones(1).requires_grad_()], lr=1.0)
        >>> part = tt.optim.lr_scheduler.ConstantLR(optimizer, 0.5)
        >>> scheduler = tt.optim.lr_scheduler.SequentialLR(optimizer, [part], [])
        >>> scheduler.load_state_dict(scheduler.state_dict())
        """
        super().load_state_dict({name: value for name, value in state_dict.items() if name != "_schedulers"})
        for scheduler, own in zip(self._schedulers, state_dict["_schedulers"], strict=True):
            scheduler.load_state_dict(own)


class ChainedScheduler(SequentialLR):
    """Several schedulers with each step.

    Parameters
    ----------
    schedulers : list of LRScheduler
        The schedulers.
    optimizer : Optimizer
        Whose rates are set; None: the first one's.

    Examples
    --------
    >>> optimizer = tt.optim.SGD([tt.ones(1).requires_grad_()], lr=1.0)
    >>> kinds = tt.optim.lr_scheduler
    >>> scheduler = kinds.ChainedScheduler([kinds.ExponentialLR(optimizer, 0.5), kinds.ExponentialLR(optimizer, 0.1)])
    >>> scheduler.step()
    >>> round(scheduler.get_last_lr()[0], 3)
    0.05
    """

    def __init__(self, schedulers, optimizer=None):
        if len(schedulers) < 1:
            raise ValueError("ChainedScheduler expects at least one scheduler to be chained, but got no scheduler.")
        self.optimizer = schedulers[0].optimizer if optimizer is None else optimizer
        if any(s.optimizer is not self.optimizer for s in schedulers):
            raise ValueError("ChainedScheduler expects all schedulers to belong to the same optimizer")
        self._schedulers = list(schedulers)
        self._last_lr = [group["lr"] for group in self.optimizer.param_groups]

    def step(self):
        """Count a step, and set the rates.

        Returns
        -------
        None

        Examples
        --------
        >>> optimizer = tt.optim.SGD([tt.ones(1).requires_grad_()], lr=1.0)
        >>> part = tt.optim.lr_scheduler.ConstantLR(optimizer, 0.5)
        >>> tt.optim.lr_scheduler.ChainedScheduler([part]).step()
        """
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = [group["lr"] for group in self.optimizer.param_groups]


@_told(
    "optimizer, factor=0.5, patience=1",
    0.5,
    "optimizer mode factor patience threshold threshold_mode cooldown min_lr eps",
    step="1.0",
)
class ReduceLROnPlateau(LRScheduler):
    """The rate falls where a number stops getting better."""

    def __init__(
        self,
        optimizer,
        mode="min",
        factor=0.1,
        patience=10,
        threshold=1e-4,
        threshold_mode="rel",
        cooldown=0,
        min_lr=0,
        eps=1e-8,
    ):
        if factor >= 1.0:
            raise ValueError("Factor should be < 1.0.")
        if mode not in ("min", "max"):
            raise ValueError(f"mode {mode} is unknown!")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError(f"threshold mode {threshold_mode} is unknown!")
        self.optimizer, self.mode, self.factor, self.patience = optimizer, mode, factor, patience
        self.threshold, self.threshold_mode, self.cooldown, self.eps = threshold, threshold_mode, cooldown, eps
        self.min_lrs = _for_each(min_lr, optimizer, "min_lr")
        self.best = math.inf if mode == "min" else -math.inf
        self.last_epoch, self.num_bad_epochs, self.cooldown_counter = 0, 0, 0
        self._last_lr = [group["lr"] for group in optimizer.param_groups]

    def _better(self, value):
        sign = 1 if self.mode == "min" else -1
        less = abs(self.best) * self.threshold if self.threshold_mode == "rel" else self.threshold
        return sign * value < sign * self.best - (less if math.isfinite(self.best) else 0)

    def step(self, metrics):
        """Look at a number, and set the rates.

        Parameters
        ----------
        metrics : float
            What should get smaller (mode 'min') or larger.

        Returns
        -------
        None

        Examples
        --------
        >>> optimizer = tt.optim.SGD([tt.ones(1).requires_grad_()], lr=1.0)
        >>> tt.optim.lr_scheduler.ReduceLROnPlateau(optimizer).step(0.5)
        """
        value = float(metrics)
        self.last_epoch += 1
        if self._better(value):
            self.best, self.num_bad_epochs = value, 0
        else:
            self.num_bad_epochs += 1
        if self.cooldown_counter > 0:
            self.cooldown_counter, self.num_bad_epochs = self.cooldown_counter - 1, 0
        if self.num_bad_epochs > self.patience:
            for group, least in zip(self.optimizer.param_groups, self.min_lrs, strict=True):
                lr = max(group["lr"] * self.factor, least)
                group["lr"] = lr if group["lr"] - lr > self.eps else group["lr"]
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
        self._last_lr = [group["lr"] for group in self.optimizer.param_groups]
