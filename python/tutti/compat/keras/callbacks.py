"""keras.callbacks: those of tutti.callbacks."""

import tutti as _tt

__all__ = [name for name in _tt.callbacks.__all__]
globals().update({name: getattr(_tt.callbacks, name) for name in __all__})


class ModelCheckpoint(_tt.callbacks.ModelCheckpoint):
    """Writes the model, or its weights alone, after epochs: all of them or those that are better than all before."""

    def _write(self, path):
        if not self.save_weights_only and path.endswith(".keras"):
            self.model.save(path)
        else:
            super()._write(path)


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.keras does not cover keras.callbacks.{name}")
