"""torch.nn.utils.parametrize: tutti's."""

from .....nn.utils.parametrize import *  # noqa: F403
from .....nn.utils.parametrize import __all__ as __all__
