"""torch.nn.utils.prune: parameters times a mask, which is computed before each call of their module."""

from ..._functions import functions as _functions
from ..._random import rand_like as _rand_like
from .._modules import Parameter as _Parameter

__all__ = [
    "custom_from_mask", "global_unstructured", "identity", "is_pruned", "l1_unstructured", "ln_structured",
    "random_structured", "random_unstructured", "remove",
]  # fmt: skip


class _Masked:
    """What is called before a module: the parameter of its name is what was trained times the mask."""

    def __init__(self, name):
        self.name = name

    def __call__(self, module, inputs):
        setattr(module, self.name, getattr(module, self.name + "_orig") * getattr(module, self.name + "_mask"))


def _hook_of(module, name):
    hooks = module._forward_pre_hooks.items()
    return next((k for k, hook in hooks if isinstance(hook, _Masked) and hook.name == name), None)


def custom_from_mask(module, name, mask):
    """Leave out what a mask has zeros for."""
    if _hook_of(module, name) is None:
        weight = getattr(module, name)
        delattr(module, name)
        module.register_parameter(name + "_orig", _Parameter(weight.detach(), weight.requires_grad))
        module.register_buffer(name + "_mask", mask.to(weight.dtype))
        module.register_forward_pre_hook(_Masked(name))
    else:
        setattr(module, name + "_mask", getattr(module, name + "_mask") * mask)
    _Masked(name)(module, None)
    return module


def identity(module, name):
    """A mask that leaves out nothing."""
    return custom_from_mask(module, name, _functions["ones_like"](getattr(module, name)).detach())


def _count(amount, n):
    if isinstance(amount, float) and not 0 <= amount <= 1:
        raise ValueError(f"amount={amount} should either be a float in the range [0, 1] or a non-negative integer")
    if isinstance(amount, int) and amount > n:
        raise ValueError(f"amount={amount} should be smaller than the number of parameters to prune={n}")
    return round(amount * n) if isinstance(amount, float) else amount


def _lowest(scores, amount):
    """1 but for the lowest scores, as a flat mask; with a float a share of all."""
    flat = scores.detach().reshape(-1)
    mask = _functions["ones_like"](flat)
    mask[flat.argsort(stable=True)[: _count(amount, flat.numel())]] = 0
    return mask


def _kept(module, name, scores):
    """Scores of elements: those that are left out are lower than all."""
    if _hook_of(module, name) is None:
        return scores
    return _functions["where"](getattr(module, name + "_mask") == 0, -1.0, scores)


def _amount(module, name, amount):
    """What is left out now, beside what was: a share is one of what is still there."""
    if _hook_of(module, name) is None:
        return amount
    mask = getattr(module, name + "_mask")
    gone = int((mask == 0).sum())
    return gone + _count(amount, mask.numel() - gone)


def _by_elements(module, name, scores, amount):
    scores = _kept(module, name, scores)
    mask = _lowest(scores, _amount(module, name, amount))
    return custom_from_mask(module, name, mask.reshape(scores.shape))


def l1_unstructured(module, name, amount, importance_scores=None):
    """Leave out the elements next to zero."""
    scores = getattr(module, name) if importance_scores is None else importance_scores
    return _by_elements(module, name, scores.detach().abs(), amount)


def random_unstructured(module, name, amount):
    """Leave out elements by chance."""
    return _by_elements(module, name, _rand_like(getattr(module, name).detach()), amount)


def _by_channels(module, name, scores, amount, dim):
    weight = getattr(module, name)
    shape = [weight.shape[dim] if d == dim % weight.ndim else 1 for d in range(weight.ndim)]
    mask = _lowest(scores, amount).reshape(shape).expand(tuple(weight.shape))
    return custom_from_mask(module, name, mask)


def ln_structured(module, name, amount, n, dim, importance_scores=None):
    """Leave out the channels along an axis that have the lowest norm."""
    weight = (getattr(module, name) if importance_scores is None else importance_scores).detach()
    others = tuple(d for d in range(weight.ndim) if d != dim % weight.ndim)
    return _by_channels(module, name, weight.norm(p=n, dim=others), amount, dim)


def random_structured(module, name, amount, dim):
    """Leave out channels along an axis by chance."""
    scores = _rand_like(getattr(module, name).detach().select(dim, 0).new_ones(getattr(module, name).shape[dim]))
    return _by_channels(module, name, scores, amount, dim)


class L1Unstructured:
    """The elements next to zero, for global_unstructured."""


class RandomUnstructured:
    """Elements by chance, for global_unstructured."""


def global_unstructured(parameters, pruning_method, importance_scores=None, *, amount):
    """Leave out elements of several parameters ((module, name), ...), by their scores among all."""
    if pruning_method not in (L1Unstructured, RandomUnstructured):
        raise TypeError('Only "unstructured" PRUNING_TYPE supported for the `pruning_method`.')
    weights = [getattr(module, name).detach() for module, name in parameters]
    scores = [w.abs() if pruning_method is L1Unstructured else _rand_like(w) for w in weights]
    mask = _lowest(_functions["cat"]([s.reshape(-1) for s in scores]), amount)
    sizes = [w.numel() for w in weights]
    for (module, name), part, w in zip(parameters, mask.split(sizes), weights, strict=True):
        custom_from_mask(module, name, part.reshape(w.shape))


def is_pruned(module):
    """Is anything left out, here or below?"""
    return any(isinstance(h, _Masked) for m in module.modules() for h in m._forward_pre_hooks.values())


def remove(module, name):
    """Let the parameter be one again, with what is left out as zeros."""
    hook = _hook_of(module, name)
    if hook is None:
        raise ValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed")
    _Masked(name)(module, None)
    value, before = getattr(module, name).detach(), getattr(module, name + "_orig")
    module._forward_pre_hooks.pop(hook)
    module._hook_options.pop(hook, None)
    for gone in (name, name + "_orig", name + "_mask"):
        delattr(module, gone)
    module.register_parameter(name, _Parameter(value, before.requires_grad))
    return module
