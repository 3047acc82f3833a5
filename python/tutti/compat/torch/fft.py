"""torch.fft: tutti's, with PyTorch's words for axes."""

import functools as _functools

from ... import fft as _fft

__all__ = [name for name in dir(_fft) if not name.startswith("_") and callable(getattr(_fft, name))]


def _renamed(function):
    several = "axes" if function.__name__.endswith(("2", "n", "shift")) else "axis"

    @_functools.wraps(function)
    def call(*args, **how):
        return function(*args, **{several if name == "dim" else name: value for name, value in how.items()})

    return call


for _name in __all__:
    globals()[_name] = _renamed(getattr(_fft, _name))
