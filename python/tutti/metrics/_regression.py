"""Metrics of numbers: errors, correlations, and the losses of chances as metrics."""

import tutti as tt

from ..training import losses
from ._accuracy import told
from ._base import Mean, MeanMetricWrapper, Metric

_ERRORS = "[[0, 1], [0, 0]], [[1, 1], [0, 0]]"
_CHANCES = "[[0, 1], [0, 0]], [[0.6, 0.4], [0.4, 0.6]]"
_LOGITS = ("bool", "Are predictions logits, not chances?")
_SMOOTHING = ("float", "How much of what is true is shared by all classes.")
_AXIS = ("int", "The axis of the classes.")


class _Error(MeanMetricWrapper):
    _direction = "down"


@told(_ERRORS, 0.25)
class MeanSquaredError(_Error):
    """The mean of squared differences."""

    def __init__(self, name="mean_squared_error", dtype=None):
        super().__init__(losses.mean_squared_error, name, dtype)


@told(_ERRORS, 0.25)
class MeanAbsoluteError(_Error):
    """The mean of absolute differences."""

    def __init__(self, name="mean_absolute_error", dtype=None):
        super().__init__(losses.mean_absolute_error, name, dtype)


@told("[[1.0, 2.0]], [[1.5, 2.0]]", 25.0)
class MeanAbsolutePercentageError(_Error):
    """The mean of absolute differences, in percent of what is true."""

    def __init__(self, name="mean_absolute_percentage_error", dtype=None):
        super().__init__(losses.mean_absolute_percentage_error, name, dtype)


@told("[[1.0, 1.0]], [[1.0, 1.0]]", 0.0)
class MeanSquaredLogarithmicError(_Error):
    """The mean of squared differences of logarithms."""

    def __init__(self, name="mean_squared_logarithmic_error", dtype=None):
        super().__init__(losses.mean_squared_logarithmic_error, name, dtype)


@told("[[1.0, 1.0]], [[1.0, 1.0]]", 0.0)
class LogCoshError(_Error):
    """The mean of the logarithms of the hyperbolic cosines of differences."""

    def __init__(self, name="logcosh", dtype=None):
        super().__init__(losses.log_cosh, name, dtype)


@told(_ERRORS, 0.5)
class RootMeanSquaredError(Mean):
    """The root of the mean of squared differences."""

    _direction = "down"

    def __init__(self, name="root_mean_squared_error", dtype=None):
        super().__init__(name, dtype)

    def update_state(self, y_true, y_pred, sample_weight=None):
        y_true, y_pred = losses.same_rank(tt.asarray(y_true), tt.asarray(y_pred))
        super().update_state(tt.square((y_pred - y_true).astype("float64")), sample_weight)

    def result(self):
        return tt.sqrt(super().result())


def _alike(y_true, y_pred, axis):
    """The cosine between vectors; Keras' loss of this name is its negative."""
    return -losses.cosine_similarity(y_true, y_pred, axis)


@told("[[1.0, 0.0]], [[2.0, 0.0]]", 1.0, axis=("int", "The axis of the vectors."))
class CosineSimilarity(MeanMetricWrapper):
    """The mean cosine between what is true and what is predicted."""

    _direction = "up"

    def __init__(self, name="cosine_similarity", dtype=None, axis=-1):
        super().__init__(_alike, name, dtype, axis=axis)


def _centred(y_true, y_pred, axis):
    """Both less their means, with these."""
    y_pred = tt.asarray(y_pred)
    both = losses.same_rank(tt.asarray(y_true).astype(y_pred.dtype), y_pred)
    means = [y.mean(axis=axis, keepdims=True) for y in both]
    return [y - mean for y, mean in zip(both, means, strict=True)], means


def _pearson(y_true, y_pred, axis=-1):
    (a, b), _ = _centred(y_true, y_pred, axis)
    return (a * b).mean(axis=axis) / tt.sqrt(tt.square(a).mean(axis=axis) * tt.square(b).mean(axis=axis))


def _concordance(y_true, y_pred, axis=-1):
    (a, b), means = _centred(y_true, y_pred, axis)
    apart = tt.square(tt.subtract(*means)).squeeze(axis)
    spread = tt.square(a).mean(axis=axis) + tt.square(b).mean(axis=axis)
    return 2 * (a * b).mean(axis=axis) / (spread + apart + losses.EPSILON)


@told("[[0.0, 1.0, 0.5]], [[0.0, 2.0, 1.0]]", 1.0, axis=("int", "The axis of what is correlated."))
class PearsonCorrelation(MeanMetricWrapper):
    """The mean correlation between what is true and what is predicted."""

    _direction = "up"

    def __init__(self, name="pearson_correlation", dtype=None, axis=-1):
        super().__init__(_pearson, name, dtype, axis=axis)


@told("[[0.0, 1.0]], [[1.0, 0.0]]", -0.9999998211860657, axis=("int", "The axis of what is correlated."))
class ConcordanceCorrelation(MeanMetricWrapper):
    """The mean correlation that also falls with the distance between the means."""

    _direction = "up"

    def __init__(self, name="concordance_correlation", dtype=None, axis=-1):
        super().__init__(_concordance, name, dtype, axis=axis)


@told("[[-1.0, 1.0]], [[-1.0, 1.0]]", 0.0)
class Hinge(_Error):
    """What is missing to a margin of 1."""

    def __init__(self, name="hinge", dtype=None):
        super().__init__(losses.hinge, name, dtype)


@told("[[-1.0, 1.0]], [[-1.0, 1.0]]", 0.0)
class SquaredHinge(_Error):
    """The square of what is missing to a margin of 1."""

    def __init__(self, name="squared_hinge", dtype=None):
        super().__init__(losses.squared_hinge, name, dtype)


