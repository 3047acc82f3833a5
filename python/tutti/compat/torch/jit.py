"""torch.jit: functions and modules are compiled by themselves; what PyTorch would have compiled is given back."""

__all__ = ["export", "ignore", "is_scripting", "is_tracing", "script", "script_if_tracing", "trace", "unused"]


def script(obj, *args, **kwargs):
    """The function, class or module."""
    return obj


def trace(func, example_inputs=None, **kwargs):
    """The function or module."""
    return func


def export(fn):
    """The function."""
    return fn


unused = script_if_tracing = export


def ignore(drop=False, **kwargs):
    """The function, or a decorator that gives it."""
    return drop if callable(drop) else export


def is_scripting():
    return False


def is_tracing():
    return False


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.torch does not cover torch.jit.{name}")
