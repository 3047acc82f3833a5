"""Metrics of classes: F scores and intersections over unions."""

import tutti as tt

from ..training.losses import EPSILON
from ._base import Metric

_AVERAGE = (
    "{None, 'micro', 'macro', 'weighted'}",
    "What becomes of the classes' results: all of them, that of all samples together, their mean, or this by numbers.",
)
_THRESHOLD = ("float, optional", "What predictions exceed to be positive; None: the largest is.")
_ONE_HOT = "[[1, 0], [0, 1], [0, 1]], [[0.9, 0.1], [0.6, 0.4], [0.2, 0.8]]"


def _told_score(beta, example, result):
    def fill(cls):
        lines = "".join(
            f"    {name} : {kind}\n        {words}\n"
            for name, (kind, words) in {
                "average": _AVERAGE,
                **({"beta": ("float", "How much more recall counts than precision.")} if beta else {}),
                "threshold": _THRESHOLD,
            }.items()
        )
        cls.__doc__ += f"""

    Parameters
    ----------
{lines}    name : str
        The name in logs.
    dtype : dtype, optional
        The type of the result; None: float32.

    Examples
    --------
    >>> score = tt.metrics.{cls.__name__}({example})
    >>> round(score({_ONE_HOT}).item(), 5)
    {result}
    """
        return cls

    return fill


@_told_score(True, "'macro', beta=2.0", 0.69444)
class FBetaScore(Metric):
    """The harmonic mean of precision and recall, of which one counts more."""

    _direction = "up"

    def __init__(self, average=None, beta=1.0, threshold=None, name="fbeta_score", dtype=None):
        if average not in (None, "micro", "macro", "weighted"):
            raise ValueError(
                "Invalid `average` argument value. Expected one of: {None, 'micro', 'macro', 'weighted'}. "
                f"Received: average={average}"
            )
        if not isinstance(beta, float):
            raise ValueError(
                "Invalid `beta` argument value. It should be a Python float. "
                f"Received: beta={beta} of type '{type(beta)}'"
            )
        if beta <= 0.0:
            raise ValueError(f"Invalid `beta` argument value. It should be > 0. Received: beta={beta}")
        if threshold is not None and not (isinstance(threshold, float) and 0.0 < threshold <= 1.0):
            raise ValueError(
                "Invalid `threshold` argument value. It should be a Python float and verify 0 < threshold <= 1. "
                f"Received: threshold={threshold} of type '{type(threshold)}'"
            )
        self.average, self.beta, self.threshold = average, beta, threshold
        super().__init__(name, dtype)

    def reset_state(self):
        self._true_positives, self._false_positives, self._false_negatives, self._labels = (
            tt.zeros(1) for _ in range(4)
        )

    def update_state(self, y_true, y_pred, sample_weight=None):
        y_true, y_pred = tt.asarray(y_true).astype("float64"), tt.asarray(y_pred)
        if y_true.ndim != 2 or y_pred.ndim != 2:
            raise ValueError(
                f"{type(self).__name__} expects 2D inputs with shape (batch_size, output_dim). Received input shapes: "
                f"y_pred.shape={y_pred.shape} and y_true.shape={y_true.shape}."
            )
        if self.threshold is None:
            positive = (y_pred >= y_pred.max(axis=-1, keepdims=True)) & (abs(y_pred) > 1e-9)
        else:
            positive = y_pred > self.threshold
        positive = positive.astype("float64")
        axis = None if self.average == "micro" else 0
        weight = 1.0 if sample_weight is None else tt.asarray(sample_weight).astype("float64")
        weight = weight[:, None] if sample_weight is not None and weight.ndim == 1 else weight
        self._true_positives = self._true_positives + (positive * y_true * weight).sum(axis=axis)
        self._false_positives = self._false_positives + (positive * (1 - y_true) * weight).sum(axis=axis)
        self._false_negatives = self._false_negatives + ((1 - positive) * y_true * weight).sum(axis=axis)
        self._labels = self._labels + (y_true * weight).sum(axis=axis)

    def result(self):
        precision = self._true_positives / (self._true_positives + self._false_positives + EPSILON)
        recall = self._true_positives / (self._true_positives + self._false_negatives + EPSILON)
        square = self.beta**2
        score = precision * recall / (square * precision + recall + EPSILON) * (1 + square)
        if self.average == "weighted":
            score = (score * self._labels / (self._labels.sum() + EPSILON)).sum()
        elif self.average is not None:
            score = score.mean()
        return score.astype(self.dtype)


@_told_score(False, "'macro'", 0.66667)
class F1Score(FBetaScore):
    """The harmonic mean of precision and recall."""

    def __init__(self, average=None, threshold=None, name="f1_score", dtype=None):
        super().__init__(average, 1.0, threshold, name, dtype)


_IOU_WORDS = {
    "num_classes": ("int", "How many classes there are."),
    "target_class_ids": ("list of int", "The classes that count."),
    "name": ("str, optional", "The name in logs."),
    "dtype": ("dtype, optional", "The type of the result; None: float32."),
    "ignore_class": ("int, optional", "A class that is left out."),
    "sparse_y_true": ("bool", "Are the true classes numbers, not one-hot?"),
    "sparse_y_pred": ("bool", "Are the predicted classes numbers, not scores?"),
    "axis": ("int", "The axis of the classes where they are no numbers."),
    "threshold": ("float", "What predictions reach to be positive."),
}


