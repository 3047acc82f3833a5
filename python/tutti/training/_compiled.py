"""The losses and metrics that a model was compiled with, for outputs of any structure."""

from .. import metrics as _metrics
from . import _tree, losses

_BY_NAME = {"accuracy": "accuracy", "acc": "accuracy", "crossentropy": "crossentropy", "ce": "crossentropy"}


def metric(identifier, y_true, y_pred):
    """A metric of a name, a function or a metric."""
    if identifier is None:
        raise ValueError("Expected metric, received `None`")
    if hasattr(identifier, "update_state") and not isinstance(identifier, type):
        return identifier
    if isinstance(identifier, type):
        return identifier()
    if isinstance(identifier, str):
        name = _BY_NAME.get(identifier.lower())
        if name is not None:
            name = f"{losses.by_shapes(y_true, y_pred)}_{name}"
        found = _metrics.get(name or identifier)
        found.name = identifier
        return found
    if isinstance(identifier, losses.Loss):
        return _metrics.MeanMetricWrapper(identifier.call, name=identifier.name)
    if callable(identifier):
        return _metrics.MeanMetricWrapper(identifier, name=getattr(identifier, "__name__", None) or "metric")
    raise ValueError(f"Could not interpret metric identifier: {identifier}")


def _names(y_pred, names):
    """A name for each output: that of a dict's key, one of the model's, or its number."""
    if isinstance(y_pred, dict):
        return sorted(y_pred)
    n = len(_tree.leaves(y_pred))
    return list(names) if names and len(names) == n else [None] * n


def by_output(given, y_pred, names, what, single=True):
    """For each output its part of what was given for all: one for all, a list or a dict by names."""
    n, own = len(_tree.leaves(y_pred)), _names(y_pred, names)
    if n == 1 and _tree.is_nested(given) and not (isinstance(given, dict) and set(given) <= set(own)):
        flat = _tree.leaves(given)
        return [flat if not single else flat[0] if len(flat) == 1 else given]
    if isinstance(given, dict):
        unknown = [key for key in given if key not in own]
        if unknown:
            raise ValueError(
                f"In the dict argument `{what}`, keys {unknown} are not names of outputs. "
                f"The outputs are: {[k for k in own if k is not None] or n}"
            )
        return [given.get(name) for name in own]
    if isinstance(given, (list, tuple)):
        if len(given) != n:
            raise ValueError(
                f"When passing a list as the argument `{what}`, it should have one entry per model output. "
                f"Received {what}={given}, for {n} outputs"
            )
        return list(given)
    return [given] * n


def _targets(y_true, y_pred, names):
    """What is true for each output: by keys, by names or by place."""
    if y_true is None:
        return [None] * len(_tree.leaves(y_pred))
    if isinstance(y_true, dict) and _tree.is_nested(y_pred):
        own = _names(y_pred, names)
        if all(name is None for name in own):
            own = sorted(y_true)
        missing = [name for name in own if name not in y_true]
        if not missing:
            return [y_true[name] for name in own]
        return [y_true.get(name) for name in own]
    found = _tree.leaves(y_true)
    if len(found) != len(_tree.leaves(y_pred)):
        shape = _tree.mapped(lambda _: "*", y_true), _tree.mapped(lambda _: "*", y_pred)
        raise ValueError(f"y_true and y_pred have different structures.\ny_true: {shape[0]}\ny_pred: {shape[1]}\n")
    return found


