"""Executor: the contract of concurrent.futures over our workers."""

import atexit
import collections
import concurrent.futures
import math
import os
import time
import weakref
from concurrent.futures._base import CANCELLED, CANCELLED_AND_NOTIFIED, FINISHED, RUNNING

from . import _message, _packets, _workers
from ._engine import Engine

_ENDED = (FINISHED, CANCELLED, CANCELLED_AND_NOTIFIED)


class Future(concurrent.futures.Future):
    """A future whose result the asking thread fetches itself where nobody else listens."""

    def __init__(self, engine):
        super().__init__()
        self._engine = engine

    def _listen(self, timeout):
        if self._state not in _ENDED:
            self._engine.wait(lambda: self._state in _ENDED, timeout)

    def result(self, timeout=None):
        """What the call gave, as `concurrent.futures.Future.result`."""
        self._listen(timeout)
        return super().result(0 if timeout is not None else None)

    def exception(self, timeout=None):
        """What the call raised, as `concurrent.futures.Future.exception`."""
        self._listen(timeout)
        return super().exception(0 if timeout is not None else None)

    def add_done_callback(self, fn):
        """Call fn(future) when it is done."""
        super().add_done_callback(fn)
        if self._state not in _ENDED:
            self._engine.background.hurry()

    def cancel(self):
        """Cancel the call if it has not begun."""
        done = super().cancel()
        if done:
            with self._engine.mutex:
                self._engine._tell()
        return done


class _Call:
    """A future's call, as the engine sees it."""

    timeout = None

    def __init__(self, future, executor):
        self.future, self.executor = future, executor
        self.over = False  # it was stopped

    def first(self, packet):
        return 0

    def begins(self, packet):
        """It is handed to a worker, unless it was cancelled."""
        if self.future._state == RUNNING or self.future.set_running_or_notify_cancel():
            return True
        self.executor._engine.futures.discard(self)
        return False

    def tries(self, packet, row):
        return False

    def splits(self, parts):
        """It has one row."""

    def came(self, packet, details, text, buffers):
        self._done(lambda: self._finish(details, text, buffers))

    def lost(self, packet, row, error):
        self._done(lambda: self.future.set_exception(self.executor._broken(error)))

    def _done(self, act):
        engine = self.executor._engine
        engine.futures.discard(self)
        if self.future._state not in _ENDED:  # it may have been cancelled
            engine.finished.append(act)

    def _finish(self, details, text, buffers):
        try:
            result = _message.unpack(text, buffers)[0]
        except BaseException as e:  # noqa: BLE001 - a class of the program's
            self.future.set_exception(self.executor._broken(e))
            return
        if isinstance(result, _message.Failure):
            error = result.again()
            self.future.set_exception(self.executor._broken(error) if details[2] == _message.UNREAD else error)
        else:
            self.future.set_result(result)


