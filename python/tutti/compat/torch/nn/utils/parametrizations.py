"""torch.nn.utils.parametrizations: tutti's."""

from .....nn.utils.parametrizations import *  # noqa: F403
from .....nn.utils.parametrizations import __all__ as __all__
