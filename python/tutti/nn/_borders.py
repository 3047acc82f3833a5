"""Layers that put borders around signals, and that change their length."""

from . import functional
from ._module import Module


class Upsample(Module):
    """Signals of another length, interpolated.

    Parameters
    ----------
    size : int or tuple of int
        The lengths of the result; None: scale_factor says them.
    scale_factor : float or tuple of float
        How much longer the result is.
    mode : str
        How, as in functional.interpolate.
    align_corners : bool
        Whether the first and last elements lie on each other.
    recompute_scale_factor : bool
        Whether steps follow from lengths.

    Examples
    --------
    >>> tt.nn.Upsample(scale_factor=2)(tt.array([[[1.0, 3.0]]]))
    array([[[1., 1., 3., 3.]]])
    """

    def __init__(self, size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None):
        super().__init__()
        self.size, self.mode = size, mode
        if isinstance(scale_factor, tuple):
            self.scale_factor = tuple(float(factor) for factor in scale_factor)
        else:
            self.scale_factor = float(scale_factor) if scale_factor else None
        self.align_corners, self.recompute_scale_factor = align_corners, recompute_scale_factor

    def forward(self, input):
        """The signals in their new length.

        Parameters
        ----------
        input : ndarray
            [images, channels, lengths...].

        Returns
        -------
        ndarray
            [images, channels, lengths...].

        Examples
        --------
        >>> tt.nn.Upsample(3).forward(tt.array([[[1.0, 3.0]]]))
        array([[[1., 1., 3.]]])
        """
        return functional.interpolate(
            input, self.size, self.scale_factor, self.mode, self.align_corners, self.recompute_scale_factor
        )

    def extra_repr(self):
        """The numbers that the layer was made with.

        Returns
        -------
        str
            The words.

        Examples
        --------
        >>> tt.nn.Upsample(scale_factor=2).extra_repr()
        "scale_factor=2.0, mode='nearest'"
        """
        how = f"size={self.size!r}" if self.scale_factor is None else f"scale_factor={self.scale_factor!r}"
        return f"{how}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """Images of another size, by the nearest element.

    Parameters
    ----------
    size : int or tuple of int
        The lengths of the result; None: scale_factor says them.
    scale_factor : float or tuple of float
        How much longer the result is.

    Examples
    --------
    >>> tt.nn.UpsamplingNearest2d(scale_factor=2)
    UpsamplingNearest2d(scale_factor=2.0, mode='nearest')
    """

    def __init__(self, size=None, scale_factor=None):
        super().__init__(size, scale_factor, "nearest")


class UpsamplingBilinear2d(Upsample):
    """Images of another size, between elements, the outer ones of which lie on each other.

    Parameters
    ----------
    size : int or tuple of int
        The lengths of the result; None: scale_factor says them.
    scale_factor : float or tuple of float
        How much longer the result is.

    Examples
    --------
    >>> tt.nn.UpsamplingBilinear2d((3, 3))
    UpsamplingBilinear2d(size=(3, 3), mode='bilinear')
    """

    def __init__(self, size=None, scale_factor=None):
        super().__init__(size, scale_factor, "bilinear", align_corners=True)


class _Border(Module):
    _n, _mode = 0, ""

    def __init__(self, padding):
        super().__init__()
        self.padding = (padding,) * (2 * self._n) if isinstance(padding, int) else tuple(padding)

    def forward(self, input):
        """The signals with their border.

        Parameters
        ----------
        input : ndarray
            [images, channels, lengths...], or without images.

        Returns
        -------
        ndarray
            The same, longer.

        Examples
        --------
        >>> tt.nn.ReflectionPad1d(1).forward(tt.array([[1.0, 2.0, 3.0]]))
        array([[2., 1., 2., 3., 2.]])
        """
        return functional.pad(input, self.padding, self._mode)

    def extra_repr(self):
        """The widths.

        Returns
        -------
        str
            The words.

        Examples
        --------
        >>> tt.nn.ZeroPad1d(1).extra_repr()
        '(1, 1)'
        """
        return str(self.padding)


class _ConstantBorder(_Border):
    def __init__(self, padding, value):
        super().__init__(padding)
        self.value = value

    def forward(self, input):
        """The signals with their border.

        Parameters
        ----------
        input : ndarray
            [images, channels, lengths...], or without images.

        Returns
        -------
        ndarray
            The same, longer.

        Examples
        --------
        >>> tt.nn.ConstantPad1d(1, 7.0).forward(tt.array([[1.0, 2.0]]))
        array([[7., 1., 2., 7.]])
        """
        return functional.pad(input, self.padding, "constant", self.value)

    def extra_repr(self):
        """The widths and the value.

        Returns
        -------
        str
            The words.

        Examples
        --------
        >>> tt.nn.ConstantPad1d(1, 7.0).extra_repr()
        'padding=(1, 1), value=7.0'
        """
        return f"padding={self.padding}, value={self.value}"


_WORDS = """{summary} around {n} ax{letter}s of space.

Parameters
----------
padding : int or tuple of int
    How wide the border is: on all sides, or before and behind, the last axis first.
{more}
Examples
--------
>>> tt.nn.{name}(1{given})
{name}({printed})
"""
_KINDS = {
    "ConstantPad": ("constant", "A value"),
    "ZeroPad": ("constant", "Zeros"),
    "ReflectionPad": ("reflect", "The signals mirrored"),
    "ReplicationPad": ("replicate", "The last elements again"),
    "CircularPad": ("circular", "The other end"),
}


def _border(kind, n):
    (mode, summary), constant = _KINDS[kind], kind == "ConstantPad"
    name, around = f"{kind}{n}d", (1,) * (2 * n)
    words = _WORDS.format(
        summary=summary,
        n=n,
        letter="i" if n == 1 else "e",
        name=name,
        more="value : float\n    What stands there.\n" if constant else "",
        given=", 7.0" if constant else "",
        printed=f"padding={around}, value=7.0" if constant else around,
    )
    base = _ConstantBorder if constant else _Border
    return type(name, (base,), {"__doc__": words, "__module__": "tutti.nn", "_n": n, "_mode": mode})


for _kind in _KINDS:
    for _n in (1, 2, 3):
        globals()[f"{_kind}{_n}d"] = _border(_kind, _n)
