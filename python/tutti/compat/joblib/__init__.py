"""joblib's names over tutti: calls on workers that share arrays, results in files, files of arrays."""

from ._parallel_backends import ParallelBackendBase, cpu_count
from ._store_backends import StoreBackendBase
from .hashing import hash  # noqa: A004 (joblib's name)
from .logger import Logger, PrintTime
from .memory import MemorizedResult, Memory, expires_after, register_store_backend
from .numpy_pickle import dump, load, register_compressor
from .parallel import (
    Parallel,
    delayed,
    effective_n_jobs,
    parallel_backend,
    parallel_config,
    register_parallel_backend,
)

__version__ = "1.6.0"  # whose names these are

__all__ = [
    "Logger",
    "MemorizedResult",
    "Memory",
    "Parallel",
    "ParallelBackendBase",
    "PrintTime",
    "StoreBackendBase",
    "cpu_count",
    "delayed",
    "dump",
    "effective_n_jobs",
    "expires_after",
    "hash",
    "load",
    "parallel_backend",
    "parallel_config",
    "register_compressor",
    "register_parallel_backend",
    "register_store_backend",
    "wrap_non_picklable_objects",
]


def wrap_non_picklable_objects(obj, keep_wrapper=True):
    """The object itself: functions and classes that cannot be imported are handed over as they are."""
    return obj


def __getattr__(name):
    raise AttributeError(f"tutti.compat.joblib does not cover joblib.{name}")
