"""torch.autograd: tutti's gradients, of tensors."""

import warnings

from .... import autograd as _autograd
from .... import zeros_like as _zeros_like
from . import functional

__all__ = [
    "Function", "backward", "detect_anomaly", "enable_grad", "functional", "grad", "gradcheck", "gradgradcheck",
    "inference_mode", "no_grad", "set_grad_enabled",
]  # fmt: skip

backward, Function = _autograd.backward, _autograd.Function
detect_anomaly, enable_grad, no_grad = _autograd.detect_anomaly, _autograd.enable_grad, _autograd.no_grad
set_grad_enabled = _autograd.set_grad_enabled


def grad(
    outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False, only_inputs=True, allow_unused=None,
    is_grads_batched=False, materialize_grads=False,
):  # fmt: skip
    """The gradients of the outputs' sum by the inputs."""
    if is_grads_batched:
        raise NotImplementedError("tutti.compat.torch does not cover is_grads_batched")
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False."
        )
    unused = materialize_grads if allow_unused is None else allow_unused
    if not only_inputs:
        warnings.warn("only_inputs argument is deprecated and is ignored now (defaults to True).", FutureWarning, 2)
    found = _autograd.grad(outputs, inputs, grad_outputs, retain_graph, create_graph, unused)
    if not materialize_grads:
        return found
    inputs = inputs if isinstance(inputs, (tuple, list)) else (inputs,)
    return tuple(_zeros_like(x) if g is None else g for g, x in zip(found, inputs, strict=True))


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
