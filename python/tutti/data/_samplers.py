"""Samplers: the order in which samples of a set are asked for."""

import itertools
import math
import types

from .. import _core
from . import _random


def _check_count(value, name, wrong=()):
    if not isinstance(value, int) or isinstance(value, wrong) or value <= 0:
        raise ValueError(f"{name} should be a positive integer value, but got {name}={value}")


class Sampler:
    """Indices of samples, or lists of them, one after the other: a subclass has `__iter__`, and may have `__len__`.

    Examples
    --------
    >>> class Backwards(tt.data.Sampler):
    ...     def __iter__(self):
    ...         return iter([2, 1, 0])
    >>> [x.tolist() for x in tt.data.DataLoader(range(3), sampler=Backwards())]
    [[2], [1], [0]]
    """

    __class_getitem__ = classmethod(types.GenericAlias)

    def __iter__(self):
        raise NotImplementedError


class SequentialSampler(Sampler):
    """All indices, in order.

    Parameters
    ----------
    data_source : Dataset
        The set; it has a length.

    Examples
    --------
    >>> list(tt.data.SequentialSampler("abc"))
    [0, 1, 2]
    """

    def __init__(self, data_source):
        self.data_source = data_source

    def __iter__(self):
        return iter(range(len(self.data_source)))

    def __len__(self):
        return len(self.data_source)


