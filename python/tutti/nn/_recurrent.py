"""Recurrent layers and their cells: RNN, LSTM and GRU over `nn.rnn.*` of the function table."""

from .. import _core
from ._module import Module
from ._weighted import _draw_uniform, _new
from .utils.rnn import PackedSequence

_layers, _cell = _core.functions["nn.rnn.layers"], _core.functions["nn.rnn.cell"]
_GATES = {"RNN_TANH": 1, "RNN_RELU": 1, "LSTM": 4, "GRU": 3}
_WORDS = {
    "input_size": "int : How long the last axis of the input is.",
    "hidden_size": "int : How long states are.",
    "num_layers": "int : How many layers there are, each over the states of the one before.",
    "nonlinearity": "{'tanh', 'relu'} : What sums go through.",
    "bias": "bool : Whether there are biases.",
    "batch_first": "bool : Whether the first axis is that of images, not of steps.",
    "dropout": "float : The chance that a state goes between layers, in training.",
    "bidirectional": "bool : Whether there is a second network from the end.",
    "proj_size": "int : How long states are that a step gives, projected from those of the gates; 0: as long as these.",
    "device": "Device or str : Where the parameters lie.",
    "dtype": "dtype : Their type; None: float32.",
}


def _told(summary, names, example):
    lines = [summary, "", "Parameters", "----------"]
    for name in names.split():
        kind, _, words = _WORDS[name].partition(" : ")
        lines += [f"{name} : {kind}", f"    {words}"]
    return "\n".join([*lines, "", "Examples", "--------", *example])


def _zeros(like, *shape):
    return _core.functions["zeros"](shape, like.dtype, device=like.device)


