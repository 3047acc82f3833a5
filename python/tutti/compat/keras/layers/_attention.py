"""Layers of attention."""

import math
import string

import tutti as tt

from .. import constraints, initializers, ops, regularizers
from .. import random as _random
from .._layer import Layer
from ._core import EinsumDense

_LARGE = 1e9


class _Attention(Layer):
    """Values mixed by how well their keys go with queries."""

    supports_masking = True

    def __init__(self, dropout=0.0, seed=None, **kwargs):
        super().__init__(**kwargs)
        self.dropout, self.seed = dropout, seed

    def _scores(self, query, key):
        raise NotImplementedError

    def call(self, inputs, mask=None, training=False, return_attention_scores=False, use_causal_mask=False):
        """The values that go with each query, mixed."""
        query, value = inputs[0], inputs[1]
        key = inputs[2] if len(inputs) > 2 else value
        scores = self._scores(query, key)
        query_mask, value_mask = (mask[0], mask[1]) if mask else (None, None)
        allowed = None if value_mask is None else value_mask[:, None, :]
        if use_causal_mask:
            causal = tt.tril(tt.ones(scores.shape[-2:], dtype="bool"))[None]
            allowed = causal if allowed is None else allowed & causal
        if allowed is not None:
            scores = scores - _LARGE * (~allowed).astype(scores.dtype)
        shares = ops.softmax(scores)
        if training and self.dropout > 0:
            shares = _random.dropout(shares, self.dropout, seed=self.seed)
        made = shares @ value
        if query_mask is not None:
            made = made * query_mask[..., None].astype(made.dtype)
        return (made, shares) if return_attention_scores else made

    def compute_mask(self, inputs, mask=None):
        """That of the queries."""
        if not mask or mask[0] is None:
            return None
        return ops.convert_to_tensor(mask[0])


class Attention(_Attention):
    """Attention by products."""

    def __init__(self, use_scale=False, score_mode="dot", dropout=0.0, seed=None, **kwargs):
        super().__init__(dropout, seed, **kwargs)
        if score_mode not in ("dot", "concat"):
            raise ValueError(
                f"Invalid value for argument score_mode. Expected one of {{'dot', 'concat'}}. "
                f"Received: score_mode={score_mode}"
            )
        self.use_scale, self.score_mode = use_scale, score_mode

    def build(self, input_shape):
        """The factors, if there are any."""
        self.scale = self.add_weight((), "ones", name="scale") if self.use_scale else None
        concat = self.score_mode == "concat"
        self.concat_score_weight = self.add_weight((), "ones", name="concat_score_weight") if concat else None
        self.built = True

    def _scores(self, query, key):
        if self.score_mode == "dot":
            scores = query @ tt.swapaxes(key, 1, 2)
            return scores if self.scale is None else scores * self.scale
        together = query[:, :, None] + key[:, None]
        together = together if self.scale is None else together * self.scale
        return self.concat_score_weight * tt.sum(tt.tanh(together), -1)


class AdditiveAttention(_Attention):
    """Attention by sums."""

    def __init__(self, use_scale=True, dropout=0.0, seed=None, **kwargs):
        super().__init__(dropout, seed, **kwargs)
        self.use_scale = use_scale

    def build(self, input_shape):
        """The factors, if there are any."""
        self.scale = None
        if self.use_scale:
            self.scale = self.add_weight((input_shape[0][-1],), "glorot_uniform", name="scale")
        self.built = True

    def _scores(self, query, key):
        together = tt.tanh(query[:, :, None] + key[:, None])
        return tt.sum(together if self.scale is None else self.scale * together, -1)


