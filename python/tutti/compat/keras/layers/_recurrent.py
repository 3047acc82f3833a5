"""Recurrent layers: cells, and what calls a cell for each step. Whole sequences of the usual cells are one function."""

import tutti as tt
from tutti import _core

from .. import _state, activations
from .. import random as _random
from .._graph import get_mask
from .._layer import InputSpec, Layer
from .._tree import flatten, map_structure, pack
from ._core import Wrapper, get_all

_layers = _core.functions["nn.rnn.layers"]


class _Cell(Layer):
    """One step: the input and the states before give an output and new states."""

    _gates, _states = 1, 1

    def __init__(
        self, units, activation="tanh", recurrent_activation="sigmoid", use_bias=True,
        kernel_initializer="glorot_uniform", recurrent_initializer="orthogonal", bias_initializer="zeros",
        kernel_regularizer=None, recurrent_regularizer=None, bias_regularizer=None, kernel_constraint=None,
        recurrent_constraint=None, bias_constraint=None, dropout=0.0, recurrent_dropout=0.0, seed=None, **kwargs,
    ):  # fmt: skip
        if units <= 0:
            raise ValueError(
                f"Received an invalid value for argument `units`, expected a positive integer, got {units}."
            )
        super().__init__(**kwargs)
        self.units, self.use_bias, self.seed = units, use_bias, seed
        self.activation = activations.get(activation)
        self.recurrent_activation = activations.get(recurrent_activation)
        get_all(
            self, kernel_initializer=kernel_initializer, recurrent_initializer=recurrent_initializer,
            bias_initializer=bias_initializer, kernel_regularizer=kernel_regularizer,
            recurrent_regularizer=recurrent_regularizer, bias_regularizer=bias_regularizer,
            kernel_constraint=kernel_constraint, recurrent_constraint=recurrent_constraint,
            bias_constraint=bias_constraint,
        )  # fmt: skip
        self.dropout, self.recurrent_dropout = min(1.0, max(0.0, dropout)), min(1.0, max(0.0, recurrent_dropout))
        self.state_size = units if self._states == 1 else [units] * self._states
        self.output_size = units

    def _first_bias(self, shape, dtype=None):
        return self.bias_initializer(shape, dtype)

    def _bias_shape(self):
        return (self._gates * self.units,)

    def build(self, input_shape):
        """The weights of the inputs, of the states, and the bias."""
        n = self._gates * self.units
        self.kernel = self.add_weight(
            (input_shape[-1], n), self.kernel_initializer, name="kernel", regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
        )  # fmt: skip
        self.recurrent_kernel = self.add_weight(
            (self.units, n), self.recurrent_initializer, name="recurrent_kernel",
            regularizer=self.recurrent_regularizer, constraint=self.recurrent_constraint,
        )  # fmt: skip
        self.bias = None
        if self.use_bias:
            self.bias = self.add_weight(
                self._bias_shape(), self._first_bias, name="bias", regularizer=self.bias_regularizer,
                constraint=self.bias_constraint,
            )  # fmt: skip
        self.built = True

    def get_initial_state(self, batch_size=None):
        """Zeros."""
        return [tt.zeros((batch_size, self.units), dtype=self.compute_dtype) for _ in range(self._states)]

    def _begin_sequence(self, inputs, training):
        """What falls out of the states is the same in all steps; so it is of the inputs, which are given back."""
        self._kept = None
        if not training:
            return inputs
        if self.recurrent_dropout:
            ones = tt.ones((inputs.shape[0], self.units), dtype=inputs.dtype)
            self._kept = _random.dropout(ones, self.recurrent_dropout, seed=self.seed)
        if not self.dropout:
            return inputs
        return inputs * _random.dropout(tt.ones_like(inputs[:, :1]), self.dropout, seed=self.seed)

    def _state(self, states):
        h = states[0]
        kept = getattr(self, "_kept", None)
        return h if kept is None else h * kept

    def _whole(self):
        """The mode and the weights for whole sequences, or None where this cell has none."""
        return None

    def _usual(self, *names):
        own = self.activation, self.recurrent_activation
        return all(f.__name__ == name for f, name in zip(own, names))

    def _weights_of(self, kernel, recurrent, first, second):
        zeros = tt.zeros((kernel.shape[1],), dtype=kernel.dtype)
        return [kernel.T, recurrent.T, zeros if first is None else first, zeros if second is None else second]


