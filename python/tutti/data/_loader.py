"""The loader: batches of a set, made here or by worker processes."""

import itertools
import math
import os
import warnings

from .. import _core, cuda
from . import _collate, _datasets, _fetch, _random
from ._datasets import IterableDataset
from ._samplers import BatchSampler, RandomSampler, SequentialSampler

_FIXED = ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")


class DataLoader:
    """Batches of a set, in the order of a sampler, made by worker processes if there are any.

    The same seed gives the same batches, whatever the number of workers: random numbers of this package that samples
    draw are those of the batch. So are those of `random` and of NumPy's old functions in workers, whatever their
    number; without workers these are the process's.

    Parameters
    ----------
    dataset : Dataset
        The set.
    batch_size : int or None
        How many samples a batch has; None: samples come one by one.
    shuffle : bool, optional
        Whether the order is random, another one in each epoch.
    sampler : Sampler or iterable, optional
        The order of indices.
    batch_sampler : Sampler or iterable, optional
        The indices of each batch.
    num_workers : int
        How many processes make batches; 0: this one does, when a batch is asked for.
    collate_fn : callable, optional
        What makes a batch of a list of samples; None: default_collate, or default_convert of a sample alone.
    pin_memory : bool
        Whether the next batch is on its way to the current device while this one is worked on.
    drop_last : bool
        Whether a last batch that would be shorter is left out.
    timeout : float
        How many seconds a batch of a worker may take; 0: any time.
    worker_init_fn : callable, optional
        Called in each worker with its number before it begins.
    multiprocessing_context : str or context, optional
        How workers are started: "fork", "spawn" or "forkserver"; None: as multiprocessing does.
    generator : Generator, optional
        Where random numbers of samplers and the seed of workers come from; None: the generator of the process.
    prefetch_factor : int, optional
        How many batches each worker makes ahead; None: 2.
    persistent_workers : bool
        Whether workers wait for the next epoch when one is over.
    pin_memory_device : str
        Has no effect.
    in_order : bool
        Whether batches come in the order of the sampler; else as soon as they are made.
    device : Device or str, optional
        Where arrays of batches lie; the copy of the next batch is under way while this one is worked on.

    Examples
    --------
    >>> data = tt.data.TensorDataset(tt.arange(5), tt.arange(5) * 10)
    >>> for x, y in tt.data.DataLoader(data, batch_size=3):
    ...     print(x, y)
    [0 1 2] [ 0 10 20]
    [3 4] [30 40]
    """

    _made = False

    def __init__(
        self,
        dataset,
        batch_size=1,
        shuffle=None,
        sampler=None,
        batch_sampler=None,
        num_workers=0,
        collate_fn=None,
        pin_memory=False,
        drop_last=False,
        timeout=0,
        worker_init_fn=None,
        multiprocessing_context=None,
        generator=None,
        *,
        prefetch_factor=None,
        persistent_workers=False,
        pin_memory_device="",
        in_order=True,
        device=None,
    ):
        _check_workers(num_workers, timeout, prefetch_factor, persistent_workers)
        self._iterable = isinstance(dataset, IterableDataset)
        if self._iterable:
            _check_iterable(shuffle, sampler, batch_sampler)
        shuffle = bool(shuffle)
        _check_order(batch_size, shuffle, sampler, batch_sampler, drop_last)
        self.dataset = dataset
        self.num_workers = num_workers
        self.prefetch_factor = 2 if num_workers and prefetch_factor is None else prefetch_factor
        self.pin_memory = pin_memory
        self.pin_memory_device = pin_memory_device
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.multiprocessing_context = multiprocessing_context
        self.in_order = in_order
        self.device = device
        self.generator = generator
        self.sampler, self.batch_sampler = self._samplers(batch_size, shuffle, sampler, batch_sampler, drop_last)
        self.batch_size = None if batch_sampler is not None else batch_size
        self.drop_last = drop_last
        convert = _collate.default_convert if self.batch_sampler is None else _collate.default_collate
        self.collate_fn = convert if collate_fn is None else collate_fn
        self.persistent_workers = persistent_workers
        self._said_length = None
        self._iterator = None
        self._made = True
        self.check_worker_number_rationality()

    def _samplers(self, batch_size, shuffle, sampler, batch_sampler, drop_last):
        if sampler is None and self._iterable:
            sampler = itertools.repeat(None)
        elif sampler is None:
            sampler = RandomSampler(self.dataset, generator=self.generator) if shuffle else None
            sampler = SequentialSampler(self.dataset) if sampler is None else sampler
        if batch_sampler is None and batch_size is not None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        return sampler, batch_sampler

    def __setattr__(self, name, value):
        if self._made and name in _FIXED:
            raise ValueError(f"{name} attribute should not be set after {type(self).__name__} is initialized")
        super().__setattr__(name, value)

    @property
    def multiprocessing_context(self):
        """How workers are started: a context of multiprocessing, or None."""
        return self._context

    @multiprocessing_context.setter
    def multiprocessing_context(self, context):
        self._context = None if context is None else _context_of(context, self.num_workers)

    @property
    def _index_sampler(self):
        return self.sampler if self.batch_sampler is None else self.batch_sampler

    def _fetcher(self):
        return _fetch.make(self.dataset, self.batch_sampler is not None, self.collate_fn, self.drop_last)

    def __iter__(self):
        if self.num_workers == 0:
            return _Batches(self)
        from . import _workers

        if not self.persistent_workers:
            return _workers.Batches(self)
        if self._iterator is None:
            self._iterator = _workers.Batches(self)
        else:
            self._iterator.restart()
        return self._iterator

    def __len__(self):
        if not self._iterable:
            return len(self._index_sampler)
        length = self._said_length = len(self.dataset)
        if self.batch_size is None:
            return length
        return length // self.batch_size if self.drop_last else math.ceil(length / self.batch_size)

    def check_worker_number_rationality(self):
        """Warn where there are to be more workers than processors.

        Returns
        -------
        None

        Examples
        --------
        >>> tt.data.DataLoader(range(3)).check_worker_number_rationality()
        """
        most = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        if self.num_workers > (most or self.num_workers):
            warnings.warn(
                f"This DataLoader will create {self.num_workers} worker processes in total. Our suggested max number "
                f"of worker in current system is {most}, which is smaller than what this DataLoader is going to "
                "create. Please be aware that excessive worker creation might get DataLoader running slow or even "
                "freeze, lower the worker number to avoid potential slowness/freeze if necessary.",
                stacklevel=3,
            )


