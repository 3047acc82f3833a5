"""What programs set of Numba's, and the warnings that kernels give.

The performance warnings are Numba's: programs of its names hear them where there is a GPU, others when they ask.
"""

import os
import warnings

FEW_BLOCKS = 128  # a grid of fewer leaves most of a GPU idle, as Numba counts


def _asked(name):
    return os.environ.get("NUMBA_" + name, "0") not in ("", "0")


class config:  # noqa: N801 (Numba's name)
    """Settings that scripts look at."""

    ENABLE_CUDASIM = False
    DISABLE_JIT = False
    CUDA_ENABLE_NRT = True  # kernels make arrays of their own, whatever this says
    DISABLE_PERFORMANCE_WARNINGS = False
    CUDA_ARRAY_INTERFACE_SYNC = True  # wait for the stream that an array of another library names
    CUDA_LOW_OCCUPANCY_WARNINGS = _asked("CUDA_LOW_OCCUPANCY_WARNINGS")
    CUDA_WARN_ON_IMPLICIT_COPY = _asked("CUDA_WARN_ON_IMPLICIT_COPY")


class NumbaWarning(Warning):
    """The root of Numba's warnings."""


class NumbaPerformanceWarning(NumbaWarning):
    """A launch that is slow for a reason that the program can mend."""


def as_numba():
    """What the environment does not say is as Numba has it, as long as there is a GPU: None."""
    for name in ("CUDA_LOW_OCCUPANCY_WARNINGS", "CUDA_WARN_ON_IMPLICIT_COPY"):
        if "NUMBA_" + name not in os.environ:
            setattr(config, name, None)


def _wanted(setting):
    from .cuda_place import gpu

    return not config.DISABLE_PERFORMANCE_WARNINGS and (bool(gpu()) if setting is None else bool(setting))


def warn_of_few_blocks(kernel, grid):
    """Say once for each kernel that its grid leaves a GPU idle."""
    if getattr(kernel, "_warned_of_blocks", False) or not _wanted(config.CUDA_LOW_OCCUPANCY_WARNINGS):
        return
    blocks = 1
    for n in grid if isinstance(grid, (tuple, list)) else (grid,):
        blocks *= n
    if blocks < FEW_BLOCKS:
        kernel._warned_of_blocks = True
        text = f"Grid size {blocks} will likely result in GPU under-utilization due to low occupancy."
        warnings.warn(NumbaPerformanceWarning(text), stacklevel=4)


def copies_are_told():
    """Does a program hear of host arrays that launches copy?"""
    return _wanted(config.CUDA_WARN_ON_IMPLICIT_COPY)


def warn_of_copies(args):
    """Say that an array of the host is copied there and back."""
    import sys

    numpy = sys.modules.get("numpy")
    if numpy is None:
        return
    plain = [a for a in args if isinstance(a, numpy.ndarray) and (a.base is None or isinstance(a.base, numpy.ndarray))]
    if plain:
        text = "Host array used in CUDA kernel will incur copy overhead to/from device."
        warnings.warn(NumbaPerformanceWarning(text), stacklevel=3)
