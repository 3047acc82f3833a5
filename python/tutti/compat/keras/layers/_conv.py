"""Convolutions and pools, whose channels are last unless something else is said."""

import math

import tutti as tt

from .. import activations, config
from .._layer import InputSpec, Layer
from ._core import get_all

F = tt.nn.functional


def each(value, rank, name):
    """One number for each axis."""
    made = (value,) * rank if isinstance(value, int) else tuple(value)
    if len(made) != rank or any(not isinstance(n, int) for n in made):
        raise ValueError(f"The `{name}` argument must be a tuple of {rank} integers. Received: {name}={value}")
    return made


def channels_first(x, data_format):
    """The channels as the second axis."""
    return x if data_format == "channels_first" else tt.moveaxis(x, -1, 1)


def channels_back(x, data_format):
    """The channels where they were."""
    return x if data_format == "channels_first" else tt.moveaxis(x, 1, -1)


def same_borders(lengths, sizes, strides, dilations):
    """How much "same" adds before and after each axis."""
    made = []
    for n, k, s, d in zip(lengths, sizes, strides, dilations):
        total = max((math.ceil(n / s) - 1) * s + (k - 1) * d + 1 - n, 0)
        made.append((total // 2, total - total // 2))
    return made


def padded(x, borders, value=0.0):
    """An array of channels first with borders."""
    if not any(a or b for a, b in borders):
        return x
    return F.pad(x, [n for pair in reversed(borders) for n in pair], value=value)


class BaseConv(Layer):
    """What convolutions have in common."""

    def __init__(
        self, rank, filters, kernel_size, strides=1, padding="valid", data_format=None, dilation_rate=1, groups=1,
        activation=None, use_bias=True, kernel_initializer="glorot_uniform", bias_initializer="zeros",
        kernel_regularizer=None, bias_regularizer=None, activity_regularizer=None, kernel_constraint=None,
        bias_constraint=None, **kwargs,
    ):  # fmt: skip
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        self.rank, self.filters, self.groups, self.use_bias = rank, filters, groups, use_bias
        self.kernel_size = each(kernel_size, rank, "kernel_size")
        self.strides = each(strides, rank, "strides")
        self.dilation_rate = each(dilation_rate, rank, "dilation_rate")
        self.padding = str(padding).lower()
        self._check(("valid", "same", "causal") if rank == 1 else ("valid", "same"))
        self.data_format = config.standardize_data_format(data_format)
        self.activation = activations.get(activation)
        get_all(
            self, kernel_initializer=kernel_initializer, bias_initializer=bias_initializer,
            kernel_regularizer=kernel_regularizer, bias_regularizer=bias_regularizer,
            kernel_constraint=kernel_constraint, bias_constraint=bias_constraint,
        )  # fmt: skip
        self.input_spec = InputSpec(min_ndim=rank + 2)

    def _check(self, paddings):
        if self.padding not in paddings:
            raise ValueError(f"The `padding` argument must be one of {paddings}. Received: padding={self.padding}")
        if self.filters is not None and self.filters <= 0:
            raise ValueError(
                f"Invalid value for argument `filters`. Expected a strictly positive value. Received "
                f"filters={self.filters}."
            )
        if self.filters is not None and self.filters % self.groups != 0:
            raise ValueError(
                "The number of filters must be evenly divisible by the number of groups. "
                f"Received: groups={self.groups}, filters={self.filters}."
            )
        if max(self.strides) > 1 and max(self.dilation_rate) > 1:
            raise ValueError(
                "`strides > 1` not supported in conjunction with `dilation_rate > 1`. Received: "
                f"strides={self.strides} and dilation_rate={self.dilation_rate}"
            )

    def _channel_axis(self):
        return -1 if self.data_format == "channels_last" else 1

    def _add_kernel(self, shape):
        self._kernel = self.kernel = self.add_weight(
            shape, self.kernel_initializer, name="kernel", regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
        )  # fmt: skip

    def _add_bias(self, size):
        self.bias = None
        if self.use_bias:
            self.bias = self.add_weight(
                (size,), self.bias_initializer, name="bias", regularizer=self.bias_regularizer,
                constraint=self.bias_constraint,
            )  # fmt: skip
        self.built = True

    def build(self, input_shape):
        """The kernel and the bias."""
        channels = input_shape[self._channel_axis()]
        if channels % self.groups != 0:
            raise ValueError(
                "The number of input channels must be evenly divisible by the number of groups. Received "
                f"groups={self.groups}, but the input has {channels} channels (full input shape is {input_shape})."
            )
        self._add_kernel((*self.kernel_size, channels // self.groups, self.filters))
        self._add_bias(self.filters)
        self.input_spec = InputSpec(min_ndim=self.rank + 2, axes={self._channel_axis(): channels})

    def _convolved(self, x, kernel, bias, groups=1):
        """The convolution of channels first with a kernel that has them last."""
        if self.padding == "same":
            x = padded(x, same_borders(x.shape[2:], self.kernel_size, self.strides, self.dilation_rate))
        elif self.padding == "causal":
            x = padded(x, [(self.dilation_rate[0] * (self.kernel_size[0] - 1), 0)])
        weight = tt.moveaxis(kernel, (-1, -2), (0, 1))
        conv = (F.conv1d, F.conv2d, F.conv3d)[self.rank - 1]
        return conv(x, weight, bias, self.strides, 0, self.dilation_rate, groups)

    def call(self, inputs):
        """The convolution, the bias and the activation."""
        x = self._convolved(channels_first(inputs, self.data_format), self.kernel, self.bias, self.groups)
        return self.activation(channels_back(x, self.data_format))


class _DepthwiseConv(BaseConv):
    """Each channel has kernels of its own."""

    def __init__(self, rank, kernel_size, strides=1, padding="valid", depth_multiplier=1, data_format=None,
                 dilation_rate=1, activation=None, use_bias=True, depthwise_initializer="glorot_uniform",
                 bias_initializer="zeros", depthwise_regularizer=None, bias_regularizer=None,
                 activity_regularizer=None, depthwise_constraint=None, bias_constraint=None, **kwargs):  # fmt: skip
        super().__init__(
            rank, None, kernel_size, strides, padding, data_format, dilation_rate, 1, activation, use_bias,
            depthwise_initializer, bias_initializer, depthwise_regularizer, bias_regularizer, activity_regularizer,
            depthwise_constraint, bias_constraint, **kwargs,
        )  # fmt: skip
        self.depth_multiplier = depth_multiplier

    def build(self, input_shape):
        """The kernel and the bias."""
        channels = input_shape[self._channel_axis()]
        self._add_kernel((*self.kernel_size, channels, self.depth_multiplier))
        self._add_bias(channels * self.depth_multiplier)

    def call(self, inputs):
        """Each channel's convolutions."""
        x = depthwise(self, channels_first(inputs, self.data_format), self.kernel, self.bias)
        return self.activation(channels_back(x, self.data_format))


def depthwise(layer, x, kernel, bias=None):
    """The convolution of each channel with kernels of its own."""
    channels = x.shape[1]
    return layer._convolved(x, kernel.reshape(*kernel.shape[:-2], 1, -1), bias, channels)


class _SeparableConv(BaseConv):
    """Each channel's convolution, then a mixture of the channels."""

    def __init__(self, rank, filters, kernel_size, strides=1, padding="valid", data_format=None, dilation_rate=1,
                 depth_multiplier=1, activation=None, use_bias=True, depthwise_initializer="glorot_uniform",
                 pointwise_initializer="glorot_uniform", bias_initializer="zeros", depthwise_regularizer=None,
                 pointwise_regularizer=None, bias_regularizer=None, activity_regularizer=None,
                 depthwise_constraint=None, pointwise_constraint=None, bias_constraint=None, **kwargs):  # fmt: skip
        super().__init__(
            rank, filters, kernel_size, strides, padding, data_format, dilation_rate, 1, activation, use_bias,
            depthwise_initializer, bias_initializer, depthwise_regularizer, bias_regularizer, activity_regularizer,
            depthwise_constraint, bias_constraint, **kwargs,
        )  # fmt: skip
        self.depth_multiplier = depth_multiplier
        get_all(
            self, pointwise_initializer=pointwise_initializer, pointwise_regularizer=pointwise_regularizer,
            pointwise_constraint=pointwise_constraint,
        )  # fmt: skip

    def build(self, input_shape):
        """Both kernels and the bias."""
        channels = input_shape[self._channel_axis()]
        self.depthwise_kernel = self.add_weight(
            (*self.kernel_size, channels, self.depth_multiplier), self.kernel_initializer, name="depthwise_kernel",
            regularizer=self.kernel_regularizer, constraint=self.kernel_constraint,
        )  # fmt: skip
        self.pointwise_kernel = self.add_weight(
            (*(1,) * self.rank, channels * self.depth_multiplier, self.filters), self.pointwise_initializer,
            name="pointwise_kernel", regularizer=self.pointwise_regularizer, constraint=self.pointwise_constraint,
        )  # fmt: skip
        self._add_bias(self.filters)

    def call(self, inputs):
        """Each channel's convolution, then a mixture of the channels."""
        x = depthwise(self, channels_first(inputs, self.data_format), self.depthwise_kernel)
        conv = (F.conv1d, F.conv2d, F.conv3d)[self.rank - 1]
        x = conv(x, tt.moveaxis(self.pointwise_kernel, (-1, -2), (0, 1)), self.bias)
        return self.activation(channels_back(x, self.data_format))


class _ConvTranspose(BaseConv):
    """What carries the cotangent of a convolution back to its input."""

    def __init__(self, rank, filters, kernel_size, strides=1, padding="valid", output_padding=None, data_format=None,
                 dilation_rate=1, activation=None, use_bias=True, kernel_initializer="glorot_uniform",
                 bias_initializer="zeros", kernel_regularizer=None, bias_regularizer=None, activity_regularizer=None,
                 kernel_constraint=None, bias_constraint=None, **kwargs):  # fmt: skip
        super().__init__(
            rank, filters, kernel_size, strides, padding, data_format, dilation_rate, 1, activation, use_bias,
            kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer, activity_regularizer,
            kernel_constraint, bias_constraint, **kwargs,
        )  # fmt: skip
        self.output_padding = None if output_padding is None else each(output_padding, rank, "output_padding")

    def build(self, input_shape):
        """The kernel, whose last axis is the input's channels, and the bias."""
        channels = input_shape[self._channel_axis()]
        self._add_kernel((*self.kernel_size, self.filters, channels))
        self._add_bias(self.filters)
        self.input_spec = InputSpec(min_ndim=self.rank + 2, axes={self._channel_axis(): channels})

    def _borders(self):
        """How much is cut (below 0) or added before and after each axis of the whole transposed convolution."""
        made = []
        for k, (size, s, d) in enumerate(zip(self.kernel_size, self.strides, self.dilation_rate)):
            whole = (size - 1) * d + 1
            if self.padding == "valid":
                more = max(s - whole, 0) if self.output_padding is None else self.output_padding[k]
                made.append((0, more))
                continue
            # What is left of the whole, which has whole - 1 more than its inputs on each side.
            if self.output_padding is None:
                more = s + whole - 2
            else:
                more = whole + whole % 2 - 2 + self.output_padding[k]
            left = min((more + 1) // 2, whole - 1)
            made.append((left - whole + 1, more - left - whole + 1))
        return made

    def call(self, inputs):
        """The transposed convolution, cut to its length."""
        conv = (F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d)[self.rank - 1]
        x = channels_first(inputs, self.data_format)
        weight = tt.moveaxis(self.kernel, (-1, -2), (0, 1))
        x = padded(conv(x, weight, None, self.strides, 0, 0, 1, self.dilation_rate), self._borders())
        x = channels_back(x, self.data_format)
        if self.bias is not None:
            bias = self.bias
            x = x + (bias if self.data_format == "channels_last" else bias.reshape(-1, *(1,) * self.rank))
        return self.activation(x)


class _Pooling(Layer):
    """The largest element or the mean of windows."""

    def __init__(self, rank, pool_size, strides=None, padding="valid", data_format=None, name=None, **kwargs):
        super().__init__(name=name, **kwargs)
        self.rank, self.pool_size = rank, each(pool_size, rank, "pool_size")
        self.strides = self.pool_size if strides is None else each(strides, rank, "strides")
        self.padding, self.data_format = str(padding).lower(), config.standardize_data_format(data_format)
        if self.padding not in ("valid", "same"):
            raise ValueError(f"Invalid padding: {self.padding}. Expected one of ('valid', 'same')")
        self.input_spec = InputSpec(ndim=rank + 2)

    def _borders(self, x):
        ones = (1,) * self.rank
        return same_borders(x.shape[2:], self.pool_size, self.strides, ones) if self.padding == "same" else []

    def call(self, inputs):
        """The windows."""
        x = channels_first(inputs, self.data_format)
        return channels_back(self._pooled(x, self._borders(x)), self.data_format)


class _MaxPooling(_Pooling):
    """The largest element of windows."""

    def _pooled(self, x, borders):
        pool = (F.max_pool1d, F.max_pool2d, F.max_pool3d)[self.rank - 1]
        return pool(padded(x, borders, -math.inf), self.pool_size, self.strides)


class _AveragePooling(_Pooling):
    """The mean of windows; borders do not count."""

    def _pooled(self, x, borders):
        pool = (F.avg_pool1d, F.avg_pool2d, F.avg_pool3d)[self.rank - 1]
        made = pool(padded(x, borders), self.pool_size, self.strides)
        if not any(a or b for a, b in borders):
            return made
        inside = padded(tt.ones((1, 1, *x.shape[2:]), dtype=x.dtype), borders)
        return made / pool(inside, self.pool_size, self.strides)


class _GlobalPooling(Layer):
    """One number for each channel."""

    def __init__(self, rank, data_format=None, keepdims=False, **kwargs):
        super().__init__(**kwargs)
        self.rank, self.keepdims = rank, keepdims
        self.data_format = config.standardize_data_format(data_format)
        self.input_spec = InputSpec(ndim=rank + 2)

    def _axes(self):
        first = 1 if self.data_format == "channels_last" else 2
        return tuple(range(first, first + self.rank))


class _GlobalMaxPooling(_GlobalPooling):
    """The largest element of each channel."""

    def call(self, inputs):
        """The largest elements."""
        return tt.max(inputs, self._axes(), keepdims=self.keepdims)


class _GlobalAveragePooling(_GlobalPooling):
    """The mean of each channel; steps that a mask leaves out do not count."""

    def call(self, inputs, mask=None):
        """The means."""
        if mask is None or self.rank > 1:
            return tt.mean(inputs, self._axes(), keepdims=self.keepdims)
        weight = mask.astype(inputs.dtype)[..., None]
        weight = weight if self.data_format == "channels_last" else tt.moveaxis(weight, -1, 1)
        axes = self._axes()
        return tt.sum(inputs * weight, axes, keepdims=self.keepdims) / tt.sum(weight, axes, keepdims=self.keepdims)

    def compute_mask(self, inputs, mask=None):
        """There are no steps any more."""
        return None


class _AdaptivePooling(Layer):
    def __init__(self, rank, output_size, data_format=None, **kwargs):
        super().__init__(**kwargs)
        self.rank, self.output_size = rank, each(output_size, rank, "output_size")
        self.data_format = config.standardize_data_format(data_format)
        self.input_spec = InputSpec(ndim=rank + 2)

    def call(self, inputs):
        """The windows, so long that the result has its size."""
        pool = getattr(F, f"{self._function}{self.rank}d")
        return channels_back(pool(channels_first(inputs, self.data_format), self.output_size), self.data_format)


class _AdaptiveMaxPooling(_AdaptivePooling):
    """The largest element of windows that are as long as the result's size asks for."""

    _function = "adaptive_max_pool"


class _AdaptiveAveragePooling(_AdaptivePooling):
    """The mean of windows that are as long as the result's size asks for."""

    _function = "adaptive_avg_pool"


def _of_rank(base, name, rank, before=(), masked=False):
    """A class of a rank: its constructor takes what follows the rank."""
    import inspect

    parameters = [p for p in inspect.signature(base.__init__).parameters.values() if p.name != "rank"]
    defaults = dict(before)
    parameters = [p.replace(default=defaults[p.name]) if p.name in defaults else p for p in parameters]

    def __init__(self, *args, **kwargs):
        bound = signature.bind(self, *args, **kwargs)
        bound.apply_defaults()
        given = dict(list(bound.arguments.items())[1:])
        more = given.pop("kwargs", {})
        base.__init__(self, rank, **given, **more)

    signature = inspect.Signature(parameters)
    __init__.__signature__ = signature
    words = f"{base.__doc__.rstrip('.')}, over {rank} ax{'i' if rank == 1 else 'e'}s of space."
    made = {"__init__": __init__, "__doc__": words, "__module__": __name__, "supports_masking": masked}
    return type(name, (base,), made)


_KINDS = {
    "Conv{}D": (BaseConv, (1, 2, 3), {}),
    "Conv{}DTranspose": (_ConvTranspose, (1, 2, 3), {}),
    "DepthwiseConv{}D": (_DepthwiseConv, (1, 2), {}),
    "SeparableConv{}D": (_SeparableConv, (1, 2), {}),
    "MaxPooling{}D": (_MaxPooling, (1, 2, 3), {"pool_size": 2}),
    "AveragePooling{}D": (_AveragePooling, (1, 2, 3), {"pool_size": 2}),
    "AdaptiveMaxPooling{}D": (_AdaptiveMaxPooling, (1, 2, 3), {}),
    "AdaptiveAveragePooling{}D": (_AdaptiveAveragePooling, (1, 2, 3), {}),
    "GlobalMaxPooling{}D": (_GlobalMaxPooling, (1, 2, 3), {}),
    "GlobalAveragePooling{}D": (_GlobalAveragePooling, (1, 2, 3), {}),
}
NAMES = []
for _pattern, (_base, _ranks, _defaults) in _KINDS.items():
    for _rank in _ranks:
        _name = _pattern.format(_rank)
        globals()[_name] = _of_rank(_base, _name, _rank, _defaults, _name in ("Conv1D", "GlobalAveragePooling1D"))
        NAMES.append(_name)
ALIASES = {
    **{f"Convolution{n}D": f"Conv{n}D" for n in (1, 2, 3)},
    **{f"Convolution{n}DTranspose": f"Conv{n}DTranspose" for n in (1, 2, 3)},
    **{f"SeparableConvolution{n}D": f"SeparableConv{n}D" for n in (1, 2)},
    **{f"{new}{n}D": f"{old}{n}D" for n in (1, 2, 3) for new, old in (
        ("MaxPool", "MaxPooling"), ("AvgPool", "AveragePooling"), ("GlobalMaxPool", "GlobalMaxPooling"),
        ("GlobalAvgPool", "GlobalAveragePooling"),
    )},
}  # fmt: skip
globals().update({alias: globals()[name] for alias, name in ALIASES.items()})
