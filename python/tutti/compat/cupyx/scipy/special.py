"""cupyx.scipy.special: the functions of tutti.special."""

from ....special import *  # noqa: F403
from ....special import __all__  # noqa: F401


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.cupyx does not cover cupyx.scipy.special.{name}")
