"""From samples to a batch: arrays and numbers become arrays with one more axis, what holds them keeps its shape."""

import copy
import sys
from collections import abc

from .. import _core

_WRONG = "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}"


def _is_numpys(x):
    """An array or a scalar of NumPy's: of one that is not loaded there is none."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(x, (numpy.ndarray, numpy.generic)) and not isinstance(x, (str, bytes))


def _stack(batch):
    """Arrays, or numbers, as the rows of one."""
    try:
        return _core.asarray(batch)
    except ValueError:
        sizes = [list(x.shape) for x in batch]
        for entry, size in enumerate(sizes):
            if size != sizes[0]:
                raise RuntimeError(
                    "stack expects each tensor to be equal size, "
                    f"but got {sizes[0]} at entry 0 and {size} at entry {entry}"
                ) from None
        raise


def _rebuilt(like, made):
    """A mapping or a sequence as `like` is, with other elements: a copy of it where that can be changed."""
    mapping = isinstance(like, abc.Mapping)
    try:
        if isinstance(like, abc.MutableMapping if mapping else abc.MutableSequence):
            clone = copy.copy(like)
            for key, value in made.items() if mapping else enumerate(made):
                clone[key] = value
            return clone
        return type(like)(made)
    except TypeError:
        return made


def _collate_sequences(batch):
    first = batch[0]
    try:
        columns = list(zip(*batch, strict=True))
    except ValueError:
        raise RuntimeError("each element in list of batch should be of equal size") from None
    made = [default_collate(column) for column in columns]
    return made if isinstance(first, tuple) else _rebuilt(first, made)


def default_collate(batch):
    """Put samples together to a batch: numbers and arrays become arrays with one more axis, the first.

    Dictionaries, tuples and lists of such are put together element by element; a tuple becomes a list. Texts stay a
    list.

    Parameters
    ----------
    batch : sequence
        The samples.

    Returns
    -------
    object
        The batch.

    Examples
    --------
    >>> tt.data.default_collate([(1, 0.5), (2, 1.5)])
    [array([1, 2]), array([0.5, 1.5])]
    >>> tt.data.default_collate([{"a": 1, "name": "x"}, {"a": 2, "name": "y"}])
    {'a': array([1, 2]), 'name': ['x', 'y']}
    """
    first = batch[0]
    kind = type(first)
    if isinstance(first, _core.ndarray):
        return _stack(batch)
    if _is_numpys(first):
        if first.dtype.kind in "SUO":
            raise TypeError(_WRONG.format(first.dtype))
        return _stack(batch)
    if isinstance(first, float):
        return _core.asarray(batch, "float64")
    if isinstance(first, int):
        return _core.asarray(batch)
    if isinstance(first, (str, bytes)):
        return batch
    if isinstance(first, abc.Mapping):
        return _rebuilt(first, {key: default_collate([d[key] for d in batch]) for key in first})
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return kind(*(default_collate(column) for column in zip(*batch, strict=False)))
    if isinstance(first, abc.Sequence):
        return _collate_sequences(batch)
    raise TypeError(_WRONG.format(kind))


def map_leaves(data, leaf, tuples=list):
    """What `leaf` makes of each leaf of nested mappings and sequences, in their shape. tuples: what becomes of them."""
    if isinstance(data, abc.Mapping):
        return _rebuilt(data, {key: map_leaves(data[key], leaf, tuples) for key in data})
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*(map_leaves(d, leaf, tuples) for d in data))
    if isinstance(data, abc.Sequence) and not isinstance(data, (str, bytes)):
        made = [map_leaves(d, leaf, tuples) for d in data]
        return tuples(made) if isinstance(data, tuple) else _rebuilt(data, made)
    return leaf(data)


def _converted(x):
    return _core.asarray(x) if _is_numpys(x) and x.dtype.kind not in "SUO" else x


def default_convert(data):
    """Make NumPy's arrays in a sample ours: what a loader does that puts no batches together.

    Parameters
    ----------
    data : object
        The sample.

    Returns
    -------
    object
        The sample, its tuples as lists.

    Examples
    --------
    >>> import numpy as np
    >>> tt.data.default_convert({"x": np.arange(2), "n": 1})
    {'x': array([0, 1]), 'n': 1}
    """
    return map_leaves(data, _converted)
