"""What is raised where workers end or cannot begin.

It is read when that happens: `concurrent.futures` takes longer to import than all that a map needs.
"""

from concurrent.futures import BrokenExecutor

__all__ = ["BrokenExecutor", "WorkerDied"]


class WorkerDied(BrokenExecutor):
    """A worker ended while it worked on an item. Who catches what `concurrent.futures` raises then catches this.

    Attributes
    ----------
    signal : int or None
        What killed it.
    exitcode : int or None
        What it exited with.
    item : int or None
        Which item it was at.
    """

    def __init__(self, message, code=None, item=None):
        super().__init__(message)
        self.signal = -code if code is not None and code < 0 else None
        self.exitcode = code if code is not None and code >= 0 else None
        self.item = item
        self._code = code

    def __reduce__(self):
        return type(self), (self.args[0], self._code, self.item)
