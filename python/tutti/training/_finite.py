"""What a loss that is not finite is told by."""

import warnings

import tutti as tt

from ..metrics import Mean
from ..metrics._base import Total, WatchedTotal
from . import _tree


class LossMean(Mean):
    """The mean of a training's losses, which watches for the first that is not finite."""

    def reset_state(self):
        self._total, self._count = WatchedTotal(), Total()

    def first_bad(self):
        """The number of the first update whose loss was not finite; None: there is none."""
        first = self._total.first_bad()
        return None if first is None or int(first) < 0 else int(first)


def warn(model, step, epoch, x):
    """Say once which step's loss was the first that is not finite, and which layer's outputs are not."""
    warnings.warn(
        f"The loss of step {step + 1} of epoch {epoch + 1} is not finite. {_told(model, x)} "
        "A smaller learning rate, clipped gradients or other data may help; tt.detect_anomaly names the operation.",
        RuntimeWarning,
        stacklevel=4,
    )


def _is_finite(tree):
    return all(bool(tt.isfinite(a).all()) for a in _tree.leaves(tree) if _is_floating(a))


def _is_floating(a):
    return isinstance(a, tt.ndarray) and a.dtype.kind in "fc"


def _told(model, x):
    if x is not None and not _is_finite(x):
        return "Its inputs are not, either."
    for name, p in model.named_parameters():
        if not _is_finite(p):
            return f"The parameter {name!r} is no longer finite."
    found = []

    def look(name):
        def hook(module, args, result):
            if not found and not _is_finite(result):
                found.append(f"The first layer whose outputs are not finite is {name!r} ({type(module).__name__}).")

        return hook

    handles = [m.register_forward_hook(look(name)) for name, m in model.named_modules() if not list(m.children())]
    try:
        with tt.no_grad():
            model._outputs(x)
    finally:
        for handle in handles:
            handle.remove()
    return found[0] if found else "The outputs of all layers are finite: look at the loss itself."
