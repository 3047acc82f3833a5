"""Derivatives beside differences of values."""

import itertools

from .... import autograd as _autograd
from .._functions import functions
from .._random import randn_like

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]


class GradcheckError(RuntimeError):
    """Derivatives are not what differences of values say."""


def _tuple(x):
    return tuple(x) if isinstance(x, (tuple, list)) else (x,)


def _slopes(func, inputs, k, eps):
    """By differences: for each element of input k the derivatives of all outputs."""
    x, flat, rows = inputs[k], inputs[k].detach().clone().reshape(-1), []
    for i in range(flat.numel()):
        ends = []
        for step in (eps, -eps):
            moved = flat.clone()
            moved[i] += step
            given = [*inputs[:k], moved.reshape(x.shape), *inputs[k + 1 :]]
            ends.append([o.detach() for o in _tuple(func(*given))])
        rows.append([(a - b) / (2 * eps) for a, b in zip(*ends, strict=True)])
    return rows


def _failed(raise_exception, text):
    if raise_exception:
        raise GradcheckError(text)
    return False


def gradcheck(
    func, inputs, *, eps=1e-6, atol=1e-5, rtol=1e-3, raise_exception=True, nondet_tol=0.0, check_undefined_grad=True,
    check_grad_dtypes=False, check_batched_grad=False, check_batched_forward_grad=False, check_forward_ad=False,
    check_backward_ad=True, fast_mode=False, masked=None,
):  # fmt: skip
    """Are the derivatives of a function what small differences say, for inputs that require gradients (float64)?"""
    inputs = _tuple(inputs)
    wanted = [k for k, x in enumerate(inputs) if getattr(x, "requires_grad", False)]
    if not wanted:
        raise ValueError("gradcheck expects at least one input tensor to require gradient, but none of the them have "
                         "requires_grad=True.")  # fmt: skip
    outputs = [o for o in _tuple(func(*inputs)) if getattr(o, "requires_grad", False)]
    leaves = [inputs[k] for k in wanted]
    found = {k: [] for k in wanted}
    for o in outputs:
        for i in range(o.numel()):
            seed = o.new_zeros(o.numel())
            seed[i] = 1
            grads = _autograd.grad((o,), leaves, (seed.reshape(o.shape),), retain_graph=True, allow_unused=True)
            for k, g in zip(wanted, grads, strict=True):
                found[k].append(inputs[k].new_zeros(inputs[k].numel()) if g is None else g.detach().reshape(-1))
    for k in wanted:
        rows = _slopes(func, inputs, k, eps)
        numeric = [functions["stack"]([r.reshape(-1) for r in part]) for part in zip(*rows, strict=True)]
        numeric = functions["cat"](numeric, 1) if len(numeric) > 1 else numeric[0]
        analytic = functions["stack"](found[k], 1)
        if not functions["allclose"](analytic, numeric, rtol=rtol, atol=atol):
            told = f"Jacobian mismatch for output 0 with respect to input {k},"
            return _failed(raise_exception, f"{told}\nnumerical:{numeric}\nanalytical:{analytic}\n")
    return True


def gradgradcheck(
    func, inputs, grad_outputs=None, *, eps=1e-6, atol=1e-5, rtol=1e-3, gen_non_contig_grad_outputs=False,
    raise_exception=True, nondet_tol=0.0, check_undefined_grad=True, check_grad_dtypes=False, check_batched_grad=False,
    check_fwd_over_rev=False, check_rev_over_rev=True, fast_mode=False, masked=False,
):  # fmt: skip
    """The same of the function's gradients, by its inputs and by the cotangents."""
    inputs = _tuple(inputs)
    outputs = [o for o in _tuple(func(*inputs)) if getattr(o, "requires_grad", False)]
    if grad_outputs is None:
        seeds = [randn_like(o.detach()) for o in outputs]
    else:
        seeds = list(_tuple(grad_outputs))
    seeds = [s.detach().requires_grad_() for s in seeds]
    n = len(inputs)
    wanted = [k for k, x in enumerate(inputs) if getattr(x, "requires_grad", False)]

    def gradient(*args):
        made = [o for o in _tuple(func(*args[:n])) if getattr(o, "requires_grad", False)]
        leaves = [args[k] for k in wanted]
        found = _autograd.grad(made, leaves, args[n:], create_graph=True, allow_unused=True)
        return tuple(g for g in found if g is not None)

    with _autograd.enable_grad():
        return gradcheck(
            _followed(gradient, wanted, n), (*inputs, *seeds), eps=eps, atol=atol, rtol=rtol,
            raise_exception=raise_exception,
        )  # fmt: skip


def _followed(gradient, wanted, n):
    """The function, of values that have no history either."""

    def call(*args):
        given = [
            a.detach().requires_grad_() if k in wanted and not a.requires_grad else a for k, a in enumerate(args[:n])
        ]
        return gradient(*itertools.chain(given, args[n:]))

    return call
