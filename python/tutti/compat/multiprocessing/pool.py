"""`Pool` over tutti's workers, `ThreadPool` over threads."""

import itertools
import os
import threading
from multiprocessing.context import TimeoutError

from ... import parallel
from ...parallel import _code

_numbers = itertools.count()
RUN, CLOSE, TERMINATE = "RUN", "CLOSE", "TERMINATE"


class AsyncResult:
    """A result that will come."""

    def __init__(self, pool, callback=None, error_callback=None):
        self._pool, self._callback, self._error_callback = pool, callback, error_callback
        self._event, self._value, self._good = threading.Event(), None, None
        pool._under_way.add(self)

    def _set(self, good, value):
        if self._event.is_set():
            return
        self._good, self._value = good, value
        told = self._callback if good else self._error_callback
        try:
            if told is not None:
                told(value)
        finally:
            self._event.set()
            self._pool._under_way.discard(self)

    def ready(self):
        return self._event.is_set()

    def successful(self):
        if not self.ready():
            raise ValueError(f"{self!r} not ready")
        return self._good

    def wait(self, timeout=None):
        self._event.wait(timeout)

    def get(self, timeout=None):
        """The result, or what was raised instead."""
        if not self._event.wait(timeout):
            raise TimeoutError
        if self._good:
            return self._value
        raise self._value


ApplyResult = MapResult = AsyncResult


class IMapIterator:
    """Results one after the other."""

    def __init__(self, pool, results):
        self._pool, self._results, self._ready = pool, results, None

    def __iter__(self):
        return self

    def __next__(self):
        return self.next()

    def next(self, timeout=None):
        """The next result; TimeoutError if it is not there in time."""
        if self._ready is None and timeout is None:
            return next(self._results)
        if self._ready is None:
            self._ready = AsyncResult(self._pool)
            threading.Thread(target=_into, args=(self._ready, lambda: [next(self._results)]), daemon=True).start()
        try:
            value = self._ready.get(timeout)[0]
        except TimeoutError:
            raise
        except BaseException:
            self._ready = None
            raise
        self._ready = None
        return value


def _into(result, compute):
    """Give to a result what is computed, or raised."""
    try:
        value = compute()
    except BaseException as error:  # noqa: BLE001 - whoever asks for the result gets it
        result._set(False, error)
    else:
        result._set(True, value)


class _Star:
    """A function that takes its arguments as one tuple."""

    def __init__(self, f):
        self.f = f

    def __call__(self, row):
        return self.f(*row)