class SimpleRNNCell(_Cell):
    """One step: an activation of the input's product and the state's."""

    def __init__(self, units, activation="tanh", use_bias=True, **kwargs):
        super().__init__(units, activation, "sigmoid", use_bias, **kwargs)

    def call(self, sequence, states, training=False):
        """The new state."""
        states = states if isinstance(states, (list, tuple)) else [states]
        x = sequence @ self.kernel + self._state(states) @ self.recurrent_kernel
        h = self.activation(x if self.bias is None else x + self.bias)
        return h, [h]

    def _whole(self):
        if self.activation.__name__ not in ("tanh", "relu"):
            return None
        mode = f"RNN_{self.activation.__name__.upper()}"
        return mode, self._weights_of(self.kernel, self.recurrent_kernel, self.bias, None)


class LSTMCell(_Cell):
    """One step with a memory, which gates write, keep and read."""

    _gates, _states = 4, 2

    def __init__(self, units, activation="tanh", recurrent_activation="sigmoid", use_bias=True,
                 kernel_initializer="glorot_uniform", recurrent_initializer="orthogonal", bias_initializer="zeros",
                 unit_forget_bias=True, **kwargs):  # fmt: skip
        super().__init__(
            units, activation, recurrent_activation, use_bias, kernel_initializer, recurrent_initializer,
            bias_initializer, **kwargs,
        )  # fmt: skip
        self.unit_forget_bias = unit_forget_bias

    def _first_bias(self, shape, dtype=None):
        if not self.unit_forget_bias:
            return super()._first_bias(shape, dtype)
        n, first = self.units, self.bias_initializer
        return tt.concatenate([first((n,), dtype), tt.ones(n, dtype=dtype), first((2 * n,), dtype)])

    def call(self, sequence, states, training=False):
        """The new state and the new memory."""
        x = sequence @ self.kernel + self._state(states) @ self.recurrent_kernel
        i, f, c, o = tt.split(x if self.bias is None else x + self.bias, 4, axis=-1)
        memory = self.recurrent_activation(f) * states[1] + self.recurrent_activation(i) * self.activation(c)
        h = self.recurrent_activation(o) * self.activation(memory)
        return h, [h, memory]

    def _whole(self):
        if not self._usual("tanh", "sigmoid"):
            return None
        return "LSTM", self._weights_of(self.kernel, self.recurrent_kernel, self.bias, None)


class GRUCell(_Cell):
    """One step with gates that keep and forget."""

    _gates = 3

    def __init__(self, units, activation="tanh", recurrent_activation="sigmoid", use_bias=True,
                 kernel_initializer="glorot_uniform", recurrent_initializer="orthogonal", bias_initializer="zeros",
                 reset_after=True, **kwargs):  # fmt: skip
        super().__init__(
            units, activation, recurrent_activation, use_bias, kernel_initializer, recurrent_initializer,
            bias_initializer, **kwargs,
        )  # fmt: skip
        self.reset_after = reset_after

    def _bias_shape(self):
        return (2, 3 * self.units) if self.reset_after else (3 * self.units,)

    def call(self, sequence, states, training=False):
        """The new state."""
        states = states if isinstance(states, (list, tuple)) else [states]
        before, n = states[0], 2 * self.units
        x, h = sequence @ self.kernel, self._state(states)
        if self.bias is not None:
            x = x + (self.bias[0] if self.reset_after else self.bias)
        inner = h @ (self.recurrent_kernel if self.reset_after else self.recurrent_kernel[:, :n])
        if self.reset_after and self.bias is not None:
            inner = inner + self.bias[1]
        z, r = tt.split(self.recurrent_activation(x[:, :n] + inner[:, :n]), 2, axis=-1)
        new = r * inner[:, n:] if self.reset_after else (r * h) @ self.recurrent_kernel[:, n:]
        new = self.activation(x[:, n:] + new)
        made = z * before + (1 - z) * new
        return made, [made]

    def _whole(self):
        if not self.reset_after or not self._usual("tanh", "sigmoid"):
            return None

        def reset_first(a):  # the gates that forget come first there
            z, r, h = tt.split(a, 3, axis=-1)
            return tt.concatenate([r, z, h], -1)

        biases = [None, None] if self.bias is None else [reset_first(self.bias[k]) for k in (0, 1)]
        return "GRU", self._weights_of(reset_first(self.kernel), reset_first(self.recurrent_kernel), *biases)


