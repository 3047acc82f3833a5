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

__all__ = [
    "Accuracy",
    "BinaryAccuracy",
    "CategoricalAccuracy",
    "Mean",
    "MeanMetricWrapper",
    "Metric",
    "SparseCategoricalAccuracy",
    "SparseTopKCategoricalAccuracy",
    "Sum",
    "TopKCategoricalAccuracy",
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