class Losses:
    """The losses of a model's outputs and their weights; the sum is what is trained."""

    def __init__(self, loss, loss_weights=None, names=None):
        if loss_weights is not None and not isinstance(loss_weights, (list, tuple, dict, float, int)):
            raise ValueError(
                "Expected `loss_weights` argument to be a float (single output case) or a list, tuple, or dict "
                f"(multiple output case). Received instead: loss_weights={loss_weights} of type {type(loss_weights)}"
            )
        self.loss, self.weights, self.names = loss, loss_weights, names
        self.parts = None  # for each output its loss, weight and the metric that tells it
        self.only = None  # the loss, where there is one and no weight

    def build(self, y_true, y_pred):
        outputs = _tree.leaves(y_pred)
        given = by_output(self.loss, y_pred, self.names, "loss")
        weights = by_output(self.weights, y_pred, self.names, "loss_weights")
        found = [losses.get(*three) for three in zip(given, _targets(y_true, y_pred, self.names), outputs, strict=True)]
        own = _names(y_pred, self.names)
        told = [loss is not None and sum(f is not None for f in found) > 1 for loss in found]
        means = [
            _metrics.Mean(name=f"{name or loss.name}_loss") if tell else None
            for loss, name, tell in zip(found, own, told, strict=True)
        ]
        self.parts = list(zip(found, weights, means, strict=True))
        self.only = found[0] if len(found) == 1 and weights[0] is None else None

    @property
    def metrics(self):
        return [mean for _, _, mean in self.parts or [] if mean is not None]

    def __call__(self, y_true, y_pred, sample_weight=None):
        if self.parts is None:
            self.build(y_true, y_pred)
        if self.only is not None and not isinstance(y_pred, _tree.NESTED) and not isinstance(y_true, _tree.NESTED):
            return self.only(y_true, y_pred, sample_weight)  # the usual case, which has to cost nothing
        if len(self.parts) == 1:
            loss, weight, _ = self.parts[0]
            value = loss(_only(y_true), _only(y_pred), _only(sample_weight))
            return value if weight is None else value * weight
        outputs, total = _tree.leaves(y_pred), None
        targets = _targets(y_true, y_pred, self.names)
        samples = _by_samples(sample_weight, y_pred, self.names)
        for (loss, weight, mean), y_t, y_p, own in zip(self.parts, targets, outputs, samples, strict=True):
            if loss is None:
                continue
            value = loss(y_t, y_p, own)
            if mean is not None:
                mean.add(value, len(y_p))
            value = value if weight is None else value * weight
            total = value if total is None else total + value
        return total


def _only(tree):
    return tree if not _tree.is_nested(tree) else _tree.leaves(tree)[0]


def _by_samples(sample_weight, y_pred, names):
    """The weights of samples for each output: one for all, or one for each."""
    if sample_weight is None or not _tree.is_nested(sample_weight):
        return [sample_weight] * len(_tree.leaves(y_pred))
    return _targets(sample_weight, y_pred, names)


class Metrics:
    """The metrics of a model's outputs, with and without weights of samples."""

    def __init__(self, metrics, weighted_metrics=None, names=None):
        for what, given in (("metrics", metrics), ("weighted_metrics", weighted_metrics)):
            if given and not isinstance(given, (list, tuple, dict)):
                raise ValueError(
                    f"Expected `{what}` argument to be a list, tuple, or dict. "
                    f"Received instead: {what}={given} of type {type(given)}"
                )
        self.given, self.names = (metrics, weighted_metrics), names
        self.parts = None  # triples: the number of the output, the metric, whether samples are weighted

    def build(self, y_true, y_pred):
        outputs, targets = _tree.leaves(y_pred), _targets(y_true, y_pred, self.names)
        own = _names(y_pred, self.names)
        self.is_single = not _tree.is_nested(y_pred) and not _tree.is_nested(y_true)
        self.parts, self.logged, seen = [], [], {}
        for is_weighted, given in enumerate(self.given):
            what = "weighted_metrics" if is_weighted else "metrics"
            for k, part in enumerate(by_output(given, y_pred, self.names, what, single=False) if given else []):
                part = [] if part is None else part if isinstance(part, (list, tuple)) else [part]
                for identifier in part:
                    found = metric(identifier, targets[k], outputs[k])
                    name = found.name if len(outputs) == 1 or own[k] is None else f"{own[k]}_{found.name}"
                    if name in seen and is_weighted:
                        name = f"weighted_{name}"
                    seen[name] = seen.get(name, -1) + 1
                    self.logged.append(f"{name}_{seen[name]}" if seen[name] else name)
                    self.parts.append((k, found, bool(is_weighted)))

    @property
    def metrics(self):
        return [found for _, found, _ in self.parts or []]

    def update(self, y_true, y_pred, sample_weight=None):
        if self.parts is None:
            self.build(y_true, y_pred)
        if sample_weight is None and self.is_single:  # the usual case
            for _, found, _ in self.parts:
                found.update_state(y_true, y_pred)
            return
        outputs, targets = _tree.leaves(y_pred), _targets(y_true, y_pred, self.names)
        weights = _by_samples(sample_weight, y_pred, self.names)
        for k, found, is_weighted in self.parts:
            if is_weighted and weights[k] is not None:
                found.update_state(targets[k], outputs[k], sample_weight=weights[k])
            else:
                found.update_state(targets[k], outputs[k])

    def results(self):
        return {name: m.result() for name, (_, m, _) in zip(self.logged, self.parts, strict=True)} if self.parts else {}