class StackedRNNCells(Layer):
    """Cells, each over the outputs of the one before."""

    def __init__(self, cells, **kwargs):
        super().__init__(**kwargs)
        for cell in cells:
            if not hasattr(cell, "call") or not hasattr(cell, "state_size"):
                raise ValueError(
                    f"All cells must have a `call` method and a `state_size`. Received cell without: {cell}"
                )
        self.cells = list(cells)

    @property
    def state_size(self):
        """Those of the cells."""
        return [c.state_size for c in self.cells]

    @property
    def output_size(self):
        """That of the last cell."""
        return getattr(self.cells[-1], "output_size", self.cells[-1].state_size)

    def get_initial_state(self, batch_size=None):
        """Those of the cells."""
        return [_first_states(cell, batch_size) for cell in self.cells]

    def build(self, input_shape):
        """The cells' weights."""
        for cell in self.cells:
            if not cell.built:
                cell.build(input_shape)
                cell.built = True
            size = getattr(cell, "output_size", cell.state_size)
            input_shape = (input_shape[0], size if isinstance(size, int) else size[0])
        self.built = True

    def call(self, inputs, states, training=False):
        """The output of the last cell, and all states."""
        made = []
        for cell, own in zip(self.cells, states):
            inputs, new = cell(inputs, own)
            made.append(new if isinstance(new, list) else list(new) if isinstance(new, tuple) else [new])
        return inputs, made


def _first_states(cell, batch_size):
    if hasattr(cell, "get_initial_state"):
        made = cell.get_initial_state(batch_size=batch_size)
        return list(made) if isinstance(made, (list, tuple)) else [made]
    sizes = cell.state_size if isinstance(cell.state_size, (list, tuple)) else [cell.state_size]
    return [tt.zeros((batch_size, n), dtype=cell.compute_dtype) for n in sizes]


