"""torch.autograd: tutti's gradients, of tensors."""

from .... import autograd as _autograd
from . import functional

__all__ = [
    "Function", "backward", "detect_anomaly", "enable_grad", "functional", "grad", "gradcheck", "gradgradcheck",
    "inference_mode", "no_grad", "set_grad_enabled",
]  # fmt: skip

backward, grad, Function = _autograd.backward, _autograd.grad, _autograd.Function
detect_anomaly, enable_grad, no_grad = _autograd.detect_anomaly, _autograd.enable_grad, _autograd.no_grad
set_grad_enabled = _autograd.set_grad_enabled


def Variable(data, requires_grad=False):
    """The tensor."""
    return data.requires_grad_() if requires_grad else data


def set_detect_anomaly(mode, check_nan=True):
    """Infinite and missing numbers are looked for, or not."""
    _autograd.detect_anomaly(mode)


def __getattr__(name):
    if name in ("GradcheckError", "gradcheck", "gradgradcheck"):
        from . import _check

        return getattr(_check, name)
    if name == "inference_mode":
        from .. import inference_mode

        return inference_mode
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.torch does not cover torch.autograd.{name}")
