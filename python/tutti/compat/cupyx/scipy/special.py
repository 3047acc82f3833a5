"""cupyx.scipy.special: the functions of tutti.special."""

from ....special import *  # noqa: F403
from ....special import __all__  # noqa: F401
