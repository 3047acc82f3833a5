"""What goes wrong with workers: items that take too long, deaths, initialisers that raise."""

import collections
import functools
import time

from .. import _core
from . import _message, _packets

_READS = 3  # times that workers may die of reading a packet before it is given up


def look_at_limits(engine):
    """End workers whose item takes too long; seconds until the next may have to be."""
    soonest = None
    with engine.mutex:
        for w in engine.workers:
            limit = w.work[0].job.timeout if w.work else None
            if limit is None or w.stopped:
                continue
            item, now = _core._line_marked(w.line), time.monotonic()
            if item != w.seen[0] or not _is_at(engine, w, item):
                w.seen = item, now
            left = w.seen[1] + limit - now
            if left <= 0:
                w.kill("timed out")
                left = 0.01
            soonest = min(left, limit / 8, soonest or left)  # the next item may begin behind our back
    return soonest


def _is_at(engine, worker, item):
    number, row = divmod(item, _message.ROWS)
    return row != _message.READING and engine.numbers.get(number, (None, None))[1] is worker.work[0]


def lost(engine, worker):
    """A worker is gone: another one takes its place, and its packets go to others or are given up."""
    worker.kill(worker.stopped)
    code = worker.wait()
    item = _core._line_marked(worker.line)
    with engine.mutex:
        if worker not in engine.workers:
            return
        at = engine.workers.index(worker)
        began, row = divmod(item, _message.ROWS)
        mine = {n: p for n, (w, p) in engine.numbers.items() if w is worker}
        for n in mine:
            del engine.numbers[n]
        worker.release()
        _packets.count(died=1)
        if not worker.ready:
            engine.failed_starts += 1
        hopeless = engine.failed_starts > engine.size or bool(engine.broken)
        how = worker.death(code, engine.kills)
        if hopeless:
            del engine.workers[at]
        elif not engine.closed and not engine.broken:
            engine.workers[at] = engine._hire(worker.number)
            engine.workers[at].begin(engine.initializer)
        for n, packet in sorted(mine.items(), reverse=True):
            _again(engine, packet, worker, row if n == began else None, how, code)
        if hopeless:
            from ._died import BrokenExecutor

            give_up(engine, engine.broken or BrokenExecutor(f"workers cannot start: the last one {how}"))
        engine._dispatch()
        engine._tell()


def whole(change):
    """A method that changes what an engine knows of its workers: where an interrupt comes between, they begin anew."""

    @functools.wraps(change)
    def method(self, *args):
        try:
            return change(self, *args)
        except Exception:
            raise
        except BaseException:
            begin_anew(self)
            raise

    return method


def begin_anew(engine):
    """An interrupt left what is known of the workers half written: all of them end, and others take their places.

    What others had under way has no results; what waits is done by the new ones.
    """
    with engine.mutex:
        workers, engine.workers = engine.workers, []
        had = [p for w in workers for p in w.work]
        engine.numbers.clear()
        for w in workers:
            w.kill("was stopped")
            w.wait()
            w.release()
        engine.queue = collections.deque(p for p in engine.queue if p not in had)
        for p in had:
            from ._died import WorkerDied

            p.job.lost(p, p.lo, WorkerDied("the workers were stopped by an interrupt"))
        if engine.queue and not engine.closed:
            engine.start()
            engine._dispatch()
        engine._tell()


def give_up(engine, error):
    """(locked) What waits has no results."""
    queue, engine.queue = engine.queue, collections.deque()
    for p in queue:
        p.job.lost(p, p.lo, error)


def break_down(engine, failure):
    """(locked) The initializer has raised."""
    from ._died import BrokenExecutor

    error = BrokenExecutor("the initializer of a worker raised an exception")
    error.__cause__ = failure.again()
    engine.broken = error
    for w in engine.workers:
        engine.queue.extend(w.work)
        w.work.clear()
    engine.numbers.clear()
    give_up(engine, error)


def _again(engine, packet, worker, row, how, code):
    """(locked) Rows that a dead worker had: all but the one at which it was are done again, if somebody wants them."""
    if packet.job.over:
        packet.job.lost(packet, packet.lo, _died_at(packet, worker, how, code, "had", packet.lo, packet.hi))
        return
    if row is None:
        engine.queue.appendleft(packet)
        return
    if row == _message.READING:
        packet.reads += 1
        if packet.reads < _READS and not worker.stopped:
            engine.queue.appendleft(packet)
            return
        lo, hi, what = packet.lo, packet.hi, "read the arguments of"
    else:
        lo, hi, what = row, row + 1, "worked on"
    error = _died_at(packet, worker, how, code, what, lo, hi)
    others = [packet.rows(a, b) for a, b in ((hi, packet.hi), (packet.lo, lo)) if a < b]
    packet.job.splits(1 + len(others))
    engine.queue.extendleft(others)
    part = packet.rows(lo, hi)
    if hi - lo == 1 and packet.job.tries(part, lo):
        engine.queue.appendleft(part)
    else:
        packet.job.lost(part, lo, error)


def _died_at(packet, worker, how, code, what, lo, hi):
    """What rows of a packet have for a result."""
    first = packet.job.first(packet)
    items = f"item {first + lo}" if hi - lo == 1 else f"items {first + lo} to {first + hi - 1}"
    if worker.stopped == "timed out":
        return TimeoutError(f"{items} took longer than {packet.job.timeout} seconds")
    from ._died import WorkerDied

    return WorkerDied(f"worker (pid {worker.pid}) {how} while it {what} {items}", code or None, first + lo)
