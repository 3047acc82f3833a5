"""Layers that move elements, and layers that merge several inputs."""

import functools
import math

import tutti as tt

from .. import config, ops
from .._graph import get_mask
from .._layer import InputSpec, Layer
from .._tree import flatten
from ._conv import channels_back, channels_first, each


class Flatten(Layer):
    """All axes but the first as one."""

    def __init__(self, data_format=None, **kwargs):
        super().__init__(**kwargs)
        self.data_format = config.standardize_data_format(data_format)
        self.input_spec = InputSpec(min_ndim=1)

    def call(self, inputs):
        """Rows."""
        if self.data_format == "channels_first" and inputs.ndim > 1:
            inputs = tt.moveaxis(inputs, 1, -1)
        return inputs.reshape(inputs.shape[0], math.prod(inputs.shape[1:]))


class Reshape(Layer):
    """Other axes after the first."""

    def __init__(self, target_shape, **kwargs):
        super().__init__(**kwargs)
        self.target_shape = tuple(target_shape)

    def call(self, inputs):
        """The same elements."""
        return inputs.reshape(inputs.shape[0], *self.target_shape)


class Permute(Layer):
    """The axes after the first in another order."""

    def __init__(self, dims, **kwargs):
        super().__init__(**kwargs)
        self.dims = tuple(dims)
        if sorted(dims) != list(range(1, len(dims) + 1)):
            raise ValueError(
                "Invalid permutation argument `dims` for Permute Layer. The set of indices in `dims` must be "
                f"consecutive and start from 1. Received dims={dims}"
            )
        self.input_spec = InputSpec(ndim=len(self.dims) + 1)

    def call(self, inputs):
        """The same elements."""
        return tt.transpose(inputs, (0, *self.dims))


class RepeatVector(Layer):
    """The same row several times."""

    def __init__(self, n, **kwargs):
        super().__init__(**kwargs)
        if not isinstance(n, int):
            raise TypeError(f"Expected an integer value for `n`, got {type(n)}.")
        self.n = n
        self.input_spec = InputSpec(ndim=2)

    def call(self, inputs):
        """A new axis."""
        return tt.broadcast_to(inputs[:, None], (inputs.shape[0], self.n, inputs.shape[1]))


def _pairs(value, rank, name):
    """Before and after each axis."""
    if isinstance(value, int):
        return ((value, value),) * rank
    if rank == 1 and len(value) == 2 and all(isinstance(v, int) for v in value):
        return (tuple(value),)
    if len(value) != rank:
        raise ValueError(f"`{name}` should have {rank} elements. Received: {value}")
    return tuple((v, v) if isinstance(v, int) else tuple(v) for v in value)


class _Borders(Layer):
    _rank, _sign, _default = 1, 1, 1

    def __init__(self, padding=1, data_format=None, **kwargs):
        super().__init__(**kwargs)
        self.data_format = config.standardize_data_format(data_format) if self._rank > 1 else "channels_last"
        self.padding = _pairs(padding, self._rank, "padding")
        self.input_spec = InputSpec(ndim=self._rank + 2)

    def call(self, inputs):
        """With more, or fewer, elements at the ends."""
        x = channels_first(inputs, self.data_format)
        widths = [self._sign * n for pair in reversed(self.padding) for n in pair]
        return channels_back(tt.nn.functional.pad(x, widths), self.data_format)


class ZeroPadding1D(_Borders):
    """Zeros before and after a sequence."""


class ZeroPadding2D(_Borders):
    """Zeros around images."""

    _rank = 2


class ZeroPadding3D(_Borders):
    """Zeros around 3 axes of space."""

    _rank = 3


class Cropping1D(_Borders):
    """A sequence without its ends."""

    _sign = -1

    def __init__(self, cropping=1, data_format=None, **kwargs):
        super().__init__(cropping, data_format, **kwargs)
        self.cropping = self.padding


class Cropping2D(Cropping1D):
    """Images without their borders."""

    _rank = 2

    def __init__(self, cropping=((0, 0), (0, 0)), data_format=None, **kwargs):
        super().__init__(cropping, data_format, **kwargs)


class Cropping3D(Cropping1D):
    """3 axes of space without their borders."""

    _rank = 3

    def __init__(self, cropping=((1, 1), (1, 1), (1, 1)), data_format=None, **kwargs):
        super().__init__(cropping, data_format, **kwargs)


class _UpSampling(Layer):
    _rank = 1

    def __init__(self, size=2, data_format=None, interpolation="nearest", **kwargs):
        super().__init__(**kwargs)
        self.data_format = config.standardize_data_format(data_format) if self._rank > 1 else "channels_last"
        self.size, self.interpolation = each(size, self._rank, "size"), interpolation.lower()
        self.input_spec = InputSpec(ndim=self._rank + 2)

    def call(self, inputs):
        """Each element several times, or what lies between."""
        x = channels_first(inputs, self.data_format)
        if self.interpolation == "nearest":
            for axis, n in enumerate(self.size):
                x = tt.repeat(x, n, axis + 2)
        else:
            lengths = [n * k for n, k in zip(x.shape[2:], self.size)]
            x = tt.nn.functional.interpolate(x, lengths, mode=self.interpolation, align_corners=False)
        return channels_back(x, self.data_format)


class UpSampling1D(_UpSampling):
    """Each step several times."""

    def __init__(self, size=2, **kwargs):
        super().__init__(size, **kwargs)


class UpSampling2D(_UpSampling):
    """Images of a multiple of their size."""

    _rank = 2


