"""torch.optim: tutti's optimisers."""

from ....optim import *  # noqa: F403
from ....optim import __all__ as __all__
from . import lr_scheduler as lr_scheduler
