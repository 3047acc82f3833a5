"""torch.fft: tutti's, with PyTorch's words for axes."""

import functools as _functools

from ... import _core
from ... import fft as _fft
from ._functions import _floats

__all__ = [name for name in dir(_fft) if not name.startswith("_") and callable(getattr(_fft, name))]


def _renamed(function):
    several = "axes" if function.__name__.endswith(("2", "n", "shift")) else "axis"

    @_functools.wraps(function)
    def call(input, *args, **how):
        if isinstance(input, _core.ndarray) and not function.__name__.endswith("shift"):
            input = _floats(input)
        return function(input, *args, **{several if name == "dim" else name: value for name, value in how.items()})

    return call


for _name in __all__:
    globals()[_name] = _renamed(getattr(_fft, _name))
