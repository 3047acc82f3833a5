"""LSTM layers whose products are convolutions."""

import tutti as tt

from .. import activations
from .. import random as _random
from .._layer import InputSpec
from ._conv import BaseConv, channels_back, channels_first
from ._core import get_all
from ._recurrent import _OF_THE_LAYER, RNN


class _Cell(BaseConv):
    """One step: what the inputs add is convolved with strides, the state without."""

    def __init__(
        self, rank, filters, kernel_size, strides=1, padding="valid", data_format=None, dilation_rate=1,
        activation="tanh", recurrent_activation="sigmoid", use_bias=True, kernel_initializer="glorot_uniform",
        recurrent_initializer="orthogonal", bias_initializer="zeros", unit_forget_bias=True, kernel_regularizer=None,
        recurrent_regularizer=None, bias_regularizer=None, kernel_constraint=None, recurrent_constraint=None,
        bias_constraint=None, dropout=0.0, recurrent_dropout=0.0, seed=None, **kwargs,
    ):  # fmt: skip
        super().__init__(
            rank, filters, kernel_size, strides, padding, data_format, dilation_rate, 1, activation, use_bias,
            kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer, None, kernel_constraint,
            bias_constraint, **kwargs,
        )  # fmt: skip
        self.recurrent_activation, self.unit_forget_bias = activations.get(recurrent_activation), unit_forget_bias
        get_all(
            self, recurrent_initializer=recurrent_initializer, recurrent_regularizer=recurrent_regularizer,
            recurrent_constraint=recurrent_constraint,
        )  # fmt: skip
        self.dropout, self.recurrent_dropout = (min(1.0, max(0.0, rate)) for rate in (dropout, recurrent_dropout))
        self._generator, self.state_size = _random.SeedGenerator(seed), [-1, -1]

    def build(self, input_shape):
        """The kernels and the bias."""
        lengths = input_shape[2:] if self.data_format == "channels_first" else input_shape[1:-1]
        if None in lengths:
            raise ValueError(
                "ConvLSTM layers only support static input shapes for the spatial dimension. Received invalid input "
                f"shape: input_shape={input_shape}"
            )
        self._lengths, self._channels = tuple(lengths), input_shape[self._channel_axis()]
        self._add_kernel((*self.kernel_size, self._channels, 4 * self.filters))
        self.recurrent_kernel = self.add_weight(
            (*self.kernel_size, self.filters, 4 * self.filters), self.recurrent_initializer, name="recurrent_kernel",
            regularizer=self.recurrent_regularizer, constraint=self.recurrent_constraint,
        )  # fmt: skip
        self._add_bias(4 * self.filters)
        if self.bias is not None and self.unit_forget_bias:  # at first nothing is forgotten
            n = self.filters
            self.bias.assign(tt.concatenate([self.bias[:n], tt.ones(n, dtype=self.bias.dtype), self.bias[2 * n :]]))
        self.input_spec = InputSpec(ndim=self.rank + 2)

    def get_initial_state(self, batch_size=None):
        """Zeros, as many as a convolution of the inputs gives."""
        x = tt.zeros((batch_size, self._channels, *self._lengths), dtype=self.compute_dtype)
        shape = self._convolved(x, self.kernel[..., : self.filters], None).shape
        zeros = channels_back(tt.zeros(shape, dtype=self.compute_dtype), self.data_format)
        return [zeros, zeros]

    def from_inputs(self, x, training):
        """What inputs of steps, [n, ...], add to the gates, channels first; `training`: some fall out, of each gate its
        own."""
        x = channels_first(x, self.data_format)
        if not training or not self.dropout:
            return self._convolved(x, self.kernel, self.bias)
        kernels = tt.split(self.kernel, 4, axis=-1)
        biases = [None] * 4 if self.bias is None else tt.split(self.bias, 4)
        return tt.concatenate(
            [self._convolved(self._dropped(x, self.dropout), k, b) for k, b in zip(kernels, biases)], 1
        )

    def _dropped(self, x, rate):
        return _random.dropout(x, rate, seed=self._generator)

    def from_state(self, h, training):
        """What the state adds to the gates."""
        ones = (1,) * self.rank
        given = self.padding, self.strides, self.dilation_rate
        self.padding, self.strides, self.dilation_rate = "same", ones, ones
        try:
            if not training or not self.recurrent_dropout:
                return self._convolved(h, self.recurrent_kernel, None)
            kernels = tt.split(self.recurrent_kernel, 4, axis=-1)
            return tt.concatenate(
                [self._convolved(self._dropped(h, self.recurrent_dropout), k, None) for k in kernels], 1
            )
        finally:
            self.padding, self.strides, self.dilation_rate = given

    def step(self, x, h, memory, training):
        """The new state and the new memory, channels first."""
        i, f, c, o = tt.split(x + self.from_state(h, training), 4, axis=1)
        memory = self.recurrent_activation(f) * memory + self.recurrent_activation(i) * self.activation(c)
        return self.recurrent_activation(o) * self.activation(memory), memory

    def call(self, inputs, states, training=False):
        """The new state, and both."""
        h, memory = (channels_first(s, self.data_format) for s in states)
        h, memory = self.step(self.from_inputs(inputs, training), h, memory, training)
        h, memory = (channels_back(s, self.data_format) for s in (h, memory))
        return h, [h, memory]


class _ConvLSTM(RNN):
    """What the inputs add is one convolution of all steps."""

    def __init__(self, rank, args, kwargs):
        own = {key: kwargs.pop(key) for key in _OF_THE_LAYER if key in kwargs}
        told = {key: own[key] for key in ("dtype", "trainable") if key in own}
        super().__init__(_Cell(rank, *args, name=f"conv_lstm_cell{rank}d", **told, **kwargs), **own)
        self.input_spec = InputSpec(ndim=rank + 3)

    def call(self, sequences, initial_state=None, mask=None, training=False):
        """The outputs of the steps, or of the last one."""
        self._training = training
        return super().call(sequences, initial_state, mask, training)

    def _steps(self, sequences, states, mask):
        if mask is not None:
            return self._one_by_one(sequences, states, mask)
        cell, (n, steps), training = self.cell, sequences.shape[:2], self._training
        h, memory = (channels_first(s, cell.data_format) for s in states)
        x = cell.from_inputs(sequences.reshape(n * steps, *sequences.shape[2:]), training)
        x, outputs = x.reshape(n, steps, *x.shape[1:]), []
        for t in range(steps):
            h, memory = cell.step(x[:, t], h, memory, training)
            outputs.append(channels_back(h, cell.data_format))
        return tt.stack(outputs, 1), outputs[-1], [outputs[-1], channels_back(memory, cell.data_format)]

    def get_config(self):
        """What the cell and the layer were made with."""
        inner = self.cell.get_config()
        inner.pop("rank")
        return {**inner, **{k: v for k, v in super().get_config().items() if k != "cell"}}


def _layer(rank):
    axes = "one axis" if rank == 1 else f"{rank} axes"

    def __init__(self, filters, kernel_size, *args, **kwargs):
        _ConvLSTM.__init__(self, rank, (filters, kernel_size, *args), kwargs)

    words = {"__init__": __init__, "__module__": __name__}
    return type(
        f"ConvLSTM{rank}D", (_ConvLSTM,), {**words, "__doc__": f"An LSTM whose products are convolutions along {axes}."}
    )


ConvLSTM1D, ConvLSTM2D, ConvLSTM3D = map(_layer, (1, 2, 3))
NAMES = ["ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D"]
