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

    def plot(self, names=None, filename=None):
        """Draw the results by epoch: with matplotlib where it is installed, else as text, which is printed.

        Parameters
        ----------
        names : list of str, optional
            Which results; None: all. Those of the validation are drawn with what they validate.
        filename : str, optional
            A file that the picture, or the text, is written to.

        Returns
        -------
        Figure or str
            matplotlib's figure, or the text.

        Examples
        --------
        >>> history = tt.callbacks.History()
        >>> history.on_epoch_end(0, {"loss": 1.0})
        >>> history.on_epoch_end(1, {"loss": 0.5})
        >>> drawn = history.plot()  # doctest: +SKIP
        """
        from . import _plot

        wanted = {name: self.history[name] for name in (self.history if names is None else names)}
        return _plot.plot(wanted, filename)

    def on_epoch_end(self, epoch, logs=None):
        self.epoch.append(epoch)
        for name, value in (logs or {}).items():
            self.history.setdefault(name, []).append(value)
        if self.model is not None:
            self.model.history = self
