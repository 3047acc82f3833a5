"""Messages and times, as joblib prints them."""

import sys
import time

from .memory import Logger as _Logger


class Logger(_Logger):
    def __init__(self, depth=3, name=None):
        self.depth, self._name = depth, name or "Logger"

    def debug(self, message):
        """Nobody reads it."""


class PrintTime:
    """Print how long it took since the last message."""

    def __init__(self, logfile=None, logdir=None):
        self.last_time = self.start_time = time.time()

    def __call__(self, message="", total=False):
        since = self.start_time if total else self.last_time
        print(f"{message}: {time.time() - since:.1f}s", file=sys.stderr)
        self.last_time = time.time()


__all__ = ["Logger", "PrintTime"]