def _told_iou(names, call, result):
    def fill(cls):
        lines = "".join(f"    {n} : {_IOU_WORDS[n][0]}\n        {_IOU_WORDS[n][1]}\n" for n in names.split())
        cls.__doc__ += f"""

    Parameters
    ----------
{lines}
    Examples
    --------
    >>> round(tt.metrics.{cls.__name__}{call}.item(), 5)
    {result}
    """
        return cls

    return fill


@_told_iou(
    "num_classes target_class_ids name dtype ignore_class sparse_y_true sparse_y_pred axis",
    "(2, [0])([0, 0, 1, 1], [0, 1, 0, 1])",
    0.33333,
)
class IoU(Metric):
    """What classes have in common with their predictions, over what one of them has."""

    _direction = "up"

    def __init__(
        self,
        num_classes,
        target_class_ids,
        name=None,
        dtype=None,
        ignore_class=None,
        sparse_y_true=True,
        sparse_y_pred=True,
        axis=-1,
    ):
        target_class_ids = list(target_class_ids)
        if max(target_class_ids) >= num_classes:
            raise ValueError(f"Target class id {max(target_class_ids)} is out of range, which is [0, {num_classes}).")
        self.num_classes, self.target_class_ids, self.ignore_class = num_classes, target_class_ids, ignore_class
        self.sparse_y_true, self.sparse_y_pred, self.axis = sparse_y_true, sparse_y_pred, axis
        super().__init__(name, dtype)

    def reset_state(self):
        self.total_cm = tt.zeros((self.num_classes, self.num_classes))

    def update_state(self, y_true, y_pred, sample_weight=None):
        y_true, y_pred = tt.asarray(y_true), tt.asarray(y_pred)
        y_true = y_true if self.sparse_y_true else y_true.argmax(axis=self.axis)
        y_pred = y_pred if self.sparse_y_pred else y_pred.argmax(axis=self.axis)
        y_true, y_pred = (y.reshape(-1).astype("int64") for y in (y_true, y_pred))
        n = self.num_classes
        weight = tt.asarray(1 if sample_weight is None else sample_weight).astype("float64")
        weight = tt.broadcast_to(weight if weight.ndim == 0 else weight.reshape(-1), y_true.shape)
        is_known = (y_true >= 0) & (y_true < n) & (y_pred >= 0) & (y_pred < n)
        if self.ignore_class is not None:
            is_known = is_known & (y_true != self.ignore_class)
        place = tt.where(is_known, y_true * n + y_pred, 0)
        found = tt.bincount(place, tt.where(is_known, weight, 0.0), minlength=n * n)
        self.total_cm = self.total_cm + found.reshape(n, n)

    def result(self):
        right = tt.diagonal(self.total_cm)
        either = self.total_cm.sum(axis=0) + self.total_cm.sum(axis=1) - right
        right, either = right[self.target_class_ids], either[self.target_class_ids]
        is_there = either > 1e-9
        shares = tt.where(is_there, right / (either + EPSILON), 0.0)
        return (shares.sum() / (is_there.sum() + EPSILON)).astype(self.dtype)


@_told_iou("target_class_ids threshold name dtype", "()([0, 1, 0, 1], [0.1, 0.2, 0.4, 0.7])", 0.58333)
class BinaryIoU(IoU):
    """IoU of two classes by chances of the second one."""

    def __init__(self, target_class_ids=(0, 1), threshold=0.5, name=None, dtype=None):
        self.threshold = threshold
        super().__init__(2, target_class_ids, name, dtype)

    def update_state(self, y_true, y_pred, sample_weight=None):
        super().update_state(y_true, tt.asarray(y_pred) >= self.threshold, sample_weight)


@_told_iou(
    "num_classes name dtype ignore_class sparse_y_true sparse_y_pred axis",
    "(2)([0, 0, 1, 1], [0, 1, 0, 1])",
    0.33333,
)
class MeanIoU(IoU):
    """The mean of the classes' IoU."""

    def __init__(
        self,
        num_classes,
        name=None,
        dtype=None,
        ignore_class=None,
        sparse_y_true=True,
        sparse_y_pred=True,
        axis=-1,
    ):
        more = (ignore_class, sparse_y_true, sparse_y_pred, axis)
        super().__init__(num_classes, range(num_classes), name, dtype, *more)


@_told_iou(
    "num_classes target_class_ids name dtype ignore_class sparse_y_pred axis",
    "(2, [0])([[1, 0], [1, 0], [0, 1]], [[0.9, 0.1], [0.2, 0.8], [0.3, 0.7]])",
    0.5,
)
class OneHotIoU(IoU):
    """IoU of classes that are one-hot."""

    def __init__(
        self, num_classes, target_class_ids, name=None, dtype=None, ignore_class=None, sparse_y_pred=False, axis=-1
    ):
        super().__init__(num_classes, target_class_ids, name, dtype, ignore_class, False, sparse_y_pred, axis)


@_told_iou(
    "num_classes name dtype ignore_class sparse_y_pred axis",
    "(2)([[1, 0], [1, 0], [0, 1]], [[0.9, 0.1], [0.2, 0.8], [0.3, 0.7]])",
    0.5,
)
class OneHotMeanIoU(MeanIoU):
    """The mean of the IoU of classes that are one-hot."""

    def __init__(self, num_classes, name=None, dtype=None, ignore_class=None, sparse_y_pred=False, axis=-1):
        super().__init__(num_classes, name, dtype, ignore_class, False, sparse_y_pred, axis)
