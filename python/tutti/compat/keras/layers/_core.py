"""Layers of products, tables, activations and functions."""

import tutti as tt

from .. import activations, constraints, initializers, ops, regularizers
from .. import random as _random
from .._configured import get_custom_objects
from .._graph import KerasTensor, Node
from .._layer import InputSpec, Layer
from .._variable import tensor


def get_all(made, **identifiers):
    """Attributes of a layer that are initialisers, regularisers or constraints by name."""
    kinds = {"initializer": initializers, "regularizer": regularizers, "constraint": constraints}
    for name, identifier in identifiers.items():
        setattr(made, name, kinds[name.rpartition("_")[2]].get(identifier))


class InputLayer(Layer):
    """Where data enter a graph."""

    def __init__(
        self, shape=None, batch_size=None, dtype=None, sparse=None, ragged=None, batch_shape=None, input_tensor=None,
        optional=False, name=None, **kwargs,
    ):  # fmt: skip
        super().__init__(name=name or None)
        if shape is not None and batch_shape is not None:
            raise ValueError("You cannot pass both `shape` and `batch_shape` at the same time.")
        if shape is None and batch_shape is None and input_tensor is None:
            raise ValueError("You must pass a `shape` argument.")
        if batch_shape is None and shape is not None:
            batch_shape = (batch_size, *((shape,) if isinstance(shape, int) else shape))
        self.batch_shape = tuple(input_tensor.shape if batch_shape is None else batch_shape)
        self._dtype = self._computes = str(getattr(dtype, "name", dtype) or self._dtype)
        self.built = True
        Node(
            self,
            (),
            {},
            input_tensor if input_tensor is not None else KerasTensor(self.batch_shape, self._dtype, name=name),
        )

    def call(self):
        """Nothing is computed."""

    def get_config(self):
        """Its shape."""
        return {"batch_shape": self.batch_shape, "dtype": self.dtype, "name": self.name}


def Input(
    shape=None, batch_size=None, dtype=None, sparse=None, ragged=None, batch_shape=None, name=None, tensor=None,
    optional=False,
):  # fmt: skip
    """A KerasTensor that data take the place of; the first axis of its shape is the batch's."""
    return InputLayer(shape, batch_size, dtype, sparse, ragged, batch_shape, tensor, optional, name=name).output


class Dense(Layer):
    """A product with a matrix, plus a bias."""

    supports_masking = True

    def __init__(
        self, units, activation=None, use_bias=True, kernel_initializer="glorot_uniform", bias_initializer="zeros",
        kernel_regularizer=None, bias_regularizer=None, activity_regularizer=None, kernel_constraint=None,
        bias_constraint=None, lora_rank=None, lora_alpha=None, **kwargs,
    ):  # fmt: skip
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        if not isinstance(units, int) or units <= 0:
            raise ValueError(
                f"Received an invalid value for `units`, expected a positive integer. Received: units={units}"
            )
        if lora_rank is not None:
            raise NotImplementedError("tutti.compat.keras does not cover lora_rank")
        self.units, self.activation, self.use_bias = units, activations.get(activation), use_bias
        get_all(
            self, kernel_initializer=kernel_initializer, bias_initializer=bias_initializer,
            kernel_regularizer=kernel_regularizer, bias_regularizer=bias_regularizer,
            kernel_constraint=kernel_constraint, bias_constraint=bias_constraint,
        )  # fmt: skip
        self.input_spec = InputSpec(min_ndim=2)

    def build(self, input_shape):
        """The matrix and the bias."""
        size = input_shape[-1]
        self.kernel = self.add_weight(
            (size, self.units), self.kernel_initializer, name="kernel", regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
        )  # fmt: skip
        self.bias = None
        if self.use_bias:
            self.bias = self.add_weight(
                (self.units,), self.bias_initializer, name="bias", regularizer=self.bias_regularizer,
                constraint=self.bias_constraint,
            )  # fmt: skip
        self.input_spec = InputSpec(min_ndim=2, axes={-1: size})
        self.built = True

    def call(self, inputs, training=None):
        """inputs @ kernel + bias"""
        return self.activation(tt.nn.functional.linear(inputs, self.kernel.T, self.bias))


