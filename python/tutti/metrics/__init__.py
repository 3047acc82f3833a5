"""Metrics: what a training is judged by, with Keras' names and results.

import tutti as tt
accuracy = tt.metrics.SparseCategoricalAccuracy()
accuracy.update_state([1, 0], [[0.1, 0.9], [0.4, 0.6]])
print(float(accuracy.result()))  # 0.5
"""

# Names with the module that is loaded when one is asked for.
_LATER = {
    "_accuracy": "Accuracy BinaryAccuracy CategoricalAccuracy SparseCategoricalAccuracy SparseTopKCategoricalAccuracy "
    "TopKCategoricalAccuracy",
    "_base": "Mean MeanMetricWrapper Metric Sum",
    "_classes": "BinaryIoU F1Score FBetaScore IoU MeanIoU OneHotIoU OneHotMeanIoU",
    "_confusion": "AUC FalseNegatives FalsePositives Precision PrecisionAtRecall Recall RecallAtPrecision "
    "SensitivityAtSpecificity SpecificityAtSensitivity TrueNegatives TruePositives",
    "_regression": "BinaryCrossentropy CategoricalCrossentropy CategoricalHinge ConcordanceCorrelation "
    "CosineSimilarity Hinge KLDivergence LogCoshError MeanAbsoluteError MeanAbsolutePercentageError MeanSquaredError "
    "MeanSquaredLogarithmicError PearsonCorrelation Poisson R2Score RootMeanSquaredError "
    "SparseCategoricalCrossentropy SquaredHinge",
}
_later = {name: module for module, names in _LATER.items() for name in names.split()}

__all__ = sorted([*_later, "get"])


def __getattr__(name):
    if name not in _later:
        raise AttributeError(f"module 'tutti.metrics' has no attribute {name!r}")
    from importlib import import_module

    value = globals()[name] = getattr(import_module("." + _later[name], __name__), name)
    return value


def __dir__():
    return __all__


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
    for name in _later:
        if short in (name, losses.snake_case(name)):
            return __getattr__(name)()
    function = losses.function_of(identifier)
    if function is None:
        raise ValueError(f"Could not interpret metric identifier: {identifier}")
    return __getattr__("MeanMetricWrapper")(function, name=identifier)