class Pool:
    """A number of workers.

    Parameters
    ----------
    processes : int, optional
        As many as there are processors unless given.
    initializer : callable, optional
        Called once in each worker. Globals of the program that it binds are there for the functions that follow.
    initargs : tuple
    maxtasksperchild : int, optional
        Has no effect: workers stay.
    """

    _threads = False

    def __init__(self, processes=None, initializer=None, initargs=(), maxtasksperchild=None, context=None):
        if processes is not None and processes < 1:
            raise ValueError("Number of processes must be at least 1")
        if initializer is not None and not callable(initializer):
            raise TypeError("initializer must be a callable")
        if maxtasksperchild is not None and (not isinstance(maxtasksperchild, int) or maxtasksperchild <= 0):
            raise ValueError("maxtasksperchild must be a positive int or None")
        self._processes, self._state = processes or parallel.cpu_count(), RUN
        self._own = initializer is not None
        self._under_way = set()
        self._executor = self._made(initializer, tuple(initargs))

    def _made(self, initializer, initargs):
        self._scope = f"pool {os.getpid()} {next(_numbers)}"
        begin = self._scoped(initializer) if self._own else None
        return parallel.Executor(self._processes, initializer=begin, initargs=initargs)

    def _scoped(self, f):
        """The function, whose globals are the initialiser's, too."""
        return _code.Scoped(f, self._scope) if self._own and not self._threads else f

    def _check(self):
        if self._state != RUN:
            raise ValueError("Pool not running")

    def _size(self, n, chunksize):
        if chunksize is not None and chunksize < 1:
            raise ValueError(f"Chunksize must be 1+, not {chunksize:n}")
        return chunksize

    def apply(self, func, args=(), kwds=None):
        """func(*args, **kwds), by a worker."""
        return self.apply_async(func, args, kwds).get()

    def apply_async(self, func, args=(), kwds=None, callback=None, error_callback=None):
        """The same, later; an `AsyncResult`."""
        self._check()
        result = AsyncResult(self, callback, error_callback)
        future = self._executor.submit(self._scoped(func), *args, **(kwds or {}))
        future.add_done_callback(lambda f: _into(result, f.result))
        return result

    def _results(self, f, iterable, chunksize, ordered=True):
        """An iterator of results; this pool's own workers have been initialised, the others are shared by all."""
        if self._own or self._threads:
            return self._executor.map(self._scoped(f), iterable, **({"chunksize": chunksize} if chunksize else {}))
        spread = parallel.imap if ordered else parallel.imap_unordered
        return spread(f, iterable, workers=self._processes, chunk=chunksize)

    def map(self, func, iterable, chunksize=None):
        """A list of func(item)."""
        self._check()
        return list(self._results(func, iterable, self._size(None, chunksize)))

    def map_async(self, func, iterable, chunksize=None, callback=None, error_callback=None):
        """The same, later; an `AsyncResult`."""
        self._check()
        chunksize = self._size(None, chunksize)
        result, items = AsyncResult(self, callback, error_callback), list(iterable)
        compute = lambda: list(self._results(func, items, chunksize))  # noqa: E731
        threading.Thread(target=_into, args=(result, compute), daemon=True).start()
        return result

    def starmap(self, func, iterable, chunksize=None):
        """A list of func(*item)."""
        return self.map(_Star(func), iterable, chunksize)

    def starmap_async(self, func, iterable, chunksize=None, callback=None, error_callback=None):
        """The same, later; an `AsyncResult`."""
        return self.map_async(_Star(func), iterable, chunksize, callback, error_callback)

    def imap(self, func, iterable, chunksize=1):
        """An iterator of func(item)."""
        self._check()
        return IMapIterator(self, self._results(func, iterable, self._size(None, chunksize)))

    def imap_unordered(self, func, iterable, chunksize=1):
        """The same, as they come."""
        self._check()
        return IMapIterator(self, self._results(func, iterable, self._size(None, chunksize), ordered=False))

    def close(self):
        """No more calls."""
        if self._state == RUN:
            self._state = CLOSE

    def terminate(self):
        """No more calls, and those under way are ended."""
        self._state = TERMINATE
        if self._threads:
            self._executor.shutdown(wait=False, cancel_futures=True)
        else:
            self._executor._terminate()

    def join(self):
        """Wait for all calls."""
        if self._state == RUN:
            raise ValueError("Pool is still running")
        if self._state == CLOSE:
            for result in list(self._under_way):
                result.wait()
        self._executor.shutdown(wait=True)

    def __enter__(self):
        self._check()
        return self

    def __exit__(self, *_):
        self.terminate()

    def __reduce__(self):
        raise NotImplementedError("pool objects cannot be passed between processes or pickled")

    def __repr__(self):
        return f"<{type(self).__module__}.{type(self).__qualname__} state={self._state} pool_size={self._processes}>"


class ThreadPool(Pool):
    """The same with threads of this process."""

    _threads = True

    def __init__(self, processes=None, initializer=None, initargs=()):
        super().__init__(processes, initializer, initargs)

    def _made(self, initializer, initargs):
        from concurrent.futures import ThreadPoolExecutor

        return ThreadPoolExecutor(self._processes, "ThreadPool", initializer, initargs)

    def _results(self, f, iterable, chunksize, ordered=True):
        return self._executor.map(f, iterable)
