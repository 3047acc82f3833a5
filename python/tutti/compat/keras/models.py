"""keras.models: models, and how they are written and read."""

import json as _json

from ._model import Model, Sequential, clone_model
from .saving import CustomObjectScope as _CustomObjectScope
from .saving import deserialize_keras_object as _deserialize
from .saving import load_model, save_model

__all__ = ["Model", "Sequential", "clone_model", "load_model", "model_from_json", "save_model"]


def model_from_json(json_string, custom_objects=None):
    """The model of what to_json() gave, with new weights."""
    with _CustomObjectScope(custom_objects or {}):
        return _deserialize(_json.loads(json_string))


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.keras does not cover keras.models.{name}")