class RNN(Layer):
    """A cell, called for each step of sequences."""

    def __init__(
        self, cell, return_sequences=False, return_state=False, go_backwards=False, stateful=False, unroll=False,
        zero_output_for_mask=False, **kwargs,
    ):  # fmt: skip
        super().__init__(**kwargs)
        cell = StackedRNNCells(cell) if isinstance(cell, (list, tuple)) else cell
        if not hasattr(cell, "call"):
            raise ValueError(f"Argument `cell` should have a `call` method. Received: cell={cell}")
        if not hasattr(cell, "state_size"):
            raise ValueError(
                "The RNN cell should have a `state_size` attribute (single integer or list of integers, one integer "
                f"per RNN state). Received: cell={cell}"
            )
        self.cell, self.return_sequences, self.return_state = cell, return_sequences, return_state
        self.go_backwards, self.stateful, self.unroll = go_backwards, stateful, unroll
        self.zero_output_for_mask, self.states = zero_output_for_mask, None
        self.input_spec = InputSpec(ndim=3) if isinstance(cell, _Cell) else None

    def build(self, sequences_shape, initial_state_shape=None):
        """The cell's weights."""
        if not self.cell.built:
            with self.cell._scope():
                self.cell.build((sequences_shape[0], *sequences_shape[2:]))
            self.cell.built = True
        self.built = True

    def get_initial_state(self, batch_size):
        """The states before the first step."""
        return _first_states(self.cell, batch_size)

    def reset_state(self):
        """Begin with zeros again."""
        self.states = None

    reset_states = reset_state

    def call(self, sequences, initial_state=None, mask=None, training=False):
        """The outputs of the steps, or of the last one."""
        states = initial_state
        if states is None:
            kept = self.states if self.stateful and not _state.is_symbolic() else None
            states = kept or self.get_initial_state(sequences.shape[0])
        states = list(states) if isinstance(states, (list, tuple)) else [states]
        mask = flatten(mask)[0] if mask is not None else None
        if self.go_backwards:
            sequences, mask = tt.flip(sequences, 1), None if mask is None else tt.flip(mask, 1)
        if isinstance(self.cell, _Cell):
            sequences = self.cell._begin_sequence(sequences, training)
        outputs, last, states = self._steps(sequences, states, mask)
        if self.stateful and not _state.is_symbolic():
            self.states = map_structure(lambda s: s.detach(), states)
        made = outputs if self.return_sequences else last
        return (made, *states) if self.return_state else made

    def _steps(self, sequences, states, mask):
        whole = self.cell._whole() if isinstance(self.cell, _Cell) else None
        if whole is None or self.cell._kept is not None:
            return self._one_by_one(sequences, states, mask)
        if mask is None:
            return self._whole(whole, sequences, states)
        if len(states) > 1 and (self.return_state or self.stateful):  # memories of all steps are not given
            return self._one_by_one(sequences, states, mask)
        return self._counted(whole, sequences, states, mask)

    def _whole(self, whole, sequences, states):
        """All steps by one function."""
        mode, weights = whole
        first, x = [s[None] for s in states], tt.swapaxes(sequences, 0, 1)
        made = _layers(mode, x, first[0], first[-1], weights, True, 1, 0.0, False, False, None)
        states = [s[0] for s in made[1 : 1 + len(states)]]
        return tt.swapaxes(made[0], 0, 1), states[0], states

    def _counted(self, whole, sequences, states, mask):
        """The steps that count, one after the other; each step has the output of the last that counted up to it."""
        order = tt.argsort(~mask, axis=1, kind="stable")
        outputs = self._whole(whole, tt.take_along_axis(sequences, order[..., None], axis=1), states)[0]
        count = tt.cumsum(mask.astype("int64"), axis=1)[..., None]
        made = tt.take_along_axis(outputs, tt.maximum(count - 1, 0), axis=1)
        made = tt.where(count > 0, made, states[0][:, None])
        states = [made[:, -1], *states[1:]]
        if self.zero_output_for_mask:
            made = tt.where(mask[..., None], made, tt.zeros_like(made))
        return made, made[:, -1], states

    def _one_by_one(self, sequences, states, mask):
        """Each step by itself; where a mask is False, the states and the output stay."""
        outputs, last = [], None
        for t in range(sequences.shape[1]):
            counts = None if mask is None else mask[:, t]
            out, new = self.cell(sequences[:, t], states)
            new = list(new) if isinstance(new, (list, tuple)) else [new]
            if counts is not None:
                before = tt.zeros_like(out) if self.zero_output_for_mask else _output_before(states)
                new = pack(states, [_chosen(counts, a, b) for a, b in zip(flatten(new), flatten(states))])
                out = _chosen(counts, out, before)
            states, last = new, out
            outputs.append(out)
        return tt.stack(outputs, 1), last, states

    def compute_mask(self, inputs, mask=None):
        """That of the inputs, where steps are given."""
        mask = flatten(mask)[0] if mask is not None else None
        own = mask if self.return_sequences else None
        return [own] + [None] * len(flatten(self.cell.state_size)) if self.return_state else own


def _output_before(states):
    """The first state of the last cell is taken for the output of the step before."""
    return states[-1][0] if isinstance(states[0], (list, tuple)) else states[0]


def _chosen(counts, new, old):
    return tt.where(counts.reshape(-1, *(1,) * (new.ndim - 1)), new, old)


_OF_THE_LAYER = (
    "return_sequences return_state go_backwards stateful unroll zero_output_for_mask name trainable dtype "
    "activity_regularizer"
).split()


def _layer_of(name, cell):
    """The layer of a cell: its constructor takes the cell's arguments and its own."""

    def __init__(self, units, activation="tanh", *args, **kwargs):
        kwargs.pop("use_cudnn", None)
        own = {key: kwargs.pop(key) for key in _OF_THE_LAYER if key in kwargs}
        told = {key: own[key] for key in ("dtype", "trainable") if key in own}
        RNN.__init__(
            self, cell(units, activation, *args, name=_state.snake_case(cell.__name__), **told, **kwargs), **own
        )

    def get_config(self):
        inner = self.cell.get_config()
        return {**inner, **Layer.get_config(self), "units": self.cell.units, "activation": inner["activation"]}

    made = {
        "__init__": __init__,
        "__doc__": f"{cell.__doc__[:-1]}, for each step of sequences.",
        "__module__": __name__,
    }
    for attribute in "units activation use_bias kernel_initializer recurrent_initializer bias_initializer".split():
        made[attribute] = property(lambda self, attribute=attribute: getattr(self.cell, attribute))
    made["get_config"] = get_config
    return type(name, (RNN,), made)


