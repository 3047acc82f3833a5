"""keras.models: models, and how they are written and read."""

from ._model import Model, Sequential, clone_model
from .saving import load_model, save_model

__all__ = ["Model", "Sequential", "clone_model", "load_model", "save_model"]


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.keras does not cover keras.models.{name}")