@told("[[0.0, 1.0]], [[0.0, 2.0]]", 0.0)
class CategoricalHinge(_Error):
    """What is missing to a margin of 1 between the true class and the best of the others."""

    def __init__(self, name="categorical_hinge", dtype=None):
        super().__init__(losses.categorical_hinge, name, dtype)


@told("[[0.5, 0.5]], [[0.5, 0.5]]", 0.0)
class KLDivergence(_Error):
    """How far predicted chances are from the true ones."""

    def __init__(self, name="kl_divergence", dtype=None):
        super().__init__(losses.kl_divergence, name, dtype)


@told("[[0.0, 0.0]], [[1.0, 1.0]]", 1.0)
class Poisson(_Error):
    """The loss of counts whose predicted means these are."""

    def __init__(self, name="poisson", dtype=None):
        super().__init__(losses.poisson, name, dtype)


@told("[[1.0, 0.0]], [[0.5, 0.5]]", 0.6931471824645996, from_logits=_LOGITS, label_smoothing=_SMOOTHING)
class BinaryCrossentropy(_Error):
    """The cross entropy of chances of a 1."""

    def __init__(self, name="binary_crossentropy", dtype=None, from_logits=False, label_smoothing=0):
        more = {"from_logits": from_logits, "label_smoothing": label_smoothing}
        super().__init__(losses.binary_crossentropy, name, dtype, **more)


@told("[[1.0, 0.0]], [[0.5, 0.5]]", 0.6931471824645996, from_logits=_LOGITS, label_smoothing=_SMOOTHING, axis=_AXIS)
class CategoricalCrossentropy(_Error):
    """The cross entropy of chances of classes, where the true one is one-hot."""

    def __init__(self, name="categorical_crossentropy", dtype=None, from_logits=False, label_smoothing=0, axis=-1):
        more = {"from_logits": from_logits, "label_smoothing": label_smoothing, "axis": axis}
        super().__init__(losses.categorical_crossentropy, name, dtype, **more)


@told("[0], [[0.5, 0.5]]", 0.6931471824645996, from_logits=_LOGITS, axis=_AXIS)
class SparseCategoricalCrossentropy(_Error):
    """The cross entropy of chances of classes, where the true one is a number."""

    def __init__(self, name="sparse_categorical_crossentropy", dtype=None, from_logits=False, axis=-1):
        super().__init__(losses.sparse_categorical_crossentropy, name, dtype, from_logits=from_logits, axis=axis)


@told(
    "[[1.0], [4.0], [3.0]], [[2.0], [4.0], [4.0]]",
    0.5714285969734192,
    class_aggregation=(
        "{'uniform_average', 'variance_weighted_average', None}",
        "What becomes of the results of several outputs.",
    ),
    num_regressors=("int", "How many variables the prediction is made of, which the adjusted result allows for."),
)
class R2Score(Metric):
    """The share of the variance that is predicted."""

    _direction = "up"

    def __init__(self, class_aggregation="uniform_average", num_regressors=0, name="r2_score", dtype=None):
        known = (None, "uniform_average", "variance_weighted_average")
        if class_aggregation not in known:
            raise ValueError(
                f"Invalid value for argument `class_aggregation`. Expected one of {known}. "
                f"Received: class_aggregation={class_aggregation}"
            )
        if num_regressors < 0:
            raise ValueError(
                "Invalid value for argument `num_regressors`. Expected a value >= 0. "
                f"Received: num_regressors={num_regressors}"
            )
        self.class_aggregation, self.num_regressors = class_aggregation, num_regressors
        super().__init__(name, dtype)

    def reset_state(self):
        self._sum, self._squares, self._errors, self._count, self._samples = (tt.zeros(1) for _ in range(5))

    def update_state(self, y_true, y_pred, sample_weight=None):
        y_true, y_pred = (tt.asarray(y).astype("float64") for y in (y_true, y_pred))
        y_true, y_pred = losses.same_rank(y_true, y_pred)
        if y_true.ndim != 2 or y_pred.ndim != 2:
            raise ValueError(
                "R2Score expects 2D inputs with shape (batch_size, output_dim). Received input shapes: "
                f"y_pred.shape={y_pred.shape} and y_true.shape={y_true.shape}."
            )
        weight = tt.asarray(1.0 if sample_weight is None else sample_weight).astype("float64")
        weight = tt.broadcast_to(weight[:, None] if weight.ndim == 1 else weight, y_true.shape)
        self._sum = self._sum + (y_true * weight).sum(axis=0)
        self._squares = self._squares + (tt.square(y_true) * weight).sum(axis=0)
        self._errors = self._errors + (tt.square(y_true - y_pred) * weight).sum(axis=0)
        self._count = self._count + weight.sum(axis=0)
        self._samples = self._samples + (weight != 0).any(axis=-1).sum()

    def result(self):
        total = self._squares - self._sum * (self._sum / self._count)
        scores = 1 - self._errors / total
        scores = tt.where(tt.isinf(scores), 0.0, scores)
        if self.class_aggregation == "uniform_average":
            scores = scores.mean()
        elif self.class_aggregation == "variance_weighted_average":
            scores = (total * scores).sum() / total.sum()
        return self._adjusted(scores).astype(self.dtype)

    def _adjusted(self, scores):
        """Less what as many variables predict by chance, where there are samples enough to say."""
        if not self.num_regressors:
            return scores
        n, p = self._samples[0], self.num_regressors
        return tt.where(n > p + 1, 1 - (1 - scores) * (n - 1) / tt.maximum(n - p - 1, 1), scores)
