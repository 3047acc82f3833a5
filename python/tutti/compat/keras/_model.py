"""Models: graphs of layers, chains of layers, and classes with a call() of their own."""

import functools
import warnings

import tutti as _tt
from tutti.training._trainer import Trainer
from tutti.training._trainer import _size as _batch_size

from . import _state, optimizers, utils
from ._configured import CustomObjectScope, deserialize_keras_object, serialize_keras_object, serialize_part
from ._graph import FunctionOperation, KerasTensor, get_mask, infer, map_graph, run_graph
from ._layer import Layer
from ._summary import print_summary
from ._tree import flatten, map_structure, pack
from ._variable import tensor


class Model(Trainer, Layer):
    """A graph of layers between inputs and outputs, or a class that has a call(); fit() trains it."""

    supports_masking = True
    _inputs_struct = _idle = _regularized = None
    _OWN = Layer._OWN | {
        "_chain", "_compile_config", "_graph_inputs", "_graph_outputs", "_inputs_struct", "_loss_mean", "_losses",
        "_metrics_given", "_nodes", "_operations", "_outputs_struct", "_regularized", "history", "input_names",
        "optimizer", "output_names",
    }  # fmt: skip

    def __init__(self, *args, **kwargs):
        inputs, outputs, rest = _graph_arguments(args, kwargs)
        Layer.__init__(self, **rest)
        self._compile_config = None
        if inputs is not None:
            self._connect(inputs, outputs)

    # ---- graphs

    def _connect(self, inputs, outputs):
        self._inputs_struct, self._outputs_struct = inputs, outputs
        self._graph_inputs, self._graph_outputs = flatten(inputs), flatten(outputs)
        self._nodes, self._operations = map_graph(self._graph_inputs, self._graph_outputs)
        self._parts = [op for op in self._operations if isinstance(op, Layer)]
        self.input_names = [x._keras_history[0].name for x in self._graph_inputs]
        self.output_names = (
            sorted(outputs) if isinstance(outputs, dict) else [x._keras_history[0].name for x in self._graph_outputs]
        )
        self.built = True

    @property
    def _is_functional(self):
        return self._inputs_struct is not None

    @property
    def inputs(self):
        """The KerasTensors that data take the place of."""
        return self._graph_inputs if self._is_functional else None

    @property
    def outputs(self):
        """The KerasTensors of the outputs."""
        return self._graph_outputs if self._is_functional else None

    @property
    def input(self):
        """The input, or all."""
        return self._inputs_struct if self._is_functional else super().input

    @property
    def output(self):
        """The output, or all."""
        return self._outputs_struct if self._is_functional else super().output

    @property
    def input_shape(self):
        """The shape of the input, or of all."""
        return map_structure(lambda x: x.shape, self._inputs_struct)

    @property
    def output_shape(self):
        """The shape of the output, or of all."""
        return map_structure(lambda x: x.shape, self._outputs_struct)

    def _arranged(self, inputs):
        """The values of the inputs in the graph's order, each with the rank and the type that it asks for."""
        struct = self._inputs_struct
        if isinstance(inputs, dict) and not isinstance(struct, dict):
            missing = [name for name in self.input_names if name not in inputs]
            if missing:
                raise ValueError(
                    f'Missing data for input "{missing[0]}". You passed a data dictionary with keys '
                    f"{list(inputs)}. Expected the following keys: {self.input_names}"
                )
            values = [inputs[name] for name in self.input_names]
        elif isinstance(struct, dict) and isinstance(inputs, dict):
            values = [inputs[name] for name in sorted(struct)]
        else:
            values = flatten(inputs)
        if len(values) != len(self._graph_inputs):
            raise ValueError(
                f'Layer "{self.name}" expects {len(self._graph_inputs)} input(s), but it received {len(values)} input '
                f"tensors. Inputs received: {inputs}"
            )
        return [self._adapted(x, spec) for x, spec in zip(values, self._graph_inputs)]

    def _adapted(self, x, spec):
        if x is None:
            return x
        if not isinstance(x, KerasTensor):
            x = tensor(x, spec.dtype)
        rank = len(spec.shape)
        if len(x.shape) == rank + 1 and x.shape[-1] == 1:
            x = x[..., 0]
        elif len(x.shape) == rank - 1 and spec.shape[-1] == 1:
            x = x[..., None]
        wrong = len(x.shape) != rank or any(
            a is not None and b is not None and a != b for a, b in zip(spec.shape, x.shape)
        )
        if wrong:
            name = spec._keras_history[0].name
            raise ValueError(
                f"Input with name '{name}' of layer '{self.name}' is incompatible with the layer: expected "
                f"shape={spec.shape}, found shape={tuple(x.shape)}"
            )
        return x

    def call(self, inputs, training=None, mask=None):
        """The outputs of the graph; a subclass has its own."""
        if not self._is_functional:
            raise NotImplementedError(f"Model {type(self).__name__} does not have a `call()` method implemented.")

        def call(operation, args, kwargs):
            return operation(*args, **kwargs)

        known = run_graph(self._nodes, self._graph_inputs, self._arranged(inputs), call)
        made = [known[id(x)] for x in self._graph_outputs]
        return pack(self._outputs_struct, made)

    def compute_mask(self, inputs, mask=None):
        """Outputs have the masks that their layers gave them."""
        return None

    def _has_own_build(self):
        return not self._is_functional and super()._has_own_build()

    def build(self, input_shape=None):
        """Make the weights of a class for inputs of a shape."""
        if (
            not self._is_functional
            and self._sublayers()
            and type(self).build is Model.build
            and input_shape is not None
        ):
            stand_ins = _shapes_as_tensors(input_shape)
            infer(self.call, (stand_ins,), {})
        self.built = True

    # ---- layers

    @property
    def layers(self):
        """The layers right below."""
        return self._sublayers()

    def _listed_operations(self):
        return self._operations if self._is_functional else self.layers

    def get_layer(self, name=None, index=None):
        """A layer by its name or its place."""
        if index is not None and name is not None:
            raise ValueError(f"Provide only a layer name or a layer index. Received: index={index}, name={name}.")
        if index is not None:
            if len(self.layers) <= index:
                raise ValueError(
                    f"Was asked to retrieve layer at index {index} but model only has {len(self.layers)} layers."
                )
            return self.layers[index]
        for layer in self.layers:
            if layer.name == name:
                return layer
        raise ValueError(f"No such layer: {name}. Existing layers are: {[layer.name for layer in self.layers]}.")

    def summary(
        self, line_length=None, positions=None, print_fn=None, expand_nested=False, show_trainable=False,
        layer_range=None,
    ):  # fmt: skip
        """Print the layers, their outputs and parameters."""
        if not self.built:
            self._build_of_told_inputs()
        print_summary(self, line_length, positions, print_fn, expand_nested, show_trainable)

    def _build_of_told_inputs(self):
        """Chains may know the shape of their inputs."""

    # ---- training

    def compile(self, optimizer="rmsprop", loss=None, *args, **kwargs):
        """Say what the model is trained with."""
        from . import losses

        optimizer = optimizers.get(optimizer)
        scaled = isinstance(optimizer, optimizers.LossScaleOptimizer)
        if kwargs.pop("auto_scale_loss", True) and self.dtype_policy.name == "mixed_float16" and not scaled:
            optimizer = optimizers.LossScaleOptimizer(optimizer, name="loss_scale_optimizer")
        optimizer._follow(lambda: self.trainable_weights)
        made = map_structure(losses.wrapped, loss)
        super().compile(optimizer, made, *args, **kwargs)
        if loss is None:
            self._losses = None
        self._idle = self._regularized = None
        self._compile_config = {"optimizer": optimizer, "loss": loss, **kwargs}

    @property
    def metrics(self):
        """The metrics of compile() and those that are attributes."""
        compiled = Trainer.metrics.fget(self)
        return compiled + [m for m in Layer.metrics.fget(self) if not any(m is c for c in compiled)]

    def _results(self):
        """What is logged: of metrics that are attributes, too."""
        made, compiled = Trainer._results(self), Trainer.metrics.fget(self)
        for m in Layer.metrics.fget(self):
            if not any(m is c for c in compiled):
                made.setdefault(m.name, m.result())
        return made

    def fit(self, *args, **kwargs):
        """Train; an optimiser that averages weights gives the model their averages in the end."""
        history = super().fit(*args, **kwargs)
        self.optimizer.finalize_variable_values(self.trainable_weights)
        return history

    def _outputs(self, x):
        return self(x)

    def train_step(self, data):
        """One step of training; where nothing can be trained, the loss is all there is."""
        if self._idle is None and self.built:
            self._idle = not self.trainable_weights
        if self._idle:
            return self.test_step(data)
        data = utils.unpack_x_y_sample_weight(data)
        if isinstance(self.optimizer, optimizers.LossScaleOptimizer):
            return self._scaled_step(data)
        return super().train_step(data)

    def test_step(self, data):
        """One step of an evaluation."""
        return super().test_step(utils.unpack_x_y_sample_weight(data))

    def predict_step(self, data):
        """The outputs for a batch."""
        return super().predict_step(utils.unpack_x_y_sample_weight(data))

    def _told(self, data):
        """What steps get: no more than there is of x, y and the weights of samples."""
        return utils.pack_x_y_sample_weight(*data)

    def compute_metrics(self, x, y, y_pred, sample_weight=None):
        """The results of all metrics, after the given ones have counted a batch."""
        if self._metrics_given is not None:
            with _tt.no_grad():
                self._metrics_given.update(y, y_pred, sample_weight)
        return self.get_metrics_result()

    def get_metrics_result(self):
        """The results of all metrics by their names."""
        return {metric.name: metric.result() for metric in self.metrics}

    def _scaled_step(self, data):
        x, y, sample_weight = data
        y_pred = self._outputs(x)
        loss = self.compute_loss(x, y, y_pred, sample_weight, training=True)
        self.optimizer.zero_grad()
        self.optimizer.scale_loss(loss).backward()
        self._count(loss, data, y_pred, _batch_size(x))
        self.optimizer.step()

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
        """The loss of compile(), and what layers and regularisers add."""
        y_pred = map_structure(_in_full, y_pred)
        given = self._metrics_given
        if given is not None and given.parts is None and given.given != (None, None):
            given.build(y, y_pred)  # so that steps of users find them from the first one on
        total = None if self._losses is None else self._losses(y, y_pred, sample_weight)
        if self._regularized is None and self.built:
            self._regularized = [v for v in self.trainable_weights if v.regularizer is not None]
        for more in [*self._all_added(), *(v.regularizer(v) for v in self._regularized or ())]:
            total = more if total is None else total + more
        if total is None:
            raise ValueError("No loss to compute. Provide a `loss` argument in `compile()`.")
        return total

    def _floats(self):
        return self.compute_dtype

    def named_parameters(self):
        """The weights with their paths."""
        return [(v.path, v) for v in self.trainable_weights]

    def predict(self, x, batch_size=None, verbose="auto", steps=None, callbacks=None):
        """What the model says, batch by batch, as NumPy's arrays."""
        return map_structure(lambda a: a.numpy(), super().predict(x, batch_size, verbose, steps, callbacks))

    def predict_on_batch(self, x):
        """What the model says to one batch, as NumPy's arrays."""
        return map_structure(lambda a: a.numpy(), super().predict_on_batch(x))

    get_weights, set_weights = Layer.get_weights, Layer.set_weights

    # ---- files

    def save_weights(self, filepath, overwrite=True, **unused):
        """Write the weights by name."""
        from . import saving

        saving.save_weights(self, filepath, overwrite)

    def load_weights(self, filepath, skip_mismatch=False, **unused):
        """Read the weights by name."""
        from . import saving

        saving.load_weights(self, filepath, skip_mismatch)

    def save(self, filepath, overwrite=True, **unused):
        """Write what the model is made of, its weights and what it was compiled with."""
        from . import saving

        saving.save_model(self, filepath)

    # ---- configurations

    def get_config(self):
        """The layers and how they are called."""
        if not self._is_functional or type(self) is not Model:
            return Layer.get_config(self)
        layers = [_layer_config(op, self._nodes) for op in self._operations]
        return {
            "name": self.name,
            "trainable": self.trainable,
            "layers": layers,
            "input_layers": map_structure(_history, self._inputs_struct),
            "output_layers": map_structure(_history, self._outputs_struct),
        }

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """A model of the same layers."""
        if "input_layers" not in config:
            return super().from_config(config)
        with CustomObjectScope(custom_objects or {}):
            return _graph_of(cls, config)

    def to_json(self, **kwargs):
        """The configuration as text."""
        import json

        return json.dumps(serialize_keras_object(self), default=list, **kwargs)


