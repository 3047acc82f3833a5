"""keras.callbacks: those of tutti.callbacks."""

import tutti as _tt

__all__ = [*_tt.callbacks.__all__, "SwapEMAWeights"]
globals().update({name: getattr(_tt.callbacks, name) for name in _tt.callbacks.__all__})


class ModelCheckpoint(_tt.callbacks.ModelCheckpoint):
    """Writes the model, or its weights alone, after epochs: all of them or those that are better than all before."""

    def _write(self, path):
        if not self.save_weights_only and path.endswith(".keras"):
            self.model.save(path)
        else:
            super()._write(path)


class SwapEMAWeights(_tt.callbacks.Callback):
    """Has evaluations, and with swap_on_epoch what is written after epochs, see the averages of weights (use_ema)."""

    def __init__(self, swap_on_epoch=False):
        super().__init__()
        self.swap_on_epoch, self._swapped = swap_on_epoch, False

    def _show(self, averages):
        optimizer = self.model.optimizer
        optimizer = getattr(optimizer, "inner_optimizer", optimizer)
        if not optimizer.use_ema:
            raise ValueError(
                "SwapEMAWeights must be used when `use_ema=True` is set in the optimizer. Received: use_ema=False"
            )
        if self._swapped is not averages:
            optimizer._swap()
            self._swapped = averages

    def on_epoch_begin(self, epoch, logs=None):
        """The weights that are trained."""
        self._show(False)

    def on_epoch_end(self, epoch, logs=None):
        """The averages, for callbacks that come after this one."""
        if self.swap_on_epoch:
            self._show(True)

    def on_train_end(self, logs=None):
        """The weights that were trained; fit() ends with the averages."""
        self._show(False)

    def on_test_begin(self, logs=None):
        """The averages."""
        self._show(True)

    def on_test_end(self, logs=None):
        """The weights that are trained."""
        self._show(False)

    on_predict_begin, on_predict_end = on_test_begin, on_test_end


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.keras does not cover keras.callbacks.{name}")