class Executor(concurrent.futures.Executor):
    """Calls of functions by worker processes, as `concurrent.futures.ProcessPoolExecutor`.

    Parameters
    ----------
    workers : int, optional
        How many; by default TUTTI_PARALLEL_WORKERS, else the cores of this process.
    threads : bool, optional
        Threads of this process instead.
    initializer : callable, optional
        Called once in each worker, which then are this executor's alone.
    initargs : tuple
        Its arguments.
    device : str or list of str, optional
        The device of each worker.
    environment : dict, optional
        Variables of the workers' environment that are others than the program's.
    """

    def __init__(self, workers=None, *, threads=None, initializer=None, initargs=(), device=None, environment=None):
        if initializer is not None and not callable(initializer):
            raise TypeError("initializer must be a callable")
        self._workers = _workers.count(workers)
        self._threads = None
        self._closed = False
        self._last = (None, None, None)  # a function that is the same each time, and how it travels
        self._scope = None
        self._engine = None
        if threads:
            self._threads = concurrent.futures.ThreadPoolExecutor(self._workers, "tutti", initializer, initargs)
            return
        self._private = initializer is not None or device is not None
        if self._private:
            self._scope = f"executor-{os.getpid()}-{id(self)}" if initializer else None
            begin = initializer and (initializer, initargs)
            self._engine = Engine(self._workers, device, begin, self._scope, environment)
        else:
            self._engine = Engine.get(self._workers, environment)
        while not self._engine.join():
            self._engine = Engine.get(self._workers, environment)
        self._end = weakref.finalize(self, _finish, self._engine, self._private, os.getpid())
        self._end.atexit = False
        _open.add(self)

    def submit(self, fn, /, *args, **kwargs):
        """Call fn(*args, **kwargs) in a worker; a future of what it gives."""
        if self._threads is not None:
            return self._threads.submit(fn, *args, **kwargs)
        if self._closed:
            raise RuntimeError("cannot schedule new futures after shutdown")
        if not callable(fn):
            raise TypeError(f"'{type(fn).__name__}' object is not callable")
        engine = self._engine
        future = Future(engine)
        call = _Call(future, self)
        columns = tuple([[a] for a in args])
        try:
            find = engine.places.finder()
            function = self._function(fn, find)
            packed = _message.pack_rows(columns, kwargs or None, find, self._scope)
        except Exception as e:  # noqa: BLE001 - what cannot be pickled is the future's to tell
            future.set_running_or_notify_cancel()
            future.set_exception(e)
            return future
        packet = _packets.Packet(call, function, packed, 0, 1, (0, None, False), math.inf)
        with engine.mutex:
            if self._closed:
                raise RuntimeError("cannot schedule new futures after shutdown")
            engine.futures.add(call)
            try:
                engine.put(packet)
            except BaseException:  # nobody will end it
                engine.futures.discard(call)
                raise
        engine.background.begin()
        return future

    def _broken(self, error):
        """What a future has whose worker died, or where something could not be read in the other process."""
        return error

    def _function(self, fn, find):
        last, code, function = self._last
        if last is not fn or code is not getattr(fn, "__code__", None):
            function = self._engine.function(fn, find, self._scope)
            stays = _message.importable(fn) or _message.is_fixed(fn)
            self._last = (fn, getattr(fn, "__code__", None), function) if stays else (None, None, None)
        return function

    def map(self, fn, *iterables, timeout=None, chunksize=None):
        """What fn gives for the items of iterables, in their order; an iterator.

        Parameters
        ----------
        fn : callable
            Takes as many arguments as there are iterables.
        *iterables
            They are read at once.
        timeout : float, optional
            Seconds from now in which results must come.
        chunksize : int, optional
            Items of a message.
        """
        if chunksize is not None and chunksize < 1:
            raise ValueError("chunksize must be >= 1.")
        end = None if timeout is None else time.monotonic() + timeout
        rows = list(zip(*iterables))
        if self._threads is not None:
            return self._threads.map(fn, *zip(*rows), timeout=timeout) if rows else iter(())
        n = chunksize or max(1, min(10_000, len(rows) // (16 * self._workers)))
        each = _message.Each(fn)
        futures = collections.deque(self.submit(each, rows[k : k + n]) for k in range(0, len(rows), n))
        return _results(futures, end)

    def _calls(self):
        return [call for call in self._engine.futures if getattr(call, "executor", None) is self]

    def _terminate(self):
        """As `shutdown`, and the workers that are at work on its calls end at once."""
        with self._engine.mutex:
            self.shutdown(wait=False, cancel_futures=True)
            for call in self._calls():
                self._engine.stop(call)

    def shutdown(self, wait=True, *, cancel_futures=False):
        """No more calls; those under way are waited for, or what has not begun is cancelled."""
        if self._threads is not None:
            self._threads.shutdown(wait, cancel_futures=cancel_futures)
            return
        with self._engine.mutex:
            self._closed = True
            pending = [call.future for call in self._calls()]
        if cancel_futures:
            for future in pending:
                future.cancel()
        if wait:
            for future in pending:
                future._listen(None)
        self._end()


def _results(futures, end):
    try:
        while futures:
            left = None if end is None else max(0.0, end - time.monotonic())
            results = futures.popleft().result(left)
            results.reverse()
            while results:
                yield results.pop()
    finally:
        for future in futures:
            future.cancel()


def _finish(engine, private, owner):
    if owner != os.getpid():
        return
    engine.leave()
    if private and not engine.close_if_idle():
        engine.orphan = True


_open = weakref.WeakSet()


@atexit.register
def _at_exit():
    """The interpreter ends: calls under way are waited for, as concurrent.futures does."""
    for executor in list(_open):
        if executor._engine.owner == os.getpid():
            executor.shutdown()
