"""Training: models that are compiled, fitted and evaluated as Keras' are, and the parts that this is made of."""

from ._model import Model

__all__ = ["Model"]
