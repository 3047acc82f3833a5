"""keras.losses: functions of what is true and what a model says, and objects that reduce them."""

import tutti as _tt
from tutti.training import losses as _losses

from . import _state
from ._configured import Configured as _Configured
from ._configured import deserialize_keras_object as deserialize
from ._configured import serialize_keras_object as serialize
from ._variable import tensor as _tensor

_FUNCTIONS = dict(_losses.FUNCTIONS)


def _taking_data(function):
    """A function that takes NumPy's arrays and lists in Keras' types."""

    def call(y_true, y_pred, *args, **kwargs):
        return function(_tensor(y_true), _tensor(y_pred), *args, **kwargs)

    call.__name__, call.__doc__ = function.__name__, function.__doc__ or f"{function.__name__} of each sample."
    return call


globals().update({name: _taking_data(function) for name, function in _FUNCTIONS.items()})
globals().update({short: globals()[name] for short, name in _losses.SHORT.items()})


def _focal(bce, weight, gamma, alpha, y_true):
    """The loss of sure answers counts less."""
    if alpha is not None:
        bce = (y_true * alpha + (1 - y_true) * (1 - alpha)) * bce
    return bce * _tt.power(1.0 - weight, gamma)


@_taking_data
def binary_focal_crossentropy(
    y_true, y_pred, apply_class_balancing=False, alpha=0.25, gamma=2.0, from_logits=False, label_smoothing=0.0, axis=-1
):
    """binary_crossentropy in which sure answers count less."""
    y_true = y_true.astype(y_pred.dtype)
    if label_smoothing:
        y_true = y_true * (1.0 - label_smoothing) + 0.5 * label_smoothing
    chance = _tt.nn.functional.sigmoid(y_pred) if from_logits else y_pred
    own = _tt.clip(chance, _losses.EPSILON, 1 - _losses.EPSILON)
    bce = -(y_true * _tt.log(own) + (1 - y_true) * _tt.log(1 - own))
    right = y_true * chance + (1 - y_true) * (1 - chance)
    return _tt.mean(_focal(bce, right, gamma, alpha if apply_class_balancing else None, y_true), axis)


@_taking_data
def categorical_focal_crossentropy(
    y_true, y_pred, alpha=0.25, gamma=2.0, from_logits=False, label_smoothing=0.0, axis=-1
):
    """categorical_crossentropy in which sure answers count less."""
    y_true = y_true.astype(y_pred.dtype)
    if label_smoothing:
        y_true = y_true * (1.0 - label_smoothing) + label_smoothing / y_pred.shape[-1]
    chance = _tt.nn.functional.softmax(y_pred, axis) if from_logits else y_pred / _tt.sum(y_pred, axis, keepdims=True)
    own = _tt.clip(chance, _losses.EPSILON, 1 - _losses.EPSILON)
    return _tt.sum(alpha * _tt.power(1.0 - own, gamma) * -y_true * _tt.log(own), axis)


@_taking_data
def dice(y_true, y_pred, axis=None):
    """1 less twice what both share, over the sum of both."""
    y_true = y_true.astype(y_pred.dtype)
    shared = 2.0 * _tt.sum(y_true * y_pred, axis)
    return 1 - shared / (_tt.sum(y_true, axis) + _tt.sum(y_pred, axis) + _losses.EPSILON)


@_taking_data
def ctc(y_true, y_pred):
    """How unlikely labels are, between steps of logits. Labels of 0 fill up."""
    from . import ops

    steps = _tt.full((y_pred.shape[0],), y_pred.shape[1], dtype="int64")
    return ops.ctc_loss(y_true, y_pred, _tt.sum(y_true != 0, axis=-1), steps, mask_index=0)


@_taking_data
def categorical_generalized_cross_entropy(y_true, y_pred, q):
    """(1 - p^q) / q of the chance p that the true class was given: less of wrong labels than cross entropy."""
    if not 0 < q < 1:
        raise ValueError("q must be in the interval (0, 1)")
    places = y_true.astype("int64")
    places = places if places.ndim == y_pred.ndim else places[..., None]
    return (1 - _tt.take_along_axis(y_pred, places, -1)[..., 0] ** q) / q


@_taking_data
def tversky(y_true, y_pred, alpha=0.5, beta=0.5, axis=None):
    """dice with weights of what is missing and of what is too much."""
    y_true = y_true.astype(y_pred.dtype)
    shared = _tt.sum(y_true * y_pred, axis)
    extra, missing = _tt.sum((1 - y_true) * y_pred, axis), _tt.sum(y_true * (1 - y_pred), axis)
    return 1 - shared / (shared + alpha * extra + beta * missing + _losses.EPSILON)


class Loss(_losses.Loss, _Configured):
    """A loss that reduces its values: call(y_true, y_pred) gives one for each sample."""

    def __init__(self, name=None, reduction="sum_over_batch_size", dtype=None):
        super().__init__(name or _state.snake_case(type(self).__name__), reduction)
        self.dtype = dtype or "float32"

    def __call__(self, y_true, y_pred, sample_weight=None):
        from ._graph import get_mask

        mask = get_mask(y_pred)
        values = self.call(_tensor(y_true), _tensor(y_pred))
        if mask is None:
            return _losses.reduced(values, None if sample_weight is None else _tensor(sample_weight), self.reduction)
        weight = mask.astype(values.dtype)
        if sample_weight is not None:
            given, weight = _losses.same_rank(_tensor(sample_weight, values.dtype), weight)
            weight = weight * given
        if self.reduction == "sum_over_batch_size":  # steps that do not count are not divided by
            weight = weight * (mask.size / _tt.maximum(_tt.sum(mask.astype(values.dtype)), 1.0))
        return _losses.reduced(values, weight, self.reduction)


