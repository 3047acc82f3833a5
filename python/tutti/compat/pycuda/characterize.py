"""pycuda.characterize: what a device and its compiler know."""

import numpy as np


def has_stack():
    return True


def has_double_support():
    return True


def sizeof(type_name, preamble=""):
    """The bytes of a C type, of the compiler's."""
    from . import gpuarray
    from .compiler import SourceModule

    module = SourceModule(
        f'{preamble}\nextern "C" __global__ void size_of(long long *out) {{ *out = sizeof({type_name}); }}'
    )
    out = gpuarray.empty(1, np.int64)
    module.get_function("size_of")(out, block=(1, 1, 1), grid=(1, 1))
    return int(out.get()[0])


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.pycuda does not cover pycuda.characterize.{name}")
