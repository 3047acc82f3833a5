"""What a training left behind."""

from ._base import Callback


class History(Callback):
    """Remembers the results of all epochs: fit returns it.

    Examples
    --------
    >>> model = tt.Model(tt.nn.Linear(2, 1))
    >>> model.compile("sgd", "mse", metrics=["mae"])
    >>> history = model.fit(tt.ones((4, 2)), tt.ones((4, 1)), epochs=2, verbose=0)
    >>> history.epoch, sorted(history.history)
    ([0, 1], ['loss', 'mae'])
    """

    def __init__(self):
        super().__init__()
        self.history, self.epoch = {}, []

    def on_train_begin(self, logs=None):
        self.epoch = []

    def on_epoch_end(self, epoch, logs=None):
        self.epoch.append(epoch)
        for name, value in (logs or {}).items():
            self.history.setdefault(name, []).append(value)
        if self.model is not None:
            self.model.history = self
