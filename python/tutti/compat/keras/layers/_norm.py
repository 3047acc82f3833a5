"""Layers that bring elements to a common mean and spread."""

import tutti as tt

from .. import _state
from .._layer import InputSpec, Layer
from ._core import get_all


class _Scaled(Layer):
    supports_masking = True

    def _prepare(self, **identifiers):
        get_all(self, **identifiers)

    def _add(self, name, shape, kind=None):
        kind = kind or name
        return self.add_weight(
            shape, getattr(self, f"{kind}_initializer"), name=name,
            regularizer=getattr(self, f"{kind}_regularizer", None),
            constraint=getattr(self, f"{kind}_constraint", None), autocast=False,
        )  # fmt: skip

    def _cast(self, inputs, *args, **kwargs):
        """Moments of 16-bit floats are computed in 32."""
        if self._computes == self._dtype:
            return self.call(inputs, *args, **kwargs)
        return self.call(inputs.astype(self._dtype), *args, **kwargs).astype(self._computes)

    def _add_both(self, shape):
        self.gamma = self._add("gamma", shape) if self.scale else None
        self.beta = self._add("beta", shape) if self.center else None
        self.built = True


class BatchNormalization(_Scaled):
    """Channels less their mean, over their spread: of the batch in training, else the running ones."""

    def __init__(
        self, axis=-1, momentum=0.99, epsilon=1e-3, center=True, scale=True, beta_initializer="zeros",
        gamma_initializer="ones", moving_mean_initializer="zeros", moving_variance_initializer="ones",
        beta_regularizer=None, gamma_regularizer=None, beta_constraint=None, gamma_constraint=None,
        synchronized=False, renorm=False, renorm_clipping=None, renorm_momentum=0.99, **kwargs,
    ):  # fmt: skip
        super().__init__(**kwargs)
        if renorm:
            raise NotImplementedError("tutti.compat.keras does not cover renorm of BatchNormalization")
        self.axis, self.momentum, self.epsilon, self.center, self.scale = int(axis), momentum, epsilon, center, scale
        self._prepare(
            beta_initializer=beta_initializer, gamma_initializer=gamma_initializer,
            moving_mean_initializer=moving_mean_initializer, moving_variance_initializer=moving_variance_initializer,
            beta_regularizer=beta_regularizer, gamma_regularizer=gamma_regularizer, beta_constraint=beta_constraint,
            gamma_constraint=gamma_constraint,
        )  # fmt: skip

    def build(self, input_shape):
        """The factors, the numbers added, and what runs along."""
        shape = (input_shape[self.axis],)
        self._add_both(shape)
        self.moving_mean = self.add_weight(shape, self.moving_mean_initializer, name="moving_mean", trainable=False)
        self.moving_variance = self.add_weight(
            shape, self.moving_variance_initializer, name="moving_variance", trainable=False
        )
        self.input_spec = InputSpec(ndim=len(input_shape), axes={self.axis: input_shape[self.axis]})

    def _statistics(self, x, axes, mask):
        if mask is None:
            mean = tt.mean(x, axes, keepdims=True)
            return mean, tt.mean(tt.square(x - mean), axes, keepdims=True)
        weight = mask.astype(x.dtype).reshape(*mask.shape, *(1,) * (x.ndim - mask.ndim))
        count = tt.sum(weight * tt.ones_like(x), axes, keepdims=True) + 1e-7
        mean = tt.sum(x * weight, axes, keepdims=True) / count
        return mean, tt.sum(tt.square(x - mean) * weight, axes, keepdims=True) / count

    def call(self, inputs, training=None, mask=None):
        """The channels less their mean, over their spread."""
        axis = self.axis % inputs.ndim
        if not (training and self.trainable):
            x = inputs if axis == 1 else tt.moveaxis(inputs, axis, 1)
            x = tt.nn.functional.batch_norm(
                x, self.moving_mean, self.moving_variance, self.gamma, self.beta, eps=self.epsilon
            )
            return x if axis == 1 else tt.moveaxis(x, 1, axis)
        axes = tuple(k for k in range(inputs.ndim) if k != axis)
        mean, variance = self._statistics(inputs, axes, mask)
        for running, now in ((self.moving_mean, mean), (self.moving_variance, variance)):
            now = now.detach().reshape(running.shape)
            running.assign(running.detach() * self.momentum + now * (1.0 - self.momentum))
        shape = [n if k == axis else 1 for k, n in enumerate(inputs.shape)]
        x = (inputs - mean) / tt.sqrt(variance + self.epsilon)
        x = x if self.gamma is None else x * self.gamma.reshape(shape)
        return x if self.beta is None else x + self.beta.reshape(shape)


