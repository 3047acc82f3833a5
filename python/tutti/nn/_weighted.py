"""Layers with parameters: products, convolutions, tables, norms; and those that only shape."""

import math

from .. import _core, autograd
from . import functional
from . import init as _init
from ._module import Module, Parameter


def _new(shape, device, dtype):
    """Room for a parameter: float32, as PyTorch's, if no type is named."""
    return Parameter(_core.functions["empty"](shape, _core.float32 if dtype is None else dtype, device=device))


def _each(value, n):
    return (value,) * n if isinstance(value, int) else tuple(value)


class Identity(Module):
    """What is given.

    Parameters
    ----------
    *args : object
        Has no effect.
    **kwargs : object
        Has no effect.

    Examples
    --------
    >>> tt.nn.Identity()(3)
    3
    """

    def __init__(self, *args, **kwargs):
        super().__init__()

    def forward(self, input):
        """What is given.

        Parameters
        ----------
        input : object
            Anything.

        Returns
        -------
        object
            The same.

        Examples
        --------
        >>> tt.nn.Identity().forward(3)
        3
        """
        return input


class Linear(Module):
    """The product with a weight, plus a bias.

    Parameters
    ----------
    in_features : int
        How long the last axis of the input is.
    out_features : int
        How long that of the result is.
    bias : bool
        Whether there is a bias.
    device : Device or str
        Where the parameters lie.
    dtype : dtype
        Their type; None: float32.

    Examples
    --------
    >>> tt.nn.Linear(2, 3)(tt.ones((4, 2), dtype="float32")).shape
    (4, 3)
    """

    def __init__(self, in_features, out_features, bias=True, device=None, dtype=None):
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.weight = _new((out_features, in_features), device, dtype)
        self.register_parameter("bias", _new(out_features, device, dtype) if bias else None)
        self.reset_parameters()

    def reset_parameters(self):
        """Draw the parameters: uniform up to one over the root of in_features.

        Returns
        -------
        None

        Examples
        --------
        >>> tt.nn.Linear(2, 3).reset_parameters()
        """
        _draw_uniform(self, self.in_features)

    def forward(self, input):
        """The product.

        Parameters
        ----------
        input : ndarray
            [..., in_features].

        Returns
        -------
        ndarray
            [..., out_features].

        Examples
        --------
        >>> tt.nn.Linear(2, 3).forward(tt.ones(2, dtype="float32")).shape
        (3,)
        """
        return _core.call_layer(self, functional.linear, ("weight", "bias"), input)

    def extra_repr(self):
        """The numbers that the layer was made with.

        Returns
        -------
        str
            The words.

        Examples
        --------
        >>> tt.nn.Linear(2, 3).extra_repr()
        'in_features=2, out_features=3, bias=True'
        """
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


def _draw_uniform(module, fan_in):
    """Weight and bias, uniform between +- one over the root of how many numbers meet in an output."""
    bound = fan_in**-0.5 if fan_in else 0.0
    for p in module._parameters.values():
        if p is not None:
            _init.uniform_(p, -bound, bound)


class Bilinear(Module):
    """For each output a form of both inputs, plus a bias.

    Parameters
    ----------
    in1_features : int
        How long the last axis of the first input is.
    in2_features : int
        How long that of the second is.
    out_features : int
        How long that of the result is.
    bias : bool
        Whether there is a bias.
    device : Device or str
        Where the parameters lie.
    dtype : dtype
        Their type; None: float32.

    Examples
    --------
    >>> tt.nn.Bilinear(2, 3, 4)
    Bilinear(in1_features=2, in2_features=3, out_features=4, bias=True)
    """

    def __init__(self, in1_features, in2_features, out_features, bias=True, device=None, dtype=None):
        super().__init__()
        if in1_features <= 0:
            raise ValueError(f"in1_features must be > 0, but got {in1_features}")
        self.in1_features, self.in2_features, self.out_features = in1_features, in2_features, out_features
        self.weight = _new((out_features, in1_features, in2_features), device, dtype)
        self.register_parameter("bias", _new(out_features, device, dtype) if bias else None)
        _draw_uniform(self, in1_features)

    def forward(self, input1, input2):
        """The forms.

        Parameters
        ----------
        input1 : ndarray
            [..., in1_features].
        input2 : ndarray
            [..., in2_features].

        Returns
        -------
        ndarray
            [..., out_features].

        Examples
        --------
        >>> x, y = tt.ones((5, 2), dtype="float32"), tt.ones((5, 3), dtype="float32")
        >>> tt.nn.Bilinear(2, 3, 4).forward(x, y).shape
        (5, 4)
        """
        return functional.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self):
        """The numbers that the layer was made with.

        Returns
        -------
        str
            The words.

        Examples
        --------
        >>> tt.nn.Bilinear(1, 2, 3).extra_repr()
        'in1_features=1, in2_features=2, out_features=3, bias=True'
        """
        return (
            f"in1_features={self.in1_features}, in2_features={self.in2_features}, "
            f"out_features={self.out_features}, bias={self.bias is not None}"
        )


