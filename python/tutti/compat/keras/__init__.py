"""Keras' names over tutti: layers, graphs of layers, losses, metrics, optimisers and fit().

Replace `import keras` by `import tutti.compat.keras as keras`, or run the script by `python -m tutti run`.
"""

from . import (
    activations,
    backend,
    callbacks,
    config,
    constraints,
    datasets,
    dtype_policies,
    initializers,
    layers,
    losses,
    metrics,
    mixed_precision,
    models,
    ops,
    optimizers,
    random,
    regularizers,
    saving,
    tree,
    utils,
)
from ._graph import KerasTensor
from ._model import Model, Sequential
from ._variable import Variable
from .dtype_policies import DTypePolicy, FloatDTypePolicy
from .initializers import Initializer
from .layers import Input, InputSpec, Layer
from .losses import Loss
from .metrics import Metric
from .optimizers import Optimizer
from .regularizers import Regularizer

__version__ = "3.12.0"
__all__ = [
    "DTypePolicy", "FloatDTypePolicy", "Initializer", "Input", "InputSpec", "KerasTensor", "Layer", "Loss",
    "Metric", "Model", "Optimizer", "Regularizer", "Sequential", "Variable", "activations", "backend", "callbacks",
    "config", "constraints", "datasets", "dtype_policies", "initializers", "layers", "losses", "metrics",
    "mixed_precision", "models", "ops", "optimizers", "random", "regularizers", "saving", "tree",
    "utils", "version",
]  # fmt: skip


def version():
    """The version whose names these are."""
    return __version__


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.keras does not cover keras.{name}")
