"""numba.cuda.cudadrv.devicearray: the class of device arrays."""

from ....._jit.cuda_memory import DeviceArray as DeviceNDArray
from ....._jit.cuda_memory import is_cuda_array as is_cuda_ndarray  # noqa: F401

DeviceNDArrayBase = DeviceNDArray


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.numba does not cover numba.cuda.cudadrv.devicearray.{name}")
