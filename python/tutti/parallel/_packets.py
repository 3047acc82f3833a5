"""What goes to workers: functions, and items for them; and what of it the ledger is told."""

import weakref

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
    """A function as it travels; each worker that is to call it gets it once.

    `travelling` has a reference to it by its number, and when it is gone that is in `forgotten`. No code of Python's
    runs then: an interrupt that came in it would be lost.
    """

    __slots__ = ("__weakref__", "name", "number", "packed")
    made = 0

    def __init__(self, name, packed, travelling, forgotten):
        self.name, self.packed = name, packed
        Function.made += 1
        self.number = Function.made
        travelling[self.number] = reference = _Reference(self, forgotten.append)
        reference.number = self.number


class _Reference(weakref.ref):
    __slots__ = ("number",)
