"""multiprocessing.dummy: its names over threads, as Python has them."""

from multiprocessing.dummy import *  # noqa: F403
from multiprocessing.dummy import __all__  # noqa: F401

from ..pool import ThreadPool as _ThreadPool


def Pool(processes=None, initializer=None, initargs=()):
    """A pool of threads."""
    return _ThreadPool(processes, initializer, initargs)
