"""Maps by threads of this process: for interpreters without a lock, and functions that give it up."""

import collections
import concurrent.futures
import time

from . import _chunks


class Job:
    """As `_job.Job`, with threads in the place of workers.

    Parameters
    ----------
    items : _items.Items
        What it is over.
    size : int
        How many threads.
    chunk, retries, keep, ordered
        As there.
    """

    def __init__(self, items, size, *, chunk=None, retries=0, keep=False, ordered=True, most=None):
        self.items, self.size, self.chunk = items, size, chunk
        self.retries, self.keep, self.ordered, self.most = retries, keep, ordered, most
        self.seconds = 0.0
        self.begun = self.given = 0

    def blocks(self):
        """Do it: (number of the first item, results)."""
        pending = collections.OrderedDict()
        with concurrent.futures.ThreadPoolExecutor(self.size, "tutti") as pool:
            try:
                while self._feed(pool, pending):
                    future = self._next(pending)
                    first = pending.pop(future)
                    results, seconds = future.result()
                    self.seconds = seconds / len(results)
                    self.given += len(results)
                    yield first, results
            finally:
                for future in pending:
                    future.cancel()
        if self.items.error is not None:
            raise self.items.error

    def _next(self, pending):
        if self.ordered:
            return next(iter(pending))
        return next(iter(concurrent.futures.wait(pending, return_when="FIRST_COMPLETED").done))

    def _feed(self, pool, pending):
        """Keep the threads busy; false when there is nothing more to wait for."""
        while len(pending) < 2 * self.size + 1:
            n = self.chunk or (_chunks.size(self.seconds, self.items.left, self.size) if self.seconds else 1)
            if self.most is not None:
                n = min(n, self.most - (self.begun - self.given))
            taken = self.items.take(n) if n > 0 else None
            if taken is None:
                break
            f, columns, rows = taken
            pending[pool.submit(self._call, f, columns, rows)] = self.begun
            self.begun += rows
        return bool(pending)

    def _call(self, f, columns, rows):
        begun, results = time.perf_counter(), []
        for k in range(rows):
            results.append(self._one(f, [c[k] for c in columns]))
        return results, time.perf_counter() - begun

    def _one(self, f, row):
        for attempt in range(self.retries + 1):
            try:
                return f(*row)
            except Exception as e:
                if attempt < self.retries:
                    continue
                if self.keep:
                    return e
                raise
