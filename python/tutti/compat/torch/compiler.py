"""torch.compiler: what is recorded is compiled by itself."""

import contextlib as _contextlib

__all__ = ["allow_in_graph", "disable", "is_compiling", "is_dynamo_compiling", "is_exporting", "reset", "set_stance"]


def disable(fn=None, recursive=True, **how):
    """The function, or a decorator that gives it."""
    return fn if fn is not None else lambda fn: fn


def allow_in_graph(fn):
    """The function."""
    return fn


def is_compiling():
    return False


is_dynamo_compiling = is_exporting = is_compiling


def reset():
    """There is nothing to forget."""


@_contextlib.contextmanager
def set_stance(*args, **kwargs):
    """A block that changes nothing."""
    yield
