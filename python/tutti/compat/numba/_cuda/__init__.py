"""numba.cuda over tutti.cuda. Kernels run on the CPU where there is no GPU, so it is always available."""

from .... import cuda as _cuda
from ...._jit.cuda_devices import *  # noqa: F403
from ...._jit.cuda_names import *  # noqa: F403
from ...._jit.cuda_place import gpu as _gpu
from ..types import *  # noqa: F403 (cuda.float32 and the like)
from . import random  # noqa: F401

implementation = "tutti"


def pinned_array(shape, dtype="float64", strides=None, order="C"):
    """Host memory that a GPU reads and writes at full speed."""
    if _gpu() and order == "C":
        return _cuda.pinned_array(shape, dtype)
    return mapped_array(shape, dtype, order=order)  # noqa: F405


def is_available():
    return True


def is_supported_version():
    return True


def synchronize():
    """Wait for every kernel."""
    _cuda.synchronize()


def default_stream():
    return stream()  # noqa: F405


legacy_default_stream = per_thread_default_stream = default_stream


class _Runtime:
    def get_version(self):
        return (13, 0)


runtime = _Runtime()


def __getattr__(name):
    raise AttributeError(f"tutti.compat.numba does not cover numba.cuda.{name}")
