"""Losses as Keras has them: functions of what is true and what a model says, a value for each sample; objects that
reduce them, and both by name."""

import tutti as tt

EPSILON = 1e-7  # what Keras keeps logarithms and quotients from 0 with


def same_rank(a, b):
    """Two arrays, one of them without or with a last axis of length 1 where the other has one axis less or more."""
    if a.ndim == b.ndim + 1:
        return (a, b[..., None]) if a.shape[-1] == 1 and b.ndim == 1 else _without_last(a, b)
    if b.ndim == a.ndim + 1:
        return (a[..., None], b) if b.shape[-1] == 1 and a.ndim == 1 else _without_last(b, a)[::-1]
    return a, b


def _without_last(longer, other):
    return (longer[..., 0] if longer.shape[-1] == 1 else longer), other


def _alike(y_true, y_pred):
    """Both as arrays of the prediction's type and of one rank."""
    y_pred = tt.asarray(y_pred)
    return same_rank(tt.asarray(y_true).astype(y_pred.dtype), y_pred)


def mean_squared_error(y_true, y_pred):
    y_true, y_pred = _alike(y_true, y_pred)
    return tt.square(y_true - y_pred).mean(axis=-1)


def mean_absolute_error(y_true, y_pred):
    y_true, y_pred = _alike(y_true, y_pred)
    return abs(y_true - y_pred).mean(axis=-1)


def mean_absolute_percentage_error(y_true, y_pred):
    y_true, y_pred = _alike(y_true, y_pred)
    return 100.0 * abs((y_true - y_pred) / tt.maximum(abs(y_true), EPSILON)).mean(axis=-1)


def mean_squared_logarithmic_error(y_true, y_pred):
    y_true, y_pred = _alike(y_true, y_pred)
    logs = (tt.log(tt.maximum(y, EPSILON) + 1.0) for y in (y_pred, y_true))
    return tt.square(tt.subtract(*logs)).mean(axis=-1)


def cosine_similarity(y_true, y_pred, axis=-1):
    y_true, y_pred = (tt.nn.functional.normalize(y, dim=axis) for y in _alike(y_true, y_pred))
    return -(y_true * y_pred).sum(axis=axis)


def huber(y_true, y_pred, delta=1.0):
    y_true, y_pred = _alike(y_true, y_pred)
    return tt.nn.functional.huber_loss(y_pred, y_true, reduction="none", delta=delta).mean(axis=-1)


def log_cosh(y_true, y_pred):
    y_true, y_pred = _alike(y_true, y_pred)
    error = y_pred - y_true
    return (tt.logaddexp(error, -error) - tt.log(2.0).astype(error.dtype)).mean(axis=-1)


def _signed(y_true):
    """Labels 0 and 1 as -1 and 1; others as they are."""
    is_binary = ((y_true == 0) | (y_true == 1)).all()
    return tt.where(is_binary, 2 * y_true - 1, y_true)


def hinge(y_true, y_pred):
    y_true, y_pred = _alike(y_true, y_pred)
    return tt.maximum(1.0 - _signed(y_true) * y_pred, 0.0).mean(axis=-1)


def squared_hinge(y_true, y_pred):
    y_true, y_pred = _alike(y_true, y_pred)
    return tt.square(tt.maximum(1.0 - _signed(y_true) * y_pred, 0.0)).mean(axis=-1)


def categorical_hinge(y_true, y_pred):
    y_true, y_pred = _alike(y_true, y_pred)
    right, wrong = (y_true * y_pred).sum(axis=-1), ((1.0 - y_true) * y_pred).max(axis=-1)
    return tt.maximum(wrong - right + 1.0, 0.0)


def kl_divergence(y_true, y_pred):
    y_true, y_pred = (tt.clip(y, EPSILON, 1) for y in _alike(y_true, y_pred))
    return (y_true * tt.log(y_true / y_pred)).sum(axis=-1)


def poisson(y_true, y_pred):
    y_true, y_pred = _alike(y_true, y_pred)
    return (y_pred - y_true * tt.log(y_pred + EPSILON)).mean(axis=-1)


def _log_chances(y_pred, from_logits, axis):
    if from_logits:
        return tt.nn.functional.log_softmax(y_pred, dim=axis)
    return tt.log(tt.clip(y_pred / y_pred.sum(axis=axis, keepdims=True), EPSILON, 1.0 - EPSILON))


