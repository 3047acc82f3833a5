"""torch.optim.lr_scheduler: tutti's schedules."""

from ....optim.lr_scheduler import *  # noqa: F403
from ....optim.lr_scheduler import __all__ as __all__