SimpleRNN = _layer_of("SimpleRNN", SimpleRNNCell)
LSTM = _layer_of("LSTM", LSTMCell)
GRU = _layer_of("GRU", GRUCell)


class TimeDistributed(Wrapper):
    """A layer over each step."""

    supports_masking = True

    def build(self, input_shape):
        """The layer's weights."""
        if not self.layer.built:
            with self.layer._scope():
                self.layer.build((input_shape[0], *input_shape[2:]))
            self.layer.built = True
        self.built = True

    def call(self, inputs, training=None, mask=None):
        """The layer of all steps."""
        n, steps = inputs.shape[:2]
        made = self.layer(inputs.reshape(n * steps, *inputs.shape[2:]))
        return made.reshape(n, steps, *made.shape[1:])


class Bidirectional(Layer):
    """A recurrent layer forward and another one backward."""

    def __init__(self, layer, merge_mode="concat", weights=None, backward_layer=None, **kwargs):
        if not isinstance(layer, Layer):
            raise ValueError(
                "Please initialize `Bidirectional` layer with a `keras.layers.Layer` instance. " f"Received: {layer}"
            )
        if merge_mode not in ("sum", "mul", "ave", "concat", None):
            raise ValueError(
                f"Invalid merge mode. Received: {merge_mode}. Merge mode should be one of "
                '{"sum", "mul", "ave", "concat", None}'
            )
        kwargs.setdefault("name", _state.auto_name("bidirectional"))
        super().__init__(**kwargs)
        config = layer.get_config()
        self.forward_layer = layer.from_config({**config, "name": f"forward_{layer.name}"})
        if backward_layer is None:
            config = {**config, "name": f"backward_{layer.name}", "go_backwards": True}
            self.backward_layer = layer.from_config(config)
        else:
            self.backward_layer = backward_layer
        if self.forward_layer.go_backwards == self.backward_layer.go_backwards:
            raise ValueError(
                "Forward layer and backward layer should have different `go_backwards` value. Received: "
                f"forward_layer.go_backwards {self.forward_layer.go_backwards}, "
                f"backward_layer.go_backwards={self.backward_layer.go_backwards}"
            )
        for own in (self.forward_layer, self.backward_layer):  # steps that do not count give zeros
            own.zero_output_for_mask = own.return_sequences
        self.merge_mode = merge_mode
        self.return_sequences, self.return_state = layer.return_sequences, layer.return_state
        self.input_spec = layer.input_spec

    def build(self, sequences_shape, initial_state_shape=None):
        """The weights of both."""
        for layer in (self.forward_layer, self.backward_layer):
            if not layer.built:
                with layer._scope():
                    layer.build(sequences_shape)
                layer.built = True
        self.built = True

    def call(self, sequences, initial_state=None, mask=None, training=None):
        """The outputs of both, merged."""
        given = [None, None]
        if initial_state is not None:
            half = len(initial_state) // 2
            given = [list(initial_state[:half]), list(initial_state[half:])]
        made = [
            layer(sequences, initial_state=own, mask=mask) if own is not None else layer(sequences, mask=mask)
            for layer, own in zip((self.forward_layer, self.backward_layer), given)
        ]
        states = []
        if self.return_state:
            states = [s for m in made for s in m[1:]]
            made = [m[0] for m in made]
        first, second = made
        if self.return_sequences:
            second = tt.flip(second, 1)
        out = self._merged(first, second)
        return (*(out if self.merge_mode is None else (out,)), *states) if states else out

    def _merged(self, first, second):
        if self.merge_mode is None:
            return first, second
        if self.merge_mode == "concat":
            return tt.concatenate([first, second], -1)
        if self.merge_mode == "mul":
            return first * second
        return first + second if self.merge_mode == "sum" else (first + second) / 2

    def compute_mask(self, inputs, mask=None):
        """That of the inputs, where steps are given."""
        mask = flatten(mask)[0] if mask is not None else get_mask(inputs)
        own = mask if self.return_sequences else None
        if self.merge_mode is None:
            own = [own, own]
        if not self.return_state or own is None:
            return own
        states = [None] * (2 * len(flatten(self.forward_layer.cell.state_size)))
        return (own if isinstance(own, list) else [own]) + states