class MultiHeadAttention(Layer):
    """Attention of several heads, each with products of its own."""

    supports_masking = True

    def __init__(
        self, num_heads, key_dim, value_dim=None, dropout=0.0, use_bias=True, output_shape=None, attention_axes=None,
        flash_attention=None, kernel_initializer="glorot_uniform", bias_initializer="zeros", kernel_regularizer=None,
        bias_regularizer=None, activity_regularizer=None, kernel_constraint=None, bias_constraint=None,
        use_gate=False, seed=None, **kwargs,
    ):  # fmt: skip
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        if use_gate or attention_axes not in (None, 1, [1], (1,)):  # the only axis between batch and features
            raise NotImplementedError("tutti.compat.keras does not cover attention_axes and use_gate")
        self.num_heads, self.key_dim, self.value_dim = num_heads, key_dim, value_dim or key_dim
        self.dropout, self.use_bias, self.seed = dropout, use_bias, seed
        self._output_shape = (output_shape,) if isinstance(output_shape, int) else output_shape
        self._common = {
            "kernel_initializer": initializers.get(kernel_initializer),
            "bias_initializer": initializers.get(bias_initializer),
            "kernel_regularizer": regularizers.get(kernel_regularizer),
            "bias_regularizer": regularizers.get(bias_regularizer),
            "kernel_constraint": constraints.get(kernel_constraint),
            "bias_constraint": constraints.get(bias_constraint),
        }

    def _into_heads(self, name, size):
        axes = "de" if self.use_bias else None
        return EinsumDense("abc,cde->abde", (None, self.num_heads, size), bias_axes=axes, name=name, **self._common)

    def _made(self, layer, shape):
        with layer._scope():
            layer.build(shape)
        return layer

    def build(self, query_shape, value_shape, key_shape=None):
        """The weights of all products."""
        if len(query_shape) != 3:
            raise NotImplementedError("tutti.compat.keras covers attention over one axis: [batch, steps, features]")
        key_shape = value_shape if key_shape is None else key_shape
        if query_shape[-1] != value_shape[-1] and self._output_shape is None:
            raise ValueError(
                "The last dimension of `query_shape` and `value_shape` must be equal, but are "
                f"{query_shape[-1]}, {value_shape[-1]}. Received: query_shape={query_shape}, value_shape={value_shape}"
            )
        self.query_dense = self._made(self._into_heads("query", self.key_dim), query_shape)
        self.key_dense = self._made(self._into_heads("key", self.key_dim), key_shape)
        self.value_dense = self._made(self._into_heads("value", self.value_dim), value_shape)
        out = tuple(self._output_shape or query_shape[-1:])
        letters = string.ascii_lowercase[4 : 4 + len(out)]
        self.output_dense = EinsumDense(
            f"abcd,cd{letters}->ab{letters}", (None, *out), bias_axes=letters if self.use_bias else None,
            name="attention_output", **self._common,
        )  # fmt: skip
        self._made(self.output_dense, (*query_shape[:2], self.num_heads, self.value_dim))
        self.built = True

    def _allowed(self, query, value, masks, attention_mask, use_causal_mask):
        """Which steps a query may look at, or None: all."""
        query_mask, value_mask, key_mask = masks
        found = []
        if query_mask is not None:
            found.append(query_mask[:, :, None])
        found += [m[:, None, :] for m in (value_mask, key_mask) if m is not None]
        if use_causal_mask:
            found.append(tt.tril(tt.ones((query.shape[1], value.shape[1]), dtype="bool"))[None])
        if attention_mask is not None:
            found.append(attention_mask.astype("bool"))
        allowed = None
        for own in found:
            allowed = own if allowed is None else allowed & own
        return None if allowed is None else allowed[:, None] if allowed.ndim == 3 else allowed

    def call(
        self, query, value, key=None, query_mask=None, value_mask=None, key_mask=None, attention_mask=None,
        return_attention_scores=False, training=None, use_causal_mask=False,
    ):  # fmt: skip
        """The values that go with each query, mixed by each head."""
        key = value if key is None else key
        allowed = self._allowed(query, value, (query_mask, value_mask, key_mask), attention_mask, use_causal_mask)
        q, k, v = (
            tt.swapaxes(layer(x), 1, 2)
            for layer, x in ((self.query_dense, query), (self.key_dense, key), (self.value_dense, value))
        )
        scores = (q * (1.0 / math.sqrt(self.key_dim))) @ tt.swapaxes(k, -1, -2)
        if allowed is not None:
            scores = scores - _LARGE * (~allowed).astype(scores.dtype)
        shares = ops.softmax(scores)
        used = _random.dropout(shares, self.dropout, seed=self.seed) if training and self.dropout > 0 else shares
        made = self.output_dense(tt.swapaxes(used @ v, 1, 2))
        return (made, shares) if return_attention_scores else made

    def compute_mask(self, inputs, mask=None):
        """That of the queries."""
        from .._graph import get_mask

        return get_mask(inputs)