class _Recurrent(Module):
    mode = ""

    def _begin(self, sizes, num_layers, bias, batch_first, dropout, bidirectional, place, proj_size=0):
        super().__init__()
        self.proj_size = proj_size
        (self.input_size, self.hidden_size), self.num_layers = sizes, num_layers
        self.bias, self.batch_first, self.dropout, self.bidirectional = bias, batch_first, dropout, bidirectional
        if not isinstance(dropout, (int, float)) or isinstance(dropout, bool) or not 0 <= dropout <= 1:
            raise ValueError(
                "dropout should be a number in range [0, 1] representing the probability of an element being zeroed"
            )
        if self.hidden_size <= 0:
            raise ValueError("hidden_size must be greater than zero")
        if num_layers <= 0:
            raise ValueError("num_layers must be greater than zero")
        if proj_size < 0:
            raise ValueError("proj_size should be a positive integer or zero to disable projections")
        if proj_size >= self.hidden_size:
            raise ValueError("proj_size has to be smaller than hidden_size")
        ways = 2 if bidirectional else 1
        for layer in range(num_layers):
            inputs = self.input_size if layer == 0 else self._given() * ways
            for end in ("", "_reverse")[:ways]:
                for name, shape in self._shapes(inputs, bias):
                    self.register_parameter(f"{name}_l{layer}{end}", _new(shape, *place))
        self.reset_parameters()

    def _given(self):
        """How long the states are that a step gives."""
        return self.proj_size or self.hidden_size

    def _shapes(self, inputs, bias):
        """The weights of one direction of a layer."""
        rows = _GATES[self.mode] * self.hidden_size
        shapes = [("weight_ih", (rows, inputs)), ("weight_hh", (rows, self._given()))]
        shapes += [("bias_ih", rows), ("bias_hh", rows)] if bias else []
        return [*shapes, ("weight_hr", (self.proj_size, self.hidden_size))] if self.proj_size else shapes

    def reset_parameters(self):
        """Draw the parameters: uniform up to one over the root of hidden_size.

        Returns
        -------
        None

        Examples
        --------
        >>> tt.nn.GRU(2, 3).reset_parameters()
        """
        _draw_uniform(self, self.hidden_size)

    def forward(self, input, hx=None):
        """The states of the last layer, and the last states.

        Parameters
        ----------
        input : ndarray or PackedSequence
            [steps, images, input_size], or without images; sequences of several lengths are packed.
        hx : ndarray, or tuple of ndarray
            The first states, [num_layers * ways, images, hidden_size or proj_size]; of LSTM with the memories. None:
            zeros.

        Returns
        -------
        tuple
            The states, [steps, images, ways * hidden_size or proj_size], or packed; and the last ones, of LSTM a
            pair with the memories.

        Examples
        --------
        >>> states, last = tt.nn.GRU(2, 3).forward(tt.ones((5, 4, 2), dtype="float32"))
        >>> states.shape, last.shape
        ((5, 4, 3), (1, 4, 3))
        """
        if isinstance(input, PackedSequence):
            return self._packed(input, hx)
        if input.ndim not in (2, 3):
            raise ValueError(f"{type(self).__name__}: Expected input to be 2D or 3D, got {input.ndim}D instead")
        single, lstm = input.ndim == 2, self.mode == "LSTM"
        states = None if hx is None else list(hx) if lstm else [hx]
        if single:
            input, states = input[:, None], states and [s[:, None] for s in states]
        elif self.batch_first:
            input = input.swapaxes(0, 1)
        out, *last = self._states(input, states, input.shape[1], None)
        if single:
            out, last = out[:, 0], [s[:, 0] for s in last]
        elif self.batch_first:
            out = out.swapaxes(0, 1)
        return out, tuple(last) if lstm else last[0]

    def _states(self, input, states, images, batch_sizes):
        if states is None:
            first = self.num_layers * (2 if self.bidirectional else 1), images
            states = [_zeros(input, *first, width) for width in (self._given(), self.hidden_size)]
        weights = list(self._parameters.values())
        return _layers(
            self.mode,
            input,
            states[0],
            states[-1],
            weights,
            self.bias,
            self.num_layers,
            self.dropout,
            self.training,
            self.bidirectional,
            batch_sizes,
        )

    def _packed(self, input, hx):
        data, sizes, order, back = input
        lstm = self.mode == "LSTM"
        states = None if hx is None else list(hx) if lstm else [hx]
        if states and order is not None:
            states = [s[:, order] for s in states]
        out, *last = self._states(data, states, int(sizes[0]), sizes)
        last = last if back is None else [s[:, back] for s in last]
        return PackedSequence(out, sizes, order, back), tuple(last) if lstm else last[0]

    def extra_repr(self):
        """The numbers that the layer was made with.

        Returns
        -------
        str
            The words.

        Examples
        --------
        >>> tt.nn.GRU(2, 3, num_layers=2).extra_repr()
        '2, 3, num_layers=2'
        """
        said = [f"{self.input_size}, {self.hidden_size}"]
        usual = {"proj_size": 0, "num_layers": 1, "bias": True, "batch_first": False, "dropout": 0.0}
        usual["bidirectional"] = False
        said += [f"{name}={getattr(self, name)}" for name, value in usual.items() if getattr(self, name) != value]
        return ", ".join(said)


_ALL = "bias batch_first dropout bidirectional device dtype"


class RNN(_Recurrent):
    __doc__ = _told(
        "A recurrent network: each state is made of the input and the state before.",
        f"input_size hidden_size num_layers nonlinearity {_ALL}",
        [">>> tt.nn.RNN(2, 3)", "RNN(2, 3)"],
    )

    def __init__(
        self,
        input_size,
        hidden_size,
        num_layers=1,
        nonlinearity="tanh",
        bias=True,
        batch_first=False,
        dropout=0.0,
        bidirectional=False,
        device=None,
        dtype=None,
    ):
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
        object.__setattr__(self, "mode", "RNN_" + nonlinearity.upper())
        sizes = input_size, hidden_size
        self._begin(sizes, num_layers, bias, batch_first, dropout, bidirectional, (device, dtype))
        self.nonlinearity = nonlinearity


class LSTM(_Recurrent):
    __doc__ = _told(
        "A recurrent network with a memory, which gates write, keep and read.",
        f"input_size hidden_size num_layers {_ALL.replace('device', 'proj_size device')}",
        [">>> tt.nn.LSTM(2, 3, batch_first=True)", "LSTM(2, 3, batch_first=True)"],
    )
    mode = "LSTM"

    def __init__(
        self,
        input_size,
        hidden_size,
        num_layers=1,
        bias=True,
        batch_first=False,
        dropout=0.0,
        bidirectional=False,
        proj_size=0,
        device=None,
        dtype=None,
    ):
        sizes = input_size, hidden_size
        self._begin(sizes, num_layers, bias, batch_first, dropout, bidirectional, (device, dtype), proj_size)


