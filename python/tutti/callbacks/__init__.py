"""Callbacks: what is called in the course of a training, with Keras' names.

import tutti as tt
stop = tt.callbacks.EarlyStopping(monitor="loss", patience=2)  # fit(..., callbacks=[stop])
"""

from ._bar import ProgbarLogger
from ._base import Callback, CallbackList
from ._history import History
from ._monitor import EarlyStopping, ModelCheckpoint, ReduceLROnPlateau
from ._others import CSVLogger, LambdaCallback, LearningRateScheduler, TerminateOnNaN

__all__ = [
    "CSVLogger",
    "Callback",
    "CallbackList",
    "EarlyStopping",
    "History",
    "LambdaCallback",
    "LearningRateScheduler",
    "ModelCheckpoint",
    "ProgbarLogger",
    "ReduceLROnPlateau",
    "TerminateOnNaN",
]
