"""Layers without parameters, over the functions of `nn.functional`: a row each, of which a class is made when somebody
asks for it."""

import sys

from .. import _core
from . import functional
from ._module import Module

_WORDS = {  # of constructors' parameters
    "inplace": "bool : Whether the result is written into the input, too.",
    "min_val": "float : The least value.",
    "max_val": "float : The largest value.",
    "threshold": "float : Where the function changes.",
    "value": "float : What elements below become.",
    "negative_slope": "float : The part below 0.",
    "alpha": "float : The limit to the left, negated.",
    "beta": "float : Where, or how sharply, the function bends.",
    "lambd": "float : How far from 0 the result is 0.",
    "lower": "float : The least slope.",
    "upper": "float : The largest slope.",
    "dim": "int : The axis.",
    "approximate": "{'none', 'tanh'} : Whether the share is that of the normal distribution or its approximation.",
    "p": "float : The chance that an element or channel goes.",
    "margin": "float : How far apart suffices.",
    "eps": "float : What is added so that nothing is divided by 0.",
    "delta": "float : Where squares end.",
    "swap": "bool : Whether the distance between both others counts where it is smaller.",
    "log_target": "bool : Whether the target is logarithms.",
    "kernel_size": "int or tuple of int : How long windows are, along all axes or each.",
    "stride": "int or tuple of int : How far windows are apart; of pools None: as they are long.",
    "padding": "int or tuple of int : How far windows reach beyond both ends.",
    "output_size": "int or tuple of int : The lengths of the result; None in a tuple: the input's.",
    "dilation": "int or tuple of int : How far elements of a window are apart.",
    "return_indices": "bool : Whether the places of the largest elements are given also.",
    "ceil_mode": "bool : Whether a window that begins inside and reaches beyond counts.",
    "count_include_pad": "bool : Whether zeros around count as elements.",
    "divisor_override": "int : What sums are divided by; None: how many elements a window has.",
    "weight": "ndarray : A factor for each class, or each loss; None: 1.",
    "pos_weight": "ndarray : A factor for class 1; None: 1.",
    "size_average": "bool : An older word for `reduction`.",
    "reduce": "bool : An older word for `reduction`.",
    "reduction": "{'mean', 'sum', 'none'} : What becomes of the single losses.",
    "ignore_index": "int : A target that does not count.",
    "label_smoothing": "float : The share of the target that all classes share.",
    "blank": "int : The class that stands for no label.",
    "zero_infinity": "bool : Whether a loss that is infinite counts as 0.",
    "norm_type": "float : The order of the norm.",
    "output_ratio": "float or tuple of float : The lengths of the result over those of the input.",
    "_random_samples": "ndarray : The numbers by which windows begin; None: drawn.",
    "upscale_factor": "int : How much longer height and width get.",
    "downscale_factor": "int : How much shorter height and width get.",
    "groups": "int : How many groups the channels make.",
    "size": "int : How many channels count.",
    "k": "float : What is added below the power.",
    "log_input": "bool : Whether the input is logarithms of means.",
    "full": "bool : Whether what the target alone decides is added.",
    "LocalResponseNorm.alpha": "float : What the mean square is multiplied by.",
    "LocalResponseNorm.beta": "float : The power.",
    "MultiMarginLoss.p": "int : The power of what is missing, 1 or 2.",
    "keepdim": "bool : Whether the axis stays, with length 1.",
}


def _told(name, summary, parameters, example):
    """The docstring of a layer."""
    lines = [summary, ""]
    if parameters:
        lines += ["Parameters", "----------"]
        for p in parameters:
            kind, _, words = _WORDS.get(f"{name}.{p}", _WORDS.get(p)).partition(" : ")
            lines += [f"{p} : {kind}", f"    {words}"]
        lines.append("")
    return "\n".join([*lines, "Examples", "--------", *example])