def _in_full(x):
    """Losses of 16-bit floats are computed in 32."""
    return x.astype("float32") if str(getattr(x, "dtype", "")) in ("float16", "bfloat16") else x


def _graph_arguments(args, kwargs):
    """inputs, outputs, and the other arguments of a constructor."""
    rest = dict(kwargs)
    if len(args) >= 2 or ("inputs" in rest and "outputs" in rest) or (len(args) == 1 and "outputs" in rest):
        names = ("inputs", "outputs", "name")
        rest.update(zip(names, args))
        return rest.pop("inputs"), rest.pop("outputs"), rest
    if args:
        raise TypeError(f"Model takes inputs and outputs, or names of arguments. Received: {args}")
    return None, None, rest


def _shapes_as_tensors(shape):
    if isinstance(shape, dict):
        return {key: _shapes_as_tensors(part) for key, part in shape.items()}
    if shape and isinstance(shape[0], (list, tuple, dict)):
        return [_shapes_as_tensors(part) for part in shape]
    return KerasTensor(tuple(shape))


# ---- graphs as text


def _history(x):
    operation, index, place = x._keras_history
    return [operation.name, index, place]


def _argument(x):
    if not isinstance(x, KerasTensor):
        return serialize_part(x)
    told = {"shape": list(x.shape), "dtype": str(x.dtype), "keras_history": _history(x)}
    return {"class_name": "__keras_tensor__", "config": told}


