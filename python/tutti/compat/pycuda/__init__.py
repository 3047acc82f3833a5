"""PyCUDA's names over tutti: device memory and kernels are a GPU's where there is one, else the processor's.

Replace `pycuda` by `tutti.compat.pycuda` in imports, or run the script by `python -m tutti run`.
"""

VERSION = (2024, 1)
VERSION_TEXT = "2024.1"
VERSION_STATUS = ""


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.pycuda does not cover pycuda.{name}")
