"""TensorFlow's keras, which is tutti.compat.keras; nothing else of TensorFlow is here."""

import sys as _sys

from .. import keras

# `import tensorflow.keras.layers` finds the modules of keras under both names.
for _name, _module in list(_sys.modules.items()):
    if _name == keras.__name__ or _name.startswith(keras.__name__ + "."):
        _sys.modules[__name__ + ".keras" + _name.removeprefix(keras.__name__)] = _module


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.tensorflow does not cover tensorflow.{name}: it has keras alone")
