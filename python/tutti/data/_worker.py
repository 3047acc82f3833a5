"""A worker process of a loader: takes numbers of batches and their indices, sends the batches."""

import collections
import signal
import warnings

from .. import _core, _device
from . import _fetch, _info, _pack, _random

WorkerInfo = collections.namedtuple("WorkerInfo", "id num_workers seed dataset")


class End:
    """Sent instead of a batch: the worker's iterable set is at its end."""


class Raised:
    """An exception of a worker, as its class and the text that Python would print."""

    def __init__(self, error, where):
        import traceback  # takes longer to import than all of tutti.data

        self.kind = type(error)
        self.text = f"Caught {self.kind.__name__} {where}.\nOriginal {''.join(traceback.format_exception(error))}"

    def again(self):
        """The exception, with that text as its message."""
        kind, text = self.kind, self.text
        try:
            return kind(_Shown(text)) if kind is KeyError else kind(text)
        except Exception:  # noqa: BLE001 - a class that wants other arguments
            return RuntimeError(text)


class _Shown(str):
    """A message that KeyError shows as it is, not quoted."""

    __slots__ = ()

    def __repr__(self):
        return str(self)


class Job(collections.namedtuple("Job", "dataset batched collate_fn drop_last init_fn iterable num_workers")):
    """What a worker has to do, the same for all workers of a loader."""

    __slots__ = ()

    def fetcher(self):
        """What gets this set's batches."""
        return _fetch.make(self.dataset, self.batched, self.collate_fn, self.drop_last)


def run(pipe, others, job, which, seed):
    """The life of a worker. `others`: ends of pipes that belong to the parent; job None: it comes through the pipe."""
    for other in others:
        other.close()
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    _stay_on_cpu()
    try:
        if job is None:
            job = _pack.Receiver(pipe, own=True).receive()[1]
        _work(pipe, job, which, seed)
    except (EOFError, ConnectionError):
        pass  # the parent has what it wants, or is gone


def _stay_on_cpu():
    """One thread for each worker, and no device: those of the parent are not for its children."""
    _core.set_num_threads(1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # that the parent's choice does not hold here
        _device.device("cpu").__enter__()
        _core.asarray([0])  # gives the warnings that wait


def _work(pipe, job, which, seed):
    sender = _pack.Sender(pipe)
    where = f"in DataLoader worker process {which}"
    _info.mine = WorkerInfo(which, job.num_workers, seed + which, job.dataset)
    _random.seed_all(seed + which)
    failure = fetcher = None
    try:
        if job.init_fn is not None:
            job.init_fn(which)
        fetcher = job.fetcher()
    except Exception as e:  # noqa: BLE001 - whatever a user's function raises is the parent's to raise
        failure = Raised(e, where)
    while True:
        number, task = pipe.recv()
        if number is None:  # another epoch
            seed, fetcher = task, job.fetcher()
            continue
        if failure is not None:
            sender.send(number, failure)
            failure = None
            continue
        if not job.iterable:
            _random.seed_all(_random.of_batch(seed, number))
        try:
            batch = fetcher.fetch(task)
        except StopIteration as e:
            batch = End() if job.iterable else Raised(e, where)
        except Exception as e:  # noqa: BLE001 - as above
            batch = Raised(e, where)
        _send(sender, number, batch, where)


def _send(sender, number, batch, where):
    """Send a batch, or why it cannot be sent."""
    try:
        sender.send(number, batch)
    except (EOFError, ConnectionError):
        raise
    except Exception as e:  # noqa: BLE001 - what cannot be pickled is told, too
        sender.send(number, Raised(e, where))