def _check_workers(num_workers, timeout, prefetch_factor, persistent_workers):
    if num_workers < 0:
        raise ValueError("num_workers option should be non-negative; use num_workers=0 to disable multiprocessing.")
    if timeout < 0:
        raise ValueError("timeout option should be non-negative")
    if num_workers == 0 and prefetch_factor is not None:
        raise ValueError(
            "prefetch_factor option could only be specified in multiprocessing."
            "let num_workers > 0 to enable multiprocessing, otherwise set prefetch_factor to None."
        )
    if prefetch_factor is not None and prefetch_factor < 0:
        raise ValueError("prefetch_factor option should be non-negative")
    if persistent_workers and num_workers == 0:
        raise ValueError("persistent_workers option needs num_workers > 0")


def _check_iterable(shuffle, sampler, batch_sampler):
    for name, value in (("shuffle", shuffle or None), ("sampler", sampler), ("batch_sampler", batch_sampler)):
        if value is not None:
            raise ValueError(
                f"DataLoader with IterableDataset: expected unspecified {name} option, but got {name}={value}"
            )


def _check_order(batch_size, shuffle, sampler, batch_sampler, drop_last):
    if sampler is not None and shuffle:
        raise ValueError("sampler option is mutually exclusive with shuffle")
    if batch_sampler is not None:
        if batch_size != 1 or shuffle or sampler is not None or drop_last:
            raise ValueError(
                "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last"
            )
    elif batch_size is None and drop_last:
        raise ValueError("batch_size=None option disables auto-batching and is mutually exclusive with drop_last")