class _Row(Module):
    """A layer without parameters: what its constructor was told are attributes, and go to the function by name."""

    _passed = ()

    def _remember(self, told):
        super().__init__()
        for name, value in told.items():
            if isinstance(value, _core.ndarray):
                self.register_buffer(name, value)
            else:
                setattr(self, name, value)

    def _numbers(self):
        own = self.__dict__
        return {name: own[name] if name in own else getattr(self, name) for name in self._passed}

    def extra_repr(self):
        """The numbers that the layer was made with, as PyTorch prints them.

        Returns
        -------
        str
            The words.

        Examples
        --------
        >>> tt.nn.LeakyReLU(0.5).extra_repr()
        'negative_slope=0.5'
        """
        said = []
        for name in self._shown:
            value = getattr(self, name)
            if name == "stride" and value is None and not self._always:
                value = self.kernel_size
            if self._tuples and isinstance(value, int):
                value = (value,)
            if name == "inplace" and value is False and not self._always:
                continue
            said.append(f"{value}" if name in self._bare else f"{name}={value!r}")
        return ", ".join(said)


class _Function(_Row):
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
        >>> tt.nn.ReLU().forward(tt.array([-1.0, 1.0]))
        array([0., 1.])
        """
        return _core.call_layer(self, self._function, self._passed, input)


class _Dropout(_Row):
    def forward(self, input):
        """The input; in training without some elements.

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
        >>> tt.nn.Dropout().eval().forward(tt.ones(2))
        array([1., 1.])
        """
        return self._function(input, training=self.training, **self._numbers())


class _Loss(_Row):
    def forward(self, input, target):
        """The loss of an input.

        Parameters
        ----------
        input : ndarray
            The input.
        target : ndarray
            What it should be.

        Returns
        -------
        ndarray
            The loss.

        Examples
        --------
        >>> tt.nn.MSELoss().forward(tt.array([1.0]), tt.array([3.0]))
        array(4.)
        """
        return _core.call_layer(self, self._function, self._passed, input, target)


class _PairLoss(_Row):
    def forward(self, input1, input2, target):
        """The loss of two inputs.

        Parameters
        ----------
        input1 : ndarray
            The first input.
        input2 : ndarray
            The second input.
        target : ndarray
            1 or -1.

        Returns
        -------
        ndarray
            The loss.

        Examples
        --------
        >>> tt.nn.MarginRankingLoss().forward(tt.array([1.0]), tt.array([3.0]), tt.array([1.0]))
        array(2.)
        """
        return _core.call_layer(self, self._function, self._passed, input1, input2, target)


class _Pair(_Row):
    def forward(self, x1, x2):
        """The function of two inputs.

        Parameters
        ----------
        x1 : ndarray
            The first input.
        x2 : ndarray
            The second input.

        Returns
        -------
        ndarray
            The result.

        Examples
        --------
        >>> tt.nn.CosineSimilarity().forward(tt.array([[3.0, 4.0]]), tt.array([[4.0, 3.0]]))
        array([0.96])
        """
        return _core.call_layer(self, self._function, self._passed, x1, x2)


class _Triplet(_Row):
    def forward(self, anchor, positive, negative):
        """The loss of three inputs.

        Parameters
        ----------
        anchor : ndarray
            Vectors along the last axis.
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
        >>> tt.nn.TripletMarginLoss().forward(a, b, c).round(3)
        array(5.)
        """
        return _core.call_layer(self, self._function, self._passed, anchor, positive, negative)


class _SequenceLoss(_Row):
    def forward(self, log_probs, targets, input_lengths, target_lengths):
        """The loss of sequences.

        Parameters
        ----------
        log_probs : ndarray
            Logarithms of chances, [steps, images, classes], or without images.
        targets : ndarray
            Labels: a row for each image, or one after the other.
        input_lengths : ndarray
            How many steps each image has.
        target_lengths : ndarray
            How many labels each image has.

        Returns
        -------
        ndarray
            The loss.

        Examples
        --------
        >>> log = tt.nn.functional.log_softmax(tt.zeros((4, 1, 3)), 2)
        >>> tt.nn.CTCLoss().forward(log, tt.array([[1, 2]]), tt.array([4]), tt.array([2])).round(3)
        array(0.843)
        """
        return _core.call_layer(self, self._function, self._passed, log_probs, targets, input_lengths, target_lengths)


_FUNCTIONS = """
ReLU(inplace=False) relu: What is above 0; else 0. | inplace
ReLU6(inplace=False) relu6: What lies between 0 and 6, else the nearer of both. | inplace
Hardtanh(min_val=-1.0, max_val=1.0, inplace=False) hardtanh: What lies between two values, else the nearer of both. | min_val max_val inplace
Threshold(threshold, value, inplace=False) threshold: What is above a threshold, else a value. | threshold value inplace
LeakyReLU(negative_slope=0.01, inplace=False) leaky_relu: What is above 0; below it a part of it. | negative_slope inplace
ELU(alpha=1.0, inplace=False) elu: What is above 0; below it alpha * (exp(x) - 1). | alpha inplace
CELU(alpha=1.0, inplace=False) celu: What is above 0; below it alpha * (exp(x / alpha) - 1). | alpha inplace
SELU(inplace=False) selu: ELU with the two numbers that keep mean 0 and variance 1. | inplace
SiLU(inplace=False) silu: x * sigmoid(x). | inplace
Mish(inplace=False) mish: x * tanh(softplus(x)). | inplace
GELU(approximate='none') gelu: x times the share of the normal distribution below x. | approximate
Softplus(beta=1.0, threshold=20.0) softplus: log(1 + exp(beta * x)) / beta. | beta threshold
Softsign() softsign: x / (1 + abs(x)). |
LogSigmoid() logsigmoid: The logarithm of sigmoid, without overflow. |
Sigmoid() sigmoid: 1 / (1 + exp(-x)). |
Tanh() tanh: The hyperbolic tangent. |
Hardsigmoid(inplace=False) hardsigmoid: Sigmoid as three straight lines. |
Hardswish(inplace=False) hardswish: x * hardsigmoid(x). |
Tanhshrink() tanhshrink: x - tanh(x). |
Hardshrink(lambd=0.5) hardshrink: 0 between -lambd and lambd, else x. | =lambd
Softshrink(lambd=0.5) softshrink: 0 between -lambd and lambd, else x nearer to 0 by lambd. | =lambd
GLU(dim=-1) glu: One half of an axis times sigmoid of the other. | dim
Softmax(dim=None) softmax: Exponentials over their sum along an axis. | dim
Softmin(dim=None) softmin: Softmax of the negated elements. | dim
LogSoftmax(dim=None) log_softmax: The logarithm of softmax. | dim
MaxPool1d(kernel_size, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False) max_pool1d: The largest element of windows over 1 axis of space. | kernel_size stride padding dilation ceil_mode
MaxPool2d(kernel_size, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False) max_pool2d: The largest element of windows over 2 axes of space. | kernel_size stride padding dilation ceil_mode
MaxPool3d(kernel_size, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False) max_pool3d: The largest element of windows over 3 axes of space. | kernel_size stride padding dilation ceil_mode
AvgPool1d(kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True) avg_pool1d: The mean of windows over 1 axis of space. | kernel_size stride padding
AvgPool2d(kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None) avg_pool2d: The mean of windows over 2 axes of space. | kernel_size stride padding
AvgPool3d(kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None) avg_pool3d: The mean of windows over 3 axes of space. | kernel_size stride padding
AdaptiveAvgPool1d(output_size) adaptive_avg_pool1d: The mean of windows over 1 axis of space, so long that the result has a given size. | output_size
AdaptiveAvgPool2d(output_size) adaptive_avg_pool2d: The mean of windows over 2 axes of space, so long that the result has a given size. | output_size
AdaptiveAvgPool3d(output_size) adaptive_avg_pool3d: The mean of windows over 3 axes of space, so long that the result has a given size. | output_size
AdaptiveMaxPool1d(output_size, return_indices=False) adaptive_max_pool1d: The largest element of windows over 1 axis of space, so long that the result has a given size. | output_size
AdaptiveMaxPool2d(output_size, return_indices=False) adaptive_max_pool2d: The largest element of windows over 2 axes of space, so long that the result has a given size. | output_size
AdaptiveMaxPool3d(output_size, return_indices=False) adaptive_max_pool3d: The largest element of windows over 3 axes of space, so long that the result has a given size. | output_size
Unfold(kernel_size, dilation=1, padding=0, stride=1) unfold: Windows of images as columns. | kernel_size dilation padding stride
Fold(output_size, kernel_size, dilation=1, padding=0, stride=1) fold: Columns added up to images. | output_size kernel_size dilation padding stride
LPPool1d(norm_type, kernel_size, stride=None, ceil_mode=False) lp_pool1d: The norm of windows over 1 axis of space. | norm_type kernel_size +stride ceil_mode
LPPool2d(norm_type, kernel_size, stride=None, ceil_mode=False) lp_pool2d: The norm of windows over 2 axes of space. | norm_type kernel_size +stride ceil_mode
LPPool3d(norm_type, kernel_size, stride=None, ceil_mode=False) lp_pool3d: The norm of windows over 3 axes of space. | norm_type kernel_size +stride ceil_mode
FractionalMaxPool2d(kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None) fractional_max_pool2d: The largest element of windows over 2 axes of space at places by chance. |
FractionalMaxPool3d(kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None) fractional_max_pool3d: The largest element of windows over 3 axes of space at places by chance. |
PixelShuffle(upscale_factor) pixel_shuffle: Channels that become space. | upscale_factor
PixelUnshuffle(downscale_factor) pixel_unshuffle: Space that becomes channels. | downscale_factor
ChannelShuffle(groups) channel_shuffle: Channels in turns, one of each group. | groups
LocalResponseNorm(size, alpha=0.0001, beta=0.75, k=1.0) local_response_norm: Elements over a power of the mean square of the channels around. | =size alpha beta k
"""  # noqa: E501 (a row is a line)
_DROPOUTS = """
Dropout(p=0.5, inplace=False) dropout: In training elements are 0 by chance, the others grow by 1 / (1 - p). | ! p inplace
Dropout1d(p=0.5, inplace=False) dropout1d: In training channels over 1 axis of space are 0 by chance. | ! p inplace
Dropout2d(p=0.5, inplace=False) dropout2d: In training channels over 2 axes of space are 0 by chance. | ! p inplace
Dropout3d(p=0.5, inplace=False) dropout3d: In training channels over 3 axes of space are 0 by chance. | ! p inplace
AlphaDropout(p=0.5, inplace=False) alpha_dropout: In training elements saturate by chance as SELU does. | ! p inplace
FeatureAlphaDropout(p=0.5, inplace=False) feature_alpha_dropout: AlphaDropout of whole channels. | ! p inplace
"""  # noqa: E501 (a row is a line)
_LOSSES = """
MSELoss(size_average=None, reduce=None, reduction='mean') mse_loss: The mean of squared differences. |
L1Loss(size_average=None, reduce=None, reduction='mean') l1_loss: The mean of absolute differences. |
SmoothL1Loss(size_average=None, reduce=None, reduction='mean', beta=1.0) smooth_l1_loss: Absolute differences, but squares below beta. |
HuberLoss(reduction='mean', delta=1.0) huber_loss: Half the squared difference up to delta, beyond it delta times the absolute one. |
SoftMarginLoss(size_average=None, reduce=None, reduction='mean') soft_margin_loss: The logistic loss of targets 1 and -1. |
HingeEmbeddingLoss(margin=1.0, size_average=None, reduce=None, reduction='mean') hinge_embedding_loss: The input where the target is 1; where it is -1 what the margin is above it. |
BCELoss(weight=None, size_average=None, reduce=None, reduction='mean') binary_cross_entropy: Cross entropy between chances of one of two classes. |
BCEWithLogitsLoss(weight=None, size_average=None, reduce=None, reduction='mean', pos_weight=None) binary_cross_entropy_with_logits: BCELoss of sigmoid, without overflow. |
KLDivLoss(size_average=None, reduce=None, reduction='mean', log_target=False) kl_div: How far the target is from a distribution whose logarithm is given. |
NLLLoss(weight=None, size_average=None, ignore_index=-100, reduce=None, reduction='mean') nll_loss: The negative logarithm of the target's chance. |
CrossEntropyLoss(weight=None, size_average=None, ignore_index=-100, reduce=None, reduction='mean', label_smoothing=0.0) cross_entropy: The negative logarithm of the target's share in softmax. |
PoissonNLLLoss(log_input=True, full=False, size_average=None, eps=1e-08, reduce=None, reduction='mean') poisson_nll_loss: The negative logarithm of Poisson's distribution. |
MultiMarginLoss(p=1, margin=1.0, weight=None, size_average=None, reduce=None, reduction='mean') multi_margin_loss: What is missing to a margin between the target's class and each other. |
MultiLabelMarginLoss(size_average=None, reduce=None, reduction='mean') multilabel_margin_loss: What is missing to a margin of 1 between each of several classes and each other. |
MultiLabelSoftMarginLoss(weight=None, size_average=None, reduce=None, reduction='mean') multilabel_soft_margin_loss: The logistic loss of each class, the mean of all. |
"""  # noqa: E501 (a row is a line)
_PAIR_LOSSES = """
CosineEmbeddingLoss(margin=0.0, size_average=None, reduce=None, reduction='mean') cosine_embedding_loss: How unlike vectors are that should be alike, and the other way round. |
MarginRankingLoss(margin=0.0, size_average=None, reduce=None, reduction='mean') margin_ranking_loss: What is missing to a margin between two inputs. |
"""  # noqa: E501 (a row is a line)
_TRIPLETS = """
TripletMarginLoss(margin=1.0, p=2.0, eps=1e-06, swap=False, size_average=None, reduce=None, reduction='mean') triplet_margin_loss: What is missing to a margin between the distances to something alike and to something other. |
"""  # noqa: E501 (a row is a line)
_SEQUENCES = """
CTCLoss(blank=0, reduction='mean', zero_infinity=False) ctc_loss: The negative logarithm of the chance of labels, spread over a sequence in any way. |
"""  # noqa: E501 (a row is a line)
_PAIRS = """
CosineSimilarity(dim=1, eps=1e-08) cosine_similarity: The cosine between vectors along an axis. |
PairwiseDistance(p=2.0, eps=1e-06, keepdim=False) pairwise_distance: The length of differences of vectors along the last axis. |
"""  # noqa: E501 (a row is a line)


_BASES = {
    name: (line, base)
    for rows, base in (
        (_FUNCTIONS, _Function),
        (_DROPOUTS, _Dropout),
        (_LOSSES, _Loss),
        (_PAIR_LOSSES, _PairLoss),
        (_TRIPLETS, _Triplet),
        (_PAIRS, _Pair),
        (_SEQUENCES, _SequenceLoss),
    )
    for line in rows.strip().split("\n")
    for name in [line.partition("(")[0]]
}
names = tuple(_BASES)


def layer(name):
    """The class of a row. Its constructor is written out, so that it has the parameters that the row says."""
    row, base = _BASES[name]
    head, _, rest = row.partition(": ")
    told, _, function = head[len(name) + 1 :].rpartition(") ")
    words, _, shown = rest.partition(" |")
    shown, given = shown.split(), [word.partition("=") for word in told.split(", ") if word]
    passed = tuple(sys.intern(word) for word, _, _ in given)
    made = {}
    exec(  # noqa: S102 (of the rows above)
        f"def __init__(self, {told}):\n    self._remember({{{', '.join(f'{p!r}: {p}' for p in passed)}}})", made
    )
    members = {
        "__module__": "tutti.nn",
        "__init__": made["__init__"],
        "_function": staticmethod(getattr(functional, function)),
        "_passed": passed,
        "_shown": [s.lstrip("+=") for s in shown if s != "!"],
        "_always": any(s[0] in "!+" for s in shown),  # also numbers that say nothing
        "_bare": [s[1:] for s in shown if s[0] == "="],  # without their names
        "_tuples": name == "AvgPool1d",  # whose numbers PyTorch keeps so
    }
    cls = type(name, (base,), members)
    needed = [word for word, _, value in given if not value]
    call = f"{name}({', '.join(f'{word}=2' for word in needed)})"
    cls.__doc__ = _told(name, words, passed, [f">>> tt.nn.{call}", repr(cls(**dict.fromkeys(needed, 2)))])
    return cls
