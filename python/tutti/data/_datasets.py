"""Data sets: what has samples, by index or one after the other."""

import bisect
import copy
import itertools
import math
import types
import warnings

from .. import _core
from . import _random

_SIZES = "Size mismatch between datasets"


class Dataset:
    """Samples by index: a subclass has `__getitem__`, and `__len__` where samplers are to know how many there are.

    `__getitems__`, if there is one, takes a list of indices and gives a list of samples: those of a batch at once.

    Examples
    --------
    >>> class Squares(tt.data.Dataset):
    ...     def __len__(self):
    ...         return 4
    ...
    ...     def __getitem__(self, index):
    ...         return index**2
    >>> [x.tolist() for x in tt.data.DataLoader(Squares(), batch_size=2)]
    [[0, 1], [4, 9]]
    """

    __class_getitem__ = classmethod(types.GenericAlias)

    def __getitem__(self, index):
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other):
        return ConcatDataset([self, other])


class IterableDataset(Dataset):
    """Samples one after the other: a subclass has `__iter__`.

    Each worker of a loader iterates over a copy of its own: get_worker_info tells which part is its.

    Examples
    --------
    >>> class Count(tt.data.IterableDataset):
    ...     def __iter__(self):
    ...         return iter(range(3))
    >>> [x.tolist() for x in tt.data.DataLoader(Count(), batch_size=2)]
    [[0, 1], [2]]
    """

    def __iter__(self):
        raise NotImplementedError("Subclasses of IterableDataset should implement __iter__.")

    def __add__(self, other):
        return ChainDataset([self, other])


class TensorDataset(Dataset):
    """Samples are the rows of arrays: a tuple with one of each.

    Parameters
    ----------
    *tensors : array_like
        The arrays, equally long.

    Examples
    --------
    >>> data = tt.data.TensorDataset(tt.arange(3), tt.arange(3) * 10)
    >>> len(data), data[1]
    (3, (array(1), array(10)))
    """

    def __init__(self, *tensors):
        tensors = tuple(_core.asarray(t) for t in tensors)
        if any(len(tensors[0]) != len(t) for t in tensors):
            raise AssertionError("Size mismatch between tensors")
        self.tensors = tensors

    def __getitem__(self, index):
        return tuple(t[index] for t in self.tensors)

    def __len__(self):
        return len(self.tensors[0])


class StackDataset(Dataset):
    """Samples of several sets side by side: a tuple, or a dictionary where the sets have names.

    Parameters
    ----------
    *args : Dataset
        The sets, equally long.
    **kwargs : Dataset
        The sets by name.

    Examples
    --------
    >>> tt.data.StackDataset(range(3), range(10, 13))[1]
    (1, 11)
    >>> tt.data.StackDataset(x=range(3), y=range(10, 13))[1]
    {'x': 1, 'y': 11}
    """

    def __init__(self, *args, **kwargs):
        if args and kwargs:
            raise ValueError(
                "Supported either ``tuple``- (via ``args``) or"
                "``dict``- (via ``kwargs``) like input/output, but both types are given."
            )
        self.datasets = args or kwargs
        if not self.datasets:
            raise ValueError("At least one dataset should be passed")
        lengths = [len(d) for d in (args or kwargs.values())]
        if any(n != lengths[0] for n in lengths):
            raise ValueError(_SIZES)
        self._length = lengths[0]

    def __getitem__(self, index):
        if isinstance(self.datasets, dict):
            return {k: d[index] for k, d in self.datasets.items()}
        return tuple(d[index] for d in self.datasets)

    def __getitems__(self, indices):
        """The samples of a batch, of each set at once where it can."""
        named = isinstance(self.datasets, dict)
        columns = [samples(d, indices, nested=True) for d in (self.datasets.values() if named else self.datasets)]
        rows = zip(*columns, strict=True)
        return [dict(zip(self.datasets, row, strict=True)) for row in rows] if named else list(rows)

    def __len__(self):
        return self._length


class ConcatDataset(Dataset):
    """The samples of several sets, one set after the other.

    Parameters
    ----------
    datasets : iterable of Dataset
        The sets.

    Examples
    --------
    >>> data = tt.data.ConcatDataset([range(2), range(10, 13)])
    >>> len(data), data[2], data[-1]
    (5, 10, 12)
    """

    def __init__(self, datasets):
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        if any(isinstance(d, IterableDataset) for d in self.datasets):
            raise AssertionError("ConcatDataset does not support IterableDataset")
        self.cumulative_sizes = self.cumsum(self.datasets)

    @staticmethod
    def cumsum(sequence):
        """Where each of several sets ends.

        Parameters
        ----------
        sequence : iterable of Dataset
            The sets.

        Returns
        -------
        list of int
            How many samples there are up to the end of each.

        Examples
        --------
        >>> tt.data.ConcatDataset.cumsum([range(2), range(3)])
        [2, 5]
        """
        return list(itertools.accumulate(len(d) for d in sequence))

    def __len__(self):
        return self.cumulative_sizes[-1]

    def __getitem__(self, idx):
        if idx < 0:
            if -idx > len(self):
                raise ValueError("absolute value of index should not exceed dataset length")
            idx += len(self)
        which = bisect.bisect_right(self.cumulative_sizes, idx)
        if which == len(self.datasets):
            raise IndexError("list index out of range")
        return self.datasets[which][idx - (self.cumulative_sizes[which - 1] if which else 0)]


