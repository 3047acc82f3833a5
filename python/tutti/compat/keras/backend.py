"""keras.backend: what of it programs still use."""

from ._state import clear_session  # noqa: F401
from .config import (  # noqa: F401
    backend,
    epsilon,
    floatx,
    image_data_format,
    set_epsilon,
    set_floatx,
    set_image_data_format,
)


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.keras does not cover keras.backend.{name}")
