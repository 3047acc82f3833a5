"""Callbacks: what is called in the course of a training, with Keras' names.

import tutti as tt
stop = tt.callbacks.EarlyStopping(monitor="loss", patience=2)  # fit(..., callbacks=[stop])
"""

from ._bar import ProgbarLogger
from ._base import Callback, CallbackList
from ._history import History

__all__ = [
    "Callback",
    "CallbackList",
    "History",
    "ProgbarLogger",
]
