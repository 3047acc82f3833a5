"""torch.optim.swa_utils: averages of the weights that a training goes through."""

import copy as _copy
import itertools as _itertools
import math as _math

from .... import autograd as _autograd
from ....optim.lr_scheduler import LRScheduler as _LRScheduler
from ..nn._modules import Module as _Module

__all__ = [
    "AveragedModel", "SWALR", "get_ema_avg_fn", "get_ema_multi_avg_fn", "get_swa_avg_fn", "get_swa_multi_avg_fn",
    "update_bn",
]  # fmt: skip


def _decay(decay):
    if not 0 <= decay <= 1:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")
    return decay


def get_ema_avg_fn(decay=0.999):
    """An average that forgets."""
    keep = _decay(decay)
    return lambda averaged, current, n: keep * averaged + (1 - keep) * current


def get_swa_avg_fn():
    """The mean of all."""
    return lambda averaged, current, n: averaged + (current - averaged) / (n + 1)


def _of_many(one):
    def update(averaged, current, n):
        with _autograd.no_grad():
            for a, b in zip(averaged, current, strict=True):
                a.copy_(one(a, b, n) if a.is_floating_point() else b)

    return update


def get_ema_multi_avg_fn(decay=0.999):
    """An average that forgets, of lists of parameters."""
    return _of_many(get_ema_avg_fn(decay))


def get_swa_multi_avg_fn():
    """The mean of all, of lists of parameters."""
    return _of_many(get_swa_avg_fn())


class AveragedModel(_Module):
    """A copy of a model, whose parameters are averages of those that it had when they were updated.

    avg_fn takes an average, a parameter and how many there were, and gives the average; multi_avg_fn takes lists
    of both and writes into the first. With use_buffers buffers are averaged, too, else they are the model's last ones.
    """

    def __init__(self, model, device=None, avg_fn=None, multi_avg_fn=None, use_buffers=False):
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        from .. import tensor

        self.module = _copy.deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", tensor(0))
        self.avg_fn, self.multi_avg_fn, self.use_buffers = avg_fn, multi_avg_fn, use_buffers

    def forward(self, *args, **kwargs):
        return self.module(*args, **kwargs)

    def _averaged(self, model):
        return _itertools.chain(model.parameters(), model.buffers()) if self.use_buffers else model.parameters()

    def update_parameters(self, model):
        """Take the model's parameters into the averages."""
        averaged = [p.detach() for p in self._averaged(self.module)]
        current = [p.detach().to(a.device) for p, a in zip(self._averaged(model), averaged, strict=True)]
        n = int(self.n_averaged)
        if n == 0:
            _of_many(lambda a, b, n: b)(averaged, current, n)
        else:
            many = self.multi_avg_fn or _of_many(self.avg_fn or get_swa_avg_fn())
            many(averaged, current, self.n_averaged)
        if not self.use_buffers:
            for mine, its in zip(self.module.buffers(), model.buffers(), strict=True):
                mine.detach().copy_(its.detach().to(mine.device))
        self.n_averaged += 1


def update_bn(loader, model, device=None):
    """Compute the statistics of layers of batch normalisation anew, over the batches of a loader."""
    norms = {m: m.momentum for m in model.modules() if hasattr(m, "reset_running_stats")}
    if not norms:
        return
    training = model.training
    model.train()
    for m in norms:
        m.reset_running_stats()
        m.momentum = None
    with _autograd.no_grad():
        for batch in loader:
            x = batch[0] if isinstance(batch, (list, tuple)) else batch
            model(x if device is None else x.to(device))
    for m, momentum in norms.items():
        m.momentum = momentum
    model.train(training)


class SWALR(_LRScheduler):
    """Go from the rates that there are to swa_lr in anneal_epochs steps, and stay there."""

    def __init__(self, optimizer, swa_lr, anneal_epochs=10, anneal_strategy="cos", last_epoch=-1):
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must by one of 'cos' or 'linear', instead got {anneal_strategy}")
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        several = isinstance(swa_lr, (list, tuple))
        rates = list(swa_lr) if several else [swa_lr] * len(optimizer.param_groups)
        if len(rates) != len(optimizer.param_groups):
            raise ValueError(f"expected len(swa_lr) to be {len(optimizer.param_groups)}, got {len(rates)}")
        for group, rate in zip(optimizer.param_groups, rates, strict=True):
            group["swa_lr"] = rate
        self.anneal_epochs, self.anneal_strategy = anneal_epochs, anneal_strategy
        super().__init__(optimizer, last_epoch)

    def _way(self, t):
        t = max(0.0, min(1.0, t))
        return (1 - _math.cos(_math.pi * t)) / 2 if self.anneal_strategy == "cos" else t

    def _rate(self, group, base, t):
        """What remains of the way is shortened from where the rate is."""
        now, before = (self._way(k / max(1, self.anneal_epochs)) for k in (t, max(0, t - 1)))
        if self.anneal_epochs == 0:
            now = 1.0
        if before == 1:
            return group["swa_lr"]
        start = (group["lr"] - before * group["swa_lr"]) / (1 - before)
        return group["swa_lr"] * now + start * (1 - now)


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.torch does not cover torch.optim.swa_utils.{name}")