class EinsumDense(Layer):
    """An einsum with a weight, plus a bias."""

    def __init__(
        self, equation, output_shape, activation=None, bias_axes=None, kernel_initializer="glorot_uniform",
        bias_initializer="zeros", kernel_regularizer=None, bias_regularizer=None, activity_regularizer=None,
        kernel_constraint=None, bias_constraint=None, **kwargs,
    ):  # fmt: skip
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        self.equation, self.bias_axes, self.activation = equation, bias_axes, activations.get(activation)
        self.partial_output_shape = (output_shape,) if isinstance(output_shape, int) else tuple(output_shape)
        get_all(
            self, kernel_initializer=kernel_initializer, bias_initializer=bias_initializer,
            kernel_regularizer=kernel_regularizer, bias_regularizer=bias_regularizer,
            kernel_constraint=kernel_constraint, bias_constraint=bias_constraint,
        )  # fmt: skip

    def build(self, input_shape):
        """The weight, by the letters of the equation."""
        parts, out = self.equation.replace(" ", "").split("->")
        inputs, weight = parts.split(",")
        known = dict(zip(reversed(inputs.replace("...", "")), reversed(input_shape)))
        letters = out.replace("...", "")
        known.update((k, n) for k, n in zip(reversed(letters), reversed(self.partial_output_shape)) if n is not None)
        self.kernel = self.add_weight(
            [known[k] for k in weight], self.kernel_initializer, name="kernel", regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
        )  # fmt: skip
        self.bias = None
        if self.bias_axes:
            first = min(letters.index(k) for k in self.bias_axes)
            shape = [known[k] if k in self.bias_axes else 1 for k in letters[first:]]
            self.bias = self.add_weight(
                shape, self.bias_initializer, name="bias", regularizer=self.bias_regularizer,
                constraint=self.bias_constraint,
            )  # fmt: skip
        self.built = True

    def call(self, inputs, training=None):
        """The einsum plus the bias."""
        x = tt.einsum(self.equation, inputs, self.kernel)
        return self.activation(x if self.bias is None else x + self.bias)


class Embedding(Layer):
    """Rows of a table by their numbers."""

    def __init__(
        self, input_dim, output_dim, embeddings_initializer="uniform", embeddings_regularizer=None,
        embeddings_constraint=None, mask_zero=False, weights=None, lora_rank=None, lora_alpha=None, **kwargs,
    ):  # fmt: skip
        kwargs.pop("input_length", None)
        super().__init__(**kwargs)
        self.input_dim, self.output_dim, self.mask_zero = input_dim, output_dim, mask_zero
        get_all(
            self, embeddings_initializer=embeddings_initializer,
            embeddings_regularizer=embeddings_regularizer, embeddings_constraint=embeddings_constraint,
        )  # fmt: skip
        self.supports_masking, self.autocast = mask_zero, False
        if weights is not None:
            self.build()
            self.set_weights(weights if isinstance(weights, list) else [weights])

    def build(self, input_shape=None):
        """The table."""
        if self.built:
            return
        self.embeddings = self.add_weight(
            (self.input_dim, self.output_dim), self.embeddings_initializer, name="embeddings",
            regularizer=self.embeddings_regularizer, constraint=self.embeddings_constraint,
        )  # fmt: skip
        self.built = True

    def call(self, inputs):
        """The rows."""
        return tt.nn.functional.embedding(inputs.astype("int64"), self.embeddings)

    def compute_mask(self, inputs, mask=None):
        """Where numbers are not 0."""
        return ops.not_equal(inputs, 0) if self.mask_zero else None


