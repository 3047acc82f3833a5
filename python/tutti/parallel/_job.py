"""A call over many items: which are done here, what goes into messages, and results in their order or as they come."""

import collections
import sys
import time

from . import _background, _chunks, _engine, _message

_HERE = 0.001  # seconds of work that are never distributed
_WORTH = 5e-6  # what an item must take, so that to hand it over costs less
_COLD = 0.05  # seconds of work for which workers are started
_AHEAD = 8  # messages for each worker that may have come before their turn


class Items:
    """What a call is over, one row of arguments at a time; `take` gives rows that go into one message."""

    def __init__(self, f, rows, left=None):
        self.f = f
        self.rows = rows
        self.left = left
        self.held = collections.deque()
        self.error = None

    def next(self):
        """(function, arguments), or None at the end."""
        if self.held:
            row = self.held.popleft()
        else:
            try:
                row = next(self.rows, None)
            except BaseException as e:
                self.error = e  # what came before it is still given
                row = None
                self.rows = iter(())
        if row is None:
            self.left = 0
            return None
        if self.left is not None:
            self.left = max(0, self.left - 1)
        return self.f, row

    def take(self, n):
        """(function, columns, rows): at most n rows with as many arguments as the first."""
        first = self.next()
        if first is None:
            return None
        f, row = first
        rows, width = [row], len(row)
        while len(rows) < n:
            following = self.next()
            if following is None:
                break
            if following[0] is not f or len(following[1]) != width:
                self._put_back(following)
                break
            rows.append(following[1])
        return f, tuple(map(list, zip(*rows))), len(rows)

    def _put_back(self, row):
        self.held.appendleft(row[1])
        if self.left is not None:
            self.left += 1


class CallItems(Items):
    """Calls (f, args, kwargs) of functions that may differ."""

    def __init__(self, calls, left=None):
        super().__init__(None, iter(calls), left)
        self.made = collections.OrderedDict()

    def next(self):
        """(function of args and kwargs, (args, kwargs)), or None at the end."""
        found = super().next()
        if found is None:
            return None
        f, args, kwargs = found[1]
        made = self.made.get(id(f))
        if made is None:
            made = self.made[id(f)] = _message.Calls(f)
            if len(self.made) > 64:
                self.made.popitem(last=False)
        return made, (args, kwargs)

    def _put_back(self, row):
        super()._put_back((None, (row[0].f, *row[1])))


class Job:
    """One call: `blocks` gives what came, (number of the first item, results), in order or as it comes.

    Parameters
    ----------
    items : Items
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
    ):
        self.items, self.make_engine = items, engine
        self.engine = None
        self.ordered, self.here, self.chunk = ordered, here, chunk
        self.timeout, self.retries, self.keep, self.seed, self.ahead = timeout, retries, keep, seed, ahead
        self.most = most
        self.begun = 0  # items that were read
        self.given = 0  # and given
        self.seconds = 0.0  # what an item takes
        self.out = 0  # packets under way
        self.arrived = collections.deque()
        self.waiting = {}  # blocks before their turn
        self.turn = 0
        self.functions = {}
        self.finder = None
        self.done_here = 0

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
            if not self._at_end():
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
        _background.of(engine).begin()
        try:
            yield block
        finally:
            engine.futures.discard(self)

    def _at_end(self):
        return self.items.left == 0 and not self.items.held

    def _leave(self):
        if self.engine is None:
            return
        self.engine.withdraw(self)
        with self.engine.lock:
            self.engine.users -= 1

    def _one_here(self, streams):
        """The next item's result, in a list; None at the end."""
        row = self.items.next()
        if row is None:
            return None
        number, self.begun = self.begun, self.begun + 1
        for attempt in range(self.retries + 1):
            if streams:
                streams.begin(number)
            try:
                return [row[0](*row[1])]
            except Exception as e:
                if attempt < self.retries:
                    continue
                if not self.keep:
                    raise
                return [e]

    def _do_here(self):
        """The first items; it ends when the rest is worth a worker, or nothing is left."""
        if not self.here:
            return
        streams = _chunks.Streams(self.seed) if self.seed is not None else None
        spent, clock = 0.0, time.perf_counter
        while True:
            first, results, begun = self.begun, [], clock()
            if streams:
                streams.__enter__()
            try:
                while clock() - begun < _HERE:
                    one = self._one_here(streams)
                    if one is None:
                        break
                    results += one
            finally:
                if streams:
                    streams.__exit__()
            spent += clock() - begun
            self.done_here = self.begun
            self.turn = self.begun
            if results:
                yield first, results
            if self._at_end():
                return
            self.seconds = spent / max(1, self.begun)
            if self._pays(spent):
                return

    def _pays(self, spent):
        if self.seconds < _WORTH:
            return False
        left = self.items.left
        rest = spent if left is None else left * self.seconds
        if self.engine is None:
            self.engine = self.make_engine(rest)
            if self.engine is None:
                return False
            with self.engine.lock:
                self.engine.users += 1
        if self.engine.ready():
            return True
        if rest > _COLD or self.engine.workers:
            self.engine.start()
            self.engine.poll()
        return self.engine.ready()

    def _distribute(self):
        if self.engine is None:
            self.engine = self.make_engine(None)
            with self.engine.lock:
                self.engine.users += 1
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
            n = self.chunk or (_chunks.size(self.seconds, self.items.left, self.engine.size) if self.seconds else 1)
            if self.most is not None:
                n = min(n, self.most - (self.begun - self.given))
                if n <= 0:
                    return
            taken = self.items.take(n)
            if taken is None:
                return
            f, columns, n = taken
            packed = _message.pack((columns, None), self._find)
            seed = None if self.seed is None else (self.seed, "numpy" in sys.modules)
            details = (self.begun, seed, self.keep or self.retries > 0)
            packet = _engine.Packet(self, self._function(f), packed, 0, n, details, n * self.seconds or 1.0)
            self.begun += n
            self._put(packet)

    def _find(self, view):
        """The place of an array in shared memory, as _message.pack asks."""
        if self.finder is None:
            self.finder = self.engine.places.finder()
        return self.finder(view)

    def _put(self, packet, front=False):
        with self.engine.lock:
            self.out += 1
            self.engine.put(packet, front)

    def _function(self, f):
        known = self.functions.get(id(f))
        if known is None:
            known = self.functions[id(f)] = (f, self.engine.function(f, self._find))
        return known[1]

    def _read(self, packet, details, text, buffers):
        """What a message has, as blocks."""
        with self.engine.lock:
            self.out -= 1
        first = packet.details[0] + packet.lo
        if details is None:
            results, failed = [_Lost(text)] * (packet.hi - packet.lo), True
            if packet.hi - packet.lo > 1:
                results = [_Lost(text) for _ in results]
        else:
            seconds, n, failed = details
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
