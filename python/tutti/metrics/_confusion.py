"""Metrics of how often predictions above thresholds are right: counts of true and false positives and negatives."""

import tutti as tt

from ..training.losses import EPSILON, same_rank
from ._accuracy import told
from ._base import Metric, ratio

_THRESHOLDS = ("float or list of float, optional", "What predictions exceed to be positive, one for each result.")
_TOP_K = ("int, optional", "Only so many of the largest predictions of a sample count.")
_CLASS_ID = ("int, optional", "The class that is looked at; None: all.")


def _checked(thresholds, default):
    given = thresholds if isinstance(thresholds, (list, tuple)) else [default if thresholds is None else thresholds]
    wrong = [t for t in given if t is None or (thresholds is not None and not 0 <= t <= 1)]
    if wrong:
        raise ValueError(f"Threshold values must be in the range [0, 1]. Received: {wrong}")
    return tuple(given)


def _largest(y_pred, k):
    """The k largest of each row; what is left is below all thresholds."""
    first = tt.argsort(-y_pred, axis=-1, kind="stable")[..., :k]
    keeps = tt.zeros(y_pred.shape, dtype="bool")
    tt.put_along_axis(keeps, first, True, axis=-1)
    return tt.where(keeps, y_pred, -tt.inf)


def counts(y_true, y_pred, thresholds, sample_weight=None, top_k=None, class_id=None, by_label=False):
    """True positives, false positives, true negatives and false negatives for each threshold (and label)."""
    y_pred, y_true = same_rank(tt.asarray(y_pred).astype("float32"), tt.asarray(y_true))
    weight = None
    if sample_weight is not None:
        weight = tt.asarray(sample_weight).astype("float64")
        weight = weight.reshape(weight.shape + (1,) * (y_pred.ndim - weight.ndim))
    if top_k is not None:
        y_pred = _largest(y_pred, top_k)
    if class_id is not None:
        if y_pred.ndim == 1:
            raise ValueError(
                "When class_id is provided, y_pred must be a 2D array with shape (num_samples, num_classes), "
                f"found shape: {y_pred.shape}"
            )
        y_true, y_pred = (y[..., class_id, None] for y in (y_true, y_pred))
    axis = 1 if by_label else tuple(range(1, y_pred.ndim + 1))
    levels = tt.array(thresholds, dtype="float32").reshape((-1,) + (1,) * y_pred.ndim)
    positive, label = y_pred[None] > levels, (y_true != 0)[None]

    def count(which):
        return (which if weight is None else which * weight[None]).sum(axis=axis, dtype="float64")

    return (
        count(label & positive),
        count(~label & positive),
        count(~label & ~positive),
        count(label & ~positive),
    )


class _Counts(Metric):
    """Metrics that are made of the four counts, of which the results need some."""

    _direction = "up"

    def __init__(self, thresholds, name=None, dtype=None):
        self.thresholds = thresholds
        super().__init__(name, dtype)

    def reset_state(self):
        self.true_positives, self.false_positives, self.true_negatives, self.false_negatives = (
            tt.zeros(len(self.thresholds)) for _ in range(4)
        )

    def _add(self, found):
        true_positives, false_positives, true_negatives, false_negatives = found
        self.true_positives = self.true_positives + true_positives
        self.false_positives = self.false_positives + false_positives
        self.true_negatives = self.true_negatives + true_negatives
        self.false_negatives = self.false_negatives + false_negatives

    def update_state(self, y_true, y_pred, sample_weight=None):
        self._add(counts(y_true, y_pred, self.thresholds, sample_weight, **self._which()))

    def _which(self):
        return {}

    def _given(self, values):
        """A number where there is one threshold."""
        values = values.astype(self.dtype)
        return values[0] if len(self.thresholds) == 1 else values

    def _recall(self):
        return ratio(self.true_positives, self.true_positives + self.false_negatives)

    def _precision(self):
        return ratio(self.true_positives, self.true_positives + self.false_positives)

    def _specificity(self):
        return ratio(self.true_negatives, self.true_negatives + self.false_positives)


class _Count(_Counts):
    def __init__(self, thresholds=None, name=None, dtype=None):
        super().__init__(_checked(thresholds, 0.5), name, dtype)


@told("[0, 1, 1, 1], [1, 0, 1, 1]", 2.0, thresholds=_THRESHOLDS)
class TruePositives(_Count):
    """How many predictions are rightly positive."""

    def result(self):
        return self._given(self.true_positives)


@told("[0, 1, 0, 0], [0, 0, 1, 1]", 2.0, thresholds=_THRESHOLDS)
class FalsePositives(_Count):
    """How many predictions are wrongly positive."""

    _direction = "down"

    def result(self):
        return self._given(self.false_positives)