class RandomSampler(Sampler):
    """Indices at random.

    Parameters
    ----------
    data_source : Dataset
        The set; it has a length.
    replacement : bool
        Whether an index may come again.
    num_samples : int, optional
        How many indices; None: as many as the set has samples.
    generator : Generator, optional
        Where random numbers come from; None: the generator of the process gives a seed for each iteration.

    Examples
    --------
    >>> sorted(tt.data.RandomSampler(range(4)))
    [0, 1, 2, 3]
    """

    def __init__(self, data_source, replacement=False, num_samples=None, generator=None):
        self.data_source = data_source
        self.replacement = replacement
        self._num_samples = num_samples
        self.generator = generator
        if not isinstance(replacement, bool):
            raise TypeError(f"replacement should be a boolean value, but got replacement={replacement}")
        _check_count(self.num_samples, "num_samples")

    @property
    def num_samples(self):
        """How many indices an iteration gives."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self):
        return itertools.chain.from_iterable(self._drawn())

    def _drawn(self):
        n, left = len(self.data_source), self.num_samples
        generator = self.generator or _random.ours().default_rng(_random.seed(None))
        while left > 0:
            if self.replacement:
                drawn = _random.integers(generator, n, min(left, 1 << 16))
            else:
                drawn = _random.permutation(generator, n)
            yield drawn.tolist()[:left]
            left -= len(drawn)

    def __len__(self):
        return self.num_samples


class SubsetRandomSampler(Sampler):
    """Given indices in random order.

    Parameters
    ----------
    indices : sequence of int
        The indices.
    generator : Generator, optional
        Where random numbers come from; None: the generator of the process.

    Examples
    --------
    >>> sorted(tt.data.SubsetRandomSampler([5, 7, 9]))
    [5, 7, 9]
    """

    def __init__(self, indices, generator=None):
        self.indices = indices
        self.generator = generator

    def __iter__(self):
        for i in _random.permutation(self.generator, len(self.indices)).tolist():
            yield self.indices[i]

    def __len__(self):
        return len(self.indices)


class WeightedRandomSampler(Sampler):
    """Indices at random, each as often as its weight says.

    Parameters
    ----------
    weights : sequence of float
        A weight for each index; they need not sum up to 1.
    num_samples : int
        How many indices.
    replacement : bool
        Whether an index may come again.
    generator : Generator, optional
        Where random numbers come from; None: the generator of the process.

    Examples
    --------
    >>> list(tt.data.WeightedRandomSampler([0, 1, 0], 2))
    [1, 1]
    """

    def __init__(self, weights, num_samples, replacement=True, generator=None):
        _check_count(num_samples, "num_samples", bool)
        if not isinstance(replacement, bool):
            raise ValueError(f"replacement should be a boolean value, but got replacement={replacement}")
        self.weights = _core.asarray(weights, "float64")
        if self.weights.ndim != 1:
            raise ValueError(f"weights should be a 1d sequence but given weights have shape {self.weights.shape}")
        self.num_samples = num_samples
        self.replacement = replacement
        self.generator = generator

    def _chances(self):
        total = float(self.weights.sum())
        if not bool((self.weights >= 0).all()) or not math.isfinite(total):
            raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
        if total <= 0:
            raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
        if not self.replacement and self.num_samples > len(self.weights):
            raise RuntimeError("cannot sample n_sample > prob_dist.size(-1) samples without replacement")
        if not self.replacement and int((self.weights > 0).sum()) < self.num_samples:
            raise RuntimeError(
                "invalid multinomial distribution (with replacement=False, "
                "not enough non-negative category to sample)"
            )
        return self.weights / total

    def __iter__(self):
        chances = self._chances()
        drawn = _random.choice(self.generator, len(self.weights), self.num_samples, self.replacement, chances)
        return iter(drawn.tolist())

    def __len__(self):
        return self.num_samples


class BatchSampler(Sampler):
    """Lists of the indices that another sampler gives.

    Parameters
    ----------
    sampler : Sampler or iterable
        Where indices come from.
    batch_size : int
        How many a list has.
    drop_last : bool
        Whether a last list that would be shorter is left out.

    Examples
    --------
    >>> list(tt.data.BatchSampler(range(5), 2, drop_last=False))
    [[0, 1], [2, 3], [4]]
    """

    def __init__(self, sampler, batch_size, drop_last):
        _check_count(batch_size, "batch_size", bool)
        if not isinstance(drop_last, bool):
            raise ValueError(f"drop_last should be a boolean value, but got drop_last={drop_last}")
        self.sampler = sampler
        self.batch_size = batch_size
        self.drop_last = drop_last

    def __iter__(self):
        indices = iter(self.sampler)
        least = self.batch_size if self.drop_last else 1
        while len(batch := list(itertools.islice(indices, self.batch_size))) >= least:
            yield batch

    def __len__(self):
        short = 0 if self.drop_last else self.batch_size - 1
        return (len(self.sampler) + short) // self.batch_size


class DistributedSampler(Sampler):
    """The part of all indices that is one process's of several.

    Parameters
    ----------
    dataset : Dataset
        The set; it has a length.
    num_replicas : int
        How many processes there are.
    rank : int
        Which of them this is.
    shuffle : bool
        Whether the order is random.
    seed : int
        The seed of the order, the same in all processes.
    drop_last : bool
        Whether samples that are too few for one each are left out; else some come twice.

    Examples
    --------
    >>> list(tt.data.DistributedSampler(range(5), num_replicas=2, rank=1, shuffle=False))
    [1, 3, 0]
    """

    def __init__(self, dataset, num_replicas=None, rank=None, shuffle=True, seed=0, drop_last=False):
        if num_replicas is None or rank is None:
            raise RuntimeError("Requires distributed package to be available")
        if rank >= num_replicas or rank < 0:
            raise ValueError(f"Invalid rank {rank}, rank should be in the interval [0, {num_replicas - 1}]")
        self.dataset = dataset
        self.num_replicas = num_replicas
        self.rank = rank
        self.epoch = 0
        self.shuffle = shuffle
        self.seed = seed
        self.drop_last = drop_last
        n = len(dataset)
        self.num_samples = n // num_replicas if drop_last else math.ceil(n / num_replicas)
        self.total_size = self.num_samples * num_replicas

    def __iter__(self):
        n = len(self.dataset)
        order = range(n)
        if self.shuffle:
            order = _random.ours().default_rng(self.seed + self.epoch).permutation(n).tolist()
        return iter([order[i % n] for i in range(self.rank, self.total_size, self.num_replicas)])

    def __len__(self):
        return self.num_samples

    def set_epoch(self, epoch):
        """Give the next iteration an order of its own.

        Parameters
        ----------
        epoch : int
            The number of the epoch.

        Returns
        -------
        None

        Examples
        --------
        >>> sampler = tt.data.DistributedSampler(range(8), num_replicas=2, rank=0)
        >>> sampler.set_epoch(1)
        """
        self.epoch = epoch