class LayerNormalization(_Scaled):
    """Elements along axes less their mean, over their spread."""

    def __init__(
        self, axis=-1, epsilon=1e-3, center=True, scale=True, beta_initializer="zeros", gamma_initializer="ones",
        beta_regularizer=None, gamma_regularizer=None, beta_constraint=None, gamma_constraint=None, **kwargs,
    ):  # fmt: skip
        kwargs.pop("rms_scaling", None)
        super().__init__(**kwargs)
        self.axis = list(axis) if isinstance(axis, (list, tuple)) else axis
        self.epsilon, self.center, self.scale = epsilon, center, scale
        self._prepare(
            beta_initializer=beta_initializer, gamma_initializer=gamma_initializer, beta_regularizer=beta_regularizer,
            gamma_regularizer=gamma_regularizer, beta_constraint=beta_constraint, gamma_constraint=gamma_constraint,
        )  # fmt: skip

    def _axes(self, rank):
        return tuple(sorted(a % rank for a in (self.axis if isinstance(self.axis, list) else [self.axis])))

    def build(self, input_shape):
        """The factors and the numbers added."""
        self._add_both(tuple(input_shape[a] for a in self._axes(len(input_shape))))

    def call(self, inputs):
        """The elements less their mean, over their spread."""
        axes = self._axes(inputs.ndim)
        if axes == tuple(range(inputs.ndim - len(axes), inputs.ndim)):
            lengths = [inputs.shape[a] for a in axes]
            return tt.nn.functional.layer_norm(inputs, lengths, self.gamma, self.beta, self.epsilon)
        shape = [n if k in axes else 1 for k, n in enumerate(inputs.shape)]
        mean = tt.mean(inputs, axes, keepdims=True)
        x = (inputs - mean) / tt.sqrt(tt.mean(tt.square(inputs - mean), axes, keepdims=True) + self.epsilon)
        x = x if self.gamma is None else x * self.gamma.reshape(shape)
        return x if self.beta is None else x + self.beta.reshape(shape)


class RMSNormalization(_Scaled):
    """Elements along an axis over the root of their mean square."""

    def __init__(self, axis=-1, epsilon=1e-6, **kwargs):
        super().__init__(**kwargs)
        self.axis, self.epsilon = axis, epsilon
        self._prepare(scale_initializer="ones")

    def build(self, input_shape):
        """The factors."""
        axes = [self.axis] if isinstance(self.axis, int) else self.axis
        self.scale = self._add("scale", tuple(input_shape[a] for a in axes))
        self.built = True

    def call(self, inputs):
        """The elements over the root of their mean square."""
        axes = tuple(a % inputs.ndim for a in ([self.axis] if isinstance(self.axis, int) else self.axis))
        shape = [n if k in axes else 1 for k, n in enumerate(inputs.shape)]
        size = tt.sqrt(tt.mean(tt.square(inputs), axes, keepdims=True) + self.epsilon)
        return inputs / size * self.scale.reshape(shape)


class GroupNormalization(_Scaled):
    """Groups of channels less their mean, over their spread."""

    def __init__(
        self, groups=32, axis=-1, epsilon=1e-3, center=True, scale=True, beta_initializer="zeros",
        gamma_initializer="ones", beta_regularizer=None, gamma_regularizer=None, beta_constraint=None,
        gamma_constraint=None, **kwargs,
    ):  # fmt: skip
        super().__init__(**kwargs)
        self.groups, self.axis, self.epsilon, self.center, self.scale = groups, axis, epsilon, center, scale
        self._prepare(
            beta_initializer=beta_initializer, gamma_initializer=gamma_initializer, beta_regularizer=beta_regularizer,
            gamma_regularizer=gamma_regularizer, beta_constraint=beta_constraint, gamma_constraint=gamma_constraint,
        )  # fmt: skip

    def build(self, input_shape):
        """The factors and the numbers added."""
        channels = input_shape[self.axis]
        if self.groups == -1:
            self.groups = channels
        if channels < self.groups or channels % self.groups:
            raise ValueError(
                f"Number of groups ({self.groups}) must be a multiple of the number of channels ({channels})."
            )
        self._add_both((channels,))

    def call(self, inputs):
        """The groups less their mean, over their spread."""
        x = tt.moveaxis(inputs, self.axis, 1)
        x = tt.nn.functional.group_norm(x, self.groups, self.gamma, self.beta, self.epsilon)
        return tt.moveaxis(x, 1, self.axis)


class UnitNormalization(Layer):
    """Vectors along axes over their length."""

    supports_masking = True

    def __init__(self, axis=-1, **kwargs):
        super().__init__(**kwargs)
        self.axis = list(axis) if isinstance(axis, (list, tuple)) else axis

    def call(self, inputs):
        """Vectors of length 1."""
        axes = tuple(self.axis) if isinstance(self.axis, list) else self.axis
        return inputs / tt.sqrt(tt.maximum(tt.sum(tt.square(inputs), axes, keepdims=True), 1e-12))


class SpectralNormalization(Layer):
    """A layer whose kernel is divided by its largest singular value, which steps of training come nearer to."""

    def __init__(self, layer, power_iterations=1, **kwargs):
        super().__init__(**kwargs)
        self.layer, self.power_iterations = layer, power_iterations

    def build(self, input_shape):
        """The layer's weights and a vector."""
        if not self.layer.built:
            self.layer.build(input_shape)
        name = "kernel" if hasattr(self.layer, "kernel") else "embeddings"
        self._kernel_of = getattr(self.layer, name)
        self.vector_u = self.add_weight(
            (1, self._kernel_of.shape[-1]), "truncated_normal", name="vector_u", trainable=False
        )
        self.built = True

    def call(self, inputs, training=False):
        """The layer's outputs."""
        if training and not _state.is_symbolic():
            with tt.no_grad():
                matrix = self._kernel_of.detach().reshape(-1, self._kernel_of.shape[-1])
                u = self.vector_u.detach()
                for _ in range(self.power_iterations):
                    v = _unit(u @ matrix.T)
                    u = _unit(v @ matrix)
                self.vector_u.assign(u)
                self._kernel_of.assign(self._kernel_of.detach() / (v @ matrix @ u.T).reshape(()))
        return self.layer(inputs)


def _unit(x):
    return x / tt.sqrt(tt.maximum(tt.sum(tt.square(x)), 1e-12))