def categorical_crossentropy(y_true, y_pred, from_logits=False, label_smoothing=0.0, axis=-1):
    y_pred = tt.asarray(y_pred)
    y_true = tt.asarray(y_true).astype(y_pred.dtype)
    _same_shapes(y_true, y_pred)
    if label_smoothing:
        y_true = y_true * (1.0 - label_smoothing) + label_smoothing / y_pred.shape[axis]
    return -(y_true * _log_chances(y_pred, from_logits, axis)).sum(axis=axis)


def sparse_categorical_crossentropy(y_true, y_pred, from_logits=False, ignore_class=None, axis=-1):
    y_true, y_pred = tt.asarray(y_true), tt.asarray(y_pred)
    if y_true.ndim == y_pred.ndim and y_true.shape[axis] == 1:
        y_true = y_true.squeeze(axis)
    classes_last = tt.moveaxis(y_pred, axis, -1)
    if y_true.shape != classes_last.shape[:-1]:
        raise ValueError(
            "Arguments `target` and `output` must have the same shape up until the last dimension: "
            f"target.shape={y_true.shape}, output.shape={y_pred.shape}"
        )
    y_true = y_true.astype("int64")
    counts = None if ignore_class is None else y_true != ignore_class
    labels = y_true if counts is None else tt.where(counts, y_true, 0)
    if from_logits and _on_host(labels):
        rows = classes_last.reshape(-1, classes_last.shape[-1])
        values = tt.nn.functional.cross_entropy(rows, labels.reshape(-1), reduction="none").reshape(labels.shape)
    elif from_logits:
        values = -_of_labels(tt.nn.functional.log_softmax(classes_last, dim=-1), labels)
    else:
        chance = _of_labels(classes_last, labels)
        values = -tt.log(tt.clip(chance / classes_last.sum(axis=-1), EPSILON, 1.0 - EPSILON))
    return values if counts is None else tt.where(counts, values, 0.0)


def _on_host(a):
    return a.device.type == "cpu"


def _of_labels(values, labels):
    """For each row its element at the label.

    Labels on the host are checked. To look at those on a device would be to wait for it in each step: there a label
    out of range makes NaN.
    """
    n = values.shape[-1]
    if not _on_host(labels):
        found = tt.where(tt.arange(n) == labels[..., None], values, 0.0).sum(axis=-1)
        return tt.where((labels >= 0) & (labels < n), found, tt.nan)
    try:
        return tt.take_along_axis(values, labels[..., None], axis=-1)[..., 0]
    except IndexError:
        row = int(((labels < 0) | (labels >= n)).argmax())
        wrong = int(labels.reshape(-1)[row])
        raise IndexError(f"Target {wrong} is out of bounds. (row {row}, {n} classes)") from None


def binary_crossentropy(y_true, y_pred, from_logits=False, label_smoothing=0.0, axis=-1):
    y_true, y_pred = _alike(y_true, y_pred)
    _same_shapes(y_true, y_pred)
    if label_smoothing:
        y_true = y_true * (1.0 - label_smoothing) + 0.5 * label_smoothing
    if from_logits:
        values = tt.nn.functional.binary_cross_entropy_with_logits(y_pred, y_true, reduction="none")
    else:
        y_pred = tt.clip(y_pred, EPSILON, 1.0 - EPSILON)
        values = -(y_true * tt.log(y_pred) + (1.0 - y_true) * tt.log(1.0 - y_pred))
    return values.mean(axis=axis)


def _same_shapes(y_true, y_pred):
    if y_true.shape != y_pred.shape:
        raise ValueError(
            "Arguments `target` and `output` must have the same shape. "
            f"Received: target.shape={y_true.shape}, output.shape={y_pred.shape}"
        )


REDUCTIONS = ("sum_over_batch_size", "sum", None, "none", "mean", "mean_with_sample_weight")


class Loss:
    """A loss that reduces its values: y_true, y_pred and a weight for each sample in, a number out.

    Subclasses have call(y_true, y_pred), which gives a value for each sample.
    """

    def __init__(self, name=None, reduction="sum_over_batch_size"):
        if reduction not in REDUCTIONS:
            raise ValueError(
                f"Invalid value for argument `reduction`. Expected one of {set(REDUCTIONS)}. "
                f"Received: reduction={reduction}"
            )
        self.name, self.reduction = name or type(self).__name__.lower(), reduction

    def call(self, y_true, y_pred):
        raise NotImplementedError

    def __call__(self, y_true, y_pred, sample_weight=None):
        return reduced(self.call(y_true, y_pred), sample_weight, self.reduction)