class Masking(Layer):
    """Steps all of whose elements have a value are 0 and do not count."""

    supports_masking = True

    def __init__(self, mask_value=0.0, **kwargs):
        super().__init__(**kwargs)
        self.mask_value = mask_value

    def compute_mask(self, inputs, mask=None):
        """Where some element has another value."""
        return ops.any(ops.not_equal(inputs, self.mask_value), axis=-1)

    def call(self, inputs):
        """The elements of the steps that count."""
        counts = tt.any(inputs != self.mask_value, axis=-1, keepdims=True)
        return inputs * counts.astype(inputs.dtype)


class Activation(Layer):
    """A function of the elements."""

    supports_masking = True

    def __init__(self, activation, **kwargs):
        super().__init__(**kwargs)
        self.activation = activations.get(activation)

    def call(self, inputs):
        """The function."""
        return self.activation(inputs)


class Identity(Layer):
    """The inputs."""

    supports_masking = True

    def call(self, inputs):
        """The inputs."""
        return inputs


class Lambda(Layer):
    """A function as a layer."""

    def __init__(self, function, output_shape=None, mask=None, arguments=None, **kwargs):
        super().__init__(**kwargs)
        if isinstance(function, str):  # of a configuration, which keeps names
            found = get_custom_objects().get(function)
            if found is None:
                raise ValueError(f"The function {function!r} of a Lambda layer is not known: give it in custom_objects")
            function = found
        self.function, self.arguments, self.mask = function, arguments or {}, mask
        self.supports_masking = mask is not None

    def call(self, inputs, mask=None, training=None):
        """The function."""
        names = getattr(getattr(self.function, "__code__", None), "co_varnames", ())
        given = {k: v for k, v in (("mask", mask), ("training", training)) if k in names and v is not None}
        return self.function(inputs, **{**given, **self.arguments})

    def compute_mask(self, inputs, mask=None):
        """What was given, or of what was given."""
        return self.mask(inputs, mask) if callable(self.mask) else self.mask


class Wrapper(Layer):
    """A layer around another."""

    def __init__(self, layer, **kwargs):
        if not isinstance(layer, Layer):
            raise ValueError(f"Layer {layer} supplied to Wrapper isn't a supported layer type. Received: {layer}")
        super().__init__(**kwargs)
        self.layer = layer

    def build(self, input_shape=None):
        """The layer's weights."""
        if not self.layer.built:
            self.layer.build(input_shape)
            self.layer.built = True
        self.built = True


# ---- activations as layers


class ReLU(Layer):
    """What is above a threshold, up to a largest value; below it a part."""

    supports_masking = True

    def __init__(self, max_value=None, negative_slope=0.0, threshold=0.0, **kwargs):
        super().__init__(**kwargs)
        self.max_value, self.negative_slope, self.threshold = max_value, negative_slope, threshold

    def call(self, inputs):
        """relu"""
        return activations.relu(inputs, self.negative_slope, self.max_value, self.threshold)


class LeakyReLU(Layer):
    """What is above 0; below it a part of it."""

    supports_masking = True

    def __init__(self, negative_slope=0.3, **kwargs):
        negative_slope = kwargs.pop("alpha", negative_slope)
        super().__init__(**kwargs)
        self.negative_slope = negative_slope

    def call(self, inputs):
        """leaky_relu"""
        return activations.leaky_relu(inputs, self.negative_slope)


class ELU(Layer):
    """What is above 0; below it alpha (exp(x) - 1)."""

    supports_masking = True

    def __init__(self, alpha=1.0, **kwargs):
        super().__init__(**kwargs)
        self.alpha = alpha

    def call(self, inputs):
        """elu"""
        return activations.elu(inputs, self.alpha)


class PReLU(Layer):
    """What is above 0; below it a weight times it."""

    supports_masking = True

    def __init__(
        self, alpha_initializer="Zeros", alpha_regularizer=None, alpha_constraint=None, shared_axes=None, **kwargs
    ):
        super().__init__(**kwargs)
        get_all(
            self, alpha_initializer=alpha_initializer, alpha_regularizer=alpha_regularizer,
            alpha_constraint=alpha_constraint,
        )  # fmt: skip
        self.shared_axes = [shared_axes] if isinstance(shared_axes, int) else shared_axes

    def build(self, input_shape):
        """A weight for each element, or one along axes."""
        shape = list(input_shape[1:])
        for axis in self.shared_axes or ():
            shape[axis - 1] = 1
        self.alpha = self.add_weight(
            shape, self.alpha_initializer, name="alpha", regularizer=self.alpha_regularizer,
            constraint=self.alpha_constraint,
        )  # fmt: skip
        self.built = True

    def call(self, inputs):
        """prelu"""
        return activations.relu(inputs) - self.alpha * activations.relu(-inputs)