def _context_of(context, num_workers):
    import multiprocessing

    if num_workers == 0:
        raise ValueError(
            "multiprocessing_context can only be used with multi-process loading (num_workers > 0), "
            f"but got num_workers={num_workers}"
        )
    if isinstance(context, str):
        methods = multiprocessing.get_all_start_methods()
        if context not in methods:
            raise ValueError(
                f"multiprocessing_context option should specify a valid start method in {methods!r}, but got "
                f"multiprocessing_context={context!r}"
            )
        context = multiprocessing.get_context(context)
    if not isinstance(context, multiprocessing.context.BaseContext):
        raise TypeError(
            "multiprocessing_context option should be a valid context object or a string specifying the start method, "
            f"but got multiprocessing_context={context}"
        )
    return context


def _device_of(loader):
    """Where the arrays of its batches are to be, a name; None: where they are made."""
    if loader.device is not None:
        return str(loader.device)
    if not loader.pin_memory:
        return _datasets.device_of(loader.dataset) if loader.num_workers else None
    others = [name for _, name in _core._devices("cuda") + _core._devices("null")]
    if not others:
        warnings.warn(
            "'pin_memory' argument is set as true but no accelerator is found, "
            "then device pinned memory won't be used.",
            stacklevel=5,
        )
        return None
    return f"cuda:{cuda.current_device()}" if others[0].startswith("cuda") else others[0]


class BatchesOfLoader:
    """An iteration over a loader: what those with workers and without have in common."""

    def __init__(self, loader):
        self._loader = loader
        self._device = _device_of(loader)
        self._begin()

    def _begin(self):
        self._indices = iter(self._loader._index_sampler)
        self._seed = _random.seed(self._loader.generator)
        self._given = 0
        self._said = self._loader._said_length
        self._ahead = None  # a batch on its way to the device, and what was raised instead of it

    def __iter__(self):
        return self

    def __len__(self):
        return len(self._loader._index_sampler)

    def __reduce__(self):
        raise NotImplementedError(f"{type(self).__name__} cannot be pickled")

    def __next__(self):
        batch = self._next() if self._device is None else self._next_there()
        self._given += 1
        if self._said is not None and self._given > self._said:
            warnings.warn(
                f"Length of IterableDataset {self._loader.dataset} was reported to be {self._said}"
                f"(when accessing len(dataloader)), but {self._given} samples have been fetched. ",
                stacklevel=2,
            )
        return batch

    def _next_there(self):
        """The next batch, on the device; the copy of the one after it is under way when we return."""
        (batch, error), self._ahead = self._ahead or self._move_one(), None
        if error is not None:
            raise error
        self._ahead = self._move_one()
        return batch

    def _move_one(self):
        """Ask for a batch and for its copy, which is not waited for. What goes wrong is told when its turn has come."""
        try:
            return _collate.map_leaves(self._next(), self._moved, tuple), None
        except Exception as e:  # noqa: BLE001 - StopIteration, too
            return None, e

    def _moved(self, x):
        if not isinstance(x, _core.ndarray):
            return x
        _core.eval(x)  # here: what it is picked from stays here
        moved = x.to(self._device)
        _core.eval(moved)  # else the copy might be recorded only; it is not waited for
        return moved


class _Batches(BatchesOfLoader):
    """Batches made when they are asked for."""

    def __init__(self, loader):
        if loader.timeout != 0:
            raise AssertionError("timeout needs workers: it is how long one may take")
        super().__init__(loader)
        self._fetcher = loader._fetcher()
        self._own_draws = not loader._iterable and not self._fetcher.draws_nothing()
        self._made = 0

    def _next(self):
        indices = next(self._indices)
        if not self._own_draws:
            return self._fetcher.fetch(indices)
        self._made += 1
        with _random.Stream(_random.of_batch(self._seed, self._made - 1)):
            return self._fetcher.fetch(indices)
