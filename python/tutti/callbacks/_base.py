"""What is called in the course of a training, and the list that calls it."""

from collections.abc import MutableMapping

_DOC = """{words}

Parameters
----------
{parameters}
Returns
-------
None

Examples
--------
>>> class Told(tt.callbacks.Callback):
...     def {name}(self, {arguments}logs=None):
...         print("{name}")
>>> Told().{name}({values})
{name}
"""
_FIRST = {"batch": "batch : int\n    The number of the batch, from 0.\n", "epoch": "epoch : int\n    From 0.\n", "": ""}
_LOGS = "logs : dict, optional\n    What is known so far, by name.\n"


def _hook(name, words, first=""):
    """A method that does nothing until a subclass has its own."""
    if first == "batch":

        def hook(self, batch, logs=None):
            pass
    elif first:

        def hook(self, epoch, logs=None):
            pass
    else:

        def hook(self, logs=None):
            pass

    hook.__name__, hook.__qualname__ = name, f"Callback.{name}"
    hook.__doc__ = _DOC.format(
        words=words,
        name=name,
        parameters=_FIRST[first] + _LOGS,
        arguments=f"{first}, " if first else "",
        values="0" if first else "",
    )
    return hook


class Callback:
    """What fit, evaluate and predict call at their milestones; subclasses have the methods that they want.

    `model` is the model and `params` a dict with "epochs", "steps" and "verbose". Logs of batches are looked at when a
    number is read out of them, and cost nothing before.

    Examples
    --------
    >>> class Losses(tt.callbacks.Callback):
    ...     def on_epoch_end(self, epoch, logs=None):
    ...         print(epoch, sorted(logs))
    >>> model = tt.Model(tt.nn.Linear(2, 1))
    >>> model.compile("sgd", "mse")
    >>> history = model.fit(tt.ones((4, 2)), tt.ones((4, 1)), callbacks=[Losses()], verbose=0)
    0 ['loss']
    """

    def __init__(self):
        self.params, self._model = None, None

    @property
    def model(self):
        """The model."""
        return self._model

    def set_params(self, params):
        """Told what is asked of the training.

        Parameters
        ----------
        params : dict
            "epochs", "steps" and "verbose".

        Returns
        -------
        None

        Examples
        --------
        >>> callback = tt.callbacks.Callback()
        >>> callback.set_params({"epochs": 2})
        >>> callback.params
        {'epochs': 2}
        """
        self.params = params

    def set_model(self, model):
        """Told which model it is about.

        Parameters
        ----------
        model : Model
            The model.

        Returns
        -------
        None

        Examples
        --------
        >>> callback = tt.callbacks.Callback()
        >>> callback.set_model(tt.Model(tt.nn.Linear(2, 1)))
        >>> type(callback.model).__name__
        'Model'
        """
        self._model = model

    on_epoch_begin = _hook("on_epoch_begin", "Before an epoch of fit.", "epoch")
    on_epoch_end = _hook("on_epoch_end", "After an epoch of fit and its validation, with their results.", "epoch")
    on_batch_begin = _hook("on_batch_begin", "Another name of on_train_batch_begin.", "batch")
    on_batch_end = _hook("on_batch_end", "Another name of on_train_batch_end.", "batch")
    on_test_batch_begin = _hook("on_test_batch_begin", "Before a batch of evaluate or of a validation.", "batch")
    on_test_batch_end = _hook("on_test_batch_end", "After a batch of evaluate or of a validation.", "batch")
    on_predict_batch_begin = _hook("on_predict_batch_begin", "Before a batch of predict.", "batch")
    on_predict_batch_end = _hook("on_predict_batch_end", "After a batch of predict, with its outputs.", "batch")
    on_train_begin = _hook("on_train_begin", "Before the first epoch.")
    on_train_end = _hook("on_train_end", "After the last epoch, with its results.")
    on_test_begin = _hook("on_test_begin", "Before evaluate or a validation.")
    on_test_end = _hook("on_test_end", "After evaluate or a validation, with its results.")
    on_predict_begin = _hook("on_predict_begin", "Before predict.")
    on_predict_end = _hook("on_predict_end", "After predict.")

    def on_train_batch_begin(self, batch, logs=None):
        self.on_batch_begin(batch, logs=logs)

    def on_train_batch_end(self, batch, logs=None):
        self.on_batch_end(batch, logs=logs)

    for _own, _words in ((on_train_batch_begin, "Before a step of fit."), (on_train_batch_end, "After a step of fit.")):
        _own.__doc__ = _DOC.format(
            words=_words,
            name=_own.__name__,
            parameters=_FIRST["batch"] + _LOGS,
            arguments="batch, ",
            values="0",
        )
    del _own, _words


