"""Getting the samples of a batch and putting them together, in a worker or without one."""

from . import _collate, _datasets


class MapFetcher:
    """Batches of a set that is asked by index."""

    def __init__(self, dataset, batched, collate_fn, drop_last):
        self.dataset, self.collate_fn = dataset, collate_fn
        self.fetch = self._batch if batched else self._sample
        self.whole = batched and collate_fn is _collate.default_collate

    def draws_nothing(self):
        """Are batches made without calling anybody who may draw random numbers?"""
        return self.whole and _datasets.can_gather(self.dataset)

    def _batch(self, indices):
        if self.whole and (made := _datasets.gather(self.dataset, indices)) is not None:
            return made
        return self.collate_fn(_datasets.samples(self.dataset, indices))

    def _sample(self, index):
        return self.collate_fn(self.dataset[index])


class IterableFetcher:
    """Batches of a set that gives samples one after the other. Its end is StopIteration."""

    def __init__(self, dataset, batched, collate_fn, drop_last):
        self.samples, self.collate_fn, self.drop_last = iter(dataset), collate_fn, drop_last
        self.fetch = self._batch if batched else self._sample
        self.ended = False

    def _batch(self, indices):
        batch = []
        while not self.ended and len(batch) < len(indices):
            try:
                batch.append(next(self.samples))
            except StopIteration:
                self.ended = True
        if not batch or (self.drop_last and len(batch) < len(indices)):
            raise StopIteration
        return self.collate_fn(batch)

    def _sample(self, index):
        if self.ended:
            raise StopIteration
        return self.collate_fn(next(self.samples))


def make(dataset, batched, collate_fn, drop_last):
    """The fetcher of a kind of set."""
    kind = IterableFetcher if isinstance(dataset, _datasets.IterableDataset) else MapFetcher
    return kind(dataset, batched, collate_fn, drop_last)
