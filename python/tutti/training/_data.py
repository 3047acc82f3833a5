"""Batches of what users have: arrays, lists, data sets, loaders, generators."""

import math
import sys
import warnings
from itertools import islice

import tutti as tt

from . import _tree


def unpacked(batch):
    """A batch as x, y and weights of samples."""
    if isinstance(batch, list):
        batch = tuple(batch)
    if not isinstance(batch, tuple):
        return batch, None, None
    if len(batch) > 3 or not batch:
        raise ValueError(
            f"Data is expected to be in format `x`, `(x,)`, `(x, y)`, or `(x, y, sample_weight)`, found: {batch}"
        )
    return (*batch, None, None)[:3]


def is_array(x):
    return hasattr(x, "shape") and hasattr(x, "dtype") and not isinstance(x, type)


def _is_numbers(x):
    """A list of numbers, or of lists of them: one array."""
    while isinstance(x, (list, tuple)) and x:
        x = x[0]
    return isinstance(x, (int, float, complex))


def _is_arrays(x):
    """A structure of arrays, where lists of numbers count as such."""
    if _is_numbers(x) and isinstance(x, (list, tuple)):
        return True
    if isinstance(x, dict):
        return bool(x) and all(map(_is_arrays, x.values()))
    if isinstance(x, (list, tuple)):
        return bool(x) and all(map(_is_arrays, x))
    return is_array(x) or (hasattr(x, "to_numpy") and hasattr(x, "columns"))


def as_arrays(tree, floats="float32"):
    """A structure of what users have as one of our arrays, 64-bit floats in the type that the model computes with."""
    if isinstance(tree, dict):
        return {key: as_arrays(value, floats) for key, value in tree.items()}
    if isinstance(tree, (list, tuple)) and not _is_numbers(tree):
        return type(tree)([as_arrays(value, floats) for value in tree])
    if tree is None:
        return None
    is_frame = hasattr(tree, "to_numpy") and not isinstance(tree, tt.ndarray)
    array = tt.asarray(tree.to_numpy() if is_frame else tree)
    return array.astype(floats) if array.dtype == tt.float64 and floats != array.dtype else array


def _check_sizes(parts):
    """All arrays have as many samples; how many."""
    sizes = {
        name: [a.shape[0] if a.ndim else None for a in _tree.leaves(part)]
        for name, part in parts.items()
        if part is not None
    }
    if any(None in found for found in sizes.values()):
        raise ValueError(f"Arrays of samples need a first axis, of the samples. Sizes: {sizes}")
    if len({n for found in sizes.values() for n in found}) > 1:
        words = " ".join(f"'{name}' sizes: {', '.join(map(str, found))}" for name, found in sizes.items())
        raise ValueError(
            f"Data cardinality is ambiguous. Make sure all arrays contain the same number of samples. {words}"
        )
    return next(iter(sizes.values()))[0]


def weights_of_classes(y, class_weight):
    """A weight for each sample by its class; 1 for classes that have none."""
    if not hasattr(class_weight, "items"):
        raise ValueError(
            "`class_weight` must be a dict-like mapping of class indices to weights. "
            f"Received: class_weight={class_weight} of type {type(class_weight)}."
        )
    try:
        weights = {int(key): float(value) for key, value in class_weight.items()}
    except (TypeError, ValueError):
        raise ValueError(
            "`class_weight` must be a dictionary with integer keys representing class indices. "
            f"Received: class_weight={class_weight}"
        ) from None
    if y is None or _tree.is_nested(y):
        raise ValueError("`class_weight` is only supported for models with a single output.")
    if y.ndim > 1:
        y = y.argmax(axis=-1) if y.shape[-1] != 1 else y.squeeze(-1)
    most = max(weights, default=0)
    table = tt.array([weights.get(k, 1.0) for k in range(most + 1)] + [1.0], dtype="float32")
    labels = tt.round(y).astype("int64")
    return table[tt.where((labels >= 0) & (labels <= most), labels, most + 1)]


def split(x, y, sample_weight, validation_split):
    """The samples but the last ones, and these."""
    parts = (x, y, sample_weight)
    found = [type(part) for part in parts if part is not None and not _is_arrays(part)]
    if found:
        raise ValueError(
            "Argument `validation_split` is only supported for tensors or NumPy arrays. "
            f"Found incompatible type in the input: {found}"
        )
    parts = tuple(as_arrays(part) for part in parts)
    n = _check_sizes(dict(zip(("x", "y", "sample_weight"), parts, strict=True)))
    at = math.floor(n * (1.0 - validation_split))
    if at in (0, n):
        raise ValueError(
            f"Training data contains {n} samples, which is not sufficient to split it into a validation and training "
            f"set as specified by `validation_split={validation_split}`. Either provide more data, or a different "
            "value for the `validation_split` argument."
        )
    cut = [[_rows(part, slice(*ends)) for part in parts] for ends in ((0, at), (at, n))]
    return tuple(cut[0]), tuple(cut[1])


def _rows(part, rows):
    return None if part is None else _tree.mapped(lambda a: a[rows], part)


