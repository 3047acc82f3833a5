"""torch.nn.utils.rnn: tutti's."""

from .....nn.utils import rnn as _rnn
from .....nn.utils.rnn import *  # noqa: F403

__all__ = [name for name in dir(_rnn) if not name.startswith("_")]
