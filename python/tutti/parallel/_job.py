"""A call over many items: which are done here, what goes into messages, and results in their order or as they come."""

import collections
import sys
import time

from .. import _core
from . import _chunks, _lean, _message, _packets

_HERE = 0.001  # seconds of work that are never distributed
_WORTH = 5e-6  # what an item must take, so that to hand it over costs less
_COLD = 0.05  # seconds of work for which workers are started
_AHEAD = 8  # messages for each worker that may have come before their turn


class Job:
    """One call: `blocks` gives what came, (number of the first item, results), in order or as it comes.

    Parameters
    ----------
    items : _items.Items
        What it is over.
    engine : callable
        Gives the engine, when the work pays for one.
    ordered : bool
        Blocks one behind the other.
    here : bool
        The first items are done by the caller.
    chunk : int or None
        Items of a message; None: by what they take.
    timeout : float or None
        Seconds for each item.
    retries : int
        How often an item that failed is done again.
    keep : bool
        Failures are results (exceptions); else the first one is raised.
    seed : int or None
        Seeds the random numbers of each item.
    ahead : bool
        Items are read however far results are behind.
    most : int or None
        Items that are read at most before their results were given.
    choice : _choice.Choice or None
        Says of the first items whether threads do for the rest.
    """

    def __init__(
        self,
        items,
        engine,
        *,
        ordered=True,
        here=True,
        chunk=None,
        timeout=None,
        retries=0,
        keep=False,
        seed=None,
        ahead=True,
        most=None,
        choice=None,
    ):
        self.items, self.make_engine = items, engine
        self.engine = None
        self.ordered, self.here, self.chunk = ordered, here, chunk
        self.timeout, self.retries, self.keep, self.seed, self.ahead = timeout, retries, keep, seed, ahead
        self.most = most
        self.choice = choice
        self.by_threads = False
        self.over = False  # nobody wants results any more
        self.begun = 0  # items that were read
        self.given = 0  # and given
        self.seconds = 0.0  # what an item takes
        self.out = 0  # packets under way
        self.arrived = collections.deque()
        self.waiting = {}  # blocks before their turn
        self.turn = 0
        self.functions = {}
        self.finder = None

    # ---- what the engine asks and tells, under its lock

    def first(self, packet):
        """The number of the item in row 0 of a packet."""
        return packet.details[0]

    def begins(self, packet):
        """It is handed to a worker."""
        return True

    def splits(self, parts):
        """A packet has become several, or none."""
        self.out += parts - 1

    def tries(self, packet, row):
        """Is an item to be done again?"""
        packet.tries[row] = packet.tries.get(row, 0) + 1
        return packet.tries[row] <= self.retries

    def came(self, packet, details, text, buffers):
        """Results of a packet."""
        self.arrived.append((packet, details, text, buffers))

    def lost(self, packet, row, error):
        """A packet's rows have no results, and this is why."""
        self.arrived.append((packet, None, error, None))

    # ---- the caller's thread

    def blocks(self):
        """Do it."""
        try:
            for block in self._do_here():
                self.given += len(block[1])
                yield block
            if self.choice is not None:
                self.choice.tell(self._at_end(), self.by_threads)
            if self.by_threads:
                yield from self._by_threads()
            elif not self._at_end():
                for block in self._distribute():
                    self.given += len(block[1])
                    if self.ahead:
                        yield block
                    else:
                        yield from self._while_listening(block)
            if self.items.error is not None:
                raise self.items.error
        except BaseException as e:
            if self.engine is not None and not isinstance(e, (Exception, GeneratorExit)):
                self.engine.stop(self)  # Ctrl-C
            raise
        finally:
            self._leave()

    def _while_listening(self, block):
        """Give a block; while its user is busy, somebody else sees to the workers."""
        engine = self.engine
        engine.futures.add(self)
        engine.background.begin()
        try:
            yield block
        finally:
            engine.futures.discard(self)

    def _by_threads(self):
        from . import _threads

        rest = _threads.Job(
            self.items,
            self.choice.size,
            retries=self.retries,
            keep=self.keep,
            ordered=self.ordered,
            most=self.most,
        )
        rest.begun = rest.given = self.begun
        rest.seconds = self.seconds
        return rest.blocks()

    def _at_end(self):
        return self.items.left == 0 and not self.items.held

    def _join(self, rest):
        engine = self.make_engine(rest)
        while engine is not None and not engine.join(self.timeout is not None):
            engine = self.make_engine(rest)  # it was shut down since: another thread wants another number of workers
        self.engine = engine

    def _leave(self):
        if self.engine is None:
            return
        self.engine.withdraw(self)
        self.engine.leave(self.timeout is not None)

    def _do_here(self):
        """The first items; it ends when the rest is worth a worker, or nothing is left."""
        if not self.here:
            return
        spent, n, clock = 0.0, 1, time.perf_counter
        while True:
            taken = self.items.take(min(n, self.most or n))
            if taken is None:
                return
            f, columns, rows = taken
            first, self.begun = self.begun, self.begun + rows
            begun = clock()
            if self.choice is not None and self.choice.watches(columns, spent):
                results = self.choice.call(self._call_here, f, columns, rows, first)
            else:
                results = self._call_here(f, columns, rows, first)
            took = clock() - begun
            spent += took
            self.turn = self.begun
            yield first, results
            if self._at_end():
                return
            self.seconds = spent / self.begun
            if took < _HERE / 2:
                n = min(2 * n, _chunks.MOST)
            elif n > 1 and took > 2 * _HERE:
                n = max(1, n // 2)
            if spent < _HERE or self.choice is not None and self.choice.watches(columns, spent):
                continue
            if self.choice is not None and self.choice.takes_threads():
                self.by_threads = True
                return
            if self._pays(spent):
                return

    def _call_here(self, f, columns, rows, first):
        if self.seed is not None:
            return self._call_seeded(f, columns, rows, first)
        results = []
        if not self.keep and not self.retries:
            _core._line_each(None, f, columns, results, rows, 0)
            return results
        while len(results) < rows:
            try:
                _core._line_each(None, f, columns, results, rows, 0)
            except Exception as e:
                results.append(self._again_here(f, columns, len(results), e))
        return results

    def _again_here(self, f, columns, row, error):
        """What an item that failed gives in the end."""
        for _ in range(self.retries):
            try:
                return f(*(c[row] for c in columns))
            except Exception as e:
                error = e
        if not self.keep:
            raise error
        return error

    def _call_seeded(self, f, columns, rows, first):
        results = []
        with _chunks.Streams(self.seed) as streams:
            for k in range(rows):
                row = [c[k] for c in columns]
                for attempt in range(self.retries + 1):
                    streams.begin(first + k)
                    try:
                        results.append(f(*row))
                        break
                    except Exception as e:
                        if attempt < self.retries:
                            continue
                        if not self.keep:
                            raise
                        results.append(e)
        return results

    def _pays(self, spent):
        if self.seconds < _WORTH:
            return False
        left = self.items.left
        rest = spent if left is None else left * self.seconds
        if self.engine is None:
            self._join(rest)
            if self.engine is None:
                return False
        if self.engine.ready():
            return True
        if rest > _COLD or self.engine.workers:
            self.engine.start()
            self.engine.poll()
        return self.engine.ready()

    def _distribute(self):
        if self.engine is None:
            self._join(None)
        engine = self.engine
        while True:
            self._feed()
            while self.arrived:
                yield from self._read(*self.arrived.popleft())
                self._feed()
            if not self.out:
                return
            engine.wait(lambda: self.arrived)

    def _feed(self):
        """Keep the workers busy."""
        limit = 2 * self.engine.size + 1
        while self.out < limit and (self.ahead or self.out + len(self.waiting) < _AHEAD * self.engine.size):
            n = self.chunk or self._size()
            if self.most is not None:
                n = min(n, self.most - (self.begun - self.given))
                if n <= 0:
                    return
            taken = self.items.take(n)
            if taken is None:
                return
            f, columns, n = taken
            packed = _message.pack_rows(columns, None, self._find)
            seed = None if self.seed is None else (self.seed, "numpy" in sys.modules)
            details = (self.begun, seed, self.keep or self.retries > 0)
            packet = _packets.Packet(self, self._function(f), packed, 0, n, details, n * self.seconds or 1.0)
            self.begun += n
            self._put(packet)

    def _size(self):
        if not self.seconds:
            return 1
        return _chunks.size(self.seconds, self.items.left, self.engine.size, soon=not self.ahead)

    def _find(self, view):
        """The place of an array in shared memory, as _message.pack asks."""
        if self.finder is None:
            self.finder = self.engine.places.finder()
        return self.finder(view)

    def _put(self, packet, front=False):
        with self.engine.mutex:
            self.out += 1
            self.engine.put(packet, front)

    def _function(self, f):
        known = self.functions.get(id(f))
        if known is None:
            lean = _lean.parts(_message.called(f))
            known = self.functions[id(f)] = (f, self.engine.function(f, self._find, lean=lean))
        return known[1]

    def _read(self, packet, details, text, buffers):
        """What a message has, as blocks."""
        with self.engine.mutex:
            self.out -= 1
        first = packet.details[0] + packet.lo
        if details is None:
            results, failed = [_Lost(text)] * (packet.hi - packet.lo), True
            if packet.hi - packet.lo > 1:
                results = [_Lost(text) for _ in results]
        else:
            seconds, n, failed, _ = details
            self._measure(seconds / max(1, n))
            results = _message.unpack(text, buffers)
        if not failed:
            yield from self._block(first, results)
            return
        good = []
        for k, r in enumerate(results):
            if not isinstance(r, (_message.Failure, _Lost)):
                good.append(r)
                continue
            row = packet.lo + k
            if not isinstance(r, _Lost) and self.tries(packet, row):
                if good:
                    yield from self._block(first + k - len(good), good)
                good = []
                self._put(packet.rows(row, row + 1), front=True)
                continue
            if self.keep:
                good.append(r.again())
                continue
            if good:
                yield from self._block(first + k - len(good), good)
            yield from self._fail(first + k, r)
            good = []
        if good:
            yield from self._block(first + len(results) - len(good), good)

    def _fail(self, number, failure):
        """The first failure ends it; in order, what comes before it is given first."""
        if not self.ordered or self.ahead or number == self.turn:
            raise failure.again()
        yield from self._block(number, [_Raises(failure)])

    def _measure(self, seconds):
        self.seconds = seconds if not self.seconds else 0.7 * self.seconds + 0.3 * seconds

    def _block(self, first, results):
        if not self.ordered:
            yield first, results
            return
        self.waiting[first] = results
        while (results := self.waiting.pop(self.turn, None)) is not None:
            if len(results) == 1 and isinstance(results[0], _Raises):
                raise results[0].failure.again()
            first, self.turn = self.turn, self.turn + len(results)
            yield first, results


class _Lost:
    """Items whose worker died, and why."""

    __slots__ = ("error",)

    def __init__(self, error):
        self.error = error

    def again(self):
        return self.error


class _Raises:
    """A failure before its turn."""

    __slots__ = ("failure",)

    def __init__(self, failure):
        self.failure = failure
