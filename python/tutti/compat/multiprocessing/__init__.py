"""multiprocessing's names over tutti's workers. Functions of the program itself need no `if __name__ == "__main__"`."""

from multiprocessing.context import AuthenticationError, BufferTooShort, ProcessError, TimeoutError

from ...parallel import cpu_count
from ._memory import BoundedSemaphore, Condition, Event, Lock, RLock, Semaphore
from .barriers import Barrier
from .managers import Manager
from .pipes import Pipe
from .pool import Pool
from .process import Process, active_children, current_process, parent_process
from .queues import JoinableQueue, Queue, SimpleQueue
from .sharedctypes import Array, RawArray, RawValue, Value

__all__ = [
    "Array", "AuthenticationError", "Barrier", "BoundedSemaphore", "BufferTooShort", "Condition", "Event",
    "JoinableQueue", "Lock", "Manager", "Pipe", "Pool", "Process", "ProcessError", "Queue", "RLock", "RawArray",
    "RawValue", "Semaphore", "SimpleQueue", "TimeoutError", "Value", "active_children", "cpu_count",
    "current_process", "freeze_support", "get_all_start_methods", "get_context", "get_start_method", "parent_process",
    "set_start_method",
]  # fmt: skip

_METHODS = ("spawn", "fork", "forkserver")


def freeze_support():
    """There is nothing to do."""


def get_all_start_methods():
    """Processes are always begun anew."""
    return ["spawn"]


def get_start_method(allow_none=False):
    """How processes begin: anew."""
    return "spawn"


def set_start_method(method, force=False):
    """Take note: processes begin anew, whatever is asked for, and get what their functions need."""
    if method is not None and method not in _METHODS:
        raise ValueError(f"cannot find context for {method!r}")


def get_context(method=None):
    """This module: there is one way in which processes begin."""
    import sys

    set_start_method(method)
    return sys.modules[__name__]


def __getattr__(name):
    import importlib

    if name in ("connection", "shared_memory", "managers", "pool", "process", "queues", "sharedctypes"):
        return importlib.import_module("." + name, __name__)
    raise AttributeError(f"tutti.compat.multiprocessing does not cover multiprocessing.{name}")
