"""Callbacks of schedules, files and functions."""

import csv
import math
import os

from ..training import _optimizers
from ._base import Callback


class LearningRateScheduler(Callback):
    """Sets the learning rate before each epoch.

    Parameters
    ----------
    schedule : callable
        Takes the number of the epoch and the learning rate and gives the new one.
    verbose : {0, 1}
        Is it said?

    Examples
    --------
    >>> model = tt.Model(tt.nn.Linear(2, 1))
    >>> model.compile("sgd", "mse")
    >>> half = tt.callbacks.LearningRateScheduler(lambda epoch, lr: lr / 2)
    >>> history = model.fit(tt.ones((4, 2)), tt.ones((4, 1)), epochs=2, callbacks=[half], verbose=0)
    >>> history.history["learning_rate"]
    [0.005, 0.0025]
    """

    def __init__(self, schedule, verbose=0):
        super().__init__()
        self.schedule, self.verbose = schedule, verbose

    def on_epoch_begin(self, epoch, logs=None):
        optimizer = self.model.optimizer
        try:
            rate = self.schedule(epoch, _optimizers.learning_rate(optimizer))
        except TypeError:  # one that knows no rate
            rate = self.schedule(epoch)
        if not isinstance(rate, float) and not getattr(rate, "ndim", 1) == 0:
            raise ValueError(f"The output of the `schedule` function should be a float. Got: {rate}")
        _optimizers.set_learning_rate(optimizer, float(rate))
        if self.verbose > 0:
            print(f"\nEpoch {epoch + 1}: LearningRateScheduler setting learning rate to {rate}.")

    def on_epoch_end(self, epoch, logs=None):
        if logs is not None:
            logs["learning_rate"] = _optimizers.learning_rate(self.model.optimizer)


class CSVLogger(Callback):
    """Writes a line of numbers after each epoch.

    Parameters
    ----------
    filename : str
        The file.
    separator : str
        What is between two numbers.
    append : bool
        Are lines added to a file that is there?

    Examples
    --------
    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "log.csv")
    >>> model = tt.Model(tt.nn.Linear(2, 1))
    >>> model.compile("sgd", "mse")
    >>> log = tt.callbacks.CSVLogger(path)
    >>> history = model.fit(tt.ones((4, 2)), tt.ones((4, 1)), callbacks=[log], verbose=0)
    >>> open(path).readline().strip()
    'epoch,loss,val_loss'
    """

    def __init__(self, filename, separator=",", append=False):
        super().__init__()
        self.filename, self.sep, self.append = os.fspath(filename), separator, append
        self._file = self._writer = None

    def on_train_begin(self, logs=None):
        self._close()
        self._has_header = self.append and os.path.exists(self.filename) and os.path.getsize(self.filename) > 0
        self._file = open(self.filename, "a" if self.append else "w", newline="")  # noqa: SIM115 (until the end)
        self._writer = None

    def on_epoch_end(self, epoch, logs=None):
        logs = logs or {}
        if self._writer is None:
            names = sorted(logs)
            if not any(name.startswith("val_") for name in names):
                names += [f"val_{name}" for name in names]
            self._writer = csv.DictWriter(self._file, ["epoch", *names], delimiter=self.sep, extrasaction="ignore")
            if not self._has_header:
                self._writer.writeheader()
        row = {name: logs.get(name, "NA") for name in self._writer.fieldnames}
        self._writer.writerow({**{k: _cell(v) for k, v in row.items()}, "epoch": epoch})
        self._file.flush()

    def on_train_end(self, logs=None):
        self._close()

    def _close(self):
        if self._file is not None:
            self._file.close()
        self._file = None


def _cell(value):
    return f'"[{", ".join(map(str, value))}]"' if isinstance(value, (list, tuple)) else value


class LambdaCallback(Callback):
    """Calls functions.

    Parameters
    ----------
    on_epoch_begin, on_epoch_end, on_train_begin, on_train_end, on_train_batch_begin, on_train_batch_end
        The functions, with the methods' arguments.
    **kwargs
        Other methods by name.

    Examples
    --------
    >>> say = tt.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: print("epoch", epoch))
    >>> say.on_epoch_end(3, {})
    epoch 3
    """

    def __init__(
        self,
        on_epoch_begin=None,
        on_epoch_end=None,
        on_train_begin=None,
        on_train_end=None,
        on_train_batch_begin=None,
        on_train_batch_end=None,
        **kwargs,
    ):
        super().__init__()
        given = {name: value for name, value in locals().items() if name.startswith("on_") and value is not None}
        for name, function in {**given, **kwargs}.items():
            if not hasattr(Callback, name):
                raise TypeError(f"LambdaCallback got an unexpected keyword argument '{name}'")
            if function is not None:
                setattr(self, name, function)


class TerminateOnNaN(Callback):
    """Ends a training whose loss is not finite. Each step's loss is looked at, so that it ends at that step.

    Parameters
    ----------
    raise_error : bool
        Is that an error?

    Examples
    --------
    >>> model = tt.Model(tt.nn.Linear(2, 1))
    >>> model.compile("sgd", "mse")
    >>> end = tt.callbacks.TerminateOnNaN()
    >>> len(model.fit(tt.ones((4, 2)), tt.ones((4, 1)), epochs=2, callbacks=[end], verbose=0).epoch)
    2
    """

    def __init__(self, raise_error=False):
        super().__init__()
        self.raise_error = raise_error

    def on_batch_end(self, batch, logs=None):
        loss = (logs or {}).get("loss")
        if loss is None or math.isfinite(loss):
            return
        if self.raise_error:
            raise RuntimeError(
                f"NaN or Inf loss encountered at batch {batch}. Loss value: {loss}. Terminating training immediately."
            )
        print(f"Batch {batch}: Invalid loss, terminating training")
        self.model.stop_training = True
