"""Numba's names over tutti: from tutti.compat.numba import cuda, jit, njit, prange, vectorize."""

import os as _os
import sys as _sys

from ... import get_num_threads, set_num_threads
from ..._jit import guvectorize, jit, njit, prange, stencil, vectorize
from ..._jit.settings import as_numba, config
from . import _cuda as cuda
from . import errors, experimental, extending, typed, types
from .errors import *  # noqa: F403 (NumbaPerformanceWarning ...)
from .types import *  # noqa: F403 (float32, int64 ...)

# The folder has another name: where numba-cuda is installed, its finder takes every module with numba.cuda in its name
# for its own, and looks for it without end.
_sys.modules[__name__ + ".cuda"] = cuda
for _part in (
    "random",
    "types",
    "core",
    "core.errors",
    "core.config",
    "cudadrv",
    "cudadrv.devicearray",
    "cudadrv.driver",
    "cudadrv.error",
):
    _module = cuda
    for _word in _part.split("."):
        _module = getattr(_module, _word)
    _sys.modules[f"{__name__}.cuda.{_part}"] = _module

__version__ = "0.61.0"

if _os.environ.get("NUMBA_ENABLE_CUDASIM", "0") not in ("", "0"):
    _os.environ["TUTTI_KERNEL_STEP"] = "1"


as_numba()
config.NUMBA_DEFAULT_NUM_THREADS = config.NUMBA_NUM_THREADS = get_num_threads()

version_info = (0, 61, 0)


def typeof(value):
    """The type of a value: of a number, or an array of so many axes."""
    import numpy as np

    from ..._jit.containers import Dict, List

    plain = {bool: "boolean", int: "int64", float: "float64", complex: "complex128", str: "unicode_type"}
    if type(value) in plain:
        return getattr(types, plain[type(value)])
    if value is None:
        return types.none
    if isinstance(value, tuple):
        made = types.Tuple(*map(typeof, value))
        if hasattr(value, "_fields"):
            made.instance_class = type(value)
        return made
    if isinstance(value, (list, set)) and value:
        return (types.List if isinstance(value, list) else types.Set)(typeof(next(iter(value))))
    if isinstance(value, (List, Dict)):
        listed = isinstance(value, List)
        return (types.ListType if listed else types.DictType)(
            *types.of_kinds(value._kind or "") if listed else types.of_kinds(",".join(value._types or ()))
        )
    inner = getattr(value, "_jit_argument", value)
    array = value if inner is not value else np.asarray(value)  # memory of a device stays there
    element = from_dtype(array.dtype)
    if not len(array.shape) and not isinstance(value, np.ndarray):
        return element
    flags = getattr(inner, "flags", None)
    layout = "A" if flags is None else "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"
    return types.Array(element, len(array.shape), layout)


def from_dtype(dtype):
    """The type of an array's elements."""
    import numpy as np

    kind = np.dtype(dtype)
    if kind.names:
        return types.Record(kind)
    if kind.kind in "SU":
        return types.CharSeq(kind.itemsize) if kind.kind == "S" else types.UnicodeCharSeq(kind.itemsize // 4)
    found = getattr(types, "boolean" if kind.kind == "b" else kind.name, None)
    if found is None:
        raise NotImplementedError(f"elements of {kind} have no type in compiled functions")
    return found


def literally(x):
    """x, known when a function is compiled."""
    return x


def threading_layer():
    """What runs parallel loops."""
    return "tutti"


def get_thread_id():
    """The number of the thread outside parallel loops; inside compiled functions it is not known."""
    return 0


def literal_unroll(items):
    """The items of a tuple: a loop over one is written out anyway."""
    return items


literal_unroll._jit_same = literally._jit_same = True


def pndindex(*shape):
    """All places of a shape; a loop over them runs in parallel where prange does."""
    import numpy as np

    return np.ndindex(*shape)


pndindex._jit_name = "pndindex"


def __getattr__(name):
    if name.endswith("parallel_chunksize") and not name.startswith("_"):
        from . import _chunks  # it takes NumPy

        return getattr(_chunks, name)
    raise AttributeError(f"tutti.compat.numba does not cover numba.{name}")


__all__ = [
    "config", "cuda", "errors", "experimental", "extending", "from_dtype", "get_num_threads", "guvectorize", "jit",
    "literal_unroll", "njit", "pndindex", "prange", "set_num_threads", "stencil", "threading_layer", "typed", "typeof",
    "types", "vectorize", *types.__all__,
]  # fmt: skip