class ChainDataset(IterableDataset):
    """The samples of several iterable sets, one set after the other.

    Parameters
    ----------
    datasets : iterable of IterableDataset
        The sets.

    Examples
    --------
    >>> class Count(tt.data.IterableDataset):
    ...     def __iter__(self):
    ...         return iter(range(2))
    >>> list(tt.data.ChainDataset([Count(), Count()]))
    [0, 1, 0, 1]
    """

    def __init__(self, datasets):
        self.datasets = datasets

    def _checked(self):
        for d in self.datasets:
            if not isinstance(d, IterableDataset):
                raise AssertionError("ChainDataset only supports IterableDataset")
            yield d

    def __iter__(self):
        return itertools.chain.from_iterable(self._checked())

    def __len__(self):
        return sum(len(d) for d in self._checked())


class Subset(Dataset):
    """Some samples of a set.

    Parameters
    ----------
    dataset : Dataset
        The whole set.
    indices : sequence of int
        Which of its samples.

    Examples
    --------
    >>> data = tt.data.Subset(range(10, 20), [1, 3])
    >>> len(data), data[1]
    (2, 13)
    """

    def __init__(self, dataset, indices):
        self.dataset = dataset
        self.indices = indices
        kind = type(self)
        if kind.__getitem__ is not Subset.__getitem__ and kind.__getitems__ is Subset.__getitems__:
            raise NotImplementedError(
                f"{kind.__name__} overrides __getitem__ but not __getitems__. "
                "When subclassing Subset and overriding __getitem__, you must also override "
                "__getitems__ to ensure DataLoader works correctly with your custom logic. "
                "A simple implementation:\n\n"
                "def __getitems__(self, indices):\n"
                "    return [self.__getitem__(idx) for idx in indices]"
            )

    def __getitem__(self, idx):
        if isinstance(idx, list):
            return self.dataset[[self.indices[i] for i in idx]]
        return self.dataset[self.indices[idx]]

    def __getitems__(self, indices):
        """The samples of a batch, at once where the whole set can."""
        return samples(self.dataset, [self.indices[i] for i in indices])

    def __len__(self):
        return len(self.indices)


def samples(dataset, indices, nested=False):
    """The samples at these indices, from a set that may give several at once."""
    if not callable(getattr(dataset, "__getitems__", None)):
        return [dataset[i] for i in indices]
    items = dataset.__getitems__(indices)
    if nested and len(items) != len(indices):
        raise ValueError(f"Nested dataset's output size mismatch. Expected {len(indices)}, got {len(items)}")
    return items


def can_gather(dataset):
    """Are its samples rows of arrays?"""
    if type(dataset) is Subset:
        return can_gather(dataset.dataset)
    return type(dataset).__getitem__ is TensorDataset.__getitem__ and not hasattr(dataset, "__getitems__")


def gather(dataset, indices):
    """A batch of a set whose samples are rows of arrays, as default_collate would put it together, or None.

    Only where nobody has said otherwise what a sample is: subclasses go sample by sample.
    """
    if not can_gather(dataset):
        return None
    if type(dataset) is Subset:
        return gather(dataset.dataset, [dataset.indices[i] for i in indices])
    which = _core.asarray(indices)
    return [t[which] for t in dataset.tensors]


def device_of(dataset):
    """Where a set has its arrays, a name; None: on the host, or nobody knows."""
    if not can_gather(dataset):
        return None
    if type(dataset) is Subset:
        return device_of(dataset.dataset)
    return next((str(t.device) for t in dataset.tensors if t.device.type != "cpu"), None)


def on_host(dataset):
    """The set, its arrays on the host: workers have no device."""
    if device_of(dataset) is None:
        return dataset
    if type(dataset) is Subset:
        return Subset(on_host(dataset.dataset), dataset.indices)
    there = copy.copy(dataset)
    there.tensors = tuple(t.to("cpu") for t in dataset.tensors)
    return there


def _parts_of(fractions, n):
    """How many of n samples each fraction is; what is left over goes to the first ones, one each."""
    for i, part in enumerate(fractions):
        if part < 0 or part > 1:
            raise ValueError(f"Fraction at index {i} is not between 0 and 1")
    lengths = [math.floor(n * part) for part in fractions]
    for i in range(n - sum(lengths)):
        lengths[i % len(lengths)] += 1
    for i, length in enumerate(lengths):
        if length == 0:
            warnings.warn(f"Length of split at index {i} is 0. This might result in an empty dataset.", stacklevel=3)
    return lengths


def random_split(dataset, lengths, generator=None):
    """Split a set at random into parts without common samples.

    Parameters
    ----------
    dataset : Dataset
        The set.
    lengths : sequence of int or float
        How many samples each part has, or which fraction of them; fractions sum up to 1.
    generator : Generator, optional
        Where random numbers come from; None: the generator of the process.

    Returns
    -------
    list of Subset
        The parts.

    Examples
    --------
    >>> parts = tt.data.random_split(range(10), [3, 7], generator=tt.random.default_rng(1))
    >>> [len(p) for p in parts]
    [3, 7]
    """
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        lengths = _parts_of(lengths, len(dataset))
    if sum(lengths) != len(dataset):
        raise ValueError("Sum of input lengths does not equal the length of the input dataset!")
    order = _random.permutation(generator, len(dataset)).tolist()
    ends = itertools.accumulate(lengths)
    return [Subset(dataset, order[end - n : end]) for end, n in zip(ends, lengths, strict=True)]
