"""Layers over functions that take more than an input and numbers: what undoes pools, losses of three inputs or with
parameters of their own."""

from collections import namedtuple

from .. import _core
from . import functional
from ._layers import layer
from ._module import Module, ModuleList, Sequential
from ._weighted import Linear, _each

_log_softmax = functional.log_softmax
_along = _core.functions["take_along_axis"]


class Softmax2d(Module):
    """Exponentials over their sum along the channels of images.

    Examples
    --------
    >>> tt.nn.Softmax2d()(tt.zeros((1, 2, 1, 1))).reshape(2)
    array([0.5, 0.5])
    """

    def forward(self, input):
        """The shares.

        Parameters
        ----------
        input : ndarray
            [images, channels, height, width], or without images.

        Returns
        -------
        ndarray
            Of the input's shape.

        Examples
        --------
        >>> tt.nn.Softmax2d().forward(tt.zeros((2, 1, 1))).reshape(2)
        array([0.5, 0.5])
        """
        if input.ndim not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.ndim}D instead")
        return functional.softmax(input, -3)


class CrossMapLRN2d(Module):
    """Elements over a power of the mean square of the channels around.

    Parameters
    ----------
    size : int
        How many channels count.
    alpha : float
        What their mean square is multiplied by.
    beta : float
        The power.
    k : float
        What is added below it.

    Examples
    --------
    >>> tt.nn.CrossMapLRN2d(3)
    CrossMapLRN2d(3, alpha=0.0001, beta=0.75, k=1)
    """

    def __init__(self, size, alpha=0.0001, beta=0.75, k=1):
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def forward(self, input):
        """The elements over the power.

        Parameters
        ----------
        input : ndarray
            [images, channels, height, width].

        Returns
        -------
        ndarray
            Of the input's shape.

        Examples
        --------
        >>> tt.nn.CrossMapLRN2d(1, 3.0, 0.5).forward(tt.ones((1, 1, 1, 1))).item()
        0.5
        """
        counted = 2 * ((self.size + 1) // 2) - 1  # as many on each side: an even size has one less
        alpha = self.alpha * counted / self.size
        return functional.local_response_norm(input, counted, alpha, self.beta, self.k)

    def extra_repr(self):
        """The numbers that the layer was made with.

        Returns
        -------
        str
            The words.

        Examples
        --------
        >>> tt.nn.CrossMapLRN2d(3).extra_repr()
        '3, alpha=0.0001, beta=0.75, k=1'
        """
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


# ---- what undoes a pool


class _MaxUnpool(Module):
    _n, _function = 0, None

    def __init__(self, kernel_size, stride=None, padding=0):
        super().__init__()
        self.kernel_size, self.padding = _each(kernel_size, self._n), _each(padding, self._n)
        self.stride = _each(kernel_size if stride is None else stride, self._n)

    def forward(self, input, indices, output_size=None):
        """The elements back at their places.

        Parameters
        ----------
        input : ndarray
            The largest elements of windows.
        indices : ndarray
            Where they lay.
        output_size : tuple of int
            The lengths of the result; None: the shortest that can have been.

        Returns
        -------
        ndarray
            [images, channels, lengths...].

        Examples
        --------
        >>> most, at = tt.nn.MaxPool1d(2, return_indices=True)(tt.array([[1.0, 3.0, 5.0, 2.0]]))
        >>> tt.nn.MaxUnpool1d(2).forward(most, at)
        array([[0., 3., 5., 0.]])
        """
        return type(self)._function(input, indices, self.kernel_size, self.stride, self.padding, output_size)

    def extra_repr(self):
        """The numbers that the layer was made with.

        Returns
        -------
        str
            The words.

        Examples
        --------
        >>> tt.nn.MaxUnpool1d(2).extra_repr()
        'kernel_size=(2,), stride=(2,), padding=(0,)'
        """
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


_UNPOOL_WORDS = """Elements back at the places where MaxPool{n}d found them, 0 elsewhere.

Parameters
----------
kernel_size : int or tuple of int
    How long windows were.
stride : int or tuple of int
    How far they were apart; None: as they were long.
padding : int or tuple of int
    How far they reached beyond both ends.

Examples
--------
>>> tt.nn.MaxUnpool{n}d(2)
MaxUnpool{n}d(kernel_size={two}, stride={two}, padding={none})
"""


def _unpool(n):
    words = _UNPOOL_WORDS.format(n=n, two=(2,) * n, none=(0,) * n)
    members = {"__doc__": words, "__module__": "tutti.nn", "_n": n}
    function = staticmethod(getattr(functional, f"max_unpool{n}d"))
    return type(f"MaxUnpool{n}d", (_MaxUnpool,), {**members, "_function": function})


MaxUnpool1d, MaxUnpool2d, MaxUnpool3d = (_unpool(n) for n in (1, 2, 3))


# ---- losses


class GaussianNLLLoss(Module):
    """The negative logarithm of normal densities with a mean and a variance.

    Parameters
    ----------
    full : bool
        Whether the number that does not depend on them is added.
    eps : float
        The least variance.
    reduction : {'mean', 'sum', 'none'}
        What becomes of the single losses.

    Examples
    --------
    >>> tt.nn.GaussianNLLLoss()(tt.array([1.0]), tt.array([3.0]), tt.array([1.0]))
    array(2.)
    """

    def __init__(self, *, full=False, eps=1e-6, reduction="mean"):
        super().__init__()
        self.full, self.eps, self.reduction = full, eps, reduction

    def forward(self, input, target, var):
        """The loss.

        Parameters
        ----------
        input : ndarray
            Means.
        target : ndarray
            What was seen.
        var : ndarray or float
            Variances.

        Returns
        -------
        ndarray
            The loss.

        Examples
        --------
        >>> tt.nn.GaussianNLLLoss().forward(tt.array([1.0]), tt.array([3.0]), 1.0)
        array(2.)
        """
        return functional.gaussian_nll_loss(input, target, var, self.full, self.eps, self.reduction)


class TripletMarginWithDistanceLoss(Module):
    """What is missing to a margin between the distances to something alike and to something other.

    Parameters
    ----------
    distance_function : callable
        Gets two sets of vectors, gives their distances; None: PairwiseDistance.
    margin : float
        How far apart suffices.
    swap : bool
        Whether the distance between both others counts where it is smaller.
    reduction : {'mean', 'sum', 'none'}
        What becomes of the single losses.

    Examples
    --------
    >>> far = tt.nn.TripletMarginWithDistanceLoss(distance_function=lambda a, b: abs(a - b).max(axis=-1))
    >>> far(*tt.array([[[0.0, 0.0]], [[3.0, 4.0]], [[0.0, 1.0]]]))
    array(4.)
    """

    def __init__(self, *, distance_function=None, margin=1.0, swap=False, reduction="mean"):
        super().__init__()
        if margin <= 0:
            raise ValueError(
                f"TripletMarginWithDistanceLoss: expected margin to be greater than 0, got {margin} instead"
            )
        self.distance_function = layer("PairwiseDistance")() if distance_function is None else distance_function
        self.margin, self.swap, self.reduction = margin, swap, reduction

    def forward(self, anchor, positive, negative):
        """The loss.

        Parameters
        ----------
        anchor : ndarray
            Vectors.
        positive : ndarray
            Vectors that should be near.
        negative : ndarray
            Vectors that should be far.

        Returns
        -------
        ndarray
            The loss.

        Examples
        --------
        >>> a, b, c = tt.array([[[0.0, 0.0]], [[3.0, 4.0]], [[0.0, 1.0]]])
        >>> tt.nn.TripletMarginWithDistanceLoss().forward(a, b, c).round(3)
        array(5.)
        """
        return functional.triplet_margin_with_distance_loss(
            anchor,
            positive,
            negative,
            distance_function=self.distance_function,
            margin=self.margin,
            swap=self.swap,
            reduction=self.reduction,
        )


class LinearCrossEntropyLoss(Module):
    """Cross entropy of a product with a weight.

    Parameters
    ----------
    in_features : int
        How long the last axis of the input is.
    num_classes : int
        How many classes there are.
    out_features : tuple of int
        Further axes of the result, each of whose places has classes.
    bias : bool
        Whether there is a bias.
    device : Device or str
        Where the parameters lie.
    dtype : dtype
        Their type; None: float32.
    reduction : {'mean', 'sum', 'none'}
        What becomes of the single losses.
    weight : ndarray
        A factor for each class; None: 1.
    ignore_index : int
        A target that does not count; None: -100.
    label_smoothing : float
        The share of the target that all classes share.

    Examples
    --------
    >>> loss = tt.nn.LinearCrossEntropyLoss(4, 3)
    >>> loss(tt.ones((2, 4), dtype="float32"), tt.array([0, 2])).shape
    ()
    """

    def __init__(
        self,
        in_features,
        num_classes,
        *,
        out_features=(),
        bias=False,
        device=None,
        dtype=None,
        reduction="mean",
        weight=None,
        ignore_index=None,
        label_smoothing=0.0,
    ):
        super().__init__()
        if weight is not None and weight.shape != (num_classes,):
            raise ValueError(f"expected weight shape to be {(num_classes,)}, got {weight.shape}")
        if not 0 <= label_smoothing <= 1:
            raise ValueError(f"expected label_smoothing to be in range [0, 1], got {label_smoothing}")
        self.register_buffer("weight", weight)
        self.num_classes, self.out_features, self.reduction = num_classes, tuple(out_features), reduction
        self.ignore_index, self.label_smoothing = ignore_index, label_smoothing
        rows = num_classes
        for n in self.out_features:
            rows *= n
        self.linear = Linear(in_features, rows, bias, device, dtype)

    def forward(self, input, target):
        """The loss.

        Parameters
        ----------
        input : ndarray
            [images, in_features], or without images.
        target : ndarray
            A class for each.

        Returns
        -------
        ndarray
            The loss.

        Examples
        --------
        >>> loss = tt.nn.LinearCrossEntropyLoss(4, 3, reduction="none")
        >>> loss.forward(tt.ones((2, 4), dtype="float32"), tt.array([0, 2])).shape
        (2,)
        """
        places = (self.num_classes, *self.out_features)
        bias = self.linear.bias
        return functional.linear_cross_entropy(
            input,
            self.linear.weight.reshape(*places, self.linear.in_features),
            target,
            linear_bias=None if bias is None else bias.reshape(places),
            weight=self.weight,
            reduction=self.reduction,
            ignore_index=self.ignore_index,
            label_smoothing=self.label_smoothing,
        )

    def extra_repr(self):
        """The numbers that the layer was made with.

        Returns
        -------
        str
            The words.

        Examples
        --------
        >>> tt.nn.LinearCrossEntropyLoss(4, 3).extra_repr().split(", ")[:2]
        ['in_features=4', 'num_classes=3']
        """
        return (
            f"in_features={self.linear.in_features}, num_classes={self.num_classes}, "
            f"out_features={self.out_features}, bias={self.linear.bias is not None}, reduction={self.reduction}, "
            f"ignore_index={self.ignore_index}, label_smoothing={self.label_smoothing}, options=None"
        )


_Output = namedtuple("_ASMoutput", ["output", "loss"])


class AdaptiveLogSoftmaxWithLoss(Module):
    """Log-softmax over many classes, the rare ones in clusters of which only those are computed that are met.

    Parameters
    ----------
    in_features : int
        How long the vectors are.
    n_classes : int
        How many classes there are; the frequent ones come first.
    cutoffs : sequence of int
        Where the clusters begin.
    div_value : float
        How much smaller each cluster's inner layer is than the one before.
    head_bias : bool
        Whether the first layer has a bias.
    device : Device or str
        Where the parameters lie.
    dtype : dtype
        Their type; None: float32.

    Examples
    --------
    >>> m = tt.nn.AdaptiveLogSoftmaxWithLoss(8, 20, [5, 10])
    >>> m(tt.ones((3, 8), dtype="float32"), tt.array([0, 7, 19])).output.shape
    (3,)
    """

    def __init__(self, in_features, n_classes, cutoffs, div_value=4.0, head_bias=False, device=None, dtype=None):
        super().__init__()
        cutoffs = list(cutoffs)
        if not cutoffs:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        rising = cutoffs == sorted(set(cutoffs)) and all(int(c) == c for c in cutoffs)
        if not rising or min(cutoffs) <= 0 or max(cutoffs) > n_classes - 1:
            raise ValueError(
                "cutoffs should be a sequence of unique, positive integers sorted in an increasing order, "
                "where each value is between 1 and n_classes-1"
            )
        self.in_features, self.n_classes, self.div_value, self.head_bias = in_features, n_classes, div_value, head_bias
        self.cutoffs = [*cutoffs, n_classes]
        self.shortlist_size, self.n_clusters = cutoffs[0], len(cutoffs)
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, head_bias, device, dtype)
        self.tail = ModuleList()
        for k in range(self.n_clusters):
            inner = int(in_features // div_value ** (k + 1))
            size = self.cutoffs[k + 1] - self.cutoffs[k]
            layers = Linear(in_features, inner, False, device, dtype), Linear(inner, size, False, device, dtype)
            self.tail.append(Sequential(*layers))

    def reset_parameters(self):
        """Draw all parameters.

        Returns
        -------
        None

        Examples
        --------
        >>> tt.nn.AdaptiveLogSoftmaxWithLoss(8, 20, [5, 10]).reset_parameters()
        """
        self.head.reset_parameters()
        for first, second in self.tail:
            first.reset_parameters()
            second.reset_parameters()

    def forward(self, input, target):
        """The targets' logarithms of chances, and the loss.

        Parameters
        ----------
        input : ndarray
            [images, in_features], or without images.
        target : ndarray
            A class for each.

        Returns
        -------
        (output, loss)
            A number for each, and the mean of them negated.

        Examples
        --------
        >>> m = tt.nn.AdaptiveLogSoftmaxWithLoss(8, 20, [5, 10])
        >>> m.forward(tt.ones((3, 8), dtype="float32"), tt.array([0, 7, 19])).loss.shape
        ()
        """
        if target.ndim == 0 and input.ndim == 1:
            alone = self.forward(input[None], target[None])
            return _Output(alone.output[0], alone.loss)
        if target.ndim != 1 or input.ndim != 2:
            raise ValueError("0D or 1D target tensor expected, multi-target not supported")
        if len(input) != len(target):
            raise ValueError("Input and target should have the same size in the batch dimension.")
        least, most = int(target.min()), int(target.max())
        if least < 0 or most >= self.n_classes:
            raise ValueError(
                f"Target values should be in [0, {self.n_classes - 1}], "
                f"but values in range [{least}, {most}] were found. "
            )
        places, output = target.copy(), None
        for k, low in enumerate(self.cutoffs[:-1]):
            rows = _core.functions["flatnonzero"]((target >= low) & (target < self.cutoffs[k + 1]))
            if len(rows) == 0:
                continue
            places[rows] = self.shortlist_size + k
            own = _log_softmax(self.tail[k](input[rows]), 1)
            part = _core.functions["zeros"](len(target), own.dtype, device=own.device)
            part[rows] = _along(own, (target[rows] - low)[:, None], 1)[:, 0]
            output = part if output is None else output + part
        head = _along(_log_softmax(self.head(input), 1), places[:, None], 1)[:, 0]
        output = head if output is None else head + output
        return _Output(output, -output.mean())

    def log_prob(self, input):
        """The logarithms of chances of all classes.

        Parameters
        ----------
        input : ndarray
            [images, in_features].

        Returns
        -------
        ndarray
            [images, n_classes].

        Examples
        --------
        >>> m = tt.nn.AdaptiveLogSoftmaxWithLoss(8, 20, [5, 10])
        >>> m.log_prob(tt.ones((3, 8), dtype="float32")).shape
        (3, 20)
        """
        head, n = _log_softmax(self.head(input), 1), self.shortlist_size
        parts = [head[:, :n]]
        for k, cluster in enumerate(self.tail):
            parts.append(_log_softmax(cluster(input), 1) + head[:, n + k : n + k + 1])
        return _core.functions["concatenate"](parts, 1)

    def predict(self, input):
        """The classes with the largest chances.

        Parameters
        ----------
        input : ndarray
            [images, in_features].

        Returns
        -------
        ndarray
            A class for each.

        Examples
        --------
        >>> m = tt.nn.AdaptiveLogSoftmaxWithLoss(8, 20, [5, 10])
        >>> m.predict(tt.ones((3, 8), dtype="float32")).shape
        (3,)
        """
        return self.log_prob(input).argmax(axis=1)
