"""What calls of layers share: names, paths, whether anything is computed or shapes are asked for alone."""

import collections
import re
import threading

_names = collections.Counter()
_thread = threading.local()


def snake_case(name):
    """Conv2DTranspose is conv2d_transpose."""
    name = re.sub(r"\W+", "", name)
    name = re.sub("(.)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub("([a-z])([A-Z])", r"\1_\2", name).lower()


def auto_name(prefix):
    """A name that no other object of the session has: dense, dense_1, ..."""
    count = _names[prefix]
    _names[prefix] += 1
    return f"{prefix}_{count}" if count else prefix


def clear_session(free_memory=True):
    """Names start again."""
    _names.clear()


def get(name, default=None):
    """The innermost value of a setting."""
    stack = getattr(_thread, name, None)
    return stack[-1] if stack else default


class settings:
    """A block with settings."""

    __slots__ = ("_values", "_stacks")

    def __init__(self, **values):
        self._values = values

    def __enter__(self):
        known = _thread.__dict__
        self._stacks = [known.setdefault(name, []) for name in self._values]
        for stack, value in zip(self._stacks, self._values.values()):
            stack.append(value)

    def __exit__(self, *unused):
        for stack in self._stacks:
            stack.pop()


def path():
    """The names of the layers that are being called, outermost first."""
    return get("path", "")


def below(name):
    """The path of what has a name here."""
    return f"{path()}/{name}" if path() else name


def is_symbolic():
    """Whether shapes alone are asked for: nothing may be changed."""
    return get("symbolic", False)
