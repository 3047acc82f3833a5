"""Workers that stay, and who waits for them: packets go to those that have little to do, results to who asked.

Any number of threads may use an engine. One of those that wait listens to all lines for the others (`_listen`); what
comes is kept as bytes until the thread that wants it reads it, so code of the program's runs where it was called.
"""

import atexit
import collections
import os
import threading
import time
import weakref

from .. import _core
from . import _chunks, _listening, _message, _packets, _supervision, _workers

_FEW = 8  # workers that may be there for calls that want other numbers of them


class Engine(_listening.Listening):
    """A number of workers.

    Parameters
    ----------
    size : int
        How many.
    device : str or list of str, optional
        The device of each.
    """

    _shared = {}
    _making = threading.Lock()

    @classmethod
    def get(cls, size, environment=None):
        """The engine of that many workers in that environment, which stays for later calls.

        Those of other sizes stay, too, as long as they are few; else idle ones end, the oldest first.
        """
        with cls._making:
            key = size, tuple(sorted((environment or {}).items()))
            engine = cls._shared.get(key)
            if engine is None or engine.owner != os.getpid() or engine.closed:
                cls._shared.pop(key, None)
                room = max(_FEW, 2 * _workers.cpu_count()) - size
                for other, old in list(cls._shared.items()):
                    if sum(n for n, _ in cls._shared) > room and old.close_if_idle():
                        del cls._shared[other]
                engine = cls._shared[key] = cls(size, environment=environment)
        return engine

    def __init__(self, size, device=None, initializer=None, scope=None, environment=None):
        from . import _shared

        self.size = size
        self.device, self.environment = device, environment or {}
        self.initializer = initializer and bytes(_message.dumps(initializer, None, scope))
        self.owner = os.getpid()
        super().__init__(threading.RLock())
        self.sending = False  # a message is being put together
        self.workers = []
        self.queue = collections.deque()
        self.numbers = {}
        self.made = 0
        self.closed = False
        self.kills = _workers.oom_kills()
        self.users = 0
        self.failed_starts = 0
        self.places = _shared.Places(self)
        self.futures = set()  # calls of executors under way
        self.finished = collections.deque()  # what is to be done for them without the lock
        self.dropped = collections.deque()  # segments that nobody speaks of any more
        self.travelling = {}  # references to the functions that workers may have, by number
        self.forgotten = collections.deque()  # those of functions that nobody calls any more
        self.broken = None
        self.orphan = False  # nobody else can use it
        _all.add(self)

    # ---- workers

    @_supervision.whole
    def start(self):
        """Start the workers that are missing; nobody waits for them here."""
        with self.mutex:
            if self.closed:
                raise RuntimeError("cannot use workers that were shut down")
            if self.owner != os.getpid():
                raise RuntimeError("these workers are the parent's of this forked process")
            new = []
            try:
                while len(self.workers) < self.size:
                    new.append(self._hire(len(self.workers)))
                    self.workers.append(new[-1])
                    _packets.count(started=1)
            finally:  # also of some, where no more can be started
                for worker in new:
                    worker.begin(self.initializer)

    def _hire(self, number):
        return _workers.Worker(self.size, number, self.device, self.environment)

    def function(self, f, find, scope=None, lean=()):
        """A function as it travels; `find`, `scope` and `lean` as for _message.pack."""
        return _packets.Function(
            _message.name_of(f), _message.pack(f, find, scope, lean), self.travelling, self.forgotten
        )

    def ready(self):
        """Has some worker said that it is there?"""
        return any(w.ready for w in self.workers)

    def join(self, with_limit=False):
        """Somebody uses the workers, who stay for that; with_limit: there are items that may take too long.

        False: they were shut down already.
        """
        with self.mutex:
            if self.closed:
                return False
            self.users += 1
            self.limits += with_limit
        return True

    def leave(self, with_limit=False):
        """Who had joined needs them no longer."""
        with self.mutex:
            self.users -= 1
            self.limits -= with_limit

    def close_if_idle(self):
        """End the workers where nobody uses them."""
        with self.mutex:
            if self.users or self.queue or any(w.work for w in self.workers):
                return False
            self.close()
        return True

    def close(self, wait=False):
        """End the workers; what is under way is lost."""
        with self.mutex:
            self.closed = True
            workers, self.workers = self.workers, []
            lost = [*self.queue, *(p for w in workers for p in w.work)]
            self.queue.clear()
            self._tell()
        if self.owner != os.getpid():
            return
        for w in workers:
            if w.work or not w.ready:
                w.kill("was shut down")
            else:
                w.end()
        end = time.monotonic() + 1.0
        for w in workers:
            if w.wait(max(0.0, end - time.monotonic())) is None:
                w.kill("was shut down")
                w.wait()
            w.release()
        for p in lost:
            from ._died import WorkerDied

            p.job.lost(p, p.lo, WorkerDied("the workers were shut down"))
        self._settle()

    def run(
        self,
        calls,
        *,
        left=None,
        ordered=True,
        here=False,
        read_ahead=None,
        chunk=None,
        timeout=None,
        retries=0,
        return_exceptions=False,
        seed=None,
        on_block=None,
    ):
        """Results of calls, for who has an interface of their own.

        Parameters
        ----------
        calls : iterable of (callable, tuple, dict)
            Functions and their arguments; it is read in this thread.
        left : int, optional
            How many calls there are, if that is known.
        ordered : bool, default True
            Results in the order of the calls; else as they come.
        here : bool, default False
            May the first calls be done by this process?
        read_ahead : int, optional
            Calls that are read at most before their results were taken. Without it there is no limit.
        chunk, timeout, retries, return_exceptions, seed
            As for `tutti.parallel.map`.
        on_block : callable, optional
            Called with (number of the first call, results) before these are given.

        Yields
        ------
        object
            What each call gave; with return_exceptions also what it raised. An exception is raised at its place, or as
            soon as it comes if results are not ordered. To close the iterator is to withdraw what has not begun.
        """
        from . import _items, _job

        job = _job.Job(
            _items.CallItems(calls, left),
            lambda rest: self,
            ordered=ordered,
            here=here,
            chunk=chunk,
            timeout=timeout,
            retries=retries,
            keep=return_exceptions,
            seed=seed,
            ahead=read_ahead is None,
            most=read_ahead,
        )
        for block in job.blocks():
            if on_block is not None:
                on_block(*block)
            yield from block[1]

    # ---- packets

    @_supervision.whole
    def put(self, packet, front=False):
        """Hand a packet to a worker as soon as one has room for it."""
        with self.mutex:
            if self.broken:
                raise self.broken
            if len(self.workers) < self.size or self.closed or self.owner != os.getpid():
                self.start()
            self.queue.appendleft(packet) if front else self.queue.append(packet)
            self._dispatch()

    def _dispatch(self):
        """(locked) Send packets to workers that have nothing to do, short ones to wait behind short ones."""
        if self.forgotten or self.dropped:
            self._forget()
        while self.queue:
            packet = self.queue[0]
            worker = self._free(packet)
            if worker is None:
                return
            self.queue.popleft()
            if packet.job.begins(packet):
                self._send(worker, packet)

    def _free(self, packet):
        """A worker that is to have a packet: one with nothing to do, or a short packet behind a short one."""
        found, short = None, _chunks.queues(packet.expected)
        for w in self.workers:
            if w.stopped:
                continue
            if not w.work:  # one that is about to be there finds it in its line
                return w
            if short and not found and w.ready and len(w.work) < 2 and _chunks.queues(w.work[0].expected):
                found = w
        return found

    def _send(self, worker, packet):
        function = packet.function
        self.made += 1
        number = self.made
        self.sending = True
        worker.work.append(packet)
        self.numbers[number] = (worker, packet)
        try:
            if function.number not in worker.functions:
                worker.functions.add(function.number)
                worker.sender.send(_message.FUNCTION, function.number, None, function.packed)
            details = (function.number, packet.lo, packet.hi, *packet.details)
            worker.sender.send(_message.CHUNK, number, details, packet.packed)
        except BrokenPipeError:
            pass  # it is gone: who listens finds out why
        except BaseException:
            del self.numbers[number]
            worker.work.pop()
            raise
        finally:
            self.sending = False
        _core._parallel_count(0, 1, 0, worker.sender.copied, worker.rested(packet.job), 0, 0)
        worker.sender.copied = 0

    @_supervision.whole
    def withdraw(self, job):
        """What a job has not begun is not to be done."""
        with self.mutex:
            job.over = True
            self.queue = collections.deque(p for p in self.queue if p.job is not job)
            self._tell()

    def stop(self, job):
        """End the workers that are at work on a job: nobody waits for it any more."""
        with self.mutex:
            job.over = True
            for w in self.workers:
                if any(p.job is job for p in w.work):
                    w.kill("was stopped")

    def _forget(self):
        """(locked) Workers give up functions that nobody calls any more, and memory."""
        while self.dropped:
            segment = self.dropped.popleft()
            for w in self.workers:
                w.sender.forget(segment)
        while self.forgotten:
            number = self.forgotten.popleft().number
            self.travelling.pop(number, None)
            for w in self.workers:
                if number in w.functions:
                    w.functions.discard(number)
                    try:
                        w.sender.send(_message.FORGET, number, None, None)
                    except OSError:
                        pass

    def drop(self, segment):
        """Nobody speaks of shared memory any more: workers give it back, now if nobody is sending just then.

        It may be called by the garbage collector, anywhere.
        """
        self.dropped.append(segment)
        if not self.mutex.acquire(blocking=False):
            return
        if self.sending or self.owner != os.getpid():
            self.mutex.release()
            return
        try:
            self.sending = True
            self._forget()
            for w in self.workers:
                if w.sender.gone:
                    w.sender.send(_message.FORGET, 0, None, None)
        except OSError:
            pass  # a worker is gone, and with it what it had
        finally:
            self.sending = False
            self.mutex.release()


_all = weakref.WeakSet()


@atexit.register
def _end():
    """The interpreter ends: so do the workers."""
    for engine in list(_all):
        engine.close()


def _forked():
    """A child that was forked has no workers: the parent's are not its own, and their lines are closed here."""
    Engine._shared.clear()
    Engine._making = threading.Lock()
    for engine in list(_all):
        engine.mutex = threading.RLock()
        engine.lock = threading.Condition(engine.mutex)
        engine.closed = True
        for w in engine.workers:
            _core._line_release(w.line)
        engine.workers = []
    _all.clear()


os.register_at_fork(after_in_child=_forked)
