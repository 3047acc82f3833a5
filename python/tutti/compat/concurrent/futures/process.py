"""`ProcessPoolExecutor` over tutti's workers."""

import itertools
import os
from concurrent.futures.process import BrokenProcessPool

from ....parallel import Executor, WorkerDied, _code

__all__ = ["BrokenProcessPool", "ProcessPoolExecutor"]

_numbers = itertools.count()


class BrokenByDeath(WorkerDied, BrokenProcessPool):
    """A worker ended: as tutti tells it, and under the name that programs catch."""


class ProcessPoolExecutor(Executor):
    """Calls by worker processes.

    Parameters
    ----------
    max_workers : int, optional
        As many as there are processors unless given.
    mp_context : optional
        Has no effect: workers begin anew.
    initializer : callable, optional
        Called once in each worker.
    initargs : tuple
    max_tasks_per_child : int, optional
        Has no effect: workers stay.
    """

    def __init__(self, max_workers=None, mp_context=None, initializer=None, initargs=(), *, max_tasks_per_child=None):
        if max_workers is not None and max_workers <= 0:
            raise ValueError("max_workers must be greater than 0")
        if max_tasks_per_child is not None:
            if not isinstance(max_tasks_per_child, int):
                raise TypeError("max_tasks_per_child must be an integer")
            if max_tasks_per_child <= 0:
                raise ValueError("max_tasks_per_child must be >= 1")
        self._scope = None
        if initializer is not None:
            if not callable(initializer):
                raise TypeError("initializer must be a callable")
            self._scope = f"executor {os.getpid()} {next(_numbers)}"
            initializer = _code.Scoped(initializer, self._scope)
        super().__init__(max_workers, initializer=initializer, initargs=initargs)
        self._max_workers = self._workers  # a name that libraries read

    def submit(self, fn, /, *args, **kwargs):
        """As `tutti.parallel.Executor.submit`; globals that the initialiser binds are there."""
        return super().submit(fn if self._scope is None else _code.Scoped(fn, self._scope), *args, **kwargs)

    def _broken(self, error):
        if isinstance(error, WorkerDied):
            return BrokenByDeath(error.args[0], error._code, error.item)
        broken = BrokenProcessPool(f"{type(error).__name__}: {error}")
        broken.__cause__ = error
        return broken

    def map(self, fn, *iterables, timeout=None, chunksize=1):
        """As `tutti.parallel.Executor.map`."""
        if chunksize < 1:
            raise ValueError("chunksize must be >= 1.")
        return super().map(fn, *iterables, timeout=timeout, chunksize=chunksize)
