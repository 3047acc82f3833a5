"""concurrent.futures' names: processes are tutti's workers, the rest is Python's own."""

from concurrent.futures import (
    ALL_COMPLETED,
    FIRST_COMPLETED,
    FIRST_EXCEPTION,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    InvalidStateError,
    ThreadPoolExecutor,
    TimeoutError,
    as_completed,
    wait,
)

from .process import ProcessPoolExecutor

__all__ = [
    "ALL_COMPLETED", "FIRST_COMPLETED", "FIRST_EXCEPTION", "BrokenExecutor", "CancelledError", "Executor", "Future",
    "InvalidStateError", "ProcessPoolExecutor", "ThreadPoolExecutor", "TimeoutError", "as_completed", "wait",
]  # fmt: skip


def __getattr__(name):
    raise AttributeError(f"tutti.compat.concurrent does not cover concurrent.futures.{name}")
