"""tutti: NumPy-like arrays that are computed when somebody looks, and fused on the way.

import tutti as tt
x = tt.linspace(0, 1, 1_000_000)
y = (tt.sin(x) * 2 + 1).sum()   # recorded
print(y)                        # computed, in one pass over x
"""

# ruff: noqa: F401, F403 (what is imported here is what the package is)

import os as _os

from . import _core, _hooks, _table, exceptions
from ._core import (
    array,
    asanyarray,
    asarray,
    ascontiguousarray,
    asfortranarray,
    bfloat16,
    bool,  # noqa: A004 (NumPy's name)
    can_cast,
    compile_wait,
    complex64,
    complex128,
    dtype,
    eval,  # noqa: A004
    explain,
    float16,
    float32,
    float64,
    from_dlpack,
    frombuffer,
    get_matmul_precision,
    get_num_threads,
    info,
    int8,
    int16,
    int32,
    int64,
    library_path,
    memory,
    memory_reset_peak,
    memory_trim,
    ndarray,
    set_eager,
    set_fuse,
    set_matmul_precision,
    set_num_threads,
    set_tier,
    synchronize,
    track_lines,
    ufunc,
    uint8,
    uint16,
    uint32,
    uint64,
)
from ._device import Device, device, devices
from ._functions import *
from ._info import __array_namespace_info__, finfo, iinfo, isdtype
from ._insight import Ledger, ledger, profile, strict
from ._neighbours import _libraries
from ._printing import array2string, array_repr, array_str, get_printoptions, printoptions, set_printoptions
from .exceptions import AxisError

__version__ = _core.version()
__array_api_version__ = "2025.12"

pi = 3.141592653589793
e = 2.718281828459045
euler_gamma = 0.5772156649015329
inf = float("inf")
nan = float("nan")
newaxis = None
bool_, int_, uint, intp, uintp, float_, complex_ = bool, int64, uint64, int64, uint64, float64, complex128
byte, short, intc, long, longlong = int8, int16, int32, int64, int64
ubyte, ushort, uintc, ulong, ulonglong = uint8, uint16, uint32, uint64, uint64
half, single, double, csingle, cdouble = float16, float32, float64, complex64, complex128

_from_tables = _table.fill_package(globals())

from . import cuda, fft, linalg  # noqa: E402 (they use the names above)

_libraries.watch()

if _os.environ.get("TUTTI_DEBUG") or _os.environ.get("TUTTI_TRACE"):
    track_lines(True)

# Names that few programs use, each with the module that is imported when one is asked for.
_LATER = {
    "_files._checkpoint": "load_checkpoint save_checkpoint",
    "_expression_kernel": "ElementwiseKernel ReductionKernel",
    "_hooks": "flatiter",
    "_files._io": "fromfile load save savez savez_compressed",
    "_jit": "guvectorize jit njit prange stencil vectorize",
    "_names": "False_ True_ c_ complexfloating errstate floating generic geterr inexact integer issubdtype mgrid "
    "ndenumerate ndindex number ogrid r_ seterr signedinteger unsignedinteger",
    "_files._text": "loadtxt savetxt",
    "amp": "amp",
    "callbacks": "callbacks",
    "metrics": "metrics",
    "training": "Model",
    "autograd": "Function autograd checkpoint detect_anomaly enable_grad grad hessian is_grad_enabled jacobian jvp "
    "no_grad set_grad_enabled value_and_grad vjp",
    "_digits": "base_repr binary_repr format_float_positional format_float_scientific",
    "_files._genfromtxt": "genfromtxt",
    "_more": "asarray_chkfinite common_type fromstring iterable mask_indices memmap min_scalar_type require row_stack "
    "typename",
    "_poly1d": "poly1d",
    "_walks": "apply_over_axes broadcast nditer",
    "data": "data",
    "parallel": "parallel",
    "emath": "emath",
    "lib": "lib",
    "nn": "nn",
    "opencl": "opencl",
    "polynomial": "polynomial",
    "optim": "optim",
    "random": "manual_seed random",
    "safetensors": "safetensors",
    "special": "special",
    "kernel": "CompileError RawKernel RawModule SourceModule kernel",
}
_later = {name: module for module, names in _LATER.items() for name in names.split()}


def __getattr__(name):
    if name not in _later:
        raise AttributeError(f"module 'tutti' has no attribute {name!r}")
    from importlib import import_module

    module = import_module("." + _later[name], __name__)
    value = globals()[name] = module if name == _later[name] else getattr(module, name)
    return value


__all__ = sorted({n for n in [*globals(), *_later] if not n.startswith("_")} - {"exceptions"}) + ["exceptions"]


def __dir__():
    return [*__all__, "__array_api_version__", "__array_namespace_info__", "__version__"]