class Embedding(Module):
    """Rows of a table by their numbers.

    Parameters
    ----------
    num_embeddings : int
        How many rows there are.
    embedding_dim : int
        How long they are.
    padding_idx : int
        A row of zeros that no gradient goes to; None: there is none.
    max_norm : float
        How long the rows that are asked for may be; longer ones are shortened in the table. None: as they are.
    norm_type : float
        The order of that norm.
    scale_grad_by_freq : bool
        Whether a row's gradient is divided by how often it is asked for.
    sparse : bool
        Not implemented: False.
    device : Device or str
        Where the table lies.
    dtype : dtype
        Its type; None: float32.

    Examples
    --------
    >>> tt.nn.Embedding(10, 3)(tt.array([[1, 2]])).shape
    (1, 2, 3)
    """

    def __init__(
        self,
        num_embeddings,
        embedding_dim,
        padding_idx=None,
        max_norm=None,
        norm_type=2.0,
        scale_grad_by_freq=False,
        sparse=False,
        *,
        device=None,
        dtype=None,
    ):
        super().__init__()
        if padding_idx is not None and not -num_embeddings <= padding_idx < num_embeddings:
            raise AssertionError("Padding_idx must be within num_embeddings")
        if padding_idx is not None and padding_idx < 0:
            padding_idx += num_embeddings
        self.num_embeddings, self.embedding_dim, self.padding_idx = num_embeddings, embedding_dim, padding_idx
        self.max_norm, self.norm_type = max_norm, norm_type
        self.scale_grad_by_freq, self.sparse = scale_grad_by_freq, sparse
        self.weight = _new((num_embeddings, embedding_dim), device, dtype)
        self.reset_parameters()

    def reset_parameters(self):
        """Draw the table: normal numbers, zeros in the row of padding.

        Returns
        -------
        None

        Examples
        --------
        >>> tt.nn.Embedding(3, 2).reset_parameters()
        """
        _init.normal_(self.weight)
        if self.padding_idx is not None:
            with autograd.no_grad():
                self.weight[self.padding_idx] = 0

    @classmethod
    def from_pretrained(
        cls,
        embeddings,
        freeze=True,
        padding_idx=None,
        max_norm=None,
        norm_type=2.0,
        scale_grad_by_freq=False,
        sparse=False,
    ):
        """A layer over a table that is there.

        Parameters
        ----------
        embeddings : ndarray
            The table.
        freeze : bool
            Whether it stays as it is.
        padding_idx : int
            A row that no gradient goes to; None: there is none.
        max_norm : float
            How long rows that are asked for may be; None: as they are.
        norm_type : float
            The order of that norm.
        scale_grad_by_freq : bool
            Whether a row's gradient is divided by how often it is asked for.
        sparse : bool
            Not implemented: False.

        Returns
        -------
        Embedding
            The layer.

        Examples
        --------
        >>> tt.nn.Embedding.from_pretrained(tt.array([[1.0], [2.0]]))(tt.array([1]))
        array([[2.]])
        """
        numbers = padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse
        self = cls(*embeddings.shape, *numbers, dtype=embeddings.dtype)
        self.weight = Parameter(embeddings, not freeze)
        return self

    def forward(self, input):
        """The rows.

        Parameters
        ----------
        input : ndarray
            Their numbers.

        Returns
        -------
        ndarray
            [..., embedding_dim].

        Examples
        --------
        >>> tt.nn.Embedding(10, 3).forward(tt.array([1, 2])).shape
        (2, 3)
        """
        numbers = self.padding_idx, self.max_norm, self.norm_type, self.scale_grad_by_freq, self.sparse
        return functional.embedding(input, self.weight, *numbers)

    def extra_repr(self):
        """The numbers that the layer was made with.

        Returns
        -------
        str
            The words.

        Examples
        --------
        >>> tt.nn.Embedding(10, 3).extra_repr()
        '10, 3'
        """
        said = [
            f"{self.num_embeddings}, {self.embedding_dim}",
            f"padding_idx={self.padding_idx}" if self.padding_idx is not None else "",
            f"max_norm={self.max_norm}" if self.max_norm is not None else "",
            f"norm_type={self.norm_type}" if self.norm_type != 2 else "",
            f"scale_grad_by_freq={self.scale_grad_by_freq}" if self.scale_grad_by_freq else "",
            "sparse=True" if self.sparse else "",
        ]
        return ", ".join(s for s in said if s)