class Logs(MutableMapping):
    """Numbers by name, which are computed, and looked at, when one of them is read."""

    def __init__(self, found):
        self._found = found  # a dict, or a function that gives one

    def _read(self):
        if not isinstance(self._found, dict):
            self._found = self._found()
        return self._found

    def __getitem__(self, name):
        found = self._read()
        found[name] = value = as_number(found[name])
        return value

    def __setitem__(self, name, value):
        self._read()[name] = value

    def __delitem__(self, name):
        del self._read()[name]

    def __iter__(self):
        return iter(list(self._read()))

    def __len__(self):
        return len(self._read())

    def __repr__(self):
        return repr(dict(self))

    def copy(self):
        return dict(self)


def as_number(value):
    """An array of one element as a Python number, of several as a list."""
    return value.tolist() if hasattr(value, "tolist") else value


class CallbackList:
    """Calls all callbacks of a list; only those that have something to do at a batch are called there.

    Parameters
    ----------
    callbacks : Callback or list of Callback, optional
        Those of the user, in their order.
    add_history : bool
        Whether a History is added if there is none.
    add_progbar : bool
        Whether a ProgbarLogger is.
    model : Model, optional
        The model that they are told of.
    **params
        What they are told of the training.

    Examples
    --------
    >>> calls = tt.callbacks.CallbackList([tt.callbacks.History()], epochs=1)
    >>> calls.on_train_begin()
    >>> len(calls.callbacks)
    1
    """

    def __init__(self, callbacks=None, add_history=False, add_progbar=False, model=None, **params):
        from ._bar import ProgbarLogger
        from ._history import History

        given = callbacks if isinstance(callbacks, (list, tuple)) else [callbacks] if callbacks else []
        self.callbacks = [one for part in given for one in (part if isinstance(part, (list, tuple)) else [part])]
        for callback in self.callbacks:
            if not hasattr(callback, "on_epoch_end"):
                raise TypeError(f"callbacks should be instances of Callback. Received: {callback!r}")
        if add_history and not any(isinstance(c, History) for c in self.callbacks):
            self.callbacks.append(History())
        if add_progbar and not any(isinstance(c, ProgbarLogger) for c in self.callbacks):
            self.callbacks.append(ProgbarLogger())
        for callback in self.callbacks:
            if model is not None:
                callback.set_model(model)
            callback.set_params(params)
        if model is not None and add_history:
            model.history = next(c for c in self.callbacks if isinstance(c, History))
        for name in _BATCH_HOOKS:
            setattr(self, name, _Calls([getattr(c, name) for c in self.callbacks if _has_own(c, name)]))
        # Is there one that may keep the logs of a batch, which must say then what was known at that batch?
        self.keeps_logs = any(
            type(c).__module__.partition(".")[0] != "tutti" and _has_own(c, "on_train_batch_end")
            for c in self.callbacks
        )


class _Calls:
    """Methods that are called one after the other with a number and logs."""

    def __init__(self, methods):
        self.methods = methods

    def __bool__(self):
        return bool(self.methods)

    def __call__(self, number, logs=None):
        for method in self.methods:
            method(number, logs)


_BATCH_HOOKS = [f"on_{kind}batch_{end}" for kind in ("", "train_", "test_", "predict_") for end in ("begin", "end")]


def _has_own(callback, name):
    """Does a callback do something there? That of a training's batch has an older name, too."""
    names = {name, name.replace("train_", "")} if "train_" in name else {name}
    return any(getattr(type(callback), n, None) is not getattr(Callback, n) for n in names) or any(
        n in vars(callback) for n in names
    )


def _to_all(name):
    """A method that calls all callbacks'."""

    if "epoch" in name:

        def call(self, epoch, logs=None):
            for callback in self.callbacks:
                getattr(callback, name)(epoch, {} if logs is None else logs)
    else:

        def call(self, logs=None):
            for callback in self.callbacks:
                getattr(callback, name)({} if logs is None else logs)

    call.__name__ = name
    call.__doc__ = _DOC.format(
        words="Call this method of all callbacks.",
        name=name,
        parameters=(_FIRST["epoch"] if "epoch" in name else "") + _LOGS,
        arguments="epoch, " if "epoch" in name else "",
        values="0" if "epoch" in name else "",
    )
    return call


for _name in ("epoch", "train", "test", "predict"):
    for _end in ("begin", "end"):
        setattr(CallbackList, f"on_{_name}_{_end}", _to_all(f"on_{_name}_{_end}"))
