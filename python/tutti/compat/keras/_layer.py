"""Layers: what has weights, is built when shapes are known, and is called on arrays or on KerasTensors."""

import functools
import inspect
import warnings
import weakref

import tutti as _tt
from tutti.nn._calls import Handle

from . import _state, dtype_policies
from ._configured import Configured
from ._graph import KerasTensor, Node, Operation, any_symbolic, get_mask, infer, with_mask
from ._tree import flatten, map_structure
from ._variable import Variable, tensor


class InputSpec:
    """What a layer asks of an input's shape."""

    def __init__(
        self, dtype=None, shape=None, ndim=None, max_ndim=None, min_ndim=None, axes=None, allow_last_axis_squeeze=False,
        name=None, optional=False,
    ):  # fmt: skip
        self.dtype, self.shape, self.max_ndim, self.min_ndim = dtype, shape, max_ndim, min_ndim
        self.ndim = len(shape) if shape is not None else ndim
        self.axes = {int(k): v for k, v in (axes or {}).items()}
        self.allow_last_axis_squeeze, self.name, self.optional = allow_last_axis_squeeze, name, optional

    def wrong(self, shape):
        """What is wrong with a shape, in words, or None."""
        n = len(shape)
        if self.ndim is not None and not self.allow_last_axis_squeeze and n != self.ndim:
            return f"expected ndim={self.ndim}, found ndim={n}. Full shape received: {shape}"
        if self.max_ndim is not None and n > self.max_ndim:
            return f"expected max_ndim={self.max_ndim}, found ndim={n}"
        if self.min_ndim is not None and n < self.min_ndim:
            return f"expected min_ndim={self.min_ndim}, found ndim={n}. Full shape received: {shape}"
        for axis, value in self.axes.items():
            if value is not None and shape[axis] not in (value, None):
                return (
                    f"expected axis {axis} of input shape to have value {value}, but received input with shape {shape}"
                )
        return self._wrong_lengths(shape)

    def _wrong_lengths(self, shape):
        if self.shape is None:
            return None
        own = self.shape
        if self.allow_last_axis_squeeze:
            own, shape = (s[:-1] if s and s[-1] == 1 else s for s in (own, shape))
        if any(a is not None and b is not None and a != b for a, b in zip(own, shape)):
            return f"expected shape={self.shape}, found shape={shape}"
        return None


def assert_input_compatibility(spec, inputs, layer_name):
    """Inputs have the shapes that a layer asks for."""
    if not spec:
        return
    specs, inputs = flatten(spec), flatten(inputs)
    if len(specs) != len(inputs):
        raise ValueError(
            f'Layer "{layer_name}" expects {len(specs)} input(s), but it received {len(inputs)} input tensors. '
            f"Inputs received: {inputs}"
        )
    for k, (x, own) in enumerate(zip(inputs, specs)):
        if own is None or (x is None and own.optional):
            continue
        if not hasattr(x, "shape"):
            raise ValueError(
                f"Inputs to a layer should be tensors. Got '{x}' (of type {type(x)}) as input for layer '{layer_name}'."
            )
        wrong = own.wrong(tuple(x.shape))
        if wrong:
            raise ValueError(
                f"Input {k} with name '{own.name}' of layer '{layer_name}' is incompatible with the layer: {wrong}"
            )


@functools.cache
def _signature(function):
    return inspect.signature(function)


def _is_tensor(x):
    return isinstance(x, (_tt.ndarray, KerasTensor))


_with_losses = weakref.WeakSet()  # layers to which calls added losses


class _Call:
    """The arguments of a call by their names, and which of them are arrays."""

    def __init__(self, layer, args, kwargs):
        signature = _signature(type(layer).call)
        self.names = list(signature.parameters)[1:]
        bound = signature.bind(layer, *args, **kwargs)
        bound.apply_defaults()
        self.arguments = dict(list(bound.arguments.items())[1:])
        self.tensors = {}
        for name, value in self.arguments.items():
            leaves = flatten(value) if isinstance(value, (list, tuple, dict)) else [value]
            if any(_is_tensor(x) for x in leaves) and all(x is None or _is_tensor(x) for x in leaves):
                self.tensors[name] = value
        self.first = next(iter(self.arguments.values()), None)


