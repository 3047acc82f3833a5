"""Callbacks: what is called in the course of a training, with Keras' names.

import tutti as tt
stop = tt.callbacks.EarlyStopping(monitor="loss", patience=2)  # fit(..., callbacks=[stop])
"""

# Names with the module that is loaded when one is asked for.
_LATER = {
    "_bar": "ProgbarLogger",
    "_base": "Callback CallbackList",
    "_history": "History",
    "_monitor": "EarlyStopping ModelCheckpoint ReduceLROnPlateau",
    "_others": "CSVLogger LambdaCallback LearningRateScheduler TerminateOnNaN",
}
_later = {name: module for module, names in _LATER.items() for name in names.split()}

__all__ = sorted(_later)


def __getattr__(name):
    if name not in _later:
        raise AttributeError(f"module 'tutti.callbacks' has no attribute {name!r}")
    from importlib import import_module

    value = globals()[name] = getattr(import_module("." + _later[name], __name__), name)
    return value


def __dir__():
    return __all__
