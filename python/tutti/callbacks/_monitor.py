"""Callbacks that watch a number of the logs."""

import os
import warnings

from ..training import _optimizers
from ._base import Callback


class _Watching(Callback):
    """What callbacks that watch a number have in common: is it better than it was?"""

    def __init__(self, monitor="val_loss", mode="auto", baseline=None, min_delta=0):
        super().__init__()
        if mode not in ("auto", "min", "max"):
            warnings.warn(f"{type(self).__name__} mode '{mode}' is unknown, fallback to auto mode.", stacklevel=3)
            mode = "auto"
        self.monitor, self.mode, self.best, self.min_delta = monitor, mode, baseline, abs(min_delta)
        self._sign = {"min": -1, "max": 1}.get(mode)  # of what is better

    def _find_sign(self):
        if self._sign is not None:
            return
        name = self.monitor.removeprefix("val_")
        direction = "down" if name == "loss" else None
        for metric in getattr(self.model, "metrics", None) or ():
            if metric.name == name:
                direction = getattr(metric, "_direction", None) or direction
        if direction is None:
            raise ValueError(
                f"{type(self).__name__} callback received monitor={self.monitor}, but it isn't able to automatically "
                "determine whether that metric should be maximized or minimized. Pass `mode='max'` in order to monitor "
                "based on the highest metric value, or pass `mode='min'` in order to use the lowest value."
            )
        self._sign = 1 if direction == "up" else -1

    def _is_better(self, value, reference):
        return reference is None or self._sign * value - self.min_delta > self._sign * reference


def _available(logs):
    return ",".join(logs or {})


class EarlyStopping(_Watching):
    """Ends a training when a number no longer gets better.

    Parameters
    ----------
    monitor : str
        The number, by its name in the logs.
    min_delta : float
        By how much it must be better to count.
    patience : int
        After how many epochs without a better one the training ends.
    verbose : {0, 1}
        Is it said?
    mode : {"auto", "min", "max"}
        Which is better; "auto" goes by the metric.
    baseline : float, optional
        What has to be reached at least.
    restore_best_weights : bool
        Does the model get the weights of the best epoch back?
    start_from_epoch : int
        How many epochs pass before it is looked at.

    Examples
    --------
    >>> model = tt.Model(tt.nn.Linear(2, 1))
    >>> model.compile(tt.optim.SGD(model.parameters(), lr=0.0), "mse")
    >>> stop = tt.callbacks.EarlyStopping("loss", patience=2)
    >>> len(model.fit(tt.ones((4, 2)), tt.ones((4, 1)), epochs=9, callbacks=[stop], verbose=0).epoch)
    3
    """

    def __init__(
        self,
        monitor="val_loss",
        min_delta=0,
        patience=0,
        verbose=0,
        mode="auto",
        baseline=None,
        restore_best_weights=False,
        start_from_epoch=0,
    ):
        super().__init__(monitor, mode, min_delta=min_delta)
        self.patience, self.verbose, self.baseline = patience, verbose, baseline
        self.restore_best_weights, self.start_from_epoch = restore_best_weights, start_from_epoch
        self.wait = self.stopped_epoch = self.best_epoch = 0
        self.best_weights = None

    def on_train_begin(self, logs=None):
        self.wait = self.stopped_epoch = self.best_epoch = 0
        self.best = self.best_weights = None

    def on_epoch_end(self, epoch, logs=None):
        self._find_sign()
        current = (logs or {}).get(self.monitor)
        if current is None:
            warnings.warn(
                f"Early stopping conditioned on metric `{self.monitor}` which is not available. "
                f"Available metrics are: {_available(logs)}",
                stacklevel=2,
            )
        if current is None or epoch < self.start_from_epoch:
            return
        if self.restore_best_weights and self.best_weights is None:
            self.best_weights, self.best_epoch = self.model.get_weights(), epoch
        self.wait += 1
        if self._is_better(current, self.best):
            self.best, self.best_epoch = current, epoch
            if self.restore_best_weights:
                self.best_weights = self.model.get_weights()
            if self.baseline is None or self._is_better(current, self.baseline):
                self.wait = 0
            return
        if self.wait >= self.patience and epoch > 0:
            self.stopped_epoch, self.model.stop_training = epoch, True

    def on_train_end(self, logs=None):
        if self.stopped_epoch > 0 and self.verbose > 0:
            print(f"Epoch {self.stopped_epoch + 1}: early stopping")
        if self.restore_best_weights and self.best_weights is not None:
            if self.verbose > 0:
                print(f"Restoring model weights from the end of the best epoch: {self.best_epoch + 1}.")
            self.model.set_weights(self.best_weights)


