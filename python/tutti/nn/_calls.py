"""Calls of modules that somebody watches: hooks before and after forward, and on the way back."""

import itertools
import warnings
from collections import OrderedDict

from .. import _core, autograd

_numbers = itertools.count()


class Handle:
    """Takes a hook away again."""

    def __init__(self, hooks, hook, options=None, told=(), prepend=False):
        self._hooks, self._options, self.id = hooks, {} if options is None else options, next(_numbers)
        hooks[self.id] = hook
        self._options[self.id] = told  # a module without options has no hooks at all: calls ask for no more
        if prepend:
            hooks.move_to_end(self.id, last=False)

    def remove(self):
        self._hooks.pop(self.id, None)
        self._options.pop(self.id, None)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.remove()


class Hooks:
    """Those of one module, or of all."""

    KINDS = "_forward_pre_hooks", "_forward_hooks", "_backward_pre_hooks", "_backward_hooks"

    def __init__(self):
        self._hook_options = {}
        for kind in self.KINDS:
            setattr(self, kind, OrderedDict())


everywhere = Hooks()
watched = []  # is not empty while a hook is there for all modules


class _HandleEverywhere(Handle):
    """Takes a hook of all modules away."""

    def remove(self):
        if self.id in self._hooks:
            watched.pop()
        super().remove()


def register_everywhere(kind, hook, told=()):
    """Call a function with every module: the kind is one of Hooks.KINDS."""
    watched.append(kind)
    return _HandleEverywhere(getattr(everywhere, kind), hook, everywhere._hook_options, told)


def _all_of(module, kind):
    """Hooks of one kind, those of all modules first, each with its options."""
    return [
        (number, hook, of._hook_options.get(number, ()))
        for of in (everywhere, module)
        for number, hook in getattr(of, kind).items()
    ]


class _Passing(autograd.Function):
    """The arrays, whose gradients a function sees together and may replace."""

    @staticmethod
    def forward(ctx, see, *arrays):
        ctx.see = see
        ctx.set_materialize_grads(False)
        return tuple(map(_core.detach, arrays))

    @staticmethod
    def backward(ctx, *gradients):
        return None, *ctx.see(gradients)


def _watched(values, see):
    """The values, those that are followed as arrays whose gradients are seen; and their places, or None."""
    places = [k for k, v in enumerate(values) if isinstance(v, _core.ndarray) and v.requires_grad]
    if not places or not autograd.is_grad_enabled():
        return values, None
    out = list(values)
    for k, v in zip(places, _Passing.apply(see, *(values[k] for k in places)), strict=True):
        out[k] = v
    return tuple(out) if type(values) is tuple else type(values)(*out), places


def _spread(places, values, n):
    out = [None] * n
    for k, v in zip(places, values, strict=True):
        out[k] = v
    return tuple(out)


def _or_zeros(gradient, kind):
    """The gradient of an argument: zeros, where that is an array to which nothing flows."""
    if gradient is not None or kind is None:
        return gradient
    shape, dtype, device = kind
    return _core.functions["zeros"](shape, dtype, device=device)


def _replaced(what, hook, module, *gradients):
    """What a hook gives for the first of the gradients."""
    own = gradients[0]
    made = hook(module, *gradients)
    if made is None:
        return own
    made = made if isinstance(made, (tuple, list)) else (made,)
    if len(made) != len(own):
        raise RuntimeError(f"{what}, got {len(made)}, but expected {len(own)}")
    return tuple(made)


class _WayBack:
    """One call on its way back: hooks see the gradients of the results first, and at the end both."""

    def __init__(self, module):
        self.module = module
        self.before = [hook for _, hook, _ in _all_of(module, "_backward_pre_hooks")]
        self.after = [hook for _, hook, _ in _all_of(module, "_backward_hooks")]
        self.results = None

    def __bool__(self):
        return bool(self.before or self.after)

    def arguments(self, args):
        self.kinds = [(a.shape, a.dtype, a.device) if isinstance(a, _core.ndarray) else None for a in args]
        args, self.places = _watched(args, self._at_arguments)
        return args

    def result(self, result):
        if not isinstance(result, (_core.ndarray, tuple)):
            warnings.warn(
                "For backward hooks to be called, module output should be a Tensor or a tuple of Tensors but received "
                f"{type(result)}",
                stacklevel=4,
            )
        whole = result if isinstance(result, tuple) else (result,)
        self.n_results = len(whole)
        whole, self.result_places = _watched(whole, self._at_results)
        return whole if isinstance(result, tuple) else whole[0]

    def _at_results(self, gradients):
        seen = _spread(self.result_places, gradients, self.n_results)
        for hook in self.before:
            words = "Backward pre hook returned an invalid number of grad_output"
            seen = _replaced(words, lambda module, g, hook=hook: hook(module, g), self.module, seen)
        if self.places is None:
            self._without_arguments(seen)
        else:
            self.results = seen
        return tuple(seen[k] for k in self.result_places)

    def _without_arguments(self, seen):
        """Nothing flows to the arguments, so that the hooks are called now."""
        if self.after:
            warnings.warn(
                "Full backward hook is firing when gradients are computed with respect to module outputs since no "
                "inputs require gradients.",
                stacklevel=8,
            )
        for hook in self.after:
            made = hook(self.module, (None,) * len(self.kinds), seen)
            if made is not None and not (isinstance(made, tuple) and all(g is None for g in made)):
                raise RuntimeError(
                    "Backward hook for Modules where no input requires gradient should always return None or None for "
                    "all gradients."
                )

    def _at_arguments(self, gradients):
        if self.results is None:  # derivatives of derivatives reach the arguments by other ways
            return gradients
        seen = tuple(map(_or_zeros, _spread(self.places, gradients, len(self.kinds)), self.kinds))
        for hook in self.after:
            seen = _replaced(
                "Backward hook returned an invalid number of grad_input", hook, self.module, seen, self.results
            )
        self.results = None
        return tuple(seen[k] for k in self.places)


def _before(module, args, kwargs):
    for _, hook, told in _all_of(module, "_forward_pre_hooks"):
        if "with_kwargs" in told:
            changed = hook(module, args, kwargs)
            if changed is None:
                continue
            if not isinstance(changed, tuple) or len(changed) != 2:
                raise RuntimeError(
                    f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got {changed}."
                )
            args, kwargs = changed
        else:
            changed = hook(module, args)
            if changed is not None:
                args = changed if isinstance(changed, tuple) else (changed,)
    return args, kwargs


def _after(module, hook, told, args, kwargs, result):
    changed = hook(module, args, kwargs, result) if "with_kwargs" in told else hook(module, args, result)
    return result if changed is None else changed


def call(module, args, kwargs):
    """forward with the module's hooks and those of all modules around it."""
    done, result = set(), None
    try:
        args, kwargs = _before(module, args, kwargs)
        back = _WayBack(module)
        if back:
            args = back.arguments(args)
        result = module.forward(*args, **kwargs)
        for number, hook, told in _all_of(module, "_forward_hooks"):
            done.add(number)
            result = _after(module, hook, told, args, kwargs, result)
        return back.result(result) if back else result
    except Exception:
        for number, hook, told in _all_of(module, "_forward_hooks"):
            if "always_call" in told and number not in done:
                try:
                    result = _after(module, hook, told, args, kwargs, result)
                except Exception as error:
                    words = "module forward hook with ``always_call=True`` raised an exception that was silenced as"
                    warnings.warn(f"{words} another error was raised in forward: {error}", stacklevel=3)
        raise