class FunctionLoss(Loss):
    """A loss of a function of y_true and y_pred, with what else it is given."""

    def __init__(self, function, name=None, reduction="sum_over_batch_size", **kwargs):
        super().__init__(name or function.__name__, reduction)
        self.function, self.kwargs = function, kwargs

    def call(self, y_true, y_pred):
        return self.function(y_true, y_pred, **self.kwargs)


class ModuleLoss(Loss):
    """A loss of tutti.nn, which takes what the model says first and reduces by itself."""

    def __init__(self, module, name=None):
        super().__init__(name or type(module).__name__)
        self.module = module

    def __call__(self, y_true, y_pred, sample_weight=None):
        if sample_weight is None:
            return self.module(y_pred, y_true)
        was, self.module.reduction = self.module.reduction, "none"
        try:
            values = self.module(y_pred, y_true)
        finally:
            self.module.reduction = was
        return reduced(values, sample_weight, "sum" if was == "sum" else "sum_over_batch_size")


def reduced(values, sample_weight=None, reduction="sum_over_batch_size"):
    """Values times their weights, as one number: their mean over all values, unless told otherwise."""
    values = tt.asarray(values)
    if sample_weight is not None:
        weight = tt.asarray(sample_weight).astype(values.dtype)
        values, weight = same_rank(values, weight)
        values = values * weight
    if reduction in (None, "none") or values.ndim == 0:
        return values
    if reduction == "sum":
        return values.sum()
    if reduction == "mean_with_sample_weight" and sample_weight is not None:
        return values.sum() / weight.sum()
    return values.mean()


# Names of Keras', and its short ones.
FUNCTIONS = {
    function.__name__: function
    for function in (
        mean_squared_error,
        mean_absolute_error,
        mean_absolute_percentage_error,
        mean_squared_logarithmic_error,
        cosine_similarity,
        huber,
        log_cosh,
        hinge,
        squared_hinge,
        categorical_hinge,
        kl_divergence,
        poisson,
        categorical_crossentropy,
        sparse_categorical_crossentropy,
        binary_crossentropy,
    )
}
SHORT = {
    "mse": "mean_squared_error",
    "mae": "mean_absolute_error",
    "mape": "mean_absolute_percentage_error",
    "msle": "mean_squared_logarithmic_error",
    "logcosh": "log_cosh",
    "kld": "kl_divergence",
    "kullback_leibler_divergence": "kl_divergence",
    "bce": "binary_crossentropy",
}


def snake_case(name):
    """A class's name as words with lines between them: MeanSquaredError is mean_squared_error."""
    words = "".join("_" + c.lower() if c.isupper() else c for c in name)
    return words.lstrip("_")


def function_of(name):
    """The function of a name, or of its class; None where there is no such name."""
    lower = name.lower()
    found = FUNCTIONS.get(SHORT.get(lower, lower))
    return found or FUNCTIONS.get(snake_case(name))


def by_shapes(y_true, y_pred):
    """What Keras means by a name without a kind: "binary", "sparse_categorical" or "categorical"."""
    if y_pred.shape[-1] == 1:
        return "binary"
    is_sparse = y_true.ndim < y_pred.ndim or (y_true.shape[-1] == 1 and y_pred.shape[-1] > 1)
    return "sparse_categorical" if is_sparse else "categorical"


def get(identifier, y_true=None, y_pred=None):
    """A loss of a name, a function, a loss of tutti.nn or a loss of this module."""
    if identifier is None or isinstance(identifier, Loss):
        return identifier
    if isinstance(identifier, str):
        name = identifier
        if name.lower() in ("crossentropy", "ce"):
            name = by_shapes(y_true, y_pred) + "_crossentropy"
        function = function_of(name)
        if function is None:
            raise ValueError(f"Could not interpret loss identifier: {identifier}")
        return FunctionLoss(function, name=identifier)
    if isinstance(identifier, tt.nn.Module):
        return ModuleLoss(identifier)
    if isinstance(identifier, type):
        return get(identifier(), y_true, y_pred)
    if callable(identifier):
        return FunctionLoss(identifier, name=getattr(identifier, "__name__", type(identifier).__name__))
    raise ValueError(f"Could not interpret loss identifier: {identifier}")
