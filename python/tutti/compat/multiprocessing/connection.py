"""Waiting for several connections, processes and descriptors at once."""

import selectors
import time

from .pipes import Connection, Pipe

__all__ = ["Connection", "Pipe", "wait"]

_LONGEST = 0.01  # seconds between two looks at connections, which lie in memory and have no descriptor


def wait(object_list, timeout=None):
    """Those of some objects that are ready, as soon as one is.

    Parameters
    ----------
    object_list : iterable
        Connections, which are ready when something can be taken or their other end was closed; and descriptors, or
        objects with a `fileno`: the `sentinel` of a process is ready when that has ended.
    timeout : float, optional
        Seconds to wait at most; below 0 not at all.

    Returns
    -------
    list
        In no order that is promised; empty when time was up.
    """
    objects = list(object_list)
    end = None if timeout is None else time.monotonic() + max(0.0, timeout)
    ours = [o for o in objects if isinstance(o, Connection)]
    with selectors.DefaultSelector() as others:
        for o in objects:
            if not isinstance(o, Connection):
                others.register(o, selectors.EVENT_READ, o)
        pause = 0.0
        while True:
            left = None if end is None else max(0.0, end - time.monotonic())
            if ours:
                left = pause if left is None else min(pause, left)
            ready = [key.data for key, _ in others.select(left)] + [o for o in ours if o.poll()]
            if ready or (end is not None and time.monotonic() >= end):
                return ready
            pause = min(_LONGEST, 2 * pause + 1e-4)
