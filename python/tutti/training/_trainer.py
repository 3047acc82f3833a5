"""compile, fit, evaluate and predict, for whatever has parameters and outputs.

A step of training is one evaluation: its loss and what metrics add up come with the new parameters, and none of them is
looked at before the bar shows it or the epoch ends.
"""

import os

import tutti as tt

from ..callbacks._base import CallbackList, Logs, as_number
from . import _compiled, _data, _finite, _optimizers, _tree

_WITHOUT_GRADIENTS = tt.no_grad()


def _as_numbers(results):
    return {name: as_number(value) for name, value in results.items()}


class Trainer:
    """What a model of layers needs to be trained; a subclass has `_outputs(x)`, `parameters()` and `train(mode)`."""

    output_names = None
    stop_training = False
    optimizer = history = loss = None
    _seen = None  # shape and type of a sample of the inputs, for the summary
    _losses = _metrics_given = _loss_mean = _test_mean = None

    # ---- compile

    def compile(
        self,
        optimizer="rmsprop",
        loss=None,
        loss_weights=None,
        metrics=None,
        weighted_metrics=None,
        run_eagerly=False,
        steps_per_execution=1,
        jit_compile="auto",
        auto_scale_loss=True,
    ):
        """Say what the model is trained with.

        Parameters
        ----------
        optimizer : str, Optimizer or callable
            A name of Keras' ("adam"), an optimiser of tt.optim over the parameters, or what makes one of them.
        loss : str, callable, Module, list or dict
            A name of Keras', a function of y_true and y_pred, a loss of tt.nn; for several outputs one for each.
        loss_weights : float, list or dict, optional
            What the losses of the outputs are multiplied by before they are added up.
        metrics : list or dict, optional
            Names of Keras', functions of y_true and y_pred, or metrics of tt.metrics.
        weighted_metrics : list or dict, optional
            Metrics that the weights of samples count in.
        run_eagerly, steps_per_execution, jit_compile, auto_scale_loss
            Have no effect: a step is one evaluation.

        Returns
        -------
        None

        Examples
        --------
        >>> model = tt.Model(tt.nn.Linear(2, 1))
        >>> model.compile("adam", loss="mse", metrics=["mae"])
        """
        self.optimizer = _optimizers.get(optimizer, self._trained())
        self.__dict__["loss"] = loss  # no module of the model, even where it is one of tt.nn
        names = self.output_names
        self._losses = None if loss is None else _compiled.Losses(loss, loss_weights, names)
        self._metrics_given = _compiled.Metrics(metrics, weighted_metrics, names)
        self._loss_mean = _finite.LossMean(name="loss")
        self.stop_training = False

    def _trained(self):
        return [p for p in self.parameters() if p.requires_grad]

    def _assert_compiled(self, method):
        if self._loss_mean is None:
            raise ValueError(f"You must call `compile()` before calling `{method}()`.")

    @property
    def metrics(self):
        """The metrics: the mean of the loss, those of compile and the losses of several outputs."""
        if self._loss_mean is None:
            return []
        own = self._losses.metrics if self._losses else []
        return [self._loss_mean, *self._metrics_given.metrics, *own]

    @property
    def metrics_names(self):
        """The names of what evaluate gives."""
        return list(self._results())

    def reset_metrics(self):
        """Have all metrics begin anew.

        Returns
        -------
        None

        Examples
        --------
        >>> model = tt.Model(tt.nn.Linear(2, 1))
        >>> model.compile("sgd", "mse")
        >>> model.reset_metrics()
        """
        for metric in self.metrics:
            metric.reset_state()

    def _results(self):
        own = self._losses.metrics if self._losses else []
        return {
            "loss": self._loss_mean.result(),
            **self._metrics_given.results(),
            **{mean.name: mean.result() for mean in own},
        }

    # ---- what it is

    def summary(self, x=None, print_fn=None):
        """Print a table of the layers: what they give, and their parameters.

        Parameters
        ----------
        x : array_like, or a structure of them, optional
            Inputs, for the shapes of outputs; None: as those of the latest call of fit, evaluate or predict.
        print_fn : callable, optional
            What takes the text; None: print.

        Returns
        -------
        None

        Examples
        --------
        >>> tt.Model(tt.nn.Sequential(tt.nn.Linear(4, 8), tt.nn.ReLU())).summary(tt.ones((1, 4)))
        Model: "Model"
        ┏━━━━━━━━━━━━━━━━━━━┳━━━━━━━━━━━━━━┳━━━━━━━━━┓
        ┃ Layer (type)      ┃ Output Shape ┃ Param # ┃
        ┡━━━━━━━━━━━━━━━━━━━╇━━━━━━━━━━━━━━╇━━━━━━━━━┩
        │ module.0 (Linear) │ (None, 8)    │      40 │
        │ module.1 (ReLU)   │ (None, 8)    │       0 │
        └───────────────────┴──────────────┴─────────┘
         Total params: 40 (160.00 B)
         Trainable params: 40 (160.00 B)
         Non-trainable params: 0 (0.00 B)
        """
        from . import _summary

        if x is not None:
            x = _data.as_arrays(x, self._floats())
        elif self._seen is not None:
            x = _zeros(self._seen)
        (print_fn or print)(_summary.text(self, x))

    # ---- weights

    def get_weights(self):
        """Copies of all parameters and buffers.

        Returns
        -------
        list of ndarray
            The values, in the order of state_dict.

        Examples
        --------
        >>> [a.shape for a in tt.Model(tt.nn.Linear(2, 1)).get_weights()]
        [(1, 2), (1,)]
        """
        return [a.copy() for a in self.state_dict().values()]

    def set_weights(self, weights):
        """Give parameters and buffers other values.

        Parameters
        ----------
        weights : list of array_like
            The values, in the order of get_weights.

        Returns
        -------
        None

        Examples
        --------
        >>> model = tt.Model(tt.nn.Linear(2, 1))
        >>> model.set_weights([[[1.0, 2.0]], [3.0]])
        >>> model.get_weights()[0].tolist()
        [[1.0, 2.0]]
        """
        state = self.state_dict()
        if len(weights) != len(state):
            raise ValueError(
                f"You called `set_weights(weights)` on a model with a weight list of length {len(weights)}, "
                f"but it was expecting {len(state)} weights."
            )
        self.load_state_dict({name: tt.asarray(a) for name, a in zip(state, weights, strict=True)})

    def save_weights(self, filepath, overwrite=True):
        """Write parameters and buffers to a file of the safetensors format, which appears whole or not at all.

        Parameters
        ----------
        filepath : str or path
            The file.
        overwrite : bool
            May it take the place of one that is there?

        Returns
        -------
        None

        Examples
        --------
        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "model.safetensors")
        >>> tt.Model(tt.nn.Linear(2, 1)).save_weights(path)
        >>> sorted(tt.safetensors.load_file(path))
        ['bias', 'weight']
        """
        if not overwrite and os.path.exists(filepath):
            raise FileExistsError(f"The file is there already: {os.fspath(filepath)}. Pass overwrite=True.")
        tt.safetensors.save_file({name: a.detach() for name, a in self._kept().state_dict().items()}, filepath)

    def load_weights(self, filepath):
        """Read what save_weights wrote.

        Parameters
        ----------
        filepath : str or path
            The file.

        Returns
        -------
        None

        Examples
        --------
        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "model.safetensors")
        >>> a, b = (tt.Model(tt.nn.Linear(2, 1)) for _ in range(2))
        >>> a.save_weights(path)
        >>> b.load_weights(path)
        >>> bool((a.get_weights()[0] == b.get_weights()[0]).all())
        True
        """
        self._kept().load_state_dict(tt.safetensors.load_file(filepath))

    def _kept(self):
        """The module whose names files have."""
        return self

    # ---- steps

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
        """The loss of a batch; a subclass may have its own.

        Parameters
        ----------
        x, y, y_pred, sample_weight : ndarray, or a structure of them
            The batch, and what the model says.
        training : bool
            Is it a step of training?

        Returns
        -------
        ndarray
            One number.

        Examples
        --------
        >>> model = tt.Model(tt.nn.Linear(2, 1))
        >>> model.compile("sgd", "mse")
        >>> model.compute_loss(y=tt.array([[1.0]]), y_pred=tt.array([[3.0]])).item()
        4.0
        """
        if self._losses is None:
            raise ValueError("No loss to compute. Provide a `loss` argument in `compile()`.")
        return self._losses(y, y_pred, sample_weight)

    def _count(self, loss, batch, y_pred, size):
        """Metrics take in a batch; nothing is looked at."""
        _, y, sample_weight = batch
        self._loss_mean.add(loss, size)
        if self._metrics_given.given != (None, None):
            with _WITHOUT_GRADIENTS:
                self._metrics_given.update(y, y_pred, sample_weight)

    def train_step(self, data):
        """One step of training; a subclass may have its own and give a dict of what it logs.

        Parameters
        ----------
        data : tuple
            x, y and the weights of samples.

        Returns
        -------
        dict or None
            What is logged; None: the loss and the metrics.

        Examples
        --------
        >>> model = tt.Model(tt.nn.Linear(2, 1))
        >>> model.compile("sgd", "mse")
        >>> model.train_step((tt.ones((4, 2), dtype="float32"), tt.ones((4, 1)), None))
        """
        x, y, sample_weight = data
        y_pred = self._outputs(x)
        loss = self.compute_loss(x, y, y_pred, sample_weight, training=True)
        self.optimizer.zero_grad()
        loss.backward()
        self._count(loss, data, y_pred, _size(x))
        self.optimizer.step()

    def test_step(self, data):
        """One step of an evaluation; a subclass may have its own and give a dict of what it logs.

        Parameters
        ----------
        data : tuple
            x, y and the weights of samples.

        Returns
        -------
        dict or None
            What is logged; None: the loss and the metrics.

        Examples
        --------
        >>> model = tt.Model(tt.nn.Linear(2, 1))
        >>> model.compile("sgd", "mse")
        >>> model.test_step((tt.ones((4, 2), dtype="float32"), tt.ones((4, 1)), None))
        """
        x, y, sample_weight = data
        y_pred = self._outputs(x)
        loss = self.compute_loss(x, y, y_pred, sample_weight, training=False)
        self._count(loss, data, y_pred, _size(x))
        tt.eval(*(a for metric in self.metrics for a in metric._pending()))

    def predict_step(self, data):
        """The outputs for a batch; a subclass may have its own.

        Parameters
        ----------
        data : tuple
            x, and None twice.

        Returns
        -------
        ndarray, or a structure of them
            The outputs.

        Examples
        --------
        >>> tt.Model(tt.nn.Linear(2, 1)).predict_step((tt.ones((4, 2), dtype="float32"), None, None)).shape
        (4, 1)
        """
        return self._outputs(data[0])

    def _told(self, data):
        """What steps get: x, y and the weights of samples."""
        return data

    def _floats(self):
        """The type that floats of data get: 32 bits, but those of a model that computes with 64."""
        first = next((p.dtype for p in self.parameters() if p.dtype.kind == "f"), None)
        return "float64" if first == tt.float64 else "float32"

    def _batches(self, *args, steps=None, **kwargs):
        source = _data.batches(*args, **kwargs, floats=self._floats())
        if isinstance(source, _data.Arrays):
            self._seen = _tree.mapped(lambda a: (a.shape[1:], a.dtype), source.parts[0])
        return _data.Epochs(source, steps)

    # ---- loops

    def fit(
        self,
        x=None,
        y=None,
        batch_size=None,
        epochs=1,
        verbose="auto",
        callbacks=None,
        validation_split=0.0,
        validation_data=None,
        shuffle=True,
        class_weight=None,
        sample_weight=None,
        initial_epoch=0,
        steps_per_epoch=None,
        validation_steps=None,
        validation_batch_size=None,
        validation_freq=1,
    ):
        """Train the model for some epochs.

        Parameters
        ----------
        x : array_like, structure of them, or iterable
            The inputs; or batches (x, y) or (x, y, sample_weight): a loader, a data set, a generator.
        y : array_like, or a structure of them
            What is true.
        batch_size : int, optional
            How many samples a step takes; None: 32.
        epochs : int
            The number of the last epoch.
        verbose : {"auto", 0, 1, 2}
            Nothing, a bar, a line for each epoch; "auto" is a bar on a terminal, else a line.
        callbacks : list of Callback, optional
            What is called in between.
        validation_split : float
            The share of the samples, at the end, that are not trained with but evaluated after each epoch.
        validation_data : tuple or iterable, optional
            What is evaluated after each epoch: (x, y), (x, y, sample_weight), or batches.
        shuffle : bool or "batch"
            Are the samples drawn in another order for each epoch, by tt.random's state? "batch": whole batches.
        class_weight : dict, optional
            Weights of samples by their class.
        sample_weight : array_like, optional
            A weight for each sample.
        initial_epoch : int
            The number of the first epoch.
        steps_per_epoch : int, optional
            How many batches make an epoch; None: all of them.
        validation_steps : int, optional
            The same for the validation.
        validation_batch_size : int, optional
            The batch size of the validation; None: batch_size.
        validation_freq : int or list of int
            After how many epochs there is a validation, or after which.

        Returns
        -------
        History
            The results of the epochs, in `history` by name.

        Examples
        --------
        >>> tt.random.seed(0)
        >>> x = tt.linspace(-1, 1, 64).reshape(-1, 1)
        >>> model = tt.Model(tt.nn.Linear(1, 1))
        >>> model.compile(tt.optim.SGD(model.parameters(), lr=0.5), loss="mse")
        >>> history = model.fit(x, 2 * x + 1, epochs=20, verbose=0)
        >>> history.history["loss"][-1] < 1e-3
        True
        """
        self._assert_compiled("fit")
        if validation_split and validation_data is None:
            (x, y, sample_weight), validation_data = _data.split(x, y, sample_weight, validation_split)
        epoch_batches = self._batches(
            x, y, sample_weight, batch_size, shuffle=shuffle, class_weight=class_weight, steps=steps_per_epoch
        )
        validation = None
        if validation_data is not None:
            parts = _validation_parts(validation_data)
            validation = self._batches(*parts, validation_batch_size or batch_size, steps=validation_steps)
        calls = self._calls(callbacks, verbose, epochs, epoch_batches.steps, add_history=True)
        self.stop_training = False
        was = self.training
        try:
            self._fit(epoch_batches, validation, calls, range(initial_epoch, epochs), validation_freq)
        finally:
            self.train(was)
            _end_lines(calls)
        return self.history

    def _calls(self, callbacks, verbose, epochs, steps, add_history=False):
        if isinstance(callbacks, CallbackList):
            return callbacks
        return CallbackList(
            callbacks,
            add_history=add_history,
            add_progbar=verbose != 0,
            model=self,
            verbose=verbose,
            epochs=epochs,
            steps=steps,
        )

    def _fit(self, epoch_batches, validation, calls, epochs, validation_freq):
        calls.on_train_begin()
        warned, logs = False, {}
        for epoch in epochs:
            self.reset_metrics()
            calls.on_epoch_begin(epoch)
            self.train(True)
            own, last = self._train_epoch(epoch_batches, calls)
            logs = _as_numbers(own if own is not None else self._results())
            first = None if warned else self._loss_mean.first_bad()
            if first is not None:
                warned = True
                _finite.warn(self, first, epoch, last)
            if validation is not None and _is_validated(epoch, validation_freq):
                found = self._evaluate(validation, calls)
                logs.update({f"val_{name}": value for name, value in found.items()})
            calls.on_epoch_end(epoch, logs)
            if self.stop_training:
                break
        calls.on_train_end(logs)

    def _train_epoch(self, epoch_batches, calls):
        """All steps of an epoch; what the last one logged if it is the user's, and its inputs."""
        begin, end, keeps = calls.on_train_batch_begin, calls.on_train_batch_end, calls.keeps_logs
        step, own, data = 0, None, (None,)
        for data in epoch_batches:
            if begin:
                begin(step, {})
            own = self.train_step(self._told(data))
            if end:
                end(step, Logs(dict(own) if own is not None else self._results() if keeps else self._results))
                if self.stop_training:
                    break
            step += 1
        return own, data[0]

    def evaluate(
        self,
        x=None,
        y=None,
        batch_size=None,
        verbose="auto",
        sample_weight=None,
        steps=None,
        callbacks=None,
        return_dict=False,
    ):
        """The loss and the metrics of the model as it is.

        Parameters
        ----------
        x, y, batch_size, verbose, sample_weight, callbacks
            As those of fit.
        steps : int, optional
            How many batches are looked at; None: all.
        return_dict : bool
            Are the numbers given by name?

        Returns
        -------
        float, list of float or dict
            The loss, or the loss and the metrics in their order.

        Examples
        --------
        >>> model = tt.Model(tt.nn.Identity())
        >>> model.compile(lambda parameters: None, "mse", metrics=["mae"])
        >>> model.evaluate(tt.ones((4, 1)), tt.zeros((4, 1)), verbose=0)
        [1.0, 1.0]
        """
        self._assert_compiled("evaluate")
        source = self._batches(x, y, sample_weight, batch_size, steps=steps)
        calls = self._calls(callbacks, verbose, 1, source.steps)
        try:
            logs = self._evaluate(source, calls)
        finally:
            _end_lines(calls)
        return logs if return_dict else _in_order(logs)

    def _evaluate(self, source, calls):
        calls.on_test_begin()
        self.reset_metrics()
        was, own = self.training, None
        begin, end = calls.on_test_batch_begin, calls.on_test_batch_end
        self.train(False)
        try:
            with tt.no_grad():
                for step, data in enumerate(source):
                    if begin:
                        begin(step, {})
                    own = self.test_step(self._told(data))
                    if end:
                        end(step, Logs(dict(own) if own is not None else self._results))
        finally:
            self.train(was)
        logs = _as_numbers(own if own is not None else self._results())
        calls.on_test_end(logs)
        return logs

    def predict(self, x, batch_size=None, verbose="auto", steps=None, callbacks=None):
        """What the model says, batch by batch.

        Parameters
        ----------
        x, batch_size, verbose, steps, callbacks
            As those of evaluate.

        Returns
        -------
        ndarray, or a structure of them
            The outputs of all samples.

        Examples
        --------
        >>> tt.Model(tt.nn.Linear(2, 1)).predict(tt.ones((100, 2)), verbose=0).shape
        (100, 1)
        """
        source = self._batches(x, None, None, batch_size, steps=steps)
        calls = self._calls(callbacks, verbose, 1, source.steps)
        begin, end = calls.on_predict_batch_begin, calls.on_predict_batch_end
        was, found = self.training, []
        self.train(False)
        calls.on_predict_begin()
        try:
            with tt.no_grad():
                for step, data in enumerate(source):
                    if begin:
                        begin(step, {})
                    found.append(self.predict_step(self._told(data)))
                    tt.eval(*_tree.leaves(found[-1]))
                    if end:
                        end(step, {"outputs": found[-1]})
        finally:
            self.train(was)
            _end_lines(calls)
        calls.on_predict_end()
        if not found:
            raise ValueError("There is nothing to predict: no batch was given.")
        columns = zip(*map(_tree.leaves, found), strict=True)
        return _tree.packed(found[0], [tt.concatenate(column) for column in columns])

    # ---- single batches

    def train_on_batch(self, x, y=None, sample_weight=None, class_weight=None, return_dict=False):
        """One step of training with one batch.

        Parameters
        ----------
        x, y, sample_weight, class_weight, return_dict
            As those of fit and evaluate.

        Returns
        -------
        float, list of float or dict
            The loss, or the loss and the metrics.

        Examples
        --------
        >>> model = tt.Model(tt.nn.Linear(2, 1))
        >>> model.compile("sgd", "mse")
        >>> loss = model.train_on_batch(tt.ones((4, 2)), tt.ones((4, 1)))
        """
        self._assert_compiled("train_on_batch")
        data = self._one_batch(x, y, sample_weight, class_weight)
        self.reset_metrics()
        was = self.training
        self.train(True)
        try:
            return self._numbers(self.train_step(self._told(data)), return_dict)
        finally:
            self.train(was)

    def test_on_batch(self, x, y=None, sample_weight=None, return_dict=False):
        """The loss and the metrics of one batch.

        Parameters
        ----------
        x, y, sample_weight, return_dict
            As those of evaluate.

        Returns
        -------
        float, list of float or dict
            The loss, or the loss and the metrics.

        Examples
        --------
        >>> model = tt.Model(tt.nn.Identity())
        >>> model.compile(lambda parameters: None, "mse")
        >>> model.test_on_batch(tt.ones((4, 1)), tt.zeros((4, 1)))
        1.0
        """
        self._assert_compiled("test_on_batch")
        data = self._one_batch(x, y, sample_weight, None)
        self.reset_metrics()
        was = self.training
        self.train(False)
        try:
            with tt.no_grad():
                return self._numbers(self.test_step(self._told(data)), return_dict)
        finally:
            self.train(was)

    def predict_on_batch(self, x):
        """What the model says to one batch.

        Parameters
        ----------
        x : array_like, or a structure of them
            The inputs.

        Returns
        -------
        ndarray, or a structure of them
            The outputs.

        Examples
        --------
        >>> tt.Model(tt.nn.Linear(2, 1)).predict_on_batch(tt.ones((4, 2))).shape
        (4, 1)
        """
        was = self.training
        self.train(False)
        try:
            with tt.no_grad():
                return self.predict_step(self._told((_data.as_arrays(x, self._floats()), None, None)))
        finally:
            self.train(was)

    def _one_batch(self, x, y, sample_weight, class_weight):
        if class_weight is not None and sample_weight is not None:
            raise ValueError(
                "Arguments `sample_weight` and `class_weight` cannot be specified at the same time. "
                f"Received: sample_weight={sample_weight}, class_weight={class_weight}"
            )
        source = _data.Arrays(x, y, sample_weight, None, False, class_weight, self._floats())
        return source.parts

    def _numbers(self, own, return_dict):
        logs = _as_numbers(own if own is not None else self._results())
        return logs if return_dict else _in_order(logs)


def _zeros(seen):
    """One sample of zeros of shapes and types; a shape and a type are a leaf here."""
    if isinstance(seen, dict):
        return {name: _zeros(part) for name, part in seen.items()}
    if isinstance(seen, tuple) and isinstance(seen[1], tt.dtype):
        return tt.zeros((1, *seen[0]), dtype=seen[1])
    return [_zeros(part) for part in seen]


def _size(x):
    """How many samples a batch has."""
    return len(x) if isinstance(x, tt.ndarray) else len(_tree.leaves(x)[0])


def _in_order(logs):
    values = list(logs.values())
    return values[0] if len(values) == 1 else values


def _validation_parts(data):
    return _data.unpacked(data) if isinstance(data, (tuple, list)) else (data, None, None)


def _is_validated(epoch, freq):
    return (epoch + 1) % freq == 0 if isinstance(freq, int) else epoch + 1 in freq


def _end_lines(calls):
    """A bar that an exception left in the middle of its line ends it."""
    for callback in calls.callbacks:
        end = getattr(callback, "end_line", None)
        if end is not None:
            end()