class Softmax(Layer):
    """Exponentials over their sum along an axis; where a mask is False they do not count."""

    supports_masking = True

    def __init__(self, axis=-1, **kwargs):
        super().__init__(**kwargs)
        self.axis = axis

    def call(self, inputs, mask=None):
        """softmax"""
        if mask is not None:
            inputs = inputs + (1.0 - mask.astype(inputs.dtype)) * -1e9
        return ops.softmax(inputs, self.axis)


# ---- noise


class Dropout(Layer):
    """Elements are 0 by chance in training, the others grow by 1 / (1 - rate)."""

    supports_masking = True

    def __init__(self, rate, noise_shape=None, seed=None, **kwargs):
        super().__init__(**kwargs)
        if not 0 <= rate <= 1:
            raise ValueError(
                f"Invalid value received for argument `rate`. Expected a float value between 0 and 1. "
                f"Received: rate={rate}"
            )
        self.rate, self.noise_shape, self.seed = rate, noise_shape, seed
        self._generator = None if seed is None else _random.SeedGenerator(seed)

    def _noise_shape(self, inputs):
        return self.noise_shape

    def call(self, inputs, training=False):
        """The elements that are left."""
        if not training or self.rate == 0:
            return inputs
        shape = self._noise_shape(inputs)
        if shape is None and self._generator is None:
            return tt.nn.functional.dropout(inputs, self.rate)
        return _random.dropout(inputs, self.rate, shape, self._generator)


class _SpatialDropout(Dropout):
    """Whole channels are 0 by chance in training."""

    _rank = 1

    def __init__(self, rate, data_format=None, seed=None, name=None, dtype=None):
        super().__init__(rate, seed=seed, name=name, dtype=dtype)
        self.data_format = initializers.config.standardize_data_format(data_format)
        self.input_spec = InputSpec(ndim=self._rank + 2)

    def _noise_shape(self, inputs):
        n, ones = inputs.shape, (1,) * self._rank
        return (n[0], n[1], *ones) if self.data_format == "channels_first" else (n[0], *ones, n[-1])


class SpatialDropout1D(_SpatialDropout):
    """Whole channels of sequences are 0 by chance in training."""

    def __init__(self, rate, seed=None, name=None, dtype=None):
        super().__init__(rate, "channels_last", seed, name, dtype)


class SpatialDropout2D(_SpatialDropout):
    """Whole channels of images are 0 by chance in training."""

    _rank = 2


class SpatialDropout3D(_SpatialDropout):
    """Whole channels over 3 axes of space are 0 by chance in training."""

    _rank = 3


class GaussianNoise(Layer):
    """Normal numbers are added in training."""

    supports_masking = True

    def __init__(self, stddev, seed=None, **kwargs):
        super().__init__(**kwargs)
        if not 0 <= stddev <= 1:
            raise ValueError(
                "Invalid value received for argument `stddev`. Expected a float value between 0 and 1. "
                f"Received: stddev={stddev}"
            )
        self.stddev, self.seed = stddev, seed
        self._generator = None if seed is None else _random.SeedGenerator(seed)

    def call(self, inputs, training=False):
        """inputs + noise"""
        if not training or self.stddev == 0:
            return inputs
        return inputs + _random.normal(inputs.shape, 0.0, self.stddev, inputs.dtype, self._generator)