# Functions of elements alone, which Keras keeps as objects of classes without arguments; calls of others are written in
# a form of our own.
_OF_ELEMENTS = set(
    """
absolute add cos divide equal exp expm1 floor greater greater_equal less less_equal log log1p logical_and logical_not
logical_or maximum minimum mod multiply negative not_equal power reciprocal sign sin sqrt square subtract tan tanh
true_divide
""".split()
)


def _layer_config(operation, nodes):
    own = [n for n in nodes if n.operation is operation and not n.is_input]
    calls = [
        {"args": map_structure(_argument, list(n.args)), "kwargs": map_structure(_argument, n.kwargs)} for n in own
    ]
    if isinstance(operation, FunctionOperation):
        made = {"class_name": "ops", "config": operation.fn.__name__}
        if operation.fn.__name__ in _OF_ELEMENTS and not any(c["kwargs"] for c in calls):
            name = "".join(word.title() for word in operation.fn.__name__.split("_"))
            told = {"name": operation.name}
            made = {"module": "keras.src.ops.numpy", "class_name": name, "config": told, "registered_name": None}
    else:
        made = serialize_keras_object(operation)
    return {**made, "name": operation.name, "inbound_nodes": calls}


def _history_in(x):
    """[operation, call, output] of what stands for a tensor in a configuration, or None."""
    if isinstance(x, dict) and x.get("class_name") == "__keras_tensor__":
        x = x["config"]
    return x["keras_history"] if isinstance(x, dict) and "keras_history" in x else None


