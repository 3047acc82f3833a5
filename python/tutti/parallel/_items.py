"""What a call is over: rows of arguments, read as far as they are wanted."""

import collections
import itertools

from . import _message


class Items:
    """What a call is over; `take` gives rows of arguments that go into one message."""

    def __init__(self, f, rows, left=None):
        self.f = f
        self.rows = rows
        self.left = left
        self.held = collections.deque()  # rows that were read before their turn
        self.error = None  # what reading raised

    def take(self, n):
        """(function, columns, rows): at most n rows with as many arguments as the first; None at the end."""
        rows = [self.held.popleft() for _ in range(min(n, len(self.held)))]
        try:
            rows.extend(itertools.islice(self.rows, n - len(rows)))
        except BaseException as e:
            self.error = e  # what came before it is still given
            self.rows = iter(())
        if not rows:
            self.left = 0
            return None
        kept = self._alike(rows)
        self.held.extendleft(reversed(rows[kept:]))
        del rows[kept:]
        if self.left is not None:
            self.left = max(0, self.left - kept)
        return self._columns(rows)

    def _alike(self, rows):
        """How many rows have as many arguments as the first."""
        width = len(rows[0])
        if set(map(len, rows)) == {width}:
            return len(rows)
        return next(k for k, row in enumerate(rows) if len(row) != width)

    def _columns(self, rows):
        return self.f, tuple(map(list, zip(*rows))), len(rows)


class Column(Items):
    """Items of one iterable: each is all that the function takes."""

    def _alike(self, rows):
        return len(rows)

    def _columns(self, rows):
        return self.f, (rows,), len(rows)


class CallItems(Items):
    """Calls (f, args, kwargs) of functions that may differ."""

    def __init__(self, calls, left=None):
        super().__init__(None, iter(calls), left)
        self.made = collections.OrderedDict()

    def _alike(self, rows):
        f = rows[0][0]
        return next((k for k, row in enumerate(rows) if row[0] is not f), len(rows))

    def _columns(self, rows):
        """A function of args and kwargs."""
        f = rows[0][0]
        made = self.made.get(id(f))
        if made is None:
            made = self.made[id(f)] = _message.Calls(f)
            if len(self.made) > 64:
                self.made.popitem(last=False)
        return made, ([row[1] for row in rows], [row[2] for row in rows]), len(rows)
