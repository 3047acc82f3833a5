"""torch.nn.functional: tutti's, which give tensors for tensors."""

from ....nn import functional as _functional
from .._tensor import written as _written

_IN_PLACE = "celu_ elu_ hardtanh_ leaky_relu_ relu_ rrelu_ selu_ threshold_".split()
__all__ = [*_functional.__all__, *_IN_PLACE]


def _in_place(name):
    function = getattr(_functional, name[:-1])

    def call(input, *args, **how):
        return _written(input, function(input, *args, **how))

    call.__name__ = call.__qualname__ = name
    return call


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    value = _in_place(name) if name in _IN_PLACE else getattr(_functional, name, None)
    if value is None:
        raise AttributeError(f"tutti.compat.torch does not cover torch.nn.functional.{name}")
    globals()[name] = value
    return value


def __dir__():
    return __all__
