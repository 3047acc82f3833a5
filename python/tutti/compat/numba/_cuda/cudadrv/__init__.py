"""numba.cuda.cudadrv: where programs find the class of device arrays, and errors of the driver."""

from . import devicearray, driver, error  # noqa: F401


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.numba does not cover numba.cuda.cudadrv.{name}")
