"""`Barrier`: so many processes wait for each other. Python's own, over counters and a condition in shared memory."""

import threading

from ._memory import Condition, Counters


class Barrier(threading.Barrier):
    """All who wait go on when there are `parties` of them.

    Parameters
    ----------
    parties : int
        How many must wait.
    action : callable, optional
        Called by one of them before they go on.
    timeout : float, optional
        Seconds after which a wait that says no other number breaks the barrier.
    """

    def __init__(self, parties, action=None, timeout=None, *, ctx=None):
        if parties < 1:
            raise ValueError("parties must be > 0")
        self._cond, self._numbers = Condition(), Counters(0, 0)
        self._parties, self._action, self._timeout = parties, action, timeout

    @property
    def _state(self):  # filling 0, draining 1, resetting -1, broken -2
        return self._numbers[0]

    @_state.setter
    def _state(self, value):
        self._numbers[0] = value

    @property
    def _count(self):  # how many wait
        return self._numbers[1]

    @_count.setter
    def _count(self, value):
        self._numbers[1] = value
