"""Batches made by worker processes: who does which, what has come, and what becomes of a worker that dies."""

import collections
import itertools
import multiprocessing
import os
import select
import signal
import time
import warnings
import weakref

from . import _datasets, _loader, _pack, _worker

_LOOK = 0.5  # seconds between two looks whether workers live; a pipe that closes says so at once
_GRACE = 1.0  # seconds to finish a batch that nobody wants any more


class Worker:
    """A worker process, our end of its pipe, and how many batches it has to make."""

    def __init__(self, context, others, job, which, seed):
        forks = context.get_start_method() == "fork"
        self.pipe, theirs = context.Pipe()
        arguments = (theirs, [*others, self.pipe] if forks else [], job if forks else None, which, seed)
        self.process = context.Process(target=_worker.run, args=arguments, daemon=True)
        _start(self.process)
        theirs.close()
        self.which = which
        self.load = 0
        self.active = True
        self.receiver = _pack.Receiver(self.pipe)
        if not forks:
            _pack.Sender(self.pipe).send(None, job)

    def death(self):
        """How the process ended."""
        self.process.join(_GRACE)
        pid, code = self.process.pid, self.process.exitcode
        if code is not None and code < 0:
            return f"DataLoader worker (pid {pid}) is killed by signal: {signal.strsignal(-code)}. "
        return (
            f"DataLoader worker (pid {pid}) exited unexpectedly with exit code {code}. Details are lost due to "
            "multiprocessing. Rerunning with num_workers=0 may give better error trace."
        )


