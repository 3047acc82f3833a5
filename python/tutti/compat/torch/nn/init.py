"""torch.nn.init: tutti's, which write into tensors and what `data` of them is."""

import functools as _functools

from ....nn import init as _init
from .._tensor import Data as _Data
from .._tensor import written as _written

__all__ = list(_init.__all__)


def _writing(function):
    @_functools.wraps(function)
    def call(tensor, *args, generator=None, **how):
        if type(tensor) is not _Data:
            return function(tensor, *args, **how)
        made = tensor.copy()
        function(made, *args, **how)
        return _written(tensor, made)

    return call


_DEPRECATED = (
    "constant dirac eye kaiming_normal kaiming_uniform normal orthogonal sparse uniform xavier_normal xavier_uniform"
).split()


def __getattr__(name):
    if name in _DEPRECATED:
        import warnings

        text = f"`nn.init.{name}` is now deprecated in favor of `nn.init.{name}_`."
        warnings.warn(text, FutureWarning, stacklevel=2)
        return globals()[name + "_"]
    raise AttributeError(name)


for _name in __all__:
    _value = getattr(_init, _name)
    globals()[_name] = _writing(_value) if _name.endswith("_") else _value