@told("[0, 1, 0, 0], [1, 1, 0, 0]", 2.0, thresholds=_THRESHOLDS)
class TrueNegatives(_Count):
    """How many predictions are rightly negative."""

    def result(self):
        return self._given(self.true_negatives)


@told("[0, 1, 1, 1], [0, 1, 0, 0]", 2.0, thresholds=_THRESHOLDS)
class FalseNegatives(_Count):
    """How many predictions are wrongly negative."""

    _direction = "down"

    def result(self):
        return self._given(self.false_negatives)


class _OfSome(_Counts):
    def __init__(self, thresholds=None, top_k=None, class_id=None, name=None, dtype=None):
        self.top_k, self.class_id = top_k, class_id
        super().__init__(_checked(thresholds, 0.5 if top_k is None else -1e10), name, dtype)

    def _which(self):
        return {"top_k": self.top_k, "class_id": self.class_id}


@told("[0, 1, 1, 1], [1, 0, 1, 1]", 0.6666666865348816, thresholds=_THRESHOLDS, top_k=_TOP_K, class_id=_CLASS_ID)
class Precision(_OfSome):
    """The share of the positive predictions that are right."""

    def result(self):
        return self._given(self._precision())


@told("[0, 1, 1, 1], [1, 0, 1, 1]", 0.6666666865348816, thresholds=_THRESHOLDS, top_k=_TOP_K, class_id=_CLASS_ID)
class Recall(_OfSome):
    """The share of the positives that are predicted."""

    def result(self):
        return self._given(self._recall())


def _evenly(n):
    return [k / (n - 1) for k in range(n)] if n > 1 else [0.5]


class _AtLeast(_Counts):
    """The best of one rate over all thresholds at which another is high enough."""

    _what = ""

    def __init__(self, value, num_thresholds=200, class_id=None, name=None, dtype=None):
        if not 0 <= value <= 1:
            raise ValueError(f"Argument `{self._what}` must be in the range [0, 1]. Received: {self._what}={value}")
        if num_thresholds <= 0:
            raise ValueError(
                f"Argument `num_thresholds` must be an integer > 0. Received: num_thresholds={num_thresholds}"
            )
        self.value, self.class_id = value, class_id
        super().__init__(_evenly(num_thresholds), name, dtype)

    def _which(self):
        return {"class_id": self.class_id}

    def _best(self, held, sought):
        return tt.where(held >= self.value, sought, 0.0).max().astype(self.dtype)


def _told_at(what, words, result):
    def fill(cls):
        cls.__doc__ = f"""{words}

    Parameters
    ----------
    {what} : float
        What the other rate is at least, from 0 to 1.
    num_thresholds : int
        How many thresholds are tried.
    class_id : int, optional
        The class that is looked at; None: all.
    name : str, optional
        The name in logs.
    dtype : dtype, optional
        The type of the result; None: float32.

    Examples
    --------
    >>> tt.metrics.{cls.__name__}(0.5)([0, 0, 0, 1, 1], [0, 0.3, 0.8, 0.3, 0.8]).item()
    {result}
    """
        return cls

    return fill


@_told_at("specificity", "The best share of positives that are predicted, where as many negatives are.", 0.5)
class SensitivityAtSpecificity(_AtLeast):
    _what = "specificity"

    def __init__(self, specificity, num_thresholds=200, class_id=None, name=None, dtype=None):
        super().__init__(specificity, num_thresholds, class_id, name, dtype)

    def result(self):
        return self._best(self._specificity(), self._recall())


@_told_at(
    "sensitivity", "The best share of negatives that are predicted, where as many positives are.", 0.6666666865348816
)
class SpecificityAtSensitivity(_AtLeast):
    _what = "sensitivity"

    def __init__(self, sensitivity, num_thresholds=200, class_id=None, name=None, dtype=None):
        super().__init__(sensitivity, num_thresholds, class_id, name, dtype)

    def result(self):
        return self._best(self._recall(), self._specificity())


@_told_at("recall", "The best precision, where as many positives are predicted.", 0.5)
class PrecisionAtRecall(_AtLeast):
    _what = "recall"

    def __init__(self, recall, num_thresholds=200, class_id=None, name=None, dtype=None):
        super().__init__(recall, num_thresholds, class_id, name, dtype)

    def result(self):
        return self._best(self._recall(), self._precision())


@_told_at("precision", "The best share of positives that are predicted, where the precision is as high.", 1.0)
class RecallAtPrecision(_AtLeast):
    _what = "precision"

    def __init__(self, precision, num_thresholds=200, class_id=None, name=None, dtype=None):
        super().__init__(precision, num_thresholds, class_id, name, dtype)

    def result(self):
        return self._best(self._precision(), self._recall())


