"""How threads wait for workers: one listens to all lines for the others, and keeps what comes for who wants it."""

import sys
import threading
import time

from .. import _core
from . import _background, _message, _supervision

_IDLE_LOOK = 0.5  # seconds after which somebody who waits looks whether there are other workers


class Listening:
    """What an engine is for who waits. It has `workers` and `numbers`, the packets under way."""

    def __init__(self, mutex):
        self.mutex = mutex
        self.lock = threading.Condition(mutex)
        self.listening = False
        self.sleepers = 0  # threads that wait for one that listens
        self.limits = 0  # jobs under way with a timeout
        self.background = _background.Background(self)

    def _tell(self):
        """(locked) Something has come: threads that wait look again."""
        if self.sleepers:
            self.lock.notify_all()

    def wait(self, there, seconds=None):
        """Wait until there() is true, called under the lock, at most some time; whether it is."""
        end = None if seconds is None else time.monotonic() + seconds
        left = seconds
        while not self._turn(there, left and max(left, 0.0)):
            if end is not None:
                left = end - time.monotonic()
                if left <= 0:
                    return self._turn(there, 0.0)
        return True

    def poll(self):
        """Take what has come, without waiting."""
        self._turn(lambda: False, 0.0)

    def _turn(self, there, left):
        """Listen once, or wait for the thread that does, `left` seconds at most; whether there() is true then."""
        mine = False
        try:
            with self.mutex:
                if there():
                    return True
                if self.listening:
                    if left != 0.0:
                        self._sleep(_IDLE_LOOK if left is None else left)
                    return there()
                mine = self.listening = True
                lines = [w.line for w in self.workers]
                workers = self.workers[:]
            self._listen(workers, lines, left)
        finally:
            if mine:  # and no call before it is said: an interrupt may come with any
                with self.mutex:
                    self.listening = False
                    self._tell()
        with self.mutex:
            return there()

    def _sleep(self, seconds):
        """(locked) Until something has come, or nobody listens any more."""
        self.sleepers += 1
        try:
            self.lock.wait(seconds)
        finally:
            self.sleepers -= 1

    def _listen(self, workers, lines, seconds):
        if seconds is None or seconds > _IDLE_LOOK:  # there may be more lines by then
            seconds = _IDLE_LOOK
        if self.limits:
            limit = _supervision.look_at_limits(self)
            seconds = seconds if limit is None else min(seconds, limit)
        if not workers:
            time.sleep(0.001)
        soon = len(self.numbers) == 1  # else workers have more to do, and need the core on which somebody would look
        for k in _core._line_wait(lines, seconds, soon):
            self._receive(workers[k])

    @_supervision.whole
    def _receive(self, worker):
        going = True
        while going:
            with self.mutex:
                if worker not in self.workers:
                    return
                try:
                    got = worker.receiver.receive()
                except OSError:
                    got = None
                if got is None:
                    break
                self._take(worker, *got)
                going = bool(self.numbers)  # nothing is under way: nobody has more to say
        if going and worker.closed():
            _supervision.lost(self, worker)
        self._settle()

    def _take(self, worker, kind, number, details, text, buffers):
        """(locked) A message of a worker."""
        packet = None
        if number in self.numbers:  # else it was given up since
            packet = self.numbers.pop(number)[1]
            worker.work.remove(packet)
            worker.rests(packet.job)
            seconds, n, _, begun = details
            _core._parallel_ran(packet.function.name, worker.pid, begun, begun + seconds, n)
        elif kind == _message.READY:
            worker.ready = True
            self.failed_starts = 0
        elif kind == _message.BROKEN:
            _supervision.break_down(self, _message.unpack(text, buffers))
        if text is None:
            worker.kill("sent more than there is memory for")
        if self.queue or self.forgotten or self.dropped:
            self._dispatch()
        if packet is not None and text is None:
            packet.job.lost(packet, packet.lo, buffers)
        elif packet is not None:
            packet.job.came(packet, details, text, buffers)
        self._tell()

    def _settle(self):
        """Results of futures are told to whom they concern, without the lock."""
        if not self.finished:
            return
        while self.finished:
            try:
                self.finished.popleft()()
            except Exception:  # noqa: BLE001 - of a future that somebody else has ended; others wait for theirs
                sys.excepthook(*sys.exc_info())
        with self.mutex:
            self._tell()
        if self.orphan:
            self.close_if_idle()
