"""Ordinary Python functions on all cores: maps, futures and memory that worker processes share.

import tutti as tt
squares = tt.parallel.map(f, range(1000))
"""

from . import _rebuild  # noqa: F401, I001 (_code looks for it)
from . import _code  # noqa: F401 (workers are told that it is used)
from ._map import (
    Pool,
    add,
    compare_exchange,
    counts,
    imap,
    imap_unordered,
    map,  # noqa: A004 (a builtin's name)
    shared,
    shutdown,
    starmap,
    submit,
)
from ._workers import cpu_count

__all__ = [
    "Executor",
    "Future",
    "Pool",
    "WorkerDied",
    "add",
    "compare_exchange",
    "counts",
    "cpu_count",
    "imap",
    "imap_unordered",
    "map",
    "report",
    "shared",
    "shutdown",
    "starmap",
    "submit",
]

# What imports more of Python than maps need.
_LATER = {
    "Executor": "_executor",
    "Future": "_executor",
    "WorkerDied": "_died",
    "report": "_choice",
    "vectorised": "_vectorised",
    "register_joblib": "_joblib",
}


def __getattr__(name):
    if name not in _LATER:
        raise AttributeError(f"module 'tutti.parallel' has no attribute {name!r}")
    from importlib import import_module

    value = globals()[name] = getattr(import_module("." + _LATER[name], __name__), name)
    return value