class PReLU(Module):
    """What is above 0; below it a part of it that is learnt.

    Parameters
    ----------
    num_parameters : int
        1, or as many as there are channels.
    init : float
        The first part.
    device : Device or str
        Where the parameters lie.
    dtype : dtype
        Their type; None: float32.

    Examples
    --------
    >>> tt.nn.PReLU()(tt.array([-1.0, 1.0], dtype="float32"))
    array([-0.25,  1.  ], dtype=float32)
    """

    def __init__(self, num_parameters=1, init=0.25, device=None, dtype=None):
        super().__init__()
        self.num_parameters = num_parameters
        self.weight = _new(num_parameters, device, dtype)
        _init.constant_(self.weight, init)

    def forward(self, input):
        """The function of the input.

        Parameters
        ----------
        input : ndarray
            The input.

        Returns
        -------
        ndarray
            The result.

        Examples
        --------
        >>> tt.nn.PReLU().forward(tt.array([-1.0, 1.0], dtype="float32"))
        array([-0.25,  1.  ], dtype=float32)
        """
        return functional.prelu(input, self.weight)

    def extra_repr(self):
        """The numbers that the layer was made with.

        Returns
        -------
        str
            The words.

        Examples
        --------
        >>> tt.nn.PReLU().extra_repr()
        'num_parameters=1'
        """
        return f"num_parameters={self.num_parameters}"


class RReLU(Module):
    """What is above 0; below it a part of it that training draws.

    Parameters
    ----------
    lower : float
        The least part.
    upper : float
        The largest part.
    inplace : bool
        Whether the result is written into the input, too.

    Examples
    --------
    >>> tt.nn.RReLU(0.25, 0.75).eval()(tt.array([-1.0, 1.0]))
    array([-0.5,  1. ])
    """

    def __init__(self, lower=1.0 / 8, upper=1.0 / 3, inplace=False):
        super().__init__()
        self.lower, self.upper, self.inplace = lower, upper, inplace

    def forward(self, input):
        """The function of the input.

        Parameters
        ----------
        input : ndarray
            The input.

        Returns
        -------
        ndarray
            The result.

        Examples
        --------
        >>> tt.nn.RReLU(0.5, 0.5).forward(tt.array([-1.0, 1.0]))
        array([-0.5,  1. ])
        """
        return functional.rrelu(input, self.lower, self.upper, self.training, self.inplace)

    def extra_repr(self):
        """The numbers that the layer was made with.

        Returns
        -------
        str
            The words.

        Examples
        --------
        >>> tt.nn.RReLU(0.25, 0.75).extra_repr()
        'lower=0.25, upper=0.75'
        """
        return f"lower={self.lower}, upper={self.upper}" + (", inplace=True" if self.inplace else "")


# ---- shapes


class Flatten(Module):
    """Some axes as one.

    Parameters
    ----------
    start_dim : int
        The first of them.
    end_dim : int
        The last of them.

    Examples
    --------
    >>> tt.nn.Flatten()(tt.ones((2, 3, 4))).shape
    (2, 12)
    """

    def __init__(self, start_dim=1, end_dim=-1):
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, input):
        """The input in its new shape.

        Parameters
        ----------
        input : ndarray
            The input.

        Returns
        -------
        ndarray
            The same elements.

        Examples
        --------
        >>> tt.nn.Flatten(0).forward(tt.ones((2, 3))).shape
        (6,)
        """
        shape, start, end = input.shape, self.start_dim, self.end_dim
        start, end = (d + len(shape) if d < 0 else d for d in (start, end))
        return input.reshape(*shape[:start], math.prod(shape[start : end + 1]), *shape[end + 1 :])

    def extra_repr(self):
        """The numbers that the layer was made with.

        Returns
        -------
        str
            The words.

        Examples
        --------
        >>> tt.nn.Flatten().extra_repr()
        'start_dim=1, end_dim=-1'
        """
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Unflatten(Module):
    """An axis as several.

    Parameters
    ----------
    dim : int
        The axis.
    unflattened_size : tuple of int
        Their lengths; one may be -1.

    Examples
    --------
    >>> tt.nn.Unflatten(1, (3, 4))(tt.ones((2, 12))).shape
    (2, 3, 4)
    """

    def __init__(self, dim, unflattened_size):
        super().__init__()
        self.dim, self.unflattened_size = dim, tuple(unflattened_size)

    def forward(self, input):
        """The input in its new shape.

        Parameters
        ----------
        input : ndarray
            The input.

        Returns
        -------
        ndarray
            The same elements.

        Examples
        --------
        >>> tt.nn.Unflatten(0, (2, -1)).forward(tt.ones(6)).shape
        (2, 3)
        """
        shape, dim = input.shape, self.dim
        dim = dim + len(shape) if dim < 0 else dim
        return input.reshape(*shape[:dim], *self.unflattened_size, *shape[dim + 1 :])

    def extra_repr(self):
        """The numbers that the layer was made with.

        Returns
        -------
        str
            The words.

        Examples
        --------
        >>> tt.nn.Unflatten(1, (3, 4)).extra_repr()
        'dim=1, unflattened_size=(3, 4)'
        """
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"