def _ends(x):
    """Inputs or outputs of a configuration, of which Keras writes the histories alone."""
    if isinstance(x, (list, tuple)) and len(x) == 3 and isinstance(x[0], str):
        return {"keras_history": list(x)}
    if isinstance(x, dict) and _history_in(x) is None:
        return {key: _ends(part) for key, part in x.items()}
    return [_ends(part) for part in x] if isinstance(x, (list, tuple)) else x


def _operation_of(own):
    """A layer, or a function of keras.ops, of its configuration."""
    from . import ops

    if own["class_name"] == "ops":
        return getattr(ops, own["config"])
    if str(own.get("module")).startswith("keras.src.ops"):
        given = {key: value for key, value in own["config"].items() if key not in ("name", "dtype")}
        return functools.partial(getattr(ops, _state.snake_case(own["class_name"])), **given)
    return deserialize_keras_object(own)


def _called(operation, args, kwargs):
    """The outputs of a call; masks that tensors carry are not told twice."""
    if kwargs.get("mask") is not None and any(get_mask(x) is not None for x in flatten(args)):
        kwargs = {key: value for key, value in kwargs.items() if key != "mask"}
    return flatten(operation(*args, **kwargs))


def _graph_of(cls, config):
    """The model of a configuration: each call is made as soon as its inputs are there."""
    made, calls = {}, []
    for own in config["layers"]:
        made[own["name"]] = _operation_of(own)
        calls += [(own["name"], call) for call in own["inbound_nodes"]]
    outputs = {(name, 0): [layer.output] for name, layer in made.items() if type(layer).__name__ == "InputLayer"}

    def found(x):
        history = _history_in(x)
        if isinstance(x, dict) and history is None:
            return {key: found(part) for key, part in x.items()}
        if isinstance(x, (list, tuple)):
            return type(x)(found(part) for part in x)
        return x if history is None else outputs[tuple(history[:2])][history[2]]

    counts = {}
    while calls:
        left = []
        for name, call in calls:
            try:
                args, kwargs = found(call["args"]), found(call["kwargs"])
            except KeyError:
                left.append((name, call))
                continue
            outputs[(name, counts.get(name, 0))] = _called(made[name], args, kwargs)
            counts[name] = counts.get(name, 0) + 1
        if len(left) == len(calls):
            raise ValueError(f"The configuration calls layers on outputs that nothing makes: {[n for n, _ in left]}")
        calls = left
    ends = (found(_ends(config[what])) for what in ("input_layers", "output_layers"))
    return cls(*ends, name=config["name"])


