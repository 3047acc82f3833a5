"""Ordinary Python functions on all cores: maps, futures and memory that worker processes share.

import tutti as tt
squares = tt.parallel.map(f, range(1000))
"""

from . import _code  # noqa: F401 (workers are told that it is used)
from ._executor import Executor, Future
from ._map import Pool, imap, imap_unordered, map, shared, shutdown, starmap, submit  # noqa: A004 (a builtin's name)
from ._workers import WorkerDied, cpu_count

__all__ = [
    "Executor",
    "Future",
    "Pool",
    "WorkerDied",
    "cpu_count",
    "imap",
    "imap_unordered",
    "map",
    "shared",
    "shutdown",
    "starmap",
    "submit",
]