class GaussianDropout(Layer):
    """Elements are multiplied by normal numbers around 1 in training."""

    supports_masking = True

    def __init__(self, rate, seed=None, **kwargs):
        super().__init__(**kwargs)
        self.rate, self.seed = rate, seed
        self._generator = None if seed is None else _random.SeedGenerator(seed)

    def call(self, inputs, training=False):
        """inputs * noise"""
        if not training or self.rate == 0:
            return inputs
        spread = (self.rate / (1.0 - self.rate)) ** 0.5
        return inputs * _random.normal(inputs.shape, 1.0, spread, inputs.dtype, self._generator)


class AlphaDropout(Layer):
    """Elements saturate by chance in training as selu does."""

    supports_masking = True

    def __init__(self, rate, noise_shape=None, seed=None, **kwargs):
        super().__init__(**kwargs)
        self.rate, self.noise_shape, self.seed = rate, noise_shape, seed

    def call(self, inputs, training=False):
        """alpha_dropout"""
        return tt.nn.functional.alpha_dropout(inputs, self.rate, True) if training and self.rate else inputs


class ActivityRegularization(Layer):
    """Adds the sizes and squares of its inputs to the loss."""

    supports_masking = True

    def __init__(self, l1=0.0, l2=0.0, **kwargs):
        super().__init__(activity_regularizer=regularizers.L1L2(l1=l1, l2=l2), **kwargs)

    def call(self, inputs):
        """The inputs."""
        return inputs


# ---- numbers brought into a range


class Rescaling(Layer):
    """inputs * scale + offset"""

    supports_masking = True

    def __init__(self, scale, offset=0.0, **kwargs):
        super().__init__(**kwargs)
        self.scale, self.offset = scale, offset

    def call(self, inputs):
        """inputs * scale + offset"""
        scale, offset = (tensor(x, self.compute_dtype) for x in (self.scale, self.offset))
        return inputs.astype(self.compute_dtype) * scale + offset


class Normalization(Layer):
    """Elements less their mean, over their spread; both are given, or those of data that adapt() looks at."""

    def __init__(self, axis=-1, mean=None, variance=None, invert=False, **kwargs):
        super().__init__(**kwargs)
        self.axis = () if axis is None else (axis,) if isinstance(axis, int) else tuple(axis)
        if (mean is None) != (variance is None):
            raise ValueError(
                "When setting values directly, both `mean` and `variance` must be set. "
                f"Received: mean={mean} and variance={variance}"
            )
        self.input_mean, self.input_variance, self.invert = mean, variance, invert
        self.adapt_mean = None

    def build(self, input_shape):
        """Places for the numbers."""
        kept = sorted(a % len(input_shape) for a in self.axis)
        self._broadcast = [n if k in kept else 1 for k, n in enumerate(input_shape)]
        shape = tuple(input_shape[k] for k in kept)
        if self.input_mean is None:
            self.adapt_mean = self.add_weight(shape, "zeros", name="mean", trainable=False)
            self.adapt_variance = self.add_weight(shape, "ones", name="variance", trainable=False)
            self.count = self.add_weight((), "zeros", dtype="int32", name="count", trainable=False)
        self._reduced = tuple(k for k in range(len(input_shape)) if k not in kept)
        self.built = True

    def adapt(self, data):
        """Take the mean and the variance of data."""
        data = tensor(data)
        if not self.built:
            self.build((None, *data.shape[1:]) if data.ndim > 1 else data.shape)
        self.adapt_mean.assign(tt.mean(data, self._reduced).reshape(self.adapt_mean.shape))
        self.adapt_variance.assign(tt.var(data, self._reduced).reshape(self.adapt_mean.shape))

    def call(self, inputs):
        """The elements less their mean, over their spread."""
        mean, variance = self.adapt_mean, getattr(self, "adapt_variance", None)
        if mean is None:
            mean, variance = tensor(self.input_mean, "float32"), tensor(self.input_variance, "float32")
        if mean.ndim:
            mean, variance = mean.reshape(self._broadcast), variance.reshape(self._broadcast)
        spread = tt.maximum(tt.sqrt(variance), initializers.config.epsilon())
        return mean + inputs * spread if self.invert else (inputs - mean) / spread
