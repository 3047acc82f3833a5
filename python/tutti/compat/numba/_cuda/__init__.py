"""numba.cuda over tutti.cuda. Kernels run on the CPU where there is no GPU, so it is always available."""

from .... import cuda as _cuda
from ...._jit import guvectorize as _guvectorize
from ...._jit import vectorize as _vectorize
from ...._jit.cuda_devices import *  # noqa: F403
from ...._jit.cuda_names import *  # noqa: F403
from ...._jit.cuda_place import gpu as _gpu
from ...._jit.settings import config  # noqa: F401
from .. import types  # noqa: F401
from ..types import *  # noqa: F403 (cuda.float32 and the like)
from . import core, cudadrv, extending, random  # noqa: F401

implementation = "tutti"
HAS_NUMBA = True  # numba's own names are there, too


def pinned_array(shape, dtype="float64", strides=None, order="C"):
    """Host memory that a GPU reads and writes at full speed."""
    if _gpu() and order == "C":
        return _cuda.pinned_array(shape, dtype)
    return mapped_array(shape, dtype, order=order)  # noqa: F405


def vectorize(fn=None, *args, **options):
    """numba.vectorize(target="cuda")."""
    return _vectorize(fn, *args, **{**options, "target": "cuda"})


def guvectorize(*args, **options):
    """numba.guvectorize(target="cuda")."""
    return _guvectorize(*args, **{**options, "target": "cuda"})


def is_available():
    return True


def is_float16_supported():
    return True


def is_bfloat16_supported():
    """Kernels have no names for bfloat16 yet: numba.cuda.bf16 is not covered."""
    return False


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
