"""The bar of progress: one line, written again and again on a terminal, once where that is none."""

import sys
import time

from ._base import Callback

_WIDTH = 20
_PAUSE = 0.05  # seconds between two looks at the numbers


class ProgbarLogger(Callback):
    """Shows how far an epoch is, and its numbers: a line that fills on a terminal, else a line for each epoch.

    `verbose` of fit says which: 0 nothing, 1 the line that fills, 2 a line for each epoch, "auto" 1 on a terminal and 2
    elsewhere.

    Examples
    --------
    >>> model = tt.Model(tt.nn.Linear(2, 1))
    >>> model.compile("sgd", "mse")
    >>> history = model.fit(tt.ones((4, 2)), tt.ones((4, 1)), callbacks=[tt.callbacks.ProgbarLogger()], verbose=0)
    """

    def __init__(self):
        super().__init__()
        self.verbose, self.epochs, self.target = 1, 1, None
        self._in_fit, self._is_live, self._width, self._shown = False, False, 0, 0.0

    def set_params(self, params):
        super().set_params(params)
        verbose, self._is_live = params.get("verbose", "auto"), getattr(sys.stdout, "isatty", bool)()
        if verbose == "auto":
            verbose = 1 if self._is_live else 2
        self.verbose, self.epochs, self.target = verbose, params.get("epochs", 1), params.get("steps")

    def on_train_begin(self, logs=None):
        self._in_fit = True

    def on_epoch_begin(self, epoch, logs=None):
        if self.verbose and self.epochs > 1:
            self._say(f"Epoch {epoch + 1}/{self.epochs}\n")
        self._begin()

    def on_test_begin(self, logs=None):
        if not self._in_fit:
            self._begin()

    def on_predict_begin(self, logs=None):
        self._begin()

    def on_train_batch_end(self, batch, logs=None):
        self._update(batch, logs)

    def on_test_batch_end(self, batch, logs=None):
        if not self._in_fit:
            self._update(batch, logs)

    def on_predict_batch_end(self, batch, logs=None):
        self._update(batch, None)

    def on_epoch_end(self, epoch, logs=None):
        self._end(logs)

    def on_test_end(self, logs=None):
        if not self._in_fit:
            self._end(logs)

    def on_predict_end(self, logs=None):
        self._end(None)

    def on_train_end(self, logs=None):
        self._in_fit = False

    def end_line(self):
        """End a line that a training left unfinished.

        Returns
        -------
        None

        Examples
        --------
        >>> tt.callbacks.ProgbarLogger().end_line()
        """
        if self._width:
            self._say("\n")
        self._width, self._in_fit = 0, False

    def _begin(self):
        self._start, self._shown, self._seen, self._width = time.monotonic(), 0.0, 0, 0

    def _update(self, batch, logs):
        self._seen = batch + 1
        if self.verbose != 1 or not self._is_live:
            return
        now = time.monotonic()
        if now - self._shown >= _PAUSE:
            self._shown = now
            self._show(logs, now)

    def _end(self, logs):
        if not self.verbose:
            return
        self.target = self.target or self._seen
        self._seen = self.target if self.verbose == 1 else self._seen
        self._show(logs, time.monotonic())
        self._say("\n")
        self._width = 0

    def _show(self, logs, now):
        line = self._line(logs or {}, now)
        again = "\r" if self._width else ""
        self._say(again + line + " " * max(self._width - len(line), 0))
        self._width = len(line)

    def _line(self, logs, now):
        seen, target = self._seen, self.target
        parts = [f"{seen:{len(str(target))}d}/{target}" if target else f"{seen}/Unknown"]
        if target and self.verbose == 1:
            done = min(_WIDTH * seen // target, _WIDTH)
            parts.append("━" * done + "─" * (_WIDTH - done))
        spent = now - self._start
        step = spent / max(seen, 1)
        left = step * (target - seen) if target and seen < target else spent
        parts += [_duration(left), f"{_pace(step)}/step"]
        parts += [f"- {name}: {_number(value)}" for name, value in logs.items()]
        return " ".join(parts)

    @staticmethod
    def _say(text):
        sys.stdout.write(text)
        sys.stdout.flush()


def _duration(seconds):
    whole = int(seconds)
    if whole >= 3600:
        return f"{whole // 3600}:{whole % 3600 // 60:02d}:{whole % 60:02d}"
    return f"{whole // 60}:{whole % 60:02d}" if whole > 60 else f"{whole}s"


def _pace(seconds):
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.0f}{unit}"
    return f"{seconds * 1e6:.0f}us"


def _number(value):
    if not isinstance(value, (int, float)):
        return str(value)
    return f"{value:.4f}" if abs(value) > 1e-3 or value == 0 else f"{value:.4e}"
