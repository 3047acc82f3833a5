"""torch.nn.utils.rnn: tutti's, whose results are tensors."""

import functools

from ..... import _core
from .....nn.utils import rnn as _rnn

PackedSequence = _rnn.PackedSequence
__all__ = [name for name, value in vars(_rnn).items() if name[0] != "_" and value.__module__ == _rnn.__name__]


def _tensors(made):
    if isinstance(made, PackedSequence):  # its numbers are read by recurrent layers
        return made._replace(data=_core._as_tensor(made.data))
    if isinstance(made, (list, tuple)):
        return type(made)(map(_core._as_tensor, made))
    return _core._as_tensor(made)


def _giving_tensors(function):
    return functools.wraps(function)(lambda *args, **kwargs: _tensors(function(*args, **kwargs)))


for _name in __all__:
    if _name != "PackedSequence":
        globals()[_name] = _giving_tensors(getattr(_rnn, _name))