class LossFunctionWrapper(Loss):
    """A loss of a function."""

    def __init__(self, fn, reduction="sum_over_batch_size", name=None, dtype=None, **kwargs):
        super().__init__(name or getattr(fn, "__name__", None) or type(fn).__name__, reduction, dtype)
        self.fn, self._fn_kwargs = fn, kwargs

    def call(self, y_true, y_pred):
        """The function."""
        y_true, y_pred = _losses.same_rank(y_true, y_pred) if _shared_rank(self.fn) else (y_true, y_pred)
        return self.fn(y_true, y_pred, **self._fn_kwargs)


def _shared_rank(fn):
    return getattr(fn, "__name__", None) not in ("sparse_categorical_crossentropy",)


def _class_of(class_name, function, **defaults):
    """The class of a function, whose arguments its constructor takes."""

    def __init__(self, **given):
        name, reduction = given.pop("name"), given.pop("reduction")
        dtype = given.pop("dtype")
        LossFunctionWrapper.__init__(self, function, reduction, name, dtype, **given)

    import inspect

    P = inspect.Parameter
    names = {**defaults, "reduction": "sum_over_batch_size", "name": function.__name__, "dtype": None}
    signature = inspect.Signature(
        [P("self", P.POSITIONAL_OR_KEYWORD), *(P(n, P.POSITIONAL_OR_KEYWORD, default=v) for n, v in names.items())]
    )

    def init(self, *args, **kwargs):
        bound = signature.bind(self, *args, **kwargs)
        bound.apply_defaults()
        __init__(**bound.arguments)

    init.__signature__ = signature
    words = f"{function.__name__} of each sample, reduced."
    return type(class_name, (LossFunctionWrapper,), {"__init__": init, "__doc__": words, "__module__": __name__})


_CLASSES = {
    "MeanSquaredError": ("mean_squared_error", {}),
    "MeanAbsoluteError": ("mean_absolute_error", {}),
    "MeanAbsolutePercentageError": ("mean_absolute_percentage_error", {}),
    "MeanSquaredLogarithmicError": ("mean_squared_logarithmic_error", {}),
    "Huber": ("huber", {"delta": 1.0}),
    "LogCosh": ("log_cosh", {}),
    "Hinge": ("hinge", {}),
    "SquaredHinge": ("squared_hinge", {}),
    "CategoricalHinge": ("categorical_hinge", {}),
    "KLDivergence": ("kl_divergence", {}),
    "Poisson": ("poisson", {}),
    "BinaryCrossentropy": ("binary_crossentropy", {"from_logits": False, "label_smoothing": 0.0, "axis": -1}),
    "BinaryFocalCrossentropy": (
        "binary_focal_crossentropy",
        {
            "apply_class_balancing": False,
            "alpha": 0.25,
            "gamma": 2.0,
            "from_logits": False,
            "label_smoothing": 0.0,
            "axis": -1,
        },
    ),
    "CategoricalCrossentropy": (
        "categorical_crossentropy",
        {"from_logits": False, "label_smoothing": 0.0, "axis": -1},
    ),
    "CategoricalFocalCrossentropy": (
        "categorical_focal_crossentropy",
        {"alpha": 0.25, "gamma": 2.0, "from_logits": False, "label_smoothing": 0.0, "axis": -1},
    ),
    "SparseCategoricalCrossentropy": (
        "sparse_categorical_crossentropy",
        {"from_logits": False, "ignore_class": None},
    ),
    "Dice": ("dice", {"axis": None}),
    "Tversky": ("tversky", {"alpha": 0.5, "beta": 0.5, "axis": None}),
    "CTC": ("ctc", {}),
    "CategoricalGeneralizedCrossEntropy": ("categorical_generalized_cross_entropy", {"q": 0.5}),
}
for _name, (_function, _defaults) in _CLASSES.items():
    globals()[_name] = _class_of(_name, globals()[_function], **_defaults)


class CosineSimilarity(LossFunctionWrapper):
    """The cosine between vectors, negated."""

    def __init__(self, axis=-1, reduction="sum_over_batch_size", name="cosine_similarity", dtype=None):
        super().__init__(globals()["cosine_similarity"], reduction, name, dtype, axis=axis)


def get(identifier):
    """The loss by its name, configuration, class or function."""
    if isinstance(identifier, dict):
        return deserialize(identifier)
    if isinstance(identifier, str):
        found = globals().get(identifier) if not identifier.startswith("_") else None
        if found is None:
            raise ValueError(f"Could not interpret loss identifier: {identifier}")
        return found() if isinstance(found, type) else found
    return identifier


def wrapped(identifier):
    """A loss that looks at masks; names that depend on shapes stay names."""
    if isinstance(identifier, str) and identifier.lower() in ("crossentropy", "ce"):
        return identifier
    found = get(identifier)
    if isinstance(found, _tt.nn.Module):
        return found
    return LossFunctionWrapper(found) if callable(found) and not isinstance(found, _losses.Loss) else found


__all__ = ["CosineSimilarity", "Loss", "LossFunctionWrapper", *_CLASSES, "deserialize", "get", "serialize"]


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.keras does not cover keras.losses.{name}")