# ---- convolutions


class _Conv(Module):
    _n, _transposed, _function = 0, False, None

    def _begin(self, channels, kernel, how, bias, padding_mode, place):
        """Check the numbers, and make the parameters."""
        super().__init__()
        n, (in_channels, out_channels), (stride, padding, dilation, groups) = self._n, channels, how
        if groups <= 0:
            raise ValueError("groups must be a positive integer")
        for name, count in ("in_channels", in_channels), ("out_channels", out_channels):
            if count % groups != 0:
                raise ValueError(f"{name} must be divisible by groups")
        modes = ("zeros",) if self._transposed else ("zeros", "reflect", "replicate", "circular")
        if padding_mode not in modes:
            if self._transposed:
                raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
            raise ValueError(f"padding_mode must be one of {set(modes)}, but got padding_mode='{padding_mode}'")
        self.in_channels, self.out_channels, self.groups, self.padding_mode = *channels, groups, padding_mode
        self.kernel_size, self.stride, self.dilation = _each(kernel, n), _each(stride, n), _each(dilation, n)
        self.padding = padding if isinstance(padding, str) else _each(padding, n)
        first, second = (in_channels, out_channels) if self._transposed else (out_channels, in_channels)
        self.weight = _new((first, second // groups, *self.kernel_size), *place)
        self.register_parameter("bias", _new(out_channels, *place) if bias else None)
        self.reset_parameters()

    def reset_parameters(self):
        """Draw the parameters: uniform up to one over the root of the numbers that meet in an output.

        Returns
        -------
        None

        Examples
        --------
        >>> tt.nn.Conv2d(1, 2, 3).reset_parameters()
        """
        _draw_uniform(self, math.prod(self.weight.shape[1:]))

    def extra_repr(self):
        """The numbers that the layer was made with.

        Returns
        -------
        str
            The words.

        Examples
        --------
        >>> tt.nn.Conv2d(1, 2, 3).extra_repr()
        '1, 2, kernel_size=(3, 3), stride=(1, 1)'
        """
        one, none = (1,) * self._n, (0,) * self._n
        said = [
            f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}",
            f"padding={self.padding}" if self.padding != none else "",
            f"dilation={self.dilation}" if self.dilation != one else "",
            f"output_padding={self.output_padding}" if self._transposed and self.output_padding != none else "",
            f"groups={self.groups}" if self.groups != 1 else "",
            "bias=False" if self.bias is None else "",
            f"padding_mode={self.padding_mode}" if self.padding_mode != "zeros" else "",
        ]
        return ", ".join(s for s in said if s)


class _Convolution(_Conv):
    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        padding=0,
        dilation=1,
        groups=1,
        bias=True,
        padding_mode="zeros",
        device=None,
        dtype=None,
    ):
        how = stride, padding, dilation, groups
        self._begin((in_channels, out_channels), kernel_size, how, bias, padding_mode, (device, dtype))
        self._around = self._borders()

    def _borders(self):
        """The padding as functional.pad takes it."""
        if self.padding == "valid":
            return (0, 0) * self._n
        if self.padding != "same":
            return tuple(p for width in reversed(self.padding) for p in (width, width))
        more = [d * (k - 1) for d, k in zip(self.dilation, self.kernel_size, strict=True)]
        return tuple(p for width in reversed(more) for p in (width // 2, width - width // 2))

    def forward(self, input):
        """The convolution.

        Parameters
        ----------
        input : ndarray
            [images, in_channels, lengths...], or without images.

        Returns
        -------
        ndarray
            [images, out_channels, lengths...].

        Examples
        --------
        >>> tt.nn.Conv2d(1, 2, 3).forward(tt.ones((4, 1, 5, 5), dtype="float32")).shape
        (4, 2, 3, 3)
        """
        padding = self.padding
        if self.padding_mode != "zeros":
            input, padding = functional.pad(input, self._around, self.padding_mode), 0
        return type(self)._function(input, self.weight, self.bias, self.stride, padding, self.dilation, self.groups)


class _ConvolutionTransposed(_Conv):
    _transposed = True

    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        padding=0,
        output_padding=0,
        groups=1,
        bias=True,
        dilation=1,
        padding_mode="zeros",
        device=None,
        dtype=None,
    ):
        how = stride, padding, dilation, groups
        self._begin((in_channels, out_channels), kernel_size, how, bias, padding_mode, (device, dtype))
        self.output_padding = _each(output_padding, self._n)

    def forward(self, input):
        """The transposed convolution.

        Parameters
        ----------
        input : ndarray
            [images, in_channels, lengths...], or without images.

        Returns
        -------
        ndarray
            [images, out_channels, lengths...].

        Examples
        --------
        >>> tt.nn.ConvTranspose2d(1, 2, 3).forward(tt.ones((4, 1, 5, 5), dtype="float32")).shape
        (4, 2, 7, 7)
        """
        numbers = self.stride, self.padding, self.output_padding, self.groups, self.dilation
        return type(self)._function(input, self.weight, self.bias, *numbers)


_CONV_WORDS = """{summary}

Parameters
----------
in_channels : int
    Channels of the input.
out_channels : int
    Channels of the result.
kernel_size : int or tuple of int
    How long windows are, along all axes or each.
stride : int or tuple of int
    How far windows are apart.
padding : int, tuple of int or str
    {padding}
output_padding : int or tuple of int
    How much longer the result is, behind.
dilation : int or tuple of int
    How far elements of a window are apart.
groups : int
    Parts of the channels that outputs of the same part are made of.
bias : bool
    Whether there is a bias.
padding_mode : {{'zeros', 'reflect', 'replicate', 'circular'}}
    What lies around the signals{only}.
device : Device or str
    Where the parameters lie.
dtype : dtype
    Their type; None: float32.

Examples
--------
>>> tt.nn.{name}(2, 4, 3)
{printed}
"""


def _conv_words(name, base, n):
    summary = f"Convolution over {n} ax{'i' if n == 1 else 'e'}s of space."
    around = "How far windows reach beyond both ends; 'same': so far that lengths stay, 'valid': 0."
    if base._transposed:
        summary, around = "Transposed c" + summary[1:], "How much is cut off at both ends."
    text = _CONV_WORDS.format(
        summary=summary,
        padding=around,
        only="; 'zeros' alone" if base._transposed else "",
        name=name,
        printed=f"{name}(2, 4, kernel_size={(3,) * n}, stride={(1,) * n})",
    )
    unasked = "output_padding : int or tuple of int\n    How much longer the result is, behind.\n"
    return text if base._transposed else text.replace(unasked, "")


def _conv(base, n):
    name = ("ConvTranspose" if base._transposed else "Conv") + f"{n}d"
    function = getattr(functional, ("conv_transpose" if base._transposed else "conv") + f"{n}d")
    members = {"__doc__": _conv_words(name, base, n), "__module__": "tutti.nn", "_n": n}
    return type(name, (base,), {**members, "_function": staticmethod(function)})


Conv1d, Conv2d, Conv3d = (_conv(_Convolution, n) for n in (1, 2, 3))
ConvTranspose1d, ConvTranspose2d, ConvTranspose3d = (_conv(_ConvolutionTransposed, n) for n in (1, 2, 3))


# ---- norms


class _ChannelNorm(Module):
    _ranks = ()

    def _begin(self, num_features, numbers, affine, track_running_stats, bias, place):
        super().__init__()
        self.num_features, (self.eps, self.momentum) = num_features, numbers
        self.affine, self.track_running_stats = affine, track_running_stats
        for name, there in ("weight", affine), ("bias", affine and bias):
            self.register_parameter(name, _new(num_features, *place) if there else None)
        room = _core.functions["zeros"]
        dtype = _core.float32 if place[1] is None else place[1]
        for name in "running_mean", "running_var":
            self.register_buffer(name, room(num_features, dtype, device=place[0]) if track_running_stats else None)
        tracked = room((), _core.int64, device=place[0]) if track_running_stats else None
        self.register_buffer("num_batches_tracked", tracked)
        self.reset_parameters()

    def reset_running_stats(self):
        """Forget the running moments.

        Returns
        -------
        None

        Examples
        --------
        >>> tt.nn.BatchNorm1d(2).reset_running_stats()
        """
        if self.track_running_stats:
            _init.zeros_(self.running_mean)
            _init.ones_(self.running_var)
            _init.zeros_(self.num_batches_tracked)

    def reset_parameters(self):
        """Factors of 1, numbers of 0, and no running moments.

        Returns
        -------
        None

        Examples
        --------
        >>> tt.nn.BatchNorm1d(2).reset_parameters()
        """
        self.reset_running_stats()
        for p, first in (self.weight, _init.ones_), (self.bias, _init.zeros_):
            if p is not None:
                first(p)

    def _check(self, input):
        if input.ndim not in self._ranks:
            words = " or ".join(f"{rank}D" for rank in self._ranks)
            raise ValueError(f"expected {words} input (got {input.ndim}D input)")

    def extra_repr(self):
        """The numbers that the layer was made with.

        Returns
        -------
        str
            The words.

        Examples
        --------
        >>> tt.nn.BatchNorm1d(2).extra_repr()
        '2, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True'
        """
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )


class _BatchNorm(_ChannelNorm):
    def __init__(
        self,
        num_features,
        eps=1e-05,
        momentum=0.1,
        affine=True,
        track_running_stats=True,
        device=None,
        dtype=None,
        *,
        bias=True,
    ):
        self._begin(num_features, (eps, momentum), affine, track_running_stats, bias, (device, dtype))

    def forward(self, input):
        """The channels less their mean, over their spread.

        Parameters
        ----------
        input : ndarray
            [images, channels, ...].

        Returns
        -------
        ndarray
            Of the input's shape.

        Examples
        --------
        >>> tt.nn.BatchNorm1d(1, eps=0.0).forward(tt.array([[1.0], [3.0]], dtype="float32")).tolist()
        [[-1.0], [1.0]]
        """
        self._check(input)
        momentum = 0.0 if self.momentum is None else self.momentum
        if self.training and self.num_batches_tracked is not None:
            self.num_batches_tracked += 1
            if self.momentum is None:  # the mean of all batches so far
                momentum = 1.0 / self.num_batches_tracked.item()
        own = self.training or self.running_mean is None
        kept = (self.running_mean, self.running_var) if self.track_running_stats or not self.training else (None, None)
        return functional.batch_norm(input, *kept, self.weight, self.bias, own, momentum, self.eps)