class Layer(Configured, Operation):
    """What has weights and makes outputs of inputs: subclasses have call(), and build() for their shapes."""

    supports_masking = False
    activity_regularizer = None
    _forward_hooks = None
    _OWN = frozenset(["_forward_hooks", "_inbound_nodes", "_own", "_parts"])  # attributes that are no members

    def __init__(self, *, activity_regularizer=None, trainable=True, dtype=None, autocast=True, name=None, **kwargs):
        from . import regularizers

        for attribute, value in (("_own", []), ("_parts", []), ("_added_losses", []), ("_path", None)):
            object.__setattr__(self, attribute, value)
        Operation.__init__(self, name)
        self._inputs_told = kwargs.pop("input_shape", None)
        if "input_dim" in kwargs:
            self._inputs_told = (kwargs.pop("input_dim"),)
        if kwargs:
            raise ValueError(f"Unrecognized keyword arguments passed to {type(self).__name__}: {kwargs}")
        self.dtype_policy = dtype
        self.built, self.autocast, self.input_spec, self.training = False, autocast, None, False
        self._trainable = trainable
        self.activity_regularizer = regularizers.get(activity_regularizer)

    # ---- members

    def __setattr__(self, name, value):
        if "_parts" not in self.__dict__:
            raise RuntimeError(
                f"In layer {type(self).__name__}, you forgot to call `super().__init__()` as the first statement in "
                "the `__init__()` method. Go add it!"
            )
        if isinstance(value, Variable):
            if not any(value is v for v in self._own):
                self._own.append(value)
        elif name not in self._OWN and (
            isinstance(value, (Layer, list, tuple, dict)) or hasattr(value, "update_state")
        ):
            before = self.__dict__.get(name)
            if any(before is part for part in self._parts):
                self._parts = [part for part in self._parts if part is not before]
            if not any(value is part for part in self._parts):
                self._parts.append(value)
        object.__setattr__(self, name, value)

    def _sublayers(self):
        """The layers right below, in the order in which they became attributes."""
        found = []
        for part in self._parts:
            for x in flatten(part) if isinstance(part, (list, tuple, dict)) else [part]:
                if isinstance(x, Layer) and not any(x is f for f in found):
                    found.append(x)
        return found

    def _flatten_layers(self, include_self=True, recursive=True):
        seen = [self] if include_self else []
        stack = self._sublayers()
        while stack:
            layer = stack.pop(0)
            if not any(layer is s for s in seen):
                seen.append(layer)
                stack = (layer._sublayers() if recursive else []) + stack
        return seen

    @property
    def weights(self):
        """All variables: the layer's own, those that are trained first, then those of layers below."""
        found = [v for v in self._own if v._trainable] + [v for v in self._own if not v._trainable]
        for layer in self._sublayers():
            found += layer.weights
        return list({id(v): v for v in found}.values())

    variables = weights

    @property
    def trainable_weights(self):
        """The variables that are trained."""
        return [v for v in self.weights if v.trainable]

    trainable_variables = trainable_weights

    @property
    def non_trainable_weights(self):
        """The variables that are not."""
        return [v for v in self.weights if not v.trainable]

    non_trainable_variables = non_trainable_weights

    def parameters(self):
        """The variables that are trained."""
        return self.trainable_weights

    @property
    def trainable(self):
        """Whether it is trained."""
        return self._trainable

    @trainable.setter
    def trainable(self, value):
        object.__setattr__(self, "_trainable", bool(value))
        for v in self._own:
            v.trainable = bool(value) and v._can_train
        for layer in self._sublayers():
            layer.trainable = value

    @property
    def dtype_policy(self):
        """The types that weights are kept and outputs are computed in."""
        return dtype_policies.get(self._policy)

    @dtype_policy.setter
    def dtype_policy(self, value):
        policy = dtype_policies.get(value)
        self._policy, self._dtype, self._computes = policy.name, policy.variable_dtype, policy.compute_dtype

    @property
    def dtype(self):
        """The type of the weights."""
        return self._dtype

    variable_dtype = dtype

    @property
    def compute_dtype(self):
        """The type that floats are computed in."""
        return self._computes

    @property
    def path(self):
        """The names of the layers around it and its own."""
        return self._path or self.name

    @property
    def metrics(self):
        """Metrics that are attributes, here and below."""
        found = []
        for layer in self._flatten_layers():
            for part in layer._parts:
                for x in flatten(part) if isinstance(part, (list, tuple, dict)) else [part]:
                    if hasattr(x, "update_state"):
                        found.append(x)
        return found

    def train(self, mode=True):
        """Set what calls that say nothing of training do."""
        self.training = mode
        return self

    # ---- weights

    def add_weight(
        self, shape=None, initializer=None, dtype=None, trainable=True, autocast=True, regularizer=None,
        constraint=None, aggregation="none", overwrite_with_gradient=False, name=None,
    ):  # fmt: skip
        """A new variable of the layer."""
        from . import constraints, initializers, regularizers

        shape = () if shape is None else (shape,) if isinstance(shape, int) else tuple(shape)
        if initializer is None:
            initializer = "glorot_uniform" if str(dtype or self.dtype).startswith(("float", "bfloat")) else "zeros"
        with self._scope():
            made = Variable(
                initializers.get(initializer), shape, dtype or self.dtype, trainable and self._trainable, name=name
            )
        made._can_train, made.autocast = trainable, autocast
        made.regularizer, made.constraint = regularizers.get(regularizer), constraints.get(constraint)
        self._own.append(made)
        return made

    def _path_here(self):
        """The layer's path, which is that of the place where it was first used."""
        if self._path is None:
            object.__setattr__(self, "_path", _state.below(self.name))
        return self._path

    def _scope(self):
        return _state.settings(path=self._path_here())

    def count_params(self):
        """How many numbers the weights have."""
        if not self.built:
            raise ValueError(
                f"You tried to call `count_params` on layer '{self.name}', but the layer isn't built. You can build it "
                f"manually via: `{self.name}.build(input_shape)`."
            )
        return sum(v.size for v in self.weights)

    def get_weights(self):
        """The weights as NumPy's arrays."""
        return [v.numpy() for v in self.weights]

    def set_weights(self, weights):
        """Take other weights."""
        own = self.weights
        if len(own) != len(weights):
            raise ValueError(
                f"You called `set_weights(weights)` on layer '{self.name}' with a weight list of length "
                f"{len(weights)}, but the layer was expecting {len(own)} weights."
            )
        for v, value in zip(own, weights):
            if tuple(v.shape) != tuple(value.shape):
                raise ValueError(
                    f"Layer {self.name} weight shape {v.shape} is not compatible with provided weight shape "
                    f"{value.shape}."
                )
            v.assign(value)

    # ---- losses

    def add_loss(self, loss):
        """Something more to be made small."""
        for x in flatten(loss):
            if isinstance(x, KerasTensor):
                raise ValueError("`add_loss()` takes arrays: call it in the `call()` of a layer")
        if not _state.is_symbolic():
            self._added_losses.extend(flatten(loss))
            _with_losses.add(self)

    @property
    def losses(self):
        """What calls added, and what regularisers say of the weights."""
        return self._all_added() + [v.regularizer(v) for v in self.trainable_weights if v.regularizer is not None]

    def _all_added(self):
        """What calls added, here and below; most calls add nothing, and nobody is asked."""
        return [x for layer in self._flatten_layers() for x in layer._added_losses] if _with_losses else []

    def _clear_losses(self):
        if _with_losses:
            for layer in self._flatten_layers():
                layer._added_losses.clear()
                _with_losses.discard(layer)

    # ---- calls

    def build(self, input_shape):
        """Make the weights; a subclass has its own."""
        self.built = True

    def _has_own_build(self):
        return type(self).build is not Layer.build

    def call(self, *args, **kwargs):
        """Outputs of inputs; a subclass has its own."""
        raise NotImplementedError(f"Layer {type(self).__name__} does not have a `call()` method implemented.")

    def _converted(self, x):
        if isinstance(x, KerasTensor) or not (hasattr(x, "__array__") or isinstance(x, _tt.ndarray)):
            return x
        mask, made = get_mask(x), tensor(x)
        if self.autocast and made.dtype != self._computes and (made.dtype.kind == "f" or made.dtype == "bfloat16"):
            made = made.astype(self._computes)
        return made if mask is None or made is x else with_mask(made, mask)

    def __call__(self, *args, **kwargs):
        if "_parts" not in self.__dict__:
            raise RuntimeError(
                f"In layer '{type(self).__name__}', you forgot to call `super().__init__()` as the first statement in "
                "the `__init__()` method. Go add it!"
            )
        if self.built and not kwargs and len(args) == 1 and type(args[0]) is _tt.ndarray:
            return self._called_on_array(args[0])
        args, kwargs = map_structure(self._converted, (args, kwargs))
        accepted = _signature(type(self).call).parameters
        told = training = kwargs.pop("training", None)
        call = _Call(self, args, kwargs)
        assert_input_compatibility(self.input_spec, call.first, self.name)
        self._maybe_build(call)
        outermost = _state.get("layer") is None
        if outermost and not _state.is_symbolic():
            self._clear_losses()
        training = self._resolve_training(training, accepted)
        if "training" in accepted:
            kwargs["training"] = training
        self._pass_masks(call, kwargs)
        previous = kwargs.get("mask")
        if previous is None:
            previous = map_structure(get_mask, call.first)
        with _state.settings(path=self._path_here(), layer=self, training=training):
            outputs = self._computed(args, kwargs)
        self.built = True
        self._add_activity_loss(outputs)
        self._run_hooks(call.first, outputs)
        outputs = self._with_masks(call.first, outputs, previous)
        if any_symbolic(args, kwargs):  # what the graph passes on by itself is no part of it
            kept = {key: value for key, value in kwargs.items() if key != "training" and not _is_no_mask(key, value)}
            Node(self, args, kept if told is None else {**kept, "training": told}, outputs)
        return outputs

    def _called_on_array(self, x):
        """A call on one array that has no mask, as most are: nothing has to be built, bound or passed on."""
        x = self._converted(x)
        assert_input_compatibility(self.input_spec, x, self.name)
        if _state.get("layer") is None and not _state.is_symbolic():
            self._clear_losses()
        accepted = _signature(type(self).call).parameters
        training = self._resolve_training(None, accepted)
        with _state.settings(layer=self, training=training):
            outputs = self._cast(x, training=training) if "training" in accepted else self._cast(x)
        self._add_activity_loss(outputs)
        self._run_hooks(x, outputs)
        return outputs if type(self).compute_mask is Layer.compute_mask else self._with_masks(x, outputs, None)

    def _computed(self, args, kwargs):
        if not any_symbolic(args, kwargs):
            return self._cast(*args, **kwargs)
        if type(self).compute_output_spec is not Layer.compute_output_spec:
            return self.compute_output_spec(*args, **kwargs)
        return infer(self._cast, args, kwargs)

    def _cast(self, *args, **kwargs):
        """call(), in which trained weights have the type that is computed in."""
        if _state.is_symbolic():  # what stands for inputs has their types yet
            args, kwargs = map_structure(self._converted, (args, kwargs))
        if self._computes == self._dtype:
            return self.call(*args, **kwargs)
        kept = {name: v for name, v in self.__dict__.items() if _is_cast(v)}
        self.__dict__.update((name, v.astype(self._computes)) for name, v in kept.items())
        try:
            return self.call(*args, **kwargs)
        finally:
            self.__dict__.update(kept)

    def _resolve_training(self, training, accepted):
        if training is None:
            training = _state.get("training")
        if training is None and self.training:
            training = True
        if training is None and "training" in accepted:
            default = accepted["training"].default
            training = None if default is inspect.Parameter.empty else default
        return False if training is None else training

    def _pass_masks(self, call, kwargs):
        if len(call.tensors) == 1:
            if "mask" in call.names and call.arguments.get("mask") is None:
                kwargs["mask"] = map_structure(get_mask, next(iter(call.tensors.values())))
            return
        for name, value in call.tensors.items():
            if f"{name}_mask" in call.names and call.arguments.get(f"{name}_mask") is None:
                kwargs[f"{name}_mask"] = map_structure(get_mask, value)

    def _with_masks(self, inputs, outputs, previous):
        if not self.supports_masking and type(self).compute_mask is Layer.compute_mask:
            if any(m is not None for m in flatten(previous)) and not _state.is_symbolic():
                warnings.warn(
                    f"Layer '{self.name}' (of type {type(self).__name__}) was passed an input with a mask attached "
                    "to it. However, this layer does not support masking and will therefore destroy the mask "
                    "information. Downstream layers will not see the mask.",
                    stacklevel=3,
                )
            return outputs
        if all(get_mask(x) is not None for x in flatten(outputs)):
            return outputs
        masks = self.compute_mask(inputs, previous)
        if masks is None or all(m is None for m in flatten(masks)):
            return outputs
        left = iter(flatten(masks))

        def masked(x):
            mask = next(left, None)
            return x if mask is None or get_mask(x) is not None else with_mask(x, mask)

        return map_structure(masked, outputs)

    def compute_mask(self, inputs, previous_mask=None):
        """The mask of the outputs: that of the inputs."""
        return previous_mask

    def _add_activity_loss(self, outputs):
        if self.activity_regularizer is None:
            return
        for x in flatten(outputs):
            if isinstance(x, _tt.ndarray):
                self.add_loss(self.activity_regularizer(x) / (x.shape[0] if x.ndim else 1))

    # ---- what looks for the layer that made the first number that is not finite

    def register_forward_hook(self, hook):
        """Call a function with the layer, its input and its outputs after each call; the handle takes it away."""
        self._forward_hooks = self._forward_hooks or {}
        return Handle(self._forward_hooks, hook)

    def _run_hooks(self, inputs, outputs):
        if self._forward_hooks and not _state.is_symbolic():
            for hook in list(self._forward_hooks.values()):
                hook(self, inputs, outputs)

    def named_modules(self):
        """This layer and all below, with their paths."""
        return [(layer.path, layer) for layer in self._flatten_layers()]

    def children(self):
        """The layers right below."""
        return self._sublayers()

    # ---- shapes

    def _maybe_build(self, call):
        if self.built:
            return
        shapes = {name: map_structure(_shape_of, value) for name, value in call.tensors.items()}
        with self._scope():
            if self._has_own_build():
                self._build_of(shapes)
                assert_input_compatibility(self.input_spec, call.first, self.name)
                self.built = True
            elif any_symbolic(list(call.tensors.values())) or not self._sublayers():
                self.build(next(iter(shapes.values()), None))

    def _build_of(self, shapes):
        names = list(_signature(type(self).build).parameters)[1:]
        wanted = {f"{name}_shape": shape for name, shape in shapes.items()}
        if len(names) == 1 or not any(name in wanted for name in names):
            self.build(next(iter(shapes.values()), None))
        else:
            self.build(**{name: wanted[name] for name in names if name in wanted})

    def compute_output_spec(self, *args, **kwargs):
        """KerasTensors of the outputs."""
        return infer(self.call, args, kwargs)

    def compute_output_shape(self, input_shape, *more):
        """The shape of the outputs."""
        stand_ins = [_stand_in(shape, self.compute_dtype) for shape in (input_shape, *more)]
        if not self.built:
            with self._scope():
                self.build(input_shape)
            self.built = True
        return map_structure(lambda x: x.shape, infer(self._cast, tuple(stand_ins), {}))

    def get_config(self):
        """What from_config() makes it of again."""
        made = {"name": self.name, "trainable": self.trainable, "dtype": self._policy}
        skipped = ("name", "trainable", "dtype", "args", "kwargs", "self")
        return {**made, **{k: v for k, v in Configured.get_config(self).items() if k not in skipped and v is not None}}

    def get_build_config(self):
        """Nothing: shapes are known again at the first call."""
        return {}

    def __repr__(self):
        return f"<{type(self).__name__} name={self.name}, built={self.built}>"


def _is_cast(v):
    """Is it a weight that a layer reads in the type that it computes in? What runs along is written."""
    return isinstance(v, Variable) and v._can_train and v.autocast and v.dtype == "float32"


def _is_no_mask(key, value):
    return key.endswith("mask") and all(m is None for m in flatten(value))


def _shape_of(x):
    return None if x is None else tuple(x.shape)


def _stand_in(shape, dtype):
    """A KerasTensor of a shape, or a list of them."""
    if isinstance(shape, (list, tuple)) and any(isinstance(part, (list, tuple)) for part in shape):
        return [_stand_in(part, dtype) for part in shape]
    return KerasTensor(tuple(shape), dtype)