def _start(process):
    """Start a process; Ctrl-C reaches it when it is ready for that.

    Python warns of forks beside threads: those of this package are ready for them.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
            process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class Crew:
    """The workers of a loader."""

    def __init__(self, loader, seed):
        self.owner = os.getpid()
        self.workers = []
        self.poll = select.poll()
        self.by_fd = {}
        self.ready = collections.deque()
        context = loader.multiprocessing_context or multiprocessing.get_context()
        job = _worker.Job(
            _datasets.on_host(loader.dataset),
            loader.batch_sampler is not None,
            loader.collate_fn,
            loader.drop_last,
            loader.worker_init_fn,
            loader._iterable,
            loader.num_workers,
        )
        try:
            for which in range(loader.num_workers):
                self._hire(Worker(context, [w.pipe for w in self.workers], job, which, seed))
        except BaseException:
            self.dismiss()
            raise

    def _hire(self, worker):
        self.workers.append(worker)
        self.by_fd[worker.pipe.fileno()] = worker
        self.poll.register(worker.pipe.fileno(), select.POLLIN)

    def receive(self, wait=None):
        """The next message: (worker, number, batch). None: nothing came for `wait` seconds (None: any time)."""
        end = None if wait is None else time.monotonic() + wait
        while not self.ready:
            left = _LOOK if end is None else min(_LOOK, max(0, end - time.monotonic()))
            self.ready.extend(self.by_fd[fd] for fd, _ in self.poll.poll(left * 1000))
            if not self.ready:
                self._look()
                if end is not None and time.monotonic() >= end:
                    return None
        worker = self.ready.popleft()
        try:
            return worker, *worker.receiver.receive()
        except (EOFError, ConnectionError):
            raise RuntimeError(worker.death()) from None

    def _look(self):
        """A worker may be gone while a process that it started holds its pipe."""
        for worker in self.by_fd.values():
            if not worker.process.is_alive() and not worker.pipe.poll(0):
                raise RuntimeError(worker.death())

    def dismiss(self):
        """End all workers: those that do not see that their pipes are closed are terminated."""
        if self.owner != os.getpid():
            return  # a child that inherited us
        workers, self.workers = self.workers, []
        for worker in workers:
            worker.pipe.close()
        end = time.monotonic() + _GRACE
        for worker in workers:
            worker.process.join(max(0, end - time.monotonic()))
        for end_it in ("terminate", "kill"):
            late = [w.process for w in workers if w.process.is_alive()]
            for process in late:
                getattr(process, end_it)()
            for process in late:
                process.join(_GRACE)
        for worker in workers:
            worker.process.close()


class Batches(_loader.BatchesOfLoader):
    """An iteration over batches of worker processes."""

    def __init__(self, loader):
        if loader.prefetch_factor <= 0:
            raise AssertionError("prefetch_factor must be greater than 0 for MultiProcessingDataLoaderIter")
        super().__init__(loader)
        self._hire()
        self._hand_out()

    def _hire(self):
        """Workers that end when nobody has this iteration any more, or the program ends.

        No __del__: where garbage is a cycle, their pipes might be gone before us.
        """
        self._crew = Crew(self._loader, self._seed)
        weakref.finalize(self, self._crew.dismiss)

    def restart(self):
        """Another epoch of workers that have stayed."""
        self._begin()
        if not self._crew.workers:
            self._hire()
        else:
            self._begin_again()
        self._hand_out()

    def _begin_again(self):
        """Take what workers still send of an epoch that was left, then tell them of another."""
        try:
            while any(w.load for w in self._crew.workers):
                self._crew.receive()[0].load -= 1
            for worker in self._crew.workers:
                try:
                    worker.pipe.send((None, self._seed))
                except ConnectionError:
                    raise RuntimeError(worker.death()) from None
        except BaseException:
            self._crew.dismiss()
            raise

    def _hand_out(self):
        self._sent = self._expected = 0
        self._doer = {}  # of batches that were asked for
        self._came = {}  # batches before their turn
        for worker in self._crew.workers:
            worker.active, worker.load = True, 0
        self._turns = itertools.cycle(self._crew.workers)
        for _ in range(self._loader.prefetch_factor * self._loader.num_workers):
            self._ask()

    def _ask(self):
        """Ask the worker whose turn it is for one more batch; if batches come in any order, one with little to do."""
        try:
            task = next(self._indices)
        except StopIteration:
            return
        workers = self._crew.workers
        share = self._loader.prefetch_factor * len(workers) // max(1, sum(w.active for w in workers))
        for worker in itertools.islice(self._turns, len(workers)):
            if worker.active and (self._loader.in_order or worker.load < share):
                break
        else:
            return
        try:
            worker.pipe.send((self._sent, task))
        except (EOFError, ConnectionError):
            pass  # it is dead: whoever reads from it finds out why
        self._doer[self._sent] = worker
        worker.load += 1
        self._sent += 1

    def _turn_of(self):
        """The batch that is to be given next; None: there is none left."""
        while self._expected < self._sent:
            worker = self._doer.get(self._expected)
            if worker is not None and (self._expected in self._came or worker.active):
                return self._expected
            self._doer.pop(self._expected, None)
            self._expected += 1
        return None

    def _next(self):
        try:
            while (number := self._turn_of()) is not None:
                if number in self._came:
                    batch = self._came.pop(number)
                else:
                    number, batch = self._receive()
                    if number is None:
                        continue
                del self._doer[number]
                break
        except BaseException:
            self._end()
            raise
        if number is None:
            if not self._loader.persistent_workers:
                self._end()
            raise StopIteration
        self._ask()
        if isinstance(batch, _worker.Raised):
            raise batch.again()
        return batch

    def _receive(self):
        """A batch whose turn it is; None: one whose turn it is not, or the end of a worker's set, has come."""
        timeout = self._loader.timeout
        message = self._crew.receive(timeout or None)
        if message is None:
            raise RuntimeError(f"DataLoader timed out after {timeout} seconds")
        worker, number, batch = message
        worker.load -= 1
        if isinstance(batch, _worker.End):
            worker.active = False
            self._ask()
            return None, None
        if self._loader.in_order and number != self._expected:
            self._came[number] = batch
            return None, None
        return number, batch

    def _end(self):
        """No more batches: what was asked for is forgotten."""
        self._crew.dismiss()
        self._sent = self._expected = 0
