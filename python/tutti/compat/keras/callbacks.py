"""keras.callbacks: those of tutti.callbacks."""

import tutti as _tt

__all__ = [name for name in _tt.callbacks.__all__]
globals().update({name: getattr(_tt.callbacks, name) for name in __all__})


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.keras does not cover keras.callbacks.{name}")