class Arrays:
    """Batches of arrays, in the order of a shuffle that is drawn for each epoch."""

    def __init__(self, x, y, sample_weight, batch_size, shuffle, class_weight, floats):
        parts = {"x": x, "y": y, "sample_weight": sample_weight}
        parts = {name: as_arrays(part, floats) for name, part in parts.items()}
        self.n = _check_sizes(parts)
        if class_weight is not None:
            if sample_weight is not None:
                raise ValueError("You cannot `class_weight` and `sample_weight` at the same time.")
            parts["sample_weight"] = weights_of_classes(parts["y"], class_weight)
        self.parts, self.shuffle = tuple(parts.values()), shuffle
        self.is_plain = not any(map(_tree.is_nested, self.parts))
        tt.eval(*(a for part in self.parts if part is not None for a in _tree.leaves(part)))
        self.batch_size = 32 if batch_size is None else int(batch_size)
        if self.batch_size <= 0:
            raise ValueError(f"`batch_size` should be a positive integer. Received: batch_size={batch_size}")
        self.steps = -(-self.n // self.batch_size)

    def __iter__(self):
        starts = range(0, self.n, self.batch_size)
        if self.shuffle == "batch":
            for k in tt.random.permutation(len(starts)).tolist():
                yield self._batch(slice(starts[k], starts[k] + self.batch_size))
            return
        order = None
        if self.shuffle:
            order = tt.random.permutation(self.n)
            tt.eval(order)
        for start in starts:
            rows = slice(start, start + self.batch_size)
            yield self._batch(rows if order is None else order[rows])

    def _batch(self, rows):
        x, y, weight = self.parts
        if self.is_plain:
            return x[rows], None if y is None else y[rows], None if weight is None else weight[rows]
        return tuple(_rows(part, rows) for part in self.parts)


class Batched:
    """Batches that others make: a loader, a sequence of batches, a generator."""

    def __init__(self, source, class_weight, floats):
        self.source, self.class_weight, self.floats = source, class_weight, floats
        self.is_once = iter(source) is source if hasattr(source, "__iter__") else False
        try:
            self.steps = None if self.is_once else len(source)
        except TypeError:
            self.steps = None

    def __iter__(self):
        batches = self.source
        if not hasattr(batches, "__iter__"):
            batches = (self.source[k] for k in range(len(self.source)))
        for batch in batches:
            x, y, weight = (as_arrays(part, self.floats) for part in unpacked(batch))
            if self.class_weight is not None:
                weight = weights_of_classes(y, self.class_weight)
            yield x, y, weight
        if hasattr(self.source, "on_epoch_end"):
            self.source.on_epoch_end()


def _refuse(kind, **given):
    words = {"y": "the targets", "sample_weight": "the sample weights"}
    for name, value in given.items():
        if value is not None:
            raise ValueError(
                f"When providing `x` as a {kind}, `{name}` should not be passed. "
                f"Instead, {words[name]} should be included as part of the {kind}."
            )


def batches(x, y=None, sample_weight=None, batch_size=None, shuffle=False, class_weight=None, floats="float32"):
    """What gives batches, over and over; `steps` says how many, None: unknown."""
    if isinstance(x, (Arrays, Batched)):
        return x
    if _is_arrays(x):
        return Arrays(x, y, sample_weight, batch_size, shuffle, class_weight, floats)
    kind = type(x).__name__
    _refuse(kind, y=y, sample_weight=sample_weight)
    if _is_of_samples(x):
        is_iterable = isinstance(x, tt.data.IterableDataset)
        x = tt.data.DataLoader(x, batch_size=batch_size or 32, shuffle=bool(shuffle) and not is_iterable)
    if hasattr(x, "__iter__") or (hasattr(x, "__getitem__") and hasattr(x, "__len__")):
        return Batched(x, class_weight, floats)
    raise ValueError(f"Unrecognized data type: x={x} (of type {type(x)})")


def _is_of_samples(x):
    """A data set of single samples, of the module that has them, if anybody has loaded it."""
    data = sys.modules.get("tutti.data")
    return data is not None and isinstance(x, data.Dataset)


class Epochs:
    """Goes through batches an epoch at a time, at most so many steps: then the next epoch goes on where this one ended,
    as every epoch does where batches are made only once."""

    def __init__(self, source, steps=None):
        self.source, self.limit = source, steps
        self.steps = steps or source.steps
        self._left, self._seen = None, 0

    def __iter__(self):
        if self.limit is None and not getattr(self.source, "is_once", False):
            return iter(self.source)
        return self._some()

    def _some(self):
        if self._left is None:
            self._left, self._seen = iter(self.source), 0
        count = 0
        for batch in islice(self._left, self.limit):
            count += 1
            yield batch
        self._seen += count
        if count < (self.limit or 1):
            warnings.warn(
                "Your input ran out of data; interrupting training. Make sure that your dataset or generator can "
                "generate at least `steps_per_epoch * epochs` batches. You may need to use the `.repeat()` function "
                "when building your dataset.",
                stacklevel=4,
            )
            self._left = None
        elif self._seen == self.source.steps:
            self._left = None