class _InstanceNorm(_ChannelNorm):
    def __init__(
        self,
        num_features,
        eps=1e-05,
        momentum=0.1,
        affine=False,
        track_running_stats=False,
        device=None,
        dtype=None,
        *,
        bias=True,
    ):
        self._begin(num_features, (eps, momentum), affine, track_running_stats, bias, (device, dtype))

    def forward(self, input):
        """The channels of each image less their mean, over their spread.

        Parameters
        ----------
        input : ndarray
            [images, channels, lengths...], or without images.

        Returns
        -------
        ndarray
            Of the input's shape.

        Examples
        --------
        >>> tt.nn.InstanceNorm1d(1, eps=0.0).forward(tt.array([[[1.0, 3.0]]])).tolist()
        [[[-1.0, 1.0]]]
        """
        self._check(input)
        if input.ndim == self._ranks[0]:
            return self.forward(input[None])[0]
        own = self.training or not self.track_running_stats
        kept = self.running_mean, self.running_var
        return functional.instance_norm(input, *kept, self.weight, self.bias, own, self.momentum, self.eps)


_NORM_WORDS = """{summary}

Parameters
----------
num_features : int
    How many channels there are.
eps : float
    What is added to the variance.
momentum : float
    The share of a batch in the running moments{cumulative}.
affine : bool
    Whether there are a factor and a number for each channel.
track_running_stats : bool
    Whether there are running moments, which are used without training.
device : Device or str
    Where parameters and moments lie.
dtype : dtype
    Their type; None: float32.
bias : bool
    Whether there is the number, if there is the factor.

Examples
--------
>>> tt.nn.{name}(2)
{name}(2, eps=1e-05, momentum=0.1, affine={on}, bias={on}, track_running_stats={on})
"""


