"""Maps: a function over items, by workers where that pays."""

import builtins
import operator
import sys
import threading

from . import _chunks, _items, _job, _packets, _workers
from ._engine import Engine


def _left(iterables):
    """How many rows there are, if all say so."""
    try:
        return min(len(i) for i in iterables)
    except TypeError:
        return None


def _over(f, iterables):
    if len(iterables) == 1:
        return _items.Column(f, iter(iterables[0]), _left(iterables))
    return _items.Items(f, zip(*iterables), _left(iterables))


def _whole(value, name, least):
    if value is None:
        return None
    try:
        value = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be a whole number, not {type(value).__name__}") from None
    if value < least:
        raise ValueError(f"{name} must be at least {least}, not {value}")
    return value


def _seconds(timeout):
    if timeout is not None and not timeout > 0:
        raise ValueError(f"timeout must be more than 0 seconds, not {timeout}")
    return timeout


def _with_threads(threads):
    if threads is None:
        return not getattr(sys, "_is_gil_enabled", lambda: True)()
    return bool(threads)


def _blocks(
    f,
    items,
    *,
    workers=None,
    threads=None,
    chunk=None,
    timeout=None,
    retries=0,
    return_exceptions=False,
    progress=None,
    seed=None,
    ordered=True,
    ahead=True,
    here=None,
    read_ahead=None,
):
    """Blocks of results: (number of the first item, results), by the keywords that all maps have."""
    if not callable(f) and f is not None:
        raise TypeError(f"'{type(f).__name__}' object is not callable")
    size = _workers.count(workers)
    chunk, retries = _whole(chunk, "chunk", 1), _whole(retries, "retries", 0)
    timeout, seed = _seconds(timeout), _whole(seed, "seed", 0)
    if chunk is not None:
        chunk = min(chunk, _chunks.MOST)
    if here is None:
        here = chunk is None and timeout is None
    how = dict(
        ordered=ordered,
        here=here,
        chunk=chunk,
        timeout=timeout,
        retries=retries,
        keep=return_exceptions,
        seed=seed,
        ahead=ahead,
        most=_whole(read_ahead, "read_ahead", 1),
    )
    if _with_threads(threads):
        if timeout is not None or seed is not None:
            raise ValueError(
                "timeout and seed are for processes: a thread cannot be ended, and all draw from one stream"
            )
        how = {k: how[k] for k in ("chunk", "retries", "keep", "ordered", "most")}
        from . import _threads

        blocks = _threads.Job(items, size, **how).blocks()
        return _told(blocks, progress, items) if progress else blocks
    inline = size == 1 and timeout is None and workers is None
    if threads is None and here and timeout is None and seed is None:
        from . import _choice

        how["choice"] = _choice.Choice(f, size)
    job = _job.Job(items, (lambda rest: None) if inline else (lambda rest: Engine.get(size)), **how)
    if inline:
        job.here = True
    return _told(job.blocks(), progress, items) if progress else job.blocks()


def _told(blocks, progress, items):
    """The same, with a bar."""
    from . import _progress

    with _progress.bar(progress, items.left) as tell:
        try:
            for block in blocks:
                yield block
                tell(len(block[1]))
        except KeyboardInterrupt as e:
            blocks.throw(e)


def _list(blocks):
    results = []
    try:
        for _, some in blocks:
            results += some
    except KeyboardInterrupt as e:  # it may have come between two blocks: workers stop, too
        blocks.throw(e)
    return results


def _each(blocks):
    for _, some in blocks:
        yield from some


def map(f, *iterables, **how):  # noqa: A001 (a builtin's name)
    """Call a function with the items of iterables, on all cores.

    Parameters
    ----------
    f : callable
        Takes as many arguments as there are iterables. Functions that a worker cannot import are handed over by value.
    *iterables : iterable
        Also generators: they are read a bounded way ahead.
    workers : int, optional
        Processes to use. By default TUTTI_PARALLEL_WORKERS, else as many as this process has cores.
    threads : bool, optional
        Threads instead of processes. By default where the interpreter has no lock, and where items with large arrays
        show that the function gives it up, and it can write nothing that threads would share; `report` says so.
    chunk : int, optional
        Items of a message. By default by what they take: the first ones are called here, and what is done in a
        millisecond is not handed over at all. With a number, all are.
    timeout : float, optional
        Seconds for each item; one that takes longer fails with TimeoutError, and its worker is replaced.
    retries : int, default 0
        How often an item that failed, or whose worker died, is done again.
    return_exceptions : bool, default False
        Exceptions are results. Else the first one is raised, and what has not begun is not done.
    progress : bool, str or callable, optional
        Show a bar.
    seed : int, optional
        Seeds the random numbers of each item, the same whatever the number of workers.

    Returns
    -------
    list
        Results in the order of the items.
    """
    if not iterables:
        raise TypeError("map() must have at least two arguments.")
    return _list(_blocks(f, _over(f, iterables), **how))