class UpSampling3D(_UpSampling):
    """3 axes of space of a multiple of their size."""

    _rank = 3

    def __init__(self, size=(2, 2, 2), data_format=None, **kwargs):
        super().__init__(size, data_format, **kwargs)


# ---- several inputs


class _Merge(Layer):
    """One output of several inputs."""

    supports_masking = True

    def build(self, input_shape):
        """Several shapes have to come in."""
        if not isinstance(input_shape[0], (tuple, list)) or len(input_shape) < 1:
            raise ValueError(
                "A merge layer should be called on a list of inputs. "
                f"Received: input_shape={input_shape} (not a list of shapes)"
            )
        self.built = True

    def _merged(self, inputs):
        raise NotImplementedError

    def call(self, inputs):
        """The inputs merged; those with fewer axes get axes after the first."""
        if not isinstance(inputs, (list, tuple)):
            raise ValueError(
                f"A merge layer should be called on a list of inputs. Received: inputs={inputs} (not a list of tensors)"
            )
        rank = max(x.ndim for x in inputs)
        inputs = [x.reshape(x.shape[0], *(1,) * (rank - x.ndim), *x.shape[1:]) if x.ndim < rank else x for x in inputs]
        return self._merged(inputs)

    def compute_mask(self, inputs, mask=None):
        """Where one of the inputs counts; None if one has no mask."""
        masks = flatten(mask)
        if any(m is None for m in masks):
            return None
        return functools.reduce(ops.logical_or, masks)


class Add(_Merge):
    """The sum."""

    def _merged(self, inputs):
        return functools.reduce(tt.add, inputs)


class Subtract(_Merge):
    """The difference of two."""

    def _merged(self, inputs):
        if len(inputs) != 2:
            raise ValueError(f"A `Subtract` layer should be called on exactly 2 inputs. Received: inputs={inputs}")
        return inputs[0] - inputs[1]


class Multiply(_Merge):
    """The product."""

    def _merged(self, inputs):
        return functools.reduce(tt.multiply, inputs)


class Average(_Merge):
    """The mean."""

    def _merged(self, inputs):
        return functools.reduce(tt.add, inputs) / len(inputs)


class Maximum(_Merge):
    """The larger elements."""

    def _merged(self, inputs):
        return functools.reduce(tt.maximum, inputs)


class Minimum(_Merge):
    """The smaller elements."""

    def _merged(self, inputs):
        return functools.reduce(tt.minimum, inputs)


class Concatenate(_Merge):
    """One after the other along an axis."""

    def __init__(self, axis=-1, **kwargs):
        super().__init__(**kwargs)
        self.axis = axis

    def build(self, input_shape):
        """All lengths but those of one axis are the same."""
        super().build(input_shape)
        rank = max(len(s) for s in input_shape)
        others = {tuple(n for k, n in enumerate(s) if k != self.axis % rank) for s in input_shape}
        same = all(len({n for n in lengths if n is not None}) <= 1 for lengths in zip(*others))
        if not same or len({len(s) for s in input_shape}) > 1:
            raise ValueError(
                "A `Concatenate` layer requires inputs with matching shapes except for the concatenation axis. "
                f"Received: input_shape={input_shape}"
            )

    def call(self, inputs):
        """The arrays one after the other."""
        return tt.concatenate(list(inputs), self.axis)

    def compute_mask(self, inputs, mask=None):
        """The masks one after the other, where one counts; inputs without one count everywhere."""
        masks = [get_mask(x) for x in inputs] if mask is None else flatten(mask)
        if all(m is None for m in masks):
            return None
        whole = [ops.ones_like(x[..., 0], dtype="bool") if m is None else m for x, m in zip(inputs, masks)]
        if self.axis in (-1, inputs[0].ndim - 1):
            return functools.reduce(ops.logical_and, whole)
        return ops.concatenate(whole, axis=self.axis)


class Dot(_Merge):
    """Products along an axis of each of two inputs."""

    def __init__(self, axes, normalize=False, **kwargs):
        super().__init__(**kwargs)
        self.axes, self.normalize = axes, normalize
        self.supports_masking = True

    def call(self, inputs):
        """The sums of products."""
        first, second = inputs
        a, b = (self.axes, self.axes) if isinstance(self.axes, int) else self.axes
        a, b = a % first.ndim, b % second.ndim
        if self.normalize:
            first, second = ops.normalize(first, a), ops.normalize(second, b)
        first, second = tt.moveaxis(first, a, -1), tt.moveaxis(second, b, -1)
        rows, columns = first.shape[1:-1], second.shape[1:-1]
        shape = first.shape[0], -1, first.shape[-1]
        made = first.reshape(shape) @ tt.swapaxes(second.reshape(second.shape[0], -1, second.shape[-1]), 1, 2)
        return made.reshape(first.shape[0], *(rows + columns or (1,)))

    def compute_mask(self, inputs, mask=None):
        """There is none."""
        return None


def _function_of(layer):
    def merge(inputs, **kwargs):
        return layer(**kwargs)(inputs)

    merge.__doc__ = f"{layer.__name__} of the inputs."
    return merge


add, subtract, multiply = _function_of(Add), _function_of(Subtract), _function_of(Multiply)
average, maximum, minimum = _function_of(Average), _function_of(Maximum), _function_of(Minimum)


def concatenate(inputs, axis=-1, **kwargs):
    """The inputs one after the other."""
    return Concatenate(axis=axis, **kwargs)(inputs)


def dot(inputs, axes=-1, **kwargs):
    """Products along axes."""
    return Dot(axes=axes, **kwargs)(inputs)