Functional = Model


class Sequential(Model):
    """A chain of layers."""

    def __init__(self, layers=None, trainable=True, name=None):
        Model.__init__(self, trainable=trainable, name=name)
        self._chain = []
        for layer in layers or ():
            self.add(layer, rebuild=False)
        self._maybe_rebuild()

    def add(self, layer, rebuild=True):
        """Another layer at the end."""
        if hasattr(layer, "_keras_history"):
            origin = layer._keras_history[0]
            layer = origin if type(origin).__name__ == "InputLayer" else layer
        if not isinstance(layer, Layer):
            raise ValueError(
                "Only instances of `keras.Layer` can be added to a Sequential model. "
                f"Received: {layer} (of type {type(layer)})"
            )
        if any(layer.name == other.name for other in self._chain):
            raise ValueError(
                "All layers added to a Sequential model should have unique names. "
                f"Name '{layer.name}' is already the name of a layer in this model. Update the `name` argument to pass "
                "a unique name."
            )
        if type(layer).__name__ == "InputLayer" and self._chain:
            if type(self._chain[0]).__name__ == "InputLayer":
                raise ValueError(
                    f"Sequential model '{self.name}' has already been configured to use input shape "
                    f"{self._chain[0].batch_shape}. You cannot add a different Input layer to it."
                )
            self._chain.insert(0, layer)
        else:
            told = layer._inputs_told
            if not self._chain and told is not None:
                from .layers import InputLayer

                self._chain.append(InputLayer(shape=told))
            self._chain.append(layer)
        self._forget_graph()
        if rebuild:
            self._maybe_rebuild()

    def pop(self, rebuild=True):
        """Take the last layer away."""
        layer = self._chain.pop()
        layer._inbound_nodes.clear()
        self._forget_graph()
        if rebuild:
            self._maybe_rebuild()
        return layer

    def _forget_graph(self):
        self._inputs_struct, self.built = None, False
        self._parts = list(self._chain)

    def _maybe_rebuild(self):
        if len(self._chain) > 1 and type(self._chain[0]).__name__ == "InputLayer":
            self._connect_chain(self._chain[0].output)

    def _connect_chain(self, inputs):
        x = inputs
        for layer in self._chain:
            if type(layer).__name__ != "InputLayer":
                x = layer(x)
        self._connect(inputs, x)

    def build(self, input_shape=None):
        """Make the weights for inputs of a shape."""
        if self._is_functional or not self._chain:
            return
        if input_shape is None:
            raise ValueError("You must provide an `input_shape` argument.")
        from .layers import Input

        with _state.settings(path=""):
            try:
                self._connect_chain(Input(batch_shape=tuple(input_shape)))
            except (TypeError, ValueError, NotImplementedError) as error:
                warnings.warn(f"The chain is no graph for inputs of shape {input_shape}: {error}", stacklevel=2)
                raise

    def _has_own_build(self):
        return not self._is_functional

    def _maybe_build(self, call):
        if not self._is_functional and self._chain:
            x = call.first
            shape = (None, *x.shape[1:]) if isinstance(x, _tt.ndarray) else x.shape
            from .layers import Input

            dtype = str(x.dtype)
            self._connect_chain(Input(batch_shape=tuple(shape), dtype=dtype))

    def call(self, inputs, training=None, mask=None):
        """One layer after the other."""
        if self._is_functional:
            return Model.call(self, inputs)
        return inputs

    @property
    def layers(self):
        """The layers, without the input."""
        return [layer for layer in self._chain if type(layer).__name__ != "InputLayer"]

    def _listed_operations(self):
        return self.layers

    def get_config(self):
        """The layers."""
        return {
            "name": self.name,
            "trainable": self.trainable,
            "layers": [serialize_keras_object(layer) for layer in self._chain],
        }

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """A chain of the same layers."""
        with CustomObjectScope(custom_objects or {}):
            return cls([deserialize_keras_object(own) for own in config["layers"]], name=config.get("name"))


def clone_model(model, input_tensors=None, clone_function=None):
    """A model of the same layers with weights of its own."""
    return type(model).from_config(model.get_config())