def _channel_norm(base, n, ranks):
    name, batch = base.__name__[1:] + f"{n}d", base is _BatchNorm
    space = f"over {n} ax{'i' if n == 1 else 'e'}s of space"
    words = _NORM_WORDS.format(
        summary=f"Channels {'of a batch' if batch else 'of each image'} {space} less their mean, over their spread.",
        cumulative="; None: the mean of all" if batch else "",
        name=name,
        on=batch,
    )
    return type(name, (base,), {"__doc__": words, "__module__": "tutti.nn", "_ranks": ranks})


BatchNorm1d, BatchNorm2d, BatchNorm3d = (
    _channel_norm(_BatchNorm, n, ranks) for n, ranks in ((1, (2, 3)), (2, (4,)), (3, (5,)))
)


class SyncBatchNorm(_BatchNorm):
    """Channels of a batch less their mean, over their spread, of inputs with any number of axes of space.

    Other processes would have a part in the moments; there is one.

    Parameters
    ----------
    num_features : int
        How many channels there are.
    eps : float
        What is added to the variance.
    momentum : float
        The share of the batch in the running moments; None: the mean of all.
    affine : bool
        Whether there are a factor and a number for each channel.
    track_running_stats : bool
        Whether there are running moments.
    process_group : object
        Has no effect.
    device : Device or str
        Where the parameters lie.
    dtype : dtype
        Their type; None: float32.
    bias : bool
        Whether there is the number, if there is the factor.

    Examples
    --------
    >>> tt.nn.SyncBatchNorm(2)
    SyncBatchNorm(2, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)
    """

    def __init__(
        self,
        num_features,
        eps=1e-05,
        momentum=0.1,
        affine=True,
        track_running_stats=True,
        process_group=None,
        device=None,
        dtype=None,
        *,
        bias=True,
    ):
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)
        self.process_group = process_group

    def _check(self, input):
        if input.ndim < 2:
            raise ValueError(f"expected at least 2D input (got {input.ndim}D input)")
        if input.shape[1] == 0:
            raise ValueError("SyncBatchNorm number of input channels should be non-zero")

    @classmethod
    def convert_sync_batchnorm(cls, module, process_group=None):
        """Put one in the place of each BatchNorm, with the same parameters and moments.

        Parameters
        ----------
        module : Module
            Where they are looked for.
        process_group : object
            Has no effect.

        Returns
        -------
        Module
            The module, or another one for a BatchNorm.

        Examples
        --------
        >>> tt.nn.SyncBatchNorm.convert_sync_batchnorm(tt.nn.Sequential(tt.nn.BatchNorm1d(2)))
        Sequential(
          (0): SyncBatchNorm(2, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)
        )
        """
        made = module
        if isinstance(module, _BatchNorm):
            numbers = module.num_features, module.eps, module.momentum, module.affine, module.track_running_stats
            made = cls(*numbers, process_group, bias=module.bias is not None)
            for members in "_parameters", "_buffers":
                getattr(made, members).update(getattr(module, members))
            made.train(module.training)
        for name, child in module.named_children():
            made.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return made


InstanceNorm1d, InstanceNorm2d, InstanceNorm3d = (_channel_norm(_InstanceNorm, n, (n + 1, n + 2)) for n in (1, 2, 3))


class LayerNorm(Module):
    """Elements of the last axes less their mean, over their spread.

    Parameters
    ----------
    normalized_shape : int or tuple of int
        The lengths of those axes.
    eps : float
        What is added to the variance.
    elementwise_affine : bool
        Whether there are a factor and a number for each element.
    bias : bool
        Whether there is the number.
    device : Device or str
        Where the parameters lie.
    dtype : dtype
        Their type; None: float32.

    Examples
    --------
    >>> tt.nn.LayerNorm(4)
    LayerNorm((4,), eps=1e-05, elementwise_affine=True, bias=True)
    """

    def __init__(self, normalized_shape, eps=1e-05, elementwise_affine=True, bias=True, device=None, dtype=None):
        super().__init__()
        self.normalized_shape = _each(normalized_shape, 1)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        made = _new(self.normalized_shape, device, dtype) if elementwise_affine else None
        self.register_parameter("weight", made)
        self.register_parameter(
            "bias", _new(self.normalized_shape, device, dtype) if made is not None and bias else None
        )
        self.reset_parameters()

    def reset_parameters(self):
        """Factors of 1, numbers of 0.

        Returns
        -------
        None

        Examples
        --------
        >>> tt.nn.LayerNorm(4).reset_parameters()
        """
        if self.weight is not None:
            _init.ones_(self.weight)
        if self.bias is not None:
            _init.zeros_(self.bias)

    def forward(self, input):
        """The elements less their mean, over their spread.

        Parameters
        ----------
        input : ndarray
            [..., normalized_shape].

        Returns
        -------
        ndarray
            Of the input's shape.

        Examples
        --------
        >>> tt.nn.LayerNorm(2, eps=0.0).forward(tt.array([1.0, 3.0], dtype="float32")).tolist()
        [-1.0, 1.0]
        """
        return functional.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self):
        """The numbers that the layer was made with.

        Returns
        -------
        str
            The words.

        Examples
        --------
        >>> tt.nn.LayerNorm(4).extra_repr()
        '(4,), eps=1e-05, elementwise_affine=True, bias=True'
        """
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}, "
            f"bias={self.bias is not None}"
        )


