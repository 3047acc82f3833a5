"""numba.cuda.cudadrv.error: errors of the driver."""

from ....._jit.cuda_devices import CudaSupportError

CudaDriverError = CudaRuntimeError = CudaSupportError


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.numba does not cover numba.cuda.cudadrv.error.{name}")
