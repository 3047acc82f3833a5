"""What goes to workers: functions, and items for them; and what of it the ledger is told."""

from .. import _core

_ROWS = ("tasks", "messages", "shared_bytes", "copied_bytes", "idle_us", "started", "died")


def count(**more):
    """Add to the rows parallel_... of `tutti.ledger`."""
    _core._parallel_count(*(more.get(row, 0) for row in _ROWS))


def counts():
    """Those rows, as `tutti.parallel.counts` names them."""
    found = _core._ledger()
    return {row.replace("_", " "): found["parallel_" + row] for row in _ROWS}


class Packet:
    """Items for one message: rows lo to hi of what was pickled, and who wants their results."""

    __slots__ = ("details", "expected", "function", "hi", "job", "lo", "packed", "reads", "tries")

    def __init__(self, job, function, packed, lo, hi, details, expected=0.0):
        self.job, self.function, self.packed = job, function, packed
        self.lo, self.hi, self.details, self.expected = lo, hi, details, expected
        self.reads = 0
        self.tries = {}

    def rows(self, lo, hi):
        """The same for some of its rows."""
        part = Packet(self.job, self.function, self.packed, lo, hi, self.details, self.expected)
        part.reads, part.tries = self.reads, self.tries
        return part


class Function:
    """A function as it travels; each worker that is to call it gets it once."""

    __slots__ = ("forgotten", "name", "number", "packed")
    made = 0

    def __init__(self, name, packed, forgotten):
        self.name, self.packed, self.forgotten = name, packed, forgotten
        self.number = None
        Function.made += 1
        self.number = Function.made

    def __del__(self):
        if getattr(self, "number", None) is not None:  # an interrupt may come before it has one
            self.forgotten.append(self.number)