class AUC(_Counts):
    """The area under a curve that thresholds draw: of true over false positives, or of precision over recall.

    Parameters
    ----------
    num_thresholds : int
        How many thresholds there are.
    curve : {"ROC", "PR"}
        Which curve.
    summation_method : {"interpolation", "minoring", "majoring"}
        What is taken between two thresholds: the middle, the lower or the upper value.
    name : str, optional
        The name in logs.
    dtype : dtype, optional
        The type of the result; None: float32.
    thresholds : list of float, optional
        Thresholds of one's own.
    multi_label : bool
        Is there a curve for each label? The result is the mean of them.
    num_labels : int, optional
        How many labels; they are counted where it is None.
    label_weights : array_like, optional
        What the labels count.
    from_logits : bool
        Are predictions logits, not chances?

    Examples
    --------
    >>> round(tt.metrics.AUC(num_thresholds=3)([0, 0, 1, 1], [0, 0.5, 0.3, 0.9]).item(), 6)
    0.75
    """

    def __init__(
        self,
        num_thresholds=200,
        curve="ROC",
        summation_method="interpolation",
        name=None,
        dtype=None,
        thresholds=None,
        multi_label=False,
        num_labels=None,
        label_weights=None,
        from_logits=False,
    ):
        for what, given, known in (
            ("curve", curve.upper(), ("ROC", "PR")),
            ("summation_method", summation_method.lower(), ("interpolation", "minoring", "majoring")),
        ):
            if given not in known:
                raise ValueError(f'Invalid `{what}` argument value "{given}". Expected one of: {list(known)}')
        if thresholds is None and num_thresholds <= 1:
            raise ValueError(
                f"Argument `num_thresholds` must be an integer > 1. Received: num_thresholds={num_thresholds}"
            )
        if num_labels and not multi_label:
            raise ValueError("`num_labels` is needed only when `multi_label` is True.")
        inner = _evenly(num_thresholds)[1:-1] if thresholds is None else sorted(thresholds)
        self.curve, self.summation_method = curve.upper(), summation_method.lower()
        self.multi_label, self.from_logits = multi_label, from_logits
        self.label_weights = None if label_weights is None else tt.array(label_weights, dtype="float64")
        super().__init__([-EPSILON, *inner, 1.0 + EPSILON], name or "auc", dtype)

    def reset_state(self):
        super().reset_state()
        if self.multi_label:  # the first update gives them an axis of labels
            for what in ("true_positives", "false_positives", "true_negatives", "false_negatives"):
                setattr(self, what, getattr(self, what)[:, None])

    def update_state(self, y_true, y_pred, sample_weight=None):
        y_pred = tt.asarray(y_pred)
        if self.from_logits:
            y_pred = tt.nn.functional.sigmoid(y_pred)
        if self.multi_label and y_pred.ndim != 2:
            raise ValueError(
                f"`y_pred` must have rank 2 when `multi_label=True`. Found rank {y_pred.ndim}. "
                f"Full shape received for `y_pred`: {y_pred.shape}"
            )
        if self.label_weights is not None and not self.multi_label:
            own = tt.ones(len(y_pred)) if sample_weight is None else tt.asarray(sample_weight)
            sample_weight = own.reshape(len(y_pred), -1) * self.label_weights
        self._add(counts(y_true, y_pred, self.thresholds, sample_weight, by_label=self.multi_label))

    def _areas_under_precision(self):
        """Between two thresholds both counts are taken to grow alike, which makes the precision a hyperbola."""
        true, positive = self.true_positives, self.true_positives + self.false_positives
        grown, all_grown = true[:-1] - true[1:], positive[:-1] - positive[1:]
        slope = ratio(grown, tt.maximum(all_grown, 0))
        rest = true[1:] - slope * positive[1:]
        both = (positive[:-1] > 0) & (positive[1:] > 0)
        quotient = tt.where(both, ratio(positive[:-1], tt.maximum(positive[1:], 0)), 1.0)
        return ratio(slope * (grown + rest * tt.log(quotient)), true[1:] + self.false_negatives[1:])

    def _areas(self):
        if self.curve == "PR" and self.summation_method == "interpolation":
            return self._areas_under_precision()
        recall = self._recall()
        wrong = ratio(self.false_positives, self.false_positives + self.true_negatives)
        x, y = (wrong, recall) if self.curve == "ROC" else (recall, self._precision())
        heights = {
            "interpolation": lambda a, b: (a + b) / 2.0,
            "minoring": tt.minimum,
            "majoring": tt.maximum,
        }[self.summation_method](y[:-1], y[1:])
        return (x[:-1] - x[1:]) * heights

    def result(self):
        area = self._areas().sum(axis=0)
        if self.multi_label:
            weights = self.label_weights
            area = area.mean() if weights is None else ratio((area * weights).sum(), weights.sum())
        return area.astype(self.dtype)
