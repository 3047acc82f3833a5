"""Metrics: what a training is judged by, with Keras' names and results.

import tutti as tt
accuracy = tt.metrics.SparseCategoricalAccuracy()
accuracy.update_state([1, 0], [[0.1, 0.9], [0.4, 0.6]])
print(float(accuracy.result()))  # 0.5
"""

from ._accuracy import (
    Accuracy,
    BinaryAccuracy,
    CategoricalAccuracy,
    SparseCategoricalAccuracy,
    SparseTopKCategoricalAccuracy,
    TopKCategoricalAccuracy,
)
from ._base import Mean, MeanMetricWrapper, Metric, Sum
from ._classes import (
    BinaryIoU,
    F1Score,
    FBetaScore,
    IoU,
    MeanIoU,
    OneHotIoU,
    OneHotMeanIoU,
)
from ._confusion import (
    AUC,
    FalseNegatives,
    FalsePositives,
    Precision,
    PrecisionAtRecall,
    Recall,
    RecallAtPrecision,
    SensitivityAtSpecificity,
    SpecificityAtSensitivity,
    TrueNegatives,
    TruePositives,
)
from ._regression import (
    BinaryCrossentropy,
    CategoricalCrossentropy,
    CategoricalHinge,
    CosineSimilarity,
    Hinge,
    KLDivergence,
    LogCoshError,
    MeanAbsoluteError,
    MeanAbsolutePercentageError,
    MeanSquaredError,
    MeanSquaredLogarithmicError,
    Poisson,
    R2Score,
    RootMeanSquaredError,
    SparseCategoricalCrossentropy,
    SquaredHinge,
)

__all__ = [
    "AUC",
    "Accuracy",
    "BinaryAccuracy",
    "BinaryCrossentropy",
    "BinaryIoU",
    "CategoricalAccuracy",
    "CategoricalCrossentropy",
    "CategoricalHinge",
    "CosineSimilarity",
    "F1Score",
    "FBetaScore",
    "FalseNegatives",
    "FalsePositives",
    "Hinge",
    "IoU",
    "KLDivergence",
    "LogCoshError",
    "Mean",
    "MeanAbsoluteError",
    "MeanAbsolutePercentageError",
    "MeanIoU",
    "MeanMetricWrapper",
    "MeanSquaredError",
    "MeanSquaredLogarithmicError",
    "Metric",
    "OneHotIoU",
    "OneHotMeanIoU",
    "Poisson",
    "Precision",
    "PrecisionAtRecall",
    "R2Score",
    "Recall",
    "RecallAtPrecision",
    "RootMeanSquaredError",
    "SensitivityAtSpecificity",
    "SparseCategoricalAccuracy",
    "SparseCategoricalCrossentropy",
    "SparseTopKCategoricalAccuracy",
    "SpecificityAtSensitivity",
    "SquaredHinge",
    "Sum",
    "TopKCategoricalAccuracy",
    "TrueNegatives",
    "TruePositives",
    "get",
]


def get(identifier):
    """A new metric of its name.

    Parameters
    ----------
    identifier : str or dict
        A class's name, or a function's: "mse", "mean_squared_error" and "MeanSquaredError" are one.

    Returns
    -------
    Metric
        The metric.

    Examples
    --------
    >>> tt.metrics.get("binary_accuracy")
    <BinaryAccuracy name=binary_accuracy>
    """
    from ..training import losses

    short = losses.SHORT.get(identifier.lower(), identifier)
    for name, value in globals().items():
        is_metric = isinstance(value, type) and issubclass(value, Metric)
        if is_metric and short in (name, losses.snake_case(name)):
            return value()
    function = losses.function_of(identifier)
    if function is None:
        raise ValueError(f"Could not interpret metric identifier: {identifier}")
    return MeanMetricWrapper(function, name=identifier)