class RMSNorm(Module):
    """Elements of the last axes over the root of their mean square.

    Parameters
    ----------
    normalized_shape : int or tuple of int
        The lengths of those axes.
    eps : float
        What is added to the mean square; None: the distance from 1 to the next number.
    elementwise_affine : bool
        Whether there is a factor for each element.
    device : Device or str
        Where the parameters lie.
    dtype : dtype
        Their type; None: float32.

    Examples
    --------
    >>> tt.nn.RMSNorm(4)
    RMSNorm((4,), eps=None, elementwise_affine=True)
    """

    def __init__(self, normalized_shape, eps=None, elementwise_affine=True, device=None, dtype=None):
        super().__init__()
        self.normalized_shape = _each(normalized_shape, 1)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        self.register_parameter("weight", _new(self.normalized_shape, device, dtype) if elementwise_affine else None)
        self.reset_parameters()

    def reset_parameters(self):
        """Factors of 1.

        Returns
        -------
        None

        Examples
        --------
        >>> tt.nn.RMSNorm(4).reset_parameters()
        """
        if self.weight is not None:
            _init.ones_(self.weight)

    def forward(self, input):
        """The elements over the root of their mean square.

        Parameters
        ----------
        input : ndarray
            [..., normalized_shape].

        Returns
        -------
        ndarray
            Of the input's shape.

        Examples
        --------
        >>> tt.nn.RMSNorm(2).forward(tt.array([3.0, 4.0], dtype="float32")).round(3).tolist()
        [0.8489999771118164, 1.13100004196167]
        """
        return functional.rms_norm(input, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self):
        """The numbers that the layer was made with.

        Returns
        -------
        str
            The words.

        Examples
        --------
        >>> tt.nn.RMSNorm(4).extra_repr()
        '(4,), eps=None, elementwise_affine=True'
        """
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class GroupNorm(Module):
    """Groups of channels of each image less their mean, over their spread.

    Parameters
    ----------
    num_groups : int
        How many groups the channels make.
    num_channels : int
        How many channels there are.
    eps : float
        What is added to the variance.
    affine : bool
        Whether there are a factor and a number for each channel.
    device : Device or str
        Where the parameters lie.
    dtype : dtype
        Their type; None: float32.
    bias : bool
        Whether there is the number, if there is the factor.

    Examples
    --------
    >>> tt.nn.GroupNorm(2, 4)
    GroupNorm(2, 4, eps=1e-05, affine=True, bias=True)
    """

    def __init__(self, num_groups, num_channels, eps=1e-05, affine=True, device=None, dtype=None, *, bias=True):
        super().__init__()
        if num_channels % num_groups != 0:
            raise ValueError(f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})")
        self.num_groups, self.num_channels, self.eps, self.affine = num_groups, num_channels, eps, affine
        for name, there in ("weight", affine), ("bias", affine and bias):
            self.register_parameter(name, _new(num_channels, device, dtype) if there else None)
        self.reset_parameters()

    reset_parameters = LayerNorm.reset_parameters

    def forward(self, input):
        """The groups less their mean, over their spread.

        Parameters
        ----------
        input : ndarray
            [images, channels, ...].

        Returns
        -------
        ndarray
            Of the input's shape.

        Examples
        --------
        >>> tt.nn.GroupNorm(1, 2, eps=0.0).forward(tt.array([[1.0, 3.0]], dtype="float32")).tolist()
        [[-1.0, 1.0]]
        """
        return functional.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self):
        """The numbers that the layer was made with.

        Returns
        -------
        str
            The words.

        Examples
        --------
        >>> tt.nn.GroupNorm(2, 4).extra_repr()
        '2, 4, eps=1e-05, affine=True, bias=True'
        """
        bias = self.bias is not None
        return f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, bias={bias}"