class GRU(_Recurrent):
    __doc__ = _told(
        "A recurrent network whose states are left for new ones by a gate.",
        f"input_size hidden_size num_layers {_ALL}",
        [">>> tt.nn.GRU(2, 3, bidirectional=True)", "GRU(2, 3, bidirectional=True)"],
    )
    mode = "GRU"

    def __init__(
        self,
        input_size,
        hidden_size,
        num_layers=1,
        bias=True,
        batch_first=False,
        dropout=0.0,
        bidirectional=False,
        device=None,
        dtype=None,
    ):
        sizes = input_size, hidden_size
        self._begin(sizes, num_layers, bias, batch_first, dropout, bidirectional, (device, dtype))


class _Cell(Module):
    mode = ""

    def _begin(self, input_size, hidden_size, bias, place):
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        rows = _GATES[self.mode] * hidden_size
        self.weight_ih = _new((rows, input_size), *place)
        self.weight_hh = _new((rows, hidden_size), *place)
        for name in "bias_ih", "bias_hh":
            self.register_parameter(name, _new(rows, *place) if bias else None)
        self.reset_parameters()

    reset_parameters = _Recurrent.reset_parameters

    def forward(self, input, hx=None):
        """One step.

        Parameters
        ----------
        input : ndarray
            [images, input_size], or [input_size].
        hx : ndarray, or tuple of ndarray
            The state before, [images, hidden_size]; of LSTMCell with the memory. None: zeros.

        Returns
        -------
        ndarray, or tuple of ndarray
            The new state; of LSTMCell with the memory.

        Examples
        --------
        >>> tt.nn.GRUCell(2, 3).forward(tt.ones((4, 2), dtype="float32")).shape
        (4, 3)
        """
        if input.ndim not in (1, 2):
            raise ValueError(f"{type(self).__name__}: Expected input to be 1D or 2D, got {input.ndim}D instead")
        single, lstm = input.ndim == 1, self.mode == "LSTM"
        input = input[None] if single else input
        if hx is None:
            states = [_zeros(input, input.shape[0], self.hidden_size)] * (2 if lstm else 1)
        else:
            states = [s[None] if single else s for s in (hx if lstm else [hx])]
        weights = [p for p in self._parameters.values() if p is not None]
        made = _cell(self.mode, input, states[0], states[-1], weights)
        made = tuple(s[0] for s in made) if single else made
        return made if lstm else made[0]

    def extra_repr(self):
        """The numbers that the cell was made with.

        Returns
        -------
        str
            The words.

        Examples
        --------
        >>> tt.nn.GRUCell(2, 3, bias=False).extra_repr()
        '2, 3, bias=False'
        """
        more = ", nonlinearity=relu" if self.mode == "RNN_RELU" else ""
        return f"{self.input_size}, {self.hidden_size}" + ("" if self.bias else f", bias={self.bias}") + more


class RNNCell(_Cell):
    __doc__ = _told(
        "One step of a recurrent network.",
        "input_size hidden_size bias nonlinearity device dtype",
        [">>> tt.nn.RNNCell(2, 3)", "RNNCell(2, 3)"],
    )

    def __init__(self, input_size, hidden_size, bias=True, nonlinearity="tanh", device=None, dtype=None):
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity: {nonlinearity}")
        object.__setattr__(self, "mode", "RNN_" + nonlinearity.upper())
        self._begin(input_size, hidden_size, bias, (device, dtype))
        self.nonlinearity = nonlinearity


class LSTMCell(_Cell):
    __doc__ = _told(
        "One step of an LSTM network.",
        "input_size hidden_size bias device dtype",
        [">>> tt.nn.LSTMCell(2, 3)", "LSTMCell(2, 3)"],
    )
    mode = "LSTM"

    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        self._begin(input_size, hidden_size, bias, (device, dtype))


class GRUCell(_Cell):
    __doc__ = _told(
        "One step of a GRU network.",
        "input_size hidden_size bias device dtype",
        [">>> tt.nn.GRUCell(2, 3)", "GRUCell(2, 3)"],
    )
    mode = "GRU"
    __init__ = LSTMCell.__init__
