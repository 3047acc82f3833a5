"""numba.cuda.cudadrv.driver: what a program catches when the device fails, and the class of streams."""

from ....._jit.cuda_devices import _Stream as Stream  # noqa: F401

CudaAPIError = RuntimeError


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.numba does not cover numba.cuda.cudadrv.driver.{name}")