class ReduceLROnPlateau(_Watching):
    """Lowers the learning rate when a number no longer gets better.

    Parameters
    ----------
    monitor : str
        The number, by its name in the logs.
    factor : float
        What the learning rate is multiplied by, below 1.
    patience : int
        After how many epochs without a better one.
    verbose : {0, 1}
        Is it said?
    mode : {"auto", "min", "max"}
        Which is better; "auto" goes by the metric.
    min_delta : float
        By how much it must be better to count.
    cooldown : int
        How many epochs pass afterwards before epochs count again.
    min_lr : float
        The lowest learning rate.

    Examples
    --------
    >>> model = tt.Model(tt.nn.Linear(2, 1))
    >>> model.compile(tt.optim.SGD(model.parameters(), lr=1e-9), "mse")
    >>> lower = tt.callbacks.ReduceLROnPlateau("loss", factor=0.5, patience=1)
    >>> history = model.fit(tt.ones((4, 2)), tt.ones((4, 1)), epochs=3, callbacks=[lower], verbose=0)
    >>> history.history["learning_rate"]
    [1e-09, 1e-09, 5e-10]
    """

    def __init__(
        self,
        monitor="val_loss",
        factor=0.1,
        patience=10,
        verbose=0,
        mode="auto",
        min_delta=1e-4,
        cooldown=0,
        min_lr=0.0,
    ):
        super().__init__(monitor, mode, min_delta=min_delta)
        if factor >= 1.0:
            raise ValueError(f"ReduceLROnPlateau does not support a factor >= 1.0. Received factor={factor}")
        self.factor, self.patience, self.verbose, self.cooldown, self.min_lr = (
            factor,
            patience,
            verbose,
            cooldown,
            min_lr,
        )
        self.cooldown_counter = self.wait = 0

    def on_train_begin(self, logs=None):
        self.best, self.cooldown_counter, self.wait = None, 0, 0

    def on_epoch_end(self, epoch, logs=None):
        self._find_sign()
        logs = {} if logs is None else logs
        logs["learning_rate"] = _optimizers.learning_rate(self.model.optimizer)
        current = logs.get(self.monitor)
        if current is None:
            warnings.warn(
                f"Learning rate reduction is conditioned on metric `{self.monitor}` which is not available. "
                f"Available metrics are: {_available(logs)}.",
                stacklevel=2,
            )
            return
        if self.cooldown_counter > 0:
            self.cooldown_counter, self.wait = self.cooldown_counter - 1, 0
        if self._is_better(current, self.best):
            self.best, self.wait = current, 0
        elif self.cooldown_counter <= 0:
            self.wait += 1
            if self.wait >= self.patience:
                self._reduce(epoch)

    def _reduce(self, epoch):
        old = _optimizers.learning_rate(self.model.optimizer)
        if old <= self.min_lr:
            return
        new = max(old * self.factor, self.min_lr)
        _optimizers.set_learning_rate(self.model.optimizer, new)
        if self.verbose > 0:
            print(f"\nEpoch {epoch + 1}: ReduceLROnPlateau reducing learning rate to {new}.")
        self.cooldown_counter, self.wait = self.cooldown, 0


class ModelCheckpoint(_Watching):
    """Writes the weights to a file after epochs, all of them or those that are better than all before.

    Parameters
    ----------
    filepath : str
        The file; "{epoch:02d}", "{batch}" and names of logs in it are filled in.
    monitor : str
        What says which is better.
    verbose : {0, 1}
        Is it said?
    save_best_only : bool
        Are only better ones written?
    save_weights_only : bool
        Has no effect: files have weights.
    mode : {"auto", "min", "max"}
        Which is better; "auto" goes by the metric.
    save_freq : "epoch" or int
        After how many batches there is one.
    initial_value_threshold : float, optional
        What has to be bettered at first.

    Examples
    --------
    >>> keep = tt.callbacks.ModelCheckpoint("best.safetensors", save_best_only=True)
    >>> keep.monitor
    'val_loss'
    """

    def __init__(
        self,
        filepath,
        monitor="val_loss",
        verbose=0,
        save_best_only=False,
        save_weights_only=False,
        mode="auto",
        save_freq="epoch",
        initial_value_threshold=None,
    ):
        super().__init__(monitor, mode, initial_value_threshold)
        if save_freq != "epoch" and not isinstance(save_freq, int):
            raise ValueError(f"Unrecognized save_freq: {save_freq}. Expected save_freq are 'epoch' or integer values")
        self.filepath, self.verbose, self.save_freq = os.fspath(filepath), verbose, save_freq
        self.save_best_only, self.save_weights_only = save_best_only, save_weights_only
        self._since, self._epoch = 0, 0

    def on_epoch_begin(self, epoch, logs=None):
        self._epoch = epoch

    def on_train_batch_end(self, batch, logs=None):
        if self.save_freq == "epoch":
            return
        self._since += 1
        if self._since >= self.save_freq:
            self._since = 0
            self._save(self._epoch, batch, logs)

    def on_epoch_end(self, epoch, logs=None):
        if self.save_freq == "epoch":
            self._save(epoch, None, logs)

    def _save(self, epoch, batch, logs):
        logs = dict(logs or {})
        more = {} if batch is None else {"batch": batch + 1}
        try:
            path = self.filepath.format(epoch=epoch + 1, **more, **logs)
        except KeyError as e:
            raise KeyError(f'Failed to format this callback filepath: "{self.filepath}". Reason: {e}') from None
        if not self._is_wanted(epoch, logs, path):
            return
        if os.path.isdir(path):
            raise OSError(
                "Please specify a non-directory filepath for ModelCheckpoint. "
                f"Filepath used is an existing directory: {path}"
            )
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        self._write(path)
        if self.verbose > 0:
            print(f"\nEpoch {epoch + 1}: finished saving model to {path}")

    def _write(self, path):
        self.model.save_weights(path)

    def _is_wanted(self, epoch, logs, path):
        if not self.save_best_only:
            return True
        current = logs.get(self.monitor)
        if current is None:
            warnings.warn(f"Can save best model only with {self.monitor} available.", stacklevel=2)
            return True
        self._find_sign()
        was = "None" if self.best is None else f"{self.best:.5f}"
        better = self._is_better(current, self.best)
        if self.verbose > 0:
            words = f"improved from {was} to {current:.5f}, saving model to {path}"
            print(f"\nEpoch {epoch + 1}: {self.monitor} {words if better else f'did not improve from {was}'}")
        if better:
            self.best = current
        return better
