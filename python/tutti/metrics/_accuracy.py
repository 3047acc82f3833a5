"""How often a model is right."""

import tutti as tt

from ..training.losses import same_rank
from ._base import MeanMetricWrapper


def accuracy(y_true, y_pred):
    y_pred = tt.asarray(y_pred)
    y_true, y_pred = same_rank(tt.asarray(y_true).astype(y_pred.dtype), y_pred)
    return y_true == y_pred


def binary_accuracy(y_true, y_pred, threshold=0.5):
    y_true, y_pred = same_rank(tt.asarray(y_true), tt.asarray(y_pred))
    return y_true == (y_pred > threshold)


def categorical_accuracy(y_true, y_pred):
    return tt.asarray(y_true).argmax(axis=-1) == tt.asarray(y_pred).argmax(axis=-1)


def sparse_categorical_accuracy(y_true, y_pred):
    y_true, y_pred = tt.asarray(y_true), tt.asarray(y_pred)
    if y_true.ndim == y_pred.ndim:
        y_true = y_true.squeeze(-1)
    return y_true == y_pred.argmax(axis=-1)


def top_k_categorical_accuracy(y_true, y_pred, k=5):
    return sparse_top_k_categorical_accuracy(tt.asarray(y_true).argmax(axis=-1), y_pred, k)


def sparse_top_k_categorical_accuracy(y_true, y_pred, k=5):
    """Are fewer than k scores above that of the true class?"""
    y_true, y_pred = tt.asarray(y_true), tt.asarray(y_pred)
    if y_true.ndim == y_pred.ndim:
        y_true = y_true.squeeze(-1)
    own = tt.take_along_axis(y_pred, y_true.astype("int64")[..., None], axis=-1)
    return ((y_pred > own).sum(axis=-1) < k) & tt.isfinite(own[..., 0])


_WORDS = """

Parameters
----------
{parameters}name : str
    The name in logs.
dtype : dtype, optional
    The type of the result; None: float32.

Examples
--------
>>> tt.metrics.{kind}()({example}).item()
{result}"""


def told(example, result, **parameters):
    """Documents a metric: its parameters, and a call of it."""

    def fill(cls):
        lines = "".join(f"{name} : {kind}\n    {words}\n" for name, (kind, words) in parameters.items())
        cls.__doc__ += _WORDS.format(parameters=lines, kind=cls.__name__, example=example, result=result)
        return cls

    return fill


class _Rate(MeanMetricWrapper):
    _direction = "up"


@told("[1, 2, 3], [1, 2, 4]", 0.6666666865348816)
class Accuracy(_Rate):
    """How often predictions are equal to what is true."""

    def __init__(self, name="accuracy", dtype=None):
        super().__init__(accuracy, name, dtype)


@told("[[1], [0], [1]], [[0.6], [0.2], [0.4]]", 0.6666666865348816, threshold=("float", "What chances of a 1 exceed."))
class BinaryAccuracy(_Rate):
    """How often chances of a 1 lie on the right side of a threshold."""

    def __init__(self, name="binary_accuracy", dtype=None, threshold=0.5):
        super().__init__(binary_accuracy, name, dtype, threshold=threshold)


@told("[[0, 1], [1, 0]], [[0.1, 0.9], [0.4, 0.6]]", 0.5)
class CategoricalAccuracy(_Rate):
    """How often the class with the largest score is the true one, where that is one-hot."""

    def __init__(self, name="categorical_accuracy", dtype=None):
        super().__init__(categorical_accuracy, name, dtype)


@told("[1, 0], [[0.1, 0.9], [0.4, 0.6]]", 0.5)
class SparseCategoricalAccuracy(_Rate):
    """How often the class with the largest score is the true one, where that is a number."""

    def __init__(self, name="sparse_categorical_accuracy", dtype=None):
        super().__init__(sparse_categorical_accuracy, name, dtype)


_K = ("int", "How many of the largest scores count.")


@told("[[0, 0, 1], [0, 1, 0]], [[0.1, 0.9, 0.8], [0.05, 0.95, 0]]", 1.0, k=_K)
class TopKCategoricalAccuracy(_Rate):
    """How often the true class, one-hot, is among those with the largest scores."""

    def __init__(self, k=5, name="top_k_categorical_accuracy", dtype=None):
        super().__init__(top_k_categorical_accuracy, name, dtype, k=k)


@told("[2, 1], [[0.1, 0.9, 0.8], [0.05, 0.95, 0]]", 1.0, k=_K)
class SparseTopKCategoricalAccuracy(_Rate):
    """How often the true class, a number, is among those with the largest scores."""

    def __init__(self, k=5, name="sparse_top_k_categorical_accuracy", dtype=None):
        super().__init__(sparse_top_k_categorical_accuracy, name, dtype, k=k)