def starmap(f, rows, **how):
    """As `map`, where each item is a tuple of all arguments."""
    return _list(_blocks(f, _items.Items(f, builtins.map(tuple, rows), _left([rows])), **how))


def imap(f, *iterables, **how):
    """As `map`, but an iterator: results are given as soon as it is their turn.

    read_ahead is how many items are read at most before their results were given. To close the iterator is to withdraw
    what has not begun.
    """
    if not iterables:
        raise TypeError("imap() must have at least two arguments.")
    return _each(_blocks(f, _over(f, iterables), ahead=False, **how))


def imap_unordered(f, *iterables, **how):
    """As `imap`, but results are given as they come."""
    if not iterables:
        raise TypeError("imap_unordered() must have at least two arguments.")
    items = _over(f, iterables)
    return _each(_blocks(f, items, ordered=False, ahead=False, **how))


_lock = threading.Lock()
_own = []


def submit(f, /, *args, **kwargs):
    """Call f(*args, **kwargs) in a worker; a `concurrent.futures.Future` of what it gives."""
    from ._executor import Executor

    size = _workers.count(None)
    with _lock:
        if not _own or _own[0]._engine.closed or _own[0]._workers != size:
            _own[:] = [Executor(size)]
        executor = _own[0]
    return executor.submit(f, *args, **kwargs)


def shared(shape, dtype="float64"):
    """An array of zeros in memory that all workers may write.

    Parameters
    ----------
    shape : int or tuple of int
    dtype : data type, default float64

    Returns
    -------
    numpy.ndarray
        Workers that get it, as an argument or in a function, see the same memory. It is given back with the last who
        has it.
    """
    from . import _shared

    return _shared.array(shape, dtype)


def compare_exchange(array, index, old, new):
    """Write an element of shared memory if it is what it is thought to be, in one step that nobody interrupts.

    Parameters
    ----------
    array : numpy.ndarray
        As `shared` makes it.
    index : int or tuple of int
        Which element.
    old, new : number
        It becomes `new` if its bits are those of `old`.

    Returns
    -------
    bool
        Whether it was written.
    """
    from . import _shared

    return _shared.compare_exchange(array, index, old, new)


def add(array, index, value):
    """Add to an element of shared memory, in one step that nobody interrupts; what it was before."""
    while True:
        old = array[index]
        if compare_exchange(array, index, old, old + value):
            return old


def counts():
    """What workers have done since the program began, or since `tutti.ledger().reset()`.

    Returns
    -------
    dict
        tasks, messages, "shared bytes" (of arrays that were copied into shared memory and stay there), "copied bytes"
        (of what went along with messages), "idle us" (microseconds that workers waited between two messages of a
        call), and how many workers were started and died.
    """
    return _packets.counts()


def shutdown():
    """End all workers; the next call starts others."""
    with Engine._making:
        for size, engine in list(Engine._shared.items()):
            engine.close()
            del Engine._shared[size]


class Pool:
    """A number of workers with the maps of this module as its methods.

    Parameters
    ----------
    workers : int, optional
        As for `map`.
    """

    def __init__(self, workers=None):
        self._workers = _workers.count(workers)
        self._executor = None

    def __enter__(self):
        return self

    def __exit__(self, *what):
        self.close()

    def close(self):
        """No more calls; what is under way is waited for."""
        if self._executor is not None:
            self._executor.shutdown()

    def map(self, f, *iterables, **how):
        """As `tutti.parallel.map`."""
        return map(f, *iterables, workers=self._workers, **how)

    def starmap(self, f, rows, **how):
        """As `tutti.parallel.starmap`."""
        return starmap(f, rows, workers=self._workers, **how)

    def imap(self, f, *iterables, **how):
        """As `tutti.parallel.imap`."""
        return imap(f, *iterables, workers=self._workers, **how)

    def imap_unordered(self, f, *iterables, **how):
        """As `tutti.parallel.imap_unordered`."""
        return imap_unordered(f, *iterables, workers=self._workers, **how)

    def submit(self, f, /, *args, **kwargs):
        """As `tutti.parallel.submit`."""
        if self._executor is None:
            from ._executor import Executor

            self._executor = Executor(self._workers)
        return self._executor.submit(f, *args, **kwargs)
